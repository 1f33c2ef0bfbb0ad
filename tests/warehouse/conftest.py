"""Servers for the tests of warehouses: one of each kind for a worker."""

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("contract", "dbt", "unit/dbt")]
from debian import postgresql  # noqa: E402
from engines import ENGINES, opened_engines  # noqa: E402
from postgres import running  # noqa: E402


@pytest.fixture(scope="session")
def postgres_with_icu():
    """Debian's server: the wheel's is built without ICU."""
    with running(folder=postgresql()) as server:
        yield server


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def engines():
    """Every engine at once; Spark takes half a minute to start, and is a long proof."""
    names = [name for name in ENGINES if name != "spark" or os.environ.get("EVIDENCE")]
    with opened_engines(names) as found:
        yield found
