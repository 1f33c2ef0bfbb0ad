"""A release of an account that requires approvals cannot happen without them: the attempts.

Each is tried on the real thing. Refused means: nothing is charged, nothing is recorded, and no
release and no certificate stands that did not stand before.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from reviewed_project import Reviewed, line_of
from small_project import FILE, TABLE, Killed

import policy_engine.ledger.store as store
from policy_engine.attest.approvals import review_policy
from policy_engine.attest.attestation import Envelope
from policy_engine.attest.keyring import change as change_ring
from policy_engine.errors import (
    BudgetExceeded,
    FileError,
    LedgerBroken,
    LedgerError,
    NotApproved,
    PolicyError,
    UsageError,
    VerificationFailed,
)
from policy_engine.ledger import deciding
from policy_engine.ledger.account import Limit
from policy_engine.ledger.entry import Charge, Run
from policy_engine.policy.project import default_project
from policy_engine.releasing.beginning import begin
from policy_engine.releasing.books import open_ledger, rekey
from policy_engine.releasing.release import release
from policy_engine.releasing.reviewing import approvals_file

DAYS = timedelta(days=1)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    return Reviewed.at(tmp_path)


def test_two_people_approve_and_the_release_happens_once(lab):
    done = lab.approved().release()
    assert lab.bundle.parent.stat().st_mode & 0o055 == 0o055  # a release is not confidential
    assert (done.entry, lab.state()[0]) == (2, 1)
    assert lab.small.out.exists()
    again = lab.release()
    assert again.repeated
    assert lab.state()[0] == 1
    with open_ledger(lab.small.project) as ledger:
        assert ledger.verify().records == len(lab.state()[1])
        [told] = ledger.read().budget.entry(done.entry).reviews
    assert dict(told.needs) == {"owner": 1, "privacy": 1}
    assert list(told.brought.approvals) == lab.lines()


def test_what_was_met_stays_in_the_ledger_when_the_file_loses_a_line(lab):
    lab.approved().release()
    kept = lab.lines()
    lab.bundle.unlink()
    with open_ledger(lab.small.project) as ledger:
        assert ledger.read().budget.entries()[0].reviews[0].brought.approvals == tuple(kept)
        ledger.verify()


# What is brought


def nothing(lab):
    pass


def only_a_request(lab):
    lab.ask()


def one_of_two_roles(lab):
    lab.ask()
    lab.approve("Ada")


def the_same_line_twice(lab):
    lab.ask()
    lab.approve("Ada")
    lab.bundle.write_text("\n".join(lab.lines() * 2) + "\n")


def two_people_of_one_role(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Dora")


def two_keys_of_one_person_in_two_roles(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ada's other", role="privacy")


def who_asks_approves(lab):
    lab.approved(asks="Ada")


def who_asks_approves_with_another_key(lab):
    lab.ask("Ada")
    lab.approve("Ada's other", role="owner")
    lab.approve("Ben")


def an_approval_without_a_request(lab):
    lab.approved()
    lab.claim_file.unlink()


def a_request_by_nobody_of_theirs(lab):
    lab.approved()
    document = json.loads(lab.claim_file.read_text())
    document["request"] = _resigned(lab, json.dumps(document["request"]), "Mallory")
    lab.claim_file.write_text(json.dumps(document))


def an_unsigned_statement(lab):
    lab.approved()
    _mend_last(lab, lambda line: line["signatures"][0].update(sig="A" * 86 + "=="))


def no_signature_at_all(lab):
    lab.approved()
    _mend_last(lab, lambda line: line.update(signatures=[]))


def a_strangers_key(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Mallory", role="privacy")


def a_strangers_key_under_the_key_id_of_ben(lab):
    a_strangers_key(lab)
    ben = lab.keys["Ben"].key_id
    _mend_last(lab, lambda line: line["signatures"][0].update(keyid=ben))


def adas_signature_under_the_key_id_of_ben(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ada's other", role="privacy")
    ben = lab.keys["Ben"].key_id
    _mend_last(lab, lambda line: line["signatures"][0].update(keyid=ben))


def a_payload_that_was_changed_after_signing(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ben", verdict="rejected")
    envelope = Envelope.from_json(lab.lines()[-1])
    forged = replace(envelope, payload=envelope.payload.replace(b"rejected", b"approved"))
    lab.bundle.write_text(f"{lab.lines()[0]}\n{forged.to_json()}\n")


def another_role_than_ones_own(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Dora", role="privacy")


def a_role_in_other_letters(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ben", role="Privacy")


def a_verdict_that_is_none(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ben", verdict="approved ")


def somebody_has_rejected(lab):
    lab.approved()
    lab.approve("Dora", verdict="rejected")


def somebody_has_rejected_and_approves_again(lab):
    lab.approved()
    lab.approve("Ben", verdict="rejected")
    lab.approve("Ben")


def a_line_is_lost(lab):
    lab.approved()
    lab.bundle.write_text(lab.lines()[0] + "\n")


def a_line_is_cut(lab):
    lab.approved()
    lab.bundle.write_text(lab.bundle.read_text()[:-20])


def the_lines_are_one(lab):
    lab.approved()
    lab.bundle.write_text("".join(lab.lines()))


def the_file_is_no_text(lab):
    lab.approved()
    lab.bundle.write_bytes(b"\xff\xfe\x00")


def the_request_is_another_text(lab):
    lab.approved()
    lab.claim_file.write_text("[]")


# Time


def an_approval_that_is_over(lab):
    lab.asked_at(datetime.now(UTC) - 20 * DAYS)
    lab.approve("Ada")
    lab.approve("Ben", ago=31 * DAYS)


def an_approval_from_the_future(lab):
    lab.ask()
    lab.approve("Ada")
    lab.approve("Ben", ago=-1 * DAYS)


def a_request_that_is_over(lab):
    lab.asked_at(datetime.now(UTC) - 31 * DAYS)
    lab.approve("Ada")
    lab.approve("Ben")


def a_request_from_the_future(lab):
    lab.asked_at(datetime.now(UTC) + DAYS)
    lab.approve("Ada")
    lab.approve("Ben")


# Keys


def a_key_was_revoked_in_the_ledger(lab):
    lab.approved()
    lab.revoke("Ben")


def a_key_was_revoked_in_the_keyring(lab):
    lab.approved()
    ben, at = lab.keys["Ben"], datetime.now(UTC)
    change_ring(lab.small.project.keyring, lambda ring: ring.adding(ben.public_key, at))
    change_ring(
        lab.small.project.keyring, lambda ring: ring.revoking(ben.key_id, at, "it was stolen")
    )


def the_key_that_asked_was_revoked(lab):
    lab.approved()
    lab.revoke("Cleo")


# The review policy


def the_review_policy_has_changed_since(lab):
    lab.approved()
    lab.change(lab.policy_text(serial=2, days=31), "Ada", "Ben")


def a_review_policy_in_which_their_role_is_another(lab):
    people = json.loads(lab.policy_text())["people"]
    people["Ben"]["role"] = "guest"
    people["Eve"] = {"role": "privacy", "keys": [line_of(lab.keys["Mallory"])]}
    lab.change(lab.policy_text(serial=2, people=people), "Ada", "Ben")
    lab.approved()


BROUGHT = [
    nothing, only_a_request, one_of_two_roles, the_same_line_twice, two_people_of_one_role,
    two_keys_of_one_person_in_two_roles, who_asks_approves, who_asks_approves_with_another_key,
    an_approval_without_a_request, a_request_by_nobody_of_theirs, an_unsigned_statement,
    no_signature_at_all, a_strangers_key, a_strangers_key_under_the_key_id_of_ben,
    adas_signature_under_the_key_id_of_ben, a_payload_that_was_changed_after_signing,
    another_role_than_ones_own, a_role_in_other_letters, a_verdict_that_is_none,
    somebody_has_rejected, somebody_has_rejected_and_approves_again, a_line_is_lost, a_line_is_cut,
    the_lines_are_one, the_file_is_no_text, the_request_is_another_text, an_approval_that_is_over,
    an_approval_from_the_future, a_request_that_is_over, a_request_from_the_future,
    a_key_was_revoked_in_the_ledger, a_key_was_revoked_in_the_keyring,
    the_key_that_asked_was_revoked, the_review_policy_has_changed_since,
    a_review_policy_in_which_their_role_is_another,
]  # fmt: skip
UNREADABLE = {the_file_is_no_text, the_request_is_another_text}


@pytest.mark.parametrize("attempt", BROUGHT, ids=lambda attempt: attempt.__name__)
def test_what_is_brought_is_not_enough(lab, attempt):
    attempt(lab)
    _refused(lab, kind=FileError if attempt in UNREADABLE else NotApproved)


# Another thing than was approved


def another_k(lab):
    return lab.edited()


def another_price(lab):
    return lab.edited("epsilon: 1,", "epsilon: 2,")


def another_delta(lab):
    return lab.edited("delta: 0.99", "delta: 0.98")


def another_recode(lab):
    return lab.edited("[18]", "[17]")


def another_comment_in_its_description(lab):
    return lab.edited("name: people", "name: people\ndescription: another one")


@pytest.mark.parametrize(
    "edit",
    [another_k, another_price, another_delta, another_recode, another_comment_in_its_description],
    ids=lambda edit: edit.__name__,
)
def test_another_policy_than_was_approved(lab, edit):
    lab.approved()
    _refused(lab, edit(lab))


def test_another_place_than_was_approved(lab):
    lab.approved()
    moved = lab.folder / "out" / "b.certificate.claim.review.json"
    shutil.copy(lab.claim_file, moved)
    shutil.copy(lab.bundle, approvals_file(moved))
    _refused(lab, lab.small.policy("{file: out/b.parquet}"))


def test_the_approvals_of_a_file_for_a_table(lab):
    lab.approved()
    moved = lab.folder / "people.certificate.claim.review.json"
    shutil.copy(lab.claim_file, moved)
    shutil.copy(lab.bundle, approvals_file(moved))
    _refused(lab, lab.small.policy(TABLE))


def test_the_approvals_of_another_account(lab):
    other = json.loads(lab.policy_text(account="others"))
    lab.require(json.dumps(other))
    before = lab.policy
    lab.__dict__["policy"] = lab.edited("account: people", "account: others")
    lab.approved()
    _refused(lab, before)


def test_approvals_of_the_account_whose_policy_has_the_same_people(lab):
    lab.require(lab.policy_text(account="others"))
    lab.approved()
    _refused(lab, lab.edited("account: people", "account: others"))


# Once, and once more


def test_an_approval_pays_for_one_draw(lab):
    lab.approved().release()
    _refused(lab, revise=True, replace=True)
    _refused(lab, kind=FileError, revise=True)
    lab.small.write(80)  # the same claim, of other people: it stands, and nothing is drawn
    assert lab.release(replace=True).repeated
    _refused(lab, lab.edited(), replace=True)


def test_a_request_that_has_served_is_not_good_for_another_place(lab):
    lab.approved().release()
    lab.small.out.rename(lab.folder / "taken.parquet")
    _refused(lab, revise=True, replace=True)


def test_a_request_of_its_own_pays_for_a_second_draw(lab):
    lab.approved().release()
    lab.approved(revise=True).release(revise=True, replace=True)
    assert lab.state()[0] == 2


def test_old_approvals_do_not_answer_a_new_request(lab):
    lab.approved().release()
    lab.ask(revise=True)
    _refused(lab, revise=True, replace=True)
    lab.approve("Ada")
    _refused(lab, revise=True, replace=True)


def test_a_request_that_serves_still_is_not_asked_again(lab):
    assert lab.ask()
    lab.approve("Ada")
    assert not lab.ask()
    lab.approve("Ben")
    lab.release()


def test_what_was_given_back_frees_its_request(lab, monkeypatch):
    lab.approved()
    entry = lab.small.killed(monkeypatch, store.Ledger, "start")
    with lab.small.writing() as ledger:
        ledger.cancel(entry.id, "a test")
    assert not lab.release().repeated


# A crash


def test_a_crash_after_the_charge_is_gone_on_with_at_no_cost(lab, monkeypatch):
    lab.approved()
    lab.small.killed(monkeypatch, store.Ledger, "draw")
    assert lab.release().outcome == "released"
    assert lab.state()[0] == 1


@pytest.mark.parametrize("name", ["start", "draw"])
def test_a_key_that_is_revoked_after_a_crash_stops_what_is_paid(lab, monkeypatch, name):
    lab.approved()
    lab.small.killed(monkeypatch, store.Ledger, name)
    lab.revoke("Ben")
    _refused(lab)


def test_a_review_policy_that_changes_after_a_crash_asks_anew_and_charges_nothing(lab, monkeypatch):
    lab.approved()
    lab.small.killed(monkeypatch, store.Ledger, "draw")
    lab.change(lab.policy_text(serial=2, days=5), "Ada", "Ben")
    _refused(lab)
    lab.approved().release()
    assert lab.state()[0] == 1
    _verify(lab)


def test_what_was_charged_before_approvals_were_required_is_held_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lab = Reviewed.at(tmp_path, required=False)
    lab.small.killed(monkeypatch, store.Ledger, "draw")
    lab.reload()
    lab.require(lab.policy_text())
    _refused(lab)
    lab.approved().release()
    assert lab.state()[0] == 1
    _verify(lab)


# What came out


@pytest.fixture
def strict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Reviewed.at(tmp_path, release={"privacy": 1})


@pytest.mark.parametrize("method", ["keyed", "native"])
@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_came_out_waits_and_is_approved_without_a_new_charge(strict, target, method):
    strict.__dict__["policy"] = strict.small.policy(target, method=method)
    place = strict.folder / "out" if target == FILE else strict.folder
    claim = place / "people.certificate.claim.review.json"
    strict.ask()
    strict.approve("Ada", file=claim)
    strict.approve("Ben", file=claim)
    with pytest.raises(NotApproved, match="it is paid for, and waits"):
        strict.release()
    [waiting] = (strict.folder / ".policy-engine/drawn").glob("*/*.parquet")
    assert waiting.stat().st_mode & 0o077 == 0
    content = waiting.read_bytes()
    assert strict.ask()
    file = place / "people.certificate.release.review.json"
    strict.approve("Ben", file=file)
    done = strict.release()
    assert done.outcome == "put back"
    assert not waiting.exists()
    assert strict.state()[0] == 1
    if target == FILE:
        assert strict.small.out.read_bytes() == content
    _verify(strict)


def no_approval_of_it(lab):
    pass


def the_claims_approvals_again(lab):
    lab.release_file.write_text(lab.claim_file.read_text())


def who_asks_for_the_release_approves_it(lab):
    lab.ask("Ben")
    lab.approve("Ben", file=lab.release_file)


def a_role_that_is_not_asked(lab):
    lab.ask()
    lab.approve("Ada", file=lab.release_file)


def a_key_revoked_before_it_is_put_there(lab):
    lab.ask()
    lab.approve("Ben", file=lab.release_file)
    lab.revoke("Ben")


def another_digest(lab):
    """What another account's account had as its release: the digest of other bytes."""
    from policy_engine.ledger.reviews import release_of
    from policy_engine.releasing.asking import Sought
    from policy_engine.releasing.presenting import Standing

    with open_ledger(lab.small.project) as ledger:
        [entry] = ledger.read().budget.entries()
    matter, shown = release_of(entry, "0" * 64), entry.run.predicate
    asked = Sought(matter, lab.release_file, shown, Standing(entry=entry.id))
    lab.ask_for(asked, "Cleo")
    lab.approve("Ben", file=lab.release_file)


