"""A stranger's query in two: groups that a release can be of, and a query over the release's rows.

What is made of released rows costs nothing and needs no certificate: shares, ranks, sums of groups,
the number of a year whose first day is shown. So a text that makes them is two texts, the first of
which can be printed. Nobody trusts how it is cut: what is printed is printed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from policy_engine.check import levels
from policy_engine.check.recodings import SHOWN
from policy_engine.check.values import without_parentheses
from policy_engine.compile.catalog import fresh
from policy_engine.names import fold
from policy_engine.values import frozen

RELEASED = "released"
"""The name of the release's rows in the query over them."""


@frozen
class Halves:
    """A query of groups, and the query over its rows that gives what the whole gives."""

    groups: exp.Select
    rest: exp.Expr


def halves_of(query: exp.Select) -> Iterator[Halves]:
    """The ways to cut a query in two; what is cut off first is most of it, at first all of it."""
    for inner in _inner(query):
        for halves in (_of_its_rows(inner), _of_its_groups(inner)):
            if halves is not None and (whole := _whole(query, inner, halves)) is not None:
                yield whole


def _inner(query: exp.Select) -> Iterator[exp.Select]:
    """The query itself, and those that it names or reads in parentheses, outermost first."""
    for each in query.find_all(exp.Select):
        if each is query or isinstance(each.parent, exp.CTE | exp.Subquery):
            yield each


def _of_its_rows(inner: exp.Select) -> Halves | None:
    """The query as it stands, and all its rows."""
    return Halves(inner, all_rows()) if _clean(inner) else None


def _clean(inner: exp.Select) -> bool:
    return not any(inner.args.get(name) for name in ("limit", "offset", "fetch", "distinct"))


def all_rows() -> exp.Select:
    """The query over a release's rows that shows them as they are."""
    return exp.select("*").from_(RELEASED)


def _whole(query: exp.Select, inner: exp.Select, halves: Halves) -> Halves | None:
    """The halves of a query, by those of a query inside it; None where it reads the source, too."""
    groups = halves.groups.copy()
    groups.set("with_", _seen_by(inner))
    groups.set("order", None)
    if inner is query:
        rest: exp.Expr = halves.rest.copy()
    else:
        at = [node is inner for node in query.find_all(exp.Select)].index(True)
        rest = query.copy()
        list(rest.find_all(exp.Select))[at].replace(halves.rest.copy())
        _drop_unread(rest)
    return Halves(groups, rest) if _reads_released(rest) else None


def _seen_by(inner: exp.Select) -> exp.With | None:
    """The named queries that a query inside another sees, in their order."""
    found: list[exp.Expr] = []
    node: exp.Expr | None = inner
    before: exp.Expr | None = None
    while node is not None:
        clause = node.args.get("with_")
        if clause is not None and before is not clause:
            found = [*clause.expressions, *found]
        elif isinstance(node, exp.With):
            at = [each is before for each in node.expressions].index(True)
            found = [*node.expressions[:at], *found]
        before, node = node, node.parent
    return exp.With(expressions=[each.copy() for each in found]) if found else None


def _drop_unread(rest: exp.Expr) -> None:
    """Without the named queries that nothing reads any more."""
    while True:
        read = {fold(each.name) for each in rest.find_all(exp.Table) if not each.db}
        unread = [each for each in rest.find_all(exp.CTE) if fold(each.alias) not in read]
        if not unread:
            return
        for each in unread:
            clause = each.parent
            each.pop()
            if clause is not None and not clause.expressions:
                clause.pop()


def _reads_released(rest: exp.Expr) -> bool:
    """Whether a query reads the release alone, and draws nothing."""
    named = {RELEASED, *(fold(each.alias) for each in rest.find_all(exp.CTE))}
    reads = all(not each.db and fold(each.name) in named for each in rest.find_all(exp.Table))
    odd = rest.find(exp.TableSample, exp.Placeholder, exp.Parameter, exp.SessionParameter)
    return reads and odd is None and not levels.draws(rest)


# A query of groups that shows more than groups and counts


