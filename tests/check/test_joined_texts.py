"""Texts that join: what is looked up by a key is understood, and everything else is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from policy_engine.check.answer import answer
from policy_engine.check.ddl import parse_schema
from policy_engine.check.guess import guessed
from policy_engine.check.known import Known
from policy_engine.check.schema import Schema
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.dialects import dialect_named
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sources import Column, Relation
from policy_engine.kernel.types import Type
from policy_engine.policy.loading import load_policy_text

TABLES = """
CREATE TABLE visits (person_id BIGINT, ward VARCHAR, site_id INTEGER, day DATE, age INTEGER);
CREATE TABLE wards (ward VARCHAR, region VARCHAR, id INTEGER);
CREATE TABLE persons (person_id BIGINT, sex VARCHAR, born INTEGER);
"""
ROWS = """
INSERT INTO visits SELECT i, [NULL, 'A', 'B', 'C', 'D', 'E'][1 + i % 6], i % 7,
  DATE '2024-01-01' + CAST(i % 60 AS INTEGER), CAST(i % 90 AS INTEGER) FROM range(3000) r(i);
INSERT INTO wards VALUES ('A', 'north', 1), ('B', 'south', 2), ('C', 'north', 3), ('D', 'west', 4);
INSERT INTO persons SELECT i, ['f', 'm'][1 + i % 2], CAST(1930 + i % 90 AS INTEGER)
  FROM range(3300) r(i) WHERE i % 10 > 0;
