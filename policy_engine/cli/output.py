"""What commands print: one JSON document or lines of text on stdout, all else on stderr.

Every command prints here and nowhere else: T20 of ruff sees to it. A command hands over whole
lines, and each is printed as one line: what could begin another, move the cursor, or hide or
reorder what is shown is written as its escape, wherever it came from. So a name in a file, a
certificate or a warehouse forges no line of ours, and a new command has nothing to remember.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO, TypeAlias

import typer

from policy_engine.accounting.in_words import in_text
from policy_engine.cli.failures import Failure
from policy_engine.policy.escapes import Exact, escaped
from policy_engine.policy.places import folder_of, from_folder

shown = in_text
"""A number as text shows it: exact, short, and never in a form that hides its size."""

Lines = list[str] | tuple[str, ...] | Iterator[str]
"""Lines of text, without their ends. Not a text: whoever joins lines cannot tell whose they are."""


Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | int | bool | None"
"""What JSON has a form for."""

Format = StrEnum("Format", "text json")
"""How a command answers."""


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, even one that cannot be parsed.

    >>> wants_json(["plan", "--format", "json"]), wants_json(["plan", "--", "--format=json"])
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


@dataclass
class _Asked:
    """How a command line asks for its answer."""

    quiet: bool = False
    form: str = Format.text


_asked = _Asked()


def be_quiet(asked: bool) -> None:
    """From now on print errors, and answers that were asked for, and nothing else."""
    _asked.quiet |= asked


def answer_as(form: StrEnum) -> StrEnum:
    """From now on answer in that form; it is what an option is given."""
    _asked.form = form
    return form


def is_quiet() -> bool:
    """Whether only errors and answers are printed."""
    return _asked.quiet


def is_json() -> bool:
    """Whether the answer is one JSON document."""
    return _asked.form == Format.json


def set_up(*, as_json: bool) -> None:
    """Make stdout and stderr take every character: JSON is UTF-8, text what the terminal has."""
    _asked.quiet, _asked.form = False, Format.text
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = "utf-8" if as_json and stream is sys.stdout else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def one_line(text: str) -> str:
    """A text that stands in a line of ours: blanks beside one another show, so that none wraps it.

    >>> one_line("a.parquet   ✓ signed")
    'a.parquet\\\\x20\\\\x20\\\\x20✓ signed'
    """
    return re.sub(" {2,}", lambda found: "\\x20" * len(found[0]), text)


def emit(document: object, lines: Lines) -> None:
    """Print the result once, in the form that was asked for: text is ``lines``, each one line."""
    if is_json():
        emit_json(document)
    else:
        emit_lines(lines)


def confirm(document: object, lines: Lines) -> None:
    """Print that something was done, or holds: with --quiet the exit code says it."""
    if is_json() or not is_quiet():
        emit(document, lines)


def conclude(document: object, lines: Lines, code: int) -> None:
    """Print that something holds, or else what was found instead, and exit with its code."""
    if not code:
        confirm(document, lines)
        return
    emit(document, lines)
    raise typer.Exit(code)


def emit_lines(lines: Lines) -> None:
    """Print lines of text, each as one line; nothing where there is none."""
    if listed := list(lines):
        said = (each if isinstance(each, Exact) else from_project(each) for each in listed)
        _put(text_of([*said]), sys.stdout)


def emit_json(document: object) -> None:
    """Print the one JSON document of a command."""
    _put(json_text(_from_project(to_json(document))), sys.stdout)


def _put(text: str, stream: TextIO) -> None:
    """Print a text. A reader may leave, as ``head`` does: the command does all the same."""
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        drop(stream)


def drop(stream: TextIO) -> None:
    """Send what a stream still holds, and all that follows, to /dev/null."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def text_of(lines: Lines) -> str:
    """Lines as they are printed, or written into a file."""
    return "\n".join(map(escaped, lines))


def json_text(document: object) -> str:
    """A document as every command prints it: every character shows, by JSON's own escapes.

    >>> print(json_text({"name": "ε\\u202e", "epsilon": Decimal("0.50"), "at": Path("a")}))
    {
      "name": "ε\\u202e",
      "epsilon": 0.5,
      "at": "a"
    }
    """
    text = json.dumps(to_json(document), ensure_ascii=False, indent=2)
    # A line end in it is ours: json.dumps escapes those within a text.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def to_json(value: object) -> Json:
    """A result in the forms that JSON has: a dataclass is an object of its fields.

    A field that need not be given, and is None, is left out: it is of some answers only. A name
    that Python reserves ends in an underscore, which JSON does not need. A decimal is written as
    ``number`` has it, a path as its text, a moment by ISO 8601.

    >>> @dataclass(frozen=True)
    ... class Found:
    ...     lambda_: Decimal
    ...     remarks: tuple[str, ...]
    ...     refusal: str | None = None
    >>> to_json(Found(Decimal("0.50"), ("a",)))
    {'lambda': 0.5, 'remarks': ['a']}

    Raises:
        TypeError: a value that has no form in JSON.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return number(value)
        case Path():
            return str(value)
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(name): to_json(each) for name, each in value.items()}
        case tuple() if hasattr(value, "_asdict"):  # a NamedTuple
            return to_json(value._asdict())
        case list() | tuple():
            return [to_json(each) for each in value]
    if is_dataclass(value):
        return {
            each.name.rstrip("_"): to_json(getattr(value, each.name))
            for each in fields(value)
            if not (each.init and each.default is None and getattr(value, each.name) is None)
        }
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def emit_error(failed: Failure, *, as_json: bool) -> None:
    """A failure on stderr, and as the one JSON document where JSON was asked for."""
    if failed.lines:
        label = "" if failed.lines[0].startswith("Usage:") else "error: "
        first, *others = failed.lines
        for line in (f"{label}{first}", *others):
            complain(line)
        if as_json:
            emit_json(failed.document)
    sys.stdout.flush()


_TEXTS = frozenset({"sql", "query", "canonical", "afterwards"})
"""Members of a document that are texts which somebody runs."""


def _from_project(value: Json) -> Json:
    """A document in which files of the project are named from its folder on."""
    match value:
        case str():
            return from_project(value)
        case dict():
            return {
                name: each if name in _TEXTS else _from_project(each)
                for name, each in value.items()
            }
        case list():
            return [_from_project(each) for each in value]
    return value


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


def complain(message: str) -> None:
    """One line on stderr that is there with --quiet too: what is wrong."""
    _put(escaped(from_project(message)), sys.stderr)


def from_project(message: str) -> str:
    """A message that names what lies in the project of the working directory from there on."""
    with suppress(OSError):  # the working directory may be gone
        folder = folder_of(Path.cwd())
        return message if folder is None else from_folder(message, folder)
    return message


def note(message: str) -> None:
    """One line for the person at the terminal."""
    if not is_quiet():
        complain(message)
