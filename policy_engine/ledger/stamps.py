"""RFC 3161 time stamps of a ledger's head: an authority's word that it was there at a time.

A stamp keeps nothing: it is stored with the head it is of, in an outside witness. The authority
learns a hash.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from policy_engine.errors import FileError, LedgerBroken, UsageError, to_install
from policy_engine.ledger.chain import Head

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

_MOST_BYTES = 1 << 20
_SECONDS = 30


def message_of(head: Head) -> bytes:
    """The bytes that are stamped.

    >>> message_of(Head(1, "ab"))
    b'https://policy-engine.dev/ledger-head/v1\\n1:ab\\n'
    """
    return f"https://policy-engine.dev/ledger-head/v1\n{head.records}:{head.hash}\n".encode()


def stamp_of(head: Head, authority: str) -> bytes:
    """What a time stamp authority answers over HTTP: DER, of this head, with its certificate.

    Whose certificate it is ``stamped_at`` asks. Raises FileError where no such answer comes.
    """
    _require()
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    if urlsplit(authority).scheme not in ("http", "https"):
        raise UsageError(f"--tsa must be an http or https address, found {authority[:100]!a}")
    builder = TimestampRequestBuilder().data(message_of(head))
    request = builder.hash_algorithm(HashAlgorithm.SHA256).build()
    answer = _asked(authority, request.as_bytes())
    found = _decoded(answer)
    if found is None:
        raise FileError(f"{authority}: the answer is no time stamp in DER")
    if found.status != 0:
        raise FileError(f"{authority}: the time stamp authority has not granted a stamp")
    info = found.tst_info
    is_its_own = info.message_imprint.message == request.message_imprint.message
    if not is_its_own or info.nonce != request.nonce:
        raise FileError(f"{authority}: the time stamp is of something else than was asked")
    return answer


def _asked(authority: str, request: bytes) -> bytes:
    headers = {"Content-Type": "application/timestamp-query"}
    try:
        with urlopen(Request(authority, request, headers), timeout=_SECONDS) as answer:
            content: bytes = answer.read(_MOST_BYTES + 1)
    except (URLError, OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise FileError(f"{authority}: the time stamp authority did not answer: {why}") from None
    if len(content) > _MOST_BYTES:
        raise FileError(f"{authority}: the answer is longer than a time stamp can be")
    return content


def stamped_at(stamp: bytes, head: Head, roots: tuple[Certificate, ...]) -> datetime:
    """When an authority that ``roots`` vouch for saw a head.

    The certificates held at that time; whether one was revoked since is not looked at. Raises
    LedgerBroken where the stamp is of another head, or of another authority.
    """
    _require()
    from rfc3161_client import VerificationError, VerifierBuilder

    found, builder = _decoded(stamp), VerifierBuilder()
    for each in dict.fromkeys(roots):
        builder = builder.add_root_certificate(each)
    name = f"{head.records}:{head.hash}"
    if found is None:
        raise LedgerBroken(f"the time stamp of head {name} cannot be read")
    try:
        builder.build().verify_message(found, message_of(head))
    except (VerificationError, ValueError) as error:
        raise LedgerBroken(f"the time stamp of head {name} does not hold: {error}") from None
    return found.tst_info.gen_time


def read_roots(path: Path) -> tuple[Certificate, ...]:
    """The certificates of authorities that are trusted, from a PEM file."""
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return tuple(load_pem_x509_certificates(path.read_bytes()))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise FileError(f"{path} holds no PEM certificate") from None


def _decoded(stamp: bytes) -> TimeStampResponse | None:
    from rfc3161_client import decode_timestamp_response

    try:
        return decode_timestamp_response(stamp)
    except ValueError:
        return None


def _require() -> None:
    try:
        import rfc3161_client  # noqa: F401
    except ImportError:
        raise FileError(
            "time stamps need rfc3161-client, which is not installed; run"
            f" {to_install('timestamps')}"
        ) from None
