"""The numbers of a certificate: what `certify` prints, for one policy, N releases, m units."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from policy_engine.accounting.bounds import delta_lqs, group_factor
from policy_engine.accounting.calibration import epsilon_exact, part_of
from policy_engine.accounting.curve import delta_exact
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    arithmetic,
    claimed,
    count,
    downward,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.errors import DomainError

_SLACK = Decimal("1e-12")


@dataclass(frozen=True)
class CertificateNumbers:
    """(ε, δ) in total over all releases, for a group of the size asked.

    ``delta_lqs`` is None where [LQS] says nothing: below −ln(1−β), and under replace_one.
    ``at_n`` is the size of the cell at which one release attains its δ.
    """

    k: int
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
    bound: str
    delta_lqs: Decimal | None
    neighbours: str
    releases: int
    at_n: int | None


def certify_numbers(
    k: int,
    rate: Number,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    neighbours: str = ADD_REMOVE,
    releases: int = 1,
    group: int = 1,
) -> CertificateNumbers:
    """δ for ε, or ε for δ, of N releases with a fresh sample each, for a group of m units.

    Guarantee: the mechanism is (ε, δ)-DP for what is returned, by [EXACT], the generic group
    bound and basic composition. Errors: DomainError, also if not exactly one of ε and δ is given.

    >>> certify_numbers(20, "0.1", epsilon="0.5").delta
    Decimal('2.63178346650E-11')
    >>> certify_numbers(20, "0.1", epsilon="1", releases=2).delta
    Decimal('5.26356693299E-11')
    """
    k, rate = threshold(k), sampling_rate(rate)
    notion = neighbour_notion(neighbours)
    releases, group = count("releases", releases), count("group", group)
    if epsilon is not None and delta is None:
        total = nonnegative_epsilon(epsilon)
        each = part_of(part_of(total, releases), group)
    elif delta is not None and epsilon is None:
        wanted = part_of(probability(delta), releases)
        each = _epsilon_each(k, rate, wanted, notion, group)
        with arithmetic(each, room=30):
            total = upward(each * group * releases, exact=True)
    else:
        raise DomainError("epsilon, delta", "exactly one given", f"{epsilon} and {delta}")
    bound = delta_exact(k, rate, each, notion)
    spent = _in_total(bound.delta, each, group, releases)
    lqs = delta_lqs(k, rate, each) if notion == ADD_REMOVE else None
    return CertificateNumbers(
        k=k,
        rate=rate,
        epsilon=total,
        # A δ that was asked for is met, and is the claim.
        delta=claimed(spent) if delta is None else max(spent, probability(delta)),
        bound="exact",
        delta_lqs=None if lqs is None else _in_total(lqs.delta, each, group, releases),
        neighbours=notion,
        releases=releases,
        at_n=bound.at_n,
    )


def _in_total(delta: Decimal, epsilon: Decimal, group: int, releases: int) -> Decimal:
    if group == releases == 1:
        return delta
    with arithmetic(delta, epsilon):
        product = delta * group_factor(epsilon, group) * releases
    return min(Decimal(1), upward(product, exact=group == 1))


def _epsilon_each(k: int, rate: Decimal, delta: Decimal, notion: str, group: int) -> Decimal:
    """An ε of one unit and one release whose group bound is within δ.

    For m units the factor Σ_{i<m} e^{iε} rises with ε while the curve falls, so the product need
    not cross δ once. From below, ε ← ε(δ / factor(ε)) rises, to the least solution; where it no
    longer rises, curve(ε) ≤ δ / factor(ε) holds. The slack, 1e-12 at first, makes it end.
    """
    each, slack = epsilon_exact(k, rate, delta, notion), _SLACK
    while group > 1:
        with arithmetic(each, delta):
            # The bound is rounded up at 12 digits once more when it is reported.
            share = downward(delta / group_factor(each, group) * (1 - Decimal("1e-11")))
        following = epsilon_exact(k, rate, share, notion)
        if following <= each:
            break
        each, slack = following + slack, slack * 2
    return each
