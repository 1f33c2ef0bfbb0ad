"""What the pages show, from values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from policy_engine.accounting.events import PureDP
from policy_engine.calendars import Calendar
from policy_engine.desk import views
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.entry import Charge, Entry, Run
from policy_engine.ledger.states import LimitChange
from policy_engine.releasing.ledger_state import LedgerState

START = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = Limit(Decimal(2), Decimal("1e-6"))


def entry(number: int, epsilon: str = "0.5", **changes: object) -> Entry:
    made = Entry(
        id=number, account="people", policy_name="a", policy_digest="p", certificate_digest="c",
        neighbours="add_remove", request="",
        run=Run(), state="committed", reserved_at=START + timedelta(days=number), committed_at=None,
        release_name="out/a.parquet", release_digest="d", drawn_digest=None, previous_hash="",
        hash="", asked=Asked(PureDP(epsilon), Decimal(epsilon), Decimal("1e-9")),
    )  # fmt: skip
    return replace(made, **changes)


def under(most: Limit | None) -> Account:
    return Account("people", "add_remove", limit=most)


def change(number: int, after: Limit, before: Limit | None = None) -> LimitChange:
    at = START + timedelta(days=number)
    return LimitChange(number, "people", at, "Ada", "a test", before, after)


def test_sums_go_up_under_the_limit_of_their_time():
    higher = Limit(Decimal(4), Decimal("1e-6"))
    limits = [change(0, LIMIT), change(6, higher, LIMIT)]
    found = views.burn_down(
        under(higher), [entry(2), entry(12)], limits, START + timedelta(days=12)
    )
    assert found is not None
    assert (found.top, found.first, found.last) == ("4", "2026-01-01", "2026-01-13")
    assert found.spent == "M0.0 160.0H100.0V140.0H600.0V120.0H600"
    assert found.limit == "M0.0 80.0H300.0V0.0H600V0.0"
    assert [(s.charges, s.epsilon) for s in found.spans] == [(0, "0")] + [(1, "0.5")] * 10 + [
        (2, "1")
    ]
    assert found.spans[0].limit == "ε 2, δ 0.000001"
    assert found.spans[-1].delta == "2e-9"


def test_what_was_given_back_is_not_spent():
    gone = entry(3, state="cancelled")
    found = views.burn_down(under(None), [entry(2), gone], [], START + timedelta(days=4))
    assert found is not None
    assert found.spans[-1].charges == 1
    assert found.limit == ""


def test_a_limit_of_the_project_file_alone_is_drawn():
    found = views.burn_down(under(LIMIT), [entry(1)], [], START + timedelta(days=4))
    assert found is not None
    assert found.limit == "M0.0 0.0H600V0.0"


def test_nothing_happened_yet():
    assert views.burn_down(under(LIMIT), [], [], START) is None


def test_a_long_history_is_drawn_at_some_moments_and_ends_where_it_ends():
    many = [entry(number, "0.01") for number in range(1, 501)]
    found = views.burn_down(under(LIMIT), many, [], START + timedelta(days=501))
    assert found is not None
    assert found.spent.count("H") < 20
    assert len(found.spans) == 12
    assert found.spans[-1].epsilon == "5"
    taken = under(LIMIT).epsilon_of(many)
    assert taken < 2  # together they cost less than their sum
    high = views.HEIGHT - float(taken / LIMIT.epsilon) * views.HEIGHT
    assert found.spent.endswith(f"V{high:.1f}H{views.WIDTH}")


@pytest.mark.parametrize(
    ("asked", "number", "first", "rows"), [(1, 1, 60, 25), (3, 3, 10, 10), (99, 3, 10, 10)]
)
def test_a_long_list_is_turned_newest_first(asked, number, first, rows):
    found = views.sheet([entry(n) for n in range(1, 61)], asked)
    assert (found.number, found.last, found.count) == (number, 3, 60)
    assert (found.rows[0].id, len(found.rows)) == (first, rows)


def test_an_empty_list_has_one_page():
    assert views.sheet([], 1) == views.Sheet((), 1, 1, 0)


def test_only_the_release_before_of_the_same_name_is_compared():
    others = [entry(1), entry(2, policy_name="b"), entry(3, state="kept"), entry(4)]
    found = views.since_last(others[3], others)
    assert found is not None
    assert (found.entry, found.changes) == (1, None)
    assert views.since_last(others[1], others) is None
    assert views.since_last(others[0], others) is None


def test_without_a_ledger_nothing_is_said_to_be_left():
    [row] = views.account_rows(LedgerState(accounts=(under(LIMIT),), has_begun=False))
    assert row.left == "not known, because there is no ledger here"


def test_an_account_with_windows_says_of_each_what_counts_and_what_all_promise():
    most = Limit(Decimal(1), Decimal("1e-6"), each=Calendar.YEAR)
    account = Account("people", limit=most)
    for window, epsilon in (("2026", "0.5"), ("2026", "0.25"), ("2027", "0.125")):
        asked = Charge("people", Decimal(epsilon), Decimal(0), "add_remove", "a", "p", "c",
                       windows=(window,))  # fmt: skip
        account = account.plus(asked)
    state = LedgerState(accounts=(account,), now={"people": ("2027",)})
    [row] = views.account_rows(state)
    assert (row.limit, row.spent) == (
        "ε 1, δ 0.000001 each year",
        "counted in each window separately",
    )
    assert (row.share, row.left) == (None, "in 2027 at most ε 0.875 (at δ 5e-8) in one release")
    assert [(each.name, each.charges, each.planned, each.sums) for each in row.windows] == [
        ("2026", 2, None, "ε 0.75, δ 0"), ("2027", 1, None, "ε 0.125, δ 0"),
    ]  # fmt: skip
    assert row.promises[0].startswith("What the releases of one year add")
    entries = [entry(1, windows=("2026",)), entry(40, windows=("2027",))]
    found = views.burn_down(account, entries, [change(0, most)], START + timedelta(days=50))
    assert found is not None and (found.limit, found.top) == ("", "1")
