"""ledger show, publish and verify: the accounts, the chain, and what a witness has seen of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.windows import ToldOf
from policy_engine.attest.validity import written
from policy_engine.cli.output import conclude, confirm, emit
from policy_engine.cli.reading import own_project
from policy_engine.cli.results import Left
from policy_engine.errors import LedgerBroken, NoLedger, NothingChecked, UsageError
from policy_engine.ledger import outside
from policy_engine.ledger.account import Balance, Limit, WindowBalance, balance_of, brief
from policy_engine.ledger.chain import GENESIS, Head, Record
from policy_engine.ledger.entry import Decision, Entry, Fault, StageReview
from policy_engine.ledger.promises import promises, totals
from policy_engine.ledger.remaining import Remaining, shown_windows
from policy_engine.ledger.reviews import Requirement, Revocation, approvers
from policy_engine.ledger.states import Move, Rekey, disownings_of
from policy_engine.ledger.witness import Witness
from policy_engine.policy.laws import suggestion
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted
from policy_engine.releasing.beginning import (
    certificates_in,
    certificates_of,
    check_clean,
    forgotten,
    forgotten_text,
)
from policy_engine.releasing.books import has_ledger, open_ledger, trust_of, trusted_keys
from policy_engine.releasing.ledger_state import LedgerState, ledger_state
from policy_engine.values import frozen

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


def show(
    account: Annotated[str | None, Argument(help="The account to show. Default: all.")] = None,
) -> None:
    """Show each account: what it can still pay for, every change of its limit, and every entry.

    If the ledger and the project file have different limits, the output shows the lower limit,
    because the lower limit counts.

    If a record has a fault that nobody has settled, the exit code is 1. It is also 1 if
    certificates prove charges that the ledger does not contain. In this second case, no release is
    made until the ledger contains these charges.

    Example: policy-engine ledger show census
    """
    project = own_project()
    found = ledger_state(project)
    entries = found.entries
    if account is not None:
        names = [each.name for each in found.accounts]
        found = found.of(account)
        if not found.accounts:
            remedy = suggestion(account, names) if names else "there is no account yet"
            raise UsageError(f"no account {account!r} in {project.ledger_name}; {remedy}")
    # To price an account takes time, and to try what is left: each is done once.
    balances = [balance_of(each) for each in found.accounts]
    left = {each.name: found.left(each) for each in found.accounts}
    said = LedgerSaid(
        ledger=project.ledger_name,
        accounts=tuple(_account(each, found, left[each.account]) for each in balances),
        limits=tuple(
            LimitSaid(
                each.record,
                each.account,
                each.at,
                each.by,
                each.why,
                TermsSaid.of_limit(each.before),
                TermsSaid.of_limit(each.after),
            )
            for each in found.changes
        ),
        moves=found.moves,
        rekeys=found.rekeys,
        reviews=found.reviews,
        entries=tuple(_entry(each, found) for each in found.entries),
        faults=found.faults,
        not_charged=forgotten(certificates_of(project), entries, trusted_keys(project)),
    )
    lines = [*_lines(project, balances, left, found)]
    if said.not_charged:
        lines.append(forgotten_text(said.not_charged))
    emit(said, lines)
    if said.not_charged or any(not each.settled for each in found.faults):
        raise Exit(1)


@frozen
class TermsSaid(EpsilonDelta):
    """A limit; of one of windows how long they are, and the (ε, δ) of all of them together."""

    each: str | None = None
    of: str | None = None
    ever: EpsilonDelta | None = None

    @classmethod
    def of_limit(cls, limit: Limit | None) -> TermsSaid | None:
        """That of a limit; None without one."""
        if limit is None:
            return None
        each = None if limit.each is None else limit.each.value
        ever = None if limit.ever is None else EpsilonDelta(*limit.ever)
        return cls(limit.epsilon, limit.delta, each, limit.of, ever)


@frozen
class LimitSaid:
    """A change of a limit, by whom and why."""

    record: int
    account: str
    at: datetime
    by: str
    why: str
    from_: TermsSaid | None
    to: TermsSaid | None


@frozen
class SlotsSaid:
    """How many editions of a policy a window plans, and how many of them are drawn."""

    policy: str
    editions: int
    drawn: int


@frozen
class WindowSaid:
    """A window: the sum of what counts in it, and of what is not planned the limit and the price.

    ``rest`` is that limit: all of the window's where it has no plan.
    """

    window: str
    entries: int
    epsilon_basic: Decimal
    delta_basic: Decimal
    rest: EpsilonDelta
    rest_epsilon_spent: Decimal
    rest_delta_spent: Decimal
    planned: tuple[SlotsSaid, ...]


@frozen
class AccountSaid:
    """An account; of one with releases without (ε, δ) no (ε, δ) is said to be spent.

    Nor of one with windows, each of which says so for itself. Where there is no ledger, nothing is
    known but the limit.
    """

    account: str
    neighbours: str | None
    units: list[str]
    entries: int
    reserved: int
    epsilon_limit: Decimal | None
    delta_limit: Decimal | None
    epsilon_spent: Decimal | None
    delta_spent: Decimal | None
    epsilon_basic: Decimal | None
    delta_basic: Decimal | None
    left: Left | None
    limit_each: str | None = None
    limit_of: str | None = None
    limit_ever: EpsilonDelta | None = None
    windows: tuple[WindowSaid, ...] | None = None
    totals: tuple[ToldOf, ...] | None = None
    """By the limits of windows; None of a limit for ever, which is the total."""
    without_epsilon_delta: int | None = None


@frozen
class ApproverSaid:
    """Who approved, and as what."""

    by: str
    role: str


@frozen
class ApprovalsSaid:
    """What an entry was required to have, who approved it, and digests of what they signed."""

    stage: str
    review_policy: str
    needs: Mapping[str, int]
    without: bool
    people: tuple[ApproverSaid, ...]
    statements: tuple[str, ...]


@frozen
class EntrySaid:
    """A charge; of a release without (ε, δ) both are None."""

    entry: int
    account: str
    policy: str
    state: str
    epsilon: Decimal | None
    delta: Decimal | None
    unit: str
    reserved_at: datetime
    release: str | None
    approvals: tuple[ApprovalsSaid, ...]
    edition: str | None = None
    windows: tuple[str, ...] | None = None
    """Those of its account in which it counts; None where its limit is for ever."""
    planned: bool | None = None
    """Whether it took a slot of the plan of its window."""


@frozen(kw_only=True)
class LedgerSaid:
    """The accounts of a ledger, every decision, every entry, and what is wrong of any."""

    ledger: str
    accounts: tuple[AccountSaid, ...]
    limits: tuple[LimitSaid, ...]
    moves: tuple[Move, ...]
    rekeys: tuple[Rekey, ...]
    reviews: tuple[Requirement | Revocation, ...]
    entries: tuple[EntrySaid, ...]
    faults: tuple[Fault, ...]
    not_charged: tuple[Path, ...]
    """Certificates of releases that this ledger has not charged."""


def fault_line(fault: Fault) -> str:
    """What is wrong of a record, and who has settled it, or how that is done."""
    if fault.settled:
        return f"{fault.text}; settled by {fault.settled.by}: {fault.settled.why}"
    return (
        f"{fault.text}, though a key that counts has signed it. Find out who wrote it, then run"
        f" 'policy-engine ledger settle {fault.record} --by NAME --why TEXT'"
    )


def units_of(account: str, entries: tuple[Entry, ...]) -> list[str]:
    """Of whom the (ε, δ) of an account's entries are."""
    return sorted({entry.unit for entry in entries if entry.account == account})


