"""Files that commands read, with errors that say what to do."""

from __future__ import annotations

import os
import sys
from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from policy_engine.attest.validity import written
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.policy.reading import meant
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.attest.ring_text import Seal
    from policy_engine.policy.hierarchy import Hierarchy
    from policy_engine.policy.project import Project

KeyOption = Annotated[
    list[Path] | None,
    typer.Option("--key", help="A public key to trust; default: the project's."),
]
KeyringOption = Annotated[
    Path | None,
    typer.Option("--keyring", help="Trust the keys of this keyring, within their dates."),
]

_LARGEST = 10_000_000
_PARQUET = b"PAR1"


def read_file(path: Path) -> str:
    """The text of a file, or of stdin for ``-``, without a byte order mark.

    Raises:
        FileError: it is missing, a directory, unreadable, too large or no UTF-8 text.
    """
    return _text(_name(path), _content(path))


def read_levels(path: Path) -> Hierarchy:
    """The hierarchy in a file. Raises FileError where it is none."""
    from policy_engine.policy.hierarchy import HierarchyError, read_hierarchy

    try:
        return read_hierarchy(path)
    except HierarchyError as error:
        raise FileError(f"the hierarchy {path} {error}") from None


def read_certificate(path: Path) -> str:
    """The text of a certificate's file; whether its signature is good is not looked at.

    Raises:
        FileError: as ``read_file``.
        UsageError: it is the release itself.
        VerificationFailed: it holds no envelope.
    """
    from policy_engine.attest.attestation import Envelope

    name, content = _name(path), _content(path)
    if content.startswith(_PARQUET):
        beside = path.with_suffix(".certificate.json")
        raise UsageError(
            f"{name} is a Parquet file, not a certificate; the certificate of a release is the"
            f" .certificate.json beside it: policy-engine verify {beside} --release {name}"
        )
    try:
        Envelope.from_json(content.removeprefix(BOM_UTF8))
    except VerificationFailed as error:
        remedy = "name the .certificate.json that stands beside the release"
        raise VerificationFailed((f"{name} is no certificate: {error}; {remedy}",)) from None
    return _text(name, content)


def _name(path: Path) -> str:
    return "stdin" if str(path) == "-" else str(path)


def _content(path: Path) -> bytes:
    name = _name(path)
    try:
        if name == "stdin":
            content = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        remedy = meant(path) if isinstance(error, FileNotFoundError) else ""
        message = f"{name} could not be read: {reason}"
        raise FileError(f"{message}; {remedy}" if remedy else message) from None
    if len(content) > _LARGEST and not content.startswith(_PARQUET):
        raise FileError(f"{name} must have at most {_LARGEST:,} bytes; it has more")
    return content


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}:{line}: must be UTF-8 text, found other bytes") from None


@dataclass(frozen=True)
class Trusted:
    """A file, or the environment, whose keys are trusted, and why; of a signed keyring its seal."""

    place: str
    because: Literal["--key", "--keyring", "project", "environment", "beside"]
    seal: Seal | None = None

    def __str__(self) -> str:
        if self.because == "environment":
            return f"trusting the key in {self.place}"
        because = {
            "project": ": nothing was named, and it is this project's own",
            "beside": ": it stands beside the certificate, and the owners of yours have signed it;"
            " keep it with 'policy-engine keys update'",
        }.get(self.because, f", named by {self.because}")
        return f"trusting {self.place}{because}"

    def told(self) -> dict[str, Any]:
        """The same as data."""
        told: dict[str, Any] = {"place": self.place, "because": self.because}
        if self.seal is None:
            return told
        dates = {"issued": written(self.seal.issued), "expires": written(self.seal.expires)}
        expired = self.seal.expires < datetime.now(UTC)
        return {**told, "serial": self.seal.serial, **dates, "expired": expired}

    def lines(self) -> list[str]:
        """The same as lines, with the age of a signed keyring."""
        return [str(self), *([] if self.seal is None else [self._age(self.seal)])]

    @staticmethod
    def _age(seal: Seal) -> str:
        now, ends = datetime.now(UTC), written(seal.expires)
        days = counted(max(0, (now - seal.issued).days), "day")
        age = f"keyring {seal.serial}, signed {days} ago"
        if seal.expires < now:
            return (
                f"{age}, expired on {ends}: keys may have been revoked since; get a newer one from"
                " its owners"
            )
        return f"{age}, expires on {ends}"


