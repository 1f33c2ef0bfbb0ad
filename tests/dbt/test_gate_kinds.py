"""Ways to show what is sensitive, as somebody would look for them; and a harmless twin of each.

Two projects of real dbt: in one everything leaks, and in the other nothing does once it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import NEWEST, VERSIONS, Runner, dbt_of
from test_gate_projects import written

from policy_engine.cli.main import run as command
from policy_engine.dbt.gate import check_project
from policy_engine.dbt.project import open_dbt_project

pytestmark = pytest.mark.slow

_PUBLIC = "config(access='public', group='privacy')"
_BASE = {
    "dbt_project.yml": 'name: shop\nversion: "1.0"\nprofile: shop\nvars: {seen: main.days}\n',
    "profiles.yml": (
        "shop:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: dev.duckdb, threads: 1}\n"
    ),
    "packages.yml": "packages: [{local: local/audit}]\n",
    "local/audit/dbt_project.yml": "name: audit\nversion: '1.0'\nconfig-version: 2\n",
    "local/audit/macros/ask.sql": """\
{% macro values_of(relation, column) %}
{% call statement('found', fetch_result=True) %}select {{ column }} from {{ relation }}{% endcall %}
{% if execute %}{{ return(load_result('found')['data']) }}{% endif %}
{% endmacro %}
""",
    "macros/plain.sql": "{% macro default__plain() %}1{% endmacro %}\n",
    "seeds/folk.csv": "name,town\nAda,north\n",
    "models/schema.yml": """\
sources:
  - name: raw
    config: {meta: {privacy: {classification: sensitive}}}
    tables: [{name: people}, {name: visits}]
groups:
  - name: privacy
    owner: {name: Privacy, email: privacy@example.org}
seeds:
  - name: folk
    columns: [{name: name, config: {meta: {privacy: {classification: sensitive}}}}, {name: town}]
models:
  - name: time_spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
""",
    "models/time_spine.sql": "select current_date as date_day\n",
    "models/stg.sql": "select id, day from {{ source('raw', 'people') }}\n",
    "models/days.sql": "select 1 as id, current_date as day\n",
}
_EXPOSURE = """\
exposures:
  - {{name: {0}, type: dashboard, owner: {{email: a@example.org}}, depends_on: [ref('{1}')]}}
"""
_HEADS = """\
semantic_models:
  - name: heads_of_days
    model: ref('days')
    defaults: {{agg_time_dimension: day}}
    entities: [{{name: person, type: primary, expr: id}}]
    dimensions: [{{name: day, type: time, type_params: {{time_granularity: day}}}}]
    measures: [{{name: how_many, agg: max, expr: "{0}"}}]
"""
_FIXTURE = """\
unit_tests:
  - name: {0}
    model: seen
    given: [{{input: ref('days'), format: sql, fixture: {0}}}]
    expect: {{rows: [{{day: 2024-01-01}}]}}
"""
_OVERRIDDEN = """\
unit_tests:
  - {{name: by_macro, model: one, given: [], expect: {{rows: [{{a: 1}}]}},
     overrides: {{macros: {{one_of: "{0}"}}}}}}
  - {{name: by_var, model: one, given: [], expect: {{rows: [{{a: 1}}]}},
     overrides: {{vars: {{one: "{0}"}}, env_vars: {{ONE: "1"}}}}}}
"""
_FRESH = """\
sources:
  - name: log
    schema: raw
    tables:
      - name: calls
        config:
          loaded_at_field: day
          freshness: {{warn_after: {{count: 1, period: day}}, filter: "{0}"}}
