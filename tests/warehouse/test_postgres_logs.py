"""The secret of a sample is in no log of a PostgreSQL server, whatever the server logs."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from alike import policy_of
from debian import ensure, postgresql
from postgres import running

from policy_engine.errors import WarehouseError
from policy_engine.warehouse.postgres import PostgresWarehouse
from policy_engine.warehouse.postgres_session import PinnedConnection

SECRET = bytes(range(200, 216))
EVERYTHING = (
    "log_statement=all",
    "log_min_duration_statement=0",
    "log_parameter_max_length_on_error=-1",
    "log_transaction_sample_rate=1",
    "log_min_error_statement=debug5",
    "log_min_messages=debug2",
    "debug_print_plan=on",
    "debug_print_parse=on",
    "debug_print_rewritten=on",
    "auto_explain.log_min_duration=0",
    "auto_explain.log_verbose=on",
    "auto_explain.log_nested_statements=on",
)


def pgaudit():
    """Debian's server with its audit extension, which logs all that it can."""
    place = postgresql()
    version = place.parent.name
    library = place.parent / "lib" / "pgaudit.so"
    ensure(f"postgresql-{version}-pgaudit", library.exists)
    return place


@pytest.fixture(scope="module", params=["wheel", "debian with pgaudit"])
def talkative(request):
    """A server that logs everything."""
    libraries, folder, more = "auto_explain,pg_stat_statements", None, ()
    if request.param != "wheel":
        folder, libraries = pgaudit(), f"{libraries},pgaudit"
        more = ("pgaudit.log=all", "pgaudit.log_parameter=on", "pgaudit.log_catalog=on")
    loaded = f"shared_preload_libraries={libraries}"
    with running(loaded, *EVERYTHING, *more, folder=folder) as server:
        columns = "person text, age int, zip text"
        server.sql(
            f"create table people ({columns})",
            "insert into people select n::text, n % 90, '12345' from generate_series(1, 50) as n",
        )
        yield server


def tells(server, secret: str) -> bool:
    """Whether the log has a text: as it is, or as a plan prints it."""
    log = (server.folder / "log").read_text(errors="replace")
    as_bytes = " ".join(str(byte) for byte in secret.encode())
    return secret in log or as_bytes in log


def drawn(url: str, secret: bytes) -> None:
    """One draw of a sample under the secret."""
    with closing(PostgresWarehouse("pg", url)) as warehouse:
        with warehouse.bound(secret.hex()):
            [(there,)] = warehouse.ask("SELECT current_setting('policy_engine.salt')")
        assert there == secret.hex()
        assert warehouse.ask("SELECT current_setting('policy_engine.salt')") == [("",)]


def test_no_log_has_the_secret_whatever_is_logged(talkative):
    drawn(talkative.url, SECRET)
    assert "policy_engine_secret" in (talkative.folder / "log").read_text(errors="replace")
    assert not tells(talkative, SECRET.hex())


def test_a_bound_value_or_a_text_would_be_in_the_log(talkative):
    """The test sees what the log has."""
    others = [bytes([n] * 16).hex() for n in (1, 2)]
    with psycopg.connect(talkative.url) as connection:
        connection.execute("SELECT set_config('policy_engine.salt', %s, true)", (others[0],))
        connection.execute(f"SET policy_engine.salt = '{others[1]}'")
    assert all(tells(talkative, other) for other in others)


def test_a_role_without_temporary_tables_is_refused_where_a_log_would_have_it(talkative):
    role = "create role reader login; grant select on people to reader"
    talkative.sql("revoke temporary on database postgres from public", *role.split("; "))
    other = bytes([3] * 16)
    try:
        with pytest.raises(WarehouseError) as caught:
            drawn(talkative.url_of("reader"), other)
    finally:
        talkative.sql(
            "grant temporary on database postgres to public", "drop owned by reader",
            "drop role reader",
        )  # fmt: skip
    said = str(caught.value)
    assert said.startswith("the server's log would have the secret of the sample in clear (")
    for setting in ("auto_explain.log_min_duration = 0", "log_min_duration_statement = 0",
                    "log_parameter_max_length_on_error = -1", "log_statement = all",
                    "log_transaction_sample_rate = 1"):  # fmt: skip
        assert setting in said
    assert "GRANT TEMPORARY ON DATABASE" in said
    assert not tells(talkative, other.hex())


def test_it_is_refused_before_anything_is_charged(talkative, monkeypatch):
    monkeypatch.setattr(PinnedConnection, "has_tables", lambda self: False)
    policy = policy_of("bins")
    with (
        closing(PostgresWarehouse("pg", talkative.url)) as warehouse,
        pytest.raises(WarehouseError, match="would have the secret of the sample in clear"),
    ):
        table = warehouse._described(warehouse._full_name("people"))
        warehouse.hold(policy, table)


@pytest.mark.parametrize(
    "setting",
    ["log_statement=mod", "log_min_duration_statement=-1", "default_transaction_read_only=on"],
)
def test_where_nothing_is_logged_no_temporary_table_is_needed(setting):
    with running(setting, "default_transaction_read_only=on") as server:
        drawn(server.url, SECRET)
        assert not tells(server, SECRET.hex())
