"""Several marginals of one table: what they tell together.

* k-link-anonymity (Kifer, Gehrke 2006): every count of a marginal over the quasi-identifiers is 0
  or at least k.
* k-combinatorial: of each combination of values that a table with these marginals can hold, some
  such table holds at least k. Where the marginals are decomposable, the most that a table can hold
  of a combination is the least of its counts (Dobra, Fienberg 2000), so that both models say the
  same; elsewhere scipy's MILP finds it, one integer program a combination.
* MaxEnt ℓ: ℓ-diversity of what an adversary believes who knows the marginals alone: the table of
  maximum entropy that has them, found by iterative proportional fitting (Deming, Stephan 1940;
  Csiszár 1975). Of marginals that no table has, as noisy ones are, it does not converge, and says
  by how much it is off.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from policy_engine.accounting.arrays import np
from policy_engine.values import frozen

MOST_CELLS = 4_000_000
"""Of the product of all values: the fit holds it in memory."""
MOST_PROGRAMS = 1_000
"""Integer programs, and variables of each."""
_TURNS, _NEAR = 2_000, 1e-9


@frozen
class Marginal:
    """How many people there are by some columns; what is not there is 0."""

    columns: tuple[str, ...]
    counts: Mapping[tuple[Hashable, ...], int]

    def over(self, columns: Sequence[str]) -> Marginal:
        """The same by fewer columns.

        >>> Marginal(("a", "b"), {("x", 1): 2, ("x", 2): 3}).over(["a"]).counts
        {('x',): 5}
        """
        kept = tuple(each for each in self.columns if each in columns)
        places = [self.columns.index(each) for each in kept]
        counts: dict[tuple[Hashable, ...], int] = {}
        for key, n in self.counts.items():
            short = tuple(key[place] for place in places)
            counts[short] = counts.get(short, 0) + n
        return Marginal(kept, counts)


@frozen
class Fit:
    """The table of maximum entropy, as shares; the axes are ``columns``, their places ``values``.

    ``turns`` of the fitting were made; ``off`` is the largest difference of a share from that of a
    marginal after them.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Hashable, ...], ...]
    shares: np.ndarray[Any, np.dtype[np.float64]]
    turns: int
    off: float

    @property
    def converged(self) -> bool:
        """Whether it has the marginals."""
        return self.off <= _NEAR


@frozen
class Together:
    """What a set of marginals tells; ``combinatorial`` is None where ``why`` says so.

    ``entropy`` and ``alpha`` are of the sensitive column given the others, in the ``fit``.
    """

    k_link: int | None
    combinatorial: int | None
    decomposable: bool
    why: str
    fit: Fit | None
    entropy: float | None = None
    alpha: float | None = None


def together(marginals: Sequence[Marginal], sensitive: str | None = None) -> Together:
    """The models of a set of marginals.

    >>> one = Marginal(("a", "s"), {("x", "u"): 3, ("x", "v"): 3, ("y", "u"): 4})
    >>> two = Marginal(("b", "s"), {(1, "u"): 7, (2, "v"): 3})
    >>> found = together([one, two], "s")
    >>> found.k_link, found.decomposable, found.fit.converged, round(found.entropy, 6)
    (3, True, True, 1.0)
    """
    quasi = [m.over([c for c in m.columns if c != sensitive]) for m in marginals]
    known = [m for m in quasi if m.columns]
    decomposable = is_decomposable([m.columns for m in known])
    k_link = min((n for m in known for n in m.counts.values() if n), default=None)
    combinatorial, why = k_link, ""
    if not decomposable:
        combinatorial, why = _combinatorial(known)
    fit = fitted(marginals)
    entropy, alpha = _believed(fit, sensitive)
    return Together(k_link, combinatorial, decomposable, why, fit, entropy, alpha)


def is_decomposable(sets: Sequence[Sequence[str]]) -> bool:
    """Whether sets of columns are acyclic: nothing is left when columns of one set, and sets within
    others, are taken away again and again (Graham; Yu and Özsoyoğlu).

    >>> is_decomposable(["ab", "bc"]), is_decomposable(["ab", "bc", "ca"])
    (True, False)
    """
    left = [set(each) for each in sets]
    while True:
        once = {c for each in left for c in each if sum(c in other for other in left) == 1}
        bare = [each - once for each in left]
        kept = [each for place, each in enumerate(bare)
                if each and not any(each <= other for other in bare[:place])
                and not any(each < other for other in bare[place + 1 :])]  # fmt: skip
        if kept == left:
            return not kept
        left = kept


