"""The keyring: what stands in it is what counts, and it is changed whole, one change at a time."""

import base64
import copy
import fcntl
import json
import multiprocessing
import os
import re
import stat
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_engine.attest import ring_text
from policy_engine.attest.attestation import open_envelope, sign, statement
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import TrustedKeys, is_weak, key_id, load_public_key
from policy_engine.attest.ring_text import RingKey, document_of, in_order
from policy_engine.attest.signers import KeySigner
from policy_engine.attest.validity import LedgerEnd, Revoked, Validity
from policy_engine.errors import FileError, UsageError, VerificationFailed

SIGNERS = [KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([n] * 32))) for n in range(3)]
MINE, OTHER, THIRD = SIGNERS
NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
DAY = timedelta(days=1)
LISTED = "'policy-engine keys list' shows them"


def ring_of(*signers):
    ring = Keyring()
    for signer in signers:
        ring = ring.adding(signer.public_key, NOW)
    return ring


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


@pytest.fixture
def document(path):
    """A keyring's file as whoever edits it sees it."""
    change(path, lambda ring: ring.adding(MINE.public_key, NOW, note="laptop"))
    return json.loads(path.read_text())


# What counts


def opened(time, trusted, signer=MINE):
    predicate = {} if time is None else {"time": time}
    envelope = sign(statement("a", "0" * 64, predicate), signer).to_json()
    try:
        open_envelope(envelope, trusted)
    except VerificationFailed as error:
        return str(error)
    return "counts"


