"""The envelope around a query, which a warehouse writes; the query stands in it unedited."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.dialects.base import Dialect


def created(query: str, name: str, *, replaces: bool = False) -> str:
    """The envelope that makes a table of a query; ``name`` as the engine quotes it.

    >>> print(created("SELECT 1 AS one", '"out"'))
    CREATE TABLE "out" AS
    SELECT 1 AS one
    """
    return f"CREATE {'OR REPLACE ' if replaces else ''}TABLE {name} AS\n{query}"


def name_of(target: tuple[str, ...], dialect: Dialect) -> str:
    """The full name of a table as the engine quotes it."""
    names = [exp.to_identifier(part, quoted=True) for part in reversed(target)]
    return dialect.sql(exp.Table(**dict(zip(("this", "db", "catalog"), names, strict=False))))
