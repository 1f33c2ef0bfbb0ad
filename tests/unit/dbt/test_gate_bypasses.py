"""Ways past the gate that were found by attacking it, and beside each what must stay allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dbt_manifests import ONCE, PUBLIC, RELEASE, Project, once, shop

Make = Callable[[], Project]
DBT_MACROS = (
    "create_table_as", "default__create_table_as", "create_view_as", "get_create_table_as_sql",
    "current_timestamp", "default__current_timestamp", "generate_schema_name", "apply_grants",
    "materialization_table_default", "get_where_subquery", "date_spine", "run_query", "statement",
)  # fmt: skip


def built() -> Project:
    """A shop with some of dbt's own macros."""
    project = shop()
    for name in DBT_MACROS:
        project.macro(name, f"{{% macro {name}() %}}select{{% endmacro %}}", "dbt")
    return project.macro("duckdb__create_table_as", "{% macro a() %}{% endmacro %}", "dbt_duckdb")


def replaced(name: str, body: str, package: str = "shop") -> Project:
    """A shop with a macro of a package."""
    return built().macro(name, f"{{% macro {name}(a, b, c) %}}{body}{{% endmacro %}}", package)


def released(project: Project | None = None, **more: object) -> Project:
    """A shop with a certified release."""
    return (project or shop()).release(**more)


def open_model(sql: str = "select 1 as one", **more: object) -> Project:
    """A public model of nothing sensitive."""
    return shop().model("pub", sql, access="public", **more)


def hook(sql: str, setting: str = "pre-hook") -> Project:
    """A public model with a hook."""
    return open_model(config={"materialized": "table", setting: [{"sql": sql}]})


def template(before: str, compiled: str = "select 1 as one", **more: object) -> Project:
    """A model whose template does something before its text."""
    return shop().model("dim", before + "select 1 as one", compiled=compiled, **more)


