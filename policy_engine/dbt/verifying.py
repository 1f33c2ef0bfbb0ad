"""Checking the tables that dbt has built against their certificates, as anybody would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.attest.exported import TableRows
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.dbt.desk import Desk
from policy_engine.dbt.releases import DbtRelease
from policy_engine.errors import FileError, VerificationFailed


@dataclass(frozen=True)
class Looked:
    """A release that stands: what was ``found`` of its table, or ``why`` it is not as certified."""

    release: DbtRelease
    found: Verified | None = None
    why: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether everything held, the proof of its SQL too."""
        return self.found is not None and self.found.is_proved


def verified(
    desk: Desk, releases: tuple[DbtRelease, ...], trusted: TrustedKeys
) -> Iterator[Looked]:
    """Every release that stands, checked by its certificate, the keys and the rows of its table.

    Nothing of the ledger is read, and nothing is written.

    Raises:
        FileError, WarehouseError: a certificate or a table cannot be read.
    """
    for release in releases:
        if desk.stands(release.parts):
            yield _looked(desk, release, trusted)


def _looked(desk: Desk, release: DbtRelease, trusted: TrustedKeys) -> Looked:
    try:
        text = release.certificate.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Looked(release, why=(_NO_CERTIFICATE.format(release.relation),))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{release.certificate} could not be read: {error}") from None
    columns = tuple(column.name for column in desk.table(release.policy, release.parts).columns)
    lines = tuple(desk.warehouse.release_lines(release.parts[-desk.depth :]))
    try:
        found = verify_release(text, trusted, TableRows(release.relation, columns, lines))
    except VerificationFailed as failed:
        return Looked(release, why=failed.reasons)
    return Looked(release, found)


_NO_CERTIFICATE = "{} stands without a certificate: run 'policy-engine dbt attest'"
