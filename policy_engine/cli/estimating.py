"""estimate: what all tables of a release say together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from policy_engine.cli.output import Format, FormatOption, emit
from policy_engine.cli.reading import project_here
from policy_engine.cli.showing import cell, plain, table
from policy_engine.errors import UsageError
from policy_engine.policy.escapes import escaped
from policy_engine.policy.scalars import counted

_MEANING = (
    "{1} is of the people of the source in the group, from all groupings together: these agree, and"
    " nothing is below zero",
    "{0} is the count that was released; where it is NULL the group was not shown, and {1} is a"
    " guess from those that were",
    "it is made of the release alone, and costs nothing",
)


def estimate(
    release: Annotated[
        Path,
        typer.Argument(
            help="A release's Parquet file, or the certificate of a file or table.", readable=False
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The Parquet file to write.")
    ] = None,
    rows: Annotated[int, typer.Option(help="Show so many rows.")] = 10,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Make the tables of a roll-up or of marginals agree, with what was not shown filled in.

    Post-processing of the release alone: it costs nothing, and says nothing of the source that the
    release does not. Neither signature nor rows are checked: verify does that.

    Example: policy-engine estimate out/people.parquet --output out/people_estimated.parquet
    """
    from policy_engine.releasing.estimating import estimated

    if rows < 0:
        raise UsageError(f"--rows must be at least 0, found {rows}")
    found = estimated(release, project_here())
    if output is not None:
        found.write(output)
    *_, count, name = found.columns
    first, size = found.rows[:rows], len(found.rows)
    meaning = [text.format(escaped(count), escaped(name)) for text in _MEANING]
    beside = " and ".join(map(escaped, found.beside))
    left = f"sums and means are not made to agree: {beside} stand in the release alone"
    meaning[2:2] = [left] * bool(beside)
    lines = [f"{found.shown.release}: {counted(size, 'cell')}, {found.shown.size} of them shown"]
    if first:
        lines += table([[*map(escaped, found.columns)], *[[*map(cell, row)] for row in first]])
    if more := size - len(first):
        lines.append(f"… and {more} more")
    lines += ["what they mean:", *[f"  - {text}" for text in meaning]]
    lines += [] if output is None else [f"wrote {output}"]
    document = {
        "release": found.shown.release,
        "columns": list(found.columns),
        "rows": [[plain(value) for value in row] for row in first],
        "size": size,
        "meaning": meaning,
        "written": None if output is None else str(output),
        "checked": False,
    }
    emit(document, lines, format)
