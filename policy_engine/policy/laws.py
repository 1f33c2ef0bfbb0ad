"""What each scalar of a policy or project file may be: one law, one message, one schema.

A law is a function that returns the value or raises ``refusal(…)``. The messages are predicates:
the loader puts the value's path in front of them and its line and column before that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from policy_engine.policy.recodings import Cut
from policy_engine.policy.scalars import as_text, parse_moment, show

At = tuple[str | int, ...]
Law = Callable[[object], object]

MAX_INTEGER = 1_000_000_000
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,99}")
"""The name of a policy, an account or a warehouse."""
_ZONE = re.compile(r"(?<=[0-9]) ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$")
_SIZE = re.compile(r"[1-9][0-9]{0,5}(MB|GB|TB)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def refusal(
    predicate: str, remedy: str = "", *, at: At = (), on_key: bool = False
) -> PydanticCustomError:
    """The error of a law that does not hold, ``at`` a path below the value it is raised for.

    >>> refusal("must be 1, found 2").message()
    'must be 1, found 2'
    """
    context = {"predicate": predicate, "remedy": remedy, "at": at, "on_key": on_key}
    return PydanticCustomError("law", "{predicate}", context)


def suggestion(found: object, allowed: Iterable[str]) -> str:
    """A remedy: the allowed word that is meant, else all of them.

    >>> suggestion("lables", ["bins", "labels"]), suggestion("x", ["bins", "labels"])
    ("did you mean 'labels'?", 'allowed here: bins, labels')
    """
    words = list(allowed)
    close = get_close_matches(str(found)[:100], words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"allowed here: {', '.join(words)}"


@dataclass(frozen=True)
class Ruled:
    """The annotation that puts ``law`` on a field, and ``schema`` into the JSON Schema."""

    law: Law
    schema: Mapping[str, object]

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The law alone decides."""
        del source, handler
        return core_schema.no_info_plain_validator_function(self.law)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        """What an editor is told."""
        del schema, handler
        return dict(self.schema)


def mapping(found: object) -> dict[str, Any]:
    """A value as a mapping; of another kind, which its own law refuses, an empty one."""
    return found if isinstance(found, dict) else {}


def inside(data: object, *keys: str) -> Any:
    """The value below some keys, one in the other; None where there is none."""
    for key in keys:
        data = mapping(data).get(key)
    return data


def barred(
    data: Mapping[str, Any], keys: Iterable[str], law: str, remedy: str = "remove it", at: At = ()
) -> Iterator[PydanticCustomError]:
    """A problem of each of the keys that stands in ``data``, which is itself ``at`` a path."""
    for key in keys:
        if key in data:
            yield refusal(law, remedy, at=(*at, key), on_key=True)


def is_integer(found: object) -> bool:
    """Whether a value is an integer; a boolean is none.

    >>> is_integer(1), is_integer(True)
    (True, False)
    """
    return isinstance(found, int) and not isinstance(found, bool)


def as_number(found: object) -> Decimal | None:
    """A finite number as an exact decimal, None for everything else (floats too)."""
    if is_integer(found) or isinstance(found, Decimal):
        number = Decimal(str(found))
        return number if number.is_finite() else None
    return None


def number(
    law: str, holds: Callable[[Decimal], bool], *, auto: bool = False, remedy: str = ""
) -> Law:
    """The law of a decimal number that ``holds`` (or ``auto``).

    >>> number("above 0", lambda n: n > 0)(1)
    Decimal('1')
    """

    def check(found: object) -> Decimal | str:
        exact = as_number(found)
        if exact is not None and holds(exact):
            return exact
        if auto and found == "auto":
            return "auto"
        if exact is not None:
            raise refusal(f"must be {law}, found {show(found)}", remedy)
        raise refusal(f"must be a number {law}{' or auto' if auto else ''}, found {show(found)}")

    return check


def integer(least: int, *, most: int = MAX_INTEGER, auto: bool = False, remedy: str = "") -> Law:
    """The law of an integer from ``least`` to ``most``, a thousand million (or ``auto``)."""

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

    return check


def one_of(*words: str) -> Law:
    """The law of a closed list of words."""

    def check(found: object) -> str:
        if isinstance(found, str) and found in words:
            return found
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        asked = str(found)[:100].lower()
        # A word that is a part of one means it: laplace, gaussian.
        close = [word for word in words if asked in word.split("_")] or get_close_matches(
            asked, words, n=1
        )
        remedy = f"did you mean {close[0]!r}?" if close else ""
        raise refusal(f"must be {listed}, found {show(found)}", remedy)

    return check


