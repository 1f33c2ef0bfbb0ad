"""The releases of a dbt project: each a policy, and the model of dbt that makes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.naming import read_name
from policy_engine.dbt.sources import read_wanted
from policy_engine.errors import PolicyError, Problem
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy

ONE_PROJECT_FILE = (
    "a dbt project is paid for by the project file of its folder, or the nearest above it: move"
    " the policy, or that file"
)


@dataclass(frozen=True)
class DbtRelease:
    """A release that dbt makes in a target: ``model`` is the node, ``source`` what it reads."""

    written: Policy
    model: Node
    source: Node
    target: str

    @property
    def id(self) -> str:
        """What the release is called in the secrets relation.

        It is the file's name of the model's text: ``adult_public_v1``.
        """
        return f"{self.model.name}_v{self.written.release.version}"

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The full name of the table that dbt makes."""
        return _parts(self.model)

    @property
    def relation(self) -> str:
        """The full name as a message and a certificate show it."""
        return ".".join(self.parts)

    @property
    def certificate(self) -> Path:
        """Where its certificate stands: beside the policy."""
        return self.written.directory / f"{self.id}.{self.target}.certificate.json"

    @cached_property
    def policy(self) -> Policy:
        """The policy as the kernel compares it: its source by its full name, and no target.

        What is proved is the query; dbt makes the table of it.
        """
        source = replace(self.written.source, relation=".".join(_parts(self.source)))
        release = replace(self.written.release, path=None, relation=None)
        return replace(self.written, source=source, release=release)

    @property
    def reads(self) -> tuple[str, ...]:
        """The full name of the source."""
        return _parts(self.source)


def _parts(node: Node) -> tuple[str, ...]:
    name = read_name(node.relation)
    return tuple(part.text for part in name) if name else (node.name,)


def releases_of(
    policies: Iterable[Policy], manifest: Manifest, target: str
) -> tuple[DbtRelease, ...]:
    """The releases of policies, in their order.

    Raises:
        PolicyError: the project has no model or no source for a policy: it was not synced.
    """
    found: list[DbtRelease] = []
    wrong: list[Problem] = []
    for policy in policies:
        model, source = model_of(policy, manifest), source_of(policy, manifest)
        if model is not None and source is not None:
            found.append(DbtRelease(policy, model, source, target))
            continue
        key, name = "source.relation", policy.source.text
        if source is not None:
            key, name = "release.relation", f"{model_name(policy)}.v{policy.release.version}"
        law = f"{key} must be of the project as dbt has it, found {name}"
        remedy = "run 'policy-engine dbt sync', and then dbt"
        wrong += refused(policy.file, key, law, remedy).problems
    if wrong:
        raise PolicyError(tuple(wrong))
    return tuple(found)


def source_of(policy: Policy, manifest: Manifest) -> Node | None:
    """What a policy's ``source.relation`` means, as dbt has it."""
    wanted = read_wanted(policy.source.relation or "")
    if wanted is None:
        return None
    if wanted.call == "source":
        return manifest.source_named(*wanted.parts)
    package = wanted.parts[0] if wanted.call == "ref" and len(wanted.parts) == 2 else ""
    if wanted.call == "ref" or len(wanted.parts) == 1:
        return manifest.node_named(package, wanted.parts[-1], wanted.version)
    return manifest.source_named(*wanted.parts[-2:]) or _by_relation(wanted.parts, manifest)


def _by_relation(parts: tuple[str, ...], manifest: Manifest) -> Node | None:
    wanted = [part.lower() for part in parts]
    nodes = manifest.of_kind("model", "seed", "snapshot", "source")
    found = [n for n in nodes if [p.lower() for p in _parts(n)][-len(wanted) :] == wanted]
    return found[0] if len(found) == 1 else manifest.node_named("", parts[-1])


def model_name(policy: Policy) -> str:
    """The name of the model of a policy: the last part of its release's name.

    A relation's name may hold the database and the schema that dbt gives it.
    """
    return (policy.release.relation or policy.name).rsplit(".", maxsplit=1)[-1]


def model_of(policy: Policy, manifest: Manifest) -> Node | None:
    """The model of a policy in the project itself."""
    name, version = model_name(policy), str(policy.release.version)
    return next(
        (
            node
            for node in manifest.of_kind("model")
            if node.name == name
            and node.package == manifest.project
            and str(node.data.get("version")) == version
        ),
        None,
    )
