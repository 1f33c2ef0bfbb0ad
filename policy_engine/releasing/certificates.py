"""Certificates of releases in a project's folder: what they tell of its ledger."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from policy_engine.attest.attestation import (
    LARGEST_ENVELOPE,
    PREDICATE_TYPE,
    RELEASE_TYPES,
    open_envelope,
    stated_type,
)
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.parquet_file import METADATA_KEY
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.entry import Entry
from policy_engine.policy.project import PROJECT_FILE
from policy_engine.releasing.publish import CERTIFICATE_SUFFIX
from policy_engine.releasing.requests import predicate_digest


def certificates_in(folder: Path) -> Iterator[Path]:
    """The certificates of releases in a folder and below it, whoever signed them."""
    return filter(is_of_a_release, files_in(folder, (CERTIFICATE_SUFFIX,)))


def files_in(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """The files in a folder and below it whose names end so.

    Hidden folders, environments, and folders that are projects of their own are left out.
    """
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_apart(Path(place, name)))
        yield from (Path(place, name) for name in sorted(files) if name.endswith(endings))


def _is_apart(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.name == "node_modules":
        return True
    return any((folder / name).exists() for name in (PROJECT_FILE, "pyvenv.cfg"))


def is_of_a_release(path: Path) -> bool:
    """Whether a file states that it is the certificate of a release; nothing is verified."""
    return stated_type(_content(path)) in RELEASE_TYPES


def _content(path: Path) -> bytes:
    """What a file holds; nothing where it cannot be read, or is no certificate by its size."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_ENVELOPE + 1)
    except OSError:
        return b""


def forgotten(
    paths: Iterable[Path], entries: Iterable[Entry], trusted: TrustedKeys
) -> tuple[Path, ...]:
    """The certificates, signed by a trusted key, that no entry was charged for."""
    known = {entry.certificate_digest for entry in entries}
    return tuple(path for path in paths if _digest(path, trusted) not in {"", *known})


def forgotten_text(paths: tuple[Path, ...]) -> str:
    """What certificates tell that no entry was charged for."""
    many = "is the certificate of a release that" if len(paths) == 1 else "are of releases that"
    return (
        f"{', '.join(map(str, paths))} {many} this ledger has not charged: an older copy of the"
        " ledger was put back, or another one was charged. What is missing was spent all the same:"
        " restore the newer ledger, or lower the account's limit by it"
    )


def _digest(path: Path, trusted: TrustedKeys) -> str:
    """What the ledger calls a certificate; empty where no trusted key has signed it."""
    try:
        text = _content(path)
        stated = stated_type(text)
        kind = stated if stated in RELEASE_TYPES else PREDICATE_TYPE
        return predicate_digest(open_envelope(text, trusted, kind).predicate)
    except VerificationFailed:
        return ""


def carried_facts(path: Path) -> dict[str, Any]:
    """What a release's file carries of its certificate; empty of another file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        carried = (pq.read_schema(path).metadata or {}).get(METADATA_KEY.encode(), b"{}")
        found = json.loads(carried)
    except (OSError, ValueError, pa.ArrowException):
        return {}
    return found if isinstance(found, dict) else {}
