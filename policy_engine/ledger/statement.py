"""The public statement of a ledger: what was spent, when, for which certificate; nothing else.

The ledger is confidential. This takes what may leave field by field, so that what is added to a
record one day does not leave by itself. The time is that of the charge, before the source was
read: when a release was done tells how long it ran. Of a limit's change the date, the amounts, who
decided and why leave: whoever answers for a release is asked for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import reduce

from policy_engine.accounting.domain import EXACT
from policy_engine.accounting.left import SlotsLeft
from policy_engine.attest.attestation import LEDGER_TYPE, Json, open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.results import Verified
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.account import (
    Balance,
    Limit,
    WindowBalance,
    limit_from_json,
    limit_to_json,
)
from policy_engine.ledger.asked import read_amount, read_count
from policy_engine.ledger.chain import Head
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.states import LimitChange
from policy_engine.values import frozen

SUBJECT = "ledger"
VERSION = 3

FIELDS = {"version", "records", "head", "accounts", "entries", "limits", "time"}
_ACCOUNT = {"account", "neighbours", "charges", "limit", "basic", "tight_epsilon", "tight_delta",
            "windows"}  # fmt: skip
_WINDOW = {"window", "charges", "basic", "rest", "tight_epsilon", "tight_delta", "planned"}
_PLANNED = {"policy", "editions", "drawn"}
_ENTRY = {"entry", "account", "policy", "policy_digest", "certificate_digest", "epsilon", "delta",
          "neighbours", "charged", "published", "release_sha256", "date", "edition",
          "windows"}  # fmt: skip
_LIMIT = {"record", "account", "date", "from", "to", "by", "why"}
_UNCHECKED = (
    "the tight prices, which need the k and the rate of each release: its certificate has them",
    "that the people who are named have set the limits: whoever signed says so",
    "that the ledger says so: compare the head with the next statement's, or with one kept",
)

Amounts = tuple[Decimal, Decimal]
"""ε and δ."""


@frozen
class WindowStatement:
    """Where a window stands: the sum of what counts in it, and of what is not planned the price.

    ``rest`` is the limit of that; ``planned`` how many editions a plan has, and how many are drawn.
    """

    window: str
    charges: int
    basic: Amounts
    rest: Amounts
    tight_epsilon: Decimal | None
    tight_delta: Decimal | None
    planned: tuple[SlotsLeft, ...]

    @classmethod
    def of(cls, balance: WindowBalance) -> WindowStatement:
        """What leaves of a window."""
        price, rest = balance.price, (balance.rest.epsilon, balance.rest.delta)
        tight = (price.tight_epsilon, price.tight_delta)
        return cls(balance.name, balance.charges, balance.sums, rest, *tight, balance.slots)

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers."""
        return {
            "window": self.window,
            "charges": self.charges,
            "basic": _told(self.basic),
            "rest": _told(self.rest),
            "tight_epsilon": None if self.tight_epsilon is None else str(self.tight_epsilon),
            "tight_delta": None if self.tight_delta is None else str(self.tight_delta),
            "planned": [
                {"policy": each.name, "editions": each.editions, "drawn": each.drawn}
                for each in self.planned
            ],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Json]) -> WindowStatement:
        """What ``to_json`` wrote."""
        return cls(
            _text(said["window"]),
            _count(said["charges"]),
            _amounts_in(said["basic"]),
            _amounts_in(said["rest"]),
            None if said["tight_epsilon"] is None else _amount(said["tight_epsilon"]),
            None if said["tight_delta"] is None else _amount(said["tight_delta"]),
            tuple(
                SlotsLeft(_text(each["policy"]), _count(each["editions"]), _count(each["drawn"]))
                for each in _listed(said, "planned", _PLANNED)
            ),
        )


