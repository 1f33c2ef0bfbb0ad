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
    Verdict,
    check_condition,
    check_mix,
    compiles,
    note,
    of_a_cast,
    rewrites,
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
from policy_engine.expressions.recodes import read_recoding
from policy_engine.expressions.values import Leaves, cannot_fail
from policy_engine.policy.recodings import Round, Truncate
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, number, ordinal
from policy_engine.syntax.node_laws import is_deterministic

_LONGEST_PADDING = 1000
_LARGE, _HUGE = 1000, 10**9
"""Times, or plus, more than this, a whole number of an ordinary size may not fit."""
_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc)
_BOUNDED: dict[type[object], tuple[type[exp.Expr], ...]] = {
    Truncate: _TRUNCATIONS,
    Round: (exp.Mul,),
}
"""What a recoding bounds before it computes it, in the one form that is read as that recoding."""

_PARTS_OF_TIMES = (
    exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear, exp.Day,
    exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear, exp.Hour, exp.Minute, exp.Second,
    exp.Monthname, exp.Dayname,
)  # fmt: skip
# Of a text that is a literal DuckDB makes what these take, once a row needs it.
_NUMBERS_AND_TIMES = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round,
    exp.Floor, exp.Ceil, exp.Sign, exp.IsNan, exp.IsInf, exp.Trunc, *_TRUNCATIONS,
    *_PARTS_OF_TIMES,
)  # fmt: skip
# What TRY is known to catch: not what DuckDB finds when it prepares a query, or a pattern.
_CAUGHT = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.IntDiv, exp.Mod)


