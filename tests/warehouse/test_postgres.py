"""PostgreSQL, a real server: the same releases as DuckDB's, its traps refused, its tables safe."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from alike import (
    COLUMNS,
    POLICIES,
    ROWS,
    SECRET,
    check_put_back,
    differences,
    expected,
    policy_of,
    rows_of,
)
from law import check_law

from policy_engine.cli.main import run
from policy_engine.compile.compiler import find_problems
from policy_engine.errors import PolicyEngineError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.placing import check_place
from policy_engine.releasing.planning import prepare, table_read
from policy_engine.releasing.requests import Ends
from policy_engine.warehouse import base, known_answers
from policy_engine.warehouse.drawing import key_in_sample
from policy_engine.warehouse.postgres import PostgresWarehouse

RECORD = json.dumps({"policy": "p", "facts": "0f" * 32, "certificate": "p.certificate.json"})
FACTS = '{"mechanism": "sampled-suppression"}'


@pytest.fixture(scope="module")
def people(postgres):
    kinds = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    made = f"create table people ({kinds})".replace("DOUBLE", "DOUBLE PRECISION")
    postgres.sql("drop table if exists people cascade", made)
    with (
        psycopg.connect(postgres.url) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY people FROM STDIN") as copy,
    ):
        for row in ROWS:
            copy.write_row(row)
    return postgres


@pytest.fixture
def opened(people):
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        yield warehouse


def test_a_session_has_what_the_project_gives_it_and_the_certificate_says_so(people, opened):
    given = (("work_mem", "96MB"), ("max_parallel_workers_per_gather", "1"))
    [[own]] = people.sql("SHOW work_mem")
    assert dict(opened.settings)["work_mem"] == own
    with closing(PostgresWarehouse("pg", people.url, given)) as warehouse:
        assert warehouse.settings == tuple(sorted(given))
        assert warehouse.ask("SELECT current_setting('work_mem')") == [("96MB",)]
        policy = policy_of(next(iter(POLICIES)))
        certificate, _ = prepare(policy, default_project(policy.directory), warehouse)
        assert certificate.terms.settings == tuple(sorted(given))


def test_a_setting_that_the_server_refuses_is_told(people):
    with pytest.raises(WarehouseError, match=r"refuses settings.work_mem = 999999TB; write"):
        PostgresWarehouse("pg", people.url, (("work_mem", "999999TB"),))


def described(warehouse, relation="people"):
    return warehouse._described(warehouse._full_name(relation))


def refusal(function, *arguments) -> str:
    with pytest.raises(PolicyEngineError) as caught:
        function(*arguments)
    return str(caught.value)


# One secret, the same rows


@pytest.mark.parametrize("name", POLICIES)
def test_it_releases_what_duckdb_releases(opened, name):
    found = rows_of(policy_of(name), opened)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


def test_a_number_that_a_grouping_leaves_out_keeps_its_places(opened):
    """A CASE without ELSE has no digits of its own."""
    part = (
        "SELECT CASE WHEN n = 1 THEN CAST(2.50 AS DECIMAL(12, 2)) END AS x"
        " FROM generate_series(1, {}) n"
    )
    assert opened.rows(part.format(2)).to_pydict() == {"x": [Decimal("2.50"), None]}
    assert opened.rows(part.format(0)).to_pydict() == {"x": []}


def test_another_secret_is_another_sample(opened):
    one, other = (rows_of(policy_of("bins"), opened, secret) for secret in (SECRET, bytes(16)))
    assert not one.equals(other)


@pytest.mark.parametrize(
    "setting",
    [
        "TimeZone = 'Asia/Kolkata'",
        "standard_conforming_strings = off",
        "search_path = evil, public, pg_catalog",
        "DateStyle = 'German, DMY'",
        "enable_hashagg = off",
        "max_parallel_workers_per_gather = 4",
        "extra_float_digits = -15",
        "IntervalStyle = 'sql_standard'",
        "lc_numeric = 'C'",
        "quote_all_identifiers = on",
        "bytea_output = 'escape'",
    ],
)
def test_what_the_role_has_set_changes_nothing(people, setting):
    people.sql(
        "drop schema if exists evil cascade",
        "create schema evil",
        "create function evil.left(text, int) returns text language sql as $$ select $1 $$",
        "create function evil.sha256(bytea) returns bytea language sql"
        " as $$ select '\\x00'::bytea $$",
        f"alter role postgres set {setting}",
    )
    try:
        with closing(PostgresWarehouse("pg", people.url)) as warehouse:
            for name in ("prefix", "truncate_week", "round_parts", "labels"):
                assert differences(rows_of(policy_of(name), warehouse), expected(name)) == []
    finally:
        people.sql("alter role postgres reset all", "drop schema evil cascade")


# The law of the sample


def test_the_law_of_the_sample(opened):
    check_law(opened, policy_of("law"))


@pytest.mark.parametrize(
    "broken",
    [
        "sha256(convert_to({s} || {u}, 'UTF8')) < decode('{t}0', 'hex')",
        "encode(sha256(convert_to({s} || ':u:' || {u}, 'UTF8')), 'hex') > '{t}0'",
        "md5({s} || ':u:' || {u}) < '{t}0'",
        "random() < 0.333",
        "true",
    ],
)
def test_the_known_answers_tell_another_sampler(opened, monkeypatch, broken):
    digits, salt = f"{known_answers.THRESHOLD:015x}", "current_setting('policy_engine.salt')"

    def in_sample(engine, column, rate):
        return tuple(broken.format(u=f"({column})::text", t=digits, s=salt) for _ in range(2))

    monkeypatch.setattr(base, "in_sample", in_sample)
    with opened.bound(known_answers.SECRET.hex()):
        assert "known-answer test of the sampler failed" in refusal(opened._check_known_answers)


def test_the_secret_is_out_of_reach_afterwards(opened):
    policy = policy_of("bins")
    rows_of(policy, opened)
    assert opened.ask("SELECT current_setting('policy_engine.salt', true)") in ([("",)], [(None,)])


def test_the_secret_is_in_no_statement_that_the_server_shows(people):
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        policy = policy_of("bins")
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        with warehouse.sampled(policy, table, SECRET):
            warehouse.rows(certificate.query)
            seen = people.sql("select query from pg_stat_activity where query is not null")
    assert SECRET.hex() not in str(seen)
    assert SECRET.hex() not in certificate.query


# What the catalog must say


def test_text_that_a_nondeterministic_collation_merges_is_read_by_its_bytes(postgres_with_icu):
    postgres_with_icu.sql(
        "create collation if not exists nocase (provider = icu, locale = 'und-u-ks-level2',"
        " deterministic = false)",
        "drop table if exists folded",
        "create table folded (id bigint, town text collate nocase)",
        "insert into folded select n, (array['a', 'A', 'á'])[n % 3 + 1]"
        " from generate_series(1, 300) n",
    )
    with closing(PostgresWarehouse("pg", postgres_with_icu.url)) as warehouse:
        found = rows_of(policy_of("town_of_folded", "folded"), warehouse)
        assert found.column("town").to_pylist() == ["A", "a", "á"]
        policy = policy_of("town_of_folded", "folded")
        certificate, _ = prepare(policy, default_project(policy.directory), warehouse)
        assert '"town" COLLATE "C"' in certificate.query


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("create foreign table {} (id bigint, age int) server elsewhere", "foreign table"),
        (
            "create table {} (id bigint, born date, age int generated always as (1) virtual)",
            "computed when it is read",
        ),
    ],
)
def test_what_is_no_plain_table_is_refused(people, made, told):
    people.sql(
        "create extension if not exists postgres_fdw",
        "drop server if exists elsewhere cascade",
        "create server elsewhere foreign data wrapper postgres_fdw",
        "drop table if exists odd cascade",
    )
    if "virtual" in made and people.sql("show server_version_num")[0][0] < "180000":
        pytest.skip("virtual columns came with 18")
    people.sql(made.format("odd"))
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        assert told in refusal(described, warehouse, "odd")


def test_rows_that_a_policy_hides_are_an_error(people):
    people.sql(
        "drop table if exists secured",
        "create table secured (id bigint, age int)",
        "insert into secured select n, n % 90 from generate_series(1, 500) n",
        "alter table secured enable row level security",
        "create policy mine on secured using (age < 50)",
        "drop role if exists analyst",
        "create role analyst login",
        "grant select on secured to analyst",
    )
    with closing(PostgresWarehouse("pg", people.url_of("analyst"))) as warehouse:
        assert "row-level security" in refusal(described, warehouse, "secured")
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        assert described(warehouse, "secured").columns[1].type == "INTEGER"


@pytest.mark.parametrize(
    ("kind", "canonical"),
    [
        ("char(5)", "VARCHAR"),
        ("bpchar", "VARCHAR"),
        ("citext", "VARCHAR COLLATE citext"),
        ("words", "VARCHAR"),
        ("folded_words", "VARCHAR COLLATE citext"),
        ('"char"', 'OTHER "CHAR"'),
        ("name", "OTHER NAME"),
        ("numeric", "OTHER NUMERIC"),
        ("numeric(39,0)", "OTHER NUMERIC(39,0)"),
        ("numeric(5,-2)", "OTHER NUMERIC(5,-2)"),
        ("numeric(3,5)", "OTHER NUMERIC(3,5)"),
        ("numeric(38,2)", "DECIMAL(38,2)"),
        ("numeric(8,2)", "DECIMAL(8,2)"),
        ("real", "FLOAT"),
        ("json", "OTHER JSON"),
        ("int[]", "OTHER INTEGER[]"),
        ("money", "OTHER MONEY"),
        ("interval", "OTHER INTERVAL"),
        ("timestamptz", "TIMESTAMP WITH TIME ZONE"),
        ("varchar(10)", "VARCHAR"),
        ("mood", "ENUM('sad', 'it''s')"),
        ("small_number", "OTHER SMALL_NUMBER"),
    ],
)
def test_types(people, kind, canonical):
    people.sql(
        "create extension if not exists citext",
        "drop table if exists typed",
        "drop type if exists mood",
        "drop domain if exists small_number",
        "drop domain if exists words, word, folded_words",
        "create domain word as varchar(9) check (value <> '')",
        "create domain words as word",
        "create domain folded_words as citext",
        "create type mood as enum ('sad', 'it''s')",
        "create domain small_number as int check (value < 10)",
        f"create table typed (x {kind})",
    )
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        found = described(warehouse, "typed").columns[0].type
    assert found.replace("PUBLIC.", "") == canonical


def test_a_view_is_read_where_the_author_confirms_it(people):
    people.sql("create or replace view adults as select id, age, zip, seen from people")
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        policy = policy_of("map", "adults")
        told = refusal(prepare, policy, default_project(policy.directory), warehouse)
        assert "source public.adults is a view; if" in told
        assert "write view: rowwise beside its name" in told
        policy = policy_of("zip_of_view", "adults")
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        assert table_read(policy, table) == ("public", "adults")
        assert any(each.code == "view_rowwise" for each in certificate.assumptions)
        assert rows_of(policy, warehouse).num_rows > 1


@pytest.mark.parametrize(
    ("relation", "told"),
    [
        ("nowhere", "no table or view public.nowhere"),
        ("other.people", "no table or view other.people"),
        ("a.b.c.d", "write schema.table"),
    ],
)
def test_a_relation_that_is_not_there(opened, relation, told):
    assert told in refusal(described, opened, relation)


@pytest.mark.parametrize("spelt", ["public.people", "postgres.public.people"])
def test_every_spelling_of_a_table_is_one_source(opened, spelt):
    assert described(opened, spelt).parts == described(opened).parts == ("public", "people")


def test_a_file_is_not_this_engines_to_read(opened, tmp_path):
    policy = policy_of("bins")
    from dataclasses import replace

    source = replace(policy.source, path="people.parquet", relation=None)
    assert "reads tables and no files" in refusal(opened.table, source, tmp_path)


# A warehouse that does not answer


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://nobody@localhost:1/nothing?connect_timeout=2", "nothing listens there"),
        ("postgresql://no-such-role@/postgres?host={folder}", "there is no such role"),
        ("postgresql://postgres@/no_such_database?host={folder}", "there is no such database"),
    ],
)
def test_a_server_that_does_not_answer(people, url, told):
    message = refusal(PostgresWarehouse, "pg", url.format(folder=people.folder))
    assert message.startswith(f"warehouse pg: {told} (host ")


def test_a_url_that_is_none(people):
    told = refusal(PostgresWarehouse, "pg", "postgresql://u:secret-word@[::1")
    assert told == "warehouse pg: the url is no connection string"


def test_an_error_quotes_no_data(opened):
    told = refusal(opened.rows, "SELECT CAST('VERY-SECRET' AS INTEGER)")
    assert "VERY-SECRET" not in told
    assert "withheld" in told


# Releases into tables


def publish(warehouse, sql, attest=lambda: None, *, replace=False, name="released"):
    target = warehouse.target(name)
    warehouse.publish(sql, target, FACTS, attest, replace=replace)
    return target


MADE = "SELECT 1 AS n"


@pytest.fixture
def fresh(people):
    people.sql("drop table if exists released", "drop role if exists reader", "create role reader")
    yield people
    people.sql(
        "drop table if exists released",
        "alter default privileges in schema public revoke all on tables from reader, public",
        "drop role if exists reader",
    )


def test_a_table_stands_with_its_comment(fresh):
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        seen, target = [], warehouse.target("released")
        warehouse.publish(
            MADE, target, FACTS, lambda: seen.extend(warehouse.release_lines(target)), replace=False
        )
        assert seen == [("1",)]
        assert warehouse.exists(target)
        assert warehouse.comment(target) == FACTS
    assert fresh.sql("select n from released") == [(1,)]


def test_nothing_stands_where_the_attestation_fails(fresh):
    fresh.sql("create table released as select 'old' as n")

    def fail() -> None:
        raise WarehouseError("no")

    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        assert refusal(lambda: publish(warehouse, MADE, fail, replace=True)) == "no"
    assert fresh.sql("select n from released") == [("old",)]


def test_a_table_that_has_come_to_be_meanwhile_is_left_alone(fresh):
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        target = warehouse.target("released")
        fresh.sql("create table released as select 'theirs' as n")
        told = refusal(lambda: warehouse.publish(MADE, target, FACTS, lambda: None, replace=False))
    assert "has come to be meanwhile" in told
    assert fresh.sql("select n from released") == [("theirs",)]


def test_a_connection_lost_in_the_middle_leaves_the_old_table(fresh):
    fresh.sql("create table released as select 'old' as n")
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        [(pid,)] = warehouse.ask("select pg_backend_pid()")
        told = refusal(
            lambda: publish(
                warehouse,
                MADE,
                lambda: (
                    fresh.sql(f"select pg_terminate_backend({pid}, 5000)")
                    and warehouse.ask("select 1")
                ),
                replace=True,
            )
        )
    assert told == "the connection to the server was lost"
    assert fresh.sql("select n from released") == [("old",)]


def test_a_lost_look_at_the_catalog_leaves_the_old_table(fresh):
    fresh.sql("create table released as select 'old' as n")
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        policy = policy_of("bins")
        table = warehouse.table(policy.source, ".")
        warehouse.hold(policy, table)
        [(pid,)] = warehouse._look("select pg_backend_pid()")
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            target = warehouse.target("released")

            def attest() -> None:
                fresh.sql(f"select pg_terminate_backend({pid}, 5000)")
                unchanged()

            told = refusal(lambda: warehouse.publish(MADE, target, FACTS, attest, replace=True))
    assert told == "the connection to the server was lost"
    assert fresh.sql("select n from released") == [("old",)]


def rights(server) -> set[tuple[str, str]]:
    return set(
        server.sql(
            "select grantee::regrole::text, privilege_type from pg_class, aclexplode(relacl)"
            " where relname = 'released' and grantee <> relowner"
        )
    )


def test_default_privileges_give_nobody_the_release(fresh):
    fresh.sql("alter default privileges in schema public grant select on tables to reader, public")
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        publish(warehouse, MADE)
    assert rights(fresh) == set()


def test_a_table_that_is_replaced_keeps_its_rights_and_gets_no_others(fresh):
    fresh.sql(
        "create table released as select 'old' as n",
        "grant select on released to reader",
        "alter default privileges in schema public grant all on tables to public",
    )
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        publish(warehouse, MADE, replace=True)
    assert rights(fresh) == {("reader", "SELECT")}
    assert fresh.sql("select n from released") == [(1,)]


def test_a_schema_without_a_right_to_create_is_refused_first(people):
    people.sql("drop role if exists looker", "create role looker login")
    with closing(PostgresWarehouse("pg", people.url_of("looker"))) as warehouse:
        assert 'GRANT CREATE ON SCHEMA "public" to it' in refusal(
            warehouse.target, "public.released"
        )
        people.sql("grant create on schema public to looker")
        warehouse.target("public.released")
    people.sql("drop owned by looker")


# What is read


def test_one_snapshot_from_the_first_look_to_the_last_byte(people):
    people.sql("drop table if exists copied", "create table copied as select * from people")
    policy = policy_of("map", "copied")
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        warehouse.hold(policy, table)
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            before = warehouse.rows(certificate.query)
            people.sql("insert into copied select * from copied limit 500")
            after = warehouse.rows(certificate.query)
            unchanged()
    assert before.equals(after)


# Ctrl-C


def test_an_interrupt_cancels_the_query_on_the_server(people, tmp_path):
    script = (
        "import sys, threading, _thread\n"
        "from policy_engine.warehouse.postgres import PostgresWarehouse\n"
        "opened = PostgresWarehouse('pg', sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "opened.ask('select count(*), 4242 from generate_series(1, 5000000000)')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, people.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    running = (
        "select count(*) from pg_stat_activity where query like '%4242%' and state = 'active'"
        " and pid <> pg_backend_pid()"
    )
    try:
        process.stdout.readline()
        while people.sql(running) == [(0,)]:
            pass
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=600)
    finally:
        process.kill()
    assert b"KeyboardInterrupt" in error
    assert people.sql(running) == [(0,)]


# What is certified is what is read


COPY = "create table copied as select id, age, zip, seen from people"
VIEW = "create view seen_by as select id, age, zip, seen from copied"


@pytest.fixture
def copied(people):
    gone = ("drop view if exists seen_by", "drop table if exists copied, other cascade")
    people.sql(*gone, COPY, VIEW)
    yield people
    people.sql(
        "drop view if exists copied cascade" if kind_of(people) == "v" else "select 1", *gone
    )


def kind_of(server) -> str:
    return server.sql("select coalesce(max(relkind), ' ') from pg_class where relname = 'copied'")[
        0
    ][0]


CHANGES = {
    "a view of another text": (
        "seen_by",
        "create or replace view seen_by as select 7::bigint as id, age, zip, seen from copied",
    ),
    "a view under a table's name": (
        "copied",
        "alter table copied rename to other",
        "create view copied as select id % 2 as id, age, zip, seen from other",
    ),
    "a view under a name that a view reads": (
        "seen_by",
        "drop view seen_by",
        "alter table copied rename to other",
        "create view copied as select id % 2 as id, age, zip, seen from other",
        VIEW,
    ),
    "a column of another type": ("copied", "drop view seen_by",
        "alter table copied alter id type double precision"),
    "columns whose names are exchanged": ("copied",
        "alter table copied rename zip to kept", "alter table copied rename age to zip",
        "alter table copied rename kept to age"),
    "another table of the same columns": ("copied", "drop table copied cascade", COPY),
    "a heir": ("copied", "create table other () inherits (copied)"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_altered_after_it_was_certified_is_not_read(copied, change):
    relation, *statements = CHANGES[change]
    policy = policy_of("zip_of_view", relation)
    with closing(PostgresWarehouse("pg", copied.url)) as warehouse:
        _, table = prepare(policy, default_project(policy.directory), warehouse)
        copied.sql(*statements)
        told = refusal(warehouse.hold, policy, table)
    assert "made anew or altered since its release was certified" in told


@pytest.mark.parametrize(
    "statement",
    [
        "create or replace view seen_by as select 7::bigint as id, age, zip, seen from copied",
        "alter table copied rename to other",
        "alter table copied alter age type bigint",
        "drop table copied cascade",
        "alter table copied enable row level security",
        "truncate copied",
    ],
)
def test_nothing_that_is_read_can_be_exchanged_until_the_release_stands(copied, statement):
    policy = policy_of("zip_of_view", "seen_by")
    with closing(PostgresWarehouse("pg", copied.url)) as warehouse:
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        warehouse.hold(policy, table)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            copied.sql("set lock_timeout = '100ms'", statement)
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            assert warehouse.rows(certificate.query).num_rows > 1
            unchanged()


def test_a_partition_that_is_attached_meanwhile_is_noticed(copied):
    copied.sql(
        "create table other (like copied) partition by list (age)",
        "create table other_1 partition of other for values in (1)",
        "insert into other select id, 1, zip, seen from copied",
        "create table other_2 as select * from other",
        "update other_2 set age = 2",
    )
    policy = policy_of("zip_of_view", "other")
    try:
        with closing(PostgresWarehouse("pg", copied.url)) as warehouse:
            certificate, table = prepare(policy, default_project(policy.directory), warehouse)
            warehouse.hold(policy, table)
            with warehouse.sampled(policy, table, SECRET) as unchanged:
                copied.sql("alter table other attach partition other_2 for values in (2)")
                warehouse.rows(certificate.query)
                assert "made anew or altered" in refusal(unchanged)
    finally:
        copied.sql("drop table if exists other, other_1, other_2 cascade")


def test_a_label_that_is_renamed_meanwhile_is_noticed(people):
    people.sql(
        "drop table if exists labelled",
        "drop type if exists shade",
        "create type shade as enum ('light', 'dark')",
        "create table labelled as select id, seen, (case when id % 2 = 0 then 'light' else 'dark'"
        " end)::shade as zip from people",
    )
    policy = policy_of("zip_of_view", "labelled")
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        warehouse.hold(policy, table)
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            unchanged()
            people.sql("alter type shade rename value 'dark' to 'gone'")
            assert "made anew or altered" in refusal(unchanged)


# What a relation consists of


@pytest.fixture
def parted(people):
    gone = "drop table if exists parted, heir, apart cascade"
    people.sql(
        gone,
        "create extension if not exists postgres_fdw",
        "drop server if exists elsewhere cascade",
        "create server elsewhere foreign data wrapper postgres_fdw",
        "create table parted (id bigint, age int, zip text, seen timestamp)"
        " partition by list (age)",
        "create table apart partition of parted default partition by list (zip)",
        "create view over_parted as select id, age, zip, seen from parted",
    )
    yield people
    people.sql(gone)


def test_a_part_on_another_server_is_refused_however_deep(parted):
    with closing(PostgresWarehouse("pg", parted.url)) as warehouse:
        assert described(warehouse, "parted").columns
    parted.sql("create foreign table far partition of apart for values in ('1') server elsewhere")
    with closing(PostgresWarehouse("pg", parted.url)) as warehouse:
        assert "far, a part of public.parted, is a foreign" in refusal(
            described, warehouse, "parted"
        )
        policy = policy_of("map", "over_parted")
        told = refusal(prepare, policy, default_project(policy.directory), warehouse)
        assert "source public.over_parted is a view" in told


def test_a_view_of_what_is_elsewhere_is_refused(parted):
    parted.sql(
        "drop view if exists over_far",
        "create foreign table far (id bigint, age int, zip text, seen timestamp) server elsewhere",
        "create view over_far as select id, age, zip, seen from far",
    )
    with closing(PostgresWarehouse("pg", parted.url)) as warehouse:
        policy = policy_of("map", "over_far")
        told = refusal(prepare, policy, default_project(policy.directory), warehouse)
    assert "source public.over_far is a view" in told


def test_tables_that_inherit_are_read_with_their_table(people):
    people.sql(
        "drop table if exists parent cascade",
        "create table parent (id bigint, age int, zip text, seen timestamp)",
        "create table heir () inherits (parent)",
        "insert into parent select id, age, zip, seen from people where id % 2 = 0",
        "insert into heir select id, age, zip, seen from people where id % 2 <> 0",
    )
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        found = rows_of(policy_of("zip_of_view", "parent"), warehouse)
        assert found.equals(rows_of(policy_of("zip_of_view"), warehouse))
    people.sql("drop table parent cascade")


@pytest.mark.parametrize(
    ("made", "unique"),
    [
        (["(id int PRIMARY KEY, a text UNIQUE, b int, c int, UNIQUE (b, c))"], "a id"),
        (["(id int UNIQUE DEFERRABLE, a int)"], ""),
        (["(id int, a int)", "CREATE UNIQUE INDEX ON keyed (id) WHERE a > 0"], ""),
        (["(id int, a int)", "CREATE UNIQUE INDEX ON keyed (abs(id))"], ""),
        (["(id int, a int)", "CREATE UNIQUE INDEX ON keyed (id) INCLUDE (a)"], "id"),
        (["(id int PRIMARY KEY)", "CREATE TABLE heir () INHERITS (keyed)"], ""),
        (["(id int PRIMARY KEY, a int) PARTITION BY HASH (id)"], "id"),
        (
            ["(id int, a int) PARTITION BY HASH (id)", "CREATE UNIQUE INDEX ON ONLY keyed (id)"],
            "id",
        ),
    ],
)
def test_keys_that_are_enforced_are_known(people, made, unique):
    people.sql("drop table if exists keyed cascade", f"CREATE TABLE keyed {made[0]}", *made[1:])
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        found = described(warehouse, "keyed").unique
    people.sql("drop table keyed cascade")
    assert sorted(found) == unique.split()


@pytest.mark.parametrize(
    ("made", "filled"),
    [
        (["(id int PRIMARY KEY, a int NOT NULL, b int)"], "a id"),
        (["(id int NOT NULL, a int) PARTITION BY HASH (id)"], "id"),
        (["(id int NOT NULL)", "CREATE TABLE heir () INHERITS (keyed)"], ""),
        (["(id int, a int CHECK (a IS NOT NULL))"], ""),
    ],
)
def test_columns_that_are_not_null_are_known(people, made, filled):
    people.sql("drop table if exists keyed cascade", f"CREATE TABLE keyed {made[0]}", *made[1:])
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        found = described(warehouse, "keyed").filled
    people.sql("drop table keyed cascade")
    assert sorted(found) == filled.split()


# Values that Python, or a file, has no place for


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("date", ["infinity", "-infinity", "12020-01-01", "2020-01-01", "5874897-12-31"]),
        ("timestamp", ["infinity", "-infinity", "12020-01-01 01:02:03.4", "1969-12-31 23:59:59"]),
        ("time", ["24:00:00", "00:00:00", "23:59:59.999999"]),
        ("bigint", ["9223372036854775807", "-1"]),
        ("boolean", ["true", "false"]),
        ("numeric(38,2)", ["123456789012345678901234567890123456.78", "-0.10"]),
        ("text", ["", "á", "\\N"]),
    ],
)
def test_every_value_is_released_as_duckdb_has_it(opened, kind, values):
    import duckdb

    from policy_engine.warehouse.arrow import portable

    listed = ", ".join(f"('{value}'::{kind})" for value in [*values]) + f", (NULL::{kind})"
    found = opened.rows(f"SELECT * FROM (VALUES {listed}) AS t (v)")
    wanted = portable(duckdb.sql(f"SELECT * FROM (VALUES {listed}) AS t (v)").to_arrow_table())
    assert found.schema == wanted.schema.remove_metadata()
    assert found.equals(wanted)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("'NaN'::numeric(10,2)", "decimal128(10, 2)"),
        ("'294276-12-31'::timestamp", "timestamp[us]"),
    ],
)
def test_what_a_file_has_no_number_for_is_null(opened, value, kind):
    found = opened.rows(f"SELECT {value} AS v")
    assert found.column("v").to_pylist() == [None]
    assert str(found.schema.field("v").type) == kind


def test_days_before_the_first_year(opened):
    found = opened.rows("SELECT '0044-03-15 BC'::date AS v, NULL::int AS n")
    assert found.column("v").cast("int32").to_pylist() == [-735160]


def test_what_cannot_be_read_quotes_nothing(opened, monkeypatch):
    from policy_engine.warehouse import postgres_session

    monkeypatch.setitem(postgres_session._ARROW, "text", postgres_session.pa.int64())
    told = refusal(opened.rows, "SELECT 'VERY-SECRET'::text AS v")
    assert "VERY-SECRET" not in told


# A table that is replaced


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["alter table released enable row level security"], "row-level security"),
        (["create policy mine on released using (n = 1)"], "row-level security or policies"),
        (["grant select (n) on released to reader"], "rights on single columns"),
        (["create rule quiet as on insert to released do instead nothing"], "rules"),
        (
            [
                "create trigger same before update on released for each row"
                " execute function suppress_redundant_updates_trigger()"
            ],
            "triggers",
        ),
        (["alter table released owner to reader"], "belongs to reader"),
        (
            [
                "drop role if exists second",
                "create role second",
                "grant select on released to reader with grant option",
                "set role reader",
                "grant select on released to second",
            ],
            "another role than its owner granted",
        ),
        (
            ["create view of_it as select n from released"],
            "rule _RETURN on view public.of_it depends",
        ),
        (["create view of_it as select n from released"], "drop that first"),
        (["create table of_it (it released)"], "table public.of_it"),
        (["create table of_it () inherits (released)"], "inherits from it"),
        (
            [
                "alter table released add unique (n)",
                "create table of_it (n int references released (n))",
            ],
            "of_it_n_fkey on table public.of_it depends",
        ),
        (
            ["create function of_it() returns int begin atomic select n from released; end"],
            "function public.of_it() depends",
        ),
    ],
)
def test_a_table_with_more_than_its_rows_is_not_replaced(fresh, statements, told):
    fresh.sql("create table released as select 1 as n", *statements)
    try:
        with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
            target = warehouse.target("released")
            assert told in refusal(warehouse.check_replaceable, target)
            assert told in refusal(lambda: publish(warehouse, MADE, replace=True))
        assert fresh.sql("select to_regclass('released') is not null") == [(True,)]
    finally:
        fresh.sql(
            "drop table if exists released cascade",
            "drop table if exists of_it cascade",
            "drop function if exists of_it()",
        )


def test_it_is_refused_before_the_charge(fresh, tmp_path):
    ends = Ends.of_table("released", tmp_path / "released.certificate.json", tmp_path)
    fresh.sql(
        "create table released as select 1 as n",
        f"comment on table released is '{RECORD}'",
        "create view of_it as select n from released",
    )
    try:
        with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
            told = refusal(lambda: check_place(ends, warehouse, replace=True))
            assert "view public.of_it depends on it" in told
            fresh.sql("drop view of_it")
            check_place(ends, warehouse, replace=True)
    finally:
        fresh.sql("drop table if exists released cascade")


def test_a_right_to_grant_stays_and_one_that_is_revoked_meanwhile_does_not(fresh):
    fresh.sql(
        "create table released as select 'old' as n",
        "grant select on released to reader with grant option",
        'drop role if exists "Odd ""role"""',
        'create role "Odd ""role"""',
        'grant select, insert on released to "Odd ""role"""',
    )
    with closing(PostgresWarehouse("pg", fresh.url)) as warehouse:
        warehouse.ask("select 1")  # its snapshot is of before
        fresh.sql('revoke insert on released from "Odd ""role"""')
        publish(warehouse, MADE, replace=True)
    found = fresh.sql(
        "select pg_get_userbyid(grantee), privilege_type, is_grantable from pg_class,"
        " aclexplode(relacl) where relname = 'released' and grantee <> relowner"
    )
    assert set(found) == {("reader", "SELECT", True), ('Odd "role"', "SELECT", False)}
    fresh.sql("drop table released", 'drop role "Odd ""role"""')


