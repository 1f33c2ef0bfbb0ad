"""What the compiler refuses, before anything runs; and what it is given time for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from everyone import policy_of, warehouse_of
from sqlglot import exp

from policy_engine.compile.catalog import Field, Kind, Table, fresh, kind_of
from policy_engine.compile.compiler import compiled
from policy_engine.compile.reading import is_raw_first
from policy_engine.dialects import ENGINES, dialect_named
from policy_engine.errors import PolicyError
from policy_engine.policy.reading import located

DUCKDB = dialect_named("duckdb")
PEOPLE = Table(
    (
        Field("id", "BIGINT"),
        Field("Age", "INTEGER"),
        Field("price", "DOUBLE"),
        Field("ratio", "DECIMAL(18,7)"),
        Field("name", "VARCHAR COLLATE NOCASE"),
        Field("zip", "VARCHAR"),
        Field("born", "DATE"),
        Field("seen", "TIMESTAMP WITH TIME ZONE"),
        Field("married", "BOOLEAN"),
        Field("list", "INTEGER[]"),
    ),
    path="source.parquet",
)


def problems(folder: Path, recode: str, table: Table = PEOPLE, **changes: str) -> list[str]:
    policy = policy_of(folder, recode, **changes)
    with pytest.raises(PolicyError) as caught:
        compiled(policy, table, DUCKDB)
    return [str(problem).partition("policy.yaml: ")[2] for problem in caught.value.problems]


REFUSED = ["BLOB", "BIT", "INTERVAL", "INTEGER[]", "INTEGER[3]", "STRUCT(a INTEGER)", "JSON",
           "MAP(INTEGER, INTEGER)", "UNION(a INTEGER)", "TIME WITH TIME ZONE", "VARIANT",
           "GEOMETRY", "ENUM('a')[]", "BIGNUM", "anything new"]  # fmt: skip
RECODES = ["keep", "{bins: [1]}", "{bins: [2020-01-01]}", "{round: 1}", "{prefix: 1}",
           "{truncate: day}", "{map: {a: b}, other: c}"]  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("recode", RECODES)
def test_a_type_that_no_recoding_takes_is_refused_by_every_one(tmp_path, kind, recode):
    [found] = problems(tmp_path, f"{{x: {recode}}}", Table((Field("x", kind),), path="p"))
    assert found == (
        f"column 'x': of the recodings constant alone takes the type {kind};"
        " use constant, read it as text with source.columns, or leave it out"
    )
    compiled(policy_of(tmp_path, "{x: {constant: '*'}}"), PEOPLE, DUCKDB)


@pytest.mark.parametrize("kind", REFUSED[:9])
def test_what_no_recoding_takes_can_be_read_as_text(tmp_path, kind):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        described = connection.execute("DESCRIBE t").fetchall()
    assert kind_of(described[0][1]) is Kind.OTHER
    policy = policy_of(
        tmp_path,
        "{x: {prefix: 1}}",
        source="{file: p.parquet, columns: {x: text}}\nprivacy_unit: row",
    )
    sql = compiled(policy, Table((Field("x", kind),), path="p.parquet"), DUCKDB)[1]
    assert 'TRY_CAST("x" AS VARCHAR)' in sql


@pytest.mark.parametrize(
    ("recode", "message"),
    [
        ("{ages: keep}", "source.parquet has no column 'ages'; did you mean 'Age'?"),
        ("{xyz: keep}", "source.parquet has no column 'xyz'; name a column of the source"),
        ("{price: keep}", "column 'price': keep takes no floating-point number; use bins or round"),
        (
            "{age: {bins: [17.5]}}",
            "column 'age': bins of a whole number need whole cut points; round them up",
        ),
        (
            "{zip: {bins: [1]}}",
            "column 'zip': bins of numbers take a number, found text;"
            " read it as a number with source.columns",
        ),
        (
            "{age: {bins: [2020-01-01]}}",
            "column 'age': bins of dates take a date or time, found a whole number;"
            " write the cut points as numbers",
        ),
        (
            "{zip: {bins: [2020-01-01]}}",
            "column 'zip': bins of dates take a date or time, found text;"
            " read it as a date with source.columns",
        ),
        (
            "{born: {bins: [1990]}}",
            "column 'born': bins of numbers take a number, found a date;"
            " write the cut points as dates",
        ),
        (
            "{born: {round: 10}}",
            "column 'born': round takes a number, found a date; use bins or truncate",
        ),
        (
            "{age: {truncate: year}}",
            "column 'age': truncate takes a date or time, found a whole number; use bins or round",
        ),
        (
            "{born: {bins: ['2020-01-01 12:00']}}",
            "column 'born': bins of a date need dates, found timestamps; leave out the time of day",
        ),
        (
            "{age: {prefix: 1}}",
            "column 'age': prefix takes text, found a whole number;"
            " read it as text with source.columns",
        ),
        (
            "{zip: {round: 1}}",
            "column 'zip': round takes a number, found text;"
            " read it as a number with source.columns",
        ),
        (
            "{price: {round: 1.0e-19}}",
            "column 'price': round takes a step of at most 18 decimal places and 15 digits,"
            " up to 10^17; use a plainer one",
        ),
        (
            "{price: {round: 1.0e+18}}",
            "column 'price': round takes a step of at most 18 decimal places and 15 digits,"
            " up to 10^17; use a plainer one",
        ),
        (
            "{ratio: {round: 1}}",
            "column 'ratio': round takes a decimal number of at most 15 digits, or 6 behind the"
            " point, found DECIMAL(18,7); use bins, or a column with fewer digits",
        ),
        (
            "{price: {bins: [0, 1.0e+38]}}",
            "column 'price': bins take cuts of at most 38 digits; use plainer ones",
        ),
        (
            "{zip: {prefix: 1000000000}}",
            "column 'zip': prefix takes at most 999999999 characters; use keep",
        ),
        (
            "{born: {truncate: hour}}",
            "column 'born': truncate: hour takes a time, found a date; use day or more",
        ),
        (
            "{seen: {map: {a: b}, other: c}}",
            "column 'seen': map and hierarchy take labels, found a time with zone;"
            " use bins or truncate",
        ),
    ],
)
def test_a_recoding_that_does_not_fit_is_told_with_its_remedy(tmp_path, recode, message):
    assert problems(tmp_path, recode) == [message]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "{file: p}\nprivacy_unit: {column: gone, rows: any}"}, "has no column 'gone'"),
        (
            {"source": "{file: p}\nprivacy_unit: {column: price, rows: any}"},
            "privacy_unit.column must be a whole number, a text",
        ),
        (
            {"source": "{file: p}\nprivacy_unit: {column: name, rows: any}"},
            "privacy_unit.column must be compared letter by letter",
        ),
        (
            {"source": "{file: p}\nprivacy_unit: {column: id, rows: {first_by: [gone]}}"},
            "has no column 'gone'",
        ),
        (
            {
                "source": "{file: p, columns: {zip: integer}}\n"
                "privacy_unit: {column: id, rows: {first_by: [zip desc]}}"
            },
            "first_by compares 'zip' as the text it is in the source",
        ),
        ({"source": "{file: p, columns: {gone: text}}\nprivacy_unit: row"}, "has no column 'gone'"),
        (
            {"source": "{file: p, columns: {born: integer}}\nprivacy_unit: row"},
            "'born' cannot be read as integer because it is a date; leave it out of source.columns",
        ),
        (
            {"source": "{file: p, columns: {id: text}}\nprivacy_unit: {column: id, rows: any}"},
            "source.columns.id must be left out because it names the person and is compared as it"
            " stands, found text for a whole number; convert it in the source, or leave it out of"
            " source.columns",
        ),
        (
            {
                "source": "{file: p}\nprivacy_unit: {column: id, rows: any}",
                "sample": "{rate: 0.5, method: native}",
            },
            "method native samples rows, but the unit is a person",
        ),
        ({"sample": "{rate: 1.0e-30}"}, "a keyed sample needs a rate of at least 2^-60"),
    ],
)
def test_a_source_that_does_not_fit_is_told(tmp_path, changes, message):
    [found] = problems(tmp_path, "{age: keep}", **changes)
    assert message in found


def test_a_key_of_texts_may_be_called_text_and_is_read_as_it_stands(tmp_path):
    source = "{{file: p{}}}\nprivacy_unit: {{column: zip, rows: any}}"
    plain, called = (
        compiled(policy_of(tmp_path, "{age: keep}", source=source.format(more)), PEOPLE, DUCKDB)
        for more in ("", ", columns: {zip: text}")
    )
    assert plain[0] == called[0]


def test_no_declared_type_gets_at_the_key_whoever_made_the_policy(tmp_path):
    policy = policy_of(
        tmp_path, "{age: keep}", source="{file: p}\nprivacy_unit: {column: zip, rows: one}"
    )
    typed = replace(policy, source=replace(policy.source, columns=(("ZIP", "integer"),)))
    with pytest.raises(PolicyError, match="found integer for text; convert it in the source"):
        compiled(typed, PEOPLE, DUCKDB)


@pytest.mark.parametrize("column", ["price", "name"])
def test_grouping_raw_first_needs_columns_that_group_by_what_they_are(tmp_path, column):
    recode = "{bins: [1]}" if column == "price" else "{map: {a: b}, other: c}"
    [found] = problems(tmp_path, f"{{{column}: {recode}}}", grouping="raw_first")
    assert f"raw_first needs columns that group by what they are, found '{column}'" in found
    # Left alone, the text groups what is recoded.
    sql = compiled(policy_of(tmp_path, f"{{{column}: {recode}}}"), PEOPLE, DUCKDB)[1]
    assert "policy_engine_count" not in sql


def test_raw_first_is_a_rule_over_the_policy(tmp_path):
    for recode, wanted in [
        ("{age: {bins: [18, 60]}, married: keep, zip: {map: {a: b}, other: c}}", True),
        ("{age: {bins: [0, 1000000]}}", False),
        ("{zip: keep}", False),
        ("{zip: {prefix: 1}}", False),
    ]:
        assert is_raw_first(policy_of(tmp_path, recode), PEOPLE) is wanted


def test_a_column_that_hides_the_row_number_is_refused_where_it_is_needed(tmp_path):
    columns = (Field("file_row_number", "BIGINT"), Field("rowid", "BIGINT"))
    file, table = Table(columns, path="p.parquet"), Table(columns, parts=("db", "main", "p"))
    for source, hidden in ((file, "file_row_number"), (table, "rowid")):
        [found] = problems(tmp_path, "{rowid: keep}", source)
        assert found.startswith(f"the source has a column '{hidden}', which hides")
        native = policy_of(tmp_path, "{rowid: keep}", sample="{rate: 0.5, method: native}")
        compiled(native, source, DUCKDB)


def test_problems_are_located_in_the_policy_file(tmp_path):
    policy = policy_of(tmp_path, "{ages: keep, price: keep}")
    lines = ["version: 1", "recode:", "  ages: keep", "  price: keep"]
    policy.file.write_text("\n".join(lines))
    with pytest.raises(PolicyError) as caught:
        compiled(policy, PEOPLE, DUCKDB)
    found = located(caught.value.problems, policy.file)
    assert [(problem.line, problem.column) for problem in found] == [(3, 3), (4, 3)]


def test_a_column_is_the_one_that_its_engine_would_read():
    columns = (Field("É", "DATE"), Field("é", "BIGINT"), Field("Age", "DATE"))
    found = {
        case: [table.find(name) for name in ("É", "é", "AGE", "Age", "gone")]
        for case in ("folded", "quoted", "exact")
        if (table := Table(columns, case=case))
    }
    upper, lower, age = columns
    assert found["folded"] == [None, None, age, age, None]
    assert found["quoted"] == [upper, lower, age, age, None]
    assert found["exact"] == [upper, lower, None, age, None]


def test_an_engine_that_cannot_tell_two_names_apart_is_given_no_text(tmp_path):
    columns = (Field("ID", "BIGINT"), Field("id", "BIGINT"))
    table = Table(columns, parts=("main", "people"), case="quoted")
    source = "{table: people}\nprivacy_unit: {column: ID, rows: any}"
    policy = policy_of(tmp_path, "{id: {bins: [18]}}", source=source)
    for engine in ENGINES.values():
        if engine.case != "folded":
            assert '"ID"' in compiled(policy, table, engine)[1]
            continue
        with pytest.raises(PolicyError, match="it reads a and A in a name as the same letter"):
            compiled(policy, table, engine)


@pytest.mark.parametrize("name", ENGINES)
def test_every_name_is_written_as_the_catalog_spells_it(tmp_path, name):
    """To most engines a name in quotes is another name in another case."""
    columns = (Field("Person", "BIGINT"), Field("Visit", "BIGINT"), Field("Age", "INTEGER"))
    table = Table(columns, parts=("main", "people"))
    one, other = (
        policy_of(
            tmp_path,
            "{AGE: {bins: [18]}}",
            source=f"{{table: people}}\nprivacy_unit: {{column: {person}, rows: {{first_by: ["
            f"{visit}]}}}}",
        )
        for person, visit in (("Person", "Visit"), ("PERSON", "visit"))
    )
    (claim, text), (same, _) = (compiled(each, table, ENGINES[name]) for each in (one, other))
    assert claim == same
    assert all(read in text for read in ("Person", "Visit", "Age"))


def test_a_declared_type_is_found_in_any_case(tmp_path):
    source = "{file: p.parquet, columns: {ZIP: integer}}\nprivacy_unit: row"
    sql = compiled(policy_of(tmp_path, "{zip: keep}", source=source), PEOPLE, DUCKDB)[1]
    assert """THEN "zip" END AS BIGINT) AS "zip\"""" in sql


