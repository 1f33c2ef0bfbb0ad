"""The certificate of a private choice: whole, signed, and of the policy that was written."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import CHOICE_TYPE, sign, stated_type, statement
from policy_engine.attest.choices import ChoiceStated, verify_choice
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import FileError, VerificationFailed
from policy_engine.kernel.editions import Edition

STATED = ChoiceStated(
    policy_name="a",
    policy_digest="sha256:" + "0" * 64,
    account="people",
    source="people.parquet",
    unit="row",
    neighbours="add_remove",
    epsilon=Decimal("0.01"),
    people=14,
    precision="",
    parts=(("age", ("keep", '{"constant": "*"}')),),
    candidates=2,
    engine="duckdb",
    engine_version="1",
    time="2026-11-28T16:00:00Z",
)
SIGNER = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
TRUSTED = TrustedKeys.of(SIGNER.public_key)
TEXT = b"version: 1\n"


def signed(predicate: dict[str, object]) -> str:
    return sign(statement("a.chosen.yaml", sha256(TEXT).hexdigest(), predicate), SIGNER).to_json()


@pytest.mark.parametrize(
    ("changes", "score", "people"),
    [
        ({}, "Σ over groups", "least_shown"),
        ({"precision": "0.63"}, "Σ over groups", "least_shown"),
        ({"groups": 3}, "Σ over groups", "least_shown"),
        ({"kind": "numbers"}, "people of whom nothing is cut", "people_a_doubling"),
    ],
)
def test_by_what_candidates_are_compared_is_stated(
    changes: dict[str, Any], score: str, people: str
) -> None:
    stated = replace(STATED, **changes).predicate()
    assert str(stated["score"]).startswith(score) and stated[people] == 14


OCTOBER = Edition("2026-10", "Europe/Berlin", "visited")
IN_OCTOBER = OCTOBER.to_json()


@pytest.mark.parametrize("changes", [{}, {"precision": "0.63"}, {"groups": 1}, {"period": OCTOBER}])
def test_what_was_stated_is_read_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    stated = replace(STATED, **changes)
    text = signed(stated.predicate())
    assert stated_type(text) == CHOICE_TYPE
    policy = tmp_path / "a.chosen.yaml"
    policy.write_bytes(TEXT)
    found = verify_choice(text, TRUSTED, policy)
    assert dict(found.numbers)["epsilon"] == "0.01" and "byte for byte" in found.checked[-1]
    assert any("was not looked at" in each for each in verify_choice(text, TRUSTED).unchecked)
    policy.write_bytes(TEXT + b"#")
    with pytest.raises(VerificationFailed, match="was changed"):
        verify_choice(text, TRUSTED, policy)
    with pytest.raises(FileError, match="could not be read"):
        verify_choice(text, TRUSTED, tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", "0"), ("epsilon", "much"), ("delta", "0.1"), ("mechanism", "argmax"),
        ("candidates", True), ("score", "another"), ("assumptions", []), ("parts", [{}]),
        ("more", "x"), ("neighbours", "none"), ("unit", 7), ("policy", None), ("least_shown", "14"),
        ("groups_a_person", 3), ("period", "2026-10"), ("period", {"name": "second"}),
        ("period", {**IN_OCTOBER, "zone": "Berlin"}), ("period", {**IN_OCTOBER, "more": 1}),
        ("period", {**IN_OCTOBER, "name": "2026-11"}),
    ],
)  # fmt: skip
def test_what_is_misstated_is_refused(field: str, value: object) -> None:
    with pytest.raises(VerificationFailed, match="lacks or misstates"):
        verify_choice(signed({**STATED.predicate(), field: value}), TRUSTED)


def test_another_kind_of_statement_is_refused() -> None:
    with pytest.raises(VerificationFailed):
        verify_choice(signed({"guarantee": "none"}), TRUSTED)
    text = statement("a", "0" * 64, {"k": 2}, CHOICE_TYPE)
    with pytest.raises(VerificationFailed, match="another kind"):
        verify_choice(sign(text, SIGNER).to_json(), TRUSTED)
