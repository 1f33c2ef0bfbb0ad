"""Settling every open entry of a ledger by what exists, and nothing else."""

from __future__ import annotations

from contextlib import closing

from policy_engine.attest.signers import writer_of
from policy_engine.errors import WarehouseError
from policy_engine.policy.project import Project
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.requests import Run
from policy_engine.releasing.settlement import Settled, settle
from policy_engine.releasing.sizes import digest_of_table
from policy_engine.warehouse.connecting import connected


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
        return tuple(
            settle(
                ledger,
                entry,
                Run.of_entry(entry).ends(project.directory),
                lambda name, facts: _of_table(project, name, facts),
                trusted,
            )
            for entry in found
        )


def _of_table(project: Project, name: str, facts: str) -> str | None:
    named = project.warehouse
    if named.type == "duckdb" and named.database is None:
        raise WarehouseError(f"warehouse {named.name} has no database to look for {name} in")
    with closing(connected(named)) as warehouse:
        return digest_of_table(warehouse, name, facts)
