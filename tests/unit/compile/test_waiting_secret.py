"""A secret that waits in the secrets relation, as check finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from policy_engine.check.answer import answer
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.mechanisms import Secret
from policy_engine.kernel.sentences import sentence_of
from policy_engine.policy.loading import load_policy_text

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
WAITS = sentence_of(Assumption.of("secret_waits"))
SALTS = Secret(("db", "stg", "salts"), "ages_v1")
WAITING = '(SELECT salt FROM "db"."stg"."salts" WHERE release_id = \'ages_v1\')'


def printed(waits: Secret | None) -> str:
    policy = load_policy_text(POLICY, "ages.privacy.yml", Path())
    policy = replace(policy, release=replace(policy.release, relation=None))
    columns = tuple(Field(name, kind) for name, kind in PEOPLE.items())
    table = Table(columns, parts=("db", "stg", "people"))
    return compiled(policy, table, dialect_named("duckdb"), waits)[1]


def answered(text: str):
    return answer(text, "duckdb", Schema({"db.stg.people": PEOPLE}, known=True))


def test_its_text_is_certified_and_says_who_must_not_read_the_secret():
    found = answered(printed(SALTS))
    assert not found.findings
    assert (found.claim.law.secret, found.claim.law.k) == (SALTS, 20)
    assert WAITS in found.assumptions


def test_where_a_connection_brings_the_secret_no_relation_is_spoken_of():
    found = answered(printed(None))
    assert not found.findings
    assert WAITS not in found.assumptions


def test_a_secret_from_the_source_itself_is_refused():
    found = answered(printed(Secret(("db", "stg", "people"), "ages_v1")))
    assert [finding.code for finding in found.findings] == ["V19"]


def test_a_secret_that_stands_in_the_text_is_not_certified():
    text = printed(SALTS)
    assert WAITING in text
    found = answered(text.replace(WAITING, f"'{'00' * 16}'"))
    assert found.findings
    assert any("a secret" in each for each in found.missed)
