"""The ledger: an account is charged before a release runs, and stays charged.

    entry = ledger.reserve(charge, limit)     # durable when it returns
    ledger.start(entry.id)                    # from here on it may have been seen
    digest = ...                              # the release
    ledger.commit(entry.id, release_name=..., release_digest=digest)

Nothing is ever deleted: what raises, is interrupted or killed leaves its entry open, which
costs the same as ``committed``. Only an entry that was never started can be cancelled: whoever
writes first, ``start`` or ``cancel``, wins, so a cancelled release can never run.

What is asked of it is asked of its ``Books``, which were read at one moment. Each write begins with
what others wrote meanwhile, and decides by that; ``deciding`` has the writes of what people decide.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from policy_engine.attest.approvals import Brought
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import LedgerError, NotApproved
from policy_engine.ledger import chain
from policy_engine.ledger.account import (
    Account,
    Limit,
    affords,
    check_not_raised,
    check_windows,
    check_windows_told,
    effective,
    limit_to_json,
    refusal,
)
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.books import Books
from policy_engine.ledger.chained import Budget, Chain
from policy_engine.ledger.entry import (
    MOST_ATTEMPTS,
    Charge,
    Entry,
    entries_of,
    follows,
    reserve_payload,
    settled,
)
from policy_engine.ledger.plan_records import Solve, solved, with_plans
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.records import Records, open_records
from policy_engine.ledger.reviews import limit_matter
from policy_engine.ledger.states import check_said, check_states
from policy_engine.ledger.windows import FOR_EVER
from policy_engine.ledger.witness import Witness

PROJECT_FILE = "the project file"


class _Refused(Exception):
    """An account, its argument, cannot pay; leaves a write with nothing recorded."""


@dataclass
class Page:
    """One write to a ledger: its ``books`` as they are then, and what is added behind ``head``.

    All of it is judged, and recorded, at the one moment of the books: what counts when it is judged
    must count at the time that a record says. ``disowned`` are the rows that none of ours wrote.
    """

    books: Books
    head: chain.Head
    disowned: Mapping[str, str]
    signer: Signer
    append: Callable[[chain.Record], None]

    def add(
        self,
        kind: str,
        payload: Mapping[str, object],
        *,
        account: Account | None = None,
        asked: Asked | None = None,
        entry: int = 0,
        request: str = "",
        **told: str,
    ) -> chain.Record:
        """Add a record that says a payload, what else is ``told``, and when.

        ``asked`` is what the payload says that the account is charged: its state says it no more.
        """
        said: dict[str, object] = {**payload, **told, "at": self.books.at.isoformat()}
        places, name = self.books.chain.places, ""
        if account is not None:
            name, said["state"] = account.name, account.to_json(asked)
            places = {**places, name: self.head.records + 1}
        # Nobody who sees a head can try what was recorded, and when, until it fits.
        said |= {"accounts": places, "salt": secrets.token_hex(16), chain.ORDERED: True}
        if self.disowned:
            said[chain.DISOWNED] = self.disowned
        draft = chain.Draft(kind, said, name, entry, request)
        record = chain.extend(self.head, draft, self.signer)
        self.append(record)
        self.head = chain.head((record,))
        self.books = replace(self.books, chain=self.books.chain.adding(record))
        return record


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
    ...     with Ledger.open(Path(folder) / "ledger.db", chain.Trust.of(signer)) as ledger:
    ...         entry = ledger.start(ledger.reserve(charge, limit).id)
    ...         ledger.commit(entry.id, release_name="adult.parquet", release_digest="c").state
    ...         ledger.read().budget.balance("census").charges
    'committed'
    1
    """

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
        self._chain = Chain(records.where, trust)
        self._now = now
        self._witness = witness
        self._begun = begun

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
        seen = None if witness is None else witness.seen()
        # What was seen here is not made anew: an empty ledger would have forgotten it.
        records = open_records(place, create=create and seen is None, wait=wait)
        ledger = cls(records, trust, witness=witness, begun=begun)
        try:
            if witness is not None:
                witness.check(seen, ledger.read().chain.records, records.where)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def __enter__(self) -> Self:
        """The ledger itself, to be closed on leaving."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self._records.close()

    @property
    def where(self) -> str:
        """The place of its records, as messages name it."""
        return self._records.where

    # What is read

    def read(self) -> Books:
        """What it says now; LedgerBroken where its records are no chain."""
        last = self._chain.records[-1:]
        rows = self._records.since(last[0].seq) if last else self._records.read()
        self._chain = self._chain.then(rows)
        return self._books(self._chain)

    @property
    def books(self) -> Books:
        """What it said when it was last read, or written here."""
        return self._books(self._chain)

    def read_before(self, first: int) -> Books:
        """What it says without the rows from ``first`` on, whatever these are."""
        rows = self._records.read()[: max(first - 1, 0)]
        return self._books(Chain(self.where, self._chain.trust).then(rows))

    def rows(self) -> tuple[chain.Record, ...]:
        """Every row as it is stored; nothing is verified."""
        return self._records.read()

    def begins(self) -> str | None:
        """The hash of the first record, as it follows from what is in it; None without one."""
        first = self._chain.records[0] if self._chain.records else self._records.get(1)
        return None if first is None else chain.hash_of(first)

    @property
    def trust(self) -> chain.Trust:
        """Whose records count, as far as it is known by now."""
        return self._chain.trust

    def _books(self, found: Chain) -> Books:
        """A chain as of now; or of when the last record was written, by a clock before this one."""
        past = chain.time_of(found.records[-1]) if found.records else None
        return Books(found, self._now() if past is None else max(self._now(), past))

    def verify(self) -> chain.Head:
        """Where the chain ends, once every record, signature and running state is checked.

        Raises LedgerError naming the first bad record. What is wrong of a single record that is
        signed breaks no ledger: see ``Approvals.faults``. A tail that was cut off leaves an
        unbroken chain, and is found by the witness, or by comparing the head with one kept
        elsewhere.
        """
        where, seen = self.where, self._witness.seen() if self._witness else None
        found = Chain(where, self.trust).then(self._records.read())
        chain.check_disowned(found.own, where)
        for record in found.records:
            if not isinstance(record, chain.Foreign):
                found.trusted(record)
            elif chain.counts(record.row, found.trust, where, found.get):
                key = record.row.key_id[:8]
                fault = f"it was disowned, and the key {key} that signed it counts"
                raise chain.broken(where, record.seq, fault)
        if self._witness is not None:
            self._witness.check(seen, found.records, where)
        check_states(found.own, where)
        self._records.check()
        return found.head

    # How it is written

    @contextmanager
    def at_rest(self) -> Iterator[LedgerEnd | None]:
        """Where the ledger ends, while the body runs and nobody can write; None without records."""
        with self._records.writing():
            yield self.read().chain.end

    @contextmanager
    def writing(self) -> Iterator[Page]:
        """Exclude other writers; on leaving, what was added is durable, and remembered.

        What others wrote meanwhile is on the page. Raises LedgerError where the ledger is not to
        be trusted, or the key that signs was revoked since it was opened.
        """
        with self._records.writing():
            self._renew_trust()
            seen = None if self._witness is None else self._witness.seen()
            books = self.read()
            if self._witness is not None:
                self._witness.check(seen, books.chain.records, self.where)
            last = books.chain.last
            disowned = chain.disowned_in(last)
            page = self._page(books, books.chain.head, disowned)
            yield page
        self._written(page, is_first=last is None)

    @contextmanager
    def writing_behind(
        self,
        first: int,
        left_out: Callable[[tuple[chain.Record, ...], chain.Trust], Mapping[str, str]],
    ) -> Iterator[tuple[Page, Mapping[str, str]]]:
        """The same, by the books before the row ``first``, and behind all rows.

        ``left_out`` tells of the rows, before anything is read of them, which ones what is written
        disowns; it raises for those that may not be.
        """
        with self._records.writing():
            self._renew_trust()
            rows = self._records.read()
            told = left_out(rows, self.trust)
            books = self._books(Chain(self.where, self.trust).then(rows[: first - 1]))
            disowned = {**chain.disowned_in(books.chain.last), **told}
            page = self._page(books, chain.head(rows), disowned)
            yield page, told
        page.books = replace(books, chain=Chain(self.where, self.trust))  # it is read anew
        self._written(page, is_first=False)

    def _page(self, books: Books, head: chain.Head, disowned: Mapping[str, str]) -> Page:
        return Page(books, head, disowned, self.trust.signer, self._records.append)

    def _written(self, page: Page, *, is_first: bool) -> None:
        self._chain = page.books.chain
        if self._witness is not None:
            self._witness.remember(page.head)
        if is_first and (begins := self.begins()) is not None:
            self._begun(begins)

    def _renew_trust(self) -> None:
        """LedgerError where the key that signs was revoked since the ledger was opened."""
        if self.trust.renewed is None:
            return
        now = self.trust.renewed()
        self._chain = self._chain.under(now)
        if now.sign_with is not None and now.sign_with.key_id in now.revoked:
            raise LedgerError(
                f"{self.where}: the key {now.sign_with.key_id[:8]} was revoked meanwhile,"
                " and nothing more is recorded under it"
            )

    def begin(self, *, anew: bool) -> str:
        """Record that an empty ledger begins, ``anew`` where another is lost; its first hash."""
        with self.writing() as page:
            if page.head.records == 0:
                page.add("begin", {}, anew="yes" if anew else "no")
        begins = self.begins()
        assert begins is not None
        return begins

    # What is charged

    def reserve(
        self,
        charge: Charge,
        limit: Limit | None = None,
        *,
        after: int | None = None,
        is_out: bool = False,
        solve: Solve | None = None,
        brought: Brought | None = None,
    ) -> Entry:
        """Charge the account now, whether or not the release is ever published.

        Price, comparison and record are one transaction: of two processes after the last of
        a budget one gets it. When this returns the charge is durable. ``limit`` is what the project
        says; a limit that the ledger holds already is never raised by it. A charge whose ``run``
        was charged before, in the same place, is not charged again: the entry is that one. What of
        a calendar's edition was drawn, by whatever text, is not charged by another one.

        ``after`` asks for a new draw all the same: after the entry of that number, 0 for none, and
        after no other. Of two who have seen that one as the last, one is charged, and the other
        gets its entry.

        Where the limit has a plan, the one that ``solve`` finds is recorded of a window before
        anything else is charged to it; ``brought`` are the approvals of it, which its account may
        require of one that is another than before. What ``is_out`` already, made by somebody else's
        run, is charged whatever the limit says, and whatever was charged before.

        Raises NotApproved where the account requires approvals that the charge has not ``brought``,
        BudgetExceeded when the account cannot pay, the source belongs to another one, or
        ``limit`` is above the recorded one (nothing is then charged), and LedgerError when the
        ledger fails or is not to be trusted.
        """
        plan = None
        if limit is not None and limit.plan and not is_out:
            # To solve one takes a second or two, so nobody waits for the lock meanwhile.
            plan = solved(self.read().budget.account(charge.account), charge, limit, solve)
        try:
            with self.writing() as page:
                budget = page.books.budget
                paid = None if is_out else _paid(budget, charge, after, self.where)
                if paid is not None:
                    return paid
                if not is_out:
                    page.books.sources.check(charge)
                known = budget.account(charge.account)
                account = _limited(page, known, limit, charge.windows[0])
                check_windows_told(account, charge)
                if not is_out and account.limit is not None and account.limit.of is not None:
                    page.books.sources.check_tells_all(charge, account.limit.of)
                if not is_out:
                    account = _planned(page, known, account, charge, plan, brought=brought)
                if not is_out and not affords(account, charge):
                    raise _Refused(account)
                review = page.books.approvals.reviewed(charge, is_out=is_out)
                payload = reserve_payload(charge, review, planned=account.is_planned(charge))
                record = page.add(
                    "reserve",
                    payload,
                    account=account.plus(charge),
                    asked=charge.asked,
                    request=charge.request,
                )
        except _Refused as refused:
            # Why takes a while to find out, so nobody waits for the lock meanwhile.
            raise refusal(refused.args[0], charge) from None
        [entry] = entries_of((record,), self.where)
        return entry

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
        with self.writing() as page:
            entry = self._following("start", page, entry_id)
            again = {} if entry.state == "reserved" else {"sealed": dict(sealed or {})}
            if not entry.can_draw:
                raise LedgerError(
                    f"{self.where}: entry {entry_id} was drawn, or had its"
                    f" {MOST_ATTEMPTS} attempts, and is not drawn again; release again"
                )
            entry = _approved(page, entry, brought)
            return settled(entry, page.add("start", again, entry=entry_id))

    def lapse(self, entry_id: int, why: str) -> Entry:
        """Record that an attempt came to nothing, by a cause that no row can bring about.

        It does not count; its secret is not used again. LedgerError where something was drawn.
        """
        with self.writing() as page:
            entry = self._following("lapse", page, entry_id)
            if entry.only_digest is not None or entry.attempts == 0:
                raise LedgerError(
                    f"{self.where}: entry {entry_id} has no attempt under way that could"
                    " have come to nothing"
                )
            return settled(entry, page.add("lapse", {}, entry=entry_id, why=why))

    def draw(self, entry_id: int, release_digest: str, brought: Brought | None = None) -> bool:
        """Record the digest of an entry's release before anybody sees it; False for another one.

        Whatever is published for the entry after a crash, or by a run beside this one, has it too.
        Raises NotApproved, once the digest is recorded, as ``approve``.
        """
        with self.writing() as page:
            entry = page.books.budget.entry(entry_id)
            if entry.only_digest is None:
                self._check_follows("draw", entry)
                page.add("draw", {}, entry=entry_id, release_digest=release_digest)
        if not entry.may_be(release_digest):
            return False
        if page.books.approvals.required(entry.account) is not None:
            with self.writing() as page:
                _approved(page, page.books.budget.entry(entry_id), brought, release_digest)
        return True

    def approve(
        self, entry_id: int, brought: Brought | None = None, release_digest: str = ""
    ) -> None:
        """Return if an entry has the approvals that its account requires now, and record new ones.

        Of its claim; with a ``release_digest``, of what came out. What is recorded already and
        still counts is enough. Raises NotApproved.
        """
        books = self.read()
        if books.approvals.required(books.budget.entry(entry_id).account) is not None:
            with self.writing() as page:
                _approved(page, page.books.budget.entry(entry_id), brought, release_digest)

    def commit(self, entry_id: int, *, release_name: str, release_digest: str) -> Entry:
        """Record that an entry's release is published; on LedgerError it is still charged."""
        found = {"release_name": release_name, "release_digest": release_digest}
        with self.writing() as page:
            entry = page.books.budget.entry(entry_id)
            if entry.state == "committed" and entry.release_digest == release_digest:
                return entry  # by a run of the same release beside this one
            self._check_follows("commit", entry)
            if entry.is_out and page.books.approvals.holds_back(entry.account):
                raise NotApproved(
                    f"{self.where}: entry {entry_id} is of what was made before anybody"
                    " had approved it: it stays charged, and no certificate speaks of it"
                )
            if not entry.may_be(release_digest):
                raise LedgerError(
                    f"{self.where}: entry {entry_id} was drawn with other bytes than what"
                    " stands now; it stays charged"
                )
            return settled(entry, page.add("commit", found, entry=entry_id))

    def keep(self, entry_id: int, why: str) -> Entry:
        """Settle a started entry as spent: nobody knows what was seen of it."""
        with self.writing() as page:
            entry = self._following("keep", page, entry_id)
            return settled(entry, page.add("keep", {}, entry=entry_id, why=why))

    def cancel(self, entry_id: int, why: str) -> Entry:
        """Give back what an entry was charged that was never started; LedgerError where it was."""
        with self.writing() as page:
            entry = self._following("cancel", page, entry_id)
            account = page.books.budget.account(entry.account).minus(
                entry.charged, planned=entry.planned
            )
            page.add("cancel", {}, entry=entry_id, account=account, why=why)
        return replace(entry, state="cancelled")

    def _following(self, kind: str, page: Page, entry_id: int) -> Entry:
        """An entry as it is now, of which a record of this kind can follow; else LedgerError."""
        entry = page.books.budget.entry(entry_id)
        self._check_follows(kind, entry)
        return entry

    def _check_follows(self, kind: str, entry: Entry) -> None:
        if not follows(kind, entry.state):
            raise LedgerError(
                f"{self.where}: entry {entry.id} is {entry.state}, so no {kind!r} can"
                " follow: another process or 'ledger reconcile' settled it; release again"
            )

    # Limits

    def set_limit(
        self,
        account: str,
        limit: Limit,
        *,
        who: str,
        why: str,
        brought: Brought | None = None,
        window: str = FOR_EVER,
    ) -> None:
        """Record the limit of an account, higher or lower, with who decided and why.

        Where windows are others than before, all that was charged counts in the ``window`` of the
        day. Raises UsageError where either is not said, or no window can be told, NotApproved where
        the account has a review policy, and its people have not approved it.
        """
        check_said(account, who, why, "a limit is changed")
        with self.writing() as page:
            approvals = page.books.approvals
            check_windows(page.books.budget.account(account), limit)
            told: dict[str, object] = {"who": who, "why": why}
            if (required := approvals.required(account)) is not None:
                review = approvals.met(
                    required,
                    limit_matter(account, limit),
                    brought or Brought(),
                    what=f"the limit {limit}",
                )
                told["review"] = review.to_json()
            _record_limit(page, page.books.budget.account(account), limit, told, window)

    def begin_limit(self, account: str, limit: Limit, window: str) -> None:
        """Record the first limit of an account, which the project file states, if it has none.

        What was charged before counts in the ``window``. Raises UsageError where none can be told.
        """
        with self.writing() as page:
            known = page.books.budget.account(account)
            if known.limit is None:
                first_limited(page, known, limit, window)


