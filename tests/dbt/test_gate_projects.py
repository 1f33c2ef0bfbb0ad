"""The gate on projects that real dbt compiled: planted leaks are found, clean projects pass."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import VERSIONS, Runner, dbt_of

sys.path[:0] = [str(Path(__file__).parents[1] / "unit" / "dbt")]

from dbt_sync_world import World  # noqa: E402

from policy_engine.cli.main import run as command  # noqa: E402
from policy_engine.dbt.gate import GateVerdict, check_project  # noqa: E402
from policy_engine.dbt.project import open_dbt_project  # noqa: E402

pytestmark = pytest.mark.slow

_EXAMPLE = Path(__file__).parents[2] / "examples" / "dbt_leaks"

_PROJECT = """\
name: shop
version: "1.0"
profile: shop
on-run-end: "{{ grant_all() }}"
"""
_PROFILES = """\
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: dev.duckdb, threads: 1}
"""
_YAML = """\
version: 2
sources:
  - name: raw
    schema: raw
    config: {meta: {privacy: {classification: sensitive}}}
    tables:
      - name: people
      - name: cities
        config: {meta: {privacy: {classification: public}}}
  - name: files
    schema: files
    tables:
      - name: towns
        config: {meta: {external_location: "read_csv('data/{name}.csv')"}}
  - name: clean
    schema: main
    tables: [{name: stg_people}]
models:
  - name: stg_people
    columns:
      - name: id
        data_tests:
          - not_null: {config: {store_failures: true}}
          - unique
  - name: public_people
    config: {access: public, group: privacy}
  - name: granted
    config: {grants: {select: [public]}}
  - name: typo
    config: {meta: {privacy: {classification: senstive}}}
  - name: versioned
    latest_version: 2
    config: {access: public, group: privacy}
    versions: [{v: 1}, {v: 2}]
groups:
  - name: privacy
    owner: {name: Privacy, email: privacy@example.org}
exposures:
  - name: board
    type: dashboard
    owner: {name: A, email: a@example.org}
    depends_on: [ref('dim_people')]
  - name: cities
    type: dashboard
    owner: {name: A, email: a@example.org}
    depends_on: [ref('fine')]
  - name: laundered
    type: dashboard
    owner: {name: A, email: a@example.org}
    depends_on: [ref('again')]
  - name: legacy
    type: dashboard
    owner: {name: A, email: a@example.org}
    depends_on: [ref('unknown')]
