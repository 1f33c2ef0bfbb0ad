"""A stranger's query, its columns written out over those of the one table that it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import sqlglot
from sqlglot import exp

from policy_engine.check import laws
from policy_engine.check.findings import Breach
from policy_engine.check.recodings import bare, columns_in
from policy_engine.compile.catalog import HOMES, fresh
from policy_engine.engines.types import parser_of
from policy_engine.kernel.sources import Relation
from policy_engine.names import fold

_HASH = re.compile(r"sha|md5|hash|fnv|crc", re.IGNORECASE)
_HEX = re.compile(r"(?:0x|\\x)?([0-9a-fA-F]{1,64})")
_SECRET = re.compile(r"salt|secret", re.IGNORECASE)


class No(Exception):
    """A text that means no release: the breach of a law, and where."""

    def __init__(self, breach: Breach, at: exp.Expr | None = None) -> None:
        self.breach, self.at = breach, at
        super().__init__(breach.found)


@dataclass(frozen=True)
class ParsedText:
    """The query of a text, the table that it makes, and what of the statement is left out."""

    query: exp.Select
    target: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def parsed(text: str, engine: str) -> ParsedText:
    """The one statement of a text."""
    try:
        found = [each for each in sqlglot.parse(text, read=parser_of(engine)) if each]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        found = []
    statements = [each for each in found if not isinstance(each, exp.Semicolon)]
    if not statements:
        raise No(laws.IS_SQL.broken_by("text that does not parse"))
    if len(statements) > 1:
        raise No(laws.STANDS_ALONE.broken_by(f"{len(statements)} statements"))
    whole = statements[0].transform(partial(_spelled, engine))
    query, target, missed = _opened(whole)
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        raise No(laws.IS_UNDERSTOOD.broken_by(type(query).__name__.upper()))
    return ParsedText(query, target, missed)


def _opened(whole: exp.Expr) -> tuple[exp.Expr, tuple[str, ...], tuple[str, ...]]:
    """The query in a statement, the table that it makes, and what of the statement is left out."""
    query = whole.args.get("expression")
    if isinstance(whole, exp.Insert) and query is not None:
        return query, (), ("INSERT: left out; the rows go where you put them",)
    if isinstance(whole, exp.Copy) and isinstance(whole.this, exp.Subquery):
        return whole.this, (), ("COPY: left out; the rows go where you put them",)
    if not isinstance(whole, exp.Create) or query is None:
        return whole, (), ()
    named, missed = whole.this, []
    if isinstance(named, exp.Schema):
        named = named.this
        missed.append("the columns that the table is given: those of the query are its own")
    if whole.kind == "VIEW":
        missed.append("CREATE VIEW: a table is made, for a view draws anew at every read")
    words = {"replace": "OR REPLACE", "exists": "IF NOT EXISTS", "properties": "its properties"}
    left = ", ".join(word for key, word in words.items() if whole.args.get(key))
    if left:
        missed.append(f"CREATE TABLE: {left}; left out")
    return query, tuple(part.name for part in named.parts), tuple(missed)


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
    """One query, read through; ``missed`` is not understood, and ``taken`` is taken for granted."""

    def __init__(self, statement: ParsedText, engine: str) -> None:
        query = statement.query
        self.query, self.engine, self.target = query, engine, statement.target
        self.missed: list[str] = list(statement.missed)
        self.taken: list[str] = []
        self.steps = {fold(cte.alias): cte.this for cte in query.find_all(exp.CTE)}
        self.conditions: list[exp.Expr] = []
        self.firsts: list[tuple[exp.Expr, list[exp.Expr]]] = []  # DISTINCT ON, and its ORDER BY
        self.source = self._source()
        self.columns = self._level(query, 0)

    def _source(self) -> Relation:
        tables = [table for table in self.query.find_all(exp.Table) if self._is_base(table)]
        if not tables:
            raise No(laws.READS_A_TABLE.broken_by("a query of no table"))
        names = {tuple(part.name for part in table.parts) for table in tables}
        if len(tables) > 1:
            found = f"{len(tables)} of them: {', '.join(sorted('.'.join(n) for n in names))}"
            raise No(
                laws.READS_ONE_RELATION.broken_by(f"{found}; read one table, once"), tables[-1]
            )
        parts = next(iter(names))
        if len(parts) == 1:
            parts = (HOMES.get(self.engine, "main"), *parts)
            self.taken.append(f"{parts[1]} is {'.'.join(parts)}")
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
            raise No(laws.READS_ONE_RELATION.broken_by("a union; read one table, once"), query)
        if not isinstance(query, exp.Select):
            raise No(laws.IS_UNDERSTOOD.broken_by(type(query).__name__.upper()), query)
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
    """Whether a released column counts the rows of its group."""
    counted = node.find(exp.Count)
    if counted is None or node.find(exp.Window) is not None:
        return False
    others = (
        each for each in node.find_all(exp.AggFunc) if not isinstance(each, exp.Count | exp.Sum)
    )
    return not isinstance(counted.this, exp.Distinct) and next(others, None) is None


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
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Not):
        found = rate_of(node.this)
        return None if found is None else 1 - found
    if isinstance(node, exp.Between):
        least = _fraction(node.args["low"])
        return rate_of(exp.LTE(this=node.this, expression=node.args["high"])) if not least else None
    if not isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ | exp.In):
        return None
    one, other = node.this, node.args.get("expression")
    if other is not None and draws(other):
        drawn, bound, is_below = other, one, isinstance(node, exp.GT | exp.GTE)
    else:
        drawn, bound, is_below = one, other, isinstance(node, exp.LT | exp.LTE)
    mod = drawn.find(exp.Mod)
    if mod is not None and _fraction(mod.expression):
        return _of_remainders(node, mod, drawn, bound, is_below)
    share = None if bound is None or isinstance(node, exp.EQ | exp.In) else _share(drawn, bound)
    return share if is_below or share is None else 1 - share


def draws(node: exp.Expr) -> bool:
    """Whether an expression is of a random number or of a hash."""
    return bool(node.find(exp.Rand)) or any(is_hash(each) for each in node.find_all(exp.Func))


def _of_remainders(
    node: exp.Expr, mod: exp.Mod, drawn: exp.Expr, bound: exp.Expr | None, is_below: bool
) -> Decimal | None:
    """The share of the remainders of a division that meet a condition."""
    whole = _fraction(mod.expression)
    if isinstance(node, exp.EQ | exp.In):
        kept = node.expressions if isinstance(node, exp.In) else [bound]
        return len(kept) / whole if whole and None not in map(_fraction, kept) else None
    limit = None if bound is None else _fraction(bound)
    # What the remainder is divided by before it is compared.
    outer = drawn.find(exp.Div)
    scale = _fraction(outer.expression) if outer is not None and outer.find(exp.Mod) else Decimal(1)
    if limit is None or scale is None or whole is None:
        return None
    is_counted = isinstance(node, exp.LTE | exp.GT) == is_below and scale == 1
    share = (limit * scale + is_counted) / whole
    return share if is_below else 1 - share


def _share(drawn: exp.Expr, bound: exp.Expr) -> Decimal | None:
    """The share of random numbers, or of hashes in hexadecimal digits, that are below a bound."""
    texts = [each.name for each in bound.find_all(exp.Literal) if each.is_string]
    texts += [each.name for each in bound.find_all(exp.HexString)]
    digits = max(
        (match[1] for text in texts if (match := _HEX.fullmatch(text))), key=len, default=""
    )
    if digits:
        return Decimal(int(digits, 16)) / Decimal(16 ** len(digits))
    limit = _fraction(bound)
    if drawn.find(exp.Rand) is None or limit is None:
        return None
    times = bare(drawn)
    if isinstance(times, exp.Mul):
        scales = [found for side in (times.this, times.expression) if (found := _fraction(side))]
        return limit / scales[0] if scales else None
    return limit


def _fraction(node: exp.Expr | None) -> Decimal | None:
    """The value of a number, or of one divided by another."""
    inner = None if node is None else bare(node)
    if isinstance(inner, exp.Div):
        top, bottom = _fraction(inner.this), _fraction(inner.expression)
        return None if top is None or not bottom else top / bottom
    if isinstance(inner, exp.Literal) and not inner.is_string:
        with suppress(ArithmeticError):
            return Decimal(inner.name)
    return None


def short(node: exp.Expr) -> str:
    """An expression as a line quotes it."""
    text = node.sql(comments=False)
    return text if len(text) <= 60 else text[:57] + "..."


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND chain, in order, without parentheses and IS TRUE."""
    stack = [] if node is None else [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Paren):
            stack.append(current.this)
        elif isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        elif isinstance(current, exp.Is) and current.expression == exp.true():
            stack.append(current.this)
        else:
            yield current
