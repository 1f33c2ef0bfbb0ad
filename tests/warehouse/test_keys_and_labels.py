"""Keys and labels as warehouses and exports have them; what is said of a release without them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: keys
source: {source}
recode: {recode}
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("policy-engine.yaml").write_text(PROJECT)
    return tmp_path


def written(source: str, recode: str, at: str = "policy.yaml") -> str:
    Path(at).write_text(POLICY.format(source=source, recode=recode))
    return at


def released(source: str, recode: str) -> dict[object, int]:
    """The counts of a release by their first column."""
    assert run(["release", written(source, recode), "--replace"]) == 0
    rows = pq.read_table("out.parquet").to_pylist()
    return {next(iter(row.values())): row["n"] for row in rows}


def served(kind: str, **said: str) -> None:
    told = ", ".join(f"{key}: '{value}'" for key, value in said.items())
    Path("policy-engine.yaml").write_text(f"{PROJECT}warehouses:\n  w: {{type: {kind}, {told}}}\n")


TWICE = pa.table({
    "k": pa.array([Decimal(i) for i in range(40)] * 2, pa.decimal128(38, 0)), "v": ["a"] * 80,
})  # fmt: skip


def test_a_decimal_without_places_is_a_key_of_a_file(folder):
    pq.write_table(TWICE, "p.parquet")
    assert (
        abs(
            released("{file: p.parquet}\nprivacy_unit: {column: k, rows: any}", "{v: keep}")["a"]
            - 40
        )
        < 9
    )


def test_a_decimal_without_places_is_a_key_of_postgresql(folder, postgres):
    postgres.sql(
        "drop table if exists decimals",
        "create table decimals (k numeric(38, 0), v text)",
        "insert into decimals select g % 40, 'a' from generate_series(1, 80) g",
    )
    served("postgres", url=postgres.url)
    source = "{table: decimals}\nprivacy_unit: {column: k, rows: any}"
    assert abs(released(source, "{v: keep}")["a"] - 40) < 9


def test_a_decimal_without_places_is_a_key_of_datafusion(folder):
    (folder / "lake").mkdir()
    pq.write_table(TWICE, folder / "lake" / "decimals.parquet")
    served("datafusion", database="lake")
    source = "{table: decimals}\nprivacy_unit: {column: k, rows: any}"
    assert abs(released(source, "{v: keep}")["a"] - 40) < 9


def test_a_decimal_with_places_is_none(folder, capsys):
    table = pa.table({"k": pa.array([Decimal("1.5")], pa.decimal128(9, 1)), "v": ["a"]})
    pq.write_table(table, "p.parquet")
    at = written("{file: p.parquet}\nprivacy_unit: {column: k, rows: any}", "{v: keep}")
    assert run(["validate", at]) == 1
    assert "must be a whole number, a text or a UUID" in capsys.readouterr().out


ZIPS = pa.table({
    "zip": [1067] * 40 + [10115] * 40, "on": [True] * 80,
    "price": pa.array([Decimal("1.50")] * 80, pa.decimal128(9, 2)),
    "age": pa.array([30] * 80, pa.uint8()), "wave": pa.array([3] * 80, pa.int16()),
})  # fmt: skip


@pytest.mark.parametrize(
    ("recode", "told"),
    [
        ("{zip: {hierarchy: h.csv, level: 1}}", "is the key '01067'"),
        ("{zip: {map: {'01067': a}, other: b}}", "so that its rows would be 'b'; write '1067', or"),
        ("{zip: {map: {' 1067': a}, other: b}}", "write '1067', or"),
        ("{zip: {map: {'?': a}, other: b}}", "'b'; take it out; a column of codes"),
        ("{on: {map: {'yes': a}, other: b}}", "is the key 'yes'"),
        ("{on: {map: {'True': a}, other: b}}", "write 'true', or"),
        ("{price: {map: {'1.505': a}, other: b}}", "is the key '1.505'"),
        ("{price: {map: {'10000000': a}, other: b}}", "(DECIMAL(9,2)), is the key '10000000'"),
        ("{zip: {map: {1067: a}, other: b}, age: {map: {300: a}, other: b}}", "is the key '300'"),
        ("{age: {map: {-1: a}, other: b}}", "a whole number (UTINYINT), is the key '-1'"),
        ("{wave: {map: {32768: a}, other: b}}", "a whole number (SMALLINT), is the key '32768'"),
    ],
)
def test_a_key_that_no_value_of_the_type_is_is_found_before_the_charge(
    folder, capsys, recode, told
):
    Path("h.csv").write_text("01067;Dresden\n10115;Berlin\n")
    pq.write_table(ZIPS, "p.parquet")
    at = written("{file: p.parquet}\nprivacy_unit: row", recode)
    assert run(["validate", at]) == 1
    assert told in capsys.readouterr().out
    assert run(["release", at]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "key", "can_be"),
    [
        ("UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", True),
        ("UUID", "Dresden", False),
        ("HUGEINT", "170141183460469231731687303715884105727", True),
        ("HUGEINT", "01067", False),
        ("HUGEINT", "1.5", False),
        ("ENUM('it''s', 'm')", "it's", True),
        ("ENUM('it''s', 'm')", "f", False),
        ("UBIGINT", "9223372036854775807", True),
        ("BIGINT", "-9223372036854775807", True),
    ],
)
def test_a_key_is_held_against_all_that_the_type_of_a_table_says(folder, capsys, kind, key, can_be):
    with duckdb.connect("w.duckdb") as made:
        made.execute(f"create table people (id bigint primary key, v {kind})")
    served("duckdb", database="w.duckdb")
    source = "{table: main.people}\nprivacy_unit: {column: id, rows: one}"
    at = written(source, "{v: {map: {" + json.dumps(key) + ": a}, other: b}}")
    assert run(["validate", at]) == (0 if can_be else 1)
    assert ("is the key" in capsys.readouterr().out) is not can_be


def test_keys_as_the_remedy_writes_them_are_found(folder):
    pq.write_table(ZIPS, "p.parquet")
    source = "{file: p.parquet}\nprivacy_unit: row"
    counts = released(source, "{zip: {map: {'1067': a}, other: b}}")
    assert set(counts) == {"a", "b"}
    assert set(released(source, "{on: {map: {'true': a}, other: b}}")) == {"a"}


@pytest.mark.parametrize(
    ("recode", "told"),
    [
        ("{zip: {map: {'1': a}, other: '*'}}", "zip is '*' in every row that is shown"),
        ("{on: keep}", "on has the same value in every row that is shown"),
        ("{on: {map: {'false': a}, other: null}}", "on is NULL in every row that is shown"),
        ("{on: keep, zip: {map: {'1': a}, other: x}}", "zip is 'x' in every row that is shown"),
    ],
)
def test_a_release_whose_column_says_nothing_says_so(folder, capsys, recode, told):
    pq.write_table(ZIPS, "p.parquet")
    released("{file: p.parquet}\nprivacy_unit: row", recode)
    assert told in capsys.readouterr().err


def test_a_table_whose_column_says_nothing_says_so(folder, postgres, capsys):
    postgres.sql(
        "drop table if exists zips, zips_public",
        "create table zips (id int primary key, zip int)",
        "insert into zips select g, 1067 from generate_series(1, 80) g",
    )
    served("postgres", url=postgres.url)
    recode = "{zip: {map: {'1': a}, other: '*'}}"
    at = written("{table: zips}\nprivacy_unit: {column: id, rows: one}", recode)
    text = Path(at).read_text().replace("file: out.parquet", "table: public.zips_public")
    Path(at).write_text(text)
    assert run(["release", at]) == 0
    assert "zip is '*' in every row that is shown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("file: out.parquet", """file: "out/{{ env_var('MONTH') }}.parquet\"""", "8:17"),
        ("name: keys", "name: keys\npurpose: \"of {{ var('month') }}\"", "3:10"),
        ("account: people", "account: '{{ account }}'", "9:10"),
        ("account: people", "account: '{% if a %}people{% endif %}'", "9:10"),
        ("recode: {on: keep}", "recode: {on: keep, '{{ column }}': keep}", "5:20"),
    ],
)
def test_nothing_in_a_policy_is_a_template(folder, capsys, old, new, place):
    pq.write_table(ZIPS, "p.parquet")
    at = written("{file: p.parquet}\nprivacy_unit: row", "{on: keep}")
    Path(at).write_text(Path(at).read_text().replace(old, new))
    for command in ("validate", "release", "plan"):
        assert run([command, at]) == 1
        told = "".join(capsys.readouterr())
        assert f"policy.yaml:{place}: " in told
        assert "nothing in a policy is a template" in told
        assert "write the value itself" in told
    assert not Path("out").exists()


