"""Noisy counts [TABLE], [PLACE]: each group's count with noise of a table of integers.

Every group that is there gets a Z of its own, by the number that it has in the order of the
groups: so all Z are independent whatever the table holds. A group is shown if n + Z is at least
``least_shown``, which is above every Z of an empty group: those would never be shown, and so it
does not show which groups there are. Of an open table T is drawn, and n - T + offset shown where
T ≤ n.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting.choice import Choice
from policy_engine.accounting.noise import (
    MOST,
    IntegerTable,
    Priced,
    Statistic,
    delta_of_release,
)
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import OfEverybody, Secret, check_raw_first
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.mechanisms.tables import (
    CountedBy,
    Cut,
    Measure,
    Quantity,
    draws_of,
    ends_of,
)
from policy_engine.kernel.nodes import Nodes, Number
from policy_engine.kernel.sources import People
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim


@frozen
class Noisy(OfEverybody):
    """n + Z of each group where it is at least ``least_shown``, Z drawn from ``table``.

    Of an open table T is drawn. Every group that is shown has at least ``k`` people. ``offset`` is
    what is added to n - T, so that it estimates n. ``raw_first``: raw values are counted before
    they are recoded, which is the same release. Where there are ``groupings`` everybody is counted
    once by each, instead of by all that is shown. ``quantities`` are drawn beside the count, and
    ``measures``, which are made of them, are shown where it is, as ``quantiles`` are, each chosen
    by coins of its own. ``cuts`` are numbers of the whole release, each with one Z of
    ``cut_table``, beside every row.
    """

    table: IntegerTable
    k: int
    offset: int = 0
    raw_first: bool = False
    secret: Secret | None = None
    groupings: tuple[CountedBy, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    measures: tuple[Measure, ...] = ()
    cuts: tuple[Cut, ...] = ()
    cut_table: IntegerTable | None = None
    quantiles: tuple[Quantile, ...] = ()
    template: ClassVar[str] = "noisy_counts"
    mechanism: ClassVar[str] = "noisy-counts"

    @property
    def source_tag(self) -> str:
        """Where docs/explanation/mechanism.md has the proof."""
        return "[PLACE]" if self.table.is_open else "[TABLE]"

    @property
    def tables(self) -> tuple[tuple[IntegerTable, ...], ...]:
        """Of each grouping the table of its counts, and of each quantity beside them."""
        own = (self.table, *(each.table for each in self.quantities))
        return tuple(each.tables or own for each in self.groupings) or (own,)

    @property
    def least_shown(self) -> int:
        """The least number that any group is shown with."""
        return min(self.shown_from(table) for table, *_ in self.tables)

    def shown_from(self, table: IntegerTable) -> int:
        """τ: the least number that is shown of a count with this noise."""
        return self.offset if table.is_open else self.k + table.largest

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(1 <= self.k <= MOST, "k must be at least 1, and no number above 10^9")
        table, is_open = self.table, self.table.is_open
        require(not is_open or table.least == self.k, "a place is drawn from k on")
        # An offset of 0 is none, and a table without places has no other.
        require(0 <= self.offset <= is_open * table.largest, "an offset is one of the places")
        check_raw_first(self.raw_first, claim)
        beside = self.quantities or self.quantiles
        plain = not (claim.unit.counts_all or beside)
        require(plain or not self.raw_first, "raw values are counted of one row a person")
        require(not beside or claim.count is not None, "a sum stands beside a count")
        require(not (self.quantiles and self.groupings), "quantiles are of one grouping")
        self._check_measures(one_each=not claim.unit.counts_all)
        self._check_cuts(claim)
        if self.groupings:
            self._check_groupings(claim)

    def _check_measures(self, *, one_each: bool) -> None:
        clips = [each.clip for each in self.held]
        plain = all(clip.per == "row" and clip.rows == 1 for clip in clips)
        require(plain or not one_each, "of one row a person each row counts")
        rows = {clip.rows for clip in clips if clip.per == "row"}
        require(len(rows) <= 1, "of a person and group one number of rows counts")
        kinds = {(each.column, each.clip, each.center) for each in self.quantities}
        require(len(kinds) == len(self.quantities), "a quantity is drawn once")
        used = {each.quantity for each in self.measures} | {each.over for each in self.measures}
        used |= {each.over for each in self.quantiles}
        every = {*range(1, len(self.quantities) + 1)} <= used
        require(every, "a quantity that is drawn is shown")
        for measure in self.measures:
            measure.check(self.quantities, one_each=one_each)
        for quantile in self.quantiles:
            quantile.check(self.quantities, one_each=one_each)

    def _check_cuts(self, claim: Claim) -> None:
        table, kinds = self.cut_table, {(each.of, each.quantity) for each in self.cuts}
        require(len(kinds) == len(self.cuts), "a cut is told once")
        require(bool(self.cuts) == (table is not None), "a cut is told with noise")
        require(table is None or not table.is_open, "a place is of a count")
        cuts = claim.unit.counts_all and claim.count is not None
        require(cuts or not self.cuts, "cuts are of people with many rows, beside their counts")
        for each in self.cuts:
            each.check(self.quantities)

    def _check_groupings(self, claim: Claim) -> None:
        named = [shown.name for shown in claim.columns]
        for each in self.groupings:
            own = [name for name in named if name in each.columns]
            require(bool(own) and tuple(own) == each.columns, "a grouping is of shown columns")
        once = len({each.columns for each in self.groupings}) == len(self.groupings)
        covered = {name for each in self.groupings for name in each.columns} == {*named}
        require(once and covered, "a grouping stands once, and a shown column in one of them")
        counts = not claim.unit.counts_all and claim.count is not None
        require(counts, "several groupings count one row a person, and show their counts")
        whole = all(len(tables) == 1 + len(self.quantities) for tables in self.tables)
        require(whole, "a grouping's own tables are of its count and of each quantity")
        is_open = any(table.is_open for table in (self.table, *sum(self.tables, ())))
        require(not is_open, "a place is of one grouping")

    def statistics(self, groups: int, neighbours: str) -> tuple[Statistic, ...]:
        """What is drawn for each group, as the accountant prices it: one unit is in one of each."""
        drawn = []
        for counts, *others in self.tables:
            drawn.append(Statistic(counts, groups=groups))
            for each, table in zip(self.quantities, others, strict=True):
                drawn.append(each.moves.statistic(table, groups, neighbours))
        if self.cut_table is not None:  # one unit moves each by one, in how many groups it is
            drawn.append(Statistic(self.cut_table, groups=len(self.cuts)))
        return tuple(drawn)

    def choices(self, groups: int) -> tuple[Choice, ...]:
        """What is chosen for each group, as the accountant prices it."""
        return tuple(each.choice(groups) for each in self.quantiles)

    def least_of(self, quantile: Quantile) -> int:
        """The least number of values, with noise, of which there is one for certain."""
        if quantile.over:
            values = self.quantities[quantile.over - 1]
            return 1 + values.moves.grain * values.table.largest
        return self.offset if self.table.is_open else 1 + self.table.largest

    def drawn(self, groups: int, neighbours: str) -> tuple[Priced, ...]:
        """All that is drawn."""
        return (*self.statistics(groups, neighbours), *self.choices(groups))

    def delta(self, groups: int, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
        """The least δ of one release, of all that is drawn."""
        return delta_of_release(self.drawn(groups, neighbours), epsilon, neighbours).delta

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        return {
            "is_open": self.table.is_open,
            "least_shown": Number(self.shown_from(self.table)),
            "raw_first": self.raw_first,
            "part": [],
            "own_tables": [
                {
                    "number": Number(number),
                    "shown": Number(self.shown_from(each.tables[0])),
                    "draws": [draws_of(table) for table in each.tables],
                }
                for number, each in enumerate(self.groupings, 1)
                if each.tables
            ],
            "domain": [],
            "table": draws_of(self.table, self.offset),
            "cut_table": None if self.cut_table is None else draws_of(self.cut_table),
            **super().nodes(),
        }


@frozen
class NoisyPart(Noisy):
    """Noisy counts of one random part of the units, [PART]: the ``number``-th of ``parts``.

    A unit with the key x is in it if ⌊u·parts/2⁶⁰⌋ + 1 is the number, u being the first 60 bits of
    SHA-256 of ``secret:p:x``. The secret is the first half of what the release is drawn under: it
    is the same for all parts of a source, stays unknown and is used for nothing else. The other
    half is fresh, and the noise is drawn under both.

    Claim: if ``key_stays``, all that is released of the parts of one source costs what its dearest
    part costs, even if each release is chosen after the others were seen. Let f(x) be the part of
    x. That keys stay is somebody's word: each unit has one key in every state of the source that a
    part is released of. Without it a unit that got another key between two releases is in both
    their parts, and they add up as releases of everybody do.

    *One unit x more or less.* Fix f. The members of all parts but f(x) are the same on both tables,
    so their releases have one law under both, and what remains are the releases of one part. That
    holds for every f, so it does for their mixture.

    *One unit x replaced by y.* If both have one key, as above. Else neither is in the other table.
    f is uniform on all maps of keys to parts (SHA-256 under an unknown secret), so it has the same
    law as f with the parts of x and y exchanged. Take f on the one table and the exchanged map on
    the other: y is where x was, and everybody else where they were. So again but one part
    differs, by one unit replaced, and mixtures of pairs diverge by no more than the worst of them.

    Without the secret the second argument fails: x would be taken from one part and y put into
    another, which two releases would tell. It fails for parts by a value of the data, which the
    unit that takes another's place changes; and parts of rows have several of one unit's.
    """

    parts: int = 2
    number: int = 1
    key_stays: bool = False

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        super().check(claim)
        require(isinstance(claim.unit, People), "parts are of units with a key")
        require(1 <= self.number <= self.parts <= MOST, "a part is one of at most 10^9")

    def assumes(self, unit: str, source: str) -> Iterator[Assumption]:
        """That the part was drawn as it says, and that keys stay."""
        number, parts = str(self.number), str(self.parts)
        yield Assumption.of("part_drawn", number=number, parts=parts, source=source)
        if self.key_stays:
            yield Assumption.of("stays", unit=unit, source=source)

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        return {**super().nodes(), "part": ends_of(self.number, self.parts)}
