"""The one statement that asks DuckDB for every categorical model of a table.

It reads the table once, to count its cells: rows alike in the quasi-identifiers and in the
sensitive value. All else is computed from those counts, so that a billion rows cost about what one
GROUP BY of them costs. NULL is a value: GROUP BY and PARTITION BY take all NULLs for one.

The definitions are those of `classes`. Where the text computes otherwise than they are written:

* ½ Σ |p − q| is Σ max(0, p − q), for Σ (p − q) = 0. Values that a class lacks add nothing to it.
* Σ |P − Q| over the places of an ordered attribute, P and Q cumulated: from one value of a class to
  its next, P stands still and Q grows, and passes P at one place, which an ASOF join finds; prefix
  sums of Q give the sums on either side of it.
* Of a tree whose leaves are equally deep, the earth mover's distance is the mean of the equal
  distances at its levels, without the root: an edge is 1 / (2H) long, and over it goes |p − q|.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policy_engine.values import frozen
from policy_engine.warehouse.quoting import literal, quoted


@frozen
class Tree:
    """Each value's node on every level below the root, its own first; all leaves equally deep.

    NULL has a branch of its own below the root: it is a value, and like no other.
    """

    nodes: Mapping[str | None, tuple[int, ...]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, ...]]) -> Tree:
        """The tree of a hierarchy's rows: a value, and what it is at each level.

        A node is what a value is at a level and at all above it, so that a label that stands below
        two others is two nodes. A last level in which all values are alike is the root.

        >>> Tree.of([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]).levels
        2
        >>> Tree.of([("a", "x"), ("b", "y")]).levels
        2
        """
        listed = tuple(rows)
        has_root = len({row[-1] for row in listed}) == 1
        depth = len(listed[0]) - has_root
        paths = {row[0]: tuple(row[level:] for level in range(depth)) for row in listed}
        numbers: dict[tuple[str, ...], int] = {}
        nodes: dict[str | None, tuple[int, ...]] = {
            value: tuple(numbers.setdefault(path, len(numbers) + 1) for path in found)
            for value, found in paths.items()
        }
        return cls(nodes | {None: (0,) * depth})

    @property
    def levels(self) -> int:
        """How many levels there are below the root."""
        return len(next(iter(self.nodes.values())))


ORDER, TREE = "policy_engine_order", "policy_engine_tree"
"""Relations beside the measured one: each value's place; each value's node on every level."""
LADDER = 10
"""The largest ℓ for which the c of recursive (c, ℓ)-diversity is computed."""


@frozen
class Roles:
    """What the columns of a table are to an adversary.

    ``quasi`` are those that are known of a person, ``sensitive`` the one that is to be learnt, and
    ``count`` says how many people a row stands for, ``key`` whose a row is; without both a row is
    one person.
    """

    quasi: tuple[str, ...]
    sensitive: str | None = None
    count: str | None = None
    key: str | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The quasi-identifiers as the statement calls them: a table may have any names."""
        return tuple(f"q{place}" for place in range(1, len(self.quasi) + 1))


@frozen
class Distances:
    """The distances of t-closeness that are asked for beside the equal one.

    ``listed``: the order is that of the relation ``ORDER``, and else the type's own. ``levels`` is
    how many the tree in the relation ``TREE`` has below its root; 0 where there is none.
    """

    ordered: bool = False
    listed: bool = False
    levels: int = 0


EQUAL = Distances()


def cells(relation: str, roles: Roles) -> str:
    """The counts ``n`` of a table by quasi-identifiers ``q1, q2, …`` and sensitive value ``s``.

    >>> print(cells("t", Roles(("age",), "pay", "people")))
    SELECT "age" AS q1, "pay" AS s, sum("people")::BIGINT AS n
      FROM t WHERE "people" > 0 GROUP BY ALL
    """
    keys = [f"{quoted(n)} AS {p}" for n, p in zip(roles.quasi, roles.places, strict=True)]
    keys.append("true AS s" if roles.sensitive is None else f"{quoted(roles.sensitive)} AS s")
    if roles.count is None:
        each = "*" if roles.key is None else f"DISTINCT {quoted(roles.key)}"
        return f"SELECT {', '.join(keys)}, count({each}) AS n\n  FROM {relation} GROUP BY ALL"
    count = quoted(roles.count)
    keys.append(f"sum({count})::BIGINT AS n")
    return f"SELECT {', '.join(keys)}\n  FROM {relation} WHERE {count} > 0 GROUP BY ALL"


