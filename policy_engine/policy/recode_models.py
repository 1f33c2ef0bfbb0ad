"""The recodings and conditions of columns of a policy file, as they are written."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from policy_engine.base_errors import InternalError
from policy_engine.kernel.recodes import Bins, Constant, Keep, Prefix, Round, Truncate
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.recodes.round.recode import Way
from policy_engine.kernel.recodes.truncate.recode import Unit
from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, Document, Law, refusal, suggestion
from policy_engine.policy.recodings import CutPoint, Recoding, mapped
from policy_engine.policy.scalars import show

if TYPE_CHECKING:
    from policy_engine.policy.hierarchy import Hierarchy

_WRITE_CUTS = "cuts are fixed before the data is looked at: write them out, as in [18, 30, 45]"


class BinsSpec(Document):
    """Intervals of numbers or times. A value that equals a cut belongs to the interval above it."""

    bins: Annotated[
        tuple[Annotated[CutPoint, fields.cut], ...],
        fields.a_list("numbers, dates or timestamps", _WRITE_CUTS, minItems=1),
    ]
    """The cuts, in rising order. The first interval is everything below the first cut. The last
    interval is everything from the last cut on.
    """
    labels: Annotated[tuple[fields.LabelField, ...], fields.a_list("texts", minItems=2)] = ()
    """A name for each interval: one name more than there are cuts."""
    missing: fields.OptionalLabelField = None
    """The text that is shown for empty values, and for all other values that become NULL."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """Cuts of one kind that ascend; labels that fit and differ."""
        cuts = _valid(data.get("bins"), fields.cut)
        for index, (low, high) in enumerate(pairwise(cuts), start=1):
            kind = fields.kind_of_cut(low)
            if fields.kind_of_cut(high) != kind:
                yield refusal(f"must be one of {kind} like the cuts before", at=("bins", index))
                break
            if high <= low:
                wanted = f"must be greater than the cut before it, {cut_text(low)}"
                yield refusal(f"{wanted}, found {cut_text(high)}", at=("bins", index))
        labels = _valid(data.get("labels"), fields.label)
        if labels and cuts and len(labels) != len(cuts) + 1:
            wanted = f"must be {len(cuts) + 1} labels, one more than the cuts"
            yield refusal(f"{wanted}, found {len(labels)}", at=("labels",), on_key=True)
        seen: set[str] = set()
        for index, label in enumerate(labels):
            if label in seen:
                yield refusal(f"is {show(label)} a second time", at=("labels", index))
            seen.add(label)

    def names(self) -> tuple[str, ...]:
        """The labels, written or default.

        >>> BinsSpec(bins=[18, Decimal("30.0")]).names()
        ('<18', '[18,30.0)', '>=30.0')
        """
        edges = [cut_text(edge) for edge in self.bins]
        between = (f"[{low},{high})" for low, high in pairwise(edges))
        return self.labels or (f"<{edges[0]}", *between, f">={edges[-1]}")

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Bins(self.bins, self.names())


def cut_text(edge: CutPoint) -> str:
    """A cut as its user reads it: decimal text without an exponent, ISO 8601 dates.

    >>> cut_text(Decimal("1.50")), cut_text(Decimal("1E+3"))
    ('1.50', '1000')
    """
    return f"{edge:f}" if isinstance(edge, Decimal) else edge.isoformat()


def _valid(values: object, law: Law) -> list[Any]:
    """The items of a list by their law; nothing where one breaks it."""
    with suppress(PydanticCustomError):
        return [law(value) for value in values] if isinstance(values, list) else []
    return []


class HierarchySpec(Document):
    """One level of a public hierarchy, which is a CSV file."""

    hierarchy: Annotated[str, fields.path]
    """The file, relative to the policy file. Each line is `value;level 1;level 2…`, without a
    heading.
    """
    level: Annotated[int, fields.integer(1, remedy="level 0 is the value itself: use keep")]
    """The level that is released. 1 is the column after the value."""
    other: fields.LabelOrNullField = "other"
    """The label of a value that is not in the file."""
    missing: fields.OptionalLabelField = None
    """The text that is shown for empty values, and for all other values that become NULL."""

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        if hierarchy is None:
            raise InternalError(f"the hierarchy {self.hierarchy} was not read")
        return mapped(hierarchy.table(self.level), self.other)


class MapSpec(Document):
    """A label for each value of a list."""

    needs = ("other", "name what stands for every other value, or write other: null")

    map: Annotated[
        dict[str, fields.LabelOrNullField], fields.a_mapping("value: label", minProperties=1)
    ]
    """The label of each value. Several values may have the same label."""
    other: fields.LabelOrNullField
    """The label of a value that is not in the map. `null` means NULL."""
    missing: fields.OptionalLabelField = None
    """The text that is shown for empty values, and for all other values that become NULL."""

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return mapped(sorted(self.map.items(), key=lambda pair: pair[0]), self.other)


class PrefixSpec(Document):
    """The first characters of a text."""

    prefix: fields.PositiveField
    """The number of characters."""
    missing: fields.OptionalLabelField = None
    """The text that is shown for empty values, and for all other values that become NULL."""

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Prefix(self.prefix)


class TruncateSpec(Document):
    """The start of the year, quarter, month, day or hour. For a week, its name, such as
    2026-W48.
    """

    truncate: Annotated[Unit, fields.word_of(Unit)]
    """The unit of time. Weeks are ISO 8601 weeks. A time with a zone is first converted to the
    project's zone.
    """

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Truncate(self.truncate)


class RoundSpec(Document):
    """A multiple of a number."""

    round: fields.StepField
    """The number, above 0."""
    way: Annotated[Way, fields.word_of(Way)] = "nearest"
    """`nearest`: the nearest multiple, and half a step away from zero. `down`: the greatest
    multiple that is not above the value. `zero`: towards zero.
    """

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Round(self.round, self.way)


class KeptSpec(Document):
    """The value itself, and a text if there is no value."""

    missing: fields.LabelField
    """The text that is shown for an empty value."""

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Keep()


class ConstantSpec(Document):
    """The same text for every row."""

    constant: fields.LabelField
    """The text."""

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return Constant(self.constant)


def _step(found: object) -> object:
    """One level of a ladder: the model of the one recoding that a mapping names."""
    if isinstance(found, Document):
        return found
    named = [key for key in found if key in STEPS] if isinstance(found, dict) else []
    if isinstance(found, dict) and len(named) == 1:
        if "missing" in found:
            raise refusal(
                "is of the column", "write it beside levels", at=("missing",), on_key=True
            )
        return STEPS[named[0]].model_validate(found)
    wrong = f"must be a mapping with one of {', '.join(STEPS)}, found {show(found)}"
    raise refusal(
        wrong, "the value itself is level 0, and nothing at all the last: neither stands here"
    )


class LevelsSpec(Document):
    """One of several recodings. Each recoding is coarser than the one before."""

    needs = ("level", "write level: 1 for the first of them")

    levels: Annotated[
        tuple[
            Annotated[
                BinsSpec | MapSpec | PrefixSpec | TruncateSpec | RoundSpec, BeforeValidator(_step)
            ],
            ...,
        ],
        fields.a_list("recodings", "as in [{prefix: 3}, {prefix: 1}]", minItems=1),
    ]
    """The recodings, the finest first. Level 0 is the value itself."""
    level: fields.PositiveField
    """The level that is released. 1 is the first recoding of the list."""
    missing: fields.OptionalLabelField = None
    """The text that is shown for empty values, and for all other values that become NULL."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """A level that is there; each coarser than the one before."""
        levels, level = data.get("levels"), data.get("level")
        if not isinstance(levels, list):
            return
        if fields.is_integer(level) and level is not None and level > len(levels):
            law = f"must be at most {len(levels)}, the last of levels, found {level}"
            yield refusal(law, at=("level",))
        with suppress(ValidationError, PydanticCustomError):  # their own laws say so
            steps = [_step(each).recoding(None) for each in levels]  # type: ignore[attr-defined]
            for at, (fine, coarse) in enumerate(pairwise(steps), start=1):
                if reason := recode_meaning(fine).why_parted(coarse):
                    law = f"must be coarser than the level before it: {reason}"
                    yield refusal(law, at=("levels", at))

    def recoding(self, hierarchy: Hierarchy | None) -> Recoding:
        """What it means."""
        return self.levels[self.level - 1].recoding(None)


Mapped = (
    BinsSpec
    | HierarchySpec
    | MapSpec
    | PrefixSpec
    | TruncateSpec
    | RoundSpec
    | ConstantSpec
    | KeptSpec
    | LevelsSpec
)

STEPS: dict[str, type[BinsSpec | MapSpec | PrefixSpec | TruncateSpec | RoundSpec]] = {
    "bins": BinsSpec,
    "map": MapSpec,
    "prefix": PrefixSpec,
    "truncate": TruncateSpec,
    "round": RoundSpec,
}

KINDS: dict[str, type[Mapped]] = {
    "bins": BinsSpec,
    "hierarchy": HierarchySpec,
    "map": MapSpec,
    "prefix": PrefixSpec,
    "truncate": TruncateSpec,
    "round": RoundSpec,
    "constant": ConstantSpec,
    "levels": LevelsSpec,
}


def _recode(found: object) -> object:
    """`keep`, or the model of the one recoding that a mapping names."""
    if found == "keep" or isinstance(found, Document):
        return found
    if not isinstance(found, dict) or not found:
        shown = "an empty mapping" if found == {} else show(found)
        wrong = f"must be keep or a mapping with one recoding, found {shown}"
        raise refusal(wrong, f"the recodings are {', '.join(('keep', *KINDS))}")
    named = [key for key in found if key in KINDS]
    if len(named) == 1:
        return KINDS[named[0]].model_validate(found)
    if named:
        wrong = f"is a second recoding beside {named[0]}"
        raise refusal(wrong, "a column has exactly one", at=(named[1],), on_key=True)
    if "missing" in found:
        return KeptSpec.model_validate(found)
    first = next(iter(found))
    meant = suggestion(first, KINDS)
    if first == "keep":
        meant = "write keep alone, without a mapping"
    elif "quantile" in first.lower():
        meant = _WRITE_CUTS.replace("cuts are", "a recoding is").replace("write them", "write bins")
    raise refusal("is an unknown recoding", meant, at=(first,), on_key=True)


Recode = Annotated[Literal["keep"] | Mapped, BeforeValidator(_recode)]
"""A column's recoding."""


