"""MariaDB, a real server: the same releases as DuckDB's, and the traps of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing, nullcontext
from datetime import date, datetime
from decimal import Decimal

import pymysql
import pytest
from alike import COLUMNS, POLICIES, ROWS, check_put_back, differences, expected, policy_of, rows_of
from mariadb_server import running

from policy_engine.errors import LedgerError, NotCertifiable, PolicyEngineError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare, table_read
from policy_engine.warehouse.mysql import SALT, MariaDBWarehouse

_TYPES = {
    "VARCHAR": "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    "TIMESTAMP": "DATETIME(6)",
}
_CASELESS = "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"


@pytest.fixture(scope="module")
def mariadb():
    # The driver reads all authorities of the system for each session, and this server has no TLS.
    with running() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", os.devnull)
        yield server


@pytest.fixture(scope="module")
def people(mariadb):
    kinds = {name: _TYPES.get(kind, kind) for name, kind in COLUMNS.items()}
    kinds["town"] = _CASELESS
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    mariadb.sql(f"CREATE TABLE people ({columns})")
    marks = ", ".join(["%s"] * len(COLUMNS))
    connection = mariadb.connect(database="work")
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO people VALUES ({marks})", ROWS)
    connection.close()
    return mariadb


@pytest.fixture
def warehouse(people):
    with closing(MariaDBWarehouse("maria", people.url())) as opened:
        yield opened


@pytest.mark.parametrize("name", POLICIES)
def test_it_releases_what_duckdb_releases(warehouse, name):
    found = rows_of(policy_of(name), warehouse)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


def test_a_session_has_memory_for_temporary_tables_and_says_so(people, warehouse):
    def held(opened):
        return opened.ask("SELECT @@tmp_memory_table_size, @@max_heap_table_size")

    assert held(warehouse) == [("268435456", "268435456")]
    assert warehouse.settings == (("tmp_memory_table_size", "268435456"),)
    given = (("sort_buffer_size", "64MB"), ("tmp_memory_table_size", "8MB"))
    with closing(MariaDBWarehouse("maria", people.url(), given)) as opened:
        assert held(opened) == [("8388608", "8388608")]
        assert dict(opened.settings) == {
            "sort_buffer_size": "67108864",
            "tmp_memory_table_size": "8388608",
        }
        opened._sort_by(10, 2)
        assert opened.ask("SELECT @@sort_buffer_size") == [("67108864",)]


GROUPS = """
version: 1
name: visits
source: {table: visits}
privacy_unit: {column: id}
contribution: {max_groups: 3}
recode: {region: keep, m: keep}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: out.parquet}
"""


def test_temporary_tables_of_persons_in_several_groups_are_narrow(people, tmp_path):
    made = "SELECT seq DIV 3, CONCAT('region ', seq % 20), seq * 7 % 12 FROM seq_0_to_29999"
    region = _CASELESS.replace("100", "30")
    people.sql(
        f"CREATE TABLE visits (id BIGINT, region {region}, m BIGINT)", f"INSERT INTO visits {made}"
    )
    asked = load_policy_text(GROUPS, tmp_path / "policy.yaml", tmp_path)
    given = (("tmp_memory_table_size", "9MB"),)
    with closing(MariaDBWarehouse("maria", people.url(), given)) as opened:
        certificate, table = prepare(asked, default_project(tmp_path), opened)
        on_disk = "SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'"
        with opened.sampled(asked, table, bytes(16)):
            assert opened.rows(certificate.query).num_rows == 60
            before = opened.ask(on_disk)  # the catalog's are behind it
            opened.ask(certificate.query)
            assert opened.ask(on_disk) == before


# The types of its own


TYPES = """
    CREATE TABLE typed (
        id BIGINT UNSIGNED, latin VARCHAR(9) CHARACTER SET latin1,
        code CHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
        label ENUM('a', 'A', 'it''s') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
        truth TINYINT(1), whole TINYINT, wide BIGINT UNSIGNED, day DATE, at DATETIME(6),
        login TIMESTAMP(6) NULL, near FLOAT, sum DECIMAL(10, 2), huge DECIMAL(65, 30),
        filled INT(5) ZEROFILL, clock TIME, year YEAR, raw BLOB, japanese VARCHAR(9) CHARACTER SET
        sjis, doc JSON, uid UUID
    )
