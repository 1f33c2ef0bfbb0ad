"""The grammar of the proof, DuckDB's: an allow-list of node types, and of the parts each may have.

``read_statement`` turns text into one parsed statement or says why not. A node type that is
not listed, or a part of a listed node that is not listed, is a finding: a construct that
the kernel was not told about cannot slip through by not being looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import Token

from policy_engine.syntax.findings import Breach, Notes
from policy_engine.syntax.lexing import lexical_oddity, tokens_of, without_hints
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import (
    asks_no_query,
    is_in_the_grammar,
    is_item,
    is_sql,
    keeps_every_row,
    named,
    reads_one_relation,
    reason,
    stands_alone,
)

_MOST_FINDINGS = 100

_Grammar = dict[type[exp.Expr], frozenset[str]]


def _grammar(text: str) -> _Grammar:
    """One line for nodes of one form: their types, a colon, and the parts they may have."""
    lines = [line.split(":") for line in text.strip().splitlines()]
    return {
        getattr(exp, name): frozenset(parts.split())
        for names, parts in lines
        for name in names.split()
    }


ROW_NODES = _grammar("""
    Column: this table db catalog
    Identifier: this quoted
    Literal: this is_string
    Null:
    Boolean Paren Not Neg Abs Trunc Floor Ceil Sign IsNan IsInf Try Lower Upper Length Reverse: this
    Ascii MD5 Year Quarter Month Week WeekOfYear Day DayOfWeek DayOfWeekIso DayOfYear Hour: this
    Minute Second Monthname Dayname DataTypeParam Var: this
    And Or EQ NEQ LT LTE GT GTE NullSafeEQ NullSafeNEQ Is Add Sub Mul IntDiv Mod: this expression
    Nullif Collate Left Right Slice StartsWith EndsWith Contains Glob SimilarTo: this expression
    RegexpFullMatch Extract Escape: this expression
    Div: this expression typed safe
    Case: this ifs default
    If: this true false
    Between: this low high
    In Greatest Least Coalesce Bracket: this expressions ignore_nulls
    Like ILike: this expression negate
    RegexpLike: this expression flag
    RegexpExtract: this expression group parameters null_if_pos_overflow
    RegexpReplace: this expression replacement modifiers single_replace
    Round: this decimals
    Cast TryCast: this to safe
    DataType: this expressions nested
    AtTimeZone: this zone
    Interval: this unit
    Substring: this start length
    Trim: this position expression
    Replace: this expression replacement
    Pad: this expression fill_pattern is_left
    SplitPart: this delimiter part_index
    StrPosition: this substr
    Concat ConcatWs: expressions safe coalesce
    DPipe: this expression safe
    SHA2: this length
    DateTrunc TimestampTrunc: this unit
    TimeToStr: this format
    DateDiff: this expression unit date_part_boundary
""")
"""What may stand in a row expression: deterministic, one row in, one value out."""

_ALLOWED = ROW_NODES | _grammar("""
    Select: expressions from_ where group having order with_ sample qualify joins
    With: expressions recursive
    CTE: this alias materialized
    Subquery: this alias sample
    Union: this expression distinct with_
    From Where Having Explode Sum Placeholder Qualify: this
    Join: this on using side kind
    Table: this db catalog alias sample
    ReadParquet Tuple Order: expressions
    TableAlias: this columns
    Alias: this alias
    Star: except_ replace
    Group: expressions all
    Ordered: this desc nulls_first
    Window: this partition_by order over
    RowNumber Rand TemporaryProperty:
    Avg Max Min: this
    Rank DenseRank: expressions
    Count: this big_int expressions
    GenerateSeries: start end is_end_exclusive
    In: this expressions query
    TableSample: method percent size seed
    Create: this kind expression replace exists properties
    Properties Schema: this expressions
