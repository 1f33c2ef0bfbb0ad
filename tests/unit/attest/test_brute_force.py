"""δ by brute force: the definition, and an independence from the accountant that is tested."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from pathlib import Path

import grimp
import mpmath
import pytest

from policy_engine.accounting.exact import delta_exact
from policy_engine.second_route import brute_force
from policy_engine.second_route.brute_force import (
    ERROR,
    brute_delta,
    hockey_stick,
    log_factorial,
    point,
)

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "accounting" / "reference_values.json").read_text()
)


def share(one: Decimal, other: Decimal) -> Decimal:
    """How far apart two numbers are, as a share of the second."""
    with localcontext(prec=40):
        return abs(one / other - 1)


@pytest.mark.parametrize("module", ["brute_force", "brute_replace"])
def test_it_imports_nothing_of_the_accountant(module):
    graph = grimp.build_graph("policy_engine")
    name = f"policy_engine.second_route.{module}"
    assert name in graph.modules
    reached = graph.find_upstream_modules(name)
    assert not [other for other in reached if other.startswith("policy_engine.accounting")]
    allowed = {"policy_engine.second_route.brute_force"} if module == "brute_replace" else set()
    assert reached <= allowed | {"policy_engine.values"}
    # The same question finds the accountant where it is imported.
    reached = graph.find_upstream_modules("policy_engine.attest.release_check")
    assert "policy_engine.accounting.exact" in reached


def naive(k: int, rate: float, epsilon: float, last: int) -> float:
    """The definition once more, with the binomial law in floats."""
    best = 0.0
    a = math.exp(epsilon)

    def law(n: int) -> list[float]:
        f = [math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1)]
        f += [0.0] * (last + 1 - len(f))
        return [sum(f[:k]), *f[k:]]

    for n in range(1, last + 1):
        more, fewer = law(n), law(n - 1)
        for p, q in ((more, fewer), (fewer, more)):
            best = max(best, sum(max(0.0, x - a * y) for x, y in zip(p, q, strict=True)))
    return best


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("rate", ["0.05", "0.4", "0.9"])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1.5"])
def test_it_is_the_definition(k, rate, epsilon):
    found = brute_delta(k, Decimal(rate), Decimal(epsilon))
    wanted = naive(k, float(rate), float(epsilon), 180)
    assert float(found.delta) == pytest.approx(wanted, rel=1e-9)


def test_the_values_that_the_project_agreed_on():
    for row in REFERENCE:
        found = brute_delta(row["k"], Decimal(row["beta"]), Decimal(row["epsilon"]))
        assert float(found.delta) == pytest.approx(row["delta_exact"], rel=1e-9)


EXTREMES = [
    (10**6, "1e-6", "1"),
    (10**6, "0.999", "1e-6"),
    (10**6, "0.5", "0"),
    (2, "1e-30", "1e-30"),
    (2, "0.9999999999", "0.5"),
    (5, "0.4", "0.5108256237659907"),
    (5, "0.4", "0.51082562376"),
    (300, "0.9", "2.302585092994"),
    (10**9, "0.999", "1e9"),
    (100, "0.001", "0.001"),
    (100, "0.9", "0.01"),
]


@pytest.mark.parametrize(("k", "rate", "epsilon"), EXTREMES)
def test_extremes_agree_with_the_accountant(k, rate, epsilon):
    bound = delta_exact(k, rate, epsilon).delta
    found = brute_delta(k, Decimal(rate), Decimal(epsilon))
    assert share(found.delta, bound) < Decimal("3e-11")
    assert found.delta <= bound
    assert found.whole


@pytest.mark.parametrize("k", [2, 5, 20, 60])
@pytest.mark.parametrize("rate", ["0.01", "0.3", "0.7", "0.95"])
@pytest.mark.parametrize("epsilon", ["0", "0.0001", "0.1", "0.35", "1", "3"])
def test_every_size_and_the_sizes_around_the_largest_agree(monkeypatch, k, rate, epsilon):
    every = brute_delta(k, Decimal(rate), Decimal(epsilon))
    monkeypatch.setattr(brute_force, "EVERY", 0)
    around = brute_delta(k, Decimal(rate), Decimal(epsilon))
    assert share(every.delta, around.delta) < ERROR
    assert around.sizes.startswith("cells of about")


def test_what_was_summed_is_said():
    assert brute_delta(20, Decimal("0.1"), Decimal("0.5")).sizes == "every cell of up to 43 people"
    # Cells in which the add direction peaks are far away, and their tail ends the sum before.
    long = brute_delta(5, Decimal("0.4"), Decimal("0.5108256237"))
    assert long.sizes == "every cell of up to 22 people"
    two = brute_delta(10**6, Decimal("0.5"), Decimal("1e-9"))
    assert two.sizes == (
        "cells of about 1999998 people and of about 1999999, where δ is proved to be largest"
    )
    vast = brute_delta(2, Decimal("1e-30"), Decimal("1"))
    assert "cells of about 2 people" in vast.sizes or "every cell" in vast.sizes
    assert "e+" in brute_delta(10**6, Decimal("1e-9"), Decimal("1e-9")).sizes


def test_the_remove_direction_rises_and_then_falls():
    """The lemma of the module's text, on laws made by tossing coins."""
    rate, ratio, k = Decimal("0.2"), Decimal("1.3"), 6
    laws = [[Decimal(1)]]
    for _ in range(60):
        last = laws[-1]
        laws.append(
            [
                x * (1 - rate) + y * rate
                for x, y in zip([*last, Decimal(0)], [Decimal(0), *last], strict=True)
            ]
        )

    def released(law, n):
        law = law + [Decimal(0)] * (n + 1 - len(law))
        return [sum(law[:k], Decimal(0)), *law[k:]]

    for adding in (False, True):
        slope = 1 - (1 - rate) * ratio if adding else (ratio - 1 + rate) / ratio
        values = {}
        for n in range(k, 60):
            pair = released(laws[n], n), released(laws[n - 1], n)
            values[n] = hockey_stick(*(pair[::-1] if adding else pair), ratio)
        peak = (k - 1) / slope
        rising = [n for n in range(k, 59) if n <= peak]
        falling = [n for n in range(k, 59) if n >= peak]
        assert falling and (rising or adding)
        assert all(values[n] <= values[n + 1] for n in rising)
        assert all(values[n] >= values[n + 1] for n in falling)


@pytest.mark.parametrize("z", [0, 1, 5, 999, 1000, 1001, 12345, 10**12])
def test_the_logarithm_of_a_factorial(z):
    with mpmath.workdps(60), localcontext(prec=60):
        wanted = Decimal(str(mpmath.loggamma(z + 1)))
        assert abs(log_factorial(z) - wanted) < Decimal("8e-19")


def test_a_point_of_the_binomial_law():
    with localcontext(prec=50):
        wanted = Decimal(math.comb(2000, 300)) * Decimal("0.1") ** 300 * Decimal("0.9") ** 1700
        assert share(point(300, 2000, Decimal("0.1")), wanted) < Decimal("1e-17")
