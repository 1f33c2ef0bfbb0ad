"""A chain of signed records, read, trusted and written one by one; and what it has charged."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Self

from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import LedgerError, UsageError
from policy_engine.ledger import chain
from policy_engine.ledger.account import Account, Balance, account_of, balance_of
from policy_engine.ledger.entry import Entry, entries_of
from policy_engine.ledger.records import Records
from policy_engine.ledger.states import LimitChange, changes_of, places_of
from policy_engine.ledger.witness import Witness

_MOST_RECORDS = 2**63 - 1  # what a database counts to


class Chained:
    """Records that are chained and signed, over any store of them: what a ledger stands on."""

    def __init__(
        self,
        records: Records,
        trust: chain.Trust,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        witness: Witness | None = None,
        begun: Callable[[str], None] = lambda begins: None,
    ) -> None:
        """Keep accounts in ``records``, signed as ``trust`` says, with times told in UTC.

        ``begun`` is told the hash of the first record, once it is durable.
        """
        self._records = records
        self._trust = trust
        self._now = now
        self._witness = witness
        self._begun = begun
        self._head = chain.Head(0, "")
        self._instant: datetime | None = None
        self._places: Mapping[str, int] = {}
        self._disowned: Mapping[str, str] = {}
        self._upto: int | None = None
        self._checked: set[chain.Record] = set()

    def __enter__(self) -> Self:
        """The ledger itself, to be closed on leaving."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @property
    def where(self) -> str:
        """The place of its records, as messages name it."""
        return self._records.where

    def close(self) -> None:
        """Let go of the store."""
        self._records.close()

    # The chain

    def records(self) -> tuple[chain.Record, ...]:
        """Every record, its chain verified."""
        return chain.verified(self._records.read(), self._records.where)

    def end(self) -> chain.Head:
        """Where the chain ends, by its last record, whose signature is good."""
        return chain.head(self._last())

    def begins(self) -> str | None:
        """The hash of the first record, as it follows from what is in it; None without one."""
        first = self._records.get(1)
        return None if first is None else chain.hash_of(first)

    def moment(self) -> datetime:
        """Now, as a record written now would say: never before the last one."""
        return self._after(self._last())

    def _after(self, last: chain.Record | None) -> datetime:
        """Now; or when the last record was written, by a clock that is before this one."""
        past = None if last is None else chain.time_of(last)
        return self._now() if past is None else max(self._now(), past)

    @contextmanager
    def at_rest(self) -> Iterator[LedgerEnd | None]:
        """Where the ledger ends, while the body runs and nobody can write; None without records."""
        with self._records.writing():
            last, first = self._last(), self._records.get(1)
            if last is None or first is None:
                yield None
            else:
                yield LedgerEnd(first.hash, last.seq, last.hash)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Exclude other writers; on leaving, what was appended is durable, and remembered."""
        with self._records.writing():
            self._renew_trust()
            if self._witness is not None:
                self._witness.check(self._records)
            last = self._last()
            self._follow(chain.head(last), last)
            try:
                yield
            finally:
                self._instant = None
        if self._witness is not None:
            self._witness.remember(self._head)
        if last is None and (begins := self.begins()) is not None:
            self._begun(begins)

    def _follow(self, end: chain.Head, last: chain.Record | None) -> None:
        """Let the next record come after ``end``, and say all that our last one says."""
        self._head, self._places = end, places_of(last, self._records.where)
        self._instant = self._after(last)
        self._disowned = chain.disowned_in(last)

    def _renew_trust(self) -> None:
        """LedgerError where the key that signs was revoked since the ledger was opened."""
        if self._trust.renewed is None:
            return
        now = self._trust.renewed()
        if now.revoked != self._trust.revoked or now.ends != self._trust.ends:
            self._checked.clear()
        self._trust = now
        if now.sign_with is not None and now.sign_with.key_id in now.revoked:
            raise LedgerError(
                f"{self._records.where}: the key {now.sign_with.key_id[:8]} was revoked meanwhile,"
                " and nothing more is recorded under it"
            )

    def _append(
        self,
        kind: str,
        payload: Mapping[str, object],
        *,
        account: Account | None = None,
        entry: int = 0,
        request: str = "",
    ) -> chain.Record:
        state = {} if account is None else {"state": account.to_json()}
        name = "" if account is None else account.name
        if name:
            self._places = {**self._places, name: self._head.records + 1}
        # Nobody who sees a head can try what was recorded, and when, until it fits.
        salt = secrets.token_hex(16)
        told = {**payload, **state, "accounts": self._places, "salt": salt, chain.ORDERED: True}
        if self._disowned:
            told[chain.DISOWNED] = self._disowned
        record = chain.extend(
            self._head, chain.Draft(kind, told, name, entry, request), self._trust.signer
        )
        self._records.append(record)
        self._head = chain.head(record)
        return record

    def _at(self, **found: str) -> dict[str, object]:
        return {**found, "at": self._moment().isoformat()}

    def _moment(self) -> datetime:
        """The one moment of a write, at which it judges and which it records; outside of one now.

        What counts when it is judged must count at the time that the record says.
        """
        return self._instant or self.moment()

    def _last(self) -> chain.Record | None:
        if self._upto is not None:
            return self._trusted(self._records.get(self._upto))
        return self._trusted(self._records.last())

    @contextmanager
    def before(self, first: int) -> Iterator[None]:
        """Read the ledger as it is without the rows from ``first`` on."""
        self._upto = first - 1
        try:
            yield
        finally:
            self._upto = None

    def _known(self, seq: int) -> chain.Record:
        record = self._trusted(self._records.get(seq))
        if record is None or record.seq != seq:
            raise chain.broken(self._records.where, seq, "the record is missing")
        return record

    def _trusted(self, record: chain.Record | None) -> chain.Record | None:
        """The same record, once its hash and signature are checked: of each record one time."""
        if record is not None and record not in self._checked:
            chain.check_signature(record, self._trust, self._records.where, self._records.get)
            self._checked.add(record)
        return record

    def _ours(self, found: tuple[chain.Record, ...]) -> tuple[chain.Record, ...]:
        """The records that are not disowned, as the last one says, which is signed."""
        foreign = chain.disowned_in(self._last() if found else None)
        return tuple(record for record in found if str(record.seq) not in foreign)

    def _with(self, name: str, value: str | None = None) -> Iterator[chain.Record]:
        """Our records that say this under a name anywhere, or any text, from the last one back."""
        text, before = chain.canonical({name: value or ""})[1:-1], _MOST_RECORDS
        if self._upto is not None:
            before = self._upto + 1
        if value is None:
            text = text.removesuffix('"')
        while (record := self._records.naming(text, before)) is not None:
            before = record.seq
            if self._ours((record,)):
                self._trusted(record)
                yield record

    # Entries and accounts

    def entry(self, entry_id: int) -> Entry:
        """One entry; UsageError where there is none of that number."""
        found = 0 < entry_id < _MOST_RECORDS and self._records.get(entry_id)
        if not found or found.kind != "reserve" or not self._ours((found,)):
            raise UsageError(f"there is no entry {entry_id} in {self._records.where}")
        [entry] = self._entries_among((found,))
        return entry

    def _entries_among(self, reserved: tuple[chain.Record, ...]) -> tuple[Entry, ...]:
        """What became of reservations, by the chain from the first of them on.

        Only a chain without gaps that ends in the last record, which somebody signed, tells that
        nothing has become of one: what an index finds may leave out that it was given back.
        """
        if not reserved:
            return ()
        for record in reserved:
            self._trusted(record)
        numbers = {record.seq for record in reserved}
        first = min(reserved, key=lambda record: record.seq)
        found = self._records.since(first.seq)
        before = chain.Head(first.seq - 1, first.previous_hash)
        behind = chain.verified(found, self._records.where, before)
        told = [each for each in behind if each.seq in numbers or each.entry in numbers]
        for record in (*told, behind[-1]):
            self._trusted(record)
        return entries_of(told, self._records.where)

    def of_request(self, request: str) -> tuple[Entry, ...]:
        """The entries of the releases of one request, in order."""
        return self._entries_among(self._ours(self._records.of_request(request)))

    def last_at(self, place: str, of: str | None = None) -> Entry | None:
        """The last entry at a place that was not given back; with ``of`` charged for just this."""
        # Of most records what became of them need not be asked.
        for record in reversed(self._ours(self._records.of_request(place))):
            is_it = of is None or (chain.said(record, "run") or {}).get("of") == of
            if is_it and (entry := self.entry(record.seq)).state != "cancelled":
                return entry
        return None

    def entries(self, account: str | None = None) -> tuple[Entry, ...]:
        """Every entry, or those of one account, in the order they were reserved."""
        entries = entries_of(self.records(), self._records.where)
        return tuple(entry for entry in entries if account in (None, entry.account))

    def account(self, name: str) -> Account:
        """The running state of an account; one without records has spent nothing."""
        # The chain's last record says where each account's last one is: whoever gets past the
        # store's triggers can hide a record, but not what is signed of it.
        seq = places_of(self._last(), self._records.where).get(name)
        return account_of(name, None if seq is None else self._known(seq), self._records.where)

    def balance(self, name: str) -> Balance:
        """Where one account stands."""
        return balance_of(self.account(name))

    def changes(self) -> tuple[LimitChange, ...]:
        """Every change of a limit, in order."""
        return changes_of(self.records(), self._records.where)

    def names(self) -> tuple[str, ...]:
        """The names of all accounts that have records, sorted."""
        return tuple(sorted(places_of(self._last(), self._records.where)))
