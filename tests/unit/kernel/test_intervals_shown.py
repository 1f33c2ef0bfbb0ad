"""The interval that is printed of a sum or a mean, against every outcome of its noise."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pytest

from policy_engine.accounting.noise_laws import gaussian, laplace
from policy_engine.kernel.mechanisms import Clip, Measure, Quantity
from policy_engine.kernel.mechanisms.noisy_counts.intervals import NoiseOf, within_words
from policy_engine.kernel.sources import Column, Groups, People, Rows
from policy_engine.kernel.types import Type

AGE = Column("age", Type("integer"))
COUNTS, VALUES = laplace("0.4", 40), gaussian(4, 20)
CLIP = Clip(0, 90, absent=0)
SUM = Quantity(AGE, CLIP, 45, VALUES)
MEAN, TOTAL = Measure("mean", 1, 0, is_mean=True), Measure("total", 1, 0)
TABLES = (COUNTS, VALUES)


def outcomes(table):
    whole = sum(table.masses)
    return [(z, mass / whole) for z, mass in enumerate(table.masses, table.least)]


def covered(measure, people, true):
    """How likely the interval of a release has the sum or mean of so many people."""
    noise, grain, share = NoiseOf(measure, (SUM,), TABLES), SUM.moves.grain, 0.0
    above = (true - 45) * people
    for own, mass in outcomes(VALUES):
        shown = int(above / grain) * grain + own * grain
        for other, chance in outcomes(COUNTS):
            many, value = people + other, shown + 45 * (people + other)
            if measure.is_mean:
                if many < 1:  # there is no mean then
                    share += mass * chance
                    continue
                value = min(90, max(0, 45 + round(shown / many)))
            low, high = noise.interval(float(value), many, 1)
            at = true if measure.is_mean else true * people
            share += mass * chance if low <= at <= high else 0
    return share


@pytest.mark.parametrize("true", [45, 60, 90])
@pytest.mark.parametrize("people", [1, 5, 30, 400])
def test_what_counts_is_in_the_interval_of_a_mean_in_95_of_100_releases(people, true):
    assert covered(MEAN, people, true) >= 0.95


@pytest.mark.parametrize("people", [5, 400])
def test_what_counts_is_in_the_interval_of_a_sum_in_95_of_100_releases(people):
    assert 0.95 <= covered(TOTAL, people, 60) < 0.99


def test_a_mean_of_few_is_noise_alone_and_of_many_is_not():
    noise = NoiseOf(MEAN, (SUM,), TABLES)
    few = noise.alone_below - 1
    assert few > 1
    for value in (0.0, 45.0, 90.0):
        assert noise.is_alone(noise.interval(value, few, 1))
    assert not noise.is_alone(noise.interval(90.0, noise.alone_below + 2, 1))
    assert noise.interval(60.0, 100_000, 1) == pytest.approx((59.5, 60.5), abs=0.05)


def test_the_words_name_each_number_and_from_where_on_a_mean_says_something():
    measures = (Measure("rows", 2), MEAN, TOTAL)
    rows = Quantity(None, Clip(0, 1, rows=3), None, VALUES)
    divisors, cuts = {0: "n"}, {"people_cut_groups": COUNTS}
    drawn = ((SUM, rows), (COUNTS, VALUES, VALUES), divisors, cuts)
    unit = People(Column("id", Type("text")), Groups(3))
    words = partial(within_words, measures, *drawn, quantiles=["middle"])
    first, left_out, middle, alone = words(unit=Rows())
    assert first.startswith("in 95 of 100 releases noise puts n off by at most 7; rows by at most")
    assert first.endswith("; people_cut_groups by at most 7")
    assert "mean by at most 24 / n where the mean is 45, up to " in first
    assert left_out == "these intervals do not include the effect of bounds and of rounded values"
    assert middle == "middle has no such interval: it depends on how close its values lie"
    assert alone.startswith("mean is noise alone where n is below ")
    limits = "a person's groups beyond 3, a person's rows beyond 3 in a group, a"
    assert [*words(unit=unit)][1].startswith(f"these intervals do not include {limits}")
    (alone,) = within_words(measures[:1], *drawn[:3], unit=Rows())
    assert alone.endswith("rows by at most 8")


def test_an_interval_is_in_the_units_of_its_number():
    fine = Quantity(AGE, Clip(0, 900, Decimal("0.1"), absent=0), 450, VALUES)
    low, high = NoiseOf(MEAN, (fine,), TABLES).interval(45.0, 100_000, 1)
    assert (low, high) == pytest.approx((44.95, 45.05), abs=0.01)
