"""What a template does to relations without writing SQL: by the adapter, or by a macro of dbt's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from policy_engine.dbt.template_values import HOLE


def _rename(given: Sequence[str]) -> str:
    return f"alter table {given[0]} rename to {given[1]}"


def _copy(given: Sequence[str]) -> str:
    return f"create table {given[1]} as select * from {given[0]}"


def _drop(given: Sequence[str]) -> str:
    return f"drop table {given[0]}"


def _truncate(given: Sequence[str]) -> str:
    return f"truncate table {given[0]}"


def _drop_schema(given: Sequence[str]) -> str:
    return f"drop schema {given[0]}"


def _create_schema(given: Sequence[str]) -> str:
    return f"create schema {given[0]}"


_SAID: Mapping[str, Callable[[Sequence[str]], str]] = {
    "copy_table": _copy,
    "create_schema": _create_schema,
    "drop_relation": _drop,
    "drop_relation_if_exists": _drop,
    "drop_schema": _drop_schema,
    "drop_schema_named": _drop_schema,
    "rename_relation": _rename,
    "truncate_relation": _truncate,
}
"""The SQL that says what each of the calls does."""


def done(name: str, arguments: Sequence[object]) -> str:
    """The SQL that says what a call does.

    >>> done("drop_relation", ["main.out"])
    'drop table main.out'
    """
    return _SAID[name]([*map(str, arguments), HOLE, HOLE])


def built(name: str, arguments: Sequence[object]) -> str:
    """The statement by which a macro of dbt's builds a relation.

    >>> built("create_view_as", ["main.a", "select 1"])
    'create view main.a as select 1'
    """
    is_view = "view" in name
    given = [*map(str, arguments if is_view else arguments[1:]), HOLE, HOLE]
    return f"create {'view' if is_view else 'table'} {given[0]} as {given[1]}"
