"""Rows that a role wrote that may insert and has no key: told apart, and no true one with them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from test_reviews import Book
from test_store import DONE, OURS, THEIRS, TRUST, charge, limit, refusal, states

from policy_engine.attest.approvals import Brought, ask, judge
from policy_engine.attest.ring_text import Owners
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError, NotApproved, UsageError
from policy_engine.ledger import deciding
from policy_engine.ledger.chain import (
    Draft,
    Record,
    Trust,
    digest_of,
    disowned_in,
    extend,
    head,
)
from policy_engine.ledger.records import open_records
from policy_engine.ledger.reviews import last_of
from policy_engine.ledger.states import disownings_of
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.witness import Witness

STRANGER = Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
SAID = {"who": "Ada", "why": "ticket 7"}


def insert(path, make=None, **fields):
    """What a role writes without a key: the next row, as the store's triggers let it."""
    with closing(open_records(path)) as records:
        last = head(records.read())
        row = Record(last.records + 1, "reserve", "census", 0, "place", "{", last.hash, "f" * 64,
                     OURS.key_id, "AAAA")  # fmt: skip
        row = replace(make(last) if make else row, **fields)
        with records.writing():
            records.append(row)
    return row


def by_a_stranger(kind="limit", **payload):
    return lambda last: extend(last, Draft(kind, payload, "census"), KeySigner(STRANGER))


ROWS = {
    "garbage": None,
    "a record of a stranger's key": by_a_stranger(),
    "a record that disowns true ones": by_a_stranger("disown", disowned={"1": "a" * 64}),
    "a record in our name": lambda last: replace(by_a_stranger()(last), key_id=OURS.key_id),
}


