"""Replace-one against direct summation over two cells, and the ends of the search."""

from __future__ import annotations

import math
from decimal import Decimal

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from policy_engine.accounting import replace
from policy_engine.accounting.curve import delta_remove
from policy_engine.accounting.domain import arithmetic
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.accounting.replace import Atoms, Crossing
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


def test_epsilon_is_the_least_of_five_decimals() -> None:
    found = epsilon_exact(5, "0.2", "1e-3", "replace_one")
    assert found.as_tuple().exponent == -5
    assert delta_exact(5, "0.2", found, "replace_one").delta <= Decimal("1e-3")
    below = found - Decimal("1e-5")
    assert delta_exact(5, "0.2", below, "replace_one").delta > Decimal("1e-3")


@pytest.mark.parametrize("size", [9, 100, 2000, 8000])
@pytest.mark.parametrize("leaving", [True, False])
def test_the_window_of_counts_lies_over_their_mode(size: int, leaving: bool) -> None:
    """However far the mean count is above k."""
    atoms = Crossing(2, Decimal("0.5"), 10_000).atoms(size, size, leaving=leaving)
    for masses, n in ((atoms.larger, size), (atoms.smaller, size - 1)):
        assert np.all(masses >= 0)
        assert masses.sum() == pytest.approx(1, abs=1e-9)
        # By rising counts, without what lies above the window and what is suppressed.
        counts = masses[1:-1][::-1]
        there = binom.pmf(np.arange(2, 2 + len(counts)), n, 0.5)
        assert counts == pytest.approx(there, abs=1e-12)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, "single"), (1.05, "found"), (99.0, "shifted")]
)
def test_what_the_search_finds_is_raised_by_its_guard_and_held_between_two_bounds(
    share: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guards: list[float] = []

    def run(search: replace._Search, lower: float, _: int | None) -> tuple[float, int]:
        guards.append(search.cells.guard)
        return lower * share, 7

    monkeypatch.setattr(replace._Search, "run", run)
    found = replace.delta_replace(20, "0.4", "1")
    single = delta_exact(20, "0.4", "1").delta
    with arithmetic(Decimal("0.4"), Decimal(1)):
        lower = 1 + Decimal("0.6").ln()
    shifted = delta_remove(20, "0.4", lower).delta
    value = Decimal(float(single) * share) * (1 + Decimal(guards[0]))
    assert single < shifted < 99 * single
    assert found.at_n == 7
    if expected == "found":
        assert single < value < shifted
        assert value * (1 - Decimal("1e-15")) <= found.delta <= value * (1 + Decimal("2e-12"))
    else:
        assert found.delta == {"single": single, "shifted": shifted}[expected]


def test_halves_leave_no_size_out() -> None:
    search = replace._Search(Crossing(5, Decimal("0.3"), 100), None, 0.5)
    assert search._halves((5, 9), 7) == [(5, 7), (8, 9)]
    assert search._halves((5, None), 22) == [(5, 22), (23, None)]
    assert search._halves((8, 9), 8) == [(8, 8), (9, 9)]
    assert search._halves((9, 9), 9) == [(9, 9)]
    assert search._halves((100, None), 100) == [(100, None)]


def test_the_size_from_which_the_divergence_falls() -> None:
    last = replace._last_leaving
    assert last(20, Decimal("0.5"), 1000) == math.ceil(19 / (1 - math.exp(-0.5))) == 49
    assert last(20, Decimal("0.5"), 49) == 49
    assert last(20, Decimal("0.5"), 48) is None
    assert last(20, Decimal(0), 1000) is None
    assert last(20, Decimal(1000), 1000) == 20


@pytest.mark.parametrize(("k", "rate", "size"), [(5, 0.3, 3000), (2, 0.05, 5000), (40, 0.6, 9000)])
def test_what_lies_above_the_window_is_no_less_than_the_tail(
    k: int, rate: float, size: int
) -> None:
    counts, _, tail = Crossing(k, Decimal(str(rate)), size)._counts(size)
    true = binom.sf(counts[0], size, rate)
    assert 0 < true <= tail <= 2 * true