DUMP = "{% macro dump(r) %}{% do run_query('copy ' ~ r ~ ' to x') %}{% endmacro %}"
COPY = "copy (select * from main.people) to 'x.csv'"
CASES: dict[str, tuple[str, Make, Make]] = {
    # Macros in the place of dbt's own
    "an adapter's macro of the project": (
        "G11",
        lambda: replaced("duckdb__create_table_as", "create table {{ b }} as {{ c }}"),
        lambda: replaced("duckdb__star", "create table {{ b }} as {{ c }}"),
    ),
    "an adapter's macro of a package": (
        "G14",
        lambda: replaced("duckdb__create_view_as", "create view {{ b }} as {{ c }}", "pack"),
        lambda: replaced("duckdb__mine_as", "create view {{ b }} as {{ c }}", "pack"),
    ),
    "dbt's macro itself": (
        "G11",
        lambda: replaced("get_create_table_as_sql", "{{ return(other(c)) }}"),
        lambda: replaced("generate_schema_name", "{{ a if a else target.schema }}"),
    ),
    "a materialization of the same name": (
        "G14",
        lambda: built().macro(
            "materialization_table_duckdb",
            "{% materialization table, adapter='duckdb' %}{% endmaterialization %}", "pack",
        ),
        lambda: built().macro(
            "materialization_mine_duckdb",
            "{% materialization mine, adapter='duckdb' %}{% endmaterialization %}", "pack",
        ),
    ),
    "an expression with a query in it": (
        "G11",
        lambda: replaced("current_timestamp", "(select max(id) from main.x)"),
        lambda: replaced("current_timestamp", "now() at time zone 'utc'"),
    ),
    "an expression that somebody else writes": (
        "G11",
        lambda: replaced("current_timestamp", "{{ var('now') }}"),
        lambda: replaced("default__current_timestamp", "{{ return('now()') }}"),
    ),
    "a package with the name of another adapter": (
        "G14",
        lambda: replaced("create_table_as", "{{ evil(c) }}", "dbt_snowflake"),
        lambda: replaced("create_table_as", "{{ evil(c) }}", "dbt_duckdb"),
    ),
    "a materialization of another name": (
        "G14",
        lambda: mine("create table open.copy as {{ sql }}"),
        lambda: mine("{% set t = make_temp_relation(this) %}create table {{ t }} as {{ sql }}"),
    ),
    "a materialization that builds elsewhere": (
        "G14",
        lambda: mine("{{ create_view_as(api.Relation.create(identifier='v'), sql) }}"),
        lambda: mine("{{ get_create_table_as_sql(false, this.incorporate(type='table'), sql) }}"),
    ),
    "a ref of the project's own": (
        "G11",
        lambda: own_ref("{% if target.name == 'prod' %}{{ return(builtins.ref('people')) }}"
                        "{% endif %}{{ return(builtins.ref(name)) }}"),
        lambda: own_ref("{{ return(builtins.ref(name)) }}"),
    ),
    # What a template runs
    "a template that copies": (
        "G14",
        lambda: template(f'{{% do run_query("{COPY}") %}}'),
        lambda: template("{% do run_query(\"select count(*) from {{ ref('people') }}\") %}"),
    ),
    "a template that copies what it refs": (
        "G14",
        lambda: template(
            "{% do run_query(\"copy (select * from \" ~ ref('people') ~ \") to 'x.csv'\") %}"
        ),
        lambda: template("{% do run_query(\"copy (select 1) to 'x.csv'\") %}"),
    ),
    "a template with a statement": (
        "G14",
        lambda: template(f"{{% call statement('x') %}}{COPY}{{% endcall %}}"),
        lambda: template("{% call statement('x') %}select 1{% endcall %}"),
    ),
    "a template that asks the adapter": (
        "G14",
        lambda: template(f'{{% do adapter.execute("{COPY}") %}}'),
        lambda: template("{% if execute %}{% endif %}"),
    ),
    "a template under another name": (
        "G14",
        lambda: template(f"{{% set run = context['run_query'] %}}{{% do run(\"{COPY}\") %}}"),
        lambda: template("{% set x = var('x', 'a text of words') %}"),
    ),
    "a macro under another name": (
        "G14",
        lambda: template("{% set f = dump %}{{ f(ref('people')) }}").macro("dump", DUMP),
        lambda: template("{% set f = 'dump' %}{{ f }}").macro("dump", DUMP),
    ),
    "a package under another name": (
        "G14",
        lambda: template("{% set p = shop %}{{ p.dump(ref('people')) }}").macro("dump", DUMP),
        lambda: template("{% set p = shop %}{{ p.undump(ref('people')) }}").macro("dump", DUMP),
    ),
    "a macro that is given": (
        "G14",
        lambda: template("{{ apply(dump, ref('people')) }}").macro("dump", DUMP).macro(
            "apply", "{% macro apply(f, x) %}{{ f(x) }}{% endmacro %}"
        ),
        lambda: template("{{ apply(1, ref('people')) }}").macro("dump", DUMP).macro(
            "apply", "{% macro apply(f, x) %}{{ x }}{% endmacro %}"
        ),
    ),
    "a template whose query nobody can read": (
        "G14",
        lambda: template("{% do run_query(var('x')) %}"),
        lambda: template("{% do run_query('select ' ~ var('x')) %}"),
    ),
    "a template that calls a macro that copies": (
        "G14",
        lambda: template("{{ dump(ref('people')) }}").macro(
            "dump", DUMP
        ),
        lambda: template("{{ dump('other') }}").macro(
            "dump", DUMP
        ),
    ),
    "a template that renames by the adapter": (
        "G14",
        lambda: template("{% do adapter.rename_relation(ref('people'), this) %}"),
        lambda: template("{% do adapter.drop_relation(this) %}"),
    ),
    "a singular test that copies": (
        "G14",
        lambda: shop().test(
            "t", f'{{% do run_query("{COPY}") %}}select 1 as x', compiled="select 1 as x"
        ),
        lambda: shop().test(
            "t", "{% do run_query('select 1') %}select 1 as x", compiled="select 1 as x"
        ),
    ),
    "a generic test that copies what it tests": (
        "G14",
        lambda: generic_test("copy (select * from \" ~ model ~ \") to 'x'"),
        lambda: generic_test("select * from \" ~ model ~ \""),
    ),
    # Hooks that read
    "a variable of the session": (
        "G14",
        lambda: hook("set variable x = (select list(id) from main.people)"),
        lambda: hook("set variable x = (select 1)"),
    ),
    "a deletion by what is sensitive": (
        "G14",
        lambda: hook("delete from {{ this }} where one not in (select id from main.people)"),
        lambda: hook("delete from {{ this }} where one not in (select 1)"),
    ),
    "an insertion of what was asked": (
        "G14",
        lambda: hook(
            "{% set v = run_query('select max(id) from main.people').columns[0][0] %}"
            "insert into {{ this }} values ({{ v }})"
        ),
        lambda: hook(
            "{% set v = run_query('select 1').columns[0][0] %}"
            "insert into {{ this }} values ({{ v }})"
        ),
    ),
    "a variable of MySQL": (
        "G14",
        lambda: hook("select @x := max(id) from main.people"),
        lambda: hook("select max(id) from main.people"),
    ),
    "a setting by a function": (
        "G14",
        lambda: hook("select set_config('a.b', (select max(id)::text from main.people), false)"),
        lambda: hook("select set_config('a.b', 'c', false)"),
    ),
    "a view with another text": (
        "G14",
        lambda: hook("alter view main.pub as select * from main.people"),
        lambda: hook("alter view main.pub owner to analyst"),
    ),
    "a schema with a view in it": (
        "G14",
        lambda: hook("create schema open create view v as select * from main.people"),
        lambda: hook("create schema open"),
    ),
    # Names that a template gives
    "the relation of the model": (
        "G14",
        lambda: sensitive_hook("create view v as select * from {{ model.relation_name }}"),
        lambda: sensitive_hook("comment on table {{ model.relation_name }} is 'x'"),
    ),
    "the relation of a variable": (
        "G14",
        lambda: hook("create view v as select * from {{ var('x') }}"),
        lambda: hook("insert into audit.log values ('{{ var('x') }}', {{ run_started_at }})"),
    ),
    "the query of a variable": (
        "G14",
        lambda: hook("create view v as {{ var('x') }}"),
        lambda: hook("create function f(a {{ dbt.type_string() }}) as (cast(a as {{ t }}))"),
    ),
    "the statement of a variable": (
        "G14",
        lambda: hook("{{ var('x') }}"),
        lambda: hook("{{ log('x') }}"),
    ),
    "the text of the model": (
        "G14",
        lambda: sensitive_hook("create view v as {{ model.compiled_code }}"),
        lambda: sensitive_hook("comment on table {{ this }} is '{{ model.name }}'"),
    ),
    "a name that is joined": (
        "G14",
        lambda: template("{% set n = run_query('select 1 from ' ~ ['peo', 'ple'] | join) %}"),
        lambda: template("{% set n = run_query('select 1 from ' ~ ['f', 'g'] | join) %}"),
    ),
    "a name by replacement": (
        "G14",
        lambda: template("{% set n = run_query('select 1 from ' ~ 'pXople'.replace('X','e')) %}"),
        lambda: template("{% set n = run_query('select 1 from ' ~ 'pXople'.replace('X','-')) %}"),
    ),
    "a name that nobody can read": (
        "G14",
        lambda: template(
            "{% set n = run_query('select 1 from ' ~ 'elpoep' | whatever) %}", access="public"
        ),
        lambda: template("{% set n = run_query('select 1 from ' ~ 'elpoep' | whatever) %}"),
    ),
    # Releases
    "a release that is dropped": (
        "G14",
        lambda: released().operation("drop table if exists {{ ref('out_v1_draw') }}"),
        lambda: released().operation("drop table if exists main.tmp"),
    ),
    "a release that is dropped by the adapter": (
        "G14",
        lambda: released().operation(
            "{% do adapter.drop_relation(ref('out_v1_draw')) %}", compiled=" "
        ),
        lambda: released().operation("{% do adapter.drop_relation(ref('people')) %}", compiled=" "),
    ),
    "a release that is dropped with its schema": (
        "G14",
        lambda: released().operation("drop schema main cascade"),
        lambda: released().operation("drop schema tmp cascade"),
    ),
    "a release that is renamed": (
        "G14",
        lambda: released(config={**ONCE, "post-hook": "alter table {{ this }} rename to old"}),
        lambda: released(config={**ONCE, "post-hook": "alter table {{ this }} cluster by (n)"}),
    ),
    "a release that is emptied": (
        "G14",
        lambda: released().operation("truncate table main.out_v1_draw"),
        lambda: released().operation("truncate main.log"),
    ),
    "what only a run can tell is dropped": (
        "G14",
        lambda: released().operation("drop table {{ var('old') }}", compiled=" "),
        lambda: shop().operation("drop table {{ var('old') }}", compiled=" "),
    ),
    "a setting of a release": (
        "G20",
        lambda: released(config={**ONCE, "unique_key": "(select 1 from people)"}),
        lambda: released(config={**ONCE, "unique_key": "a || b"}),
    ),
    # Grants
    "a grantee with a comma": (
        "G03",
        lambda: granted("analyst, public"),
        lambda: granted("analyst, reader"),
    ),
    "a grantee with a comment": (
        "G03",
        lambda: granted("public -- analyst"),
        lambda: granted("analyst"),
    ),
    "a grantee with a statement": (
        "G03",
        lambda: granted("analyst; grant select on main.people to x"),
        lambda: granted("user:a.b@example.org"),
    ),
    "a privilege with a statement": (
        "G03",
        lambda: granted("a", "select on main.people to public; --"),
        lambda: granted("a", "roles/bigquery.dataViewer"),
    ),
    # Settings that hold a query
    "the timestamp of a snapshot": (
        "G02",
        lambda: setting("snapshot", updated_at="(select max(id) from main.people)"),
        lambda: setting("snapshot", updated_at="updated_at"),
    ),
    "the columns of a snapshot": (
        "G08",
        lambda: setting("snapshot", check_cols=["a", "(select 1 from people where id = a)"]),
        lambda: setting("snapshot", check_cols=["a", "people"]),
    ),
    "the key of a snapshot": (
        "G08",
        lambda: setting("snapshot", unique_key="(select max(id) from main.people)"),
        lambda: setting("snapshot", unique_key="a || '-' || b"),
    ),
    "the failures of a test": (
        "G08",
        lambda: setting("test", fail_calc="(select max(id) from main.people)"),
        lambda: setting("test", fail_calc="count(*)"),
    ),
    "a file in a setting": (
        "G09",
        lambda: setting("snapshot", updated_at="(select 1 from read_csv('x.csv'))"),
        lambda: setting("snapshot", updated_at="cast(a as date)"),
    ),
    # What is switched off here
    "a public model that is off here": (
        "G13",
        lambda: off("select * from {{ ref('people') }}"),
        lambda: off("select 1 as one"),
    ),
    "a public model that is off and reads by name": (
        "G13",
        lambda: off("select * from main.people"),
        lambda: off("{{ config(enabled=false) }} select * from main.people"),
    ),
    "a public model that is off and cannot be read": (
        "G13",
        lambda: off("select * from {{ whatever() }}"),
        lambda: off("select * from {{ ref('people') }}", access="protected"),
    ),
    "a release that is off here": (
        "G13",
        lambda: off_release(once(RELEASE).replace("20", "1")),
        lambda: off_release(once(RELEASE)),
    ),
    "a public model of one that is off": (
        "G02",
        lambda: shop()
        .model("mid", "select * from {{ ref('people') }}")
        .model("pub", "{% if var('x') %}select * from {{ ref('mid') }}{% else %}select 1 as one"
                      "{% endif %}", compiled="select 1 as one", access="public", parents=[])
        .without_parents("pub")
        .disable("model.shop.mid"),
        lambda: shop()
        .model("mid", "select 2 as one")
        .model("pub", "{% if var('x') %}select * from {{ ref('mid') }}{% else %}select 1 as one"
                      "{% endif %}", compiled="select 1 as one", access="public")
        .without_parents("pub")
        .disable("model.shop.mid"),
    ),
}  # fmt: skip


