"""The chain: any change to any record is found, and named."""

import hashlib
from dataclasses import FrozenInstanceError, replace

import pytest

from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import GENESIS, Head, canonical, extend, head, verified


def chain_of(length):
    chain = ()
    for number in range(length):
        chain += (extend(head(chain), "reserve", {"number": number}),)
    return chain


def fault(records):
    with pytest.raises(LedgerError) as caught:
        verified(records, "ledger.db")
    text = str(caught.value)
    start = "ledger.db: the ledger's chain is broken at record "
    assert text.startswith(start)
    return text.removeprefix(start).partition(";")[0]


@pytest.mark.parametrize("length", [0, 1, 5])
def test_an_unbroken_chain_is_returned(length):
    chain = chain_of(length)
    assert verified(iter(chain), "ledger.db") == chain


def test_records_and_heads_are_frozen():
    [record] = chain = chain_of(1)
    for value in (record, head(chain)):
        with pytest.raises(FrozenInstanceError):
            value.hash = GENESIS


def test_the_head_is_the_last_record():
    chain = chain_of(3)
    assert head(chain) == Head(3, chain[2].hash)
    assert head(()) == Head(0, GENESIS)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "change", [{"kind": "commit"}, {"payload": "{}"}, {"payload": b"{}"}, {"hash": "f" * 64}]
)
def test_a_changed_record_is_named(place, change):
    chain = list(chain_of(3))
    chain[place] = replace(chain[place], **change)
    assert fault(chain) == f"{place + 1}: its content was changed"


def test_a_record_rehashed_after_a_change_breaks_the_next():
    first, *rest = chain_of(3)
    forged = extend(head(()), "reserve", {"number": 99})
    assert forged.previous_hash == first.previous_hash
    assert fault([forged, *rest]) == "2: it does not follow the record before it"


def test_a_missing_record_is_named():
    chain = chain_of(4)
    assert fault(chain[1:]) == "1: record 1 is missing, the next one is 2"
    assert fault(chain[:1] + chain[2:]) == "2: record 2 is missing, the next one is 3"
    assert fault((chain[0], chain[2], chain[1])) == "2: record 2 is missing, the next one is 3"


def test_a_renumbered_record_is_found():
    chain = chain_of(3)
    assert fault((chain[0], replace(chain[2], seq=2))) == (
        "2: it does not follow the record before it"
    )
    moved = replace(chain[2], seq=2, previous_hash=chain[0].hash)
    assert fault((chain[0], moved)) == "2: its content was changed"


def test_parts_of_a_record_cannot_be_shifted_into_one_another():
    one = extend(Head(0, GENESIS), "ab", {})
    assert one.hash != extend(Head(0, GENESIS), "a", {}).hash
    shifted = replace(one, kind="a", payload="b" + one.payload)
    assert fault([shifted]) == "1: its content was changed"


def test_the_hash_is_what_the_documentation_says():
    record = extend(head(()), "reserve", {"b": 1, "a": "é"})
    text = '[1,"reserve","{\\"a\\":\\"\\\\u00e9\\",\\"b\\":1}","' + "0" * 64 + '"]'
    assert record.hash == hashlib.sha256(text.encode()).hexdigest()


def test_a_payload_has_one_text():
    assert (
        canonical({"b": 1, "a": [None]})
        == canonical({"a": [None], "b": 1})
        == ('{"a":[null],"b":1}')
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"a": float("nan")})
