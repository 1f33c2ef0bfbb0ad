"""Conditions of one column: what is kept, and how each reads."""

from __future__ import annotations

from datetime import date

import pytest

from policy_engine.kernel.claim import KEPT, Shown
from policy_engine.kernel.filters import none_of, one_of, within, words_of
from policy_engine.kernel.recodes import Bins, Constant
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type

STATE, AGE = Column("state", Type("text")), Column("age", Type("integer"))
PAY, DAY = Column("pay", Type("double")), Column("day", Type("date"))
SEEN = Column("seen", Type("timestamp"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (one_of(STATE, ("TX", "CA")), "state is one of TX, CA"),
        (none_of(STATE, ("TX",)), "state is none of TX"),
        (none_of(STATE, ("TX",), or_missing=True), "state is none of TX or is missing"),
        (none_of(STATE, ()), "state is not missing"),
        (within(AGE, 18, 65), "age from 18 to below 65"),
        (within(AGE, 18), "age from 18 on"),
        (within(AGE, below=65, or_missing=True), "age below 65 or is missing"),
        (within(DAY, date(2026, 1, 1)), "day from 2026-01-01 on"),
    ],
)
def test_a_condition_reads_as_what_it_keeps(condition, words):
    assert words_of(condition) == words


@pytest.mark.parametrize("column", [PAY, SEEN])
def test_what_no_map_looks_up_is_there_on_either_side_of_a_cut(column):
    """Each value is on one of both sides, NULL and NaN on neither."""
    condition = none_of(column, ())
    assert isinstance(condition.recode, Bins)
    assert condition.recode.labels == (KEPT, KEPT) and condition.missing is None
    assert words_of(condition) == f"{column.name} is not missing"


def test_of_a_recode_that_is_no_condition_nothing_is_said():
    assert words_of(Shown(KEPT, None, Constant(KEPT)), "all").strip() == "all"
