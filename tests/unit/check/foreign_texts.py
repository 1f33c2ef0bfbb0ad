"""A release of a table whose columns nobody knows, in the words of each engine but DuckDB."""

from __future__ import annotations

_SALT = "(SELECT salt FROM {}policy_engine_salts WHERE release_id = 'next')"
_WAITS = _SALT.format("")
_BITS = "'0cccccccccccccc'"
_MARIADB = (
    "SHA2(CONCAT(@policy_engine_salt, ':u:', CAST({key} AS CHAR CHARACTER SET utf8mb4)), 256)"
    " COLLATE {} < " + _BITS
)
_SPARK = f"sha2({_WAITS} || ':u:' || CAST({{key}} AS STRING), 256) < {_BITS}"
SAMPLES = {
    "postgres": "sha256(convert_to(current_setting('policy_engine.salt') || ':u:' ||"
    " CAST({key} AS TEXT), 'UTF8')) < decode('0cccccccccccccc0', 'hex')",
    "mariadb": _MARIADB.replace("COLLATE {}", "COLLATE utf8mb4_nopad_bin"),
    "mysql": _MARIADB.replace("COLLATE {}", "COLLATE utf8mb4_0900_bin"),
    "spark": _SPARK,
    "databricks": _SPARK,
    "snowflake": f"SHA2($policy_engine_salt || ':u:' || CAST({{key}} AS VARCHAR), 256) < {_BITS}",
    "bigquery": f"TO_HEX(SHA256({_SALT.format('d.')} || ':u:' || CAST({{key}} AS STRING)))"
    f" < {_BITS}",
    "redshift": f"SHA2({_WAITS} || ':u:' || CAST({{key}} AS VARCHAR(MAX)), 256) < {_BITS}",
    "trino": f"LOWER(TO_HEX(SHA256(TO_UTF8({_WAITS} || ':u:' || CAST({{key}} AS VARCHAR)))))"
    f" < {_BITS}",
    "tsql": "HASHBYTES('SHA2_256', CAST((SELECT [salt] FROM [policy_engine_salts] WHERE"
    " [release_id] = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST({key} AS VARCHAR(40))))"
    " < CONVERT(VARBINARY(8), '0ccccccccccccccc', 2)",
    "clickhouse": "lower(hex(SHA256({{salt:String}} || ':u:' || toString({key}))))"
    f" < {_BITS}",
    "datafusion": f"encode(sha256($salt || ':u:' || CAST({{key}} AS VARCHAR)), 'hex') < {_BITS}",
    "sqlite": "policy_engine_sha256(CAST(:salt || ':u:' || CAST({key} AS TEXT) AS BLOB))"
    f" < {_BITS}",
}
_LAST = {
    **dict.fromkeys(("mariadb", "mysql"), "{0} IS NULL, {0}"),
    "tsql": "CASE WHEN {0} IS NULL THEN 1 ELSE 0 END, {0}",
}


def text(dialect: str) -> str:
    """How many people there are of each zip code, sampled by their number."""
    sample = SAMPLES[dialect].format(key="id")
    order = _LAST.get(dialect, "{0}").format("zip")
    return (
        f"SELECT zip, COUNT(*) AS n FROM people WHERE {sample}"
        f" GROUP BY zip HAVING COUNT(*) >= 20 ORDER BY {order}"
    )