def check_total(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """Find, or note as an assumption, every part of ``node`` that could fail on some row."""
    read = read_recoding(node)
    bounded = _BOUNDED.get(type(read[0]), ()) if read is not None else ()
    stack = [node]
    while stack:
        part = stack.pop()
        if id(part) in leaves:
            continue
        # Rounding bounds the cast of a rounded number, too, before.
        counts = isinstance(part, exp.Cast) and isinstance(bare(part.this), exp.Round)
        within = isinstance(part, bounded) or (exp.Mul in bounded and counts)
        branch = isinstance(part, exp.If) and isinstance(part.parent, exp.Case)
        if not branch and not within and not _is_caught(part):
            _check_rules(part, leaves, notes)
        if within and _is_asked_before(part, leaves):
            found = f"{shown(part)}, which DuckDB asks of the least day before it runs"
            remedy = f"write GREATEST({shown(bare(part.this))}, DATE '0001-01-01') in it"
            if notes.strict:
                notes.judge(cannot_fail(f"{found}; {remedy}"), part)
            else:
                note(Verdict.DOUBT, part, notes)
        if _asks_the_zone(part, leaves):
            found = f"{shown(part)}, which the session's zone decides; write AT TIME ZONE 'UTC'"
            notes.judge(is_deterministic.broken_by(found), part)
        if isinstance(part, _NUMBERS_AND_TIMES):
            # EXTRACT names its unit first.
            first = None if isinstance(part, exp.Extract) else part.this
            given = [each for each in (first, part.args.get("expression")) if each is not None]
            if any(bare(each).is_string for each in given):
                notes.judge(cannot_fail(f"{shown(part)}, of a text"), part)
        stack.extend(part.iter_expressions())


def _is_caught(node: exp.Expr) -> bool:
    """Whether a part can fail, but stands in a TRY that makes NULL of it."""
    if isinstance(node, exp.Cast):
        # The cast of a column to one kind of time or another is TRY's, as is that to a number.
        caught = not isinstance(bare(node.this), exp.Literal)
    else:
        caught = isinstance(node, _CAUGHT)
    return caught and node.find_ancestor(exp.Try) is not None


def _is_asked_before(node: exp.Expr, leaves: Leaves) -> bool:
    """Whether DuckDB asks for the week of a column's least day before a query runs.

    It does so outside of the CASE that bounds the day, and the least day of all has none. Behind
    GREATEST, as a bounded week is read, it asks for the later of the two.
    """
    of_weeks = isinstance(node, _TRUNCATIONS) and node.args["unit"].name.lower() == "week"
    if not of_weeks or isinstance(bare(node.this), exp.Greatest):
        return False
    return type_of(node.this, leaves) in {"DATE", None}


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


def _check_rules(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """What can fail of a node: its own rule, values that meet, conditions, and patterns."""
    kind = type(node)
    if kind in _RULES:
        note(_RULES[kind](node, leaves), node, notes)
    for parts in _meeting(node):
        check_mix(parts, node, leaves, notes)
    for condition in _conditions(node):
        check_condition(condition, leaves, notes)
    if kind is exp.Contains:
        _check_search(node, leaves, notes)
    elif kind in _PATTERNED and not _pattern(node).is_string:
        notes.judge(cannot_fail(f"{shown(node)}, whose pattern is no constant"), node)


def _meeting(node: exp.Expr) -> list[list[exp.Expr]]:
    """The values of which DuckDB makes one type, to compare them or to show one of them."""
    kind = type(node)
    if kind in _COMPARED:
        named = [node.args.get(name) for name in ("this", "expression", "low", "high")]
        listed = node.expressions if kind is exp.In else ()
        return [[part for part in (*named, *listed) if part is not None]]
    if kind is exp.Case and node.this is not None:
        return [branches(node), [node.this, *(branch.this for branch in node.args["ifs"])]]
    return [branches(node)] if kind in _CHOICES else []


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    kind = type(node)
    if kind is exp.Case and node.this is None:
        return [branch.this for branch in node.args["ifs"]]
    if kind in {exp.And, exp.Or}:
        return [node.this, node.expression]
    asks = kind in {exp.Not, exp.If}
    return [node.this] if asks or (kind is exp.Is and type(node.expression) is exp.Boolean) else []


def _arithmetic(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Integers and decimals overflow; floating-point numbers become infinite."""
    sides = [bare(part) for part in (node.this, node.args.get("expression")) if part is not None]
    start, step = sides[0], sides[-1]
    if start is step and isinstance(start, exp.Literal):
        return None  # the least integer has no negative; a literal has
    of_a_day = isinstance(start, exp.Cast) and bare(start.this).is_string
    if of_a_day and isinstance(step, exp.Interval):
        return None  # a constant day or moment, moved by a constant interval
    known = [number(side) for side in sides]
    most = _LARGE if isinstance(node, exp.Mul) else _HUGE
    square = isinstance(node, exp.Mul) and known == [None, None]
    kind = type_of(node, leaves)
    if kind in INTEGERS and (square or any((n or 0) > most for n in known)):
        return Verdict.UNDECIDED
    return None if kind in FLOATS | {QUOTIENT} else Verdict.DOUBT


def _division(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """DuckDB 2.0 fails on ``a // 0`` and ``a % 0``, and on the least integer ``// -1``."""
    divisor = bare(node.expression)
    if not isinstance(divisor, exp.Literal) or divisor.is_string:
        return Verdict.UNDECIDED
    is_zero = not re.search("[1-9]", divisor.name.lower().split("e")[0])
    return Verdict.FAILS if is_zero else None


def _quotient(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """A number over 0 is NULL or infinite; an interval over 0, or 1e-300, fails."""
    kind, divisor = type_of(node.this, leaves), ordinal(bare(node.expression))
    if kind in NUMBERS or (divisor and divisor < 10**9):
        return None
    return Verdict.UNDECIDED if kind == INTERVAL else Verdict.DOUBT


_STEPS = frozenset({"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE"})


def _interval(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """An interval of up to four digits in one unit: every calendar has it."""
    unit = node.args.get("unit") or exp.Null()
    plain = unit.name.upper().removesuffix("S") in _STEPS and node.this.name.isdigit()
    return None if plain and len(node.this.name) <= 4 else Verdict.FAILS


def _calendar(node: exp.Expr, leaves: Leaves) -> Verdict:
    """DATE_TRUNC and DATE_DIFF fail at the ends of the calendar, and on units that are none."""
    named = isinstance(node.args["unit"], exp.Var | exp.Literal)
    return Verdict.DOUBT if named else Verdict.UNDECIDED


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


def _calendar_part(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Most parts of a time are numbers or NULL, whatever the time."""
    is_extract = isinstance(node, exp.Extract)
    unit = node.name.lower() if is_extract else _NAMES[type(node)]
    kind = type_of(node.expression if is_extract else node.this, leaves)
    known = kind in TIMES or (kind == "DATE" and unit not in _NOT_OF_DATES)
    if unit not in _NOT_OF_INTERVALS or known:
        return None
    return Verdict.DOUBT if kind in {"DATE", None} else Verdict.UNDECIDED


def _unsigned(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Neg) else node


def _small(node: exp.Expr) -> bool:
    return ordinal(node) is not None and len(node.name) <= 9


def _rounding(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """``round(x, -1)`` overflows near the end of an integer's range."""
    decimals = node.args.get("decimals")
    if decimals is None or _small(decimals):
        return None
    if not _small(_unsigned(decimals)):
        return Verdict.UNDECIDED
    return None if type_of(node, leaves) in FLOATS | {QUOTIENT} else Verdict.DOUBT


def _cutting(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Lengths beyond 32 bits fail, and a place that is a text is converted once a row needs it."""
    numbers = map(node.args.get, ("expression", "start", "length", "part_index"))
    return _unless(all(_small(_unsigned(number)) for number in numbers if number is not None))


def _unless(fits: object) -> Verdict | None:
    return None if fits else Verdict.UNDECIDED


def _padding(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Padding with nothing fails, and so does a length that fills the memory."""
    fill = node.args.get("fill_pattern") or exp.Null()
    length = ordinal(bare(node.expression)) if node.expression else None
    fits = length is not None and length <= _LONGEST_PADDING
    return _unless(fits and fill.is_string and fill.name)


def _check_search(node: exp.Expr, leaves: Leaves, notes: Notes) -> None:
    """A list is searched for a value of its own type; another is converted, or the list is."""
    kind, wanted = type_of(node.this, leaves), type_of(node.expression, leaves)
    if kind is None or wanted is None:
        notes.assume(MIXED)
    elif kind != TEXT:
        kinds = {plain(kind.removesuffix("[]")), wanted}
        alike = kinds <= (NUMBERS if kinds & FLOATS else INTEGERS - {"UHUGEINT"})
        note(None if alike or len(kinds) == 1 else Verdict.UNDECIDED, node, notes)


def _zone(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Other kinds of time become one of microseconds first, with a shorter calendar."""
    zone = node.args["zone"]
    is_utc = zone.is_string and zone.name == "UTC"
    return _unless(is_utc and type_of(node.this, leaves) in {"TIMESTAMP", "TIMESTAMPTZ"})


def _element(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """``x[1]`` and ``x[1:3]`` by small numbers; a struct's field by its name."""
    if str(type_of(node.this, leaves)).startswith(("STRUCT", "MAP")):
        return None
    ends = []
    for index in node.expressions:
        ends += [index.this, index.expression] if isinstance(index, exp.Slice) else [index]
    return _unless(all(_small(_unsigned(end)) for end in ends if end is not None))


def _escaped(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """ESCAPE takes one letter, and behind it in the pattern another one."""
    like, sign = node.this, node.expression
    pattern = like.args.get("expression") or exp.Null()
    plain = isinstance(like, exp.Like | exp.ILike) and pattern.is_string and sign.is_string
    # A doubled sign is itself; what is left may not stand at the end.
    left = pattern.name.replace(sign.name * 2, "") if plain and len(sign.name) == 1 else sign.name
    return Verdict.FAILS if not left or left.endswith(sign.name) else None


def _pattern(node: exp.Expr) -> exp.Expr:
    """A pattern or format, which is read when the query is bound; out of a row, row by row."""
    found: exp.Expr = node.args.get("format") or node.args.get("expression") or exp.Null()
    return found


def _late_pattern(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    """Of these DuckDB reads the pattern once a row needs it."""
    pattern, replacement = _pattern(node), node.args.get("replacement")
    if not pattern.is_string:
        return None  # is found by itself
    if replacement is not None and not replacement.is_string:
        return Verdict.UNDECIDED
    new = replacement.name if replacement else ""
    known = compiles(pattern.name) and rewrites(new, pattern.name)
    return None if known else Verdict.DOUBT


def _format(node: exp.Expr, leaves: Leaves) -> Verdict | None:
    known = type_of(node.this, leaves) in TIMES or not _pattern(node).is_string
    return None if known else Verdict.DOUBT


_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Leaves], Verdict | None]] = {
    exp.Cast: of_a_cast,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Abs, exp.Neg), _arithmetic),
    **dict.fromkeys((exp.IntDiv, exp.Mod), _division),
    exp.Div: _quotient,
    **dict.fromkeys((*_NAMES, exp.Extract), _calendar_part),
    **dict.fromkeys((exp.DateDiff, *_TRUNCATIONS), _calendar),
    exp.Round: _rounding,
    **dict.fromkeys((exp.Left, exp.Right, exp.Substring, exp.SplitPart), _cutting),
    exp.Pad: _padding,
    exp.AtTimeZone: _zone,
    exp.Bracket: _element,
    exp.Interval: _interval,
    exp.Escape: _escaped,
    **dict.fromkeys((exp.RegexpExtract, exp.RegexpReplace), _late_pattern),
    exp.TimeToStr: _format,
}
_PATTERNED = {
    exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo, exp.RegexpExtract, exp.RegexpReplace,
    exp.TimeToStr,
}  # fmt: skip
_COMPARED = {
    exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif, exp.LT, exp.LTE, exp.GT, exp.GTE,
    exp.Between, exp.In, exp.DateDiff,
}  # fmt: skip
_CHOICES = {exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least}
