"""From a parsed statement to the mechanism it is, one query at a time.

``Reader`` interprets a query from the inside out: the source, its sample, its filters, the
groups, the threshold. Every rule it knows adds to a ``Relation``; whatever it does not know
is a finding. A text is a release only if no finding was made and the last relation is one
of groups that passed the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from policy_engine.expressions.values import Kind, Value
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.grammar import code_of
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import fold
from policy_engine.verify.groups import Grouping, conjuncts, lower_bound
from policy_engine.verify.ordering import read_order
from policy_engine.verify.rows import (
    canonical,
    evaluate,
    is_qualifier,
    lookup,
    reads,
    resolver,
)
from policy_engine.verify.sampling import RESERVED, is_sampling, read_predicate, read_tablesample
from policy_engine.verify.shape import ROW_UNIT, Relation, Stage
from policy_engine.verify.sources import Sources, named
from policy_engine.verify.windows import is_first_row, read_rank, read_repeat

_BESIDE = "sample the table itself, and put the query's filter beside the sample"

Scope = Mapping[str, Relation]


class Reader:
    """Interprets the queries of one text; findings and assumptions go into ``notes``."""

    def __init__(self, sources: Sources, notes: Notes) -> None:
        self._sources = sources
        self._notes = notes

    def read(self, query: exp.Expr, scope: Scope) -> Relation | None:
        """What is known of ``query``; None where nothing more can be said."""
        if isinstance(query, exp.Subquery):
            return self.read(query.this, scope)
        if not isinstance(query, exp.Select):
            self._notes.find(code_of(query), type(query).__name__.upper(), query)
            return None
        scope = self._with(query, scope)
        relation = self._from(query, scope)
        if relation is None:
            return None
        relation = self._sampled(query, relation)
        relation = self._where(query, relation, scope)
        if query.args.get("group") or any(_aggregates(item) for item in query.expressions):
            return self._group(query, relation)
        return self._project(query, relation)

    def _with(self, query: exp.Select, scope: Scope) -> Scope:
        clause = query.args.get("with_")
        seen: set[str] = set()
        for cte in clause.expressions if clause else ():
            name = fold(cte.alias)
            if name.startswith(RESERVED):
                self._notes.find("V02", f"a query called {name}, as a drawn sample is", cte)
                continue
            if name in seen:
                self._notes.find("V30", f"two queries called {name}", cte)
            seen.add(name)
            relation = self._renamed(self.read(cte.this, scope), cte)
            if relation is not None:
                scope = {**scope, name: relation}
        return scope

    def _from(self, query: exp.Select, scope: Scope) -> Relation | None:
        clause = query.args.get("from_")
        if clause is None:
            self._notes.find("V16", "a query without FROM", query)
            return None
        node = clause.this
        if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table):
            inner = named(self.read(node.this, scope), node.alias)
            if inner is not None and node.args.get("sample"):
                inner = inner.but(sampling=True)
            return self._renamed(inner, node)
        if isinstance(node, exp.Subquery):
            inner = self._named(node.this, scope)
            return self._renamed(named(inner, node.alias) if node.alias else inner, node)
        return self._named(node, scope)

    def _named(self, node: exp.Expr, scope: Scope) -> Relation | None:
        """A table or a query by its name."""
        if not isinstance(node, exp.Table):
            self._notes.find(code_of(node), shown(node), node)
            return None
        name = fold(node.name)
        if not node.db and name in scope and isinstance(node.this, exp.Identifier):
            relation = named(scope[name], node.alias or name)
            if relation is not None and node.args.get("sample"):
                found = f"a sample of the query {name}, not of a base table; {_BESIDE}"
                self._notes.find("V04", found, node)
                relation = relation.but(sampling=True)
            return self._renamed(relation, node)
        return self._renamed(self._base(node), node)

    def _renamed(self, relation: Relation | None, node: exp.Expr) -> Relation | None:
        """The relation under the column names of ``AS x(a, b)`` or ``WITH x(a, b) AS``."""
        names = _column_names(node)
        if relation is None or not names:
            return relation
        if len(names) != len(relation.columns) or len(set(names)) != len(names) or relation.open:
            found = f"{len(names)} names for {len(relation.columns)} columns"
            self._notes.find("V30", found, node)
            return None
        return relation.but(columns=dict(zip(names, relation.columns.values(), strict=True)))

    def _base(self, node: exp.Table) -> Relation | None:
        view = self._sources.view(node)
        if view is None:
            relation = self._sources.relation(node, self._notes)
        else:
            notes = self._notes.inside(node)
            statement = self._sources.definition(view, node, notes)
            if statement is None:
                return None
            inner = Reader(self._sources.within(view), notes).read(statement, {})
            if inner is not None and inner.sampling:
                self._notes.find("V31", f"the view {view}, which draws a sample", node)
            relation = named(inner, node.alias or node.name)
            relation = relation and relation.but(views=(view, *relation.views))
        sample = node.args.get("sample")
        return relation and self._tablesample(sample, relation)

    def _sampled(self, query: exp.Select, relation: Relation) -> Relation:
        return self._tablesample(query.args.get("sample"), relation)

    def _tablesample(self, sample: exp.TableSample | None, relation: Relation) -> Relation:
        if sample is None:
            return relation
        if relation.stage is not Stage.SOURCE:
            found = f"a sample of a query or view, not of a base table; {_BESIDE}"
            self._notes.find("V04", found, sample)
        drawn = read_tablesample(sample, self._notes)
        return relation.but(stage=Stage.ROWS, sample=relation.sample or drawn, sampling=True)

    def _where(self, query: exp.Select, relation: Relation, scope: Scope) -> Relation:
        clause = query.args.get("where")
        conditions = list(conjuncts(clause.this if clause else None))
        if relation.stage is Stage.COUNTED:
            return self._passing(conditions, relation)
        source = relation
        windows = [w for item in query.expressions for w in item.find_all(exp.Window)]
        stars = [s for item in query.expressions for s in item.find_all(exp.Star)]
        replaced = [node for star in stars for node in star.args.get("replace") or ()]
        self._refuse_aliases(query, [*conditions, *windows, *replaced], relation)
        for predicate in conditions:
            if is_sampling(predicate):
                relation = self._draw(predicate, source, relation, scope)
            elif is_first_row(predicate, relation):
                relation = relation.but(one_row=True)
            else:
                self._evaluate(predicate, relation, condition=True)
                relation = relation.but(filtered=True)
        return relation.but(stage=Stage.ROWS) if relation.stage is Stage.SOURCE else relation

    def _refuse_aliases(self, query: exp.Select, nodes: list[exp.Expr], relation: Relation) -> None:
        """A name that could be a source column or an alias of this select decides nothing.

        DuckDB reads an alias in WHERE and in windows where the source has no such column; a
        source without a schema could have it or not.
        """
        if not relation.open:
            return
        aliases = {
            fold(item.alias)
            for item in query.expressions
            if isinstance(item, exp.Alias) and not reads(item, fold(item.alias))
        }
        for node in nodes:
            for column in node.find_all(exp.Column):
                if not column.table and fold(column.name) in aliases:
                    self._notes.find("V30", f"{column.name}, an alias of this select", column)

    def _evaluate(
        self,
        node: exp.Expr,
        relation: Relation,
        *,
        condition: bool = False,
        aliases: Mapping[str, Value] | None = None,
    ) -> Value:
        """A row expression; what reads released groups only may fail as it likes."""
        total = relation.stage is not Stage.RELEASED
        resolve = resolver(relation, self._notes, aliases)
        return evaluate(node, resolve, self._notes, total=total, condition=condition)

    def _passing(self, conditions: list[exp.Expr], relation: Relation) -> Relation:
        """WHERE over counted groups: the threshold, and conditions beside it."""
        bounds = []
        for condition in conditions:
            bound = lower_bound(condition)
            value = lookup(bound[0], relation) if bound is not None else None
            if bound is not None and value is not None and value.kind is Kind.COUNT:
                bounds.append(bound[1])
        k = max(bounds, default=None)
        if k is not None and k < 2:
            self._notes.find("V09", f"a threshold of {k}", conditions[0])
        for condition in conditions:
            value = self._evaluate(condition, relation, condition=True)
            if k is None and value.kind is not Kind.VALUE:
                self._notes.find("V09", shown(condition), condition)
        if k is None:
            return relation.but(filtered=relation.filtered or bool(conditions))
        filtered = relation.filtered or len(conditions) > len(bounds)
        return relation.but(stage=Stage.RELEASED, k=k, filtered=filtered)

    def _draw(
        self, predicate: exp.Expr, source: Relation, relation: Relation, scope: Scope
    ) -> Relation:
        sample = read_predicate(predicate, source, scope, self._notes)
        if relation.stage is Stage.RELEASED:
            self._notes.find("V04", "a sample of groups", predicate)
        elif relation.sampling:
            self._notes.find("V04", "a second sample of the same rows", predicate)
        return relation.but(sample=relation.sample or sample, sampling=True)

    def _project(self, query: exp.Select, relation: Relation) -> Relation:
        columns: dict[str, Value] = {}
        is_open = False
        changes: dict[str, object] = {}
        if query.args.get("having"):
            self._notes.find("V09", "HAVING without groups", query.args["having"])
        for item in query.expressions:
            node = bare(item)
            if _is_star(node, relation):
                for name, value in self._star(_star(node), relation).items():
                    self._add(columns, name, value, item)
                is_open = is_open or relation.open
            elif isinstance(node, exp.Window):
                changes |= read_rank(node, relation.but(**changes), self._notes)
                self._add(columns, _output_name(item), Value(Kind.RANK), item)
            elif isinstance(node, exp.Explode):
                changes |= read_repeat(node, relation.but(**changes), self._notes)
                self._add(columns, _output_name(item), Value(Kind.DERIVED), item)
            else:
                self._add(columns, _output_name(item), self._item(node, relation, columns), item)
        if is_open:
            self._check_hidden(query, columns, relation)
        stage = Stage.ROWS if relation.stage is Stage.SOURCE else relation.stage
        out = relation.but(stage=stage, columns=columns, open=is_open, names=frozenset(), **changes)
        return out.but(order=read_order(query, out, resolver(relation, self._notes), self._notes))

    def _star(self, star: exp.Expr, relation: Relation) -> dict[str, Value]:
        """The columns of ``* EXCLUDE (a) REPLACE (f(b) AS b)``, as far as they are known."""
        left_out = _names(star.args.get("except_"))
        columns = {n: value for n, value in relation.columns.items() if n not in left_out}
        for item in star.args.get("replace") or ():
            columns[fold(item.alias)] = self._item(bare(item), relation, {})
        return columns

    def _check_hidden(
        self, query: exp.Select, columns: Mapping[str, Value], relation: Relation
    ) -> None:
        """Beside a ``*`` of unknown columns: the engine takes the first of a name."""
        stars = [_star(bare(item)) for item in query.expressions if _is_star(bare(item), relation)]
        left_out = _names(stars[0].args.get("except_")) if len(stars) == 1 else ()
        for item in query.expressions:
            name = _output_name(item)
            value = columns.get(name)
            if _is_star(bare(item), relation) or value is None or value.column == name:
                continue
            if name in left_out:
                continue
            if name in value.inputs:
                self._notes.find("V30", f"two columns called {name}", item)
            else:
                self._notes.assume(f"{relation.source} has no column of its own called {name}")

    def _item(self, node: exp.Expr, relation: Relation, before: Mapping[str, Value]) -> Value:
        value = lookup(node, relation)
        if value is not None and value.kind is not Kind.VALUE:
            return value
        found = self._evaluate(node, relation, aliases=before)
        if found.kind is not Kind.VALUE and relation.stage is not Stage.RELEASED:
            self._notes.find("V09", f"{shown(node)}, of a count without a threshold", node)
        return found

    def _add(self, columns: dict[str, Value], name: str, value: Value, item: exp.Expr) -> None:
        if name in columns:
            self._notes.find("V30", f"two columns called {name}", item)
        columns[name] = value

    def _group(self, query: exp.Select, relation: Relation) -> Relation:
        if relation.stage is Stage.RELEASED:
            self._notes.find("V08", "groups of released groups", query)
            return relation
        grouping = Grouping(query, relation, self._notes)
        columns: dict[str, Value] = {}
        for item in query.expressions:
            if item.find(exp.Star) and not item.find(exp.Count):
                self._notes.find("V07", "*", item)
            else:
                self._add(columns, _output_name(item), grouping.output(item), item)
        grouping.check_residue()
        self._check_sample(relation, query)
        out = relation.but(
            stage=Stage.COUNTED if grouping.k is None else Stage.RELEASED,
            columns=columns,
            open=False,
            names=frozenset(),
            filtered=relation.filtered or bool(grouping.residue),
            keys=tuple(grouping.keys),
            k=grouping.k,
        )
        return out.but(order=read_order(query, out, grouping.resolve, self._notes))

    def _check_sample(self, relation: Relation, query: exp.Select) -> None:
        if relation.stage is Stage.COUNTED:
            return
        sample = relation.sample
        if not relation.sampling:
            self._notes.find("V03", f"all rows of {relation.source}", query)
        if relation.rank_unit is None:
            return
        if not relation.one_row:
            self._notes.find("V10", "a window whose row number is not filtered to 1", query)
        if sample is not None and sample.unit != relation.rank_unit:
            unit = f"each {ROW_UNIT}" if sample.unit == ROW_UNIT else f"each {sample.unit}"
            found = f"one row a {relation.rank_unit} from a sample of {unit}"
            self._notes.find("V10", found, query)


def _column_names(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias")
    return [fold(column.name) for column in alias.args.get("columns") or []] if alias else []


def _aggregates(item: exp.Expr) -> bool:
    return item.find(exp.AggFunc) is not None and item.find(exp.Window) is None


def _is_star(node: exp.Expr, relation: Relation) -> bool:
    if isinstance(node, exp.Star):
        return True
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Star):
        return False
    return is_qualifier(node, relation)


def _star(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Column) else node


def _names(nodes: list[exp.Expr] | None) -> frozenset[str]:
    return frozenset(fold(node.name) for node in nodes or ())


def _output_name(item: exp.Expr) -> str:
    if isinstance(item, exp.Alias):
        return fold(item.alias)
    node = bare(item)
    return fold(node.name) if isinstance(node, exp.Column) else canonical(node)
