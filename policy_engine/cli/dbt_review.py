"""dbt review: the code beside the models that somebody must have read."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.dbt_options import ProjectOption
from policy_engine.cli.output import confirm, emit
from policy_engine.errors import UsageError
from policy_engine.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policy_engine.dbt.foreign import Code
    from policy_engine.dbt.project import DbtProject
    from policy_engine.dbt.review import Review

_YEAR = timedelta(days=365)
_LINES = 12
_NAMED = 8


def review(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="The names of the entries that somebody has read, such as 'package dbt_utils'."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Somebody has read everything on the list.")
    ] = False,
    who: Annotated[str | None, typer.Option(help="The person who has read the code.")] = None,
    why: Annotated[
        str | None, typer.Option(help="Why the code may run beside sensitive data.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            help="The day on which the code must be read again, such as 2027-06-30. Default: in a"
            " year."
        ),
    ] = None,
    project_dir: ProjectOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="The manifest.json of dbt. Default: that of the project.")
    ] = None,
) -> None:
    """Show the code that the gate cannot analyse and nobody has reviewed, or record who has read
    it.

    The command lists packages, hooks, operations, materializations, Python models, macros that
    replace macros of dbt, and everything that runs statements. It also lists each `audience` that
    sees sensitive data. The gate uses the same list. If anything on the list is not reviewed, the
    exit code is 1. To record a review, give NAMES or --all, and also --who and --why. The command
    writes the review into the file privacy-review.yml.

    Example: policy-engine dbt review 'package dbt_utils' --who ada --why 'writes expressions'
    """
    from policy_engine.dbt.gate import check_project
    from policy_engine.dbt.project import open_dbt_project
    from policy_engine.dbt.review import entry_of, read_review, write

    project = open_dbt_project(project_dir)
    read, today = read_review(project), date.today()
    codes = check_project(project, manifest).codes
    missing = [(code, lack) for code in codes if (lack := read.missing(code, today))]
    if not names and not everything:
        document = [_said(code, why, project, read) for code, why in missing]
        emit({"unreviewed": document, "reviewed": len(codes) - len(missing)},
             _text(missing, project, read, len(codes)))  # fmt: skip
        if missing:
            raise typer.Exit(1)
        return
    if not who or not why:
        raise UsageError("a review needs --who and --why")
    chosen = [code for code, _ in missing] if everything else _chosen(names or (), codes)
    day = _day(until, today)
    write([entry_of(code, project, who, why, day) for code in chosen], project)
    lines = [f"reviewed until {day}: {code.label}" for code in chosen]
    written = {"written": [code.label for code in chosen]}
    confirm(written, lines or ["nothing was left to review"])


def _chosen(names: Sequence[str], codes: Sequence[Code]) -> list[Code]:
    found = []
    for name in names:
        named = [code for code in codes if name in {code.label, code.name}]
        if not named:
            there = ", ".join(code.label for code in codes) or "nothing"
            raise UsageError(f"there is no {name!r} to review, found {there}")
        found += named
    return found


def _day(until: str | None, today: date) -> date:
    try:
        return today + _YEAR if until is None else date.fromisoformat(until)
    except ValueError:
        raise UsageError(f"--until must be a day, as in 2027-06-30, found {until}") from None


@frozen
class CodeSaid:
    """A piece of code that waits for a review, why, and what changed since it had one."""

    kind: str
    name: str
    file: str
    line: int
    digest: str
    given: tuple[str, ...]
    why: str
    texts: tuple[str, ...]
    changes: tuple[str, ...]


def _said(code: Code, why: str, project: DbtProject, read: Review) -> CodeSaid:
    from policy_engine.dbt.review import changes, place_of

    file, line = place_of(code, project)
    return CodeSaid(
        code.kind, code.name, file, line, code.digest, code.given, why, code.texts,
        changes(code, read),
    )  # fmt: skip


def _text(
    missing: Sequence[tuple[Code, str]], project: DbtProject, read: Review, known: int
) -> list[str]:
    from policy_engine.dbt.foreign import PACKAGE
    from policy_engine.dbt.review import changes, place_of, version_of

    lines = []
    for code, why in missing:
        file, line = place_of(code, project)
        place = f"{file}:{line}" if line else file
        lines.append(f"{code.label} ({place}) {why}{code.what_is_given}")
        if code.kind == PACKAGE:
            lines += _package(code, version_of(code.name, project))
        # What changed is shown as a whole: it is what is to be read.
        shown = list(changes(code, read))
        if not shown and code.kind != PACKAGE:
            shown = [*code.lines[:_LINES]]
            more = len(code.lines) - _LINES
            shown += [f"… {more} lines more"] if more > 0 else []
        lines += [f"    {line}" for line in shown]
    return [*lines, f"{len(missing)} of {known} to review"]


def _package(code: Code, version: str) -> list[str]:
    """What a reviewer of a package looks at first."""
    from policy_engine.dbt.foreign import runs_statements

    what = f"version {version}, " if version else ""
    running = [text.partition(": ") for text in code.texts if runs_statements(text)]
    names = [id_.rpartition(".")[2] for id_, _, _ in running]
    lines = [f"    {what}{len(code.texts):,} macros, hooks and operations"]
    if names:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        lines.append(f"    of which run statements: {', '.join(names[:_NAMED])}{more}")
    return lines
