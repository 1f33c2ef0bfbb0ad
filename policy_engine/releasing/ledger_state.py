"""What a ledger and a project file say together, read at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime

from policy_engine.ledger.account import Account, Limit, effective
from policy_engine.ledger.books import Books
from policy_engine.ledger.chain import Head
from policy_engine.ledger.entry import Entry, Fault
from policy_engine.ledger.remaining import Remaining
from policy_engine.ledger.reviews import Required, Requirement, Revocation, decisions
from policy_engine.ledger.states import LimitChange, Move, Rekey, moves_of, rekeys_of
from policy_engine.ledger.windows import FOR_EVER
from policy_engine.policy.accounts import listed_as
from policy_engine.policy.project import Project
from policy_engine.releasing.books import begun_ledger, stated_limit, windows_now
from policy_engine.values import frozen


@frozen
class LedgerState:
    """Accounts under the limits that count, and all that was recorded of them.

    ``recorded`` are the ledger's own limits. ``required`` has, by the record that says so, what
    approvals an entry had to have; ``in_force`` what each account requires now. ``faults`` are what
    is wrong of single records. ``now`` has the window of each account at the moment. Without a
    ledger, ``has_begun`` false, there is no more than what the project file says of the accounts.
    """

    accounts: tuple[Account, ...] = ()
    entries: tuple[Entry, ...] = ()
    changes: tuple[LimitChange, ...] = ()
    moves: tuple[Move, ...] = ()
    rekeys: tuple[Rekey, ...] = ()
    reviews: tuple[Requirement | Revocation, ...] = ()
    faults: tuple[Fault, ...] = ()
    recorded: Mapping[str, Limit | None] = field(default_factory=dict)
    required: Mapping[int, Required] = field(default_factory=dict)
    in_force: Mapping[str, Required] = field(default_factory=dict)
    head: Head | None = None
    now: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_begun: bool = True

    def left(self, account: Account) -> Remaining | None:
        """What an account would still pay for in its window of now; None without a limit.

        None where there is no ledger, too: what another one was charged is not known here.
        """
        if not self.has_begun:
            return None
        windows = self.now.get(account.name, (FOR_EVER,))
        return account.remaining(account.last_kind(self.entries), windows=windows)

    def of(self, account: str) -> LedgerState:
        """The same of one account."""
        ids = {entry.id for entry in self.entries if entry.account == account}
        return replace(
            self,
            accounts=tuple(each for each in self.accounts if each.name == account),
            entries=tuple(entry for entry in self.entries if entry.account == account),
            changes=tuple(change for change in self.changes if change.account == account),
            moves=tuple(move for move in self.moves if account in (move.from_, move.to)),
            reviews=tuple(
                each for each in self.reviews if getattr(each, "account", account) == account
            ),
            faults=tuple(each for each in self.faults if each.entry in (0, *ids)),
        )

    def charged_for(self, certificate_digest: str, release_digest: str) -> Entry | None:
        """The last entry that was charged for a certificate of these facts, and of this release.

        Two draws of one second have the same facts.
        """
        of_it = (
            entry
            for entry in reversed(self.entries)
            if entry.certificate_digest == certificate_digest and entry.may_be(release_digest)
        )
        return next(of_it, None)


def ledger_state(project: Project) -> LedgerState:
    """Every account that has records or is named in the project file, under its limit.

    The ledger is read and not written; where none has begun, its charges are none. Raises
    LedgerError.
    """
    found, at = dict[str, Account](), datetime.now(UTC)
    state = LedgerState(has_begun=False)
    with begun_ledger(project) as opened:
        if opened is not None:
            books, at = opened.read(), opened.books.at
            found = {name: books.budget.account(name) for name in books.budget.names()}
            state = _read(books, found)
    # With the accounts of the project file too, each under the lower of its limits.
    listed = {listed_as(name, project) for name in found}
    named = {name: Account(name) for name in project.accounts if name not in listed} | found
    accounts = [effective(named[name], stated_limit(project, name)) for name in sorted(named)]
    recorded = {name: each.limit for name, each in found.items()}
    now = {each.name: windows_now(each, project, at) for each in accounts}
    return replace(state, accounts=tuple(accounts), recorded=recorded, now=now)


def _read(books: Books, accounts: Iterable[str]) -> LedgerState:
    chain, where = books.chain.records, books.chain.where
    entries = books.budget.entries()
    reviews: tuple[Requirement | Revocation, ...] = ()
    required, in_force = dict[int, Required](), dict[str, Required]()
    if any(record.kind in {"require", "revoke"} for record in chain):
        reviews = decisions(chain, where)
        named = {review.record for entry in entries for review in entry.reviews}
        required = {
            record.seq: books.approvals.required_then(record.seq)
            for record in chain
            if record.kind == "require" and record.seq in named
        }
        # What somebody has forged may name no record that requires: it is among the faults.
        entries = tuple(
            replace(entry, reviews=tuple(r for r in entry.reviews if r.record in required))
            for entry in entries
        )
        now = {name: books.approvals.required(name) for name in accounts}
        in_force = {name: found for name, found in now.items() if found is not None}
    return LedgerState(
        entries=entries,
        changes=books.budget.changes(),
        moves=moves_of(chain, where),
        rekeys=rekeys_of(chain, where),
        reviews=reviews,
        required=required,
        in_force=in_force,
        faults=books.approvals.faults(),
        head=books.chain.head,
    )
