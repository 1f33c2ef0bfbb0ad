"""How long a text one row can make: one that fills the memory fails, and tells of the row.

A factor says how often, at most, a value holds all that its row and the statement hold. It is
carried from query to query, so that no chain of queries doubles a text at every step.
"""

from __future__ import annotations

import re

from sqlglot import exp

from policy_engine.expressions.conversions import undecided
from policy_engine.expressions.row_laws import cannot_fail
from policy_engine.expressions.values import Leaves
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare

MOST = 64
"""The largest factor of a value in a release."""

_COPY = re.compile(r"\\[0-9]")


def growth(node: exp.Expr, leaves: Leaves, notes: Notes) -> int:
    """The factor of ``node``; 1, and a finding, where it is above the limit."""
    if id(node) in leaves:
        return leaves[id(node)].growth
    parts = {id(part): growth(part, leaves, notes) for part in node.iter_expressions()}
    factor = max(1, _factor(node, parts, notes))
    if factor > MOST:
        found = f"{shown(node)}, which can be {factor} times as long as its row; at most {MOST}"
        notes.judge(cannot_fail(found), node)
        return 1
    # What a literal holds is the statement's, however often it stands there.
    return 0 if isinstance(node, exp.Literal) else factor


def _factor(node: exp.Expr, parts: dict[int, int], notes: Notes) -> int:
    if isinstance(node, exp.ConcatWs):
        separator, *texts = (parts[id(part)] for part in node.expressions)
        return separator * len(texts) + sum(texts)
    if isinstance(node, exp.Concat | exp.DPipe):
        return sum(parts.values())
    if isinstance(node, exp.Replace):
        return parts[id(node.this)] * _replaced(node, notes)
    if isinstance(node, exp.RegexpReplace):
        return parts[id(node.this)] * _rewritten(node)
    return max(parts.values(), default=1)


def _replaced(node: exp.Expr, notes: Notes) -> int:
    """How much longer REPLACE makes a text that is nothing but what it looks for."""
    old, new = bare(node.expression), bare(node.args.get("replacement") or exp.Null())
    if not new.is_string:
        # Two columns of one row, each letter of the one replaced by the other.
        undecided(node, notes)
        return 1
    least = len(old.name.encode()) if old.is_string else 1
    return max(1, -(-len(new.name.encode()) // max(1, least)))


def _rewritten(node: exp.Expr) -> int:
    """The same of REGEXP_REPLACE, which finds a place before every letter."""
    new, modifiers = node.args.get("replacement"), node.args.get("modifiers")
    text = "" if new is None else bare(new).name
    copies = max(1, len(_COPY.findall(text)))
    once = modifiers is None or (modifiers.is_string and "g" not in modifiers.name)
    return copies if once else copies + len(text.encode())
