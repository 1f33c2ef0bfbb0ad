"""Records chained by hash and signed: what happened to the accounts, in order, never changed.

A record's hash covers all that it says and the hash before it, and its signature covers the hash,
so changing, dropping or reordering any record breaks every hash after it, and none can be written
by somebody else. What a chain alone cannot show is a tail cut off: see ``witness``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import Code, LedgerBroken, LedgerError
from policy_engine.values import frozen

GENESIS = "0" * 64
"""The hash before the first record."""
ORDERED = "ordered"
"""What a record says whose writer let no time run backwards."""
DISOWNED = "disowned"
"""What each record behind a foreign row says: the numbers and digests of all foreign rows."""
_SIGNED = b"policy-engine ledger record v1\n"
_RESTORE = (
    "nothing is charged on a broken chain, so compare it with a backup and restore one that holds;"
    " a single last row that nobody of yours has written 'policy-engine ledger disown' leaves out"
)
_ENTER = (
    "on a new machine or in a new clone run 'policy-engine join', which says what it lacks. If you"
    " know whose key it is, enter it with 'policy-engine keys add PUBLIC_KEY'; if nobody knows it,"
    " and it is that of a single last row, 'policy-engine ledger disown' leaves that out: nothing"
    " is charged before"
)


@frozen
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


@frozen
class Foreign(Record):
    """A row that none of ours wrote, as a later record says: kept in its place, it says nothing."""

    row: Record


@frozen
class Head:
    """Where a chain ends: the number of its records and the hash of the last."""

    records: int
    hash: str


@frozen
class Draft:
    """What a record is to say, before it has a place in the chain."""

    kind: str
    payload: Mapping[str, object]
    account: str = ""
    entry: int = 0
    request: str = ""


@frozen
class Trust:
    """The public keys, by key id, whose records count; ``sign_with`` signs new ones.

    A ledger that is only read needs nobody who signs. Of a key that is ``revoked``, records count
    up to the ``ends`` of the ledger that the keyring noted then; where it noted none, those that
    say they are from before. ``renewed`` is the trust as the keyring has it now.
    """

    by_id: Mapping[str, Ed25519PublicKey]
    sign_with: Signer | None = None
    revoked: Mapping[str, datetime] = field(default_factory=dict)
    ends: Mapping[str, tuple[LedgerEnd, ...]] = field(default_factory=dict)
    renewed: Callable[[], Trust] | None = None

    @classmethod
    def of(cls, signer: Signer, others: Mapping[str, Ed25519PublicKey] | None = None) -> Trust:
        """Sign with ``signer``, and trust it and ``others``."""
        keys = {**(others or {}), signer.key_id: signer.public_key}
        return cls(MappingProxyType(keys), signer)

    @property
    def signer(self) -> Signer:
        """Who signs; LedgerError for a ledger that was opened to be read."""
        if self.sign_with is None:
            raise LedgerError("the ledger was opened without a signing key: it can only be read")
        return self.sign_with


def canonical(payload: Mapping[str, object]) -> str:
    """The one JSON text of a payload: keys sorted, no spaces, ASCII.

    >>> canonical({"b": 1, "a": "β"})
    '{"a":"\\\\u03b2","b":1}'
    """
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def head(records: Sequence[Record]) -> Head:
    """Where a chain of these records ends.

    >>> head(()).records
    0
    """
    return Head(records[-1].seq, records[-1].hash) if records else Head(0, GENESIS)


def extend(end: Head, draft: Draft, signer: Signer) -> Record:
    """The record that comes after ``end``, signed.

    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from policy_engine.attest.signers import KeySigner
    >>> first = extend(head(()), Draft("note", {}), KeySigner(Ed25519PrivateKey.generate()))
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


def digest_of(record: Record) -> str:
    """SHA-256 of all that a row holds, its hash and signature too.

    >>> digest_of(Record(1, "", "", 0, "", "", GENESIS, "", "", ""))[:8]
    '0cf14356'
    """
    text = json.dumps(list(vars(record).values()), default=repr)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def said(record: Record, name: str) -> Any:
    """What a record says under a name; None where it does not, or nobody can read it."""
    try:
        return json.loads(record.payload)[name]
    except (KeyError, TypeError, ValueError):
        return None


def time_of(record: Record) -> datetime | None:
    """The time that a record says it was written at; None where it says none."""
    try:
        found = datetime.fromisoformat(said(record, "at"))
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def disowned_in(last: Record | None) -> Mapping[str, str]:
    """The numbers and digests of the rows before a record that nobody of ours has written."""
    found = None if last is None else said(last, DISOWNED)
    return found if isinstance(found, dict) else {}


