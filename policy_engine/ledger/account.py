"""What an account has spent, what it may spend, and whether it can pay.

An account's running state stands in the last of its records, so that a charge is priced without
reading the history. Whether one more release fits is decided by ``pricing``; the basic sum is
shown beside it. All arithmetic is exact on decimals as they were written.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.domain import ADD_REMOVE, EXACT, claimed
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import SlotsLeft
from policy_engine.accounting.plans import WindowPlan, split
from policy_engine.accounting.windows import known_as
from policy_engine.calendars import Calendar
from policy_engine.errors import (
    BudgetExceeded,
    DomainError,
    FileError,
    InternalError,
    LedgerError,
    PolicyError,
    UsageError,
)
from policy_engine.ledger.asked import Asked, read_count, read_text
from policy_engine.ledger.chain import Record, canonical
from policy_engine.ledger.entry import Charge, Entry, check_amount
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.pricing import Price, Spent, fits, price
from policy_engine.ledger.remaining import Remaining, remaining
from policy_engine.ledger.window_states import (
    NOTHING,
    Amounts,
    Filter,
    Window,
    amounts_of,
    promise_of,
)
from policy_engine.ledger.windows import FOR_EVER
from policy_engine.policy.timing import PlannedPolicy
from policy_engine.values import frozen

_SIX_DIGITS = Context(prec=6, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CEILING = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
_FLOOR = Context(prec=12, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_UP = Context(prec=3, rounding=ROUND_CEILING)
_MOST_EPSILON = Decimal(10) ** 9
_TIMES = tuple(map(Decimal, (1, 2, 4, 8, 16, 32)))
"""So many times the sums of what was certified are tried as limits."""
_THREE_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_LEAST_DELTA = Decimal("1e-900")
_HUNDREDTH = Decimal("0.01")


@frozen
class Limit(EpsilonDelta):
    """The most an account may spend: what is true of all its releases together, or of a window's.

    ``each`` is how long a window is, None where the limit is for ever; ``of`` the column by whose
    periods rows are told apart, ``ever`` the (ε, δ) of all windows together. It ``joins`` where
    what a joined table says of a person counts in each of these periods. ``where`` is the place in
    the project file that says so; empty where the ledger alone does. ``plan``, its notion of
    ``neighbours`` and ``rest`` are the project file's: a window keeps the plan that was recorded.
    ``solve`` finds the events of the plan, as they would be recorded now.

    Raises DomainError unless both are Decimals, ε from 0 to 10⁹ and δ from 0 to 1.

    >>> print(Limit(Decimal("1.0"), Decimal("1.0e-6")))
    ε 1, δ 0.000001
    >>> print(Limit(Decimal(1), Decimal("1e-6"), each=Calendar.YEAR))
    ε 1, δ 0.000001 each year
    """

    where: str = field(default="", compare=False, repr=False)
    each: Calendar | None = None
    of: str | None = None
    ever: tuple[Decimal, Decimal] | None = None
    plan: tuple[PlannedPolicy, ...] = field(default=(), compare=False, repr=False)
    rest: Decimal = field(default=Decimal(1), compare=False, repr=False)
    neighbours: str = field(default=ADD_REMOVE, compare=False, repr=False)
    joins: bool = field(default=False, compare=False, repr=False)
    solve: Callable[[], WindowPlan] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the domain."""
        for epsilon, delta in ((self.epsilon, self.delta), self.ever or (Decimal(0),) * 2):
            check_amount("epsilon", epsilon, Decimal(10) ** 9)
            check_amount("delta", delta, Decimal(1))

    def is_above(self, other: Limit) -> bool:
        """Whether it allows anything that ``other`` does not, as far as can be told.

        What windows of one length allow, those of another may not, nor what lasts for ever.
        """
        if (self.each, self.of) != (other.each, other.of):
            return True
        if self.epsilon > other.epsilon or self.delta > other.delta:
            return True
        if other.ever is None:
            return False
        return self.ever is None or self.ever[0] > other.ever[0] or self.ever[1] > other.ever[1]

    @property
    def plain(self) -> Limit:
        """The two numbers alone, as a filter keeps them."""
        return Limit(self.epsilon, self.delta)

    @property
    def rest_alone(self) -> Limit:
        """What of a window is left for what is not planned, before any plan is recorded."""
        if not self.plan:
            return self.plain
        return Limit(*split(self.epsilon, self.delta, self.rest)[2:])

    @property
    def planned_now(self) -> Asked | None:
        """All of the plan that a window would record now, as one release; None where it has none.

        The policies of the plan may have become such that none is met.
        """
        if not self.plan or self.solve is None:
            return None
        with suppress(PolicyError, FileError):
            return Planned.of(self.solve(), self.plan_text).asked
        return None

    @property
    def for_ever(self) -> Limit | None:
        """The limit of all windows together; None without one."""
        return None if self.ever is None else Limit(*self.ever)

    @property
    def plan_text(self) -> str:
        """What the project file says of a plan: another text is another plan; empty for none."""
        if not self.plan:
            return ""
        lines = {
            each.name: [each.editions, None if each.share is None else str(each.share)]
            for each in self.plan
        }
        return canonical({"plan": lines, "rest": str(self.rest)})

    def __str__(self) -> str:
        """The numbers, and how long they are for."""
        text = f"ε {in_text(self.epsilon)}, δ {in_text(self.delta)}"
        if self.each is not None:
            text += f" each {self.each.value}{f' of {self.of}' if self.of else ''}"
        if self.ever is not None:
            text += f", ε {in_text(self.ever[0])}, δ {in_text(self.ever[1])} for ever"
        return text


