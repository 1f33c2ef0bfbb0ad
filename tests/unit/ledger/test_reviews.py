"""Approvals in the ledger: the clock, the policies that follow one another, and forged records."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest import approvals
from policy_engine.attest.approvals import Brought, Matter, ask, judge, review_policy, tally
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import InternalError, NotApproved, PolicyError, UsageError
from policy_engine.ledger import deciding
from policy_engine.ledger.account import Limit
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Charge, Run, reserve_payload
from policy_engine.ledger.records import open_records
from policy_engine.ledger.reviews import (
    claim_of,
    decisions,
    last_of,
    limit_matter,
    policy_matter,
    release_of,
)
from policy_engine.ledger.store import Ledger
from policy_engine.policy.review_models import key_line

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
RUN = Run(**{
    "predicate": {"policy": {"name": "a", "digest": "sha256:b"}, "unit": "row", "query": "SELECT",
                  "claim": {"is": "Claim"}, "time": "2026-01-01T00:00:00Z"},
    "target": "a.parquet", "of": "of", "sealed": {"key": "secret"},
})  # fmt: skip
CHARGE = Charge(
    "people", Decimal("0.5"), Decimal("1e-9"), "add_remove", "a", "sha256:b", "sha256:c",
    request="place", run=RUN,
)  # fmt: skip


def _line(signer):
    return key_line(signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw))


class Book:
    """A ledger with a clock that the test sets, and people who approve."""

    def __init__(self, folder: Path) -> None:
        self.clock = START
        names = ("Ada", "Ben", "Cy", "Ada's other")
        self.keys = {name: KeySigner(Ed25519PrivateKey.generate()) for name in names}
        writer = KeySigner(Ed25519PrivateKey.generate())
        records = open_records(folder / "ledger.db")
        self.ledger = Ledger(records, Trust.of(writer), now=lambda: self.clock)

    def policy(self, serial=1, **changes):
        people = {
            name: {"role": "r", "keys": [_line(self.keys[name])]} for name in ("Ada", "Ben", "Cy")
        }
        people["Ada"]["keys"].append(_line(self.keys["Ada's other"]))
        told = {"version": 1, "account": "people", "serial": serial, "people": people,
                "claim": {"r": 2}, "change": {"r": 2}, "days": 30,
                "expires": "2026-12-31"}  # fmt: skip
        told |= changes
        kept = {name: value for name, value in told.items() if value is not None}
        return review_policy(json.dumps(kept), Path("p.yaml"))

    def require(self, policy, brought=None):
        deciding.require(self.ledger, policy, brought or Brought(), who="Ada", why="a test")

    def brought(self, matter: Matter, *names: str, at=None, by="Cy") -> Brought:
        """A request by one and the approvals of others, under the policy in force."""
        at, digest = at or self.clock, self.ledger.read().approvals.required("people").policy.digest
        entries = self.ledger.read().budget.entries() if matter.stage == "release" else ()
        last = last_of(self.ledger.read().approvals.last(matter, entries[-1].id if entries else 0))
        brought = Brought(ask(matter, digest, self.keys[by], at, last=last))
        lines = (
            judge(matter, digest, brought, self.keys[name], at, verdict="approved", role="r")
            for name in names
        )
        return replace(brought, approvals=tuple(lines))

    def charge(self, *names: str, at=None) -> Charge:
        return replace(CHARGE, brought=self.brought(claim_of(CHARGE), *names, at=at))

    def forge(self, kind, payload, **draft):
        with self.ledger.writing() as page:
            return page.add(kind, payload, **draft)

    def found(self, what):
        """One record is wrong so, the ledger holds, and somebody can settle it."""
        self.ledger.verify()
        [fault] = self.ledger.read().approvals.faults()
        assert what in fault.text and not fault.settled
        return fault

    def refused(self, charge):
        before = self.ledger.read().chain.records
        with pytest.raises(NotApproved):
            self.ledger.reserve(charge)
        assert self.ledger.read().chain.records == before


@pytest.fixture
def book(tmp_path):
    made = Book(tmp_path)
    made.require(made.policy())
    return made


def test_two_approve_and_it_is_charged(book):
    book.refused(CHARGE)
    book.refused(book.charge("Ada"))
    book.refused(book.charge("Ada", "Cy"))  # who has asked
    entry = book.ledger.reserve(book.charge("Ada", "Ben"))
    assert entry.state == "reserved"
    assert len(entry.reviews[0].brought.approvals) == 2
    book.ledger.verify()


def test_one_person_is_one_however_many_keys_and_lines(book):
    book.refused(book.charge("Ada", "Ada"))
    book.refused(book.charge("Ada", "Ada's other"))
    charge = book.charge("Ada")
    twice = replace(charge.brought, approvals=charge.brought.approvals * 2)
    book.refused(replace(charge, brought=twice))
    book.ledger.reserve(book.charge("Ada", "Ada's other", "Ben"))


def test_a_clock_that_goes_forward_ends_approvals_and_one_that_goes_back_renews_none(book):
    charge = book.charge("Ada", "Ben")
    book.clock = START + 31 * DAY
    book.refused(charge)
    deciding.revoke(book.ledger, "0" * 64, who="Ada", why="any record of that day")
    book.clock = START + 5 * DAY
    book.refused(charge)
    book.clock = START - 365 * DAY
    book.refused(charge)
    book.clock = START + 31 * DAY
    book.ledger.reserve(book.charge("Ada", "Ben"))
    book.ledger.verify()


def test_an_approval_counts_on_its_last_day(book):
    charge = book.charge("Ada", "Ben")
    book.clock = START + 30 * DAY
    assert book.ledger.reserve(charge).state == "reserved"
    book.ledger.verify()


def test_a_review_policy_ends_and_its_people_renew_it(book):
    book.clock = datetime(2027, 1, 1, tzinfo=UTC)
    book.refused(book.charge("Ada", "Ben"))
    book.refused(CHARGE)
    deciding.revoke(book.ledger, "0" * 64, who="Ada", why="any record of that day")
    book.clock = START
    book.refused(book.charge("Ada", "Ben"))
    book.clock = datetime(2027, 1, 2, tzinfo=UTC)
    after = book.policy(2, expires="2028-12-31")
    book.require(after, book.brought(policy_matter(after), "Ada", "Ben"))
    book.ledger.reserve(book.charge("Ada", "Ben"))
    book.ledger.verify()


def test_an_approval_is_of_one_charge(book):
    charge = book.charge("Ada", "Ben")
    book.ledger.reserve(charge)
    again = replace(charge, run=replace(RUN, of="another state of the source"), request="elsewhere")
    book.refused(again)


def test_a_charge_that_is_out_already_is_recorded_and_never_committed(book):
    entry = book.ledger.reserve(CHARGE, is_out=True)
    book.ledger.start(entry.id)
    book.ledger.draw(entry.id, "1" * 64)
    with pytest.raises(NotApproved, match="stays charged"):
        book.ledger.commit(entry.id, release_name="a", release_digest="1" * 64)
    book.ledger.keep(entry.id, "a test")
    book.ledger.verify()


def test_a_limit_is_approved(book):
    limit = Limit(Decimal(5), Decimal("0.1"))
    with pytest.raises(NotApproved):
        book.ledger.set_limit("people", limit, who="Ada", why="a test")
    brought = book.brought(limit_matter("people", limit), "Ada", "Ben")
    other = Limit(Decimal(6), Decimal("0.1"))
    with pytest.raises(NotApproved):
        book.ledger.set_limit("people", other, who="Ada", why="a test", brought=brought)
    book.ledger.set_limit("people", limit, who="Ada", why="a test", brought=brought)
    assert book.ledger.read().budget.account("people").limit == limit
    book.ledger.verify()
    with pytest.raises(NotApproved, match="served already"):
        book.ledger.set_limit("people", limit, who="Ada", why="a test", brought=brought)


# Records that whoever has the ledger's key writes past the engine


def test_a_forged_charge_without_approvals_is_found(book):
    account = book.ledger.read().budget.account("people").plus(CHARGE)
    book.forge("reserve", reserve_payload(CHARGE), account=account, request="place")
    book.found("had not the approvals")


def test_a_forged_charge_with_used_approvals_is_found(book):
    charge = book.charge("Ada", "Ben")
    told = book.ledger.reserve(charge).reviews[0]
    account = book.ledger.read().budget.account("people").plus(charge)
    book.forge("reserve", reserve_payload(charge, told), account=account, request="place")
    book.found("had not the approvals")


@pytest.mark.parametrize("fault", ["one line less", "of another claim", "over"])
def test_a_forged_charge_whose_approvals_do_not_count_is_found(book, fault):
    names = ("Ada",) if fault == "one line less" else ("Ada", "Ben")
    charge = book.charge(*names, at=START - 40 * DAY if fault == "over" else None)
    run = replace(RUN, target="b.parquet") if fault == "of another claim" else RUN
    charge = replace(charge, run=run)
    required = book.ledger.read().approvals.required("people")
    told = replace(required.asked("claim"), brought=charge.brought)
    account = book.ledger.read().budget.account("people").plus(charge)
    book.forge("reserve", reserve_payload(charge, told), account=account, request="place")
    book.found("had not the approvals")


def test_a_forged_review_policy_is_found(book):
    lower = book.policy(2, claim=None)
    account = replace(book.ledger.read().budget.account("people"), review=2)
    told = {"document": dict(lower.document), "previous": 1, "who": "x", "why": "x"}
    book.forge("require", told, account=account)
    book.found("it counts for nothing")
    book.refused(CHARGE)
    book.ledger.reserve(book.charge("Ada", "Ben"))
    after = book.policy(2, days=20)
    book.require(after, book.brought(policy_matter(after), "Ada", "Ben"))
    assert book.ledger.read().approvals.required("people").policy.serial == 2
    book.found("it counts for nothing")


@pytest.mark.parametrize("previous", [0, 2, 7])
def test_a_forged_review_policy_that_names_another_before_it_is_found(book, previous):
    lower = book.policy(1, claim=None)
    account = replace(book.ledger.read().budget.account("people"), review=2)
    told = {"document": dict(lower.document), "previous": previous, "who": "x", "why": "x"}
    book.forge("require", told, account=account)
    book.found("it counts for nothing")
    book.refused(CHARGE)


def test_a_forged_limit_is_found(book):
    low, high = (Limit(Decimal(e), Decimal("0.1")) for e in (1, 9))
    for number, limit in enumerate((low, high)):
        account = replace(book.ledger.read().budget.account("people"), limit=limit)
        told = {"epsilon": str(limit.epsilon), "delta": "0.1", "who": "x", "why": "x"}
        book.forge("limit", told, account=account)
        if number == 0:
            assert book.ledger.read().approvals.faults() == ()  # a first one only lowers
    book.found("had not the approvals")


def test_a_forged_start_and_commit_of_what_was_charged_before_are_found(tmp_path):
    book = Book(tmp_path)
    entry = book.ledger.reserve(CHARGE)
    book.require(book.policy())
    with pytest.raises(NotApproved):
        book.ledger.start(entry.id)
    book.forge("start", {}, entry=entry.id)
    book.found("'start' of entry 1")


def test_a_forged_commit_of_a_release_that_waits_is_found(tmp_path):
    book = Book(tmp_path)
    book.require(book.policy(release={"r": 1}))
    entry = book.ledger.reserve(book.charge("Ada", "Ben"))
    book.ledger.start(entry.id)
    with pytest.raises(NotApproved, match="it is paid for, and waits"):
        book.ledger.draw(entry.id, "1" * 64)
    book.ledger.verify()
    entry = book.ledger.read().budget.entry(entry.id)
    brought = book.brought(release_of(entry, "1" * 64), "Ada")
    assert not book.ledger.draw(entry.id, "2" * 64, brought)
    told = {"release_name": "a", "release_digest": "1" * 64}
    book.forge("commit", told, entry=entry.id)
    book.found("'commit' of entry 2")


def test_what_could_not_be_read_again_is_not_recorded(book):
    before = book.ledger.read().chain.records
    after = book.policy(2)
    brought = book.brought(policy_matter(after), "Ada", "Ben")
    for document, error in (({}, PolicyError), (book.policy(3).document, InternalError)):
        with pytest.raises(error):
            book.require(replace(after, document=document), brought)
    assert book.ledger.read().chain.records == before


def test_whose_lost_key_would_end_an_account_is_known(book):
    def alone(**changes):
        return [each.name for each in book.policy(**changes).alone]

    # Who asks approves nothing: of three people two are left to approve, and Ada has another key.
    assert alone() == ["Ben", "Cy"]
    assert alone(four_eyes=False) == []
    assert alone(change={"r": 1}) == []


def test_what_is_wrong_of_an_entry_is_settled_by_who_looked_into_it(tmp_path):
    book = Book(tmp_path)
    entry = book.ledger.reserve(CHARGE)
    book.require(book.policy())
    book.forge("start", {}, entry=entry.id)
    assert book.found("'start' of entry 1").entry == entry.id
    for number in (0, 2, 9):
        with pytest.raises(UsageError, match="nothing is wrong of a record or entry"):
            deciding.settle(book.ledger, number, who="Ada", why="ticket 7")
    with pytest.raises(UsageError, match="say --by and --why"):
        deciding.settle(book.ledger, entry.id, who="", why="ticket 7")
    [settled] = deciding.settle(book.ledger, entry.id, who="Ada", why="ticket 7")
    assert settled.record == 3
    [fault] = book.ledger.read().approvals.faults()
    assert (fault.settled.by, fault.settled.why) == ("Ada", "ticket 7")
    with pytest.raises(UsageError, match="was settled already"):
        deciding.settle(book.ledger, entry.id, who="Ada", why="ticket 7")
    # What is wrong later is told again, and that its secret is an old one.
    book.forge("start", {}, entry=entry.id)
    assert [
        (each.record, bool(each.settled)) for each in book.ledger.read().approvals.faults()
    ] == [
        (3, True),
        (5, False),
        (5, False),
    ]


def after_a_look(ledger, act):
    """Let another writer in just before the next lock: after what was read without it."""
    lock = ledger._records.writing

    def writing():
        ledger._records.writing = lock
        act()
        return lock()

    ledger._records.writing = writing


def other_writer(book, folder):
    return Ledger(open_records(folder / "ledger.db"), book.ledger.trust, lambda: book.clock)


@pytest.mark.parametrize("step", ["start", "approve"])
def test_a_revocation_beside_a_release_stops_it(tmp_path, step):
    book = Book(tmp_path)
    book.require(book.policy())
    entry, brought = book.ledger.reserve(book.charge("Ada", "Ben")), None
    with other_writer(book, tmp_path) as other:
        after_a_look(
            book.ledger,
            lambda: deciding.revoke(other, book.keys["Ben"].key_id, who="Ada", why="stolen"),
        )
        with pytest.raises(NotApproved):
            getattr(book.ledger, step)(entry.id, brought)
    assert book.ledger.read().budget.entry(entry.id).state == "reserved"
    book.ledger.verify()
    assert book.ledger.read().approvals.faults() == ()


def test_a_first_review_policy_beside_a_release_holds_it_back(tmp_path):
    book = Book(tmp_path)
    entry = book.ledger.reserve(CHARGE)
    with other_writer(book, tmp_path) as other:
        first = book.policy()
        act = lambda: deciding.require(other, first, Brought(), who="Ada", why="census")  # noqa: E731
        after_a_look(book.ledger, act)
        with pytest.raises(NotApproved):
            book.ledger.start(entry.id)
    assert book.ledger.read().approvals.faults() == () and book.ledger.verify().records == 2


def test_a_start_on_a_key_that_was_revoked_meanwhile_is_found(book):
    entry = book.ledger.reserve(book.charge("Ada", "Ben"))
    deciding.revoke(book.ledger, book.keys["Ben"].key_id, who="Ada", why="stolen")
    book.forge("start", {}, entry=entry.id)
    book.found("'start' of entry 2")


def test_forged_records_of_entries_that_there_are_not_are_found(book):
    for kind, told in (("approve", {"stage": "claim"}), ("start", {}), ("commit", {})):
        book.forge(kind, told, entry=77)
    book.ledger.verify()
    assert [fault.record for fault in book.ledger.read().approvals.faults()] == [2, 3, 4]
    assert (
        "is a 'start' of entry 77, which there is not"
        in book.ledger.read().approvals.faults()[1].text
    )


def test_a_forged_approval_of_the_release_is_found(tmp_path):
    book = Book(tmp_path)
    book.require(book.policy(release={"r": 1}))
    entry = book.ledger.reserve(book.charge("Ada", "Ben"))
    book.ledger.start(entry.id)
    book.forge("approve", {"stage": "release", "release_digest": "1" * 64}, entry=entry.id)
    book.found("had not the approvals")


def test_a_release_that_waited_is_drawn_and_committed(tmp_path):
    book = Book(tmp_path)
    book.require(book.policy(release={"r": 1}))
    entry = book.ledger.reserve(book.charge("Ada", "Ben"))
    book.ledger.start(entry.id)
    brought = book.brought(release_of(book.ledger.read().budget.entry(entry.id), "1" * 64), "Ada")
    assert book.ledger.draw(entry.id, "1" * 64, brought)
    book.ledger.commit(entry.id, release_name="a", release_digest="1" * 64)
    book.ledger.verify()
    assert [review.stage for review in book.ledger.read().budget.entry(entry.id).reviews] == [
        "claim",
        "release",
    ]


def test_a_key_that_is_revoked_counts_in_no_account_and_no_change(book):
    deciding.revoke(book.ledger, book.keys["Ben"].key_id, who="Ada", why="stolen")
    book.refused(book.charge("Ada", "Ben"))
    after = book.policy(2)
    with pytest.raises(NotApproved):
        book.require(after, book.brought(policy_matter(after), "Ada", "Ben"))
    book.ledger.verify()


def test_without_four_eyes_who_asks_may_approve(tmp_path):
    book = Book(tmp_path)
    book.require(book.policy(four_eyes=False))
    book.ledger.reserve(book.charge("Ada", "Cy"))
    book.ledger.verify()


def test_a_stage_that_needs_nobody_is_met_by_nothing(book):
    policy = book.policy(claim=None)
    assert tally(policy, claim_of(CHARGE), Brought(), START).faults == ()


def test_what_was_set_and_revoked_is_told(book):
    deciding.revoke(book.ledger, book.keys["Ben"].key_id, who="Ada", why="stolen")
    first, second = decisions(book.ledger.read().chain.records, "")
    assert (first.account, first.serial, first.by) == ("people", 1, "Ada")
    assert (second.revoked_key, second.people) == (book.keys["Ben"].key_id, ("Ben",))


def test_a_revoked_key_of_nobody_has_no_name(book):
    deciding.revoke(book.ledger, "f" * 64, who="Ada", why="found in a mail")
    assert decisions(book.ledger.read().chain.records, "")[-1].people == ()


def test_a_request_that_cannot_be_read_counts_for_nobody(book):
    charge = book.charge("Ada", "Ben")
    assert Brought("{").request_sha256 == ""
    book.refused(replace(charge, brought=replace(charge.brought, request="{")))


def test_a_verdict_of_another_version_does_not_count(book, monkeypatch):
    matter = claim_of(CHARGE)
    made = approvals.statement

    def of_version_2(name, sha256, told, kind):
        return made(name, sha256, {**told, "version": 2}, kind)

    brought = book.brought(matter, "Ada")
    monkeypatch.setattr(approvals, "statement", of_version_2)
    digest = book.ledger.read().approvals.required("people").policy.digest
    line = judge(
        matter, digest, brought, book.keys["Ben"], book.clock, verdict="approved", role="r"
    )
    monkeypatch.undo()
    brought = replace(brought, approvals=(*brought.approvals, line))
    found = book.ledger.read().approvals.required("people").faults(matter, brought, book.clock)
    assert found == ("1 more of role r",)
    book.refused(replace(CHARGE, brought=brought))


def test_a_rejection_stops_it_whatever_role_and_time_it_states(book):
    matter, digest = claim_of(CHARGE), book.ledger.read().approvals.required("people").policy.digest
    brought = book.brought(matter, "Ada", "Ben")
    for role, at in (("typo", book.clock), ("r", book.clock + 30 * DAY)):
        line = judge(matter, digest, brought, book.keys["Cy"], at, verdict="rejected", role=role)
        book.refused(
            replace(CHARGE, brought=replace(brought, approvals=(*brought.approvals, line)))
        )
    book.ledger.reserve(replace(CHARGE, brought=brought))
