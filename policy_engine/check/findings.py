"""Laws, and the findings that one of them is broken.

A law is a sentence that a user sees, with the clause of docs/explanation/mechanism.md it rests on,
and what mends a breach. A code never changes its meaning, and a retired code is not used again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy_engine.errors import Finding
from policy_engine.values import frozen

if TYPE_CHECKING:
    from sqlglot import exp

Position = tuple[int, int]


def position(node: exp.Expr, text: str) -> Position:
    """Line and column, from 1, of the first token of ``node`` that has one; else (1, 1).

    >>> import sqlglot
    >>> sql = "select a,\\n  b from t"
    >>> position(sqlglot.parse_one(sql).expressions[1], sql)
    (2, 3)
    """
    start = next((n.meta["start"] for n in node.dfs() if "start" in n.meta), None)
    if start is None:
        return (1, 1) if node.parent is None else position(node.parent, text)
    return (text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


@frozen
class Breach:
    """What was found in place of what a law asks."""

    law: Law
    found: str

    def at(self, place: Position = (0, 0)) -> Finding:
        """The finding of the breach at a line and column; (0, 0) is no place of a text."""
        # What was found may say itself what mends it.
        remedy = "" if "; " in self.found else self.law.remedy
        message = "; ".join(filter(None, (self.law.text, f"found {self.found}", remedy)))
        return Finding(self.law.code, message, *place)


@frozen
class Law:
    """What must hold, and what mends a breach of it."""

    code: str
    text: str
    remedy: str

    def broken_by(self, found: str) -> Breach:
        """The breach by what was found instead."""
        return Breach(self, found)


def findings_of(*breaches: Breach) -> tuple[Finding, ...]:
    """The findings of breaches that stand at no place of a text, one a law."""
    found: dict[str, Finding] = {}
    for breach in breaches:
        found.setdefault(breach.law.code, breach.at())
    return tuple(sorted(found.values(), key=lambda finding: (finding.code, finding.message)))
