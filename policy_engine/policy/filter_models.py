"""Who is released at all: `filter`, conditions of the values that stand in the source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from policy_engine.policy import fields, laws
from policy_engine.policy.documents import Document
from policy_engine.policy.laws import refusal
from policy_engine.policy.recode_models import cut_text

_SOMETHING: JsonDict = {"anyOf": [{"required": [key]} for key in ("in", "at_least", "below")]}


class FilterSpec(Document):
    """What a column must hold: one of some values, or a number or a time in a range."""

    model_config = ConfigDict(json_schema_extra=_SOMETHING)

    members: Annotated[
        tuple[fields.LabelField, ...], BeforeValidator(laws.a_list("values", "as in [US, CA]"))
    ] = Field(default=(), alias="in", json_schema_extra={"minItems": 1})
    """The values that are released, as they stand in the source."""
    at_least: fields.OptionalCutField = None
    """The least number, date or timestamp that is released."""
    below: fields.OptionalCutField = None
    """The first that is released no more."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Values or a range, and a range that holds something."""
        ends = [key for key in ("at_least", "below") if key in data]
        if "in" in data and ends:
            yield refusal("must not stand beside in", "keep one", at=(ends[0],), on_key=True)
        elif "in" not in data and not ends:
            yield refusal("must have in, at_least or below", "as in {in: [US]} or {at_least: 18}")
        with suppress(KeyError, PydanticCustomError, TypeError):  # other laws say so
            least, end = (laws.cut(data[key]) for key in ("at_least", "below"))
            if end <= least:  # type: ignore[operator]  # of two kinds: no column has both
                wanted = f"must be greater than at_least, {cut_text(least)}, found {cut_text(end)}"
                yield refusal(wanted, at=("below",))
