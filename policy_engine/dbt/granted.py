"""Who is granted what, in a statement and in a node's config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policy_engine.dbt.held import Held, Moved
from policy_engine.dbt.lexing import (
    QUOTED,
    STRING,
    WORD,
    Token,
    is_everybody,
    name_at,
    words,
)
from policy_engine.dbt.manifest import Node, mapping
from policy_engine.dbt.naming import Name, shown
from policy_engine.dbt.template_values import HOLE


def granted(found: list[Token], held: Held) -> Iterator[Moved]:
    """Grants to everybody of what holds sensitive data."""
    said = [token.word for token in found]
    if "TO" not in said or "ON" not in said:
        return
    to = len(said) - 1 - said[::-1].index("TO")
    dialect = held.reader.dialect
    if not any(is_everybody(grantee, dialect) for grantee in _grantees(found[to + 1 :])):
        return
    on = said.index("ON")
    objects = found[on + 1 : to]
    if _is_wide(set(said[:on]), objects):
        schema = next((n for n in _names(objects) if n[-1].text.upper() not in _KINDS), ())
        for id_ in _of_schema(schema, held):
            yield Moved("G03", id_, "is granted to everybody, with every table of its schema")
            return
    for name in _names(objects):
        for id_ in held.sensitive(name):
            yield Moved("G03", id_, "is granted to everybody")
    if any(HOLE in token.text for token in objects) and "SCHEMA" not in said:
        yield Moved("G03", "", "grants to everybody what only a run can tell")


def _is_wide(privileges: set[str], objects: list[Token]) -> bool:
    """Whether a grant is of every table of a schema."""
    said = {token.word for token in objects}
    if said & {"ALL", "FUTURE", "TABLES", "VIEWS"} or any(t.text == "*" for t in objects):
        return True
    can_read = not privileges.isdisjoint({"SELECT", "READ"}) or not privileges - {"GRANT", ""}
    return can_read and bool(said & {"SCHEMA", "DATABASE", "CATALOG", "DATASET"})


_KINDS = words("""
    ALL FUTURE TABLES VIEWS IN SCHEMA DATABASE CATALOG DATASET TABLE VIEW MATERIALIZED EXTERNAL
""")


def _grantees(found: list[Token]) -> Iterator[str]:
    """Who is granted something, one by one."""
    parts: list[str] = []
    for token in [*found, Token("sign", ",")]:
        if token.text == "," or token.word == "WITH":
            yield " ".join(parts)
            parts = []
        elif token.kind in {WORD, QUOTED, STRING}:
            parts.append(token.text.strip("'"))


def _names(found: list[Token]) -> Iterator[Name]:
    place = 0
    while place < len(found):
        named = name_at(found, place) if found[place].word not in _KINDS else None
        if named is None:
            place += 1
            continue
        yield named[0]
        place = named[1]


def _of_schema(schema: Name, held: Held) -> Iterator[str]:
    """The sensitive nodes of a schema; of any, where the schema is not known before a run."""
    wanted = schema[-1].text.lower() if schema and HOLE not in shown(schema) else ""
    for id_, node in sorted(held.reader.manifest.nodes.items()):
        own = str(node.data.get("schema") or "").lower()
        if node.relation and held.is_sensitive(id_) and wanted in {"", own}:
            yield id_


# Grants of a config, which dbt writes into a statement as they stand

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
