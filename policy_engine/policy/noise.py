"""The noise or the chance that a policy means, so that its guarantee is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from policy_engine.errors import DomainError
from policy_engine.kernel import mechanisms
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.mechanisms.pure import MOST_VALUES, public_values
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.policy.auto import Guarantee, NoSolution
from policy_engine.policy.fields import Mechanism
from policy_engine.policy.model_specs import Keys
from policy_engine.policy.models import PolicyDocument

if TYPE_CHECKING:
    from policy_engine.accounting.tables import Aim

_TRIED = 60
_LESS = Decimal("0.98")


@dataclass(frozen=True)
class Sum:
    """A sum or a mean of a column beside each count: its name, its units and its noise."""

    name: str
    column: str
    unit: Decimal
    clip: mechanisms.Clip
    table: mechanisms.IntegerTable


@dataclass(frozen=True)
class Noise:
    """The noise of a release by its law; a person counts in ``groups`` groups at most.

    Of a ``place`` n − Z + ``offset`` is shown where Z ≤ n, else n + Z where it is at least τ, or
    for each of the ``keys``, whatever it is.
    """

    law: str
    table: mechanisms.IntegerTable
    groups: int = 1
    sums: tuple[Sum, ...] = ()
    groupings: tuple[mechanisms.CountedBy, ...] = ()
    keys: Keys = ()

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
        """How many numbers one person is in: counts and sums, of each group and grouping."""
        return self.groups * max(1, len(self.groupings)) * (1 + len(self.sums))

    @property
    def k(self) -> int:
        """The least size of a group that is shown, by the table alone."""
        return self.table.least if self.table.is_open else 1

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
    counts and sums of the coarser grouping have tables of their own then. Raises ``NoSolution``
    where none meets it.
    """
    # Numbers and their search are needed for such a policy alone.
    from policy_engine.accounting.tables import Aim

    rollup, recode = document.rollup, list(document.recode)
    lists = document.marginals if rollup is None else (recode, rollup.to)
    groupings = [tuple(sorted(names, key=recode.index)) for names in lists]
    groups = document.contribution.max_groups if document.contribution else 1
    times = groups * (1 if rollup else max(1, len(groupings)))
    whole = Aim(
        guarantee.epsilon,
        guarantee.delta,
        guarantee.neighbours,
        times * (1 + len(document.aggregate)),
        at_least=document.k if isinstance(document.k, int) else 1,
        listed=bool(document.public_groups),
    )
    share = Decimal(0) if rollup is None else rollup.share
    try:
        found = _solved(document, _part(whole, 1 - share), groups, times)
        coarse = _solved(document, _part(whole, share), groups, times) if share else None
    except DomainError as error:
        raise NoSolution(str(error)) from None
    own = () if coarse is None else (coarse.table, *(each.table for each in coarse.sums))
    last = len(groupings)
    by = (
        mechanisms.CountedBy(each, own if n == last else ()) for n, each in enumerate(groupings, 1)
    )
    return replace(found, groupings=tuple(by), keys=document.public_groups)


def _part(aim: Aim, share: Decimal) -> Aim:
    return replace(aim, epsilon=aim.epsilon * share, delta=aim.delta * share)


def _solved(document: PolicyDocument, aim: Aim, groups: int, times: int) -> Noise:
    """Noise of the counts, and of sums that meet the aim with it: seen, not only estimated."""
    from policy_engine.accounting.noise import ReleaseCurve, Statistic
    from policy_engine.accounting.tables import auto, calibrated, guessed

    law = document.noise.distribution if document.noise else "auto"
    named, table = auto(aim) if law == "auto" else (law, calibrated(law, aim))
    noise = Noise(named, table, groups)
    if not document.aggregate:
        return noise
    own = "truncated_laplace" if named == "negative_binomial" else named
    part = aim
    for tried in range(_TRIED):
        found, statistics = [], [Statistic(table, groups=times)]
        for name, spec in document.aggregate.items():
            clip, said = spec.clip, spec.chosen
            drawn = guessed(own, replace(part, shift=clip.steps(aim.neighbours)), tried)
            found.append(Sum(name, said.column or name, said.round_to, clip, drawn))
            statistics.append(clip.statistic(drawn, times, aim.neighbours))
        if ReleaseCurve.of(statistics, aim.neighbours).delta(aim.epsilon).delta <= aim.delta:
            return replace(noise, sums=tuple(found))
        part = _part(part, _LESS)
    raise NoSolution("no noise of the sums meets guarantee beside that of the counts")


_FLOOR = Context(prec=60, rounding=ROUND_FLOOR)


@dataclass(frozen=True)
class Chance:
    """A mechanism of public values, and the ε that each of its independent draws may cost."""

    mechanism: Mechanism
    each: Decimal
    sums: ClassVar[tuple[Sum, ...]] = ()
    groupings: ClassVar[tuple[mechanisms.CountedBy, ...]] = ()

    @property
    def words(self) -> str:
        """Its name."""
        return {"randomised_response": "randomised response"}.get(self.mechanism, "αβ insertion")

    def law(self, columns: Sequence[Shown], secret: mechanisms.Secret | None) -> mechanisms.Pure:
        """The kernel's law, by the values that the columns can show.

        Errors: ClaimError where a column does not tell them, or there are too many.
        """
        values = public_values(columns)
        if self.mechanism == "ab_insertion":
            inserted = _share(2, self.each)
            return mechanisms.Inserted((1 << 60) - inserted, inserted, values, secret)
        responses = (Response(each, _share(len(each), self.each)) for each in values)
        return mechanisms.Randomised(tuple(responses), secret)


def solve_chance(mechanism: Mechanism, guarantee: Guarantee, columns: int) -> Chance:
    """The chance that costs no more than ε: as much for each column, or for each tuple.

    A person who is replaced can change every column, or take one tuple away and bring another.
    Raises ``NoSolution`` where ε is too small.
    """
    tuples = 2 if guarantee.neighbours == "replace_one" else 1
    draws = tuples if mechanism == "ab_insertion" else columns
    chance = Chance(mechanism, _FLOOR.divide(guarantee.epsilon, Decimal(draws)))
    _share(MOST_VALUES, chance.each)
    return chance


def _share(values: int, epsilon: Decimal) -> int:
    # Numbers and their search are needed for such a policy alone.
    from policy_engine.accounting.finite import least_share

    if (share := least_share(values, epsilon)) is None:
        raise NoSolution(f"ε is too small for {values} values")
    return share
