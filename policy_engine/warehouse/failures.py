"""What may be said of a failure inside the warehouse.

An engine's message can quote a value of the row that failed, and its very wording tells
what the data held, so it is replaced. Failures of the machine (disk, memory, a file's
rights, an interrupt) are told, in words that come from the operating system or from us.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from policy_engine.errors import WarehouseError

_MEMORY = "the warehouse ran out of memory; give it more or sample less"
_MACHINE = (
    (duckdb.OutOfMemoryException, _MEMORY),
    (pa.ArrowMemoryError, _MEMORY),
    (duckdb.IOException, "the warehouse could not read or write a file; see disk space and rights"),
    (duckdb.PermissionException, "the warehouse refused access; see the rights of its files"),
)
WITHHELD = "the warehouse failed; its message is withheld because it may quote data"


@contextmanager
def withheld() -> Iterator[None]:
    """Turn an engine's error into one that quotes nothing.

    Raises:
        WarehouseError: in place of every error of the engine and of Arrow, with no cause attached.
    """
    try:
        yield
    except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
        if _interrupted(error):
            raise KeyboardInterrupt from None
        for kind, message in _MACHINE:
            if isinstance(error, kind):
                raise WarehouseError(message) from None
        raise WarehouseError(WITHHELD) from None


def _interrupted(error: Exception) -> bool:
    # While Arrow fetches the rows, the engine tells of an interrupt by a plain RuntimeError.
    told = type(error) is RuntimeError and "interrupt" in str(error).lower()
    return told or isinstance(error, duckdb.InterruptException)
