"""What a release of noisy counts says: a shown number is a count, or a sum, with noise."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.mechanisms.meaning import (
    Chances,
    Curve,
    Grouping,
    Meaning,
    PublicKeys,
    RowNumbers,
    ShownNumber,
    Unstated,
    any_row,
    left_out,
)
from policy_engine.kernel.mechanisms.noisy_counts.at_bounds import at_bound, most_are, side
from policy_engine.kernel.mechanisms.noisy_counts.intervals import (
    Interval,
    NoiseOf,
    count_off,
    left_out_of,
    mean_off,
    within_words,
)
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy, NoisyPart
from policy_engine.kernel.mechanisms.noisy_counts.public_keys import Listed
from policy_engine.kernel.mechanisms.quantile_words import (
    Few,
    beside_choice,
    quantile_in_full,
    quantile_words,
    rank_error,
)
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.mechanisms.tables import Clip, Cut, Measure, Moves, Quantity
from policy_engine.kernel.sources import Drawn, Groups, People
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.wording import MOST_KEYS, column_text, named, some_words
from policy_engine.kernel.words import people_word

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.kernel.certificate import Certificate

_SIZES = (10, 100, 1_000, 10_000)
_ALONE, _BELOW, _FEW = "noise alone", "below 0 by noise", "too few values"
_FEW_ROWS = 3
"""So many rows are named one by one."""
_NOISE = "SHA-256 of a secret of 128 bits and the number of each group"
_GROUPS = "; each unit counts in {} of its groups at most, drawn by SHA-256 of the secret and both"


class NoisyMeaning(Meaning[Noisy]):
    """What is said of counts with noise, of sums and means beside them, and of groupings."""

    title: ClassVar[str] = "noisy counts"
    sentences: ClassVar[Mapping[str, str]] = {
        "keys_listed": (
            "the policy's keys are public: they were listed without looking at the source"
        ),
        "part_drawn": (
            "part {number} of {parts} holds the units of {source} that SHA-256 of a second secret"
            " of 128 bits, the same for all of its parts, and their key put there"
        ),
        "stays": (
            "a person has the same {unit} whenever {source} is looked at, and nobody else ever has"
            " it"
        ),
    }

    def randomness(self, engine: str) -> str:
        """What is drawn for a release, and how."""
        order = self.claim.unit.order if isinstance(self.claim.unit, People) else None
        drawn = _GROUPS.format(order.most) if isinstance(order, Groups) else any_row(self.claim)
        return _NOISE + drawn

    def said(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """What a shown number is: sentences, each with the column of the number that it is of."""
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        law, k, table = self.law, self.law.k, self.law.table
        own = self.claim.count or ""
        counted = own or "the number of a group's rows"
        low, high = around(table, law.offset)
        if self.claim.count is None:
            yield (
                "",
                "a group is repeated as often as its number says: noise adds rows that are"
                " nobody's, and takes others away",
            )
        most, who = self.claim.unit.groups, self._who
        part = f"part {law.number} of {law.parts} of " if isinstance(law, NoisyPart) else ""
        yield (
            own,
            f"{counted} is how many people of {part}the source {who}, with noise: give or take"
            f" {deviation(table):.1f} (1 SD), and for certain there are between {counted} - {-low}"
            f" and {counted} + {high}",
        )
        if isinstance(self.claim.unit.order, Groups):
            up_to, were = (
                ("one group", "one was") if most == 1 else (f"{most} groups", f"{most} were")
            )
            told = "" if law.cuts else "; no column says how many people the limits cut"
            yield (
                own,
                f"a person is counted in up to {up_to}; if a person is in more, {were} drawn, and"
                f" then a group can have more people than were counted{told}",
            )
        if isinstance(law, Listed):
            yield "", all_shown(law, counted)
            yield from (*self._of_sums(), *self._of_cuts())
            yield from self._within(counted)
            return
        least = "one person" if k == 1 else f"{k} people"
        yield "", f"every group that is shown has at least {least}"
        yield from self._of_sums()
        yield from self._of_cuts()
        yield from self._within(counted)
        yield from self._of_groupings()
        half = shown_half(table, k)
        yield (
            "",
            f"a group of {half} people is shown half of the time: a missing group need not be"
            " empty; shown counts near this size tend to be too large, because a group with low"
            " noise is missing",
        )

    def _within(self, counted: str) -> Iterator[tuple[str, str]]:
        """By how much each number is off in 95 of 100 releases."""
        law, table = self.law, self.law.cut_table
        cuts = {} if table is None else {cut.name: table for cut in law.cuts}
        divisors = {**self._divisors, 0: counted}
        beside = (law.measures, law.quantities, law.tables[0], divisors, cuts)
        names = [each.name for each in law.quantiles]
        for words in within_words(*beside, unit=self.claim.unit, quantiles=names):
            yield "", words

    @property
    def _who(self) -> str:
        """Which people a group has: by all of their rows, or by the one that counts."""
        order = self.claim.unit.order if isinstance(self.claim.unit, People) else None
        if isinstance(order, Groups):
            return "were counted in the group"
        if isinstance(order, Drawn):
            return "have in the group the one of their rows that was drawn"
        if order is None:
            return "are in the group"
        column, descends = order[0]
        which = f"the first by {column.name}{' descending' if descends else ''}"
        return f"have in the group the one of their rows that counts, {which}"

    def _of_cuts(self) -> Iterator[tuple[str, str]]:
        """What the numbers of who is cut are: of the release, and not of a row."""
        from policy_engine.accounting.noise_laws import deviation

        table = self.law.cut_table
        if table is None:
            return
        for cut in self.law.cuts:
            about = f"with noise, give or take {deviation(table):.1f} (1 SD)"
            yield cut.name, f"{cut.name} is how many people {self._is_cut(cut)}; {about}"
        yield (
            "",
            f"{', '.join(self.once)}: one number each, of the whole release and the same in each"
            " row; where no group is shown, none is told",
        )

    def _is_cut(self, cut: Cut) -> str:
        if not cut.quantity:
            return cut_words(cut, self.law.quantities, "", self.claim.unit.groups)
        column = self.law.quantities[cut.quantity - 1].column
        name = "" if column is None else column.name
        return cut_words(cut, self.law.quantities, name, self.claim.unit.groups)

    @property
    def once(self) -> tuple[str, ...]:
        """The columns with one number of the whole release: who is cut."""
        return tuple(cut.name for cut in self.law.cuts)

    def found(self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """How far means are off in these rows, which sums are below 0, and how many people are cut.

        Nothing where no group is shown, or rows are not as the claim says.
        """
        labels, rows = self._labelled(names, lines)
        if not rows:
            return
        for measure in self.law.measures:
            yield from self._seen(measure, labels, rows)
        for chosen in self.law.quantiles:
            of_few = [self._is_of_few(chosen, row) for row in rows]
            if any(of_few):
                words = self._few(chosen, chosen.over).words(chosen)
                or_more = "at least " if self._unstated_of(chosen) else ""
                told = f"in {or_more}{_which(labels, of_few, marked=True)}: too few values there"
                yield f"{chosen.name} can be {words} {told}"
        yield from self._cut_in(rows[0])

    def doubts(self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """Which sums, means and quantiles are at a bound in most rows."""
        labels, rows = self._labelled(names, lines)
        for measure in self.law.measures:
            yield from self._at_bounds(measure, labels, rows)
        for chosen in self.law.quantiles:
            sides = [self._side_of_chosen(chosen, row) for row in rows]
            yield from self._at_end(chosen.name, chosen.clip, sides, labels, "quantile")

    def _labelled(
        self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]
    ) -> tuple[list[str], list[RowNumbers]]:
        """The rows with numbers beside the count, and how a reader finds each; none of others."""
        wanted = {*self.claim.released, self.count, *self.law.beside}
        if not self.law.beside or not wanted <= {*names}:
            return [], []
        whole = (dict(zip(names, line, strict=True)) for line in lines if len(line) == len(names))
        read = ((self._label_of(row), RowNumbers.of(row)) for row in whole)
        shown = [each for each in read if self._is_grouped(each[1])]
        return [label for label, _ in shown], [row for _, row in shown]

    def _label_of(self, row: Mapping[str, object]) -> str:
        """The values by which a reader finds a row."""
        cells = (row[name] for name in self.claim.released)
        return " ".join("NULL" if cell is None else named(str(cell)) for cell in cells)

    def _seen(
        self, measure: Measure, labels: Sequence[str], rows: Sequence[RowNumbers]
    ) -> Iterator[str]:
        """Of a mean its errors in these rows; of a sum of no negative values those below 0."""
        noises = self._noises_by_grouping(measure)
        marks = [self._mark(noises, row) for row in rows]
        if any(below := [mark == _BELOW for mark in marks]):
            of = _which(labels, below)
            yield f"{measure.name} is below 0 in {of}: by its noise alone, and shown as it is"
        divisor = self._divisor_of(measure)
        if not measure.is_mean or divisor is None:
            return
        told = [None not in map(row.get, (measure.name, divisor)) for row in rows]
        errors = [
            self._deviation_of(measure, row) for row, is_told in zip(rows, told, strict=True)
            if is_told
        ]  # fmt: skip
        if not errors:
            return
        least, most = f"{min(errors):.3g}", f"{max(errors):.3g}"
        between = least if least == most else f"{least} to {most}"
        yield f"{measure.name} is give or take {between} (1 SD) in these rows, by its noise"
        if any(alone := [mark == _ALONE for mark in marks]):
            yield (
                f"{measure.name} is noise alone in {_which(labels, alone, marked=True)}: there it"
                " can be anything between its bounds"
            )

    def _at_bounds(
        self, measure: Measure, labels: Sequence[str], rows: Sequence[RowNumbers]
    ) -> Iterator[str]:
        """That most rows have a number as if each value were at one of its bounds."""
        clip = self.law.quantities[measure.quantity - 1].clip
        noises = self._noises_by_grouping(measure)
        sides = [self._side(noises, row) for row in rows]
        number = "mean" if measure.is_mean else "sum"
        for words in self._at_end(measure.name, clip, sides, labels, number):
            yield f"{words}, or there are too few values" if self._unstated(measure) else words

    def _at_end(
        self, name: str, clip: Clip, sides: Sequence[int | None], labels: Sequence[str], number: str
    ) -> Iterator[str]:
        """That a number is at one end of its bounds in most rows.

        At a bound of 0 that says nothing: many columns have no value beyond, and many of 0.
        """
        end = most_are(sides)
        if end and (clip.high if end > 0 else clip.low):
            yield at_bound(name, clip, end, _which(labels, [each == end for each in sides]), number)

    def _side_of_chosen(self, chosen: Quantile, row: RowNumbers) -> int | None:
        """At which end of its bounds the quantile of a row is; None where it says nothing."""
        value = row.get(chosen.name)
        if value is None or self._is_of_few(chosen, row):
            return None
        ends = chosen.clip.low * chosen.clip.unit, chosen.clip.high * chosen.clip.unit
        return side((float(value), float(value)), (float(ends[0]), float(ends[1])))

    def _side(self, noises: Sequence[NoiseOf], row: RowNumbers) -> int | None:
        """At which end of its values the number of a row is; None where that is not known."""
        noise = noises[self._grouping_of(row)]
        measure, quantity = noise.measure, self.law.quantities[noise.measure.quantity - 1]
        value, found = row.get(measure.name), self._interval_of(noises, row)
        if quantity.center is None or value is None or (found and noise.is_alone(found)):
            return None
        unit = float(quantity.clip.unit)
        low, high = quantity.clip.low * unit, quantity.clip.high * unit
        if found is None:  # of a mean alone no interval may be told
            return side((float(value), float(value)), (low + unit, high - unit))
        if measure.is_mean:
            return side(found, (low, high))
        over = self._most_values(measure, quantity)
        many = None if over is None else row.get(self._divisors[over])
        if over is None or many is None:
            return None
        off = count_off(over, self.law.quantities, self._tables(row))
        least, most = int(many) - off, int(many) + off
        ends = max(low * least, low * most), min(high * least, high * most)
        return side(found, ends) if least > 0 else None

    def _most_values(self, measure: Measure, quantity: Quantity) -> int | None:
        """What is shown of how many values a sum is, or of how many at most; None for nothing."""
        many, by_row = self.claim.unit.counts_all, quantity.clip.per == "row"
        known = [] if measure.over is None else [measure.over]
        known += [
            number
            for number, each in enumerate(self.law.quantities, 1)
            if each.column in (quantity.column, None) and (each.clip.per == "row") == by_row
        ]
        known += [] if many and by_row else [0]
        return next((number for number in known if number in self._divisors), None)

    def _grouping_of(self, row: RowNumbers) -> int:
        """Which of the groupings a row is of, from 0."""
        return int(row[GROUPING]) - 1 if self.law.groupings else 0

    def _is_grouped(self, row: RowNumbers) -> bool:
        """Whether a row is of a grouping that there is."""
        number, most = row.get(GROUPING), len(self.law.groupings)
        return not most or (number is not None and 1 <= number <= most)

    def _mark(self, noises: Sequence[NoiseOf], row: RowNumbers) -> str:
        """What a reader of a row's sum or mean must know: that noise is all it says."""
        if not self._is_grouped(row):
            return ""
        noise = noises[self._grouping_of(row)]
        value, found = row.get(noise.measure.name), self._interval_of(noises, row)
        if not noise.measure.is_mean:
            least = self.law.quantities[noise.measure.quantity - 1].clip.low
            return _BELOW if value is not None and value < 0 <= least else ""
        return _ALONE if found is not None and noise.is_alone(found) else ""

    def _cut_in(self, row: RowNumbers) -> Iterator[str]:
        """How many people are cut, as any row tells."""
        from policy_engine.accounting.noise_laws import deviation

        table = self.law.cut_table
        for cut in self.law.cuts:
            if table is not None and (number := row.get(cut.name)) is not None:
                about = f"{number} ± {deviation(table):.0f}"
                yield f"about {about} people {self._is_cut(cut)}"

    def numbers(self, certificate: Certificate) -> Iterator[ShownNumber]:
        """The count, and each sum and mean beside it, with the noise of a row's grouping."""
        from policy_engine.accounting.intervals import within
        from policy_engine.accounting.noise_laws import deviation

        count = self.count
        if count is None:
            return

        def interval_of_count(row: RowNumbers) -> Interval:
            away, shown = within(self._tables(row)[0]), float(row[count])
            return shown - away, shown + away

        law, unit, most = self.law, self.claim.unit, self.claim.unit.groups
        part = f" of part {law.number} of {law.parts}" if isinstance(law, NoisyPart) else ""
        who = f"people{part}, each in up to {most} groups" if most > 1 else f"people{part}"
        yield ShownNumber(
            count,
            who,
            1.0,
            lambda row: deviation(self._tables(row)[0]),
            interval_of_count,
            left_out(unit),
        )
        for measure in law.measures:
            error, noises = partial(self._deviation_of, measure), self._noises_by_grouping(measure)
            interval = partial(self._interval_of, noises)
            yield ShownNumber(
                measure.name,
                self._measured(measure),
                1.0,
                error,
                interval,
                left_out=left_out_of(unit, law.quantities[measure.quantity - 1]),
                unstated=self._unstated(measure),
                mark=partial(self._mark, noises),
            )
        for chosen in law.quantiles:
            yield ShownNumber(
                chosen.name,
                quantile_words(chosen, chosen.column.name, many=self.claim.unit.counts_all),
                1.0,
                lambda row: math.nan,
                partial(self._ends_of, chosen),
                left_out=left_out(unit, chosen.clip, is_bounded=True),
                unstated=self._unstated_of(chosen),
                mark=partial(self._mark_of_few, chosen),
            )

    def _ends_of(self, chosen: Quantile, row: RowNumbers) -> Interval | None:
        """Between which ends a quantile is where its choice says nothing; None where it does."""
        clip = chosen.clip
        ends = float(clip.low * clip.unit), float(clip.high * clip.unit)
        return ends if self._is_of_few(chosen, row) else None

    def _unstated(self, measure: Measure) -> Unstated | None:
        """That no column shows over how many values a mean is, and what does as it is drawn."""
        if not measure.is_mean or measure.over is None or self._divisor_of(measure) is not None:
            return None
        law = (
            f"the error of {measure.name} is not stated because no column shows over how many"
            " values it is"
        )
        return Unstated(law, self._shows(measure.over))

    def _unstated_of(self, chosen: Quantile) -> Unstated | None:
        """The same of a quantile."""
        if chosen.over in self._divisors:
            return None
        law = (
            f"no column shows how many values {chosen.name} has, so not every row shows whether it"
            " has too few"
        )
        return Unstated(law, self._shows(chosen.over))

    def _shows(self, over: int) -> str:
        """What shows a number of values that is drawn."""
        counted = self.law.quantities[over - 1]
        shows = "count: {rows: rows}"
        if counted.column is not None:
            per = "row" if counted.clip.per == "row" else "person"
            whose = f", per: {per}" if self.claim.unit.counts_all else ""
            shows = f"a measure {{count: {named(counted.column.name)}{whose}}}"
        return f"{shows} shows it, at no price"

    def _noises_by_grouping(self, measure: Measure) -> Sequence[NoiseOf]:
        law = self.law
        return tuple(NoiseOf(measure, law.quantities, tables) for tables in law.tables)

    def _interval_of(self, noises: Sequence[NoiseOf], row: RowNumbers) -> Interval | None:
        """That of a sum or a mean in a row; None where the row does not tell it."""
        noise = noises[self._grouping_of(row)]
        measure, value = noise.measure, row.get(noise.measure.name)
        if value is None:
            return None
        if not measure.is_mean:
            return noise.interval(float(value), 0, 0)
        column = self._divisor_of(measure)
        many = None if column is None else row.get(column)
        if many is None:
            return None
        quantity = self.law.quantities[measure.quantity - 1]
        halves = halves_of(measure, quantity.clip, is_exact=self._is_exact(quantity))
        return noise.interval(float(value), int(many), halves)

    @property
    def exact(self) -> frozenset[int]:
        """The numbers beside the count of whose values none is rounded."""
        numbered = enumerate(self.law.quantities, 1)
        return frozenset(number for number, each in numbered if self._is_exact(each))

    def _is_exact(self, quantity: Quantity) -> bool:
        """Whether no row's value is rounded: it is whole, and so is the unit's share in 1."""
        whole = quantity.column is not None and quantity.column.seen.kind == "integer"
        return whole and 1 % quantity.clip.unit == 0

    @property
    def _divisors(self) -> Mapping[int, str]:
        """The columns that show over how many a mean is."""
        return divisors_of(self.law.measures, self.law.quantities, self.claim.count or "")

    def _divisor_of(self, measure: Measure) -> str | None:
        """The column that shows over how many a mean is; None where none does."""
        return self._divisors.get(measure.over or 0)

    def _tables(self, row: RowNumbers) -> Sequence[IntegerTable]:
        """The noise of a row's numbers: of the count, and of each quantity."""
        return self.law.tables[self._grouping_of(row)]

    def _deviation_of(self, measure: Measure, row: RowNumbers) -> float:
        """That of a sum, or of a mean, by the noise of all that it is made of."""
        quantities = self.law.quantities
        error, by_many = _noises_of(measure, quantities, self._tables(row))
        quantity = quantities[measure.quantity - 1]
        center, unit = quantity.center, float(quantity.clip.unit)
        if center is None:
            return error
        if not measure.is_mean:
            return math.hypot(error, center * by_many) * unit
        mean = row.get(measure.name)
        if mean is None:
            return math.nan
        column = self._divisor_of(measure)
        if column is None:
            return math.nan
        above = float(mean) / unit - center
        return math.hypot(error, above * by_many) * unit / max(1, int(row[column]))

    def _of_sums(self) -> Iterator[tuple[str, str]]:
        law = self.law
        for measure in law.measures:
            quantity = law.quantities[measure.quantity - 1]
            about = error_of(measure, law.quantities, law.tables[0], self._divisors)
            yield (
                measure.name,
                f"{measure.name} is {self._measured(measure)}, with noise: give or take {about}"
                " (1 SD)",
            )
            many = self.claim.unit.counts_all
            exact = self._is_exact(quantity)
            for more in beside_noise(measure, quantity, many=many, is_exact=exact):
                yield measure.name, more
            if unstated := self._unstated(measure):
                yield measure.name, str(unstated)
        many = self.claim.unit.counts_all
        for chosen in law.quantiles:
            words = quantile_words(chosen, chosen.column.name, many=many)
            error = rank_error(chosen, chosen.epsilon, many=many)
            how = f"chosen at random by how near they are: {error}"
            yield chosen.name, f"{chosen.name} is {words}, {how}"
            over = self._divisors.get(chosen.over, "the number of its values, with noise,")
            few = self._few(chosen, chosen.over)
            for more in beside_choice(chosen, few, law.least_of(chosen), over):
                yield chosen.name, more
            if unstated := self._unstated_of(chosen):
                yield chosen.name, str(unstated)

    def _few(self, chosen: Quantile, counted: int, times: int = 1) -> Few:
        """Of how few values, ``times`` what is ``counted`` with noise, a quantile says nothing."""
        off = times * count_off(counted, self.law.quantities, self.law.tables[0])
        return Few.of(chosen, chosen.epsilon, off)

    def _values_of(self, chosen: Quantile) -> tuple[int, int]:
        """What is shown of how many values a quantile is, and times what, or the most there are."""
        rows = (n for n, each in enumerate(self.law.quantities, 1) if each.column is None)
        known = (chosen.over, *(rows if chosen.clip.per == "row" else ()))
        shown = next((number for number in known if number in self._divisors), None)
        return (0, chosen.clip.rows) if shown is None else (shown, 1)

    def _is_of_few(self, chosen: Quantile, row: RowNumbers) -> bool:
        """Whether a row's quantile can be at an end of its bounds, whatever the values are."""
        counted, times = self._values_of(chosen)
        many = row.get(self._divisors[counted])
        few = self._few(chosen, counted, times)
        return row.get(chosen.name) is not None and many is not None and times * many < few.either

    def _mark_of_few(self, chosen: Quantile, row: RowNumbers) -> str:
        """The same of a quantile."""
        return _FEW if self._is_of_few(chosen, row) else ""

    def _measured(self, measure: Measure) -> str:
        quantity = self.law.quantities[measure.quantity - 1]
        name = "" if quantity.column is None else quantity.column.name
        many = self.claim.unit.counts_all
        return measured(measure, quantity.clip, name, many=many, counts=quantity.counts)

    def _of_groupings(self) -> Iterator[tuple[str, str]]:
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        law = self.law
        if not law.groupings:
            return
        by = [f"{n} by {', '.join(each.columns)}" for n, each in enumerate(self.law.groupings, 1)]
        yield (
            GROUPING,
            f"everybody is counted once in each {GROUPING}: {'; '.join(by)}; a column that is not"
            " in it is NULL in its rows",
        )
        for number, each in enumerate(self.law.groupings, 1):
            if each.tables:
                own, count = each.tables[0], self.claim.count or ""
                low, high = around(own)
                yield (
                    count,
                    f"in {GROUPING} {number} it is give or take {deviation(own):.1f} (1 SD),"
                    f" between {count} - {-low} and {count} + {high}, and"
                    f" {shown_half(own, self.law.k)} people are shown half of the time",
                )
                for beside in self.law.measures:
                    error = error_of(beside, self.law.quantities, each.tables, self._divisors)
                    sentence = (
                        f"in {GROUPING} {number} {beside.name} is give or take {error} (1 SD)"
                    )
                    yield beside.name, sentence
                divisors = {**self._divisors, 0: count}
                beside_it = (law.measures, law.quantities, each.tables, divisors)
                for words in within_words(*beside_it, unit=self.claim.unit):
                    yield "", f"in {GROUPING} {number}: {words}"

    @property
    def counted(self) -> str:
        """Of whom the numbers of a release are."""
        return f"{people_word(self.claim.unit.groups)}, counted with noise"

    @property
    def why_not_alike(self) -> str:
        """Why its rows do not tell which people are alike."""
        return "everybody is counted by several sets of columns" if self.law.groupings else ""

    def steps(self) -> Iterator[tuple[str, str]]:
        """The steps behind recoding, each with its name."""
        law = self.law
        yield "count", "how many people are in each group" + self._several()
        yield "noise", "; ".join(self._noises())
        if isinstance(law, Listed):
            yield "list", all_shown(law, str(self.claim.count))
            return
        least = f"a group is shown from {law.least_shown} on"
        some = "one person" if law.k == 1 else f"{law.k} people"
        yield "suppress", f"{least}, so that it has at least {some} for certain"

    def _several(self) -> str:
        many = self.claim.unit.counts_all
        own = [f"{self._measured(each)} ({named(each.name)})" for each in self.law.measures]
        for each in self.law.quantiles:
            words = quantile_words(each, each.column.name, many=many)
            own.append(f"{words} ({named(each.name)})")
        beside = f", with {', '.join(own)} beside it" if own else ""
        groupings = self.law.groupings
        ways = f", once by each of {len(groupings)} groupings" if groupings else ""
        return f"{beside}{ways}"

    def _noises(self) -> Iterator[str]:
        """The noise of the counts, of each grouping that has its own, and of each sum and mean."""
        law = self.law
        own = (
            (f"by {', '.join(map(named, each.columns))} ", each.tables)
            for each in law.groupings
            if each.tables
        )
        sums = tuple(each.table for each in law.quantities)
        for where, (counts, *others) in (("", (law.table, *sums)), *own):
            yield f"{where}{_noise(counts)} each count"
            numbered = enumerate(zip(law.quantities, others, strict=True), 1)
            for number, (each, table) in numbered:
                unit = 1 if each.counts else each.clip.unit
                drawn = _noise(table, digits_of(each.moves.grain * unit))
                names = [named(m.name) for m in law.measures if number in (m.quantity, m.over)]
                names += [named(q.name) for q in law.quantiles if number == q.over]
                what = "number of values" if each.counts else "sum"
                yield f"{where}{drawn} each {what} of which {' and '.join(names)} is made"
        for chosen in law.quantiles:
            yield (
                f"{named(chosen.name)} is one of {chosen.candidates:,} values, by coins of"
                f" ε = {digits_of(chosen.epsilon)}"
            )
        if law.cut_table is not None:
            names = [named(cut.name) for cut in law.cuts]
            yield f"{_noise(law.cut_table)} {', '.join(names)}, once for the whole release each"

    def curve(self, certificate: Certificate, neighbours: str) -> Curve:
        """δ at each ε, never below the true one."""
        from policy_engine.accounting.noise import ReleaseCurve

        whole = ReleaseCurve.of(self.law.drawn(self.claim.unit.groups, neighbours), neighbours)
        return lambda epsilon: whole.delta(epsilon).delta

    def candidates(self, certificate: Certificate) -> Iterator[tuple[str, Candidate]]:
        """By grouping what its numbers show of a group: those of a public list are all shown."""
        from policy_engine.accounting.comparison import Candidate

        law = self.law
        names = [", ".join(each.columns) for each in law.groupings] or [""]
        for name, (counts, *_) in zip(names, law.tables, strict=True):
            yield name, Candidate("", counts, law.k, isinstance(law, Listed))

    def chances(self, certificate: Certificate) -> Iterator[Chances]:
        """How likely a group is shown, by its size; of a public list nothing is left to chance."""
        return iter(()) if isinstance(self.law, Listed) else super().chances(certificate)

    def lines(self) -> Iterator[str]:
        """What it shows beside the columns, and of what public lists it is."""
        law = self.law
        yield from (f"{named(name)}: {words}" for name, words in self.sums().items())
        for number, by in enumerate(law.groupings, 1):
            yield f"grouping {number}: by {', '.join(map(named, by.columns))}"
        if isinstance(law, NoisyPart):
            yield (
                f"part {law.number} of {law.parts}: of everybody one in {law.parts}, by a secret"
                " hash of their key"
            )
        if isinstance(law, Listed):
            for rows in law.keys:
                keys = some_words(rows, MOST_KEYS)
                yield f"public keys, {len(rows):,}: {keys}"

    def described(self, method: str) -> Iterator[tuple[str, str]]:
        """Its numbers, each with its name."""
        table = self.law.table
        about = ", an offset and a random number taken away"
        if not table.is_open:
            about = f", with noise from {table.least} to {table.largest}"
        yield "counts", f"everybody{about}"
        if isinstance(self.law, Listed):
            yield "keys", f"{self.law.size:,} of a public list, all shown"

    @property
    def noise(self) -> str:
        """What is added to a count, or taken from it."""
        return noise_words(self.law.table)

    def sums(self) -> dict[str, str]:
        """What stands beside a count, by its name."""
        law = self.law
        cuts = {cut.name: f"how many people {self._is_cut(cut)}" for cut in law.cuts}
        many = self.claim.unit.counts_all
        chosen = {
            each.name: quantile_in_full(each, column_text(each.column), many=many)
            for each in law.quantiles
        }
        return {each.name: self._in_full(each) for each in law.measures} | chosen | cuts

    def _in_full(self, measure: Measure) -> str:
        """What a measure is, of a column with its type, and of which values."""
        quantity, many = self.law.quantities[measure.quantity - 1], self.claim.unit.counts_all
        name = "" if quantity.column is None else column_text(quantity.column)
        return in_full(measure, quantity.clip, name, many=many, counts=quantity.counts)

    def groupings(self) -> Iterator[Grouping]:
        """By what everybody is counted, where that is by several sets of columns."""
        from policy_engine.accounting.noise_laws import deviation

        law = self.law
        for each, (table, *_) in zip(law.groupings, law.tables, strict=False):
            yield Grouping(each.columns, deviation(table), law.shown_from(table))

    def public_keys(self) -> Iterator[PublicKeys]:
        """The lists of public keys; of a constant column there is none."""
        shown = iter(self.claim.columns)
        for rows in self.law.keys if isinstance(self.law, Listed) else ():
            columns = [next(shown) for _ in rows[0]]
            own = [at for at, each in enumerate(columns) if each.column is not None]
            if own:
                names = tuple(columns[at].name for at in own)
                yield names, tuple(tuple(row[at] for at in own) for row in rows)

    def unprotected(self) -> str:
        """What protects the numbers that are shown."""
        return "every shown count, sum and mean, and which groups are shown, is of noisy numbers"

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        law = self.law
        means = [each.name for each in law.measures if each.is_mean]
        texts = ["Groups below the limit are left out by their noisy count."]
        if law.offset:
            texts.append(f"{law.offset} is added to each noisy count, so that it estimates n.")
        if law.quantiles:
            names = ", ".join(each.name for each in law.quantiles)
            texts.append(f"Left empty where a noisy number of values is small: {names}.")
        if means:
            texts.append(f"Made of a noisy sum and a noisy count: {', '.join(means)}.")
        return " ".join(texts)


