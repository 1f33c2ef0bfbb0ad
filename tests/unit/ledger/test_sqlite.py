"""The SQLite file: whole or not there, append-only, and clear about what is wrong with it."""

import os
import resource
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import extend, head
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.sqlite import SqliteRecords
from policy_engine.ledger.store import Ledger

CHARGE = Charge("census", Decimal("0.1"), Decimal(0), "add_remove", "adult", "p" * 64, "c" * 64)


@pytest.fixture
def path(tmp_path):
    """An existing ledger with two entries."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(CHARGE)
        ledger.reserve(CHARGE)
    return path


def sql(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


def failure(act):
    with pytest.raises(LedgerError) as caught:
        act()
    return str(caught.value)


def test_a_new_ledger_comes_with_its_directories_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "a" / "b" / "ledger ?#%20é.db"
    before = os.umask(0)
    try:
        with Ledger.open(path) as ledger:
            ledger.reserve(CHARGE)
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert files == {path.name + end: 0o600 for end in ("", "-wal", "-shm")}
    with Ledger.open(path) as ledger:
        assert len(ledger.entries()) == 1


def test_a_ledger_is_durable_before_it_is_fast(path):
    with closing(SqliteRecords(path)) as records:
        assert records._connection.execute("pragma synchronous").fetchone() == (2,)
        assert records._connection.execute("pragma journal_mode").fetchone() == ("wal",)
        assert records._connection.execute("pragma busy_timeout").fetchone() == (30_000,)


def test_a_relative_path_is_good_too(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with Ledger.open(Path("ledger.db")) as ledger:
        assert len(ledger.entries()) == 2


def test_a_ledger_to_read_is_not_made(tmp_path):
    path = tmp_path / "none" / "ledger.db"
    assert failure(lambda: Ledger.open(path, create=False)) == (
        f"{path}: there is no ledger here; check the path"
    )
    assert list(tmp_path.iterdir()) == []


def test_whoever_makes_the_file_first_makes_it(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    link = os.link

    def lose(new, target):
        monkeypatch.setattr(os, "link", link)
        with Ledger.open(path) as other:
            other.reserve(CHARGE)
        link(new, target)

    monkeypatch.setattr(os, "link", lose)
    with Ledger.open(path) as ledger:
        assert len(ledger.entries()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


def test_a_ledger_half_made_is_never_seen(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", stop)
    with pytest.raises(KeyboardInterrupt):
        Ledger.open(tmp_path / "ledger.db")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_nowhere_makes_no_file(tmp_path):
    path = tmp_path / "ledger.db"
    path.symlink_to(tmp_path / "elsewhere.db")
    assert failure(lambda: Ledger.open(path)).startswith(f"{path}: the ledger cannot be opened; ")
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_log_without_its_ledger_is_not_played_into_a_new_one(tmp_path):
    path = tmp_path / "ledger.db"
    (tmp_path / "ledger.db-wal").write_bytes(b"x")
    assert "the ledger is gone but its log ledger.db-wal is still there" in failure(
        lambda: Ledger.open(path)
    )
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"version: 1\n" * 500])
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    assert failure(lambda: Ledger.open(path)) == (
        f"{path}: not a ledger file; name another path, it was left as it is"
    )
    assert path.read_bytes() == content


def test_another_database_is_no_ledger(tmp_path):
    path = tmp_path / "other.db"
    sql(path, "create table t (a)")
    assert "not a ledger file" in failure(lambda: Ledger.open(path))


def test_a_directory_is_no_ledger(tmp_path):
    assert failure(lambda: Ledger.open(tmp_path)).startswith(
        f"{tmp_path}: the ledger cannot be opened; "
    )


def test_a_path_through_a_file_is_an_error(path):
    beyond = path / "ledger.db"
    assert failure(lambda: Ledger.open(beyond)).startswith(
        f"{beyond}: the ledger cannot be opened: "
    )


def test_a_newer_schema_is_refused(path):
    sql(path, "pragma user_version = 2")
    assert failure(lambda: Ledger.open(path)) == (
        f"{path}: the ledger has schema version 2 and this policy-engine reads version 1; "
        "use a newer policy-engine"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "update records set payload = '{}'",
        "update records set seq = 9 where seq = 2",
        "delete from records where seq = 2",
        "delete from records",
        "insert or replace into records select * from records where seq = 2",
        "replace into records values (1, 'reserve', '{}', '', '')",
        "insert into records values (9, 'reserve', '{}', (select max(hash) from records), '')",
        "insert into records values (3, 'reserve', '{}', '', '')",
        "insert into records values (null, 'reserve', '{}', '', '')",
        "insert into records values (3, 'reserve', '{}', null, '')",
    ],
)
def test_the_database_itself_refuses_all_but_extending_the_chain(path, statement):
    before = sql(path, "select * from records")
    with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
        sql(path, statement)
    assert sql(path, "select * from records") == before


def test_a_record_that_does_not_extend_the_chain_is_a_ledger_error(path):
    with closing(SqliteRecords(path)) as records:
        wrong = extend(head(()), "reserve", {})

        def append():
            with records.writing():
                records.append(wrong)

        assert failure(append) == f"{path}: the ledger failed: the ledger is append-only"
        assert len(records.read()) == 2


def test_a_lock_held_for_too_long_is_told(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with Ledger.open(path, timeout=0.05) as ledger:
            assert failure(lambda: ledger.reserve(CHARGE)) == (
                f"{path}: another process has held the lock for too long; wait for its release to "
                "end, or stop it if it hangs, and try again"
            )
            assert len(ledger.entries()) == 2  # reading needs no lock
            other.execute("rollback")
            ledger.reserve(CHARGE)


def test_a_full_disk_is_told_and_nothing_is_half_written(path):
    with Ledger.open(path) as ledger:
        connection = ledger._records._connection
        [pages] = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {pages}")
        entries = 2
        with pytest.raises(LedgerError) as caught:
            for _ in range(100):
                ledger.reserve(CHARGE)
                entries += 1
        assert str(caught.value) == (f"{path}: the disk is full; free some space and try again")
        connection.execute("pragma max_page_count = 1000000")
        assert ledger.verify_chain().records == entries
        ledger.reserve(CHARGE)


def test_a_release_whose_commit_finds_no_space_stays_charged(path):
    with Ledger.open(path) as ledger:
        connection = ledger._records._connection
        [pages] = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.commit(1, release_name="x" * 10_000, release_digest="d")
        assert [entry.state for entry in ledger.entries()] == ["reserved", "reserved"]


def in_a_child(path, code, setup):
    """What a fresh process says of ``code``, with ``ledger`` its Ledger class at ``path``."""
    program = (
        "import sys; from pathlib import Path; from decimal import Decimal\n"
        "from policy_engine.errors import LedgerError\n"
        "from policy_engine.ledger.entry import Charge\n"
        "from policy_engine.ledger.store import Ledger\n"
        "charge = Charge('a', Decimal(0), Decimal(0), 'add_remove', 'p' * 5000, 'd', 'c')\n"
        "path = Path(sys.argv[1])\n"
        f"{setup}\n"
        f"try:\n    {code}\n"
        "except LedgerError as error:\n    print(error)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert child.stderr == ""
    return child.stdout.strip()


def test_a_disk_that_fails_to_write_is_told(path):
    said = in_a_child(
        path,
        "[ledger.reserve(charge) for _ in range(99)]",
        "import resource; ledger = Ledger.open(path)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (60000, {resource.RLIM_INFINITY}))",
    )
    assert said.startswith(f"{path}: the disk could not read or write the ledger; ")
    with Ledger.open(path) as ledger:
        assert ledger.verify_chain().records >= 2


# Root may write anywhere, so the child gives that up first.
AS_NOBODY = "import os; os.geteuid() or os.setuid(65534)"


@pytest.fixture
def locked(tmp_path):
    """A directory anyone may enter, on the way to which nobody is stopped."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path(folder.anchor):
            folder.chmod(folder.stat().st_mode | 0o055)
    folder = tmp_path / "locked"
    folder.mkdir()
    yield folder
    folder.chmod(0o755)


