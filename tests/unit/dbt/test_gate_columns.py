"""Marked columns: they go from model to model until one does not select them."""

from __future__ import annotations

import duckdb
import pytest
from dbt_manifests import PUBLIC, SENSITIVE, Project

from policy_engine.dbt.columns import EVERY, NONE, carried

ALL = "everything"
#: Of a relation people with the marked columns email and ssn: a query, and what it has of them.
QUERIES = {
    "select id, city from people": "",
    "select * from people": "email ssn",
    "from people": "email ssn",
    "select people.* from people join t on true": "email ssn",
    "select people.id, t.* from people join t on true": "",
    "select * exclude (email, ssn) from people": "",
    "select * exclude (email) from people": "ssn",
    "select * like 'e%' from people": ALL,
    "select columns('e.*') from people": ALL,
    "select #1 from people": ALL,
    "select $1 as x from people": ALL,
    "pivot people on city using count(*)": ALL,
    "select unnest(x) as u, id from people": ALL,
    # Names
    "select lower(email) as mail, id from people": "mail",
    "select lower(email) from people": ALL,
    "select lower(email) as mail, mail || 'x' as again from people": "mail again",
    'select "Email" as mail from people': "mail",
    "select main.people.email as mail from main.people": "mail",
    "select p.email.domain as d from people p": "d",
    "select o.email from people p join orders o on p.id = o.id": "",
    "select id as email from orders": "",
    "select 'email' as k from people": "",
    "select a from people as p(a, b)": ALL,
    # Whole rows
    "select p from people p": "p",
    "select to_json(p) as j from people p": "j",
    "select {'a': p} as s from people p": "s",
    # Aggregates
    "select city, count(*) as n from people group by 1 order by 2 desc": "",
    "select count(distinct email) as n from people": "n",
    "select sum(case when ssn = '1' then 1 end) as n from people": "n",
    "select list(id order by email) as l from people": "l",
    # What decides about rows
    "select id from people where ssn is not null": ALL,
    "select distinct on (email) id from people": ALL,
    "select id from people group by id, email": ALL,
    "select id from people order by email": ALL,
    "select p.id from people p join orders o on p.email = o.mail": ALL,
    "select p.id from people p join orders o using (email)": ALL,
    "select p.id from people p natural join orders": ALL,
    "select id, sum(x) over w as s from people window w as (partition by ssn)": ALL,
    "select id, row_number() over (partition by email) as rn from people": "rn",
    "select id from people qualify row_number() over (partition by id order by day) = 1": "",
    "select id from (select id, row_number() over (partition by email) as rn from people) s"
    " where rn = 1": ALL,
    # Queries in queries
    "with a as (select id, email as mail from people) select id from a": "",
    "with a as (select id, email as mail from people) select mail from a": "mail",
    "with a as (select * from people) select id, city from a": "",
    "with a as (select * from people), b as (select id, email from orders) select * from b": "",
    "with people as (select 1 as id, 2 as email) select * from people": "",
    "with recursive r as (select id from people) select * from r": ALL,
    "select s.* from (select id, email as mail from people) s": "mail",
    "select email from (people p join t on true)": "email",
    "select id, (select max(ssn) from people) as m from t": ALL,
    "select id from t where id in (select id from people)": "",
    "select id from t where exists (select 1 from people where people.ssn = t.ssn)": ALL,
    "select id from t where city = (select max(city) from s where s.x = t.y)": "",
    "select p.id from people p where exists (select 1 from t where t.mail = email)": ALL,
    "select o.total from people p left join lateral"
    " (select sum(x) as total from orders where orders.email = p.email) o on true": ALL,
    "select id from people p where exists (select * from t where t.id = p.id)": "",
    "select id from t where exists (select * from people p where t.id = p.id)": ALL,
    "(select id from people)": "",
    # What an attacker tried
    "select id from people qualify row_number() over (partition by email order by id) = 1": ALL,
    "select city from people group by city having max(email) > 'm3'": ALL,
    "select email as e, id from people order by e limit 1": ALL,
    "select email as e, id from people order by 1 limit 1": ALL,
    "select distinct email as e, id from people": ALL,
    "select email as e, count(*) as n from people group by 1": ALL,
    "select email as e, count(*) as n from people group by all": ALL,
    "with Renamed as (select id, email as mail from people) select mail from renamed": ALL,
    "with a(x, y) as (select id, email from people) select y from a": ALL,
    "select s.e from people p, (select p.email as e) s": "e",
    "select s.e from people p join (select p.email as e) s on true": "e",
    "select main.people from main.people": "people",
    "select to_json(main.people) as j from main.people": "j",
    "select t.* replace (p.email as x) from t, people p": ALL,
    "select id, email from people intersect select 7, 'ann@x'": ALL,
    "select id, email from people union select 7, 'ann@x'": ALL,
    "select id, email from people union all select 7, 'ann@x' order by 2 limit 2": ALL,
    "select 'a' union all select email from people": ALL,
    # Unions
    "select id from people union all select email from people": "id",
    "select id, email from people union all select a, b from t": "email",
    "select * from people union all select * from people": ALL,
    "select id from people intersect select id from t": "",
    "select id, city from people group by 1, 2": "",
    "select distinct id, city from people": "",
    "select * exclude (rn) from (select id, city, row_number() over (partition by id order by day)"
    " as rn from people) s where rn = 1": "",
    "select id from people p where exists (select * from orders o where o.id = p.id)": "",
    "select id, city from people union all by name select city, id from t": "",
    # What is no query, or cannot be read
    "insert into x select * from people": ALL,
    "select id from people; select 1": ALL,
    "select id from read_csv('people.csv')": ALL,
    "selec id from people": ALL,
}


