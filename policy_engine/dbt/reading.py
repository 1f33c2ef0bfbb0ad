"""What a node reads beside what dbt's graph says of it.

Two texts say so: the compiled one, which is what runs, and the template, whose other branches run
elsewhere and whose texts may be queries. No template is run or followed: code that runs beside the
models is reviewed (review.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from policy_engine.dbt.config_reads import queries_in_config
from policy_engine.dbt.lexing import holds_no_data
from policy_engine.dbt.manifest import Manifest, Node, mapping, sequence, text
from policy_engine.dbt.naming import Name, Names, dialect_of, shown
from policy_engine.dbt.raw_text import (
    has_code,
    is_generic_test,
    is_plain,
    is_word,
    refs_in,
    texts_in,
    with_holes,
    without,
    without_refs,
    words_in,
)
from policy_engine.dbt.relations import Read, Reads, named_in, reads_of, scanned_reads
from policy_engine.dbt.taint import Edge

BY_NAME, BRANCH, QUERY = "by name", "in another branch", "by name, in a text of its template"
CONFIG = "by name, in its config"
SAME = "the same table"
_HOLE_NAME = "policy_engine_hole"

READ_KINDS = ("model", "snapshot", "test", "function", "source", "unit_test")
"""The kinds of nodes whose text runs."""


@dataclass(frozen=True)
class NodeReads:
    """Hidden ``edges``, what dbt does not know (``unknown``), and why a text is not read."""

    edges: tuple[Edge, ...] = ()
    unknown: tuple[str, ...] = ()
    unread: str = ""


@dataclass
class Found:
    """What is found while one node is read."""

    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    unread: str = ""

    def edge(self, edge: Edge) -> None:
        """Note an edge; of two between the same nodes the first stays."""
        self.edges.setdefault((edge.parent, edge.child), edge)

    def reads(self) -> NodeReads:
        """All that was found."""
        return NodeReads(tuple(self.edges.values()), tuple(self.unknown), self.unread)


@dataclass
class Reader:
    """Reads the nodes of a manifest; ``target`` is the folder with dbt's compiled files."""

    manifest: Manifest
    target: Path | None = None
    project: Path | None = None
    _allowed: dict[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def dialect(self) -> str:
        """The dialect of the warehouse."""
        return dialect_of(self.manifest.adapter)

    @cached_property
    def names(self) -> Names:
        """Every relation of the project by name."""
        names = Names(self.dialect)
        taken = set()
        for node in self.manifest.nodes.values():
            for written in relations_of(node):
                names.add(node.id, written)
                taken.add(written.lower())
        for node in self.manifest.disabled:
            # What is not built any more may still be there, unless another took its place.
            if node.id not in self.manifest.nodes and node.relation.lower() not in taken | {""}:
                names.add(node.id, node.relation)
        return names

    @cached_property
    def _calls(self) -> Mapping[str, str]:
        """Relations that are no names, such as a source that is a file, and a name for each."""
        sources = self.manifest.of_kind("source")
        texts = {each for node in sources for each in relations_of(node)}
        return {
            written: f'"{_HOLE_NAME}_{place}"'
            for place, written in enumerate(sorted(texts, key=len, reverse=True))
            if self.names.read_by(written)
        }

    # Texts

    def compiled(self, node: Node) -> str | None:
        """The text that runs, from the manifest or from the file that dbt wrote."""
        if node.kind in _WITHOUT_FILES:
            return ";".join(_queries_of(node))
        if node.compiled is not None or self.target is None or not node.file:
            return node.compiled
        files = [self.target / "compiled" / node.package / node.file]
        written = text(node.data, "compiled_path")
        if written and self.project is not None:
            files.insert(0, self.project / written)
        for file in files:
            if file.is_file() and not self._is_older(file, node):
                try:
                    found = file.read_text("utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
                if self._is_of_this_target(found, node):
                    return found
        return None

    def _is_of_this_target(self, compiled: str, node: Node) -> bool:
        """Whether a text that dbt wrote once names anything as this manifest does."""
        near = (self.manifest.nodes.get(id_) for id_ in self.manifest.child_of(node))
        named = [each.relation for each in near if each is not None and each.relation]
        return not named or any(name in compiled for name in (*named, node.relation) if name)

    def _is_older(self, file: Path, node: Node) -> bool:
        """Whether the file that a text was compiled from is younger than what came of it."""
        own = None if self.project is None else self.project / node.file
        try:
            return own is not None and own.stat().st_mtime > file.stat().st_mtime
        except OSError:
            return False

    def allowed(self, node: Node) -> frozenset[str]:
        """What a node may read by name: its parents, and through ephemeral ones theirs."""
        if node.id not in self._allowed:
            found = {node.id}
            ahead = list(self.manifest.child_of(node))
            while ahead:
                id_ = ahead.pop()
                if id_ in found:
                    continue
                found.add(id_)
                parent = self.manifest.nodes.get(id_)
                if parent is not None and parent.materialized == "ephemeral":
                    ahead += self.manifest.child_of(parent)
            self._allowed[node.id] = frozenset(found)
        return self._allowed[node.id]

    # Reading

    def may_read(self, node: Node, identifiers: frozenset[str]) -> bool:
        """Whether a node may read a relation of one of these names beside its declared parents.

        It tells without reading the text in earnest: a word that is not there is not read.
        """
        compiled, allowed = self.compiled(node), self.allowed(node)
        if node.kind in _WITHOUT_FILES:
            return not identifiers.isdisjoint(words_in(compiled or ""))
        if queries_in_config(node):
            return True
        if node.is_python or compiled is None or not self._is_told(node, allowed):
            return True
        for id_ in allowed:
            parent = self.manifest.nodes.get(id_)
            if parent is not None and parent.relation and parent.relation in compiled:
                compiled = without(compiled, parent.relation)
        if has_code(node):
            compiled = f"{compiled} {without_refs(node.raw)}"
        if not identifiers.isdisjoint(words_in(compiled)):
            return True
        if "*" in compiled and self.dialect == "bigquery":
            return True
        return any(each in compiled.lower() for each in _no_words(identifiers))

    def _is_told(self, node: Node, allowed: frozenset[str]) -> bool:
        """Whether every ref of a template, in whatever branch, is one that is known."""
        return not has_code(node) or all(id_ in allowed for id_ in refs_in(node, self.manifest))

    def read(self, node: Node, *, branches: bool = True) -> NodeReads:
        """What a node reads beside its declared parents.

        Without ``branches`` the template is left out: ``may_read`` saw nothing there.
        """
        compiled, allowed, found = self.compiled(node), self.allowed(node), Found()
        if node.kind in _WITHOUT_FILES:
            self.note(reads_of(compiled or "", self.dialect), node, allowed, found, counts=False)
            return found.reads()
        if node.is_python:
            self._texts(node, allowed, found)
            return found.reads()
        for query in queries_in_config(node):
            reads = reads_of(self._plain(f"select {query}"), self.dialect)
            self.note(reads, node, allowed, found, how=CONFIG)
        if compiled is not None:
            self.note(reads_of(self._plain(compiled), self.dialect), node, allowed, found)
        if is_generic_test(node) or not (has_code(node) or compiled is None):
            return found.reads()
        if compiled is None:
            written = self._plain(with_holes(node.raw, _HOLE_NAME))
            self.note(reads_of(written, self.dialect), node, allowed, found)
            if not is_plain(node):
                found.unread = "it is not compiled"
        if compiled is None or branches or not self._is_told(node, allowed):
            self._template(node, allowed, found, words_in(compiled or ""))
        return found.reads()

    def _template(
        self, node: Node, allowed: frozenset[str], found: Found, known: frozenset[str]
    ) -> None:
        """What a template says in any of its branches; ``known`` are the words that were read."""
        for parent in refs_in(node, self.manifest):
            if parent and parent not in allowed:
                found.edge(Edge(parent, node.id, BRANCH))
        reads = scanned_reads(self._plain(with_holes(node.raw, _HOLE_NAME)))
        names = tuple(
            read
            for read in reads.names
            if len(read.name) > 1 or (read.sure and read.name[0].text.lower() not in known)
        )
        self.note(Reads(names, reads.calls, parsed=False), node, allowed, found, counts=False)
        self._texts(node, allowed, found)

    def _texts(self, node: Node, allowed: frozenset[str], found: Found) -> None:
        """What the texts of a template, or of a Python model, name."""
        names = {read for text in texts_in(node) for read in named_in(text)}
        reads = Reads(tuple(Read(read.name, False) for read in names), parsed=False)
        self.note(reads, node, allowed, found, how=QUERY, counts=False)

    def _plain(self, written: str) -> str:
        """A text with a name in the place of each source that is a call or a file."""
        for call, name in self._calls.items():
            if call in written:
                written = written.replace(call, name)
        return written

    # Names

    def meant(self, name: Name) -> tuple[frozenset[str], frozenset[str]]:
        """The nodes that a name means: surely, and perhaps."""
        if len(name) == 1 and name[0].text.startswith(f"{_HOLE_NAME}_"):
            call = next((k for k, v in self._calls.items() if v == f'"{name[0].text}"'), "")
            return self.names.read_by(call), frozenset()
        if _has_hole(name):
            return frozenset(), self._with_hole(name)
        found = self.names.meant(name)
        if not found.any and len(name) == 1 and name[0].quoted:
            return self.names.read_by(f"'{name[0].text}'"), frozenset()
        return found.surely, found.perhaps

    def _with_hole(self, name: Name) -> frozenset[str]:
        """The nodes that a name may mean whose schema or database only a run can tell."""
        if _HOLE_NAME in name[-1].text:
            return frozenset()
        return self.names.meant(name[-1:]).any

    def note(
        self,
        reads: Reads,
        node: Node,
        allowed: frozenset[str],
        found: Found,
        *,
        how: str = BY_NAME,
        counts: bool = True,
    ) -> None:
        """Note the edges and the unknown relations of what a text reads."""
        for read in reads.names:
            surely, perhaps = self.meant(read.name)
            is_declared = bool(surely & allowed) and (len(read.name) > 1 or len(surely) == 1)
            for parent in sorted((surely or perhaps) - allowed) if not is_declared else ():
                found.edge(Edge(parent, node.id, how))
            is_known = bool(surely) or not read.sure or holds_no_data(read.name)
            if not is_known and counts and not _has_hole(read.name):
                found.unknown[shown(read.name)] = None
        for call in reads.calls:
            surely, perhaps = self.meant(call.name) if call.name else (frozenset(), frozenset())
            for parent in sorted((surely | perhaps) - allowed):
                found.edge(Edge(parent, node.id, how))
            if not surely and counts:
                found.unknown[_brief(call.text)] = None


_WITHOUT_FILES = ("source", "unit_test")


def _queries_of(node: Node) -> Iterator[str]:
    """The query that a source of dbt-duckdb is, and those by which a unit test makes its rows."""
    if node.kind == "source":
        yield from (f"select * from {each}" for each in relations_of(node) if "(" in each)
    for given in (*sequence(node.data, "given"), node.data.get("expect")):
        rows = given.get("rows") if isinstance(given, Mapping) else None
        if isinstance(rows, str):
            yield rows


def relations_of(node: Node) -> Iterator[str]:
    """Every relation that a node is or makes."""
    if node.relation:
        yield node.relation
    if node.kind == "source":
        yield from _external(node)
    if node.kind == "saved_query":
        for export in sequence(node.data, "exports"):
            if isinstance(export, Mapping):
                config = mapping(export, "config")
                alias = text(config, "alias") or text(export, "name")
                parts = (text(config, "database"), text(config, "schema_name"), alias)
                yield ".".join(f'"{part}"' for part in parts if part)


def _external(node: Node) -> Iterator[str]:
    """The file that a source of dbt-duckdb is; dbt v2 does not say so in relation_name."""
    for place in (node.config, mapping(node.config, "meta"), mapping(node.data, "meta")):
        location = text(place, "external_location")
        for key in ("name", "identifier", "schema", "source_name") if location else ():
            location = location.replace("{" + key + "}", text(node.data, key) or node.name)
        if location:
            yield location if "(" in location else f"'{location}'"
            return


@lru_cache(maxsize=16)
def _no_words(identifiers: frozenset[str]) -> tuple[str, ...]:
    """The names that are no single word, such as "People Dim"."""
    return tuple(each for each in identifiers if not is_word(each))


def _has_hole(name: Name) -> bool:
    return any(_HOLE_NAME in part.text for part in name)


def _brief(written: str) -> str:
    line = " ".join(written.split())
    return line if len(line) <= 60 else line[:57] + "..."


def edges_of_graph(manifest: Manifest, nodes: Iterable[Node]) -> Iterator[Edge]:
    """The edges that dbt knows."""
    for node in nodes:
        for parent in manifest.child_of(node):
            yield Edge(parent, node.id)
