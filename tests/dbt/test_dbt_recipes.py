"""The night of docs/howto/dbt.md runs: a fresh checkout, its workflow, and dbt Cloud's API.

A small HTTP server stands in for dbt Cloud: it answers as the documented API does, and its job is
``dbt build`` in a checkout of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from environments import dbt_of

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "dbt.md"
_FILE = re.compile(r"^`([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = dict(_FILE.findall(PAGE.read_text("utf-8")))
WORKFLOW = ".github/workflows/night.yml"
_POLICY = re.compile(r"^```yaml\n(version: 1\nname: towns\n.*?)^```$", re.MULTILINE | re.DOTALL)
_SOURCE = (
    "{{ config(materialized='table') }}\n"
    "select i as person_id, (i % 90)::int as age, 'ABC'[1 + i % 3] as town,\n"
    "  date '2024-01-01' + (i % 300)::int as visited from range(9000) as people(i)\n"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A repository as it is on the main branch, and beside it what outlives a job."""
    base = tmp_path_factory.mktemp("night")
    folder = base / "shop"
    outputs = "".join(
        f"    {name}: {{type: duckdb, path: '{base}/{name}.duckdb'}}\n" for name in ("dev", "prod")
    )
    [policy] = _POLICY.findall(PAGE.read_text("utf-8"))
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
        "profiles.yml": f"shop:\n  target: dev\n  outputs:\n{outputs}",
        "models/stg_people.sql": _SOURCE,
        "models/marts/towns.privacy.yml": policy,
        **WRITTEN,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _ran(folder, "policy-engine dbt init")
    with (folder / "policy-engine.yaml").open("a") as file:
        file.write(
            f"ledger: {base}/kept/ledger.sqlite\nsigning: {{key: {base}/kept/signing.pem}}\n"
        )
    _ran(folder, "policy-engine ledger begin")
    _ran(folder, "dbt deps && dbt build --target prod --select stg_people")
    _ran(folder, "policy-engine dbt sync")
    _ran(folder, "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one")
    return folder


def _environment(**more: str) -> dict[str, str]:
    dbt, own = dbt_of("1.11").executable, Path(sys.executable).parent
    path = os.pathsep.join([str(own), str(dbt.parent), os.environ["PATH"]])
    kept = {name: each for name, each in os.environ.items() if not name.startswith("DBT_")}
    return {**kept, "PATH": path, "POLICY_ENGINE_DBT": str(dbt), **more}


def _runs(folder: Path, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=_environment(**more), capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def _ran(folder: Path, line: str) -> None:
    done = _runs(folder, line)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def _checkout(world: Path, name: str) -> Path:
    """A fresh one: nothing that dbt or policy-engine wrote before is in it but what git has."""
    folder = world.parent / name
    shutil.rmtree(folder, ignore_errors=True)
    _ran(world.parent, f"git clone -q {world} {folder}")
    return folder


class _Cloud(BaseHTTPRequestHandler):
    """dbt Cloud as its API shows it; ``job`` runs while it says that the run is running."""

    world: Path
    job = "dbt deps && dbt build --target prod"
    asked: list[tuple[str, str]]
    ended: list[int]

    def _answer(self, data: dict[str, object]) -> None:
        body = json.dumps({"data": data, "status": {"code": 200}}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append((self.path, self.headers["Authorization"]))
        folder = _checkout(self.world, "cloud")
        _ran(folder, f"git checkout -q {said['git_sha']}")
        done = _runs(folder, self.job)
        type(self).ended = [3, 10 if done.returncode == 0 else 20]
        self._answer({"id": 7, "status": 1})

    def do_GET(self) -> None:
        assert self.path == "/api/v2/accounts/1/runs/7/"
        ended = type(self).ended
        self._answer({"id": 7, "status": ended.pop(0) if len(ended) > 1 else ended[0]})

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def cloud(world: Path) -> Iterator[str]:
    _Cloud.world, _Cloud.asked, _Cloud.ended = world, [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Cloud) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _night(world: Path, cloud: str, name: str) -> tuple[Path, dict[str, int]]:
    """The steps of the workflow in a fresh checkout, and how each ended."""
    [job] = yaml.safe_load(WRITTEN[WORKFLOW])["jobs"].values()
    folder, ended, is_well = _checkout(world, name), {}, True
    sha = _runs(folder, "git rev-parse HEAD").stdout.strip()
    for step in (each for each in job["steps"] if "run" in each):
        if is_well or step.get("if") == "always()":
            given = {**step.get("env", {}), "DBT_CLOUD_TOKEN": "secret", "GITHUB_SHA": sha}
            given["DBT_CLOUD_URL"] = cloud
            done = _runs(folder, step["run"].replace("python3", sys.executable), **given)
            ended[step["run"].split(" --")[0]] = done.returncode
            is_well = is_well and done.returncode == 0
    return folder, ended


def test_a_night_whose_job_dbt_cloud_runs(world: Path, cloud: str) -> None:
    folder, ended = _night(world, cloud, "runner")
    assert set(ended.values()) == {0} and len(ended) == 4, ended
    assert _Cloud.asked == [("/api/v2/accounts/1/jobs/2/run/", "Token secret")]
    [certificate] = folder.glob("models/**/*.certificate.json")
    assert json.loads(certificate.read_text())
    _ran(folder, "policy-engine dbt verify --target prod")
    # The second target has nothing: no charge, no row.
    _ran(folder, "dbt build --target dev")
    rows = "import duckdb; print(duckdb.connect('../dev.duckdb').sql('from towns_v1').fetchall())"
    assert _runs(folder, f'{sys.executable} -c "{rows}"').stdout == "[]\n"


def test_a_job_that_fails_ends_the_night_with_it(
    world: Path, cloud: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Cloud, "job", "false")
    _, ended = _night(world, cloud, "failed")
    assert ended["python3 run_job.py"] == 1 and "policy-engine dbt attest" in ended
