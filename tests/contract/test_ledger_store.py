"""What every ledger store guarantees, and the two stores that are held to it.

A new store subclasses ``RecordsContract`` and provides the fixtures ``place`` (what
``open_records`` opens) and ``sql`` (statements to the database behind the store's back).
"""

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import time
from contextlib import closing
from decimal import Decimal

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from postgres import running

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import InternalError, LedgerError
from policy_engine.ledger import deciding
from policy_engine.ledger import postgres as postgres_store
from policy_engine.ledger.account import Limit
from policy_engine.ledger.chain import GENESIS, Draft, Trust, extend, head, verified
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger

PROCESSES = multiprocessing.get_context("fork")
SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
NASTY = "'; drop table records; -- \x00 \\u0000 \udcff é e\u0301 😀 \" \\ "
AN_OLDER_ONE = (
    "go on with the policy-engine that made it; or put it aside, run 'policy-engine ledger begin"
    " --anew' and 'policy-engine ledger reconcile --from-certificates', and lower the limits by"
    " what it has charged without a certificate"
)
LOCKED = (
    "another process has held the lock for too long; wait for its release to end, or stop it if "
    "it hangs, and try again"
)


@contextlib.contextmanager
def opened(place, **options):
    with closing(open_records(place, **options)) as records:
        yield records


RACES = int(os.environ.get("CRASH_RACES", "2"))  # "make kills" runs 20


def note(records, **draft):
    """Append one record, in a write of its own."""
    with records.writing():
        record = extend(
            head(records.read()), Draft(**{"kind": "note", "payload": {}, **draft}), SIGNER
        )
        records.append(record)
    return record


def spend(records, cost, budget):
    """The toy of a ledger: read the last, compare, append; whether it was paid."""
    with records.writing():
        found = records.read()
        spent = json.loads(found[-1].payload)["spent"] if found else 0
        if spent + cost > budget:
            return False
        draft = Draft("reserve", {"spent": spent + cost}, "census")
        records.append(extend(head(found), draft, SIGNER))
    return True


def failure(act):
    with pytest.raises(LedgerError) as caught:
        act()
    return str(caught.value)


def start(act, *arguments):
    process = PROCESSES.Process(target=act, args=arguments)
    process.start()
    return process


def ended(process, code=0):
    process.join(120)
    assert process.exitcode == code


def race(place, racers, tries, cost, budget):
    """How many of many processes at one barrier were paid."""
    barrier, won = PROCESSES.Barrier(racers), PROCESSES.Value("i", 0)

    def run():
        with opened(place) as records:
            barrier.wait(120)
            for _ in range(tries):
                if spend(records, cost, budget):
                    with won.get_lock():
                        won.value += 1

    for process in [start(run) for _ in range(racers)]:
        ended(process)
    return won.value


@contextlib.contextmanager
def held(place):
    """Another process that holds the write lock, has appended, and never ends by itself."""
    ready = PROCESSES.Event()

    def hold():
        with opened(place) as records, records.writing():
            records.append(extend(head(records.read()), Draft("note", {}), SIGNER))
            ready.set()
            time.sleep(600)

    process = start(hold)
    assert ready.wait(60)
    try:
        yield process
    finally:
        process.kill()
        process.join()


