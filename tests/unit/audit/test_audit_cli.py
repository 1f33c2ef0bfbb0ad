"""The audit command: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import duckdb
import pytest

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.audit import controls, policies
from policy_engine.audit.controls import CONTROLS
from policy_engine.audit.events import Event
from policy_engine.audit.verdict import (
    LEAST_RUNS,
    AuditVerdict,
    Hits,
    epsilon_at_least,
    power,
    runs_that_refute,
)
from policy_engine.cli import audit
from policy_engine.cli.main import run
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import default_project

POLICY = """\
version: 1
name: small
source: {file: people.parquet}
privacy_unit: row
recode: {sex: keep}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 0.5, delta: 0.9}
release: {file: out.parquet}
"""


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql("SELECT 'm' AS sex").write_parquet("people.parquet")
    (tmp_path / "p.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def few(monkeypatch):
    """Audits of one pair of tables only: what is printed does not depend on how many there are."""
    whole = policies.prepared

    def one(*given):
        made = whole(*given)
        return replace(made, pairs=made.pairs[:1])

    monkeypatch.setattr(policies, "prepared", one)


def test_a_sound_policy_ends_with_0_and_one_document(policy, few, capsys):
    assert run(["audit", "p.yaml", "--runs", "100", "--format", "json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert printed.err == ""
    assert document["policy"] == "small" and document["epsilon"] == 0.5
    assert document["refuted"] is False and document["epsilon_at_least"] <= 0.5
    assert [pair["runs"] for pair in document["pairs"]] == [100]
    assert document["pairs"][0]["what"] == "n = 1 alike"
    assert sorted(path.name for path in policy.iterdir()) == ["p.yaml", "people.parquet"]


def test_a_broken_mechanism_is_a_finding(policy, few, capsys, monkeypatch):
    made = policies.prepared

    def broken(*given):
        found = made(*given)
        text = found.certificate.query.replace(">= 2", ">= 1").replace("WHERE ", "WHERE true OR ")
        return replace(found, certificate=replace(found.certificate, query=text))

    monkeypatch.setattr(policies, "prepared", broken)
    assert run(["audit", "p.yaml", "--runs", "140"]) == 1
    out = capsys.readouterr().out
    assert "REFUTED: a unique person: at δ = " in out
    assert " ε is at least 1.045 for one row, certified is 0.5. Do not" in out
    assert ", unit: row)" in out
    assert "70 and 0 of 70 (remove)" in out
    assert run(["audit", "p.yaml", "--runs", "140", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["pairs"][0]["refuted"] is True


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "name one policy to audit, or write --self-test"),
        (["p.yaml", "--self-test"], 2, "name one policy to audit, or write --self-test"),
        (["p.yaml", "--runs", "5"], 2, "--runs must be at least 100, found 5"),
        (["p.yaml", "--confidence", "high"], 2, "--confidence must be a number, found 'high'"),
        (["p.yaml", "--confidence", "1"], 2, "--confidence must be from 0.5 to 1 − 1e-12"),
        (["--self-test", "--runs", "5"], 2, "--runs must be at least 100, found 5"),
        (["none.yaml"], 3, "none.yaml"),
    ],
)
def test_what_is_wrong_is_told(policy, capsys, words, code, told):
    assert run(["audit", *words]) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("words", [["p.yaml"], ["--self-test"]])
def test_too_few_runs_are_refused_before_anything_is_loaded(policy, words):
    code = (
        "import sys\n"
        "from policy_engine.cli.main import run\n"
        f"code = run({['audit', *words, '--runs', '60']!r})\n"
        "print(code, [n for n in ('duckdb', 'sqlglot', 'pyarrow') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2 []\n"
    assert done.stderr == "error: --runs must be at least 100, found 60\n"


@pytest.mark.parametrize(
    ("runs", "told"),
    [(100, "44 of 50"), (600, "60 of 300"), (2000, "62 of 1000")],
)
def test_the_power_is_what_would_refute(runs, told):
    claim, error = EpsilonDelta(Decimal("0.5"), Decimal("1e-9")), Decimal("1e-7")
    least = power(runs, claim, error)
    one = epsilon_at_least(least, Hits(0, least.runs), claim.delta, error / 2)
    fewer = Hits(least.seen - 1, least.runs)
    assert (
        one > claim.epsilon >= epsilon_at_least(fewer, Hits(0, least.runs), claim.delta, error / 2)
    )
    assert f"{least.seen} of {least.runs}" == told


def test_some_claims_are_beyond_so_few_runs():
    assert power(100, EpsilonDelta(Decimal(9), Decimal("1e-9")), Decimal("1e-7")) is None


@pytest.mark.parametrize(
    ("epsilon", "told"), [("4", "; take --runs "), ("30", "; audit the policy with a smaller ε")]
)
def test_an_audit_without_power_says_what_to_change(policy, few, epsilon, told):
    claim, error = EpsilonDelta(Decimal(epsilon), Decimal("1e-9")), Decimal("1e-7")
    runs = runs_that_refute(claim, error)
    assert power(LEAST_RUNS, claim, error) is None
    if runs:
        assert power(runs, claim, error) is not None
        assert power(runs // 2, claim, error) is None
    made = policies.prepared(load_policy(policy / "p.yaml"), default_project(policy), 0)
    done = policies.run(load_policy(policy / "p.yaml"), made, LEAST_RUNS, Decimal("0.99"))
    assert told in audit._power(replace(done, claim=claim, power=None))


def test_an_audit_counts_its_runs_and_knows_how_many_there_are(policy, few):
    told = []
    made = policies.prepared(load_policy(policy / "p.yaml"), default_project(policy), 0)
    policies.run(load_policy(policy / "p.yaml"), made, 100, Decimal("0.99"),
                 lambda done, total: told.append((done, total)))  # fmt: skip
    assert told == [(50, 200), (100, 200), (150, 200), (200, 200)]


def a_self_test(*, flagged, sound_flagged):
    def verdict(epsilon):
        told = ("remove", Event("rows", "=", 1), Hits(9, 10), Hits(0, 10), Decimal(epsilon))
        return AuditVerdict(EpsilonDelta(Decimal("0.5"), Decimal("0.1")), 20, *told)

    each = controls.Tested(CONTROLS[0], verdict(2 * flagged), verdict(2 * sound_flagged))
    return controls.SelfTest(Decimal("0.999999"), (each,))


@pytest.mark.parametrize(
    ("flagged", "sound_flagged", "code", "told"),
    [
        (True, False, 0, "1 of 1 broken mechanisms flagged, 0 sound ones flagged"),
        (False, False, 1, "MISSED"),
        (True, True, 1, "and so is the SOUND one"),
    ],
)
def test_the_self_tests_exit_code(capsys, monkeypatch, flagged, sound_flagged, code, told):
    found = a_self_test(flagged=flagged, sound_flagged=sound_flagged)
    monkeypatch.setattr(controls, "self_test", lambda **given: found)
    assert run(["audit", "--self-test"]) == code
    assert told in capsys.readouterr().out
    assert run(["audit", "--self-test", "--format", "json"]) == code
    assert json.loads(capsys.readouterr().out)["self_test"] is (code == 0)
