"""The night of docs/howto/dbt.md as Airflow runs it with Cosmos: the DAG of the page itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import AIRFLOW, NEWEST, dbt_of, environment
from release_room import NAME, Room, World, outcome

pytestmark = [pytest.mark.slow, pytest.mark.evidence]

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "dbt.md"
_DAG = re.compile(r"^`dags/shop\.py`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_airflow_and_cosmos_reserve_build_and_attest_as_the_page_says(tmp_path):
    dbt = dbt_of(NEWEST)
    with dbt.served() as run:
        room = Room(World.at(tmp_path / "project"), dbt, run, "duckdb", str(tmp_path))
        room.write()
        room.engine_says("dbt", "sync", "--target", "prod")
        room.engine_says("ledger", "begin")
        run("deps", project=room.world.folder)
        run("parse", project=room.world.folder)
        bin_of = environment("airflow", AIRFLOW) / "bin"
        [dag] = _DAG.findall(PAGE.read_text("utf-8"))
        file = tmp_path / "airflow" / "dags" / "shop.py"
        file.parent.mkdir(parents=True)
        file.write_text(dag.replace("/srv/shop", str(room.world.folder)))
        own = [bin_of, dbt.real.parent, Path(sys.executable).parent]
        path = os.pathsep.join([*map(str, own), os.environ["PATH"]])
        extra = {
            "PATH": path, "POLICY_ENGINE_DBT": str(dbt.real), "DO_NOT_TRACK": "1",
            "AIRFLOW_HOME": str(tmp_path / "airflow"), "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        }  # fmt: skip
        for words in (("db", "migrate"), ("dags", "reserialize"), ("dags", "test", "shop")):
            done = subprocess.run(
                [bin_of / "airflow", *words], env={**dbt.environment(), **extra}, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout[-3000:]
        assert "state=success" in done.stdout
        ends = re.findall(r"end task task_id=(\S+)", done.stdout)
        assert (ends[0], ends[-1]) == ("reserve", "attest"), ends
        assert "dbt_task_group.towns_v1_draw.run" in ends
        assert (room.world.folder / f"models/{NAME}.prod.certificate.json").exists()
        assert outcome(room.asks("status"), "state") == ["certified"]
        assert room.rows()
