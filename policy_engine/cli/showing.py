"""show: the first rows of a release, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import is_normalized

import typer

from policy_engine.cli.output import Format, FormatOption, emit
from policy_engine.cli.reading import project_here
from policy_engine.errors import UsageError
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted

if TYPE_CHECKING:
    from policy_engine.releasing.showing import Shown

_WIDEST = 40
_BLANK = "\\x20"


def show(
    release: Annotated[
        Path,
        typer.Argument(
            help="A release's Parquet file, or the certificate of a file or table.", readable=False
        ),
    ],
    rows: Annotated[int, typer.Option(help="Show so many rows.")] = 10,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Show the first rows of a release, and what each number means.

    The meaning is what the certificate beside it says. A table is read through the project's
    warehouse, by its certificate. Neither signature nor rows are checked: verify does that.

    Example: policy-engine show policies/adult/out/adult_public.parquet --rows 5
    """
    from policy_engine.releasing.showing import show as look

    if rows < 0:
        raise UsageError(f"--rows must be at least 0, found {rows}")
    shown = look(release, project_here(), rows)
    document = {
        "release": shown.release,
        "certificate": None if shown.certificate is None else str(shown.certificate),
        "columns": list(shown.columns),
        "rows": [[plain(value) for value in row] for row in shown.rows],
        "size": shown.size,
        "meaning": list(shown.meaning),
        "remarks": list(shown.remarks),
        "checked": False,
    }
    emit(document, _lines(shown), format)


def plain(value: Any) -> Any:
    """A value as JSON has it: numbers that are not whole, and dates, as text."""
    return value if value is None or isinstance(value, bool | int) else str(value)


def _lines(shown: Shown) -> list[str]:
    lines = [f"{shown.release}: {counted(shown.size, 'row')}"]
    if shown.rows:
        lines += table(
            [
                [*map(escaped, shown.columns)],
                *[[cell(value) for value in row] for row in shown.rows],
            ]
        )
    if more := shown.size - len(shown.rows):
        lines.append(f"… and {more} more")
    if any(_BLANK in line for line in lines):
        lines.append(f"{_BLANK} is a blank at an end: source.csv has trim, which takes it away")
    lines += ["what they mean:", *[f"  - {text}" for text in shown.meaning]]
    lines += [f"warning: {text}" for text in shown.remarks]
    if shown.certificate is None:
        return [*lines, "nothing was checked, and without the certificate nothing can be"]
    is_file = shown.release.lower().endswith(".parquet")
    named = f" --release {shown.release}" if is_file else ""
    return [*lines, f"nothing was checked: policy-engine verify {shown.certificate}{named} does"]


def cell(value: Any) -> str:
    """A value as text of some 40 letters at most, told apart from every other such text."""
    text = "NULL" if value is None else _told_apart(str(value))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _told_apart(text: str) -> str:
    """A text that looks like no other: blanks at its ends, and letters in parts, are escaped.

    >>> print(_told_apart("A "), _told_apart("Ärzte"), _told_apart("A\\u0308rzte"))
    A\\x20 Ärzte A\\u0308rzte
    """
    if not is_normalized("NFC", text):
        text = "".join(c if c.isascii() else ascii(c)[1:-1] for c in text)
    inner = text.strip(" ")
    before, behind = text.split(inner, 1) if inner else (text, "")
    return f"{_BLANK * len(before)}{escaped(inner)}{_BLANK * len(behind)}"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines in which columns stand below each other.

    >>> table([("age", "n"), (">=30", "120")])
    ['age   n', '>=30  120']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
