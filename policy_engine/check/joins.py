"""What a query joins: tables of which each row of its source has one row beside it, or none.

A release reads one source, and looks others up by a key. So a join is understood where its columns
are equal to columns of the one table that has the people's rows; nobody trusts this either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from policy_engine.check.values import NotUnderstood, without_parentheses
from policy_engine.names import fold
from policy_engine.values import frozen

Columns = dict[str, tuple[str, exp.Expr]]
"""What a SELECT shows: names, folded, and as they are, and what they are of the source."""

_SAID = frozenset({"this", "side", "kind", "on", "using"})
_PREFIX = re.compile(r"^(stg|dim|fct|fact|raw|src|int|base)_+")


@frozen
class JoinItem:
    """What FROM or JOIN names: its ``columns`` written out over those of the table ``parts``.

    ``is_open``: there are others, under the names that they have in the table. ``is_plain``: its
    rows are those of the table.
    """

    alias: str
    columns: Columns
    parts: tuple[str, ...]
    is_open: bool
    is_plain: bool

    def column(self, name: str) -> exp.Expr | None:
        """What a column is of the table; None where there is none."""
        if fold(name) in self.columns:
            return self.columns[fold(name)][1]
        return exp.column(exp.to_identifier(name, quoted=True)) if self.is_open else None


@frozen
class JoinEdge:
    """A join of the ``joined`` item to the one ``to``: pairs of names, TO's column first.

    What else it asks is ``rest``; ``using`` are columns that both have and are one.
    """

    to: int
    joined: int
    on: tuple[tuple[str, str], ...]
    is_inner: bool
    rest: tuple[exp.Expr, ...] = ()
    using: tuple[str, ...] = ()

    def between(self, source: int) -> JoinEdge | None:
        """The join as one to ``source``; None where it is between two others."""
        if source == self.to:
            return self
        turned = tuple((other, own) for own, other in self.on)
        is_turned = source == self.joined and self.is_inner
        if not is_turned:
            return None
        return JoinEdge(source, self.to, turned, is_inner=True, rest=self.rest, using=self.using)

    def is_by(self, people: set[tuple[int, str]]) -> bool:
        """Whether it is by a column of ``people``, or nobody knows what tells people apart."""
        sides = ((self.to, 0), (self.joined, 1))
        return not people or any(
            (at, fold(pair[side])) in people for pair in self.on for at, side in sides
        )


@frozen
class LookedUp:
    """A table that is looked up, by pairs of the source's columns and its own.

    ``stands_for``: the column that is taken to be NULL only where there is no row, if the text
    leaves out what has none.
    """

    parts: tuple[str, ...]
    on: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    stands_for: str = ""


def edges_of(joins: list[exp.Join], items: list[JoinItem]) -> list[JoinEdge]:
    """The joins of a query, each between two of its ``items``; the first is that of FROM.

    Raises:
        NotUnderstood: one of another kind, or that is no equality of columns.
    """
    return [_edge(join, at, items) for at, join in enumerate(joins, 1)]


def _edge(join: exp.Join, at: int, items: list[JoinItem]) -> JoinEdge:
    side, kind = (str(join.args.get(each) or "").upper() for each in ("side", "kind"))
    others = [name for name, value in join.args.items() if value and name not in _SAID]
    named = ".".join(items[at].parts)
    if others or side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
        words = " ".join(filter(None, (str(join.args.get("method") or "").upper(), side, kind)))
        raise NotUnderstood(f"a {words or 'join'} JOIN of {named}".replace("join JOIN", "join"))
    asked = [*_conjuncts(join.args.get("on"))]
    pairs = [(_owner(each.name, at, items), each.name, each.name)
             for each in join.args.get("using") or ()]  # fmt: skip
    rest = []
    for each in asked:
        pair = _pair(each, at, items)
        pairs += [] if pair is None else [pair]
        rest += [each] if pair is None else []
    if len({to for to, _, _ in pairs}) != 1:
        law = "by no equality of their columns" if not pairs else "to several tables at once"
        raise NotUnderstood(f"a join of {named} {law}")
    is_inner = side != "LEFT"
    if rest and not is_inner:
        raise NotUnderstood(f"a LEFT JOIN of {named} by more than equal columns")
    on = tuple((own, other) for _, own, other in pairs)
    using = tuple(fold(each.name) for each in join.args.get("using") or ())
    return JoinEdge(pairs[0][0], at, on, is_inner, tuple(rest), using)


def _pair(node: exp.Expr, at: int, items: list[JoinItem]) -> tuple[int, str, str] | None:
    """The item that is joined to, its column and the joined one's, if an equality says so."""
    if not isinstance(node, exp.EQ):
        return None
    sides = [without_parentheses(each) for each in (node.this, node.expression)]
    if not all(isinstance(each, exp.Column) for each in sides):
        return None
    found = [(place_of(each, items[: at + 1]), each.name) for each in sides]
    found = found if found[1][0] == at else found[::-1]
    (to, own), (joined, other) = found
    return None if to is None or joined != at or to == at else (to, own, other)


