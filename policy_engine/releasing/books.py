"""The project's books: its ledger opened with its keys, its accounts, its sealing key."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine import errors
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.plans import WindowPlan
from policy_engine.attest import sealing
from policy_engine.attest.keys import (
    TrustedKeys,
    create_key_pair,
    key_id,
    make_folder,
    pem_of,
)
from policy_engine.attest.owners import believed
from policy_engine.attest.signers import Signer, public_key_of, writer_of
from policy_engine.attest.validity import LedgerEnd
from policy_engine.ledger import deciding
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.books import Books
from policy_engine.ledger.chain import Trust
from policy_engine.ledger.entry import Run
from policy_engine.ledger.planned import plan_document
from policy_engine.ledger.records import open_records
from policy_engine.ledger.sources import Sources
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import window_at
from policy_engine.ledger.witness import Witness
from policy_engine.policy.accounts import check_account, listed_as, twin_of
from policy_engine.policy.pins import BEGINS, write_pin
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.project import Project
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import counted
from policy_engine.policy.timing import WindowTerms
from policy_engine.policy.tree import path_text


def limit_of(policy: Policy, project: Project, account: str) -> Limit | None:
    """The limit of the account that pays, None where it only adds up.

    Raises PolicyError: the account is none of the project's.
    """
    check_account(policy, project, account)
    relation = None if policy.declared_budget else policy.source.relation
    if policy.is_unpromised and listed_as(account, project, relation) not in project.unpromised:
        law = f"guarantee is none, and account {account!r} takes no such releases"
        remedy = f"list it in the project file without a limit: {account}: {{guarantee: none}}"
        raise refused(policy.file, "guarantee", law, remedy)
    return stated_limit(project, account, relation)


def stated_limit(project: Project, account: str, relation: str | None = None) -> Limit | None:
    """The limit that the project file states of an account, and where.

    ``relation`` is as for ``listed_as``, with its errors.
    """
    listed = listed_as(account, project, relation)
    limit = project.accounts[listed] if listed is not None else None
    if limit is None or listed is None:
        return None
    where = ""
    if project.file is not None:
        place = path_text(("accounts", listed))
        [found] = located((errors.Problem("", 0, 0, place, ""),), project.file)
        file = project.named(project.file)
        where = f"{file}:{found.line}" if found.line else file
    terms = project.windows.get(listed, WindowTerms())
    return Limit(
        limit.epsilon, limit.delta, where,
        each=terms.each, of=terms.of, ever=terms.ever, plan=terms.plan, rest=terms.rest,
        neighbours=terms.neighbours, joins=terms.joins,
        solve=partial(_solved, project, listed) if terms.plan else None,
    )  # fmt: skip


def _solved(project: Project, account: str) -> WindowPlan:
    """The plan of an account of the project file, which has one. Errors: PolicyError."""
    # The search for noise is needed where a plan is asked for alone.
    from policy_engine.policy.following import plan_of

    found = plan_of(project, account)
    assert found is not None  # by who asks
    return found


def wanted_limit(project: Project, account: str, epsilon: Decimal, delta: Decimal) -> Limit:
    """A limit of these numbers, for as long as the project file says of the account."""
    stated = stated_limit(project, account)
    if stated is None:
        return Limit(epsilon, delta)
    return Limit(epsilon, delta, each=stated.each, of=stated.of, ever=stated.ever)


def planned_document(project: Project, account: str) -> dict[str, object]:
    """What people approve of the plan of an account; UsageError where the project file has none."""
    limit = stated_limit(project, account)
    if limit is None or not limit.plan:
        raise errors.UsageError(f"{file_of(project)} has no plan of account {account!r}")
    return plan_document(account, limit.epsilon, limit.delta, limit.plan_text)


def windows_now(account: Account, project: Project, at: datetime) -> tuple[str, ...]:
    """The window of an account at a moment; of one whose windows are of rows, the last there is."""
    limit = account.limit
    if limit is not None and limit.of is not None and account.windows:
        return (account.windows[-1].name,)
    return window_at(None if limit is None else limit.each, at, project.zone)


def check_new_name(found: Books, project: Project, account: str) -> None:
    """BudgetExceeded where a new account is one that the ledger has under another name."""
    known = found.budget.names()
    twin = None if account in known else twin_of(account, known, project)
    if twin is None:
        return
    former, most = found.budget.account(twin), "--epsilon NUMBER --delta NUMBER"
    left = None if former.has_windows else former.remaining()
    if left is not None and left.epsilon is not None and left.delta is not None:
        most = f"--epsilon {in_text(left.epsilon)} --delta {in_text(left.delta)}"
    raise errors.BudgetExceeded(
        f"account {account!r} is new, and the ledger has {twin!r}, which seems to be the same under"
        " another name: their charges would not add up. To go on with that one, write"
        f" 'account: {twin}' in the policy; to open the new one with what is left, run"
        f" 'policy-engine ledger limit {shlex.quote(account)} {most} --by NAME --why TEXT --new'"
    )


def trusted_keys(project: Project, signer: Signer | None = None) -> TrustedKeys:
    """Whose certificates count: the project's own key and its keyring's, whose dates hold.

    Where owners sign the keyring, the keys in it alone.
    """
    ring = believed(project)
    if ring.seal is not None:
        return ring.trusted()
    own = signer.public_key if signer is not None else public_key_of(project)
    return TrustedKeys.of(*([] if own is None else [own])).within(ring.trusted())


def trust_of(project: Project, signer: Signer | None = None) -> Trust:
    """Whose records count in a project's ledger: the same keys', as long as none is revoked.

    What a key signed before it was revoked stays: later records, by other keys, are chained to it.
    """
    keys = trusted_keys(project, signer)
    told = {name: dates.revoked for name, dates in keys.dates.items() if dates.revoked}
    revoked = {name: each.at for name, each in told.items()}
    ends = {name: each.ledgers for name, each in told.items() if each.ledgers}
    return Trust(keys.by_id, signer, revoked, ends, lambda: trust_of(project, signer))


def open_ledger(
    project: Project,
    signer: Signer | None = None,
    *,
    compared: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Ledger:
    """The project's ledger: to read, or to write with a signer. It is never made here.

    It is not ``compared`` with what this machine has seen of it where that cannot be read. Whoever
    writes pins it, unless the project file has a pin: ``say`` is told.

    Raises LedgerError where it cannot be opened, is lost, has forgotten records, or is another one
    than the project's.
    """
    _check_named(project)
    trust, witness = trust_of(project, signer), Witness(project.witness)
    trusted = witness if compared else None

    def begun(begins: str) -> None:
        file = file_of(project)
        writes = signer is not None and not project.begins
        if writes and write_pin(file, pin_of(begins)):
            say(
                f"{file} now names the ledger that keeps this project's charges"
                f" ({project.ledger_name}): commit it, so that no checkout begins another one"
            )

    try:
        ledger = Ledger.open(project.ledger, trust, create=False, witness=trusted, begun=begun)
    except errors.NoLedger as error:
        if (seen := witness.seen()) is not None:
            records = counted(seen.records, "record")
            trace = f"this machine has seen {records} of it ({project.witness})"
        elif project.pin:
            trace = f"{project.file} names the one that keeps this project's charges"
        else:
            raise
        raise lost_ledger(project, trace) from error
    try:
        begins = ledger.begins()
        if project.pin and (begins is None or pin_of(begins) != project.pin):
            found = "is empty" if begins is None else f"begins with {pin_of(begins)}"
            raise errors.LedgerBroken(
                f"{project.ledger_name}: this ledger {found}, and {project.file} names the ledger"
                f" that begins with {project.pin} ({BEGINS}). This ledger does not have that"
                f" ledger's charges, so nothing was charged. {_JOIN}; {_ANEW}"
            )
        if begins is not None and not project.pin:
            begun(begins)
    except BaseException:
        ledger.close()
        raise
    return ledger


def file_of(project: Project) -> Path:
    """The project file, there or to be made."""
    return project.file or project.directory / PROJECT_FILE


def pin_of(begins: str) -> str:
    """How the project file names the ledger whose first record has this hash."""
    return f"sha256:{begins}"


@contextmanager
def ledger_at_rest(project: Project) -> Iterator[tuple[LedgerEnd | None, str]]:
    """Where the project's ledger ends, while the body runs and nobody can write to it.

    None where there is no ledger, and where it cannot be read; the text says why then.
    """
    with ExitStack() as stack:
        end, fault = None, ""
        try:
            if has_ledger(project):
                opened = stack.enter_context(open_ledger(project))
                end = stack.enter_context(opened.at_rest())
        except (errors.LedgerError, errors.FileError) as error:
            fault = str(error)
        yield end, fault


def has_ledger(project: Project) -> bool:
    """Whether the project's ledger has begun already.

    One that is gone is no absent one: to open it says what is missing.
    """
    _check_named(project)
    return bool(project.pin or project.witness.exists() or begins_here(project))


def begins_here(project: Project) -> str | None:
    """What the ledger that is there begins with, empty if it is; None where there is none."""
    try:
        records = open_records(project.ledger, create=False)
    except errors.NoLedger:
        return None
    with closing(records):
        first = records.get(1)
        return "" if first is None else pin_of(first.hash)


def _check_named(project: Project) -> None:
    """LedgerError where the environment lacks what the ledger's name takes from it."""
    if project.missing:
        raise errors.LedgerError(project.missing, code="setting_missing")


