"""``count`` and ``measures``: what a policy shows beside a group, and what is drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field

from policy_engine.accounting.choice import Choice
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Clip, Cut, IntegerTable, Measure
from policy_engine.kernel.mechanisms.quantiles import MOST_CANDIDATES
from policy_engine.kernel.mechanisms.tables import Moves, moves_of
from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, Document, barred, inside, mapping, refusal
from policy_engine.policy.scalars import show
from policy_engine.policy.source_models import counts_all
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.policy.models import PolicyDocument

MOST_ROWS = 1000
GROUPS_CUT, ROWS_CUT = "people_with_groups_cut", "people_with_rows_cut"
_OF_VALUES = _VALUES_CUT, _VALUES_MISSING = "_people_cut", "_people_missing"
_BOTH = (
    "write per: row, where each row counts, or per: person, where each person's mean (of a sum"
    " their total) does"
)


class CountSpec(Document):
    """The names of the columns with counts."""

    needs = ("", "as in count: {people: members}, or count: {people: members, rows: visits}")

    people: fields.LineField = "n"
    """The column with the number of people in a group. This number decides whether the group is
    shown.
    """
    rows: fields.OptionalLineField = None
    """The column with the number of rows in a group. At most `contribution.max_rows_per_group`
    rows of a person count. Only for noisy_counts, if all rows of a person count.
    """


class MissingSpec(Document):
    """The number that a missing value counts as."""

    needs = ("as", "as in missing: {as: 0}, or leave it out: a missing value is left out")

    as_: Annotated[Decimal, fields.number("of at most 15 digits")] = Field(alias="as")
    """The number. It lies between the bounds, and is a multiple of `round_to`."""


class MeasureSpec(Document):
    """One number for each group: a sum, mean, median, quantile, or the number of values of a
    column.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": [
        {"required": ["sum", "bounds"]}, {"required": ["mean", "bounds"]}, {"required": ["count"]},
        {"required": ["median", "bounds"]}, {"required": ["quantile", "at", "bounds"]},
    ]})  # fmt: skip

    sum: fields.OptionalLineField = None
    """The source's column whose sum is shown."""
    mean: fields.OptionalLineField = None
    """The source's column whose mean is shown."""
    median: fields.OptionalLineField = None
    """The source's column whose median is shown, with noise. The result is a multiple of `round_to`
    between the bounds.
    """
    quantile: fields.OptionalLineField = None
    """The source's column whose quantile is shown. `at` says which quantile.
    Everything else is as with `median`.
    """
    at: Annotated[
        Decimal | None,
        fields.number("of at most three decimal places, above 0 and below 1",
                      holds=lambda n: n * 1000 % 1 == 0, exclusiveMinimum=0, exclusiveMaximum=1),
    ] = None  # fmt: skip
    """Only with `quantile`: the share of the values that are below the quantile. For example, 0.9
    is the ninetieth percentile.
    """
    count: fields.OptionalLineField = None
    """The source's column whose values are counted. This count costs nothing if the policy also
    has a mean of this column, because a mean already needs the count.
    """
    per: Annotated[Literal["row", "person"] | None, fields.word("row", "person")] = None
    """Required if all rows of a person count. `row`: each row's value is limited to the bounds.
    `person`: the rows of a person in a group give one value, and this value is limited to the
    bounds. The value is the rows' total for a `sum`, otherwise their mean.
    """
    bounds: Annotated[
        tuple[fields.EndField, ...],
        fields.a_list("two numbers", "as in [0, 99]", minItems=2, maxItems=2),
    ] = ()
    """The least and the greatest value that counts. A value outside counts as the nearer bound.
    `count` has no bounds, everything else needs them. For a median or quantile, at most 1,000
    multiples of `round_to` may lie between the bounds.
    """
    round_to: fields.StepField = Decimal(1)
    """Every value is rounded to a multiple of this number."""
    missing: MissingSpec | None = None
    """What a missing value counts as. Without this key missing values are left out, as in SQL."""
    not_null: fields.FlagField = False
    """`true`: the column is NOT NULL in the database's catalog. Then a mean does not pay for the
    number of values, because every row has one. A NaN counts as the value between the bounds that
    is nearest to 0.
    """

    @classmethod
    def _across(cls, data: Data) -> Broken:
        """One of three; bounds that are multiples of round_to and ascend; missing within them."""
        asked = [key for key in _KINDS if key in data]
        yield from _which(data)
        if len(asked) != 1:
            wrong = f"must have one of {', '.join(_KINDS)}, found {' and '.join(asked) or 'none'}"
            yield refusal(wrong, "as in {mean: cost, bounds: [0, 99]}", on_key=True)
        elif asked == ["count"]:
            wrong = "is of values, and must not stand beside count"
            yield from barred(data, ("bounds", "round_to", "missing", "not_null"), wrong)
            return
        elif "bounds" not in data:
            wrong = "has no bounds, between which each value is held"
            yield refusal(wrong, "as in bounds: [0, 99]", on_key=True)
        if data.get("not_null") is True:
            wrong = "must not stand beside not_null, where no value is missing"
            yield from barred(data, ("missing",), wrong)
        ends, unit = data.get("bounds"), fields.as_number(data.get("round_to", 1))
        if not isinstance(ends, list) or unit is None or unit <= 0:
            return
        numbers = [number for end in ends if (number := fields.as_number(end)) is not None]
        if len(ends) != 2:
            wrong = f"must be the least and the greatest value, found {len(ends)}"
            yield refusal(wrong, "as in [0, 99]", at=("bounds",))
        if len(ends) != 2 or len(numbers) != 2:
            return
        found = f"[{show(ends[0])}, {show(ends[1])}]"
        if any(number % unit for number in numbers):
            wrong = f"must be multiples of round_to, {show(unit)}, found {found}"
            yield refusal(wrong, "round them, or take a smaller round_to", at=("bounds",))
        elif numbers[0] >= numbers[1]:
            yield refusal(f"must ascend, found {found}", at=("bounds",))
        else:
            try:
                Clip(int(numbers[0] / unit), int(numbers[1] / unit), unit)
            except ClaimError as error:
                wrong, remedy = f"is too wide: {error}", "take a greater round_to"
                yield refusal(wrong, remedy, at=("bounds",))
            yield from _missing(data, numbers, unit)
            yield from _too_fine(asked[:1], numbers, unit)

    @property
    def column(self) -> str:
        """The source's column."""
        found = self.sum or self.mean or self.count or self.median or self.quantile
        assert found is not None
        return found

    @property
    def share(self) -> Decimal | None:
        """Which quantile it is; None of what is none."""
        return _HALF if self.median is not None else self.at


