"""Macros that stand in the place of those with which dbt builds models.

What the gate reads is a model's compiled text. Between that and the warehouse stand macros of dbt
and of the adapter: they create the table, load the seed, compare the snapshot, grant. A project or
a package can put its own in their place by name, and then any text runs. So such a macro is a
finding, unless it plainly writes no SQL and runs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from policy_engine.dbt.lexing import words
from policy_engine.dbt.manifest import Macro, Manifest
from policy_engine.dbt.rules import GateFinding, finding

_NAMING = words("""
    generate_alias_name generate_database_name generate_latest_version_pointer_alias
    generate_schema_name generate_schema_name_for_env
""")
"""Macros that say where a model stands, which the manifest shows."""
_COMPILED = words("""
    date_spine dates_in_range generate_series get_intervals_between get_powers_of_two
    get_where_subquery partition_range
""")
"""Macros that only write a part of a model's own text, which is read when it is compiled."""
_ALWAYS = re.compile(
    r"(?:get_)?create_(?:or_replace_)?(?:table|view)(?:_as)?(?:_sql)?|materialization_\w+"
    r"|get_create_\w+_as_sql|create_csv_table|load_csv_rows|snapshot_\w+|get_merge_sql|statement"
    r"|run_query|run_hooks|apply_grants|get_grant_sql"
)
"""The most important of dbt's macros, should a manifest not list them."""
_MATERIALIZATIONS = words("""
    clone function incremental materialized_view seed snapshot table test unit view
""")


def replaced_builders(manifest: Manifest) -> Iterator[GateFinding]:
    """The macros by which a project or a package takes the place of those that build models."""
    builders = _Builders(manifest)
    for macro in manifest.macros.values():
        if _is_foreign(macro, manifest) and builders.shadows(macro):
            said = f"the macro {macro.name} of {macro.package} stands in the place of dbt's own"
            yield finding("G11", said, manifest.file_of_macro(macro))


def _is_foreign(macro: Macro, manifest: Manifest) -> bool:
    """Whether a macro is not dbt's own; dbt v2 lists the block of a snapshot as one as well."""
    return not manifest.is_internal(macro.package) and macro.id.startswith("macro.")


class _Builders:
    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    @cached_property
    def _names(self) -> Mapping[str, frozenset[str]]:
        """The names of dbt's macros without the adapter's prefix, each with its texts."""
        found: dict[str, set[str]] = {}
        for macro in self.manifest.macros.values():
            if self.manifest.is_internal(macro.package):
                found.setdefault(base_name(macro.name), set()).add(macro.sql)
        return {name: frozenset(texts) for name, texts in found.items()}

    def shadows(self, macro: Macro) -> bool:
        """Whether a macro stands where one of dbt's own is looked for, and may do what it likes."""
        base = base_name(macro.name)
        if base in _NAMING | _COMPILED or base.startswith("test_"):
            return False
        if base not in self._names and not _ALWAYS.fullmatch(base):
            return False
        if base.startswith("materialization_"):
            return self._is_built_in(base)
        if _body(macro.sql) in map(_body, self._names.get(base, ())):
            return False
        # Templates take long to load, and most projects have no such macro.
        from policy_engine.dbt.harmless_macros import is_harmless

        return not is_harmless(macro, self.manifest)

    def _is_built_in(self, base: str) -> bool:
        kind = base.removeprefix("materialization_").rpartition("_")[0]
        return kind in _MATERIALIZATIONS or any(
            name.startswith(f"materialization_{kind}_") for name in self._names
        )


_PREFIX = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*?__(?=\w)")
_HEAD = re.compile(r"\{%-?\s*macro\s+\w+")


def base_name(name: str) -> str:
    """The name that a macro answers to: without the prefix of an adapter.

    >>> base_name("duckdb__create_table_as"), base_name("create_table_as"), base_name("_own__x")
    ('create_table_as', 'create_table_as', '_own__x')
    """
    found = _PREFIX.match(name)
    return name[found.end() :] if found else name


def _body(sql: str) -> str:
    """A macro's text but for its name and its blanks."""
    return " ".join(_HEAD.sub("{% macro", sql, count=1).split())
