"""Packages of dbt whose macros somebody has read, so that the gate takes their hooks as they are.

A package that logs runs puts its statements together in ways that only a run can tell. Whoever
keeps the project may answer for it, in policy-engine.yaml; what the project itself runs is always
judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.dbt.integrity import OURS
from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.project import DbtProject


@dataclass(frozen=True)
class Reviewed:
    """The packages that were reviewed, and what is to be said of that."""

    packages: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def is_of(self, node: Node, template: str) -> bool:
        """Whether a text that runs is a reviewed package's, or nothing but calls of its macros."""
        if not self.packages or node.package in self.packages:
            return bool(self.packages)
        from policy_engine.dbt.package_calls import only_calls

        return only_calls(template, self.packages)


def reviewed_packages(project: DbtProject | None, manifest: Manifest) -> Reviewed:
    """What the project file beside a dbt project says of its packages.

    Raises:
        FileError, PolicyError: the project file cannot be read, or does not hold.
    """
    if project is None:
        return Reviewed()
    from policy_engine.policy.project import find_project, load_project

    file = find_project(project.directory)
    named = load_project(file).dbt.reviewed_packages if file is not None else ()
    there = {macro.package for macro in manifest.macros.values()} - {manifest.project, OURS}
    packages = frozenset(name for name in named if name in there)
    notes = (
        f"hooks and macros of {name} were not checked: dbt.reviewed_packages names it"
        if name in packages
        else f"dbt.reviewed_packages names {name}, which is no package of the project"
        for name in named
    )
    return Reviewed(packages, tuple(notes))
