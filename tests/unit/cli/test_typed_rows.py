"""try: what becomes of one row that somebody types."""

from __future__ import annotations

import duckdb
import pytest

CSV = """\
version: 1
name: typed
source:
  file: {name}
  columns: {{age: integer, born: date, at: timestamp}}
  csv: {{delimiter: ";", dates: "%d.%m.%y", century: 1930{more}}}
privacy_unit: row
recode: {{age: {{bins: [18, 65]}}, town: keep, born: {{truncate: year}}, at: {{truncate: hour}}}}
mechanism: noisy_counts
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{file: out.parquet}}
"""
PARQUET = """\
version: 1
name: typed
source: {file: k.parquet}
privacy_unit: {column: id, rows: any}
recode: {years: {bins: [18, 65]}, d: {truncate: month}, w: keep}
filter: {t: {not_in: [b]}}
mechanism: noisy_counts
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: out.parquet}
"""


@pytest.fixture
def of_csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("age;town;born;at\n1;SECRET;x;y;too many fields\n")
    (tmp_path / "policy.yaml").write_text(CSV.format(name="p.csv", more=""))


@pytest.fixture
def of_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql(
        "COPY (SELECT 1::BIGINT AS id, 5 AS years, DATE '2020-01-01' AS d, 1.5::DECIMAL(5, 2) AS w,"
        " 'SECRET' AS t) TO 'k.parquet' (FORMAT parquet)"
    )
    (tmp_path / "policy.yaml").write_text(PARQUET)


def read(found):
    return {each["column"]: each["read"] for each in found.document["values"]}


@pytest.mark.parametrize(
    "row", ["17.6; Ulm ;01.02.45;2024-03-31 00:30:00", "age=17.6,town= Ulm ,born=01.02.45,at=x"]
)
def test_a_row_of_a_csv_file_is_read_as_a_release_reads_it(cli, of_csv, row):
    found = cli("try", "policy.yaml", "--row", row, "--format", "json")
    values = read(found)
    assert values["age"] is None
    assert values["town"] == " Ulm "
    assert values["born"] == "1945-02-01"
    group = found.document["group"]
    assert (group["age"], group["town"], group["born"]) == (None, " Ulm ", "1945-01-01")
    told = cli("try", "policy.yaml", "--row", row).out
    assert "age: '17.6' is NULL" in told
    assert "the blanks at its ends are part of it" in told


def test_what_is_no_value_of_its_type_is_told_with_how_one_is_written(cli, of_csv):
    told = cli("try", "policy.yaml", "--row", "age=17 kg,town=Ulm, old,born=1945").out
    assert "age: '17 kg' is NULL: a whole number is digits with a sign" in told
    assert "born: '1945' is NULL: a date is as 2026-03-31, or as dates of source.csv says" in told
    assert "town: 'Ulm, old' is Ulm, old" in told  # a comma without = goes on with the value
    unknown = cli("try", "policy.yaml", "--row", "age=1,born on=1945")
    assert (unknown.code, "and 'born on' is no column of the source" in unknown.err) == (2, True)


def test_no_row_of_the_source_is_read(cli, of_csv, of_parquet, tmp_path):
    # The file's own row has too many fields: whoever read it would refuse the file, or show it.
    for policy, row in ((CSV.format(name="p.csv", more=""), "age=5"), (PARQUET, "id=7,t=a")):
        (tmp_path / "policy.yaml").write_text(policy)
        found = cli("try", "policy.yaml", "--row", row)
        assert found.code == 0
        assert "SECRET" not in found.out + found.err


@pytest.mark.parametrize(
    ("more", "row"),
    [(", skip: 2", "1;a;b;c"), (", skip_last: 1", "1;a;b;c"), (", trim: true", " 1 ; a ;b;c")],
)
def test_the_files_own_options_are_those_of_the_row(cli, of_csv, tmp_path, more, row):
    text = (tmp_path / "p.csv").read_text()
    (tmp_path / "p.csv").write_text("-\n-\n" + text if "skip: " in more else text)
    (tmp_path / "policy.yaml").write_text(CSV.format(name="p.csv", more=more))
    found = cli("try", "policy.yaml", "--row", row, "--format", "json")
    assert read(found)["age"] == "1"
    assert read(found)["town"] == "a"


@pytest.mark.parametrize("row", ["1;2", "1;2;3;4;5", "x=1"])
def test_what_is_no_row_of_the_file_is_told_with_a_remedy(cli, of_csv, row):
    found = cli("try", "policy.yaml", "--row", row)
    assert found.code == 2
    told = "it has 4 fields, divided by ';'; or write --row 'age=…'"  # no name that the file has
    assert told in found.err


def test_a_column_that_is_not_there_is_told_as_plan_tells_it(cli, of_csv, tmp_path):
    text = (tmp_path / "policy.yaml").read_text()
    (tmp_path / "policy.yaml").write_text(text.replace("age:", "agee:", 1))
    found = cli("try", "policy.yaml", "--row", "1;a;2020-01-01;x")
    assert found.code == 1 and "has no column 'agee'" in found.out + found.err


@pytest.mark.parametrize(
    ("row", "group", "left_out"),
    [
        (
            "id=1,years=20,d=2024-02-29,w=1.55,t=a",
            {"years": "[18,65)", "d": "2024-02-01", "w": "1.55"},
            "",
        ),
        ("id=1,years=20,d=2024-02-30,t=a", {"years": "[18,65)", "d": None, "w": None}, ""),
        ("years=20,t=a", None, "id is NULL: who is nobody is in no group"),
        ("id=3,t=b", None, "the filter leaves it out, by t"),
    ],
)
def test_in_which_group_a_row_counts_or_why_in_none(cli, of_parquet, row, group, left_out):
    found = cli("try", "policy.yaml", "--row", row, "--format", "json").document
    assert found["left_out"] == left_out
    assert found["group"] == group


def test_a_name_that_is_no_column_is_told(cli, of_parquet):
    found = cli("try", "policy.yaml", "--row", "age=3")
    assert found.code == 2
    assert "its columns are id, years, d, w, t" in found.err


def test_a_row_of_another_period_is_in_none_of_the_first(cli, of_parquet, tmp_path):
    period = 'filter: {t: {not_in: [b]}}\nperiod: {column: d, every: month, from: "2026-01"}'
    text = PARQUET.replace("filter: {t: {not_in: [b]}}", period).replace(
        "{file: out.parquet}", "{file: 'out_{edition}.parquet'}"
    )
    (tmp_path / "policy.yaml").write_text(text.replace("d: {truncate: month}, ", ""))
    inside = cli(
        "try", "policy.yaml", "--row", "id=1,d=2026-01-31,t=a", "--format", "json"
    ).document
    assert inside["group"] is not None
    for day, why in (
        ("2026-02-01", "its d is after the first period, so it counts in a later one"),
        ("2025-12-31", "its d is before the first period, so it counts in none"),
        ("31.12.2026", "its d is NULL, so it is in no period"),
    ):
        outside = cli(
            "try", "policy.yaml", "--row", f"id=1,d={day},t=a", "--format", "json"
        ).document
        assert (outside["group"], outside["left_out"]) == (None, why)
