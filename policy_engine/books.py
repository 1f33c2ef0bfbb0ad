"""The project's books: its ledger opened with its keys, its accounts, its sealing key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.keyring import Keyring
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.sealing import generate_sealing_key, load_sealing_key
from policy_engine.attest.signers import Signer, public_key_of
from policy_engine.errors import FileError, NoLedger
from policy_engine.ledger.account import Account, Balance, Limit, balance_of
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.trust import Trust
from policy_engine.ledger.witness import Witness
from policy_engine.policy.accounts import account_of, check_account
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy


def limit_of(policy: Policy, project: Project, account: str | None = None) -> Limit | None:
    """The limit of the account that pays, None where it only adds up.

    Raises:
        PolicyError: the account's name is a mistyped one.
    """
    check_account(policy, project)
    limit = project.accounts.get(account or account_of(policy, project))
    return None if limit is None else Limit(limit.epsilon, limit.delta)


def trusted_keys(project: Project, signer: Signer | None = None) -> TrustedKeys:
    """Whose certificates count: the project's own key and its keyring's, whose dates hold."""
    own = public_key_of(project) if signer is None else signer.public_key
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


def open_ledger(project: Project, signer: Signer | None = None) -> Ledger:
    """The project's ledger: to write with a signer, which makes it where there is none, or to read.

    Raises LedgerError where it cannot be opened, or has forgotten records.
    """
    trust, witness = trust_of(project, signer), Witness(project.witness)
    return Ledger.open(project.ledger, trust, create=signer is not None, witness=witness)


def has_ledger(project: Project) -> bool:
    """Whether the project's ledger was made already."""
    if isinstance(project.ledger, Path):
        # One that is gone is no absent one: to open it says what is missing.
        return project.ledger.exists() or Witness(project.witness).seen() is not None
    try:
        open_records(project.ledger, create=False).close()
    except NoLedger:
        return False
    return True


def account_now(project: Project, name: str, limit: Limit | None) -> Account:
    """An account as it stands; an absent ledger has spent nothing, and stays absent.

    ``limit`` is what the project file says: it counts where the ledger has none, or a higher one.
    """
    found = Account(name)
    if has_ledger(project):
        with open_ledger(project) as ledger:
            found = ledger.account(name)
    if limit is not None and (found.limit is None or not limit.is_above(found.limit)):
        return replace(found, limit=limit)
    return found


def balance_of_account(project: Project, account: str, limit: Limit | None) -> Balance:
    """The balance of an account; an absent ledger has spent nothing, and stays absent."""
    return balance_of(account_now(project, account, limit))


def sealing_key(project: Project) -> X25519PrivateKey:
    """The key that the engine opens its own secrets with; made when missing."""
    path = project.sealing_key
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            generate_sealing_key(path)
        except FileError:
            if not path.exists():  # else another release was faster
                raise
    return load_sealing_key(path)
