"""From a warehouse of a project to a connection: what is missing is told before it is opened."""

from __future__ import annotations

import psycopg
import pytest

from policy_engine.errors import LedgerError, WarehouseError
from policy_engine.policy.project import ListedWarehouse, load_project_text
from policy_engine.releasing.books import has_ledger, open_ledger
from policy_engine.warehouse.connecting import connected
from policy_engine.warehouse.postgres_session import refused

DRIVERS = [("postgres", "psycopg", "postgres"), ("mariadb", "pymysql", "mysql"),
           ("spark", "pyspark", "spark"), ("datafusion", "datafusion", "datafusion")]  # fmt: skip


@pytest.mark.parametrize(("kind", "driver", "extra"), DRIVERS)
@pytest.mark.parametrize("is_there", [True, False])
def test_a_driver_that_does_not_load_is_told(monkeypatch, kind, driver, extra, is_there):
    def fail(name):
        raise ImportError(f"no library for {name}")

    module = "policy_engine.warehouse.connecting"
    monkeypatch.setattr(f"{module}.import_module", fail)
    if not is_there:
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    with pytest.raises(WarehouseError) as caught:
        connected(ListedWarehouse("w", kind))
    found = "cannot be loaded" if is_there else "is not installed"
    remedy = f"run pip install '.[{extra}]' in a clone of policy-engine"
    assert str(caught.value) == f"warehouse w: the driver of {kind}, {driver}, {found}; {remedy}"


def test_what_the_environment_lacks_is_told_when_it_is_opened():
    text = """\
ledger: "postgresql://{{ env_var('P') }}@db/ledger"
warehouses: {w: {type: postgres, url: "postgresql://{{ env_var('P') }}@db/work"}}
"""
    project = load_project_text(text, "policy-engine.yaml", ".", {})
    with pytest.raises(WarehouseError, match=r"^policy-engine.yaml:2:39: warehouses.w.url needs"):
        connected(project.warehouse)
    for opened in (has_ledger, open_ledger):
        with pytest.raises(LedgerError, match=r"^policy-engine.yaml:1:9: ledger needs the env"):
            opened(project)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('FATAL:  password authentication failed for user "ann"', "the role or its password is"),
        ("fe_sendauth: no password supplied", "the role needs a password"),
        ('FATAL:  database "work" does not exist', "there is no such database"),
        ('FATAL:  role "ann" does not exist', "there is no such role"),
        ('FATAL:  role "ann" is not permitted to log in', "the role may not log in"),
        ("FATAL:  no pg_hba.conf entry for host", "the server lets no such role in from here"),
        ("could not translate host name", "there is no such host"),
        ("[Errno -2] Name or service not known", "there is no such host"),
        ("Connection refused", "nothing listens there"),
        ("server does not support SSL, but SSL was required", "the server has no TLS"),
        ("SSL error: certificate verify failed", "TLS failed"),
        ("connection timeout expired", "the server does not answer"),
        ("Datenbank gibt es nicht", "PostgreSQL does not answer, or refuses the role"),
    ],
)
def test_why_postgresql_does_not_connect_is_told_with_the_place(said, told):
    error = psycopg.OperationalError(said)
    found = str(refused("pg", "postgresql://ann:hunter2@db:5432/work", error))
    assert found.startswith(f"warehouse pg: {told}")
    assert found.endswith(" (host db, port 5432, database work, role ann)")
    assert "hunter2" not in found
    assert error.args == ()


@pytest.mark.parametrize("url", ["postgresql://ann:hun@ter2@db/w", "host=db password='hun", "a b"])
def test_a_url_in_which_a_password_could_be_elsewhere_is_not_shown(url):
    found = str(refused("pg", url, psycopg.OperationalError("Connection refused")))
    assert found.startswith("warehouse pg: nothing listens there")
    assert "ter2" not in found
    assert "hun" not in found