"""
_FILES = {
    "dbt_project.yml": _PROJECT,
    "profiles.yml": _PROFILES,
    "models/schema.yml": _YAML,
    "macros/all.sql": "{% macro grant_all() %}grant select on all tables in schema"
    " {{ target.schema }} to public{% endmacro %}\n"
    "{% macro dump(r) %}copy {{ r }} to 'people.csv'{% endmacro %}\n"
    "{% macro everyone() %}{{ target.schema }}.stg_people{% endmacro %}\n",
    "models/stg_people.sql": "select id, age, zip from {{ source('raw', 'people') }}\n",
    "models/eph.sql": "{{ config(materialized='ephemeral') }}\n"
    "select * from {{ ref('stg_people') }}\n",
    "models/dim_people.sql": "select * from {{ ref('eph') }}\n",
    "models/public_people.sql": "with x as (select 1 as one)\nselect * from x\n"
    "union all\nselect id from main.stg_people\n",
    "models/granted.sql": "select * from {{ ref('stg_people') }}\n",
    "models/typo.sql": "select 1 as one\n",
    "models/macro_name.sql": "select * from {{ everyone() }}\n",
    "models/hooked.sql": '{{ config(materialized="table", post_hook="{{ dump(this) }}") }}\n'
    "select * from {{ ref('stg_people') }}\n",
    "models/again.sql": "select * from {{ source('clean', 'stg_people') }}\n",
    "models/unknown.sql": "select * from legacy.folk\n",
    "models/versioned_v1.sql": "select 1 as one\n",
    "models/versioned_v2.sql": "select id from {{ ref('stg_people') }}\n",
    "models/branch.sql": "{% if var('all', false) %}select * from {{ ref('stg_people') }}"
    "{% else %}select 1 as id{% endif %}\n",
    "models/fine.sql": "with cities as (select * from {{ source('raw', 'cities') }}),\n"
    "towns as (select * from {{ source('files', 'towns') }})\n"
    "select * from cities, towns, range(3) as numbers(n)\n",
    "models/pym.py": "def model(dbt, session):\n    people = dbt.ref('stg_people')\n"
    "    people.df().to_csv('out.csv')\n    return people\n",
    "snapshots/snap.sql": "{% snapshot snap %}\n{{ config(target_schema='main', unique_key='id',"
    " strategy='check', check_cols=['age']) }}\nselect * from {{ ref('stg_people') }}\n"
    "{% endsnapshot %}\n",
    "analyses/look.sql": "select * from {{ ref('stg_people') }}\n",
    "tests/singular.sql": "select * from main.stg_people where age < 0\n",
}
_FOUND = {
    ("G01", "exposure board"),
    ("G01", "exposure laundered"),
    ("G02", "public_people"),
    ("G02", "versioned.v2"),
    ("G03", "granted"),
    ("G07", "test not_null_stg_people_id"),
    ("G08", "public_people"),
    ("G08", "macro_name"),
    ("G08", "test singular"),
    ("G09", "unknown"),
    ("G14", "the hook post-hook of hooked"),
    ("G14", "the operation shop-on-run-end-0"),
    ("G14", "the python pym"),
    ("G30", "typo"),
}


@pytest.fixture(scope="module", params=VERSIONS)
def run(request) -> Iterator[Runner]:
    with dbt_of(request.param).served() as runner:
        yield runner


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def verdict_of(folder: Path) -> GateVerdict:
    return check_project(open_dbt_project(folder))


@pytest.fixture(scope="module")
def leaks(run, tmp_path_factory) -> GateVerdict:
    """A project with every kind of leak, as dbt compiled it."""
    folder = written(tmp_path_factory.mktemp("leaks"), _FILES)
    done = run("compile", project=folder)
    assert (folder / "target/manifest.json").exists(), done.out[-4000:]
    return verdict_of(folder)


def _subject(message: str) -> str:
    words = message.split(" ")
    if words[0] == "the":
        return message.split(" is not")[0]
    return " ".join(words[:2]) if words[0] in {"exposure", "test"} else words[0].rstrip(":")


def test_every_planted_leak_is_found_and_nothing_else(leaks) -> None:
    assert {(each.code, _subject(each.message)) for each in leaks.findings} == _FOUND


def test_a_finding_says_the_path_and_the_line(leaks) -> None:
    board = next(f for f in leaks.findings if f.message.startswith("exposure board"))
    assert board.path == ("raw.people", "stg_people", "eph", "dim_people", "exposure board")
    text = _YAML.splitlines()
    assert text[board.line - 1].strip() == "- name: board"
    named = next(
        f for f in leaks.findings if (f.code, _subject(f.message)) == ("G08", "public_people")
    )
    assert (named.file, named.line) == ("models/public_people.sql", 4)
    hook = next(f for f in leaks.findings if "the hook" in f.message)
    assert (hook.file, hook.line) == ("models/hooked.sql", 1)


def test_without_what_leaks_the_project_is_clean(run, tmp_path) -> None:
    kept = ("stg_people", "eph", "granted", "fine", "snap", "look", "hooked", "versioned_v1")
    files = {
        name: text
        for name, text in _FILES.items()
        if Path(name).stem in kept or not name.endswith((".sql", ".py"))
    }
    text = _YAML[: _YAML.index("models:\n")] + _YAML[_YAML.index("groups:") :]
    text = text.split("  - name: board")[0] + _YAML[_YAML.index("  - name: cities\n    type") :]
    files["models/schema.yml"] = text.split("  - name: laundered")[0]
    files["dbt_project.yml"] = _PROJECT.split("on-run-end")[0]
    files["models/hooked.sql"] = files["models/hooked.sql"].replace("dump(this)", "this")
    files["models/hooked.sql"] = files["models/hooked.sql"].replace(
        '"{{ this }}"', '"grant select on {{ this }} to analyst"'
    )
    folder = written(tmp_path, files)
    run("compile", project=folder)
    words = ["--project-dir", str(folder), "--who", "Ada", "--why", "a grant to analysts"]
    assert command(["dbt", "review", "hook post-hook of hooked", *words]) == 0
    verdict = verdict_of(folder)
    assert [str(found) for found in verdict.findings] == []
    assert verdict.marked and verdict.sinks == 2


def test_the_example_is_what_dbt_compiles(run, tmp_path) -> None:
    folder = tmp_path / "leaks"
    shutil.copytree(_EXAMPLE, folder)
    shown = check_project(open_dbt_project(folder), folder / "manifest.json")
    run("compile", project=folder)
    found = verdict_of(folder)
    assert {(f.code, f.path) for f in shown.findings} == {(f.code, f.path) for f in found.findings}
    assert [release.is_certified for release in found.releases] == [False]


_BYPASSES = {
    "dbt_project.yml": """\
name: shop
version: "1.0"
profile: shop
on-run-end:
  - "{{ redraw() }}"
  - "create view seen as select * from {{ var('seen', 'main.stg_people') }}"
""",
    "profiles.yml": _PROFILES,
    "models/schema.yml": """\
version: 2
sources:
  - name: raw
    schema: raw
    config: {meta: {privacy: {classification: sensitive}}}
    tables: [{name: people}]
models:
  - name: out
    config: {access: public, group: privacy, meta: {privacy: {release: true}}}
  - name: clean
    config: {access: public, group: privacy}
  - name: only_there
    config: {access: public, group: privacy, enabled: "{{ target.name == 'prod' }}"}
  - name: stg_people
    columns: [{name: id, data_tests: [peek]}]
groups:
  - name: privacy
    owner: {name: Privacy, email: privacy@example.org}
