"""What each scalar of a policy or project file may be: one law, one message, one schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from operator import ge, gt, le, lt
from pathlib import PurePath
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from policy_engine.policy.laws import Law, Ruled, refusal
from policy_engine.policy.recodings import CutPoint
from policy_engine.policy.scalars import as_text, parse_moment, show

ColumnType = Literal["integer", "double", "text", "boolean", "date", "timestamp"]
Neighbours = Literal["add_remove", "replace_one"]
Distribution = Literal["auto", "truncated_laplace", "discrete_gaussian", "negative_binomial"]
Method = Literal["keyed", "native"]
Form = Literal["counts", "rows"]
Grouping = Literal["auto", "raw_first", "recoded"]
Goal = Literal["people", "groups"]

MAX_INTEGER = 1_000_000_000
MOST_GROUPS = 1_000_000
MOST_PURPOSE = 200
"""So many characters has a purpose at most."""
MOST_TEXT = 4_000
"""So many characters of a text that people read: a page and a half."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,99}")
"""The name of a policy, an account or a warehouse."""
_ZONE = re.compile(r"(?<=[0-9]) ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MOMENT = r"^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
_BOUNDS = {"minimum": ge, "exclusiveMinimum": gt, "maximum": le, "exclusiveMaximum": lt}
_LINE_SCHEMA = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000-\u001f]*$"}

EMPTY: Any = Field(default_factory=dict)
"""The default of a mapping."""


def ruled(**schema: object) -> Callable[[Law], Ruled]:
    """Make of a function the law of a field."""
    return lambda law: Ruled(law, schema)


def is_integer(found: object) -> bool:
    """Whether a value is an integer; a boolean is none.

    >>> is_integer(1), is_integer(True)
    (True, False)
    """
    return isinstance(found, int) and not isinstance(found, bool)


def as_number(found: object) -> Decimal | None:
    """A finite number as an exact decimal, None for everything else (floats too)."""
    if is_integer(found) or isinstance(found, Decimal):
        exact = Decimal(str(found))
        return exact if exact.is_finite() else None
    return None


def is_line(text: str) -> bool:
    """Whether a text is on one line, not blank, and shows as what it is."""
    return bool(text.strip()) and not _CONTROL.search(text)


def _or_auto(law: Law, schema: dict[str, object], auto: bool) -> Ruled:
    return Ruled(law, {"anyOf": [schema, {"const": "auto"}]} if auto else schema)


def number(
    law: str,
    *,
    auto: bool = False,
    remedy: str = "",
    holds: Callable[[Decimal], bool] = lambda exact: True,
    **bounds: int,
) -> Ruled:
    """The law of a number within bounds, by the names that JSON Schema has for them; or `auto`.

    >>> number("above 0", exclusiveMinimum=0)(1)
    Decimal('1')
    """

    def check(found: object) -> Decimal | str:
        exact = as_number(found)
        if auto and found == "auto":
            return "auto"
        if exact is None:
            raise refusal(
                f"must be a number {law}{' or auto' if auto else ''}, found {show(found)}"
            )
        if holds(exact) and all(_BOUNDS[name](exact, bound) for name, bound in bounds.items()):
            return exact
        raise refusal(f"must be {law}, found {show(found)}", remedy)

    return _or_auto(check, {"type": "number", **bounds}, auto)


def integer(least: int, most: int = MAX_INTEGER, *, auto: bool = False, remedy: str = "") -> Ruled:
    """The law of an integer between two, or of `auto`."""

    def check(found: object) -> int | str:
        if auto and found == "auto":
            return "auto"
        if not isinstance(found, int) or isinstance(found, bool):
            law = f"an integer of at least {least}{' or auto' if auto else ''}"
            raise refusal(f"must be {law}, found {show(found)}")
        if found < least:
            raise refusal(f"must be at least {least}, found {show(found)}", remedy)
        if found > most:
            raise refusal(f"must be at most {most}, found {show(found)}")
        return found

    return _or_auto(check, {"type": "integer", "minimum": least, "maximum": most}, auto)


