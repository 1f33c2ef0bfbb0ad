"""dbt init and sync: the files that a dbt project gets of its policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption
from policy_engine.cli.output import Format, FormatOption, confirm, emit, note

if TYPE_CHECKING:
    from policy_engine.dbt.project import DbtProject
    from policy_engine.dbt.release_model import ReleaseModel
    from policy_engine.dbt.sync import Synced

# No DBT_TARGET: the model has one text, whatever target somebody's shell is set to.
DialectTargetOption = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The target whose dialect is written; default: where releases go."
    ),
]


def init(
    model: Annotated[
        str | None, typer.Argument(help="A model, a seed or a source to release from.")
    ] = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Make a dbt project ready for releases; with a MODEL, write a starter policy for it.

    Writes the dbt section of policy-engine.yaml, .dbtignore and the package that release models
    call. A starter is written from the names and types of columns, never from values. What is there
    is kept.

    Example: policy-engine dbt init stg_people
    """
    from policy_engine.dbt.project import open_dbt_project
    from policy_engine.dbt.starter import start

    started = start(open_dbt_project(project_dir), model, profiles_dir)
    shown = started.project.shown
    lines = [f"wrote {shown(change.path)}" for change in started.changes]
    lines += [f"kept {shown(path)}" for path in started.kept]
    if started.policy is not None:
        lines += [
            f"next: uncomment and edit the columns to release in {shown(started.policy)}, then",
            "  policy-engine dbt sync",
        ]
    for told in started.notes:
        note(told)
    document = {
        "written": [shown(change.path) for change in started.changes],
        "kept": [shown(path) for path in started.kept],
        "policy": None if started.policy is None else shown(started.policy),
        "notes": list(started.notes),
    }
    confirm(document, lines, format)


def sync(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: DialectTargetOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="A manifest.json in which sources are looked up as well.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show a diff and write nothing; exit 1 if there is one."),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove what was generated and has no policy any more.")
    ] = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Write the dbt models of all *.privacy.yml, with their properties, tests and the package.

    Every text is proved before the first file is written; a second run changes nothing. Files and
    YAML entries of your own are kept with their comments.

    Example: policy-engine dbt sync --dry-run
    """
    from policy_engine.dbt.project import open_dbt_project
    from policy_engine.dbt.sync import sync as run

    project = open_dbt_project(project_dir)
    found = run(
        project,
        profiles=profiles_dir,
        target=target,
        manifest=manifest,
        prune=prune,
        dry_run=dry_run,
    )
    for told in found.notes:
        note(told)
    say = emit if dry_run and found.changes else confirm
    say(_document(found, dry_run=dry_run), _text(found, dry_run=dry_run), format)
    if dry_run and found.changes:
        raise typer.Exit(1)


def _text(found: Synced, *, dry_run: bool) -> list[str]:
    shown = found.project.shown
    if dry_run and found.changes:
        lines = found.diff.rstrip("\n").split("\n")
    else:
        words = {"new": "wrote", "changed": "changed", "removed": "removed"}
        lines = [f"{words[change.kind]} {shown(change.path)}" for change in found.changes]
    lines += [f"left over: {name}; --prune removes it" for name in found.stale]
    if not found.changes:
        lines.append(_as_they_are(found.project, found.releases))
    return lines


def _as_they_are(project: DbtProject, releases: tuple[ReleaseModel, ...]) -> str:
    if not releases:
        return "there are no policies: 'policy-engine dbt init MODEL' starts one"
    count = f"{len(releases)} release{'s' if len(releases) > 1 else ''}"
    return f"nothing to change: {count} of {project.name} as their policies say"


def _document(found: Synced, *, dry_run: bool) -> dict[str, Any]:
    shown = found.project.shown
    return {
        "dry_run": dry_run,
        "changed": bool(found.changes),
        "changes": [{"path": shown(each.path), "kind": each.kind} for each in found.changes],
        "releases": [
            {
                "model": each.model,
                "version": each.version,
                "policy": shown(each.policy.file),
                "file": shown(each.file),
                "source": each.node.call,
                "dialect": each.dialect.name,
                "k": each.certificate.k,
                "rate": f"{each.certificate.rate:f}",
                "epsilon": f"{each.certificate.epsilon:f}",
                "delta": str(each.certificate.delta),
            }
            for each in found.releases
        ],
        "left_over": list(found.stale),
        "notes": list(found.notes),
        "diff": found.diff if dry_run else "",
    }
