"""That a row expression cannot fail: an error aborts the query and tells that the row exists.

Every node that DuckDB 2.0 was seen to fail on has a rule. With types known the rule decides;
without, what would need them becomes an assumption of the certificate. ``TRY_CAST`` never
fails. Constants are no exception: DuckDB converts ``'abc'`` only once a row needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from policy_engine.expressions.conversions import (
    MIXED,
    check_cast,
    check_mix,
    doubt,
    family,
    undecided,
)
from policy_engine.expressions.datatypes import (
    FLOATS,
    INTEGERS,
    INTERVAL,
    NUMBERS,
    QUOTIENT,
    TEXT,
    TIMES,
    branches,
    plain,
    type_of,
)
from policy_engine.expressions.patterns import compiles, rewrites
from policy_engine.expressions.recodes import read_recoding
from policy_engine.expressions.row_laws import cannot_fail
from policy_engine.expressions.values import Leaves
from policy_engine.policy.recodings import Round, Truncate
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, number, ordinal
from policy_engine.syntax.node_laws import is_deterministic

_LONGEST_PADDING = 1000
_LARGE, _HUGE = 1000, 10**9
"""Times, or plus, more than this, a whole number of an ordinary size may not fit."""
_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc)
# What a recoding bounds before it computes it, in the one form that is read as that recoding.
_BOUNDED: dict[type[object], tuple[type[exp.Expr], ...]] = {
    Truncate: _TRUNCATIONS,
    Round: (exp.Mul,),
}


_PARTS_OF_TIMES = (
    exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear, exp.Day,
    exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear, exp.Hour, exp.Minute, exp.Second,
    exp.Monthname, exp.Dayname,
)  # fmt: skip


def check_total(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Find, or note as an assumption, every part of ``node`` that could fail on some row."""
    read = read_recoding(node)
    bounded = _BOUNDED.get(type(read[0]), ()) if read is not None else ()
    stack = [node]
    while stack:
        part = stack.pop()
        if id(part) in leaves:
            continue
        rule = None if _is_caught(part) else _RULES.get(type(part))
        branch = isinstance(part, exp.If) and isinstance(part.parent, exp.Case)
        within = isinstance(part, bounded) or (exp.Mul in bounded and _counts_steps(part))
        if rule is not None and not branch and not within:
            rule(part, leaves, notes)
        if within and _is_asked_before(part, leaves):
            _week_of_least(part, notes)
        if _asks_the_zone(part, leaves):
            found = f"{shown(part)}, which the session's zone decides; write AT TIME ZONE 'UTC'"
            notes.judge(is_deterministic.broken_by(found), part)
        if isinstance(part, _NUMBERS_AND_TIMES) and _of_text(part):
            notes.judge(cannot_fail(f"{shown(part)}, of a text"), part)
        stack.extend(part.iter_expressions())


def _is_asked_before(node: exp.Expr, leaves: Leaves) -> bool:
    """Whether DuckDB asks for the week of a column's least day before a query runs.

    It does so outside of the CASE that bounds the day, and the least day of all has none. Behind
    GREATEST, as a bounded week is read, it asks for the later of the two.
    """
    of_weeks = isinstance(node, _TRUNCATIONS) and node.args["unit"].name.lower() == "week"
    if not of_weeks or isinstance(bare(node.this), exp.Greatest):
        return False
    return type_of(node.this, leaves) in {"DATE", None}


def _week_of_least(node: exp.Expr, notes: Notes) -> None:
    if not notes.strict:
        doubt(node, notes)
        return
    found = f"{shown(node)}, which DuckDB asks of the least day before it runs"
    remedy = f"write GREATEST({shown(bare(node.this))}, DATE '0001-01-01') in it"
    notes.judge(cannot_fail(f"{found}; {remedy}"), node)


def _counts_steps(node: exp.Expr) -> bool:
    """Whether a cast is that of a rounded number, which rounding bounds before."""
    return isinstance(node, exp.Cast) and isinstance(bare(node.this), exp.Round)


def _asks_the_zone(node: exp.Expr, leaves: Leaves) -> bool:
    """Whether a time with a zone is read by the session's own zone."""
    if isinstance(node, exp.Add | exp.Sub):
        # Which day a moment falls on, and how long that day is.
        kinds = {type_of(side, leaves) for side in (node.this, node.expression)}
        return kinds == {"TIMESTAMPTZ", INTERVAL}
    operand = node.expression if isinstance(node, exp.Extract) else node.args.get("this")
    if not isinstance(operand, exp.Expr) or type_of(operand, leaves) != "TIMESTAMPTZ":
        return False
    if isinstance(node, exp.Cast):
        return plain(node.to.sql("duckdb")) != "TIMESTAMPTZ"
    return isinstance(node, (*_TRUNCATIONS, *_PARTS_OF_TIMES, exp.TimeToStr))


# What TRY is known to catch: not what DuckDB finds when it prepares a query, or a pattern.
_CAUGHT = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.IntDiv, exp.Mod)


