"""Counts with noise from the command line: planned, released, shown, verified, and paid for."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.desk.reader import ProjectReader, Verification
from policy_engine.second_route import brute_force, brute_product

NOISY = ("sample: {rate: 0.1}\nk: 20\n", "mechanism: noisy_counts\n")
PLACE = (NOISY[0], "noise: {distribution: negative_binomial}\n")
WIDE = {"epsilon": "0.5", "delta": "1.0e-7"}
TRUE = {(age, sex): n for age, sex, n in [
    ("<30", "female", 767), ("<30", "male", 573), ("[30,60)", "female", 2285),
    ("[30,60)", "male", 1715), (">=60", "female", 1520), (">=60", "male", 1140),
]}  # fmt: skip


@pytest.fixture
def many(project):
    """Visits: 300 people with one to five rows in three towns, and rows of nobody."""
    rows = [(i if i % 50 else None, f"town {(i + visit) % 3}") for i in range(300)
            for visit in range(1 + i % 5)]  # fmt: skip
    ids, names = zip(*rows, strict=True)
    pq.write_table(pa.table({"id": ids, "town": names}), project / "visits.parquet")
    towns = {}
    for person, town in {each for each in rows if each[0] is not None}:
        towns.setdefault(town, set()).add(person)
    return {town: len(people) for town, people in towns.items()}


def test_fresh_noise_is_no_new_sample(cli, policy):
    file = policy("a", NOISY, **WIDE)
    cli("release", file)
    done = cli("release", file, "--revise", "--replace")
    assert done.err.startswith(
        "a was released before (entry 2), and a new draw of the noise is asked for: this is a new"
    )


@pytest.mark.parametrize(("change", "within"), [(NOISY, 28), (PLACE, 400)])
def test_a_release_is_near_the_truth_and_verifies(cli, policy, change, within):
    file = policy("a", change, **WIDE)
    done = cli("release", file, "--format", "json").document
    assert (done["groups"], done["rate"]) == (6, 1)
    for row in pq.read_table("out/a.parquet").to_pylist():
        assert abs(row["n"] - TRUE[row["age"], row["sex"]]) <= within
    verified = cli("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert verified.code == 0
    assert "by brute force: every value of the noise" in verified.out
    again = cli("release", file, "--format", "json").document
    assert again["repeated"] is True


def test_what_will_be_seen_is_planned_and_shown(cli, policy):
    file = policy("a", NOISY, **WIDE)
    planned = cli("plan", file)
    assert "mechanism  noisy counts, truncated laplace, k = 1" in planned.out
    assert "shown      a group of 30 people in the source half of the time" in planned.out
    assert "counts     n estimates a group of the source: give or take 2.8 (1 SD)" in planned.out
    assert "for certain the group has between n - 29 and n + 30 people" in planned.out
    outlook = cli("plan", file, "--format", "json").document["outlook"]
    assert outlook["visible_from"] == 30
    assert {each["size"]: each["shown"] for each in outlook["chances"]}[30] > 0.5
    released = cli("release", file)
    assert "(6 groups, " in released.out
    assert " people, counted with noise)" in released.out
    told = cli("show", "out/a.parquet").out
    assert "and for certain there are between n - 29 and n + 30" in told
    assert "every group that is shown has at least one person" in told


def test_k_is_certain_and_rows_are_released(cli, policy):
    rows = ("release: {file: out/a.parquet}", "release: {file: out/a.parquet, as: rows}")
    file = policy("a", ("sample: {rate: 0.1}\nk: 20\n", "k: 600\n"), rows, **WIDE)
    assert "k = 600" in cli("release", file).out
    shown = {tuple(row.values()) for row in pq.read_table("out/a.parquet").to_pylist()}
    assert ("<30", "male") not in shown
    assert len(shown) == 5
    told = cli("show", "out/a.parquet").out
    assert "at least 600 people" in told
    assert "noise adds rows that are nobody's, and takes others away" in told
    assert cli("verify", "out/a.certificate.json", "--release", "out/a.parquet").code == 0


def test_nobody_shown_is_told(cli, policy):
    file = policy("a", ("sample: {rate: 0.1}\nk: 20\n", "k: 3000\n"), **WIDE)
    told = cli("release", file).err
    either = "either no rows are there that count (has the data arrived?), or each group has fewer"
    half = re.search(r"a group of ([\d,]+) people in the source half", cli("plan", file).out)[1]
    assert f"a: it shows nobody: {either} than about {half} people; coarser recodes" in told
    assert f"warning: it shows nobody: {either} than" in cli("show", "out/a.parquet").out


def test_a_person_counts_in_several_groups(cli, policy, many, monkeypatch):
    visits = ("{file: people.parquet}\nprivacy_unit: row",
              "{file: visits.parquet}\nprivacy_unit: {column: id, rows: all}")  # fmt: skip
    town = ("  age: {bins: [30, 60]}\n  sex: keep\n", "  town: keep\n")
    limit = (NOISY[0], "contribution: {max_groups: 3}\n")
    file = policy("a", visits, town, limit, epsilon="1.0", delta="1.0e-6")
    planned = cli("plan", file).out
    assert "discrete gaussian, k = 1, a person in up to 3 groups" in planned
    assert "all of each id's rows count, once in each group" in planned
    assert "n estimates how many people were counted in a group: give or take 7.8" in planned
    assert "for certain n - 39 to n + 39 people were counted" in planned
    done = cli("release", file)
    assert done.code == 0
    found = {row["town"]: row["n"] for row in pq.read_table("out/a.parquet").to_pylist()}
    assert found.keys() == many.keys()
    assert all(abs(found[town] - n) <= 39 for town, n in many.items())
    assert "a person is counted in up to 3 groups" in cli("show", "out/a.parquet").out
    # 294 people have visits, and most are in several towns: the sum of the counts is of no people.
    counted = sum(found.values())
    assert counted > 2 * 294
    added = f"(3 groups, whose counts with noise add up to {counted}: a person is in up to 3"
    assert f"{added} groups)" in done.out
    again = cli("release", file, "--format", "json").document
    assert (again["person_groups"], "people" in again) == (counted, False)
    measured = cli("assess", "out/a.parquet")
    assert f"out/a.parquet: {counted:,} people, group by group, each row as many" in measured.out
    document = cli("assess", "out/a.parquet", "--format", "json").document
    assert (document["counts"], document["tables"][0]["person_groups"]) == (
        "person_groups",
        counted,
    )
    verify = ("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    verified = cli(*verify)
    assert verified.code == 0
    assert "by brute force: every value of the noise" in verified.out
    monkeypatch.setattr(brute_force, "_MOST_OUTCOMES", 1000)
    verified = cli(*verify)
    assert verified.code == 0
    assert "by brute force: the product of 3 numbers, between bounds that lie" in verified.out
    # What the second route cannot reach is not verified, on the page and the desk either.
    monkeypatch.setattr(brute_product, "_MOST_WORK", 0)
    monkeypatch.setattr(brute_product, "_MOST_OUTCOMES", 0)
    amber = cli(*verify)
    assert amber.code == 4
    assert amber.out.startswith("not verified: nothing but the accountant recomputed δ;")
    assert cli(*verify, "--format", "json").document["verified"] is False
    cli("report", "out/a.certificate.json", "--output", "a.html")
    assert "Not verified: δ was recomputed in one way only" in Path("a.html").read_text()
    project = ProjectReader(Path(), Path("policy-engine.yaml"))
    [certificate] = project.certificates()
    words = "signed; δ was recomputed in one way only, by the accountant"
    assert project.verdict(certificate) == Verification("amber", words)


def test_an_account_that_is_spent_says_that_nothing_fits(cli, policy):
    assert cli("release", policy("a", NOISY, epsilon="0.9", delta="1.0e-6")).code == 0
    found = cli("release", policy("b", NOISY, epsilon="0.9", delta="1.0e-6"))
    assert found.code == 1
    assert " there is left: none like this, " in found.err


def test_a_print_is_checked_with_its_worth(cli, policy):
    file = policy("a", NOISY, **WIDE)
    Path("a.sql").write_text(cli("compile", file).out)
    found = cli("certify-sql", "a.sql")
    assert "certified: noisy counts" in found.out
    assert "  counts   everybody, with noise from -30 to 29" in found.out
    assert "what it is worth: δ = " in found.out
    assert cli("compile", file, "--method", "native").code == 2
    policy("a", PLACE, **WIDE)
    Path("a.sql").write_text(cli("compile", "a.yaml").out)
    assert "everybody, an offset and a random number taken away" in cli("certify-sql", "a.sql").out


def test_no_price_is_announced_where_the_place_is_taken(cli, policy):
    assert cli("release", policy("a", NOISY, **WIDE)).code == 0
    refused = cli("release", policy("a", NOISY, **{**WIDE, "epsilon": "0.6"}))
    assert refused.code == 3 and "at the price of" not in refused.err


@pytest.mark.parametrize(("order", "is_told"), [("town desc", True), ("day", False)])
def test_that_a_person_counts_at_one_of_what_orders_their_rows_is_told(
    cli, policy, many, order, is_told
):
    rows = f"{{file: visits.parquet}}\nprivacy_unit: {{column: id, rows: {{first_by: [{order}]}}}}"
    town = ("  age: {bins: [30, 60]}\n  sex: keep\n", "  town: keep\n")
    visits = pq.read_table("visits.parquet")
    pq.write_table(visits.append_column("day", [[*range(len(visits))]]), "visits.parquet")
    file = policy("a", ("{file: people.parquet}\nprivacy_unit: row", rows), town, NOISY, **WIDE)
    told = (
        "a person with several rows counts only at the last (greatest) town: the numbers of earlier"
        " (smaller) ones lack such people and are too low, so this is not a time series"
    )
    remedy = "; privacy_unit: {column: id} with contribution: {max_groups: …}, counts a person at"
    for command in ("validate", "plan"):
        said = cli(command, file)
        assert (told + remedy in said.out + said.err) is is_told
    assert cli("release", file).code == 0
    assert (told in cli("show", "out/a.parquet").out) is is_told
    cli("report", "out/a.certificate.json", "--output", "a.html")
    assert (told in Path("a.html").read_text()) is is_told
