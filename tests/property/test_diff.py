"""diff never says "not weaker" where brute force finds that odds move further, or less hides."""

from __future__ import annotations

import os
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.noise import WHOLE, IntegerTable
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Law, Native, Noisy
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Files, Rows
from policy_engine.kernel.types import Type
from policy_engine.report.changes import Comparable, changes, weakens
from policy_engine.report.strength import EPSILONS, Strength

SEX = Shown("sex", Column("sex", Type("text")), Keep())
SIZES = range(1, 60)
SLACK = Fraction(1, 10**9)


def compared(strength: Strength, **more: Any) -> Comparable:
    """A certificate of which nothing but the numbers of its law can differ."""
    told: dict[str, Any] = {
        "kind": "certificate", "name": "a", "epsilon": Decimal(1), "delta": Decimal("0.01"),
        "k": 2, "rate": Decimal(1), "unit": "row", "neighbours": "add_remove", "harmless": {},
        "texts": {}, "shown": {"sex": Keep()}, "sums": {}, "assumptions": (),
    }  # fmt: skip
    return Comparable(**told | more, strength=strength)


def strength_of(law: Law, rate: Decimal = Decimal(1)) -> Strength:
    """The strength of a certificate with nothing but this law."""
    claim = Claim(Files("people.parquet"), Rows(), law, (SEX,))
    terms = Terms("a", "", "people.parquet", Bounded(Decimal(1), Decimal(1), rate=rate))
    return Strength.of_certificate(vouched("SELECT 1", claim, "duckdb", terms))


# A sample, by the binomial law


def binomial(n: int, rate: Fraction) -> list[Fraction]:
    return [comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1)]


def shown(n: int, k: int, rate: Fraction) -> list[Fraction]:
    """The law of what is shown of a group of n: nothing, or how many of the sample it has."""
    law = binomial(n, rate)
    return [sum(law[:k]), *law[k:], *[Fraction(0)] * (max(0, k - n - 1))]


def worst(one: list[Fraction], other: list[Fraction], ratio: Fraction) -> Fraction:
    length = max(len(one), len(other))
    pairs = zip(*(law + [Fraction(0)] * (length - len(law)) for law in (one, other)), strict=True)
    return sum((max(Fraction(0), p - ratio * q) for p, q in pairs), Fraction(0))


def by_brute_force(k: int, rate: Fraction, epsilon: Decimal) -> Fraction:
    ratio = Fraction(epsilon.exp())
    laws = [shown(n, k, rate) for n in range(60)]
    both = (
        max(worst(more, fewer, ratio), worst(fewer, more, ratio)) for fewer, more in pairwise(laws)
    )
    return max(both)


def half(k: int, rate: Fraction) -> int:
    return next((n for n in SIZES if 2 * sum(binomial(n, rate)[k:]) >= 1), 60)


SAMPLES = st.tuples(st.integers(2, 8), st.integers(10, 90).map(lambda n: Fraction(n, 100)))


@settings(max_examples=40 if os.environ.get("EVIDENCE") else 15, deadline=None)
@given(SAMPLES, SAMPLES, st.booleans())
def test_samples(one, other, stated):
    found = []
    for k, rate in (one, other):
        exact = Decimal(rate.numerator) / rate.denominator
        strength = strength_of(Native(exact, k), exact)
        more = {"k": k, "rate": exact} if stated else {}
        found.append(compared(strength, **more))
    if weakens(changes(*found)):
        return
    assert half(*other) >= half(*one)
    for epsilon in EPSILONS[:6]:
        limit = by_brute_force(*one, epsilon)
        assert by_brute_force(*other, epsilon) <= limit * (1 + SLACK)


# Noise, by the integers of its table


@st.composite
def tables(draw) -> IntegerTable:
    weights = draw(st.lists(st.integers(1, 50), min_size=2, max_size=7))
    total = sum(weights)
    masses = [WHOLE * weight // total for weight in weights]
    masses[0] += WHOLE - sum(masses)
    return IntegerTable(tuple(accumulate(masses[:-1])), draw(st.integers(-4, 2)))


def noisy_law(n: int, table: IntegerTable, k: int) -> dict[int | None, Fraction]:
    law: dict[int | None, Fraction] = {}
    for z, mass in enumerate(table.masses, table.least):
        told = n + z if n > 0 and n + z >= k + table.largest else None
        law[told] = law.get(told, Fraction(0)) + Fraction(mass, WHOLE)
    return law


def noisy_delta(table: IntegerTable, epsilon: Decimal) -> Fraction:
    """Of the numbers without a threshold: n + Z against n + 1 + Z, in both directions."""
    ratio = Fraction(epsilon.exp())
    one = {z: Fraction(mass, WHOLE) for z, mass in enumerate(table.masses, table.least)}
    other = {z + 1: mass for z, mass in one.items()}
    zero = Fraction(0)

    def way(p, q):
        return sum((max(zero, p.get(z, zero) - ratio * q.get(z, zero)) for z in {*p, *q}), zero)

    return max(way(one, other), way(other, one))


def noisy_half(table: IntegerTable, k: int) -> int:
    shown_at = (n for n in SIZES if 2 * (1 - noisy_law(n, table, k).get(None, Fraction(0))) >= 1)
    return next(shown_at, 60)


@settings(max_examples=60, deadline=None)
@given(st.tuples(tables(), st.integers(1, 4)), st.tuples(tables(), st.integers(1, 4)))
def test_noise(one, other):
    found = []
    for table, k in (one, other):
        strength = strength_of(Noisy(table, k))
        found.append(compared(strength, k=k, harmless={"noise": str(table)}))
    if weakens(changes(*found)):
        return
    assert noisy_half(*other) >= noisy_half(*one)
    for epsilon in EPSILONS:
        assert noisy_delta(other[0], epsilon) <= noisy_delta(one[0], epsilon) * (1 + SLACK)


def test_a_rate_of_three_tenths_is_weaker_than_one_of_a_tenth():
    certificates = (
        compared(strength_of(Native(rate, 20), rate), rate=rate)
        for rate in (Decimal("0.1"), Decimal("0.3"))
    )
    found = {each.key: each.effect for each in changes(*certificates)}
    assert found == {"sample.rate": "weaker", "visible": "weaker", "odds": "weaker"}
