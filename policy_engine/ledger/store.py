"""The ledger: an account is charged before a release runs, and stays charged.

    entry = ledger.reserve(charge, limit)     # durable when it returns
    ledger.start(entry.id)                    # from here on it may have been seen
    digest = ...                              # the release
    ledger.commit(entry.id, release_name=..., release_digest=digest)

Nothing is ever deleted: what raises, is interrupted or killed leaves its entry open, which
costs the same as ``committed``. Only an entry that was never started can be cancelled: whoever
writes first, ``start`` or ``cancel``, wins, so a cancelled release can never run.

A charge reads two records, the chain's last and the account's last, and checks the signature of
both; ``verify`` reads them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from policy_engine.attest.approvals import Brought
from policy_engine.errors import BudgetExceeded, LedgerError, NotApproved
from policy_engine.ledger import chain
from policy_engine.ledger.account import (
    Account,
    Limit,
    affords,
    check_not_raised,
    effective,
    limit_to_json,
    refusal,
)
from policy_engine.ledger.decided import Decided
from policy_engine.ledger.entry import (
    MOST_ATTEMPTS,
    Charge,
    Entry,
    asked_of,
    entries_of,
    follows,
    reserve_payload,
    settled,
)
from policy_engine.ledger.records import open_records
from policy_engine.ledger.reviews import limit_matter
from policy_engine.ledger.states import check_said, check_states
from policy_engine.ledger.witness import Witness

PROJECT_FILE = "the project file"


class _Refused(Exception):
    """An account, its argument, cannot pay; leaves a write with nothing recorded."""


class Ledger(Decided):
    """Accounts and what they were charged, over any store of records.

    >>> import tempfile
    >>> from decimal import Decimal
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from policy_engine.attest.signers import KeySigner
    >>> signer = KeySigner(Ed25519PrivateKey.generate())
    >>> charge = Charge("census", Decimal("0.5"), Decimal("1e-9"), "add_remove", "adult", "a", "b")
    >>> limit = Limit(Decimal("1.0"), Decimal("1e-6"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger.open(Path(folder) / "ledger.db", chain.Trust.of(signer)) as ledger:
    ...         entry = ledger.start(ledger.reserve(charge, limit).id)
    ...         ledger.commit(entry.id, release_name="adult.parquet", release_digest="c").state
    ...         ledger.balance("census").charges
    'committed'
    1
    """

    @classmethod
    def open(
        cls,
        place: Path | str,
        trust: chain.Trust,
        *,
        create: bool = True,
        wait: float = 30.0,
        witness: Witness | None = None,
        begun: Callable[[str], None] = lambda begins: None,
    ) -> Self:
        """The ledger at a place; LedgerError as ``open_records``, or where a witness saw more."""
        # What was seen here is not made anew: an empty ledger would have forgotten it.
        known = witness is not None and witness.seen() is not None
        records = open_records(place, create=create and not known, wait=wait)
        ledger = cls(records, trust, witness=witness, begun=begun)
        try:
            if witness is not None:
                witness.check(records)
        except BaseException:
            ledger.close()
            raise
        return ledger

    # What is charged

    def reserve(
        self,
        charge: Charge,
        limit: Limit | None = None,
        *,
        anew: bool = False,
        is_out: bool = False,
    ) -> Entry:
        """Charge the account now, whether or not the release is ever published.

        Price, comparison and record are one transaction: of two processes after the last of
        a budget one gets it. When this returns the charge is durable. ``limit`` is what the project
        says; a limit that the ledger holds already is never raised by it. A charge whose ``run``
        was charged before, in the same place, is not charged again: the entry is that one.

        What ``is_out`` already, made by somebody else's run, is charged whatever the limit says.

        Raises NotApproved where the account requires approvals that the charge has not ``brought``,
        BudgetExceeded when the account cannot pay, the source belongs to another one, or
        ``limit`` is above the recorded one (nothing is then charged), and LedgerError when the
        ledger fails or is not to be trusted.
        """
        try:
            with self._writing():
                of = charge.run.get("of")
                paid = None if anew or of is None else self.last_at(charge.request, of)
                if paid is not None:
                    return paid
                if not is_out:
                    self.check_source(charge)
                account = self._limited(self.account(charge.account), limit)
                if not is_out and not affords(account, charge):
                    raise _Refused(account)
                review = self._reviewed(charge, is_out=is_out)
                payload = reserve_payload(charge, self._moment(), review)
                record = self._append(
                    "reserve", payload, account=account.plus(charge), request=charge.request
                )
        except _Refused as refused:
            # Why takes a while to find out, so nobody waits for the lock meanwhile.
            raise refusal(refused.args[0], charge) from None
        [entry] = entries_of((record,), self._records.where)
        return entry

    def can_pay(self, charge: Charge, limit: Limit | None = None) -> bool:
        """Whether ``reserve`` would charge this now, and not refuse it; nothing is written."""
        account = self.account(charge.account)
        try:
            self.check_source(charge)
            check_not_raised(account, limit)
            self.check_reviewed(charge)
        except (BudgetExceeded, NotApproved):
            return False
        return affords(effective(account, limit), charge)

    def start(
        self,
        entry_id: int,
        brought: Brought | None = None,
        *,
        sealed: Mapping[str, str] | None = None,
    ) -> Entry:
        """Record that an attempt to draw an entry begins; nothing of an earlier one can be seen.

        After an earlier attempt this one is under a fresh secret, ``sealed`` for it; that of the
        earlier one is never used again.

        Raises LedgerError where the entry was cancelled meanwhile, was drawn, or had its attempts:
        nothing may run, and NotApproved as ``approve``.
        """
        with self._writing():
            entry = self.entry(entry_id)
            self._check_follows("start", entry)
            again = {} if entry.state == "reserved" else {"sealed": dict(sealed or {})}
            if not entry.can_draw:
                raise LedgerError(
                    f"{self._records.where}: entry {entry_id} was drawn, or had its"
                    f" {MOST_ATTEMPTS} attempts, and is not drawn again; release again"
                )
            self._approve(entry, brought)
            entry = self.entry(entry_id)
            payload = {**again, **self._at()}
            return settled(entry, self._append("start", payload, entry=entry_id))

    def lapse(self, entry_id: int, why: str) -> Entry:
        """Record that an attempt came to nothing, by a cause that no row can bring about.

        It does not count; its secret is not used again. LedgerError where something was drawn.
        """
        with self._writing():
            entry = self.entry(entry_id)
            self._check_follows("lapse", entry)
            if entry.only_digest is not None or entry.attempts == 0:
                raise LedgerError(
                    f"{self._records.where}: entry {entry_id} has no attempt under way that could"
                    " have come to nothing"
                )
            return settled(entry, self._append("lapse", self._at(why=why), entry=entry_id))

    def draw(self, entry_id: int, release_digest: str, brought: Brought | None = None) -> bool:
        """Record the digest of an entry's release before anybody sees it; False for another one.

        Whatever is published for the entry after a crash, or by a run beside this one, has it too.
        Raises NotApproved, once the digest is recorded, as ``approve``.
        """
        with self._writing():
            entry = self.entry(entry_id)
            if entry.only_digest is None:
                self._check_follows("draw", entry)
                self._append("draw", self._at(release_digest=release_digest), entry=entry_id)
        if not entry.may_be(release_digest):
            return False
        self.approve(entry_id, brought, release_digest)
        return True

    def commit(self, entry_id: int, *, release_name: str, release_digest: str) -> Entry:
        """Record that an entry's release is published; on LedgerError it is still charged."""
        found = {"release_name": release_name, "release_digest": release_digest}
        with self._writing():
            entry = self.entry(entry_id)
            if entry.state == "committed" and entry.release_digest == release_digest:
                return entry  # by a run of the same release beside this one
            self._check_follows("commit", entry)
            if entry.is_out and self._holds_back(entry.account):
                raise NotApproved(
                    f"{self._records.where}: entry {entry_id} is of what was made before anybody"
                    " had approved it: it stays charged, and no certificate speaks of it"
                )
            if not entry.may_be(release_digest):
                raise LedgerError(
                    f"{self._records.where}: entry {entry_id} was drawn with other bytes than what"
                    " stands now; it stays charged"
                )
            return settled(entry, self._append("commit", self._at(**found), entry=entry_id))

    def keep(self, entry_id: int, why: str) -> Entry:
        """Settle a started entry as spent: nobody knows what was seen of it."""
        return self._settle("keep", entry_id, {"why": why})

    def cancel(self, entry_id: int, why: str) -> Entry:
        """Give back what an entry was charged that was never started; LedgerError where it was."""
        with self._writing():
            entry = self.entry(entry_id)
            self._check_follows("cancel", entry)
            reserved = self._known(entry_id)
            account = self.account(entry.account).minus(asked_of(reserved))
            self._append("cancel", self._at(why=why), entry=entry_id, account=account)
        return replace(entry, state="cancelled")

    def _settle(self, kind: str, entry_id: int, found: Mapping[str, str]) -> Entry:
        with self._writing():
            entry = self.entry(entry_id)
            self._check_follows(kind, entry)
            return settled(entry, self._append(kind, self._at(**found), entry=entry_id))

    def _check_follows(self, kind: str, entry: Entry) -> None:
        if not follows(kind, entry.state):
            raise LedgerError(
                f"{self._records.where}: entry {entry.id} is {entry.state}, so no {kind!r} can"
                " follow: another process or 'ledger reconcile' settled it; release again"
            )

    # Limits

    def set_limit(
        self, account: str, limit: Limit, *, who: str, why: str, brought: Brought | None = None
    ) -> None:
        """Record the limit of an account, higher or lower, with who decided and why.

        Raises UsageError where either is not said, NotApproved where the account has a review
        policy, and its people have not approved it.
        """
        check_said(account, who, why, "a limit is changed")
        with self._writing():
            told, required = {}, self.required(account)
            if required is not None:
                matter = limit_matter(account, limit)
                told = {"review": self._met(required, matter, brought or Brought())}
            self._record_limit(self.account(account), limit, who, why, told)

    def _limited(self, account: Account, limit: Limit | None) -> Account:
        """The account under what the project says; a limit that is new or lower is recorded."""
        if account.limit == limit or limit is None:
            return effective(account, limit)
        check_not_raised(account, limit)
        why = "its first limit" if account.limit is None else "lowered there"
        return self._record_limit(account, limit, PROJECT_FILE, why)

    def _record_limit(
        self,
        account: Account,
        limit: Limit,
        who: str,
        why: str,
        told: Mapping[str, object] | None = None,
    ) -> Account:
        limited = replace(account, limit=limit)
        payload = {**(told or {}), **limit_to_json(limit), **self._at(who=who, why=why)}
        self._append("limit", payload, account=limited)
        return limited

    # Its beginning

    def begin(self, *, anew: bool) -> str:
        """Record that an empty ledger begins, ``anew`` where another is lost; its first hash."""
        with self._writing():
            if self._head.records == 0:
                self._append("begin", self._at(anew="yes" if anew else "no"))
        begins = self.begins()
        assert begins is not None
        return begins

    # What is known

    def verify(self) -> chain.Head:
        """Where the chain ends, once every record, signature and running state is checked.

        Raises LedgerError naming the first bad record. What is wrong of a single record that is
        signed breaks no ledger: see ``faults``. A tail that was cut off leaves an
        unbroken chain, and is found by the witness, or by comparing the head with one kept
        elsewhere.
        """
        where, seen = self._records.where, self._witness.seen() if self._witness else None
        records = self.records()
        numbered = {record.seq: record for record in records}
        own = [record for record in records if not isinstance(record, chain.Foreign)]
        chain.check_disowned(own, where)
        for record in records:
            if not isinstance(record, chain.Foreign):
                chain.check_signature(record, self._trust, where, numbered.get)
            elif self._counts(record.row):
                key = record.row.key_id[:8]
                fault = f"it was disowned, and the key {key} that signed it counts"
                raise chain.broken(where, record.seq, fault)
        if self._witness is not None:
            self._witness.check_chain(seen, records, where)
        check_states(own, where)
        self._records.check()
        return chain.head(records[-1] if records else None)
