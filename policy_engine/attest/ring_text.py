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
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.keys import WEAK, is_weak, key_id
from policy_engine.attest.validity import LedgerEnd, Revoked, Validity, moment, written
from policy_engine.errors import FileError

VERSION, SIGNED_VERSION = 1, 2
LARGEST_RING = 4_000_000

_PUBLIC_BYTES, _SIGNATURE_BYTES = 32, 64
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS = ("key_id", "public", "added", "expires", "retired", "revoked", "note")
_SEALED = ("serial", "issued", "expires", "owners", "threshold", "signatures")
_MOST_SERIAL = 2**53


@dataclass(frozen=True)
class Entry:
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


@dataclass(frozen=True)
class Owners:
    """Who may change a ring: the 32 raw bytes of public keys, and how many of them must sign."""

    keys: tuple[bytes, ...]
    threshold: int = 1


@dataclass(frozen=True)
class Seal:
    """What a signed ring says of itself, and the signatures, by key id, that came with it.

    ``serial`` rises with each change. Nothing of it is verified: see ``attest.owners``.
    """

    serial: int
    issued: datetime
    expires: datetime
    owners: Owners
    signatures: Mapping[str, bytes]


def payload_of(entries: tuple[Entry, ...], seal: Seal) -> bytes:
    """What the owners of a ring sign."""
    document = {name: v for name, v in _sealed(entries, seal).items() if name != "signatures"}
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def text_of(entries: tuple[Entry, ...], seal: Seal | None) -> str:
    """The file's text: one key after the other, for people to read and compare."""
    plain = {"version": VERSION, "keys": [document_of(entry) for entry in entries]}
    document = plain if seal is None else _sealed(entries, seal)
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _sealed(entries: tuple[Entry, ...], seal: Seal) -> dict[str, Any]:
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