def _owner(name: str, before: int, items: list[JoinItem]) -> int:
    """Which of the items before one has a column that USING names."""
    known = [at for at, each in enumerate(items[:before]) if fold(name) in each.columns]
    return (known or [at for at in range(before) if items[at].is_open] or [0])[0]


def place_of(column: exp.Expr, items: list[JoinItem]) -> int | None:
    """Of which item a column is; None where no item is known to have it.

    Raises:
        NotUnderstood: several have it, or may have it.
    """
    table = fold(column.args["table"].name) if column.args.get("table") else ""
    if table:
        own = [at for at, each in enumerate(items) if fold(each.alias) == table]
        return own[0] if len(own) == 1 else None
    name = fold(column.name)
    known = [at for at, each in enumerate(items) if name in each.columns]
    found = known or [at for at, each in enumerate(items) if each.is_open]
    if len(found) > 1:
        told = "several tables have it" if known else "no schema says which table has it"
        raise NotUnderstood(f"{column.name}: {told}; write the table's name before it")
    return found[0] if found else None


def source_of(items: list[JoinItem], edges: list[JoinEdge], people: set[tuple[int, str]]) -> int:
    """Which item has the rows that are counted: of all joins one side is in it.

    ``people`` are the columns, each of an item, that tell people apart.

    Raises:
        NotUnderstood: none has, or the one that FROM names has one row where the text has many.
    """
    fitting = [at for at in range(len(items)) if all(each.between(at) for each in edges)]
    named = set(people)
    for each in edges:  # what is equal to what tells people apart does so, too
        for own, other in each.on:
            pair = {(each.to, fold(own)), (each.joined, fold(other))}
            named |= pair if pair & people else set()
    of_people = [at for at in fitting if not people or at in {place for place, _ in named}]
    if not of_people:
        raise NotUnderstood(_why_none(items, edges, min(place for place, _ in people or {(0, "")})))
    first = of_people[0]
    for edge in filter(None, (each.between(first) for each in edges)):
        if not edge.is_by(named):
            continue  # each row looks one up, whoever it is of
        is_one, is_other_one = (
            any(_is_own_key(pair[side], items[at]) for pair in edge.on)
            for side, at in ((0, first), (1, edge.joined))
        )
        # The customers of each order are one row, and not the orders of each customer.
        if is_one and not is_other_one:
            if edge.joined not in of_people:
                many, one = (".".join(items[at].parts) for at in (edge.joined, first))
                told = f"{many} may have several rows for one of {one}; write FROM {many}"
                raise NotUnderstood(told)
            return edge.joined
    return first


def _why_none(items: list[JoinItem], edges: list[JoinEdge], people: int) -> str:
    """Why a table is not what all others are looked up from."""
    named = [".".join(each.parts) for each in items]
    for each in edges:
        if people not in (each.to, each.joined):
            return f"a join of {named[each.joined]} to {named[each.to]}, which is looked up itself"
    return f"people's rows in {named[people]}, which a LEFT JOIN looks up; write FROM it"


