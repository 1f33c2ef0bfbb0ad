"""Real servers whose setup lacks something: it is told before a charge, with what to do there."""

from __future__ import annotations

import os
import time
from contextlib import closing

import psycopg
import pymysql
import pytest
from mariadb_server import running
from typer.testing import CliRunner

from policy_engine.cli.app import app
from policy_engine.errors import PolicyEngineError, PolicyError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project, load_project
from policy_engine.releasing.books import has_ledger, open_ledger
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse import clickhouse, mysql_session
from policy_engine.warehouse.mysql import MariaDBWarehouse
from policy_engine.warehouse.postgres import PostgresWarehouse

POLICY = """\
version: 1
name: visits
source: {{table: {relation}}}
privacy_unit: {{column: id, rows: {{first_by: [{order}]}}}}
recode: {recode}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 9, delta: 0.9}}
release: {{{release}}}
"""


class Project:
    """A project over one server, by its commands."""

    def __init__(self, folder, kind: str, url: str) -> None:
        self.folder = folder
        told = f"version: 1\nwarehouses: {{main: {{type: {kind}, url: '{url}'}}}}\n"
        (folder / "policy-engine.yaml").write_text(told)

    def policy(self, relation, recode, order, release="file: out.parquet") -> None:
        text = POLICY.format(relation=relation, recode=recode, order=order, release=release)
        (self.folder / "policy.yaml").write_text(text)

    def release(self) -> str:
        """What it says; an error's message and its notes."""
        done = CliRunner().invoke(app, ["release", str(self.folder / "policy.yaml")])
        if isinstance(done.exception, PolicyEngineError):
            return "\n".join([str(done.exception), *getattr(done.exception, "__notes__", [])])
        assert done.exit_code == 0, done.output
        return done.output

    def charged(self) -> list[str]:
        """The states of the entries."""
        project = load_project(self.folder / "policy-engine.yaml")
        if not has_ledger(project):
            return []
        with open_ledger(project) as ledger:
            return [entry.state for entry in ledger.read().budget.entries()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# MariaDB


@pytest.fixture(scope="module")
def mariadb():
    with running() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", os.devnull)
        utf8 = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
        kinds = {"name": "VARCHAR(100)", "wide": "VARCHAR(768)", "note": "TEXT",
                 "more": "MEDIUMTEXT", "most": "LONGTEXT"}  # fmt: skip
        columns = ", ".join(f"{name} {kind} {utf8}" for name, kind in kinds.items())
        server.sql(
            f"CREATE TABLE visits (id BIGINT, {columns})",
            "INSERT INTO visits SELECT seq, CONCAT('n', seq % 3),"
            " CONCAT(REPEAT('x', 700), seq % 3), CONCAT(REPEAT('ä', 5000), seq % 3), seq % 2, 'm'"
            " FROM seq_1_to_600",
        )
        yield server


@pytest.mark.parametrize("release", ["file: out.parquet", "table: {}_out"])
@pytest.mark.parametrize("column", ["name", "wide", "note", "more", "most"])
def test_mariadb_keeps_a_text_of_any_length(mariadb, here, column, release):
    project = Project(here, "mariadb", mariadb.url())
    project.policy("visits", f"{{{column}: keep}}", column, release.format(column))
    project.release()
    assert project.charged() == ["committed"]


def test_without_room_for_a_sort_mariadb_fails_before_a_charge(mariadb, here, monkeypatch):
    least = ("SET SESSION max_sort_length = 8388608", "SET SESSION sort_buffer_size = 1024")
    monkeypatch.setattr(mysql_session, "sorting", lambda longest, keys, own: least)
    project = Project(here, "mariadb", mariadb.url())
    project.policy("visits", "{note: keep}", "note")
    assert project.release().startswith("the server has no memory for a sort by the texts")
    assert project.charged() == []


def tried(warehouse, folder, relation, recode) -> str:
    """What is said before a charge; empty where the text can run."""
    text = POLICY.format(relation=relation, recode=recode, order="id", release="file: o.parquet")
    policy = load_policy_text(
        text.replace("rows: {first_by: [id]}", "rows: any"), folder / "p.yaml", folder
    )
    with closing(warehouse):
        certificate, table = prepare(policy, default_project(folder), warehouse)
        try:
            warehouse.check_reads(policy, table, certificate.query)
        except WarehouseError as error:
            assert error.of_setup
            return str(error)
    return ""


def test_mariadb_tells_which_columns_the_role_may_not_read(mariadb, here):
    mariadb.sql(
        "CREATE OR REPLACE USER reader@localhost",
        "GRANT SELECT (id), INSERT (id, name) ON work.visits TO reader@localhost",
    )

    def told() -> str:
        opened = MariaDBWarehouse("maria", mariadb.url(user="reader"))
        return tried(opened, here, "visits", "{name: keep}")

    assert told().startswith(
        "the role may not read name of work.visits: GRANT SELECT (`name`) ON `work`.`visits` to it"
    )
    mariadb.sql("GRANT SELECT (`name`) ON `work`.`visits` TO reader@localhost")
    assert told() == ""


def test_mariadb_hides_columns_from_a_role_and_is_not_taken_for_a_table_without_them(mariadb, here):
    mariadb.sql(
        "CREATE OR REPLACE USER reader@localhost",
        "GRANT SELECT (id) ON work.visits TO reader@localhost",
    )

    def told(user: str, recode: str) -> str:
        return tried(MariaDBWarehouse("maria", mariadb.url(user=user)), here, "visits", recode)

    with pytest.raises(
        PolicyError, match=r"'name' that the role may read; .* or GRANT SELECT on it"
    ):
        told("reader", "{name: keep}")
    with pytest.raises(PolicyError, match="has no column 'nobody'; name a column of the source"):
        told("root", "{nobody: keep}")
    mariadb.sql("GRANT SELECT (`name`) ON `work`.`visits` TO reader@localhost")
    assert told("reader", "{name: keep}") == ""


def test_where_mariadb_shows_whose_a_lock_is_is_told(mariadb):
    other = mariadb.connect(database="work")
    with closing(other), closing(MariaDBWarehouse("maria", mariadb.url())) as warehouse:
        other.cursor().execute("LOCK TABLES visits WRITE")
        warehouse.ask("SET SESSION lock_wait_timeout = 1")
        with pytest.raises(WarehouseError, match="METADATA_LOCK_INFO whose it is") as caught:
            warehouse.ask("SELECT 1 FROM visits")
        assert caught.value.of_setup


@pytest.mark.parametrize("missing", ["CREATE", "ALTER", "DROP", "INSERT"])
def test_mariadb_tells_which_right_a_table_needs(mariadb, here, missing):
    rights = [
        right for right in ("SELECT", "INSERT", "CREATE", "ALTER", "DROP") if right != missing
    ]
    mariadb.sql(
        "CREATE DATABASE IF NOT EXISTS public",
        "CREATE OR REPLACE USER writer@localhost",
        "GRANT SELECT ON work.* TO writer@localhost",
        "CREATE OR REPLACE ROLE releasing",
        f"GRANT {', '.join(sorted(rights))} ON public.* TO releasing",
        "GRANT releasing TO writer@localhost",
        "SET DEFAULT ROLE releasing FOR writer@localhost",
    )
    project = Project(here, "mariadb", mariadb.url(user="writer"))
    project.policy("visits", "{name: keep}", "name", f"table: public.out_{missing.lower()}")
    assert project.release().startswith("the role may not do this; it needs SELECT on the source")
    assert project.charged() == []


# PostgreSQL


@pytest.fixture(scope="module")
def visits(postgres):
    postgres.sql(
        "create schema if not exists setups",
        "create table setups.visits as select n % 100 as id, n % 3 as day, 'secret' as note"
        " from generate_series(1, 400) as n",
        "create role half login",
        "grant usage, create on schema setups to half",
        "grant select (id) on setups.visits to half",
    )
    return postgres


def test_postgres_tells_which_columns_the_role_may_not_read(visits, here):
    def told() -> str:
        opened = PostgresWarehouse("pg", visits.url_of("half"))
        return tried(opened, here, "setups.visits", "{day: keep}")

    assert told().startswith(
        'the role may not read day of setups.visits: GRANT SELECT ("day") ON "setups"."visits" to'
    )
    visits.sql('grant select ("day") on "setups"."visits" to half')
    assert told() == ""
    visits.sql("revoke select (day) on setups.visits from half")


def test_whose_lock_it_is_is_told_and_nothing_is_charged(visits, here, monkeypatch):
    project = Project(here, "postgres", visits.url)
    project.policy("setups.visits", "{day: keep}", "day")
    with psycopg.connect(visits.url, application_name="nightly load") as other:
        other.execute("lock table setups.visits in access exclusive mode")
        pid = other.info.backend_pid
        with closing(PostgresWarehouse("pg", visits.url)) as warehouse:
            warehouse._session.do("SET lock_timeout = '200ms'")
            warehouse._certified[("setups", "visits")] = (
                warehouse._by_itself(("setups", "visits")),
                None,
            )
            with pytest.raises(WarehouseError) as caught:
                warehouse.ask("SELECT 1 FROM setups.visits")
        assert str(caught.value) == (
            f"setups.visits is locked for 30 s by session {pid} of the role postgres (nightly"
            " load): end that, or try again when it has ended"
        )
        assert caught.value.of_setup


def test_the_time_limits_of_a_role_are_not_the_releases(visits):
    visits.sql("alter role half set statement_timeout = '300ms'",
               "alter role half set idle_session_timeout = '500ms'")  # fmt: skip
    with closing(PostgresWarehouse("pg", visits.url_of("half"))) as warehouse:
        time.sleep(1)
        found = warehouse.ask(
            "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
        )
        assert found == [("0", "30s")]
        assert warehouse._look("SELECT 1 FROM pg_sleep(0.5)") == [(1,)]
    visits.sql("alter role half reset all")


def test_what_a_function_raises_is_withheld_and_may_be_of_a_row(visits):
    visits.sql(
        "create or replace function setups.tells(n int) returns int language plpgsql as $$"
        " begin raise exception 'permission denied for table VERY-SECRET' using errcode = '42501';"
        " end $$"
    )
    with closing(PostgresWarehouse("pg", visits.url)) as warehouse:
        with pytest.raises(WarehouseError, match="withheld") as caught:
            warehouse.ask("SELECT setups.tells(1)")
        assert not caught.value.of_setup


@pytest.mark.parametrize(
    ("sql", "told", "of_setup"),
    [
        ("SELECT nothing FROM setups.visits", "is not there, or the role may not use it", True),
        ("SELECT setups.nothing(1)", "is not there, or the role may not use it", True),
        ("SELECT 1 FROM setups.nowhere", "is not there, or the role may not use it", True),
        ("SELECT 1 / (day - day) FROM setups.visits", "withheld because it may quote data", False),
    ],
)
def test_what_postgres_cannot_have_failed_on_by_a_row(visits, sql, told, of_setup):
    with closing(PostgresWarehouse("pg", visits.url)) as warehouse:
        with pytest.raises(WarehouseError, match=told) as caught:
            warehouse.ask(sql)
        assert caught.value.of_setup is of_setup


@pytest.mark.parametrize("release", ["file: out.parquet", "table: setups.named_out"])
@pytest.mark.parametrize("code", ["nowhere", "hidden.illness"])
def test_a_name_that_a_row_makes_is_no_setup_and_is_not_told(visits, here, code, release):
    """``code::regclass`` fails as a table that is missing does, or one that is not the role's."""
    visits.sql(
        "create schema if not exists hidden",
        "create table if not exists hidden.illness (n int)",
        "drop view if exists setups.named",
        "drop table if exists setups.coded",
        f"create table setups.coded as select n as id, '{code}' as code from"
        " generate_series(1, 50) as n",
        "create view setups.named as select id, code::regclass::text as code from setups.coded",
        "grant select on setups.coded, setups.named to half",
        "alter view setups.named owner to half",
    )
    project = Project(here, "postgres", visits.url_of("half"))
    project.policy("setups.named, view: rowwise", "{code: {prefix: 1}}", "code", release)
    policy = here / "policy.yaml"
    policy.write_text(policy.read_text() + "account: them\n")
    told = [project.release() for _ in range(3)]
    assert "message is withheld" in told[0]
    assert not any(part in "".join(told) for part in ("hidden", "nowhere"))
    assert "had its 2 attempts" in told[2]
    assert project.charged() == ["kept"]


@pytest.mark.parametrize(
    ("sql", "told", "of_setup"),
    [
        ("SELECT nothing FROM visits", "is not there, or the role may not use it", True),
        ("SELECT nothing(1)", "is not there, or the role may not use it", True),
        ("SELECT 1 FROM nowhere", "is not there, or the role may not use it", True),
        ("SELECT (SELECT id FROM visits)", "withheld because it may quote data", False),
    ],
)
def test_what_mariadb_cannot_have_failed_on_by_a_row(mariadb, sql, told, of_setup):
    with closing(MariaDBWarehouse("maria", mariadb.url())) as warehouse:
        with pytest.raises(WarehouseError, match=told) as caught:
            warehouse.ask(sql)
        assert caught.value.of_setup is of_setup


# ClickHouse


def test_a_row_may_be_too_long_for_mariadb_though_its_table_was_made(mariadb):
    """So that is no setup: of the same columns short rows are written, and one long row is not."""
    columns = ", ".join(f"c{number} varchar(100)" for number in range(300))
    made = ("set innodb_strict_mode = 0", f"create table wide ({columns}) engine = innodb")
    mariadb.sql("drop table if exists wide", *made)
    with closing(mariadb.connect(database="work")) as connection, connection.cursor() as cursor:
        cursor.execute(f"insert into wide values ({', '.join(['repeat(7, 1)'] * 300)})")
        with pytest.raises(pymysql.Error) as caught:
            cursor.execute(f"insert into wide values ({', '.join(['repeat(7, 30)'] * 300)})")
    assert caught.value.args[0] == 1118
    told = mysql_session._TOLD[1118]
    assert not told.of_setup
    assert "wider together" in told.message


def test_a_quota_of_clickhouse_may_be_used_up_by_rows():
    """Quotas count read_rows, result_rows and execution_time; how many queries run is no row's."""
    assert not clickhouse._TOLD[201].of_setup
    assert clickhouse._TOLD[202].of_setup
