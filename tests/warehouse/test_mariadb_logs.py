"""The secret of a sample is in no log of a MariaDB server; where it would be, it is not sent."""

from __future__ import annotations

from contextlib import closing

import pytest
from alike import policy_of
from mariadb_server import running

from policy_engine.errors import WarehouseError
from policy_engine.warehouse.mysql import MariaDBWarehouse


@pytest.fixture(scope="module")
def talkative():
    """A server that logs every statement, and audits where a test says so."""
    with running(
        "--general-log=1", "--slow-query-log=1", "--long-query-time=0", "--log-bin=binary",
        "--binlog-format=STATEMENT", "--plugin-load-add=server_audit",
    ) as server:  # fmt: skip
        server.sql(
            "CREATE TABLE people (person INT PRIMARY KEY, age INT) ENGINE = InnoDB",
            "INSERT INTO people SELECT seq, seq % 90 FROM seq_1_to_50",
            "CREATE USER ann",
            "GRANT ALL ON work.* TO ann",
        )
        yield server


def tells(server, text: str) -> bool:
    return any(
        text.encode() in file.read_bytes() for file in server.data.glob("*") if file.is_file()
    )


def drawn(url: str, secret: str) -> None:
    with closing(MariaDBWarehouse("db", url)) as warehouse, warehouse.bound(secret):
        assert warehouse.ask("SELECT @policy_engine_salt") == [(secret,)]


def test_a_role_that_may_keeps_its_session_out_of_every_log(talkative):
    drawn(talkative.url(), "1" * 32)
    assert not tells(talkative, "1" * 32)


def test_what_any_other_session_sends_is_in_the_logs(talkative):
    """The test sees what the logs have."""
    talkative.sql(f"SET @policy_engine_salt = '{'2' * 32}'")
    assert tells(talkative, "2" * 32)


def test_a_role_that_may_not_is_refused_while_the_general_log_is_on(talkative):
    with pytest.raises(WarehouseError, match="general log would have the secret") as caught:
        drawn(talkative.url(user="ann"), "3" * 32)
    assert str(caught.value).endswith("set general_log = OFF, or grant SUPER")
    talkative.sql("SET GLOBAL general_log = OFF")
    try:
        drawn(talkative.url(user="ann"), "3" * 32)
    finally:
        talkative.sql("SET GLOBAL general_log = ON")
    assert not tells(talkative, "3" * 32)


@pytest.mark.parametrize("events", ["", "CONNECT,QUERY"])
def test_an_audit_log_is_refused_unless_it_leaves_the_role_out(talkative, events):
    talkative.sql(f"SET GLOBAL server_audit_events = '{events}'")
    talkative.sql("SET GLOBAL server_audit_logging = ON")
    secret = "4" * 32 if events else "5" * 32
    try:
        with pytest.raises(WarehouseError, match="add the role root to server_audit_excl_users"):
            drawn(talkative.url(), secret)
        talkative.sql("SET GLOBAL server_audit_excl_users = 'ann,root'")
        drawn(talkative.url(), secret)
    finally:
        talkative.sql("SET GLOBAL server_audit_logging = OFF")
        talkative.sql("SET GLOBAL server_audit_excl_users = ''")
    assert not tells(talkative, secret)


def test_an_audit_log_of_connections_has_no_secret(talkative):
    talkative.sql("SET GLOBAL server_audit_events = 'CONNECT'")
    talkative.sql("SET GLOBAL server_audit_logging = ON")
    try:
        drawn(talkative.url(), "6" * 32)
    finally:
        talkative.sql("SET GLOBAL server_audit_logging = OFF")
    assert not tells(talkative, "6" * 32)


def test_it_is_refused_before_anything_is_charged(talkative):
    with (
        closing(MariaDBWarehouse("db", talkative.url(user="ann"))) as warehouse,
        pytest.raises(WarehouseError, match="general log would have the secret"),
    ):
        table = warehouse._described(warehouse._full_name("people"))
        warehouse.hold(policy_of("bins"), table)
