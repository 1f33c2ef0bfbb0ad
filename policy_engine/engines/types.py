"""What an engine calls its types: their names in DuckDB, in which schemas and catalogs are read.

A type that is not named has no meaning here: a column of it is read by no text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from policy_engine.engines import ENGINES

DECLARED = {
    "integer": "BIGINT",
    "double": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
"""The types that a policy can say a column is read as."""

_SIZED = """
        BOOLEAN: bool
        TINYINT: int8
        SMALLINT: int16
        INTEGER: int32
        BIGINT: int64
        UTINYINT: uint8
        USMALLINT: uint16
        UINTEGER: uint32
        UBIGINT: uint64
""".strip()
_TABLES = {
    "postgres": """
        BOOLEAN: boolean
        SMALLINT: smallint | int2
        INTEGER: integer | int4 | int
        BIGINT: bigint | int8
        DECIMAL: numeric | decimal
        FLOAT: real | float4
        DOUBLE: double precision | float8
        VARCHAR: text | varchar | character varying | char | character | bpchar
        DATE: date
        TIME: time without time zone
        TIMESTAMP: timestamp | timestamp without time zone
        TIMESTAMP WITH TIME ZONE: timestamptz | timestamp with time zone
        UUID: uuid
    """,
    "mariadb": """
        BOOLEAN: tinyint(1) | boolean | bool
        TINYINT: tinyint
        SMALLINT: smallint
        INTEGER: mediumint | int | integer
        BIGINT: bigint
        UTINYINT: tinyint unsigned
        USMALLINT: smallint unsigned
        UINTEGER: mediumint unsigned | int unsigned | integer unsigned
        UBIGINT: bigint unsigned
        DECIMAL: decimal | numeric | decimal unsigned
        FLOAT: float
        DOUBLE: double
        VARCHAR: char | varchar | tinytext | text | mediumtext | longtext
        DATE: date
        TIMESTAMP: datetime
        TIMESTAMP WITH TIME ZONE: timestamp
        UUID: uuid
    """,
    "spark": """
        BOOLEAN: boolean
        TINYINT: tinyint | byte
        SMALLINT: smallint | short
        INTEGER: int | integer
        BIGINT: bigint | long
        DOUBLE: double
        DECIMAL: decimal | dec | numeric
        VARCHAR: string | varchar | text
        DATE: date
        TIMESTAMP: timestamp_ntz | timestampntz
        TIMESTAMP WITH TIME ZONE: timestamp | timestamp_ltz | timestampltz | timestamptz
    """,
    "snowflake": """
        BOOLEAN: boolean
        DECIMAL: number | decimal
        BIGINT: number(38,0)
        DOUBLE: float
        VARCHAR: text | varchar
        DATE: date
        TIME: time
        TIMESTAMP: timestamp_ntz
        TIMESTAMP WITH TIME ZONE: timestamp_tz | timestamp_ltz
    """,
    "bigquery": """
        BOOLEAN: bool
        BIGINT: int64
        DECIMAL: numeric
        DOUBLE: float64
        VARCHAR: string
        DATE: date
        TIME: time
        TIMESTAMP: datetime
        TIMESTAMP WITH TIME ZONE: timestamp
    """,
    "redshift": """
        BOOLEAN: boolean
        SMALLINT: smallint
        INTEGER: integer
        BIGINT: bigint
        DECIMAL: numeric
        VARCHAR: char | character | varchar | character varying | text
        DATE: date
        TIMESTAMP: timestamp without time zone
        TIMESTAMP WITH TIME ZONE: timestamp with time zone
    """,
    "trino": """
        BOOLEAN: boolean
        TINYINT: tinyint
        SMALLINT: smallint
        INTEGER: integer
        BIGINT: bigint
        DECIMAL: decimal
        FLOAT: real
        DOUBLE: double
        VARCHAR: varchar
        DATE: date
        TIMESTAMP: timestamp(3) | timestamp(6)
        TIMESTAMP WITH TIME ZONE: timestamp(3) with time zone | timestamp(6) with time zone
        UUID: uuid
    """,
    "tsql": """
        SMALLINT: smallint
        INTEGER: int
        BIGINT: bigint
        DECIMAL: decimal | numeric
        FLOAT: real
        DOUBLE: float
        VARCHAR: char | nchar | varchar | nvarchar
        DATE: date
        TIMESTAMP: datetime2
        TIMESTAMP WITH TIME ZONE: datetimeoffset
        UUID: uniqueidentifier
    """,
    "clickhouse": f"""
        {_SIZED}
        FLOAT: float32
        DOUBLE: float64
        DECIMAL: decimal
        VARCHAR: string
        DATE: date | date32
        TIMESTAMP: datetime | datetime64(0) | datetime64(1) | datetime64(2) | datetime64(3)
        TIMESTAMP: datetime64(4) | datetime64(5) | datetime64(6)
        UUID: uuid
    """,
    "datafusion": f"""
        {_SIZED}
        FLOAT: float
        DOUBLE: double
        DECIMAL: decimal128
        VARCHAR: string | large_string | string_view
        DATE: date32[day]
        TIMESTAMP: timestamp[us]
    """,
    "sqlite": """
        BIGINT: int | integer
        DOUBLE: real
        VARCHAR: text
    """,
}
_BYTEWISE: Mapping[str, frozenset[str]] = {
    "mariadb": frozenset({"utf8mb4_nopad_bin"}),
    "mysql": frozenset({"utf8mb4_0900_bin"}),
    "redshift": frozenset(),
    "tsql": frozenset(),
}
"""The collations that compare bytes, where a text that is told none is compared by another."""

_TEXTS = frozenset({"VARCHAR", "CHAR", "TEXT", "STRING"})
_WHOLE = re.compile(r"(DECIMAL|NUMBER|NUMERIC)\([0-9]+, ?0\)")
_MOST_DIGITS = 38
_ARGUMENTS = re.compile(r"\s*\(([0-9, ]*)\)")


def _read(table: str) -> dict[str, str]:
    lines = [line.strip().split(": ") for line in table.strip().splitlines()]
    return {name: meaning for meaning, names in lines for name in names.split(" | ")}


_TYPES = {name: _read(table) for name, table in _TABLES.items()}
_read_once = cache(_read)


def types_of(engine: str) -> Mapping[str, str]:
    """The names of an engine's types, each with DuckDB's: its own, or its family's.

    DuckDB's own are called as they are.
    """
    table = ENGINES[engine]
    own = _TYPES.get(engine) or (_read_once(table.types) if table.types else None)
    return own or _TYPES.get(table.family, {})


def parser_of(engine: str) -> str:
    """The name by which sqlglot knows an engine's SQL.

    >>> parser_of("mariadb"), parser_of("trino"), parser_of("databricks")
    ('mysql', 'trino', 'databricks')
    """
    return ENGINES[engine].parser or engine


def type_of(engine: str, native: str) -> str:
    """DuckDB's name of a type; the engine's own, marked, where it has no meaning here.

    >>> type_of("postgres", "character varying(20)"), type_of("postgres", "jsonb")
    ('VARCHAR', 'OTHER JSONB')
    """
    text = " ".join(native.lower().split())
    arguments = _ARGUMENTS.search(text)
    bare = " ".join(_ARGUMENTS.sub(" ", text).split())
    meaning = types_of(engine).get(text) or types_of(engine).get(bare)
    if meaning == "DECIMAL" and arguments is not None:
        digits, _, places = (part.strip()[:9] for part in arguments[1].partition(","))
        # Whether every such number is one of a file, and of any other engine.
        is_plain = int(places or 0) <= int(digits or 0) <= _MOST_DIGITS
        meaning = f"DECIMAL({arguments[1]})" if is_plain else None
    elif (engine, meaning) == ("postgres", "DECIMAL"):
        meaning = None  # of any length: each value looks as it was written
    return f"OTHER {native.upper()}" if meaning is None else meaning


def told(engine: str, kind: str) -> str:
    """DuckDB's name of a type, the collation of its text told unless it compares bytes.

    >>> told("mariadb", "TEXT"), told("mariadb", "TEXT COLLATE utf8mb4_nopad_bin")
    ('TEXT COLLATE unknown', 'TEXT')
    """
    if engine == "snowflake" and _WHOLE.fullmatch(kind.upper()):
        return "BIGINT"  # a whole number is a NUMBER without decimal places
    if (engine, kind) == ("postgres", "DECIMAL"):
        return "OTHER DECIMAL"
    name, _, collation = kind.replace(" collate ", " COLLATE ").partition(" COLLATE ")
    is_text = name.upper().split("(")[0].strip() in _TEXTS
    bytewise = _BYTEWISE.get(engine)
    if bytewise is None or not is_text:
        return kind
    if collation.lower() in bytewise:
        return name
    return f"{name} COLLATE {collation or 'unknown'}"