def at(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_signature_counts_within_the_dates_of_its_key_only():
    ring = Keyring().adding(MINE.public_key, NOW, expires=NOW + 2 * DAY)
    name = MINE.key_id
    assert opened(at(NOW), ring.trusted()) == opened(at(NOW + 2 * DAY), ring.trusted()) == "counts"
    assert opened(at(NOW - DAY), ring.trusted()) == "counts"  # a release that was made again
    assert opened(at(NOW + 3 * DAY), ring.trusted()) == (
        f"key {name} expired on 2026-11-23T10:00:00Z, and this was signed as of"
        " 2026-11-24T10:00:00Z; ask for a release under a key that had not expired"
    )
    retired = ring.retiring(name, NOW + DAY).trusted()
    assert opened(at(NOW + DAY), retired) == "counts"
    assert opened(at(NOW + 2 * DAY), retired) == (
        f"key {name} was retired on 2026-11-22T10:00:00Z, and this was signed as of"
        " 2026-11-23T10:00:00Z; ask for a release under the key that took its place"
    )
    for time in (at(NOW), at(NOW - DAY), None):
        assert opened(time, ring.revoking(name, NOW + DAY, "stolen").trusted()) == (
            f"key {name} was revoked on 2026-11-22T10:00:00Z (stolen): nothing that it signed"
            " counts; ask for a new release under another key"
        )
    assert opened(at(NOW), ring_of(OTHER).trusted()) == (
        f"no signature by a trusted key: signed by key '{name}', trusted: {OTHER.key_id};"
        " if you know whose key it is, name it with --key or a keyring with --keyring"
    )


@pytest.mark.parametrize("time", [None, "yesterday", "2026-11-21"])
def test_dates_need_a_time_and_a_plain_key_does_not(time):
    assert opened(time, ring_of(MINE).trusted()) == (
        f"key {MINE.key_id} counts between dates, and this states no time; ask for a certificate"
        " that states its time"
    )
    assert opened(time, TrustedKeys.of(MINE.public_key)) == "counts"


def test_a_bad_signature_is_told_before_dates(path):
    envelope = json.loads(sign(statement("a", "0" * 64, {}), MINE).to_json())
    envelope["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    with pytest.raises(VerificationFailed, match=r"^bad signature"):
        open_envelope(json.dumps(envelope), ring_of(MINE).trusted())


def test_the_dates_of_a_ring_hold_for_a_key_that_is_trusted_otherwise_too():
    revoked = ring_of(MINE).revoking(MINE.key_id, NOW, "stolen")
    both = TrustedKeys.of(MINE.public_key, OTHER.public_key).within(revoked.trusted())
    assert "was revoked" in opened(at(NOW), both)
    assert opened(None, both, OTHER) == "counts"
    assert set(both.by_id) == {MINE.key_id, OTHER.key_id}
    assert both.refusal(THIRD.key_id, NOW).kind == "unknown"


def test_a_stranger_is_no_matter_of_the_ring():
    ring = ring_of(MINE)
    assert ring.refusal(OTHER.key_id, NOW) is None
    assert ring.refusal(MINE.key_id, NOW) is None
    assert ring.refusal(MINE.key_id, NOW - DAY) is None


# Changes


def test_keys_stand_in_the_order_in_which_they_were_added():
    ring = ring_of(*SIGNERS).adding(
        Ed25519PrivateKey.generate().public_key(), NOW - DAY, note="older"
    )
    assert ring.entries[0].note == "older"
    assert [e.key_id for e in ring.entries[1:]] == sorted(signer.key_id for signer in SIGNERS)


def test_a_key_is_entered_once():
    with pytest.raises(UsageError) as caught:
        ring_of(MINE).adding(MINE.public_key, NOW)
    assert str(caught.value) == f"keys.json: has key {MINE.key_id} already; {LISTED}"


def test_a_key_that_never_counts_is_refused():
    Keyring().adding(MINE.public_key, NOW, expires=NOW)
    with pytest.raises(UsageError) as caught:
        Keyring().adding(MINE.public_key, NOW, expires=NOW - DAY)
    assert str(caught.value) == (
        "a key that expires on 2026-11-20T10:00:00Z, before it was added on 2026-11-21T10:00:00Z,"
        " signs nothing; name a later day with --expires"
    )


def test_the_first_retirement_stays():
    ring = ring_of(MINE, OTHER).retiring(MINE.key_id, NOW)
    assert ring.get(MINE.key_id).validity.retired == NOW
    assert ring.get(OTHER.key_id).validity.retired is None
    assert ring.retiring(MINE.key_id, NOW + DAY) == ring


def test_the_ledgers_that_a_revoked_key_wrote_to_are_noted_each_once(tmp_path):
    one, other = LedgerEnd("a" * 64, 7, "b" * 64), LedgerEnd("c" * 64, 1, "c" * 64)
    ring = ring_of(MINE).revoking(MINE.key_id, NOW, "stolen", one)
    with pytest.raises(UsageError, match=r"was revoked on .* already"):
        ring.revoking(MINE.key_id, NOW, "again", one)
    ring = ring.revoking(MINE.key_id, NOW.replace(year=2030), "again", other)
    assert ring.entries[0].validity.revoked == Revoked(NOW, "stolen", (one, other))
    path = tmp_path / "keys.json"
    path.write_text(ring.to_json())
    assert Keyring.read(path).entries == ring.entries


_END = "ledgers[0] must be two SHA-256 in hex, first and head, and a number of records"


@pytest.mark.parametrize(
    ("ledgers", "said"),
    [
        ("x", "revoked.ledgers must be a list, found 'x'"),
        ([1], "revoked.ledgers[0] must be an object with exactly first, records, head, found 1"),
        ([{"first": "é", "records": 1, "head": "a" * 64}], _END),
        (
            [{"first": "a" * 64, "records": True, "head": "a" * 64}],
            _END,
        ),
        ([{"first": "a" * 64, "records": 0, "head": "a" * 64}], _END),
    ],
)
def test_what_is_no_end_of_a_ledger_is_refused(tmp_path, ledgers, said):
    document = json.loads(ring_of(MINE).revoking(MINE.key_id, NOW, "stolen").to_json())
    document["keys"][0]["revoked"]["ledgers"] = ledgers
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match=re.escape(said)):
        Keyring.read(path)


def test_a_key_is_revoked_once_and_for_a_reason():
    ring = ring_of(MINE)
    with pytest.raises(UsageError, match=r"^a key is revoked for a reason; say it with --why$"):
        ring.revoking(MINE.key_id, NOW, " ")
    revoked = ring.revoking(MINE.key_id, NOW, "stolen")
    assert revoked.entries[0].validity.revoked == Revoked(NOW, "stolen")
    with pytest.raises(UsageError) as caught:
        revoked.revoking(MINE.key_id, NOW, "again")
    assert str(caught.value) == (
        f"keys.json: key {MINE.key_id} was revoked on 2026-11-21T10:00:00Z already"
    )


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31m", "\udcff"])
def test_a_text_that_the_reader_would_refuse_is_not_written(text):
    with pytest.raises(UsageError, match=r"^--note must be text on one line, found '"):
        Keyring().adding(MINE.public_key, NOW, note=text)
    with pytest.raises(UsageError, match=r"^--why must be text on one line, found '"):
        ring_of(MINE).revoking(MINE.key_id, NOW, text)


def test_a_key_is_found_by_the_first_digits_of_its_id():
    ring = ring_of(*SIGNERS)
    assert ring.find(MINE.key_id[:8]) == ring.find(MINE.key_id) == ring.get(MINE.key_id)
    with pytest.raises(UsageError) as caught:
        ring.find("01234567")
    assert str(caught.value) == f"keys.json: no key 01234567; {LISTED}"
    for name in ("", MINE.key_id[:7], MINE.key_id.upper(), MINE.key_id + "0", "x" * 500):
        with pytest.raises(UsageError) as caught:
            ring.find(name)
        law = "a key id, or its first 8 or more digits"
        assert str(caught.value) == f"KEYID must be {law}, found {name[:80]!a}; {LISTED}"


def test_two_keys_that_begin_alike_need_more_digits(monkeypatch):
    ring = ring_of(MINE, OTHER)
    ids = iter(["12345678ab", "12345678cd"] * 2)
    monkeypatch.setattr(ring_text, "key_id", lambda _: next(ids))
    with pytest.raises(UsageError, match=r"^keys\.json: 2 keys 12345678; "):
        ring.find("12345678")


# The file


def test_the_file_is_for_people_and_says_everything(path):
    def made(ring):
        ring = ring.adding(MINE.public_key, NOW, expires=NOW + DAY, note="der Läptop")
        ring = ring.retiring(MINE.key_id, NOW).revoking(MINE.key_id, NOW, "stolen")
        return ring.adding(OTHER.public_key, NOW + DAY)

    ring = change(path, made)
    public = MINE.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    assert json.loads(path.read_text()) == {
        "version": 1,
        "keys": [
            {
                "key_id": MINE.key_id,
                "public": base64.b64encode(public).decode(),
                "added": "2026-11-21T10:00:00Z",
                "expires": "2026-11-22T10:00:00Z",
                "retired": "2026-11-21T10:00:00Z",
                "revoked": {"at": "2026-11-21T10:00:00Z", "why": "stolen"},
                "note": "der Läptop",
            },
            document_of(ring.entries[1]),
        ],
    }
    assert "der Läptop" in path.read_text()
    assert path.read_text().endswith("\n}\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert Keyring.read(path) == Keyring.at(path) == ring
    assert [entry.public_key for entry in ring.entries] == [MINE.public_key, OTHER.public_key]


DATES = st.datetimes(timezones=st.just(UTC)).map(lambda at: at.replace(microsecond=0))
ENDS = st.none() | DATES
LINES = st.text(max_size=20).filter(str.isprintable)
ENTRIES = st.builds(
    RingKey,
    st.binary(min_size=32, max_size=32).filter(
        lambda public: not is_weak(Ed25519PublicKey.from_public_bytes(public))
    ),
    st.builds(Validity, DATES, ENDS, ENDS, st.none() | st.builds(Revoked, DATES, LINES)),
    LINES,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ENTRIES, max_size=4, unique_by=lambda entry: entry.public))
def test_whatever_stands_in_a_ring_is_read_as_it_was_written(tmp_path_factory, entries):
    path = tmp_path_factory.mktemp("ring") / "keys.json"
    ring = Keyring(in_order(tuple(entries)), str(path))
    path.write_text(ring.to_json())
    assert Keyring.read(path) == ring


def test_an_absent_ring_is_empty_and_cannot_be_named(path):
    assert Keyring.at(path) == Keyring((), str(path))
    with pytest.raises(FileError) as caught:
        Keyring.read(path)
    assert str(caught.value) == f"{path}: cannot read the keyring: No such file or directory"
    with pytest.raises(FileError, match="cannot read the keyring: Is a directory"):
        Keyring.read(path.parent)


MOMENT = "a moment such as 2026-11-21T10:00:00Z"


@pytest.mark.parametrize(
    ("change_", "told"),
    [
        (lambda d: d.update(version=3),
         "version must be 1 or 2, which this engine reads, found 3"),
        (lambda d: d.update(version=True),
         "version must be 1 or 2, which this engine reads, found True"),
        (lambda d: d.update(more=1), "the keyring must be an object with exactly version, keys,"
         " found ['version', 'keys', 'more']"),
        (lambda d: d.update(keys={}), "keys must be a list, found {}"),
        (lambda d: d.update(keys=[7]), "keys[0] must be an object with exactly key_id, public,"
         " added, expires, retired, revoked, note, found 7"),
        (lambda d: d["keys"][0].pop("revoked"), "keys[0] must be an object with exactly key_id,"
         " public, added, expires, retired, revoked, note, found"
         " ['key_id', 'public', 'added', 'expires', 'retired', 'note']"),
        (lambda d: d["keys"][0].update(added=None), f"keys[0].added must be {MOMENT}, found None"),
        (lambda d: d["keys"][0].update(expires="soon"),
         f"keys[0].expires must be {MOMENT}, found 'soon'"),
        (lambda d: d["keys"][0].update(retired=5), f"keys[0].retired must be {MOMENT}, found 5"),
        (lambda d: d["keys"][0].update(revoked="yes"),
         "keys[0].revoked must be an object with exactly at, why, found 'yes'"),
        (lambda d: d["keys"][0].update(revoked={"at": "now", "why": ""}),
         f"keys[0].revoked.at must be {MOMENT}, found 'now'"),
        (lambda d: d["keys"][0].update(revoked={"at": "2026-11-21T10:00:00Z", "why": 1}),
         "keys[0].revoked.why must be text on one line, found 1"),
        (lambda d: d["keys"][0].update(note="a\nb"),
         "keys[0].note must be text on one line, found 'a\\nb'"),
        (lambda d: d["keys"][0].update(key_id="ab" * 32), "keys[0].key_id must be the SHA-256 of"
         f" public, {MINE.key_id}, found '{'ab' * 32}'"),
        (lambda d: d["keys"][0].update(public="x" * 100),
         f"keys[0].public must be the base64 of 32 bytes, found '{'x' * 79}…"),
    ],
)  # fmt: skip
def test_a_ring_of_another_form_is_refused_with_its_place(path, document, change_, told):
    change_(document)
    path.write_text(json.dumps(document))
    with pytest.raises(FileError) as caught:
        Keyring.read(path)
    assert str(caught.value) == f"{path}: {told}"


@pytest.mark.parametrize(
    "public",
    [7, "", "é", "AAAA", "A" * 43, "A" * 42 + "B=", " " + "A" * 43 + "=", "A" * 43 + "=\n"],
)
def test_a_public_key_is_32_bytes_in_plain_base64(path, document, public):
    document["keys"][0]["public"] = public
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match=r"keys\[0\]\.public must be the base64 of 32 bytes"):
        Keyring.read(path)