def _open(account: str, entries: tuple[Entry, ...]) -> int:
    return sum(entry.is_open and entry.account == account for entry in entries)


def _account(balance: Balance, found: LedgerState, left: Remaining | None) -> AccountSaid:
    limit, price = balance.limit, balance.price
    is_bounded = found.has_begun and not balance.unbounded
    entries, terms = found.entries, TermsSaid.of_limit(limit)
    promised = [each.promised for each in balance.windows]
    return AccountSaid(
        account=balance.account,
        neighbours=balance.neighbours,
        units=units_of(balance.account, entries),
        entries=balance.charges,
        reserved=_open(balance.account, entries),
        epsilon_limit=None if limit is None else limit.epsilon,
        delta_limit=None if limit is None else limit.delta,
        epsilon_spent=balance.spent_epsilon if is_bounded and not balance.windows else None,
        delta_spent=balance.spent_delta if is_bounded and not balance.windows else None,
        epsilon_basic=price.basic_epsilon if is_bounded else None,
        delta_basic=price.basic_delta if is_bounded else None,
        left=Left.of(left),
        limit_each=None if terms is None else terms.each,
        limit_of=None if terms is None else terms.of,
        limit_ever=None if terms is None else terms.ever,
        windows=tuple(map(_window, balance.windows)) or None,
        totals=None
        if limit is None or limit.each is None
        else totals(limit, promised, balance.ever),
        without_epsilon_delta=balance.unbounded or None,
    )


