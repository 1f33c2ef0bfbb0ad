"""The ledger: an account is charged before a release runs, and stays charged.

    with ledger.reserve(charge, limit) as reservation:     # durable before the body runs
        reservation.start()                                # from here on it may have been seen
        digest = ...                                       # the release
        reservation.commit(release_name=..., release_digest=digest)

Nothing is ever deleted: a body that raises, is interrupted or killed leaves its entry open, which
costs the same as ``committed``. Only an entry that was never started can be cancelled: whoever
writes first, ``start`` or ``cancel``, wins, so a cancelled release can never run.

A charge reads two records, the chain's last and the account's last, and checks the signature of
both; ``verify`` reads them all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import (
    BudgetExceeded,
    LedgerBroken,
    LedgerError,
    NotApproved,
    UsageError,
)
from policy_engine.ledger.account import (
    Account,
    Balance,
    Limit,
    account_of,
    affords,
    balance_of,
    check_not_raised,
    effective,
    limit_to_json,
    refusal,
)
from policy_engine.ledger.belonging import (
    NAMED_BY,
    account_in,
    belongs_elsewhere,
    decided,
    source_in,
    text_of,
)
from policy_engine.ledger.chain import (
    DISOWNED,
    ORDERED,
    Draft,
    Foreign,
    Head,
    Record,
    broken,
    check_disowned,
    check_order,
    digest_of,
    disowned_in,
    extend,
    hash_of,
    head,
    time_of,
    verified,
)
from policy_engine.ledger.entry import (
    Charge,
    Entry,
    asked_of,
    entries_of,
    follows,
    reserve_payload,
    settled,
    unreadable,
)
from policy_engine.ledger.records import Records, open_records
from policy_engine.ledger.trust import Trust, check_not_later, check_signature
from policy_engine.ledger.witness import Witness
from policy_engine.policy.laws import is_line

if TYPE_CHECKING:
    from policy_engine.attest.approvals import Brought, Matter
    from policy_engine.attest.review_policy import ReviewPolicy, Stage
    from policy_engine.ledger.reviews import Required

PROJECT_FILE = "the project file"
_MOST_RECORDS = 2**63 - 1  # what a database counts to


def _utc_now() -> datetime:
    return datetime.now(UTC)


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


class _Refused(Exception):
    """An account cannot pay; leaves a write with nothing recorded."""

    def __init__(self, account: Account) -> None:
        super().__init__()
        self.account = account


class Ledger:
    """Accounts and what they were charged, over any store of records.

    >>> import tempfile
    >>> from decimal import Decimal
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from policy_engine.attest.signers import KeySigner
    >>> signer = KeySigner(Ed25519PrivateKey.generate())
    >>> charge = Charge("census", Decimal("0.5"), Decimal("1e-9"), "add_remove", "adult", "a", "b")
    >>> limit = Limit(Decimal("1.0"), Decimal("1e-6"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger.open(Path(folder) / "ledger.db", Trust.of(signer)) as ledger:
    ...         with ledger.reserve(charge, limit) as reservation:
    ...             reservation.start()
    ...             reservation.commit(release_name="adult.parquet", release_digest="c").state
    ...         ledger.balance("census").charges
    'committed'
    1
    """

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

    @classmethod
    def open(
        cls,
        place: Path | str,
        trust: Trust,
        *,
        create: bool = True,
        wait: float = 30.0,
        witness: Witness | None = None,
        begun: Callable[[str], None] = lambda begins: None,
    ) -> Self:
        """The ledger in a SQLite file or at a database's URL; ``begun`` as when it is made.

        Raises LedgerError as ``open_records``, and where the witness saw more than there is.
        """
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
    ) -> Reservation:
        """Charge the account now, whether or not the release is ever published.

        Price, comparison and record are one transaction: of two processes after the last of
        a budget one gets it. When this returns the charge is durable. ``limit`` is what the project
        says; a limit that the ledger holds already is never raised by it. A charge whose ``run``
        was charged before, in the same place, with a secret sealed for it, is not charged again:
        the entry is that one.

        What ``is_out`` already, made by somebody else's run, is charged whatever the limit says.

        Raises NotApproved where the account requires approvals that the charge has not ``brought``,
        BudgetExceeded when the account cannot pay, the source belongs to another one, or
        ``limit`` is above the recorded one (nothing is then charged), and LedgerError when the
        ledger fails or is not to be trusted.
        """
        try:
            return self._reserve(charge, limit, anew=anew, is_out=is_out)
        except _Refused as refused:
            # Why takes a while to find out, so nobody waits for the lock meanwhile.
            raise refusal(refused.account, charge) from None

    def _reserve(
        self, charge: Charge, limit: Limit | None, *, anew: bool, is_out: bool
    ) -> Reservation:
        with self._writing():
            of = charge.run.get("of")
            paid = None if anew or of is None else self.paid(charge.request, of)
            # Without its secret another run's sample is another sample, at a price of its own.
            if paid is not None and paid.run.get("sealed"):
                return Reservation(self, paid)
            if not is_out:
                self.check_source(charge)
            account = self._limited(self._account(charge.account), limit)
            if not is_out and not affords(account, charge):
                raise _Refused(account)
            record = self._append(
                "reserve",
                reserve_payload(charge, self._moment(), self._reviewed(charge, is_out=is_out)),
                account=account.plus(charge),
                request=charge.request,
            )
        [entry] = entries_of((record,), self._records.where)
        return Reservation(self, entry)

    def can_pay(self, charge: Charge, limit: Limit | None = None) -> bool:
        """Whether ``reserve`` would charge this now, and not refuse it; nothing is written."""
        account = self._account(charge.account)
        try:
            self.check_source(charge)
            check_not_raised(account, limit)
            self.check_reviewed(charge)
        except (BudgetExceeded, NotApproved):
            return False
        return affords(effective(account, limit), charge)

    def start(self, entry_id: int, brought: Brought | None = None) -> Entry:
        """Record that the sample of an entry is about to be drawn.

        Raises LedgerError where the entry was cancelled meanwhile: nothing may run, and NotApproved
        as ``approve``.
        """
        self.approve(entry_id, brought)
        return self._settle("start", entry_id, {})

    def draw(self, entry_id: int, release_digest: str, brought: Brought | None = None) -> bool:
        """Record the digest of an entry's release before anybody sees it; False for another one.

        Whatever is published for the entry after a crash, or by a run beside this one, has it too.
        Raises NotApproved, once the digest is recorded, as ``approve``.
        """
        is_its = self._drawn(entry_id, release_digest)
        if is_its:
            self.approve(entry_id, brought, release_digest)
        return is_its

    def _drawn(self, entry_id: int, release_digest: str) -> bool:
        with self._writing():
            entry = self.entry(entry_id)
            if entry.only_digest is None:
                self._check_follows("draw", entry)
                self._append("draw", self._at(release_digest=release_digest), entry=entry_id)
            return entry.may_be(release_digest)

    def commit(self, entry_id: int, *, release_name: str, release_digest: str) -> Entry:
        """Record that the release an entry was reserved for has been published.

        Raises LedgerError where the entry is not one that can have run, and when the ledger fails;
        the entry is then still charged.
        """
        found = {"release_name": release_name, "release_digest": release_digest}
        with self._writing():
            entry = self.entry(entry_id)
            if entry.state == "committed" and entry.release_digest == release_digest:
                return entry  # by a run of the same release beside this one
            self._check_follows("commit", entry)
            if entry.is_out and self._holds_back(entry.account):
                raise NotApproved(_OUT.format(self._records.where, entry_id))
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
        """Give back what an entry was charged that was never started, and never will be.

        Raises LedgerError where it was started.
        """
        with self._writing():
            entry = self.entry(entry_id)
            self._check_follows("cancel", entry)
            reserved = self._known(entry_id)
            account = self._account(entry.account).minus(asked_of(reserved))
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

    # Approvals

    def required(self, account: str) -> Required | None:
        """What approvals an account requires; None where it never required any."""
        seq = self._account(account).review
        return self.required_then(seq) if seq else None

    def required_then(self, seq: int) -> Required:
        """What the review policy of the record of that number requires, as keys are revoked now."""
        from policy_engine.ledger.reviews import REVOKED_KEY, required_by

        def revoked(key: str) -> bool:
            return key in self._trust.revoked or any(self._with(text_of(REVOKED_KEY, key)))

        return required_by(seq, self._known, revoked, self._records.where)

    def moment(self) -> datetime:
        """Now, as a record written now would say: never before the last one."""
        last = self._trusted(self._records.last())
        past = None if last is None else time_of(last)
        return self._now() if past is None else max(self._now(), past)

    def require(self, policy: ReviewPolicy, brought: Brought, *, who: str, why: str) -> None:
        """Record the review policy by which its account is released from now on.

        Raises UsageError where who or why is not said, NotApproved where it changes another one and
        the people of that one have not approved it.
        """
        from policy_engine.ledger.reviews import check_next, policy_matter

        _check_said(policy.account, who, why, "a review policy is set")
        with self._writing():
            now, account = self.required(policy.account), self._account(policy.account)
            told = check_next(now, policy, brought, self._moment())
            if told:
                self._check_unused(policy_matter(policy), brought, 0)
            told |= {"document": dict(policy.document), "previous": account.review}
            self._append(
                "require",
                {**told, **self._at(who=who, why=why)},
                account=replace(account, review=self._head.records + 1),
            )

    def revoke(self, key: str, *, who: str, why: str) -> None:
        """Record that nothing counts that this key approves, from now on and in every account."""
        from policy_engine.ledger.reviews import REVOKED_KEY

        _check_said("records", who, why, "a key is revoked")
        with self._writing():
            self._append("revoke", {REVOKED_KEY: key, **self._at(who=who, why=why)})

    def reviews(self) -> tuple[Mapping[str, Any], ...]:
        """Every review policy that was set and every key that was revoked, in order."""
        chain = self._chain()
        if not any(record.kind in {"require", "revoke"} for record in chain):
            return ()
        from policy_engine.ledger.reviews import decisions

        return decisions(chain, self._records.where)

    def approve(
        self, entry_id: int, brought: Brought | None = None, release_digest: str = ""
    ) -> None:
        """Return if an entry has the approvals that its account requires now, and record new ones.

        Of its claim; with a ``release_digest``, of what came out. What is recorded already and
        still counts is enough. Raises NotApproved.
        """
        stage: Stage = "release" if release_digest else "claim"
        required = self.required(self.entry(entry_id).account)
        if required is None or not required.needs(stage):
            return
        from policy_engine.ledger.reviews import claim_of, release_of

        with self._writing():
            entry = self.entry(entry_id)
            if entry.is_out:
                return  # what nobody was asked about is charged, and has no certificate
            matter = release_of(entry, release_digest) if release_digest else claim_of(entry)
            told = self._met(required, matter, entry, brought)
            if told:
                told["release_digest"] = release_digest
                self._append("approve", {**told, **self._at()}, entry=entry_id)

    def _met(
        self, required: Required, matter: Matter, entry: Entry, brought: Brought | None
    ) -> dict[str, Any]:
        """What is to be recorded; nothing where it is."""
        from policy_engine.attest.approvals import Brought
        from policy_engine.ledger.reviews import brought_in

        kept = [brought_in(told) for told in entry.reviews if told.get("stage") == matter.stage]
        if any(not required.faults(matter, each, self._moment()) for each in kept):
            return {}
        found = brought or (kept[-1] if kept else Brought())
        told = required.met(matter, found, self._moment())
        self._check_unused(matter, found, entry.id)
        return told

    def check_reviewed(self, charge: Charge) -> None:
        """Return if a charge has brought what its account requires; NotApproved where it has not.

        ``reserve`` asks again.
        """
        self._reviewed(charge, is_out=False)

    def _reviewed(self, charge: Charge, *, is_out: bool) -> dict[str, Any]:
        """What is recorded with a charge of the approvals that its account requires."""
        required = self.required(charge.account)
        if required is None or not required.policy.holds_back:
            return {}
        if is_out:
            return {**required.told("claim"), "out": True}
        from policy_engine.attest.approvals import Brought
        from policy_engine.ledger.reviews import claim_of

        if required.needs("release") and not charge.run.get("sealed"):
            raise NotApproved(_NOT_AGAIN.format(charge.account))
        if not required.needs("claim"):
            return required.told("claim")
        matter, brought = claim_of(charge), charge.brought or Brought()
        told = required.met(matter, brought, self._moment())
        self._check_unused(matter, brought, 0)
        return told

    def served(self, request_sha256: str, entry_id: int = 0) -> int:
        """The charge or change that a request of approvals has served for; 0 for none.

        An entry that was given back, and ``entry_id``, are left out.
        """
        from policy_engine.ledger.reviews import REQUEST_KEY

        for record in self._with(text_of(REQUEST_KEY, request_sha256)):
            owner = record.entry or record.seq
            gone = record.kind == "reserve" and self.entry(record.seq).state == "cancelled"
            if owner != entry_id and not gone:
                return owner
        return 0

    def _check_unused(self, matter: Matter, brought: Brought, entry_id: int) -> None:
        """NotApproved where a request has served for another charge or change."""
        if owner := self.served(brought.request_sha256, entry_id):
            raise NotApproved(
                f"{matter.name}: its request has served already, for record {owner}: one request is"
                " good for one charge; ask anew with 'policy-engine review request'. Nothing was"
                " charged"
            )

    def _holds_back(self, account: str) -> bool:
        required = self.required(account)
        return required is not None and required.policy.holds_back

    def _check_lets_go(self, account: str, what: str) -> None:
        """NotApproved where an account that requires approvals would lose its sources."""
        if self._holds_back(account):
            raise NotApproved(_LETS_GO.format(account, what))

    # Limits

    def set_limit(
        self, account: str, limit: Limit, *, who: str, why: str, brought: Brought | None = None
    ) -> None:
        """Record the limit of an account, higher or lower, with who decided and why.

        Raises UsageError where either is not said, NotApproved where the account has a review
        policy, and its people have not approved it.
        """
        _check_said(account, who, why, "a limit is changed")
        with self._writing():
            told, required = {}, self.required(account)
            if required is not None:
                from policy_engine.attest.approvals import Brought
                from policy_engine.ledger.reviews import limit_matter

                matter, brought = limit_matter(account, limit), brought or Brought()
                told = {"review": required.met(matter, brought, self._moment())}
                self._check_unused(matter, brought, 0)
            self._record_limit(self._account(account), limit, who, why, told)

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

    # Whose source it is

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

    def _with(self, text: str) -> Iterator[Record]:
        """Our records whose payload has a text, from the last one back."""
        before = _MOST_RECORDS
        while (record := self._records.naming(text, before)) is not None:
            before = record.seq
            if self._ours((record,)):
                self._trusted(record)
                yield record

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
        _check_said("records", who, why, "a sealing key is replaced")
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
        _check_said(account, who, why, "a source is given to another account")
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
        _check_said(account, who, why, "a source is given to an account")
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

    # What strangers wrote

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
        _check_said("records", who, why, "records are disowned")
        with self._records.writing():
            self._renew_trust()
            rows = self._records.read()
            before, foreign = rows[: max(first - 1, 0)], rows[max(first - 1, 0) :]
            self._check_not_ours(first, foreign, seen)
            chain = verified(before, self._records.where)
            last = self._trusted(chain[-1] if chain else None)
            self._head = head(foreign[-1])
            self._places = _places_of(last, self._records.where)
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
                found.append(_disowned_by(record, rows - known, self._records.where))
                known = rows
        return tuple(found)

    # Its beginning

    def begin(self, *, anew: bool) -> str:
        """Record that the ledger begins, in one that is empty; the hash of its first record.

        ``anew`` is recorded: another ledger was known, and is lost.
        """
        with self._writing():
            if self._head.records == 0:
                self._append("begin", self._at(anew="yes" if anew else "no"))
        begins = self.begins()
        assert begins is not None
        return begins

    def begins(self) -> str | None:
        """The hash of the first record, as it follows from what is in it; None without one."""
        first = self._records.get(1)
        return None if first is None else hash_of(first)

    # What is known

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
        return self._last_at(place, lambda record: _run_of(record).get("of") == of)

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
        return tuple(sorted(_places_of(self._trusted(self._records.last()), self._records.where)))

    def verify(self) -> Head:
        """Where the chain ends, once every record, signature and running state is checked.

        Raises LedgerError naming the first bad record. A tail that was cut off leaves an
        unbroken chain, and is found by the witness, or by comparing the head with one kept
        elsewhere.
        """
        seen = self._witness.seen() if self._witness is not None else None
        chain = self._chain()
        numbered = {record.seq: record for record in chain}
        check_disowned(chain, self._records.where)
        for record in chain:
            if isinstance(record, Foreign):
                self._check_foreign(record.row)
                continue
            check_signature(record, self._trust, self._records.where)
            check_not_later(record, self._trust, numbered.get, self._records.where)
        if self._witness is not None:
            self._witness.check_chain(seen, chain, self._records.where)
        entries = entries_of(chain, self._records.where)
        check_states(chain, self._records.where)
        if any(record.kind == "require" for record in chain):
            from policy_engine.ledger.reviews import check_reviews

            check_reviews(chain, {entry.id: entry for entry in entries}, self._records.where)
        check_order(chain, self._records.where)
        self._records.check()
        return head(chain[-1] if chain else None)

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

    # Records

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Exclude other writers; on leaving, what was appended is durable, and remembered."""
        with self._records.writing():
            self._renew_trust()
            if self._witness is not None:
                self._witness.check(self._records)
            last = self._trusted(self._records.last())
            self._head, self._places = head(last), _places_of(last, self._records.where)
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
        seq = _places_of(last, self._records.where).get(name)
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


_OUT = (
    "{}: entry {} is of what was made before anybody had approved it: it stays charged, and no"
    " certificate speaks of it"
)
_NOT_AGAIN = (
    "account {!r} requires approvals of a release, and this engine cannot draw"
    " the same sample again once they are there: use method: keyed; nothing was charged"
)
_LETS_GO = (
    "account {!r} requires approvals, and {}: let its people approve a review policy without claim"
    " and release first; nothing was changed"
)


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
        if _places_of(record, where) != places:
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


def _disowned_by(record: Record, rows: frozenset[str], where: str) -> Disowned:
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


def _places_of(last: Record | None, where: str) -> Mapping[str, int]:
    """Where each account's last record is, as the chain's last record says."""
    if last is None:
        return {}
    try:
        return dict(json.loads(last.payload)["accounts"])
    except (KeyError, TypeError, ValueError):
        raise unreadable(last, where) from None


def _check_said(account: str, who: str, why: str, what: str) -> None:
    """UsageError unless a change says in plain text who made it, and why."""
    if not who.strip() or not why.strip():
        raise UsageError(f"{what} by somebody, for a reason: say --by and --why")
    for name, text in (("ACCOUNT", account), ("--by", who), ("--why", why)):
        _check_line(name, text)


def _check_line(what: str, text: str) -> None:
    """UsageError where a text would not be one line that can be read where it is shown."""
    if not is_line(text):
        law = "a text that is not blank and has no line break or control character"
        raise UsageError(f"{what} must be {law}, found {text[:80]!a}")


def _run_of(record: Record) -> Mapping[str, Any]:
    """What a ``reserve`` record says of how to run its release again."""
    run: Mapping[str, Any] = json.loads(record.payload).get("run", {})
    return run


@dataclass(frozen=True)
class Reservation:
    """An entry that is charged already; leaving its block without ``commit`` changes nothing."""

    ledger: Ledger
    entry: Entry

    def start(self) -> None:
        """Record that the sample is about to be drawn; errors as ``Ledger.start``."""
        self.ledger.start(self.entry.id)

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
