"""How the releases of a target stand: a look, which changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from policy_engine.dbt.booking import is_outdated, last_of, place
from policy_engine.dbt.desk import Desk
from policy_engine.dbt.releases import DbtRelease
from policy_engine.dbt.shape import other_shape
from policy_engine.ledger.entry import Entry
from policy_engine.releasing.books import has_ledger, open_ledger, trusted_keys
from policy_engine.releasing.requests import Run
from policy_engine.releasing.settlement import certifies
from policy_engine.releasing.sizes import digest_of_lines

State = Literal[
    "not reserved", "reserved", "built", "certified", "changed", "outdated", "gone", "refused"
]


@dataclass(frozen=True)
class Standing:
    """One release: how it stands, and the entry that paid for it last.

    ``built``: nothing says yet that it is what was reserved. ``changed``: other rows or columns
    stand than were released. ``outdated``: its policy was changed since.
    """

    release: DbtRelease
    state: State
    entry: Entry | None = None

    @property
    def is_good(self) -> bool:
        """Whether nothing stands that no certificate speaks of."""
        return self.state in {"not reserved", "reserved", "certified", "gone"}


def standing(desk: Desk, releases: tuple[DbtRelease, ...]) -> tuple[Standing, ...]:
    """How every release stands.

    Raises:
        LedgerError, WarehouseError: as it says.
    """
    if not has_ledger(desk.project):
        return tuple(_of_entry(desk, release, None) for release in releases)
    with open_ledger(desk.project) as ledger:
        return tuple(
            _of_entry(desk, each, last_of(desk.project, ledger, each)) for each in releases
        )


def left_behind(desk: Desk, releases: tuple[DbtRelease, ...], target: str) -> tuple[Entry, ...]:
    """What was paid for in a target and is of no release of the project's as it is now.

    Its policy was removed or renamed, or dbt puts it elsewhere with other variables.

    Raises:
        LedgerError: as it says.
    """
    if not has_ledger(desk.project):
        return ()
    known = {place(desk.project, release) for release in releases}
    with open_ledger(desk.project) as ledger:
        last = {entry.request: entry for entry in ledger.entries() if entry.state != "cancelled"}
    end = f".{target}.certificate.json"
    others = (entry for request, entry in last.items() if request not in known)
    return tuple(entry for entry in others if str(entry.run.get("certificate")).endswith(end))


def _of_entry(desk: Desk, release: DbtRelease, entry: Entry | None) -> Standing:
    return Standing(release, _state(desk, release, entry), entry)


def _state(desk: Desk, release: DbtRelease, entry: Entry | None) -> State:
    if not desk.stands(release.parts):
        if entry is None:
            return "not reserved"
        return "reserved" if entry.only_digest is None else "gone"
    if entry is None or entry.only_digest is None:
        return "built"
    lines = desk.warehouse.release_lines(release.parts[-desk.depth :])
    if digest_of_lines(lines)[0] != entry.only_digest or other_shape(desk, release):
        return "changed"
    if is_outdated(release, entry):
        return "outdated"
    if entry.state != "committed":
        return "refused"
    trusted = trusted_keys(desk.project)
    good = certifies(Run.of_entry(entry), release.certificate, trusted)
    return "certified" if good else "built"
