"""Grouping, counting and the threshold: the half of a query that makes cells of rows.

Only the cell of the differing tuple changes its law [EXACT], so everything that is released
must be a function of the grouped columns and of the count, and the threshold must stand on
that count and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from policy_engine.verify.findings import Findings
from policy_engine.verify.positions import position
from policy_engine.verify.rows import lookup, rebuilt, row_value
from policy_engine.verify.shape import Kind, Relation, Stage, Value


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND chain, in order."""
    stack = [] if node is None else [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Paren):
            stack.append(current.this)
        elif isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        else:
            yield current


def bare(node: exp.Expr) -> exp.Expr:
    """``node`` without its alias and parentheses."""
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    return node


def canonical(node: exp.Expr) -> str:
    """One text for expressions that differ in case, quotes and qualifiers of names only."""
    plain: dict[int, exp.Expr] = {
        id(c): exp.column(c.name.lower(), quoted=True) for c in node.find_all(exp.Column)
    }
    return rebuilt(node, plain).sql("duckdb", comments=False)


@dataclass(frozen=True)
class Grouping:
    """The grouped expressions of a select, by their canonical text, and its aliases."""

    relation: Relation
    keys: dict[str, exp.Expr]
    aliases: dict[str, exp.Expr]
    text: str
    findings: Findings

    def is_count(self, node: exp.Expr) -> bool:
        """Whether ``node`` is the count of the sampled rows of its group."""
        node = bare(node)
        if isinstance(node, exp.Cast) and node.to.is_type("bigint", "hugeint"):
            return self.is_count(node.this)
        if self.relation.stage is Stage.COUNTED:
            summed = node.this if isinstance(node, exp.Sum) else None
            value = lookup(summed, self.relation) if isinstance(summed, exp.Column) else None
            return value is not None and value.kind is Kind.COUNT
        if not isinstance(node, exp.Count) or node.args.get("expressions"):
            return False
        return node.this is None or isinstance(node.this, exp.Star) or _is_number(node.this)

    def is_key(self, node: exp.Expr) -> bool:
        """Whether ``node`` is one of the grouped expressions."""
        return canonical(bare(node)) in self.keys

    def check_output(self, node: exp.Expr) -> None:
        """Find whatever in ``node`` is no function of grouped expressions and the count."""
        node = bare(node)
        if self.is_count(node) or self.is_key(node):
            return
        if isinstance(node, exp.AggFunc):
            self.findings.add("V08", node.sql("duckdb"), position(node, self.text))
        elif isinstance(node, exp.Column):
            alias = self.aliases.get(node.name.lower())
            if alias is not None and not node.table and not isinstance(bare(alias), exp.Column):
                self.check_output(alias)
            else:
                self.findings.add("V07", node.sql("duckdb"), position(node, self.text))
        else:
            for child in node.iter_expressions():
                self.check_output(child)

    def value(self, node: exp.Expr) -> Value:
        """The value of an output column; findings where it must not be released."""
        node = bare(node)
        if self.is_count(node):
            return Value(Kind.COUNT)
        self.check_output(node)
        if self.is_key(node):
            return row_value(node, self.relation, self.text, self.findings)
        if node.find(exp.AggFunc) or self._has_alias(node):
            self._check_derived(node)
            return Value(Kind.DERIVED)
        return row_value(node, self.relation, self.text, self.findings)

    def _has_alias(self, node: exp.Expr) -> bool:
        return any(
            column.name.lower() in self.aliases and lookup(column, self.relation) is None
            for column in node.find_all(exp.Column)
        )

    def _check_derived(self, node: exp.Expr) -> None:
        """A function of the count: its other parts must be row expressions too."""
        counts = {id(n): exp.Literal.number(1) for n in node.walk() if self.is_count(n)}
        names = {
            id(c): exp.Literal.number(1)
            for c in node.find_all(exp.Column)
            if c.name.lower() in self.aliases and lookup(c, self.relation) is None
        }
        row_value(rebuilt(node, {**names, **counts}), self.relation, self.text, self.findings)

    def threshold(self, node: exp.Expr) -> int | None:
        """The k of ``count >= k`` in any of its spellings; None for another condition."""
        compared = _as_lower_bound(node)
        if compared is None:
            return None
        counted, bound, strict = compared
        if isinstance(counted, exp.Column) and not self.is_key(counted):
            counted = self.aliases.get(counted.name.lower(), counted)
        return least_count(bound, strict) if self.is_count(counted) else None


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _as_lower_bound(
    node: exp.Expr,
) -> tuple[exp.Expr, exp.Expr, bool] | None:
    """``(what, bound, strict)`` for ``what >= bound`` and its mirror images."""
    if isinstance(node, exp.GTE | exp.GT):
        return node.this, node.expression, isinstance(node, exp.GT)
    if isinstance(node, exp.LTE | exp.LT):
        return node.expression, node.this, isinstance(node, exp.LT)
    return None


def least_count(bound: exp.Expr, strict: bool) -> int | None:
    """The least whole number that passes ``>= bound`` (``> bound`` if strict)."""
    if not _is_number(bound):
        return None
    number = Fraction(bound.name)
    floor = number.numerator // number.denominator
    if strict:
        return floor + 1
    return floor if floor == number else floor + 1


def column_threshold(node: exp.Expr, relation: Relation) -> int | None:
    """The k of ``n >= k`` on a count column of a grouped query below; else None."""
    compared = _as_lower_bound(node)
    if compared is None or not isinstance(compared[0], exp.Column):
        return None
    value = lookup(compared[0], relation)
    if value is None or value.kind is not Kind.COUNT:
        return None
    return least_count(compared[1], compared[2])
