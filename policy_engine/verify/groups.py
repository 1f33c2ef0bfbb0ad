"""Grouping, counting and the threshold: the half of a query that makes cells of rows.

Only the cell of the differing tuple changes its law [EXACT], so everything that is released
must be a function of the grouped columns and of the count, and the threshold must stand on
that count and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.datatypes import QUOTIENT, TEXT, shows_itself
from policy_engine.expressions.values import Kind, Value
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, bound, number, ordinal
from policy_engine.syntax.names import fold
from policy_engine.verify.rows import (
    UNKNOWN,
    canonical,
    check_not_a_row,
    evaluate,
    is_qualifier,
    lookup,
    reads,
    resolver,
)
from policy_engine.verify.shape import Relation, Stage

FLOATING = (
    "no grouped column is an interval, a variant, or a float that can be NaN or negative zero"
)
BYTEWISE = "text is compared byte by byte, without a collation"


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND chain, in order, without parentheses."""
    stack = [] if node is None else [node]
    while stack:
        current = bare(stack.pop())
        if isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        else:
            yield current


class Grouping:
    """One grouped select: what its keys are, and what its other expressions may be."""

    def __init__(self, query: exp.Select, relation: Relation, notes: Notes) -> None:
        self._relation = relation
        self._notes = notes
        self._aliases = {
            fold(item.alias): item.this for item in query.expressions if isinstance(item, exp.Alias)
        }
        self._open_aliases: set[str] = set()
        self._known: dict[tuple[str, bool], Value] = {}
        self._nodes: set[type[exp.Expr]] = set()
        self.keys: dict[str, Value] = {}
        self._hiding: list[tuple[str, exp.Expr]] = []
        nodes = self._key_nodes(query)
        for node in nodes:
            self._add_key(node)
        self._check_hiding(nodes)
        self.residue: list[exp.Expr] = []
        self.k = self._threshold(query.args.get("having"))
        # Outputs are computed of the groups that passed, if any threshold stands here.
        self._total = self.k is None

    def _key_nodes(self, query: exp.Select) -> list[exp.Expr]:
        group = query.args.get("group")
        if group is None:
            return []
        items = [bare(item) for item in query.expressions]
        if group.args.get("all"):
            return [item for item in items if not item.find(exp.AggFunc)]
        nodes = [part for node in group.expressions for part in _listed(node)]
        return [self._key_node(bare(node), items) for node in nodes]

    def _key_node(self, node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
        if isinstance(node, exp.Literal) and not node.is_string:
            place = ordinal(node)
            if place is not None and 1 <= place <= len(items):
                return items[place - 1]
            self._notes.find("V30", f"GROUP BY {shown(node)}", node)
        alias = self._alias(node)
        if alias is None or not isinstance(node, exp.Column):
            return node
        # An engine prefers a column of the source to an alias of that name (sampling.md).
        relation, name = self._relation, fold(node.name)
        if name in relation.columns or (relation.open and reads(alias, name)):
            return node
        check_not_a_row(node, relation, self._notes)
        self._hiding.append((name, alias))
        return bare(alias)

    def _alias(self, node: exp.Expr) -> exp.Expr | None:
        """What an unqualified name stands for as an alias of this select; else None."""
        plain = isinstance(node, exp.Column) and not node.table
        return self._aliases.get(fold(node.name)) if plain else None

    def _check_hiding(self, nodes: list[exp.Expr]) -> None:
        """A source whose columns are not known could have one of a grouped alias's name.

        The engine would group by it, and refuse the alias, unless other keys determine that.
        """
        for name, alias in self._hiding if self._relation.open else ():
            read = {fold(column.name) for column in _columns(alias)}
            others = [column for n in nodes if n is not bare(alias) for column in _columns(n)]
            if read <= {fold(column.name) for column in others}:
                source = self._relation.source
                self._notes.assume(f"{source} has no column of its own called {name}")

    def _add_key(self, node: exp.Expr) -> None:
        name = canonical(node)
        self._check_aliases(node)
        value = evaluate(node, resolver(self._relation, self._notes), self._notes)
        if value.kind not in {Kind.VALUE, Kind.POSITION, Kind.RANK}:
            self._notes.find("V09", f"groups by {shown(node)}, a count", node)
        check_key(value, node, self._notes)
        self._nodes.add(type(node))
        self.keys[name] = _keyed(value, name)

    def _check_aliases(self, node: exp.Expr) -> None:
        """Inside a key, an alias of a source whose columns are not known could be a column."""
        for column in node.find_all(exp.Column) if self._relation.open else ():
            name, alias = fold(column.name), self._alias(column)
            if alias is not None and column is not node and not reads(alias, name):
                self._notes.find("V30", f"{name}, an alias or a column", column)

    def is_count(self, node: exp.Expr) -> bool:
        """Whether ``node`` is the count of the sampled rows of its group."""
        node = bare(node)
        if type(node) is exp.Cast and node.to.is_type("bigint", "hugeint"):
            return self.is_count(node.this)
        if self._relation.stage is Stage.COUNTED:
            value = lookup(node.this, self._relation) if isinstance(node, exp.Sum) else None
            return value is not None and value.kind is Kind.COUNT
        if not isinstance(node, exp.Count) or node.args.get("expressions"):
            return False
        counted = node.this
        return counted in (None, exp.Star()) or number(counted) is not None

    def _threshold(self, clause: exp.Having | None) -> int | None:
        """The k of HAVING; its other conditions wait until the outputs are read."""
        bounds = []
        for condition in conjuncts(clause.this if clause else None):
            least = lower_bound(condition)
            if least is not None and self._counts(least[0]):
                bounds.append(least[1])
            if least is None or not self._counts(least[0]) or isinstance(condition, exp.Between):
                self.residue.append(condition)
        if bounds and max(bounds) < 2:
            self._notes.find("V09", f"a threshold of {max(bounds)}", clause)
        return max(bounds, default=None)

    def _counts(self, node: exp.Expr) -> bool:
        alias = self._alias(node) if canonical(node) not in self.keys else None
        return self.is_count(node if alias is None else alias)

    def check_residue(self) -> None:
        """The conditions of HAVING beside the threshold: of released groups only."""
        for condition in self.residue:
            if self.k is None:
                self._notes.find("V09", shown(condition), condition)
            # The engine may ask them of groups that do not pass: so they must not fail.
            self._total = True
            evaluate(condition, self.resolve, self._notes, condition=True)

    def output(self, node: exp.Expr) -> Value:
        """The value of an output column; findings where it must not be released."""
        return evaluate(bare(node), self.resolve, self._notes, total=self._total)

    def resolve(self, node: exp.Expr) -> Value | None:
        """Resolves the count, the keys, and other outputs by their alias."""
        if self.is_count(node):
            return Value(Kind.COUNT, type="BIGINT" if isinstance(node, exp.Count) else "HUGEINT")
        if type(node) in self._nodes and (key := self.keys.get(canonical(node))) is not None:
            self._check_name(node)
            return key
        if isinstance(node, exp.AggFunc):
            self._notes.find("V08", shown(node), node)
            return UNKNOWN
        if not isinstance(node, exp.Column):
            return None
        alias = self._alias(node)
        if alias is None or fold(node.name) in self._open_aliases:
            self._notes.find("V07", shown(node), node)
            return UNKNOWN
        return self._named(fold(node.name), alias)

    def _named(self, name: str, alias: exp.Expr) -> Value:
        place = (name, self._total)
        if place not in self._known:
            self._open_aliases.add(name)
            self._known[place] = self.output(alias)
            self._open_aliases.discard(name)
        return self._known[place]

    def _check_name(self, node: exp.Expr) -> None:
        for column in node.find_all(exp.Column):
            if not is_qualifier(column, self._relation):
                self._notes.find("V30", shown(column), column)


def _listed(node: exp.Expr) -> list[exp.Expr]:
    """``GROUP BY (a, b)`` is ``GROUP BY a, b``."""
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _keyed(value: Value, name: str) -> Value:
    return replace(value, key=name)


def _columns(node: exp.Expr) -> list[exp.Column]:
    return list(node.find_all(exp.Column))


def check_key(value: Value, node: exp.Expr, notes: Notes) -> None:
    """A grouped value must show itself: no float's two zeros, no text that equals another."""
    if value.type in {None, QUOTIENT}:
        notes.assume(FLOATING)
    elif not shows_itself(str(value.type)):
        notes.find("V18", f"{shown(node)} of type {value.type}", node)
    if value.collated:
        notes.find("V32", shown(node), node)
    elif value.collated is None and value.type in {TEXT, None}:
        notes.assume(BYTEWISE)


def lower_bound(node: exp.Expr) -> tuple[exp.Expr, int] | None:
    """``(what, least)`` for a condition that holds for ``what`` from the number ``least`` on."""
    node, kind = _comparison(node)
    if kind in {exp.GTE, exp.GT, exp.Between}:
        what, least = node.this, node.args.get("low") or node.expression
    elif kind in {exp.LTE, exp.LT}:
        what, least = node.expression, node.this
    else:
        return None
    high = node.args.get("high")
    value = bound(bare(least))
    if high is not None and bound(bare(high)) is None:
        return None
    if value is None:
        return None
    floor = value.numerator // value.denominator
    strict = kind in {exp.GT, exp.LT}
    return bare(what), floor if floor == value and not strict else floor + 1


# A count is never NULL, so that one of a comparison and its contrary holds.
_CONTRARY: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}


def _comparison(node: exp.Expr) -> tuple[exp.Expr, type[exp.Expr] | None]:
    """A comparison under any number of NOT, and the kind that it is of with them."""
    if not isinstance(node, exp.Not):
        return node, type(node)
    negated = False
    while isinstance(node, exp.Not):
        node, negated = bare(node.this), not negated
    contrary = _CONTRARY.get(type(node))
    return node, contrary if negated or contrary is None else type(node)
