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
from datetime import UTC, datetime
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from policy_engine.attest import keys
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.owners import check_may_sign
from policy_engine.attest.ring_text import RingKey
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import show
from policy_engine.values import frozen

TIMEOUT = 60.0
"""Seconds that a command has for one signature."""
_SIGNATURE_BYTES = 64
_SHOWN = 200
BEFORE_THE_RING = datetime(1970, 1, 1, tzinfo=UTC)
"""Since when a key is said to be known that signed before there was a keyring."""


@frozen
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
        return keys.key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The signature; the same bytes every time."""
        return self.private_key.sign(data)


@frozen
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
        return keys.key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The signature of the command.

        Raises FileError where the command cannot be run, fails, takes longer than ``timeout``
        seconds, or prints anything but a signature of its key. A message has no more of it than
        its name and the first line of its stderr.
        """
        answer, signature = self._answer(data), b""
        with suppress(binascii.Error, ValueError):
            signature = base64.b64decode(b"".join(answer.split()), validate=True)
        if len(signature) != _SIGNATURE_BYTES:
            raise self._failed(
                f"must print the base64 of the {_SIGNATURE_BYTES} bytes of an Ed25519 signature,"
                f" found {len(answer)} bytes of other text"
            )
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

    def _failed(self, what: str) -> FileError:
        return FileError(f"signing.command: {show(self.command[0])} {what}; nothing was signed")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command that still runs, and its children: nothing signs on behind our back."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


Signer = KeySigner | CommandSigner
"""Something that signs with one Ed25519 key; FileError where there is no signature."""


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
        raise FileError(f"{project.keyring}: {refusal.text}; {remedy}", code="key_refused")
    return signer


def writer_of(project: Project, at: datetime | None = None) -> Signer:
    """Who signs the records of a project's ledger: a signer that is in the keyring.

    The first key of all is entered by itself. A stranger's records would stop everybody else.

    Raises FileError as ``signer_of``, and for a key that is not in the keyring.
    """
    at = at or datetime.now(UTC)
    signer = signer_of(project, at)

    def entered(ring: Keyring) -> Keyring:
        if ring.get(signer.key_id) is not None:
            return ring
        if ring.entries or ring.seal is not None:
            is_told = os.environ.get(keys.SIGNING_KEY_VARIABLE)
            public = "PUBLIC_KEY" if is_told else str(project.public_key)
            raise FileError(
                f"{project.keyring}: the key {signer.key_id[:8]}, which signs, is not in the"
                " keyring: others would take its records for a stranger's. Nothing was charged;"
                " on a second machine run 'policy-engine join', which prints what to ask for;"
                f" else enter it with 'policy-engine keys add {public}'",
                code="key_not_entered",
            )
        return ring.adding(signer.public_key, at)

    if Keyring.at(project.keyring).get(signer.key_id) is None:
        change(project.keyring, entered)
    return signer


def lost_key(project: Project) -> str:
    """What is missing, and what to do, where a project had a key in a file and has it no more.

    Empty where there is one, or none is needed: somebody else signs, or nothing was signed yet.
    """
    path, public = project.signing_key, project.public_key
    if os.environ.get(keys.SIGNING_KEY_VARIABLE) or project.signing_command:
        return ""
    told = ""
    if public.exists():
        told = f"its public half {public.name} is there"
    elif Keyring.at(project.keyring).entries:
        told = f"{project.keyring} has keys of this project"
    # Asked last: who makes the first key at this moment writes the private half before all else.
    if not told or path.exists():
        return ""
    return (
        f"{path}: the private key is missing, and {told}; on a second machine or in a new clone run"
        " 'policy-engine join', which makes a key of its own; else restore it. If it is lost, join"
        " makes another one too, and 'policy-engine keys retire KEYID' ends the lost one"
    )


def _signer(project: Project, at: datetime) -> Signer:
    if os.environ.get(keys.SIGNING_KEY_VARIABLE):
        return KeySigner(keys.load_private_key())
    if project.signing_command:
        public_key = keys.load_public_key(project.public_key)
        return CommandSigner(project.signing_command, public_key, project.directory)
    if not project.signing_key.exists():
        if lost := lost_key(project):
            raise FileError(lost, code="key_missing")
        try:
            make_key(project.signing_key, project.keyring, at)
        except FileError:
            if not project.signing_key.exists():  # else another process was faster
                raise
    key = keys.load_private_key(project.signing_key)
    if not project.public_key.exists():
        # A crash has parted the two. Where a key is only read, it signs without its public half.
        with suppress(FileError):
            keys.complete_key_pair(project.signing_key, keys.pem_of(key)[1])
    return KeySigner(key)


