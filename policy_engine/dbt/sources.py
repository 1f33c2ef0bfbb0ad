"""What a policy's source is in dbt: a model, a seed, a snapshot, or a table that dbt only reads.

A policy writes it as a model would, ``ref('stg_people')``, or by its plain name. It is looked up in
the project's files, so that nothing has to be parsed before; else in dbt's manifest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from policy_engine.dbt.files import ProjectFiles
from policy_engine.dbt.manifest import Manifest, Node, mapping
from policy_engine.dbt.naming import read_name
from policy_engine.dbt.yaml_items import Item, YamlItems

_TEXT = r"\s*(?:'([^'\"{}\\]+)'|\"([^'\"{}\\]+)\")\s*"
_CALL = re.compile(
    rf"(?P<call>ref|source)\s*\({_TEXT}(?:,{_TEXT})?"
    r"(?:,\s*(?:v|version)\s*=\s*(?P<quote>['\"]?)(?P<version>\w+)(?P=quote)\s*)?\)"
)
_BRACES = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_EPHEMERAL = re.compile(r"materialized\s*=\s*['\"]ephemeral['\"]")
KINDS = ("model", "seed", "snapshot", "source")


@dataclass(frozen=True)
class Wanted:
    """What a policy names: a ``ref`` or a ``source``, or a plain ``name``, by its parts."""

    call: str
    parts: tuple[str, ...]
    version: str = ""


@dataclass(frozen=True)
class SourceNode:
    """A node that a release may read.

    ``types`` are the column types that the project declares, ``quoted`` the columns that it says
    are written in quotes, ``relation`` the schema and the name of its table, as far as they are
    known without dbt.
    """

    kind: str
    name: str
    call: str
    id: str = ""
    types: Mapping[str, str] | None = None
    relation: tuple[str, ...] = ()
    is_ephemeral: bool = False
    file: Path | None = None
    quoted: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The node as people say it."""
        return f"the {self.kind} {self.name}"

    def built_in(self, target: str) -> str:
        """What makes its columns known in a target."""
        if self.kind == "source":
            return "run 'dbt docs generate' once it is there"
        name = self.name.rpartition(".")[2]
        return f"build it there first: 'dbt build --target {target} --select +{name}'"


def read_wanted(written: str) -> Wanted | None:
    """What the text of ``source.relation`` names; None where it is no name and no call.

    >>> read_wanted("{{ ref('stg_people') }}")
    Wanted(call='ref', parts=('stg_people',), version='')
    >>> read_wanted("raw.people").parts
    ('raw', 'people')
    """
    text = written.strip()
    inside = _BRACES.fullmatch(text)
    text = inside[1] if inside is not None else text
    call = _CALL.fullmatch(text)
    if call is not None:
        parts = tuple(part for part in call.groups()[1:5] if part)
        wrong = call["call"] == "source" and (len(parts) != 2 or call["version"])
        return None if wrong else Wanted(call["call"], parts, call["version"] or "")
    name = None if inside is not None else read_name(text)
    if name is None or any(set(part.text) & set("'\"{}\\") for part in name):
        return None
    return Wanted("name", tuple(part.text for part in name))


