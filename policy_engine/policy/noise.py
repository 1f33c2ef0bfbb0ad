"""The noise that a policy means, so that its guarantee is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting.bisection import least_integer
from policy_engine.errors import DomainError
from policy_engine.kernel import mechanisms
from policy_engine.kernel.mechanisms.meaning import Curve
from policy_engine.kernel.mechanisms.noisy_counts.meaning import noise_words
from policy_engine.kernel.mechanisms.quantiles import LEAST_EPSILON
from policy_engine.policy.auto import Guarantee, NoSolution
from policy_engine.policy.mechanisms.common import LawParts, Protection
from policy_engine.policy.mechanisms.measures import (
    AskedQuantile,
    AskedQuantity,
    Beside,
    cuts_of,
    measured_by,
)
from policy_engine.policy.model_specs import GroupsFile, PublicGroups
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.noise import Priced, Statistic
    from policy_engine.accounting.shapes import NoisyShape, Solved
    from policy_engine.accounting.tables import Aim
    from policy_engine.policy.models import PolicyDocument
    from policy_engine.policy.resolve import Policy

_TRIED = 60
_LESS = Decimal("0.98")
_PARTS = 16
"""The ε of a choice is so many parts of an equal share, or fewer, or more."""
_MOST_PARTS = 4 * _PARTS
_SHORT = Context(prec=4, rounding=ROUND_FLOOR)


@frozen
class Noise(Protection):
    """The noise of a release by its law; a person counts in ``groups`` groups at most.

    Of a ``place`` n − Z + ``offset`` is shown where Z ≤ n, else n + Z where it is at least τ, or
    for each of the ``keys``, whatever it is.
    """

    law: str
    table: mechanisms.IntegerTable
    groups: int = 1
    quantities: tuple[AskedQuantity, ...] = ()
    measures: tuple[mechanisms.Measure, ...] = ()
    cuts: tuple[mechanisms.Cut, ...] = ()
    cut_table: mechanisms.IntegerTable | None = None
    filled: tuple[str, ...] = ()
    quantiles: tuple[AskedQuantile, ...] = ()
    groupings: tuple[mechanisms.CountedBy, ...] = ()
    keys: PublicGroups = ()

    words: ClassVar[str] = "noisy counts"
    law_name: ClassVar[str] = mechanisms.Noisy.mechanism

    def kernel_law(self, asked: LawParts) -> mechanisms.Law:
        """The kernel's law: of public keys, of everybody, or of one part."""
        policy = asked.policy
        is_measured = policy.source.counts_all or asked.quantities or asked.quantiles
        raw_first = asked.raw_first and not is_measured
        numbers = (self.table, policy.k, self.offset)
        beside = (self.groupings, asked.quantities, self.measures, self.cuts, self.cut_table)
        own = (*numbers, raw_first, asked.secret, *beside, asked.quantiles)
        if self.keys:
            return mechanisms.Listed(*own, keys=asked.keys)
        if policy.part is None:
            return mechanisms.Noisy(*own)
        return mechanisms.NoisyPart(*own, *policy.part, policy.source.key_stays)

    @cached_property
    def offset(self) -> int:
        """What is added to n − Z of a place, so that it estimates n: its mean, rounded."""
        from policy_engine.accounting.noise_laws import offset_of

        return offset_of(self.table)

    @property
    def certain(self) -> tuple[int, int]:
        """What a group has for certain beside the number it is shown with: at least, at most."""
        from policy_engine.accounting.noise_laws import around

        return around(self.table, self.offset)

    @property
    def numbers(self) -> int:
        """How many numbers one person is in: counts and others, of each group and grouping."""
        each = 1 + len(self.quantities) + len(self.quantiles)
        of_groups = self.groups * max(1, len(self.groupings)) * each
        return of_groups + len(self.cuts)

    @property
    def share_of_cuts(self) -> Decimal:
        """The share of the guarantee that the numbers of ``count_cut`` have, or would have."""
        cuts = sum(1 for _ in cuts_of(self.quantities, self.measures, self.filled))
        return Decimal(cuts) / (self.numbers + cuts - len(self.cuts))

    @property
    def k(self) -> int:
        """The least size of a group that is shown, by the table alone."""
        return self.table.least if self.table.is_open else 1

    @property
    def noise_words(self) -> str:
        """What is added to a count, or taken from it."""
        return noise_words(self.table)

    def in_short(self, k: int) -> str:
        """What is drawn, with the numbers that it was given."""
        groups = f", a person in up to {self.groups} groups" if self.groups > 1 else ""
        least = "public keys" if self.keys else f"k = {k}"
        return f"noisy counts, {self.law.replace('_', ' ')}, {least}{groups}"

    def half(self, k: int) -> int:
        """The least size of a group that is shown half of the time; of public keys each is."""
        from policy_engine.accounting.noise_laws import shown_half

        return 1 if self.keys else shown_half(self.table, k)

    @property
    def _tables(self) -> list[tuple[tuple[str, ...], tuple[mechanisms.IntegerTable, ...]]]:
        """By grouping the tables of the counts and of the quantities beside them."""
        whole = (self.table, *(each.noise for each in self.quantities))
        return [(each.columns, each.tables or whole) for each in self.groupings] or [((), whole)]

    def curve(self, policy: Policy) -> Callable[[str], Curve]:
        """By neighbours δ at each ε, never below the true one."""
        return self._curve

    def _curve(self, neighbours: str) -> Curve:
        from policy_engine.accounting.noise import ReleaseCurve, Statistic

        statistics = []
        for _, (counts, *others) in self._tables:
            statistics.append(Statistic(counts, groups=self.groups))
            for each, table in zip(self.quantities, others, strict=True):
                statistics.append(each.moves.statistic(table, self.groups, neighbours))
        if self.cut_table is not None:
            statistics.append(Statistic(self.cut_table, groups=len(self.cuts)))
        choices = (each.choice(self.groups) for each in self.quantiles)
        whole = ReleaseCurve.of((*statistics, *choices), neighbours)
        return lambda epsilon: whole.delta(epsilon).delta

    def least_of(self, quantile: AskedQuantile) -> int:
        """The least number of values, with noise, of which there is one for certain."""
        if quantile.over:
            values = self.quantities[quantile.over - 1]
            return 1 + values.moves.grain * values.noise.largest
        return self.offset if self.table.is_open else 1 + self.table.largest

    def visible(self, policy: Policy) -> Mapping[str, int]:
        """By grouping the least size of a group that is shown half of the time."""
        from policy_engine.accounting.comparison import Candidate

        return {
            ", ".join(by): Candidate("", counts, policy.k, bool(self.keys)).half
            for by, (counts, *_) in self._tables
        }

    def least_shown(self, k: int) -> int:
        """The least number that a group is shown with, where every one has k people at least."""
        law = (
            mechanisms.Listed(self.table, 1)
            if self.keys
            else mechanisms.Noisy(self.table, k, self.offset)
        )
        return law.shown_from(self.table)


