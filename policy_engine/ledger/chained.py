"""A ledger's records as they were at one moment: one unbroken chain that is asked.

``Chain`` has the records, and whose signature was looked at; ``Budget`` what they say of accounts
and of what was charged to them. Both are values: what is written afterwards makes new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TypeVar

from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import LedgerBroken, UsageError
from policy_engine.ledger import chain
from policy_engine.ledger.account import Account, Balance, account_of, balance_of, window_in
from policy_engine.ledger.chain import Foreign, Head, Record, Trust
from policy_engine.ledger.entry import Entry, entries_of
from policy_engine.ledger.states import LimitChange, changes_of, places_of
from policy_engine.ledger.window_states import Window
from policy_engine.values import frozen

_Key = TypeVar("_Key", str, int)


@frozen
class Chain:
    """Records in order, one unbroken chain; it grows by ``then`` and ``adding``.

    Guarantee: whatever is answered rests on records whose signature was checked, as far as one
    record says it, and on a chain without gaps that ends in a record somebody signed, as far as
    it needs that another one is not there. ``checked`` are those that were looked at already.
    """

    where: str
    trust: Trust
    records: tuple[Record, ...] = ()
    checked: set[Record] = field(default_factory=set, repr=False, compare=False)

    def then(self, tail: tuple[Record, ...]) -> Chain:
        """The same, brought up to date by the rows from its last one on, as they are now.

        Raises LedgerBroken where the last one is another one now, or one behind it does not fit.
        """
        last = self.records[-1] if self.records else None
        before = Head(0, chain.GENESIS)
        if last is not None:
            before = Head(last.seq - 1, last.previous_hash)
        found = chain.verified(tail, self.where, before)
        if last is not None and (not found or found[0].hash != last.hash):
            what = "another record" if found else "no such record"
            raise LedgerBroken(
                f"{self.where}: record {last.seq} was read a moment ago, and now the ledger has"
                f" {what} there: a tail was cut off, or an old copy or another ledger was put in"
                " its place. Nothing is charged on it: restore the newer one",
                code="ledger_forgot",
            )
        return replace(self, records=self.records + found[1 if last is not None else 0 :])

    def adding(self, record: Record) -> Chain:
        """The same with a record that this process has just signed."""
        self.checked.add(record)
        return replace(self, records=(*self.records, record))

    def under(self, trust: Trust) -> Chain:
        """The same under a trust that was renewed: of another one signatures are checked anew."""
        is_same = trust.revoked == self.trust.revoked and trust.ends == self.trust.ends
        return replace(self, trust=trust, checked=self.checked if is_same else set())

    # What is there

    def get(self, seq: int) -> Record | None:
        """The record of this number."""
        return self.records[seq - 1] if 0 < seq <= len(self.records) else None

    def known(self, seq: int) -> Record:
        """The record of this number, which one that is signed names; LedgerBroken without it."""
        record = self.get(seq)
        if record is None or isinstance(record, Foreign):
            raise chain.broken(self.where, seq, "the record is missing")
        return self.trusted(record)

    def trusted(self, record: Record) -> Record:
        """The same record, once its hash and signature are checked: of each record one time."""
        if record not in self.checked:
            chain.check_signature(record, self.trust, self.where, self.get)
            self.checked.add(record)
        return record

    @property
    def last(self) -> Record | None:
        """The last record, whose signature is good; None where there is none."""
        return self.trusted(self.records[-1]) if self.records else None

    @property
    def head(self) -> Head:
        """Where it ends, by its last record, whose signature is good."""
        last = self.last
        return chain.head(() if last is None else (last,))

    @property
    def end(self) -> LedgerEnd | None:
        """The same as the keyring notes it; None without records."""
        last = self.last
        return None if last is None else LedgerEnd(self.records[0].hash, last.seq, last.hash)

    @property
    def own(self) -> tuple[Record, ...]:
        """The records that ours have written."""
        return tuple(record for record in self.records if not isinstance(record, Foreign))

    @property
    def places(self) -> Mapping[str, int]:
        """Where each account's last record is, as the last record says."""
        # Whoever gets past the store's triggers can hide a record, but not what is signed of it.
        return places_of(self.last, self.where)

    @cached_property
    def of_request(self) -> Mapping[str, tuple[Record, ...]]:
        """The records of each request."""
        return _grouped((record.request, record) for record in self.own if record.request)

    @cached_property
    def of_entry(self) -> Mapping[int, tuple[Record, ...]]:
        """The records that say what became of each entry."""
        return _grouped((record.entry, record) for record in self.own if record.entry)

    def saying(self, name: str, value: str | None = None) -> Iterator[Record]:
        """The records that say this under a name anywhere, or any text, from the last one back."""
        text = chain.canonical({name: value or ""})[1:-1]
        return self.holding(text.removesuffix('"') if value is None else text)

    def holding(self, text: str) -> Iterator[Record]:
        """The records in whose payload a text stands, from the last one back."""
        for record in reversed(self.records):
            if text in record.payload and not isinstance(record, Foreign):
                yield self.trusted(record)


