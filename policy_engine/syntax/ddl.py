"""A schema from what a reviewer shows: DDL in the words of an engine, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Tokenizer

from policy_engine.engines.types import parser_of, told, types_of
from policy_engine.errors import UsageError
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.schema import Constraints, Schema

_ENUM = re.compile(
    r"\s*CREATE\s+TYPE\s+(\w+)\s+AS\s+(ENUM\s*\(('([^']|'')*'|[\s,])*\))\s*", re.IGNORECASE
)
_SHAPE = 'CREATE TABLE statements, or JSON {"table": {"column": "TYPE"}}'


def parse_schema(text: str, engine: str) -> Schema:
    """A schema from DDL (CREATE TABLE, CREATE VIEW) or from JSON, in the words of an engine.

    Raises:
        UsageError: the text is neither.

    >>> parse_schema("create table adult (age integer, sex text)", "duckdb").tables
    {'adult': {'age': 'INT', 'sex': 'TEXT'}}
    """
    if text.lstrip().startswith("{"):
        return _from_json(text, engine)
    return _from_ddl(text, engine)


def _from_json(text: str, engine: str) -> Schema:
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
    for name, types in tables.items():
        tables[name] = {column: _told(kind, engine) for column, kind in types.items()}
    return Schema(tables, views, known=True, public=public)


def _are_dicts(*found: object) -> bool:
    return all(isinstance(each, dict) for each in found)


def _is_columns(types: object) -> bool:
    return isinstance(types, dict) and all(isinstance(kind, str) for kind in types.values())


def _from_ddl(text: str, engine: str) -> Schema:
    reader = Dialect.get_or_raise(parser_of(engine))
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
            tables[name] = {column.name: _type(column, labels, engine) for column in columns}
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


def _type(column: exp.ColumnDef, labels: Mapping[str, str], engine: str) -> str:
    if _is_computed(column):
        return "OTHER COMPUTED"
    kind = column.kind.sql("duckdb") if column.kind is not None else ""
    kind = labels.get(fold(kind), kind)
    collations = [
        c.kind.this for c in column.constraints if isinstance(c.kind, exp.CollateColumnConstraint)
    ]
    kind = f"{kind} COLLATE {collations[0].sql()}" if collations else kind
    is_padded = column.kind is not None and column.kind.this in _PADDED
    return _told(kind, engine, is_padded=is_padded)


_PADDED = {exp.DataType.Type.CHAR, exp.DataType.Type.NCHAR, exp.DataType.Type.BPCHAR}


def _told(kind: str, engine: str, *, is_padded: bool = False) -> str:
    """A type as an engine has it; one that has equal values that look different has no meaning."""
    if engine == "duckdb":
        return kind
    padded = is_padded and "char" not in types_of(engine)
    return f"OTHER {kind}" if padded else told(engine, kind)


def constraints_of(table: exp.Schema) -> Constraints:
    """The constraints of a CREATE TABLE statement.

    >>> import sqlglot
    >>> made = sqlglot.parse_one("create table t (id int primary key, a text not null, b text)")
    >>> found = constraints_of(made.this)
    >>> sorted(found.unique), sorted(found.filled)
    (['id'], ['a', 'id'])
    """
    keys = list(_keys(table))
    primary = [name for names, is_primary in keys if is_primary for name in names]
    filled = [
        fold(column.name)
        for column in table.expressions
        if isinstance(column, exp.ColumnDef)
        for each in column.constraints
        if isinstance(each.kind, exp.NotNullColumnConstraint)
        and not each.kind.args.get("allow_null")
    ]
    alone = frozenset(names[0] for names, _ in keys if len(names) == 1)
    return Constraints(alone, frozenset([*primary, *filled]), bool(keys))


def _keys(table: exp.Schema) -> Iterator[tuple[list[str], bool]]:
    """The columns of every key, and whether it is the primary one."""
    for part in table.expressions:
        if isinstance(part, exp.ColumnDef):
            for each in part.constraints:
                primary = isinstance(each.kind, exp.PrimaryKeyColumnConstraint)
                if primary or isinstance(each.kind, exp.UniqueColumnConstraint):
                    yield [fold(part.name)], primary
        for each in part.expressions if isinstance(part, exp.Constraint) else [part]:
            if isinstance(each, exp.PrimaryKey):
                yield [fold(name.name) for name in each.expressions], True
            elif isinstance(each, exp.UniqueColumnConstraint) and each.this is not None:
                yield [fold(name.name) for name in each.this.expressions], False