def people_with_a_view() -> None:
    with closing(duckdb.connect("p.duckdb")) as connection:
        for text in (
            "CREATE TABLE t AS SELECT i AS person_id, i % 3 AS g FROM range(200) r(i)",
            "CREATE TABLE w AS SELECT i AS g, 'x' AS ward FROM range(3) r(i)",
            "CREATE VIEW v AS SELECT t.person_id, w.ward FROM t JOIN w ON t.g = w.g",
        ):
            connection.execute(text)
    served("duckdb", database="p.duckdb")


def test_the_remedy_of_a_view_comes_first_in_the_readers_words_and_works(folder, capsys):
    people_with_a_view()
    source = "{table: v}\nprivacy_unit: {column: person_id, rows: any}"
    at = written(source, "{ward: keep}")
    assert run(["validate", at]) == 1
    told = capsys.readouterr().out
    assert told.count("view: rowwise") == 1
    assert "if each of its rows comes from the rows of one person, write view: rowwise" in told
    assert "no join, union or lateral" not in told
    rowwise = source.replace("table: v}", "table: v, view: rowwise}")
    assert abs(released(rowwise, "{ward: keep}")["x"] - 200) < 9


def test_a_starter_of_a_view_says_what_its_author_confirms(folder, capsys):
    people_with_a_view()
    assert run(["init", "v", "--output", "new.yaml"]) == 0
    text = Path("new.yaml").read_text()
    assert "\n  view: rowwise            # you confirm: each row of the view comes from" in text
    text = text.replace("  # ward: keep", "  ward: keep").replace(
        "{epsilon: 0.5, delta: 1.0e-7}", "{epsilon: 20, delta: 1.0e-4}"
    )
    Path("new.yaml").write_text(text)
    assert run(["release", "new.yaml"]) == 0
    assert run(["init", "t", "--output", "table.yaml"]) == 0
    assert "rowwise" not in Path("table.yaml").read_text()


