"""A stranger's query, its columns written out over those of the one table that it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Protocol

import sqlglot
from sqlglot import exp

from policy_engine.check import laws
from policy_engine.check.findings import Breach
from policy_engine.check.joins import (
    ColumnNames,
    Columns,
    JoinEdge,
    JoinItem,
    LookedUp,
    edges_of,
    place_of,
    source_of,
    written_over,
)
from policy_engine.check.recodings import bare, columns_in
from policy_engine.check.unions import merged
from policy_engine.check.values import NotUnderstood, point_of, without_parentheses
from policy_engine.check.words import number_of
from policy_engine.compile.catalog import fresh
from policy_engine.engines import ENGINES
from policy_engine.engines.types import parser_of
from policy_engine.kernel.sources import Relation
from policy_engine.names import fold
from policy_engine.values import frozen

_HASH = re.compile(r"sha|md5|hash|fnv|crc", re.IGNORECASE)
_HEX = re.compile(r"(?:0x|\\x)?([0-9a-fA-F]{1,64})")
_SECRET = re.compile(r"salt|secret", re.IGNORECASE)


class No(Exception):
    """A text that means no release: the breach of a law, and where."""

    def __init__(self, breach: Breach, at: exp.Expr | None = None) -> None:
        self.breach, self.at = breach, at
        super().__init__(breach.found)


@frozen
class ParsedText:
    """The query of a text, the table that it makes, and what of the statement is left out."""

    query: exp.Select
    target: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


def parsed(text: str, engine: str) -> ParsedText:
    """The one statement of a text."""
    whole = statement_of(text, engine)
    query, target, missed, taken = _opened(whole)
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        raise No(laws.IS_UNDERSTOOD.broken_by(type(query).__name__.upper()))
    return ParsedText(query, target, missed, taken)


def statement_of(text: str, engine: str) -> exp.Expr:
    """The one statement of a text as it is parsed, its names as the engine reads them."""
    try:
        found = [each for each in sqlglot.parse(text, read=parser_of(engine)) if each]
    except Exception:  # the parser raises more than errors of its own where a text is odd
        found = []
    statements = [each for each in found if not isinstance(each, exp.Semicolon)]
    if not statements:
        raise No(laws.IS_SQL.broken_by("text that does not parse"))
    if len(statements) > 1:
        raise No(laws.STANDS_ALONE.broken_by(f"{len(statements)} statements"))
    return statements[0].transform(partial(_spelled, engine))


Told = tuple[str, ...]


def _opened(whole: exp.Expr) -> tuple[exp.Expr, Told, Told, Told]:
    """The query in a statement, the table it makes, what is left out, and taken for granted."""
    query = whole.args.get("expression")
    if isinstance(whole, exp.Insert) and query is not None:
        return query, (), ("INSERT: left out; the rows go where you put them",), ()
    if isinstance(whole, exp.Copy) and isinstance(whole.this, exp.Subquery):
        return whole.this, (), ("COPY: left out; the rows go where you put them",), ()
    if not isinstance(whole, exp.Create) or query is None:
        return whole, (), (), ()
    named, missed = whole.this, []
    if isinstance(named, exp.Schema):
        named = named.this
        missed.append("the columns that the table is given: those of the query are its own")
    if whole.kind == "VIEW":
        missed.append("CREATE VIEW: a table is made because a view draws anew at every read")
    if whole.args.get("properties"):
        missed.append("CREATE TABLE: its properties; left out")
    words = {"replace": "OR REPLACE", "exists": "IF NOT EXISTS"}
    target = tuple(part.name for part in named.parts)
    taken = [
        f"there is no {'.'.join(target)} yet: the table is made without {word}"
        for key, word in words.items()
        if whole.args.get(key)
    ]
    return query, target, tuple(missed), tuple(taken)


def _spelled(engine: str, node: exp.Expr) -> exp.Expr:
    """A name without quotes as the engine reads it."""
    folds = ENGINES[engine].folds
    if folds and isinstance(node, exp.Identifier) and not node.quoted:
        node.set("this", node.name.lower() if folds == "lower" else node.name.upper())
    return node


@frozen
class Level:
    """What a SELECT shows, and what its rows are.

    ``keys`` are what it is grouped by, None where its rows are the source's; ``has_threshold``
    that small groups are gone, and ``is_base`` that it is the table itself. ``is_open``: there may
    be other columns of the table, under their own names.
    """

    columns: Columns
    keys: tuple[exp.Expr, ...] | None = None
    has_threshold: bool = False
    is_base: bool = False
    is_open: bool = False


class Relations(Protocol):
    """What is known of the tables and views that a text names."""

    def columns_of(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of a table; none where they are not known."""

    def view_of(self, parts: tuple[str, ...]) -> str:
        """The text of a view; empty where it is none."""

    def is_unique(self, parts: tuple[str, ...], names: tuple[str, ...]) -> bool | None:
        """Whether columns tell the rows of a table apart; None where that is not known."""


