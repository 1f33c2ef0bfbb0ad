"""Who is granted what by a node's config, which dbt writes into a statement as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policy_engine.dbt.lexing import is_everybody
from policy_engine.dbt.manifest import Node, mapping

_PLAIN = re.compile(r"[\w $.@:%-]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|'[^']*'")
_PRIVILEGE = re.compile(r"[\w ./+]+")
_QUOTING = frozenset({"bigquery", "databricks", "spark"})
"""Dialects in which dbt quotes a grantee: there its words are one name."""


def grants_of(node: Node) -> Iterator[tuple[str, str]]:
    """What a node's config grants: the privilege, and each grantee as it is written."""
    for privilege, value in mapping(node.config, "grants").items():
        for grantee in _listed(value):
            yield str(privilege), grantee


def everybody(node: Node, dialect: str) -> tuple[str, ...]:
    """Those of a node's grantees that are everybody, or that have everybody among their words."""
    found = (grantee for _, grantee in grants_of(node) if _has_everybody(grantee, dialect))
    return tuple(dict.fromkeys(found))


def no_names(node: Node) -> tuple[str, ...]:
    """Those of a node's grants that are no plain names: dbt would write any text of them."""
    found = []
    for privilege, grantee in grants_of(node):
        if not _PRIVILEGE.fullmatch(privilege):
            found.append(privilege)
        elif not _is_plain(grantee) and not all(map(_is_plain, grantee.split(","))):
            found.append(grantee)
    return tuple(dict.fromkeys(found))


def _is_plain(grantee: str) -> bool:
    return _PLAIN.fullmatch(grantee.strip()) is not None and "--" not in grantee


def _has_everybody(grantee: str, dialect: str) -> bool:
    """Whether a grantee is everybody, alone or among others.

    >>> _has_everybody("analyst, public", "postgres"), _has_everybody("analyst", "postgres")
    (True, False)
    """
    said = [grantee, *grantee.split(",")]
    if dialect not in _QUOTING:
        said += re.split(r"[^\w%@:]+", grantee)
    return any(is_everybody(each, dialect) for each in said if each.strip())


def _listed(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):  # {"+": […]} adds to what was granted before
        for each in value.values():
            yield from _listed(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _listed(each)
