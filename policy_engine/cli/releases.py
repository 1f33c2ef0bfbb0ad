"""release: publishing what a policy says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from policy_engine.attest.validity import written
from policy_engine.calendars import Zone
from policy_engine.cli import output, planning
from policy_engine.cli.failures import failure
from policy_engine.cli.options import EditionOption
from policy_engine.cli.progress import progress
from policy_engine.cli.results import Left, WithoutPromise, attacks_on
from policy_engine.compile.column_names import promise_sentences
from policy_engine.errors import UsageError
from policy_engine.kernel.assumptions import ROW_UNIT
from policy_engine.kernel.mechanisms.whole_classes.meaning import first_lines, still_works
from policy_engine.policy.following import of_one_name
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted
from policy_engine.releasing import due
from policy_engine.releasing import release as releasing
from policy_engine.releasing.due import Ready, make_ready
from policy_engine.releasing.editions import Schedule
from policy_engine.releasing.naming import told_due
from policy_engine.releasing.planning import project_of
from policy_engine.releasing.preview import about
from policy_engine.releasing.validation import warnings_of
from policy_engine.values import frozen


def release(
    policies: Annotated[
        list[Path], Argument(help="Policy files. They are released in this order.", readable=False)
    ],
    edition: EditionOption = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the release if the file or table exists.")
    ] = False,
    revise: Annotated[
        bool, Option("--revise", help="Draw an existing release again. It is charged again.")
    ] = False,
) -> None:
    """Release what is due: certify, charge the account, draw, publish with the certificate.

    A policy with `refresh` or `period` has one edition for each period of its calendar, such as
    each month. The command releases every edition that is due, the oldest first. With `revise`, the
    command also draws an edition a second time when this draw is due, at a second price. A policy
    without a calendar has one edition. If nothing is due, the exit code is 0.

    If you ask again for an edition that was drawn before, you get the same release. The source is
    not read, nothing is charged, and the exit code is 0. If a crash interrupted a release, run the
    same command again to finish it. If a release is lost, the output says so.

    --edition names one edition. With a calendar, name a period that is due, such as 2026-11.
    Without a calendar, choose any name: a new name is a new draw at a new price. --revise draws an
    edition again, at a new price.

    If you change a policy, its next release is a new draw at its own price. The output says so
    before anything is charged. Editions that were drawn before stay as they are.

    If you name several policies, the command first certifies all of them and checks that their
    accounts can pay. Then the releases run, one after another. If one fails, the releases before it
    stay, and the output reports them.

    Example: policy-engine release policies/adult/policy.yaml
    """
    if edition is not None and len(policies) > 1:
        raise UsageError("--edition names an edition of one policy: name one policy")
    done: list[ReleaseSaid | UnpromisedRelease] = []
    said: list[object] = []
    ready: tuple[Ready, ...] = ()

    def made(policy: Policy) -> ReleaseSaid | UnpromisedRelease:
        return _release(policy, replace=replace, revise=revise)

    try:
        ready = make_ready(policies, replace=replace, revise=revise, edition=edition)
        for each in ready:
            first, project = len(done), project_of(each.policy)
            for one in due.drawn(each, project, made, output.note):
                done.append(one)
            said.append(done[first] if each.schedule is None else _scheduled(each, done[first:]))
    except BaseException as error:
        if not done:
            raise
        failed = failure(error)
        named = [
            f"{path} ({policy.edition.name})" if policy.edition.zone else str(path)
            for path, each in zip(policies, ready, strict=True)
            for policy in each.editions
        ]
        missing = named[len(done) :]
        output.emit_error(failed, as_json=False)
        document = {**failed.document, "releases": done, "not_released": missing}
        text = f"released {len(done)} of {len(named)}; not released: {', '.join(missing)}"
        output.emit(document, [text])
        raise Exit(failed.exit_code) from None
    if output.is_json():
        output.emit_json(said[0] if len(said) == 1 else {"releases": said})


@frozen
class NextEdition:
    """The edition that is due next, and from when on; ``revision``: drawn anew, by the calendar."""

    edition: str
    due: str
    revision: bool


@frozen
class ScheduledSaid:
    """What was due of a policy with a schedule: ``code`` is ``released`` or ``nothing_due``.

    ``last`` is the edition that was released last before; ``lost`` are those that can be drawn no
    more but with --revise, and of ``missing``, which were released, nothing stands here.
    """

    policy: str
    code: str
    editions: tuple[ReleaseSaid | UnpromisedRelease, ...]
    next: NextEdition | None
    last: str | None
    lost: tuple[str, ...]
    missing: tuple[str, ...]


def _scheduled(ready: Ready, released: Sequence[ReleaseSaid | UnpromisedRelease]) -> ScheduledSaid:
    """What became of the editions of a policy that were due; said at once as text."""
    schedule = ready.schedule
    assert schedule is not None
    following, on = schedule.following, schedule.on
    name, last = ready.policy.name, schedule.last
    lines = [] if released else list(_nothing_due(ready, schedule))
    after = None
    if following is not None and on is not None:
        after = NextEdition(following.name, written(on), following.is_revision)
        lines.append(
            f"  next         {told_due(following)}, due from {Zone(following.zone).told(on)}"
        )
    if not output.is_json():
        output.confirm({}, lines)
    return ScheduledSaid(
        policy=name,
        code="released" if released else "nothing_due",
        editions=tuple(released),
        next=after,
        last=None if last is None else last.run.edition,
        lost=tuple(entry.run.edition for entry in schedule.lost),
        missing=tuple(entry.run.edition for entry in ready.missing),
    )


def restore(
    policy: Annotated[Path, Argument(help="A policy file.", readable=False)],
    edition: EditionOption = None,
    replace: Annotated[
        bool, Option("--replace", help="Replace the release if the file or table exists.")
    ] = False,
) -> None:
    """Write a lost release or its certificate again, from a kept copy.

    The program keeps a copy of every release beside its certificate, in the folder .released. If
    the policy has several editions, the command restores the edition that --edition names, or the
    last one that is missing. The copy must have the digest that the ledger recorded. The command
    reads no source, needs no secret and charges nothing.

    Example: policy-engine restore policies/adult/policy.yaml
    """
    found = load_policy(policy, unpromised=True)
    meant = due.last_missing(found) if edition is None else edition
    done = releasing.restore(found, edition=meant, replace=replace)
    text = _uncertified_lines if found.is_unpromised else _lines
    said = _unpromised(found, done) if found.is_unpromised else _said(done)
    output.emit(said, list(text(found, done)))


def _nothing_due(ready: Ready, schedule: Schedule) -> Iterator[str]:
    """What is true where the calendar asks for nothing, whatever became of the source.

    Of one that is lost its warning says whether it can be drawn anew.
    """
    policy, last = ready.policy, schedule.last
    if last is None:
        yield f"{policy.name}: nothing is due; its source was not looked at"
        return
    known = f"the last is {last.run.edition} (entry {last.id}, {last.run.target})"
    yield f"{policy.name}: nothing is due; {known}; its source was not looked at"
    if ready.changed:
        yield f"  policy       {ready.changed}"
        if twice := of_one_name(policy, project_of(policy)):
            yield f"  name         {twice}"
    if not schedule.lost:
        yield _anew(policy, last.run.edition)


def _anew(policy: Policy, edition: str) -> str:
    """How what stands is drawn once more, from the source and the policy as they are now."""
    named = f" --edition {edition}" if edition else ""
    command = f"policy-engine release {shlex.quote(str(policy.file))}{named} --revise --replace"
    price = "" if policy.is_unpromised else ", at a new price"
    return f"  anew         '{command}' draws it again{price}"


def _release(policy: Policy, *, replace: bool, revise: bool) -> ReleaseSaid | UnpromisedRelease:
    """Release one policy; said at once as text, and for the one document as the answer."""
    for each in warnings_of(policy):
        output.note(f"warning: {each}")
    with progress(f"releasing {policy.name}") as seen, about(policy.file):
        found = releasing.release(
            policy, replace=replace, revise=revise, say=output.note, watch=seen.watching
        )
    for remark in found.remarks:
        output.note(f"warning: {policy.name}: {remark}")
    if not output.is_json():
        text = _uncertified_lines if policy.is_unpromised else _lines
        anew = [_anew(policy, found.edition)] if found.outcome == "stands" else []
        output.confirm({}, [*text(policy, found), *anew])
    return _unpromised(policy, found) if policy.is_unpromised else _said(found)


@frozen
class Paid:
    """Which account has paid, by which entry, and what it would still pay for."""

    account: str
    entry: int
    left: Left | None


@frozen(kw_only=True)
class ReleaseSaid:
    """A certified release: ``people`` of the sample, or ``person_groups`` of people in several."""

    release: str
    certificate: Path
    epsilon: Decimal | None
    delta: Decimal | None
    k: int
    rate: Decimal
    groups: int
    rows: int
    outcome: str
    repeated: bool
    remarks: tuple[str, ...]
    edition: str
    revision: bool
    """Whether it is drawn anew, by the calendar."""
    ledger: Paid
    people: int | None = None
    person_groups: int | None = None
    begins: str | None = None
    """That it is the first in its window of the account, and what that window adds."""


def _said(done: releasing.Released) -> ReleaseSaid:
    return ReleaseSaid(
        release=done.release,
        certificate=done.certificate,
        epsilon=done.epsilon,
        delta=done.delta,
        k=done.k,
        rate=done.rate,
        groups=done.groups,
        rows=done.rows,
        outcome=done.outcome,
        repeated=done.repeated,
        remarks=done.remarks,
        edition=done.edition,
        revision=done.is_revision,
        ledger=Paid(done.account, done.entry, Left.of(done.left)),
        people=done.people,
        person_groups=done.person_groups if done.people is None else None,
        begins=done.begins or None,
    )


def _lines(policy: Policy, done: releasing.Released) -> list[str]:
    assert done.epsilon is not None
    assert done.delta is not None
    numbers = done.epsilon, done.delta, policy.guarantee.neighbours
    said = promise_sentences(*numbers, policy.source.key or ROW_UNIT)
    remains = "the account has no limit: it only adds up"
    if done.state.spent is not None and done.state.spent.is_unbounded:
        remains = "no (ε, δ) holds of the account, for releases without one are charged to it"
    elif done.left is not None:
        remains = f"left: {done.left.words()}"
    mechanism = planning.noise_words(policy) or f"k = {done.k}, rate {output.shown(done.rate)}"
    return [
        _title(policy, done),
        f"  release      {done.release}  ({_size(policy, done)})",
        f"  certificate  {done.certificate}",
        f"  guarantee    ε = {output.shown(done.epsilon)}, δ = {output.shown(done.delta)}"
        f"  ({planning.protected_unit(policy)}; {mechanism})",
        *[f"               {text}" for text in (*planning.about_rate(policy), *said)],
        f"  ledger       entry {done.entry} of account {done.account}; {remains}",
    ]


def _title(policy: Policy, done: releasing.Released) -> str:
    """What became of a release."""
    anew = ", drawn anew by the calendar," if done.is_revision else ","
    name = f"{policy.name}, edition {done.edition}{anew}" if done.edition else policy.name
    if done.outcome == "stands":
        return f"{name} stands; its source was not looked at, nothing was charged"
    if done.outcome == "put back":
        return f"{name} is put back from the bytes that were kept; nothing was charged"
    return f"released {name.rstrip(',')}"


def _size(policy: Policy, done: releasing.Released) -> str:
    """Groups and people: where a sample is drawn, those of it that are shown, not the source's."""
    groups = counted(done.groups, "group")
    if not policy.protection.has_people:
        return groups
    if policy.noise is None:
        return f"{groups}, {done.person_groups} people of the sample"
    if policy.is_by_chance:
        return f"{groups}, some of them by chance alone"
    if done.groups_a_person == 1:
        return f"{groups}, {done.person_groups} people, counted with noise"
    summed = f"whose counts with noise add up to {done.person_groups}"
    return f"{groups}, {summed}: a person is in up to {done.groups_a_person} groups"


