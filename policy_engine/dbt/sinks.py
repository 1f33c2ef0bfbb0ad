"""Where data leaves a project, and what of it holds sensitive data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from policy_engine.dbt.foreign import is_own_call
from policy_engine.dbt.granted import everybody, grants_of, no_names
from policy_engine.dbt.manifest import Manifest, Node, sequence, text
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.raw_text import words_in
from policy_engine.dbt.reading import READ_KINDS, NodeReads, Reader
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.taint import Edge, Graph, Taint

if TYPE_CHECKING:
    from policy_engine.dbt.proving import Proved

_NAMED = 5


@dataclass(frozen=True)
class View:
    """A project with everything that is known of where its data goes.

    ``schemas`` and ``roles`` are the private ones.
    """

    manifest: Manifest
    reader: Reader
    graph: Graph
    taint: Taint
    certified: set[str]
    marks: Mapping[str, Marks]
    releases: tuple[Proved, ...] = ()
    off: tuple[Node, ...] = ()
    schemas: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def is_private(self, node: Node) -> bool:
        """Whether a relation stands where only private roles read."""
        schema = text(node.data, "schema").lower()
        full = f"{text(node.data, 'database').lower()}.{schema}"
        return any(each.lower() in {schema, full} for each in self.schemas)

    def strangers(self, node: Node) -> tuple[str, ...]:
        """The grantees of a relation that are no private role."""
        roles = {each.lower() for each in self.roles}
        granted = dict.fromkeys(grantee for _, grantee in grants_of(node))
        return tuple(each for each in granted if roles and each.strip().lower() not in roles)

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the relations with the secrets of samples, in lower case."""
        return frozenset(each.secrets for each in self.releases if each.secrets)

    @cached_property
    def called(self) -> frozenset[str]:
        """The words of every release's text, among them the functions that it calls."""
        return frozenset(word for each in self.releases for word in each.words)

    @cached_property
    def sinks(self) -> tuple[tuple[Node, str], ...]:
        """The nodes through which data leaves, each with the code of the rule."""
        return tuple(_sinks(self))

    def label(self, id_: str) -> str:
        """A node's name as people say it."""
        node = self.manifest.nodes.get(id_) or next(
            (node for node in self.manifest.disabled if node.id == id_), None
        )
        return node.label if node is not None else id_

    def way(self, id_: str) -> tuple[str, ...]:
        """The names from where the data is to a node; how, where dbt does not know it."""
        edges = self.taint.way(id_)
        start = edges[0].parent if edges else id_
        return (self.label(start), *self.steps(edges))

    def steps(self, edges: Iterable[Edge]) -> tuple[str, ...]:
        """The names of where edges lead."""
        return tuple(
            f"{self.label(edge.child)} ({edge.how})" if edge.how else self.label(edge.child)
            for edge in edges
        )


def _sinks(view: View) -> Iterator[tuple[Node, str]]:
    for node in view.manifest.nodes.values():
        marks = view.marks.get(node.id)
        if node.kind == "exposure":
            yield node, "G01"
        elif node.access == "public" or (marks is not None and marks.public):
            yield node, "G02"
        if everybody(node, view.reader.dialect):
            yield node, "G03"
        if node.kind == "saved_query" and sequence(node.data, "exports"):
            yield node, "G04"
        is_out = bool(view.schemas) and not view.is_private(node)
        if node.kind in _MADE and node.relation and (is_out or view.strangers(node)):
            yield node, "G15"
    yield from ((node, "G13") for node in view.off)


_MADE = ("model", "seed", "snapshot")
_SAID = {
    "G01": "shows sensitive data",
    "G02": "is public and holds sensitive data",
    "G03": "holds sensitive data and is granted to",
    "G04": "exports sensitive data",
    "G13": "is switched off in this manifest, and would show sensitive data where it is on",
}


def shown(view: View) -> Iterator[GateFinding]:
    """The sinks that sensitive data reaches."""
    for node, code in view.sinks:
        if not view.taint.reaches(node.id):
            continue
        if code == "G02" and node.kind == "source":
            said = f"{node.label} is marked public, and is sensitive"
        elif code == "G15" and (strangers := view.strangers(node)):
            said = f"{node.label} holds sensitive data and is granted to {', '.join(strangers)}"
        elif code == "G15":
            schema = text(node.data, "schema")
            said = f"{node.label} holds sensitive data and stands in {schema}, which is not private"
        else:
            to = f" {', '.join(everybody(node, view.reader.dialect))}" if code == "G03" else ""
            said = f"{node.label} {_SAID[code]}{to}"
        yield finding(code, said, view.manifest.file_of(node), path=view.way(node.id))


def odd_grants(view: View) -> Iterator[GateFinding]:
    """Grants to what is no name: dbt writes them into a statement as they stand."""
    for node in view.manifest.nodes.values():
        for each in no_names(node) if view.taint.reached else ():
            said = f"{node.label} is granted to what is no name: {each}"
            remedy = "Write one grantee an item, as a plain name."
            yield finding("G03", said, view.manifest.file_of(node), remedy=remedy)


def stored_failures(view: View, arguments: Mapping[str, Any]) -> Iterator[GateFinding]:
    """Tests of sensitive data that keep the rows that fail."""
    for node in view.manifest.of_kind("test"):
        how = _stores(node, arguments)
        if how and view.taint.reaches(node.id):
            yield finding(
                "G07",
                f"{node.label} stores rows of sensitive data ({how})",
                view.manifest.file_of(node),
                path=view.way(node.id),
            )


