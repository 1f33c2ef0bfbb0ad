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
    """A public belief: so many groups of each size in the source, by rising size.

    >>> Prior.of_sizes({800: 20, 5000: 3})
    Prior(sizes=((800, 20), (5000, 3)))
    """

    sizes: tuple[tuple[int, int], ...]

    @property
    def groups(self) -> int:
        """How many groups there are.

        >>> Prior.of_sizes({800: 20, 5000: 3}).groups
        23
        """
        return sum(count for _, count in self.sizes)

    @property
    def people(self) -> int:
        """How many people there are.

        >>> Prior.of_sizes({800: 20, 5000: 3}).people
        31000
        """
        return sum(size * count for size, count in self.sizes)

    @classmethod
    def of_sizes(cls, sizes: Mapping[int, int]) -> Prior:
        """The belief that names every size.

        Errors: DomainError unless sizes and numbers of groups are integers from 1 to 10⁹, and
        there is at least one.

        >>> Prior.of_sizes({})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        policy_engine.base_errors.DomainError: sizes must be at least one size of a group, ...
        """
        if not sizes:
            raise DomainError("sizes", "at least one size of a group", "none")
        for size, number in sizes.items():
            whole("size of a group", size, 1, MOST_PEOPLE)
            whole("number of groups", number, 1, MOST_PEOPLE)
        return cls(tuple(sorted(sizes.items())))

    @classmethod
    def zipf(cls, people: int, groups: int, exponent: Number = 1) -> Prior:
        """The belief that the i-th largest of the groups has a size in proportion to i^−exponent.

        Sizes are rounded so that they add up to ``people``: the largest i groups together have
        the whole number of people next to their share. A group whose share is too small is left
        out. Exponent 0 makes all groups alike, 1 is Zipf's law. Errors: DomainError unless
        people and groups are integers with 1 ≤ groups ≤ 10⁶ and groups ≤ people ≤ 10⁹, and the
        exponent is from 0 to 10.

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
    """How many groups are expected to be released: Σ Pr[Bin(n, β) ≥ k].

    Accuracy: each probability to 1e-6. Units: the rate is that at which the *source* is sampled.
    Errors: DomainError.

    >>> round(expected_groups(14, "0.25", Prior.of_sizes({100: 2, 10: 7})), 6)
    1.995084
    """
    _, numbers, appears = _appearing(k, rate, prior)
    return math.fsum(numbers * appears)


def expected_people(k: int, rate: Number, prior: Prior) -> float:
    """How many people are expected to be in a group that is released: Σ n·Pr[Bin(n, β) ≥ k].

    They are people of the source, sampled or not. Accuracy, units and errors as
    ``expected_groups``.

    >>> round(expected_people(14, "0.25", Prior.of_sizes({100: 2, 10: 7})), 4)
    199.5084
    """
    sizes, numbers, appears = _appearing(k, rate, prior)
    return math.fsum(sizes * numbers * appears)


def best_pair_for(prior: Prior, goal: Goal, pairs: Iterable[SamplePair]) -> SamplePair:
    """The pair with the most expected people or groups; the smallest k within a 1e-9 share of it.

    Errors: DomainError for another goal, or no pair.

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
