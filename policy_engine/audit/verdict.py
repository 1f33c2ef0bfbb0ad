"""From the runs on two neighbouring tables to a lower bound on ε, and a verdict.

The one path of every audit, of policies and of the self-test: choose an event for each direction
on one half of the runs, count it on the other, bound ε, compare with the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from policy_engine.accounting.bisection import least_integer
from policy_engine.audit.estimate import Hits, epsilon_at_least
from policy_engine.audit.events import Event, Features, best_event, halves
from policy_engine.errors import UsageError

CONFIDENCE = Decimal("0.999999")
LEAST_RUNS = 100
_MOST_RUNS = 10**6
_LEAST_ERROR = Decimal("1e-12")


@dataclass(frozen=True)
class Claim:
    """The (ε, δ) that is claimed."""

    epsilon: Decimal
    delta: Decimal


@dataclass(frozen=True)
class Attack:
    """One direction: P[event on the first table] ≤ e^ε·P[event on the second] + δ."""

    direction: str  # remove | add
    event: Event
    one: Hits
    other: Hits
    epsilon: Decimal


@dataclass(frozen=True)
class Verdict:
    """What the runs on two neighbouring tables prove: ``epsilon`` is the larger direction's."""

    claim: Claim
    runs: int
    attack: Attack

    @property
    def epsilon(self) -> Decimal:
        """The lower bound on ε at the claimed δ."""
        return self.attack.epsilon

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon > self.claim.epsilon


def judge(
    one: Sequence[Features], other: Sequence[Features], claim: Claim, error: Decimal
) -> Verdict:
    """The verdict on a claim, from as many runs on each of two neighbouring tables.

    Guarantee: of a mechanism that keeps the claim it says ``broken`` with probability at most
    ``error``. Assumption: the runs are independent.

    >>> claim = Claim(Decimal(1), Decimal("1e-9"))
    >>> judge([{"n": 1}] * 2000, [{"n": 0}] * 2000, claim, Decimal("1e-6")).broken
    True
    """
    attacks = [
        _attack("remove", one, other, claim, error / 2),
        _attack("add", other, one, claim, error / 2),
    ]
    return Verdict(claim, len(one), max(attacks, key=lambda attack: attack.epsilon))


def _attack(
    direction: str,
    one: Sequence[Features],
    other: Sequence[Features],
    claim: Claim,
    error: Decimal,
) -> Attack:
    (choose, judged), (choose_beside, beside) = halves(one), halves(other)
    event = best_event(choose, choose_beside, float(claim.delta), float(error / 2))
    found, found_beside = event.count(judged), event.count(beside)
    epsilon = epsilon_at_least(found, found_beside, claim.delta, error)
    return Attack(direction, event, found, found_beside, epsilon)


def power(runs: int, claim: Claim, error: Decimal) -> Hits | None:
    """The least hits that refute a claim, of an event that is never met on the other table.

    None where not even an event of every run would. ``error`` is that of ``judge``.

    >>> power(600, Claim(Decimal("0.5"), Decimal("1e-9")), Decimal("1e-7"))
    Hits(seen=60, runs=300)
    """
    judged = runs // 2

    def refutes(seen: int) -> bool:
        found = epsilon_at_least(Hits(seen, judged), Hits(0, judged), claim.delta, error / 2)
        return found > claim.epsilon

    return Hits(least_integer(0, judged, refutes), judged) if refutes(judged) else None


def runs_that_refute(claim: Claim, error: Decimal) -> int | None:
    """Of 100, 200, 400, … runs the fewest of which an event of every one refutes a claim.

    None where not even a million would. ``error`` is that of ``judge``.

    >>> runs_that_refute(Claim(Decimal(4), Decimal("1e-9")), Decimal("1e-7"))
    3200
    """
    runs = LEAST_RUNS
    while runs <= _MOST_RUNS:
        every = epsilon_at_least(
            Hits(runs // 2, runs // 2), Hits(0, runs // 2), claim.delta, error / 2
        )
        if every > claim.epsilon:
            return runs
        runs *= 2
    return None


def error_of(confidence: Decimal, tests: int) -> Decimal:
    """The error that each of so many tests may have (Bonferroni).

    Raises:
        UsageError: the confidence is not from 0.5 to 1 − 10⁻¹².

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
