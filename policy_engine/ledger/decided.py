"""What people decide in a ledger: approvals, whose a source is, and which rows are nobody's.

A source belongs to the account of the last record that names it. People who could be charged to two
accounts would lose the sum of both limits. So a charge names its source, by where it lies. A record
of kind ``move`` gives the source of an entry to another account, by somebody, for a reason; nothing
else does.

The names are keyed, and another key would make each source a new one. So a source says which key
has named it, and a record of kind ``rekey`` says who replaced the sealing key, and why: the new one
is handed the old one and names by it, or the old one is lost, and what it named is forgotten.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest.approvals import Brought, Matter, ReviewPolicy, Stage
from policy_engine.attest.ring_text import Owners
from policy_engine.attest.signers import Signer
from policy_engine.errors import BudgetExceeded, LedgerBroken, LedgerError, NotApproved, UsageError
from policy_engine.ledger import reviews
from policy_engine.ledger.chain import (
    Foreign,
    Head,
    Record,
    canonical,
    check_signature,
    digest_of,
    hash_of,
    head,
    said,
    verified,
)
from policy_engine.ledger.chained import Chained
from policy_engine.ledger.entry import Charge, Entry, Fault, entries_of, faults_of
from policy_engine.ledger.states import NAMED_BY, check_said, decided, order_faults

_LEAVES_OUT = b"policy-engine rows left out v1\n"
"""What stands before what owners of the keyring sign of rows that are left out."""


class Decided(Chained):
    """A chain whose accounts may require approvals, and whose charges name their sources."""

    # Approvals

    def required(self, account: str) -> reviews.Required | None:
        """What approvals an account requires; None where it never required any."""
        seq = self.account(account).review
        if not seq:
            return None
        # All of them, and not the last alone: whoever has a key can write one that nobody approved.
        told = [*self._with(reviews.REQUIRES_KEY, account), self._known(seq)]
        found = {each.seq: each for each in told}
        in_order = [found[number] for number in sorted(found)]
        return reviews.required_by(in_order, self._known, self._is_revoked, self._records.where)

    def required_then(self, seq: int) -> reviews.Required:
        """What the review policy of the record of that number requires."""
        return reviews.required_then(self._known(seq), self._records.where)

    def _is_revoked(self, key: str) -> bool:
        return key in self._trust.revoked or any(self._with(reviews.REVOKED_KEY, key))

    def require(self, policy: ReviewPolicy, brought: Brought, *, who: str, why: str) -> None:
        """Record the review policy by which its account is released from now on.

        Raises UsageError where who or why is not said, NotApproved where it changes another one and
        the people of that one have not approved it, PolicyError where nobody could read it again.
        """
        check_said(policy.account, who, why, "a review policy is set")
        reviews.check_readable(policy)
        with self._writing():
            now, account = self.required(policy.account), self.account(policy.account)
            told = reviews.check_next(now, policy, brought, self._moment())
            if told:
                matter = reviews.policy_matter(policy)
                self._check_unused(matter, brought)
                reviews.check_last(matter, brought, self.last(matter))
            told |= {
                "document": dict(policy.document),
                "previous": 0 if now is None else now.record,
                reviews.REQUIRES_KEY: policy.account,
            }
            account = replace(account, review=self._head.records + 1)
            self._append("require", {**told, **self._at(who=who, why=why)}, account=account)

    def revoke(self, key: str, *, who: str, why: str) -> None:
        """Record that nothing counts that this key approves, from now on and in every account."""
        check_said("records", who, why, "a key is revoked")
        with self._writing():
            self._append("revoke", {reviews.REVOKED_KEY: key, **self._at(who=who, why=why)})

    def approve(
        self, entry_id: int, brought: Brought | None = None, release_digest: str = ""
    ) -> None:
        """Return if an entry has the approvals that its account requires now, and record new ones.

        Of its claim; with a ``release_digest``, of what came out. What is recorded already and
        still counts is enough. Raises NotApproved.
        """
        if self.required(self.entry(entry_id).account) is not None:
            with self._writing():
                self._approve(self.entry(entry_id), brought, release_digest)

    def _approve(self, entry: Entry, brought: Brought | None, release_digest: str = "") -> None:
        """The same, inside a write: what is required is what the last writer left."""
        stage: Stage = "release" if release_digest else "claim"
        required = self.required(entry.account)
        if required is None or not required.needs(stage):
            return
        if entry.is_out:
            return  # what nobody was asked about is charged, and has no certificate
        matter = reviews.claim_of(entry)
        if release_digest:
            matter = reviews.release_of(entry, release_digest)
        kept = [reviews.brought_in(told) for told in entry.reviews if told.get("stage") == stage]
        if any(not required.faults(matter, each, self._moment()) for each in kept):
            return
        told = self._met(required, matter, brought or (kept or [Brought()])[-1], entry.id)
        told["release_digest"] = release_digest
        self._append("approve", {**told, **self._at()}, entry=entry.id)

    def check_reviewed(self, charge: Charge) -> None:
        """NotApproved where a charge lacks what its account requires; ``reserve`` asks again."""
        self._reviewed(charge, is_out=False)

    def _reviewed(self, charge: Charge, *, is_out: bool) -> dict[str, Any]:
        """What is recorded with a charge of the approvals that its account requires."""
        required = self.required(charge.account)
        if required is None or not required.policy.holds_back:
            return {}
        if is_out:
            return {**required.told("claim"), "out": True}
        if not required.needs("claim"):
            return required.told("claim")
        return self._met(required, reviews.claim_of(charge), charge.brought or Brought())

    def _met(
        self, required: reviews.Required, matter: Matter, brought: Brought, entry_id: int = 0
    ) -> dict[str, Any]:
        """What is recorded of approvals that are met, for nothing else; NotApproved for others."""
        told = required.met(matter, brought, self._moment())
        self._check_unused(matter, brought, entry_id)
        reviews.check_last(matter, brought, self.last(matter, entry_id))
        return told

    def last(self, matter: Matter, entry_id: int = 0) -> Mapping[str, Any]:
        """What was approved before a matter, with which who approves compares it; empty for none.

        Of a change what is in force. Of a claim, and of what came out, the certificate of the last
        entry of the same policy and account that people have approved and that was not given back,
        before ``entry_id`` where that is the entry that waits.
        """
        account = matter.of["account"]
        if matter.stage == "change":
            required = self.required(account)
            if matter.name == reviews.LIMIT:
                return reviews.limit_document(account, self.account(account).limit)
            return {} if required is None else required.policy.document
        name = self.entry(entry_id).policy_name if entry_id else matter.name
        for record in self._with("policy_name", name):
            is_before = record.kind == "reserve" and record.seq < (entry_id or record.seq + 1)
            if is_before and record.account == account:
                entry = self.entry(record.seq)
                if reviews.is_approved(entry):
                    return reviews.without_time(entry.run.get("predicate", {}))
        return {}

    def served(self, request_sha256: str, entry_id: int = 0) -> int:
        """What a request has served for, but ``entry_id`` and what was given back; else 0."""
        for record in self._with(reviews.REQUEST_KEY, request_sha256):
            owner = record.entry or record.seq
            gone = record.kind == "reserve" and self.entry(record.seq).state == "cancelled"
            if owner != entry_id and not gone:
                return owner
        return 0

    def _check_unused(self, matter: Matter, brought: Brought, entry_id: int = 0) -> None:
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
            raise NotApproved(
                f"account {account!r} requires approvals, and {what}: let its people approve a"
                " review policy without claim and release first; nothing was changed"
            )

    def settle(self, number: int, *, who: str, why: str) -> tuple[Fault, ...]:
        """Record that somebody looked into what is wrong of a record or entry; what it was.

        It stays as it is, and is told from now on with who and why. Raises UsageError where nothing
        of that number waits for it, or who or why is not said.
        """
        check_said("records", who, why, "what is wrong of a record is settled")
        with self._writing():
            found = [each for each in self.faults() if number in (each.record, each.entry)]
            if not number or all(each.settled for each in found):
                raise UsageError(
                    f"nothing is wrong of a record or entry {number} in {self._records.where}, or"
                    " it was settled already; 'policy-engine ledger verify' names what is"
                )
            self._append("settle", {"of": number, **self._at(by=who, why=why)})
        return tuple(each for each in found if not each.settled)

    def faults(self) -> tuple[Fault, ...]:
        """What is wrong of single records that keys of ours have signed, in order.

        Nothing else is said against the ledger by it: who looked into one, ``settle`` records.
        """
        where = self._records.where
        own = [record for record in self.records() if not isinstance(record, Foreign)]
        entries = {entry.id: entry for entry in entries_of(own, where)}
        found = [
            *faults_of(own, where),
            *reviews.review_faults(own, entries, where),
            *order_faults(own),
        ]
        told = decided(own, "settle", where)

        def settled(fault: Fault) -> Fault:
            mine = (
                each
                for each in told
                if each["of"] in (fault.record, fault.entry) and each["record"] > fault.record
            )
            return replace(fault, settled=next(mine, {}))

        return tuple(map(settled, sorted(found, key=lambda fault: fault.record)))

    # Sources

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
                raise _belongs_elsewhere(charge, record)

    def _last_naming(self, what: str, name: str, account: str) -> Record | None:
        """The last record that gives a source so named to another account; None if it has it."""
        for record in self._naming(what, name):
            if _account_in(record) == account:  # and what was before it was as good
                return None
            if record.kind == "move" or self.entry(record.seq).state != "cancelled":
                return record
        return None

    def _naming(self, what: str, name: str) -> Iterator[Record]:
        """The records of a source of this name, from the last one back."""
        return (each for each in self._with(what, name) if source_in(each).get(what) == name)

    def namer(self) -> str | None:
        """The id of the key that names the ledger's sources; None while it names none."""
        # A move repeats names of before.
        records = (each for each in self._with(NAMED_BY) if each.kind != "move")
        named = (source_in(record).get(NAMED_BY) for record in records)
        return next((name for name in named if name is not None), None)

    def handed_to(self, key: str) -> Mapping[str, str]:
        """The key that the sealing key of this id took over, sealed for it; empty for none."""
        taken = (said(each, "key") for each in self._with("for", key) if said(each, "for") == key)
        return next(taken, {})

    def rekey(self, key: str, named_by: str, handed: Mapping[str, str], who: str, why: str) -> None:
        """Record which sealing key took over, which one names sources now, and that one, sealed."""
        check_said("records", who, why, "a sealing key is replaced")
        told = {"source": {NAMED_BY: named_by}, "for": key, "key": dict(handed)}
        with self._writing():
            if not handed:
                self.check_keeps_sources()
            self._append("rekey", {**told, **self._at(by=who, why=why)})

    def check_keeps_sources(self) -> None:
        """NotApproved where names are forgotten, and an account requires approvals."""
        for name in self.names():
            self._check_lets_go(name, "without its sealing key nobody knows which sources are its")

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
        """Give a source to an account that was not charged for it; UsageError if another has it."""
        check_said(account, who, why, "a source is given to an account")
        with self._writing():
            owners = self._owners(source)
            if owners - {account}:
                raise UsageError(
                    f"the source belongs to account {min(owners - {account})!r} already; see"
                    " 'policy-engine ledger move'"
                )
            if account not in owners:
                told = {"source": dict(source), "of": 0, "from": "", "to": account}
                self._append("move", {**told, **self._at(by=who, why=why)})

    def _owners(self, source: Mapping[str, str]) -> set[str]:
        """The accounts that a source of these names belongs to."""
        named = (each for each in source.items() if each[0] != NAMED_BY)
        records = (next(self._naming(what, name), None) for what, name in named)
        return {_account_in(record) for record in records if record is not None} - {""}

    def rows_from(self, first: int, seen: Head | None = None) -> Mapping[str, str]:
        """The numbers and digests of the rows from ``first`` to the end, if they may be left out.

        They may where none is the project's: not the first record, nor one that this machine has
        ``seen`` in a ledger that held, nor one that a key of the keyring has signed, nor two that
        hold together under keys that are not in it: those are a chain, and somebody's. All before
        must be the project's.

        Raises UsageError where one is, LedgerError where what is before does not hold.
        """
        rows = self._records.read()
        before, foreign = rows[: max(first - 1, 0)], rows[max(first - 1, 0) :]
        self._check_not_ours(first, foreign, seen)
        for record in verified(before, self._records.where):
            if not isinstance(record, Foreign):
                self._trusted(record)
        return {str(row.seq): digest_of(row) for row in foreign}

    def leaving_out(self, rows: Mapping[str, str]) -> Mapping[str, tuple[reviews.Required, Matter]]:
        """Whose people must approve that rows are left out, and what; asked ``before`` them."""
        required = {name: self.required(name) for name in self.names()}
        return {
            name: (found, reviews.rows_matter(name, rows))
            for name, found in required.items()
            if found is not None
        }

    def disown(
        self,
        first: int,
        *,
        who: str,
        why: str,
        seen: Head | None = None,
        owners: Owners | None = None,
        signers: Sequence[Signer] = (),
        brought: Callable[[str], Brought] = lambda account: Brought(),
    ) -> tuple[int, ...]:
        """Leave out a row from ``first`` on that nobody of ours has written; and what is behind it.

        A role that may insert and has no key can write rows that nobody trusts, and the chain
        would end there. They stay where they are, and this record says by their digests that they
        say nothing. The numbers of the rows. Where the keyring has ``owners``, as many as must
        sign it decide, and are the ``signers``. Where accounts have review policies, their people
        do, by the approvals ``brought`` of an account. Else any key of the keyring.

        Raises UsageError where who or why is not said, and as ``rows_from``; NotApproved where
        those who decide have not.
        """
        check_said("records", who, why, "records are disowned")
        with self._records.writing():
            self._renew_trust()
            told = self.rows_from(first, seen)
            with self.before(first):
                last = self._last()
                self._follow(head(self._records.last()), last)
                if owners is None:
                    agreed = self._by_people(told, brought)
                else:
                    said = {"begins": self.begins(), "rows": dict(told), "by": who, "why": why}
                    agreed = self._by_owners(said, owners, signers)
            self._disowned = {**self._disowned, **told}
            self._append("disown", {**agreed, **self._at(by=who, why=why)})
            self._instant = None
        return tuple(map(int, told))

    def _by_people(
        self, rows: Mapping[str, str], brought: Callable[[str], Brought]
    ) -> dict[str, Any]:
        """What is recorded of the people of the accounts who leave out rows; else NotApproved."""
        found = self.leaving_out(rows).items()
        met = {
            name: self._met(required, matter, brought(name)) for name, (required, matter) in found
        }
        return {"approvals": met} if met else {}

    def _by_owners(
        self, said: Mapping[str, object], owners: Owners, signers: Sequence[Signer]
    ) -> dict[str, Any]:
        """What is recorded of the owners of the keyring who leave out rows; else NotApproved."""
        data = _LEAVES_OUT + canonical(said).encode()
        theirs = {each.key_id: each for each in signers if _raw(each) in owners.keys}
        if len(theirs) < owners.threshold:
            raise NotApproved(
                f"{self._records.where}: the keyring has owners, and {owners.threshold} of them"
                f" leave out rows, found {len(theirs)}: name the private key of each with --owner"
            )
        signed = {name: base64.b64encode(each.sign(data)).decode() for name, each in theirs.items()}
        return {"owners": signed}

    def _check_not_ours(self, first: int, rows: tuple[Record, ...], seen: Head | None) -> None:
        """UsageError unless these are rows from ``first`` on, and strangers'."""
        if first < 1 or not rows or [row.seq for row in rows] != [*range(first, rows[-1].seq + 1)]:
            raise UsageError(f"there is no record {first} in {self._records.where}")
        if first == 1:
            raise UsageError(
                f"record 1 is what {self._records.where} begins with, and is never left out:"
                " 'policy-engine join' says what this machine lacks of the keys that count"
            )
        for row in rows:
            if self._counts(row):
                raise UsageError(
                    f"record {row.seq} is signed by the key {row.key_id[:8]}, which counts: it is"
                    " no stranger's"
                )
        if seen is not None and seen.records >= first:
            raise UsageError(
                f"this machine has seen record {seen.records} of the ledger when it held, so that"
                f" record {first} was one of yours and has been changed: restore a backup"
            )
        # A key that is known has not signed them, or counts no more; of another nobody can tell.
        chained = [
            row for row in rows if row.key_id not in self._trust.by_id and row.hash == hash_of(row)
        ]
        if len(chained) > 1:
            one, other = chained[:2]
            raise UsageError(
                f"records {one.seq} and {other.seq} hold together as records do that a key has"
                f" signed ({str(one.key_id)[:8]}): they are no stray row, and are never left out."
                " 'policy-engine join' says what this machine lacks of the keys that count; if"
                " nobody knows that key, restore a backup"
            )

    def _counts(self, row: Record) -> bool:
        """Whether a key of ours has signed a row."""
        try:
            check_signature(row, self._trust, self._records.where, self._records.get)
        except LedgerBroken:
            return False
        return True


