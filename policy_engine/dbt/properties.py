"""The properties of the releases: what dbt's YAML says of a model, its versions and their columns.

All that is ours stands in a version's own entry, which carries our mark, and in the unit tests. A
file that somebody wrote keeps its entries, its comments and its order; a line that is not ours
changes only where a version needs it.

What stands at the model holds for each version. A column that has the same type in every version
gets it there, where its words and tests are; any other is said by each version for itself. (dbt 2
takes the model's entry where both speak of a column and something is left out.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from policy_engine.compile.catalog import Kind
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.types import needed
from policy_engine.dbt.words import (
    COLUMN,
    RELEASE,
    column_words,
    count_words,
    release_words,
    with_lead,
)
from policy_engine.dbt.yaml_items import (
    Block,
    Flow,
    FlowList,
    edited,
    settle,
    styled,
    written,
)
from policy_engine.policy.project_models import DbtSpec

HEADER = """\
# Written by 'policy-engine dbt sync'. What you add is kept, beside what is marked as generated.
"""
_Entry = dict[str, Any]


def version_entry(model: ReleaseModel, settings: DbtSpec) -> _Entry:
    """A version of a model: everything that is ours to say of it."""
    policy = model.policy
    entry: _Entry = {"v": model.version, "description": Block(release_words(model))}
    if policy.release.deprecated is not None:
        entry["deprecation_date"] = policy.release.deprecated
    entry["config"] = {"access": settings.access}
    if settings.group is not None:
        entry["config"]["group"] = settings.group
    entry["config"] |= {"contract": Flow(enforced=True), "meta": {"privacy": _mark(model)}}
    words = {name: column_words(recoding) for name, recoding in policy.recodings}
    counts: _Entry = {"k": model.least_shown}
    if policy.release.form == "counts":
        words.setdefault(policy.release.count_as, count_words(model))
        counts["count_column"] = policy.release.count_as
    entry["columns"] = [
        {"name": name, "data_type": kind, "quote": True, "description": words[name]}
        for name, kind in model.types.items()
    ]
    # Each test has what it compares with.
    tests: dict[str, _Entry] = {
        "certificate_current": {"policy_digest": policy.digest},
        "k_anonymous": Flow(counts),
        "no_uncertified_columns": {"columns": FlowList(model.types)},
    }
    entry["data_tests"] = [
        {f"policy_engine.{name}": {"name": f"{model.release}_{name}", "arguments": given}}
        for name, given in tests.items()
    ]
    return entry


def _mark(model: ReleaseModel) -> _Entry:
    certificate = model.certificate
    # The columns that the text was printed for, with their types: labels are not said.
    reads = [column for name in needed(model.policy) if (column := model.table.find(name))]
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
            "reads": Flow({c.name: "ENUM" if c.kind is Kind.LABEL else c.type for c in reads}),
        },
    }


def _latest(models: Sequence[ReleaseModel]) -> int:
    """The version that a ``ref`` without one means: the last that is not on its way out."""
    staying = [m.version for m in models if m.policy.release.deprecated is None]
    return max(staying or [model.version for model in models])


def model_entry(models: Sequence[ReleaseModel], settings: DbtSpec) -> _Entry:
    """The entry of a model that nobody has written about."""
    return {
        "name": models[0].model,
        "latest_version": _latest(models),
        "versions": [version_entry(model, settings) for model in models],
    }


def generated_file(
    models: Sequence[ReleaseModel], settings: DbtSpec, tests: Sequence[_Entry]
) -> str:
    """A properties file in which nothing is anybody else's; ``tests`` are the unit tests."""
    blocks = [written({"models": [model_entry(models, settings)]})]
    if tests:
        blocks.append(written({"unit_tests": [*tests]}))
    return f"{HEADER}version: 2\n\n" + "\n".join(blocks)


def is_generated(entry: object) -> bool:
    """Whether an entry of YAML carries our mark."""
    return _at(entry, "config", "meta", "privacy", "generated") is True


def is_by_hand(entry: Mapping[str, Any]) -> bool:
    """Whether a model's entry, or one of its versions, is marked as a release and is not ours."""
    versions = entry.get("versions")
    for each in (entry, *(versions if isinstance(versions, list) else ())):
        marks = (_at(each, "config", "meta", "privacy"), _at(each, "meta", "privacy"))
        if any(_at(mark, "release") is True and not _at(mark, "generated") for mark in marks):
            return True
    return False


def _at(entry: object, *keys: str) -> object:
    for key in keys:
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    return entry


def settled_model(
    text: str, models: Sequence[ReleaseModel], settings: DbtSpec, *, stale: Sequence[int] = ()
) -> str | None:
    """The text of a model's entry with our versions in it; None where it cannot be read.

    ``stale`` are the versions of ours that go. The text comes back as it is where nothing changes.
    """

    def settle_all(entry: CommentedMap) -> None:
        known = entry.get("versions")
        versions = known if isinstance(known, CommentedSeq) else CommentedSeq()
        kept = [v for v in versions if not (is_generated(v) and _number(v) in stale)]
        if len(kept) != len(versions):
            versions[:] = kept
        settled = [_settle_version(entry, versions, model, settings) for model in models]
        _settle_columns(entry, settled)
        if models:
            settle(entry, {"latest_version": _latest(models)})
            if known is not versions:
                entry["versions"] = versions

    return edited(text, settle_all)


