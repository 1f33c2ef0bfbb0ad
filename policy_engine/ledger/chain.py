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
from datetime import datetime

from policy_engine.attest.signers import Signer
from policy_engine.errors import LedgerBroken

GENESIS = "0" * 64
"""The hash before the first record."""
ORDERED = "ordered"
"""What a record says whose writer let no time run backwards."""
DISOWNED = "disowned"
"""What each record behind a foreign row says: the numbers and digests of all foreign rows."""
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
class Foreign(Record):
    """A row that nobody of ours has written, as a later record says: it says nothing.

    ``row`` is what is stored. It keeps its place, for the chain goes on behind it.
    """

    row: Record


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


def time_of(record: Record) -> datetime | None:
    """The time that a record says it was written at; None where it says none."""
    try:
        found = datetime.fromisoformat(json.loads(record.payload)["at"])
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def check_disowned(chain: Iterable[Record], where: str) -> None:
    """Return if rows are disowned by the records that say so, and stay so.

    Raises LedgerError naming the first record that disowns other rows than those before it did.
    """
    known: Mapping[str, str] = {}
    for record in chain:
        if isinstance(record, Foreign):
            continue
        found = disowned_in(record)
        is_new = record.kind == "disown" and known.items() <= found.items()
        if found != known and not is_new:
            raise broken(where, record.seq, "it does not name the rows that were disowned")
        known = found


def check_order(chain: Iterable[Record], where: str) -> None:
    """Return unless time runs backwards: a record says it is from before the one in front of it.

    Older versions took each machine's clock as it was, so records are looked at from the first on
    that says it is ``ordered``. Raises LedgerError naming the record.
    """
    ordered, before = False, None
    for record in chain:
        if isinstance(record, Foreign):
            continue
        at = time_of(record)
        ordered = ordered or _says_ordered(record)
        if ordered and before is not None and (at is None or at < before):
            fault = "it says it is from before the record in front of it, and time runs forwards"
            raise broken(where, record.seq, fault)
        before = at


def _says_ordered(record: Record) -> bool:
    try:
        return json.loads(record.payload).get(ORDERED) is True
    except (AttributeError, TypeError, ValueError):
        return False


def to_sign(record: Record) -> bytes:
    """The bytes that a record's signature is over."""
    return _SIGNED + record.hash.encode()


def verified(
    records: Iterable[Record], where: str, after: Head = Head(0, GENESIS)
) -> tuple[Record, ...]:
    """The same records, if they are one unbroken chain that follows ``after``, without gaps.

    Rows that the last record disowns are ``Foreign``. Signatures are not looked at, and the last
    one's is whose word that is: see ``trust``. Raises LedgerError naming ``where`` they were read
    and the first that does not fit, and why.

    >>> verified([], "ledger.db")
    ()
    """
    chain: list[Record] = []
    previous = after.hash
    found = tuple(records)
    foreign = disowned_in(found[-1]) if found else {}
    for number, record in enumerate(found, start=after.records + 1):
        disowned = foreign.get(str(number))
        if fault := _fault(record, number, previous, disowned):
            raise broken(where, number, fault)
        chain.append(record if disowned is None else _foreign(record))
        previous = record.hash
    return tuple(chain)


def disowned_in(last: Record) -> Mapping[str, str]:
    """The numbers and digests of the rows before a record that nobody of ours has written."""
    try:
        found = json.loads(last.payload).get(DISOWNED, {})
    except (AttributeError, TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def digest_of(record: Record) -> str:
    """SHA-256 of all that a row holds, its hash and signature too.

    >>> digest_of(Record(1, "", "", 0, "", "", GENESIS, "", "", ""))[:8]
    '0cf14356'
    """
    text = json.dumps(list(vars(record).values()), default=repr)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _foreign(row: Record) -> Foreign:
    return Foreign(row.seq, "foreign", "", 0, "", "{}", row.previous_hash, row.hash, "", "", row)


_RESTORE = (
    "nothing is charged on a broken chain, so compare it with a backup and restore one that holds;"
    " of a last record that nobody of yours has written, see 'policy-engine ledger disown'"
)


def broken(where: str, number: int, fault: str, remedy: str = _RESTORE) -> LedgerBroken:
    """The error of a chain that does not hold at a record."""
    return LedgerBroken(
        f"{where}: the ledger's chain is broken at record {number}: {fault}; {remedy}"
    )


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
    if record.hash != hash_of(record):
        return "its content was changed"
    return ""
