"""What a keyring's file says: its keys and, where it is signed, who vouches for it until when.

Read by an allow-list, since others may have written it. What owners sign is the document without
their signatures, printed anew from what was read: nothing counts that was not looked at.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.keys import WEAK, is_weak, key_id
from policy_engine.attest.validity import LedgerEnd, Revoked, Validity, moment, written
from policy_engine.errors import FileError
from policy_engine.values import frozen

VERSION, SIGNED_VERSION = 1, 2
LARGEST_RING = 4_000_000

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@frozen
class RingKey:
    """One key of the ring. ``public`` are its 32 raw bytes."""

    public: bytes
    validity: Validity
    note: str = ""

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key itself."""
        return Ed25519PublicKey.from_public_bytes(self.public)

    @property
    def key_id(self) -> str:
        """Its id."""
        return key_id(self.public_key)


@frozen
class Owners:
    """Who may change a ring: the 32 raw bytes of public keys, and how many of them must sign."""

    keys: tuple[bytes, ...]
    threshold: int = 1


@frozen
class Seal:
    """What a signed ring says of itself, its serial rising with each change; not verified here."""

    serial: int
    issued: datetime
    expires: datetime
    owners: Owners
    signatures: Mapping[str, bytes]


def payload_of(entries: tuple[RingKey, ...], seal: Seal) -> bytes:
    """What the owners of a ring sign."""
    document = {name: v for name, v in _sealed(entries, seal).items() if name != "signatures"}
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def text_of(entries: tuple[RingKey, ...], seal: Seal | None) -> str:
    """The file's text: one key after the other, for people to read and compare."""
    plain = {"version": VERSION, "keys": [document_of(entry) for entry in entries]}
    document = plain if seal is None else _sealed(entries, seal)
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _sealed(entries: tuple[RingKey, ...], seal: Seal) -> dict[str, object]:
    return {
        "version": SIGNED_VERSION,
        "serial": seal.serial,
        "issued": written(seal.issued),
        "expires": written(seal.expires),
        "owners": [base64.b64encode(key).decode() for key in seal.owners.keys],
        "threshold": seal.owners.threshold,
        "keys": [document_of(entry) for entry in entries],
        "signatures": [
            {"keyid": name, "sig": base64.b64encode(signature).decode()}
            for name, signature in sorted(seal.signatures.items())
        ],
    }


def in_order(entries: tuple[RingKey, ...]) -> tuple[RingKey, ...]:
    """Keys in the order in which they were added."""
    return tuple(sorted(entries, key=lambda entry: (entry.validity.added, entry.key_id)))


def document_of(entry: RingKey) -> dict[str, object]:
    """An entry as the file and ``keys list`` write it."""
    dates, revoked = entry.validity, entry.validity.revoked
    told: dict[str, object] | None = None
    if revoked is not None:
        told = {"at": written(revoked.at), "why": revoked.why}
        # A ring without it is read by every version.
        told |= {"ledgers": [vars(end) for end in revoked.ledgers]} if revoked.ledgers else {}
    return {
        "key_id": entry.key_id,
        "public": base64.b64encode(entry.public).decode(),
        "added": written(dates.added),
        "expires": None if dates.expires is None else written(dates.expires),
        "retired": None if dates.retired is None else written(dates.retired),
        "revoked": told,
        "note": entry.note,
    }


@frozen
class _Read:
    """A value of a ring's file, and where it stands there; whatever it must not be is refused."""

    found: Any
    where: str
    at: str = "the keyring"

    def fields(self, *names: str) -> dict[str, _Read]:
        if not isinstance(self.found, dict) or self.found.keys() != set(names):
            shown = list(self.found) if isinstance(self.found, dict) else self.found
            self.refuse(f"an object with exactly {', '.join(names)}", shown)
        above = "" if self.at == "the keyring" else f"{self.at}."
        return {name: _Read(self.found[name], self.where, f"{above}{name}") for name in names}

    def listed(self) -> list[_Read]:
        if not isinstance(self.found, list):
            self.refuse("a list")
        return [_Read(each, self.where, f"{self.at}[{n}]") for n, each in enumerate(self.found)]

    def text(self) -> str:
        if not isinstance(self.found, str) or not self.found.isprintable():
            self.refuse("text on one line")
        return self.found

    def number(self, most: int) -> int:
        if type(self.found) is not int or not 1 <= self.found <= most:
            self.refuse(f"a whole number from 1 to {most:,}")
        return self.found

    def moment(self) -> datetime:
        read = moment(self.found)
        if read is None:
            self.refuse("a moment such as 2026-11-21T10:00:00Z")
        return read

    def end(self) -> datetime | None:
        return None if self.found is None else self.moment()

    def octets(self, size: int) -> bytes:
        read = b""
        if isinstance(self.found, str):
            with suppress(binascii.Error, ValueError):
                read = base64.b64decode(self.found, validate=True)
        if len(read) != size or base64.b64encode(read).decode() != self.found:
            self.refuse(f"the base64 of {size} bytes")
        return read

    def public(self) -> bytes:
        public = self.octets(32)
        if is_weak(Ed25519PublicKey.from_public_bytes(public)):
            raise FileError(f"{self.where}: {self.at} {WEAK}")
        return public

    def is_hash(self) -> bool:
        return isinstance(self.found, str) and _HASH.fullmatch(self.found) is not None

    def refuse(self, law: str, found: object = ...) -> NoReturn:
        shown = ascii(self.found if found is ... else found)
        shown = shown if len(shown) <= 80 else shown[:80] + "…"
        raise FileError(f"{self.where}: {self.at} must be {law}, found {shown}")


