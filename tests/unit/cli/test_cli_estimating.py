"""estimate: the tables of a roll-up or of marginals made to agree."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.releasing.publish import is_release

POLICY = """\
version: 1
name: people
source: {{file: people.parquet}}
privacy_unit: row
recode: {{age: {{bins: [30, 60]}}, {column}: keep}}
mechanism: noisy_counts
{lines}
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {target}
"""
ROLLUP = "rollup: {to: [age], share: 0.3}"
SUMS = """\
measures:
  years: {sum: lived, bounds: [0, 100]}
  mean_age: {mean: lived, bounds: [0, 100]}
"""
RELEASE = "out/people.parquet"


@pytest.fixture
def released(tmp_path, monkeypatch, cli):
    """A release of 500 people, of whom the four old men are too few to be shown."""
    monkeypatch.chdir(tmp_path)
    text = "warehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    (tmp_path / "policy-engine.yaml").write_text(text)
    duckdb.connect(str(tmp_path / "db.duckdb")).close()
    people = [(20, "f")] * 150 + [(20, "m")] * 150 + [(50, "f"), (50, "m")] * 80
    people += [(70, "f")] * 90 + [(70, "m")] * 4
    sexes = [sex for _, sex in people]
    ages = [age for age, _ in people]
    columns = {"age": ages, "lived": ages, "sex": sexes, "estimate": sexes}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")

    def release(lines=ROLLUP, target=f"{{file: {RELEASE}}}", column="sex"):
        text = POLICY.format(lines=lines, target=target, column=column)
        (tmp_path / "policy.yaml").write_text(text)
        done = cli("release", "policy.yaml", "--format", "json")
        assert done.code == 0
        return done.document["certificate"]

    return release


def test_what_is_written_is_a_parquet_file_by_its_name(cli, released):
    released()
    refused = cli("estimate", RELEASE, "--output", "estimated.txt")
    assert (refused.code, Path("estimated.txt").exists()) == (2, False)
    assert "--output must end in .parquet, found 'estimated.txt'" in refused.err


def test_the_rest_of_a_coarse_group_is_in_the_cell_that_was_not_shown(cli, released):
    released()
    found = cli("estimate", RELEASE, "--output", "estimated.parquet", "--format", "json").document
    assert found["columns"] == ["grouping", "age", "sex", "n", "estimate"]
    assert (found["size"], found["written"], found["checked"]) == (9, "estimated.parquet", False)
    rows = pq.read_table("estimated.parquet").to_pylist()
    assert is_release(Path(RELEASE)) and not is_release(Path("estimated.parquet"))
    counted = pq.read_table(RELEASE).to_pylist()
    shown = [{name: row[name] for name in counted[0]} for row in rows if row["n"] is not None]
    assert sorted(map(str, shown)) == sorted(map(str, counted))
    (missing,) = (row for row in rows if row["n"] is None)
    assert (missing["grouping"], missing["age"], missing["sex"]) == (1, ">=60", "m")
    for age in {row["age"] for row in rows}:
        fine, coarse = (
            sum(row["estimate"] for row in rows if (row["age"], row["grouping"]) == (age, number))
            for number in (1, 2)
        )
        assert fine == pytest.approx(coarse, abs=0.02)


def test_a_table_is_estimated_by_its_certificate(cli, released):
    certificate = released("marginals: [[age], [sex]]", "{table: out}")
    found = cli("estimate", certificate)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0] == "db.main.out: 5 cells, 5 of them shown"
    assert lines[1].split() == ["grouping", "age", "sex", "n", "estimate"]
    totals = {"1": 0.0, "2": 0.0}
    for line in lines[2:7]:
        totals[line.split()[0]] += float(line.split()[-1])
    assert totals["1"] == pytest.approx(totals["2"], abs=0.02)
    assert lines[7:] == [
        "what they mean:",
        "  - estimate is of the people of the source in the group, from all groupings together:"
        " these agree, and nothing is below zero",
        "  - n is the count that was released; where it is NULL the group was not shown, and"
        " estimate is a guess from those that were",
        "  - it is made of the release alone, and costs nothing",
    ]
    few = cli("estimate", certificate, "--rows", "2").out
    assert "\n… and 3 more\n" in few
    assert "grouping  " not in cli("estimate", certificate, "--rows", "0").out


def test_sums_beside_the_counts_are_left_out_of_what_agrees(cli, released):
    certificate = released("marginals: [[age], [sex]]\n" + SUMS)
    assert pq.read_schema(RELEASE).names == ["grouping", "age", "sex", "n", "years", "mean_age"]
    found = cli("estimate", certificate, "--format", "json").document
    assert found["columns"] == ["grouping", "age", "sex", "n", "estimate"]
    assert found["meaning"][1].endswith("a guess from those that were")
    assert found["meaning"][2] == (
        "sums and means are not made to agree: years and mean_age stand in the release alone"
    )


def test_every_grouping_shows_its_sums_near_the_truth(cli, released):
    certificate = released("rollup: {to: [age], share: 0.4}\n" + SUMS)
    rows = pq.read_table(RELEASE).to_pylist()
    assert {row["grouping"] for row in rows} == {1, 2}
    ages = {"<30": 20, "[30,60)": 50, ">=60": 70}
    for row in rows:
        assert row["mean_age"] == pytest.approx(ages[row["age"]], abs=25)
        assert row["years"] == pytest.approx(row["n"] * ages[row["age"]], abs=14_000)
    told = cli("show", RELEASE).out
    assert "in grouping 2 it is give or take" in told
    assert "in grouping 2 years is give or take" in told
    assert "in grouping 2 mean_age is give or take" in told
    planned = cli("plan", "policy.yaml").out
    assert "           years: give or take" in planned
    assert cli("verify", certificate, "--release", RELEASE).code == 0


def test_what_cannot_be_estimated_is_told(cli, released):
    released("k: 2")
    told = cli("estimate", RELEASE)
    assert told.code == 2
    assert told.err == (
        "error: out/people.parquet has one table, which agrees with itself; a release of a roll-up"
        " or of marginals has several\n"
    )
    assert cli("estimate", RELEASE, "--rows", "-1").err.startswith("error: --rows must be at least")
    Path("out/people.certificate.json").unlink()
    told = cli("estimate", RELEASE)
    assert told.code == 1 and "which is not at out/people.certificate.json" in told.err


def test_an_estimate_replaces_no_file_and_a_full_disk_is_told(cli, released):
    released()
    told = cli("estimate", RELEASE, "-o", RELEASE)
    assert told.code == 3 and f"{RELEASE} exists, and estimates never replace a file" in told.err
    told = cli("estimate", RELEASE, "-o", "no/such/folder.parquet")
    assert told.code == 3 and "no/such/folder.parquet could not be written" in told.err


@pytest.mark.parametrize(
    "changes",
    [{"grouping": [3]}, {"grouping": ["x"]}, {"n": [None]}, {"more": [1]}, {"n": ["many"]}],
)
def test_rows_that_are_not_as_the_certificate_says_are_refused(cli, released, changes):
    released()
    facts = pq.read_table(RELEASE).schema.metadata
    columns = {"grouping": [1], "age": ["<30"], "sex": ["f"], "n": [40], **changes}
    pq.write_table(pa.table(columns).replace_schema_metadata(facts), RELEASE)
    told = cli("estimate", RELEASE)
    assert told.code == 1 and "are not as its certificate says" in told.err


def test_an_estimate_is_told_apart_from_a_column_of_that_name(cli, released):
    released(column="estimate")
    found = cli("estimate", RELEASE, "--format", "json").document
    assert found["columns"][2:] == ["estimate", "n", "policy_engine_estimate"]