def it_was_rejected(lab):
    lab.ask()
    lab.approve("Ben", file=lab.release_file)
    lab.approve("Ben", file=lab.release_file, verdict="rejected")


@pytest.mark.parametrize(
    "attempt",
    [no_approval_of_it, the_claims_approvals_again, who_asks_for_the_release_approves_it,
     a_role_that_is_not_asked, a_key_revoked_before_it_is_put_there, another_digest,
     it_was_rejected],
    ids=lambda attempt: attempt.__name__,
)  # fmt: skip
def test_what_came_out_is_not_put_in_its_place(strict, attempt):
    strict.approved()
    with pytest.raises(NotApproved):
        strict.release()
    attempt(strict)
    _refused(strict)
    for how in ({"replace": True}, {"revise": True}):
        _refused(strict, **how)


def test_reconcile_puts_nothing_in_its_place(strict):
    from policy_engine.releasing.standing import reconcile

    strict.approved()
    with pytest.raises(NotApproved):
        strict.release()
    [settled] = reconcile(strict.small.project)
    assert settled.outcome == "kept"
    assert strict.state()[2] == []
    _refused(strict)


# Switching it off


def test_the_file_of_the_review_policy_switches_nothing_off(lab):
    for path in lab.folder.glob("*review*"):
        path.unlink()
    _refused(lab)


