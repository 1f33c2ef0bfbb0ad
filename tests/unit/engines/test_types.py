"""What the types of an engine are called here, in a catalog and in a schema."""

from json import dumps

import pytest

from policy_engine.check.ddl import parse_schema
from policy_engine.engines import ENGINES
from policy_engine.engines.types import told, type_of, types_of

OTHERS = [name for name in ENGINES if name != "duckdb"]


@pytest.mark.parametrize("engine", OTHERS)
def test_an_engine_has_names_for_numbers_and_texts(engine):
    assert {"BIGINT", "VARCHAR"} <= set(types_of(engine).values())
    assert type_of(engine, "what") == "OTHER WHAT"


@pytest.mark.parametrize(
    ("engine", "native", "kind"),
    [
        ("postgres", "character varying(20)", "VARCHAR"),
        ("postgres", "timestamp(3) without time zone", "TIMESTAMP"),
        ("postgres", "numeric(38,0)", "DECIMAL(38,0)"),
        ("postgres", "numeric(39,0)", "OTHER NUMERIC(39,0)"),
        ("postgres", "numeric(400,2)", "OTHER NUMERIC(400,2)"),
        ("postgres", "numeric(3,5)", "OTHER NUMERIC(3,5)"),
        ("postgres", "numeric(3,-2)", "OTHER NUMERIC(3,-2)"),
        ("postgres", "numeric", "OTHER NUMERIC"),
        ("redshift", "numeric", "DECIMAL"),
        ("mariadb", "tinyint(1)", "BOOLEAN"),
        ("mariadb", "tinyint(4)", "TINYINT"),
        ("mariadb", "int(10) unsigned", "UINTEGER"),
        ("mariadb", "int(5) unsigned zerofill", "OTHER INT(5) UNSIGNED ZEROFILL"),
        ("mariadb", "decimal(65,2)", "OTHER DECIMAL(65,2)"),
        ("mariadb", "datetime(6)", "TIMESTAMP"),
        ("mysql", "timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("mysql", "year(4)", "OTHER YEAR(4)"),
        ("spark", "timestamp_ntz", "TIMESTAMP"),
        ("spark", "char(5)", "OTHER CHAR(5)"),
        ("spark", "float", "OTHER FLOAT"),
        ("databricks", "decimal(10,2)", "DECIMAL(10,2)"),
        ("snowflake", "NUMBER(38,0)", "BIGINT"),
        ("snowflake", "TIMESTAMP_NTZ(9)", "TIMESTAMP"),
        ("snowflake", "VARIANT", "OTHER VARIANT"),
        ("bigquery", "timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("redshift", "double precision", "OTHER DOUBLE PRECISION"),
        ("trino", "timestamp(6) with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("trino", "timestamp(9)", "OTHER TIMESTAMP(9)"),
        ("tsql", "bit", "OTHER BIT"),
        ("clickhouse", "DateTime64(7)", "OTHER DATETIME64(7)"),
        ("datafusion", "timestamp[us]", "TIMESTAMP"),
        ("sqlite", "date", "OTHER DATE"),
    ],
)
def test_a_type_has_its_meaning_or_none(engine, native, kind):
    assert type_of(engine, native) == kind


def test_a_whole_number_of_snowflake_is_a_number_without_decimal_places():
    assert told("snowflake", "DECIMAL(38,0)") == "BIGINT"
    assert told("snowflake", "DECIMAL(10,2)") == "DECIMAL(10,2)"


@pytest.mark.parametrize("collation", ["", " COLLATE utf8mb4_bin", " COLLATE utf8mb4_nopad_bin"])
def test_a_text_of_a_schema_that_nobody_told_has_a_collation(collation):
    ddl = f"CREATE TABLE people (id BIGINT, zip VARCHAR(9){collation}, age INT)"
    json = f'{{"people": {{"id": "BIGINT", "zip": "VARCHAR{collation}", "age": "INT"}}}}'
    for text in (ddl, json):
        kind = parse_schema(text, "mariadb").tables["people"]["zip"]
        assert ("COLLATE" in kind) is ("nopad_bin" not in collation)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_a_text_of_another_engines_schema_has_none(engine):
    kind = parse_schema("CREATE TABLE people (zip VARCHAR)", engine).tables["people"]["zip"]
    assert kind in {"TEXT", "VARCHAR"}


@pytest.mark.parametrize(
    ("engine", "kind", "told_as"),
    [("postgres", "char(5)", "TEXT(5)"), ("postgres", "numeric", "OTHER DECIMAL"),
     ("redshift", "char(5)", "TEXT(5) COLLATE unknown"), ("duckdb", "char(5)", "TEXT")],
)  # fmt: skip
def test_equal_values_that_look_different_have_no_type(engine, kind, told_as):
    assert parse_schema(f"CREATE TABLE t (x {kind})", engine).tables["t"] == {"x": told_as}


@pytest.mark.parametrize(
    ("engine", "kind", "told_as"),
    [
        ("snowflake", "NUMBER", "BIGINT"),
        ("snowflake", "TIMESTAMP_NTZ", "TIMESTAMP"),
        ("snowflake", "TIMESTAMP_LTZ", "TIMESTAMPTZ"),
        ("snowflake", "DATETIME", "TIMESTAMP"),
        ("snowflake", "VARCHAR COLLATE 'en-ci'", "TEXT COLLATE 'en-ci'"),
        ("bigquery", "TIMESTAMP", "TIMESTAMPTZ"),
        ("databricks", "TIMESTAMP", "TIMESTAMPTZ"),
        ("tsql", "NVARCHAR(20)", "TEXT(20) COLLATE unknown"),
        ("trino", "CHAR(3)", "OTHER TEXT(3)"),
        ("postgres", "numeric", "OTHER DECIMAL"),
        ("duckdb", "INTEGER GENERATED ALWAYS AS (1 / a)", "OTHER COMPUTED"),
    ],
)
def test_json_reads_an_engines_own_types_as_ddl_does(engine, kind, told_as):
    """It knew DuckDB's names alone, and took an instant of BigQuery for a time without a zone."""
    ddl = parse_schema(f"CREATE TABLE t (x {kind})", engine)
    json = parse_schema(dumps({"t": {"x": kind}}), engine)
    assert json.tables == ddl.tables == {"t": {"x": told_as}}


@pytest.mark.parametrize(
    "kind", ["", "OTHER JSONB", "BIGINT, y INT", "BIGINT) AS SELECT 1 --", "a("]
)
def test_what_is_no_type_of_one_column_is_as_it_is_written(kind):
    assert parse_schema(dumps({"t": {"x": kind}}), "postgres").tables["t"] == {"x": kind}
