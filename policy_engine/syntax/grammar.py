"""The kernel's grammar: an allow-list of node types, and of the parts each may have.

``read_statement`` turns text into one parsed statement or says why not. A node type that is
not listed, or a part of a listed node that is not listed, is a finding: a construct that
the kernel was not told about cannot slip through by not being looked at.
"""

from __future__ import annotations

import logging

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from policy_engine.errors import UsageError
from policy_engine.syntax.findings import Findings
from policy_engine.syntax.lexing import lexical_findings, without_hints
from policy_engine.syntax.positions import position
from policy_engine.syntax.synonyms import in_one_word

# What the parser would warn of is a finding here, or is not parsed.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

DIALECTS = ("duckdb",)
"""The dialects whose sampling the kernel has rules for."""


def _parts(*names: str) -> frozenset[str]:
    return frozenset(names)


_UNARY = _parts("this")
_BINARY = _parts("this", "expression")

#: Node types that may stand in a row expression: deterministic, one row in, one value out.
ROW_NODES: dict[type[exp.Expr], frozenset[str]] = {
    exp.Column: _parts("this", "table", "db", "catalog"),
    exp.Identifier: _parts("this", "quoted"),
    exp.Literal: _parts("this", "is_string"),
    exp.Null: _parts(),
    exp.Boolean: _UNARY,
    exp.Paren: _UNARY,
    exp.Case: _parts("this", "ifs", "default"),
    exp.If: _parts("this", "true", "false"),
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: _UNARY,
    exp.EQ: _BINARY,
    exp.NEQ: _BINARY,
    exp.LT: _BINARY,
    exp.LTE: _BINARY,
    exp.GT: _BINARY,
    exp.GTE: _BINARY,
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Is: _BINARY,
    exp.Between: _parts("this", "low", "high"),
    exp.In: _parts("this", "expressions"),
    exp.Like: _parts("this", "expression", "negate"),
    exp.ILike: _parts("this", "expression", "negate"),
    exp.StartsWith: _BINARY,
    exp.EndsWith: _BINARY,
    exp.Contains: _BINARY,
    exp.Glob: _BINARY,
    exp.SimilarTo: _BINARY,
    exp.RegexpFullMatch: _BINARY,
    exp.RegexpLike: _parts("this", "expression", "flag"),
    exp.RegexpExtract: _parts("this", "expression", "group", "parameters", "null_if_pos_overflow"),
    exp.RegexpReplace: _parts("this", "expression", "replacement", "modifiers", "single_replace"),
    exp.Add: _BINARY,
    exp.Sub: _BINARY,
    exp.Mul: _BINARY,
    exp.Div: _parts("this", "expression", "typed", "safe"),
    exp.IntDiv: _BINARY,
    exp.Mod: _BINARY,
    exp.Neg: _UNARY,
    exp.Abs: _UNARY,
    exp.Round: _parts("this", "decimals"),
    exp.Trunc: _UNARY,
    exp.Floor: _UNARY,
    exp.Ceil: _UNARY,
    exp.Sign: _UNARY,
    exp.IsNan: _UNARY,
    exp.IsInf: _UNARY,
    exp.Greatest: _parts("this", "expressions", "ignore_nulls"),
    exp.Least: _parts("this", "expressions", "ignore_nulls"),
    exp.Coalesce: _parts("this", "expressions"),
    exp.Nullif: _BINARY,
    exp.Cast: _parts("this", "to"),
    exp.TryCast: _parts("this", "to", "safe"),
    exp.Try: _UNARY,
    exp.DataType: _parts("this", "expressions", "nested"),
    exp.DataTypeParam: _UNARY,
    exp.Collate: _BINARY,
    exp.AtTimeZone: _parts("this", "zone"),
    exp.Left: _BINARY,
    exp.Right: _BINARY,
    exp.Substring: _parts("this", "start", "length"),
    exp.Bracket: _parts("this", "expressions"),
    exp.Slice: _BINARY,
    exp.Lower: _UNARY,
    exp.Upper: _UNARY,
    exp.Trim: _parts("this", "position", "expression"),
    exp.Replace: _parts("this", "expression", "replacement"),
    exp.Length: _UNARY,
    exp.Reverse: _UNARY,
    exp.Ascii: _UNARY,
    exp.Pad: _parts("this", "expression", "fill_pattern", "is_left"),
    exp.SplitPart: _parts("this", "delimiter", "part_index"),
    exp.StrPosition: _parts("this", "substr"),
    exp.Concat: _parts("expressions", "safe", "coalesce"),
    exp.ConcatWs: _parts("expressions", "safe", "coalesce"),
    exp.DPipe: _parts("this", "expression", "safe"),
    exp.MD5: _UNARY,
    exp.SHA2: _parts("this", "length"),
    exp.DateTrunc: _parts("this", "unit"),
    exp.TimestampTrunc: _parts("this", "unit"),
    exp.TimeToStr: _parts("this", "format"),
    exp.Extract: _BINARY,
    exp.Year: _UNARY,
    exp.Quarter: _UNARY,
    exp.Month: _UNARY,
    exp.Week: _UNARY,
    exp.WeekOfYear: _UNARY,
    exp.Day: _UNARY,
    exp.DayOfWeek: _UNARY,
    exp.DayOfWeekIso: _UNARY,
    exp.DayOfYear: _UNARY,
    exp.Hour: _UNARY,
    exp.Minute: _UNARY,
    exp.Second: _UNARY,
    exp.Monthname: _UNARY,
    exp.Dayname: _UNARY,
    exp.DateDiff: _parts("this", "expression", "unit", "date_part_boundary"),
    exp.Var: _UNARY,
}

