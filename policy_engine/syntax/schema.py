"""What a reviewer or a catalog says about the relations a text reads.

A ``Schema`` turns assumptions into checks: the type of a column, and whether a relation is a
base table or a view. An unknown schema makes nothing pass that would not pass otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sqlglot import exp
from sqlglot.tokens import Tokenizer

from policy_engine.errors import UsageError
from policy_engine.syntax.constraints import Constraints, constraints_of
from policy_engine.syntax.grammar import dialect_named
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.readings import READINGS
from policy_engine.syntax.readings.reading import Reading

_T = TypeVar("_T")
_ENUM = re.compile(
    r"\s*CREATE\s+TYPE\s+(\w+)\s+AS\s+(ENUM\s*\(('([^']|'')*'|[\s,])*\))\s*", re.IGNORECASE
)
_SHAPE = 'CREATE TABLE statements, or JSON {"table": {"column": "TYPE"}}'


@dataclass(frozen=True)
class Schema:
    """Column types by relation, and the bodies of views ('' where a body is not known).

    ``public`` names the lookups that do not depend on the source, each with its key. ``source``
    is a view whose columns a policy speaks of: they are not looked through.

    >>> schema = Schema({"main.adult": {"age": "BIGINT"}}, known=True)
    >>> schema.columns("census.main.adult")
    {'age': 'BIGINT'}
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    known: bool = False
    public: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, Constraints] = field(default_factory=dict)
    source: str = ""

    def columns(self, relation: str) -> Mapping[str, str] | None:
        """Types by column name; None where the schema has no such relation, or several."""
        return _find(self.tables, relation)

    def view(self, relation: str) -> str | None:
        """The body of a view, '' where it is unknown, None where this is no view."""
        return _find(self.views, relation)

    def key_of(self, relation: str) -> str | None:
        """The key of a public lookup; None where the relation is not declared public."""
        return _find(self.public, relation)

    def constraints_of(self, relation: str) -> Constraints | None:
        """What is declared of a table's keys; None where nothing is known."""
        return _find(self.constraints, relation)

    def is_source(self, relation: str) -> bool:
        """Whether a relation is the one that a policy speaks of."""
        return bool(self.source) and _find({self.source: True}, relation) is not None


def _find(known: Mapping[str, _T], relation: str) -> _T | None:
    """The value of a name; a name with fewer parts stands for the one that ends in it."""
    wanted = fold(relation).split(".")
    found = []
    for name, value in known.items():
        parts = fold(name).split(".")
        shared = min(len(parts), len(wanted))
        if parts == wanted:
            return value
        if parts[-shared:] == wanted[-shared:]:
            found.append(value)
    return found[0] if len(found) == 1 else None


def parse_schema(text: str, dialect: str) -> Schema:
    """A schema from DDL (CREATE TABLE, CREATE VIEW) or from JSON.

    Raises:
        UsageError: the text is neither.

    >>> parse_schema("create table adult (age integer, sex text)", "duckdb").tables
    {'adult': {'age': 'INT', 'sex': 'TEXT'}}
    """
    if text.lstrip().startswith("{"):
        return _from_json(text, READINGS.get(dialect))
    return _from_ddl(text, dialect)


def _from_json(text: str, reading: Reading | None) -> Schema:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"the schema must be {_SHAPE}, found JSON that does not parse") from None
    tables = document.get("tables", document)
    views = document.get("views", {}) if "tables" in document else {}
    public = document.get("public", {}) if "tables" in document else {}
    texts = [*views.values(), *public.values()] if _are_dicts(views, public) else [None]
    columns = tables.values() if isinstance(tables, dict) else [None]
    if not all(isinstance(body, str) for body in texts) or not all(map(_is_columns, columns)):
        raise UsageError(f"the schema must be {_SHAPE}, found another JSON document")
    if reading is not None:
        for name, types in tables.items():
            tables[name] = {column: _told(kind, reading) for column, kind in types.items()}
    return Schema(tables, views, known=True, public=public)