_CONDITIONS = ("in", "not_in", "at_least", "below", "missing")


class FilterSpec(Document):
    """A condition on the value of a column: a list of values, or a range."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [key]} for key in _CONDITIONS]}
    )

    members: Annotated[
        tuple[fields.LabelField, ...], fields.a_list("values", "as in [US, CA]", minItems=1)
    ] = Field(default=(), alias="in")
    """Rows with one of these values count. Write the values as they are in the source."""
    not_in: Annotated[
        tuple[fields.LabelField, ...], fields.a_list("values", "as in [US, CA]", minItems=1)
    ] = ()
    """Rows with one of these values do not count. Rows with any other value count."""
    at_least: fields.OptionalCutField = None
    """Rows count from this number, date or timestamp on."""
    below: fields.OptionalCutField = None
    """Rows count below this number, date or timestamp."""
    missing: fields.OptionalFlagField = None
    """`true`: rows without a value count, too. `missing: false` alone: all rows that have a value
    count.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """Values or a range, and a range that holds something."""
        ends = [key for key in ("at_least", "below") if key in data]
        lists = [key for key in ("in", "not_in") if key in data]
        if lists and lists[1:] + ends:
            wrong = f"must not stand beside {lists[0]}"
            yield refusal(wrong, "keep one", at=((lists[1:] + ends)[0],), on_key=True)
        elif not lists and not ends and data.get("missing") is not False:
            wanted = "must have in, not_in, at_least, below or missing: false"
            yield refusal(wanted, "as in {in: [US]} or {at_least: 18}")
        with suppress(KeyError, PydanticCustomError, TypeError):  # other laws say so
            least, end = (fields.cut(data[key]) for key in ("at_least", "below"))
            if end <= least:  # of two kinds, which no column has: TypeError
                wanted = f"must be greater than at_least, {cut_text(least)}, found {cut_text(end)}"
                yield refusal(wanted, at=("below",))
