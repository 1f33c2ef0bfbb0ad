"""The numbers of a certificate: what `certify` prints, for one policy, N releases, m units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from policy_engine.accounting import bounds
from policy_engine.accounting.amounts import probability
from policy_engine.accounting.composition import Accountant, Question, least
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    arithmetic,
    claimed,
    count,
    neighbour_notion,
    nonnegative_epsilon,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.accounting.groups import group_size
from policy_engine.errors import DomainError


@dataclass(frozen=True)
class CertificateNumbers:
    """(ε, δ) in total over all releases, for a group of the size asked.

    What stands beside the claim is printed and never certified.
    """

    k: int
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
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
    if epsilon is not None and delta is None:
        answer = _for_epsilon(event, nonnegative_epsilon(epsilon), who, times)
    elif delta is not None and epsilon is None:
        answer = _for_delta(event, probability(delta), who, times)
    else:
        raise DomainError("epsilon, delta", "exactly one given", f"{epsilon} and {delta}")
    return CertificateNumbers(
        k=event.k,
        rate=sampling_rate(rate),
        epsilon=answer.epsilon,
        delta=answer.delta,
        bound="exact",
        neighbours=neighbours,
        releases=releases,
        group=group,
        at_n=answer.at_n,
        delta_lqs=_delta_lqs(event, answer.epsilon, who, times),
        epsilon_lqs=_epsilon_lqs(event, answer.delta, who, times),
        delta_generic=_delta_generic(event, answer.epsilon, who, times),
        rule=answer.rule,
        by_rule=answer.by_rule,
    )


@dataclass(frozen=True)
class _Answer:
    epsilon: Decimal
    delta: Decimal
    at_n: int | None = None
    rule: str | None = None
    by_rule: Mapping[str, Decimal | None] = field(default_factory=dict)


def _for_epsilon(
    event: SampledSuppression, epsilon: Decimal, who: Question, releases: int
) -> _Answer:
    if releases == 1:
        bound = delta_exact(event.k, event.rate, epsilon, who.neighbours, who.group)
        return _Answer(epsilon, claimed(bound.delta), bound.at_n)
    by_rule = Accountant(((event, releases),), who.neighbours, who.group).deltas(epsilon)
    rule, delta = least(by_rule)
    return _Answer(epsilon, delta, rule=rule, by_rule=by_rule)


def _for_delta(event: SampledSuppression, delta: Decimal, who: Question, releases: int) -> _Answer:
    if releases == 1:
        epsilon = epsilon_exact(event.k, event.rate, delta, who.neighbours, who.group)
        bound = delta_exact(event.k, event.rate, epsilon, who.neighbours, who.group)
        return _Answer(epsilon, delta, bound.at_n)
    by_rule = Accountant(((event, releases),), who.neighbours, who.group).epsilons(delta)
    rule, epsilon = least(by_rule)
    return _Answer(epsilon, delta, rule=rule, by_rule=by_rule)


def _delta_lqs(
    event: SampledSuppression, epsilon: Decimal, who: Question, releases: int
) -> Decimal | None:
    """[LQS] for each release and unit, the generic bound for groups, basic composition."""
    if who.neighbours != ADD_REMOVE:
        return None
    each = bounds.part_of(bounds.part_of(epsilon, releases), who.group)
    single = bounds.delta_lqs(event.k, event.rate, each)
    return None if single is None else _summed(single.delta, each, who.group, releases)


def _epsilon_lqs(
    event: SampledSuppression, delta: Decimal, who: Question, releases: int
) -> Decimal | None:
    if who != Question() or releases == 1:
        return None
    single = bounds.epsilon_lqs(event.k, event.rate, bounds.part_of(delta, releases))
    return None if single is None else single * releases


def _delta_generic(
    event: SampledSuppression, epsilon: Decimal, who: Question, releases: int
) -> Decimal | None:
    if who.group == 1:
        return None
    each = bounds.part_of(bounds.part_of(epsilon, releases), who.group)
    single = delta_exact(event.k, event.rate, each, who.neighbours)
    return _summed(single.delta, each, who.group, releases)


def _summed(delta: Decimal, epsilon: Decimal, group: int, releases: int) -> Decimal:
    if group == releases == 1:
        return delta
    _, together = bounds.group(epsilon, delta, group)
    with arithmetic(together):
        return min(Decimal(1), upward(together * releases, exact=True))
