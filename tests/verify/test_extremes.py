"""Expressions at the ends of their types: what is certified without a doubt does not fail."""

import duckdb
import pytest

from policy_engine.syntax.ddl import parse_schema
from policy_engine.verify.proof import prove

TABLE = """create table t (
  row integer, i integer, b bigint, h hugeint, u uhugeint, ub ubigint, d decimal(5, 2),
  dd decimal(18, 3), w decimal(38, 10), fine decimal(38, 37), x double, s varchar, dt date,
  ts timestamp, tz timestamptz, tns timestamp_ns, tm time, iv interval, l integer[], ls varchar[],
  bo boolean, tss timestamp_s, ld date[], lts timestamp[], lf decimal(38, 37)[])"""
ROWS = [
    "(1, 2147483647, 9223372036854775807, 170141183460469231731687303715884105727,"
    " 340282366920938463463374607431768211455, 18446744073709551615, 999.99, 999999999999999.999,"
    " 9999999999999999999999999999.9999999999, 9.5, 1e308, 'abc', '5881580-07-10',"
    " '294247-01-10 04:00:54.775806', '294247-01-10 04:00:54.775806+00',"
    " '2262-04-11 23:47:16.854775806', '23:59:59', interval 1 day, [1, 2], ['a'], true,"
    " '294247-01-10 04:00:54', ['5881580-07-10'], ['294247-01-10 04:00:54'], [1])",
    "(2, -2147483648, -9223372036854775808, -170141183460469231731687303715884105727 - 1, 0, 0,"
    " -999.99, -999999999999999.999, -9999999999999999999999999999.9999999999, -9.5, '-inf', '(',"
    " '5877642-06-25 (BC)', '290309-12-22 (BC) 00:00:00', '290309-12-22 (BC) 00:00:00+00',"
    " '1677-09-22 00:00:00', '00:00:00', interval (-1) month, [], [], false,"
    " '290309-12-22 (BC) 00:00:00', [], [], [])",
    "(3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'nan', '\\9', 'infinity', 'infinity', 'infinity', 'infinity',"
    " '12:00:00', interval 400000 days, [null], [null], null, null,"
    " [null], [null], [null])",
    f"(4, {'null, ' * 10} '', {'null, ' * 12} null)",
]
SCHEMA = parse_schema(TABLE, "duckdb")
DOUBTS = ("fails on no row", "of their own type only")

# What fails on some row above; each was certified without a doubt once.
FAILING = r"""
b > 1.5555555555555555555555
b in (1, 1.55555555555555555555)
b between 0.5 and 1.55555555555555555555
coalesce(b, 1.55555555555555555555)
greatest(b, 1.55555555555555555555)
b > 170141183460469231731687303715884105728
u > -1
u in (-1, 2)
coalesce(u, -1)
u = b
nullif(u, -1)
case u when -1 then 1 end
d > 12345678901234567890123456789012345678
w > 12345678901234567890123456789
coalesce(d, 12345678901234567890123456789012345678)
fine > 12
fine > i
ts::timestamp(9)
ts::timestamp(3)
ts::timestamp_ns
ts > tns
coalesce(ts, tns)
tns > '9999-01-01'
iv / 0
iv / i
iv / 1e-300
dayofweek(iv)
era(iv)
week(dt)
extract(isoyear from dt)
extract(timezone from dt)
contains(l, 'abc')
list_contains(l, 'abc')
contains(l, u)
contains(ld, ts)
contains(lts, tns)
contains(lf, 100)
regexp_replace(s, '(', 'b')
regexp_replace(s, 'a', '\9')
regexp_replace(s, '[a-z]', s)
regexp_replace(s, s, 'a')
regexp_extract(s, '(', 1)
s ~ s
s similar to s
lpad(s, 5, '')
lpad(s, 5, s)
split_part(s, '-', 'x')
date_diff('microsecond', ts, timestamp '2020-01-01')
date_diff('day', dt, 'x')
ts > tz
tss = tz
coalesce(ts, tz)
case when s = 'abc' then tm = dt end
case when s = 'abc' then tm is distinct from ts end
tss at time zone 'UTC'
try(ts between tns and tns)
try('UTC' in (h, '('))
try(regexp_replace(s, '(', 'b'))
case when s = 'abc' then round(x, 'UTC') end
case when s = 'abc' then concat(l) < 'week' end
cast(floor(b) as bigint)
cast(ceil(h) as hugeint)
cast(floor(ub) as ubigint)
cast(ceil(u) as uhugeint)
cast(round(u) as uhugeint)
(w % 1) * w
cast(greatest(u, 5) as hugeint)
u // 1 + u
"""

