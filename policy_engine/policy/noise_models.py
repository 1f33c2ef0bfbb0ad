"""What noisy counts are written with, and which mechanism a policy is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Clip
from policy_engine.policy import fields, laws
from policy_engine.policy.chance_models import PURE, public_values, pure_delta
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.documents import Document
from policy_engine.policy.key_models import listed
from policy_engine.policy.laws import barred, inside, mapping, refusal
from policy_engine.policy.scalars import show

NOISY_KEYS = ("noise", "contribution", "aggregate", "marginals", "rollup", "keys", "part")
"""The keys of a policy that are of noisy counts alone."""
_KEEP = ("source", "unit", "keep")
MOST_PARTS = 10_000


class NoiseSpec(Document):
    """The noise that a count gets."""

    law: fields.LawField = "auto"
    """`auto` takes the law that shows the smallest groups half of the time."""

    @classmethod
    def needs(cls, key: str) -> str:
        """What a law of noise looks like."""
        del key
        return "as in noise: {law: truncated_laplace}, or leave it out"


class ContributionSpec(Document):
    """In how many groups a person counts who has many rows."""

    groups: fields.ContributionField
    """In so many at most; of more, so many are drawn by a keyed hash."""


class SumSpec(Document):
    """Between which ends each person's value lies, and in which unit it is counted."""

    clip: Annotated[
        tuple[fields.EndField, ...], BeforeValidator(laws.a_list("two numbers", "as in [0, 99]"))
    ] = Field(json_schema_extra={"minItems": 2, "maxItems": 2})
    """The least and the greatest value that one person counts with; of many rows their sum."""
    unit: fields.StepField = Decimal(1)
    """The granularity: every value is rounded to a multiple of it. Of a sum it is whole."""
    column: fields.OptionalLineField = Field(default=None, alias="of")
    """The source's column, where the released one has another name."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Two ends, each a multiple of the unit, the second the greater."""
        ends, unit = data.get("clip"), laws.as_number(data.get("unit", 1))
        if not isinstance(ends, list) or unit is None or unit <= 0:
            return
        numbers = [number for end in ends if (number := laws.as_number(end)) is not None]
        if len(ends) != 2:
            wrong = f"must be the least and the greatest value, found {len(ends)}"
            yield refusal(wrong, "as in [0, 99]", at=("clip",))
        elif len(numbers) == 2 and any(number % unit for number in numbers):
            wrong = f"must be multiples of unit, {show(unit)}, found {show(ends)}"
            yield refusal(wrong, "round them, or take a smaller unit", at=("clip",))
        elif len(numbers) == 2 and numbers[0] >= numbers[1]:
            yield refusal(f"must ascend, found {show(ends)}", at=("clip",))
        elif len(numbers) == 2:
            try:
                Clip(int(numbers[0] / unit), int(numbers[1] / unit), is_mean=True)
            except ClaimError as error:
                yield refusal(f"is too wide: {error}", "take a greater unit", at=("clip",))


class AggregateSpec(Document):
    """A sum or a mean of a column, beside each count."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    sum: SumSpec | None = None
    """The sum over the people of a group."""
    mean: SumSpec | None = None
    """The mean over the people of a group."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """One of both, and a sum in whole units."""
        if len(data.keys() & {"sum", "mean"}) != 1:
            yield refusal("must have sum or mean", "as in {mean: {clip: [0, 99]}}")
        unit = laws.as_number(inside(data, "sum", "unit"))
        if unit is not None and unit % 1:
            wrong = f"must be a whole number for a sum, found {show(unit)}"
            yield refusal(wrong, "take 1, or a mean", at=("sum", "unit"))

    @property
    def _chosen(self) -> SumSpec:
        found = self.sum or self.mean
        assert found is not None
        return found

    @property
    def column(self) -> str | None:
        """The source's column, where it has another name."""
        return self._chosen.column

    @property
    def unit(self) -> Decimal:
        """The granularity."""
        return self._chosen.unit

    @property
    def clip(self) -> Clip:
        """The ends in units."""
        low, high = (int(end / self.unit) for end in self._chosen.clip)
        return Clip(low, high, is_mean=self.mean is not None)


class RollupSpec(Document):
    """A coarser grouping beside the fine one, so that more people stand in a group shown."""

    to: Annotated[
        tuple[fields.LineField, ...], BeforeValidator(laws.a_list("columns", "as in [age, sex]"))
    ] = Field(json_schema_extra={"minItems": 1})
    """The columns of the coarser grouping, some of those of recode."""
    share: fields.ShareField = Decimal("0.2")
    """The share of ε and of δ that it gets."""


