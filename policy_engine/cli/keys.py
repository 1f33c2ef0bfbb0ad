"""keys: who signs for a project, and which signatures count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.everywhere import Commands
from policy_engine.cli.output import Format, FormatOption, confirm, emit, note
from policy_engine.cli.owners import seal_line, sealed, sign, update
from policy_engine.cli.reading import project_here
from policy_engine.errors import UsageError

if TYPE_CHECKING:
    from policy_engine.attest.keyring import Keyring
    from policy_engine.attest.ring_text import Entry
    from policy_engine.policy.project import Project

keys = Commands()

ExpiresOption = Annotated[
    str | None, typer.Option(help="The last day, in UTC, on which it signs: 2027-12-31.")
]
NoteOption = Annotated[str, typer.Option(help="A line about the key, for people.")]
KeyArgument = Annotated[
    str, typer.Argument(metavar="KEYID", help="A key id, or its first 8 or more digits.")
]


@keys.callback()
def root() -> None:
    """The signing key, and the keyring: the public keys that count, with their dates.

    The keyring is that of the project file found upwards from the working directory: keys.json
    beside the signing key. It holds no secret; hand it out to whoever verifies.

    Example: policy-engine keys list
    """


@keys.command("generate", short_help="Make a key and enter it into the keyring.")
def generate(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the private key goes; default: the project's."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", hidden=True)] = None,
    expires: ExpiresOption = None,
    note: NoteOption = "",
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Make an Ed25519 key and enter it into the keyring.

    The private key is a PEM file that only you can read; its public key stands beside it, as
    .pub. No file is overwritten. A project's first release makes a key where there is none.

    Example: policy-engine keys generate --output ci.pem --expires 2027-12-31 --note CI
    """
    from policy_engine.attest.making import make_key

    project, now = project_here(), now_here()
    path = output or out or _own_place(project)
    made = make_key(path, project.keyring, now, expires=last_moment(expires), note=note)
    document = {"private_key": str(path), **_document(made, now, None)}
    lines = [f"made {path} and {path.with_suffix('.pub')}", key_line(made, now, None)]
    confirm(document, lines, format)


