"""How likely it is that somebody is found, and how many are alone; utility that sizes alone tell.

The risks are those of El Emam and Dankar 2008: of the *prosecutor*, who knows that the person is in
the table, 1 / |E|; of the *journalist*, who knows that the person is in the population, 1 / |F|,
F being the people of the population that look alike; of the *marketer*, who links everybody, the
mean over the people of the table of what the journalist has, or of 1 / |E| where the table is its
own population.

How many people are alone in the population is estimated from a sample of it, by two models that
the caller must weigh: neither is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from policy_engine.measure.categorical import Sizes

_FROM = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


@dataclass(frozen=True)
class Risk:
    """A chance to be found: of whoever is most at risk, and the mean over the people."""

    highest: float
    mean: float


@dataclass(frozen=True)
class Band:
    """Classes of ``low`` to ``high`` people; ``high`` is None for no end."""

    low: int
    high: int | None
    classes: int
    people: int


def prosecutor(sizes: Sizes) -> Risk | None:
    """Of who knows that the person is in the table; None of no people.

    >>> prosecutor(Sizes({1: 1, 4: 1}))
    Risk(highest=1.0, mean=0.4)
    """
    if sizes.k is None:
        return None
    return Risk(1 / sizes.k, sizes.classes / sizes.people)


def journalist(pairs: Mapping[tuple[int, int], int]) -> Risk | None:
    """Of who knows a population: how many classes have f people in the table and F in it.

    Where the population lacks somebody who is in the table, F is taken for f. The mean is the
    marketer's.

    >>> journalist({(1, 10): 1, (4, 5): 1})
    Risk(highest=0.2, mean=0.18)
    """
    if not pairs:
        return None
    known = {(f, max(f, of)): times for (f, of), times in pairs.items()}
    people = sum(f * times for (f, _), times in known.items())
    found = sum(times * f / of for (f, of), times in known.items())
    return Risk(max(1 / of for _, of in known), found / people)


def scaled(sizes: Sizes, rate: float) -> Risk | None:
    """The journalist's risk where the table is a sample at ``rate``: F is estimated by f / rate.

    >>> scaled(Sizes({2: 1, 4: 1}), 0.1).highest
    0.05
    """
    own = prosecutor(sizes)
    return None if own is None else Risk(rate * own.highest, rate * own.mean)


def bands(sizes: Sizes) -> tuple[Band, ...]:
    """How people are spread over classes by size; bands without any are left out.

    >>> [(band.low, band.high, band.people) for band in bands(Sizes({1: 2, 4: 1, 2000: 1}))]
    [(1, 1, 2), (3, 4, 4), (1000, None, 2000)]
    """
    found = []
    for low, after in zip(_FROM, (*_FROM[1:], None), strict=True):
        within = {s: t for s, t in sizes.by_size.items() if s >= low and (not after or s < after)}
        high = None if after is None else after - 1
        people = sum(size * times for size, times in within.items())
        found.append(Band(low, high, sum(within.values()), people))
    return tuple(band for band in found if band.classes)


def uniqueness(sizes: Sizes) -> float | None:
    """The share of the table's people who are alone in their class; None of no people.

    >>> uniqueness(Sizes({1: 2, 4: 2}))
    0.2
    """
    return sizes.by_size.get(1, 0) / sizes.people if sizes.people else None


def zayatz(sizes: Sizes, rate: float) -> float | None:
    """The share of a population who are alone in it (Zayatz 1991), from a sample at ``rate``.

    A class of size j in the population is taken to be as frequent as one of size j in the sample;
    by Bayes, with hypergeometric sampling, that gives the chance that who is alone in the sample is
    so in the population, and there are rate⁻¹ as many of those. None of no people.

    >>> zayatz(Sizes({1: 2, 2: 1}), 1.0)
    0.5
    """
    from scipy.stats import hypergeom

    if not sizes.people:
        return None
    n, alone = sizes.people, sizes.by_size.get(1, 0)
    population = round(n / rate)
    if not alone:
        return 0.0
    if population == n:
        return alone / n
    # Of ``size`` people just one is in the sample.
    weights = {size: times * float(hypergeom.pmf(1, population, size, n))
               for size, times in sizes.by_size.items()}  # fmt: skip
    chance = weights[1] / sum(weights.values())
    return min(1.0, alone * chance / rate / population)


def pitman(sizes: Sizes, rate: float) -> float | None:
    """The share of a population who are alone in it, by Pitman's model (Hoshino 2001).

    The sample's classes are taken for a draw of Pitman's partition; (θ, α) are the most likely,
    found by scipy, and the share is that of the model at the population's size: the chance that the
    first person stays alone, Γ(θ+α+N−1) Γ(θ+1) / (Γ(θ+α) Γ(θ+N)). None where the sample has fewer
    than two classes, or all its people are alone or none is: the model is then not determined.
    """
    from scipy.special import gammaln

    alone = sizes.by_size.get(1, 0)
    if sizes.classes < 2 or not 0 < alone < sizes.people:
        return None
    population = round(sizes.people / rate)
    theta, alpha = _most_likely(sizes)
    log = gammaln(theta + alpha + population - 1) + gammaln(theta + 1)
    log -= gammaln(theta + alpha) + gammaln(theta + population)
    return min(1.0, math.exp(log))


def _most_likely(sizes: Sizes) -> tuple[float, float]:
    """θ and α of Pitman's partition that are most likely of these classes."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    size = np.array(list(sizes.by_size), dtype=float)
    times = np.array(list(sizes.by_size.values()), dtype=float)
    n, u = sizes.people, sizes.classes

    def unlikely(at: np.ndarray) -> float:
        alpha, theta = expit(at[0]), np.exp(at[1])
        log = (u - 1) * np.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
        log -= gammaln(theta + n) - gammaln(theta + 1)
        log += np.sum(times * (gammaln(size - alpha) - gammaln(1 - alpha)))
        return -float(log)

    starts = [(a, b) for a in (-2.0, 0.0, 2.0) for b in (0.0, 4.0, 8.0)]
    found = min((minimize(unlikely, start, method="Nelder-Mead") for start in starts),
                key=lambda each: each.fun)  # fmt: skip
    return float(np.exp(found.x[1])), float(expit(found.x[0]))


def discernibility(sizes: Sizes) -> int:
    """Bayardo and Agrawal 2005: Σ |E|².

    >>> discernibility(Sizes({2: 1, 3: 1}))
    13
    """
    return sum(times * size**2 for size, times in sizes.by_size.items())


def average_class(sizes: Sizes) -> float | None:
    """LeFevre, DeWitt and Ramakrishnan 2006: people a class; None of no people.

    >>> average_class(Sizes({2: 1, 4: 1}))
    3.0
    """
    return sizes.people / sizes.classes if sizes.classes else None
