"""The types of fields: a Python type, its law, and what the JSON Schema says of it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Annotated, Literal, get_args

from policy_engine.policy import laws
from policy_engine.policy.laws import Ruled
from policy_engine.policy.recodings import Cut, TruncateUnit

ColumnType = Literal["integer", "double", "text", "boolean", "date", "timestamp"]
Neighbours = Literal["add_remove", "replace_one"]
Mechanism = Literal["sampled_suppression", "noisy_counts", "randomised_response", "ab_insertion"]
NoiseLaw = Literal["auto", "truncated_laplace", "discrete_gaussian", "place"]
Method = Literal["keyed", "native"]
Form = Literal["counts", "rows"]
Grouping = Literal["auto", "raw_first", "recoded"]
Goal = Literal["people", "groups"]

MOST_GROUPS = 1_000_000

_TEXT = {"type": "string", "maxLength": laws.MOST_TEXT}
_LINE = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000-\u001f]*$"}
_NAME = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9_.\-]{0,99}$"}
_LABEL = {"type": ["string", "integer"]}
_CUT = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"},
    ]
}


def integer(
    least: int, most: int = laws.MAX_INTEGER, *, auto: bool = False, remedy: str = ""
) -> Ruled:
    """The law of an integer between two, or of `auto`."""
    law = laws.integer(least, most=most, auto=auto, remedy=remedy)
    return _or_auto(law, {"type": "integer", "minimum": least, "maximum": most}, auto=auto)


def number(law: str, *, auto: bool = False, remedy: str = "", **bounds: int) -> Ruled:
    """The law of a number within bounds, by the names that JSON Schema has for them; or `auto`."""

    def holds(found: Decimal) -> bool:
        return all(_WITHIN[name](found, bound) for name, bound in bounds.items())

    law_of = laws.number(law, holds, auto=auto, remedy=remedy)
    return _or_auto(law_of, {"type": "number", **bounds}, auto=auto)


_WITHIN = {"minimum": ge, "exclusiveMinimum": gt, "maximum": le, "exclusiveMaximum": lt}


def _or_auto(law: laws.Law, schema: dict[str, object], *, auto: bool) -> Ruled:
    return Ruled(law, {"anyOf": [schema, {"const": "auto"}]} if auto else schema)


def word(*words: str) -> Ruled:
    """The law of one of some words."""
    return Ruled(laws.one_of(*words), {"enum": list(words)})


VersionField = Annotated[Literal[1], Ruled(laws.version, {"const": 1})]
NameField = Annotated[str, Ruled(laws.name, _NAME)]
OptionalNameField = Annotated[str | None, Ruled(laws.name, _NAME)]
TextField = Annotated[str, Ruled(laws.text, _TEXT)]
LineField = Annotated[str, Ruled(laws.line, _LINE)]
OptionalLineField = Annotated[str | None, Ruled(laws.line, _LINE)]
PathField = Annotated[str, Ruled(laws.path, _LINE)]
OptionalPathField = Annotated[str | None, Ruled(laws.path, _LINE)]
OptionalSizeField = Annotated[
    str | None, Ruled(laws.size, {"type": "string", "pattern": r"^[1-9][0-9]{0,5}(MB|GB|TB)$"})
]
LabelField = Annotated[str, Ruled(laws.label, _LABEL)]
LabelOrNullField = Annotated[
    str | None, Ruled(laws.label_or_null, {"type": ["string", "integer", "null"]})
]
CutField = Annotated[Cut, Ruled(laws.cut, _CUT)]
OptionalCutField = Annotated[Cut | None, Ruled(laws.cut, _CUT)]
ColumnTypeField = Annotated[ColumnType, word(*get_args(ColumnType))]
TruncateField = Annotated[TruncateUnit, word(*get_args(TruncateUnit))]
FlagField = Annotated[bool, Ruled(laws.flag, {"type": "boolean"})]
MechanismField = Annotated[Mechanism | None, word(*get_args(Mechanism))]
LawField = Annotated[NoiseLaw, word(*get_args(NoiseLaw))]
MethodField = Annotated[Method, word("keyed", "native")]
NeighboursField = Annotated[Neighbours, word("add_remove", "replace_one")]
OptionalViewField = Annotated[Literal["rowwise"] | None, word("rowwise")]
FormField = Annotated[Form, word("counts", "rows")]
GoalField = Annotated[Goal, word("people", "groups")]
GroupingField = Annotated[Grouping, word("auto", "raw_first", "recoded")]
LevelField = Annotated[int, integer(1, remedy="level 0 is the value itself: use keep")]
LengthField = Annotated[int, integer(1)]
PositiveField = Annotated[int, integer(1)]
ContributionField = Annotated[int, integer(1, 100)]
OptionalPositiveField = Annotated[int | None, integer(1)]
OptionalDayField = Annotated[date | None, Ruled(laws.day, {"type": "string", "format": "date"})]
OptionalGroupsField = Annotated[int | None, integer(1, MOST_GROUPS)]
ExponentField = Annotated[Decimal, number("from 0 to 10", minimum=0, maximum=10)]
_ABOVE_0 = number("above 0", exclusiveMinimum=0)
_SHARE = number("above 0 and below 1", exclusiveMinimum=0, exclusiveMaximum=1)
StepField = Annotated[Decimal, _ABOVE_0]
OptionalStepField = Annotated[Decimal | None, _ABOVE_0]
EndField = Annotated[
    Decimal,
    Ruled(laws.number("of at most 15 digits", lambda n: abs(n) < 10**15), {"type": "number"}),
]
ShareField = Annotated[Decimal, _SHARE]
OptionalKField = Annotated[
    int | Literal["auto"] | None,
    integer(2, auto=True, remedy="write k: auto; noisy_counts needs none"),
]
_NO_SAMPLE = "without sampling there is no guarantee"
RateField = Annotated[
    Decimal | Literal["auto"],
    number("above 0 and below 1", auto=True, remedy=_NO_SAMPLE, exclusiveMinimum=0,
           exclusiveMaximum=1),
]  # fmt: skip
SampledAtField = Annotated[Decimal, number("above 0 and at most 1", exclusiveMinimum=0, maximum=1)]
EpsilonField = Annotated[Decimal, _ABOVE_0]
DeltaField = Annotated[Decimal, number("above 0 and below 1", minimum=0, exclusiveMaximum=1)]
OptionalEpsilonField = Annotated[Decimal | None, _ABOVE_0]
OptionalDeltaField = Annotated[Decimal | None, _SHARE]
