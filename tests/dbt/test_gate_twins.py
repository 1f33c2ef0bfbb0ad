"""What was reviewed or waived once, and then changes: each leak is stopped, each twin passes.

One project of real dbt has a reviewed piece of every kind. Each case changes its files; dbt parses
them anew, and the gate is asked with what was reviewed before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from environments import VERSIONS, Runner, dbt_of

from policy_engine.cli.main import run as command
from policy_engine.dbt.gate import check_project
from policy_engine.dbt.project import open_dbt_project
from policy_engine.dbt.review import FILE

pytestmark = pytest.mark.slow

_WAIVED = """\
version: 1
waived:
  - {code: G02, about: pub, from: [raw.people], who: Ada, why: goes in May, until: 2999-01-01}
"""
FILES = {
    "dbt_project.yml": """\
name: shop
version: "1.0"
profile: shop
vars: {seen: main.days, start: "2026-01-01", audit: {sql: select 1}}
on-run-end: "{{ view_of_what_is_seen() }}"
""",
    "profiles.yml": """\
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: dev.duckdb, threads: 1}
""",
    "packages.yml": "packages: [{local: local/audit}]\n",
    "local/audit/dbt_project.yml": "name: audit\nversion: '1.0'\nconfig-version: 2\n"
    "on-run-end: \"{{ var('sql') }}\"\n",
    "policy-engine.yaml": "dbt:\n  sensitive: {tags: [pii]}\n",
    FILE: _WAIVED,
    "macros/all.sql": """\
{% macro view_of_what_is_seen() %}create or replace view seen as select * from {{ what() }}
{% endmacro %}
{% macro what() %}{{ var('seen') }}{% endmacro %}
{% macro by_name(name) %}{{ var(name) }}{% endmacro %}
""",
    "models/sources.yml": """\
version: 2
sources:
  - name: raw
    schema: raw
    config:
      loaded_at_query: select max(loaded_at) from {{ this }}
      freshness: {warn_after: {count: 1, period: day}}
    tables:
      - name: people
        config: {meta: {privacy: {classification: sensitive}}}
      - name: visits
        config: {tags: [pii]}
  - name: lists
    schema: lists
    tables:
      - name: cities
""",
    "models/schema.yml": """\
version: 2
models:
  - name: days
  - name: staff
    columns:
      - {name: name, config: {meta: {privacy: {classification: sensitive}}}}
      - {name: town}
  - name: pub
    config: {access: public, group: privacy}
  - name: shut
    config: {enabled: false, access: public, group: privacy}
groups:
  - name: privacy
    owner: {name: Privacy, email: privacy@example.org}
exposures:
  - name: board
    type: dashboard
    owner: {name: A, email: a@example.org}
    depends_on: [ref('dim')]
    config: {meta: {privacy: {audience: [nurses, doctors]}}}
semantic_models:
  - name: heads
    model: ref('dim')
    config: {meta: {privacy: {audience: [analysts of the clinic]}}}
    defaults: {agg_time_dimension: day}
    entities: [{name: person, type: primary, expr: id}]
    dimensions: [{name: day, type: time, type_params: {time_granularity: day}}]
    measures: [{name: how_many, agg: count, expr: id}]
""",
    "models/days.sql": "select current_date as day\n",
    "models/stg.sql": "select id, day from {{ source('raw', 'people') }}\n",
    "models/dim.sql": '{{ config(materialized="table",'
    " post_hook=['grant select on {{ this }} to nurses', 'analyze']) }}\n"
    "select * from {{ ref('stg') }}\n",
    "models/pub.sql": "select id from {{ ref('stg') }}\n",
    "models/shut.sql": "select id from {{ ref('stg') }}\n",
    "models/seen.sql": "select day from {{ ref('days') }}\n",
    "models/cities.sql": "select * from {{ source('lists', 'cities') }}\n",
    "models/staff.sql": "select 'Ada' as name, 'north' as town\n",
    "models/loaded.sql": "{{ config(pre_hook=\"select {{ by_name('start') }}\") }}select 1 as a\n",
    "models/time_spine.sql": "select current_date as date_day\n",
    "models/time_spine.yml": """\
