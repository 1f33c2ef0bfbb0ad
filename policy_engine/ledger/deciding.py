"""What people decide in a ledger: review policies, whose a source is, and which rows are nobody's.

Each is one write, by somebody, for a reason. Approvals that an account requires are counted in it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest.approvals import Brought, Matter, ReviewPolicy
from policy_engine.attest.ring_text import Owners
from policy_engine.attest.signers import Signer
from policy_engine.errors import NotApproved, UsageError
from policy_engine.ledger import reviews
from policy_engine.ledger.account import Limit
from policy_engine.ledger.books import Books
from policy_engine.ledger.chain import Head, Record, Trust, canonical, counts, digest_of, hash_of
from policy_engine.ledger.chained import Chain
from policy_engine.ledger.entry import Fault
from policy_engine.ledger.sources import public_in, source_in
from policy_engine.ledger.states import NAMED_BY, check_said
from policy_engine.ledger.store import Ledger, first_limited
from policy_engine.ledger.windows import FOR_EVER

_LEAVES_OUT = b"policy-engine rows left out v1\n"
"""What stands before what owners of the keyring sign of rows that are left out."""


# Approvals


def require(
    ledger: Ledger,
    policy: ReviewPolicy,
    brought: Brought,
    *,
    who: str,
    why: str,
    limit: Limit | None = None,
    window: str = FOR_EVER,
) -> None:
    """Record the review policy by which its account is released from now on.

    An account without a limit gets the ``limit`` that the project file states, in the ``window`` of
    the day: else whoever edits that file before the first charge could set another one, although
    the people have approved requests that name this one.

    Raises UsageError where who or why is not said, NotApproved where it changes another one and
    the people of that one have not approved it, PolicyError where nobody could read it again.
    """
    check_said(policy.account, who, why, "a review policy is set")
    reviews.check_readable(policy)
    with ledger.writing() as page:
        approvals = page.books.approvals
        now, account = approvals.required(policy.account), page.books.budget.account(policy.account)
        met = approvals.check_next(policy, brought)
        if now is None and account.limit is None and limit is not None:
            account = first_limited(page, account, limit, window)
        told = {
            **({} if met is None else met.to_json()),
            "document": dict(policy.document),
            "previous": 0 if now is None else now.record,
            reviews.REQUIRES_KEY: policy.account,
        }
        account = replace(account, review=page.head.records + 1)
        page.add("require", told, account=account, who=who, why=why)


def revoke(ledger: Ledger, key: str, *, who: str, why: str) -> None:
    """Record that nothing counts that this key approves, from now on and in every account."""
    check_said("records", who, why, "a key is revoked")
    with ledger.writing() as page:
        page.add("revoke", {reviews.REVOKED_KEY: key}, who=who, why=why)


def settle(ledger: Ledger, number: int, *, who: str, why: str) -> tuple[Fault, ...]:
    """Record that somebody looked into what is wrong of a record or entry; what it was.

    It stays as it is, and is told from now on with who and why. Raises UsageError where nothing
    of that number waits for it, or who or why is not said.
    """
    check_said("records", who, why, "what is wrong of a record is settled")
    with ledger.writing() as page:
        faults = page.books.approvals.faults()
        found = [each for each in faults if number in (each.record, each.entry)]
        if not number or all(each.settled for each in found):
            raise UsageError(
                f"nothing is wrong of a record or entry {number} in {ledger.where}, or"
                " it was settled already; 'policy-engine ledger verify' names what is"
            )
        page.add("settle", {"of": number}, by=who, why=why)
    return tuple(each for each in found if not each.settled)


# Sources


def rekey(
    ledger: Ledger, key: str, named_by: str, handed: Mapping[str, str], *, who: str, why: str
) -> None:
    """Record which sealing key took over, which one names sources now, and that one, sealed."""
    check_said("records", who, why, "a sealing key is replaced")
    told = {"source": {NAMED_BY: named_by}, "for": key, "key": dict(handed)}
    with ledger.writing() as page:
        if not handed:
            page.books.check_keeps_sources()
        page.add("rekey", told, by=who, why=why)


def move(
    ledger: Ledger, entry_id: int, account: str, *, who: str, why: str, public: str = ""
) -> None:
    """Give the source of an entry to another account: later releases of it are charged there.

    What was charged stays where it was. ``public``: not its source, but what its policy joined by
    this name as public, and is people's. Raises UsageError where who or why is not said, or the
    entry names no source, or has joined nothing so.
    """
    check_said(account, who, why, "a source is given to another account")
    with ledger.writing() as page:
        books = page.books
        before, source = (
            books.budget.entry(entry_id).account,
            source_in(books.chain.known(entry_id)),
        )
        if not source:
            raise UsageError(
                f"entry {entry_id} is of a version that recorded no source: there is nothing to"
                " move, and any account may release it"
            )
        if public:
            joined = public_in(books.chain.known(entry_id))
            if public not in joined:
                known = ", ".join(sorted(joined)) or "nothing"
                raise UsageError(
                    f"entry {entry_id} joined nothing as public by {public!r}: it joined {known}"
                )
            before, source = "", {NAMED_BY: source[NAMED_BY], "place": joined[public]}
        for owner in {before, *books.sources.owners(source)} - {account, ""}:
            books.approvals.check_lets_go(owner, f"its source would be {account!r}'s")
        told = {"source": source, "of": entry_id, "from": before, "to": account}
        page.add("move", told, by=who, why=why)


def assign(ledger: Ledger, account: str, source: Mapping[str, str], *, who: str, why: str) -> None:
    """Give a source to an account that was not charged for it; UsageError if another has it."""
    check_said(account, who, why, "a source is given to an account")
    with ledger.writing() as page:
        owners = page.books.sources.owners(source)
        if owners - {account}:
            raise UsageError(
                f"the source belongs to account {min(owners - {account})!r} already; see"
                " 'policy-engine ledger move'"
            )
        if account not in owners:
            told = {"source": dict(source), "of": 0, "from": "", "to": account}
            page.add("move", told, by=who, why=why)


# Rows that are nobody's


def rows_from(ledger: Ledger, first: int, seen: Head | None = None) -> Mapping[str, str]:
    """The numbers and digests of the rows from ``first`` to the end, if they may be left out.

    They may where none is the project's: not the first record, nor one that this machine has
    ``seen`` in a ledger that held, nor one that a key of the keyring has signed, nor two that
    hold together under keys that are not in it: those are a chain, and somebody's. All before
    must be the project's.

    Raises UsageError where one is, LedgerError where what is before does not hold.
    """
    return _strangers(ledger.rows(), ledger.trust, ledger.where, first, seen)


def _strangers(
    rows: tuple[Record, ...], trust: Trust, where: str, first: int, seen: Head | None
) -> Mapping[str, str]:
    foreign = rows[max(first - 1, 0) :]
    _check_not_ours(rows, trust, where, first, seen)
    before = Chain(where, trust).then(rows[: first - 1])
    for record in before.own:
        before.trusted(record)
    return {str(row.seq): digest_of(row) for row in foreign}


def leaving_out(
    books: Books, rows: Mapping[str, str]
) -> Mapping[str, tuple[reviews.Required, Matter]]:
    """Whose people must approve that rows are left out, and what, by the books before them."""
    required = {name: books.approvals.required(name) for name in books.budget.names()}
    return {
        name: (found, reviews.rows_matter(name, rows))
        for name, found in required.items()
        if found is not None
    }


def disown(
    ledger: Ledger,
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

    def left_out(rows: tuple[Record, ...], trust: Trust) -> Mapping[str, str]:
        return _strangers(rows, trust, ledger.where, first, seen)

    with ledger.writing_behind(first, left_out) as (page, told):
        if owners is None:
            agreed = _by_people(page.books, told, brought)
        else:
            said = {"begins": ledger.begins(), "rows": dict(told), "by": who, "why": why}
            agreed = _by_owners(ledger.where, said, owners, signers)
        page.add("disown", agreed, by=who, why=why)
    return tuple(map(int, told))


def _by_people(
    books: Books, rows: Mapping[str, str], brought: Callable[[str], Brought]
) -> dict[str, object]:
    """What is recorded of the people of the accounts who leave out rows; else NotApproved."""
    found = leaving_out(books, rows).items()
    what = f"leaving out of the ledger: {', '.join(f'row {row}' for row in rows)}"
    met = {
        name: books.approvals.met(required, matter, brought(name), what=what).to_json()
        for name, (required, matter) in found
    }
    return {"approvals": met} if met else {}


def _by_owners(
    where: str, said: Mapping[str, object], owners: Owners, signers: Sequence[Signer]
) -> dict[str, object]:
    """What is recorded of the owners of the keyring who leave out rows; else NotApproved."""
    data = _LEAVES_OUT + canonical(said).encode()
    theirs = {each.key_id: each for each in signers if _raw(each) in owners.keys}
    if len(theirs) < owners.threshold:
        raise NotApproved(
            f"{where}: the keyring has owners, and {owners.threshold} of them"
            f" leave out rows, found {len(theirs)}: name the private key of each with --owner"
        )
    signed = {name: base64.b64encode(each.sign(data)).decode() for name, each in theirs.items()}
    return {"owners": signed}


def _check_not_ours(
    found: tuple[Record, ...], trust: Trust, where: str, first: int, seen: Head | None
) -> None:
    """UsageError unless the rows from ``first`` on are there, and strangers'."""
    rows = found[max(first - 1, 0) :]
    numbered = {row.seq: row for row in found}
    if first < 1 or not rows or [row.seq for row in rows] != [*range(first, rows[-1].seq + 1)]:
        raise UsageError(f"there is no record {first} in {where}")
    if first == 1:
        raise UsageError(
            f"record 1 is what {where} begins with, and is never left out:"
            " 'policy-engine join' says what this machine lacks of the keys that count"
        )
    for row in rows:
        if counts(row, trust, where, numbered.get):
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
    chained = [row for row in rows if row.key_id not in trust.by_id and row.hash == hash_of(row)]
    if len(chained) > 1:
        one, other = chained[:2]
        raise UsageError(
            f"records {one.seq} and {other.seq} hold together as records do that a key has"
            f" signed ({str(one.key_id)[:8]}): they are no stray row, and are never left out."
            " 'policy-engine join' says what this machine lacks of the keys that count; if"
            " nobody knows that key, restore a backup"
        )


def _raw(signer: Signer) -> bytes:
    return signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
