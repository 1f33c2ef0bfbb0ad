"""The properties of a release: what dbt's YAML says of a model, its versions and their columns.

All of it stands in one file, which is ours and is written anew from the policies. (dbt 2 takes a
model's entry where it and a version speak of the same column, so each version says its own.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policy_engine.calendars import Calendar
from policy_engine.compile.catalog import Kind
from policy_engine.dbt.manifest import Node, sequence
from policy_engine.dbt.marks import marks_of
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.types import needed
from policy_engine.dbt.words import EDITION_WORDS, column_words, number_words, release_words
from policy_engine.dbt.yaml_items import Block, Flow, FlowList, written
from policy_engine.policy.project_models import DbtSpec
from policy_engine.warehouse.base import EDITION

MARK = "# Written by 'policy-engine dbt sync'"
"""How the text of every properties file of ours begins."""
HEADER = f"{MARK} from the policies, anew each time: what should be different is changed there.\n"
_Entry = dict[str, object]
_LATE = 9
"""So many days after the longest of its periods a release with a calendar is late."""


def version_entry(model: ReleaseModel, settings: DbtSpec) -> _Entry:
    """A version of a model: everything that is ours to say of it."""
    policy = model.policy
    entry: _Entry = {"v": model.version, "description": Block(release_words(model))}
    if policy.release.deprecated is not None:
        entry["deprecation_date"] = policy.release.deprecated
    entry["config"] = {
        "access": settings.access,
        **({} if settings.group is None else {"group": settings.group}),
        "contract": Flow(enforced=True),
    }
    entry["columns"] = _columns(model, model.shown_types)
    # Each test has what it compares with.
    tests: dict[str, _Entry] = {}
    if not policy.protection.keys and not policy.is_by_chance:  # else anybody's may be shown
        counts: _Entry = {"k": model.least_shown}
        if policy.release.form == "counts":
            counts["count_column"] = policy.release.count_as
        tests["minimum_count"] = Flow(counts)
    tests["no_uncertified_columns"] = {"columns": FlowList(model.shown_types)}
    listed = _tests(model.release, tests)
    if policy.schedule is not None:
        days = Calendar.DAY.most_in(policy.schedule.every) + _LATE
        late = _tests(model.release, {"certified_within": Flow(count=days, period="day")})
        listed += [
            {name: {**told, "config": Flow(severity="warn")}} for name, told in late[0].items()
        ]
    entry["data_tests"] = listed
    return entry


def draw_entry(model: ReleaseModel, settings: DbtSpec) -> _Entry:
    """The model in which a release is drawn, before it is put into what is read."""
    words = (
        f"Where {model.release} is drawn, until 'policy-engine dbt attest' has signed for it and"
        f" put it there. Read {model.model}."
    )
    tests: dict[str, _Entry] = {"certificate_current": {"policy_digest": model.policy.digest}}
    grouped = {"access": "protected"}
    if settings.group is not None:
        grouped = {"access": "private", "group": settings.group}
    return {
        "name": model.drawn,
        "description": Block(words),
        "config": {
            **grouped,
            "contract": Flow(enforced=True),
            "meta": {"privacy": _mark(model)},
        },
        "columns": _columns(model, model.types),
        "data_tests": _tests(model.drawn, tests),
    }


def _columns(model: ReleaseModel, types: Mapping[str, str]) -> list[_Entry]:
    policy, missing = model.policy, dict(model.policy.missing)
    words = {name: column_words(how, missing.get(name)) for name, how in policy.recodings}
    words |= {EDITION: EDITION_WORDS} if policy.release.append else {}
    words |= number_words(model)
    return [
        {"name": name, "data_type": kind, "quote": True, "description": words[name]}
        for name, kind in types.items()
    ]


def _tests(name: str, tests: Mapping[str, _Entry]) -> list[dict[str, _Entry]]:
    return [
        {f"policy_engine.{test}": {"name": f"{name}_{test}", "arguments": given}}
        for test, given in tests.items()
    ]


def _mark(model: ReleaseModel) -> _Entry:
    certificate = model.certificate
    # The columns that the text was printed for, with their types: labels are not said.
    reads = [
        Flow({
            column.name: "ENUM" if column.kind is Kind.LABEL else column.type
            for name in names
            if (column := relation.find(name))
        })
        for names, relation in zip(needed(model.policy), model.table.relations, strict=True)
    ]  # fmt: skip
    return {
        "generated": True,
        "release": True,
        "policy": model.policy.file.name,
        "policy_digest": model.policy.digest,
        "text_md5": model.text_md5,
        "certificate": {
            "epsilon": f"{certificate.promise.epsilon:f}",
            "delta": str(certificate.promise.delta),
            "k": certificate.k,
            "rate": f"{certificate.promise.rate:f}",
            "neighbours": certificate.promise.neighbours,
            "unit": certificate.unit,
            "reads": reads,
        },
    }


def model_entry(models: Sequence[ReleaseModel], settings: DbtSpec) -> _Entry:
    """The entry of a model: its versions, and which of them a ``ref`` without one means.

    It is the last that is not on its way out.
    """
    staying = [each for each in models if each.policy.release.deprecated is None]
    return {
        "name": models[0].model,
        "latest_version": max(each.version for each in staying or models),
        "versions": [version_entry(model, settings) for model in models],
    }


def generated_file(models: Sequence[ReleaseModel], settings: DbtSpec) -> str:
    """The properties file of a release, in all its versions."""
    drawn = [draw_entry(model, settings) for model in models]
    entries = {"models": [model_entry(models, settings), *drawn]}
    return f"{HEADER}version: 2\n\n{written(entries)}"


def is_by_hand(entry: Mapping[str, object]) -> bool:
    """Whether a model's entry, or one of its versions, is marked as a release and is not ours."""
    said = [each for each in (entry, *sequence(entry, "versions")) if isinstance(each, Mapping)]
    marks = [marks_of(Node("model", each)) for each in said]
    return any(mark.release and not mark.generated for mark in marks)
