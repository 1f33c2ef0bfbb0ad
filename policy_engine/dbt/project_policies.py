"""The policies of a dbt project, as the gate needs them: which nodes they make sensitive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.naming import Part
from policy_engine.dbt.outdated import outdated
from policy_engine.dbt.proving import DbtPolicy
from policy_engine.dbt.reading import Reader
from policy_engine.dbt.releases import model_name, model_of
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.sources import Wanted, read_wanted
from policy_engine.errors import FileError, PolicyError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Policy


@dataclass
class Policies:
    """The policies by the model that they are of, and the nodes that they draw from."""

    by_model: dict[str, DbtPolicy] = field(default_factory=dict)
    sources: dict[str, Path] = field(default_factory=dict)
    findings: list[GateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_policies(files: Iterable[Path], reader: Reader, folder: Path) -> Policies:
    """The policies in some files; ``folder`` is where paths start from."""
    found = Policies()
    for file in files:
        policy = _loaded(file, folder, found)
        if policy is not None:
            _take(policy, reader, folder, found)
    return found


def _loaded(file: Path, folder: Path, found: Policies) -> Policy | None:
    shown = _shown(file, folder)
    try:
        return load_policy(file)
    except PolicyError as error:
        for problem in error.problems:
            place = _shown(Path(problem.file), folder)
            said = problem.message + (f"; {problem.remedy}" if problem.remedy else "")
            found.findings.append(finding("G31", said, place, problem.line))
    except FileError as error:
        found.findings.append(finding("G31", str(error), shown))
    return None


def _take(policy: Policy, reader: Reader, folder: Path, found: Policies) -> None:
    shown = _shown(policy.file, folder)
    wanted = read_wanted(policy.source.relation) if policy.source.relation is not None else None
    nodes = list(_nodes(wanted, reader)) if wanted is not None else []
    if not nodes:
        said = f"the source of {policy.name} is no node of the project, found {policy.source.text}"
        remedy = "Name what dbt knows, as in source.relation: ref('stg_people')."
        found.findings.append(finding("G31", said, shown, remedy=remedy))
        return
    for certificate in outdated(policy):
        said = f"it is another policy than the one of {_shown(certificate, folder)}"
        found.findings.append(finding("G32", said, shown))
    for node in nodes:
        found.sources.setdefault(node.id, policy.file)
    model = model_of(policy, reader.manifest) or _unversioned(policy, reader.manifest)
    if model is not None:
        found.by_model[model.id] = DbtPolicy(policy, nodes[0])
    else:
        found.notes.append(f"{shown} has no model yet: run 'policy-engine dbt sync'")


def _nodes(wanted: Wanted, reader: Reader) -> Iterator[Node]:
    """What a policy names; by the name of a relation it may be several nodes."""
    manifest = reader.manifest
    if wanted.call == "ref" or (wanted.call == "name" and len(wanted.parts) == 1):
        package = wanted.parts[0] if len(wanted.parts) > 1 else ""
        node = manifest.node_named(package, wanted.parts[-1], wanted.version)
    else:
        node = manifest.source_named(wanted.parts[-2], wanted.parts[-1])
    if node is not None:
        yield node
    elif wanted.call == "name":
        surely, perhaps = reader.meant(tuple(Part(part) for part in wanted.parts))
        yield from (
            manifest.nodes[id_] for id_ in sorted(surely or perhaps) if id_ in manifest.nodes
        )


def _unversioned(policy: Policy, manifest: Manifest) -> Node | None:
    """A model without versions, of the policy's first version: it was written by hand."""
    node = manifest.node_named("", model_name(policy))
    is_first = policy.release.version == 1
    return node if node is not None and is_first and not node.data.get("version") else None


def _shown(file: Path, folder: Path) -> str:
    try:
        return file.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return str(file)
