"""Code beside the models is read once: what is new, changed or expired is one finding each."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from dbt_manifests import SENSITIVE, Project, review_of, shop

from policy_engine.cli.main import run
from policy_engine.dbt.foreign import Code
from policy_engine.dbt.review import FILE

HOOK = "insert into audit.log values ('x')"
RUNS = "{% macro everyone() %}{% do run_query('select 1') %}{% endmacro %}"


def beside() -> Project:
    """A project with one piece of each kind beside its models."""
    made = "{% materialization mine, default %}{{ sql }}{% endmaterialization %}"
    hooked = {"materialized": "table", "post-hook": [{"sql": HOOK}]}
    return (
        shop()
        .macro("create_table_as", "{% macro create_table_as() %}a{% endmacro %}", "dbt")
        .macro("star", "{% macro star() %}*{% endmacro %}", "dbt_utils")
        .macro("asked", RUNS.replace("everyone", "asked"), "dbt_utils")
        .macro("create_table_as", "{% macro create_table_as() %}b{% endmacro %}")
        .macro("materialization_mine_default", made)
        .macro("everyone", RUNS)
        .macro("cents", "{% macro cents(x) %}{{ x }} / 100{% endmacro %}")
        .operation("{{ everyone() }}")
        .model("dim", "select * from {{ ref('people') }}", config=hooked)
        .model("dim_2", "select 1 as one", config=hooked)
        .model("py", "def model(dbt, s):\n    return 1", language="python")
        .model("asks", "{% do run_query('select 1') %}select 1", compiled="select 1")
    )


LABELS = [
    "package dbt_utils",
    "hook post-hook of dim",
    "hook post-hook of dim_2",
    "operation shop-on-run-end-1",
    "materialization mine_default",
    "python py",
    "macro create_table_as",
    "macro everyone",
    "template asks",
]


def test_every_piece_is_one_finding_and_none_where_all_is_read() -> None:
    verdict = beside().verdict()
    assert [code.label for code in verdict.codes] == LABELS
    found = {each.message: each.code for each in verdict.findings}
    assert len(found) == len(LABELS)
    in_place = "the macro create_table_as is not reviewed and replaces that of dbt"
    assert found.pop(in_place) == "G11" and set(found.values()) == {"G14"}
    assert "the hook post-hook of dim is not reviewed; it is given sensitive data: dim" in found
    assert beside().reviewed().findings == ()


def code(project: Project, label: str) -> Code:
    [found] = [each for each in project.verdict().codes if each.label == label]
    return found


def test_the_digest_is_of_the_text_of_what_it_calls_and_of_what_it_is_given() -> None:
    calls = "{{ log_it() }} select 1"
    one = shop().operation(calls).macro("log_it", "{% macro log_it() %}a{% endmacro %}")
    same = shop().operation(f" {calls}\n").macro("log_it", "{% macro log_it() %}a{%  endmacro\n%}")
    other = shop().operation(calls).macro("log_it", "{% macro log_it() %}b{% endmacro %}")
    label = "operation shop-on-run-end-1"
    assert code(one, label).digest == code(same, label).digest != code(other, label).digest
    refs = "select 1 from {{ ref('days') }}"
    clean, given = shop().seed("days"), shop().seed("days", meta=SENSITIVE)
    label = "operation shop-on-run-end-2"
    read, again = code(clean.operation(refs), label), code(given.operation(refs), label)
    assert read.given == () and again.given == ("seed.shop.days",)


def test_a_hook_that_is_read_for_other_models_is_not_read_for_sensitive_ones() -> None:
    [one, other] = [each for each in beside().verdict().codes if each.kind == "hook"]
    assert one.texts == other.texts == (HOOK,)
    given, clean = (one, other) if one.given else (other, one)
    today = date(2026, 1, 1)
    assert review_of([clean]).missing(given, today) == "is not reviewed"
    assert review_of([given]).missing(given, today) == ""
    assert review_of([given]).missing(clean, today) == ""  # it is given less


def test_a_package_is_one_piece_with_its_hooks_and_operations() -> None:
    project = shop().macro("star", "{% macro star() %}*{% endmacro %}", "dbt_utils")
    before = code(project, "package dbt_utils").digest
    project.operation("{{ dbt_utils.star() }}", package_name="dbt_utils")
    project.model("log", "select 1", package_name="dbt_utils", config={"post-hook": "select 2"})
    [found] = project.verdict().codes
    assert found.label == "package dbt_utils" and found.digest != before
    assert len(found.texts) == 3


@pytest.mark.parametrize(
    ("sql", "is_run"),
    [
        ("{{ dbt_utils.get_column_values(ref('people'), 'zip') }}", True),
        ("{{ dbt_utils.get_column_values(ref('days'), 'day') }}", False),
        ("{{ dbt_utils.star(ref('people')) }}", False),
    ],
)
def test_a_package_that_asks_sensitive_data_for_a_template(sql: str, is_run: bool) -> None:
    used = ["macro.dbt_utils." + ("star" if "star" in sql else "get_column_values")]
    project = (
        shop()
        .seed("days")
        .macro("star", "{% macro star() %}{{ adapter.dispatch('x') }}{% endmacro %}", "dbt_utils")
        .macro("asked", "{% macro asked() %}{% do run_query(x) %}{% endmacro %}", "dbt_utils")
        .macro(
            "get_column_values",
            "{% macro get_column_values() %}{{ asked() }}{% endmacro %}",
            "dbt_utils",
            uses=["macro.dbt_utils.asked"],
        )
    )
    name = "people" if "people" in sql else "days"
    parents = {"macros": used, "nodes": [project.find(name)]}
    project.model("dim", f"select {sql} as x", compiled="select 1 as x", depends_on=parents)
    labels = [each.label for each in project.verdict().codes]
    assert ("template dim" in labels) is is_run


@pytest.mark.parametrize(
    "raw",
    [
        "select statement, context from {{ ref('people') }}",
        "{% if execute %}select 1{% endif %}",
        "{% set p = adapter.get_relation(none, 'main', 'x') %}select 1",
        "{# run_query('x') #}{{ log('run_query') }}select 1",
        "{{ config(post_hook=\"{{ audit('x') }}\") }}select 1",
    ],
)
def test_a_template_that_runs_nothing_is_nobodys_to_review(raw: str) -> None:
    project = shop().model("dim", raw, compiled="select 1 as one")
    assert project.verdict().codes == ()


@pytest.mark.parametrize(("given", "is_run"), [("run_query('select 1')", True), ("7", False)])
def test_the_arguments_of_a_generic_test_are_read(given: str, is_run: bool) -> None:
    metadata = {"name": "mine", "kwargs": {"model": "x", "values": f"{{{{ {given} }}}}"}}
    raw = "{{ test_mine(**_dbt_generic_test_kwargs) }}"
    project = shop().test("t", raw, compiled="select 1", test_metadata=metadata)
    assert [each.label for each in project.verdict().codes] == (
        ["template test t"] if is_run else []
    )


# The command and its file


def dbt(capsys, *words: str) -> tuple[int, str, str]:
    code = run(["dbt", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    beside().write(tmp_path)
    settings = "name: shop\nprofile: shop\non-run-end: '{{ everyone() }}'\n"
    (tmp_path / "dbt_project.yml").write_text(settings)
    (tmp_path / "models/py.py").write_text("def model(dbt, s):\n    return 1\n")
    package = tmp_path / "dbt_packages/dbt_utils"
    package.mkdir(parents=True)
    (package / "dbt_project.yml").write_text("name: dbt_utils\nversion: 1.3.0\n")
    return tmp_path


BY = ("--who", "Ada", "--why", "reads nothing")


def test_review_shows_what_nobody_has_read_and_writes_who_has(folder, capsys) -> None:
    status, out, _ = dbt(capsys, "review")
    lines = out.splitlines()
    assert status == 1 and lines[-1] == "9 of 9 to review"
    assert "package dbt_utils (dbt_packages/dbt_utils/dbt_project.yml) is not reviewed" in lines
    assert "    version 1.3.0, 2 macros, hooks and operations" in lines
    assert "    of which run statements: asked" in lines
    assert "operation shop-on-run-end-1 (dbt_project.yml:3) is not reviewed" in lines
    assert "    {{ everyone() }}" in lines and f"    {RUNS}" in lines
    assert dbt(capsys, "review", "package dbt_utils", "py", *BY)[0] == 0
    written = (folder / FILE).read_text()
    assert "package: dbt_utils\n    version: 1.3.0\n    digest: sha256:" in written
    assert dbt(capsys, "review")[1].splitlines()[-1] == "7 of 9 to review"
    status, out, _ = dbt(capsys, "review", "--all", *BY, "--until", "2999-01-01")
    assert status == 0 and out.splitlines()[0] == "reviewed until 2999-01-01: hook post-hook of dim"
    assert dbt(capsys, "review")[:2] == (0, "0 of 9 to review\n")
    status, out, _ = dbt(capsys, "gate")
    assert "G14" not in out and "G11" not in out


def test_code_that_changed_is_said_and_its_entry_replaced(folder, capsys) -> None:
    dbt(capsys, "review", "--all", *BY)
    text = (folder / FILE).read_text()
    assert set(re.findall("why: (.*)", text)) == {BY[-1]}
    (folder / FILE).write_text(f"# ours\n{text}")
    project = beside().macro("everyone", RUNS.replace("select 1", "select 2"))
    project.write(folder)
    status, out, _ = dbt(capsys, "gate")
    assert status == 1 and re.findall(r"(\S+): G14 (.*)", out) == [
        ("dbt_project.yml", "the operation shop-on-run-end-1 is other code than Ada reviewed"),
        ("macros/everyone.sql:1", "the macro everyone is other code than Ada reviewed"),
    ]
    dbt(capsys, "review", "--all", *BY)
    written = (folder / FILE).read_text()
    assert written.startswith("# ours\n") and written.count("macro: everyone") == 1


def test_a_review_ends(folder, capsys) -> None:
    dbt(capsys, "review", "--all", *BY, "--until", "2020-01-01")
    assert "macro everyone was reviewed by Ada until 2020-01-01" in dbt(capsys, "gate")[1]


def test_what_review_refuses(folder, capsys) -> None:
    assert "a review needs --who and --why" in dbt(capsys, "review", "--all")[2]
    assert "there is no 'x' to review, found package" in dbt(capsys, "review", "x", *BY)[2]
    said = dbt(capsys, "review", "--all", *BY, "--until", "soon")[2]
    assert "--until must be a day, as in 2027-06-30, found soon" in said
    document = json.loads(dbt(capsys, "review", "--format", "json")[1])
    assert document["reviewed"] == 0 and document["unreviewed"][0]["name"] == "dbt_utils"


_GOOD = "{macro: a, digest: b, who: c, why: d, until: 2027-01-01}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "it is not YAML"),
        ("- a", "it must be a mapping"),
        ("reviews: []", "it must have no more than version, reviewed, waived"),
        ("reviewed: a", "reviewed must be a list"),
        ("reviewed: [a]", "an entry of reviewed names one of package"),
        (f"reviewed: [{_GOOD.replace('who: c, ', '')}]", "has no who"),
        (f"reviewed: [{_GOOD.replace('why', 'because')}]", "has no why"),
        (f"reviewed: [{_GOOD.replace('}', ', x: y}')}]", "has the unknown key x"),
        (f"reviewed: [{_GOOD.replace('2027-01-01', 'soon')}]", "until must be a day"),
        ("waived: [a]", "a waiver is a mapping of code, about"),
        ("waived: [{code: G99, about: a, who: b, why: c, until: 2027-01-01}]", "found G99"),
    ],
)
def test_a_review_file_that_cannot_be_read(folder, capsys, text: str, said: str) -> None:
    (folder / FILE).write_text(text)
    status, _, err = dbt(capsys, "gate")
    assert status == 1 and said in err


# What a template hands to a package that was reviewed

UTILS = {
    "get_single_value": "{% macro get_single_value(q) %}{% call statement('x') %}{{ q }}"
    "{% endcall %}{% endmacro %}",
    "get_column_values": "{% macro get_column_values(table, column) %}{% call statement('x') %}"
    "select {{ column }} from {{ table }}{% endcall %}{% endmacro %}",
    "date_spine": "{% macro date_spine(datepart, start_date) %}{% call statement('x') %}"
    "select {{ start_date }}{% endcall %}{% endmacro %}",
    "pivot": "{% macro pivot(column, values) %}{{ column }}{% endmacro %}",
}
LEAKS = [
    "{{ dbt_utils.get_single_value('select max(name) from raw.peo' ~ 'ple') }}",
    '{{ dbt_utils.get_single_value("select max(name) from raw.people") }}',
    "{% if execute %}{{ dbt_utils.get_single_value('select 1') }}{% endif %}",
    "{% set q = 'select max(name) from raw.peo' ~ 'ple' %}{{ dbt_utils.get_single_value(q) }}",
    "{% set q %}select max(name) from raw.people{% endset %}{{ dbt_utils.get_single_value(q) }}",
    "{% for q in ['select 1 from raw.people'] %}{{ dbt_utils.get_single_value(q) }}{% endfor %}",
    "{{ dbt_utils.get_single_value(var('q')) }}",
    "{{ dbt_utils.get_column_values('raw.people', 'name') }}",
    "{{ dbt_utils.get_column_values('people', 'name') }}",
    "{{ dbt_utils.get_column_values('people_v', 'name') }}",
    "{{ dbt_utils.get_column_values(ref('days'), '(select max(name) from raw.people)') }}",
    "{{ dbt_utils.get_column_values(ref('days'), \"query_to_xml('sel' || 'ect 1')\") }}",
    "{% set u = dbt_utils %}{{ u.get_single_value('x') }}",
    "{{ dbt_utils['get_single_value']('select 1') }}",
    "{{ adapter.dispatch('get_single_value', 'dbt_utils')('select 1') }}",
]
HARMLESS = [
    "{{ dbt_utils.get_column_values(ref('days'), 'day') }}",
    "{{ dbt_utils.get_column_values(table=ref('days'), column='day', max_records=50) }}",
    "{{ dbt_utils.get_column_values(ref('days'), 'day', order_by='count(*) desc') }}",
    "{% set d = ref('days') %}{{ dbt_utils.get_column_values(d, 'day') }}",
    "{{ dbt_utils.pivot('day', dbt_utils.get_column_values(ref('days'), 'day')) }}",
    "{{ dbt_utils.date_spine('day', \"cast('2020-01-01' as date)\") }}",
    "{% for c in ['day', 'week'] %}{{ dbt_utils.get_column_values(ref('days'), c) }}{% endfor %}",
    "select 'dbt_utils' as dbt_utils",
    "{{ dbt_utils.pivot('select x from raw.people', ['a']) }}",
]


@pytest.mark.parametrize(
    ("template", "is_listed"), [*((t, True) for t in LEAKS), *((t, False) for t in HARMLESS)]
)
def test_what_a_reviewed_package_is_handed_to_run_is_listed_like_ones_own(template, is_listed):
    project = shop().seed("days")
    for name, raw in UTILS.items():
        project.macro(name, raw, "dbt_utils")
    parents = {"macros": [], "nodes": [project.find("days")]}
    project.model("dim", f"{template}", compiled="select 1 as x", depends_on=parents)
    project.macro("own", f"{{% macro own() %}}{template}{{% endmacro %}}")
    labels = {each.label for each in project.verdict().codes}
    assert ({"template dim", "macro own"} <= labels) is is_listed
    assert is_listed or not {"template dim", "macro own"} & labels
