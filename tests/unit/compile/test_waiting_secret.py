"""A secret that waits in the secrets relation, for texts that no connection of ours runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlglot import exp

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.compiler import compiled_plan
from policy_engine.compile.rendering import render
from policy_engine.dialects import DIALECTS, dialect_named
from policy_engine.dialects.secrets import secret
from policy_engine.kernel.assumptions import WAITS
from policy_engine.policy.loading import load_policy_text
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

PEOPLE = {"person_id": "BIGINT", "age": "INTEGER", "day": "INTEGER"}
POLICY = """
version: 1
name: ages
source: {relation: db.stg.people, unit: {key: person_id, keep: {order_by: [day desc]}}}
recode: {age: {bins: [30, 60]}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {relation: ages}
"""
# SQLite has the hash by our connection alone; SQL Server's text is read with one relation only.
ASKS = [name for name in DIALECTS if name not in {"sqlite", "tsql"}]


def compiled(dialect: str, waits: exp.Expr | None) -> str:
    policy = load_policy_text(POLICY, "ages.privacy.yml", Path())
    policy = replace(policy, release=replace(policy.release, relation=None))
    columns = tuple(Column(name, kind) for name, kind in PEOPLE.items())
    table = Table(columns, parts=("db", "stg", "people"))
    return render(compiled_plan(policy, table, dialect_named(dialect), secret=waits))


def proved(text: str, dialect: str):
    return prove(text, dialect, Schema({"db.stg.people": PEOPLE}, {}, known=True))


@pytest.mark.parametrize("dialect", ASKS)
def test_its_text_is_proved_and_says_who_must_not_read_the_secret(dialect):
    proof = proved(compiled(dialect, secret(("db", "stg", "salts"), "ages_v1")), dialect)
    assert not proof.findings
    assert (proof.shape.method, proof.shape.unit, proof.shape.k) == ("keyed", "person_id", 20)
    assert WAITS in proof.assumptions


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mysql", "clickhouse", "datafusion"])
def test_where_a_connection_brings_the_secret_no_relation_is_spoken_of(dialect):
    proof = proved(compiled(dialect, None), dialect)
    assert not proof.findings
    assert WAITS not in proof.assumptions


@pytest.mark.parametrize("dialect", ASKS)
def test_a_secret_from_the_source_itself_is_refused(dialect):
    proof = proved(compiled(dialect, secret(("db", "stg", "people"), "ages_v1")), dialect)
    assert [finding.code for finding in proof.findings] == ["V19"]


@pytest.mark.parametrize("dialect", ASKS)
def test_a_secret_that_stands_in_the_text_is_refused(dialect):
    proof = proved(compiled(dialect, exp.Literal.string("00" * 16)), dialect)
    assert proof.findings


def test_a_secret_that_may_be_missing_is_not_read_by_concat():
    text = compiled("duckdb", secret(("db", "stg", "salts"), "ages_v1"))
    start = text.index("SHA256(")
    end = text.index(") <", start)
    hashed = (
        text[start:end].replace("SHA256(", "SHA256(CONCAT(", 1).replace("|| ':u:' ||", ", ':u:',")
    )
    joined = text[:start] + hashed + ")" + text[end:]
    findings = proved(joined, "duckdb").findings
    assert [finding.code for finding in findings] == ["V04"]
    assert "a secret that may be missing" in findings[0].message
