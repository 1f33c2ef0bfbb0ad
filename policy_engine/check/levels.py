"""A stranger's query, its columns written out over those of the one table that it reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import partial

import sqlglot
from sqlglot import exp

from policy_engine.check.recodings import bare, columns_in
from policy_engine.compile.catalog import HOMES, fresh
from policy_engine.engines.types import parser_of
from policy_engine.kernel.sources import Relation
from policy_engine.syntax import node_laws
from policy_engine.syntax.findings import Breach
from policy_engine.syntax.literals import conjuncts
from policy_engine.syntax.names import fold

_HASH = re.compile(r"sha|md5|hash|fnv|crc", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]{2,64}")
_SECRET = re.compile(r"salt|secret", re.IGNORECASE)


class No(Exception):
    """A text that means no release: the breach of a law, and where."""

    def __init__(self, breach: Breach, at: exp.Expr | None = None) -> None:
        self.breach, self.at = breach, at
        super().__init__(breach.found)


def parsed_query(text: str, engine: str) -> exp.Select:
    """The one query of a text."""
    try:
        found = [each for each in sqlglot.parse(text, read=parser_of(engine)) if each]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        found = []
    statements = [each for each in found if not isinstance(each, exp.Semicolon)]
    broken = node_laws.is_sql(bool(statements)) or node_laws.stands_alone(len(statements))
    if broken is not None:
        raise No(broken)
    query = statements[0].transform(partial(_spelled, engine))
    query = query.expression if isinstance(query, exp.Create) and query.expression else query
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        raise No(node_laws.is_in_the_grammar.broken_by(type(query).__name__.upper()))
    return query


def _spelled(engine: str, node: exp.Expr) -> exp.Expr:
    """A name without quotes as the engine reads it."""
    if isinstance(node, exp.Identifier) and not node.quoted and engine in _FOLDS:
        node.set("this", _FOLDS[engine](node.name))
    return node


_FOLDS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("postgres", "redshift", "trino", "datafusion"), str.lower),
    "snowflake": str.upper,
}


Level = dict[str, tuple[str, exp.Expr]]
"""What a SELECT shows: names, folded, and as they are, and what they are of the source."""


class Query:
    """One query, read through; what is not understood stands in ``missed``."""

    def __init__(self, query: exp.Select, engine: str) -> None:
        self.query, self.engine = query, engine
        self.missed: list[str] = []
        self.steps = {fold(cte.alias): cte.this for cte in query.find_all(exp.CTE)}
        self.conditions: list[exp.Expr] = []
        self.firsts: list[tuple[exp.Expr, list[exp.Expr]]] = []  # DISTINCT ON, and its ORDER BY
        self.source = self._source()
        self.columns = self._level(query, 0)

    def _source(self) -> Relation:
        tables = [table for table in self.query.find_all(exp.Table) if self._is_base(table)]
        if not tables:
            raise No(node_laws.reads_a_table.broken_by("a query of no table"))
        names = {tuple(part.name for part in table.parts) for table in tables}
        if len(tables) > 1:
            found = f"{len(tables)} of them: {', '.join(sorted('.'.join(n) for n in names))}"
            raise No(
                node_laws.reads_one_relation.broken_by(f"{found}; read one table, once"), tables[-1]
            )
        parts = next(iter(names))
        if len(parts) == 1:
            parts = (HOMES.get(self.engine, "main"), *parts)
            self.missed.append(f"the schema of {parts[1]}: taken for {'.'.join(parts)}")
        return Relation(parts)

    def _is_base(self, table: exp.Table) -> bool:
        is_step = fold(table.name) in self.steps and not table.db
        select = table.find_ancestor(exp.Select)
        shown = [] if select is None else select.expressions
        is_secret = _SECRET.search(table.name) or any(_SECRET.search(e.sql()) and len(shown) == 1
                                                      for e in shown)  # fmt: skip
        return not is_step and not is_secret and isinstance(table.this, exp.Identifier)

    def _level(self, query: exp.Expr, depth: int) -> Level:
        """What a query shows, its expressions written out over the source's columns."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if isinstance(query, exp.SetOperation) or depth > 50:
            raise No(node_laws.reads_one_relation.broken_by("a union; read one table, once"), query)
        if not isinstance(query, exp.Select):
            raise No(node_laws.is_in_the_grammar.broken_by(type(query).__name__.upper()), query)
        clause = query.args.get("from_")
        item = None if clause is None else clause.this
        below: Level = {}
        if isinstance(item, exp.Subquery):
            below = self._level(item.this, depth + 1)
        elif isinstance(item, exp.Table) and not item.db and fold(item.name) in self.steps:
            below = self._level(self.steps[fold(item.name)], depth + 1)
        found: Level = {}
        for each in query.expressions:
            node = each.unalias()
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
                found |= below
            else:
                is_named = each.alias or isinstance(node, exp.Column)
                name = each.alias_or_name if is_named else fresh("n", found)
                found[fold(name)] = (name, _over(node, below))
        for name in ("where", "having", "qualify"):
            part = query.args.get(name)
            if part is not None:
                scope = below if name == "where" else below | found
                self.conditions += [_over(each, scope) for each in conjuncts(part.this)]
        distinct, order = query.args.get("distinct"), query.args.get("order")
        if distinct is not None and distinct.args.get("on") is not None:
            terms = order.expressions if order is not None else []
            on = _over(distinct.args["on"], below | found)
            self.firsts.append((on, [_over(each, below | found) for each in terms]))
        elif query.args.get("limit") or distinct:
            self.missed.append("LIMIT or DISTINCT: a release shows all groups of at least k")
        return found


