"""The chain: any change to any record is found, and named."""

import base64
import hashlib
from dataclasses import FrozenInstanceError, replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import (
    GENESIS,
    Draft,
    Head,
    canonical,
    extend,
    hash_of,
    head,
    to_sign,
    verified,
)

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))


def chain_of(length):
    chain = []
    for number in range(length):
        draft = Draft("reserve", {"number": number}, "census", number, "ab")
        chain.append(extend(head(chain), draft, SIGNER))
    return chain


def rehashed(record, **changes):
    changed = replace(record, **changes)
    return replace(changed, hash=hash_of(changed))


def fault(records):
    with pytest.raises(LedgerError) as caught:
        verified(records, "ledger.db")
    text = str(caught.value)
    start = "ledger.db: the ledger's chain is broken at record "
    assert text.startswith(start)
    assert text.endswith(
        "; nothing is charged on a broken chain, so compare it with a backup and restore one that "
        "holds; a single last row that nobody of yours has written 'policy-engine ledger disown' "
        "leaves out"
    )
    return text.removeprefix(start).partition(";")[0]


@pytest.mark.parametrize("length", [0, 1, 5])
def test_an_unbroken_chain_is_returned(length):
    chain = chain_of(length)
    assert verified(iter(chain), "ledger.db") == tuple(chain)


def test_records_heads_and_drafts_are_frozen():
    [record] = chain_of(1)
    for value in (record, head((record,)), Draft("note", {})):
        with pytest.raises(FrozenInstanceError):
            value.hash = GENESIS


def test_the_head_is_the_last_record():
    chain = chain_of(3)
    assert head(chain) == Head(3, chain[2].hash)
    assert head(()) == Head(0, GENESIS)


def test_a_draft_of_no_account_settles_nothing_and_is_of_no_request():
    record = extend(head(()), Draft("note", {}), SIGNER)
    assert (record.account, record.entry, record.request) == ("", 0, "")
    assert (record.seq, record.previous_hash, record.payload) == (1, GENESIS, "{}")


CHANGES = [
    {"kind": "commit"},
    {"account": "other"},
    {"entry": 7},
    {"request": "cd"},
    {"payload": "{}"},
    {"payload": b"{}"},
    {"payload": None},
    {"key_id": "0" * 64},
    {"hash": "f" * 64},
]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_changed_record_is_named(place, change):
    chain = chain_of(3)
    chain[place] = replace(chain[place], **change)
    assert fault(chain) == f"{place + 1}: its content was changed"


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("change", CHANGES[:-1], ids=str)
def test_a_record_rehashed_after_a_change_breaks_the_next(place, change):
    chain = chain_of(3)
    chain[place] = rehashed(chain[place], **change)
    assert fault(chain) == f"{place + 2}: it does not follow the record before it"


def test_only_the_signature_is_left_to_others_to_check():
    [record] = chain_of(1)
    assert verified([replace(record, signature="")], "ledger.db")


def test_a_missing_record_is_named():
    chain = chain_of(4)
    assert fault(chain[1:]) == "1: record 1 is missing, the next one is 2"
    assert fault(chain[:1] + chain[2:]) == "2: record 2 is missing, the next one is 3"


def test_records_in_another_order_are_named():
    first, second, third = chain_of(3)
    assert fault([first, third, second]) == "2: record 2 is missing, the next one is 3"
    exchanged = [first, replace(third, seq=2), replace(second, seq=3)]
    assert fault(exchanged) == "2: it does not follow the record before it"


def test_a_tail_that_was_cut_off_leaves_a_chain_that_holds():
    chain = chain_of(3)
    assert verified(chain[:2], "ledger.db") == tuple(chain[:2])


def test_a_record_that_was_put_between_is_named():
    first, second, third = chain_of(3)
    put = extend(head((first,)), Draft("limit", {}), SIGNER)
    moved = [replace(second, seq=3), replace(third, seq=4)]
    assert fault([first, put, *moved]) == "3: it does not follow the record before it"


@pytest.mark.parametrize("turn", [1, -1])
def test_two_records_of_one_number_are_a_fork(turn):
    first, second, third = chain_of(3)
    other = extend(head((first,)), Draft("reserve", {"number": 99}), SIGNER)
    assert fault([first, *[second, other][::turn], third]) == (
        "3: a second record 2 follows the same one: the chain forks"
    )


def test_a_renumbered_record_is_found():
    chain = chain_of(3)
    assert fault([chain[0], replace(chain[2], seq=2)]) == (
        "2: it does not follow the record before it"
    )
    moved = replace(chain[2], seq=2, previous_hash=chain[0].hash)
    assert fault([chain[0], moved]) == "2: its content was changed"


@pytest.mark.parametrize("seq", [0, -1, "1", b"1", None])
def test_a_number_that_is_none_is_not_the_next_one(seq):
    [record] = chain_of(1)
    assert fault([replace(record, seq=seq)]) == f"1: record 1 is missing, the next one is {seq}"


@pytest.mark.parametrize(
    "shifted",
    [
        {"kind": "a", "account": "bcd"},
        {"account": "cde", "payload": "f"},
        {"request": "e", "payload": "ff"},
        {"kind": "ab", "account": "cd", "entry": 12, "request": ""},
    ],
    ids=str,
)
def test_parts_of_a_record_cannot_be_shifted_into_one_another(shifted):
    record = replace(chain_of(1)[0], kind="ab", account="cd", entry=1, request="ef", payload="f")
    assert hash_of(record) != hash_of(replace(record, **shifted))


def test_the_hash_is_of_all_that_a_record_says_and_of_the_hash_before():
    draft = Draft("reserve", {"b": 1, "a": "é"}, "cénsus", 0, "ab")
    record = extend(head(()), draft, SIGNER)
    text = (
        '[1,"reserve","c\\u00e9nsus",0,"ab","{\\"a\\":\\"\\\\u00e9\\",\\"b\\":1}","'
        + "0" * 64
        + f'","{SIGNER.key_id}"]'
    )
    assert record.hash == hashlib.sha256(text.encode()).hexdigest()


def test_the_signature_is_over_the_hash_and_says_what_it_is_of():
    [record] = chain_of(1)
    signed = b"policy-engine ledger record v1\n" + record.hash.encode()
    assert to_sign(record) == signed
    assert record.key_id == SIGNER.key_id
    SIGNER.public_key.verify(base64.b64decode(record.signature), signed)


def test_a_payload_has_one_text():
    assert (
        canonical({"b": 1, "a": [None]})
        == canonical({"a": [None], "b": 1})
        == ('{"a":[null],"b":1}')
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"a": float("nan")})
