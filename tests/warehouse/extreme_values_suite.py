"""Every recoding of the least, the greatest and the oddest values that each type has.

No value may fail, for the failure would tell of one person; and one secret releases the same bytes
on every engine. ``EXTREMES=spark,duckdb pytest tests/warehouse/extreme_values_suite.py`` asks
others.
"""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from alike import differences, rows_of
from engines import opened_engines

from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from same_bytes import digest, released

SECRET = bytes(range(9, 25))
EMBEDDED = "duckdb,postgres,mariadb,clickhouse,datafusion,sqlite"
NAMES = os.environ.get("EXTREMES", EMBEDDED).split(",")
INF = float("inf")
FINITE = [
    0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 1.7e308,
    -1.7e308, 1e308, 1e300, 0.5, -0.5, 1.5, 2.5, 0.49999999999999994, 0.1 + 0.2, 0.3,
    4503599627370497.5, 1e15 + 0.5, 1e17, 9.999999999999999e16, 1e18, 9.999999999999999e17,
    9007199254740993.0, 1e19, 999.9999999999999,
]  # fmt: skip
INTEGERS = [
    0, -1, 1, 5, -5, 15, -15, 25, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63),
    10**17 - 1, 10**17, 10**18 - 1, 10**18, -(10**18), 999_999_999_999_999_997,
]  # fmt: skip
EXACT = [Decimal(text) for text in (
    "0.00", "0.01", "-0.01", "0.05", "0.10", "1.50", "-1.50", "2.50", "9999999999999999.99",
    "-9999999999999999.99", "90071992547409.93", "90071992547409.92", "123456789012345.67",
    "20000000000000.07", "29999999999999.12", "9999999999999.99", "10000000000000.00",
    "1234567890123.45", "9999999999999.97",
)]  # fmt: skip
WIDE = [Decimal(text) for text in (
    "0.000", "1.500", "-0.005", "99999999999999999999999999999999999.999",
    "-99999999999999999999999999999999999.999", "999999999999.999", "1000000000000.000",
)]  # fmt: skip
DAYS = [date(1900, 1, 1), date(2299, 12, 31), date(1969, 12, 31), date(2020, 2, 29),
        date(2020, 12, 31), date(2021, 1, 3)]  # fmt: skip
FAR_DAYS = [date(1, 1, 1), date(1, 1, 2), date(9999, 12, 31), date(1582, 10, 10), date(1500, 2, 28)]
MOMENTS = [
    datetime(1900, 1, 1), datetime(2299, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2262, 4, 12),
    datetime(2000, 1, 1, 0, 0, 0, 1),
]  # fmt: skip
FAR_MOMENTS = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999),
               datetime(1582, 10, 10, 12), datetime(1677, 9, 20)]  # fmt: skip
TEXTS = ["", " ", "a", "a ", "A", "á", "a\u0301", "\u212b", "Å", "ß", "ss", "\ufeffx", "\t", "\\",
         "'", '"', "`", "${x}", "%", "\U0001f468\u200d\U0001f469", "\ue000", "\uffff",
         "\U0010ffff", "Z" * 190]  # fmt: skip
NULS = ["ab\0cd", "ab\0ce", "ab", "a\0", "a", "\0"]
STEPS = ["1", "3", "1000", "1000000000000000", "0.5", "0.1", "0.05", "0.000001"]
UNITS = ["year", "quarter", "month", "week", "day"]
CLOSE = {"clickhouse"}  # its days are those from 1900 to 2299
NO_INFINITY = {"mariadb", "sqlite"}
# The one has no NUL, the other no order of a text and that text with a NUL behind it.
NO_NUL = {"postgres", "mariadb"}