@pytest.mark.parametrize(
    "text", ["{}", "accounts_open: true\n", "accounts: {people: {epsilon: 9, delta: 0.5}}\n"]
)
def test_a_project_file_that_leaves_it_out_switches_nothing_off(lab, text):
    file = lab.folder / "policy-engine.yaml"
    pin = file.read_text().rpartition("ledger_begins")
    file.write_text("" if text == "{}" else text + "".join(pin[1:]))
    if text == "{}":
        file.unlink()
        lab.small.project = default_project(lab.folder)
    lab.reload()
    _refused(lab)


def test_another_clone_has_not_the_ledger(lab, tmp_path_factory, monkeypatch):
    lab.approved()
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(lab.folder, clone, ignore=shutil.ignore_patterns(".policy-engine"),
                    dirs_exist_ok=True)  # fmt: skip
    other = Reviewed(type(lab.small)(clone, lab.small.project), lab.keys)
    other.reload()
    monkeypatch.chdir(clone)
    with pytest.raises(LedgerError, match="the ledger is not here"):
        release(other.small.policy(), other.small.project)
    assert not (clone / "out" / "people.parquet").exists()


def _pin_review(lab):
    with open_ledger(lab.small.project) as ledger:
        digest = ledger.read().approvals.required("people").policy.digest
    file = lab.folder / "policy-engine.yaml"
    file.write_text(file.read_text() + f"reviews: {{people: '{digest}'}}\n")
    lab.reload()


