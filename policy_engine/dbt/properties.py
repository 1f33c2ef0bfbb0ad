"""The properties of the releases: what dbt's YAML says of a model, its versions and their columns.

All that is ours stands in a version's own entry, which carries our mark, and in the unit tests. A
file that somebody wrote keeps its entries, its comments and its order; a line that is not ours
changes only where a version needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from policy_engine.compile.catalog import Kind
from policy_engine.dbt.property_columns import settle_columns
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.types import needed
from policy_engine.dbt.unit_tests import unit_tests
from policy_engine.dbt.words import (
    RELEASE,
    column_words,
    count_words,
    release_words,
    with_lead,
)
from policy_engine.dbt.yaml_items import closed, opened, settle, styled
from policy_engine.dbt.yaml_text import Block, Flow, FlowList, written
from policy_engine.policy.project import DbtSpec

HEADER = """\
# Written by 'policy-engine dbt sync'. What you add is kept, beside what is marked as generated.
"""
TESTS = ("data_tests", "tests")


def version_entry(model: ReleaseModel, settings: DbtSpec) -> dict[str, Any]:
    """A version of a model: everything that is ours to say of it."""
    release = model.policy.release
    entry: dict[str, Any] = {"v": model.version, "description": Block(release_words(model))}
    if release.deprecated is not None:
        entry["deprecation_date"] = release.deprecated
    config: dict[str, Any] = {"access": settings.access}
    if settings.group is not None:
        config["group"] = settings.group
    config["contract"] = Flow(enforced=True)
    config["meta"] = {"privacy": _mark(model)}
    return {
        **entry,
        "config": config,
        "columns": _columns(model),
        "data_tests": _tests(model),
    }


def _mark(model: ReleaseModel) -> dict[str, Any]:
    """What the gate reads, and whoever wants to know what was certified."""
    certificate = model.certificate
    return {
        "generated": True,
        "release": True,
        "policy": model.policy.file.name,
        "policy_digest": model.policy.digest,
        "text_md5": model.text_md5,
        "certificate": {
            "epsilon": f"{certificate.epsilon:f}",
            "delta": str(certificate.delta),
            "k": certificate.k,
            "rate": f"{certificate.rate:f}",
            "neighbours": certificate.neighbours,
            "unit": certificate.unit,
            "reads": Flow(_reads(model)),
        },
    }


def _reads(model: ReleaseModel) -> dict[str, str]:
    """The columns that the text was printed for, with their types: labels are not said."""
    found = (model.table.find(name) for name in needed(model.policy))
    columns = [column for column in found if column is not None]
    return {c.name: "ENUM" if c.kind is Kind.LABEL else c.type for c in columns}


def _columns(model: ReleaseModel) -> list[dict[str, Any]]:
    words = {name: column_words(recoding) for name, recoding in model.policy.recodings}
    counted = model.policy.release.count_as
    return [
        {
            "name": name,
            "data_type": kind,
            "quote": True,
            "description": words[name] if name in words else count_words(model),
        }
        for name, kind in model.types.items()
        if name in words or name == counted
    ]


def _tests(model: ReleaseModel) -> list[dict[str, Any]]:
    """The generic tests of a release, each with what it compares with."""
    counts: dict[str, Any] = {"k": model.least_shown}
    if model.policy.release.form == "counts":
        counts |= {"count_column": model.policy.release.count_as}
    arguments: dict[str, dict[str, Any]] = {
        "certificate_current": {"policy_digest": model.policy.digest},
        "k_anonymous": Flow(counts),
        "no_uncertified_columns": {"columns": FlowList(model.types)},
    }
    return [
        {f"policy_engine.{name}": {"name": f"{model.release}_{name}", "arguments": given}}
        for name, given in arguments.items()
    ]


def latest_of(models: Sequence[ReleaseModel]) -> int:
    """The version that a ``ref`` without one means: the last that is not on its way out."""
    staying = [m.version for m in models if m.policy.release.deprecated is None]
    return max(staying or [model.version for model in models])


def model_entry(models: Sequence[ReleaseModel], settings: DbtSpec) -> dict[str, Any]:
    """The entry of a model that nobody has written about."""
    return {
        "name": models[0].model,
        "latest_version": latest_of(models),
        "versions": [version_entry(model, settings) for model in models],
    }


def unit_tests_of(models: Sequence[ReleaseModel]) -> list[dict[str, Any]]:
    """The unit tests of a model's versions."""
    return [test for model in models for test in unit_tests(model)]


def generated_file(
    models: Sequence[ReleaseModel], settings: DbtSpec, tests: Sequence[dict[str, Any]]
) -> str:
    """A properties file in which nothing is anybody else's; ``tests`` are the unit tests."""
    document: dict[str, Any] = {"models": [model_entry(models, settings)]}
    blocks = [written(document)]
    if tests:
        blocks.append(written({"unit_tests": [*tests]}))
    return f"{HEADER}version: 2\n\n" + "\n".join(blocks)


