"""dbt init, sync and adopt: the files of a dbt project, of its policies, and a policy of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.accounting.in_words import in_text
from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption
from policy_engine.cli.output import complain, confirm, emit, note
from policy_engine.errors import FileError, PolicyEngineError, UsageError
from policy_engine.policy.project import project_at
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.dbt.release_model import ReleaseModel
    from policy_engine.dbt.sync import Synced
    from policy_engine.ledger.books import Books
    from policy_engine.ledger.entry import Charge
    from policy_engine.policy.project import Project
    from policy_engine.policy.resolve import Policy

_WORDS = {"new": "wrote", "changed": "changed", "removed": "removed"}

# No DBT_TARGET: the model has one text, whatever target somebody's shell is set to.
DialectTargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="The target whose SQL dialect is written. Default: the target in which releases are"
        " made.",
    ),
]


def init(
    model: Annotated[
        str | None, typer.Argument(help="The model, seed or source to release from.")
    ] = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
) -> None:
    """Prepare a dbt project for releases. With MODEL, also write a starter policy for this model.

    The command writes three things: the section `dbt` of policy-engine.yaml, the file .dbtignore,
    and a dbt package. The models of releases call macros of this package. The starter policy uses
    only the names and types of columns, never their values. Existing files are not changed.

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
    confirm(document, lines)


def sync(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: DialectTargetOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="A manifest.json in which sources are also looked up.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show a diff, and for each release the price, the noise and what the account can"
            " still pay for. Nothing is written or charged. If something would change, the"
            " exit code is 1.",
        ),
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove generated files whose policy no longer exists."),
    ] = False,
) -> None:
    """Write the dbt models and tests of each *.privacy.yml, and the dbt package that the models
    call.

    The command certifies all releases before it writes the first file. A second run changes
    nothing. For each release, a properties file describes the columns and has the tests. Each run
    writes this file completely. The command never changes files that you wrote.

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
    foreseen = tuple(_foreseen(found) if dry_run else ())
    changes, shown = found.changes, project.shown
    lines = [f"{_WORDS[change.kind]} {shown(change.path)}" for change in changes]
    if dry_run and changes:
        lines = found.diff.rstrip("\n").split("\n")
    lines += [f"left over: {name}; --prune removes it" for name in found.stale]
    count = len(found.releases)
    if not changes and count:
        made = f"{count} release{'s' if count > 1 else ''} of {project.name}"
        lines.append(f"nothing to change: {made} as their policies say")
    elif not changes:
        lines.append("there are no policies: 'policy-engine dbt init MODEL' starts one")
    say = emit if dry_run and changes else confirm
    document = _said(found, (*found.notes, *foreseen), dry_run=dry_run)
    say(document, [*lines, *foreseen])  # last, below a diff of hundreds of lines
    if dry_run and changes:
        raise typer.Exit(1)


@frozen
class ChangeSaid:
    """A file that sync writes, changes or removes."""

    path: str
    kind: str


@frozen
class SyncedRelease:
    """A release of the project: its files, and its numbers in the certificate's digits."""

    model: str
    version: int | None
    policy: str
    file: str
    source: str
    dialect: str
    k: int
    rate: str
    epsilon: str
    delta: str


@frozen
class SyncSaid:
    """What sync has done; in a dry run what it would do, as a ``diff`` too."""

    dry_run: bool
    changed: bool
    changes: tuple[ChangeSaid, ...]
    releases: tuple[SyncedRelease, ...]
    left_over: tuple[str, ...]
    notes: tuple[str, ...]
    diff: str


def _foreseen(found: Synced) -> Iterator[str]:
    """Of each release what is seldom meant, what it shows and costs, and what its account has left.

    A checkout without the ledger, as a pull request has, does not know what is left.
    """
    from policy_engine.releasing.charging import charge_of
    from policy_engine.releasing.editions import known_books
    from policy_engine.releasing.validation import warnings_of

    project, known, unknown = project_at(found.project.directory), None, ""
    try:
        known = known_books(project)
    except PolicyEngineError:
        unknown = "not known, the ledger cannot be read here ('policy-engine ledger show' says why)"
    for each in found.releases:
        yield from (f"warning: {told}" for told in warnings_of(each.policy))
        charge = charge_of(each.policy.budget, each.certificate, each.policy)
        price = f"ε {charge.epsilon:f}, δ {in_text(charge.delta)}"
        left = unknown or _left(each.policy, charge, project, known)
        yield (
            f"{each.release}: {_shown(each.policy)}price {price} for one {charge.unit},"
            f" from account {charge.account}; left now: {left}"
        )


