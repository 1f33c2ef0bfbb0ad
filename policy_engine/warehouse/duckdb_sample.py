"""The drawn sample as a temporary table of DuckDB, and the known-answer test of it.

Numbered rows come from ``drawing.draw_rows``. Of keys, those are taken whose hash under the secret
is low enough; the secret is bound, and stands in no text. The test compares both with the plain
definition, bit for bit, through this connection, before every run.
"""

from __future__ import annotations

import duckdb

from policy_engine.errors import WarehouseError
from policy_engine.warehouse import known_answers as known
from policy_engine.warehouse.drawing import draw_rows
from policy_engine.warehouse.quoting import quoted

_KNOWN = "policy_engine_known"
_DRAWN = "policy_engine_drawn"


class DrawnSample:
    """Draws units into a table of one connection, and takes them away again."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def of_rows(self, name: str, secret: bytes, count: int, bound: int) -> None:
        """Make ``name`` the drawn row numbers among ``count``."""
        import pyarrow as pa

        # By their bytes: pa.array would import pandas, to see whether they are its own.
        blocks = [
            pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
            for rows in draw_rows(secret, count, bound)
        ]
        column = pa.chunked_array(blocks, pa.int64())
        self._connection.register(_DRAWN, pa.table({"unit": column}))
        # A table of the engine's own: of a query that reads Arrow's it tells no progress.
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT unit FROM {_DRAWN}"
        )
        self._connection.unregister(_DRAWN)

    def of_keys(self, name: str, secret: bytes, query: str, values: list[str], bound: int) -> None:
        """Make ``name`` the drawn ones among the keys that ``query`` selects as ``unit``."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT unit FROM ({query})"
            " WHERE sha256(? || ':u:' || unit::VARCHAR) < ?",
            [*values, secret.hex(), f"{bound:015x}"],
        )

    def drop(self, name: str) -> None:
        """Remove a drawn table."""
        self._connection.execute(f"DROP TABLE IF EXISTS temp.{quoted(name)}")

    def check_known_rows(self) -> None:
        """Compare the sampler with the known answers for 1,000 row numbers.

        Raises:
            WarehouseError: they differ; nothing was drawn from the source.
        """
        self.of_rows(_KNOWN, known.SECRET, known.UNITS, known.THRESHOLD)
        self._compare(known.ROWS, "range")

    def check_known_keys(self) -> None:
        """Compare the sampler with the known answers for 1,000 numbers and 1,000 texts.

        Raises:
            WarehouseError: they differ; nothing was drawn from the source.
        """
        for unit in ("range", "range::VARCHAR"):
            query = f"SELECT {unit} AS unit FROM range({known.UNITS})"
            self.of_keys(_KNOWN, known.SECRET, query, [], known.THRESHOLD)
            self._compare(known.KEYS, unit)

    def _compare(self, answer: int, unit: str) -> None:
        """Read the sample back through the semi-join that a release uses."""
        rows = self._connection.execute(
            f"SELECT range FROM range({known.UNITS}) WHERE {unit} IN (SELECT unit FROM {_KNOWN})"
        ).fetchall()
        self.drop(_KNOWN)
        if {row[0] for row in rows} != known.expected(answer):
            raise WarehouseError(
                "the known-answer test of the sampler failed on this connection: its sample"
                " would not be the certified one; nothing was drawn. Please report this"
            )
