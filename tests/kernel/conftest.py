"""One place an engine, for a whole session."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "warehouse")]

from engines import opened_engines  # noqa: E402
from running import PLACES, DuckDB  # noqa: E402


@pytest.fixture(scope="session")
def place_of():
    """The place of an engine, whose server starts when it is first asked for."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        found = {"duckdb": DuckDB()}

        def place(name):
            if name not in found:
                [engine] = stack.enter_context(opened_engines([name])).values()
                found[name] = PLACES[name](engine)
            return found[name]

        yield place
