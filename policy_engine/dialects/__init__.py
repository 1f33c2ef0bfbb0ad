"""Warehouses by name."""

from policy_engine.dialects.base import Dialect
from policy_engine.dialects.duckdb import DuckDB
from policy_engine.errors import UsageError

__all__ = ["DIALECTS", "Dialect", "dialect_named"]

DIALECTS: dict[str, Dialect] = {DuckDB.name: DuckDB()}


def dialect_named(name: str) -> Dialect:
    """The dialect called ``name``.

    Raises:
        UsageError: there is none.

    >>> dialect_named("duckdb").name
    'duckdb'
    """
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise UsageError(f"the dialect must be one of {known}, found {name!r}")
    return DIALECTS[name]
