"""Accounts: what stands in their records, who can pay, and what is left.

What releases cost together is decided, and tested, in ``pricing``.
"""

import re
from dataclasses import FrozenInstanceError, dataclass, replace
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.events import DiscreteLaplace, RandomisedResponse, SampledSuppression
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import BudgetExceeded, DomainError, LedgerError
from policy_engine.ledger.account import (
    Account,
    Balance,
    Limit,
    account_of,
    admit,
    affords,
    balance_of,
    brief,
    effective,
)
from policy_engine.ledger.chain import Draft, canonical, extend, head
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.pricing import Price

SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
SAMPLED = SampledSuppression(20, "0.1")
RAISED = re.compile(
    r"raise the limit(?: in \S+)? to ε (\S+), δ (\S+), (?:which is the ledger's|and where the"
    r" ledger has it too), with 'policy-engine ledger limit census --epsilon \1 --delta \2"
    r" --by NAME --why TEXT' \(enough for this release and (\d+( or)?|for no) more like"
    r" it(; .*?)?\)(, or to write 'each: year' beside it: then each new year has this limit anew)?$"
)


def obeyed(found, asked):
    """What a refusal names as a limit that is enough is enough; so are windows, where named."""
    epsilon, delta, more, or_more, why, years = RAISED.search(refusal(found, asked)).groups()
    raised = replace(found, limit=limit(epsilon, delta))
    for _ in range(1 + (0 if more == "for no" else int(more.removesuffix(" or")))):
        admit(raised, asked)
        raised = raised.plus(asked)
    assert or_more or not affords(raised, asked)
    assert (why is None) == (Decimal(delta) <= found.limit.delta)
    assert (years is not None) == affords(Account("census", limit=found.limit), asked)
    return epsilon, delta


AMOUNTS = st.decimals(0, 10**9, allow_nan=False) | st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(0, 999),
    st.integers(3, 990),
)


def charge(epsilon="0.5", delta="2.64e-11", neighbours="add_remove", event=None, part=None):
    amounts = (Decimal(epsilon), Decimal(delta))
    return Charge(
        "census", *amounts, neighbours, "adult", "p", "c", event=event, part=part, unit="id"
    )


def limit(epsilon="1", delta="1e-6"):
    return Limit(Decimal(epsilon), Decimal(delta))


def account(*charges, most=None):
    found = Account("census", limit=most)
    for each in charges:
        found = found.plus(each)
    return found


def refusal(found, asked):
    with pytest.raises(BudgetExceeded) as caught:
        admit(found, asked)
    return str(caught.value)


# Limits.


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


@pytest.mark.parametrize(
    ("epsilon", "delta", "above"),
    [
        ("1", "1e-6", False),
        ("1.0", "0.0000010", False),
        ("0.9", "1e-6", False),
        ("1", "1e-7", False),
        ("1.1", "1e-6", True),
        ("1", "2e-6", True),
        ("0.1", "2e-6", True),
        ("1.1", "0", True),
    ],
)
def test_a_limit_is_above_another_if_it_allows_more_of_either(epsilon, delta, above):
    assert limit(epsilon, delta).is_above(limit()) is above


def test_limits_accounts_and_balances_are_frozen():
    for value in (limit(), account(), balance_of(account())):
        with pytest.raises(FrozenInstanceError):
            value.epsilon = Decimal(2)


# The running state.


def test_charges_are_counted_and_given_back():
    one, two = charge(), charge("0.25", event=SAMPLED)
    found = account(one, one, two)
    assert (found.charges, found.neighbours) == (3, "add_remove")
    assert balance_of(found).price.basic_epsilon == Decimal("1.25")
    assert found.minus(one) == account(one, two)


def test_what_was_never_charged_is_not_given_back():
    with pytest.raises(DomainError, match=r"^asked must be a release "):
        account(charge()).minus(charge("0.25"))


STATES = [
    account(),
    account(most=limit()),
    account(charge()),
    account(charge(), charge(), charge("0.25", event=SAMPLED), most=limit("100", "0.5")),
    account(charge("2", "0", "replace_one", RandomisedResponse("0.5", 3)), most=limit("9")),
    account(charge("1", "0", event=DiscreteLaplace("0.5", 2)), charge("0", "0")),
    account(charge(part=("by", "one")), charge(part=("by", "two")), most=limit()),
    account(charge(), most=limit()).minus(charge()),
]


@pytest.mark.parametrize("found", STATES)
def test_an_account_is_what_its_last_record_says(found):
    state = {"state": found.to_json()}
    last = extend(head(()), Draft("reserve", state, "census"), SIGNER)
    assert account_of("census", last, "ledger.db") == found
    assert balance_of(account_of("census", last, "ledger.db")) == balance_of(found)