@pytest.mark.parametrize("name", ["public." + "a" * 64, "public." + "ä" * 32, "b" * 64 + ".t"])
def test_a_name_that_the_server_would_shorten_is_refused(opened, name):
    assert "more than 63 bytes" in refusal(opened.target, name)
    assert "no table or view" in refusal(described, opened, name)


def test_the_servers_own_schemas_take_no_release(opened):
    assert "pg_catalog is the server's own; name another" in refusal(
        opened.target, "pg_catalog.released"
    )


# Types that stand for texts, and those that are refused


def test_a_padded_a_folded_and_a_constrained_text_are_read_as_the_texts_that_they_are(people):
    people.sql(
        "create extension if not exists citext",
        "drop table if exists texts cascade",
        "drop domain if exists code",
        "create domain code as varchar(9) check (value <> '')",
        "create table texts (id int primary key, padded char(5), folded citext, z code, k char(8))",
        "insert into texts select g, (array['ab', 'AB', 'ab c'])[1 + g % 3],"
        " (array['Ab', 'ab', 'ab '])[1 + g % 3], (array['01067', '1067', 'a '])[1 + g % 3],"
        " 'p' || g % 90 from generate_series(1, 180) g",
    )
    kept = {"padded": ["AB", "ab", "ab c"], "folded": ["Ab", "ab", "ab "],
            "z": ["01067", "1067", "a "]}  # fmt: skip
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        for column, wanted in kept.items():
            policy = own_policy(f"{{{column}: keep}}", "{column: id, rows: one}")
            assert sorted(rows_of(policy, warehouse).to_pydict()[column]) == wanted
        # A person of a padded key is one, whatever their number; the hash is of the bare text.
        policy = own_policy('{everybody: {constant: "*"}}', "{column: k, rows: {first_by: [id]}}")
        plain = sorted(f"p{n}" for n in range(90))
        sampled = [key for key in plain if key_in_sample(SECRET, key, 1 << 59)]
        assert rows_of(policy, warehouse).to_pydict()["n"] == [len(sampled)]
        told = refusal(
            rows_of, own_policy("{z: keep}", "{column: folded, rows: {first_by: [id]}}"), warehouse
        )
        assert "must be compared letter by letter" in told


