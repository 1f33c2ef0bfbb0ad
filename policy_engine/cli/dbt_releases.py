"""dbt request, reserve, attest, status and build: releases that dbt makes, paid for and signed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.attest.validity import written
from policy_engine.calendars import Zone
from policy_engine.cli.dbt_options import ProfilesOption, ProjectOption, TargetOption, VarsOption
from policy_engine.cli.failures import failure
from policy_engine.cli.options import EditionOption, SignerOption
from policy_engine.cli.output import (
    complain,
    confirm,
    emit,
    emit_error,
    emit_json,
    is_json,
    is_quiet,
    note,
    number,
    shown,
)
from policy_engine.cli.review import (
    ONE_CHOICE,
    SearchOption,
    SuggestOption,
    choice_sought,
    emit_asked,
    signer,
)
from policy_engine.errors import NotApproved, UsageError
from policy_engine.ledger.account import brief
from policy_engine.values import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from policy_engine.dbt.desk import Desk, Place, Told
    from policy_engine.dbt.manifest import Manifest
    from policy_engine.dbt.releases import DbtRelease, Texts
    from policy_engine.ledger.entry import Entry
    from policy_engine.ledger.reviews import Required
    from policy_engine.ledger.store import Ledger
    from policy_engine.releasing.asking import Sought
    from policy_engine.releasing.editions import Schedule

FreshOption = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Charge again for a release that was charged before and no longer exists.",
    ),
]


def request(
    policy: Annotated[
        Path | None,
        typer.Argument(help="The policy for --search or --suggest.", readable=False),
    ] = None,
    search: SearchOption = False,
    suggest: SuggestOption = None,
    edition: EditionOption = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    key: SignerOption = None,
) -> None:
    """Ask for approvals of every release that is not built yet, if its account requires them.

    Like 'review request', the command writes one file for each release, beside its certificate.
    Give these files to the people who approve. 'dbt reserve' charges nothing before they have
    approved. With POLICY and --search or --suggest, the command asks for the approvals that 'dbt
    search' or 'dbt suggest' needs.

    Example: policy-engine dbt request --target prod --key ada.pem
    """
    from policy_engine.dbt.desk import open_desk, place_of
    from policy_engine.releasing.asking import ask_for
    from policy_engine.releasing.books import open_ledger

    if (policy is None) is (search or suggest is not None) or (search and suggest is not None):
        raise UsageError(ONE_CHOICE)
    place = place_of(project_dir, profiles_dir, target, vars)
    done: list[tuple[Sought, Required, bool]] = []
    if policy is None:
        # Before a file of DuckDB's is opened here, which is of one process.
        texts = place.compiled()
        with open_desk(place) as desk, open_ledger(desk.project) as opened:
            asked = [*sought(desk, opened, texts)]
    else:
        asked = [_choice(place, policy, suggest, edition)]
    with open_ledger(place.project) as opened:
        for each, required in asked:
            written = ask_for(each, required, opened.read(), signer(place.project, key))
            done.append((each, required, written))
    for each, required, written in done:
        emit_asked(each, required, written=written)


def _choice(
    place: Place, policy: Path, suggest: str | None, edition: str | None
) -> tuple[Sought, Required]:
    """What a private choice for a policy waits for."""
    from policy_engine.dbt.project import CHOSEN, chosen_file
    from policy_engine.releasing.asking import required_of
    from policy_engine.releasing.books import open_ledger

    found, project = place.chooses(policy)
    output = chosen_file(policy, CHOSEN[suggest is not None], edition or "")
    asked = choice_sought(found, project, suggest, edition, output)
    with open_ledger(project) as opened:
        return asked, required_of(opened.read(), asked.matter.of["account"])


@contextmanager
def asked_in_dbt(words: str = "") -> Iterator[None]:
    """Say how approvals that are not there are asked for in a dbt project."""
    try:
        yield
    except NotApproved as error:
        error.add_note(f"of a dbt project 'policy-engine dbt request{words}' asks for them")
        raise


def sought(desk: Desk, opened: Ledger, releases: Texts) -> Iterator[tuple[Sought, Required]]:
    """What each release that does not stand waits for, where its account requires approvals."""
    from policy_engine.dbt.booking import Booking, dated_releases
    from policy_engine.releasing.asking import asked_of

    for each in dated_releases(desk, opened.read(), releases):
        release = each.release
        required = opened.read().approvals.required(release.policy.budget)
        if required is not None and required.needs("claim") and each.is_due:
            booking = Booking(desk, opened, release, each.certified(desk)[0])
            charge, paid = booking.charge(), booking.unstarted()
            account = booking.payer.account_in(opened.read())
            asked = asked_of(charge, release.certificate, opened.read(), account, paid)
            yield asked, required


def reserve(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
    fresh: FreshOption = False,
) -> None:
    """Certify the releases that dbt will build, charge for them, and put their secrets where dbt
    reads them.

    The command runs 'dbt compile' and certifies the SQL of every release that does not exist yet. A
    release that exists or is already reserved costs nothing. If an account cannot pay, no secret is
    put in place, so dbt draws no row. If a release was charged before and no longer exists, it is
    charged again only with --fresh.

    Example: policy-engine dbt reserve --target prod
    """
    from policy_engine.dbt.desk import place_of

    place = place_of(project_dir, profiles_dir, target, vars)
    _check_released(place)
    _emit_reserved(place, _reserved(place, fresh=fresh))


def _reserved(place: Place, *, fresh: bool) -> tuple[Told, ...]:
    from policy_engine.dbt.attesting import attest_left
    from policy_engine.dbt.booking import reserve as run
    from policy_engine.dbt.desk import open_desk

    texts = place.compiled()
    with open_desk(place) as desk:
        # What an earlier run has built is signed for while its source is what it was built of.
        left = tuple(each for each in attest_left(desk, texts) if each.outcome not in _NOT_BUILT)
        with asked_in_dbt():
            return (*left, *run(desk, texts, fresh=fresh, say=note))


def attest(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    vars: VarsOption = None,  # noqa: A002 - the option's name
) -> None:
    """Sign certificates for the releases that dbt has built.

    The command runs the certified SQL of each release again, with the secret of this release. If
    the result equals the rows of the table, the command signs a certificate. Otherwise the table
    gets no certificate. If a table was built without a reservation, it is charged now, and also
    gets no certificate. If any release has no signed table, the exit code is 1, for example because
    'dbt reserve' failed before. A release without an edition that is due may have no table.

    Example: policy-engine dbt attest --target prod
    """
    from policy_engine.dbt.desk import place_of

    place = place_of(project_dir, profiles_dir, target, vars)
    _check_released(place)
    found = _attested(place, place.parsed())
    if is_json():
        releases = [_attestation(each) for each in found]
        emit_json({"target": place.target, "releases": releases})
    _tell_attested(place, found)


def _attested(place: Place, manifest: Manifest) -> tuple[Told, ...]:
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
) -> None:
    """Show the state of each release of a target: reserved, built, certified, due or changed.

    The output shows the certificate, its date, and whether the last run of dbt has rebuilt the
    source since that date. If the policy has a calendar, the output also shows the edition and the
    next edition that is due. The exit code is 0 only if every release is 'certified' or 'not due'.

    Example: policy-engine dbt status --target prod
    """
    from policy_engine.dbt.attesting import left_behind, standing
    from policy_engine.dbt.desk import open_desk, place_of

    place = place_of(project_dir, profiles_dir, target, vars)
    _check_released(place)
    releases = place.releases(place.parsed())
    with open_desk(place) as desk:
        found = standing(desk, releases)
        others = left_behind(desk, releases, place.target)
    rebuilt = place.rebuilt()
    told = [_standing(each, rebuilt) for each in found]
    lines = []
    for each, said in zip(found, told, strict=True):
        what = f"{each.release.told}  {each.release.relation}{_paid(each.entry)}"
        lines.append(f"{each.outcome:<13} {what}")
        if each.schedule is None and said.since:
            lines.append(f"  since        {said.since}")
        lines += _calendar(each.schedule)
        if said.source_made_anew:
            lines.append(f"  source       made anew since, {said.source_made_anew}")
        if said.certificate is not None:
            lines.append(f"  certificate  {place.files.shown(said.certificate)}")
    emit({"target": place.target, "releases": told}, lines)
    for entry in others:
        note(
            f"entry {entry.id} paid for {entry.run.target}, which is of no policy of the project"
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
) -> None:
    """Reserve, run 'dbt build' and attest: everything that a release needs, in one command.

    The command passes everything after -- to dbt unchanged. In a target that is not a release
    target, the command only runs 'dbt build'. With --format json, the output of dbt goes to stderr.

    Example: policy-engine dbt build --target prod -- --select +adult_public
    """
    from policy_engine.dbt.desk import place_of

    words, as_json = context.args, is_json()
    options = [word.partition("=")[0] for word in words]
    for option in options:  # so that what is reserved is what dbt builds
        if option in _OURS:
            raise UsageError(f"{option} stands behind --, where dbt alone sees it: put it before")
        if option == "--profile":
            raise UsageError("--profile: a release is made in the project's own profile")
    place = place_of(project_dir, profiles_dir, target, vars)
    reserved: tuple[Told, ...] = ()
    attested: tuple[Told, ...] = ()
    if place.is_released_in:
        _check_whole(options, place.target)
        reserved = _reserved(place, fresh=fresh)
        if not as_json:
            _emit_reserved(place, reserved)
    # What dbt writes; nothing with --quiet, where only its errors are told.
    shown_on = None if is_quiet() else 2 if as_json else 1
    failed: BaseException | None = None
    try:
        place.dbt.run("build", *words, shown_on=shown_on)
    except BaseException as error:
        failed = error  # what was built before it failed stands, and is looked at
    if place.is_released_in:
        attested = _attested(place, place.manifest())
    if as_json:
        document = {
            "target": place.target,
            "reserved": [_reservation(each) for each in reserved],
            "releases": [_attestation(each) for each in attested],
        }
        if failed is not None:
            stopped = failure(failed)
            emit_error(stopped, as_json=False)
            emit_json({**stopped.document, **document})
            raise typer.Exit(stopped.exit_code) from None
        emit_json(document)
    _tell_attested(place, attested, may_wait=True)
    if failed is not None:
        raise failed


_OFF = {"", "0", "false", "f", "no", "n", "off"}  # as dbt reads a variable
_PARTS = {
    "--empty": ("DBT_EMPTY", "DBT_ENGINE_EMPTY"),
    "--sample": ("DBT_SAMPLE", "DBT_ENGINE_SAMPLE"),
}
_OURS = {"--target", "-t", "--vars", "--project-dir", "--profiles-dir"}


def _check_whole(options: list[str], target: str) -> None:
    """That dbt builds what is proved, and no part of it."""
    for option, variables in _PARTS.items():
        given = [option] if option in options else []
        given += [name for name in variables if os.environ.get(name, "").lower() not in _OFF]
        if given:
            raise UsageError(f"a release is not built with {given[0]} in the target {target}")


def _check_released(place: Place) -> None:
    """Say so where there is nothing to do in the target, and be done."""
    if place.is_released_in:
        return
    listed = ", ".join(place.project.dbt.release_targets) or "none"
    said = (
        f"nothing is released in the target {place.target}, where release models are empty"
        f" (dbt.release_targets: {listed})"
    )
    confirm({"target": place.target, "releases": []}, [said])
    raise typer.Exit


_ATTESTED = {
    "absent": "{} is not built",
    "not due": "{}: nothing is due",
    "waits": "{} is reserved and not built yet",
    "stands": "{} stands as it was attested",
    "attested": "attested {}",
    "refused": "no certificate speaks of {}",
}
_RESERVED = {
    **_ATTESTED,
    "reserved": "reserved {}",
    "waits": "reserved {} before, and dbt has not built it yet; nothing was charged",
    "stands": "{} stands; nothing was charged",
}
_NOT_BUILT = {"absent", "not due", "waits", "stands"}
_SIGNED = {"stands", "attested"}


def _emit_reserved(place: Place, found: tuple[Told, ...]) -> None:
    lines = []
    for each in found:
        lines += [_RESERVED[each.outcome].format(each.release.told), _paid(each.entry)]
        lines += _calendar(each.schedule)
        if each.why:
            complain(f"{each.release.told}: {each.why}")
    document = {"target": place.target, "releases": [_reservation(each) for each in found]}
    confirm(document, [line for line in lines if line])


def _reservation(found: Told) -> DbtReleaseSaid:
    return _said(found.release, found.entry, outcome=found.outcome)


def _tell_attested(place: Place, found: tuple[Told, ...], *, may_wait: bool = False) -> None:
    """Say it to a person, and exit with 1 where a release does not stand as it was signed for.

    One that is reserved ``may_wait`` where dbt was told what to build: it says itself what failed.
    """
    lines = []
    for each in found:
        lines.append(_ATTESTED[each.outcome].format(each.release.told))
        if each.outcome in _SIGNED:
            lines.append(f"  relation     {each.release.relation}")
            lines.append(f"  certificate  {place.files.shown(each.release.certificate)}")
        lines.append(_paid(each.entry))
    if not is_json():
        confirm({}, [line for line in lines if line])
    for each in found:
        if each.why:
            (note if each.is_good else complain)(f"{each.release.told}: {each.why}")
        elif each.outcome == "attested" and not each.rows:
            note(
                f"{each.release.told}: no group has k people, so it has no row; it is charged all"
                " the same. Coarser recodes make larger groups"
            )
    if not all(each.is_good or (may_wait and each.outcome == "waits") for each in found):
        raise typer.Exit(1)


def _attestation(found: Told) -> AttestedSaid:
    paid = _said(found.release, found.entry, outcome=found.outcome)
    certificate = found.release.certificate if found.outcome in _SIGNED else None
    return AttestedSaid(**vars(paid), certificate=certificate, rows=found.rows, why=found.why)


@frozen
class PaidBy:
    """The entry that paid for a release last, and how it stands."""

    account: str
    entry: int
    state: str


@frozen(kw_only=True)
class DbtReleaseSaid:
    """A release, how it stands or what was done with it, and what it cost."""

    release: str
    relation: str
    edition: str = ""
    state: str | None = None
    outcome: str | None = None
    epsilon: float | None
    delta: float | None
    ledger: PaidBy | None


@frozen(kw_only=True)
class StandingSaid(DbtReleaseSaid):
    """A release that stands: ``since`` when, and its ``certificate``.

    ``source_made_anew`` is when dbt's last run made its source, if that was later. ``due`` are the
    editions that are to be drawn, and ``next`` the one that is due from ``next_from``.
    """

    since: str | None
    certificate: Path | None
    source_made_anew: str | None
    due: tuple[str, ...]
    next: str | None
    next_from: str | None


@frozen(kw_only=True)
class AttestedSaid(DbtReleaseSaid):
    """A release that dbt has built: its certificate, its rows, or why there is no certificate."""

    certificate: Path | None
    rows: int
    why: str


def _said(
    release: DbtRelease,
    entry: Entry | None,
    *,
    state: str | None = None,
    outcome: str | None = None,
) -> DbtReleaseSaid:
    return DbtReleaseSaid(
        release=release.id,
        relation=release.relation,
        edition=release.written.edition.name,
        state=state,
        outcome=outcome,
        epsilon=None if entry is None else number(entry.epsilon),
        delta=None if entry is None else number(entry.delta),
        ledger=None if entry is None else PaidBy(entry.account, entry.id, entry.state),
    )


def _calendar(schedule: Schedule | None) -> list[str]:
    """What a calendar says: the last edition, those that are due, and the next."""
    if schedule is None:
        return []
    lines = []
    last = schedule.last
    if last is not None and last.committed_at is not None:
        lines.append(f"  edition      {last.run.edition}, since {written(last.committed_at)}")
    if schedule.due:
        lines.append(f"  due now      {', '.join(each.name for each in schedule.due)}")
    for entry in schedule.lost:
        lines.append(
            f"  lost         {entry.run.edition}: entry {entry.id}, and nothing stands of it"
        )
    following, on = schedule.following, schedule.on
    if following is not None and on is not None:
        lines.append(f"  next         {following.name}, due from {Zone(following.zone).told(on)}")
    return lines


def _standing(each: Told, rebuilt: Mapping[str, datetime]) -> StandingSaid:
    said, release, schedule = _said(each.release, each.entry), each.release, each.schedule
    since = None if each.entry is None else each.entry.committed_at
    made = (rebuilt[n.relation] for n in release.nodes if n.relation in rebuilt)
    at = max(made, default=None)
    following = None if schedule is None else schedule.following
    on = None if schedule is None else schedule.on
    return StandingSaid(
        **{**vars(said), "state": each.outcome},
        since=None if since is None else written(since),
        certificate=release.certificate if since is not None else None,
        source_made_anew=written(at) if since and at and at > since else None,
        due=() if schedule is None else tuple(one.name for one in schedule.due),
        next=None if following is None else following.name,
        next_from=None if on is None else written(on),
    )


def _paid(entry: Entry | None) -> str:
    if entry is None:
        return ""
    return (
        f"  ε = {brief(entry.epsilon)}, δ = {shown(entry.delta)}, unit: {entry.unit}, entry"
        f" {entry.id} of account {entry.account}"
    )
