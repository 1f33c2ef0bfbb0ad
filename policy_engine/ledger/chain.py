"""Records chained by hash: what happened to the accounts, in order, never changed.

A record's hash covers its number, kind, payload text and the hash before it, so changing,
dropping or reordering any record breaks every hash after it. What a chain alone cannot show
is a tail cut off; keep a copy of ``Head`` elsewhere and compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policy_engine.errors import LedgerError

GENESIS = "0" * 64
"""The hash before the first record."""


@dataclass(frozen=True)
class Record:
    """One line of the ledger; ``seq`` counts from 1 without gaps."""

    seq: int
    kind: str
    payload: str
    previous_hash: str
    hash: str


@dataclass(frozen=True)
class Head:
    """Where a chain ends: the number of its records and the hash of the last."""

    records: int
    hash: str


def canonical(payload: Mapping[str, object]) -> str:
    """The one JSON text of a payload: keys sorted, no spaces, ASCII.

    >>> canonical({"b": 1, "a": "β"})
    '{"a":"\\\\u03b2","b":1}'
    """
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def head(records: tuple[Record, ...]) -> Head:
    """Where these records end.

    >>> head(()).records
    0
    """
    return Head(records[-1].seq, records[-1].hash) if records else Head(0, GENESIS)


def extend(end: Head, kind: str, payload: Mapping[str, object]) -> Record:
    """The record that comes after ``end``.

    >>> first = extend(head(()), "reserve", {"account": "census"})
    >>> first.seq, first.previous_hash == GENESIS
    (1, True)
    """
    seq, text = end.records + 1, canonical(payload)
    return Record(seq, kind, text, end.hash, _hash(seq, kind, text, end.hash))


def verified(records: Iterable[Record], where: str) -> tuple[Record, ...]:
    """The same records, if they are one unbroken chain from the first on.

    Raises LedgerError naming ``where`` they were read and the first that does not fit, and why.

    >>> first = extend(head(()), "reserve", {})
    >>> verified([first], "ledger.db") == (first,)
    True
    """
    chain: list[Record] = []
    previous = GENESIS
    for number, record in enumerate(records, start=1):
        if fault := _fault(record, number, previous):
            raise LedgerError(
                f"{where}: the ledger's chain is broken at record {number}: {fault}; nothing is "
                "charged on a broken chain, so compare it with a backup and restore one that holds"
            )
        chain.append(record)
        previous = record.hash
    return tuple(chain)


def _fault(record: Record, number: int, previous: str) -> str:
    if record.seq != number:
        return f"record {number} is missing, the next one is {record.seq}"
    if record.previous_hash != previous:
        return "it does not follow the record before it"
    if record.hash != _hash(record.seq, record.kind, record.payload, record.previous_hash):
        return "its content was changed"
    return ""


def _hash(seq: int, kind: str, payload: str, previous_hash: str) -> str:
    # A JSON array delimits the parts, so no two records share one text.
    # A damaged file can yield a blob, which then has the hash of its repr: not the right one.
    text = json.dumps([seq, kind, payload, previous_hash], separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()