def _window(balance: WindowBalance) -> WindowSaid:
    price = balance.price
    return WindowSaid(
        window=balance.name,
        entries=balance.charges,
        epsilon_basic=balance.sums[0],
        delta_basic=balance.sums[1],
        rest=EpsilonDelta(balance.rest.epsilon, balance.rest.delta),
        rest_epsilon_spent=_or(price.tight_epsilon, price.basic_epsilon),
        rest_delta_spent=_or(price.tight_delta, price.basic_delta),
        planned=tuple(SlotsSaid(each.name, each.editions, each.drawn) for each in balance.slots),
    )


def _or(tight: Decimal | None, basic: Decimal) -> Decimal:
    return basic if tight is None else tight


def _entry(entry: Entry, found: LedgerState) -> EntrySaid:
    return EntrySaid(
        entry=entry.id,
        account=entry.account,
        policy=entry.policy_name,
        state=entry.state,
        epsilon=None if entry.is_unbounded else entry.epsilon,
        delta=None if entry.is_unbounded else entry.delta,
        unit=entry.unit,
        reserved_at=entry.reserved_at,
        release=entry.release_name,
        approvals=tuple(_approvals(each, found) for each in entry.reviews),
        edition=entry.run.edition or None,
        windows=entry.windows if any(entry.windows) else None,
        planned=entry.planned if any(entry.windows) else None,
    )


def _approvals(review: StageReview, found: LedgerState) -> ApprovalsSaid:
    people = approvers(found.required[review.record].policy, review)
    return ApprovalsSaid(
        stage=review.stage,
        review_policy=review.policy,
        needs=review.needs,
        without=review.is_out,
        people=tuple(ApproverSaid(name, role) for name, role in people),
        statements=tuple(review.brought.digests),
    )


def _lines(
    project: Project,
    balances: list[Balance],
    left: Mapping[str, Remaining | None],
    found: LedgerState,
) -> Iterator[str]:
    if not has_ledger(project):
        yield _no_ledger(project)
    for balance, account in zip(balances, found.accounts, strict=True):
        yield _account_line(balance, left[balance.account], found)
        yield from map(_window_line, balance.windows)
        yield from (f"  {sentence}" for sentence in promises(account))
    for each in found.changes:
        what = f"{each.account}  {each.before or 'no limit'} → {each.after}"
        yield _row(each.record, each.at, "limit", f"{what}, by {each.by}: {each.why}")
    for review in found.reviews:
        kind = "revoke" if isinstance(review, Revocation) else "require"
        yield _decision(review, kind, _review_words(review))
    for entry in found.entries:
        price = f"ε {brief(entry.epsilon)}  δ {brief(entry.delta)}"
        numbers = f"{'no (ε, δ)' if entry.is_unbounded else price}  unit {entry.unit}"
        what = f"{entry.account}  {numbers}  {entry.policy_name}{_counts(entry)}"
        yield _row(entry.id, entry.reserved_at, entry.state, what)
        yield from (_approvals_line(_approvals(each, found)) for each in entry.reviews)
    for move in found.moves:
        of, whose = f"of entry {move.source_of}", f"{move.from_} → {move.to}"
        if not move.source_of:
            of, whose = "that was charged to nobody yet", f"→ {move.to}"
        yield _decision(move, "move", f"{whose}  the source {of}")
    for rekey in found.rekeys:
        names = f"named by {rekey.named_by[:8]}, as before"
        if rekey.named_by == rekey.sealing_key:
            names = "of the sources before nobody knows to which account they belong"
        yield _decision(rekey, "rekey", f"{rekey.sealing_key[:8]}  {names}")
    yield from map(fault_line, found.faults)