def _approved(page: Page, entry: Entry, brought: Brought | None, release_digest: str = "") -> Entry:
    """An entry with the approvals that it requires by what the last writer left, and has now."""
    review = page.books.approvals.missing(entry, brought, release_digest)
    if review is None:
        return entry
    return settled(entry, page.add("approve", review.to_json(), entry=entry.id))


def _paid(budget: Budget, charge: Charge, after: int | None, where: str) -> Entry | None:
    """The entry that has paid for a charge already; None where it is to be charged.

    Raises LedgerError where something else was charged in its place meanwhile.
    """
    last, of = budget.last_at(charge.request), charge.run.of
    if after is not None and after == (0 if last is None else last.id):
        return None
    paid = budget.last_at(charge.request, of) if of else None
    if paid is not None and paid.id > (after or 0):
        return paid
    if after is not None:
        raise LedgerError(
            f"{where}: something else was charged for {charge.policy_name} meanwhile: run the"
            " command again; nothing was charged"
        )
    _check_not_drawn(last, where)
    return None


def _check_not_drawn(last: Entry | None, where: str) -> None:
    """LedgerError where an edition of a calendar was drawn meanwhile, by another text."""
    if last is None or last.only_digest is None or not last.charged.in_calendar:
        return
    raise LedgerError(
        f"{where}: edition {last.run.edition} of {last.policy_name} was drawn meanwhile, by another"
        f" text of the policy (entry {last.id}), and an edition is drawn once; nothing was charged"
    )


