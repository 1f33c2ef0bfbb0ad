"""`search:`, what is chosen among the recodings of a policy, and at which price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

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
from policy_engine.policy.recodings import Keep, Recoding

NOTHING = "*"
"""The one label of the last level of every column."""
_WEIGHT = fields.number("of at least 0", minimum=0)
_LEVELS = fields.a_mapping("column: level", minProperties=1)
_LEVEL = fields.integer(0, 1000)


class SearchSpec(Document):
    """The schemes among which one is chosen: a level for each column, for the whole release."""

    epsilon: fields.OptionalStepField = None
    """ε of the choice, which the account pays beside the release; `search --public` needs none."""
    weights: Annotated[
        dict[str, Annotated[Decimal, _WEIGHT]],
        fields.a_mapping("column: number", minProperties=1),
    ] = fields.EMPTY
    """How much a step of a column counts; 1 where none is written."""
    at_least: Annotated[dict[str, Annotated[int, _LEVEL]], _LEVELS] = fields.EMPTY
    """The finest level of a column that is a candidate; 0 is the value itself."""
    at_most: Annotated[dict[str, Annotated[int, _LEVEL]], _LEVELS] = fields.EMPTY
    """The coarsest level of a column that is a candidate."""


def search_laws(data: Data) -> Broken:
    """The law that a search is of released columns."""
    recode = mapping(data.get("recode"))
    for key, named in mapping(data.get("search")).items():
        for column in mapping(named):
            if column not in recode:
                wrong = "is no released column"
                at = ("search", key, column)
                yield refusal(wrong, suggestion(column, map(str, recode)), at=at, on_key=True)


@dataclass(frozen=True)
class ColumnLevels:
    """What a column may be: its recodings, the finest first, and how each is written.

    One level more than these is nothing at all, the label ``NOTHING``. ``first`` is the finest that
    is a candidate unless the policy says otherwise.
    """

    column: str
    recodings: tuple[Recoding, ...]
    written: tuple[object, ...]
    first: int = 0

    @property
    def height(self) -> int:
        """The number of its last level."""
        return len(self.recodings)

    def at(self, level: int) -> object:
        """How a level is written in a policy."""
        return {"constant": NOTHING} if level == self.height else self.written[level]


def levels_of(column: str, spec: Recode, hierarchy: Hierarchy | None) -> ColumnLevels | None:
    """What a column may be, by its entry in ``recode``; None of a constant, which says nothing.

    Told by the policy and its hierarchies alone. Of a hierarchy whose last level is one label, that
    one is the label of nothing at all. Of a column with one plain recoding the value itself is
    level 0, and no candidate unless ``at_least`` says so.

    >>> levels_of("sex", "keep", None).height
    1
    """
    if spec == "keep":
        return ColumnLevels(column, (Keep(),), ("keep",))
    missing = getattr(spec, "missing", None)
    label = {} if missing is None else {"missing": missing}
    itself: object = label or "keep"
    is_named = missing is not None
    match spec:
        case ConstantSpec():
            return None
        case KeptSpec():
            return ColumnLevels(column, (Keep(),), (itself,))
        case HierarchySpec():
            assert hierarchy is not None  # it was read with the policy
            told = {"hierarchy": spec.hierarchy}
            other = {} if spec.other == "other" else {"other": spec.other}
            last = hierarchy.height - 1 if hierarchy.has_root else hierarchy.height
            levels = range(1, last + 1)
            steps = tuple(spec.model_copy(update={"level": n}).recoding(hierarchy) for n in levels)
            written = tuple({**told, "level": n, **other, **label} for n in levels)
        case LevelsSpec():
            steps = tuple(step.recoding(None) for step in spec.levels)
            listed = [step.model_dump(exclude_defaults=True) for step in spec.levels]
            written = tuple(
                {"levels": listed, "level": n, **label} for n in range(1, len(listed) + 1)
            )
        case _:
            steps = (spec.recoding(None),)
            written = (spec.model_dump(exclude_defaults=True),)
            is_named = True
    return ColumnLevels(column, (Keep(), *steps), (itself, *written), first=1 if is_named else 0)


def all_levels(
    recode: Mapping[str, Recode], hierarchies: Mapping[str, Hierarchy]
) -> tuple[ColumnLevels, ...]:
    """What each released column may be, in their order.

    >>> [found] = all_levels({"sex": "keep", "all": ConstantSpec(constant="x")}, {})
    >>> found.column, found.at(1)
    ('sex', {'constant': '*'})
    """
    found = (levels_of(name, spec, hierarchies.get(name)) for name, spec in recode.items())
    return tuple(each for each in found if each is not None)