Steps = dict[str, tuple[exp.CTE, "Steps"]]
"""The named queries that a query sees, each with those that it sees itself."""


@frozen
class Condition:
    """A condition of the source's columns: ``is_of_all`` if it is asked before a row is chosen."""

    node: exp.Expr
    is_of_all: bool = False


class Query:
    """One query, read through; ``missed`` is not as in the text, ``taken`` is taken for granted."""

    def __init__(
        self, statement: ParsedText, engine: str, relations: Relations | None = None
    ) -> None:
        self._relations = relations
        self.query, self.engine, self.target = statement.query, engine, statement.target
        self.missed: list[str] = list(statement.missed)
        self.taken: list[str] = list(statement.taken)
        self.samples: list[exp.TableSample] = []
        self.bases: list[exp.Table] = []
        self.looked_up: list[LookedUp] = []
        self.firsts: list[tuple[exp.Expr, list[exp.Expr]]] = []  # DISTINCT ON, and its ORDER BY
        self.thresholds: list[int] = []
        self.unnamed: set[str] = set()
        self._asked: list[Condition] = []
        self._chosen_at = 0  # how many conditions were asked before a row was chosen
        level = self._level(self.query, {}, 0)
        self.source = self._source()
        self.columns = level.columns
        self.taken += [
            f"a column without a name is {name}"
            for name, _ in level.columns.values()
            if name in self.unnamed
        ]
        self.conditions = [
            Condition(each.node, at < self._chosen_at) for at, each in enumerate(self._asked)
        ]
        self._tell_of_groups(level)

    def _source(self) -> Relation:
        if not self.bases:
            raise No(laws.READS_A_TABLE.broken_by("a query of no table"))
        names = {tuple(part.name for part in table.parts) for table in self.bases}
        if len(self.bases) > 1:
            found = f"{len(self.bases)} of them: {', '.join(sorted('.'.join(n) for n in names))}"
            raise No(
                laws.READS_ONE_RELATION.broken_by(f"{found}; read one table, once"), self.bases[-1]
            )
        return self.relation(next(iter(names)))

    def relation(self, parts: tuple[str, ...]) -> Relation:
        """The table of a name, in the engine's own schema where it says none."""
        if len(parts) == 1:
            parts = (ENGINES[self.engine].home or "main", *parts)
            self.taken.append(f"{parts[1]} is {'.'.join(parts)}")
        return Relation(parts)

    def _level(self, query: exp.Expr, steps: Steps, depth: int) -> Level:
        """What a query shows, its expressions written out over the source's columns."""
        while isinstance(query, exp.Subquery) and not isinstance(query.this, exp.Table):
            steps = self._seen(query, steps)
            query = query.this
        if isinstance(query, exp.SetOperation):
            query = self._one(query, self._seen(query, steps)) or query
        if isinstance(query, exp.SetOperation) or depth > _DEEPEST:
            raise No(laws.READS_ONE_RELATION.broken_by("a union; read one table, once"), query)
        if not isinstance(query, exp.Select):
            raise No(laws.IS_UNDERSTOOD.broken_by(type(query).__name__.upper()), query)
        steps = self._seen(query, steps)
        clause = query.args.get("from_")
        joins: list[exp.Join] = []
        for each in query.args.get("joins") or ():
            if isinstance(each.this, exp.Table | exp.Subquery):
                joins.append(each)
            else:
                self.missed.append(f"{short(each).strip()}: left out")
        if clause is not None and joins:
            query, below = self._joined(query, joins, steps, depth)
        else:
            below = Level({}) if clause is None else self._item(clause.this, steps, depth)
        self._sampled(query, below)
        return self._selected(query, below)

    # What is joined

    def _joined(
        self, query: exp.Select, joins: list[exp.Join], steps: Steps, depth: int
    ) -> tuple[exp.Select, Level]:
        """A query of one table that has columns of others beside its rows, and what it reads."""
        before = len(self.bases)
        read = [query.args["from_"].this, *(each.this for each in joins)]
        items = [self._joined_item(each, steps, depth) for each in read]
        try:
            return self._looked_up(query, joins, items, before)
        except NotUnderstood as why:
            raise No(laws.READS_ONE_RELATION.broken_by(f"{why}"), joins[0].this) from None

    def _joined_item(self, node: exp.Expr, steps: Steps, depth: int) -> JoinItem:
        def rows() -> tuple[int, ...]:
            lists = (self._asked, self.samples, self.firsts, self.thresholds, self.looked_up)
            return tuple(len(each) for each in lists)

        bases, known = len(self.bases), rows()
        level = self._item(node, steps, depth)
        read = self.bases[bases:]
        alias = node.alias_or_name
        if len(read) != 1 or level.keys is not None:
            found = f"{alias or 'a query'}, which is no table but a query of groups"
            raise No(laws.READS_ONE_RELATION.broken_by(f"a join with {found}"), node)
        are_columns = all(isinstance(each, exp.Column) for _, each in level.columns.values())
        parts = tuple(part.name for part in read[0].parts)
        is_plain = rows() == known and are_columns
        return JoinItem(alias, level.columns, parts, level.is_open, is_plain)

    def _looked_up(
        self, query: exp.Select, joins: list[exp.Join], items: list[JoinItem], before: int
    ) -> tuple[exp.Select, Level]:
        query, edges = query.copy(), edges_of(joins, items)
        bare = frozenset(name for each in edges for name in each.using)
        people = _with_people(query, items, bare)
        source = source_of(items, edges, people)
        turned = [edge for each in edges if (edge := each.between(source)) is not None]
        known = {fold(name) for name in self.columns_of(items[source].parts)}
        # What is equal to the source's column is that, if it tells people apart or has its name.
        same = {
            (each.joined, fold(other)): own
            for each in turned if each.is_inner
            for own, other in each.on
            if fold(other) in {fold(own), *known} or each.is_by(people)
        }  # fmt: skip
        names = ColumnNames(items, source, same, bare)
        for each in turned:
            for node in each.rest:
                query.where(node, copy=False)
        query, columns, read = written_over(query, names)
        own = items[source]
        taken = {fold(name) for name in (*read[source], *self.columns_of(own.parts))}
        taken |= {fold(name) for each in self.looked_up for name in each.names}
        taken |= {fold(mine) for each in turned for mine, _ in each.on}
        earlier = {own.parts, *(each.parts for each in self.looked_up)}
        for each in turned:
            item = items[each.joined]
            if not item.is_plain or item.parts in earlier:
                told = "of its own rows" if item.parts in earlier else "of rows that are chosen"
                raise NotUnderstood(f"a join of {'.'.join(item.parts)}, {told}")
            beside, asked = _beside(each, own, item, list(read[each.joined]), taken)
            if asked:
                is_null = exp.Is(this=_column(asked), expression=exp.Null())
                self._asked.append(Condition(exp.Not(this=is_null)))
            taken |= set(map(fold, beside.names))
            earlier.add(item.parts)
            self.looked_up.append(beside)
        self.bases[before:] = self.bases[before + source : before + source + 1]
        return query, Level(columns)

    def columns_of(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of a table; none where they are not known."""
        return () if self._relations is None else self._relations.columns_of(parts)

    def is_unique(self, parts: tuple[str, ...], names: tuple[str, ...]) -> bool | None:
        """Whether columns tell the rows of a table apart; None where that is not known."""
        return None if self._relations is None else self._relations.is_unique(parts, names)

    def _one(self, union: exp.Expr, steps: Steps) -> exp.Select | None:
        """The parts of one table as one query of it."""

        def named(name: str) -> exp.Expr | None:
            step = steps.get(fold(name))
            return None if step is None else step[0].this

        return merged(union, named)

    def _seen(self, query: exp.Expr, steps: Steps) -> Steps:
        """The named queries that a query sees: each sees those before it."""
        named, clause = dict(steps), query.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            named[fold(cte.alias)] = (cte, dict(named))
        return named

    def _item(self, item: exp.Expr, steps: Steps, depth: int) -> Level:
        """What FROM names: a query, by name or in parentheses, or the table that is read."""
        alias, below = item.args.get("alias"), None
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
            below = self._item(item.this, steps, depth)
        elif isinstance(item, exp.Subquery):
            below = self._level(item.this, self._seen(item, steps), depth + 1)
        elif isinstance(item, exp.Table) and not item.db and fold(item.name) in steps:
            cte, seen = steps[fold(item.name)]
            below = _renamed(self._level(cte.this, seen, depth + 1), cte.args.get("alias"))
        elif isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            below = self._table(item, depth)
        if below is None:
            return Level({})
        self._sampled(item, below)
        return _renamed(below, alias)

    def _table(self, item: exp.Table, depth: int) -> Level:
        """A table of the source, or what a view of it shows."""
        parts = tuple(part.name for part in item.parts)
        if self._relations is not None and (text := self._relations.view_of(parts)):
            query, names = _viewed(text, self.engine)
            level = self._level(query, {}, depth + 1)
            self.taken.append(f"{'.'.join(parts)} is the view that the schema says")
            return _named_anew(level, names)
        self.bases.append(item)
        known = self.columns_of(parts)
        columns = {fold(name): (name, _column(name)) for name in known}
        return Level(columns, is_base=True, is_open=not known)

    def _sampled(self, node: exp.Expr, below: Level) -> None:
        sample = node.args.get("sample")
        if sample is not None:
            if below.keys is not None or self.samples:
                raise No(laws.IS_SAMPLED.broken_by("a sample of groups, or of a sample"), sample)
            self.samples.append(sample)

    def _selected(self, query: exp.Select, below: Level) -> Level:
        """What a SELECT makes of what it reads."""
        windows = {fold(each.name): each for each in query.args.get("windows") or ()}
        found: Columns = {}
        is_open = False
        for each in query.expressions:
            node = each.unalias()
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
                found |= _starred(node, below)
                is_open = below.is_open
            else:
                is_named = each.alias or isinstance(node, exp.Column)
                given = (other.alias_or_name for other in query.expressions)
                name = each.alias_or_name if is_named else fresh("n", (*given, *found))
                self.unnamed |= set() if is_named else {name}
                # A neighbour's name is its expression, unless the source has a column of it.
                over = below.columns if not below.is_base else {}
                scope = {name: each for name, each in found.items() if _is_used(node, name)} | over
                if below.is_base:
                    scope = {n: each for n, each in scope.items() if not _reads(each[1], n)}
                found[fold(name)] = (name, _over(node, scope, windows))
        own = [each.unalias() for each in query.expressions]
        is_grouped = any(query.args.get(name) for name in ("group", "having"))
        is_grouped = is_grouped or any(map(_aggregates, own))
        known = len(self.thresholds)
        self._ask(
            query.args.get("where"), below.columns, windows, is_grouped=below.keys is not None
        )
        keys = below.keys
        has_threshold = below.has_threshold or len(self.thresholds) > known
        if any(each.find(exp.RowNumber) for each in (*own, query.args.get("qualify")) if each):
            self._chosen_at = len(self._asked)
        if is_grouped:
            if has_threshold:
                self.missed.append("groups are added up behind the threshold; left out")
            if below.keys is not None:
                found = {n: (name, _of_groups(node)) for n, (name, node) in found.items()}
            keys, has_threshold = self._keys(query, below, found), False
        known = len(self.thresholds)
        is_of_groups = is_grouped or below.keys is not None
        self._ask(query.args.get("having"), found | below.columns, windows, is_grouped=is_of_groups)
        self._ask(
            query.args.get("qualify"), below.columns | found, windows, is_grouped=is_of_groups
        )
        self._first_rows(query, below.columns | found)
        has_threshold = has_threshold or len(self.thresholds) > known
        return Level(found, keys, has_threshold, is_open=is_open)

    def _ask(
        self, clause: exp.Expr | None, scope: Columns, windows: Windows, *, is_grouped: bool
    ) -> None:
        for each in () if clause is None else conjuncts(clause.this):
            node = _over(each, scope, windows)
            if is_grouped and draws(node):
                raise No(laws.IS_SAMPLED.broken_by("a sample of groups"), each)
            if _aggregates(node):
                self._compare_count(node)
            else:
                self._asked.append(Condition(node))

    def _compare_count(self, node: exp.Expr) -> None:
        """A condition of a count: a threshold, or told."""
        least = least_count(node)
        if least is None:
            self.missed.append(f"the condition {short(node)}; left out")
            return
        self.thresholds.append(least)
        if isinstance(without_parentheses(node), exp.Between):
            self.missed.append(f"groups above the end of {short(node)} are shown, too")

    def _keys(self, query: exp.Select, below: Level, found: Columns) -> tuple[exp.Expr, ...]:
        """What a SELECT is grouped by, written out."""
        group = query.args.get("group")
        shown = [node for _, node in found.values()]
        plain = tuple(node for node in shown if not _aggregates(node))
        if group is None:
            return ()
        if group.args.get("all"):
            return plain
        keys: list[exp.Expr] = []
        for name in ("rollup", "cube", "grouping_sets"):
            if group.args.get(name):
                self.missed.append(f"{name.upper().replace('_', ' ')}: groups of all columns alone")
        for each in terms_of(group.expressions):
            if isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets):
                self.missed.append(f"{short(each)}: groups of all columns alone")
            elif isinstance(each, exp.Literal) and not each.is_string:
                keys += shown[int(each.name) - 1 : int(each.name)]
            else:
                keys.append(self._key(each, below, found))
        return tuple(keys)

    def _key(self, node: exp.Expr, below: Level, found: Columns) -> exp.Expr:
        own = found.get(fold(node.name)) if isinstance(node, exp.Column) else None
        if own is not None and fold(node.name) not in below.columns:
            # An engine takes a column of the source before a name that is given beside it.
            hides = below.is_base and _reads(own[1], fold(node.name))
            if not hides or text_of(own[1]) == text_of(node):
                return own[1]
            self.missed.append(
                f"GROUP BY {node.name} is of the column, not of what is shown as {node.name}"
            )
            return own[1]
        return _over(node, below.columns)

    def _first_rows(self, query: exp.Select, scope: Columns) -> None:
        distinct, order = query.args.get("distinct"), query.args.get("order")
        if distinct is not None and distinct.args.get("on") is not None:
            terms = order.expressions if order is not None else []
            on = _over(distinct.args["on"], scope)
            self.firsts.append((on, [_over(each, scope) for each in terms]))
            self._chosen_at = len(self._asked)
        elif distinct or any(query.args.get(name) for name in ("limit", "offset", "fetch")):
            self.missed.append("LIMIT or DISTINCT: a release shows all groups of at least k")

    def _tell_of_groups(self, level: Level) -> None:
        """What is grouped by and not shown makes other groups."""
        shown = [text_of(node) for _, node in level.columns.values()]
        for key in level.keys or ():
            if columns_in(key) and text_of(key) not in shown:
                self.missed.append(f"grouped by {short(key)}, which is not shown; left out")


def _viewed(text: str, engine: str) -> tuple[exp.Expr, list[str]]:
    """The query of a view, and the names that it gives its columns, if it does."""
    whole = sqlglot.parse_one(text, read=parser_of(engine)).transform(partial(_spelled, engine))
    if not isinstance(whole, exp.Create):
        return whole, []
    named = whole.this.expressions if isinstance(whole.this, exp.Schema) else ()
    return whole.expression, [each.name for each in named]


def _plain(item: JoinItem, name: str) -> str:
    """The column of a table by which it is joined."""
    node = item.column(name)
    if not isinstance(node, exp.Column):
        raise NotUnderstood(f"a join by {name}, which is no column of {'.'.join(item.parts)}")
    return str(node.name)


def _beside(
    edge: JoinEdge, own: JoinItem, item: JoinItem, found: list[str], taken: set[str]
) -> tuple[LookedUp, str]:
    """A joined table as one that is looked up, and the column of it that no row without one has.

    An inner join leaves out the rows of ``own`` that have none beside them: that is asked of a
    column of its own key, or else of one that is read. A left join asks nothing.
    ``found``: the columns of it that are read; ``taken``: the names of the other tables' columns.

    Raises NotUnderstood where no column can be asked, or a name is one of ``taken``.
    """
    on = tuple((_plain(own, mine), _plain(item, other)) for mine, other in edge.on)
    asked = stands_for = ""
    if edge.is_inner:
        key = next((other for _, other in on if fold(other) not in taken), "")
        stands_for = "" if key else next(iter(found), "")
        asked = key or stands_for
        if not asked:
            told = f"of which no column is read, and {on[0][1]} is called like one of"
            told += f" {'.'.join(own.parts)}; show a column of it, or leave the join out"
            raise NotUnderstood(f"a join of {'.'.join(item.parts)}, {told}")
        found = list(dict.fromkeys((*found, asked)))
    if same_named := [name for name in found if fold(name) in taken]:
        told = f"{'.'.join(item.parts)}.{same_named[0]}, which is called like a column of"
        raise NotUnderstood(f"{told} another table; give it another name there")
    return LookedUp(item.parts, on, tuple(found), stands_for), asked


def _with_people(
    query: exp.Select, items: list[JoinItem], bare: frozenset[str]
) -> set[tuple[int, str]]:
    """The columns, each of an item, whose values a query counts, samples or orders rows by."""
    named: list[exp.Expr] = [each for each in query.find_all(exp.Func) if is_hash(each)]
    named += [each for each in query.find_all(exp.Distinct) if isinstance(each.parent, exp.Count)]
    named += [part for each in query.find_all(exp.Window) if each.find(exp.RowNumber)
              for part in each.args.get("partition_by") or ()]  # fmt: skip
    columns = [
        each for node in named for each in node.find_all(exp.Column)
        if each.find_ancestor(exp.Select) is query and not _SECRET.search(each.name)
        and (each.table or fold(each.name) not in bare)
    ]  # fmt: skip
    return {(at, fold(each.name)) for each in columns if (at := place_of(each, items)) is not None}


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


Windows = dict[str, exp.Expr]
_DEEPEST = 50


def _renamed(level: Level, alias: exp.Expr | None) -> Level:
    """A level under the names that an alias lists."""
    names = [] if alias is None else [each.name for each in alias.args.get("columns") or ()]
    return _named_anew(level, names)


def _named_anew(level: Level, names: list[str]) -> Level:
    pairs = zip(names, level.columns.values(), strict=False)
    if not names or level.is_base:
        return level
    return replace(level, columns={fold(name): (name, node) for name, (_, node) in pairs})


def _starred(star: exp.Expr, below: Level) -> Columns:
    """The columns of a star, without those that it leaves out, and with those that it replaces."""
    node = star if isinstance(star, exp.Star) else star.this
    if not isinstance(node, exp.Star):
        return below.columns
    left = {fold(each.name) for each in node.args.get("except_") or ()}
    found = {name: each for name, each in below.columns.items() if name not in left}
    for each in node.args.get("replace") or ():
        found[fold(each.alias)] = (each.alias, _over(each.unalias(), below.columns))
    for each in node.args.get("rename") or ():
        if fold(each.name) in found:
            found[fold(each.alias)] = (each.alias, found.pop(fold(each.name))[1])
    return found


def terms_of(terms: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The terms of a GROUP BY, one by one."""
    for each in terms:
        inner = without_parentheses(each)
        if isinstance(inner, exp.Tuple):
            yield from terms_of(inner.expressions)
        else:
            yield inner


def _reads(node: exp.Expr, name: str) -> bool:
    return any(fold(each) == name for each in columns_in(node))


def _is_used(node: exp.Expr, name: str) -> bool:
    return any(fold(each.name) == name and not each.table for each in node.find_all(exp.Column))


def text_of(node: exp.Expr) -> str:
    """An expression without what says only how it is written."""

    def plain(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column):
            return exp.column(fold(each.name))
        return without_parentheses(each) if isinstance(each, exp.Paren) else each

    return str(node.copy().transform(plain).sql(comments=False))


def _aggregates(node: exp.Expr) -> bool:
    """Whether an expression is of a group, and not of a row."""
    return any(each.find_ancestor(exp.Window) is None or not isinstance(each.parent, exp.Window)
               for each in node.find_all(exp.AggFunc))  # fmt: skip


def _of_groups(node: exp.Expr) -> exp.Expr:
    """An expression of rows that are groups: what counts them counts no people."""

    def named(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Count) and not isinstance(each.parent, exp.Sum):
            return exp.Max(this=exp.column("groups"))
        return each

    return node.copy().transform(named)


def _over(node: exp.Expr, below: Columns, windows: Windows | None = None) -> exp.Expr:
    """An expression with each column written out as what it is below, and each named window."""

    def written(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column) and fold(each.name) in below:
            return below[fold(each.name)][1].copy()
        if isinstance(each, exp.Column) and each.table:
            return exp.column(each.this.copy())
        named = each.args.get("alias") if isinstance(each, exp.Window) else None
        if named is not None and windows and fold(named.name) in windows:
            own = windows[fold(named.name)]
            each.set("alias", None)
            for part in ("partition_by", "order"):
                given = own.args.get(part)
                copied = [p.copy() for p in given] if isinstance(given, list) else given
                each.set(part, copied)
        return each

    return node.copy().transform(written)


def is_hash(node: exp.Expr) -> bool:
    """Whether a node is a function that hashes."""
    named = str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__
    return _HASH.search(named) is not None


def keys_in(node: exp.Expr) -> list[str]:
    """The columns of an expression that are no secret."""
    return [name for name in columns_in(node) if not _SECRET.search(name)]


def is_count(node: exp.Expr) -> bool:
    """Whether a released column is the number of the rows of its group."""
    node = without_parentheses(node)
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.NUMERIC_TYPES):
        return is_count(node.this)
    if isinstance(node, exp.Anonymous):
        return fold(node.name) == "count_star"
    if isinstance(node, exp.Count):
        counted = node.this
        return counted is None or isinstance(counted, exp.Star) or point_of(counted) is not None
    return isinstance(node, exp.Sum) and (is_count(node.this) or point_of(node.this) == 1)


