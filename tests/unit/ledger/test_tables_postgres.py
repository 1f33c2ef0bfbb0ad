"""What the PostgreSQL store says without a server; with one: tests/contract."""

import socket
import subprocess
import sys

import psycopg
import pytest

from policy_engine.errors import LedgerError
from policy_engine.ledger import postgres
from policy_engine.ledger.postgres import PostgresStore
from policy_engine.ledger.records import open_records


def failure(act):
    with pytest.raises(LedgerError) as caught:
        act()
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql+psycopg://u@h:5433/d", "postgresql://u@h:5433/d"),
        ("postgresql://u:s3cret@h/d", "postgresql://u@h/d"),
        ("postgresql://u:s3%40cret@h/d?password=s3&sslpassword=s3&sslmode=require",
         "postgresql://u@h/d"),
        ("postgresql://u@/d?host=/run/postgresql&passfile=s3", "postgresql://u@/d?host=%2Frun%2Fpostgresql"),
    ],
)  # fmt: skip
def test_a_place_is_shown_without_its_secrets(url, shown):
    assert PostgresStore(url, wait=1).where == shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3/cret@h/d",
        "postgresql://u:s3@cret@h/d",
        "postgresql://u:s3?cret@h/d",
        "postgresql://u:s3#cret@h/d",
        "postgresql://h/d?password=s3@cret",
        "postgresql://h:s3cret/d",
        "mysql://u:s3cret@h/d",
        "postgresql+psycopg2://u:s3cret@h/d",
        "sqlite:///s3cret.db",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(url):
    said = failure(lambda: open_records(url))
    assert "s3" not in said and "cret" not in said
    assert "postgresql://user@host" in said or "%40" in said


def test_another_kind_of_database_is_not_known():
    assert failure(lambda: open_records("mysql://h/d")) == (
        "a ledger of the kind 'mysql' is not known; name the path of a file, or "
        "postgresql://user@host/database"
    )


def test_a_server_that_is_not_there_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        said = failure(lambda: open_records(f"postgresql://u:s3cret@127.0.0.1:{port}/d"))
    assert said.startswith(
        f"postgresql://u@127.0.0.1:{port}/d: the connection to the server failed: "
    )
    assert said.endswith("; see that the server runs and is reached, and try again")
    assert "s3cret" not in said


def test_a_server_that_accepts_and_says_nothing_is_not_waited_for():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        url = f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=2"
        assert "connection timeout expired" in failure(lambda: open_records(url))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (psycopg.errors.DiskFull, "the server's disk is full; free some space and try again"),
        (psycopg.errors.QueryCanceled,
         "the server cancelled a query; see its statement_timeout, and try again"),
        (psycopg.errors.InvalidPassword,
         "the password is wrong; set PGPASSWORD, or see ~/.pgpass"),
        (psycopg.errors.AdminShutdown,
         "the connection to the server failed: told *** once; "
         "see that the server runs and is reached, and try again"),
        (psycopg.errors.DataCorrupted,
         "the ledger failed: told *** once; see the server's log"),
    ],
)  # fmt: skip
def test_an_error_is_explained_by_its_code(error, said):
    store = PostgresStore("postgresql://u:s3cret@h/d", wait=1)
    assert store.explain(error("told s3cret once\nDETAIL: more")) == said


def test_an_error_that_says_nothing_is_named():
    store = PostgresStore("postgresql://u@h/d", wait=1)
    assert store.explain(psycopg.InterfaceError()) == (
        "the ledger failed: InterfaceError; see the server's log"
    )


def test_the_drivers_absence_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "policy_engine.ledger.postgres")
    assert failure(lambda: open_records("postgresql://h/d")) == (
        "a ledger in PostgreSQL needs the driver psycopg; install it with "
        "pip install '.[postgres]' in a clone of policy-engine"
    )


def test_the_absence_of_something_else_is_our_bug(monkeypatch):
    monkeypatch.setitem(sys.modules, "policy_engine.ledger.postgres", None)
    with pytest.raises(ModuleNotFoundError):
        open_records("postgresql://h/d")


def test_nothing_is_imported_before_a_store_opens():
    code = (
        "import sys, policy_engine.ledger.records\n"
        "assert not {'sqlite3', 'psycopg'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_a_line_that_is_cut_already_is_no_error():
    postgres._cut(-1)
