"""What a node reads beside what dbt's graph says of it.

Two texts say so: the compiled one, which is what runs, and the template, whose other branches run
elsewhere and whose texts may be queries. No template is run or followed: code that runs beside the
models is reviewed (review.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from policy_engine.dbt.lexing import as_it_runs, holds_no_data
from policy_engine.dbt.manifest import Manifest, Node, mapping, sequence, text, words_in
from policy_engine.dbt.naming import Name, Names, dialect_of, read_name, shown
from policy_engine.dbt.project import told_in
from policy_engine.dbt.relations import Read, Reads, named_in, reads_of
from policy_engine.dbt.taint import Edge
from policy_engine.dbt.texts import (
    has_code,
    is_generic_test,
    queries_in_config,
    refs_in,
    texts_in,
    with_holes,
)
from policy_engine.dbt.texts import read as read_text
from policy_engine.opening import text_in
from policy_engine.warehouse.quoting import quoted

BY_NAME, BRANCH, QUERY = "by name", "in another branch", "by name, in a text of its template"
CONFIG = "by name, in its config"
_HOLE = "policy_engine_hole"
_WILDCARD = re.compile(r"\w\*")

_WITHOUT_FILES = ("source", "unit_test", "semantic_model", "metric", "saved_query")
READ_KINDS = ("model", "snapshot", "seed", "test", "function", *_WITHOUT_FILES)
"""The kinds of nodes whose text runs."""


@dataclass
class NodeReads:
    """Hidden ``edges``, what dbt does not know (``unknown``), and why a text is not read.

    ``allowed`` are the nodes that may be read by name.
    """

    node: str
    allowed: frozenset[str]
    edges: dict[str, Edge] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    unread: str = ""

    def edge(self, parent: str, how: str) -> None:
        """Note an edge; of two from the same node the first stays."""
        if parent not in self.allowed:
            self.edges.setdefault(parent, Edge(parent, self.node, how))


@dataclass
class NodeReader:
    """Reads the nodes of a manifest; ``target`` is the folder with dbt's compiled files."""

    manifest: Manifest
    target: Path | None = None
    project: Path | None = None

    @cached_property
    def dialect(self) -> str:
        """The dialect of the warehouse."""
        return dialect_of(self.manifest.adapter)

    @cached_property
    def names(self) -> Names:
        """Every relation of the project by name."""
        names = Names(self.dialect)
        taken = {""}
        for node in self.manifest.nodes.values():
            for written in relations_of(node):
                names.add(node.id, written)
                taken.add(written.lower())
            if elsewhere := text(mapping(self._deferred, node.id), "relation_name"):
                names.add(node.id, elsewhere)
        for node in self.manifest.disabled:
            # What is not built any more may still be there, unless another took its place.
            if node.id not in self.manifest.nodes and node.relation.lower() not in taken:
                names.add(node.id, node.relation)
        return names

    @cached_property
    def _deferred(self) -> Mapping[str, object]:
        """The nodes of another manifest, by whose relations dbt's last run could compile."""
        if self.target is None or self.project is None:
            return {}
        asked = mapping(told_in(self.target / "run_results.json"), "args")
        state = text(asked, "defer_state") or text(asked, "state")
        told = told_in(self.project / state / "manifest.json") if asked.get("defer") else {}
        return mapping(told, "nodes")

    # Texts

    def compiled(self, node: Node) -> str | None:
        """The text that runs, from the manifest or from the file that dbt wrote."""
        if node.kind in _WITHOUT_FILES:
            return ";".join(_queries_of(node, self.project))
        if node.compiled is not None or self.target is None or not node.file:
            return node.compiled
        files = [self.target / "compiled" / node.package / node.file]
        written = text(node.data, "compiled_path")
        if written and self.project is not None:
            files.insert(0, self.project / written)
        for file in files:
            try:
                found = text_in(file)
            except (OSError, UnicodeDecodeError):
                continue
            if not self._is_older(file, node) and self._is_of_this_target(found, node):
                return found
        return None

    def _is_older(self, file: Path, node: Node) -> bool:
        """Whether the file that a text was compiled from is younger than what came of it."""
        own = None if self.project is None else self.project / node.file
        try:
            return own is not None and own.stat().st_mtime > file.stat().st_mtime
        except OSError:
            return False

    def _is_of_this_target(self, compiled: str, node: Node) -> bool:
        """Whether a text that dbt wrote once names anything as this manifest does."""
        near = (self.manifest.nodes.get(id_) for id_ in self.manifest.child_of(node))
        named = [each.relation for each in near if each is not None and each.relation]
        return not named or any(name in compiled for name in (*named, node.relation) if name)

    # Reading

    def read(self, node: Node) -> NodeReads:
        """What a node reads beside its declared parents."""
        found = NodeReads(node.id, self._allowed(node))
        if node.is_python or node.kind == "unit_test":
            self._texts(node, found, node.raw)
        if node.is_python:
            return found
        compiled = self.compiled(node)
        for query in queries_in_config(node):
            self._note(reads_of(f"select {query}", self.dialect), found, how=CONFIG)
        # What a test reads that dbt does not know matters only where it is a way out, or a table.
        metas = (node.data.get("meta"), node.config.get("meta"), node.config.get("grants"))
        is_leaf = node.kind == "test" and not any((node.relation, node.access, *metas))
        if compiled is not None and not (is_leaf and not self._may_name(compiled, found.allowed)):
            counts = node.kind not in _WITHOUT_FILES
            self._note(reads_of(compiled, self.dialect), found, counts=counts)
        elif compiled is None and not is_generic_test(node):
            self._note(reads_of(with_holes(node.raw, _HOLE), self.dialect), found)
            found.unread = "it is not compiled" if has_code(node, conditions=False) else ""
        if has_code(node) or (compiled is None and not is_generic_test(node)):
            self._template(node, found, words_in(compiled or ""))
        return found

    @cached_property
    def _by_word(self) -> Mapping[str, set[str]]:
        """The nodes by each word of the last part of a name that a text can have for them."""
        found: dict[str, set[str]] = {}
        for node in (*self.manifest.nodes.values(), *self.manifest.disabled):
            for written in (node.name, *relations_of(node)):
                name = read_name(written)
                for word in words_in(name[-1].text if name else written):
                    found.setdefault(word, set()).add(node.id)
        return found

    def _may_name(self, raw: str, allowed: frozenset[str]) -> bool:
        """Whether a text has a word of another node than the allowed ones, or a wildcard."""
        known, said = self._by_word, words_in(as_it_runs(raw, self.dialect))
        others = (known[word] for word in said & known.keys())
        return _WILDCARD.search(raw) is not None or not all(map(allowed.issuperset, others))

    def _allowed(self, node: Node) -> frozenset[str]:
        """What a node may read by name: its parents, and through ephemeral ones theirs."""
        found = {node.id}
        ahead = list(self.manifest.child_of(node))
        while ahead:
            id_ = ahead.pop()
            parent = self.manifest.nodes.get(id_)
            if id_ not in found and parent is not None and parent.materialized == "ephemeral":
                ahead += self.manifest.child_of(parent)
            found.add(id_)
        return frozenset(found)

    def _template(self, node: Node, found: NodeReads, known: frozenset[str]) -> None:
        """What a template and its macros say in any branch; ``known`` are words that were read."""
        raw = ";".join(self.manifest.texts_of(node.raw))
        if not self._may_name(raw, found.allowed):
            return
        for parent in refs_in(raw, self.manifest):
            found.edge(parent, BRANCH)
        reads = reads_of(with_holes(raw, _HOLE), self.dialect, every=True)
        names = tuple(
            read
            for read in reads.names
            if len(read.name) > 1 or (read.sure and read.name[0].text.lower() not in known)
        )
        self._note(Reads(names, reads.calls), found, counts=False)
        self._texts(node, found, raw)

    def _texts(self, node: Node, found: NodeReads, raw: str) -> None:
        names = {Read(n, False): None for said in texts_in(node, raw) for n in named_in(said)}
        self._note(Reads(tuple(names)), found, how=QUERY, counts=False)

    # Names

    def meant(self, name: Name) -> tuple[frozenset[str], frozenset[str]]:
        """The nodes that a name means: surely, and perhaps."""
        if _has_hole(name):
            # Its schema or its database is what only a run can tell.
            is_told = _HOLE not in name[-1].text
            known = self.names.meant(name[-1:]) if is_told else ()
            return frozenset(), frozenset[str]().union(*known)
        return self.names.meant(name)

    def _note(
        self, reads: Reads, found: NodeReads, *, how: str = BY_NAME, counts: bool = True
    ) -> None:
        for read in reads.names:
            surely, perhaps = self.meant(read.name)
            is_declared = bool(surely & found.allowed) and (len(read.name) > 1 or len(surely) == 1)
            for parent in sorted(surely or perhaps) if not is_declared else ():
                found.edge(parent, how)
            is_known = bool(surely) or not read.sure or holds_no_data(read.name, self.dialect)
            if not is_known and counts and not _has_hole(read.name):
                found.unknown[shown(read.name)] = None
        for call in reads.calls:
            surely, perhaps = self.meant(call.name) if call.name else (frozenset(), frozenset())
            surely |= self.names.read_by(call.text)
            for parent in sorted(surely | perhaps):
                found.edge(parent, how)
            if not surely and counts:
                written = " ".join(call.text.strip("'").split())
                found.unknown[written if len(written) <= 60 else f"{written[:57]}..."] = None


