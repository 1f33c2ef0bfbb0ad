"""What certificates of the engine's own texts state is what verify asks of them, no less."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.sentences import sentence_of
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.planning import open_warehouse, prepare, project_of

POLICIES = Path(__file__).parents[2] / "policies"
NAMES = sorted(file.parent.name for file in POLICIES.glob("*/policy.yaml"))
KEY = Ed25519PrivateKey.generate()


@pytest.fixture(scope="module", params=NAMES)
def predicate(request):
    policy = load_policy(POLICIES / request.param / "policy.yaml")
    project = project_of(policy)
    with chdir(policy.directory):
        warehouse = open_warehouse(policy, project, writes=False)
        try:
            return predicate_of(prepare(policy, project, warehouse)[0])
        finally:
            warehouse.close()


def verified(predicate):
    text = sign(statement("r.parquet", "0" * 64, predicate), KeySigner(KEY)).to_json()
    return verify_release(text, TrustedKeys.of(KEY.public_key()))


def test_an_honest_certificate_holds(predicate):
    assert "every assumption that its claim rests on" in " ".join(verified(predicate).checked)


def test_each_assumption_that_is_kept_back_is_missed(predicate):
    for left_out in predicate["assumptions"]:
        stated = [text for text in predicate["assumptions"] if text != left_out]
        with pytest.raises(VerificationFailed) as caught:
            verified({**predicate, "assumptions": stated})
        parameters = {name: text for name, text in left_out.items() if name != "code"}
        sentence = sentence_of(Assumption.of(left_out["code"], **parameters))
        assert f"does not state what it rests on: {sentence}" in str(caught.value)


def test_each_field_that_is_kept_back_is_missed(predicate):
    for name in predicate:
        with pytest.raises(VerificationFailed):
            verified({field: value for field, value in predicate.items() if field != name})


def test_there_are_policies():
    assert len(NAMES) >= 5
