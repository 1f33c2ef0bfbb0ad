"""A claim in words: what is released, and of which columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from policy_engine.check.columns import recoded
from policy_engine.compile.catalog import Kind
from policy_engine.kernel.assumptions import method_of, unit_of
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import words_of
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes.meaning import some_entries
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.types import Type
from policy_engine.kernel.wording import named, plain_words, span_words
from policy_engine.kernel.words import source_of
from policy_engine.values import frozen


def noun(kind: Type, *, engine_collates: bool = False) -> str:
    """A type as a sentence says it.

    >>> noun(Type("integer")), noun(Type("text")), noun(Type("decimal", 10, 2))
    ('a whole number', 'text that is compared by its bytes', 'a decimal number of 10 digits, 2 of \
them decimal places')
    """
    if kind.kind == "decimal":
        return f"a decimal number of {kind.digits} digits, {kind.scale} of them decimal places"
    plain = kind.kind == "text" and not kind.collated and not engine_collates
    return f"{Kind[kind.kind.upper()].value}{' that is compared by its bytes' if plain else ''}"


def words(shown: Shown) -> str:
    """A recode on one line.

    >>> from policy_engine.kernel.recodes import Prefix
    >>> from policy_engine.kernel.sources import Column
    >>> from policy_engine.kernel.types import Type
    >>> words(Shown("zip3", Column("zip", Type("text")), Prefix(3)))
    'the first 3 characters of zip'
    """
    name = shown.column.name if shown.column else ""
    if (listed := entries(shown)) is not None:
        return some_entries(listed)
    empty = "" if shown.missing is None else f", NULL as {shown.missing}"
    return f"{recode_meaning(shown.recode).of(name, shown.name)}{empty}"


def count_words(claim: Claim) -> str:
    """Where a released table has the counts."""
    if claim.count is None:
        return "none: a group has as many rows as its count"
    return f"{named(claim.count)}: the count of each group"


def entries(shown: Shown) -> tuple[tuple[str, str], ...] | None:
    """A released column as a map of values, where it is one of few: which, and what is shown."""
    name = shown.column.name if shown.column else ""
    listed = recode_meaning(shown.recode).entries(name)
    if listed is None or shown.missing is None:
        return listed
    return tuple((when, shown.missing if label == "NULL" else label) for when, label in listed)


@frozen
class LabelSaid:
    """When a value is shown, and as what."""

    when: str
    shown: str


@frozen
class RecodeSaid:
    """Of which column a released one is made, and how; ``values`` where they are few."""

    of: tuple[str, ...]
    values: tuple[LabelSaid, ...] | None
    sql: str


@frozen
class ClaimShape:
    """A claim as plain data.

    ``shows`` says of each number beside the count what it is, of each grouping its columns, and of
    each public list its values.
    """

    source: str
    unit: str
    mechanism: str
    rate: float
    method: str
    k: int
    columns: tuple[str, ...]
    recodes: Mapping[str, RecodeSaid]
    count: str | None
    shows: tuple[str, ...]
    form: Literal["counts", "rows"]
    target: str | None
    ordered: bool


def shape_of(claim: Claim, engine: str, target: tuple[str, ...] = ()) -> ClaimShape:
    """What a claim is; ``target`` is the table that its text makes."""
    return ClaimShape(
        source=source_of(claim),
        unit=unit_of(claim),
        mechanism=claim.law.mechanism,
        rate=float(claim.law.rate),
        method=method_of(claim, engine),
        k=claim.law.k,
        columns=tuple(shown.name for shown in claim.columns),
        recodes={shown.name: _recode_said(shown, engine) for shown in claim.columns},
        count=claim.count,
        shows=tuple(meaning_of(claim).lines()),
        form="rows" if claim.count is None else "counts",
        target=".".join(target) or None,
        ordered=True,
    )


def _recode_said(shown: Shown, engine: str) -> RecodeSaid:
    listed = entries(shown)
    values = None if listed is None else tuple(LabelSaid(when, label) for when, label in listed)
    return RecodeSaid((shown.column.name,) if shown.column else (), values, recoded(shown, engine))


def lines(claim: Claim, engine: str) -> Iterator[str]:
    """A claim in lines."""
    yield f"  source   {source_of(claim)}"
    for each in claim.joins:
        on = " and ".join(f"{own.name} = {key.name}" for own, key in each.on)
        whose = "assumed public" if each.is_public else f"of the same {unit_of(claim)}"
        read = ", ".join(column.name for column in each.columns)
        yield f"  joined   {each.source.name} by {on}, {whose}: {read}"
    yield from (f"  computed {span_words(span)}" for span in claim.computed)
    yield f"  unit     {unit_of(claim)}"
    for name, text in meaning_of(claim).described(method_of(claim, engine)):
        yield f"  {name:<8} {text}"
    yield f"  k        {claim.law.k}"
    yield f"  columns  {', '.join(shown.name for shown in claim.columns)}"
    yield from (f"    {shown.name}: {words(shown)}" for shown in claim.columns)
    yield f"  count    {count_words(claim)}"
    yield from (f"  shows    {shown}" for shown in meaning_of(claim).lines())
    for condition in (*filter(None, [claim.period]), *claim.filter):
        yield f"  only     {words_of(condition, said=plain_words)}"