def test_a_key_stands_once(path, document):
    again = copy.deepcopy(document["keys"][0])
    document["keys"].append(again | {"revoked": {"at": "2026-11-21T10:00:00Z", "why": "x"}})
    path.write_text(json.dumps(document))
    with pytest.raises(FileError) as caught:
        Keyring.read(path)
    assert str(caught.value) == f"{path}: holds a key twice; keep one of the two"


def test_a_name_stands_once(path, document):
    text = path.read_text().replace('"revoked": null', '"revoked": {}, "revoked": null')
    path.write_text(text)
    with pytest.raises(FileError, match="must be a keyring in JSON, found other text"):
        Keyring.read(path)


@pytest.mark.parametrize("content", [b"", b"\xff", b"{", b"[" * 100_000, b"-----BEGIN PUBLIC KEY"])
def test_other_text_is_no_ring(path, content):
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        Keyring.read(path)
    assert str(caught.value) == f"{path}: must be a keyring in JSON, found other text"


def test_a_file_without_end_is_not_read(path, monkeypatch):
    monkeypatch.setattr(ring_text, "LARGEST_RING", 20)
    path.write_bytes(b" " * 21)
    with pytest.raises(FileError) as caught:
        Keyring.read(path)
    assert str(caught.value) == f"{path}: a keyring has at most 20 bytes, found more"


