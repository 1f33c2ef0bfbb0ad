"""Parts of texts by themselves: what is tried alone, and what a guess is compared with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.nodes import Identifier
from policy_engine.kernel.printing import environment, read_of
from policy_engine.kernel.sources import Column


def macros(engine: str) -> tuple[Any, Any]:
    """The macros of recodes and the forms of an engine: of them every text is made."""
    made = environment(engine)
    return made.get_template("recodes.sql.j2").module, made.globals["e"]


def unit_text(engine: str, keys: tuple[Column, ...]) -> str:
    """The one text that several columns have together, as every text of a release makes it."""
    module = environment(engine).get_template("mechanisms/units.sql.j2").module
    return str(module.unit_text([read_of(column) for column in keys]))  # type: ignore[attr-defined]


def in_sample(engine: str, column: str, rate: Decimal) -> tuple[str, str]:
    """The condition by which a text keeps a unit: of a whole number in ``column``, and of its text.

    >>> in_sample("spark", "n", Decimal("0.5"))[0].endswith("< '800000000000000'")
    True
    """
    nodes = Keyed(threshold(rate), 2).nodes()
    _, forms = macros(engine)
    number = Identifier(column)
    given = (nodes["bound"], nodes["bound_bytes"], nodes["drawn"], forms.salt(None, None))
    text = forms.text(number)
    return str(forms.in_sample(number, *given)), str(forms.in_sample(text, *given))


def rows_in_sample(engine: str, row: str, drawn: str) -> tuple[str, str]:
    """What a text reads beside rows that are numbered in ``row``, and the condition that keeps one.

    >>> rows_in_sample("duckdb", "n", "s")[1]
    'GET_BIT(policy_engine_bits, CAST("n" % 4096 AS INTEGER)) = 1'
    """
    _, forms = macros(engine)
    number, relation = Identifier(row), Identifier(drawn)
    beside = forms.beside_rows(number, relation, "")
    return str(beside), str(forms.row_in_sample(number, "", "", relation, ""))


def read_as_typed(engine: str, column: Column) -> str:
    """A column as a text reads it, under its own name.

    >>> from policy_engine.kernel.types import Type
    >>> read_as_typed("duckdb", Column("town", Type("text")))
    '"town"'
    """
    module, _ = macros(engine)
    return str(module.typed(read_of(column)))
