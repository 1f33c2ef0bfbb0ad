"""What a chain of records says of accounts, and of what somebody decided of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from policy_engine.errors import LedgerBroken, UsageError
from policy_engine.ledger.account import Account, Limit, account_of, limit_from_json
from policy_engine.ledger.chain import ORDERED, Record, broken, disowned_in, said, time_of
from policy_engine.ledger.entry import (
    Decision,
    Fault,
    Settlement,
    entries_of,
    faults_of,
    reading,
)
from policy_engine.ledger.window_states import Window
from policy_engine.ledger.windows import FOR_EVER
from policy_engine.policy.fields import is_line
from policy_engine.values import frozen

NAMED_BY = "named_by"


@frozen
class LimitChange:
    """A limit that was set: by the record of that number; ``before`` is None for the first."""

    record: int
    account: str
    at: datetime
    by: str
    why: str
    before: Limit | None
    after: Limit


@frozen
class Move(Decision):
    """The source of an entry, 0 for one that nobody was charged for, got to another account."""

    source_of: int
    from_: str
    to: str


@frozen
class Rekey(Decision):
    """A sealing key took over; sources are named by a key that it was handed, or by itself."""

    sealing_key: str
    named_by: str


@frozen
class Disowning(Decision):
    """Rows that none of ours wrote were left out."""

    rows: tuple[int, ...]


def check_states(chain: Sequence[Record], where: str) -> None:
    """LedgerError at the first running state that is not what its history amounts to."""
    void = {fault.record for fault in faults_of(chain, where)}
    states: dict[str, Account] = {}
    reserved: dict[int, Record] = {}
    places: dict[str, int] = {}
    for record in chain:
        if record.account:
            places[record.account] = record.seq
        if places_of(record, where) != places:
            raise broken(where, record.seq, "it does not name the last record of each account")
        if not record.account:
            continue
        before = states.get(record.account, Account(record.account))
        found = account_of(record.account, record, where, _known(before))
        if record.kind == "reserve":
            reserved[record.seq] = record
        if record.kind == "cancel" and record.seq in void:
            expected = before
        else:
            expected = _expected(record, before, found, reserved, where)
        if found != expected:
            raise LedgerBroken(
                f"{where}: the running state of account {record.account!r} in record {record.seq}"
                " is not what the records before it amount to; compare the ledger with a backup"
            )
        states[record.account] = found


def _known(account: Account) -> Callable[[str, int], Window]:
    """The windows of an account as it was before, by their names and records."""

    def known(name: str, record: int) -> Window:
        window = account.window(name)
        if window.record != record:
            raise ValueError(record)
        return window

    return known


def _expected(
    record: Record,
    before: Account,
    found: Account,
    reserved: Mapping[int, Record],
    where: str,
) -> Account:
    """What an account is after a record, by what it was before."""
    with reading(record, where) as told:
        match record.kind:
            case "limit":
                assert found.limit is not None
                return before.limited(found.limit, str(told.get("window", FOR_EVER)))
            case "require":
                return replace(before, review=record.seq)
            case "plan":
                window = str(told["window"])
                planned = found.window(window).planned
                if planned is None or not planned.holds():
                    raise broken(where, record.seq, "its plan is not within the limit that it says")
                if planned.document(record.account) != told["plan"]:
                    raise broken(where, record.seq, "its plan is another one than was approved")
                return before.planning(window, planned)
            case "reserve":
                [entry] = entries_of((record,), where)
                return before.plus(entry.charged)
            case "cancel" if reserved[record.entry].account == record.account:
                [entry] = entries_of((reserved[record.entry],), where)
                return before.minus(entry.charged, planned=entry.planned)
    return before  # nothing else moves an account


def places_of(last: Record | None, where: str) -> Mapping[str, int]:
    """Where each account's last record is, as the chain's last record says."""
    if last is None:
        return {}
    with reading(last, where) as told:
        return dict(told["accounts"])


def order_faults(chain: Iterable[Record]) -> tuple[Fault, ...]:
    """The records that say they are from before the one in front of them: time runs forwards.

    They are looked at from the first on that says it is ``ordered``.
    """
    found: list[Fault] = []
    ordered, before = False, None
    for record in chain:
        at = time_of(record)
        ordered = ordered or said(record, ORDERED) is True
        if ordered and before is not None and (at is None or at < before):
            what = "says it is from before the record in front of it, and time runs forwards"
            found.append(Fault(record.seq, record.entry, what, None))
        before = at
    return tuple(found)


def changes_of(chain: Iterable[Record], where: str) -> tuple[LimitChange, ...]:
    """Every change of a limit that records tell of, in order; LedgerError as ``entries_of``."""
    found: list[LimitChange] = []
    before: dict[str, Limit] = {}
    for record in chain:
        if record.kind == "limit":
            with reading(record, where) as told:
                after = limit_from_json(told)
                at, who, why = (
                    datetime.fromisoformat(told["at"]),
                    str(told["who"]),
                    str(told["why"]),
                )
            known = before.get(record.account)
            found.append(LimitChange(record.seq, record.account, at, who, why, known, after))
            before[record.account] = after
    return tuple(found)


def moves_of(chain: Iterable[Record], where: str) -> tuple[Move, ...]:
    """Every source that was given to an account, in order."""
    return tuple(
        Move(*decided, int(said["of"]), str(said["from"]), str(said["to"]))
        for _, decided, said in _decisions(chain, "move", where)
    )


def rekeys_of(chain: Iterable[Record], where: str) -> tuple[Rekey, ...]:
    """Every sealing key that was replaced, in order."""
    return tuple(
        Rekey(*decided, str(said["for"]), str(said["source"][NAMED_BY]))
        for _, decided, said in _decisions(chain, "rekey", where)
    )


def settlements_of(chain: Iterable[Record], where: str) -> tuple[Settlement, ...]:
    """Every fault that somebody looked into, in order."""
    return tuple(
        Settlement(*decided, int(said["of"]))
        for _, decided, said in _decisions(chain, "settle", where)
    )


def disownings_of(chain: Iterable[Record], where: str) -> tuple[Disowning, ...]:
    """The rows that were left out, in order; each record says all that are left out by then."""
    found: list[Disowning] = []
    known = frozenset[str]()
    for record, decided, _ in _decisions(chain, "disown", where):
        rows = frozenset(disowned_in(record))
        found.append(Disowning(*decided, tuple(sorted(map(int, rows - known)))))
        known = rows
    return tuple(found)


def _decisions(
    chain: Iterable[Record], kind: str, where: str
) -> Iterator[tuple[Record, tuple[int, datetime, str, str], Mapping[str, Any]]]:
    """The records of a kind, who decided what each says, and that; LedgerError as ``reading``."""
    for record in chain:
        if record.kind == kind:
            with reading(record, where) as said:
                at = datetime.fromisoformat(said["at"])
                yield record, (record.seq, at, str(said["by"]), str(said["why"])), said


def check_said(account: str, who: str, why: str, what: str) -> None:
    """UsageError unless a change says in plain text who made it, and why."""
    if not who.strip() or not why.strip():
        raise UsageError(f"{what} by somebody, for a reason: say --by and --why")
    for name, text in (("ACCOUNT", account), ("--by", who), ("--why", why)):
        if not is_line(text):
            law = "a text that is not blank and has no line break or control character"
            raise UsageError(f"{name} must be {law}, found {text[:80]!a}")
