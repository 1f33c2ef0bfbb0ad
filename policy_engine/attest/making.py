"""Making keys: each enters the keyring as it is made, and a project's key may be replaced.

Of a replaced key the private half stays beside the new one, under a name with the first digits of
its id, and the public half stays in the keyring, retired: what it signed before verifies as before.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.confidential import make_folder
from policy_engine.attest.key_files import EVERYONE_READS, OWNER_ONLY, create_key_file
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    generate_key,
    key_id,
    load_private_key,
    load_public_key,
    pem_of,
)
from policy_engine.attest.ring_text import Entry
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import Project

BEFORE_THE_RING = datetime(1970, 1, 1, tzinfo=UTC)
"""Since when a key is said to be known that signed before there was a keyring."""


def make_key(
    path: Path, keyring: Path, at: datetime, *, expires: datetime | None = None, note: str = ""
) -> Entry:
    """Make a key at ``path``, with its public key beside it, and enter it as added ``at``.

    Guarantee: files and entry, or nothing. Raises FileError where a file exists, or cannot be read
    or written, UsageError for dates or a note that no key can have.
    """
    key = Ed25519PrivateKey.generate()
    made: list[Path] = []

    def entered(ring: Keyring) -> Keyring:
        after = ring.adding(key.public_key(), at, expires=expires, note=note)
        generate_key(path, key)
        made.extend((path, path.with_suffix(".pub")))
        return after

    try:
        make_folder(path.parent)
    except OSError as error:
        raise FileError(f"{path}: cannot write the key: {error.strerror}") from None
    try:
        return change(keyring, entered).find(key_id(key.public_key()))
    except BaseException:
        for file in made:
            file.unlink()
        raise


@dataclass(frozen=True)
class Rotated:
    """The ids of the old key and of the new one, and where the old private key is kept.

    ``kept`` is None where the old private key is lost.
    """

    old: str
    new: str
    kept: Path | None


def rotate(
    project: Project, at: datetime, *, expires: datetime | None = None, note: str = ""
) -> Rotated:
    """Make a new key the project's; the old one is kept aside and retired at ``at``.

    Guarantee: one rotation at a time, and a crash at any step leaves a key in its place. If it is
    still the old one, it is retired already: nothing is signed with it, and rotating again mends.

    A private key that is lost leaves nothing to keep; its public half says which one it was.

    Raises UsageError where the project signs by the environment or by a command, or has no key,
    FileError where a file cannot be read or written.
    """
    _check_in_a_file(project)
    path, new = project.signing_key, Ed25519PrivateKey.generate()
    done: list[Rotated] = []

    def entered(ring: Keyring) -> Keyring:
        old, kept = load_public_key(path if path.exists() else project.public_key), None
        name = key_id(old)
        if path.exists():
            kept = path.with_name(f"{path.stem}.{name[:8]}{path.suffix}")
            _keep(kept, load_private_key(path))
        done.append(Rotated(name, key_id(new.public_key()), kept))
        if ring.get(name) is None:
            ring = ring.adding(old, BEFORE_THE_RING, note="made before the keyring")
        return ring.retiring(name, at).adding(new.public_key(), at, expires=expires, note=note)

    def put() -> None:
        private_pem, public_pem = pem_of(new)
        # The private key last: until it is there, the retired one is, which signs nothing.
        _replace(project.public_key, public_pem, EVERYONE_READS)
        _replace(path, private_pem, OWNER_ONLY)

    change(project.keyring, entered, put)
    return done[0]


def _check_in_a_file(project: Project) -> None:
    """Refuse to rotate a key that does not lie in a file of the project."""
    if os.environ.get(SIGNING_KEY_VARIABLE):
        raise UsageError(
            f"{SIGNING_KEY_VARIABLE} is set and signs: make a new key with 'policy-engine keys"
            " generate --output PATH', put its text there, and retire the old one with"
            " 'keys retire'"
        )
    if project.signing_command:
        raise UsageError(
            "the project signs by a command: make the new key where the command has it, name its"
            " public key in signing.public_key, enter it with 'policy-engine keys add', and retire"
            " the old one with 'keys retire'"
        )
    if not project.signing_key.exists() and not project.public_key.exists():
        raise UsageError(
            f"{project.signing_key}: there is no key to rotate; 'policy-engine keys generate'"
            " makes one"
        )


def _keep(path: Path, key: Ed25519PrivateKey) -> None:
    """Write a private key aside, unless a rotation that was broken off has done so."""
    if not path.exists():
        create_key_file(path, pem_of(key)[0], OWNER_ONLY)
    elif key_id(load_private_key(path).public_key()) != key_id(key.public_key()):
        raise FileError(f"{path}: holds another key than its name says; move it away")


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Put a key's file in the place of the one that is there, whole and on disk."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    create_key_file(aside, content, mode)
    try:
        aside.replace(path)
    except OSError as error:
        aside.unlink()
        raise FileError(f"{path}: cannot write the key: {error.strerror}") from None