_KINDS = ("sum", "mean", "median", "quantile", "count")
_HALF = Decimal("0.5")


def _which(data: Data) -> Broken:
    """The law that a quantile, and nothing else, says which it is."""
    if "at" in data and "quantile" not in data:
        wrong = "says which quantile, and no quantile is asked for"
        yield refusal(wrong, "write quantile, or leave it out", at=("at",), on_key=True)
    elif "quantile" in data and "at" not in data:
        yield refusal("does not say which quantile", "as in at: 0.9", on_key=True)


def _too_fine(asked: list[str], ends: list[Decimal], unit: Decimal) -> Broken:
    """The law that one value is chosen of few, each of which the text looks at in each group."""
    many = int((ends[1] - ends[0]) / unit) + 1
    if many > MOST_CANDIDATES and asked in (["median"], ["quantile"]):
        coarser = (unit * times * 10**zeros for zeros in range(20) for times in (1, 2, 5))
        fits = next(step for step in coarser if (ends[1] - ends[0]) / step < MOST_CANDIDATES)
        wrong = f"give {many:,} values to choose of with round_to: {show(unit)}, at most"
        remedy = f"write round_to: {show(fits)}, and multiples of it as bounds, or narrower ones"
        yield refusal(f"{wrong} {MOST_CANDIDATES:,} can be", remedy, at=("bounds",))


def _missing(data: Data, ends: list[Decimal], unit: Decimal) -> Broken:
    value = fields.as_number(inside(data, "missing", "as"))
    at = ("missing", "as")
    if value is not None and not ends[0] <= value <= ends[1]:
        wrong = f"must lie between the bounds, found {show(value)}"
        yield refusal(wrong, "or leave missing out: a missing value is left out", at=at)
    elif value is not None and value % unit:
        yield refusal(f"must be a multiple of round_to, found {show(value)}", at=at)


def limits_to_write(data: Data) -> str:
    """How many groups, and rows if any are counted, of a person count, beside what is written.

    >>> limits_to_write({"contribution": {"max_groups": 2}, "count": {"rows": "visits"}})
    'contribution: {max_groups: 2, max_rows_per_group: 10}'
    """
    measures = mapping(data.get("measures")).values()
    of_rows = any(mapping(spec).get("per") == "row" for spec in measures)
    asked = {"max_groups": 3}
    if of_rows or inside(data, "count", "rows") is not None:
        asked["max_rows_per_group"] = 10
    written = asked | {**mapping(data.get("contribution"))}
    shown = (f"{key}: {str(value).lower()}" for key, value in written.items())
    return f"contribution: {{{', '.join(shown)}}}"


