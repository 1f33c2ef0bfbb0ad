"""What is wrong with the tables that a policy joins, where the source and they are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policy_engine.compile.catalog import TIMES, Field, JoinedTable, Kind, Table
from policy_engine.compile.reading import read_as
from policy_engine.policy.resolve import Join, Policy, Source
from policy_engine.policy.tree import path_text

_KEYS = frozenset({Kind.INTEGER, Kind.WIDE_INTEGER, Kind.TEXT, Kind.UUID, Kind.LABEL})


def beside_of(join: Join, table: Table) -> JoinedTable:
    """What a policy joins, of a table as its catalog has it."""
    order = tuple((name, way == "desc") for name, way in join.source.order_by)
    return JoinedTable(join.name, table, join.on, join.columns, order, join.is_public)


def with_beside(policy_source: Source, table: Table, joined: Iterable[Table]) -> Table:
    """A source's table with all that stands beside each row: what is joined, in the policy's order,
    and what is computed."""
    pairs = zip(policy_source.joins, joined, strict=True)
    computed = tuple(Field(each.name, "BIGINT") for each in policy_source.computed)
    beside = tuple(beside_of(join, other) for join, other in pairs)
    return replace(table, beside=beside, computed=computed)


def joined_names(table: Table) -> Iterator[tuple[str, str, Table, str]]:
    """Each name of a column that a join has: where it stands, and the table that it is of.

    Behind it how a key of one name is written, which the other table has, if this calls it COLUMN.
    """
    for each in table.beside:
        place = ("source", "join", each.name)
        at = path_text((*place, "on"))
        for own, other in each.on:
            in_other, in_own = (own == other and x.meant(own) for x in (each.table, table.alone))
            yield at, own, table.alone, f"on: {{COLUMN: {other}}}" if in_other else ""
            yield at, other, each.table, f"on: {{{own}: COLUMN}}" if in_own else ""
        for name in each.columns:
            yield path_text((*place, "columns")), name, each.table, ""
        for name, _ in each.order:
            yield path_text((*place, "first_by")), name, each.table, ""


def join_problems(policy: Policy, table: Table) -> Iterator[tuple[str, str, str]]:
    """What is wrong with what is joined: its keys, its columns, and what they are used for."""
    taken = {column.name.casefold(): column.name for column in table.columns}
    for each in table.beside:
        place = ("source", "join", each.name)
        yield from _public_problems(each, table)
        for own, other in each.on:
            for relation, name in ((table.alone, own), (each.table, other)):
                key = relation.find(name)
                if key is not None and key.kind not in _KEYS and not key.is_whole:
                    law = f"is joined by {name!r} of {relation.name}, {key.noun}"
                    remedy = "join by a whole number, a text or a UUID"
                    yield path_text((*place, "on")), f"{each.name} {law}", remedy
        for column in each.looked_up:
            path, same = path_text((*place, "columns")), taken.get(column.name.casefold())
            if same is not None:
                law = f"{each.name}.{column.name} is called like the column {same!r} of"
                law += f" {table.name}"
                other = "rename it there" if each.is_public else f"in a view of {each.name}"
                yield path, law, f"leave it out, or call it otherwise: {other}"
            if column.kind is Kind.OTHER:
                law = f"no text compares {each.name}.{column.name}, {column.noun}"
                yield path, law, "leave it out"
    yield from _of_the_source(policy, table)
    yield from _computed_problems(policy, table)
    if (table.beside or table.computed) and not policy.source.keys and policy.noise is None:
        law = "is of a release that draws rows by themselves, beside which nothing stands"
        yield "source.join", law, "name privacy_unit.column, or leave out sample: everybody counts"


def _computed_problems(policy: Policy, table: Table) -> Iterator[tuple[str, str, str]]:
    """What is wrong with what is computed of two dates of a row."""
    stored = {column.name.casefold(): column.name for column in table.stored}
    stored_alone, declared = replace(table, computed=()), read_as(policy, table)
    for each in policy.source.computed:
        path, same = path_text(("source", "compute", each.name)), stored.get(each.name.casefold())
        if same is not None:
            law = f"{each.name!r} is called like the column {same!r}"
            yield path, law, "call it otherwise"
        for name in (each.since, each.until):
            column = stored_alone.find(name)
            if column is None:
                continue  # another law says so
            kind = declared.get(column.name)
            if (kind or column.kind) in {"date", "timestamp", Kind.DATE, *TIMES}:
                continue
            found = column.noun if kind is None else f"it is read as {kind}"
            law = f"{each.name!r} is computed of two dates, and {name!r} is none, found {found}"
            remedy = "name a column of dates or times"
            if column in table.columns and kind is None:
                remedy = f"read it as a date: source.columns: {{{column.name}: date}}"
            yield path, law, remedy


def _public_problems(each: JoinedTable, table: Table) -> Iterator[tuple[str, str, str]]:
    """Why a relation cannot be public: it is made of others, or it is known to be people's."""
    if not each.is_public:
        return
    path = path_text(("source", "join", each.name, "public"))
    people = [table.alone, *(other.table for other in table.beside if not other.is_public)]
    if each.table.view is not None:
        law = f"{each.name} is a view, and what it reads may be people's rows"
        yield path, law, "join a table whose content is public, and made without these people"
    elif any(each.table.name == other.name for other in people):
        law = f"{each.table.name} has people's rows, which this policy reads too"
        yield path, law, "join it by privacy_unit without public: true"


def _of_the_source(policy: Policy, table: Table) -> Iterator[tuple[str, str, str]]:
    """What must be a column of the source, and is looked up."""
    looked_up: dict[Field, str] = {c: each.name for each in table.beside for c in each.looked_up}
    looked_up |= dict.fromkeys(table.computed, "source.compute")
    path = "privacy_unit.column" if len(policy.source.keys) < 2 else "privacy_unit.columns"
    named = [(path, name) for name in policy.source.keys]
    if policy.edition.column:
        named.append(("period.column", policy.edition.column))
    for place, name in named:
        column = table.find(name)
        if column in looked_up:
            law = f"{place} must be a column of {table.name}, and {name!r} is one of"
            yield place, f"{law} {looked_up[column]}", f"name a column of {table.name}"