#: Node types that may stand around row expressions.
_RELATION_NODES: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: _parts("expressions", "from_", "where", "group", "having", "order", "with_")
    | _parts("sample"),
    exp.With: _parts("expressions"),
    exp.CTE: _parts("this", "alias", "materialized"),
    exp.Subquery: _parts("this", "alias"),
    exp.From: _UNARY,
    exp.Table: _parts("this", "db", "catalog", "alias", "sample"),
    exp.ReadParquet: _parts("expressions"),
    exp.TableAlias: _parts("this", "columns"),
    exp.Alias: _parts("this", "alias"),
    exp.Star: _parts("except_", "replace"),
    exp.Where: _UNARY,
    exp.Group: _parts("expressions", "all"),
    exp.Tuple: _parts("expressions"),
    exp.Having: _UNARY,
    exp.Order: _parts("expressions"),
    exp.Ordered: _parts("this", "desc", "nulls_first"),
    exp.Window: _parts("this", "partition_by", "order", "over"),
    exp.RowNumber: _parts(),
    exp.Count: _parts("this", "big_int", "expressions"),
    exp.Sum: _UNARY,
    exp.Explode: _UNARY,
    exp.GenerateSeries: _parts("start", "end", "is_end_exclusive"),
    exp.Rand: _parts(),
    exp.Placeholder: _UNARY,
    exp.TableSample: _parts("method", "percent", "size", "seed"),
    exp.Create: _parts("this", "kind", "expression", "replace"),
}
#: Parts that are allowed around, but not inside, row expressions.
_EXTRA_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.In: _parts("this", "expressions", "query"),
}
_ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    **_RELATION_NODES,
    **ROW_NODES,
    **_EXTRA_PARTS,
}

#: Parts without which the parser adds one that the text does not have.
_NEEDED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.If: ("false", "an else"),
    exp.RegexpReplace: ("replacement", "a replacement"),
    exp.Replace: ("replacement", "a replacement"),
    exp.Pad: ("fill_pattern", "what to fill with"),
    exp.SplitPart: ("part_index", "a place"),
}

