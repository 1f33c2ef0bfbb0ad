"""From a warehouse that a project names to a connection.

A dbt profile is one too, as its profiles.yml stands, without dbt: only what stands in the file or
in the environment is used, and no macro of dbt runs. A profile of a type that there is no
connection for is refused with what can be done instead.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urlencode

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from policy_engine.engines import ENGINES
from policy_engine.errors import FileError, WarehouseError, to_install
from policy_engine.opening import text_in
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import Profile, filled
from policy_engine.warehouse.base import Warehouse

FILE = "profiles.yml"
FILES = Named("duckdb")
"""The embedded engine that reads files."""

_DRIVERS = {
    "postgres": ("psycopg", "postgres"),
    "spark": ("pyspark", "spark"),
    "mariadb": ("pymysql", "mysql"),
    "datafusion": ("datafusion", "datafusion"),
}
"""The module of an engine's driver, and the extra of this package that installs it."""
_KINDS = ("duckdb", "postgres")
"""The types of a profile that a connection is made by."""


def connected(named: Named, *, writable: bool = False) -> Warehouse:
    """A connection to a warehouse; ``writable`` where a release goes into it.

    Raises:
        WarehouseError: its driver is not installed, or does not load; or it does not answer.
    """
    named = resolved(named)
    if named.type in _DRIVERS:
        _load(named, *_DRIVERS[named.type])
    # Each is imported on use: every command would otherwise wait for every engine's driver to load.
    match named.type:
        case "postgres":
            from policy_engine.warehouse.postgres import PostgresWarehouse

            return PostgresWarehouse(named.name, named.url, named.settings)
        case "spark":
            from policy_engine.warehouse.spark import SparkWarehouse

            return SparkWarehouse(named.name, named.url)
        case "mariadb":
            from policy_engine.warehouse.mysql import MariaDBWarehouse

            return MariaDBWarehouse(named.name, named.url, named.settings)
        case "clickhouse":
            from policy_engine.warehouse.clickhouse import ClickHouseWarehouse

            return ClickHouseWarehouse(named.name, named.database, named.url)
        case "datafusion":
            from policy_engine.warehouse.datafusion import DataFusionWarehouse

            return DataFusionWarehouse(named.name, named.database, writable=writable)
        case "sqlite":
            from policy_engine.warehouse.sqlite import SQLiteWarehouse

            return SQLiteWarehouse(named.name, named.database, writable=writable)
    if named.type != FILES.type:
        return _of_a_package(named, writable=writable)
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    return DuckDBWarehouse(
        named.name,
        named.database,
        writable=writable,
        memory_limit=named.memory_limit,
        threads=named.threads,
    )


def _of_a_package(named: Named, *, writable: bool) -> Warehouse:
    """The warehouse that a package brings with its engine.

    It is called with its name, and its file or URL as the project file has it.
    """
    engine = ENGINES[named.type]
    try:
        module, _, name = engine.warehouse.partition(":")
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise WarehouseError(
            f"warehouse {named.name}: {engine.warehouse!r} of the package {engine.package} cannot"
            f" be loaded, {error}"
        ) from None
    opened = kind(named.name, database=named.database, url=named.url, writable=writable)
    if not isinstance(opened, Warehouse):
        raise WarehouseError(
            f"warehouse {named.name}: {engine.warehouse} of the package {engine.package} must be a"
            " Warehouse"
        )
    return opened


def _load(named: Named, driver: str, extra: str) -> None:
    """Import a driver, which may be there and lack a library of the machine."""
    try:
        import_module(driver)
    except ImportError:
        found = "cannot be loaded" if find_spec(driver) is not None else "is not installed"
        raise WarehouseError(
            f"warehouse {named.name}: the driver of {named.type}, {driver}, {found}; run"
            f" {to_install(extra)}",
            code="driver_missing",
        ) from None


