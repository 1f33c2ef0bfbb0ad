"""join: a second machine or clone of a project gets what it needs to release."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Option

from policy_engine.cli.output import conclude
from policy_engine.cli.reading import own_project


def join(
    sealing: Annotated[
        Path | None,
        Option(help="A copy of sealing.pem from a machine that already releases.", readable=False),
    ] = None,
    keyring: Annotated[
        Path | None,
        Option(help="A copy of the project's keyring, keys.json.", readable=False),
    ] = None,
) -> None:
    """Prepare a new machine or a new clone of a project, so that it can also make releases.

    The command makes a signing key for this machine and prints its public key. The person who keeps
    the keyring must add this public key. The command also copies the sealing key and the keyring
    that you name to their places, and looks for the ledger.

    If something is missing, the output says what, and the exit code is 1. You can run the command
    again after each step, because it never overwrites a file. It does not copy, replace or retire
    the signing key of another machine.

    Example: policy-engine join --sealing /media/stick/sealing.pem
    """
    from policy_engine.releasing import joining

    project = own_project()
    found = joining.join(project, datetime.now(UTC), ring=keyring, sealing_key=sealing)
    document = {
        "signs": found.key_id,
        "made": found.made,
        "public_key": found.public,
        "entered": found.entered,
        "joined": not found.lacks,
        "lacks": found.lacks,
    }
    made = "" if found.made is None else f"made {found.made}: "
    lines = [f"{made}this machine signs with the key {found.key_id}"]
    if not found.entered:
        lines += found.public.rstrip().split("\n")
    lines += [f"lacks {each}" for each in found.lacks]
    if not found.lacks:
        lines.append(f"joined: its key is in {project.keyring}, and {project.ledger_name} holds")
    conclude(document, lines, 1 if found.lacks else 0)
