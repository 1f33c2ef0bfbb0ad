"""Policy and catalog → Claim: what a filter, a CSV and a drawn row become, and what fits not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.claims import claim_of
from policy_engine.compile.compiler import find_problems
from policy_engine.dialects import dialect_named
from policy_engine.engines import ENGINES
from policy_engine.errors import PolicyError
from policy_engine.kernel.filters import none_of, one_of, within
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sources import Drawn, Files, People
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: people
source: {source}
filter: {filter}
recode: {recode}
sample: {{rate: 0.999999}}
k: 2
guarantee: {{epsilon: 99, delta: 0.9999999}}
release: {{file: out.parquet}}
"""
KINDS = {"id": "BIGINT", "whole": "INTEGER", "money": "DECIMAL(9,2)", "real": "DOUBLE",
         "zip": "VARCHAR", "truth": "BOOLEAN", "born": "DATE", "seen": "TIMESTAMP",
         "list": "INTEGER[]"}  # fmt: skip
TABLE = Table(tuple(Field(*each) for each in KINDS.items()), parts=("db", "main", "people"))
KEYED = "{table: people}\nprivacy_unit: {column: id, rows: any}"


def policy_of(conditions: str, folder: Path, source: str = KEYED, recode: str = "") -> Policy:
    text = POLICY.format(source=source, filter=conditions, recode=recode or "{born: keep}")
    return load_policy_text(text, folder / "policy.yaml", folder)


def _one_of(column, members, *, or_missing=False):
    return one_of(column, members, or_missing=or_missing)


def _none_of(column, left, *, or_missing=False):
    return none_of(column, left, or_missing=or_missing)


MADE = {"members": _one_of, "left": _none_of, "at_least": within, "below": within}


@pytest.mark.parametrize(
    ("column", "written", "meant"),
    [
        ("whole", "{in: [1, 2]}", {"members": (1, 2)}),
        ("money", "{in: ['1.50']}", {"members": (Decimal("1.5"),)}),
        ("zip", "{in: [10115, DE]}", {"members": ("10115", "DE")}),
        ("truth", "{in: ['true']}", {"members": (True,)}),
        ("born", "{in: ['2000-01-31']}", {"members": (date(2000, 1, 31),)}),
        ("whole", "{at_least: 17.5}", {"at_least": 18}),
        ("whole", "{below: 17.5}", {"below": 18}),
        ("whole", "{below: -0.5}", {"below": 0}),
        (
            "money",
            "{at_least: 0.005, below: 7}",
            {"at_least": Decimal("0.01"), "below": Decimal(7)},
        ),
        ("real", "{below: 0.1}", {"below": Decimal("0.1")}),
        ("born", "{at_least: 2000-01-01}", {"at_least": date(2000, 1, 1)}),
        ("seen", "{below: 2000-01-01}", {"below": datetime(2000, 1, 1)}),
        ("whole", "{not_in: ['7']}", {"left": (7,)}),
        ("whole", "{not_in: ['7'], missing: true}", {"left": (7,), "or_missing": True}),
        ("whole", "{in: ['7'], missing: true}", {"members": (7,), "or_missing": True}),
        ("whole", "{below: 17.5, missing: true}", {"below": 18, "or_missing": True}),
        ("whole", "{missing: false}", {"left": ()}),
        ("seen", "{missing: false}", {"left": ()}),
        ("real", "{missing: false}", {"left": ()}),
    ],
)
def test_a_condition_is_of_values_of_its_column_s_type(tmp_path, column, written, meant):
    policy = policy_of(f"{{{column.upper()}: {written}}}", tmp_path)
    assert find_problems(policy, TABLE, dialect_named("duckdb")) == ()
    for engine in ENGINES:
        [found] = claim_of(policy, TABLE, engine).filter
        made = next(make for key, make in MADE.items() if key in meant)
        assert found == made(found.column, **meant)
        assert found.column.name == column


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{whole: {in: [x]}}", "whole: 'x' is no value of a column of integers"),
        ("{real: {in: ['1.5']}}", "real: '1.5' is no value of a column of doubles"),
        ("{zip: {below: 3}}", "zip: a column of texts has no such range"),
        ("{born: {below: 3}}", "born: a column of dates has no such range"),
        ("{whole: {below: 2000-01-01}}", "whole: a column of integers has no such range"),
        ("{whole: {at_least: 17.2, below: 17.6}}", "whole: a column of integers has no"),
        ("{list: {in: [x]}}", "list: no text compares its type, INTEGER[]"),
    ],
)
def test_a_condition_that_no_value_of_the_column_can_meet(tmp_path, written, told):
    with pytest.raises(PolicyError) as caught:
        claim_of(policy_of(written, tmp_path), TABLE, "duckdb")
    [problem] = caught.value.problems
    column, _, law = told.partition(": ")
    path, law = f"filter.{column}", f"column {column!r}: {law}"
    assert (problem.path, problem.message[: len(law)]) == (path, law)
    assert problem.remedy


def test_an_unknown_column_is_told_with_its_neighbour(tmp_path):
    policy = policy_of("{zipp: {in: [x]}}", tmp_path)
    [problem] = find_problems(policy, TABLE, dialect_named("duckdb"))
    assert (problem.path, problem.remedy) == ("filter.zipp", "did you mean 'zip'?")


def test_an_order_by_a_type_that_no_text_compares_is_refused(tmp_path):
    """It was a KeyError."""
    source = "{table: people}\nprivacy_unit: {column: id, rows: {first_by: [list]}}"
    with pytest.raises(PolicyError, match="first_by: no text compares its type"):
        claim_of(policy_of("{zip: {in: [x]}}", tmp_path, source), TABLE, "duckdb")


