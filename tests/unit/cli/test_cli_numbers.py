"""certify: exactly the document of the contract."""

from __future__ import annotations

from math import exp

import pytest

CERTIFY = ("calculate", "--k", 20, "--rate", "0.1")


def test_certify_prints_the_contracts_document(cli):
    result = cli(*CERTIFY, "--epsilon", "0.5", "--format", "json")
    assert result.code == 0
    assert result.err == ""
    assert result.document == {
        "k": 20,
        "rate": 0.1,
        "epsilon": 0.5,
        "delta": 2.6317834665e-11,
        "guessed_right": 0.622459331212,
        "bound": "exact",
        "delta_lqs": 1.60625293619e-09,
        "neighbours": "add_remove",
        "releases": 1,
        "at_n": 42,
        "group": 1,
        "delta_generic": None,
        "by_rule": {},
        "epsilon_lqs": None,
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
    assert "δ by each rule: basic " in result.out
    assert "together" not in result.out
    result = cli(*CERTIFY, "--epsilon", "1", "--group", 3)
    assert "the generic bound for groups, at the same ε" in result.out
    assert result.out.endswith("\nfor any 3 people together, all in the table or all out\n")
    document = cli(*CERTIFY, "--epsilon", "1", "--group", 3, "--format", "json").document
    assert document["group"] == 3
    assert document["delta"] < document["delta_generic"]
    result = cli(*CERTIFY, "--epsilon", "1", "--group", 2, "--neighbours", "replace_one")
    assert result.out.endswith("\nfor any 2 people together, all replaced\n")


def test_of_a_group_without_a_sample_the_bound_of_every_mechanism_is_told(cli):
    """Noise has no k and rate: (Mε, δ·(e^{Mε} - 1)/(e^ε - 1)), each rounded up."""
    words = ("calculate", "--epsilon", "1", "--delta", "1e-6", "--group", 4)
    result = cli(*words)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "ε = 4",
        "δ = 0.0000311928748506   the generic bound for groups, for every mechanism",
        "Someone who tries to tell whether 4 given people are in the data, starting from even odds,"
        " is right at most 98.21 % of the time.",
        "for any 4 people together, all in the table or all out",
        "if one person has ε = 1, δ = 0.000001",
    ]
    found = cli(*words, "--neighbours", "replace_one", "--format", "json").document
    assert found["delta"] >= 1e-6 * (exp(4) - 1) / (exp(1) - 1)
    assert (found["epsilon"], found["neighbours"], found["group"]) == (4, "replace_one", 4)
    for odd in (("--releases", 2), ("--frontier",), ("--k", 20)):
        assert cli(*words, *odd).code == 2
    assert cli(*words[:-1], 0).code == 2


def test_certify_of_fifty_releases(cli):
    words = (*CERTIFY, "--delta", "1e-6", "--releases", 50)
    document = cli(*words, "--format", "json").document
    assert 0.8099 <= document["epsilon"] <= 0.82
    assert document["rule"] == "tight"
    assert document["by_rule"]["tight"] == document["epsilon"] < document["by_rule"]["optimal"]
    assert document["at_n"] is None
    assert round(document["epsilon_lqs"], 2) == 20.27
    assert "[LQS] and basic composition, at the same δ" in cli(*words).out
    assert "ε by each rule: basic 14.03" in cli(*words).out


def test_a_rule_without_a_statement(cli):
    out = cli("calculate", "--k", 2, "--rate", "0.5", "--delta", "0.44", "--releases", 2).out
    assert "basic no statement, optimal no statement, tight " in out
    result = cli("calculate", "--k", 2, "--rate", "0.5", "--delta", "0.43", "--releases", 2)
    told = "delta must be above 0.437500000001, the chance that some event gives a unit away"
    assert (result.code, result.err) == (2, f"error: {told}, found 0.43\n")


@pytest.mark.parametrize("k", ["20.5", "x", ""])
def test_a_k_that_is_no_whole_number(cli, k):
    result = cli("calculate", "--k", k, "--rate", "0.1", "--epsilon", 1)
    told = "invalid value for '--k': must be a whole number; 'policy-engine calculate --help' shows"
    assert (result.code, result.err) == (2, f"error: {told} how\n")


def test_a_delta_too_small_for_a_float_is_not_zero(cli):
    words = ("calculate", "--k", 1_000_000, "--rate", "0.01", "--epsilon", "1")
    assert cli(*words, "--format", "json").document["delta"] == 5e-324
    assert "δ = 0 " not in cli(*words).out


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x", "", "1e999999"])
def test_numbers_that_are_none_are_wrong_usage(cli, value):
    result = cli(*CERTIFY, f"--epsilon={value}", "--format", "json")
    assert result.code == 2
    assert result.document["error"].startswith("epsilon must be a finite number from 0")
