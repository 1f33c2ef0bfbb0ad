"""What a release of noisy counts says: a shown number is a count, or a sum, with noise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
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
    ShownNumber,
    any_row,
)
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy, NoisyPart
from policy_engine.kernel.mechanisms.noisy_counts.public_keys import Listed
from policy_engine.kernel.mechanisms.tables import Aggregate, Clip
from policy_engine.kernel.sources import Groups, People
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.wording import MOST_KEYS, column_text, named, row_words, some_words
from policy_engine.kernel.words import people_word

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.kernel.certificate import Certificate

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

    def told(self, certificate: Certificate) -> Iterator[str]:
        """What a shown number is, in sentences."""
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        law, k, table = self.law, self.law.k, self.law.table
        counted = self.claim.count or "the number of a group's rows"
        low, high = around(table, law.offset)
        if self.claim.count is None:
            yield (
                "a group is repeated as often as its number says: noise adds rows that are"
                " nobody's, and takes others away"
            )
        most = self.claim.unit.groups
        who = "are in the group" if most == 1 else "were counted in the group"
        part = f"part {law.number} of {law.parts} of " if isinstance(law, NoisyPart) else ""
        yield (
            f"{counted} is how many people of {part}the source {who}, with noise: give or take"
            f" {deviation(table):.1f} (1 SD), and for certain there are between {counted} - {-low}"
            f" and {counted} + {high}"
        )
        if most > 1:
            yield (
                f"a person is counted in up to {most} groups; of whoever is in more, {most} were"
                " drawn, so that a group may have more people than were counted"
            )
        if isinstance(law, Listed):
            yield from (all_shown(law, counted), *self._of_sums())
            return
        yield f"every group that is shown has at least {'one person' if k == 1 else f'{k} people'}"
        yield from self._of_sums()
        yield from self._of_groupings()
        half = shown_half(table, k)
        yield (
            f"a group of {half} people is shown half of the time: one that is missing need not be"
            " empty, and of groups near it those are shown that the noise favoured: they seem too"
            " large"
        )

    def numbers(self, certificate: Certificate) -> Iterator[ShownNumber]:
        """The count, and each sum and mean beside it, with the noise of a row's grouping."""
        count = self.count
        if count is None:
            return
        law, most = self.law, self.claim.unit.groups
        part = f" of part {law.number} of {law.parts}" if isinstance(law, NoisyPart) else ""
        who = f"people{part}, each in up to {most} groups" if most > 1 else f"people{part}"
        yield ShownNumber(count, who, 1.0, lambda row: self._deviation(0, row))
        for place, each in enumerate(law.aggregates, 1):
            unit = float(each.clip.grain * each.unit)
            yield ShownNumber(
                each.name,
                f"the {_kind(each)} of {each.column.name}",
                1.0,
                partial(self._deviation_of_sum, place, unit, count if each.clip.is_mean else None),
            )

    def _deviation(self, place: int, row: Mapping[str, Any]) -> float:
        """That of the place-th number's noise, in steps."""
        from policy_engine.accounting.noise_laws import deviation

        grouping = row[GROUPING] - 1 if self.law.groupings else 0
        return deviation(self.law.tables[grouping][place])

    def _deviation_of_sum(
        self, place: int, unit: float, over: str | None, row: Mapping[str, Any]
    ) -> float:
        people = 1 if over is None else max(1, row[over])
        return self._deviation(place, row) * unit / people

    def _of_sums(self) -> Iterator[str]:
        for each in self.law.aggregates:
            clip, about = each.clip, error_of_sum(each, self.claim.count or "")
            ends = (clip.low, clip.high, clip.absent)
            low, high, absent = (digits_of(end * each.unit) for end in ends)
            yield (
                f"{each.name} is the {_kind(each)} of {each.column.name} over"
                f" the people of the group, each with a value from {low} to {high}, with noise:"
                f" give or take {about} (1 SD); a person without a value counts as {absent}"
            )

    def _of_groupings(self) -> Iterator[str]:
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        if not self.law.groupings:
            return
        by = [f"{n} by {', '.join(each.columns)}" for n, each in enumerate(self.law.groupings, 1)]
        yield (
            f"everybody is counted once in each {GROUPING}: {'; '.join(by)}; a column that is not"
            " in it is NULL in its rows"
        )
        for number, each in enumerate(self.law.groupings, 1):
            if each.tables:
                own, count = each.tables[0], self.claim.count or ""
                low, high = around(own)
                yield (
                    f"in {GROUPING} {number} it is give or take {deviation(own):.1f} (1 SD),"
                    f" between {count} - {-low} and {count} + {high}, and"
                    f" {shown_half(own, self.law.k)} people are shown half of the time"
                )
                for beside, table in zip(self.law.aggregates, each.tables[1:], strict=True):
                    error = error_of_sum(beside, count, table)
                    yield f"in {GROUPING} {number} {beside.name} is give or take {error} (1 SD)"

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
        sums = self.law.aggregates
        own = (f"the {_kind(s)} of {named(s.column.name)} ({named(s.name)})" for s in sums)
        beside = f", with {', '.join(own)} beside it" if sums else ""
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
        sums = tuple(each.table for each in law.aggregates)
        for where, (counts, *others) in (("", (law.table, *sums)), *own):
            yield f"{where}{_noise(counts)} each count"
            for each, table in zip(law.aggregates, others, strict=True):
                drawn = _noise(table, digits_of(each.clip.grain * each.unit))
                name = named(each.name)
                of = f"of which the mean {name} is made" if each.clip.is_mean else name
                yield f"{where}{drawn} each sum {of}"

    def curve(self, certificate: Certificate, neighbours: str) -> Curve:
        """δ at each ε, never below the true one."""
        from policy_engine.accounting.noise import ReleaseCurve

        statistics = self.law.statistics(self.claim.unit.groups, neighbours)
        whole = ReleaseCurve.of(statistics, neighbours)
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
                keys = some_words(map(row_words, rows), MOST_KEYS)
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
        return {each.name: _sum_words(each) for each in self.law.aggregates}

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
        means = [each.name for each in law.aggregates if each.clip.is_mean]
        texts = ["Groups below the limit are left out by their noisy count."]
        if law.offset:
            texts.append(f"{law.offset} is added to each noisy count, so that it estimates n.")
        if means:
            texts.append(f"Made of a noisy sum and a noisy count: {', '.join(means)}.")
        return " ".join(texts)


