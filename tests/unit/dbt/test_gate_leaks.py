"""Planted leaks, one by one, and beside each the same project without the leak."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dbt_manifests import ONCE, PUBLIC, SENSITIVE, TYPED, Project, shop

Make = Callable[[], Project]


def released(project: Project | None = None, **more: object) -> Project:
    """A shop with a certified release."""
    return (project or shop()).release(**more)


def hooked(sql: str, name: str = "post-hook") -> Project:
    """A sensitive model with a hook."""
    config = {"materialized": "table", name: [{"sql": sql, "transaction": True}]}
    return shop().model("dim", "select * from {{ ref('people') }}", config=config)


def clean_hook(sql: str) -> Project:
    """A release with a hook, beside sensitive models that have none."""
    config = {**ONCE, "post-hook": [{"sql": sql}]}
    return released(config=config)


def made(adapter: str, config: dict[str, object]) -> Project:
    """A sensitive model of another adapter."""
    return shop(adapter).model("dim", "select * from {{ ref('people') }}", config=config)


CASES: dict[str, tuple[str, Make, Make]] = {
    # Sinks
    "exposure of a source": (
        "G01",
        lambda: shop().exposure("board", "raw.people"),
        lambda: released().exposure("board", "out_v1_draw"),
    ),
    "exposure of a model": (
        "G01",
        lambda: shop().exposure("board", "people"),
        lambda: released().exposure("board", "out_v1_draw"),
    ),
    "exposure behind an ephemeral model": (
        "G01",
        lambda: shop()
        .model("eph", "select * from {{ ref('people') }}", config={"materialized": "ephemeral"})
        .model("dim", "select * from {{ ref('eph') }}")
        .exposure("board", "dim"),
        lambda: released()
        .model(
            "eph", "select * from {{ ref('out_v1_draw') }}", config={"materialized": "ephemeral"}
        )
        .model("dim", "select * from {{ ref('eph') }}")
        .exposure("board", "dim"),
    ),
    "exposure behind a snapshot": (
        "G01",
        lambda: shop().snapshot("snap", "select * from {{ ref('people') }}").exposure("b", "snap"),
        lambda: (
            released().snapshot("snap", "select * from {{ ref('out_v1_draw') }}")
            .exposure("b", "snap")
        ),
    ),
    "exposure of a seed": (
        "G01",
        lambda: Project().seed("staff", meta=SENSITIVE).exposure("board", "staff"),
        lambda: Project().seed("staff", meta=SENSITIVE).seed("days").exposure("board", "days"),
    ),
    "exposure behind a metric": (
        "G01",
        lambda: shop()
        .semantic_model("people_s", "people")
        .metric("heads", "people_s")
        .exposure("board", "heads"),
        lambda: (
            released()
            .semantic_model("s", "out_v1_draw")
            .metric("heads", "s")
            .exposure("b", "heads")
        ),
    ),
    "exposure behind a python model": (
        "G01",
        lambda: shop()
        .model(
            "py", "def model(dbt, session):\n    return dbt.ref('people')", language="python",
            parents=["people"],
        )
        .exposure("board", "py"),
        lambda: released()
        .model(
            "py", "def model(dbt, session):\n    return dbt.ref('out_v1_draw')", language="python",
            parents=["out_v1_draw"],
        )
        .exposure("board", "py"),
    ),
    "public model": (
        "G02",
        lambda: shop().model("dim", "select * from {{ ref('people') }}", access="public"),
        lambda: released(access="public"),
    ),
    "public by config": (
        "G02",
        lambda: shop().model(
            "dim", "select * from {{ ref('people') }}", access="", config={"access": "public"}
        ),
        lambda: released(access="", config={**ONCE, "access": "public"}),
    ),
    "classified public": (
        "G02",
        lambda: shop().model("dim", "select * from {{ ref('people') }}", meta=PUBLIC),
        lambda: released(meta={"privacy": {"release": True, "classification": "public"}}),
    ),
    "a public version of a model": (
        "G02",
        lambda: shop()
        .model("dim", "select 1 as one", version=1, access="public")
        .model("dim", "select * from {{ ref('people') }}", version=2, access="public"),
        lambda: shop().model("dim", "select 1 as one", version=1, access="public"),
    ),
    "saved query": (
        "G04",
        lambda: shop()
        .semantic_model("s", "people")
        .metric("heads", "s")
        .saved_query("q", "heads", exports=[{"name": "e", "config": {"export_as": "table"}}]),
        lambda: released()
        .semantic_model("s", "out_v1_draw")
        .metric("heads", "s")
        .saved_query("q", "heads", exports=[{"name": "e", "config": {"export_as": "table"}}]),
    ),
    "semantic model": (
        "G04",
        lambda: shop().semantic_model("s", "people"),
        lambda: released().semantic_model("s", "out_v1_draw"),
    ),
    # Grants
    "grant to public": (
        "G03",
        lambda: shop().model(
            "dim", "select * from {{ ref('people') }}", config={"grants": {"select": ["PUBLIC"]}}
        ),
        lambda: shop().model(
            "dim", "select * from {{ ref('people') }}", config={"grants": {"select": ["analyst"]}}
        ),
    ),
    "grant to all users": (
        "G03",
        lambda: shop("bigquery").model(
            "dim",
            "select * from {{ ref('people') }}",
            config={"grants": {"roles/bigquery.dataViewer": "allAuthenticatedUsers"}},
        ),
        lambda: released(config={**ONCE, "grants": {"select": ["public"]}}),
    ),
    "grant of a seed": (
        "G03",
        lambda: Project().seed(
            "staff", meta=SENSITIVE, config={"grants": {"select": "public"}}
        ),
        lambda: Project()
        .seed("staff", meta=SENSITIVE)
        .seed("days", config={"grants": {"select": "public"}}),
    ),
    "grant in a hook": (
        "G14",
        lambda: hooked("grant select on {{ this }} to public"),
        lambda: hooked("grant select on {{ this }} to analyst"),
    ),
    "grant of a schema in a hook": (
        "G14",
        lambda: shop().operation("grant select on all tables in schema main to public"),
        lambda: shop().operation("grant usage on schema main to public"),
    ),
    "grant of future tables": (
        "G14",
        lambda: shop().operation(
            "grant select on future tables in schema {{ target.schema }} to role public",
            compiled="",
        ),
        lambda: shop().operation("grant select on all tables in schema elsewhere to public"),
    ),
    "grant of what only a run can tell": (
        "G14",
        lambda: shop().operation(
            "{% for n in graph.nodes.values() %}grant select on {{ n.relation_name }} to public;"
            "{% endfor %}",
            compiled=" ",
        ),
        lambda: shop().operation(
            "{% for s in schemas %}grant usage on schema {{ s }} to public;{% endfor %}",
            compiled=" ",
        ),
    ),
    "grant by default": (
        "G14",
        lambda: shop("postgres").operation(
            "alter default privileges in schema main grant select on tables to public"
        ),
        lambda: shop("postgres").operation(
            "alter default privileges in schema main grant select on tables to analyst"
        ),
    ),
    "grant of a schema to every account": (
        "G14",
        lambda: shop("databricks").operation("grant select on schema main to `account users`"),
        lambda: shop("databricks").operation("grant use schema on schema main to `account users`"),
    ),
    "grant to a share": (
        "G14",
        lambda: shop("snowflake").operation("grant select on table main.people to share partner"),
        lambda: shop("snowflake").operation("grant select on table main.people to role partner"),
    ),
    "grant of everything in a database": (
        "G14",
        lambda: shop("mysql").operation("grant select on main.* to '%'"),
        lambda: shop("mysql").operation("grant select on main.* to 'analyst'"),
    ),
    # Names
    "hard-coded": (
        "G08",
        lambda: shop().model("dim", "select * from main.people"),
        lambda: shop().model("dim", "select * from {{ ref('people') }}"),
    ),
    "hard-coded source": (
        "G08",
        lambda: shop().model("dim", "select * from raw.people"),
        lambda: shop().model("dim", "select * from {{ source('raw', 'people') }}"),
    ),
    "hard-coded in full": (
        "G08",
        lambda: shop().model("dim", 'select * from "dev"."main"."people"'),
        lambda: shop().model("dim", "with people as (select 1 as x) select * from people"),
    ),
    "hard-coded in another case": (
        "G08",
        lambda: shop().model("dim", "SELECT * FROM MAIN.PEOPLE"),
        lambda: shop().model("dim", "select 'main.people' as label"),
    ),
    "hard-coded without a schema": (
        "G08",
        lambda: shop().model("dim", "select * from people"),
        lambda: shop().model("dim", "select people.x from (select 1 as x) as people"),
    ),
    "hard-coded in a subquery": (
        "G08",
        lambda: shop().model("dim", "select 1 as a where exists (select 1 from people)"),
        lambda: shop().model("dim", "-- from people\nselect 1 as a /* join people */"),
    ),
    "hard-coded in a query of its own": (
        "G08",
        lambda: shop().model("dim", "with x as (select * from people) select * from x"),
        lambda: shop().model("dim", "with people as (select 1 as y), x as (select * from people)"
                                    " select * from x"),
    ),
    "hard-coded behind a query of the same name": (
        "G08",
        lambda: shop().model("dim", "with people as (select * from people) select * from people"),
        lambda: shop().model("dim", "with people as (select * from {{ ref('people') }})"
                                    " select * from people"),
    ),
    "hard-coded before a query of the same name": (
        "G08",
        lambda: shop().model(
            "dim", "with x as (select * from people), people as (select 1 as y) select * from x"
        ),
        lambda: shop().model(
            "dim", "with people as (select 1 as y), x as (select * from people) select * from x"
        ),
    ),
    "hard-coded outside the scope of a query": (
        "G08",
        lambda: shop().model(
            "dim", "select * from (with people as (select 1 as y) select * from people) as x"
                   " cross join people"
        ),
        lambda: shop().model(
            "dim", "select * from (with people as (select 1 as y) select * from people) as x"
        ),
    ),
    "hard-coded in a union": (
        "G08",
        lambda: shop().model("dim", "select 1 as a union all select id from people"),
        lambda: shop().model("dim", "select 1 as a union all select id from {{ ref('people') }}"),
    ),
    "hard-coded in a join": (
        "G08",
        lambda: shop().seed("days").model(
            "dim", "select * from {{ ref('days') }} as d left join main.people p on p.id = d.id"
        ),
        lambda: shop().seed("days").model("dim", "select * from {{ ref('days') }} as people"),
    ),
    "hard-coded behind a comma": (
        "G08",
        lambda: shop().seed("days").model("dim", "select * from {{ ref('days') }} d, people p"),
        lambda: shop().seed("days").model("dim", "select d.a, people from {{ ref('days') }} d"),
    ),
    "hard-coded in a lateral": (
        "G08",
        lambda: shop("postgres").seed("days").model(
            "dim", "select * from {{ ref('days') }} d, lateral (select * from people p) x"
        ),
        lambda: shop("postgres").seed("days").model(
            "dim", "select * from {{ ref('days') }} d, lateral (select 1 as people) x"
        ),
    ),
    "hard-coded where nobody can parse": (
        "G08",
        lambda: shop().model("dim", "select ?? frobnicate from main.people !! x"),
        lambda: shop().model("dim", "select ?? frobnicate from {{ ref('people') }} !! x"),
    ),
    "hard-coded in a text that is a query": (
        "G08",
        lambda: shop("postgres").model(
            "dim", "select * from dblink('dbname=dev', 'select * from main.people') as t(a int)"
        ),
        lambda: shop("postgres").model("dim", "select 'select * from main.people' as t"),
    ),
    "hard-coded through query_table": (
        "G08",
        lambda: shop().model("dim", "select * from query_table('people')"),
        lambda: shop().model("dim", "select lower('people') as x"),
    ),
    "hard-coded under an alias": (
        "G08",
        lambda: shop()
        .model("long_name", "select * from {{ ref('people') }}", alias="p", schema="mart")
        .model("dim", "select * from mart.p"),
        lambda: shop()
        .model("long_name", "select * from {{ ref('people') }}", alias="p", schema="mart")
        .model("dim", "select * from {{ ref('long_name') }}"),
    ),
    "hard-coded with blanks in its name": (
        "G08",
        lambda: shop()
        .model("dim", "select * from {{ ref('people') }}", alias="People Dim")
        .model("more", 'select * from main."People Dim"'),
        lambda: shop()
        .model("dim", "select * from {{ ref('people') }}", alias="People Dim")
        .model("more", "select * from {{ ref('dim') }}"),
    ),
    "hard-coded in a test": (
        "G08",
        lambda: shop().test("t", "select * from main.people where id is null"),
        lambda: shop().test("t", "select * from {{ ref('people') }} where id is null"),
    ),
    "hard-coded in a snapshot": (
        "G08",
        lambda: shop().snapshot("s", "select * from main.people"),
        lambda: shop().snapshot("s", "select * from {{ ref('people') }}"),
    ),
    "hard-coded in a python model": (
        "G08",
        lambda: shop().model(
            "py", "def model(dbt, session):\n    return session.sql('select * from main.people')",
            language="python",
        ),
        lambda: shop().model(
            "py", "def model(dbt, session):\n    return dbt.ref('people')",
            language="python", parents=["people"],
        ),
    ),
    "hard-coded name of a disabled model": (
        "G01",
        lambda: shop()
        .model("old", "select * from {{ ref('people') }}", refs=[{"name": "people"}])
        .disable("model.shop.old")
        .model("dim", "select * from main.old")
        .exposure("board", "dim"),
        lambda: shop()
        .model("old", "select * from {{ ref('people') }}")
        .disable("model.shop.old")
        .model("dim", "select 1 as one")
        .exposure("board", "dim"),
    ),
    "a table of failures that is read by name": (
        "G08",
        lambda: shop()
        .test("t", "select * from {{ ref('people') }}", config={"store_failures": True})
        .model("dim", "select * from main_dbt_test__audit.t"),
        lambda: shop()
        .test("t", "select * from {{ ref('people') }}", config={"store_failures": False})
        .model("dim", "select 1 as one"),
    ),
    "a longer name that begins as a declared one": (
        "G08",
        lambda: shop("snowflake")
        .seed("days")
        .model("days_people", "select * from {{ ref('people') }}")
        .model("dim", "select * from {{ ref('days') }}, DEV.main.days_people"),
        lambda: shop("snowflake")
        .seed("days")
        .model("days_people", "select * from {{ ref('people') }}")
        .model("dim", "select * from {{ ref('days') }}, {{ ref('days_people') }}"),
    ),
    "a template with more branches than one can count": (
        "G08",
        lambda: shop().model(
            "dim",
            "".join(f"{{% if var('v{n}') %}}-- {n}\n{{% endif %}}" for n in range(9))
            + "{% if target.name == 'x' %}select * from main.people{% else %}select 1 as one"
            "{% endif %}",
            compiled="select 1 as one",
        ),
        lambda: shop().model(
            "dim",
            "".join(f"{{% if var('v{n}') %}}-- {n}\n{{% endif %}}" for n in range(9))
            + "select 1 as people",
            compiled="select 1 as people",
        ),
    ),
    "a name under a declared parent of the same name": (
        "G08",
        lambda: shop().model("dim", "select * from {{ ref('people') }} join raw.people using (id)"),
        lambda: shop().model("dim", "select * from {{ ref('people') }} as people"),
    ),
    # Branches and templates
    "a branch that was not taken": (
        "G01",
        lambda: shop()
        .model(
            "dim", "{% if var('full', false) %}select * from {{ ref('people') }}{% else %}"
                   "select 1 as id{% endif %}",
            compiled="select 1 as id", depends_on={"nodes": [], "macros": []},
        )
        .exposure("board", "dim"),
        lambda: shop()
        .seed("days")
        .model(
            "dim", "{% if var('full', false) %}select * from {{ ref('days') }}{% else %}"
                   "select 1 as id{% endif %}",
            compiled="select 1 as id", depends_on={"nodes": [], "macros": []},
        )
        .exposure("board", "dim"),
    ),
    "a name in a branch that was not taken": (
        "G08",
        lambda: shop().model(
            "dim", "{% if target.name == 'prod' %}select * from main.people{% else %}"
                   "select 1 as id{% endif %}",
            compiled="select 1 as id",
        ),
        lambda: shop().model(
            "dim",
            "{% if target.name == 'prod' %}select 2 as id{% else %}select 1 as id{% endif %}",
            compiled="select 1 as id",
        ),
    ),
    "a name in the schema of the target": (
        "G08",
        lambda: shop().model(
            "dim", "select * from {{ target.schema }}.people", compiled="select * from main.people"
        ),
        lambda: shop().model(
            "dim", "select * from {{ target.schema }}.other", compiled="select * from main.other"
        ),
    ),
    "a name that a macro writes": (
        "G08",
        lambda: shop()
        .macro("everyone", "{% macro everyone() %}main.people{% endmacro %}")
        .model("dim", "select * from {{ everyone() }}", compiled="select * from main.people"),
        lambda: shop()
        .seed("days")
        .macro("day", "{% macro day() %}{{ ref('days') }}{% endmacro %}")
        .model("dim", "select * from {{ day() }}", compiled='select * from "dev"."main"."days"',
               parents=["days"]),
    ),
    "a query that a template runs": (
        "G08",
        lambda: shop().model(
            "dim", "{% set n = run_query('select name from main.people') %}select '{{ n }}' as n",
            compiled="select 'Ann' as n",
        ),
        lambda: shop().model(
            "dim", "{% set n = run_query('select 1 as n') %}select '{{ n }}' as n",
            compiled="select '1' as n",
        ),
    ),
    "a relation that a template asks the adapter for": (
        "G08",
        lambda: shop().model(
            "dim",
            "{% set p = adapter.get_relation(database='dev', schema='main', identifier='people') %}"
            "select * from {{ p }}",
            compiled='select * from "dev"."main"."people"',
        ),
        lambda: shop().model(
            "dim",
            "{% set p = adapter.get_relation(database='dev', schema='main', identifier='x') %}"
            "select 1 as one",
            compiled="select 1 as one",
        ),
    ),
    # The same table twice
    "a source declared on a model's table": (
        "G01",
        lambda: shop()
        .source("clean.people", schema="main")
        .model("dim", "select * from {{ source('clean', 'people') }}")
        .exposure("board", "dim"),
        lambda: released()
        .source("clean.out_v1_draw", schema="main")
        .model("dim", "select * from {{ source('clean', 'out_v1_draw') }}")
        .exposure("board", "dim"),
    ),
    "two sources on one table": (
        "G01",
        lambda: shop()
        .source("again.folk", schema="raw", identifier="people")
        .exposure("board", "again.folk"),
        lambda: shop()
        .source("again.folk", schema="raw", identifier="folk")
        .exposure("board", "again.folk"),
    ),
    # What dbt does not know
    "an unknown table": (
        "G09",
        lambda: shop().model("dim", "select * from legacy.folk").exposure("board", "dim"),
        lambda: shop().model("dim", "select * from legacy.folk"),
    ),
    "a file": (
        "G09",
        lambda: shop().model("dim", "select * from read_parquet('p.parquet')").exposure("b", "dim"),
        lambda: shop().model("dim", "select * from range(10)").exposure("b", "dim"),
    ),
    "a file by its name": (
        "G09",
        lambda: shop().model("dim", "select * from 'people.csv'").exposure("b", "dim"),
        lambda: shop()
        .source("raw.cities", relation_name="'cities.csv'")
        .model("dim", "select * from {{ source('raw', 'cities') }}")
        .exposure("b", "dim"),
    ),
    "a file of a source, and another": (
        "G09",
        lambda: shop()
        .source("raw.cities", relation_name="read_csv('cities.csv')")
        .model("dim", "select * from {{ source('raw', 'cities') }}, read_csv('people.csv')")
        .exposure("b", "dim"),
        lambda: shop()
        .source("raw.cities", relation_name="read_csv('cities.csv', header = true)")
        .model("dim", "select * from {{ source('raw', 'cities') }}")
        .exposure("b", "dim"),
    ),
    "the table of another database": (
        "G09",
        lambda: shop()
        .seed("days")
        .model("dim", "select * from other.main.days")
        .exposure("b", "dim"),
        lambda: shop()
        .seed("days")
        .model("dim", "select * from dev.main.days")
        .exposure("b", "dim"),
    ),
    "a quoted name in another case": (
        "G09",
        lambda: shop("postgres")
        .seed("days")
        .model("dim", 'select * from main."Days"')
        .exposure("b", "dim"),
        lambda: shop("postgres")
        .seed("days")
        .model("dim", "select * from MAIN.DAYS")
        .exposure("b", "dim"),
    ),
    "a stage": (
        "G09",
        lambda: shop("snowflake").model("dim", "select $1 from @people/x").exposure("b", "dim"),
        lambda: shop("snowflake")
        .model("dim", "select * from table(generator(rowcount => 10))").exposure("b", "dim"),
    ),
    "the catalog of the engine": (
        "G09",
        lambda: shop("postgres").model("dim", "select * from pg_stats").exposure("b", "dim"),
        lambda: shop("postgres")
        .model("dim", "select * from information_schema.tables").exposure("b", "dim"),
    ),
    "a model of macros that is not compiled": (
        "G10",
        lambda: shop()
        .model("dim", "select * from {{ whatever() }}", compiled="")
        .exposure("b", "dim"),
        lambda: shop().model("dim", "select 1 as one", compiled="").exposure("b", "dim"),
    ),
    "a source that is a query": (
        "G01",
        lambda: shop()
        .source("out.cities", relation_name="query('select zip from raw.people')")
        .model("dim", "select * from {{ source('out', 'cities') }}")
        .exposure("board", "dim"),
        lambda: shop()
        .source("out.cities", relation_name="query('select zip from raw.towns')")
        .model("dim", "select * from {{ source('out', 'cities') }}")
        .exposure("board", "dim"),
    ),
    "a source that is a query, by dbt v2": (
        "G08",
        lambda: shop().source(
            "out.cities", meta={"external_location": "query('select zip from raw.people')"}
        ),
        lambda: shop().source("out.cities", meta={"external_location": "people/{name}.csv"}),
    ),
    "an analysis that asks": (
        "G14",
        lambda: shop().analysis("look", "{{ run_query('select * from main.people') }}",
                                compiled="('Ann',)"),
        lambda: shop().analysis("look", "select * from {{ ref('people') }}"),
    ),
    "an operation that logs rows": (
        "G14",
        lambda: shop().operation("{{ log(run_query('select 1 from main.people'), true) }}"),
        lambda: shop().operation("{{ policy_engine.gate() }}"),
    ),
    "a unit test whose rows are a query": (
        "G08",
        lambda: shop().unit_test("u", "people", "select zip from raw.people"),
        lambda: shop().unit_test("u", "people", [{"zip": "12345"}]),
    ),
    # Tests
    "failures that are stored": (
        "G07",
        lambda: shop().test(
            "t", "select * from {{ ref('people') }}", config={"store_failures": True}
        ),
        lambda: released().test(
            "t", "select * from {{ ref('out_v1_draw') }}", config={"store_failures": True}
        ),
    ),
    "failures that are stored as a view": (
        "G07",
        lambda: shop().test(
            "t", "select * from {{ ref('people') }}", config={"store_failures_as": "view"}
        ),
        lambda: shop().test(
            "t", "select * from {{ ref('people') }}",
            config={"store_failures": False, "store_failures_as": "ephemeral"},
        ),
    ),
    # Hooks
    "a hook that copies": (
        "G14",
        lambda: hooked("copy {{ this }} to 's3://x/people.parquet'"),
        lambda: clean_hook("copy {{ this }} to 's3://x/people.parquet'"),
    ),
    "a hook that copies a query": (
        "G14",
        lambda: hooked("copy (select * from {{ this }}) to 'people.csv'", "pre-hook"),
        lambda: hooked("copy {{ this }} from 'people.csv'", "pre-hook"),
    ),
    "a hook that unloads": (
        "G14",
        lambda: shop("redshift").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": ["unload ('select * from {{ this }}') to 's3://x'"]},
        ),
        lambda: shop("redshift").model(
            "dim", "select * from {{ ref('people') }}", config={"post-hook": ["analyze {{ this }}"]}
        ),
    ),
    "a hook that unloads to a stage": (
        "G14",
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": ["copy into @out/people from {{ this }}"]},
        ),
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"pre-hook": ["copy into {{ this }} from @in/people"]},
        ),
    ),
    "a hook that exports": (
        "G14",
        lambda: shop("bigquery").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": ["export data options(uri='gs://x') as select * from {{ this }}"]},
        ),
        lambda: shop("bigquery").model("dim", "select * from {{ ref('people') }}"),
    ),
    "a hook that creates a table": (
        "G14",
        lambda: hooked("create table main.backup as select * from {{ this }}"),
        lambda: hooked("create index if not exists i on {{ this }} (id)"),
    ),
    "a hook that creates a view": (
        "G14",
        lambda: hooked("create or replace view {{ this.schema }}.v as select * from {{ this }}"),
        lambda: hooked("comment on table {{ this }} is 'people'"),
    ),
    "a hook that inserts": (
        "G14",
        lambda: hooked("insert into audit.log select * from {{ this }}"),
        lambda: hooked("insert into audit.log values ('dim', current_timestamp)"),
    ),
    "a hook that inserts into a clean model": (
        "G14",
        lambda: shop().model("clean", "select 1 as one").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": "insert into main.clean select id from {{ this }}"},
        ),
        lambda: hooked("delete from {{ this }} where age < 0"),
    ),
    "a hook that renames": (
        "G14",
        lambda: hooked("alter table {{ this }} rename to everybody"),
        lambda: hooked("alter table {{ this }} add primary key (id)"),
    ),
    "a hook that renames in a block": (
        "G14",
        lambda: hooked("do $$ begin alter table {{ this }} rename to everybody; end $$"),
        lambda: hooked("do $$ begin alter table {{ this }} add unique (id); end $$"),
    ),
    "a hook that moves a table": (
        "G14",
        lambda: hooked("alter table {{ this }} set schema open"),
        lambda: hooked("alter table {{ this }} rename column zip to postcode"),
    ),
    "a hook that calls a procedure": (
        "G14",
        lambda: hooked("call send('select * from main.people')"),
        lambda: hooked("call refresh('dim')"),
    ),
    "a hook that makes a task": (
        "G14",
        lambda: shop("snowflake").operation(
            "create task t schedule = '1 minute' as insert into open.x select * from main.people"
        ),
        lambda: shop("snowflake").operation("create tag if not exists main.people_tag"),
    ),
    "a hook that updates the release": (
        "G14",
        lambda: released(
            config={
                **ONCE,
                "post-hook": "update {{ this }} set n = (select max(id) from {{ ref('people') }})",
            }
        ),
        lambda: released(config={**ONCE, "post-hook": "update {{ this }} set n = 20 where n < 20"}),
    ),
    "a hook that merges into the release": (
        "G14",
        lambda: released().operation(
            "merge into main.out_v1_draw o using main.people p on o.zip = p.zip"
            " when not matched then insert (zip) values (p.zip)"
        ),
        lambda: released().operation(
            "merge into main.log l using main.out_v1_draw o on l.n = o.n when matched then delete"
        ),
    ),
    "a hook that swaps": (
        "G14",
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": "alter table {{ this }} swap with open.people"},
        ),
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": "alter table {{ this }} cluster by (id)"},
        ),
    ),
    "a hook that clones": (
        "G14",
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": "create or replace table open.people clone {{ this }}"},
        ),
        lambda: shop("snowflake").model(
            "dim", "select * from {{ ref('people') }}",
            config={"post-hook": "alter session set query_tag = 'people'"},
        ),
    ),
    "a hook that calls a macro": (
        "G14",
        lambda: hooked("{{ export(this) }}").macro(
            "export", "{% macro export(r) %}copy {{ r }} to 'x.csv'{% endmacro %}"
        ),
        lambda: hooked("{{ audit(this) }}").macro(
            "audit", "{% macro audit(r) %}insert into audit.log values ('{{ r }}'){% endmacro %}"
        ),
    ),
    "a hook that reads another model": (
        "G14",
        lambda: shop().model(
            "clean", "select 1 as one",
            config={"post-hook": "create table t as select * from {{ ref('people') }}"},
        ),
        lambda: released().model(
            "clean", "select 1 as one",
            config={"post-hook": "create table t as select * from {{ ref('out_v1_draw') }}"},
        ),
    ),
    "a hook of a hook": (
        "G14",
        lambda: hooked("begin; select 1; create table t as select * from {{ this }}; commit"),
        lambda: hooked("begin; select 'create table t as select * from x'; commit"),
    ),
    "a header that creates": (
        "G14",
        lambda: hooked("create temp table t as select * from main.people", "sql_header"),
        lambda: hooked("create temp function f() as (1)", "sql_header"),
    ),
    "an operation that copies": (
        "G14",
        lambda: shop().operation("copy main.people to 'x.csv'"),
        lambda: released().operation("copy main.out_v1_draw to 'x.csv'"),
    ),
    "an operation that copies everything": (
        "G14",
        lambda: shop().operation("export database 'everything'"),
        lambda: shop().operation("select 'export database'"),
    ),
    "an operation that loops": (
        "G14",
        lambda: shop().operation(
            "{% for r in results %}copy {{ r.node.relation_name }} to 'x.csv';{% endfor %}",
            compiled=" ",
        ),
        lambda: shop().operation(
            "{% for r in results %}insert into runs values ('{{ r.status }}');{% endfor %}",
            compiled=" ",
        ),
    ),
    "a macro for run-operation": (
        "G14",
        lambda: shop().macro(
            "dump",
            "{% macro dump() %}{% do run_query(\"copy main.people to 'x'\") %}{% endmacro %}",
        ),
        lambda: released().macro(
            "dump",
            "{% macro dump() %}{% do run_query(\"copy main.out_v1_draw to 'x'\") %}{% endmacro %}",
        ),
    ),
    "a macro that refs": (
        "G14",
        lambda: shop().macro(
            "dump",
            "{% macro dump() %}{% set q %}create table b as select * from {{ ref('people') }}"
            "{% endset %}{% do run_query(q) %}{% endmacro %}",
        ),
        lambda: shop().macro(
            "count", "{% macro count() %}{% set q %}select count(*) from {{ ref('people') }}"
                     "{% endset %}{% do run_query(q) %}{% endmacro %}"
        ),
    ),
    # Files
    "an external materialization": (
        "G06",
        lambda: shop().model(
            "dim", "select * from {{ ref('people') }}",
            config={"materialized": "external", "location": "people.parquet"},
        ),
        lambda: released().model(
            "dim", "select * from {{ ref('out_v1_draw') }}",
            config={"materialized": "external", "location": "out.parquet"},
        ),
    ),
    "a sink": (
        "G06",
        lambda: made("risingwave", {"materialized": "sink", "connector": "kafka"}),
        lambda: made("risingwave", {"materialized": "materialized_view"}),
    ),
    "an Iceberg table of an own volume": (
        "G06",
        lambda: made("snowflake", {"external_volume": "open"}),
        lambda: made("snowflake", {"table_format": "default"}),
    ),
    "a table of a catalog of catalogs.yml": (
        "G06",
        lambda: made("snowflake", {"materialized": "table", "catalog_name": "lake"}),
        lambda: made("snowflake", {"materialized": "table", "transient": True}),
    ),
    "an engine that writes elsewhere": (
        "G06",
        lambda: made("clickhouse", {"engine": "S3('https://b/x.csv', 'CSV')"}),
        lambda: made("clickhouse", {"engine": "ReplicatedMergeTree('/a', 'b')"}),
    ),
    "a property with a folder": (
        "G06",
        lambda: made("trino", {"materialized": "table", "properties": {"external_location": "'s3://open/x'"}}),
        lambda: made("trino", {"materialized": "table", "properties": {"format": "'ORC'"}}),
    ),
    "a materialization that exports": (
        "G14",
        lambda: shop()
        .macro("materialization_dump_default",
               "{% materialization dump, default %}{% call statement('main') %}"
               "copy ({{ sql }}) to '/tmp/x.csv'{% endcall %}{% endmaterialization %}")
        .model("dim", "select * from {{ ref('people') }}", config={"materialized": "dump"}),
        lambda: shop()
        .macro("materialization_mine_default",
               "{% materialization mine, default %}{% call statement('main') %}"
               "create table {{ this }} as {{ sql }}{% endcall %}{% endmaterialization %}")
        .model("dim", "select * from {{ ref('people') }}", config={"materialized": "mine"}),
    ),
    "a python model that writes": (
        "G14",
        lambda: shop().model(
            "py",
            "def model(dbt, session):\n    d = dbt.ref('people').df()\n    d.to_csv('x.csv')\n"
            "    return d",
            language="python", parents=["people"],
        ),
        lambda: released().model(
            "py",
            "def model(dbt, session):\n    d = dbt.ref('out_v1_draw').df()\n    d.to_csv('x.csv')\n"
            "    return d",
            language="python", parents=["out_v1_draw"],
        ),
    ),
    # Marks
    "a mark on a column": (
        "G01",
        lambda: Project()
        .model("dim", columns={"zip": {"name": "zip", "config": {"meta": SENSITIVE}}})
        .exposure("board", "dim"),
        lambda: Project()
        .seed("x", meta=SENSITIVE)
        .model("dim", columns={"zip": {"name": "zip", "config": {"meta": PUBLIC}}})
        .exposure("board", "dim"),
    ),
    "a mark on a source": (
        "G01",
        lambda: Project().source("raw.x", source_meta=SENSITIVE).exposure("board", "raw.x"),
        lambda: Project()
        .source("raw.x", source_meta=SENSITIVE, meta=PUBLIC)
        .source("raw.y", source_meta=SENSITIVE)
        .exposure("board", "raw.x"),
    ),
    "a mark in a config": (
        "G01",
        lambda: Project().model("dim", config={"meta": SENSITIVE}).exposure("board", "dim"),
        lambda: Project()
        .seed("x", meta=SENSITIVE)
        .model("dim", config={"meta": {"privacy": {"classification": "internal"}}})
        .exposure("board", "dim"),
    ),
    "an unknown word": (
        "G30",
        lambda: Project().source("raw.x", meta={"privacy": {"classification": "pii"}}),
        lambda: Project().source("raw.x", meta=SENSITIVE),
    ),
    "an unknown key": (
        "G30",
        lambda: Project().source("raw.x", meta={"privacy": {"clasification": "sensitive"}}),
        lambda: Project().source("raw.x", meta={**SENSITIVE, "owner": "me"}),
    ),
    "an unknown key of a column": (
        "G30",
        lambda: Project().source(
            "raw.x", columns={"a": {"meta": {"privacy": {"clasification": "sensitive"}}}}
        ),
        lambda: Project().source("raw.x", columns={"a": {"meta": SENSITIVE}}),
    ),
    "a wrong type": (
        "G30",
        lambda: Project().source("raw.x", meta={"privacy": "sensitive"}),
        lambda: Project().source("raw.x", meta=SENSITIVE),
    ),
    "a flag in quotes": (
        "G30",
        lambda: released(meta={"privacy": {"release": "true"}}),
        released,
    ),
    "a slip of the pen": (
        "G30",
        lambda: Project().source("raw.x", meta={"Privacy": {"classification": "sensitive"}}),
        lambda: Project().source("raw.x", meta={**SENSITIVE, "private": True}),
    ),
    "an unreadable mark counts as sensitive": (
        "G01",
        lambda: Project()
        .source("raw.x", meta={"privacy": {"classification": ["sensitive"]}})
        .exposure("board", "raw.x"),
        lambda: Project().source("raw.x", meta=SENSITIVE).seed("d").exposure("board", "d"),
    ),
    "a release that is marked sensitive": (
        "G02",
        lambda: released(
            access="public", meta={"privacy": {"release": True, "classification": "sensitive"}}
        ),
        lambda: released(access="public"),
    ),
    "what a release is drawn from": (
        "G01",
        lambda: Project()
        .source("raw.people")
        .model("people", "select id, zip from {{ source('raw', 'people') }}", columns=TYPED)
        .release()
        .exposure("board", "people"),
        lambda: Project()
        .source("raw.people")
        .model("people", "select id, zip from {{ source('raw', 'people') }}", columns=TYPED)
        .release()
        .exposure("board", "out_v1_draw"),
    ),
}  # fmt: skip


CLEAN: dict[str, tuple[str, str]] = {
    "numbers by recursion": (
        "sqlserver",
        "with nums as (select 1 as n union all select n + 1 from nums where n < 9)"
        " select * from nums",
    ),
    "numbers by recursion, as the standard has it": (
        "postgres",
        "with recursive nums as (select 1 as n union all select n + 1 from nums where n < 9)"
        " select * from nums",
    ),
    "values and lists": (
        "postgres",
        "select * from (values (1), (2)) v(a) cross join unnest(array[1, 2]) u"
        " cross join lateral jsonb_each('{}') j cross join generate_series(1, 3) g",
    ),
    "lists in a row": ("bigquery", "select * from {{ ref('days') }} d, unnest(d.x) as u, d.items"),
    "a lateral view": ("spark", "select * from {{ ref('days') }} lateral view explode(x) t as a"),
    "table functions": (
        "snowflake",
        "select f.value from {{ ref('days') }} o, lateral flatten(input => o.x) f,"
        " table(generator(rowcount => 3)) g, table(split_to_table('a b', ' ')) s",
    ),
    "itself": ("duckdb", "select * from {{ ref('days') }} where d > (select 1 from {{ this }})"),
    "a spine of dates": (
        "duckdb",
        "with rawdata as (with p as (select 0 as n union all select 1), unioned as ("
        "select p0.n + p1.n as g from p as p0 cross join p as p1) select * from unioned"
        " where g <= 3 order by g), all_periods as ("
        "select (row_number() over (order by 1) - 1) as d from rawdata) select * from all_periods",
    ),
    "words that look like clauses": (
        "duckdb",
        "select extract(year from d) as y, trim(both from t) as u, a is distinct from b as c,"
        " substring(t from 1 for 2) as s from {{ ref('days') }}",
    ),
    "a wildcard that is declared": ("bigquery", "select * from {{ source('ev', 'events') }}"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_only_looks_like_a_table_stops_nothing(name: str) -> None:
    adapter, sql = CLEAN[name]
    project = shop(adapter).seed("days").source("ev.events", schema="ev", identifier="events_*")
    verdict = project.model("dim", sql).exposure("board", "dim").verdict()
    assert [str(found) for found in verdict.findings] == []


HIDDEN: dict[str, tuple[str, str]] = {
    "a wildcard": ("bigquery", "select * from `dev.main.peop*`"),
    "a name in one pair of ticks": ("bigquery", "select * from `dev.main.people`"),
    "a name in capitals": ("snowflake", 'select * from "DEV"."MAIN"."PEOPLE"'),
    "a name in quotes that another setting would fold": (
        "snowflake",
        'select * from "dev"."main"."people"',
    ),
    "a table as it was": ("snowflake", "select * from main.people at (offset => -60)"),
    "what Iceberg keeps of a table": ("trino", 'select * from main."people$snapshots"'),
    "brackets": ("sqlserver", "select * from [dev].[main].[people]"),
    "a database and no schema": ("sqlserver", "select * from dev..people"),
    "a comment that MySQL runs": ("mysql", "select 1 /*! union select id from main.people */"),
    "the same table of another database": ("postgres", "select * from prod.main.people"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_name_is_seen_in_every_disguise(name: str) -> None:
    adapter, sql = HIDDEN[name]
    assert {"G01", "G08"} <= set(shop(adapter).model("dim", sql).exposure("b", "dim").codes())


@pytest.mark.parametrize(
    "branch",
    [
        "select * from people p",
        "select * from {{ target.database }}.{{ target.schema }}.people",
        "{{ 'select * from people' }}",
        "{{ 'select * from ' ~ 'main.people' }}",
        "{% set q %}select * from main.people{% endset %}{{ q }}",
        "{{ anything(table='main.people') }}",
    ],
)
def test_a_name_is_seen_wherever_a_template_has_it(branch: str) -> None:
    raw = f"{{% if var('x') %}}{branch}{{% else %}}select 1 as one{{% endif %}}"
    project = shop().model("dim", raw, compiled="select 1 as one", access="public")
    assert project.codes() == ["G02", "G08"]


@pytest.mark.parametrize(
    "raw",
    [
        "{% if var('x') %}select 1 as people{% else %}select 1 as one{% endif %}",
        "with people as (select 1 as y) {% if var('x') %}select * from people{% endif %}",
        "{% for x in ['people', 'id'] %}select 1 as {{ x }}{% endfor %}",
        "{# select * from main.people #}{{ log('people') }}select 1 as one",
    ],
)
def test_a_word_of_a_template_that_is_no_name_stops_nothing(raw: str) -> None:
    project = shop().model("dim", raw, compiled="select 1 as one", access="public")
    assert project.codes() == []


MACROS = {
    "hidden": "select * from raw.people",
    "reffed": "{{ ref('people') }}",
    "outer": "{{ hidden() }}",
    "snowflake__shaped": "select * from raw.people",
    "shaped": "{{ return(adapter.dispatch('shaped')()) }}",
    "branching": "{% if target.name == 'prod' %}select * from raw.people{% endif %}",
    "picked(t)": "select * from {{ ref(t) }}",
    "made_up": "{% set a = 'peo' %}{{ return('raw.' ~ a ~ 'ple') }}",
    "rounded(c)": "round({{ c }}, 2)",
}


def elsewhere(raw: str, read: str = "") -> Project:
    """A public model that reads nothing sensitive where it was compiled."""
    project = shop().seed("days")
    for name, text in MACROS.items():
        head = name if "(" in name else f"{name}()"
        project.macro(name.partition("(")[0], f"{{% macro {head} %}}{text}{{% endmacro %}}")
    compiled = f"select 1 as one{read}"
    return project.model("dim", compiled, compiled=compiled, raw_code=raw, access="public")


def in_prod(taken: str) -> str:
    return f"{{% if target.name == 'prod' %}}{taken}{{% else %}}select 1 as one{{% endif %}}"


@pytest.mark.parametrize(
    "raw",
    [
        "{% if env_var('X', '') == 'y' %}{{ hidden() }}{% endif %}",
        in_prod("{{ outer() }}"),
        in_prod("select * from {{ reffed() }}"),
        "{{ shaped() }}",
        "select 1 as one {{ branching() }}",
        "select * from {% if target.name == 'dev' %}days{% else %}people{% endif %}",
        "select * from main.{% if target.name == 'dev' %}days{% else %}people{% endif %}",
    ],
)
def test_a_macro_is_read_in_every_branch(raw: str) -> None:
    assert "G02" in elsewhere(raw).codes()


@pytest.mark.parametrize(
    "raw",
    [
        in_prod("select * from {{ 'raw' ~ '.peo' ~ 'ple' }}"),
        in_prod("select * from {{ 'raw.peo' + 'ple' }}"),
        in_prod("select * from {{ ['raw', 'people'] | join('.') }}"),
        in_prod("select * from {{ 'raw.%s' % 'people' }}"),
        in_prod("select * from {{ '.'.join(['raw', 'people']) }}"),
        in_prod("select * from {{ 'elpoep.war'[::-1] }}"),
        in_prod("select * from {{ 'raw.p\\x65ople' }}"),
        in_prod("select * from raw.peo{{ 'ple' }}"),
        in_prod("select * from raw.peo{% if 1 %}ple{% endif %}"),
        in_prod("select * from {{ source('raw', 'peo' ~ 'ple') }}"),
        in_prod("{% set t = 'people' %}select * from {{ t }}"),
        in_prod("{% set t = 'people' %}select * from {{ ref(t) }}"),
        in_prod("{% set r = ref %}select * from {{ r('people') }}"),
        in_prod("{{ picked('people') }}"),
        "{% set t = 'raw.peo' ~ 'ple' %}" + in_prod("select * from {{ t }}"),
        "{% set p = target.name == 'x' %}{% if p %}select * from {{ made_up() }}{% endif %}",
        "select * from main.{{ {'dev': 'days', 'prod': 'people'}[target.name] }}",
        "select * from {{ 'main.days' if flags.FULL_REFRESH else 'raw.peo' ~ 'ple' }}",
        "select * from {{ env_var('TABLE', 'main.days') }}",
        "{% if run_started_at.hour > 3 %}select * from {{ made_up() }}{% endif %}",
        "{% if var('x', false) %}select * from {{ 'raw.peo' ~ 'ple' }}{% endif %}",
        "{% set t = 'raw.peo' ~ 'ple' %}{% if is_incremental() %}select * from {{ t }}{% endif %}",
        "{% if is_incremental() %}select * from {{ made_up() }}{% endif %}",
        "{% if is_incremental() %}{% if a %}b{% endif %}from {{ 'raw.peo' ~ 'ple' }}{% endif %}",
    ],
)
def test_a_name_that_is_put_together_for_another_run_is_reviewed(raw: str) -> None:
    [found] = elsewhere(raw).verdict().findings
    said = "the template dim is not reviewed and may put another name together in another run"
    assert (found.code, found.message) == ("G14", said)
    assert elsewhere(raw).reviewed().findings == ()


@pytest.mark.parametrize(
    "raw",
    [
        "select * from {{ ref('days') }} {% if target.name == 'dev' %}limit 100{% endif %}",
        "select * from {{ ref('days') }} {% if is_incremental() %}where day > (select max(day)"
        " from {{ this }}){% endif %}",
        in_prod("select {{ dbt.date_trunc('day', 'd') }} from {{ ref('days') }}"),
        in_prod("select {{ dbt_utils.generate_surrogate_key(['a', 'b']) }} from {{ ref('days') }}"),
        in_prod("select {{ rounded('x') }} from {{ ref('days') }}"),
        "select {% for c in ['a', 'b'] %}{{ c }} as {{ c }}_n{% if not loop.last %},{% endif %}"
        "{% endfor %} from {{ ref('days') }} {% if target.name == 'dev' %}limit 1{% endif %}",
        "{% set src = ref('days') %}select * from {{ src }} {% if env_var('X', '') == 'y' %}"
        "where a > 1{% endif %}",
        "select {{ 'a' ~ '_b' }} from {{ ref('days') }} {% if is_incremental() %}where c{% endif %}"
        " group by 1",
        "{{ dbt_utils.date_spine(datepart='day', start_date=\"'\" + var('start') + \"'\") }}",
        "select * from {{ ref('days') }} d {% if var('j', false) %}left join {{ ref('days') }} e"
        " using (a){% else %}left join {{ ref('days') }} f using (a){% endif %} where d.a > 1",
    ],
)
def test_a_branch_that_hides_no_name_stops_nothing(raw: str) -> None:
    assert elsewhere(raw, ' from "dev"."main"."days"').codes() == []


PRIVATE = "dbt:\n  private: {schemas: [Staging, dev.vault], roles: [Engineers]}\n"
GRANTED = {"grants": {"select": ["engineers"]}}
OUTSIDE: dict[str, tuple[Make, Make]] = {
    "a model that no exposure names": (
        lambda: staged().model("mart", "select * from {{ ref('people') }}"),
        lambda: staged().model("mart", "select * from {{ ref('people') }}", schema="vault"),
    ),
    "a seed": (
        lambda: staged().seed("staff", meta=SENSITIVE),
        lambda: staged().seed("staff", meta=SENSITIVE, schema="STAGING"),
    ),
    "a snapshot": (
        lambda: staged().snapshot("s", "select * from {{ ref('people') }}"),
        lambda: released(staged()).snapshot("s", "select * from {{ ref('out_v1_draw') }}"),
    ),
    "a grant to somebody": (
        lambda: staged().model(
            "dim", "select * from {{ ref('people') }}", schema="vault",
            config={"grants": {"select": ["engineers", "analysts"]}},
        ),
        lambda: staged().model(
            "dim", "select * from {{ ref('people') }}", schema="vault", config=GRANTED
        ),
    ),
    "a model behind an ephemeral one": (
        lambda: ephemeral().model("mart", "select * from {{ ref('eph') }}"),
        lambda: ephemeral(),  # noqa: PLW0108 - it is defined below
    ),
}  # fmt: skip


def staged() -> Project:
    """A sensitive source, and a staging view of it in a private schema."""
    project = Project().source("raw.people", meta=SENSITIVE)
    sql = "select id, age, zip from {{ source('raw', 'people') }}"
    return project.model("people", sql, schema="staging", columns=TYPED)


def ephemeral() -> Project:
    """A model that leaves no relation."""
    return staged().model(
        "eph", "select * from {{ ref('people') }}", config={"materialized": "ephemeral"}
    )


@pytest.mark.parametrize("name", OUTSIDE)
def test_sensitive_relations_stand_only_where_the_project_says(name: str, tmp_path) -> None:
    leak, clean = OUTSIDE[name]
    for number, (made, codes) in enumerate([(leak(), ["G15"]), (clean(), [])]):
        folder = tmp_path / str(number)
        made.write(folder)
        assert made.codes(folder) == []
        (folder / "policy-engine.yaml").write_text(PRIVATE)
        assert made.codes(folder) == codes


def test_what_stands_outside_rests_on_what_is_known(tmp_path) -> None:
    project = staged().model("mart", "select * from legacy.folk")
    project.write(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text(PRIVATE)
    assert project.codes(tmp_path) == ["G09"]


@pytest.mark.parametrize("name", CASES)
def test_a_planted_leak_is_found(name: str) -> None:
    code, leak, _ = CASES[name]
    assert code in leak().codes()


@pytest.mark.parametrize("name", CASES)
def test_the_same_project_without_it_is_clean(name: str) -> None:
    verdict = CASES[name][2]().reviewed()
    assert [str(found) for found in verdict.findings] == []
    assert not verdict.checked_nothing
