"""The laws of what engines draw, over many secrets: how many units are in, and noise.

Each unit is in independently with probability β, so the count of N units has mean Nβ and variance
Nβ(1−β). Over R secrets the mean and the variance of the counts must be within 4 standard errors.
Noise has the chances of its table's integers, and a quantile those of its coins: χ² is at p = 10⁻⁹.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
from scipy import stats

from policy_engine.accounting.choice import coin_table
from policy_engine.accounting.choice_law import law_of_choice
from policy_engine.kernel.mechanisms import Noisy, Quantile
from policy_engine.kernel.printing import printed
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare

DRAWS = 200


def z_scores(counts: list[int], units: int, rate: float) -> tuple[float, float]:
    """How far the mean and the variance of the counts are from the law's, in standard errors.

    >>> law = np.random.default_rng(1).binomial(1000, 0.3, 200)
    >>> all(abs(z) < 4 for z in z_scores([*law], 1000, 0.3))
    True
    >>> blocks = 100 * np.random.default_rng(1).binomial(10, 0.3, 200)
    >>> all(abs(z) < 4 for z in z_scores([*blocks], 1000, 0.3))
    False
    """
    mean, variance, draws = units * rate, units * rate * (1 - rate), len(counts)
    of_mean = (float(np.mean(counts)) - mean) / sqrt(variance / draws)
    # The fourth moment of a binomial: 3σ⁴ + σ²(1 − 6β(1−β)).
    fourth = 3 * variance**2 + variance * (1 - 6 * rate * (1 - rate))
    spread = sqrt((fourth - variance**2) / draws)
    of_variance = (float(np.mean((np.array(counts) - mean) ** 2)) - variance) / spread
    return of_mean, of_variance


def counts_of(warehouse, policy, parts: int = 1) -> list[list[int]]:
    """How many units of each of ``parts`` groups some releases hold, by the certified text itself.

    With ``DRAWS / parts`` secrets, so that there are ``DRAWS`` counts.
    """
    certificate, table = prepare(policy, default_project(policy.directory), warehouse)
    found = []
    for _ in range(DRAWS // parts):
        with warehouse.sampled(policy, table, secrets.token_bytes(16)):
            counts = warehouse.rows(certificate.query).column("n").to_pylist()
        found.append(counts + [0] * (parts - len(counts)))
    return found


def check_law(warehouse, policy, units: int = 1000, parts: int = 1) -> None:
    """200 counts of a policy that suppresses nobody, z within 4 for mean and variance.

    A secret draws ``units`` in each of ``parts`` groups: the groups are independent, so the mean of
    their sums is as near, and hardly two secrets draw alike.
    """
    drawn, rate = counts_of(warehouse, policy, parts), float(policy.rate)
    scores = z_scores([count for counts in drawn for count in counts], units, rate)
    of_sums, _ = z_scores([sum(counts) for counts in drawn], units * parts, rate)
    assert all(abs(z) < 4 for z in (*scores, of_sums)), (scores, of_sums)
    assert len(set(map(tuple, drawn))) > len(drawn) / 20


Noise = dict[int | None, float]
"""The chance of each number that a group is shown with; None is not shown."""


def noise_law(law: Noisy, people: int) -> Noise:
    """What a group of so many people is shown with, by the entries alone.

    >>> from policy_engine.kernel.mechanisms.tables import IntegerTable
    >>> coin = IntegerTable((1 << 58, 3 << 58), least=-1)
    >>> noise_law(Noisy(coin, k=1), 2)
    {None: 0.25, 2: 0.5, 3: 0.25}
    """
    table = law.table
    found: Noise = {None: 0.0}
    for drawn, chance in enumerate(np.diff([0, *table.entries, 1 << 60]), start=table.least):
        beyond = table.is_open and drawn == table.least + len(table.entries)
        shown = people + law.offset - drawn if table.is_open else people + drawn
        place = None if beyond or shown < law.least_shown else shown
        found[place] = found.get(place, 0.0) + float(chance) / 2**60
    return found


def noise_p_value(seen: Mapping[int | None, int], law: Noise) -> float:
    """The chance of what is as far from the law, by χ²; 0 where the law has no such number.

    >>> noise_p_value({None: 250, 2: 500, 3: 250}, {None: 0.25, 2: 0.5, 3: 0.25})
    1.0
    """
    draws = sum(seen.values())
    if set(seen) - {shown for shown, chance in law.items() if chance}:
        return 0.0
    often = [(seen.get(shown, 0), chance * draws) for shown, chance in law.items() if chance]
    assert min(wanted for _, wanted in often) > 20
    return float(stats.chisquare(*zip(*often, strict=True)).pvalue)


def noise_of(
    warehouse, policy, groups: int, releases: int, entries: Iterable[int] = ()
) -> tuple[Noisy, Counter[int | None]]:
    """The certified law, and with how much so many groups alike were shown in so many releases.

    By the certified text itself, or by that of the same table with other ``entries``.
    """
    certificate, source = prepare(policy, default_project(policy.directory), warehouse)
    text, claim = certificate.query, certificate.claim
    if entries:
        table = replace(claim.law.table, entries=tuple(entries))
        other = replace(claim, law=replace(claim.law, table=table))
        text = printed(other, warehouse.dialect.name)
    seen: Counter[int | None] = Counter()
    for _ in range(releases):
        with warehouse.sampled(policy, source, secrets.token_bytes(16)):
            shown = warehouse.rows(text).column("n").to_pylist()
        seen.update([*shown, *[None] * (groups - len(shown))])
    return claim.law, seen


def quantile_law(values: Sequence[int], quantile: Quantile) -> tuple[Fraction, ...]:
    """How likely each candidate is, by the definition of a quantile and of a table of coins."""
    a, b = quantile.at.as_integer_ratio()
    clip = quantile.clip
    held = [min(max(value, clip.low), clip.high) for value in values]
    steps, table = [], coin_table(quantile.epsilon)
    for candidate in range(clip.low, clip.high + 1):
        below = sum(value < candidate for value in held)
        above = sum(value > candidate for value in held)
        missed = max(
            (b - a) * below - a * (len(held) - below), a * above - (b - a) * (len(held) - above)
        )
        steps.append(-(-missed // max(a, b - a)))
    return law_of_choice([table.coin(each - min(steps)) for each in steps])


def quantile_p_value(seen: Mapping[int, int], quantile: Quantile, law: Sequence[Fraction]) -> float:
    """The chance of what is as far from a law of candidates, by χ²."""
    draws = sum(seen.values())
    wanted = np.array([float(chance) for chance in law]) * draws
    counts = np.array([seen[quantile.clip.low + place] for place in range(len(law))])
    return float(stats.chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue)


def three_percent_off(law: Sequence[Fraction]) -> list[Fraction]:
    """A law whose greatest chance is 3 % less, and its least one more by that."""
    first = max(range(len(law)), key=lambda place: law[place])
    other = min(range(len(law)), key=lambda place: law[place])
    moved, off = law[first] * Fraction(3, 100), [*law]
    off[first], off[other] = off[first] - moved, off[other] + moved
    return off


def quantiles_of(warehouse, policy, releases: int) -> tuple[Quantile, Counter[int]]:
    """The quantile of a policy, and how often each value was chosen in the groups shown."""
    certificate, source = prepare(policy, default_project(policy.directory), warehouse)
    [quantile] = certificate.claim.law.quantiles
    seen: Counter[int] = Counter()
    for _ in range(releases):
        with warehouse.sampled(policy, source, secrets.token_bytes(16)):
            shown = warehouse.rows(certificate.query).column(quantile.name).to_pylist()
        seen.update(int(value) for value in shown if value is not None)
    return quantile, seen
