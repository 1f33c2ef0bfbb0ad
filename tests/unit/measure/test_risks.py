"""Risks and estimates, against populations of which the truth is known."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom

from policy_engine.measure.classes import Risk, Sizes, pitman, uniqueness, zayatz
from policy_engine.measure.measuring import Questions, measure


def sizes_of(people: list[int]) -> Sizes:
    return Sizes(Counter(Counter(people).values()))


def of_pitman(chance: random.Random, people: int, theta: float, alpha: float) -> list[int]:
    """The class of each person: a new one, or one that is there, by its size less alpha."""
    seats: list[int] = []
    first: list[bool] = []
    classes = 0
    for n in range(people):
        is_new = chance.random() < (theta + alpha * classes) / (theta + n)
        at = -1
        while not is_new and at < 0:
            at = chance.randrange(n)
            at = -1 if first[at] and chance.random() < alpha else at
        classes += is_new
        seats.append(n if is_new else seats[at])
        first.append(is_new)
    return seats


def test_estimates_are_near_the_truth() -> None:
    """Of a population that Pitman's model draws; the share of the sample is far off."""
    chance = random.Random(7)
    people = of_pitman(chance, 40_000, 200.0, 0.4)
    truth, sample = uniqueness(sizes_of(people)), sizes_of(chance.sample(people, 4_000))
    assert pitman(sample, 0.1) == pytest.approx(truth, rel=0.15)
    assert zayatz(sample, 0.1) == pytest.approx(truth, rel=0.6)
    assert uniqueness(sample) != pytest.approx(truth, rel=0.6)


@pytest.mark.parametrize("rate", [0.9, 0.3, 0.01])
@pytest.mark.parametrize("by_size", [{1: 3}, {1: 7, 2: 4, 9: 1}, {1: 1, 40: 2, 3_000: 1}])
def test_one_of_a_class_is_drawn_as_often_as_the_hypergeometric_law_says(by_size, rate) -> None:
    sizes = Sizes(by_size)
    population = round(sizes.people / rate)
    weights = {j: n * hypergeom.pmf(1, population, j, sizes.people) for j, n in by_size.items()}
    wanted = by_size[1] * weights[1] / sum(weights.values()) / rate / population
    assert zayatz(sizes, rate) == pytest.approx(min(1.0, wanted), rel=1e-9)


def test_a_whole_population_is_its_own_sample() -> None:
    sizes = Sizes({1: 30, 2: 10, 5: 4})
    assert zayatz(sizes, 1.0) == pytest.approx(uniqueness(sizes))
    assert pitman(sizes, 1.0) == pytest.approx(uniqueness(sizes), rel=0.2)


@pytest.mark.parametrize("sizes", [Sizes({}), Sizes({4: 3}), Sizes({1: 5})])
def test_what_the_model_cannot_tell_is_not_told(sizes: Sizes) -> None:
    assert pitman(sizes, 0.5) is None


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_population_is_linked_by_its_classes(tmp_path: Path) -> None:
    """Of three people with a one stands among ten, of one with NULL among two; b is unknown."""
    table = write(tmp_path / "t.parquet", {"g": ["a", "a", "a", None, "b"]})
    known = ["a"] * 10 + [None] * 2 + ["c"] * 7
    population = write(tmp_path / "p.parquet", {"g": known, "name": [*map(str, range(19))]})
    (found,) = measure(table, Questions(population=population)).tables
    assert found.own == Risk(1.0, 3 / 5)
    assert found.others == Risk(1.0, pytest.approx((3 / 10 + 1 / 2 + 1) / 5))
