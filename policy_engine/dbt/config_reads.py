"""What the settings of a node read: dbt writes many of them into SQL as they stand.

The timestamp of a snapshot, the columns that it compares, a predicate of an incremental model, the
type of a column, the calculation of a test: each may hold a query, and no compiled text shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policy_engine.dbt.lexing import READERS
from policy_engine.dbt.manifest import Node, mapping, sequence

_NO_SQL = frozenset(
    {
        "alias", "contract", "database", "description", "docs", "enabled", "full_refresh",
        "grants", "group", "materialized", "meta", "packages", "persist_docs", "post-hook",
        "post_hook", "pre-hook", "pre_hook", "query_comment", "quoting", "schema", "severity",
        "sql_header", "static_analysis", "store_failures", "store_failures_as", "tags",
    }
)  # fmt: skip
"""Settings that are no SQL, or that are read elsewhere."""
_QUERY = re.compile(
    rf"\b(?:select|from|table|join)\b|\b(?:{'|'.join(sorted(READERS))})\s*\(", re.IGNORECASE
)
_KINDS = frozenset({"model", "snapshot", "seed", "test"})


def queries_in_config(node: Node) -> tuple[str, ...]:
    """The settings of a node that hold a query.

    >>> queries_in_config(Node("snapshot.a.b", {"config": {"updated_at": "(select 1 from x)"}}))
    ('(select 1 from x)',)
    """
    if node.kind not in _KINDS:
        return ()
    return tuple(dict.fromkeys(each for each in _texts(node) if _QUERY.search(each)))


def _texts(node: Node) -> Iterator[str]:
    for key, value in node.config.items():
        if value and key not in _NO_SQL:
            yield from _inside(value)
    for column in mapping(node.data, "columns").values():
        if isinstance(column, Mapping) and (column.get("constraints") or column.get("data_type")):
            yield from _inside([column.get("data_type"), *_expressions(column)])
    yield from _inside(list(_expressions(node.data)))


def _expressions(data: Mapping[str, object]) -> Iterator[object]:
    for each in sequence(data, "constraints"):
        if isinstance(each, Mapping):
            yield each.get("expression")


def _inside(value: object) -> Iterator[str]:
    """Every text of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _inside(key)
            yield from _inside(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _inside(each)