def resolved(named: Named, environ: Mapping[str, str] | None = None) -> Named:
    """A warehouse of type ``dbt`` as the one that its profile names; any other as it is.

    Raises:
        FileError: there is no profiles.yml, or it cannot be read.
        WarehouseError: it has no such profile or target, or one of another type; or what it takes
            from the environment is not there.
    """
    if named.missing:
        raise WarehouseError(named.missing, code="setting_missing")
    profile = named.profile
    if profile is None:
        return named
    environ = os.environ if environ is None else environ
    file = _file(profile, environ)
    values = {}
    for key, value in _output(profile, profiles_in(file), file).items():

        def refuse(wrong: str, remedy: str, key: str = key) -> None:
            raise WarehouseError(f"{file}: {key} {wrong}" + (f"; {remedy}" if remedy else ""))

        values[key] = filled(value, environ, refuse) if isinstance(value, str) else value
    kind = str(values.get("type"))
    if not is_connected_to(kind):
        raise WarehouseError(
            f"{file}: the profile {profile.name} is of type {kind}, which is not connected to;"
            f" known: {', '.join(_KINDS)}; 'policy-engine compile --dialect' writes its SQL"
        )
    named = replace(named, profile=None)
    if kind == "postgres":
        return replace(named, type=kind, url=_url(values))
    path = str(values.get("path") or ":memory:")
    if path == ":memory:" or "://" in path or path.startswith("md:"):
        raise WarehouseError(f"{file}: path must be a database file of this machine, found {path}")
    # As dbt does: relative to where the command runs.
    database = Path(path).absolute()
    return replace(named, name=database.stem, type=kind, database=database)


def _file(profile: Profile, environ: Mapping[str, str]) -> Path:
    """The profiles.yml that dbt would read."""
    given = profile.folder or environ.get("DBT_PROFILES_DIR")
    remedy = "name its folder with profiles_dir"
    if given:
        remedy = f"{'profiles_dir' if profile.folder else 'DBT_PROFILES_DIR'} names that folder"
    return profiles_file(given, [profile.project], remedy)


def profiles_file(given: str | Path | None, folders: Sequence[Path], remedy: str) -> Path:
    """The profiles.yml in a folder that is ``given``, else in one of ``folders``, else in ~/.dbt.

    Raises FileError: there is none.
    """
    looked = [Path(given)] if given else [*folders, Path.home() / ".dbt"]
    file = next((each / FILE for each in looked if (each / FILE).is_file()), None)
    if file is None:
        where = " and ".join(dict.fromkeys(map(str, looked)))
        raise FileError(f"there is no {FILE} in {where}; {remedy}")
    return file


def profiles_in(file: Path) -> Mapping[str, object]:
    """The profiles of a profiles.yml by name, as they stand there.

    Raises:
        FileError: it cannot be read.
    """
    try:
        found = YAML(typ="safe", pure=True).load(text_in(file))
    except (OSError, UnicodeDecodeError, YAMLError):
        raise FileError(f"{file} cannot be read as YAML") from None
    return found if isinstance(found, dict) else {}


def _output(profile: Profile, profiles: Mapping[str, object], file: Path) -> Mapping[str, object]:
    """The output of a profile's target."""
    found = profiles.get(profile.name)
    if not isinstance(found, dict) or not isinstance(found.get("outputs"), dict):
        known = ", ".join(str(name) for name in profiles if name != "config") or "none"
        raise WarehouseError(f"{file} has no profile {profile.name}; it has {known}")
    target = profile.target or str(found.get("target", "default"))
    output = found["outputs"].get(target)
    if not isinstance(output, dict):
        known = ", ".join(map(str, found["outputs"]))
        raise WarehouseError(
            f"{file}: the profile {profile.name} has no target {target}; it has {known}"
        )
    return output


def _url(values: Mapping[str, object]) -> str:
    """The URL of a PostgreSQL server."""

    def told(*keys: str) -> str:
        return next((str(values[key]) for key in keys if values.get(key)), "")

    user, host = quote(told("user"), safe=""), told("host")
    password = quote(told("password", "pass"), safe="")
    database = quote(told("dbname", "database"), safe="")
    # A folder is the place of a socket, and stands behind the question mark.
    options = {"host": host} if host.startswith("/") else {}
    if sslmode := told("sslmode"):
        options["sslmode"] = sslmode
    # A name without a schema is one of the profile's.
    schema = told("schema").replace('"', '""')
    settings = {"role": told("role"), "search_path": schema and f'"{schema}"'}
    # As libpq takes a setting: a blank ends one unless a backslash is before.
    escaped = {name: v.replace("\\", "\\\\").replace(" ", "\\ ") for name, v in settings.items()}
    if given := " ".join(f"-c {name}={value}" for name, value in escaped.items() if value):
        options["options"] = given
    place = "" if host.startswith("/") else f"{host}:{values.get('port') or 5432}"
    login = f"{user}:{password}@" if password else f"{user}@"
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return f"postgresql://{login}{place}/{database}{query}"


def is_connected_to(adapter: str) -> bool:
    """Whether a profile of this type is one that a connection is made by.

    >>> is_connected_to("postgres"), is_connected_to("bigquery")
    (True, False)
    """
    return adapter in _KINDS
