"""What commands print: one JSON document or plain text on stdout, all else on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
)
from enum import StrEnum
from io import TextIOWrapper
from threading import Event, Thread
from typing import Annotated, Any

import typer

from policy_engine.cli.failures import Failure

_WIDE = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CEILING = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
_FLOOR = Context(prec=12, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)


class Format(StrEnum):
    """How a command answers."""

    text = "text"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, even one that cannot be parsed.

    >>> wants_json(["certify", "--format", "json"]), wants_json(["check", "--", "--format=json"])
    (True, False)
    """
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    asked = ""
    for option, value in zip(own, [*own[1:], ""], strict=False):
        if option == "--format":
            asked = value
        elif option.startswith("--format="):
            asked = option.partition("=")[2]
    return asked == "json"


def set_up(*, as_json: bool) -> None:
    """Make stdout and stderr take every character: JSON is UTF-8, text what the terminal has."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = "utf-8" if as_json and stream is sys.stdout else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def emit(document: Mapping[str, Any], text: str, form: Format) -> None:
    """Print the result once, in the form that was asked for."""
    print(json_text(document) if form is Format.json else text, flush=True)


def json_text(document: Mapping[str, Any]) -> str:
    """A document as every command prints it."""
    return json.dumps(document, ensure_ascii=False, indent=2)


def emit_error(failed: Failure, *, as_json: bool) -> None:
    """A failure on stderr, and as the one JSON document where JSON was asked for."""
    if failed.message:
        label = "" if failed.message.startswith("Usage:") else "error: "
        note(f"{label}{failed.message}")
        if as_json:
            print(json_text(failed.document))
    sys.stdout.flush()


def number(value: Decimal | None, *, down: bool = False) -> float | int | None:
    """The JSON number of a decimal: its own digits where they fit, else the next one above.

    A claim is never below the value; with ``down``, for what may be spent, never above it.

    >>> number(Decimal("2.63178346623E-11")), number(Decimal("1E-500")), number(Decimal(20))
    (2.63178346623e-11, 5e-324, 20)
    """
    if value is None:
        return None
    if value == value.to_integral_value() and abs(value) < 10**15:
        return int(value)
    found = float(value)
    if not down and Decimal(repr(found)) < value:
        return math.nextafter(found, math.inf)
    if down and Decimal(repr(found)) > value:
        return math.nextafter(found, -math.inf)
    return found


def shown(value: Decimal) -> str:
    """A number as text shows it: exact, short, and never in a form that hides its size.

    >>> shown(Decimal("2.63178346623E-11")), shown(Decimal("0.50")), shown(Decimal("1E-9999999"))
    ('2.63178346623e-11', '0.5', '1e-9999999')
    """
    plain = _WIDE.normalize(value)
    return f"{plain:f}" if abs(plain.adjusted()) < 6 else str(plain).lower()


def brief(value: Decimal, *, down: bool = False) -> str:
    """A sum in at most 12 digits, rounded up; ``down`` for what is left of one.

    >>> brief(Decimal("1.00000000000000001e-9")), brief(Decimal("1.99999999999999e-9"), down=True)
    ('1.00000000001e-9', '1.99999999999e-9')
    """
    return shown((_FLOOR if down else _CEILING).normalize(value))


def note(message: str) -> None:
    """A line for the person at the terminal."""
    print(message, file=sys.stderr, flush=True)


PerCent = Callable[[], float | None]
"""How much of a work is done; None where nobody knows."""


@contextmanager
def progress(doing: str) -> Iterator[Callable[[PerCent], None]]:
    """A spinner on a terminal, nothing elsewhere; the body may say what to ask for the per cent."""
    if not sys.stderr.isatty():
        yield lambda ask: None
        return
    from rich.console import Console
    from rich.text import Text

    asked: list[PerCent] = []
    over = Event()
    with Console(stderr=True).status(Text(doing)) as status:

        def watch() -> None:
            while not over.wait(0.2):
                found = next((p for ask in asked if (p := ask()) is not None), None)
                status.update(Text(doing if found is None else f"{doing}: {found:.0f} %"))

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield asked.append
        finally:
            over.set()
            watcher.join()
