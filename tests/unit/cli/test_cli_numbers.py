"""certify and calibrate: exactly the documents of the contract."""

from __future__ import annotations

import pytest

CERTIFY = ("certify", "--k", 20, "--rate", "0.1")


def test_certify_prints_the_contracts_document(cli):
    result = cli(*CERTIFY, "--epsilon", "0.5", "--format", "json")
    assert result.code == 0
    assert result.err == ""
    assert result.document == {
        "k": 20,
        "rate": 0.1,
        "epsilon": 0.5,
        "delta": 2.6317834665e-11,
        "bound": "exact",
        "delta_lqs": 1.60625293619e-09,
        "neighbours": "add_remove",
        "releases": 1,
        "at_n": 42,
    }


def test_where_lqs_says_nothing_it_is_null(cli):
    words = (*CERTIFY, "--epsilon", "0.05")
    assert cli(*words, "--format", "json").document["delta_lqs"] is None
    assert "no statement" in cli(*words).out


def test_certify_finds_the_least_epsilon(cli):
    result = cli(*CERTIFY, "--delta", "1e-9", "--format", "json")
    assert result.document["epsilon"] == 0.369867280606
    assert result.document["delta"] <= 1e-9


def test_certify_of_several_releases_and_a_group(cli):
    result = cli(*CERTIFY, "--epsilon", "1", "--releases", 2, "--group", 1)
    assert "in total over 2 releases" in result.out
    assert "together" not in result.out
    result = cli(*CERTIFY, "--epsilon", "1", "--group", 3)
    assert result.out.endswith("\nfor any 3 people together\n")
    document = cli(*CERTIFY, "--epsilon", "1", "--group", 3, "--format", "json").document
    assert document["group"] == 3


@pytest.mark.parametrize("k", ["20.5", "x", ""])
def test_a_k_that_is_no_whole_number(cli, k):
    result = cli("certify", "--k", k, "--rate", "0.1", "--epsilon", 1)
    told = "invalid value for '--k': must be a whole number; 'policy-engine certify --help' shows"
    assert (result.code, result.err) == (2, f"error: {told} how\n")


def test_a_delta_too_small_for_a_float_is_not_zero(cli):
    words = ("certify", "--k", 1_000_000, "--rate", "0.01", "--epsilon", "1")
    assert cli(*words, "--format", "json").document["delta"] == 5e-324
    assert "δ = 0 " not in cli(*words).out


def calibrated(cli, *given):
    words = ("calibrate", "--epsilon", 1, "--delta", "1e-6", *given, "--format", "json")
    return cli(*words).document


def delta(cli, k, rate):
    words = ("certify", "--k", k, "--rate", rate, "--epsilon", 1, "--format", "json")
    return cli(*words).document["delta"]


def test_calibrate_finds_the_least_k(cli):
    found = calibrated(cli, "--rate", "0.1")
    assert found["rate"] == 0.1
    assert found["delta"] <= found["asked_delta"] == 1e-6
    assert delta(cli, found["k"], 0.1) <= 1e-6 < delta(cli, found["k"] - 1, 0.1)


def test_calibrate_finds_the_greatest_rate(cli):
    found = calibrated(cli, "--k", 20)
    assert found["k"] == 20
    # certify claims a hair more than the bound that was solved for.
    assert delta(cli, 20, found["rate"]) <= 1.000000001e-6 < delta(cli, 20, found["rate"] + 1e-6)


def test_calibrate_finds_a_pair(cli):
    found = calibrated(cli)
    assert (found["k"], found["rate"]) == (14, 0.253735927992)
    assert {"k", "rate", "epsilon", "delta"} <= found.keys()


def test_calibrate_shows_what_was_asked(cli):
    assert "(asked: δ ≤ 1e-6)" in cli("calibrate", "--epsilon", 1, "--delta", "1e-6").out


def test_calibrate_finds_one_of_the_two(cli):
    result = cli("calibrate", "--epsilon", 1, "--delta", "1e-6", "--k", 20, "--rate", "0.1")
    assert result.code == 2
    assert "at most one of --k and --rate" in result.err


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x", "", "1e999999"])
def test_numbers_that_are_none_are_wrong_usage(cli, value):
    result = cli(*CERTIFY, f"--epsilon={value}", "--format", "json")
    assert result.code == 2
    assert result.document["error"].startswith("epsilon must be a finite number from 0")
