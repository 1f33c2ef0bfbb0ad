"""What the rows of noisy counts can be: groupings, counts, and sums within what noise allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain, product
from typing import Any

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy
from policy_engine.kernel.mechanisms.noisy_counts.public_keys import Listed
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.mechanisms.rows import ReleasedRows, RowsChecked
from policy_engine.kernel.mechanisms.tables import Measure, Quantity
from policy_engine.kernel.values_shown import WIDE, number_of_text


class NoisyRows(ReleasedRows[Noisy]):
    """Groups with a count, and what stands beside it."""

    @property
    def least(self) -> int:
        """The least number that a group is shown with: τ."""
        return self.law.least_shown

    def check_keys(self, rows: Iterable[tuple[object, ...]]) -> RowsChecked:
        """That each certified key is a row once, and no other; of groups that are there nothing."""
        if not isinstance(self.law, Listed):
            return RowsChecked()
        wanted = Counter(tuple(chain.from_iterable(key)) for key in product(*self.law.keys))
        if Counter(rows) != wanted:
            return RowsChecked(wrong="its groups are not the certified keys, each once")
        return RowsChecked(holds="its groups are the certified keys, each once")

    def wrong_row(self, rows: Iterable[Sequence[Any]]) -> str:
        """What no row can say: of its grouping, its count or its sums; empty if nothing."""
        law, names = self.law, [shown.name for shown in self.claim.columns]
        if self.claim.count is None or not (law.groupings or law.beside):
            return ""
        before, after = len(law.before), len(law.before) + len(names)
        told, of_groupings = set(), law.tables
        for row in rows:
            tables, counted = of_groupings[0], number_of_text(row[after])
            if counted is None:
                return "the count column does not hold whole numbers"
            if law.groupings:
                place = number_of_text(row[0])
                if place is None or place not in range(1, len(law.groupings) + 1):
                    return "a row is of no grouping that there is"
                grouping, tables = law.groupings[int(place) - 1], of_groupings[int(place) - 1]
                shown = dict(zip(names, row[before:after], strict=True))
                if any(shown[name] is not None for name in names if name not in grouping.columns):
                    return "a row shows a column that its grouping does not count by"
            if counted < law.shown_from(tables[0]):
                return f"a group is shown with less than {law.shown_from(tables[0])}"
            people = _people(law, tables[0], int(counted))
            last = len(row) - len(law.cuts)
            wrong = _wrong_beside(law, tables, row[after + 1 : last], (int(counted), people))
            if wrong:
                return wrong
            told.add(tuple(map(number_of_text, row[last:])))
            if len(told) > 1:
                return "who was cut is one number of the release, and not the same in all its rows"
            for cut, people_cut in zip(law.cuts, min(told), strict=True):
                if not _is_told(law, people_cut):
                    return f"what stands in {cut.name} is no number of people, with noise"
        return ""


def _wrong_beside(
    law: Noisy,
    tables: Sequence[IntegerTable],
    values: Sequence[object],
    counted: tuple[int, range],
) -> str:
    """Which of the numbers beside a count cannot be; empty if none."""
    of_measures, chosen = values[: len(law.measures)], values[len(law.measures) :]
    for measure, value in zip(law.measures, of_measures, strict=True):
        if not _can_be(law, measure, tables, value, counted):
            return f"what stands in {measure.name} is none of its sums or means"
    for quantile, value in zip(law.quantiles, chosen, strict=True):
        if not _is_candidate(quantile, value):
            return f"what stands in {quantile.name} is none of the values to choose of"
    return ""


def _is_candidate(quantile: Quantile, value: object) -> bool:
    """Whether it is one of those that one is chosen of, or none."""
    number, clip = number_of_text(value), quantile.clip
    if number is None:
        return value is None
    units, rest = WIDE.divmod(number, clip.unit)
    return not rest and clip.low <= units <= clip.high


def _is_told(law: Noisy, people: Decimal | None) -> bool:
    """Whether so many people, or more, can be told to be cut."""
    table = law.cut_table
    return table is not None and people is not None and not people % 1 and people >= table.least


def _people(law: Noisy, table: IntegerTable, counted: int) -> range:
    """How many people a group can have that is shown with this count, from least to most."""
    low, high = -table.largest, -table.least
    if table.is_open:
        low, high = table.least - law.offset, table.largest - law.offset
    return range(max(0, counted + low), max(0, counted + high) + 1)


def _can_be(
    law: Noisy,
    measure: Measure,
    tables: Sequence[IntegerTable],
    value: object,
    counted: tuple[int, range],
) -> bool:
    """Whether a number is one that a group of so many people can have, with noise."""
    quantity = law.quantities[measure.quantity - 1]
    number, clip = number_of_text(value), quantity.clip
    if number is None:  # of nobody there is no mean
        return measure.is_mean and value is None and (measure.over != 0 or counted[0] < 1)
    units, rest = WIDE.divmod(number, 1 if quantity.counts else clip.unit)
    if rest:
        return False
    if measure.is_mean:
        return clip.low <= units <= clip.high
    least, most = _ends(quantity, tables[measure.quantity], counted[1])
    if not quantity.center:
        return units % quantity.moves.grain == 0 and least <= units <= most
    assert measure.over is not None
    many = range(counted[0], counted[0] + 1)
    if measure.over:
        low, high = _ends(law.quantities[measure.over - 1], tables[measure.over], counted[1])
        many = range(low, high + 1)
    added = [quantity.center * number for number in (many[0], many[-1])]
    return least + min(added) <= units <= most + max(added)


def _ends(quantity: Quantity, table: IntegerTable, people: range) -> tuple[int, int]:
    """Between which numbers a quantity of so many people lies, with noise."""
    moves, grain = quantity.moves, quantity.moves.grain
    least = moves.least * people[-1] + grain * (table.least - 1)
    return least, moves.most * people[-1] + grain * (table.largest + 1)