def solve_noise(document: PolicyDocument, guarantee: Guarantee) -> Noise:
    """The tables of the law that is asked for, or of the best one.

    Each number gets an equal part of the guarantee, but for a roll-up, which says its share: the
    numbers of the coarser grouping have tables of their own then. Raises ``NoSolution`` where none
    meets it.
    """
    # Numbers and their search are needed for such a policy alone.
    from policy_engine.accounting.tables import Aim

    rollup, groupings, groups = document.rollup, _groupings(document), _groups(document)
    measured = measured_by(document)
    times = groups * (1 if rollup else max(1, len(groupings)))
    whole = Aim(
        guarantee.epsilon,
        guarantee.delta,
        guarantee.neighbours,
        times * (1 + len(measured.quantities) + len(measured.quantiles)) + len(measured.cuts),
        at_least=document.k if isinstance(document.k, int) else 1,
        listed=bool(document.public_groups),
    )
    share = Decimal(0) if rollup is None else rollup.share
    try:
        found = _solved(document, _part(whole, 1 - share), groups, times)
        coarse = _solved(document, _part(whole, share), groups, times) if share else None
    except DomainError as error:
        raise NoSolution(str(error)) from None
    own = () if coarse is None else (coarse.table, *(each.noise for each in coarse.quantities))
    return _grouped(document, found, own)


def _groupings(document: PolicyDocument) -> list[tuple[str, ...]]:
    """By which columns everybody is counted, in the order of recode; none where once by all."""
    rollup, recode = document.rollup, list(document.recode)
    lists = document.marginals if rollup is None else (recode, rollup.to)
    return [tuple(sorted(names, key=recode.index)) for names in lists]


