"""What is at hand about a release: read from files and the ledger, once, and never written.

This is the rim of the report: whatever is said of it is made by pure functions of this value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.attestation import Envelope, Unverified, open_envelope, unverified
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.keyring import Keyring
from policy_engine.attest.owners import is_signed
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.policy.scalars import counted
from policy_engine.report.approvals import (
    UNKNOWN,
    ApprovalLine,
    StageApprovals,
    counted_beside,
    judged_of,
    read_approvals,
)
from policy_engine.report.choice import ChosenFor, choice_among, choice_beside
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.attest.approvals import ReviewPolicy
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.ledger.account import Limit
    from policy_engine.ledger.entry import Entry
    from policy_engine.ledger.remaining import Remaining
    from policy_engine.policy.resolve import Policy
    from policy_engine.releasing.ledger_state import LedgerState

Audience = Literal["public", "internal"]
Fault = Literal["certificate", "release", "policy", "approvals"]
"""What does not hold: the certificate, its release, its policy, or who has approved it."""


@frozen
class ReleaseRows:
    """The rows of a release, every value a text; ``size`` is how many there are."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str | None, ...], ...]


@frozen
class Named:
    """What somebody named: files, the keys that are trusted, and the keyring that says whose.

    ``books`` is what the project's ledger says, None where no project is near. What lies in
    ``folder`` is named from there on. ``review_policy`` is one that the reader trusts.
    ``policies`` are the project's files, among which the one that a private choice wrote is looked
    for where no ``policy`` was named.
    """

    certificate: Path
    text: str
    keys: TrustedKeys
    trusted: tuple[str, ...] = ()
    release: Path | None = None
    policy: Policy | None = None
    previous: tuple[Path, str] | None = None
    books: LedgerState | None = None
    keyring: Path | None = None
    audience: Audience = "public"
    folder: Path | None = None
    review_policy: ReviewPolicy | None = None
    policies: tuple[Path, ...] = ()


@frozen
class Amount:
    """An (ε, δ) in words."""

    epsilon: str
    delta: str


@frozen
class AccountPart(Amount):
    """What certificates add up to, and the ``share`` of the limit that they took."""

    share: float | None


@frozen
class OtherRelease:
    """A release that the same account has paid for."""

    policy: str
    date: str
    amount: Amount


@frozen
class BudgetLeft:
    """What an account would still pay for, in words and in numbers."""

    words: str
    alike: int | None
    epsilon: Decimal | None
    delta: Decimal | None

    @classmethod
    def of(cls, left: Remaining) -> BudgetLeft:
        """That of an account with a limit."""
        return cls(left.words(), left.alike, left.epsilon, left.delta)


@frozen
class PaidAccount:
    """The account that was charged for a certificate.

    Sums of ε and δ before the release, of it and since, each with the share of the limit that it
    took by the account's own rule; what was ``spent`` by that rule of the limit, ``alone`` by the
    release itself, and what is ``left``: ε at the limit's δ. ``units`` are those of its charges;
    ``limit_by`` and the rest are of the entry that set the limit last, else None. Where the limit
    is of windows, all of it is of one, ``window``, and ``promises`` say what that amounts to;
    ``elsewhere`` is how many charges count in none but others.
    """

    account: str
    charges: int
    units: tuple[str, ...]
    before: AccountPart
    this: AccountPart
    since: AccountPart
    limit: Amount | None
    spent: Amount | None
    alone: Amount | None
    left: BudgetLeft | None
    limit_by: str | None
    limit_why: str | None
    limit_at: str | None
    limit_where: str | None
    others: tuple[OtherRelease, ...]
    window: str | None = None
    promises: tuple[str, ...] = ()
    elsewhere: int = 0

    @property
    def paid_for(self) -> str:
        """How many other releases it has paid for, in every window."""
        beside = counted(self.charges - 1, "other release")
        if self.window is None:
            return beside
        return f"{beside} in {self.window}, and for {self.elsewhere} in other windows"


