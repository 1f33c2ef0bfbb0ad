"""One PostgreSQL server for the tests of a worker; see ``postgres``."""

import os

import pytest
from postgres import binaries, running


@pytest.fixture(scope="session")
def postgres():
    # Whoever cannot have PostgreSQL says so; where nobody did, its absence is a failure.
    if os.environ.get("POLICY_ENGINE_TESTS_WITHOUT_POSTGRESQL"):
        try:
            binaries()
        except RuntimeError as error:
            pytest.skip(str(error))
    with running() as server:
        yield server