# One change at a time, whole or not at all


def test_a_change_makes_the_folder_and_leaves_no_traces(tmp_path):
    path = tmp_path / "a" / "b" / "keys.json"
    change(path, lambda ring: ring.adding(MINE.public_key, NOW))
    assert sorted(found.name for found in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]
    assert stat.S_IMODE((path.parent / "keys.json.lock").stat().st_mode) == 0o600


def test_what_changes_nothing_writes_nothing(path):
    called = []
    change(path, lambda ring: ring, lambda: called.append(path.exists()))
    assert called == [False]
    change(
        path, lambda ring: ring.adding(MINE.public_key, NOW), lambda: called.append(path.exists())
    )
    assert called == [False, True]


def test_a_ring_that_is_a_link_stays_one(tmp_path, path):
    (tmp_path / "far").mkdir()
    path.symlink_to(tmp_path / "far" / "keys.json")
    change(path, lambda ring: ring.adding(MINE.public_key, NOW))
    assert path.is_symlink()
    assert Keyring.read(tmp_path / "far" / "keys.json").entries


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_change_that_fails_leaves_the_ring_as_it_was(
    path, document, monkeypatch, failing, failure
):
    def fail(*_):
        raise failure

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises((FileError, KeyboardInterrupt)) as caught:
        change(path, lambda ring: ring.adding(OTHER.public_key, NOW))
    if isinstance(failure, OSError):
        assert str(caught.value) == f"{path}: cannot write the keyring: No space left on device"
    assert json.loads(path.read_text()) == document
    assert sorted(found.name for found in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]


