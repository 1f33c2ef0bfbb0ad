"""What is at hand about a release: read from files and the ledger, once, and never written.

This is the rim of the report: whatever is said of it is made by pure functions of this value.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.attest.attestation import Envelope, open_envelope, unverified
from policy_engine.attest.facts import Facts, read_facts
from policy_engine.attest.keyring import Keyring
from policy_engine.attest.owners import is_signed
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.errors import VerificationFailed
from policy_engine.report.approvals import ApprovalLine, read_approvals
from policy_engine.report.budget import Budget, budget_of
from policy_engine.report.judged import judged_of

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.ledger_state import LedgerState

Edition = Literal["public", "internal"]


@dataclass(frozen=True)
class ReleaseRows:
    """The rows of a release, every value a text; ``size`` is how many there are."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Previous:
    """A former certificate: its file, what it states, and why it does not hold, if it does not."""

    file: str
    facts: Facts
    fault: str


@dataclass(frozen=True)
class Evidence:
    """A certificate with what is known of it.

    ``facts`` are None where the certificate cannot be read; ``verified`` is None where it does not
    hold, for the ``reasons``. ``rows`` are those of a release that was looked at and is its own.
    """

    file: str
    sha256: str
    subject: str
    subject_sha256: str
    key_id: str
    facts: Facts | None
    verified: Verified | None
    reasons: tuple[str, ...]
    trusted: tuple[str, ...]
    release: str | None = None
    rows: ReleaseRows | None = None
    policy: Policy | None = None
    previous: Previous | None = None
    budget: Budget | None = None
    approvals: tuple[ApprovalLine, ...] = ()
    required: tuple[str, ...] | None = None
    edition: Edition = "public"
    note: str = ""


@dataclass(frozen=True)
class Named:
    """What somebody named: files, the keys that are trusted, and the keyring that says whose.

    ``books`` is what the project's ledger says, None where no project is near.
    """

    certificate: Path
    text: str
    keys: TrustedKeys
    trusted: tuple[str, ...] = ()
    release: Path | None = None
    policy: Policy | None = None
    previous: tuple[Path, str] | None = None
    books: LedgerState | None = None
    keyring: Path | None = None
    edition: Edition = "public"


def gather(named: Named) -> Evidence:
    """Everything that is at hand of a certificate.

    Raises:
        VerificationFailed: it is no certificate of a release, whoever signed it.
        FileError: a file cannot be read.
    """
    text = named.text
    stated, envelope = unverified(text), Envelope.from_json(text)
    facts, verified, reasons = _facts(text), None, tuple[str, ...]()
    try:
        verified = verify_release(text, named.keys, named.release)
    except VerificationFailed as error:
        reasons = error.reasons
    if facts is not None and named.policy is not None:
        reasons = (*reasons, *_another_policy(facts, named.policy))
    judged = None if named.books is None else judged_of(named.books, stated.predicate)
    looked_at = verified is not None and named.release is not None and not reasons
    return Evidence(
        file=str(named.certificate),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        subject=stated.subject_name,
        subject_sha256=stated.subject_sha256,
        key_id=envelope.key_id,
        facts=facts,
        verified=None if reasons else verified,
        reasons=reasons,
        trusted=named.trusted,
        release=None if named.release is None else str(named.release),
        rows=_rows(named.release) if looked_at and named.release is not None else None,
        policy=None if reasons else named.policy,
        previous=_previous(named),
        budget=None if named.books is None else budget_of(named.books, stated.predicate),
        approvals=read_approvals(named.certificate, named.keys, judged),
        required=None if judged is None else tuple(each.words() for each in judged),
        edition=named.edition,
        note=_note(named.keyring, envelope.key_id) if verified else "",
    )


def _note(keyring: Path | None, key_id: str) -> str:
    """Whose a key is, as a keyring says that was named or is the project's."""
    ring = Keyring() if keyring is None else Keyring.at(keyring)
    # What its owners have not signed says of nobody whose key it is.
    entry = ring.get(key_id) if ring.seal is None or is_signed(ring) else None
    return "" if entry is None else entry.note


def _facts(text: str) -> Facts | None:
    """What a certificate states, whoever signed it; None where no version of ours knows it."""
    try:
        return read_facts(unverified(text))
    except VerificationFailed:
        return None


def _another_policy(facts: Facts, policy: Policy) -> tuple[str, ...]:
    if facts["policy"]["digest"] == policy.digest:
        return ()
    return (f"{policy.file} is not the certificate's policy: its digest is {policy.digest}",)


def _rows(release: Path) -> ReleaseRows:
    """The rows of a file that was verified a moment ago."""
    from policy_engine.attest.tables import read_csv_texts, read_parquet

    is_csv = release.suffix.lower() == ".csv"
    table: Any = read_csv_texts(release) if is_csv else read_parquet(release)
    columns = [[None if v is None else str(v) for v in c.to_pylist()] for c in table.columns]
    return ReleaseRows(tuple(table.column_names), tuple(zip(*columns, strict=True)))


def _previous(named: Named) -> Previous | None:
    if named.previous is None:
        return None
    path, text = named.previous
    facts, fault = _facts(text), ""
    if facts is None:
        raise VerificationFailed((f"{path} is no certificate that this version can read",))
    try:
        open_envelope(text, named.keys)
    except VerificationFailed as error:
        fault = str(error)
    return Previous(str(path), facts, fault)
