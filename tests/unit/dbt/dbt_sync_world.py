"""A dbt project in a folder, as its owner writes it: people with visits, and policies of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from policy_engine.dbt.project import DbtProject, open_dbt_project
from policy_engine.dbt.sync import Synced, sync

PROJECT = """\
name: shop
version: "1.0"
config-version: 2
profile: shop
model-paths: [models]
"""
PROFILES = """\
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: dev.duckdb, threads: 1}
    prod: {type: duckdb, path: prod.duckdb, threads: 1}
"""
ENGINE = """\
accounts: {people: {epsilon: 2.0, delta: 1.0e-5}}
dbt: {release_targets: [prod]}
"""
STAGING = """\
version: 2
models:
  - name: stg_people
    columns:
      - {name: person_id, data_type: bigint}
      - {name: age, data_type: integer}
      - {name: town, data_type: varchar}
      - {name: visited, data_type: date}
"""
POLICY = """\
version: 1
name: towns
description: Towns for the site
source:
  table: {relation}
privacy_unit: {unit}
recode:
{recode}
{chance}
guarantee: {{epsilon: 0.5, delta: {delta}}}
release: {{table: {model}, version: {version}{more}}}
account: people
"""
RECODE = "  age: {bins: [30, 60]}\n  town: {map: {A: north, B: north, C: south}, other: elsewhere}"


@dataclass(frozen=True)
class World:
    """The project's folder."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> World:
        """A project with a staging model, and no policy."""
        made = cls(folder)
        made.write("dbt_project.yml", PROJECT)
        made.write("profiles.yml", PROFILES)
        made.write("policy-engine.yaml", ENGINE)
        made.write("models/stg_people.sql", "select 1 as person_id\n")
        made.write("models/stg_people.yml", STAGING)
        return made

    @property
    def project(self) -> DbtProject:
        """The project as it is now."""
        return open_dbt_project(self.folder)

    def write(self, name: str, text: str) -> Path:
        """A file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        """The text of a file."""
        return (self.folder / name).read_text(encoding="utf-8")

    def policy(
        self,
        name: str = "models/towns",
        *,
        relation: str = "ref('stg_people')",
        unit: str = "{column: person_id, rows: {first_by: [visited desc]}}",
        recode: str = RECODE,
        rate: str = "0.1",
        k: int = 20,
        delta: str = "1.0e-6",
        model: str = "towns",
        version: int = 1,
        more: str = "",
        chance: str = "",
    ) -> Path:
        """A policy's file."""
        text = POLICY.format(
            relation=relation, unit=unit, recode=recode, delta=delta, model=model, version=version,
            more=more, chance=chance or f"sample: {{rate: {rate}}}\nk: {k}",
        )  # fmt: skip
        return self.write(f"{name}.privacy.yml", text)

    def sync(self, **options: bool) -> Synced:
        """A sync."""
        return sync(self.project, **options)

    def texts(self) -> dict[str, str]:
        """Every file of the project by its name."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_text() for path in paths}


def changes(synced: Synced) -> dict[str, str]:
    """What was done to which file, but for the package's."""
    found = {synced.project.shown(each.path): each.kind for each in synced.changes}
    return {name: kind for name, kind in found.items() if not re.match("packages", name)}
