"""What the pages are made of: a project's ledger, files and keys, read anew where they changed.

This is the rim: whatever is shown is made by ``views`` of these values. Nothing here writes, and
nothing is read outside the project's folder but what its project file names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from policy_engine.attest.approvals import APPROVAL
from policy_engine.attest.attestation import (
    CHARGED_TYPES,
    CHOICE_TYPE,
    LARGEST_ENVELOPE,
    PREDICATE_TYPE,
    UNPROMISED_TYPE,
    stated_type,
    unverified,
)
from policy_engine.attest.keys import key_id
from policy_engine.attest.owners import believed
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX, certificate_path, predicate_digest
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.ring_text import RingKey
from policy_engine.attest.signers import public_key_of
from policy_engine.attest.validity import moment
from policy_engine.errors import (
    FileError,
    NotApproved,
    PolicyEngineError,
    PolicyError,
    VerificationFailed,
)
from policy_engine.ledger.chain import Head
from policy_engine.opening import opened
from policy_engine.policy.loading import load_policy
from policy_engine.policy.places import files_in
from policy_engine.policy.project import Project, default_project, load_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.asking import standing
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.ledger_state import LedgerState, ledger_state
from policy_engine.releasing.reviewing import REQUEST_SUFFIX, brought_at
from policy_engine.report.choice import ChoiceView, choice_view
from policy_engine.report.evidence import Named, gather
from policy_engine.report.page import page
from policy_engine.report.view import unpromised_view, view
from policy_engine.values import frozen

_LARGEST_RELEASE = 50_000_000
"""A larger release is not looked at unasked: to hash it takes a second."""
_LARGEST_POLICY = 1_000_000
_YAML = (".yaml", ".yml")

T = TypeVar("T")


@frozen
class CertificateFile:
    """A certificate in the project's folder, by its digest; nothing of it is verified.

    ``kind`` is the type that it states, ``charge`` what the ledger calls it. ``release`` is the
    file beside it, where it is there: of a private choice the policy that was chosen.
    """

    path: Path
    sha256: str
    kind: str
    charge: str
    release: Path | None


@frozen
class Verification:
    """What verifying a certificate, and the release that stands beside it, has found.

    ``chosen`` is what a private choice chose, where the policy beside it was checked.
    """

    colour: Literal["green", "amber", "red"]
    words: str
    chosen: str = ""


@frozen
class WaitingRequest:
    """A request for approvals that has not served yet.

    ``counted`` has the name, the role and the last moment of each approval that counts; ``fault``
    is why nothing can be told of it.
    """

    file: str
    stage: str
    name: str
    account: str
    counted: tuple[tuple[str, str, datetime], ...] = ()
    missing: tuple[str, ...] = ()
    fault: str = ""


@frozen
class PolicyFile:
    """A policy in the project's folder, or its problems."""

    file: str
    policy: Policy | None
    problems: tuple[str, ...]


@frozen
class Keys:
    """The keyring, and the key that signs for the project, where there is one."""

    entries: tuple[RingKey, ...]
    signs: str | None


class _Kept(dict[Any, T]):
    """Answers by what they were made of; the oldest are forgotten."""

    _MOST = 20_000

    def of(self, key: Any, make: Callable[[], T]) -> T:
        if key not in self:
            while len(self) >= self._MOST:
                del self[next(iter(self))]
            self[key] = make()
        return self[key]


