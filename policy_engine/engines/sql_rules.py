"""How an engine's SQL is read and written by what is no printer: names, texts, comments, types.

No certificate rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from policy_engine.values import frozen

_STANDARD = {
    "text": "varchar", "integer": "bigint", "decimal": "decimal(18, {})", "date": "date",
    "timestamp": "timestamp", "boolean": "boolean", "double": "double",
}  # fmt: skip


@frozen
class EngineRules:
    """The rules of one engine.

    ``folds`` is what the engine does to a name without quotes; without it every name is compared
    without case. A backslash ``escapes`` in a text, and ``quotes`` says that one may stand in
    double quotes. ``dollars``: one may stand between dollars. ``strings``, ``names`` and
    ``comments`` are patterns of others, ``dashes`` that of a comment of one line, ``word`` what may
    stand behind a word. Comments that it ``runs`` only look like some. ``aliases`` are other names
    of its types, and ``types`` those that a release has, where they are not the standard's;
    ``native`` are DuckDB's. ``read`` are the names of its types, a line for each of DuckDB's that
    they mean. Where a text that is told no collation is not compared by its bytes, ``bytewise`` are
    the collations that do so. A decimal without digits is of ``any_length``; one without places is
    a whole number where it has no other ``whole_numbers``. ``mask`` is the key that masks a column,
    ``everybody`` its own names of all grantees.
    """

    folds: Callable[[str], str] | None = None
    escapes: bool = False
    quotes: bool = False
    dollars: bool = True
    strings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dashes: str = r"--[^\r\n]*"
    comments: tuple[str, ...] = ()
    word: str = ""
    runs: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    native: Mapping[str, str] = field(default_factory=dict)
    read: str = ""
    bytewise: frozenset[str] | None = None
    any_length: bool = False
    whole_numbers: bool = False
    mask: str = ""
    everybody: frozenset[str] = frozenset()

    def type(self, kind: str, digits: int = 0) -> str:
        """A kind that a release has, or what is shown as text, as the engine writes it."""
        kind = kind if kind in _STANDARD else "text"
        return self.types.get(kind, _STANDARD[kind]).format(digits)


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
_INTEGERS = ("int", "integer", "bigint", "smallint", "tinyint", "byteint")
_HASH = r"\#[^\n]*"
_MYSQL = EngineRules(
    read="""
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
    bytewise=frozenset({"utf8mb4_nopad_bin"}),
    folds=str, escapes=True, quotes=True, dollars=False, dashes=r"--(?=\s)[^\n]*",
    comments=(_HASH,), runs=True,
    types={"text": "text", "timestamp": "datetime(6)", "boolean": "tinyint(1)"},
)  # fmt: skip
_SPARK = EngineRules(
    read="""
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
    escapes=True, quotes=True, strings=(r"[rR]'[^']*'", r'[rR]"[^"]*"'),
    types={"text": "string", "timestamp": "timestamp_ntz"},
)  # fmt: skip
_RULES: Mapping[str, EngineRules] = {
    "bigquery": EngineRules(
        read="""
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
        folds=str, escapes=True, quotes=True, strings=("'{3}.*?'{3}", '"{3}.*?"{3}'),
        comments=(_HASH,),
        word=r"(?:(?:-\w+)+(?=\.))?",  # the name of a project has dashes
        aliases={**dict.fromkeys(_INTEGERS, "int64"), "boolean": "bool", "decimal": "numeric"},
        types={
            "text": "string", "integer": "int64", "decimal": "numeric", "timestamp": "datetime",
            "boolean": "bool", "double": "float64",
        },
        mask="policy_tags",
    ),
    "clickhouse": EngineRules(
        read=f"""
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
        folds=str, escapes=True, dashes=r"--[^\n]*", comments=(r"\#[ !][^\n]*",),
        types={
            "text": "String", "integer": "Int64", "decimal": "Decimal(18, {})", "date": "Date32",
            "timestamp": "DateTime64(6, 'UTC')", "boolean": "Bool", "double": "Float64",
        },
        everybody=frozenset({"all"}),
    ),
    "datafusion": EngineRules(
        read=f"""
            {_SIZED}
            FLOAT: float
            DOUBLE: double
            DECIMAL: decimal128
            VARCHAR: string | large_string | string_view
            DATE: date32[day]
            TIMESTAMP: timestamp[us]
        """,
    ),
    "databricks": replace(_SPARK, mask="column_mask", everybody=frozenset({"users"})),
    "mariadb": _MYSQL,
    "mysql": replace(_MYSQL, bytewise=frozenset({"utf8mb4_0900_bin"})),
    "oracle": EngineRules(folds=str.upper),
    "postgres": EngineRules(
        read="""
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
        any_length=True,
        folds=str.lower,
        aliases={"bool": "boolean", "string": "text"},
        types={"text": "text", "decimal": "numeric(18, {})", "double": "double precision"},
        native={"DOUBLE": "double precision", "FLOAT": "real"},
    ),
    "redshift": EngineRules(
        read="""
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
        bytewise=frozenset(),
        aliases={
            "int2": "smallint", "int": "integer", "int4": "integer", "int8": "bigint",
            "bool": "boolean", "decimal": "numeric", "timestamp": "timestamp without time zone",
            "timestamptz": "timestamp with time zone",
        },
        types={"text": "varchar(max)", "decimal": "numeric(18, {})", "double": "double precision"},
    ),
    "snowflake": EngineRules(
        read="""
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
        whole_numbers=True,
        folds=str.upper, escapes=True, comments=(r"//[^\n]*",),
        aliases={
            **dict.fromkeys((*_INTEGERS, "number"), "number(38,0)"),
            **dict.fromkeys(("string", "char", "character"), "varchar"),
            **dict.fromkeys(("double", "double precision", "real", "float4", "float8"), "float"),
            "datetime": "timestamp_ntz",
        },
        types={"decimal": "number(18, {})", "timestamp": "timestamp_ntz", "double": "float"},
        mask="masking_policy",
    ),
    "spark": _SPARK,
    "sqlite": EngineRules(
        read="""
            BIGINT: int | integer
            DOUBLE: real
            VARCHAR: text
        """,
        types={"text": "text", "integer": "integer", "decimal": "numeric"},
    ),
    "trino": EngineRules(
        read="""
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
        aliases={"int": "integer", "timestamp": "timestamp(3)"},
        types={"timestamp": "timestamp(6)"},
    ),
    "tsql": EngineRules(
        read="""
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
        bytewise=frozenset(),
        names=(r"\[[^\]]*\]",),
        types={
            "text": "varchar(max)", "timestamp": "datetime2", "boolean": "bit", "double": "float",
        },
    ),
}  # fmt: skip
_PLAIN = EngineRules()


def rules_of(engine: str) -> EngineRules:
    """The rules of an engine; the plain ones of one that is not known.

    >>> rules_of("snowflake").type("decimal", 2), rules_of("duckdb").type("text")
    ('number(18, 2)', 'varchar')
    """
    return _RULES.get(engine, _PLAIN)
