"""Texts: how long one row can make one, and the regular expressions that DuckDB is sure to take.

A text that fills the memory fails, and tells of its row. A factor says how often, at most, a value
holds all that its row and the statement hold; it is carried from query to query, so that no chain
of queries doubles a text at every step.
"""

from __future__ import annotations

import re

from sqlglot import exp

from policy_engine.expressions.conversions import Verdict, note
from policy_engine.expressions.values import Leaves, cannot_fail
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare

_MOST = 64
"""The largest factor of a value in a release."""

_COPY = re.compile(r"\\[0-9]")
# RE2 limits what a repetition may expand to: one short repetition of a short pattern is small.
_MOST_LETTERS = 100
_DOUBTFUL = re.compile(
    r"""
    [^ -~]                          # not ASCII
  | \(\?                            # an extension
  | \[\[ | \[: | -- | && | ~~ | \|\|   # a set operation, to Python
  | [*+?}][*+]                      # a possessive repetition, to Python
  | \{\d*,?\d{3} | \{.*\{           # a large or second repetition
  | \[.*\\b                        # the backspace of a set, to Python
  | \\(?![dDwWsSbB.\-/()\[\]{}+*?^$|\\])    # an escape of its own
    """,
    re.VERBOSE,
)
_DIGITS = frozenset("0123456789")
_ESCAPE = re.compile(r"\\(\d|\\|.?)", re.DOTALL)


def growth(node: exp.Expr, leaves: Leaves, notes: Notes) -> int:
    """The factor of ``node``; 1, and a finding, where it is above the limit."""
    if id(node) in leaves:
        return leaves[id(node)].growth
    parts = {id(part): growth(part, leaves, notes) for part in node.iter_expressions()}
    factor = max(1, _factor(node, parts, notes))
    if factor > _MOST:
        found = f"{shown(node)}, which can be {factor} times as long as its row; at most {_MOST}"
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
    if not isinstance(node, exp.Replace | exp.RegexpReplace):
        return max(parts.values(), default=1)
    new = bare(node.args.get("replacement") or exp.Null())
    if isinstance(node, exp.RegexpReplace):
        # It finds a place before every letter.
        modifiers = node.args.get("modifiers")
        copies = max(1, len(_COPY.findall(new.name)))
        once = modifiers is None or (modifiers.is_string and "g" not in modifiers.name)
        times = copies if once else copies + len(new.name.encode())
    elif new.is_string:
        # Of a text that is nothing but what it looks for.
        old = bare(node.expression)
        least = len(old.name.encode()) if old.is_string else 1
        times = max(1, -(-len(new.name.encode()) // max(1, least)))
    else:
        # Two columns of one row, each letter of the one replaced by the other.
        note(Verdict.UNDECIDED, node, notes)
        times = 1
    return parts[id(node.this)] * times


def compiles(pattern: str) -> bool:
    """Whether RE2 is known to take ``pattern``: Python does, and means the same; else False.

    >>> compiles("^[0-9]{3}-(a|b)+$"), compiles("("), compiles("(?i)a")
    (True, False, False)
    """
    if len(pattern) > _MOST_LETTERS or _DOUBTFUL.search(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def rewrites(replacement: str, pattern: str) -> bool:
    """Whether ``replacement`` names only groups that ``pattern``, which compiles, has.

    >>> rewrites(r"\\1-x", "(a)"), rewrites(r"\\2", "(a)")
    (True, False)
    """
    groups = re.compile(pattern).groups
    named = [match[1] for match in _ESCAPE.finditer(replacement)]
    return all(name == "\\" or (name in _DIGITS and int(name) <= groups) for name in named)
