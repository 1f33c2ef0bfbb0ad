"""The witness: a ledger that has forgotten a record this machine has seen is refused."""

import json
import multiprocessing
import os
import shutil
import stat
from contextlib import closing

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import Draft, Head, extend, head, verified
from policy_engine.ledger.records import open_records
from policy_engine.ledger.witness import Witness

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def witness(tmp_path):
    return Witness(tmp_path / "ledger.db.head")


def note(path, count=1, text=""):
    """Write records, and return the head."""
    with closing(open_records(path)) as records, records.writing():
        for _ in range(count):
            record = extend(head(records.read()), Draft("note", {"text": text}), SIGNER)
            records.append(record)
        return head((record,))


def check(witness, path):
    with closing(open_records(path)) as records:
        witness.check(witness.seen(), verified(records.read(), records.where), records.where)


def refusal(witness, path):
    with pytest.raises(LedgerError) as caught:
        check(witness, path)
    return str(caught.value)


def test_what_was_never_seen_cannot_be_missed(witness, path):
    note(path)
    assert witness.seen() is None
    check(witness, path)


def test_an_empty_ledger_that_was_seen_may_be_any(witness, path):
    witness.remember(head(()))
    note(path)
    check(witness, path)


def test_what_was_seen_is_remembered_alone_in_its_file(witness, path):
    seen = note(path, 2)
    witness.remember(seen)
    assert witness.seen() == seen
    assert sorted(file.name for file in path.parent.iterdir()) == ["ledger.db", "ledger.db.head"]
    assert json.loads(witness.path.read_text()) == {"records": 2, "hash": seen.hash}


def test_a_ledger_that_has_grown_since_is_the_same(witness, path):
    witness.remember(note(path, 2))
    check(witness, path)
    note(path, 3)
    check(witness, path)


@pytest.mark.parametrize("left", [0, 1])
def test_a_tail_that_was_cut_off_is_found(witness, path, left):
    if left:
        note(path, left)
    else:
        open_records(path).close()
    shutil.copy(path, path.with_name("old.db"))
    witness.remember(note(path, 2))
    shutil.move(path.with_name("old.db"), path)
    assert refusal(witness, path) == (
        f"{path}: this machine has seen record {left + 2} of the ledger, and now it has no such "
        f"record and ends at record {left}: a tail was cut off, or an old copy or another ledger "
        "was put in its place. Nothing is charged on it: restore the newer one; if it is lost for "
        "good, 'policy-engine ledger reconcile --from-certificates' books what certificates prove,"
        " and goes on from here; what none proves is forgotten then"
        f" ({witness.path} has what was seen)"
    )


def test_another_ledger_in_its_place_is_found_however_long(witness, path):
    witness.remember(note(path, 2))
    path.unlink()
    note(path, 5, "another")
    assert (
        "has seen record 2 of the ledger, and now it has another record 2 and ends at record 5"
        in refusal(witness, path)
    )


def test_who_says_that_it_is_lost_goes_on(witness, path):
    witness.remember(Head(9, "a" * 64))
    note(path)
    refusal(witness, path)
    witness.path.unlink()
    check(witness, path)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"7", b"{}", b'{"records": 1}', b'{"records": "x", "hash": ""}', b"\xff"],
)
def test_a_note_that_cannot_be_read_is_no_all_clear(witness, path, content):
    note(path)
    witness.path.write_bytes(content)
    said = refusal(witness, path)
    assert said.startswith(f"{witness.path}: cannot read what was last seen of the ledger: ")
    assert said.endswith(
        "; restore the file, or remove it once 'policy-engine ledger verify' has found the chain"
        " whole and its head is the one that you keep elsewhere"
    )


def test_whether_a_note_can_be_read_is_asked_without_an_error(witness, path):
    assert witness.fault() == ""
    note(path)
    assert witness.fault() == ""
    witness.path.write_text("{}")
    assert "cannot read what was last seen of the ledger" in witness.fault()


HASH = '"' + "a" * 64 + '"'


@pytest.mark.parametrize(
    "content",
    [
        f'{{"records": 1e400, "hash": {HASH}}}',
        f'{{"records": 99999999999999999999, "hash": {HASH}}}',
        f'{{"records": -3, "hash": {HASH}}}',
        f'{{"records": true, "hash": {HASH}}}',
        f'{{"records": 0.5, "hash": {HASH}}}',
        f'{{"records": "1", "hash": {HASH}}}',
        '{"records": 1, "hash": null}',
        '{"records": 1, "hash": "aa"}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:30],
)
def test_a_note_of_no_head_is_no_all_clear(witness, path, content):
    note(path)
    witness.path.write_text(content)
    assert "cannot read what was last seen of the ledger: " in refusal(witness, path)


def test_a_later_note_is_never_replaced_by_an_older_one(witness, path):
    """Two writers: the one that was first to let go of the lock may be last to note."""
    older, newer = note(path, 2), note(path, 3)
    witness.remember(newer)
    witness.remember(older)
    assert witness.seen() == newer


def test_notes_of_many_writers_never_go_back(witness, path):
    heads = [note(path) for _ in range(40)]
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=lambda mine: [*map(witness.remember, mine)], args=(heads[n::4],))
        for n in range(4)
    ]
    for writer in writers:
        writer.start()
    seen = [0]
    while any(writer.is_alive() for writer in writers):
        found = witness.seen()
        seen.append(found.records if found else 0)
    for writer in writers:
        writer.join()
    assert seen == sorted(seen)
    assert witness.seen() == heads[-1]


def test_a_note_is_its_owners_alone_whatever_the_umask(tmp_path):
    witness, before = Witness(tmp_path / "a" / "ledger.head"), os.umask(0)
    try:
        witness.remember(Head(1, "a" * 64))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (witness.path, witness.path.parent)]
    assert modes == [0o600, 0o700]


def test_a_directory_in_its_place_is_told(witness, path):
    note(path)
    witness.path.mkdir()
    assert "cannot read what was last seen of the ledger: " in refusal(witness, path)


def test_what_cannot_be_noted_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "ledger.head", tmp_path / "folder"):
        Witness(path).remember(Head(1, "a" * 64))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_the_folder_of_the_note_is_made(tmp_path):
    witness = Witness(tmp_path / "a" / "b" / "ledger.head")
    witness.remember(Head(1, "a" * 64))
    assert witness.seen() == Head(1, "a" * 64)
