"""Which edition of a policy is meant, and which are due: by its calendar, the ledger, and a clock.

Nothing here looks at a source. An edition of a calendar is drawn once, whatever became of its
policy's text since; what somebody asks for by hand is another draw, at a price of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from policy_engine.calendars import Period, Refresh, Zone, moment
from policy_engine.errors import DomainError, EnvironmentFailed, NotReleasable, UsageError
from policy_engine.kernel.editions import NAMED_BY_HAND, Edition, is_named_by_hand
from policy_engine.ledger.books import Books
from policy_engine.ledger.chain import time_of
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.windows import windows_of_charge
from policy_engine.policy.accounts import listed_as
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted, show
from policy_engine.policy.timing import PeriodOf
from policy_engine.releasing import books, copies
from policy_engine.releasing.naming import UNNAMED, edition_named, edition_of, told_before_first
from policy_engine.releasing.requests import Ends
from policy_engine.values import frozen

Clock = Callable[[], datetime]

_YEAR, _RECENT = timedelta(days=366), timedelta(days=60)
"""Editions of more than a year are drawn at once only beside a recent record of the ledger."""


def utc_now() -> datetime:
    """What this machine's clock says."""
    return datetime.now(UTC)


@frozen
class Schedule:
    """What a policy's calendar says at a moment, and its ledger of what was drawn.

    ``due`` are to be drawn, the oldest first, or to be finished; then those to be drawn anew.
    ``settled`` were given up: the period that a refresh is of has passed, and nothing of them was
    drawn. ``lost`` can be drawn no more. ``following`` is due from ``on``; both are None after the
    year 9999. ``standing`` are those that were released, in the calendar's order.
    """

    due: tuple[Edition, ...]
    following: Edition | None
    on: datetime | None
    standing: tuple[Entry, ...] = ()
    lost: tuple[Entry, ...] = ()
    settled: tuple[Entry, ...] = ()

    @property
    def last(self) -> Entry | None:
        """The last that was released."""
        return self.standing[-1] if self.standing else None

    @property
    def first_draws(self) -> tuple[str, ...]:
        """The names of those that are due and are not to be drawn anew."""
        return tuple(edition.name for edition in self.due if not edition.is_revision)


def backlog(found: Schedule) -> tuple[str, str] | None:
    """That a first run draws several editions, and how to draw fewer; None where it does not."""
    past = found.first_draws
    if found.standing or found.lost or len(past) < 2:
        return None
    each = f"{len(past)} editions are due already, {past[0]} to {past[-1]}"
    return (
        f"{each}: 'policy-engine release' draws all of them, and each is charged",
        f'--edition {past[-1]} draws one alone, and from: "{past[-1]}" leaves earlier ones out',
    )


def check_no_leap(policy: Policy, known: Books | None, at: datetime, found: Schedule) -> None:
    """Refuse to draw at once what only a clock that is far ahead makes due.

    What is drawn of a month that has not happened is charged, and no later clock takes it back.

    Errors: EnvironmentFailed where a policy that has editions would draw more than a year of them,
    and the ledger's last record is long ago.
    """
    last = None if known is None or known.chain.last is None else time_of(known.chain.last)
    new = found.first_draws
    if last is None or at - last < _RECENT or not found.standing or not new:
        return
    if Period.parse(new[-1]).last - Period.parse(new[0]).first <= _YEAR:
        return
    first = f"policy-engine release {shlex.quote(str(policy.file))} --edition {new[0]}"
    raise EnvironmentFailed(
        f"{policy.name}: the clock says {at:%Y-%m-%d}, and the ledger's last record is of"
        f" {last:%Y-%m-%d}: {len(new)} editions would be due, {new[0]} to {new[-1]}, and what is"
        f" charged is never given back. If the clock is wrong, set it. If it is right, '{first}'"
        " draws the oldest, and 'release' the others after it",
        of_setup=True,
        code="clock_leapt",
    )


def at_moment(known: Books | None, clock: Clock = utc_now) -> datetime:
    """The moment that counts; EnvironmentFailed where the clock went back behind the ledger."""
    last = None if known is None else known.chain.last
    return moment(clock(), None if last is None else time_of(last))


