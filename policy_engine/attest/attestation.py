"""A certificate as others see it: an in-toto Statement in a signed DSSE envelope.

Writing: ``statement`` → bytes → ``sign`` → ``Envelope`` → ``to_document``, or
``to_json`` where one line is wanted. Reading is one step,
``open_envelope``, and in one order: size, JSON, envelope, signature over exactly the bytes
that are then parsed, statement. Nobody gets a ``Statement`` whose signature was not checked.

Formats: in-toto Statement v1 (https://in-toto.io/Statement/v1) and DSSE v1
(https://github.com/secure-systems-lab/dsse). Stricter than DSSE asks: exactly one signature,
with its key id. As DSSE asks: unknown fields of the envelope, which nobody signed, are ignored,
and both base64 alphabets are read; but one named ``statement`` must be what the payload says. The
signed statement itself is an allow-list.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from cryptography.exceptions import InvalidSignature

from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.validity import Kind, moment
from policy_engine.errors import DomainError, VerificationFailed
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.attest.signers import Signer

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://policy-engine.dev/certificate/v1"
UNPROMISED_TYPE = "https://policy-engine.dev/unpromised/v1"
"""Of a release without (ε, δ): no reader of certificates takes its statement for one."""
CHOICE_TYPE = "https://policy-engine.dev/choice/v1"
LEDGER_TYPE = "https://policy-engine.dev/ledger-statement/v1"
"""Of a private choice among recodings, which is charged as a release is, and shows no rows."""
RELEASE_TYPES = (PREDICATE_TYPE, UNPROMISED_TYPE)
CHARGED_TYPES = (*RELEASE_TYPES, CHOICE_TYPE)
"""Of what a ledger has charged."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
LARGEST_ENVELOPE = 10_000_000  # bytes
_READABLE = "statement"
_MOST_NUMBERS = 16
"""Of a longer list of numbers, and of a text of several lines, a reader is shown the digest."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SIGNATURE_BYTES = 64
_REMEDIES: Mapping[Kind, str] = {
    "unknown": "if you know whose key it is, name it with --key or a keyring with --keyring",
    "revoked": "ask for a new release under another key",
    "undated": "ask for a certificate that states its time",
    "expired": "ask for a release under a key that had not expired",
    "retired": "ask for a release under the key that took its place",
}

Json = None | bool | int | str | tuple["Json", ...] | Mapping[str, "Json"]
"""Frozen JSON without fractions: a decimal is text, so that no reader rounds it."""


@frozen
class Unverified:
    """What an envelope says of a release, whoever signed it: nothing may rest on it.

    ``predicate`` is the certificate, deeply frozen: objects are read-only mappings, arrays tuples.
    """

    subject_name: str
    subject_sha256: str
    predicate: Mapping[str, Json]


@frozen
class Statement(Unverified):
    """What a trusted key vouched for; only ``open_envelope`` makes one. ``payload`` was signed."""

    key_id: str
    payload: bytes


@frozen
class Envelope:
    """A DSSE envelope with one signature. Nothing in it is verified: see ``open_envelope``."""

    payload: bytes
    payload_type: str
    key_id: str
    signature: bytes

    def to_json(self) -> str:
        """The envelope as one line of JSON, the same text for the same envelope."""
        return _canonical(self._fields()).decode()

    def to_document(self) -> str:
        """The envelope as a file to keep in git: indented, and what the payload says beside it.

        Queries and tables of noise stand in the payload alone, and are named there by their digest.
        Raises VerificationFailed where the payload is no JSON object.
        """
        readable = {_READABLE: _readable(_parse(self.payload, "the statement"))}
        told = {**self._fields(), **readable}
        return json.dumps(told, sort_keys=True, indent=2, ensure_ascii=False) + "\n"

    def _fields(self) -> dict[str, object]:
        signature = {"keyid": self.key_id, "sig": base64.b64encode(self.signature).decode()}
        return {
            "payload": base64.b64encode(self.payload).decode(),
            "payloadType": self.payload_type,
            "signatures": [signature],
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> Envelope:
        """The envelope a text holds; VerificationFailed for another form. Nothing is verified."""
        fields = _fields_of(text)
        payload_type = _text(fields, "payloadType", "the envelope")
        if payload_type != PAYLOAD_TYPE:
            _fail(f"payloadType must be {PAYLOAD_TYPE}, found {_shown(payload_type)}")
        payload = _base64(_text(fields, "payload", "the envelope"), "payload")
        signature = _only(fields, "signatures", "the envelope", "signature")
        key = _text(signature, "keyid", "the signature")
        sig = _base64(_text(signature, "sig", "the signature"), "sig")
        return cls(payload, payload_type, key, sig)


def statement(
    subject_name: str,
    subject_sha256: str,
    predicate: Mapping[str, object],
    predicate_type: str | None = None,
) -> bytes:
    """The canonical JSON of an in-toto Statement about one release, or of another kind.

    Without a ``predicate_type`` it is about a release, of the version that its predicate states.
    Canonical: keys sorted by code point, no spaces, UTF-8; equal arguments give equal bytes.
    Raises DomainError for an empty name, a digest that is not 64 lower-case hex digits, or a
    predicate with anything but text, integers, booleans, null, arrays and objects.

    >>> statement("a.parquet", "0" * 64, {"k": 20, "epsilon": "0.5"})[:80]
    b'{"_type":"https://in-toto.io/Statement/v1","predicate":{"epsilon":"0.5","k":20},'
    """
    if not subject_name:
        raise DomainError("subject_name", "the name of the release", "an empty text")
    if not _SHA256.fullmatch(subject_sha256):
        raise DomainError("subject_sha256", "64 lower-case hex digits", _shown(subject_sha256))
    name = _thawed(subject_name, "subject_name")
    told = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": subject_sha256}}],
        "predicateType": predicate_type or type_of_release(predicate),
        "predicate": _thawed(predicate, "predicate"),
    }
    return _canonical(told)


def sign(statement_bytes: bytes, signer: Signer) -> Envelope:
    """The statement in a DSSE envelope, signed with Ed25519; the same bytes every time.

    Raises DomainError when it would be larger than ``open_envelope`` reads, and as the signer.

    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from policy_engine.attest.signers import KeySigner
    >>> signer = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    >>> envelope = sign(statement("a.parquet", "0" * 64, {"k": 20}), signer)
    >>> open_envelope(envelope.to_json(), TrustedKeys.of(signer.public_key)).predicate["k"]
    20
    """
    signature = signer.sign(pae(PAYLOAD_TYPE, statement_bytes))
    envelope = Envelope(statement_bytes, PAYLOAD_TYPE, signer.key_id, signature)
    size = len(envelope.to_json())
    if size > LARGEST_ENVELOPE:
        raise DomainError("the envelope", f"at most {LARGEST_ENVELOPE} bytes", size)
    return envelope


def open_envelope(
    text: str | bytes, trusted: TrustedKeys, predicate_type: str = PREDICATE_TYPE
) -> Statement:
    """The statement in an envelope, signed by a trusted key; the only way to read one.

    The signature is verified over the exact payload bytes before they are parsed. Raises
    VerificationFailed with the reason: what ``Envelope.from_json`` refuses; a key that is not
    trusted or was revoked; a signature that does not match; a payload that is no v1 in-toto
    Statement of this ``predicate_type``, or of a newer version; a ``time`` outside the key's dates.

    >>> open_envelope("{}", TrustedKeys.of())
    Traceback (most recent call last):
    policy_engine.errors.VerificationFailed: the envelope misses the field 'payloadType'
    """
    envelope = Envelope.from_json(text)
    key, name = trusted.by_id.get(envelope.key_id), envelope.key_id
    if key is None:
        known = ", ".join(sorted(trusted.by_id)) or "none"
        _fail(
            f"no signature by a trusted key: signed by key {_shown(name)}, "
            f"trusted: {known}; {_REMEDIES['unknown']}"
        )
    refusal = trusted.refusal(name, None)
    if refusal is not None and refusal.kind == "revoked":
        _fail(f"{refusal.text}; {_REMEDIES['revoked']}")
    if len(envelope.signature) != _SIGNATURE_BYTES:
        _fail(f"sig must be {_SIGNATURE_BYTES} bytes long, found {len(envelope.signature)}")
    try:
        key.verify(envelope.signature, pae(envelope.payload_type, envelope.payload))
    except InvalidSignature:
        _fail(
            f"bad signature: it is not key {name}'s over this payload, so one of the "
            "two was changed after signing"
        )
    found = _read_statement(envelope.payload, predicate_type)
    _check_readable(text, envelope.payload)
    if refusal := trusted.refusal(name, moment(found.predicate.get("time"))):
        _fail(f"{refusal.text}; {_REMEDIES[refusal.kind]}")
    return Statement(**vars(found), key_id=name, payload=envelope.payload)


def stated_type(text: str | bytes) -> str:
    """The predicate type that an envelope states, unverified; empty where none can be read."""
    with suppress(VerificationFailed):
        fields = _parse(Envelope.from_json(text).payload, "the statement")
        return _text(fields, "predicateType", "the statement")
    return ""


def type_of_statement(text: str | bytes) -> str:
    """As what a release's statement is opened: as a certificate, unless it says it is none."""
    return UNPROMISED_TYPE if stated_type(text) == UNPROMISED_TYPE else PREDICATE_TYPE


