"""Grouping, counting and the threshold: the half of a query that makes cells of rows.

Only the cell of the differing tuple changes its law [EXACT], so everything that is released
must be a function of the grouped columns and of the count, and the threshold must stand on
that count and on nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.evaluation import (
    JOINED,
    canonical,
    check_key,
    evaluate,
    reads,
)
from policy_engine.expressions.values import Role, Value, names_one_column
from policy_engine.kernel.sentences import ROW_UNIT
from policy_engine.relations import scope
from policy_engine.relations.shape import Shape, Stage
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, conjuncts, lower_bound, number, ordinal, unaliased
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import keeps_one_row, only_counts
from policy_engine.verify.laws import counts_units, has_threshold, is_grouped, is_sampled


def grouped(query: exp.Select, rows: Shape, notes: Notes) -> Shape:
    """The cells of ``rows``, or of cells that are counted, their counts and the threshold."""
    if not rows.open and not rows.lookups:
        query.set(
            "expressions", [c for item in query.expressions for c in scope.spread(item, rows)]
        )
    grouping = _Grouping(query, rows, notes)
    columns: dict[str, Value] = {}
    for item in query.expressions:
        if item.find(exp.Star) and not item.find(exp.Count):
            notes.judge(is_grouped("*"), item)
        else:
            scope.add_column(columns, scope.output_name(item), grouping.output(item), item, notes)
    grouping.check_residue()
    if rows.stage is not Stage.COUNTED:
        _check_sample(query, rows, notes)
    out = rows.but(
        stage=Stage.COUNTED if grouping.k is None else Stage.RELEASED,
        columns=columns,
        open=False,
        names=frozenset(),
        lookups=None,
        filtered=rows.filtered or bool(grouping.residue),
        keys=tuple(grouping.keys),
        k=grouping.k,
    )
    return out.but(order=scope.read_order(query, out, grouping.resolve, notes))


def _check_sample(query: exp.Select, rows: Shape, notes: Notes) -> None:
    notes.judge(is_sampled(rows), query)
    if rows.rank is None:
        notes.judge(counts_units(rows), query)
        return
    if not rows.one_row:
        found = "a window whose row number is not filtered to 1"
        notes.judge(keeps_one_row.broken_by(found), query)
    sample = rows.sample
    if sample is not None and sample.unit not in {None, rows.rank.unit}:
        unit = f"each {ROW_UNIT}" if sample.unit == ROW_UNIT else f"each {sample.unit}"
        found = f"one row a {rows.rank.unit} from a sample of {unit}"
        notes.judge(keeps_one_row.broken_by(found), query)


def _listed(query: exp.Select) -> list[exp.Expr]:
    """What stands in GROUP BY: ``(a, b)`` is ``a, b``."""
    group = query.args.get("group")
    nodes = [] if group is None else group.expressions
    return [
        bare(part)
        for node in map(bare, nodes)
        for part in (node.expressions if isinstance(node, exp.Tuple) else [node])
    ]


class _Grouping:
    """One grouped select: what its keys are, and what its other expressions may be."""

    def __init__(self, query: exp.Select, relation: Shape, notes: Notes) -> None:
        self._relation = relation
        self._notes = notes
        self._aliases = {
            fold(item.alias): item.this for item in query.expressions if isinstance(item, exp.Alias)
        }
        self._open_aliases: set[str] = set()
        self._known: dict[tuple[str, bool], Value] = {}
        self._of_rows: dict[str, Value] = {}
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
        items = [unaliased(item) for item in query.expressions]
        if group is not None and group.args.get("all"):
            return [item for item in items if not item.find(exp.AggFunc)]
        return [self._key_node(node, items) for node in _listed(query)]

    def _key_node(self, node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
        if isinstance(node, exp.Literal) and not node.is_string:
            place = ordinal(node)
            if place is not None and 1 <= place <= len(items):
                return items[place - 1]
            self._notes.judge(names_one_column(f"GROUP BY {shown(node)}"), node)
        alias = self._alias(node)
        if alias is None or not isinstance(node, exp.Column):
            return node
        # An engine prefers a column of the source to an alias of that name (sampling.md).
        relation, name = self._relation, fold(node.name)
        if name in relation.columns or (relation.open and reads(alias, name)):
            return node
        scope.check_not_a_row(node, relation, self._notes)
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
        if not self._relation.open:
            return
        columns = {id(n): {fold(column.name) for column in n.find_all(exp.Column)} for n in nodes}
        readers = Counter(name for read in columns.values() for name in read)
        for name, alias in self._hiding:
            if all(readers[column] > 1 for column in columns[id(bare(alias))]):
                scope.assume_no_column(name, self._relation, self._notes)

    def _add_key(self, node: exp.Expr) -> None:
        name = canonical(node)
        value = evaluate(node, self._of_row, self._notes)
        if value.kind not in {Role.VALUE, Role.POSITION, Role.RANK}:
            found = f"groups by {shown(node)}, a count"
            self._notes.judge(has_threshold(None, found), node)
        check_key(value, node, self._notes)
        self._nodes.add(type(node))
        self.keys[name] = replace(value, key=name)

    def _of_row(self, node: exp.Expr) -> Value | None:
        """Resolves columns of the rows, and inside a key the aliases that are no columns."""
        relation, name, alias = self._relation, fold(node.name), self._alias(node)
        if not isinstance(node, exp.Column) or alias is None:
            return scope.resolver(relation, self._notes)(node)
        if name in relation.columns or reads(alias, name):
            return scope.resolver(relation, self._notes)(node)
        if name not in self._of_rows:
            scope.check_not_a_row(node, relation, self._notes)
            scope.assume_no_column(name, relation, self._notes)
            self._of_rows[name] = scope.UNKNOWN  # an alias of itself is found when it is shown
            self._of_rows[name] = evaluate(alias, self._of_row, self._notes)
        return self._of_rows[name]

    def is_count(self, node: exp.Expr) -> bool:
        """Whether ``node`` is the count of the sampled rows of its group."""
        node = bare(node)
        if type(node) is exp.Cast and node.to.is_type("bigint", "hugeint"):
            return self.is_count(node.this)
        if self._relation.stage is Stage.COUNTED:
            value = scope.lookup(node.this, self._relation) if isinstance(node, exp.Sum) else None
            return value is not None and value.kind is Role.COUNT
        if isinstance(node, exp.Sum):
            return number(node.this) == 1
        if not isinstance(node, exp.Count) or node.args.get("expressions"):
            return False
        value = (
            scope.lookup(node.this, self._relation) if isinstance(node.this, exp.Column) else None
        )
        never_null = value is not None and value.column is not None and value.filled is True
        return node.this in (None, exp.Star()) or never_null or type(bare(node.this)) is exp.Literal

    def _threshold(self, clause: exp.Having | None) -> int | None:
        """The k of HAVING; its other conditions wait until the outputs are read."""
        bounds = []
        for condition in conjuncts(clause.this if clause else None):
            least = lower_bound(condition)
            if least is not None and self._counts(least[0]):
                bounds.append(least[1])
            if least is None or not self._counts(least[0]) or isinstance(condition, exp.Between):
                self.residue.append(condition)
        if bounds:
            self._notes.judge(has_threshold(max(bounds)), clause)
        return max(bounds, default=None)

    def _counts(self, node: exp.Expr) -> bool:
        alias = self._alias(node) if canonical(node) not in self.keys else None
        return self.is_count(node if alias is None else alias)

    def check_residue(self) -> None:
        """The conditions of HAVING beside the threshold: of released groups only."""
        for condition in self.residue:
            if self.k is None:
                self._notes.judge(has_threshold(None, shown(condition)), condition)
            # The engine may ask them of groups that do not pass: so they must not fail.
            self._total = True
            evaluate(condition, self.resolve, self._notes, condition=True)

    def output(self, node: exp.Expr) -> Value:
        """The value of an output column; findings where it must not be released."""
        return evaluate(unaliased(node), self.resolve, self._notes, total=self._total)

    def resolve(self, node: exp.Expr) -> Value | None:
        """Resolves the count, the keys, and other outputs by their alias."""
        if self.is_count(node):
            return Value(Role.COUNT, type="BIGINT" if isinstance(node, exp.Count) else "HUGEINT")
        if type(node) in self._nodes and (key := self.keys.get(canonical(node))) is not None:
            self._check_name(node)
            return key
        if self.k is not None and scope.is_symmetric(node, self.resolve):
            return Value(Role.DERIVED)
        if isinstance(node, exp.AggFunc):
            self._notes.judge(only_counts.broken_by(shown(node)), node)
            return scope.UNKNOWN
        if not isinstance(node, exp.Column):
            return None
        alias = self._alias(node)
        if alias is None or fold(node.name) in self._open_aliases:
            self._notes.judge(is_grouped(shown(node)), node)
            return scope.UNKNOWN
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
            if not scope.is_qualifier(column, self._relation) and JOINED not in column.meta:
                self._notes.judge(names_one_column(shown(column)), column)


def regrouped(query: exp.Select, rows: Shape, notes: Notes) -> Shape:
    """``rows``, which are released groups, grouped once more: sums, averages and extremes.

    That is post-processing, as long as it shows no order of them.
    """
    plain = scope.resolver(rows, notes)

    def resolve(node: exp.Expr) -> Value | None:
        return Value(Role.DERIVED) if scope.is_order_free(node, plain) else plain(node)

    columns: dict[str, Value] = {}
    for item in query.expressions:
        if scope.star_of(item, rows) is not None or scope.output_name(item) in columns:
            notes.judge(names_one_column(scope.output_name(item)), item)
            continue
        columns[scope.output_name(item)] = evaluate(unaliased(item), resolve, notes, total=False)
    # An alias or a place names an item, which is read by itself.
    names = {scope.output_name(item) for item in query.expressions}
    for key in _listed(query):
        if not isinstance(key, exp.Literal) and scope.output_name(key) not in names:
            evaluate(key, plain, notes, total=False)
    having = query.args.get("having")
    if having is not None:
        evaluate(having.this, resolve, notes, total=False)
    if query.args.get("qualify"):
        notes.judge(only_counts.broken_by("QUALIFY of released groups"), query.args["qualify"])
    out = rows.but(columns=columns, names=frozenset(), filtered=rows.filtered or having is not None)
    return out.but(order=scope.read_order(query, out, resolve, notes))
