"""Four tables of which pyCANON 1.3.6, asked on 23 November 2026, says something else.

By hand: each is small enough to be counted on one's fingers, and so are the definitions.
"""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.measure.measuring import Measured, Questions, measure


def measured(folder: Path, known: list[str | None], told: list[str]) -> Measured:
    path = folder / "table.parquet"
    pq.write_table(pa.table({"g": pa.array(known, pa.string()), "s": told}), path)
    return measure(path, Questions(sensitive=("s",))).tables[0]


def test_recursive_counts_the_values_from_the_commonest_on(tmp_path: Path) -> None:
    """x once, y twice, z three times: 3 < c · 1. pyCANON: c = 1 for ℓ = 3."""
    (told,) = measured(tmp_path, ["a"] * 6, list("xyyzzz")).disclosed
    assert told.recursive == {2: 1.0, 3: 3.0}


def test_entropy_of_two_equal_values_is_two(tmp_path: Path) -> None:
    """It is a real number, and not cut off: pyCANON says 1 of two values, 7 of eight."""
    for values in ("xy", "xyzuvwst"):
        (told,) = measured(tmp_path, ["a"] * len(values), list(values)).disclosed
        assert told.entropy == pytest.approx(len(values))


def test_a_value_that_a_class_lacks_discloses_all(tmp_path: Path) -> None:
    """b never has y: that is learnt for certain. pyCANON: 0.693, from the values that are there."""
    (told,) = measured(tmp_path, list("aabb"), list("xyxx")).disclosed
    assert told.delta == math.inf


def test_a_person_whose_key_is_missing_is_a_class(tmp_path: Path) -> None:
    """Alone without a value for g, and so known: pyCANON leaves the row out, k = 2 and ℓ = 2."""
    found = measured(tmp_path, ["a", "a", None], list("xyx"))
    assert (found.sizes.k, found.disclosed[0].distinct) == (1, 1)
