"""dbt adopt: a policy of a model that somebody wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.dbt_options import ProjectOption
from policy_engine.cli.output import Format, FormatOption, complain, confirm
from policy_engine.errors import FileError, UsageError

if TYPE_CHECKING:
    from policy_engine.dbt.adopting import Adopted
    from policy_engine.dbt.project import DbtProject


def adopt(
    model: Annotated[str, typer.Argument(help="The model, as dbt calls it.")],
    project_dir: ProjectOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="A manifest.json; default: that of the last run of dbt.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="The account that pays; default: the only one there is.")
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Write the policy of a model that was written by hand, if all of it is understood.

    The compiled text is read as 'check' reads it, and what was understood is printed. The policy is
    written beside the model only if it gives the same release again. Exits with 1 where it does
    not, or where something of the text is left out; nothing is written then.

    Example: policy-engine dbt adopt towns
    """
    from policy_engine.check.described import lines
    from policy_engine.dbt.adopting import adopted
    from policy_engine.dbt.manifest import read_manifest
    from policy_engine.dbt.project import open_dbt_project
    from policy_engine.dbt.writing import Change, apply

    project = open_dbt_project(project_dir)
    account = budget or _account(project)
    found = adopted(project, read_manifest(manifest or project.manifest), model, account)
    if found.path.exists():
        raise FileError(f"{project.shown(found.path)} exists: {model} has a policy")
    understood = [] if found.claim is None else ["understood:", *lines(found.claim, found.engine)]
    if found.text:
        apply([Change(found.path, None, found.text)])
        understood += [
            f"wrote {project.shown(found.path)}",
            f"next: read it, remove {found.model.file}, and run 'policy-engine dbt sync'",
        ]
    confirm(_document(project, found, understood), understood, format)
    for each in (*found.missed, *found.why):
        complain(f"{found.model.file}: not understood: {each}" if each in found.missed else each)
    if not found.text:
        raise typer.Exit(1)


def _account(project: DbtProject) -> str:
    from policy_engine.policy.project import find_project, load_project

    file = find_project(project.directory)
    accounts = list(load_project(file).accounts) if file is not None else []
    if len(accounts) != 1:
        listed = ", ".join(accounts) or "none"
        raise UsageError(
            f"name the account that pays with --budget; policy-engine.yaml has {listed}"
        )
    return accounts[0]


def _document(project: DbtProject, found: Adopted, understood: list[str]) -> dict[str, object]:
    return {
        "model": found.model.name,
        "policy": project.shown(found.path) if found.text else None,
        "text": found.text or None,
        "understood": understood,
        "missed": list(found.missed),
        "why": list(found.why),
    }