@frozen
class Account:
    """The running state of one account: its notion, what was spent, its limit.

    ``charges`` is how many releases are charged to it, ``review`` the number of the record that
    says which approvals it requires; 0 for none. ``spent`` is all that was ever charged, where the
    plan of a window is one event. ``windows`` are those in which anything counts, by their names.
    ``limits`` are those that held for ever before the present one, each once, and ``before`` is
    what was promised before any of them. What counts in windows before ``since`` counts in that.
    ``is_stopped``: the project file allows what the ledger does not, and until one of both is
    changed nothing is paid.
    """

    name: str
    neighbours: str | None = None
    charges: int = 0
    spent: Spent | None = None
    limit: Limit | None = None
    review: int = 0
    windows: tuple[Window, ...] = ()
    limits: tuple[Amounts, ...] = ()
    before: Amounts = NOTHING
    since: str = ""
    is_stopped: bool = field(default=False, compare=False)

    @property
    def has_windows(self) -> bool:
        """Whether its limit is of windows, or has a plan, for which one window is for ever."""
        limit = self.limit
        return limit is not None and bool(limit.each or limit.plan or self.windows)

    def window(self, name: str, neighbours: str = ADD_REMOVE) -> Window:
        """The window of this name; ``neighbours`` is the notion of one with nothing in it.

        Where the limit is for ever all that was charged counts in the only one.
        """
        name = self.counted_in(name)
        for each in self.windows:
            if each.name == name:
                return each
        if name == FOR_EVER and self.spent is not None:
            if self.limit is None:
                return self._all_in(name, self._sums())
            return self._all_in(name, self.before, self._ever_with(_ever_of(self.limit)))
        return Window.none(name, self.neighbours or neighbours)

    def counted_in(self, name: str) -> str:
        """The window in which a charge to one counts: never in one that became another.

        Names of windows of one length follow each other as their days do.
        """
        return max(name, self.since)

    def _all_in(self, name: str, before: Amounts, limits: tuple[Amounts, ...] = ()) -> Window:
        """A window in which all counts that was charged until now, by what was promised of it."""
        assert self.spent is not None
        sums = self._sums()
        return Window(name, self.spent, self.charges, sums, limits=limits, before=before)

    def _ever_with(self, last: Amounts | None) -> tuple[Amounts, ...]:
        """The limits that held for ever, to a ``last`` one: a return to one is no further one."""
        return tuple(dict.fromkeys(self.limits if last is None else (*self.limits, last)))

    def _sums(self) -> Amounts:
        """What the certificates add up to of all that was charged until now."""
        sums = [each.sums for each in self.windows]
        if not sums and self.spent is not None:
            told = price(self.spent, None)
            sums = [(told.basic_epsilon, told.basic_delta)]
        return _total(each for each, _ in sums), _total(each for _, each in sums)

    def together(self) -> Amounts:
        """What was promised until now of all together: of windows, what they add up to.

        Each window keeps its promise given all before it, whatever is chosen, so they add up.
        """
        before = self.limit
        if before is None:
            return self._sums()
        if before.each is None and not self.windows:
            return promise_of([self.before, *self._ever_with(_ever_of(before))])
        told = [each.promised() for each in self.windows]
        added = _total(each for each, _ in told), min(Decimal(1), _total(each for _, each in told))
        ever = self.promised_ever(before)
        is_less = ever is None or (added[0] <= ever[0] and added[1] <= ever[1])
        return added if ever is None or is_less else ever

    def promised(self, limit: Limit) -> tuple[Amounts, ...]:
        """What each window promises, with what is to come under ``limit``: also late in an old one.

        Rows that came late, and a release that is revised, count in the window of their name.
        """
        return tuple(each.promised(limit) for each in self.windows)

    def promised_ever(self, limit: Limit) -> Amounts | None:
        """What all windows promise together; None where no limit holds of them for ever."""
        if limit.ever is None:
            return None
        return promise_of([self.before, *self._ever_with(limit.ever)])

    def with_window(self, window: Window) -> Account:
        """The account with another state of a window."""
        others = (each for each in self.windows if each.name != window.name)
        windows = tuple(sorted([*others, window], key=lambda each: each.name))
        return replace(self, windows=windows)

    def is_planned(self, charge: Charge) -> bool:
        """Whether a charge takes a slot of the plan of its window."""
        if not self.has_windows or len(charge.windows) > 1:
            return False
        [name] = charge.windows
        return self.window(name, charge.neighbours).slot_for(charge) is not None

    def why_of_the_rest(self, charge: Charge) -> str:
        """Why a charge of a policy that is planned is of the rest; empty of any other."""
        for window in (self.window(name, charge.neighbours) for name in charge.windows):
            if window.planned is not None and window.planned.names(charge.policy_name) is not None:
                return window.planned.why_none(charge, window.slots)
        return ""

    def plus(self, charge: Charge) -> Account:
        """The account after a charge."""
        asked, ever = self.asked_for_ever(charge), self.limit
        spent, found = self.spent or Spent.none(charge.neighbours), self
        if self.limit is not None and self.has_windows:
            ever = self.limit.for_ever
            for name in charge.windows:
                window = self.window(name, charge.neighbours).plus(charge, self.limit)
                found = found.with_window(window)
        return replace(
            found,
            neighbours=charge.neighbours,
            charges=self.charges + 1,
            spent=spent if asked is None else spent.plus(asked, ever),
        )

    def asked_for_ever(self, charge: Charge) -> Asked | None:
        """What a charge is for ever: of a plan all of it, at the first slot, and then nothing."""
        if not self.is_planned(charge):
            return charge.asked
        [name] = charge.windows
        window = self.window(name)
        return window.planned.asked if window.planned and not window.entered else None

    def minus(self, charge: Charge, *, planned: bool = False) -> Account:
        """The account without a charge of which it is proven that nothing ran.

        ``planned`` says whether it had taken a slot: the plan of that stays in what holds for ever.
        """
        assert self.spent is not None
        found = self
        known = {each.name: each for each in self.windows}
        for name in map(self.counted_in, charge.windows):
            if name in known:
                found = found.with_window(known[name].minus(charge, planned=planned))
        spent = self.spent if planned else self.spent.minus(charge.asked)
        return replace(found, charges=self.charges - 1, spent=spent)

    def limited(self, limit: Limit, window: str = FOR_EVER) -> Account:
        """The account under another limit; where windows are others now, what was charged counts.

        All of it counts in the ``window`` in which the limit is changed. A window keeps its plan
        while that is within the limit.
        """
        before = self.limit
        limits, told = self._ever_before(limit)
        found = replace(self, limit=limit, limits=limits, before=told)
        if (None if before is None else before.each) == limit.each:
            kept = tuple(each.limited(limit) for each in self.windows)
            return replace(found, windows=kept)
        if self.spent is None or not self.charges:
            return replace(found, windows=())
        return replace(found, windows=(self._all_in(window, self.together()),), since=window)

    def _ever_before(self, limit: Limit) -> tuple[tuple[Amounts, ...], Amounts]:
        """The limits that held for ever before this one, and what was promised before them.

        None where nothing was charged under any. What was promised without one is no limit, also
        where it is the same numbers: by another rule others might have been charged.
        """
        before = self.limit
        if not self.charges:
            return (), NOTHING
        if before is not None and _ever_of(before) == _ever_of(limit):
            return self.limits, self.before
        told = None if before is None else _ever_of(before)
        if told is None:
            return (), self.together()
        return self._ever_with(told), self.before

    def planning(self, window: str, planned: Planned) -> Account:
        """The account with the plan of a window; what counts there already is the rest's."""
        found = self.window(window, planned.neighbours).under_plan(planned)
        return replace(self.with_window(found), neighbours=planned.neighbours)

    def filters(self, windows: tuple[str, ...], neighbours: str = ADD_REMOVE) -> tuple[Filter, ...]:
        """The rules that must all admit what is not planned; none without a limit."""
        spent, limit = self.spent or Spent.none(self.neighbours or neighbours), self.limit
        if limit is None:
            return ()
        if not self.has_windows:
            return (Filter(FOR_EVER, spent, limit),)
        found = [self.window(name, neighbours).filter(limit) for name in windows]
        if limit.for_ever is not None:
            found.append(Filter(FOR_EVER, spent, limit.for_ever))
        return tuple(found)

    def slots_left(self, name: str) -> tuple[SlotsLeft, ...]:
        """The slots of a window's plan, or of the one that its first draw records.

        Where nothing is paid of the window none of them is left.
        """
        window, limit = self.window(name), self.limit
        if window.planned is not None:
            found = window.planned.left(window.slots)
        else:
            plan = () if limit is None else limit.plan
            found = tuple(SlotsLeft(each.name, each.editions) for each in plan)
        if limit is None or (self._pays((name,)) and self.fits_for_ever(window, limit)):
            return found
        return tuple(replace(each, is_ended=True) for each in found)

    def fits_for_ever(self, window: Window, limit: Limit) -> bool:
        """Whether the plan of a window is within what holds for ever, or entered it already."""
        ever = limit.for_ever
        if ever is None or window.entered or not (window.planned or limit.plan):
            return True
        asked = window.planned.asked if window.planned else limit.planned_now
        spent = self.spent or Spent.none(self.neighbours or limit.neighbours)
        return asked is not None and fits(spent, asked, ever)

    def _pays(self, windows: tuple[str, ...], neighbours: str = ADD_REMOVE) -> bool:
        """Whether anything at all can be charged to windows, whatever it costs."""
        limit = self.limit
        if self.is_stopped or limit is None or not self.has_windows:
            return not self.is_stopped
        if limit.plan and (self.neighbours or neighbours) != limit.neighbours:
            return False
        return all(self.window(name, neighbours).pays(limit) for name in windows)

    def remaining(
        self,
        like: Asked | None = None,
        neighbours: str = ADD_REMOVE,
        windows: tuple[str, ...] = (FOR_EVER,),
    ) -> Remaining | None:
        """What it would still pay for, and how many more of a kind; None without a limit.

        ``neighbours`` is the notion of one that has spent nothing yet. ``windows`` are those in
        which what is asked about would count. To try takes time: it is asked once, by its printer.
        """
        limit = self.limit
        if limit is not None and (limit.each is None) != (windows == (FOR_EVER,)):
            raise InternalError(f"what is left of {self.name!r} is asked in the windows {windows}")
        if limit is not None and not self._pays(windows, neighbours):
            nothing = Remaining(None if like is None else 0, None, None)
            return replace(nothing, windows=windows) if self.has_windows else nothing
        found = remaining(self.filters(windows, neighbours), like)
        if found is None or not self.has_windows:
            return found
        return replace(found, windows=windows, slots=self._offered(windows))

    def _offered(self, windows: tuple[str, ...]) -> tuple[SlotsLeft, ...]:
        """The slots of a plan that can be taken."""
        if len(windows) > 1 or self.limit is None:
            return ()
        return tuple(each for each in self.slots_left(windows[0]) if not each.is_ended)

    def windows_of(self, entry: Entry) -> tuple[str, ...]:
        """The windows in which an entry counts; where others were then, that which they became."""
        if self.limit is None or self.limit.each is None:
            return (FOR_EVER,)
        known = [each.name for each in self.windows]
        counted = tuple(dict.fromkeys(map(self.counted_in, entry.windows)))
        return counted if {*counted} <= {*known} else (self.since or known[-1],)

    def last_kind(self, entries: Iterable[Entry]) -> Asked | None:
        """What was charged to it last of these entries; None where nothing was."""
        own = [e.asked for e in entries if e.account == self.name and e.state != "cancelled"]
        return own[-1] if own else None

    def epsilon_of(self, entries: Iterable[Entry]) -> Decimal:
        """What some of its charges took, by the account's rule: ε at the limit's δ.

        Without a limit, and where nothing less is proven, the sum of the certificates. Of one with
        windows they are those of one.
        """
        spent = Spent.none(self.neighbours or ADD_REMOVE)
        for entry in entries:
            spent = spent.plus(entry.asked, None)
        found = price(spent, None if self.limit is None else self.limit.plain)
        return found.basic_epsilon if found.tight_epsilon is None else found.tight_epsilon

    def to_json(self, own: Asked | None = None) -> dict[str, object]:
        """The account as texts and whole numbers, in a record of its ``own`` charge.

        Of its windows those that the record has changed, and in which record each other one stands.
        """
        windows = {
            each.name: each.record if each.record else each.to_json(own) for each in self.windows
        }
        return {
            "neighbours": self.neighbours,
            "charges": self.charges,
            "spent": None if self.spent is None else self.spent.to_json(own),
            "limit": None if self.limit is None else limit_to_json(self.limit),
            **({"review": self.review} if self.review else {}),
            **({"windows": windows} if windows else {}),
            **({"limits": [list(map(str, e)) for e in self.limits]} if self.limits else {}),
            **({} if self.before == NOTHING else {"before": list(map(str, self.before))}),
            **({"since": self.since} if self.since else {}),
        }