def test_rows_that_differ_in_the_filter_alone_are_drawn_from(tmp_path):
    claim = claim_of(policy_of("{zip: {in: [x]}}", tmp_path, recode='{a: {constant: "*"}}'),
                     TABLE, "duckdb")  # fmt: skip
    assert isinstance(claim.unit, People)
    assert claim.unit.order == Drawn()


def test_a_row_key_is_believed_where_the_engine_enforces_it(tmp_path):
    policy = policy_of(
        "{whole: {below: 3}}", tmp_path, "{table: people}\nprivacy_unit: {column: ID, rows: one}"
    )
    for unique in ({"id"}, {"whole"}, set()):
        claim = claim_of(policy, replace(TABLE, unique=frozenset(unique)), "duckdb")
        assert isinstance(claim.unit, People)
        assert (claim.unit.order is None) == ("id" in unique)
        assert ("ROW_NUMBER" in printed(claim, "duckdb")) == ("id" not in unique)


def test_a_csv_file_is_read_by_options_and_filtered_as_it_is_declared(tmp_path):
    lines = "".join(f"{n};{n % 40},5;{'NA' if n % 2 else 'x'}\n" for n in range(400))
    (tmp_path / "p.csv").write_text("id;paid;note\n" + lines)
    source = """{file: p.csv, columns: {id: text, paid: double},
      csv: {delimiter: ";", decimal: ",", nulls: [NA]}}
privacy_unit: {column: id, rows: one}"""
    policy = policy_of("{paid: {at_least: 10.5, below: 20}, note: {in: [x]}}", tmp_path, source,
                       "{paid: {bins: [15]}}")  # fmt: skip
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, tmp_path)
        claim = claim_of(policy, table, "duckdb")
        options = (("decimal", ","), ("delimiter", ";"), ("nulls", ("NA",)))
        assert claim.source == Files("p.csv", kind="csv", options=options)
        assert isinstance(claim.unit, People)
        assert claim.unit.key.read_as is None  # though it is declared
        with warehouse.sampled(policy, table, bytes(16)):
            rows = warehouse.rows(printed(claim, "duckdb")).to_pylist()
    # Of the even numbers 10 to 18, 10.5, 12.5 and 14.5 are below 15; each is of ten rows.
    assert rows == [{"paid": "<15", "n": 30}, {"paid": ">=15", "n": 20}]


PURE = """\
version: 1
name: people
source: {{table: people}}
privacy_unit: row
recode: {{born: {{bins: [2000-01-01]}}, zip: {{map: {{a: A}}, other: {other}}}}}
mechanism: {mechanism}
guarantee: {{epsilon: 2, delta: 0, neighbours: replace_one}}
release: {{file: out.parquet, as: rows}}
"""


def pure(folder: Path, mechanism: str, other: str = "B") -> Policy:
    text = PURE.format(mechanism=mechanism, other=other)
    return load_policy_text(text, folder / "policy.yaml", folder)


@pytest.mark.parametrize("engine", ["duckdb", "redshift"])
def test_public_values_are_those_that_the_column_can_show(tmp_path, engine):
    answers = claim_of(pure(tmp_path, "randomised_response", "null"), TABLE, engine).law
    lists = (("<2000-01-01", ">=2000-01-01", None), ("A", None))
    assert tuple(each.values for each in answers.responses) == lists
    assert claim_of(pure(tmp_path, "ab_insertion", "null"), TABLE, engine).law.values == lists


@pytest.mark.parametrize("mechanism", ["randomised_response", "ab_insertion"])
def test_everybody_of_a_view_need_not_answer(tmp_path, mechanism):
    view = replace(TABLE, view="SELECT * FROM everybody WHERE born > DATE '1990-01-01'")
    problems = find_problems(pure(tmp_path, mechanism), view, dialect_named("duckdb"))
    found = [each.message for each in problems]
    told = "people is a view, which can have more rows for one person than another"
    assert any(told in message for message in found) is (mechanism == "randomised_response")


def test_a_public_list_is_bounded(tmp_path):
    many = ", ".join(f"k{n}: v{n}" for n in range(1000))
    text = PURE.format(mechanism="ab_insertion", other="B").replace("a: A", many)
    policy = load_policy_text(text, tmp_path / "policy.yaml", tmp_path)
    with pytest.raises(PolicyError, match="at most 10 columns, of 2 to 1000 values each"):
        claim_of(policy, TABLE, "duckdb")


def test_a_label_stands_for_null_where_a_text_is_shown(tmp_path):
    recode = (
        "{zip: {missing: none}, whole: {bins: [18], labels: [a, b], missing: c},"
        " truth: {map: {'true': x}, other: null, missing: y}}"
    )
    policy = policy_of("{born: {missing: false}}", tmp_path, recode=recode)
    assert find_problems(policy, TABLE, dialect_named("duckdb")) == ()
    columns = claim_of(policy, TABLE, "duckdb").columns
    assert [each.missing for each in columns] == ["none", "c", "y"]
    assert [each.values for each in columns] == [(), ("a", "b", "c"), ("x", "y")]
    other = policy_of("{born: {missing: false}}", tmp_path, recode="{whole: {missing: none}}")
    [problem] = find_problems(other, TABLE, dialect_named("duckdb"))
    assert problem.message == ("column 'whole': missing is a text, and what is kept a whole number")