@frozen
class ChargedTo:
    """The entry of a release without (ε, δ)."""

    account: str
    entry: int


@frozen(kw_only=True)
class UnpromisedRelease(WithoutPromise):
    """A release without (ε, δ), and where its statement is."""

    release: str
    statement: Path
    k: int
    models: tuple[Mapping[str, object], ...]
    groups: int
    rows: int
    people: int
    outcome: str
    repeated: bool
    remarks: tuple[str, ...]
    edition: str
    ledger: ChargedTo


def _unpromised(policy: Policy, done: releasing.Released) -> UnpromisedRelease:
    return UnpromisedRelease(
        still_works=attacks_on(policy.k, policy.models),
        release=done.release,
        statement=done.certificate,
        k=done.k,
        models=tuple(model.to_json() for model in policy.models),
        groups=done.groups,
        rows=done.rows,
        people=done.person_groups,
        outcome=done.outcome,
        repeated=done.repeated,
        remarks=done.remarks,
        edition=done.edition,
        ledger=ChargedTo(done.account, done.entry),
    )


def _uncertified_lines(policy: Policy, done: releasing.Released) -> Iterator[str]:
    yield from first_lines(still_works(policy.k, policy.models))
    yield _title(policy, done)
    groups = counted(done.groups, "group")
    yield f"  release    {done.release}  ({groups}, {done.person_groups} people)"
    yield f"  statement  {done.certificate}"
    yield from (f"  model      {each}" for each in planning.models_in_words(policy))
    yield f"  ledger     entry {done.entry} of account {done.account}; {planning.UNLIMITED}"