@keys.command("add", short_help="Enter a public key that was made elsewhere.")
def add(
    public_key: Annotated[Path, typer.Argument(help="A public key: a PEM file.", readable=False)],
    since: Annotated[
        str | None, typer.Option(help="Since when it is known, a day in UTC; default: now.")
    ] = None,
    expires: ExpiresOption = None,
    note: NoteOption = "",
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Enter a public key into the keyring: that of a command, of CI, or of someone you trust.

    Example: policy-engine keys add kms.pub --note "the KMS key"
    """
    from policy_engine.attest.keyring import change
    from policy_engine.attest.keys import TrustedKeys

    [key] = TrustedKeys.load(public_key).by_id.values()
    now = now_here()
    added = now if since is None else _day("--since", since)
    last, path = last_moment(expires), project_here().keyring
    ring = change(path, lambda ring: ring.adding(key, added, expires=last, note=note))
    _show_one(ring, key, now, format)


@keys.command("list", short_help="The keys of the keyring, and which one signs.")
def list_(
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """List the keys of the keyring with their dates, and which one signs for the project.

    Example: policy-engine keys list
    """
    from policy_engine.attest.keyring import Keyring
    from policy_engine.attest.keys import key_id
    from policy_engine.attest.signers import lost_key, public_key_of

    project, now = project_here(), now_here()
    ring, lost = Keyring.at(project.keyring), lost_key(project)
    key = None if lost else public_key_of(project)
    own = None if key is None else key_id(key)
    document: dict[str, Any] = {
        "keyring": str(project.keyring),
        "signs": own,
        "keys": [_document(entry, now, own) for entry in ring.entries],
    }
    lines = [key_line(entry, now, own) for entry in ring.entries]
    if ring.seal is not None:
        document |= sealed(ring)
        lines.append(seal_line(ring))
    if not project.keyring.exists():
        lines.append(f"no keyring at {project.keyring}")
    if lost:
        lines.append(lost)
    elif own is None:
        lines.append("no signing key yet: the first release makes one, or 'keys generate'")
    elif ring.get(own) is None:
        lines.append(f"{own}  signs, and is not in the keyring: 'keys add' enters its public key")
    emit(document, lines, format)


@keys.command("rotate", short_help="A new signing key; the old one is retired now.")
def rotate(
    expires: ExpiresOption = None,
    note: NoteOption = "",
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Put a new key in the place of the project's; the old one is retired now.

    What the old key signed before verifies as before. Its private key is kept beside the new one,
    as NAME.ID.pem with the first 8 digits of its id. Hand out the keyring again.

    Example: policy-engine keys rotate --expires 2027-12-31
    """
    from policy_engine.attest.keyring import Keyring
    from policy_engine.attest.making import rotate as rotated

    project, now = project_here(), now_here()
    done = rotated(project, now, expires=last_moment(expires), note=note)
    ring = Keyring.read(project.keyring)
    entries = [ring.find(name) for name in (done.old, done.new)]
    document = {
        "keyring": str(project.keyring),
        "kept": None if done.kept is None else str(done.kept),
        "signs": done.new,
        "keys": [_document(entry, now, done.new) for entry in entries],
    }
    lines = [key_line(entry, now, done.new) for entry in entries]
    kept = "is lost" if done.kept is None else f"is kept as {done.kept}"
    lines.append(f"the old private key {kept}")
    confirm(document, lines, format)


keys.command("sign", short_help="Sign the keyring, as one of its owners.")(sign)
keys.command("update", short_help="Put a newer signed keyring in the place of yours.")(update)


@keys.command("retire", short_help="A key that was replaced elsewhere signs no more.")
def retire(
    key: KeyArgument,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Retire a key now: what it signed before counts, what it signs later does not.

    For a key of a command or of CI; rotate does it for the project's own.

    Example: policy-engine keys retire 3fa2b1c4
    """
    from policy_engine.attest.keyring import change

    now = now_here()
    ring = change(project_here().keyring, lambda ring: ring.retiring(key, now))
    _show_one(ring, ring.find(key).public_key, now, format)


@keys.command("revoke", short_help="Withdraw a key: nothing that it signed counts.")
def revoke(
    key: KeyArgument,
    why: Annotated[str, typer.Option(help="The reason, which verify shows to others.")],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Withdraw a key for good: nothing counts any more that it signed, whenever that was.

    Do it when a stranger may have the key: they can state any time. The keyring notes where the
    project's ledger ends now: what the key writes there later counts no more, whatever time it
    states. Hand out the keyring again; who trusts the public key alone, by --key, does not hear of
    it.

    Example: policy-engine keys revoke 3fa2b1c4 --why "the laptop was stolen"
    """
    from policy_engine.attest.keyring import change
    from policy_engine.releasing.books import ledger_at_rest

    now, project = now_here(), project_here()
    with ledger_at_rest(project) as (end, fault):
        ring = change(project.keyring, lambda ring: ring.revoking(key, now, why, end))
    if fault:
        note(
            f"where the ledger ends is not noted, so what the key has signed there counts by the"
            f" time that it states: {fault}; run the same command again once it can be read"
        )
    _show_one(ring, ring.find(key).public_key, now, format)


def _own_place(project: Project) -> Path:
    """Where the project's own key goes, if it has none yet."""
    if project.signing_command:
        raise UsageError(
            "the project signs by a command; name a place for another key with --output"
        )
    for path in (project.signing_key, project.public_key):
        if path.exists():
            raise UsageError(
                f"{path} exists; 'policy-engine keys rotate' puts a new key in its place, --output"
                " makes another one"
            )
    return project.signing_key


def now_here() -> datetime:
    """This second."""
    return datetime.now(UTC).replace(microsecond=0)


def _day(option: str, text: str) -> datetime:
    """The first moment of a day."""
    try:
        if len(text) != len("2027-12-31"):
            raise ValueError
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{option} must be a day as 2027-12-31, found {text[:80]!a}") from None


def last_moment(expires: str | None) -> datetime | None:
    """The last moment of the day of ``--expires``."""
    if expires is None:
        return None
    return _day("--expires", expires) + timedelta(hours=23, minutes=59, seconds=59)


def _show_one(ring: Keyring, key: Any, now: datetime, form: Format) -> None:
    from policy_engine.attest.keys import key_id

    entry = ring.find(key_id(key))
    document = {"keyring": ring.where, **_document(entry, now, None)}
    confirm(document, [key_line(entry, now, None)], form)


def _document(entry: Entry, now: datetime, own: str | None) -> dict[str, Any]:
    from policy_engine.attest.ring_text import document_of

    return {**document_of(entry), "state": _state(entry, now, own)}


def key_line(entry: Entry, now: datetime, own: str | None = None) -> str:
    """A key of the keyring on one line."""
    from policy_engine.attest.validity import written

    dates, state = entry.validity, _state(entry, now, own)
    until = "" if dates.until is None else f" until {written(dates.until)}"
    words = [entry.key_id, f"{state:<8}", f"from {written(dates.added)}{until}"]
    if dates.revoked is not None:
        words.append(f"revoked {written(dates.revoked.at)}: {dates.revoked.why}")
    return "  ".join([*words, *([entry.note] if entry.note else [])])


def _state(entry: Entry, now: datetime, own: str | None) -> str:
    """revoked, retired, expired, signs or valid."""
    refusal = entry.validity.refusal(entry.key_id, now)
    if refusal is not None:
        return refusal.kind
    # A key retired this very second counts still.
    if entry.validity.retired is not None:
        return "retired"
    return "signs" if entry.key_id == own else "valid"