def read_ring(content: bytes, where: str) -> tuple[tuple[RingKey, ...], Seal | None]:
    """The keys in a file's content and its seal; FileError for anything but a keyring."""
    if len(content) > LARGEST_RING:
        raise FileError(f"{where}: a keyring has at most {LARGEST_RING:,} bytes, found more")
    try:
        # A key that is written twice would count once as one says, once as the other.
        document = json.loads(content.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise FileError(f"{where}: must be a keyring in JSON, found other text") from None
    version = document.get("version") if isinstance(document, dict) else None
    more = ("serial", "issued", "expires", "owners", "threshold")
    names = (*more, "signatures") if version == SIGNED_VERSION else ()
    told = _Read(document, where).fields("version", *names, "keys")
    if type(version) is not int or version not in (VERSION, SIGNED_VERSION):
        law = f"{VERSION} or {SIGNED_VERSION}, which this engine reads"
        told["version"].refuse(law)
    entries = tuple(map(_entry, told["keys"].listed()))
    publics = {entry.public for entry in entries}
    if len(publics) < len(entries):
        raise FileError(f"{where}: holds a key twice; keep one of the two")
    return in_order(entries), _seal(told, publics) if names else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)


def _seal(told: Mapping[str, _Read], publics: set[bytes]) -> Seal:
    listed, signatures = told["owners"].listed(), told["signatures"].listed()
    keys = tuple(each.public() for each in listed)
    if len(set(keys)) < len(keys) or {*keys} & publics:
        told["owners"].refuse("keys that are named once, and are none of the keys of the ring")
    signed = {}
    for each in signatures:
        fields = each.fields("keyid", "sig")
        if not fields["keyid"].is_hash():
            fields["keyid"].refuse("a key id")
        signed[fields["keyid"].found] = fields["sig"].octets(64)
    if len(signed) < len(signatures):
        where = told["owners"].where
        raise FileError(f"{where}: holds two signatures of one key; keep one of the two")
    return Seal(
        told["serial"].number(2**53),
        told["issued"].moment(),
        told["expires"].moment(),
        Owners(keys, told["threshold"].number(len(keys))),
        signed,
    )


def _entry(read: _Read) -> RingKey:
    told = read.fields("key_id", "public", "added", "expires", "retired", "revoked", "note")
    public = told["public"].public()
    added, expires, retired = (told["added"].moment(), told["expires"].end(), told["retired"].end())
    validity = Validity(added, expires, retired, _revoked(told["revoked"]))
    entry = RingKey(public, validity, told["note"].text())
    if told["key_id"].found != entry.key_id:
        told["key_id"].refuse(f"the SHA-256 of public, {entry.key_id}")
    return entry


def _revoked(read: _Read) -> Revoked | None:
    if read.found is None:
        return None
    more = ("ledgers",) if isinstance(read.found, dict) and "ledgers" in read.found else ()
    told = read.fields("at", "why", *more)
    why, ends = told["why"].text(), []
    for each in told["ledgers"].listed() if more else ():
        end = each.fields("first", "records", "head")
        records = end["records"].found
        is_count = type(records) is int and records > 0
        if not (end["first"].is_hash() and end["head"].is_hash() and is_count):
            each.refuse("two SHA-256 in hex, first and head, and a number of records")
        ends.append(LedgerEnd(**each.found))
    return Revoked(told["at"].moment(), why, tuple(ends))
