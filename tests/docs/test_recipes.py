"""The recipes run: each scheduler's own file is read, and its command run in the page's project.

Neither the schedulers nor the steps that install are run.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest
import yaml

PAGE = pages.ROOT / "docs/howto/recipes.md"
pytestmark = pytest.mark.slow
#: Where cron looks for a command: in no virtual environment.
SCHEDULERS = "/usr/bin:/bin"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's project, after the page's own commands."""
    folder = tmp_path_factory.mktemp("recipes")
    assert pages.run_page(PAGE, folder) == []
    return folder


def _run(project: Path, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the page's two folders replaced, in a user's environment."""
    here = command.replace("/srv/reports", str(project))
    here = here.replace("/srv/policy-engine/.venv/bin", str(Path(sys.executable).parent))
    return subprocess.run(
        ["sh", "-c", here],
        cwd=project, env={**pages.environment(), **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def _steps(project: Path, workflow: str) -> list[str]:
    text = (project / ".github/workflows" / workflow).read_text("utf-8")
    [job] = yaml.safe_load(text)["jobs"].values()
    return [step["run"] for step in job["steps"] if "policy-engine " in step.get("run", "")]


def _nothing_is_due(text: str) -> bool:
    return json.loads(text)["code"] == "nothing_due"


def test_cron(project: Path) -> None:
    minute, hour, *days, command = re.split(r"\s+", (project / "crontab").read_text(), maxsplit=5)
    assert (minute, hour, days) == ("15", "3", ["*", "*", "*"])
    done = _run(project, command, PATH=SCHEDULERS)
    log = project / "release.log"
    assert done.returncode == 0, log.read_text()
    assert _nothing_is_due((project / "release.json").read_text())
    # A warning stands beside the answers, and each of these is still JSON.
    before, first = log.read_text(), project / "out/visits/edition=2026-07/part.parquet"
    kept = first.read_bytes()
    first.unlink()
    try:
        (project / "release.json").unlink()
        assert _run(project, command, PATH=SCHEDULERS).returncode == 0
        assert _nothing_is_due((project / "release.json").read_text())
        assert "warning: visits: edition 2026-07" in log.read_text().removeprefix(before)
    finally:
        first.write_bytes(kept)


def test_a_pull_request_is_checked(project: Path) -> None:
    [command] = _steps(project, "policies.yml")
    done = _run(project, command)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_workflow_releases_at_night(project: Path) -> None:
    [command] = _steps(project, "release.yml")
    done = _run(project, command)
    assert done.returncode == 0 and _nothing_is_due(done.stdout), done.stderr


def test_airflow(project: Path) -> None:
    tree = ast.parse((project / "dags/release.py").read_text())
    [task] = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "BashOperator"
    ]
    said = {word.arg: ast.literal_eval(word.value) for word in task.keywords}
    done = _run(project, f"cd {said['cwd']} && {said['bash_command']}", PATH=SCHEDULERS)
    assert done.returncode == 0 and _nothing_is_due(done.stdout), done.stderr


def test_behind_dbt(project: Path) -> None:
    """With a dbt that builds, the release runs; with one that fails, it does not."""
    script = (project / "nightly.sh").read_text()
    assert "nothing is due" in _run(project, f"dbt() {{ true; }}; {script}").stdout
    failed = _run(project, f"dbt() {{ false; }}; {script}")
    assert failed.returncode == 1 and not failed.stdout
