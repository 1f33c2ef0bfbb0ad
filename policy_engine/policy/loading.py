"""Files → policies: every problem of a file at once, each with its file, line and column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from policy_engine.errors import PolicyError, Problem
from policy_engine.policy import tree
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.chance_models import PURE
from policy_engine.policy.hierarchy import Hierarchy, HierarchyError, read_hierarchy
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.nearby import meant
from policy_engine.policy.project import PROJECT_FILE
from policy_engine.policy.reading import Reading, read_document, read_text
from policy_engine.policy.recode_models import HierarchySpec
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.syntactic import SYNTACTIC


def load_policy(path: str | Path, *, syntactic: bool = False) -> Policy:
    """The policy in a file; one of no (ε, δ) only for who says that it takes ``syntactic`` ones.

    Raises ``FileError`` where the file cannot be read, else ``PolicyError`` with every problem
    of the file and of its hierarchies.
    """
    file = Path(path)
    return load_policy_text(read_text(file, "policy"), file, file.parent, syntactic=syntactic)


def load_policy_text(
    text: str, file: str | Path, directory: str | Path, *, syntactic: bool = False
) -> Policy:
    """The policy that ``text`` writes, as if it were in ``file``; paths start at ``directory``.

    >>> load_policy_text("k: 1", "policy.yaml", ".")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    policy_engine.errors.PolicyError: policy.yaml:1:1: version is missing
    ...
    """
    file, directory = Path(file), Path(directory)
    reading = read_document(text, file, PolicyDocument, "policy")
    if file.name == PROJECT_FILE and reading.root.child("source") is None:
        message = "this is the project file, not a policy"
        raise PolicyError((Problem(str(file), 0, 0, "", message, "name a policy file"),))
    hierarchies = _hierarchies(reading, directory)
    document = reading.result()
    if document.guarantee == SYNTACTIC and not syntactic:
        law = "is syntactic, which is no (ε, δ), and this is of policies that have one"
        reading.refuse(("guarantee",), law, "write epsilon and delta")
        raise PolicyError(tuple(reading.problems))
    try:
        return resolve(document, hierarchies, file, directory)
    except NoSolution as error:
        path: tree.Path = ("k",) if document.k == "auto" else ("sample", "rate")
        remedy = "'policy-engine calibrate' shows what is possible"
        law = f"is auto, but nothing gives this guarantee: {error}"
        if document.sample is None:
            path, law = ("guarantee",), f"is met by no noise table: {error}"
            named = document.noise is not None and document.noise.law != "auto"
            remedy = "raise epsilon or delta" + ", or take another noise.law" * named
        if document.mechanism in PURE:
            law, remedy = f"is met by no chance: {error}", "raise epsilon"
        reading.refuse(path, law, remedy)
        raise PolicyError(tuple(reading.problems)) from None


def _hierarchies(reading: Reading[PolicyDocument], directory: Path) -> Mapping[str, Hierarchy]:
    """The hierarchy of every column that names a good one; the others become problems."""
    found = {}
    for column, spec in _specs(reading).items():
        hierarchy = _hierarchy(reading, column, spec, directory)
        if hierarchy is not None:
            found[column] = hierarchy
    return found


def _specs(reading: Reading[PolicyDocument]) -> dict[str, HierarchySpec]:
    """The columns whose entry is a valid hierarchy, whatever else is wrong with the file."""
    recode = reading.root.child("recode")
    columns = recode.value if recode is not None and isinstance(recode.value, dict) else {}
    specs = {}
    for column, node in columns.items():
        data = node.data()
        if isinstance(data, dict) and "hierarchy" in data:
            try:
                specs[column] = HierarchySpec.model_validate(data)
            except ValidationError:
                continue
    return specs


def _hierarchy(
    reading: Reading[PolicyDocument], column: str, spec: HierarchySpec, directory: Path
) -> Hierarchy | None:
    """The hierarchy of a column if it has the level, else None and problems."""
    path: tree.Path = ("recode", column)
    file = directory / spec.hierarchy
    try:
        hierarchy = read_hierarchy(file)
    except HierarchyError as error:
        for line, reason in error.reasons:
            if line:
                message = f"the hierarchy {reason}"
                reading.add(Problem(str(file), line, 1, tree.path_text(path), message))
            else:
                remedy = meant(file) if reason == "does not exist" else ""
                reading.refuse((*path, "hierarchy"), f"names {file}, which {reason}", remedy)
        return None
    if spec.level > hierarchy.height:
        law = f"must be at most {hierarchy.height}, the last level of {spec.hierarchy}"
        reading.refuse((*path, "level"), f"{law}, found {spec.level}")
        return None
    return hierarchy
