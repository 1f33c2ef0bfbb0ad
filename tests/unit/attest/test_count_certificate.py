"""The certificate of a noiseless count: its own kind, its assumptions first, every lie refused."""

from __future__ import annotations

import base64
import hashlib
import json
from decimal import Decimal
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.partial_knowledge import delta_count
from policy_engine.attest.attestation import PREDICATE_TYPE, sign, stated_type, statement
from policy_engine.attest.count_certificate import (
    COUNT_PREDICATE_TYPE,
    KIND,
    LIMITS,
    SUBJECT,
    certify_count,
    claim_digest,
    verify_count,
)
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import DomainError, VerificationFailed
from policy_engine.releasing.charging import charge_of
from policy_engine.releasing.publish import record_in

KEY = Ed25519PrivateKey.generate()
TRUSTED = TrustedKeys.of(KEY.public_key())


@pytest.fixture
def certificate():
    return certify_count(1000, "0.1", "0.5")


def enveloped(predicate, *, subject=SUBJECT, digest=None, kind=COUNT_PREDICATE_TYPE):
    digest = claim_digest(predicate) if digest is None else digest
    return sign(statement(subject, digest, predicate, kind), KeySigner(KEY)).to_json()


def reasons(text):
    with pytest.raises(VerificationFailed) as error:
        verify_count(text, TRUSTED)
    return error.value.reasons


def test_it_states_its_assumptions_first(certificate):
    payload = json.loads(certificate.statement())
    assert next(iter(payload["predicate"])) == "assumptions"
    assert payload["predicateType"] == COUNT_PREDICATE_TYPE != PREDICATE_TYPE
    assert payload["predicate"]["assumptions"] == [
        "the adversary does not know the values of at least 1000 of the counted records, the"
        " protected one among them",
        "to the adversary these records are independent of each other and of all they know",
        "to the adversary each of them has the counted property with a probability from 0.1 to 0.9",
        "nothing made from these records is published, except this exact count, once",
    ]
    assert payload["predicate"]["kind"] == KIND
    assert "never enters an account" in LIMITS[0]
    assert "does not compose" in LIMITS[1]
    assert "disjoint new users" in LIMITS[1]


def test_its_claim_is_above_the_bound(certificate):
    bound = delta_count(1000, "0.1", "0.5")
    assert bound < certificate.delta < bound * (1 + Decimal("2e-10"))
    assert certify_count(10**6, "0.1", "0.5").predicate()["delta"] == "1.53738876964E-2607"


def test_the_other_end_of_the_probabilities_has_all_its_digits():
    floor = "0." + "0" * 60 + "1"
    assert f"from {floor} to 0.{'9' * 61}" in certify_count(10, floor, "1").assumptions[2]


def test_it_verifies(certificate):
    found = verify_count(enveloped(certificate.predicate()), TRUSTED)
    assert found.subject == SUBJECT
    assert found.assumptions == certificate.assumptions
    assert found.checked[0].startswith("signed by ")
    assert found.checked[1:] == (
        "its assumptions and limits are those of its numbers",
        "its subject is the digest of its claim",
        "δ = 0.0000128135199108 at ε = 0.5, N = 1000, λ = 0.1: recomputed [PK]",
    )
    assert found.unchecked == (
        "the count itself is not part of the certificate, and no assumption can be checked",
    )
    assert dict(found.numbers) == {
        "unknown": 1000,
        "lambda": "0.1",
        "epsilon": "0.5",
        "delta": "0.0000128135199108",
    }