def test_a_broken_ring_is_not_written_over(path):
    path.write_text("{}")
    with pytest.raises(FileError, match="must be an object with exactly version, keys"):
        change(path, lambda ring: ring.adding(MINE.public_key, NOW))
    assert path.read_text() == "{}"


def test_whoever_comes_second_waits_and_then_says_so(path):
    with (path.parent / "keys.json.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(FileError) as caught:
            change(path, lambda ring: ring, wait=0.05)
    assert str(caught.value) == (
        f"{path}: another process has been changing the keyring for 0.05 seconds; try again when"
        " it is done"
    )
    change(path, lambda ring: ring, wait=0.05)


def _add_some(path, seed):
    for n in range(5):
        key = Ed25519PrivateKey.from_private_bytes(bytes([seed, n] * 16)).public_key()
        change(path, lambda ring, key=key: ring.adding(key, NOW))


def test_no_change_is_lost_between_processes(path):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add_some, args=(path, seed)) for seed in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(Keyring.read(path).entries) == 20
    assert key_id(MINE.public_key) == MINE.key_id


# Under a key of small order anybody's signature counts.

_Y8 = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
WEAK_KEYS = [
    *(bytes([n]) + bytes(31) for n in (0, 1)),
    *(bytes([n]) + b"\xff" * 30 + b"\x7f" for n in (0xEC, 0xED, 0xEE)),
    bytes.fromhex(_Y8),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
]


@pytest.mark.parametrize("sign", [0, 0x80])
@pytest.mark.parametrize("public", WEAK_KEYS, ids=bytes.hex)
def test_a_key_under_which_anybody_signs_is_refused(tmp_path, public, sign):
    public = public[:31] + bytes([public[31] | sign])
    key = Ed25519PublicKey.from_public_bytes(public)
    with pytest.raises(UsageError, match="found one under which anybody signs anything"):
        Keyring().adding(key, datetime(2026, 1, 1, tzinfo=UTC))
    good = Keyring().adding(SIGNERS[0].public_key, datetime(2026, 1, 1, tzinfo=UTC))
    text = json.loads(good.to_json())
    text["keys"][0] |= {"public": base64.b64encode(public).decode(), "key_id": key_id(key)}
    (tmp_path / "keys.json").write_text(json.dumps(text))
    with pytest.raises(FileError, match="found one under which anybody signs anything"):
        Keyring.read(tmp_path / "keys.json")
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "weak.pub").write_bytes(pem)
    with pytest.raises(FileError, match="found one under which anybody signs anything"):
        load_public_key(tmp_path / "weak.pub")


def test_the_key_of_small_order_does_take_any_signature():
    identity = bytes([1]) + bytes(31)
    Ed25519PublicKey.from_public_bytes(identity).verify(identity + bytes(32), b"anything")