def public_key_of(project: Project) -> Ed25519PublicKey | None:
    """The key that a project signs with, None where it has none yet; makes nothing."""
    if os.environ.get(keys.SIGNING_KEY_VARIABLE):
        return keys.load_private_key().public_key()
    if project.signing_command or project.public_key.exists():
        return keys.load_public_key(project.public_key)
    if project.signing_key.exists():
        return keys.load_public_key(project.signing_key)
    return None


# Making keys: each enters the keyring as it is made


def make_key(
    path: Path, keyring: Path, at: datetime, *, expires: datetime | None = None, note: str = ""
) -> RingKey:
    """Make a key at ``path``, with its public key beside it, and enter it as added ``at``.

    Guarantee: files and entry, or nothing. Raises FileError where a file exists, or cannot be read
    or written, UsageError for dates or a note that no key can have.
    """
    key = Ed25519PrivateKey.generate()
    made: list[Path] = []

    def entered(ring: Keyring) -> Keyring:
        after = ring.adding(key.public_key(), at, expires=expires, note=note)
        keys.generate_key(path, key)
        made.extend((path, path.with_suffix(".pub")))
        return after

    with keys.explained(f"{path}: cannot write the key"):
        keys.make_folder(path.parent)
    try:
        return change(keyring, entered).find(keys.key_id(key.public_key()))
    except BaseException:
        for file in made:
            file.unlink()
        raise


@frozen
class Rotated:
    """The ids of the old and the new key, and where the old private key is kept."""

    old: str
    new: str
    kept: Path


def rotate(
    project: Project, at: datetime, *, expires: datetime | None = None, note: str = ""
) -> Rotated:
    """Make a new key the project's; the old one is kept aside and retired at ``at``.

    Guarantee: one rotation at a time, and a crash at any step leaves a key in its place. If it is
    still the old one, it is retired already: nothing is signed with it, and rotating again mends.

    Raises UsageError where the project signs by the environment or by a command, or has no key,
    FileError where a file cannot be read or written.
    """
    _check_in_a_file(project)
    path, new = project.signing_key, Ed25519PrivateKey.generate()
    done: list[Rotated] = []

    def entered(ring: Keyring) -> Keyring:
        private = keys.load_private_key(path)
        old = private.public_key()
        name = keys.key_id(old)
        kept = path.with_name(f"{path.stem}.{name[:8]}{path.suffix}")
        if not kept.exists():
            keys.create_key_file(kept, keys.pem_of(private)[0], keys.OWNER_ONLY)
        # Else a rotation that was broken off has kept it.
        elif keys.key_id(keys.load_private_key(kept).public_key()) != name:
            raise FileError(f"{kept}: holds another key than its name says; move it away")
        done.append(Rotated(name, keys.key_id(new.public_key()), kept))
        if ring.get(name) is None:
            ring = ring.adding(old, BEFORE_THE_RING, note="made before the keyring")
        return ring.retiring(name, at).adding(new.public_key(), at, expires=expires, note=note)

    def put() -> None:
        private_pem, public_pem = keys.pem_of(new)
        # The private key last: until it is there, the retired one is, which signs nothing.
        for place, pem, mode in (
            (project.public_key, public_pem, keys.EVERYONE_READS),
            (path, private_pem, keys.OWNER_ONLY),
        ):
            with keys.explained(f"{place}: cannot write the key"):
                keys.put_file(place, pem, mode)

    change(project.keyring, entered, put)
    return done[0]


def _check_in_a_file(project: Project) -> None:
    """Refuse to rotate a key that does not lie in a file of the project."""
    if os.environ.get(keys.SIGNING_KEY_VARIABLE):
        raise UsageError(
            f"{keys.SIGNING_KEY_VARIABLE} is set and signs: make a new key with 'policy-engine keys"
            " generate --output PATH', put its text there, and retire the old one with"
            " 'keys retire'"
        )
    if project.signing_command:
        raise UsageError(
            "the project signs by a command: make the new key where the command has it, name its"
            " public key in signing.public_key, enter it with 'policy-engine keys add', and retire"
            " the old one with 'keys retire'"
        )
    if lost := lost_key(project):
        raise FileError(lost, code="key_missing")
    if not project.signing_key.exists():
        raise UsageError(
            f"{project.signing_key}: there is no key to rotate; 'policy-engine keys generate'"
            " makes one"
        )
