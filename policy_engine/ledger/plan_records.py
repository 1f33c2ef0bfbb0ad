"""Whether a window has the plan that the project file says, and which one is recorded of it.

A plan is recorded before the window's first draw, and unchanged within it. What was charged before
is the rest's, and must be within that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.plans import WindowPlan
from policy_engine.errors import BudgetExceeded, InternalError, LedgerError
from policy_engine.ledger.account import (
    Account,
    Limit,
    check_not_raised,
    check_windows_told,
    effective,
)
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.window_states import Window

_MOST_REST = 99
Solve = Callable[[], WindowPlan]
"""Finds the events of the plan that the project file has of an account's windows."""


def planned_windows(account: Account, limit: Limit | None, charge: Charge) -> tuple[str, ...]:
    """The windows of a charge that have a plan, or must have one before anything is charged."""
    if limit is None:
        return ()
    told = bool(limit.plan)
    return tuple(name for name in charge.windows if told or account.window(name).planned)


def solved(account: Account, charge: Charge, limit: Limit, solve: Solve | None) -> Planned | None:
    """The plan that a charge records of its windows; None where none lacks one.

    Raises what ``solve`` raises; InternalError where it finds one that is not within its limit.
    """
    windows = planned_windows(account, limit, charge)
    if solve is None or all(account.window(name).planned for name in windows):
        return None
    found = Planned.of(solve(), limit.plan_text)
    if not found.holds():
        raise InternalError("a plan was solved that is not within its limit")
    return found


def paying(
    known: Account, charge: Charge, limit: Limit | None, solve: Solve | None = None
) -> Account:
    """An account as it is when it is asked for a charge: under its limit, with its plan.

    Raises BudgetExceeded where the limit is another one than the ledger's, or the plan.
    """
    check_not_raised(known, limit)
    account = effective(known, limit)
    check_windows_told(account, charge)
    plan = None
    if account.limit is not None and account.limit.plan:
        plan = solved(known, charge, account.limit, solve)
    for _, found in with_plans(known, account, charge, plan):
        account = found
    return account


def with_plans(
    known: Account, account: Account, charge: Charge, plan: Planned | None
) -> Iterator[tuple[str, Account]]:
    """Each window of a charge that gets its plan now, and the account with it.

    ``known`` is the account before the limit that counts now. Raises as ``check_plan``.
    """
    limit = account.limit
    for name in planned_windows(known, limit, charge):
        assert limit is not None
        check_plan(known, limit, name, charge, plan)
        if account.window(name).planned is None:
            assert plan is not None
            account = account.planning(name, plan)
            yield name, account


def check_plan(
    account: Account, limit: Limit, name: str, charge: Charge, plan: Planned | None
) -> None:
    """BudgetExceeded unless a window has the plan that a limit says, or can have it.

    ``account`` is as it was before the project file had another limit than the ledger.
    """
    window = account.window(name, charge.neighbours)
    if window.has_plan_of(limit):
        return
    where = limit.where or "the project file"
    if window.planned is not None:
        following = f"the window after {name} takes the plan that {where} has then"
        if not name:
            following = "a plan for ever ends with 'policy-engine ledger limit' of other numbers"
        raise BudgetExceeded(
            f"{where} has another plan of account {account.name!r} than what was recorded"
            f"{f' of {name}' if name else ''} before its first draw: a plan holds for its window."
            f" Put it back as it was, {window.planned.told()}; {following}"
        )
    if plan is None:
        raise LedgerError("a plan was ended meanwhile: run the command again")
    if (plan.total, plan.neighbours) != ((limit.epsilon, limit.delta), charge.neighbours):
        raise BudgetExceeded(
            f"the plan of account {account.name!r} is of {plan.neighbours}, and policy"
            f" {charge.policy_name!r} guarantees {charge.neighbours}: they do not add up"
        )
    if not window.has_room_for_plan(limit):
        least = _least_rest(window, limit)
        remedy = f"raise the limit, and write a larger 'rest' than {limit.rest}"
        if least is not None:
            remedy = f"write rest: {least} beside the plan, or more"
        planless = "a policy that has numbers of its own is charged without a plan"
        raise BudgetExceeded(
            f"{where} has a plan{f' for {name}' if name else ''} of account {account.name!r}, and"
            f" what was charged before does not fit the rest of it, {limit.rest_alone}: {remedy};"
            f" or take the plan out until a window in which nothing counts yet: {planless}"
        )


def _least_rest(window: Window, limit: Limit) -> Decimal | None:
    """The least rest, in hundredths, that holds what was charged before; None where none does."""

    def holds(hundredths: int) -> bool:
        return window.spent.is_within(replace(limit, rest=Decimal(hundredths) / 100).rest_alone)

    if not holds(_MOST_REST):
        return None
    return Decimal(least_integer(0, _MOST_REST, holds)) / 100