def _row(record: int, at: datetime, kind: str, what: str) -> str:
    return f"  {record:>4}  {at:%Y-%m-%d %H:%M} UTC  {kind:<9}  {what}"


def _decision(decision: Decision, kind: str, what: str) -> str:
    by = f"by {decision.by}: {decision.why}"
    return _row(decision.record, decision.at, kind, f"{what}, {by}")


def _no_ledger(project: Project) -> str:
    try:
        check_clean(project)
    except NoLedger as error:
        return str(error)
    return f"no ledger at {project.ledger_name}: nothing was released or charged from here"


def _account_line(balance: Balance, left: Remaining | None, found: LedgerState) -> str:
    name, limit = balance.account, balance.limit
    recorded = found.recorded.get(name)
    basic = f"ε {brief(balance.price.basic_epsilon)}, δ {brief(balance.price.basic_delta)}"
    if not found.has_begun:
        text = f"{limit or 'no limit'}, by the project file alone: no ledger says what is left"
    elif balance.unbounded:
        text = (
            f"no (ε, δ) holds, for releases without one are charged to it: {balance.unbounded} of"
            f" {balance.charges}; limit: {limit or 'none'}"
        )
    elif limit is None:
        text = f"{basic} spent; no limit"
    elif balance.windows or limit.each is not None:
        told = "" if left is None else left.words("the last")
        text = f"{limit}; {balance.charges} charged; left: {told}"
    else:
        is_lower = recorded not in (None, limit)
        whose = f" (by {limit.where}, lower than the ledger's {recorded})" * is_lower
        text = (
            f"of {limit}{whose}, ε {brief(balance.spent_epsilon)} is spent at that δ,"
            f" δ {brief(balance.spent_delta)} at that ε (sum of the certificates: {basic})"
            f"; left: {'' if left is None else left.words('the last')}"
        )
    text = f"{name}: {text}; unit: {', '.join(units_of(name, found.entries)) or 'none yet'}"
    if count := _open(name, found.entries):
        text += f"; {count} charged without a release: running, failed or stopped"
    return text


def _window_line(balance: WindowBalance) -> str:
    """What counts in a window: all that is planned, and the price of what is not."""
    price, planned = balance.price, ", ".join(each.words() for each in balance.slots)
    spent = _or(price.tight_epsilon, price.basic_epsilon)
    kept = _or(price.tight_delta, price.basic_delta)
    sums = f"(sum of the certificates: ε {brief(balance.sums[0])}, δ {brief(balance.sums[1])})"
    text = f"  {balance.name or 'for ever'}: {balance.charges} charged"
    of = f"of {balance.rest}"
    if balance.slots:
        text += f"; planned and left: {planned}"
        of = f"of the rest, {balance.rest}"
        if not balance.rest.epsilon and not balance.rest.delta and not price.basic_epsilon:
            return f"{text}; all is planned {sums}"
    spent_words = f"ε {brief(spent)} is spent at that δ, δ {brief(kept)} at that ε"
    return f"{text}; {of}, {spent_words} {sums}"


def _counts(entry: Entry) -> str:
    """The edition and the windows of an entry, where it has any."""
    edition = f" {entry.run.edition}" if entry.run.edition else ""
    windows = f"  in {shown_windows(entry.windows)}" if any(entry.windows) else ""
    return f"{edition}{windows}{' as planned' if entry.planned else ''}"


def _review_words(decision: Requirement | Revocation) -> str:
    if isinstance(decision, Requirement):
        return f"{decision.account}  review policy {decision.serial}, {decision.review_policy[:15]}"
    whose = f" of {' and '.join(decision.people)}" if decision.people else ""
    return f"nothing counts that the key {decision.revoked_key[:8]}{whose} approves"


def _approvals_line(told: ApprovalsSaid) -> str:
    needs = ", ".join(f"{count} {role}" for role, count in told.needs.items())
    people = ", ".join(f"{each.by} ({each.role})" for each in told.people)
    by = f"approved by {people or 'nobody'}"
    return (
        f"        {told.stage} {'was made without the approvals' if told.without else by};"
        f" required by review policy {told.review_policy[:15]}: {needs or 'nobody'}"
    )


# The chain


