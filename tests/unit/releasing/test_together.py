"""Several charges of one command: what would be refused after the first is refused before it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.account import Account
from policy_engine.ledger.entry import Charge, Units
from policy_engine.releasing.together import AskedCharge, check_together

ROWS: Units = ((),)
PEOPLE: Units = (("patient",),)
ONE_ROW_EACH: Units = (("patient",), ())


def asked(name: str, units: Units, *, account: str = "people") -> AskedCharge:
    cost = Decimal("0.1"), Decimal("1e-9")
    source = {"place": f"visits of {account}"}
    charge = Charge(
        account, *cost, "add_remove", name, "a", "b", source=source, units={source["place"]: units}
    )
    return AskedCharge("ledger.db", Account(account), charge)


def test_one_account_is_not_asked_for_rows_and_people_of_a_source_at_once():
    with pytest.raises(BudgetExceeded, match="each value of patient in the first, and each row in"):
        check_together([asked("a", PEOPLE), asked("b", ROWS)])


def test_the_same_people_and_other_accounts_go_together():
    check_together([asked("a", PEOPLE), asked("b", ONE_ROW_EACH), asked("c", ROWS, account="rows")])
