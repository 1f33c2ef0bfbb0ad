"""The numbers of a certificate: what `certify` prints, for one policy, N releases, m units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal

from policy_engine.accounting import bounds
from policy_engine.accounting.composition import Accountant, Question, least
from policy_engine.accounting.curve import Bound
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    arithmetic,
    claimed,
    count,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.accounting.groups import group_size
from policy_engine.accounting.odds import guessed_right
from policy_engine.errors import DomainError
from policy_engine.values import frozen


@frozen
class CertificateNumbers:
    """(ε, δ) in total over all releases, for a group of the size asked.

    What stands beside the claim is printed and never certified.
    """

    k: int
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
    guessed_right: Decimal
    """How often somebody is right at most who tells whether a unit is in, at even odds."""
    bound: str
    neighbours: str
    releases: int
    group: int
    at_n: int | None
    """The size of the cell at which one release attains its δ; None for several releases."""
    delta_lqs: Decimal | None
    """[LQS] with basic composition; None where it says nothing: below −ln(1−β), replace_one."""
    epsilon_lqs: Decimal | None
    """ε by [LQS] and basic composition at the same δ, for several releases; None elsewhere."""
    delta_generic: Decimal | None
    """The generic bound for groups with basic composition; None for one unit."""
    rule: str | None = None
    """The rule of composition that the claim rests on; None for one release."""
    by_rule: Mapping[str, Decimal | None] = field(default_factory=dict)
    """What each rule gives for the number that was not asked; empty for one release."""


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

    Guarantee: the releases together are (ε, δ)-DP for what is returned, by [EXACT] and the least
    of the rules of [COMP]. Under add_remove the m units are all in the table or all out. Errors:
    DomainError, also if not exactly one of ε and δ is given.

    >>> certify_numbers(20, "0.1", epsilon="0.5").delta
    Decimal('2.63178346650E-11')
    >>> certify_numbers(20, "0.1", delta="1e-6", releases=50).epsilon
    Decimal('0.809905')
    """
    event = SampledSuppression(threshold(k), sampling_rate(rate))
    who = Question(neighbour_notion(neighbours), group_size(group))
    times = count("releases", releases)
    asked = Accountant(((event, times),), who.neighbours, who.group)
    at_n, rule = None, None
    by_rule: Mapping[str, Decimal | None] = {}
    if epsilon is not None and delta is None:
        epsilon = nonnegative_epsilon(epsilon)
        if times == 1:
            bound = delta_exact(k, rate, epsilon, neighbours, group)
            delta, at_n = claimed(bound.delta), bound.at_n
        else:
            by_rule = asked.deltas(epsilon)
            rule, delta = least(by_rule)
    elif delta is not None and epsilon is None:
        delta = probability(delta)
        if times == 1:
            epsilon = epsilon_exact(k, rate, delta, neighbours, group)
            at_n = delta_exact(k, rate, epsilon, neighbours, group).at_n
        else:
            by_rule = asked.epsilons(delta)
            rule, epsilon = least(by_rule)
    else:
        raise DomainError("epsilon, delta", "exactly one given", f"{epsilon} and {delta}")
    each = bounds.part_of(bounds.part_of(epsilon, times), group)
    # [LQS] for each release and unit, the generic bound for groups, basic composition.
    lqs = bounds.delta_lqs(k, rate, each) if neighbours == ADD_REMOVE else None
    generic = delta_exact(k, rate, each, neighbours) if group > 1 else None
    single = None
    if who == Question() and times > 1:
        single = bounds.epsilon_lqs(k, rate, bounds.part_of(delta, times))
    return CertificateNumbers(
        k=event.k,
        rate=sampling_rate(rate),
        epsilon=epsilon,
        delta=delta,
        guessed_right=guessed_right(epsilon, delta),
        bound="exact",
        neighbours=neighbours,
        releases=releases,
        group=group,
        at_n=at_n,
        delta_lqs=_summed(lqs, each, group, times),
        epsilon_lqs=None if single is None else single * times,
        delta_generic=_summed(generic, each, group, times),
        rule=rule,
        by_rule=by_rule,
    )


def _summed(bound: Bound | None, epsilon: Decimal, group: int, releases: int) -> Decimal | None:
    if bound is None:
        return None
    if group == releases == 1:
        return bound.delta
    _, together = bounds.group(epsilon, bound.delta, group)
    with arithmetic(together):
        return min(Decimal(1), upward(together * releases, exact=True))
