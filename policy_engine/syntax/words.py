"""Names that are no columns of a table, though they stand where a column does.

Where an engine runs here, all words of its grammar and all names of its functions were asked for;
elsewhere the tables are those of the vendor's documentation.
"""

from __future__ import annotations

import re

from sqlglot import exp

from policy_engine.syntax.names import fold

_CLOCKS = frozenset({"current_date", "current_time", "current_timestamp"})
_STANDARD = _CLOCKS | {
    "user", "current_user", "session_user", "system_user", "current_role", "current_catalog",
    "current_schema", "localtime", "localtimestamp",
}  # fmt: skip
_MARIADB = _CLOCKS | {
    "current_user", "current_role", "localtime", "localtimestamp", "utc_date", "utc_time",
    "utc_timestamp",
}  # fmt: skip
_SNOWFLAKE = _CLOCKS | {
    "localtime", "localtimestamp", "getdate", "sysdate", "systimestamp", "sysdatetime",
    *(
        f"current_{what}" for what in (
            "account", "account_name", "available_roles", "client", "database", "ip_address",
            "organization_name", "organization_user", "region", "role", "role_type", "schema",
            "schemas", "secondary_roles", "session", "statement", "transaction", "user", "version",
            "warehouse",
        )
    ),
}  # fmt: skip

_FUNCTIONS: dict[str, frozenset[str]] = {
    "postgres": _STANDARD,
    "redshift": _STANDARD | {"current_user_id", "sysdate"},
    "mariadb": _MARIADB,
    "mysql": _MARIADB,
    "snowflake": _SNOWFLAKE,
    "bigquery": _CLOCKS | {"current_datetime"},
    "trino": _STANDARD - {"user", "session_user", "system_user"} | {"current_path"},
    "tsql": _CLOCKS | {"user", "current_user", "session_user", "system_user"}
    | {"identitycol", "rowguidcol"},
    "spark": frozenset({"current_path"}),
    "databricks": frozenset({"current_path"}),
    "clickhouse": frozenset({"nan", "inf", "infinity"}),
    "datafusion": _CLOCKS,
    "sqlite": _CLOCKS,
}  # fmt: skip
"""Words that are no column unless they stand in quotes, or behind the name of the table."""

_SPARK = _CLOCKS | {"user", "current_user", "session_user", "localtime", "grouping__id"}
_FALLBACKS: dict[str, frozenset[str]] = {
    "duckdb": _STANDARD - {"system_user"} | {"filename"},
    "spark": _SPARK,
    "databricks": _SPARK | {"current_catalog", "current_database", "current_schema"},
    "clickhouse": _CLOCKS | {
        "curdate", "current_database", "current_user", "database", "localtime", "localtimestamp",
        "now", "schema", "session_user", "today", "user",
    },
}  # fmt: skip
"""Functions, in quotes too, where the table has no column of that name."""

_ROWS = frozenset({"duckdb", "postgres", "redshift", "bigquery"})
"""Where the name of a table is a row of it, if it has no column of that name."""
_CALLED = frozenset({"postgres", "redshift"})
"""Where ``people.f`` calls f of a row, if people has no column of that name."""

_SYSTEM = r"ctid|x(min|max)|c(min|max)|tableoid|oid"
_HIDDEN: dict[str, str] = {
    "postgres": _SYSTEM,
    "redshift": rf"{_SYSTEM}|deletexid|insertxid|\$.*",
    "mariadb": "_rowid",
    "mysql": "_rowid",
    "sqlite": "oid|_rowid_",
    "spark": "_metadata",
    "databricks": "_metadata",
    "snowflake": r"metadata\$.*",
    "bigquery": "_(partition|table_|file_|row_timestamp|_root__|colidentifier|change_type).*",
    "trino": r"\$.*",
    "tsql": r"\$.*",
    "clickhouse": "_(part|block_|database|table|disk_name|distance|row_|sample_factor|shard_num|"
    "path|file|size|time|etag|topic|key|offset|headers|raw_).*",
}
"""What a table has beside its own columns: where a row stands, and when it came there."""


def is_function(node: exp.Column, dialect: str) -> bool:
    """Whether a name without quotes is a function, whatever columns there are.

    >>> import sqlglot
    >>> [is_function(sqlglot.column(name, quoted=q), "postgres")
    ...  for name, q in (("user", False), ("user", True), ("zip", False))]
    [True, False, False]
    """
    plain = not node.table and isinstance(node.this, exp.Identifier) and not node.this.quoted
    return plain and fold(node.name) in _FUNCTIONS.get(dialect, ())


def is_hidden(name: str, dialect: str) -> bool:
    """Whether every table of the engine has a column called ``name`` that is not its own.

    >>> is_hidden("ctid", "postgres"), is_hidden("ctid", "sqlite")
    (True, False)
    """
    hidden = _HIDDEN.get(dialect)
    return hidden is not None and re.fullmatch(hidden, fold(name)) is not None


def stands_for_more(node: exp.Column, names: frozenset[str], dialect: str) -> bool:
    """Whether a name is something else where the table, known by ``names``, has no such column."""
    if node.table:
        return dialect in _CALLED
    name = fold(node.name)
    return name in _FALLBACKS.get(dialect, ()) or (dialect in _ROWS and name in names)
