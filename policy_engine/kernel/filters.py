"""Conditions of one column as the recodes that a claim has: to what is kept, and how they read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from policy_engine.kernel.claim import DROPPED, KEPT, Shown
from policy_engine.kernel.recodes import Bins, Map
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import MOMENTS, Value


def one_of(column: Column, members: tuple[Value, ...], *, or_missing: bool = False) -> Shown:
    """The value is one of ``members``; with ``or_missing`` NULL is kept as well.

    Raises ClaimError for members that no value of the column is.
    """
    return _kept(column, Map(((members, KEPT),), DROPPED), or_missing=or_missing)


def none_of(column: Column, members: tuple[Value, ...], *, or_missing: bool = False) -> Shown:
    """There is a value, and it is none of ``members``; without members it is any."""
    recode: Bins | Map = Map(((members, DROPPED),) if members else (), KEPT)
    if not members and not recode.fits(column.seen):
        # Of what no map looks up: on both sides of any value.
        cut: Value = datetime(2000, 1, 1) if column.seen.kind in MOMENTS else Decimal(0)
        recode = Bins((cut,), (KEPT, KEPT))
    return _kept(column, recode, or_missing=or_missing)


def within(
    column: Column,
    at_least: Value | None = None,
    below: Value | None = None,
    *,
    or_missing: bool = False,
) -> Shown:
    """The value is ``at_least`` this, and ``below`` that; of the two one may be None.

    >>> from policy_engine.kernel.types import Type
    >>> words_of(within(Column("age", Type("integer")), 18, 65))
    'age from 18 to below 65'
    """
    cuts = tuple(cut for cut in (at_least, below) if cut is not None)
    labels = (KEPT, DROPPED) if at_least is None else (DROPPED, KEPT, DROPPED)
    return _kept(column, Bins(cuts, labels[: len(cuts) + 1]), or_missing=or_missing)


def _kept(column: Column, recode: Bins | Map, *, or_missing: bool) -> Shown:
    return Shown(KEPT, column, recode, KEPT if or_missing else None)


def words_of(condition: Shown, name: str = "", said: Callable[[Value], str] = str) -> str:
    """Which rows take part, by a condition; ``name`` stands for its column, ``said`` for a value.

    >>> from policy_engine.kernel.types import Type
    >>> words_of(none_of(Column("state", Type("text")), ("TX", "CA"), or_missing=True))
    'state is none of TX, CA or is missing'
    """
    recode, column = condition.recode, condition.column
    parts = []
    if isinstance(recode, Map):
        parts += _of_values(recode, said)
    elif isinstance(recode, Bins):
        parts += _of_ranges(recode, said)
    if condition.missing == KEPT:
        parts.append("is missing")
    return f"{name or (column.name if column else '')} {' or '.join(parts)}"


def _of_values(recode: Map, said: Callable[[Value], str]) -> list[str]:
    kept = [key for keys, label in recode.groups for key in keys if label == KEPT]
    left = [key for keys, label in recode.groups for key in keys if label != KEPT]
    if recode.other != KEPT:
        return [f"is one of {', '.join(map(said, kept))}"] if kept else []
    return [f"is none of {', '.join(map(said, left))}" if left else "is not missing"]


def _of_ranges(recode: Bins, said: Callable[[Value], str]) -> list[str]:
    if set(recode.labels) == {KEPT}:
        return ["is not missing"]
    found = []
    for label, low, high in zip(
        recode.labels, (None, *recode.cuts), (*recode.cuts, None), strict=True
    ):
        if label == KEPT:
            least = "" if low is None else f"from {said(low)}{' on' if high is None else ' to '}"
            found.append(least + ("" if high is None else f"below {said(high)}"))
    return found
