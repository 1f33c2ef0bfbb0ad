"""Where data leaves a project, and what of it holds sensitive data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

from policy_engine.dbt.checked import CheckedRelease
from policy_engine.dbt.foreign import AUDIENCE, Code, is_own_call
from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import (
    Manifest,
    Node,
    leaves,
    mapping,
    sequence,
    short,
    text,
    words_in,
)
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.project import DbtProject, last_run
from policy_engine.dbt.reading import BRANCH, READ_KINDS, NodeReader, NodeReads
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.taint import Edge, Graph, Taint, way_to
from policy_engine.engines.sql_rules import rules_of
from policy_engine.values import frozen

_NAMED = 5
_PLAIN_NAMES = "Write each grantee as a plain name, one an item."
_MADE_BY_A_HOOK = "Write it as a model and use ref(). An ephemeral model makes no table."
_MADE = ("model", "seed", "snapshot")
_FOLDERS = (
    "location_root", "custom_location", "external_location", "s3_data_dir", "storage_uri",
    "external_volume", "catalog_name", "engine",
)  # fmt: skip
"""By what adapters are told to make tables as files in a place of somebody's choice."""


@frozen
class View:
    """A project with everything that is known of where its data goes."""

    manifest: Manifest
    reader: NodeReader
    reads: Mapping[str, NodeReads]
    graph: Graph
    taint: Taint
    certified: set[str]
    marks: Mapping[str, Marks]
    releases: tuple[CheckedRelease, ...] = ()
    off: tuple[Node, ...] = ()
    schemas: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def sinks(self) -> tuple[tuple[Node, str], ...]:
        """The nodes through which data leaves, each with the code of the rule."""
        return tuple(_sinks(self))

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Every node by its id, those that are switched off as well."""
        return {node.id: node for node in self.manifest.disabled} | dict(self.manifest.nodes)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The names of the relations with the secrets of samples, in lower case."""
        return frozenset(each.secrets for each in self.releases if each.secrets)

    def strangers(self, node: Node) -> tuple[str, ...]:
        """The grantees of a relation that are no private role."""
        roles = {each.lower() for each in self.roles}
        granted = dict.fromkeys(grantee for _, grantee in _grants_of(node))
        return tuple(each for each in granted if roles and each.strip().lower() not in roles)

    def label(self, id_: str) -> str:
        """A node's name as people say it."""
        return self.nodes[id_].label if id_ in self.nodes else id_

    def way(self, id_: str) -> tuple[str, ...]:
        """The names from where the data is to a node; how, where dbt does not know it."""
        edges = way_to(id_, self.taint)
        return (self.label(edges[0].parent if edges else id_), *self.steps(edges))

    def steps(self, edges: Iterable[Edge]) -> tuple[str, ...]:
        """The names of where edges lead."""
        return tuple(
            f"{self.label(edge.child)} ({edge.how})" if edge.how else self.label(edge.child)
            for edge in edges
        )

    def origins(self, id_: str) -> tuple[str, ...]:
        """The ids of all that is marked and reaches a node, each column's behind its node's."""
        found: list[str] = []
        for each in self.graph.beginnings(id_, self.taint):
            columns = () if self.marks[each].sensitive else self.marks[each].columns
            found += [f"{each}.{name}" for name in columns] or [each]
        return tuple(sorted(found))

    def found(
        self, code: str, node: Node, said: str, *what: str, path: tuple[str, ...] = (),
        remedy: str = "",
    ) -> GateFinding:  # fmt: skip
        """A finding of what is said of a node; ``what`` of it tells it from others."""
        file, names = self.manifest.file_of(node), (node.label, *what)
        return finding(
            code, f"{node.label} {said}", file, path=path, remedy=remedy, names=names,
            origins=tuple(map(short, self.origins(node.id))),
        )  # fmt: skip


def ways_out(node: Node, marks: Marks, dialect: str) -> Iterator[str]:
    """The codes by which a node is a way out, wherever it stands."""
    if node.kind == "exposure":
        yield "G01"
    elif node.kind == "semantic_model":
        yield "G04"
    elif node.access == "public" or marks.public:
        yield "G02"
    if _everybody(node, dialect):
        yield "G03"
    if node.kind == "saved_query" and sequence(node.data, "exports"):
        yield "G04"


