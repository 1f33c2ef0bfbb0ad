"""A plan: the query as a tree, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from policy_engine.dialects.base import Dialect


@dataclass(frozen=True)
class Plan:
    """What ``render`` turns into text."""

    dialect: Dialect
    query: exp.Select
    policy_name: str
    policy_digest: str
