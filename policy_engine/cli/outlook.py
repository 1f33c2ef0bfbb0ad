"""What plan says a reader could see of a release, or estimate of one of public values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from decimal import Decimal
from typing import Any

from policy_engine.accounting.comparison import SAMPLED, Candidate, per_cent
from policy_engine.accounting.frontier import SamplePair
from policy_engine.accounting.noise_laws import deviation, shown_half
from policy_engine.compile.public_groups import NotPublic, all_groups
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meaning import Meaning
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.noisy_counts.intervals import (
    NoiseOf,
    count_off,
    within_words,
)
from policy_engine.kernel.mechanisms.noisy_counts.meaning import (
    beside_noise,
    cut_words,
    divisors_of,
    error_by_size,
    error_of,
    measured,
)
from policy_engine.kernel.mechanisms.pure_meaning import central_error
from policy_engine.kernel.mechanisms.quantile_words import (
    Few,
    beside_choice,
    quantile_words,
    rank_error,
)
from policy_engine.kernel.mechanisms.tables import Clip, Measure
from policy_engine.kernel.sources import People, Rows
from policy_engine.policy.choice_notes import OF_NUMBERS
from policy_engine.policy.noise import Noise
from policy_engine.policy.recodings import labels
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen

_NEAR = 100
"""Between bounds of so many steps or fewer a step is much of a mean."""

_PARTS = (1, 10, 100)


@frozen
class ChanceSaid:
    """How likely a group of a size is shown."""

    size: int
    shown: float


@frozen
class Seen:
    """What a reader could see of a release, as JSON says it."""

    labels: dict[str, int | None]
    groups: int | None
    visible_from: int
    chances: tuple[ChanceSaid, ...]
    count_error: float


@frozen
class Estimates:
    """What a reader could estimate of a release of public values, as JSON says it."""

    estimates: tuple[str, ...]
    central_error: float | None


@frozen
class Outlook:
    """What a reader could see of a release, from its policy alone.

    ``labels`` says of each column how many values its recoding can give at most, a missing one
    being one of them; None where the policy does not tell. ``own`` is what the policy uses.
    """

    labels: dict[str, int | None]
    own: Candidate

    @classmethod
    def of(cls, policy: Policy) -> Outlook:
        """That of a policy."""
        read_as = {column.casefold(): kind for column, kind in policy.source.columns}
        counts = {
            column: labels(recoding, read_as.get(column.casefold()))
            for column, recoding in policy.recodings
        }
        noise = policy.noise
        if noise is None:
            return cls(counts, Candidate(SAMPLED, SamplePair(policy.k, policy.rate)))
        assert isinstance(noise, Noise)
        return cls(counts, Candidate(noise.law, noise.table, policy.k, bool(noise.keys)))

    @property
    def known(self) -> list[int]:
        """How many values each column has at most whose values the policy tells."""
        return [count for count in self.labels.values() if count is not None]

    @property
    def open(self) -> list[str]:
        """The columns whose values the policy does not tell."""
        return [column for column, count in self.labels.items() if count is None]

    @property
    def seen(self) -> Seen:
        """For JSON."""
        return Seen(
            self.labels,
            None if self.open else math.prod(self.known),
            self.own.half,
            tuple(ChanceSaid(size, float(chance)) for size, chance in self.own.chances),
            float(self.own.error),
        )

    def lines(self, policy: Policy, claim: Claim) -> Iterator[str]:
        """For people; ``claim`` is the one that a release would be of."""
        meaning = meaning_of(claim)
        if listed := meaning.groups_listed:
            empty = "even without people in them"
            keys = "1 public key" if listed == 1 else f"{listed:,} public keys"
            yield f"shown      {keys}, {empty}, and no other group"
        else:
            yield from self._groups()
        count = policy.release.count_as if policy.release.form == "counts" else "its rows"
        if isinstance(policy.noise, Noise):
            yield from _noisy(policy, policy.noise, count, self, meaning)
            return
        for text in policy.protection.estimates(policy, count, self.own.half, self.own.error):
            yield f"counts     {text}"

    def _groups(self) -> Iterator[str]:
        """How many groups there can be, and how large one is that is shown."""
        told = [f"{column} {count}" for column, count in self.labels.items() if count is not None]
        factors = [" × ".join(told)] if len(told) > 1 else []
        if any(count > 1 for count in self.known):
            factors.append("missing values counted as one")
        product = f" ({', '.join(factors)})" if factors else ""
        most = f"{math.prod(self.known):,}{product}"
        if self.open:
            known = f"{most} × the" if told else "the"
            values = f"{known} values of {', '.join(self.open)}"
            yield f"groups     at most {values}: how many, the policy does not tell"
        else:
            yield f"groups     at most {most}"
        (half, _), *others = sorted(self.own.chances, key=lambda each: each[0] != self.own.half)
        chances = ", ".join(f"{size:,}: {per_cent(chance)}" for size, chance in others)
        yield f"shown      a group of {half:,} people in the source half of the time; of {chances}"
        complete = math.prod(max(1, count - 1) for count in self.known)
        if complete > 1:
            each = "combination" if len(self.open) > 1 else "value"
            every = f", for each {each} of {', '.join(self.open)}" if self.open else ""
            those = f"{complete:,} groups of that size, without missing values"
            yield f"           {those}: {complete * half:,} people{every}"


def _noisy(
    policy: Policy, noise: Noise, count: str, seen: Outlook, meaning: Meaning[Any]
) -> Iterator[str]:
    """What numbers with noise are: counts, and the sums, means and groupings beside them."""
    few = not seen.open and math.prod(seen.known) <= noise.groups
    divisors = divisors_of(noise.measures, noise.quantities, count)
    yield from _counts(policy, noise, count, seen.own.error, in_all=few)
    yield from _measures(policy, noise, divisors, meaning.exact)
    yield from _quantiles(policy, noise, divisors)
    most = meaning.groups_listed or (0 if seen.open else math.prod(seen.known))
    yield from _groups_cut(policy, noise, most)
    yield from _cuts(policy, noise, in_all=few)
    unit = meaning.claim.unit
    yield from _within(noise, divisors, unit)
    yield from _groupings(policy, noise, divisors, unit)
    yield from _part(policy, count)


def _counts(
    policy: Policy, noise: Noise, count: str, error: Decimal, *, in_all: bool
) -> Iterator[str]:
    """What a count estimates, how far it is off, and between what it is for certain.

    ``in_all``: a person counts in every group that there can be.
    """
    low, high = noise.certain
    about = f"give or take {error:.1f} (1 SD)"
    if noise.groups > 1 or policy.source.counts_all:
        yield f"counts     {count} estimates how many people were counted in a group: {about}"
        certain = f"for certain {count} - {-low} to {count} + {high} people were counted"
        if in_all:
            yield f"           {certain}; there are no more groups than a person counts in"
            return
        limit = "1 group" if noise.groups == 1 else f"{noise.groups} groups"
        left_out = f"a person in more than {limit} counts in {noise.groups} of them"
        yield f"           {certain}; {left_out},"
        yield "           so that a group can have more people than were counted"
        return
    kept = policy.source.has_many_rows
    of = "the people whose row that counts is in a group" if kept else "a group of the source"
    yield f"counts     {count} estimates {of}: {about}"
    certain = f"between {count} - {-low} and {count} + {high} people"
    if kept:
        yield f"           for certain {certain} were counted in the group"
    else:
        yield f"           for certain the group has {certain}"


def _measures(
    policy: Policy, noise: Noise, divisors: Mapping[int, str], exact: Set[int]
) -> Iterator[str]:
    """What each sum and mean is, and how far it is off; of the ``exact`` no value is rounded."""
    tables = (noise.table, *(each.noise for each in noise.quantities))
    many = policy.source.counts_all
    for each in noise.measures:
        quantity = noise.quantities[each.quantity - 1]
        about = error_of(each, noise.quantities, tables, divisors)
        of, is_count = quantity.column or "", quantity.center is None
        what = measured(each, quantity.clip, of, many=many, counts=is_count)
        yield f"measures   {each.name}, {what}: give or take {about} (1 SD)"
        if each.is_mean:
            sizes = error_by_size(each, noise.quantities, tables, divisors)
            yield f"           {sizes}"
            yield from _coarse(each, quantity.clip)
        elif not is_count:
            yield f"           {_by_total(NoiseOf(each, noise.quantities, tables))}"
        is_exact = each.quantity in exact
        beside = beside_noise(each, quantity, many=many, is_exact=is_exact)
        yield from (f"           {text}" for text in beside)


def _by_total(noise: NoiseOf) -> str:
    """Of how large a sum its noise is how many per cent, in 95 of 100 releases."""
    _, away = noise.interval(0.0, 0, 0)
    step = 10.0 ** (math.floor(math.log10(away)) - 1)
    all_of_it, tenth, hundredth = (f"{math.ceil(away / step) * step * n:,.9g}" for n in _PARTS)
    return (
        f"in 95 of 100 releases noise puts a sum of {all_of_it} in a group off by at most 100 %,"
        f" one of {tenth} by 10 %, and one of {hundredth} by 1 %"
    )


def _coarse(measure: Measure, clip: Clip) -> Iterator[str]:
    """That a mean between near bounds has no decimals, by the default of round_to."""
    if clip.unit == 1 and clip.high - clip.low <= _NEAR:
        told = f"{measure.name} is published in steps of 1: for decimals write round_to: 0.1"
        yield f"           {told}"


def _quantiles(policy: Policy, noise: Noise, divisors: Mapping[int, str]) -> Iterator[str]:
    """What each quantile is, and how many ranks it is off."""
    many = policy.source.counts_all
    tables = (noise.table, *(each.noise for each in noise.quantities))
    for chosen in noise.quantiles:
        what = quantile_words(chosen, chosen.column, many=many)
        ranks = rank_error(chosen, chosen.spent, many=many)
        over = divisors.get(chosen.over, "the number of its values, with noise,")
        yield f"measures   {chosen.name}, {what}: {ranks}"
        few = Few.of(chosen, chosen.spent, count_off(chosen.over, noise.quantities, tables))
        beside = beside_choice(chosen, few, noise.least_of(chosen), over)
        yield from (f"           {text}" for text in beside)


def _groupings(
    policy: Policy, noise: Noise, divisors: Mapping[int, str], unit: People | Rows
) -> Iterator[str]:
    """What each coarser grouping shows, and how far its numbers are off."""
    for place, coarse in enumerate(noise.groupings, 1):
        counts = [f"{shown_half(t, policy.k)} people" for t in coarse.tables[:1]]
        half = f": {counts[0]} are shown half of the time" if counts else ""
        yield f"grouping   {place} by {', '.join(coarse.columns)}{half}"
        if not coarse.tables:
            continue
        for each in noise.measures:
            about = error_of(each, noise.quantities, coarse.tables, divisors)
            yield f"           {each.name}: give or take {about} (1 SD)"
        beside = (noise.measures, noise.quantities, coarse.tables, divisors)
        words = within_words(*beside, unit=unit)
        yield from (f"           {text}" for text in words)


def noise_lines(policy: Policy) -> Iterator[str]:
    """What of a policy makes its noise larger; nothing where only its guarantee does."""
    noise = policy.noise
    if not isinstance(noise, Noise):
        return
    quantities, follows = noise.quantities, policy.follows
    clips = [*(each.clip for each in quantities), *(each.clip for each in noise.quantiles)]
    rows = max((each.rows for each in clips), default=1)
    bounded = [
        each.name for each in noise.measures if quantities[each.quantity - 1].center is not None
    ]
    numbers = 1 + len(quantities) + len(noise.quantiles) + len(noise.cuts)
    told = [
        f"{what} ({now})"
        for what, now, has in (
            ("a lower max_groups", f"now {noise.groups}", noise.groups > 1),
            ("a lower max_rows_per_group", f"now {rows}", rows > 1),
            ("narrower bounds", f"of {', '.join(bounded)}", bounded),
            ("fewer numbers beside the people", "each takes a part of ε", numbers > 1),
            ("fewer groupings", f"now {len(noise.groupings)}", len(noise.groupings) > 1),
            ("fewer editions", f"now {follows.editions if follows else 1}", follows is not None),
        )
        if has
    ]
    if told:
        yield f"noise      each of these makes it smaller: {', '.join(told)}, a greater ε"
        yield "           coarser recodes make larger groups, in which the same noise matters less"


def _part(policy: Policy, count: str) -> Iterator[str]:
    """Of which part of everybody it is, where it is of one."""
    if policy.part is not None:
        parts, number = policy.part
        drawn = f"drawn by a secret hash of {policy.source.key}"
        estimate = f"{parts} · {count} estimates a group of the source"
        yield f"part       all of this is of part {number} of {parts}, {drawn}: {estimate}"
        if policy.source.key_stays:
            told = f"keys stay, you say: all {parts} parts cost what the dearest one does"
        else:
            told = (
                f"it adds up with other parts; all {parts} would cost what the dearest one does,"
                " if a person's key never changed and privacy_unit.stays: true said so"
            )
        yield f"           {told}"


def _within(noise: Noise, divisors: Mapping[int, str], unit: People | Rows) -> Iterator[str]:
    """By how much each number is off in 95 of 100 releases."""
    tables = (noise.table, *(each.noise for each in noise.quantities))
    own = {} if noise.cut_table is None else {cut.name: noise.cut_table for cut in noise.cuts}
    beside = (noise.measures, noise.quantities, tables, divisors, own)
    names = [each.name for each in noise.quantiles]
    first, *others = within_words(*beside, unit=unit, quantiles=names)
    yield f"interval   {first}"
    yield from (f"           {text}" for text in others)


def _groups_cut(policy: Policy, noise: Noise, most: int) -> Iterator[str]:
    """That a person could be in more groups than count, of ``most`` in all; 0: it is not known."""
    if not policy.source.counts_all or most <= noise.groups:
        return
    yield (
        f"limits     by these recodes a person could be in up to {most:,} groups, and counts in at"
        f" most {noise.groups:,} (max_groups)"
    )
    yield "           the other groups leave this person out, and their numbers get too low"


def _cuts(policy: Policy, noise: Noise, *, in_all: bool) -> Iterator[str]:
    """How many people are cut: numbers of the whole release; or what would tell it."""
    table = noise.cut_table
    if table is None:
        if policy.source.counts_all and not (in_all and not noise.quantities):
            share = f"about {100 * noise.share_of_cuts:.0f} % of ε"
            yield (
                "limits     the release does not say how many people the limits cut:"
                f" contribution.count_cut: true does, for {share}"
            )
            if OF_NUMBERS not in dict(policy.stated).get("justification", ""):
                up_to = "up to those of the policy, at a price of its own"
                yield f"           'policy-engine suggest' chooses limits by the data, {up_to}"
        return
    about = f"give or take {deviation(table):.1f} (1 SD), one number of the whole release"
    for cut in noise.cuts:
        column = noise.quantities[cut.quantity - 1].column if cut.quantity else None
        who = cut_words(cut, noise.quantities, column or "", noise.groups)
        yield f"cut        {cut.name}, how many people {who}"
        yield f"           {about}"


def could_list(policy: Policy, claim: Claim) -> int:
    """How many groups ``public_groups: auto`` would list of a policy without public groups.

    0 where it could not: a column does not tell its values, or something needs a threshold.
    """
    noise = policy.noise
    if not isinstance(noise, Noise) or noise.keys or noise.groupings or policy.models:
        return 0
    if claim.count is None or policy.k > 1 or policy.part is not None:
        return 0
    try:
        return math.prod(map(len, all_groups(claim.columns, claim.period, claim.filter)))
    except NotPublic:
        return 0


def estimates_of(certificate: Certificate) -> Estimates:
    """For JSON."""
    central = central_error(certificate.promise.epsilon, certificate.promise.neighbours)
    return Estimates(tuple(meaning_of(certificate.claim).estimates()), central)


def chance_lines(certificate: Certificate) -> Iterator[str]:
    """For people."""
    meaning, promise = meaning_of(certificate.claim), certificate.promise
    first, *others = meaning.estimates()
    yield f"estimates  {first}"
    for text in (*others, *meaning.compared(promise.epsilon, promise.neighbours)):
        yield f"           {text}"
