"""How the releases of a target stand: looks, which change nothing.

By the ledger, as who releases knows it; and by certificates and keys alone, as anybody would check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.attest.rows import TableRows
from policy_engine.dbt.booking import is_outdated
from policy_engine.dbt.desk import Desk, Outcome, Told
from policy_engine.dbt.releases import DbtRelease
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.ledger.entry import Entry
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.requests import Run
from policy_engine.releasing.standing import certifies, digest_of_lines


def standing(desk: Desk, releases: tuple[DbtRelease, ...]) -> tuple[Told, ...]:
    """How every release stands.

    Raises LedgerError, WarehouseError: as it says.
    """
    if not has_ledger(desk.project):
        return tuple(Told(release, _state(desk, release, None)) for release in releases)
    with open_ledger(desk.project) as ledger:
        pairs = [(release, desk.last(ledger, release)) for release in releases]
        return tuple(Told(each, _state(desk, each, last), last) for each, last in pairs)


def left_behind(desk: Desk, releases: tuple[DbtRelease, ...], target: str) -> tuple[Entry, ...]:
    """What was paid for in a target and is of no release of the project's as it is now.

    Its policy was removed or renamed, or dbt puts it elsewhere with other variables.

    Raises LedgerError: as it says.
    """
    if not has_ledger(desk.project):
        return ()
    known = {desk.place(release) for release in releases}
    with open_ledger(desk.project) as ledger:
        last = {entry.request: entry for entry in ledger.entries() if entry.state != "cancelled"}
    end = f".{target}.certificate.json"
    others = (entry for request, entry in last.items() if request not in known)
    return tuple(entry for entry in others if str(entry.run.get("certificate")).endswith(end))


def _state(desk: Desk, release: DbtRelease, entry: Entry | None) -> Outcome:
    drawn = entry.only_digest if entry is not None else None
    if not desk.stands(release.parts):
        if entry is None:
            return "not reserved"
        return "reserved" if drawn is None else "gone"
    if entry is None or drawn is None:
        return "built"
    if digest_of_lines(desk.lines(release))[0] != drawn or desk.other_shape(release):
        return "changed"
    if is_outdated(release, entry):
        return "outdated"
    if entry.state != "committed":
        return "refused"
    good = certifies(Run.of_entry(entry), release.certificate, trusted_keys(desk.project))
    return "certified" if good else "built"


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

    Raises FileError, WarehouseError: a certificate or a table cannot be read.
    """
    for release in releases:
        if desk.stands(release.parts):
            yield _looked(desk, release, trusted)


def _looked(desk: Desk, release: DbtRelease, trusted: TrustedKeys) -> Looked:
    try:
        text = release.certificate.read_text(encoding="utf-8")
    except FileNotFoundError:
        why = f"{release.relation} stands without a certificate: run 'policy-engine dbt attest'"
        return Looked(release, why=(why,))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{release.certificate} could not be read: {error}") from None
    columns = tuple(column.name for column in desk.table(release.policy, release.parts).columns)
    lines = tuple(desk.lines(release))
    try:
        found = verify_release(text, trusted, TableRows(release.relation, columns, lines))
    except VerificationFailed as failed:
        return Looked(release, why=failed.reasons)
    return Looked(release, found)