def _ever_of(limit: Limit) -> Amounts | None:
    """What a limit says of all releases together, for ever; None of windows that say nothing."""
    return (limit.epsilon, limit.delta) if limit.each is None else limit.ever


def _total(amounts: Iterable[Decimal]) -> Decimal:
    total = Decimal(0)
    for amount in amounts:
        total = EXACT.add(total, amount)
    return total


def limit_to_json(limit: Limit) -> dict[str, object]:
    """A limit as texts; of windows what it says of them too."""
    ever = None if limit.ever is None else list(map(str, limit.ever))
    return {
        "epsilon": str(limit.epsilon),
        "delta": str(limit.delta),
        **({} if limit.each is None else {"each": limit.each.value}),
        **({} if limit.of is None else {"of": limit.of}),
        **({} if ever is None else {"ever": ever}),
    }


def limit_from_json(said: Mapping[str, Any]) -> Limit:
    """The limit that ``limit_to_json`` wrote; one of ``asked.NONSENSE`` for anything else.

    >>> monthly = Limit(Decimal(1), Decimal("1e-6"), each=Calendar.MONTH, of="visit_date")
    >>> limit_from_json(limit_to_json(monthly)) == monthly
    True
    """
    ever = said.get("ever")
    return Limit(
        Decimal(said["epsilon"]),
        Decimal(said["delta"]),
        each=None if "each" not in said else Calendar(said["each"]),
        of=None if "of" not in said else str(said["of"]),
        ever=None if ever is None else amounts_of(ever),
    )


