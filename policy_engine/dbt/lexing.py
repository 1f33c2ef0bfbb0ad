"""The words of a SQL text as its dialect writes them, and the functions that a reader must know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from policy_engine.dbt.naming import Name, Part
from policy_engine.engines.sql_rules import rules_of

STRING, QUOTED, WORD = "string", "quoted", "word"


def words(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(words("a b"))
    ['a', 'b']
    """
    return frozenset(text.split())


_RUNS = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)


class Token(NamedTuple):
    """A token and where it starts; ``word`` is a bare word in upper case, else ''."""

    kind: str
    text: str
    word: str = ""
    start: int = 0


def as_it_runs(text: str, dialect: str) -> str:
    """A text without what only looks like a comment: MySQL runs /*! … */."""
    return _RUNS.sub(r" \1 ", text) if rules_of(dialect).runs else text


def tokens(text: str, dialect: str = "") -> list[Token]:
    """The tokens of a text, without blanks, comments and numbers; behind them empty ones.

    A comment in a comment, and a quote behind a backslash where that escapes nothing, are the sign
    of a backslash: nobody knows where they end.

    >>> [token.text for token in tokens("select 1.from a -- b") if token.text]
    ['select', 'from', 'a']
    """
    return [*_tokens(text, dialect), *[Token("", "", "", len(text))] * 5]


def _tokens(text: str, dialect: str) -> Iterator[Token]:
    for found in _pattern(dialect).finditer(text.rstrip()):
        kind = str(found.lastgroup)
        written, start = found[kind], found.start(kind)
        if kind == WORD:
            yield Token(WORD, written, written.upper(), start)
        elif kind == "comment":
            if "/*" in written[2:]:
                yield Token("sign", "\\", "", start)
        elif kind != "number":
            yield Token(kind, written, "", start)
            escapes = kind == STRING and "\\'" in written and not rules_of(dialect).escapes
            if escapes or written in ("'", '"'):
                yield Token("sign", "\\", "", start)


