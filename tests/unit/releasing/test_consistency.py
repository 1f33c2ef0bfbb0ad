"""Tables of one release made to agree: the nearest that do, with the unshown filled in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from policy_engine.errors import UsageError
from policy_engine.releasing.estimating import CELLS, Counted, agreeing


def margin(table, found, *names):
    """Of a table the sums by these of its columns."""
    sums = Counter()
    for cell, value in found.items():
        sums[tuple(cell[table.columns.index(name)] for name in names)] += value
    return sums


def test_of_two_counts_of_the_same_people_the_more_exact_one_counts_more():
    tables = [Counted(("a",), {("x",): 100}, 3, 10), Counted(("a",), {("x",): 110}, 1, 10)]
    for found in agreeing(tables):
        assert found == {("x",): pytest.approx((100 / 9 + 110) / (1 / 9 + 1), abs=0.01)}


def test_a_single_group_that_is_missing_is_the_rest():
    pairs = Counted(("a", "b"), {("x", 1): 50, ("x", 2): 40, ("y", 1): 60}, 0.1, 200)
    sums = Counted(("a",), {("x",): 90, ("y",): 75}, 0.1, 20)
    assert agreeing([pairs, sums])[0]["y", 2] == pytest.approx(15, abs=0.3)


def test_tables_agree_wherever_they_share_columns_and_nothing_is_below_zero():
    random = np.random.default_rng(0)
    people = random.integers(0, 5, (3000, 4)) * random.integers(0, 2, (3000, 4))
    tables = []
    for own in ((0, 1, 2), (1, 2, 3), (0, 3), (2,)):
        counts = Counter(map(tuple, people[:, own].tolist()))
        noisy = {cell: n + int(random.integers(-9, 10)) for cell, n in counts.items()}
        shown = {cell: n for cell, n in noisy.items() if n >= 20}
        tables.append(Counted(tuple("abcd"[each] for each in own), shown, 5.5, 20))
    found = agreeing(tables)
    assert min(min(each.values()) for each in found) >= 0
    for one, other, *names in ((0, 1, "b", "c"), (0, 2, "a"), (1, 2, "d"), (0, 3, "c"), (2, 3)):
        first, second = (margin(tables[at], found[at], *names) for at in (one, other))
        assert first == pytest.approx(second, abs=0.1)
    truth = Counter(map(tuple, people[:, (0, 3)].tolist()))
    released = sum(abs(tables[2].counts.get(cell, 0) - n) for cell, n in truth.items())
    assert sum(abs(found[2].get(cell, 0) - n) for cell, n in truth.items()) < released


def test_a_table_of_which_nothing_is_known_has_no_cells():
    tables = [Counted(("a",), {("x",): 9}, 1, 5), Counted(("b",), {}, 1, 5), Counted((), {}, 1, 5)]
    first, second, total = agreeing(tables)
    assert (first, second) == ({("x",): pytest.approx(9, abs=1)}, {})
    assert total[()] == pytest.approx(first["x",], abs=0.01)
    assert agreeing([Counted(("a",), {}, 1, 5)] * 2) == [{}, {}]


def test_too_many_cells_are_refused():
    counts = {(n, n): 30 for n in range(1000)}
    tables = [Counted(("a", "b"), counts, 1, 20), Counted(("a",), {(1,): 30}, 1, 20)]
    with pytest.raises(UsageError, match="the tables have 1,001,000 cells"):
        agreeing(tables)
    assert CELLS < 1_001_000