def publish(
    witness: Annotated[
        str | None,
        Argument(
            help="The place: file:PATH, git:REPOSITORY or git:REPOSITORY#NAME. Default: the places"
            " in the project file."
        ),
    ] = None,
    tsa: Annotated[
        str | None, Option(help="The address of an RFC 3161 time stamp authority.")
    ] = None,
) -> None:
    """Publish the head of the ledger in a place that the holders of the ledger's keys cannot
    change.

    A head is the number of records and the hash of the last record. 'ledger verify --witness' later
    compares the ledger with published heads. Without WITNESS, the head is published in each place
    that `witnesses` in the project file names.

    The command first verifies the ledger. It also checks that the ledger contains every head that
    was published in the same place before. Readers of the place learn the number of records, a hash
    and the time. A time stamp authority learns only a hash. The ledger is not changed.

    Example: policy-engine ledger publish git:git@example.org:audit/heads.git
    """
    project = own_project()
    places = [
        outside.outside_witness(each) for each in ([witness] if witness else project.witnesses)
    ]
    if not places:
        raise UsageError("name a place, file:PATH or git:REPOSITORY, or 'witnesses' in the project")
    with open_ledger(project) as opened:
        head = opened.verify()
        records = opened.read().chain.records
    documents, lines = [], []
    for place in places:
        known = place.sightings()
        outside.check_sightings(place, known, records, project.ledger_name)
        is_known = any(each.head == head for each in known)
        stamp = outside.stamp_of(head, tsa) if tsa is not None and not is_known else b""
        if not is_known:
            place.note(outside.Sighting(head, written(datetime.now(UTC)), stamp))
        documents.append({"witness": place.where, "records": head.records, "head": head.hash,
                          "published": not is_known, "stamped": bool(stamp)})  # fmt: skip
        text = "has this head already" if is_known else "published"
        stamped = ", with a time stamp" if stamp else ""
        lines.append(f"{place.where}: {text}{stamped}, head {head.records}:{head.hash}")
    confirm(documents[0] if witness else {"witnesses": documents}, lines)


def verify(
    head: Annotated[
        str | None,
        Option(
            help="RECORDS:HASH, a head that an earlier command printed. The ledger is compared"
            " with this head."
        ),
    ] = None,
    witness: Annotated[
        list[str] | None,
        Option(help="A place where heads were published: file:PATH or git:REPOSITORY."),
    ] = None,
    tsa_root: Annotated[
        Path | None,
        Option(
            help="A PEM file with the certificates of the time stamp authorities that you trust."
        ),
    ] = None,
) -> None:
    """Check that no record of the ledger was changed, dropped, moved or forged.

    If the command finds such a record, the output names the record, and the exit code is 1. The
    exit code is also 1 if one of your keys has signed a record that no command writes. In this
    case, 'ledger settle' records who has examined the record.

    The command also finds out if records are missing at the end of the ledger. For this, it
    compares the ledger with the certificates in the project's folder and with earlier heads. A head
    is the number of records and the hash of the last record. One head is the last one that this
    machine has seen. --head and --witness give more heads. Without --witness, the command uses
    `witnesses` of the project file.

    If the head that this machine has seen cannot be read, the records are still checked, but the
    exit code is 1. If a witness has no head, the exit code is 4.

    Example: policy-engine ledger verify
    """
    project = own_project()
    name, unseen = project.ledger_name, Witness(project.witness).fault()
    try:
        with open_ledger(project, compared=not unseen) as opened:
            found = opened.verify()
            records, faults = opened.read().chain.records, opened.read().approvals.faults()
            disowned = disownings_of(records, name)
            if head is not None:
                _compare(head, records, name)
            seen = [
                _witnessed(each, records, name, tsa_root) for each in witness or project.witnesses
            ]
            places, trusted = certificates_in(project.directory), trusted_keys(project)
            missing = forgotten(places, opened.read().budget.entries(), trusted)
    except LedgerBroken as error:
        conclude({"ledger": name, "intact": False, "error": str(error)}, error.lines, 1)
    revoked = trust_of(project).revoked
    by_revoked = Counter(record.key_id for record in records if record.key_id in revoked)
    reviewed = sum("request_sha256" in record.payload for record in records)
    document = {"ledger": name, "intact": True, "approved": reviewed,
                "records": found.records, "head": found.hash,
                "by_revoked_keys": sum(by_revoked.values()), "not_compared": unseen,
                "not_charged": missing, "faults": faults,
                "left_out": [row for each in disowned for row in each.rows],
                "witnesses": [told for told, _ in seen]}  # fmt: skip
    told = counted(found.records, "record")
    lines = [f"{name}: whole and signed, {told}, head {found.records}:{found.hash}"]
    lines += map(fault_line, faults)
    unsettled = [fault for fault in faults if not fault.settled]
    if reviewed and not faults:
        lines.append(f"every charge and change that required approvals had them ({reviewed})")
    lines += _by_revoked(project, by_revoked)
    lines += [f"{rows_words(each.rows)} left out, by {each.by}: {each.why}" for each in disowned]
    lines += [line for _, line in seen]
    if unseen:
        lines.append(f"whether its end is missing is not known: {unseen}")
    if missing:
        lines.append(forgotten_text(missing))
    conclude(document, lines, 1 if unseen or missing or unsettled else 0)


