"""Sources in a ledger: which account has each, which key names them, which rows are nobody's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policy_engine.errors import LedgerBroken, LedgerError, UsageError
from policy_engine.ledger.belonging import (
    NAMED_BY,
    account_in,
    belongs_elsewhere,
    decided,
    source_in,
    text_of,
)
from policy_engine.ledger.chain import Head, Record, digest_of, disowned_in, head, time_of, verified
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.reviewed import Reviewed
from policy_engine.ledger.states import Disowned, check_said, disowned_by, places_of


class Sourced(Reviewed):
    """A chain whose charges name the sources that they are of, and whose keys name those."""

    def check_source(self, charge: Charge) -> None:
        """Return unless the charge's source belongs to another account than it asks.

        Raises BudgetExceeded, naming the entry that it was charged by before, and LedgerError where
        the ledger names sources by another key, and would not know this one again.
        """
        if charge.source and self.namer() not in {None, charge.source.get(NAMED_BY)}:
            where = self._records.where
            raise LedgerError(f"{where}: another key names its sources meanwhile; release again")
        named = [*charge.source.items(), *(("place", name) for name in charge.beside)]
        for what, name in named:
            record = self._last_naming(what, name, charge.account) if what != NAMED_BY else None
            if record is not None:
                raise belongs_elsewhere(charge, what, record)

    def _last_naming(self, what: str, name: str, account: str) -> Record | None:
        """The last record that gives a source so named to another account; None if it has it."""
        for record in self._with(text_of(what, name)):
            if source_in(record).get(what) != name:
                continue
            if account_in(record) == account:  # and what was before it was as good
                return None
            if record.kind == "move" or self.entry(record.seq).state != "cancelled":
                return record
        return None

    def namer(self) -> str | None:
        """The id of the key that names the ledger's sources; None while it names none."""
        found = self._with(text_of(NAMED_BY, "")[:-1])
        # A move repeats names of before.
        named = (source_in(record).get(NAMED_BY) for record in found if record.kind != "move")
        return next((name for name in named if name is not None), None)

    def handed_to(self, key: str) -> Mapping[str, str]:
        """The key that the sealing key of this id took over, sealed for it; empty for none."""
        found = (json.loads(each.payload) for each in self._with(text_of("for", key)))
        taken = (each["key"] for each in found if each.get("for") == key)
        return next(taken, {})

    def rekey(self, key: str, named_by: str, handed: Mapping[str, str], who: str, why: str) -> None:
        """Record that the sealing key of id ``key`` took over, and which one names sources now.

        ``handed`` is that one, sealed for ``key``. Raises UsageError where who or why is not said.
        """
        check_said("records", who, why, "a sealing key is replaced")
        told = {"source": {NAMED_BY: named_by}, "for": key, "key": dict(handed)}
        with self._writing():
            if not handed:
                self.check_keeps_sources()
            self._append("rekey", {**told, **self._at(by=who, why=why)})

    def check_keeps_sources(self) -> None:
        """NotApproved where names are forgotten, and an account that requires approvals has some.

        Another account could be charged for its sources then.
        """
        for name in self.names():
            self._check_lets_go(name, "without its sealing key nobody knows which sources are its")

    def rekeys(self) -> tuple[Mapping[str, Any], ...]:
        """Every sealing key that took over from another one, in order."""
        return decided(self._chain(), "rekey", self._records.where)

    def move(self, entry_id: int, account: str, *, who: str, why: str) -> None:
        """Give the source of an entry to another account: later releases of it are charged there.

        What was charged stays where it was. Raises UsageError where who or why is not said, or the
        entry names no source.
        """
        check_said(account, who, why, "a source is given to another account")
        with self._writing():
            before, source = self.entry(entry_id).account, source_in(self._known(entry_id))
            if not source:
                raise UsageError(
                    f"entry {entry_id} is of a version that recorded no source: there is nothing to"
                    " move, and any account may release it"
                )
            for owner in {before, *self._owners(source)} - {account}:
                self._check_lets_go(owner, f"its source would be {account!r}'s")
            told = {"source": source, "of": entry_id, "from": before, "to": account}
            self._append("move", {**told, **self._at(by=who, why=why)})

    def assign(self, account: str, source: Mapping[str, str], *, who: str, why: str) -> None:
        """Give a source of these names to an account that was not charged for it yet.

        Raises UsageError where it belongs to another one already, or who or why is not said.
        """
        check_said(account, who, why, "a source is given to an account")
        with self._writing():
            owners = set(self._owners(source))
            if owners - {account}:
                raise UsageError(
                    f"the source belongs to account {min(owners - {account})!r} already; see"
                    " 'policy-engine ledger move'"
                )
            if account not in owners:
                told = {"source": dict(source), "of": 0, "from": "", "to": account}
                self._append("move", {**told, **self._at(by=who, why=why)})

    def _owners(self, source: Mapping[str, str]) -> Iterator[str]:
        """The accounts that a source of these names belongs to."""
        for what, name in source.items():
            if what != NAMED_BY:
                found = (account_in(each) for each in self._with(text_of(what, name))
                         if source_in(each).get(what) == name)  # fmt: skip
                yield from (account for account in [next(found, "")] if account)

    def moves(self) -> tuple[Mapping[str, Any], ...]:
        """Every source that was given to another account, in order."""
        return decided(self._chain(), "move", self._records.where)

    def disown(
        self, first: int, *, who: str, why: str, seen: Head | None = None
    ) -> tuple[int, ...]:
        """Leave out the rows from ``first`` to the end, which nobody of ours has written.

        A role that may insert and has no key can write rows that nobody trusts, and the chain
        would end there. They stay where they are, and this record says by their digests that they
        say nothing. The numbers of the rows. ``seen`` is what this machine has seen of the ledger.

        Raises UsageError where a key of ours has signed one, it was seen in a ledger that held, or
        who or why is not said; LedgerError where what is before does not hold.
        """
        check_said("records", who, why, "records are disowned")
        with self._records.writing():
            self._renew_trust()
            rows = self._records.read()
            before, foreign = rows[: max(first - 1, 0)], rows[max(first - 1, 0) :]
            self._check_not_ours(first, foreign, seen)
            chain = verified(before, self._records.where)
            last = self._trusted(chain[-1] if chain else None)
            self._head = head(foreign[-1])
            self._places = places_of(last, self._records.where)
            self._past = None if last is None else time_of(last)
            told = {str(row.seq): digest_of(row) for row in foreign}
            self._disowned = {**(disowned_in(last) if last is not None else {}), **told}
            self._append("disown", self._at(by=who, why=why))
        return tuple(row.seq for row in foreign)

    def _check_not_ours(self, first: int, rows: tuple[Record, ...], seen: Head | None) -> None:
        """UsageError unless these are rows from ``first`` on, and strangers'."""
        if first < 1 or not rows or [row.seq for row in rows] != [*range(first, rows[-1].seq + 1)]:
            raise UsageError(f"there is no record {first} in {self._records.where}")
        if seen is not None and seen.records >= first:
            raise UsageError(
                f"this machine has seen record {seen.records} of the ledger when it held, so that"
                f" record {first} was one of yours and has been changed: restore a backup"
            )
        for row in rows:
            try:
                self._check_foreign(row)
            except LedgerBroken:
                raise UsageError(
                    f"record {row.seq} is signed by the key {row.key_id[:8]}, which counts: it is"
                    " no stranger's"
                ) from None

    def disowned(self) -> tuple[Disowned, ...]:
        """Every time that rows were disowned, in order."""
        found, known = [], frozenset[str]()
        for record in self._chain():
            if record.kind == "disown":
                rows = frozenset(disowned_in(record))
                found.append(disowned_by(record, rows - known, self._records.where))
                known = rows
        return tuple(found)
