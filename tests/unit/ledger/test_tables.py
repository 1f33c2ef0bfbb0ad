"""The SQLite file: whole or not there, and clear about what is wrong with it.

What both stores guarantee is in tests/contract/test_ledger_store.py.
"""

import multiprocessing
import os
import resource
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError
from policy_engine.ledger import engines
from policy_engine.ledger.chain import Draft, extend, head, verified
from policy_engine.ledger.records import open_records

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))


def note(records, text=""):
    with records.writing():
        records.append(extend(head(records.read()), Draft("note", {"text": text}), SIGNER))


@pytest.fixture
def path(tmp_path):
    """An existing ledger with two records."""
    path = tmp_path / "ledger.db"
    with closing(open_records(path)) as records:
        note(records)
        note(records)
    return path


def sql(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


def past_the_triggers(path, *statements):
    """What a vandal does, who puts back what protects the table."""
    found = sql(path, "select name, sql from sqlite_schema where type = 'trigger'")
    drops, makes = [f"drop trigger {name}" for name, _ in found], [made for _, made in found]
    sql(path, *drops, *statements, *makes)


def failure(act):
    with pytest.raises(LedgerError) as caught:
        act()
    return str(caught.value)


def test_a_new_ledger_comes_with_its_directories_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "a" / "b" / "ledger ?#%20é.db"
    before = os.umask(0)
    try:
        with closing(open_records(path)) as records, records.writing():
            records.append(extend(head(()), Draft("note", {}), SIGNER))
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert files == {path.name + end: 0o600 for end in ("", "-wal", "-shm")}
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # one file to keep
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert len(open_records(path).read()) == 1


def test_a_ledger_is_durable_before_it_is_fast(path):
    with closing(engines._connect(path, False)) as connection:
        for name, value in (
            ("synchronous", 2),
            ("fullfsync", 1),
            ("journal_mode", "wal"),
            ("wal_autocheckpoint", 0),
        ):
            assert connection.execute(f"pragma {name}").fetchone() == (value,)


def test_a_relative_path_and_a_text_are_good_too(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assert len(open_records(Path("ledger.db")).read()) == 2
    assert len(open_records("ledger.db").read()) == 2


def test_a_ledger_to_read_is_not_made(tmp_path):
    path = tmp_path / "none" / "ledger.db"
    assert failure(lambda: open_records(path, create=False)) == (
        f"{path}: there is no ledger here; check the path; where nothing was released yet,"
        " the first release begins one"
    )
    assert list(tmp_path.iterdir()) == []


def test_whoever_makes_the_file_first_makes_it(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    link = os.link

    def lose(new, target):
        monkeypatch.setattr(os, "link", link)
        with closing(open_records(path)) as other:
            note(other)
        link(new, target)

    monkeypatch.setattr(os, "link", lose)
    with closing(open_records(path)) as records:
        assert len(records.read()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


def test_a_ledger_half_made_is_never_seen(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", stop)
    with pytest.raises(KeyboardInterrupt):
        open_records(tmp_path / "ledger.db")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_nowhere_makes_no_file(tmp_path):
    path = tmp_path / "ledger.db"
    path.symlink_to(tmp_path / "elsewhere.db")
    told = f"{path}: cannot read the ledger: it is a link to a file that is not there"
    assert failure(lambda: open_records(path)) == told
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_log_without_its_ledger_is_not_played_into_a_new_one(tmp_path):
    path = tmp_path / "ledger.db"
    (tmp_path / "ledger.db-wal").write_bytes(b"x")
    assert "the ledger is gone but its log ledger.db-wal is still there" in failure(
        lambda: open_records(path)
    )
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"version: 1\n" * 500])
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    assert failure(lambda: open_records(path)) == (
        f"{path}: not a ledger file; name another path, it was left as it is"
    )
    assert path.read_bytes() == content


def test_another_database_is_no_ledger(tmp_path):
    path = tmp_path / "other.db"
    sql(path, "create table t (a)")
    assert "not a ledger file" in failure(lambda: open_records(path))


def test_a_directory_is_no_ledger(tmp_path):
    told = f"{tmp_path}: cannot read the ledger: it is a folder"
    assert failure(lambda: open_records(tmp_path)) == told


def test_a_path_through_a_file_is_an_error(path):
    beyond = path / "ledger.db"
    assert failure(lambda: open_records(beyond)).startswith(
        f"{beyond}: the ledger cannot be opened: "
    )


def test_a_damaged_file_is_told(path):
    content = bytearray(path.read_bytes())
    content[4096 : 2 * 4096] = b"\xff" * 4096  # the first page after the header
    path.write_bytes(content)
    with closing(open_records(path)) as records:
        assert failure(lambda: note(records)) == (
            f"{path}: the ledger file is damaged; restore it from a backup"
        )


def test_a_changed_cell_of_any_type_breaks_the_chain(path):
    for column in ("payload", "account", "entry"):
        past_the_triggers(path, f"update records set {column} = x'7b7d' where seq = 2")
        with closing(open_records(path)) as records:
            assert "broken at record 2: its content was changed" in failure(
                lambda records=records: verified(records.read(), "here")
            )


def test_a_text_that_is_no_text_is_told(path):
    past_the_triggers(path, "update records set payload = cast(x'ff' as text)")
    with closing(open_records(path)) as records:
        assert failure(records.read).startswith(f"{path}: the ledger failed: ")


EDITS = [
    (
        ["drop trigger records_are_never_changed"],
        "the trigger records_are_never_changed is missing",
    ),
    (["create index w on records (seq) where seq = 2"], "the index w is no part of it"),
    (
        ["create trigger t before insert on records begin select raise(ignore); end"],
        "the trigger t is no part of it",
    ),
    (["create table more (a)"], "the table more is no part of it"),
    (["create view v as select * from records"], "the view v is no part of it"),
    (
        [
            "drop trigger records_are_never_deleted",
            "create trigger records_are_never_deleted before delete on records"
            " when old.seq = 0 begin select raise(abort, 'no'); end",
        ],
        "the trigger records_are_never_deleted is changed",
    ),
    (["alter table records add column more text"], "the table records is changed"),
]


@pytest.mark.parametrize(("statements", "said"), EDITS, ids=[said for _, said in EDITS])
def test_a_file_that_is_not_as_it_was_made_is_not_opened(path, statements, said):
    with closing(open_records(path)) as before:
        before.check()
        sql(path, *statements)
        message = (
            f"{path}: the ledger is not as it was made: {said}; somebody has edited it past"
            " policy-engine, so nothing is charged on it: compare it with a backup and restore"
            " one that holds"
        )
        assert failure(before.check) == message
    for create in (False, True):
        assert failure(lambda create=create: open_records(path, create=create)) == message


def test_what_analyze_counts_is_no_edit(path):
    sql(path, "analyze")
    with closing(open_records(path)) as records:
        records.check()


def test_a_backup_by_vacuum_is_a_whole_ledger(path, tmp_path):
    copy = tmp_path / "copy.db"
    with closing(open_records(path)) as records:
        note(records)
        sql(path, f"vacuum into '{copy}'")
        with closing(open_records(copy)) as restored:
            assert restored.read() == records.read()
            note(restored)
            assert len(verified(restored.read(), "copy")) == 4
    assert sql(copy, "pragma journal_mode") == [("wal",)]
    with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
        sql(copy, "delete from records")


def test_a_backup_in_use_is_changed_to_wal_later(path, tmp_path):
    copy = tmp_path / "copy.db"
    sql(path, f"vacuum into '{copy}'")
    with closing(sqlite3.connect(copy, isolation_level=None)) as other:
        other.execute("begin")
        other.execute("select * from records").fetchall()
        with closing(open_records(copy, wait=0.1)) as records:
            assert len(records.read()) == 2
    assert sql(copy, "pragma journal_mode") == [("delete",)]


def test_a_connection_that_is_gone_hides_no_error(path):
    with closing(open_records(path)) as records:
        with pytest.raises(ZeroDivisionError), records.writing():
            records._writer.close()
            raise ZeroDivisionError
        note(records)
        assert len(records.read()) == 3


# What a disk does. A child does it, since a limit on files is the whole process's.


def in_a_child(path, setup, code):
    """What a fresh process says of ``code``, with ``records`` the ledger at ``path``."""
    program = (
        "import os, resource, sys; from pathlib import Path\n"
        "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey\n"
        "from policy_engine.attest.signers import KeySigner\n"
        "from policy_engine.errors import LedgerError\n"
        "from policy_engine.ledger.chain import Draft, extend, head\n"
        "from policy_engine.ledger.records import open_records\n"
        "path = Path(sys.argv[1])\n"
        "signer = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))\n"
        "def note(records):\n"
        "    with records.writing():\n"
        "        draft = Draft('note', {'text': 'x' * 5000})\n"
        "        records.append(extend(head(records.read()), draft, signer))\n"
        f"{setup}\n"
        f"try:\n    {code}\n"
        "except LedgerError as error:\n    print(error)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert child.stderr == ""
    return child.stdout.strip()


def test_a_disk_that_fails_to_write_is_told(path):
    size = path.stat().st_size + 30_000
    said = in_a_child(
        path,
        "records = open_records(path)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {resource.RLIM_INFINITY}))",
        "[note(records) for _ in range(99)]",
    )
    assert said.startswith(f"{path}: the disk could not read or write the ledger; ")
    with closing(open_records(path)) as records:
        assert len(verified(records.read(), "here")) >= 2
        note(records)


def test_a_full_disk_is_told_and_nothing_is_half_written(path, monkeypatch):
    """The database may get no larger: what a full disk answers, on every machine."""
    connect = engines._connect
    most = [3]

    def limited(path, is_unlocked):
        connection = connect(path, is_unlocked)
        [pages] = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {pages + most[0]}")
        return connection

    monkeypatch.setattr(engines, "_connect", limited)
    with closing(open_records(path)) as records:

        def write():
            with records.writing():
                for _ in range(50):
                    draft = Draft("note", {"text": "x" * 5000})
                    records.append(extend(head(records.read()), draft, SIGNER))

        assert failure(write) == f"{path}: the disk is full; free some space and try again"
        assert len(verified(records.read(), "here")) == 2
        most[0] = 1000
        records.close()  # it opens again when it is used
        write()
        assert len(verified(records.read(), "here")) == 52


def test_a_full_file_system_is_told_and_loses_nothing(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may make a small file system")
    try:
        path = tmp_path / "ledger.db"
        with closing(open_records(path)) as records:
            written = 0

            def fill():
                nonlocal written
                for _ in range(500):
                    note(records, "x" * 3000)
                    written += 1

            assert failure(fill).startswith(f"{path}: the disk ")
            assert len(verified(records.read(), "here")) == written > 5
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


# What may only be read.

# Root may write anywhere, so the child gives that up, once all is imported.
AS_NOBODY = "open_records(path, create=False).read(); os.geteuid() or os.setuid(65534)"


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


@pytest.fixture
def read_only(locked):
    """A ledger of one record that nobody may write to, in a directory of the same kind."""
    path = locked / "ledger.db"
    with closing(open_records(path)) as records:
        note(records)
    path.chmod(0o444)
    locked.chmod(0o555)
    return path


def test_a_ledger_is_not_made_in_a_read_only_directory(locked, path):
    locked.chmod(0o555)
    new = locked / "ledger.db"
    said = in_a_child(path, AS_NOBODY, f"open_records(Path({str(new)!r}))")
    assert said == f"{new}: the ledger cannot be opened: Permission denied"


def test_a_read_only_ledger_is_read_and_not_written(read_only):
    said = in_a_child(
        read_only,
        AS_NOBODY,
        "records = open_records(path); print(len(records.read())); note(records)",
    )
    assert said == (
        f"1\n{read_only}: the ledger is read-only; the file and its directory must be writable"
    )


def test_a_read_only_ledger_is_not_read_without_its_log(locked):
    """A process that dies leaves records in the log alone: they are not forgotten."""
    path = locked / "ledger.db"
    with closing(open_records(path)) as records:
        note(records)
    in_a_child(
        path,
        "records = open_records(path)",
        "note(records); os._exit(0)",
    )
    assert (locked / "ledger.db-wal").stat().st_size > 0
    for file in locked.iterdir():
        file.chmod(0o444)
    locked.chmod(0o555)
    said = in_a_child(
        path,
        "import policy_engine.ledger.engines\nos.geteuid() or os.setuid(65534)",
        "print(len(open_records(path).read()))",
    )
    assert said == "2"


def test_what_is_read_without_locks_is_read_again_when_it_changes(path, monkeypatch):
    monkeypatch.setattr(engines, "_immutable", lambda _: True)
    states = iter([1, 2, 3, 3])
    monkeypatch.setattr(engines, "_state", lambda _: next(states))
    store = engines.SqliteStore(path, wait=1)
    asked = []
    store.reading(asked.append)
    assert len(asked) == 2


def test_what_is_read_without_locks_is_not_the_log(path):
    assert not engines._immutable(path)
    assert engines._state(path.with_name("none")) is None


# The log.


def test_the_log_does_not_grow_under_a_connection_that_stays_open(path, monkeypatch):
    monkeypatch.setattr(engines, "_LONG_LOG", 100_000)
    log, sizes = path.with_name("ledger.db-wal"), []
    with closing(open_records(path)) as idle, closing(open_records(path)) as records:
        assert idle.read()
        for _ in range(60):
            note(records, "x" * 5_000)
            sizes.append(log.stat().st_size)
        assert len(verified(idle.read(), "here")) == 62
    assert max(sizes) < 200_000 < 60 * 5_000
    assert sizes[0] < 100_000 <= sizes[-1]  # it was copied, and begun anew


def test_nothing_is_lost_while_the_log_is_copied_beside_writers_and_readers(path, monkeypatch):
    monkeypatch.setattr(engines, "_LONG_LOG", 1)  # after every write
    fork = multiprocessing.get_context("fork")

    def write():
        with closing(open_records(path)) as records:
            for _ in range(20):
                note(records, "x" * 2_000)

    writers = [fork.Process(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    with closing(open_records(path)) as reader:
        while any(writer.is_alive() for writer in writers):
            verified(reader.read(), "here")
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    with closing(open_records(path)) as records:
        records.check()
        assert len(verified(records.read(), "here")) == 82


def test_a_write_is_durable_though_the_log_cannot_be_copied(path, monkeypatch):
    monkeypatch.setattr(engines, "_LONG_LOG", 1)
    with closing(open_records(path)) as records:
        note(records)

        def failing(path, unlocked):
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(engines, "_connect", failing)
        note(records)
    monkeypatch.undo()
    with closing(open_records(path)) as records:
        assert len(verified(records.read(), "here")) == 4