def all_shown(law: Listed, count: str) -> str:
    """What a release of public keys shows, with its counts in the column ``count``."""
    keys = f"all {law.size:,} keys of a public list are shown, those of nobody too, and no other"
    return f"{keys} group: {count} can be 0 or less"


class DrawnBeside(Protocol):
    """A quantity, of a claim or of a policy."""

    @property
    def clip(self) -> Clip:
        """How much one person gives."""

    @property
    def center(self) -> int | None:
        """What is taken from each value."""

    @property
    def moves(self) -> Moves:
        """By how much one person moves it."""


def divisors_of(
    measures: Sequence[Measure], quantities: Sequence[DrawnBeside], count: str
) -> Mapping[int, str]:
    """The columns that show how many there are, by what is drawn; 0 are the people."""
    counts = (each for each in measures if quantities[each.quantity - 1].center is None)
    return {0: count, **{each.quantity: each.name for each in counts}}


def error_of(
    measure: Measure,
    quantities: Sequence[DrawnBeside],
    tables: Sequence[IntegerTable],
    divisors: Mapping[int, str],
) -> str:
    """The standard deviation of a measure by its noise; of a mean it grows with what it is.

    ``tables`` are those of the counts, and of the ``quantities``.
    """
    own = quantities[measure.quantity - 1]
    error, by_many = _noises_of(measure, quantities, tables)
    if own.center is None:
        return f"{error:.6g}"
    if not measure.is_mean:
        return f"{math.hypot(error, own.center * by_many) * float(own.clip.unit):.6g}"
    least, most = _errors_of_mean(measure, quantities, tables)
    middle = digits_of(own.center * own.clip.unit)
    return mean_off(f"{least:.6g}", middle, f"{most:.6g}", divisors.get(measure.over or 0))