class ProjectReader:
    """Reads one project. Each answer is as of now; what did not change is not read twice."""

    def __init__(self, folder: Path, file: Path | None) -> None:
        self._folder, self._file = folder.resolve(), file
        self._lock = Lock()
        self._books: tuple[tuple[Any, ...], LedgerState] | None = None
        self._certificates = _Kept[CertificateFile | None]()
        self._verdicts = _Kept[Verification]()
        self._policies = _Kept[tuple[PolicyFile, ...]]()

    def project(self) -> Project:
        """The project, as its file says now."""
        return default_project(self._folder) if self._file is None else load_project(self._file)

    def books(self) -> LedgerState:
        """What the ledger says; it is read again where it, or the project file, is another."""
        project = self.project()
        with self._lock:
            stamp = (_end(project), str(project))
            if self._books is None or self._books[0] != stamp:
                self._books = (stamp, ledger_state(project))
            return self._books[1]

    def certificates(self) -> tuple[CertificateFile, ...]:
        """The certificates in the project's folder."""
        with self._lock:
            found = (
                self._certificates.of((path, _stamp(path)), partial(_certificate, path))
                for path in self._files(CERTIFICATE_SUFFIX)
            )
            return tuple(each for each in found if each is not None)

    def certificate(self, sha256: str) -> CertificateFile | None:
        """The certificate of a digest; None where none is in the folder."""
        return next((each for each in self.certificates() if each.sha256 == sha256), None)

    def verdict(self, certificate: CertificateFile) -> Verification:
        """What verifying it finds, with the release beside it unless that is large."""
        project, release = self.project(), self._release(certificate)
        is_large = release is not None and release.stat().st_size > _LARGEST_RELEASE
        beside = None if is_large else release
        key = (certificate, *map(_stamp, (release, project.keyring, project.public_key)))
        return self._verdicts.of(key, lambda: _verdict(certificate, beside, project))

    def report(self, certificate: CertificateFile) -> str:
        """The report of a certificate as a page, as 'policy-engine report' makes it."""
        project = self.project()
        text, keys = _text(certificate.path), trusted_keys(project)
        release, books = self._release(certificate), self.books()
        if certificate.kind == CHOICE_TYPE:
            return page(choice_view(text, keys, release, books))
        if certificate.kind == UNPROMISED_TYPE:
            return page(unpromised_view(text, keys, release))
        named = Named(
            certificate=certificate.path,
            text=text,
            keys=keys,
            trusted=(project.named(project.public_key), project.named(project.keyring)),
            release=release,
            books=books,
            keyring=project.keyring,
            audience="internal",
            folder=self._folder,
            policies=tuple(
                path for path in self._files(*_YAML) if self._is_here(certificate_path(path))
            ),
        )
        return page(view(gather(named)))

    def waiting(self) -> tuple[WaitingRequest, ...]:
        """The requests for approvals in the folder that have not served."""
        project, paths = self.project(), self._files(REQUEST_SUFFIX)
        if not paths or not has_ledger(project):
            return ()
        with open_ledger(project) as ledger:
            books = ledger.read()
        found = [_waiting(path, self._named(path), books) for path in paths]
        return tuple(each for each in found if each is not None)

    def policies(self) -> tuple[PolicyFile, ...]:
        """The policies in the folder: each YAML file that has a source and what is released."""
        every = self._files(*_YAML, ".csv")
        # A hierarchy is a file of its own; what 'auto' stands for may take a second to find.
        stamp = tuple((path, _stamp(path)) for path in every)
        own = (path for path in every if path.suffix in _YAML and _is_policy(path))
        with self._lock:
            return self._policies.of(
                stamp, lambda: tuple(_policy(path, self._named(path)) for path in own)
            )

    def keys(self) -> Keys:
        """The keyring, as far as its word counts now."""
        project = self.project()
        own = public_key_of(project)
        return Keys(believed(project).entries, None if own is None else key_id(own))

    def _files(self, *endings: str) -> list[Path]:
        return [path for path in files_in(self._folder, endings) if self._is_here(path)]

    def _is_here(self, path: Path) -> bool:
        """Whether a file is one, and lies in the project's folder: a link may lead out of it."""
        return path.is_file() and path.resolve().is_relative_to(self._folder)

    def _release(self, certificate: CertificateFile) -> Path | None:
        found = certificate.release
        return found if found is not None and self._is_here(found) else None

    def _named(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _end(project: Project) -> Head | None:
    if not has_ledger(project):
        return None
    with open_ledger(project) as ledger:
        return ledger.read().chain.head


def _stamp(path: Path | None) -> tuple[int, int, int] | None:
    """By which a file that was written anew is told from the one before."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)


def _certificate(path: Path) -> CertificateFile | None:
    try:
        text = _text(path)
        kind = stated_type(text)
        stated = unverified(text, kind if kind in CHARGED_TYPES else PREDICATE_TYPE)
    except (FileError, VerificationFailed):
        return None
    name = Path(stated.subject_name).name  # whatever folder it names, it stands beside
    release = path.with_name(name) if name.endswith((".parquet", ".csv", *_YAML)) else None
    digest = hashlib.sha256(text.encode()).hexdigest()
    return CertificateFile(path, digest, kind, predicate_digest(stated.predicate), release)


def _text(path: Path) -> str:
    try:
        with opened(path) as file:
            return file.read(LARGEST_ENVELOPE).decode()
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path} could not be read") from None


def _verdict(certificate: CertificateFile, release: Path | None, project: Project) -> Verification:
    try:
        text, keys = _text(certificate.path), trusted_keys(project)
        if certificate.kind == CHOICE_TYPE:
            return _verdict_of_choice(choice_view(text, keys, release, None))
        found = verify_release(text, keys, release, certificate.kind)
    except VerificationFailed as error:
        return Verification("red", f"because {error}")
    except FileError as error:
        return Verification("amber", f"not checked: {error}")
    if not found.is_certified:
        return Verification("amber", "signed; the statement promises no (ε, δ)")
    if not found.is_recomputed:
        return Verification("amber", "signed; δ was recomputed in one way only, by the accountant")
    if release is None:
        return Verification("amber", "the certificate is valid; the release was not checked")
    return Verification("green", "and it belongs to this release")


def _verdict_of_choice(found: ChoiceView) -> Verification:
    if found.choice is None:
        return Verification("red", f"because {'; '.join(found.band.reasons)}")
    if found.band.colour == "amber":
        return Verification("amber", "the certificate is valid; the chosen policy was not checked")
    chosen = "; ".join(f"{part.name}: {part.chosen}" for part in found.choice.parts)
    return Verification("green", "and it belongs to this policy", chosen)


def _waiting(path: Path, name: str, books: Any) -> WaitingRequest | None:
    try:
        if books.approvals.served(brought_at(path).request_sha256):
            return None
        found, required, told = standing(path, books)
        matter, policy = found.matter, required.policy
    except (FileError, NotApproved, VerificationFailed) as error:
        return WaitingRequest(name, "", "", "", fault=str(error))
    counted = []
    for who, role, line in told.counted:
        signed = moment(unverified(line, APPROVAL).predicate["time"])
        assert signed is not None
        counted.append((who, role, signed + policy.lasts))
    missing = (*told.faults, *told.refused)
    account = matter.of["account"]
    return WaitingRequest(name, matter.stage, matter.name, account, tuple(counted), missing)


def _is_policy(path: Path) -> bool:
    """Whether a YAML file is meant as a policy: a source, and what is released of it."""
    try:
        with opened(path) as file:
            lines = file.read(_LARGEST_POLICY).split(b"\n")
    except OSError:
        return False
    keys = {line.partition(b":")[0] for line in lines}
    return b"source" in keys and bool(keys & {b"recode", b"auto"})


def _policy(path: Path, name: str) -> PolicyFile:
    try:
        return PolicyFile(name, load_policy(path, unpromised=True), ())
    except PolicyError as error:
        return PolicyFile(name, None, tuple(map(str, error.problems)))
    except PolicyEngineError as error:
        return PolicyFile(name, None, (str(error),))
