"""That a row expression cannot fail: an error aborts the query and tells that the row exists.

Every node that DuckDB 2.0 was seen to fail on has a rule. With types known the rule decides;
without, what would need them becomes an assumption of the certificate. ``TRY_CAST`` never
fails. Constants are no exception: DuckDB converts ``'abc'`` only once a row needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from policy_engine.policy.recodings import Truncate
from policy_engine.verify.conversions import (
    MIXED,
    TIMES,
    check_cast,
    check_mix,
    doubt,
    family,
    undecided,
)
from policy_engine.verify.datatypes import FLOATS, QUOTIENT, Leaves, branches, type_of
from policy_engine.verify.findings import Notes, shown
from policy_engine.verify.literals import bare
from policy_engine.verify.recodes import read_recoding

_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc)


def check_total(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Find, or note as an assumption, every part of ``node`` that could fail on some row."""
    read = read_recoding(node)
    guarded = read is not None and isinstance(read[0], Truncate)
    stack = [node]
    while stack:
        part = stack.pop()
        if id(part) in leaves:
            continue
        rule = _RULES.get(type(part))
        branch = isinstance(part, exp.If) and isinstance(part.parent, exp.Case)
        if rule is not None and not branch and not (guarded and isinstance(part, _TRUNCATIONS)):
            rule(part, leaves, notes)
        if isinstance(part, _NUMBERS_AND_TIMES) and _of_text(part):
            notes.find("V17", f"{shown(part)}, of a text", part)
        if not isinstance(part, exp.Try):
            stack.extend(part.iter_expressions())


def _of_text(node: exp.Expr) -> bool:
    operands = [node.this, node.args.get("expression")]
    # EXTRACT names its unit first.
    if isinstance(node, exp.Extract):
        operands = operands[1:]
    return any(isinstance(part, exp.Expr) and bare(part).is_string for part in operands)


def check_condition(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A condition must be a truth value or a number: anything else would be converted."""
    kind = type_of(node, leaves)
    if kind is not None and family(kind) != "NUMBER":
        notes.find("V17", f"{shown(node)} of type {kind} as a condition", node)
    elif kind is None and not isinstance(node, exp.Null):
        notes.assume(MIXED)


def _arithmetic(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Integers and decimals overflow; floating-point numbers become infinite."""
    if type_of(node, leaves) not in FLOATS | {QUOTIENT}:
        doubt(node, notes)


def _absolute(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """The least integer has no negative; a literal has."""
    if not isinstance(bare(node.this), exp.Literal):
        _arithmetic(node, leaves, notes)


def _division(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """DuckDB 2.0 fails on ``a // 0`` and ``a % 0``, and on the least integer ``// -1``."""
    divisor = bare(node.expression)
    if not isinstance(divisor, exp.Literal) or divisor.is_string:
        undecided(node, notes)
    elif not re.search("[1-9]", divisor.name.lower().split("e")[0]):
        notes.find("V17", shown(node), node)


def _calendar(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """DATE_TRUNC fails at the ends of the calendar, and on units that are none."""
    if isinstance(node.args["unit"], exp.Var | exp.Literal):
        doubt(node, notes)
    else:
        undecided(node, notes)


def _rounding(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """``round(x, -1)`` overflows near the end of an integer's range."""
    decimals = node.args.get("decimals")
    if (
        decimals is not None
        and not _small(decimals)
        and type_of(node, leaves) not in FLOATS | {QUOTIENT}
    ):
        doubt(node, notes)


def _cutting(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Lengths beyond 32 bits fail."""
    lengths = [node.args.get(part) for part in ("expression", "start", "length")]
    for length in lengths:
        if length is not None and not _small(_unsigned(length)):
            undecided(node, notes)


def _unsigned(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Neg) else node


def _small(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and len(node.name) <= 9


def _zone(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    zone = node.args["zone"]
    if not (zone.is_string and zone.name == "UTC") or type_of(node.this, leaves) == "DATE":
        undecided(node, notes)


def _element(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """``x[1]`` and ``x[1:3]`` by small numbers; a struct's field by its name."""
    kind = type_of(node.this, leaves)
    named = kind is not None and kind.startswith(("STRUCT", "MAP"))
    ends = []
    for index in node.expressions:
        ends += [index.this, index.expression] if isinstance(index, exp.Slice) else [index]
    if not named and not all(_small(_unsigned(end)) for end in ends if end is not None):
        undecided(node, notes)


def _pattern(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A pattern or format is read when the query is bound; one out of a row, row by row."""
    given = node.args.get("format") or node.args.get("expression")
    if not (given is not None and given.is_string):
        undecided(node, notes)
    elif isinstance(node, exp.TimeToStr) and type_of(node.this, leaves) not in TIMES:
        doubt(node, notes)


def _condition(*parts: str) -> Rule:
    def rule(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
        for part in parts:
            check_condition(node.args[part], leaves, notes)

    return rule


def _equality(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix([node.this, node.expression], node, leaves, notes, converts_text=True)


def _order(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    check_mix([p for p in parts if p is not None], node, leaves, notes, converts_text=False)


def _membership(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix([node.this, *node.expressions], node, leaves, notes, converts_text=True)


def _truth(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    if isinstance(node.expression, exp.Boolean):
        check_condition(node.this, leaves, notes)


def _choice(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix(branches(node), node, leaves, notes, converts_text=False)
    if isinstance(node, exp.If):
        check_condition(node.this, leaves, notes)


def _case(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix(branches(node), node, leaves, notes, converts_text=False)
    tests = [branch.this for branch in node.args["ifs"]]
    if node.this is not None:
        check_mix([node.this, *tests], node, leaves, notes, converts_text=True)
    else:
        for test in tests:
            check_condition(test, leaves, notes)


# Of a text that is a literal DuckDB makes what these take, once a row needs it.
_NUMBERS_AND_TIMES = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round,
    exp.Floor, exp.Ceil, exp.Sign, exp.IsNan, exp.IsInf, *_TRUNCATIONS, exp.Extract, exp.Year,
    exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear, exp.Day, exp.DayOfWeek,
    exp.DayOfWeekIso, exp.DayOfYear, exp.Hour, exp.Minute,
)  # fmt: skip

Rule = Callable[[exp.Expr, Leaves, Notes], None]

_RULES: dict[type[exp.Expr], Rule] = {
    exp.Cast: check_cast,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    **dict.fromkeys((exp.Abs, exp.Neg), _absolute),
    **dict.fromkeys((exp.IntDiv, exp.Mod), _division),
    **dict.fromkeys(_TRUNCATIONS, _calendar),
    exp.Round: _rounding,
    **dict.fromkeys((exp.Left, exp.Right, exp.Substring), _cutting),
    exp.AtTimeZone: _zone,
    exp.Bracket: _element,
    **dict.fromkeys(
        (exp.RegexpLike, exp.RegexpExtract, exp.RegexpReplace, exp.TimeToStr), _pattern
    ),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif), _equality),
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between), _order),
    exp.In: _membership,
    exp.Is: _truth,
    exp.Case: _case,
    **dict.fromkeys((exp.If, exp.Coalesce, exp.Greatest, exp.Least), _choice),
    **dict.fromkeys((exp.And, exp.Or), _condition("this", "expression")),
    exp.Not: _condition("this"),
}