def broken(
    where: str, number: int, fault: str, remedy: str = _RESTORE, code: Code | None = None
) -> LedgerBroken:
    """The error of a chain that does not hold at a record."""
    return LedgerBroken(
        f"{where}: the ledger's chain is broken at record {number}: {fault}; {remedy}", code=code
    )


def verified(
    records: Iterable[Record], where: str, after: Head = Head(0, GENESIS)
) -> tuple[Record, ...]:
    """The same records, if they are one unbroken chain that follows ``after``, without gaps.

    Rows that the last record disowns are ``Foreign``. Signatures are not looked at, and the last
    one's is whose word that is: see ``check_signature``. Raises LedgerError naming ``where`` they
    were read and the first that does not fit, and why.

    >>> verified([], "ledger.db")
    ()
    """
    chain: list[Record] = []
    previous = after.hash
    found = tuple(records)
    foreign = disowned_in(found[-1] if found else None)
    for number, record in enumerate(found, start=after.records + 1):
        disowned = foreign.get(str(number))
        if fault := _fault(record, number, previous, disowned):
            raise broken(where, number, fault)
        chain.append(record if disowned is None else _foreign(record))
        previous = record.hash
    return tuple(chain)


def _foreign(row: Record) -> Foreign:
    return Foreign(row.seq, "foreign", "", 0, "", "{}", row.previous_hash, row.hash, "", "", row)


def _fault(record: Record, number: int, previous: str, disowned: str | None) -> str:
    # A damaged file can yield a number that is none, and cannot be compared.
    if record.seq in range(1, number):
        return f"a second record {record.seq} follows the same one: the chain forks"
    if record.seq != number:
        return f"record {number} is missing, the next one is {record.seq}"
    if record.previous_hash != previous:
        return "it does not follow the record before it"
    if disowned is not None:
        return "" if digest_of(record) == disowned else "it was changed since it was disowned"
    return "" if record.hash == hash_of(record) else "its content was changed"


def check_disowned(chain: Iterable[Record], where: str) -> None:
    """LedgerError unless rows are disowned by the records that say so, and stay so."""
    known: Mapping[str, str] = {}
    for record in chain:
        found = disowned_in(record)
        is_new = record.kind == "disown" and known.items() <= found.items()
        if found != known and not is_new:
            raise broken(where, record.seq, "it does not name the rows that were disowned")
        known = found


def check_signature(
    record: Record,
    trust: Trust,
    where: str,
    get: Callable[[int], Record | None] = lambda seq: None,
) -> None:
    """Return if a record says what its hash covers, and a key that counted then has signed it.

    Of a key that was revoked the keyring noted where the ledger ended then, so the time that a
    record says is asked of other ledgers alone. ``get`` finds the ledger's records by number.
    Raises LedgerError naming the record.
    """
    if record.hash != hash_of(record):
        raise broken(where, record.seq, "its content was changed")
    key = trust.by_id.get(record.key_id)
    name = str(record.key_id)[:8]  # a damaged file can yield what is no text
    if key is None:
        raise broken(
            where,
            record.seq,
            f"it is signed by the key {name}, a stranger's",
            _ENTER,
            "key_unknown",
        )
    if revoked := _revoked(record, trust, get):
        raise broken(where, record.seq, f"the key {name} that signed it {revoked}")
    try:
        signature = base64.b64decode(record.signature, validate=True)
        if base64.b64encode(signature).decode() != record.signature:
            raise ValueError("another text of the same bytes")
        key.verify(signature, to_sign(record))
    except (InvalidSignature, TypeError, ValueError):
        raise broken(where, record.seq, "its signature is not that of its key") from None


def counts(row: Record, trust: Trust, where: str, get: Callable[[int], Record | None]) -> bool:
    """Whether a key of ours has signed a row, as ``check_signature`` has it."""
    try:
        check_signature(row, trust, where, get)
    except LedgerBroken:
        return False
    return True


def _revoked(record: Record, trust: Trust, get: Callable[[int], Record | None]) -> str:
    """Why the key of a record did not count when it signed it; empty where it did."""
    for end in trust.ends.get(record.key_id, ()):
        first, last = get(1), get(end.records)
        is_there = last is not None and last.hash == end.head
        if is_there and record.seq <= end.records:
            return ""
        if is_there or (first is not None and first.hash == end.first):
            return f"was revoked when the ledger ended at record {end.records}"
    since, at = trust.revoked.get(record.key_id), time_of(record)
    return "" if since is None or (at is not None and at < since) else "is revoked"
