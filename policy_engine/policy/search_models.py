"""`search:`, what is chosen among the recodings of a policy, and at which price."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from policy_engine.kernel.recodes import Keep
from policy_engine.policy import fields
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.laws import Broken, Data, Document, mapping, refusal, suggestion
from policy_engine.policy.recode_models import (
    ConstantSpec,
    HierarchySpec,
    KeptSpec,
    LevelsSpec,
    Recode,
)
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.scalars import as_told
from policy_engine.values import frozen

NOTHING = "*"
"""The one label of the last level of every column."""
_WEIGHT = fields.number("of at least 0", minimum=0)
_LEVELS = fields.a_mapping("column: level", minProperties=1)
_LEVEL = fields.integer(0, 1000)


class SearchSpec(Document):
    """The candidates of a search. A candidate has one level for each column."""

    epsilon: fields.OptionalStepField = None
    """ε of the choice. The account pays it in addition to the release. `search --public` needs
    none.
    """
    precision: fields.OptionalShareField = None
    """The least precision of a candidate. Precision is 1 if nothing is recoded, and 0 if nothing is
    left. With this key, the search chooses the candidate that shows most people. Without it, the
    search chooses the greatest product of people shown and precision.
    """
    weights: Annotated[
        dict[str, Annotated[Decimal, _WEIGHT]],
        fields.a_mapping("column: number", minProperties=1),
    ] = fields.EMPTY
    """How much one step of a column counts in the precision. The default is 1."""
    at_least: Annotated[dict[str, Annotated[int, _LEVEL]], _LEVELS] = fields.EMPTY
    """The finest level of a column that may be chosen. 0 is the value itself."""
    at_most: Annotated[dict[str, Annotated[int, _LEVEL]], _LEVELS] = fields.EMPTY
    """The coarsest level of a column that may be chosen."""


def search_laws(data: Data) -> Broken:
    """The law that a search is of released columns."""
    recode = mapping(data.get("recode"))
    for key, named in mapping(data.get("search")).items():
        for column in mapping(named):
            if column not in recode:
                wrong = "is no released column"
                at = ("search", key, column)
                yield refusal(wrong, suggestion(column, map(str, recode)), at=at, on_key=True)


@frozen
class ColumnLevels:
    """What a column may be: its recodings, the finest first, which is the value itself.

    One level more than these is nothing at all, the label ``NOTHING``. ``first`` is the finest that
    is a candidate unless the policy says otherwise. ``label`` stands for a missing value.
    """

    column: str
    recodings: tuple[Recoding, ...]
    has_levels: bool = False
    first: int = 0
    label: str | None = None

    @property
    def height(self) -> int:
        """The number of its last level."""
        return len(self.recodings)

    def at(self, level: int, written: object) -> object:
        """How a level is written in a policy, where the column's entry is ``written`` there."""
        if level == self.height:
            return {"constant": NOTHING}
        if level == 0:
            return "keep" if self.label is None else {"missing": self.label}
        return {**mapping(written), "level": level} if self.has_levels else written


def levels_of(column: str, spec: Recode, hierarchy: Hierarchy | None) -> ColumnLevels | None:
    """What a column may be, by its entry in ``recode``; None of a constant, which says nothing.

    Told by the policy and its hierarchies alone. Of a hierarchy whose last level is one label, that
    one is the label of nothing at all. The value itself is no candidate unless ``at_least`` says so
    where the column has one plain recoding, or a label for what is missing, which a number lacks.

    >>> levels_of("sex", "keep", None).height
    1
    """
    label = getattr(spec, "missing", None)
    match spec:
        case "keep":
            return ColumnLevels(column, (Keep(),))
        case ConstantSpec():
            return None
        case KeptSpec():
            return ColumnLevels(column, (Keep(),), label=label)
        case HierarchySpec():
            assert hierarchy is not None  # it was read with the policy
            last = hierarchy.height - 1 if hierarchy.has_root else hierarchy.height
            levels = (spec.model_copy(update={"level": n}) for n in range(1, last + 1))
            steps = tuple(each.recoding(hierarchy) for each in levels)
            first = 0 if label is None else 1
            return ColumnLevels(column, (Keep(), *steps), True, min(first, len(steps)), label)
        case LevelsSpec():
            steps = tuple(step.recoding(None) for step in spec.levels)
            return ColumnLevels(column, (Keep(), *steps), True, 0 if label is None else 1, label)
    return ColumnLevels(column, (Keep(), spec.recoding(None)), first=1, label=label)


def level_words(recoding: object) -> str:
    """A chosen level as people call it, of how a policy writes it.

    >>> level_words({"levels": [{"truncate": "month"}, {"bins": [1, 2]}], "level": 1})
    'month'
    >>> level_words("keep"), level_words({"hierarchy": "zip.csv", "level": 2})
    ('keep', 'level 2 of zip.csv')
    """
    data = mapping(recoding)
    if steps := data.get("levels"):
        return level_words(steps[data["level"] - 1])
    if "hierarchy" in data:
        return f"level {data['level']} of {data['hierarchy']}"
    told = {name: value for name, value in data.items() if name not in {"way", "missing", "other"}}
    for name, value in told.items():
        if name in {"truncate", "constant"}:
            return str(value)
        if name in {"bins", "round", "prefix"}:
            return f"{name} {as_told(value)}"
    return next(iter(told), "keep")


def all_levels(
    recode: Mapping[str, Recode], hierarchies: Mapping[str, Hierarchy]
) -> tuple[ColumnLevels, ...]:
    """What each released column may be, in their order.

    >>> [found] = all_levels({"sex": "keep", "all": ConstantSpec(constant="x")}, {})
    >>> found.column, found.at(1, "keep")
    ('sex', {'constant': '*'})
    """
    found = (levels_of(name, spec, hierarchies.get(name)) for name, spec in recode.items())
    return tuple(each for each in found if each is not None)
