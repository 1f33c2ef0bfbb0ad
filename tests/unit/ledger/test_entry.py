"""Charges and the entries that records amount to."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from policy_engine.errors import DomainError, LedgerError
from policy_engine.ledger.chain import extend, head
from policy_engine.ledger.entry import Charge, commit_payload, entries_of, reserve_payload

AT = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2025, 1, 2, 3, 4, 6, tzinfo=UTC)
GOOD = {
    "account": "census",
    "epsilon": Decimal("0.50"),
    "delta": Decimal("1.0e-9"),
    "neighbours": "add_remove",
    "policy_name": "adult",
    "policy_digest": "p",
    "certificate_digest": "c",
}
RESERVE = reserve_payload(Charge(**GOOD), AT)


def records(*payloads):
    chain = ()
    for kind, payload in payloads:
        chain += (extend(head(chain), kind, payload),)
    return chain


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"account": ""}, "account must be a name, found an empty text"),
        ({"neighbours": "swap"}, "neighbours must be add_remove or replace_one, found swap"),
        ({"epsilon": 0.5}, "epsilon must be a Decimal, found float"),
        ({"epsilon": 1}, "epsilon must be a Decimal, found int"),
        ({"epsilon": Decimal("-0.1")}, "epsilon must be from 0 to 1000000000, found -0.1"),
        ({"epsilon": Decimal("1000000000.1")}, "epsilon must be from 0 to 1000000000, found 10"),
        ({"epsilon": Decimal("NaN")}, "epsilon must be from 0 to 1000000000, found NaN"),
        ({"epsilon": Decimal("sNaN")}, "epsilon must be from 0 to 1000000000, found sNaN"),
        ({"epsilon": Decimal("Infinity")}, "epsilon must be from 0 to 1000000000, found Inf"),
        ({"delta": Decimal("1.1")}, "delta must be from 0 to 1, found 1.1"),
        ({"delta": Decimal("-1e-9")}, "delta must be from 0 to 1, found -1E-9"),
        ({"delta": 1e-9}, "delta must be a Decimal, found float"),
        (
            {"delta": Decimal("1e-1001")},
            "delta must be written with at most 1000 decimal places, found more",
        ),
    ],
)
def test_a_charge_outside_its_domain_is_refused(change, message):
    with pytest.raises(DomainError) as caught:
        Charge(**{**GOOD, **change})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": Decimal(0)},
        {"epsilon": Decimal(10) ** 9},
        {"delta": Decimal(0)},
        {"delta": Decimal(1)},
        {"delta": Decimal("1e-1000")},
        {"neighbours": "replace_one"},
    ],
)
def test_the_ends_of_the_domain_belong_to_it(change):
    Charge(**{**GOOD, **change})


def test_a_reserve_record_makes_an_entry():
    [record] = chain = records(("reserve", RESERVE))
    [entry] = entries_of(chain, "x")
    assert vars(entry) == {
        **GOOD,
        "id": 1,
        "state": "reserved",
        "reserved_at": AT,
        "committed_at": None,
        "release_name": None,
        "release_digest": None,
        "previous_hash": record.previous_hash,
        "hash": record.hash,
    }
    assert str(entry.epsilon) == "0.50"
    assert '"delta":"1.0E-9","epsilon":"0.50"' in record.payload


def test_charges_and_entries_are_frozen():
    for value in (Charge(**GOOD), *entries_of(records(("reserve", RESERVE)), "x")):
        with pytest.raises(FrozenInstanceError):
            value.epsilon = Decimal(0)


def test_a_commit_record_changes_its_own_entry_only():
    chain = records(
        ("reserve", RESERVE),
        ("reserve", RESERVE),
        ("commit", commit_payload(1, "a.parquet", "d", LATER)),
        ("reserve", RESERVE),
    )
    first, second, third = entries_of(chain, "x")
    assert (first.id, second.id, third.id) == (1, 2, 4)
    assert (first.state, second.state, third.state) == ("committed", "reserved", "reserved")
    assert (first.committed_at, first.release_name, first.release_digest) == (
        LATER,
        "a.parquet",
        "d",
    )
    assert (first.reserved_at, first.hash) == (AT, chain[0].hash)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("refund", RESERVE),
        ("refund", commit_payload(1, "a", "d", AT)),
        ("reserve", {name: value for name, value in RESERVE.items() if name != "account"}),
        ("reserve", {**RESERVE, "epsilon": "much"}),
        ("reserve", {**RESERVE, "epsilon": "-1"}),
        ("reserve", {**RESERVE, "epsilon": None}),
        ("reserve", {**RESERVE, "neighbours": "swap"}),
        ("reserve", {**RESERVE, "at": "today"}),
        ("commit", commit_payload(2, "a", "d", AT)),
        ("commit", {"entry": 1}),
    ],
)
def test_a_record_that_cannot_be_read_is_never_skipped(kind, payload):
    with pytest.raises(LedgerError) as caught:
        entries_of(records(("reserve", RESERVE), (kind, payload)), "ledger.db")
    assert str(caught.value) == (
        f"ledger.db: record 2, of kind '{kind}', cannot be read by this version of policy-engine; "
        "use the version that wrote it, or a newer one"
    )


def test_a_second_commit_of_one_entry_cannot_be_read():
    commit = ("commit", commit_payload(1, "a", "d", AT))
    with pytest.raises(LedgerError, match="record 3, of kind 'commit', cannot be read"):
        entries_of(records(("reserve", RESERVE), commit, commit), "ledger.db")
