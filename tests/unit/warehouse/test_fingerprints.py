"""The state of a source: one digest for one state, however it is cut, and another for any other."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.warehouse.arrow import digest_of

SALT = bytes(range(32))


def batch(**columns) -> pa.RecordBatch:
    return pa.record_batch(columns)


def digest(*batches: pa.RecordBatch, salt: bytes = SALT) -> bytes:
    return digest_of(batches, salt)


ROWS = batch(a=[1, None, 0, 3], b=["x", "", None, "ü"], c=[0.5, float("nan"), None, -0.0])


@pytest.mark.parametrize("cut", range(5))
def test_batches_change_nothing(cut):
    assert digest(ROWS.slice(0, cut), ROWS.slice(cut)) == digest(ROWS)


@pytest.mark.parametrize(
    "other",
    [
        batch(a=[1, 0, 0, 3], b=["x", "", None, "ü"], c=[0.5, float("nan"), None, -0.0]),
        batch(a=[1, None, 0, 3], b=["x", None, "", "ü"], c=[0.5, float("nan"), None, -0.0]),
        batch(a=[1, None, 0, 3], b=["", "x", None, "ü"], c=[0.5, float("nan"), None, -0.0]),
        batch(a=[1, None, 0, 3], b=["x", "", None, "ü"], c=[0.5, float("nan"), None, 0.0]),
        batch(a=[1, None, 0, 3], b=["x", "", None, "ü"], c=[0.5, float("nan"), 0.0, -0.0]),
        batch(a=[None, 1, 0, 3], b=["x", "", None, "ü"], c=[0.5, float("nan"), None, -0.0]),
        batch(b=["x", "", None, "ü"], a=[1, None, 0, 3], c=[0.5, float("nan"), None, -0.0]),
        ROWS.slice(0, 3),
    ],
)
def test_any_other_value_or_place_is_another_state(other):
    assert digest(other) != digest(ROWS)


def test_it_is_keyed():
    assert digest(ROWS, salt=bytes(32)) != digest(ROWS)


@given(st.lists(st.one_of(st.none(), st.text(max_size=4))), st.lists(st.text(max_size=4)))
def test_texts_cannot_be_moved_from_one_row_to_the_next(one, other):
    first, second = (batch(t=pa.array(texts, pa.string())) for texts in (one, other))
    assert (digest(first) == digest(second)) is (one == other)


def test_a_slice_of_a_larger_batch_is_what_it_shows():
    assert digest(ROWS.slice(1, 2)) == digest(
        batch(a=[None, 0], b=["", None], c=[float("nan"), None])
    )