class RecordsContract:
    @pytest.fixture
    def place(self):
        raise NotImplementedError

    @pytest.fixture
    def sql(self, place):
        """Run statements behind the store's back, and give the last one's rows."""
        raise NotImplementedError

    table = "records"
    unprotect = ()
    """What a vandal runs to be rid of the triggers."""
    edits = ()
    """What a vandal does to what stands beside the records, what is said of it, and its undoing."""
    untie = ()
    """What a vandal runs to be rid of the primary key."""

    @pytest.fixture
    def records(self, place):
        with opened(place) as records:
            yield records

    def test_a_new_ledger_is_empty(self, records):
        assert records.read() == ()
        assert records.get(1) is None
        assert records.since(1) == ()

    def test_what_was_appended_is_read_by_whoever_opens_it(self, records, place):
        first = note(records, account="census", request="aa", payload={"a": 1})
        second = note(records, account="visits", request="bb")
        third = note(records, account="census", entry=1, request="aa")
        with opened(place, create=False) as other:
            assert other.where == records.where
            assert other.read() == records.read() == (first, second, third)
            assert other.get(2) == second
            assert other.get(4) is other.get(0) is None
            assert other.since(1) == (first, second, third)
            assert other.since(3) == (third,)
            assert other.since(4) == ()
        assert verified(records.read(), "here") == (first, second, third)

    def test_a_text_is_stored_as_it_is(self, records, place):
        written = note(records, account=NASTY, payload={NASTY: NASTY})
        with opened(place) as other:
            assert other.read() == (written,)
            assert other.read()[-1].account == NASTY

    def test_accounts_of_almost_one_name_are_apart(self, records):
        names = ["a", "A", "a ", " a", "á", "a\u0301", "a\x00", "a\\u0000", 'a"', 'a\\"', "a\\"]
        written = {name: note(records, account=name) for name in names}
        assert {each.account: each for each in records.read()} == written

    def test_a_long_payload_is_kept(self, records, place):
        written = note(records, payload={"text": "é" * 500_000})
        with opened(place) as other:
            assert other.read() == (written,)

    def test_many_records_of_one_write_are_all_there(self, records, place):
        with records.writing():
            for number in range(1, 6):
                records.append(extend(head(records.read()), Draft("note", {}), SIGNER))
                assert records.read()[-1].seq == number  # a write reads what it has written
        with opened(place) as other:
            assert [record.seq for record in other.read()] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_a_write_that_fails_leaves_nothing_and_lets_others_in(self, records, place, error):
        with pytest.raises(error), records.writing():
            records.append(extend(head(()), Draft("note", {}), SIGNER))
            raise error
        with opened(place, wait=0.5) as other:
            assert records.read() == other.read() == ()
            note(other)
        note(records)
        assert len(records.read()) == 2

    def test_what_is_being_written_is_not_read_and_reading_does_not_wait(self, records, place):
        first = note(records)
        with opened(place) as other, other.writing():
            other.append(extend(head((first,)), Draft("note", {}), SIGNER))
            assert records.read() == (first,)
        assert len(records.read()) == 2

    def test_a_write_is_not_inside_another_and_nothing_is_appended_outside(self, records):
        first = extend(head(()), Draft("note", {}), SIGNER)
        with pytest.raises(InternalError, match="a record is appended outside a write"):
            records.append(first)
        with records.writing():
            with (
                pytest.raises(InternalError, match="written to inside a write"),
                records.writing(),
            ):
                raise AssertionError
            records.append(first)
        assert records.read() == (first,)

    # append-only

    @pytest.mark.parametrize(
        "statement",
        [
            "update {} set payload = '{{}}'",
            "update {} set seq = 9 where seq = 2",
            "update {} set signature = ''",
            "delete from {} where seq = 2",
            "delete from {}",
            "insert into {} select * from {} where seq = 2",
            "insert into {} select seq, kind, account, entry, request, 'x', previous_hash, hash, "
            "key_id, signature from {} where seq = 2 "
            "on conflict (seq) do update set payload = excluded.payload",
            "insert into {} values (9, '', '', 0, '', '', (select max(hash) from {}), '', '', '')",
            "insert into {} values (3, '', '', 0, '', '', '" + GENESIS + "', '', '', '')",
            "insert into {} values (3, '', '', 0, '', '', null, '', '', '')",
        ],
    )
    def test_the_database_itself_refuses_all_but_extending_the_chain(self, records, sql, statement):
        before = (note(records), note(records))
        with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)) as caught:
            sql(statement.format(self.table, self.table))
        assert "the ledger is append-only" in str(caught.value)
        assert records.read() == before

    def test_a_record_that_does_not_extend_the_chain_is_refused(self, records):
        first = note(records)

        def append():
            with records.writing():
                records.append(extend(head((first,)), Draft("note", {}), SIGNER))
                records.append(extend(head(()), Draft("note", {}), SIGNER))

        said = f"{records.where}: the ledger failed: the ledger is append-only"
        assert failure(append) == said
        assert records.read() == (first,)
        note(records)

    def test_past_the_triggers_everything_is_read_as_it_lies(self, records, sql):
        note(records, payload={"a": 1})
        second = note(records, payload={"a": 1})
        sql(*self.unprotect, f"update {self.table} set payload = 'x' where seq = 1")
        assert [record.payload for record in records.read()] == ["x", '{"a":1}']
        assert "broken at record 1: its content was changed" in failure(
            lambda: verified(records.read(), "here")
        )
        sql(f"delete from {self.table} where seq = 1")
        assert records.read() == (second,)
        assert "record 1 is missing" in failure(lambda: verified(records.read(), "here"))

    def test_two_records_of_one_number_are_both_read(self, records, sql):
        note(records)
        note(records)
        sql(*self.unprotect, *self.untie, f"insert into {self.table} select * from {self.table}")
        assert [record.seq for record in records.read()] == [1, 1, 2, 2]
        assert records.get(2).seq == records.read()[-1].seq == 2
        assert "the chain forks" in failure(lambda: verified(records.read(), "here"))

    @pytest.mark.parametrize("stored", ["\\x", 'a"', "\\u0063ensus", "census\n"])
    def test_an_account_that_nobody_here_has_written_breaks_the_chain(self, records, sql, stored):
        note(records, account="census")
        sql(*self.unprotect, f"update {self.table} set account = '{stored}'")
        assert records.read()[-1].account != "census"
        assert "its content was changed" in failure(lambda: verified(records.read(), "here"))

    def test_a_store_is_as_it_was_made(self, records, place):
        note(records, request="ff")
        records.check()
        with opened(place) as other:
            other.check()

    def test_a_store_that_was_edited_is_not_opened(self, records, place, sql):
        note(records)
        for statement, what, undo in self.edits:
            sql(statement)
            message = (
                f"{records.where}: the ledger is not as it was made: {what}; somebody has edited it"
                " past policy-engine, so nothing is charged on it: compare it with a backup and"
                " restore one that holds"
            )
            assert failure(records.check) == message
            assert failure(lambda: open_records(place)) == message
            sql(undo)
            records.check()

    # whoever waits, and whoever dies

    def test_a_wait_has_an_end(self, place):
        with opened(place, wait=0.2) as records, held(place):
            assert failure(lambda: note(records)) == f"{records.where}: {LOCKED}"
            assert records.read() == ()  # reading needs no lock

    def test_a_writer_waits_for_another_and_sees_what_it_left(self, records, place):
        note(records)
        go = PROCESSES.Event()

        def note_one():
            with opened(place) as mine:
                go.wait(60)
                note(mine)

        waiting = start(note_one)  # SQLite is not forked inside a write
        with records.writing():
            go.set()
            time.sleep(0.3)
            assert waiting.is_alive()
            records.append(extend(head(records.read()), Draft("note", {}), SIGNER))
        ended(waiting)
        assert [record.seq for record in verified(records.read(), "here")] == [1, 2, 3]

    def test_a_killed_holder_leaves_nothing_and_no_lock(self, records, place):
        note(records)
        with held(place) as holder:
            os.kill(holder.pid, signal.SIGKILL)
            ended(holder, -signal.SIGKILL)
            note(records)
        assert len(verified(records.read(), "here")) == 2

    def test_who_waits_can_be_interrupted(self, records, place):
        waits = PROCESSES.Event()

        def wait():
            with opened(place) as mine:
                waits.set()
                try:
                    note(mine)
                except KeyboardInterrupt:
                    os._exit(0 if mine.read() == () else 2)  # and it is of use still
                os._exit(1)

        with held(place):
            waiting = start(wait)
            assert waits.wait(60)
            time.sleep(0.3)
            os.kill(waiting.pid, signal.SIGINT)
            ended(waiting)
        note(records)
        assert len(records.read()) == 1

    def test_a_fork_has_a_connection_of_its_own(self, records):
        note(records)

        def child():
            note(records)
            records.close()

        ended(start(child))
        note(records)
        assert len(verified(records.read(), "here")) == 3

    def test_processes_that_make_it_at_once_have_one_ledger(self, place):
        assert race(place, 8, 1, 1, 100) == 8
        with opened(place) as records:
            assert len(verified(records.read(), "here")) == 8

    def test_of_fifty_processes_the_budget_pays_five(self, place):
        assert race(place, 50, 1, 1, 5) == 5
        with opened(place) as records:
            assert len(verified(records.read(), "here")) == 5

    @pytest.mark.slow
    def test_of_fifty_processes_the_budget_pays_five_time_and_again(self, place):
        for time_ in range(1, RACES + 1):
            assert race(place, 50, 1, 1, 5 * time_) == 5
        with opened(place) as records:
            assert len(verified(records.read(), "here")) == 5 * RACES

    def test_processes_that_write_often_lose_nothing(self, place):
        assert race(place, 4, 25, 1, 90) == 90
        with opened(place) as records:
            assert [json.loads(record.payload)["spent"] for record in records.read()] == [
                *range(1, 91)
            ]

    # what is there, and what is not

    def test_a_ledger_to_read_is_not_made(self, place, sql):
        said = failure(lambda: open_records(place, create=False))
        assert ": there is no ledger here; check the " in said
        assert "there is no ledger" in failure(lambda: open_records(place, create=False))

    @pytest.mark.parametrize(
        ("version", "remedy"),
        [
            (1, AN_OLDER_ONE),
            (2, AN_OLDER_ONE),
            (3, AN_OLDER_ONE),
            (4, AN_OLDER_ONE),
            (6, "use a newer policy-engine"),
        ],
    )
    def test_another_schema_is_refused(self, records, place, sql, version, remedy):
        sql(self.version_of(version))
        assert failure(lambda: open_records(place)) == (
            f"{records.where}: the ledger has schema version {version} and this policy-engine "
            f"reads version 5; {remedy}"
        )

    def test_a_ledger_whose_table_is_gone_is_told(self, records, sql):
        sql(f"drop table {self.table}")
        assert failure(records.read).startswith(f"{records.where}: the ledger failed: ")