def _sinks(view: View) -> Iterator[tuple[Node, str]]:
    private = {each.lower() for each in view.schemas}
    for node in view.manifest.nodes.values():
        for code in ways_out(node, view.marks[node.id], view.reader.dialect):
            yield node, code
        schema = text(node.data, "schema").lower()
        places = {schema, f"{text(node.data, 'database').lower()}.{schema}"}
        is_out = bool(private) and private.isdisjoint(places)
        if node.kind in _MADE and node.relation and (is_out or view.strangers(node)):
            yield node, "G15"
    yield from ((node, "G13") for node in view.off)


def audiences(view: View) -> Iterator[Code]:
    """The audiences of what shows sensitive data: each is reviewed, with all that reaches it."""
    for node, _ in view.sinks:
        told = view.marks[node.id].audience
        if told and node.id in view.taint:
            file, reached = view.manifest.file_of(node), view.origins(node.id)
            yield Code(AUDIENCE, node.label, file, (", ".join(sorted(told)),), reached)


_COUNTS = re.compile(r"\s*(?:count\s*\(\s*(?:\*|1)\s*\)\s*)?", re.IGNORECASE)
"""What a test tells of the rows that fail, by itself: how many there are."""


def findings(view: View, project: DbtProject | None) -> Iterator[GateFinding]:
    """Everything by which sensitive data leaves, or a release is not what was certified."""
    yield from _shown(view)
    yield from _read_by_name(view)
    yield from _not_known(view)
    stored = _stores_failures(project)
    for node in view.manifest.nodes.values() if view.taint else ():
        for each in _no_names(node):
            said, remedy = f"is granted to something that is not a name: {each}", _PLAIN_NAMES
            yield view.found("G03", node, said, each, remedy=remedy)
        if node.id not in view.taint:
            continue
        if node.kind == "test" and (how := _stores(node, stored)):
            said = f"stores rows of sensitive data ({how})"
            yield view.found("G07", node, said, path=view.way(node.id))
        if node.kind == "test" and not _COUNTS.fullmatch(text(node.config, "fail_calc")):
            said = "prints a value of sensitive data (fail_calc) in dbt's log"
            remedy = "Remove fail_calc: then dbt counts the failing rows. Or test the release."
            yield view.found("G07", node, said, path=view.way(node.id), remedy=remedy)
        places = (node.config, mapping(node.config, "properties"))
        named = (text(place, key) for place in places for key in _FOLDERS)
        folder = next((each for each in named if each and "MergeTree" not in each), "")
        if node.kind in _MADE and (folder or node.materialized in {"external", "sink"}):
            place = text(node.config, "location") or folder
            said = f"is written to a file or sent away{f', {place}' if place else ''}"
            found = view.found("G06", node, said, path=view.way(node.id))
            # One waiver is of all that is written there.
            yield replace(found, names=(folder, node.label)) if folder else found
    yield from _secrets_read(view)
    yield from _replaced_functions(view)


_SAID = {
    "G01": "shows sensitive data",
    "G02": "is public and holds sensitive data",
    "G03": "holds sensitive data and is granted to",
    "G04": "exports sensitive data",
    "G13": "is switched off in this manifest, and would show sensitive data where it is on",
    "G15": "holds sensitive data and is granted to",
}


def _shown(view: View) -> Iterator[GateFinding]:
    for node, code in view.sinks:
        is_asked = view.marks[node.id].audience or (code in _READ and _is_masked(view, node))
        if node.id not in view.taint or is_asked:
            continue
        said = _SAID[code]
        to: tuple[str, ...] = ()
        if code == "G02" and node.kind == "source":
            said = "is marked public, and is sensitive"
        elif code == "G04" and node.kind == "semantic_model":
            said = "serves sensitive data"
        elif code == "G03":
            to = _everybody(node, view.reader.dialect)
        elif code == "G15" and not (to := view.strangers(node)):
            schema = text(node.data, "schema")
            said = f"holds sensitive data and stands in {schema}, which is not private"
        more = f" {', '.join(to)}" if to else ""
        yield view.found(code, node, f"{said}{more}", *to, path=view.way(node.id))


_READ = words("G02 G03 G15")
"""The ways out by which a relation is read where it is, so that the warehouse masks its columns."""