def word(*words: str) -> Ruled:
    """The law of one of some words."""

    def check(found: object) -> str:
        if isinstance(found, str) and found in words:
            return found
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        asked = str(found)[:100].lower()
        # A word that is a part of one means it: laplace, gaussian.
        close = [each for each in words if asked in each.split("_")]
        close = close or get_close_matches(asked, words, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else ""
        raise refusal(f"must be {listed}, found {show(found)}", remedy)

    return Ruled(check, {"enum": list(words)})


def kind(
    what: str,
    holds: Callable[[Any], object],
    made: Callable[[Any], object] = lambda found: found,
    remedy: str | Callable[[object], str] = "",
    **schema: object,
) -> Ruled:
    """The law of values that ``holds`` is true of, each ``made`` to what stands for it."""

    def check(found: object) -> object:
        if holds(found):
            return made(found)
        raise refusal(
            f"must {what}, found {show(found)}",
            remedy if isinstance(remedy, str) else remedy(found),
        )

    return Ruled(check, schema)


def word_of(kind: object) -> Ruled:
    """The law of the words of a ``Literal``."""
    return word(*get_args(kind))


def a_match(pattern: str, law: str, remedy: str = "") -> Ruled:
    """The law of a text of a form."""
    form = re.compile(pattern)
    return kind(law, lambda found: isinstance(found, str) and form.fullmatch(found),
                remedy=remedy, type="string", pattern=f"^{pattern}$")  # fmt: skip


def quotes(found: object) -> str:
    """The remedy for a scalar that YAML does not read as text."""
    plain = as_text(found) if isinstance(found, bool | int | date) else None
    return "put it in quotes" if plain is not None or isinstance(found, Decimal) else ""


def _day(found: object) -> object:
    moment = parse_moment(found) if isinstance(found, str) else found
    return moment if isinstance(moment, date) and not isinstance(moment, datetime) else None


def _is_label(found: object) -> bool:
    return isinstance(found, str) or is_integer(found)


name = a_match(NAME.pattern, "start with a letter and hold at most 100 letters, digits, _, - and .")
size = a_match("[1-9][0-9]{0,5}(MB|GB|TB)", "be a size", "as in 2GB")
version = kind("be 1", lambda found: is_integer(found) and found == 1, const=1)
flag = kind("be true or false", lambda found: isinstance(found, bool), type="boolean")
day = kind("be a date", _day, _day, "as in 2027-01-31", type="string", format="date")
label = kind("be text or an integer", _is_label, str, quotes, type=["string", "integer"])
"""A text that is released; an integer stands for its text."""
label_or_null = kind(
    "be text, an integer or null", lambda found: found is None or _is_label(found),
    lambda found: None if found is None else str(found), quotes,
    type=["string", "integer", "null"],
)  # fmt: skip


@ruled(type="string", maxLength=MOST_TEXT)
def text(found: object) -> str:
    """A text that people read, of a length that they do."""
    if not isinstance(found, str):
        raise refusal(f"must be text, found {show(found)}", quotes(found))
    if len(found) > MOST_TEXT:
        law = f"must have at most {MOST_TEXT:,} characters, found {len(found):,}"
        raise refusal(law, "say the rest in a document, and name it here")
    return found


@ruled(**_LINE_SCHEMA, maxLength=MOST_PURPOSE)
def purpose(found: object) -> str:
    """Why something is released: one line, so short that everybody who approves it reads it."""
    said: str = line(found)
    if len(said) > MOST_PURPOSE:
        law = f"must have at most {MOST_PURPOSE} characters, found {len(said):,}"
        raise refusal(law, "say the rest in description, or in a document that it names")
    return said


@ruled(**_LINE_SCHEMA)
def line(found: object) -> str:
    """Text on one line, not blank: a file, a table, a column's name."""
    if not isinstance(found, str):
        raise refusal(f"must be text, found {show(found)}", quotes(found))
    if not is_line(found):
        what = "is not blank and has no line break or control character"
        raise refusal(f"must be text that {what}, found {show(found)}")
    return found


@ruled(**_LINE_SCHEMA)
def path(found: object) -> str:
    """A path in its one normal form: `pat/`, `./pat` and `pat` are one place."""
    return str(PurePath(line(found)))


@ruled(anyOf=[{"type": "number"}, {"type": "string", "pattern": _MOMENT}])
def cut(found: object) -> CutPoint:
    """An edge of a bin: a finite number, a date, or a timestamp without a time zone."""
    exact = as_number(found)
    if exact is not None:
        return exact
    moment = parse_moment(found) if isinstance(found, str) else found
    if isinstance(moment, date) and getattr(moment, "tzinfo", None) is None:
        return moment
    remedy = ""
    if isinstance(found, str) and parse_moment(_ZONE.sub("", found)) is not None:
        remedy = "write it without a zone; times with a zone are compared in UTC"
    elif isinstance(found, list):
        remedy = "write the cuts only, as in [18, 30, 45]"
    elif isinstance(found, Decimal):
        remedy = "the first and the last bin are open already"
    raise refusal(f"must be a number, a date or a timestamp, found {show(found)}", remedy)


def kind_of_cut(edge: CutPoint) -> str:
    """What bins are made of: numbers, dates or timestamps."""
    if isinstance(edge, Decimal):
        return "numbers"
    return "timestamps" if isinstance(edge, datetime) else "dates"


def a_list(what: str, remedy: str = "", **schema: object) -> Ruled:
    """The law of a list that holds at least one ``what``; its items have their own."""
    return _filled(list, "list", what, (remedy, remedy), schema)


def a_mapping(what: str, if_empty: str = "", **schema: object) -> Ruled:
    """The law of a mapping with at least one entry; its values have their own."""
    return _filled(dict, "mapping", what, (if_empty, ""), schema)


def _filled(
    kind: type[Any], noun: str, what: str, remedies: tuple[str, str], schema: dict[str, object]
) -> Ruled:
    """The law of what is not empty; the remedies are of an empty one, and of everything else."""

    def check(found: object) -> object:
        if isinstance(found, kind) and found:
            return found
        shown = f"an empty {noun}" if found == kind() else show(found)
        raise refusal(f"must be a {noun} of {what}, found {shown}", remedies[bool(found)])

    return Ruled(check, schema, within=True)


_POSITIVE = integer(1)
_ABOVE_0 = number("above 0", exclusiveMinimum=0)
_SHARE = number("above 0 and below 1", exclusiveMinimum=0, exclusiveMaximum=1)

VersionField = Annotated[Literal[1], version]
NameField = Annotated[str, name]
TextField = Annotated[str, text]
PurposeField = Annotated[str, purpose]
LineField = Annotated[str, line]
Lines = tuple[LineField, ...]
OptionalLineField = Annotated[str | None, line]
OptionalPathField = Annotated[str | None, path]
LabelField = Annotated[str, label]
LabelOrNullField = Annotated[str | None, label_or_null]
OptionalLabelField = Annotated[str | None, label]
OptionalFlagField = Annotated[bool | None, flag]
OptionalCutField = Annotated[CutPoint | None, cut]
FlagField = Annotated[bool, flag]
ColumnTypeField = Annotated[ColumnType, word_of(ColumnType)]
PositiveField = Annotated[int, _POSITIVE]
OptionalPositiveField = Annotated[int | None, _POSITIVE]
StepField = Annotated[Decimal, _ABOVE_0]
OptionalStepField = Annotated[Decimal | None, _ABOVE_0]
EndField = Annotated[Decimal, number("of at most 15 digits", holds=lambda n: abs(n) < 10**15)]
ShareField = Annotated[Decimal, _SHARE]
OptionalShareField = Annotated[Decimal | None, _SHARE]
SampledAtField = Annotated[Decimal, number("above 0 and at most 1", exclusiveMinimum=0, maximum=1)]
_K = integer(2, auto=True, remedy="write k: auto; noisy_counts needs none")
OptionalKField = Annotated[int | Literal["auto"] | None, _K]
_RATE = number("above 0 and below 1", auto=True, remedy="without sampling there is no guarantee",
               exclusiveMinimum=0, exclusiveMaximum=1)  # fmt: skip
RateField = Annotated[Decimal | Literal["auto"], _RATE]
