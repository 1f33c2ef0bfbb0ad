"""How an embedded engine is set, so that it writes, prints and fetches nothing unasked.

What it would do unasked is a side channel: a profile or a log holds what a query read, a
loaded extension runs code of its own, and blocks written by a process that has read the
source hold stray bytes of its memory.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

_CONFIG = {
    # Nothing is fetched, loaded or trusted that this policy does not name.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    # A name in a text is never a variable of the program around us.
    "python_enable_replacements": "false",
    # What is written before a commit would be written to the database file itself.
    "enable_optimistic_write": "false",
}
_SESSION = (
    "SET TimeZone = 'UTC'",
    # It is asked for, and never printed: a notebook would turn that on.
    "SET enable_progress_bar = true",
    "SET enable_progress_bar_print = false",
    # settling.py writes the blocks of a database file, in a process that knows no source.
    "PRAGMA disable_checkpoint_on_shutdown",
)


def connect(
    spill: Path, memory_limit: str | None = None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to a fresh database in memory, whose temporary files go to ``spill``.

    ``memory_limit`` is a size as in ``2GB``, beyond which the engine spills.
    """
    limits = {"memory_limit": memory_limit, "threads": threads}
    given = {name: str(limit) for name, limit in limits.items() if limit is not None}
    connection = duckdb.connect(config={**_CONFIG, "temp_directory": str(spill), **given})
    for statement in _SESSION:
        connection.execute(statement)
    return connection
