"""What an account has spent, what it may spend, and whether it can pay.

The price is basic composition [COMP]: Σε and Σδ over every entry, reserved or committed. All
arithmetic is exact on decimals as they were written: 0.1 + 0.2 fits a limit of 0.3, and
nothing fits by rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow

from policy_engine.errors import BudgetExceeded, LedgerError
from policy_engine.ledger.entry import Charge, Entry, Neighbours, check_amount

# An amount has at most 9 + 1000 digits (see entry.py), so a sum of 10⁹⁰ of them fits in 1100;
# were one ever not to fit, the traps raise rather than round.
_EXACT = Context(
    prec=1100, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation, Overflow]
)


@dataclass(frozen=True)
class Limit:
    """The most an account may ever spend, (ε, δ) in sum.

    Raises DomainError unless both are Decimals, ε from 0 to 10⁹ and δ from 0 to 1.

    >>> Limit(Decimal("1.0"), Decimal("1.0e-6"))
    Limit(epsilon=Decimal('1.0'), delta=Decimal('0.0000010'))
    """

    epsilon: Decimal
    delta: Decimal

    def __post_init__(self) -> None:
        """Check the domain."""
        check_amount("epsilon", self.epsilon, Decimal(10) ** 9)
        check_amount("delta", self.delta, Decimal(1))


@dataclass(frozen=True)
class Balance:
    """Where an account stands: what its entries sum to, and its limit if it has one.

    ``neighbours`` is the one notion its entries are counted in, None while it has none.
    ``reserved`` is how many of its ``entries`` have no published release (yet).
    """

    account: str
    neighbours: Neighbours | None
    entries: int
    reserved: int
    spent_epsilon: Decimal
    spent_delta: Decimal
    limit: Limit | None

    @property
    def left_epsilon(self) -> Decimal | None:
        """What is left of the limit's ε, never below 0; None without a limit."""
        return None if self.limit is None else _left(self.limit.epsilon, self.spent_epsilon)

    @property
    def left_delta(self) -> Decimal | None:
        """What is left of the limit's δ, never below 0; None without a limit."""
        return None if self.limit is None else _left(self.limit.delta, self.spent_delta)


def balance_of(account: str, entries: Iterable[Entry], limit: Limit | None) -> Balance:
    """The balance of one account; entries of other accounts are passed over.

    Raises LedgerError when its entries count in more than one notion of neighbours: their sum
    would mean nothing.

    >>> balance_of("census", [], Limit(Decimal(1), Decimal("1e-6"))).left_epsilon
    Decimal('1')
    """
    own = [entry for entry in entries if entry.account == account]
    notions = sorted({entry.neighbours for entry in own})
    if len(notions) > 1:
        raise LedgerError(
            f"account {account!r} mixes the neighbouring notions {' and '.join(notions)}, which "
            "do not add up; the ledger was not written by this engine alone"
        )
    return Balance(
        account=account,
        neighbours=notions[0] if notions else None,
        entries=len(own),
        reserved=sum(entry.state == "reserved" for entry in own),
        spent_epsilon=exact_sum(entry.epsilon for entry in own),
        spent_delta=exact_sum(entry.delta for entry in own),
        limit=limit,
    )


def admit(balance: Balance, charge: Charge) -> None:
    """Return if the account can pay; both ε and δ must fit, and exactly the limit fits.

    Raises BudgetExceeded, saying what was asked, what is left and what to do, when a limit
    would be passed or when the charge counts in another notion of neighbours.
    """
    if balance.neighbours not in (None, charge.neighbours):
        raise BudgetExceeded(
            f"account {charge.account!r} counts {balance.neighbours} neighbours and policy "
            f"{charge.policy_name!r} guarantees {charge.neighbours}: the two do not add up; "
            "change 'neighbours' in the policy, or name another account under 'budget'"
        )
    limit = balance.limit
    if limit is None:
        return
    short = [
        f"{symbol} {plain(asked)} where {plain(_left(most, spent))} of {plain(most)} is left"
        for symbol, asked, spent, most in (
            ("ε", charge.epsilon, balance.spent_epsilon, limit.epsilon),
            ("δ", charge.delta, balance.spent_delta, limit.delta),
        )
        if exact_sum((spent, asked)) > most
    ]
    if short:
        raise BudgetExceeded(
            f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: it asks "
            f"for {' and '.join(short)}; ask for less in the policy's guarantee, or decide to "
            f"raise the limit of accounts.{charge.account} in policy-engine.yaml"
        )


def exact_sum(amounts: Iterable[Decimal]) -> Decimal:
    """The sum, without rounding whatever the caller's decimal context.

    >>> exact_sum([Decimal("0.1")] * 3) == Decimal("0.3")
    True
    """
    total = Decimal(0)
    for amount in amounts:
        total = _EXACT.add(total, amount)
    return total


def plain(amount: Decimal) -> str:
    """An amount as people write it, exact.

    >>> [plain(Decimal(text)) for text in ("0.50", "1E+2", "0E-9", "1.0e-9", "0.000010")]
    ['0.5', '100', '0', '1e-9', '0.00001']
    """
    amount = _EXACT.normalize(amount)
    return f"{amount:f}" if amount.adjusted() > -7 else f"{amount:e}"


def _left(most: Decimal, spent: Decimal) -> Decimal:
    return max(Decimal(0), _EXACT.subtract(most, spent))
