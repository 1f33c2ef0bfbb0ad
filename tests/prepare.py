"""Installs what the tests of engines and of dbt need, beside the first tests, so that none waits.

A test that finds something missing installs it too, and says what failed; here nothing fails.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / name) for name in ("dbt", "warehouse")]

from debian import postgresql  # noqa: E402
from environments import FAKESNOW, NEWEST, dbt_of, environment  # noqa: E402
from mariadb_server import SERVER, binary  # noqa: E402

with suppress(Exception):
    binary(SERVER)
with suppress(Exception):
    postgresql()
with suppress(Exception):
    dbt_of(NEWEST)
with suppress(Exception):
    environment("fakesnow", FAKESNOW)
