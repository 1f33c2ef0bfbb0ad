"""The same people and policies for every engine: one secret must release the same rows.

An engine's test loads ``ROWS`` into a table called people with the columns ``COLUMNS`` (as near as
its types come), opens its warehouse, and compares ``rows_of(policy, warehouse)`` with
``expected(name)``, which DuckDB computes. ``without(columns)`` leaves out what an engine cannot
hold.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.planning import prepare
from policy_engine.releasing.reviewing import line_of
from policy_engine.warehouse.base import Columns, Warehouse
from policy_engine.warehouse.duckdb import DuckDBWarehouse

SECRET = bytes(range(100, 116))

COLUMNS = {
    "id": "BIGINT",
    "code": "VARCHAR",  # a person's key as a text, one for one with id
    "age": "INTEGER",
    "zip": "VARCHAR",
    "town": "VARCHAR",
    "married": "BOOLEAN",
    "income": "DECIMAL(10,2)",
    "weight": "DOUBLE",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "visit": "BIGINT",  # a key of rows
}
_TOWNS = [
    "Berlin", "berlin", "BERLIN", "Bérlin", "Berlin ", "", " ", "Zürich", "Straße", "日本",
    "😀👍🏽x",
    "O'Brien", 'a"b', "a\\b", "%", "_", "NULL", "Ångström", "A\u030angström", None,
]  # fmt: skip
_ZIPS = ["10115", "10117", "80331", "0", "ÄÖÜ99", "ÄÖX", None]


def _rows() -> list[tuple[object, ...]]:
    chance = random.Random(7)
    found: list[tuple[object, ...]] = []
    for person in range(-40, 960):
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            empty = chance.random() < 0.04
            found.append(
                (
                    person,
                    f"pé-{person}",
                    None if empty else chance.choice([-1, 0, 17, 18, 39, 40, 64, 65, 130]),
                    chance.choice(_ZIPS),
                    chance.choice(_TOWNS),
                    chance.choice([True, False, None]),
                    None if empty else Decimal(chance.randrange(-300000, 300000)) / 100,
                    chance.choice([None, -0.0, 0.0, 0.5, 2.5, -2.5, 7.5, 69.999, 70.0, 1e300]),
                    date(1958, 1, 1) + timedelta(days=chance.randrange(9000)),
                    datetime(1969, 12, 30)
                    + timedelta(seconds=chance.randrange(10**6), microseconds=chance.randrange(3)),
                )
            )
    # Nobody's row, and rows of one person that tie in all but what is released.
    found += [(None, None, 18, "10115", "Berlin", True, Decimal("1.00"), 70.0,
               date(1960, 1, 1), datetime(1970, 1, 1))] * 5  # fmt: skip
    chance.shuffle(found)
    return [(*row, place) for place, row in enumerate(found)]


ROWS = _rows()

RECODES = {
    "bins": "{age: {bins: [18, 40, 65]}, weight: {bins: [0, 70]}, income: {bins: [-0.5, 1000]}}",
    "dates": "{born: {bins: [1960-01-01, 1975-06-15]}, seen: {bins: [1970-01-01 00:00:00]}}",
    "map": "{zip: {map: {'10115': Mitte, 'ÄÖX': \"it's\", '0': null}, other: 'else 20%'}}",
    "map_of_numbers": "{age: {map: {'17': young, '-1': unknown, '130': old}, other: other}}",
    "map_of_truth": "{married: {map: {'true': 'yes', 'false': 'no'}, other: none}}",
    "labels": "{zip: {map: {'10115': a, '10117': A, '80331': 'a ', '0': á}, other: ''}}",
    "keep_text": "{town: keep}",
    "keep": "{married: keep, age: keep, born: {truncate: year}}",
    "keep_exact": "{income: {round: 1000}, age: keep}",
    "prefix": "{town: {prefix: 2}, zip: {prefix: 3}}",
    "round": "{age: {round: 10}, income: {round: 500}}",
    "round_halves": "{weight: {round: 5}}",
    "round_parts": "{income: {round: 250.5}, weight: {round: 2.5}}",
    "truncate": "{born: {truncate: quarter}, seen: {truncate: day}}",
    "truncate_year": "{born: {truncate: year}, seen: {truncate: month}}",
    "truncate_week": "{born: {truncate: month}, seen: {truncate: week}}",
    "truncate_hour": "{seen: {truncate: hour}}",
    "constant": '{everybody: {constant: "*"}, age: {bins: [40]}}',
}
_POLICY = """\
version: 1
name: everyone
source: {{table: {relation}{view}}}
privacy_unit: {unit}
recode: {recode}
sample: {{rate: {rate}}}
k: {k}
guarantee: {{epsilon: 9, delta: 0.999999}}
release: {{file: out.parquet}}
account: everyone
grouping: {grouping}
"""
POLICIES: dict[str, dict[str, object]] = {
    **{name: {"recode": recode} for name, recode in RECODES.items()},
    "key_of_text": {"recode": RECODES["bins"], "key": "code"},
    "order_of_text": {"recode": RECODES["prefix"], "order": "town desc, zip"},
    "order_of_truth": {"recode": RECODES["bins"], "order": "married, income desc"},
    "tiny_rate": {"recode": RECODES["map"], "rate": "0.05", "k": 2},
    "row_key": {"recode": RECODES["prefix"], "row_key": "visit"},
    "raw_first": {"recode": "{age: keep, zip: {prefix: 1}}", "grouping": "raw_first"},
}
OTHERS: dict[str, dict[str, object]] = {
    "law": {"recode": '{everybody: {constant: "*"}}', "rate": "0.3", "k": 2},
    "town_of_folded": {"recode": "{town: keep}", "order": "town"},
    "zip_of_view": {"recode": RECODES["map"], "view": ", view: rowwise"},
}
"""Policies of single tests: of everybody in one group, of other tables."""


def policy_of(name: str, relation: str = "people", folder: Path | None = None) -> Policy:
    """One of the policies, over a relation."""
    folder = folder or Path(tempfile.mkdtemp())
    spec = {"key": "id", "order": "seen desc", "rate": "0.5", "k": 3, "grouping": "recoded"}
    spec |= {"view": ""} | {**POLICIES, **OTHERS}[name]
    keyed = f"{{column: {spec['key']}, rows: {{first_by: [{spec['order']}]}}}}"
    unit = f"{{column: {spec['row_key']}, rows: one}}" if "row_key" in spec else keyed
    text = _POLICY.format(**spec, relation=relation, unit=unit)
    return load_policy_text(text, folder / "policy.yaml", folder)


def columns_of(name: str) -> set[str]:
    """The columns that a policy reads."""
    spec = POLICIES[name]
    unit = spec.get("row_key") or f"{spec.get('key', 'id')} {spec.get('order', 'seen')}"
    words = f"{spec['recode']} {unit}"
    return {column for column in COLUMNS if f"{column}" in words.replace(":", " ").split() or
            any(f"{mark}{column}:" in words for mark in "{ ")}  # fmt: skip


def without(columns: Iterable[str]) -> list[str]:
    """The policies that read none of ``columns``."""
    missing = set(columns)
    return [name for name in POLICIES if not columns_of(name) & missing]


def rows_of(policy: Policy, warehouse: Warehouse, secret: bytes = SECRET) -> pa.Table:
    """What a release of ``policy`` would publish, drawn under ``secret``, as Arrow."""
    certificate, table = prepare(policy, default_project(policy.directory), warehouse)
    warehouse.hold(policy, table)
    with warehouse.sampled(policy, table, secret) as unchanged:
        rows = warehouse.rows(certificate.query)
        unchanged()
    return rows


@cache
def _database(rows: int) -> Path:
    path = Path(tempfile.mkdtemp()) / "everyone.duckdb"
    with duckdb.connect(str(path)) as connection:
        kinds = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE people ({kinds})")
        marks = ", ".join("?" * len(COLUMNS))
        connection.executemany(f"INSERT INTO people VALUES ({marks})", [list(r) for r in ROWS])
    return path


@cache
def expected(name: str) -> pa.Table:
    """What DuckDB releases for a policy of ``POLICIES``."""
    with closing(DuckDBWarehouse("db", _database(len(ROWS)))) as warehouse:
        return rows_of(policy_of(name), warehouse)


def differences(found: pa.Table, wanted: pa.Table) -> Sequence[object]:
    """What tells two releases apart: their types, else the rows that only one of them has."""
    if found.schema.remove_metadata() != wanted.schema.remove_metadata():
        return [found.schema, wanted.schema]
    one, other = ([tuple(row.values()) for row in t.to_pylist()] for t in (found, wanted))
    if one == other:
        return []
    only = [("only here", r) for r in one if r not in other]
    return only + [("missing", r) for r in other if r not in one] or ["the order of rows"]


def check_put_back(warehouse: Warehouse, query: str, name: str = "put_back") -> None:
    """A table of this query, made again of the texts of its rows, is the same table."""
    target = warehouse.target(name)
    seen: list[tuple[Columns, list[str]]] = []

    def look() -> None:
        lines = [line_of(line) for line in warehouse.release_lines(target)]
        seen.append((warehouse.types(target), lines))

    warehouse.publish(query, target, COMMENT, look, replace=True)
    [(columns, lines)] = seen
    assert len(lines) > 1
    rows = [tuple(json.loads(line)) for line in lines]
    warehouse.put_back(columns, iter(rows), target, COMMENT, look, replace=True)
    assert seen[1] == seen[0]
    assert [line_of(line) for line in warehouse.release_lines(target)] == lines
    assert json.loads(warehouse.comment(target)) == json.loads(COMMENT)


COMMENT = json.dumps({"mechanism": "it's \\ one"})
