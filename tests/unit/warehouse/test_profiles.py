"""A dbt profile becomes the connection that dbt would open, and nothing of it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from policy_engine.errors import PolicyEngineError
from policy_engine.policy.project import load_project_text
from policy_engine.warehouse.connecting import resolved

PROFILES = """\
config: {send_anonymous_usage_stats: false}
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: shop.duckdb}
    prod:
      type: postgres
      host: db.internal
      port: 5433
      user: "{{ env_var('DB_USER') }}"
      password: "{{ env_var('DB_PASSWORD') }}"
      dbname: shop & sons
      sslmode: require
      role: releaser
      schema: public
    socket: {type: postgres, host: /tmp/pg, user: postgres, pass: "", database: postgres}
    cloud: {type: snowflake, account: x}
    memory: {type: duckdb}
"""
ENVIRON = {"DB_USER": "ada", "DB_PASSWORD": "p@ss/word:#?"}


def project(folder: Path, target: str = "", more: str = ""):
    named = f", target: {target}" if target else ""
    text = f"warehouses: {{w: {{type: dbt, profile: shop{named}{more}}}}}"
    return load_project_text(text, folder / "policy-engine.yaml", folder, {})


def warehouse(folder: Path, target: str = "", environ=None, more: str = ""):
    (folder / "profiles.yml").write_text(PROFILES)
    environ = ENVIRON if environ is None else environ
    return resolved(project(folder, target, more).warehouse, environ)


def refusal(*arguments, **more) -> str:
    with pytest.raises(PolicyEngineError) as caught:
        warehouse(*arguments, **more)
    return str(caught.value)


def test_a_postgres_target(tmp_path):
    found = warehouse(tmp_path, "prod")
    assert (found.name, found.type) == ("w", "postgres")
    assert conninfo_to_dict(found.url) == {
        "host": "db.internal", "port": "5433", "user": "ada", "password": "p@ss/word:#?",
        "dbname": "shop & sons", "sslmode": "require",
        "options": '-c role=releaser -c search_path="public"',
    }  # fmt: skip


def test_a_socket(tmp_path):
    found = conninfo_to_dict(warehouse(tmp_path, "socket").url)
    assert found == {"host": "/tmp/pg", "user": "postgres", "dbname": "postgres"}


def test_the_profiles_own_target_and_a_file_of_duckdb(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = warehouse(tmp_path)
    assert (found.name, found.type, found.database) == ("shop", "duckdb", tmp_path / "shop.duckdb")


def test_where_the_file_is_looked_for(tmp_path):
    for place in ("here", "named", "environment"):
        (tmp_path / place).mkdir()
        text = PROFILES.replace("shop.duckdb", f"{place}.duckdb")
        (tmp_path / place / "profiles.yml").write_text(text)
    here = project(tmp_path / "here").warehouse
    assert resolved(here, {}).name == "here"
    variable = {"DBT_PROFILES_DIR": str(tmp_path / "environment")}
    assert resolved(here, variable).name == "environment"
    named = project(tmp_path / "here", more=", profiles_dir: ../named").warehouse
    assert resolved(named, variable).name == "named"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("nowhere", "the profile shop has no target nowhere; it has dev, prod, socket"),
        ("cloud", "the profile shop is of type snowflake, which is not connected to"),
        ("memory", "path must be a database file of this machine, found :memory:"),
    ],
)
def test_what_cannot_be_used(tmp_path, target, told):
    assert told in refusal(tmp_path, target)


def test_a_variable_that_is_missing_is_named_and_no_value_is(tmp_path):
    told = refusal(tmp_path, "prod", environ={"DB_PASSWORD": "very-secret"})
    assert "user needs the environment variable DB_USER" in told
    assert "very-secret" not in told


def test_no_file_and_no_profile(tmp_path):
    with pytest.raises(PolicyEngineError, match=r"no profiles\.yml in .*; profiles_dir names"):
        resolved(project(tmp_path, more=f", profiles_dir: {tmp_path}").warehouse, {})
    with pytest.raises(PolicyEngineError, match="DBT_PROFILES_DIR names that folder"):
        resolved(project(tmp_path).warehouse, {"DBT_PROFILES_DIR": str(tmp_path)})
    (tmp_path / "profiles.yml").write_text("other: {outputs: {}}")
    with pytest.raises(PolicyEngineError, match="has no profile shop; it has other"):
        resolved(project(tmp_path).warehouse, {})
    (tmp_path / "profiles.yml").write_text("a: [")
    with pytest.raises(PolicyEngineError, match="cannot be read as YAML"):
        resolved(project(tmp_path).warehouse, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{type: dbt}", "warehouses.w.profile is missing; name a profile of profiles.yml"),
        ("{type: dbt, profile: a, url: b}", "warehouses.w.url stands in the dbt profile"),
        ("{type: duckdb, target: a}", "warehouses.w.target needs type: dbt"),
        ("{type: postgres, url: a, threads: 2}", "threads is a setting of DuckDB's alone"),
        ("{type: postgres, database: a}", "database has no meaning here"),
        (
            "{type: postgres, url: 'postgresql://h/d', settings: {sort_buffer_size: 1GB}}",
            "settings.sort_buffer_size has no meaning here; a session of postgres has work_mem and",
        ),
        ("{type: duckdb, settings: {}}", "settings has no meaning here: PostgreSQL and MariaDB"),
        ("{type: duckdb, memory_limit: lots}", "memory_limit must be a size, found 'lots'"),
    ],
)
def test_the_laws_of_a_warehouse(tmp_path, text, told):
    with pytest.raises(PolicyEngineError) as caught:
        load_project_text(f"warehouses: {{w: {text}}}", tmp_path / "p.yaml", tmp_path, {})
    assert told in str(caught.value)