def _of_its_groups(inner: exp.Select) -> Halves | None:
    """The groups and counts that a query is made of, and the query over them."""
    group = inner.args.get("group")
    conditions = [*levels.conjuncts(_clause(inner, "having"))]
    if group is None and not conditions:
        return None
    if any(isinstance(each.unalias(), exp.Star) for each in inner.expressions):
        return None
    if group is not None and any(group.args.get(n) for n in ("rollup", "cube", "grouping_sets")):
        return None
    return _Groups(inner, group, conditions).halves()


def _clause(query: exp.Select, name: str) -> exp.Expr | None:
    found = query.args.get(name)
    return None if found is None else found.this


@frozen
class _Key:
    """What a query is grouped by, its name in the release, and how the query writes it."""

    node: exp.Expr
    name: str
    grouped_by: exp.Expr


class _NotOfGroups(Exception):
    """An expression that is of the source's rows."""


class _Groups:
    """Writes a query of groups anew: its keys and one count, and all else over them."""

    def __init__(
        self, inner: exp.Select, group: exp.Expr | None, conditions: list[exp.Expr]
    ) -> None:
        self.inner, self.conditions = inner, conditions
        self.given = {
            fold(each.alias_or_name): each.unalias()
            for each in inner.expressions
            if each.alias_or_name
        }
        self.keys = [] if group is None else self._keys(group)
        counts = (each.alias for each in inner.expressions if levels.is_count(each.unalias()))
        self.count = next(filter(None, counts), None) or fresh("n", self.given)

    def _keys(self, group: exp.Expr) -> list[_Key]:
        shown = [each.unalias() for each in self.inner.expressions]
        if group.args.get("all"):
            return [self._key(node) for node in shown if not node.find(exp.AggFunc)]
        found = []
        for term in levels.terms_of(group.expressions):
            if isinstance(term, exp.Literal) and not term.is_string:
                found += [self._key(node) for node in shown[int(term.name) - 1 : int(term.name)]]
            elif isinstance(term, exp.Column) and not term.table and fold(term.name) in self.given:
                # Whether it is a column of that name, whoever reads the groups says.
                found.append(_Key(self.given[fold(term.name)], term.name, term))
            else:
                found.append(self._key(term))
        return list({levels.text_of(key.node): key for key in found}.values())

    def _key(self, node: exp.Expr) -> _Key:
        same = (
            each.alias_or_name
            for each in self.inner.expressions
            if levels.text_of(each.unalias()) == levels.text_of(node)
        )
        own = node.name if isinstance(node, exp.Column) else ""
        name = next(filter(None, same), None) or own or fresh("key", self.given)
        return _Key(node, name, node)

    def halves(self) -> Halves | None:
        """The groups, and what is made of them."""
        names = [*(fold(key.name) for key in self.keys), fold(self.count)]
        counted = {name for name, node in self.given.items() if node.find(exp.AggFunc)}
        if len({*names}) < len(names) or counted & {*names[:-1]}:
            return None
        try:
            return self._halves()
        except _NotOfGroups:
            return None

    def _halves(self) -> Halves:
        thresholds, later = self._conditions()
        columns: list[exp.Expr] = [
            exp.alias_(key.node.copy(), key.name, quoted=True) for key in self.keys
        ]
        if not columns:
            everybody = fresh("everybody", self.given)
            columns = [exp.alias_(exp.Literal.string(everybody), everybody, quoted=True)]
        count = exp.alias_(exp.Count(this=exp.Star()), self.count, quoted=True)
        groups = self.inner.copy()
        for name in ("order", "limit", "offset", "distinct", "qualify", "having", "group"):
            groups.set(name, None)
        groups.set("expressions", [*columns, count])
        if self.keys:
            groups = groups.group_by(*(key.grouped_by.copy() for key in self.keys))
        for each in thresholds:
            groups = groups.having(each.copy())
        rest = exp.select(*map(self._shown, self.inner.expressions)).from_(RELEASED)
        for each in later:
            rest = rest.where(self._written(each))
        for name in ("limit", "offset", "distinct"):
            rest.set(name, self.inner.args.get(name) and self.inner.args[name].copy())
        if qualify := _clause(self.inner, "qualify"):
            rest.set("qualify", exp.Qualify(this=self._written(qualify)))
        if order := self.inner.args.get("order"):
            rest.set("order", self._ordered(order))
        return Halves(groups, rest)

    def _conditions(self) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """Those that a release asks of a count, and what is asked of released groups."""
        thresholds, later = [], []
        for condition in self.conditions:
            each = self._expanded(condition)
            if levels.least_count(each) is None:
                later.append(each)
                continue
            inner = without_parentheses(each)
            if isinstance(inner, exp.Between):
                later.append(exp.LTE(this=inner.this.copy(), expression=inner.args["high"].copy()))
                each = exp.GTE(this=inner.this.copy(), expression=inner.args["low"].copy())
            thresholds.append(each)
        return thresholds, later

    def _expanded(self, node: exp.Expr) -> exp.Expr:
        """An expression without the names that are given to what counts."""

        def written(each: exp.Expr) -> exp.Expr:
            if isinstance(each, exp.Column) and not each.table:
                own = self.given.get(fold(each.name))
                if own is not None and own.find(exp.AggFunc):
                    return exp.paren(own.copy())
            return each

        return node.copy().transform(written)

    def _shown(self, item: exp.Expr) -> exp.Expr:
        name = item.alias_or_name
        written = self._written(item.unalias())
        return exp.alias_(written, name, quoted=True) if name else written

    def _ordered(self, order: exp.Expr) -> exp.Expr | None:
        """The order of what is shown, as far as it is one of its names or numbers."""
        terms = []
        for term in order.expressions:
            node = term.this
            is_own = isinstance(node, exp.Literal) or (
                isinstance(node, exp.Column) and fold(node.name) in self.given
            )
            copied = term.copy()
            if not is_own:
                copied.set("this", self._written(node))
            terms.append(copied)
        return exp.Order(expressions=terms)

    def _written(self, node: exp.Expr) -> exp.Expr:
        """An expression over the release's rows."""
        found = _replaced(self._expanded(node), self._of_release)
        for column in found.find_all(exp.Column):
            if column.table != RELEASED:
                raise _NotOfGroups
        for each in found.find_all(exp.AggFunc):
            if each.find_ancestor(exp.Window) is None:
                raise _NotOfGroups
        return found

    def _of_release(self, node: exp.Expr) -> exp.Expr | None:
        """What a key or the count is of the release's rows."""
        if levels.is_count(node) and not isinstance(node.parent, exp.Window):
            return _column(self.count)
        text = levels.text_of(node)
        for key in self.keys:
            if levels.text_of(key.node) == text:
                return _column(key.name)
        return None


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True), table=RELEASED)