def account_of(
    name: str,
    last: Record | None,
    where: str,
    known: Callable[[str, int], Window] | None = None,
) -> Account:
    """The account as its last record left it; one without records has spent nothing.

    ``known`` has the windows that other records state, by their names and those records' numbers.
    Raises LedgerError for a record this version cannot read.

    >>> account_of("census", None, "ledger.db").charges
    0
    """
    if last is None:
        return Account(name)
    try:
        said = json.loads(last.payload)
        own = Asked.from_json(said["asked"]) if "asked" in said else None
        state = said["state"]
        spent, limit = state["spent"], state["limit"]
        windows = []
        for window, told in state.get("windows", {}).items():
            if type(told) is int:
                assert known is not None
                windows.append(known(window, read_count(told)))
            else:
                windows.append(Window.from_json(window, told, last.seq, own))
        return Account(
            name,
            state["neighbours"],
            int(state["charges"]),
            None if spent is None else Spent.from_json(spent, own),
            None if limit is None else limit_from_json(limit),
            int(state.get("review", 0)),
            tuple(windows),
            tuple(map(amounts_of, state.get("limits", ()))),
            amounts_of(state["before"]) if "before" in state else NOTHING,
            read_text(state.get("since", "")),
        )
    except (ArithmeticError, DomainError, KeyError, TypeError, ValueError):
        raise LedgerError(
            f"{where}: the state of account {name!r} in record {last.seq} cannot be read by this "
            "version of policy-engine; use the version that wrote it, or a newer one"
        ) from None


