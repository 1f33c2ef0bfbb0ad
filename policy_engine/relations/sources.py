"""What a text reads from: base tables, Parquet files, views whose body is known, public lookups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from sqlglot import exp

from policy_engine.expressions.conversions import MIXED
from policy_engine.expressions.datatypes import FLOATS, INEXACT, NARROW, QUOTIENT, plain
from policy_engine.expressions.evaluation import BYTEWISE, JOINED, canonical, evaluate
from policy_engine.expressions.values import Role, Value, names_one_column
from policy_engine.relations.scope import ROW_NUMBERS, is_qualifier, qualifier_of, resolver
from policy_engine.relations.shape import Joined, Shape
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.grammar import read_statement
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.node_laws import reads_a_table, reads_one_relation
from policy_engine.syntax.schema import Schema

_MAX_VIEWS = 32
_COLLATED = "text under a collation"
_LOOSE = FLOATS | {INEXACT, QUOTIENT, _COLLATED}
"""Types of which two values may be equal to a join and are not the same."""

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

    def relation(self, node: exp.Table, notes: Notes) -> Shape | None:
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
                found = f"{name}, a file whose types may depend on its rows"
                notes.judge(reads_a_table.broken_by(found), node)
                return None
            return self._relation(node.name, node, None, notes)
        other = None if self.schema.columns(name) is not None else _other_than_a_table(node, name)
        if other is not None:
            notes.judge(reads_a_table.broken_by(other), node)
            return None
        return self._relation(name, node, _TABLE_NUMBER, notes)

    def _file(self, node: exp.Table, read: exp.ReadParquet, notes: Notes) -> Shape | None:
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
        return self._relation(path, node, _FILE_NUMBER if numbered else None, notes)

    def _relation(self, name: str, node: exp.Table, number: str | None, notes: Notes) -> Shape:
        types, is_file = self.schema.columns(name), isinstance(node.this, exp.ReadParquet)
        if types is None and self.schema.known:
            found = f"{name}, which the schema does not have once"
            notes.judge(reads_a_table.broken_by(found), node)
        elif types is None and not is_file:
            notes.assume(f"{name} is a base table")
            read = (fold(column.name) for column in node.root().find_all(exp.Column))
            if number is not None and not ROW_NUMBERS.isdisjoint(read):
                notes.assume(f"{name} has no column of its own called {number}")
        # Columns are compared without case, as DuckDB does: a schema may know "A" and a.
        seen: dict[str, str] = {}
        for column in types or {}:
            first = seen.setdefault(fold(column), column)
            if first != column:
                found = f"{name} with the columns {first} and {column}"
                notes.judge(names_one_column(found), node)
        columns = {fold(c): self._column(name, c, kind) for c, kind in (types or {}).items()}
        if number in columns:
            number = None
        if number == _FILE_NUMBER and columns:
            place = exp.column(_FILE_NUMBER, quoted=True)
            columns[number] = Value(Role.POSITION, frozenset({number}), place, "BIGINT")
        return Shape(
            name,
            columns,
            columns,
            names=_qualifiers(node),
            open=types is None,
            row_number=number,
            is_file=is_file,
        )

    def _column(self, table: str, name: str, kind: str) -> Value:
        """A column of a table as its own value, with what is declared of its keys."""
        declared = self.schema.constraints_of(table)
        known = declared is not None and declared.keyed
        filled = declared is not None and fold(name) in declared.filled
        # A nested type keeps its whole spelling, so that a float or text within it is seen.
        type_ = plain(kind)
        return Value(
            Role.VALUE,
            frozenset({fold(name)}),
            exp.column(name, quoted=True),
            kind.upper() if type_ in {"STRUCT", "MAP", "UNION"} else type_,
            " COLLATE" in kind.upper(),
            unique=fold(name) in declared.unique if known and declared else None,
            filled=True if filled else (False if known else None),
        )


def _other_than_a_table(node: exp.Table, name: str) -> str | None:
    """What a name may stand for that is no base table; None where it is one."""
    parts = [part.name.lower() for part in node.parts]
    # A name of several parts is a file's too; a temporary table hides the file.
    is_file = len(parts) > 1 and parts[-1].split(".")[-1] in _FILES
    if is_file and parts[:2] != ["temp", "main"]:
        quoted = shown(exp.Literal.string(".".join(part.name for part in node.parts)))
        return f"{name}, a table or a file; a Parquet file is read as {quoted}"
    # The engine's own: its tables, users and settings.
    schema, own = fold(node.db), fold(node.name).startswith(_CATALOG_VIEWS)
    is_catalog = fold(node.catalog) == "system" or schema in _CATALOGS
    is_catalog = is_catalog or (schema in {"", "main"} and own)
    return f"{name}, which describes the database" if is_catalog else None


_CATALOGS = frozenset({"information_schema", "pg_catalog"})
_CATALOG_VIEWS = ("duckdb_", "pg_", "sqlite_master", "sqlite_schema", "sqlite_temp_", "pragma_")


def _qualifiers(node: exp.Table) -> frozenset[str]:
    if node.alias:
        return frozenset({fold(node.alias)})
    if not isinstance(node.this, exp.Identifier):
        return frozenset({"read_parquet"})
    parts = [fold(part.name) for part in node.parts]
    if len(parts) == 1 and parts[0].endswith(_PARQUET):
        parts = [PurePath(parts[0]).stem]
    return frozenset(".".join(parts[start:]) for start in range(len(parts)))


_NUMBERED, _UNPARTITIONED = (_FILE_NUMBER, True), ("hive_partitioning", False)
_OPTIONS = frozenset({_NUMBERED, _UNPARTITIONED})


def _option(node: exp.Expr) -> tuple[str, bool] | None:
    """An option of READ_PARQUET that is on or off; None for any other."""
    known = isinstance(node, exp.EQ) and isinstance(node.this, exp.Column)
    if not known or not isinstance(node.expression, exp.Boolean):
        return None
    return fold(node.this.name), bool(node.expression.this)


# A join to a public lookup by its key: what a row is joined to depends on the row alone

_JOINS = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}


def joined(
    join: exp.Join, rows: Shape, sources: Sources, queries: Collection[str], notes: Notes
) -> Shape:
    """``rows``, each with at most one row of a public lookup; a finding for any other join.

    The lookup has one row for each key and does not depend on the source: both are assumed, and
    said. What the join shows is then a function of the one row [mechanism 2]. ``queries`` are the
    names of the queries in scope: none of them passes for a lookup.
    """
    table = join.this
    named = table.name if isinstance(table, exp.Table) and not table.db else ""
    public = None if fold(named) in queries else sources.public(table)
    kind = ((join.side or "").upper(), (join.kind or "").upper())
    renamed = table.args["alias"].args.get("columns") if table.args.get("alias") else None
    other = renamed or kind not in _JOINS or table.args.get("sample")
    if public is None or public[0] == rows.source or other:
        found = "a join to a relation that is not declared public"
        notes.judge(reads_one_relation.broken_by(found), join)
        return rows
    name, key = public
    alias = fold(table.alias or table.name)
    sides = list(_key_sides(join, alias, key, rows))
    if len(sides) != 1:
        found = f"a join to {name} by something else than {alias}.{key} = a column"
        notes.judge(reads_one_relation.broken_by(found), join)
        return rows
    # A lookup's columns do not pass for the source's: they share no name.
    for column in join.parent_select.find_all(exp.Column) if join.parent_select else ():
        if qualifier_of(column) == alias:
            column.meta[JOINED] = f"{alias}."
    value = evaluate(sides[0], resolver(rows, notes), notes)
    told = sources.schema.columns(name)
    declared = {fold(column): kind for column, kind in (told or {}).items()}
    types = {column: plain(kind) for column, kind in declared.items()}
    is_collated = " COLLATE" in declared.get(key, "").upper()
    _check_key(join, value, _COLLATED if is_collated else types.get(key), notes)
    notes.assume(
        f"{name} is public: it does not depend on {rows.source}, and has one row for each {key}"
    )
    known = None if told is None else types
    own = Joined(name, canonical(sides[0]), known, value.inputs)
    lookups = {**(rows.lookups or {}), alias: own}
    out = rows.but(lookups=lookups, joined=True, filtered=rows.filtered or kind[0] != "LEFT")
    for condition in [join.args["on"]] if join.args.get("on") else []:
        evaluate(condition, resolver(out, notes), notes, condition=True)
    return out


def _check_key(join: exp.Join, value: Value, kind: str | None, notes: Notes) -> None:
    """Equal as the join compares them must be equal as the lookup's keys are told apart."""
    kinds = {value.type, kind}
    differ = None not in kinds and value.type != kind and not kinds <= NARROW
    if value.kind is not Role.VALUE or value.collated or differ or {value.type, kind} & _LOOSE:
        found = f"a join of {value.type or 'a value'} and {kind or 'a key'}, where keys may be one"
        notes.judge(reads_one_relation.broken_by(found), join)
    if value.type is None or kind is None:
        notes.assume(MIXED)
    if value.collated is None:
        notes.assume(BYTEWISE)


def _key_sides(join: exp.Join, alias: str, key: str, rows: Shape) -> Iterator[exp.Expr]:
    """What the lookup's key is equal to; nothing where the condition is another."""
    using = join.args.get("using") or []
    if len(using) == 1 and fold(using[0].name) == key:
        yield exp.column(using[0].name)
    condition = bare(join.args["on"]) if join.args.get("on") else None
    if using or not isinstance(condition, exp.EQ):
        return
    sides = [bare(condition.this), bare(condition.expression)]
    for mine, other in (sides, sides[::-1]):
        named = isinstance(mine, exp.Column) and qualifier_of(mine) == alias
        if named and fold(mine.name) == key and _reads_only(other, rows):
            yield other


def _reads_only(node: exp.Expr, rows: Shape) -> bool:
    """Whether every column of ``node`` is one of ``rows`` and cannot be the lookup's own."""
    return all(
        is_qualifier(column, rows)
        and (bool(column.table) or (not rows.open and fold(column.name) in rows.columns))
        for column in node.find_all(exp.Column)
    )