def test_a_ledger_from_before_serves_no_project_that_names_the_review_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lab = Reviewed.at(tmp_path, required=False)
    with lab.small.writing() as ledger:
        ledger.begin(anew=False)
    lab.reload()
    kept = lab.small.project.ledger.read_bytes()
    lab.require(lab.policy_text())
    _pin_review(lab)
    lab.small.project.ledger.write_bytes(kept)
    lab.small.project.witness.unlink()
    _refused(lab)


def test_a_ledger_that_is_begun_anew_serves_neither(lab):
    _pin_review(lab)
    lab.small.project.ledger.unlink()
    begin(lab.small.project, anew=True, say=lambda text: None)
    lab.reload()
    _refused(lab)
    lab.require(lab.policy_text())
    _refused(lab)
    lab.approved().release()


def serial_1_again(lab):
    lab.require(lab.policy_text(claim=None))


def the_next_one_approved_by_nobody(lab):
    lab.require(lab.policy_text(serial=2, claim=None))


def the_next_one_approved_by_one(lab):
    lab.change(lab.policy_text(serial=2, claim=None), "Ada")


def the_next_one_approved_by_who_asks(lab):
    lab.change(lab.policy_text(serial=2, claim=None), "Ada", "Ben", asks="Ada")


def the_next_but_one(lab):
    lab.change(lab.policy_text(serial=3, claim=None), "Ada", "Ben")


