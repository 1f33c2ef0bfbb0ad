"""What leaves the ledger: prices, dates and certificates; nothing of the data, nothing secret."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import LEDGER_TYPE, sign
from policy_engine.attest.attestation import statement as make_statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.signers import KeySigner
from policy_engine.calendars import Calendar
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.account import Account, Limit, balance_of
from policy_engine.ledger.chain import GENESIS, Head, Trust
from policy_engine.ledger.entry import Charge, Run
from policy_engine.ledger.records import open_records
from policy_engine.ledger.statement import public_statement, verify_statement
from policy_engine.ledger.store import Ledger

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
RUN = Run(
    **{
        "of": "STATE",
        "target": "SECRET-PLACE/out.parquet",
        "sealed": {"KEY": "SEALED"},
        "mark": "MARK",
        "predicate": {"sql": "TEXT", "schema": "COLUMNS"},
    }
)
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
                request=f"PLACE-{place}", run=replace(RUN, of=f"STATE-{place}"),
            )  # fmt: skip
            found.reserve(asked, LIMIT)
        found.start(3)
        found.commit(3, release_name="SECRET-PLACE/out.parquet", release_digest="d" * 64)
        found.cancel(4, "WHY")
        found.start(5)
        found.keep(5, "WHY")
        yield found


def statement(ledger):
    balances = [ledger.read().budget.balance(name) for name in ledger.read().budget.names()]
    return public_statement(
        balances, ledger.read().budget.entries(), ledger.read().budget.changes(), ledger.verify()
    ).to_json()


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
    price = ledger.read().budget.balance("census").price
    tight = [
        None if each is None else str(each) for each in (price.tight_epsilon, price.tight_delta)
    ]
    assert [account["tight_epsilon"], account["tight_delta"]] == tight


def test_an_account_without_limit_and_charges_has_none():
    found = public_statement([balance_of(Account("census"))], [], [], Head(0, GENESIS))
    [account] = found.to_json()["accounts"]
    assert account == {
        "account": "census",
        "neighbours": None,
        "charges": 0,
        "limit": None,
        "basic": {"epsilon": "0", "delta": "0"},
        "tight_epsilon": None,
        "tight_delta": None,
        "windows": [],
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
        "edition": "",
        "windows": [""],
    }


def test_a_charge_stands_unless_it_was_given_back(ledger):
    found = [(entry["charged"], entry["published"]) for entry in statement(ledger)["entries"]]
    assert found == [(True, False), (True, True), (False, False), (True, False)]


def test_it_says_where_the_chain_ended(ledger):
    found, end = statement(ledger), ledger.verify()
    assert (found["version"], found["records"], found["head"]) == (3, end.records, end.hash)


def test_it_has_these_fields_and_no_others(ledger):
    """A field that is added one day is decided on here."""
    found = statement(ledger)
    assert set(found) == {"version", "records", "head", "accounts", "entries", "limits"}
    for limit in found["limits"]:
        assert set(limit) == {"record", "account", "date", "from", "to", "by", "why"}
    for entry in found["entries"]:
        assert set(entry) == {
            "entry", "account", "policy", "policy_digest", "certificate_digest", "epsilon", "delta",
            "neighbours", "charged", "published", "release_sha256", "date", "edition", "windows",
        }  # fmt: skip


def test_no_secret_no_place_no_state_and_no_time_of_day_leaves(ledger):
    text = json.dumps(statement(ledger))
    stored = "".join(record.payload for record in ledger.read().chain.records)
    secrets = ("SEALED", "STATE", "PLACE", "MARK", "TEXT", "COLUMNS", "WHY", "KEY", "03:04:")
    assert [word for word in secrets if word not in stored] == []
    assert [word for word in secrets if word in text] == []


LATE = datetime(2026, 2, 1, tzinfo=UTC)


def test_it_does_not_tell_how_long_a_release_ran(tmp_path):
    """Two ledgers that differ in the times of start and commit alone have one statement."""
    texts = []
    for days in (1, 25):
        times = iter(datetime(2026, 1, day, tzinfo=UTC) for day in (1, days, days + 1))
        records = open_records(tmp_path / f"{days}.db")
        with Ledger(records, Trust.of(SIGNER), lambda times=times: next(times, LATE)) as ledger:
            asked = Charge("a", Decimal(1), Decimal(0), "add_remove", "p", "pd", "cd")
            entry = ledger.reserve(asked)
            ledger.start(entry.id)
            ledger.commit(entry.id, release_name="r", release_digest="d")
            found = statement(ledger)
            found.pop("head")
            texts.append(found)
    assert texts[0] == texts[1]


# Whoever reads it checks its sums.


def envelope(predicate, subject=None):
    told = {**predicate, "time": "2026-01-02T03:04:05Z"}
    head = subject or told["head"]
    return sign(make_statement("ledger", head, told, LEDGER_TYPE), SIGNER).to_json()


def refusals(predicate, subject=None):
    with pytest.raises(VerificationFailed) as caught:
        verify_statement(envelope(predicate, subject), TrustedKeys.of(SIGNER.public_key))
    return list(caught.value.reasons)


def test_a_statement_holds(ledger):
    found = verify_statement(envelope(statement(ledger)), TrustedKeys.of(SIGNER.public_key))
    assert found.checked[:2] == (
        f"signed by {SIGNER.key_id}",
        "accounts: 1, entries: 4; each account's charges and sum are those of its entries",
    )
    assert dict(found.numbers)["records"] == ledger.verify().records
    assert len(found.unchecked) == 3


def test_changes_of_a_limit_are_told_by_date_amount_who_and_why(ledger):
    ledger.set_limit("census", Limit(Decimal("11"), Decimal("1e-6")), who="WHO", why="WHY")
    found = statement(ledger)
    low, high = ({"epsilon": epsilon, "delta": "0.000001"} for epsilon in ("10", "11"))
    assert [(each["account"], each["from"], each["to"]) for each in found["limits"]] == [
        ("census", None, low),
        ("census", low, high),
    ]
    assert [(each["by"], each["why"]) for each in found["limits"]] == [
        ("the project file", "its first limit"),
        ("WHO", "WHY"),
    ]
    assert {each["date"] for each in found["limits"]} == {"2026-01-02"}
    assert found["accounts"][0]["limit"] == high
    assert verify_statement(envelope(found), TrustedKeys.of(SIGNER.public_key))


DAMAGES = {
    "who": (
        lambda s: s["limits"][0].update(by=7),
        "the statement holds what no ledger states",
    ),
    "charges": (
        lambda s: s["accounts"][0].update(charges=4),
        "account census: charges is 4, and its entries are 3",
    ),
    "sum": (
        lambda s: s["accounts"][0]["basic"].update(epsilon="1.4"),
        "account census: the sum of epsilon is 1.4, and that of its entries 1.50",
    ),
    "entry": (
        lambda s: s["entries"][0].update(delta="0"),
        "account census: the sum of delta is 3E-9, and that of its entries 2E-9",
    ),
    "notion": (
        lambda s: s["entries"][0].update(neighbours="replace_one"),
        "account census: its entries count other neighbours",
    ),
    "published": (
        lambda s: s["entries"][2].update(published=True),
        "what is published is charged",
    ),
    "account": (
        lambda s: s["entries"][2].update(account="other"),
        "each account of an entry or limit is listed once, by name",
    ),
    "limit": (
        lambda s: s["accounts"][0].update(limit=None),
        "account census: its limit is not the last one that was set",
    ),
    "before": (
        lambda s: s["limits"][0].update({"from": {"epsilon": "1", "delta": "0"}}),
        "account census: the limit of record 1 follows another one",
    ),
    "field": (
        lambda s: s["entries"][0].update(more=1),
        "each of entries has exactly account, certificate_digest, charged, date, delta, edition,"
        " entry, epsilon, neighbours, policy, policy_digest, published, release_sha256, windows",
    ),
    "version": (
        lambda s: s.update(version=2),
        "a statement of version 3 has exactly accounts, entries, head, limits, records, time,"
        " version",
    ),
    "nonsense": (
        lambda s: s["entries"][0].update(epsilon="much"),
        "the statement holds what no ledger states",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_does_not_add_up_is_told(ledger, damage):
    how, told = DAMAGES[damage]
    found = statement(ledger)
    how(found)
    assert refusals(found) == [told]


def test_it_speaks_of_the_head_that_it_states(ledger):
    assert refusals(statement(ledger), "0" * 64) == ["its subject is not the ledger's head"]


# Windows

YEARLY = Limit(Decimal(1), Decimal("1e-6"), each=Calendar.YEAR, ever=(Decimal(3), Decimal("1e-5")))


@pytest.fixture
def yearly(tmp_path):
    """Two years: of the first a charge was given back."""
    with Ledger(open_records(tmp_path / "ledger.db"), Trust.of(SIGNER)) as found:
        for window, epsilon in (("2026", "0.5"), ("2026", "0.25"), ("2027", "0.125")):
            asked = Charge(
                "census", Decimal(epsilon), Decimal("1e-9"), "add_remove", "adult", "pd", "cd",
                run=Run(edition=f"{window}-01"), windows=(window,),
            )  # fmt: skip
            last = found.reserve(asked, YEARLY)
            if epsilon == "0.25":
                found.cancel(last.id, "WHY")
        yield found


def test_it_says_of_each_window_what_counts_in_it(yearly):
    found = statement(yearly)
    [account] = found["accounts"]
    assert account["limit"] == {
        "epsilon": "1", "delta": "0.000001", "each": "year", "ever": ["3", "0.00001"],
    }  # fmt: skip
    assert account["basic"] == {"epsilon": "0.625", "delta": "2E-9"}
    told = [(each["window"], each["charges"], each["basic"]) for each in account["windows"]]
    assert told == [
        ("2026", 1, {"epsilon": "0.50", "delta": "1E-9"}),
        ("2027", 1, {"epsilon": "0.125", "delta": "1E-9"}),
    ]
    assert [entry["windows"] for entry in found["entries"]] == [["2026"], ["2026"], ["2027"]]
    assert found["limits"][0]["to"] == account["limit"]
    assert verify_statement(envelope(found), TrustedKeys.of(SIGNER.public_key))


WINDOW_DAMAGES = {
    "window": (
        lambda s: s["accounts"][0]["windows"][0].update(charges=2),
        "account census: window 2026 is of other entries",
    ),
    "entry": (
        lambda s: s["entries"][2].update(windows=["2026"]),
        "account census: window 2026 is of other entries",
    ),
    "limit": (
        lambda s: s["accounts"][0]["limit"].update(each="month"),
        "account census: its limit is not the last one that was set",
    ),
    "sum": (
        lambda s: s["accounts"][0]["windows"].pop(),
        "account census: its windows do not add up to its sum of epsilon",
    ),
    "length": (
        lambda s: s["accounts"][0]["limit"].update(each="fortnight"),
        "the statement holds what no ledger states",
    ),
}


@pytest.mark.parametrize("damage", WINDOW_DAMAGES)
def test_what_does_not_add_up_of_windows_is_told(yearly, damage):
    how, told = WINDOW_DAMAGES[damage]
    found = statement(yearly)
    how(found)
    assert refusals(found)[0] == told
