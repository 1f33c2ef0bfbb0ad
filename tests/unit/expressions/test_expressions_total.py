"""What can fail on a row and what cannot: rules that the corpus does not show."""

import duckdb
import pytest

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

TYPES = {"x": "INTEGER", "w": "DOUBLE", "s": "VARCHAR", "seen": "TIMESTAMP", "day": "DATE",
         "tz": "TIMESTAMPTZ", "huge": "HUGEINT", "vast": "UHUGEINT", "l": "DOUBLE[]",
         "words": "VARCHAR[]"}  # fmt: skip
KNOWN = Schema({"t": TYPES}, known=True)


def release(expression):
    return (
        f"select {expression} as x, count(*) as n from t tablesample bernoulli (10%)"
        " group by 1 having count(*) >= 20"
    )


def doubts(expression, schema=KNOWN):
    proof = prove(release(expression), schema)
    assert [str(finding) for finding in proof.findings] == []
    return [text for text in proof.assumptions if text.endswith("fails on no row")]


GUARD = "case when day between date '0001-01-01' and date '9999-12-31' then {} end"


def codes(expression, schema=KNOWN):
    return {finding.code for finding in prove(release(expression), schema).findings}


@pytest.mark.parametrize(
    "expression",
    [
        "cast(date_trunc('week', seen) as date) is null",
        "round(w, -1) > 5",
        "list_contains(l, x)",
        "list_contains(words, s)",
        "x * 1000",
        "w * 1000000 > 1",
        "regexp_matches(s, 'a+')",
    ],
)
def test_what_cannot_fail_beyond_the_ends_of_its_type(expression):
    assert not [
        text for text in doubts(expression) if "DATE_TRUNC" not in text and " * " not in text
    ]


def test_a_truncated_time_is_a_date():
    truncated = "cast(date_trunc('week', seen) as date)"
    (doubt,) = doubts(truncated)
    assert doubt == "DATE_TRUNC('WEEK', seen) fails on no row"
    query = f"select {truncated} from (select timestamp '2024-05-08 10:00:00' as seen)"
    assert str(duckdb.sql(query).fetchall()[0][0]) == "2024-05-06"


ROUNDED = (
    "try_cast(case when abs(cast(w as double)) < {} then cast(round(cast(w as double) / 10)"
    " as bigint) * 10 end as bigint)"
)


def test_a_rounded_number_is_bounded_before():
    assert doubts(ROUNDED.format("1e18")) == []
    assert codes(ROUNDED.format("1e19")) == {"V17"}


def test_the_week_of_a_least_day_is_asked_for_before_a_query_runs():
    week = GUARD.format("date_trunc('week', day)")
    (finding,) = prove(release(week), KNOWN).findings
    assert finding.code == "V17"
    assert finding.message.endswith(
        "found DATE_TRUNC('WEEK', day), which DuckDB asks of the least day before it runs; write"
        " GREATEST(day, DATE '0001-01-01') in it"
    )
    assert doubts(week, None) == ["DATE_TRUNC('WEEK', day) fails on no row"]
    assert doubts(GUARD.format("date_trunc('week', greatest(day, date '0001-01-01'))")) == []


def test_whole_numbers_that_fit_no_type_together_make_a_float():
    for expression in ("vast + x", "coalesce(vast + x, 1)", "coalesce(huge % 1.5, 1)"):
        assert codes(expression) == {"V18"}
    assert codes("greatest(huge, vast)") == {"V17", "V18"}


def test_a_list_is_searched_for_values_of_its_own_kind():
    assert "V17" in codes("list_contains(l, s)")
    assert "V17" in codes("list_contains(words, x)")


def test_large_factors_may_not_fit():
    assert "V17" in codes("x * 100000")
    assert doubts("x * 100000", None) == ["x * 100000 fails on no row"]
    assert doubts("x * 1000") == ["x * 1000 fails on no row"]


@pytest.mark.parametrize(
    "expression",
    ["cast(tz as date)", "year(tz)", "extract(hour from tz)", "date_trunc('day', tz)",
     "strftime(tz, '%Y')", "cast(tz as varchar)"],
)  # fmt: skip
def test_the_sessions_zone_is_no_part_of_a_row(expression):
    (finding,) = [
        found for found in prove(release(expression), KNOWN).findings if found.code == "V14"
    ]
    assert "which the session's zone decides; write AT TIME ZONE 'UTC'" in finding.message
    mended = expression.replace("tz", "tz at time zone 'UTC'")
    assert codes(mended) == set()


def test_a_pattern_is_a_constant():
    assert codes("regexp_matches(s, s)") == codes("regexp_matches(s, s)", None) == {"V17"}


def test_what_is_computed_of_small_numbers_fits_but_at_the_ends_of_their_range():
    cast = "CAST(FLOOR(x / 2 + 1) AS INT) fails on no row"
    assert cast in doubts("cast(floor(x / 2 + 1) as integer)")
    assert cast.replace(" + 1", "") not in doubts("cast(floor(x / 2) as integer)")
    assert codes("cast(floor(huge * 2) as integer)") == {"V17"}
    assert codes("cast(round(x / 2, 1) as integer)") == {"V17"}