def _is_masked(view: View, node: Node) -> bool:
    """Whether the warehouse masks all of a relation's columns that hold something sensitive.

    A mask is of this relation alone: what reads it holds what its builder saw.
    """
    held = view.held.get(node.id, frozenset())
    return bool(held) and held <= masked(node, view.manifest.adapter)


def masked(node: Node, adapter: str) -> frozenset[str]:
    """The columns that the adapter masks: by policy tags, a mask, or the package dbt_snow_mask.

    >>> masked(Node("model.a.b", {"config": {"materialized": "table"}, "columns": {
    ...     "Mail": {"policy_tags": ["projects/p/locations/eu/taxonomies/1/policyTags/2"]}}}),
    ...     "bigquery")
    frozenset({'mail'})
    """
    key = rules_of(adapter).mask
    is_applied = node.materialized in {"table", "incremental"}
    if adapter == "snowflake":
        is_applied = any("apply_masking_policy" in sql for _, sql in node.hooks())
    columns = mapping(node.data, "columns") if is_applied else {}
    found = set()
    for name, column in columns.items():
        if isinstance(column, dict):
            config = mapping(column, "config")
            places = (column, config, mapping(column, "meta"), mapping(config, "meta"))
            found |= {name.lower()} if any(each.get(key) for each in places) else set()
    return frozenset(found)


def _read_by_name(view: View) -> Iterator[GateFinding]:
    """Sensitive data that is read by the name of its table, of what is built here."""
    rows = "Write the rows into the test: if a unit test fails, dbt prints the result of its query."
    for id_, found in view.reads.items():
        if id_ in view.certified or id_ not in view.manifest.nodes:
            continue
        node = view.manifest.nodes[id_]
        for edge in found.edges.values():
            if edge.how != BRANCH and edge.parent in view.taint:
                read = view.label(edge.parent)
                said = f"reads {read} {edge.how}, without ref() or source()"
                way = (*view.way(edge.parent), node.label)
                remedy = rows if node.kind == "unit_test" else ""
                yield view.found("G08", node, said, read, path=way, remedy=remedy)


def _not_known(view: View) -> Iterator[GateFinding]:
    """What a sink rests on that dbt does not know, or whose text nobody can read."""
    unread: list[GateFinding] = []
    for id_, edges in view.graph.behind((sink.id for sink, _ in view.sinks), view.certified):
        found = view.reads.get(id_)
        if found is None:
            continue
        node = view.nodes[id_]
        way = (node.label, *view.steps(edges))
        made = words_in(" ".join(sql for _, sql in node.hooks() if "create" in sql.lower()))
        for name in found.unknown:
            last = name.lower().rpartition(".")[2]
            if last not in view.secrets:
                is_made = last in made
                why = "which a hook makes" if is_made else "which dbt does not know"
                said, remedy = f"reads {name}, {why}", _MADE_BY_A_HOOK if is_made else ""
                made_of = view.found("G09", node, said, name, path=(name, *way), remedy=remedy)
                # What is not known is where something sensitive may begin.
                yield replace(made_of, origins=(*made_of.origins, name))
        if found.unread and id_ not in view.manifest.nodes:
            said = f"is switched off in this manifest, and cannot be read: {found.unread}"
            yield view.found("G13", node, said)
        elif found.unread:
            unread.append(view.found("G10", node, f"cannot be read: {found.unread}", path=way))
    if len(unread) > _NAMED:  # as of a project that was only parsed
        names = tuple(each.names[0] for each in unread)
        said = "models before an exposure, a public model or a grant are not compiled"
        named = f"{len(unread)} {said}: {', '.join(names[:_NAMED])} …"
        unread = [finding("G10", named, names=names)]
    yield from unread


# Failures of tests


def _stores_failures(project: DbtProject | None) -> bool:
    """Whether dbt was asked to store failures, by its last run's options or the environment."""
    for name in ("DBT_STORE_FAILURES", "DBT_ENGINE_STORE_FAILURES"):
        if os.environ.get(name, "").strip().lower() in {"1", "true", "t", "yes", "y"}:
            return True
    return mapping(last_run(project), "args").get("store_failures") is True


