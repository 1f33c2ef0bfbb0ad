"""Whose signature counts on a record."""

import base64
import json
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import Draft, Trust, check_signature, extend, hash_of, head

OURS, THEIRS = (KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32)) for n in (1, 2))
AT = datetime(2026, 1, 2, tzinfo=UTC)
RECORD = extend(head(()), Draft("note", {"at": AT.isoformat()}), OURS)


def fault(record, trust):
    with pytest.raises(LedgerError) as caught:
        check_signature(record, trust, "ledger.db")
    text = str(caught.value)
    start = "ledger.db: the ledger's chain is broken at record 1: "
    assert text.startswith(start)
    assert "; nothing is charged on a broken chain" in text
    return text.removeprefix(start).partition(";")[0]


def test_a_record_counts_that_a_trusted_key_signed():
    check_signature(RECORD, Trust.of(OURS), "ledger.db")
    check_signature(RECORD, Trust.of(THEIRS, {OURS.key_id: OURS.public_key}), "ledger.db")
    check_signature(RECORD, Trust({OURS.key_id: OURS.public_key}), "ledger.db")


def test_whoever_signs_is_trusted_under_its_own_name():
    trust = Trust.of(OURS, {OURS.key_id: THEIRS.public_key})
    assert trust.by_id == {OURS.key_id: OURS.public_key}
    assert trust.signer is OURS


def test_trust_cannot_be_changed():
    trust = Trust.of(OURS)
    with pytest.raises(TypeError):
        trust.by_id["0"] = THEIRS.public_key
    with pytest.raises(FrozenInstanceError):
        trust.sign_with = THEIRS


def test_a_ledger_to_read_has_nobody_who_signs():
    with pytest.raises(LedgerError) as caught:
        _ = Trust({OURS.key_id: OURS.public_key}).signer
    assert str(caught.value) == ("the ledger was opened without a signing key: it can only be read")


def test_a_signature_is_written_in_one_way():
    """The last digit before == has four bits that mean nothing."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    free = digits[digits.index(RECORD.signature[-3]) | 1]
    other = RECORD.signature[:-3] + free + "=="
    assert base64.b64decode(other) == base64.b64decode(RECORD.signature)
    assert other != RECORD.signature
    said = fault(replace(RECORD, signature=other), Trust.of(OURS))
    assert said == "its signature is not that of its key"


@pytest.mark.parametrize("trust", [Trust.of(THEIRS), Trust({})])
def test_a_strangers_record_is_named_and_may_be_made_known(trust):
    with pytest.raises(LedgerError) as caught:
        check_signature(RECORD, trust, "ledger.db")
    assert str(caught.value) == (
        "ledger.db: the ledger's chain is broken at record 1: it is signed by the key"
        f" {OURS.key_id[:8]}, a stranger's; on a new machine or in a new clone run"
        " 'policy-engine join', which says what it lacks. If you know whose key it is, enter it"
        " with 'policy-engine keys add PUBLIC_KEY'; if nobody knows it, and it is that of a single"
        " last row, 'policy-engine ledger disown' leaves that out: nothing is charged before"
    )


@pytest.mark.parametrize("payload", ["{}", b"{}", None])
def test_a_changed_record_is_named_whoever_signed_it(payload):
    assert fault(replace(RECORD, payload=payload), Trust.of(OURS)) == "its content was changed"


def test_a_strangers_signature_under_a_trusted_name_is_found():
    forged = replace(RECORD, payload="{}")
    forged = replace(forged, hash=hash_of(forged))
    signature = base64.b64encode(THEIRS.sign(forged.hash.encode())).decode()
    for text in (RECORD.signature, signature):
        found = fault(replace(forged, signature=text), Trust.of(OURS))
        assert found == "its signature is not that of its key"


@pytest.mark.parametrize(
    "signature",
    ["", "AAAA", "not base64", "é", RECORD.signature + "!", RECORD.signature[:-4], b"", None, 7],
)
def test_what_is_no_signature_is_none(signature):
    found = fault(replace(RECORD, signature=signature), Trust.of(OURS))
    assert found == "its signature is not that of its key"


@pytest.mark.parametrize("name", [None, 7, b"a", ""])
def test_a_key_without_a_name_is_a_strangers(name):
    nameless = replace(RECORD, key_id=name)
    nameless = replace(nameless, hash=hash_of(nameless))
    with pytest.raises(LedgerError, match=", a stranger's; on a new machine"):
        check_signature(nameless, Trust.of(OURS), "ledger.db")


def test_of_a_revoked_key_the_records_from_before_count():
    keys = {OURS.key_id: OURS.public_key}
    after = datetime(2026, 1, 3, tzinfo=UTC)
    check_signature(RECORD, Trust(keys, revoked={OURS.key_id: after}), "ledger.db")
    check_signature(RECORD, Trust(keys, revoked={THEIRS.key_id: AT}), "ledger.db")
    assert fault(RECORD, Trust(keys, revoked={OURS.key_id: AT})) == (
        f"the key {OURS.key_id[:8]} that signed it is revoked"
    )


@pytest.mark.parametrize("payload", [{}, {"at": "yesterday"}, {"at": 1}, {"at": "2026-01-01"}])
def test_of_a_revoked_key_a_record_without_a_time_counts_no_more(payload):
    record = extend(head(()), Draft("note", payload), OURS)
    assert json.loads(record.payload) == payload
    trust = Trust({OURS.key_id: OURS.public_key}, revoked={OURS.key_id: AT})
    assert fault(record, trust).endswith("that signed it is revoked")
