"""Servers for the tests of warehouses: one of each kind for a worker."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "contract"))
from debian import ensure
from postgres import running


@pytest.fixture(scope="session")
def postgres_with_icu():
    """Debian's server: the wheel's is built without ICU."""
    place = Path("/usr/lib/postgresql")
    ensure("postgresql", lambda: any(place.glob("*/bin/initdb")))
    with running(folder=next(place.glob("*/bin/initdb")).parent) as server:
        yield server


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server."""
    with running() as server:
        yield server
