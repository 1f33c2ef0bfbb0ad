"""What a reviewer or a catalog says about the relations a text reads.

A ``Schema`` turns assumptions into checks: the type of a column, and whether a relation is a
base table or a view. An unknown schema makes nothing pass that would not pass otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError

from policy_engine.errors import UsageError
from policy_engine.verify.grammar import dialect_named

_T = TypeVar("_T")
_SHAPE = 'CREATE TABLE statements, or JSON {"table": {"column": "TYPE"}}'


@dataclass(frozen=True)
class Schema:
    """Column types by relation, and the bodies of views ('' where a body is not known).

    >>> schema = Schema({"main.adult": {"age": "BIGINT"}}, known=True)
    >>> schema.columns("census.main.adult")
    {'age': 'BIGINT'}
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    known: bool = False

    def columns(self, relation: str) -> Mapping[str, str] | None:
        """Types by column name; None where the schema does not have the relation."""
        return _find(self.tables, relation)

    def view(self, relation: str) -> str | None:
        """The body of a view, '' where it is unknown, None where this is no view."""
        return _find(self.views, relation)

    def type_of(self, relation: str, column: str) -> str | None:
        """The declared type of a column, in the engine's spelling; None if unknown."""
        for name, kind in (self.columns(relation) or {}).items():
            if name.lower() == column.lower():
                return kind
        return None


def _find(known: Mapping[str, _T], relation: str) -> _T | None:
    wanted = relation.lower().split(".")
    for name, value in known.items():
        parts = name.lower().split(".")
        shared = min(len(parts), len(wanted))
        if name.lower() == relation.lower() or parts[-shared:] == wanted[-shared:]:
            return value
    return None


def parse_schema(text: str, dialect: str) -> Schema:
    """A schema from DDL (CREATE TABLE, CREATE VIEW) or from JSON.

    Raises:
        UsageError: the text is neither.

    >>> parse_schema("create table adult (age integer, sex text)", "duckdb").tables
    {'adult': {'age': 'INT', 'sex': 'TEXT'}}
    """
    if text.lstrip().startswith("{"):
        return _from_json(text)
    return _from_ddl(text, dialect)


def _from_json(text: str) -> Schema:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the schema must be {_SHAPE}, found JSON with {error}") from None
    tables = document.get("tables", document) if isinstance(document, dict) else None
    views = document.get("views", {}) if "tables" in (document or ()) else {}
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise UsageError(f"the schema must be {_SHAPE}, found another JSON document")
    columns = {
        str(name): {str(c): str(kind) for c, kind in types.items()}
        for name, types in tables.items()
    }
    return Schema(columns, {str(n): str(b) for n, b in dict(views).items()}, known=True)


def _from_ddl(text: str, dialect: str) -> Schema:
    reader = dialect_named(dialect)
    try:
        statements = [s for s in reader.parse(text) if s is not None]
    except (SqlglotError, RecursionError):
        raise UsageError(f"the schema must be {_SHAPE}, found text that does not parse") from None
    tables: dict[str, dict[str, str]] = {}
    views: dict[str, str] = {}
    for statement in statements:
        if not isinstance(statement, exp.Create):
            found = type(statement).__name__.upper()
            raise UsageError(f"the schema must be {_SHAPE}, found {found}")
        name = ".".join(p.name for p in statement.find(exp.Table).parts)  # type: ignore[union-attr]  # every CREATE names one
        if statement.kind == "VIEW":
            views[name] = statement.expression.sql(dialect)
        else:
            tables[name] = {
                column.name: column.kind.sql(dialect)
                for column in statement.this.find_all(exp.ColumnDef)
            }
    return Schema(tables, views, known=True)
