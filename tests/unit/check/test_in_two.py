"""A text that makes more of a release is two: the release, and a query over its rows."""

from __future__ import annotations

import pytest

from policy_engine.check.answer import answer
from policy_engine.check.ddl import parse_schema
from policy_engine.check.schema import Schema
from policy_engine.kernel.recodes import Round

SAMPLE = "tablesample bernoulli (10)"
TEXT = "select {0} from a.p " + SAMPLE + " group by {1} having {2}"


def two(shown: str, by: str = "sex", having: str = "count(*) > 9", engine: str = "trino") -> str:
    """The query over the release's rows, on one line."""
    text = TEXT.format(shown, by, having)
    if engine == "duckdb":
        text = text.replace("(10)", "(10%)")
    found = answer(text, engine, Schema())
    assert found.missed == () and found.canonical
    assert answer(found.canonical, engine, Schema()).findings == ()
    return " ".join(found.afterwards.split())


@pytest.mark.parametrize(
    ("shown", "by", "having", "afterwards"),
    [
        ("sex, count(*) as n", "sex", "count(*) > 9", ""),
        ("sex", "sex", "count(*) > 9", 'released."sex" AS "sex"'),
        ("count(*) as n", "sex", "count(*) > 9", 'released."n" AS "n"'),
        ("sex, count(*) * 10 as e", "sex", "count(*) > 9", 'released."n" * 10 AS "e"'),
        ("sex, sum(count(*)) over () as t", "sex", "count(*) > 9",
         'SUM(released."n") OVER () AS "t"'),
        ("sex, count(*) over () as groups", "sex", "count(*) > 9", 'COUNT(*) OVER () AS "groups"'),
        ("sex, count(*) as n", "sex", "count(*) between 9 and 99", 'WHERE released."n" <= 99'),
        ("sex, count(*) as n", "sex", "count(*) > 9 and sum(1) < 99", 'WHERE released."n" < 99'),
        ("sex, count(*) as n", "sex, age", "count(*) > 9", 'SELECT released."sex" AS "sex"'),
        ("sex || '/' || age as l", "sex, age", "count(*) > 9",
         """released."sex" || '/' || released."age" AS "l\""""),
        ("extract(year from seen) as y, count(*) as n", "1", "count(*) > 9",
         'EXTRACT(YEAR FROM released."y") AS "y"'),
        ("left(zip, 3) || '**' as z, count(*) as n", "1", "count(*) > 9",
         """released."z" || '**' AS "z\""""),
        ("count(*) as n", "1 = 1", "count(*) > 9", None),
    ],
)  # fmt: skip
def test_what_is_made_of_groups_is_asked_of_their_rows(shown, by, having, afterwards):
    if afterwards is None:
        assert answer(TEXT.format(shown, by, having), "trino", Schema()).afterwards == ""
    else:
        assert afterwards in two(shown, by, having)


def test_the_query_around_a_release_stays_as_it_is():
    release = TEXT.format("sex, age, count(*) as n", "sex, age", "count(*) > 9")
    text = f"with g as ({release}) select sex, sum(n) as s from g group by sex order by s limit 3"
    found = answer(text, "trino", Schema())
    assert found.missed == () and "GROUP BY" in found.canonical
    after = " ".join(found.afterwards.split())
    assert after == (
        "WITH g AS ( SELECT * FROM released ) SELECT sex, SUM(n) AS s FROM g GROUP BY sex ORDER BY"
        " s LIMIT 3"
    )


def test_the_table_of_a_text_is_that_of_the_query_over_the_rows():
    text = "create table a.out as " + TEXT.format("sex", "sex", "count(*) > 9")
    found = answer(text, "trino", Schema())
    assert found.afterwards.startswith('CREATE TABLE "a"."out" AS')
    assert found.canonical.startswith("WITH")


@pytest.mark.parametrize(
    ("shown", "by", "told"),
    [
        # The column of that name is what an engine groups by, or what is shown.
        ("left(zip, 3) as zip, count(*) as n", "zip", "GROUP BY zip is of the column"),
        ("sex, max(age) as a, count(*) as n", "sex", "a: MAX(age): a release counts; left out"),
        ("concat(zip, '*') as z, count(*) as n", "1", "shown without '*' behind it"),
    ],
)
def test_what_is_no_query_of_the_rows_is_told(shown, by, told):
    text = TEXT.format(shown, by, "count(*) > 9").replace("(10)", "(10%)")
    found = answer(text, "duckdb", Schema())
    assert found.afterwards == ""
    assert any(told in each for each in found.missed)


def test_a_query_that_reads_the_source_beside_the_release_is_none_of_its_rows():
    release = TEXT.format("sex, count(*) as n", "sex", "count(*) > 9")
    text = f"select g.sex, g.n, (select count(*) from a.p) as all_of_them from ({release}) g"
    found = answer(text, "trino", Schema())
    assert found.afterwards == ""


DECIMALS = "create table a.p (id int primary key, age {0}, sex text);"


@pytest.mark.parametrize(
    ("expression", "kind", "way"),
    [
        ("floor(age / 10) * 10", "int", "zero"),
        ("floor(age / 10) * 10", "numeric(9, 2)", "down"),
        ("age / 10 * 10", "int", "zero"),
        ("age / 10 * 10", "numeric(9, 2)", None),
        ("age - age % 10", "numeric(9, 2)", "zero"),
        ("round(age / 10.0) * 10", "int", "nearest"),
    ],
)
def test_whole_numbers_are_divided_as_the_engine_divides_them(expression, kind, way):
    schema = parse_schema(DECIMALS.format(kind), "postgres")
    text = TEXT.format(f"{expression} as d, count(*) as n", "1", "count(*) > 9")
    text = text.replace(SAMPLE, "where sha256(convert_to('s' || id, 'UTF8')) < '\\x19'")
    found = answer(text, "postgres", schema)
    if way is None:
        assert "d: of a number with a fraction it is a quotient" in found.missed
    else:
        [shown] = found.claim.columns
        assert shown.recode == Round(10, way)


PARTS = """
select {0} from (
  select sex, 'a' as part from a.p where {1}
  union all
  select sex, 'b' from a.p where {2}
) u where random() < 0.1 group by {0} having count(*) > 9
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("year = 2023", "year = 2024"),
        ("age < 18", "age >= 18"),
        ("age < 18", "age is null"),
        ("state in ('a', 'b')", "state in ('c')"),
        ("year = 2023 and sex <> 'x'", "year > 2023 and sex <> 'x'"),
    ],
)
def test_parts_of_a_table_are_one_query_of_it(one, other):
    found = answer(PARTS.format("part", one, other), "duckdb", Schema())
    assert found.missed == () and 'released."part" AS "part"' in found.afterwards
    assert [shown.name for shown in found.claim.columns] == ["part"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("year = 2023", "year >= 2023"),
        ("age < 18", "age < 65"),
        ("age < 18", "sex = 'f'"),
        ("state in ('a', 'b')", "state in ('b', 'c')"),
        ("sex > 'f'", "sex <= 'f'"),
        ("year = 2023", "random() < 2"),
    ],
)
def test_parts_that_share_a_row_are_not(one, other):
    found = answer(PARTS.format("part", one, other), "duckdb", Schema())
    assert found.canonical == "" and [each.code for each in found.findings] == ["V13"]
