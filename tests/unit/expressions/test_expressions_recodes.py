"""Recodings read back from SQL: exactly the form they are written in, and nothing like it."""

from datetime import date, datetime
from decimal import Decimal

import pytest
import sqlglot

from policy_engine.expressions.recodes import read_recoding
from policy_engine.policy.recodings import (
    Constant,
    Intervals,
    Keep,
    Lookup,
    Prefix,
    Round,
    Truncate,
)


def read(sql):
    return read_recoding(sqlglot.parse_one(f"select {sql}", read="duckdb").expressions[0])


CASE = "case when x is null then null {} end"
BELOW = (
    "try_cast(case when abs(cast(x as double)) < {} then cast(round(cast(x as double) / {})"
    " as bigint) * {} end as {})"
)
WEEK = "date_trunc('week', greatest(x, cast({} as date)))"
INSIDE = "case when x between cast('0001-01-01' as date) and cast('9999-12-31' as date) then {} end"


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("'*'", (Constant("*"), None, None)),
        ("(x)", (Keep(), "x", None)),
        ("cast(x as varchar)", (Keep(), "x", None)),
        ("try_cast(x as bigint)", (Keep(), "x", "BIGINT")),
        ('x collate "binary"', (Keep(), "x", None)),
        ("x at time zone 'UTC'", (Keep(), "x", None)),
        ("left(x, 3)", (Prefix(3), "x", None)),
        ("left(cast(x as text), 3)", (Prefix(3), "x", None)),
        ("try_cast(round(x / 10) * 10 as bigint)", (Round(Decimal(10)), "x", None)),
        ("try_cast(round(cast(x as double) / 0.25) * 0.25 as decimal(18, 2))",
         (Round(Decimal("0.25")), "x", None)),
        (BELOW.format("1e18", "10", "10", "bigint"), (Round(Decimal(10)), "x", None)),
        (BELOW.format("1000000", "0.25", "0.25", "decimal(18, 2)"),
         (Round(Decimal("0.25")), "x", None)),
        (CASE.format("when x < cast('-0.5' as decimal(18, 1)) then 'a' else 'c'"),
         (Intervals((Decimal("-0.5"),), ("a", "c")), "x", None)),
        (INSIDE.format("date_trunc('month', x)"), (Truncate("month"), "x", None)),
        (INSIDE.format("cast(date_trunc('year', x) as date)"), (Truncate("year"), "x", None)),
        (INSIDE.format(WEEK.format("'0001-01-01'")), (Truncate("week"), "x", None)),
        (INSIDE.format("date_trunc('week', x)"), (Truncate("week"), "x", None)),
        (INSIDE.format("date_trunc('day', x)").replace("x", "try_cast(x as date)"),
         (Truncate("day"), "x", "DATE")),
        (CASE.format("when x < -1 then 'a' when x < 2.5 then 'b' else 'c'"),
         (Intervals((Decimal(-1), Decimal("2.5")), ("a", "b", "c")), "x", None)),
        (CASE.format("when isnan(x) then null when cast(x as double) < 5 then 'a' else 'c'"),
         (Intervals((Decimal(5),), ("a", "c")), "x", None)),
        (CASE.format("when x < cast('2020-01-01' as date) then 'a' else 'c'"),
         (Intervals((date(2020, 1, 1),), ("a", "c")), "x", None)),
        (CASE.format("when x < cast('2020-01-01 10:00:00' as timestamp) then 'a' else 'c'"),
         (Intervals((datetime(2020, 1, 1, 10),), ("a", "c")), "x", None)),
        (CASE.format("when x in ('b', 'a') then 'l' when x in ('c') then null else 'o'"),
         (Lookup((("a", "l"), ("b", "l"), ("c", None)), "o"), "x", None)),
        (CASE.format("else null"), (Lookup((), None), "x", None)),
    ],
)  # fmt: skip
def test_reads(sql, found):
    assert read(sql) == found


