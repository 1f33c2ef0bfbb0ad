"""`auto:` as it is written: what a pair of k and rate is chosen for, under a public prior."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from policy_engine.policy import fields, laws
from policy_engine.policy.documents import Document
from policy_engine.policy.laws import barred, mapping, refusal
from policy_engine.policy.scalars import show

if TYPE_CHECKING:
    from policy_engine.accounting.prior import Prior

_SIZE = r"[1-9][0-9]{0,8}|1000000000"
_ZIPF = ("people", "groups", "exponent")


class PriorSpec(Document):
    """What is believed of the sizes of the source's groups, from public knowledge."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["sizes"]}, {"required": ["people", "groups"]}]}
    )

    sizes: Annotated[
        dict[str, fields.PositiveField], BeforeValidator(laws.a_mapping("size: number of groups"))
    ] = Field(
        default_factory=dict,
        json_schema_extra={"minProperties": 1, "propertyNames": {"pattern": f"^({_SIZE})$"}},
    )
    """So many groups of each size, as in {5000: 3, 800: 20}; the size is in people."""
    people: fields.OptionalPositiveField = None
    """How many people the source has, about; with `groups`."""
    groups: fields.OptionalGroupsField = None
    """How many groups they are in, about; with `people`."""
    exponent: fields.ExponentField = Decimal(1)
    """The i-th largest group has a size in proportion to 1/i to this power; 0 is all alike."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """One of the two forms, whole; sizes that are some; groups that can be filled."""
        zipf = [key for key in _ZIPF if key in data]
        if "sizes" in data:
            yield from barred(data, zipf, "must not stand beside sizes", "keep one of them")
            yield from _sizes(data["sizes"])
        elif not zipf:
            yield refusal("must have sizes, or people and groups, found neither", on_key=True)
        else:
            for key in ("people", "groups"):
                if key not in data:
                    yield refusal("is missing", at=(key,))
        people, groups = data.get("people"), data.get("groups")
        if isinstance(people, int) and isinstance(groups, int) and 0 < people < groups:
            law = f"must be at least {show(groups)}, the number of groups, found {show(people)}"
            yield refusal(law, "a group has at least one person", at=("people",))

    def prior(self) -> Prior:
        """The belief as the accounting takes it.

        >>> PriorSpec(sizes={"800": 20}).prior()
        Prior(sizes=((800, 20),))
        """
        from policy_engine.accounting.prior import Prior

        if self.people is None or self.groups is None:
            return Prior.of_sizes({int(size): number for size, number in self.sizes.items()})
        return Prior.zipf(self.people, self.groups, self.exponent)


def _sizes(data: object) -> Iterable[PydanticCustomError]:
    """The law of the keys of ``sizes``."""
    for size in mapping(data):
        if not re.fullmatch(_SIZE, str(size)):
            wrong = f"is no size: a size must be an integer from 1 to {laws.MAX_INTEGER}"
            yield refusal(wrong, at=("sizes", size), on_key=True)


class AutoSpec(Document):
    """How k and the rate are chosen where both are `auto`: never by looking at the data."""

    maximise: fields.GoalField
    """What most is expected to be released of: `people`, or `groups`."""
    prior: PriorSpec
    """What is believed of the sizes of the groups, from public knowledge."""


def chooses(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law of a policy's `auto`: there must be something to choose."""
    if "auto" not in data:
        return
    if data["auto"] is None:
        yield refusal("must be a mapping, found null", at=("auto",))
    rate = mapping(data.get("sample")).get("rate", "auto")
    written = {"k": data.get("k", "auto"), "sample.rate": rate}
    given = [key for key, value in written.items() if value != "auto"]
    if given:
        wrong = f"chooses k and sample.rate together, but {' and '.join(given)}"
        verb = "is given" if len(given) == 1 else "are given"
        remedy = "write auto for both, or remove this key"
        yield refusal(f"{wrong} {verb}", remedy, at=("auto",), on_key=True)
