"""What an engine calls its types: their names in DuckDB, in which schemas and catalogs are read.

A type that is not named has no meaning here: a column of it is read by no text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from policy_engine.engines import ENGINES
from policy_engine.engines.sql_rules import rules_of

DECLARED = {
    "integer": "BIGINT",
    "double": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
"""The types that a policy can say a column is read as."""

_TEXTS = frozenset({"VARCHAR", "CHAR", "TEXT", "STRING"})
_WHOLE = re.compile(r"(DECIMAL|NUMBER|NUMERIC)\([0-9]+, ?0\)")
_MOST_DIGITS = 38
_ARGUMENTS = re.compile(r"\s*\(([0-9, ]*)\)")


@cache
def _read(table: str) -> dict[str, str]:
    lines = [line.strip().split(": ") for line in table.strip().splitlines()]
    return {name: meaning for meaning, names in lines for name in names.split(" | ")}


def types_of(engine: str) -> Mapping[str, str]:
    """The names of an engine's types, each with DuckDB's: its own, or its family's.

    DuckDB's own are called as they are.
    """
    table = ENGINES[engine]
    return _read(rules_of(engine).read or table.types or rules_of(table.family).read)


def parser_of(engine: str) -> str:
    """The name by which sqlglot knows an engine's SQL.

    >>> parser_of("mariadb"), parser_of("trino"), parser_of("databricks")
    ('mysql', 'trino', 'databricks')
    """
    return ENGINES[engine].parser or engine


def type_of(engine: str, native: str) -> str:
    """DuckDB's name of a type; the engine's own, marked, where it has no meaning here.

    >>> type_of("postgres", "character varying(20)"), type_of("postgres", "jsonb")
    ('VARCHAR', 'OTHER JSONB')
    """
    text = " ".join(native.lower().split())
    arguments = _ARGUMENTS.search(text)
    bare = " ".join(_ARGUMENTS.sub(" ", text).split())
    meaning = types_of(engine).get(text) or types_of(engine).get(bare)
    if meaning == "DECIMAL" and arguments is not None:
        digits, _, places = (part.strip()[:9] for part in arguments[1].partition(","))
        # Whether every such number is one of a file, and of any other engine.
        is_plain = int(places or 0) <= int(digits or 0) <= _MOST_DIGITS
        meaning = f"DECIMAL({arguments[1]})" if is_plain else None
    elif meaning == "DECIMAL" and rules_of(engine).any_length:
        meaning = None  # each value looks as it was written
    return f"OTHER {native.upper()}" if meaning is None else meaning


def told(engine: str, kind: str) -> str:
    """DuckDB's name of a type, the collation of its text told unless it compares bytes.

    >>> told("mariadb", "TEXT"), told("mariadb", "TEXT COLLATE utf8mb4_nopad_bin")
    ('TEXT COLLATE unknown', 'TEXT')
    """
    rules = rules_of(engine)
    if rules.whole_numbers and _WHOLE.fullmatch(kind.upper()):
        return "BIGINT"
    if rules.any_length and kind == "DECIMAL":
        return "OTHER DECIMAL"
    name, _, collation = kind.replace(" collate ", " COLLATE ").partition(" COLLATE ")
    is_text = name.upper().split("(")[0].strip() in _TEXTS
    if rules.bytewise is None or not is_text:
        return kind
    if collation.lower() in rules.bytewise:
        return name
    return f"{name} COLLATE {collation or 'unknown'}"
