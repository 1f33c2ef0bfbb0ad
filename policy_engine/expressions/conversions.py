"""Conversions of one type into another, written or implied, that could fail on some value.

DuckDB converts without being asked wherever values of different types meet: a text beside a
number becomes a number, and the query fails on the row where it is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from sqlglot import exp

from policy_engine.expressions.datatypes import (
    DECIMALS,
    FINE_DECIMAL,
    FLOATS,
    INEXACT,
    INTEGERS,
    NARROW,
    NUMBERS,
    TEXT,
    TIMES,
    WIDE_DECIMAL,
    holds_exactly,
    plain,
    type_of,
)
from policy_engine.expressions.values import Leaves, Role, cannot_fail
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, moment, number, ordinal

NEVER = " fails on no row"
MIXED = "values are compared and combined with values of their own type only"
_SMALL = NARROW - {"BIGINT"}
_WIDE = frozenset({"HUGEINT", "UHUGEINT", WIDE_DECIMAL, FINE_DECIMAL, INEXACT})
_SIGNED = frozenset(kind for kind in INTEGERS if not kind.startswith("U"))
# More than 18 digits on one side of the point, beside 18 on the other, fit no DECIMAL.
_LONG = re.compile(r"\d{19}")
# The bits of the least and the greatest number of a type.
_BITS = {
    "BOOLEAN": (0, 1), "UTINYINT": (0, 8), "USMALLINT": (0, 16), "UINTEGER": (0, 32),
    "UBIGINT": (0, 64), "UHUGEINT": (0, 128), "TINYINT": (7, 7), "SMALLINT": (15, 15),
    "INTEGER": (31, 31), "BIGINT": (63, 63), "HUGEINT": (127, 127),
}  # fmt: skip


class Verdict(Enum):
    """What a rule says of a node that is not known to be total; of one that is, it says None."""

    DOUBT = "fails at the ends of a range only: an assumption"
    UNDECIDED = "a schema could have decided: refused where there is one, else an assumption"
    FAILS = "refused"


def note(verdict: Verdict | None, node: exp.Expr, notes: Notes) -> None:
    """Note what a rule says of ``node``."""
    if verdict is Verdict.FAILS or (verdict is Verdict.UNDECIDED and notes.strict):
        remedy = "; TRY_CAST gives NULL instead" if isinstance(node, exp.Cast) else ""
        notes.judge(cannot_fail(shown(node) + remedy), node)
    elif verdict is not None:
        notes.assume(shown(node) + NEVER)


def of_a_cast(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """A CAST must convert every value of its type."""
    to, inner = node.args["to"], bare(node.this)
    target = plain(to.sql("duckdb"))
    if isinstance(inner, exp.Null) or target == TEXT:
        return None
    if isinstance(inner, exp.Literal):
        total = _converts(inner, target) or (inner.is_string and holds_exactly(to, inner.name))
    elif isinstance(inner, exp.DateTrunc | exp.TimestampTrunc) and target == "DATE":
        total = True
    else:
        total = _widens(type_of(node.this, leaves), target) or _divides(inner, target, leaves)
    if total:
        return None
    if _of_small_numbers(inner, leaves):
        return Verdict.DOUBT
    # Of a count the type is known, with a schema or without.
    counted = any(value.kind is Role.COUNT for value in leaves.values())
    return Verdict.FAILS if counted or isinstance(inner, exp.Literal) else Verdict.UNDECIDED


def _widens(kind: str | None, target: str) -> bool:
    """Whether every value of ``kind`` is known to convert to ``target``."""
    if kind in _BITS and target in _BITS and target != "BOOLEAN":
        return all(a <= b for a, b in zip(_BITS[kind], _BITS[target], strict=True))
    if target == "DOUBLE":
        return kind in NUMBERS
    if target == "DATE":
        return kind in TIMES | {"DATE"}
    return kind == target and kind not in DECIMALS


def _divides(node: exp.Expr, target: str, leaves: Leaves) -> bool:
    """Whether a cast is one of a small whole number, perhaps over another and rounded."""
    while isinstance(node, exp.Floor | exp.Ceil | exp.Round | exp.Trunc):
        if node.args.get("decimals"):
            return False
        node = bare(node.this)
    if isinstance(node, exp.Div) and ordinal(bare(node.expression)):
        node = node.this
    kind = type_of(node, leaves)
    return kind in _SMALL and _widens(kind, target)


def _of_small_numbers(node: exp.Expr, leaves: Leaves) -> bool:
    """Whether a number is computed of small whole ones: it fits but at the ends of their range."""
    rounded = exp.Floor | exp.Ceil | exp.Round | exp.Trunc
    computed = rounded | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv
    if not isinstance(node, computed) or node.args.get("decimals"):
        return False
    stack, sizes = [node], []
    while stack:
        part = bare(stack.pop())
        if isinstance(part, computed):
            stack.extend(part.iter_expressions())
        else:
            value = number(part)
            sizes.append(bool(value) or (value is None and type_of(part, leaves) in _SMALL))
    return all(sizes)


def _converts(literal: exp.Expr, target: str) -> bool:
    """Whether a literal is one of the plain spellings of a value of the type ``target``."""
    text = literal.name
    if target in TIMES or target == "DATE":
        if target == "TIMESTAMP_NS" and not "1678" <= text[:4] <= "2261":
            return False
        whole = target != "DATE" or " " not in text
        return literal.is_string and whole and moment(text) is not None
    if target in FLOATS:
        return bool(re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII))
    if target in NUMBERS:
        digits = {"TINYINT": 2, "UTINYINT": 2, "SMALLINT": 4, "USMALLINT": 4}.get(target, 9)
        # How many digits a DECIMAL has before its point is not known here: up to 18 behind it.
        exact = target not in DECIMALS
        return exact and bool(re.fullmatch(rf"\d{{1,{digits}}}", text, re.ASCII))
    return target == TEXT or (target == "BOOLEAN" and text.lower() in {"true", "false"})


def check_condition(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A condition must be a truth value or a number: anything else would be converted."""
    kind = type_of(node, leaves)
    if kind is not None and _family(kind) != "NUMBER":
        notes.judge(cannot_fail(f"{shown(node)} of type {kind} as a condition"), node)
    elif kind is None and not isinstance(node, exp.Null):
        notes.assume(MIXED)