def counted(node: exp.Expr) -> tuple[str, bool] | None:
    """The one column whose values a released column counts, and whether each once."""
    node = without_parentheses(node)
    if not isinstance(node, exp.Count) or node.this is None:
        return None
    is_distinct = isinstance(node.this, exp.Distinct)
    terms = node.this.expressions if is_distinct else [node.this, *node.expressions]
    inner = without_parentheses(terms[0])
    is_column = len(terms) == 1 and isinstance(inner, exp.Column)
    return (inner.name, is_distinct) if is_column else None


_DENIED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT,
}  # fmt: skip
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip


def least_count(node: exp.Expr, *, is_denied: bool = False) -> int | None:
    """The k of a condition of a count.

    >>> least_count(sqlglot.parse_one("NOT COUNT(*) < 4 * 5")), least_count(exp.column("n"))
    (20, None)
    """
    node = without_parentheses(node)
    if isinstance(node, exp.Not):
        return least_count(node.this, is_denied=not is_denied)
    if isinstance(node, exp.Between) and not is_denied:
        return least_count(exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()))
    if not isinstance(node, tuple(_DENIED)):
        return None
    kind, count, bound = type(node), node.this, node.expression
    if not _counts(count):
        kind, count, bound = _MIRRORED[kind], bound, count
    kind = _DENIED[kind] if is_denied else kind
    least = _fraction(bound)
    if not _counts(count) or least is None or kind not in (exp.GT, exp.GTE):
        return None
    is_whole = least == int(least)
    return int(least) + (not is_whole or kind is exp.GT)