@frozen
class AccountStatement:
    """Where an account stands: the ``basic`` sums of its charges, and the tight prices.

    Of one with windows ``basic`` is the sum over them, and each has prices of its own.
    """

    account: str
    neighbours: str | None
    charges: int
    limit: Limit | None
    basic: Amounts
    tight_epsilon: Decimal | None
    tight_delta: Decimal | None
    windows: tuple[WindowStatement, ...] = ()

    @classmethod
    def of(cls, balance: Balance) -> AccountStatement:
        """What leaves of a balance."""
        price = balance.price
        return cls(
            balance.account,
            balance.neighbours,
            balance.charges,
            balance.limit,
            (price.basic_epsilon, price.basic_delta),
            price.tight_epsilon,
            price.tight_delta,
            tuple(map(WindowStatement.of, balance.windows)),
        )

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers."""
        return {
            "account": self.account,
            "neighbours": self.neighbours,
            "charges": self.charges,
            "limit": None if self.limit is None else limit_to_json(self.limit),
            "basic": _told(self.basic),
            "tight_epsilon": None if self.tight_epsilon is None else str(self.tight_epsilon),
            "tight_delta": None if self.tight_delta is None else str(self.tight_delta),
            "windows": [each.to_json() for each in self.windows],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Json]) -> AccountStatement:
        """What ``to_json`` wrote."""
        return cls(
            _text(said["account"]),
            None if said["neighbours"] is None else _text(said["neighbours"]),
            _count(said["charges"]),
            None if said["limit"] is None else _limit_in(said["limit"]),
            _amounts_in(said["basic"]),
            None if said["tight_epsilon"] is None else _amount(said["tight_epsilon"]),
            None if said["tight_delta"] is None else _amount(said["tight_delta"]),
            tuple(map(WindowStatement.from_json, _listed(said, "windows", _WINDOW))),
        )


@frozen
class EntryStatement:
    """What an entry cost, in each of its windows; its certificate; whether it was published."""

    entry: int
    account: str
    policy: str
    policy_digest: str
    certificate_digest: str
    amounts: Amounts
    neighbours: str
    charged: bool
    published: bool
    release_sha256: str | None
    date: str
    edition: str
    windows: tuple[str, ...]

    @classmethod
    def of(cls, entry: Entry) -> EntryStatement:
        """What leaves of an entry."""
        return cls(
            entry.id,
            entry.account,
            entry.policy_name,
            entry.policy_digest,
            entry.certificate_digest,
            (entry.epsilon, entry.delta),
            entry.neighbours,
            entry.state != "cancelled",
            entry.state == "committed",
            entry.release_digest,
            entry.reserved_at.date().isoformat(),
            entry.run.edition,
            entry.windows,
        )

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers."""
        told = {name: value for name, value in vars(self).items() if name != "amounts"}
        return {**told, "windows": list(self.windows), **_told(self.amounts)}

    @classmethod
    def from_json(cls, said: Mapping[str, Json]) -> EntryStatement:
        """What ``to_json`` wrote."""
        digest = said["release_sha256"]
        return cls(
            _count(said["entry"]),
            _text(said["account"]),
            _text(said["policy"]),
            _text(said["policy_digest"]),
            _text(said["certificate_digest"]),
            _amounts_in(said),
            _text(said["neighbours"]),
            said["charged"] is True,
            said["published"] is True,
            None if digest is None else _text(digest),
            _text(said["date"]),
            _text(said["edition"]),
            tuple(map(_text, _items(said["windows"]))),
        )


