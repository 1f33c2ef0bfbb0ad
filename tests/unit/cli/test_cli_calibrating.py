"""calibrate: one pair, the frontier, a prior, and a picture."""

from __future__ import annotations

import sys

import pytest

TARGET = ("calculate", "--epsilon", 1, "--delta", "1e-6")
PRIOR = ("--people", 48842, "--groups", 900)


def calibrated(cli, *given):
    words = ("calculate", "--epsilon", 1, "--delta", "1e-6", *given, "--format", "json")
    return cli(*words).document


def delta(cli, k, rate):
    words = ("calculate", "--k", k, "--rate", rate, "--epsilon", 1, "--format", "json")
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
    assert (
        "(asked: δ ≤ 1e-6; unit: what is sampled)"
        in cli("calculate", "--epsilon", 1, "--delta", "1e-6").out
    )


def test_calibrate_finds_one_of_the_two(cli):
    result = cli("calculate", "--epsilon", 1, "--delta", "1e-6", "--k", 20, "--rate", "0.1")
    assert result.code == 2
    assert "give three of --k, --rate" in result.err


def test_the_frontier_is_a_table_of_the_lines_that_tell(cli):
    out = cli(*TARGET, "--frontier").out
    head, *rows = out.splitlines()
    assert head.split() == ["k", "rate", "k/rate"]
    table = [row.replace("*", " ").split() for row in rows[:-5]]
    rates = [float(rate) for _, rate, _ in table]
    assert table[0] == ["2", "0.001", "2000"] and table[-1] == ["500", "0.936976", "534"]
    steps = [one / other for one, other in zip(rates[1:-1], rates, strict=False)]
    assert min(steps) >= 1.1 and len(table) == 25
    assert "*    14    0.253735          56" in rows
    assert rows[-5:] == [
        "25 of 499 pairs, the rate up by a tenth; --format json has all",
        "k/rate: a group of so many people is expected to appear",
        "*: the pair chosen",
        "k = 14, rate = 0.253735",
        "ε = 1, δ = 9.99957544679e-7  (asked: δ ≤ 1e-6; unit: what is sampled)",
    ]


def test_the_frontier_in_json_is_whole(cli):
    found = cli(*TARGET, "--frontier", "--format", "json").document
    pairs = found["frontier"]
    assert [pair["k"] for pair in pairs] == list(range(2, 501))
    assert pairs[12] == {"k": 14, "rate": 0.253735, "group": 56}
    assert (found["k"], found["rate"], found["group"]) == (14, 0.253735, 56)
    assert found["delta"] <= found["asked_delta"] == 1e-6
    assert "prior" not in found and "plot" not in found


def test_the_largest_k_of_the_frontier(cli):
    found = cli(*TARGET, "--frontier", "--most-k", 9, "--format", "json").document
    assert [pair["k"] for pair in found["frontier"]] == list(range(2, 10))
    assert found["k"] == 9
    assert (
        "most_k must be an integer from 2 to 10000, found 1"
        in cli(*TARGET, "--frontier", "--most-k", 1).err
    )


def test_a_prior_chooses_the_pair(cli):
    found = cli(*TARGET, *PRIOR, "--format", "json").document
    assert (found["k"], found["rate"], found["maximise"]) == (14, 0.253735, "people")
    assert found["prior"] == {"people": 48842, "groups": 900, "exponent": 1}
    assert found["expected_people"] == pytest.approx(35740.25, abs=0.01)
    assert "frontier" not in found
    text = cli(*TARGET, *PRIOR).out
    assert "expected to be released: 35740.3 of 48842 people, in 127.4 of 900 groups" in text
    alike = ("--people", 30_000, "--groups", 1_000, "--exponent", 0, "--maximise", "groups")
    found = cli(*TARGET, *alike, "--frontier", "--format", "json").document
    best = max(found["frontier"], key=lambda pair: pair["expected_groups"])
    assert found["k"] == best["k"] and found["maximise"] == "groups"
    assert found["expected_groups"] == best["expected_groups"]


def test_the_frontier_with_a_prior_says_what_is_expected(cli):
    out = cli(*TARGET, *PRIOR, "--frontier", "--most-k", 20).out
    assert out.splitlines()[0].split() == ["k", "rate", "k/rate", "people", "groups"]
    assert "*    14    0.253735          56     35740.3       127.4" in out
    assert "people, groups: expected to be released\n" in out


def test_several_releases(cli):
    found = cli(*TARGET, "--releases", 2, "--frontier", "--most-k", 4, "--format", "json").document
    assert found["k"] == 4 and found["releases"] == 2 and found["delta"] <= 1e-6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--frontier", "--k", 20), "leave --k and --rate out"),
        ((*PRIOR, "--rate", "0.1"), "leave --k and --rate out"),
        (("--people", 5), "a prior has people and groups: give --people and --groups"),
        (("--groups", 5, "--frontier"), "give --people and --groups"),
        (("--exponent", 1), "--exponent and --maximise are of a prior"),
        (("--maximise", "groups", "--frontier"), "--exponent and --maximise are of a prior"),
        (("--most-k", 9), "--most-k is of the frontier: give --frontier, --people or --output"),
        (("--replace",), "--replace replaces a plot; name it with --output"),
        (("--people", 0, "--groups", 0), "groups must be an integer from 1 to 1000000, found 0"),
        (("--people", 5, "--groups", 2, "--exponent", "x"), "exponent must be a number from 0"),
        (("--people", 5, "--groups", 9), "people must be at least groups = 9, found 5"),
        (("--output", "a.jpg"), "a plot is written as .svg, .pdf, .png, found 'a.jpg'"),
    ],
)
def test_what_cannot_be_asked_together(cli, words, said):
    result = cli(*TARGET, *words)
    assert result.code == 2
    assert said in result.err


def test_a_plot_needs_matplotlib(cli, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = cli(*TARGET, "--output", tmp_path / "a.svg")
    told = "error: a plot needs matplotlib; run pip install '.[plot]' in a clone of policy-engine\n"
    assert (result.code, result.err) == (2, told)


@pytest.mark.parametrize(
    ("kind", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_plot_is_the_same_each_time(cli, tmp_path, kind, magic):
    path = tmp_path / f"a.{kind}"
    words = (*TARGET, "--most-k", 70, "--output", path)
    result = cli(*words, "--format", "json")
    assert result.document["plot"] == str(path)
    before = path.read_bytes()
    assert before.startswith(magic)
    refused = cli(*words)
    assert (refused.code, refused.err) == (
        3,
        f"error: {path} exists; use --replace to write it anew\n",
    )
    assert cli(*words, "--replace").out.endswith(f"\nplot  {path}\n")
    assert path.read_bytes() == before
    assert cli(*words, *PRIOR, "--replace").code == 0
    assert len(path.read_bytes()) > len(before)
    assert list(tmp_path.iterdir()) == [path]


def test_a_plot_without_arxs_rate_is_drawn(cli, tmp_path):
    assert cli(*TARGET, *PRIOR, "--most-k", 5, "--output", tmp_path / "a.svg").code == 0


def test_a_plot_that_cannot_be_written(cli, tmp_path):
    result = cli(*TARGET, "--most-k", 5, "--output", tmp_path / "none" / "a.svg")
    assert result.code == 3
    assert "could not be written: No such file or directory" in result.err
    (tmp_path / "b.svg").mkdir()
    result = cli(*TARGET, "--output", tmp_path / "b.svg", "--replace")
    assert (result.code, "is a directory; name a file" in result.err) == (3, True)
