"""dbt reserve, attest, status and build: releases that dbt makes, paid for and signed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.failures import failure
from policy_engine.cli.output import (
    Format,
    FormatOption,
    brief,
    complain,
    confirm,
    emit,
    emit_error,
    emit_json,
    is_quiet,
    note,
    number,
    shown,
)
from policy_engine.errors import UsageError

if TYPE_CHECKING:
    from policy_engine.dbt.attesting import Attested
    from policy_engine.dbt.booking import Reserved
    from policy_engine.dbt.desk import Place
    from policy_engine.dbt.manifest import Manifest
    from policy_engine.dbt.status import Standing
    from policy_engine.ledger.entry import Entry

FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Charge anew what was charged before and does not stand.")
]


def reserve(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    fresh: FreshOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Certify what dbt is about to build, charge it, and let its secret wait where dbt reads it.

    Runs 'dbt compile' and proves the text of every release that does not stand yet. What stands, or
    is reserved already, costs nothing. Where an account cannot pay nothing is put in place, so dbt
    draws no row. What was charged before and stands no more is charged anew with --fresh alone.

    Example: policy-engine dbt reserve --target prod
    """
    place = _place(project_dir, profiles_dir, target, vars)
    if not _is_released(place, format):
        return
    _emit_reserved(place, _reserved(place, fresh=fresh), format)


def _reserved(place: Place, *, fresh: bool) -> tuple[Reserved, ...]:
    from policy_engine.dbt.booking import reserve as run
    from policy_engine.dbt.desk import open_desk

    texts = place.compiled()
    with open_desk(place) as desk:
        return run(desk, texts, fresh=fresh, say=note)