CREATE TABLE salts AS SELECT 's' AS salt, 'next' AS release_id;
"""
KNOWN = parse_schema(TABLES, "duckdb")
HASH = (
    "sha256((select salt from main.salts where release_id = 'next') || ':u:' ||"
    " cast(v.person_id as varchar)) < '800000000000000'"
)
MANY = "having count(*) >= 20"
PEOPLE = "count(distinct p.person_id)"
SOUND = {
    "inner": f"select w.region, count(*) as n from visits v join wards w on v.ward = w.ward"
    f" where {HASH} group by 1 {MANY}",
    "left": "select w.region, date_trunc('month', v.day) as day, count(*) as n from visits as v"
    f" left outer join wards as w on (w.ward = v.ward) where {HASH}"
    f" group by w.region, date_trunc('month', v.day) {MANY}",
    "another name": "select wards.region, count(*) as n from visits v inner join wards on"
    f" wards.id = v.site_id where {HASH} group by wards.region {MANY}",
    "turned": f"select w.region, count(*) as n from wards w join visits v on v.ward = w.ward"
    f" where {HASH} group by 1 {MANY}",
    "two": "select p.sex, w.region, count(*) as n from visits v left join persons p on"
    " p.person_id = v.person_id left join wards w on v.ward = w.ward"
    f" where {HASH} group by all {MANY}",
    "key of it": "select w.ward, count(*) as n from visits v join wards w on v.ward = w.ward"
    f" where {HASH} and w.region <> 'west' group by w.ward {MANY}",
    "another key of it": "select w.id, count(*) as n from visits v join wards w on"
    f" v.site_id = w.id where {HASH} group by w.id {MANY}",
    "condition": "select w.region, count(*) as n from visits v join wards w on v.ward = w.ward"
    f" and v.age >= 18 where {HASH} group by 1 {MANY}",
    "two columns": "select w.region, count(*) as n from visits v left join wards w on"
    f" v.ward = w.ward and v.site_id = w.id where {HASH} group by 1 {MANY}",
    "unread": "select v.age, count(*) as n from visits v left join wards w on v.ward = w.ward"
    f" where {HASH} group by 1 {MANY}",
    "recoded": "select case when w.id < 3 then 'low' when w.id >= 3 then 'high' end as id,"
    f" count(*) as n from visits v left join wards w on v.ward = w.ward where {HASH} group by 1"
    f" {MANY}",
}
#: What is sound where a schema says which columns the tables have.
KNOWN_ALONE = {
    "using": "select region, ward, count(*) as n from visits v join wards using (ward)"
    f" where {HASH} group by 1, 2 {MANY}",
    "stars": "with v as (select * from visits), w as (select * from wards), j as (select v.*,"
    f" w.region from v left join w on v.ward = w.ward where {HASH}) select region, age,"
    f" count(*) as n from j group by 1, 2 {MANY.replace('20', '2')}",
    "whole star": "select region, count(*) as n from (select * from visits v left join wards w"
    f" using (ward) where {HASH}) t group by 1 {MANY}",
    "first row": "with v as (select *, row_number() over (partition by person_id order by day)"
    " as place from visits) select w.region, count(*) as n from v join wards w on v.ward = w.ward"
    f" where place = 1 and {HASH} group by 1 {MANY}",
    "named anew": "with v as (select person_id, ward as place, day from visits) select w.region,"
    f" count(*) as n from v left join wards w on v.place = w.ward where {HASH} group by 1 {MANY}",
    "two steps": "with a as (select v.person_id, v.site_id, p.sex from visits v left join persons p"
    " on v.person_id = p.person_id), b as (select v.person_id, v.sex, w.region from a as v"
    f" left join wards w on v.site_id = w.id where {HASH})"
    f" select sex, region, count(*) as n from b group by 1, 2 {MANY}",
}
CASES = [(name, schema) for name in SOUND for schema in (Schema(), KNOWN)]
CASES += [(name, KNOWN) for name in KNOWN_ALONE]
TEXTS = SOUND | KNOWN_ALONE


@pytest.fixture(scope="module")
def rows():
    connection = duckdb.connect()
    connection.execute(TABLES + ROWS)

    def released(text: str) -> Counter[object]:
        made = connection.execute(text)
        names = [column[0] for column in made.description]
        found = [dict(zip(names, row, strict=True)) for row in made.fetchall()]
        # A month is its first day on one side, and that day's first moment on the other.
        plain = [{n: str(v).removesuffix(" 00:00:00") for n, v in each.items()} for each in found]
        return Counter(tuple(sorted(each.items())) for each in plain)

    return released


@pytest.mark.parametrize(("name", "schema"), CASES)
def test_a_lookup_is_answered_with_a_text_of_the_same_rows(rows, name, schema):
    text = TEXTS[name]
    found = answer(text, "duckdb", schema)
    assert [each.code for each in found.findings] == ["V35"], found.findings
    assert found.missed == ()
    released = rows(text)
    assert len(released) > 1 and rows(found.canonical) == released
    again = answer(found.canonical, "duckdb", schema)
    assert again.findings == ()
    joins = [(each.source, each.is_public) for each in found.claim.joins]
    assert [(each.source, each.is_public) for each in again.claim.joins] == joins


@pytest.mark.parametrize("name", [*SOUND, *KNOWN_ALONE])
def test_it_is_said_that_a_table_is_public_by_the_users_word(name):
    found = answer(TEXTS[name], "duckdb", KNOWN)
    for each in found.claim.joins:
        source = each.source.name
        if each.is_public:
            assert (
                f"{source} is the same, whichever people are in main.visits: public, as you state"
                in found.beside
            )
        else:
            assert any(f"each row of {source} is of one person" in told for told in found.beside)
        assert any(f"{source} has one row for each" in told for told in found.beside)
        certified = answer(found.canonical, "duckdb", KNOWN)
        assert any(
            source in told and "whichever people" in told for told in certified.assumptions
        ) is (each.is_public)
    assert {*found.beside} <= {*found.taken}


def test_an_inner_join_drops_what_has_no_row_by_the_key_or_by_what_is_never_null():
    by_key = answer(SOUND["another name"], "duckdb", KNOWN)
    assert [each.column.name for each in by_key.claim.filter] == ["id"]
    assert not any("never NULL" in told for told in by_key.taken)
    same_name = answer(SOUND["inner"], "duckdb", KNOWN)
    assert [each.column.name for each in same_name.claim.filter] == ["region"]
    assert any("main.wards.region is never NULL" in told for told in same_name.taken)
    assert answer(SOUND["left"], "duckdb", KNOWN).claim.filter == ()


def test_the_table_of_which_each_row_has_one_other_is_the_source():
    """Of a person's own table and one with many rows of each, the many are counted."""
    shown = f"select p.sex, date_trunc('month', v.day) as day, {PEOPLE} as n from"
    rest = f"on p.person_id = v.person_id where {HASH} group by 1, 2 having {PEOPLE} >= 20"
    for tables in ("persons p join visits v", "visits v join persons p"):
        claim = answer(f"{shown} {tables} {rest}", "duckdb", KNOWN).claim
        assert claim.source.name == "main.visits"
        assert [each.source.name for each in claim.joins] == ["main.persons"]
        assert not claim.joins[0].is_public


