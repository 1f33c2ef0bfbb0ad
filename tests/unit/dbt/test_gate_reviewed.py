"""Packages whose macros somebody has read: their hooks are taken as they are, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from dbt_manifests import Project, shop

from policy_engine.dbt.package_calls import only_calls
from policy_engine.errors import PolicyError

# As the packages that log runs do: a macro that calls one by its name, which runs what it wrote.
UPLOAD = """{% macro upload(results) %}
{% for each in results %}
{% set text = adapter.dispatch('insert_into', 'logs')(each) %}
{% do run_query(text) %}
{% endfor %}
{% endmacro %}"""
INSERT = """{% macro insert_into(each) %}
insert into {{ target.schema }}.runs {{ api.values(each) }} select * from {{ each.table }}
{% endmacro %}"""
HOOK = "{% if target.name == 'prod' %}{{ logs.upload(results) }}{% endif %}"


def logged(hook: str = HOOK) -> Project:
    project = shop().model("dim", "select 1 as one")
    project.macro("upload", UPLOAD, "logs").macro("insert_into", INSERT, "logs")
    return project.operation(hook)


def judged(project: Project, folder: Path, reviewed: str = "[logs]"):
    project.write(folder)
    hooks = [each["raw_code"] for each in project.document["nodes"].values()
             if each["resource_type"] == "operation"]  # fmt: skip
    settings = folder / "dbt_project.yml"
    settings.write_text(f"name: shop\nprofile: shop\non-run-end: {json.dumps(hooks)}\n")
    os.utime(settings, (0, 0))
    more = f", reviewed_packages: {reviewed}" if reviewed else ""
    (folder / "policy-engine.yaml").write_text(f"dbt: {{release_targets: [prod]{more}}}\n")
    return project.verdict(folder)


def test_a_package_that_logs_runs_is_stopped_until_it_is_reviewed(tmp_path):
    before = judged(logged(), tmp_path, "")
    assert before.findings and not before.notes
    found = judged(logged(), tmp_path)
    assert found.findings == ()
    assert found.notes == (
        "hooks and macros of logs were not checked: dbt.reviewed_packages names it",
    )


@pytest.mark.parametrize(
    "hook",
    [
        "copy (select * from main.people) to 'x.csv'",
        HOOK + " copy (select * from main.people) to 'x.csv'",
        "{{ logs.upload(run_query(\"copy (select * from main.people) to 'x.csv'\")) }}",
        "{% if run_query(\"copy (select * from main.people) to 'x.csv'\") %}{{ logs.upload() }}"
        "{% endif %}",
        "{% set t = logs.upload() %}copy (select * from main.people) to 'x.csv'",
    ],
)
def test_what_the_project_itself_runs_is_judged_all_the_same(tmp_path, hook):
    assert "G05" in {each.code for each in judged(logged(hook), tmp_path).findings}


def test_a_hook_of_a_model_and_a_macro_in_the_place_of_dbts_own_are_the_packages(tmp_path):
    def project() -> Project:
        made = logged()
        hook = {"sql": "{{ logs.upload(results) }}", "transaction": True, "index": None}
        made.model("more", "select * from {{ ref('people') }}", config={"post-hook": [hook]})
        made.macro("get_merge_sql", "{% macro get_merge_sql() %}{{ x(y) }}{% endmacro %}", "logs")
        return made.macro("get_merge_sql", "{% macro get_merge_sql() %}m{% endmacro %}", "dbt")

    assert "G11" in {each.code for each in judged(project(), tmp_path, "").findings}
    assert judged(project(), tmp_path).findings == ()


def test_a_model_of_a_reviewed_package_may_ask_while_it_is_rendered(tmp_path):
    def project() -> Project:
        made = logged()
        made.model("runs", "{% do run_query(var('ask')) %}select 1 as one")
        made.document["nodes"][made.find("runs")]["package_name"] = "logs"
        return made

    before, after = judged(project(), tmp_path, ""), judged(project(), tmp_path)
    asks = "the template of runs runs what only a run can tell: …"
    assert asks in {each.message for each in before.findings}
    assert asks not in {each.message for each in after.findings}


@pytest.mark.parametrize("name", ["shop", "policy_engine", "lgos"])
def test_only_a_package_can_be_reviewed(tmp_path, name):
    found = judged(logged(), tmp_path, f"[{name}]")
    assert found.findings
    told = f"dbt.reviewed_packages names {name}, which is no package of the project"
    assert told in found.notes


def test_a_slip_is_told(tmp_path):
    with pytest.raises(PolicyError, match="reviewed_packages must be a list of packages"):
        judged(logged(), tmp_path, "logs")


@pytest.mark.parametrize(
    ("template", "is_theirs"),
    [
        ("{{ logs.upload(results) }}", True),
        (" {% do logs.upload(results) %}\n{{ logs.more() }}", True),
        ("{% if var('log', true) %}{{ logs.a() }}{% elif env_var('X') %}{{ logs.b() }}"
         "{% else %} {% endif %}", True),
        ("{{ upload(results) }}", False),
        ("{{ others.upload(results) }}", False),
        ("{{ var('x') }}", False),
        ("{{ x }}", False),
        ("{% do x.append(1) %}", False),
        ("{% for x in y %}{{ logs.upload(x) }}{% endfor %}", False),
        ("{{ logs.upload(others.it()) }}", False),
        ("{% if x.y() %}{{ logs.upload() }}{% endif %}", False),
        ("{% if x %}select 1{% endif %}", False),
        ("{% if %}", False),
        ("", False),
    ],
)  # fmt: skip
def test_what_is_a_call_and_no_more(template, is_theirs):
    assert only_calls(template, {"logs"}) is is_theirs
