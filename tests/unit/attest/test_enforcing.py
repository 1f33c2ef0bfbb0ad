"""What stays of a release has its models; what goes broke one when it went."""

from __future__ import annotations

import datetime
import math
import random
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from policy_engine.attest.enforcing import check_models, enforced, filtered
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Native
from policy_engine.kernel.models import LDiversity, TCloseness, model_from
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Files, Rows
from policy_engine.kernel.types import Type

ORDER = ("low", "mid", "high")
MODELS = (
    LDiversity("s", Decimal(2)), LDiversity("s", Decimal("1.8"), "entropy"),
    LDiversity("s", Decimal(2), "recursive", Decimal("1.5")), TCloseness("s", Decimal("0.3")),
    TCloseness("s", Decimal("0.2"), ORDER),
)  # fmt: skip


def classes(rows, counts):
    found = defaultdict(Counter)
    for (key, value), n in zip(rows, counts, strict=True):
        found[key][value] += n
    return found


def holds(model, cells, whole) -> bool:
    """By the definitions, with floats: the tables are drawn so that no tie is near."""
    people = cells.total()
    p = {v: cells[v] / people for v in whole}
    q = {v: whole[v] / whole.total() for v in whole}
    if isinstance(model, TCloseness):
        if not model.order:
            return sum(abs(p[v] - q[v]) for v in whole) / 2 <= float(model.most)
        known = [v for v in (*ORDER, None) if v in whole]
        steps = [abs(sum(p[v] - q[v] for v in known[: i + 1])) for i in range(len(known))]
        return sum(steps) / max(1, len(known) - 1) <= float(model.most)
    sizes = sorted(cells.values(), reverse=True)
    if model.kind == "distinct":
        return len(sizes) >= model.level
    if model.kind == "entropy":
        return -sum(x * math.log(x) for x in p.values() if x) >= math.log(model.level)
    return sizes[0] < float(model.factor) * sum(sizes[int(model.level) - 1 :])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_stays_has_the_model_and_no_more_goes_than_must(model) -> None:
    chance = random.Random(str(model))
    went = 0
    for _ in range(200):
        cells = {(chance.choice("abcd"), chance.choice([*ORDER, None])) for _ in range(9)}
        rows = sorted(cells, key=str)
        counts = [chance.randint(1, 997) for _ in rows]
        stay = enforced(["g", "s"], rows, counts, [model])
        left, leftover = [r for r, s in zip(rows, stay, strict=True) if s], classes(rows, counts)
        kept = classes(left, [n for n, s in zip(counts, stay, strict=True) if s])
        whole = sum(kept.values(), Counter())
        assert all(holds(model, found, whole) for found in kept.values())
        assert all(kept[key] == leftover[key] for key in kept)  # a class goes as a whole
        gone = [key for key in leftover if key not in kept]
        went += len(gone)
        everything = sum(leftover.values(), Counter())
        if not isinstance(model, TCloseness):
            assert not any(holds(model, leftover[key], everything) for key in gone)
        elif gone:
            assert not all(holds(model, found, everything) for found in leftover.values())
    assert went > 0


def test_ties_are_exact() -> None:
    """Three alike have entropy 3 and one in four is 0.25 away, to the last digit."""
    rows = [("a", v) for v in "xyz"]
    assert all(enforced(["g", "s"], rows, [7] * 3, [LDiversity("s", Decimal(3), "entropy")]))
    rows, counts = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], [3, 1, 1, 3]
    assert Fraction(3, 4) - Fraction(1, 2) == Fraction(1, 4)
    assert all(enforced(["g", "s"], rows, counts, [TCloseness("s", Decimal("0.25"))]))
    assert not any(enforced(["g", "s"], rows, counts, [TCloseness("s", Decimal("0.2499"))]))


def test_two_models_make_classes_of_what_neither_is_of() -> None:
    rows = [("a", "x", "u"), ("a", "y", "u"), ("b", "x", "u"), ("b", "x", "v")]
    both = [LDiversity("s", Decimal(2)), LDiversity("w", Decimal(2))]
    assert enforced(["g", "s", "w"], rows, [5] * 4, both) == [False] * 4
    assert enforced(["g", "s", "w"], rows, [5] * 4, both[:1]) == [True, True, False, False]


def test_null_is_a_value_and_no_rows_are_no_class() -> None:
    model = [LDiversity("s", Decimal(2))]
    assert enforced(["g", "s"], [(None, None), (None, "x")], [1, 1], model) == [True, True]
    assert enforced(["g", "s"], [], [], model) == []


def test_a_table_keeps_its_types_and_order() -> None:
    """A day before the year 1 is no date of Python's."""
    days = pa.array([-10_000_000, 5, 5], pa.int32()).cast(pa.date32())
    table = pa.table({"d": days, "s": ["x", "x", "y"], "n": [9, 8, 7]})
    left = filtered(table, 2, "n", [LDiversity("s", Decimal(2))])
    assert left.schema == table.schema
    assert left.column("d").to_pylist() == [datetime.date(1970, 1, 6)] * 2


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_model_is_read_back(model) -> None:
    assert model_from(model.to_json()) == model


def test_a_model_of_a_column_that_is_not_released_is_refused() -> None:
    table = pa.table({"zip": ["a"], "n": [3]})
    shown = (Shown("zip", Column("zip", Type("text")), Keep()),)
    claim = Claim(Files("p.parquet"), Rows(), Native(Decimal("0.1"), 2), shown)
    models = (LDiversity("s", Decimal(2)),)
    terms = Terms("p", "", "p.parquet", Bounded(Decimal(1), Decimal(1)), models=models)
    found = check_models(vouched("SELECT 1", claim, "duckdb", terms), table)
    assert "it states a model of s, which it does not release" in found.reasons
