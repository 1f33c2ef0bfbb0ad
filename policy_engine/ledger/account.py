"""What an account has spent, what it may spend, and whether it can pay.

An account's running state stands in the last of its records, so that a charge is priced without
reading the history. Whether one more release fits is decided by ``pricing``; the basic sum is
shown beside it. All arithmetic is exact on decimals as they were written.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from policy_engine.accounting.domain import ADD_REMOVE, claimed, least_integer
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.errors import BudgetExceeded, DomainError, LedgerError
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.chain import Record
from policy_engine.ledger.entry import Charge, Entry, check_amount
from policy_engine.ledger.pricing import Price, Spent, fits, price
from policy_engine.ledger.remaining import Remaining, remaining

_SIX_DIGITS = Context(prec=6, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_CEILING = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
_FLOOR = Context(prec=12, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_UP = Context(prec=3, rounding=ROUND_CEILING)
_MOST_EPSILON = Decimal(10) ** 9
_TIMES = tuple(map(Decimal, (1, 2, 4, 8)))
"""So many times the sums of what was certified are tried as limits."""
_THREE_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_LEAST_DELTA = Decimal("1e-900")


@dataclass(frozen=True)
class Limit:
    """The most an account may ever spend: what is true of all its releases together.

    ``where`` is the place in the project file that says so; empty where the ledger alone does.

    Raises DomainError unless both are Decimals, ε from 0 to 10⁹ and δ from 0 to 1.

    >>> Limit(Decimal("1.0"), Decimal("1.0e-6"))
    Limit(epsilon=Decimal('1.0'), delta=Decimal('0.0000010'))
    """

    epsilon: Decimal
    delta: Decimal
    where: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the domain."""
        check_amount("epsilon", self.epsilon, Decimal(10) ** 9)
        check_amount("delta", self.delta, Decimal(1))

    def is_above(self, other: Limit) -> bool:
        """Whether it allows anything that ``other`` does not."""
        return self.epsilon > other.epsilon or self.delta > other.delta

    def __str__(self) -> str:
        """The two numbers."""
        return f"ε {in_text(self.epsilon)}, δ {in_text(self.delta)}"


@dataclass(frozen=True)
class Account:
    """The running state of one account: its notion, what was spent, its limit.

    ``charges`` is how many releases are charged to it, ``review`` the number of the record that
    says which approvals it requires; 0 for none.
    """

    name: str
    neighbours: str | None = None
    charges: int = 0
    spent: Spent | None = None
    limit: Limit | None = None
    review: int = 0

    def plus(self, charge: Charge) -> Account:
        """The account after a charge."""
        spent = self.spent or Spent.none(charge.neighbours)
        return replace(
            self,
            neighbours=charge.neighbours,
            charges=self.charges + 1,
            spent=spent.plus(charge.asked, self.limit),
        )

    def minus(self, asked: Asked) -> Account:
        """The account without a charge of which it is proven that nothing ran."""
        assert self.spent is not None
        return replace(self, charges=self.charges - 1, spent=self.spent.minus(asked))

    def remaining(
        self, like: Asked | None = None, neighbours: str = ADD_REMOVE
    ) -> Remaining | None:
        """What it would still pay for, and how many more of a kind; None without a limit.

        ``neighbours`` is the notion of one that has spent nothing yet. To try takes time: it is
        asked once, by who prints it.
        """
        spent = self.spent or Spent.none(self.neighbours or neighbours)
        return remaining(spent, self.limit, like)

    def last_kind(self, entries: Iterable[Entry]) -> Asked | None:
        """What was charged to it last of these entries; None where nothing was."""
        own = [e.asked for e in entries if e.account == self.name and e.state != "cancelled"]
        return own[-1] if own else None

    def epsilon_of(self, entries: Iterable[Entry]) -> Decimal:
        """What some of its charges took, by the account's rule: ε at the limit's δ.

        Without a limit, and where nothing less is proven, the sum of the certificates.
        """
        spent = Spent.none(self.neighbours or ADD_REMOVE)
        for entry in entries:
            spent = spent.plus(entry.asked, None)
        found = price(spent, self.limit)
        return found.basic_epsilon if found.tight_epsilon is None else found.tight_epsilon

    def to_json(self, own: Asked | None = None) -> dict[str, object]:
        """The account as texts and whole numbers, in a record of its ``own`` charge."""
        return {
            "neighbours": self.neighbours,
            "charges": self.charges,
            "spent": None if self.spent is None else self.spent.to_json(own),
            "limit": None if self.limit is None else limit_to_json(self.limit),
            **({"review": self.review} if self.review else {}),
        }