def persons(relation: str, roles: Roles) -> str:
    """How many people a table with a key has, and how many of them are alone in a class."""
    key, by = quoted(roles.key or ""), ", ".join(map(quoted, roles.quasi)) or "true"
    classes = f"SELECT count(DISTINCT {key}) AS n, min({key}) AS who FROM {relation} GROUP BY {by}"
    return (
        f"SELECT (SELECT count(DISTINCT {key}) FROM {relation}) AS persons,"
        f" count(DISTINCT who) AS alone FROM ({classes}) WHERE n = 1"
    )


def statement(
    relation: str, roles: Roles, distances: Distances = EQUAL, *, names_worst: bool = False
) -> str:
    """The text. Its one row has the columns that `classes.models_of` reads.

    ``names_worst`` asks which class is worst in each model: that is not for raw data.
    """
    keys = "".join(f"{place}, " for place in roles.places)
    order = {"order": "s NULLS LAST", "place": "", "joined": ""}
    if distances.listed:
        joined = f"LEFT JOIN {ORDER} o ON o.value = s::VARCHAR"
        order = {"order": "o.place NULLS LAST", "place": ", o.place", "joined": joined}
    steps = {
        "cells": cells(relation, roles),
        "domain": _DOMAIN.format(**order),
        "ranked": _ranked(roles, keys, ordered=distances.ordered),
        "classes": _CLASSES.format(keys=keys),
    }
    answers = [*_ANSWERS]
    if distances.ordered:
        steps["ordered"] = _ORDERED.format(keys=keys)
        answers.append("(SELECT max(t) FROM ordered) AS t_ordered")
    if distances.levels:
        steps["nodes"] = _NODES.format(keys=keys, tree=TREE, levels=distances.levels)
        steps["hierarchical"] = _HIERARCHICAL.format(keys=keys, levels=distances.levels)
        answers.append("(SELECT max(t) FROM hierarchical) AS t_hierarchical")
    answers += _worst(roles, distances) if names_worst else []
    text = (f"{name} AS MATERIALIZED (\n  {body.strip()}\n)" for name, body in steps.items())
    return f"WITH {', '.join(text)}\nSELECT " + ",\n  ".join(answers) + "\nFROM classes"


def _ranked(roles: Roles, keys: str, *, ordered: bool) -> str:
    """Each cell within its class: its rank by size, and how many are in it and behind it."""
    by = f"PARTITION BY {', '.join(roles.places)} " if roles.places else ""
    windows = f"e AS ({by}), r AS ({by}ORDER BY c.n DESC, d.place)"
    further = ""
    if ordered:
        windows += f", o AS ({by}ORDER BY d.place)"
        further = _STEPS
    return _RANKED.format(keys=keys, further=further, windows=windows)


def _worst(roles: Roles, distances: Distances) -> list[str]:
    """Which class is worst in each model; of several the first by its values."""
    if not roles.quasi:
        return []
    named = zip(roles.quasi, roles.places, strict=True)
    shown = "{" + ", ".join(f"{literal(name)}: {place}::VARCHAR" for name, place in named) + "}"
    orders = {"k": ("classes", "size")}
    if roles.sensitive is not None:
        orders |= {"distinct": ("classes", '"distinct"'), "entropy": ("classes", "entropy")}
        orders |= {each: ("classes", f"{each} DESC") for each in ("t_equal", "delta", "alpha")}
        further = {"ordered": distances.ordered, "hierarchical": distances.levels > 0}
        orders |= {f"t_{each}": (each, "t DESC") for each, asked in further.items() if asked}
    ties = ", ".join(f"{place} NULLS LAST" for place in roles.places)
    return [
        f"(SELECT {shown} FROM {step} ORDER BY {order}, {ties} LIMIT 1) AS worst_{name}"
        for name, (step, order) in orders.items()
    ]