def the_next_one_approved_by_its_own_people(lab):
    people = {
        name: {"role": role, "keys": [line_of(lab.keys["Mallory" if role == "owner" else "Cleo"])]}
        for name, role in (("Mallory", "owner"), ("Cleo", "privacy"))
    }
    text = lab.policy_text(serial=2, people=people, claim=None)
    lab.ask_for(_asked(lab, text), "Cleo")
    lab.approve("Mallory", file=lab.change_file, role="owner")
    lab.approve("Cleo", file=lab.change_file, role="privacy")
    lab.require(text)


def another_next_one_than_was_approved(lab):
    lab.ask_for(_asked(lab, lab.policy_text(serial=2, days=5)), "Cleo")
    lab.approve("Ada", file=lab.change_file)
    lab.approve("Ben", file=lab.change_file)
    lab.require(lab.policy_text(serial=2, claim=None))


def one_that_is_over(lab):
    lab.change(lab.policy_text(serial=2, claim=None, expires="2020-01-01"), "Ada", "Ben")


def the_claims_approvals_for_a_change(lab):
    lab.approved()
    shutil.copy(lab.claim_file, lab.change_file)
    shutil.copy(lab.bundle, approvals_file(lab.change_file))
    lab.require(lab.policy_text(serial=2, claim=None))


