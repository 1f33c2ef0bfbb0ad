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
    ``native`` are DuckDB's. ``mask`` is the key that masks a column, ``everybody`` its own names of
    all grantees.
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
    mask: str = ""
    everybody: frozenset[str] = frozenset()

    def type(self, kind: str, digits: int = 0) -> str:
        """A kind that a release has, or what is shown as text, as the engine writes it."""
        kind = kind if kind in _STANDARD else "text"
        return self.types.get(kind, _STANDARD[kind]).format(digits)


_INTEGERS = ("int", "integer", "bigint", "smallint", "tinyint", "byteint")
_HASH = r"\#[^\n]*"
_MYSQL = EngineRules(
    folds=str, escapes=True, quotes=True, dollars=False, dashes=r"--(?=\s)[^\n]*",
    comments=(_HASH,), runs=True,
    types={"text": "text", "timestamp": "datetime(6)", "boolean": "tinyint(1)"},
)  # fmt: skip
_SPARK = EngineRules(
    escapes=True, quotes=True, strings=(r"[rR]'[^']*'", r'[rR]"[^"]*"'),
    types={"text": "string", "timestamp": "timestamp_ntz"},
)  # fmt: skip
_RULES: Mapping[str, EngineRules] = {
    "bigquery": EngineRules(
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
        folds=str, escapes=True, dashes=r"--[^\n]*", comments=(r"\#[ !][^\n]*",),
        types={
            "text": "String", "integer": "Int64", "decimal": "Decimal(18, {})", "date": "Date32",
            "timestamp": "DateTime64(6, 'UTC')", "boolean": "Bool", "double": "Float64",
        },
        everybody=frozenset({"all"}),
    ),
    "databricks": replace(_SPARK, mask="column_mask", everybody=frozenset({"users"})),
    "mariadb": _MYSQL,
    "mysql": _MYSQL,
    "oracle": EngineRules(folds=str.upper),
    "postgres": EngineRules(
        folds=str.lower,
        aliases={"bool": "boolean", "string": "text"},
        types={"text": "text", "decimal": "numeric(18, {})", "double": "double precision"},
        native={"DOUBLE": "double precision", "FLOAT": "real"},
    ),
    "redshift": EngineRules(
        aliases={
            "int2": "smallint", "int": "integer", "int4": "integer", "int8": "bigint",
            "bool": "boolean", "decimal": "numeric", "timestamp": "timestamp without time zone",
            "timestamptz": "timestamp with time zone",
        },
        types={"text": "varchar(max)", "decimal": "numeric(18, {})", "double": "double precision"},
    ),
    "snowflake": EngineRules(
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
    "sqlite": EngineRules(types={"text": "text", "integer": "integer", "decimal": "numeric"}),
    "trino": EngineRules(
        aliases={"int": "integer", "timestamp": "timestamp(3)"}, types={"timestamp": "timestamp(6)"}
    ),
    "tsql": EngineRules(
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
