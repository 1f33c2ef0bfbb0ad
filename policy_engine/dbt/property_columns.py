"""The columns of a model's versions, beside those that somebody wrote for all of its versions.

What stands at the model holds for each version. A column that has the same type in every version
gets it there, where its words and tests are; any other is said by each version for itself. (dbt 2
takes the model's entry where both speak of a column and something is left out.)
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from policy_engine.dbt.words import COLUMN, with_lead
from policy_engine.dbt.yaml_items import settle, styled
from policy_engine.dbt.yaml_text import Flow, FlowList

_Column = dict[str, Any]


def settle_columns(
    entry: CommentedMap, versions: Sequence[tuple[CommentedMap, list[_Column]]]
) -> None:
    """Make every version have exactly its released columns, each of its type.

    ``versions`` are the entries of our versions, each with its columns.
    """
    shared = _by_name(entry.get("columns"))
    alike = _alike(shared, [columns for _, columns in versions])
    for name, column in alike.items():
        _settle(shared[name], column)
    for mine, columns in versions:
        released = {column["name"] for column in columns}
        left_out = [name for name in shared if name not in alike or name not in released]
        own = [column for column in columns if column["name"] not in alike]
        _settle_version(mine, own, left_out, shared)


def _by_name(columns: object) -> dict[str, CommentedMap]:
    found = columns if isinstance(columns, list) else []
    return {str(c["name"]): c for c in found if isinstance(c, CommentedMap) and c.get("name")}


def _alike(
    shared: dict[str, CommentedMap], versions: Sequence[list[_Column]]
) -> dict[str, _Column]:
    """The columns of the model that have one type in all versions that release them."""
    types: dict[str, set[str]] = {}
    last: dict[str, _Column] = {}
    for column in (column for columns in versions for column in columns):
        types.setdefault(column["name"], set()).add(column["data_type"])
        last[column["name"]] = column
    return {name: last[name] for name in shared if len(types.get(name, ())) == 1}


def _settle(existing: CommentedMap, column: _Column) -> None:
    words = with_lead(existing.get("description"), column["description"], COLUMN)
    settle(existing, {**column, "description": words})


def _settle_version(
    mine: CommentedMap, columns: list[_Column], left_out: list[str], shared: dict[str, CommentedMap]
) -> None:
    known = mine.get("columns")
    own = _by_name(known)
    made = CommentedSeq()
    if shared:
        # dbt 2 takes none over where this is not said.
        rest = {"exclude": FlowList(left_out)} if left_out else {}
        made.append(styled(Flow(include="all", **rest)))
    for column in columns:
        name = column["name"]
        found = own[name] if name in own else deepcopy(shared.get(name, CommentedMap()))
        _settle(found, column)
        made.append(found)
    if not made:
        mine.pop("columns", None)
    elif not isinstance(known, CommentedSeq):
        mine["columns"] = made
    elif list(known) != list(made):
        known[:] = list(made)
