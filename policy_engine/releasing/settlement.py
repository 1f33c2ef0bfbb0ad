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
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from policy_engine.attest.attestation import open_envelope, type_of_release
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.signers import writer_of
from policy_engine.errors import VerificationFailed, WarehouseError
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.publish import aside_text, file_digest, recover, recover_table
from policy_engine.releasing.requests import Ends, Run, predicate_digest
from policy_engine.releasing.sizes import digest_of_table
from policy_engine.warehouse.connecting import connected

NOT_STARTED = "it was never started, so nothing ran"
NOT_THERE = "its release is not there, and what was seen of it is not known"


@dataclass(frozen=True)
class Settled:
    """What became of an entry, and why."""

    entry: Entry
    outcome: Literal["committed", "cancelled", "kept"]
    why: str


Digest = Callable[[str, str], str | None]
"""The digest of the rows of a table with these facts; None where no such table stands."""


def reconcile(project: Project) -> tuple[Settled, ...]:
    """Settle each open entry of a project's ledger: commit it, give it back, or keep it as spent.

    An entry of a release that runs just now may be settled too: one that was not started is given
    back, and its run stops before it draws; one that was started stays charged.

    Raises:
        LedgerError: the ledger fails or does not hold.
        WarehouseError: a release is a table, and the warehouse that would have it cannot be asked.
    """
    if not has_ledger(project):
        return ()
    open_ledger(project).close()  # one that is not here is told before a key is made
    signer = writer_of(project)
    with open_ledger(project, signer) as ledger:
        ledger.verify()
        trusted = trusted_keys(project, signer)
        found = [entry for entry in ledger.entries() if entry.is_open and entry.run]
        return tuple(settle(ledger, entry, project, trusted) for entry in found)


def settle(ledger: Ledger, entry: Entry, project: Project, trusted: TrustedKeys) -> Settled:
    """Settle an open entry by what exists; finish or undo what its run left in the file system."""
    if entry.state == "reserved":
        return Settled(ledger.cancel(entry.id, NOT_STARTED), "cancelled", NOT_STARTED)
    run = Run.of_entry(entry)
    digest = mend(run, run.ends(project.directory), table_of(project), trusted)
    if not is_own(ledger, entry, digest):
        return Settled(ledger.keep(entry.id, NOT_THERE), "kept", NOT_THERE)
    committed = ledger.commit(entry.id, release_name=run.target, release_digest=str(digest))
    return Settled(committed, "committed", "its release stands with its certificate")


def table_of(project: Project) -> Digest:
    """Asks the warehouse of a project for the digests of its tables."""

    def digest(name: str, facts: str) -> str | None:
        named = project.warehouse
        if named.type == "duckdb" and named.database is None:
            raise WarehouseError(f"warehouse {named.name} has no database to look for {name} in")
        with closing(connected(named)) as warehouse:
            return digest_of_table(warehouse, name, facts)

    return digest


def is_own(ledger: Ledger, entry: Entry, digest: str | None) -> bool:
    """Whether bytes that stand are those that an entry was charged for, and no other's.

    Two runs of one second have certificates of one digest; their releases differ.
    """
    if digest is None or not entry.may_be(digest):
        return False
    others = (other for other in ledger.of_request(entry.request) if other.id != entry.id)
    return all(other.release_digest != digest for other in others)


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
