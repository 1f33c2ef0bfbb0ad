"""Divergences by direct summation over every outcome: no formula of the package is used."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import mpmath

Law = dict[int, mpmath.mpf]
NOTHING = -1


def reference_values() -> list[dict[str, Any]]:
    here = Path(__file__)
    shared = here.parents[4] / "shared" / "reference_values.json"
    path = shared if shared.exists() else here.with_name("reference_values.json")
    values: list[dict[str, Any]] = json.loads(path.read_text())
    return values


def law(k: int, n: int, rate: mpmath.mpf) -> Law:
    """T_k(Bin(n, β)), outcome by outcome."""
    return _law(k, n, rate, mpmath.mp.prec)


@cache  # many cases have the same laws, and differ in ε
def _law(k: int, n: int, rate: mpmath.mpf, _precision: int) -> Law:
    released: Law = {NOTHING: mpmath.mpf(0)}
    for j in range(n + 1):
        chance = math.comb(n, j) * rate**j * (1 - rate) ** (n - j)
        outcome = j if j >= k else NOTHING
        released[outcome] = released.get(outcome, mpmath.mpf(0)) + chance
    return released


def divergence(p: Law, q: Law, epsilon: mpmath.mpf) -> mpmath.mpf:
    scale = mpmath.exp(epsilon)
    outcomes = p.keys() | q.keys()
    return sum(max(mpmath.mpf(0), p.get(x, 0) - scale * q.get(x, 0)) for x in outcomes)


def product(p: Law, q: Law) -> dict[tuple[int, int], mpmath.mpf]:
    return {(x, y): a * b for x, a in p.items() for y, b in q.items()}


def both_directions(k: int, rate: str, epsilon: str, most: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The suprema over n ≤ most: remove and add."""
    share, eps = mpmath.mpf(rate), mpmath.mpf(epsilon)
    laws = [law(k, n, share) for n in range(most + 1)]
    remove = max(divergence(laws[n], laws[n - 1], eps) for n in range(1, most + 1))
    add = max(divergence(laws[n - 1], laws[n], eps) for n in range(1, most + 1))
    return remove, add


def replaced(k: int, rate: str, epsilon: str, most_a: int, most_b: int) -> mpmath.mpf:
    """The supremum over n ≤ most_a, n' ≤ most_b of the two-cell divergence."""
    share, eps = mpmath.mpf(rate), mpmath.mpf(epsilon)
    laws = [law(k, n, share) for n in range(max(most_a, most_b) + 1)]
    return max(
        divergence(product(laws[n], laws[m - 1]), product(laws[n - 1], laws[m]), eps)
        for n in range(1, most_a + 1)
        for m in range(1, most_b + 1)
    )


def cells(laws: list[Law]) -> dict[tuple[int, ...], mpmath.mpf]:
    """The product of independent laws."""
    outcomes: dict[tuple[int, ...], mpmath.mpf] = {(): mpmath.mpf(1)}
    for one in laws:
        outcomes = {(*x, y): a * b for x, a in outcomes.items() for y, b in one.items()}
    return outcomes
