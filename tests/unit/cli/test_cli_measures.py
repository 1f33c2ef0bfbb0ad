"""What a number of a release is, beside what its author meant: through the real command line."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine import open_release
from policy_engine.kernel.mechanisms.meaning import RowNumbers
from policy_engine.policy.loading import load_policy

POLICY = """\
version: 1
name: r
source: {{file: p.parquet}}
privacy_unit: {unit}
recode: {{g: keep}}
mechanism: noisy_counts
{more}
guarantee: {{epsilon: 20, delta: 1.0e-4}}
release: {{file: out/r.parquet}}
account: people
"""
PROJECT = "ledger_begins: in_each_checkout\naccounts:\n  people: {epsilon: 900, delta: 0.1}\n"


@pytest.fixture
def shown(tmp_path, monkeypatch, cli):
    """The one row of a release of a table, by the names of its columns."""
    monkeypatch.chdir(tmp_path)

    def release(table, more, unit="row"):
        pq.write_table(pa.table(table), "p.parquet")
        Path("policy-engine.yaml").write_text(PROJECT)
        Path("policy.yaml").write_text(POLICY.format(unit=unit, more=more))
        done = cli("release", "policy.yaml", "--replace")
        assert done.code == 0, done.err
        [row] = pq.read_table("out/r.parquet").to_pylist()
        return {name: float(value) for name, value in row.items() if name != "g"}

    return release


def test_a_mean_is_over_those_who_have_a_value(shown):
    table = {"g": ["a"] * 2000, "x": pa.array([150.0, None] * 1000)}
    bounds = "bounds: [100, 200], round_to: 0.1"
    found = shown(table, f"measures: {{m: {{mean: x, {bounds}}}, s: {{sum: x, {bounds}}}}}")
    assert found["m"] == pytest.approx(150, abs=0.2)
    assert found["s"] == pytest.approx(150_000, abs=200)
    as_100 = shown(table, f"measures: {{m: {{mean: x, {bounds}, missing: {{as: 100}}}}}}")
    assert as_100["m"] == pytest.approx(125, abs=0.2)


def test_how_many_have_a_value_is_shown_where_a_mean_pays_for_it(shown, cli):
    table = {"g": ["a"] * 2000, "x": pa.array([150.0, None] * 1000)}
    bounds = "bounds: [100, 200], round_to: 0.1"
    mean = f"measures: {{m: {{mean: x, {bounds}}}"
    found = shown(table, f"{mean}, with_x: {{count: x}}}}")
    assert found["with_x"] == pytest.approx(1000, abs=10)
    told = cli("show", "out/r.parquet").out
    assert "with_x is how many people in the group have a value of x" in told
    assert "/ with_x where the mean is 150, up to" in told
    # The same noise as without it, and its number is the one the mean is made of.
    assert len(load_policy(Path("policy.yaml")).noise.quantities) == 2


@pytest.mark.parametrize("weight", [2.5, 1.25, 0.4])
def test_a_sum_of_fractions_is_rounded_once(shown, weight):
    table = {"g": ["a"] * 2000, "w": [weight] * 2000}
    found = shown(table, "measures: {w: {sum: w, bounds: [0, 10], round_to: 0.01}}")
    assert found["w"] == pytest.approx(2000 * weight, abs=20)


def test_a_sum_and_a_mean_of_one_thing_agree(shown):
    table = {"g": ["a"] * 555, "x": [100, 300, 340] * 185}
    more = "measures: {t: {sum: x, bounds: [0, 500]}, m: {mean: x, bounds: [0, 500]}}"
    found = shown(table, more)
    assert found["t"] / found["m"] == pytest.approx(555, abs=6)


MANY = {"p": [i // 3 for i in range(600)], "g": ["a"] * 600, "t": [37.4, 37.5, 37.6] * 200}


def test_many_rows_are_no_sum(shown):
    """Of rows, of people's means, of people's totals; rows stand beside people."""
    bounds = "bounds: [34, 42], round_to: 0.1"
    more = (
        "contribution: {max_groups: 1, max_rows_per_group: 2}\n"
        "count: {people: patients, rows: visits}\n"
        f"measures:\n  rows: {{mean: t, per: row, {bounds}}}\n"
        f"  people: {{mean: t, per: person, {bounds}}}\n"
        "  totals: {mean: t, per: person, bounds: [0, 200], round_to: 0.1}\n"
        "  each: {sum: t, per: person, bounds: [0, 200], round_to: 0.1}"
    )
    found = shown(MANY, more, "{column: p}")
    assert found["patients"] == pytest.approx(200, abs=10)
    assert found["visits"] == pytest.approx(400, abs=20)
    assert found["rows"] == pytest.approx(37.5, abs=0.3)
    assert found["people"] == pytest.approx(37.5, abs=0.3)
    assert found["each"] == pytest.approx(200 * 112.5, rel=0.2)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("contribution: {max_groups: 1}\nmeasures: {m: {mean: t, bounds: [0, 9]}}",
         "measures.m does not say whose value counts, where a person has many rows; write per"),
        ("contribution: {max_groups: 1}\nmeasures: {m: {mean: t, per: row, bounds: [0, 9]}}",
         "measures.m.per counts rows, and nothing says how many of one person's in a group; write"
         " contribution: {max_groups: 1, max_rows_per_group: 10}"),
        ("contribution: {max_groups: 1}\ncount: {rows: visits}",
         "count.rows counts rows, and nothing says how many of one person's in a group"),
        ("contribution: {max_groups: 1, max_rows_per_group: 3}",
         "contribution.max_rows_per_group is of rows that are counted, and no count"),
    ],
)  # fmt: skip
def test_whose_value_counts_is_asked(tmp_path, monkeypatch, cli, more, told):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY), "p.parquet")
    Path("policy.yaml").write_text(POLICY.format(unit="{column: p}", more=more))
    refused = cli("validate", "policy.yaml")
    assert refused.code == 1
    assert told in refused.out


@pytest.mark.parametrize(
    ("limits", "remedy"),
    [
        ("", "add contribution: {max_groups: 3, max_rows_per_group: 10}"),
        ("contribution: {max_groups: 2, count_cut: true}",
         "write contribution: {max_groups: 2, max_rows_per_group: 10, count_cut: true}"),
    ],
)  # fmt: skip
def test_how_many_rows_count_is_told_as_it_can_be_pasted(
    tmp_path, monkeypatch, cli, limits, remedy
):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY), "p.parquet")
    counted = "count: {rows: visits}\n"
    Path("policy.yaml").write_text(POLICY.format(unit="{column: p}", more=counted + limits))
    told = cli("validate", "policy.yaml").out
    assert told.endswith(f"; {remedy}\n"), told
    pasted = counted + remedy.partition(" ")[2]
    Path("policy.yaml").write_text(POLICY.format(unit="{column: p}", more=pasted))
    assert cli("validate", "policy.yaml").code == 0


def _rows(*people):
    """Rows of people, each a list of groups with a value."""
    lines = [(number, *row) for number, rows in enumerate(people) for row in rows]
    person, group, cost = zip(*lines, strict=True)
    return {"p": person, "g": group, "x": pa.array(cost, pa.float64())}


MANY_ROWS = "contribution: {max_groups: 1, max_rows_per_group: 2}\ncount: {people: n, rows: visits}"
CHECKED = ". Nothing was checked here: policy-engine verify does."
WITHIN = [("a", 5.0)]
#: By 400 people each: in three groups; with three rows in one; with a value above the bounds, as
#: far below, and at both; without one.
MANY_CUT = _rows(
    *[[("a", 1.0), ("b", 1.0), ("c", 1.0)]] * 400,
    *[[("a", 1.0), ("a", 2.0), ("a", 3.0)]] * 500,
    *[[("a", 11.0), ("b", 5.0)]] * 600,
    *[[("a", -1.0), ("b", -1.0)]] * 700,
    *[[("a", 0.0), ("a", 10.0)]] * 800,
    *[[("a", None), ("b", 4.0)]] * 900,
    *[WITHIN] * 1000,
)  # fmt: skip
CUT = """\
contribution: {{max_groups: 2, max_rows_per_group: 2, count_cut: true}}
count: {{people: n, rows: visits}}
measures: {{x: {{sum: x, per: row, bounds: [0, 10]}}, each: {{{each}}}}}"""
EACH = "sum: x, per: person, bounds: [0, 5]"


def _released(cli, table, more, policy=POLICY):
    pq.write_table(pa.table(table), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    Path("policy.yaml").write_text(policy.format(unit="{column: p}", more=more))
    done = cli("release", "policy.yaml", "--replace")
    assert done.code == 0, done.err
    return pq.read_table("out/r.parquet").to_pylist()


def test_how_many_people_are_cut_is_told_once_for_the_release(tmp_path, monkeypatch, cli):
    """Of people, whatever number of their rows or groups; of groups that are not shown as well."""
    monkeypatch.chdir(tmp_path)
    rows = _released(cli, MANY_CUT, CUT.format(each=EACH))
    assert len(rows) == 3
    first = rows[0]
    wanted = {
        "people_with_groups_cut": 400,
        "people_with_rows_cut": 500,
        "x_people_cut": 600 + 700,
        "x_people_missing": 900,
        "each_people_cut": 500 + 600 + 700 + 800,
        "each_people_missing": 900,
    }
    names = list(wanted)
    assert list(first)[-6:] == names
    for name in names:
        assert first[name] == pytest.approx(wanted[name], abs=25)
    assert all({name: row[name] for name in names} == {n: first[n] for n in names} for row in rows)
    assert cli("verify", "out/r.certificate.json", "--release", "out/r.parquet").code == 0
    shown = cli("show", "out/r.parquet")
    heading = shown.out.splitlines()[1]
    assert heading.split() == ["g", "n", "visits", "x", "each"]
    people, groups = first["people_with_groups_cut"], "people are in more than 2 groups"
    assert f"about {people} ± " in shown.out
    assert f"{groups}: 2 of each count, drawn at random" in shown.out
    assert "have in a group a total of x below 0 or above 5" in shown.out
    planned = cli("plan", "policy.yaml").out
    assert f"cut        people_with_groups_cut, how many {groups}" in planned


@pytest.mark.parametrize(
    ("more", "unit", "left_out"),
    [
        ("", "{column: p}", "a person's groups beyond 1"),
        ("", "{column: p, rows: any}", "a person's rows beyond one"),
        ("count: {people: n, rows: visits}", "{column: p}",
         "a person's groups beyond 1 or a person's rows beyond 2 in a group"),
        ("count: {people: n, rows: visits}\nmeasures: {x: {sum: x, per: row, bounds: [0, 10]}}",
         "{column: p}",
         "a person's groups beyond 1, a person's rows beyond 2 in a group, or the effect of bounds"
         " and of rounded values"),
        ("measures: {x: {sum: x, bounds: [0, 10]}}", "row",
         "the effect of bounds and of rounded values"),
        ("", "row", ""),
    ],
)  # fmt: skip
def test_wherever_an_interval_stands_it_is_said_what_it_leaves_out(
    tmp_path, monkeypatch, cli, more, unit, left_out
):
    """A new user's limits cut 29 % of the rows, and no interval had the truth or said why."""
    monkeypatch.chdir(tmp_path)
    if unit == "{column: p}":
        rows = ", max_rows_per_group: 2" if "rows" in more else ""
        more += f"\ncontribution: {{max_groups: 1{rows}}}"
    pq.write_table(pa.table(MANY_CUT), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    Path("policy.yaml").write_text(POLICY.format(unit=unit, more=more))
    planned = cli("plan", "policy.yaml").out
    assert cli("release", "policy.yaml").code == 0
    show = ("show", "out/r.parquet", "--errors")
    for said in (planned, cli(*show).out, cli(*show, "--output", "all.csv").out):
        assert "in 95 of 100 releases noise puts" in said
        assert said.count("these intervals do not include") == (left_out != "")
        assert not left_out or f"these intervals do not include {left_out}\n" in said
    cli("report", "out/r.certificate.json", "--release", "out/r.parquet", "-o", "r.html")
    page, opened = html.unescape(Path("r.html").read_text()), open_release("out/r.parquet")
    assert f"these intervals do not include {left_out}" in page or not left_out
    picture = opened.picture(opened.numbers[-1].name)
    for drawn in (picture.caption, opened._repr_html_(), picture.draw().get_xlabel()):
        without = f", without {left_out}" if left_out else ""
        told = f"lies what counts in 95 of 100 releases{without}"
        words = " ".join(re.sub("<[^>]*>", "", drawn).split()).removesuffix(CHECKED)
        assert words.endswith(told)
    counted = opened.picture().caption
    assert counted.partition(";")[2] in page


@pytest.mark.parametrize(
    ("more", "share"),
    [
        ("", 25),  # 1 of 3 + 1
        ("count: {people: n, rows: visits}", 25),  # 2 of 6 + 2
        (CUT.format(each=EACH).partition("\n")[2], 33),  # 6 of 12 + 6
    ],
)
def test_before_the_charge_plan_says_what_tells_who_is_cut(tmp_path, monkeypatch, cli, more, share):
    """A new user's counts were a fifth too low, and neither plan nor the release said so."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY_CUT), "p.parquet")
    limits = "max_groups: 3" + ", max_rows_per_group: 2" * ("rows:" in more)
    text = POLICY.format(unit="{column: p}", more=f"contribution: {{{limits}}}\n{more}")
    Path("policy.yaml").write_text(text)
    Path("policy-engine.yaml").write_text(PROJECT)
    planned = cli("plan", "policy.yaml").out
    told = f"cut: contribution.count_cut: true does, for about {share} % of ε\n"
    assert told in planned
    assert "'policy-engine suggest' chooses limits by the data" in planned
    before = load_policy("policy.yaml").protection
    Path("policy.yaml").write_text(text.replace(limits, f"{limits}, count_cut: true"))
    after = load_policy("policy.yaml").protection
    assert round(100 * (1 - before.numbers / after.numbers)) == share
    assert "does not say how many people" not in cli("plan", "policy.yaml").out


KEPT_AND_LISTED = "public_groups: {g: [a, b, c], x: [1, 2]}"


@pytest.mark.parametrize(
    ("recode", "more", "most"),
    [
        ("{x: {bins: [1, 2]}}", "", 4),  # of three classes, and of none
        ("{x: {bins: [1, 2]}, y: {bins: [5]}}", "", 12),
        ("{g: keep, x: keep}", KEPT_AND_LISTED, 6),
        ("{x: {bins: [1]}}", "", 0),  # all three count
        ("{g: keep, x: {bins: [1]}}", "", 0),  # the policy does not tell how many
    ],
)
def test_plan_says_that_with_more_columns_a_person_could_be_in_more_groups_than_count(
    tmp_path, monkeypatch, cli, recode, more, most
):
    """A second column had the same price and noise, and nothing said what it cost."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"p": [1], "g": ["a"], "x": [1], "y": [1]}), "p.parquet")
    text = POLICY.format(unit="{column: p}", more=f"contribution: {{max_groups: 3}}\n{more}")
    Path("policy.yaml").write_text(text.replace("{g: keep}", recode))
    Path("policy-engine.yaml").write_text(PROJECT)
    planned = cli("plan", "policy.yaml")
    told = f"could be in up to {most} groups, and counts in at most 3 (max_groups)\n"
    assert planned.code == 0, planned.err
    assert (told in planned.out) is (most > 0)
    assert ("(max_groups)" in planned.out) is (most > 0)


NOISY = """\
contribution: {max_groups: 4, max_rows_per_group: 3}
count: {people: n, rows: visits}
measures: {x: {sum: x, per: row, bounds: [0, 10]}}"""


def test_plan_says_what_makes_its_noise_smaller_and_each_of_it_does(tmp_path, monkeypatch, cli):
    """A new user found nothing that said what to change where numbers are too noisy."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY_CUT), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    text = POLICY.format(unit="{column: p}", more=NOISY)

    def planned(*changes):
        changed = text
        for old, new in changes:
            assert old in changed
            changed = changed.replace(old, new)
        Path("policy.yaml").write_text(changed)
        out = cli("plan", "policy.yaml").out
        count = float(re.search(r"were counted in a group: give or take ([0-9.]+)", out)[1])
        total = re.search(r"measures   x, .*: give or take ([0-9.]+) \(1 SD\)", out)
        return out, count, None if total is None else float(total[1])

    out, count, total = planned()
    assert (
        "\nnoise      each of these makes it smaller: a lower max_groups (now 4), a lower"
        " max_rows_per_group (now 3), narrower bounds (of x), fewer numbers beside the people (each"
        " takes a part of ε), a greater ε\n"
        "           coarser recodes make larger groups, in which the same noise matters less\n"
        "assuming:\n"
    ) in out
    assert planned(("max_groups: 4", "max_groups: 2"))[1] < count
    assert planned(("max_rows_per_group: 3", "max_rows_per_group: 1"))[2] < total
    assert planned(("[0, 10]", "[0, 5]"))[2] < total
    assert planned((NOISY.rpartition("\n")[2], ""))[1] < count
    alone, _, _ = planned((NOISY, "contribution: {max_groups: 2}"))
    assert "makes it smaller: a lower max_groups (now 2), a greater ε\n" in alone


def test_nobody_is_cut_where_there_are_no_more_groups(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY_CUT), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    mapped = "g: {{map: {{a: a, b: b}}, other: c}}"  # and a missing value
    text = POLICY.replace("g: keep", mapped)
    for most, is_cut in ((3, True), (4, False)):
        more = f"contribution: {{max_groups: {most}}}"
        Path("policy.yaml").write_text(text.format(unit="{column: p}", more=more))
        planned = cli("plan", "policy.yaml").out
        assert ("how many people the limits cut" in planned) == is_cut
        assert ("there are no more groups than a person counts in" in planned) != is_cut


def test_a_release_says_that_no_column_tells_who_is_cut(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    told = "more people than were counted; no column says how many people the limits cut\n"
    _released(cli, MANY_CUT, "contribution: {max_groups: 1}")
    assert told in cli("show", "out/r.parquet").out
    _released(cli, MANY_CUT, "contribution: {max_groups: 1, count_cut: true}")
    assert told not in cli("show", "out/r.parquet").out


def test_who_is_cut_is_of_groups_that_are_not_shown(tmp_path, monkeypatch, cli):
    """And where none is shown nothing is told."""
    monkeypatch.chdir(tmp_path)
    alone = [[(f"only {number}", 1.0), ("b", 1.0), ("c", 1.0)] for number in range(300)]
    rows = _released(cli, _rows(*alone, *[WITHIN] * 300), CUT.format(each=EACH) + "\nk: 100")
    assert {row["g"] for row in rows} == {"a", "b", "c"}
    assert rows[0]["people_with_groups_cut"] == pytest.approx(300, abs=25)
    nobody = _rows(*[[(f"only {number}", 1.0)] for number in range(300)])
    assert _released(cli, nobody, CUT.format(each=EACH)) == []
    assert "- about " not in cli("show", "out/r.parquet").out


def test_a_mean_of_a_person_is_cut_as_a_mean(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    each = "mean: x, per: person, bounds: [0, 5], missing: {as: 5}"
    [first, *_] = _released(cli, MANY_CUT, CUT.format(each=each))
    assert first["each_people_cut"] == pytest.approx(600 + 700, abs=25)
    assert first["each_people_missing"] == pytest.approx(900, abs=25)


def test_who_is_cut_is_counted_where_only_people_count(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    [first, *_] = _released(cli, MANY_CUT, "contribution: {max_groups: 1, count_cut: true}")
    assert list(first) == ["g", "n", "people_with_groups_cut"]
    assert first["people_with_groups_cut"] == pytest.approx(400 + 600 + 700 + 900, abs=25)


def test_a_name_of_who_is_cut_is_taken(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(MANY_CUT), "p.parquet")
    more = "contribution: {max_groups: 1, count_cut: true}\ncount: {people: people_with_groups_cut}"
    Path("policy.yaml").write_text(POLICY.format(unit="{column: p}", more=more))
    refused = cli("validate", "policy.yaml")
    assert refused.code == 1
    assert "count_cut is a released column already, 'people_with_groups_cut'" in refused.out


def _two_sizes(values):
    small, large = values * 40, values * 400
    return {"g": ["a"] * len(small) + ["b"] * len(large), "x": small + large}


@pytest.mark.parametrize(
    ("beside", "told"), [(", v: {count: x}", "in 1 of 2"), ("", "in at least 1 of 2")]
)
def test_a_quantile_of_too_few_people_is_said_to_be_so(tmp_path, monkeypatch, cli, beside, told):
    """By released numbers alone: it was shown without a sign, and could be anything."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(_two_sizes([20.0, 21.0, 22.0, 23.0])), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    more = f"measures: {{m: {{quantile: x, at: 0.9, bounds: [0, 60]}}{beside}}}"
    text = POLICY.format(unit="row", more=more).replace("epsilon: 20", "epsilon: 0.7")
    Path("policy.yaml").write_text(text)
    said = cli("plan", "policy.yaml")
    over = "v" if beside else "the number of its values, with noise,"
    assert f"m can be anything up to 60 where {over} is below 6" in said.out
    unshown = "no column shows how many values m has, so not every row shows whether it has too few"
    assert (unshown in said.err) == (not beside)
    done = cli("release", "policy.yaml")
    assert done.code == 0 and (unshown in done.err) == (not beside)
    rows = {row["g"]: row for row in pq.read_table("out/r.parquet").to_pylist()}
    assert rows["a"]["m"] is not None  # it stands there as any other
    shown = cli("show", "out/r.parquet", "--errors", "--output", "r.csv").out
    assert f"m can be anything up to 60 {told} rows (a): too few values there\n" in shown
    report = ("report", "out/r.certificate.json", "--release", "out/r.parquet", "-o", "page.html")
    assert cli(*report).code == 0
    assert f" {told} rows (a): too few values there" in Path("page.html").read_text()
    names, *lines = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
    places = [names.index(f'"m_{end}"') for end in ("low", "high")]
    ends = {line[0]: [line[place] for place in places] for line in lines}
    assert ends == {'"a"': ["0", "60"], '"b"': ["", ""]}
    html = open_release("out/r.parquet")._repr_html_()
    assert "(0 to 60) (too few values)</td>" in html and html.count("(error not stated)") == (
        not beside
    )


def test_plan_and_show_say_one_thing_of_how_a_mean_is_rounded(tmp_path, monkeypatch, cli):
    """Whole numbers are not rounded, and their mean is, by half a step: plan said a whole one."""
    monkeypatch.chdir(tmp_path)
    table = _two_sizes([20, 30]) | {"y": [0.5] * 880}
    pq.write_table(pa.table(table), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    told = "m: {mean: x, bounds: [0, 60]}, tenth: {mean: x, bounds: [0, 60], round_to: 0.1}"
    measure = f"measures: {{{told}, of_y: {{mean: y, bounds: [0, 1000]}}}}"
    Path("policy.yaml").write_text(POLICY.format(unit="row", more=measure))
    planned = cli("plan", "policy.yaml").out
    assert cli("release", "policy.yaml").code == 0
    shown = cli("show", "out/r.parquet").out
    for name, most in (("m", "0.5"), ("tenth", "0.05"), ("of_y", "1")):
        off = f"beside its noise {name} is off by rounding, by at most {most}\n"
        assert off in planned and off in shown
    steps = re.findall(r"(\w+) is published in steps of 1: for decimals write", planned)
    assert steps == ["m"]  # between near bounds, and where no finer step is written


def test_plan_says_how_far_a_mean_is_off_by_the_size_of_a_group(tmp_path, monkeypatch, cli):
    """It had a formula alone until after the charge."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(_two_sizes([20.0, 30.0])), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    text = POLICY.replace("epsilon: 20", "epsilon: 0.2")
    measure = "measures: {m: {mean: x, bounds: [0, 60], missing: {as: 0}}}"
    Path("policy.yaml").write_text(text.format(unit="row", more=measure))
    planned = cli("plan", "policy.yaml").out
    ends = r"give or take ([\d.]+) / n .* up to ([\d.]+) / n else"
    least, most = re.search(ends, planned).groups()
    sizes = r" 1 SD where n, with noise, is 10: noise alone; 100: ([\d.]+) to ([\d.]+); 1,000"
    told = re.search(sizes, planned)
    assert [float(end) for end in told.groups()] == [
        pytest.approx(float(end) / 100, rel=0.05) for end in (least, most)
    ]
    [below] = re.findall(r"m is noise alone where n is below (\d+)", planned)
    assert 10 < int(below) <= 100


@pytest.mark.parametrize("missing", ["", ", missing: {as: 0}"])
def test_plan_says_how_large_a_sum_must_be_to_be_more_than_noise(
    tmp_path, monkeypatch, cli, missing
):
    """Of fines of some hundreds a month the noise was thousands, and no line said so."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(_two_sizes([20.0, 30.0])), "p.parquet")
    Path("policy-engine.yaml").write_text(PROJECT)
    text = POLICY.replace("epsilon: 20", "epsilon: 0.2")
    measure = f"measures: {{t: {{sum: x, bounds: [0, 600]{missing}}}}}\n"
    Path("policy.yaml").write_text(text.format(unit="row", more=measure))
    planned = cli("plan", "policy.yaml").out
    [told] = re.findall(r"a sum of ([\d,]+) in a group off by at most 100 %, one of ([\d,]+)"
                        r" by 10 %, and one of ([\d,]+) by 1 %\n", planned)  # fmt: skip
    whole, tenth, hundredth = (int(each.replace(",", "")) for each in told)
    assert (tenth, hundredth) == (10 * whole, 100 * whole)
    assert cli("release", "policy.yaml").code == 0
    sums = next(each for each in open_release("out/r.parquet").numbers if each.name == "t")
    low, high = sums.interval(RowNumbers.of({"t": whole, "n": 500}))
    assert 0 <= low < whole / 10 and whole < high <= 2 * whole


LATE = {"p": [i // 2 for i in range(6000)], "g": ["a", "a", "b", "b", "c", "c"] * 1000,
        "x": [17, 18] * 3000}  # fmt: skip


@pytest.mark.parametrize(
    ("x", "told"),
    [
        ("mean: x, per: row, bounds: [0, 3], round_to: 0.1, missing: {as: 0}",
         "x is at or near 3, its upper bound, in 3 of 3 rows (a; b; c): if a value can be above 3"),
        ("mean: x, per: row, bounds: [0, 3]",
         "x is at or near 3, its upper bound, in 3 of 3 rows (a; b; c): if a value can be above 3"),
        ("sum: x, per: person, bounds: [0, 20]",
         "x is at or near 20 for each person, its upper bound, in 3 of 3 rows (a; b; c): if a"
         " person's total can be above 20"),
        ("median: x, per: row, bounds: [0, 3]",
         "x is at or near 3, its upper bound, in 3 of 3 rows (a; b; c): if a value can be above 3"),
        ("median: x, per: row, bounds: [0, 30]", None),
        ("mean: x, per: row, bounds: [0, 30]", None),
        ("sum: x, per: person, bounds: [0, 50]", None),
    ],
)  # fmt: skip
def test_a_release_whose_numbers_stand_at_a_bound_says_so(tmp_path, monkeypatch, cli, x, told):
    """By its numbers alone: a new user's mean of 17.7 days was shown as 3, and nothing warned."""
    monkeypatch.chdir(tmp_path)
    _released(cli, LATE, f"{MANY_ROWS}\nmeasures: {{x: {{{x}}}}}")
    places = [cli("show", "out/r.parquet").out, cli("release", "policy.yaml").err]
    places.append("; ".join(open_release("out/r.parquet").remarks))
    cli("report", "out/r.certificate.json", "--release", "out/r.parquet", "-o", "r.html")
    for place in (*places, html.unescape(Path("r.html").read_text())):
        assert ("bound, in" in place) == (told is not None)
        assert told is None or f"{told}, the bounds are probably too narrow" in place


def test_a_page_marks_the_numbers_that_are_noise_alone(tmp_path, monkeypatch, cli):
    """They stood there like the others, and a bullet of twenty said so; another came twice."""
    monkeypatch.chdir(tmp_path)
    groups = [*"a" * 20_000, *"bcdef" * 47]
    both = len(groups)
    table = {"p": range(both), "g": groups, "x": [25] * both, "y": [0] * both}
    limits = "contribution: {max_groups: 1, max_rows_per_group: 9}\n"
    counts = "count: {people: n, rows: visits}\npublic_groups: auto\n"
    measured = (
        "measures:\n  x: {mean: x, per: row, bounds: [0, 60], missing: {as: 0}}\n"
        "  of_x: {count: x, per: row}\n  y: {sum: y, per: row, bounds: [0, 9000]}"
    )
    policy = POLICY.replace("epsilon: 20", "epsilon: 1").replace(
        "keep", "{{map: {{a: a, b: b, c: c, d: d, e: e}}, other: f}}"
    )
    rows = _released(cli, table, limits + counts + measured, policy)
    cli("report", "out/r.certificate.json", "--release", "out/r.parquet", "-o", "r.html")
    page = html.unescape(Path("r.html").read_text())
    first = re.sub("<[^>]+>", " ", page.partition("First rows</h3>")[2].partition("</table>")[0])
    below = sum(row[name] < 0 for row in rows for name in ("visits", "of_x", "y"))
    assert first.count("below 0 by noise") == below
    meaning = page.partition("What a shown number means")[2].partition("</ul>")[0]
    [alone] = re.findall(rf"x is noise alone in (\d) of {len(rows)} rows", meaning)
    assert 1 <= int(alone) < len(rows) and first.count("noise alone") == int(alone)
    assert meaning.index("noise alone in") < meaning.index("n is how many people")
    assert meaning.count("of whoever has more than 9 rows in a group, 9 count") == 1
    notebook = open_release("out/r.parquet")._repr_html_()
    assert notebook.count("(noise alone)") == int(alone)
