"""What was reviewed, waived or marked once, and what the gate says when more stands behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dbt_manifests import SENSITIVE, Project, shop

from policy_engine.cli.main import run
from policy_engine.dbt.review import FILE

SETTINGS = "name: shop\nprofile: shop\nvars: {seen: main.days, start: 1, pack: {sql: select 1}}\n"
BY = ("--who", "Ada", "--why", "read", "--until", "2999-01-01")


def dbt(capsys, *words: str) -> tuple[int, str, str]:
    code = run(["dbt", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def written(project: Project, folder: Path, settings: str = SETTINGS) -> None:
    project.write(folder)
    (folder / "dbt_project.yml").write_text(settings + "on-run-end: '{{ seen() }}'\n")


def hooked(seen: str = "create view v as select * from {{ var('seen') }}") -> Project:
    """A shop with an operation that reads a variable, and a package that reads another."""
    return (
        shop()
        .macro("seen", f"{{% macro seen() %}}{seen}{{% endmacro %}}")
        .macro("run", "{% macro run() %}{% do run_query(var('sql')) %}{% endmacro %}", "pack")
        .operation("{{ seen() }}")
    )


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys) -> Path:
    monkeypatch.chdir(tmp_path)
    written(hooked(), tmp_path)
    assert dbt(capsys, "review", "--all", *BY)[0] == 0
    assert dbt(capsys, "gate")[0] == 0
    return tmp_path


def test_a_review_has_the_text_and_no_anchors(folder) -> None:
    text = (folder / FILE).read_text()
    assert "&id" not in text and "*id" not in text and text.count("until: 2999-01-01") == 2
    assert "create view v as select * from {{ var('seen') }}" in text
    assert 'var seen: "main.days"' in text and 'var sql: "select 1"' in text


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        ("main.days", "raw.people", "operation shop-on-run-end-1"),
        ("select 1", "select 2", "package pack"),
        ("start: 1", "start: 2", ""),
    ],
)
def test_a_variable_that_is_read_is_part_of_the_code(folder, capsys, old, new, asked) -> None:
    written(hooked(), folder, SETTINGS.replace(old, new))
    code, out, _ = dbt(capsys, "review")
    assert code == bool(asked) and f"{asked} (" * bool(asked) in out
    if asked == "operation shop-on-run-end-1":
        assert '    -var seen: "main.days"\n    +var seen: "raw.people"\n' in out


def test_a_name_of_a_variable_that_is_made_up_may_be_any(folder, capsys) -> None:
    made_up = hooked("select {{ var(name) }}")
    written(made_up, folder)
    dbt(capsys, "review", "--all", *BY)
    written(made_up, folder, SETTINGS.replace("start: 1", "start: 2"))
    assert "operation shop-on-run-end-1 is other code than Ada reviewed" in dbt(capsys, "gate")[1]


def test_the_variables_of_the_run_that_made_the_manifest_count(folder, capsys) -> None:
    project = hooked()
    project.document["metadata"]["invocation_id"] = "one"
    written(project, folder)
    results = {"metadata": {"invocation_id": "one"}, "args": {"vars": {"seen": "raw.people"}}}
    (folder / "target/run_results.json").write_text(json.dumps(results))
    assert dbt(capsys, "gate")[0] == 1
    results["metadata"]["invocation_id"] = "another"
    (folder / "target/run_results.json").write_text(json.dumps(results))
    assert dbt(capsys, "gate")[0] == 0
    (folder / "target/run_results.json").write_text("[]")
    (folder / "vars.yml").write_text("vars: {seen: raw.people}\n")
    assert dbt(capsys, "gate")[0] == 1


def test_a_review_shows_the_lines_that_changed(folder, capsys) -> None:
    written(hooked("create view v as\nselect * from {{ ref('people') }}"), folder)
    out = dbt(capsys, "review")[1]
    assert "    +select * from {{ ref('people') }}{% endmacro %}\n" in out
    assert "    +given: model.shop.people\n" in out and '    -var seen: "main.days"\n' in out
    document = json.loads(dbt(capsys, "review", "--format", "json")[1])
    assert "+given: model.shop.people" in document["unreviewed"][0]["changes"]
    other = hooked().macro("run", "{% macro run() %}{% do run_query(1) %}{% endmacro %}", "pack")
    written(other.macro("more", "{% macro more() %}{% endmacro %}", "pack"), folder)
    lines = [line.strip() for line in dbt(capsys, "review")[1].splitlines()]
    changed = [line.partition(" ")[0] for line in lines if line.startswith(("+", "-"))]
    assert changed == ["-macro.pack.run", "-var", "+macro.pack.more", "+macro.pack.run"]


def visits(project: Project) -> Project:
    """The exposure ``board`` shows two marked sources."""
    project.source("raw.visits", meta=SENSITIVE)
    text = "select * from {{ ref('people') }}, {{ source('raw', 'visits') }}"
    return project.model("dim", text).exposure("board", "dim")


def board(**more: object) -> Project:
    return shop().model("dim", "select * from {{ ref('people') }}").exposure("board", "dim", **more)


def test_a_waiver_is_of_what_reaches_it(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    visits(shop()).write(tmp_path)
    entry = "{{code: G01, about: exposure board, {}who: Ada, why: x, until: 2999-01-01}}"
    (tmp_path / FILE).write_text(f"waived: [{entry.format('from: [raw.people], ')}]")
    code, out, err = dbt(capsys, "gate")
    assert code == 1 and "G01 exposure board shows sensitive data" in out
    said = "is not of raw.visits, which reaches it: write from: [raw.people, raw.visits]"
    assert f"the waiver of G01 for 'exposure board' {said}" in " ".join(err.split())
    (tmp_path / FILE).write_text(f"waived: [{entry.format('from: [raw.people, raw.visits], ')}]")
    assert dbt(capsys, "gate")[0] == 0
    board().write(tmp_path)  # less reaches it
    assert dbt(capsys, "gate")[0] == 0
    (tmp_path / FILE).write_text(f"waived: [{entry.format('')}]")
    assert dbt(capsys, "gate")[0] == 1
    (tmp_path / FILE).write_text(f"waived: [{entry.format('from: raw.people, ')}]")
    assert "from must be a list of names" in dbt(capsys, "gate")[2]


def test_a_waiver_of_what_is_unknown_is_of_no_other_table(tmp_path, capsys, monkeypatch) -> None:
    def reads(*tables: str) -> None:
        text = " union all ".join(f"select a from {each}" for each in tables)
        shop().model("days", text, access="public").write(tmp_path)

    def waived(names: str) -> None:
        entry = f"code: G09, about: days, from: [{names}], who: Ada, why: x, until: 2999-01-01"
        (tmp_path / FILE).write_text(f"waived: [{{{entry}}}]")

    monkeypatch.chdir(tmp_path)
    reads("logs.clicks")
    waived("")
    code, out, err = dbt(capsys, "gate")
    assert code == 1 and "G09 days reads logs.clicks" in out
    assert "write from: [logs.clicks]" in " ".join(err.split())
    waived("logs.clicks")
    assert dbt(capsys, "gate")[0] == 0
    reads("logs.clicks", "logs.views")
    code, out, _ = dbt(capsys, "gate")
    assert code == 1 and "logs.views" in out and "logs.clicks," not in out
    waived("logs.*")
    assert dbt(capsys, "gate")[0] == 0
    reads("logs.clicks", "logs2.payroll")
    assert dbt(capsys, "gate")[0] == 1


def test_a_waiver_of_a_column_is_not_of_another(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    def marked(*names: str) -> Project:
        columns = {name: {"name": name, "meta": SENSITIVE} for name in names}
        project = Project().source("raw.people", columns=columns)
        text = "select * from {{ source('raw', 'people') }}"
        return project.model("dim", text, access="public")

    marked("email").write(tmp_path)
    (tmp_path / FILE).write_text(
        "waived: [{code: G02, about: dim, from: [raw.people.email], who: Ada, why: x,"
        " until: 2999-01-01}]"
    )
    assert dbt(capsys, "gate")[0] == 0
    marked("email", "name").write(tmp_path)
    code, _, err = dbt(capsys, "gate")
    assert code == 1 and "write from: [raw.people.email, raw.people.name]" in " ".join(err.split())


def test_a_baseline_leaves_out_no_finding_that_more_reaches(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    board().write(tmp_path)
    dbt(capsys, "gate", "--format", "json", "--output", "old.json")
    assert dbt(capsys, "gate", "--baseline", "old.json")[0] == 0
    visits(shop()).write(tmp_path)
    assert dbt(capsys, "gate", "--baseline", "old.json")[0] == 1


AUDIENCE = {"privacy": {"audience": ["nurses"]}}


def test_an_audience_is_reviewed_once(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    board(meta=AUDIENCE).write(tmp_path)
    code, out, _ = dbt(capsys, "gate")
    said = "G01 the audience exposure board is not reviewed; it is given sensitive data: raw.people"
    assert code == 1 and said in out
    assert "    nurses\n" in dbt(capsys, "review")[1]
    dbt(capsys, "review", "audience exposure board", *BY)
    assert dbt(capsys, "gate")[0] == 0
    board(meta={"privacy": {"audience": ["nurses", "all"]}}).write(tmp_path)
    assert "is other audience than Ada reviewed" in dbt(capsys, "gate")[1]
    board(meta={"privacy": {"audience": "nurses"}}).write(tmp_path)
    assert "G30" in dbt(capsys, "gate")[1]


def test_what_was_sensitive_is_sensitive_still(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    columns = {"name": {"name": "name", "meta": SENSITIVE}}
    project = shop().seed("staff", columns=columns).seed("lost", meta=SENSITIVE)
    written(project, tmp_path / "main")
    here = tmp_path / "branch"
    here.mkdir()
    monkeypatch.chdir(here)
    against = ("gate", "--against", "../main/target/manifest.json")

    def said(change: Project) -> tuple[int, str, str]:
        change.write(here)
        code, out, err = dbt(capsys, *against)
        return code, out, " ".join(err.split())

    kept = shop().seed("staff", columns=columns)
    code, _, err = said(kept)
    assert code == 0 and "sensitive in the earlier manifest, and not in this one: lost" in err
    code, out, _ = said(shop().seed("staff"))
    assert (
        code == 1
        and "G33 staff was sensitive in name in the earlier manifest, and is not in this one" in out
    )
    assert said(shop().seed("staff", meta=SENSITIVE))[0] == 0
    some = shop().seed("staff", columns=columns).seed("lost", columns=columns)
    assert "G33 lost was sensitive in the earlier manifest, and is not in this one" in said(some)[1]
    renamed = Project().source("raw.folk", identifier="people").seed("staff", columns=columns)
    assert (
        "G33 raw.folk was sensitive in the earlier manifest, and is not in this one"
        in said(renamed)[1]
    )
    nothing = Project().source("raw.people")
    assert "G33 raw.people was sensitive" in said(nothing)[1]
    (here / FILE).write_text(
        "waived: [{code: G33, about: raw.people, who: Ada, why: made up, until: 2999-01-01}]"
    )
    assert "G33" not in said(nothing)[1]


def test_what_asks_when_a_source_was_loaded_is_read_by_somebody() -> None:
    project = shop().source("raw.days", loaded_at_query="select max(name) from raw.people")
    project.source("raw.weeks", loaded_at_field="(select max(name) from raw.people)")
    project.source("raw.years", loaded_at_field="loaded_at::timestamp")
    assert [each.message for each in project.verdict().findings] == [
        "the hook loaded-at-field of raw.weeks is not reviewed",
        "the hook loaded-at-query of raw.days is not reviewed",
    ]
    assert project.reviewed().findings == ()


@pytest.mark.parametrize(
    ("written", "is_off"),
    [
        ("config: {enabled: false}", True),
        ("config: {enabled: false, access: public}", True),
        ('config: {"enabled": false}', True),
        ("config: {enabled: \"{{ target.name == 'prod' }}\", access: public}", False),
        ("config: {enabled: '{{ target.name == ''prod'' }}'}", False),
    ],
)
def test_what_is_off_in_the_style_of_a_flow(tmp_path, written: str, is_off: bool) -> None:
    project = shop().model("dim", "select * from {{ ref('people') }}", access="public")
    project.document["nodes"]["model.shop.dim"]["patch_path"] = "shop://models/schema.yml"
    project.disable("model.shop.dim").write(tmp_path)
    (tmp_path / "models/schema.yml").write_text(f"models:\n  - name: dim\n    {written}\n")
    assert project.codes(tmp_path) == ([] if is_off else ["G13"])


def test_two_hooks_of_one_model_are_two_reviews(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    hooks = {"materialized": "table", "post-hook": [{"sql": "analyze"}, {"sql": "vacuum"}]}
    shop().model("dim", "select * from {{ ref('people') }}", config=hooks).write(tmp_path)
    dbt(capsys, "review", "--all", *BY)
    assert dbt(capsys, "gate")[0] == 0