def window_in(record: Record, name: str) -> Window:
    """The window of this name as a record states it; one of ``asked.NONSENSE`` if it does not."""
    said = json.loads(record.payload)
    own = Asked.from_json(said["asked"]) if "asked" in said else None
    return Window.from_json(name, said["state"]["windows"][name], record.seq, own)


@frozen
class WindowBalance:
    """Where a window stands: how many releases count, their sum, and the price of the rest.

    ``slots`` are those of its plan. ``rest`` is the limit of what is not planned, all where there
    is no plan; ``price`` is by it.
    """

    name: str
    charges: int
    sums: tuple[Decimal, Decimal]
    price: Price
    rest: Limit
    slots: tuple[SlotsLeft, ...]
    promised: tuple[Decimal, Decimal]


@frozen
class Balance:
    """Where an account stands.

    ``neighbours`` is the one notion its charges are counted in, None while it has none.
    ``price`` has the basic sum of the certificates, and the tight ε at the limit's δ and the tight
    δ at its ε, both None without a limit.
    """

    account: str
    neighbours: str | None
    charges: int
    price: Price
    limit: Limit | None
    unbounded: int = 0
    """How many of its releases have no (ε, δ); with one, none holds of them all together."""
    windows: tuple[WindowBalance, ...] = ()
    """Those in which anything counts; then ``price`` is the sum of the certificates in them."""
    ever: Amounts | None = None
    """What all windows promise together, for ever; None where that is not bounded."""

    @property
    def spent_epsilon(self) -> Decimal:
        """ε that was spent, at the limit's δ; without a limit the basic sum."""
        tight = self.price.tight_epsilon
        return self.price.basic_epsilon if tight is None else tight

    @property
    def spent_delta(self) -> Decimal:
        """δ that was spent, at the limit's ε; without a limit the basic sum."""
        tight = self.price.tight_delta
        return self.price.basic_delta if tight is None else tight


def balance_of(account: Account) -> Balance:
    """The balance of an account.

    >>> balance_of(Account("census", limit=Limit(Decimal(1), Decimal("1e-6")))).spent_epsilon
    Decimal('0')
    """
    spent, limit = account.spent, account.limit
    nothing = Price(Decimal(0), Decimal(0), None, None)
    windows: tuple[WindowBalance, ...] = ()
    found = nothing if spent is None else price(spent, limit)
    if limit is not None and account.has_windows:
        told = zip(account.windows, account.promised(limit), strict=True)
        windows = tuple(_window_balance(account, each, limit, amounts) for each, amounts in told)
        sums = [_total(each) for each in zip(*(each.sums for each in windows), strict=True)]
        found = Price(sums[0], sums[1], None, None) if sums else nothing
    return Balance(
        account.name,
        account.neighbours,
        account.charges,
        found,
        limit,
        0 if spent is None else spent.unbounded,
        windows,
        None if limit is None else account.promised_ever(limit),
    )


def _window_balance(
    account: Account, window: Window, limit: Limit, promised: Amounts
) -> WindowBalance:
    rest = window.rest_of(limit)
    return WindowBalance(
        window.name, window.charges, window.sums, price(window.spent, rest), rest,
        account.slots_left(window.name), promised,
    )  # fmt: skip


def check_not_raised(account: Account, limit: Limit | None) -> None:
    """BudgetExceeded where a project file raises the ledger's limit: it says not who or why."""
    if account.limit is None or limit is None or not limit.is_above(account.limit):
        return
    where = limit.where or "the project file"
    command = _raising(account, in_text(limit.epsilon), in_text(limit.delta))
    says = f"{where} allows account {account.name!r} {limit}, and the ledger {account.limit}: "
    what, remedy = "raises a limit", f"run {command}, or lower it in the project file"
    if (limit.each, limit.of) != (account.limit.each, account.limit.of):
        try:
            check_windows(account, limit)
        except UsageError as error:  # which that command would meet, after all approvals
            raise BudgetExceeded(f"{says}{error}") from None
        what = "changes how long a limit is for"
        remedy = f"write {_windows_of(account.limit)} there again, or run {command}"
    raise BudgetExceeded(f"{says}only an entry that says who and why {what}; {remedy}")


def _windows_of(limit: Limit) -> str:
    """What the project file says where a limit has such windows."""
    if limit.each is None:
        return "no 'each'"
    of = f"'of: {limit.of}'" if limit.of else "no 'of'"
    return f"'each: {limit.each.value}' and {of}"


def check_first_window(
    account: Account, charge: Charge, limit: Limit, day: tuple[str, ...]
) -> None:
    """BudgetExceeded where a first limit would begin in another window than that of the ``day``.

    What was charged before a first limit counts in the window in which it begins. In an old one it
    would leave that of today untouched.
    """
    if account.limit is not None or not account.charges or limit.each is None or limit.of:
        return
    if charge.windows[:1] != day:
        command = _raising(account, in_text(limit.epsilon), in_text(limit.delta))
        raise BudgetExceeded(
            f"account {account.name!r} was charged before it had a limit, and these charges count"
            f" in the window in which the limit begins: this charge is for {charge.windows[0]}, and"
            f" now is {day[0]}; first run {command}; nothing was charged"
        )