@frozen
class Evidence:
    """A certificate with what is known of it, as it was ``named``.

    ``certificate`` is None where it cannot be read; ``verified`` is None where it does not hold, or
    what was named beside it is not its own, for the ``reasons``; ``fault`` says which. ``rows`` are
    those of a release that was looked at and is its own.
    ``choice`` is the private one whose certificate lies beside the policy.
    ``previous`` is a former certificate: its file, what it states, and why it does not hold, if so.
    """

    named: Named
    sha256: str
    subject: str
    subject_sha256: str
    key_id: str
    certificate: Certificate | None
    verified: Verified | None
    reasons: tuple[str, ...]
    fault: Fault | None = None
    rows: ReleaseRows | None = None
    policy: Policy | None = None
    previous: tuple[str, Certificate, str] | None = None
    budget: PaidAccount | None = None
    approvals: tuple[ApprovalLine, ...] = ()
    required: tuple[str, ...] | None = None
    by_policy: tuple[str, ...] = ()
    note: str = ""
    choice: ChosenFor | None = None


def gather(named: Named) -> Evidence:
    """Everything that is at hand of a certificate.

    Raises:
        VerificationFailed: it is no certificate of a release, whoever signed it.
        FileError: a file cannot be read.
    """
    text, release = named.text, named.release
    stated, envelope = unverified(text), Envelope.from_json(text)
    certificate, verified, reasons = _certificate(text), None, tuple[str, ...]()
    fault: Fault | None = None
    try:
        verified = verify_release(text, named.keys, release)
    except VerificationFailed as error:
        reasons = error.reasons
        fault = "certificate" if release is None or not _holds(text, named.keys) else "release"
    policy = named.policy
    digest = None if certificate is None else certificate.terms.policy_digest
    if certificate is not None and policy is not None and digest != policy.digest:
        wrong = f"{policy.file} is not the certificate's policy: its digest is {policy.digest}"
        reasons, fault = (*reasons, wrong), fault or "policy"
    own = named.review_policy
    counted = () if own is None else counted_beside(text, named.certificate, own)
    if unmet := tuple(missing for each in counted for missing in each.faults):
        reasons, fault = (*reasons, *unmet), fault or "approvals"
    judged = None if named.books is None else judged_of(named.books, stated)
    looked_at = verified is not None and release is not None and not reasons
    return Evidence(
        named=named,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        subject=stated.subject_name,
        subject_sha256=stated.subject_sha256,
        key_id=envelope.key_id,
        certificate=certificate,
        verified=None if reasons else verified,
        reasons=reasons,
        fault=fault,
        rows=_rows(release) if looked_at and release is not None else None,
        policy=None if reasons else policy,
        previous=_previous(named),
        budget=None if named.books is None else budget_of(named.books, stated),
        approvals=read_approvals(named.certificate, named.keys, judged, own),
        required=None if judged is None else tuple(each.words() for each in judged),
        by_policy=() if own is None else tuple(_by_policy(own, counted)),
        note=_note(named.keyring, envelope.key_id) if verified else "",
        choice=None if reasons or certificate is None else _choice(named, certificate),
    )


def _choice(named: Named, certificate: Certificate) -> ChosenFor | None:
    """The private choice that wrote the policy, which is the certificate's."""
    if named.policy is None:
        return choice_among(named.policies, named.keys, named.books, certificate)
    return choice_beside(named.policy.file, named.keys, named.books, certificate)


def _holds(text: str, keys: TrustedKeys) -> bool:
    """Whether a certificate holds by itself."""
    try:
        verify_release(text, keys, None)
    except VerificationFailed:
        return False
    return True


def _by_policy(policy: ReviewPolicy, counted: tuple[StageApprovals, ...]) -> Iterator[str]:
    """Whose approvals a review policy asks for, and whether they are there; by it alone."""
    for each in counted:
        wanted = ", ".join(f"{n} of role {role}" for role, n in policy.needs[each.stage].items())
        met = "; ".join(each.faults) or each.words()
        serial = f"review policy {policy.serial}, {policy.digest[:15]}"
        yield f"for the {each.stage}: {wanted} ({serial}); {met}"
    yield f"not known here: {UNKNOWN}"


def _note(keyring: Path | None, key_id: str) -> str:
    """Whose a key is, as a keyring says that was named or is the project's."""
    ring = Keyring() if keyring is None else Keyring.at(keyring)
    # What its owners have not signed says of nobody whose key it is.
    entry = ring.get(key_id) if ring.seal is None or is_signed(ring) else None
    return "" if entry is None else entry.note