class TestSqliteRecords(RecordsContract):
    unprotect = tuple(
        f"drop trigger records_{end}"
        for end in ("are_never_changed", "are_never_deleted", "extend_the_chain")
    )
    edits = (
        (
            "create index w on records (seq) where seq = 2",
            "the index w is no part of it",
            "drop index w",
        ),
        (
            "create trigger t before insert on records begin select raise(ignore); end",
            "the trigger t is no part of it",
            "drop trigger t",
        ),
    )
    untie = (
        "create table others as select * from records",
        "drop table records",
        "alter table others rename to records",
    )

    @staticmethod
    def version_of(version):
        return f"pragma user_version = {version}"

    @pytest.fixture
    def place(self, tmp_path):
        return tmp_path / "ledger.db"

    @pytest.fixture
    def sql(self, place):
        def run(*statements):
            with closing(sqlite3.connect(place, isolation_level=None)) as connection:
                return [connection.execute(statement).fetchall() for statement in statements][-1]

        return run

    @pytest.mark.parametrize(
        "statement",
        [
            "insert or replace into records select * from records where seq = 2",
            "replace into records select * from records where seq = 1",
            "insert into records values (null, '', '', 0, '', '', '', '', '', '')",
        ],
    )
    def test_sqlites_own_ways_of_replacing_are_refused(self, records, sql, statement):
        before = (note(records), note(records))
        with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
            sql(statement)
        assert records.read() == before


