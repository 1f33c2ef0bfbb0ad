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
    # A notebook turns it on.
    "SET enable_progress_bar = false",
    # settling.py writes the blocks of a database file, in a process that knows no source.
    "PRAGMA disable_checkpoint_on_shutdown",
)


def connect(spill: Path) -> duckdb.DuckDBPyConnection:
    """A connection to a fresh database in memory, whose temporary files go to ``spill``."""
    connection = duckdb.connect(config={**_CONFIG, "temp_directory": str(spill)})
    for statement in _SESSION:
        connection.execute(statement)
    return connection
