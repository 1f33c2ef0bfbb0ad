"""What is offered is admitted, one step more is not: of ledgers whose limits and plans changed."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.events import PureDP
from policy_engine.accounting.left import MOST_ALIKE
from policy_engine.accounting.plans import PlannedLine, WindowPlan, split
from policy_engine.accounting.shapes import Solved
from policy_engine.attest.signers import KeySigner
from policy_engine.calendars import Calendar
from policy_engine.errors import BudgetExceeded, PolicyError
from policy_engine.ledger.account import Account, Limit, effective
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Charge, Run
from policy_engine.ledger.store import Ledger
from policy_engine.policy.timing import PlannedPolicy

SMALL = Decimal("1e-6")
TRUST = Trust.of(KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)))
PLANS = (
    (),
    (PlannedPolicy("visits", 4), PlannedPolicy("yearbook", 1)),
    (PlannedPolicy("visits", 2),),
)
EPSILONS = [Decimal(text) for text in ("0.3", "0.6", "0.9", "1", "1.5", "2")]


def charge(epsilon, window, policy, edition=""):
    return Charge(
        "people", Decimal(epsilon), Decimal(0), "add_remove", policy, "p", "c",
        run=Run(edition=edition), windows=(window,), unit="id",
    )  # fmt: skip


def plan_of(limit):
    """A solved plan, which takes all that is planned: its editions share that ε alike."""
    pairs = split(limit.epsilon, limit.delta, limit.rest)
    each = (pairs[0] * Decimal("0.999") / sum(line.editions for line in limit.plan)).normalize()
    lines = tuple(
        PlannedLine(line.name, line.editions, Solved(PureDP(each), ""), 0, 0) for line in limit.plan
    )
    return WindowPlan(*pairs, "add_remove", lines)


def written(random):
    """What a project file says of the account."""
    plan = random.choice(PLANS)
    epsilon = random.choice(EPSILONS)
    ever = random.choice([None, (epsilon, SMALL), (epsilon * 2, 2 * SMALL)])
    rest = random.choice([Decimal("0.1"), Decimal("0.4")]) if plan else Decimal(1)
    return with_solver(Limit(epsilon, SMALL, each=Calendar.YEAR, ever=ever, plan=plan, rest=rest))


def with_solver(limit):
    """The same with what finds its plan, as the project file has it."""
    return replace(limit, solve=(lambda: plan_of(limit)) if limit.plan else None)


def asks(random):
    """What is charged: of a plan, or of none."""
    policy = random.choice(["visits", "yearbook", "other", "other"])
    window = random.choice(["2026", "2027"])
    month = f"{window}-{random.randint(1, 12):02}"
    epsilon = Decimal(random.randint(5, 300)).scaleb(-3)
    return charge(epsilon, window, policy, edition=month)


def reserved(ledger, asked, stated):
    try:
        return ledger.reserve(asked, stated, solve=lambda: plan_of(stated))
    except BudgetExceeded:
        return None


def changed(ledger, stated, random):
    """One thing that becomes of a ledger; what the project file says afterwards."""
    what = random.randint(0, 9)
    if what < 7:
        reserved(ledger, asks(random), stated)
        return stated
    if what == 7:  # the project file is edited
        return written(random)
    other = with_solver(replace(stated, epsilon=random.choice(EPSILONS)))
    if ledger.read().budget.names():
        ledger.set_limit("people", replace(other, plan=(), rest=Decimal(1)), who="Ada", why="so")
    return other if what == 8 else stated


class Copies:
    """A ledger as it is now, as often as it is wanted."""

    def __init__(self, path: Path):
        self.path, self.number = path, 0

    def __call__(self):
        self.number += 1
        other = self.path.with_name(f"{self.number}.db")
        shutil.copy(self.path, other)
        return Ledger.open(other, TRUST)


def test_a_plan_that_fits_for_ever_by_what_it_is_is_offered(tmp_path):
    """Its part of the limit does not fit, which is no matter: its editions do."""
    plan = (PlannedPolicy("visits", 4),)
    pairs = split(Decimal(1), SMALL, Decimal("0.1"))
    line = PlannedLine("visits", 4, Solved(PureDP("0.1"), ""), 0, 0)
    limit = Limit(
        Decimal(1), SMALL, each=Calendar.YEAR, ever=(Decimal("0.7"), SMALL), plan=plan,
        rest=Decimal("0.1"), solve=lambda: WindowPlan(*pairs, "add_remove", (line,)),
    )  # fmt: skip
    account = effective(Account("people"), limit)
    [slots] = account.remaining(windows=("2026",)).slots
    assert slots.left == 4
    with Ledger.open(tmp_path / "ledger.db", TRUST) as ledger:
        for month in range(1, 5):
            asked = charge("0.1", "2026", "visits", edition=f"2026-{month:02}")
            assert ledger.reserve(asked, limit, solve=limit.solve).planned
    gone = effective(Account("people"), replace(limit, solve=unsolvable))
    assert gone.remaining(windows=("2026",)).slots == ()


def unsolvable():
    raise PolicyError(("a policy of the plan is gone",))


@pytest.mark.parametrize("number", range(40 if os.environ.get("EVIDENCE") else 16))
def test_what_is_offered_is_what_a_ledger_reserves(tmp_path, number):
    random = Random(number)
    stated, path = written(random), tmp_path / "ledger.db"
    with Ledger.open(path, TRUST) as ledger:
        for _ in range(random.randint(1, 9)):
            stated = changed(ledger, stated, random)
        names = ledger.read().budget.names()
        known = ledger.read().budget.account("people") if names else Account("people")
    account, copy = effective(known, stated), Copies(path)
    for window in ("2026", "2027"):
        like = charge("0.11", window, "not planned")
        left = account.remaining(like.asked, windows=(window,))
        told = {each.name: each.left for each in left.slots}
        shown = {each.name: each.left for each in account.slots_left(window)}
        assert all(told.get(name, 0) <= count for name, count in shown.items())
        with copy() as ledger:
            for _ in range(left.alike):
                assert reserved(ledger, like, stated) is not None
            assert left.alike == MOST_ALIKE or reserved(ledger, like, stated) is None
        other = replace(like, event=None, delta=left.delta or Decimal(0))
        with copy() as ledger:
            if left.epsilon is None:
                assert reserved(ledger, replace(other, epsilon=Decimal("1e-6")), stated) is None
            else:
                more = left.epsilon + Decimal(1).scaleb(left.epsilon.adjusted() - 2)
                assert reserved(ledger, replace(other, epsilon=more), stated) is None
                assert reserved(ledger, replace(other, epsilon=left.epsilon), stated) is not None
        for name, count in told.items():
            planned = account.window(window).planned
            line = None if planned is None else planned.names(name)
            each = plan_of(stated).lines[0].solved.event if line is None else line.event
            one = charge(each.epsilon, window, name)
            with copy() as ledger:
                for place in range(count):
                    taken = replace(one, run=replace(one.run, edition=f"new {place}"))
                    found = reserved(ledger, taken, stated)
                    assert found is not None and found.planned, (name, place, count)
                more = reserved(ledger, replace(one, run=replace(one.run, edition="more")), stated)
                assert more is None or not more.planned
        # Where nothing of a plan is offered nothing of it is taken.
        if not told and stated.plan:
            line = plan_of(stated).lines[0]
            one = charge(line.solved.event.epsilon, window, line.name, edition="new")
            with copy() as ledger:
                found = reserved(ledger, one, stated)
                assert found is None or not found.planned