KEYED = "{file: p}\nprivacy_unit: {column: id, rows: any}"
ORDERED = "{file: p}\nprivacy_unit: {column: id, rows: {first_by: [policy_engine_n]}}"
OURS = "a name must not be empty, hold a NUL or start with policy_engine_"


@pytest.mark.parametrize(
    ("recode", "more"),
    [
        ("{policy_engine_n: keep}", {}),
        ("{Policy_Engine_n: {constant: a}}", {}),
        ("{zip: keep}", {"release": "{file: out.parquet}\ncount: {people: policy_engine_n}"}),
        ("{zip: keep}", {"source": KEYED.replace("id", "policy_engine_n")}),
        ("{zip: keep}", {"source": ORDERED}),
    ],
)  # fmt: skip
def test_a_name_that_a_text_gives_itself_is_refused(tmp_path, recode, more):
    table = replace(PEOPLE, columns=(*PEOPLE.columns, Field("policy_engine_n", "BIGINT")))
    [found] = problems(tmp_path, recode, table, **more)
    assert OURS in found


def test_a_fresh_name_is_none_of_those_in_any_case():
    assert fresh("n", ["N", "n_2"]) == "n_3"


@pytest.mark.parametrize("grouping", ["recoded", "raw_first"])
@pytest.mark.parametrize("form", ["counts", "rows"])
@pytest.mark.parametrize("unit", ["row", "{column: id, rows: any}"])
def test_every_step_is_read_once(tmp_path, grouping, form, unit):
    policy = policy_of(
        tmp_path,
        "{age: {bins: [18]}, zip: {prefix: 2}}",
        source=f"{{file: p.parquet}}\nprivacy_unit: {unit}",
        release=f"{{file: out.parquet, as: {form}}}",
        grouping=grouping,
    )
    statement = sqlglot.parse_one(compiled(policy, PEOPLE, DUCKDB)[1], dialect="duckdb")
    steps = [cte.alias for cte in statement.find_all(exp.CTE)]
    read = [table.name for table in statement.find_all(exp.Table)]
    assert {name: read.count(name) for name in steps} == dict.fromkeys(steps, 1)
    assert sum(name.startswith("policy_engine_sample_") for name in read) == 1


