"""One released column of a printed text → the columns, types and recodes that it may be.

By synthesis: what could have been meant is printed, and compared with what stands there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import chain
from typing import Protocol

from policy_engine.check.pieces import recoded
from policy_engine.check.words import (
    Words,
    level,
    names_in,
    numbers_in,
    split,
    text_in,
    texts_in,
    until,
    words_of,
)
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Recode, Round, Truncate
from policy_engine.kernel.recodes.bins import cut_type
from policy_engine.kernel.recodes.truncate import UNITS
from policy_engine.kernel.sources import READABLE, Column
from policy_engine.kernel.types import MOMENTS, MOST_DIGITS, Type, Value


class TypesOf(Protocol):
    """The types that a column of the source may have; None where nothing is known of it."""

    def __call__(self, name: str, *, is_key: bool = False) -> tuple[Type, ...] | None:
        """Of a key there is none that is compared by a collation."""


_FIRST = (
    "integer", "text", "date", "timestamp", "boolean", "double", "wide_integer", "label", "uuid",
    "time", "timestamp_zoned", "timestamp_other",
)  # fmt: skip
_ROUNDED = ((15, 0), *((MOST_DIGITS, scale) for scale in range(7)))  # as doubles are alike
_Broken = (ClaimError, Refused, ValueError, InvalidOperation, TypeError, IndexError)


def types_of_engine(engine: str) -> tuple[Type, ...]:
    """Every type but decimals that a column of an engine can have: the plainest first."""
    form = ENGINES[engine]
    kinds = [kind for kind in _FIRST if f"{kind}_column" not in form.lacks]
    found = [Type(k, collated=form.collates and k == "text") for k in kinds]  # type: ignore[arg-type]
    return tuple(dict.fromkeys((*found, Type("text", collated=True))))


def meant(expression: Words, name: str, engine: str, types_of: TypesOf) -> Iterator[Shown]:
    """Every released column called ``name`` that is printed as ``expression``."""
    read = names_in(expression, engine)
    if not read:
        labels = texts_in(expression, engine)
        found: Iterator[Shown] = (Shown(name, None, Constant(label)) for label in labels[:1])
    else:
        known = types_of(read[0])
        any_type = (*types_of_engine(engine), *_decimals(expression, engine))
        types = any_type if known is None else known
        columns = _columns(read[0], types, expression)
        found = chain.from_iterable(map(partial(_shown, name, expression, engine), columns))
    for shown in found:
        with suppress(*_Broken):
            if words_of(recoded(shown, engine), engine) == expression:
                yield shown


def _columns(name: str, types: tuple[Type, ...], expression: Words) -> Iterator[Column]:
    for kind in types:
        yield Column(name, kind)
        if "TRY_CAST" in expression:
            for read_as in sorted(READABLE):
                yield Column(name, kind, read_as)  # type: ignore[arg-type]


def _decimals(expression: Words, engine: str) -> tuple[Type, ...]:
    """The decimals whose digits an expression may say, or whose scale its cuts have."""
    if "decimal_column" in ENGINES[engine].lacks:
        return ()
    if "FLOOR" in expression:
        return tuple(Type("decimal", *each) for each in _ROUNDED)
    said = [
        (int(expression[place - 1]), int(expression[place + 1]))
        for place, word in enumerate(expression[1:-1], 1)
        if word == "," and expression[place - 1].isdigit() and expression[place + 1].isdigit()
    ]
    said = [each for each in said if each[1] <= each[0] <= MOST_DIGITS]
    by_cuts = [(MOST_DIGITS, scale) for scale in range(MOST_DIGITS // 2)]
    wide = by_cuts if expression[0] == "CASE" and not said else [(18, 3)]
    return tuple(Type("decimal", *each) for each in dict.fromkeys((*said, *wide)))


def _shown(name: str, expression: Words, engine: str, column: Column) -> Iterator[Shown]:
    """What a column may be shown as, by the words that its recodes have."""
    for recode in _recodes(expression, engine, column):
        with suppress(*_Broken):
            yield Shown(name, column, recode)


def _recodes(expression: Words, engine: str, column: Column) -> Iterator[Recode]:
    if "BETWEEN" in expression:
        yield from map(Truncate, sorted(UNITS))  # type: ignore[arg-type]
    elif "FLOOR" in expression:
        numbers = (*numbers_in(expression), *texts_in(expression, engine))
        for number in dict.fromkeys(number.lstrip("-") for number in numbers):
            with suppress(InvalidOperation):
                yield Round(Decimal(number))
    else:
        branches = [] if expression[0] != "CASE" else _branches(expression[1:-1])
        if len(branches) > 1:
            with suppress(*_Broken):
                yield _of_branches(branches, engine, column.seen)
        yield Keep()
        for number in dict.fromkeys(numbers_in(expression)):
            with suppress(ValueError):
                yield Prefix(int(number))


def _branches(words: Words) -> list[tuple[Words, Words]]:
    """Condition and value of each branch of a CASE, the last without a condition."""
    found = []
    for branch in split(words, "WHEN")[1:]:
        condition, value = until(branch, "THEN")
        value, last = until(value[1:], "ELSE")
        found.append((condition, value))
        if last:
            found.append(((), last[1:]))
    return found


def _of_branches(branches: list[tuple[Words, Words]], engine: str, seen: Type) -> Recode:
    """Bins, or a map, of the type ``seen``: behind the branches of NULL and NaN."""
    labels = [_label(value, engine) for _, value in branches]
    lists = [
        (condition[place + 1 :], label)
        for (condition, _), label in zip(branches, labels, strict=True)
        for place, word in level(condition)
        if word == "IN"
    ]
    if lists:
        groups = (
            (tuple(_value(each, engine, seen) for each in split(members[1:-1], ",")), label)
            for members, label in lists
        )
        return Map(tuple(groups), labels[-1])
    cuts = [
        (_value(condition[place + 1 :], engine, cut_type(seen)), str(label))
        for (condition, _), label in zip(branches, labels, strict=True)
        for place, word in level(condition)
        if word == "<"
    ]
    named = (*(label for _, label in cuts), str(labels[-1]))
    return Bins(tuple(cut for cut, _ in cuts), named)


def _label(value: Words, engine: str) -> str | None:
    found = texts_in(value, engine)
    return found[0] if found else None


def _value(literal: Words, engine: str, seen: Type) -> Value:
    """A literal as a value of a type.

    Raises one of ``_Broken`` where it is none.
    """
    texts = [text for word in literal if (text := text_in(word, engine)) is not None]
    numbers = [*texts, *numbers_in(literal)]
    match seen.kind:
        case "integer":
            return int(numbers[0])
        case "decimal" | "double":
            return Decimal(numbers[0])
        case "date":
            return date.fromisoformat(texts[0])
        case "boolean":
            return {"TRUE": True, "FALSE": False}.get(literal[0].upper(), literal[0])
        case kind if kind in MOMENTS:
            return datetime.fromisoformat(texts[0])
    return texts[0]
