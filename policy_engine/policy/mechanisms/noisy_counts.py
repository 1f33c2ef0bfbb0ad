"""What noisy counts are written with, and the laws of it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from policy_engine.policy import fields
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.laws import (
    At,
    Broken,
    Data,
    Document,
    barred,
    inside,
    mapping,
    refusal,
    suggestion,
)
from policy_engine.policy.mechanisms.common import (
    ROWS,
    ChosenNumbers,
    Language,
    Written,
    everybody,
)
from policy_engine.policy.mechanisms.measures import MOST_ROWS, limits_to_write, measure_laws
from policy_engine.policy.model_specs import listed
from policy_engine.policy.source_models import counts_all

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Shape, Solved
    from policy_engine.policy.auto import Guarantee
    from policy_engine.policy.models import PolicyDocument
    from policy_engine.policy.noise import Noise

KEYS = ("noise", "contribution", "measures", "marginals", "rollup", "public_groups", "part")
"""The keys of a policy that are of noisy counts alone."""
MOST_PARTS = 10_000


class NoiseSpec(Document):
    """The noise that is added to counts."""

    needs = ("", "as in noise: {distribution: truncated_laplace}, or leave it out")

    distribution: Annotated[fields.Distribution, fields.word_of(fields.Distribution)] = "auto"
    """`auto` takes Laplace or Gaussian noise: the one that shows smaller groups. It compares the
    size of group that is shown in half of all releases.
    """


class ContributionSpec(Document):
    """How much of one person counts, if a person has many rows."""

    max_groups: Annotated[int, fields.integer(1, 100)]
    """The greatest number of groups in which one person counts. If a person is in more groups, this
    many of them are chosen at random.
    """
    max_rows_per_group: Annotated[int | None, fields.integer(1, MOST_ROWS)] = None
    """For counts and measures of rows: the greatest number of rows of one person that count in a
    group. If a person has more rows, this many of them are chosen at random.
    """
    count_cut: fields.FlagField = False
    """`true`: the release also shows, with noise, how many people the limits cut. There is one
    column each for people with too many groups, with too many rows in a group, with a value outside
    the bounds, and with a missing value. Each number is for the whole release, and is the same in
    every row.
    """


class RollupSpec(Document):
    """A second, coarser grouping. More people are in a group that is shown."""

    to: Annotated[fields.Lines, fields.a_list("columns", "as in [age, sex]", minItems=1)]
    """The columns of the coarser grouping, some of the columns of `recode`."""
    share: fields.ShareField = Decimal("0.2")
    """The share of ε and of δ that the coarser grouping gets."""


class PartSpec(Document):
    """One random part of the people. Releases of different parts together cost as much as the most
    expensive of them.
    """

    of: fields.PositiveField
    """The number of parts, from 2 to 10,000. It is the same in all policies that share the
    parts.
    """
    number: fields.PositiveField
    """The number of the part that is counted. The first part is 1."""

    @classmethod
    def _across(cls, data: Data) -> Broken:
        parts, number = data.get("of"), data.get("number")
        if isinstance(parts, int) and not 2 <= parts <= MOST_PARTS:
            yield refusal(f"must be from 2 to {MOST_PARTS}, found {parts}", at=("of",))
        elif isinstance(parts, int) and isinstance(number, int) and number > parts:
            yield refusal(f"must be from 1 to {parts}, found {number}", at=("number",))


def noisy_laws(data: Data) -> Broken:
    """The laws of a policy of noisy counts: nothing of a sample, and what its own keys need."""
    yield from _several(data)
    yield from listed(data)
    wrong = "must not stand beside mechanism: noisy_counts, which counts everybody"
    yield from barred(data, ["sample"], wrong, "keep one of them")
    if data.get("k") == "auto":
        wrong = "is auto, and noisy_counts needs none"
        yield refusal(wrong, "leave it out, or write the least size of a group shown", at=("k",))
    yield from barred(data, ["auto"], "chooses k and sample.rate, and noisy_counts has none")
    if "part" in data:
        yield from _parted(data)
    yield from everybody(data, "is counted")
    if not counts_all(data.get("privacy_unit")):
        wrong = "is of persons with many rows, all of which count"
        remedy = "write privacy_unit: {column: …}, or remove it"
        yield from barred(data, ["contribution"], wrong, remedy)
    elif "contribution" not in data:
        wrong = "is all, and nothing says in how many groups a person counts"
        yield refusal(wrong, f"add {limits_to_write(data)}", at=ROWS)
    yield from measure_laws(data)


def _parted(data: Data) -> Broken:
    """The laws of a part: everybody is in one of them, whatever else is released of the source."""
    source = mapping(data.get("source"))
    path = source.get("file")
    at: At = ("part",)
    if "public_groups" in data:
        yield refusal("must not stand beside public_groups", "keep one of them", at=at, on_key=True)
    if data.get("privacy_unit") == "row":
        remedy = "write privacy_unit: {column: …, rows: …}, or remove it"
        wrong = "is drawn by what names a person, and privacy_unit is row"
        yield refusal(wrong, remedy, at=at, on_key=True)
    if isinstance(path, str) and is_csv(path):
        wrong = "is drawn by a key, whose text in a CSV file depends on how the file is read"
        yield refusal(wrong, "convert the file to Parquet, or remove it", at=at, on_key=True)
    if "view" in source:
        wrong = "is drawn by a key, and what a view calls so may be no key of its table"
        yield refusal(wrong, "release from the table, or remove it", at=at, on_key=True)


def _several(data: Data) -> Broken:
    """The laws of several groupings: of recoded columns, of one row a person, with counts."""
    known = [str(name) for name in mapping(data.get("recode"))]
    asked = [key for key in ("marginals", "rollup") if data.get(key)]
    beside = {
        "contribution": "contribution" in data,
        "release.as: rows": inside(data, "release", "as") == "rows",
        "noise.distribution: negative_binomial": inside(data, "noise", "distribution")
        == "negative_binomial",
        "a median or quantile": any(
            {"median", "quantile"} & {*mapping(spec)}
            for spec in mapping(data.get("measures")).values()
        ),
    }
    for key in asked:
        for other in (name for name, is_there in beside.items() if is_there):
            wrong = f"counts everybody by several groupings, and cannot stand beside {other}"
            yield refusal(wrong, "write two policies", at=(key,), on_key=True)
    if len(asked) == 2:
        wrong = "must not stand beside rollup, which is two groupings"
        yield refusal(wrong, "keep one of them", at=("marginals",), on_key=True)
    listed = list(_groupings(data))
    for at, names in listed:
        missing = [name for name in names if name not in known]
        if missing and not known:
            return  # of a recode that is not there its own problem is told
        if missing:
            wrong = f"must name columns of recode, found {missing[0]}"
            yield refusal(wrong, suggestion(missing[0], known), at=at)
        elif len({*names}) != len(names):
            yield refusal("names a column twice", at=at)
        elif at[0] == "rollup" and len(names) == len(known):
            wrong = "must name fewer columns than recode, found all"
            yield refusal(wrong, "leave one out", at=at)
    if asked == ["marginals"]:
        sets = [frozenset(names) for _, names in listed]
        if len({*sets}) != len(sets):
            yield refusal("has a grouping twice", "take one out", at=("marginals",))
        elif left := [name for name in known if not any(name in each for each in sets)]:
            wrong = f"must have every column of recode in a grouping, found {left[0]} in none"
            yield refusal(wrong, "add one, or take the column out", at=("marginals",))


def _groupings(data: Data) -> Iterator[tuple[At, list[str]]]:
    """Every list of columns that is counted by, with its place."""
    marginals = data.get("marginals")
    places: list[tuple[At, Any]] = [(("rollup", "to"), inside(data, "rollup", "to"))]
    if isinstance(marginals, list):
        places[:0] = [(("marginals", place), each) for place, each in enumerate(marginals)]
    for at, names in places:
        if isinstance(names, list):
            yield at, [str(name) for name in names]


def _solve(document: PolicyDocument, guarantee: Guarantee) -> ChosenNumbers:
    """The tables of noise that meet the guarantee."""
    from policy_engine.policy.noise import solve_noise

    return _at_least(document, solve_noise(document, guarantee))


def _at_least(document: PolicyDocument, noise: Noise) -> ChosenNumbers:
    k = document.k if isinstance(document.k, int) else 1
    return ChosenNumbers(max(k, noise.k), noise)


def _shape(written: Written) -> Shape:
    """Its counts, and the sums beside them."""
    from policy_engine.policy.noise import noisy_shape

    return noisy_shape(written.document, written.neighbours)


def _numbers(document: PolicyDocument, solved: Solved) -> ChosenNumbers:
    """The tables that were found."""
    from policy_engine.policy.noise import noise_of

    return _at_least(document, noise_of(document, solved))


def _named(document: PolicyDocument, law: str) -> PolicyDocument:
    noise = NoiseSpec.model_validate({"distribution": law})
    return document.model_copy(update={"noise": noise})


LANGUAGE = Language(noisy_laws, _solve, _shape, _numbers, named=_named)