def own_policy(recode: str, unit: str):
    """A sample of half of everybody in the table of texts, or of types."""
    folder = Path(tempfile.mkdtemp())
    text = (
        "version: 1\nname: texts\n"
        f"source: {{table: texts}}\nprivacy_unit: {unit}\nrecode: {recode}\n"
        "sample: {rate: 0.5}\nk: 2\nguarantee: {epsilon: 9, delta: 0.999999}\n"
        "release: {file: out.parquet}\naccount: everyone\n"
    )
    return load_policy_text(text, folder / "policy.yaml", folder)


def test_every_type_that_the_server_has_is_kept_or_its_remedies_work(people):
    """With a source.columns that the engine has not, nothing would."""
    names = """
        select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace
            and typtype in ('b', 'r', 'm', 'd') and typname !~ '^(_|pg_|reg.*_)'
    """
    with psycopg.connect(people.url) as connection:
        kinds = [name for (name,) in connection.execute(names)]
    assert len(kinds) > 50
    columns = ", ".join(f'"c_{kind}" "{kind}"' for kind in kinds)
    people.sql(
        "drop table if exists texts cascade",
        f"create table texts (id int primary key, {columns})",
        "insert into texts (id) select g from generate_series(1, 60) g",
    )
    remedies, refused = set(), []
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        for kind in kinds:
            policy = own_policy(f'{{"c_{kind}": keep}}', "{column: id, rows: one}")
            found = find_problems(policy, described(warehouse, "texts"), warehouse.dialect)
            refused += [f"c_{kind}"] if found else []
            remedies |= {problem.remedy for problem in found}
            if not found:
                assert rows_of(policy, warehouse).num_rows == 1
        assert remedies == {"use constant, or leave it out", "use bins or round"}
        constants = ", ".join(f'"{name}": {{constant: x}}' for name in refused)
        assert (
            rows_of(own_policy(f"{{{constants}}}", "{column: id, rows: one}"), warehouse).num_rows
            == 1
        )