@pytest.mark.parametrize(
    "attempt",
    [serial_1_again, the_next_one_approved_by_nobody, the_next_one_approved_by_one,
     the_next_one_approved_by_who_asks, the_next_but_one, the_next_one_approved_by_its_own_people,
     another_next_one_than_was_approved, one_that_is_over, the_claims_approvals_for_a_change],
    ids=lambda attempt: attempt.__name__,
)  # fmt: skip
def test_the_review_policy_is_lowered_by_its_own_people_alone(lab, attempt):
    before = lab.state()
    with pytest.raises(NotApproved):
        attempt(lab)
    assert lab.state() == before
    lab.bundle.unlink(missing_ok=True)
    _refused(lab)


def test_its_people_lower_it(lab):
    lab.change(lab.policy_text(serial=2, claim=None), "Ada", "Ben")
    lab.release()
    _verify(lab)


def test_a_request_of_a_change_serves_once(lab):
    text = lab.policy_text(serial=2, days=5)
    lab.change(text, "Ada", "Ben")
    lab.change_file.rename(lab.folder / "kept")
    with pytest.raises(NotApproved):
        lab.require(text)


@pytest.mark.parametrize(
    ("changes", "law"),
    [
        ({"claim": {"owner": 3}}, "asks for 3 of role 'owner', found 2"),
        ({"claim": {"wizard": 1}}, "asks for 1 of role 'wizard', found 0"),
        ({"claim": {"owner": 0}}, "must be at least 1"),
        ({"change": None}, "change is missing"),
        ({"days": 0}, "must be at least 1"),
        ({"four_eyes": "no"}, "must be true or false"),
    ],
)
def test_a_review_policy_that_cannot_be_met_is_refused(lab, changes, law):
    with pytest.raises(PolicyError, match=law):
        lab.parsed(lab.policy_text(**changes))


def test_a_key_is_one_persons(lab):
    people = json.loads(lab.policy_text())["people"]
    people["Dora"]["keys"] = people["Ada"]["keys"]
    with pytest.raises(PolicyError, match="has a key that Ada has too"):
        lab.parsed(lab.policy_text(people=people))


def test_a_key_is_one_persons_however_its_base64_is_spelt(lab):
    people = json.loads(lab.policy_text())["people"]
    line = people["Ada"]["keys"][0]
    # The last digit before "=" has two bits that say nothing.
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = line[:-2] + digits[digits.index(line[-2]) ^ 1] + "="
    people["Dora"]["keys"] = [other]
    with pytest.raises(PolicyError, match="has a key that Ada has too"):
        lab.parsed(lab.policy_text(people=people))
    people["Dora"]["keys"] = ["no key at all"]
    with pytest.raises(PolicyError, match="must be the line between BEGIN and END"):
        lab.parsed(lab.policy_text(people=people))


def test_a_key_under_which_anybody_signs_is_refused(lab):
    people = json.loads(lab.policy_text())["people"]
    people["Dora"]["keys"] = ["MCowBQYDK2VwAyEA" + "A" * 43 + "="]
    with pytest.raises(PolicyError, match="under which anybody signs"):
        lab.parsed(lab.policy_text(people=people))


# Another account, another way


def test_its_source_goes_to_no_other_account(lab):
    done = lab.approved().release()
    other = lab.edited("account: people", "account: others", "{file: out/b.parquet}")
    _refused(lab, other, BudgetExceeded)
    with lab.small.writing() as ledger, pytest.raises(NotApproved, match="requires approvals"):
        deciding.move(ledger, done.entry, "others", who="Ada", why="a test")
    _refused(lab, other, BudgetExceeded)


def test_a_lost_sealing_key_forgets_no_source(lab):
    lab.approved().release()
    with pytest.raises(NotApproved, match="without its sealing key"):
        rekey(lab.small.project, None, who="Ada", why="lost")
    lab.small.project.sealing_key.unlink()
    with pytest.raises(NotApproved):
        rekey(lab.small.project, None, who="Ada", why="lost")
    assert not lab.small.project.sealing_key.exists()
    other = lab.edited("account: people", "account: others", "{file: out/b.parquet}")
    _refused(lab, other, FileError)


