"""A dry run: what a release would be, whether its account can pay, and several ones together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from dataclasses import replace as replace_field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from policy_engine.compile.column_names import key_meant
from policy_engine.errors import BudgetExceeded, NotCertifiable, PolicyError, Problem
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import Edition
from policy_engine.ledger.account import (
    Account,
    Balance,
    admit,
    affords,
    balance_of,
)
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.plan_records import paying
from policy_engine.ledger.remaining import Remaining
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.releasing import books
from policy_engine.releasing.announcing import announced
from policy_engine.releasing.beginning import certificates_of, check_clean, check_remembers
from policy_engine.releasing.charging import Payer, ReleasePlan, planned
from policy_engine.releasing.editions import (
    Clock,
    Schedule,
    at_moment,
    in_next_edition,
    is_due_anew,
    utc_now,
)
from policy_engine.releasing.placing import Spot
from policy_engine.releasing.planning import (
    not_chosen,
    paid_for_nothing,
    project_of,
    seldom_meant,
    through_view,
)
from policy_engine.releasing.requests import Ends, SourceNames
from policy_engine.values import frozen

_FEW = 3
_One = TypeVar("_One")
_Made = TypeVar("_Made")


@frozen
class AllDue:
    """Several editions that are due, as the account pays for them one after the other.

    Fields:
        ``fit``: the number of those that the account can pay for, the first ones.
        ``account``: the account after these.
        ``last``: the price of the last of these.
    """

    fit: int
    account: Account
    last: Charge

    @cached_property
    def left(self) -> Remaining | None:
        """What the account would pay for after them; None without a limit."""
        return self.account.remaining(self.last.asked, windows=self.last.windows)


@frozen
class Preview:
    """The result of ``preview``: what a release would do and cost.

    Its property ``affordable`` is True if the account can pay, or need not pay again.

    Fields:
        ``policy``: the policy, prepared for the edition that would be drawn.
        ``certificate``: the certificate that the release would have.
        ``account``: the account that would pay, in its present state.
        ``charge``: the price of the release.
        ``refusal``: the reason why the account cannot pay. Empty if it can pay.
        ``repeats``: the number of the ledger entry that already paid for this release. None if the
            release would be charged.
        ``ends``: the places of the release and of its certificate.
        ``edition``: the edition that is due. If no edition is due, the next one.
        ``schedule``: the calendar of the policy. None without a calendar.
        ``all_due``: if several editions are due, those that the account can pay for. Otherwise
            None.
        ``news``: the messages that ``release`` would show before it charges.
        ``warnings``: parts of the policy that are allowed, but seldom intended.
        ``beside``: a column that could be the right privacy unit, because its name suggests a
            person, such as ``patient_id``. Empty if there is none, or if the policy's unit has such
            a name.
    """

    policy: Policy
    certificate: Certificate
    account: Account
    charge: Charge
    ends: Ends
    refusal: str = ""
    repeats: int | None = None
    news: tuple[str, ...] = ()
    edition: Edition = field(default=Edition())
    schedule: Schedule | None = None
    warnings: tuple[Problem, ...] = ()
    beside: str = ""
    all_due: AllDue | None = None

    @property
    def balance(self) -> Balance:
        """Where the account stands before the release."""
        return balance_of(self.account)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay, or need not."""
        return not self.refusal or self.repeats is not None

    @property
    def is_paid(self) -> bool:
        """Whether the account can pay for all that ``release`` would draw now."""
        every = self.all_due
        if every is None or self.schedule is None:
            return self.affordable
        return self.affordable and every.fit == len(self.schedule.due)

    @cached_property
    def left(self) -> Remaining | None:
        """What the account would pay for now; None without a limit."""
        charge = self.charge
        return self.account.remaining(charge.asked, charge.neighbours, charge.windows)

    @cached_property
    def after(self) -> Remaining | None:
        """What the account would pay for once it has paid, if it must; None without a limit."""
        paid = self.account if self.repeats is not None else self.account.plus(self.charge)
        return paid.remaining(self.charge.asked, windows=self.charge.windows)

    @cached_property
    def soon_empty(self) -> str:
        """That its account can soon pay no more, and what leaves room; empty where it can."""
        every, name = self.all_due, self.account.name
        if every is not None and self.schedule is not None and self.affordable and not self.is_paid:
            due = self.schedule.due
            return (
                f"account {name!r} pays for {every.fit} of the {len(due)} editions that are due"
                f" now: 'release' draws those, and stops at {due[every.fit].name}"
            )
        left = self.after if every is None else every.left
        if (self.repeats is not None and every is None) or not self.affordable or left is None:
            return ""
        more, this, it = left.alike, "this", "it"
        if every is not None:
            this, it = f"the {every.fit} editions that are due now", "them"
        if more is None or more >= _FEW or self.account.is_planned(self.charge):
            return ""
        if not more:
            weaker = "take a smaller ε or rate, or a greater k"
            if self.policy.noise is not None:
                weaker = "take a smaller ε, or write guarantee: {editions: 12} for 12 of them"
            verb = "empties" if every is None else "empty"
            return (
                f"{this} {verb} account {name!r}: no other release like {it} fits after {it};"
                f" to leave room, {weaker}"
            )
        return f"after {this} account {name!r} pays for {more} more like {it}, and then for none"


