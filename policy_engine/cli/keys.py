"""keys: who signs for a project, which signatures count, and who owns the keyring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from typer import Argument, Option

from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import TrustedKeys, key_id, load_private_key, load_public_key
from policy_engine.attest.owners import check_follows, check_signed, is_signed, remember, signed
from policy_engine.attest.ring_text import Owners, RingKey, document_of
from policy_engine.attest.signers import KeySigner, lost_key, make_key, public_key_of
from policy_engine.attest.signers import rotate as rotate_key
from policy_engine.attest.validity import written
from policy_engine.cli.app import Commands
from policy_engine.cli.options import KeyArgument
from policy_engine.cli.output import confirm, emit
from policy_engine.cli.output import note as say
from policy_engine.cli.reading import own_project, project_here
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import Project
from policy_engine.policy.review_models import key_line as key_in_yaml
from policy_engine.values import frozen

keys = Commands()

ExpiresOption = Annotated[
    str | None,
    Option(help="The last day on which signatures of the key count, in UTC, such as 2027-12-31."),
]
NoteOption = Annotated[str, Option(help="A line about the key, for people to read.")]


@keys.callback()
def root() -> None:
    """The signing key, and the keyring: the public keys that are trusted, with their dates.

    The keyring is that of the project file found upwards from the working directory: keys.json
    beside the signing key. It holds no secret; hand it out to whoever verifies.

    Example: policy-engine keys list
    """


@keys.command("generate", short_help="Make a key and enter it into the keyring.")
def generate(
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="The file of the private key. Default: the place of the project's key.",
        ),
    ] = None,
    expires: ExpiresOption = None,
    note: NoteOption = "",
) -> None:
    """Make an Ed25519 key pair and add the public key to the keyring.

    The command writes the private key into a PEM file that only you can read. It writes the public
    key beside it, into a file that ends in .pub. No file is overwritten. If a project has no key,
    its first release makes one.

    Example: policy-engine keys generate --output ci.pem --expires 2027-12-31 --note CI
    """
    project, now = project_here(), _now()
    path = output or _own_place(project)
    made = make_key(path, project.keyring, now, expires=_last_moment(expires), note=note)
    document = {"private_key": path, **_document(made, now)}
    confirm(document, [f"made {path} and {path.with_suffix('.pub')}", _line(made, now)])


@keys.command("add", short_help="Enter a public key that was made elsewhere.")
def add(
    public_key: Annotated[Path, Argument(help="The PEM file of a public key.", readable=False)],
    since: Annotated[
        str | None,
        Option(
            help="The day that the keyring shows as the key's first day, in UTC. Earlier "
            "signatures also count. Default: now."
        ),
    ] = None,
    expires: ExpiresOption = None,
    note: NoteOption = "",
) -> None:
    """Add a public key to the keyring. The key can belong to a key management service, to CI, or to
    someone you trust.

    Example: policy-engine keys add kms.pub --note "the KMS key"
    """
    [key] = TrustedKeys.load(public_key).by_id.values()
    now = _now()
    added = now if since is None else _day("--since", since)
    last, path = _last_moment(expires), own_project().keyring
    ring = change(path, lambda ring: ring.adding(key, added, expires=last, note=note))
    _show_one(ring, key_id(key), now)


@keys.command("list", short_help="List the keys of the keyring.")
def list_() -> None:
    """List the keys of the keyring with their dates, and the key that signs for the project.

    Example: policy-engine keys list
    """
    project, now = own_project(), _now()
    ring, lost = Keyring.at(project.keyring), lost_key(project)
    key = None if lost else public_key_of(project)
    own = None if key is None else key_id(key)
    document = {"keyring": project.keyring, "signs": own,
                "keys": [_document(entry, now, own) for entry in ring.entries],
                **_owned(ring)}  # fmt: skip
    lines = [_line(entry, now, own) for entry in ring.entries]
    if ring.seal is not None:
        lines.append(_seal_line(ring))
    if not project.keyring.exists():
        lines.append(f"no keyring at {project.keyring}")
    if lost:
        lines.append(lost)
    elif own is None:
        lines.append("no signing key yet: the first release makes one, or 'keys generate'")
    elif ring.get(own) is None:
        lines.append(f"{own}  signs, and is not in the keyring: 'keys add' enters its public key")
    emit(document, lines)


@keys.command("rotate", short_help="Replace the signing key by a new one.")
def rotate(expires: ExpiresOption = None, note: NoteOption = "") -> None:
    """Replace the project's signing key by a new key. The old key is retired now.

    This machine must have the old private key. On a second machine, use 'policy-engine join'
    instead, which replaces no key. Everything that the old key has signed stays valid. The old
    private key is kept beside the new key in the file NAME.ID.pem. ID is the first 8 digits of the
    old key's id. Give the new keyring to everyone who has the old keyring.

    Example: policy-engine keys rotate --expires 2027-12-31
    """
    project, now = own_project(), _now()
    done = rotate_key(project, now, expires=_last_moment(expires), note=note)
    ring = Keyring.read(project.keyring)
    entries = [ring.find(name) for name in (done.old, done.new)]
    document = {"keyring": project.keyring, "kept": done.kept, "signs": done.new,
                "keys": [_document(entry, now, done.new) for entry in entries]}  # fmt: skip
    lines = [_line(entry, now, done.new) for entry in entries]
    confirm(document, [*lines, f"the old private key is kept as {done.kept}"])


@keys.command("sign", short_help="Sign the keyring, as one of its owners.")
def sign(
    key: Annotated[Path, Option(help="The PEM file of an owner's private key.", readable=False)],
    expires: Annotated[
        str | None, Option(help="The last day on which the signed keyring is valid, in UTC.")
    ] = None,
    owner: Annotated[
        list[Path] | None,
        Option(
            help="The public key of somebody who is an owner from now on. Repeat the option for"
            " each owner."
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        Option(help="The number of owners who must sign. Default: the present number, or 1."),
    ] = None,
) -> None:
    """Sign the project's keyring in its present state, with a key that signs nothing else.

    After the first signature, the keyring is a signed keyring. --expires is the last day on which a
    signed keyring is valid. --owner and --threshold say who must sign each change. Without --owner,
    the owner is the person who signs now.

    Each change of the keyring makes its signatures invalid and increases its serial number. So a
    new key counts only after the keyring is signed again. But a revoked key stops counting
    immediately. If you change the owners, the former owners must also sign.

    The output shows all differences from the last keyring that was seen on this machine. Read these
    differences before you give the keyring to others.

    Example: policy-engine keys sign --key /media/stick/owner.pem --expires 2027-12-31
    """
    project, now, signer = own_project(), _now(), KeySigner(load_private_key(key))
    seen = Keyring.at(project.ring_seen)
    former = project.owners if seen.seal is None else (*project.owners, *seen.seal.owners.keys)
    ends = _last_moment(expires)

    def entered(ring: Keyring) -> Keyring:
        owners = _owners(ring, signer.public_key, owner or [], threshold)
        return signed(ring, signer, now, expires=ends, owners=owners, former=former)

    ring = change(project.keyring, entered)
    waits = ""
    try:
        check_signed(ring)
        check_follows(seen, ring)
        remember(project, ring)
    except FileError as error:
        waits = str(error)
    before = {_line(entry, now) for entry in seen.entries}
    changed = [line for entry in ring.entries if (line := _line(entry, now)) not in before]
    gone = [each.key_id for each in seen.entries if ring.get(each.key_id) is None]
    document = {"keyring": ring.where, **_owned(ring), "waits": waits, "changed": changed,
                "removed": gone}  # fmt: skip
    told = [f"  now  {line}" for line in changed] + [f"  gone {name}" for name in gone]
    lines = [_seal_line(ring), *told, *([waits] if waits else []), *_to_pin(project, ring)]
    confirm(document, lines)


@keys.command("update", short_help="Replace a keyring that you keep by a newer one.")
def update(
    keyring: Annotated[Path, Argument(help="The keyring that you keep.", readable=False)],
    newer: Annotated[
        list[Path],
        Argument(
            help="The newer keyring. If you have several, name them from old to new.",
            readable=False,
        ),
    ],
) -> None:
    """Replace your copy of another project's keyring by a newer keyring.

    The command checks that enough owners have signed the newer keyring, by the rules of both
    keyrings. It also checks that the serial number is not lower. So you can take the newer keyring
    from any place. But get the first keyring over a channel that you trust.

    Example: policy-engine keys update census.keys.json download/keys.json
    """
    found = [Keyring.read(path) for path in newer]
    Keyring.read(keyring)

    def newest(kept: Keyring) -> Keyring:
        ring = kept
        check_signed(ring)
        for each in found:
            if each.seal is None:
                raise UsageError(f"{each.where}: nobody has signed this keyring; copy it by hand")
            check_signed(each)
            check_follows(ring, each)
            ring = each
        return replace(ring, where=kept.where)

    ring = change(keyring, newest)
    confirm({"keyring": ring.where, **_owned(ring)}, [_seal_line(ring)])


@keys.command("retire", short_help="Retire a key: what it signed before counts.")
def retire(key: KeyArgument) -> None:
    """Retire a key now. Its earlier signatures still count. Its later signatures do not count.

    Use this command for a key of CI, or for a key in a key management service. If the project's own
    key is a file, use 'keys rotate'.

    Example: policy-engine keys retire 3fa2b1c4
    """
    now = _now()
    _show_one(change(own_project().keyring, lambda ring: ring.retiring(key, now)), key, now)


@keys.command("revoke", short_help="Revoke a key: nothing that it signed counts.")
def revoke(
    key: KeyArgument,
    why: Annotated[str, Option(help="The reason. 'verify' shows it to others.")],
) -> None:
    """Revoke a key for ever. No certificate that it has signed counts any more.

    Revoke a key if a stranger may have it. A retired key would not be safe: the stranger could
    write an early date into a text and sign it.

    The keyring records where the project's ledger ends now. The key's earlier records in the ledger
    still count. Its later records do not count, whatever their date.

    Give the new keyring to everyone who has the old keyring. People who trust the public key
    itself, with --key, do not learn that the key is revoked.

    Example: policy-engine keys revoke 3fa2b1c4 --why "the laptop was stolen"
    """
    from policy_engine.releasing.books import ledger_at_rest

    now, project = _now(), own_project()
    with ledger_at_rest(project) as (end, fault):
        ring = change(project.keyring, lambda ring: ring.revoking(key, now, why, end))
    if fault:
        say(
            f"where the ledger ends is not noted, so what the key has signed there counts by the"
            f" time that it states: {fault}; run the same command again once it can be read"
        )
    _show_one(ring, key, now)


def _own_place(project: Project) -> Path:
    """Where the project's own key goes, if it has none yet."""
    if project.signing_command:
        raise UsageError(
            "the project signs by a command; name a place for another key with --output"
        )
    path = project.signing_key
    if path.exists():
        raise UsageError(
            f"{path} exists; 'policy-engine keys rotate' puts a new key in its place, --output"
            " makes another one"
        )
    if lost := lost_key(project):
        raise UsageError(f"{lost}; --output makes a key for something else")
    return path


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _day(option: str, text: str) -> datetime:
    """The first moment of a day."""
    try:
        if len(text) != len("2027-12-31"):
            raise ValueError
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{option} must be a day as 2027-12-31, found {text[:80]!a}") from None


