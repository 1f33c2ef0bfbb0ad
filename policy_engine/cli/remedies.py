"""What an account that cannot pay for a policy could pay for instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from policy_engine.cli.output import shown
from policy_engine.errors import BudgetExceeded, DomainError

if TYPE_CHECKING:
    from policy_engine.ledger.account import Balance
    from policy_engine.policy.resolve import Policy

_LEAST_RATE = Decimal("1e-6")  # a smaller sample is of no use
_FEW_DIGITS = Context(prec=4, rounding=ROUND_FLOOR)


@contextmanager
def with_remedy(policy: Policy) -> Iterator[None]:
    """Add to a refusal of the account what would fit into it."""
    try:
        yield
    except BudgetExceeded as error:
        from policy_engine.policy.accounts import account_of
        from policy_engine.release import balance_of_account, limit_of, project_of

        project = project_of(policy)
        account, limit = account_of(policy, project), limit_of(policy, project)
        balance = balance_of_account(project, account, limit)
        remedy = fitting(policy, balance)
        raise BudgetExceeded(f"{error}\n{remedy}" if remedy else str(error)) from None


def fitting(policy: Policy, balance: Balance) -> str:
    """A guarantee that the account can pay, with the least k and the greatest rate for it.

    Empty where the limit is not what stands in the way, or nothing fits.
    """
    left = balance.left_epsilon, balance.left_delta
    asked = policy.guarantee.epsilon, policy.guarantee.delta
    if left[0] is None or left[1] is None or (asked[0] <= left[0] and asked[1] <= left[1]):
        return ""
    if not left[0] or not left[1]:
        return f"nothing is left of account {balance.account} that a smaller release could use"
    epsilon, delta = (
        most if want > most else want
        for want, most in zip(asked, (_few(left[0]), _few(left[1])), strict=True)
    )
    guarantee = f"guarantee: {{epsilon: {shown(epsilon)}, delta: {shown(delta)}}}"
    ways = _ways(policy, epsilon, delta)
    return f"it can pay for  {guarantee}  with {ways}" if ways else ""


def _ways(policy: Policy, epsilon: Decimal, delta: Decimal) -> str:
    from policy_engine.accounting.calibration import greatest_rate, least_k
    from policy_engine.verify.certificate import certified_rate

    notion, sampled_at = policy.guarantee.neighbours, policy.source.sampled_at
    ways = []
    # Where no k is large enough, or no rate is small enough, there is no such way.
    with suppress(DomainError):
        k = least_k(epsilon, delta, certified_rate(policy), notion)
        ways.append(f"k: {k} at rate {shown(policy.rate)}")
    with suppress(DomainError):
        rate = min(policy.rate, greatest_rate(epsilon, delta, policy.k, notion) / sampled_at)
        if rate >= _LEAST_RATE:
            ways.append(f"rate: {shown(_few(rate))} at k = {policy.k}")
    return ", or ".join(ways)


def _few(value: Decimal) -> Decimal:
    """A value of four digits that is not above this one."""
    return _FEW_DIGITS.plus(value)