def preview(policy: Policy, project: Project | None = None, *, clock: Clock = utc_now) -> Preview:
    """Show what ``release`` would do, and what it would cost.

    Nothing is drawn, charged or written. If no edition is due yet, the result describes the next
    edition, on the day when it is due.

    Arguments:
        ``policy``: as ``load_policy`` returns it.
        ``project``: the project. The default is the project of the policy's folder.
        ``clock``: a function that returns the time. The time decides which edition is due.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit its source, or cannot be certified.
        FileError, WarehouseError, LedgerError: a file, the source or the ledger cannot be read.
    """
    policy = loaded(policy, unpromised=True)
    project = project or project_of(policy)
    with books.begun_ledger(project) as ledger:
        known = None if ledger is None else ledger.read()
        schedule = None
        if policy.edition == Edition():
            policy, schedule = in_next_edition(policy, project, known, clock)
            clock = _when_due(schedule, clock)
        return _previewed(policy, project, schedule, clock, ledger)


def _previewed(
    policy: Policy,
    project: Project,
    schedule: Schedule | None,
    clock: Clock,
    ledger: Ledger | None,
) -> Preview:
    """The dry run of one edition of a policy."""
    with planned(policy, project, clock) as plan, through_view(plan.table):
        plan.warehouse.hold(policy, plan.table)
        names = None if ledger is None else _names(plan, ledger)
        known = None if ledger is None else ledger.read()
        repeats = None if known is None or names is None else _paid(plan, known)
        check_clean(project, (plan.ends.certificate_path,))
        if repeats is None:
            plan.check_runs(writes=False)
        limit, charge = plan.limit, plan.charge(known)
        account = plan.account_in(known)
        if names is not None:
            charge = replace_field(charge, part=names.charged_part)
        found = Preview(
            policy,
            plan.certificate,
            account,
            charge,
            plan.ends,
            "",
            repeats,
            (),
            policy.edition,
            schedule,
            (
                *not_chosen(policy),
                *seldom_meant(policy, plan.certificate, plan.table),
                *paid_for_nothing(policy, plan.table),
            ),
            key_meant(policy.source.keys, plan.table),
        )
        try:
            if repeats is None and known is not None:
                places = certificates_of(project, plan.ends.certificate_path)
                check_remembers(known, places, books.trusted_keys(project))
                # The people of a charge may pay from another account.
                books.check_new_name(known, project, charge.account)
                known.sources.check(charge if names is None else names.named(charge))
            before = Account(plan.account) if known is None else known.budget.account(plan.account)
            account = paying(before, charge, limit, plan.window_plan)
            found = replace_field(found, account=account)
            if repeats is None and known is not None:
                news = announced(plan, charge, account, known, revise=False)
                found = replace_field(found, news=tuple(news))
            admit(account, charge)
            if schedule is not None and len(schedule.due) > 1:
                charges = [*_charges(plan, schedule, known)]
                every = _paid_in_turn(plan, before, charges, is_paid=repeats is not None)
                found = replace_field(found, all_due=every)
        except BudgetExceeded as error:
            return replace_field(found, refusal=str(error))
        return found


def _charges(plan: ReleasePlan, schedule: Schedule, known: Books | None) -> Iterator[Charge]:
    """The price of each edition that is due, in the windows in which that counts."""
    own = plan.charge(known)
    for edition in schedule.due:
        payer = Payer(replace_field(plan.policy, edition=edition), plan.project, plan.account)
        yield payer.counted(own, plan.certificate, known, plan.clock)


def _paid_in_turn(
    plan: ReleasePlan, account: Account, charges: Sequence[Charge], *, is_paid: bool
) -> AllDue:
    """What an account pays for of these, as it is in the ledger; ``is_paid``: the first costs none.

    A charge that was begun and not drawn is counted once more: what is left is never less.
    """
    fit, last = 0, charges[0]
    for charge in charges:
        if fit or not is_paid:
            try:
                account = paying(account, charge, plan.limit, plan.window_plan)
            except BudgetExceeded:
                break
            if not affords(account, charge):
                break
            account = account.plus(charge)
        fit, last = fit + 1, charge
    return AllDue(fit, account, last)


def _when_due(schedule: Schedule | None, clock: Clock) -> Clock:
    """The clock by which a draw is asked about: of what is not due yet that of the day it is."""
    if schedule is None or schedule.due or schedule.on is None:
        return clock
    on = schedule.on
    return lambda: max(clock(), on)


def _names(plan: ReleasePlan, ledger: Ledger) -> SourceNames | None:
    """What a ledger calls the source; None without a key, for none is made to find out."""
    if not plan.project.sealing_key.exists():
        books.check_not_lost(plan.project, ledger)
        return None
    return plan.names(books.naming_key(plan.project, ledger))


def _paid(plan: ReleasePlan, known: Books) -> int | None:
    """The entry that has paid for just this release, which stands or can still be made.

    Of what the calendar draws anew none has.
    """
    if is_due_anew(plan.policy, plan.project, known, at_moment(known, plan.clock)):
        return None
    trusted = books.trusted_keys(plan.project)
    warehouse = None if plan.ends.path is not None else plan.warehouse
    step, entry = Spot(plan.policy, plan.project, plan.ends, warehouse, trusted).next(known)
    if entry is None or step == "refuse":
        return None
    if step == "draw" and entry.run.of != plan.of:
        return None
    return entry.id


def of_all(asked: Iterable[_One], make: Callable[[_One], _Made]) -> list[_Made]:
    """What is made of each one; PolicyError with the problems of all."""
    made: list[_Made] = []
    problems: list[Problem] = []
    for each in asked:
        try:
            made.append(make(each))
        except PolicyError as error:
            problems.extend(error.problems)
    if problems:
        raise PolicyError(tuple(dict.fromkeys(problems)))
    return made


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Name the policy file in what the kernel finds while the body certifies it."""
    try:
        yield
    except NotCertifiable as error:
        raise NotCertifiable(error.findings, str(file)) from None