def _settle_version(
    entry: CommentedMap, versions: CommentedSeq, model: ReleaseModel, settings: DbtSpec
) -> tuple[CommentedMap, list[_Entry]]:
    """A version's entry, right but for its columns; and those."""
    ours = version_entry(model, settings)
    mine = next((v for v in versions if _number(v) == model.version), None)
    if not isinstance(mine, CommentedMap):
        mine = CommentedMap(v=model.version)
        versions.insert(sum((_number(v) or 0) < model.version for v in versions), mine)
    lead = mine.get("description")
    if not is_generated(mine):
        lead = lead or entry.get("description")
    ours["description"] = Block(with_lead(lead, ours["description"], RELEASE))
    # Who may read a model, and whose it is, may be said by hand for all of its versions.
    for key in ("access", "group"):
        if key in entry or _at(entry, "config", key) is not None:
            ours["config"].pop(key, None)
    columns, tests = ours.pop("columns"), ours.pop("data_tests")
    # The mark is ours as a whole: a key that it does not have (any more) goes.
    meta = _at(mine, "config", "meta")
    if isinstance(meta, CommentedMap) and meta.get("privacy") != ours["config"]["meta"]["privacy"]:
        meta.pop("privacy", None)
    settle(mine, ours)
    if "deprecation_date" not in ours:
        mine.pop("deprecation_date", None)
    _settle_tests(entry, mine, tests)
    return mine, columns


def _settle_tests(entry: CommentedMap, mine: CommentedMap, tests: list[_Entry]) -> None:
    """Our tests, then those that somebody wrote: for this version, or for the whole model.

    A version with tests has none of its model's, which are therefore said again.
    """
    key = "tests" if "tests" in mine and "data_tests" not in mine else "data_tests"
    known = mine.get(key)
    others = [test for test in known or () if not _is_ours(test)]
    for shared in [*(entry.get("data_tests") or ()), *(entry.get("tests") or ())]:
        if shared not in others and not _is_ours(shared):
            others.append(deepcopy(shared))
    made = [*tests, *others]
    if not isinstance(known, CommentedSeq):
        mine[key] = CommentedSeq([*(styled(test) for test in tests), *others])
    elif list(known) != made:
        known[:] = [*(styled(test) for test in tests), *others]


def _is_ours(test: object) -> bool:
    name = next(iter(test), "") if isinstance(test, Mapping) else test
    return isinstance(name, str) and name.startswith("policy_engine.")


def _number(entry: object) -> int | None:
    found = str(_at(entry, "v"))
    return int(found) if found.isdecimal() else None


def _settle_columns(
    entry: CommentedMap, versions: Sequence[tuple[CommentedMap, list[_Entry]]]
) -> None:
    """Make each of our versions have exactly its released columns, each of its type."""
    shared = _by_name(entry.get("columns"))
    said = {column["name"]: column for _, columns in versions for column in columns}
    kinds = {(column["name"], column["data_type"]) for _, columns in versions for column in columns}
    names = [name for name, _ in kinds]
    alike = {name for name in shared if names.count(name) == 1}
    for name in alike:
        _settle_column(shared[name], said[name])
    for mine, columns in versions:
        known, released = mine.get("columns"), {column["name"] for column in columns}
        own, made = _by_name(known), CommentedSeq()
        if shared:
            # dbt 2 takes none over where this is not said.
            left_out = [name for name in shared if name not in alike & released]
            rest = {"exclude": FlowList(left_out)} if left_out else {}
            made.append(styled(Flow(include="all", **rest)))
        for column in columns:
            if (name := column["name"]) not in alike:
                made.append(own.get(name) or deepcopy(shared.get(name, CommentedMap())))
                _settle_column(made[-1], column)
        if not made:
            mine.pop("columns", None)
        elif not isinstance(known, CommentedSeq):
            mine["columns"] = made
        elif list(known) != list(made):
            known[:] = list(made)


def _by_name(columns: object) -> dict[str, CommentedMap]:
    found = columns if isinstance(columns, list) else []
    return {str(c["name"]): c for c in found if isinstance(c, CommentedMap) and c.get("name")}


def _settle_column(existing: CommentedMap, column: _Entry) -> None:
    words = with_lead(existing.get("description"), column["description"], COLUMN)
    settle(existing, {**column, "description": words})


def settled_test(text: str, test: _Entry) -> str | None:
    """The text of a unit test of ours as it should be; None where it cannot be read."""

    def settle_all(entry: CommentedMap) -> None:
        for key in [key for key in entry if key not in test]:
            del entry[key]
        settle(entry, test)

    return edited(text, settle_all)