"""
_DISPATCHED = _BASE["dbt_project.yml"] + (
    "dispatch: [{macro_namespace: dbt, search_order: [audit, dbt]}]\n"
)
_BY_PROD = (
    "{{% if target.name == 'prod' %}}select * from {0}{{% else %}}select 1 as a{{% endif %}}\n"
)
_SNAPSHOT = "{{% snapshot {0} %}}\n{{{{ config(target_schema='main', unique_key='id',{1}) }}}}\n\
select * from {{{{ ref('{2}') }}}}\n{{% endsnapshot %}}\n"
_CHECK = " strategy='check', check_cols=['day']"
LEAKS = {
    # dbt's own macros write, grant and run whatever they are given.
    "models/wrote.sql": "{% do write_to_file(ref('stg'), 'x.csv', '') %}select 1 as a\n",
    "models/dispatched.sql": "{% do adapter.dispatch('call_dcl_statements', 'dbt')"
    "(['copy raw.people to \\'x.csv\\'']) %}select 1 as a\n",
    "models/made_up.sql": "{% if execute %}{% do adapter.dispatch('call_dcl' ~ '_statements',"
    " 'dbt')(['select 1']) %}{% endif %}select 1 as a\n",
    "models/renamed.sql": "{% if execute %}{% set d = dbt %}{{ d['run_' ~ 'query']('x') }}"
    "{% endif %}select 1 as a\n",
    "macros/granted.sql": "{% macro granted() %}{% do apply_grants(ref('stg'),"
    " {'select': ['public']}) %}{% endmacro %}\n",
    # An operation prints what a package's macro asks.
    "macros/printed.sql": "{% macro printed() %}{{ log(audit.values_of(ref('stg'), 'id'),"
    " info=true) }}{% endmacro %}\n",
    # Strategies that a config names.
    "macros/strategy.sql": "{% macro get_incremental_mine_sql(given) %}\n"
    "copy {{ given['temp_relation'] }} to 'x.csv'\n{% endmacro %}\n",
    "macros/snapping.sql": "{% macro snapshot_mine_strategy(node, old, new, config, exists) %}\n"
    "{% do return({'unique_key': '(select max(id) from raw.people)'}) %}\n{% endmacro %}\n",
    "macros/materialized.sql": "{% materialization mine, default %}{{ return({'relations': []}) }}"
    "{% endmaterialization %}\n",
    "models/measured.yml": _HEADS.format("(select max(id) from raw.people)"),
    "models/fixed.yml": _FIXTURE.format("fixed"),
    "tests/fixtures/fixed.sql": "select day from raw.people\n",
    "models/seen.sql": "select day from {{ ref('days') }}\n",
    "models/folks.yml": _EXPOSURE.format("folks", "folk"),
    "snapshots/snap.sql": _SNAPSHOT.format("snap", _CHECK, "stg"),
    "models/snaps.yml": _EXPOSURE.format("snaps", "snap"),
    "snapshots/late.sql": _SNAPSHOT.format(
        "late", f"{_CHECK}, dbt_valid_to_current='(select max(day) from raw.people)'", "days"
    ),
    "models/eph.sql": "{{ config(materialized='ephemeral') }}select * from {{ ref('stg') }}\n",
    "models/through.sql": f"{{{{ {_PUBLIC} }}}}select * from {{{{ ref('eph') }}}}\n",
    "models/looped.sql": f"{{{{ {_PUBLIC} }}}}{{% for t in ['people', 'visits'] %}}select id from"
    " raw.{{ t }}{% if not loop.last %} union all {% endif %}{% endfor %}\n",
    "models/by_var.sql": f"{{{{ {_PUBLIC} }}}}select * from {{{{ var('hidden', 'main.stg') }}}}\n",
    "models/py.py": "def model(dbt, session):\n    return dbt.ref('stg')\n",
    "models/py.yml": "models:\n  - {name: py, config: {access: public, group: privacy}}\n",
    "analyses/looked.sql": "{% set found = run_query('select * from raw.people') %}select 1 as a\n",
    "local/audit/models/theirs.sql": "{{ config(access='public', group='audit') }}\n"
    "select * from {{ ref('stg') }}\n",
    "local/audit/models/groups.yml": "groups:\n  - {name: audit, owner: {email: a@example.org}}\n",
    "models/exported.sql": "{{ config(materialized='external', location='x.parquet') }}\n"
    "select * from {{ ref('stg') }}\n",
    "models/shared.sql": "{{ config(grants={'select': ['analyst, public']}) }}\n"
    "select * from {{ ref('stg') }}\n",
    "models/headed.sql": "{{ config(sql_header=\"copy raw.people to 'x.csv';\") }}select 1 as a\n",
    # A unit test prints what it has in the place of a macro or a variable.
    "macros/one_of.sql": "{% macro one_of() %}1{% endmacro %}\n",
    "models/one.sql": "select {{ one_of() }} + {{ var('one', 1) }} as a\n",
    "models/one.yml": _OVERRIDDEN.format("(select max(id) from raw.people)"),
    "models/rooted.sql": "{{ config(materialized='table', location_root='/mnt/shared') }}"
    "select * from {{ ref('stg') }}\n",
    "models/fresh.yml": _FRESH.format("id = (select max(id) from raw.people)"),
    "models/set.py": "def model(dbt, session):\n    return session.table(dbt.config.get('read'))\n",
    "models/set.yml": "models:\n  - {name: set, config: {access: public, group: privacy,"
    " meta: {read: raw.people}}}\n",
    "models/told.sql": f"{{{{ {_PUBLIC[:-1]}, meta={{'read': 'raw.people'}}) }}}}"
    + _BY_PROD.format("{{ config.get('meta')['read'] }}"),
    "models/spaced.sql": f"{{{{ {_PUBLIC} }}}}" + _BY_PROD.format("{{ ref ('stg') }}"),
    "dbt_project.yml": _DISPATCHED,
    "local/audit/macros/placed.sql": "{% macro default__create_table_as(temporary, relation, sql)"
    " %}copy ({{ sql }}) to 'x.csv'{% endmacro %}\n",
    # dbt writes settings into SQL as they stand, those of seeds too.
    "seeds/coded.csv": "b\nx\n",
    "seeds/coded.yml": "seeds:\n  - {name: coded, config: {column_types: {b: \"varchar); create"
    " table main.shown as select * from raw.people; create type z as struct(b int\"}}}\n",
    "models/added.sql": "{{ config(materialized='incremental', unique_key='id',"
    " incremental_predicates=[\"true; copy raw.people to 'x.csv'\"]) }}select 1 as id\n",
    # What a test computes of the rows that fail is printed.
    "tests/top.sql": "{{ config(fail_calc='max(id)') }}select id from {{ ref('stg') }}\n",
    # What only another target takes: a macro's text, and a name of parts.
    "macros/hidden.sql": "{% macro hidden() %}(select id from raw.people){% endmacro %}\n",
    "models/behind.sql": f"{{{{ {_PUBLIC} }}}}" + _BY_PROD.format("{{ hidden() }} as x"),
    "models/parted.sql": f"{{{{ {_PUBLIC} }}}}" + _BY_PROD.format("{{ 'raw.peo' ~ 'ple' }}"),
    # How many rows a table has.
    "models/sized.sql": f"{{{{ {_PUBLIC} }}}}select reltuples from pg_class where relname ="
    " 'peo' || 'ple'\n",
}  # fmt: skip
FOUND = {
    ("G08", "unit test by_macro"), ("G08", "unit test by_var"), ("G06", "/mnt/shared"),
    ("G14", "hook filter of log.calls"), ("G02", "set"), ("G08", "set"), ("G14", "python set"),
    ("G02", "told"), ("G08", "told"), ("G02", "spaced"),
    ("G11", "macro default__create_table_as"), ("G08", "coded"), ("G08", "added"),
    ("G07", "test top"), ("G09", "sized"),
    ("G02", "behind"), ("G08", "behind"), ("G14", "template parted"),
    ("G14", "template wrote"), ("G14", "template dispatched"), ("G14", "template made_up"),
    ("G14", "template renamed"), ("G14", "macro granted"), ("G14", "macro printed"),
    ("G11", "macro get_incremental_mine_sql"), ("G11", "macro snapshot_mine_strategy"),
    ("G14", "materialization mine_default"), ("G04", "semantic model heads_of_days"),
    ("G08", "semantic model heads_of_days"), ("G08", "unit test fixed"),
    ("G01", "exposure folks"), ("G01", "exposure snaps"), ("G08", "late"), ("G02", "through"),
    ("G02", "by_var"), ("G08", "by_var"), ("G02", "py"),
    ("G14", "python py"), ("G14", "template analysis looked"), ("G02", "theirs"),
    ("G06", "exported"), ("G03", "shared"), ("G14", "hook sql-header of headed"),
    ("G14", "package audit"),
}  # fmt: skip
TWINS = {
    "models/wrote.sql": "{% do write_to_file(ref('days'), 'x.csv', '') %}select 1 as a\n",
    "models/dispatched.sql": "select {{ adapter.dispatch('plain', 'shop')() }} as a\n",
    "models/renamed.sql": "select {{ dbt.type_string() and 1 }} as a\n",
    "models/spine.sql": "{% set first, last = \"date '2024-01-01'\", \"date '2024-02-01'\" %}"
    "{{ dbt.date_spine('day', first, last) }}\n",
    "macros/printed.sql": "{% macro printed() %}{{ log(audit.values_of(ref('days'), 'id'),"
    " info=true) }}{% endmacro %}\n",
    "macros/strategy.sql": "{% macro get_incremental_mine_sql(given) %}\n"
    "insert into {{ given['target_relation'] }} select * from {{ given['temp_relation'] }}\n"
    "{% endmacro %}\n",
    "macros/snapping.sql": "{% macro snapshot_mine_strategy(node, old, new, config, exists) %}\n"
    "{% do return({'unique_key': 'id'}) %}\n{% endmacro %}\n",
    "macros/materialized.sql": LEAKS["macros/materialized.sql"],
    "models/measured.yml": _HEADS.format("extract(day from day)"),
    "models/fixed.yml": _FIXTURE.format("fixed"),
    "tests/fixtures/fixed.sql": "select date '2024-01-01' as day\n",
    "models/seen.sql": "select day from {{ ref('days') }}\n",
    "models/towns.sql": "select town from {{ ref('folk') }}\n",
    "models/folks.yml": _EXPOSURE.format("folks", "towns"),
    "snapshots/snap.sql": _SNAPSHOT.format("snap", _CHECK, "days"),
    "models/snaps.yml": _EXPOSURE.format("snaps", "snap"),
    "models/eph.sql": "{{ config(materialized='ephemeral') }}select * from {{ ref('days') }}\n",
    "models/through.sql": f"{{{{ {_PUBLIC} }}}}select * from {{{{ ref('eph') }}}}\n",
    "models/looped.sql": f"{{{{ {_PUBLIC} }}}}{{% for t in ['id', 'day'] %}}select '{{{{ t }}}}' as"
    " name{% if not loop.last %} union all {% endif %}{% endfor %}\n",
    "models/by_var.sql": f"{{{{ {_PUBLIC} }}}}select {{{{ var('shown', 1) }}}} as a\n",
    "models/py.py": "def model(dbt, session):\n    return dbt.ref('days')\n",
    "models/py.yml": LEAKS["models/py.yml"],
    "analyses/looked.sql": "{% set found = run_query('select 1') %}select 1 as a\n",
    "local/audit/models/theirs.sql": "{{ config(access='public', group='audit') }}\n"
    "select * from {{ ref('days') }}\n",
    "local/audit/models/groups.yml": LEAKS["local/audit/models/groups.yml"],
    "models/exported.sql": "{{ config(materialized='external', location='x.parquet') }}\n"
    "select * from {{ ref('days') }}\n",
    "models/shared.sql": "{{ config(grants={'select': ['analyst']}) }}\n"
    "select * from {{ ref('stg') }}\n",
    "models/headed.sql": '{{ config(sql_header="set threads = 1;") }}select 1 as a\n',
    "macros/one_of.sql": LEAKS["macros/one_of.sql"],
    "models/one.sql": LEAKS["models/one.sql"],
    "models/one.yml": _OVERRIDDEN.format("(select 1)"),
    "models/rooted.sql": LEAKS["models/rooted.sql"].replace("stg", "days"),
    "models/fresh.yml": _FRESH.format("id > 1"),
    "models/set.py": LEAKS["models/set.py"],
    "models/set.yml": LEAKS["models/set.yml"].replace("raw.people", "main.days"),
    "models/told.sql": LEAKS["models/told.sql"].replace("raw.people", "main.days"),
    "models/spaced.sql": LEAKS["models/spaced.sql"].replace("stg", "days"),
    "dbt_project.yml": _DISPATCHED,
    "local/audit/macros/placed.sql": LEAKS["local/audit/macros/placed.sql"],
    "seeds/coded.csv": LEAKS["seeds/coded.csv"],
    "seeds/coded.yml": "seeds:\n  - {name: coded, config: {column_types: {b: varchar}}}\n",
    "models/added.sql": "{{ config(materialized='incremental', unique_key='id',"
    " incremental_predicates=['DBT_INTERNAL_DEST.id > 1']) }}select 1 as id\n",
    "tests/top.sql": "{{ config(fail_calc='count(*)') }}select id from {{ ref('stg') }}\n",
    "macros/hidden.sql": LEAKS["macros/hidden.sql"].replace("raw.people", "main.days"),
    "models/behind.sql": LEAKS["models/behind.sql"],
    "models/parted.sql": LEAKS["models/parted.sql"],
    "models/sized.sql": f"{{{{ {_PUBLIC} }}}}select count(*) as n from pg_type\n",
}  # fmt: skip


@pytest.fixture(scope="module", params=VERSIONS)
def run(request) -> Iterator[Runner]:
    with dbt_of(request.param).served() as runner:
        yield runner


def _found(folder: Path) -> set[tuple[str, str]]:
    verdict = check_project(open_dbt_project(folder))
    return {(each.code, each.names[0]) for each in verdict.findings}


def _compiled(run: Runner, folder: Path) -> None:
    for words in (("deps",), ("parse",), ("compile",)):
        done = run(*words, project=folder)
        assert done.returncode == 0 or words == ("compile",), done.out[-4000:]


def test_each_kind_of_leak_is_stopped(run, tmp_path) -> None:
    # dbt v2's alpha has no semantic model of this form in its manifest: there is nothing to show.
    folder = written(tmp_path, {**_BASE, **LEAKS})
    _compiled(run, folder)
    has_heads = "semantic_model.shop.heads" in (folder / "target/manifest.json").read_text()
    wanted = {each for each in FOUND if has_heads or "heads" not in each[1]}
    found = _found(folder)
    # Where dbt could not compile it, it cannot be read.
    looped = {each for each in found if each[1] == "looped"}
    assert looped in ({("G10", "looped")}, {("G02", "looped"), ("G08", "looped")})
    assert found - looped - {("G10", "told"), ("G10", "parted")} == wanted


def test_each_harmless_twin_passes_once_it_is_read(run, tmp_path) -> None:
    folder = written(tmp_path, {**_BASE, **TWINS})
    _compiled(run, folder)
    assert {code for code, _ in _found(folder)} <= {"G11", "G14"}
    who = ("--who", "Ada", "--why", "read", "--project-dir", str(folder))
    assert command(["dbt", "review", "--all", *who]) == 0
    assert _found(folder) == set()


_FUNCTIONS = """\
functions:
  - name: by_name
    returns: {{data_type: integer}}
    arguments: [{{name: x, data_type: integer}}]
  - name: by_default
    returns: {{data_type: integer}}
    arguments: [{{name: x, data_type: integer, default_value: "{0}"}}]
