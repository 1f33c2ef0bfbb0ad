"""A schema from what a reviewer shows: DDL in the words of an engine, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Tokenizer

from policy_engine.check.schema import Constraints, Schema
from policy_engine.engines.types import parser_of, told, types_of
from policy_engine.errors import UsageError
from policy_engine.names import dotted, fold

_ENUM = re.compile(
    r"\s*CREATE\s+TYPE\s+(\w+)\s+AS\s+(ENUM\s*\(('([^']|'')*'|[\s,])*\))\s*", re.IGNORECASE
)
_PADDED = {exp.DataType.Type.CHAR, exp.DataType.Type.NCHAR, exp.DataType.Type.BPCHAR}
_SHAPE = 'CREATE TABLE statements, or JSON {"table": {"column": "TYPE"}}'


def parse_schema(text: str, engine: str) -> Schema:
    """A schema from DDL (CREATE TABLE, CREATE VIEW) or from JSON, in the words of an engine.

    Raises:
        UsageError: the text is neither.

    >>> parse_schema("create table adult (age integer, sex text)", "duckdb").tables
    {'adult': {'age': 'INT', 'sex': 'TEXT'}}
    """
    return _from_json(text, engine) if text.lstrip().startswith("{") else _from_ddl(text, engine)


def _other(found: str) -> UsageError:
    return UsageError(f"the schema must be {_SHAPE}, found {found}")


def _from_json(text: str, engine: str) -> Schema:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _other("JSON that does not parse") from None
    tables = document.get("tables", document)
    more = document if "tables" in document else {}
    views = more.get("views", {})
    # Each is a mapping of texts, and the tables are mappings of them.
    mappings = [views, *(tables.values() if isinstance(tables, dict) else [None])]
    for each in mappings:
        if not isinstance(each, dict) or not all(isinstance(told, str) for told in each.values()):
            raise _other("another JSON document")
    for name, types in tables.items():
        tables[name] = {column: _type_of_text(kind, engine) for column, kind in types.items()}
    return Schema(tables, views, known=True)


def _from_ddl(text: str, engine: str) -> Schema:
    reader = Dialect.get_or_raise(parser_of(engine))
    try:
        pieces = _statements(text, reader.tokenizer())
        parsed = [(piece, reader.parse(piece)[0]) for piece in pieces]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        raise _other("text that does not parse") from None
    labels = {fold(named[1]): named[2] for named in map(_ENUM.fullmatch, pieces) if named}
    tables: dict[str, dict[str, str]] = {}
    views: dict[str, str] = {}
    constraints: dict[str, Constraints] = {}
    for piece, statement in parsed:
        kind = statement.kind if isinstance(statement, exp.Create) else None
        if _ENUM.fullmatch(piece) or kind == "SCHEMA":
            continue
        if statement is None or kind not in {"TABLE", "VIEW"}:
            raise _other(type(statement).__name__.upper())
        made = statement.this
        name = dotted(p.name for p in (made if isinstance(made, exp.Table) else made.this).parts)
        if kind == "VIEW" and statement.expression:
            views[name] = piece
        elif isinstance(made, exp.Schema):
            # Its own columns: the fields of a STRUCT are none.
            columns = [c for c in made.expressions if isinstance(c, exp.ColumnDef)]
            tables[name] = {column.name: _type(column, labels, engine) for column in columns}
            constraints[name] = constraints_of(made)
        else:
            raise _other(f"a {kind} without columns or a query")
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


@cache
def _type_of_text(kind: str, engine: str) -> str:
    """A type as ``_type`` reads it in DDL; as it is written where it is none of one column there.

    >>> _type_of_text("NUMBER", "snowflake"), _type_of_text("VARCHAR COLLATE en-ci", "snowflake")
    ('BIGINT', 'VARCHAR COLLATE en-ci')
    """
    try:
        made = Dialect.get_or_raise(parser_of(engine)).parse(f"CREATE TABLE t (c {kind}\n)")
    except Exception:  # as of DDL
        return _told(kind, engine)
    match made:
        case [exp.Create(this=exp.Schema(expressions=[exp.ColumnDef() as column]))]:
            return _type(column, {}, engine)
    return _told(kind, engine)


def _type(column: exp.ColumnDef, labels: Mapping[str, str], engine: str) -> str:
    kinds = [constraint.kind for constraint in column.constraints]
    for each in kinds:
        identity = isinstance(each, exp.GeneratedAsIdentityColumnConstraint) and each.expression
        if identity or isinstance(each, exp.ComputedColumnConstraint):
            return "OTHER COMPUTED"  # made when it is read, or written, which may fail
    kind = column.kind.sql("duckdb") if column.kind is not None else ""
    kind = labels.get(fold(kind), kind)
    collations = [each.this for each in kinds if isinstance(each, exp.CollateColumnConstraint)]
    kind = f"{kind} COLLATE {collations[0].sql()}" if collations else kind
    is_padded = column.kind is not None and column.kind.this in _PADDED
    return _told(kind, engine, is_padded=is_padded)


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
    keys: list[list[str]] = []
    filled: list[str] = []
    for part in table.expressions:
        column = [fold(part.name)] if isinstance(part, exp.ColumnDef) else []
        for each in part.constraints if column else ():
            is_primary = isinstance(each.kind, exp.PrimaryKeyColumnConstraint)
            if is_primary or isinstance(each.kind, exp.UniqueColumnConstraint):
                keys.append(column)
            is_filled = isinstance(each.kind, exp.NotNullColumnConstraint)
            if is_primary or (is_filled and not each.kind.args.get("allow_null")):
                filled += column
        for each in part.expressions if isinstance(part, exp.Constraint) else [part]:
            if isinstance(each, exp.PrimaryKey):
                keys.append([fold(name.name) for name in each.expressions])
                filled += keys[-1]
            elif isinstance(each, exp.UniqueColumnConstraint) and each.this is not None:
                keys.append([fold(name.name) for name in each.this.expressions])
    alone = frozenset(names[0] for names in keys if len(names) == 1)
    return Constraints(alone, frozenset(filled), bool(keys))