def asked_at(policy: Policy, known: Books | None, clock: Clock = utc_now) -> datetime:
    """The moment at which an edition is asked for, where it decides which one, or its numbers.

    Of a policy without calendar and plan nothing is told by the time: a wrong clock is no matter.
    """
    is_planned = policy.follows is not None and policy.follows.planned
    if policy.schedule is None and not is_planned:
        return clock()
    return at_moment(known, clock)


def entries_of(policy: Policy, known: Books | None, into: str | None = None) -> Iterator[Entry]:
    """The entries of a policy's releases that were not given back, in the ledger's order.

    ``into``: those alone that went to that place.
    """
    entries = () if known is None else known.budget.entries()
    return (
        entry
        for entry in entries
        if entry.policy_name == policy.name
        and entry.state != "cancelled"
        and into in (None, entry.run.target)
    )


def drawn_of(policy: Policy, known: Books | None, into: str | None = None) -> Mapping[str, Entry]:
    """The last entry of each edition of a policy that was not given back, by the name of that.

    What was never drawn, of a text that the policy has no more, counts where nothing else does.
    """
    found: dict[str, Entry] = {}
    for entry in entries_of(policy, known, into):
        is_live = entry.only_digest is not None or entry.policy_digest == policy.digest
        if not entry.is_out and (is_live or entry.run.edition not in found):
            found[entry.run.edition] = entry
    return found


def schedule_at(
    policy: Policy, project: Project, known: Books | None, at: datetime, into: str | None = None
) -> Schedule:
    """What is due of a policy with a schedule.

    ``into``: of the place of that name, where each place has editions of its own: of dbt's targets.
    """
    schedule, zone = policy.schedule, project.zone
    assert schedule is not None
    entries = {
        Period.parse(name): entry
        for name, entry in drawn_of(policy, known, into).items()
        if schedule.every.has(name)
    }
    standing = {period for period, entry in entries.items() if entry.state == "committed"}
    lost = {period for period, entry in entries.items() if _is_lost(entry, project)}
    found = schedule.due(at, zone, standing | lost)
    left = [period for period in entries if period not in standing | lost | {*found.editions}]
    if isinstance(schedule, Refresh):  # what was drawn can still be put in its place
        past = [period for period in left if entries[period].only_digest is None]
        left = [period for period in left if period not in past]
    else:
        past = []
    due = sorted({*found.editions, *left}, key=_first)
    ends = {period: _anew_from(policy, zone, period) for period in standing | lost}
    before = {
        period: instant
        for period, instant in ends.items()
        if instant is not None and entries[period].reserved_at < instant
    }
    anew = sorted((period for period, instant in before.items() if instant <= at), key=_first)
    coming = [(found.on, found.following, False)] if found.on and found.following else []
    coming += [(instant, period, True) for period, instant in before.items() if instant > at]
    on, following = None, None
    if coming:
        on, period, is_anew = min(coming, key=_when)
        following = edition_of(policy, zone, period, is_revision=is_anew)
    return Schedule(
        due=(
            *(edition_of(policy, zone, period) for period in due),
            *(edition_of(policy, zone, period, is_revision=True) for period in anew),
        ),
        following=following,
        on=on,
        standing=tuple(entries[period] for period in sorted(standing, key=_first)),
        lost=tuple(entries[period] for period in sorted(lost, key=_first)),
        settled=tuple(entries[period] for period in past if entries[period].is_open),
    )


def _first(period: Period) -> date:
    return period.first


def _when(coming: tuple[datetime, Period, bool]) -> tuple[datetime, date]:
    instant, period, _ = coming
    return instant, period.first


def _anew_from(policy: Policy, zone: Zone, period: Period) -> datetime | None:
    """The instant from which on an edition is due anew that was charged before; None where never.

    The calendar says so, the ledger whether it was charged since, and no row.
    """
    schedule = policy.schedule
    return schedule.periods.revised_from(period, zone) if isinstance(schedule, PeriodOf) else None


def is_due_anew(policy: Policy, project: Project, known: Books | None, at: datetime) -> bool:
    """Whether an edition that the calendar draws anew was charged last before it is due so."""
    period = policy.edition.period
    last = drawn_of(policy, known).get(policy.edition.name)
    if not policy.edition.is_revision or period is None or last is None:
        return False
    instant = _anew_from(policy, project.zone, period)
    return instant is not None and last.reserved_at < instant <= at


