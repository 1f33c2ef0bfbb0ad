"""What one release of a claim costs: from the numbers of its law alone."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting import finite
from policy_engine.accounting.noise import Statistic, delta_of_release
from policy_engine.accounting.one import delta_of_one
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms import Keyed, Native, Noisy, Pure


def delta_of(claim: Claim, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
    """The least δ for which one release is (ε, δ)-DP for one unit, never below the true one.

    ``rate`` is not below the one at which a unit is in the sample.
    """
    if isinstance(claim.law, Noisy):
        statistics = statistics_of(claim, claim.law, neighbours)
        return delta_of_release(statistics, epsilon, neighbours).delta
    if isinstance(claim.law, Pure):
        return finite.delta_of(claim.law.factors(neighbours), epsilon)
    require(isinstance(claim.law, Keyed | Native), "no (ε, δ) holds of such a law")
    return delta_of_one(claim.law.k, rate, epsilon, neighbours).delta


def statistics_of(claim: Claim, law: Noisy, neighbours: str) -> tuple[Statistic, ...]:
    """What is drawn for each group, as the accountant prices it: one unit is in one of each."""
    groups, found = claim.unit.groups, []
    for counts, *sums in law.tables:
        found.append(Statistic(counts, groups=groups))
        for each, table in zip(law.aggregates, sums, strict=True):
            found.append(each.clip.statistic(table, groups, neighbours))
    return tuple(found)
