"""The drawn sample as a DuckDB relation, and the known-answer test of it.

Numbered rows come from ``drawing.draw_rows`` as an Arrow column. Keys are fetched once, as
128-bit blocks, and the kept ones become a temporary table. The test compares both with the
plain definition, bit for bit, through this connection, before every run.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from policy_engine.errors import WarehouseError
from policy_engine.warehouse import known_answers as known
from policy_engine.warehouse.drawing import draw_keys, draw_rows
from policy_engine.warehouse.quoting import quoted

_UNITS, _KEPT = "policy_engine_units", "policy_engine_kept"
_KNOWN = "policy_engine_known"

# A whole number is its own block; any other key is the first half of the SHA-256 of its text.
_NUMBER = "0::UBIGINT AS high, unit AS low"
_TEXT = (
    "('0x' || substr(sha256(unit::VARCHAR), 1, 16))::UBIGINT AS high,"
    " ('0x' || substr(sha256(unit::VARCHAR), 17, 16))::UBIGINT AS low"
)


class DrawnSample:
    """Draws units into a relation of one connection, and takes them away again."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def of_rows(self, name: str, secret: bytes, count: int, bound: int) -> None:
        """Make ``name`` the drawn row numbers among ``count``."""
        blocks = [pa.array(rows, pa.int64()) for rows in draw_rows(secret, count, bound)]
        column = pa.chunked_array(blocks, pa.int64())
        self._connection.register(name, pa.table({"unit": column}))

    def of_keys(self, name: str, secret: bytes, query: str, values: list[str], bound: int) -> None:
        """Make ``name`` the drawn ones among the keys that ``query`` selects as ``unit``."""
        run = self._connection.execute
        run(f"CREATE OR REPLACE TEMP TABLE {_UNITS} AS {query}", values)
        kind = run(f"SELECT any_value(typeof(unit)) FROM {_UNITS}").fetchall()[0][0]
        is_number = str(kind).replace("INTEGER", "INT").endswith("INT")
        words = _NUMBER if is_number and "HUGE" not in str(kind) else _TEXT
        found = run(f"SELECT {words} FROM {_UNITS} ORDER BY rowid").fetchnumpy()
        low = found["low"]
        wide = low.astype(np.int64 if low.dtype.kind == "i" else np.uint64).view(np.uint64)
        places = draw_keys(secret, found["high"].astype(np.uint64), wide, bound)
        self._connection.register(_KEPT, pa.table({"place": pa.array(places, pa.int64())}))
        run(
            f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT unit FROM {_UNITS}"
            f" WHERE rowid IN (SELECT place FROM {_KEPT})"
        )
        self._connection.unregister(_KEPT)
        run(f"DROP TABLE {_UNITS}")

    def drop(self, name: str) -> None:
        """Remove a drawn relation, whichever kind it is."""
        self._connection.unregister(name)
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
        for unit, answer in (("range", known.NUMBERS), ("range::VARCHAR", known.TEXTS)):
            query = f"SELECT {unit} AS unit FROM range({known.UNITS})"
            self.of_keys(_KNOWN, known.SECRET, query, [], known.THRESHOLD)
            self._compare(answer, unit)

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