def test_the_engine_reads_the_source_and_the_sample_once(tmp_path):
    pq.write_table(pa.table({"age": [1, 2], "zip": ["a", "b"]}), tmp_path / "source.parquet")
    policy = policy_of(tmp_path, "{age: {bins: [18]}, zip: {prefix: 2}}")
    warehouse = warehouse_of(policy, tmp_path)
    table = warehouse.table(policy.source, tmp_path)
    sql = compiled(policy, table, warehouse.dialect)[1]
    with warehouse.sampled(policy, table, bytes(16)):
        plan = warehouse._connection.execute(f"EXPLAIN {sql}").fetchall()[0][1]
    warehouse.close()
    assert plan.count("READ_PARQUET") == 1
    assert plan.count("policy_engine_sample_") == 1
    assert "CTE_SCAN" not in plan


@pytest.mark.evidence
def test_five_thousand_columns_are_printed_and_run(tmp_path):
    names = [f"column {number}" for number in range(5000)]
    pq.write_table(pa.table({name: [1, 20, 20] for name in names}), tmp_path / "source.parquet")
    recode = "{" + ", ".join(f"{name}: {{bins: [18, 65]}}" for name in names) + "}"
    policy = policy_of(tmp_path, recode)
    warehouse = warehouse_of(policy, tmp_path)
    table = warehouse.table(policy.source, tmp_path)
    sql = compiled(policy, table, warehouse.dialect)[1]
    with warehouse.sampled(policy, table, bytes(16)):
        assert warehouse.rows(sql).num_columns == 5001
    warehouse.close()


def test_a_csv_of_one_column_may_have_another_delimiter(tmp_path):
    table = Table((Field("Report", "VARCHAR"),), path="people.csv")
    [found] = problems(tmp_path, "{age: keep}", table)
    assert found.endswith("its first line names one column alone: see csv.delimiter and csv.skip")
