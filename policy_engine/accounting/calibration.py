"""Solving the curve for ε, k or β. Every answer is verified with the curve it came from.

The curve falls in ε: H_a does. It does not rise with k: T_{k+1} is a function of T_k's output
(k becomes ⊥), and processing an output never raises H_a. It does not fall with β: sampling at
β' < β is sampling at β'/β first and at β then. The differing unit survives the first with
probability β'/β, and given all other survivors the tables are neighbours or equal, so by joint
convexity δ_{β'} ≤ (β'/β)·δ_β, for replace-one (drop the old and the new unit together) as well. So
bisection finds the boundary, and the neighbour of every answer was seen to fail. The same holds of
N releases together, whose δ is that of [COMP]'s tight rule.

Under replace_one, and for several releases, the computed curve lies up to 1e-3 above the true
one, so "least" and "greatest" hold of the computed curve, and rates are looked for at 5
significant digits.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.bounds import downward
from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.composition import Charges, Question, Tight
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    DIGITS,
    Number,
    count,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
)
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact
from policy_engine.errors import DomainError
from policy_engine.values import frozen

_ROUGH_RESOLUTION = 5
_LARGEST = 10**6
_LEAST_EXPONENT = -300
_KEPT = 64
"""Answers of so many questions: a comparison asks for those that a policy was given already."""


@frozen
class Joint(EpsilonDelta):
    """What N releases with a fresh sample each must meet together: (ε, δ) between neighbours.

    Errors: DomainError.
    """

    neighbours: str = ADD_REMOVE
    releases: int = 1

    def __post_init__(self) -> None:
        neighbour_notion(self.neighbours)
        count("releases", self.releases)

    @property
    def exact(self) -> bool:
        """Whether δ has a closed form."""
        return self.neighbours == ADD_REMOVE and self.releases == 1

    def met(self, k: int, rate: Decimal) -> bool:
        """Whether releases of k at a rate are proven to meet the target.

        >>> target = Joint(Decimal(1), Decimal("1e-6"), releases=4)
        >>> target.met(9, Decimal("0.1")), target.met(8, Decimal("0.1"))
        (True, False)
        """
        # One release alone lies below, and add/remove below replace-one: both are cheap.
        if delta_exact(k, rate, self.epsilon).delta > self.delta:
            return False
        if self.exact:
            return True
        if self.releases == 1:
            return delta_exact(k, rate, self.epsilon, self.neighbours).delta <= self.delta
        charges = self._charges(k, rate)
        return Tight().meets(charges, self.epsilon, self.delta, Question(self.neighbours))

    def spent(self, k: int, rate: Decimal) -> Decimal:
        """δ in total at the target's ε, by the tight rule.

        >>> Joint(Decimal("0.5"), Decimal("1e-6")).spent(20, Decimal("0.1"))
        Decimal('2.63178346623E-11')
        """
        if self.releases == 1:
            return delta_exact(k, rate, self.epsilon, self.neighbours).delta
        return Tight().delta(self._charges(k, rate), self.epsilon, Question(self.neighbours))

    def _charges(self, k: int, rate: Decimal) -> Charges:
        return ((SampledSuppression(k, rate), self.releases),)


def least_k(
    epsilon: Number, delta: Number, rate: Number, neighbours: str = ADD_REMOVE, releases: int = 1
) -> int:
    """Find the smallest k with which N releases from samples together are (ε, δ)-DP.

    A group is published if at least k sampled units are in it. Each release has a sample of its
    own. The returned k was checked to meet ε and δ.

    Arguments:
        ``epsilon``: ε in total, from 0 to 10⁹.
        ``delta``: δ in total, between 0 and 1.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``neighbours``: ``add_remove`` for one unit more or less, ``replace_one`` for another unit.
        ``releases``: N, at least 1.

    Errors: DomainError for other values, or if no k up to about 10⁶ is enough.

    >>> least_k("0.5", "1e-9", "0.1")
    17
    """
    rate = sampling_rate(rate)
    target = Joint(nonnegative_epsilon(epsilon), probability(delta), neighbours, releases)
    high = 2
    while not target.met(high, rate):
        if high >= _LARGEST:
            raise DomainError("epsilon", f"larger for k up to {_LARGEST} to reach delta", epsilon)
        high *= 2
    return least_integer(max(1, high // 2), high, lambda k: target.met(k, rate))


def greatest_rate(
    epsilon: Number, delta: Number, k: int, neighbours: str = ADD_REMOVE, releases: int = 1
) -> Decimal:
    """Find the greatest sampling rate with which N releases together are (ε, δ)-DP.

    Each release has a sample of its own. The returned rate was checked to meet ε and δ. It is
    rounded down to 12 significant digits, or to 5 for several releases or under ``replace_one``.

    Arguments:
        ``epsilon``: ε in total, from 0 to 10⁹.
        ``delta``: δ in total, between 0 and 1.
        ``k``: the smallest published count, from 2 to 10⁹.
        ``neighbours``: ``add_remove`` for one unit more or less, ``replace_one`` for another unit.
        ``releases``: N, at least 1.

    Errors: DomainError for other values, or if no rate of at least 1e-300 is small enough.

    >>> greatest_rate("0.5", "1e-9", 20)
    Decimal('0.128288750900')
    """
    target = Joint(nonnegative_epsilon(epsilon), probability(delta), neighbours, releases)
    return _greatest_rate(target, threshold(k))


def best_pair(
    epsilon: Number, delta: Number, neighbours: str = ADD_REMOVE, releases: int = 1
) -> tuple[int, Decimal]:
    """Find the pair (k, rate) that meets (ε, δ) and publishes the smallest groups.

    The pair has the smallest k/rate. For example, with k = 14 and rate 0.25, k/rate is 56. In a
    group of 56 people 14 are sampled on average, just enough. For several releases, or under
    ``replace_one``, a slightly better pair can exist.

    Arguments:
        ``epsilon``: ε in total, from 0 to 10⁹.
        ``delta``: δ in total, between 0 and 1.
        ``neighbours``: ``add_remove`` for one unit more or less, ``replace_one`` for another unit.
        ``releases``: the number of releases, at least 1.

    Errors: DomainError for other values, or if every k/rate is above 10⁶.

    >>> best_pair("1", "1e-6")
    (14, Decimal('0.253735927992'))
    """
    target = Joint(nonnegative_epsilon(epsilon), probability(delta), neighbours, releases)
    return _best_of_all(target) if target.exact else _best_of_some(target)


@lru_cache(maxsize=_KEPT)
def _best_of_all(target: Joint) -> tuple[int, Decimal]:
    """The least k/rate, with no k left out."""
    found, best = (_LARGEST, Decimal(1)), Decimal(_LARGEST)
    # Powers of 2 first, for a good `best`; it need not be larger than k/best, as rates are < 1.
    start = 2
    while start < best:
        if target.met(start, downward(start / best)):
            rate = _greatest_rate(target, start)
            found, best = (start, rate), start / rate
        start *= 2
    if found[0] == _LARGEST:
        law = f"larger for k/rate below {_LARGEST} to reach delta"
        raise DomainError("epsilon", law, target.epsilon)
    # Some k in [low, high] can only win at a rate ≥ low/best, and then k = high meets the target
    # at low/best, for the curve falls in k: where it does not, the whole range is out.
    ranges = [(2, int(best))]
    while ranges:
        low, high = ranges.pop()
        asked = downward(low / best)
        if asked >= 1 or not target.met(high, asked):
            continue
        if low < high:
            middle = (low + high) // 2
            ranges += [(middle + 1, high), (low, middle)]
            continue
        rate = _greatest_rate(target, low)
        if (low / rate, low) < (best, found[0]):
            found, best = (low, rate), low / rate
    return found


@lru_cache(maxsize=_KEPT)
def _best_of_some(target: Joint) -> tuple[int, Decimal]:
    """The least k/rate if it falls and then rises with k; each evaluation is a composition.

    From the best of one release alone in steps that are halved where neither side is better. A k
    can only win at a rate of k over the best so far: that is asked first.
    """

    def winner(k: int) -> tuple[Decimal, int, Decimal]:
        rate = _greatest_rate(target, k)
        return k / rate, k, rate

    best = winner(_best_of_all(Joint(target.epsilon, target.delta))[0])
    step = max(1, best[1] // 4)
    while step:
        sides = [k for k in (best[1] - step, best[1] + step) if k >= 2]
        asked = [(k, downward(k / best[0])) for k in sides]
        found = min([best, *(winner(k) for k, rate in asked if rate < 1 and target.met(k, rate))])
        best, step = (found, step) if found < best else (best, step // 2)
    return best[1:]


def _greatest_rate(target: Joint, k: int) -> Decimal:
    """The greatest rate on the grid of significant digits that meets the target."""
    ceiling, digits = Decimal(1), DIGITS
    if not target.exact:
        # One release alone, under add/remove, can be sampled at no smaller rate.
        ceiling, digits = _greatest_rate(Joint(target.epsilon, target.delta), k), _ROUGH_RESOLUTION
    # The decade first: 10^exponent is the least power of 10 that is not below the answer.
    exponent = min(0, ceiling.adjusted() + 1)
    while exponent > _LEAST_EXPONENT and not target.met(k, Decimal(1).scaleb(exponent - 1)):
        exponent -= 1
    if exponent == _LEAST_EXPONENT:
        law = f"larger for a rate of at least 1E{_LEAST_EXPONENT}"
        raise DomainError("delta", law, target.delta)
    scale = exponent - digits
    low, high = 10 ** (digits - 1), 10**digits
    mantissa = least_integer(
        low, high, lambda m: m == high or not target.met(k, Decimal(m).scaleb(scale))
    )
    return Decimal(mantissa - 1).scaleb(scale)
