"""The steps from a policy to a query, each a function from draft to draft.

A draft is a chain of named queries, each reading the one before it and no other, so that the
sample is drawn once and read once. Recodes get their released names in a query of their own:
GROUP BY then cannot mean the raw column of the same name (sampling.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from sqlglot import exp

from policy_engine.compile.catalog import KEPT_AS_TEXT, Column, Kind, Table, fresh
from policy_engine.compile.reading import ReadColumn, read_columns
from policy_engine.compile.recodes import recode
from policy_engine.dialects.base import Dialect
from policy_engine.errors import PolicyError, Problem, UsageError
from policy_engine.policy.recodings import (
    Bins,
    Keep,
    Lookup,
    Recoding,
    Round,
    Truncate,
)
from policy_engine.policy.resolve import Policy
from policy_engine.policy.tree import path_text
from policy_engine.syntax.readings import READINGS

#: Grouping raw columns first pays where raw tuples repeat: where the values that the policy
#: itself names span at most this many combinations. A rule over the policy, not the data.
RAW_FIRST_COMBINATIONS = 1 << 16


@dataclass(frozen=True)
class Draft:
    """A query in the making: the named queries so far, and the query that reads the last.

    ``secret`` is a query for the sample's secret, where no connection brings it.
    """

    policy: Policy
    table: Table
    dialect: Dialect
    secret: exp.Expr | None = None
    steps: tuple[tuple[str, exp.Select], ...] = ()
    query: exp.Select | None = None
    rank: str | None = None
    count: str | None = None

    def then(
        self, name: str, query: exp.Select, rank: str | None = None, count: str | None = None
    ) -> Draft:
        """The draft with one more named query."""
        return replace(
            self,
            steps=(*self.steps, (name, query)),
            rank=rank or self.rank,
            count=count or self.count,
        )

    @property
    def last(self) -> exp.Table:
        """The query before, as a relation to read."""
        return exp.Table(this=exp.to_identifier(self.steps[-1][0], quoted=True))


Stage = Callable[[Draft], Draft]


def _quoted(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _source(draft: Draft) -> exp.Expr:
    if draft.table.path is not None and not draft.table.parts:
        by_row = draft.policy.source.key is None or _any_row_will_do(draft)
        numbered = draft.policy.method == "keyed" and by_row
        return draft.dialect.file(draft.table.files, numbered=numbered)
    names = [exp.to_identifier(part, quoted=True) for part in draft.table.parts]
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(names), strict=False)))


def _inputs(draft: Draft) -> list[str]:
    """The source columns that are recoded, as the catalog spells them, each once."""
    read = read_columns(draft.policy, draft.table).values()
    return list(dict.fromkeys(found.source.name for found in read))


def sample(draft: Draft) -> Draft:
    """Keep every unit independently with the policy's rate, once."""
    policy, dialect = draft.policy, draft.dialect
    source = _source(draft)
    items: list[exp.Expr] = [_quoted(name) for name in _inputs(draft)]
    query = exp.select(*(items or [exp.Literal.number(1)]))
    if policy.method == "native":
        source.set("sample", dialect.native_sample(policy.rate))
        return draft.then("sampled", query.from_(source))
    is_file = isinstance(source.this, exp.ReadParquet)
    key = policy.source.key
    unit = _spelled(key, draft) if key else dialect.row_number(is_file=is_file)
    kept = dialect.in_sample(_quoted(unit), policy.rate, draft.secret)
    query = query.from_(source).where(kept, copy=False)
    if not policy.source.has_many_rows:
        return draft.then("sampled", query)
    return _any_row(draft, query) if _draws(draft) else _first_row(draft, query)


def _draws(draft: Draft) -> bool:
    """Whether a row is drawn: where all are alike in what is read there is nothing to draw."""
    return draft.policy.source.draws_a_row and not _any_row_will_do(draft)


def _any_row(draft: Draft, query: exp.Select) -> Draft:
    """Number each person's own rows, and again by a hash of who and which; the first is kept."""
    key = _spelled(str(draft.policy.source.key), draft)
    inputs = _inputs(draft)
    if key not in inputs:
        query = query.select(_quoted(key), copy=False)
    place = fresh("policy_engine_place", [column.name for column in draft.table.columns])
    draft = _numbered(draft, "sampled", query, place, _terms(draft))
    hashed = draft.dialect.row_hash(_quoted(key), _quoted(place), draft.secret)
    terms = [draft.dialect.ordered_plainly(node) for node in (hashed, _quoted(place))]
    chosen = exp.select(*map(_quoted, inputs)).from_(draft.last)
    rank = fresh("policy_engine_rank", [column.name for column in draft.table.columns])
    return _numbered(draft, "chosen", chosen, rank, terms)