@pytest.mark.parametrize("found", STATES)
def test_a_state_is_texts_and_whole_numbers(found):
    def leaves(value):
        if isinstance(value, dict | list | tuple):
            items = value.values() if isinstance(value, dict) else value
            for item in items:
                yield from leaves(item)
        else:
            yield value

    assert {type(leaf) for leaf in leaves(found.to_json())} <= {str, int, type(None)}


def test_an_account_without_records_has_spent_nothing():
    assert account_of("census", None, "ledger.db") == Account("census")


WHOLE = account(charge(), most=limit()).to_json()


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"state": None},
        {"state": []},
        *({"state": {n: v for n, v in WHOLE.items() if n != name}} for name in WHOLE),
        {"state": {**WHOLE, "charges": "many"}},
        {"state": {**WHOLE, "limit": {"epsilon": "-1", "delta": "0"}}},
        {"state": {**WHOLE, "limit": {"epsilon": "much", "delta": "0"}}},
        {"state": {**WHOLE, "limit": {"epsilon": "1"}}},
        {"state": {**WHOLE, "spent": {}}},
        {"state": {**WHOLE, "spent": {**WHOLE["spent"], "neighbours": "swap"}}},
    ],
    ids=str,
)
def test_a_state_that_cannot_be_read_is_not_nothing(payload):
    last = replace(extend(head(()), Draft("x", {}, "census"), SIGNER), payload=canonical(payload))
    with pytest.raises(LedgerError) as caught:
        account_of("census", last, "ledger.db")
    assert str(caught.value) == (
        "ledger.db: the state of account 'census' in record 1 cannot be read by this version of "
        "policy-engine; use the version that wrote it, or a newer one"
    )


# Balances.


def test_an_account_without_charges_has_no_notion_and_has_spent_nothing():
    balance = balance_of(account(most=limit()))
    assert (balance.neighbours, balance.charges) == (None, 0)
    assert (balance.spent_epsilon, balance.spent_delta) == (0, 0)


def test_without_a_limit_the_certificates_add_up():
    balance = balance_of(account(charge("0.1", "1e-9"), charge("0.20", "1e-9")))
    assert (balance.spent_epsilon, balance.spent_delta) == (Decimal("0.3"), Decimal("2e-9"))


def test_where_something_tighter_is_known_that_is_what_was_spent():
    price = Price(Decimal(3), Decimal("0.3"), Decimal(2), Decimal("0.2"))
    balance = Balance("census", "add_remove", 3, price, limit("2.5", "0.25"))
    assert (balance.spent_epsilon, balance.spent_delta) == (Decimal(2), Decimal("0.2"))


# Who can pay.


@pytest.mark.parametrize("most", [None, limit("100", "1")])
def test_another_notion_of_neighbours_is_refused_whatever_the_limit(most):
    found = account(charge(), most=most)
    assert refusal(found, charge(neighbours="replace_one")) == (
        "account 'census' counts add_remove neighbours and policy 'adult' guarantees replace_one: "
        "the two do not add up; change 'neighbours' in the policy, or name another account under "
        "'account'"
    )


def test_without_a_limit_nothing_is_too_much():
    admit(account(), charge("1000000000", "1", "replace_one"))
    admit(account(*[charge("1000000", "0.9")] * 3), charge("1000000", "0.9"))


def test_what_is_within_the_limit_can_be_paid():
    found = account(most=limit("10"))
    for _ in range(5):
        admit(found, charge())
        found = found.plus(charge())


@pytest.mark.parametrize(
    ("asked", "most"),
    [
        (charge("1.1", "0"), limit()),
        (charge("0.1", "2e-6"), limit()),
        (charge("0.1", "0"), limit("0", "0")),
        (charge("5", "0.5"), limit()),
    ],
)
def test_one_charge_above_the_limit_is_refused(asked, most):
    assert "account 'census' cannot pay for policy 'adult': it asks for ε " in refusal(
        account(most=most), asked
    )


def test_together_they_stay_within_the_limit():
    found = account(*[charge("1", "0")] * 3, most=limit("3.5", "0"))
    told = "it asks for ε 1, δ 0 (unit: id), and of ε 3.5, δ 0 there is left: none like"
    told += " this, but one release of another kind with at most ε 0.5 (at δ 0); "
    assert told in refusal(found, charge("1", "0"))


def test_a_refusal_says_what_would_fit():
    said = refusal(account(most=limit("0.5", "1e-12")), charge(event=SAMPLED))
    assert "; write a guarantee of at most that into the policy; or it would fit with k: " in said
    assert re.search(r"fit with k: \d+ with rate: 0\.1, or k: 20 with rate: 0\.0\d+; or", said)
    assert "; or ask the person who set it to raise the limit to ε 0.65, δ 1e-12, " in said
    assert obeyed(account(most=limit("0.5", "1e-12")), charge(event=SAMPLED))


