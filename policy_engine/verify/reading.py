"""From a parsed statement to the mechanism it is, one query at a time.

``Reader`` interprets a query from the inside out: the source, its sample, its filters, the
groups, the threshold. Every rule it knows adds to a ``Shape``; all else is a finding. A text is
a release only if no finding was made and the last relation is one of groups that passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.evaluation import evaluate, folded
from policy_engine.expressions.values import Role, Value, names_one_column
from policy_engine.relations import scope as names
from policy_engine.relations.parts import condition_of, united
from policy_engine.relations.shape import Sample, Shape, Stage
from policy_engine.relations.sources import Sources, joined
from policy_engine.relations.windows import first_of, is_first_row, numbered, read_repeat
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import conjuncts, lower_bound, unaliased
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import (
    is_in_the_grammar,
    keeps_every_row,
    reads_a_table,
    reason,
)
from policy_engine.verify.groups import grouped, regrouped
from policy_engine.verify.laws import has_threshold, is_a_table, is_bernoulli
from policy_engine.verify.sampling import (
    RESERVED,
    is_sampling,
    read_predicate,
    read_tablesample,
)

_WHERE_TO_SAMPLE = "sample the table itself, below the window, join or groups"

Scope = Mapping[str, Shape]


class Reader:
    """Interprets the queries of one text; findings and assumptions go into ``notes``."""

    def __init__(self, sources: Sources, notes: Notes) -> None:
        self._sources = sources
        self._notes = notes

    def read(self, query: exp.Expr, scope: Scope) -> Shape | None:
        """What is known of ``query``; None where nothing more can be said."""
        if isinstance(query, exp.Subquery):
            return self.read(query.this, scope)
        if not isinstance(query, exp.Select | exp.Union):
            self._notes.judge(reason(query), query)
            return None
        scope = self._with(query, scope)
        if isinstance(query, exp.Union):
            sides = [self.read(side, scope) for side in (query.this, query.expression)]
            return united(query, sides[0], sides[1], self._notes)
        rows = self._from(query, scope)
        if rows is None:
            return None
        names.unalias(query, rows, self._notes)
        rows = self._where(query, self._tablesample(query, rows), scope)
        if query.args.get("group") or any(names.aggregates(item) for item in query.expressions):
            if rows.stage is Stage.RELEASED:
                return regrouped(query, rows, self._notes)
            if query.args.get("qualify"):
                self._notes.judge(keeps_every_row(query.args["qualify"]), query.args["qualify"])
            return grouped(query, rows, self._notes)
        return self._project(query, self._qualify(query, rows, scope), scope)

    # WITH and FROM: the relation that is read

    def _with(self, query: exp.Expr, scope: Scope) -> Scope:
        clause = query.args.get("with_")
        queries = clause.expressions if clause else []
        called, seen = [fold(cte.alias) for cte in queries], set[str]()
        for place, (name, cte) in enumerate(zip(called, queries, strict=True)):
            tables = [t for t in cte.find_all(exp.Table) if fold(t.name) in called[place:]]
            if clause is not None and clause.args.get("recursive") and tables:
                self._notes.judge(is_in_the_grammar.broken_by("a recursive query"), tables[0])
            if name.startswith(RESERVED):
                found = f"a query called {name}, as a drawn sample is"
                self._notes.judge(is_in_the_grammar.broken_by(found), cte)
                continue
            if name in seen:
                self._notes.judge(names_one_column(f"two queries called {name}"), cte)
            seen.add(name)
            rows = self._renamed(self.read(cte.this, scope), cte)
            if rows is not None:
                scope = {**scope, name: rows}
        return scope

    def _from(self, query: exp.Select, scope: Scope) -> Shape | None:
        clause = query.args.get("from_")
        if clause is None:
            self._notes.judge(reads_a_table.broken_by("a query without FROM"), query)
            return None
        rows = self._item_of_from(clause.this, scope)
        for join in query.args.get("joins") or ():
            rows = rows and joined(join, rows, self._sources, scope, self._notes)
        return rows

    def _item_of_from(self, node: exp.Expr, scope: Scope) -> Shape | None:
        """A table, a query by its name, or a query in parentheses."""
        if not isinstance(node, exp.Subquery):
            return self._named(node, scope)
        inside_is_table = isinstance(node.this, exp.Table)
        rows = self._named(node.this, scope) if inside_is_table else self.read(node.this, scope)
        if rows is None:
            return None
        if node.alias or not inside_is_table:
            rows = rows.called(node.alias)
        return self._renamed(self._tablesample(node, rows), node)

    def _named(self, node: exp.Expr, scope: Scope) -> Shape | None:
        """A table, view or query by its name."""
        if not isinstance(node, exp.Table):
            self._notes.judge(reason(node), node)
            return None
        name = fold(node.name)
        if not node.db and name in scope and isinstance(node.this, exp.Identifier):
            rows: Shape | None = scope[name].called(node.alias or name)
        else:
            rows = self._base(node)
        return self._renamed(rows and self._tablesample(node, rows), node)

    def _base(self, node: exp.Table) -> Shape | None:
        view = self._sources.view(node)
        if view is None:
            return self._sources.relation(node, self._notes)
        statement = self._sources.definition(view, node, self._notes)
        if statement is None:
            return None
        notes = self._notes.inside(view, self._sources.schema.view(view) or "", node)
        inner = Reader(self._sources.within(view), notes).read(statement, {})
        if inner is None:
            return None
        if inner.sample is not None:
            found = f"the view {view}, which draws a sample"
            self._notes.judge(is_a_table(found), node)
        if self._sources.schema.is_source(view):
            inner = inner.opaque(view)
        return inner.called(node.alias or node.name).but(views=(view, *inner.views))

    def _renamed(self, rows: Shape | None, node: exp.Expr) -> Shape | None:
        """``rows`` under the column names of ``AS x(a, b)`` or ``WITH x(a, b) AS``."""
        alias = node.args.get("alias")
        called = [fold(column.name) for column in alias.args.get("columns") or []] if alias else []
        if rows is None or not called:
            return rows
        if len(called) != len(rows.columns) or len(set(called)) != len(called) or rows.open:
            found = f"{len(called)} names for {len(rows.columns)} columns"
            self._notes.judge(names_one_column(found), node)
            return None
        return rows.but(columns=dict(zip(called, rows.columns.values(), strict=True)))

    # The sample and the filters: which rows remain

    def _tablesample(self, node: exp.Expr, rows: Shape) -> Shape:
        clause = node.args.get("sample")
        if clause is None:
            return rows
        return self._draw(rows, read_tablesample(clause, self._notes), rows, clause)

    def _draw(self, rows: Shape, sample: Sample, before: Shape, node: exp.Expr) -> Shape:
        """``rows`` under ``sample``, which was drawn of the relation ``before``."""
        moves = sample.method in {"native", "random"}
        if rows.sample is not None:
            sample = replace(sample, fault="a second sample of the same rows")
        elif rows.stage is not Stage.ROWS:
            sample = replace(sample, fault=f"a sample of groups; {_WHERE_TO_SAMPLE}")
        elif moves and not before.is_plain:
            # An optimiser may draw below a window or join, where other rows are sampled.
            sample = replace(sample, fault=f"a sample above others; {_WHERE_TO_SAMPLE}")
        self._notes.judge(is_bernoulli(sample), node)
        return rows.but(sample=sample)

    def _where(self, query: exp.Select, rows: Shape, scope: Scope) -> Shape:
        clause = query.args.get("where")
        conditions = list(conjuncts(clause.this if clause else None))
        if rows.stage is Stage.COUNTED:
            return self._passing(conditions, rows)
        before = rows
        for predicate in conditions:
            if is_sampling(predicate):
                sample = read_predicate(predicate, before, scope, self._notes)
                if sample is not None:
                    rows = self._draw(rows, sample, before, predicate)
                else:
                    rows = rows.but(sample=rows.sample or Sample("random", fault="unread"))
            elif is_first_row(predicate, before):
                rows = rows.but(one_row=True)
            else:
                # Fewer rows, by what each of them is: a recode to nothing [mechanism 2].
                held = self._evaluate(predicate, rows, condition=True).expression
                asked = () if held is None else (condition_of(folded(held), rows),)
                parts = tuple((*part, *asked) for part in rows.parts)
                rows = rows.but(filtered=True, parts=parts)
        return rows

    def _qualify(self, query: exp.Select, rows: Shape, scope: Scope) -> Shape:
        """QUALIFY may keep the first of each person's rows, and nothing else."""
        clause = query.args.get("qualify")
        if clause is None:
            return rows
        for condition in conjuncts(clause.this):
            rank = first_of(condition)
            if not isinstance(rank, exp.Window):
                self._notes.judge(keeps_every_row(clause), condition)
                continue
            rows = numbered(rank, rows, scope, self._notes).but(one_row=True)
        return rows

    def _passing(self, conditions: list[exp.Expr], rows: Shape) -> Shape:
        """WHERE over counted groups: the threshold, and conditions beside it."""
        bounds = []
        for condition in conditions:
            least = lower_bound(condition)
            value = names.lookup(least[0], rows) if least is not None else None
            if least is not None and value is not None and value.kind is Role.COUNT:
                bounds.append(least[1])
        k = max(bounds, default=None)
        if k is not None:
            self._notes.judge(has_threshold(k), conditions[0])
        for condition in conditions:
            value = self._evaluate(condition, rows, condition=True)
            if k is None and value.kind is not Role.VALUE:
                self._notes.judge(has_threshold(None, shown(condition)), condition)
        if k is None:
            return rows.but(filtered=rows.filtered or bool(conditions))
        filtered = rows.filtered or len(conditions) > len(bounds)
        return rows.but(stage=Stage.RELEASED, k=k, filtered=filtered)

    # SELECT: what is shown of each row or group

    def _evaluate(
        self,
        node: exp.Expr,
        rows: Shape,
        *,
        condition: bool = False,
        aliases: Mapping[str, Value] | None = None,
    ) -> Value:
        """A row expression; what reads released groups only may fail as it likes."""
        total = rows.stage is not Stage.RELEASED
        resolve = names.resolver(rows, self._notes, aliases)
        return evaluate(node, resolve, self._notes, total=total, condition=condition)

    def _project(self, query: exp.Select, rows: Shape, scope: Scope) -> Shape:
        if query.args.get("having"):
            found = has_threshold(None, "HAVING without groups")
            self._notes.judge(found, query.args["having"])
        columns: dict[str, Value] = {}
        is_open = False
        for item in query.expressions:
            node = unaliased(item)
            star = names.star_of(item, rows)
            if star is not None:
                if rows.lookups and star is node:
                    self._notes.judge(names_one_column("* of several relations"), node)
                for name, value in self._star(star, rows).items():
                    names.add_column(columns, name, value, item, self._notes)
                is_open = is_open or rows.open
            elif isinstance(node, exp.Window) and rows.stage is not Stage.RELEASED:
                rows = numbered(node, rows, scope, self._notes)
                number = Value(Role.RANK, key=rows.rank.text if rows.rank is not None else None)
                names.add_column(columns, names.output_name(item), number, item, self._notes)
            elif isinstance(node, exp.Explode):
                rows = read_repeat(node, rows, self._notes)
                names.add_column(
                    columns, names.output_name(item), Value(Role.DERIVED), item, self._notes
                )
            else:
                value = self._item(node, rows, columns)
                names.add_column(columns, names.output_name(item), value, item, self._notes)
        if is_open:
            names.check_hidden(query, columns, rows, self._notes)
        out = rows.but(
            columns=columns, open=is_open, names=frozenset(), lookups=None,
            layout=names.layout_of(query, rows),
        )  # fmt: skip
        return out.but(
            order=names.read_order(query, out, names.resolver(rows, self._notes), self._notes)
        )

    def _star(self, star: exp.Star, rows: Shape) -> dict[str, Value]:
        """The columns of ``* EXCLUDE (a) REPLACE (f(b) AS b)``, as far as they are known."""
        left_out = names.left_out_of(star)
        columns = {n: value for n, value in rows.columns.items() if n not in left_out}
        for item in star.args.get("replace") or ():
            columns[fold(item.alias)] = self._item(unaliased(item), rows, {})
        return columns

    def _item(self, node: exp.Expr, rows: Shape, before: Mapping[str, Value]) -> Value:
        value = names.lookup(node, rows)
        if value is not None and value.kind is not Role.VALUE:
            return value
        found = self._evaluate(node, rows, aliases=before)
        if found.kind is not Role.VALUE and rows.stage is not Stage.RELEASED:
            what = f"{shown(node)}, of a count without a threshold"
            self._notes.judge(has_threshold(None, what), node)
        return found
