"""What a claim is as a policy says it: its conditions, and the tables that it looks up."""

from __future__ import annotations

from collections.abc import Mapping

from policy_engine.kernel.claim import KEPT, Claim, Shown
from policy_engine.kernel.recodes import Bins, Map


def condition_as_said(condition: Shown) -> dict[str, object]:
    """A condition as a policy says it; several ranges have no words there."""
    recode = condition.recode
    told: dict[str, object] = {"missing": True} if condition.missing == KEPT else {}
    if isinstance(recode, Map):
        is_listed = recode.other != KEPT
        keys = [_key(key) for keys, label in recode.groups for key in keys
                if (label == KEPT) is is_listed]  # fmt: skip
        if keys:
            return {"in" if is_listed else "not_in": tuple(keys), **told}
        return {"missing": is_listed}
    assert isinstance(recode, Bins)
    kept = [at for at, label in enumerate(recode.labels) if label == KEPT]
    if len(kept) == len(recode.labels):
        return {"missing": False}
    edges = (None, *recode.cuts, None)
    ends = {"at_least": edges[kept[0]], "below": edges[kept[-1] + 1]}
    return {**{key: cut for key, cut in ends.items() if cut is not None}, **told}


def _key(value: object) -> str:
    """A value of a column as a policy names it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def joins_as_said(
    claim: Claim, calls: Mapping[tuple[str, ...], str]
) -> dict[str, dict[str, object]]:
    """``source.join`` of a claim, its tables called as ``calls`` says."""
    found: dict[str, dict[str, object]] = {}
    for each in claim.joins:
        parts: tuple[str, ...] = getattr(each.source, "parts", ())
        name = parts[-1] if parts[-1] not in found else "_".join(parts)
        on: object = {own.name: key.name for own, key in each.on}
        if all(own.name == key.name for own, key in each.on) and len(each.on) == 1:
            on = each.on[0][0].name
        columns = tuple(column.name for column in each.columns)
        said: dict[str, object] = {"table": calls[parts], "on": on, "columns": columns}
        found[name] = {**said, "public": True} if each.is_public else said
    return found
