"""From the runs on two neighbouring tables to a lower bound on ε, and a verdict.

(ε, δ)-DP says P[M(D) ∈ S] ≤ e^ε·P[M(D') ∈ S] + δ for every event S. So for any S that was fixed
before the runs were looked at, ε ≥ ln((p − δ)/p'), with p bounded from below and p' from above,
each by Clopper and Pearson's exact bound. The one path of every audit, of policies and of the
self-test: choose an event for each direction on one half of the runs, count it on the other, bound
ε, compare with the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.bounds import downward
from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.domain import arithmetic
from policy_engine.audit.events import Event, Features, Hits, best_event, halves
from policy_engine.errors import UsageError
from policy_engine.values import frozen

CONFIDENCE = Decimal("0.999999")
LEAST_RUNS = 100
_MOST_RUNS = 10**6
_LEAST_ERROR = Decimal("1e-12")
_GRID, _OF_SCIPY = 10**9, 1e-13
"""Probabilities are bounded on a grid of 10⁻⁹, outwards, by far more than scipy's own error."""


@frozen
class AuditVerdict:
    """What the runs on two neighbouring tables prove, by the direction that proves more.

    P[event on the first table] ≤ e^ε·P[event on the second] + δ: ``epsilon`` is the lower bound on
    ε at the claimed δ.
    """

    claim: EpsilonDelta
    runs: int
    direction: str  # remove | add
    event: Event
    one: Hits
    other: Hits
    epsilon: Decimal

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon > self.claim.epsilon


def at_least(hits: Hits, error: Decimal) -> Decimal:
    """A probability that the event's true one is below with probability at most ``error``.

    Clopper and Pearson: the p at which so many hits or more have probability ``error``, rounded
    down. Assumption: the runs are independent and alike. Errors: none for 0 < error < 1.

    >>> at_least(Hits(0, 100), Decimal("0.01")), at_least(Hits(100, 100), Decimal("0.01"))
    (Decimal('0'), Decimal('0.954992586'))
    """
    from scipy.stats import beta

    if hits.seen == 0:
        return Decimal(0)
    found = beta.ppf(float(error), hits.seen, hits.runs - hits.seen + 1)
    return Decimal(max(0, int((found - _OF_SCIPY) * _GRID))) / _GRID


def at_most(hits: Hits, error: Decimal) -> Decimal:
    """A probability that the event's true one is above with probability at most ``error``.

    >>> at_most(Hits(0, 100), Decimal("0.01"))
    Decimal('0.045007414')
    """
    return 1 - at_least(Hits(hits.runs - hits.seen, hits.runs), error)


def epsilon_at_least(one: Hits, other: Hits, delta: Decimal, error: Decimal) -> Decimal:
    """The ε that the two counts of one event prove at δ; 0 where they prove none.

    Guarantee: of a mechanism that is (ε, δ)-DP it is above ε with probability at most ``error``.
    Assumption: the event was chosen without looking at these runs. Rounded down.

    >>> epsilon_at_least(Hits(500, 1000), Hits(0, 1000), Decimal("1e-9"), Decimal("1e-6"))
    Decimal('3.37902999031')
    >>> epsilon_at_least(Hits(500, 1000), Hits(480, 1000), Decimal("1e-9"), Decimal("1e-6"))
    Decimal('0')
    """
    low = at_least(one, error / 2) - delta
    high = at_most(other, error / 2)
    if low <= high:
        return Decimal(0)
    with arithmetic(low, high):
        return downward((low / high).ln())


def judge(
    one: Sequence[Features], other: Sequence[Features], claim: EpsilonDelta, error: Decimal
) -> AuditVerdict:
    """The verdict on a claim, from as many runs on each of two neighbouring tables.

    Guarantee: of a mechanism that keeps the claim it says ``broken`` with probability at most
    ``error``. Assumption: the runs are independent.

    >>> claim = EpsilonDelta(Decimal(1), Decimal("1e-9"))
    >>> judge([{"n": 1}] * 2000, [{"n": 0}] * 2000, claim, Decimal("1e-6")).broken
    True
    """
    each = error / 2  # of two directions
    proved = []
    for direction, here, there in (("remove", one, other), ("add", other, one)):
        (choose, judged), (choose_beside, beside) = halves(here), halves(there)
        event = best_event(choose, choose_beside, float(claim.delta), float(each / 2))
        found, found_beside = event.count(judged), event.count(beside)
        epsilon = epsilon_at_least(found, found_beside, claim.delta, each)
        told = (direction, event, found, found_beside, epsilon)
        proved.append(AuditVerdict(claim, len(one), *told))
    return max(proved, key=lambda verdict: verdict.epsilon)


def power(runs: int, claim: EpsilonDelta, error: Decimal) -> Hits | None:
    """The least hits that refute a claim, of an event that is never met on the other table.

    None where not even an event of every run would. ``error`` is that of ``judge``.

    >>> power(600, EpsilonDelta(Decimal("0.5"), Decimal("1e-9")), Decimal("1e-7"))
    Hits(seen=60, runs=300)
    """
    judged = runs // 2

    def refutes(seen: int) -> bool:
        found = epsilon_at_least(Hits(seen, judged), Hits(0, judged), claim.delta, error / 2)
        return found > claim.epsilon

    return Hits(least_integer(0, judged, refutes), judged) if refutes(judged) else None


def runs_that_refute(claim: EpsilonDelta, error: Decimal) -> int | None:
    """Of 100, 200, 400, … runs the fewest of which an event of every one refutes a claim.

    None where not even a million would. ``error`` is that of ``judge``.

    >>> runs_that_refute(EpsilonDelta(Decimal(4), Decimal("1e-9")), Decimal("1e-7"))
    3200
    """
    runs = LEAST_RUNS
    while runs <= _MOST_RUNS:
        if power(runs, claim, error) is not None:
            return runs
        runs *= 2
    return None


def error_of(confidence: Decimal, tests: int) -> Decimal:
    """The error that each of so many tests may have (Bonferroni).

    Raises UsageError: the confidence is not from 0.5 to 1 − 10⁻¹².

    >>> error_of(Decimal("0.99"), 10)
    Decimal('0.001')
    """
    if not confidence.is_finite() or not Decimal("0.5") <= confidence <= 1 - _LEAST_ERROR:
        law = f"from 0.5 to 1 − {_LEAST_ERROR:e}"
        raise UsageError(f"--confidence must be {law}, found {confidence}")
    return (1 - confidence) / tests


def check_runs(runs: int) -> None:
    """Refuse so few runs that nothing could be found. Raises UsageError."""
    if runs < LEAST_RUNS:
        raise UsageError(f"--runs must be at least {LEAST_RUNS}, found {runs}")