# Each sensitive value: its share q of all, its place, Q up to it and the sum of Q up to it.
_DOMAIN = """
  SELECT s, n, n / total AS q, place, upto / total AS upto,
    coalesce(sum(upto / total) OVER (ORDER BY place), 0) AS prefix
  FROM (
    SELECT s, n, place, sum(n) OVER () AS total, sum(n) OVER (ORDER BY place) AS upto
    FROM (
      SELECT s, sum(n)::BIGINT AS n, row_number() OVER (ORDER BY {order}) AS place
      FROM cells {joined} GROUP BY s{place}
    )
  )
"""
_RANKED = """
  SELECT {keys}c.n, d.q, d.place, sum(c.n) OVER e AS size, max(c.n) OVER e AS top,
    row_number() OVER r AS rank,
    sum(c.n) OVER (r ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS tail{further}
  FROM cells c JOIN domain d ON c.s IS NOT DISTINCT FROM d.s
  WINDOW {windows}
"""
# P up to a value of a class; the place before it and that before the next; Q summed up to those.
_STEPS = """,
    sum(c.n) OVER o / sum(c.n) OVER e AS p_upto,
    d.place - 1 AS first, d.prefix - d.upto AS at_first,
    lead(d.place - 1, 1, (SELECT count(*) FROM domain)) OVER o AS last,
    lead(d.prefix - d.upto, 1, (SELECT max(prefix) FROM domain)) OVER o AS at_last"""
_CLASSES = """
  SELECT {keys}any_value(size)::BIGINT AS size, count(*) AS "distinct", max(top)::BIGINT AS top,
    exp(-sum(n / size * ln(n / size))) AS entropy, max(top / size) AS alpha,
    sum(greatest(n / size - q, 0)) AS t_equal,
    CASE WHEN count(*) < (SELECT count(*) FROM domain) THEN 'infinity'::DOUBLE
      ELSE max(abs(ln(n / size / q))) END AS delta
  FROM ranked GROUP BY {keys}true
"""
_ORDERED = """
  SELECT {keys}CASE WHEN (SELECT count(*) FROM domain) < 2 THEN 0
    ELSE greatest(0, min(at_first) + sum(p_upto * (middle - first) - (at_middle - at_first)
      + (at_last - at_middle) - p_upto * (last - middle)))
      / ((SELECT count(*) FROM domain) - 1) END AS t
  FROM (
    SELECT ranked.*, greatest(first, least(last, coalesce(d.place, 0))) AS middle,
      CASE WHEN coalesce(d.place, 0) <= first THEN at_first
        WHEN d.place >= last THEN at_last ELSE d.prefix END AS at_middle
    FROM ranked ASOF LEFT JOIN domain d ON ranked.p_upto >= d.upto
  )
  GROUP BY {keys}true
"""
_NODES = """
  SELECT {keys}level, nodes[level] AS node, sum(n)::BIGINT AS n
  FROM cells JOIN {tree} ON s::VARCHAR IS NOT DISTINCT FROM value
    CROSS JOIN range(1, {levels} + 1) r(level)
  GROUP BY ALL
"""
_HIERARCHICAL = """
  SELECT {keys}sum(greatest(n / size - q, 0)) / {levels} AS t
  FROM (
    SELECT a.*, sum(a.n) OVER (PARTITION BY {keys}a.level) AS size, w.q
    FROM nodes a JOIN (
      SELECT level, node, sum(n) / any_value(total) AS q
      FROM (SELECT level, node, n, sum(n) OVER (PARTITION BY level) AS total FROM nodes)
      GROUP BY level, node
    ) w USING (level, node)
  )
  GROUP BY {keys}true
"""
_ANSWERS = (
    "coalesce(sum(size), 0)::BIGINT AS people",
    "count(*) AS classes",
    "min(size) AS k",
    "(SELECT list((size, times) ORDER BY size)"
    " FROM (SELECT size, count(*) AS times FROM classes GROUP BY size)) AS sizes",
    "(SELECT count(*) FROM domain) AS values",
    "(SELECT max(n) FROM domain) AS most",
    'min("distinct") AS "distinct"',
    "min(entropy) AS entropy",
    "(SELECT list((rank, c) ORDER BY rank) FROM"
    " (SELECT rank, max(top / tail) AS c, count(*) AS times FROM ranked"
    f" WHERE rank BETWEEN 2 AND {LADDER} GROUP BY rank)"
    " WHERE times = (SELECT count(*) FROM classes)) AS recursive",
    "max(t_equal) AS t_equal",
    "max(delta) AS delta",
    "max(alpha) AS alpha",
    "sum(top)::BIGINT AS right",
    "sum(size * t_equal) / sum(size) AS mean_t",
)