ELSEWHERE = (
    "Where the ledger is kept elsewhere, name that place in 'ledger' of the project file, a"
    " postgresql:// URL for several machines; a file is moved here, for two copies would forget"
    " each other's charges; else restore it from a backup"
)
_JOIN = f"In a new clone 'policy-engine join' says all that it lacks. {ELSEWHERE}"
_ANEW = (
    "if it is lost for good, 'policy-engine ledger begin --anew' begins another one, which knows"
    " nothing of what was spent: 'policy-engine ledger reconcile --from-certificates' then books"
    " what certificates prove; lower the accounts' limits by the rest first"
)


def lost_ledger(project: Project, trace: str) -> errors.NoLedger:
    """The error of a ledger that was there, as ``trace`` shows, and is not there any more."""
    return errors.NoLedger(
        f"{project.ledger_name}: the ledger is not here: {trace}. {_JOIN}; {_ANEW}"
    )


def begun_ledger(project: Project) -> AbstractContextManager[Ledger | None]:
    """The project's ledger to read; None where none has begun, which spent nothing."""
    return open_ledger(project) if has_ledger(project) else nullcontext()


def sealing_key(project: Project, ledger: Ledger) -> X25519PrivateKey:
    """The key that the engine opens its own secrets with; made before the first release.

    Raises FileError where it is missing and the ledger has secrets that were sealed for it.
    """
    path = project.sealing_key
    if not path.exists():
        check_not_lost(project, ledger)
        _make_sealing_key(path)
    return sealing.load_sealing_key(path)