def _is_caught(node: exp.Expr) -> bool:
    """Whether a part can fail, but stands in a TRY that makes NULL of it."""
    if isinstance(node, exp.Cast):
        # The cast of a column to one kind of time or another is TRY's, as is that to a number.
        caught = not isinstance(bare(node.this), exp.Literal)
    else:
        caught = isinstance(node, _CAUGHT)
    return caught and node.find_ancestor(exp.Try) is not None


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
        notes.judge(cannot_fail(f"{shown(node)} of type {kind} as a condition"), node)
    elif kind is None and not isinstance(node, exp.Null):
        notes.assume(MIXED)


def _arithmetic(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Integers and decimals overflow; floating-point numbers become infinite."""
    if _is_fixed_time(node):
        return
    sides = [bare(part) for part in (node.this, node.args.get("expression")) if part is not None]
    known = [number(side) for side in sides]
    most = _LARGE if isinstance(node, exp.Mul) else _HUGE
    square = isinstance(node, exp.Mul) and known == [None, None]
    if type_of(node, leaves) in INTEGERS and (square or any((n or 0) > most for n in known)):
        undecided(node, notes)
        return
    if type_of(node, leaves) not in FLOATS | {QUOTIENT}:
        doubt(node, notes)


def _is_fixed_time(node: exp.Expr) -> bool:
    """Whether ``node`` is a constant day or moment, moved by a constant interval."""
    start, step = bare(node.this), bare(node.args.get("expression") or exp.Null())
    fixed = isinstance(start, exp.Cast) and bare(start.this).is_string
    return fixed and isinstance(step, exp.Interval)


_STEPS = frozenset({"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE"})


def _interval(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """An interval of up to four digits in one unit: every calendar has it."""
    unit = node.args.get("unit") or exp.Null()
    steps = unit.name.upper().removesuffix("S")
    if not (steps in _STEPS and node.this.name.isdigit() and len(node.this.name) <= 4):
        notes.judge(cannot_fail(shown(node)), node)


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
        notes.judge(cannot_fail(shown(node)), node)


def _quotient(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A number over 0 is NULL or infinite; an interval over 0, or 1e-300, fails."""
    kind, divisor = type_of(node.this, leaves), ordinal(bare(node.expression))
    if kind in NUMBERS or (divisor and divisor < 10**9):
        return
    if kind == INTERVAL:
        undecided(node, notes)
    else:
        doubt(node, notes)


def _calendar(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """DATE_TRUNC fails at the ends of the calendar, and on units that are none."""
    if isinstance(node.args["unit"], exp.Var | exp.Literal):
        doubt(node, notes)
    else:
        undecided(node, notes)


# Where these are not known: weeks of the first dates, days of an interval, a date's zone.
_WEEKS = frozenset({"week", "isoyear", "yearweek"})
_NOT_OF_DATES = _WEEKS | {"timezone", "timezone_hour", "timezone_minute"}
_NOT_OF_INTERVALS = _NOT_OF_DATES | {
    "era", "dow", "isodow", "dayofweek", "weekday", "doy", "dayofyear",
}  # fmt: skip
_NAMES: dict[type[exp.Expr], str] = {
    **dict.fromkeys((exp.Week, exp.WeekOfYear), "week"),
    **dict.fromkeys((exp.DayOfWeek, exp.DayOfWeekIso), "dow"),
    exp.DayOfYear: "doy",
}


def _calendar_part(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Most parts of a time are numbers or NULL, whatever the time."""
    is_extract = isinstance(node, exp.Extract)
    unit = node.name.lower() if is_extract else _NAMES[type(node)]
    kind = type_of(node.expression if is_extract else node.this, leaves)
    known = kind in TIMES or (kind == "DATE" and unit not in _NOT_OF_DATES)
    if unit in _NOT_OF_INTERVALS and not known:
        if kind in {"DATE", None}:
            doubt(node, notes)
        else:
            undecided(node, notes)


def _between_dates(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """DATE_DIFF overflows for far dates in small units; its dates may be of two types."""
    _calendar(node, leaves, notes)
    _order(node, leaves, notes)


def _rounding(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """``round(x, -1)`` overflows near the end of an integer's range."""
    decimals = node.args.get("decimals")
    if decimals is None or _small(decimals):
        return
    if not _small(_unsigned(decimals)):
        undecided(node, notes)
    elif type_of(node, leaves) not in FLOATS | {QUOTIENT}:
        doubt(node, notes)


def _cutting(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Lengths beyond 32 bits fail."""
    lengths = [node.args.get(part) for part in ("expression", "start", "length")]
    for length in lengths:
        if length is not None and not _small(_unsigned(length)):
            undecided(node, notes)


def _split(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A place that is a text is converted, once a row needs it."""
    if not _small(_unsigned(node.args.get("part_index") or exp.Null())):
        undecided(node, notes)


def _padding(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Padding with nothing fails, and so does a length that fills the memory."""
    fill = node.args.get("fill_pattern") or exp.Null()
    length = ordinal(bare(node.expression)) if node.expression else None
    if not (fill.is_string and fill.name) or length is None or length > _LONGEST_PADDING:
        undecided(node, notes)


def _search(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A list is searched for a value of its own type; another is converted, or the list is."""
    kind, wanted = type_of(node.this, leaves), type_of(node.expression, leaves)
    if kind is None or wanted is None:
        notes.assume(MIXED)
    elif kind != TEXT and not _compares(plain(kind.removesuffix("[]")), wanted):
        undecided(node, notes)


def _compares(kind: str, other: str) -> bool:
    """Whether DuckDB compares every value of two types without one that fails."""
    if {kind, other} & FLOATS:
        return {kind, other} <= NUMBERS
    return kind == other or {kind, other} <= INTEGERS - {"UHUGEINT"}


def _unsigned(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Neg) else node


def _small(node: exp.Expr) -> bool:
    return ordinal(node) is not None and len(node.name) <= 9


def _zone(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Other kinds of time become one of microseconds first, with a shorter calendar."""
    zone, kind = node.args["zone"], type_of(node.this, leaves)
    if not (zone.is_string and zone.name == "UTC") or kind not in {"TIMESTAMP", "TIMESTAMPTZ"}:
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
        notes.judge(cannot_fail(f"{shown(node)}, whose pattern is no constant"), node)
    elif isinstance(node, exp.RegexpExtract | exp.RegexpReplace):
        # Of these DuckDB reads the pattern once a row needs it.
        _late_pattern(node, given.name, notes)
    elif isinstance(node, exp.TimeToStr) and type_of(node.this, leaves) not in TIMES:
        doubt(node, notes)


def _escaped(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """ESCAPE takes one letter, and behind it in the pattern another one."""
    like, sign = node.this, node.expression
    pattern = like.args.get("expression") or exp.Null()
    plain = isinstance(like, exp.Like | exp.ILike) and pattern.is_string and sign.is_string
    # A doubled sign is itself; what is left may not stand at the end.
    left = pattern.name.replace(sign.name * 2, "") if plain and len(sign.name) == 1 else sign.name
    if not left or left.endswith(sign.name):
        notes.judge(cannot_fail(shown(node)), node)


def _late_pattern(node: exp.Expr, pattern: str, notes: Notes) -> None:
    replacement = node.args.get("replacement")
    if replacement is not None and not replacement.is_string:
        undecided(node, notes)
    elif not compiles(pattern) or not rewrites(replacement.name if replacement else "", pattern):
        doubt(node, notes)


def _condition(*parts: str) -> Rule:
    def rule(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
        for part in parts:
            check_condition(node.args[part], leaves, notes)

    return rule


def _equality(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix([node.this, node.expression], node, leaves, notes)


def _order(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    check_mix([p for p in parts if p is not None], node, leaves, notes)


def _membership(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix([node.this, *node.expressions], node, leaves, notes)


def _truth(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    if isinstance(node.expression, exp.Boolean):
        check_condition(node.this, leaves, notes)


def _choice(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix(branches(node), node, leaves, notes)
    if isinstance(node, exp.If):
        check_condition(node.this, leaves, notes)


def _case(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    check_mix(branches(node), node, leaves, notes)
    tests = [branch.this for branch in node.args["ifs"]]
    if node.this is not None:
        check_mix([node.this, *tests], node, leaves, notes)
    else:
        for test in tests:
            check_condition(test, leaves, notes)


# Of a text that is a literal DuckDB makes what these take, once a row needs it.
_NUMBERS_AND_TIMES = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round,
    exp.Floor, exp.Ceil, exp.Sign, exp.IsNan, exp.IsInf, exp.Trunc, *_TRUNCATIONS,
    *_PARTS_OF_TIMES,
)  # fmt: skip

_PATTERNED = (
    exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo, exp.RegexpExtract, exp.RegexpReplace,
    exp.TimeToStr,
)  # fmt: skip

Rule = Callable[[exp.Expr, Leaves, Notes], None]

_RULES: dict[type[exp.Expr], Rule] = {
    exp.Cast: check_cast,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    **dict.fromkeys((exp.Abs, exp.Neg), _absolute),
    **dict.fromkeys((exp.IntDiv, exp.Mod), _division),
    exp.Div: _quotient,
    **dict.fromkeys((*_NAMES, exp.Extract), _calendar_part),
    exp.DateDiff: _between_dates,
    **dict.fromkeys(_TRUNCATIONS, _calendar),
    exp.Round: _rounding,
    **dict.fromkeys((exp.Left, exp.Right, exp.Substring), _cutting),
    exp.SplitPart: _split,
    exp.Pad: _padding,
    exp.Contains: _search,
    exp.AtTimeZone: _zone,
    exp.Bracket: _element,
    exp.Interval: _interval,
    exp.Escape: _escaped,
    **dict.fromkeys(_PATTERNED, _pattern),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif), _equality),
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between), _order),
    exp.In: _membership,
    exp.Is: _truth,
    exp.Case: _case,
    **dict.fromkeys((exp.If, exp.Coalesce, exp.Greatest, exp.Least), _choice),
    **dict.fromkeys((exp.And, exp.Or), _condition("this", "expression")),
    exp.Not: _condition("this"),
}
