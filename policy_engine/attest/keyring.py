"""The keyring: which public keys count, until when, and which were withdrawn.

A public JSON file, ``keys.json``, that a releaser keeps beside the signing key and hands out. It
holds no secret. Its owners may sign it: see ``attest.owners``; unsigned, trust it as far as the
channel it came through, as a public key. Every key that was ever used stays in it, so that old
certificates verify.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest import keys
from policy_engine.attest.ring_text import LARGEST_RING, RingKey, Seal, in_order, read_ring, text_of
from policy_engine.attest.validity import LedgerEnd, Refusal, Revoked, Validity, written
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import KEYRING_FILE
from policy_engine.values import frozen

_LISTED = "'policy-engine keys list' shows them"
_DIGITS = re.compile(r"[0-9a-f]{8,64}")


@frozen
class Keyring:
    """A keyring: the file ``keys.json``, which lists a project's public keys with their dates.

    Fields:
        ``entries``: the keys with their dates, in the order in which they were added.
        ``where``: the path of the file, for messages.
        ``seal``: the signatures of the owners. None if no owner has signed the keyring.

    >>> len(Keyring().trusted().by_id)
    0
    """

    entries: tuple[RingKey, ...] = ()
    where: str = KEYRING_FILE
    seal: Seal | None = None

    @classmethod
    def read(cls, path: Path) -> Keyring:
        """Read a keyring file. Then call ``check_signed`` of ``policy_engine.attest.owners``: it
        raises FileError if the keyring's owners have not signed it.

        Arguments:
            ``path``: the file, such as ``keys.json``.

        Errors: FileError if the file is missing, cannot be read, or is not a keyring.
        """
        with keys.opened_file(path, "the keyring") as file:
            stamp = _stamp(os.fstat(file.fileno()))
            content = file.read(LARGEST_RING + 1)
        entries, seal = read_ring(content, str(path))
        ring = cls(entries, str(path), seal)
        _READ[path] = stamp, ring
        return ring

    @classmethod
    def at(cls, path: Path) -> Keyring:
        """The keyring in a file, an empty one where there is no file.

        A file that was read by this process and not changed since is not opened again: whoever
        writes to a ledger asks each time whether a key was revoked meanwhile.
        """
        with suppress(FileNotFoundError, NotADirectoryError):
            known = _READ.get(path)
            if known is not None and known[0] == _stamp(path.stat()):
                return known[1]
        return cls.read(path) if path.exists() else cls((), str(path))

    def trusted(self) -> keys.TrustedKeys:
        """The keys to pass to ``verify``, and when each key expires, is retired or was revoked."""
        return keys.TrustedKeys(
            MappingProxyType({entry.key_id: entry.public_key for entry in self.entries}),
            MappingProxyType({entry.key_id: entry.validity for entry in self.entries}),
        )

    def get(self, name: str) -> RingKey | None:
        """The key of that id, or None."""
        return next((entry for entry in self.entries if entry.key_id == name), None)

    def refusal(self, name: str, at: datetime | None) -> Refusal | None:
        """Why a signature by a key of the ring does not count at ``at``; None for a stranger."""
        entry = self.get(name)
        return None if entry is None else entry.validity.refusal(name, at)

    def find(self, name: str) -> RingKey:
        """The one key whose id starts with ``name``, of at least 8 digits; else UsageError."""
        if not _DIGITS.fullmatch(name):
            law = "a key id, or its first 8 or more digits"
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
        name = keys.key_id(key)
        if keys.is_weak(key):
            raise UsageError(f"the key {name[:8]} {keys.WEAK}")
        if self.get(name) is not None:
            raise UsageError(f"{self.where}: has key {name} already; {_LISTED}")
        if expires is not None and expires < added:
            ends, begins = written(expires), written(added)
            raise UsageError(
                f"a key that expires on {ends}, before it was added on {begins}, signs nothing;"
                " name a later day with --expires"
            )
        public = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        if self.seal is not None and public in self.seal.owners.keys:
            raise UsageError(
                f"{self.where}: the key {name[:8]} owns the ring, and signs nothing else"
            )
        entry = RingKey(public, Validity(added, expires), _line("--note", note))
        return self._changed((*self.entries, entry))

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

    def _with(self, entry: RingKey, validity: Validity) -> Keyring:
        changed = replace(entry, validity=validity)
        return self._changed(tuple(changed if e is entry else e for e in self.entries))

    def _changed(self, entries: tuple[RingKey, ...]) -> Keyring:
        """The ring with these keys: what its owners signed was another one."""
        seal = None if self.seal is None else next_seal(self.seal)
        return replace(self, entries=in_order(entries), seal=seal)

    def to_json(self) -> str:
        """The file's text."""
        return text_of(self.entries, self.seal)


_READ: dict[Path, tuple[tuple[int, ...], Keyring]] = {}
"""The rings that this process has read, and of which state of their files."""


def _stamp(file: os.stat_result) -> tuple[int, ...]:
    """By which a file that was written anew is told: rings are put in place, so it is another."""
    return (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)


def next_seal(seal: Seal) -> Seal:
    """The seal of a ring that is changed: one serial more, unless nobody has signed this one."""
    return replace(seal, serial=seal.serial + bool(seal.signatures), signatures={})


def _line(option: str, text: str) -> str:
    """A text that the ring's reader takes."""
    if not text.isprintable():
        raise UsageError(f"{option} must be text on one line, found {text[:80]!a}")
    return text


def change(
    path: Path,
    how: Callable[[Keyring], Keyring],
    then: Callable[[], None] = lambda: None,
    wait: float = 10.0,
) -> Keyring:
    """Change the keyring in a file; the ring as it is then, on disk.

    Guarantee: each change is on disk whole or not at all, and one process changes at a time;
    ``then``, which is called after the change, belongs to it.

    Raises FileError where the file cannot be read or written, or another process changes it for
    longer than ``wait`` seconds, and whatever ``how`` and ``then`` raise.
    """
    # A ring that is a link stays one: what it leads to is changed.
    path = path.resolve()
    with keys.explained(f"{path}: cannot write the keyring"):
        keys.make_folder(path.parent)
        with _locked(path, wait):
            before = Keyring.at(path)
            after = how(before)
            if after != before:
                keys.put_file(path, after.to_json().encode(), keys.EVERYONE_READS)
            then()
            return after


@contextmanager
def _locked(path: Path, wait: float) -> Iterator[None]:
    """Exclude every other process that changes the ring; one that is killed lets go."""
    lock = path.with_name(f"{path.name}.lock")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + wait
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() >= end:
                raise FileError(
                    f"{path}: another process has been changing the keyring for {wait:g} seconds;"
                    " try again when it is done"
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)
