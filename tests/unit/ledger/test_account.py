"""Balances: exact sums, exact comparisons, and who can pay."""

import decimal
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import BudgetExceeded, DomainError, LedgerError
from policy_engine.ledger.account import Limit, admit, balance_of, exact_sum, plain
from policy_engine.ledger.entry import Charge, Entry

AT = datetime(2025, 1, 1, tzinfo=UTC)
AMOUNTS = st.decimals(0, 10**9, allow_nan=False) | st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(0, 999),
    st.integers(3, 990),
)


def charge(epsilon="0", delta="0", neighbours="add_remove"):
    return Charge("census", Decimal(epsilon), Decimal(delta), neighbours, "adult", "p", "c")


def entry(epsilon="0", delta="0", account="census", neighbours="add_remove", state="reserved"):
    amounts = (Decimal(epsilon), Decimal(delta))
    return Entry(
        1, account, "adult", "p", "c", *amounts, neighbours, state, AT, None, None, None, "", ""
    )


def limit(epsilon="1", delta="1e-6"):
    return Limit(Decimal(epsilon), Decimal(delta))


def refusal(balance, asked):
    with pytest.raises(BudgetExceeded) as caught:
        admit(balance, asked)
    return str(caught.value)


def test_a_balance_sums_its_own_entries_reserved_or_committed():
    entries = [
        entry("0.1", "1e-9"),
        entry("0.15", "0", state="committed"),
        entry("0.05", "1e-9", state="committed"),
        entry("5", "0.5", account="other", neighbours="replace_one"),
    ]
    balance = balance_of("census", entries, limit())
    assert (balance.account, balance.neighbours) == ("census", "add_remove")
    assert (balance.entries, balance.reserved) == (3, 1)
    assert (balance.spent_epsilon, balance.spent_delta) == (Decimal("0.3"), Decimal("2e-9"))
    assert balance.left_epsilon == Decimal("0.7")
    assert balance.left_delta == Decimal("9.98e-7")


def test_limits_and_balances_are_frozen():
    with pytest.raises(FrozenInstanceError):
        limit().epsilon = Decimal(2)
    with pytest.raises(FrozenInstanceError):
        balance_of("census", [], None).limit = limit()


def test_what_is_left_is_never_below_nothing():
    balance = balance_of("census", [entry("2", "0.1")], limit())
    assert (balance.left_epsilon, balance.left_delta) == (0, 0)
    assert "ε 0.5 where 0 of 1 is left" in refusal(balance, charge("0.5"))


def test_an_account_without_entries_has_no_notion_yet():
    balance = balance_of("census", [], None)
    assert balance.neighbours is None
    assert (balance.left_epsilon, balance.left_delta) == (None, None)
    admit(balance, charge("100", "1", "replace_one"))


def test_mixed_notions_in_one_account_are_never_summed():
    mixed = [entry("0.1"), entry("0.1", neighbours="replace_one")]
    with pytest.raises(LedgerError, match=r"mixes .* add_remove and replace_one, which do not add"):
        balance_of("census", mixed, None)


@pytest.mark.parametrize("bound", [None, limit("100", "1")])
def test_another_notion_is_refused_whatever_the_limit(bound):
    balance = balance_of("census", [entry("0.1")], bound)
    assert "counts add_remove neighbours and policy 'adult' guarantees replace_one" in refusal(
        balance, charge("0.1", neighbours="replace_one")
    )


@pytest.mark.parametrize(
    ("spent", "asked", "most", "fits"),
    [
        (["0.1"], "0.2", "0.3", True),
        (["0.1", "0.1"], "0.1", "0.3", True),
        (["0.1"] * 9, "0.1", "1.0", True),
        (["0.1", "0.2"], "1e-1000", "0.3", False),
        (["0.1"] * 10, "0.1", "1.0", False),
        ([], "0", "0", True),
    ],
)
def test_comparisons_are_exact(spent, asked, most, fits):
    balance = balance_of("census", [entry(amount) for amount in spent], limit(most))
    if fits:
        admit(balance, charge(asked))
    else:
        assert "cannot pay" in refusal(balance, charge(asked))


def test_epsilon_and_delta_must_both_fit():
    balance = balance_of("census", [entry("0.9", "9e-7")], limit())
    admit(balance, charge("0.1", "1e-7"))
    assert "asks for ε 0.2 where 0.1 of 1 is left; ask" in refusal(balance, charge("0.2", "1e-7"))
    assert "asks for δ 2e-7 where 1e-7 of 0.000001 is left; ask" in refusal(
        balance, charge("0.1", "2e-7")
    )
    assert refusal(balance, charge("0.2", "2e-7")) == (
        "account 'census' cannot pay for policy 'adult': it asks for ε 0.2 where 0.1 of 1 is left "
        "and δ 2e-7 where 1e-7 of 0.000001 is left; ask for less in the policy's guarantee, or "
        "decide to raise the limit of accounts.census in policy-engine.yaml"
    )


@given(st.lists(AMOUNTS, max_size=8))
def test_a_sum_is_the_sum_of_fractions_in_any_context(amounts):
    with decimal.localcontext(prec=3, traps=[]):
        total = exact_sum(amounts)
    assert Fraction(total) == sum(map(Fraction, amounts))


@given(AMOUNTS)
def test_a_plain_amount_is_the_amount(amount):
    assert Decimal(plain(amount)) == amount


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0.000001", "0.000001"), ("0.0000001", "1e-7"), ("123.450", "123.45"), ("1E9", "1000000000")],
)
def test_a_plain_amount_reads_well(amount, text):
    assert plain(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 1.0}, "epsilon must be a Decimal, found float"),
        ({"epsilon": Decimal(-1)}, "epsilon must be from 0 to 1000000000, found -1"),
        ({"delta": Decimal(2)}, "delta must be from 0 to 1, found 2"),
        ({"delta": "1e-6"}, "delta must be a Decimal, found str"),
    ],
)
def test_a_limit_outside_its_domain_is_refused(change, message):
    with pytest.raises(DomainError) as caught:
        replace(limit(), **change)
    assert str(caught.value) == message
