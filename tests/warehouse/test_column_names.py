"""Names that differ by case alone: two columns where the engine tells them apart, else refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: names
source: {source}
recode: {recode}
{more}
mechanism: noisy_counts
guarantee: {{epsilon: 20, delta: 1.0e-4}}
release: {{file: out.parquet}}
account: people
"""
PROJECT = """\
ledger_begins: in_each_checkout
accounts:
  people: {epsilon: 500, delta: 0.1}
"""
TWICE = pa.table({"ID": range(240), "id": [n // 60 for n in range(240)], "v": ["a"] * 240})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("policy-engine.yaml").write_text(PROJECT)
    return tmp_path


def released(source: str, recode: str, more: str = "") -> list[dict[str, object]] | None:
    """The rows of a release; None where it is refused."""
    Path("policy.yaml").write_text(POLICY.format(source=source, recode=recode, more=more))
    Path("out.parquet").unlink(missing_ok=True)
    if run(["release", "policy.yaml", "--replace"]) != 0:
        return None
    assert run(["verify", "out.certificate.json", "--release", "out.parquet"]) == 0
    return pq.read_table("out.parquet").to_pylist()


def refusal(capsys, source: str, recode: str, more: str = "") -> str:
    capsys.readouterr()
    assert released(source, recode, more) is None
    return capsys.readouterr().err


USES = {
    "recode": ("privacy_unit: row", "{id: keep}", ""),
    "key": ("privacy_unit: {column: id, rows: any}", "{v: keep}", ""),
    "row_key": ("privacy_unit: {column: Id, rows: one}", "{v: keep}", ""),
    "order": ("privacy_unit: {column: v, rows: {first_by: [ID desc]}}", "{v: {prefix: 1}}", ""),
    "filter": ("privacy_unit: row", "{v: keep}", "filter: {id: {at_least: 1}}"),
    "columns": ("privacy_unit: row", "{v: keep}", ""),
    "sum": (
        "privacy_unit: row",
        "{v: keep}",
        "measures: {x: {sum: id, bounds: [0, 5]}}",
    ),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_file_with_two_such_columns_is_refused_wherever_it_names_one(
    folder, capsys, use, is_folder
):
    place = folder / "p.parquet"
    if is_folder:
        place = folder / "p" / "a.parquet"
        place.parent.mkdir()
    pq.write_table(TWICE, place)
    unit, recode, more = USES[use]
    if is_folder and unit.startswith("privacy_unit: row"):
        unit = unit.replace("privacy_unit: row", "privacy_unit: {column: v, rows: any}")
        recode = recode.replace("keep", "{prefix: 1}")
    name = "p" if is_folder else "p.parquet"
    typed = ", columns: {id: text}" if use == "columns" else ""
    told = refusal(capsys, f"{{file: {name}{typed}}}\n{unit}", recode, more)
    assert "can be the columns 'ID' and 'id'" in told


def test_a_file_with_two_such_columns_is_read_where_it_names_neither(folder):
    pq.write_table(TWICE, "p.parquet")
    [row] = released("{file: p.parquet}\nprivacy_unit: row", "{v: keep}") or []
    assert abs(int(str(row["n"])) - 240) < 20


def test_a_name_that_the_engine_made_is_no_column(folder, capsys):
    pq.write_table(TWICE, "p.parquet")
    assert "has no column 'id_1'" in refusal(
        capsys, "{file: p.parquet}\nprivacy_unit: row", "{id_1: keep}"
    )
    pq.write_table(TWICE.rename_columns(["ID", "id", "id_1"]), "p.parquet")
    told = refusal(capsys, "{file: p.parquet}\nprivacy_unit: row", "{id_1: keep}")
    assert "would be called 'id_1', as another is" in told
    pq.write_table(pa.table([[1] * 9, [2] * 9], names=["a", "a"]), "p.parquet")
    told = refusal(capsys, "{file: p.parquet}\nprivacy_unit: row", "{a: keep}")
    assert "can be the columns 'a' and 'a'" in told


def test_a_starter_names_the_columns_that_a_file_has(folder):
    pq.write_table(TWICE, "p.parquet")
    assert run(["init", "p.parquet", "--output", "new.yaml"]) == 0
    text = Path("new.yaml").read_text()
    assert '# "id" cannot be told from another column by case alone: rename one of them' in text
    assert "id_1" not in text


def test_a_file_with_two_such_columns_is_not_measured(folder, capsys):
    pq.write_table(TWICE, "p.parquet")
    assert run(["assess", "p.parquet"]) != 0
    told = capsys.readouterr().err
    assert "'ID' and 'id', and DuckDB reads a and A in a name as the same letter" in told


def test_the_one_column_of_another_case_is_printed_as_it_stands(folder):
    pq.write_table(TWICE.select(["id", "v"]), "p.parquet")
    rows = released("{file: p.parquet}\nprivacy_unit: {column: ID, rows: any}", "{V: keep}")
    [row] = rows or []
    assert abs(int(str(row["n"])) - 4) < 4
    assert '"unit": "id"' in Path("out.certificate.json").read_text() or (
        run(["show", "out.parquet"]) == 0
    )


def test_two_names_of_one_column_are_refused(folder, capsys):
    pq.write_table(TWICE.select(["id", "v"]), "p.parquet")
    source = "{file: p.parquet, columns: {id: text, ID: integer}}\nprivacy_unit: row"
    assert "the column 'id' a second time" in refusal(capsys, source, "{v: keep}")
    more = "filter: {v: {in: [a]}, V: {in: [b]}}"
    told = refusal(capsys, "{file: p.parquet}\nprivacy_unit: row", "{id: keep}", more)
    assert "the column 'V' a second time" in told
    told = refusal(capsys, "{file: p.parquet}\nprivacy_unit: {column: ID, rows: any}", "{id: keep}")
    assert "is the column of privacy_unit" in told


def test_postgresql_tells_them_apart(folder, postgres, capsys):
    """In every place where a policy names one."""
    postgres.sql(
        "drop table if exists twice",
        'create table twice ("ID" bigint primary key, id int, "Id" text)',
        "insert into twice select g, g % 3, 'a' from generate_series(1, 300) g",
    )
    text = f"{PROJECT}warehouses:\n  w: {{type: postgres, url: '{postgres.url}'}}\n"
    Path("policy-engine.yaml").write_text(text)
    rows = released("{table: public.twice}\nprivacy_unit: {column: ID, rows: one}", "{id: keep}")
    assert [row["id"] for row in rows or []] == [0, 1, 2]
    assert all(abs(int(str(row["n"])) - 100) < 20 for row in rows or [])
    people = released("{table: twice}\nprivacy_unit: {column: id, rows: any}", "{Id: keep}")
    assert people is None or all(int(str(row["n"])) < 20 for row in people)
    more = "filter: {ID: {below: 31}}"
    rows = released("{table: twice}\nprivacy_unit: {column: ID, rows: one}", "{id: keep}", more)
    assert all(int(str(row["n"])) < 30 for row in rows or [{"n": 99}])
    assert "can be the columns 'ID', 'id' and 'Id'" in refusal(
        capsys, "{table: twice}\nprivacy_unit: {column: ID, rows: one}", "{iD: keep}"
    )


def test_datafusion_tells_them_apart(folder):
    (folder / "lake").mkdir()
    pq.write_table(TWICE, folder / "lake" / "twice.parquet")
    text = f"{PROJECT}warehouses:\n  w: {{type: datafusion, database: lake}}\n"
    Path("policy-engine.yaml").write_text(text)
    rows = released("{table: twice}\nprivacy_unit: {column: ID, rows: one}", "{id: keep}")
    assert [row["id"] for row in rows or []] == [0, 1, 2, 3]


def test_a_table_of_duckdb_has_one_of_them(folder):
    with closing(duckdb.connect("people.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT i AS \"ID\", 'a' AS v FROM range(200) r(i)")
    Path("policy-engine.yaml").write_text(
        f"{PROJECT}warehouses:\n  w: {{type: duckdb, database: people.duckdb}}\n"
    )
    assert released("{table: t}\nprivacy_unit: {column: id, rows: one}", "{v: keep}")


def test_a_relation_may_be_written_as_its_engine_quotes_it(folder, postgres, capsys):
    """With a dot in a name, which without quotes stands between two."""
    postgres.sql(
        'drop schema if exists "a.b" cascade',
        'create schema "a.b"',
        'create table "a.b"."c d" (id int primary key, v text)',
        'insert into "a.b"."c d" select g, \'a\' from generate_series(1, 200) g',
    )
    text = f"{PROJECT}warehouses:\n  w: {{type: postgres, url: '{postgres.url}'}}\n"
    Path("policy-engine.yaml").write_text(text)
    name = """'"a.b"."c d"'"""
    [row] = (
        released(f"{{table: {name}}}\nprivacy_unit: {{column: id, rows: one}}", "{v: keep}") or []
    )
    assert abs(int(str(row["n"])) - 200) < 9
    told = refusal(capsys, "{table: a.b.c d}\nprivacy_unit: {column: id, rows: one}", "{v: keep}")
    assert "write schema.table" in told
    with closing(duckdb.connect("people.duckdb")) as connection:
        connection.execute('CREATE SCHEMA "a.b"')
        connection.execute(
            'CREATE TABLE "a.b"."c d" AS SELECT i AS id, \'a\' AS v FROM range(200) r(i)'
        )
    Path("policy-engine.yaml").write_text(
        f"{PROJECT}warehouses:\n  w: {{type: duckdb, database: people.duckdb}}\n"
    )
    source = f"{{table: {name}}}\nprivacy_unit: {{column: id, rows: any}}"
    [row] = released(source, "{v: keep}") or []
    assert abs(int(str(row["n"])) - 200) < 9
    Path("policy.yaml").write_text(
        POLICY.format(source=source, recode="{v: keep}", more="").replace(
            "file: out.parquet", "table: '\"x.y\"'"
        )
    )
    assert run(["release", "policy.yaml"]) != 0
    assert "has a dot within a name" in capsys.readouterr().err