def test_the_subject_is_the_claim_whenever_it_was_made(certificate):
    predicate = certificate.predicate()
    later = {**predicate, "time": "2099-01-01T00:00:00Z"}
    assert claim_digest(later) == claim_digest(predicate)
    claim = {name: value for name, value in predicate.items() if name != "time"}
    text = json.dumps(claim, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    subject = json.loads(certificate.statement())["subject"]
    digest = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    assert subject == [{"name": SUBJECT, "digest": digest}]
    assert verify_count(enveloped(later), TRUSTED).assumptions == certificate.assumptions


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"assumptions": ()}, "the certificate lacks or misstates: 'assumptions'"),
        ({"limits": ()}, "the certificate lacks or misstates: 'limits'"),
        ({"kind": "a release"}, "the certificate lacks or misstates: 'kind'"),
        ({"version": True}, "the certificate lacks or misstates: 'version'"),
        ({"version": 2}, "the certificate lacks or misstates: 'version'"),
        ({"mechanism": "sampled-suppression"}, "the certificate lacks or misstates: 'mechanism'"),
        ({"k\u00e9": 1}, "the certificate lacks or misstates: 'k\\xe9'"),
        ({"unknown": 2000}, "the certificate lacks or misstates: 'assumptions'"),
        ({"lambda": "0.2"}, "the certificate lacks or misstates: 'assumptions'"),
        ({"lambda": "1e-1"}, "the certificate lacks or misstates: 'lambda'"),
        ({"lambda": "0.6"}, "the numbers are outside the formula's domain: lambda"),
        ({"unknown": True}, "the numbers are outside the formula's domain: unknown"),
        ({"epsilon": "-1"}, "the numbers are outside the formula's domain: epsilon"),
        ({"delta": "nan"}, "the numbers are outside the formula's domain: delta"),
        ({"epsilon": 1}, "the certificate lacks or misstates: epsilon"),
        ({"time": None}, "the certificate lacks or misstates: time"),
        ({"delta": "0.0000128135199"},
         "δ = 0.0000128135199 at ε = 0.5, N = 1000, λ = 0.1: the bound is 0.0000128135199095"),
    ],
)  # fmt: skip
def test_every_lie_has_its_reason(certificate, change, told):
    assert told in reasons(enveloped({**certificate.predicate(), **change}))


def test_a_fact_that_is_left_out(certificate):
    for name in ("assumptions", "delta", "limits", "unknown"):
        predicate = certificate.predicate()
        del predicate[name]
        assert reasons(enveloped(predicate))


def test_another_subject(certificate):
    told = ("its subject is not the digest of its claim",)
    assert reasons(enveloped(certificate.predicate(), subject="a.parquet")) == told
    assert reasons(enveloped(certificate.predicate(), digest="0" * 64)) == told


def test_a_changed_text_and_a_stranger(certificate):
    envelope = json.loads(enveloped(certificate.predicate()))
    payload = base64.b64decode(envelope["payload"]).replace(b'"0.5"', b'"0.1"')
    envelope["payload"] = base64.b64encode(payload).decode()
    assert "bad signature" in reasons(json.dumps(envelope))[0]
    stranger = Ed25519PrivateKey.generate()
    text = sign(certificate.statement(), KeySigner(stranger)).to_json()
    assert "no signature by a trusted key" in reasons(text)[0]


def test_it_is_never_taken_for_a_release(certificate):
    text = enveloped(certificate.predicate())
    with pytest.raises(VerificationFailed) as error:
        verify_release(text, TRUSTED)
    told = f"predicateType must be {PREDICATE_TYPE}, found '{COUNT_PREDICATE_TYPE}'"
    assert str(error.value) == told
    # Not even where it is signed as one.
    with pytest.raises(VerificationFailed, match="has fields that this engine does not know"):
        verify_release(enveloped(certificate.predicate(), kind=PREDICATE_TYPE), TRUSTED)
    assert not record_in(json.dumps(certificate.predicate()))


def test_no_ledger_can_charge_it(certificate):
    policy = SimpleNamespace(rate=Decimal("0.1"), method="keyed")
    with pytest.raises(AttributeError, match="'CountCertificate' object has no attribute"):
        charge_of("people", certificate, policy)


def test_a_release_is_never_taken_for_it(certificate):
    text = enveloped(certificate.predicate(), kind=PREDICATE_TYPE)
    told = f"predicateType must be {COUNT_PREDICATE_TYPE}, found '{PREDICATE_TYPE}'"
    assert reasons(text) == (told,)
    newer = COUNT_PREDICATE_TYPE.replace("v1", "v2")
    assert reasons(enveloped(certificate.predicate(), kind=newer)) == (
        "predicateType is certificate version '2' and this engine reads none above 1;"
        " verify with the engine version that made it",
    )


def test_what_an_envelope_says_it_is(certificate):
    assert stated_type(enveloped(certificate.predicate())) == COUNT_PREDICATE_TYPE
    assert stated_type(enveloped({}, kind=PREDICATE_TYPE)) == PREDICATE_TYPE
    assert stated_type(sign(b"{}", KeySigner(KEY)).to_json()) == ""
    assert stated_type(b"\xff") == ""


def test_numbers_outside_the_domain():
    for words in ((0, "0.1", "1"), (10, "0.6", "1"), (10, "0.1", "-1")):
        with pytest.raises(DomainError):
            certify_count(*words)
