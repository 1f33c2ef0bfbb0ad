"""The secrets relation in a real PostgreSQL: nobody else may read it, and no log has the secret."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import psycopg
import pytest
from debian import ensure  # noqa: F401 - the folder of the servers is on the path
from postgres import running

from policy_engine.errors import WarehouseError
from policy_engine.policy.project import Warehouse as Named
from policy_engine.warehouse.waiting import waiting_secrets

SECRET = bytes(range(16))
NAME = ("postgres", "waiting", "salts")


@pytest.fixture(scope="module")
def server():
    with running() as started:
        yield started


@pytest.fixture
def place(server):
    """A schema of its own, a role that releases, and one that may be curious."""
    server.sql(
        "DROP SCHEMA IF EXISTS waiting CASCADE",
        "CREATE SCHEMA waiting",
        'DROP ROLE IF EXISTS "odd-Role"',
        'CREATE ROLE "odd-Role" LOGIN',
        'GRANT USAGE, CREATE ON SCHEMA waiting TO "odd-Role"',
    )
    yield server
    server.sql("DROP SCHEMA waiting CASCADE", 'DROP OWNED BY "odd-Role"')


def secrets(place):
    named = Named("w", "postgres", url=place.url)
    return waiting_secrets(named, SimpleNamespace(), NAME)


def told(place, question):
    with psycopg.connect(place.url, autocommit=True) as connection:
        return connection.execute(question).fetchall()


def may_read(place, column="salt"):
    question = f"SELECT has_column_privilege('odd-Role', 'waiting.salts', '{column}', 'SELECT')"
    return told(place, question)[0][0]


def test_what_is_put_waits_until_it_is_drawn_with(place):
    with secrets(place) as waiting:
        assert not waiting.waits("a_v1")
        waiting.put("a_v1", SECRET, "md5")
        assert waiting.waits("a_v1")
        place.sql("UPDATE waiting.salts SET is_drawn = true")
        assert not waiting.waits("a_v1")
        waiting.put("a_v1", SECRET[::-1], "other")
        assert waiting.waits("a_v1")
        found = told(place, "SELECT salt, text_md5, is_drawn FROM waiting.salts")
        assert found == [(SECRET[::-1].hex(), "other", False)]
        waiting.take("a_v1")
        assert not waiting.waits("a_v1")


def test_a_question_that_reads_the_secret_leaves_nothing(place):
    with secrets(place) as waiting:
        asked = 'SELECT count(*) FROM "waiting"."salts" WHERE "salt" = \'' + SECRET.hex() + "'"
        assert waiting.number(asked, "a_v1", SECRET) == 1
        assert told(place, "SELECT * FROM waiting.salts") == []
        with pytest.raises(psycopg.errors.UndefinedTable):
            waiting.number("SELECT count(*) FROM nowhere", "a_v1", SECRET)
        assert told(place, "SELECT * FROM waiting.salts") == []


@pytest.mark.parametrize(
    "grant",
    [
        'ALTER DEFAULT PRIVILEGES IN SCHEMA waiting GRANT SELECT ON TABLES TO "odd-Role"',
        "ALTER DEFAULT PRIVILEGES IN SCHEMA waiting GRANT SELECT ON TABLES TO PUBLIC",
    ],
)
def test_what_a_schema_grants_by_itself_is_taken_back(place, grant):
    place.sql(grant)
    with secrets(place) as waiting:
        waiting.put("a_v1", SECRET, "md5")
    assert not may_read(place)


def test_a_grant_on_a_column_is_taken_back(place):
    with secrets(place) as waiting:
        waiting.put("a_v1", SECRET, "md5")
        place.sql('GRANT SELECT (salt) ON waiting.salts TO "odd-Role"')
        assert may_read(place)
        waiting.put("a_v1", SECRET, "md5")
    assert not may_read(place)


@pytest.mark.parametrize(
    "made",
    [
        'CREATE TABLE waiting.salts ("release_id" TEXT, "salt" TEXT, "text_md5" TEXT,'
        ' "is_drawn" BOOLEAN); ALTER TABLE waiting.salts OWNER TO "odd-Role"',
        "CREATE VIEW waiting.salts AS SELECT 1 AS release_id",
        'CREATE TABLE waiting.salts ("release_id" TEXT, "salt" TEXT, "text_md5" TEXT,'
        ' "is_drawn" BOOLEAN); CREATE TABLE waiting.copy (LIKE waiting.salts);'
        " CREATE RULE copied AS ON INSERT TO waiting.salts DO ALSO"
        " INSERT INTO waiting.copy SELECT NEW.*",
    ],
)
def test_a_table_that_others_made_theirs_is_refused(place, made):
    place.sql(made)
    with (
        secrets(place) as waiting,
        pytest.raises(WarehouseError, match="must be a table of the role that releases"),
    ):
        waiting.put("a_v1", SECRET, "md5")


def test_no_log_of_the_server_has_the_secret(place):
    place.sql("ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")
    try:
        with closing(psycopg.connect(place.url)) as told_first:
            told_first.execute("SELECT 'a statement that is logged'")
        with secrets(place) as waiting:
            waiting.put("a_v1", SECRET, "md5")
            waiting.number("SELECT 1", "a_v1", SECRET)
    finally:
        place.sql("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()")
    logged = b"".join(file.read_bytes() for file in place.folder.rglob("*log*") if file.is_file())
    assert b"a statement that is logged" in logged
    assert SECRET.hex().encode() not in logged