models:
  - name: time_spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
""",
}


@dataclass(frozen=True)
class Case:
    """How files change, from what to what, and the findings by code and subject.

    ``once`` are those which a review of all answers; with ``against`` the project before is shown.
    """

    edits: Mapping[str, tuple[str, str]]
    found: frozenset[tuple[str, str]] = frozenset()
    against: bool = False
    once: bool = False
    more: Mapping[str, str] = field(default_factory=dict)


def leak(file: str, old: str, new: str, *found: tuple[str, str], **more) -> Case:
    return Case({file: (old, new)}, frozenset(found), **more)


def twin(file: str, old: str, new: str, **more) -> Case:
    return Case({file: (old, new)}, **more)


_MODELS, _SOURCES, _YAML = "models/{}.sql", "models/sources.yml", "models/schema.yml"
_HOOK = "'grant select on {{ this }} to nurses'"
LEAKS = {
    "a reviewed hook stands on one more sensitive model": leak(
        "models/stg.sql", "select", f"{{{{ config(post_hook={_HOOK}) }}}}select",
        ("G14", "hook post-hook of dim"),
    ),
    "a variable behind two macros names people": leak(
        "dbt_project.yml", "seen: main.days", "seen: main.stg",
        ("G14", "operation shop-on-run-end-0"), ("G14", "hook pre-hook of loaded"),
    ),
    "a variable whose name is made up has another value": leak(
        "dbt_project.yml", '"2026-01-01"', "(select max(id) from raw.people)",
        ("G14", "hook pre-hook of loaded"),
    ),
    "a package is given other SQL by a variable of the project": leak(
        "dbt_project.yml", "sql: select 1", "sql: copy raw.people to 'x.csv'",
        ("G14", "package audit"), ("G14", "hook pre-hook of loaded"),
    ),
    "a second hook beside a reviewed one": leak(
        "models/dim.sql", "'analyze'", "'analyze', 'grant select on {{ this }} to public'",
        ("G14", "hook post-hook of dim, no. 3"),
    ),
    "a waived model gets people of another table": leak(
        "models/pub.sql", "}}\n", "}} union all select id from {{ source('raw', 'visits') }}\n",
        ("G02", "pub"),
    ),
    "an exposure shows another table to its audience": leak(
        "models/dim.sql", "}}\nselect *", "}}\nselect v.* from {{ source('raw', 'visits') }} v,",
        ("G01", "audience exposure board"), ("G01", "audience semantic model heads"),
    ),
    "an audience grows": leak(
        _YAML, "[nurses, doctors]", "[nurses, doctors, everybody]",
        ("G01", "audience exposure board"),
    ),
    "an audience is taken away": leak(
        _YAML, "{privacy: {audience: [nurses, doctors]}}", "{}", ("G01", "exposure board"),
    ),
    "an audience is misspelt": leak(
        _YAML, "{audience: [nurses, doctors]}", "{audiance: [nurses, doctors]}",
        ("G01", "exposure board"), ("G30", "exposure board"),
    ),
    "a public model has an audience": leak(
        _YAML, "- name: days", "- name: days\n    config: {meta: {privacy: {audience: [all]}},"
        " access: public, group: privacy}",
        ("G30", "days"), ("G02", "days"),
    ),
    "a semantic model without an audience": leak(
        _YAML, "{meta: {privacy: {audience: [analysts of the clinic]}}}", "{}",
        ("G04", "semantic model heads"),
    ),
    "when a table was loaded is asked of another": leak(
        _SOURCES, "      - name: cities",
        "      - name: cities\n        config: {loaded_at_query: select max(day) from main.stg}",
        ("G14", "hook loaded-at-query of lists.cities"),
    ),
    "a column that says when is a query": leak(
        _SOURCES, "      - name: cities",
        "      - name: cities\n        config: {loaded_at_field: (select max(day) from main.stg)}",
        ("G14", "hook loaded-at-field of lists.cities"),
    ),
    "what a target switches on": leak(
        _YAML, "{enabled: false,", "{enabled: \"{{ target.name == 'prod' }}\",", ("G13", "shut"),
    ),
    "a mark is taken away": leak(
        _SOURCES, "{meta: {privacy: {classification: sensitive}}}", "{}",
        ("G33", "raw.people"), against=True,
    ),
    "a mark becomes a weaker one": leak(
        _SOURCES, "{classification: sensitive}", "{classification: internal}",
        ("G33", "raw.people"), against=True,
    ),
    "a table is declared by another name, without its mark": leak(
        _SOURCES, "name: people\n        config: {meta: {privacy: {classification: sensitive}}}",
        "name: folk\n        identifier: people", ("G33", "raw.folk"), against=True,
        more={"models/stg.sql": "select id, day from {{ source('raw', 'folk') }}\n"},
    ),
    "a marked column is not any more": leak(
        _YAML, "name: name, config: {meta: {privacy: {classification: sensitive}}}", "name: name",
        ("G33", "staff"), against=True,
    ),
    "the project's own word for it is given up": leak(
        "policy-engine.yaml", "[pii]", "[other]", ("G33", "raw.visits"), against=True,
    ),
    "all marks are taken away at once": leak(
        _SOURCES, "{meta: {privacy: {classification: sensitive}}}", "{}",
        ("G33", "raw.people"), ("G33", "raw.visits"), ("G33", "staff"), against=True,
        more={"policy-engine.yaml": "dbt:\n  sensitive: {tags: [other]}\n",
              _YAML: FILES[_YAML].replace("classification: sensitive", "owner: x")
              .replace("privacy: {owner", "us: {owner").replace("privacy: {audience", "us: {to")},
    ),
}  # fmt: skip
TWINS = {
    "nothing changed": twin("models/days.sql", "select", "select"),
    "blanks and comments of a hook's macro": twin("macros/all.sql", "create or", "create   or"),
    "the hook on a model without people": twin(
        "models/days.sql", "select", f"{{{{ config(post_hook={_HOOK}) }}}}select"
    ),
    "the hook on one sensitive model less": twin("models/dim.sql", f"{_HOOK}, ", ""),
    "the hook on one more sensitive model, once": twin(
        "models/stg.sql", "select", f"{{{{ config(post_hook={_HOOK}) }}}}select", once=True
    ),
    "a variable that nothing reads by its name": twin(
        "dbt_project.yml", "start:", "unread: 1, start:", once=True
    ),
    "another value, once": twin("dbt_project.yml", "seen: main.days", "seen: x", once=True),
    "a package with another variable, once": twin(
        "dbt_project.yml", "sql: select 1", "sql: select 2", once=True
    ),
    "a second hook, once": twin("models/dim.sql", "'analyze'", "'analyze', 'vacuum'", once=True),
    "a waived model reads less": twin("models/pub.sql", "{{ ref('stg') }}", "{{ ref('days') }}"),
    "a waived model reads the same by another way": twin(
        "models/pub.sql", "{{ ref('stg') }}", "{{ ref('dim') }}"
    ),
    "the audience in another order": twin(_YAML, "[nurses, doctors]", "[doctors, nurses]"),
    "a larger audience, once": twin(_YAML, "[nurses, doctors]", "[nurses, all]", once=True),
    "an exposure of what is public": twin(
        "models/dim.sql", "ref('stg')", "ref('days')"
    ),
    "an audience of another table, once": twin(
        "models/dim.sql", "}}\nselect *", "}}\nselect v.* from {{ source('raw', 'visits') }} v,",
        once=True,
    ),
    "a query for when, once": twin(
        _SOURCES, "      - name: cities",
        "      - name: cities\n        config: {loaded_at_query: select max(day) from lists.days}",
        once=True,
    ),
    "a plain column for when": twin(
        _SOURCES, "      - name: cities",
        "      - name: cities\n        config: {loaded_at_field: day}",
    ),
    "switched off in the style of a block": twin(
        _YAML, "config: {enabled: false, access: public, group: privacy}",
        "config:\n      enabled: false\n      access: public\n      group: privacy",
    ),
    "the marks are as before": twin("models/days.sql", "day", "today", against=True),
    "one more mark": twin(
        _YAML, "{name: town}",
        "{name: town, config: {meta: {privacy: {classification: sensitive}}}}", against=True,
    ),
    "a marked model is gone": twin(
        _YAML, "  - name: staff\n    columns:\n      - {name: name, config: {meta: {privacy:"
        " {classification: sensitive}}}}\n      - {name: town}\n", "", against=True,
        more={"models/staff.sql": ""},
    ),
    "all of a table instead of a column": twin(
        _YAML, "  - name: staff\n",
        "  - name: staff\n    config: {meta: {privacy: {classification: sensitive}}}\n",
        against=True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=VERSIONS)
def run(request) -> Iterator[Runner]:
    with dbt_of(request.param).served() as runner:
        yield runner


def _parsed(run: Runner, folder: Path, words: tuple[str, ...] = ("parse",)) -> None:
    done = run(*words, project=folder)
    assert done.returncode == 0, done.out[-4000:]


def _review(folder: Path) -> None:
    assert command(["dbt", "review", "--all", "--who", "Ada", "--why", "read",
                    "--project-dir", str(folder)]) == 0  # fmt: skip


@pytest.fixture(scope="module")
def reviewed(run, tmp_path_factory) -> Path:
    """The project, where all is reviewed."""
    folder = tmp_path_factory.mktemp("reviewed")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _parsed(run, folder, ("deps",))
    _parsed(run, folder)
    assert {code for code, _ in _found(folder)} == {"G01", "G14"}
    _review(folder)
    assert _found(folder) == set()
    return folder


def _found(folder: Path, before: Path | None = None) -> set[tuple[str, str]]:
    earlier = None if before is None else check_project(open_dbt_project(before))
    verdict = check_project(open_dbt_project(folder), before=earlier)
    return {(each.code, each.names[0]) for each in verdict.findings}


def _changed(run: Runner, reviewed: Path, folder: Path, case: Case) -> Path:
    shutil.copytree(reviewed, folder, symlinks=True, dirs_exist_ok=True)
    for name, (old, new) in case.edits.items():
        whole = (folder / name).read_text()
        assert old in whole
        (folder / name).write_text(whole.replace(old, new, 1))
    for name, text in case.more.items():
        (folder / name).write_text(text)
        if not text:
            (folder / name).unlink()
    _parsed(run, folder, ("parse", "--no-partial-parse"))
    return folder


def _some(cases: Mapping[str, Case]) -> list[object]:
    """All cases are long proofs; ``make test`` has the first few."""
    return [
        name if at < 3 else pytest.param(name, marks=pytest.mark.evidence)
        for at, name in enumerate(cases)
    ]


@pytest.mark.parametrize("name", _some(LEAKS))
def test_a_leak_is_stopped(run, reviewed, tmp_path, name: str) -> None:
    case = LEAKS[name]
    folder = _changed(run, reviewed, tmp_path / "shop", case)
    found = _found(folder, reviewed if case.against else None)
    # dbt v2's alpha has no semantic model of this form in its manifest: there is nothing to show.
    has_heads = "semantic_model.shop.heads" in (folder / "target/manifest.json").read_text()
    wanted = {each for each in case.found if has_heads or "heads" not in each[1]}
    assert wanted <= found and (found or not wanted), found


@pytest.mark.parametrize("name", _some(TWINS))
def test_its_harmless_twin_passes_once_it_is_reviewed(run, reviewed, tmp_path, name: str) -> None:
    case = TWINS[name]
    folder = _changed(run, reviewed, tmp_path / "shop", case)
    before = reviewed if case.against else None
    assert bool(_found(folder, before)) is case.once
    if case.once:
        _review(folder)
    assert _found(folder, before) == set()
