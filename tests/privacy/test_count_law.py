"""The certified text on the engine samples as its certificate says."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from laws import (
    cell_law,
    check_cell,
    check_independence,
    check_moments,
    check_neighbours,
)
from mechanisms import mechanism
from scipy import stats

CELLS = "SELECT CASE WHEN range < 120 THEN 'a' WHEN range < 150 THEN 'b' ELSE 'c' END AS cell, \
range AS id, range // 3 AS person, range % 3 AS visit FROM range(156)"
SIZES = {"a": 120, "b": 30, "c": 6}
DRAWS = 200


@pytest.mark.parametrize("grouping", ["recoded", "raw_first"])
@pytest.mark.parametrize(
    ("method", "unit"), [("keyed", "row"), ("keyed", "{column: id, rows: any}"), ("native", "row")]
)
def test_released_counts_follow_the_cells_law(tmp_path, method, unit, grouping):
    options = {"method": method, "unit": unit, "grouping": grouping, "k": "3"}
    with mechanism(tmp_path, CELLS, **options) as found:
        releases = found.draws(DRAWS)
    for cell, size in SIZES.items():
        seen = [release.get((cell,), 0) for release in releases]
        check_cell(seen, size, 0.3, 3)
    # 120 · 0.3 is so far from 3 that nothing of this cell is ever suppressed.
    check_moments([release[("a",)] for release in releases], 120, 0.3)


@pytest.mark.parametrize(
    ("method", "unit"), [("keyed", "row"), ("keyed", "{column: id, rows: any}"), ("native", "row")]
)
def test_rows_are_in_by_themselves(tmp_path, method, unit):
    recode = "{cell: keep, id: {round: 1}}"
    with mechanism(tmp_path, CELLS, method=method, unit=unit, recode=recode) as found:
        inside = np.zeros((DRAWS, 156))
        for draw in inside:
            draw[found.units("id")] = 1
    check_independence(inside, 0.3)
    check_moments(inside.sum(axis=1), 156, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "kept"), [("asc", 0), pytest.param("desc", 2, marks=pytest.mark.evidence)]
)
def test_a_person_is_in_whole_and_speaks_with_one_row(tmp_path, way, kept):
    unit = f"{{column: person, rows: {{first_by: [visit {way}]}}}}"
    recode = "{visit: keep, person: {round: 1}}"
    with mechanism(tmp_path, CELLS, unit=unit, recode=recode) as found:
        inside = np.zeros((DRAWS, 52))
        for draw in inside:
            persons = found.units("person")
            assert persons == sorted([*set(persons)] * 3)
            draw[persons] = 1
    check_independence(inside, 0.3)
    with mechanism(tmp_path, CELLS, unit=unit, recode="{visit: keep}") as found:
        releases = found.draws(DRAWS)
    assert {cell for release in releases for cell in release} == {(kept,)}
    seen = [release.get((kept,), 0) for release in releases]
    check_cell(seen, 52, 0.3, 2)
    check_moments(seen, 52, 0.3)


def test_no_key_is_nobody(tmp_path):
    rows = "SELECT 'a' AS cell, CASE WHEN range < 50 THEN range END AS person FROM range(90)"
    with mechanism(tmp_path, rows, unit="{column: person, rows: any}", rate="0.9") as found:
        seen = [release[("a",)] for release in found.draws(40)]
    assert max(seen) <= 50
    check_moments(seen, 50, 0.9)


N, K, RATE, EPSILON = 9, 4, "0.4", "0.6"


def cell_of(size: int) -> str:
    others = "SELECT 'other' AS cell FROM range(20)"
    return f"SELECT 'mine' AS cell FROM range({size}) UNION ALL {others}"


def releases_of(folder, size, times):
    with mechanism(folder, cell_of(size), k=str(K), rate=RATE, epsilon=EPSILON) as found:
        seen = [release.get(("mine",), 0) for release in found.draws(times)]
        return seen, found.certificate


@pytest.mark.evidence
def test_neighbouring_tables_are_told_apart_no_better_than_certified(tmp_path):
    one, certificate = releases_of(tmp_path, N, 500)
    other, same = releases_of(tmp_path, N - 1, 500)
    assert (same.promise.delta, same.promise.epsilon) == (
        certificate.promise.delta,
        certificate.promise.epsilon,
    )
    check_cell(one, N, float(RATE), K)
    check_cell(other, N - 1, float(RATE), K)
    check_neighbours(
        one, other, float(certificate.promise.epsilon), float(certificate.promise.delta)
    )


@pytest.mark.parametrize(
    ("k", "rate", "epsilon"),
    [(2, "0.5", "1"), (4, "0.4", "0.6"), (5, "0.1", "0.2"), (20, "0.1", "0.5"), (3, "0.3", "0.1")],
)
def test_a_certificates_delta_is_the_exact_divergence(tmp_path, k, rate, epsilon):
    with mechanism(tmp_path, cell_of(3), k=str(k), rate=rate, epsilon=epsilon) as found:
        certificate = found.certificate
    assert (certificate.k, certificate.promise.rate) == (k, Decimal(rate))
    exact = max(
        divergence(cell_law(n, float(rate), k), cell_law(n - 1, float(rate), k), float(epsilon))
        for n in range(1, 12 * k)
    )
    assert exact * (1 - 1e-9) <= float(certificate.promise.delta) <= exact * 1.001


def divergence(p: dict[int, float], q: dict[int, float], epsilon: float) -> float:
    """The hockey-stick divergence, the larger of its two directions."""
    a = math.exp(epsilon)
    both = [(p.get(j, 0.0), q.get(j, 0.0)) for j in {*p, *q}]
    forth = sum(max(0.0, one - a * other) for one, other in both)
    back = sum(max(0.0, other - a * one) for one, other in both)
    return max(forth, back)


def test_the_law_of_a_cell_is_a_law():
    assert math.isclose(sum(cell_law(30, 0.3, 5).values()), 1)
    assert math.isclose(cell_law(30, 0.3, 5)[0], stats.binom.cdf(4, 30, 0.3))