#: Refused parts and nodes whose reason is a law of its own.
_PART_CODES = {
    "distinct": "V12",
    "limit": "V12",
    "offset": "V12",
    "qualify": "V12",
    "joins": "V13",
    "laterals": "V13",
    "pivots": "V13",
    "sample": "V04",
    "spec": "V10",
}
_NODE_CODES: dict[type[exp.Expr], str] = {
    exp.Limit: "V12",
    exp.Offset: "V12",
    exp.Distinct: "V12",
    exp.Qualify: "V12",
    exp.Join: "V13",
    exp.Lateral: "V13",
    exp.SetOperation: "V13",
    exp.Pivot: "V13",
    exp.Unnest: "V13",
    exp.Values: "V16",
    exp.ReadCSV: "V16",
    exp.Exists: "V11",
    exp.Uuid: "V06",
    exp.Anonymous: "V14",
    exp.AggFunc: "V08",
    exp.Filter: "V08",
    exp.Func: "V14",
    exp.Command: "V01",
}


def dialect_named(name: str) -> Dialect:
    """The sqlglot dialect ``name``, if the kernel has rules for it.

    Raises:
        UsageError: the kernel has no rules for that dialect.
    """
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise UsageError(f"no rules to certify the dialect {name[:60]!r}; known: {known}")
    return Dialect.get_or_raise(name)


def read_statement(text: str, dialect: str, findings: Findings) -> exp.Expr | None:
    """The one statement of ``text``, with a finding for every node that is not allowed.

    None, and findings, where there is no such statement.
    """
    reader = dialect_named(dialect)
    text = without_hints(text)
    lexical_findings(text, reader.tokenizer(), findings)
    if findings:
        return None
    try:
        parsed = reader.parse(text)
    except Exception:  # the parser raises more than errors of its own where a text is odd
        findings.add("V01", "text that does not parse", (1, 1))
        return None
    # A comment behind the last semicolon is an empty statement.
    statements = [s for s in parsed if s is not None and not isinstance(s, exp.Semicolon)]
    if len(statements) != 1:
        found = f"{len(statements)} statements"
        findings.add("V15" if statements else "V01", found, (1, 1))
        return None
    statement = in_one_word(statements[0])
    for node in statement.walk():
        _check_node(node, text, findings)
    return statement


def _check_node(node: exp.Expr, text: str, findings: Findings) -> None:
    allowed = _ALLOWED.get(type(node))
    if isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.Group):
        allowed = None  # a row as one value; in GROUP BY it is a list of keys
    if allowed is None:
        findings.add(code_of(node), _name(node), position(node, text))
        return
    needed = None if isinstance(node.parent, exp.Case) else _NEEDED.get(type(node))
    if needed is not None and not node.args.get(needed[0]):
        findings.add("V02", f"{_name(node)} without {needed[1]}", position(node, text))
    for part, value in node.args.items():
        if part not in allowed and value not in (None, False, [], "") and not _speaks(value):
            code = _PART_CODES.get(part, "V02")
            findings.add(code, f"{_name(node)} with {part}", position(node, text))


def _speaks(value: object) -> bool:
    """Whether a part is found by itself, as nodes that are not allowed."""
    nodes = value if isinstance(value, list) else [value]
    return all(isinstance(node, exp.Expr) and type(node) not in _ALLOWED for node in nodes)


def code_of(node: exp.Expr) -> str:
    """The law by which a node is refused where it stands."""
    if isinstance(node.parent, exp.Table) and isinstance(node, exp.Func):
        return "V16"
    if isinstance(node.parent, exp.Window) and isinstance(node, exp.Func):
        return "V10"
    if isinstance(node, exp.Distinct) and isinstance(node.parent, exp.AggFunc):
        return "V08"
    return next((code for kind, code in _NODE_CODES.items() if isinstance(node, kind)), "V02")


_ONE_ROW = (
    "; one row a person is row_number() OVER (PARTITION BY person ORDER BY ...) AS place in a"
    " query, and WHERE place = 1 around it"
)


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Qualify) or (isinstance(node, exp.Distinct) and node.args.get("on")):
        return type(node).__name__.upper() + _ONE_ROW
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name!r}"
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        return f"the function {node.sql_name()}"
    return type(node).__name__.upper()