@lru_cache(maxsize=16)
def _pattern(dialect: str) -> re.Pattern[str]:
    rules = rules_of(dialect)
    inner = r"(?:[^%s\\]|\\.|%s%s)*" if rules.escapes else "(?:[^%s]|%s%s)*"
    single, double = (f"{sign}{inner % (sign, sign, sign)}{sign}" for sign in "'\"")
    strings, names = [*rules.strings, single], ["`[^`]*`"]
    if rules.dollars:
        strings.append(r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$")
    (strings if rules.quotes else names).append(double)
    names += rules.names
    comments = (rules.dashes, r"/\*.*?\*/", *rules.comments)
    # A name that begins with a digit; a number has an e at most.
    word = r"(?:[^\W\d]|\d\w*?[^\W\d_eE])[\w$]*" + rules.word
    return re.compile(
        rf"""\s*+(?:(?P<comment>{"|".join(comments)})
        |(?P<string>{"|".join(strings)})
        |(?P<quoted>{"|".join(names)})
        |(?P<word>{word})
        |(?P<number>(?:\.(?!\d\w*?[^\W\d_eE]))?\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?)
        |(?P<sign>\S))""",
        re.DOTALL | re.VERBOSE,
    )


def part_of(token: Token) -> Part:
    """The part of a name that a word or what stands in quotes is."""
    sign = token.text[-1]
    quoted = token.kind == QUOTED
    return Part(token.text[1:-1].replace(sign * 2, sign) if quoted else token.text, quoted)


def name_at(found: list[Token], place: int) -> tuple[Name, int] | None:
    """The dotted name that starts at a token, and the place behind it.

    >>> name_at(tokens('from main."People" p'), 1)
    ((Part(text='main', quoted=False), Part(text='People', quoted=True)), 4)
    """
    parts: list[Part] = []
    while (token := found[place]).kind in (WORD, QUOTED):
        part = part_of(token)
        is_ticked = token.text[0] == "`"
        parts += [Part(each, True) for each in part.text.split(".")] if is_ticked else [part]
        if found[place + 1].text != ".":
            return tuple(parts), place + 1
        place += 2
        while found[place].text == ".":  # database..table
            parts.clear()
            place += 1
    return None


HARMLESS = words("""
    aggregate arrayjoin array_join connect_by_path cube explode explode_outer flatten
    exploding_generate_series generate_array generate_date_array generate_range generate_series
    generate_subscripts generate_timestamp_array generate_uuid generator inline inline_outer
    json_array_elements json_array_elements_text json_each json_each_text json_keys
    json_object_keys json_populate_recordset json_table json_to_record json_to_recordset json_tree
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys
    jsonb_path_query jsonb_populate_recordset jsonb_to_record jsonb_to_recordset nodes numbers
    numbers_mt openjson posexplode posexplode_outer range regexp_extract_all regexp_matches
    regexp_split_to_table repeat rowcount sequence split_to_table stack string_split
    string_to_table strtok_split_to_table table unnest unnest_to_rows values xmltable xml_table
    zeros zeros_mt
""")
"""Functions that may stand in FROM and hold no data of their own: they show what they are given."""

READERS = words("""
    cluster clusterallreplicas cursor_to_xml database_to_xml database_to_xml_and_xmlschema dblink
    dblink_exec dblink_fetch dblink_open dblink_send_query delta_scan deltalake dictget
    dictgetordefault dictgetornull dicthas external_query hdfs http_get http_post iceberg_scan
    identifier jdbc joinget joingetornull load_file lo_export lo_get lo_import mongodb mysql_query
    mysql_scan odbc openquery opendatasource openrowset parquet_scan pg_read_binary_file
    pg_read_file postgres_query postgres_scan postgres_scan_pushdown postgresql query_table
    query_to_xml query_to_xml_and_xmlschema read_avro read_blob read_csv read_csv_auto read_files
    read_gsheet read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson
    read_ndjson_auto read_ndjson_objects read_parquet read_text read_xlsx readcsv readparquet
    remotesecure result_scan s3cluster scan_arrow_ipc schema_to_xml schema_to_xml_and_xmlschema
    sniff_csv sqlite_query sqlite_scan st_read table_changes table_to_xml
    table_to_xml_and_xmlschema ts_rewrite ts_stat urlcluster
""")
"""Functions that read a table, a file or another server by what their texts say."""


def is_reader(function: str) -> bool:
    """Whether a function reads what its texts name: ClickHouse has one for each type of dictGet.

    >>> is_reader("dictGetString"), is_reader("upper")
    (True, False)
    """
    name = function.lower()
    return name in READERS or name.startswith(("dictget", "joinget"))


def holds_no_data(name: Name, dialect: str) -> bool:
    """Whether a relation is one of the engine's own that describes itself and no data.

    >>> tables = (Part("information_schema"), Part("tables"))
    >>> holds_no_data(tables, "duckdb"), holds_no_data(tables, "snowflake")
    (True, False)
    """
    parts = [part.text.lower() for part in name]
    schema, last = (parts[-2] if len(parts) > 1 else ""), parts[-1]
    if "information_schema" in parts[:-1]:
        return last in _INFORMATION or (last == "tables" and dialect in _TABLES_UNCOUNTED)
    if parts in (["dual"], ["sys", "dual"]):
        return True
    if schema == "pg_catalog" or (not schema and last.startswith("pg_")):
        return last.removeprefix("pg_") in _PG_CATALOG
    if schema == "system":
        return last in {"numbers", "numbers_mt", "one", "zeros", "databases"}
    if schema == "sys":
        return last in {"tables", "columns", "schemas", "objects", "views", "types", "all_objects"}
    if schema in {"", "main"}:
        return last in {"sqlite_master", "sqlite_schema", "sysdummy1"}
    return schema == "sysibm"


# Without what counts rows: pg_class, the last value of a sequence, Snowflake's and MySQL's tables.
_TABLES_UNCOUNTED = words("bigquery duckdb postgres redshift trino tsql")
_INFORMATION = words("""
    columns schemata views key_column_usage table_constraints referential_constraints
    check_constraints constraint_column_usage constraint_table_usage routines parameters domains
    triggers applicable_roles enabled_roles role_table_grants table_privileges column_privileges
""")
_PG_CATALOG = words("""
    tables attribute namespace type proc index indexes views matviews constraint database
    description roles user depend enum settings timezone_names timezone_abbrevs table_def
    extension language inherits
""")