def _first_row(draft: Draft, query: exp.Select) -> Draft:
    """Number each person's own rows in the policy's order; the next step keeps the first."""
    rank = fresh("policy_engine_rank", [column.name for column in draft.table.columns])
    return _numbered(draft, "sampled", query, rank, _terms(draft))


def _terms(draft: Draft) -> list[exp.Expr]:
    """The policy's order of a person's rows, and behind it what tells them apart."""
    source = draft.policy.source
    order = [*source.order_by, *((name, "asc") for name in _tie_breakers(draft))]
    return [
        term
        for name, way in order
        for term in draft.dialect.ordered(
            _by_bytes(name, draft), descending=way == "desc", text=_is_text(name, draft)
        )
    ]


def _numbered(
    draft: Draft, name: str, query: exp.Select, rank: str, terms: list[exp.Expr]
) -> Draft:
    """``query`` with the number of each row among its person's, in the order of ``terms``."""
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[_quoted(_spelled(str(draft.policy.source.key), draft))],
        order=exp.Order(expressions=terms),
    )
    query = query.select(exp.alias_(window, rank, quoted=True), copy=False)
    return draft.then(name, query, rank=rank)


def _tie_breakers(draft: Draft) -> list[str]:
    """All else that is recoded: rows that tie in it are the same to a release, on every engine."""
    if _any_row_will_do(draft) and draft.table.view is None:
        # Any row will do, but it is one and the same.
        return [draft.dialect.row_number(is_file=bool(draft.table.path and not draft.table.parts))]
    ordered = {name.lower() for name, _ in draft.policy.source.order_by}
    return [name for name in _inputs(draft) if name.lower() not in ordered]


def _any_row_will_do(draft: Draft) -> bool:
    """Whether a person's rows are all alike in what is read, and no order is named."""
    key = str(draft.policy.source.key).lower()
    others = [name for name in _inputs(draft) if name.lower() != key]
    return not others and not draft.policy.source.order_by


def _spelled(name: str, draft: Draft) -> str:
    """A column's name as the catalog spells it: to some engines another case is another name."""
    found = draft.table.find(name)
    return found.name if found else name


def _by_bytes(name: str, draft: Draft) -> exp.Expr:
    found = draft.table.find(name)
    column = _quoted(found.name if found else name)
    return draft.dialect.binary_text(column) if found and found.is_collated else column


def _is_text(name: str, draft: Draft) -> bool:
    found = draft.table.find(name)
    return found is not None and found.kind is Kind.TEXT and not found.is_collated


def count_raw(draft: Draft) -> Draft:
    """Group by the raw columns first, where the rule says that it pays."""
    inputs = _inputs(draft)
    if not inputs or not is_raw_first(draft.policy, draft.table):
        return draft
    count = fresh("policy_engine_count", (*inputs, *draft.policy.columns))
    columns = [_quoted(name) for name in inputs]
    query = exp.select(*columns, exp.alias_(_count(), count, quoted=True))
    query = _only_first(draft, query.from_(draft.last)).group_by(*inputs_of(columns), copy=False)
    return draft.then("counted", query, count=count)


def inputs_of(columns: list[exp.Column]) -> list[exp.Column]:
    """Copies, for a node can stand in one place only."""
    return [column.copy() for column in columns]


def _only_first(draft: Draft, query: exp.Select) -> exp.Select:
    if draft.rank is None:
        return query
    first = exp.EQ(this=_quoted(draft.rank), expression=exp.Literal.number(1))
    return query.where(first, copy=False)


def recoded(draft: Draft) -> Draft:
    """Give every column its released value under its released name.

    Raises PolicyError where the engine has no way to make one.
    """
    read = read_columns(draft.policy, draft.table)
    items: list[exp.Expr] = []
    problems: list[Problem] = []
    for name, recoding in draft.policy.recodings:
        try:
            value = _recoded(read.get(name), recoding, draft.dialect)
            _check_texts(value, draft.dialect)
        except UsageError as error:
            told, _, remedy = str(error).partition("; ")
            path = path_text(("recode", name))
            problems.append(Problem(str(draft.policy.file), 0, 0, path, told, remedy))
            continue
        items.append(exp.alias_(value, name, quoted=True))
    if problems:
        raise PolicyError(tuple(problems))
    if draft.count is not None:
        items.append(_quoted(draft.count))
    query = exp.select(*items).from_(draft.last)
    return draft.then("recoded", query if draft.count else _only_first(draft, query))


def _check_texts(value: exp.Expr, dialect: Dialect) -> None:
    """Refuse a text that the kernel would not read in this engine: it may mean another there."""
    reading = READINGS.get(dialect.name)
    for text in value.find_all(exp.Literal):
        if reading is None or not text.is_string or "\\" not in text.name:
            continue
        if not re.fullmatch(reading.lexicon.string, dialect.sql(text)):
            found = f"{dialect.title} cannot do this: {text.name!r} has a backslash"
            raise UsageError(f"{found}, which it may read in a way of its own; write another sign")