def _certificate(text: str) -> Certificate | None:
    """What a certificate states, whoever signed it; None where no version of ours knows it."""
    try:
        return certificate_in(unverified(text))
    except VerificationFailed:
        return None


def _rows(release: Path) -> ReleaseRows:
    """The rows of a file that was verified a moment ago."""
    from policy_engine.attest.parquet_file import read_csv_texts, read_parquet
    from policy_engine.attest.values import plain_values

    is_csv = release.suffix.lower() == ".csv"
    table: Any = read_csv_texts(release) if is_csv else read_parquet(release)
    columns = [[None if v is None else str(v) for v in plain_values(c)] for c in table.columns]
    return ReleaseRows(tuple(table.column_names), tuple(zip(*columns, strict=True)))


def _previous(named: Named) -> tuple[str, Certificate, str] | None:
    if named.previous is None:
        return None
    path, text = named.previous
    certificate, fault = _certificate(text), ""
    if certificate is None:
        raise VerificationFailed((f"{path} is no certificate that this version can read",))
    try:
        open_envelope(text, named.keys)
    except VerificationFailed as error:
        fault = str(error)
    return str(path), certificate, fault


def budget_of(state: LedgerState, stated: Unverified) -> PaidAccount | None:
    """The account that was charged for a certificate; None where no entry is of it."""
    # Whoever has no ledger needs none of it.
    from policy_engine.ledger.promises import promises
    from policy_engine.ledger.remaining import shown_windows

    entry = state.charged_for(predicate_digest(stated.predicate), stated.subject_sha256)
    if entry is None:
        return None
    own = state.of(entry.account)
    [account] = own.accounts
    limit = account.limit
    windows = account.windows_of(entry)
    paid = [each for each in own.entries if each.state != "cancelled"]
    charged = [each for each in paid if {*account.windows_of(each)} & {*windows}]
    before = [each for each in charged if each.id < entry.id]
    since = [each for each in charged if each.id > entry.id]
    this = [entry] if entry in charged else []
    left = account.remaining(entry.asked, windows=windows)
    to_before, to_this, to_now = (
        account.epsilon_of(each) for each in (before, [*before, *this], charged)
    )

    def part(entries: list[Entry], epsilon: Decimal) -> AccountPart:
        amount = _sum(entries)
        return AccountPart(amount.epsilon, amount.delta, _share(epsilon, limit))

    # Where the project file alone states the limit that counts, no entry set it.
    last = own.changes[-1] if own.changes and own.changes[-1].after == limit else None
    return PaidAccount(
        account=entry.account,
        charges=len(charged),
        units=tuple(sorted({each.unit for each in charged})),
        before=part(before, to_before - account.epsilon_of([])),
        this=part(this, to_this - to_before),
        since=part(since, to_now - to_this),
        limit=None if limit is None else _amount(limit.epsilon, limit.delta),
        spent=None if limit is None else _amount(to_now, limit.delta),
        alone=None if limit is None else _amount(account.epsilon_of(this), limit.delta),
        left=None if left is None else BudgetLeft.of(left),
        limit_by=last.by if last else None,
        limit_why=last.why if last else None,
        limit_at=f"{last.at:%Y-%m-%d}" if last else None,
        limit_where=limit.where or None if limit else None,
        others=tuple(
            OtherRelease(each.policy_name, f"{each.reserved_at:%Y-%m-%d}", _sum([each]))
            for each in charged
            if each.id != entry.id
        ),
        window=shown_windows(windows) or None,
        promises=promises(account),
        elsewhere=len(paid) - len(charged),
    )


def _sum(entries: Iterable[Entry]) -> Amount:
    """What certificates add up to; ε is unbounded where one of them has none."""
    listed = list(entries)
    epsilon = sum((each.epsilon for each in listed), Decimal(0))
    delta = sum((each.delta for each in listed), Decimal(0))
    if delta >= 1:
        return Amount("unbounded", in_text(min(delta, Decimal(1))))
    return _amount(epsilon, delta)


def _amount(epsilon: Decimal, delta: Decimal) -> Amount:
    return Amount(in_text(epsilon), in_text(delta))


def _share(epsilon: Decimal, limit: Limit | None) -> float | None:
    """Of the limit's ε; None without a limit."""
    if limit is None or not limit.epsilon:
        return None
    return max(0.0, float(epsilon / limit.epsilon))