def in_order(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Keys in the order in which they were added."""
    return tuple(sorted(entries, key=lambda entry: (entry.validity.added, entry.key_id)))


def document_of(entry: Entry) -> dict[str, Any]:
    """An entry as the file and ``keys list`` write it."""
    validity = entry.validity
    revoked = validity.revoked
    return {
        "key_id": entry.key_id,
        "public": base64.b64encode(entry.public).decode(),
        "added": written(validity.added),
        "expires": None if validity.expires is None else written(validity.expires),
        "retired": None if validity.retired is None else written(validity.retired),
        "revoked": None if revoked is None else _document_of(revoked),
        "note": entry.note,
    }


def _document_of(revoked: Revoked) -> dict[str, Any]:
    told: dict[str, Any] = {"at": written(revoked.at), "why": revoked.why}
    # A ring without it is read by every version.
    return {**told, "ledgers": [vars(end) for end in revoked.ledgers]} if revoked.ledgers else told


def read_ring(content: bytes, where: str) -> tuple[tuple[Entry, ...], Seal | None]:
    """The keys in a file's content and its seal; FileError for anything but a keyring."""
    if len(content) > LARGEST_RING:
        raise FileError(f"{where}: a keyring has at most {LARGEST_RING:,} bytes, found more")
    try:
        # A key that is written twice would count once as one says, once as the other.
        document = json.loads(content.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise FileError(f"{where}: must be a keyring in JSON, found other text") from None
    version = document.get("version") if isinstance(document, dict) else None
    more = _SEALED if version == SIGNED_VERSION else ()
    keys = _fields(document, ("version", *more, "keys"), where, "the keyring")
    if type(version) is not int or version not in (VERSION, SIGNED_VERSION):
        law = f"{VERSION} or {SIGNED_VERSION}, which this engine reads"
        _refuse(where, "version", law, version)
    listed = _list(keys["keys"], where, "keys")
    entries = tuple(_entry(key, where, f"keys[{at}]") for at, key in enumerate(listed))
    if len({entry.public for entry in entries}) < len(entries):
        raise FileError(f"{where}: holds a key twice; keep one of the two")
    return in_order(entries), _seal(keys, entries, where) if more else None


def _seal(found: Mapping[str, Any], entries: tuple[Entry, ...], where: str) -> Seal:
    owners, signatures = (_list(found[name], where, name) for name in ("owners", "signatures"))
    keys = tuple(_public(key, where, f"owners[{at}]") for at, key in enumerate(owners))
    if len(set(keys)) < len(keys) or {*keys} & {entry.public for entry in entries}:
        law = "keys that are named once, and are none of the keys of the ring"
        _refuse(where, "owners", law, owners)
    signed = dict(_signature(each, where, f"signatures[{n}]") for n, each in enumerate(signatures))
    if len(signed) < len(signatures):
        raise FileError(f"{where}: holds two signatures of one key; keep one of the two")
    return Seal(
        _number(found["serial"], _MOST_SERIAL, where, "serial"),
        _moment(found["issued"], where, "issued"),
        _moment(found["expires"], where, "expires"),
        Owners(keys, _number(found["threshold"], len(keys), where, "threshold")),
        signed,
    )


def _signature(found: object, where: str, at: str) -> tuple[str, bytes]:
    fields = _fields(found, ("keyid", "sig"), where, at)
    if not isinstance(fields["keyid"], str) or not _HASH.fullmatch(fields["keyid"]):
        _refuse(where, f"{at}.keyid", "a key id", fields["keyid"])
    return fields["keyid"], _bytes(fields["sig"], _SIGNATURE_BYTES, where, f"{at}.sig")


def _number(found: object, most: int, where: str, at: str) -> int:
    if type(found) is not int or not 1 <= found <= most:
        _refuse(where, at, f"a whole number from 1 to {most:,}", found)
    return found


def _list(found: object, where: str, at: str) -> list[Any]:
    if not isinstance(found, list):
        _refuse(where, at, "a list", found)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)


def _entry(found: object, where: str, at: str) -> Entry:
    fields = _fields(found, _FIELDS, where, at)
    entry = Entry(
        _public(fields["public"], where, f"{at}.public"),
        Validity(
            added=_moment(fields["added"], where, f"{at}.added"),
            expires=_end(fields["expires"], where, f"{at}.expires"),
            retired=_end(fields["retired"], where, f"{at}.retired"),
            revoked=_revoked(fields["revoked"], where, f"{at}.revoked"),
        ),
        _text(fields["note"], where, f"{at}.note"),
    )
    if fields["key_id"] != entry.key_id:
        law = f"the SHA-256 of public, {entry.key_id}"
        _refuse(where, f"{at}.key_id", law, fields["key_id"])
    return entry


def _fields(found: object, names: tuple[str, ...], where: str, at: str) -> Mapping[str, Any]:
    if not isinstance(found, dict) or found.keys() != set(names):
        shown = list(found) if isinstance(found, dict) else found
        _refuse(where, at, f"an object with exactly {', '.join(names)}", shown)
    return found


def _public(found: object, where: str, at: str) -> bytes:
    public = _bytes(found, _PUBLIC_BYTES, where, at)
    if is_weak(Ed25519PublicKey.from_public_bytes(public)):
        raise FileError(f"{where}: {at} {WEAK}")
    return public


def _bytes(found: object, size: int, where: str, at: str) -> bytes:
    read = b""
    if isinstance(found, str):
        with suppress(binascii.Error, ValueError):
            read = base64.b64decode(found, validate=True)
    if len(read) != size or base64.b64encode(read).decode() != found:
        _refuse(where, at, f"the base64 of {size} bytes", found)
    return read


def _moment(found: object, where: str, at: str) -> datetime:
    read = moment(found)
    if read is None:
        _refuse(where, at, "a moment such as 2026-11-21T10:00:00Z", found)
    return read


def _end(found: object, where: str, at: str) -> datetime | None:
    return None if found is None else _moment(found, where, at)


def _revoked(found: object, where: str, at: str) -> Revoked | None:
    if found is None:
        return None
    more = ("ledgers",) if isinstance(found, dict) and "ledgers" in found else ()
    fields = _fields(found, ("at", "why", *more), where, at)
    why = _text(fields["why"], where, f"{at}.why")
    ledgers = _list(fields.get("ledgers", []), where, f"{at}.ledgers")
    ends = [_ledger(end, where, f"{at}.ledgers[{n}]") for n, end in enumerate(ledgers)]
    return Revoked(_moment(fields["at"], where, f"{at}.at"), why, tuple(ends))


def _ledger(found: object, where: str, at: str) -> LedgerEnd:
    end = LedgerEnd(**_fields(found, ("first", "records", "head"), where, at))
    texts = [text for text in (end.first, end.head) if isinstance(text, str)]
    is_count = type(end.records) is int and end.records > 0
    if len([*filter(_HASH.fullmatch, texts)]) < 2 or not is_count:
        _refuse(where, at, "two SHA-256 in hex, first and head, and a number of records", found)
    return end


def _text(found: object, where: str, at: str) -> str:
    if not isinstance(found, str) or not found.isprintable():
        _refuse(where, at, "text on one line", found)
    return found


def _refuse(where: str, at: str, law: str, found: object) -> NoReturn:
    shown = ascii(found)
    shown = shown if len(shown) <= 80 else shown[:80] + "…"
    raise FileError(f"{where}: {at} must be {law}, found {shown}")