def _recoded(read: ReadColumn | None, recoding: Recoding, dialect: Dialect) -> exp.Expr:
    if read is None:
        return recode(recoding, exp.Null(), Column("", "NULL"), dialect)
    return recode(recoding, _value(read, dialect), read.column, dialect)


def _value(read: ReadColumn, dialect: Dialect) -> exp.Expr:
    """The source column in the form that recodings take."""
    column: exp.Expr = _quoted(read.source.name)
    kind = read.source.kind
    if read.source.is_collated:
        column = dialect.binary_text(column)
    if read.declared is not None:
        return dialect.try_cast(column, read.declared)
    if kind is Kind.TIMESTAMP_ZONED:
        return dialect.utc(column)
    if kind is Kind.TIMESTAMP_OTHER:
        return dialect.try_cast(column, "TIMESTAMP")
    return column


def _count() -> exp.Count:
    return exp.Count(this=exp.Star(), big_int=True)


def group(draft: Draft) -> Draft:
    """Group by every released column; only groups of at least k pass."""
    policy = draft.policy
    total: exp.Expr = _count()
    shown: exp.Expr = total.copy()
    if draft.count is not None:
        total = exp.Sum(this=_quoted(draft.count))
        shown = draft.dialect.total(total.copy())
    columns = [_quoted(name) for name in policy.columns]
    count = _count_name(policy)
    enough = exp.GTE(this=total, expression=exp.Literal.number(policy.k))
    query = (
        exp.select(*columns, exp.alias_(shown, count, quoted=True))
        .from_(draft.last)
        .group_by(*inputs_of(columns), copy=False)
        .having(enough, copy=False)
    )
    if policy.release.form == "counts":
        return replace(draft, query=query)
    return replace(draft.then("released", query), query=None)


def _count_name(policy: Policy) -> str:
    if policy.release.form == "counts":
        return policy.release.count_as
    return fresh("policy_engine_n", policy.columns)


def repeat(draft: Draft) -> Draft:
    """For the form ``rows``: each group as often as its count says."""
    if draft.query is not None:
        return draft
    policy = draft.policy
    columns = [_quoted(name) for name in policy.columns]
    copy = fresh("policy_engine_copy", policy.columns)
    again = exp.alias_(draft.dialect.repeat(_quoted(_count_name(policy))), copy, quoted=True)
    numbered = exp.select(*columns, again).from_(draft.last)
    draft = draft.then("repeated", numbered)
    return replace(draft, query=exp.select(*inputs_of(columns)).from_(draft.last))


def order(draft: Draft) -> Draft:
    """Sort by every released column: the order then tells nothing about the source."""
    assert draft.query is not None
    read = read_columns(draft.policy, draft.table)
    terms = [
        term
        for name, recoding in draft.policy.recodings
        for term in draft.dialect.ordered(_quoted(name), text=_shows_text(recoding, read.get(name)))
    ]
    query = draft.query.copy()
    query.set("order", exp.Order(expressions=terms))
    return replace(draft, query=query)


def _shows_text(recoding: Recoding, read: ReadColumn | None) -> bool:
    """Whether what a recoding releases is a text."""
    match recoding:
        case Keep():
            return read is not None and (
                read.column.kind is Kind.TEXT or read.column.kind in KEPT_AS_TEXT
            )
        case Round() | Truncate():
            return False
        case _:
            return True


STAGES: tuple[Stage, ...] = (sample, count_raw, recoded, group, repeat, order)


def is_raw_first(policy: Policy, table: Table) -> bool:
    """Whether to group by the raw columns first: the policy's word, or the rule's."""
    if policy.grouping != "auto":
        return policy.grouping == "raw_first"
    read = read_columns(policy, table)
    if not all(found.groups_as_it_is for found in read.values()):
        return False
    sizes = [
        _named_values(recoding, read[name].column.kind)
        for name, recoding in policy.recodings
        if name in read
    ]
    known = [size for size in sizes if size is not None]
    return len(known) == len(sizes) and prod(known) <= RAW_FIRST_COMBINATIONS


def _named_values(recoding: Recoding, kind: Kind) -> int | None:
    """About how many raw values a column has, by the policy's words; None if it says none."""
    match recoding:
        case Lookup(table):
            return len(table) + 2
        case Bins(cuts) if kind is Kind.INTEGER:
            return 2 * int(cuts[-1] - cuts[0]) + 2  # type: ignore[operator,arg-type]  # numbers
        case Keep() if kind is Kind.BOOLEAN:
            return 3
        case _:
            return None