def measure_laws(data: Data) -> Broken:
    """The laws across a policy: whose rows count, and how many of a person."""
    many = counts_all(data.get("privacy_unit"))
    every_row = data.get("privacy_unit") == "row"
    rows = inside(data, "count", "rows")
    asked: list[tuple[str, ...]] = [("count", "rows")] if rows is not None else []
    for name, spec in mapping(data.get("measures")).items():
        at, per = ("measures", str(name)), mapping(spec).get("per")
        if many and per is None:
            wrong = "does not say whose value counts, where a person has many rows"
            yield refusal(wrong, _BOTH, at=at, on_key=True)
        elif per == "row" and not many and not every_row:
            wrong = "is row, where one row of each person is kept"
            yield refusal(wrong, "write person, or privacy_unit: {column: …}", at=(*at, "per"))
        elif per == "row" and many:
            asked.append((*at, "per"))
    if rows is not None and not many:
        wrong = "is as many as people, of whom one row each counts"
        yield refusal(wrong, "leave it out", at=("count", "rows"), on_key=True)
        return
    most = ("contribution", "max_rows_per_group")
    is_limited = inside(data, *most) is not None
    if asked and not is_limited and "contribution" in data:
        wrong = "counts rows, and nothing says how many of one person's in a group"
        yield refusal(wrong, f"write {limits_to_write(data)}", at=asked[0], on_key=True)
    elif is_limited and not asked:
        wrong = "is of rows that are counted, and no count and no measure is of rows"
        yield refusal(wrong, "leave it out, or write per: row or count: {rows: …}", at=most)


@frozen
class AskedQuantity:
    """What is drawn beside a count, but for its column's type: as ``kernel.mechanisms.Quantity``.

    ``table`` is None before its noise was found.
    """

    column: str | None
    clip: Clip
    center: int | None
    table: IntegerTable | None = None

    @property
    def moves(self) -> Moves:
        """By how much one person moves it."""
        return moves_of(self.clip, self.center)

    @property
    def noise(self) -> IntegerTable:
        """Its noise, which was found."""
        assert self.table is not None
        return self.table


@frozen
class AskedQuantile:
    """A quantile, but for its column's type: as ``kernel.mechanisms.Quantile``.

    ``epsilon`` is None before it was found what is left for it.
    """

    name: str
    column: str
    clip: Clip
    at: Decimal
    over: int
    epsilon: Decimal | None = None

    @property
    def candidates(self) -> int:
        """Of how many values one is chosen."""
        return self.clip.high - self.clip.low + 1

    @property
    def spent(self) -> Decimal:
        """Its ε, which was found."""
        assert self.epsilon is not None
        return self.epsilon

    def choice(self, groups: int) -> Choice:
        """The choice of each group, as the accountant prices it."""
        return Choice(self.spent, self.candidates, groups)


@frozen
class Beside:
    """What a policy shows beside its counts, and what is drawn for it, each thing once."""

    quantities: tuple[AskedQuantity, ...] = ()
    measures: tuple[Measure, ...] = ()
    cuts: tuple[Cut, ...] = ()
    filled: tuple[str, ...] = ()
    quantiles: tuple[AskedQuantile, ...] = ()


def measured_by(document: PolicyDocument) -> Beside:
    """The quantities and measures of a policy.

    A sum and a mean of one thing share what is drawn: its values less the middle of the bounds, so
    that one person moves it least. So does a sum alone where it is known how many values there are.
    """
    drawn: list[AskedQuantity] = []
    named: dict[str, Measure] = {}

    def number_of(quantity: AskedQuantity) -> int:
        if quantity not in drawn:
            drawn.append(quantity)
        return drawn.index(quantity) + 1

    rows = _rows(document)
    if document.count.rows is not None:
        named[document.count.rows] = Measure(document.count.rows, number_of(rows))
    asked: dict[tuple[str, Clip], list[tuple[str, MeasureSpec]]] = {}
    for name, spec in document.measures.items():
        if spec.count is None and spec.share is None:
            asked.setdefault((spec.column, _clip(document, spec)), []).append((name, spec))
    for (column, clip), own in asked.items():
        has_mean = any(spec.mean is not None for _, spec in own)
        over: int | None = None
        if clip.absent is not None and not (clip.per == "row" and _is_of_many(document)):
            over = 0
        elif clip.absent is not None and (has_mean or rows in drawn):
            over = number_of(rows)
        elif has_mean:
            over = number_of(AskedQuantity(column, clip, None))
        center = 0 if over is None else (clip.low + clip.high) // 2
        total = number_of(AskedQuantity(column, clip, center))
        for name, spec in own:
            is_mean = spec.mean is not None
            named[name] = Measure(name, total, over if is_mean or center else None, is_mean)
    for name, spec in document.measures.items():
        if spec.count is not None:
            named[name] = Measure(name, number_of(_values(document, spec, drawn)))
    quantiles = tuple(_quantiles(document, drawn, number_of))
    first = [document.count.rows] if document.count.rows is not None else []
    shown = tuple(named[name] for name in (*first, *document.measures) if name in named)
    filled = tuple(name for name, spec in document.measures.items() if spec.not_null)
    is_told = document.contribution is not None and document.contribution.count_cut
    cuts = tuple(cuts_of(drawn, shown, filled)) if is_told else ()
    return Beside(tuple(drawn), shown, cuts, filled, quantiles)