def rows_words(rows: tuple[int, ...]) -> str:
    """Rows of a ledger at the beginning of a sentence."""
    return f"row {rows[0]} is" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]} are"


def _compare(head: str, records: tuple[Record, ...], name: str) -> None:
    """LedgerBroken where the ledger does not go through a head that was kept elsewhere."""
    told = _HEAD.fullmatch(head)
    if told is None:
        law = "--head must be RECORDS:HASH, as 'ledger verify' prints it"
        raise UsageError(f"{law}, found {head[:100]!a}")
    wanted = Head(int(told[1]), told[2])
    if wanted != Head(0, GENESIS):
        outside.check_head(wanted, records, name)


def _by_revoked(project: Project, revoked: Counter[str]) -> Iterator[str]:
    """What to say of the records of keys that were revoked later."""
    noted = trust_of(project).ends
    words = {
        True: "they stood here when the keyring noted where the ledger ended",
        False: "they state a time before that, which whoever has such a key can do too; compare the"
        " head with one from before",
    }
    for is_noted, why in words.items():
        names = [name for name in revoked if (name in noted) == is_noted]
        if names:
            count, keys = sum(revoked[name] for name in names), ", ".join(n[:8] for n in names)
            yield f"{count} of them are signed by keys that were revoked later ({keys}): {why}"


@frozen
class WitnessSaid:
    """What a witness has seen: how many heads, and the last of them."""

    witness: str
    heads: int
    records: int
    published_at: str
    stamped_at: Mapping[str, str]
    stamps_not_checked: int


def _witnessed(
    witness: str, records: tuple[Record, ...], name: str, roots: Path | None
) -> tuple[WitnessSaid, str]:
    """What a witness says of a ledger that goes through all its heads, as a document and a line.

    Raises LedgerBroken where the ledger does not, or a stamp does not hold; NothingChecked where
    the witness has no head.
    """
    place = outside.outside_witness(witness)
    found = place.sightings()
    if not found:
        raise NothingChecked(
            f"{place.where} has no head: 'policy-engine ledger publish' has published none there,"
            " or they were removed"
        )
    outside.check_sightings(place, found, records, name)
    stamped, stamps = [each for each in found if each.stamp], dict[str, str]()
    if roots is not None:
        trusted = outside.read_roots(roots)
        for each in stamped:
            stamps[str(each.head.records)] = written(
                outside.stamped_at(each.stamp, each.head, trusted)
            )
    last, unchecked = found[-1], 0 if roots else len(stamped)
    said = WitnessSaid(
        place.where, len(found), last.head.records, last.at, stamps, stamps_not_checked=unchecked
    )
    text = (
        f"{place.where}: the ledger goes through {counted(len(found), 'head')} that it saw, the"
        f" last of record {last.head.records}, published at {last.at}"
    )
    if stamps:
        number, at = [*stamps.items()][-1]
        text += f"; time stamps that hold: {len(stamps)}, the last of record {number}, of {at}"
    elif roots is not None:
        text += "; none of them has a time stamp"
    if unchecked:
        text += f"; {counted(unchecked, 'time stamp')} not looked at: name --tsa-root"
    after = counted(len(records) - last.head.records, "record")
    return said, text + (
        f"; nobody outside has seen the {after} since" * (len(records) > last.head.records)
    )
