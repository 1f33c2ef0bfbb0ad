"""Files as programs export them: each is released by the command line, with the right numbers."""

from __future__ import annotations

import duckdb
import pyarrow.parquet as pq
import pytest
from exports import exports, groups

from policy_engine.cli.main import run

EXPORTS = exports()
# Nearly everybody is sampled: the release is the table itself.
POLICY = """\
version: 1
name: export
source:
  file: {name}
  {csv}
  columns: {{paid: double, born: date, member: boolean}}
privacy_unit: row
recode:
  town: keep
  paid: {{bins: [1000]}}
  born: {{bins: [2000-01-01]}}
  member: keep
sample: {{rate: 0.999999999999}}
k: 2
guarantee: {{epsilon: 1, delta: 0.9999999999999999}}
release: {{file: out.parquet}}
account: people
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text("accounts: {people: {}}\n")
    return tmp_path


@pytest.mark.parametrize("kind", EXPORTS)
def test_an_export_is_released_with_the_right_numbers(folder, capsys, kind):
    export = EXPORTS[kind]
    (folder / export.name).write_bytes(export.data)
    csv = f"csv: {{{export.csv}}}" if export.csv else ""
    (folder / "policy.yaml").write_text(POLICY.format(name=export.name, csv=csv))
    assert run(["release", "policy.yaml"]) == 0, capsys.readouterr().err
    table = pq.read_table("out.parquet").to_pylist()
    assert {tuple(row.values())[:-1]: row["n"] for row in table} == groups()
    certificate, release = "out.certificate.json", "out.parquet"
    assert run(["verify", certificate, "--release", release]) == 0


def test_columns_that_came_out_null_or_alike_are_said(folder, capsys):
    content = "town;paid;born;member;note\n" + "Bonn;11,96;23.03.1993;wahr;x\n" * 9
    content += "Bonn;7;23.03.1993;falsch;x\n" * 9
    (folder / "people.csv").write_text(content)
    text = POLICY.format(name="people.csv", csv='csv: {delimiter: ";"}')
    (folder / "policy.yaml").write_text(text)
    assert run(["release", "policy.yaml"]) == 0
    told = capsys.readouterr().err
    assert "warning: export: born is NULL in every row that is shown" in told
    assert "warning: export: member is NULL in every row that is shown" in told
    assert "warning: export: town has the same value in every row" in told
    assert "warning: export: 50 % of the people shown have no value in paid" in told
    assert "Bonn" not in told
    assert run(["release", "policy.yaml"]) == 0
    assert "born is NULL" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["counts", "rows"])
def test_a_column_that_many_of_the_people_shown_lack_is_said(folder, capsys, form):
    content = "town;paid;born;member\n" + "Bonn;900;1993-03-23;true\n" * 6
    content += "Bonn;1.250,00;1993-03-23;true\n" * 9 + "Bonn;7,5;;true\n" * 3
    (folder / "people.csv").write_text(content)
    text = POLICY.format(name="people.csv", csv='csv: {delimiter: ";", decimal: ","}')
    (folder / "policy.yaml").write_text(text.replace("out.parquet", f"out.parquet, as: {form}"))
    assert run(["release", "policy.yaml"]) == 0
    told = "50 % of the people shown have no value in paid: if the source has values there, they"
    assert f"warning: export: {told} were not read" in (err := capsys.readouterr().err)
    assert "no value in born" not in err  # 3 of 18
    for shown in ("out.parquet", "out.certificate.json"):
        assert run(["show", shown]) == 0
        out = capsys.readouterr().out
        assert f"warning: {told} were not read" in out and "born:" not in out


def test_of_a_table_and_of_a_constant_the_same_is_said(folder, capsys):
    with duckdb.connect("own.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range % 2 AS odd, NULL::INT AS a FROM range(18)"
        )
    (folder / "policy-engine.yaml").write_text(
        "warehouses: {own: {type: duckdb, database: own.duckdb}}\naccounts: {people: {}}\n"
    )
    head, rest = POLICY.format(name="", csv="").split("source:")
    rest = rest[rest.index("sample:") :].replace("file: out.parquet", "table: shown")
    recode = "recode: {odd: keep, a: {bins: [1]}, all: {constant: everyone}}"
    text = f"{head}source: {{table: people}}\nprivacy_unit: row\n{recode}\n{rest}"
    (folder / "policy.yaml").write_text(text)
    assert run(["release", "policy.yaml"]) == 0, capsys.readouterr().err
    told = capsys.readouterr().err
    assert "warning: export: a is NULL in every row that is shown" in told
    assert "everyone" not in told and "all has the same value" not in told
    assert run(["show", next(map(str, folder.glob("*.certificate.json")))]) == 0
    assert "warning: a is NULL in every row that is shown" in capsys.readouterr().out