def _errors_of_mean(
    measure: Measure, quantities: Sequence[DrawnBeside], tables: Sequence[IntegerTable]
) -> tuple[float, float]:
    """The standard deviation of a mean of one value: at the middle of its bounds, and at an end."""
    own = quantities[measure.quantity - 1]
    clip, center, unit = own.clip, own.center or 0, float(own.clip.unit)
    error, by_many = _noises_of(measure, quantities, tables)
    farthest = max(clip.high - center, center - clip.low)
    return error * unit, math.hypot(error, farthest * by_many) * unit


def error_by_size(
    measure: Measure,
    quantities: Sequence[DrawnBeside],
    tables: Sequence[IntegerTable],
    divisors: Mapping[int, str],
) -> str:
    """How far a mean of some numbers of values is off (1 SD), or that it is noise alone."""
    least, most = _errors_of_mean(measure, quantities, tables)
    alone_below = NoiseOf(measure, quantities, tables).alone_below
    alone = [f"{size:,}" for size in _SIZES if size < alone_below]
    told = [f"{' or '.join(alone)}: noise alone"] if alone else []
    for size in _SIZES[len(alone) :]:
        ends = dict.fromkeys(f"{float(f'{end / size:.2g}'):,.9g}" for end in (least, most))
        told.append(f"{size:,}: {' to '.join(ends)}")
    over = divisors.get(measure.over or 0, "the number of values")
    return f"1 SD where {over}, with noise, is {'; '.join(told)}"


