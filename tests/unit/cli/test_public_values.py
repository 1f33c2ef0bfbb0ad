"""Answers and tuples from the command line: planned, released, shown, verified, audited, paid."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from policy_engine.attest.attestation import unverified
from policy_engine.attest.certificates import certificate_in
from policy_engine.kernel.mechanisms.meanings import meaning_of

ANSWERS = (
    ("sample: {rate: 0.1}\nk: 20\n", "mechanism: randomised_response\n"),
    ("sex: keep", "sex: {map: {female: F}, other: M}"),
    ("delta: 0}", "delta: 0, neighbours: replace_one}"),
)
TUPLES = (
    ("sample: {rate: 0.1}\nk: 20\n", "mechanism: ab_insertion\n"),
    ("sex: keep", "sex: {map: {female: F}, other: M}"),
    ("out/a.parquet", "out/a.parquet, as: rows"),
)
PURE = {"epsilon": "1.0", "delta": "0"}


def test_answers_are_released_and_estimated(cli, policy):
    file = policy("a", *ANSWERS, **PURE)
    planned = cli("plan", file).out
    assert "mechanism  randomised response" in planned
    assert "estimates  age: (n - 0.2151·N) / 0.1395 estimates" in planned
    assert "noisy_counts at the same ε, and δ = 0.000001: a count is off by 2.8" in planned
    assert "how many people are in people.parquet is public" in planned
    outlook = cli("plan", file, "--format", "json").document["outlook"]
    assert len(outlook["estimates"]) == 2
    assert round(outlook["central_error"], 1) == 2.8
    released = cli("release", file)
    assert "(12 groups, some of them by chance alone)" in released.out
    assert "have no value in" not in released.err
    rows = pq.read_table("out/a.parquet").to_pylist()
    assert sum(row["n"] for row in rows) == 8000
    told = cli("show", "out/a.parquet").out
    assert "a value is a person's own, or one of its public list by chance" in told
    [line] = [line for line in told.splitlines() if "estimated people by sex" in line]
    females = int(line.partition("F ")[2].partition(", M")[0].replace(",", ""))
    # Five standard deviations.
    assert abs(females - 4573) < 5 * 2.7 * 8000**0.5
    verified = cli("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert verified.code == 0
    assert "by brute force: every answer" in verified.out
    assert cli("release", file, "--format", "json").document["repeated"] is True


def test_answers_are_rows_too(cli, policy):
    rows = ("file: out/a.parquet", "file: out/a.parquet, as: rows")
    assert cli("release", policy("a", *ANSWERS, rows, **PURE)).code == 0
    assert pq.read_table("out/a.parquet").num_rows == 8000
    told = cli("show", "out/a.parquet").out
    assert "estimated people by age: <30 " in told
    assert cli("verify", "out/a.certificate.json", "--release", "out/a.parquet").code == 0


def test_tuples_are_released_and_estimated(cli, policy):
    file = policy("a", *TUPLES, **PURE)
    planned = cli("plan", file).out
    assert "mechanism  αβ insertion" in planned
    assert "the domain has 12 tuples" in planned
    assert "who believed 1 % that a tuple is there, believes 3.72 % afterwards, at most" in planned
    assert cli("release", file).code == 0
    shown = pq.read_table("out/a.parquet").num_rows
    told = cli("show", "out/a.parquet").out
    assert f"estimated tuples that are there: {(shown - 12 * 0.26894) / 0.46212:.1f} of 12" in told
    verified = cli("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert "by brute force: every outcome" in verified.out


def test_an_account_is_charged_what_it_costs(cli, policy):
    assert cli("release", policy("a", *TUPLES, **PURE)).code == 0
    path = ("out/b.parquet", "out/b.parquet, as: rows")
    found = cli("release", policy("b", *TUPLES[:2], path, **PURE))
    assert found.code == 1
    assert "cannot pay" in found.err


def test_an_attack_does_not_refute_it(cli, policy):
    found = cli("audit", policy("a", *TUPLES, **PURE), "--runs", "100")
    assert found.code == 0
    assert "no attack refutes the certificate" in found.out


def test_a_column_without_a_list_of_values_is_refused(cli, policy):
    file = policy("a", ("sample: {rate: 0.1}\nk: 20\n", "mechanism: randomised_response\n"),
                  ("delta: 0}", "delta: 0, neighbours: replace_one}"), **PURE)  # fmt: skip
    found = cli("validate", file)
    assert found.code == 1
    assert "recode.sex must be bins, map or hierarchy for randomised_response" in found.out
    assert cli("compile", policy("b", *ANSWERS, **PURE), "--method", "native").code == 2


def test_rows_that_are_not_as_they_should_be_estimate_nothing(cli, policy):
    assert cli("release", policy("a", *ANSWERS, **PURE)).code == 0
    certificate = certificate_in(unverified(Path("out/a.certificate.json").read_text()))
    meaning = meaning_of(certificate.claim)
    names, line = ("age", "sex", "n"), ("<30", None, "7")
    assert len(list(meaning.found(names, [line]))) == 2
    for wrong in ((names[:2], [line[:2]]), (names, [line[:2]]), (names, [("<30", None, "x")])):
        assert list(meaning.found(*wrong)) == []
