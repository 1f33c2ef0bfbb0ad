"""The attestation: what is signed is what is read, and every tampering has its own reason."""

import base64
import dataclasses
import hashlib
import json

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope as ReferenceEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from policy_engine.attest import attestation
from policy_engine.attest.attestation import (
    LARGEST_ENVELOPE,
    PREDICATE_TYPE,
    UNPROMISED_TYPE,
    Envelope,
    open_envelope,
    sign,
    stated_type,
    statement,
)
from policy_engine.attest.keys import TrustedKeys, key_id
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import DomainError, VerificationFailed

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
SIGNER = KeySigner(KEY)
KEY_ID = key_id(KEY.public_key())
OTHER_ID = key_id(OTHER.public_key())
TRUSTED = TrustedKeys.of(KEY.public_key())
SHA = "ab" * 32
PREDICATE = {"k": 20, "epsilon": "0.5", "assumptions": ["β is 0.1"], "seed": None, "ok": True}
FIELDS = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": "adult.parquet", "digest": {"sha256": SHA}}],
    "predicateType": "https://policy-engine.dev/certificate/v1",
    "predicate": PREDICATE,
}
REMEDY = "if you know whose key it is, name it with --key or a keyring with --keyring"


@pytest.fixture
def envelope():
    """The envelope as a tamperer sees it: a dictionary to change."""
    return json.loads(sign(statement("adult.parquet", SHA, PREDICATE), SIGNER).to_json())


def refusal(text, trusted=TRUSTED):
    with pytest.raises(VerificationFailed) as caught:
        open_envelope(text if isinstance(text, str | bytes) else json.dumps(text), trusted)
    assert caught.value.reasons == (str(caught.value),)
    return str(caught.value)