PUT_BACK = """\
SELECT E'it''s \\\\ \\t \u00e9' AS a,
    7::bigint AS n,
    1.50::numeric(10,
    2) AS d,
    DATE '0001-01-02' AS t,
    NULL::text AS b,
    0.1::float8 AS f,
    TIMESTAMPTZ '2020-01-02 03:04:05.123456+02' AS s,
    true AS y,
    '\\N'::varchar(9) AS z,
    'q'::text COLLATE \"C\" AS c
UNION ALL SELECT 'y',
    8,
    2,
    DATE 'infinity',
    'x',
    1e300,
    '-infinity',
    NULL,
    NULL,
    'r'"""


def test_a_table_is_put_back_of_its_texts(people):
    with closing(PostgresWarehouse("pg", people.url)) as warehouse:
        check_put_back(warehouse, PUT_BACK)


# What is printed for a reader runs here


@pytest.mark.parametrize("added", ["", ", append: true"])
def test_the_export_that_verify_prints_runs_here_and_verifies(
    people, tmp_path, monkeypatch, capsys, added
):
    """It was a statement of DuckDB, whatever engine has the table."""
    monkeypatch.chdir(tmp_path)
    people.sql(
        'DROP TABLE IF EXISTS came, "Shown"',
        "CREATE TABLE came AS SELECT n AS id, n % 2 = 0 AS member, (ARRAY['b', 'B', 'ä', '', NULL])"
        "[1 + n % 5] AS town FROM generate_series(1, 3000) n",
    )
    Path("policy-engine.yaml").write_text(
        f"warehouses: {{pg: {{type: postgres, url: '{people.url}'}}}}\naccounts: {{people: {{}}}}\n"
    )
    Path("a.yaml").write_text(
        "version: 1\nname: a\nsource: {table: came}\nprivacy_unit: {column: id, rows: any}\n"
        f"{'refresh: {every: year}' if added else ''}\nrecode: {{member: keep, town: keep}}\n"
        "guarantee: {epsilon: 2, delta: 1.0e-6}\naccount: people\n"
        f"release: {{table: Shown{added}}}\n"
    )
    assert run(["release", "a.yaml"]) == 0, capsys.readouterr().err
    [certificate] = map(str, tmp_path.glob("a*.certificate.json"))
    capsys.readouterr()
    run(["verify", certificate])
    [statement] = re.findall(r"(COPY \(.* TO STDOUT \(.*?\))", capsys.readouterr().out)
    assert ('WHERE "edition" = \'' in statement) == bool(added)
    with (
        psycopg.connect(people.url) as connection,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        Path("release.csv").write_bytes(b"".join(map(bytes, copy)))
    assert run(["verify", certificate, "--release", "release.csv"]) == 0, capsys.readouterr().err
    assert "verified: " in capsys.readouterr().out
