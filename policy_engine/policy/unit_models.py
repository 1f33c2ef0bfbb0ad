"""``source.unit`` as it is written: who is one person, and which of their rows speaks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from policy_engine.policy import fields, laws
from policy_engine.policy.documents import Document, word_or
from policy_engine.policy.laws import inside, refusal
from policy_engine.policy.scalars import show


class OrderSpec(Document):
    """Which of a person's rows is kept: the first in this order."""

    order_by: Annotated[
        tuple[fields.LineField, ...],
        BeforeValidator(laws.a_list("columns", "as in [visit_date desc]")),
        Field(json_schema_extra={"minItems": 1}),
    ]
    """Columns of the source, each with an optional `asc` (default) or `desc`."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """No column orders twice."""
        terms = data.get("order_by")
        seen: set[str] = set()
        for index, term in enumerate(terms if isinstance(terms, list) else ()):
            column = order_term(term)[0].casefold() if isinstance(term, str) else ""
            if column and column in seen:
                yield refusal(f"orders by {show(term)} a second time", at=("order_by", index))
            seen.add(column)


def order_term(term: str) -> tuple[str, Literal["asc", "desc"]]:
    """The column and the direction of a term of ``order_by``.

    >>> order_term("visit_date DESC"), order_term("desc")
    (('visit_date', 'desc'), ('desc', 'asc'))
    """
    words = term.strip().rsplit(maxsplit=1)
    if len(words) == 2 and words[1].lower() == "desc":
        return words[0], "desc"
    if len(words) == 2 and words[1].lower() == "asc":
        return words[0], "asc"
    return term.strip(), "asc"


_KEEP = word_or(
    OrderSpec, "any", "all", law="any, all or a mapping with order_by",
    remedy="as in {order_by: [visit_date desc]}",
)  # fmt: skip


class UnitSpec(Document):
    """The privacy unit of a source, by a column: a person's key, or a key of rows."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["key", "keep"]}, {"required": ["row_key"]}]}
    )

    key: fields.OptionalLineField = None
    """The column that names the person, who may have many rows: one is kept."""
    row_key: fields.OptionalLineField = None
    """The column that names the row, where one row is one person: it is unique."""
    keep: Annotated[Literal["any", "all"] | OrderSpec | None, _KEEP] = None
    """Which of the person's rows is kept: the first in an order, or `any`, drawn by a keyed
    hash. `all` counts a person in the groups of all rows, at most `contribution.groups`."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """One of the two keys; of rows that are people none is chosen."""
        if "key" in data and "row_key" in data:
            remedy = "keep key where a person may have many rows, else row_key"
            yield refusal("must not stand beside key", remedy, at=("row_key",), on_key=True)
        elif "key" not in data and "row_key" not in data:
            remedy = "as in {key: person_id, keep: any}"
            yield refusal("must have key or row_key, found neither", remedy)
        elif "row_key" in data and "keep" in data:
            remedy = "name the person's column with key"
            yield refusal("chooses among a person's rows", remedy, at=("keep",), on_key=True)
        elif "key" in data and "keep" not in data:
            remedy = (
                "write keep: any, which draws one, or keep: {order_by: [column desc]}; or row_key"
                " instead of key, where no two rows have the same; or keep: all with"
                " contribution, to count a person in several groups"
            )
            yield refusal("must say which of a person's rows is kept", remedy)
        yield from _ordered_by_key(data)


def _ordered_by_key(unit: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law that an order tells a person's rows apart: else the least of them speaks for all."""
    key, terms = unit.get("key"), inside(unit, "keep", "order_by")
    terms = terms if isinstance(terms, list) else ()
    named = [order_term(term)[0] for term in terms if isinstance(term, str)]
    if isinstance(key, str) and {name.casefold() for name in named} == {key.casefold()}:
        yield refusal(
            f"orders a person's rows by {show(key)}, their key, in which all of them are the same",
            "order by another column, as in [visit_date desc], or write keep: any, which draws one",
            at=("keep", "order_by"),
        )


UNIT = word_or(
    UnitSpec, "row", law="row or a mapping with key", remedy="as in {key: person_id, keep: any}"
)


KEY_AS_IT_STANDS = "must be left out, for it is the unit's key, which is compared as it stands"
CONVERT_A_KEY = "convert it in the source, or leave it out of source.columns"


def _keys_of(unit: Mapping[str, Any]) -> set[str]:
    return {str(unit[name]).casefold() for name in ("key", "row_key") if name in unit}


def _typed_key(
    unit: Mapping[str, Any], columns: Mapping[str, Any]
) -> Iterable[PydanticCustomError]:
    """The law that a key has no other type than in the source: 7 and 007 would stay two people."""
    for column, kind in columns.items():
        if str(column).casefold() in _keys_of(unit) and kind != "text":
            wrong = f"{KEY_AS_IT_STANDS}, found {show(kind)}"
            yield refusal(wrong, CONVERT_A_KEY, at=("columns", column))