def limit_to_json(limit: Limit) -> dict[str, str]:
    """A limit as texts."""
    return {"epsilon": str(limit.epsilon), "delta": str(limit.delta)}


def account_of(name: str, last: Record | None, where: str) -> Account:
    """The account as its last record left it; one without records has spent nothing.

    Raises LedgerError for a record this version cannot read.

    >>> account_of("census", None, "ledger.db").charges
    0
    """
    if last is None:
        return Account(name)
    try:
        said = json.loads(last.payload)
        own = Asked.from_json(said["asked"]) if "asked" in said else None
        state = said["state"]
        spent, limit = state["spent"], state["limit"]
        return Account(
            name,
            state["neighbours"],
            int(state["charges"]),
            None if spent is None else Spent.from_json(spent, own),
            None if limit is None else Limit(Decimal(limit["epsilon"]), Decimal(limit["delta"])),
            int(state.get("review", 0)),
        )
    except (ArithmeticError, DomainError, KeyError, TypeError, ValueError):
        raise LedgerError(
            f"{where}: the state of account {name!r} in record {last.seq} cannot be read by this "
            "version of policy-engine; use the version that wrote it, or a newer one"
        ) from None


@dataclass(frozen=True)
class Balance:
    """Where an account stands.

    ``neighbours`` is the one notion its charges are counted in, None while it has none.
    ``price`` has the basic sum of the certificates, and the tight ε at the limit's δ and the tight
    δ at its ε, both None without a limit.
    """

    account: str
    neighbours: str | None
    charges: int
    price: Price
    limit: Limit | None
    unbounded: int = 0
    """How many of its releases have no (ε, δ); with one, none holds of them all together."""

    @property
    def spent_epsilon(self) -> Decimal:
        """ε that was spent, at the limit's δ; without a limit the basic sum."""
        tight = self.price.tight_epsilon
        return self.price.basic_epsilon if tight is None else tight

    @property
    def spent_delta(self) -> Decimal:
        """δ that was spent, at the limit's ε; without a limit the basic sum."""
        tight = self.price.tight_delta
        return self.price.basic_delta if tight is None else tight


def balance_of(account: Account) -> Balance:
    """The balance of an account.

    >>> balance_of(Account("census", limit=Limit(Decimal(1), Decimal("1e-6")))).spent_epsilon
    Decimal('0')
    """
    spent, limit = account.spent, account.limit
    nothing = Price(Decimal(0), Decimal(0), None, None)
    return Balance(
        account.name,
        account.neighbours,
        account.charges,
        nothing if spent is None else price(spent, limit),
        limit,
        0 if spent is None else spent.unbounded,
    )


def check_not_raised(account: Account, limit: Limit | None) -> None:
    """BudgetExceeded where a project file raises the ledger's limit: it says not who or why."""
    if account.limit is None or limit is None or not limit.is_above(account.limit):
        return
    raise BudgetExceeded(
        f"{limit.where or 'the project file'} allows account {account.name!r} {limit}, and the"
        f" ledger {account.limit}: only an entry that says who and why raises a limit; run"
        f" '{_raising(account.name, in_text(limit.epsilon), in_text(limit.delta))}', or lower it in"
        " the project file"
    )


