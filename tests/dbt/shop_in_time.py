"""A shop whose orders come in every night, and its policy with a calendar: invented data.

The clock of what is charged is set, and dbt has that of the machine.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import duckdb
import psycopg
import pytest
import time_machine
from environments import Dbt, Done, Runner

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: orders
description: Orders by store
source: {table: ref('stg_orders')}
privacy_unit: {column: customer_id, rows: any}
period: {column: ordered, every: month, from: "2026-07", after: 5d}
recode: {store: keep}
mechanism: noisy_counts
guarantee: GUARANTEE
release: {table: orders_public, append: true}
account: customers
"""
REFRESH = POLICY.replace(
    'period: {column: ordered, every: month, from: "2026-07", after: 5d}',
    "refresh: {every: month}",
).replace(", append: true", "")
PLANNED = """\
accounts: {customers: {epsilon: 2.0, delta: 1.0e-6, each: year, plan: {orders: {editions: 12}}}}
dbt: {release_targets: [prod]}
"""
_FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
    "models/stg_orders.sql": "{{ config(materialized='table') }}\n"
    "select customer_id, store, ordered from {{ source('raw', 'orders') }}\n",
    "models/stg_orders.yml": "sources:\n  - name: raw\n    schema: SCHEMA\n"
    "    tables: [{name: orders}]\n"
    "models:\n  - name: stg_orders\n    columns:\n"
    "      - {name: customer_id, data_type: bigint}\n      - {name: store, data_type: TEXT}\n"
    "      - {name: ordered, data_type: date}\n",
    # What a colleague makes of the release.
    "models/stores.sql": "select store, sum(n) as n\n"
    "from {{ ref('orders_public') }} group by store\n",
}


@dataclass
class Shop:
    """The project, the warehouse it is built in, and the day."""

    folder: Path
    dbt: Dbt
    command: Runner
    engine: str
    place: str
    today: date = date(2026, 7, 1)

    def write(self, policy: str = POLICY, project: str = PLANNED) -> None:
        """The project as its owner writes it."""
        text, schema = ("varchar", "main") if self.engine == "duckdb" else ("text", "prod")
        one = f"{{type: duckdb, path: '{self.place}/TARGET.duckdb', threads: 2}}"
        if self.engine == "postgres":
            one = (
                f"{{type: postgres, host: '{self.place}', user: postgres, password: none,"
                " port: 5432, dbname: postgres, schema: TARGET, threads: 2}"
            )
        outputs = "".join(f"    {n}: {one.replace('TARGET', n)}\n" for n in ("dev", "prod", "eu"))
        files = {
            **_FILES,
            "profiles.yml": f"shop:\n  target: dev\n  outputs:\n{outputs}",
            "policy-engine.yaml": project,
            "models/orders.privacy.yml": policy.replace("GUARANTEE", "planned"),
        }
        for name, said in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(said.replace("TEXT", text).replace("SCHEMA", schema))
        if self.engine == "postgres":
            self.sql("create schema if not exists prod")
        self.sql(f"create table {schema}.orders (customer_id bigint, store {text}, ordered date)")

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """The rows of a statement in production; none of one that fails."""
        try:
            if self.engine == "duckdb":
                with duckdb.connect(f"{self.place}/prod.duckdb") as connection:
                    return connection.execute(statement).fetchall()
            address = f"host={self.place} user=postgres options=-csearch_path=prod"
            with psycopg.connect(address, autocommit=True) as connection:
                cursor = connection.execute(statement)
                return cursor.fetchall() if cursor.description else []
        except (duckdb.Error, psycopg.Error):
            return []

    def order(self, day: date, size: int = 60) -> None:
        """The orders of a day; a customer comes back after some days."""
        number = day.toordinal()
        rows = ", ".join(
            f"({(number * 31 + one) % 1500}, '{['north', 'south', 'east'][(number + one) % 3]}',"
            f" date '{day}')"
            for one in range(size)
        )
        self.sql(f"insert into orders values {rows}")

    def engine_says(self, *words: str) -> dict[str, object]:
        """What ``policy-engine`` answers this night; in this process, for it is asked often."""
        out, err = io.StringIO(), io.StringIO()
        night = datetime.combine(self.today, time(3), UTC)
        with (
            pytest.MonkeyPatch.context() as patch,
            time_machine.travel(night),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            patch.chdir(self.folder)
            patch.setenv("POLICY_ENGINE_DBT", str(self.dbt.executable))
            patch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
            code = run(list(words))
        return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

    def asks(self, command: str) -> list[dict[str, object]]:
        """What a command on releases in production answers of each."""
        told = self.engine_says("dbt", command, "--target", "prod", "--format", "json")
        assert told["out"], told
        return json.loads(str(told["out"]))["releases"]

    def builds(self, *words: str, target: str = "prod") -> Done:
        """``dbt build`` in production, or in another target."""
        return self.command("build", *words, "--target", target, project=self.folder)

    def night(self, target: str = "prod") -> tuple[dict[str, object], Done, dict[str, object]]:
        """What the scheduler runs."""
        reserved = self.engine_says("dbt", "reserve", "--target", target)
        built = self.builds(target=target)
        return reserved, built, self.engine_says("dbt", "attest", "--target", target)

    def until(self, day: date) -> None:
        """The orders of each day before ``day``."""
        while self.today < day:
            self.order(self.today)
            self.today += timedelta(days=1)

    def rows(self) -> list[tuple[object, ...]]:
        """What is read."""
        return self.sql("select * from orders_public_v1 order by 1, 2")

    def entries(self) -> list[Mapping[str, object]]:
        """What the ledger has."""
        told = self.engine_says("ledger", "show", "--format", "json")
        return json.loads(str(told["out"]))["entries"]

    def committed(self) -> dict[str, str]:
        """The texts that stand in git, but for certificates."""
        kept = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {
            path.relative_to(self.folder).as_posix(): path.read_text("utf-8", "replace")
            for path in kept
            if path.suffix in {".sql", ".yml", ".yaml"} and "target" not in path.parts
        }

    def begin(self) -> None:
        """What somebody does once."""
        done = self.engine_says("dbt", "sync", "--target", "prod")
        assert done["code"] == 0, done
        done = self.engine_says("ledger", "begin")
        assert done["code"] == 0, done
        assert self.command("deps", project=self.folder).returncode == 0
