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

from policy_engine.dbt.manifest import Manifest, Node, mapping, read_manifest
from policy_engine.dbt.naming import read_name
from policy_engine.dbt.project import ProjectFiles
from policy_engine.dbt.texts import REF, SOURCE, named
from policy_engine.dbt.yaml_items import Item, YamlItems
from policy_engine.engines.sql_rules import rules_of
from policy_engine.errors import FileError
from policy_engine.values import frozen

_BRACES = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_EPHEMERAL = re.compile(r"materialized\s*=\s*['\"]ephemeral['\"]")
KINDS = ("model", "seed", "snapshot", "source")


@frozen
class Wanted:
    """What a policy names: a ``ref`` or a ``source``, or a plain ``name``, by its parts."""

    call: str
    parts: tuple[str, ...]
    version: str = ""

    @property
    def is_ref(self) -> bool:
        """Whether it names a node of dbt's own, and no source."""
        return self.call == "ref" or (self.call == "name" and len(self.parts) == 1)

    @property
    def package(self) -> str:
        """The package that a ``ref`` names; empty where it names none."""
        return self.parts[0] if self.is_ref and len(self.parts) == 2 else ""

    def node(self, manifest: Manifest) -> Node | None:
        """The node of a manifest that is called so."""
        if self.is_ref:
            return manifest.node_named(self.package, self.parts[-1], self.version)
        return manifest.source_named(*self.parts[-2:])


NOTHING = Wanted("nothing", ("", ""))


@frozen
class SourceNode:
    """A node that a release may read.

    ``columns`` are those that the project declares, ``relation`` the schema and the name of its
    table, as far as they are known without dbt.
    """

    kind: str
    name: str
    call: str
    id: str = ""
    columns: tuple[Mapping[str, object], ...] = ()
    relation: tuple[str, ...] = ()
    is_ephemeral: bool = False
    file: Path | None = None

    @property
    def label(self) -> str:
        """The node as people say it."""
        return f"the {self.kind} {self.name}"

    @property
    def filled(self) -> frozenset[str]:
        """The columns that the project says are NOT NULL, in lower case."""
        listed = ((each.get("name"), each.get("constraints")) for each in self.columns)
        return frozenset(
            str(name).lower() for name, laws in listed
            if any(law.get("type") == "not_null" for law in _dicts(laws))
        )  # fmt: skip

    def spelled(self, adapter: str) -> dict[str, str]:
        """The types that the project declares, each column's name as the engine has it."""
        quoted = {str(column.get("name")) for column in self.columns if column.get("quote") is True}
        found = {}
        for column in self.columns:
            name, kind = str(column.get("name") or ""), column.get("data_type")
            if name and kind:
                folds = rules_of(adapter).folds is str.upper and name not in quoted
                found[name.upper() if folds else name] = str(kind)
        return found

    def built_in(self, target: str) -> str:
        """What makes its columns known in a target."""
        if self.kind == "source":
            return "run 'dbt docs generate' once it is there"
        name = self.name.rpartition(".")[2]
        return f"build it there first: 'dbt build --target {target} --select +{name}'"


def read_wanted(written: str) -> Wanted:
    """What the text of ``source.table`` names; ``NOTHING`` where it is no name and no call.

    >>> read_wanted("{{ ref('stg_people') }}")
    Wanted(call='ref', parts=('stg_people',), version='')
    >>> read_wanted("raw.people").parts
    ('raw', 'people')
    """
    text = written.strip()
    inside = _BRACES.fullmatch(text)
    text = inside[1] if inside is not None else text
    ref, source = REF.fullmatch(text), SOURCE.fullmatch(text)
    if ref is not None:
        *parts, version = named(ref)
        found = Wanted("ref", tuple(filter(None, parts)), version)
    elif source is not None:
        found = Wanted("source", source.groups())
    else:
        name = read_name(text) if inside is None else None
        found = Wanted("name", tuple(part.text for part in name)) if name else NOTHING
    return NOTHING if set("".join(found.parts)) & set("'\"{}\\") else found


