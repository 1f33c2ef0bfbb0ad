"""What a text reads from: base tables, Parquet files, and views whose body is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from sqlglot import exp

from policy_engine.expressions.datatypes import plain
from policy_engine.expressions.row_laws import names_one_column
from policy_engine.expressions.values import Kind, Value
from policy_engine.relations.scope import ROW_NUMBERS
from policy_engine.relations.shape import Lookup, Relation
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.grammar import read_statement
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.node_laws import reads_a_table
from policy_engine.syntax.schema import Constraints, Schema

_MAX_VIEWS = 32
COLLATED = "text under a collation"
_PARQUET = (".parquet", ".parq", ".pq")
# As what DuckDB reads ``people.csv``, where there is no table csv in a schema people.
_FILES = frozenset({
    "csv", "tsv", "json", "jsonl", "ndjson", "geojson", "parquet", "parq", "pq", "gz", "zst",
    "xlsx", "avro", "arrow", "arrows", "feather", "shp", "gpkg", "duckdb", "vortex",
})  # fmt: skip
_FILE_NUMBER = "file_row_number"
_TABLE_NUMBER = "rowid"


@dataclass(frozen=True)
class Sources:
    """The relations a text may read, as far as the schema knows them."""

    schema: Schema
    views: tuple[str, ...] = ()

    def within(self, view: str) -> Sources:
        """The sources of the body of ``view``."""
        return replace(self, views=(*self.views, view))

    def view(self, node: exp.Table) -> str | None:
        """The name of the view that ``node`` reads; None where it reads none."""
        if not isinstance(node.this, exp.Identifier):
            return None
        name = dotted(part.name for part in node.parts)
        return name if self.schema.view(name) is not None else None

    def definition(self, view: str, node: exp.Table, notes: Notes) -> exp.Expr | None:
        """The query of a view, every node of it allowed; None and findings otherwise."""
        text = self.schema.view(view)
        if not text or view in self.views or len(self.views) >= _MAX_VIEWS:
            found = f"the view {view}, whose definition was not shown"
            notes.judge(reads_a_table.broken_by(found), node)
            return None
        statement = read_statement(text, notes.inside(view, text, node))
        if not isinstance(statement, exp.Create):
            return statement
        names = statement.this.expressions if isinstance(statement.this, exp.Schema) else []
        if not names:
            query: exp.Expr = statement.expression
            return query
        # CREATE VIEW v (a, b) AS … names the columns as WITH v (a, b) AS … does.
        alias = exp.TableAlias(this=exp.to_identifier(view), columns=[n.copy() for n in names])
        inner = exp.Subquery(this=statement.expression, alias=alias)
        named: exp.Expr = exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
        return named

    def public(self, node: exp.Expr) -> tuple[str, str] | None:
        """The name and key of the public lookup that ``node`` is; None where it is none."""
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            return None
        name = dotted(part.name for part in node.parts)
        key = self.schema.key_of(name)
        return None if key is None or self.view(node) is not None else (name, fold(key))

    def kind_of(self, name: str, column: str) -> str | None:
        """The type of a lookup's column; ``COLLATED`` where it compares text its own way."""
        types = {fold(c): kind for c, kind in (self.schema.columns(name) or {}).items()}
        kind = types.get(column)
        if kind is None:
            return None
        return COLLATED if " COLLATE" in kind.upper() else plain(kind)

    def lookup(self, name: str, by: str, inputs: frozenset[str]) -> Lookup:
        """A public lookup, joined by an expression of the columns ``inputs``."""
        types = self.schema.columns(name)
        return Lookup(
            name, by, types and {fold(c): plain(kind) for c, kind in types.items()}, inputs
        )

    def relation(self, node: exp.Table, notes: Notes) -> Relation | None:
        """The base table or file that ``node`` reads; None and findings if it is neither."""
        if isinstance(node.this, exp.ReadParquet):
            return self._file(node, node.this, notes)
        if not isinstance(node.this, exp.Identifier):
            notes.judge(reads_a_table.broken_by(shown(node.this)), node)
            return None
        name, last = dotted(part.name for part in node.parts), node.name.lower()
        if set(node.name) & set("./*?[") and len(node.parts) == 1:
            # DuckDB guesses the columns and types of a CSV or JSON file from its rows.
            if not last.endswith(_PARQUET):
                notes.judge(
                    reads_a_table.broken_by(f"{name}, a file whose types may depend on its rows"),
                    node,
                )
                return None
            return self._relation(node.name, node, None, notes)
        is_known = self.schema.columns(name) is not None
        found = None if is_known else _other_than_a_table(node, name)
        if found is not None:
            notes.judge(reads_a_table.broken_by(found), node)
            return None
        return self._relation(name, node, _TABLE_NUMBER, notes)

    def _file(self, node: exp.Table, read: exp.ReadParquet, notes: Notes) -> Relation | None:
        paths = [e for e in read.expressions if e.is_string]
        options = [_option(e) for e in read.expressions if not e.is_string]
        if len(paths) != 1 or len(set(options)) < len(options) or not set(options) <= _OPTIONS:
            notes.judge(reads_a_table.broken_by(shown(node)), node)
            return None
        path = paths[0].name
        # In several files the numbers start anew: they no longer tell rows apart.
        is_pattern = bool(set(path) & set("*?["))
        numbered = _NUMBERED in options and not is_pattern
        if is_pattern and _UNPARTITIONED not in options:
            notes.assume(f"no folder of {path} is read as a value of its files")
        relation = self._relation(path, node, _FILE_NUMBER if numbered else None, notes)
        return relation.but(is_file=True)

    def _relation(self, name: str, node: exp.Table, number: str | None, notes: Notes) -> Relation:
        types = self.schema.columns(name)
        is_file = isinstance(node.this, exp.ReadParquet)
        if types is None and self.schema.known:
            notes.judge(
                reads_a_table.broken_by(f"{name}, which the schema does not have once"), node
            )
        elif types is None and not is_file:
            notes.assume(f"{name} is a base table")
            if number is not None and _reads_rowid(node):
                notes.assume(f"{name} has no column of its own called {number}")
        _tell_columns_apart(name, types or {}, node, notes)
        declared = self.schema.constraints_of(name)
        columns = {fold(c): _column(c, kind, declared) for c, kind in (types or {}).items()}
        if number in columns:
            number = None
        if number == _FILE_NUMBER and columns:
            place = exp.column(_FILE_NUMBER, quoted=True)
            columns[number] = Value(Kind.POSITION, frozenset({number}), place, "BIGINT")
        return Relation(
            name,
            columns,
            columns,
            names=_qualifiers(node),
            open=types is None,
            row_number=number,
        )


