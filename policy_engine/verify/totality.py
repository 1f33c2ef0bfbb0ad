"""That a row expression cannot fail: an error aborts the query and tells that the row exists.

Every node that DuckDB 2.0 was seen to fail on has a rule. With types known the rule decides;
without, what would need them becomes an assumption of the certificate. ``TRY_CAST`` never
fails. Constants are no exception: DuckDB converts ``'abc'`` only once a row needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime

from sqlglot import exp

from policy_engine.policy.recodings import Truncate
from policy_engine.verify.datatypes import (
    FLOATS,
    NUMBERS,
    QUOTIENT,
    TEXT,
    Leaves,
    branches,
    plain,
    type_of,
)
from policy_engine.verify.findings import Notes, shown
from policy_engine.verify.recodes import read_recoding
from policy_engine.verify.shape import Kind

MIXED = "values are compared and combined with values of their own type only"
_WIDE = frozenset({"HUGEINT", "UHUGEINT", "DECIMAL"})
_TIMES = frozenset({"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})


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
        if rule is not None and not branch and not (guarded and type(part) is exp.TimestampTrunc):
            rule(part, leaves, notes)
        if not isinstance(part, exp.Try):
            stack.extend(part.iter_expressions())


def check_condition(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A condition must be a truth value or a number: anything else would be converted."""
    kind = type_of(node, leaves)
    if kind is not None and _family(kind) != "NUMBER":
        notes.find("V17", f"{shown(node)} of type {kind} as a condition", node)
    elif kind is None and not isinstance(node, exp.Null):
        notes.assume(MIXED)


def _doubt(node: exp.Expr, notes: Notes) -> None:
    notes.assume(f"{shown(node)} fails on no row")


def _undecided(node: exp.Expr, notes: Notes) -> None:
    """What a schema could have decided: refused where there is one, else an assumption."""
    if notes.strict:
        notes.find("V17", shown(node), node)
    else:
        _doubt(node, notes)


