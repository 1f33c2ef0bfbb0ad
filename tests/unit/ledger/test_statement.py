"""What leaves the ledger: prices, dates and certificates; nothing of the data, nothing secret."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.ledger.account import Account, Limit, balance_of
from policy_engine.ledger.chain import GENESIS, Head
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.records import open_records
from policy_engine.ledger.statement import public_statement
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.trust import Trust

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
RUN = {
    "of": "STATE",
    "target": "SECRET-PLACE/out.parquet",
    "sealed": {"KEY": "SEALED"},
    "mark": "MARK",
    "predicate": {"sql": "TEXT", "schema": "COLUMNS"},
}
LIMIT = Limit(Decimal("10"), Decimal("1e-6"))


@pytest.fixture
def ledger(tmp_path):
    """Four entries, 2 to 5, each in its way, at times of their own."""
    times = iter(datetime(2026, 1, 2, 3, 4, second, 567, UTC) for second in range(60))
    trust = Trust.of(SIGNER)
    with Ledger(open_records(tmp_path / "ledger.db"), trust, lambda: next(times)) as found:
        for place in ("one", "two", "three", "four"):
            asked = Charge(
                "census", Decimal("0.50"), Decimal("1e-9"), "add_remove", "adult", "pd", "cd",
                request=f"PLACE-{place}", run={**RUN, "of": f"STATE-{place}"},
            )  # fmt: skip
            found.reserve(asked, LIMIT)
        found.start(3)
        found.commit(3, release_name="SECRET-PLACE/out.parquet", release_digest="d" * 64)
        found.cancel(4, "WHY")
        found.start(5)
        found.keep(5, "WHY")
        yield found


def statement(ledger):
    balances = [ledger.balance(name) for name in ledger.names()]
    return public_statement(balances, ledger.entries(), ledger.verify())


def test_it_says_of_each_account_what_was_spent(ledger):
    [account] = statement(ledger)["accounts"]
    assert {
        name: account[name] for name in ("account", "neighbours", "charges", "limit", "basic")
    } == {
        "account": "census",
        "neighbours": "add_remove",
        "charges": 3,
        "limit": {"epsilon": "10", "delta": "0.000001"},
        "basic": {"epsilon": "1.50", "delta": "3E-9"},
    }
    price = ledger.balance("census").price
    tight = [
        None if each is None else str(each) for each in (price.tight_epsilon, price.tight_delta)
    ]
    assert [account["tight_epsilon"], account["tight_delta"]] == tight


def test_an_account_without_limit_and_charges_has_none():
    [account] = public_statement([balance_of(Account("census"))], [], Head(0, GENESIS))["accounts"]
    assert account == {
        "account": "census",
        "neighbours": None,
        "charges": 0,
        "limit": None,
        "basic": {"epsilon": "0", "delta": "0"},
        "tight_epsilon": None,
        "tight_delta": None,
    }


def test_it_says_of_each_entry_what_it_cost_and_of_which_certificate(ledger):
    entries = statement(ledger)["entries"]
    assert entries[1] == {
        "entry": 3,
        "account": "census",
        "policy": "adult",
        "policy_digest": "pd",
        "certificate_digest": "cd",
        "epsilon": "0.50",
        "delta": "1E-9",
        "neighbours": "add_remove",
        "charged": True,
        "published": True,
        "release_sha256": "d" * 64,
        "date": "2026-01-02",
    }


def test_a_charge_stands_unless_it_was_given_back(ledger):
    found = [(entry["charged"], entry["published"]) for entry in statement(ledger)["entries"]]
    assert found == [(True, False), (True, True), (False, False), (True, False)]


def test_it_says_where_the_chain_ended(ledger):
    found, end = statement(ledger), ledger.verify()
    assert (found["version"], found["records"], found["head"]) == (1, end.records, end.hash)


def test_it_has_these_fields_and_no_others(ledger):
    """A field that is added one day is decided on here."""
    found = statement(ledger)
    assert set(found) == {"version", "records", "head", "accounts", "entries"}
    for entry in found["entries"]:
        assert set(entry) == {
            "entry", "account", "policy", "policy_digest", "certificate_digest", "epsilon", "delta",
            "neighbours", "charged", "published", "release_sha256", "date",
        }  # fmt: skip


def test_no_secret_no_place_no_state_and_no_time_of_day_leaves(ledger):
    text = json.dumps(statement(ledger))
    stored = "".join(record.payload for record in ledger.records())
    secrets = ("SEALED", "STATE", "PLACE", "MARK", "TEXT", "COLUMNS", "WHY", "KEY", "03:04:")
    assert [word for word in secrets if word not in stored] == []
    assert [word for word in secrets if word in text] == []


def test_it_does_not_tell_how_long_a_release_ran(tmp_path):
    """Two ledgers that differ in the times of start and commit alone have one statement."""
    texts = []
    for days in (1, 25):
        times = iter(datetime(2026, 1, day, tzinfo=UTC) for day in (1, days, days + 1))
        records = open_records(tmp_path / f"{days}.db")
        with Ledger(records, Trust.of(SIGNER), lambda times=times: next(times)) as ledger:
            asked = Charge("a", Decimal(1), Decimal(0), "add_remove", "p", "pd", "cd")
            entry = ledger.reserve(asked).entry
            ledger.start(entry.id)
            ledger.commit(entry.id, release_name="r", release_digest="d")
            found = statement(ledger)
            found.pop("head")
            texts.append(found)
    assert texts[0] == texts[1]