def all_shown(law: Listed, count: str) -> str:
    """What a release of public keys shows, with its counts in the column ``count``."""
    keys = f"all {law.size:,} keys of a public list are shown, those of nobody too, and no other"
    return f"{keys} group: {count} can be 0 or less"


class SumOf(Protocol):
    """A sum or a mean, of a claim or of a policy."""

    @property
    def unit(self) -> Decimal:
        """What it is a whole number of."""

    @property
    def clip(self) -> Clip:
        """Between which ends a person moves it."""

    @property
    def table(self) -> IntegerTable:
        """Its noise."""


def error_of_sum(each: SumOf, count: str, table: IntegerTable | None = None) -> str:
    """The standard deviation of a sum, or of a mean over the number in the column ``count``.

    With the noise of ``table``, where a grouping has its own.
    """
    from policy_engine.accounting.noise_laws import deviation

    error = deviation(table or each.table) * float(each.clip.grain * each.unit)
    return f"{error:.6g} / {count}" if each.clip.is_mean else f"{error:.6g}"


def noise_words(table: IntegerTable) -> str:
    """What a table of noise is: its ends, and a digest that tells it from others."""
    entries = hashlib.sha256(repr(table.entries).encode()).hexdigest()[:12]
    if table.is_open:
        return f"a random number from {table.least} on is taken away (sha256 {entries})"
    return f"a random number from {table.least} to {table.largest} is added (sha256 {entries})"


def _sum_words(each: Aggregate) -> str:
    """A sum or a mean beside a count: of what, and within which ends a person moves it."""
    clip, unit = each.clip, each.unit
    low, high = (digits_of(end * unit) for end in (clip.low, clip.high))
    return (
        f"the {_kind(each)} of {column_text(each.column)}, each person's value"
        f" rounded to a multiple of {digits_of(unit)} and held between {low} and {high}"
    )


def _kind(each: Aggregate) -> str:
    return "mean" if each.clip.is_mean else "sum"


def _noise(table: IntegerTable, step: str = "1") -> str:
    """What is drawn, in multiples of ``step``; what it is added to or taken from is said next."""
    times = "" if step == "1" else f"{step} times "
    if table.is_open:
        return f"{times}a random whole number of {table.least} or more is taken from"
    return f"{times}a random whole number from {table.least} to {table.largest} is added to"