def _people(name):
    return frozenset({"email", "ssn"}) if name[-1].text == "people" else NONE


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_what_it_has_of_a_marked_column(query):
    wanted = EVERY if QUERIES[query] == ALL else frozenset(QUERIES[query].split())
    assert carried(query, "duckdb", _people) == wanted


TABLES = """
create table t (id integer, a integer, b integer, mail text, ssn text, city text, x text, y text);
create table orders (id integer, email text, mail text, total integer, x integer);
create table s (id integer, x text, city text);
insert into t select i, i, i, 'm' || i, 's' || i, 'c' || i % 2, 'c1', 'c1' from range(4) r(i);
insert into orders select i % 3, 'm' || i, 'm' || i, i, i from range(9) r(i);
insert into s select i, 'c1', 'c' || i % 2 from range(3) r(i);
create table people (id integer, city text, email {kind}, ssn text, day integer, x integer);
insert into people select i % 4, 'c' || i % 2, {email}, 's' || {other}, i, i from range(8) r(i);
"""
KINDS = {"p.email.domain": ("struct(domain text)", "{{'domain': 'm' || {}}}")}


@pytest.mark.parametrize("query", [each for each, held in QUERIES.items() if held != ALL])
def test_what_has_nothing_of_a_marked_column_does_not_change_with_it(query):
    kind, email = next((v for k, v in KINDS.items() if k in query), ("text", "'m' || {}"))
    rows = []
    for other in ("i", "99 - i"):
        with duckdb.connect() as connection:
            made = TABLES.format(kind=kind, email=email.format(other), other=f"({other})")
            connection.execute(made)
            found = connection.sql(query)
            free = [n for n in range(len(found.columns))
                    if found.columns[n].lower() not in QUERIES[query].split()]  # fmt: skip
            rows.append(sorted([repr(row[n]) for n in free] for row in found.fetchall()))
    assert rows[0] == rows[1]


def test_a_relation_of_which_nobody_knows_the_columns_is_marked_as_a_whole():
    assert carried("select id from people", "duckdb", lambda name: EVERY) == EVERY


def test_a_dialect_that_nobody_parses_has_everything():
    assert carried("select id from people", "vertica9", _people) == EVERY
    assert carried("select id from people", "mariadb", _people) == NONE
    read = "select id, dictGet('people', 'email', id) as x from people"
    assert carried(read, "clickhouse", _people) == EVERY
    assert carried("with lower(email) as e select e as z from people", "clickhouse", _people) == (
        EVERY
    )
    assert carried("select row(people.*) as r from people", "postgres", _people) == {"r"}
    called = "select p.to_jsonb, o.to_jsonb as x, p.city from people p join orders o using (id)"
    assert carried(called, "postgres", _people) == {"to_jsonb"}


