"""Drawing the sample of a release again, with the secret that was sealed for it.

Whoever holds a reviewer's key, the policy and the source as it was can do it: the bytes must be
those that were published.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from policy_engine.attest.parquet_file import METADATA_KEY
from policy_engine.attest.sealing import load_sealing_key, unseal
from policy_engine.errors import UsageError
from policy_engine.ledger.entry import Entry
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.job import kept
from policy_engine.releasing.planning import open_warehouse, prepare
from policy_engine.releasing.publish import publish_file
from policy_engine.releasing.requests import Run, is_of


@dataclass(frozen=True)
class Rederived:
    """A release that was drawn again, and whether its bytes are those that were published.

    ``recorded`` is the digest of those. Of other bytes nothing is told: they are the result of one
    sample on two states of a source, which nobody has paid for.
    """

    entry: int
    recorded: str | None
    same: bool


def rederive(policy: Policy, project: Project, entry_id: int, key: Path | None = None) -> Rederived:
    """Run an entry's release once more, into a folder that is thrown away.

    Raises:
        UsageError: there is no such entry, or it is not one of this policy that can be drawn again.
        LedgerError: the secret is not sealed for the key.
    """
    sealing = load_sealing_key(key or project.sealing_key)
    with open_ledger(project) as ledger:
        entry = ledger.entry(entry_id)
    run = _run_of(policy, entry)
    secret = unseal(run.sealed, run.of, sealing)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, table = prepare(policy, project, warehouse)
        if not is_of(run, certificate):
            raise UsageError(
                f"entry {entry_id} ran another text than the policy has now; take the policy and"
                " the source as they were"
            )
        with warehouse.sampled(policy, table, secret):
            rows = kept(warehouse.rows(run.query), run)
        with tempfile.TemporaryDirectory() as folder:
            metadata = {METADATA_KEY: run.facts}
            place = Path(folder) / Path(run.target).name
            digest = publish_file(rows, place, metadata, lambda digest: digest, replace=False)
    return Rederived(entry_id, entry.release_digest, digest == entry.release_digest)


def _run_of(policy: Policy, entry: Entry) -> Run:
    if entry.policy_name != policy.name:
        raise UsageError(
            f"entry {entry.id} is of the policy {entry.policy_name!r}, and not of {policy.name!r}"
        )
    if not entry.run:
        raise UsageError(f"entry {entry.id} does not say how to run it again")
    if entry.state != "committed":
        raise UsageError(
            f"entry {entry.id} is {entry.state}: no release of it was published, so that there is"
            " nothing to compare with"
        )
    run = Run.of_entry(entry)
    if not run.sealed:
        raise UsageError(
            f"entry {entry.id} drew its sample by the engine itself (method: native), which keeps"
            " no secret: it cannot be drawn again"
        )
    if not run.is_file:
        raise UsageError(
            f"entry {entry.id} is a table; only a release to a file can be drawn again here"
        )
    return run
