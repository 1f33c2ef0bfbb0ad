"""Every categorical model equals brute force from its definition, on 500 random tables."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tables
from tables import Table

from policy_engine.measure.measuring import Measured, Questions, measure
from policy_engine.measure.statement import LADDER, Tree

TEXTS = (*tables.ORDER, None)
NUMBERS = (1, 2, 3, 10, -5, None)
# The shapes that are easy to get wrong are there whatever the seed draws.
ALWAYS = (
    Table((), 2),
    Table(((("a",), None, 3), (("b",), None, 1)), 1),
    Table((((None,), "flu", 2), ((None,), "cough", 2), (("a",), "flu", 1)), 1),
    Table((((), "flu", 1), ((), None, 1)), 0),
)


#: Of each kind, weighed by a count and not; "make evidence" tries 500 in all.
TABLES = 250 if os.environ.get("EVIDENCE") else 12


def drawn(count: int) -> Iterator[tuple[Table, bool]]:
    chance = random.Random(20)
    for each in ALWAYS:
        yield each, True
    for number in range(count - len(ALWAYS)):
        yield Table.drawn(chance, TEXTS if number % 2 else NUMBERS), bool(number % 2)


def written(table: Table, path: Path, texts: bool, counted: bool) -> Path:
    rows = table.rows if counted else [r for r in table.rows for _ in range(r[2])]
    kind = pa.string() if texts else pa.int64()
    columns = {f"n{i}": pa.array([row[0][i] for row in rows], pa.string())
               for i in range(table.width)}  # fmt: skip
    columns["s"] = pa.array([row[1] for row in rows], kind)
    if counted:
        columns["n"] = pa.array([row[2] for row in rows], pa.int64())
    pq.write_table(pa.table(columns), path)
    return path


def asked(texts: bool, counted: bool) -> Questions:
    tree = Tree.of((value, *above) for value, above in tables.LEVELS.items() if value)
    return Questions(
        sensitive=("s",),
        count="n" if counted else None,
        orders={"s": tables.ORDER} if texts else {},
        trees={"s": tree} if texts else {},
        is_public=True,
    )


@pytest.mark.parametrize("counted", [True, False])
def test_values_equal_brute_force(tmp_path: Path, counted: bool) -> None:
    for table, texts in drawn(TABLES):
        path = written(table, tmp_path / "table.parquet", texts, counted)
        (found,) = measure(path, asked(texts, counted)).tables
        compare(table, found, texts)


def compare(table: Table, found: Measured, texts: bool) -> None:
    (told,) = found.disclosed
    classes, whole = list(table.classes.values()), table.whole
    assert found.sizes.people == whole.total()
    assert found.sizes.k == min((each.total() for each in classes), default=None)
    assert found.sizes.classes == len(classes)
    assert told.values == len(whole)
    if not classes:
        values = (told.distinct, told.entropy, told.t_equal, told.t_ordered, told.delta, told.alpha,
                  told.a_know, told.a_acc, told.classification)  # fmt: skip
        assert values == (None,) * 9
        assert told.recursive == {}
        return
    order = sorted(whole, key=lambda v: place(v, texts))
    q = tables.shares(whole, whole)
    pairs = [tables.shares(each, whole) for each in classes]
    assert told.distinct == min(map(len, classes))
    near(told.entropy, min(map(tables.entropy, classes)))
    ladder = {
        level: max(tables.recursive(each, level) for each in classes)
        for level in range(2, min(told.distinct, LADDER) + 1)
    }
    assert told.recursive == pytest.approx({level: float(c) for level, c in ladder.items()})
    near(told.t_equal, max(tables.equal(p, q) for p in pairs))
    near(told.t_ordered, max(tables.ordered(p, q, order) for p in pairs))
    if texts:
        near(told.t_hierarchical, max(tables.hierarchical(p, q) for p in pairs))
    near(told.delta, max(tables.disclosure(p, q) for p in pairs))
    near(told.alpha, max(max(p.values()) for p in pairs))
    people = whole.total()
    knows = sum(each.total() * tables.equal(p, q) for each, p in zip(classes, pairs, strict=True))
    near(told.a_know, knows / people)
    right = sum(max(each.values()) for each in classes) / people
    near(told.a_acc, right - max(whole.values()) / people)
    near(told.classification, 1 - right)
    worst_is_one_of_the_worst(table, found)


def place(value: object, texts: bool) -> tuple[bool, object]:
    """NULL is the last."""
    return value is None, value is not None and (tables.ORDER.index(value) if texts else value)


def near(value: float | None, wanted: object) -> None:
    assert value == pytest.approx(float(wanted), rel=1e-9, abs=1e-12)  # type: ignore[arg-type]


def worst_is_one_of_the_worst(table: Table, found: Measured) -> None:
    (told,) = found.disclosed
    if not table.width:
        assert not told.worst
        return
    named = {model: tuple(where.values()) for model, where in told.worst.items()}
    classes, q = table.classes, tables.shares(table.whole, table.whole)
    shares = {model: tables.shares(classes[key], table.whole) for model, key in named.items()}
    assert found.sizes.worst is not None
    assert classes[tuple(found.sizes.worst.values())].total() == found.sizes.k
    assert len(classes[named["distinct"]]) == told.distinct
    near(told.entropy, tables.entropy(classes[named["entropy"]]))
    near(told.t_equal, tables.equal(shares["t_equal"], q))
    near(told.delta, tables.disclosure(shares["delta"], q))
    near(told.alpha, max(shares["alpha"].values()))


def test_distances_are_the_least_cost_of_moving(tmp_path: Path) -> None:
    """The earth mover's distance by linear programming, from the ground distances alone."""
    chance = random.Random(3)
    for _ in range(40):
        table = Table.drawn(chance, TEXTS)
        if not table.rows:
            continue
        path = written(table, tmp_path / "table.parquet", True, True)
        (told,) = measure(path, asked(True, True)).tables[0].disclosed
        values = sorted(table.whole, key=lambda v: place(v, True))
        far = max(1, len(values) - 1)
        steps = [[abs(i - j) / far for j in range(len(values))] for i in range(len(values))]
        heights = [[height(a, b) / 3 for b in values] for a in values]
        q = tables.shares(table.whole, table.whole)
        pairs = [tables.shares(each, table.whole) for each in table.classes.values()]
        near(told.t_ordered, max(moved(p, q, values, steps) for p in pairs))
        near(told.t_hierarchical, max(moved(p, q, values, heights) for p in pairs))


