"""A plan: the query as a tree, with all that its envelope needs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from policy_engine.dialects.base import Dialect


@dataclass(frozen=True)
class Plan:
    """What ``render`` turns into text. ``target`` is None where the rows go to a file."""

    dialect: Dialect
    query: exp.Select
    policy_name: str
    policy_digest: str
    target: exp.Table | None = None
    replaces: bool = False
