"""Forms: what a construct of another engine means in the kernel's own language.

The kernel's language is DuckDB's. A form is a pair of texts with holes, ``_a``, ``_b`` …: where
the first stands in a text of the engine, the second is what it means. What no form covers must be
of the plain grammar that every engine reads alike, or it is a finding: nothing is transpiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import sqlglot
from sqlglot import exp

_HOLE = re.compile(r"_[a-z]\Z")
_KERNEL = "duckdb"


Holes = Mapping[str, exp.Expr]


@dataclass(frozen=True)
class Form:
    """A ``text`` of an engine and its ``meaning``; a hole stands for any expression.

    Both are parsed when they are first looked at: a command reads one engine's, or none.

    The meaning holds only where ``where`` says so of what fills the holes. The holes ``literals``
    take literals only, and these mean themselves there, whatever they are elsewhere. What fills
    the holes ``dropped`` is judged by ``where`` alone, and has no part in the meaning.
    """

    dialect: str
    written: str
    means: str
    where: Callable[[Holes], bool] | None = None
    literals: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()

    @cached_property
    def text(self) -> exp.Expr:
        """What stands in a text of the engine."""
        return _parsed(self.written, self.dialect)

    @cached_property
    def meaning(self) -> exp.Expr:
        """What it means to the kernel."""
        return _parsed(self.means, _KERNEL)


def form(
    dialect: str,
    text: str,
    meaning: str,
    where: Callable[[Holes], bool] | None = None,
    literals: Iterable[str] = (),
) -> Form:
    """A form from its two texts.

    >>> found = form("postgres", "LEFT(_a, _b)", "LEFT(_a, _b)")
    >>> node = sqlglot.parse_one("left(zip, 3)", "postgres")
    >>> filled(found, matched(node, found.text)).sql("duckdb")
    'LEFT(zip, 3)'
    """
    return Form(dialect, text, meaning, where, frozenset(literals))


def is_asked_for(holes: Holes) -> bool:
    """Whether the secret, ``_s``, is asked for by a query: the kernel reads that by itself."""
    return isinstance(holes["_s"], exp.Subquery)


def row_hash(dialect: str, text: str, bound: str = "") -> tuple[Form, ...]:
    """The hash that draws one of a person's rows: ``{}`` in ``text`` is the secret.

    ``bound`` is how a text of the engine reads the secret that its connection brings.

    >>> sha2 = "SHA2({} || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR), 256)"
    >>> [each.where is None for each in row_hash("snowflake", sha2, "$salt")]
    [True, False]
    """
    meaning = "sha256({} || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR))"
    asked = form(dialect, text.format("_s"), meaning.format("_s"), is_asked_for)
    if not bound:
        return (asked,)
    return form(dialect, text.format(bound), meaning.format("$salt")), asked


class Forms:
    """The forms of an engine, found by the type of the node where they start."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self._by_type: dict[type[object], list[Form]] = {}
        for each in forms:
            self._by_type.setdefault(type(_plain(each.text)), []).append(each)

    def meaning(self, node: exp.Expr) -> tuple[Form, Holes] | None:
        """The first form that ``node`` is, and what fills its holes."""
        for each in self._by_type.get(type(node), ()):
            holes = matched(node, each.text)
            if holes is None or not all(_is_literal(holes[name]) for name in each.literals):
                continue
            if each.where is None or each.where(holes):
                return each, holes
        return None


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal)


def _parsed(text: str, dialect: str) -> exp.Expr:
    query = sqlglot.parse_one(f"SELECT {text}", dialect=dialect)
    found: exp.Expr = query.expressions[0]
    return found


def matched(node: object, text: object) -> dict[str, exp.Expr] | None:
    """What fills the holes of ``text`` so that it is ``node``; None where nothing does."""
    holes: dict[str, exp.Expr] = {}
    return holes if _fits(node, text, holes) else None


def _fits(node: object, text: object, holes: dict[str, exp.Expr]) -> bool:
    if isinstance(text, exp.Expr):
        hole = _hole(text)
        if hole is not None:
            return isinstance(node, exp.Expr) and _same(holes.setdefault(hole, node), node)
        node, text = _plain(node), _plain(text)
        return type(node) is type(text) and _parts_fit(node, text, holes)  # type: ignore[arg-type]  # both nodes
    if isinstance(text, list):
        return (
            isinstance(node, list)
            and len(node) == len(text)
            and all(_fits(one, other, holes) for one, other in zip(node, text, strict=True))
        )
    return node == text


def _parts_fit(node: exp.Expr, text: exp.Expr, holes: dict[str, exp.Expr]) -> bool:
    if isinstance(text, exp.Anonymous):
        if node.name.lower() != text.name.lower():
            return False
        return _fits(node.expressions, text.expressions, holes)
    names = {name for each in (node, text) for name, value in each.args.items() if value}
    return all(_fits(node.args.get(name), text.args.get(name), holes) for name in names)


def _same(one: exp.Expr, other: exp.Expr) -> bool:
    return one is other or one == other


def _plain(node: object) -> object:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _hole(node: exp.Expr) -> str | None:
    alone = isinstance(node, exp.Column) and not node.args.get("table")
    return node.name if alone and _HOLE.match(node.name) else None


def filled(form: Form, holes: Holes) -> exp.Expr:
    """The meaning of a form, with what stood in the holes of its text."""
    meaning = form.meaning.copy()
    for column in [meaning, *meaning.find_all(exp.Column)]:
        hole = _hole(column)
        if hole is not None:
            if column is meaning:
                return holes[hole]
            column.replace(holes[hole].copy())
    return meaning