def _raising(account: str, epsilon: str = "NUMBER", delta: str = "NUMBER") -> str:
    """The command that raises the limit of an account."""
    return (
        f"policy-engine ledger limit {shlex.quote(account)} --epsilon {epsilon} --delta {delta}"
        " --by NAME --why TEXT"
    )


def effective(account: Account, limit: Limit | None) -> Account:
    """The account under what the project file says, or under the recorded limit if that is lower.

    >>> recorded, lower = (Limit(Decimal(e), Decimal("1e-6")) for e in (2, 1))
    >>> effective(Account("census", limit=recorded), lower).limit == lower
    True
    """
    if limit is None or (account.limit is not None and limit.is_above(account.limit)):
        return account
    # Equal ones stay as they were recorded, to the character.
    numbers = account.limit if account.limit == limit and account.limit is not None else limit
    return replace(account, limit=replace(numbers, where=limit.where))


def admit(account: Account, charge: Charge) -> None:
    """Return if the account can pay, all its releases together within its limit.

    Raises BudgetExceeded, saying what was asked, what is left and what would fit, when the limit
    would be passed or when the charge counts in another notion of neighbours.
    """
    if not affords(account, charge):
        raise refusal(account, charge)


def affords(account: Account, charge: Charge) -> bool:
    """Whether the account can pay, all its releases together within its limit."""
    if account.neighbours not in (None, charge.neighbours):
        return False
    spent, limit = account.spent or Spent.none(charge.neighbours), account.limit
    return limit is None or fits(spent, charge.asked, limit)


def refusal(account: Account, charge: Charge) -> BudgetExceeded:
    """Why an account cannot pay, and what would fit: many times as slow as ``affords``."""
    if account.neighbours not in (None, charge.neighbours):
        return BudgetExceeded(
            f"account {charge.account!r} counts {account.neighbours} neighbours and policy "
            f"{charge.policy_name!r} guarantees {charge.neighbours}: the two do not add up; "
            "change 'neighbours' in the policy, or name another account under 'account'"
        )
    spent, limit = account.spent or Spent.none(charge.neighbours), account.limit
    assert limit is not None
    if charge.is_unbounded:
        return BudgetExceeded(
            f"account {charge.account!r} has the limit {limit}, and policy {charge.policy_name!r}"
            " has no (ε, δ), with which no limit is kept: release it from other people, or with a"
            " guarantee"
        )
    if spent.is_unbounded:
        return BudgetExceeded(
            f"account {charge.account!r} has the limit {limit}, and a release without (ε, δ) is"
            " charged to it, with which no limit is kept"
        )
    found = remaining(spent, limit, charge.asked)
    assert found is not None
    return BudgetExceeded(
        f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: it asks for "
        f"ε {brief(charge.epsilon)}, δ {brief(charge.delta)} (unit: {charge.unit}), and of {limit} "
        f"there is left: {found.words()}; {_remedy(spent, charge, limit, found)}",
        account=charge.account,
        left=found,
    )


def _remedy(spent: Spent, charge: Charge, limit: Limit, left: Remaining) -> str:
    """What would fit, with both of its numbers, and where the limit may be raised."""
    raised = enough(spent, charge.asked, limit)
    command, to = _raising(charge.account), ""
    if raised is not None:
        told = in_text(raised.epsilon), in_text(raised.delta)
        command, to = _raising(charge.account, *told), f" to {raised}"
    raising = f"raise the limit{to}, which is the ledger's, with '{command}'"
    if limit.where:
        raising = (
            f"raise the limit in {limit.where}{to}, and where the ledger has it too, with"
            f" '{command}'"
        )
    raising += "; docs/explanation/accounts.md says how a limit's δ is shared out"
    ways, first = list(samples_that_fit(spent, charge.asked, limit)), spent.first
    more = first is not None and first.epsilon > (left.epsilon or 0)
    if first is not None and more and not ways and fits(spent, first, limit):
        ways.append(f"one like the first, ε {brief(first.epsilon)}, δ {brief(first.delta)}")
    if not ways:
        return raising
    return f"it would fit with {', or '.join(ways)}; or {raising}"


