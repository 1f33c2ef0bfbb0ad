"""diff: what changed between two policies or two certificates, and whether that is weaker."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine.policy.escapes import cell

from .test_noisy_counts import NOISY, WIDE


def keys(found):
    return {each["key"]: each["effect"] for each in found.document["changes"]}


ANY_ROW = ("privacy_unit: row", "privacy_unit: {column: id, rows: any}")


@pytest.mark.parametrize(
    ("changes", "numbers", "wanted"),
    [
        ((), {"epsilon": "0.6"}, {"guarantee.epsilon": "weaker"}),
        ((), {"epsilon": "0.4"}, {"guarantee.epsilon": "not weaker"}),
        ((), {"delta": "1.0e-8"}, {"guarantee.delta": "weaker"}),
        ((), {"k": "25"}, {"k": "not weaker", "visible": "not weaker", "odds": "not weaker"}),
        ((("rate: 0.1", "rate: 0.3"),), {"delta": "1.0e-3"}, {
            "sample.rate": "weaker", "visible": "weaker", "odds": "weaker",
            "guarantee.delta": "weaker"}),
        ((("k: ", "models: {l_diversity: {of: sex, l: 2}}\nk: "),), {}, {"models": "to judge"}),
        ((("[30, 60]", "[60]"),), {}, {"recode.age": "not weaker"}),
        ((("[30, 60]", "[20, 30, 60]"),), {}, {"recode.age": "weaker"}),
        ((("[30, 60]", "[31]"),), {}, {"recode.age": "to judge"}),
        ((("  sex: keep\n", ""),), {}, {"recode.sex": "not weaker"}),
        ((ANY_ROW,), {}, {"privacy_unit": "to judge"}),
        ((("name: b\n", "name: b\npurpose: x\n"),), {}, {"purpose": "to judge"}),
        ((("people.parquet", "others.parquet"),), {}, {"source": "to judge"}),
        ((("account: people", "account: others"),), {}, {"account": "to judge"}),
        ((("k: ", "filter: {sex: {in: [x]}}\nk: "),), {}, {"filter.sex": "to judge"}),
    ],
)  # fmt: skip
def test_policies(cli, policy, changes, numbers, wanted):
    old, new = policy("a"), policy("b", *changes, **numbers)
    found = cli("diff", old, new, "--format", "json")
    assert {k: v for k, v in keys(found).items() if k != "release"} == wanted
    assert keys(found)["release"] == "to judge"  # each policy has a place of its own
    assert (found.code, found.document["weakens"]) == (1, True)


def test_nothing_changed(cli, policy):
    found = cli("diff", policy("a"), policy("a"))
    assert (found.code, "nothing that is promised or shown" in found.out) == (0, True)


def test_a_recode_is_a_map_in_every_format(cli, policy):
    old, new = policy("a"), policy("b", ("[30, 60]", "[60]"))
    text = cli("diff", old, new).out
    assert "below 30: <30 → <60" in text
    assert "price  ε 0.5, δ 1e-9 for one row → ε 0.5, δ 1e-9 for one row" in text
    markdown = cli("diff", old, new, "--format", "markdown").out
    assert "* below 30: \\<30 → \\<60" in markdown
    assert "| recode.age |" in markdown
    document = cli("diff", old, new, "--format", "json").document
    [age] = [each for each in document["changes"] if each["key"] == "recode.age"]
    assert age["map"][0] == {"when": "below 30", "before": "<30", "after": "<60"}


def test_another_law_shows_its_noise(cli, policy):
    old, new = policy("a"), policy("b", NOISY, **WIDE)
    found = cli("diff", old, new, "--format", "json")
    assert (keys(found)["mechanism"], keys(found)["noise"]) == ("to judge", "weaker")
    assert keys(found)["guarantee.delta"] == "weaker"


def test_noise_has_the_verdict_of_what_is_measured_of_it(cli, policy):
    less = policy(
        "a", (NOISY[0], f"{NOISY[1]}noise: {{distribution: discrete_gaussian}}\n"), **WIDE
    )
    more = policy("b", NOISY, **WIDE)
    measured = ("visible", "odds", "noise")
    for old, new, verdict in ((more, less, "not weaker"), (less, more, "weaker")):
        found = keys(cli("diff", old, new, "--format", "json"))
        assert {key: found[key] for key in measured} == dict.fromkeys(measured, verdict)


def test_sums_are_shown_things(cli, policy):
    old = policy("a", NOISY, **WIDE)
    summed = (NOISY[0], f"{NOISY[1]}measures: {{total: {{sum: age, bounds: [0, 99]}}}}\n")
    new = policy("b", summed, **WIDE)
    assert keys(cli("diff", old, new, "--format", "json"))["measures.total"] == "weaker"
    assert keys(cli("diff", new, old, "--format", "json"))["measures.total"] == "not weaker"


def test_certificates(cli, policy):
    for file in (policy("a"), policy("b", ("[30, 60]", "[60]"), k="25")):
        assert cli("release", file).code == 0
    a, b = (Path(f"out/{name}.certificate.json") for name in "ab")
    found = cli("diff", a, b, "--format", "json")
    assert found.code == 1
    assert keys(found) == {
        "guarantee.delta": "not weaker", "k": "not weaker", "visible": "not weaker",
        "odds": "not weaker", "recode.age": "not weaker", "release": "to judge",
    }  # fmt: skip
    assert cli("diff", b, a).code == 1
    assert cli("diff", a, a).code == 0


def test_one_of_each_is_refused(cli, policy):
    cli("release", policy("a"))
    assert cli("diff", "a.yaml", "out/a.certificate.json").code == 2


def test_files_that_are_neither(cli, project):
    assert cli("diff", "no.yaml", "no.yaml").code == 3
    Path("x.json").write_text("{}")
    assert cli("diff", "x.json", "x.json").code == 1


@pytest.mark.parametrize("text", ["<script>", "[a](http://b)", "a|b", "`x`", "@all", "![i](u)"])
def test_markdown_holds_nothing_but_text(text):
    shown = cell(text)
    for mark in "<>[]|`!@":
        assert shown.count(mark) == shown.count(f"\\{mark}")


def test_a_policy_and_a_certificate_are_named_as_what_they_are(cli, policy):
    file = policy("a", NOISY, **WIDE)
    assert cli("release", file).code == 0
    found = cli("diff", file, "out/a.certificate.json")
    assert found.code == 2
    told = f"{file} is a policy and out/a.certificate.json a certificate, which do not compare"
    assert told in found.err
