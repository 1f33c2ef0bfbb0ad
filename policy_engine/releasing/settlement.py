"""What became of a release whose run is no more: committed, given back, or kept as spent.

Only what exists decides:

| its entry | its release stands | it does not |
|---|---|---|
| reserved: never started | cancelled | cancelled: nothing ran, and now nothing can |
| started | committed | kept: somebody may have seen it |

``look`` asks what stands, and writes nothing; ``mend`` finishes or undoes what a run left first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from policy_engine.attest.attestation import open_envelope, type_of_release
from policy_engine.attest.keys import TrustedKeys
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.store import Ledger
from policy_engine.releasing.publish import aside_text, file_digest, recover, recover_table
from policy_engine.releasing.requests import Ends, Run, predicate_digest

Outcome = Literal["committed", "cancelled", "kept"]

NOT_STARTED = "it was never started, so nothing ran"
NOT_THERE = "its release is not there, and what was seen of it is not known"


@dataclass(frozen=True)
class Settled:
    """What became of an entry, and why."""

    entry: Entry
    outcome: Outcome
    why: str


Digest = Callable[[str, str], str | None]
"""The digest of the rows of a table with these facts; None where no such table stands."""


def settle(
    ledger: Ledger, entry: Entry, ends: Ends, of_table: Digest, trusted: TrustedKeys
) -> Settled:
    """Settle an open entry by what exists; finish or undo what its run left in the file system."""
    if entry.state == "reserved":
        return Settled(ledger.cancel(entry.id, NOT_STARTED), "cancelled", NOT_STARTED)
    digest = mend(Run.of_entry(entry), ends, of_table, trusted)
    if digest is None or not entry.may_be(digest) or is_anothers(ledger, entry, digest):
        return Settled(ledger.keep(entry.id, NOT_THERE), "kept", NOT_THERE)
    name = entry.run["target"]
    committed = ledger.commit(entry.id, release_name=name, release_digest=digest)
    return Settled(committed, "committed", "its release stands with its certificate")


def is_anothers(ledger: Ledger, entry: Entry, digest: str) -> bool:
    """Whether the release that stands is that of another entry in the same place.

    Two runs of one second have certificates of one digest; their releases differ.
    """
    return any(
        other.release_digest == digest
        for other in ledger.of_request(entry.request)
        if other.id != entry.id
    )


def look(run: Run, ends: Ends, of_table: Digest, trusted: TrustedKeys) -> str | None:
    """The digest of the release of a run, if it stands with its certificate; None if not."""
    path, certificate = ends.path, ends.certificate_path
    if path is None:
        digest = of_table(run.target, run.digest)
    else:
        digest = file_digest(path) if path.is_file() and certificate.is_file() else None
    return digest if digest and _certified(run, certificate, trusted) == digest else None


def mend(run: Run, ends: Ends, of_table: Digest, trusted: TrustedKeys) -> str | None:
    """The same, once what the run left aside is put in place or taken away."""
    if ends.path is not None:
        recover(ends.path, run.mark)
    found = look(run, ends, of_table, trusted)
    if ends.path is None:
        recover_table(ends.certificate_path, run.mark, stands=found is not None)
    return found


def certifies(run: Run, certificate: Path, trusted: TrustedKeys) -> bool:
    """Whether a certificate, signed by a trusted key, is of this run, whatever became of it."""
    return certificate.is_file() and bool(_certified(run, certificate, trusted))


def _certified(run: Run, certificate: Path, trusted: TrustedKeys) -> str:
    """The digest that a certificate of this run states, signed by a trusted key; else empty."""
    try:
        kind = type_of_release(run.predicate)
        statement = open_envelope(aside_text(certificate, run.mark), trusted, kind)
    except VerificationFailed:
        return ""
    return statement.subject_sha256 if predicate_digest(statement.predicate) == run.digest else ""
