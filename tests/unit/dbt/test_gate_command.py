"""``policy-engine dbt gate``: its formats, its exit codes, and where its findings are."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from dbt_manifests import POLICY, SENSITIVE, Project, shop

from policy_engine.cli.main import run
from policy_engine.dbt.rules import RULES

_YAML = """\
version: 2
exposures:
  - name: board
    type: dashboard
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A project with an exposure of sensitive data, in the working directory."""
    monkeypatch.chdir(tmp_path)
    project = shop().model("dim", "select *\nfrom main.people").exposure("board", "dim")
    project.write(tmp_path)
    (tmp_path / "models/schema.yml").write_text(_YAML)
    os.utime(tmp_path / "models/schema.yml", (0, 0))
    os.utime(tmp_path / "dbt_project.yml", (0, 0))
    return tmp_path


def gate(capsys, *words: str) -> tuple[int, str, str]:
    code = run(["dbt", "gate", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_text_names_files_and_lines_as_compilers_do(folder, capsys) -> None:
    code, out, err = gate(capsys)
    assert code == 1 and err == ""
    assert out.splitlines() == [
        "models/schema.yml:3: G01 exposure board shows sensitive data",
        "    raw.people → people → dim (by name) → exposure board",
        "    " + RULES["G01"].remedy,
        "models/dim.sql:2: G08 dim reads people by name, without ref() or source()",
        "    raw.people → people → dim",
        "    " + RULES["G08"].remedy,
        "gate: 2 findings; 4 nodes, 1 sensitive, 0 releases, 0 certified; 1 way out",
    ]


def test_files_are_named_from_where_one_is(folder, capsys, monkeypatch) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    _, out, _ = gate(capsys, "--project-dir", "..")
    assert out.startswith(f"{folder}/models/schema.yml:3: G01")
    monkeypatch.chdir(folder.parent)
    _, out, _ = gate(capsys, "--project-dir", folder.name)
    assert out.startswith(f"{folder.name}/models/schema.yml:3: G01")
    monkeypatch.chdir(folder / "models")
    assert "G01" in gate(capsys)[1]


def test_json_is_one_document(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "json")
    document = json.loads(out)
    assert code == 1 and document["clean"] is False
    assert document["findings"][0] == {
        "code": "G01",
        "message": "exposure board shows sensitive data",
        "file": "models/schema.yml",
        "line": 3,
        "path": ["raw.people", "people", "dim (by name)", "exposure board"],
        "remedy": RULES["G01"].remedy,
        "names": ["exposure board"],
        "origins": ["raw.people"],
        "fingerprint": document["findings"][0]["fingerprint"],
    }
    assert document["checked"] == {
        "nodes": 4, "sensitive": ["raw.people"], "reached": 4, "sinks": 1, "releases": [],
    }  # fmt: skip
    assert (document["adapter"], document["dbt_version"]) == ("duckdb", "1.11.16")


def test_json_tells_of_the_releases(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shop().release().write(tmp_path)
    (tmp_path / "models/out.privacy.yml").write_text(POLICY)
    code, out, _ = gate(capsys, "--format", "json")
    [release] = json.loads(out)["checked"]["releases"]
    assert code == 0 and release["certified"] is True
    assert (release["name"], release["k"], release["method"]) == ("out_v1_draw", 20, "keyed")
    assert any("the secret has at least 128 bits" in each for each in release["assumptions"])


def test_sarif(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "sarif")
    [found] = json.loads(out)["runs"]
    assert code == 1
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == list(RULES)
    first = found["results"][0]
    assert (first["ruleId"], first["level"]) == ("G01", "error")
    [place] = first["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "models/schema.yml"}, "region": {"startLine": 3},
    }  # fmt: skip
    assert "raw.people → people" in first["message"]["text"]
    [print_] = first["partialFingerprints"].values()
    (folder / "models/schema.yml").write_text(f"# moved\n{_YAML}")
    again = json.loads(gate(capsys, "--format", "sarif")[1])["runs"][0]["results"]
    assert again[0]["locations"] != first["locations"]
    assert print_ in again[0]["partialFingerprints"].values()
    assert again[0]["partialFingerprints"] != again[1]["partialFingerprints"]


def test_github(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "github")
    assert code == 1
    assert out.splitlines()[1].startswith(
        "::error file=models/dim.sql,line=2::G08 dim reads people by name, without ref() or"
        " source()"
        "%0Araw.people → people → dim%0A"
    )


def test_markdown_is_a_page_for_a_job(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "markdown")
    lines = out.splitlines()
    assert code == 1 and lines[:2] == ["## dbt gate", ""]
    assert lines[2].startswith("2 findings; 4 nodes, 1 sensitive")
    assert lines[6].startswith("| G01 | models/schema.yml:3 | exposure board shows sensitive data.")
    assert lines[7].endswith("| raw.people → people → dim |")


def test_what_a_baseline_has_is_left_out(folder, capsys) -> None:
    gate(capsys, "--format", "json", "--output", "old.json")
    code, out, err = gate(capsys, "--baseline", "old.json")
    assert code == 0 and out.startswith("gate: nothing found")
    assert "2 findings of old.json left out" in err
    shop().model("dim", "select *\nfrom main.people", access="public").exposure("b", "dim").write(
        folder
    )
    code, out, _ = gate(capsys, "--baseline", "old.json")
    found = re.findall(r": (G\d\d) (.*)", out)
    assert code == 1 and found == [
        ("G01", "exposure b shows sensitive data"),
        ("G02", "dim is public and holds sensitive data"),
    ]
    assert "old could not be read" in gate(capsys, "--baseline", "old")[2]
    Path("old").write_text("[]")
    assert "must be a report of 'dbt gate --format json'" in gate(capsys, "--baseline", "old")[2]


_WAIVER = "{{code: {}, about: {}, from: [raw.people], who: Ada, why: it goes in May, until: {}}}"


def test_a_waiver_lets_a_finding_be_until_its_day(folder, capsys) -> None:
    def waived(*waivers: str) -> tuple[str, str]:
        Path("privacy-review.yml").write_text(f"waived: [{', '.join(waivers)}]")
        return gate(capsys)[1:]

    out, err = waived(_WAIVER.format("G01", "exposure board", "2999-05-01"))
    assert "G01" not in out and "G08" in out
    assert "waived until 2999-05-01 by Ada: G01 for 'exposure board'" in err
    out, err = waived(_WAIVER.format("G01", "exposure board", "2020-05-01"))
    assert "G01" in out and "the waiver of G01 for 'exposure board' ended on 2020-05-01" in err
    out, err = waived(
        _WAIVER.format("G08", "exposure board", "2999-05-01"),
        _WAIVER.format("G08", "models/dim.sql", "2999-05-01"),
    )
    assert "G01" in out and "G08" not in out
    assert "the waiver of G08 for 'exposure board' covers nothing any more" in err


def test_junit(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "junit")
    suites = ElementTree.fromstring(out.encode())
    assert code == 1
    assert (suites.get("tests"), suites.get("failures")) == (str(len(RULES)), "2")
    cases = suites.findall("testsuite/testcase")
    failed = {case.get("name", "")[:3]: case.find("failure") for case in cases if len(case)}
    assert set(failed) == {"G01", "G08"}
    assert "models/dim.sql:2: G08 dim reads people" in str(failed["G08"].text)


def test_junit_of_a_name_that_xml_cannot_write(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shop().model("dim", 'select * from "<&\x01>]]>"', access="public").write(tmp_path)
    _, out, _ = gate(capsys, "--format", "junit")
    failed = ElementTree.fromstring(out.encode()).findall("testsuite/testcase/failure")
    assert any("dim reads <&\\x01>]]>" in str(each.text) for each in failed)


def test_a_report_in_a_file_leaves_text_on_the_terminal(folder, capsys) -> None:
    code, out, _ = gate(capsys, "--format", "junit", "--output", "gate.xml")
    assert code == 1 and out.startswith("models/schema.yml:3: G01")
    assert ElementTree.parse(folder / "gate.xml").getroot().tag == "testsuites"
    code, _, err = gate(capsys, "--format", "junit", "--output", "no/where.xml")
    assert code == 3 and "no/where.xml could not be written" in err


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_a_clean_project_ends_with_nothing(form, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shop().write(tmp_path)
    code, out, _ = gate(capsys, "--format", form)
    assert code == 0
    assert ("G0" in out) is (form in {"junit", "sarif"})


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_a_project_without_marks_is_not_clean_but_unchecked(
    form, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Project().source("raw.people").exposure("board", "raw.people").write(tmp_path)
    code, out, err = gate(capsys, "--format", form)
    assert code == 4
    assert "nothing is marked in this project" in err and "classification: sensitive" in err
    if form == "json":
        assert "nothing is marked" in json.loads(out)["error"]
    if form == "junit":
        assert len(
            ElementTree.fromstring(out.encode()).findall("testsuite/testcase/skipped")
        ) == len(RULES)


def test_what_is_damaged_or_missing(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = gate(capsys)
    assert code == 3 and "there is no dbt_project.yml here or above" in err
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    code, _, err = gate(capsys)
    assert code == 3 and "target/manifest.json is missing; make one with 'dbt compile'" in err
    code, out, _ = gate(capsys, "--manifest", "nowhere.json", "--format", "json")
    assert code == 3 and "nowhere.json is missing" in json.loads(out)["error"]
    assert gate(capsys, "--format", "yaml")[0] == 2
    assert gate(capsys, "--explain", "G99")[0] == 2


def test_a_manifest_alone(folder, capsys, monkeypatch) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (folder / "target/manifest.json").rename(other / "manifest.json")
    monkeypatch.chdir(other)
    code, out, err = gate(capsys, "--manifest", "manifest.json")
    assert code == 1 and out.startswith("models/schema.yml: G01 exposure board")
    assert "without the project's folder" in err


def test_a_manifest_beside_its_project(folder, capsys) -> None:
    (folder / "target/manifest.json").rename(folder / "state.json")
    code, out, _ = gate(capsys, "--manifest", "state.json")
    assert code == 1 and out.startswith("models/schema.yml:3: G01")


@pytest.mark.parametrize("code", RULES)
def test_every_code_is_explained(code: str, capsys) -> None:
    rule = RULES[code]
    status, out, _ = gate(capsys, "--explain", code.lower())
    assert status == 0 and out == f"{code} {rule.title}\n\n{rule.why}\n\n{rule.remedy}\n"
    _, out, _ = gate(capsys, "--explain", code, "--format", "json")
    assert json.loads(out) == {"code": code, **vars(rule)}
    assert all(part.endswith(".") for part in (rule.title, rule.why, rule.remedy))


def test_a_manifest_that_is_older_than_the_files(folder, capsys) -> None:
    (folder / "models/dim.sql").write_text("select 1 as one\n")
    (folder / "models/new.sql").write_text("select 2 as two\n")
    (folder / "models/people.sql").unlink()
    (folder / "models/schema.yml").write_text(_YAML)
    _, out, err = gate(capsys)
    found = re.findall(r"^(\S+): G40 (.*)$", out, re.MULTILINE)
    assert found == [
        ("models/dim.sql:1", "dim was changed after the manifest was made"),
        ("models/new.sql:1", "the manifest does not know this model"),
        ("models/people.sql", "the manifest has people, and its file is gone"),
    ]
    assert "note: written after the manifest: models/schema.yml" in err


def test_blanks_and_ends_of_lines_change_nothing(folder, capsys) -> None:
    (folder / "models/dim.sql").write_text("\n\nselect *\r\n  from main.people\r\n\r\n")
    assert "G40" not in gate(capsys)[1]


def test_a_snapshot_in_yaml_has_a_text_of_dbts_own(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = "snapshots/snap.yml"
    project = shop().snapshot("snap", "select * from {{ ref('people') }}", original_file_path=file)
    project.write(tmp_path)
    (tmp_path / file).write_text("snapshots:\n  - name: snap\n    table: ref('people')\n")
    assert gate(capsys)[0] == 0


@pytest.mark.parametrize("line", ["new.sql", "*.sql", "models/new.sql", "models/", "models"])
def test_what_dbtignore_names_is_not_missed(line: str, folder, capsys) -> None:
    (folder / "models/new.sql").write_text("select 2 as two\n")
    (folder / ".dbtignore").write_text(f"# not ours\n{line}\n")
    assert "G40" not in gate(capsys)[1]


def test_the_options_of_the_last_run_count(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = shop().test("t", "select * from {{ ref('people') }} where id is null")
    project.test("u", "select * from {{ ref('people') }}", config={"store_failures": False})
    project.write(tmp_path)
    assert gate(capsys)[0] == 0
    (tmp_path / "target/run_results.json").write_text('{"args": {"store_failures": true}}')
    code, out, _ = gate(capsys)
    assert code == 1 and "G07 test t stores rows of sensitive data (--store-failures)" in out
    assert "test u" not in out
    (tmp_path / "target/run_results.json").write_text("[")
    assert gate(capsys)[0] == 0
    monkeypatch.setenv("DBT_STORE_FAILURES", "true")
    assert gate(capsys)[0] == 1


def test_what_dbt_deferred_to_is_known_by_the_manifest_that_has_it(
    tmp_path, capsys, monkeypatch
) -> None:
    def project(text: str, compiled: str = "select 1 as one from prod.days") -> Project:
        found = shop().model("days", "select 1 as one").model("dim", text, compiled=compiled)
        return found.exposure("board", "dim")

    def last_run(**args: object) -> None:
        (tmp_path / "target/run_results.json").write_text(json.dumps({"args": args}))

    monkeypatch.chdir(tmp_path)
    state = project("select 1 as one from {{ ref('days') }}")
    for node in state.document["nodes"].values():
        node["relation_name"] = f"prod.{node['name']}"
    (tmp_path / "state").mkdir()
    (tmp_path / "state/manifest.json").write_text(json.dumps(state.document))
    project("select 1 as one from {{ ref('days') }}").write(tmp_path)
    for args in ({"state": "state"}, {"state": "none", "defer": True}, {"defer": True}):
        last_run(**args)
        assert "G09 dim reads prod.days" in gate(capsys)[1]
    for args in ({"state": "state"}, {"state": "none", "defer_state": "state"}):
        last_run(**args, defer=True)
        assert gate(capsys)[0] == 0
    by_name = "select id as one from prod.people"
    project(by_name, by_name).write(tmp_path)
    code, out, _ = gate(capsys)
    assert code == 1 and "G01 exposure board" in out and "G08 dim reads people by name" in out


def test_a_text_that_only_a_file_has_is_read_unless_it_is_older(
    tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = shop().macro("from_where", "{% macro from_where() %}{{ x }}{% endmacro %}")
    project.model("dim", "select * from {{ from_where() }}", compiled="", access="public")
    project.write(tmp_path)
    assert "G10 dim cannot be read: it is not compiled" in gate(capsys)[1]
    file = tmp_path / "target/compiled/shop/models/dim.sql"
    file.parent.mkdir(parents=True)
    file.write_text("select * from main.people")
    assert "G08 dim reads people by name" in gate(capsys)[1]
    file.write_text("select 1 as one")
    assert gate(capsys)[0] == 0
    os.utime(file, (0, 0))
    assert "G10" in gate(capsys)[1]


def test_many_models_that_are_not_compiled_are_one_finding(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = shop()
    for number in range(8):
        sql = f"select * from {{{{ macro_{number}() }}}}"
        project.model(f"dim_{number}", sql, compiled="", access="public")
    project.write(tmp_path)
    _, out, _ = gate(capsys)
    assert out.count("G10") == 1 and "8 models before an exposure" in out


def test_compile_runs_dbt_first(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = shop()
    path = project.write(tmp_path)
    path.rename(tmp_path / "made.json")
    dbt = tmp_path / "dbt"
    dbt.write_text(
        '#!/bin/sh\necho "$@" > said.txt\nmkdir -p target\ncp made.json target/manifest.json\n'
    )
    dbt.chmod(0o755)
    monkeypatch.setenv("POLICY_ENGINE_DBT", str(dbt))
    code, _, _ = gate(capsys, "--compile", "--target", "prod", "--profiles-dir", ".")
    assert code == 0
    said = (tmp_path / "said.txt").read_text().split()
    assert said[0] == "compile" and said[said.index("--target") + 1] == "prod"
    assert str(tmp_path) in said[said.index("--profiles-dir") + 1]


def test_a_project_with_a_misspelt_policy(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Project().source("raw.people", meta=SENSITIVE).write(tmp_path)
    (tmp_path / "models").mkdir(exist_ok=True)
    (tmp_path / "models/towns.privacy.yaml").write_text("version: 1\n")
    code, _, err = gate(capsys)
    assert code == 1 and "towns.privacy.yaml" in err


def test_macros_and_hooks_that_are_younger_than_the_manifest(tmp_path, capsys, monkeypatch) -> None:
    folder = tmp_path
    monkeypatch.chdir(folder)
    project = shop().macro("one", "{% macro one() %}1{% endmacro %}")
    project.macro("two", "{% macro two() %}2{% endmacro %}", "pack")
    project.operation("select 1").write(folder)
    settings = "name: shop\nprofile: shop\non-run-end: select 1\n"
    (folder / "dbt_project.yml").write_text(settings)
    assert "G40" not in gate(capsys)[1]
    (folder / "macros/one.sql").write_text("{% macro one() %}\n 11{% endmacro %}\n")
    (folder / "macros/new.sql").write_text("{# {% macro old() %} #}{% macro new() %}{% endmacro %}")
    (folder / "dbt_packages/pack/macros").mkdir(parents=True)
    (folder / "dbt_packages/pack/macros/two.sql").write_text("{% macro two() %}3{% endmacro %}")
    (folder / "dbt_project.yml").write_text(settings + "on-run-start: ['{{ one() }}']\n")
    out = gate(capsys)[1]
    assert re.findall(r"^(\S+?)(?::\d+)?: G40 (.*)$", out, re.MULTILINE) == [
        (
            "dbt_packages/pack/macros/two.sql",
            "the macro two was changed after the manifest was made",
        ),
        ("dbt_project.yml", "the on-run hooks were changed after the manifest was made"),
        ("macros/new.sql", "the manifest does not know the macro new"),
        ("macros/one.sql", "the macro one was changed after the manifest was made"),
    ]
    (folder / "macros/one.sql").unlink()
    assert "the manifest has the macro one, and its file is gone" in gate(capsys)[1]


def test_what_is_added_to_a_model_is_seen(folder, capsys) -> None:
    with (folder / "models/people.sql").open("a") as file:
        file.write("union all select * from raw.people\n")
    assert "G40 people was changed after the manifest was made" in gate(capsys)[1]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit", "markdown"])
def test_a_manifest_forges_no_line(tmp_path, capsys, monkeypatch, form) -> None:
    monkeypatch.chdir(tmp_path)
    odd = "\n✓ forged\r\x1b[2K\u202e\u2028✓ forged\x85"
    made = shop().model("dim", f'select * from main.people -- {odd}\nwhere "{odd}" > 1')
    made.exposure(f"board{odd}", "dim").write(tmp_path)
    code, out, err = gate(capsys, "--format", form)
    gate(capsys, "--format", form, "--output", "report")
    for line in [*out.split("\n"), *err.split("\n"), *Path("report").read_text().split("\n")]:
        assert line.isprintable() and not line.lstrip().startswith("✓")
    assert code == 1 and "board" in out