def in_plan(
    policy: Policy, project: Project, known: Books | None, edition: Edition, at: datetime
) -> Policy:
    """A planned policy with the numbers that the ledger has of the window an edition counts in.

    They stay while the window lasts, whatever became of the limit and of other policies of the
    plan. A policy that has another shape by now keeps what the project file gives it.
    """
    follows = policy.follows
    if known is None or follows is None or not follows.planned:
        return policy
    try:
        windows = windows_of_charge(project.windows[follows.account], edition, at, project.zone)
    except DomainError:  # which is told where it is charged
        return policy
    return _in_plan_of(policy, project, known, windows)


def _in_plan_of(
    policy: Policy, project: Project, known: Books | None, windows: tuple[str, ...]
) -> Policy:
    """A planned policy as the ledger has it of these windows."""
    follows = policy.follows
    if known is None or follows is None or not follows.planned or len(windows) > 1:
        return policy
    names = known.budget.names()
    own = next((name for name in names if listed_as(name, project) == follows.account), None)
    plan = None if own is None else known.budget.account(own).window(windows[0]).planned
    line = None if plan is None else plan.names(policy.name)
    if plan is None or line is None or line.shape != follows.shape:
        return policy
    stated = project.accounts[follows.account]
    if line.event == follows.solved.event and stated is not None and stated.delta == plan.at:
        return policy
    # The search for noise is needed for such a policy alone.
    from policy_engine.accounting.shapes import Solved
    from policy_engine.policy.following import as_recorded

    return as_recorded(policy, Solved(line.event, line.law, line.each), plan.at)


def in_edition(
    policy: Policy, project: Project, known: Books | None, edition: Edition, at: datetime
) -> Policy:
    """A policy as an edition, with the numbers of the plan of its window, if it is planned."""
    return in_plan(policy, project, known, edition, at).in_edition(edition)


def in_next_edition(
    policy: Policy, project: Project, known: Books | None, clock: Clock = utc_now
) -> tuple[Policy, Schedule | None]:
    """A policy as the edition that its next release is of, and what is due of it.

    Of a calendar that is the oldest that is due, else the one that follows.
    """
    at = asked_at(policy, known, clock)
    if policy.schedule is None:
        policy = in_plan(policy, project, known, Edition(), at)
        return policy.in_edition(Edition(_last_name(policy, known))), None
    found = schedule_at(policy, project, known, at)
    if found.due:
        return in_edition(policy, project, known, found.due[0], at), found
    if found.following is None:
        return policy, found
    return in_edition(policy, project, known, found.following, max(at, found.on or at)), found


def in_next_plan(policy: Policy, project: Project, clock: Clock = utc_now) -> Policy:
    """A planned policy with the numbers that the ledger has of the window of its next release.

    Raises LedgerError: the policy is planned, and the ledger cannot be read.
    """
    if policy.follows is None or not policy.follows.planned:
        return policy
    found, _ = in_next_edition(policy, project, known_books(project), clock)
    return replace(found, edition=policy.edition, release=policy.release)


def _is_lost(entry: Entry, project: Project) -> bool:
    """Whether nothing comes of an entry any more here, and somebody was told."""
    if entry.state != "kept" or entry.can_draw:
        return False
    run, digest = entry.run, entry.only_digest
    if digest is None:
        return True
    certificate = Ends.of_run(run, project.directory).certificate_path
    is_table = not run.is_file
    return copies.copy_of(project, entry.request, certificate, digest, is_table=is_table) is None


def asked_for(
    policy: Policy,
    project: Project,
    known: Books | None,
    at: datetime,
    name: str | None = None,
    *,
    revise: bool = False,
) -> Policy:
    """A policy as the edition that is asked for: by ``name``, else the only one, or the last.

    ``revise``: as another draw of it.

    Raises:
        UsageError: no edition can be called so, or which one of a schedule is not said.
        NotReleasable: it is not due yet, or its time has passed.
    """
    if policy.schedule is not None:
        if name is None:
            raise UsageError(f"{policy.name} {UNNAMED}")
        edition = _of_schedule(policy, project, known, at, name, revise=revise)
        return in_edition(policy, project, known, edition, at)
    asked = None if name is None else edition_named(policy, project.zone, name)
    policy = in_plan(policy, project, known, Edition(), at)
    if asked is None:
        name = _last_name(policy, known)
        asked = Edition(name, is_asked=revise or bool(name))
    return policy.in_edition(asked)