def _has_hole(name: Name) -> bool:
    return any(_HOLE in part.text for part in name)


def _queries_of(node: Node, project: Path | None) -> Iterator[str]:
    """The query that a source of dbt-duckdb is, those by which a unit test makes its rows, and what
    a metric or its semantic model computes."""
    if node.kind in {"semantic_model", "metric", "saved_query"}:
        yield from (f"select {with_holes(each, _HOLE)}" for each in _expressions(node.data) if each)
    if node.kind == "source":
        yield from (f"select * from {each}" for each in relations_of(node) if "(" in each)
    for given in (*sequence(node.data, "given"), node.data.get("expect")):
        if not isinstance(given, Mapping):
            continue
        rows, fixture = given.get("rows"), text(given, "fixture")
        if isinstance(rows, str):
            yield rows
        elif project is not None and fixture.endswith(".sql"):  # dbt v2 names its file alone
            yield read_text(project / fixture)


def _expressions(said: object) -> Iterator[str]:
    """The SQL of a metric, however deep it stands."""
    if isinstance(said, Mapping):
        yield from (text(said, key) for key in ("expr", "where_sql_template"))
        said = list(said.values())
    for each in said if isinstance(said, list) else ():
        yield from _expressions(each)


def relations_of(node: Node) -> Iterator[str]:
    """Every relation that a node is or makes."""
    if node.relation:
        yield node.relation
    if node.kind == "source":
        yield from _external(node)
    for export in sequence(node.data, "exports") if node.kind == "saved_query" else ():
        if isinstance(export, Mapping):
            config = mapping(export, "config")
            alias = text(config, "alias") or text(export, "name")
            parts = (text(config, "database"), text(config, "schema_name"), alias)
            yield quoted(*filter(None, parts))


def _external(node: Node) -> Iterator[str]:
    """The file that a source of dbt-duckdb is; dbt v2 does not say so in relation_name."""
    for place in (node.config, mapping(node.config, "meta"), mapping(node.data, "meta")):
        location = text(place, "external_location")
        if location:
            for key in ("name", "identifier", "schema", "source_name"):
                location = location.replace("{" + key + "}", text(node.data, key) or node.name)
            yield location if "(" in location else f"'{location}'"
            return
