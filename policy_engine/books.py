"""The project's books: its ledger opened with its keys, its accounts, its sealing key."""

from __future__ import annotations

import shlex
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.confidential import make_folder
from policy_engine.attest.keyring import Keyring
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.sealing import generate_sealing_key, load_sealing_key
from policy_engine.attest.signers import Signer, public_key_of
from policy_engine.errors import FileError, LedgerError, NoLedger, Problem
from policy_engine.ledger.account import Account, Limit, effective, plain
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.trust import Trust
from policy_engine.ledger.witness import Witness
from policy_engine.policy.accounts import check_account, listed_as, twin_of
from policy_engine.policy.places import located
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.tree import path_text


def limit_of(policy: Policy, project: Project, account: str) -> Limit | None:
    """The limit of the account that pays, None where it only adds up.

    Raises:
        PolicyError: the account's name is a mistyped one.
    """
    check_account(policy, project)
    relation = None if policy.declared_budget else policy.source.relation
    return stated_limit(project, account, relation)


def stated_limit(project: Project, account: str, relation: str | None = None) -> Limit | None:
    """The limit that the project file states of an account, and where.

    ``relation`` is as for ``listed_as``, with its errors.
    """
    listed = listed_as(account, project, relation)
    limit = project.accounts[listed] if listed is not None else None
    if listed is None or limit is None:
        return None
    where = ""
    if project.file is not None:
        place = path_text(("accounts", listed))
        [found] = located((Problem("", 0, 0, place, ""),), project.file)
        where = f"{project.file}:{found.line}" if found.line else str(project.file)
    return Limit(limit.epsilon, limit.delta, where)


def named_otherwise(ledger: Ledger, project: Project, account: str) -> str:
    """Why a new account may not be opened: the ledger has it under another name. Else empty."""
    known = ledger.names()
    twin = None if account in known else twin_of(account, known, project)
    if twin is None:
        return ""
    balance, most = ledger.balance(twin), "--epsilon NUMBER --delta NUMBER"
    if balance.left_epsilon is not None and balance.left_delta is not None:
        most = f"--epsilon {plain(balance.left_epsilon)} --delta {plain(balance.left_delta)}"
    return (
        f"account {account!r} is new, and the ledger has {twin!r}, which seems to be the same under"
        " another name: their charges would not add up. To go on with that one, write"
        f" 'budget: {twin}' in the policy; to open the new one with what is left, run"
        f" 'policy-engine ledger limit {shlex.quote(account)} {most} --by NAME --why TEXT --new'"
    )


def trusted_keys(project: Project, signer: Signer | None = None) -> TrustedKeys:
    """Whose certificates count: the project's own key and its keyring's, whose dates hold."""
    own = signer.public_key if signer is not None else public_key_of(project)
    return TrustedKeys.of(*([] if own is None else [own])).within(
        Keyring.at(project.keyring).trusted()
    )


def trust_of(project: Project, signer: Signer | None = None) -> Trust:
    """Whose records count in a project's ledger: the same keys', as long as none is revoked.

    What a key signed before it was revoked stays: later records, by other keys, are chained to it.
    """
    keys = trusted_keys(project, signer)
    revoked = {name: dates.revoked.at for name, dates in keys.dates.items() if dates.revoked}
    return Trust(keys.by_id, signer, revoked)


def open_ledger(project: Project, signer: Signer | None = None, *, compared: bool = True) -> Ledger:
    """The project's ledger: to write with a signer, which makes it where there is none, or to read.

    It is not ``compared`` with what this machine has seen of it where that cannot be read.

    Raises LedgerError where it cannot be opened, is lost, or has forgotten records.
    """
    _check_named(project)
    trust, witness = trust_of(project, signer), Witness(project.witness)
    trusted = witness if compared else None
    try:
        return Ledger.open(project.ledger, trust, create=signer is not None, witness=trusted)
    except NoLedger as error:
        seen = witness.seen()
        if seen is None:
            raise
        trace = f"this machine has seen {seen.records} records of it ({project.witness})"
        raise lost_ledger(project, trace, f"remove {project.witness}") from error


def has_ledger(project: Project) -> bool:
    """Whether the project's ledger was made already.

    One that is gone is no absent one: to open it says what is missing.
    """
    _check_named(project)
    if project.witness.exists():
        return True
    if isinstance(project.ledger, Path):
        return project.ledger.exists()
    try:
        open_records(project.ledger, create=False).close()
    except NoLedger:
        return False
    return True


def _check_named(project: Project) -> None:
    """LedgerError where the environment lacks what the ledger's name takes from it."""
    if project.missing:
        raise LedgerError(project.missing)


def lost_ledger(project: Project, trace: str, remedy: str) -> NoLedger:
    """The error of a ledger that was there, as ``trace`` shows, and is not there any more."""
    return NoLedger(
        f"{project.ledger_name}: the ledger is gone: {trace}. Restore it from a backup, or correct"
        f" 'ledger' in the project file; if it is lost for good, {remedy}, and lower the accounts'"
        " limits by what was spent: a new ledger knows nothing of it"
    )


def perhaps_lost(project: Project) -> str:
    """What to say where there is no ledger, but a key that may have signed one; else empty."""
    if has_ledger(project) or not (project.keyring.exists() or project.sealing_key.exists()):
        return ""
    found = project.keyring if project.keyring.exists() else project.sealing_key
    return (
        f"there is no ledger at {project.ledger_name}, and {found} is older: if there was one, it"
        " is lost, and what it charged with it: restore it first. A new one has spent nothing"
    )


def account_now(project: Project, name: str, limit: Limit | None) -> Account:
    """An account as it stands; an absent ledger has spent nothing, and stays absent.

    ``limit`` is what the project file says: it counts where the ledger has none, or a higher one.
    """
    found = Account(name)
    if has_ledger(project):
        with open_ledger(project) as ledger:
            found = ledger.account(name)
    return effective(found, limit)


def sealing_key(project: Project, ledger: Ledger) -> X25519PrivateKey:
    """The key that the engine opens its own secrets with; made before the first release.

    Raises FileError where it is missing and the ledger has secrets that were sealed for it.
    """
    path = project.sealing_key
    if not path.exists():
        ledger.verify()  # what it says of secrets is believed
        was_here = path.with_suffix(".pub").exists()
        was_here = was_here or any(entry.run.get("sealed") for entry in ledger.entries())
        if was_here and not path.exists():  # else another release has just made it
            raise FileError(
                f"{path}: the sealing key is missing, without which no release can be told from a"
                " new one. Restore it, or copy it from the machine that released; if it is lost for"
                f" good, 'openssl genpkey -algorithm X25519 -out {path}' makes a new one, and each"
                " release is then a new one, at a price"
            )
        make_folder(path.parent)
        try:
            generate_sealing_key(path)
        except FileError:
            if not path.exists():  # else another release was faster
                raise
    return load_sealing_key(path)
