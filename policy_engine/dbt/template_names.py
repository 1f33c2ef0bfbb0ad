"""The names by which a template runs something while it is rendered."""

from __future__ import annotations

QUERIES = frozenset(
    {
        "run_query", "statement", "run_statement", "execute", "dbt_run_query", "add_query",
        "add_select_query", "run_sql", "run_sql_for_tests", "submit_python_job", "execute_macro",
    }
)  # fmt: skip
"""Macros and methods that run what they are given."""

DONE = frozenset(
    {
        "copy_table", "create_schema", "drop_relation", "drop_relation_if_exists", "drop_schema",
        "drop_schema_named", "rename_relation", "truncate_relation",
    }
)  # fmt: skip
"""Macros and methods that do something to a relation without a text of SQL."""

BUILDS = frozenset(
    {
        "create_table_as", "create_view_as", "get_create_table_as_sql", "get_create_view_as_sql",
    }
)  # fmt: skip
"""Macros of dbt's that write the statement that builds a relation."""

RELATIONS = frozenset(
    {
        "create", "get_relation", "load_cached_relation", "load_relation", "make_backup_relation",
        "make_intermediate_relation", "make_temp_relation",
    }
)  # fmt: skip
"""Calls that give a relation; of a relation that they are given, one beside it."""