"""
_HISTORY = """\
snapshots:
  - name: history
    relation: ref('days')
    config: {{unique_key: id, strategy: check, check_cols: all, dbt_valid_to_current: "{0}"}}
"""
_ARGUMENTS = """\
models:
  - name: plain
    columns:
      - name: a
        data_tests:
          - accepted_values: {{arguments: {{values: ["{0}"]}}}}
          - relationships: {{arguments: {{to: "{1}", field: id}}}}
"""
_COPIED = 'as select * from raw.people; commit; create table main."y'


def _more(relation: str, query: str, alias: str, index: str) -> dict[str, str]:
    """Ways out of one relation; ``query`` asks another, and alias and index are written out."""
    shown = f"{{{{ {_PUBLIC} }}}}"
    return {
        "models/aliased.sql": f"{{{{ config(alias='{alias}') }}}}select 1 as a\n",
        "models/indexed.sql": f"{{{{ config(materialized='table', indexes=[{{'columns': ['{index}']"
        "}]) }}select 1 as a\n",
        "snapshots/history.yml": _HISTORY.format(query),
        "models/evented.sql": f"{{{{ config(event_time='{query}') }}}}select 1 as day\n",
        "functions/by_name.sql": f"{query}\n",
        "functions/by_default.sql": "x + 1\n",
        "functions/functions.yml": _FUNCTIONS.format(query),
        "models/calling.sql": shown + "select {{ function('by_name') }}(1) as a\n",
        "tests/many.sql": f"{{{{ config(error_if='> {query}') }}}}select 1 as a where false\n",
        "models/of_id.sql": "{{ config(materialized='table_function', parameters=['n']) }}"
        f"select * from {{{{ ref('{'stg' if relation == 'raw.people' else 'days'}') }}}}\n",
        "models/called.sql": f"{shown}select * from main.of_id(1)\n",
        "models/plain.sql": "select 1 as a\n",
        "models/plain.yml": _ARGUMENTS.format(f"1') or a in {query} or a in ('", query),
        "models/pivoted.sql": f"{shown}pivot {relation} on day using count(*)\n",
        "models/summary.sql": f"{shown}select * from (summarize {relation})\n",
        "models/whole.sql": f"{shown}table {relation}\n",
    }


@pytest.fixture(scope="module")
def newest() -> Iterator[Runner]:
    with dbt_of(NEWEST).served() as runner:
        yield runner


def test_each_of_more_kinds_is_stopped(newest, tmp_path) -> None:
    files = _more("raw.people", "(select max(id) from raw.people)", f'x" {_COPIED}',
                  "a); create table main.z as select * from raw.people; --")  # fmt: skip
    files["models/graphed.sql"] = f"{{{{ {_PUBLIC} }}}}" + _BY_PROD.format(
        "{{ graph.sources['source.shop.raw.people'].relation_name }}"
    )
    folder = written(tmp_path, {**_BASE, **files})
    _compiled(newest, folder)
    found = _found(folder)
    for name in ("aliased", "indexed", "history", "evented", "function by_name",
                 "function by_default", "test many", "called", "pivoted", "summary", "whole",
                 "graphed"):  # fmt: skip
        assert ("G08", name) in found, name
    for name in ("calling", "called", "pivoted", "summary", "whole", "graphed"):
        assert ("G02", name) in found, name
    tests = {name.partition("_plain")[0] for code, name in found if code == "G08"}
    assert {"test accepted_values", "test relationships"} <= tests


def test_a_twin_of_each_of_more_kinds_passes(newest, tmp_path) -> None:
    files = _more("{{ ref('days') }}", "id", "other", "a")
    files["models/plain.yml"] = _ARGUMENTS.format("1", "ref('days')")
    files["functions/by_name.sql"] = "x + 1\n"
    files["functions/functions.yml"] = _FUNCTIONS.format("1")
    files["snapshots/history.yml"] = _HISTORY.format("date '9999-12-31'")
    files["models/graphed.sql"] = f"{{{{ {_PUBLIC} }}}}" + _BY_PROD.format(
        "{{ graph.nodes['model.shop.days'].relation_name }}"
    )
    folder = written(tmp_path, {**_BASE, **files})
    _compiled(newest, folder)
    assert _found(folder) == {("G14", "package audit")}