def _counts(node: exp.Expr) -> bool:
    return is_count(node) or counted(node) is not None


def rate_of(node: exp.Expr) -> Decimal | None:
    """The probability that a condition of a hash or a random number has, if it says one."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Not):
        found = rate_of(node.this)
        return None if found is None else 1 - found
    if isinstance(node, exp.Between):
        least = _fraction(node.args["low"])
        return rate_of(exp.LTE(this=node.this, expression=node.args["high"])) if not least else None
    if not isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ | exp.In):
        return None
    one, other = node.this, node.args.get("expression")
    if other is not None and draws(other):
        drawn, bound, is_below = other, one, isinstance(node, exp.GT | exp.GTE)
    else:
        drawn, bound, is_below = one, other, isinstance(node, exp.LT | exp.LTE)
    mod = drawn.find(exp.Mod)
    if mod is not None and _fraction(mod.expression):
        return _of_remainders(node, mod, drawn, bound, is_below)
    share = None if bound is None or isinstance(node, exp.EQ | exp.In) else _share(drawn, bound)
    return share if is_below or share is None else 1 - share


def draws(node: exp.Expr) -> bool:
    """Whether an expression is of a random number or of a hash."""
    return bool(node.find(exp.Rand)) or any(is_hash(each) for each in node.find_all(exp.Func))


def _of_remainders(
    node: exp.Expr, mod: exp.Mod, drawn: exp.Expr, bound: exp.Expr | None, is_below: bool
) -> Decimal | None:
    """The share of the remainders of a division that meet a condition."""
    whole = _fraction(mod.expression)
    if isinstance(node, exp.EQ | exp.In):
        kept = node.expressions if isinstance(node, exp.In) else [bound]
        return len(kept) / whole if whole and None not in map(_fraction, kept) else None
    limit = None if bound is None else _fraction(bound)
    # What the remainder is divided by before it is compared.
    outer = drawn.find(exp.Div)
    scale = _fraction(outer.expression) if outer is not None and outer.find(exp.Mod) else Decimal(1)
    if limit is None or scale is None or whole is None:
        return None
    is_counted = isinstance(node, exp.LTE | exp.GT) == is_below and scale == 1
    share = (limit * scale + is_counted) / whole
    return share if is_below else 1 - share


def _share(drawn: exp.Expr, bound: exp.Expr) -> Decimal | None:
    """The share of random numbers, or of hashes in hexadecimal digits, that are below a bound."""
    texts = [each.name for each in bound.find_all(exp.Literal) if each.is_string]
    texts += [each.name for each in bound.find_all(exp.HexString)]
    digits = max(
        (match[1] for text in texts if (match := _HEX.fullmatch(text))), key=len, default=""
    )
    if digits:
        return Decimal(int(digits, 16)) / Decimal(16 ** len(digits))
    limit = _fraction(bound)
    if drawn.find(exp.Rand) is None or limit is None:
        return None
    times = bare(drawn)
    if isinstance(times, exp.Mul):
        scales = [found for side in (times.this, times.expression) if (found := _fraction(side))]
        return limit / scales[0] if scales else None
    return limit


def _fraction(node: exp.Expr | None) -> Decimal | None:
    """The value of a number, or of one divided by another."""
    inner = None if node is None else bare(node)
    if isinstance(inner, exp.Div | exp.Mul):
        top, bottom = _fraction(inner.this), _fraction(inner.expression)
        if top is None or not bottom:
            return None
        return top * bottom if isinstance(inner, exp.Mul) else top / bottom
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return number_of(inner.name)
    return None


def short(node: exp.Expr) -> str:
    """An expression as a line quotes it."""
    text = node.sql(comments=False)
    return text if len(text) <= 60 else text[:57] + "..."


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND chain, in order, without parentheses and IS TRUE."""
    stack = [] if node is None else [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.Paren):
            stack.append(current.this)
        elif isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        elif (
            isinstance(current, exp.Is)
            and current.expression == exp.true()
            and not current.args.get("negate")
        ):
            stack.append(current.this)
        else:
            yield current