def check_windows(account: Account, limit: Limit) -> None:
    """UsageError where an account's charges cannot be told by another limit's windows."""
    before = account.limit
    if not account.charges or (before is None and limit.each is None):
        return
    before_each, before_of = (None, None) if before is None else (before.each, before.of)
    if before_each is not None and limit.each is None:
        raise UsageError(
            f"account {account.name!r} has windows, and no limit for ever follows them: write"
            f" 'each: {before_each.value}' in the project file, as it was, and"
            " 'ever: {epsilon: …, delta: …}', which is one"
        )
    if before_each is not None and before_of is not None and before_each != limit.each:
        raise UsageError(
            f"account {account.name!r} was charged already, by the {before_each.value} of"
            f" {before_of}, and by other periods nothing of that is known: write"
            f" 'each: {before_each.value}' in the project file, as it was"
        )
    if before_of != limit.of:
        raise UsageError(
            f"account {account.name!r} was charged already, and of nothing that was charged is it"
            f" known which periods of {limit.of or before_of!r} it has read: keep 'of' in the"
            " project file as it was"
        )


def check_windows_told(account: Account, charge: Charge) -> None:
    """BudgetExceeded where a charge does not say in which windows of its account it counts."""
    each = None if account.limit is None else account.limit.each
    if (each is None) != (charge.windows == (FOR_EVER,)):
        where = "the project file" if account.limit is None else account.limit.where or "the ledger"
        raise BudgetExceeded(
            f"{where} has the limit {account.limit} of account {account.name!r}, and policy"
            f" {charge.policy_name!r} is charged to {', '.join(charge.windows) or 'no window'}: the"
            " project file says another length of windows; write 'each' there as the ledger has it"
        )


def _raising(account: Account, epsilon: str = "NUMBER", delta: str = "NUMBER") -> str:
    """The command that raises the limit of an account, after the one that asks its people."""
    name, numbers = shlex.quote(account.name), f"--epsilon {epsilon} --delta {delta}"
    command = f"'policy-engine ledger limit {name} {numbers} --by NAME --why TEXT'"
    if not account.review:
        return command
    asking = f"'policy-engine review request --limit {name} {numbers} --key KEY'"
    return f"{asking} and, once that is approved, {command}"


def effective(account: Account, limit: Limit | None) -> Account:
    """The account under what the project file says, or under the recorded limit if that is lower.

    Where it is, nothing is paid until both say one thing.

    >>> recorded, lower = (Limit(Decimal(e), Decimal("1e-6")) for e in (2, 1))
    >>> effective(Account("census", limit=recorded), lower).limit == lower
    True
    """
    if limit is None:
        return account
    if account.limit is not None and limit.is_above(account.limit):
        return replace(account, is_stopped=True)
    # Equal ones stay as they were recorded, to the character.
    numbers = account.limit if account.limit == limit and account.limit is not None else limit
    stated = replace(numbers, where=limit.where, plan=limit.plan, rest=limit.rest,
                     neighbours=limit.neighbours, joins=limit.joins,
                     solve=limit.solve)  # fmt: skip
    return replace(account, limit=stated)


def admit(account: Account, charge: Charge) -> None:
    """Return if the account can pay, all its releases together within its limit.

    Raises BudgetExceeded, saying what was asked, what is left and what would fit, when the limit
    would be passed or when the charge counts in another notion of neighbours.
    """
    if not affords(account, charge):
        raise refusal(account, charge)


def affords(account: Account, charge: Charge) -> bool:
    """Whether the account can pay, all its releases together within its limit."""
    if account.is_stopped or account.neighbours not in (None, charge.neighbours):
        return False
    if not account.is_planned(charge):
        filters = account.filters(charge.windows, charge.neighbours)
        return all(each.admits(charge.asked) for each in filters)
    ever, asked = (
        None if not account.limit else account.limit.for_ever,
        account.asked_for_ever(charge),
    )
    spent = account.spent or Spent.none(charge.neighbours)
    return ever is None or asked is None or fits(spent, asked, ever)


def refusal(account: Account, charge: Charge) -> BudgetExceeded:
    """Why an account cannot pay, and what would fit: many times as slow as ``affords``."""
    if account.neighbours not in (None, charge.neighbours):
        return BudgetExceeded(
            f"account {charge.account!r} counts {account.neighbours} neighbours and policy "
            f"{charge.policy_name!r} guarantees {charge.neighbours}: the two do not add up; "
            "change 'neighbours' in the policy, or name another account under 'account'"
        )
    limit = account.limit
    assert limit is not None
    if charge.is_unbounded:
        return BudgetExceeded(
            f"account {charge.account!r} has the limit {limit}, and policy {charge.policy_name!r}"
            " has no (ε, δ), with which no limit is kept: release it from other people, or with a"
            " guarantee"
        )
    filters = account.filters(charge.windows, charge.neighbours)
    if any(each.spent.is_unbounded for each in filters):
        return BudgetExceeded(
            f"account {charge.account!r} has the limit {limit}, and a release without (ε, δ) is"
            " charged to it, with which no limit is kept"
        )
    found = account.remaining(charge.asked, charge.neighbours, charge.windows)
    assert found is not None
    remedy = _window_remedy(account, charge, limit)
    if not account.has_windows:
        remedy = _remedy(account, filters[0].spent, charge, limit, found)
    return BudgetExceeded(
        f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: it asks for "
        f"ε {brief(charge.epsilon)}, δ {brief(charge.delta)} (unit: {charge.unit}), and of {limit} "
        f"there is left: {found.words()}; {_of_the_rest(account, charge)}{remedy}",
        account=charge.account,
        left=found,
    )


def _of_the_rest(account: Account, charge: Charge) -> str:
    why = account.why_of_the_rest(charge)
    return f"it takes no slot of the plan because {why}; " if why else ""


