"""Models of marginals, beside every table that has them."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import pytest

from policy_engine.measure.marginals import (
    Marginal,
    divergence,
    fitted,
    is_decomposable,
    together,
)

CYCLE = (("a", "b"), ("b", "c"), ("a", "c"))
CHAIN = (("a", "b"), ("b", "c"))


def drawn(chance: random.Random, people: int) -> Counter[tuple[object, ...]]:
    values = [["x", None], [1, 2], [True, False]]
    return Counter(tuple(map(chance.choice, values)) for _ in range(people))


def of(table: Counter[tuple[object, ...]], columns: tuple[str, ...]) -> Marginal:
    return Marginal(("a", "b", "c"), table).over(columns)


def most_by_counting(sets, table) -> int | None:
    """Every table of as many people, and of those with the same marginals the most a cell has."""
    cells = [*itertools.product(["x", None], [1, 2], [True, False])]
    wanted = [of(table, columns).counts for columns in sets]
    most: Counter[tuple[object, ...]] = Counter()
    for other in tables(cells, table.total()):
        if all(of(other, c).counts == w for c, w in zip(sets, wanted, strict=True)):
            most |= other
    return min(most.values(), default=None)


def tables(cells, people):
    """Every way to put people into cells."""
    for bars in itertools.combinations(range(people + len(cells) - 1), len(cells) - 1):
        ends = [-1, *bars, people + len(cells) - 1]
        sizes = [b - a - 1 for a, b in itertools.pairwise(ends)]
        yield Counter({cell: n for cell, n in zip(cells, sizes, strict=True) if n})


@pytest.mark.parametrize("sets", [CYCLE, CHAIN])
def test_combinatorial_k_equals_a_count_over_all_tables(sets) -> None:
    chance = random.Random(11)
    for _ in range(6):
        table = drawn(chance, chance.randint(3, 7))
        found = together([of(table, columns) for columns in sets])
        assert found.decomposable == (sets is CHAIN)
        assert found.combinatorial == most_by_counting(sets, table)
        assert found.k_link == min(n for c in sets for n in of(table, c).counts.values())


def test_the_fit_of_a_chain_is_its_closed_form() -> None:
    """p(a, b, c) = p(a, b) p(b, c) / p(b), and what it lacks of the table is Σ p ln(p / fit)."""
    table = drawn(random.Random(5), 200)
    fit = fitted([of(table, columns) for columns in CHAIN])
    assert fit is not None and fit.converged
    people, lost = table.total(), 0.0
    ab, bc, b = (of(table, columns).counts for columns in (("a", "b"), ("b", "c"), ("b",)))
    for (i, x), (j, y), (k, z) in itertools.product(*(enumerate(each) for each in fit.values)):
        wanted = ab[x, y] * bc[y, z] / b[(y,)] / people
        assert fit.shares[i, j, k] == pytest.approx(wanted, abs=1e-9)
        lost += table[x, y, z] / people * math.log(table[x, y, z] / people / wanted)
    assert divergence(fit, table) == pytest.approx(lost)


def test_the_fit_of_a_cycle_has_its_marginals_and_more_entropy_than_the_table() -> None:
    table = drawn(random.Random(6), 300)
    marginals = [of(table, columns) for columns in CYCLE]
    fit = fitted(marginals)
    assert fit is not None and fit.converged and fit.turns > 1
    for axis, marginal in ((2, marginals[0]), (0, marginals[1]), (1, marginals[2])):
        shares = fit.shares.sum(axis=axis)
        values = [each for place, each in enumerate(fit.values) if place != axis]
        for (i, x), (j, y) in itertools.product(*map(enumerate, values)):
            assert shares[i, j] == pytest.approx(marginal.counts[x, y] / 300, abs=1e-8)
    assert divergence(fit, table) >= 0


def test_what_the_adversary_believes() -> None:
    """Both marginals are 2-diverse; together they tell the one who is x and 1."""
    one = Marginal(("a", "s"), {("x", "u"): 1, ("x", "v"): 1, ("y", "u"): 1, ("y", "w"): 1})
    two = Marginal(("b", "s"), {(1, "u"): 1, (1, "w"): 1, (2, "u"): 1, (2, "v"): 1})
    found = together([one, two], "s")
    assert found.alpha == pytest.approx(1.0) and found.entropy == pytest.approx(1.0)


def test_marginals_of_no_table_are_told() -> None:
    """With noise the totals differ; the fit says by how much it is off."""
    noisy = [
        Marginal(("a", "b"), {("x", 1): 9, ("y", 2): 9}),
        Marginal(("b", "c"), {(1, True): 9, (2, False): 12}),
        Marginal(("a", "c"), {("x", True): 10, ("y", False): 9}),
    ]
    found = together(noisy)
    assert found.combinatorial is None and "no table has these marginals" in found.why
    assert found.fit is not None and not found.fit.converged and found.fit.off > 0.01


@pytest.mark.parametrize(
    ("sets", "answer"),
    [((), True), (("abc",), True), (("ab", "ab"), True), (("ab", "cd"), True),
     (("ab", "bc", "cd", "da"), False), (("ab", "bc", "ca", "abc"), True)],
)  # fmt: skip
def test_cycles_are_found(sets, answer) -> None:
    assert is_decomposable(sets) is answer