def height(one: object, other: object) -> int:
    """The height of the lowest common ancestor."""
    if one == other:
        return 0
    paths = zip(tables.LEVELS[one][::-1], tables.LEVELS[other][::-1], strict=True)  # type: ignore[index]
    shared = 0
    for a, b in paths:
        if a != b:
            break
        shared += 1
    return 3 - shared


def moved(p, q, values, costs) -> float:
    from scipy.optimize import linprog

    size = len(values)
    rows = [[float(i == at) for i in range(size) for _ in range(size)] for at in range(size)]
    rows += [[float(j == at) for _ in range(size) for j in range(size)] for at in range(size)]
    sums = [float(p[v]) for v in values] + [float(q[v]) for v in values]
    return float(linprog([c for row in costs for c in row], A_eq=rows, b_eq=sums).fun)


def test_with_a_key_people_count_once_a_class_and_once_a_value(tmp_path: Path) -> None:
    """Sizes are of distinct people, the models of distinct people a value; by sets of people."""
    chance = random.Random(7)
    for _ in range(TABLES // 15):
        many = range(chance.choice((0, 1, 5, 12, 30)))
        values = ("ab", "xyz", ("flu", "cough", None), range(1, 9))
        rows = [tuple(map(chance.choice, values)) for _ in many]
        names = ("n0", "n1", "s", "who")
        kinds = (pa.string(), pa.string(), pa.string(), pa.int64())
        columns = {name: pa.array([row[i] for row in rows], kind)
                   for i, (name, kind) in enumerate(zip(names, kinds, strict=True))}  # fmt: skip
        path = tmp_path / "visits.parquet"
        pq.write_table(pa.table(columns), path)
        asked = Questions(sensitive=("s",), key="who", is_public=True)
        (found,) = measure(path, asked).tables
        classes: dict[tuple[str, str], set[int]] = {}
        for a, b, _, who in rows:
            classes.setdefault((a, b), set()).add(who)
        assert found.quasi == ("n0", "n1")
        assert found.sizes.by_size == Counter(map(len, classes.values()))
        assert found.persons == len({row[3] for row in rows})
        alone = {who for each in classes.values() if len(each) == 1 for who in each}
        assert found.alone == len(alone)
        assert found.unique == (len(alone) / found.persons if rows else None)
        once = Table(tuple(((a, b), s, 1) for a, b, s, _ in sorted(set(rows), key=repr)), 2)
        (told,) = found.disclosed
        (by_cells,) = measure(written(once, path, True, True), once_asked()).tables[0].disclosed
        assert (told.values, told.distinct) == (by_cells.values, by_cells.distinct)
        assert told.recursive == pytest.approx(by_cells.recursive)
        floats = ("entropy", "t_equal", "delta", "alpha", "a_know", "a_acc", "classification")
        for name in floats if rows else ():
            near(getattr(told, name), getattr(by_cells, name))


def once_asked() -> Questions:
    return Questions(sensitive=("s",), count="n", is_public=True)