"""
DAYS = ["'0000-00-00'", "'0000-03-04'", "'2020-00-10'", "'2020-02-00'", "'1969-12-31'", "NULL"]
POLICY = """\
version: 1
name: typed
source: {{table: {relation}}}
privacy_unit: {{column: {key}, rows: {{first_by: [{order}]}}}}
recode: {recode}
sample: {{rate: 0.999999}}
k: 2
guarantee: {{epsilon: 16, delta: 0.999999}}
release: {{{release}}}
account: people
"""


def policy(folder, recode, *, relation="typed", key="id", order="whole", release="file: o.parquet"):
    text = POLICY.format(relation=relation, key=key, order=order, recode=recode, release=release)
    return load_policy_text(text, folder / "policy.yaml", folder)


@pytest.fixture(scope="module")
def typed(mariadb):
    mariadb.sql(
        "SET sql_mode = ''",
        TYPES,
        *(
            f"INSERT INTO typed SELECT {at} * 1000 + seq, CASE seq % 2 WHEN 0 THEN 'ä' ELSE 'a'"
            " END, IF(seq % 2, 'a ', 'A'), 1 + seq % 3, CAST(seq % 3 AS SIGNED) - 1, 1,"
            f" 18446744073709551615, {day}, {day}, FROM_UNIXTIME(86400 * (1 + seq % 2)), 0.1, -0.5,"
            " 1, 42, '1:00', 2020, 'x', 'x', '{}', UUID() FROM seq_1_to_12"
            for at, day in enumerate(DAYS)
        ),
    )
    return mariadb


@pytest.fixture
def opened(typed):
    with closing(MariaDBWarehouse("maria", typed.url())) as warehouse:
        yield warehouse


def test_columns_are_of_the_types_of_the_kernel(opened, tmp_path):
    table = opened.table(policy(tmp_path, "{whole: keep}").source, tmp_path)
    assert {column.name: column.type for column in table.columns} == {
        "id": "UBIGINT",
        "latin": "VARCHAR COLLATE latin1_swedish_ci",
        "code": "VARCHAR",
        "label": "ENUM('a','A','it''s')",
        "truth": "BOOLEAN",
        "whole": "TINYINT",
        "wide": "UBIGINT",
        "day": "DATE",
        "at": "TIMESTAMP",
        "login": "TIMESTAMP WITH TIME ZONE",
        "near": "FLOAT",
        "sum": "DECIMAL(10,2)",
        "huge": "OTHER DECIMAL(65,30)",
        "filled": "OTHER INT(5) UNSIGNED ZEROFILL",
        "clock": "OTHER TIME",
        "year": "OTHER YEAR(4)",
        "raw": "OTHER BLOB",
        "japanese": "OTHER VARCHAR(9) OF SJIS",
        "doc": "VARCHAR COLLATE utf8mb4_bin",
        "uid": "UUID",
    }


@pytest.mark.parametrize(
    ("recode", "wanted"),
    [
        ("{truth: keep}", [(False, 24), (True, 48)]),
        ("{truth: {map: {'true': y, 'false': n}, other: o}}", [("n", 24), ("y", 48)]),
        ("{latin: keep}", [("a", 36), ("ä", 36)]),
        ("{latin: {map: {'ä': x}, other: ''}}", [("", 36), ("x", 36)]),
        ("{code: keep}", [("A", 36), ("a", 36)]),
        ("{label: keep}", [("A", 24), ("a", 24), ("it's", 24)]),
        ("{label: {prefix: 1}}", [("A", 24), ("a", 24), ("i", 24)]),
        ("{wide: keep}", [(18446744073709551615, 72)]),
        ("{near: {bins: [0.1]}}", [(">=0.1", 72)]),
        ("{sum: keep}", [(Decimal("-0.50"), 72)]),
        ("{sum: {round: 1}}", [(Decimal("-1"), 72)]),
        ("{day: {bins: [1970-01-01]}}", [("<1970-01-01", 36), (">=1970-01-01", 24), (None, 12)]),
        ("{day: {truncate: year}}", [(date(1969, 1, 1), 12), (None, 60)]),
        ("{at: {truncate: week}}", [("1970-W01", 12), (None, 60)]),
        ("{login: keep}", None),
        ("{login: {truncate: day}}", [(datetime(1970, 1, 2), 36), (datetime(1970, 1, 3), 36)]),
    ],
)
@pytest.mark.parametrize("to", ["file", "table"])
def test_values_of_its_own(opened, tmp_path, recode, wanted, to):
    release = "file: o.parquet" if to == "file" else "table: typed_out"
    asked = policy(tmp_path, recode, release=release)
    certificate, table = prepare(asked, default_project(tmp_path), opened)
    opened.hold(asked, table)
    with opened.sampled(asked, table, bytes(16)) as unchanged:
        if to == "file":
            rows = [tuple(row.values()) for row in opened.rows(certificate.query).to_pylist()]
            unchanged()
            assert wanted is None or sorted(rows, key=repr) == sorted(wanted, key=repr)
        else:
            lines = []
            target = opened.target("typed_out")

            def attest():
                unchanged()
                lines.extend(opened.release_lines(target))

            opened.publish(certificate.query, target, "{}", attest, replace=True)
            assert len(lines) == len(set(lines)) >= (len(wanted) if wanted else 1)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"recode": "{filled: keep}"}, "constant alone takes the type "),
        ({"recode": "{huge: {round: 1}}"}, "constant alone takes the type "),
        ({"recode": "{whole: keep}", "key": "latin"}, "compared letter by letter"),
        ({"recode": "{whole: keep}", "key": "near"}, "must be a whole number, a text or a UUID"),
        ({"recode": "{whole: keep}", "relation": "gone"}, "has no table or view work.gone"),
        ({"recode": "{whole: keep}", "relation": "mysql.global_priv.x"}, "write schema.table"),
    ],
)
def test_what_is_refused(opened, tmp_path, spec, words):
    with pytest.raises(PolicyEngineError, match=words):
        prepare(policy(tmp_path, **spec), default_project(tmp_path), opened)


def test_a_strict_session_would_fail_on_a_row(typed):
    """The trap that the pinned session avoids: a warning about one row ends the statement."""
    with pytest.raises(pymysql.Error, match="Incorrect datetime"):
        typed.sql(
            "SET sql_mode = 'STRICT_ALL_TABLES'",
            "CREATE TABLE strict_out AS SELECT DATE_ADD(day, INTERVAL 0 DAY) AS d FROM typed",
        )


@pytest.mark.parametrize(
    ("names", "shows"),
    [
        ("utf8mb4 COLLATE utf8mb4_danish_ci", "'aa' > 'b'"),
        ("utf8mb4 COLLATE utf8mb4_general_ci", "'a' = 'Á'"),
        ("utf8mb4 COLLATE utf8mb4_bin", "'a' = 'a '"),
    ],
)
def test_the_connections_collation_decides_of_texts_that_are_not_told(mariadb, names, shows):
    told = shows.replace("'aa'", "'aa' COLLATE utf8mb4_nopad_bin").replace(
        "'a' =", "'a' COLLATE utf8mb4_nopad_bin ="
    )
    assert mariadb.sql(f"SET NAMES {names}", f"SELECT {shows}, {told}") == [(1, 0)]


def test_long_texts_are_sorted_to_their_last_byte(warehouse):
    pairs = " UNION ALL ".join(f"SELECT CONCAT(REPEAT('x', 5000), '{c}') AS t" for c in "dbca")
    found = warehouse.ask(f"SELECT RIGHT(t, 1) FROM ({pairs}) AS texts ORDER BY t")
    assert [row[0] for row in found] == list("abcd")
    found = warehouse.ask("SELECT 'a' = 'A', 'a' = 'a ', @@time_zone, @@sql_auto_is_null")
    assert found == [("0", "0", "+00:00", "0")]


# The secret


def test_the_secret_is_gone_after_the_run(warehouse, tmp_path):
    asked = policy_of("bins", folder=tmp_path)
    table = warehouse.table(asked.source, tmp_path)
    with pytest.raises(KeyboardInterrupt), warehouse.sampled(asked, table, bytes(16)):
        assert warehouse.ask(f"SELECT @{SALT}") == [(bytes(16).hex(),)]
        raise KeyboardInterrupt
    assert warehouse.ask(f"SELECT @{SALT}") == [(None,)]


def test_without_the_secret_nobody_is_in_the_sample(warehouse, tmp_path):
    asked = policy_of("bins", folder=tmp_path)
    certificate, _ = prepare(asked, default_project(tmp_path), warehouse)
    assert warehouse.rows(certificate.query).num_rows == 0


def test_a_sampler_that_answers_otherwise_draws_nothing(warehouse, tmp_path, monkeypatch):
    asked = policy_of("bins", folder=tmp_path)
    table = warehouse.table(asked.source, tmp_path)
    monkeypatch.setattr(warehouse, "bound", lambda salt: nullcontext())
    with (
        pytest.raises(WarehouseError, match="known-answer test"),
        warehouse.sampled(asked, table, bytes(16)),
    ):
        raise AssertionError


@pytest.fixture(scope="module")
def logging():
    """A server that logs statements, and what their variables were."""
    with running("--log-bin=log", "--server-id=1", "--binlog-format=MIXED") as server:
        server.sql("CREATE TABLE people (id BIGINT, age INT)",
                   "INSERT INTO people SELECT seq, seq % 2 FROM seq_1_to_40",
                   "CREATE USER clerk@localhost",
                   "GRANT ALL ON work.* TO clerk@localhost")  # fmt: skip
        yield server


def test_a_binary_log_of_statements_has_the_variables_that_they_read(logging):
    """The trap: without rows in the log, it holds the secret."""
    logging.sql("SET @policy_engine_salt = 'TRAP0123'",
                "CREATE TABLE trap AS SELECT id, @policy_engine_salt AS s FROM people")  # fmt: skip
    assert b"TRAP0123" in log_of(logging)


def log_of(server):
    return b"".join(path.read_bytes() for path in server.data.glob("log.0*"))


def released(warehouse, folder, salt, **spec):
    asked = policy(folder, "{age: keep}", relation="people", order="age",
                   release="table: out_b", **spec)  # fmt: skip
    certificate, table = prepare(asked, default_project(folder), warehouse)
    warehouse.hold(asked, table)
    with warehouse.sampled(asked, table, salt) as unchanged:
        target = warehouse.target("out_b")
        warehouse.publish(certificate.query, target, "{}", unchanged, replace=True)
    return target


def test_the_binary_log_has_no_secret(logging, tmp_path):
    salt = bytes(range(50, 66))
    with closing(MariaDBWarehouse("maria", logging.url())) as warehouse:
        released(warehouse, tmp_path, salt)
    assert b"policy_engine_new" in log_of(logging)
    assert salt.hex().encode() not in log_of(logging)


def test_a_role_that_cannot_keep_the_secret_from_the_log_is_refused(logging, tmp_path):
    with (
        closing(MariaDBWarehouse("maria", logging.url(user="clerk"))) as warehouse,
        pytest.raises(WarehouseError, match="binary log would hold the secret"),
    ):
        released(warehouse, tmp_path, bytes(16))


# The table that is published


@pytest.fixture
def place(mariadb):
    """A database of its own with forty people, for what changes it."""
    mariadb.sql(
        "CREATE OR REPLACE DATABASE place",
        "CREATE TABLE place.people (id BIGINT, age INT) ENGINE = InnoDB",
        "INSERT INTO place.people SELECT seq, seq % 2 FROM seq_1_to_40",
    )
    return mariadb


COMMENT = json.dumps({"mechanism": "sampled-suppression", "sql": "é'\\ %s" * 120})


class Release:
    """One release of ``place.people`` into ``place.out``."""

    def __init__(self, server, folder, user="root", recode="{age: keep}"):
        self.warehouse = MariaDBWarehouse("maria", server.url("place", user))
        self.policy = policy(folder, recode, relation="people", order="age",
                             release="table: out")  # fmt: skip
        self.target = self.warehouse.target("out")

    def run(self, attest=lambda: None, *, replace=False, comment=COMMENT):
        certificate, table = prepare(
            self.policy, default_project(self.policy.directory), self.warehouse
        )
        self.warehouse.hold(self.policy, table)
        with self.warehouse.sampled(self.policy, table, bytes(16)) as unchanged:

            def both():
                attest()
                unchanged()

            self.warehouse.publish(certificate.query, self.target, comment, both, replace=replace)


@pytest.fixture
def release(place, tmp_path):
    made = Release(place, tmp_path)
    yield made
    made.warehouse.close()


def tables(server):
    return {row[0] for row in server.sql("SHOW TABLES FROM place")}


def test_a_table_stands_with_its_comment(release, place):
    seen = []
    assert not release.warehouse.exists(release.target)
    release.run(lambda: seen.extend(release.warehouse.release_lines(release.target)))
    assert 1_000 < len(COMMENT) < 2_048  # MariaDB's longest comment
    assert release.warehouse.comment(release.target) == COMMENT
    assert list(release.warehouse.release_lines(release.target)) == seen
    assert [line[0] for line in seen] == ["0", "1"]
    assert tables(place) == {"people", "out"}


def test_a_comment_of_another_table_is_itself(release, place):
    place.sql("CREATE TABLE place.mine (a INT) COMMENT 'mine'", "CREATE VIEW place.v AS SELECT 1")
    assert release.warehouse.comment(("place", "mine")) == "mine"
    assert release.warehouse.comment(("place", "v")) == ""
    assert release.warehouse.comment(("place", "gone")) == ""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyboardInterrupt, KeyboardInterrupt),
        (LedgerError, LedgerError),
        (ValueError, WarehouseError),
    ],
)
def test_a_release_that_is_not_attested_leaves_what_stood(release, place, tmp_path, error, told):
    release.run()
    before = place.sql("SELECT * FROM place.out")
    other = Release(place, tmp_path, recode='{all: {constant: "*"}}')

    def fail():
        raise error

    with pytest.raises(told):
        other.run(fail, replace=True)
    other.warehouse.close()
    assert place.sql("SELECT * FROM place.out") == before
    assert release.warehouse.comment(release.target) == COMMENT
    assert tables(place) == {"people", "out"}


def test_it_is_replaced_in_one_step_and_its_rights_are_kept(release, place, tmp_path):
    release.run()
    place.sql("CREATE OR REPLACE USER reader@localhost",
              "GRANT SELECT ON place.out TO reader@localhost")  # fmt: skip
    other = Release(place, tmp_path, recode='{all: {constant: "*"}}')
    during = []

    def look():
        during.extend(place.sql("SELECT COUNT(*) FROM place.out"))
        for table in tables(place) - {"out"}:
            with pytest.raises(pymysql.Error, match="denied"):
                place.sql(f"SELECT * FROM place.{table}", user="reader", database=None)

    other.run(look, replace=True)
    other.warehouse.close()
    assert during == [(2,)]
    assert place.sql("SELECT * FROM place.out", user="reader", database=None) == [("*", 40)]
    assert tables(place) == {"people", "out"}
    grants = [row[0] for row in place.sql("SHOW GRANTS FOR reader@localhost")]
    assert [g for g in grants if "ON `place`" in g] == [
        "GRANT SELECT ON `place`.`out` TO `reader`@`localhost`"
    ]


def test_a_table_that_has_come_to_be_meanwhile_stays(release, place):
    with pytest.raises(WarehouseError, match="come to be meanwhile"):
        release.run(lambda: place.sql("CREATE TABLE place.out (mine INT)"))
    assert place.sql("SELECT COUNT(*) FROM place.out") == [(0,)]
    assert tables(place) == {"people", "out"}


def test_a_connection_that_is_lost_leaves_what_stood(release, place, tmp_path):
    release.run()
    other = Release(place, tmp_path, recode='{all: {constant: "*"}}')
    [(number,)] = other.warehouse.ask("SELECT CONNECTION_ID()")
    with pytest.raises(WarehouseError, match="connection to the server was lost"):
        other.run(lambda: place.sql(f"KILL {number}"), replace=True)
    other.warehouse.close()
    assert place.sql("SELECT COUNT(*) FROM place.out") == [(2,)]
    assert tables(place) == {"people", "out"}


def test_what_a_crash_left_aside_is_taken_away_by_the_next_release(place, tmp_path):
    with running() as server:
        server.sql("CREATE DATABASE place",
                   "CREATE TABLE place.people (id BIGINT, age INT)",
                   "INSERT INTO place.people SELECT seq, seq % 2 FROM seq_1_to_40")  # fmt: skip
        first = Release(server, tmp_path)
        first.run()
        with pytest.raises(WarehouseError, match="connection to the server was lost"):
            first.run(server.crash, replace=True)
        first.warehouse.close()
        server.start()
        assert server.sql("SELECT COUNT(*) FROM place.out") == [(2,)]
        assert len(tables(server)) == 3
        again = Release(server, tmp_path)
        assert again.warehouse.comment(again.target) == COMMENT
        again.run(replace=True)
        assert tables(server) == {"people", "out"}
        again.warehouse.close()


# What is certified is what is read


VIEW = "CREATE OR REPLACE VIEW place.grown AS SELECT id, age FROM place.people"
GROWN = "grown, view: rowwise"
CHANGES = {
    "a view of another text": (GROWN,
        "CREATE OR REPLACE VIEW place.grown AS SELECT 7 AS id, age FROM place.people"),
    "a view under a table's name": ("people", "RENAME TABLE place.people TO place.other",
        "CREATE VIEW place.people AS SELECT id % 2 AS id, age FROM place.other"),
    "a view under a name that a view reads": (GROWN,
        "RENAME TABLE place.people TO place.other",
        "CREATE VIEW place.people AS SELECT id % 2 AS id, age FROM place.other"),
    "a column of another type": ("people", "ALTER TABLE place.people MODIFY id DOUBLE"),
    "another engine": ("people", "ALTER TABLE place.people MODIFY id BIGINT NOT NULL,"
        " MODIFY age INT NOT NULL, ENGINE = CSV"),
    "another engine behind a view": (GROWN, "CREATE OR REPLACE TABLE place.people"
        " (id BIGINT NOT NULL, age INT NOT NULL) ENGINE = CSV"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_altered_after_it_was_certified_is_not_read(place, tmp_path, change):
    relation, *statements = CHANGES[change]
    place.sql(VIEW)
    asked = policy(tmp_path, "{age: keep}", relation=relation, order="age")
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        _, table = prepare(asked, default_project(tmp_path), warehouse)
        place.sql(*statements)
        with pytest.raises(WarehouseError, match=r"made anew or altered|is stored by"):
            warehouse.hold(asked, table)


@pytest.mark.parametrize("relation", ["people", GROWN])
@pytest.mark.parametrize("to", ["file", "table"])
def test_nothing_that_is_read_can_be_exchanged_until_the_release_stands(
    place, tmp_path, relation, to
):
    place.sql(VIEW)
    more = {"release": "table: out"} if to == "table" else {}
    asked = policy(tmp_path, "{age: keep}", relation=relation, order="age", **more)

    def attack():
        for statement in (
            "RENAME TABLE place.people TO place.other",
            "ALTER TABLE place.people MODIFY id DOUBLE",
            f"DROP {'TABLE place.people' if relation == 'people' else 'VIEW place.grown'}",
        ):
            with pytest.raises(pymysql.Error, match="Lock wait timeout"):
                place.sql("SET lock_wait_timeout = 0", statement)

    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        certificate, table = prepare(asked, default_project(tmp_path), warehouse)
        warehouse.hold(asked, table)
        with warehouse.sampled(asked, table, bytes(16)) as unchanged:
            if to == "file":
                attack()
                assert warehouse.rows(certificate.query).num_rows == 2
                unchanged()
            else:

                def attest():
                    attack()
                    unchanged()

                warehouse.publish(certificate.query, ("place", "out"), "{}", attest, replace=False)
    place.sql("ALTER TABLE place.people MODIFY id DOUBLE")  # and it is let go afterwards


def test_a_session_that_no_longer_holds_the_source_is_told(release, place):
    def kill():
        found = place.sql("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep'")
        own = int(release.warehouse.ask("SELECT CONNECTION_ID()")[0][0])
        for (number,) in found:
            if number != own:
                place.sql(f"KILL {number}")

    with pytest.raises(WarehouseError, match="connection to the server was lost"):
        release.run(kill)
    assert tables(place) == {"people"}


@pytest.mark.parametrize(
    "beside",
    [
        "CREATE TABLE place.beside (a INT, b INT AS (a + 1) VIRTUAL)",
        "CREATE TABLE place.id (a INT, b INT AS (a + 1) VIRTUAL)",
        "CREATE TABLE place.beside (a INT NOT NULL) ENGINE = CSV",
        "CREATE SEQUENCE place.beside",
    ],
)
def test_what_a_view_does_not_read_fails_no_release(place, tmp_path, beside):
    place.sql(VIEW, beside)
    asked = policy(tmp_path, "{age: keep}", relation=GROWN, order="age")
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        assert rows_of(asked, warehouse).column("n").to_pylist() == [20, 20]


@pytest.mark.parametrize(
    "stored",
    [
        "(id BIGINT NOT NULL, age INT NOT NULL) ENGINE = CSV",
        "(id BIGINT, age INT) ENGINE = MERGE UNION = (place.people)",
        "(id BIGINT, age INT AS (id + 1) VIRTUAL)",
    ],
)
def test_a_view_of_what_is_no_source_is_refused(place, tmp_path, stored):
    place.sql(
        "ALTER TABLE place.people ENGINE = MyISAM",
        f"CREATE TABLE place.odd {stored}",
        "CREATE VIEW place.of_odd AS SELECT id, age FROM place.odd",
    )
    asked = policy(tmp_path, "{age: keep}", relation="of_odd", order="age")
    with (
        closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse,
        pytest.raises(NotCertifiable, match="is a view; if each of its rows comes from"),
    ):
        prepare(asked, default_project(tmp_path), warehouse)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE TABLE place.child (age INT, FOREIGN KEY (age) REFERENCES place.out (age))",
         r"a foreign key of place\.child points to it"),
        ("CREATE TRIGGER place.t BEFORE UPDATE ON place.out FOR EACH ROW SET @a = 1",
         "has triggers"),
    ],
)  # fmt: skip
def test_a_table_with_more_than_its_rows_is_not_replaced(release, place, statement, told):
    release.run()
    release.warehouse.check_replaceable(release.target)
    place.sql("ALTER TABLE place.out ADD UNIQUE (age)", statement)
    with pytest.raises(WarehouseError, match=told):
        release.warehouse.check_replaceable(release.target)
    place.sql("DROP TABLE IF EXISTS place.child")


def test_a_table_that_the_source_reads_is_not_replaced(place, tmp_path):
    place.sql(VIEW)
    asked = policy(tmp_path, "{age: keep}", relation="grown", order="age")
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        warehouse.table(asked.source, tmp_path)
        with pytest.raises(WarehouseError, match=r"place\.grown reads place\.people"):
            warehouse.check_replaceable(("place", "people"))


# A view, roles and failures


def test_a_view_is_read_through(place, tmp_path):
    place.sql("CREATE VIEW place.grown AS SELECT id, age FROM place.people WHERE id > 4")
    asked = policy(tmp_path, "{age: keep}", relation=GROWN, order="age")
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        certificate, table = prepare(asked, default_project(tmp_path), warehouse)
        assert table_read(asked, table) == ("place", "grown")
        warehouse.hold(asked, table)
        with warehouse.sampled(asked, table, bytes(16)) as unchanged:
            assert warehouse.rows(certificate.query).column("n").to_pylist() == [18, 18]
            unchanged()


def test_a_view_that_nobody_confirms_is_refused(place, tmp_path):
    place.sql("CREATE VIEW place.other AS SELECT MAX(id) AS id, age FROM place.people GROUP BY age")
    asked = policy(tmp_path, "{age: {constant: a}}", relation="other", order="age")
    with (
        closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse,
        pytest.raises(NotCertifiable, match=r"place\.other is a view"),
    ):
        prepare(asked, default_project(tmp_path), warehouse)


@pytest.mark.parametrize(
    ("ddl", "words"),
    [
        ("CREATE SEQUENCE place.s", "is a sequence"),
        ("CREATE TABLE place.s (id INT NOT NULL) ENGINE = CSV", "is stored by CSV"),
        ("CREATE TABLE place.s (id INT, age INT AS (1 / id))", "computed when it is read"),
    ],
)
def test_what_can_be_no_source(place, tmp_path, ddl, words):
    place.sql(ddl)
    asked = policy(tmp_path, "{age: keep}", relation="s", order="age")
    with (
        closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse,
        pytest.raises(WarehouseError, match=words),
    ):
        prepare(asked, default_project(tmp_path), warehouse)


@pytest.mark.parametrize(
    ("made", "unique"),
    [
        ("(id INT PRIMARY KEY, a INT UNIQUE)", {"id"}),
        ("(id INT, a INT, PRIMARY KEY (id, a))", set()),
        ("(id INT UNIQUE NOT NULL)", set()),
        (
            "(id INT, a DATE, b DATE, PERIOD FOR p (a, b), PRIMARY KEY (id, p WITHOUT OVERLAPS))",
            set(),
        ),
    ],
)
def test_keys_that_are_enforced_are_known(place, made, unique):
    place.sql(f"CREATE TABLE place.keyed {made}")
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        assert warehouse._described(("place", "keyed")).unique == unique


def test_columns_that_are_not_null_are_known(place):
    place.sql(
        "CREATE OR REPLACE TABLE place.filled (id INT PRIMARY KEY, a INT NOT NULL, b INT)",
        "CREATE OR REPLACE VIEW place.seen AS SELECT * FROM place.filled",
    )
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        assert warehouse._described(("place", "filled")).filled == {"id", "a"}
        assert warehouse._described(("place", "seen")).filled == set()


def test_a_role_needs_its_rights_and_no_more(place, tmp_path):
    place.sql(
        "CREATE OR REPLACE USER clerk@localhost",
        "CREATE DATABASE IF NOT EXISTS elsewhere",
        "GRANT SELECT ON place.people TO clerk@localhost",
    )
    with closing(MariaDBWarehouse("maria", place.url("place", "clerk"))) as warehouse:
        with pytest.raises(WarehouseError, match=r"grant it SELECT, INSERT, CREATE, ALTER, DROP"):
            warehouse.target("out")
        with pytest.raises(WarehouseError, match="no schema elsewhere"):
            warehouse.target("elsewhere.out")
        with pytest.raises(WarehouseError, match="the role may not do this"):
            warehouse.ask("CREATE TABLE place.out (a INT)")
    place.sql("GRANT SELECT, INSERT, CREATE, ALTER, DROP ON `pla_e`.* TO clerk@localhost")
    made = Release(place, tmp_path, user="clerk")
    made.run()
    made.run(replace=True)
    assert made.warehouse.comment(made.target) == COMMENT
    made.warehouse.close()


def test_a_server_that_cannot_be_written_is_told(place, tmp_path):
    place.sql("CREATE OR REPLACE USER clerk@localhost", "GRANT ALL ON place.* TO clerk@localhost")
    made = Release(place, tmp_path, user="clerk")
    place.sql("SET GLOBAL read_only = 1")
    try:
        with pytest.raises(WarehouseError, match="the server is read-only"):
            made.warehouse.target("out")
        with pytest.raises(WarehouseError, match="the server is read-only"):
            made.run()
    finally:
        place.sql("SET GLOBAL read_only = 0")
        made.warehouse.close()


def test_a_right_that_a_role_has_is_enough(place, tmp_path):
    place.sql(
        "CREATE OR REPLACE USER clerk@localhost",
        "CREATE OR REPLACE ROLE releaser",
        "GRANT ALL ON place.* TO releaser",
        "GRANT releaser TO clerk@localhost",
        "SET DEFAULT ROLE releaser FOR clerk@localhost",
    )
    made = Release(place, tmp_path, user="clerk")
    made.run()
    made.warehouse.close()


def test_odd_names_are_names(place, tmp_path):
    place.sql("CREATE TABLE place.`p``e%o s` (id BIGINT, `a``g\"e %s` INT) AS"
              " SELECT seq AS id, 1 AS `a``g\"e %s` FROM seq_1_to_40")  # fmt: skip
    text = POLICY.format(
        relation="place.p`e%o s",
        key="id",
        order="'a`g\"e %s'",
        recode="{'a`g\"e %s': {map: {'1': '\\''%s'}, other: null}}",
        release="table: 'o`ut %s'",
    )
    asked = load_policy_text(text, tmp_path / "policy.yaml", tmp_path)
    with closing(MariaDBWarehouse("maria", place.url("place"))) as warehouse:
        certificate, table = prepare(asked, default_project(tmp_path), warehouse)
        warehouse.hold(asked, table)
        target = warehouse.target("o`ut %s")
        with warehouse.sampled(asked, table, bytes(16)) as unchanged:
            warehouse.publish(certificate.query, target, "{}", unchanged, replace=False)
        assert list(warehouse.release_lines(target)) == [("\\'%s", "40")]
        with pytest.raises(WarehouseError, match="more than 64 characters"):
            warehouse.target("x" * 65)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mariadb://root@localhost/work?socket=/nowhere", "nothing listens there, or it does"),
        (
            "mariadb://nobody:hunter2@localhost/work?socket={socket}",
            r"the user or its password is wrong \(host localhost, port 3306, database work, user n",
        ),
        ("mariadb://root@localhost/gone?socket={socket}", "there is no such database"),
        ("mariadb://root@no-such-host.invalid/work", "there is no such host"),
        ("postgresql://root@localhost/work", "the url must be as mariadb://"),
        ("mariadb://localhost/work", "the url must be as mariadb://"),
        ("mariadb://root@localhost:x/work", "the url must be as mariadb://"),
        ("mariadb://root@localhost/work?local_infile=1", "the url must be as mariadb://"),
    ],
)
def test_a_server_that_does_not_answer(mariadb, url, words):
    mariadb.sql("CREATE OR REPLACE USER nobody@localhost IDENTIFIED BY 'right'")
    with pytest.raises(WarehouseError, match=words) as caught:
        MariaDBWarehouse("maria", url.format(socket=mariadb.socket))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("version", ["8.4.2", "9.0.1-commercial", "5.5.5-10.5.9-MariaDB"])
def test_another_server_is_refused(mariadb, monkeypatch, version):
    monkeypatch.setattr(pymysql.Connection, "get_server_info", lambda self: version)
    with pytest.raises(WarehouseError, match=r"must be MariaDB, found|is older than 10\.6"):
        MariaDBWarehouse("maria", mariadb.url())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people WHERE town = 'VERY-SECRET' AND gone = 1",
        "SELECT CAST(ROW(1, 'VERY-SECRET') AS CHAR)",
        "CREATE TABLE x (id INT PRIMARY KEY) AS SELECT 1 AS id UNION ALL SELECT 1",
    ],
)
def test_an_engines_message_is_withheld(warehouse, sql):
    with pytest.raises(WarehouseError) as caught:
        warehouse.ask(sql)
    assert "SECRET" not in str(caught.value)
    assert "Duplicate" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_release_from_the_command_line(place, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        POLICY.format(
            relation="place.people",
            key="id",
            order="age",
            recode="{age: keep}",
            release="table: place.out",
        )
    )
    (tmp_path / "policy-engine.yaml").write_text(
        f"version: 1\nwarehouses:\n  maria: {{type: mariadb, url: '{place.url('place')}'}}\n"
    )

    def command(*words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "policy_engine", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    command("release", "policy.yaml")
    assert place.sql("SELECT age, n > 10 FROM place.out") == [(0, 1), (1, 1)]
    command("verify", "typed.certificate.json", code=4)  # no release was looked at
    assert "nothing" in command("release", "policy.yaml").lower()
    command("release", "policy.yaml", "--revise", "--replace")
    assert tables(place) == {"people", "out"}


PUT_BACK = """\
SELECT 'it''s \\\\ \u00e9' AS a,
    CAST(7 AS SIGNED) AS n,
    CAST(1.5 AS DECIMAL(10,
    2)) AS d,
    CAST('1969-01-02' AS DATE) AS t,
    NULLIF('a',
    'a') AS b,
    CAST(0.1 AS DOUBLE) AS f,
    TIMESTAMP('2020-01-02 03:04:05.123456') AS s
UNION ALL SELECT 'y',
    8,
    2,
    CAST('9999-12-31' AS DATE),
    'x',
    1e300,
    TIMESTAMP('1900-01-02 03:04:05')"""


def test_a_table_is_put_back_of_its_texts(warehouse):
    check_put_back(warehouse, PUT_BACK)