def _noises_of(
    measure: Measure, quantities: Sequence[DrawnBeside], tables: Sequence[IntegerTable]
) -> tuple[float, float]:
    """The standard deviation of its quantity, in units, and of how many there are of it."""
    from policy_engine.accounting.noise_laws import deviation

    error = deviation(tables[measure.quantity]) * quantities[measure.quantity - 1].moves.grain
    if measure.over is None:
        return error, 0.0
    grain = quantities[measure.over - 1].moves.grain if measure.over else 1
    return error, deviation(tables[measure.over]) * grain


def measured(measure: Measure, clip: Clip, name: str, *, many: bool, counts: bool = False) -> str:
    """What a measure of the column ``name`` is: of what, over whom; of people with ``many`` rows.

    ``counts``: it is how many values there are.

    >>> measured(Measure("visits", 1), Clip(0, 1, rows=20), "", many=True)
    "how many rows are counted in the group, at most 20 of each person's"
    """
    most = f", at most {clip.rows} of each person's" if many and clip.per == "row" else ""
    if not name:
        return f"how many rows are counted in the group{most}"
    if counts:
        who = "rows" if many and clip.per == "row" else "people"
        return f"how many {who} in the group have a value of {name}{most}"
    kind, left_out = "mean" if measure.is_mean else "sum", " with a value"
    if clip.absent is not None:
        left_out = f", a missing value as {digits_of(clip.absent * clip.unit)}"
    if clip.per != "row":
        return f"the {kind} over the people{left_out} of each one's {clip.per} of {name}"
    drawn = f"{most}, drawn at random" if most else ""
    return f"the {kind} of {name} over the {'rows' if many else 'people'}{left_out}{drawn}"


