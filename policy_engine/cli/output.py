"""What commands print: one JSON document or plain text on stdout, all else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How a command answers."""

    text = "text"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]


def emit(document: Mapping[str, Any], text: str, form: Format) -> None:
    """Print the result once, in the form that was asked for."""
    if form is Format.json:
        print(json.dumps(document, ensure_ascii=False, indent=2, default=_plain))
    else:
        print(text)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return number(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def number(value: Decimal | None) -> float | int | None:
    """A JSON number that reads back as the value's own decimal digits.

    >>> number(Decimal("2.63178346623E-11"))
    2.63178346623e-11
    """
    if value is None:
        return None
    return (
        int(value) if value == value.to_integral_value() and abs(value) < 10**15 else float(value)
    )


def shown(value: Decimal) -> str:
    """A number as text shows it: short, and never in a form that hides its size.

    >>> shown(Decimal("2.63178346623E-11")), shown(Decimal("0.5"))
    ('2.63178346623e-11', '0.5')
    """
    plain = value.normalize()
    return f"{plain:f}" if abs(plain.adjusted()) < 6 else str(plain).lower()


def note(message: str) -> None:
    """A line for the person at the terminal."""
    print(message, file=sys.stderr)


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """A spinner on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(doing):
        yield