def _replaced(node: exp.Expr, of: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """An expression with each part that is one of something else, the outermost first."""
    found = of(node)
    if found is not None:
        return found
    copied = node.copy()
    for name, value in node.args.items():
        if isinstance(value, exp.Expr):
            copied.set(name, _replaced(value, of))
        elif isinstance(value, list):
            parts = [_replaced(v, of) if isinstance(v, exp.Expr) else v for v in value]
            copied.set(name, parts)
    return copied


def remade(rest: exp.Expr, columns: dict[str, exp.Expr | None]) -> exp.Expr:
    """A query over a release's rows, some of whose columns are made anew of what it shows."""
    shown = [
        exp.alias_(_column(name) if node is None else _of_shown(node, name), name, quoted=True)
        for name, node in columns.items()
    ]
    made = exp.select(*shown).from_(RELEASED)
    if rest == all_rows():
        return made
    inside = exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier(RELEASED)))

    def read(node: exp.Expr) -> exp.Expr:
        is_released = isinstance(node, exp.Table) and node.name == RELEASED and not node.db
        if not is_released:
            return node
        found = inside.copy()
        if node.alias:
            found.set("alias", node.args["alias"].copy())
        return found

    return rest.copy().transform(read)


def _of_shown(node: exp.Expr, name: str) -> exp.Expr:
    return _replaced(
        node,
        lambda each: _column(name) if isinstance(each, exp.Column) and each.name == SHOWN else None,
    )