def check_not_lost(project: Project, ledger: Ledger) -> None:
    """Raise FileError where the sealing key is missing, and something was sealed for it."""
    path = project.sealing_key
    found = ledger.read()
    if found.chain.records:
        ledger.verify()  # what it says of secrets is believed
    was_named = path.with_suffix(".pub").exists() or found.sources.namer() is not None
    was_here = was_named or any(entry.run.sealed for entry in found.budget.entries())
    if was_here and not path.exists():  # else another release has just made it
        raise errors.FileError(
            f"{path}: the sealing key is missing, without which no release can be told from a"
            " new one. On a second machine 'policy-engine join --sealing FILE' takes a copy of that"
            f" of the machine that released; else restore it; if it is lost for good, {_LOST} makes"
            " a new one, and each release is then a new one, at a price",
            code="key_missing",
        )


def take_sealing_key(project: Project, ledger: Ledger, given: Path) -> None:
    """Put a copy of the sealing key in its place; UsageError where it is not the project's."""
    key = sealing.load_sealing_key(given)
    if _namer(key, ledger.read().sources) is None:
        raise errors.UsageError(f"{given}: this key does not name the ledger's sources")
    make_folder(project.sealing_key.parent)
    create_key_pair(project.sealing_key, *pem_of(key))


_REKEY = "'policy-engine ledger rekey {} --by NAME --why TEXT'"
_LOST = _REKEY.format("--lost")


