"""[CHOICE] The law of a draw in this process, and the faults of draws by hashes, each found."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from policy_engine.accounting.choice import coin_table
from policy_engine.accounting.choice_law import law_of_choice
from policy_engine.choose.drawing import choose, falls
from policy_engine.errors import DomainError

DRAWS = 100_000
FLUKE = 1e-9


def fits(seen: Sequence[int], law: Sequence[Fraction]) -> float:
    """The p-value of χ²; 0 where something was seen that cannot be."""
    counts = np.bincount(seen, minlength=len(law))
    wanted = np.array([float(chance) for chance in law]) * len(seen)
    if counts[wanted == 0].sum():
        return 0.0
    kept = wanted > 0
    return float(stats.chisquare(counts[kept], wanted[kept] * counts.sum() / wanted.sum()).pvalue)


def drawn(utilities: Sequence[int], epsilon: object, **how: bool) -> list[int]:
    below = random.Random(41).randrange
    return [choose(utilities, epsilon, below=below, **how) for _ in range(DRAWS)]


@pytest.mark.parametrize("how", [{}, {"monotone": True}])
def test_a_draw_has_the_exact_law(how):
    utilities, table = [0, 3, 7, 7, 4, 6], coin_table("0.9", **how)
    law = law_of_choice([table.coin(7 - each) for each in utilities])
    seen = drawn(utilities, "0.9", **how)
    assert fits(seen, law) > FLUKE
    # One chance that is 3 % off is rejected.
    off = [*law[:2], law[2] * Fraction(103, 100), law[3] - law[2] * Fraction(3, 100), *law[4:]]
    assert fits(seen, off) < 1e-3


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(31, 12)])
def test_a_coin_falls_with_its_chance(exponent):
    below = random.Random(1).randrange
    times = sum(falls(exponent, below) for _ in range(DRAWS))
    assert stats.binomtest(times, DRAWS, float(np.exp(-float(exponent)))).pvalue > FLUKE


def test_one_candidate_is_chosen_and_none_is_refused():
    assert choose([-5], "0.1") == 0
    with pytest.raises(DomainError, match="at least one"):
        choose([], 1)
    with pytest.raises(DomainError, match="above 0"):
        choose([1], 0)


def test_the_best_of_many_is_drawn_in_time():
    """Of as many candidates as a large lattice has, all but one out of reach."""
    assert choose([0] * 99_999 + [10**6], 1) == 99_999


def bits(secret: bytes, *names: object) -> int:
    """A keyed hash of 60 bits, as a text of SQL has it."""
    told = hashlib.sha256(repr((secret, *names)).encode()).digest()
    return int.from_bytes(told[:8], "big") >> 4


TABLE = coin_table("0.9")
Fault = str | None


def by_hashes(groups: Sequence[Sequence[int]], secret: bytes, fault: Fault = None) -> list[int]:
    """One choice in each group, as SQL makes it of two keyed hashes; with one fault, or none."""
    return [in_group(groups, group, secret, fault) for group in range(len(groups))]


def in_group(groups: Sequence[Sequence[int]], group: int, secret: bytes, fault: Fault) -> int:
    utilities = groups[group]
    best = max(utilities)
    if fault == "the maximum of another group":
        best = max(map(max, groups))
    coin_tag = "order" if fault == "one hash for order and coin" else "coin"

    def order(c: int) -> tuple[int, int]:
        if fault == "ties by value":  # of so few bits that many are alike
            return bits(secret, "order", group, c) >> 58, -utilities[c]
        return bits(secret, "order", group, c), c

    def is_down(c: int) -> bool:
        return bits(secret, coin_tag, group, c) < TABLE.coin(best - utilities[c])

    by_data = fault == "candidates by the data"
    candidates = [c for c, utility in enumerate(utilities) if utility > 0 or not by_data]
    standing = sorted(candidates, key=order)
    return next((c for c in standing if is_down(c)), standing[-1])


GROUPS = ((0, 2, 3, 1), (5, 1, 0, 4))


def p_values(fault: Fault, draws: int = 30_000) -> list[float]:
    seen = [by_hashes(GROUPS, b"%d" % draw, fault) for draw in range(draws)]
    found = []
    for group, utilities in enumerate(GROUPS):
        law = law_of_choice([TABLE.coin(max(utilities) - each) for each in utilities])
        found.append(fits([each[group] for each in seen], law))
    return found


def test_choices_by_hashes_have_the_law_of_their_table():
    assert min(p_values(None)) > FLUKE


@pytest.mark.parametrize(
    "fault",
    [
        "the maximum of another group",
        "one hash for order and coin",
        "ties by value",
        "candidates by the data",
    ],
)
def test_each_planted_fault_is_found(fault):
    assert min(p_values(fault, 10_000)) < FLUKE


Choosing = Callable[[Sequence[int], Callable[[int], int]], int]


def once(utilities: Sequence[int], below: Callable[[int], int]) -> int:
    return choose(utilities, "0.1", below=below)


def best_of_twelve(utilities: Sequence[int], below: Callable[[int], int]) -> int:
    """The best true score of several picks, as ARX returns it."""
    return max((once(utilities, below) for _ in range(12)), key=lambda c: utilities[c])


def without_noise(utilities: Sequence[int], below: Callable[[int], int]) -> int:
    return max(range(len(utilities)), key=lambda c: utilities[c])


@pytest.mark.parametrize(
    ("choosing", "is_private", "draws"),
    [(once, True, 20_000), (best_of_twelve, False, 2_000), (without_noise, False, 2_000)],
)
def test_one_person_more_moves_the_chance_of_a_choice_by_little(
    choosing: Choosing, is_private: bool, draws: int
) -> None:
    """ε = 0.1 lets a chance of one half rise to 0.55, and the others break that."""
    below = random.Random(3).randrange
    before, after = (
        sum(choosing(utilities, below) == 1 for _ in range(draws)) / draws
        for utilities in ((5, 5), (5, 6))
    )
    assert bool(after <= np.exp(0.1) * before + 0.02) is is_private