def in_full(measure: Measure, clip: Clip, name: str, *, many: bool, counts: bool = False) -> str:
    """What a measure of the column ``name`` is, and how its values are held: as ``measured``."""
    words = measured(measure, clip, name, many=many, counts=counts)
    if not name or counts:
        return words
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    unit = digits_of(clip.unit)
    return f"{words}, rounded to a multiple of {unit} and held between {low} and {high}"


def _which(labels: Sequence[str], chosen: Sequence[bool], *, marked: bool = False) -> str:
    """Which rows, by their labels where they are few; ``marked``: by their intervals, where not.

    >>> _which(["north", "east", "south"], [True, False, True])
    '2 of 3 rows (north; south)'
    >>> _which("abcde", [True] * 5)
    '5 of 5 rows'
    """
    found = [label for label, is_chosen in zip(labels, chosen, strict=True) if is_chosen]
    how = ""
    if all(found) and len(found) <= _FEW_ROWS:
        how = f" ({'; '.join(found)})"
    elif marked:
        how = " ('policy-engine show --errors' has these bounds as the interval of each)"
    return f"{len(found)} of {len(labels)} rows{how}"


def cut_words(cut: Cut, quantities: Sequence[DrawnBeside], name: str, most: int) -> str:
    """Who is cut by a limit, and how they count: of the column ``name``, in ``most`` groups.

    >>> cut_words(Cut("many", "groups"), (), "", 4)
    'are in more than 4 groups: 4 of each count, drawn at random'
    """
    if cut.of == "groups":
        return f"are in more than {most} groups: {most} of each count, drawn at random"
    if cut.of == "rows":
        rows = max(each.clip.rows for each in quantities)
        return f"have more than {rows} rows in a group: {rows} of each count, drawn at random"
    clip = quantities[cut.quantity - 1].clip
    if cut.of == "missing":
        as_what = "it is left out"
        if clip.absent is not None:
            as_what = f"it counts as {digits_of(clip.absent * clip.unit)}"
        return f"have a row without a value of {name}: {as_what}"
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    whose = "a value" if clip.per == "row" else f"in a group a {clip.per}"
    return f"have {whose} of {name} below {low} or above {high}: it counts as {low} or as {high}"


