"""The properties files of a sync: one a release, beside its policy, and nobody else's.

dbt takes one entry a model. So what somebody wrote of a release elsewhere is in the way, and so is
a file of somebody's own where ours would stand; neither is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import groupby
from pathlib import Path

from policy_engine.dbt.project import ProjectFiles
from policy_engine.dbt.properties import MARK, generated_file
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.errors import Problem
from policy_engine.policy.project_models import DbtSpec
from policy_engine.values import frozen

_REMEDY = (
    "remove it: of a release the policy's description, dbt.access and dbt.group of"
    " policy-engine.yaml, dbt_project.yml and tests in files of their own say what is yours to say"
)


@frozen
class PropertyFiles:
    """The files of some releases: their ``texts``, and the ``problems`` that keep them away.

    ``left`` are files of ours that are of no release any more.
    """

    texts: Mapping[Path, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    left: tuple[Path, ...] = ()


def property_files(
    files: ProjectFiles, settings: DbtSpec, releases: Sequence[ReleaseModel]
) -> PropertyFiles:
    """The properties files of releases, which are sorted by model and version."""
    texts: dict[Path, str] = {}
    problems: list[Problem] = []
    ours = {path for path in files.yaml if files.text(path).startswith(MARK)}
    if settings.group is not None and releases and settings.group not in files.names("groups"):
        law = f"dbt.group must be a group of the dbt project, found {settings.group!r}"
        remedy = f"define it: groups: [{{name: {settings.group}, owner: {{name: …, email: …}}}}]"
        problems.append(Problem("policy-engine.yaml", 0, 0, "dbt.group", law, remedy))
    for name, versions in groupby(releases, key=lambda each: each.model):
        models = list(versions)
        own = models[-1].policy.directory / f"{name}.yml"
        texts[own] = generated_file(models, settings)
        for path, item in files.speaking_of(name, "models"):
            if item.name == name and path not in ours:
                law = f"the properties of {name} stand in {files.project.shown(own)} alone"
                where = (str(path), item.start + 1, 1, "models")
                problems.append(Problem(*where, f"{law}, found another entry of it", _REMEDY))
        is_others = own in files.yaml and own not in ours
        if is_others and not any(each.file == str(own) for each in problems):
            law = f"{files.project.shown(own)} is in the way of the properties of {name}"
            remedy = "it is not ours: rename it"
            problems.append(Problem(str(own), 0, 0, "", law, remedy))
    left = tuple(sorted(ours - texts.keys()))
    return PropertyFiles(texts, tuple(problems), left)
