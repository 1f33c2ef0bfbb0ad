"""Names that are no columns: functions without parentheses, rows, places, files."""

import pytest
from stranger_texts import SAMPLES, proof, quoted, text

from policy_engine.syntax.schema import parse_schema
from policy_engine.verify.proof import prove

FUNCTIONS = {
    "postgres": "user current_role system_user current_schema current_date localtime",
    "redshift": "user sysdate current_user_id current_date",
    "mariadb": "utc_date UTC_TIMESTAMP current_role localtime current_user",
    "mysql": "utc_time current_date localtimestamp",
    "snowflake": "current_account current_warehouse localtime current_user",
    "bigquery": "current_datetime CURRENT_DATE",
    "trino": "current_path current_catalog current_user localtime",
    "tsql": "user session_user system_user IDENTITYCOL current_timestamp",
    "clickhouse": "nan Inf infinity",
    "datafusion": "current_date current_timestamp",
    "sqlite": "current_time current_timestamp",
    "spark": "current_path",
    "databricks": "current_path",
}
FALLBACKS = {
    "duckdb": "user session_user current_role",
    "spark": "user current_time",
    "databricks": "user",
    "clickhouse": "today now user schema database",
}
PLACES = {
    "postgres": "ctid xmin cmax tableoid",
    "redshift": "ctid deletexid insertxid",
    "mariadb": "_rowid",
    "mysql": "_rowid",
    "sqlite": "rowid oid _rowid_",
    "spark": "_metadata",
    "databricks": "_metadata",
    "snowflake": "METADATA$ROW_ID",
    "bigquery": "_PARTITIONTIME _table_suffix _FILE_NAME",
    "trino": "$path $file_modified_time",
    "tsql": "$identity",
    "clickhouse": "_part _partition_id _part_offset _table _row_exists",
}
NO_TABLES = {
    "spark": "json.`/data/people` parquet.`people` org.x.`people` delta.people",
    "databricks": "csv.`dbfs:/people` `people@v1`",
    "bigquery": "d.`people_*` `p.d.people_*` d.`people$20200101` d.INFORMATION_SCHEMA.TABLES",
    "trino": '"people$files" "people$partitions" system.runtime.queries',
    "snowflake": "@stage @db.s.stage snowflake.account_usage.users",
    "clickhouse": "system.parts information_schema.tables",
    "mariadb": "mysql.user performance_schema.threads sys.processlist",
    "mysql": "mysql.user sys.processlist",
    "tsql": "sys.objects",
    "redshift": "stl_query svv_tables pg_catalog.pg_class",
    "postgres": "pg_class information_schema.tables",
}
NEEDS_QUOTES = frozenset({"trino"})


def _each(table):
    return [(dialect, name) for dialect, names in table.items() for name in names.split()]


@pytest.mark.parametrize("dialect", SAMPLES)
def test_the_release_itself_is_proved(dialect):
    assert proof(dialect).findings == ()


@pytest.mark.parametrize(("dialect", "name"), _each(FUNCTIONS))
def test_a_function_without_parentheses_is_no_column(dialect, name):
    for parts in ({"column": name}, {"key": name}, {"where": f" AND {name} = 1"}):
        codes = {finding.code for finding in proof(dialect, **parts).findings}
        assert codes & {"V14", "V02"}


@pytest.mark.parametrize(("dialect", "name"), _each(FUNCTIONS))
def test_in_quotes_it_is_a_column(dialect, name):
    assert proof(dialect, column=quoted(name, dialect), key=quoted(name, dialect)).findings == ()


def test_with_a_schema_too():
    schema = parse_schema('CREATE TABLE people ("user" bigint PRIMARY KEY, zip text)', "postgres")
    found = prove(text("postgres", key="user"), "postgres", schema).findings
    assert [finding.message for finding in found] == [
        "only functions the kernel knows to be deterministic, of one row, are allowed [mechanism"
        " 2]; found user, which is a function; a column of that name stands in quotes"
    ]
    assert prove(text("postgres", key='"user"'), "postgres", schema).findings == ()
    assert prove(text("postgres", key="people.user"), "postgres", schema).findings == ()


@pytest.mark.parametrize(("dialect", "name"), _each(FALLBACKS))
@pytest.mark.parametrize("part", ["column", "key"])
def test_a_column_hides_a_function(dialect, name, part):
    """In quotes too it is a function where there is no such column: that there is, is assumed."""
    for written in (name, quoted(name, dialect)):
        found = proof(dialect, **{part: written})
        codes = {finding.code for finding in found.findings}
        assumed = f"people has a column of its own called {name}" in found.assumptions
        assert assumed or "V14" in codes
    assert assumed