def _is_own_key(name: str, item: JoinItem) -> bool:
    """Whether a column is called like what the rows of its table are: ids, by their names."""
    table = _PREFIX.sub("", fold(item.parts[-1]))
    stem = re.sub(r"_?(id|key|code|no|nr)$", "", fold(name))
    return not stem or table.startswith(stem)


@frozen
class ColumnNames:
    """Which columns of ``items`` are one: by (item, name) the ``source``'s name of it.

    ``bare`` are names that are the source's if no table is named.
    """

    items: list[JoinItem]
    source: int
    same: Mapping[tuple[int, str], str]
    bare: frozenset[str]

    def place(self, column: exp.Expr, given: set[str]) -> int | None:
        """Of which item a column is; None where it is a name that is ``given`` in its SELECT."""
        if not column.args.get("table"):
            name = fold(column.name)
            if name in self.bare:
                return self.source
            if name in given and not any(name in each.columns for each in self.items):
                return None
        return place_of(column, self.items)

    def all_of(self, table: str, left: set[str]) -> Iterator[exp.Expr]:
        """The columns that a star is, of one table or of all, each once."""
        for at, item in enumerate(self.items):
            if table and fold(item.alias) != table:
                continue
            if item.is_open:
                told = f"a star of {'.'.join(item.parts)}, whose columns no schema says"
                raise NotUnderstood(f"{told}; list the columns")
            for folded, (name, _) in item.columns.items():
                is_one = (at, folded) in self.same or (at != self.source and folded in self.bare)
                if folded not in left and not is_one:
                    named = exp.to_identifier(name, quoted=True)
                    yield exp.column(named, exp.to_identifier(item.alias, quoted=True))


def written_over(
    query: exp.Select, names: ColumnNames
) -> tuple[exp.Select, Columns, dict[int, tuple[str, ...]]]:
    """A query of one item in place of several: each column by a name of its own.

    With what these names stand for, and which columns of each item are read.

    Raises:
        NotUnderstood: a column that is of several, a star of unknown columns.
    """
    query = query.copy()
    query.set("joins", None)
    query.set("expressions", [*_without_stars(query, names)])
    given = {fold(each.alias) for each in query.expressions if each.alias}
    columns: Columns = {}
    read: dict[int, dict[str, None]] = {at: {} for at in range(len(names.items))}
    for each in [*query.find_all(exp.Column)]:
        at = names.place(each, given) if each.find_ancestor(exp.Select) is query else None
        if at is None:
            continue
        name = each.name
        if (at, fold(name)) in names.same:
            at, name = names.source, names.same[at, fold(name)]
        node = names.items[at].column(name)
        if node is None:
            raise NotUnderstood(f"{'.'.join(names.items[at].parts)} has no column {name}")
        key = f"{at}.{name}"
        columns[fold(key)] = (each.name, node)
        read[at] |= dict.fromkeys(found.name for found in node.find_all(exp.Column))
        new: exp.Expr = exp.column(exp.to_identifier(key, quoted=True))
        if each.parent is query and each.arg_key == "expressions":
            new = exp.alias_(new, exp.to_identifier(each.name, quoted=True))
        each.replace(new)
    return query, columns, {at: tuple(found) for at, found in read.items()}


def _without_stars(query: exp.Select, names: ColumnNames) -> Iterator[exp.Expr]:
    """What a SELECT shows, stars as the columns that they stand for."""
    for each in query.expressions:
        star = each.this if isinstance(each, exp.Column) else each
        if not isinstance(star, exp.Star):
            yield each
            continue
        if any(star.args.get(name) for name in ("replace", "rename")):
            raise NotUnderstood("a star with REPLACE or RENAME over a join")
        table = fold(each.args["table"].name) if each.args.get("table") else ""
        yield from names.all_of(table, {fold(each.name) for each in star.args.get("except_") or ()})


def _conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    inner = None if node is None else without_parentheses(node)
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.this)
        yield from _conjuncts(inner.expression)
    elif inner is not None:
        yield inner
