"""Within what noise lies in 95 of 100 releases, against every outcome there is."""

from __future__ import annotations

import pytest

from policy_engine.accounting.intervals import TwoNoises, within
from policy_engine.accounting.noise import IntegerTable
from policy_engine.accounting.noise_laws import (
    deviation,
    gaussian,
    laplace,
    offset_of,
    place,
    tilted,
)

TABLES = {
    "laplace": laplace(1, 14),
    "a number that is mostly 0": laplace(3, 6),
    "two values": IntegerTable((1 << 59,), least=0),
    "tilted": tilted(1, 13, "1e-6"),
    "gaussian": gaussian(3, 15),
    "a place": place(14, "0.253735"),
}


def outcomes(table):
    """By how much noise puts a number off, and the chance of each."""
    whole, offset = sum(table.masses), offset_of(table)
    for value, mass in enumerate(table.masses, table.least):
        yield (offset - value if table.is_open else value), mass / whole


def chance(found, most):
    return sum(share for value, share in found if abs(value) <= most + 1e-9)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_it_is_the_least_number_that_95_of_100_are_within(table):
    found, most = list(outcomes(table)), within(table)
    assert chance(found, most) >= 0.95 - 1e-9
    assert most == 0 or chance(found, most - 1) < 0.95


def test_it_is_no_multiple_of_the_standard_deviation():
    assert within(laplace(1, 14)) == 3 > 1.96 * deviation(laplace(1, 14))
    assert within(laplace(3, 6)) == 1 and 1.96 * deviation(laplace(3, 6)) < 1


@pytest.mark.parametrize("second", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0, 2.7, -4.0])
def test_two_noises_are_within_it_and_it_is_hardly_wider_than_needed(second, factor):
    first, step, wide = gaussian(3, 15), 2.0, 1.5
    both = [
        (step * one + factor * wide * other, mass * share)
        for one, mass in outcomes(first)
        for other, share in outcomes(second)
    ]
    most = TwoNoises((first, step), (second, wide), 4.0).within(factor)
    assert chance(both, most) >= 0.95 - 1e-9
    assert chance(both, 0.85 * most - step) < 0.95


def test_of_tables_with_many_entries_it_is_rounded_up():
    first, second = gaussian(600, 3000), gaussian(700, 3500)
    most = TwoNoises((first, 1.0), (second, 1.0)).within(1)
    assert 1.96 * (600**2 + 700**2) ** 0.5 < most < 2.0 * (600**2 + 700**2) ** 0.5
    assert TwoNoises((first, 2.0), None).within(1) == 2 * within(first)
