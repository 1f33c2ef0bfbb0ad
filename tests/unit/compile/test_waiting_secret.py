"""A secret that waits in the secrets relation, as the reader of DuckDB's texts finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named
from policy_engine.kernel.mechanisms import Secret
from policy_engine.kernel.sentences import WAITS
from policy_engine.policy.loading import load_policy_text
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

PEOPLE = {"person_id": "BIGINT", "age": "INTEGER", "day": "INTEGER"}
POLICY = """
version: 1
name: ages
source: {table: db.stg.people}
privacy_unit: {column: person_id, rows: {first_by: [day desc]}}
recode: {age: {bins: [30, 60]}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {table: ages}
"""
SALTS = Secret(("db", "stg", "salts"), "ages_v1")
WAITING = '(SELECT salt FROM "db"."stg"."salts" WHERE release_id = \'ages_v1\')'


def printed(waits: Secret | None) -> str:
    policy = load_policy_text(POLICY, "ages.privacy.yml", Path())
    policy = replace(policy, release=replace(policy.release, relation=None))
    columns = tuple(Field(name, kind) for name, kind in PEOPLE.items())
    table = Table(columns, parts=("db", "stg", "people"))
    return compiled(policy, table, dialect_named("duckdb"), waits)[1]


def proved(text: str):
    return prove(text, Schema({"db.stg.people": PEOPLE}, {}, known=True))


def test_its_text_is_proved_and_says_who_must_not_read_the_secret():
    proof = proved(printed(SALTS))
    assert not proof.findings
    assert (proof.shape.method, proof.shape.unit, proof.shape.k) == ("keyed", "person_id", 20)
    assert WAITS in proof.assumptions


def test_where_a_connection_brings_the_secret_no_relation_is_spoken_of():
    proof = proved(printed(None))
    assert not proof.findings
    assert WAITS not in proof.assumptions


def test_a_secret_from_the_source_itself_is_refused():
    proof = proved(printed(Secret(("db", "stg", "people"), "ages_v1")))
    assert [finding.code for finding in proof.findings] == ["V19"]


def test_a_secret_that_stands_in_the_text_is_refused():
    text = printed(SALTS)
    assert WAITING in text
    assert proved(text.replace(WAITING, f"'{'00' * 16}'")).findings


def test_a_secret_that_may_be_missing_is_not_read_by_concat():
    text = printed(SALTS)
    start = text.index("SHA256(")
    end = text.index(") <", start)
    hashed = (
        text[start:end].replace("SHA256(", "SHA256(CONCAT(", 1).replace("|| ':u:' ||", ", ':u:',")
    )
    joined = text[:start] + hashed + ")" + text[end:]
    findings = proved(joined).findings
    assert [finding.code for finding in findings] == ["V04"]
    assert "a secret that may be missing" in findings[0].message