def stated_subject(text: str | bytes) -> str:
    """What an envelope says it is about, unverified; empty where that cannot be read."""
    with suppress(VerificationFailed):
        fields = _parse(Envelope.from_json(text).payload, "the statement")
        return _text(_only(fields, "subject", "the statement", "subject"), "name", "the subject")
    return ""


def unverified(text: str | bytes, predicate_type: str = PREDICATE_TYPE) -> Unverified:
    """What an envelope says of a release, to be shown and not to be relied on.

    Raises VerificationFailed for what ``open_envelope`` refuses, but for keys and signatures.
    """
    return _read_statement(Envelope.from_json(text).payload, predicate_type)


def unverified_release(text: str | bytes) -> Unverified:
    """The same of a release, whether what stands beside it is a certificate or not."""
    return unverified(text, type_of_statement(text))


def pae(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding: what is signed, type and lengths included."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _fields_of(text: str | bytes) -> Mapping[str, Json]:
    """The fields of an envelope that is not too large."""
    # A character is at least a byte, so this much of an oversized text shows that it is one.
    read = text[: LARGEST_ENVELOPE + 1]
    data = read if isinstance(read, bytes) else read.encode(errors="surrogatepass")
    if len(data) > LARGEST_ENVELOPE:
        _fail(f"the envelope must have at most {LARGEST_ENVELOPE} bytes, found more")
    return _parse(data, "the envelope")


def _check_readable(text: str | bytes, payload: bytes) -> None:
    """What stands beside a payload for people, if anything does, is what it says."""
    fields = _fields_of(text)
    said = _readable(_parse(payload, "the statement"))
    shown = said if _READABLE not in fields else _thawed(fields[_READABLE], _READABLE)
    if _canonical(shown) != _canonical(said):
        _fail(
            f"the envelope's field {_READABLE!r}, which people read, is not what its payload says:"
            " one of the two was changed"
        )


def _readable(value: Json) -> object:
    """A part of a statement as people read it: what is long by its digest."""
    match value:
        case Mapping():
            return {name: _readable(item) for name, item in value.items()}
        case tuple() if len(value) > _MOST_NUMBERS and all(type(item) is int for item in value):
            return f"{len(value)} numbers, sha256:{hashlib.sha256(_canonical(value)).hexdigest()}"
        case tuple():
            return [_readable(item) for item in value]
        case str() if "\n" in value:
            digest = hashlib.sha256(value.encode()).hexdigest()
            return f"{len(value.splitlines())} lines, sha256:{digest}"
    return value


def _read_statement(payload: bytes, predicate_type: str) -> Unverified:
    fields = _parse(payload, "the statement")
    kind = _text(fields, "_type", "the statement")
    if kind != STATEMENT_TYPE:
        _fail(f"_type must be {STATEMENT_TYPE}, found {_shown(kind)}")
    stated = _text(fields, "predicateType", "the statement")
    _check_predicate_type(stated, predicate_type)
    _exactly(fields, {"_type", "predicate", "predicateType", "subject"}, "the statement")
    subject = _only(fields, "subject", "the statement", "subject")
    _exactly(subject, {"digest", "name"}, "the subject")
    digests = _object(_field(subject, "digest", "the subject"), "the subject's digest")
    _exactly(digests, {"sha256"}, "the subject's digest")
    sha256 = _text(digests, "sha256", "the subject's digest")
    if not _SHA256.fullmatch(sha256):
        _fail(f"the subject's sha256 must be 64 lower-case hex digits, found {_shown(sha256)}")
    predicate = _object(_field(fields, "predicate", "the statement"), "the predicate")
    if predicate_type in CHARGED_TYPES and stated != type_of_release(predicate):
        _fail(f"predicateType is {_shown(stated)}, and the predicate is of another kind")
    return Unverified(_text(subject, "name", "the subject"), sha256, predicate)


def type_of_release(predicate: Mapping[str, object]) -> str:
    """As what a predicate is signed: a certificate, the statement of one without, or a choice."""
    if "candidates" in predicate:
        return CHOICE_TYPE
    return UNPROMISED_TYPE if "guarantee" in predicate else PREDICATE_TYPE


def _check_predicate_type(found: str, wanted: str) -> None:
    family, _, version = wanted.rpartition("/v")
    if other := re.fullmatch(re.escape(family) + r"/v([1-9]\d{0,8})", found):
        if int(other[1]) <= int(version):
            return
        _fail(
            f"predicateType is certificate version {_shown(other[1])} and this engine reads "
            f"none above {version}; verify with the engine version that made it"
        )
    _fail(f"predicateType must be {wanted}, found {_shown(found)}")


# Strict JSON: from here on nothing knows of DSSE or in-toto.


def _canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def _thawed(value: object, path: str) -> object:
    """Plain JSON values of a possibly frozen one; DomainError where JSON would be inexact."""
    match value:
        case None | bool() | int():
            return value
        case str() if _is_unicode(value):
            return value
        case Mapping() if all(isinstance(name, str) and _is_unicode(name) for name in value):
            return {name: _thawed(item, f"{path}.{name}") for name, item in value.items()}
        case Sequence() if not isinstance(value, str | bytes | bytearray):
            return [_thawed(item, f"{path}[{index}]") for index, item in enumerate(value)]
    law = "text, an integer, a boolean, null, or an array or object of such; a decimal is text"
    raise DomainError(path, law, type(value).__name__)


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text: a lone surrogate, as in an odd file name, it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=8)  # to open an envelope asks for it and its statement four times
def _parse(data: bytes, what: str) -> Mapping[str, Json]:
    """The JSON object that bytes are: no key twice, no fractions, and deeply frozen."""
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=partial(_without_repeats, what),
            parse_float=partial(_no_fraction, what),
            parse_constant=partial(_no_fraction, what),
        )
        found: Json = _frozen(value, what)
    except json.JSONDecodeError as error:
        _fail(f"{what} is not JSON: {error.msg} at line {error.lineno} column {error.colno}")
    except UnicodeDecodeError:
        _fail(f"{what} is not JSON: it is not UTF-8")
    except ValueError:  # Python refuses integers of more than 4300 digits
        _fail(f"{what} holds a number too long to read")
    except RecursionError:
        _fail(f"{what} is nested too deeply")
    return _object(found, what)