def _make_sealing_key(path: Path) -> None:
    make_folder(path.parent)
    try:
        sealing.generate_sealing_key(path)
    except errors.FileError:
        if not path.exists():  # else another release was faster
            raise


def naming_key(project: Project, ledger: Ledger) -> X25519PrivateKey:
    """The key that names the ledger's sources: the sealing key, or one that it took over.

    Raises FileError as ``sealing_key``, and where it is another key, to which each source is new.
    """
    key = sealing_key(project, ledger)
    return named_by(key, project, ledger.read())


def named_by(key: X25519PrivateKey, project: Project, books: Books) -> X25519PrivateKey:
    """The key that names a ledger's sources, by the sealing key of its project; FileError."""
    found, namer = _namer(key, books.sources), books.sources.namer() or ""
    if found is None:
        raise errors.FileError(
            f"{project.sealing_key}: this is not the sealing key that names the ledger's sources"
            f" ({namer[:8]}): a source that one account was charged for would be new to another"
            f" one. Restore that key; to replace it, run {_REKEY.format('OLD.pem')},"
            f" which hands its names over; if it is lost for good, {_LOST}, and no source belongs"
            " to any account then",
            code="key_refused",
        )
    return found


def secret_of(run: Run, project: Project, ledger: Ledger) -> bytes:
    """The secret that was sealed for a run, before the project's key took over from another too.

    Raises FileError, LedgerError where no key of the project opens it.
    """
    own = sealing_key(project, ledger)
    is_ours = key_id(own.public_key()) in run.sealed
    return sealing.unseal(run.sealed, run.of, own if is_ours else naming_key(project, ledger))


def _namer(key: X25519PrivateKey, sources: Sources) -> X25519PrivateKey | None:
    """The key that names the ledger's sources, if ``key`` is it or was handed it."""
    namer, own = sources.namer(), key_id(key.public_key())
    if namer in {None, own}:
        return key
    handed = sources.handed_to(own)
    found = sealing.taken_over(handed, key) if handed else None
    return found if found and key_id(found.public_key()) == namer else None


def rekey(project: Project, old: Path | None, *, who: str, why: str) -> str:
    """Let the project's sealing key, made if it is missing, take over from ``old``; its id.

    Without ``old`` it is lost, and what it named is forgotten. Raises UsageError where ``old`` is
    not the key that names the ledger's sources.
    """
    path = project.sealing_key
    with open_ledger(project, writer_of(project)) as ledger:
        ledger.verify()
        found = (
            None if old is None else _namer(sealing.load_sealing_key(old), ledger.read().sources)
        )
        if old is None:
            ledger.read().check_keeps_sources()
        if old is not None and found is None:
            raise errors.UsageError(f"{old}: this key does not name the ledger's sources")
        if not path.exists():
            path.with_suffix(".pub").unlink(missing_ok=True)
            _make_sealing_key(path)
        key = sealing.load_sealing_key(path).public_key()
        handed = {} if found is None else sealing.hand_on(found, key)
        namer = key if found is None else found.public_key()
        deciding.rekey(ledger, key_id(key), key_id(namer), handed, who=who, why=why)
    return key_id(key)
