"""Experiments in processes of their own, and the PostgreSQL server of the contract tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONTRACT = str(HERE.parent / "contract")
if CONTRACT not in sys.path:
    sys.path.append(CONTRACT)
from postgres import postgres  # noqa: E402

__all__ = ["experiment", "kill_test", "postgres"]


def run_json(*command):
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def experiment():
    """What an experiment of ``crash_run`` found."""
    return lambda *arguments: run_json(HERE / "crash_run.py", *arguments)


@pytest.fixture
def kill_test():
    """What ``scripts/kill_test.py`` found, by case."""
    return lambda *arguments: run_json(ROOT / "scripts" / "kill_test.py", *arguments, "--json")
