"""What a public belief about the sizes of groups makes of a pair (k, β): utility, no privacy claim.

The belief is stated before the data is looked at. A number computed from the source, as its group
sizes are, would tell about the source; the pair that such a number chose would too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from policy_engine.accounting.arrays import Floats, np
from policy_engine.accounting.domain import Number, decimal, sampling_rate, threshold, whole
from policy_engine.accounting.frontier import SamplePair
from policy_engine.errors import DomainError
from policy_engine.values import frozen

Goal = Literal["people", "groups"]
GOALS = ("people", "groups")
MOST_PEOPLE = 10**9
MOST_GROUPS = 10**6
GREATEST_EXPONENT = 10
_TIE = 1e-9


@frozen
class Prior:
    """Your belief about the source: how many groups of each size it has.

    ``best_pair_for`` chooses k and the rate by it. The belief must come from public knowledge:
    sizes that you count in the source reveal something about people.

    Fields:
        ``sizes``: a pair (size, number of groups) for each size, in rising order.

    >>> Prior.of_sizes({800: 20, 5000: 3}).people
    31000
    """

    sizes: tuple[tuple[int, int], ...]

    @property
    def groups(self) -> int:
        """The number of groups.

        >>> Prior.of_sizes({800: 20, 5000: 3}).groups
        23
        """
        return sum(count for _, count in self.sizes)

    @property
    def people(self) -> int:
        """The number of people in all groups.

        >>> Prior.of_sizes({800: 20, 5000: 3}).people
        31000
        """
        return sum(size * count for size, count in self.sizes)

    @classmethod
    def of_sizes(cls, sizes: Mapping[int, int]) -> Prior:
        """Make the belief from the sizes of groups.

        Arguments:
            ``sizes``: a mapping from a size to the number of groups of this size. All numbers are
                from 1 to 10⁹.

        Errors: DomainError for other values, or if ``sizes`` is empty.

        >>> Prior.of_sizes({800: 20, 5000: 3}).sizes
        ((800, 20), (5000, 3))
        """
        if not sizes:
            raise DomainError("sizes", "at least one size of a group", "none")
        for size, number in sizes.items():
            whole("size of a group", size, 1, MOST_PEOPLE)
            whole("number of groups", number, 1, MOST_PEOPLE)
        return cls(tuple(sorted(sizes.items())))

    @classmethod
    def zipf(cls, people: int, groups: int, exponent: Number = 1) -> Prior:
        """Make the belief that a few groups are large and many are small.

        The size of the i-th largest group is proportional to i^−exponent. Sizes are rounded to
        integers that add up to ``people``. A group whose size is rounded to 0 is left out.

        Arguments:
            ``people``: the number of people, an integer from ``groups`` to 10⁹.
            ``groups``: the number of groups, an integer from 1 to 10⁶.
            ``exponent``: a number from 0 to 10. With 0, all groups have the same size. With 1, the
                sizes follow Zipf's law.

        Errors: DomainError for other values.

        >>> Prior.zipf(11, 3)
        Prior(sizes=((2, 1), (3, 1), (6, 1)))
        """
        whole("groups", groups, 1, MOST_GROUPS)
        if whole("people", people, 1, MOST_PEOPLE) < groups:
            raise DomainError("people", f"at least groups = {groups}", people)
        law = f"a number from 0 to {GREATEST_EXPONENT}"
        power = decimal("exponent", law, exponent, lambda x: 0 <= x <= GREATEST_EXPONENT)
        shares = np.cumsum(np.arange(1, groups + 1, dtype=np.float64) ** -float(power))
        together = np.rint(shares * (people / shares[-1])).astype(np.int64)
        sizes, numbers = np.unique(np.diff(together, prepend=0), return_counts=True)
        pairs = zip(sizes.tolist(), numbers.tolist(), strict=True)
        return cls(tuple((size, number) for size, number in pairs if size))


def expected_groups(k: int, rate: Number, prior: Prior) -> float:
    """Compute how many groups a release from a sample shows on average.

    The result is the sum of Pr[Bin(n, rate) ≥ k] over all groups, where n is the size of a group.
    The error of each probability is at most 1e-6.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``prior``: your belief about the sizes of all groups.

    Errors: DomainError for other values.

    >>> round(expected_groups(14, "0.25", Prior.of_sizes({100: 2, 10: 7})), 6)
    1.995084
    """
    _, numbers, appears = _appearing(k, rate, prior)
    return math.fsum(numbers * appears)


def expected_people(k: int, rate: Number, prior: Prior) -> float:
    """Compute how many people, sampled or not, are on average in the groups that a release shows.

    The result is the sum of n·Pr[Bin(n, rate) ≥ k] over all groups, where n is the size of a group.
    The error of each probability is at most 1e-6.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``prior``: your belief about the sizes of all groups.

    Errors: DomainError for other values.

    >>> round(expected_people(14, "0.25", Prior.of_sizes({100: 2, 10: 7})), 4)
    199.5084
    """
    sizes, numbers, appears = _appearing(k, rate, prior)
    return math.fsum(sizes * numbers * appears)


def best_pair_for(prior: Prior, goal: Goal, pairs: Iterable[SamplePair]) -> SamplePair:
    """Find the pair (k, rate) with which a release shows most on average, if your belief is right.

    Arguments:
        ``prior``: your belief about the sizes of all groups.
        ``goal``: ``people`` for most people in shown groups, ``groups`` for most shown groups.
        ``pairs``: pairs as ``frontier`` returns them.

    Returns: the best pair. If several are equally good, the one with the smallest k.

    Errors: DomainError for another ``goal``, or if ``pairs`` is empty.

    >>> from policy_engine.accounting.frontier import frontier
    >>> best_pair_for(Prior.zipf(48842, 900), "people", frontier("1", "1e-6", most_k=40))
    SamplePair(k=14, rate=Decimal('0.253735'))
    """
    if goal not in GOALS:
        raise DomainError("goal", " or ".join(GOALS), repr(goal))
    expected = expected_people if goal == "people" else expected_groups
    worth = [(expected(pair.k, pair.rate, prior), pair) for pair in pairs]
    if not worth:
        raise DomainError("pairs", "at least one pair", "none")
    enough = max(value for value, _ in worth) * (1 - _TIE)
    return min((pair for value, pair in worth if value >= enough), key=lambda pair: pair.k)


def _appearing(k: int, rate: Number, prior: Prior) -> tuple[Floats, Floats, Floats]:
    """Sizes, numbers of groups, and Pr[Bin(n, β) ≥ k] for each size."""
    from scipy.special import betainc

    k, beta = threshold(k), float(sampling_rate(rate))
    sizes, numbers = np.array(prior.sizes, dtype=np.float64).T
    # The incomplete beta function is the chance that the k-th sampled person is among the first n.
    shown = betainc(k, np.maximum(sizes - k + 1, 1), beta)
    return sizes, numbers, np.where(sizes >= k, shown, 0.0)
