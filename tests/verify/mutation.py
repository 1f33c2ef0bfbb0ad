"""Automatic mutants of a text: every small change of its syntax tree, each as a text.

A mutation knows nothing of what the text means: it drops, swaps, doubles or changes whatever
stands at a node. Two mutants with one text are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import sqlglot
from sqlglot import exp

Change = tuple[str, exp.Expr | None]
"""What was done, and the node to put in place (None: take it out)."""

_SWAPS: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ),
    (exp.And, exp.Or),
    (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
    (exp.Left, exp.Right),
    (exp.Count, exp.Sum, exp.Max, exp.ApproxDistinct),
    (exp.RowNumber, exp.Rank),
    (exp.Round, exp.Floor, exp.Ceil, exp.Abs),
)
_PREDICATES = (exp.Binary, exp.Between, exp.In)


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """``(what was done, text)`` for every mutant of ``text``, itself excepted."""
    tree = sqlglot.parse_one(text, read="duckdb")
    seen = {tree.sql("duckdb", comments=False)}
    for place, node in enumerate(list(tree.walk())):
        for what, replacement in _changes(node):
            copy = tree.copy()
            _put(next(islice(copy.walk(), place, None)), replacement)
            try:
                mutant = copy.sql("duckdb", comments=False, copy=False)
            except Exception:  # a tree that cannot be written is no text
                continue
            if mutant not in seen:
                seen.add(mutant)
                yield what, mutant


def _put(node: exp.Expr, replacement: exp.Expr | None) -> None:
    if replacement is None:
        node.pop()
    elif node.parent is not None:
        node.replace(replacement)


def _changes(node: exp.Expr) -> Iterator[Change]:
    """Each is of copies: the node stays as it is."""
    name = type(node).__name__
    if node.parent is not None:
        yield f"drop {name}", None
        for part in _children(node):
            yield f"{name} → its {type(part).__name__}", part.copy()
    yield from _swapped(node, name)
    yield from _literals(node)
    yield from _names(node)
    yield from _lists(node, name)
    yield from _clauses(node, name)


def _children(node: exp.Expr) -> list[exp.Expr]:
    return [child for child in node.iter_expressions() if not isinstance(child, exp.Identifier)]


def _swapped(node: exp.Expr, name: str) -> Iterator[Change]:
    for group in _SWAPS:
        if type(node) in group:
            for other in group:
                if other is not type(node):
                    yield f"{name} → {other.__name__}", other(**node.copy().args)
    if isinstance(node, _PREDICATES):
        yield f"not {name}", exp.Not(this=exp.Paren(this=node.copy()))
        yield f"{name} or true", exp.Paren(this=exp.Or(this=node.copy(), expression=exp.true()))
        yield f"{name} and true", exp.And(this=node.copy(), expression=exp.true())
    if isinstance(node, exp.Binary):
        swapped = node.copy()
        swapped.args["this"], swapped.args["expression"] = node.expression.copy(), node.this.copy()
        yield f"{name} mirrored", type(node)(**swapped.args)
    if isinstance(node, exp.Column):
        yield "lower()", exp.Lower(this=node.copy())
        yield "cast to text", exp.cast(node.copy(), "text")
        yield "random()", exp.Rand()
    if type(node) is exp.Cast:
        yield "cast → try_cast", exp.TryCast(**node.copy().args)
        yield "cast to integer", exp.cast(node.this.copy(), "int")
    if type(node) is exp.TryCast:
        yield "try_cast → cast", exp.Cast(this=node.this.copy(), to=node.args["to"].copy())


def _literals(node: exp.Expr) -> Iterator[Change]:
    if isinstance(node, exp.Literal) and node.is_string:
        for text in (node.name + "x", "", node.name[:-1], node.name.upper()):
            yield f"'{node.name[:20]}' → '{text[:20]}'", exp.Literal.string(text)
        yield "text → null", exp.Null()
    elif isinstance(node, exp.Literal):
        for text in (f"{node.name}0", "0", "1", "19", "21", f"{node.name}.5", f"0.{node.name}"):
            yield f"{node.name} → {text}", exp.Literal.number(text)
        yield "number → text", exp.Literal.string(node.name)
    elif isinstance(node, exp.Boolean):
        yield "boolean flipped", exp.Boolean(this=not node.this)
    elif isinstance(node, exp.Null):
        yield "null → text", exp.Literal.string("nobody")
    elif isinstance(node, exp.Star):
        yield "* → column", exp.column("age")


def _names(node: exp.Expr) -> Iterator[Change]:
    if not isinstance(node, exp.Identifier):
        return
    for name in ("age", "sex", "n", "unit", f"{node.name}0", f"0{node.name}"):
        yield f"{node.name} → {name}", exp.to_identifier(name, quoted=True)
    if node.name.startswith("policy_engine_sample"):
        more = node.name[:-1] + ("8" if node.name[-1] != "8" else "9")
        yield f"{node.name} → {more}", exp.to_identifier(more)


def _lists(node: exp.Expr, name: str) -> Iterator[Change]:
    for part, values in list(node.args.items()):
        if not isinstance(values, list) or not all(isinstance(v, exp.Expr) for v in values):
            continue
        for place, value in enumerate(values):
            changed = [*values[:place], *values[place + 1 :]]
            yield f"{name} without {part}[{place}]", _with(node, part, changed)
            yield f"{name} {part}[{place}] twice", _with(node, part, [*values, value])
            if place:
                swapped = [*values[: place - 1], value, values[place - 1], *values[place + 1 :]]
                yield f"{name} {part}[{place}] first", _with(node, part, swapped)


def _with(node: exp.Expr, part: str, values: list[exp.Expr]) -> exp.Expr:
    changed = node.copy()
    changed.set(part, [value.copy() for value in values])
    return changed


def _clauses(node: exp.Expr, name: str) -> Iterator[Change]:
    for part, value in list(node.args.items()):
        if value and part != "this" and not isinstance(value, list):
            changed = node.copy()
            changed.set(part, None)
            yield f"{name} without {part}", changed
        if isinstance(value, bool):
            changed = node.copy()
            changed.set(part, not value)
            yield f"{name} with {part} = {not value}", changed
    if isinstance(node, exp.Select):
        everything = exp.select("*").from_("people")
        yield "distinct", node.copy().distinct()
        yield "limit", node.copy().limit(5)
        yield "offset", node.copy().offset(1)
        yield "one column more", node.copy().select("1 as more")
        yield "the rows as well", node.copy().select("*")
        yield "a count more", node.copy().select("count(*) as m")
        yield "a filter", node.copy().where("age > 30")
        yield "a filter on nothing", node.copy().where("1 = 1")
        yield "a join", node.copy().join("people", join_type="cross")
        yield "a union", exp.union(node.copy(), node.copy(), distinct=False)
        yield "inside a query", exp.select("*").from_(node.copy().subquery("inside"))
        yield "sampled once more", _sampled(node.copy())
        yield "another query", everything
    if isinstance(node, exp.TableSample):
        for method in ("SYSTEM", "RESERVOIR"):
            changed = node.copy()
            changed.set("method", exp.var(method))
            yield method, changed
        changed = node.copy()
        changed.set("seed", exp.Literal.number(1))
        yield "a seed", changed
    if isinstance(node, exp.Ordered):
        changed = node.copy()
        changed.set("desc", not node.args.get("desc"))
        yield "the other way round", changed
        changed = node.copy()
        changed.set("nulls_first", True)
        yield "nulls first", changed
    if isinstance(node, exp.Window):
        changed = node.copy()
        changed.set("spec", exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING"))
        yield "a frame", changed


def _sampled(select: exp.Select) -> exp.Select:
    select.set(
        "sample", exp.TableSample(method=exp.var("BERNOULLI"), percent=exp.Literal.number(1))
    )
    return select
