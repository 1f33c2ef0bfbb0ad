"""What a request asks and where it stands, in lines and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policy_engine.attest.approvals import Tally
    from policy_engine.releasing.asking import Presented


def standing_lines(told: Tally) -> list[str]:
    """Where a request stands, who has approved it, and which lines do not count."""
    lines = [_standing(told)]
    lines += [f"  approved by {name}, {role}" for name, role, _ in told.counted]
    return lines + [f"  not counted: {why}" for why in told.refused]


def _standing(told: Tally) -> str:
    if told.rejected:
        return f"rejected by {', '.join(told.rejected)}: this request serves no more"
    if told.faults:
        return f"waits: {'; '.join(told.faults)}"
    return "approved" if told.counted else "approved: nobody has to"


def standing_document(told: Tally) -> dict[str, Any]:
    """The same for programs."""
    return {
        "met": not told.faults,
        "missing": list(told.faults),
        "rejected_by": list(told.rejected),
        "counted": [{"by": name, "role": role} for name, role, _ in told.counted],
        "refused": list(told.refused),
    }


def shown_document(found: Presented) -> dict[str, Any]:
    """All that is approved."""
    return {"stage": found.matter.stage, "name": found.matter.name, "subject": found.matter.sha256,
            "of": dict(found.matter.of), "shown": dict(found.shown)}  # fmt: skip


def shown_lines(found: Presented, *, sql: bool = False) -> list[str]:
    """What is approved; with its query where that is asked for."""
    matter, shown = found.matter, found.shown
    lines = [f"{matter.stage} of {matter.name}, account {matter.of['account']}: {matter.sha256}"]
    if matter.stage == "change":
        return [*lines, *(f"  {name}: {value}" for name, value in shown.items())]
    return [*lines, *_claim_lines(matter.of, shown), *(_query(shown) if sql else ())]


def _claim_lines(of: Mapping[str, str], shown: Mapping[str, Any]) -> Iterator[str]:
    price = (of.get("epsilon", shown["epsilon"]), of.get("delta", shown["delta"]))
    yield f"  goes to   {of['target']}"
    yield f"  purpose   {shown.get('purpose') or 'not stated'}"
    yield f"  price     ε {price[0]}, δ {price[1]}"
    yield f"  unit      {shown['unit']}, {shown['neighbours']}"
    yield f"  columns   {', '.join(map(str, shown['columns']))}"
    yield f"  k         {shown['k']}"
    yield f"  filter    {'; '.join(_filters(shown)) or 'none: every row of the source takes part'}"
    yield f"  models    {'; '.join(_models(shown)) or 'none'}"


def _filters(shown: Mapping[str, Any]) -> list[str]:
    from policy_engine.attest.facts import claim_of
    from policy_engine.kernel.laws import ClaimError
    from policy_engine.report.mechanism import filter_words

    if shown.get("claim") is None:
        return ["not told apart from the query: see --sql"]
    try:
        return list(map(filter_words, claim_of(shown).filter))
    except ClaimError:
        return ["of another version: see --sql"]


def _models(shown: Mapping[str, Any]) -> list[str]:
    from policy_engine.attest.facts import models_of
    from policy_engine.policy.syntactic import NoModel

    try:
        return list(map(str, models_of(shown)))
    except NoModel:
        return ["of another version"]


def _query(shown: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"  {line}" for line in str(shown["query"]).rstrip().split("\n"))
