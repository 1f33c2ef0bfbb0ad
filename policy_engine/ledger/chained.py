"""A chain of signed records: read, trusted, and written one after the other."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Self

from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import LedgerBroken, LedgerError
from policy_engine.ledger.account import Account, account_of
from policy_engine.ledger.chain import (
    DISOWNED,
    ORDERED,
    Draft,
    Head,
    Record,
    broken,
    disowned_in,
    extend,
    hash_of,
    head,
    time_of,
    verified,
)
from policy_engine.ledger.records import Records
from policy_engine.ledger.states import places_of
from policy_engine.ledger.trust import Trust, check_not_later, check_signature
from policy_engine.ledger.witness import Witness


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Chained:
    """Records that are chained and signed, over any store of them: what a ledger stands on."""

    def __init__(
        self,
        records: Records,
        trust: Trust,
        now: Callable[[], datetime] = _utc_now,
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
        self._head = Head(0, "")
        self._past: datetime | None = None
        self._places: Mapping[str, int] = {}
        self._disowned: Mapping[str, str] = {}
        self._checked: set[Record] = set()

    def records(self) -> tuple[Record, ...]:
        """Every record, its chain verified."""
        return self._chain()

    def end(self) -> Head:
        """Where the chain ends, by its last record, whose signature is good."""
        return head(self._trusted(self._records.last()))

    def close(self) -> None:
        """Let go of the store."""
        self._records.close()

    def __enter__(self) -> Self:
        """The ledger itself, to be closed on leaving."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def begins(self) -> str | None:
        """The hash of the first record, as it follows from what is in it; None without one."""
        first = self._records.get(1)
        return None if first is None else hash_of(first)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Exclude other writers; on leaving, what was appended is durable, and remembered."""
        with self._records.writing():
            self._renew_trust()
            if self._witness is not None:
                self._witness.check(self._records)
            last = self._trusted(self._records.last())
            self._head, self._places = head(last), places_of(last, self._records.where)
            self._past = None if last is None else time_of(last)
            self._disowned = {} if last is None else disowned_in(last)
            yield
        if self._witness is not None:
            self._witness.remember(self._head)
        if last is None and (begins := self.begins()) is not None:
            self._begun(begins)

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

    @contextmanager
    def at_rest(self) -> Iterator[LedgerEnd | None]:
        """Where the ledger ends, while the body runs and nobody can write; None without records."""
        with self._records.writing():
            last, first = self._trusted(self._records.last()), self._records.get(1)
            if last is None or first is None:
                yield None
            else:
                yield LedgerEnd(first.hash, last.seq, last.hash)

    def _append(
        self,
        kind: str,
        payload: Mapping[str, object],
        *,
        account: Account | None = None,
        entry: int = 0,
        request: str = "",
    ) -> Record:
        state = {} if account is None else {"state": account.to_json()}
        name = "" if account is None else account.name
        if name:
            self._places = {**self._places, name: self._head.records + 1}
        # Nobody who sees a head can try what was recorded, and when, until it fits.
        salt = secrets.token_hex(16)
        told = {**payload, **state, "accounts": self._places, "salt": salt, ORDERED: True}
        if self._disowned:
            told[DISOWNED] = self._disowned
        draft = Draft(kind, told, name, entry, request)
        record = extend(self._head, draft, self._trust.signer)
        self._records.append(record)
        self._head = head(record)
        return record

    def _account(self, name: str) -> Account:
        # The chain's last record says where each account's last one is: whoever gets past the
        # store's triggers can hide a record, but not what is signed of it.
        last = self._trusted(self._records.last())
        seq = places_of(last, self._records.where).get(name)
        return account_of(name, None if seq is None else self._known(seq), self._records.where)

    def _known(self, seq: int) -> Record:
        record = self._trusted(self._records.get(seq))
        if record is None or record.seq != seq:
            raise broken(self._records.where, seq, "the record is missing")
        return record

    def _trusted(self, record: Record | None) -> Record | None:
        """The same record, once its hash and signature are checked: of each record one time."""
        if record is not None and record not in self._checked:
            check_signature(record, self._trust, self._records.where)
            check_not_later(record, self._trust, self._records.get, self._records.where)
            self._checked.add(record)
        return record

    def _at(self, **found: str) -> dict[str, object]:
        return {**found, "at": self._moment().isoformat()}

    def _moment(self) -> datetime:
        """Now; or when the last record was written, by a clock that is before this one."""
        now = self._now()
        return now if self._past is None else max(now, self._past)

    def _chain(self) -> tuple[Record, ...]:
        return verified(self._records.read(), self._records.where)

    def _chain_from(self, after: Head) -> tuple[Record, ...]:
        found = self._records.since(after.records + 1)
        return verified(found, self._records.where, after)

    def _ours(self, found: tuple[Record, ...]) -> tuple[Record, ...]:
        """The records that are not disowned, as the last one says, which is signed."""
        last = self._trusted(self._records.last()) if found else None
        foreign = {} if last is None else disowned_in(last)
        return tuple(record for record in found if str(record.seq) not in foreign)

    def _check_foreign(self, row: Record) -> None:
        """LedgerError where a row is disowned that a key of ours has signed: it counts."""
        try:
            check_signature(row, self._trust, self._records.where)
            check_not_later(row, self._trust, self._records.get, self._records.where)
        except LedgerBroken:
            return
        fault = f"it was disowned, and the key {row.key_id[:8]} that signed it counts"
        raise broken(self._records.where, row.seq, fault)
