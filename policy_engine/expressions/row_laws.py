"""The laws of one row's expressions: they cannot fail, and what they show is what they are."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.datatypes import QUOTIENT, shows_itself
from policy_engine.expressions.values import Value
from policy_engine.syntax.findings import law, shown


@law("V17")
def cannot_fail(failing: str) -> str | None:
    """A recoding must not be able to fail: an error tells that the row exists [mechanism 2].

    TRY_CAST, a CASE around it, or values of one type on both sides cannot fail.
    """
    return failing or None


@law("V18")
def shows_each_value(value: Value, node: exp.Expr) -> str | None:
    """A grouped column must show each value as itself: no float, interval or variant [mechanism 3].

    Group by bins, by a rounded DECIMAL or BIGINT, or by a text of it.
    """
    plain = value.type in {None, QUOTIENT} or shows_itself(str(value.type))
    return None if plain else f"{shown(node)} of type {value.type}"


@law("V32")
def groups_byte_by_byte(value: Value, node: exp.Expr) -> str | None:
    """Text must be grouped byte by byte: a collation shows one row as another [mechanism 3].

    Write it with COLLATE "binary" behind it.
    """
    return shown(node) if value.collated else None


@law("V20")
def is_no_place(name: str) -> str | None:
    """A row's position is not a property of the person: it may only draw the sample.

    Release a column of the person instead.
    """
    return name or None


@law("V19")
def keeps_the_secret(shown: str) -> str | None:
    """The sample's secret must not stand in the text, nor be used for anything else.

    Bind it as a parameter, or read it with (SELECT salt FROM secrets WHERE release_id = '...').
    """
    return shown or None


@law("V30")
def names_one_column(name: str) -> str | None:
    """Names must resolve to exactly one column, whatever the reader and the schema.

    Qualify the name, or give the column another one.
    """
    return name or None
