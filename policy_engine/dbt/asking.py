"""The columns of a node as dbt's own connection has them.

It asks where nothing here connects to the warehouse, or where dbt alone knows what a source is: an
attached database, a file behind ``external_location``. dbt logs the text and the types, no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.dbt.runner import Dbt
from policy_engine.dbt.sources import SourceNode

# A name or a type with a quote is left out, for engines escape it differently: it stays unknown.
_QUESTION = """\
{{%- set relation = {call} -%}}
{{%- if execute -%}}
  {{%- for column in adapter.get_columns_in_relation(relation) -%}}
    {{%- set said = column.name ~ column.dtype ~ column.data_type -%}}
    {{%- if "'" not in said and "\\\\" not in said %}}
select '{{{{ column.name }}}}' as name, '{{{{ column.dtype }}}}' as kind, \
'{{{{ column.data_type }}}}' as type union all
    {{%- endif -%}}
  {{%- endfor -%}}
{{%- endif %}}
select '' as name, '' as kind, '' as type"""
_OF_DUCKDB = """\
select column_name as name, column_type as kind, column_type as type
from (describe select * from {call})"""


def shown_columns(dbt: Dbt, node: SourceNode, adapter: str) -> dict[str, str]:
    """The columns of a node's table with their types, by ``dbt show``; empty where it has none.

    Raises:
        FileError, WarehouseError: there is no dbt, or it failed.
    """
    rows = dbt.rows(question(node.call, adapter))
    return {str(row["name"]): _type(row) for row in map(_in_lower_case, rows) if row.get("name")}


def question(call: str, adapter: str) -> str:
    """What dbt is asked: a query of its own Jinja, that is the same for nearly every adapter.

    >>> print(question("source('raw', 'people')", "duckdb"))
    select column_name as name, column_type as kind, column_type as type
    from (describe select * from {{ source('raw', 'people') }})
    """
    if adapter == "duckdb":
        # Its own macro cannot describe a file.
        return _OF_DUCKDB.format(call=f"{{{{ {call} }}}}")
    return _QUESTION.format(call=call)


def _in_lower_case(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {str(name).lower(): value for name, value in row.items()}


def _type(row: Mapping[str, Any]) -> str:
    """Of the two names that dbt has for a type: the one with digits, but as short for texts."""
    kind, whole = str(row["kind"]), str(row["type"])
    return kind if "char" in whole.lower() else whole
