"""Runs the suites of all engines at once, each in a process of its own.

Spark has one driver a process and ClickHouse one folder, and other tests of a worker may have had
theirs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        # Together: engines take longer to start than most of their tests.
        ["same_bytes", "editions"],
        pytest.param(["extreme_values"], marks=pytest.mark.evidence),
    ],
    ids="-".join,
)
def test_every_engine_releases_the_same_bytes_and_samples_by_the_law(names):
    suites = [str(Path(__file__).with_name(f"{name}_suite.py")) for name in names]
    chosen = [] if os.environ.get("EVIDENCE") else ["-m", "not evidence"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *suites]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