@frozen
class LimitStatement:
    """A limit that was set: by which record, on which day, by whom, and why."""

    record: int
    account: str
    date: str
    before: Limit | None
    after: Limit
    by: str
    why: str

    @classmethod
    def of(cls, change: LimitChange) -> LimitStatement:
        """What leaves of a change of a limit."""
        said = (change.at.date().isoformat(), change.before, change.after, change.by, change.why)
        return cls(change.record, change.account, *said)

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers."""
        return {
            "record": self.record,
            "account": self.account,
            "date": self.date,
            "from": None if self.before is None else limit_to_json(self.before),
            "to": limit_to_json(self.after),
            "by": self.by,
            "why": self.why,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Json]) -> LimitStatement:
        """What ``to_json`` wrote."""
        return cls(
            _count(said["record"]),
            _text(said["account"]),
            _text(said["date"]),
            None if said["from"] is None else _limit_in(said["from"]),
            _limit_in(said["to"]),
            _text(said["by"]),
            _text(said["why"]),
        )


@frozen
class LedgerStatement:
    """All that may leave of a ledger, as of its ``head``."""

    head: Head
    accounts: tuple[AccountStatement, ...]
    entries: tuple[EntryStatement, ...]
    limits: tuple[LimitStatement, ...]

    def to_json(self) -> dict[str, object]:
        """The predicate of its statement, but for the time."""
        return {
            "version": VERSION,
            "records": self.head.records,
            "head": self.head.hash,
            "accounts": [each.to_json() for each in self.accounts],
            "entries": [each.to_json() for each in self.entries],
            "limits": [each.to_json() for each in self.limits],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Json]) -> LedgerStatement:
        """What ``to_json`` wrote, and a time; VerificationFailed for anything else."""
        if set(said) != FIELDS or type(said["version"]) is not int or said["version"] != VERSION:
            law = f"a statement of version {VERSION} has exactly {', '.join(sorted(FIELDS))}"
            raise VerificationFailed((law,))
        try:
            lists = [_listed(said, name, fields) for name, fields in LISTS.items()]
            return cls(
                Head(_count(said["records"]), _text(said["head"])),
                tuple(map(AccountStatement.from_json, lists[0])),
                tuple(map(EntryStatement.from_json, lists[1])),
                tuple(map(LimitStatement.from_json, lists[2])),
            )
        except (ArithmeticError, KeyError, TypeError, ValueError):
            raise VerificationFailed(("the statement holds what no ledger states",)) from None

    def faults(self) -> Iterable[str]:
        """What does not add up."""
        names = [each.account for each in self.accounts]
        named = {each.account for each in self.entries} | {each.account for each in self.limits}
        if names != sorted(set(names)) or not named <= set(names):
            yield "each account of an entry or limit is listed once, by name"
        if any(entry.published and not entry.charged for entry in self.entries):
            yield "what is published is charged"
        for account in self.accounts:
            yield from self._faults_of(account)

    def _faults_of(self, account: AccountStatement) -> Iterable[str]:
        name = account.account
        own = [each for each in self.entries if each.account == name and each.charged]
        if account.charges != len(own):
            yield f"account {name}: charges is {account.charges}, and its entries are {len(own)}"
        for place, amount in enumerate(("epsilon", "delta")):
            amounts = (entry.amounts[place] for entry in own for _ in entry.windows)
            total = reduce(EXACT.add, amounts, Decimal(0))
            if account.basic[place] != total:
                yield (
                    f"account {name}: the sum of {amount} is {account.basic[place]}, and that of"
                    f" its entries {total}"
                )
        if own and {entry.neighbours for entry in own} != {account.neighbours}:
            yield f"account {name}: its entries count other neighbours"
        yield from self._window_faults(account, own)
        before = None
        for limit in (limit for limit in self.limits if limit.account == name):
            if limit.before != before:
                yield f"account {name}: the limit of record {limit.record} follows another one"
            before = limit.after
        if account.limit != before:
            yield f"account {name}: its limit is not the last one that was set"

    def _window_faults(
        self, account: AccountStatement, own: Sequence[EntryStatement]
    ) -> Iterable[str]:
        """What does not add up of windows; where their length was changed, of all together."""
        each = None if account.limit is None else account.limit.each
        if each is None and any(window.window for window in account.windows):
            yield f"account {account.account}: it has windows, and its limit is for ever"
        if not account.windows:
            return
        sums = [each.basic for each in account.windows]
        lengths = {each.after.each for each in self.limits if each.account == account.account}
        for place, amount in enumerate(("epsilon", "delta")):
            total = reduce(EXACT.add, (each[place] for each in sums), Decimal(0))
            if total != account.basic[place]:
                yield f"account {account.account}: its windows do not add up to its sum of {amount}"
        for window in account.windows if len(lengths) == 1 else ():
            inside = [each for each in own if window.window in each.windows]
            epsilon = reduce(EXACT.add, (each.amounts[0] for each in inside), Decimal(0))
            delta = reduce(EXACT.add, (each.amounts[1] for each in inside), Decimal(0))
            if (window.charges, window.basic) != (len(inside), (epsilon, delta)):
                yield f"account {account.account}: window {window.window} is of other entries"


LISTS = {"accounts": _ACCOUNT, "entries": _ENTRY, "limits": _LIMIT}


def public_statement(
    balances: Iterable[Balance],
    entries: Iterable[Entry],
    changes: Iterable[LimitChange],
    head: Head,
) -> LedgerStatement:
    """Accounts, prices, dates, limits and certificates."""
    return LedgerStatement(
        head,
        tuple(map(AccountStatement.of, balances)),
        tuple(map(EntryStatement.of, entries)),
        tuple(map(LimitStatement.of, changes)),
    )


def verify_statement(envelope: str, trusted: TrustedKeys) -> Verified:
    """A ledger's public statement: its signature, its sums; VerificationFailed with all reasons."""
    opened = open_envelope(envelope, trusted, LEDGER_TYPE)
    said = LedgerStatement.from_json(opened.predicate)
    reasons = [*said.faults()]
    if (opened.subject_name, opened.subject_sha256) != (SUBJECT, said.head.hash):
        reasons.append("its subject is not the ledger's head")
    if reasons:
        raise VerificationFailed(tuple(reasons))
    time = str(opened.predicate["time"])
    # The accounts of which no (ε, δ) holds.
    without = Counter(
        each.account for each in said.entries if each.charged and each.amounts[1] >= 1
    )
    checked = (
        f"signed by {opened.key_id}",
        f"accounts: {len(said.accounts)}, entries: {len(said.entries)}; each account's charges and"
        " sum are those of its entries",
        "each account's limit is the last one that was set",
        *(
            f"account {account}: releases without (ε, δ), {times}; none holds of the account"
            for account, times in without.items()
        ),
        f"head {said.head.records}:{said.head.hash}, as of {time}",
    )
    numbers = (("records", said.head.records), ("head", said.head.hash), ("time", time))
    return Verified(SUBJECT, checked, _UNCHECKED, (), numbers=numbers)


