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
    """The result of ``certify_numbers``.

    The fields from ``at_n`` on are not certified. They compare the result with other bounds.

    Fields:
        ``k``, ``rate``: the threshold and the sampling rate.
        ``epsilon``, ``delta``: ε and δ of all releases together.
        ``releases``: N, the number of releases.
        ``neighbours``: ``add_remove`` or ``replace_one``.
        ``group``: m, how many units are protected together.
        ``guessed_right``: somebody guesses which of two neighbouring tables is the true one, from
            even odds. The guess is right with at most this probability.
        ``bound``: always ``exact``.
        ``at_n``: the size of the group for which δ is largest. None for several releases.
        ``rule``: the rule of ``Accountant`` that gave the result: ``basic``, ``optimal`` or
            ``tight``. None for one release.
        ``by_rule``: the result of each rule. Empty for one release.
        ``delta_lqs``: δ by the bound of Li, Qardaji and Su (2012), added up over the releases. None
            under ``replace_one``, or if ε/(N·m) is below −ln(1 − rate).
        ``epsilon_lqs``: ε by this bound for the same δ. Only for several releases and m = 1 under
            ``add_remove``, and None if there is none.
        ``delta_generic``: δ by the bound of ``group``, which holds for every mechanism, added up
            over the releases. None if m is 1.
    """

    k: int
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
    guessed_right: Decimal
    bound: str
    neighbours: str
    releases: int
    group: int
    at_n: int | None
    delta_lqs: Decimal | None
    epsilon_lqs: Decimal | None
    delta_generic: Decimal | None
    rule: str | None = None
    by_rule: Mapping[str, Decimal | None] = field(default_factory=dict)


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
    """Compute δ for a given ε, or ε for a given δ, of one or more releases from samples.

    Guarantee: all N releases together are (ε, δ)-DP with the ε and δ of the result. For one
    release, the proof is [EXACT]. For several releases, it is [COMP].

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1. Each release has a new
            sample.
        ``epsilon``: ε, from 0 to 10⁹. Give either ``epsilon`` or ``delta``.
        ``delta``: δ, between 0 and 1.
        ``neighbours``: ``add_remove`` for m units more or less, ``replace_one`` for m other units.
        ``releases``: N, at least 1.
        ``group``: m, how many units are protected together, from 1 to 10,000.

    Errors: DomainError for other values, or if you give both ε and δ, or none of them.

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