def _raw(signer: Signer) -> bytes:
    return signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def source_in(record: Record) -> Mapping[str, str]:
    """The names of a source that a record has; none where it has none."""
    return json.loads(record.payload).get("source") or {}


def _account_in(record: Record) -> str:
    """The account that a record charges or gives its source to."""
    return str(json.loads(record.payload)["to"]) if record.kind == "move" else record.account


def _belongs_elsewhere(charge: Charge, record: Record) -> BudgetExceeded:
    """Why a source cannot be charged to this account: it belongs to that of ``record``."""
    told, account, entry = json.loads(record.payload), _account_in(record), record.seq
    cannot = f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}:"
    if record.kind == "move":
        entry = told["of"]
        gave = f"record {record.seq} gave"
        if not entry:
            return BudgetExceeded(
                f"{cannot} {gave} its source to account {account!r}. Write 'account: {account}' in"
                " the policy"
            )
        by = f"entry {entry}, and {gave} it to account {account!r}"
    else:
        by = f"entry {entry} ({told['policy_name']}), charged to account {account!r}"
    return BudgetExceeded(
        f"{cannot} its source is that of {by}, and people who pay from two accounts lose the sum of"
        f" both limits. Write 'account: {account}' in the policy; if the source is to belong to"
        f" {charge.account!r} from now on, run 'policy-engine ledger move {entry}"
        f" {shlex.quote(charge.account)} --by NAME --why TEXT'"
    )