def attest(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Sign for what dbt has built, after it has built it.

    A release is signed for where its certified text, run once more under its secret, gives just the
    rows of its table. What was built and not reserved is charged now. Exits with 1 for that, and
    for a table that no certificate can speak of.

    Example: policy-engine dbt attest --target prod
    """
    place = _place(project_dir, profiles_dir, target, vars)
    if not _is_released(place, format):
        return
    _emit_attested(place, _attested(place, place.parsed()), format)


def _attested(place: Place, manifest: Manifest) -> tuple[Attested, ...]:
    from policy_engine.dbt.attesting import attest as run
    from policy_engine.dbt.desk import open_desk

    texts = place.built(manifest)
    with open_desk(place) as desk:
        return run(desk, texts)


def status(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Show how the releases of a target stand: reserved, built, certified or changed.

    Exits with 1 where a table stands that no certificate speaks of.

    Example: policy-engine dbt status --target prod
    """
    from policy_engine.dbt.desk import open_desk
    from policy_engine.dbt.status import left_behind, standing

    place = _place(project_dir, profiles_dir, target, vars)
    if not _is_released(place, format):
        return
    releases = place.releases(place.parsed())
    with open_desk(place) as desk:
        found = standing(desk, releases)
        others = left_behind(desk, releases, place.target)
    document = {"target": place.target, "releases": [_standing(each) for each in found]}
    emit(document, [_standing_line(each) for each in found], format)
    for entry in others:
        note(
            f"entry {entry.id} paid for {entry.run['target']}, which is of no policy of the project"
            " as it is now: its policy was removed or renamed, or other --vars name it otherwise"
        )
    if not all(each.is_good for each in found):
        raise typer.Exit(1)


def build(
    context: typer.Context,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    fresh: FreshOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Reserve, run 'dbt build', attest: all that a release takes, in one command.

    What stands behind -- goes to dbt as it is. Outside of the release targets it is 'dbt build'.
    With --format json what dbt writes goes to stderr.

    Example: policy-engine dbt build --target prod -- --select +adult_public
    """
    _check_words(context.args)
    place = _place(project_dir, profiles_dir, target, vars)
    reserved: tuple[Reserved, ...] = ()
    attested: tuple[Attested, ...] = ()
    if place.is_released_in:
        _check_whole(context.args, place.target)
        reserved = _reserved(place, fresh=fresh)
        if format is Format.text:
            _emit_reserved(place, reserved, format)
    failed: BaseException | None = None
    try:
        place.dbt.run("build", *context.args, shown_on=_place_of_dbts_own(format))
    except BaseException as error:
        failed = error  # what was built before it failed stands, and is looked at
    if place.is_released_in:
        attested = _attested(place, place.manifest())
    if format is Format.json:
        document = _built(place, reserved, attested)
        if failed is not None:
            stopped = failure(failed)
            emit_error(stopped, as_json=False)
            emit_json({**stopped.document, **document})
            raise typer.Exit(stopped.exit_code) from None
        emit_json(document)
    _tell_attested(place, attested, format)
    if failed is not None:
        raise failed


def _place_of_dbts_own(form: Format) -> int | None:
    """The open file that dbt writes to; none with --quiet, where only its errors are told."""
    if is_quiet():
        return None
    return 2 if form is Format.json else 1


def _built(
    place: Place, reserved: tuple[Reserved, ...], attested: tuple[Attested, ...]
) -> dict[str, Any]:
    return {
        "target": place.target,
        "reserved": [_reservation(each) for each in reserved],
        "releases": [_attestation(each) for each in attested],
    }


_OFF = {"", "0", "false", "f", "no", "n", "off"}  # as dbt reads a variable
_PARTS = {
    "--empty": ("DBT_EMPTY", "DBT_ENGINE_EMPTY"),
    "--sample": ("DBT_SAMPLE", "DBT_ENGINE_SAMPLE"),
}
_OURS = {"--target", "-t", "--vars", "--project-dir", "--profiles-dir"}


def _check_words(words: list[str]) -> None:
    """That what is reserved is what dbt builds."""
    for word in words:
        option = word.partition("=")[0]
        if option in _OURS:
            raise UsageError(f"{option} stands behind --, where dbt alone sees it: put it before")
        if option == "--profile":
            raise UsageError("--profile: a release is made in the project's own profile")


def _check_whole(words: list[str], target: str) -> None:
    """That dbt builds what is proved, and no part of it."""
    for option, variables in _PARTS.items():
        given = [word for word in words if word.partition("=")[0] == option][:1]
        given += [name for name in variables if os.environ.get(name, "").lower() not in _OFF]
        if given:
            told = given[0].partition("=")[0]
            raise UsageError(f"a release is not built with {told} in the target {target}")


def _place(
    project_dir: Path | None, profiles_dir: Path | None, target: str | None, variables: str | None
) -> Place:
    from policy_engine.dbt.desk import place_of

    return place_of(project_dir, profiles_dir, target, variables)


def _is_released(place: Place, form: Format) -> bool:
    """Whether there is anything to do in the target; else it is said."""
    if place.is_released_in:
        return True
    listed = ", ".join(place.project.dbt.release_targets) or "none"
    said = (
        f"nothing is released in the target {place.target}, where release models are empty"
        f" (dbt.release_targets: {listed})"
    )
    confirm({"target": place.target, "releases": []}, [said], form)
    return False


_RESERVED = {
    "reserved": "reserved {}",
    "waits": "reserved {} before, and dbt has not built it yet; nothing was charged",
    "stands": "{} stands; nothing was charged",
}


def _emit_reserved(place: Place, found: tuple[Reserved, ...], form: Format) -> None:
    document = {"target": place.target, "releases": [_reservation(each) for each in found]}
    lines = [line for each in found for line in _reserved_lines(each)]
    confirm(document, lines, form)


def _reservation(found: Reserved) -> dict[str, Any]:
    return {
        "release": found.release.id,
        "relation": found.release.relation,
        "outcome": found.outcome,
        **_facts(found.entry),
    }


def _facts(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {"epsilon": None, "delta": None, "ledger": None}
    return {
        "epsilon": number(entry.epsilon),
        "delta": number(entry.delta),
        "ledger": {"account": entry.account, "entry": entry.id, "state": entry.state},
    }


def _reserved_lines(found: Reserved) -> list[str]:
    lines = [_RESERVED[found.outcome].format(found.release.id)]
    return lines + ([_paid(found.entry)] if found.entry is not None else [])


def _paid(entry: Entry) -> str:
    return (
        f"  ε = {brief(entry.epsilon)}, δ = {shown(entry.delta)}, unit: {entry.unit}, entry"
        f" {entry.id} of account {entry.account}"
    )


_ATTESTED = {
    "absent": "{} is not built",
    "stands": "{} stands as it was attested",
    "attested": "attested {}",
    "charged": "attested {}, which was not reserved",
    "refused": "no certificate speaks of {}",
}


def _emit_attested(place: Place, found: tuple[Attested, ...], form: Format) -> None:
    if form is Format.json:
        releases = [_attestation(each) for each in found]
        emit_json({"target": place.target, "releases": releases})
    _tell_attested(place, found, form)


def _tell_attested(place: Place, found: tuple[Attested, ...], form: Format) -> None:
    """Say it to a person, and exit with 1 where no certificate speaks of what stands."""
    lines = [line for each in found for line in _attested_lines(place, each)]
    if form is Format.text:
        confirm({}, lines, form)
    for each in found:
        if each.why:
            (note if each.is_good else complain)(f"{each.release.id}: {each.why}")
        elif each.outcome == "attested" and not each.rows:
            note(
                f"{each.release.id}: no group has k people, so it has no row; it is charged all the"
                " same. Coarser recodes make larger groups"
            )
    if not all(each.is_good for each in found):
        raise typer.Exit(1)


def _attestation(found: Attested) -> dict[str, Any]:
    signed = found.outcome in {"stands", "attested", "charged"}
    return {
        "release": found.release.id,
        "relation": found.release.relation,
        "outcome": found.outcome,
        "certificate": str(found.release.certificate) if signed else None,
        "rows": found.rows,
        "why": found.why,
        **_facts(found.entry),
    }


def _attested_lines(place: Place, found: Attested) -> list[str]:
    lines = [_ATTESTED[found.outcome].format(found.release.id)]
    if found.outcome in {"stands", "attested", "charged"}:
        lines.append(f"  relation     {found.release.relation}")
        lines.append(f"  certificate  {place.files.shown(found.release.certificate)}")
    return lines + ([_paid(found.entry)] if found.entry is not None else [])


def _standing(found: Standing) -> dict[str, Any]:
    return {
        "release": found.release.id,
        "relation": found.release.relation,
        "state": found.state,
        **_facts(found.entry),
    }


def _standing_line(found: Standing) -> str:
    paid = f"{_paid(found.entry)}" if found.entry is not None else ""
    return f"{found.state:<13} {found.release.id}  {found.release.relation}{paid}"
