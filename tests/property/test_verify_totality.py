"""With a schema, what the kernel does not doubt does not fail in DuckDB, on any row.

An error aborts the query and tells that the row exists, so the rows here are the worst ones:
the ends of every type's range, the infinite dates, NaN, texts that are no numbers.
"""

import os

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

#: The part of the examples that are tried; "make evidence" tries all.
PART = 1 if os.environ.get("EVIDENCE") else 5
WORST = {
    "ti": ("TINYINT", ["-128", "127", "0", "-1"]),
    "i": ("INTEGER", ["-2147483648", "2147483647", "0", "5"]),
    "bi": ("BIGINT", ["-9223372036854775808", "9223372036854775807", "0", "3"]),
    "ub": ("UBIGINT", ["18446744073709551615", "0", "1", "2"]),
    "h": ("HUGEINT", ["170141183460469231731687303715884105727", "-5", "0", "1"]),
    "de": ("DECIMAL(38,0)", ["99999999999999999999999999999999999999", "-7", "0", "1"]),
    "d2": ("DECIMAL(5,2)", ["999.99", "-999.99", "0", "1"]),
    "f": ("DOUBLE", ["1e308", "'nan'", "'-inf'", "-0.0"]),
    "s": ("VARCHAR", ["''", "'abc'", "'12'", "'é😀'"]),
    "bo": ("BOOLEAN", ["true", "false", "null", "true"]),
    "d": ("DATE", ["'infinity'", "'5000000-01-01'", "'0044-03-15 (BC)'", "'2020-02-29'"]),
    "ts": ("TIMESTAMP", ["'infinity'", "'290000-01-01'", "'0044-03-15 (BC)'", "'1969-12-31'"]),
    "e": ("ENUM('x', 'y')", ["'x'", "'y'", "null", "'x'"]),
    "u": ("UUID", ["'00000000-0000-0000-0000-000000000000'", "null", "null", "null"]),
}
TYPES = {name: kind for name, (kind, _) in WORST.items()}
SCHEMA = Schema({"t": TYPES}, known=True)
DOUBTS = ("fails on no row", "of their own type only")


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    rows = zip(*[values for _, values in WORST.values()], strict=True)
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    connection.execute(f"create table t ({columns})")
    for row in rows:
        connection.execute(f"insert into t values ({', '.join(row)})")
    connection.execute("insert into t (i) values (1)")
    return connection


columns = st.sampled_from(sorted(TYPES))
LITERALS = """0 1 -1 300 1.5 1e3 99999999999 'x' '12' 'abc' '' null true '2020-01-01'"""
literals = st.sampled_from(
    [*LITERALS.split(), "date '2020-01-01'", "timestamp '2020-01-01 10:00:00'"]
)
TARGETS = (
    "TINYINT INTEGER BIGINT UBIGINT HUGEINT DOUBLE DECIMAL(18,3) VARCHAR DATE TIMESTAMP BOOLEAN"
)
types = st.sampled_from(TARGETS.split())


def grown(inner):
    def of(template, *parts):
        return st.builds(template.format, *parts)

    pair = (inner, inner)
    compare = st.sampled_from(["=", "<>", "<", ">=", "is distinct from", "is not distinct from"])
    return st.one_of(
        of("({})", inner),
        of("({} {} {})", inner, compare, inner),
        of("({} {} {})", inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "||"]), inner),
        of("cast({} as {})", inner, types),
        of("try_cast({} as {})", inner, types),
        of("case when {} then {} else {} end", inner, *pair),
        of("case {} when {} then {} else {} end", inner, inner, *pair),
        of("if({}, {}, {})", inner, *pair),
        of("{}({}, {})", st.sampled_from(["coalesce", "nullif", "greatest", "least"]), *pair),
        of("({} in ({}, {}))", inner, *pair),
        of("({} between {} and {})", inner, *pair),
        of("({} {} {})", inner, st.sampled_from(["and", "or"]), inner),
        of("(not {})", inner),
        of("({} is {})", inner, st.sampled_from(["null", "true", "not null", "false"])),
        of(
            "{}({})",
            st.sampled_from(["round", "floor", "ceil", "abs", "-", "isnan", "isinf", "sign"]),
            inner,
        ),
        of("{}({})", st.sampled_from(["lower", "trim", "length", "md5", "sha256"]), inner),
        of("{}({}, {})", st.sampled_from(["left", "right", "round"]), *pair),
        of("substring({}, {}, {})", inner, *pair),
        of("{}[{}]", inner, inner),
        of("{}[{}:{}]", inner, *pair),
        of("date_trunc('{}', {})", st.sampled_from(["month", "hour", "week"]), inner),
        of("{}({})", st.sampled_from(["year", "month", "quarter", "hour", "dayofweek"]), inner),
        of("extract({} from {})", st.sampled_from(["year", "epoch", "day"]), inner),
        of("({} at time zone 'UTC')", inner),
        of("({} like {})", *pair),
        of("concat({}, {})", *pair),
        of("replace({}, {}, 'x')", *pair),
        of("strftime({}, '%Y')", inner),
        of("regexp_matches({}, '^[a-z]')", inner),
    )


leaf = st.one_of(columns, columns, literals)
expressions = st.recursive(leaf, grown, max_leaves=4)


@settings(max_examples=1500 // PART, deadline=None)
@given(expression=expressions)
def test_what_is_not_doubted_does_not_fail(con, expression):
    check(con, expression)


def check(con, expression):
    query = (
        f"select {expression} as x, count(*) as n from t tablesample bernoulli (10 percent)"
        " group by 1 having count(*) >= 2"
    )
    proof = prove(query, SCHEMA)
    if proof.shape is None or any(doubt in text for text in proof.assumptions for doubt in DOUBTS):
        return False
    try:
        con.sql(f"select {expression} as x, count(*) as n from t group by 1").to_arrow_table()
    except (duckdb.BinderException, duckdb.ParserException, duckdb.NotImplementedException):
        return False
    return True