def signed(payload):
    """An envelope signed by the trusted key over any payload at all."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return sign(data, SIGNER).to_json()


def b64(data):
    return base64.b64encode(data).decode()


# What is written


def test_a_statement_is_canonical_in_toto_json():
    made = statement("adult.parquet", SHA, PREDICATE)
    assert json.loads(made) == FIELDS
    assert made == json.dumps(
        FIELDS, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode("utf-8")
    shuffled = dict(reversed(PREDICATE.items()))
    assert statement("adult.parquet", SHA, shuffled) == made


@pytest.mark.parametrize(
    ("predicate", "kind"), [({"k": 2}, PREDICATE_TYPE), ({"guarantee": "none"}, UNPROMISED_TYPE)]
)
def test_what_promises_nothing_is_of_a_type_of_its_own(predicate, kind):
    text = sign(statement("adult.parquet", SHA, predicate), SIGNER).to_json()
    assert stated_type(text) == kind
    assert open_envelope(text, TRUSTED, kind).predicate == predicate
    [other] = {PREDICATE_TYPE, UNPROMISED_TYPE} - {kind}
    with pytest.raises(VerificationFailed, match="predicateType"):
        open_envelope(text, TRUSTED, other)


def test_the_subject_of_a_statement_is_read_without_a_key(envelope):
    assert attestation.stated_subject(json.dumps(envelope)) == "adult.parquet"
    two = {**FIELDS, "subject": FIELDS["subject"] * 2}
    for wrong in (two, [], {**FIELDS, "subject": "adult.parquet"}):
        assert attestation.stated_subject(signed(wrong)) == ""


def test_what_a_statement_says_is_read_without_a_key(envelope):
    said = attestation.unverified(json.dumps(envelope))
    assert said.subject_name == "adult.parquet"
    assert said.subject_sha256 == FIELDS["subject"][0]["digest"]["sha256"]
    assert said.predicate["k"] == FIELDS["predicate"]["k"]
    with pytest.raises(VerificationFailed, match="must be a JSON object"):
        attestation.unverified(signed([]))


def test_the_signature_is_dsse_computed_by_hand(envelope):
    payload = base64.b64decode(envelope["payload"], validate=True)
    pae = b"DSSEv1 28 application/vnd.in-toto+json " + str(len(payload)).encode() + b" " + payload
    [signature] = envelope["signatures"]
    KEY.public_key().verify(base64.b64decode(signature["sig"]), pae)
    with pytest.raises(InvalidSignature):
        KEY.public_key().verify(base64.b64decode(signature["sig"]), payload)
    assert set(envelope) == {"payload", "payloadType", "signatures"}
    assert signature["keyid"] == KEY_ID
    assert envelope["payloadType"] == "application/vnd.in-toto+json"


def test_another_implementation_of_dsse_agrees(envelope):
    mine = SSlibKey.from_crypto(KEY.public_key(), keyid=KEY_ID)
    stranger = SSlibKey.from_crypto(OTHER.public_key(), keyid=KEY_ID)
    reference = ReferenceEnvelope.from_dict(envelope)
    assert list(reference.verify([mine], 1)) == [KEY_ID]
    with pytest.raises(VerificationError):
        reference.verify([stranger], 1)


def test_signing_is_deterministic_and_json_goes_round():
    made = sign(statement("a", SHA, PREDICATE), SIGNER)
    assert made == sign(statement("a", SHA, PREDICATE), SIGNER)
    assert Envelope.from_json(made.to_json()) == made
    assert Envelope.from_json(made.to_json().encode()) == made
    assert "\n" not in made.to_json()


def test_a_document_reads_in_a_diff_and_opens_to_what_was_signed():
    noise = {"entries": list(range(17)), "few": [1, 2], "query": "SELECT\n1", "note": None}
    made = sign(statement("a", SHA, {**PREDICATE, **noise}), SIGNER)
    document = made.to_document()
    assert open_envelope(document, TRUSTED).payload == made.payload
    shown = json.loads(document)["statement"]["predicate"]
    assert shown["few"] == [1, 2] and shown["note"] is None
    digest = hashlib.sha256(json.dumps(noise["entries"], separators=(",", ":")).encode())
    assert shown["entries"] == f"17 numbers, sha256:{digest.hexdigest()}"
    digest = hashlib.sha256(noise["query"].encode())
    assert shown["query"] == f"2 lines, sha256:{digest.hexdigest()}"
    assert '\n      "k": 20' in document  # a line for each fact
    # One that says more, less or another thing than was signed is refused.
    told = json.loads(document)
    for change in ({"k": 21}, {"k": True}, {"more": 1}):
        told["statement"]["predicate"] = {**shown, **change}
        with pytest.raises(VerificationFailed, match="is not what its payload says"):
            open_envelope(json.dumps(told), TRUSTED)
    told["statement"] = None
    with pytest.raises(VerificationFailed, match="is not what its payload says"):
        open_envelope(json.dumps(told), TRUSTED)


@pytest.mark.parametrize("name", ["a", "é.parquet", "😀", 'a"b\\c\n', "main.public.adult"])
def test_an_envelope_opens_to_what_was_signed(name):
    made = statement(name, SHA, PREDICATE)
    opened = open_envelope(sign(made, SIGNER).to_json(), TRUSTED)
    assert (opened.subject_name, opened.subject_sha256) == (name, SHA)
    assert opened.key_id == KEY_ID
    assert opened.payload == made
    assert opened.predicate == {**PREDICATE, "assumptions": ("β is 0.1",)}


def test_what_was_verified_cannot_be_changed():
    opened = open_envelope(signed({**FIELDS, "predicate": {"a": {"b": [{}]}}}), TRUSTED)
    with pytest.raises(dataclasses.FrozenInstanceError):
        opened.subject_name = "other"
    with pytest.raises(TypeError):
        opened.predicate["a"]["b"] = 1
    with pytest.raises(TypeError):
        opened.predicate["a"]["b"][0]["c"] = 1


def test_a_frozen_predicate_can_be_signed_again():
    opened = open_envelope(signed(statement("a", SHA, PREDICATE)), TRUSTED)
    assert statement("a", SHA, opened.predicate) == opened.payload


@pytest.mark.parametrize(
    ("predicate", "where"),
    [
        ({"epsilon": 0.5}, "predicate.epsilon"),
        ({"a": {"b": [1, b"x"]}}, "predicate.a.b[1]"),
        ({"a": {1: 2}}, "predicate.a"),
        ({"a": "\ud800"}, "predicate.a"),
        ({"\ud800": 1}, "predicate"),
        ({"a": {1, 2}}, "predicate.a"),
        ({"a": bytearray(b"x")}, "predicate.a"),
    ],
)
def test_a_predicate_json_cannot_hold_exactly_is_refused(predicate, where):
    with pytest.raises(DomainError) as caught:
        statement("a", SHA, predicate)
    assert caught.value.parameter == where
    assert "a decimal is text" in str(caught.value)


@pytest.mark.parametrize("sha", ["", "ab", SHA.upper(), SHA + "\n", "g" * 64, "sha256:" + SHA])
def test_a_subject_needs_a_sha256(sha):
    with pytest.raises(DomainError, match="subject_sha256 must be 64 lower-case hex digits"):
        statement("a", sha, PREDICATE)


def test_a_subject_needs_a_name():
    with pytest.raises(DomainError, match="subject_name must be the name of the release"):
        statement("", SHA, PREDICATE)
    with pytest.raises(DomainError, match="subject_name must be"):
        statement("\udcff", SHA, PREDICATE)


def test_an_envelope_of_exactly_the_largest_size_is_made_and_read(monkeypatch):
    payload = statement("a", SHA, PREDICATE)
    text = sign(payload, SIGNER).to_json()
    monkeypatch.setattr(attestation, "LARGEST_ENVELOPE", len(text))
    assert open_envelope(sign(payload, SIGNER).to_json(), TRUSTED).payload == payload
    monkeypatch.setattr(attestation, "LARGEST_ENVELOPE", len(text) - 1)
    with pytest.raises(DomainError):
        sign(payload, SIGNER)
    assert refusal(text) == f"the envelope must have at most {len(text) - 1} bytes, found more"


def test_an_envelope_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        sign(b"x", SIGNER).payload = b"y"


def test_an_envelope_too_large_to_read_is_not_made():
    with pytest.raises(DomainError, match="the envelope must be at most 10000000 bytes"):
        sign(statement("a", SHA, {"sql": "x" * 7_500_000}), SIGNER)


# What is read: tampering, one by one


def test_a_changed_payload_is_refused(envelope):
    payload = bytearray(base64.b64decode(envelope["payload"]))
    reasons = set()
    for place in range(0, len(payload), 7):
        changed = bytearray(payload)
        changed[place] ^= 1
        reasons.add(refusal({**envelope, "payload": b64(changed)}))
    assert reasons == {
        f"bad signature: it is not key {KEY_ID}'s over this payload, "
        "so one of the two was changed after signing"
    }


def test_the_signature_is_checked_before_the_payload_is_parsed(envelope):
    assert refusal({**envelope, "payload": b64(b"not json")}).startswith("bad signature")


@pytest.mark.parametrize("place", range(0, 64, 9))
def test_a_changed_signature_is_refused(envelope, place):
    [signature] = envelope["signatures"]
    changed = bytearray(base64.b64decode(signature["sig"]))
    changed[place] ^= 1
    signature["sig"] = b64(changed)
    assert refusal(envelope).startswith("bad signature: it is not key")


@pytest.mark.parametrize("length", [1, 63, 65])
def test_a_signature_of_another_length_is_refused(envelope, length):
    envelope["signatures"][0]["sig"] = b64(bytes(length))
    assert refusal(envelope) == f"sig must be 64 bytes long, found {length}"


@pytest.mark.parametrize("kind", ["application/json", "application/vnd.in-toto+json ", "x" * 99])
def test_another_payload_type_is_refused(envelope, kind):
    reason = refusal({**envelope, "payloadType": kind})
    assert reason.startswith("payloadType must be application/vnd.in-toto+json, found '")
    assert len(reason) < 160


def test_the_payload_type_is_signed():
    payload = statement("a", SHA, PREDICATE)
    pae = b"DSSEv1 16 application/json %d %b" % (len(payload), payload)
    forged = dataclasses.replace(sign(payload, SIGNER), signature=KEY.sign(pae))
    assert refusal(forged.to_json()).startswith("bad signature")


def test_an_unknown_key_is_named(envelope):
    envelope["signatures"][0]["keyid"] = OTHER_ID
    assert refusal(envelope) == (
        f"no signature by a trusted key: signed by key '{OTHER_ID}', trusted: {KEY_ID}; {REMEDY}"
    )
    both = TrustedKeys.of(KEY.public_key(), OTHER.public_key())
    assert refusal(envelope, both).startswith(f"bad signature: it is not key {OTHER_ID}'s")
    assert refusal(envelope, TrustedKeys.of()).endswith(f"trusted: none; {REMEDY}")


def test_the_trusted_keys_are_listed_in_order(envelope):
    envelope["signatures"][0]["keyid"] = "nobody"
    both = TrustedKeys.of(KEY.public_key(), OTHER.public_key())
    listed = ", ".join(sorted([KEY_ID, OTHER_ID]))
    assert refusal(envelope, both).endswith(f"trusted: {listed}; {REMEDY}")


def test_a_stranger_cannot_sign_under_a_trusted_id():
    forged = dataclasses.replace(
        sign(statement("a", SHA, PREDICATE), KeySigner(OTHER)), key_id=KEY_ID
    )
    assert refusal(forged.to_json()).startswith("bad signature")


@pytest.mark.parametrize("count", [0, 2])
def test_there_is_exactly_one_signature(envelope, count):
    envelope["signatures"] *= count
    assert refusal(envelope) == f"the envelope must have exactly one signature, found {count}"


def test_a_truncated_envelope_is_refused(envelope):
    text = json.dumps(envelope)
    for length in range(0, len(text), 29):
        assert refusal(text[:length]).startswith("the envelope is not JSON: ")
    assert refusal(text + "x") == (
        f"the envelope is not JSON: Extra data at line 1 column {len(text) + 1}"
    )


def test_a_repeated_key_is_refused(envelope):
    text = json.dumps(envelope)
    assert refusal(text[:-1] + ', "payload": ""}') == "the envelope repeats the key 'payload'"
    twice = json.dumps(FIELDS)[:-1] + ', "predicate": {}}'
    assert refusal(signed(twice.encode())) == "the statement repeats the key 'predicate'"


@pytest.mark.parametrize("field", ["payload", "payloadType", "signatures"])
def test_a_missing_field_is_named(envelope, field):
    del envelope[field]
    assert refusal(envelope) == f"the envelope misses the field '{field}'"


@pytest.mark.parametrize("field", ["keyid", "sig"])
def test_a_missing_part_of_the_signature_is_named(envelope, field):
    del envelope["signatures"][0][field]
    assert refusal(envelope) == f"the signature misses the field '{field}'"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"payload": 1}, "the envelope's field 'payload' must be a text that is not empty"),
        ({"payload": ""}, "the envelope's field 'payload' must be a text that is not empty"),
        ({"payloadType": None}, "the envelope's field 'payloadType' must be a text"),
        ({"signatures": {}}, "the envelope's field 'signatures' must be an array"),
        ({"signatures": ["x"]}, "the signature must be a JSON object"),
        ({"payload": "a"}, "payload is not base64"),
        ({"payload": "YWJj\n"}, "payload is not base64"),
        ({"payload": "YWI"}, "payload is not base64"),
        ({"payload": "YWé="}, "payload is not base64"),
        ({"payload": "YWJ="}, "payload is not base64: its last bits are not zero"),
        ({"signatures": [{"keyid": "x", "sig": "!"}]}, "sig is not base64"),
    ],
)
def test_a_malformed_field_is_refused(envelope, change, reason):
    found = refusal({**envelope, **change})
    assert found == reason if "base64" in reason else found.startswith(reason)


def test_the_url_safe_alphabet_is_read(envelope):
    payload = statement("a", SHA, {"text": "ÿþ¿ÿþ¿~~~???"})
    made = json.loads(sign(payload, SIGNER).to_json())
    made["payload"] = base64.urlsafe_b64encode(payload).decode()
    assert "_" in made["payload"] or "-" in made["payload"]
    assert open_envelope(json.dumps(made), TRUSTED).payload == payload


def test_fields_nobody_signed_are_ignored_as_dsse_asks(envelope):
    envelope["signatures"][0]["cert"] = "x"
    opened = open_envelope(json.dumps({**envelope, "predicate": {"k": 99}}), TRUSTED)
    assert opened.predicate["k"] == 20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON: Expecting value at line 1 column 1"),
        (b"\xff", "is not JSON: it is not UTF-8"),
        ("\ud800", "is not JSON: it is not UTF-8"),
        ('"\\ud800"', "is not JSON: it holds half a character (a lone surrogate)"),
        ('{"\\ud800": 1}', "is not JSON: it holds half a character (a lone surrogate)"),
        ("[]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ('{"a": 0.5}', "holds the number '0.5'; only integers are read, decimals are text"),
        ('{"a": NaN}', "holds the number 'NaN'; only integers are read, decimals are text"),
        ("1" * 5000, "holds a number too long to read"),
        ("[" * 200_000, "is nested too deeply"),
    ],
)
def test_what_is_not_strict_json_is_refused(text, reason):
    assert refusal(text) == f"the envelope {reason}"
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    assert refusal(signed(data or b" ")).startswith(f"the statement {reason[:20]}")


@pytest.mark.parametrize("unit", ["x", "é", b"x"])
def test_an_oversized_envelope_is_refused(unit):
    size = len(unit.encode() if isinstance(unit, str) else unit)
    full = unit * (LARGEST_ENVELOPE // size)
    assert refusal(full).startswith("the envelope is not JSON")
    assert refusal(full + unit) == "the envelope must have at most 10000000 bytes, found more"


# What is read: a trusted key that signed something else


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "_type must be https://in-toto.io/State"),
        (
            {"predicateType": "https://slsa.dev/provenance/v1"},
            f"predicateType must be {PREDICATE_TYPE}, found 'https://slsa.dev/provenance/v1'",
        ),
        (
            {"predicateType": PREDICATE_TYPE + "/x"},
            f"predicateType must be {PREDICATE_TYPE}, found '{PREDICATE_TYPE}/x'",
        ),
        (
            {"predicateType": "https://policy-engine.dev/certificate/v2", "new_field": 1},
            "predicateType is certificate version '2' and this engine reads none above 1; "
            "verify with the engine version that made it",
        ),
        (
            {"predicate": {"guarantee": "none"}},
            "predicateType is 'https://policy-engine.dev/certificate/v1', and the predicate is of"
            " another kind",
        ),
        ({"note": "x"}, "the statement has the unknown field 'note'"),
        ({"predicate": []}, "the predicate must be a JSON object"),
        ({"predicateType": 1}, "the statement's field 'predicateType' must be a text"),
        ({"subject": {}}, "the statement's field 'subject' must be an array"),
        ({"subject": []}, "the statement must have exactly one subject, found 0"),
        ({"subject": FIELDS["subject"] * 2}, "the statement must have exactly one subject, found"),
        ({"subject": ["x"]}, "the subject must be a JSON object"),
        ({"subject": [{"name": "a"}]}, "the subject misses the field 'digest'"),
        ({"subject": [{"digest": {"sha256": SHA}}]}, "the subject misses the field 'name'"),
        (
            {"subject": [{"name": "a", "digest": {"sha256": SHA}, "uri": "x"}]},
            "the subject has the unknown field 'uri'",
        ),
        (
            {"subject": [{"name": "a", "digest": {"sha256": SHA, "md5": "x"}}]},
            "the subject's digest has the unknown field 'md5'",
        ),
        (
            {"subject": [{"name": "a", "digest": {}}]},
            "the subject's digest misses the field 'sha256'",
        ),
        (
            {"subject": [{"name": "a", "digest": {"sha256": SHA.upper()}}]},
            "the subject's sha256 must be 64 lower-case hex digits, found 'ABAB",
        ),
    ],
)
def test_a_signed_statement_of_another_shape_is_refused(change, reason):
    assert refusal(signed({**FIELDS, **change})).startswith(reason)


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_a_missing_field_of_the_statement_is_named(field):
    fields = {name: value for name, value in FIELDS.items() if name != field}
    assert refusal(signed(fields)) == f"the statement misses the field '{field}'"


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 80), (81, "x" * 80 + "\\u2026")])
def test_a_long_text_is_cut_short(envelope, length, shown):
    assert refusal({**envelope, "payloadType": "x" * length}).endswith(f"found '{shown}'")


def test_an_error_text_is_printable_whatever_was_found(envelope):
    reason = refusal({**envelope, "payloadType": "\x1b[2J\n" + "é" * 500})
    assert reason.isascii() and reason.isprintable() and len(reason) < 500