def test_a_view_of_postgresql_is_refused_in_the_same_words(folder, postgres, capsys):
    postgres.sql(
        "drop view if exists seen",
        "drop table if exists behind",
        "create table behind (id int primary key, v text)",
        "insert into behind select g, 'a' from generate_series(1, 90) g",
        "create view seen as select id, v from behind",
    )
    served("postgres", url=postgres.url)
    source = "{table: seen}\nprivacy_unit: {column: id, rows: any}"
    assert run(["validate", written(source, "{v: keep}")]) == 1
    told = capsys.readouterr().out
    assert "public.seen is a view; if each of its" in told
    rowwise = source.replace("table: seen}", "table: seen, view: rowwise}")
    assert abs(released(rowwise, "{v: keep}")["a"] - 90) < 9


def test_a_day_that_stands_as_text_in_sqlite_is_cut_as_the_remedy_says(folder, capsys):
    with closing(sqlite3.connect("p.sqlite")) as connection:
        connection.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, day TEXT) STRICT")
        rows = [(n, f"2026-0{1 + n % 2}-11") for n in range(120)]
        connection.executemany("INSERT INTO visits VALUES (?, ?)", rows)
        connection.commit()
    served("sqlite", database="p.sqlite")
    source = "{table: visits}\nprivacy_unit: {column: id, rows: one}"
    assert run(["validate", written(source, "{day: {truncate: month}}")]) == 1
    told = capsys.readouterr().out
    assert "truncate takes a date or time, found text; use prefix or keep" in told
    assert set(released(source, "{day: {prefix: 7}}")) == {"2026-01", "2026-02"}
    assert run(["validate", written(source, "{day: keep}")]) == 0


def test_texts_of_postgresql_are_released_as_they_are(folder, postgres):
    postgres.sql(
        "create extension if not exists citext",
        "drop table if exists codes",
        "drop domain if exists zip",
        "create domain zip as text",
        "create table codes (id int primary key, c char(5), ct citext, z zip)",
        "insert into codes select g, 'ab', 'Ab', '01067' from generate_series(1, 80) g",
    )
    served("postgres", url=postgres.url)
    source = "{table: codes}\nprivacy_unit: {column: id, rows: one}"
    for column, value in (("c", "ab"), ("ct", "Ab"), ("z", "01067")):
        assert set(released(source, f"{{{column}: keep}}")) == {value}
        # Whoever declares what it is says nothing new.
        same = source.replace("{table: codes}", f"{{table: codes, columns: {{{column}: text}}}}")
        assert set(released(same, f"{{{column}: keep}}")) == {value}


