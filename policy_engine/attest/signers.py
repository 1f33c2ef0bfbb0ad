"""Who signs: a key in a file or in the environment, or a command that has the key elsewhere.

Whatever signs is a ``Signer``: it has a public key and gives the 64 bytes of an Ed25519 signature
over any bytes. The engine sees a private key only where it lies in a file or in the environment.
"""

from __future__ import annotations

import base64
import binascii
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from policy_engine.attest.key_files import complete_key_pair
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    key_id,
    load_private_key,
    load_public_key,
    pem_of,
)
from policy_engine.attest.making import make_key
from policy_engine.attest.owners import check_may_sign
from policy_engine.errors import FileError
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import show

TIMEOUT = 60.0
"""Seconds that a command has for one signature."""
_SIGNATURE_BYTES = 64
_SHOWN = 200


class Signer(Protocol):
    """Something that signs with one Ed25519 key."""

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key that its signatures verify with."""

    @property
    def key_id(self) -> str:
        """The id of that key."""

    def sign(self, data: bytes) -> bytes:
        """The 64 bytes of the signature over ``data``; FileError where there is none."""


@dataclass(frozen=True)
class KeySigner:
    """Signs with a private key that this process holds.

    >>> signer = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    >>> signer.key_id[:8], len(signer.sign(b"a statement"))
    ('139e3940', 64)
    """

    private_key: Ed25519PrivateKey

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The public half of the key."""
        return self.private_key.public_key()

    @property
    def key_id(self) -> str:
        """The id of the key."""
        return key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The signature; the same bytes every time."""
        return self.private_key.sign(data)


@dataclass(frozen=True)
class CommandSigner:
    """Signs with a command, such as one that asks a key management service.

    The command gets the bytes to sign on stdin and prints the base64 of the 64 bytes of the
    signature. It is run without a shell, in ``directory``. Guarantee: no signature is returned
    that does not verify with ``public_key``.
    """

    command: tuple[str, ...]
    public_key: Ed25519PublicKey
    directory: Path
    timeout: float = TIMEOUT

    @property
    def key_id(self) -> str:
        """The id of the command's key."""
        return key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The signature of the command.

        Raises FileError where the command cannot be run, fails, takes longer than ``timeout``
        seconds, or prints anything but a signature of its key. A message has no more of it than
        its name and the first line of its stderr.
        """
        signature = self._signature(self._answer(data))
        try:
            self.public_key.verify(signature, data)
        except InvalidSignature:
            raise self._failed(
                f"printed a signature that is not of key {self.key_id}; it must sign its stdin"
                " itself, not a digest of it, with the key of signing.public_key"
            ) from None
        return signature

    def _answer(self, data: bytes) -> bytes:
        """What the command prints."""
        try:
            process = subprocess.Popen(
                self.command,
                cwd=self.directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise self._failed(f"cannot be run: {error.strerror}") from None
        with process:
            try:
                answer, said = process.communicate(data, self.timeout)
            except subprocess.TimeoutExpired:
                raise self._failed(f"has not signed within {self.timeout:g} seconds") from None
            finally:
                _end(process)
        if process.returncode != 0:
            first = said.decode(errors="replace").strip().partition("\n")[0]
            told = f" and said {first[:_SHOWN]!a}" if first else ""
            raise self._failed(f"ended with code {process.returncode}{told}")
        return answer

    def _signature(self, answer: bytes) -> bytes:
        """The 64 bytes in what the command printed."""
        with suppress(binascii.Error, ValueError):
            signature = base64.b64decode(b"".join(answer.split()), validate=True)
            if len(signature) == _SIGNATURE_BYTES:
                return signature
        raise self._failed(
            f"must print the base64 of the {_SIGNATURE_BYTES} bytes of an Ed25519 signature,"
            f" found {len(answer)} bytes of other text"
        )

    def _failed(self, what: str) -> FileError:
        return FileError(f"signing.command: {show(self.command[0])} {what}; nothing was signed")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command that still runs, and its children: nothing signs on behind our back."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def signer_of(project: Project, at: datetime | None = None) -> Signer:
    """Who signs for a project: the key of the environment, else what its ``signing`` names.

    The first key of a project is made and entered into its keyring. One that is missing later was
    lost, and none is made in its place.

    Guarantee: a key that is in the project's keyring is returned only if its signature under the
    time ``at``, by default now, counts: nothing is charged for a release that nobody could verify.
    A signed keyring is believed and has not expired.

    Raises FileError where a file cannot be read or written, or the key is lost or does not count
    any more, UsageError where the variable holds no key.
    """
    at = at or datetime.now(UTC)
    signer = _signer(project, at)
    check_may_sign(project)
    refusal = Keyring.at(project.keyring).refusal(signer.key_id, at)
    if refusal is not None:
        remedy = "sign with another key: 'policy-engine keys rotate' makes one"
        raise FileError(f"{project.keyring}: {refusal.text}; {remedy}")
    return signer


def writer_of(project: Project, at: datetime | None = None) -> Signer:
    """Who signs the records of a project's ledger: a signer that is in the keyring.

    The first key of all is entered by itself. A stranger's records would stop everybody else.

    Raises FileError as ``signer_of``, and for a key that is not in the keyring.
    """
    at = at or datetime.now(UTC)
    signer = signer_of(project, at)
    if Keyring.at(project.keyring).get(signer.key_id) is None:
        change(project.keyring, lambda ring: _entered(ring, signer, project, at))
    return signer


def _entered(ring: Keyring, signer: Signer, project: Project, at: datetime) -> Keyring:
    if ring.get(signer.key_id) is not None:
        return ring
    if ring.entries or ring.seal is not None:
        public = _public_place(project)
        raise FileError(
            f"{project.keyring}: the key {signer.key_id[:8]}, which signs, is not in the keyring:"
            " others would take its records for a stranger's. Nothing was charged; enter it with"
            f" 'policy-engine keys add {public}'"
        )
    return ring.adding(signer.public_key, at)


def _public_place(project: Project) -> str:
    """Where the public half of the key that signs is, as far as that is known."""
    return "PUBLIC_KEY" if os.environ.get(SIGNING_KEY_VARIABLE) else str(project.public_key)


def lost_key(project: Project) -> str:
    """What is missing, and what to do, where a project had a key in a file and has it no more.

    Empty where there is one, or none is needed: somebody else signs, or nothing was signed yet.
    """
    path, public = project.signing_key, project.public_key
    if os.environ.get(SIGNING_KEY_VARIABLE) or project.signing_command:
        return ""
    remedy = ""
    if public.exists():
        remedy = f"its public half {public.name} is there; restore it, or run 'policy-engine keys"
        remedy += " rotate', which puts a new key in its place"
    elif Keyring.at(project.keyring).entries:
        remedy = f"{project.keyring} has keys of this project; restore it, or run 'policy-engine"
        remedy += " keys generate', which makes a new one and enters it"
    # Asked last: who makes the first key at this moment writes the private half before all else.
    is_lost = bool(remedy) and not path.exists()
    return f"{path}: the private key is missing, and {remedy}" if is_lost else ""


def _signer(project: Project, at: datetime) -> Signer:
    if os.environ.get(SIGNING_KEY_VARIABLE):
        return KeySigner(load_private_key())
    if project.signing_command:
        public_key = load_public_key(project.public_key)
        return CommandSigner(project.signing_command, public_key, project.directory)
    if not project.signing_key.exists():
        if lost := lost_key(project):
            raise FileError(lost)
        _make_first(project, at)
    key = load_private_key(project.signing_key)
    if not project.public_key.exists():
        # A crash has parted the two. Where a key is only read, it signs without its public half.
        with suppress(FileError):
            complete_key_pair(project.signing_key, pem_of(key)[1])
    return KeySigner(key)


def _make_first(project: Project, at: datetime) -> None:
    """Make a project's first key; that of another process that was faster stays."""
    try:
        make_key(project.signing_key, project.keyring, at)
    except FileError:
        if not project.signing_key.exists():
            raise


def public_key_of(project: Project) -> Ed25519PublicKey | None:
    """The key that a project signs with, None where it has none yet; makes nothing.

    Raises FileError and UsageError where there is one that cannot be read.
    """
    if os.environ.get(SIGNING_KEY_VARIABLE):
        return load_private_key().public_key()
    if project.signing_command or project.public_key.exists():
        return load_public_key(project.public_key)
    if project.signing_key.exists():
        return load_public_key(project.signing_key)
    return None