@dataclass
class Sources:
    """The nodes of a project, in its files and in its manifest."""

    files: ProjectFiles
    ask: Callable[[], Manifest | None] = lambda: None

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest; it is large, and read when the files do not know a node."""
        return self.ask()

    def twin(self, node: SourceNode) -> SourceNode | None:
        """A node as the manifest has it: with the schema and the name that dbt gives its table."""
        found = self.manifest.nodes.get(node.id) if self.manifest is not None else None
        return None if found is None else of_manifest(found, node.call)

    def find(self, wanted: Wanted) -> SourceNode | None:
        """The node that is meant; None where dbt knows none."""
        if wanted.call == "source":
            return self._source(*wanted.parts)
        if wanted.call == "ref":
            package = wanted.parts[0] if len(wanted.parts) == 2 else ""
            return self._ref(package, wanted.parts[-1], wanted.version)
        if len(wanted.parts) == 1:
            return self._ref("", wanted.parts[0], "")
        return self._named(wanted.parts)

    def _named(self, parts: tuple[str, ...]) -> SourceNode | None:
        """A source by name or schema, else the model that is made under a relation's name."""
        found = self._source(parts[-2], parts[-1])
        return found or self._by_schema(parts) or self._ref("", parts[-1], "")

    def _by_schema(self, parts: tuple[str, ...]) -> SourceNode | None:
        for path in self.files.speaking_of(parts[-1]):
            for item in self.files.items(path).items("sources"):
                if _head(item).get("schema") == parts[-2]:
                    found = self._table(path, item, parts[-1])
                    if found is not None:
                        return found
        return None

    def _ref(self, package: str, name: str, version: str) -> SourceNode | None:
        own = self._own(name, version) if package in {"", self.files.project.name} else None
        return own or self._of_manifest(package, name, version)

    def _of_manifest(self, package: str, name: str, version: str) -> SourceNode | None:
        if self.manifest is None:
            return None
        node = self.manifest.node_named(package, name, version)
        written = [part for part in (package, name) if part]
        return None if node is None else of_manifest(node, call_of("ref", written, version))

    def _own(self, name: str, version: str) -> SourceNode | None:
        """A node of the project's own files."""
        project, call = self.files.project, call_of("ref", [name], version)
        if name in self.files.seeds:
            types = self._types("seeds", name)
            return SourceNode("seed", name, call, f"seed.{project.name}.{name}", types)
        if name in self.files.snapshots:
            types = self._types("snapshots", name)
            return SourceNode("snapshot", name, call, f"snapshot.{project.name}.{name}", types)
        return self._model(name, version, call)

    def _model(self, name: str, version: str, call: str) -> SourceNode | None:
        id_ = f"model.{self.files.project.name}.{name}"
        entry = self.files.entry("models", name)
        item = entry[1].data if entry is not None else {}
        versions = _dicts(item.get("versions"))
        if versions:
            wanted = version or str(item.get("latest_version") or max(map(_number, versions)))
            mine = next((v for v in versions if str(v.get("v")) == wanted), None)
            if mine is None:
                return None
            stem = str(mine.get("defined_in") or f"{name}_v{wanted}")
            columns = [*_dicts(item.get("columns")), *_dicts(mine.get("columns"))]
            return self._of_file(stem, name, call, f"{id_}.v{wanted}", columns)
        if version:
            return None
        return self._of_file(name, name, call, id_, item.get("columns"))

    def _of_file(
        self, stem: str, name: str, call: str, id_: str, columns: object
    ) -> SourceNode | None:
        paths = self.files.models.get(stem) or self.files.models.get(name)
        if not paths:
            return None
        ephemeral = _EPHEMERAL.search(self.files.text(paths[0])) is not None
        return SourceNode(
            kind="model",
            name=name,
            call=call,
            id=id_,
            types=_declared(columns),
            relation=(stem,),
            is_ephemeral=ephemeral,
            file=paths[0],
            quoted=_quoted(columns),
        )

    def _types(self, section: str, name: str) -> Mapping[str, str]:
        entry = self.files.entry(section, name)
        item = entry[1].data if entry is not None else {}
        config = item.get("config")
        named = config.get("column_types") if isinstance(config, dict) else None
        told = {str(k): str(v) for k, v in named.items()} if isinstance(named, dict) else {}
        return {**told, **_declared(item.get("columns"))}

    def _source(self, source: str, table: str) -> SourceNode | None:
        for path in self.files.speaking_of(table):
            for item in self.files.items(path).items("sources"):
                found = self._table(path, item, table) if item.name == source else None
                if found is not None:
                    return found
        node = self.manifest.source_named(source, table) if self.manifest is not None else None
        return None if node is None else of_manifest(node, call_of("source", [source, table]))

    def _table(self, path: Path, source: Item, table: str) -> SourceNode | None:
        """The node of a table of a source."""
        inner = YamlItems(source.text)
        item = inner.item("tables", table) if inner.is_sliceable("tables") else None
        data = item.data if item is not None else None
        if data is None:
            tables = _dicts(source.data.get("tables"))
            data = next((each for each in tables if each.get("name") == table), None)
        if data is None or source.name is None:
            return None
        head = _head(source)
        schema, name = str(head.get("schema") or source.name), str(data.get("identifier") or table)
        return SourceNode(
            kind="source",
            name=f"{source.name}.{table}",
            call=call_of("source", [source.name, table]),
            id=f"source.{self.files.project.name}.{source.name}.{table}",
            types=_declared(data.get("columns")),
            relation=(schema, name),
            file=path,
            quoted=_quoted(data.get("columns")),
        )

    def near(self, wanted: Wanted) -> str:
        """What dbt does know that is nearly what is meant; empty where there is nothing."""
        close = get_close_matches(".".join(wanted.parts).lower(), self._known, 1, 0.6)
        return self._known[close[0]] if close else ""

    @cached_property
    def _known(self) -> Mapping[str, str]:
        files = self.files
        names = [*files.models, *files.seeds, *files.snapshots]
        found = {name.lower(): f"ref('{name}')" for name in names}
        for path in files.yaml:
            for item in files.items(path).items("sources"):
                for table in YamlItems(item.text).items("tables"):
                    key = f"{item.name}.{table.name}".lower()
                    found[key] = f"source('{item.name}', '{table.name}')"
        for node in self.manifest.of_kind(*KINDS) if self.manifest is not None else ():
            parts = node.label.split(".") if node.kind == "source" else [node.name]
            call = call_of("source" if node.kind == "source" else "ref", parts)
            found.setdefault(node.label.lower(), call)
        return found