def anew(name, acts, condition):
    """A trigger of PostgreSQL dropped and made again, with a condition or none."""
    table = "policy_engine.records"
    return (
        f"drop trigger {name} on {table}; create trigger {name} {acts} on {table}"
        f" for each row {condition} execute function policy_engine.refuse()"
    )


class TestPostgresRecords(RecordsContract):
    table = "policy_engine.records"
    unprotect = ("alter table policy_engine.records disable trigger all",)
    edits = (
        (
            "alter table policy_engine.records disable trigger records_are_never_changed",
            "the trigger records_are_never_changed is changed",
            "alter table policy_engine.records enable trigger records_are_never_changed",
        ),
        *(
            (
                anew("records_are_never_changed", "before update or delete", condition),
                "the trigger records_are_never_changed is changed",
                anew("records_are_never_changed", "before update or delete", ""),
            )
            for condition in ("when (false)", "when (old.seq > 9)")
        ),
        (
            anew("records_are_never_changed", "before delete or update of payload", ""),
            "the trigger records_are_never_changed is changed",
            anew("records_are_never_changed", "before update or delete", ""),
        ),
        (
            "create index w on policy_engine.records (seq)",
            "the index w is no part of it",
            "drop index policy_engine.w",
        ),
        (
            "create rule r as on insert to policy_engine.records do instead nothing",
            "the rule r is no part of it",
            "drop rule r on policy_engine.records",
        ),
        (
            "create table policy_engine.more () inherits (policy_engine.records)",
            "the child more is no part of it",
            "drop table policy_engine.more",
        ),
        (
            "alter table policy_engine.records enable row level security",
            "the table records is changed",
            "alter table policy_engine.records disable row level security",
        ),
        (
            "alter table policy_engine.records add column more text",
            "the column more is no part of it",
            "alter table policy_engine.records drop column more",
        ),
        (
            "create or replace function policy_engine.refuse() returns trigger language plpgsql"
            " as $$ begin return new; end $$",
            "the trigger records_are_never_changed is changed,"
            " the trigger records_are_never_emptied is changed",
            postgres_store._DDL[0].replace("create function", "create or replace function"),
        ),
    )
    untie = ("alter table policy_engine.records drop constraint records_pkey",)

    @staticmethod
    def version_of(version):
        return (
            "comment on table policy_engine.records is "
            f"'policy-engine ledger, schema version {version}'"
        )

    @pytest.fixture
    def place(self, postgres):
        return postgres.empty()

    @pytest.fixture
    def sql(self, postgres):
        return postgres.sql

    def test_truncate_is_refused(self, records, sql):
        note(records)
        with pytest.raises(psycopg.errors.RestrictViolation, match="the ledger is append-only"):
            sql("truncate policy_engine.records")
        assert len(records.read()) == 1

    def test_who_was_slower_to_make_it_finds_it(self, place, monkeypatch):
        look, found = postgres_store.PostgresStore._look, []

        def lose(store, connection):
            found.append(look(store, connection))
            if len(found) == 1:
                with opened(place) as other:
                    note(other)
            return found[-1]

        monkeypatch.setattr(postgres_store.PostgresStore, "_look", lose)
        with opened(place) as records:
            assert len(records.read()) == 1
        assert found == [False, False, False, True]

    # rights

    @pytest.fixture
    def writer(self, records, postgres, sql):
        """The URL of a user with the rights that docs/howto/ledger-postgresql.md grants."""
        sql(
            "drop role if exists releaser",
            "create role releaser login",
            "grant usage on schema policy_engine to releaser",
            "grant select, insert on policy_engine.records to releaser",
        )
        yield postgres.url_of("releaser")
        sql("drop owned by releaser", "drop role releaser")

    def test_a_writer_needs_no_more_than_select_and_insert(self, writer):
        with opened(writer) as records:
            assert spend(records, 1, 1)
            assert not spend(records, 1, 1)
            assert len(records.read()) == 1

    @pytest.mark.parametrize(
        "statement",
        [
            "update policy_engine.records set payload = ''",
            "delete from policy_engine.records",
            "truncate policy_engine.records",
            "drop table policy_engine.records",
            "alter table policy_engine.records disable trigger all",
            "set session_replication_role = replica",
            "create or replace function policy_engine.extend() returns trigger language plpgsql "
            "as $$ begin return new; end $$",
            "comment on table policy_engine.records is ''",
            "create table policy_engine.mine (a int)",
        ],
    )
    def test_a_writer_cannot_undo_the_triggers(self, writer, sql, statement):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql(statement, user="releaser")

    def test_a_row_of_a_writer_without_a_key_is_disowned_and_all_goes_on(self, writer, sql):
        def change():
            ledger.set_limit("a", Limit(Decimal(1), Decimal(0)), who="Ada", why="x")

        with Ledger(open_records(writer), Trust.of(SIGNER)) as ledger:
            change()
            last = ledger.read().chain.records[-1]
            sql(
                "insert into policy_engine.records values (2, 'limit', 'a', 0, '', '{}',"
                f" '{last.hash}', 'x', 'x', 'x')",
                user="releaser",
            )
            assert "'policy-engine ledger disown' leaves" in failure(change)
            assert deciding.disown(ledger, 2, who="Ada", why="written by hand") == (2,)
            change()
            assert ledger.verify().records == 4

    def test_a_writer_cannot_lend_the_triggers_an_operator_of_its_own(self, records, writer, sql):
        sql("create schema hers authorization releaser")
        own = "create function hers.same(a text, b text) returns bool language sql as 'select true'"
        with pytest.raises(psycopg.errors.RestrictViolation):
            sql(
                own,
                "create operator hers.= (leftarg = text, rightarg = text, function = hers.same)",
                "set search_path = hers, pg_catalog",
                "insert into policy_engine.records values (1, '', '', 0, '', '', '', '', '', '')",
                user="releaser",
            )
        assert records.read() == ()

    def test_who_lacks_a_right_is_told_which(self, records, writer, sql, postgres):
        rights = (
            "the user lacks a right to the ledger; its owner grants usage on schema policy_engine "
            "and select, insert on policy_engine.records"
        )
        sql("revoke insert on policy_engine.records from releaser")
        with opened(writer) as reader:
            assert reader.read() == ()
            assert failure(lambda: note(reader)) == f"{reader.where}: {rights}"
        sql("revoke select on policy_engine.records from releaser")
        with opened(writer) as nobody:
            assert failure(nobody.read) == f"{nobody.where}: {rights}"
        sql("revoke usage on schema policy_engine from releaser")
        with opened(writer) as nobody:
            assert failure(nobody.read) == f"{nobody.where}: {rights}"
        sql("drop schema policy_engine cascade")
        assert failure(lambda: open_records(writer)) == f"{nobody.where}: {rights}"

    def test_a_table_that_is_no_ledger_is_left_as_it_is(self, place, sql):
        sql("create schema policy_engine", "create table policy_engine.records (a int)")
        assert failure(lambda: open_records(place)).endswith(
            ": policy_engine.records is not a ledger table; name another database, "
            "it was left as it is"
        )
        assert sql("select * from policy_engine.records") == []

    # servers that fail

    def test_a_connection_that_was_lost_in_between_is_made_again(self, records, sql):
        note(records)
        self.cut_off(sql)
        note(records)
        assert len(records.read()) == 2

    @staticmethod
    def cut_off(sql):
        sql(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity "
            "where application_name = 'policy-engine'"
        )

    def test_a_connection_that_is_lost_in_a_write_leaves_nothing(self, records, sql):
        def write():
            with records.writing():
                records.append(extend(head(records.read()), Draft("note", {}), SIGNER))
                self.cut_off(sql)

        assert failure(write) == (
            f"{records.where}: the connection to the server failed: terminating connection due to "
            "administrator command; see that the server runs and is reached, and try again; "
            "nothing was recorded"
        )
        assert records.read() == ()
        note(records)

    def test_a_write_that_stands_still_is_ended(self, records, place, monkeypatch):
        monkeypatch.setattr(postgres_store, "_IDLE", 0.2)
        with opened(place) as slow:

            def write():
                with slow.writing():
                    time.sleep(1)
                    slow.read()

            assert failure(write) == (
                f"{records.where}: the server ended a write that stood still for too long; "
                "try again"
            )
        note(records)

    @staticmethod
    def lose_the_answer(records, sent):
        """Commit, or not, and cut the line before the answer."""
        connection = records._writer
        if sent:
            connection.pgconn.send_query(b"commit")
            connection.pgconn.flush()
            time.sleep(0.2)
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    def test_a_commit_whose_answer_is_lost_is_a_commit(self, records):
        with records.writing():
            record = extend(head(()), Draft("note", {}), SIGNER)
            records.append(record)
            self.lose_the_answer(records, sent=True)
        assert records.read() == (record,)
        note(records)

    def test_a_commit_that_never_arrived_is_none(self, records):
        def write():
            with records.writing():
                records.append(extend(head(()), Draft("note", {}), SIGNER))
                self.lose_the_answer(records, sent=False)

        assert failure(write).endswith("; nothing was recorded")
        assert records.read() == ()
        note(records)

    def test_a_server_that_hangs_is_not_waited_for(self, place, sql, monkeypatch):
        with opened(place) as records:
            note(records)
        monkeypatch.setattr(postgres_store, "_GRACE", 0.5)
        with opened(place, wait=0.5) as records:
            hung = []

            def write():
                with records.writing():
                    [[pid]] = sql(
                        "select pid from pg_stat_activity where application_name = 'policy-engine'"
                        " and state = 'idle in transaction'"
                    )
                    hung.append(pid)
                    os.kill(pid, signal.SIGSTOP)
                    records.read()

            try:
                said = failure(write)
            finally:
                os.kill(hung[0], signal.SIGCONT)
        assert said.startswith(f"{records.where}: the connection to the server failed: ")
        with opened(place) as records:
            note(records)

    def test_a_commit_to_a_server_that_hangs_is_not_known(self, place, sql, monkeypatch):
        with opened(place):
            pass
        monkeypatch.setattr(postgres_store, "_GRACE", 0.5)
        with opened(place, wait=0.5) as records:
            hung = []

            def write():
                with records.writing():
                    records.append(extend(head(()), Draft("note", {}), SIGNER))
                    [[pid]] = sql(
                        "select pid from pg_stat_activity where application_name = 'policy-engine'"
                        " and state = 'idle in transaction'"
                    )
                    hung.append(pid)
                    os.kill(pid, signal.SIGSTOP)

            try:
                said = failure(write)
            finally:
                os.kill(hung[0], signal.SIGCONT)
        assert said == (
            f"{records.where}: the server was lost while it recorded, so that it is not known "
            "whether the ledger holds it: it may be charged, so do not release; "
            "see 'policy-engine ledger show' when the server is back"
        )
        with opened(place) as records:
            note(records)
            verified(records.read(), "here")

    def test_a_write_to_a_read_only_server_is_refused(self, records, place):
        note(records)
        with opened(place + "&options=-cdefault_transaction_read_only%3Don") as other:
            assert len(other.read()) == 1
            assert failure(lambda: note(other)) == (
                f"{records.where}: the server is read-only, perhaps a standby; name the one that "
                "is written to"
            )


