"""What the classes of a table tell: categorical models, risks, and utility of their sizes alone.

With classes E over the quasi-identifiers, p(E, s) the share of the sensitive value s in E and q(s)
its share in the table. A share that is absent is 0; NULL is a value like any other, in a class's
key and as a sensitive value. A table without rows has no class: nothing in it is the least or the
most, and every value is None.

* k-anonymity (Samarati 2001; Sweeney 2002): ``min |E| ≥ k``.
* ℓ-diversity (Machanavajjhala et al. 2007): *distinct* ``min |{s : p(E, s) > 0}| ≥ ℓ``; *entropy*
  ``−Σ p ln p ≥ ln ℓ``, given as the largest real ℓ, which is not rounded; *recursive* (c, ℓ)
  ``r₁ < c (r_ℓ + … + r_m)`` with r the sizes of a class's values, descending.
* t-closeness (Li, Li, Venkatasubramanian 2007): the largest earth mover's distance between p(E, ·)
  and q. *Equal* ``½ Σ |p − q|``; *ordered* ``Σ_i |Σ_{j≤i} (p_j − q_j)| / (m − 1)`` over the m
  values of the table in their order; *hierarchical*: moving costs the height of the lowest common
  ancestor over the height of the tree.
* δ-disclosure privacy (Brickell, Shmatikov 2008): ``|ln(p / q)| < δ`` for every s of the table,
  also those that a class lacks: then no δ is large enough, and the value is infinite.
* (α, k)-anonymity (Wong et al. 2006), of every value: ``max p(E, s) ≤ α`` and ``min |E| ≥ k``.
* Brickell and Shmatikov 2008: what an adversary knows more, *A_diff* ``½ Σ |p − q|``, of which the
  largest is t by the equal distance, *A_know* its mean over the people, and *A_acc* how much more
  often the guess of the commonest value is right: ``Σ |E| max p / N − max q``.
* classification metric (Iyengar 2002): the share of people whose value is not their class's
  commonest.

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
from dataclasses import field
from typing import Any

from policy_engine.values import frozen

_NO_CHANCE = 1e-30
"""A chance so small adds nothing to a sum with one that is near 1."""
Class = Mapping[str, object]
"""A class, by the values of its quasi-identifiers."""


@frozen
class Disclosed:
    """What a table tells of one sensitive column; the fields are as the page says.

    ``values`` is how many there are; ``recursive`` by ℓ the greatest c that is not enough: the
    table is recursively (c, ℓ)-diverse for every c above it, and never for an ℓ that is not there.
    ``worst`` names the class in which each model is at its worst, where that was asked for.
    """

    column: str
    values: int
    distinct: int | None
    entropy: float | None
    recursive: Mapping[int, float]
    t_equal: float | None
    t_ordered: float | None
    t_hierarchical: float | None
    delta: float | None
    alpha: float | None
    a_know: float | None
    a_acc: float | None
    classification: float | None
    worst: Mapping[str, Class] = field(default_factory=dict)


@frozen
class Sizes:
    """The classes of a table: how many there are of each size.

    >>> found = Sizes({1: 2, 4: 1})
    >>> found.people, found.classes, found.k
    (6, 3, 1)
    """

    by_size: Mapping[int, int]
    worst: Class | None = None

    @property
    def people(self) -> int:
        """How many people are in all classes together."""
        return sum(size * times for size, times in self.by_size.items())

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return sum(self.by_size.values())

    @property
    def k(self) -> int | None:
        """The size of the smallest; None where there is none."""
        return min(self.by_size, default=None)


def sizes_of(row: Mapping[str, Any]) -> Sizes:
    """The classes that the statement's row tells of."""
    return Sizes(dict(row["sizes"] or ()), row.get("worst_k"))


def disclosed_of(column: str, row: Mapping[str, Any]) -> Disclosed:
    """The models of a sensitive column that the statement's row tells of."""
    people, worst = row["people"], "worst_"
    return Disclosed(
        column=column,
        values=row["values"],
        distinct=row["distinct"],
        entropy=row["entropy"],
        recursive=dict(row["recursive"] or ()),
        t_equal=row["t_equal"],
        t_ordered=row.get("t_ordered"),
        t_hierarchical=row.get("t_hierarchical"),
        delta=row["delta"],
        alpha=row["alpha"],
        a_know=row["mean_t"],
        a_acc=(row["right"] - row["most"]) / people if people else None,
        classification=1 - row["right"] / people if people else None,
        worst={
            name.removeprefix(worst): found
            for name, found in row.items()
            if name.startswith(worst) and found is not None and name != "worst_k"
        },
    )


_FROM = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


@frozen
class Risk:
    """A chance to be found: of whoever is most at risk, and the mean over the people."""

    highest: float
    mean: float


@frozen
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
    if not sizes.people:
        return None
    n, alone = sizes.people, sizes.by_size.get(1, 0)
    population = round(n / rate)
    if not alone:
        return 0.0
    if population == n:
        return alone / n
    # Of ``size`` people just one is in the sample: size·n/N · Π (N − n − i)/(N − 1 − i) over
    # i < size − 1, with N people. It is the share of one size among all that is asked for.
    weights, apart, other = 0.0, 1.0, 0
    for size in sorted(sizes.by_size):
        while other < size - 1 and apart > _NO_CHANCE:
            apart *= max(0, population - n - other) / (population - 1 - other)
            other += 1
        weights += sizes.by_size[size] * size * apart
    chance = alone / weights
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
