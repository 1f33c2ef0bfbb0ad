"""The policies of a dbt project, as the gate needs them: which nodes they make sensitive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from policy_engine.dbt.manifest import Node
from policy_engine.dbt.naming import Part
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.releases import DbtRelease, model_name, model_of, outdated
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.sources import read_wanted
from policy_engine.errors import FileError, PolicyError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Policy


@dataclass
class Policies:
    """The policies by the model that they are of, and the nodes that they draw from."""

    by_model: dict[str, DbtRelease] = field(default_factory=dict)
    sources: dict[str, Path] = field(default_factory=dict)
    findings: list[GateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_policies(files: Iterable[Path], reader: NodeReader, folder: Path) -> Policies:
    """The policies in some files; ``folder`` is where paths start from."""

    def shown(file: Path) -> str:
        try:
            return file.resolve().relative_to(folder.resolve()).as_posix()
        except ValueError:
            return str(file)

    found = Policies()
    for file in files:
        try:
            _take(load_policy(file), reader, shown, found)
        except PolicyError as error:
            for problem in error.problems:
                said = problem.message + (f"; {problem.remedy}" if problem.remedy else "")
                place = shown(Path(problem.file))
                found.findings.append(finding("G31", said, place, problem.line))
        except FileError as error:
            found.findings.append(finding("G31", str(error), shown(file)))
    return found


def _take(
    policy: Policy, reader: NodeReader, shown: Callable[[Path], str], found: Policies
) -> None:
    place, manifest = shown(policy.file), reader.manifest
    nodes = list(_nodes(policy, reader))
    if not nodes:
        said = f"the source of {policy.name} is no node of the project, found {policy.source.text}"
        remedy = "Name what dbt knows, as in source.relation: ref('stg_people')."
        found.findings.append(finding("G31", said, place, remedy=remedy))
        return
    for certificate in outdated(policy):
        said = f"it is another policy than the one of {shown(certificate)}"
        found.findings.append(finding("G32", said, place))
    for node in nodes:
        found.sources.setdefault(node.id, policy.file)
    model = model_of(policy, manifest)
    if model is None and policy.release.version == 1:
        # One without versions was written by hand.
        by_hand = manifest.node_named("", model_name(policy))
        model = by_hand if by_hand is not None and not by_hand.data.get("version") else None
    if model is not None:
        found.by_model[model.id] = DbtRelease(policy, model, nodes[0], "")
    else:
        found.notes.append(f"{place} has no model yet: run 'policy-engine dbt sync'")


def _nodes(policy: Policy, reader: NodeReader) -> Iterator[Node]:
    """What a policy names as its source; by the name of a relation it may be several nodes."""
    wanted, nodes = read_wanted(policy.source.relation or ""), reader.manifest.nodes
    node = wanted.node(reader.manifest) if wanted is not None else None
    if node is not None:
        yield node
    elif wanted is not None and wanted.call == "name":
        surely, perhaps = reader.meant(tuple(Part(part) for part in wanted.parts))
        yield from (nodes[id_] for id_ in sorted(surely or perhaps) if id_ in nodes)