def fitted(marginals: Sequence[Marginal]) -> Fit | None:
    """The table of maximum entropy with these marginals; None where it is too large, or empty."""
    columns, values, axes = _axes(marginals)
    size = math.prod(map(len, values))
    if not 0 < size <= MOST_CELLS or not all(sum(m.counts.values()) for m in marginals):
        return None
    targets = [_target(m, a, values) for m, a in zip(marginals, axes, strict=True)]
    shares = np.full([len(each) for each in values], 1 / size)
    turns, off = 0, math.inf
    while turns < _TURNS and off > _NEAR:
        for target, kept in zip(targets, axes, strict=True):
            now = _summed(shares, kept)
            shares = shares * np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        sums = (_summed(shares, kept) for kept in axes)
        off = max(float(abs(s - t).max()) for s, t in zip(sums, targets, strict=True))
        turns += 1
    return Fit(columns, values, shares, turns, off)


def divergence(fit: Fit, counts: Mapping[tuple[Hashable, ...], int]) -> float:
    """Σ p ln(p / fit), in nats, of a whole table by ``fit.columns``: what the marginals lose.

    It is of raw data where the table is.
    """
    places = [{value: i for i, value in enumerate(each)} for each in fit.values]
    people = sum(counts.values())
    lost = 0.0
    for key, n in counts.items():
        at = tuple(place[value] for place, value in zip(places, key, strict=True))
        share = float(fit.shares[at])
        lost += n / people * math.log(n / people / share) if share else math.inf
    return lost


def _axes(
    marginals: Sequence[Marginal],
) -> tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...], list[list[int]]]:
    """All columns, the values of each in the order in which they come, and each marginal's axes."""
    found: dict[str, dict[Hashable, None]] = {c: {} for m in marginals for c in m.columns}
    for each in marginals:
        for key, n in each.counts.items():
            for column, value in zip(each.columns, key, strict=True):
                if n:
                    found[column][value] = None
    axes = [[[*found].index(column) for column in each.columns] for each in marginals]
    return tuple(found), tuple(map(tuple, found.values())), axes


def _target(
    marginal: Marginal, axes: Sequence[int], values: Sequence[Sequence[Hashable]]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The shares of a marginal, of one place in the axes that it lacks."""
    places = [{value: i for i, value in enumerate(each)} for each in values]
    found: np.ndarray[Any, np.dtype[np.float64]] = np.zeros(
        [len(each) if axis in axes else 1 for axis, each in enumerate(values)]
    )
    for key, n in marginal.counts.items():
        at = [0] * len(values)
        for axis, value in zip(axes, key, strict=True):
            at[axis] = places[axis][value] if n else 0
        found[tuple(at)] += n
    found /= found.sum()
    return found


def _summed(
    shares: np.ndarray[Any, np.dtype[np.float64]], kept: Sequence[int]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Shares by some axes; the others stay as one place."""
    others = tuple(axis for axis in range(shares.ndim) if axis not in kept)
    found: np.ndarray[Any, np.dtype[np.float64]] = shares.sum(axis=others, keepdims=True)
    return found if others else shares


def _believed(fit: Fit | None, sensitive: str | None) -> tuple[float | None, float | None]:
    """The least entropy ℓ and the greatest share of a value, given the others, in a fit."""
    if fit is None or sensitive is None or sensitive not in fit.columns:
        return None, None
    by = np.moveaxis(fit.shares, fit.columns.index(sensitive), -1)
    by = by.reshape(-1, by.shape[-1])
    by = by[by.sum(axis=1) > 0]
    given = by / by.sum(axis=1, keepdims=True)
    logs = np.log(given, out=np.zeros_like(given), where=given > 0)
    return float(np.exp(-(given * logs).sum(axis=1)).min()), float(given.max())


def _combinatorial(marginals: Sequence[Marginal]) -> tuple[int | None, str]:
    """The least, over combinations, of the most that a table with these marginals holds."""
    _, values, places = _axes(marginals)
    if math.prod(map(len, values)) > MOST_CELLS:
        return None, "the product of all values is too large to be searched"
    joined = [
        key for key in itertools.product(*values)
        if all(m.counts.get(tuple(key[p] for p in at), 0)
               for m, at in zip(marginals, places, strict=True))
    ]  # fmt: skip
    if len(joined) > MOST_PROGRAMS:
        return None, f"{len(joined):,} combinations are more integer programs than are tried"
    rows, bounds = [], []
    for marginal, at in zip(marginals, places, strict=True):
        for cell, n in marginal.counts.items():
            rows.append([float(tuple(key[p] for p in at) == cell) for key in joined])
            bounds.append(n)
    most = [_most(place, rows, bounds) for place in range(len(joined))]
    if None in most or not joined:
        return None, "no table has these marginals: they carry noise, or groups are missing"
    return min((n for n in most if n), default=None), ""


def _most(place: int, rows: Sequence[Sequence[float]], bounds: Sequence[int]) -> int | None:
    """The most that a table holds of one combination; None where there is no such table."""
    from scipy.optimize import LinearConstraint, milp

    wanted = np.zeros(len(rows[0]))
    wanted[place] = -1
    exact = LinearConstraint(np.array(rows), bounds, bounds)
    found = milp(wanted, constraints=exact, integrality=np.ones(len(wanted)))
    return round(-found.fun) if found.success else None
