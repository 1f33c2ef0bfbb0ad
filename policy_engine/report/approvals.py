"""Approvals beside a certificate, shown as they are: who says so is checked, nothing is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.attest.attestation import (
    LARGEST_ENVELOPE,
    Envelope,
    open_envelope,
    stated_type,
)
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.releasing.publish import CERTIFICATE_SUFFIX

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys

SUFFIX = ".approvals.intoto.jsonl"


@dataclass(frozen=True)
class ApprovalLine:
    """One line of a bundle: what it says, of what, by which key; ``fault`` is why nobody is it.

    A text is None where the line does not state it.
    """

    verdict: str | None
    role: str | None
    time: str | None
    note: str | None
    subject: str | None
    sha256: str | None
    key_id: str | None
    fault: str


def read_approvals(certificate: Path, keys: TrustedKeys) -> tuple[ApprovalLine, ...]:
    """The lines that stand beside a certificate; none where there is no such file.

    Guarantee: a line without a ``fault`` was signed by a trusted key. Raises FileError where the
    file is there and cannot be read.
    """
    name = certificate.name
    stems = (name.removesuffix(CERTIFICATE_SUFFIX), certificate.stem)
    found = (certificate.with_name(f"{stem}{SUFFIX}") for stem in stems)
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        return ()
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST_ENVELOPE)
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path} could not be read: it is no text") from None
    return tuple(_lines(text, keys))


def _lines(text: str, keys: TrustedKeys) -> Iterator[ApprovalLine]:
    for line in text.split("\n"):
        if line.strip():
            yield _line(line, keys)


def _line(line: str, keys: TrustedKeys) -> ApprovalLine:
    try:
        envelope = Envelope.from_json(line)
    except VerificationFailed as error:
        return ApprovalLine(None, None, None, None, None, None, None, str(error))
    try:
        open_envelope(line, keys, stated_type(line) or "a statement")
        return _told(envelope, "")
    except VerificationFailed as error:
        return _told(envelope, str(error))


def _told(envelope: Envelope, fault: str) -> ApprovalLine:
    """What a payload says, whoever signed it; what is of another form is not stated."""
    try:
        said = json.loads(envelope.payload)
    except (UnicodeDecodeError, ValueError, RecursionError):
        said = None
    told = _object(_object(said).get("predicate"))
    subjects = _object(said).get("subject")
    subject = _object(subjects[0]) if isinstance(subjects, list) and subjects else {}
    return ApprovalLine(
        verdict=_text(told.get("verdict")),
        role=_text(told.get("role")),
        time=_text(told.get("time")),
        note=_text(told.get("note")),
        subject=_text(subject.get("name")),
        sha256=_text(_object(subject.get("digest")).get("sha256")),
        key_id=envelope.key_id,
        fault=fault,
    )


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