def _cast(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    assert isinstance(node, exp.Cast)
    target = plain(node.to.sql("duckdb"))
    inner = _bare(node.this)
    if isinstance(node, exp.TryCast) or isinstance(inner, exp.Null):
        return
    if isinstance(inner, exp.Literal):
        total = _converts(inner, target)
    elif isinstance(inner, exp.TimestampTrunc) and target == "DATE":
        total = True
    else:
        total = _widens(type_of(node.this, leaves), target)
    if total or target == TEXT:
        return
    # Of a count the type is known, with a schema or without.
    counted = any(value.kind is Kind.COUNT for value in leaves.values())
    if notes.strict or counted or isinstance(inner, exp.Literal):
        notes.find("V17", f"{shown(node)}; TRY_CAST gives NULL instead", node)
    else:
        _doubt(node, notes)


# The bits of the least and the greatest number of a type.
_BITS = {
    "BOOLEAN": (0, 1), "UTINYINT": (0, 8), "USMALLINT": (0, 16), "UINTEGER": (0, 32),
    "UBIGINT": (0, 64), "UHUGEINT": (0, 128), "TINYINT": (7, 7), "SMALLINT": (15, 15),
    "INTEGER": (31, 31), "BIGINT": (63, 63), "HUGEINT": (127, 127),
}  # fmt: skip


def _widens(kind: str | None, target: str) -> bool:
    """Whether every value of ``kind`` is known to convert to ``target``."""
    if kind in _BITS and target in _BITS and target != "BOOLEAN":
        return all(a <= b for a, b in zip(_BITS[kind], _BITS[target], strict=True))
    if target == "DOUBLE":
        return kind in NUMBERS
    if target == "DATE":
        return kind in _TIMES | {"DATE"}
    return kind == target != "DECIMAL"


_DAY = r"\d{4}-\d\d-\d\d"
_MOMENT = _DAY + r"( \d\d:\d\d:\d\d(\.\d{1,6})?)?"


def _converts(literal: exp.Expr, target: str | None) -> bool:
    """Whether a literal is one of the plain spellings of a value of the type ``target``."""
    text = literal.name
    if target in _TIMES or target == "DATE":
        form = _DAY if target == "DATE" else _MOMENT
        return literal.is_string and bool(re.fullmatch(form, text, re.ASCII)) and _is_time(text)
    if target in NUMBERS:
        small = {"TINYINT": 2, "UTINYINT": 2, "SMALLINT": 4, "USMALLINT": 4, "DECIMAL": 0}
        digits = small.get(str(target), 9)
        return bool(re.fullmatch(rf"\d{{1,{digits}}}", text, re.ASCII)) if digits else False
    return target == TEXT or (target == "BOOLEAN" and text.lower() in {"true", "false"})


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text) if " " in text else date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _arithmetic(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Integers and decimals overflow; floating-point numbers become infinite."""
    if type_of(node, leaves) not in FLOATS | {QUOTIENT}:
        _doubt(node, notes)


def _absolute(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """The least integer has no negative; a literal has."""
    if not isinstance(_bare(node.this), exp.Literal):
        _arithmetic(node, leaves, notes)


def _division(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """DuckDB 2.0 fails on ``a // 0`` and ``a % 0``, and on the least integer ``// -1``."""
    divisor = _bare(node.expression)
    if not isinstance(divisor, exp.Literal) or divisor.is_string:
        _undecided(node, notes)
    elif not re.search("[1-9]", divisor.name.lower().split("e")[0]):
        notes.find("V17", shown(node), node)


def _calendar(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    _doubt(node, notes)


def _rounding(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """``round(x, -1)`` overflows near the end of an integer's range."""
    decimals = node.args.get("decimals")
    if (
        decimals is not None
        and not _small(decimals)
        and type_of(node, leaves) not in FLOATS | {QUOTIENT}
    ):
        _doubt(node, notes)


def _cutting(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Lengths beyond 32 bits fail."""
    lengths = [node.args.get(part) for part in ("expression", "start", "length")]
    for length in lengths:
        if length is not None and not _small(_unsigned(length)):
            _undecided(node, notes)


def _unsigned(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Neg) else node


def _small(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and len(node.name) <= 9


def _zone(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    zone = node.args["zone"]
    if not (zone.is_string and zone.name == "UTC") or type_of(node.this, leaves) == "DATE":
        _undecided(node, notes)


def _element(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """``x[1]`` and ``x[1:3]`` by small numbers; a struct's field by its name."""
    kind = type_of(node.this, leaves)
    named = kind is not None and kind.startswith(("STRUCT", "MAP"))
    ends = []
    for index in node.expressions:
        ends += [index.this, index.expression] if isinstance(index, exp.Slice) else [index]
    if not named and not all(_small(_unsigned(end)) for end in ends if end is not None):
        _undecided(node, notes)


def _pattern(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A pattern or format is read when the query is bound; one out of a row, row by row."""
    given = node.args.get("format") or node.args.get("expression")
    if not (given is not None and given.is_string):
        _undecided(node, notes)
    elif isinstance(node, exp.TimeToStr) and type_of(node.this, leaves) not in _TIMES:
        _doubt(node, notes)


def _condition(*parts: str) -> Rule:
    def rule(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
        for part in parts:
            if node.args.get(part) is not None:
                check_condition(node.args[part], leaves, notes)

    return rule


def _equality(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    _check_mix([node.this, node.expression], node, leaves, notes, converts_text=True)


def _order(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    _check_mix([p for p in parts if p is not None], node, leaves, notes, converts_text=False)


def _membership(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    _check_mix([node.this, *node.expressions], node, leaves, notes, converts_text=True)


def _truth(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    if isinstance(node.expression, exp.Boolean):
        check_condition(node.this, leaves, notes)


def _choice(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    _check_mix(branches(node), node, leaves, notes, converts_text=False)
    if isinstance(node, exp.If):
        check_condition(node.this, leaves, notes)


def _case(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    _check_mix(branches(node), node, leaves, notes, converts_text=False)
    tests = [branch.this for branch in node.args["ifs"]]
    if node.this is not None:
        _check_mix([node.this, *tests], node, leaves, notes, converts_text=True)
    else:
        for test in tests:
            check_condition(test, leaves, notes)


def _check_mix(
    parts: Sequence[exp.Expr], node: exp.Expr, leaves: Leaves, notes: Notes, *, converts_text: bool
) -> None:
    """Values of different types are converted to one of them, which can fail.

    ``converts_text`` says that the engine converts a *column* of text as well (``=``, ``IN``);
    elsewhere it refuses to bind, and converts literals of text only.
    """
    parts = [_bare(part) for part in parts if not isinstance(_bare(part), exp.Null)]
    texts = [p for p in parts if isinstance(p, exp.Literal) and p.is_string]
    others = [p for p in parts if p not in texts]
    kinds = {type_of(part, leaves) for part in others}
    if None in kinds and (texts or converts_text or len(others) > 1):
        known_numbers = all(isinstance(p, exp.Literal) for p in others if type_of(p, leaves))
        if texts or converts_text or not known_numbers:
            notes.assume(MIXED)
    for kind in {str(kind) for kind in kinds - {None, TEXT}}:
        wrong = [text for text in texts if not _converts(text, kind) and kind[:4] != "ENUM"]
        if wrong:
            notes.find("V17", f"{shown(wrong[0])} beside a {kind}", node)
    if len({_family(kind) for kind in kinds if kind}) > 1:
        notes.find("V17", f"{shown(node)}, which mixes types", node)
    if _can_overflow(others, {kind for kind in kinds if kind}, leaves):
        _undecided(node, notes)


def _family(kind: str) -> str:
    """The types between which DuckDB converts without a value that fails."""
    if kind in NUMBERS | {"BOOLEAN"}:
        return "NUMBER"
    if kind in _TIMES | {"DATE"}:
        return "TIME"
    return TEXT if kind.startswith("ENUM") else kind


def _can_overflow(parts: Sequence[exp.Expr], kinds: set[str], leaves: Leaves) -> bool:
    """Whether a common type of ``parts`` may be too narrow for one of them."""
    varying = {type_of(p, leaves) for p in parts if not isinstance(p, exp.Literal | exp.Cast)}
    if "DATE" in varying:
        return bool(kinds & _TIMES)
    if not varying & _WIDE or kinds & FLOATS:
        return False
    return "DECIMAL" in kinds and (len(kinds) > 1 or len(parts) > 1)


Rule = Callable[[exp.Expr, Leaves, Notes], None]

_RULES: dict[type[exp.Expr], Rule] = {
    exp.Cast: _cast,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    **dict.fromkeys((exp.Abs, exp.Neg), _absolute),
    **dict.fromkeys((exp.IntDiv, exp.Mod), _division),
    **dict.fromkeys((exp.DateTrunc, exp.TimestampTrunc), _calendar),
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