@dataclass
class SourceNodes:
    """The nodes of a project, in its files and in its manifest."""

    files: ProjectFiles
    named: Path | None = None

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest that was ``named``, else dbt's own where that can be read.

        It is large, and read when the files do not know a node.
        """
        try:
            return read_manifest(self.named or self.files.project.manifest)
        except FileError:
            if self.named is not None:
                raise
            return None

    def twin(self, node: SourceNode) -> SourceNode | None:
        """A node as the manifest has it: with the schema and the name that dbt gives its table."""
        found = self.manifest.nodes.get(node.id) if self.manifest is not None else None
        return None if found is None else of_manifest(found, node.call)

    def find(self, wanted: Wanted) -> SourceNode | None:
        """The node that is meant; None where dbt knows none.

        A name of several parts is a source by name or schema, else the model of a relation's name.
        """
        if wanted.is_ref:
            is_own = wanted.package in {"", self.files.project.name}
            own = self._own(wanted.parts[-1], wanted.version) if is_own else None
            return own or self._of_manifest(wanted, "ref")
        source, table = wanted.parts[-2:]
        found = self._source(table, lambda item: item.name == source)
        found = found or self._of_manifest(wanted, "source")
        if found is not None or wanted.call == "source":
            return found
        found = self._source(table, lambda item: _head(item).get("schema") == source)
        return found or self.find(Wanted("ref", (table,)))

    def _of_manifest(self, wanted: Wanted, call: str) -> SourceNode | None:
        node = wanted.node(self.manifest) if self.manifest is not None else None
        parts = [*wanted.parts[-2:]]
        return None if node is None else of_manifest(node, call_of(call, parts, wanted.version))

    def _own(self, name: str, version: str) -> SourceNode | None:
        package, call = self.files.project.name, call_of("ref", [name], version)
        for kind, names in (("seed", self.files.seeds), ("snapshot", self.files.snapshots)):
            if name in names:
                item = self._entry(f"{kind}s", name)
                types = mapping(mapping(item, "config"), "column_types")
                told = [{"name": column, "data_type": type_} for column, type_ in types.items()]
                columns = (*told, *_dicts(item.get("columns")))
                return SourceNode(kind, name, call, f"{kind}.{package}.{name}", columns)
        item, stem, id_ = self._entry("models", name), name, f"model.{package}.{name}"
        said, versions = _dicts(item.get("columns")), _dicts(item.get("versions"))
        if versions:
            version = version or str(item.get("latest_version") or max(map(_number, versions)))
        mine = next((v for v in versions if str(v.get("v")) == version), None)
        if mine is not None:
            stem = str(mine.get("defined_in") or f"{name}_v{version}")
            id_, said = f"{id_}.v{version}", [*said, *_dicts(mine.get("columns"))]
        paths = self.files.models.get(stem) or self.files.models.get(name)
        if not paths or (version and mine is None):
            return None
        return SourceNode(
            kind="model",
            name=name,
            call=call,
            id=id_,
            columns=tuple(said),
            relation=(stem,),
            is_ephemeral=_EPHEMERAL.search(self.files.text(paths[0])) is not None,
            file=paths[0],
        )

    def _entry(self, section: str, name: str) -> Mapping[str, object]:
        entry = self.files.entry(section, name)
        return entry[1].data if entry is not None else {}

    def _source(self, table: str, is_meant: Callable[[Item], bool]) -> SourceNode | None:
        for path, source in self.files.speaking_of(table, "sources"):
            found = _table(source, table) if is_meant(source) else None
            if found is None or source.name is None:
                continue
            schema = str(_head(source).get("schema") or source.name)
            return SourceNode(
                kind="source",
                name=f"{source.name}.{table}",
                call=call_of("source", [source.name, table]),
                id=f"source.{self.files.project.name}.{source.name}.{table}",
                columns=tuple(_dicts(found.get("columns"))),
                relation=(schema, str(found.get("identifier") or table)),
                file=path,
            )
        return None

    def near(self, wanted: Wanted) -> str:
        """What dbt does know that is nearly what is meant; empty where there is nothing."""
        close = get_close_matches(".".join(wanted.parts).lower(), self._known, 1, 0.6)
        return self._known[close[0]] if close else ""

    @cached_property
    def _known(self) -> Mapping[str, str]:
        files = self.files
        names = [*files.models, *files.seeds, *files.snapshots]
        found = {name.lower(): f"ref('{name}')" for name in names}
        for _, item in files.speaking_of("", "sources"):
            for table in YamlItems(item.text).items("tables"):
                key = f"{item.name}.{table.name}".lower()
                found[key] = f"source('{item.name}', '{table.name}')"
        for node in self.manifest.of_kind(*KINDS) if self.manifest is not None else ():
            found.setdefault(node.label.lower(), call_of_node(node))
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


def call_of_node(node: Node) -> str:
    """The call of a node, in whatever version is the latest."""
    if node.kind == "source":
        return call_of("source", [str(node.data.get("source_name")), node.name])
    return call_of("ref", [node.name])


def of_manifest(node: Node, call: str = "") -> SourceNode | None:
    """A node as the manifest has it; None for what has no rows to release from."""
    if node.kind not in KINDS:
        return None
    columns = _dicts(list(mapping(node.data, "columns").values()))
    if mapping(node.config, "contract").get("enforced") is not True:  # it has no constraints then
        columns = [{key: each[key] for key in each if key != "constraints"} for each in columns]
    name = node.data.get("identifier") or node.data.get("alias") or node.name
    schema = node.data.get("schema")
    relation = (str(schema), str(name)) if schema else (str(name),)
    return SourceNode(
        kind=node.kind,
        name=node.label,
        call=call,
        id=node.id,
        columns=tuple(columns),
        relation=relation,
        is_ephemeral=node.materialized == "ephemeral",
    )


def _table(source: Item, table: str) -> Mapping[str, object] | None:
    inner = YamlItems(source.text)
    if "tables" in inner.sections:
        item = inner.item("tables", table)
        return item.data if item is not None else None
    tables = _dicts(source.data.get("tables"))
    return next((each for each in tables if each.get("name") == table), None)


def _head(source: Item) -> Mapping[str, object]:
    """What a source says of itself: its item without its tables, which may be thousands."""
    inner = YamlItems(source.text)
    begin, end, _ = inner.sections.get("tables", (0, 0, ""))
    if not begin or not inner.is_sliceable("tables"):
        return source.data
    return Item(0, 0, 0, "\n".join([*inner.lines[: begin - 1], *inner.lines[end:]])).data


def _dicts(found: object) -> list[Mapping[str, object]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _number(version: Mapping[str, object]) -> int:
    found = str(version.get("v"))
    return int(found) if found.isdecimal() else 0