FROM = f"select w.region, count(*) as n from visits v {{}} where {HASH} group by 1 {MANY}"
UNSOUND = {
    "range": (FROM.format("join wards w on v.ward < w.ward"), "by no equality of their columns"),
    "or": (FROM.format("join wards w on v.ward = w.ward or v.site_id = w.id"), "no equality"),
    "expression": (FROM.format("join wards w on v.site_id + 1 = w.id"), "no equality"),
    "literal": (FROM.format("join wards w on w.id = 3"), "no equality"),
    "cross": (FROM.format("cross join wards w"), "a CROSS JOIN of wards"),
    "comma": (FROM.format(", wards w"), "no equality"),
    "right": (FROM.format("right join wards w on v.ward = w.ward"), "a RIGHT JOIN of wards"),
    "full": (FROM.format("full join wards w on v.ward = w.ward"), "a FULL JOIN of wards"),
    "natural": (FROM.format("natural join wards w"), "a NATURAL JOIN of wards"),
    "semi": (FROM.format("semi join wards w on v.ward = w.ward"), "a SEMI JOIN of wards"),
    "anti": (FROM.format("anti join wards w on v.ward = w.ward"), "a ANTI JOIN of wards"),
    "groups": (FROM.format(
        "join (select ward, max(region) as region from wards group by 1) w on v.ward = w.ward"
    ), "no table but a query of groups"),
    "chosen": (FROM.format("join (select * from wards where id > 1) w on v.ward = w.ward"),
               "of rows that are chosen"),
    "one of two": (FROM.format("join (select * from wards union all select * from wards) w"
                               " on v.ward = w.ward"), ""),
    "itself": (FROM.replace("w.region", "w.age").format(
        "join visits w on v.person_id = w.person_id"), "of its own rows"),
    "twice": (FROM.format("join wards w on v.ward = w.ward join wards x on v.site_id = x.code"),
              "of its own rows"),
    "chain": (FROM.replace("w.region", "p.sex").format(
        "join wards w on v.ward = w.ward join persons p on p.born = w.id"),
        "persons to wards, which is looked up itself"),
    "left with more": (FROM.format("left join wards w on v.ward = w.ward and w.id > 1"),
                       "by more than equal columns"),
    "drops only": (f"select v.age, count(*) as n from visits v join wards w on v.ward = w.ward"
                   f" where {HASH} group by 1 {MANY}",
                   "of which no column is read, and ward is called like one of visits"),
    "many for one": (
        "select v.ward, count(*) as n from persons p left join visits v on"
        f" p.person_id = v.person_id where {HASH.replace('v.', 'p.')} group by 1 {MANY}",
        "visits may have several rows for one of persons; write FROM visits"),
    "people of another": (
        "select v.age, w.region, count(*) as n from wards w left join visits v on v.ward = w.ward"
        f" where {HASH} group by 1, 2 {MANY}", "which a LEFT JOIN looks up; write FROM it"),
    "after groups": (
        f"select w.region, g.n from (select v.ward, count(*) as n from visits v where {HASH}"
        f" group by 1 {MANY}) g join wards w on g.ward = w.ward", "a query of groups"),
    "same name": (
        f"select w.ward, count(*) as n from visits v left join wards w on v.site_id = w.id"
        f" where {HASH} group by 1 {MANY}", "which is called like a column of another table"),
    "nobody": ("select w.region, count(*) as n from visits v tablesample bernoulli (10 percent)"
               f" join wards w on v.ward = w.ward group by 1 {MANY}", "no key of a person"),
    "another's key": (
        "with j as (select v.age, w.id as person_id from visits v left join wards w"
        f" on v.ward = w.ward) select age, count(*) as n from j as v where {HASH} group by 1"
        f" {MANY}",
        "people who are told apart by id of main.wards"),
    "a person's, by another column": (
        FROM.replace("w.region", "w.sex").format("join persons w on v.age = w.born"),
        "its person_id says whose its rows are"),
    "over what it looks up": ("create table wards as " + FROM.format(
        "join wards w on v.ward = w.ward"), "must not replace its own source"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSOUND)
def test_another_join_is_refused_and_it_is_said_which(name):
    text, said = UNSOUND[name]
    found = answer(text, "duckdb", KNOWN)
    assert not found.canonical
    assert said in "".join(map(str, found.findings)), found.findings


@pytest.mark.parametrize("name", UNSOUND)
def test_without_a_schema_none_of_these_is_certified(name):
    assert answer(UNSOUND[name][0], "duckdb", Schema()).findings != ()


def test_what_may_have_several_rows_of_a_key_is_not_the_text():
    keyed = parse_schema(TABLES.replace("id INTEGER", "id INTEGER PRIMARY KEY"), "duckdb")
    found = answer(SOUND["inner"], "duckdb", keyed)
    assert any("main.wards may have several rows for a ward" in told for told in found.missed)
    by_key = answer(SOUND["another name"], "duckdb", keyed)
    assert by_key.missed == ()
    assert not any("of several one is read" in told for told in by_key.beside)


def test_keys_of_two_types_are_compared_otherwise_and_it_is_said():
    text = FROM.format("left join wards w on v.site_id = w.ward")
    assert any("compared as texts" in told for told in answer(text, "duckdb", KNOWN).missed)


def test_a_view_is_no_table_that_is_looked_up():
    views = parse_schema(
        TABLES + "CREATE VIEW areas AS SELECT * FROM wards WHERE id > 1;", "duckdb"
    )
    found = answer(SOUND["left"].replace("wards", "areas"), "duckdb", views)
    assert not found.canonical and "of rows that are chosen" in str(found.findings)
    table = answer(SOUND["left"], "duckdb", KNOWN)
    view = parse_schema(
        TABLES.replace("TABLE wards", "VIEW wards AS SELECT 1; CREATE TABLE x"), "duckdb"
    )
    assert answer(table.canonical, "duckdb", view).findings != ()


@pytest.mark.parametrize("engine", ["postgres", "spark", "clickhouse"])
def test_every_engine_that_joins_is_answered(engine):
    hashed = {
        "postgres": "encode(sha256((:salt || cast(v.person_id as text))::bytea), 'hex') < '2'",
        "spark": "sha2(concat(:salt, cast(v.person_id as string)), 256) < '2'",
        "clickhouse": "hex(SHA256(concat({salt:String}, toString(v.person_id)))) < '2'",
    }
    text = SOUND["two"].replace(HASH, hashed[engine]).replace("group by all", "group by 1, 2")
    found = answer(text, engine, Schema())
    assert found.canonical, found.findings
    assert [each.source.parts[-1] for each in found.claim.joins] == ["persons", "wards"]
    again = answer(found.canonical, engine, Schema())
    assert again.findings == () and len(again.claim.joins) == 2


def test_an_engine_whose_joins_were_not_measured_refuses():
    text = SOUND["inner"].replace(HASH, "to_hex(sha256(cast(v.person_id as varbinary))) < '2'")
    assert "joins were not tested on it" in str(answer(text, "trino", Schema()).findings)


POLICY = """
version: 1
name: sexes
source:
  table: visits
  join:
    persons: {table: persons, on: person_id, columns: [sex]}
    wards: {table: wards, on: {site_id: id}, columns: [region], public: true}
privacy_unit: {column: person_id, rows: {first_by: [day desc]}}
recode: {sex: keep, region: keep}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 1.0, delta: 1.0e-4}
release: {table: sexes}
"""


@pytest.mark.parametrize("schema", [Schema(), KNOWN])
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_what_a_policy_with_joins_prints_is_its_release(engine, schema):
    policy = load_policy_text(POLICY, Path("sexes.yaml"), Path())
    known = Known(parse_schema(TABLES, engine), engine)
    home = {"duckdb": "main", "postgres": "public"}[engine]
    tables = [known.table((home, name)) for name in ("visits", "persons", "wards")]
    table = with_beside(policy.source, tables[0], tables[1:])
    claim, text = compiled(policy, table, dialect_named(engine))
    schema = parse_schema(TABLES, engine) if schema.known else schema
    found = answer(text, engine, schema, policy)
    assert found.findings == ()
    assert [each.source for each in found.claim.joins] == [each.source for each in claim.joins]
    assert any("wards is the same, whichever people are in" in told for told in found.assumptions)
    for less in (text.replace(" DESC", ""), text.replace("rank = 1", "rank = 2")):
        other = answer(less, engine, schema, policy)
        assert less != text and other.findings != ()
    without = load_policy_text(POLICY.replace("first_by: [day desc]", "first_by: [day]"),
                               Path("sexes.yaml"), Path())  # fmt: skip
    assert answer(text, engine, schema, without).findings != ()


# What is certified is the print, and nothing near it


def test_no_print_without_one_of_its_words_is_certified():
    text = answer(SOUND["two"], "duckdb", KNOWN).canonical
    words = text.split()
    for place in range(0, len(words), 5):
        less = " ".join(words[:place] + words[place + 1 :])
        assert answer(less, "duckdb", KNOWN).findings != (), words[place - 2 : place + 2]


def test_a_print_that_takes_peoples_rows_for_public_is_refused():
    """A kernel prints it, for it knows no names; the assumption could not be true."""
    known = Known(KNOWN, "duckdb")
    claim = guessed(SOUND["left"], "duckdb", known, known).claim
    age = Column("age", Type("integer"))
    itself = replace(claim.joins[0], source=Relation(("main", "visits")))
    shown = replace(claim.columns[0], name="age", column=age)
    assert shown.column is not None
    own = replace(claim.joins[0].on[0][0], name="site_id", type=Type("integer"))
    joined = replace(itself, on=((own, own),), columns=(age,))
    text = printed(replace(claim, joins=(joined,), columns=(shown,)), "duckdb")
    found = answer(text, "duckdb", KNOWN)
    assert [each.code for each in found.findings] == ["V13"]
    assert "main.visits, which has people's rows, as a public table" in str(found.findings)