def _groups(document: PolicyDocument) -> int:
    return document.contribution.max_groups if document.contribution else 1


def _grouped(
    document: PolicyDocument, noise: Noise, own: tuple[mechanisms.IntegerTable, ...]
) -> Noise:
    """The noise of every grouping; the last has its ``own`` tables, where there are any."""
    groupings = _groupings(document)
    last = len(groupings)
    by = (
        mechanisms.CountedBy(each, own if n == last else ()) for n, each in enumerate(groupings, 1)
    )
    keys = document.public_groups
    assert not isinstance(keys, GroupsFile)  # it was read
    return replace(noise, groupings=tuple(by), keys=keys)


def noisy_shape(document: PolicyDocument, neighbours: str) -> NoisyShape:
    """What an edition is whose strength follows from an account: its numbers, as they are charged.

    A roll-up has its share of the weight, and every number of a grouping as much as the others.
    Errors: DomainError where the law that is named is of one count.
    """
    from policy_engine.accounting.shapes import PLACE, ChoiceShape, Noised, NoisyShape

    rollup, groups = document.rollup, _groups(document)
    shares = [Decimal(1)] * max(1, len(_groupings(document)))
    if rollup is not None:
        shares = [1 - rollup.share, rollup.share]
    numbers = []
    for share in shares:
        numbers.append(Noised(groups=groups, share=share, shows=not document.public_groups))
        for moves in (each.moves for each in measured_by(document).quantities):
            steps = moves.steps(neighbours)
            numbers.append(Noised(steps, groups, moves.direction, share, shows=False))
    chosen = (ChoiceShape(each.candidates, groups) for each in measured_by(document).quantiles)
    if cuts := measured_by(document).cuts:
        numbers.append(Noised(groups=len(cuts), shows=False))
    law = document.noise.distribution if document.noise else "auto"
    # The least size of a group moves the threshold alone, unless a place is drawn from it on: who
    # asks for another one keeps the noise, and what an account has recorded of it.
    at_least = document.k if law == PLACE and isinstance(document.k, int) else 1
    return NoisyShape(tuple(numbers), None if law == "auto" else law, at_least, tuple(chosen))


def noise_of(document: PolicyDocument, solved: Solved) -> Noise:
    """The tables of an event that was found for the shape of a policy."""
    from policy_engine.accounting.events import TableNoise

    assert isinstance(solved.event, TableNoise)
    tables = [statistic.table for statistic in solved.event.statistics]
    measured = measured_by(document)
    many = 1 + len(measured.quantities)
    numbered = zip(measured.quantities, tables[1:many], strict=True)
    drawn = tuple(replace(each, table=table) for each, table in numbered)
    cut_table = tables[-1] if measured.cuts else None
    epsilons = (choice.epsilon for choice in solved.event.choices)
    each_chosen = zip(measured.quantiles, epsilons, strict=True)
    chosen = tuple(replace(each, epsilon=epsilon) for each, epsilon in each_chosen)
    told = (measured.measures, measured.cuts, cut_table, measured.filled, chosen)
    noise = Noise(solved.law, tables[0], _groups(document), drawn, *told)
    return _grouped(document, noise, () if document.rollup is None else tuple(tables[-many:]))


def _part(aim: Aim, share: Decimal) -> Aim:
    return replace(aim, epsilon=aim.epsilon * share, delta=aim.delta * share)


def _solved(document: PolicyDocument, aim: Aim, groups: int, times: int) -> Noise:
    """Noise of the counts, and of quantities that meet the aim with it: seen, not estimated."""
    law = document.noise.distribution if document.noise else "auto"
    return _found(law, measured_by(document), aim, groups, times)