def _listed(
    said: Mapping[str, Json], name: str, fields: set[str]
) -> tuple[Mapping[str, Json], ...]:
    """What a statement lists under a name; VerificationFailed unless each has these fields."""
    found = []
    for each in _items(said[name]):
        if not isinstance(each, Mapping):
            raise TypeError(name)
        if set(each) != fields:
            law = f"each of {name} has exactly {', '.join(sorted(fields))}"
            raise VerificationFailed((law,))
        found.append(each)
    return tuple(found)


def _items(value: Json) -> tuple[Json, ...]:
    if not isinstance(value, tuple):
        raise TypeError(value)
    return value


def _told(amounts: Amounts) -> dict[str, str]:
    return {"epsilon": str(amounts[0]), "delta": str(amounts[1])}


def _amounts_in(value: Json) -> Amounts:
    if not isinstance(value, Mapping):
        raise TypeError(value)
    return _amount(value["epsilon"]), _amount(value["delta"])


def _limit_in(value: Json) -> Limit:
    """A limit, and nothing beside it."""
    if not isinstance(value, Mapping):
        raise TypeError(value)
    found = limit_from_json(value)
    if limit_to_json(found) != {
        name: list(each) if isinstance(each, tuple) else each for name, each in value.items()
    }:
        raise ValueError(value)
    return found


def _amount(value: Json) -> Decimal:
    return read_amount(_text(value))


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _count(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return read_count(value)
