"""The gate: no sensitive data leaves the project but through a certified release.

It reads dbt's manifest and the compiled SQL, never dbt itself. Sensitive data starts at what is
marked, and at what a policy names as its source; it goes along every edge, declared or not; and it
is cut only at a release that is what the kernel prints for its policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.dbt import sinks
from policy_engine.dbt.checked import CheckedRelease, Policies, check_release
from policy_engine.dbt.foreign import (
    OURS,
    Code,
    changed_macros,
    foreign_code,
    replaced_macros,
)
from policy_engine.dbt.manifest import Manifest, Node, mapping, read_manifest, short, text
from policy_engine.dbt.marks import Marks, Words, marks_of
from policy_engine.dbt.project import DbtProject, before_dbt, variables_of
from policy_engine.dbt.reading import READ_KINDS, NodeReader, NodeReads
from policy_engine.dbt.review import read_review, unreviewed
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.taint import Edge, Graph, Taint
from policy_engine.dbt.texts import queries_in_config, read
from policy_engine.policy.places import folder_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.policy.project_models import DbtSpec


@frozen
class GateVerdict:
    """What the gate found: ``findings`` stop, ``notes`` are said, and what was looked at.

    ``marked`` are the sensitive nodes by id, each with its sensitive columns: none where all are.
    """

    manifest: Manifest
    findings: tuple[GateFinding, ...] = ()
    notes: tuple[str, ...] = ()
    marked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reached: tuple[str, ...] = ()
    sinks: int = 0
    releases: tuple[CheckedRelease, ...] = ()
    codes: tuple[Code, ...] = ()

    @property
    def checked_nothing(self) -> bool:
        """Whether there was nothing to protect and nothing to certify."""
        return not self.findings and not self.marked and not self.releases


def check_project(
    project: DbtProject, manifest: Path | None = None, before: GateVerdict | None = None
) -> GateVerdict:
    """The verdict on a dbt project, from its manifest and its files; ``before`` is another's.

    Raises:
        FileError: the manifest is missing, damaged, or of a version that is not known.
        PolicyError: a file of the project has a name that dbt would read as its own.
    """
    return Gate(read_manifest(manifest or project.manifest), project, before).verdict()


@dataclass
class Gate:
    """One run of the gate over one manifest.

    What was marked in the verdict ``before`` must be so still.
    """

    manifest: Manifest
    project: DbtProject | None = None
    before: GateVerdict | None = None
    findings: list[GateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def verdict(self) -> GateVerdict:
        """Everything that is found, in the order of the files."""
        folders = (self.project.target, self.project.directory) if self.project is not None else ()
        spec = _spec(self.project)
        words = Words(frozenset(spec.sensitive.tags), spec.sensitive.meta) if spec else Words()
        reader, marks = NodeReader(self.manifest, *folders), self._marks(words)
        policies = self._policies(reader)
        is_marked = any(each.sensitive or each.columns or each.release for each in marks.values())
        columns = {id_: mark.columns for id_, mark in marks.items() if mark.columns}
        whole = {id_ for id_, mark in marks.items() if mark.sensitive}
        whole |= policies.sources.keys()
        marked = {**columns, **dict.fromkeys(whole, frozenset[str]())}
        for id_ in sorted(id_ for id_, mark in marks.items() if mark.has_policy):
            node = self.manifest.nodes.get(id_)
            if node is not None and id_ not in policies.sources and not policies.findings:
                self._find(
                    "G31",
                    node,
                    " names a policy that is not its policy, or that is not in a properties file",
                )
        self._marks_lost(marked)
        if not (is_marked or policies.sources or policies.notes or self.findings):
            return GateVerdict(self.manifest, notes=tuple(self.notes))
        self._stale()
        off = self._switched_off(reader, marks)
        releases, cuts = self._releases(reader, marks, policies, off)
        read = [*off, *self.manifest.of_kind(*READ_KINDS)]
        reads = {node.id: reader.read(node) for node in read if node.kind in READ_KINDS}
        graph = self._graph(reader, reads)
        cuts -= marked.keys()
        held: Mapping[str, frozenset[str]] = {}
        if columns:
            # A parser takes long to load, and most projects mark whole nodes.
            from policy_engine.dbt.columns import spread

            held = spread(reader, graph, whole, columns, cuts)
        ended = {edge.child for id_ in held for edge in graph.edges(id_)} - held.keys()
        taint = graph.taint(sorted(marked), cuts, ended)
        for id_, file in policies.public.items():
            if id_ in taint:
                label = self.manifest.nodes[id_].label
                said = f"{label} is joined as public, but holds sensitive data"
                self.findings.append(finding("G34", said, file, names=(label,)))
        self._unmarked(graph, taint, marks)
        private = (spec.private.schemas, spec.private.roles) if spec else ((), ())
        view = sinks.View(
            self.manifest, reader, reads, graph, taint, cuts, marks, tuple(releases), off,
            *private, held,
        )  # fmt: skip
        review, today = read_review(self.project), date.today()
        variables = variables_of(self.manifest, self.project)
        codes: tuple[Code, ...] = ()
        if taint:
            first = before_dbt(self.project)
            shown = (
                dict(graph.behind((node.id for node, _ in view.sinks), cuts)).keys() - taint.keys()
            )
            codes = foreign_code(self.manifest, taint.__contains__, variables, first, shown)
        codes += tuple(sinks.audiences(view))
        self.findings += sinks.findings(view, self.project)
        self.findings += unreviewed(codes, review, self.project, today)
        kept, waivers = review.waived(self.findings, today)
        return GateVerdict(
            manifest=self.manifest,
            findings=tuple(_placed_all(kept, self.project)),
            notes=tuple(dict.fromkeys([*self.notes, *waivers])),
            marked=marked,
            reached=tuple(sorted(taint)),
            sinks=len(view.sinks),
            releases=tuple(releases),
            codes=codes,
        )

    def _find(self, code: str, node: Node, said: str, *what: str) -> None:
        """Note what is ``said`` of a node, behind its name; ``what`` of it tells it from others."""
        file, names = self.manifest.file_of(node), (node.label, *what)
        self.findings.append(finding(code, f"{node.label}{said}", file, names=names))

    def _unmarked(self, graph: Graph, taint: Taint, marks: Mapping[str, Marks]) -> None:
        """Say what stands before what is marked, and has no mark: it is as sensitive, or less."""
        found: dict[str, str] = {}
        ahead = [(id_, id_) for id_, mark in marks.items() if mark.sensitive or mark.columns]
        while ahead:
            node, marked = ahead.pop(0)
            for parent in graph.before(node):
                is_known = parent in self.manifest.nodes and parent not in taint
                if is_known and parent not in found and not marks[parent].classified:
                    found[parent] = marked
                    ahead.append((parent, marked))
        names = [
            f"{self.manifest.nodes[each].label} (before {self.manifest.nodes[marked].label})"
            for each, marked in found.items()
            if marked in self.manifest.nodes
        ]
        if names:
            self.notes.append(
                f"not marked, but read by nodes that are marked sensitive: {_few(names)}"
            )

    def _marks_lost(self, marked: Mapping[str, frozenset[str]]) -> None:
        """Find what was sensitive before, and is not, by its id or by the name of its table."""
        if self.before is None:
            return
        stands = {node.relation.lower(): node for node in self.manifest.nodes.values()}
        nodes, gone = self.before.manifest.nodes, []
        for id_, columns in sorted(self.before.marked.items()):
            relation = nodes[id_].relation.lower() if id_ in nodes else ""
            node = self.manifest.nodes.get(id_) or stands.get(relation or "-")
            if node is None:
                gone.append(short(id_))
                continue
            left = marked.get(node.id)
            lost = columns - left if columns and left else columns
            if left is None or (left and (lost or not columns)):
                what = f" in {', '.join(sorted(lost))}" if lost else ""
                said = f" was sensitive{what} in the earlier manifest, and is not in this one"
                self._find("G33", node, said, *sorted(lost))
        if gone:
            self.notes.append(
                f"sensitive in the earlier manifest, and not in this one: {', '.join(gone)}"
            )

    def _marks(self, words: Words) -> Mapping[str, Marks]:
        nodes = (*self.manifest.nodes.values(), *self.manifest.disabled)
        found = {node.id: marks_of(node, words) for node in nodes}
        for node in self.manifest.nodes.values():
            for fault in found[node.id].faults:
                self._find("G30", node, f": {fault}; it counts as sensitive")
        return found

    def _policies(self, reader: NodeReader) -> Policies:
        files = self.project.policies() if self.project is not None else ()
        if not files or self.project is None:
            return Policies()
        from policy_engine.dbt.releases import read_policies

        found = read_policies(files, reader, self.project.shown)
        self.findings += found.findings
        self.notes += found.notes
        return found

    def _stale(self) -> None:
        if self.project is None:
            self.notes.append("without the project's folder: its policies and files were not seen")
            return
        from policy_engine.dbt.stale import stale, younger_files

        self.findings += stale(self.manifest, self.project)
        younger = list(younger_files(self.manifest, self.project))
        if younger:
            said = f"written after the manifest: {_few(younger)}; run 'dbt compile' if it changed"
            self.notes.append(said)

    def _switched_off(self, reader: NodeReader, marks: Mapping[str, Marks]) -> tuple[Node, ...]:
        """The ways out that are disabled here, and that another target may enable.

        A manifest does not say whether a node is disabled for good: it is, where a literal
        ``false`` is found for it. What a variable switches on, who gives it by hand, is only said.
        """
        off = []
        for node in self.manifest.disabled:
            ways = sinks.ways_out(node, marks[node.id], reader.dialect)
            if node.id in self.manifest.nodes or not any(ways):
                continue
            values = {_bare(each) for each in _values(node, self.project)}
            others = values - {"true", "false"}
            asking = {each for each in others if _BY_A_VARIABLE.fullmatch(each)}
            if others != asking or not ("false" in values or asking):
                off.append(node)
            elif asking:
                said = (
                    f"{node.label} is switched off until a variable is given, and was not checked"
                )
                self.notes.append(f"{said}: gate a manifest made with the variable as well")
        for node in off:
            said = f"{node.label} is switched off in this manifest, and only its template was read"
            self.notes.append(f"{said}: gate the manifest of the target that builds it as well")
        return tuple(off)

    def _releases(
        self,
        reader: NodeReader,
        marks: Mapping[str, Marks],
        policies: Policies,
        off: tuple[Node, ...],
    ) -> tuple[list[CheckedRelease], set[str]]:
        """What the releases were found to be, and which nodes cut the way of sensitive data.

        A release that is switched off here is no finding, and cuts where it is certified.
        """
        named = {id_ for id_, mark in marks.items() if mark.release or mark.generated}
        nodes = [node for id_, node in self.manifest.nodes.items() if id_ in named]
        is_vendored = any(macro.package == OURS for macro in self.manifest.macros.values())
        wrong = [*replaced_macros(self.manifest, before_dbt(self.project))] if nodes else []
        if is_vendored or any(f"{OURS}." in node.raw for node in nodes):
            # What runs in the hooks of the package is trusted, so it must be the shipped one.
            wrong += changed_macros(self.manifest)
        self.findings += wrong
        checked: list[CheckedRelease] = []
        cuts: set[str] = set()
        for node in (*nodes, *(each for each in off if each.id in named)):
            release, file = policies.by_model.get(node.id), policies.files.get(node.name, "")
            found = check_release(reader, node, marks[node.id], release, file)
            if node.id not in self.manifest.nodes:
                cuts |= {node.id} if found.is_certified else set()
                continue
            if queries_in_config(node):
                self._find(
                    "G20",
                    node,
                    " is a release with a query in its config, which cannot be certified",
                )
                found = replace(found, is_certified=False)
            self.findings += found.findings
            self.notes += found.notes
            checked.append(replace(found, is_certified=found.is_certified and not wrong))
        return checked, cuts | {each.node for each in checked if each.is_certified}

    def _graph(self, reader: NodeReader, reads: Mapping[str, NodeReads]) -> Graph:
        """Who reads what, as dbt knows it and as texts say, and which nodes are one table."""
        graph = Graph()
        for node in (*self.manifest.nodes.values(), *self.manifest.disabled):
            for parent in self.manifest.child_of(node):
                graph.add(Edge(parent, node.id))
        for group in reader.names.shared():
            for pair in permutations(sorted(group), 2):
                graph.add(Edge(*pair, "the same table"))
        for each in reads.values():
            for edge in each.edges.values():
                graph.add(edge)
        return graph


def _spec(project: DbtProject | None) -> DbtSpec | None:
    folder = None if project is None else folder_of(project.directory.absolute())
    if folder is None:
        return None
    # The form of the project file takes long to load, and many projects have none.
    from policy_engine.policy.project import find_project, load_project

    file = find_project(folder)
    return load_project(file).dbt if file is not None else None


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


# What is switched off

_IN_SQL = re.compile(r"\benabled\s*=\s*(?P<value>(?:var\([^)]*\)|[^,)\s])+)", re.IGNORECASE)
_BY_A_VARIABLE = re.compile(r"var\(\s*(['\"])[\w.]+\1\s*,\s*['\"]?false['\"]?\s*\)(?:\s*\|\s*\w+)?")
_IN_YAML = re.compile(r"\benabled['\"]?\s*:\s*(?P<value>\"[^\"\n]*\"|'(?:[^'\n]|'')*'|[^\n#,}]*)")


def _values(node: Node, project: DbtProject | None) -> Iterator[str]:
    """What is written for ``enabled`` in the texts that may say so."""
    found = mapping(node.data, "unrendered_config").get("enabled")
    if isinstance(found, str):
        yield found.removeprefix("=")
    yield from (each["value"] for each in _IN_SQL.finditer(node.raw))
    patch = text(node.data, "patch_path").partition("://")[2]
    own = node.file if node.file.endswith((".yml", ".yaml")) else ""
    if project is None:
        return
    for file in filter(None, ("dbt_project.yml", patch, own)):
        yield from (each["value"] for each in _IN_YAML.finditer(read(project.directory / file)))


def _bare(value: str) -> str:
    """A value without its quotes and braces."""
    bare = value.strip().strip("\"'").strip()
    return bare.removeprefix("{{").removesuffix("}}").strip().lower()


# Where findings stand


def _placed_all(findings: Iterable[GateFinding], project: DbtProject | None) -> list[GateFinding]:
    lined = [
        each
        if each.line or not each.file or project is None
        else replace(each, line=_line(each, read(project.directory / each.file)))
        for each in dict.fromkeys(findings)
    ]
    return sorted(lined, key=lambda each: (each.code, each.file, each.line, each.message))


def _line(found: GateFinding, text: str) -> int:
    """The line that a finding speaks of; 0 where none can be told."""
    if found.code == "G07" and text.count("store_failures") == 1:
        return _first("store_failures", text)
    if found.file.endswith((".yml", ".yaml")):
        wanted = found.names[0].rpartition(" ")[2].rpartition(".")[2]
        return _first(rf"^\s*-?\s*name:\s*['\"]?{re.escape(wanted)}['\"]?\s*(?:#.*)?$", text)
    if found.code in {"G08", "G09"} and len(found.path) > 1:
        wanted = found.path[-2] if found.code == "G08" else found.path[0]
        last = wanted.split(" ")[0].rpartition(".")[2].strip("\"'`[]")
        return _first(rf"(?<!\w){re.escape(last)}(?!\w)", text, re.IGNORECASE) if last else 0
    return 1 if text else 0


def _first(pattern: str, text: str, flags: int = 0) -> int:
    """The line of the first word of what a pattern finds; 0 where it finds nothing."""
    match = re.search(pattern, text, re.MULTILINE | flags)
    if match is None:
        return 0
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    return text.count("\n", 0, start) + 1
