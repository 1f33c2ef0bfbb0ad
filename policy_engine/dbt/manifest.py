"""dbt's manifest.json as a frozen graph.

Every field is optional and extras are ignored: dbt 1.11, 1.12 and the alpha of v2 all write
manifest v12, and none of them writes quite the same keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from policy_engine.dbt.lexing import words
from policy_engine.errors import FileError
from policy_engine.opening import bytes_in
from policy_engine.values import frozen
from policy_engine.warehouse.quoting import quoted

VERSION = 12
"""The version of the manifest that is read."""

_SECTIONS = (
    "nodes", "sources", "exposures", "metrics", "semantic_models", "saved_queries", "functions",
    "unit_tests",
)  # fmt: skip
_SCHEMA = re.compile(r"/manifest/v(\d+)(?:\.json)?\Z")
_WORD = re.compile(r"\w+")
_MAKE_ONE = "make one with 'dbt compile'"


@frozen
class Node:
    """Anything that dbt can depend on or that can depend on something.

    ``data`` is what the manifest says of it; the properties read it as far as it has the type
    that it should have.

    >>> node = Node("model.shop.people.v2", {"name": "people", "version": 2, "access": "public"})
    >>> node.kind, node.label, node.access, node.parents
    ('model', 'people.v2', 'public', ())
    """

    id: str
    data: Mapping[str, object]

    @cached_property
    def kind(self) -> str:
        """model, seed, snapshot, source, exposure, test, operation …"""
        return text(self.data, "resource_type") or self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """Its name, without package and version."""
        return text(self.data, "name") or self.id.rpartition(".")[2]

    @property
    def package(self) -> str:
        """The package it comes from."""
        return text(self.data, "package_name")

    @property
    def label(self) -> str:
        """Its name as people say it."""
        if self.kind == "source":
            return f"{text(self.data, 'source_name')}.{self.name}"
        version = self.data.get("version")
        name = self.name if version is None or version == "" else f"{self.name}.v{version}"
        return (
            name
            if self.kind in {"model", "seed", "snapshot"}
            else f"{self.kind.replace('_', ' ')} {name}"
        )

    @property
    def file(self) -> str:
        """The file that defines it, relative to the project or to its package."""
        return text(self.data, "original_file_path").replace("\\", "/").removeprefix("./")

    @cached_property
    def config(self) -> Mapping[str, object]:
        """Its config, as dbt resolved it."""
        return mapping(self.data, "config")

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """What it depends on, by id."""
        return strings(mapping(self.data, "depends_on"), "nodes")

    @property
    def uses(self) -> tuple[str, ...]:
        """The macros that it uses, by id."""
        return strings(mapping(self.data, "depends_on"), "macros")

    @property
    def raw(self) -> str:
        """Its text before Jinja; a macro's own."""
        return text(self.data, "raw_code") or text(self.data, "macro_sql")

    @property
    def compiled(self) -> str | None:
        """Its text after Jinja; None where the manifest does not have it."""
        found = self.data.get("compiled_code")
        return found if isinstance(found, str) else None

    @property
    def is_python(self) -> bool:
        """Whether it is a Python model."""
        return text(self.data, "language") == "python" or self.file.endswith(".py")

    @property
    def materialized(self) -> str:
        """How it is built."""
        return text(self.config, "materialized")

    @property
    def access(self) -> str:
        """Who may ref it; v2 writes the config's only where it is set."""
        return text(self.data, "access") or text(self.config, "access")

    @cached_property
    def relation(self) -> str:
        """The relation that it is in the warehouse, as SQL writes it; '' where there is none."""
        if self.materialized == "ephemeral" or self.kind not in _IN_THE_WAREHOUSE:
            return ""
        written = text(self.data, "relation_name")
        if written or self.kind == "test":
            return written
        own = text(self.data, "identifier") or text(self.data, "alias") or self.name
        parts = (text(self.data, "database"), text(self.data, "schema"), own)
        return quoted(*filter(None, parts))

    def hooks(self) -> tuple[tuple[str, str], ...]:
        """The SQL that runs beside it, with the name of the setting it stands in.

        A source has a query of its own for when it was loaded, whose answer dbt writes down; what
        it says of a column, or of the rows that are looked at, may be one as well.
        """
        found = [(setting, sql) for setting in _HOOKS for sql in leaves(self.config.get(setting))]
        whole = (self.data, self.config)
        places = (*whole, *(mapping(each, "freshness") for each in whole))
        for setting in _LOADED if self.kind == "source" else ():
            sql = next(filter(None, (text(each, setting) for each in places)), "")
            if setting == "loaded_at_query" or _SELECTS.search(sql):
                found.append((setting, sql))
        return tuple((setting, sql) for setting, sql in found if sql.strip())


