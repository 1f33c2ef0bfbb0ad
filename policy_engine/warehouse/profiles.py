"""The connection of a dbt profile: profiles.yml as dbt reads it, without dbt.

Only what stands in the file or in the environment is used: no macro of dbt runs. A profile of a
type that the engine has no connection for is refused with what can be done instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from policy_engine.errors import FileError, WarehouseError
from policy_engine.policy.project import Profile, Warehouse, filled

FILE = "profiles.yml"


def resolved(named: Warehouse, environ: Mapping[str, str] | None = None) -> Warehouse:
    """A warehouse of type ``dbt`` as the one that its profile names; any other as it is.

    Raises:
        FileError: there is no profiles.yml, or it cannot be read.
        WarehouseError: it has no such profile or target, or one of another type; or what it takes
            from the environment is not there.
    """
    if named.missing:
        raise WarehouseError(named.missing)
    profile = named.profile
    if profile is None:
        return named
    environ = os.environ if environ is None else environ
    file = _file(profile, environ)
    output = _output(profile, profiles_in(file), file)
    values = {key: _value(value, key, file, environ) for key, value in output.items()}
    kind = str(values.get("type"))
    if kind not in _KINDS:
        raise WarehouseError(
            f"{file}: the profile {profile.name} is of type {kind}, which is not connected to;"
            f" known: {', '.join(_KINDS)}; 'policy-engine compile --dialect' writes its SQL"
        )
    return _KINDS[kind](replace(named, profile=None), values, file)


def _file(profile: Profile, environ: Mapping[str, str]) -> Path:
    """The profiles.yml that dbt would read."""
    given = profile.folder or environ.get("DBT_PROFILES_DIR")
    folders = [Path(given)] if given else [profile.project, Path.home() / ".dbt"]
    for folder in folders:
        if (folder / FILE).is_file():
            return folder / FILE
    looked = " and ".join(str(folder) for folder in folders)
    remedy = "name its folder with profiles_dir"
    if given:
        remedy = f"{'profiles_dir' if profile.folder else 'DBT_PROFILES_DIR'} names that folder"
    raise FileError(f"there is no {FILE} in {looked}; {remedy}")


def profiles_in(file: Path) -> Mapping[str, Any]:
    """The profiles of a profiles.yml by name, as they stand there.

    Raises:
        FileError: it cannot be read.
    """
    try:
        found = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError):
        raise FileError(f"{file} cannot be read as YAML") from None
    return found if isinstance(found, dict) else {}


def _output(profile: Profile, profiles: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
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


def _value(value: object, key: str, file: Path, environ: Mapping[str, str]) -> object:
    def refuse(wrong: str, remedy: str) -> None:
        raise WarehouseError(f"{file}: {key} {wrong}" + (f"; {remedy}" if remedy else ""))

    return filled(value, environ, refuse) if isinstance(value, str) else value


def _postgres(named: Warehouse, values: Mapping[str, Any], file: Path) -> Warehouse:
    user, password = (quote(str(values.get(key) or ""), safe="") for key in ("user", "password"))
    password = password or quote(str(values.get("pass") or ""), safe="")
    host = str(values.get("host") or "")
    database = quote(str(values.get("dbname") or values.get("database") or ""), safe="")
    # A folder is the place of a socket, and stands behind the question mark.
    options = {"host": host} if host.startswith("/") else {}
    if values.get("sslmode"):
        options["sslmode"] = str(values["sslmode"])
    # A name without a schema is one of the profile's.
    schema = str(values.get("schema") or "").replace('"', '""')
    settings = {"role": str(values.get("role") or ""), "search_path": schema and f'"{schema}"'}
    told = [_setting(name, value) for name, value in settings.items() if value]
    if told:
        options["options"] = " ".join(told)
    place = "" if host.startswith("/") else f"{host}:{values.get('port') or 5432}"
    login = f"{user}:{password}@" if password else f"{user}@"
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return replace(named, type="postgres", url=f"postgresql://{login}{place}/{database}{query}")


def _setting(name: str, value: str) -> str:
    """A setting of a session, as libpq takes it: a blank ends one unless a backslash is before."""
    escaped = value.replace("\\", "\\\\").replace(" ", "\\ ")
    return f"-c {name}={escaped}"


def _duckdb(named: Warehouse, values: Mapping[str, Any], file: Path) -> Warehouse:
    path = str(values.get("path") or ":memory:")
    if path == ":memory:" or "://" in path or path.startswith("md:"):
        raise WarehouseError(f"{file}: path must be a database file of this machine, found {path}")
    # As dbt does: relative to where the command runs.
    database = Path(path).absolute()
    return replace(named, name=database.stem, type="duckdb", database=database)


def is_connected_to(adapter: str) -> bool:
    """Whether a profile of this type is one that a connection is made by.

    >>> is_connected_to("postgres"), is_connected_to("bigquery")
    (True, False)
    """
    return adapter in _KINDS


_KINDS: Mapping[str, Callable[[Warehouse, Mapping[str, Any], Path], Warehouse]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
}
