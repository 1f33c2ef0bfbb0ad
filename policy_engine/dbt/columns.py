"""Where the columns that are marked go: from model to model, until one does not select them.

A column ends at a model that has nothing of it: it is in no column of its query, decides about no
row, and no relation that holds it is read as a whole. What is not understood has every column.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from policy_engine.dbt.lexing import is_reader
from policy_engine.dbt.naming import Name, Part
from policy_engine.dbt.reading import BY_NAME, NodeReader
from policy_engine.dbt.taint import Edge, Graph
from policy_engine.engines import ENGINES
from policy_engine.engines.types import parser_of
from policy_engine.values import frozen

# What the parser would warn of is not followed here.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

Held = frozenset[str]
"""Names of columns in lower case; of ``EVERY`` nobody knows which."""
EVERY: Held = frozenset({"*"})
NONE: Held = frozenset()

_UNKNOWN = (
    exp.Columns, exp.DDL, exp.MatchRecognize, exp.Parameter, exp.Pivot, exp.Placeholder,
    exp.PositionalColumn, exp.UDTF,
)  # fmt: skip
"""What may show a column without its name."""
_OF_A_ROW = re.compile(
    r"(array|jsonb?)_agg(_strict)?|jsonb?_build_array|(row_)?to_jsonb?|any_value|concat|max|min"
    r"|hash_record|quote_(literal|nullable)|record_(out|send)"
)
"""PostgreSQL calls a function of a row by the name of a column: ``p.to_json`` is to_json(p)."""

_LONGEST = 100_000
"""Longer texts take too long to follow."""


class _NotUnderstood(Exception):
    """A query of a form that is not followed."""


def spread(
    reader: NodeReader,
    graph: Graph,
    whole: Collection[str],
    marked: Mapping[str, Held],
    cuts: set[str],
) -> Mapping[str, Held]:
    """What each node holds of what is sensitive: ``whole`` nodes every column, others the marked.

    A node is left out that holds nothing, and one of ``cuts`` that is not marked itself.
    """
    held: dict[str, Held] = {**marked, **dict.fromkeys(whole, EVERY)}
    ahead = list(held)
    while ahead:
        parent = ahead.pop()
        for edge in graph.edges(parent):
            child = edge.child
            before = held.get(child, NONE)
            if child in cuts or before == EVERY:
                continue
            found = EVERY if held[parent] == EVERY else _into(edge, reader, held)
            if not found <= before:
                held[child] = EVERY if found >= EVERY else before | found
                ahead.append(child)
    return held


def _into(edge: Edge, reader: NodeReader, held: Mapping[str, Held]) -> Held:
    """What the child of an edge holds, by its text."""
    node = reader.manifest.nodes.get(edge.child)
    if edge.how == "the same table":
        return held[edge.parent]
    is_followed = node is not None and node.kind in {"model", "snapshot"} and not node.is_python
    text = reader.compiled(node) if node is not None and is_followed else None
    if node is None or text is None or edge.how not in ("", BY_NAME):
        return EVERY
    parent = reader.manifest.nodes.get(edge.parent)
    is_ephemeral = parent is not None and parent.materialized == "ephemeral"
    found, read = NONE, set[str]()

    def holds(name: Name) -> Held:
        meant = frozenset[str]().union(*reader.meant(name))
        read.update(meant)
        own = found if node.id in meant else NONE  # what is incremental reads itself
        every = own.union(*(held.get(id_, NONE) for id_ in meant))
        return EVERY if every >= EVERY else every

    while True:
        before, found = found, carried(text, reader.dialect, holds)
        # A parent that the text does not read was read while it was rendered.
        if edge.parent not in read and not is_ephemeral:
            return EVERY
        if found <= before or node.id not in read:
            return found


def carried(text: str, dialect: str, held: Callable[[Name], Held]) -> Held:
    """The columns of a query in which something is of a column that is ``held`` by a relation.

    >>> people = lambda name: frozenset({"email"}) if name[-1].text == "people" else NONE
    >>> sorted(carried("select lower(email) as mail, city from people", "duckdb", people))
    ['mail']
    >>> carried("select city, count(*) as n from people group by city", "duckdb", people) == NONE
    True
    >>> carried("select city from people where email like 'a%'", "duckdb", people) == EVERY
    True
    """
    try:
        if len(text) > _LONGEST:
            raise _NotUnderstood
        read = parser_of(dialect) if dialect in ENGINES else dialect
        statements = [each for each in parse(text, read=read) if each is not None]
        if len(statements) != 1:
            raise _NotUnderstood
        return _of_query(statements[0], held)
    except (SqlglotError, ValueError, RecursionError, _NotUnderstood):  # no such dialect, too
        return EVERY


Output = list[tuple[str, bool]]
"""The columns of a query in order, and whether something sensitive is in each."""


@frozen
class _Result:
    """What a scope gives: its columns where each is known by its name, else only what is held."""

    held: Held
    columns: Output | None = None


def _of_query(statement: exp.Expr, held: Callable[[Name], Held]) -> Held:
    if isinstance(statement, exp.Subquery):
        statement = statement.unnest()
    tables, queries = _read(statement)
    scopes = traverse_scope(statement)
    if not scopes:
        raise _NotUnderstood
    results: dict[int, _Result] = {}
    for scope in scopes:
        if isinstance(scope.expression, exp.SetOperation):
            results[id(scope)] = _of_union(scope, results)
        elif isinstance(scope.expression, exp.Select):
            results[id(scope)] = _Select(scope, results, held).result()
        else:
            raise _NotUnderstood
        for node, source in scope.selected_sources.values():
            tables.pop(id(node), None)
            single = isinstance(source, exp.Table) and len(source.parts) == 1 and source.name
            if single and single.lower() in queries:  # a query of that name, in another case
                raise _NotUnderstood
    if any(held(_name_of(each)) for each in tables.values()):
        raise _NotUnderstood
    return results[id(scopes[-1])].held


def _read(statement: exp.Expr) -> tuple[dict[int, exp.Table], set[str]]:
    """The tables of a statement, and the names of its queries, if all of it is understood."""
    tables: dict[int, exp.Table] = {}
    queries = set()
    for node in statement.walk():
        if isinstance(node, exp.Table):
            tables[id(node)] = node
        elif isinstance(node, exp.CTE):
            queries.add(node.alias.lower())
            if node.args["alias"].columns or not isinstance(node.this, exp.Query):
                raise _NotUnderstood
        elif (
            isinstance(node, _UNKNOWN)
            or (isinstance(node, exp.With) and node.recursive)
            or (isinstance(node, exp.Anonymous) and is_reader(node.name))
        ):
            raise _NotUnderstood
    return tables, queries


def _name_of(table: exp.Table) -> Name:
    if not isinstance(table.this, exp.Identifier):
        raise _NotUnderstood
    return tuple(Part(each.name, bool(each.args.get("quoted"))) for each in table.parts)


def _of_union(scope: Scope, results: Mapping[int, _Result]) -> _Result:
    """Columns of a union meet by their place; without places, anything may be anywhere."""
    sides = [results[id(each)] for each in scope.set_operation_scopes]
    lists = [side.columns for side in sides]
    if not any(side.held for side in sides):
        return _Result(NONE, lists[0])
    union = scope.expression
    sifts = not isinstance(union, exp.Union) or any(
        union.args.get(key) for key in ("by_name", "distinct", "order", "limit", "offset")
    )
    if any(each is None for each in lists) or sifts:
        raise _NotUnderstood
    known = [each for each in lists if each is not None]
    if len({len(each) for each in known}) != 1:
        raise _NotUnderstood
    met = [(both[0][0], any(held for _, held in both)) for both in zip(*known, strict=True)]
    if ("", True) in met:
        raise _NotUnderstood
    return _Result(frozenset(name for name, is_held in met if is_held), met)


class _Select:
    """One SELECT: what its sources hold, and what of it each of its columns has."""

    def __init__(
        self, scope: Scope, results: Mapping[int, _Result], held: Callable[[Name], Held]
    ) -> None:
        self.select = scope.expression
        self.results, self.held = results, held
        self.sources = self._sources(scope)
        self.outer = NONE
        is_within = scope.is_subquery or scope.is_derived_table
        outer = scope.parent if is_within else None
        while outer is not None:  # it may name what stands outside of it, or beside it in a FROM
            self.outer = self.outer.union(*self._sources(outer, known=False).values())
            outer = outer.parent
        self.inner = any(results[id(each)].held for each in scope.subquery_scopes)
        self.parts: dict[int, list[exp.Expr]] = {}
        self.aliases: set[str] = set()

    def _sources(self, scope: Scope, *, known: bool = True) -> dict[str, Held]:
        """What each relation of a FROM holds, by its alias; of another query's, if it is known."""
        found = {}
        for alias, (node, source) in scope.selected_sources.items():
            if isinstance(source, Scope):
                if id(source) not in self.results:
                    if known:
                        raise _NotUnderstood
                    continue
                holds = self.results[id(source)].held
            else:
                holds = self.held(_name_of(source))
            names = node.args.get("alias")
            renames = isinstance(names, exp.TableAlias) and bool(names.columns)
            if holds and (renames or holds >= EVERY):
                raise _NotUnderstood
            found[alias.lower()] = holds
        return found

    def result(self) -> _Result:
        """What this SELECT shows; ``_NotUnderstood`` where what is held decides about rows."""
        shown = [self._column(each) for each in self.select.expressions]
        while (named := {each[0] for each in shown if isinstance(each, tuple) and each[1]}) - (
            self.aliases
        ):
            self.aliases |= named  # a column may be made of another one's alias
            shown = [self._column(each) for each in self.select.expressions]
        columns = [each for each in shown if isinstance(each, tuple)]
        stars = NONE.union(*(each for each in shown if not isinstance(each, tuple)))
        own = {id(each) for each in self.select.expressions}
        rest = [each for each in self.select.iter_expressions() if id(each) not in own]
        decides = self.inner or any(self._has(e) for e in rest if not isinstance(e, exp.With))
        if decides or ((named or stars) and self._sifts()) or self.select.args.get("kind"):
            raise _NotUnderstood
        return _Result(stars | named, columns if len(columns) == len(shown) else None)

    def _sifts(self) -> bool:
        """Whether which rows there are may hang on what is shown, without its name."""
        args = self.select.args
        group = args.get("group")
        by_place = group is not None and (
            group.args.get("all") or any(not isinstance(e, exp.Column) for e in group.expressions)
        )
        first = args.get("order") and (args.get("limit") or args.get("offset"))
        return bool(args.get("distinct") or by_place or first)

    def _column(self, node: exp.Expr) -> tuple[str, bool] | Held:
        """The name of a column and whether it has something of what is held; of a star, what."""
        if not node.is_star:
            is_held, is_named = self._has(node), isinstance(node, exp.Alias | exp.Column)
            if is_held and not is_named:
                raise _NotUnderstood
            return node.alias_or_name.lower() if is_named else "", is_held
        star = node.this if isinstance(node, exp.Column) else node
        found = self._of_star(node)
        left_out = [each for key in ("except_", "except") for each in star.args.get(key) or ()]
        given = {key for key, value in star.args.items() if value}
        if not given <= {"except_", "except"} and (found or any(self.sources.values())):
            raise _NotUnderstood
        return found - {each.name.lower() for each in left_out}

    def _of_star(self, node: exp.Expr) -> Held:
        owner = node.table.lower() if isinstance(node, exp.Column) else ""
        if owner and owner not in self.sources:
            raise _NotUnderstood
        return self.sources[owner] if owner else NONE.union(*self.sources.values())

    def _has(self, node: exp.Expr) -> bool:
        """Whether a part of the query has something of what is held."""
        if isinstance(node, exp.Join) and node.args.get("method") == "NATURAL":
            return any(self.sources.values())
        if id(node) not in self.parts:
            self.parts[id(node)] = [
                each for each in node.find_all(exp.Column, exp.Star) if self._is_own(each)
            ]
        joined = [exp.column(each.name) for each in node.args.get("using") or ()]
        return any(map(self._is_held, (*self.parts[id(node)], *joined)))

    def _is_own(self, part: exp.Expr) -> bool:
        """Whether it is of this SELECT and of none within it; the star of a count is nothing."""
        if isinstance(part, exp.Star) and isinstance(part.parent, exp.Count | exp.Column):
            return False
        return part.find_ancestor(exp.Select, exp.SetOperation) is self.select

    def _is_held(self, column: Any) -> bool:
        if column.is_star:
            return bool(self._of_star(column))
        name, owner = column.name.lower(), column.parts[0].name.lower()
        every = self.outer.union(self.aliases, *self.sources.values())
        if len(column.parts) == 1:
            return name in every or bool(self.sources.get(name))  # a whole row, by its name
        if self.sources.get(name):
            return True  # main.people, of main.people
        if len(column.parts) == 2 and owner in self.sources:
            held = self.sources[owner]
            return name in held or bool(held and _OF_A_ROW.fullmatch(name))
        if owner not in self.sources and not self.outer:
            return any(self.sources.values())  # of a schema, or of what nobody knows
        return not every.isdisjoint(each.name.lower() for each in column.parts)