#: Of a type: its values, recodings, and the engines that cannot hold them.
CASES = {
    "double": (FINITE, pa.float64(), [
        *(f"{{round: {step}}}" for step in STEPS), "{bins: [0, 0.3, 100]}",
    ], set()),
    "double_of_all": ([*FINITE, float("nan"), INF, -INF], pa.float64(), [
        *(f"{{round: {step}}}" for step in STEPS), "{bins: [0, 0.3, 100]}",
    ], NO_INFINITY),
    "whole": (INTEGERS, pa.int64(), [
        *(f"{{round: {step}}}" for step in STEPS), "{round: 100000000000000000}", "keep",
        "{bins: [-10, 10, 9007199254740993]}", "{bins: [9223372036854775807]}",
        "{bins: [99999999999999999999]}",
        "{map: {'-1': m, '9007199254740993': big, '9223372036854775807': max}, other: o}",
    ], set()),
    "exact": (EXACT, pa.decimal128(18, 2), [
        *(f"{{round: {step}}}" for step in STEPS), "keep",
        "{bins: [0.05, 1.5, 90071992547409.93]}", "{bins: [-0.015, 90071992547409.925]}",
        "{bins: [0.000000000000000001, 99999999999999999999]}",
    ], set()),
    "plain": ([v for v in EXACT if abs(v) < 10**13], pa.decimal128(15, 2), [
        "{round: 0.05}", "{round: 5}", "keep", "{bins: [0.05, 1.5]}", "{bins: [9999999999999.985]}",
    ], set()),
    "wide": (WIDE, pa.decimal128(38, 3), ["keep", "{round: 0.1}", "{bins: [0.05, 1.5]}"], set()),
    "days": (DAYS, pa.date32(), [
        "keep", *(f"{{truncate: {unit}}}" for unit in UNITS), "{bins: [1970-01-01]}",
    ], set()),
    "far_days": (FAR_DAYS, pa.date32(), [
        "keep", *(f"{{truncate: {unit}}}" for unit in UNITS), "{bins: [1582-10-15]}",
        "{map: {'1582-10-10': x, '0001-01-01': y}, other: o}",
    ], CLOSE),
    "moments": (MOMENTS, pa.timestamp("us"), [
        "keep", *(f"{{truncate: {unit}}}" for unit in (*UNITS, "hour")),
        "{bins: ['1970-01-01 00:00:00']}",
    ], set()),
    "far_moments": (FAR_MOMENTS, pa.timestamp("us"), [
        "keep", *(f"{{truncate: {unit}}}" for unit in (*UNITS, "hour")),
    ], CLOSE),
    "text": (TEXTS, pa.string(), [
        "keep", "{prefix: 1}", "{prefix: 3}", "{map: {a: A, á: E, ß: z}, other: o}",
    ], set()),
    "text_with_nul": (NULS, pa.string(), ["keep", "{prefix: 1}", "{prefix: 3}"], NO_NUL),
    "truth": ([True, False], pa.bool_(), ["keep", "{map: {'true': t}, other: o}"], set()),
}  # fmt: skip
POLICY = """\
version: 1
name: extremes
source: {{table: people}}
privacy_unit: {{column: id, rows: {{first_by: [w]}}}}
recode: {{v: {recode}}}
sample: {{rate: 0.6}}
k: 2
guarantee: {{epsilon: 9, delta: 0.999999}}
release: {{file: out.parquet}}
"""


@pytest.fixture(scope="module")
def engines():
    with opened_engines(NAMES) as found:
        yield found


def _table(values, kind) -> pa.Table:
    """Each value in the rows of twelve people, and twelve without one."""
    rows = [value for value in (*values, None) for _ in range(12)]
    random.Random(1).shuffle(rows)
    count = len(rows)
    return pa.table({
        "id": pa.array(range(-5, count - 5), pa.int64()),
        "v": pa.array(rows, kind),
        "w": pa.array([place % 3 for place in range(count)], pa.int64()),
    })  # fmt: skip


CHOSEN = [(name, recode) for name, (_, _, recodes, _) in CASES.items() for recode in recodes]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "recode"), CHOSEN)
def test_no_value_fails_and_every_engine_releases_the_same_bytes(engines, name, recode, tmp_path):
    values, kind, _, cannot = CASES[name]
    policy = load_policy_text(POLICY.format(recode=recode), tmp_path / "p.yaml", tmp_path)
    table, found = _table(values, kind), {}
    for engine_name, engine in engines.items():
        if engine_name in cannot or engine.unfit(table) or _is_refused(engine_name, name, recode):
            continue
        found[engine_name] = released(engine, policy, table, SECRET)
    first = next(iter(found))
    for engine_name, rows in found.items():
        assert differences(rows, found[first]) == [], f"{engine_name}, {first}: {name} {recode}"
        assert digest(rows) == digest(found[first]), engine_name
    assert len(found) > 1


