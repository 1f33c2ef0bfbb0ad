"""keys sign and keys update: who owns a keyring, and a newer one in the place of an older."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.output import Format, FormatOption, confirm
from policy_engine.errors import FileError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from policy_engine.attest.keyring import Keyring
    from policy_engine.attest.ring_text import Owners
    from policy_engine.policy.project import Project


def sign(
    key: Annotated[Path, typer.Option(help="An owner's private key: a PEM file.", readable=False)],
    expires: Annotated[
        str | None, typer.Option(help="The last day, in UTC, on which the keyring holds.")
    ] = None,
    owner: Annotated[
        list[Path] | None,
        typer.Option(help="The public key of an owner from now on, one --owner each."),
    ] = None,
    threshold: Annotated[
        int | None, typer.Option(help="How many owners must sign; default: as it was, or 1.")
    ] = None,
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Sign the keyring of the project as it is now, with a key that signs nothing else.

    The first signature makes it a signed one: --expires says how long it holds, --owner and
    --threshold who must sign each change of it; without --owner it is who signs. Each change makes
    the signatures void and its serial one higher; nothing new counts until it is signed again, and
    what it withdraws counts at once. Other owners need the signatures of the former ones too.

    It says what is other than in the last one that was seen here: look before you hand it out.

    Example: policy-engine keys sign --key /media/stick/owner.pem --expires 2027-12-31
    """
    from policy_engine.attest.keyring import Keyring, change
    from policy_engine.attest.keys import load_private_key
    from policy_engine.attest.owners import check_follows, check_signed, remember, signed
    from policy_engine.attest.signers import KeySigner
    from policy_engine.cli.keys import key_line, last_moment, now_here
    from policy_engine.cli.reading import project_here

    project, now, signer = project_here(), now_here(), KeySigner(load_private_key(key))
    seen = Keyring.at(project.ring_seen)
    former = project.owners if seen.seal is None else (*project.owners, *seen.seal.owners.keys)
    ends = last_moment(expires)

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
    changed = [line for entry in ring.entries if (line := key_line(entry, now)) not in
               {key_line(each, now) for each in seen.entries}]  # fmt: skip
    gone = [each.key_id for each in seen.entries if ring.get(each.key_id) is None]
    document = {"keyring": ring.where, **sealed(ring), "waits": waits, "changed": changed,
                "removed": gone}  # fmt: skip
    told = [f"  now  {line}" for line in changed] + [f"  gone {name}" for name in gone]
    lines = [seal_line(ring), *told, *([waits] if waits else []), *_to_pin(project, ring)]
    confirm(document, lines, format)


def update(
    keyring: Annotated[Path, typer.Argument(help="The keyring that you keep.", readable=False)],
    newer: Annotated[
        list[Path], typer.Argument(help="The newer one; or several, in order.", readable=False)
    ],
    format: FormatOption = Format.text,  # noqa: A002 - the option's name
) -> None:
    """Put a newer keyring of somebody else in the place of the one that you keep.

    It must be signed by as many owners as it asks for, and by as many as yours asks for, and its
    serial must not be lower: wherever it came from. Get the first one where you trust the channel.

    Example: policy-engine keys update census.keys.json download/keys.json
    """
    from policy_engine.attest.keyring import Keyring, change
    from policy_engine.attest.owners import check_follows, check_signed

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
    confirm({"keyring": ring.where, **sealed(ring)}, [seal_line(ring)], format)


def _owners(
    ring: Keyring, own: Ed25519PublicKey, paths: list[Path], threshold: int | None
) -> Owners | None:
    """The owners that were named; None where they stay as they were."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    from policy_engine.attest.keys import load_public_key
    from policy_engine.attest.ring_text import Owners

    before = None if ring.seal is None else ring.seal.owners
    if not paths and threshold is None:
        return None
    named = [load_public_key(path) for path in paths] or ([] if before else [own])
    keys = tuple(key.public_bytes(Encoding.Raw, PublicFormat.Raw) for key in named)
    needed = (before.threshold if before else 1) if threshold is None else threshold
    return Owners(keys or (before.keys if before else ()), needed)


def sealed(ring: Keyring) -> dict[str, Any]:
    """What a keyring says of its owners, and who of them has signed it."""
    from policy_engine.attest.owners import is_signed
    from policy_engine.attest.validity import written

    seal = ring.seal
    if seal is None:
        return {}
    return {
        "serial": seal.serial,
        "issued": written(seal.issued),
        "expires": written(seal.expires),
        "owners": list(map(_owner_id, seal.owners.keys)),
        "threshold": seal.owners.threshold,
        "signed_by": sorted(seal.signatures),
        "signed": is_signed(ring),
    }


def _owner_id(raw: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from policy_engine.attest.keys import key_id

    return key_id(Ed25519PublicKey.from_public_bytes(raw))


def seal_line(ring: Keyring) -> str:
    """The same on one line."""
    told = sealed(ring)
    if not told:
        return "nobody has signed the keyring"
    who = f"{told['threshold']} of {len(told['owners'])} must sign"
    by = f"signed by {', '.join(each[:8] for each in told['signed_by']) or 'nobody yet'}"
    state = f"signed, until {told['expires']}" if told["signed"] else "not signed as it must be"
    return f"keyring {told['serial']}  {state}  {by}; {who}"


def _to_pin(project: Project, ring: Keyring) -> list[str]:
    """What to write into the project file so that no checkout takes an unsigned keyring."""
    from policy_engine.policy.review_models import key_line as key_in_yaml

    if project.owners or ring.seal is None:
        return []
    owners = ", ".join(map(key_in_yaml, ring.seal.owners.keys))
    needed = f", threshold: {ring.seal.owners.threshold}" * (ring.seal.owners.threshold > 1)
    file = project.file or "policy-engine.yaml"
    return [
        f"write 'signing: {{owners: [{owners}]{needed}}}' into {file}: none but a signed one serves"
    ]
