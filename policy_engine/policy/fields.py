"""The types of fields: a Python type, its law, and what the JSON Schema says of it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
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
COLUMN_TYPES = ("integer", "double", "text", "boolean", "date", "timestamp")
TRUNCATE_UNITS = ("year", "quarter", "month", "week", "day", "hour")

_TEXT = {"type": "string", "maxLength": laws.MOST_TEXT}
_LINE = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000-\u001f]*$"}
_NAME = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9_.\-]{0,99}$"}
_LABEL = {"type": ["string", "integer"]}
_AUTO = {"const": "auto"}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_OPEN_UNIT = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_CUT = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"},
    ]
}


def count(least: int, most: int = laws.MAX_INTEGER) -> dict[str, object]:
    """The JSON Schema of an integer between two."""
    return {"type": "integer", "minimum": least, "maximum": most}


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
ColumnTypeField = Annotated[ColumnType, word(*COLUMN_TYPES)]
TruncateField = Annotated[TruncateUnit, word(*TRUNCATE_UNITS)]
FlagField = Annotated[bool, Ruled(laws.flag, {"type": "boolean"})]
MechanismField = Annotated[Mechanism | None, word(*get_args(Mechanism))]
LawField = Annotated[NoiseLaw, word(*get_args(NoiseLaw))]
MethodField = Annotated[Method, word("keyed", "native")]
NeighboursField = Annotated[Neighbours, word("add_remove", "replace_one")]
OptionalViewField = Annotated[Literal["rowwise"] | None, word("rowwise")]
FormField = Annotated[Form, word("counts", "rows")]
GoalField = Annotated[Goal, word("people", "groups")]
GroupingField = Annotated[Grouping, word("auto", "raw_first", "recoded")]
_LEVEL = laws.integer(1, remedy="level 0 is the value itself: use keep")
LevelField = Annotated[int, Ruled(_LEVEL, count(1))]
LengthField = Annotated[int, Ruled(laws.integer(1), count(1))]
PositiveField = Annotated[int, Ruled(laws.integer(1), count(1))]
ContributionField = Annotated[int, Ruled(laws.integer(1, most=100), count(1, 100))]
OptionalPositiveField = Annotated[int | None, Ruled(laws.integer(1), count(1))]
OptionalDayField = Annotated[date | None, Ruled(laws.day, {"type": "string", "format": "date"})]
OptionalGroupsField = Annotated[
    int | None, Ruled(laws.integer(1, most=MOST_GROUPS), count(1, MOST_GROUPS))
]
ExponentField = Annotated[
    Decimal,
    Ruled(
        laws.number("from 0 to 10", lambda n: 0 <= n <= 10),
        {"type": "number", "minimum": 0, "maximum": 10},
    ),
]
_ABOVE_0 = Ruled(laws.number("above 0", lambda n: n > 0), _POSITIVE)
_SHARE = Ruled(laws.number("above 0 and below 1", lambda n: 0 < n < 1), _OPEN_UNIT)
StepField = Annotated[Decimal, _ABOVE_0]
EndField = Annotated[
    Decimal,
    Ruled(laws.number("of at most 15 digits", lambda n: abs(n) < 10**15), {"type": "number"}),
]
ShareField = Annotated[Decimal, _SHARE]
OptionalKField = Annotated[
    int | Literal["auto"] | None,
    Ruled(
        laws.integer(2, auto=True, remedy="write k: auto; noisy_counts needs none"),
        {"anyOf": [count(2), _AUTO]},
    ),
]
RateField = Annotated[
    Decimal | Literal["auto"],
    Ruled(
        laws.number(
            "above 0 and below 1",
            lambda n: 0 < n < 1,
            auto=True,
            remedy="without sampling there is no guarantee",
        ),
        {"anyOf": [_OPEN_UNIT, _AUTO]},
    ),
]
SampledAtField = Annotated[
    Decimal,
    Ruled(
        laws.number("above 0 and at most 1", lambda n: 0 < n <= 1),
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    ),
]
EpsilonField = Annotated[Decimal, _ABOVE_0]
DeltaField = Annotated[
    Decimal,
    Ruled(
        laws.number("above 0 and below 1", lambda n: 0 <= n < 1),
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    ),
]
OptionalEpsilonField = Annotated[Decimal | None, _ABOVE_0]
OptionalDeltaField = Annotated[Decimal | None, _SHARE]