def _grouped(pairs: Iterable[tuple[_Key, Record]]) -> dict[_Key, tuple[Record, ...]]:
    found: dict[_Key, list[Record]] = {}
    for key, record in pairs:
        found.setdefault(key, []).append(record)
    return {key: tuple(records) for key, records in found.items()}


@frozen
class Budget:
    """Accounts, and what was charged to them, as a chain says it."""

    chain: Chain

    def entry(self, entry_id: int) -> Entry:
        """One entry; UsageError where there is none of that number."""
        record = self.chain.get(entry_id)
        if record is None or record.kind != "reserve":
            raise UsageError(f"there is no entry {entry_id} in {self.chain.where}")
        return self._entry(record)

    def _entry(self, reserved: Record) -> Entry:
        """What became of a reservation: only the last record tells that nothing more has."""
        told = (reserved, *self.chain.of_entry.get(reserved.seq, ()))
        for record in told:
            self.chain.trusted(record)
        assert self.chain.last is not None
        [entry] = entries_of(told, self.chain.where)
        return entry

    def at(self, place: str) -> tuple[Entry, ...]:
        """The entries of the releases of one place, in order."""
        return tuple(map(self._entry, self.chain.of_request.get(place, ())))

    def recorded_at(self, place: str) -> frozenset[str]:
        """The digests that are recorded of what was drawn for one place."""
        return frozenset(each.only_digest for each in self.at(place) if each.only_digest)

    def last_at(self, place: str, of: str | None = None) -> Entry | None:
        """The last entry at a place that was not given back; with ``of`` charged for just this."""
        for entry in reversed(self.at(place)):
            if entry.state != "cancelled" and of in (None, entry.run.of):
                return entry
        return None

    def entries(self, account: str | None = None) -> tuple[Entry, ...]:
        """Every entry, or those of one account, in the order they were reserved."""
        return tuple(entry for entry in self._entries if account in (None, entry.account))

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        return entries_of(self.chain.records, self.chain.where)

    def account(self, name: str) -> Account:
        """The running state of an account; one without records has spent nothing."""
        seq = self.chain.places.get(name)
        last = None if seq is None else self.chain.known(seq)
        return account_of(name, last, self.chain.where, self._window)

    def _window(self, name: str, seq: int) -> Window:
        return window_in(self.chain.known(seq), name)

    def balance(self, name: str) -> Balance:
        """Where one account stands."""
        return balance_of(self.account(name))

    def changes(self) -> tuple[LimitChange, ...]:
        """Every change of a limit, in order."""
        return changes_of(self.chain.records, self.chain.where)

    def names(self) -> tuple[str, ...]:
        """The names of all accounts that have records, sorted."""
        return tuple(sorted(self.chain.places))
