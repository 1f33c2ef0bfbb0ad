"""Types of columns that dbt's own connection alone can tell: attached databases, files, servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from environments import VERSIONS, dbt_of

from policy_engine.dbt.sources import SourceNode
from policy_engine.dbt.targets import Dbt, question, shown_columns
from policy_engine.dbt.types import kernel_type
from policy_engine.dialects import dialect_named

pytestmark = pytest.mark.slow

PEOPLE = """\
select cast(1 as integer) as id, cast('x' as varchar(20)) as city, cast(1.5 as numeric(10, 2))
as paid, cast(2 as bigint) as n"""
KNOWN = {"id": "INTEGER", "city": "VARCHAR", "paid": "DECIMAL(10,2)", "n": "BIGINT"}
SOURCES = """\
version: 2
sources:
  - name: raw
    schema: main
    database: other
    tables:
      - name: clients
  - name: files
    tables:
      - name: visits
        config: {meta: {external_location: "read_csv('visits.csv')"}}
"""
POLICY = """\
version: 1
name: {name}
source: {{table: "{relation}"}}
privacy_unit: {{column: id, rows: one}}
recode: {{city: {{prefix: 1}}, n: keep}}
sample: {{rate: 0.1}}
k: auto
guarantee: {{epsilon: 1.0, delta: 1.0e-6}}
release: {{table: {name}}}
count: {{people: people}}
account: people
"""


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def project(folder: Path, monkeypatch, version: str, **output: object) -> Dbt:
    write(folder, "dbt_project.yml", "name: shop\nprofile: shop\n")
    profile = {"shop": {"target": "dev", "outputs": {"dev": output}}}
    write(folder, "profiles.yml", json.dumps(profile))
    write(folder, "models/people.sql", f"{{{{ config(materialized='table') }}}} {PEOPLE}")
    dbt = dbt_of(version)
    for name, value in dbt.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("POLICY_ENGINE_DBT", str(dbt.executable))
    return Dbt(folder, folder)


def types_in_dbts_own_words(dbt: Dbt, dialect: str) -> dict[str, str]:
    dbt.run("run", "--select", "people")
    found = shown_columns(dbt, SourceNode("model", "people", "ref('people')"), "any")
    known = dialect_named(dialect)
    return {name: kernel_type(kind, known).replace(", ", ",") for name, kind in found.items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_tells_the_types_of_a_table(tmp_path, version, monkeypatch):
    dbt = project(tmp_path, monkeypatch, version, type="duckdb", path="shop.duckdb")
    # dbt's own executable, as a user has it; the other tests import dbt 1.x once for all commands.
    monkeypatch.setenv("POLICY_ENGINE_DBT", str(dbt_of(version).real))
    assert types_in_dbts_own_words(dbt, "duckdb") == KNOWN


def test_postgres_tells_the_types_of_a_table(tmp_path, postgres, monkeypatch):
    place = {"host": str(postgres.folder), "port": 5432, "dbname": "postgres"}
    login = {"user": "postgres", "password": "none"}
    dbt = project(
        tmp_path, monkeypatch, "1.11", type="postgres", schema="shown", threads=1, **place, **login
    )
    assert types_in_dbts_own_words(dbt, "postgres") == KNOWN


def test_sync_knows_what_dbt_alone_can_open(tmp_path, monkeypatch):
    attached = {"path": "other.duckdb", "alias": "other"}
    dbt = project(
        tmp_path, monkeypatch, "1.11", type="duckdb", path="shop.duckdb", attach=[attached]
    )
    write(tmp_path, "models/sources.yml", SOURCES)
    write(tmp_path, "visits.csv", "id,city,n\n1,Bern,2\n")
    write(tmp_path, "fill.sql", f"create table clients as {PEOPLE}")
    fill = "import duckdb; duckdb.connect('other.duckdb').execute(open('fill.sql').read())"
    python = dbt_of("1.11").executable.with_name("python")
    subprocess.run([python, "-c", fill], cwd=tmp_path, check=True)
    write(tmp_path, "models/clients.privacy.yml",
          POLICY.format(name="towns", relation="source('raw', 'clients')"))  # fmt: skip
    write(tmp_path, "models/visits.privacy.yml",
          POLICY.format(name="visited", relation="source('files', 'visits')"))  # fmt: skip
    dbt.run("compile", "--select", "people")

    def sync() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "policy_engine", "dbt", "sync", "--profiles-dir", "."]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    monkeypatch.setenv("POLICY_ENGINE_DBT", "/nowhere/dbt")
    without = sync()
    assert without.returncode == 1 and "/nowhere/dbt" in without.stderr, without.stderr
    assert not (tmp_path / "models" / "towns.yml").exists()

    monkeypatch.setenv("POLICY_ENGINE_DBT", str(dbt_of("1.11").executable))
    done = sync()
    assert done.returncode == 0, done.stderr
    for name in ("towns", "visited"):
        written = "".join(file.read_text() for file in tmp_path.rglob(f"{name}*.yml"))
        assert "data_type: bigint" in written, name


def test_a_name_with_a_quote_does_not_reach_the_text_that_runs(tmp_path, monkeypatch):
    dbt = project(tmp_path, monkeypatch, "1.11", type="duckdb", path="shop.duckdb")
    odd = """select 1 as id, 2 as "it's", 3 as "back\\slash", 4 as "Größe in cm" """
    write(tmp_path, "models/people.sql", f"{{{{ config(materialized='table') }}}} {odd}")
    assert list(types_in_dbts_own_words(dbt, "duckdb")) == ["id", "Größe in cm"]
    described = shown_columns(dbt, SourceNode("model", "people", "ref('people')"), "duckdb")
    assert list(described) == ["id", "it's", "back\\slash", "Größe in cm"]


def test_the_question_names_the_node_as_dbt_does():
    assert "{%- set relation = ref('people') -%}" in question("ref('people')", "snowflake")