def _stores(node: Node, is_asked: bool) -> str:
    """How a test stores its failures; '' where it does not."""
    kept, written = node.config.get("store_failures_as"), node.config.get("store_failures")
    if kept in {"table", "view"}:
        return f"store_failures_as: {kept}"
    if kept is None and written is True:
        return "store_failures: true"
    return "--store-failures" if kept is None and written is None and is_asked else ""


_FUNCTION = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:aggregate\s+)?(?:function|macro)\s+"
    r"(?:if\s+not\s+exists\s+)?[\w.\"`\[\]]*?\"?(\w+)[\"`\]]?\s*\(",
    re.IGNORECASE,
)


def _replaced_functions(view: View) -> Iterator[GateFinding]:
    called = frozenset(word for each in view.releases for word in each.words)
    for node in view.manifest.of_kind("function"):
        if node.name.lower() in called:
            yield view.found("G25", node, "has the name of a function that a release calls")
    for node, sql in _beside(view.manifest) if called else ():
        for name in _FUNCTION.findall(sql):
            if name.lower() in called:
                said = f"has a hook that makes a function {name}, which a release calls"
                yield view.found("G25", node, said, name)


def _secrets_read(view: View) -> Iterator[GateFinding]:
    if not view.secrets:
        return
    releases = {each.node for each in view.releases}
    for node in view.manifest.of_kind(*READ_KINDS):
        runs = view.reader.compiled(node) or node.raw
        if node.id not in releases and view.secrets & words_in(runs):
            yield view.found("G27", node, "reads the secrets of the samples")
    for node, sql in _beside(view.manifest):
        if view.secrets & words_in(sql):
            yield view.found("G27", node, "has a hook that touches the secrets of the samples")


def _beside(manifest: Manifest) -> Iterator[tuple[Node, str]]:
    """The texts that run beside the models, but for the calls of the engine's own package."""
    for node in manifest.nodes.values():
        for sql in (node.raw,) if node.kind == "operation" else (sql for _, sql in node.hooks()):
            if not is_own_call(sql):
                yield node, sql


# Grants, which dbt writes into a statement as they stand

_PLAIN = re.compile(r"[\w $.@:%-]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|'[^']*'")
_PRIVILEGE = re.compile(r"[\w ./+]+")
_QUOTING = words("bigquery databricks spark")
"""Dialects in which dbt quotes a grantee: there its words are one name."""
_EVERYBODY = words("""
    public everyone everybody allusers allauthenticatedusers specialgroup:allusers
    specialgroup:allauthenticatedusers % @%
""") | {"account users", "all users"}
"""Grantees that are everybody, or everybody who has an account."""


def _grants_of(node: Node) -> Iterator[tuple[str, str]]:
    """What a node's config grants: the privilege, and each grantee as it is written.

    ``{"+": […]}`` adds to what was granted before.
    """
    for privilege, value in mapping(node.config, "grants").items():
        for grantee in leaves(value):
            yield str(privilege), grantee


def _everybody(node: Node, dialect: str) -> tuple[str, ...]:
    """Those of a node's grantees that are everybody, or that have everybody among their words."""
    found = (grantee for _, grantee in _grants_of(node) if _has_everybody(grantee, dialect))
    return tuple(dict.fromkeys(found))


def _no_names(node: Node) -> tuple[str, ...]:
    """Those of a node's grants that are no plain names: dbt would write any text of them."""
    found = []
    for privilege, grantee in _grants_of(node):
        if not _PRIVILEGE.fullmatch(privilege):
            found.append(privilege)
        elif not _is_plain(grantee) and not all(map(_is_plain, grantee.split(","))):
            found.append(grantee)
    return tuple(dict.fromkeys(found))


def _is_plain(grantee: str) -> bool:
    return _PLAIN.fullmatch(grantee.strip()) is not None and "--" not in grantee


def _has_everybody(grantee: str, dialect: str) -> bool:
    """Whether a grantee is everybody or another account's share, alone or among others."""
    said = [grantee, *grantee.split(",")]
    if dialect not in _QUOTING:
        said += re.split(r"[^\w%@:]+", grantee)
    for each in said:
        bare = each.strip().strip("`\"'").lower()
        if bare.startswith("share "):
            return True
        for word in ("role ", "group ", "user "):
            bare = bare.removeprefix(word).strip("`\"' ")
        if bare in _EVERYBODY or bare in rules_of(dialect).everybody:
            return True
    return False
