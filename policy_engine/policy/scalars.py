"""What a plain word of a policy file means: the core schema of YAML 1.2, and dates.

Numbers become ``Decimal`` from their text and never pass through a float. ``NO``, ``on`` and
``1_000`` are text. What can be read in two ways (``007``, ``0x1F``) is refused.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from json import dumps

Scalar = None | bool | int | Decimal | date | datetime | str

MAX_DIGITS = 60
MAX_EXPONENT = 308
_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), Decimal("NaN")),
    **dict.fromkeys((p + w for p in ("", "+") for w in (".inf", ".Inf", ".INF")), Decimal("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), Decimal("-inf")),
}
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_TWO_READINGS = re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|0x[0-9a-fA-F]+|0o[0-7]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(_DATE.pattern + r"[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")


class EnvironmentText(str):
    """Text that came from an environment variable: no message may show it."""

    __slots__ = ()


class TwoReadings(ValueError):
    """A word that is a number to one reader, and text to another."""


def plain_scalar(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Raises ``ValueError``, its text a predicate: ``TwoReadings``, or a number that is too long.

    >>> plain_scalar("1.0e-9"), plain_scalar("NO"), plain_scalar("2020-01-31")
    (Decimal('1.0E-9'), 'NO', datetime.date(2020, 1, 31))
    >>> plain_scalar("007")
    Traceback (most recent call last):
    ...
    policy_engine.policy.scalars.TwoReadings: can be read as a number or as text, found 007
    """
    if text in _WORDS:
        return _WORDS[text]
    if _TWO_READINGS.fullmatch(text):
        raise TwoReadings(f"can be read as a number or as text, found {shortened(text)}")
    if _NUMBER.fullmatch(text):
        return _number(text)
    moment = parse_moment(text)
    return text if moment is None else moment


def _number(text: str) -> int | Decimal:
    """An int or a Decimal whose written-out form stays short."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 6:
        raise ValueError(
            f"must be a number of at most {MAX_DIGITS} digits, found {shortened(text)}"
        )
    number = Decimal(text)
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        sizes = f"from 1e-{MAX_EXPONENT} to 1e{MAX_EXPONENT}"
        raise ValueError(f"must be 0 or a number of size {sizes}, found {shortened(text)}")
    if not number and exponent:
        return Decimal(mantissa)
    return int(text) if _INTEGER.fullmatch(text) else number


def parse_moment(text: str) -> date | datetime | None:
    """The date or the timestamp (without a time zone) that ``text`` writes in ISO 8601, or None.

    >>> parse_moment("2020-01-31 12:30"), parse_moment("2020-02-30")
    (datetime.datetime(2020, 1, 31, 12, 30), None)
    """
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
        if _TIMESTAMP.fullmatch(text):
            return datetime.fromisoformat(text.upper())
    except ValueError:
        pass
    return None


def as_text(value: Scalar) -> str | None:
    """The text of a scalar that has exactly one: text, integer, boolean, date; else None.

    >>> [as_text(value) for value in ("a", 7, True, date(2020, 1, 31), Decimal("1.5"), None)]
    ['a', '7', 'true', '2020-01-31', None, None]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str) else None


def counted(number: int, noun: str) -> str:
    """A number of things, one of which is called ``noun``.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def show(value: object) -> str:
    """What a message says was found; never a secret, never more than a line.

    >>> show("a"), show(True), show({}), show(Decimal("1.50"))
    ("'a'", 'true', 'a mapping', '1.50')
    """
    if isinstance(value, EnvironmentText):
        return "the text of an environment variable"
    if isinstance(value, str):
        return repr(shortened(value))
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "null"
    return shortened(str(value).lower() if isinstance(value, bool) else str(value))


def as_told(written: object) -> str:
    """What a policy has, on one line: a text as it is, else as JSON, which is YAML too.

    Two are alike if they are told alike; a certificate lists candidates by it.

    >>> as_told("keep"), as_told({"round": 5, "way": "down"})
    ('keep', '{"round": 5, "way": "down"}')
    """
    return written if isinstance(written, str) else dumps(written, default=str)


def shortened(text: str) -> str:
    """``text``, cut to 60 characters.

    >>> len(shortened("x" * 100))
    60
    """
    return text if len(text) <= 60 else text[:59] + "…"
