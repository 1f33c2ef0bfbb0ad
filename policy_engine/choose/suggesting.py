"""[CHOICE] The private choice of what limits one person: groups, rows, and the bounds of values.

Candidates are the steps 1, 2, 5, 10, … up to what the policy says, which is the widest: nobody has
looked for it. The utility of one is how many people it cuts nothing of, less a public price for
each doubling of its width, which does not grow with how many people there are. One person more adds
0 or 1 to each utility, and one replaced −1, 0 or 1. Each number is drawn by itself, by an equal
share of ε (``choose.drawing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from functools import cached_property
from math import ceil, log2, prod
from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from policy_engine.accounting.choice import step_of
from policy_engine.accounting.domain import ADD_REMOVE
from policy_engine.attest.choices import ChoiceOf, ChoiceStated
from policy_engine.choose.candidates import alike, of_all_rows, whose
from policy_engine.choose.drawing import Below, choose
from policy_engine.choose.safe import (
    ChoiceTarget,
    Chosen,
    PrivateChoice,
    choose_privately,
    in_period,
    sought,
    stated_of,
    with_note,
)
from policy_engine.engines.base import Refused
from policy_engine.errors import UsageError
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Clip
from policy_engine.kernel.mechanisms.tables import ONE
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Round
from policy_engine.kernel.sources import Column
from policy_engine.ledger.entry import Entry
from policy_engine.policy.choice_notes import OF_NUMBERS
from policy_engine.policy.mechanisms.whole_classes import EVERY_CLASS
from policy_engine.policy.project import Project
from policy_engine.policy.reading import plain_yaml, read_text
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import as_told
from policy_engine.releasing.asking import Sought
from policy_engine.releasing.charging import ReleasePlan
from policy_engine.releasing.editions import Clock, utc_now
from policy_engine.values import frozen
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Ends = tuple[int, int]
"""Between what a number of a person lies of whom nothing is cut; in units."""

_COUNT = "rows"
_NARROWEST = 1_000
"""No candidate is narrower than the policy's own by more than this."""
_SMALLER = 10
"""An end that is closer to 0 than the other by more than this saves nothing that 0 would not."""


