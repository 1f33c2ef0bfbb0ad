"""Approvals of a release: whose each is and whether it counted, as the ledger says.

Where no ledger is here, a line says which key it names, and nobody knows whose that is. No key that
counts for an approval says anything of the certificate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from policy_engine.attest.approvals import lines_of
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
    from policy_engine.report.judged import LedgersWord

SUFFIX = ".approvals.intoto.jsonl"


Standing = Literal["counted", "not counted", "signed", "not known", "broken"]
_ELSEWHERE = "whose the key is stands in the review policy, which is not here"
_NOT_ASKED = "nobody was asked to approve this"


@dataclass(frozen=True)
class ApprovalLine:
    """One approval: what it says, of what, by whom.

    ``standing`` is by the ledger; without one, ``signed`` by a trusted key or ``not known``. A line
    that is none is ``broken``. ``fault`` is why it is neither counted nor signed. A text is None
    where the line does not state it, ``person`` where nobody is known by the key.
    """

    verdict: str | None
    role: str | None
    time: str | None
    note: str | None
    subject: str | None
    sha256: str | None
    key_id: str | None
    person: str | None
    standing: Standing
    fault: str


def read_approvals(
    certificate: Path, keys: TrustedKeys, judged: tuple[LedgersWord, ...] | None
) -> tuple[ApprovalLine, ...]:
    """The lines that stand beside a certificate, and those that the ledger has kept of it.

    Guarantee: a line is ``counted`` where the ledger has recorded it with the charge, and
    ``signed`` where a trusted key has signed it. Raises FileError where the file is there and
    cannot be read.
    """
    kept = (line for each in judged or () for line in each.brought.approvals)
    lines = dict.fromkeys((*lines_of(bundle_beside(certificate)), *kept))
    return tuple(_line(line, keys, judged) for line in lines)


def bundle_beside(certificate: Path) -> str:
    """The text of the bundle beside a certificate, empty where there is none."""
    name = certificate.name
    stems = (name.removesuffix(CERTIFICATE_SUFFIX), certificate.stem)
    found = (certificate.with_name(f"{stem}{SUFFIX}") for stem in stems)
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        return ""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LARGEST_ENVELOPE)
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path} could not be read: it is no text") from None


def _line(line: str, keys: TrustedKeys, judged: tuple[LedgersWord, ...] | None) -> ApprovalLine:
    try:
        envelope = Envelope.from_json(line)
    except VerificationFailed as error:
        nothing = (None,) * 8
        return ApprovalLine(*nothing, "broken", str(error))
    said = _said(envelope)
    if judged is None:
        return _told(envelope, said, None, *_signed(line, envelope, keys))
    stage = _object(said.get("predicate")).get("stage")
    own = next((each for each in judged if each.stage == stage), None)
    if own is None:
        return _told(envelope, said, None, "not counted", _NOT_ASKED)
    person = own.person(line)
    why = own.why_not(line, _text(_object(said.get("predicate")).get("time")))
    name = None if person is None else person.name
    return _told(envelope, said, name, "not counted" if why else "counted", why)


def _signed(line: str, envelope: Envelope, keys: TrustedKeys) -> tuple[Standing, str]:
    """Whether a trusted key has signed a line; a stranger's may be good for all that is known."""
    try:
        open_envelope(line, keys, stated_type(line) or "a statement")
    except VerificationFailed as error:
        is_known = envelope.key_id in keys.by_id or not envelope.key_id
        return ("broken", str(error)) if is_known else ("not known", _ELSEWHERE)
    return "signed", ""


def _said(envelope: Envelope) -> dict[str, Any]:
    """What a payload says, whoever signed it."""
    try:
        return _object(json.loads(envelope.payload))
    except (UnicodeDecodeError, ValueError, RecursionError):
        return {}


def _told(
    envelope: Envelope, said: dict[str, Any], person: str | None, standing: Standing, fault: str
) -> ApprovalLine:
    """What is said of a line; what is of another form is not stated."""
    told = _object(said.get("predicate"))
    subjects = said.get("subject")
    subject = _object(subjects[0]) if isinstance(subjects, list) and subjects else {}
    return ApprovalLine(
        verdict=_text(told.get("verdict")),
        role=_text(told.get("role")),
        time=_text(told.get("time")),
        note=_text(told.get("note")),
        subject=_text(subject.get("name")),
        sha256=_text(_object(subject.get("digest")).get("sha256")),
        key_id=envelope.key_id,
        person=person,
        standing=standing,
        fault=fault,
    )


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