PAIRS = [("a", "bc"), ("ab", "c"), ("a~", "b"), ("a", "~b"), ("", "x"), ("x", "")]


def test_a_person_of_two_columns_is_counted_once(folder):
    """Of 80 people that two columns name, in a file; of a household alone there are 20."""
    lines = [f"{n // 4},{n % 4},{'fm'[n % 2]}" for n in range(80)]
    Path("p.csv").write_text("\n".join(["hh,pers,sex", *lines, *lines, ",1,f", "1,,m"]) + "\n")
    source = "{file: p.csv}\nprivacy_unit: {columns: [hh, pers], rows: any}"
    counts = released(source, "{sex: keep}")
    assert all(abs(counts[sex] - 40) < 9 for sex in "fm")
    assert run(["verify", "out.certificate.json", "--release", "out.parquet"]) == 0
    sampled = (
        Path(written(source, "{sex: keep}"))
        .read_text()
        .replace(
            "mechanism: noisy_counts\nguarantee: {epsilon: 20, delta: 1.0e-4}",
            "sample: {rate: 0.5}\nk: 10\nguarantee: {epsilon: 9, delta: 0.05}",
        )
    )
    Path("policy.yaml").write_text(sampled)
    assert run(["release", "policy.yaml", "--replace"]) == 0
    total = sum(row["n"] for row in pq.read_table("out.parquet").to_pylist())
    assert 15 < total < 65


def test_two_columns_that_read_alike_are_two_people_on_every_engine(folder, postgres):
    """('a', 'bc') and ('ab', 'c') are two; who lacks one of the two is nobody."""
    rows = [*PAIRS, *PAIRS, ("a", None), (None, "c")] * 3
    postgres.sql("drop table if exists pairs", "create table pairs (a text, b text, s int)")
    with psycopg.connect(postgres.url) as connection:
        connection.cursor().executemany("insert into pairs values (%s, %s, 1)", rows)
    (folder / "lake").mkdir()
    table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows], "s": [1] * len(rows)})
    pq.write_table(table, folder / "lake" / "pairs.parquet")
    with closing(sqlite3.connect("p.sqlite")) as connection:
        connection.execute("CREATE TABLE pairs (a TEXT, b TEXT, s INTEGER) STRICT")
        connection.executemany("INSERT INTO pairs VALUES (?, ?, 1)", rows)
        connection.commit()
    unit = "privacy_unit: {columns: [a, b], rows: {first_by: [s]}}"
    for kind, said in (
        ("postgres", {"url": postgres.url}),
        ("datafusion", {"database": "lake"}),
        ("sqlite", {"database": "p.sqlite"}),
    ):
        served(kind, **said)
        counts = released(f"{{table: pairs}}\n{unit}", "{s: keep}")
        assert abs(counts[1] - len(PAIRS)) < 4, kind
    served("duckdb")
    counts = released(f"{{file: lake/pairs.parquet}}\n{unit}", "{s: keep}")
    assert abs(counts[1] - len(PAIRS)) < 4


def test_a_list_in_the_place_of_one_column_is_told_where_it_goes(folder, capsys):
    Path("p.csv").write_text("hh,pers,sex\n1,1,f\n")
    at = written("{file: p.csv}\nprivacy_unit: {column: [hh, pers], rows: any}", "{sex: keep}")
    assert run(["validate", at]) == 1
    assert "stand in columns: [hospital, patient]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "recode", "told"),
    [
        ("[hh]", "{sex: keep}", "must be a list of two columns and more, each once"),
        ("[hh, hh]", "{sex: keep}", "must be a list of two columns and more, each once"),
        ("[hh, HH]", "{sex: keep}", "names the column 'hh' twice"),
        ("[hh, gone]", "{sex: keep}", "has no column 'gone'"),
        ("[hh, pers]", "{hh: keep, pers: keep}", "all other columns of the key are kept"),
    ],
)
def test_a_key_of_columns_that_names_nobody_is_refused(folder, capsys, key, recode, told):
    Path("p.csv").write_text("hh,pers,sex\n1,1,f\n")
    at = written(f"{{file: p.csv}}\nprivacy_unit: {{columns: {key}, rows: any}}", recode)
    assert run(["validate", at]) == 1
    assert told in capsys.readouterr().out