def _last_name(policy: Policy, known: Books | None) -> str:
    """The name of the last edition of a policy, as it is now; empty of its first."""
    names = [
        entry.run.edition
        for entry in entries_of(policy, known)
        if entry.policy_digest == policy.digest
    ]
    return names[-1] if names else ""


def how_released(policy: Policy) -> str:
    """The commands by which a policy comes to its first release."""
    if policy.is_searched:
        return "'policy-engine search' and then 'policy-engine release' do, each at a price"
    return "'policy-engine release' does, at a price"


def drawn_before(
    policy: Policy, project: Project, known: Books | None, name: str | None = None
) -> Policy:
    """A policy as an edition that was drawn: by ``name``, else the last one.

    Raises UsageError where no edition of that name was.
    """
    if policy.schedule is None and name is None:
        for entry in list(entries_of(policy, known))[-1:]:
            policy = _in_plan_of(policy, project, known, entry.windows)
        return policy.in_edition(Edition(_last_name(policy, known)))
    drawn = {e.run.edition: e for e in entries_of(policy, known) if e.only_digest and not e.is_out}
    names = list(drawn)
    if not names:
        raise UsageError(
            f"{policy.name}: nothing was released of this policy: {how_released(policy)}"
        )
    wanted = names[-1] if name is None else name
    if wanted not in names:
        raise UsageError(f"--edition: {_not_drawn(policy, wanted, names)}")
    if policy.schedule is None:
        edition = Edition(wanted)
    else:
        edition = edition_of(policy, project.zone, Period.parse(wanted, "--edition"))
    return _in_plan_of(policy, project, known, drawn[wanted].windows).in_edition(edition)


def _not_drawn(policy: Policy, name: str, names: list[str]) -> str:
    """Why there is no edition of a name that could be put back, and which there are."""
    told = ", ".join(filter(None, names)) or "none of a name of its own"
    is_name = is_named_by_hand(name) if policy.schedule is None else policy.schedule.every.has(name)
    if is_name:
        return f"no edition {name} of {policy.name} was released; there are: {told}"
    called = NAMED_BY_HAND
    if policy.schedule is not None:
        example = policy.schedule.every.period(date(2026, 11, 27)).name
        called = f"a {policy.schedule.every.value}, as {example}"
    return f"an edition of {policy.name} is called {called}, found {show(name)}; there are: {told}"


def _of_schedule(
    policy: Policy, project: Project, known: Books | None, at: datetime, name: str, *, revise: bool
) -> Edition:
    schedule, zone = policy.schedule, project.zone
    assert schedule is not None
    edition = edition_named(policy, zone, name, is_asked=revise)
    period = edition.period
    assert period is not None
    entry = drawn_of(policy, known).get(name)
    is_drawn = entry is not None and entry.only_digest is not None
    if is_drawn and not revise:
        return edition
    due = schedule.due(at, zone, ())
    if period in due.editions:
        return edition
    if early := told_before_first(policy, edition):
        raise NotReleasable(early)
    if isinstance(schedule, PeriodOf):
        ripe, wait = _ripens(schedule, period, zone), schedule.periods.after
        then = f", and {counted(wait, 'day')} must pass after it" if wait else ""
        raise NotReleasable(
            f"{policy.name}: edition {name} is not due yet: its last day is {period.last}{then}; it"
            f" is due from {ripe}"
        )
    current = due.editions[0]
    if period.first > current.first:
        starts = zone.told(period.start(zone))
        raise NotReleasable(f"{policy.name}: edition {name} is not due yet: it is from {starts}")
    raise NotReleasable(
        f"{policy.name}: edition {name} cannot be drawn any more: it is of the source as it was"
        f" then, and that is another one now; edition {current.name} is drawn until it ends"
    )


def _ripens(schedule: PeriodOf, period: Period, zone: Zone) -> str:
    day = schedule.periods.due_from(period)
    return "the year 10000" if day is None else zone.told(zone.start_of(day))


def known_books(project: Project) -> Books | None:
    """What the ledger of a project says; None where there is none yet."""
    with books.begun_ledger(project) as ledger:
        return None if ledger is None else ledger.read()
