"""What a chain has charged: entries and accounts, looked up by what they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policy_engine.errors import UsageError
from policy_engine.ledger.account import Account, Balance, balance_of
from policy_engine.ledger.chain import Head, Record
from policy_engine.ledger.chained import Chained
from policy_engine.ledger.entry import Entry, entries_of
from policy_engine.ledger.states import Change, changes_of, places_of, run_of

_MOST_RECORDS = 2**63 - 1  # what a database counts to


class Booked(Chained):
    """A chain of charges: its entries and its accounts."""

    def entry(self, entry_id: int) -> Entry:
        """One entry; UsageError where there is none of that number."""
        found = 0 < entry_id < _MOST_RECORDS and self._records.get(entry_id)
        if not found or found.kind != "reserve" or not self._ours((found,)):
            raise UsageError(f"there is no entry {entry_id} in {self._records.where}")
        [entry] = self._entries_among((found,))
        return entry

    def _entries_among(self, reserved: tuple[Record, ...]) -> tuple[Entry, ...]:
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
        chain = self._chain_from(Head(first.seq - 1, first.previous_hash))
        told = [each for each in chain if each.seq in numbers or each.entry in numbers]
        for record in (*told, chain[-1]):
            self._trusted(record)
        return entries_of(told, self._records.where)

    def of_request(self, request: str) -> tuple[Entry, ...]:
        """The entries of the releases of one request, in order."""
        return self._entries_among(self._ours(self._records.of_request(request)))

    def paid(self, place: str, of: str) -> Entry | None:
        """The last entry at a place that was charged for just this, and not given back."""
        return self._last_at(place, lambda record: run_of(record).get("of") == of)

    def last_at(self, place: str) -> Entry | None:
        """The last entry at a place that was not given back."""
        return self._last_at(place, lambda record: True)

    def _last_at(self, place: str, wanted: Callable[[Record], bool]) -> Entry | None:
        # Of most records what became of them need not be asked.
        for record in reversed(self._ours(self._records.of_request(place))):
            if wanted(record) and (entry := self.entry(record.seq)).state != "cancelled":
                return entry
        return None

    def entries(self, account: str | None = None) -> tuple[Entry, ...]:
        """Every entry, or those of one account, in the order they were reserved."""
        entries = entries_of(self._chain(), self._records.where)
        return tuple(entry for entry in entries if account in (None, entry.account))

    def account(self, name: str) -> Account:
        """The running state of an account; one without records has spent nothing."""
        return self._account(name)

    def balance(self, name: str) -> Balance:
        """Where one account stands."""
        return balance_of(self._account(name))

    def changes(self, account: str | None = None) -> tuple[Change, ...]:
        """Every change of a limit, or those of one account, in order."""
        found = changes_of(self._chain(), self._records.where)
        return tuple(change for change in found if account in (None, change.account))

    def names(self) -> tuple[str, ...]:
        """The names of all accounts that have records, sorted."""
        return tuple(sorted(places_of(self._trusted(self._records.last()), self._records.where)))

    def _with(self, text: str) -> Iterator[Record]:
        """Our records whose payload has a text, from the last one back."""
        before = _MOST_RECORDS
        while (record := self._records.naming(text, before)) is not None:
            before = record.seq
            if self._ours((record,)):
                self._trusted(record)
                yield record