def _last_moment(expires: str | None) -> datetime | None:
    """The last moment of the day of ``--expires``."""
    if expires is None:
        return None
    return _day("--expires", expires) + timedelta(hours=23, minutes=59, seconds=59)


def _show_one(ring: Keyring, name: str, now: datetime) -> None:
    entry = ring.find(name)
    confirm({"keyring": ring.where, **_document(entry, now)}, [_line(entry, now)])


def _document(entry: RingKey, now: datetime, own: str | None = None) -> Mapping[str, object]:
    return {**document_of(entry), "state": _state(entry, now, own)}


def _line(entry: RingKey, now: datetime, own: str | None = None) -> str:
    dates = entry.validity
    until = "" if dates.until is None else f" until {written(dates.until)}"
    words = [entry.key_id, f"{_state(entry, now, own):<8}", f"from {written(dates.added)}{until}"]
    if dates.revoked is not None:
        words.append(f"revoked {written(dates.revoked.at)}: {dates.revoked.why}")
    return "  ".join([*words, *([entry.note] if entry.note else [])])


def _state(entry: RingKey, now: datetime, own: str | None) -> str:
    """revoked, retired, expired, signs or valid."""
    refusal = entry.validity.refusal(entry.key_id, now)
    if refusal is not None:
        return refusal.kind
    # A key retired this very second counts still.
    if entry.validity.retired is not None:
        return "retired"
    return "signs" if entry.key_id == own else "valid"


