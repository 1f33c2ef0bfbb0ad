"""What DuckDB's catalog says of a relation: its columns and their collations, and what is refused.

A table is of columns that are stored as they are written; a view stands in a database without
macros, for what its text calls could be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, Field, Table
from policy_engine.errors import WarehouseError
from policy_engine.warehouse.catalogs import Name, missing
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import quoted

_CALLED = "(lower(database_name), lower(schema_name), lower({}_name)) = (?, ?, ?)"
COMMENT = f"""
    SELECT comment FROM duckdb_tables() WHERE {_CALLED.format("table")}
    UNION ALL SELECT '' FROM duckdb_views() WHERE {_CALLED.format("view")}
"""
_MADE = f"""
    SELECT sql, false FROM duckdb_tables() WHERE {_CALLED.format("table")}
    UNION ALL SELECT sql, true FROM duckdb_views() WHERE {_CALLED.format("view")}
"""
NAMES = """
    SELECT database_name, schema_name, table_name FROM duckdb_tables()
    UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
"""
_UNIQUE = f"""
    SELECT constraint_column_names[1] FROM duckdb_constraints() WHERE {_CALLED.format("table")}
        AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1
"""
POINTING = """
    SELECT table_name FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'
        AND (lower(database_name), lower(schema_name), lower(referenced_table)) = (?, ?, ?)
"""
SCHEMA = "SELECT 1 FROM duckdb_schemas() WHERE (lower(database_name), lower(schema_name)) = (?, ?)"
_MACROS = """
    SELECT schema_name || '.' || function_name FROM duckdb_functions()
    WHERE NOT internal AND database_name IN (?, 'temp') ORDER BY 1 LIMIT 1
"""
_PLAIN_TABLE = "make a plain table of it (CREATE TABLE … AS SELECT)"
# What a definition may say of a column that is stored as it is written.
_STORED = frozenset(
    f"{name}ColumnConstraint"
    for name in ("Collate", "Default", "NotNull", "PrimaryKey", "Unique", "Check")
) | {"Reference"}


def asked(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """The rows of a query of ours.

    They are fetched to the end: an unread result would block the connection's next statement.
    """
    with withheld():
        return connection.execute(sql, list(values)).fetchall()


def relation(connection: duckdb.DuckDBPyConnection, parts: Name) -> Table:
    """A table or view, with what the catalog says of its columns.

    Raises:
        WarehouseError: it is not there, or cannot be certified.
    """
    found = asked(connection, _MADE, folded(parts, parts))
    if not found:
        raise missing(parts, asked(connection, NAMES))
    [(made, is_view)] = found
    collations = {} if is_view else column_collations(made)
    with withheld(WarehouseError(_broken(connection, parts))):
        described = connection.execute(f"DESCRIBE {quoted(*parts)}").fetchall()
    columns = tuple(
        Field(name, kind + collations.get(name.lower(), "")) for name, kind, *_ in described
    )
    if is_view:
        for (macro,) in asked(connection, _MACROS, parts[:1]):
            raise WarehouseError(
                f"{'.'.join(parts)} is a view in a database with macros, found {macro}: what its"
                f" text calls may be that; {INSTEAD_OF_A_VIEW}"
            )
        return Table(columns, parts=parts, view=made)
    unique = frozenset(name for (name,) in asked(connection, _UNIQUE, folded(parts)))
    filled = frozenset(name for name, _, null, *_ in described if null == "NO")
    return Table(columns, parts=parts, unique=unique, filled=filled)


def _broken(connection: duckdb.DuckDBPyConnection, parts: Name) -> str:
    """Why a view cannot be described, as far as its names tell."""
    name, warehouse = ".".join(parts), parts[0]
    if asked(connection, SCHEMA, folded((warehouse, warehouse))):
        return (
            f"{name} has a definition that does not work; mend it, or, as the warehouse and a"
            f" schema of its database are both called {warehouse} and a name in the"
            " definition could mean either, give the warehouse another name in policy-engine.yaml"
        )
    return f"{name} has a definition that does not work; mend it"


def folded(*names: Name) -> Name:
    """Names as the catalog is asked for them."""
    return tuple(part.lower() for parts in names for part in parts)


def column_collations(ddl: str) -> dict[str, str]:
    """The columns of a table's definition that have a collation of their own.

    Raises:
        WarehouseError: the definition cannot be read, or a column is computed from others: it
            could take its collation from them, or fail on one row.

    >>> column_collations("CREATE TABLE t(a VARCHAR COLLATE nocase, b INTEGER)")
    {'a': ' COLLATE nocase'}
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        definition = sqlglot.parse_one(ddl, dialect="duckdb")
    except SqlglotError:
        raise WarehouseError(
            "the source's definition uses SQL that cannot be read here, and its collations with"
            f" it; {_PLAIN_TABLE}"
        ) from None
    found: dict[str, str] = {}
    # The columns of the table itself: a STRUCT has others.
    for column in definition.this.expressions:
        if not isinstance(column, exp.ColumnDef):
            continue
        if any(type(made.args.get("kind")).__name__ not in _STORED for made in column.constraints):
            raise WarehouseError(
                f"the source's column {column.name!r} is computed from others, and could fail on"
                f" one row; {_PLAIN_TABLE}"
            )
        collation = column.find(exp.CollateColumnConstraint)
        if collation is not None:
            found[column.name.lower()] = f" COLLATE {collation.this.name}"
    return found
