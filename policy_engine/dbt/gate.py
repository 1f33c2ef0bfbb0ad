"""The gate: no sensitive data leaves the project but through a certified release.

It reads dbt's manifest and the compiled SQL, never dbt itself. Sensitive data starts at what is
marked, at what a policy names as its source and at what a release is drawn from; it goes along
every edge, declared or not; and it is cut only at a release that the kernel proved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.dbt import places, sinks
from policy_engine.dbt.config_reads import queries_in_config
from policy_engine.dbt.foreign import Code, foreign_code
from policy_engine.dbt.integrity import OURS, changed_macros, replaced_macros
from policy_engine.dbt.manifest import Manifest, Node, read_manifest
from policy_engine.dbt.marks import Marks, marks_of
from policy_engine.dbt.naming import read_name
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.raw_text import words_in
from policy_engine.dbt.reading import (
    BRANCH,
    READ_KINDS,
    SAME,
    NodeReads,
    Reader,
    edges_of_graph,
    relations_of,
)
from policy_engine.dbt.review import Review, read_review, unreviewed
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.switched_off import switched_off
from policy_engine.dbt.taint import Edge, Graph, Taint

if TYPE_CHECKING:
    from policy_engine.dbt.project_policies import Policies
    from policy_engine.dbt.proving import Proved


@dataclass(frozen=True)
class Verdict:
    """What the gate found: ``findings`` stop, ``notes`` are said, and what was looked at."""

    manifest: Manifest
    findings: tuple[GateFinding, ...] = ()
    notes: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()
    sinks: int = 0
    releases: tuple[Proved, ...] = ()
    codes: tuple[Code, ...] = ()

    @property
    def checked_nothing(self) -> bool:
        """Whether there was nothing to protect and nothing to prove."""
        return not self.findings and not self.sensitive and not self.releases


def check_project(project: DbtProject, manifest: Path | None = None) -> Verdict:
    """The verdict on a dbt project, from its manifest and its files.

    Raises:
        FileError: the manifest is missing, damaged, or of a version that is not known.
        PolicyError: a file of the project has a name that dbt would read as its own.
    """
    found = read_manifest(manifest or project.manifest)
    return Gate(found, project).verdict()


def check_manifest(manifest: Path) -> Verdict:
    """The verdict on a manifest alone: no policy, no compiled file and no place in a file is seen.

    Raises:
        FileError: it is missing, damaged, or of a version that is not known.
    """
    return Gate(read_manifest(manifest), None).verdict()


@dataclass
class Gate:
    """One run of the gate over one manifest; without a ``review`` it is the project's."""

    manifest: Manifest
    project: DbtProject | None = None
    review: Review | None = None
    findings: list[GateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def verdict(self) -> Verdict:
        """Everything that is found, in the order of the files."""
        marks = self._marks()
        reader = self._reader()
        policies = self._policies(reader)
        is_marked = any(mark.sensitive or mark.release for mark in marks.values())
        if not is_marked and policies is None and not self.findings:
            return Verdict(self.manifest, notes=tuple(self.notes))
        self._stale()
        off = self._switched_off(reader, marks)
        proofs = self._releases(reader, marks, policies)
        graph = self._graph(reader, off)
        sensitive = self._sensitive(marks, policies, proofs)
        certified = {p.node for p in proofs if p.is_certified}
        certified |= self._certified_elsewhere(off, reader, marks, policies)
        certified -= set(sensitive)
        taint, reads = self._hidden(reader, graph, sorted(sensitive), certified)
        view = sinks.View(
            self.manifest,
            reader,
            graph,
            taint,
            certified,
            marks,
            tuple(proofs),
            off,
            *self._private(),
        )
        self.findings += sinks.shown(view)
        self.findings += sinks.odd_grants(view)
        self.findings += sinks.stored_failures(view, self._run_arguments())
        self.findings += sinks.written_elsewhere(view)
        self.findings += self._by_name(reads, taint, view)
        self.findings += sinks.not_known(view, reads)
        review, today = self.review or read_review(self.project), date.today()
        codes = foreign_code(self.manifest, taint.reaches) if taint.reached else ()
        self.findings += unreviewed(codes, review, self.project, today)
        self.findings += sinks.secrets_read(view)
        self.findings += sinks.replaced_functions(view)
        kept, waivers = review.waived(self.findings, today)
        self.notes += waivers
        placed = places.placed(kept, self.project)
        return Verdict(
            manifest=self.manifest,
            findings=tuple(placed),
            notes=tuple(dict.fromkeys(self.notes)),
            sensitive=tuple(sorted(sensitive)),
            reached=tuple(sorted(taint.reached)),
            sinks=len(view.sinks),
            releases=tuple(proofs),
            codes=codes,
        )

    def _reader(self) -> Reader:
        if self.project is None:
            return Reader(self.manifest)
        return Reader(self.manifest, self.project.target, self.project.directory)

    def _private(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The private schemas and roles; none where there is no project file."""
        folder = self.project.directory.absolute() if self.project is not None else None
        above = (folder, *folder.parents) if folder is not None else ()
        if not any((each / "policy-engine.yaml").exists() for each in above):
            return (), ()
        # The form of the project file takes long to load, and many projects have none.
        from policy_engine.policy.project import find_project, load_project

        file = find_project(above[0])
        private = load_project(file).dbt.private if file is not None else None
        return (private.schemas, private.roles) if private is not None else ((), ())

    def _marks(self) -> Mapping[str, Marks]:
        nodes = (*self.manifest.nodes.values(), *self.manifest.disabled)
        found = {node.id: marks_of(node) for node in nodes if _may_be_marked(node)}
        for node in self.manifest.nodes.values():
            for fault in found[node.id].faults if node.id in found else ():
                said = f"{node.label}: {fault}; it counts as sensitive"
                self.findings.append(finding("G30", said, self.manifest.file_of(node)))
        return found

    def _policies(self, reader: Reader) -> Policies | None:
        files = self.project.policies() if self.project is not None else ()
        if not files or self.project is None:
            return None
        from policy_engine.dbt.project_policies import read_policies

        found = read_policies(files, reader, self.project.directory)
        self.findings += found.findings
        self.notes += found.notes
        return found

    def _stale(self) -> None:
        if self.project is None:
            self.notes.append("without the project's folder: its policies and files were not seen")
            return
        from policy_engine.dbt.stale import changed_files, younger_files
        from policy_engine.dbt.stale_macros import changed_macros

        self.findings += changed_files(self.manifest, self.project)
        self.findings += changed_macros(self.manifest, self.project)
        younger = list(younger_files(self.manifest, self.project))
        if younger:
            shown = ", ".join(younger[:3]) + (" …" if len(younger) > 3 else "")
            self.notes.append(
                f"written after the manifest: {shown}; run 'dbt compile' if it changed"
            )

    def _releases(
        self, reader: Reader, marks: Mapping[str, Marks], policies: Policies | None
    ) -> list[Proved]:
        named = {n: m for n, m in marks.items() if (m.release or m.generated)}
        nodes = [node for id_, node in self.manifest.nodes.items() if id_ in named]
        is_vendored = any(macro.package == OURS for macro in self.manifest.macros.values())
        wrong = [*replaced_macros(self.manifest)] if nodes else []
        if is_vendored or any(f"{OURS}." in node.raw for node in nodes):
            # What runs in the hooks of the package is trusted, so it must be the shipped one.
            wrong += changed_macros(self.manifest)
        self.findings += wrong
        if not nodes:
            return []
        from policy_engine.dbt.proving import Prover

        prover = Prover(reader)
        found = []
        for node in nodes:
            policy = policies.by_model.get(node.id) if policies is not None else None
            proved = prover.check(node, marks[node.id], policy)
            if queries_in_config(node):
                said = f"the release {node.label} has a query in its config, which is not proved"
                self.findings.append(finding("G20", said, self.manifest.file_of(node)))
                proved = proved.uncertified()
            self.findings += proved.findings
            self.notes += proved.notes
            found.append(proved if not wrong else proved.uncertified())
        return found

    def _switched_off(self, reader: Reader, marks: Mapping[str, Marks]) -> tuple[Node, ...]:
        """What is switched off here, and may be a way out where it is on."""
        found = switched_off(self.manifest, marks, self.project, reader.dialect)
        for node in found.by_variable:
            said = f"{node.label} is switched off until a variable is given, and was not checked"
            self.notes.append(f"{said}: gate a manifest that was made with the variable as well")
        for node in found.elsewhere:
            said = f"{node.label} is switched off in this manifest, and only its template was read"
            self.notes.append(f"{said}: gate the manifest of the target that builds it as well")
        return found.elsewhere

    def _certified_elsewhere(
        self,
        off: Iterable[Node],
        reader: Reader,
        marks: Mapping[str, Marks],
        policies: Policies | None,
    ) -> set[str]:
        """The releases among what is switched off here: no finding, where they are proved."""
        found = set()
        for node in off:
            if marks[node.id].release or marks[node.id].generated:
                from policy_engine.dbt.proving import Prover

                policy = policies.by_model.get(node.id) if policies is not None else None
                if Prover(reader).check(node, marks[node.id], policy).is_certified:
                    found.add(node.id)
        return found

    def _graph(self, reader: Reader, off: Iterable[Node]) -> Graph:
        """What dbt knows of who reads what, and which nodes are one table."""
        graph = Graph()
        nodes = [*self.manifest.nodes.values(), *self.manifest.disabled]
        for edge in edges_of_graph(self.manifest, nodes):
            graph.add(edge)
        for node in off:
            for edge in reader.read(node).edges:
                graph.add(edge)
        for group in reader.names.shared():
            for one in sorted(group):
                for other in sorted(group - {one}):
                    graph.add(Edge(one, other, SAME))
        return graph

    def _hidden(
        self, reader: Reader, graph: Graph, sensitive: Iterable[str], certified: set[str]
    ) -> tuple[Taint, dict[str, NodeReads]]:
        """Where sensitive data goes by edges that dbt does not know as well.

        A text is read only if the name of a sensitive relation stands in it. What is reached by
        that has a name too: it goes on until there is no new name.
        """
        taint, reads = graph.taint(sensitive, certified), dict[str, NodeReads]()
        known: frozenset[str] = frozenset()
        while True:
            found = _identifiers(taint, self.manifest)
            if found <= known:
                return taint, reads
            for node in self.manifest.of_kind(*READ_KINDS):
                if node.id not in reads and reader.may_read(node, found - known):
                    reads[node.id] = reader.read(node)
                    for edge in reads[node.id].edges:
                        graph.add(edge)
            known = found
            taint = graph.taint(sensitive, certified)

    def _sensitive(
        self, marks: Mapping[str, Marks], policies: Policies | None, proofs: Iterable[Proved]
    ) -> dict[str, None]:
        """What is sensitive by itself: marked, a policy's source, or drawn from by a release."""
        found = {id_: None for id_, mark in marks.items() if mark.sensitive}
        found |= dict.fromkeys(policies.sources if policies is not None else ())
        certified = {proof.node for proof in proofs if proof.is_certified}
        for proof in proofs:
            found |= dict.fromkeys(proof.sources - certified)
        return found

    def _by_name(
        self, reads: Mapping[str, NodeReads], taint: Taint, view: sinks.View
    ) -> Iterator[GateFinding]:
        """Sensitive data that is read by the name of its table."""
        for id_, found in reads.items():
            for edge in found.edges:
                if edge.how == BRANCH or id_ in view.certified or not taint.reaches(edge.parent):
                    continue
                node, parent = self.manifest.nodes[id_], view.label(edge.parent)
                said = f"{node.label} reads {parent} {edge.how}, past ref() and source()"
                way = (*view.way(edge.parent), node.label)
                remedy = _ROWS if node.kind == "unit_test" else ""
                yield finding("G08", said, self.manifest.file_of(node), path=way, remedy=remedy)

    def _run_arguments(self) -> Mapping[str, Any]:
        """The options of dbt's last run, and those of the environment."""
        found: dict[str, Any] = {}
        if self.project is not None:
            found = places.run_arguments(self.project.target / "run_results.json")
        for name in ("DBT_STORE_FAILURES", "DBT_ENGINE_STORE_FAILURES"):
            if os.environ.get(name, "").strip().lower() in {"1", "true", "t", "yes", "y"}:
                found["store_failures"] = True
        return found


_ROWS = "Write the rows out: where a unit test fails, dbt prints what its query gave."


def _identifiers(taint: Taint, manifest: Manifest) -> frozenset[str]:
    """The names of the relations that hold sensitive data, in lower case."""
    found = set()
    nodes = {node.id: node for node in (*manifest.disabled, *manifest.nodes.values())}
    for id_ in taint.reached:
        for written in relations_of(nodes[id_]) if id_ in nodes else ():
            name = read_name(written)
            if name is not None:
                found.add(name[-1].text.lower())
            else:
                found.update(words_in(written))
    return frozenset(found)


def _may_be_marked(node: Node) -> bool:
    return node.kind not in {"operation", "unit_test"}