def _shown(policy: Policy) -> str:
    """Which groups are shown, and how far off a count is; nothing of public values."""
    from policy_engine.cli.outlook import Outlook

    if policy.is_by_chance:
        return ""
    own = Outlook.of(policy).own
    off = f"{policy.release.count_as} give or take {own.error:.1f} (1 SD)"
    noise = f"{off}; " if policy.release.form == "counts" else ""
    return f"a group of {own.half:,} people shown half of the time; {noise}"


def _left(policy: Policy, charge: Charge, project: Project, known: Books | None) -> str:
    """What its account would pay for in its windows of now."""
    from policy_engine.releasing.books import windows_now
    from policy_engine.releasing.charging import Payer
    from policy_engine.releasing.editions import at_moment

    account = Payer(policy, project, charge.account).account_in(known)
    windows = windows_now(account, project, at_moment(known))
    left = account.remaining(charge.asked, charge.neighbours, windows)
    return "no limit" if left is None else left.words()


def _said(found: Synced, notes: tuple[str, ...], *, dry_run: bool) -> SyncSaid:
    shown = found.project.shown
    return SyncSaid(
        dry_run=dry_run,
        changed=bool(found.changes),
        changes=tuple(ChangeSaid(shown(each.path), each.kind) for each in found.changes),
        releases=tuple(_release(each, shown) for each in found.releases),
        left_over=tuple(found.stale),
        notes=notes,
        diff=found.diff if dry_run else "",
    )


def _release(each: ReleaseModel, shown: Callable[[Path], str]) -> SyncedRelease:
    promise = each.certificate.promise
    return SyncedRelease(
        model=each.model,
        version=each.version,
        policy=shown(each.policy.file),
        file=shown(each.file),
        source=each.node.call,
        dialect=each.dialect.name,
        k=each.certificate.k,
        rate=f"{promise.rate:f}",
        epsilon=f"{promise.epsilon:f}",
        delta=str(promise.delta),
    )


def adopt(
    model: Annotated[str, typer.Argument(help="The name of the model in dbt.")],
    project_dir: ProjectOption = None,
    manifest: Annotated[
        Path | None, typer.Option(help="A manifest.json. Default: that of the last run of dbt.")
    ] = None,
    account: Annotated[
        str | None,
        typer.Option(help="The account that pays. Required if the project has several accounts."),
    ] = None,
) -> None:
    """Write a policy for a model that somebody wrote by hand, if the program understands the model.

    The program reads the compiled SQL as 'certify-sql' does. The output shows how the program
    understood the SQL. The policy is written beside the model. It describes the same release as the
    SQL, with one exception: if the SQL draws no sample, the policy has the same groups, but adds
    noise to the counts.

    If the program does not understand a part of the SQL, or if the SQL lacks a fact that a policy
    needs, nothing is written and the exit code is 1. If only such facts are missing, the output
    shows a draft of the policy. Words in capitals mark the gaps.

    Example: policy-engine dbt adopt towns
    """
    from policy_engine.check.described import lines
    from policy_engine.dbt.adopting import adopted
    from policy_engine.dbt.manifest import read_manifest
    from policy_engine.dbt.project import Change, apply, open_dbt_project

    project = open_dbt_project(project_dir)
    accounts = list(project_at(project.directory).accounts)
    if account is None and len(accounts) != 1:
        listed = ", ".join(accounts) or "none"
        raise UsageError(
            f"name the account that pays with --account; policy-engine.yaml has {listed}"
        )
    account = account or accounts[0]
    found = adopted(project, read_manifest(manifest or project.manifest), model, account)
    if found.path.exists():
        raise FileError(f"{project.shown(found.path)} exists: {model} has a policy")
    understood = [] if found.claim is None else ["understood:", *lines(found.claim, found.engine)]
    to_confirm = [f"  - {each}" for each in found.beside]
    to_confirm = ["confirm these because nothing checks them:", *to_confirm] if to_confirm else []
    understood += to_confirm if understood else []
    if found.text:
        apply([Change(found.path, None, found.text)])
        understood += [
            f"wrote {project.shown(found.path)}",
            f"next: read it, remove {found.model.file}, and run 'policy-engine dbt sync'",
        ]
    if found.draft:
        place = project.shown(found.path)
        understood = [f"write {place}, with your words for those in capitals:", ""]
        understood += [*found.draft.split("\n"), *to_confirm]
    document = {
        "model": model,
        "policy": project.shown(found.path) if found.text else None,
        "text": found.text or found.draft or None,
        "understood": understood,
        "confirm": list(found.beside),
        "missed": list(found.missed),
        "why": list(found.why),
    }
    confirm(document, understood)
    for each in (*found.missed, *found.why):
        complain(f"{found.model.file}: not understood: {each}" if each in found.missed else each)
    if not found.text:
        raise typer.Exit(1)
