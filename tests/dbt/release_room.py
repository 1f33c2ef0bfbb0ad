"""A dbt project with a warehouse of its own, in which releases are made: for stories of them."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg
import pytest
from environments import NEWEST, Dbt, Runner, dbt_of
from postgres import running

from policy_engine.cli.main import run

sys.path[:0] = [str(Path(__file__).parents[1] / "unit" / "dbt")]

from dbt_sync_world import World  # noqa: E402

NAME = "towns_v1"
_STAGING = """\
{{ config(materialized='table') }}
select * from {{ ref('visits') }}
"""
_TYPES = {"person_id": "bigint", "age": "integer", "town": "TEXT", "visited": "date"}
RECODE = "  age: {bins: [30, 60]}\n  town: {map: {A: north, B: south}, other: elsewhere}"


def _seed(towns: str) -> str:
    rows = (
        f"{person},{person * 7 % 90},{towns[(person + visit) % len(towns)]},2024-01-{visit + 1:02}"
        for person in range(1, 3001)
        for visit in range(1 + person % 3)
    )
    return "person_id,age,town,visited\n" + "\n".join(rows) + "\n"


@dataclass
class Room:
    """A project, the dbt that builds it, and the warehouse that it is built in."""

    world: World
    dbt: Dbt
    command: Runner
    engine: str
    place: str

    def write(self) -> None:
        text = "varchar" if self.engine == "duckdb" else "text"
        types = {name: kind.replace("TEXT", text) for name, kind in _TYPES.items()}
        columns = "".join(f"      - {{name: {n}, data_type: {k}}}\n" for n, k in types.items())
        listed = ", ".join(f"{name}: {kind}" for name, kind in types.items())
        one = f"{{type: duckdb, path: '{self.place}/TARGET.duckdb', threads: 2}}"
        if self.engine == "postgres":
            one = (
                f"{{type: postgres, host: '{self.place}', user: postgres, password: none,"
                " port: 5432, dbname: postgres, schema: TARGET, threads: 2}"
            )
        outputs = "".join(f"    {n}: {one.replace('TARGET', n)}\n" for n in ("dev", "prod"))
        self.world.write("profiles.yml", f"shop:\n  target: dev\n  outputs:\n{outputs}")
        for seed in ("visits", "visit_rows"):
            self.world.write(f"seeds/{seed}.csv", _seed("ABC"))
            self.world.write(
                f"seeds/{seed}.yml",
                f"seeds:\n  - name: {seed}\n    config: {{column_types: {{{listed}}}}}\n",
            )
        self.world.write("models/stg_people.sql", _STAGING)
        self.world.write(
            "models/stg_people.yml", f"models:\n  - name: stg_people\n    columns:\n{columns}"
        )
        self.world.write(
            "policy-engine.yaml",
            "accounts: {people: {epsilon: 0.5, delta: 4.0e-11}}\ndbt: {release_targets: [prod]}\n",
        )
        self.world.policy(recode=RECODE)

    def begin(self) -> dict[str, object]:
        """What somebody does once; the answer of the sync."""
        synced = self.engine_says("dbt", "sync", "--target", "prod")
        self.engine_says("ledger", "begin")
        self.command("deps", project=self.world.folder)
        return synced

    def engine_says(self, *words: str) -> dict[str, object]:
        """What ``policy-engine`` answered; in this process, for it is asked fifty times."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.world.folder)
            patch.setenv("POLICY_ENGINE_DBT", str(self.dbt.executable))
            code = run(list(words))
        return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

    def asks(self, command: str) -> dict[str, object]:
        """The document that a command on releases in production answers."""
        told = self.engine_says("dbt", command, "--target", "prod", "--format", "json")
        found = json.loads(str(told["out"])) if told["out"] else {}
        return {**told, "releases": found.get("releases", [])}

    def builds(self, *words: str) -> dict[str, object]:
        """What ``dbt build`` in production came to."""
        done = self.command("build", *(words or ("--target", "prod")), project=self.world.folder)
        return {"code": done.returncode, "out": done.out}

    def sql(self, statement: str) -> list[list[object]]:
        """The rows of a statement in production; none where it fails."""
        try:
            if self.engine == "duckdb":
                with duckdb.connect(f"{self.place}/prod.duckdb") as connection:
                    return [list(row) for row in connection.execute(statement).fetchall()]
            address = f"host={self.place} user=postgres options=-csearch_path=prod"
            with psycopg.connect(address, autocommit=True) as connection:
                cursor = connection.execute(statement)
                return [list(row) for row in cursor.fetchall()] if cursor.description else []
        except (duckdb.Error, psycopg.Error):
            return []

    def rows(self) -> list[list[object]]:
        """The release."""
        return self.sql(f"select age, town, n from {NAME} order by age, town")

    def verified(self, name: str = NAME) -> dict[str, object]:
        """What ``verify`` says of the certificate and of an export of the table."""
        file = self.world.folder / "export.csv"
        with file.open("w", newline="") as opened:
            csv.writer(opened).writerows([["age", "town", "n"], *self.stored(name)])
        certificate = f"models/{name}.prod.certificate.json"
        return self.engine_says("verify", certificate, "--release", str(file))

    def stored(self, name: str = NAME) -> list[list[object]]:
        """The release in its own order."""
        order = " order by age, town" if self.engine == "postgres" else ""
        return self.sql(f"select age, town, n from {name}{order}")

    def entries(self) -> list[dict[str, object]]:
        """What the ledger has."""
        told = self.engine_says("ledger", "show", "--format", "json")
        return json.loads(str(told["out"]))["entries"]


@contextmanager
def room_of(engine: str, folder: Path) -> Iterator[Room]:
    """A room without files, in a warehouse of its own, with the newest dbt of those tested."""
    with ExitStack() as stack:
        dbt = dbt_of(NEWEST)
        place = folder if engine == "duckdb" else stack.enter_context(running()).folder
        run = stack.enter_context(dbt.served())
        yield Room(World.at(folder / "project"), dbt, run, engine, str(place))


def outcome(found: dict[str, object], key: str = "outcome") -> list[str]:
    """What a command says of each release."""
    return [release[key] for release in found["releases"]]
