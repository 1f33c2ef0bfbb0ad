"""Texts of strangers: none that is not printed is certified, and most are answered with a text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import foreign_texts
import tampered_texts
from strangers import SOUND, UNSOUND

from policy_engine.check.answer import answer
from policy_engine.check.ddl import parse_schema
from policy_engine.check.recodings import Pieces, condition_of, reading_of
from policy_engine.check.schema import Schema
from policy_engine.check.values import NotUnderstood
from policy_engine.engines import ENGINES
from policy_engine.kernel.recodes import Bins, Constant, Keep, Prefix, Round, Truncate
from policy_engine.kernel.types import Type
from policy_engine.policy.recodings import mapped

NOTHING = Schema()
OTHERS = [engine for engine in ENGINES if engine != "duckdb"]


@pytest.mark.parametrize(("engine", "text"), SOUND)
def test_what_is_sound_is_answered_with_a_text_that_is_certified(engine, text):
    found = answer(text, engine, NOTHING)
    assert found.findings != ()
    assert found.canonical, found.findings
    assert answer(found.canonical, engine, NOTHING).findings == ()


FIRST = """
    select age, count(*) as n from (
      select distinct on (id) id, age from public.people
      where encode(sha256(convert_to({secret} || id, 'UTF8')), 'hex') < '1999' order by {order}
    ) t group by age having count(*) >= 20