def beside_noise(
    measure: Measure, quantity: DrawnBeside, *, many: bool, is_exact: bool
) -> Iterator[str]:
    """What else a measure differs by from the question: its rounding, and what has no size.

    ``is_exact``: none of its values is rounded.
    """
    clip, own = quantity.clip, quantity.moves
    if quantity.center is None:
        if own.grain > 1:
            yield f"{measure.name} is a multiple of {own.grain} before noise is added"
        if many and clip.per == "row":
            yield f"of whoever has more than {clip.rows} rows in a group, {clip.rows} count"
        return
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    who = "row" if many and clip.per == "row" else "person"
    yield from _rounding(measure, clip, who, is_exact=is_exact)
    yield (
        f"in {measure.name} a {who} below {low} counts as {low}, and above {high} as {high}: no"
        f" column says how much this changes {measure.name}"
    )
    if own.grain > 1:
        step = digits_of(own.grain * clip.unit)
        less = f", each less {digits_of(quantity.center * clip.unit)}," if quantity.center else ""
        of = measure.name
        if measure.is_mean or less:
            of = f"the sum of the values of {measure.name}{less}"
        yield f"{of} is rounded towards zero to steps of {step} before noise is added"
    if measure.is_mean:
        return
    if clip.low >= 0:
        yield f"{measure.name} can be below 0 by its noise, though no value is"


