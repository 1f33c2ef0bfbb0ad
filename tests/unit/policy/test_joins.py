"""``source.join`` as it is written: what is looked up, in whose rows, and what is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.compile.claims import claim_of
from policy_engine.compile.compiler import compiled, find_problems
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError
from policy_engine.kernel.sources import Files, Relation
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.duckdb import DuckDBWarehouse

PERSONS = "persons: {file: persons.parquet, on: person_id, columns: [sex]}"
WARDS = "wards: {file: wards.csv, on: {ward_id: id}, columns: [region], public: true}"
POLICY = """\
version: 1
name: visits
source:
  file: visits.parquet
  join:
{joins}
privacy_unit: {unit}
recode: {recode}
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{file: out.parquet}}
"""
UNIT = "{column: person_id, rows: any}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ids = pa.array([1, 2, 3], pa.int64())
    visits = {"person_id": ids, "ward_id": ["a", "b", "c"], "days": [1, 2, 3], "on": ids}
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    persons = {"person_id": ids, "sex": ["f", "m", "f"], "days": [7, 8, 9], "weight": [1.5, 2.5, 3]}
    pq.write_table(pa.table(persons), tmp_path / "persons.parquet")
    (tmp_path / "wards.csv").write_text("id,region\na,north\nb,south\n")
    return tmp_path


def policy_of(folder: Path, *joins: str, unit: str = UNIT, recode: str = "{sex: keep}") -> Policy:
    text = POLICY.format(joins="\n".join(f"    {each}" for each in joins), unit=unit, recode=recode)
    return load_policy_text(text, folder / "policy.yaml", folder)


def problems_of(folder: Path, *joins: str, unit: str = UNIT, recode: str = "{sex: keep}") -> str:
    policy = policy_of(folder, *joins, unit=unit, recode=recode)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        return "\n".join(map(str, find_problems(policy, table, dialect_named("duckdb"))))


def test_a_persons_table_and_a_public_one_stand_beside_each_row(folder):
    policy = policy_of(folder, PERSONS, WARDS, recode="{sex: keep, region: keep}")
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        claim = claim_of(policy, table, "duckdb")
    persons, wards = claim.joins
    assert isinstance(persons.source, Files)
    assert (persons.source.path, persons.is_public) == ("persons.parquet", False)
    assert [(own.name, key.name) for own, key in wards.on] == [("ward_id", "id")]
    assert (wards.columns[0].name, wards.is_public) == ("region", True)
    assert claim.own == ("person_id", "ward_id")


@pytest.mark.parametrize(
    ("join", "unit", "law", "remedy"),
    [
        (WARDS.replace(", public: true", ""), UNIT,
         "is neither public nor joined by who is protected, person_id",
         "join it by person_id where its rows are of one person each"),
        (PERSONS, "row", "where each row is one person no table is a person's own",
         "write public: true where it is the same, whichever people are in the data, or name"
         " privacy_unit"),
        (PERSONS.replace("[sex]", "[sex], public: true"), UNIT,
         "is joined by person_id, which is one person", "remove public"),
        (PERSONS, "{columns: [person_id, ward_id], rows: any}",
         "neither public nor joined by who is protected, person_id and ward_id", "join it by"),
        (PERSONS.replace("file: persons.parquet", "table: persons"), UNIT,
         "must be a table where the source is one", "bring both into one warehouse"),
        (PERSONS.replace("person_id", "7"), UNIT, "must be a column that both have",
         "as in person_id, or {ward_id: id}"),
        (PERSONS.replace("[sex]", "[sex, sex]"), UNIT, "names 'sex' a second time", ""),
        (PERSONS.replace("[sex]", "[sex], view: rowwise"), UNIT, "is for a view", "remove it"),
    ],
)  # fmt: skip
def test_what_is_no_persons_and_not_public_is_refused_with_what_to_write(
    folder, join, unit, law, remedy
):
    with pytest.raises(PolicyError) as caught:
        policy_of(folder, join, unit=unit, recode="{days: {bins: [2]}}")
    assert law in str(caught.value)
    assert remedy in str(caught.value)
    assert "source.join" in str(caught.value)


def test_a_column_that_two_tables_have_is_looked_up_in_one(folder):
    with pytest.raises(PolicyError, match="looks up 'sex', as persons does"):
        policy_of(folder, PERSONS, WARDS.replace("region", "sex"))


@pytest.mark.parametrize(
    ("join", "recode", "law"),
    [
        (PERSONS.replace("[sex]", "[sexe]"), "{sex: keep}", "persons.parquet has no column 'sexe'"),
        (PERSONS.replace("[sex]", "[days]"), "{days: keep}",
         "persons.days is called like the column 'days' of visits.parquet"),
        (WARDS.replace("{ward_id: id}", "{ward: id}"), "{region: keep}",
         "visits.parquet has no column 'ward'"),
        (WARDS.replace("{ward_id: id}", "{ward_id: code}"), "{region: keep}",
         "wards.csv has no column 'code'"),
        (PERSONS.replace("[sex]", "[sex], first_by: [age]"), "{sex: keep}",
         "persons.parquet has no column 'age'"),
        (PERSONS.replace("on: person_id", "on: {person_id: weight}"), "{sex: keep}",
         "persons is joined by 'weight' of persons.parquet, a floating-point number"),
    ],
)  # fmt: skip
def test_a_name_that_is_no_column_there_is_told(folder, join, recode, law):
    assert law in problems_of(folder, join, recode=recode)


ONE_NAME = WARDS.replace("{ward_id: id}", "ward_id")


@pytest.mark.parametrize(
    ("join", "recode", "remedy", "worked"),
    [
        (ONE_NAME, "region", "write on: {ward_id: COLUMN}, with what wards.csv calls it for"
         " COLUMN: id, region", ONE_NAME.replace("on: ward_id", "on: {ward_id: id}")),
        (WARDS.replace("{ward_id: id}", "id"), "region", "write on: {COLUMN: id}, with what the"
         " source calls it for COLUMN: person_id, ward_id, days, on", WARDS),
        (PERSONS.replace("[sex]", "[zz]"), "sex", "name a column of persons.parquet", PERSONS),
        (PERSONS.replace("file: persons", "file: named").replace("on: person_id", "on: person"),
         "sex", "join it by person_id where its rows are of one person each: on: {person_id:"
         " person};", PERSONS.replace("file: persons", "file: named").replace(
         "on: person_id", "on: {person_id: person}")),
        (PERSONS.replace("file: persons", "file: named"), "sex", "did you mean on: {person_id:"
         " person}?", PERSONS.replace("file: persons", "file: named").replace(
         "on: person_id", "on: {person_id: person}")),
    ],
)  # fmt: skip
def test_a_key_that_two_tables_call_otherwise_is_written_as_the_remedy_says(
    folder, join, recode, remedy, worked
):
    table = pq.read_table(folder / "persons.parquet")
    pq.write_table(
        table.rename_columns(["person", *table.column_names[1:]]), folder / "named.parquet"
    )
    try:
        found = problems_of(folder, join, recode=f"{{{recode}: keep}}")
    except PolicyError as error:
        found = str(error)
    assert remedy in found
    assert problems_of(folder, worked, recode=f"{{{recode}: keep}}") == ""


@pytest.mark.parametrize(
    ("join", "remedy"),
    [(PERSONS.replace("[sex]", "[days]"), "otherwise: in a view of persons"),
     (WARDS.replace("[region]", "[region, days]"), "otherwise: rename it there")],
)  # fmt: skip
def test_no_view_is_offered_where_none_is_taken(folder, join, remedy):
    """A view is not public: the remedy for a column that both have led to the next refusal."""
    (folder / "wards.csv").write_text("id,region,days\na,north,1\n")
    policy = policy_of(folder, join, recode="{days: keep}")
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        found = find_problems(policy, table, dialect_named("duckdb"))
        assert any(remedy in problem.remedy for problem in found)


@pytest.mark.parametrize("recode", ["{days: keep}", "{Days: keep}"])
def test_a_name_that_two_tables_have_is_told_once(folder, recode):
    """It had a second message: "'days' can be the columns 'days' and 'days'"."""
    policy = policy_of(folder, PERSONS.replace("[sex]", "[days]"), recode=recode)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        [found] = find_problems(policy, table, dialect_named("duckdb"))
    assert "persons.days is called like the column 'days' of visits.parquet" in str(found)


def test_a_name_that_one_joined_table_has_twice_is_told_of_it(folder):
    ids = pa.array([1, 2, 3], pa.int64())
    table = pa.table([ids, ["f"] * 3, ["m"] * 3], names=["person_id", "sex", "Sex"])
    pq.write_table(table, folder / "persons.parquet")
    assert "'sex' can be the columns 'sex' and 'Sex'" in problems_of(folder, PERSONS)


def test_who_is_protected_is_a_column_of_the_source(folder):
    join = WARDS.replace("[region]", "[region, id]")
    found = problems_of(folder, join, unit="{column: id, rows: any}", recode="{region: keep}")
    law = "privacy_unit.column must be a column of visits.parquet, and 'id' is one of wards"
    assert law in found


def test_rows_that_are_drawn_by_themselves_have_nothing_beside_them(folder):
    text = POLICY.format(joins=f"    {WARDS}", unit="row", recode="{region: keep}")
    text = text.replace("{epsilon: 1, delta: 1.0e-6}", "{epsilon: 9, delta: 0.9}")
    sampled = f"{text}sample: {{rate: 0.5}}\nk: 5\n"
    policy = load_policy_text(sampled, folder / "p.yaml", folder)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        with pytest.raises(PolicyError, match="draws rows by themselves"):
            compiled(policy, table, dialect_named("duckdb"))


def test_a_view_is_followed_by_word_for_each_relation(folder):
    import duckdb

    file = folder / "db.duckdb"
    with closing(duckdb.connect(str(file))) as connection:
        for name in ("visits", "persons"):
            connection.execute(f"CREATE TABLE {name} AS FROM '{folder / name}.parquet'")
        connection.execute("CREATE VIEW people AS FROM persons")
    join = "persons: {table: people, on: person_id, columns: [sex], view: rowwise}"
    text = POLICY.format(joins=f"    {join}", unit=UNIT, recode="{sex: keep}")
    policy = load_policy_text(text.replace("file: visits.parquet", "table: visits"),
                              folder / "p.yaml", folder)  # fmt: skip
    with closing(DuckDBWarehouse("db", file)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        claim, query = compiled(policy, table, dialect_named("duckdb"))
    assert claim.joins[0].source == Relation(("db", "main", "people"), is_rowwise=True)
    assert 'LEFT JOIN "policy_engine_beside_1" ON "person_id" = "policy_engine_key_1_1"' in query


def test_a_view_is_not_public(folder):
    """What it reads may be people's rows: one person would move what stands beside all others."""
    import duckdb

    file = folder / "db.duckdb"
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute(f"CREATE TABLE visits AS FROM '{folder / 'visits.parquet'}'")
        connection.execute("CREATE VIEW wards AS SELECT ward_id AS id, max(ward_id) AS region"
                           " FROM visits GROUP BY ALL")  # fmt: skip
    join = "wards: {table: wards, on: {ward_id: id}, columns: [region], public: true}"
    text = POLICY.format(joins=f"    {join}", unit=UNIT, recode="{region: keep}")
    policy = load_policy_text(text.replace("file: visits.parquet", "table: visits"),
                              folder / "p.yaml", folder)  # fmt: skip
    with closing(DuckDBWarehouse("db", file)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        with pytest.raises(PolicyError, match="wards is a view, and what it reads may be people's"):
            compiled(policy, table, dialect_named("duckdb"))