def _are_dicts(*found: object) -> bool:
    return all(isinstance(each, dict) for each in found)


def _is_columns(types: object) -> bool:
    return isinstance(types, dict) and all(isinstance(kind, str) for kind in types.values())


def _from_ddl(text: str, dialect: str) -> Schema:
    reader = dialect_named(dialect)
    try:
        pieces = _statements(text, reader.tokenizer())
        parsed = [(piece, reader.parse(piece)[0]) for piece in pieces]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        raise UsageError(f"the schema must be {_SHAPE}, found text that does not parse") from None
    labels = {fold(named[1]): named[2] for named in map(_ENUM.fullmatch, pieces) if named}
    tables: dict[str, dict[str, str]] = {}
    views: dict[str, str] = {}
    constraints: dict[str, Constraints] = {}
    for piece, statement in parsed:
        if _ENUM.fullmatch(piece):
            continue
        if isinstance(statement, exp.Create) and statement.kind == "SCHEMA":
            continue
        if not isinstance(statement, exp.Create) or statement.kind not in {"TABLE", "VIEW"}:
            found = type(statement).__name__.upper()
            raise UsageError(f"the schema must be {_SHAPE}, found {found}")
        if statement.kind == "VIEW" and statement.expression:
            # A view keeps its own text: what the parser would write is another text.
            named = statement.this
            table = named if isinstance(named, exp.Table) else named.this
            views[dotted(part.name for part in table.parts)] = piece
        elif isinstance(statement.this, exp.Schema):
            # Its own columns: the fields of a STRUCT are none.
            columns = [c for c in statement.this.expressions if isinstance(c, exp.ColumnDef)]
            name = dotted(part.name for part in statement.this.this.parts)
            tables[name] = {column.name: _type(column, labels, dialect) for column in columns}
            constraints[name] = constraints_of(statement.this)
        else:
            found = f"a {statement.kind} without columns or a query"
            raise UsageError(f"the schema must be {_SHAPE}, found {found}")
    return Schema(tables, views, known=True, constraints=constraints)


def _statements(text: str, tokenizer: Tokenizer) -> list[str]:
    """The statements of a text, each as it is written."""
    starts, pieces = 0, []
    for token in tokenizer.tokenize(text):
        if token.text == ";" and text[token.start] == ";":
            pieces.append(text[starts : token.start])
            starts = token.end + 1
    pieces.append(text[starts:])
    return [piece for piece in pieces if tokenizer.tokenize(piece)]


def _is_computed(column: exp.ColumnDef) -> bool:
    """Whether a value is made when it is read, or written, which may fail."""
    kinds = [constraint.kind for constraint in column.constraints]
    return any(
        isinstance(kind, exp.ComputedColumnConstraint)
        or (isinstance(kind, exp.GeneratedAsIdentityColumnConstraint) and kind.expression)
        for kind in kinds
    )


def _type(column: exp.ColumnDef, labels: Mapping[str, str], dialect: str) -> str:
    if _is_computed(column):
        return "OTHER COMPUTED"
    kind = column.kind.sql("duckdb") if column.kind is not None else ""
    kind = labels.get(fold(kind), kind)
    collations = [
        c.kind.this for c in column.constraints if isinstance(c.kind, exp.CollateColumnConstraint)
    ]
    kind = f"{kind} COLLATE {collations[0].sql()}" if collations else kind
    is_padded = column.kind is not None and column.kind.this in _PADDED
    return _told(kind, READINGS[dialect], is_padded) if dialect in READINGS else kind


_PADDED = {exp.DataType.Type.CHAR, exp.DataType.Type.NCHAR, exp.DataType.Type.BPCHAR}


def _told(kind: str, reading: Reading, is_padded: bool = False) -> str:
    """A type as an engine has it; one that has equal values that look different has no meaning."""
    told = reading.told(kind)
    padded = is_padded and reading.types.get("char") is None
    # A decimal of any length, which PostgreSQL alone has, looks as each value was written.
    return f"OTHER {kind}" if padded or (reading.name, told) == ("postgres", "DECIMAL") else told