@pytest.mark.slow
@pytest.mark.parametrize("recode", [*(f"{{round: {step}}}" for step in STEPS), "{bins: [0, 9]}"])
def test_what_clickhouse_computes_beside_a_null_does_not_fail(engines, recode, tmp_path):
    """A NULL of a computed column hides a value, and functions may be computed of it."""
    if "clickhouse" not in engines:
        pytest.skip("ClickHouse is not among the engines")
    engine, kinds = engines["clickhouse"], {"whole": pa.int64(), "double": pa.float64()}
    policy = load_policy_text(POLICY.format(recode=recode), tmp_path / "p.yaml", tmp_path)
    for name, kind in kinds.items():
        table = _table(CASES[name][0], kind)
        engine.load(table)
        with closing(engine.warehouse()) as opened:
            made = "CREATE TABLE hidden ENGINE = MergeTree ORDER BY tuple() AS SELECT id,"
            opened._query("DROP TABLE IF EXISTS hidden")
            opened._query(f"{made} nullIf(v, v) AS v, w FROM people")
            opened._query("DROP TABLE people")
            opened._query("RENAME TABLE hidden TO people")
        with closing(engine.warehouse()) as opened:
            rows = rows_of(policy, opened, SECRET)
        assert rows.column("v").null_count == rows.num_rows == 1


@pytest.mark.slow
def test_a_nan_among_the_decimals_of_postgres_is_null(engines, tmp_path):
    if "postgres" not in engines:
        pytest.skip("PostgreSQL is not among the engines")
    server = engines["postgres"]._server
    for recode, wanted in {
        "keep": [Decimal("1.00"), None],
        "{round: 5}": [Decimal(0), None],
        "{bins: [0, 5]}": ["[0,5)", None],
    }.items():
        policy = load_policy_text(POLICY.format(recode=recode), tmp_path / "p.yaml", tmp_path)
        server.sql(
            "DROP TABLE IF EXISTS people CASCADE",
            "CREATE TABLE people AS SELECT n AS id, n % 3 AS w, CAST((ARRAY['1', 'NaN', NULL])"
            "[1 + n % 3] AS numeric(10, 2)) AS v FROM generate_series(1, 60) AS n",
        )
        if "bins" in recode:
            server.sql("DELETE FROM people WHERE v IS NULL")
        with closing(engines["postgres"].warehouse()) as opened:
            rows = rows_of(policy, opened, SECRET)
        assert sorted(map(str, rows.column("v").to_pylist())) == sorted(map(str, wanted))


@pytest.mark.slow
@pytest.mark.parametrize("recode", ["keep", "{round: 5}", "{bins: [0, 5]}"])
def test_a_decimal_that_is_wider_than_a_double_is_refused_by_postgres(engines, recode, tmp_path):
    if "postgres" not in engines:
        pytest.skip("PostgreSQL is not among the engines")
    policy = load_policy_text(POLICY.format(recode=recode), tmp_path / "p.yaml", tmp_path)
    for kind in ("numeric(400, 0)", "numeric(39, 0)", "numeric"):
        engines["postgres"]._server.sql(
            "DROP TABLE IF EXISTS people CASCADE",
            f"CREATE TABLE people (id bigint, v {kind}, w bigint)",
        )
        with closing(engines["postgres"].warehouse()) as opened, pytest.raises(PolicyError):
            rows_of(policy, opened, SECRET)


def _is_refused(engine: str, name: str, recode: str) -> bool:
    """What an engine refuses at plan time, with a reason."""
    return (
        # It has no decimal numbers.
        (engine == "sqlite" and "round" in recode and (name != "whole" or "." in recode))
        # A NUL ends a text for its functions.
        or (engine == "sqlite" and name == "text_with_nul")
    )