def halves_of(measure: Measure, clip: Clip, *, is_exact: bool) -> int:
    """By so many halves of a unit rounding moves a mean, or each value of a sum, at most."""
    halves = 0 if is_exact else 1
    halves += 1 if clip.per == "mean" else 0
    return halves + 1 if measure.is_mean else halves


def _rounding(measure: Measure, clip: Clip, who: str, *, is_exact: bool) -> Iterator[str]:
    """By how much rounding moves a number at most: each row's, a person's mean's, its own."""
    halves = halves_of(measure, clip, is_exact=is_exact)
    whose = "row" if clip.per == "total" else who
    each = "" if measure.is_mean else f" for each {whose} that counts"
    if halves:
        most = digits_of(halves * clip.unit / 2)
        yield f"beside its noise {measure.name} is off by rounding, by at most {most}{each}"


def noise_words(table: IntegerTable) -> str:
    """What a table of noise is: its ends, and a digest that tells it from others."""
    entries = hashlib.sha256(repr(table.entries).encode()).hexdigest()[:12]
    if table.is_open:
        return f"a random number from {table.least} on is taken away (sha256 {entries})"
    return f"a random number from {table.least} to {table.largest} is added (sha256 {entries})"


def _noise(table: IntegerTable, step: str = "1") -> str:
    """What is drawn, in multiples of ``step``; what it is added to or taken from is said next."""
    times = "" if step == "1" else f"{step} times "
    if table.is_open:
        return f"{times}a random whole number of {table.least} or more is taken from"
    return f"{times}a random whole number from {table.least} to {table.largest} is added to"
