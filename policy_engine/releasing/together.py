"""Several charges at once: each account is asked for all of its own before the first is charged."""

from __future__ import annotations

from collections.abc import Iterable

from policy_engine.errors import BudgetExceeded
from policy_engine.ledger.account import Account, admit
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.sources import one_person, places_in
from policy_engine.values import frozen


@frozen
class AskedCharge:
    """What an account of a ledger is asked to pay; ``refusal`` is why it cannot, if that is known.

    The account stands as it does before anything of what is asked is charged.
    """

    ledger: str
    account: Account
    charge: Charge
    refusal: str = ""


def check_together(asked: Iterable[AskedCharge]) -> None:
    """Return if each account can pay for all that is asked of it at once.

    Raises:
        BudgetExceeded: one cannot, two are asked for the same people, or one for a source in which
            a person is something else in each of two charges; nothing was charged.

    >>> from decimal import Decimal
    >>> from policy_engine.ledger.account import Limit
    >>> census = Account("census", limit=Limit(Decimal("1.0"), Decimal("1e-6")))
    >>> half = Charge("census", Decimal("0.4"), Decimal("1e-9"), "add_remove", "adult", "a", "b")
    >>> check_together([AskedCharge("ledger.db", census, half)] * 2)
    >>> check_together([AskedCharge("ledger.db", census, half)] * 3)
    Traceback (most recent call last):
    policy_engine.errors.BudgetExceeded: account 'census' cannot pay ...
    """
    accounts: dict[tuple[str, str], Account] = {}
    payers: dict[tuple[str, str], Charge] = {}
    counted: dict[tuple[str, str, str], Charge] = {}
    for each in asked:
        charge = each.charge
        for place in (*places_in(charge.source), *charge.beside):
            first = payers.setdefault((each.ledger, place), charge)
            if first.account != charge.account:
                raise BudgetExceeded(
                    f"policies {first.policy_name!r} and {charge.policy_name!r} read the people of"
                    f" one source and ask accounts {first.account!r} and {charge.account!r}: people"
                    " who pay from two accounts lose the sum of both limits. Write 'account:"
                    f" {first.account}' in both; nothing was charged",
                    account=charge.account,
                )
        for place, units in charge.units.items():
            first = counted.setdefault((each.ledger, charge.account, place), charge)
            if not {*first.units[place]} & {*units}:
                raise BudgetExceeded(
                    f"policies {first.policy_name!r} and {charge.policy_name!r} ask account"
                    f" {charge.account!r} for the same source: one person is"
                    f" {one_person(first.units[place])} in the first, and {one_person(units)} in"
                    " the second, and what they tell of somebody does not add up. Write the same"
                    " privacy_unit in both; nothing was charged",
                    account=charge.account,
                )
        key = (each.ledger, each.account.name)
        account = accounts.get(key, each.account)
        try:
            if each.refusal:
                raise BudgetExceeded(each.refusal)
            admit(account, each.charge)
        except BudgetExceeded as error:
            together = "nothing was charged, for an account must pay for all that is asked at once"
            raise BudgetExceeded(
                f"{error}; {together}", account=error.account, left=error.left
            ) from None
        accounts[key] = account.plus(each.charge)