def steps_up_to(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … and the last number.

    >>> steps_up_to(30), steps_up_to(1)
    ((1, 2, 5, 10, 20, 30), (1,))
    """
    steps = (step * 10**zeros for zeros in range(len(str(most))) for step in (1, 2, 5))
    return (*(step for step in steps if step < most), most)


def ends_within(low: int, high: int, absent: int | None = None) -> tuple[Ends, ...]:
    """Pairs of steps, 0 and the two ends themselves; the narrowest first.

    ``absent`` is what a missing value counts as, which every pair has between its ends.

    >>> ends_within(0, 10)
    ((0, 1), (1, 2), (0, 2), (2, 5), (1, 5), (0, 5), (5, 10), (2, 10), (1, 10), (0, 10))
    """
    steps = steps_up_to(max(abs(low), abs(high)))
    inner = {step for each in (0, *steps) for step in (-each, each) if low <= step <= high}
    places = sorted({low, high, *inner})
    found = [
        (least, most)
        for at, least in enumerate(places)
        for most in places[at + 1 :]
        if (most - least) * _NARROWEST >= high - low
        and (absent is None or least <= absent <= most)
        and (least == low or most == high or _is_plain(least, most))
    ]
    return tuple(sorted(found, key=lambda ends: (ends[1] - ends[0], ends)))


def _as_written(numbers: Iterable[Decimal | float]) -> list[int | float]:
    """Numbers as YAML writes them: whole ones without a point."""
    return [int(each) if each == int(each) else float(each) for each in numbers]


def _is_plain(least: int, most: int) -> bool:
    small, large = sorted((abs(least), abs(most)))
    return small == 0 or small * _SMALLER >= large


@frozen
class Choosable:
    """A number of a policy that can be chosen: its key, of which measures, and the candidates."""

    key: Literal["max_groups", "max_rows_per_group", "bounds"]
    candidates: tuple[Ends, ...]
    measures: tuple[str, ...] = ()
    column: str = ""
    clip: Clip = ONE

    @property
    def name(self) -> str:
        """Where the policy has it."""
        if self.key != "bounds":
            return f"contribution.{self.key}"
        return ", ".join(f"measures.{name}.bounds" for name in self.measures)

    def written(self, ends: Ends) -> int | list[int | float]:
        """A candidate, as a policy has it."""
        if self.key != "bounds":
            return ends[1]
        return _as_written(end * self.clip.unit for end in ends)

    def prices(self, doubling: int) -> list[int]:
        """Of each candidate for how many people its width stands.

        >>> Choosable("max_groups", ((0, 1), (0, 2), (0, 5))).prices(100)
        [0, 100, 233]
        """
        widths = [high - low for low, high in self.candidates]
        least = min(widths)
        return [ceil(doubling * log2(width / least)) for width in widths]


def choosable(policy: Policy) -> tuple[Choosable, ...]:
    """What of a policy can be chosen, by the policy alone.

    Raises UsageError where that is nothing, or a plan was made for the policy's own numbers.
    """
    own, found = policy.protection, []
    if policy.follows is not None and policy.follows.planned:
        raise UsageError(
            f"{policy.file}: guarantee is planned, and with other limits a release tells more of"
            " somebody than what is planned of it: suggest before there is a plan, as with"
            f" guarantee: {{editions: {policy.follows.editions}}}, and plan what it writes"
        )
    if policy.source.counts_all and own.groups > 1:
        found.append(Choosable("max_groups", _limits(own.groups)))
    clips = [*(each.clip for each in own.quantities), *(each.clip for each in own.quantiles)]
    rows = max((clip.rows for clip in clips), default=1)
    if rows > 1:
        found.append(Choosable("max_rows_per_group", _limits(rows)))
    named: dict[tuple[str, Clip], list[str]] = {}
    for name, column, clip in _held(policy):
        named.setdefault((column, clip), []).append(name)
    for (column, clip), names in named.items():
        is_written = not {*names} & {*own.filled}
        candidates = ends_within(clip.low, clip.high, clip.absent if is_written else None)
        found.append(Choosable("bounds", candidates, tuple(names), column, clip))
    apart = tuple(each for each in found if len(each.candidates) > 1)
    if not apart:
        raise UsageError(
            f"{policy.file}: suggest chooses contribution.max_groups, max_rows_per_group, and the"
            " bounds of measures: the policy has none of them that could be less. Write the"
            " greatest that can be meant, as in contribution: {max_groups: 100}"
        )
    return apart


def _limits(most: int) -> tuple[Ends, ...]:
    return tuple((0, step) for step in steps_up_to(most))


def _held(policy: Policy) -> Iterator[tuple[str, str, Clip]]:
    """The measures whose values are held between bounds, each with its column."""
    own = policy.protection
    for measure in own.measures:
        drawn = own.quantities[measure.quantity - 1]
        if drawn.column is not None and drawn.center is not None:
            yield measure.name, drawn.column, drawn.clip
    for quantile in own.quantiles:
        yield quantile.name, quantile.column, quantile.clip


@frozen(eq=False)
class Extent:
    """Of each person between what their numbers lie; of who has none, between inf and −inf.

    ``people`` says for how many each entry stands.
    """

    least: Floats
    most: Floats
    people: Integers

    def inside(self, candidates: Sequence[Ends]) -> list[int]:
        """How many people are within each pair of ends.

        >>> extent = Extent(np.array([1.0, 3.0]), np.array([2.0, 9.0]), np.array([1, 4]))
        >>> extent.inside([(0, 5), (1, 2), (2, 10), (0, 10)])
        [1, 1, 4, 5]
        """
        places = np.array(sorted({end for ends in candidates for end in ends}), dtype=np.float64)
        # The greatest place that is not above the least, and the least not below the most.
        low = np.searchsorted(places, self.least, side="right")
        high = np.searchsorted(places, self.most, side="left")
        side = len(places) + 1
        counts = np.bincount(low * side + high, weights=self.people, minlength=side * side)
        table = counts.reshape(side, side)[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
        at = {int(place): number for number, place in enumerate(places)}
        return [int(table[at[least] + 1, at[most]]) for least, most in candidates]


@frozen(eq=False)
class PersonRows:
    """The rows of a source, alike ones once: whose each is, in which group, and how often.

    ``values`` are the numbers of a measure's column in units, NaN where there is none. Without
    ``people`` each row is one person's, and ``times`` so many people's.
    """

    times: Integers
    values: Mapping[tuple[str, Clip], Floats]
    people: Integers | None = None
    groups: Integers | None = None

    def extent(self, number: Choosable) -> Extent:
        """Of each person what a number is compared with."""
        if self.people is None:
            values = self.values[number.column, number.clip]
            return _extent(values, np.arange(len(values)), self.times)
        pairs, of = self._pairs
        whose = pairs[0]
        if number.key == "max_groups":
            return _extent(np.ones(len(whose)), whose, None, added=True)
        if number.key == "max_rows_per_group":
            rows = np.bincount(of, weights=self.times, minlength=len(whose)).astype(np.float64)
            return _extent(rows, whose, None)
        values = self.values[number.column, number.clip]
        if number.clip.per == "row":
            return _extent(values, self.people, None)
        is_there = ~np.isnan(values)
        many = np.bincount(of, weights=self.times * is_there, minlength=len(whose))
        total = np.bincount(
            of, weights=np.where(is_there, values, 0) * self.times, minlength=len(whose)
        )
        divisor = np.maximum(many, 1) if number.clip.per == "mean" else 1
        return _extent(np.where(many > 0, total / divisor, np.nan), whose, None)

    @cached_property
    def _pairs(self) -> tuple[tuple[Integers, Integers], Integers]:
        """Each person with each of their groups once, and the place of the one that a row is in."""
        assert self.people is not None and self.groups is not None
        many = int(self.groups.max(initial=0)) + 1
        found, of = np.unique(self.people * many + self.groups, return_inverse=True)
        return (found // many, found % many), of


def _extent(
    values: Floats, whose: Integers, people: Integers | None, *, added: bool = False
) -> Extent:
    """The least and the greatest value of each person, or all of them ``added`` up."""
    if added:
        whole = np.bincount(whose, weights=values).astype(np.float64)
        return Extent(whole, whole, np.ones(len(whole), dtype=np.int64))
    many = int(whose.max(initial=-1)) + 1
    least, most = np.full(many, np.inf), np.full(many, -np.inf)
    there = ~np.isnan(values)
    np.minimum.at(least, whose[there], values[there])
    np.maximum.at(most, whose[there], values[there])
    return Extent(least, most, np.ones(many, dtype=np.int64) if people is None else people)


def doubling_of(epsilon: Decimal, neighbours: str) -> int:
    """For how many people a doubling of the width stands, where one number is drawn by ε.

    A wider one that cuts as little is chosen e² times less often than one of half its width.

    >>> doubling_of(Decimal("0.01"), "add_remove"), doubling_of(Decimal("0.01"), "replace_one")
    (200, 400)
    """
    return ceil(2 / step_of(epsilon, monotone=neighbours == ADD_REMOVE))


def utilities_of(number: Choosable, rows: PersonRows, doubling: int) -> list[int]:
    """Of each candidate how many people it cuts nothing of, less its price: 0 or 1 more with each
    person more."""
    inside = rows.extent(number).inside(number.candidates)
    return [people - price for people, price in zip(inside, number.prices(doubling), strict=True)]


def chosen_ends(
    number: Choosable,
    rows: PersonRows,
    epsilon: Decimal,
    neighbours: str,
    below: Below = randbelow,
) -> Ends:
    """One candidate, drawn: ε-DP."""
    utilities = utilities_of(number, rows, doubling_of(epsilon, neighbours))
    monotone = neighbours == ADD_REMOVE
    return number.candidates[choose(utilities, epsilon, monotone=monotone, below=below)]


def suggest(
    policy: Policy,
    project: Project,
    epsilon: Decimal,
    *,
    output: Path | None = None,
    edition: str = "",
    replace: bool = False,
    say: Callable[[str], None] = lambda text: None,
    clock: Clock = utc_now,
) -> Chosen:
    """Choose what limits one person in a policy, and write it as an ordinary policy.

    Guarantee and errors are those of ``safe.choose_recoding``. The policy's own numbers are the
    widest candidates. ``epsilon`` is the price of all numbers together.
    """
    policy = in_period(policy, project, edition, clock)
    step_of(epsilon)  # what has no price is told before anything is opened
    target = ChoiceTarget.of(
        policy, project, "suggested", output=output, edition=edition, replace=replace, clock=clock
    )
    return choose_privately(_Numbers(policy, target, choosable(policy), epsilon), say)


def numbers_sought(
    policy: Policy,
    project: Project,
    epsilon: Decimal,
    edition: str = "",
    output: Path | None = None,
) -> Sought:
    """What approvals of a suggestion for a policy are asked for; as ``safe.sought``."""
    policy = in_period(policy, project, edition, utc_now)
    step_of(epsilon)
    target = ChoiceTarget.of(policy, project, "suggested", output=output, edition=edition)
    return sought(_Numbers(policy, target, choosable(policy), epsilon))


@frozen
class _Numbers(PrivateChoice):
    """The choice of the numbers of a policy that limit one person."""

    numbers: tuple[Choosable, ...]
    price: Decimal
    kind: ClassVar[ChoiceOf] = "numbers"

    @property
    def epsilon(self) -> Decimal:
        return self.price

    @property
    def share(self) -> Decimal:
        """What each number is drawn by."""
        share = self.price / len(self.numbers)
        return share.quantize(Decimal("1e-12"), rounding=ROUND_DOWN)

    @property
    def told(self) -> object:
        """ε, and the candidates."""
        return [f"{self.price:f}", self.candidates]

    @property
    def candidates(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What each number can be, as people read it."""
        return tuple(
            (each.name, tuple(as_told(each.written(ends)) for ends in each.candidates))
            for each in self.numbers
        )

    def query(self, plan: ReleasePlan) -> str:
        engine = plan.warehouse.dialect.name
        try:
            return printed(self._claim(plan), engine)
        except Refused as error:
            raise UsageError(
                f"{self.policy.file}: {error.title} cannot read what suggest compares:"
                f" {error.reason}; {error.remedy or 'write the bounds by hand'}"
            ) from None

    def stated(self, plan: ReleasePlan) -> ChoiceStated:
        return stated_of(
            self,
            plan,
            people=doubling_of(self.share, self.policy.guarantee.neighbours),
            parts=self.candidates,
            candidates=prod(len(each.candidates) for each in self.numbers),
        )

    def drawn(self, plan: ReleasePlan, query: str, entry: Entry) -> str:
        with plan.warehouse.sampled(self.policy, plan.table, new_secret()) as check:
            read = plan.warehouse.rows(query)
            check()
        rows = self._rows(plan, read)
        neighbours = self.policy.guarantee.neighbours
        chosen = [chosen_ends(each, rows, self.share, neighbours) for each in self.numbers]
        return suggested_text(self.policy, self.numbers, chosen, entry)

    def _columns(self, plan: ReleasePlan) -> Mapping[tuple[str, Clip], Column]:
        """The column of each number that is of values, as the release reads it."""
        read = {column.name: column for column in plan.certificate.claim.inputs}
        found = {}
        for each in self.numbers:
            column = plan.table.find(each.column) if each.key == "bounds" else None
            if column is not None:
                found[each.column, each.clip] = read[column.name]
        return found

    def _claim(self, plan: ReleasePlan) -> Claim:
        """The claim of all rows with what is compared; nothing is certified of it."""
        claim = plan.certificate.claim
        values = tuple(
            Shown(_value(at), column, Round(clip.unit))
            for at, ((_, clip), column) in enumerate(self._columns(plan).items())
        )
        if not claim.unit.counts_all:
            return replace(claim, law=EVERY_CLASS, columns=values, count=_COUNT)
        found = of_all_rows(claim)
        return replace(found, columns=(*found.columns, *values), count=_COUNT)

    def _rows(self, plan: ReleasePlan, read: pa.Table) -> PersonRows:
        claim, columns = plan.certificate.claim, self._columns(plan)
        times = np.asarray(_numbers(read[_COUNT]), dtype=np.int64)
        values = {
            key: np.rint(_numbers(read[_value(at)]) / float(key[1].unit))
            for at, key in enumerate(columns)
        }
        if not claim.unit.counts_all:
            return PersonRows(times, values)
        somebody, people = whose(read, self.policy)
        groups = alike([read[shown.name] for shown in claim.columns])[somebody]
        kept = {key: each[somebody] for key, each in values.items()}
        return PersonRows(times[somebody], kept, people[somebody], groups)


def _value(at: int) -> str:
    return f"value {at}"


def _numbers(column: pa.ChunkedArray) -> Floats:
    """The numbers of a column, NaN where there is none; of every number there is one."""
    found = column.cast("float64", safe=False).to_numpy()
    return np.asarray(found, dtype=np.float64)


def suggested_text(
    policy: Policy, numbers: Sequence[Choosable], chosen: Sequence[Ends], entry: Entry
) -> str:
    """The policy's file with the numbers that were chosen."""
    data, told = plain_yaml(read_text(policy.file, "policy")), []
    for number, ends in zip(numbers, chosen, strict=True):
        written = number.written(ends)
        told.append(f"{number.name} {written}")
        if number.key != "bounds":
            data["contribution"][number.key] = written
        for name in number.measures:
            # A list of its own: of one that stands twice YAML writes an anchor.
            data["measures"][name]["bounds"] = number.written(ends)
    return with_note(data, OF_NUMBERS, entry, "; ".join(told))


def numbers_in(path: Path, numbers: Sequence[Choosable]) -> dict[str, int | list[int | float]]:
    """The numbers as a policy has them that was suggested."""
    data = plain_yaml(read_text(path, "policy"))
    found: dict[str, int | list[int | float]] = {}
    for number in numbers:
        if number.key == "bounds":
            ends = data["measures"][number.measures[0]]["bounds"]
            found[number.name] = _as_written(ends)
        else:
            found[number.name] = int(data["contribution"][number.key])
    return found