def _stores(node: Node, arguments: Mapping[str, Any]) -> str:
    """How a test stores its failures; '' where it does not."""
    kept, written = node.config.get("store_failures_as"), node.config.get("store_failures")
    if kept in {"table", "view"}:
        return f"store_failures_as: {kept}"
    if kept is None and written is True:
        return "store_failures: true"
    if kept is None and written is None and arguments.get("store_failures") is True:
        return "--store-failures"
    return ""


def written_elsewhere(view: View) -> Iterator[GateFinding]:
    """Models that write sensitive data to files."""
    for node in view.manifest.of_kind("model", "snapshot"):
        if node.materialized == "external" and view.taint.reaches(node.id):
            place = node.config.get("location")
            said = f"is written to a file{f', {place}' if isinstance(place, str) else ''}"
            message, file = f"{node.label} {said}", view.manifest.file_of(node)
            yield finding("G06", message, file, path=view.way(node.id))


def not_known(view: View, reads: dict[str, NodeReads]) -> Iterator[GateFinding]:
    """What a sink rests on that dbt does not know, or whose text nobody can read.

    What was not read before, because no sensitive name stands in it, is read now: ``reads`` grows,
    and the graph with it, while the way goes upwards.
    """
    unread: list[GateFinding] = []
    off = {node.id: node for node in view.off}
    for id_, edges in view.graph.behind((sink.id for sink, _ in view.sinks), view.certified):
        node = view.manifest.nodes.get(id_) or off.get(id_)
        if node is None or node.kind not in READ_KINDS:
            continue
        if id_ not in reads:
            reads[id_] = view.reader.read(node, branches=False)
            for edge in reads[id_].edges:
                view.graph.add(edge)
        found = reads[id_]
        way = (node.label, *view.steps(edges))
        yield from _unknown(node, found, way, view)
        if found.unread and id_ in off:
            said = f"{node.label} is switched off in this manifest, and cannot be read"
            yield finding("G13", f"{said}: {found.unread}", view.manifest.file_of(node))
        elif found.unread:
            said = f"{node.label} cannot be read: {found.unread}"
            unread.append(finding("G10", said, view.manifest.file_of(node), path=way))
    yield from _few(unread)


def _unknown(
    node: Node, found: NodeReads, way: tuple[str, ...], view: View
) -> Iterator[GateFinding]:
    """What a node reads that dbt does not know."""
    made = " ".join(sql.lower() for _, sql in node.hooks() if "create" in sql.lower())
    for name in found.unknown:
        last = name.lower().rpartition(".")[2]
        if last in view.secrets:
            continue
        is_made = last in words_in(made)
        what = "which a hook makes" if is_made else "which dbt does not know"
        said, file = f"{node.label} reads {name}, {what}", view.manifest.file_of(node)
        yield finding("G09", said, file, path=(name, *way), remedy=_OF_A_HOOK if is_made else "")


_OF_A_HOOK = "Make a model of it and ref() that; an ephemeral model leaves no table behind."


def _few(found: list[GateFinding]) -> Iterator[GateFinding]:
    """A few findings one by one; many of them, as of a project that was only parsed, as one."""
    if len(found) <= _NAMED:
        yield from found
        return
    said = f"{len(found)} models before an exposure, a public model or a grant are not compiled"
    yield finding("G10", f"{said}: {', '.join(each.path[0] for each in found[:_NAMED])} …")


_FUNCTION = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:aggregate\s+)?(?:function|macro)\s+"
    r"(?:if\s+not\s+exists\s+)?[\w.\"`\[\]]*?\"?(\w+)[\"`\]]?\s*\(",
    re.IGNORECASE,
)


def replaced_functions(view: View) -> Iterator[GateFinding]:
    """Functions of the project that have the name of one that a release calls."""
    for node in view.manifest.of_kind("function"):
        if node.name.lower() in view.called:
            said = f"{node.label} has the name of a function that a release calls"
            yield finding("G25", said, view.manifest.file_of(node))
    for node, sql in _beside(view.manifest) if view.called else ():
        for name in _FUNCTION.findall(sql):
            if name.lower() in view.called:
                said = f"has a hook that makes a function {name}, which a release calls"
                yield finding("G25", f"{node.label} {said}", view.manifest.file_of(node))


def _beside(manifest: Manifest) -> Iterator[tuple[Node, str]]:
    """The texts that run beside the models, but for the calls of the engine's own package."""
    for node in manifest.nodes.values():
        for sql in (node.raw,) if node.kind == "operation" else (sql for _, sql in node.hooks()):
            if not is_own_call(sql):
                yield node, sql


def secrets_read(view: View) -> Iterator[GateFinding]:
    """Models and hooks that read the secrets of the samples."""
    if not view.secrets:
        return
    releases = {each.node for each in view.releases}
    for node in view.manifest.of_kind(*READ_KINDS):
        runs = view.reader.compiled(node) or node.raw
        if node.id not in releases and view.secrets & words_in(runs):
            said = f"{node.label} reads the secrets of the samples"
            yield finding("G27", said, view.manifest.file_of(node))
    for node, sql in _beside(view.manifest):
        if view.secrets & words_in(sql):
            said = f"{node.label} has a hook that touches the secrets of the samples"
            yield finding("G27", said, view.manifest.file_of(node))