def _window_remedy(account: Account, charge: Charge, limit: Limit) -> str:
    """What would help where a window, its plan or what holds for ever is in the way."""
    if account.is_planned(charge):
        law = "the plan of a window, as one, does not fit what the limit has for ever"
        return f"{law}: write a lower limit of a window, or a higher 'ever'"
    rules = account.filters(charge.windows, charge.neighbours)
    refused = [each for each in rules if not each.admits(charge.asked)]
    left = account.remaining(charge.asked, charge.neighbours, charge.windows)
    ways = [] if left is None else [*_smaller(charge, left)]
    ways += [f"it would fit with {way}" for way in _ways_that_fit(account, charge, refused[0])]
    is_ended = all(each.window for each in refused)
    waits = is_ended and limit.of is None and not charge.in_calendar
    if waits and _fits_anew(account, charge, limit):
        ways.append(f"wait for the window after {refused[0].window}")
    return "; or ".join([*ways, _raising_rules(account, charge, refused, limit)])


def _fits_anew(account: Account, charge: Charge, limit: Limit) -> bool:
    """Whether a window in which nothing counts yet would pay: by its plan, or by what that leaves.

    A window that begins has the plan of the project file, solved of the policy as it is now.
    """
    if any(each.name == charge.policy_name for each in limit.plan):
        return account.fits_for_ever(Window.none(FOR_EVER, charge.neighbours), limit)
    return fits(Spent.none(charge.neighbours), charge.asked, limit.rest_alone)


def _ways_that_fit(account: Account, charge: Charge, rule: Filter) -> Iterator[str]:
    """What a policy could ask instead, of an account that has other rules than one for ever."""
    yield from samples_that_fit(rule.spent, charge.asked, rule.limit)
    if not charge.follows:
        return
    left = account.remaining(charge.asked, charge.neighbours, charge.windows)
    if left is not None and left.epsilon is not None and left.delta is not None:
        yield _own_numbers(left.epsilon, left.delta)


def _own_numbers(epsilon: Decimal, delta: Decimal) -> str:
    return f"guarantee: {{epsilon: {in_text(epsilon)}, delta: {in_text(delta)}}}"


def _raising_rules(
    account: Account, charge: Charge, refused: Sequence[Filter], limit: Limit
) -> str:
    """How rules are raised so far that a charge of what is not planned fits.

    A plan that is recorded stays, and what the limit has more is of the rest.
    """
    asked, written = _by_numbers(charge)
    numbers: Limit | None = limit.plain
    where, told = limit.where or "the project file", list[str]()
    for rule in refused:
        raised, window = enough(rule.spent, asked, rule.limit), account.window(rule.window)
        if not rule.window and limit.ever is not None:
            told.append(f"'ever'{'' if raised is None else f' to {raised}'}")
            continue
        if raised is not None and window.planned is not None:
            rest = _rest_of(raised, limit)
            if rest < 1 and not window.record:  # by which nothing was drawn yet
                return f"{written}write rest: {rest} beside the plan in {where}"
            epsilon = EXACT.add(window.planned.epsilon, raised.epsilon)
            raised = Limit(epsilon, EXACT.add(window.planned.delta, raised.delta))
        told.append(f"the limit{'' if raised is None else f' to {raised}'}")
        numbers = raised
    command = _raising(account)
    if numbers is not None:
        command = _raising(account, in_text(numbers.epsilon), in_text(numbers.delta))
    # A limit is a promise to people: a colleague who only follows our messages does not raise it.
    raised_there = f"raise {' and '.join(told)} in {where}, and run {command}"
    return f"{written}ask the person who set it to {raised_there}"


def _rest_of(part: Limit, limit: Limit) -> Decimal:
    """The part of a limit that is at least another one, in hundredths."""
    shares = part.epsilon / limit.epsilon, part.delta / limit.delta if limit.delta else Decimal(0)
    return max(shares).quantize(_HUNDREDTH, ROUND_CEILING)


def _by_numbers(charge: Charge) -> tuple[Asked, str]:
    """What is asked when a limit is raised, and what must be written for that first, if anything.

    What follows from the limit grows with it: it is asked for by the numbers that it has now.
    """
    asked = charge.asked
    if not charge.follows:
        return asked, ""
    numbers = f"epsilon: {in_text(asked.epsilon)}, delta: {in_text(asked.delta)}"
    known = Asked(known_as(asked.epsilon, asked.delta), asked.epsilon, asked.delta, asked.part)
    return known, f"write guarantee: {{{numbers}}}, which does not grow with the limit, and "


def _remedy(account: Account, spent: Spent, charge: Charge, limit: Limit, left: Remaining) -> str:
    """What would fit, with both of its numbers, and where the limit may be raised."""
    asked, written = _by_numbers(charge)
    raised, to, command = enough(spent, asked, limit), "", _raising(account)
    for_what = ""
    if raised is not None:
        told = in_text(raised.epsilon), in_text(raised.delta)
        command, to = _raising(account, *told), f" to {raised}"
        for_what = f" ({_paid_by(raised, spent, asked, limit)})"
    place = f"{to}, which is the ledger's, with"
    if limit.where:
        place = f" in {limit.where}{to}, and where the ledger has it too, with"
    # A limit is a promise to people: a colleague who only follows our messages does not raise it.
    raising = f"{written}ask the person who set it to raise the limit{place} {command}{for_what}"
    if fits(Spent.none(charge.neighbours), charge.asked, limit):
        raising += ", or to write 'each: year' beside it: then each new year has this limit anew"
    ways, first = list(samples_that_fit(spent, charge.asked, limit)), spent.first
    more = first is not None and first.epsilon > (left.epsilon or 0)
    again = ""
    if first is not None and more and not ways and fits(spent, first, limit):
        # Of other numbers per person the same (ε, δ) is another event, which need not fit.
        was = f"ε {brief(first.epsilon)}, δ {brief(first.delta)}"
        again = f"what was released first would fit once more, unchanged ({was}); or "
    if charge.follows and left.epsilon is not None and left.delta is not None:
        ways.append(_own_numbers(left.epsilon, left.delta))
    instead = f"it would fit with {', or '.join(ways)}; or " if ways else ""
    smaller = "".join(f"{way}; or " for way in _smaller(charge, left))
    return f"{smaller}{instead}{again}{raising}"