def trusted_keys(
    paths: list[Path],
    keyring: Path | None = None,
    project: Project | None = None,
    beside: Path | None = None,
) -> tuple[TrustedKeys, tuple[Trusted, ...]]:
    """The keys that were named, else the project's own and its keyring's; and where they lie.

    The project is that of the working directory, unless another is meant.

    Where a keyring has a key, its word on it counts, however else the key was named. A newer one
    in the folder of the certificate ``beside`` counts in its stead where its owners have signed it.

    Raises:
        UsageError: no key was named and no project is near.
        FileError: a key or a keyring cannot be read, or the keyring is not signed as it says.
    """
    from policy_engine.attest.keyring import Keyring
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.attest.owners import check_signed, newer_at
    from policy_engine.policy.project import KEYRING_FILE

    if not paths and keyring is None:
        return _projects_own(project or _project_with_keys())
    named = TrustedKeys.load(paths)
    places = tuple(Trusted(str(path), "--key") for path in paths)
    if keyring is None:
        return named, places
    ring = Keyring.read(keyring)
    check_signed(ring)
    places = (*places, Trusted(str(keyring), "--keyring", ring.seal))
    newer = None if beside is None else newer_at(beside.with_name(KEYRING_FILE), ring)
    if newer is not None:
        places, ring = (*places, Trusted(newer.where, "beside", newer.seal)), newer
    return named.within(ring.trusted()), places


def _projects_own(project: Project | None) -> tuple[TrustedKeys, tuple[Trusted, ...]]:
    """The key of the environment or the project, and the project's keyring."""
    from policy_engine.attest.keys import SIGNING_KEY_VARIABLE, TrustedKeys, load_private_key
    from policy_engine.attest.owners import believed

    trusted, places = TrustedKeys.of(), list[Trusted]()
    ring = None if project is None else believed(project)
    if ring is not None and ring.seal is not None:
        return ring.trusted(), (Trusted(ring.where, "project", ring.seal),)
    if os.environ.get(SIGNING_KEY_VARIABLE):
        trusted = TrustedKeys.of(load_private_key().public_key())
        places.append(Trusted(SIGNING_KEY_VARIABLE, "environment"))
    elif project is not None and project.public_key.exists():
        trusted = TrustedKeys.load(project.public_key)
        places.append(Trusted(str(project.public_key), "project"))
    if ring is not None and project is not None and project.keyring.exists():
        trusted = trusted.within(ring.trusted())
        places.append(Trusted(str(project.keyring), "project"))
    if not trusted.by_id:
        raise UsageError(
            "no key to trust: name the public key of whoever signed the certificate,"
            " --key signing.pub, or their keyring, --keyring keys.json (the project of a release"
            " keeps both in .policy-engine/)"
        )
    return trusted, tuple(places)


def decimal_of(option: str, text: str) -> Decimal:
    """The number that an option is given. Raises UsageError."""
    try:
        return Decimal(text)
    except ArithmeticError:
        raise UsageError(f"{option} must be a number, found {text[:40]!r}") from None


def project_here() -> Project:
    """The project of the working directory."""
    from policy_engine.policy.project import project_at

    return project_at(Path.cwd())


def _project_with_keys() -> Project | None:
    """The project of the working directory, or the nearest folder above it with keys.

    Never one beside the certificate: whoever sends a certificate can send a key with it.
    """
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    projects = [] if found is None else [load_project(found)]
    projects += [default_project(folder) for folder in (Path.cwd(), *Path.cwd().parents)]
    return next((p for p in projects if p.public_key.exists() or p.keyring.exists()), None)
