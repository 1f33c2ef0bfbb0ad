"""The plan of a window is approved like a limit, where its account has a review policy."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from reviewed_project import Reviewed

from policy_engine.accounting.events import PureDP
from policy_engine.accounting.plans import PlannedLine, WindowPlan, split
from policy_engine.accounting.shapes import Solved
from policy_engine.calendars import Calendar
from policy_engine.errors import NotApproved
from policy_engine.ledger.account import Limit
from policy_engine.ledger.entry import Charge, Run
from policy_engine.ledger.planned import Planned, plan_document
from policy_engine.ledger.reviews import plan_matter
from policy_engine.policy.timing import PlannedPolicy
from policy_engine.releasing.asking import Sought
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.presenting import presented
from policy_engine.releasing.reviewing import brought_at, change_file
from policy_engine.report.request_words import decides

ONE, SMALL = Decimal(1), Decimal("1e-6")


def limit(editions=2):
    return Limit(ONE, SMALL, each=Calendar.YEAR, plan=(PlannedPolicy("visits", editions),),
                 rest=Decimal("0.1"))  # fmt: skip


def solved(editions=2):
    lines = (PlannedLine("visits", editions, Solved(PureDP("0.3"), ""), 0, 0),)
    return WindowPlan(*split(ONE, SMALL, Decimal("0.1")), "add_remove", lines)


def charge(window, edition):
    return Charge("people", Decimal("0.3"), Decimal(0), "add_remove", "visits", "p", "c",
                  run=Run(edition=edition), windows=(window,))  # fmt: skip


@pytest.fixture
def reviewed(tmp_path):
    return Reviewed.at(tmp_path, claim=None)


def reserve(reviewed, asked, editions=2):
    file = change_file("people", "plan", reviewed.small.project)
    with reviewed.small.writing() as ledger:
        return ledger.reserve(asked, limit(editions), solve=lambda: solved(editions),
                              brought=brought_at(file))  # fmt: skip


def approve(reviewed, editions, *names):
    document = plan_document("people", ONE, SMALL, limit(editions).plan_text)
    file = change_file("people", "plan", reviewed.small.project)
    reviewed.ask_for(Sought(plan_matter(document), file, document), "Cleo")
    for name in names:
        reviewed.approve(name, file=file)
    return file


def faults(reviewed):
    with open_ledger(reviewed.small.project) as ledger:
        ledger.verify()
        return ledger.read().approvals.faults()


def test_a_plan_is_recorded_with_the_approvals_that_a_limit_would_need(reviewed):
    with pytest.raises(NotApproved, match=r"review request --plan people") as refused:
        reserve(reviewed, charge("2026", "2026-01"))
    plan = '"visits": 2 editions; rest 0.1; the limit is ε 1, δ 0.000001'
    assert f"requires approvals of the plan of 2026: {plan} (review policy" in str(refused.value)
    assert reviewed.state()[0] == 0
    file = approve(reviewed, 2, "Ada")
    with pytest.raises(NotApproved, match="1 more of role privacy"):
        reserve(reviewed, charge("2026", "2026-01"))
    text = "\n".join(line for part in decides(presented(file)) for line in part.lines)
    assert plan in text
    approve(reviewed, 2, "Ada", "Ben")
    assert reserve(reviewed, charge("2026", "2026-01")).planned
    # The same plan holds for the windows to come; another one is approved anew.
    assert reserve(reviewed, charge("2027", "2027-01")).planned
    with pytest.raises(NotApproved) as refused:
        reserve(reviewed, charge("2028", "2028-01"), editions=1)
    other = plan.replace("2 editions", "1 edition")
    assert f"of the plan of 2028: {other}; it was: {plan} (review" in str(refused.value)
    approve(reviewed, 1, "Ada", "Ben")
    assert reserve(reviewed, charge("2028", "2028-01"), editions=1).planned
    assert faults(reviewed) == ()


def test_a_plan_that_nobody_has_approved_is_told_of(reviewed):
    """Whoever has a key of the project can record one: it is found, and said."""
    plan = Planned.of(solved(), limit().plan_text)
    with reviewed.small.writing() as ledger, ledger.writing() as page:
        account = replace(page.books.budget.account("people"), limit=limit())
        told = {"who": "x", "why": "y", "epsilon": "1", "delta": "0.000001", "each": "year"}
        page.add("limit", told, account=account)
        told = {"window": "2026", "plan": plan.document("people")}
        page.add("plan", told, account=account.planning("2026", plan))
    [fault] = faults(reviewed)
    assert "had not the approvals that account 'people' required then" in fault.what
