"""The types of row expressions, and the collations of texts, where they are plain to see.

None is "not known": nothing may pass because a type is not known.
"""

from __future__ import annotations

import re

from sqlglot import exp

from policy_engine.expressions.values import Leaves
from policy_engine.syntax.literals import bare, number

TEXT = "VARCHAR"
INTERVAL = "INTERVAL"
NARROW = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
)
INTEGERS = NARROW | {"UBIGINT", "HUGEINT", "UHUGEINT"}
FLOATS = frozenset({"FLOAT", "DOUBLE"})
QUOTIENT = "QUOTIENT"
"""What ``/`` makes of numbers that are exact: a DOUBLE, but one that shows a function of them."""
WIDE_DECIMAL = "DECIMAL of more than 18 digits"
"""Beside a number with other digits behind the point, such a number may not fit."""
FINE_DECIMAL = "DECIMAL of more than 18 digits behind the point"
"""Beside any other number such a number may not fit."""
INEXACT = "DOUBLE, for want of an exact type"
"""What arithmetic makes of exact numbers that may fit no type together: a DOUBLE, or not."""
DECIMALS = frozenset({"DECIMAL", WIDE_DECIMAL, FINE_DECIMAL, INEXACT})
NUMBERS = INTEGERS | FLOATS | DECIMALS | {QUOTIENT}
TIMES = frozenset({"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
PLAIN = NUMBERS | TIMES | {TEXT, "BOOLEAN", "DATE", "TIME", "UUID", "ENUM"}
"""The types that hold one value, not of bytes, and make one text with ``||``."""
ONE_TEXT = INTEGERS | DECIMALS | {TEXT, "BOOLEAN", "DATE", "TIMESTAMP", "UUID", "ENUM"}
"""The types of which equal values, and no others, have the same text."""

_SYNONYMS = {
    "INT1": "TINYINT", "INT2": "SMALLINT", "SHORT": "SMALLINT", "INT": "INTEGER",
    "INT4": "INTEGER", "SIGNED": "INTEGER", "INT8": "BIGINT", "LONG": "BIGINT",
    "INT128": "HUGEINT", "UINT128": "UHUGEINT", "FLOAT4": "FLOAT", "REAL": "FLOAT",
    "FLOAT8": "DOUBLE", "NUMERIC": "DECIMAL", "DEC": "DECIMAL", "TEXT": TEXT, "CHAR": TEXT,
    "BPCHAR": TEXT, "STRING": TEXT, "BOOL": "BOOLEAN", "LOGICAL": "BOOLEAN",
    "DATETIME": "TIMESTAMP", "TIMESTAMP_US": "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ", "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP",
    "TIME WITHOUT TIME ZONE": "TIME", "BYTEA": "BLOB", "BINARY": "BLOB", "VARBINARY": "BLOB",
}  # fmt: skip
_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC|DEC) *\( *(\d+) *(?:, *(\d+))?")
_EXACT = re.compile(r"-?([0-9]{1,38})(?:\.([0-9]{1,38}))?", re.ASCII)
_PRECISE = re.compile(r"(?:TIMESTAMP|DATETIME) *\( *(\d+)")
# What the digits behind the second make of TIMESTAMP(n).
_PRECISIONS = ("TIMESTAMP_S", *["TIMESTAMP_MS"] * 3, *["TIMESTAMP"] * 3)
_ELEMENTS = re.compile(r"(.*)\[\d*\]")
_FLOATING = re.compile(r"\b(FLOAT|FLOAT4|FLOAT8|DOUBLE|REAL)\b")


def plain(kind: str) -> str:
    """A type's name without its precision, length and collation, in one spelling.

    >>> plain("varchar(5) collate nocase"), plain("decimal(10, 2)"), plain("real[]")
    ('VARCHAR', 'DECIMAL', 'REAL[]')
    """
    name = kind.upper().split(" COLLATE")[0].strip()
    if name.endswith("]"):
        return name
    digits = _DECIMAL.match(name)
    if digits is not None and int(digits[1][:9]) > 18:
        return FINE_DECIMAL if int((digits[2] or "0")[:9]) > 18 else WIDE_DECIMAL
    precise = _PRECISE.match(name)
    if precise is not None:
        return dict(enumerate(_PRECISIONS)).get(int(precise[1][:9]), "TIMESTAMP_NS")
    name = name.split("(")[0].strip()
    return _SYNONYMS.get(name, name)


def holds_exactly(kind: exp.DataType, text: str) -> bool:
    """Whether a text is a number that DECIMAL(p, s) has, digit by digit.

    >>> holds_exactly(exp.DataType.build("decimal(18, 1)"), "-0.5")
    True
    """
    digits = _DECIMAL.match(kind.sql("duckdb").upper())
    found = _EXACT.fullmatch(text)
    if digits is None or digits[2] is None or found is None or len(digits[1]) > 2:
        return False
    precision, scale = int(digits[1]), int(digits[2][:2])
    fits = len(found[1].lstrip("0")) <= precision - scale
    return precision <= 38 and fits and len(found[2] or "") <= scale


def shows_itself(kind: str) -> bool:
    """Whether equal values of a type, as ``type_of`` names it, are shown alike.

    A group is shown as one of its values. Of types that are not known here it is not known: one
    month equals 30 days, VARIANT 1 equals 1.00, 10:00+02 may equal 08:00+00, and a type that
    somebody made can be any of these.

    >>> shows_itself("DATE[]"), shows_itself("DOUBLE[]"), shows_itself("MONEY")
    (True, False, False)
    """
    while (element := _ELEMENTS.fullmatch(kind)) is not None:
        kind = plain(element[1])
    return kind in PLAIN - FLOATS - {INEXACT} or kind in {"BLOB", "JSON"}


_TEXTS = (
    exp.Left, exp.Right, exp.Lower, exp.Upper, exp.Trim, exp.MD5, exp.SHA2, exp.Collate,
    exp.TimeToStr, exp.Replace, exp.RegexpExtract, exp.RegexpReplace, exp.Reverse, exp.Pad,
    exp.SplitPart, exp.Monthname, exp.Dayname,
)  # fmt: skip
_PREDICATES = (
    exp.Predicate, exp.Not, exp.And, exp.Or, exp.Between, exp.In, exp.IsNan, exp.Boolean,
    exp.StartsWith, exp.EndsWith, exp.Contains, exp.RegexpLike, exp.RegexpFullMatch, exp.IsInf,
    exp.Escape,
)  # fmt: skip
_PARTS = (
    exp.Length, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear, exp.Day,
    exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear, exp.Hour, exp.Minute, exp.Second, exp.Sign,
    exp.Ascii, exp.StrPosition, exp.DateDiff,
)  # fmt: skip
_SAME = (exp.Trunc, exp.Abs, exp.Neg, exp.Paren, exp.Try)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod)


_ALWAYS = ((_TEXTS, TEXT), (_PREDICATES, "BOOLEAN"), (_PARTS, "BIGINT"), (exp.Interval, INTERVAL))


def type_of(node: exp.Expr, leaves: Leaves) -> str | None:
    """The type of ``node``, or None."""
    if id(node) in leaves:
        return leaves[id(node)].type
    if isinstance(node, exp.Literal):
        return TEXT if node.is_string else _number_type(node.name)
    if isinstance(node, exp.Cast):
        kind = node.to.sql("duckdb").upper()
        # A nested type that holds floating-point numbers keeps its whole spelling.
        return kind if _FLOATING.search(kind) and plain(kind) not in FLOATS else plain(kind)
    for nodes, kind in _ALWAYS:
        if isinstance(node, nodes):
            return kind
    if isinstance(node, exp.Concat | exp.DPipe | exp.ConcatWs):
        kinds = {type_of(part, leaves) for part in node.iter_expressions()}
        # Of lists it makes a list.
        lists = len(kinds) == 1 and str(next(iter(kinds))).endswith("]")
        return TEXT if kinds <= PLAIN else kinds.pop() if lists else None
    if isinstance(node, exp.Floor | exp.Ceil | exp.Round):
        # FLOOR and CEIL make a DOUBLE of a whole number, ROUND of the largest.
        floating = {"UHUGEINT"} if isinstance(node, exp.Round) else INTEGERS
        rounded = type_of(node.this, leaves)
        return QUOTIENT if rounded in floating else rounded
    if isinstance(node, _SAME):
        same = type_of(node.this, leaves)
        return "DOUBLE" if same == QUOTIENT and isinstance(node, exp.Neg) else same
    if isinstance(node, (*_ARITHMETIC, exp.Div)):
        return _result(node, {type_of(part, leaves) for part in (node.this, node.expression)})
    if isinstance(node, exp.Extract):
        return None if node.name.lower() in {"epoch", "julian"} else "BIGINT"
    if isinstance(node, exp.DateTrunc | exp.TimestampTrunc):
        return _TRUNCATED.get(str(type_of(node.this, leaves)))
    if isinstance(node, exp.AtTimeZone):
        return _MOVED.get(str(type_of(node.this, leaves)))
    results = branches(node)
    return _joined({type_of(part, leaves) for part in results}) if results else None


_TRUNCATED = {
    **dict.fromkeys((*TIMES, "DATE"), "TIMESTAMP"),
    "TIMESTAMPTZ": "TIMESTAMPTZ",
    INTERVAL: INTERVAL,
}
_MOVED = {"TIMESTAMPTZ": "TIMESTAMP", "TIMESTAMP": "TIMESTAMPTZ"}


def _result(node: exp.Expr, kinds: set[str | None]) -> str | None:
    """What arithmetic makes of operands of ``kinds``."""
    if kinds <= NUMBERS:
        if isinstance(node, exp.IntDiv) and kinds & DECIMALS:
            return "DOUBLE"
        if _is_inexact(node, kinds):
            return INEXACT
        made = kinds | {QUOTIENT} if isinstance(node, exp.Div) else kinds
        return "DOUBLE" if QUOTIENT in made and _may_be_negative_zero(node) else _joined(made)
    if INTERVAL in kinds and kinds <= NUMBERS | {INTERVAL}:
        return INTERVAL
    if INTERVAL in kinds and len(kinds) == 2 and isinstance(node, exp.Add | exp.Sub):
        return _TRUNCATED.get(str(next(iter(kinds - {INTERVAL}))))
    between = isinstance(node, exp.Sub) and kinds <= TIMES | {"DATE"}
    return INTERVAL if between and kinds != {"DATE"} else None


def _may_be_negative_zero(node: exp.Expr) -> bool:
    """Whether arithmetic on exact numbers may make a 0 that has a sign, or NaN of them.

    What is divided or multiplied by a positive number has the one zero that it had.
    """
    if isinstance(node, exp.Mul):
        return not any((number(side) or 0) > 0 for side in (node.this, node.expression))
    divides = isinstance(node, exp.Div | exp.Mod | exp.IntDiv)
    return divides and not (number(node.expression) or 0) > 0


def _is_inexact(node: exp.Expr, kinds: set[str | None]) -> bool:
    """Whether DuckDB may compute a DOUBLE, for want of a type that holds its exact operands."""
    if isinstance(node, exp.Div) or kinds & (FLOATS | {QUOTIENT}):
        return False
    if "UHUGEINT" in kinds:
        return len(kinds) > 1
    if not isinstance(node, exp.Mod) or not kinds & DECIMALS:
        return False
    long = any(len(bare(part).name) > 18 for part in (node.this, node.expression))
    return long or bool(kinds & {"HUGEINT", WIDE_DECIMAL, FINE_DECIMAL})


def branches(node: exp.Expr) -> list[exp.Expr]:
    """The parts of which ``node`` shows one, but NULL; none where it shows none of its parts."""
    found: list[exp.Expr] = []
    if isinstance(node, exp.Case):
        found = [branch.args["true"] for branch in node.args["ifs"]]
        found.append(node.args.get("default") or exp.Null())
    elif isinstance(node, exp.If):
        found = [node.args["true"], node.args.get("false") or exp.Null()]
    elif isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        found = [node.this, *node.expressions]
    elif isinstance(node, exp.Nullif):
        found = [node.this]
    return [part for part in found if not isinstance(part, exp.Null)]


def _number_type(text: str) -> str:
    if text.isdigit():
        if len(text) < 10:
            return "INTEGER"
        return "HUGEINT" if len(text) < 39 else "UHUGEINT"
    return "DOUBLE" if "e" in text.lower() else "DECIMAL"


def _joined(kinds: set[str | None]) -> str | None:
    """The type that holds values of all ``kinds``."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if not kinds <= NUMBERS:
        return None
    if kinds & FLOATS:
        return "DOUBLE"
    if QUOTIENT in kinds:
        return QUOTIENT
    if INEXACT in kinds or (kinds <= INTEGERS and "UHUGEINT" in kinds):
        return INEXACT
    if kinds & DECIMALS:
        return FINE_DECIMAL if FINE_DECIMAL in kinds else WIDE_DECIMAL
    return "BIGINT" if kinds <= NARROW else "HUGEINT"


# Texts that take no collation from what they are made of.
_BYTES = (exp.MD5, exp.SHA2, exp.Monthname, exp.Dayname, exp.TimeToStr)
_BYTEWISE = frozenset({"binary", "c", "posix"})


def collation_of(node: exp.Expr, leaves: Leaves) -> bool | None:
    """Whether the text that ``node`` shows is compared by a collation other than by bytes."""
    if id(node) in leaves:
        return leaves[id(node)].collated
    if isinstance(node, exp.Collate):
        return node.expression.name.lower() not in _BYTEWISE
    if isinstance(node, _BYTES) or type_of(node, leaves) not in {TEXT, None}:
        return False
    parts = branches(node) or list(node.iter_expressions())
    found = {collation_of(part, leaves) for part in parts}
    return True if True in found else (None if None in found else False)
