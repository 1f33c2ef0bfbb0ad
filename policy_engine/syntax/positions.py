"""Where a node stands in the text it was read from."""

from __future__ import annotations

from sqlglot import exp

Position = tuple[int, int]


def position(node: exp.Expr, text: str) -> Position:
    """Line and column, from 1, of the first token of ``node`` that has one; else (1, 1).

    >>> import sqlglot
    >>> sql = "select a,\\n  b from t"
    >>> position(sqlglot.parse_one(sql).expressions[1], sql)
    (2, 3)
    """
    start = next((n.meta["start"] for n in node.dfs() if "start" in n.meta), None)
    if start is None:
        return (1, 1) if node.parent is None else position(node.parent, text)
    return (text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
