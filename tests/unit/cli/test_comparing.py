"""Mechanisms beside one another, by plan and calibrate: rows, marks, pictures; what init writes."""

from __future__ import annotations

from pathlib import Path

import pytest

NOISY = ("sample: {rate: 0.1}\nk: 20\n", "mechanism: noisy_counts\n")
MILLIONTH = {"epsilon": "1", "delta": "1.0e-6"}
CALIBRATE = ("calculate", "--epsilon", 1, "--delta", "1e-6", "--mechanisms")


def halves(document):
    return {each["distribution"] or each["mechanism"]: each["visible_from"]
            for each in document["mechanisms"]}  # fmt: skip


def marked(document, mark):
    return [each["distribution"] for each in document["mechanisms"] if each[mark]]


def test_what_a_policy_uses_stands_beside_the_others(cli, policy):
    found = cli("plan", policy("a", NOISY, **MILLIONTH), "--format", "json").document["comparison"]
    assert halves(found) == {"truncated_laplace": 14, "discrete_gaussian": 23,
                             "negative_binomial": 54,
                             "sampled_suppression": 54}  # fmt: skip
    assert (found["epsilon"], found["delta"], found["releases"]) == (1, 1e-6, 1)
    assert marked(found, "used") == marked(found, "auto") == ["truncated_laplace"]
    assert marked(found, "true_rows") == [None]
    laplace, *_, sampled = found["mechanisms"]
    assert (laplace["certain"], sampled["certain"]) == ([-13, 14], None)
    assert (sampled["k"], round(sampled["rate"], 3)) == (14, 0.254)
    assert laplace["count_error"] < 1.4 < sampled["count_error"]
    told = [" ".join(line.split()) for line in cli("plan", "a.yaml").out.splitlines()]
    at = told.index("compared at ε = 1, δ = 0.000001, by these numbers alone")
    assert told[at + 2] == "* truncated laplace (auto) 14 1.4 n - 13 to n + 14 1 no"
    assert told[at + 5] == "sampled suppression, k = 14, rate 0.254 54 12.6 no bound 14 yes"


def test_a_sample_that_is_not_the_best_is_a_row_of_its_own(cli, policy):
    found = cli("plan", policy(), "--format", "json").document
    first, *others = found["comparison"]["mechanisms"]
    assert (first["k"], first["rate"], first["used"]) == (20, 0.1, True)
    assert first["visible_from"] == found["outlook"]["visible_from"] == 197
    assert [each["mechanism"] for each in others].count("sampled_suppression") == 1
    assert not any(each["used"] for each in others)


def test_what_a_roll_up_uses_is_told_from_the_best_of_its_law(cli, policy):
    rollup = (NOISY[0], f"{NOISY[1]}rollup: {{to: [age], share: 0.2}}\n")
    told = cli("plan", policy("a", rollup, **MILLIONTH)).out.splitlines()
    rows = [line.split("  ")[0] for line in told if line[:2] in ("* ", "  ")]
    law = next(row[2:].split(",")[0] for row in rows if row.startswith("* "))
    assert f"* {law}, as the policy has it" in rows
    # What auto takes is what the policy has, and no law with equal parts.
    assert not [line for line in told if "auto" in line and "noise" not in line.split("write")[0]]
    assert "  the others give each grouping an equal part, and the policy its rollup.share" in told


def test_only_what_a_policy_could_have_is_compared(cli, policy):
    """It said "has no sums" where nobody asked, and compared a law that is beside no roll-up."""
    reason = "it counts everybody by one grouping"
    for several in ("rollup: {to: [age], share: 0.2}", "marginals: [[age], [sex]]"):
        file = policy("a", (NOISY[0], f"{NOISY[1]}{several}\n"), **MILLIONTH)
        found = cli("plan", file, "--format", "json").document["comparison"]
        assert {each["reason"] for each in found["not_possible"]} == {reason}
        assert {each["distribution"] for each in found["mechanisms"]} == {
            "truncated_laplace", "discrete_gaussian"
        }  # fmt: skip
    keys = 'public_groups: {age: ["<30", "[30,60)", ">=60"], sex: [female, male]}\n'
    listed = policy("a", (NOISY[0], NOISY[1] + keys), **MILLIONTH)
    reason = "negative binomial: not possible, it leaves small groups out, and each of these is"
    assert reason in cli("plan", listed).out
    middle = "measures: {m: {median: age, bounds: [0, 100]}}\n"
    file = policy("a", (NOISY[0], NOISY[1] + middle), **MILLIONTH)
    told = cli("plan", file).out
    assert "sampled suppression: not possible, it shows no number but that of people\n" in told