""")
"""What may stand around row expressions as well."""

#: Parts without which the parser adds one that the text does not have.
_NEEDED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.If: ("false", "an else"),
    exp.RegexpReplace: ("replacement", "a replacement"),
    exp.Replace: ("replacement", "a replacement"),
    exp.Pad: ("fill_pattern", "what to fill with"),
    exp.SplitPart: ("part_index", "a place"),
}

#: Refused parts whose reason is a law of its own.
_PART_LAWS = {
    **dict.fromkeys(("distinct", "limit", "offset"), keeps_every_row),
    **dict.fromkeys(("laterals", "pivots", "joins"), reads_one_relation),
    "query": asks_no_query,
}


def read_statement(text: str, notes: Notes) -> exp.Expr | None:
    """The one statement of ``text``, with a finding for every node that is not allowed.

    None, and findings, where there is no such statement.
    """
    text = without_hints(text)
    tokens = tokens_of(text)
    odd = lexical_oddity(text, tokens)
    if odd is not None:
        notes.judge(is_in_the_grammar.broken_by(odd[0]), odd[1])
        return None
    try:
        parsed = _parsed(tokens, text)
    except Exception:  # the parser raises more than errors of its own where a text is odd
        parsed = []
    # A comment behind the last semicolon is an empty statement.
    statements = [s for s in parsed if s is not None and not isinstance(s, exp.Semicolon)]
    if not notes.judge(is_sql(bool(statements)) or stands_alone(len(statements))):
        return None
    statement = in_one_word(statements[0])
    # One hundred reasons refuse a text; the place of each more would cost a walk.
    broken = ((breach, node) for node in statement.walk() for breach in _breaches(node))
    for breach, node in islice(broken, _MOST_FINDINGS):
        notes.judge(breach, node)
    return statement


def _parsed(tokens: list[Token], text: str) -> list[exp.Expr | None]:
    """What the parser makes of a text, but for ORDER BY ALL.

    For that it takes whatever is named so as well: a column "ALL", the text of lower('all').
    """
    reader = DuckDB()
    reader.SUPPORTS_ORDER_BY_ALL = False
    parsed = reader.parser().parse(tokens, text)
    for statement in parsed:
        for term in list(statement.find_all(exp.Ordered)) if statement is not None else ():
            if _is_all(term.this):
                term.set("this", exp.var("ALL"))
    return parsed


def _is_all(node: exp.Expr) -> bool:
    """Whether a term of ORDER BY is the word ALL: no quotes, no relation before it."""
    word = node.this if isinstance(node, exp.Column) and len(node.parts) == 1 else None
    return isinstance(word, exp.Identifier) and not word.quoted and word.name.upper() == "ALL"


def _breaches(node: exp.Expr) -> list[Breach]:
    """What keeps a node, not counting those inside it, from being of the grammar."""
    allowed = _ALLOWED.get(type(node))
    if isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.Group):
        allowed = None  # a row as one value; in GROUP BY it is a list of keys
    if allowed is None:
        return [reason(node)]
    if isinstance(node, exp.Alias) and (node.this.is_star or not is_item(node)):
        of = "of every column" if node.this.is_star else "inside an expression"
        return [is_in_the_grammar.broken_by(f"the name {node.alias} {of}")]
    if _is_repaired(node):
        return [is_in_the_grammar.broken_by(f"{named(node)} that no engine reads so")]
    found = []
    needed = None if isinstance(node.parent, exp.Case) else _NEEDED.get(type(node))
    if needed is not None and not node.args.get(needed[0]):
        found.append(is_in_the_grammar.broken_by(f"{named(node)} without {needed[1]}"))
    for part, value in node.args.items():
        if part not in allowed and value not in (None, False, [], "") and not _speaks(value):
            broken = _PART_LAWS.get(part, is_in_the_grammar)
            found.append(broken.broken_by(f"{named(node)} with {part}"))
    return found


def _is_repaired(node: exp.Expr) -> bool:
    """Whether the parser made something of a text that DuckDB does not read at all."""
    if isinstance(node, exp.Group):
        return bool(node.args.get("all")) is bool(node.expressions)
    left_out = node.args.get("except_") if isinstance(node, exp.Star) else None
    return any(not isinstance(item, exp.Identifier | exp.Column) for item in left_out or ())


def _speaks(value: object) -> bool:
    """Whether a part is found by itself, as nodes that are not allowed."""
    nodes = value if isinstance(value, list) else [value]
    return all(isinstance(node, exp.Expr) and type(node) not in _ALLOWED for node in nodes)


# One node for one function, however it is called: what stands here means to DuckDB exactly what it
# is exchanged for. A parser that does not know a name calls the function anonymous.

# extract(unit from x), as a function of one argument.
_UNITS = frozenset({"isoyear", "yearweek", "decade", "century", "millennium", "era"})
_SAME: dict[tuple[str, int], Callable[..., exp.Expr]] = {
    ("weekday", 1): lambda x: exp.DayOfWeek(this=x),
    ("prefix", 2): lambda x, y: exp.StartsWith(this=x, expression=y),
    ("suffix", 2): lambda x, y: exp.EndsWith(this=x, expression=y),
    ("count_star", 0): lambda: exp.Count(this=exp.Star(), big_int=True),
}


def in_one_word(statement: exp.Expr) -> exp.Expr:
    """``statement`` with every synonym exchanged.

    >>> import sqlglot
    >>> in_one_word(sqlglot.parse_one("select date_part('year', d) ~ 'x'", "duckdb")).sql("duckdb")
    "SELECT REGEXP_MATCHES(EXTRACT(year FROM d), 'x')"
    """
    for select in statement.find_all(exp.Select):
        _unname_windows(select)
        _first_of_each(select)
    for node in list(statement.find_all(exp.Anonymous, exp.ArrayContains)):
        same = _same(node)
        if same is not None:
            node.replace(same)
    return statement


def _unname_windows(select: exp.Select) -> None:
    """``OVER w … WINDOW w AS (…)`` is ``OVER (…)``; what adds to a window stays as it is."""
    named = {fold(window.name): window for window in select.args.get("windows") or ()}
    places = [*select.expressions, select.args.get("qualify") or exp.Null()]
    windows = [node for place in places for node in place.find_all(exp.Window)]
    parts = ("partition_by", "order", "spec", "alias", "first")
    for node in windows:
        window = named.get(fold(node.alias))
        if window is None or any(node.args.get(part) for part in parts if part != "alias"):
            return
        for part in parts:
            given = window.args.get(part)
            copied = (
                [x.copy() for x in given] if isinstance(given, list) else given and given.copy()
            )
            node.set(part, copied)
    select.set("windows", None)


def _first_of_each(select: exp.Select) -> None:
    """``DISTINCT ON (person) … ORDER BY day`` keeps what ``QUALIFY row_number() … = 1`` keeps."""
    distinct = select.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    keys = on.expressions if isinstance(on, exp.Tuple) else []
    if len(keys) != 1 or select.args.get("qualify"):
        return
    order = select.args.get("order")
    # DISTINCT ON and ORDER BY take an alias first, a window a column.
    named = {fold(alias.alias) for item in select.expressions for alias in item.find_all(exp.Alias)}
    parts = [keys[0], *(order.expressions if order else ())]
    read = {fold(column.name) for part in parts for column in part.find_all(exp.Column)}
    if named & read or any(part.find(exp.Literal) for part in parts):
        return
    rank = exp.Window(this=exp.RowNumber(), partition_by=[keys[0].copy()], over="OVER")
    rank.set("order", order and order.copy())
    first = exp.EQ(this=rank, expression=exp.Literal.number(1))
    select.set("distinct", None)
    select.set("qualify", exp.Qualify(this=first))


def _same(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.ArrayContains):
        return exp.Contains(this=node.this, expression=node.expression)
    name, given = node.name.lower(), node.expressions
    if name == "getvariable" and len(given) == 1 and given[0].is_string:
        return exp.Placeholder(this=f"getvariable({given[0].name})")
    if name in {"date_part", "datepart"} and len(given) == 2 and given[0].is_string:
        return exp.Extract(this=exp.var(given[0].name), expression=given[1])
    if name in _UNITS and len(given) == 1:
        return exp.Extract(this=exp.var(name), expression=given[0])
    same = _SAME.get((name, len(given)))
    return None if same is None else same(*given)
