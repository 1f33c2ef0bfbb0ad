"""What a chain of records says of accounts: their states, their limits, what was disowned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from policy_engine.errors import LedgerBroken, UsageError
from policy_engine.ledger.account import Account, Limit, account_of
from policy_engine.ledger.chain import Foreign, Record, broken
from policy_engine.ledger.entry import Charge, asked_of, unreadable
from policy_engine.policy.laws import is_line


@dataclass(frozen=True)
class Change:
    """A limit that was set: by the record of that number; ``before`` is None for the first."""

    record: int
    account: str
    at: datetime
    who: str
    why: str
    before: Limit | None
    after: Limit


@dataclass(frozen=True)
class Disowned:
    """Rows that nobody of ours has written, as the record of that number says."""

    record: int
    rows: tuple[int, ...]
    at: datetime
    who: str
    why: str


def check_states(chain: tuple[Record, ...], where: str) -> None:
    """Recompute every account's running state, and compare.

    Raises LedgerError naming the first record whose state is not what its history amounts to.
    """
    states: dict[str, Account] = {}
    reserved: dict[int, Record] = {}
    places: dict[str, int] = {}
    for record in chain:
        if isinstance(record, Foreign):
            continue
        if record.account:
            places[record.account] = record.seq
        if places_of(record, where) != places:
            raise broken(where, record.seq, "it does not name the last record of each account")
        if not record.account:
            continue
        found = account_of(record.account, record, where)
        before = states.get(record.account, Account(record.account))
        if record.kind == "limit":
            expected = replace(before, limit=found.limit)
        elif record.kind == "require":
            expected = replace(before, review=record.seq)
        elif record.kind == "reserve":
            reserved[record.seq] = record
            expected = _plus(before, record)
        elif record.kind == "cancel" and reserved[record.entry].account == record.account:
            expected = before.minus(asked_of(reserved[record.entry]))
        else:
            expected = before  # nothing else moves an account
        if found != expected:
            raise LedgerBroken(
                f"{where}: the running state of account {record.account!r} in record {record.seq}"
                " is not what the records before it amount to; compare the ledger with a backup"
            )
        states[record.account] = found


def changes_of(chain: Iterable[Record], where: str) -> tuple[Change, ...]:
    """Every change of a limit that records tell of, in order; LedgerError as ``entries_of``."""
    found: list[Change] = []
    before: dict[str, Limit] = {}
    for record in chain:
        if record.kind == "limit":
            change = _change_of(record, before.get(record.account), where)
            before[record.account] = change.after
            found.append(change)
    return tuple(found)


def _change_of(record: Record, before: Limit | None, where: str) -> Change:
    after = account_of(record.account, record, where).limit
    try:
        payload = json.loads(record.payload)
        at, who, why = payload["at"], str(payload["who"]), str(payload["why"])
        assert after is not None
        return Change(
            record.seq, record.account, datetime.fromisoformat(at), who, why, before, after
        )
    except (AssertionError, KeyError, TypeError, ValueError):
        raise unreadable(record, where) from None


def disowned_by(record: Record, rows: frozenset[str], where: str) -> Disowned:
    """The rows that a record disowns, of those that nobody of ours wrote."""
    try:
        told = json.loads(record.payload)
        at, who, why = datetime.fromisoformat(told["at"]), str(told["by"]), str(told["why"])
        return Disowned(record.seq, tuple(sorted(map(int, rows))), at, who, why)
    except (KeyError, TypeError, ValueError):
        raise unreadable(record, where) from None


def _plus(before: Account, record: Record) -> Account:
    """The account after the charge of a ``reserve`` record."""
    asked, neighbours = asked_of(record), json.loads(record.payload)["neighbours"]
    charge = Charge(
        record.account, asked.epsilon, asked.delta, neighbours, "", "", "",
        event=asked.event, part=asked.part,
    )  # fmt: skip
    return before.plus(charge)


def places_of(last: Record | None, where: str) -> Mapping[str, int]:
    """Where each account's last record is, as the chain's last record says."""
    if last is None:
        return {}
    try:
        return dict(json.loads(last.payload)["accounts"])
    except (KeyError, TypeError, ValueError):
        raise unreadable(last, where) from None


def run_of(record: Record) -> Mapping[str, Any]:
    """What a ``reserve`` record says of how to run its release again."""
    run: Mapping[str, Any] = json.loads(record.payload).get("run", {})
    return run


def check_said(account: str, who: str, why: str, what: str) -> None:
    """UsageError unless a change says in plain text who made it, and why."""
    if not who.strip() or not why.strip():
        raise UsageError(f"{what} by somebody, for a reason: say --by and --why")
    for name, text in (("ACCOUNT", account), ("--by", who), ("--why", why)):
        check_line(name, text)


def check_line(what: str, text: str) -> None:
    """UsageError where a text would not be one line that can be read where it is shown."""
    if not is_line(text):
        law = "a text that is not blank and has no line break or control character"
        raise UsageError(f"{what} must be {law}, found {text[:80]!a}")
