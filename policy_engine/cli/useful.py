"""A workload as text and as JSON: what a release is good for, and whose the numbers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from policy_engine.policy.escapes import escaped

if TYPE_CHECKING:
    from policy_engine.measure.workload import Workload


def workload_document(found: Workload | None) -> dict[str, Any]:
    """A workload in JSON; nothing where none was asked for."""
    if found is None:
        return {}
    told = {
        "confidential": not found.is_public,
        "queries": found.queries or None,
        "relative_errors": None if found.errors is None else dict(found.errors),
        "learnt": [asdict(each) for each in found.learnt],
    }
    return {"workload": told}


def workload_lines(found: Workload | None) -> Iterator[str]:
    """A workload as text."""
    if found is None:
        return
    yield "workload, of the release alone" if found.is_public else "workload, confidential"
    for each in found.learnt:
        name = escaped(each.column)
        yield (
            f"  {name}: a tree grown on half of the release is right about {_share(each.own)} of"
            f" the other half, and the commonest value about {_share(each.commonest)}"
        )
        if not found.is_public:
            yield (
                f"  {name}, of the source: a tree grown on the release is right about"
                f" {_share(each.sanitised)}, the commonest value about {_share(each.base)}, a tree"
                f" grown on half of the source about {_share(each.best)} of the other half"
            )
    if found.errors is not None:
        errors = ", ".join(f"{name} {_share(error)}" for name, error in found.errors.items())
        yield f"  relative error of {found.queries:,} random counting queries: {errors}"


def _share(value: float | None) -> str:
    return "none: nobody is there" if value is None else f"{100 * value:.3g} %"