# What is certified without a doubt, and runs.
SOUND = r"""
b > 1.5
i > 1.555555555555555555
d > 1234567890123
w > 123456789012345678
h > 5
u > 5
u in (5, 7)
ub > -1
ub > 0.123456789012345678
d > i
w in (1, 2)
ts > '2020-01-01'
tns > '2020-01-01'
iv / 2
x / 0
i / 0
week(ts)
dayofweek(dt)
extract(isoyear from ts)
era(ts)
isodow(dt)
monthname(dt)
date_part('year', dt)
decade(dt)
second(tm)
contains(l, 5)
contains(l, h)
contains(l, x)
list_contains(l, i)
list_has(ls, s)
contains(ld, dt)
contains(ls, 'a')
contains(s, 'a')
regexp_replace(s, '([a-z])', '\1-', 'g')
regexp_extract(s, '(a)', 1)
s ~ '[0-9]+'
s !~ 'a'
s similar to 'a|b'
s glob '['
lpad(s, 5, 'ab')
split_part(s, '', -1)
strpos(s, s)
position('a' in s)
ascii(s)
reverse(s)
trunc(x)
trunc(w)
strftime(tz at time zone 'UTC', '%Y')
prefix(s, s)
suffix(s, s)
weekday(ts)
tz > timestamp '2020-01-01'
tz = tz
cast(floor(i) as integer)
cast(round(b) as bigint)
cast(trunc(u) as uhugeint)
try(b + 1)
try(cast(s as integer))
try(cast(ts as timestamp_ns))
round(x, -2)
round(x, 2)
try_cast(s as date) < date '2020-01-01'
s || i || dt
concat_ws('-', s, i)
replace(s, 'a', 'bc')
tz at time zone 'UTC'
"""

# Of a column's least day DuckDB asks for the week before a query runs, whatever guards it.
GUARD = "case when {0} between date '0001-01-01' and date '9999-12-31' then {1} end"
FAILING_WEEKS = [
    GUARD.format("dt", "date_trunc('week', dt)"),
    GUARD.format("dt", "date_trunc('week', dt)::date"),
]
SOUND_WEEKS = [
    GUARD.format("dt", "date_trunc('month', dt)"),
    GUARD.format("dt", "date_trunc('week', greatest(dt, date '0001-01-01'))"),
    GUARD.format("dt", "date_trunc('week', greatest(dt, date '0001-01-01'))::date"),
    GUARD.format("ts", "date_trunc('week', ts)"),
]


def lines(text):
    return [line for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    # Beyond it, the calendar of one zone ends before that of another.
    connection.execute("set TimeZone = 'America/New_York'")
    connection.execute(TABLE)
    for row in ROWS:
        connection.execute(f"insert into t values {row}")
    return connection


def fails(con, expression):
    try:
        for row in range(1, 5):
            con.execute(f"select hash(({expression})) from t where row = {row}").fetchall()
    except duckdb.Error:
        return True
    return False


def is_certified(expression):
    """Whether ``expression`` may stand in a release without a doubt that it could fail."""
    query = (
        f"select count(*) as n from (select ({expression}) as e from t tablesample"
        " bernoulli (10%)) having count(*) >= 20"
    )
    proof = prove(query, SCHEMA)
    if proof.shape is None:
        assert {finding.code for finding in proof.findings} <= {"V14", "V17"}
        return False
    return not any(doubt in text for text in proof.assumptions for doubt in DOUBTS)


@pytest.mark.parametrize("expression", [*lines(FAILING), *FAILING_WEEKS])
def test_what_fails_is_not_certified(con, expression):
    assert fails(con, expression)
    assert not is_certified(expression)


@pytest.mark.parametrize("expression", [*lines(SOUND), *SOUND_WEEKS])
def test_what_runs_is_certified(con, expression):
    assert not fails(con, expression)
    assert is_certified(expression)