def test_a_refusal_names_the_project_file_where_its_limit_binds():
    stated = replace(limit("0.5", "1e-12"), where="p/policy-engine.yaml:7")
    said = refusal(account(most=stated), charge(event=SAMPLED))
    assert (
        "; or ask the person who set it to raise the limit in p/policy-engine.yaml:7 to ε " in said
    )
    assert RAISED.search(said)


def test_a_rate_of_more_digits_is_named_by_what_people_write():
    event = SampledSuppression(20, Decimal("0.1") + Decimal(2) ** -32)
    said = refusal(account(most=limit("0.5", "1e-12")), charge(event=event))
    assert " with rate: 0.1, or " in said


def test_the_lower_limit_counts():
    low, high = limit("1"), limit("2")
    recorded = replace(account(), limit=high)
    assert effective(recorded, low).limit == low
    assert effective(replace(recorded, limit=low), high).limit == low
    assert effective(replace(recorded, limit=None), high).limit == high
    assert effective(recorded, None).limit == high
    same = effective(recorded, Limit(Decimal("2.00"), high.delta, "x:1")).limit
    assert (str(same.epsilon), same.where) == ("2", "x:1")


@pytest.mark.parametrize("asked", [charge(event=SAMPLED), charge("1.1", "0")])
def test_a_refusal_says_where_nothing_would_fit(asked):
    found = account(most=limit("0", "0"))
    said = refusal(found, asked)
    assert (
        " there is left: none like this, and no release of another kind;"
        " ask the person who set it to raise the limit to ε " in said
    )
    obeyed(found, asked)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["0.2", "0.5", "0.9"]), max_size=6),
    st.sampled_from(["0", "4e-7", "9.5e-8"]),
    st.booleans(),
)
def test_a_limit_that_is_named_as_enough_is_enough(epsilons, delta, is_sampled):
    before = [charge(epsilon, delta) for epsilon in epsilons]
    found = account(*before, most=limit("1", "1e-6"))
    asked = charge(event=SAMPLED) if is_sampled else charge("0.8", delta)
    if not affords(found, asked):
        obeyed(found, asked)


def test_more_at_the_same_delta_is_named_where_it_does():
    found = account(*[charge("0.2", "1e-7")] * 5, most=limit("1", "1e-6"))
    assert obeyed(found, charge("0.2", "1e-7"))[1] == "0.000001"


def test_a_refusal_names_what_another_release_may_take():
    asked = charge("0.8", "9.5e-8")
    found = account(*[charge("0.2", "4e-7")] * 2, most=limit())
    epsilon, delta = re.search(
        r"none like this, but one release of another kind with at most ε (\S+) \(at δ (\S+)\);"
        r" write a guarantee of at most that into the policy; or ask the person who set it",
        refusal(found, asked),
    ).groups()
    admit(found, charge(epsilon, delta))
    assert refusal(found, charge(str(Decimal(epsilon) + Decimal("0.001")), delta))


def test_what_was_released_first_is_named_where_it_fits_once_more():
    found = account(*[charge(event=SAMPLED)] * 3, most=limit())
    said = refusal(found, charge("0.9", "9e-7"))
    assert (
        "; or what was released first would fit once more, unchanged (ε 0.5, δ 2.64e-11);"
        " or ask the person who set it to raise the limit" in said
    )
    admit(found, charge(event=SAMPLED))


def test_what_charges_took_is_by_the_rule_and_without_a_limit_their_sum():
    entries = [Asking(charge(event=SAMPLED).asked)] * 2
    found = account(*[charge(event=SAMPLED)] * 2, most=limit())
    assert found.epsilon_of(entries) == balance_of(found).spent_epsilon < Decimal("0.3")
    assert found.epsilon_of([]) == 0
    assert replace(found, limit=None).epsilon_of(entries) == 1


def test_the_last_kind_is_of_what_was_not_given_back():
    first, last = charge("0.1", "0").asked, charge("0.2", "0").asked
    entries = [Asking(first), Asking(last, state="cancelled"), Asking(last, account="other")]
    assert account().last_kind(entries) == first
    assert account().last_kind([]) is None


@dataclass(frozen=True)
class Asking:
    """As much of an entry as says what was charged."""

    asked: object
    account: str = "census"
    state: str = "committed"


# Amounts.


@given(AMOUNTS)
def test_a_plain_amount_is_exact_and_a_brief_one_never_below(amount):
    assert Decimal(in_text(amount)) == amount
    above, below = Decimal(brief(amount)), Decimal(brief(amount, down=True))
    assert below <= amount <= above
    assert max(len(n.normalize().as_tuple().digits) for n in (above, below)) <= 12
    if len(amount.as_tuple().digits) <= 12:
        assert below == amount == above