def check_mix(parts: Sequence[exp.Expr], node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Values of different types are converted to one of them, which can fail."""
    parts = [bare(part) for part in parts if not isinstance(bare(part), exp.Null)]
    others = [part for part in parts if not part.is_string]
    found = {type_of(part, leaves) for part in others}
    kinds = {kind for kind in found if kind}
    if None in found and len(parts) > 1:
        notes.assume(MIXED)
    for kind in kinds - {TEXT}:
        texts = [part for part in parts if part.is_string and not _converts(part, kind)]
        if texts and not kind.startswith("ENUM"):
            notes.judge(cannot_fail(f"{shown(texts[0])} beside a {kind}"), node)
    if len(set(map(_family, kinds))) > 1:
        notes.judge(cannot_fail(f"{shown(node)}, which mixes types"), node)
    if _can_overflow(others, kinds, leaves):
        note(Verdict.UNDECIDED, node, notes)


def _family(kind: str) -> str:
    """The types between which DuckDB converts without a value that fails."""
    if kind in NUMBERS | {"BOOLEAN"}:
        return "NUMBER"
    if kind in TIMES | {"DATE"}:
        return "MOMENT"
    return TEXT if kind.startswith("ENUM") else kind


def _can_overflow(parts: Sequence[exp.Expr], kinds: set[str], leaves: Leaves) -> bool:
    """Whether a common type of ``parts`` may be too narrow for one of them."""
    inner = [bare(part.this) if isinstance(part, exp.Cast) else part for part in parts]
    paired = zip(parts, inner, strict=True)
    varying = {type_of(p, leaves) for p, node in paired if not isinstance(node, exp.Literal)}
    if "DATE" in varying:
        return bool(kinds & TIMES)
    if "TIMESTAMPTZ" in kinds and varying & (TIMES - {"TIMESTAMPTZ"}):
        # The session's zone moves the ends of the calendar.
        return True
    if "TIMESTAMP_NS" in kinds:
        # Its calendar ends in 2262; that of the others does not.
        return bool(kinds - {"TIMESTAMP_NS", TEXT})
    if kinds & FLOATS:
        return False
    if "UHUGEINT" in kinds:
        # A negative number is none of its kind.
        signed = {type_of(p, leaves) for p in parts if not isinstance(p, exp.Literal)} & _SIGNED
        if signed or kinds & DECIMALS:
            return True
    if not kinds & DECIMALS:
        return False
    long = any(_LONG.search(p.name) for p in parts if isinstance(p, exp.Literal))
    if FINE_DECIMAL not in kinds:
        # A whole number takes the digits of what it stands beside.
        parts = [p for p in parts if not (isinstance(p, exp.Literal) and p.name.isdigit())]
    return long or bool(kinds & _WIDE and len(parts) > 1)


# The regular expressions that DuckDB is sure to take

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