def call_of(call: str, parts: list[str], version: str = "") -> str:
    """The call in a model's text, of parts that have no quotes and no braces in them.

    >>> call_of("ref", ["shop", "people"], "2")
    "ref('shop', 'people', v=2)"
    """
    arguments = [f"'{part}'" for part in parts]
    if version:
        arguments.append(f"v={version}" if version.isdecimal() else f"v='{version}'")
    return f"{call}({', '.join(arguments)})"


def of_manifest(node: Node, call: str) -> SourceNode | None:
    """A node as the manifest has it; None for what has no rows to release from."""
    if node.kind not in KINDS:
        return None
    columns = list(mapping(node.data, "columns").values())
    name = node.data.get("identifier") or node.data.get("alias") or node.name
    schema = node.data.get("schema")
    relation = (str(schema), str(name)) if schema else (str(name),)
    return SourceNode(
        kind=node.kind,
        name=node.label,
        call=call,
        id=node.id,
        types=_declared(columns),
        relation=relation,
        is_ephemeral=node.materialized == "ephemeral",
        quoted=_quoted(columns),
    )


def _head(source: Item) -> dict[str, Any]:
    """What a source says of itself: its item without its tables, which may be thousands."""
    inner = YamlItems(source.text)
    begin, end, behind = inner.sections.get("tables", (len(inner.lines), len(inner.lines), ""))
    if behind:
        return source.data
    lines = [*inner.lines[: max(begin - 1, 0)], *inner.lines[end:]]
    return Item(0, 0, 0, 0, "\n".join(lines)).data


def _declared(columns: object) -> dict[str, str]:
    """The columns whose type is declared."""
    return {
        str(column["name"]): str(column["data_type"])
        for column in _dicts(columns)
        if column.get("name") and column.get("data_type")
    }


def _quoted(columns: object) -> frozenset[str]:
    """The columns that are declared to be written in quotes."""
    return frozenset(str(c.get("name")) for c in _dicts(columns) if c.get("quote") is True)


def _dicts(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _number(version: Mapping[str, Any]) -> int:
    found = str(version.get("v"))
    return int(found) if found.isdecimal() else 0
