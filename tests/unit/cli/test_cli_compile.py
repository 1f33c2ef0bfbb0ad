"""compile for an engine that is not asked: the source as a schema describes it."""

from __future__ import annotations

import pytest

POLICY = """\
version: 1
name: visits
source: {table: hospital.visits}
privacy_unit: {column: PERSON_ID, rows: {first_by: [VISITED desc]}}
recode: {AGE: {bins: [18, 65]}, VISITED: {truncate: month}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 2, delta: 0.001}
release: {table: public.visits_public}
"""
SCHEMA = "create table hospital.visits (PERSON_ID {}, AGE integer, VISITED date)"
KEYS = {"snowflake": "number(18,0)", "bigquery": "int64", "trino": "bigint", "postgres": "bigint"}


@pytest.fixture
def files(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("dialect", KEYS)
def test_what_is_compiled_from_a_schema_is_what_check_proves(cli, files, dialect):
    (files / "schema.sql").write_text(SCHEMA.format(KEYS[dialect]))
    options = ["--dialect", dialect, "--schema", "schema.sql"]
    made = cli("compile", "policy.yaml", *options)
    assert made.code == 0, made.err
    (files / "release.sql").write_text(made.out)
    checked = cli("certify-sql", "release.sql", *options, "--policy", "policy.yaml")
    assert checked.code == 0, checked.out
    assert checked.out.startswith("certified")


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("create table other (a integer)", "the schema must describe source.table, found"),
        ("create table hospital.visits (AGE integer)", "has no column 'VISITED'"),
        ("select 1", "the schema must be"),
    ],
)
def test_a_schema_that_does_not_describe_the_source(cli, files, schema, told):
    (files / "schema.sql").write_text(schema)
    found = cli("compile", "policy.yaml", "--dialect", "trino", "--schema", "schema.sql")
    assert found.code in (1, 2)
    assert told in found.err


def test_what_an_engine_cannot_do_is_told_before_anything_is_written(cli, files):
    (files / "schema.sql").write_text(SCHEMA.format("bigint"))
    found = cli("compile", "policy.yaml", "--dialect", "tsql", "--schema", "schema.sql")
    assert found.code == 1
    assert "SQL Server cannot do this: SELECT INTO is a part of the query, so the" in found.err
    assert found.out == ""
