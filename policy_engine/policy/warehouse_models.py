"""The warehouses of a project file, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from policy_engine.policy import fields, laws
from policy_engine.policy.documents import Document
from policy_engine.policy.laws import Ruled, barred, refusal
from policy_engine.policy.scalars import show
from policy_engine.policy.urls import example_of, wrong_url

WAREHOUSES = ("dbt", "duckdb", "postgres", "spark", "mariadb", "clickhouse", "datafusion", "sqlite")
"""The kinds of warehouse that can be connected to; ``dbt`` is the one of a dbt profile."""
_EMBEDDED = ("duckdb", "datafusion", "sqlite")
_EITHER = ("clickhouse",)
COMPILED = {
    **{name: name for name in ("snowflake", "bigquery", "redshift", "trino", "tsql", "mysql")},
    "databricks": "databricks",
    "athena": "trino",
    "presto": "trino",
    "sqlserver": "tsql",
    "mssql": "tsql",
}
"""Other engines, by the names that they go by, each with the name of its dialect."""


def _kind(found: object) -> str:
    """A kind of warehouse that is connected to."""
    if isinstance(found, str) and found.lower() in COMPILED:
        raise refusal(
            f"must be {', '.join(WAREHOUSES[:-1])} or {WAREHOUSES[-1]}, found {show(found)}",
            f"to {found} nothing connects: 'policy-engine compile --dialect"
            f" {COMPILED[found.lower()]}' writes the SQL of a policy",
        )
    return str(laws.one_of(*WAREHOUSES)(found))


class WarehouseSpec(Document):
    """A warehouse."""

    type: Annotated[str, Ruled(_kind, {"enum": list(WAREHOUSES)})]
    """The engine."""
    database: fields.OptionalLineField = None
    """The database's file, of an embedded engine; without it DuckDB's database is in memory."""
    url: fields.OptionalLineField = None
    """Where a server is; write its password as `{{ env_var('X') }}`."""
    memory_limit: fields.OptionalSizeField = None
    """Beyond which DuckDB spills to the disk, as in `2GB`."""
    threads: fields.OptionalPositiveField = None
    """How many threads DuckDB uses."""
    profile: fields.OptionalLineField = None
    """The name of a profile in dbt's profiles.yml, whose connection is used."""
    target: fields.OptionalLineField = None
    """The profile's target; the default is the profile's own."""
    profiles_dir: fields.OptionalLineField = None
    """The folder of profiles.yml; the default is dbt's: DBT_PROFILES_DIR, here, or ~/.dbt."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """A file of an embedded engine, or the URL of a server."""
        kind = data.get("type")
        if kind not in WAREHOUSES:
            return
        if kind != "duckdb":
            yield from barred(data, ("memory_limit", "threads"), "is a setting of DuckDB's alone")
        yield from _of_a_profile(kind, data)
        if kind != "dbt":
            yield from _of_a_place(kind, data)


def _of_a_place(kind: str, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law of where a warehouse is: a file or folder of this machine, or a server's URL."""
    is_file = kind in _EMBEDDED or (kind in _EITHER and "database" in data and "url" not in data)
    wanted, other = ("database", "url") if is_file else ("url", "database")
    remedy = f"a warehouse of type {kind} has {wanted}"
    yield from barred(data, [other], "has no meaning here", remedy)
    if is_file:
        return
    url = data.get("url")
    if "url" not in data:
        folder = ", or write database: FOLDER" if kind in _EITHER else ""
        yield refusal("is missing", f"as in {example_of(kind)}{folder}", at=("url",))
    elif isinstance(url, str) and not url.startswith("{{"):
        # What the environment lacks may be any part of it, a port too.
        wrong = wrong_url(kind, re.sub(r"\{\{.*?\}\}", "0", url))
        if wrong:
            yield refusal(*wrong, at=("url",))


def _of_a_profile(kind: object, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law of a dbt profile: it is named, and what it says is not said twice."""
    own = ("database", "url") if kind == "dbt" else ("profile", "target", "profiles_dir")
    law = "stands in the dbt profile" if kind == "dbt" else "needs type: dbt"
    yield from barred(data, own, law)
    if kind == "dbt" and "profile" not in data:
        yield refusal("is missing", "name a profile of profiles.yml", at=("profile",))