""",
    "macros/all.sql": """\
{% macro redraw() %}{% do adapter.drop_relation(ref('out')) %}{% endmacro %}
{% macro duckdb__create_view_as(relation, sql) %}create view {{ relation }} as {{ sql }}
{% endmacro %}
{% test peek(model, column_name) %}
{% if execute %}{% do run_query("copy " ~ model ~ " to 'people.csv'") %}{% endif %}
select {{ column_name }} from {{ model }} where false
{% endtest %}
{% macro mine() %}select 1 as one{% endmacro %}
""",
    "models/stg_people.sql": "select id, zip from {{ source('raw', 'people') }}\n",
    "models/out.sql": """\
{{ config(materialized='incremental', full_refresh=false) }}
{% if is_incremental() %}
select * from {{ this }} where false
{% else %}
select left(zip, 3) as zip, count(*) as n
from {{ ref('stg_people') }} tablesample bernoulli (10 percent)
group by 1
having count(*) >= 20
order by 1
{% endif %}
""",
    "models/clean.sql": """\
{{ config(materialized='table', pre_hook="set variable x = (select max(id) from stg_people)") }}
{{ mine() }}
""",
    "models/only_there.sql": "select * from {{ ref('stg_people') }}\n",
    "snapshots/snap.sql": "{% snapshot snap %}\n{{ config(target_schema='main', unique_key='one',"
    " strategy='timestamp', updated_at='(select max(id) from stg_people)') }}\n"
    "select * from {{ ref('clean') }}\n{% endsnapshot %}\n",
}


def test_ways_past_the_gate_are_closed(run, tmp_path) -> None:
    folder = written(tmp_path, _BYPASSES)
    run("parse", project=folder)
    found = {(each.code, each.message.split(";")[0]) for each in verdict_of(folder).findings}
    assert found == {
        ("G08", "snap reads stg_people by name, in its config, without ref() or source()"),
        ("G10", "clean cannot be read: it is not compiled"),
        ("G11", "the macro duckdb__create_view_as is not reviewed and replaces that of dbt"),
        ("G13", "only_there is switched off in this manifest, and would show sensitive data"
                " where it is on"),
        ("G14", "the hook pre-hook of clean is not reviewed"),
        ("G14", "the macro redraw is not reviewed"),
        ("G14", "the macro test_peek is not reviewed"),
        ("G14", "the operation shop-on-run-end-0 is not reviewed"),
        ("G14", "the operation shop-on-run-end-1 is not reviewed"),
        ("G02", "out is public and holds sensitive data"),
        ("G21", "the release out has no policy, so it is not a release"),
    }  # fmt: skip
    (folder / "macros/all.sql").write_text("{% macro mine() %}select 2 as one{% endmacro %}\n")
    stale = {each.message for each in verdict_of(folder).findings if each.code == "G40"}
    assert "the macro mine was changed after the manifest was made" in stale


@pytest.fixture(scope="module")
def released(run, tmp_path_factory) -> World:
    """A project with a generated release that an exposure shows."""
    world = World.at(tmp_path_factory.mktemp("released"))
    world.write(
        "models/stg_people.sql",
        "select i as person_id, (i % 90)::integer as age, 'A' as town, current_date as visited"
        " from range(100) as t(i)\n",
    )
    world.write(
        "models/board.yml",
        "exposures:\n  - name: board\n    type: dashboard\n    owner: {email: a@example.org}\n"
        "    depends_on: [ref('towns')]\n",
    )
    world.policy()
    world.sync()
    done = run("deps", project=world.folder)
    assert done.returncode == 0, done.out[-4000:]
    return world


def test_a_generated_release_passes_from_parse_to_build(run, released) -> None:
    folder = released.folder
    for words in (("parse",), ("compile", "--target", "prod"), ("compile",)):
        done = run(*words, project=folder)
        assert done.returncode == 0, done.out[-4000:]
        assert _codes(folder) == [], words
    run("build", project=folder)
    run("compile", project=folder)
    compiled = json.loads((folder / "target/manifest.json").read_text())["nodes"]
    assert "where false" in compiled["model.shop.towns_v1_draw"]["compiled_code"]
    assert _codes(folder) == []


def test_a_generated_release_that_is_tampered_with_is_stopped(run, released) -> None:
    folder = released.folder
    file = folder / "models/towns_v1_draw.sql"
    whole = file.read_text()
    try:
        file.write_text(whole.replace(">= 20", ">= 1"))
        run("parse", project=folder)
        assert {"G02", "G21", "G24"} <= set(_codes(folder))
        released.write(
            "macros/ref.sql", "{% macro is_incremental() %}{{ return(false) }}{% endmacro %}"
        )
        file.write_text(whole)
        run("parse", project=folder)
        assert _codes(folder) == ["G01", "G02", "G10", "G11", "G25"]
    finally:
        file.write_text(whole)
        (folder / "macros/ref.sql").unlink(missing_ok=True)


def _codes(folder: Path) -> list[str]:
    return sorted({found.code for found in verdict_of(folder).findings})