def test_a_read_only_directory_is_told(locked):
    locked.chmod(0o555)
    path = locked / "ledger.db"
    assert in_a_child(path, "Ledger.open(path)", AS_NOBODY) == (
        f"{path}: the ledger cannot be opened: Permission denied"
    )


def test_a_read_only_ledger_is_told(locked):
    path = locked / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(CHARGE)
    path.chmod(0o444)
    locked.chmod(0o555)
    said = in_a_child(path, "Ledger.open(path).reserve(charge)", AS_NOBODY)
    assert said.startswith(f"{path}: the ledger ")
    assert said.endswith("; the file and its directory must be writable")


def test_a_damaged_file_is_told(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    content = bytearray(path.read_bytes())
    content[4096 : 2 * 4096] = b"\xff" * 4096  # the first page after the header
    path.write_bytes(content)
    with Ledger.open(path) as ledger:
        assert failure(lambda: ledger.reserve(CHARGE)) == (
            f"{path}: the ledger file is damaged; restore it from a backup"
        )


def test_a_ledger_whose_table_is_gone_is_told(path):
    sql(path, "drop table records")
    with Ledger.open(path) as ledger:
        assert failure(ledger.entries) == f"{path}: the ledger failed: no such table: records"


def test_a_changed_cell_of_any_type_breaks_the_chain(path):
    sql(path, "drop trigger records_are_never_changed", "update records set payload = x'7b7d'")
    with Ledger.open(path) as ledger:
        assert "broken at record 1: its content was changed" in failure(ledger.verify_chain)


def test_deleting_past_the_triggers_breaks_the_chain(path):
    sql(path, "drop trigger records_are_never_deleted", "delete from records where seq = 1")
    with Ledger.open(path) as ledger:
        assert "broken at record 1: record 1 is missing, the next one is 2" in failure(
            ledger.verify_chain
        )
