"""The keyring: which public keys count, until when, and which were withdrawn.

A public JSON file, ``keys.json``, that a releaser keeps beside the signing key and hands out. It
holds no secret. Nobody signs it: trust it as far as the channel it came through, as a public key.
Every key that was ever used stays in it, so that old certificates verify.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest.confidential import make_folder
from policy_engine.attest.keys import WEAK, TrustedKeys, is_weak, key_id
from policy_engine.attest.validity import LedgerEnd, Refusal, Revoked, Validity, moment, written
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import KEYRING_FILE

VERSION = 1

_LARGEST = 4_000_000
_WAIT = 10.0
_LEAST_DIGITS = 8
_PUBLIC_BYTES = 32
_DIGITS = re.compile(r"[0-9a-f]{8,64}")
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS = ("key_id", "public", "added", "expires", "retired", "revoked", "note")


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
class Keyring:
    """The keys of a ring, in the order in which they were added.

    >>> from datetime import UTC
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()
    >>> ring = Keyring().adding(key, datetime(2026, 1, 1, tzinfo=UTC))
    >>> ring.find("139e3940").key_id == key_id(key), key_id(key) in ring.trusted().by_id
    (True, True)
    """

    entries: tuple[Entry, ...] = ()
    where: str = KEYRING_FILE

    @classmethod
    def read(cls, path: Path) -> Keyring:
        """The keyring in a file.

        Raises FileError where it is missing, cannot be read or is no keyring.
        """
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except OSError as error:
            raise FileError(f"{path}: cannot read the keyring: {error.strerror}") from None
        return cls(_entries(content, str(path)), str(path))

    @classmethod
    def at(cls, path: Path) -> Keyring:
        """The keyring in a file, an empty one where there is no file."""
        return cls.read(path) if path.exists() else cls((), str(path))

    def trusted(self) -> TrustedKeys:
        """The keys to verify with, each within its dates."""
        return TrustedKeys(
            MappingProxyType({entry.key_id: entry.public_key for entry in self.entries}),
            MappingProxyType({entry.key_id: entry.validity for entry in self.entries}),
        )

    def get(self, name: str) -> Entry | None:
        """The key of that id, or None."""
        return next((entry for entry in self.entries if entry.key_id == name), None)

    def refusal(self, name: str, at: datetime | None) -> Refusal | None:
        """Why a signature by a key of the ring does not count at ``at``; None for a stranger."""
        entry = self.get(name)
        return None if entry is None else entry.validity.refusal(name, at)

    def find(self, name: str) -> Entry:
        """The one key whose id starts with ``name``, of at least 8 digits; else UsageError."""
        if not _DIGITS.fullmatch(name):
            law = f"a key id, or its first {_LEAST_DIGITS} or more digits"
            raise UsageError(f"KEYID must be {law}, found {name[:80]!a}; {_LISTED}")
        found = [entry for entry in self.entries if entry.key_id.startswith(name)]
        if len(found) != 1:
            many = "no key" if not found else f"{len(found)} keys"
            raise UsageError(f"{self.where}: {many} {name}; {_LISTED}")
        return found[0]

    def adding(
        self,
        key: Ed25519PublicKey,
        added: datetime,
        *,
        expires: datetime | None = None,
        note: str = "",
    ) -> Keyring:
        """The ring with one more key; UsageError where it has it already, or where it is weak."""
        name = key_id(key)
        if is_weak(key):
            raise UsageError(f"the key {name[:8]} {WEAK}")
        if self.get(name) is not None:
            raise UsageError(f"{self.where}: has key {name} already; {_LISTED}")
        if expires is not None and expires < added:
            ends, begins = written(expires), written(added)
            raise UsageError(
                f"a key that expires on {ends}, before it was added on {begins}, signs nothing;"
                " name a later day with --expires"
            )
        public = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        entry = Entry(public, Validity(added, expires), _line("--note", note))
        return replace(self, entries=_sorted((*self.entries, entry)))

    def retiring(self, name: str, at: datetime) -> Keyring:
        """The ring with a key retired; the first retirement of a key stays."""
        entry = self.find(name)
        if entry.validity.retired is not None:
            return self
        return self._with(entry, replace(entry.validity, retired=at))

    def revoking(
        self, name: str, at: datetime, why: str, ledger: LedgerEnd | None = None
    ) -> Keyring:
        """The ring with a key revoked, once and for a reason; a ledger's end is added later too."""
        entry = self.find(name)
        if not why.strip():
            raise UsageError("a key is revoked for a reason; say it with --why")
        before = entry.validity.revoked
        known = () if before is None else before.ledgers
        if before is not None and (ledger is None or ledger.first in {e.first for e in known}):
            on = written(before.at)
            raise UsageError(f"{self.where}: key {entry.key_id} was revoked on {on} already")
        revoked = before or Revoked(at, _line("--why", why))
        if ledger is not None:
            revoked = replace(revoked, ledgers=(*known, ledger))
        return self._with(entry, replace(entry.validity, revoked=revoked))

    def _with(self, entry: Entry, validity: Validity) -> Keyring:
        changed = replace(entry, validity=validity)
        return replace(self, entries=tuple(changed if e is entry else e for e in self.entries))

    def to_json(self) -> str:
        """The file's text: one key after the other, for people to read and compare."""
        document = {"version": VERSION, "keys": [document_of(entry) for entry in self.entries]}
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _line(option: str, text: str) -> str:
    """A text that the ring's reader takes."""
    if not text.isprintable():
        raise UsageError(f"{option} must be text on one line, found {text[:80]!a}")
    return text