@pytest.mark.parametrize(
    "sql",
    [
        "1", "lower(x)", "cast(x as double)", "cast(x as integer)", "x collate nocase",
        "x at time zone y", 'x at time zone "UTC"', "try_cast(try_cast(x as date) as text)",
        "try_cast(lower(x) as date)", "left(x, y)", "left(x, -1)", "left(lower(x), 3)",
        "left(cast(x as double), 3)", "cast(round(x / 10) * 10 as bigint)",
        "try_cast(x * 2 as bigint)",
        "try_cast(round(x, 1) * 10 as bigint)", "try_cast(round(x) * 10 as bigint)",
        "try_cast(round(x / 10) * 5 as bigint)", "try_cast(round(x / y) * y as bigint)",
        "try_cast(round(lower(x) / 10) * 10 as bigint)", "try_cast(round(x / 0.5) * 0.5 as bigint)",
        "try_cast(round(x / 0.5) * 0.5 as decimal(18, 0))",
        "try_cast(round(x / 0.5) * 0.5 as decimal)",
        "try_cast(round(x / 0.5) * 0.5 as decimal(3, 1))", "try_cast(round(x / 10) * 10 as double)",
        BELOW.format("1e19", "10", "10", "bigint"), BELOW.format("1e18", "10", "5", "bigint"),
        BELOW.format("y", "10", "10", "bigint"), BELOW.format("1e18", "0", "0", "bigint"),
        BELOW.format("1e17", "0.25", "0.25", "decimal(18, 2)"),
        BELOW.format("1e18", "10", "10", "bigint").replace("<", ">"),
        BELOW.format("1e18", "10", "10", "bigint").replace("abs(", "sign("),
        BELOW.format("1e18", "10", "10", "bigint").replace("abs(cast(x", "abs(cast(y"),
        BELOW.format("1e18", "10", "10", "bigint").replace("as bigint) *", "as integer) *"),
        BELOW.format("1e18", "10", "10", "bigint").replace(" end", " else 0 end"),
        CASE.format("when x < cast('0.55' as decimal(18, 1)) then 'a' else 'c'"),
        "case when x then date_trunc('month', x) end", INSIDE.format("x"),
        INSIDE.format("date_trunc('minute', x)"), INSIDE.format("date_trunc('month', y)"),
        INSIDE.format("date_trunc('month', lower(x))"), INSIDE.replace("0001",
        "0002").format("date_trunc('month', x)"),
        INSIDE.format("cast(date_trunc('hour', x) as date)"),
        INSIDE.format(WEEK.format("'0002-01-01'")), INSIDE.format(WEEK.format("y")),
        INSIDE.format(WEEK.format("'0001-01-01'").replace("week", "month")),
        INSIDE.format("date_trunc('month', x)").replace(" end", " else x end"),
        INSIDE.format("date_trunc('month', x)").replace("cast('0001-01-01' as date)",
        '"0001-01-01"'),
        INSIDE.format("date_trunc('month', x)").replace("'0001-01-01'", '"0001-01-01"'),
        CASE.format(""), CASE.format("else y"), CASE.format("when x < 1 then 'a' else null"),
        CASE.format("when x <= 1 then 'a' else 'b'"), CASE.format("when x < 1 then y else 'b'"),
        CASE.format("when x < 1 then null else 'b'"), CASE.format("when y < 1 then 'a' else 'b'"),
        CASE.format("when x < y then 'a' else 'b'"),
        CASE.format("when x < 2 then 'a' when x < 1 then 'b' else 'c'"),
        CASE.format("when x < 1 then 'a' when x < cast('2020-01-01' as date) then 'b' else 'c'"),
        CASE.format("when x < cast('2020-13-01' as date) then 'a' else 'b'"),
        CASE.format("when x < cast('20200101' as date) then 'a' else 'b'"),
        CASE.format("when x < cast('2020-01-01' as time) then 'a' else 'b'"),
        CASE.format("when x < -'1' then 'a' else 'b'"),
        CASE.format("when x < -y then 'a' else 'b'"),
        CASE.format("when isnan(y) then null when x < 1 then 'a' else 'b'"),
        CASE.format("when isnan(x) then 'n' when x < 1 then 'a' else 'b'"),
        CASE.format("when x in ('a') then y else 'o'"),
        CASE.format("when y in ('a') then 'l' else 'o'"),
        CASE.format("when x in ('a', 1) then 'l' else 'o'"),
        CASE.format("when x in (y) then 'l' else 'o'"),
        CASE.format("when x in ('a', 'a') then 'l' else 'o'"),
        "case when x = 1 then null else 'o' end",
        "case when x is true then null else 'o' end", "case when x is null then 'n' else 'o' end",
        "case x when 1 then null else 'o' end", "case when lower(x) is null then null else 'o' end",
    ],
)  # fmt: skip
def test_reads_nothing_else(sql):
    assert read(sql) is None
