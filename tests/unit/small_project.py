"""A project in a folder with a source of 60 people in two groups, and releases of it."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.ledger.entry import Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import Project, load_project_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.release import Released, release

FILE, TABLE = "{file: out/people.parquet}", "{table: out}"
_POLICY = """\
version: 1
name: {name}
source: {{file: source.parquet}}
privacy_unit: {unit}
recode: {{age: {{bins: [18]}}}}
sample: {{rate: 0.5, method: {method}}}
k: {k}
guarantee: {{epsilon: 1, delta: 0.99}}
release: {release}
account: people
"""
_PROJECT = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {people: {}}
"""


@cache  # to open a database takes longer than most of what is tested
def empty_database() -> bytes:
    """A file of DuckDB with nothing in it."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "db.duckdb")
        duckdb.connect(str(file)).close()
        return file.read_bytes()


class Killed(BaseException):
    """The run is no more."""


@dataclass
class SmallProject:
    """The folder, and what stands in it."""

    folder: Path
    project: Project

    @classmethod
    def at(cls, folder: Path, text: str = _PROJECT) -> SmallProject:
        """A project with its source, and nothing released."""
        made = cls(folder, load_project_text(text, folder / "policy-engine.yaml", folder))
        made.write(60)
        (folder / "db.duckdb").write_bytes(empty_database())
        return made

    def write(self, people: int) -> None:
        """The source, of so many people."""
        columns = {
            "person": [*map(str, range(people))],
            "age": [7 + n % 2 * 30 for n in range(people)],
        }
        pq.write_table(pa.table(columns), self.folder / "source.parquet")

    def policy(
        self, target: str = FILE, *, name: str = "people", method: str = "keyed", k: int = 2
    ) -> Policy:
        """The policy, with these changes."""
        unit = "row" if method == "native" else "{column: person, rows: any}"
        text = _POLICY.format(name=name, method=method, unit=unit, k=k, release=target)
        return load_policy_text(text, self.folder / "policy.yaml", self.folder)

    def release(
        self, target: str = FILE, *, method: str = "keyed", revise: bool = False
    ) -> Released:
        """A release."""
        policy = self.policy(target, method=method)
        return release(policy, self.project, revise=revise, replace=revise)

    def killed(
        self, patched, owner: object, name: str, target: str = FILE, *, revise: bool = False
    ) -> Entry:
        """The entry that a run leaves that is killed as it comes to ``owner.name``."""

        def kill(*_: object, **__: object) -> None:
            raise Killed

        patched.setattr(owner, name, kill)
        with suppress(Killed):
            self.release(target, revise=revise)
            raise AssertionError("it was not killed")
        patched.undo()
        return self.entries[-1]

    def told_of_revision(self, patched) -> list[str]:
        """What is said where a new draw is asked for, which is then not charged."""

        def kill(*_: object, **__: object) -> None:
            raise Killed

        told: list[str] = []
        patched.setattr(Ledger, "reserve", kill)
        with suppress(Killed):
            release(self.policy(), self.project, revise=True, replace=True, say=told.append)
            raise AssertionError("it was not killed")
        patched.undo()
        return told

    @property
    def out(self) -> Path:
        """Where the file of a release stands."""
        return self.folder / "out" / "people.parquet"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry."""
        with open_ledger(self.project) as ledger:
            return ledger.read().budget.entries()

    @property
    def states(self) -> list[str]:
        """Their states."""
        return [entry.state for entry in self.entries]

    def writing(self) -> Ledger:
        """The ledger, to write."""
        return open_ledger(self.project, ledger_writer(self.project))