def _without_repeats(what: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            _fail(f"{what} repeats the key {_shown(name)}")
        fields[name] = value
    return fields


def _no_fraction(what: str, number: str) -> NoReturn:
    _fail(f"{what} holds the number {_shown(number)}; only integers are read, decimals are text")


def _frozen(value: object, what: str) -> Json:
    match value:
        case dict():
            for name in value:
                _frozen(name, what)
            return MappingProxyType({name: _frozen(item, what) for name, item in value.items()})
        case list():
            return tuple(_frozen(item, what) for item in value)
        case str() if not _is_unicode(value):
            _fail(f"{what} is not JSON: it holds half a character (a lone surrogate)")
    assert value is None or isinstance(value, bool | int | str)  # what json.loads leaves
    return value


def _field(fields: Mapping[str, Json], name: str, what: str) -> Json:
    if name not in fields:
        _fail(f"{what} misses the field {name!r}")
    return fields[name]


def _text(fields: Mapping[str, Json], name: str, what: str) -> str:
    value = _field(fields, name, what)
    if not isinstance(value, str) or not value:
        _fail(f"{what}'s field {name!r} must be a text that is not empty")
    return value


def _only(fields: Mapping[str, Json], name: str, what: str, of: str) -> Mapping[str, Json]:
    """The one object of an array."""
    found = _field(fields, name, what)
    if not isinstance(found, tuple):
        _fail(f"{what}'s field {name!r} must be an array")
    if len(found) != 1:
        _fail(f"{what} must have exactly one {of}, found {len(found)}")
    return _object(found[0], f"the {of}")


def _object(value: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        _fail(f"{what} must be a JSON object")
    return value


def _exactly(fields: Mapping[str, Json], names: set[str], what: str) -> None:
    if unknown := sorted(fields.keys() - names):
        _fail(f"{what} has the unknown field {_shown(unknown[0])}")


def _base64(text: str, what: str) -> bytes:
    try:
        # urlsafe alphabet to the standard one: DSSE allows a producer either.
        standard = text.replace("-", "+").replace("_", "/")
        data = base64.b64decode(standard, validate=True)
    except (binascii.Error, ValueError):
        _fail(f"{what} is not base64")
    if base64.b64encode(data).decode() != standard:
        _fail(f"{what} is not base64: its last bits are not zero")
    return data


def _shown(text: str) -> str:
    """A text of unknown origin, safe to print and not long."""
    return ascii(text if len(text) <= 80 else text[:80] + "…")


def _fail(reason: str) -> NoReturn:
    raise VerificationFailed((reason,))