def _limited(page: Page, account: Account, limit: Limit | None, window: str) -> Account:
    """The account under what the project says; a limit that is new or lower is recorded.

    What was charged before the first limit counts in the ``window`` of what is asked.
    """
    if account.limit == limit or limit is None:
        return effective(account, limit)
    check_not_raised(account, limit)
    if account.limit is None:
        return effective(first_limited(page, account, limit, window), limit)
    told = {"who": PROJECT_FILE, "why": "lowered there"}
    return effective(_record_limit(page, account, limit, told, window), limit)


def first_limited(page: Page, account: Account, limit: Limit, window: str) -> Account:
    """An account without a limit under its first one, which the project file states: recorded.

    What was charged before counts in the ``window``. Raises UsageError where no window can be told.
    """
    check_windows(account, limit)
    told = {"who": PROJECT_FILE, "why": "its first limit"}
    return _record_limit(page, account, limit, told, window)


def _record_limit(
    page: Page,
    account: Account,
    limit: Limit,
    told: Mapping[str, object],
    window: str = FOR_EVER,
) -> Account:
    limited = account.limited(limit, window)
    counts = {"window": window} if window else {}
    page.add("limit", {**told, **counts, **limit_to_json(limit)}, account=limited)
    return limited


def _planned(
    page: Page,
    known: Account,
    account: Account,
    charge: Charge,
    plan: Planned | None,
    *,
    brought: Brought | None,
) -> Account:
    """The account with the plans of the windows of a charge, recorded where they were not yet.

    ``known`` is the account before the limit that counts now. Raises NotApproved.
    """
    for window, found in with_plans(known, account, charge, plan):
        planned = found.window(window).planned
        assert planned is not None
        document = planned.document(account.name)
        review = page.books.approvals.planned(document, window, brought or Brought())
        told = {} if review is None else {"review": review.to_json()}
        page.add("plan", {**told, "window": window, "plan": document}, account=found)
        account = found
    return account
