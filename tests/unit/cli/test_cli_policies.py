"""init, validate and compile."""

from __future__ import annotations

import json

import pytest


def test_init_writes_a_policy_and_a_project(cli, project):
    (project / "policy-engine.yaml").unlink()
    result = cli("init", "people.parquet", "--format", "json")
    assert result.code == 0
    assert result.document == {"written": ["policy.yaml", "policy-engine.yaml"]}
    again = cli("init", "people.parquet")
    assert again.code == 3
    assert "policy.yaml exists; name another file with --output" in again.err


def test_init_says_what_is_next(cli, project):
    assert "policy-engine validate p.yaml" in cli("init", "--output", "p.yaml").out


def test_valid_files(cli, policy):
    files = policy("a"), policy("b")
    result = cli("validate", *files)
    assert (result.code, result.out) == (0, "a.yaml: valid\nb.yaml: valid\n")
    assert cli("validate", *files, "--format", "github").out == ""
    document = cli("validate", *files, "--format", "json").document
    assert document == {
        "valid": True, "files": ["a.yaml", "b.yaml"], "problems": [], "warnings": [],
        "unchecked": [],
    }  # fmt: skip


def test_every_problem_of_every_file_is_told_with_its_place(cli, policy):
    bad = policy("bad", ("sex: keep", "sexx: keep"), ("age: {bins", "sex: {bins"), k="3")
    worse = policy("worse", ("version: 1", "version: 2"), k="1")
    assert cli("validate", bad, worse).code == 1
    result = cli("validate", bad, worse, "missing.yaml", "--format", "json")
    assert result.code == 3  # what cannot be read outweighs what is wrong
    places = [(p["file"], p["line"], p["column"]) for p in result.document["problems"]]
    assert places == [
        ("bad.yaml", 6, 3),
        ("bad.yaml", 7, 3),
        ("bad.yaml", 10, 27),
        ("worse.yaml", 1, 10),
        ("worse.yaml", 9, 4),
        ("missing.yaml", 0, 0),
    ]
    text = cli("validate", bad, worse, "missing.yaml")
    assert "bad.yaml:7:3: people.parquet has no column 'sexx'; did you mean 'sex'?" in text.out
    assert "missing.yaml: the policy file does not exist" in text.out


def test_a_warning_is_told_in_every_format_before_anything_is_charged(cli, policy):
    file = policy(
        "w",
        ("privacy_unit: row", "privacy_unit: {column: age, rows: any}"),
        ("age: {bins: [30, 60]}", "age: {round: 1}"),
    )
    told = "w.yaml:6:3: warning: recode.age is made of the column of privacy_unit and tells every"
    result = cli("validate", file)
    assert (result.code, "\n" + told in result.out) == (0, True)
    assert result.out.startswith("w.yaml:4:16: warning: privacy_unit.column is 'age', and by its")
    assert result.out.endswith("w.yaml: valid\n")
    unit, warning = cli("validate", file, "--format", "json").document["warnings"]
    assert (warning["line"], warning["path"]) == (6, "recode.age")
    assert (unit["line"], unit["path"]) == (4, "privacy_unit.column")
    assert cli("validate", file, "--format", "github").out.startswith(
        "::warning file=w.yaml,line=4"
    )
    _, found = cli("validate", file, "--format", "sarif").document["runs"][0]["results"]
    assert (found["ruleId"], found["level"]) == ("policy", "warning")
    for command in ("plan", "release"):
        said = cli(command, file).err
        assert "warning: w.yaml:6:3: recode.age is made of the column" in said
        assert "warning: w.yaml:4:16: privacy_unit.column is 'age', and by its name" in said


def test_a_source_that_is_not_there_is_noted(cli, policy, project):
    file = policy()
    (project / "people.parquet").unlink()
    result = cli("validate", file, "--format", "sarif")
    assert result.code == 0
    told = "a.yaml: not checked against its warehouse or source: the source people.parquet is not"
    assert told in result.err
    assert json.loads(result.out)["runs"][0]["results"][0]["level"] == "warning"


def test_a_file_that_cannot_be_read_is_a_problem(cli, project):
    result = cli("validate", project)
    told = ".: the policy file is a directory; name a file in it\n"
    assert (result.code, result.out) == (3, told)
    assert cli("validate", "x\0y").code == 2


def test_the_project_file_is_no_policy(cli, project):
    result = cli("validate", "policy-engine.yaml")
    told = "policy-engine.yaml: this is the project file, not a policy; name a policy file\n"
    assert (result.code, result.out) == (1, told)


def test_compile_prints_the_sql(cli, policy):
    file = policy()
    sql = cli("compile", file).out
    assert "HAVING" in sql.upper()
    document = cli("compile", file, "--format", "json").document
    assert document["sql"].rstrip("\n") == sql.rstrip("\n")
    assert document["policy_digest"] in sql
    assert document["dialect"] == "duckdb"
    assert "TABLESAMPLE" in cli("compile", file, "--method", "native").out.upper()


@pytest.mark.parametrize("words", [("--dialect", "oracle"), ("--method", "magic")])
def test_compile_of_what_there_is_not(cli, policy, words):
    result = cli("compile", policy(), *words)
    assert (result.code, result.out) == (2, "")
    assert f"found {words[1]!r}" in result.err
