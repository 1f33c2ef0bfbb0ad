"""Who is granted what by a node's config, which dbt writes into a statement as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.dbt.manifest import Node, leaves, mapping

_PLAIN = re.compile(r"[\w $.@:%-]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|'[^']*'")
_PRIVILEGE = re.compile(r"[\w ./+]+")
_QUOTING = frozenset({"bigquery", "databricks", "spark"})
"""Dialects in which dbt quotes a grantee: there its words are one name."""
_EVERYBODY = frozenset(
    {
        "public", "everyone", "everybody", "allusers", "allauthenticatedusers", "account users",
        "all users", "specialgroup:allusers", "specialgroup:allauthenticatedusers", "%", "@%",
    }
)  # fmt: skip
"""Grantees that are everybody, or everybody who has an account."""
_OWN = {"databricks": frozenset({"users"}), "clickhouse": frozenset({"all"})}


def grants_of(node: Node) -> Iterator[tuple[str, str]]:
    """What a node's config grants: the privilege, and each grantee as it is written.

    ``{"+": […]}`` adds to what was granted before.
    """
    for privilege, value in mapping(node.config, "grants").items():
        for grantee in leaves(value):
            yield str(privilege), grantee


def everybody(node: Node, dialect: str) -> tuple[str, ...]:
    """Those of a node's grantees that are everybody, or that have everybody among their words."""
    found = (grantee for _, grantee in grants_of(node) if has_everybody(grantee, dialect))
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


def has_everybody(grantee: str, dialect: str) -> bool:
    """Whether a grantee is everybody or another account's share, alone or among others.

    >>> has_everybody("analyst, public", "postgres"), has_everybody("analyst", "postgres")
    (True, False)
    >>> has_everybody('"PUBLIC"', ""), has_everybody("role public", "databricks")
    (True, True)
    """
    said = [grantee, *grantee.split(",")]
    if dialect not in _QUOTING:
        said += re.split(r"[^\w%@:]+", grantee)
    for each in said:
        bare = each.strip().strip("`\"'").lower()
        if bare.startswith("share "):
            return True
        for word in ("role ", "group ", "user "):
            bare = bare.removeprefix(word).strip("`\"' ")
        if bare in _EVERYBODY or bare in _OWN.get(dialect, ()):
            return True
    return False