class PartSpec(Document):
    """One random part of the people: releases of different parts cost what the dearest does."""

    of: fields.PositiveField
    """How many parts there are, from 2 to 10000: the same in all policies that share them."""
    number: fields.PositiveField
    """Which of them is counted, from 1 on."""

    @classmethod
    def across(cls, data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
        """Several parts, and one of them."""
        parts, number = data.get("of"), data.get("number")
        if isinstance(parts, int) and not 2 <= parts <= MOST_PARTS:
            yield refusal(f"must be from 2 to {MOST_PARTS}, found {parts}", at=("of",))
        elif isinstance(parts, int) and isinstance(number, int) and number > parts:
            yield refusal(f"must be from 1 to {parts}, found {number}", at=("number",))


def is_noisy(data: Mapping[str, Any]) -> bool:
    """Whether a policy is of noisy counts: it says so, or it has no sample.

    >>> is_noisy({"sample": {"rate": 0.1}}), is_noisy({"k": 20})
    (False, True)
    """
    return bool(
        data.get("mechanism", None if "sample" in data else "noisy_counts") == "noisy_counts"
    )


def one_mechanism(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The law that a policy says what its mechanism needs, and nothing of another's."""
    if data.get("mechanism") in PURE:
        yield from public_values(data, NOISY_KEYS)
    elif data.get("mechanism") in (None, "noisy_counts", "sampled_suppression"):
        yield from _noisy(data) if is_noisy(data) else _sampled(data)
    yield from pure_delta(data)


def _sampled(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    for key in ("sample", "k"):
        if key not in data:
            yield refusal("is missing", at=(key,))
    wrong = "is of noisy_counts, and this policy draws a sample"
    yield from barred(data, NOISY_KEYS, wrong, "remove it, or sample")
    if inside(data, *_KEEP) == "all":
        wrong = "must be any or a mapping with order_by where a sample is drawn, found all"
        yield refusal(wrong, "one row of a person is kept then", at=_KEEP)


def in_order(names: Iterable[str], recode: Iterable[str]) -> tuple[str, ...]:
    """The columns of a grouping as `recode` orders them."""
    named = {*names}
    return tuple(name for name in recode if name in named)


def _several(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The laws of several groupings: of recoded columns, of one row a person, with counts."""
    known = [str(name) for name in mapping(data.get("recode"))]
    asked = [key for key in ("marginals", "rollup") if data.get(key)]
    for key in asked:
        for other, is_there in (
            ("contribution", "contribution" in data),
            ("release.as: rows", inside(data, "release", "as") == "rows"),
            ("noise.law: place", inside(data, "noise", "law") == "place"),
        ):
            if is_there:
                wrong = f"counts everybody by several groupings, and cannot stand beside {other}"
                yield refusal(wrong, "write two policies", at=(key,), on_key=True)
    if len(asked) == 2:
        wrong = "must not stand beside rollup, which is two groupings"
        yield refusal(wrong, "keep one of them", at=("marginals",), on_key=True)
    for at, names in _named(data, asked):
        missing = [str(name) for name in names if str(name) not in known]
        if missing and not known:
            return  # of a recode that is not there its own problem is told
        if missing:
            wrong = f"must name columns of recode, found {missing[0]}"
            yield refusal(wrong, laws.suggestion(missing[0], known), at=at)
        elif len({*map(str, names)}) != len(names):
            yield refusal("names a column twice", at=at)
        elif at[0] == "rollup" and len(names) == len(known):
            wrong = "must name fewer columns than recode, found all"
            yield refusal(wrong, "leave one out", at=at)
    if asked == ["marginals"]:
        groupings = [frozenset(map(str, names)) for _, names in _named(data, asked)]
        if len({*groupings}) != len(groupings):
            yield refusal("has a grouping twice", "take one out", at=("marginals",))
        elif left := [name for name in known if not any(name in each for each in groupings)]:
            wrong = f"must have every column of recode in a grouping, found {left[0]} in none"
            yield refusal(wrong, "add one, or take the column out", at=("marginals",))


def _named(
    data: Mapping[str, Any], asked: list[str]
) -> list[tuple[tuple[str | int, ...], list[Any]]]:
    """Every list of columns, with its place."""
    marginals, rollup = data.get("marginals"), data.get("rollup")
    found: list[tuple[tuple[str | int, ...], Any]] = []
    if "marginals" in asked and isinstance(marginals, list):
        found += [(("marginals", place), each) for place, each in enumerate(marginals)]
    if "rollup" in asked and isinstance(rollup, dict):
        found.append((("rollup", "to"), rollup.get("to")))
    return [(at, names) for at, names in found if isinstance(names, list)]


def _noisy(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    yield from _several(data)
    yield from listed(data)
    wrong = "must not stand beside mechanism: noisy_counts, which counts everybody"
    yield from barred(data, ["sample"], wrong, "keep one of them")
    if data.get("k") == "auto":
        wrong = "is auto, and noisy_counts needs none"
        yield refusal(wrong, "leave it out, or write the least size of a group shown", at=("k",))
    yield from barred(data, ["auto"], "chooses k and sample.rate, and noisy_counts has none")
    sampled_at = mapping(data.get("source")).get("sampled_at", 1)
    if "part" in data:
        yield from _parted(data)
    if sampled_at != 1:
        wrong = f"must be 1 where everybody is counted, found {show(sampled_at)}"
        remedy = "leave it out: the price holds without it"
        yield refusal(wrong, remedy, at=("source", "sampled_at"))
    counts_all = inside(data, *_KEEP) == "all"
    if not counts_all:
        wrong = "is of persons with many rows, all of which count"
        remedy = "write source.unit: {key: …, keep: all}, or remove it"
        yield from barred(data, ["contribution"], wrong, remedy)
    if "contribution" not in data and counts_all:
        wrong = "is all, and nothing says in how many groups a person counts"
        yield refusal(wrong, "add contribution: {groups: 3}", at=_KEEP)


def _parted(data: Mapping[str, Any]) -> Iterable[PydanticCustomError]:
    """The laws of a part: everybody is in one of them, whatever else is released of the source."""
    source = mapping(data.get("source"))
    rows = "write source.unit: {row_key: …} or {key: …, keep: …}, or remove it"
    path = source.get("path")
    for is_there, wrong, remedy in (
        ("keys" in data, "must not stand beside keys", "keep one of them"),
        (source.get("unit") == "row", "is drawn by the key of a person, and unit is row", rows),
        (
            isinstance(path, str) and is_csv(path),
            "is drawn by a key, whose text in a CSV file depends on how the file is read",
            "convert the file to Parquet, or remove it",
        ),
        (
            "view" in source,
            "is drawn by a key, and what a view calls so may be no key of its table",
            "release from the table, or remove it",
        ),
    ):
        if is_there:
            yield from barred(data, ["part"], wrong, remedy)
