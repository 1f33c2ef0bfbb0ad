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
from policy_engine.check.recodings import NotUnderstood, otherwise, range_of, recoding_of
from policy_engine.check.schema import Schema
from policy_engine.engines import ENGINES
from policy_engine.policy.recodings import (
    Constant,
    Intervals,
    Keep,
    Lookup,
    Prefix,
    Round,
    Truncate,
)

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
    assert answer(text.format("b"), "postgres", schema).canonical == ""
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
        ("floor(age / 10) * 10", Round(10)),
        ("case when age < 18 then 'a' else 'b' end", Intervals((18,), ("a", "b"))),
        ("case when age >= 65 then 'c' when not age < 18 then 'b' end",
         Intervals((18, 65), ("other", "b", "c"))),
        ("case when age is null then 'x' when age > 17 and age < 30 or age = 40 then 'a'"
         " else 'b' end", Intervals((18, 30, 40, 41), ("b", "a", "b", "a", "b"))),
        ("case when 18 > age then 'a' else 'b' end", Intervals((18,), ("a", "b"))),
        ("case sex when 'f' then 'w' else 'm' end", Lookup((("f", "w"),), "m")),
        ("case when sex in ('f', 'g') then 'w' end", Lookup((("f", "w"), ("g", "w")), None)),
        ("case when sex <> 'f' then 'm' else 'w' end", Lookup((("f", "w"),), "m")),
        ("case when married then 'y' when not married then 'n' end",
         Lookup((("false", "n"), ("true", "y")), None)),
        ("case when married then true when not married then false end", Keep()),
    ],
)  # fmt: skip
def test_what_an_expression_means(text, meant):
    assert recoding_of(parsed(text)) == meant


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("floor(age / 10) * 10", "it is not rounded to the nearest 10, which a release shows"),
        ("round(age, -1)", None),
        ("case when age < 18 then 'a' else 'b' end",
         "NULL is shown as NULL, and by the text as 'b'"),
        ("case when age is null or age < 18 then 'a' else 'b' end",
         "NULL is shown as NULL, and by the text as 'a'"),
        ("case when (age is null) then 'none' when age < 18 then 'a' else 'b' end", None),
        ("case when age < 18 then 'a' when age < 30 then 'b' end",
         "values that the text shows as NULL are 'other', and NULL is apart"),
        ("case when sex = 'f' then 'w' end", None),
    ],
)  # fmt: skip
def test_what_is_shown_otherwise_is_told(text, told):
    node = parsed(text)
    assert list(otherwise(node, recoding_of(node))) == ([told] if told else [])


def test_what_is_no_count_of_rows_is_left_out():
    text = ("select sex, avg(age) as age, count(distinct id) as d, count(*) as n from a.people"
            " tablesample bernoulli (10 percent) group by sex having count(*) >= 20")  # fmt: skip
    found = answer(text, "duckdb", NOTHING)
    assert found.claim.count == "n"
    assert [each.partition(":")[0] for each in found.missed] == ["age", "d"]


@pytest.mark.parametrize(
    "text",
    ["age + year", "upper(zip)", "1 + 1", "case when age % 2 < 1 then 'a' else 'b' end",
     "case when name < 'a' then 'b' end", "case when age < 5 then 'a' else 'a' end",
     "case when f(age) then 'a' end", "case when age between x and 5 then 'a' end",
     "case when day < '2020-01-01' and age < 5 then 'a' end", "age * 2",
     "case when age < 5 then 1 + 1 end", "case when year < 5 or year < '2020-01-01' then 'a' end"],
)  # fmt: skip
def test_what_no_recoding_means(text):
    with pytest.raises(NotUnderstood):
        recoding_of(parsed(text))


@pytest.mark.parametrize(
    ("text", "meant"),
    [("age >= 18", ((), 18, None)), ("age > 18", ((), 19, None)), ("age < 18", ((), None, 18)),
     ("age <= 18", ((), None, 19)), ("18 < age", ((), 19, None)),
     ("sex = 'f'", (("f",), None, None)),
     ("(sex in ('f', 'm'))", (("f", "m"), None, None)), ("age between 3 and 5", ((), 3, 6))],
)  # fmt: skip
def test_what_a_condition_means(text, meant):
    assert range_of(parsed(text)) == meant


@pytest.mark.parametrize("text", ["f(age) > 2", "age <> 5", "age is null", "age > year"])
def test_what_no_condition_means(text):
    with pytest.raises(NotUnderstood):
        range_of(parsed(text))


def parsed(text):
    import sqlglot

    return sqlglot.parse_one(f"select {text}", dialect="postgres").expressions[0]
