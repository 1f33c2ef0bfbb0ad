"""show and estimate: the first rows of a release, and what all its tables say together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from dataclasses import replace as replace_field
from pathlib import Path
from typing import Annotated, Any
from unicodedata import is_normalized

from typer import Argument, Option

from policy_engine.cli.output import emit
from policy_engine.cli.reading import check_free, project_here, written_whole
from policy_engine.errors import UsageError
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted
from policy_engine.releasing.opened import OpenedRelease, open_release
from policy_engine.releasing.showing import FirstRows
from policy_engine.releasing.showing import show as look
from policy_engine.values import frozen

ReleaseArgument = Annotated[
    Path,
    Argument(
        help="The Parquet file of a release, or the certificate of a file or table.", readable=False
    ),
]
RowsOption = Annotated[int, Option(help="The number of rows to show.")]
_WIDEST = 40
_BLANK = "\\x20"


@frozen(kw_only=True)
class RowsSaid:
    """The first rows of a table, and what they mean: nothing of it was checked."""

    release: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]
    size: int
    meaning: tuple[str, ...]
    checked: bool = field(init=False, default=False)


@frozen(kw_only=True)
class ShownRows(RowsSaid):
    """Those of a release; ``certificate`` is None where none was found beside it."""

    certificate: Path | None
    remarks: tuple[str, ...]
    written: Path | None


@frozen(kw_only=True)
class EstimatedRows(RowsSaid):
    """Those of tables that were made to agree, and where these were written."""

    written: Path | None


def show(
    release: ReleaseArgument,
    rows: RowsOption = 10,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="The file to write: FILE.svg for a picture, FILE.csv for all rows.",
        ),
    ] = None,
    replace: Annotated[bool, Option("--replace", help="Replace the file if it exists.")] = False,
    errors: Annotated[
        bool, Option("--errors", help="Show the error and the 95 % interval after each number.")
    ] = False,
) -> None:
    """Show the first rows of a release, and what each number means.

    The certificate beside the release says what its numbers mean. A table is read through the
    project's warehouse. The signature and the rows are not checked. To check them, use
    'policy-engine verify'.

    --errors shows three more columns after each number n, also in a CSV. n_sd is the standard
    deviation of the error, rounded up to 3 digits. In 95 of 100 releases, the number before noise
    is between n_low and n_high. This interval does not include a person's groups beyond max_groups,
    a person's rows beyond max_rows_per_group, or the effect of bounds and of rounded values. So the
    true number can be far outside.

    A median or quantile has no n_sd. If it has too few values, n_low and n_high are the bounds that
    the policy sets for its values. Otherwise n_low and n_high are empty, too.

    --output draws the first groups with their 95 % intervals, or writes all rows as CSV. In the
    CSV, a missing value is an empty field without quotes. If the edition has a name, the first
    column contains this name. The certificate of a Parquet file does not verify a CSV of it, so
    publish both files.

    Example: policy-engine show policies/adult/out/adult_public.parquet --rows 5
    """
    _check_rows(rows)
    if output is not None:
        _check_output(output, replace=replace)
    elif replace:
        raise UsageError("--replace replaces what --output names: name that too")
    project = project_here()
    shown = look(release, project, rows)
    if errors:
        shown = _with_errors(shown, open_release(release, project), rows)
    found = ShownRows(
        release=shown.release,
        certificate=shown.certificate,
        columns=shown.columns,
        rows=plain_rows(shown.rows),
        size=shown.size,
        meaning=shown.meaning,
        remarks=shown.remarks,
        written=output,
    )
    lines = _lines(shown)
    if output is not None:
        _write(open_release(release, project), output, errors=errors)
        lines.append(f"wrote {output}")
    emit(found, lines)


def _check_output(output: Path, *, replace: bool) -> None:
    if output.suffix.lower() not in (".svg", ".csv"):
        raise UsageError(f"--output must end in .svg or .csv, found {str(output)!r}")
    check_free(output, replace=replace)


def _with_errors(shown: FirstRows, release: OpenedRelease, rows: int) -> FirstRows:
    """The first rows with the errors of their numbers."""
    table = release.to_arrow(errors=True)
    lines = table.slice(0, rows).to_pylist()
    values = tuple(tuple(_short(value) for value in line.values()) for line in lines)
    return replace_field(shown, columns=tuple(table.column_names), rows=values)


def _short(value: object) -> object:
    return f"{value:.15g}" if isinstance(value, float) else value


def _write(release: OpenedRelease, output: Path, *, errors: bool) -> None:
    with written_whole(output) as aside:
        if output.suffix.lower() == ".csv":
            release.to_csv(aside, errors=errors)
        else:
            aside.write_text(release.picture().svg(), "utf-8")


def _check_rows(rows: int) -> None:
    if rows < 0:
        raise UsageError(f"--rows must be at least 0, found {rows}")


def _first(columns: Sequence[str], rows: Sequence[Sequence[Any]], size: int) -> list[str]:
    """The first of ``size`` rows as lines."""
    lines = table([[*map(escaped, columns)], *[[*map(cell, row)] for row in rows]]) if rows else []
    more = size - len(rows)
    return [*lines, f"… and {more} more"] if more else lines


def _meaning(said: Sequence[str]) -> list[str]:
    return ["what they mean:", *(f"  - {text}" for text in said)]


def _lines(shown: FirstRows) -> list[str]:
    lines = [f"{shown.release}: {counted(shown.size, 'row')}"]
    lines += _first(shown.columns, shown.rows, shown.size)
    if any(_BLANK in line for line in lines):
        lines.append(f"{_BLANK} is a blank at an end: source.csv has trim, which takes it away")
    lines += _meaning(shown.meaning)
    lines += [f"warning: {text}" for text in shown.remarks]
    if shown.certificate is None:
        return [*lines, "nothing was checked, and without the certificate nothing can be"]
    is_file = shown.release.lower().endswith(".parquet")
    named = f" --release {shown.release}" if is_file else ""
    return [*lines, f"nothing was checked: policy-engine verify {shown.certificate}{named} does"]


Plain = bool | int | str | None
"""A value of a table as JSON has it."""


def plain_rows(rows: Iterable[Sequence[object]]) -> tuple[tuple[Plain, ...], ...]:
    """Rows as JSON has them."""
    return tuple(tuple(map(plain, row)) for row in rows)


def plain(value: object) -> Plain:
    """A value as JSON has it: numbers that are not whole, and dates, as text."""
    return value if value is None or isinstance(value, bool | int) else str(value)


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


def estimate(
    release: ReleaseArgument,
    output: Annotated[
        Path | None, Option("--output", "-o", help="The Parquet file to write.")
    ] = None,
    rows: RowsOption = 10,
) -> None:
    """Correct the tables of a roll-up or of marginals so that their sums agree, and estimate the
    groups that were not shown.

    The command reads only the release. So it costs nothing, and its result reveals nothing more
    about the source. The signature and the rows are not checked. To check them, use 'policy-engine
    verify'.

    Example: policy-engine estimate out/people.parquet --output out/people_estimated.parquet
    """
    from policy_engine.releasing.estimating import estimated

    _check_rows(rows)
    if output is not None and output.suffix.lower() != ".parquet":
        raise UsageError(f"--output must end in .parquet, found {str(output)!r}")
    found = estimated(release, project_here())
    if output is not None:
        found.write(output)
    count, name = map(escaped, found.columns[-2:])
    first, size = found.rows[:rows], len(found.rows)
    meaning = [
        f"{name} is of the people of the source in the group, from all groupings together: these"
        " agree, and nothing is below zero",
        f"{count} is the count that was released; where it is NULL the group was not shown, and"
        f" {name} is a guess from those that were",
    ]
    if found.beside:
        beside = " and ".join(map(escaped, found.beside))
        meaning.append(f"sums and means are not made to agree: {beside} stand in the release alone")
    meaning.append("it is made of the release alone, and costs nothing")
    lines = [f"{found.shown.release}: {counted(size, 'cell')}, {found.shown.size} of them shown"]
    lines += [*_first(found.columns, first, size), *_meaning(meaning)]
    lines += [] if output is None else [f"wrote {output}"]
    emit(
        EstimatedRows(
            release=found.shown.release,
            columns=tuple(found.columns),
            rows=plain_rows(first),
            size=size,
            meaning=tuple(meaning),
            written=output,
        ),
        lines,
    )
