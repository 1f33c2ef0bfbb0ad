"""The ledger: an account is charged before a release runs, and stays charged.

    with ledger.reserve(charge, limit) as reservation:     # durable before the body runs
        digest = ...                                       # the release
        reservation.commit(release_name=..., release_digest=digest)

Nothing is ever deleted: a body that raises, is interrupted or killed leaves its entry
``reserved``, which costs the same as ``committed``. Every call reads the whole chain and
verifies it first, so no balance is computed from a broken one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self

from policy_engine.errors import UsageError
from policy_engine.ledger.account import Balance, Limit, admit, balance_of
from policy_engine.ledger.chain import Head, Record, extend, head, verified
from policy_engine.ledger.entry import Charge, Entry, commit_payload, entries_of, reserve_payload
from policy_engine.ledger.sqlite import SqliteRecords

NO_LIMITS: Mapping[str, Limit] = {}


class Records(Protocol):
    """Where a ledger keeps its records; raises LedgerError for whatever fails there."""

    where: str
    """The place, as error texts name it."""

    def read(self) -> tuple[Record, ...]:
        """Every record in order, as of one moment."""

    def writing(self) -> AbstractContextManager[None]:
        """Exclude every other writer; on leaving, all appended is durable, or nothing is."""

    def append(self, record: Record) -> None:
        """Add one record; within ``writing`` only."""

    def close(self) -> None:
        """Let go of the place."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """Accounts and what they were charged, over any store of records.

    >>> import tempfile
    >>> from decimal import Decimal
    >>> charge = Charge("census", Decimal("0.5"), Decimal("1e-9"), "add_remove", "adult", "a", "b")
    >>> limit = Limit(Decimal("1.0"), Decimal("1e-6"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger.open(Path(folder) / "ledger.db") as ledger:
    ...         with ledger.reserve(charge, limit) as reservation:
    ...             reservation.commit(release_name="adult.parquet", release_digest="c").state
    ...         ledger.balance("census", limit).left_epsilon
    'committed'
    Decimal('0.5')
    """

    def __init__(self, records: Records, now: Callable[[], datetime] = _utc_now) -> None:
        """Keep accounts in ``records``, with times told by ``now``, which must be in UTC."""
        self._records = records
        self._now = now

    @classmethod
    def open(cls, path: Path, *, create: bool = True, timeout: float = 30.0) -> Self:
        """The ledger in a SQLite file; LedgerError and parameters as ``SqliteRecords``."""
        return cls(SqliteRecords(path, create=create, timeout=timeout))

    def reserve(self, charge: Charge, limit: Limit | None = None) -> Reservation:
        """Charge the account now, whether or not the reservation is ever committed.

        Price, comparison and record are one transaction: of two processes after the last of
        a budget one gets it. When this returns the charge is durable. Without a limit the
        account only adds up.

        Raises BudgetExceeded when the account cannot pay (nothing is then recorded) and
        LedgerError when the ledger fails or its chain is broken.
        """
        with self._records.writing():
            chain = self._chain()
            entries = entries_of(chain, self._records.where)
            admit(balance_of(charge.account, entries, limit), charge)
            record = extend(head(chain), "reserve", reserve_payload(charge, self._now()))
            self._records.append(record)
        [entry] = entries_of((record,), self._records.where)
        return Reservation(self, entry)

    def commit(self, entry_id: int, *, release_name: str, release_digest: str) -> Entry:
        """Record that the release an entry was reserved for has been published.

        Raises UsageError when there is no such entry or it is committed already, and
        LedgerError when the ledger fails; the entry is then still reserved, and charged.
        """
        with self._records.writing():
            chain = self._chain()
            states = {entry.id: entry.state for entry in entries_of(chain, self._records.where)}
            if states.get(entry_id) != "reserved":
                found = f"is {states[entry_id]}" if entry_id in states else "does not exist"
                raise UsageError(
                    f"entry {entry_id} must be reserved to be committed, but it {found}"
                )
            payload = commit_payload(entry_id, release_name, release_digest, self._now())
            record = extend(head(chain), "commit", payload)
            self._records.append(record)
        entries = entries_of((*chain, record), self._records.where)
        return next(entry for entry in entries if entry.id == entry_id)

    def entries(self, account: str | None = None) -> tuple[Entry, ...]:
        """Every entry, or those of one account, in the order they were reserved."""
        entries = entries_of(self._chain(), self._records.where)
        return tuple(entry for entry in entries if account in (None, entry.account))

    def balance(self, account: str, limit: Limit | None = None) -> Balance:
        """Where one account stands; one without entries has spent nothing."""
        return balance_of(account, self.entries(), limit)

    def balances(self, limits: Mapping[str, Limit] = NO_LIMITS) -> tuple[Balance, ...]:
        """Where every account stands that has entries or a limit, by name."""
        entries = self.entries()
        names = sorted({entry.account for entry in entries} | limits.keys())
        return tuple(balance_of(name, entries, limits.get(name)) for name in names)

    def verify_chain(self) -> Head:
        """Where the chain ends, once every record of it is verified and read.

        Raises LedgerError naming the first bad record. A tail that was cut off leaves an
        unbroken chain: compare the head with one kept elsewhere.
        """
        chain = self._chain()
        entries_of(chain, self._records.where)
        return head(chain)

    def close(self) -> None:
        """Let go of the store."""
        self._records.close()

    def __enter__(self) -> Self:
        """The ledger itself, to be closed on leaving."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _chain(self) -> tuple[Record, ...]:
        return verified(self._records.read(), self._records.where)


@dataclass(frozen=True)
class Reservation:
    """An entry that is charged already; leaving its block without ``commit`` changes nothing."""

    ledger: Ledger
    entry: Entry

    def commit(self, *, release_name: str, release_digest: str) -> Entry:
        """Record that the release is published; errors as ``Ledger.commit``."""
        return self.ledger.commit(
            self.entry.id, release_name=release_name, release_digest=release_digest
        )

    def __enter__(self) -> Self:
        """The reservation itself; it was charged when it was made."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to undo: what was reserved stays charged."""
