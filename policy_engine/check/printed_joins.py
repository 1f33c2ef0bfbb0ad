"""The steps of a printed text that have columns of other tables beside its source's rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product

from policy_engine.check.columns import TypesOf, compared, ordered, types_of_engine
from policy_engine.check.words import (
    Words,
    closes,
    first_of,
    name_in,
    names_in_turn,
    split,
    until,
    words_of,
)
from policy_engine.engines.base import Refused
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.sources import Column, Files, JoinedRelation, KeyColumns, People, Relation
from policy_engine.kernel.types import Type
from policy_engine.values import frozen

_JOINED, _BESIDE, _KEY = (f"policy_engine_{each}" for each in ("joined", "beside_", "key_"))

Order = tuple[tuple[Column, bool], ...]


@frozen
class BesideStep:
    """A table that is looked up: where it is, by which names, what is read of it, in which order.

    ``own_texts`` and ``texts`` are what the keys are compared as.
    """

    source: Words
    own: tuple[str, ...]
    keys: tuple[str, ...]
    own_texts: tuple[Words, ...]
    texts: tuple[Words, ...]
    columns: tuple[str, ...]
    order: Words


def is_joined(source: Words, engine: str) -> bool:
    """Whether a step reads what has other tables beside its rows."""
    return names_in_turn(source, engine) == (_JOINED,)


def source_in(steps: Mapping[str, Words]) -> tuple[Words, Words]:
    """What the source's rows are selected as, and where they are."""
    selected, rest = until(steps["own"][1:], "FROM")
    if rest[1] == "(":
        selected, rest = until(rest[3 : closes(rest, 1)], "FROM")
    return selected, until(rest[1:], "WHERE")[0]


def beside_in(steps: Mapping[str, Words], engine: str) -> Iterator[BesideStep]:
    """The tables that are looked up, in their order."""
    [joined] = [words for name, words in steps.items() if name_in(name, engine) == _JOINED]
    _, joins = until(joined, "LEFT")
    for name, step in steps.items():
        if not (name_in(name, engine) or "").startswith(_BESIDE):
            continue
        asked, joins = until(joins[1:], "LEFT")
        pairs = [until(each, "=") for each in split(asked[asked.index("ON") + 1 :], "AND")]
        own = tuple(side for side, _ in pairs)
        shown, rest = until(step[1:], "FROM")
        columns = names_in_turn(tuple(each[-1] for each in split(shown, ",")), engine)
        inner = rest[2 : closes(rest, 1)]
        listed, below = until(inner[1:], "FROM")
        source, where = until(below[1:], "WHERE")
        texts = tuple(each[:-2] for each in split(listed, ",")[: len(pairs)])
        opens = listed.index("OVER") + 1
        yield BesideStep(
            source=source,
            own=tuple(names_in_turn(each, engine)[0] for each in own),
            keys=names_in_turn(where, engine),
            own_texts=own,
            texts=texts,
            columns=tuple(each for each in columns if not each.startswith(_KEY)),
            order=until(listed[opens + 1 : closes(listed, opens)], "ORDER")[1][2:],
        )


@frozen
class KnownOfStep:
    """What is known where a step is read: the unit's ``keys``, the types of the source's columns
    and of the step's ``own``, and the columns that are ``read`` already."""

    engine: str
    keys: tuple[Column, ...]
    source: TypesOf
    own: TypesOf
    read: Mapping[str, Column]


def relation_of(step: BesideStep, place: Relation | Files, known: KnownOfStep) -> JoinedRelation:
    """The claim of a step that reads ``place``.

    Raises:
        ClaimError, KeyError: its words are of no table that is looked up.
    """
    engine, keys = known.engine, known.keys
    unit = {key.name: (key.type,) for key in keys}
    on = []
    for at, (own, other) in enumerate(zip(step.own, step.keys, strict=True)):
        mine = unit.get(own) or _types(known.source(own), engine)
        theirs = _types(known.own(other), engine)
        texts = (step.own_texts[at], step.texts[at])
        on.append(_pair((own, mine), (other, theirs), texts, engine))
    order = _terms_of(step.order, known)
    columns = {column.name: column for column, _ in order}
    listed = tuple(columns[name] for name in step.columns)
    # Behind the order that somebody wrote all columns stand, each ascending.
    for end in range(len(order) + 1):
        said = [column.name for column, _ in order[:end]]
        rest = [(column, False) for column in listed if column.name not in said]
        if [*order[end:]] == rest:
            is_own = {key.name for key in keys} <= {own.name for own, _ in on}
            return JoinedRelation(place, tuple(on), listed, not is_own, order[:end])
    raise ClaimError("an order of no columns")


def _terms_of(words: Words, known: KnownOfStep) -> Order:
    """The columns that rows are ordered by, and whether each descends."""
    engine = known.engine
    found: list[tuple[Column, bool]] = []
    while words:
        name = names_in_turn(words, engine)[0]
        told = (known.read[name].type,) if name in known.read else known.own(name)
        terms = []
        for kind, down in product(_types(told, engine), (True, False)):
            with suppress(Refused):
                column = Column(name, kind)
                text = words_of(ordered(column, engine, down=down), engine)
                terms.append(((column, down), text))
        fitting, words = first_of(words, terms)
        found.append(fitting[0])
    return tuple(found)


def units_of(unit: People) -> Iterator[People]:
    """A unit by as much of its order as somebody may have written, the rest of it being printed."""
    order = unit.order
    if not isinstance(order, tuple) or isinstance(unit.key, KeyColumns):
        yield unit
        return
    for end in range(1, len(order) + 1):
        yield People(unit.key, order[:end])


def _pair(
    own: tuple[str, tuple[Type, ...]],
    other: tuple[str, tuple[Type, ...]],
    texts: tuple[Words, Words],
    engine: str,
) -> tuple[Column, Column]:
    """Two columns by types as which they are compared in a text."""
    for mine, theirs in product(own[1], other[1]):
        pair = Column(own[0], mine), Column(other[0], theirs)
        is_whole = mine.kind == theirs.kind == "integer"
        with suppress(Refused):
            said = tuple(
                words_of(compared(each, engine, is_whole=is_whole), engine) for each in pair
            )
            if said == texts:
                return pair
    raise ClaimError("keys of no type")


def _types(told: tuple[Type, ...] | None, engine: str) -> tuple[Type, ...]:
    return types_of_engine(engine) if told is None else told