@pytest.fixture
def path(tmp_path):
    """A ledger of four records, of which the last entry is committed."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path, TRUST) as ledger:
        entry = ledger.start(ledger.reserve(charge(request="place", of="x"), limit()).id)
        ledger.commit(entry.id, **DONE)
    return path


def opened(path, trust=TRUST, **options):
    return Ledger(open_records(path), trust, **options)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_strangers_row_stops_the_ledger_until_it_is_disowned(path, row):
    insert(path, row)
    insert(path)
    with opened(path) as ledger:
        for act in (
            ledger.verify,
            lambda: ledger.read().check(),
            lambda: ledger.reserve(charge()),
        ):
            assert "ledger disown" in refusal(LedgerError, act)
        assert deciding.disown(ledger, 5, **SAID) == (5, 6)
    with opened(path) as ledger:
        assert ledger.verify().records == 7
        assert states(ledger) == ["committed"]
        assert ledger.read().budget.balance("census").charges == 1
        assert (
            ledger.read().budget.last_at("place").id == 2
            and ledger.read().budget.last_at("place", "x").id == 2
        )
        assert [entry.id for entry in ledger.read().budget.at("place")] == [2]
        assert "no entry 5" in refusal(UsageError, ledger.read().budget.entry, 5)
        ledger.start(ledger.reserve(charge()).id)
        [told] = disownings_of(ledger.read().chain.records, "")
        assert (told.record, told.rows) == (7, (5, 6))
        assert (told.by, told.why) == ("Ada", "ticket 7")
        assert [change.record for change in ledger.read().budget.changes()] == [1]
    with opened(path) as ledger:
        assert ledger.verify().records == 9


def test_rows_are_disowned_time_and_again(path):
    for first in (5, 7, 9):
        insert(path)
        with opened(path) as ledger:
            assert deciding.disown(ledger, first, **SAID) == (first,)
    with opened(path) as ledger:
        assert ledger.verify().records == 10
        assert [told.rows for told in disownings_of(ledger.read().chain.records, "")] == [
            (5,),
            (7,),
            (9,),
        ]


def test_what_a_key_of_ours_has_signed_is_never_disowned(path):
    keys = {each.key_id: each.public_key for each in (OURS, THEIRS)}
    with opened(path, Trust(keys, THEIRS)) as ledger:
        ledger.reserve(charge())
    insert(path)
    with opened(path, Trust(keys, OURS)) as ledger:
        for first in (2, 4, 5):
            said = refusal(UsageError, deciding.disown, ledger, first, **SAID)
            assert "which counts: it is no stranger's" in said
        assert deciding.disown(ledger, 6, **SAID) == (6,)


def test_whoever_knows_the_key_finds_a_true_charge_that_was_disowned(path):
    keys = {each.key_id: each.public_key for each in (OURS, THEIRS)}
    with opened(path, Trust(keys, THEIRS)) as ledger:
        ledger.reserve(charge())
    with opened(path) as ledger:  # by a machine that does not know it
        deciding.disown(ledger, 5, **SAID)
        assert ledger.verify().records == 6
    with opened(path, Trust(keys, OURS)) as ledger:
        said = refusal(LedgerError, ledger.verify)
    assert (
        f"record 5: it was disowned, and the key {THEIRS.key_id[:8]} that signed it counts" in said
    )


def test_what_this_machine_has_seen_is_never_disowned(path, tmp_path):
    witness = Witness(tmp_path / "head")
    with opened(path, witness=witness) as ledger:
        ledger.reserve(charge())
    spoil = "update records set payload = '{}' where seq = 5"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"drop trigger records_are_never_changed; {spoil}")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "create trigger records_are_never_changed before update on records"
            " begin select raise(abort, 'the ledger is append-only'); end"
        )
    with opened(path) as ledger:
        said = refusal(UsageError, deciding.disown, ledger, 5, **SAID, seen=witness.seen())
        assert "has seen record 5 of the ledger when it held" in said


@pytest.mark.parametrize("first", [-1, 0, 6, 2**70])
def test_there_must_be_such_rows(path, first):
    insert(path)
    with opened(path) as ledger:
        assert f"there is no record {first} in" in refusal(
            UsageError, deciding.disown, ledger, first, **SAID
        )


@pytest.mark.parametrize(("who", "why"), [(" ", "x"), ("Ada", ""), ("a\nb", "x")])
def test_it_is_said_who_and_why(path, who, why):
    insert(path)
    with opened(path) as ledger:
        refusal(UsageError, deciding.disown, ledger, 5, who=who, why=why)


def past_the_triggers(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        kept = connection.execute(
            "select name, sql from sqlite_schema where type = 'trigger'"
        ).fetchall()
        for statement in (*(f"drop trigger {name}" for name, _ in kept), *statements,
                          *(made for _, made in kept)):  # fmt: skip
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("update records set payload = '{}' where seq = 5", "changed since it was disowned"),
        ("update records set signature = 'x' where seq = 5", "changed since it was disowned"),
        ("update records set signature = 'x' where seq = 4", "its signature is not that of"),
        ("update records set previous_hash = 'x' where seq = 5", "does not follow the record"),
        ("update records set hash = 'x' where seq = 5", "changed since it was disowned"),
        ("delete from records where seq = 5", "record 5 is missing"),
    ],
)
def test_neither_a_foreign_row_nor_one_before_it_is_changed(path, statement, said):
    insert(path)
    with opened(path) as ledger:
        deciding.disown(ledger, 5, **SAID)
    past_the_triggers(path, statement)
    with opened(path) as ledger:
        assert said in refusal(LedgerError, ledger.verify)


def forged(path, disowned, kind="limit"):
    """A record of ours that says other rows are disowned than those before it."""
    with closing(open_records(path)) as records:
        last = records.read()[-1]
        told = {**json.loads(last.payload), "disowned": disowned, "by": "Eve", "why": "x"}
        draft = Draft(kind, told, "census" if kind == "limit" else "")
        with records.writing():
            records.append(extend(head((last,)), draft, OURS))


@pytest.mark.parametrize("kind", ["limit", "disown"])
def test_a_true_record_is_not_disowned_by_a_later_one_either(path, kind):
    with closing(open_records(path)) as records:
        charged = records.get(2)
    forged(path, {"2": digest_of(charged)}, kind)
    with opened(path) as ledger:
        said = refusal(LedgerError, ledger.verify)
    told = {
        "limit": "record 5: it does not name the rows that were disowned",
        "disown": "record 2: it was disowned, and the key",
    }
    assert told[kind] in said


def test_a_row_is_not_owned_again(path):
    insert(path)
    with opened(path) as ledger:
        deciding.disown(ledger, 5, **SAID)
    forged(path, {}, "disown")
    with opened(path) as ledger:
        said = refusal(LedgerError, ledger.verify)
    assert "record 5: its content was changed" in said


def test_the_first_record_is_never_left_out(tmp_path, path):
    empty = tmp_path / "new.db"
    open_records(empty).close()
    insert(empty)
    for each, trust in ((empty, TRUST), (path, Trust.of(THEIRS))):
        before = open_records(each).read()
        with opened(each, trust) as ledger:
            said = refusal(UsageError, deciding.disown, ledger, 1, **SAID)
            assert "is never left out: 'policy-engine join' says what this machine lacks" in said
        assert open_records(each).read() == before


def test_nothing_is_left_out_by_whoever_does_not_know_the_keys_before(path):
    insert(path)
    with opened(path, Trust.of(THEIRS)) as ledger:
        said = refusal(LedgerError, deciding.disown, ledger, 5, **SAID)
    assert "a stranger's; on a new machine or in a new clone run 'policy-engine join'" in said


def test_records_that_hold_together_are_somebodys_and_no_stray_row(path):
    keys = {each.key_id: each.public_key for each in (OURS, THEIRS)}
    with opened(path, Trust(keys, THEIRS)) as ledger:  # a colleague, whose key is not known here
        ledger.start(ledger.reserve(charge()).id)
    with opened(path) as ledger:
        for first in (5, 6):
            refusal((LedgerError, UsageError), deciding.disown, ledger, first, **SAID)
        said = refusal(UsageError, deciding.disown, ledger, 5, **SAID)
        assert "records 5 and 6 hold together as records do that a key has signed" in said
        assert "'policy-engine join'" in said
    # Nor where they take turns, or where a row of nobody stands between.
    for make in (by_a_stranger(), None):
        insert(path, make)
    with opened(path) as ledger:
        refusal(UsageError, deciding.disown, ledger, 5, **SAID)


def test_of_a_key_that_was_revoked_any_number_of_rows_is_left_out(path):
    for _ in range(3):
        insert(path, by_a_stranger())
    stranger = KeySigner(STRANGER)
    keys = {each.key_id: each.public_key for each in (OURS, stranger)}
    revoked = {stranger.key_id: datetime(2020, 1, 1, tzinfo=UTC)}
    with opened(path, Trust(keys, OURS, revoked)) as ledger:
        assert deciding.disown(ledger, 5, **SAID) == (5, 6, 7)
        ledger.verify()


def _owner(number):
    return KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


def _raw(signer):
    return signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def test_the_owners_of_the_keyring_leave_out_a_row(path):
    insert(path)
    one, two, other = map(_owner, (21, 22, 23))
    owners = Owners((_raw(one), _raw(two)), 2)
    with opened(path) as ledger:
        for signers in ((), (one,), (one, one), (one, other), (OURS, other)):
            said = refusal(
                NotApproved, deciding.disown, ledger, 5, **SAID, owners=owners, signers=signers
            )
            assert "2 of them leave out rows, found" in said and "--owner" in said
        assert deciding.disown(ledger, 5, **SAID, owners=owners, signers=(one, two)) == (5,)
        told = json.loads(ledger.read().chain.records[-1].payload)
        assert set(told["owners"]) == {one.key_id, two.key_id}
        ledger.verify()


def test_what_was_given_to_read_ends_where_the_body_ends(path):
    insert(path)
    with opened(path) as ledger:
        before = ledger.read_before(5)
        assert before.budget.names() == ("census",) and before.sources.namer() is None
        refusal(LedgerError, lambda: ledger.read().check())


def test_the_people_of_a_review_policy_leave_out_a_row(tmp_path):
    book = Book(tmp_path)
    book.require(book.policy())
    path = tmp_path / "ledger.db"
    insert(path)
    rows = deciding.rows_from(book.ledger, 2)
    before = book.ledger.read_before(2)
    [(account, (required, matter))] = deciding.leaving_out(before, rows).items()
    last = last_of(before.approvals.last(matter))
    asked = Brought(ask(matter, required.policy.digest, book.keys["Cy"], book.clock, last=last))
    told = refusal(NotApproved, deciding.disown, book.ledger, 2, **SAID)
    assert f"approvals of leaving out of the ledger: row {min(rows)}" in told
    refusal(NotApproved, deciding.disown, book.ledger, 2, **SAID, brought=lambda name: asked)
    lines = tuple(
        judge(matter, required.policy.digest, asked, book.keys[name], book.clock,
              verdict="approved", role="r")
        for name in ("Ada", "Ben")
    )  # fmt: skip
    met = replace(asked, approvals=lines)
    assert deciding.disown(book.ledger, 2, **SAID, brought=lambda name: met) == (2,)
    told = json.loads(book.ledger.read().chain.records[-1].payload)
    assert account == "people" and set(told["approvals"]) == {"people"}
    assert book.ledger.read().approvals.required("people").policy.serial == 1
    book.ledger.verify()
    # One request serves once.
    insert(path)
    refusal(NotApproved, deciding.disown, book.ledger, 4, **SAID, brought=lambda name: met)


@pytest.mark.parametrize("payload", ["[]", "{", '{"disowned": 7}'])
def test_a_payload_that_is_none_disowns_nothing(path, payload):
    assert disowned_in(insert(path, payload=payload)) == {}