def _shop(**more: object) -> Project:
    columns = {"email": {"name": "email", "config": {"meta": SENSITIVE}}}
    project = Project().source("raw.people", columns=columns, **more)
    staged = "select id, city, email as contact from {{ source('raw', 'people') }}"
    return project.model("people", staged)


LEAKS = {
    "selected": (
        "select contact from {{ ref('people') }}",
        "select id, city from {{ ref('people') }}",
    ),
    "all of it": (
        "select * from {{ ref('people') }}",
        "select * exclude (contact) from {{ ref('people') }}",
    ),
    "a join": (
        "select p.contact from t join {{ ref('people') }} p using (id)",
        "select t.contact from t join {{ ref('people') }} p using (id)",
    ),
    "by the name of its table": (
        'select email from "dev"."raw"."people"',
        'select city from "dev"."raw"."people"',
    ),
    "a Jinja of its own": (
        "{% for c in ['city'] %}select contact as {{ c }} from {{ ref('people') }}{% endfor %}",
        "select city from {{ ref('people') }}",
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_marked_column_ends_at_a_model_that_does_not_select_it(name):
    leak, clean = LEAKS[name]
    found = {}
    for text in (leak, clean):
        project = _shop().model("mart", text).exposure("board", "mart")
        found[text] = "G01" in project.codes()
    assert found == {leak: True, clean: False}


def test_a_snapshot_and_an_ephemeral_model_are_followed():
    def through(kind: str, text: str) -> bool:
        project = _shop()
        if kind == "snapshot":
            project.snapshot("middle", text)
        else:
            project.model("middle", text, config={"materialized": "ephemeral"})
        project.model("mart", "select * from {{ ref('middle') }}").exposure("board", "mart")
        return "G01" in project.codes()

    all_of_it = "select * from {{ ref('people') }}"
    assert through("snapshot", all_of_it) and through("ephemeral", all_of_it)
    assert not through("snapshot", "select id, city from {{ ref('people') }}")


def test_what_is_not_read_as_sql_has_everything():
    python = "def model(dbt, session):\n    return dbt.ref('people').select('city')"
    project = _shop().model("mart", python, language="python", parents=["people"])
    assert "G01" in project.exposure("board", "mart").codes()
    project = _shop().model("mart", "select city from {{ ref('people') }}")
    project.exposure("board", "mart").document["nodes"]["model.shop.mart"]["compiled_code"] = None
    assert "G01" in project.codes()


def test_a_node_that_is_marked_itself_is_sensitive_whatever_its_columns():
    project = _shop(meta=SENSITIVE).model("mart", "select city from {{ ref('people') }}")
    assert "G01" in project.exposure("board", "mart").codes()


def test_who_shows_the_marked_node_itself_shows_the_column():
    assert "G01" in _shop().exposure("board", "raw.people").codes()
    assert "G01" in _shop().exposure("board", "people").codes()


WORDS = "dbt:\n  sensitive: {tags: [contains_pii], meta: {pii: true, level: [Phi, 3]}}\n"
SAID = {
    "a tag": {"tags": ["contains_pii"]},
    "a tag of a config": {"config": {"tags": ["contains_pii"]}},
    "one tag": {"config": {"tags": "contains_pii"}},
    "a flag": {"meta": {"pii": True}},
    "a flag of a config": {"config": {"meta": {"pii": "True"}}},
    "a word of a list": {"meta": {"level": "phi"}},
    "a number": {"meta": {"level": 3}},
    "one of several": {"meta": {"level": ["low", "PHI"]}},
    "the source's": {"source_meta": {"pii": True}},
    "a column's tag": {"columns": {"a": {"name": "a", "tags": ["contains_pii"]}}},
    "a column's meta": {"columns": {"a": {"name": "a", "config": {"meta": {"pii": True}}}}},
}


@pytest.mark.parametrize("name", SAID)
def test_a_project_says_what_is_sensitive_in_words_of_its_own(name, tmp_path):
    def codes(text: str) -> list[str]:
        project = Project().source("raw.people", **SAID[name]).exposure("board", "raw.people")
        project.write(tmp_path)
        (tmp_path / "policy-engine.yaml").write_text(text)
        return project.codes(tmp_path)

    assert codes(WORDS) == ["G01"]
    assert codes("dbt: {}\n") == []


@pytest.mark.parametrize("other", [{"tags": ["pii"]}, {"meta": {"pii": False, "level": "low"}}])
def test_other_words_say_nothing(other, tmp_path):
    project = Project().source("raw.people", **other).exposure("board", "raw.people")
    project.write(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text(WORDS)
    assert project.codes(tmp_path) == []


def test_what_stands_before_a_mark_without_one_is_said():
    project = Project().source("raw.people").source("raw.towns", meta=PUBLIC)
    text = "select * from {{ source('raw', 'people') }}, {{ source('raw', 'towns') }}"
    verdict = project.model("people", text, meta=SENSITIVE).verdict()
    [note] = [each for each in verdict.notes if "not marked" in each]
    assert (
        note
        == "not marked, but read by nodes that are marked sensitive: raw.people (before people)"
    )
    marked = Project().source("raw.people", meta=SENSITIVE)
    verdict = (
        marked.source("raw.towns", meta=PUBLIC).model("people", text, meta=SENSITIVE).verdict()
    )
    assert not [each for each in verdict.notes if "without a mark" in each]


# What the warehouse masks

TAG = {"policy_tags": ["projects/p/locations/eu/taxonomies/1/policyTags/2"]}
HOOK = {"post-hook": [{"sql": "{{ dbt_snow_mask.apply_masking_policy('models') }}"}]}
MASK = {"column_mask": {"function": "mask_mail"}}


SELECT = "select * from {{ ref('p') }}"


def masks(adapter: str, mask: dict, text: str = SELECT, **config: object) -> Project:
    """A public table of a model with one marked column, which its properties mask."""
    columns = {"mail": {"name": "mail", "meta": SENSITIVE}}
    project = Project(adapter).model("p", "select 1 as id, 'x' as mail", columns=columns)
    shown = {"mail": {"name": "mail", **mask}}
    made = {"materialized": "table", **config}
    return project.model("dim", text, columns=shown, config=made, access="public")


@pytest.mark.parametrize(
    ("adapter", "mask", "config"),
    [
        ("bigquery", TAG, {}),
        ("databricks", MASK, {}),
        ("snowflake", {"meta": {"masking_policy": "mp_mail"}}, HOOK),
    ],
)
def test_a_column_that_the_warehouse_masks_may_be_read_there(adapter, mask, config) -> None:
    project = masks(adapter, mask, **config)
    assert project.reviewed().findings == ()
    project.model("more", "select * from {{ ref('dim') }}", access="public").exposure("b", "dim")
    found = {(each.code, each.names[0]) for each in project.reviewed().findings}
    assert found == {("G02", "more"), ("G01", "exposure b")}


@pytest.mark.parametrize(
    ("adapter", "mask", "text", "config"),
    [
        ("bigquery", {}, SELECT, {}),
        ("bigquery", {"policy_tag": TAG["policy_tags"]}, SELECT, {}),
        ("bigquery", {"policy_tags": []}, SELECT, {}),
        ("bigquery", TAG, "select *, mail as m from {{ ref('p') }}", {}),
        ("bigquery", TAG, "select mail from {{ ref('p') }} where mail > 'a'", {}),
        ("bigquery", TAG, SELECT, {"materialized": "view"}),
        ("snowflake", {"meta": {"masking_policy": "mp"}}, SELECT, {}),
        ("postgres", TAG, SELECT, {}),
    ],
)
def test_a_mask_that_is_none_or_not_of_all_protects_nothing(adapter, mask, text, config) -> None:
    assert masks(adapter, mask, text, **config).codes() == ["G02"]
