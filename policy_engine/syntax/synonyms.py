"""Other names of what the kernel knows: one node for one function, however it is called.

A parser that does not know a name calls the function anonymous; what stands here means to
DuckDB exactly what it is exchanged for.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from policy_engine.syntax.names import fold

# extract(unit from x), as a function of one argument.
_UNITS = frozenset({"isoyear", "yearweek", "decade", "century", "millennium", "era"})
_SAME: dict[str, Callable[..., exp.Expr]] = {
    "weekday": lambda x: exp.DayOfWeek(this=x),
    "prefix": lambda x, y: exp.StartsWith(this=x, expression=y),
    "suffix": lambda x, y: exp.EndsWith(this=x, expression=y),
    "count_star": lambda: exp.Count(this=exp.Star(), big_int=True),
}
_ARITY = {"weekday": 1, "prefix": 2, "suffix": 2, "count_star": 0}


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
    return _SAME[name](*given) if _ARITY.get(name) == len(given) else None