def generic_test(query: str) -> Project:
    """A generic test of a sensitive model, whose macro runs a query."""
    project = shop().macro(
        "test_mine",
        f'{{% test mine(model) %}}{{% do run_query("{query}") %}}select 1 as x{{% endtest %}}',
    )
    metadata = {"name": "mine", "kwargs": {"model": "{{ get_where_subquery(ref('people')) }}"}}
    return project.test(
        "t", "{{ test_mine(**_dbt_generic_test_kwargs) }}", compiled="select 1 as x",
        test_metadata=metadata, parents=["people"],
    )  # fmt: skip


def sensitive_hook(sql: str) -> Project:
    """A sensitive model with a hook."""
    config = {"materialized": "table", "post-hook": [{"sql": sql}]}
    return shop().model("dim", "select * from {{ ref('people') }}", config=config)


def mine(body: str) -> Project:
    """A sensitive model with a materialization of its own."""
    macro = (
        "{% materialization mine, default %}{% call statement('main') %}" + body + "{% endcall %}"
        "{{ return({'relations': [this]}) }}{% endmaterialization %}"
    )
    project = shop().macro("materialization_mine_default", macro)
    return project.model(
        "dim", "select * from {{ ref('people') }}", config={"materialized": "mine"}
    )


def own_ref(body: str) -> Project:
    """A public model of a clean seed, and a ref that the project defines."""
    project = shop().macro("ref", f"{{% macro ref(name) %}}{body}{{% endmacro %}}").seed("days")
    return project.model("pub", "select * from {{ ref('days') }}", access="public")


