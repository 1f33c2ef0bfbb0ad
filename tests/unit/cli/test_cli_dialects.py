"""Which dialect compile writes, and what it says of one that it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

POLICY = """\
version: 1
name: visits
source: {table: hospital.visits}
privacy_unit: {column: person, rows: {first_by: [visited desc]}}
recode: {age: {bins: [18, 65]}, visited: {truncate: month}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 2, delta: 0.001}
release: {table: visits_public}
"""
SCHEMA = "create table hospital.visits (person bigint, age integer, visited date)"
URLS = {"postgres": "postgresql://ann:{{ env_var('NO_SUCH_PASSWORD') }}@db/work",
        "spark": "local", "mariadb": "mariadb://ann@db/work"}  # fmt: skip


@pytest.fixture
def files(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICY)
    Path("schema.sql").write_text(SCHEMA)
    return tmp_path


@pytest.mark.parametrize("kind", URLS)
def test_the_dialect_is_that_of_the_warehouse_that_would_run_it(cli, files, kind):
    Path("policy-engine.yaml").write_text(
        f'warehouses: {{w: {{type: {kind}, url: "{URLS[kind]}"}}}}\n'
    )
    options = ["policy.yaml", "--schema", "schema.sql"]
    made = cli("compile", *options)
    assert made.code == 0, made.err
    assert made.out == cli("compile", *options, "--dialect", kind).out
    assert made.out != cli("compile", *options, "--dialect", "duckdb").out
    assert cli("compile", *options, "--format", "json").document["dialect"] == kind


def test_the_dialect_of_a_dbt_profile_is_its_types(cli, files):
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: dbt, profile: shop}}\n")
    Path("profiles.yml").write_text(
        "shop: {target: dev, outputs: {dev: {type: postgres, host: db, user: ann, dbname: w}}}\n"
    )
    options = ["policy.yaml", "--schema", "schema.sql"]
    assert cli("compile", *options, "--format", "json").document["dialect"] == "postgres"


def test_a_file_is_read_by_duckdb_whatever_the_warehouse(cli, project, policy):
    made = cli("compile", policy(), "--format", "json")
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: spark, url: local}}\n")
    assert cli("compile", policy(), "--format", "json").document == made.document
    assert made.document["dialect"] == "duckdb"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("sqlserver", "tsql"), ("Athena", "trino"), ("postgresql", "postgres"), ("cobol", "")],
)
def test_a_dialect_by_another_name_is_told(cli, files, given, meant):
    found = cli("compile", "policy.yaml", "--schema", "schema.sql", "--dialect", given)
    assert found.code == 2
    assert found.err.rstrip().endswith(f"did you mean {meant!r}?" if meant else "found 'cobol'")


def test_a_recoding_that_an_engine_has_not_is_told_with_its_line(cli, files):
    found = cli("compile", "policy.yaml", "--schema", "schema.sql", "--dialect", "sqlite")
    assert found.code == 1
    assert found.err.startswith("error: policy.yaml:5:33: SQLite cannot do this: it has no dates")


@pytest.mark.parametrize("recode", ["map: {'a\\b': a}, other: o", "map: {a: 'a\\b'}, other: o"])
def test_a_text_that_the_kernel_would_not_read_is_told_with_its_line(cli, files, recode):
    Path("policy.yaml").write_text(POLICY.replace("truncate: month", recode))
    Path("schema.sql").write_text(SCHEMA.replace("visited date", "visited varchar"))
    for dialect in ("postgres", "trino", "mariadb", "spark", "snowflake"):
        options = ["--schema", "schema.sql", "--dialect", dialect]
        made = cli("compile", "policy.yaml", *options)
        if made.code:
            told = r"cannot do this: 'a\\b' has a backslash"
            assert made.err.startswith("error: policy.yaml:5:33: ")
            assert told in made.err
        else:
            Path("a.sql").write_text(made.out)
            assert cli("certify-sql", "a.sql", *options, "--policy", "policy.yaml").code == 0