@lru_cache(maxsize=32)  # a policy is read again by whoever works with it in one process
def _found(law: str, measured: Beside, aim: Aim, groups: int, times: int) -> Noise:
    from policy_engine.accounting.noise import Statistic
    from policy_engine.accounting.tables import auto, calibrated, guessed

    named, table = auto(aim) if law == "auto" else (law, calibrated(law, aim))
    told = (measured.measures, measured.cuts, None, measured.filled)
    noise = Noise(named, table, groups, (), *told)
    if not measured.quantities and not measured.cuts and not measured.quantiles:
        return noise
    own = "truncated_laplace" if named == "negative_binomial" else named

    @lru_cache(maxsize=2 * _TRIED)
    def wider(tried: int) -> tuple[Noise, list[Statistic]]:
        """Noise that is so much wider, and what is drawn of it but choices."""
        part = aim
        for _ in range(tried):
            part = _part(part, _LESS)
        found, statistics = [], [Statistic(table, groups=times)]
        for each in measured.quantities:
            moves = each.moves
            drawn = guessed(own, replace(part, shift=moves.steps(aim.neighbours)), tried)
            found.append(replace(each, table=drawn))
            statistics.append(moves.statistic(drawn, times, aim.neighbours))
        cut_table = guessed(own, part, tried) if measured.cuts else None
        if cut_table is not None:
            statistics.append(Statistic(cut_table, groups=len(measured.cuts)))
        return replace(noise, quantities=tuple(found), cut_table=cut_table), statistics

    def hopes(tried: int) -> bool:
        """Whether it seems to be wide enough, or there is none."""
        try:
            _, statistics = wider(tried)
        except DomainError:
            return True
        return aim.hopes((*statistics, *_with(measured.quantiles, aim, times, least)))

    @lru_cache(maxsize=2 * _TRIED)
    def solved(tried: int) -> Noise | None:
        """Noise that is so much wider, where it meets the aim with all that is drawn beside it."""
        wide, statistics = wider(tried)
        if not measured.quantiles:
            return wide if aim.met_by(statistics) else None
        chosen = _chosen(measured.quantiles, statistics, aim, times)
        return replace(wide, quantiles=chosen) if chosen else None

    least = _least_parts(measured.quantiles, aim)
    gives_way = measured.quantities or measured.cuts
    # The wider, the less it costs: the first that may do is found in a few steps.
    high = next((n for n in (0, 1, 3, 7, 15, 31) if hopes(n)), _TRIED) if gives_way else 0
    first = least_integer((high - 1) // 2, high, hopes) if high else 0
    with suppress(DomainError):  # of a table that is too long
        while first and solved(first - 1):  # a quick look can miss what is just met
            first -= 1
        for tried in range(first, _TRIED if gives_way else 1):
            if found := solved(tried):
                return found
    raise NoSolution("no noise of the measures meets guarantee beside that of the counts")


_Quantiles = tuple[AskedQuantile, ...]


def _given(quantiles: _Quantiles, aim: Aim, parts: int) -> _Quantiles:
    """The quantiles with so many parts of an equal share of ε each."""
    epsilon = _SHORT.divide(aim.epsilon * parts, aim.groups * _PARTS)
    return tuple(replace(each, epsilon=epsilon) for each in quantiles)


def _with(quantiles: _Quantiles, aim: Aim, times: int, parts: int) -> tuple[Priced, ...]:
    return tuple(each.choice(times) for each in _given(quantiles, aim, parts))


def _least_parts(quantiles: _Quantiles, aim: Aim) -> int:
    """So many parts of a share are enough to choose by; the most of them where none are."""
    enough = (
        n for n in range(1, _MOST_PARTS) if _given(quantiles[:1], aim, n)[0].spent >= LEAST_EPSILON
    )
    return next(enough, _MOST_PARTS) if quantiles else 0


def _chosen(
    quantiles: _Quantiles, statistics: Sequence[Statistic], aim: Aim, times: int
) -> _Quantiles:
    """The quantiles with the greatest ε each that the others leave; nothing where that is too
    little to choose by."""

    def drawn(parts: int) -> tuple[Priced, ...]:
        return (*statistics, *_with(quantiles, aim, times, parts))

    # Few steps find the place or one beside it, and all of them say which.
    least = _least_parts(quantiles, aim)
    if least == _MOST_PARTS or not aim.hopes(drawn(least)):
        return ()
    greatest = least_integer(least, _MOST_PARTS, lambda parts: not aim.hopes(drawn(parts))) - 1
    while greatest >= least and not aim.met_by(drawn(greatest)):
        greatest -= 1
    while least <= greatest < _MOST_PARTS - 1 and aim.met_by(drawn(greatest + 1)):
        greatest += 1
    return _given(quantiles, aim, greatest) if greatest >= least else ()