class TestPostgresOfItsOwn:
    """What needs a server that other tests do not use."""

    def test_a_server_that_stops_in_a_write_leaves_nothing(self):
        with running() as server, opened(server.url) as records:
            first = note(records)

            def write():
                with records.writing():
                    records.append(extend(head((first,)), Draft("note", {}), SIGNER))
                    server.stop("immediate")

            assert failure(write).startswith(f"{records.where}: the server was lost while it ")
            said = failure(lambda: note(records))
            assert said.startswith(f"{records.where}: the connection to the server failed: ")
            assert said.endswith("; see that the server runs and is reached, and try again")
            server.start()
            assert records.read() == (first,)
            note(records)
            assert len(verified(records.read(), "here")) == 2

    def test_a_server_without_space_is_told_and_nothing_is_half_written(self):
        with running(most_bytes=4_000_000) as server, opened(server.url) as records:

            def write():
                for _ in range(100):
                    with records.writing():
                        for _ in range(3):
                            draft = Draft("note", {"x": os.urandom(50_000).hex()})
                            records.append(extend(head(records.read()), draft, SIGNER))

            said = failure(write)
            assert said.startswith(f"{records.where}: the ")
            assert said.endswith(
                (
                    ": File too large; see the server's log",  # PostgreSQL 18
                    ": the server's disk is full; free some space and try again",  # 15
                )
            )
            kept = verified(records.read(), "here")
            assert kept and len(kept) % 3 == 0
            note(records)

    def test_a_server_that_forgets_is_refused(self):
        with running("fsync=off") as server:
            said = failure(lambda: open_records(server.url))
            assert said.endswith(
                ": the server runs with fsync = off, so a power cut can forget what was charged; "
                "set it to on"
            )
            assert server.sql("select 1 from pg_namespace where nspname = 'policy_engine'") == []

    def test_a_wrong_password_is_told_and_not_shown(self):
        with running() as server:
            server.sql("create role secretive login password 'right'")
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("local all postgres trust\nlocal all all scram-sha-256\n")
            server.sql("select pg_reload_conf()")
            good = f"postgresql://secretive:right@/postgres?host={server.folder}"
            bad = good.replace("right", "s3cret%20word")
            deadline = time.monotonic() + 60
            while True:  # until the server has read its rules
                said = failure(lambda: open_records(bad))
                if "password" in said or time.monotonic() > deadline:
                    break
            assert "password authentication failed for user" in said
            assert "s3cret" not in said
            assert said.startswith("postgresql://secretive@/postgres?host=")
            assert "the user lacks a right" in failure(lambda: open_records(good))