def test_the_ledger_itself_charges_nothing(lab):
    charge = Charge("people", Decimal(1), Decimal("0.5"), "add_remove", "a", "b", "c")
    before = lab.state()
    with lab.small.writing() as ledger:
        for run in (Run(), Run(target="x", predicate={"policy": {}})):
            with pytest.raises(NotApproved, match="nothing is known of the claim"):
                ledger.reserve(replace(charge, run=run))
    assert lab.state() == before


def test_a_limit_is_set_by_its_people(lab):
    limit, before = Limit(Decimal(5), Decimal("0.5")), lab.state()
    with lab.small.writing() as ledger, pytest.raises(NotApproved):
        ledger.set_limit("people", limit, who="Ada", why="a test")
    assert lab.state() == before


# The thief of the key that signs the ledger


def _forge(lab, kind, payload, **draft):
    with lab.small.writing() as ledger, ledger.writing() as page:
        page.add(kind, payload, **draft)


def test_a_record_that_lowers_it_is_seen_whoever_signed_it(lab):
    lower = lab.parsed(lab.policy_text(serial=2, claim=None))
    with open_ledger(lab.small.project) as ledger:
        account = ledger.read().budget.account("people")
    told = {"document": dict(lower.document), "previous": 1, "who": "x", "why": "x"}
    _forge(lab, "require", told, account=replace(account, review=2))
    with pytest.raises(NotApproved):
        lab.release()
    with open_ledger(lab.small.project) as ledger:
        ledger.verify()
        assert "it counts for nothing" in ledger.read().approvals.faults()[0].text
    assert lab.state()[2] == []
    lab.approved().release()


def test_a_state_that_forgets_it_is_seen(lab):
    with open_ledger(lab.small.project) as ledger:
        account = ledger.read().budget.account("people")
    limit = {"epsilon": "9", "delta": "0.5", "who": "x", "why": "x"}
    forgotten = replace(account, review=0, limit=Limit(Decimal(9), Decimal("0.5")))
    _forge(lab, "limit", limit, account=forgotten)
    with open_ledger(lab.small.project) as ledger, pytest.raises(LedgerBroken):
        ledger.verify()


def test_the_shown_is_what_the_request_names(lab):
    lab.ask()
    document = json.loads(lab.claim_file.read_text())
    document["shown"]["k"] = 1000
    lab.claim_file.write_text(json.dumps(document))
    with pytest.raises(VerificationFailed, match="not what the request names"):
        lab.approve("Ada")


def test_who_is_nobody_asks_for_nothing(lab):
    with pytest.raises(UsageError, match="nobody's"):
        lab.ask("Mallory")


def test_the_document_that_is_recorded_reads_as_it_was(lab):
    policy = lab.parsed(lab.policy_text())
    assert review_policy(json.dumps(dict(policy.document)), Path("here")).digest == policy.digest


def test_orders_and_other_lines_change_nothing(lab):
    lab.approved()
    lines = lab.lines()
    lab.bundle.write_text("\n\n".join(["{}", lines[1], "no JSON", lines[0], lines[1]]))
    assert not lab.release().repeated


def _asked(lab, text):
    from policy_engine.ledger.reviews import policy_matter
    from policy_engine.releasing.asking import Sought

    policy = lab.parsed(text)
    return Sought(policy_matter(policy), lab.change_file, policy.document)


def _refused(lab, policy=None, kind=NotApproved, **how):
    before = lab.state()
    with pytest.raises(kind):
        lab.release(policy, **how)
    assert lab.state() == before


def _verify(lab):
    with open_ledger(lab.small.project) as ledger:
        ledger.verify()


def _mend_last(lab, mend):
    *before, last = lab.lines()
    line = json.loads(last)
    mend(line)
    lab.bundle.write_text("\n".join([*before, json.dumps(line)]) + "\n")


def _resigned(lab, envelope, name):
    from policy_engine.attest.attestation import sign

    payload = Envelope.from_json(envelope).payload
    return json.loads(sign(payload, lab.keys[name]).to_json())


def test_a_kill_is_no_way(lab, monkeypatch):
    with pytest.raises((NotApproved, Killed)):
        lab.small.killed(monkeypatch, store.Ledger, "draw")
    assert lab.state()[0] == 0
