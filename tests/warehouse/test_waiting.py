"""The secrets relation in a real PostgreSQL: nobody else may read it, and no log has the secret."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import psycopg
import pytest
from debian import ensure  # noqa: F401 - the folder of the servers is on the path
from postgres import running

from policy_engine.errors import WarehouseError
from policy_engine.policy.project import ListedWarehouse as Named
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
        assert not waiting.waits("a_v1", "md5")
        waiting.make()
        waiting.put("a_v1", SECRET, "md5")
        assert waiting.waits("a_v1", "md5")
        assert not waiting.waits("a_v1", "other")
        place.sql("UPDATE waiting.salts SET is_drawn = true")
        assert not waiting.waits("a_v1", "md5")
        waiting.put("a_v1", SECRET[::-1], "other")
        assert waiting.waits("a_v1", "other")
        found = told(place, "SELECT salt, text_md5, is_drawn FROM waiting.salts")
        assert found == [(SECRET[::-1].hex(), "other", False)]
        waiting.take("a_v1")
        assert not waiting.waits("a_v1", "other")


def test_a_question_that_reads_the_secret_leaves_nothing(place):
    asked = 'SELECT "salt" FROM "waiting"."salts"'
    with secrets(place) as waiting:
        assert waiting.lines((asked, "SELECT 1::text"), "a_v1", SECRET) == [
            [(SECRET.hex(),)],
            [("1",)],
        ]
    assert told(place, "SELECT * FROM waiting.salts") == []
    with (
        pytest.raises(WarehouseError, match=r"failed \(UndefinedTable\): "),
        secrets(place) as waiting,
    ):
        waiting.lines(("SELECT FROM nowhere",), "a_v1", SECRET)
    assert told(place, "SELECT * FROM waiting.salts") == []


def test_no_operator_of_somebody_elses_is_taken(place):
    place.sql(
        "CREATE FUNCTION waiting.mine(varchar, varchar) RETURNS text LANGUAGE sql"
        " AS $$ SELECT 'known' $$",
        "CREATE OPERATOR waiting.|| (FUNCTION = waiting.mine, LEFTARG = varchar,"
        " RIGHTARG = varchar)",
        "ALTER ROLE CURRENT_USER SET search_path = waiting",
    )
    try:
        with secrets(place) as waiting:
            asked = """SELECT "salt" || ':' FROM "waiting"."salts" """
            assert waiting.lines((asked,), "a_v1", SECRET) == [[(f"{SECRET.hex()}:",)]]
        question = "SELECT 'a'::varchar || ':'::varchar, salt || ':' FROM waiting.salts"
        place.sql("INSERT INTO waiting.salts VALUES ('b', 's', '', false)")
        assert told(place, question) == [("known", "s:")]
    finally:
        place.sql("ALTER ROLE CURRENT_USER RESET search_path")


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
        waiting.make()
        waiting.put("a_v1", SECRET, "md5")
    assert not may_read(place)


def test_a_grant_on_a_column_is_taken_back(place):
    with secrets(place) as waiting:
        waiting.make()
        waiting.put("a_v1", SECRET, "md5")
        assert waiting.waits("a_v1", "md5")
        place.sql('GRANT SELECT (salt) ON waiting.salts TO "odd-Role"')
        assert may_read(place)
        assert not waiting.waits("a_v1", "md5")  # somebody may have read it
        waiting.put("a_v1", SECRET, "md5")
    assert not may_read(place)


COLUMNS = '"release_id" TEXT PRIMARY KEY, "salt" TEXT, "text_md5" TEXT, "is_drawn" BOOLEAN'
MADE = f"CREATE TABLE waiting.salts ({COLUMNS})"
OTHERS = {
    "another role's": f'{MADE}; ALTER TABLE waiting.salts OWNER TO "odd-Role"',
    "a view": "CREATE VIEW waiting.salts AS SELECT 1 AS release_id",
    "a rule": f"{MADE}; CREATE TABLE waiting.copy (LIKE waiting.salts); CREATE RULE copied AS"
    " ON INSERT TO waiting.salts DO ALSO INSERT INTO waiting.copy SELECT NEW.*",
    "a check": f"{MADE}; ALTER TABLE waiting.salts ADD CHECK (salt <> '')",
    "a child": f"{MADE}; CREATE TABLE waiting.child () INHERITS (waiting.salts)",
    "a parent": f"CREATE TABLE waiting.old ({COLUMNS});"
    " CREATE TABLE waiting.salts () INHERITS (waiting.old)",
    "a policy": f"{MADE}; ALTER TABLE waiting.salts ENABLE ROW LEVEL SECURITY",
    "other columns": 'CREATE TABLE waiting.salts ("release_id" TEXT, "salt" TEXT)',
    "other types": f"{MADE}; ALTER TABLE waiting.salts ALTER salt TYPE varchar(32)",
    "a default": f"{MADE}; ALTER TABLE waiting.salts ALTER salt SET DEFAULT 'known'",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_table_that_others_made_theirs_is_refused(place, name):
    place.sql(OTHERS[name])
    with (
        secrets(place) as waiting,
        pytest.raises(WarehouseError, match="must be a plain table that the role that releases"),
    ):
        waiting.make()


def test_a_schema_that_is_there_need_not_be_made(place):
    place.sql("CREATE ROLE releaser LOGIN", "GRANT USAGE, CREATE ON SCHEMA waiting TO releaser")
    try:
        named = Named("w", "postgres", url=place.url_of("releaser"))
        with waiting_secrets(named, SimpleNamespace(), NAME) as waiting:
            waiting.make()
            waiting.put("a_v1", SECRET, "md5")
            assert waiting.waits("a_v1", "md5")
    finally:
        place.sql("DROP OWNED BY releaser", "DROP ROLE releaser")


def test_no_log_of_the_server_has_the_secret(place):
    place.sql("ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")
    try:
        with closing(psycopg.connect(place.url)) as told_first:
            told_first.execute("SELECT 'a statement that is logged'")
        with secrets(place) as waiting:
            waiting.make()
            waiting.put("a_v1", SECRET, "md5")
            waiting.lines(("SELECT 1::text",), "a_v1", SECRET)
    finally:
        place.sql("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()")
    logged = b"".join(file.read_bytes() for file in place.folder.rglob("*log*") if file.is_file())
    assert b"a statement that is logged" in logged
    assert SECRET.hex().encode() not in logged