_HOOKS = ("pre-hook", "pre_hook", "post-hook", "post_hook", "sql_header")
_LOADED = ("loaded_at_query", "loaded_at_field", "filter")
_SELECTS = re.compile(r"\b(?:select|from)\b|\{\{", re.IGNORECASE)
_NAMED = ("model", "seed", "snapshot", "function")
_IN_THE_WAREHOUSE = words("model seed snapshot source test function")


@frozen
class Manifest:
    """A project as dbt saw it."""

    file: Path
    dbt_version: str
    adapter: str
    project: str
    generated_at: str
    nodes: Mapping[str, Node]
    disabled: tuple[Node, ...] = ()
    macros: Mapping[str, Node] = field(default_factory=dict)
    invocation: str = ""

    @cached_property
    def _by_kind(self) -> Mapping[str, Sequence[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            found.setdefault(node.kind, []).append(node)
        return found

    def file_of(self, node: Node) -> str:
        """The file of a node, from the project's folder: a package's lies among the packages."""
        if not node.file or node.package in {"", self.project}:
            return node.file
        return f"dbt_packages/{node.package}/{node.file}"

    def of_kind(self, *kinds: str) -> Iterator[Node]:
        """The nodes of some kinds, kind by kind."""
        return (node for kind in kinds for node in self._by_kind.get(kind, ()))

    def child_of(self, node: Node) -> tuple[str, ...]:
        """The ids that a node depends on: those listed, and those that its refs name.

        The lists say the same, unless one of them was left out or edited.
        """
        named = []
        for ref in sequence(node.data, "refs"):
            if isinstance(ref, Mapping):
                version = "" if ref.get("version") is None else str(ref["version"])
                named.append(self.node_named(text(ref, "package"), text(ref, "name"), version))
        for pair in sequence(node.data, "sources"):
            if isinstance(pair, list) and len(pair) == 2:
                named.append(self.source_named(str(pair[0]), str(pair[1])))
        found = (*node.parents, *(each.id for each in named if each is not None))
        return tuple(dict.fromkeys(found))

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.of_kind(*_NAMED):
            found.setdefault(node.name, []).append(node)
        return found

    def node_named(self, package: str, name: str, version: str = "") -> Node | None:
        """What ``ref(package, name, v=version)`` means; its latest version where none is said."""
        found = [n for n in self._by_name.get(name, ()) if package in {"", n.package}]
        if not package:
            own = [node for node in found if node.package == self.project]
            found = own or found
        if version:
            found = [node for node in found if str(node.data.get("version")) == version]
        latest = [n for n in found if n.data.get("version") == n.data.get("latest_version")]
        off = (node for node in self.disabled if node.name == name and node.kind in _NAMED)
        return next(iter(latest or found), None) or next(off, None)

    @cached_property
    def _sources(self) -> Mapping[tuple[str, str], Node]:
        return {(text(n.data, "source_name"), n.name): n for n in self.of_kind("source")}

    def source_named(self, source: str, table: str) -> Node | None:
        """What ``source(source, table)`` means."""
        return self._sources.get((source, table))

    @cached_property
    def own_macros(self) -> tuple[Node, ...]:
        """The project's macros; dbt v2 lists the block of a snapshot as one as well."""
        own = (macro for macro in self.macros.values() if macro.package == self.project)
        return tuple(macro for macro in own if macro.id.startswith("macro."))

    @cached_property
    def _macros_by_name(self) -> Mapping[str, Sequence[Node]]:
        """The project's macros by their names, and by what they are dispatched as."""
        found: dict[str, list[Node]] = {}
        for macro in self.own_macros:
            name = macro.name.lower()
            for each in {name, name.rpartition("__")[2]}:
                found.setdefault(each, []).append(macro)
        return found

    def texts_of(self, written: str) -> tuple[str, ...]:
        """A text, and those of the project's macros whose names stand in it, and in theirs."""
        found: dict[str, str] = {}
        ahead = [written]
        while ahead:
            for word in sorted(words_in(ahead.pop()) & self._macros_by_name.keys()):
                for macro in self._macros_by_name[word]:
                    if macro.id not in found:
                        found[macro.id] = macro.raw
                        ahead.append(macro.raw)
        return (written, *(text for _, text in sorted(found.items()) if text != written))

    def is_internal(self, package: str) -> bool:
        """Whether a package is dbt's own: dbt, the adapter's, or one that the adapter rests on.

        A project may install a package under any name: one named dbt_snowflake is no adapter in a
        project on DuckDB.
        """
        bases = () if self.adapter in _ALONE else _BASES
        return package == "dbt" or package in {f"dbt_{each}" for each in (self.adapter, *bases)}


_ALONE = words("""
    athena bigquery clickhouse duckdb fabric mysql postgres snowflake spark sqlite trino
""")
"""Adapters that rest on no other adapter."""
_BASES = ("fabric", "mysql", "postgres", "spark", "trino")
"""Adapters on which others rest, as redshift does on postgres."""


def read_manifest(file: Path) -> Manifest:
    """The manifest in a file.

    Raises:
        FileError: it is missing, unreadable, damaged, or of a version that is not known.
    """
    try:
        content = bytes_in(file)
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(f"{file} is missing; {_MAKE_ONE}") from None
    except OSError as error:
        raise FileError(f"{file} could not be read: {error.strerror}; {_MAKE_ONE}") from None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise FileError(f"{file} is damaged: it must be JSON; {_MAKE_ONE} again") from None
    return parse_manifest(document, file)


def parse_manifest(document: object, file: Path = Path("manifest.json")) -> Manifest:
    """The manifest that a JSON document is.

    Raises:
        FileError: it is none, or of a version that is not known.

    >>> schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    >>> parse_manifest({"metadata": {"dbt_schema_version": schema}, "nodes": {}}).nodes
    {}
    """
    if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
        raise FileError(f"{file} must be dbt's manifest.json, found another document; {_MAKE_ONE}")
    metadata = document["metadata"]
    written = text(metadata, "dbt_schema_version")
    version = _SCHEMA.search(written)
    if version is None:
        what = f"found {written!r}" if written else "found no schema version"
        raise FileError(f"{file} must be dbt's manifest.json, {what}; {_MAKE_ONE}")
    if int(version[1]) != VERSION:
        by = text(metadata, "dbt_version") or "an unknown version"
        law = f"must be a manifest of version {VERSION}, which dbt 1.8 and later write"
        raise FileError(f"{file} {law}; found version {version[1]}, by dbt {by}; {_MAKE_ONE}")
    for section in (*_SECTIONS, "macros", "disabled"):
        if not isinstance(document.get(section) or {}, dict):
            raise FileError(f"{file} is damaged: {section} must be a mapping; {_MAKE_ONE} again")
    if "nodes" not in document:
        raise FileError(f"{file} is damaged: nodes is missing; {_MAKE_ONE} again")
    sections = (document.get(section) or {} for section in _SECTIONS)
    nodes = {id_: data for section in sections for id_, data in section.items()}
    for id_, data in nodes.items():
        if not isinstance(data, dict):
            raise FileError(f"{file} is damaged: {id_} must be a mapping; {_MAKE_ONE} again")
    off = [
        Node(id_, data)
        for id_, versions in (document.get("disabled") or {}).items()
        for data in (versions if isinstance(versions, list) else [versions])
        if isinstance(data, dict)
    ]
    return Manifest(
        file=file,
        dbt_version=text(metadata, "dbt_version"),
        adapter=text(metadata, "adapter_type"),
        project=text(metadata, "project_name"),
        generated_at=text(metadata, "generated_at"),
        invocation=text(metadata, "invocation_id"),
        nodes={id_: Node(id_, data) for id_, data in nodes.items()},
        disabled=tuple(off),
        macros={
            id_: Node(id_, data)
            for id_, data in (document.get("macros") or {}).items()
            if isinstance(data, dict)
        },
    )


def short(id_: str) -> str:
    """An id without the kind and the package.

    >>> short("source.shop.raw.people")
    'raw.people'
    """
    return id_.split(".", 2)[-1]


def text(data: Mapping[str, object], key: str) -> str:
    """A text of a mapping; '' where there is none."""
    found = data.get(key)
    return found if isinstance(found, str) else ""


def mapping(data: Mapping[str, object], key: str) -> Mapping[str, object]:
    """A mapping of a mapping; empty where there is none."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def sequence(data: Mapping[str, object], key: str) -> Sequence[Any]:
    """A list of a mapping; empty where there is none."""
    found = data.get(key)
    return found if isinstance(found, list) else ()


def strings(data: Mapping[str, object], key: str) -> tuple[str, ...]:
    """The texts of a list of a mapping."""
    return tuple(each for each in sequence(data, key) if isinstance(each, str))


def leaves(value: object, *, keys: bool = False) -> Iterator[str]:
    """Every text in a value of lists and mappings; with the ``keys`` of those."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from leaves(list(value), keys=keys) if keys else ()
        yield from leaves(list(value.values()), keys=keys)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each, keys=keys)


def words_in(text: str) -> frozenset[str]:
    """The words of a text, in lower case.

    >>> sorted(words_in("from Main.people"))
    ['from', 'main', 'people']
    """
    return frozenset(_WORD.findall(text.lower()))