def _owners(
    ring: Keyring, own: Ed25519PublicKey, paths: list[Path], threshold: int | None
) -> Owners | None:
    """The owners that were named; None where they stay as they were."""
    if not paths and threshold is None:
        return None
    before = None if ring.seal is None else ring.seal.owners
    named = [load_public_key(path) for path in paths] or ([] if before else [own])
    keys = tuple(key.public_bytes(Encoding.Raw, PublicFormat.Raw) for key in named)
    needed = (before.threshold if before else 1) if threshold is None else threshold
    return Owners(keys or (before.keys if before else ()), needed)


@frozen
class SealSaid:
    """What a keyring says of its owners, and who of them has signed it."""

    serial: int
    issued: str
    expires: str
    owners: tuple[str, ...]
    threshold: int
    signed_by: tuple[str, ...]
    signed: bool


def _sealed(ring: Keyring) -> SealSaid | None:
    seal = ring.seal
    if seal is None:
        return None
    owners = (key_id(Ed25519PublicKey.from_public_bytes(raw)) for raw in seal.owners.keys)
    return SealSaid(
        seal.serial,
        written(seal.issued),
        written(seal.expires),
        tuple(owners),
        seal.owners.threshold,
        tuple(sorted(seal.signatures)),
        is_signed(ring),
    )


def _owned(ring: Keyring) -> Mapping[str, object]:
    """What a signed keyring says beside its keys; nothing of another."""
    sealed = _sealed(ring)
    return {} if sealed is None else vars(sealed)


def _seal_line(ring: Keyring) -> str:
    told = _sealed(ring)
    if told is None:
        return "nobody has signed the keyring"
    who = f"{told.threshold} of {len(told.owners)} must sign"
    by = f"signed by {', '.join(each[:8] for each in told.signed_by) or 'nobody yet'}"
    state = f"signed, until {told.expires}" if told.signed else "not signed as it must be"
    return f"keyring {told.serial}  {state}  {by}; {who}"


def _to_pin(project: Project, ring: Keyring) -> list[str]:
    """What to write into the project file so that no checkout takes an unsigned keyring."""
    if project.owners or ring.seal is None:
        return []
    owners = ", ".join(map(key_in_yaml, ring.seal.owners.keys))
    needed = f", threshold: {ring.seal.owners.threshold}" * (ring.seal.owners.threshold > 1)
    file = project.file or "policy-engine.yaml"
    return [
        f"write 'signing: {{owners: [{owners}]{needed}}}' into {file}: none but a signed one serves"
    ]