_LISTED = "'policy-engine keys list' shows them"


def change(
    path: Path,
    how: Callable[[Keyring], Keyring],
    then: Callable[[], None] = lambda: None,
    wait: float = _WAIT,
) -> Keyring:
    """Change the keyring in a file; the ring as it is then, on disk.

    Guarantee: each change is on disk whole or not at all, and one process changes at a time;
    ``then``, which is called after the change, belongs to it.

    Raises FileError where the file cannot be read or written, or another process changes it for
    longer than ``wait`` seconds, and whatever ``how`` and ``then`` raise.
    """
    # A ring that is a link stays one: what it leads to is changed.
    path = path.resolve()
    try:
        make_folder(path.parent)
        with _locked(path, wait):
            before = Keyring.at(path)
            after = how(before)
            if after != before:
                _write(path, after.to_json().encode())
            then()
            return after
    except OSError as error:
        raise FileError(f"{path}: cannot write the keyring: {error.strerror}") from None


@contextmanager
def _locked(path: Path, wait: float) -> Iterator[None]:
    """Exclude every other process that changes the ring; one that is killed lets go."""
    lock = path.with_name(f"{path.name}.lock")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + wait
        while not _taken(handle):
            if time.monotonic() >= end:
                raise FileError(
                    f"{path}: another process has been changing the keyring for {wait:g} seconds;"
                    " try again when it is done"
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _write(path: Path, content: bytes) -> None:
    """Put a file in place, whole and on disk, or leave the one that was there."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _sorted(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
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


# Reading: an allow-list, since others may have written the file.


def _entries(content: bytes, where: str) -> tuple[Entry, ...]:
    if len(content) > _LARGEST:
        raise FileError(f"{where}: a keyring has at most {_LARGEST:,} bytes, found more")
    try:
        # A key that is written twice would count once as one says, once as the other.
        document = json.loads(content.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise FileError(f"{where}: must be a keyring in JSON, found other text") from None
    keys = _fields(document, ("version", "keys"), where, "the keyring")
    if keys["version"] != VERSION or isinstance(keys["version"], bool):
        _refuse(where, "version", f"{VERSION}, which this engine reads", keys["version"])
    if not isinstance(keys["keys"], list):
        _refuse(where, "keys", "a list", keys["keys"])
    entries = tuple(_entry(key, where, f"keys[{at}]") for at, key in enumerate(keys["keys"]))
    if len({entry.public for entry in entries}) < len(entries):
        raise FileError(f"{where}: holds a key twice; keep one of the two")
    return _sorted(entries)


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
    public = b""
    if isinstance(found, str):
        with suppress(binascii.Error, ValueError):
            public = base64.b64decode(found, validate=True)
    if len(public) != _PUBLIC_BYTES or base64.b64encode(public).decode() != found:
        _refuse(where, at, f"the base64 of {_PUBLIC_BYTES} bytes", found)
    if is_weak(Ed25519PublicKey.from_public_bytes(public)):
        raise FileError(f"{where}: {at} {WEAK}")
    return public


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
    ledgers = fields.get("ledgers", [])
    if not isinstance(ledgers, list):
        _refuse(where, f"{at}.ledgers", "a list", ledgers)
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
