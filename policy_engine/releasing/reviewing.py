"""The files of a review: a request, the approvals that answer it, and a release that waits.

All stand beside the certificate, or where it will stand. A request is the signed statement and,
beside it, what is shown to who approves, which it names by digest. The ledger decides by what is in
these files, and records it: losing one costs an approval, and never a charge.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from policy_engine.attest.approvals import Brought, Stage, lines_of
from policy_engine.attest.attestation import LARGEST_ENVELOPE
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.keys import explained
from policy_engine.errors import FileError, NotApproved
from policy_engine.kernel.certificate import Certificate
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Run
from policy_engine.opening import opened
from policy_engine.policy.project import Project
from policy_engine.policy.reading import meant
from policy_engine.releasing.publish import write_certificate
from policy_engine.releasing.requests import Ends
from policy_engine.values import frozen

REQUEST_SUFFIX = ".review.json"
_LARGEST = 4 * LARGEST_ENVELOPE


@frozen
class RequestFile:
    """What a request file holds: the signed ``request``, and beside it what that names by digest.

    ``shown`` is what is to be approved, ``last`` what was approved before it, and
    ``review_policy`` the document by which it is approved.
    """

    request: str
    shown: Mapping[str, Any]
    last: Mapping[str, object]
    review_policy: Mapping[str, object]


def request_file(certificate: Path, stage: Stage) -> Path:
    """Where the request of a stage stands.

    >>> request_file(Path("out/a.certificate.json"), "claim").as_posix()
    'out/a.certificate.claim.review.json'
    """
    return certificate.with_name(f"{certificate.stem}.{stage}{REQUEST_SUFFIX}")


def change_file(account: str, what: str, project: Project) -> Path:
    """Where the request of a change of an account stands, as of its ``limit``."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", account)
    return project.directory / f"{name}.{what}.change.review.json"


def approvals_file(request: Path) -> Path:
    """Where the approvals that answer a request stand, one statement a line.

    >>> approvals_file(Path("out/a.certificate.claim.review.json")).as_posix()
    'out/a.certificate.approvals.intoto.jsonl'
    """
    stem = request.name.removesuffix(REQUEST_SUFFIX)
    for stage in ("claim", "release", "change"):
        stem = stem.removesuffix(f".{stage}")
    return request.with_name(f"{stem}.approvals.intoto.jsonl")


def brought_at(request: Path) -> Brought:
    """What somebody brings by a request file: it and the approvals beside it; nothing without one.

    Raises FileError where a file cannot be read.
    """
    if not request.exists():
        return Brought()
    found, beside = read_request(request), approvals_file(request)
    lines = tuple(lines_of(_read(beside))) if beside.exists() else ()
    return Brought(found.request, lines, str(request))


def read_request(path: Path) -> RequestFile:
    """What a request file holds; nothing is verified. Raises FileError where it is none."""
    try:
        found = json.loads(_read(path))
        parts = [found[each.name] for each in fields(RequestFile)]
        if all(isinstance(part, dict) for part in parts) and len(found) == len(parts):
            envelope = json.dumps(parts[0], sort_keys=True, separators=(",", ":"))
            return RequestFile(envelope, *parts[1:])
    except (KeyError, TypeError, ValueError, RecursionError):
        pass
    raise FileError(f"{path}: must be a request of 'policy-engine review request', found another")


def write_request(path: Path, request: RequestFile) -> None:
    """Put a request in its place; one that stands there is replaced."""
    document = {**vars(request), "request": json.loads(request.request)}
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    with explained(f"{path}: cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    write_certificate(text, path, replace=False)


def add_approval(request: Path, line: str) -> Path:
    """Add a line to the approvals that answer a request; where they stand."""
    path = approvals_file(request)
    with explained(f"{path}: cannot write the approval"), path.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
        # A copy that lost its last line end must not join two statements.
        gap = b"\n" if end and file.read(1) != b"\n" else b""
        file.write(gap + line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return path


def asked_for(charge: Charge, certificate: Certificate, ends: Ends) -> Charge:
    """A charge before it has a run of its own: with all that is approved of it."""
    run = Run(predicate=predicate_of(certificate), target=ends.name)
    return replace(charge, run=run)


def check_brought(books: Books, charge: Charge, certificate: Certificate, ends: Ends) -> None:
    """Return if what an account requires is there before it is charged; NotApproved if not."""
    brought = brought_at(request_file(ends.certificate_path, "claim"))
    books.check_reviewed(replace(asked_for(charge, certificate, ends), brought=brought))


def check_pinned(project: Project, books: Books, account: str) -> None:
    """Return unless the project file names a review policy that the ledger has not.

    Raises NotApproved. A ledger that was begun anew, or an old copy, would require nothing.
    """
    if account not in project.reviews:
        return
    required, wanted = books.approvals.required(account), project.reviews[account]
    found = "none" if required is None else required.policy.digest
    if found != wanted:
        raise NotApproved(
            f"{project.file}: reviews.{account} is {wanted}, and the ledger requires {found}:"
            " nothing is charged. 'policy-engine review require FILE' sets a review policy; if its"
            " people have approved another one, write that digest"
        )


def line_of(row: tuple[Any, ...]) -> str:
    """A row of a released table as the line that is digested.

    >>> line_of((None, 7))
    '[null, "7"]'
    """
    return json.dumps([None if v is None else str(v) for v in row], ensure_ascii=False)


def _read(path: Path) -> str:
    try:
        with opened(path) as file:
            content = file.read(_LARGEST + 1)
        if len(content) <= _LARGEST:
            return content.decode()
    except FileNotFoundError:
        near = meant(path)
        raise FileError(f"{path}: does not exist" + (f"; {near}" if near else "")) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise FileError(f"{path}: cannot be read as text") from None
    raise FileError(f"{path}: has more than {_LARGEST} bytes, which no approvals have")
