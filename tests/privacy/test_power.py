"""Every mechanism that is broken in one way is rejected: by the laws, and by the kernel.

The sound mechanism passes the same checks in test_count_law.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from laws import (
    LawBroken,
    check_cell,
    check_independence,
    check_moments,
    check_neighbours,
)
from mechanisms import Mechanism, mechanism
from test_count_law import CELLS, DRAWS, EPSILON, RATE, SIZES, K, N, cell_of

from policy_engine.kernel.certificate import NotPrinted, check_text
from policy_engine.warehouse import drawing
from policy_engine.warehouse.drawing import DrawnSample, draw_rows


def check(found: Mechanism, draws: int = DRAWS) -> None:
    """All that is checked of releases by row."""
    releases = found.draws(draws)
    k, rate = found.policy.k, float(found.policy.rate)
    for cell, size in SIZES.items():
        check_cell([release.get((cell,), 0) for release in releases], size, rate, k)
    check_moments([release.get(("a",), 0) for release in releases], SIZES["a"], rate)


def refused_by_the_kernel(found: Mechanism) -> None:
    assert found.certificate.claim is not None
    with pytest.raises(NotPrinted):
        check_text(found.sql, found.certificate.claim, "duckdb")


NATIVE = "TABLESAMPLE BERNOULLI (30 PERCENT)"
TEXTS = [
    # A hundred and fifty-six rows are one vector: SYSTEM keeps all or none.
    ("native", "BERNOULLI", "SYSTEM"),
    ("native", "30 PERCENT", "39 PERCENT"),
    ("native", "30 PERCENT", "21 PERCENT"),
    ("native", NATIVE, f"{NATIVE} REPEATABLE (42)"),
    ("native", NATIVE, ""),
    ("native", NATIVE, "WHERE hash(rowid) % 10 < 3"),
    ("native", NATIVE, "WHERE rowid % 10 < 3"),
    ("native", ">= 5", ">= 4"),
    ("native", "HAVING COUNT(*) >= 5", ""),
    ("native", "COUNT(*) AS", "2 * COUNT(*) AS"),
    ("native", NATIVE, f"{NATIVE} WHERE random() < 0.9"),
]


@pytest.mark.parametrize(("method", "old", "new"), TEXTS)
def test_a_broken_text_is_rejected_by_the_laws_and_by_the_kernel(tmp_path, method, old, new):
    with mechanism(tmp_path, CELLS, method=method, k="5") as sound:
        broken = sound.but(old, new)
        with pytest.raises(LawBroken):
            check(broken)
        refused_by_the_kernel(broken)


def test_a_sample_of_rows_is_no_sample_of_persons(tmp_path):
    with mechanism(
        tmp_path, CELLS, unit="{column: person, rows: any}", recode="{person: {round: 1}}"
    ) as sound:
        by_bits = (
            "rowid IN (SELECT UNNEST([i FOR i IN RANGE(4096)"
            " IF GET_BIT(policy_engine_bits, i::INTEGER) = 1]) FROM"
        )
        broken = sound.but('"person" IN (SELECT unit FROM', by_bits)
        rows = replace(sound.policy.source, keys=())
        by_row = replace(broken, policy=replace(sound.policy, source=rows))
        inside = np.zeros((DRAWS, 52))
        for draw in inside:
            draw[by_row.units("person")] = 1
        with pytest.raises(LawBroken, match=r"^unit \d+ is in"):
            check_independence(inside, 0.3)
        refused_by_the_kernel(broken)


def in_blocks(secret, count, bound):
    """Sixty-four neighbours are in or out together."""
    for rows in draw_rows(secret, -(-count // 64), bound):
        yield (rows[:, None] * 64 + np.arange(64)).ravel()


SAMPLERS = {
    "more": lambda s, n, b: draw_rows(s, n, b + b // 4),
    "fewer": lambda s, n, b: draw_rows(s, n, b - b // 4),
    "one secret": lambda s, n, b: draw_rows(bytes(16), n, b),
    "blocks": in_blocks,
    "everybody": lambda s, n, b: iter([np.arange(n)]),
    "never row 5": lambda s, n, b: (rows[rows % 16 != 5] for rows in draw_rows(s, n, b + b // 14)),
}


@pytest.mark.parametrize("draw", SAMPLERS.values(), ids=SAMPLERS)
def test_a_broken_sampler_is_rejected_by_the_laws(tmp_path, monkeypatch, draw):
    # The known-answer test would refuse each; here the laws must do it by themselves.
    monkeypatch.setattr(DrawnSample, "check_known_rows", lambda self: None)
    monkeypatch.setattr(drawing, "draw_rows", draw)
    with mechanism(tmp_path, CELLS, recode="{cell: keep, id: keep}") as broken:
        inside = np.zeros((DRAWS, 156))
        for row in inside:
            row[broken.units("id")] = 1
    with pytest.raises(LawBroken):
        check_moments(inside.sum(axis=1), 156, 0.3)
        check_independence(inside, 0.3)


def test_a_secret_that_is_used_twice_is_rejected_by_the_laws(tmp_path):
    with mechanism(tmp_path, CELLS, k="5") as sound, pytest.raises(LawBroken):
        check(replace(sound, secret=lambda: bytes(range(16))))


def test_neighbours_of_a_mechanism_without_a_sample_are_told_apart(tmp_path):
    seen = []
    for size in (N, N - 1):
        with mechanism(tmp_path, cell_of(size), k=str(K), rate=RATE, epsilon=EPSILON) as sound:
            claimed = float(sound.certificate.promise.delta)
            releases = sound.but("WHERE ", "WHERE true OR ").draws(250)
            seen.append([release.get(("mine",), 0) for release in releases])
    with pytest.raises(LawBroken, match=r"the gap is 1\.000"):
        check_neighbours(*seen, float(EPSILON), claimed)


def test_a_mechanism_without_a_threshold_shows_what_cannot_be(tmp_path):
    with mechanism(tmp_path, cell_of(2), k=str(K), rate=RATE, epsilon=EPSILON) as sound:
        releases = sound.but(f">= {K}", ">= 1").draws(100)
    with pytest.raises(LawBroken, match=r"counts \[1, 2\] cannot be"):
        check_cell([release.get(("mine",), 0) for release in releases], 2, float(RATE), K)
