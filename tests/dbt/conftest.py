"""The versions of dbt, and things that are made once for all workers."""

from __future__ import annotations

import fcntl
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "contract")]

from postgres import postgres  # noqa: E402, F401


@pytest.fixture(scope="session")
def made_once(tmp_path_factory) -> Callable[[str, Callable[[Path], Any]], Any]:
    """``made_once(name, make)``: the JSON that ``make(folder)`` gives, made by one worker."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base

    def made(name: str, make: Callable[[Path], Any]) -> Any:
        folder = shared / name
        result = shared / f"{name}.json"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                folder.mkdir()
                result.write_text(json.dumps(make(folder)))
        return json.loads(result.read_text())

    return made
