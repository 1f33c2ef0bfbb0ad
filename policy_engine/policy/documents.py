"""A policy's file → its document and its hierarchies, with every problem of both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from policy_engine.errors import PolicyError, Problem
from policy_engine.policy import tree
from policy_engine.policy.groups_file import read_groups
from policy_engine.policy.hierarchy import CsvError, Hierarchy, read_hierarchy
from policy_engine.policy.laws import mapping
from policy_engine.policy.model_specs import GroupsFile, complete_keys
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.reading import MISSING, HalfRead, meant, read_document
from policy_engine.policy.recode_models import HierarchySpec
from policy_engine.values import frozen


@frozen
class ReadPolicy:
    """A policy as it is written, and what its columns' hierarchies hold.

    ``reading`` knows the places of its keys, for what is found later.
    """

    document: PolicyDocument
    hierarchies: Mapping[str, Hierarchy]
    file: Path
    directory: Path
    reading: HalfRead[PolicyDocument]


def read_policy(text: str, file: Path, directory: Path) -> ReadPolicy:
    """What ``text`` writes, as if it were in ``file``; paths start at ``directory``.

    Raises PolicyError with every problem of the text and of its hierarchies.
    """
    reading = read_document(text, file, PolicyDocument, "policy")
    if file.name == PROJECT_FILE and reading.root.child("source") is None:
        message = "this is the project file, not a policy"
        raise PolicyError((Problem(str(file), 0, 0, "", message, "name a policy file"),))
    _refuse_templates(reading)
    data = mapping(reading.root.data())
    specs = {
        column: _hierarchy(reading, column, spec, directory)
        for column, spec in mapping(data.get("recode")).items()
    }
    hierarchies = {column: found for column, found in specs.items() if found is not None}
    _read_groups(reading, data, directory)
    return ReadPolicy(reading.result(), hierarchies, file, directory, reading)


def _read_groups(
    reading: HalfRead[PolicyDocument], data: Mapping[str, object], directory: Path
) -> None:
    """Put the public groups of a file in its place, or what is wrong with them."""
    document = reading.document
    if document is None or not isinstance(document.public_groups, GroupsFile):
        return
    path: tree.Path = ("public_groups",)
    file = directory / document.public_groups.file
    joined = (each.file for each in document.source.join.values() if not each.public)
    if any(each and _holds(directory / each, file) for each in (document.source.file, *joined)):
        law = f"is the source, or one of its files, found {document.public_groups.file}"
        remedy = (
            "write the list from what everybody knows: what stands in the source tells who does"
        )
        reading.refuse((*path, "file"), law, remedy)
        return
    try:
        groups = read_groups(file)
    except CsvError as error:
        _refuse_file(reading, file, error, (*path, "file"), "the list of groups")
        return
    for wrong, remedy in complete_keys(groups, mapping(data.get("recode"))):
        reading.refuse((*path, "file"), f"{file}: {wrong}", remedy)
    reading.document = document.model_copy(update={"public_groups": groups})


def _holds(source: Path, file: Path) -> bool:
    """Whether a file is a source, or lies in its folder, by whatever name or link."""
    where, own = source.resolve(), file.resolve()
    return own == where or where in own.parents


_TEMPLATES = ("{{", "{%")


def _refuse_templates(reading: HalfRead[PolicyDocument]) -> None:
    """The law that nothing is a template: ``{{ … }}`` would be a file's name, or an account's."""
    for path, key, node in reading.root.walk():
        is_name = key is not None and any(mark in str(path[-1]) for mark in _TEMPLATES)
        if is_name or (isinstance(node.value, str) and any(m in node.value for m in _TEMPLATES)):
            law = "has {{ or {%, and nothing in a policy is a template: it is read as it stands"
            remedy = "write the value itself, or let a program of yours write the policy's file"
            reading.refuse(path, law, remedy, on_key=is_name)


def _hierarchy(
    reading: HalfRead[PolicyDocument], column: str, recoding: object, directory: Path
) -> Hierarchy | None:
    """The hierarchy of a column that names a good one, whatever else is wrong with the file.

    None for every other, and problems where it names one.
    """
    if "hierarchy" not in mapping(recoding):
        return None
    try:
        spec = HierarchySpec.model_validate(recoding)
    except ValidationError:
        return None  # its own laws say so
    path: tree.Path = ("recode", column)
    file = directory / spec.hierarchy
    try:
        hierarchy = read_hierarchy(file)
    except CsvError as error:
        _refuse_file(reading, file, error, (*path, "hierarchy"), "the hierarchy")
        return None
    if spec.level > hierarchy.height:
        law = f"must be at most {hierarchy.height}, the last level of {spec.hierarchy}"
        reading.refuse((*path, "level"), f"{law}, found {spec.level}")
        return None
    return hierarchy


def _refuse_file(
    reading: HalfRead[PolicyDocument], file: Path, error: CsvError, path: tree.Path, subject: str
) -> None:
    """Add what is wrong with a file that is named at a path: in its own lines, or as a whole."""
    for line, reason in error.reasons:
        if line:
            wrong = f"{subject} {reason}"
            reading.problems.append(Problem(str(file), line, 1, tree.path_text(path[:-1]), wrong))
        else:
            remedy = meant(file) if reason == MISSING else ""
            reading.refuse(path, f"names {file}, which {reason}", remedy)