"""


@pytest.mark.parametrize(
    ("order", "kept", "told"),
    [
        ("id, seen desc", '"seen" DESC NULLS LAST', ["seen first, the release last"]),
        ("id, seen", '"seen" NULLS LAST', []),
        ("id", '"id" NULLS LAST', []),
    ],
)
def test_distinct_on_keeps_the_row_that_it_did(order, kept, told):
    people = parse_schema("create table public.people (id int, age int, seen date)", "postgres")
    found = answer(FIRST.format(secret=":secret", order=order), "postgres", people)
    assert f"ORDER BY {kept}" in found.canonical
    assert [each for each in found.missed if "DISTINCT" in each or "secret" in each] == [
        f"DISTINCT ON keeps a row without {each}" for each in told
    ]
    other = answer(FIRST.replace("on (id)", "on (age)").format(secret=":secret", order="age"),
                   "postgres", NOTHING)  # fmt: skip
    assert "DISTINCT ON (age): one row of each id is kept" in other.missed


@pytest.mark.parametrize("secret", ["'x'", ":secret", "current_setting('a.b')", "$1"])
def test_a_text_without_a_secret_is_told_so(secret):
    found = answer(FIRST.format(secret=secret, order="id"), "postgres", NOTHING)
    assert any(each.startswith("a secret: the text has none") for each in found.missed) == (
        secret == "'x'"
    )


@pytest.mark.parametrize("name", UNSOUND)
def test_what_is_unsound_is_not_certified(name):
    engine, text = UNSOUND[name]
    assert answer(text, engine, NOTHING).findings != ()


@pytest.mark.parametrize("engine", tampered_texts.ENGINES, ids=lambda engine: engine.name)
def test_no_text_that_was_tampered_with_is_certified(engine):
    assert answer(engine.text(), engine.name, NOTHING).canonical
    for name, other in engine.tampered().items():
        assert answer(other, engine.name, NOTHING).findings != (), name


@pytest.mark.parametrize("engine", OTHERS)
def test_nine_of_ten_of_our_own_foreign_texts_are_answered(engine):
    found = answer(foreign_texts.text(engine), engine, NOTHING)
    assert found.findings != ()
    assert found.canonical
    assert answer(found.canonical, engine, NOTHING).findings == ()


@pytest.mark.parametrize(
    ("kind", "is_read"),
    [("integer", True), ("numeric(10,2)", True), ("numeric", False), ("char(5)", True),
     ("bpchar", True), ("jsonb", False), ("integer[]", False), ("timetz", False),
     ("citext", False), ("varchar(9)", True)],
)  # fmt: skip
def test_a_type_whose_equal_values_can_look_different_is_left_out(kind, is_read):
    schema = parse_schema(f"create table a.people (id bigint, x {kind}, sex text)", "postgres")
    text = ("select x, sex, count(*) n from a.people where md5(id::text) < '19'"
            " group by x, sex having count(*) > 9")  # fmt: skip
    found = answer(text, "postgres", schema)
    assert [shown.name for shown in found.claim.columns] == ["x", "sex"][not is_read :]
    assert answer(found.canonical, "postgres", schema).findings == ()


@pytest.mark.parametrize("engine", ["snowflake", "bigquery", "redshift", "clickhouse"])
def test_a_key_is_not_believed_where_nothing_enforces_it(engine):
    schema = parse_schema("create table a.people (id bigint primary key, sex text)", engine)
    text = "select sex, count(*) n from a.people where md5(id) < '19' group by sex having n > 9"
    found = answer(text, engine, schema)
    assert found.canonical == "" or "ROW_NUMBER" in found.canonical


def test_another_table_of_the_name_is_another():
    schema = parse_schema(
        "create table a.people (id bigint, sex text);"
        "create view b.people as select * from a.people",
        "postgres",
    )
    text = ("select sex, count(*) n from {}.people where md5(id::text) < '19'"
            " group by sex having count(*) > 9")  # fmt: skip
    assert answer(text.format("a"), "postgres", schema).canonical
    assert [each.code for each in answer(text.format("b"), "postgres", schema).findings]
    # A view is followed to what it reads.
    assert 'FROM "a"."people"' in answer(text.format("b"), "postgres", schema).canonical
    assert answer(text.format("c"), "postgres", schema).canonical == ""


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("age", Keep()),
        ("'x'", Constant("x")),
        ("left(zip, 3)", Prefix(3)),
        ("cast(seen as date)", Truncate("day")),
        ("date_trunc('quarter', seen)", Truncate("quarter")),
        ("round(income, -3)", Round(1000)),
        ("round(income)", Round(1)),
        ("floor(age / 10) * 10", Round(10, "down")),
        ("case when age < 18 then 'a' else 'b' end", Bins((18,), ("a", "b"))),
        ("case when age >= 65 then 'c' when not age < 18 then 'b' end",
         Bins((18, 65), (None, "b", "c"))),
        ("case when age is null then 'x' when age > 17 and age < 30 or age = 40 then 'a'"
         " else 'b' end", Bins((18, 30, 40, 41), ("b", "a", "b", "a", "b"))),
        ("case when 18 > age then 'a' else 'b' end", Bins((18,), ("a", "b"))),
        ("age >= 18", Bins((18,), ("false", "true"))),
        ("case when age <= 18.5 then 'a' else 'b' end", Bins((19,), ("a", "b"))),
        ("case when age between 1 and 2 or age not between 1 and 5 then 'a' else 'b' end",
         Bins((3, 6), ("a", "b", "a"))),
        ("case sex when 'f' then 'w' else 'm' end", mapped((("f", "w"),), "m")),
        ("case when sex in ('f', 'g') then 'w' end", mapped((("f", "w"), ("g", "w")), None)),
        ("case when sex <> 'f' then 'm' else 'w' end", mapped((("f", "w"),), "m")),
        ("case when sex is distinct from 'f' then 'm' else 'w' end", mapped((("f", "w"),), "m")),
        ("coalesce(nullif(sex, 'x') = 'f', false)",
         mapped((("f", "true"), ("x", "false")), "false")),
        ("sex = any(array['f'])", None),
        ("case when married then 'y' when not married then 'n' end",
         mapped((("false", "n"), ("true", "y")), None)),
        ("case when married then true when not married then false end", Keep()),
        ("coalesce(sex, 'u')", Keep()),
        ("coalesce(left(zip, 2), 'u')", Prefix(2)),
        ("left(substring(zip, 1, 3), 5)", Prefix(3)),
        ("left(zip, 3) || '**'", Prefix(3)),
        ("to_char(seen, 'YYYY-MM')", Truncate("month")),
        ("extract(year from seen)", Truncate("year")),
        ("income / 10 * 10", Round(10, "zero")),
        ("income - income % 5", Round(5, "zero")),
        ("round(income / 50) * 50", Round(50)),
        ("trunc(income / 10)", Round(10, "zero")),
    ],
)  # fmt: skip
def test_what_an_expression_means(text, meant):
    if meant is None:
        with pytest.raises(NotUnderstood):
            reading_of(parsed(text))
        return
    found = reading_of(parsed(text)).means
    if isinstance(found, Pieces):
        found = Bins(*found.intervals(Type("integer")))
    assert found == meant


@pytest.mark.parametrize(
    ("text", "kind", "cuts"),
    [
        ("x <= 18", Type("integer"), ["19"]),
        ("x <= 1.5", Type("integer"), ["2"]),
        ("x <= 1.5", Type("decimal", 9, 3), ["1.501"]),
        ("x <= 1.5", Type("double"), ["1.5000000000000002"]),
        ("x = 1.5 or x > 3", Type("integer"), ["4"]),
        ("x <= '2020-01-31'", Type("date"), ["2020-02-01"]),
        ("x <= '2020-01-31'", Type("timestamp"), ["2020-01-31 00:00:00.000001"]),
        ("x < '2020-01-31'", Type("timestamp"), ["2020-01-31 00:00:00"]),
    ],
)
def test_a_cut_is_the_first_value_of_its_type_that_is_shown_so(text, kind, cuts):
    found = reading_of(parsed(f"case when {text} then 'a' else 'b' end")).means
    assert [str(cut) for cut in found.intervals(kind)[0]] == cuts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("floor(age / 10) * 10", None),
        ("ceil(age / 10) * 10", "it is rounded up, and a release shows the nearest 10"),
        ("floor(age / 10)", "shown is the multiple of 10, and by the text how many there are"),
        ("round(age, -1)", None),
        ("left(zip, 3) || '**'", "shown without '**' behind it"),
        ("date_trunc('month', seen)::date", None),
        ("extract(year from seen)", "a year is shown as its first day"),
        ("zip::int", "shown as it is, and by the text as INT"),
        ("(case when age < 18 then 1 else 2 end)::text", None),
    ],
)  # fmt: skip
def test_what_is_shown_otherwise_is_told(text, told):
    assert list(reading_of(parsed(text)).told) == ([told] if told else [])


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("case when age < 18 then 'a' else 'b' end", "b"),
        ("case when age is null or age < 18 then 'a' else 'b' end", "a"),
        ("case when (age is null) then 'none' when age < 18 then 'a' else 'b' end", "none"),
        ("case when age < 18 then 'a' when age < 30 then 'b' end", None),
        ("case when sex = 'f' then 'w' end", None),
        ("coalesce(sex, 'u')", "u"),
        ("coalesce(case when sex = 'f' then 'w' end, 'u')", "u"),
        ("sex is not distinct from 'f'", "false"),
        ("sex = 'f'", None),
        ("not (age >= 18) is true", "true"),
    ],
)
def test_what_null_is_shown_as(text, missing):
    assert reading_of(parsed(text)).missing == missing


VISITORS = parse_schema(
    "create table main.visitors (site int, visitor int, plan text, primary key (site, visitor))",
    "duckdb",
)


def test_a_person_of_several_columns_is_all_of_them():
    text = (
        "select plan, count(*) as n from main.visitors where sha256(? || ':u:' || site || ':' ||"
        " visitor) < '1999' group by plan having count(*) >= 20"
    )
    for schema in (NOTHING, VISITORS):
        found = answer(text, "duckdb", schema)
        assert [key.name for key in found.claim.unit.keys] == ["site", "visitor"]
        again = answer(found.canonical, "duckdb", schema)
        assert again.claim.unit.key == found.claim.unit.key and again.findings == ()
        assert any("each person has one site and visitor," in text for text in again.assumptions)
    told = [each for each in again.assumptions if each.startswith(("site", "visitor"))]
    assert told == []
    untold = answer(found.canonical, "duckdb", NOTHING).assumptions
    for name in ("site", "visitor"):
        assert f"{name} is a whole number, a UUID, or text without a collation" in untold


def test_what_is_asked_before_a_row_is_chosen_is_told():
    text = """
        select sex, count(*) as n from (
          select sex, row_number() over (partition by id order by seen desc nulls last) as r
          from a.people where sha256(? || id) < '1999' and age > 3
        ) where r = 1 and sex <> 'x' group by sex having count(*) >= 20"""
    found = answer(text, "duckdb", NOTHING)
    [told] = found.missed
    assert told.startswith("age > 3 is asked of the one row of each id that is kept")
    other = answer(text.replace("partition by id", "partition by seen"), "duckdb", NOTHING)
    assert "one row of seen: one row of each id is kept" in other.missed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("select left(zip, 3) as zip, count(*) as n from a.p tablesample bernoulli (10%)"
         " group by zip having count(*) > 9",
         "GROUP BY zip is of the column, not of what is shown as zip"),
        ("select sex, count(*) as n from a.p tablesample bernoulli (10%) group by rollup (sex)"
         " having count(*) > 9", "ROLLUP (sex): groups of all columns alone"),
        ("select sex, count(*) as n from a.p tablesample 10% group by sex having count(*) > 9",
         "a sample by SYSTEM: a release draws each row by itself"),
        ("select sex, count(distinct id) as n from a.p where sha256(? || id) < '1999' group by sex"
         " having count(distinct id) > 9",
         "n: who has several rows is in one group, by one of them, and by the text in each group"
         " of one"),
    ],
)  # fmt: skip
def test_what_a_release_does_otherwise_is_told(text, told):
    found = answer(text, "duckdb", NOTHING)
    assert found.canonical
    assert told in found.missed


@pytest.mark.parametrize(
    ("text", "code"),
    [("select sex, count(*) as n from a.p tablesample (10 rows) group by sex having count(*) > 9",
      "V04"),
     ("select * from (select sex, count(*) as n from a.p group by sex) where n > 9 and"
      " random() < 0.1", "V03")],
)  # fmt: skip
def test_a_sample_of_another_kind_is_no_release(text, code):
    assert [each.code for each in answer(text, "duckdb", NOTHING).findings] == [code]


def test_what_is_no_count_of_rows_is_left_out():
    text = ("select sex, avg(age) as age, count(distinct id) as d, count(*) as n from a.people"
            " tablesample bernoulli (10 percent) group by sex having count(*) >= 20")  # fmt: skip
    found = answer(text, "duckdb", NOTHING)
    assert found.claim.count == "n"
    assert [each.partition(":")[0] for each in found.missed] == ["age", "d"]


@pytest.mark.parametrize(
    "text",
    ["age + year", "upper(zip)", "1 + 1", "case when age % 2 < 1 then 'a' else 'b' end",
     "case when name < 'a' then 'b' end", "quarter(seen)", "extract(month from seen)",
     "nullif(sex, 'x')", "case when age is null then 'u' else age::text || '-' end",
     "case when sex = 'x' then 'blank' else sex end", "trim(sex)",
     "case when age > 90 then 90 else age end", "born <= date '2026-01-01' - interval '18 years'",
     "date_trunc('decade', seen)", "zip like '9%'", "sex in (select 'f')",
     "case when f(age) then 'a' end", "case when age between x and 5 then 'a' end",
     "case when day < '2020-01-01' and age < 5 then 'a' end", "age * 2",
     "case when age < 5 then 1 + 1 end", "case when year < 5 or year < '2020-01-01' then 'a' end"],
)  # fmt: skip
def test_what_no_recoding_means(text):
    with pytest.raises(NotUnderstood):
        reading_of(parsed(text))


@pytest.mark.parametrize(
    ("text", "met"),
    [("age >= 18", "false 18 true"), ("age > 18", "false 19 true"), ("age < 18", "true 18 false"),
     ("age <= 18", "true 19 false"), ("18 < age", "false 19 true"),
     ("age between 3 and 5", "false 3 true 6 false"),
     ("not (age >= 18 and age < 30)", "true 18 false 30 true")],
)  # fmt: skip
def test_a_condition_of_order_is_met_by_pieces(text, met):
    found = condition_of(parsed(text))
    cuts, labels = found.means.intervals(Type("integer"))
    told = [{"kept": "true", "dropped": "false"}[label] for label in labels]
    pairs = zip(map(str, cuts), told[1:], strict=True)
    assert met.split() == [told[0], *(each for pair in pairs for each in pair)]
    assert found.missing == "dropped"


@pytest.mark.parametrize(
    ("text", "kept", "other", "missing"),
    [("sex = 'f'", ["f"], "dropped", "dropped"),
     ("(sex in ('f', 'm'))", ["f", "m"], "dropped", "dropped"),
     ("sex <> 'f'", [], "kept", "dropped"), ("sex is null", [], "dropped", "kept"),
     ("sex is not null", [], "kept", "dropped"),
     ("coalesce(married, true)", ["true"], "dropped", "kept"),
     ("sex not in ('f', null)", [], "dropped", "dropped")],
)  # fmt: skip
def test_a_condition_of_values(text, kept, other, missing):
    found = condition_of(parsed(text))
    assert [key for keys, label in found.means.groups if label == "kept" for key in keys] == kept
    assert (found.means.other, found.missing) == (other, missing)


@pytest.mark.parametrize("text", ["f(age) > 2", "age > year", "zip like '9%'"])
def test_what_no_condition_means(text):
    with pytest.raises(NotUnderstood):
        condition_of(parsed(text))


def parsed(text):
    import sqlglot

    return sqlglot.parse_one(f"select {text}", dialect="postgres").expressions[0]