def test_k_of_noisy_counts_is_of_every_row(cli, policy):
    file = policy("a", (NOISY[0], "k: 30\n"), **MILLIONTH)
    found = cli("plan", file, "--format", "json").document["comparison"]
    assert {each["least"] for each in found["mechanisms"]} == {30}


def test_beside_a_sum_a_count_has_half_of_the_guarantee(cli, policy):
    aged = NOISY[1] + "measures: {years: {sum: age, bounds: [0, 100]}}\n"
    file = policy("a", (NOISY[0], aged), **MILLIONTH)
    found = cli("plan", file, "--format", "json").document["comparison"]
    assert halves(found)["truncated_laplace"] > 20
    assert len(marked(found, "used")) == 1
    assert len(found["mechanisms"]) == 3
    assert [each["reason"] for each in found["not_possible"]] == [
        "it shows no number but that of people"
    ]


@pytest.mark.evidence
def test_many_releases_are_compared_by_law(cli, policy):
    file = policy("a", (NOISY[0], "noise: {distribution: negative_binomial}\n"), **MILLIONTH)
    text = cli("plan", file, "--releases", 20).out
    assert "for 20 releases together" in text
    assert "\n* negative binomial " in text
    assert "auto: the one of the first two that shows smaller groups" in text
    found = cli(*CALIBRATE, "--releases", 20, "--format", "json").document
    assert halves(found)["negative_binomial"] < halves(found)["discrete_gaussian"]
    assert marked(found, "used") == []


def test_what_is_not_possible_says_why(cli):
    words = ("calculate", "--epsilon", 1, "--delta", "1e-19", "--mechanisms")
    text = cli(*words).out
    assert "\n  negative binomial: not possible, delta must be at least" in text
    found = cli(*words, "--format", "json").document
    assert [each["distribution"] for each in found["not_possible"]] == [
        "truncated_laplace", "discrete_gaussian", "negative_binomial",
    ]  # fmt: skip
    assert (list(halves(found)), marked(found, "auto")) == (["sampled_suppression"], [])
    assert "auto:" not in text and "*:" not in text


@pytest.mark.parametrize("more", [("--k", 20), ("--rate", 0.1), ("--frontier",), ("--most-k", 9),
                                  ("--people", 9, "--groups", 3)])  # fmt: skip
def test_a_comparison_chooses_no_pair(cli, more):
    refused = cli(*CALIBRATE, *more)
    assert (refused.code, "--mechanisms compares the best of each" in refused.err) == (2, True)


@pytest.mark.parametrize("planned", [True, False])
def test_a_comparison_is_drawn_the_same_each_time(cli, policy, tmp_path, planned):
    words = ("plan", policy()) if planned else CALIBRATE
    path = tmp_path / "a.svg"
    assert "\nplot  a.svg" in cli(*words, "-o", path).out
    before = path.read_bytes()
    assert before.startswith(b"<?xml")
    assert cli(*words, "-o", path).code == 3
    assert cli(*words, "-o", path, "--replace", "--format", "json").document["plot"] == "a.svg"
    assert path.read_bytes() == before
    refused = cli(*words, "--replace")
    assert (refused.code, "--replace replaces a plot" in refused.err) == (2, True)


def test_what_init_writes_is_planned_and_released(cli, project):
    Path("policy-engine.yaml").unlink()
    assert cli("init", "people.parquet").code == 0
    text = Path("policy.yaml").read_text("utf-8")
    for column in ("# age:", "# sex:"):
        text = text.replace(f"  {column}", f"  {column[2:]}")
    Path("policy.yaml").write_text(text)
    asked = cli("validate", "policy.yaml")
    assert (asked.code, "privacy_unit is missing" in asked.out) == (1, True)
    Path("policy.yaml").write_text(text.replace("# privacy_unit: row", "privacy_unit: row"))
    assert cli("validate", "policy.yaml").code == 0
    planned = cli("plan", "policy.yaml", "--format", "json").document
    assert planned["ledger"]["left_after"]["like_this"] >= 3
    assert marked(planned["comparison"], "used") == ["discrete_gaussian"]
    assert "people, counted with noise)" in cli("release", "policy.yaml").out
    verified = cli("verify", "out/people.certificate.json", "--release", "out/people.parquet")
    assert verified.code == 0