def _over(node: exp.Expr, below: Level) -> exp.Expr:
    """An expression with each column written out as what it is below."""

    def written(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column) and fold(each.name) in below:
            return below[fold(each.name)][1].copy()
        if isinstance(each, exp.Column) and each.table:
            return exp.column(each.this.copy())
        return each

    return node.copy().transform(written)


def is_hash(node: exp.Expr) -> bool:
    """Whether a node is a function that hashes."""
    named = str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__
    return _HASH.search(named) is not None


def keys_in(node: exp.Expr) -> list[str]:
    """The columns of an expression that are no secret."""
    return [name for name in columns_in(node) if not _SECRET.search(name)]


def is_count(node: exp.Expr) -> bool:
    """Whether a released column is of a whole group."""
    return node.find(exp.AggFunc) is not None and node.find(exp.Window) is None


def least_count(node: exp.Expr) -> int | None:
    """The k of a condition of a count."""
    if not isinstance(node, exp.GTE | exp.GT | exp.LTE | exp.LT) or not node.find(exp.AggFunc):
        return None
    counts_left = node.this.find(exp.AggFunc) is not None
    bound = bare(node.expression if counts_left else node.this)
    fits = isinstance(node, exp.GTE | exp.GT) if counts_left else isinstance(node, exp.LTE | exp.LT)
    if not fits or not isinstance(bound, exp.Literal) or not bound.name.isdigit():
        return None
    return int(bound.name) + isinstance(node, exp.GT | exp.LT)


def rate_of(node: exp.Expr) -> Decimal | None:
    """The probability that a condition of a hash or a random number has, if it says one."""
    if not isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    literals = [each for each in node.find_all(exp.Literal) if not each.find_ancestor(exp.Select)]
    bounds = [each.name for each in literals if each.is_string and _HEX.fullmatch(each.name)]
    mod = node.find(exp.Mod)
    if mod is not None:
        sides = [bare(side) for side in (node.this, node.expression)]
        numbers = [side.name for side in sides if isinstance(side, exp.Literal)]
        base = bare(mod.expression)
        with suppress(ArithmeticError, ValueError):
            return Decimal(numbers[0]) / Decimal(base.name) if numbers else None
    if bounds:
        bound = max(bounds, key=len)
        return Decimal(int(bound, 16)) / Decimal(16 ** len(bound))
    numbers = [each.name for each in literals if not each.is_string]
    if node.find(exp.Rand) and numbers:
        return Decimal(numbers[-1])
    return None


def short(node: exp.Expr) -> str:
    """An expression as a line quotes it."""
    text = node.sql(comments=False)
    return text if len(text) <= 60 else text[:57] + "..."