def granted(grantee: str, privilege: str = "select") -> Project:
    """A sensitive model that is granted to somebody."""
    config = {"grants": {privilege: [grantee]}}
    return shop("postgres").model("dim", "select * from {{ ref('people') }}", config=config)


def setting(kind: str, **config: object) -> Project:
    """A snapshot or a test of nothing sensitive with a setting."""
    project = shop().seed("days")
    if kind == "test":
        return project.test("t", "select * from {{ ref('days') }}", config=config)
    return project.snapshot("s", "select * from {{ ref('days') }}", config=config, meta=PUBLIC)


def off(sql: str, **more: object) -> Project:
    """A public model that is switched off."""
    given = {"access": "public", "compiled": "", **more}
    return shop().model("gone", sql, **given).disable("model.shop.gone")


def off_release(sql: str) -> Project:
    """A public release that is switched off."""
    return released(sql=sql, access="public", compiled="").disable("model.shop.out_v1_draw")


@pytest.mark.parametrize("name", CASES)
def test_a_way_past_the_gate_is_closed(name: str) -> None:
    code, leak, _ = CASES[name]
    assert code in leak().codes()


@pytest.mark.parametrize("name", CASES)
def test_what_is_ordinary_stays_allowed(name: str) -> None:
    verdict = CASES[name][2]().reviewed()
    assert [str(found) for found in verdict.findings] == []


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("\"{{ target.name == 'prod' }}\"", ["G13"]),
        ("\"{{ env_var('X', 'false') }}\"", ["G13"]),
        ("\"{{ var('x', true) }}\"", ["G13"]),
        ("\"{{ var('x', false) }}\"", []),
        ("false", []),
    ],
)
def test_what_a_file_says_of_a_switch(written: str, codes: list[str], tmp_path: Path) -> None:
    project = off("select * from {{ ref('people') }}", patch_path="shop://models/schema.yml")
    project.write(tmp_path)
    (tmp_path / "models/schema.yml").write_text(f"models: [{{config: {{enabled: {written}\n}}}}]")
    (tmp_path / "models/gone.sql").write_text("select * from {{ ref('people') }}\n")
    verdict = project.verdict(tmp_path)
    assert [found.code for found in verdict.findings] == codes
    notes = [note for note in verdict.notes if "is switched off" in note]
    assert len(notes) == (0 if written == "false" else 1)


def test_a_table_of_a_hook_has_advice_of_its_own() -> None:
    project = open_model(
        sql="select * from tmp", config={"pre-hook": "create temp table tmp as select 1 as one"}
    )
    [found] = project.reviewed().findings
    assert (found.code, found.remedy.split(" and")[0]) == ("G09", "Write it as a model")