def test_a_column_that_the_schema_has_is_no_function():
    schema = parse_schema("CREATE TABLE people (id BIGINT PRIMARY KEY, user VARCHAR)", "duckdb")
    found = prove(text("duckdb", column="user"), "duckdb", schema)
    assert found.shape is not None
    assert not any("of its own" in assumption for assumption in found.assumptions)


def test_a_name_that_the_query_gives_is_no_function():
    given = (
        "WITH s AS (SELECT id, LEFT(zip, 2) AS user FROM people) SELECT user, COUNT(*) AS n FROM s"
        f" WHERE {SAMPLES['duckdb'].format(key='id')}"
        " GROUP BY user HAVING COUNT(*) >= 20 ORDER BY user"
    )
    found = prove(given, "duckdb")
    assert found.shape is not None
    assert not any("of its own" in assumption for assumption in found.assumptions)


def test_the_name_of_a_query_of_all_columns_is_looked_through():
    given = (
        f"WITH s AS (SELECT * FROM people WHERE {SAMPLES['duckdb'].format(key='id')})"
        " SELECT user, COUNT(*) AS n FROM s GROUP BY user HAVING COUNT(*) >= 20 ORDER BY user"
    )
    assert "people has a column of its own called user" in prove(given, "duckdb").assumptions


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "redshift", "bigquery"])
def test_the_name_of_a_table_is_a_whole_row(dialect):
    assert "people has a column of its own called people" in (
        proof(dialect, column="people").assumptions
    )


@pytest.mark.parametrize("dialect", ["postgres", "redshift"])
def test_a_name_behind_the_tables_may_be_a_function_of_the_row(dialect):
    assert "people has a column of its own called max" in (
        proof(dialect, column="people.max").assumptions
    )


def test_a_lookups_column_is_not_the_sources():
    schema = parse_schema('{"tables": {}, "public": {"towns": "zip"}}', "duckdb")
    joined = (
        "SELECT t.region, COUNT(*) AS n FROM people AS p TABLESAMPLE BERNOULLI (10 PERCENT)"
        " JOIN towns AS t ON t.zip = p.zip GROUP BY t.region HAVING COUNT(*) >= 20 ORDER BY 1"
    )
    found = prove(joined, "duckdb", schema)
    assert not any("of its own" in assumption for assumption in found.assumptions)


@pytest.mark.parametrize(("dialect", "name"), _each(PLACES))
@pytest.mark.parametrize("part", ["column", "key"])
def test_what_every_table_has_is_no_column_of_a_person(dialect, name, part):
    for written in (name, quoted(name, dialect)):
        if name.startswith("$") and dialect in NEEDS_QUOTES and written == name:
            continue
        assert proof(dialect, **{part: written}).shape is None


@pytest.mark.parametrize(("dialect", "name"), _each(PLACES))
def test_it_chooses_no_row_of_a_person(dialect, name):
    name = quoted(name, dialect)
    ranked = f"ROW_NUMBER() OVER (PARTITION BY id ORDER BY seen, {name})"
    inner = f"SELECT zip, {ranked} AS r FROM people WHERE {SAMPLES[dialect].format(key='id')}"
    found = prove(
        f"WITH s AS ({inner}) SELECT zip, COUNT(*) AS n FROM s WHERE r = 1 GROUP BY zip"
        " HAVING COUNT(*) >= 20",
        dialect,
    )
    assert found.shape is None or "rowid" in name


@pytest.mark.parametrize(("dialect", "name"), _each(NO_TABLES))
def test_these_are_no_base_tables(dialect, name):
    found = proof(dialect, table=name)
    assert found.shape is None
    assert {finding.code for finding in found.findings} & {"V02", "V16"}


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("spark", "json_data.people"),
        ("spark", "main.people"),
        ("bigquery", "d.people"),
        ("bigquery", "`my-project.d.people`"),
        ("clickhouse", "systems.people"),
        ("postgres", "public.people"),
        ("postgres", "sys.people"),
        ("redshift", "public.stl_people"),
    ],
)
def test_these_are_base_tables(dialect, name):
    assert proof(dialect, table=name).findings == ()


def test_a_table_that_the_schema_has_is_one():
    schema = parse_schema('{"json.people": {"id": "bigint", "zip": "string"}}', "spark")
    assert prove(text("spark", table="json.people"), "spark", schema).findings == ()