def _quantiles(
    document: PolicyDocument,
    drawn: list[AskedQuantity],
    number_of: Callable[[AskedQuantity], int],
) -> Iterator[AskedQuantile]:
    """Medians and quantiles, each with what tells how many values it is of."""
    for name, spec in document.measures.items():
        if spec.share is not None:
            told = _told_by(document, spec, drawn)
            over = 0 if told is None else number_of(told)
            yield AskedQuantile(name, spec.column, _clip(document, spec), spec.share, over)


def _told_by(
    document: PolicyDocument, spec: MeasureSpec, drawn: list[AskedQuantity]
) -> AskedQuantity | None:
    """What tells how many values a quantile is of; None where it is the people."""
    if _clip(document, spec).absent is None:
        return _values(document, spec, drawn)
    of_rows = _is_of_many(document) and spec.per == "row"
    return _rows(document) if of_rows else None


def _rows(document: PolicyDocument) -> AskedQuantity:
    """How many rows there are."""
    return AskedQuantity(None, Clip(0, 1, rows=_most_rows(document)), None)


def cuts_of(
    drawn: Sequence[AskedQuantity], shown: Sequence[Measure], filled: Sequence[str]
) -> Iterator[Cut]:
    """Whom limits cut, as ``count_cut`` shows it; of a value by its first measure's name."""
    yield Cut(GROUPS_CUT, "groups")
    if any(each.clip.per == "row" for each in drawn):
        yield Cut(ROWS_CUT, "rows")
    for number, each in enumerate(drawn, 1):
        named = [measure.name for measure in shown if measure.quantity == number]
        if each.center is not None:
            yield Cut(named[0] + _VALUES_CUT, "bounds", number)
            if not any(name in filled for name in named):
                yield Cut(named[0] + _VALUES_MISSING, "missing", number)


def _is_of_many(document: PolicyDocument) -> bool:
    unit = document.privacy_unit
    return unit != "row" and unit.rows == "all"


def _most_rows(document: PolicyDocument) -> int:
    limit = document.contribution.max_rows_per_group if document.contribution else None
    return limit or 1


def _values(
    document: PolicyDocument, spec: MeasureSpec, drawn: list[AskedQuantity]
) -> AskedQuantity:
    """How many values a column has: what is drawn for a mean of them already, else one more."""
    own = Clip(0, 1)
    if _is_of_many(document):
        rows = _most_rows(document)
        own = replace(own, rows=rows) if spec.per == "row" else replace(own, per="total")
    by_row = own.per == "row"
    alike = (
        each
        for each in drawn
        if each.column == spec.column
        and each.center is None
        and each.clip.absent is None
        and (each.clip.per == "row") == by_row
    )
    return next(alike, AskedQuantity(spec.column, own, None))


def _clip(document: PolicyDocument, spec: MeasureSpec) -> Clip:
    unit = spec.round_to
    low, high = (int(end / unit) for end in spec.bounds)
    absent = None if spec.missing is None else int(spec.missing.as_ / unit)
    if spec.not_null:
        absent = min(max(0, low), high)
    clip = Clip(low, high, unit, absent=absent)
    if not _is_of_many(document):
        return clip
    if spec.per == "row":
        return replace(clip, rows=_most_rows(document))
    return replace(clip, per="mean" if spec.sum is None else "total")


def shown_names(data: Data) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The names beside the recoded columns, each with its place."""
    count = mapping(data.get("count"))
    yield ("count", "people"), count.get("people", "n")
    if "rows" in count:
        yield ("count", "rows"), count["rows"]
    for name in mapping(data.get("measures")):
        yield ("measures", str(name)), name
    if inside(data, "contribution", "count_cut") is True:
        values = (f"{name}{end}" for name in mapping(data.get("measures")) for end in _OF_VALUES)
        for name in (GROUPS_CUT, ROWS_CUT, *values):
            yield ("contribution", "count_cut"), name
