"""Replace-one against direct summation over two cells, and the ends of the search."""

from __future__ import annotations

import math
from decimal import Decimal

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from policy_engine.accounting import replace
from policy_engine.accounting.crossing import Atoms, Crossing
from policy_engine.accounting.curve import delta_remove
from policy_engine.accounting.exact import delta_exact
from policy_engine.errors import InternalError

from .brute import replaced


@pytest.mark.parametrize(
    ("k", "rate", "epsilon", "most_a", "most_b"),
    [
        (2, "0.3", "0", 12, 14),
        (2, "0.3", "0.3", 8, 14),
        (3, "0.4", "0.5", 9, 14),
        (3, "0.7", "0.2", 9, 10),
        (4, "0.5", "1", 8, 14),
        (2, "0.9", "0.1", 6, 6),
    ],
)
def test_never_below_and_within_a_thousandth(
    k: int, rate: str, epsilon: str, most_a: int, most_b: int
) -> None:
    true = replaced(k, rate, epsilon, most_a, most_b)
    found = mpmath.mpf(str(delta_exact(k, rate, epsilon, "replace_one").delta))
    assert true * (1 - mpmath.mpf("1e-12")) <= found <= true * mpmath.mpf("1.001")


@pytest.mark.parametrize(
    ("k", "rate", "epsilon", "true"),
    # Maxima over a grid of sizes, found with scipy in a separate program.
    [
        (20, "0.4", "1", 7.474296888055915e-06),
        (20, "0.1", "0.5", 2.8060390277564636e-11),
        (20, "0.1", "0.25", 7.638269491302408e-08),
    ],
)
def test_known_maxima(k: int, rate: str, epsilon: str, true: float) -> None:
    found = float(replace.delta_replace(k, rate, epsilon).delta)
    assert true * (1 - 1e-9) <= found <= true * 1.001


@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.4", "3"])
@pytest.mark.parametrize("rate", ["0.05", "0.6"])
def test_between_one_direction_and_the_shift(rate: str, epsilon: str) -> None:
    found = replace.delta_replace(8, rate, epsilon).delta
    lower = float(epsilon) + mpmath.log(1 - mpmath.mpf(rate))
    assert delta_exact(8, rate, epsilon).delta <= found
    assert found <= delta_remove(8, rate, str(lower)).delta * Decimal("1.0000001")


def test_what_is_too_large_to_search_is_bounded_by_the_shift() -> None:
    for k, rate, epsilon in ((10_000, "0.1", "0.5"), (30_000, "0.1", "0.001")):
        found = replace.delta_replace(k, rate, epsilon).delta
        assert delta_exact(k, rate, epsilon).delta < found < Decimal("1")


def test_a_search_cut_short_is_still_an_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    best = replace.delta_replace(20, "0.4", "1").delta
    monkeypatch.setattr(replace, "_MOST_BLOCKS", 3)
    cut = replace.delta_replace(20, "0.4", "1").delta
    assert best < cut < 2 * best


def test_a_block_that_cannot_be_split_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    # Cell b's table ends far too early, so its open last block is the greatest bound.
    best = replace.delta_replace(20, "0.4", "1").delta
    monkeypatch.setattr(replace, "_last_size", lambda *_: 45)
    assert replace.delta_replace(20, "0.4", "1").delta > best


@pytest.mark.parametrize("leaving", [True, False])
@pytest.mark.parametrize("block", [(9, 9), (9, 30), (9, None), (400, 400), (300, 400)])
def test_atoms_are_two_laws(block: tuple[int, int | None], leaving: bool) -> None:
    atoms = Crossing(6, Decimal("0.2"), 400).atoms(*block, leaving=leaving)
    assert float(atoms.larger.sum()) == pytest.approx(1, abs=1e-9)
    assert float(atoms.smaller.sum()) == pytest.approx(1, abs=1e-9)
    assert all(atoms.ratio[:-1] >= atoms.ratio[1:])


@pytest.mark.parametrize(
    ("k", "rate", "epsilon", "leaving", "entering"),
    [(2950, "0.409", "0.021", 7228, 7429)],
)
def test_where_the_last_sizes_have_no_mass(
    k: int, rate: str, epsilon: str, leaving: int, entering: int
) -> None:
    """Pr[Bin(end, β) < k] is below 1e-308 there: the bound was once a lower one."""
    found = replace.delta_replace(k, rate, epsilon).delta
    true = two_cells(k, float(rate), float(epsilon), leaving, entering)
    assert true * (1 - 1e-6) <= float(found) <= true * 1.02


@pytest.mark.parametrize("leaving", [True, False])
@pytest.mark.parametrize("high", [190, None])
def test_an_atom_without_mass_has_a_ratio(leaving: bool, high: int | None) -> None:
    pair = Crossing(3, Decimal("0.9999999"), 200).atoms(190, high, leaving=leaving)
    assert pair.larger[-1] == 0
    assert 0 < pair.ratio[-1] <= 1
    assert np.isfinite(pair.smaller).all()


def two_cells(k: int, rate: float, epsilon: float, leaving: int, entering: int) -> float:
    """V(n, n') by definition, in double precision by scipy."""
    laws = []
    for n in (leaving, leaving - 1, entering - 1, entering):
        counts = np.arange(k, max(leaving, entering) + 1)
        law = binom.pmf(counts, n, rate)
        laws.append(np.concatenate([[binom.cdf(k - 1, n, rate)], law]))
    first, second = np.outer(laws[0], laws[2]), np.outer(laws[1], laws[3])
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


def test_a_block_without_a_value_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replace._Search, "_atoms", lambda *_, **__: nothing())
    with pytest.raises(InternalError, match="has no value"):
        replace.delta_replace(20, "0.1", "0.5")


def nothing() -> Atoms:
    return Atoms(*(np.array([math.nan]) for _ in range(3)))
