"""A project's ledger is opened with its keys, its limits and what this machine has seen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from small_project import SmallProject

from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import SIGNING_KEY_VARIABLE, key_id, pem_of
from policy_engine.attest.sealing import generate_sealing_key
from policy_engine.attest.signers import KeySigner, rotate, signer_of
from policy_engine.errors import FileError, LedgerError, NoLedger, PolicyError
from policy_engine.ledger.account import Account, Limit, effective
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger
from policy_engine.releasing import books
from policy_engine.releasing.books import (
    begun_ledger,
    has_ledger,
    limit_of,
    open_ledger,
    sealing_key,
    trust_of,
)

LIMIT = Limit(Decimal(30), Decimal("0.99"))
CHARGE = Charge("people", Decimal(1), Decimal(0), "add_remove", "people", "p", "c")


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path, "accounts: {people: {epsilon: 30, delta: 0.99}}")


def charged(lab, limit=None):
    with lab.writing() as ledger:
        return ledger.reserve(CHARGE, limit)


def refusal(error, act, *arguments):
    with pytest.raises(error) as caught:
        act(*arguments)
    return str(caught.value)


# Limits.


def test_a_limit_is_that_of_the_account_that_pays(lab):
    assert limit_of(lab.policy(), lab.project, "people") == LIMIT
    assert "others" in refusal(PolicyError, limit_of, lab.policy(), lab.project, "others")
    opened = replace(lab.project, accounts_open=True)
    assert limit_of(lab.policy(), opened, "others") is None


def test_an_account_that_is_nearly_one_of_the_project_is_a_mistake(tmp_path):
    lab = SmallProject.at(tmp_path, "accounts: {peopel: {epsilon: 1, delta: 0.1}}")
    assert "peopel" in refusal(PolicyError, limit_of, lab.policy(), lab.project, "people")


# The ledger.


def test_a_ledger_is_made_by_who_writes_and_by_nobody_else(lab):
    assert not has_ledger(lab.project)
    assert "there is no ledger here" in refusal(LedgerError, open_ledger, lab.project)
    assert not has_ledger(lab.project)
    charged(lab)
    assert has_ledger(lab.project)
    with open_ledger(lab.project) as ledger:
        assert ledger.verify().records == 1


def test_whether_a_database_has_a_ledger_only_it_can_say(tmp_path, monkeypatch):
    lab = SmallProject.at(tmp_path, "ledger: postgresql://127.0.0.1:1/name")
    said = refusal(LedgerError, has_ledger, lab.project)
    assert said.startswith("postgresql://127.0.0.1:1/name: the connection to the server failed: ")

    def without(place, *, create):
        raise NoLedger("there is no ledger here")

    monkeypatch.setattr(books, "open_records", without)
    assert not has_ledger(lab.project)
    monkeypatch.setattr(
        books, "open_records", lambda place, *, create: open_records(tmp_path / "ledger.db")
    )
    assert not has_ledger(lab.project)  # it is there, and nothing has begun
    one = Ledger.open(tmp_path / "ledger.db", Trust.of(KeySigner(Ed25519PrivateKey.generate())))
    with one as ledger:
        ledger.reserve(CHARGE)
    assert has_ledger(lab.project)


def test_what_was_written_is_seen_by_this_machine(lab):
    charged(lab)
    old = lab.project.ledger.read_bytes()
    charged(lab)
    lab.project.ledger.write_bytes(old)
    said = refusal(LedgerError, open_ledger, lab.project)
    assert "this machine has seen record 2 of the ledger, and now it has no such record" in said


# Whose records count.


def test_a_project_without_keys_trusts_nobody(lab):
    assert trust_of(lab.project).by_id == {}
    assert not lab.project.signing_key.exists()


def test_a_projects_own_key_counts_in_its_keyring_or_out_of_it(lab):
    charged(lab)
    signer = signer_of(lab.project)
    assert trust_of(lab.project).by_id == {signer.key_id: signer.public_key}
    lab.project.keyring.unlink()
    assert trust_of(lab.project).by_id == {signer.key_id: signer.public_key}
    assert trust_of(lab.project, signer).signer == signer


def test_a_key_of_the_environment_counts_where_it_is_set(lab, monkeypatch):
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, pem_of(key)[0].decode())
    charged(lab)
    assert account_now(lab.project, "people", None).charges == 1
    with open_ledger(lab.project) as ledger:
        assert ledger.verify().records == 1


def test_what_an_old_key_signed_counts_after_a_rotation(lab):
    charged(lab)
    rotate(lab.project, datetime.now(UTC))
    charged(lab)
    with open_ledger(lab.project) as ledger:
        assert ledger.verify().records == 2
        assert len({record.key_id for record in ledger.read().chain.records}) == 2


def test_what_a_stranger_signed_does_not_count(lab):
    charged(lab)
    stranger = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    with open_ledger(lab.project, stranger) as ledger:
        ledger.reserve(CHARGE)
    with open_ledger(lab.project) as ledger:
        assert "record 2: it is signed by the key " in refusal(LedgerError, ledger.verify)


@pytest.mark.parametrize(("after", "counts"), [(60, True), (-60, False)])
def test_of_a_revoked_key_what_it_signed_before_counts(lab, after, counts):
    charged(lab)
    old = signer_of(lab.project).key_id
    at = datetime.now(UTC) + timedelta(seconds=after)
    rotate(lab.project, datetime.now(UTC))
    change(lab.project.keyring, lambda ring: ring.revoking(old, at, "it was lost"))
    assert Keyring.at(lab.project.keyring).find(old).validity.revoked is not None
    with open_ledger(lab.project) as ledger:
        if counts:
            assert ledger.verify().records == 1
        else:
            said = refusal(LedgerError, ledger.verify)
            assert f"record 1: the key {old[:8]} that signed it is revoked" in said


# Accounts.


def test_an_absent_ledger_has_spent_nothing_and_stays_absent(lab):
    assert account_now(lab.project, "people", LIMIT) == Account("people", limit=LIMIT)
    assert not has_ledger(lab.project)


def account_now(project, name, limit):
    with begun_ledger(project) as ledger:
        return effective(
            Account(name) if ledger is None else ledger.read().budget.account(name), limit
        )


def lower(epsilon):
    return Limit(Decimal(epsilon), Decimal("0.99"))


@pytest.mark.parametrize(
    ("project", "counts"),
    [(None, "30"), (lower("20"), "20"), (lower("30"), "30"), (lower("40"), "30")],
)
def test_of_the_projects_limit_and_the_recorded_one_the_lower_counts(lab, project, counts):
    charged(lab, LIMIT)
    account = account_now(lab.project, "people", project)
    assert (account.limit, account.charges) == (lower(counts), 1)


def test_without_a_recorded_limit_the_projects_counts(lab):
    charged(lab)
    assert account_now(lab.project, "people", None).limit is None
    assert account_now(lab.project, "people", LIMIT).limit == LIMIT


# The sealing key.


def key_of(lab):
    with lab.writing() as ledger:
        return sealing_key(lab.project, ledger)


def test_a_sealing_key_is_made_once(lab):
    assert not lab.project.sealing_key.exists()
    names = {key_id(key_of(lab).public_key()) for _ in range(3)}
    assert len(names) == 1
    assert lab.project.sealing_key.exists()


def test_of_two_releases_that_make_the_key_at_once_one_does(lab, monkeypatch):
    def faster(path):
        generate_sealing_key(path)
        return generate_sealing_key(path)

    monkeypatch.setattr(books.sealing, "generate_sealing_key", faster)
    assert key_of(lab)
    assert len([*lab.folder.rglob("sealing*")]) == 2


def test_a_key_that_cannot_be_made_is_told(lab, monkeypatch):
    def fails(path):
        raise FileError("the disk is full")

    monkeypatch.setattr(books.sealing, "generate_sealing_key", fails)
    assert refusal(FileError, key_of, lab) == "the disk is full"


@pytest.mark.parametrize("gone", [("pem",), ("pem", "pub")])
def test_a_lost_sealing_key_is_not_replaced_in_silence(lab, gone):
    lab.release()
    for end in gone:
        lab.project.sealing_key.with_suffix(f".{end}").unlink()
    path = lab.project.sealing_key
    assert refusal(FileError, key_of, lab) == (
        f"{path}: the sealing key is missing, without which no release can be told from a new one."
        " On a second machine 'policy-engine join --sealing FILE' takes a copy of that of the"
        " machine that released; else restore it; if it is lost for good,"
        " 'policy-engine ledger rekey --lost --by NAME --why TEXT' makes a new one, and each"
        " release is then a new one, at a price"
    )
    assert [entry.state for entry in lab.entries] == ["committed"]


# A ledger that is gone.


def test_a_ledger_that_was_seen_here_is_never_opened_fresh(lab):
    charged(lab)
    lab.project.ledger.unlink()
    for act in (open_ledger, lambda project: open_ledger(project, signer_of(project))):
        said = refusal(NoLedger, act, lab.project)
        assert said == (
            f"{lab.project.ledger_name}: the ledger is not here: this machine has seen 1 record of"
            f" it ({lab.project.witness}). In a new clone 'policy-engine join' says all that it"
            " lacks. Where the ledger is kept elsewhere, name that place in 'ledger' of"
            " the project file, a postgresql:// URL for several machines; a file is moved here, for"
            " two copies would forget each other's charges; else restore it from a backup; if it is"
            " lost for good, 'policy-engine ledger begin --anew' begins another one, which knows"
            " nothing of what was spent: 'policy-engine ledger reconcile --from-certificates' then"
            " books what certificates prove; lower the accounts' limits by the rest first"
        )
    assert has_ledger(lab.project)
    assert not lab.project.ledger.exists()


def test_so_is_one_in_a_database(tmp_path, monkeypatch):
    lab = SmallProject.at(tmp_path, "ledger: postgresql://127.0.0.1:1/name")
    lab.project.witness.parent.mkdir()
    lab.project.witness.write_text(f'{{"records": 7, "hash": "{"a" * 64}"}}')

    def without(place, trust, **_):
        raise NoLedger("there is no ledger here")

    monkeypatch.setattr(books.Ledger, "open", without)
    assert "this machine has seen 7 records of it" in refusal(NoLedger, open_ledger, lab.project)


def test_where_the_project_file_states_a_limit_is_told(tmp_path):
    text = "# the limits\naccounts:\n  people: {epsilon: 30, delta: 0.99}\n"
    lab = SmallProject.at(tmp_path, text)
    (tmp_path / "policy-engine.yaml").write_text(text)
    limit = books.stated_limit(lab.project, "people")
    assert (limit, limit.where) == (LIMIT, "policy-engine.yaml:3")
    assert books.stated_limit(lab.project, "others") is None
