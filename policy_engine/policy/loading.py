"""Files → policies: every problem of a file at once, each with its file, line and column."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from policy_engine.errors import FileError, PolicyError, Problem
from policy_engine.policy import fields, tree
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.hierarchy import Hierarchy, HierarchyError, read_hierarchy
from policy_engine.policy.laws import inside, mapping
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.mechanisms.whole_classes import NO_PAIR
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.not_yet import refuse_editions
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.reading import (
    MISSING,
    HalfRead,
    meant,
    read_document,
    read_root,
    read_text,
)
from policy_engine.policy.recode_models import HierarchySpec
from policy_engine.policy.recodings import Constant, Keep
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.source_models import key_columns, order_term


def load_policy(path: str | Path, *, unpromised: bool = False) -> Policy:
    """The policy in a file; one of no (ε, δ) only for who says that it takes ``unpromised`` ones.

    Raises ``FileError`` where the file cannot be read, else ``PolicyError`` with every problem
    of the file and of its hierarchies.
    """
    file = Path(path)
    return load_policy_text(read_text(file, "policy"), file, file.parent, unpromised=unpromised)


def load_policy_text(
    text: str, file: str | Path, directory: str | Path, *, unpromised: bool = False
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
    _refuse_templates(reading)
    refuse_editions(reading)
    data = mapping(reading.root.data())
    specs = {
        column: _hierarchy(reading, column, spec, directory)
        for column, spec in mapping(data.get("recode")).items()
    }
    hierarchies = {column: found for column, found in specs.items() if found is not None}
    document = reading.result()
    if document.guarantee == NO_PAIR and not unpromised:
        law = "is none, and this is of policies with an (ε, δ)"
        reading.refuse(("guarantee",), law, "write epsilon and delta")
        raise PolicyError(tuple(reading.problems))
    try:
        return resolve(document, hierarchies, file, directory)
    except NoSolution as error:
        path: tree.Path = ("k",) if document.k == "auto" else ("sample", "rate")
        remedy = "'policy-engine calculate' shows what is possible"
        law = f"is auto, but nothing gives this guarantee: {error}"
        if document.sample is None:
            path, law = ("guarantee",), f"is met by no noise table that is tried: {error}"
            named = document.noise is not None and document.noise.distribution != "auto"
            remedy = "raise epsilon or delta" + ", or take another noise.distribution" * named
        language = language_of(document.mechanism, has_sample=document.sample is not None)
        if language is not None and not language.has_delta:
            law, remedy = f"is met by no chance: {error}", "raise epsilon"
        reading.refuse(path, law, remedy)
        raise PolicyError(tuple(reading.problems)) from None


def _refuse_templates(reading: HalfRead[PolicyDocument]) -> None:
    """The law that nothing is a template: ``{{ … }}`` would be a file's name, or an account's."""
    for path, key, node in reading.root.walk():
        is_name = key is not None and any(mark in str(path[-1]) for mark in _TEMPLATES)
        if is_name or (isinstance(node.value, str) and any(m in node.value for m in _TEMPLATES)):
            law = "has {{ or {%, and nothing in a policy is a template: it is read as it stands"
            remedy = "write the value itself, or let a program of yours write the policy's file"
            reading.refuse(path, law, remedy, on_key=is_name)


_TEMPLATES = ("{{", "{%")


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
    except HierarchyError as error:
        for line, reason in error.reasons:
            if line:
                wrong = f"the hierarchy {reason}"
                problem = Problem(str(file), line, 1, tree.path_text(path), wrong)
                reading.problems.append(problem)
            else:
                remedy = meant(file) if reason == MISSING else ""
                reading.refuse((*path, "hierarchy"), f"names {file}, which {reason}", remedy)
        return None
    if spec.level > hierarchy.height:
        law = f"must be at most {hierarchy.height}, the last level of {spec.hierarchy}"
        reading.refuse((*path, "level"), f"{law}, found {spec.level}")
        return None
    return hierarchy


_REST = {
    "version": 1,
    "name": "salvaged",
    "privacy_unit": "row",
    "recode": {"any": "keep"},
    "sample": {"rate": Decimal("0.5")},
    "k": 2,
    "guarantee": {"epsilon": 1, "delta": Decimal("0.5")},
    "release": {"file": "salvaged.parquet"},
}


def salvage(file: Path) -> Policy | None:
    """What a refused file still says of its source and its columns; None without a source.

    All else of it is made up: it is for asking the source which columns it has.
    """
    try:
        data: Any = read_root(read_text(file, "policy"), file, "policy")[0].data()
        source, recode = mapping(data.get("source")), mapping(data.get("recode"))
        place = {key: source[key] for key in ("file", "table", "csv") if key in source}
        made = PolicyDocument.model_validate({**_REST, "source": place})
    except (FileError, PolicyError, ValidationError):
        return None
    policy = resolve(made, {}, file, file.parent)
    unit = data.get("privacy_unit")
    terms = inside(unit, "rows", "first_by")
    return replace(
        policy,
        source=replace(
            policy.source,
            keys=tuple(filter(_named, key_columns(unit))),
            unique=inside(unit, "rows") == "one",
            order_by=tuple(map(order_term, filter(_named, terms)))
            if isinstance(terms, list)
            else (),
            columns=tuple(
                (each, "text") for each in filter(_named, mapping(source.get("columns")))
            ),
        ),
        recodings=tuple(
            (name, Constant("") if "constant" in mapping(how) else Keep())
            for name, how in recode.items()
            if _named(name)
        ),
    )


def _named(found: object) -> bool:
    """Whether it can be the name of a column."""
    return isinstance(found, str) and fields.is_line(found)
