"""δ under replace-one by brute force, beside the definition and the accountant."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from policy_engine.accounting.exact import delta_exact
from policy_engine.second_route import brute_replace as module
from policy_engine.second_route.brute_replace import brute_replace


def law(n: int, rate: float, k: int, length: int) -> list[float]:
    f = [math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1)]
    f += [0.0] * (length - len(f))
    return [sum(f[:k]), *f[k:]]


def naive(k: int, rate: float, epsilon: float, last: int) -> float:
    """The supremum over n and n' up to ``last`` of the double sum, as it is defined."""
    a = math.exp(epsilon)
    laws = [law(n, rate, k, last + 1) for n in range(last + 1)]
    best = 0.0
    for n in range(1, last + 1):
        for m in range(1, last + 1):
            total = 0.0
            for p, q in zip(laws[n], laws[n - 1], strict=True):
                for r, s in zip(laws[m - 1], laws[m], strict=True):
                    total += max(0.0, p * r - a * q * s)
            best = max(best, total)
    return best


@pytest.mark.parametrize(
    ("k", "rate", "epsilon", "last"),
    [
        (2, "0.5", "0.1", 22),
        (2, "0.5", "1", 16),
        (2, "0.9", "0.5", 14),
        (3, "0.3", "1", 24),
        (3, "0.6", "0.4", 20),
        (4, "0.7", "1.5", 16),
    ],
)
def test_it_is_the_definition(k, rate, epsilon, last):
    found = brute_replace(k, Decimal(rate), Decimal(epsilon))
    assert found.whole
    assert found.sizes == "every pair of cells that can matter"
    assert float(found.delta) == pytest.approx(
        naive(k, float(rate), float(epsilon), last), rel=1e-8
    )


@pytest.mark.parametrize(
    ("k", "rate", "epsilon"),
    [
        (20, "0.1", "0.5"),
        (20, "0.4", "1"),
        (10, "0.05", "0.3"),
        (20, "0.9", "0.5"),
        (100, "0.9", "2"),
        (10, "0.001", "0.5"),
        (5, "0.3", "9"),
    ],
)
def test_the_accountants_bound_is_above_and_near(k, rate, epsilon):
    bound = delta_exact(k, rate, epsilon, "replace_one").delta
    found = brute_replace(k, Decimal(rate), Decimal(epsilon))
    assert found.whole
    assert bound * Decimal("0.999") <= found.delta <= bound * (1 + found.error)


def test_where_not_all_pairs_are_summed_it_says_so():
    found = brute_replace(60, Decimal("0.05"), Decimal("0.4"))
    bound = delta_exact(60, "0.05", "0.4", "replace_one").delta
    single = delta_exact(60, "0.05", "0.4").delta
    assert not found.whole
    assert found.sizes == "the pairs of cells around the best"
    assert single < found.delta <= bound * (1 + found.error)
    assert found.delta > bound * Decimal("0.999")


def test_no_last_size_where_epsilon_is_0():
    found = brute_replace(3, Decimal("0.5"), Decimal(0))
    assert found.whole or found.delta <= delta_exact(3, "0.5", "0", "replace_one").delta


def test_what_is_forgotten_is_computed_again(monkeypatch):
    wanted = brute_replace(5, Decimal("0.3"), Decimal(1))
    monkeypatch.setattr(module, "_KEPT", 5)
    assert brute_replace(5, Decimal("0.3"), Decimal(1)) == wanted


@pytest.mark.parametrize(
    ("k", "rate", "epsilon"), [(1001, "0.5", "1"), (20, "1e-10", "1"), (200, "0.01", "3")]
)
def test_what_is_too_large_or_too_small_to_sum(k, rate, epsilon):
    assert brute_replace(k, Decimal(rate), Decimal(epsilon)) is None
