"""One released column of a printed text → the columns, types and recodes that it may be.

By synthesis: what could have been meant is printed, and compared with what stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Protocol, get_args

from policy_engine.check import words
from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.fragments import macros
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.nodes import Identifier
from policy_engine.kernel.printing import environment, read_of, shown_of
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Recode, Round, Truncate
from policy_engine.kernel.recodes.bins.recode import cut_type
from policy_engine.kernel.recodes.round.recode import Way
from policy_engine.kernel.recodes.truncate.recode import UNITS
from policy_engine.kernel.sources import READABLE, Column
from policy_engine.kernel.types import MOMENTS, MOST_DIGITS, Type, Value
from policy_engine.names import fold


class TypesOf(Protocol):
    """The types that a column of the source may have; None where nothing is known of it."""

    def __call__(self, name: str, *, is_key: bool = False) -> tuple[Type, ...] | None:
        """Of a key there is none that is compared by a collation."""


def types_beside(own: TypesOf, others: Iterable[tuple[Iterable[str], TypesOf]]) -> TypesOf:
    """The types of a table's ``own`` columns, and of those of ``others`` that stand beside them."""
    known = {fold(name): types_of for names, types_of in others for name in names}

    def of_row(name: str, *, is_key: bool = False) -> tuple[Type, ...] | None:
        return known.get(fold(name), own)(name, is_key=is_key)

    return of_row


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


# How the kernel prints parts of a claim, each by itself


def recoded(shown: Shown, engine: str) -> str:
    """How a released column is printed.

    Raises Refused where an engine has no form of it.
    """
    return str(macros(engine)[0].released(shown_of(shown)))


def ordered(column: Column, engine: str, *, down: bool = False) -> str:
    """How rows are ordered by a column of the source."""
    forms, kind = macros(engine)[1], "bytes" if column.type.collated else column.type.kind
    plain = forms.plain(read_of(column)["name"], column.type, column.seen.kind)
    return str(forms.ordered(plain, down, kind))


def sorted_by(shown: Shown, engine: str) -> str:
    """How what is shown is sorted by a released column."""
    return str(macros(engine)[1].ordered(Identifier(shown.name), False, shown.kind))


def compared(column: Column, engine: str, *, is_whole: bool) -> str:
    """What a column is compared as by which tables are joined; whole numbers as such."""
    module = environment(engine).get_template("mechanisms/units.sql.j2").module
    return str(module.canonical(read_of(column), is_whole))  # type: ignore[attr-defined]


# What a column may be


def meant(
    expression: words.Words, name: str, engine: str, types_of: TypesOf, *, is_typed: bool
) -> Iterator[Shown]:
    """Every released column called ``name`` that is printed as ``expression``.

    ``is_typed``: a step before it reads its column as another type.
    """
    is_typed = is_typed or any(word in expression for word in _READ)
    for shown in _candidates(expression, name, engine, types_of, is_typed=is_typed):
        with suppress(*_Broken):
            if words.words_of(recoded(shown, engine), engine) == expression:
                yield shown


_READ = (
    *("TRY_CAST", "REGEXP_FULL_MATCH", "REGEXP_LIKE", "REGEXP", "RLIKE", "match"),
    *("'True'", "'False'"),
)
"""What an expression has that reads a column as another type."""


def _candidates(
    expression: words.Words, name: str, engine: str, types_of: TypesOf, *, is_typed: bool
) -> Iterator[Shown]:
    read = words.names_in(expression, engine)
    if not read:
        yield from (
            Shown(name, None, Constant(text)) for text in words.texts_in(expression, engine)[:1]
        )
        return
    known = types_of(read[0])
    if known is None:
        known = (*types_of_engine(engine), *_decimals(expression, engine))
    casts = (None, *sorted(READABLE)) if is_typed else (None,)
    for kind in known:
        for read_as in casts:
            column = Column(read[0], kind, read_as)  # type: ignore[arg-type]
            for recode in _recodes(expression, engine, column.seen):
                with suppress(*_Broken):
                    yield Shown(name, column, recode)


_ROUNDING = frozenset({"FLOOR", "ROUND"})
"""What the texts of a rounded number have, each engine one of them."""


def _decimals(expression: words.Words, engine: str) -> tuple[Type, ...]:
    """The decimals whose digits an expression may say, or whose scale its cuts have."""
    if "decimal_column" in ENGINES[engine].lacks:
        return ()
    if not _ROUNDING.isdisjoint(expression):
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


def _recodes(expression: words.Words, engine: str, seen: Type) -> Iterator[Recode]:
    """What a column of the type ``seen`` may be shown as, by the words that its recodes have."""
    numbers = words.numbers_in(expression)
    if not _ROUNDING.isdisjoint(expression):
        told = (number.lstrip("-") for number in (*numbers, *words.texts_in(expression, engine)))
        for number in dict.fromkeys(told):
            if step := words.number_of(number):
                yield from (Round(step, way) for way in get_args(Way))
        return
    if "BETWEEN" in expression:
        yield from map(Truncate, sorted(UNITS))  # type: ignore[arg-type]
        return
    if expression[0] == "CASE":
        with suppress(*_Broken):
            yield _of_branches(words.split(expression[1:-1], "WHEN")[1:], engine, seen)
    yield Keep()
    for number in dict.fromkeys(numbers):
        with suppress(ValueError):
            yield Prefix(int(number))


def _of_branches(branches: list[words.Words], engine: str, seen: Type) -> Recode:
    """Bins, or a map: behind the branches of NULL and NaN."""
    groups: list[tuple[tuple[Value, ...], str | None]] = []
    cuts: list[tuple[Value, str | None]] = []
    last: str | None = None
    for branch in branches:
        condition, shown = words.until(branch, "THEN")
        shown, other = words.until(shown[1:], "ELSE")
        label, last = _label(shown, engine), _label(other, engine)
        for place, word in words.level(condition):
            rest = condition[place + 1 :]
            if word == "IN":
                keys = words.split(rest[1:-1], ",")
                groups.append((tuple(_value(each, engine, seen) for each in keys), label))
            elif word == "<":
                cuts.append((_value(rest, engine, cut_type(seen)), label))
    if groups or not cuts:
        return Map(tuple(groups), last)
    return Bins(tuple(cut for cut, _ in cuts), (*(label for _, label in cuts), last))


def _label(value: words.Words, engine: str) -> str | None:
    found = words.texts_in(value, engine)
    return found[0] if found else None


def _value(literal: words.Words, engine: str, seen: Type) -> Value:
    """A literal as a value of a type.

    Raises one of ``_Broken`` where it is none.
    """
    texts = [text for word in literal if (text := words.text_in(word, engine)) is not None]
    numbers = [*texts, *words.numbers_in(literal)]
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
