"""What is due of policies is drawn, once all of them could be; what does not stand is told.

Nothing here looks at a source to find that out: calendars, the ledger and the places of releases
say it, and where nothing is due no source is opened.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from policy_engine.attest.signers import writer_of
from policy_engine.calendars import Refresh
from policy_engine.errors import EnvironmentFailed, PolicyError
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Entry
from policy_engine.policy.accounts import check_account
from policy_engine.policy.following import reading_once
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing import books, copies, standing
from policy_engine.releasing.announcing import other_numbers
from policy_engine.releasing.editions import (
    Clock,
    Schedule,
    asked_at,
    asked_for,
    at_moment,
    backlog,
    check_no_leap,
    in_edition,
    known_books,
    schedule_at,
    utc_now,
)
from policy_engine.releasing.placing import Reached, Spot
from policy_engine.releasing.planning import open_warehouse, project_of
from policy_engine.releasing.preview import Preview, about, of_all, preview
from policy_engine.releasing.release import Released, release
from policy_engine.releasing.requests import Ends
from policy_engine.releasing.reviewing import check_brought
from policy_engine.releasing.together import AskedCharge, check_together
from policy_engine.releasing.validation import check_guarantee, clashes_of
from policy_engine.values import frozen

_Made = TypeVar("_Made")


@frozen
class Ready:
    """A policy, and those editions of it that are to be released, in this order.

    ``schedule`` is what is due of it, None where an edition was named, or it has none. Of those
    that were released nothing of ``missing`` stands here; ``unseen`` says why nobody could look.
    ``changed`` says how later editions are another policy than the last one.
    """

    policy: Policy
    editions: tuple[Policy, ...]
    schedule: Schedule | None = None
    missing: tuple[Entry, ...] = ()
    unseen: str = ""
    changed: str = ""


@frozen
class DueReleases:
    """What was due of a policy with a schedule, released now; and what comes next.

    ``missing`` are entries of editions that were released before, of which nothing stands here.
    """

    released: tuple[Released, ...]
    schedule: Schedule
    missing: tuple[Entry, ...]


def release_due(
    policy: Policy,
    project: Project | None = None,
    *,
    replace: bool = False,
    say: Callable[[str], None] = lambda text: None,
    clock: Clock = utc_now,
) -> DueReleases:
    """Publish the editions of a policy that are due by its schedule, the oldest first.

    What a crash has left of one is finished, at no cost. Where nothing is due nothing is looked at
    but the ledger, and whether what was released stands: ``say`` is told what does not. Raises as
    ``release``, of the first edition that fails: those before it stand.
    """
    policy = loaded(policy, unpromised=True)
    project = project or project_of(policy)
    ready = _scheduled(policy, project, known_books(project), clock)
    assert ready.schedule is not None

    def one(edition: Policy) -> Released:
        return release(edition, project, replace=replace, say=say, clock=clock)

    released = tuple(drawn(ready, project, one, say))
    return DueReleases(released, ready.schedule, ready.missing)


def drawn(
    ready: Ready, project: Project, one: Callable[[Policy], _Made], say: Callable[[str], None]
) -> Iterator[_Made]:
    """What ``one`` makes of each edition that is to be released, in their order.

    Before them what is lost is told, and what nobody draws any more is settled.
    """
    for line in _warnings(ready, project):
        say(f"warning: {line}")
    if ready.schedule is not None:
        give_up(ready.schedule, project)
    yield from map(one, ready.editions)


def last_missing(policy: Policy) -> str | None:
    """The last edition of a calendar that was released and does not stand; None where each does.

    Raises EnvironmentFailed where a table is looked for in vain.
    """
    project = project_of(policy)
    if policy.schedule is None:
        return None
    known = known_books(project)
    found = schedule_at(policy, project, known, at_moment(known))
    missing = _missing(policy, project, found)
    return missing[-1].run.edition if missing else None


def give_up(schedule: Schedule, project: Project) -> None:
    """Settle what was begun of a refresh and not drawn, when its period has passed."""
    if not schedule.settled:
        return
    signer = writer_of(project)
    with books.open_ledger(project, signer) as ledger:
        trusted = books.trusted_keys(project, signer)
        for entry in schedule.settled:
            standing.settle(ledger, entry, project, trusted)


# What does not stand


def _warnings(ready: Ready, project: Project) -> Iterator[str]:
    """What was released or charged, and does not stand here: of which edition, and the remedy."""
    name, schedule = ready.policy.name, ready.schedule
    if ready.unseen:
        yield f"{name}: whether its editions stand was not seen: {ready.unseen}"
    if schedule is not None and (many := backlog(schedule)):
        yield f"{name}: {': '.join(many)}"
    for entry in () if schedule is None else schedule.lost:
        yield (
            f"{name}: edition {entry.run.edition} (entry {entry.id}) was charged, and nothing of it"
            f" stands here: {_how_to_draw(ready, entry)}"
        )
    kept = [entry for entry in ready.missing if _has_copy(entry, project)]
    gone = [entry for entry in ready.missing if entry not in kept]
    if kept:
        path, edition = shlex.quote(str(ready.policy.file)), kept[0].run.edition
        again = f"'policy-engine restore {path} --edition {edition}' puts it back from its copy"
        yield f"{name}: {_gone(kept)}: {again}, at no cost"
    if gone:
        brought = "bring it with its certificate from where it was drawn, or from a backup"
        yield f"{name}: {_gone(gone)}, nor any copy: {brought}; or {_how_to_draw(ready, gone[0])}"


def _gone(entries: Sequence[Entry]) -> str:
    """Which editions do not stand whole."""
    first, last = entries[0], entries[-1]
    one = f"{first.run.edition} (entry {first.id}, {first.run.target})"
    if first == last:
        return f"edition {one} was released, and it or its certificate is not here"
    many = f"{len(entries)} editions, {one} to {last.run.edition} (entry {last.id}),"
    return f"{many} were released, and they or their certificates are not here"


def _how_to_draw(ready: Ready, entry: Entry) -> str:
    """What can be done about an edition that is lost: a refresh is of its time alone."""
    if isinstance(ready.policy.schedule, Refresh):
        return "it is drawn no more once its time has passed; until then --edition and --revise do"
    path = shlex.quote(str(ready.policy.file))
    again = f"'policy-engine release {path} --edition {entry.run.edition} --revise --replace'"
    return f"{again} draws it anew, at a new price"


def _has_copy(entry: Entry, project: Project) -> bool:
    """Whether a copy of a release is kept here; ``restore`` says whether it is whole."""
    ends, digest = Ends.of_run(entry.run, project.directory), str(entry.only_digest)
    is_table = not entry.run.is_file
    return copies.public_copy(ends.certificate_path, digest, is_table=is_table).path.is_file()


def _missing(policy: Policy, project: Project, found: Schedule) -> tuple[Entry, ...]:
    """Of what was released, what stands no more, or lacks its certificate; by its calendar.

    Of several editions in one place the last that was placed is meant. Raises EnvironmentFailed
    where the warehouse of a table cannot be looked into.
    """
    placed = sorted(found.standing, key=lambda entry: entry.id)
    last = {(e.run.is_file, e.run.target, e.run.appended): e for e in placed}
    ends = {entry: Ends.of_run(entry.run, project.directory) for entry in last.values()}
    gone = {entry for entry, each in ends.items() if not each.certificate_path.is_file()}
    gone |= {entry for entry, each in ends.items() if each.path and not each.path.is_file()}
    tables = {entry: each for entry, each in ends.items() if each.path is None}
    if tables:
        gone |= _tables_missing(policy, project, tables)
    return tuple(entry for entry in found.standing if entry in gone)


def _tables_missing(policy: Policy, project: Project, tables: dict[Entry, Ends]) -> set[Entry]:
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        names = {ends.name: warehouse.target(ends.name) for ends in tables.values()}
        there = {name for name, target in names.items() if warehouse.exists(target)}
        added = {ends.name for ends in tables.values() if ends.edition} & there
        editions = {name: warehouse.editions(names[name]) for name in added}
    empty, _ = standing.digest_of_lines(())

    def stands(entry: Entry, ends: Ends) -> bool:
        if ends.name not in there:
            return False
        # Of an edition without a group no row says so.
        return not ends.edition or ends.edition in editions[ends.name] or entry.may_be(empty)

    return {entry for entry, ends in tables.items() if not stands(entry, ends)}


# What is ready


def make_ready(
    paths: Sequence[Path],
    *,
    replace: bool,
    revise: bool = False,
    edition: str | None = None,
    clock: Clock = utc_now,
) -> tuple[Ready, ...]:
    """The policies of ``paths``, once all of them together could be released.

    Of each that is its ``edition``, where one is named; else what is due by its schedule.

    Everything that can fail without touching the data is tried for every file: loading,
    certifying, targets, and whether the accounts can pay for all of them. Nothing is charged
    and nothing is drawn.

    Raises:
        PolicyError: with every problem of every file that can be read.
        NotCertifiable, BudgetExceeded, EnvironmentFailed: of the first file that has one.
    """
    with reading_once():
        policies = of_all(paths, _loaded)
    clashes = clashes_of(policies)
    if clashes:
        raise PolicyError(tuple(problem for found in clashes.values() for problem in found))
    ready = tuple(_ready(policy, edition, clock, revise=revise) for policy in policies)
    first = [each.editions[0] for each in ready if each.editions]
    if len(policies) > 1:
        _try_all(first, replace=replace, revise=revise)
    return ready


def _ready(policy: Policy, edition: str | None, clock: Clock, *, revise: bool) -> Ready:
    project = project_of(policy)
    known = known_books(project)
    if policy.schedule is None or edition is not None or revise:
        at = asked_at(policy, known, clock)
        return Ready(policy, (asked_for(policy, project, known, at, edition, revise=revise),))
    return _scheduled(policy, project, known, clock)


def _scheduled(policy: Policy, project: Project, known: Books | None, clock: Clock) -> Ready:
    """What is due of a policy with a schedule, and what of it does not stand."""
    at = at_moment(known, clock)
    schedule = schedule_at(policy, project, known, at)
    check_no_leap(policy, known, at, schedule)
    missing, unseen = tuple[Entry, ...](), ""
    try:
        missing = _missing(policy, project, schedule)
    except EnvironmentFailed as error:
        unseen = str(error)
    due = tuple(in_edition(policy, project, known, each, at) for each in schedule.due)
    changed = _changed(policy, project, known, schedule, at)
    return Ready(policy, due, schedule, missing, unseen, changed)


def _changed(
    policy: Policy, project: Project, known: Books | None, schedule: Schedule, at: datetime
) -> str:
    """How the edition that follows is of another policy than the last one; empty where not."""
    last, following = schedule.last, schedule.following
    if last is None or known is None:
        return ""
    if following is not None:
        policy = in_edition(policy, project, known, following, max(at, schedule.on or at))
    if last.policy_digest == policy.digest:
        return ""
    if numbers := other_numbers(policy, last, known.budget.account(last.account)):
        return f"the text of entry {last.id}; {numbers}: later editions are by these"
    return f"another text than that of entry {last.id}: later editions are of it"


def _loaded(path: Path) -> Policy:
    policy = load_policy(path, unpromised=True)
    check_account(policy, project_of(policy))
    check_guarantee(policy)
    return policy


def _stands(policy: Policy, project: Project) -> bool:
    """Whether a release of a policy was drawn before, so that it asks for nothing of its source."""
    if policy.edition.is_revision or not books.has_ledger(project):
        return False
    with (
        books.open_ledger(project) as ledger,
        closing(Reached(policy, project)) as reached,
    ):
        spot = Spot.of(policy, project, reached, books.trusted_keys(project))
        return spot.next(ledger.read())[0] not in ("charge", "draw")


def _try_all(policies: Sequence[Policy], *, replace: bool, revise: bool) -> None:
    def previewed(policy: Policy) -> tuple[Policy, Project, Preview]:
        project = project_of(policy)
        with about(policy.file):
            return policy, project, preview(policy, project)

    asked = policies
    if not revise:  # of what stands nothing is looked at
        asked = [policy for policy in policies if not _stands(policy, project_of(policy))]
    found = of_all(asked, previewed)
    new = [each for each in found if revise or each[2].repeats is None]
    check_together(
        AskedCharge(str(project.ledger), asked.account, asked.charge, asked.refusal)
        for _, project, asked in new
    )
    for policy, project, each in new:
        trusted = books.trusted_keys(project)
        with (
            closing(open_warehouse(policy, project, writes=False)) as warehouse,
            books.begun_ledger(project) as ledger,
        ):
            spot = Spot(policy, project, each.ends, warehouse, trusted)
            is_own = ledger is not None and spot.replaces_own(ledger.read())
            spot.check(replace=replace or is_own)
            if ledger is not None:
                check_brought(ledger.read(), each.charge, each.certificate, each.ends)
