"""A project whose source has the visits of people over some months, and policies with schedules."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from small_project import Killed

from policy_engine.ledger.entry import Entry
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import Project, load_project_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.due import DueReleases, release_due
from policy_engine.releasing.release import Released, release

PERIOD = 'period: {column: visited, every: month, from: "2027-01", after: 10d}'
REFRESH = "refresh: {every: month}"
SIZES = {1: 100, 2: 300, 3: 500}
"""How many people came in which month of 2027: everybody of a month before came again."""
_POLICY = """\
version: 1
name: {name}
source: {source}
privacy_unit: {{column: person, rows: any}}
{schedule}
recode: {recode}
guarantee: {{epsilon: {epsilon}, delta: 1.0e-6}}
release: {release}
account: patients
"""
_PROJECT = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {patients: {}}
"""


def at(month: int, day: int, hour: int = 12, year: int = 2027) -> datetime:
    """An instant, in UTC."""
    return datetime(year, month, day, hour, tzinfo=UTC)


@dataclass
class Visits:
    """The folder, and the time that its machine's clock shows."""

    folder: Path
    project: Project
    now: datetime = field(default_factory=lambda: at(4, 15))

    @classmethod
    def at(cls, folder: Path, text: str = _PROJECT) -> Visits:
        """The project with its source, and nothing released."""
        made = cls(folder, load_project_text(text, folder / "policy-engine.yaml", folder))
        made.write()
        return made

    def write(self, sizes: dict[int, int] = SIZES) -> None:
        """The source: so many people in each month."""
        rows = [
            (n, date(2027, month, 1 + n % 28)) for month, size in sizes.items() for n in range(size)
        ]
        table = pa.table({
            "person": pa.array([n for n, _ in rows], pa.int64()),
            "visited": pa.array([day for _, day in rows], pa.date32()),
            "region": ["north" if n % 2 else "south" for n, _ in rows],
        })  # fmt: skip
        pq.write_table(table, self.folder / "visits.parquet")

    def policy(
        self, schedule: str = PERIOD, *, release: str = '{file: "out/{edition}/part.parquet"}',
        name: str = "visits", source: str = "{file: visits.parquet}",
        recode: str = "{region: keep}", epsilon: str = "5",
    ) -> Policy:  # fmt: skip
        """The policy, with these changes."""
        text = _POLICY.format(
            name=name, schedule=schedule, release=release, source=source, recode=recode,
            epsilon=epsilon,
        )  # fmt: skip
        return load_policy_text(text, self.folder / "policy.yaml", self.folder)

    def clock(self) -> datetime:
        """What the machine's clock shows."""
        return self.now

    def due(self, policy: Policy | None = None, say: Callable[[str], None] = print) -> DueReleases:
        """What is due, released."""
        return release_due(policy or self.policy(), self.project, say=say, clock=self.clock)

    def drawn(self, policy: Policy | None = None) -> list[str]:
        """The editions that were due, and were released."""
        return [each.edition for each in self.due(policy).released]

    def release(self, edition: str | None, policy: Policy | None = None, **how: bool) -> Released:
        """One edition, released."""
        policy = policy or self.policy()
        return release(policy, self.project, edition=edition, clock=self.clock, **how)

    def killed(self, patched, owner: object, name: str, policy: Policy | None = None) -> Entry:
        """The entry that a run leaves that is killed as it comes to ``owner.name``."""

        def kill(*_: object, **__: object) -> None:
            raise Killed

        patched.setattr(owner, name, kill)
        with suppress(Killed):
            self.due(policy)
            raise AssertionError("it was not killed")
        patched.undo()
        return self.entries[-1]

    def people(self, edition: str) -> int:
        """How many people an edition's file shows."""
        return sum(pq.read_table(self.folder / "out" / edition / "part.parquet")["n"].to_pylist())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry."""
        with open_ledger(self.project) as ledger:
            return ledger.read().budget.entries()