def _smaller(charge: Charge, left: Remaining) -> Iterator[str]:
    """That a smaller guarantee would fit, which was told; nothing of one of next to nothing."""
    if not charge.follows and left.epsilon is not None and left.epsilon * 10 >= charge.epsilon:
        yield "write a guarantee of at most that into the policy"


def _paid_by(raised: Limit, spent: Spent, asked: Asked, limit: Limit) -> str:
    """For how many releases a higher limit is enough, and why its δ is higher, where it is."""
    found = remaining((Filter("", spent, raised),), asked)
    assert found is not None and found.alike
    more = f"{found.alike - 1}{' or' * found.or_more} more like it"
    many = f"enough for this release and {more if found.alike > 1 else 'for no more like it'}"
    if raised.delta <= limit.delta:
        return many
    sums = EXACT.add(price(spent, None).basic_delta, asked.delta)
    return (
        f"{many}; at δ {in_text(limit.delta)} no higher ε was found that pays for it: the δ of all"
        f" releases add up to {brief(sums)}, of which this one has {brief(asked.delta)};"
        " policies with a smaller δ need less"
    )


def brief(amount: Decimal, *, down: bool = False) -> str:
    """An amount in at most 12 digits, rounded up; ``down`` for what is left of one.

    >>> brief(Decimal("1.00000000000000001e-9")), brief(Decimal("0.99999999999999"), down=True)
    ('1.00000000001e-9', '0.999999999999')
    """
    return in_text((_FLOOR if down else _CEILING).normalize(amount))


# What would still fit


def enough(spent: Spent, asked: Asked, limit: Limit) -> Limit | None:
    """A higher limit by which a charge is admitted, tried; None where none was found.

    Of the limit's own δ with the least ε, in three digits, that was found; else of a higher δ, for
    the rule shares δ out, and to some charges no ε helps.

    >>> from policy_engine.accounting.events import PureDP
    >>> spent = Spent.none("add_remove")
    >>> asked = Asked(PureDP("0.3"), Decimal("0.3"), Decimal(0))
    >>> print(enough(spent, asked, Limit(Decimal("0.1"), Decimal(0))))
    ε 0.3, δ 0
    """
    basic = price(spent, None)
    whole = max(_UP.add(basic.basic_epsilon, asked.epsilon), limit.epsilon)
    sums = max(_UP.add(basic.basic_delta, asked.delta), limit.delta)

    def admits(epsilon: Decimal, delta: Decimal) -> bool:
        return fits(spent, asked, Limit(epsilon, delta))

    def least(high: Decimal, delta: Decimal) -> Decimal:
        place = high.adjusted() - 2
        low, most = (int(each.scaleb(-place)) for each in (limit.epsilon, high))
        found = least_integer(low, most, lambda steps: admits(Decimal(steps).scaleb(place), delta))
        return _CEILING.normalize(Decimal(found).scaleb(place))

    for delta in dict.fromkeys((limit.delta, *(sums * times for times in _TIMES))):
        for high in (_UP.multiply(whole, times) for times in _TIMES):
            if delta < 1 and limit.epsilon < high < _MOST_EPSILON and admits(high, delta):
                return Limit(least(high, delta), _CEILING.normalize(delta))
    return None


def samples_that_fit(spent: Spent, asked: Asked, limit: Limit | None) -> Iterator[str]:
    """The least k at the asked rate, and the greatest rate at the asked k, at the asked ε.

    k up to 128 times the asked one, the rate down to 1/1000, in steps of that.
    """
    event = asked.event
    if not isinstance(event, SampledSuppression):
        return
    rate = Decimal(str(event.rate))

    def allowed(k: int, rate: Decimal) -> bool:
        delta = claimed(delta_exact(k, rate, asked.epsilon, spent.neighbours).delta)
        event = SampledSuppression(k, rate)
        return fits(spent, replace(asked, event=event, delta=max(_LEAST_DELTA, delta)), limit)

    for high in (event.k << doubling for doubling in range(1, 8)):
        if allowed(high, rate):
            k = least_integer(high // 2, high, lambda k: allowed(k, rate))
            # An engine that draws by itself draws at a little more than the policy's rate.
            yield f"k: {k} with rate: {in_text(_SIX_DIGITS.plus(rate))}"
            break
    if (greatest := _greatest(rate, lambda rate: allowed(event.k, rate))) is not None:
        yield f"k: {event.k} with rate: {in_text(greatest)}"


def _greatest(whole: Decimal, allowed: Callable[[Decimal], bool]) -> Decimal | None:
    """The greatest number of thousandths of ``whole`` that is allowed; None where not even one."""

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(whole, Decimal(share).scaleb(-3))

    if not allowed(part(1)):
        return None
    return part(least_integer(1, 1000, lambda share: not allowed(part(share))) - 1)