def brief(amount: Decimal, *, down: bool = False) -> str:
    """An amount in at most 12 digits, rounded up; ``down`` for what is left of one.

    >>> brief(Decimal("1.00000000000000001e-9")), brief(Decimal("0.99999999999999"), down=True)
    ('1.00000000001e-9', '0.999999999999')
    """
    return in_text((_FLOOR if down else _CEILING).normalize(amount))


# What would still fit


def enough(spent: Spent, asked: Asked, limit: Limit) -> Limit | None:
    """A higher limit by which a charge is admitted, tried; None where none was found.

    Of the limit's own δ with the least ε, in three digits, that was found; else of a higher δ, for
    the rule shares δ out, and to some charges no ε helps.

    >>> from policy_engine.accounting.events import PureDP
    >>> spent = Spent.none("add_remove")
    >>> asked = Asked(PureDP("0.3"), Decimal("0.3"), Decimal(0))
    >>> print(enough(spent, asked, Limit(Decimal("0.1"), Decimal(0))))
    ε 0.3, δ 0
    """
    basic = price(spent, None)
    whole = max(_UP.add(basic.basic_epsilon, asked.epsilon), limit.epsilon)
    sums = max(_UP.add(basic.basic_delta, asked.delta), limit.delta)

    def admits(epsilon: Decimal, delta: Decimal) -> bool:
        return fits(spent, asked, Limit(epsilon, delta))

    def least(high: Decimal, delta: Decimal) -> Decimal:
        place = high.adjusted() - 2
        low, most = (int(each.scaleb(-place)) for each in (limit.epsilon, high))
        found = least_integer(low, most, lambda steps: admits(Decimal(steps).scaleb(place), delta))
        return _CEILING.normalize(Decimal(found).scaleb(place))

    for delta in dict.fromkeys((limit.delta, *(sums * times for times in _TIMES))):
        for high in (_UP.multiply(whole, times) for times in _TIMES):
            if delta < 1 and limit.epsilon < high < _MOST_EPSILON and admits(high, delta):
                return Limit(least(high, delta), _CEILING.normalize(delta))
    return None


def samples_that_fit(spent: Spent, asked: Asked, limit: Limit | None) -> Iterator[str]:
    """The least k at the asked rate, and the greatest rate at the asked k, at the asked ε.

    k up to 128 times the asked one, the rate down to 1/1000, in steps of that.
    """
    event = asked.event
    if not isinstance(event, SampledSuppression):
        return
    rate = Decimal(str(event.rate))

    def allowed(k: int, rate: Decimal) -> bool:
        delta = claimed(delta_exact(k, rate, asked.epsilon, spent.neighbours).delta)
        event = SampledSuppression(k, rate)
        return fits(spent, replace(asked, event=event, delta=max(_LEAST_DELTA, delta)), limit)

    for high in (event.k << doubling for doubling in range(1, 8)):
        if allowed(high, rate):
            k = least_integer(high // 2, high, lambda k: allowed(k, rate))
            # An engine that draws by itself draws at a little more than the policy's rate.
            yield f"k: {k} with rate: {in_text(_SIX_DIGITS.plus(rate))}"
            break
    if (greatest := _greatest(rate, lambda rate: allowed(event.k, rate))) is not None:
        yield f"k: {event.k} with rate: {in_text(greatest)}"


def _greatest(whole: Decimal, allowed: Callable[[Decimal], bool]) -> Decimal | None:
    """The greatest number of thousandths of ``whole`` that is allowed; None where not even one."""

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(whole, Decimal(share).scaleb(-3))

    if not allowed(part(1)):
        return None
    return part(least_integer(1, 1000, lambda share: not allowed(part(share))) - 1)
