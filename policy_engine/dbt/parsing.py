"""What a text reads, as the parser of its dialect sees it.

A name is a query of the text's own only where such a query is in scope.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from policy_engine.dbt.lexing import HARMLESS, READERS, name_at, tokens
from policy_engine.dbt.naming import Name, Part
from policy_engine.dbt.relations import Call, Read, Reads, scanned_reads

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def parsed_reads(text: str, dialect: str) -> Reads:
    """What a text reads, as the parser of its dialect sees it."""
    try:
        statements = [s for s in sqlglot.parse(text, read=_reader(dialect)) if s is not None]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        return scanned_reads(text)
    walk = _Walk(dialect)
    for statement in statements:
        walk.over(statement)
    return walk.result()


def _reader(dialect: str) -> Dialect | None:
    try:
        return Dialect.get_or_raise(dialect or None)
    except ValueError:
        return None


_Scope = dict[str, tuple[str, bool]]


class _Walk:
    """Every node once, each with the queries that are in scope there."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.names: dict[Read, None] = {}
        self.calls: dict[Call, None] = {}
        self.parsed = True
        self._ahead: list[tuple[exp.Expr, _Scope]] = []

    def result(self) -> Reads:
        return Reads(tuple(self.names), tuple(self.calls), self.parsed)

    def over(self, statement: exp.Expr) -> None:
        self._ahead.append((statement, {}))
        while self._ahead:
            node, scope = self._ahead.pop()
            queries = node.args.get("with_")
            if isinstance(queries, exp.With):
                scope = self._queries(queries, scope)
            self._look(node, scope)
            self._ahead += [(child, scope) for child in _children(node) if child is not queries]

    def _queries(self, with_: exp.With, outer: _Scope) -> _Scope:
        """The scope behind WITH; each query sees those before it, and perhaps the others."""
        known = [(query, _alias(query)) for query in with_.expressions]
        later = {part.text.lower(): (part.folded(self.dialect), False) for _, part in known if part}
        scope = dict(outer)
        for query, part in known:
            own = (
                later
                if with_.args.get("recursive")
                else {key: seen for key, seen in later.items() if part and key == part.text.lower()}
            )
            inside = (
                {**own, **scope} if part and part.text.lower() not in scope else {**scope, **own}
            )
            self._ahead += [(child, inside) for child in _children(query)]
            if part is not None:
                scope[part.text.lower()] = (part.folded(self.dialect), True)
        return scope

    def _look(self, node: exp.Expr, scope: _Scope) -> None:
        if isinstance(node, exp.Table):
            self._table(node, scope)
        elif isinstance(node, exp.TableFromRows | exp.Lateral):
            self._source(node.this, node)
        elif isinstance(node, exp.Command):
            self._words(node.sql(self.dialect))
        elif isinstance(node, exp.In) and isinstance(node.args.get("field"), exp.Column):
            self._name(_name(node.args["field"].parts), scope, sure=False)
        elif isinstance(node, exp.Func) and _function(node) in READERS:
            self._call(node, node)

    def _table(self, node: exp.Table, scope: _Scope) -> None:
        inner = node.this
        if isinstance(inner, exp.Identifier | exp.Dot):
            parts = node.parts
            if node.args.get("catalog") and not _text(node.args.get("db")):
                parts = parts[-1:]  # database..table
            self._name(_name(parts), scope)
        elif inner is not None:
            self._source(inner, node)

    def _source(self, inner: object, node: exp.Expr) -> None:
        """What stands in FROM in the place of a name."""
        if isinstance(inner, exp.Literal) and inner.is_string:
            self._name(_named_by(inner.name), {})
        elif isinstance(inner, exp.DynamicIdentifier) and _literal(inner.this):
            self._name(_named_by(_literal(inner.this)), {})
        elif isinstance(inner, exp.Subquery | exp.Select | exp.Values | exp.SetOperation):
            return
        elif isinstance(inner, exp.Expr) and _function(inner) == "table" and inner.expressions:
            self._source(inner.expressions[0], inner)  # TABLE(function(…))
        elif isinstance(inner, exp.Expr) and _function(inner) not in HARMLESS:
            self._call(inner, node)

    def _name(self, name: Name, scope: _Scope, *, sure: bool = True) -> None:
        if not name:
            return
        if len(name) == 1:
            found = scope.get(name[0].text.lower())
            if found is not None:
                if found[1] and found[0] == name[0].folded(self.dialect):
                    return
                sure = False
        self.names.setdefault(Read(name, sure))

    def _call(self, inner: exp.Expr, node: exp.Expr) -> None:
        texts = [each.name for each in inner.find_all(exp.Literal) if each.is_string]
        prefix = node.args.get("db") if isinstance(node, exp.Table) else None
        own = _function_name(inner)
        name = (*([Part(prefix.name, True)] if isinstance(prefix, exp.Identifier) else []), own)
        shown = node if isinstance(node, exp.Table) and not node.args.get("joins") else inner
        text = shown.sql(self.dialect if _reader(self.dialect) else None, comments=False)
        self.calls.setdefault(Call(text, name))
        for column in inner.find_all(exp.Column):
            self.names.setdefault(Read(_name(column.parts), False))
        for text in texts:
            self._words(text, parsed=True)

    def _words(self, text: str, *, parsed: bool = False) -> None:
        """What a text that the parser did not read could name."""
        found = scanned_reads(text)
        self.parsed &= parsed
        for read in found.names:
            self.names.setdefault(Read(read.name, read.sure and not parsed))
        for call in found.calls:
            self.calls.setdefault(call)


def _children(node: exp.Expr) -> Iterable[exp.Expr]:
    return node.iter_expressions()


def _alias(query: exp.Expr) -> Part | None:
    alias = query.args.get("alias")
    found = alias.this if isinstance(alias, exp.TableAlias) else alias
    return _part(found) if isinstance(found, exp.Identifier) else None


def _part(node: exp.Expr) -> Part:
    return Part(node.name, bool(node.args.get("quoted")))


def _name(parts: Iterable[exp.Expr]) -> Name:
    return tuple(_part(part) for part in parts if part.name)


def _named_by(text: str) -> Name:
    found = name_at(tokens(text), 0)
    return found[0] if found is not None else (Part(text, True),)


def _text(node: object) -> str:
    return node.name if isinstance(node, exp.Expr) else ""


def _literal(node: object) -> str:
    return node.name if isinstance(node, exp.Literal) and node.is_string else ""


def _function_name(node: exp.Expr) -> Part:
    if isinstance(node, exp.Anonymous) and isinstance(node.this, exp.Identifier):
        return _part(node.this)
    return Part(_function(node))


def _function(node: exp.Expr) -> str:
    """The name of a function, in lower case; '' of anything else."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return node.name.lower()
    if isinstance(node, exp.Dot):
        return _function(node.expression)
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""
