"""Certificates of randomised response and αβ insertion: numbers, text, rows, and forgeries."""

import hashlib
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.finite import delta_of, presence, response
from policy_engine.accounting.pure_shares import least_share
from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.release_check import NOT_BY_BRUTE_FORCE, verify_release
from policy_engine.attest.rows import digest_of_lines
from policy_engine.attest.signers import KeySigner
from policy_engine.compile.rendering import headed
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Inserted, Randomised
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Bins
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.second_route.brute_force import brute_answers, brute_presence

KEY = Ed25519PrivateKey.generate()
KEYS = TrustedKeys.of(KEY.public_key())
BINS = Bins((18, 30), ("<18", "[18,30)", ">=30"))
VALUES = (*BINS.labels, None)
SHARE = least_share(2, Decimal("0.5"))


def facts(mechanism="answers", count="n", columns=1, neighbours="replace_one", epsilon="1"):
    names = ("age", "old", *(f"c{n}" for n in range(10)))[:columns]
    shown = tuple(Shown(name, Column(name, Type("integer")), BINS) for name in names)
    share = least_share(4, Decimal(epsilon) / columns - Decimal("1e-20"))
    law = Randomised((Response(VALUES, share),) * columns)
    if mechanism == "tuples":
        law, count = Inserted((1 << 60) - SHARE, SHARE, (VALUES,) * columns), None
    claim = Claim(Relation(("main", "people")), Rows(), law, shown, count)
    promise = Bounded(Decimal(epsilon), Decimal(0), neighbours)
    terms = Terms("r", "sha256:" + "5" * 64, "people", promise)
    text = headed(terms.policy_name, terms.policy_digest, printed(claim, "duckdb"))
    return predicate_of(certify(text, claim, "duckdb", terms))


def verified(found, table=None, path=None):
    digest = "0" * 64
    if table is not None:
        pq.write_table(table, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    envelope = sign(statement("r.parquet", digest, found), KeySigner(KEY)).to_json()
    return verify_release(envelope, KEYS, path if table is not None else None)


RELEASES = {
    "answers": (facts(), {"age": ["<18", None], "n": [1, 7]}, "every answer"),
    "rows": (facts(count=None), {"age": ["<18", "<18", ">=30", None]}, "every answer"),
    "tuples": (facts("tuples"), {"age": ["<18", ">=30", None]}, "every outcome"),
    "tuples of people": (
        facts("tuples", neighbours="add_remove"), {"age": ["[18,30)"]}, "every outcome"),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_checked_again(tmp_path, name):
    found, rows, how = RELEASES[name]
    groups = 3 if name == "rows" else len(rows["age"])
    checked = verified(found, pa.table(rows), tmp_path / "r.parquet").checked
    tag = found["source_tag"]
    assert f"δ = 0 at ε = 1, k = 1: recomputed {tag}, by brute force: {how}" in checked
    assert "it shows values of the public lists alone" in checked
    assert f"it shows {groups} groups" in checked


WRONG = {
    "values that are not public stand in: age": ("answers", {"age": ["<18", "Ada"], "n": [1, 7]}),
    "1 of 2 groups have fewer than k = 1": ("answers", {"age": ["<18", ">=30"], "n": [0, 7]}),
    "not sorted": ("rows", {"age": [">=30", "<18"]}),
    "a group stands in two rows": ("tuples", {"age": ["<18", "<18"]}),
}


@pytest.mark.parametrize("told", WRONG)
def test_other_rows_are_refused(tmp_path, told):
    name, rows = WRONG[told]
    with pytest.raises(VerificationFailed, match=told):
        verified(RELEASES[name][0], pa.table(rows), tmp_path / "r.parquet")


@pytest.mark.parametrize("told", sorted(WRONG.keys() - {"not sorted"}))
def test_other_rows_of_a_table_are_refused(tmp_path, told):
    name, rows = WRONG[told]
    with pytest.raises(VerificationFailed, match=told):
        of_a_table(RELEASES[name][0], rows, tmp_path)


@pytest.mark.parametrize("name", RELEASES)
def test_a_table_is_checked_on_its_export(tmp_path, name):
    found, rows, _ = RELEASES[name]
    if found["count"] is None:  # a line of a CSV file with nothing in it is no row
        rows = {"age": [value for value in rows["age"] if value is not None]}
    assert "it shows values of the public lists alone" in of_a_table(found, rows, tmp_path).checked


def of_a_table(found, rows, folder):
    """A release in a table, exported to CSV."""
    found = {**found, "published_as": "CREATE TABLE db.main.out AS"}
    lines = [tuple(None if value is None else str(value) for value in line)
             for line in zip(*rows.values(), strict=True)]  # fmt: skip
    path = folder / "out.csv"
    texts = [",".join("" if value is None else f'"{value}"' for value in line) for line in lines]
    path.write_text("\n".join([",".join(rows), *texts]) + "\n")
    digest = digest_of_lines(lines)
    envelope = sign(statement("db.main.out", digest, found), KeySigner(KEY)).to_json()
    return verify_release(envelope, KEYS, path)


FORGED = {
    "the true δ is": lambda f: {**f, "epsilon": "0.9"},
    "the certificate lacks or misstates: k": lambda f: {**f, "k": 2},
    "or misstates: k": lambda f: {**f, "k": True},
    "misstates: rate": lambda f: {**f, "rate": "0.1"},
    "misstates: source_tag": lambda f: {**f, "source_tag": "[AB]"},
    "outside the formula's domain: delta": lambda f: {**f, "delta": "2"},
    "δ = 0 at ε = 1, k = 1, rate 1: the true δ is 1": lambda f: {**f, "neighbours": "add_remove"},
    "misstates: randomness": lambda f: {**f, "randomness": "dice"},
    "does not state what it rests on: how many people are in people is public": lambda f: {
        **f, "assumptions": [each for each in f["assumptions"] if each["code"] != "size_public"],
    },
}  # fmt: skip


@pytest.mark.parametrize("told", FORGED)
def test_a_forged_certificate(told):
    with pytest.raises(VerificationFailed) as caught:
        verified(FORGED[told](facts()))
    assert told in "\n".join(caught.value.reasons)


def test_who_takes_part_has_no_second_route():
    """δ = 1 is the truth of tables that differ by one person, and needs none."""
    assert (
        NOT_BY_BRUTE_FORCE
        in verified({**facts(), "neighbours": "add_remove", "delta": "1"}).unchecked
    )


def test_answers_of_all_columns_that_a_policy_can_have_are_summed():
    assert brute_answers([(11, 1)] * 13, Decimal(1)) is None
    assert verified(facts(columns=10)).is_recomputed


@pytest.mark.parametrize("epsilon", ["0", "0.4", "1", "3"])
def test_both_routes_agree(epsilon):
    epsilon = Decimal(epsilon)
    lists = [(3, 1 << 57), (5, 1 << 56)]
    tuples = [presence(5 << 57, 1 << 57)]
    other = tuple((q, p) for p, q in tuples[0])
    for brute, factors in (
        (brute_answers(lists, epsilon), [response(*each) for each in lists]),
        (brute_presence(5 << 57, 1 << 57, epsilon, replaces=False), tuples),
        (brute_presence(5 << 57, 1 << 57, epsilon, replaces=True), [*tuples, other]),
    ):
        wanted = delta_of(factors, epsilon)
        assert brute.delta * (1 - brute.error) <= wanted
        assert wanted <= brute.delta * (1 + Decimal("1e-10"))
