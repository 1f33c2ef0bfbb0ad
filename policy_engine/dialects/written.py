"""SQL written by hand: a text of one engine with holes, and the nodes that go into them.

The text is parsed as that engine's and printed as that engine's: nothing is carried over from one
to another. A hole is ``_a``, ``_b`` … and takes a node, so that no value becomes text on the way.
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp


def written(parser: str, text: str, **holes: exp.Expr) -> exp.Expr:
    """The expression ``text`` of an engine, its holes filled.

    >>> written("postgres", "LEFT(_a, _b)", a=exp.column("zip"), b=exp.Literal.number(3)).sql()
    'LEFT(zip, 3)'
    """
    node = _parsed(parser, text).copy()
    for column in list(node.find_all(exp.Column)):
        given = holes.get(column.name.removeprefix("_")) if column.name.startswith("_") else None
        if given is not None:
            if column is node:
                return given.copy()
            column.replace(given.copy())
    return node


@lru_cache(maxsize=512)
def _parsed(parser: str, text: str) -> exp.Expr:
    query = sqlglot.parse_one(f"SELECT {text}", dialect=parser)
    found: exp.Expr = query.expressions[0]
    return found
