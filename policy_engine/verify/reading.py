"""From a parsed statement to the mechanism it is, one query at a time.

``Reader`` interprets a query from the inside out: the source, its sample, its filters, the
groups, the threshold. Every rule it knows adds to a ``Relation``; whatever it does not know
is a finding. A text is a release only if no finding was made and the last relation is one
of groups that passed the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from policy_engine.verify.findings import Findings
from policy_engine.verify.grammar import read_statement
from policy_engine.verify.groups import (
    Grouping,
    bare,
    canonical,
    column_threshold,
    conjuncts,
)
from policy_engine.verify.positions import Position, position
from policy_engine.verify.rows import lookup, row_value
from policy_engine.verify.sampling import ROW_NUMBERS, is_sampling, read_predicate, read_tablesample
from policy_engine.verify.schema import Schema
from policy_engine.verify.shape import ROW_UNIT, Kind, Relation, Stage, Value

_RESERVED = "policy_engine_sample"
_MAX_VIEWS = 32

Scope = Mapping[str, Relation]


class Reader:
    """Interprets the queries of one text. Findings and assumptions are collected."""

    def __init__(self, text: str, dialect: str, schema: Schema, findings: Findings) -> None:
        self._text = text
        self._dialect = dialect
        self._schema = schema
        self._findings = findings
        self._views: tuple[str, ...] = ()
        self.assumed: set[str] = set()
        self.group_values: list[Value] = []
        self.predicates: list[Value] = []

    def read(self, query: exp.Expr, scope: Scope) -> Relation | None:
        """What is known of ``query``; None where nothing more can be said."""
        if isinstance(query, exp.Subquery):
            return self.read(query.this, scope)
        if not isinstance(query, exp.Select):
            self._find("V02", type(query).__name__.upper(), query)
            return None
        scope = self._with(query, scope)
        relation = self._from(query, scope)
        if relation is None:
            return None
        relation = self._sampled(query, relation)
        relation = self._where(query, relation)
        grouped = query.args.get("group") or any(
            item.find(exp.AggFunc) and not item.find(exp.Window) for item in query.expressions
        )
        relation = self._group(query, relation) if grouped else self._project(query, relation)
        return relation.but(order=self._order(query, relation))

    def _find(self, code: str, found: str, node: exp.Expr) -> None:
        self._findings.add(code, found, self._place(node))

    def _place(self, node: exp.Expr) -> Position:
        return position(node, self._text)

    def _with(self, query: exp.Select, scope: Scope) -> Scope:
        clause = query.args.get("with_")
        for cte in clause.expressions if clause else ():
            name = cte.alias.lower()
            if name.startswith(_RESERVED) or cte.args["alias"].args.get("columns"):
                self._find("V02", f"a common table expression called {name}", cte)
                continue
            relation = self.read(cte.this, scope)
            if relation is not None:
                scope = {**scope, name: relation}
        return scope

    def _from(self, query: exp.Select, scope: Scope) -> Relation | None:
        clause = query.args.get("from_")
        if clause is None:
            self._find("V16", "a query without FROM", query)
            return None
        node = clause.this
        if isinstance(node, exp.Subquery):
            inner = self.read(node.this, scope)
            return _named(inner, node.alias) if inner else None
        if not isinstance(node, exp.Table):
            self._find("V02", type(node).__name__.upper(), node)
            return None
        name = node.name.lower()
        if not node.args.get("db") and name in scope and isinstance(node.this, exp.Identifier):
            if node.args.get("sample"):
                self._find("V04", f"a sample of the query {name}, not of a base table", node)
            return _named(scope[name], node.alias or name)
        return self._base(node)

    def _base(self, node: exp.Table) -> Relation | None:
        source = self._source_name(node)
        if source is None:
            return None
        definition = self._schema.view(source)
        if definition is not None:
            return self._view(source, definition, node)
        columns = self._schema.columns(source)
        if columns is None and self._schema.known:
            self._find("V16", f"{source}, which the schema does not have", node)
        relation = Relation(
            Stage.SOURCE,
            source,
            {
                name.lower(): Value(
                    Kind.VALUE, frozenset({name.lower()}), exp.column(name, quoted=True)
                )
                for name in columns or ()
            },
            names=frozenset({(node.alias or node.name).lower()}),
            open=columns is None,
        )
        sample = node.args.get("sample")
        if sample is not None:
            drawn = read_tablesample(sample, self._text, self._findings)
            relation = relation.but(stage=Stage.ROWS, sample=drawn)
        return relation

    def _source_name(self, node: exp.Table) -> str | None:
        if isinstance(node.this, exp.Identifier):
            return ".".join(part.name for part in node.parts)
        paths = []
        if isinstance(node.this, exp.ReadParquet):
            paths = [e.name for e in node.this.expressions if isinstance(e, exp.Literal)]
            options = [e for e in node.this.expressions if not isinstance(e, exp.Literal)]
            if len(paths) == 1 and all(_is_row_number_option(option) for option in options):
                return paths[0]
        self._find("V16", node.sql("duckdb")[:80], node)
        return None

    def _view(self, name: str, definition: str, node: exp.Table) -> Relation | None:
        if not definition or name in self._views or len(self._views) >= _MAX_VIEWS:
            self._find("V16", f"the view {name}, whose definition was not shown", node)
            return None
        if node.args.get("sample"):
            self._find("V04", f"a sample of the view {name}, not of a base table", node)
        statement = read_statement(definition, self._dialect, self._findings)
        if statement is None:
            self._find("V16", f"the view {name}, which could not be read", node)
            return None
        inner = Reader(definition, self._dialect, self._schema, self._findings)
        inner._views = (*self._views, name)
        inner.assumed, inner.group_values = self.assumed, self.group_values
        inner.predicates = self.predicates
        query = statement.expression if isinstance(statement, exp.Create) else statement
        relation = inner.read(query, {})
        if relation is not None and relation.sample is not None:
            self._find("V31", f"the view {name}, which draws a sample", node)
        return _named(relation, node.alias or node.name) if relation else None

    def _sampled(self, query: exp.Select, relation: Relation) -> Relation:
        sample = query.args.get("sample")
        if sample is None:
            return relation
        if relation.stage is not Stage.SOURCE:
            self._find("V04", "a sample of a query, not of a base table", sample)
            return relation
        drawn = read_tablesample(sample, self._text, self._findings)
        return relation.but(stage=Stage.ROWS, sample=drawn)

    def _where(self, query: exp.Select, relation: Relation) -> Relation:
        clause = query.args.get("where")
        source = relation
        for predicate in conjuncts(clause.this if clause else None):
            if is_sampling(predicate):
                relation = self._draw(predicate, source, relation)
            elif self._is_first_row(predicate, relation):
                relation = relation.but(one_row=True)
            elif (k := self._threshold(predicate, relation)) is not None:
                relation = relation.but(k=max(k, relation.k or 0))
            else:
                relation = self._filter(predicate, relation)
        if relation.stage is Stage.COUNTED and relation.k is not None:
            return relation.but(stage=Stage.RELEASED)
        if relation.stage is Stage.SOURCE:
            return relation.but(stage=Stage.ROWS)
        return relation

    def _draw(self, predicate: exp.Expr, source: Relation, relation: Relation) -> Relation:
        over_source = source.stage is Stage.SOURCE
        sample = read_predicate(predicate, over_source, self._text, self._findings)
        if sample is None:
            return relation
        if relation.sample is not None:
            self._find("V04", "a second sample of the same rows", predicate)
        if relation.stage not in {Stage.SOURCE, Stage.ROWS}:
            self._find("V04", "a sample of groups", predicate)
        if sample.unit != ROW_UNIT and not self._reads(sample.unit, relation):
            self._find("V30", sample.unit, predicate)
        return relation.but(sample=sample)

    def _reads(self, name: str, relation: Relation) -> bool:
        value = lookup(exp.column(name), relation)
        return value is not None and value.inputs == frozenset({name})

    def _is_first_row(self, predicate: exp.Expr, relation: Relation) -> bool:
        if not isinstance(predicate, exp.EQ):
            return False
        sides = (predicate.this, predicate.expression)
        for column, one in (sides, sides[::-1]):
            if isinstance(column, exp.Column) and isinstance(one, exp.Literal):
                value = lookup(column, relation)
                if value is not None and value.kind is Kind.RANK:
                    return one.name == "1" and not one.is_string
        return False

    def _threshold(self, predicate: exp.Expr, relation: Relation) -> int | None:
        if relation.stage is not Stage.COUNTED:
            return None
        return column_threshold(predicate, relation)

    def _filter(self, predicate: exp.Expr, relation: Relation) -> Relation:
        counts = relation.stage is Stage.COUNTED and any(
            (value := lookup(column, relation)) is not None and value.kind is not Kind.VALUE
            for column in predicate.find_all(exp.Column)
        )
        if counts:
            self._find("V09", predicate.sql("duckdb"), predicate)
        else:
            self.predicates.append(row_value(predicate, relation, self._text, self._findings))
        return relation.but(filtered=True)

    def _project(self, query: exp.Select, relation: Relation) -> Relation:
        columns: dict[str, Value] = {}
        is_open = False
        changes: dict[str, object] = {}
        if query.args.get("having"):
            self._find("V09", "HAVING without groups", query.args["having"])
        for item in query.expressions:
            node = bare(item)
            if isinstance(node, exp.Star):
                columns |= {n: v for n, v in relation.columns.items() if n not in columns}
                is_open = relation.open
            elif isinstance(node, exp.Window):
                changes |= self._rank(node, relation)
                self._add(columns, item, Value(Kind.RANK))
            elif isinstance(node, exp.Explode):
                changes |= self._repeat(node, relation)
                self._add(columns, item, Value(Kind.DERIVED))
            else:
                self._add(columns, item, self._item(node, relation))
        stage = Stage.ROWS if relation.stage is Stage.SOURCE else relation.stage
        return relation.but(
            stage=stage, columns=columns, open=is_open, names=frozenset(), **changes
        )

    def _item(self, node: exp.Expr, relation: Relation) -> Value:
        value = lookup(node, relation) if isinstance(node, exp.Column) else None
        if value is not None and value.kind in {Kind.COUNT, Kind.RANK, Kind.DERIVED}:
            return value
        found = row_value(node, relation, self._text, self._findings)
        if relation.stage is not Stage.RELEASED:
            return found
        derived = any(
            (inner := lookup(column, relation)) is not None and inner.kind is not Kind.VALUE
            for column in node.find_all(exp.Column)
        )
        return Value(Kind.DERIVED) if derived else found

    def _add(self, columns: dict[str, Value], item: exp.Expr, value: Value) -> None:
        name = item.alias_or_name.lower() or canonical(item)
        if name in columns:
            self._find("V30", f"two columns called {name}", item)
        columns[name] = value

    def _rank(self, node: exp.Window, relation: Relation) -> dict[str, object]:
        partition = node.args.get("partition_by") or []
        order = node.args.get("order")
        unit = partition[0] if len(partition) == 1 else None
        if not isinstance(node.this, exp.RowNumber) or not isinstance(unit, exp.Column):
            self._find("V10", node.sql("duckdb"), node)
            return {}
        if relation.stage not in {Stage.SOURCE, Stage.ROWS} or relation.rank_unit:
            self._find("V10", "a second window, or one over groups", node)
        if not self._reads(unit.name.lower(), relation):
            self._find("V10", f"a window over {unit.name}, no column of the source", node)
        terms = order.expressions if order is not None else []
        for term in terms:
            if not self._is_position(term.this, relation):
                row_value(term.this, relation, self._text, self._findings)
        shown = tuple((_term_name(term.this), bool(term.args.get("desc"))) for term in terms)
        return {"rank_unit": unit.name.lower(), "rank_order": shown}

    def _is_position(self, node: exp.Expr, relation: Relation) -> bool:
        """The order of one person's own rows in the source does not depend on others."""
        numbered = isinstance(node, exp.Column) and node.name.lower() in ROW_NUMBERS
        return numbered and relation.stage in {Stage.SOURCE, Stage.ROWS}

    def _repeat(self, node: exp.Explode, relation: Relation) -> dict[str, object]:
        series = node.this
        count = series.args.get("end") if isinstance(series, exp.GenerateSeries) else None
        value = lookup(count, relation) if isinstance(count, exp.Column) else None
        is_count = value is not None and value.kind is Kind.COUNT
        exact = is_count and series.args.get("is_end_exclusive") and _is_zero(series)
        if relation.stage is not Stage.RELEASED or not exact or relation.repeated:
            self._find("V02", node.sql("duckdb"), node)
        return {"repeated": True}

    def _group(self, query: exp.Select, relation: Relation) -> Relation:
        if relation.stage in {Stage.RELEASED}:
            self._find("V08", "groups of released groups", query)
            return relation
        aliases = {i.alias.lower(): i.this for i in query.expressions if isinstance(i, exp.Alias)}
        grouping = Grouping(relation, {}, aliases, self._text, self._findings)
        for key in self._keys(query, grouping):
            grouping.keys[canonical(key)] = key
            self.group_values.append(row_value(key, relation, self._text, self._findings))
        columns: dict[str, Value] = {}
        for item in query.expressions:
            if isinstance(bare(item), exp.Star):
                self._find("V07", "*", item)
            else:
                self._add(columns, item, grouping.value(item))
        k = self._having(query, grouping)
        self._check_sample(relation, query)
        return relation.but(
            stage=Stage.COUNTED if k is None else Stage.RELEASED,
            columns=columns,
            open=False,
            names=frozenset(),
            keys=tuple(grouping.keys),
            k=k,
        )

    def _keys(self, query: exp.Select, grouping: Grouping) -> list[exp.Expr]:
        group = query.args.get("group")
        if group is None:
            return []
        items = [bare(item) for item in query.expressions]
        if group.args.get("all"):
            return [item for item in items if not item.find(exp.AggFunc)]
        return [self._key(bare(node), items, grouping) for node in group.expressions]

    def _key(self, node: exp.Expr, items: list[exp.Expr], grouping: Grouping) -> exp.Expr:
        if isinstance(node, exp.Literal) and node.is_int:
            place = int(node.name)
            if 1 <= place <= len(items):
                return items[place - 1]
            self._find("V30", f"GROUP BY {place}", node)
        if not isinstance(node, exp.Column) or node.table:
            return node
        alias = grouping.aliases.get(node.name.lower())
        if alias is None:
            return node
        # An engine prefers a column of the source to an alias of that name (sampling.md).
        relation, name = grouping.relation, node.name.lower()
        raw = name in relation.columns or (
            relation.open and any(c.name.lower() == name for c in alias.find_all(exp.Column))
        )
        return node if raw else bare(alias)

    def _having(self, query: exp.Select, grouping: Grouping) -> int | None:
        clause = query.args.get("having")
        k: int | None = None
        others = []
        for condition in conjuncts(clause.this if clause else None):
            bound = grouping.threshold(condition)
            if bound is None:
                others.append(condition)
            else:
                k = max(bound, k or bound)
        for condition in others:
            grouping.value(condition)
            if k is None:
                self._find("V09", condition.sql("duckdb"), condition)
        if k is not None and k < 2:
            self._find("V09", f"a threshold of {k}", clause or query)
        return k

    def _check_sample(self, relation: Relation, query: exp.Select) -> None:
        if relation.stage not in {Stage.SOURCE, Stage.ROWS}:
            return
        sample = relation.sample
        if sample is None:
            self._find("V03", f"all rows of {relation.source}", query)
        elif relation.rank_unit is None:
            return
        elif not relation.one_row:
            self._find("V10", "a window whose row number is not filtered to 1", query)
        elif sample.unit != relation.rank_unit:
            found = f"one row a {relation.rank_unit} from a sample of each {sample.unit}"
            self._find("V10", found, query)

    def _order(self, query: exp.Select, relation: Relation) -> tuple[str, ...]:
        clause = query.args.get("order")
        shown: list[str] = []
        names = list(relation.columns)
        for term in clause.expressions if clause else ():
            node = bare(term.this)
            if isinstance(node, exp.Var) and node.name.upper() == "ALL":
                shown.extend(names)
            elif isinstance(node, exp.Literal) and node.is_int and int(node.name) <= len(names):
                shown.append(names[int(node.name) - 1])
            elif isinstance(node, exp.Column) and node.name.lower() in relation.columns:
                shown.append(node.name.lower())
            elif node.find(exp.AggFunc) or canonical(node) in relation.keys:
                shown.append(canonical(node))
            else:
                self._find("V28", node.sql("duckdb"), node)
        return tuple(shown)


def _term_name(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Column) else canonical(node)


def _named(relation: Relation | None, name: str) -> Relation | None:
    if relation is None:
        return None
    return relation.but(names=frozenset({name.lower()} if name else ()))


def _is_row_number_option(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.EQ)
        and node.this.name.lower() == "file_row_number"
        and isinstance(node.expression, exp.Boolean)
    )


def _is_zero(series: exp.GenerateSeries) -> bool:
    start = series.args.get("start")
    return isinstance(start, exp.Literal) and start.name == "0"