def version(found: object) -> int:
    """The language's version, 1."""
    if isinstance(found, int) and is_integer(found) and found == 1:
        return found
    raise refusal(f"must be 1, found {show(found)}")


def a_match(pattern: re.Pattern[str], law: str, remedy: str = "") -> Law:
    """The law of a text of a form."""

    def check(found: object) -> str:
        if isinstance(found, str) and pattern.fullmatch(found):
            return found
        raise refusal(f"must {law}, found {show(found)}", remedy)

    return check


name = a_match(NAME, "start with a letter and hold at most 100 letters, digits, _, - and .")
size = a_match(_SIZE, "be a size", "as in 2GB")


MOST_TEXT = 4_000
"""So many characters of a text that people read: a page and a half."""


def text(found: object) -> str:
    """A text that people read, of a length that they do."""
    if isinstance(found, str):
        if len(found) > MOST_TEXT:
            law = f"must have at most {MOST_TEXT:,} characters, found {len(found):,}"
            raise refusal(law, "say the rest in a document, and name it here")
        return found
    raise refusal(f"must be text, found {show(found)}", _quotes(found))


def is_line(text: str) -> bool:
    """Whether a text is on one line, not blank, and shows as what it is."""
    return bool(text.strip()) and not _CONTROL.search(text)


def line(found: object) -> str:
    """Text on one line, not blank: a path, a relation, a column's name."""
    if isinstance(found, str) and is_line(found):
        return found
    if isinstance(found, str):
        what = "is not blank and has no line break or control character"
        raise refusal(f"must be text that {what}, found {show(found)}")
    raise refusal(f"must be text, found {show(found)}", _quotes(found))


def flag(found: object) -> bool:
    """True or false."""
    if isinstance(found, bool):
        return found
    raise refusal(f"must be true or false, found {show(found)}")


def path(found: object) -> str:
    """A path in its one normal form: `pat/`, `./pat` and `pat` are one place.

    >>> path("./data//pat/"), path("../pat")
    ('data/pat', '../pat')
    """
    return str(PurePath(line(found)))


def label(found: object) -> str:
    """A text that is released; an integer stands for its text."""
    if isinstance(found, str):
        return found
    if is_integer(found):
        return str(found)
    raise refusal(f"must be text or an integer, found {show(found)}", _quotes(found))


def label_or_null(found: object) -> str | None:
    """A text that is released, or NULL."""
    if found is None or isinstance(found, str):
        return found
    if is_integer(found):
        return str(found)
    raise refusal(f"must be text, an integer or null, found {show(found)}", _quotes(found))


def day(found: object) -> date:
    """A day."""
    moment = parse_moment(found) if isinstance(found, str) else found
    if isinstance(moment, date) and not isinstance(moment, datetime):
        return moment
    raise refusal(f"must be a date, found {show(found)}", "as in 2027-01-31")


def cut(found: object) -> Cut:
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


def a_list(what: str, remedy: str = "") -> Law:
    """The law of a list that holds at least one ``what``; its items have their own."""

    def check(found: object) -> list[object]:
        if isinstance(found, list) and found:
            return found
        shown = "an empty list" if found == [] else show(found)
        raise refusal(f"must be a list of {what}, found {shown}", remedy)

    return check


def a_mapping(what: str, if_empty: str = "") -> Law:
    """The law of a mapping with at least one entry; its values have their own."""

    def check(found: object) -> dict[object, object]:
        if isinstance(found, dict) and found:
            return found
        shown = "an empty mapping" if found == {} else show(found)
        remedy = "" if found else if_empty
        raise refusal(f"must be a mapping of {what}, found {shown}", remedy)

    return check


def kind_of_cut(edge: Cut) -> str:
    """What bins are made of: numbers, dates or timestamps."""
    if isinstance(edge, Decimal):
        return "numbers"
    return "timestamps" if isinstance(edge, datetime) else "dates"


def _quotes(found: object) -> str:
    """The remedy for a scalar that YAML does not read as text."""
    plain = as_text(found) if isinstance(found, bool | int | date) else None
    return "put it in quotes" if plain is not None or isinstance(found, Decimal) else ""
