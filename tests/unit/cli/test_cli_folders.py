"""A folder of Parquet files whose files differ is told of before anything is charged."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CHANGES = (
    (
        "{file: people.parquet}\nprivacy_unit: row",
        "{file: parts}\nprivacy_unit: {column: person, rows: any}",
    ),
    ("  sex: keep\n", ""),
)


@pytest.fixture
def parts(project: Path) -> Path:
    """2,000 people in two folders."""
    for year in (2020, 2021):
        folder = project / "parts" / f"year={year}"
        folder.mkdir(parents=True)
        rows = {"person": range(year * 1000, year * 1000 + 1000), "age": [20, 70] * 500}
        pq.write_table(pa.table(rows), folder / "a.parquet")
    return project / "parts"


def test_a_folder_is_released(parts, cli, policy):
    assert cli("release", policy("a", *CHANGES)).code == 0


@pytest.mark.parametrize(("command", "code"), [("validate", 1), ("plan", 3), ("release", 3)])
def test_nothing_is_charged_for_a_folder_that_would_fail(
    parts, cli, policy, project, command, code
):
    rows = {"person": [1, 2], "age": ["20", "thirty"]}
    pq.write_table(pa.table(rows), parts / "year=2021" / "b.parquet")
    result = cli(command, policy("a", *CHANGES))
    assert result.code == code
    assert "year=2021/b.parquet in" in result.out + result.err
    assert "has the column 'age' as VARCHAR" in result.out + result.err
    assert not (project / ".policy-engine").exists()


def test_a_column_that_is_a_folders_name_is_told(parts, cli, policy):
    result = cli("validate", policy("a", *CHANGES, ("age: {bins: [30, 60]}", "Year: keep")))
    assert result.code == 1
    assert "Year=… is a folder's name, which is not read: write it into the files" in result.out