def is_generated(entry: object) -> bool:
    """Whether an entry of YAML carries our mark."""
    config = entry.get("config") if isinstance(entry, Mapping) else None
    meta = config.get("meta") if isinstance(config, Mapping) else None
    mark = meta.get("privacy") if isinstance(meta, Mapping) else None
    return isinstance(mark, Mapping) and mark.get("generated") is True


def settled_model(
    text: str, models: Sequence[ReleaseModel], settings: DbtSpec, *, stale: Sequence[int] = ()
) -> str | None:
    """The text of a model's entry with our versions in it; None where it cannot be read.

    ``stale`` are the versions of ours that go. The text comes back as it is where nothing changes.
    """
    yaml, entry = opened(text)
    if entry is None:
        return None
    before = deepcopy(entry)
    known = entry.get("versions")
    versions = known if isinstance(known, CommentedSeq) else CommentedSeq()
    kept = [v for v in versions if not (is_generated(v) and _number(v) in stale)]
    if len(kept) != len(versions):
        versions[:] = kept
    settled = [_settle_version(entry, versions, model, settings) for model in models]
    settle_columns(entry, settled)
    if models:
        _set(entry, "latest_version", latest_of(models))
        if known is not versions:
            entry["versions"] = versions
    return text if entry == before else closed(yaml, entry)


def _set(entry: CommentedMap, key: str, value: object) -> None:
    if entry.get(key) != value:
        entry[key] = value


def _settle_version(
    entry: CommentedMap, versions: CommentedSeq, model: ReleaseModel, settings: DbtSpec
) -> tuple[CommentedMap, list[dict[str, Any]]]:
    """A version's entry, right but for its columns; and those."""
    ours = version_entry(model, settings)
    mine = next((v for v in versions if _number(v) == model.version), None)
    if not isinstance(mine, CommentedMap):
        mine = CommentedMap(v=model.version)
        place = sum(1 for v in versions if (_number(v) or 0) < model.version)
        versions.insert(place, mine)
    lead = mine.get("description")
    if not is_generated(mine):
        lead = lead or entry.get("description")
    ours["description"] = Block(with_lead(lead, ours["description"], RELEASE))
    _leave_out_what_is_said(entry, ours["config"])
    columns, tests = ours.pop("columns"), ours.pop("data_tests")
    _forget_other_marks(mine, ours)
    settle(mine, ours)
    if "deprecation_date" in mine and "deprecation_date" not in ours:
        del mine["deprecation_date"]
    _settle_tests(entry, mine, tests)
    return mine, columns


def _forget_other_marks(mine: CommentedMap, ours: dict[str, Any]) -> None:
    """The mark is ours as a whole: a key that it does not have (any more) goes."""
    config = mine.get("config")
    meta = config.get("meta") if isinstance(config, CommentedMap) else None
    if isinstance(meta, CommentedMap) and meta.get("privacy") != ours["config"]["meta"]["privacy"]:
        meta.pop("privacy", None)


def _leave_out_what_is_said(entry: CommentedMap, config: dict[str, Any]) -> None:
    """Who may read a model, and whose it is, may be said by hand for all of its versions."""
    said = entry.get("config")
    for key in ("access", "group"):
        if key in entry or (isinstance(said, CommentedMap) and key in said):
            config.pop(key, None)


def _settle_tests(entry: CommentedMap, mine: CommentedMap, tests: list[dict[str, Any]]) -> None:
    """Our tests, then those that somebody wrote: for this version, or for the whole model.

    A version with tests has none of its model's, which are therefore said again.
    """
    key = "tests" if "tests" in mine and "data_tests" not in mine else "data_tests"
    known = mine.get(key)
    others = [test for test in known or () if not _is_ours(test)]
    for shared in (test for name in TESTS for test in entry.get(name) or ()):
        if shared not in others and not _is_ours(shared):
            others.append(deepcopy(shared))
    made = [*tests, *others]
    if not isinstance(known, CommentedSeq):
        mine[key] = styled(made)
    elif list(known) != made:
        known[:] = [*(styled(test) for test in tests), *others]


def _is_ours(test: object) -> bool:
    name = next(iter(test), "") if isinstance(test, Mapping) else test
    return isinstance(name, str) and name.startswith("policy_engine.")


def _number(entry: object) -> int | None:
    found = str(entry.get("v")) if isinstance(entry, Mapping) else ""
    return int(found) if found.isdecimal() else None


def settled_test(text: str, test: dict[str, Any]) -> str | None:
    """The text of a unit test of ours as it should be; None where it cannot be read."""
    yaml, entry = opened(text)
    if entry is None:
        return None
    if dict(entry) == test:
        return text
    for key in [key for key in entry if key not in test]:
        del entry[key]
    settle(entry, test)
    return closed(yaml, entry)


def item_text(data: dict[str, Any]) -> str:
    """The text of an item, from its first key."""
    return written(data).rstrip("\n")
