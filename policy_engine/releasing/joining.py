"""A second machine or clone: what it needs to release from the project's ledger, and what it lacks.

It signs with a key of its own, so that nobody copies a private key, and revoking one ends one. It
needs three things of others: the keyring, which must have its key, for records of any other are a
stranger's; the sealing key, without which no release can be told from a new one; and the ledger
itself. Nothing is asked of anybody by a file of theirs that is changed: the ring is its owners'.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest import keys
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.owners import check_signed
from policy_engine.attest.signers import public_key_of
from policy_engine.errors import LedgerError, NoLedger, UsageError
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted
from policy_engine.releasing import books
from policy_engine.values import frozen

_NEWER = (
    "a keyring as new as the ledger, which has records of a key that the one here has not: bring a"
    " newer {} here, by a commit or with --keyring"
)


@frozen
class Machine:
    """This machine's key, and what the machine lacks still; nothing once it is joined.

    ``public`` is the public key as PEM text, ``made`` where its private half was just made, None
    where it was there already.
    """

    key_id: str
    public: str
    made: Path | None
    entered: bool
    lacks: tuple[str, ...]


def join(
    project: Project, at: datetime, *, ring: Path | None = None, sealing_key: Path | None = None
) -> Machine:
    """Make what this machine needs of its own, take what it is given, and say what it lacks.

    ``ring`` is a copy of the project's keyring, ``sealing_key`` of its sealing key. Run again it
    goes on: nothing that is there is replaced.

    Raises:
        UsageError: nobody has released yet; or a file that is given is another project's.
        FileError: a file cannot be read or written.
    """
    if not books.has_ledger(project):
        raise UsageError(
            f"{project.ledger_name}: no ledger has begun here, and"
            f" {books.file_of(project).name} names none: there is nothing to join. The first"
            " release makes ledger and keys"
        )
    if ring is not None:
        _take_ring(project, ring)
    made = _own_key(project)
    key = public_key_of(project)
    assert key is not None
    name, lacks = keys.key_id(key), []
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    known = Keyring.at(project.keyring)
    refusal = known.refusal(name, at)
    entered = known.get(name) is not None and refusal is None
    if not known.entries:
        lacks.append(
            f"the keyring: commit .policy-engine/{project.keyring.name} where it is and pull, or"
            f" name a copy of it with --keyring; it goes to {project.keyring}"
        )
    elif refusal is not None:
        lacks.append(
            f"a key that counts: {refusal.text}. Move {project.signing_key} away, and join again"
        )
    elif not entered:
        lacks.append(_request(project, known, name))
    lacks += _of_ledger(project, known, sealing_key)
    return Machine(name, pem, made, entered, tuple(lacks))


def _take_ring(project: Project, path: Path) -> None:
    """Put a copy of the project's keyring in its place; UsageError where another one is there."""
    found, own = Keyring.read(path), public_key_of(project)
    check_signed(found)

    def taken(kept: Keyring) -> Keyring:
        mine = None if own is None else keys.key_id(own)
        others = (entry.key_id for entry in kept.entries if entry.key_id != mine)
        if any(found.get(name) is None for name in others):
            raise UsageError(
                f"{project.keyring} has keys that {path} has not: it is no copy that is older. Take"
                " a newer one with 'policy-engine keys update', or enter them with 'keys add'"
            )
        return replace(found, where=kept.where)

    change(project.keyring, taken)


def _own_key(project: Project) -> Path | None:
    """Make the key that this machine signs with; None where it has one, or signs otherwise."""
    path, public = project.signing_key, project.public_key
    if os.environ.get(keys.SIGNING_KEY_VARIABLE) or project.signing_command or path.exists():
        return None
    with keys.explained(f"{path}: cannot write the key"):
        keys.make_folder(path.parent)
        if public.exists():  # of the machine whose project was copied: it is in the keyring
            former = keys.key_id(keys.load_public_key(public))[:8]
            public.replace(public.with_name(f"{public.stem}.{former}{public.suffix}"))
    keys.generate_key(path)
    return path


def _request(project: Project, ring: Keyring, name: str) -> str:
    """What who keeps the keyring does to let the key of this machine count."""
    owners = ""
    if ring.seal is not None:
        needed = counted(ring.seal.owners.threshold, "owner")
        owners = f", and {needed} of the keyring 'policy-engine keys sign --key OWNER.pem'"
    return (
        f"the key {name[:8]} in the keyring: who keeps that saves the public key above as FILE"
        f" (it is {project.public_key} too) and runs 'policy-engine keys add FILE --note"
        f" MACHINE'{owners}; bring {project.keyring.name} back here, by a commit or with --keyring"
    )


def _of_ledger(project: Project, ring: Keyring, given: Path | None) -> list[str]:
    """What is lacking of the ledger and its sealing key; the key that is given is taken."""
    path = project.sealing_key
    try:
        with books.open_ledger(project) as ledger:
            ledger.read().check()
            if given is not None and not path.exists():
                books.take_sealing_key(project, ledger, given)
            names = ledger.read().sources.namer() is not None
            if path.exists() or not names:
                if path.exists():
                    books.naming_key(project, ledger)
                return []
    except LedgerError as error:
        told = [f"the ledger: {error}"]
        if isinstance(error, NoLedger):  # of which everybody else is sent here
            told = [f"the ledger: {project.ledger_name} is not here. {books.ELSEWHERE}"]
        if error.code == "key_unknown":  # whose remedy is the keyring, and this command
            told = [_NEWER.format(project.keyring.name)] if ring.entries else []
        return told if path.exists() else [*told, _sealing(path, given)]
    return [_sealing(path, None)]


def _sealing(path: Path, given: Path | None) -> str:
    if given is not None:
        return (
            f"the sealing key: {given} was not taken because it is held against the ledger; run"
            " this again once that is here"
        )
    return (
        f"the sealing key: copy .policy-engine/{path.name} from a machine that releases, by a"
        " channel that is private, and name the copy with --sealing FILE"
    )
