"""Who vouches for a keyring: its owners, whose signatures a changed ring needs (the TUF habit).

A signed ring has a ``serial`` that rises with each change, an end, owners and how many of them must
sign. It is believed where as many have, and takes the place of a ring that was believed before
only where as many of that one's owners have too and its serial is no lower. Owners sign nothing
else, so who steals a key that signs releases cannot bring back one that was revoked.

Source: The Update Framework, root metadata (https://theupdateframework.github.io/specification/).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest.attestation import pae
from policy_engine.attest.keyring import Keyring, change, next_seal
from policy_engine.attest.keys import WEAK, is_weak, key_id
from policy_engine.attest.ring_text import Owners, RingKey, Seal, payload_of
from policy_engine.attest.validity import written
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.attest.signers import Signer

PAYLOAD_TYPE = "application/vnd.policy-engine.keyring+json"
_SIGN = "its owners sign it with 'policy-engine keys sign --key OWNER.pem'"


def believed(project: Project) -> Keyring:
    """The project's keyring, as far as its word counts here.

    Guarantee: where the project file names owners, or this machine has seen a signed ring, no key
    counts that they have not signed, and none again that they have withdrawn. Of a ring that is
    changed and not signed yet only that counts which it withdraws. Without both, the ring as it is.

    Raises FileError where it is not signed, or older than the one that was seen.
    """
    ring, seen = Keyring.at(project.keyring), Keyring.at(project.ring_seen)
    if ring.seal is not None and seen.seal is not None and not is_signed(ring):
        _check_owned(seen, project)
        return _withdrawn(seen, ring)
    _check(ring, seen, project)
    return ring


def check_may_sign(project: Project) -> None:
    """FileError unless a project may sign under its keyring as it is now; it is remembered."""
    ring, seen = Keyring.at(project.keyring), Keyring.at(project.ring_seen)
    _check(ring, seen, project)
    if ring.seal is None:
        return
    if ring.seal.expires < datetime.now(UTC):
        raise FileError(
            f"{ring.where}: the keyring expired on {written(ring.seal.expires)}, and nothing is"
            " signed under it; an owner renews it with 'policy-engine keys sign --key OWNER.pem"
            " --expires DAY'"
        )
    remember(project, ring)


def remember(project: Project, ring: Keyring) -> None:
    """Keep a signed ring as the one that was seen, unless a later one is kept, or none can be."""

    def later(seen: Keyring) -> Keyring:
        is_later = seen.seal is None or ring.seal is None or seen.seal.serial < ring.seal.serial
        return replace(ring, where=seen.where) if is_later else seen

    with suppress(FileError):
        change(project.ring_seen, later)


def is_signed(ring: Keyring) -> bool:
    """Whether as many owners as a ring itself asks for have signed it."""
    seal = ring.seal
    return seal is not None and _count(ring, seal.owners) >= seal.owners.threshold


def check_signed(ring: Keyring) -> None:
    """Return if a ring is signed as it says itself, or is one of those that nobody signs."""
    if ring.seal is not None and not is_signed(ring):
        owners = ring.seal.owners
        raise FileError(
            f"{ring.where}: keyring {ring.seal.serial} must be signed by {owners.threshold} of its"
            f" {counted(len(owners.keys), 'owner')}, found {_count(ring, owners)}; {_SIGN}"
        )


def check_follows(seen: Keyring, ring: Keyring) -> None:
    """Return if a ring, which is signed, may take the place of one that was believed.

    Raises FileError for a lower serial, another ring of the same one, and a ring that too few
    owners of the former one have signed.
    """
    if seen.seal is None:
        return
    before = f"keyring {seen.seal.serial} was seen here ({seen.where})"
    if ring.seal is None:
        raise FileError(f"{ring.where}: nobody has signed it, and {before}: restore that one")
    if ring.seal.serial < seen.seal.serial:
        raise FileError(
            f"{ring.where}: is keyring {ring.seal.serial}, and {before}: an old copy may hold keys"
            " that were withdrawn since. Restore the newer one"
        )
    found, needed = _count(ring, seen.seal.owners), seen.seal.owners.threshold
    if ring.seal.serial == seen.seal.serial:
        if payload_of(ring.entries, ring.seal) != payload_of(seen.entries, seen.seal):
            raise FileError(
                f"{ring.where}: is another keyring {ring.seal.serial} than the one that was seen"
                f" here ({seen.where}): ask its owners which of the two is theirs"
            )
    elif found < needed:
        raise FileError(
            f"{ring.where}: keyring {ring.seal.serial} must be signed by {needed} of the owners of"
            f" the one before, found {found}; {before}."
            " Where owners changed more than once since, take the rings between first, in order"
        )


def newer_at(path: Path, ring: Keyring) -> Keyring | None:
    """The ring in a file, where its owners signed it as a later one than this one; else None."""
    if ring.seal is None or not path.is_file():
        return None
    with suppress(FileError):
        found = Keyring.read(path)
        check_signed(found)
        check_follows(ring, found)
        if found.seal is not None and found.seal.serial > ring.seal.serial:
            return found
    return None


def signed(
    ring: Keyring,
    signer: Signer,
    at: datetime,
    *,
    expires: datetime | None = None,
    owners: Owners | None = None,
    former: tuple[bytes, ...] = (),
) -> Keyring:
    """A ring with one signature more; another end or other owners make it a new one, to sign anew.

    ``former`` are keys that may sign though they own it no more: owners of the ring before.

    Raises UsageError for a key that may not sign, and a ring that none could believe.
    """
    raw = signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    seal = ring.seal
    if seal is None:
        if expires is None:
            raise UsageError("the first signature says how long the keyring holds: --expires DAY")
        seal = Seal(1, at, expires, owners or Owners((raw,)), {})
    elif expires is not None or owners is not None:
        seal = replace(
            next_seal(seal), expires=expires or seal.expires, owners=owners or seal.owners
        )
    seal = seal if seal.signatures else replace(seal, issued=at)
    _check_seal(ring, seal, raw, at, former)
    signature = signer.sign(pae(PAYLOAD_TYPE, payload_of(ring.entries, seal)))
    signatures = {**seal.signatures, signer.key_id: signature}
    return replace(ring, seal=replace(seal, signatures=signatures))


def _check_seal(
    ring: Keyring, seal: Seal, raw: bytes, at: datetime, former: tuple[bytes, ...]
) -> None:
    owners = seal.owners
    keys = {entry.public for entry in ring.entries}
    if not 1 <= owners.threshold <= len(set(owners.keys)) == len(owners.keys):
        law = "be at least 1, and at most the number of owners, each named once"
        raise UsageError(f"--threshold must {law}, found {owners.threshold} of {len(owners.keys)}")
    for key in (*owners.keys, raw):
        public = Ed25519PublicKey.from_public_bytes(key)
        name = key_id(public)[:8]
        if is_weak(public):
            raise UsageError(f"the key {name} {WEAK}")
        if key in keys:
            raise UsageError(
                f"the key {name} is in the ring and signs releases; an owner has a key of their"
                " own, which signs the ring alone and lies elsewhere"
            )
    if raw not in (*owners.keys, *former):
        name = key_id(Ed25519PublicKey.from_public_bytes(raw))[:8]
        raise UsageError(f"{ring.where}: the key {name} is none of its owners'")
    if seal.expires <= at:
        ends = written(seal.expires)
        raise UsageError(f"{ring.where}: ends on {ends}; name a later day with --expires")


def _check(ring: Keyring, seen: Keyring, project: Project) -> None:
    check_signed(ring)
    check_follows(seen, ring)
    _check_owned(ring, project)


def _check_owned(ring: Keyring, project: Project) -> None:
    """Return if the owners whom the project file names have signed a ring."""
    owners = Owners(project.owners, project.owners_needed)
    found = _count(ring, owners)
    if owners.keys and found < owners.threshold:
        raise FileError(
            f"{ring.where}: must be signed by {owners.threshold} of the signing.owners of"
            f" {project.file}, found {found}; {_SIGN}"
        )


def _withdrawn(seen: Keyring, ring: Keyring) -> Keyring:
    """A signed ring, and of a later one that nobody has signed yet only what it withdraws."""

    def less(entry: RingKey) -> RingKey:
        told = ring.get(entry.key_id)
        if told is None:
            return entry
        own, other = entry.validity, told.validity
        ends = [end for end in (own.retired, other.retired) if end is not None]
        revoked = own.revoked or other.revoked
        return replace(
            entry, validity=replace(own, retired=min(ends, default=None), revoked=revoked)
        )

    return replace(seen, entries=tuple(map(less, seen.entries)))


def _count(ring: Keyring, owners: Owners) -> int:
    """How many of these owners have signed a ring."""
    if ring.seal is None:
        return 0
    signed, found = pae(PAYLOAD_TYPE, payload_of(ring.entries, ring.seal)), 0
    for raw in set(owners.keys):
        key = Ed25519PublicKey.from_public_bytes(raw)
        with suppress(InvalidSignature):
            if not is_weak(key):
                key.verify(ring.seal.signatures.get(key_id(key), b""), signed)
                found += 1
    return found
