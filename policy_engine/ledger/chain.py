"""Records chained by hash and signed: what happened to the accounts, in order, never changed.

A record's hash covers all that it says and the hash before it, and its signature covers the hash,
so changing, dropping or reordering any record breaks every hash after it, and none can be written
by somebody else. What a chain alone cannot show is a tail cut off: see ``witness``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from policy_engine.attest.signers import Signer
from policy_engine.errors import LedgerBroken

GENESIS = "0" * 64
"""The hash before the first record."""
_SIGNED = b"policy-engine ledger record v1\n"


@dataclass(frozen=True)
class Record:
    """One line of the ledger; ``seq`` counts from 1 without gaps.

    ``account`` is whose running state the payload holds, ``entry`` the record that this one
    settles (0 for none), ``request`` what a release is of ('' for none).
    """

    seq: int
    kind: str
    account: str
    entry: int
    request: str
    payload: str
    previous_hash: str
    hash: str
    key_id: str
    signature: str


@dataclass(frozen=True)
class Head:
    """Where a chain ends: the number of its records and the hash of the last."""

    records: int
    hash: str


@dataclass(frozen=True)
class Draft:
    """What a record is to say, before it has a place in the chain."""

    kind: str
    payload: Mapping[str, object]
    account: str = ""
    entry: int = 0
    request: str = ""


def canonical(payload: Mapping[str, object]) -> str:
    """The one JSON text of a payload: keys sorted, no spaces, ASCII.

    >>> canonical({"b": 1, "a": "β"})
    '{"a":"\\\\u03b2","b":1}'
    """
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def head(last: Record | None) -> Head:
    """Where the chain ends whose last record this is.

    >>> head(None).records
    0
    """
    return Head(last.seq, last.hash) if last is not None else Head(0, GENESIS)


def extend(end: Head, draft: Draft, signer: Signer) -> Record:
    """The record that comes after ``end``, signed.

    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from policy_engine.attest.signers import KeySigner
    >>> first = extend(head(None), Draft("note", {}), KeySigner(Ed25519PrivateKey.generate()))
    >>> first.seq, first.previous_hash == GENESIS
    (1, True)
    """
    unsigned = Record(
        seq=end.records + 1,
        kind=draft.kind,
        account=draft.account,
        entry=draft.entry,
        request=draft.request,
        payload=canonical(draft.payload),
        previous_hash=end.hash,
        hash="",
        key_id=signer.key_id,
        signature="",
    )
    hashed = replace(unsigned, hash=hash_of(unsigned))
    signature = signer.sign(to_sign(hashed))
    return replace(hashed, signature=base64.b64encode(signature).decode())


def hash_of(record: Record) -> str:
    """The hash that a record must have: of all that it says, and of the hash before it."""
    # A JSON array delimits the parts, so no two records share one text.
    # A damaged file can yield a blob, which then has the hash of its repr: not the right one.
    parts = [
        record.seq, record.kind, record.account, record.entry, record.request, record.payload,
        record.previous_hash, record.key_id,
    ]  # fmt: skip
    text = json.dumps(parts, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def to_sign(record: Record) -> bytes:
    """The bytes that a record's signature is over."""
    return _SIGNED + record.hash.encode()


def verified(
    records: Iterable[Record], where: str, after: Head = Head(0, GENESIS)
) -> tuple[Record, ...]:
    """The same records, if they are one unbroken chain that follows ``after``, without gaps.

    Signatures are not looked at: see ``trust``. Raises LedgerError naming ``where`` they were read
    and the first that does not fit, and why.

    >>> verified([], "ledger.db")
    ()
    """
    chain: list[Record] = []
    previous = after.hash
    for number, record in enumerate(records, start=after.records + 1):
        if fault := _fault(record, number, previous):
            raise broken(where, number, fault)
        chain.append(record)
        previous = record.hash
    return tuple(chain)


_RESTORE = (
    "nothing is charged on a broken chain, so compare it with a backup and restore one that holds"
)


def broken(where: str, number: int, fault: str, remedy: str = _RESTORE) -> LedgerBroken:
    """The error of a chain that does not hold at a record."""
    return LedgerBroken(
        f"{where}: the ledger's chain is broken at record {number}: {fault}; {remedy}"
    )


def _fault(record: Record, number: int, previous: str) -> str:
    # A damaged file can yield a number that is none, and cannot be compared.
    if record.seq in range(1, number):
        return f"a second record {record.seq} follows the same one: the chain forks"
    if record.seq != number:
        return f"record {number} is missing, the next one is {record.seq}"
    if record.previous_hash != previous:
        return "it does not follow the record before it"
    if record.hash != hash_of(record):
        return "its content was changed"
    return ""