def _tell_columns_apart(name: str, types: Mapping[str, str], node: exp.Table, notes: Notes) -> None:
    """Columns are compared without case, as DuckDB does: a schema may know "A" and a."""
    seen: dict[str, str] = {}
    for column in types:
        first = seen.setdefault(fold(column), column)
        if first != column:
            found = f"{name} with the columns {first} and {column}"
            notes.judge(names_one_column(found), node)


def _other_than_a_table(node: exp.Table, name: str) -> str | None:
    """What a name may stand for that is no base table; None where it is one."""
    if _may_be_file(node):
        quoted = shown(exp.Literal.string(".".join(part.name for part in node.parts)))
        return f"{name}, a table or a file; a Parquet file is read as {quoted}"
    return f"{name}, which describes the database" if _is_catalog(node) else None


def _may_be_file(node: exp.Table) -> bool:
    """Whether a name of several parts is a file's too; a temporary table hides the file."""
    parts = [part.name.lower() for part in node.parts]
    return len(parts) > 1 and parts[-1].split(".")[-1] in _FILES and parts[:2] != ["temp", "main"]


_CATALOGS = frozenset({"information_schema", "pg_catalog"})
_CATALOG_VIEWS = ("duckdb_", "pg_", "sqlite_master", "sqlite_schema", "sqlite_temp_", "pragma_")


def _is_catalog(node: exp.Table) -> bool:
    """Whether a name is one of the engine's own: its tables, users and settings."""
    schema, name = fold(node.db), fold(node.name)
    if fold(node.catalog) == "system" or schema in _CATALOGS:
        return True
    return schema in {"", "main"} and name.startswith(_CATALOG_VIEWS)


def _column(name: str, kind: str, declared: Constraints | None) -> Value:
    known = declared is not None and declared.keyed
    unique = known and declared is not None and fold(name) in declared.unique
    filled = declared is not None and fold(name) in declared.filled
    collated = " COLLATE" in kind.upper()
    # A nested type keeps its whole spelling, so that a float or text within it is seen.
    type_ = plain(kind)
    return Value(
        Kind.VALUE,
        frozenset({fold(name)}),
        exp.column(name, quoted=True),
        kind.upper() if type_ in {"STRUCT", "MAP", "UNION"} else type_,
        collated,
        unique=unique if known else None,
        filled=True if filled else (False if known else None),
    )


def _qualifiers(node: exp.Table) -> frozenset[str]:
    if node.alias:
        return frozenset({fold(node.alias)})
    if not isinstance(node.this, exp.Identifier):
        return frozenset({"read_parquet"})
    parts = [fold(part.name) for part in node.parts]
    if len(parts) == 1 and parts[0].endswith(_PARQUET):
        parts = [PurePath(parts[0]).stem]
    return frozenset(".".join(parts[start:]) for start in range(len(parts)))


def _reads_rowid(node: exp.Table) -> bool:
    root = node.root()
    return any(fold(column.name) in ROW_NUMBERS for column in root.find_all(exp.Column))


_NUMBERED, _UNPARTITIONED = (_FILE_NUMBER, True), ("hive_partitioning", False)
_OPTIONS = frozenset({_NUMBERED, _UNPARTITIONED})


def _option(node: exp.Expr) -> tuple[str, bool] | None:
    """An option of READ_PARQUET that is on or off; None for any other."""
    known = isinstance(node, exp.EQ) and isinstance(node.this, exp.Column)
    if not known or not isinstance(node.expression, exp.Boolean):
        return None
    return fold(node.this.name), bool(node.expression.this)
