"""Which released values a claim can give: labels, multiples, starts, ranges; hostile ones too."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.accounting.noise_laws import laplace
from policy_engine.attest.claimed_values import misfits, mistyped, untruncated
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    IntegerTable,
    Keyed,
    Measure,
    Noisy,
    Quantity,
)
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

PEOPLE = Relation(("main", "people"))
TABLE = IntegerTable((1 << 58, 3 << 58), -1)
NUMBER, TEXT, DAY = Type("integer"), Type("text"), Type("date")


def claim_of(recode, kind=NUMBER, law=None):
    column = None if isinstance(recode, Constant) else Column("x", kind)
    return Claim(PEOPLE, Rows(), law or Noisy(TABLE, 1), (Shown("x", column, recode),))


@pytest.mark.parametrize(
    ("recode", "kind", "good", "bad"),
    [
        (Bins((18,), ("young", "old")), NUMBER, ["young", "old", None], ["17", 17, "Young"]),
        (Map((((1,), "one"),), "other"), NUMBER, ["one", "other", None], ["two"]),
        (Map((((1,), "one"),), None), NUMBER, ["one", None], ["other"]),
        (Constant("all"), NUMBER, ["all"], [None, "every"]),
        (Prefix(2), TEXT, ["ab", "a", "", None], ["abc", 3]),
        (Round(Decimal(10)), NUMBER, [10, -20, 0, None, "30", Decimal(40)],
         [11, "ten", True, 1.5, "1e999", "NaN", "Infinity", "10.5", "1" * 90]),
        (Keep(), TEXT, ["what it is", None], []),
    ],
)  # fmt: skip
def test_what_a_recode_can_show(recode, kind, good, bad):
    claim = claim_of(recode, kind)
    assert misfits(claim, [good]) == ()
    for value in bad:
        assert misfits(claim, [[*good, value]]) == ("x",)


@pytest.mark.parametrize(
    ("recode", "kind", "good", "bad"),
    [
        (Keep(), NUMBER, pa.int64(), pa.string()),
        (Keep(), NUMBER, pa.decimal128(20, 0), pa.date32()),
        (Keep(), TEXT, pa.string(), pa.int64()),
        (Keep(), DAY, pa.date32(), pa.int64()),
        (Keep(), Type("time"), pa.time64("us"), pa.int64()),
        (Keep(), Type("timestamp_zoned"), pa.timestamp("us", "UTC"), pa.int64()),
        (Keep(), Type("boolean"), pa.bool_(), pa.string()),
        (Bins((18,), ("young", "old")), NUMBER, pa.string(), pa.int64()),
    ],
)
def test_which_type_stands_for_what_is_shown(recode, kind, good, bad):
    claim = claim_of(recode, kind)
    for each in (good, pa.null()):
        assert mistyped(claim, pa.table({"x": pa.array([None], each)})) == ()
    assert mistyped(claim, pa.table({"x": pa.array([None], bad)})) == ("x",)


@pytest.mark.parametrize(
    ("unit", "good", "bad"),
    [
        ("year", "2026-01-01", "2026-02-01"),
        ("quarter", "2026-04-01", "2026-05-01"),
        ("month", "2026-05-01", "2026-05-02"),
        ("day", "1969-12-31", "10000-01-01"),
    ],
)
def test_days_and_moments_are_starts(unit, good, bad):
    claim = claim_of(Truncate(unit), DAY)
    for kind in (pa.date32(), *(pa.timestamp(part) for part in ("s", "ms", "us"))):
        for day, wrong in ((good, ()), (bad, ("x",))):
            days = int(np.datetime64(day, "D").astype(int))
            ticks = {"date32[day]": 1, "timestamp[s]": 86_400, "timestamp[ms]": 86_400_000,
                     "timestamp[us]": 86_400_000_000}[str(kind)]  # fmt: skip
            number = pa.int32() if kind == pa.date32() else pa.int64()
            column = pa.array([days * ticks, None], number).cast(kind)
            assert untruncated(claim, pa.table({"x": column})) == wrong


@pytest.mark.parametrize(
    ("unit", "text", "good"),
    [
        ("month", "2026-05-01", True),
        ("month", "2026-05-02", False),
        ("month", "2026-05-01 00:00:00", True),
        ("month", "2026-05-01T00:00:00.000000Z", True),
        ("hour", "2026-05-01 07:00:00+00", True),
        ("hour", "2026-05-01 07:00:00.000001+00:00", False),
        ("week", "2026-W53", True),
        ("week", "2025-W53", False),  # there is none
        ("week", "2026-W5", False),
        ("week", "2026-11-23", False),
        ("day", "2026-13-01", False),
        ("day", "0044-03-15 (BC)", True),  # of the years that are not looked at
        ("hour", "2026-05-01 07:00:00+02", False),  # a session's zone is UTC
        ("month", "tomorrow", False),
    ],
)
def test_texts_of_moments_are_starts_as_in_parquet(unit, text, good):
    claim = claim_of(Truncate(unit), Type("timestamp"))
    assert misfits(claim, [[text, None]]) == (() if good else ("x",))


def test_the_text_of_a_whole_number_is_one():
    claim = claim_of(Keep(), Type("integer"))
    assert misfits(claim, [["-5", "5.0", 7, None]]) == ()
    for text in ("5.5", "five", ""):
        assert misfits(claim, [[text]]) == ("x",)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Type("decimal", 38, 2), ["10.50", "-3", "1E+3", "9" * 36 + ".99"],
         ["ten", "", "NaN", "1,5"]),
        (Type("boolean"), ["true", "False", "1", "f"], ["yes", "2", ""]),
        (DAY, ["2026-02-28", "2024-02-29", "2026-02-28 00:00:00", "0044-03-15 (BC)",
               "12026-01-01", "0000-00-00", "2026-05-00", "infinity", "-infinity"],
         ["2026-02-30", "2026-13-01", "28.02.2026", "2026-02-28 07:00:00", "soon", "12026-13-01"]),
        (Type("time"), ["07:00:00", "23:59:59.999999", "24:00:00"], ["7", "25:00:00", "07:60:00"]),
        (Type("timestamp"), ["2026-02-28 07:00:00.5", "2026-02-28", "infinity"],
         ["2026-02-28 25:00:00", "2026-02-30 07:00:00", "now"]),
        (Type("timestamp_zoned"), ["2026-02-28 07:00:00+00", "2026-02-28T07:00:00Z"],
         ["2026-02-28 07:00:00+02", "2026-02-28 07:00:00 Europe/Berlin"]),
        (Type("uuid"), ["anything"], []),
    ],
)  # fmt: skip
def test_the_text_of_a_value_is_one_of_its_kind(kind, good, bad):
    claim = claim_of(Keep(), kind)
    assert misfits(claim, [[*good, None]]) == ()
    for text in bad:
        assert misfits(claim, [[text]]) == ("x",)


def test_where_a_text_stands_for_null_no_null_is_shown():
    claim = claim_of(Bins((18,), ("young", "old")))
    [shown] = claim.columns
    named = replace(claim, columns=(replace(shown, missing="unknown"),))
    assert misfits(named, [["young", "unknown", "old"]]) == ()
    for value in (None, "Unknown"):
        assert misfits(named, [["young", value]]) == ("x",)


def test_a_multiple_has_as_many_digits_as_an_engine_holds():
    claim = claim_of(Round(Decimal("0.01")), Type("decimal", 38, 2))
    assert misfits(claim, [["9" * 36 + ".99", Decimal("1" * 36)]]) == ()
    assert misfits(claim, [["9" * 36 + ".999"]]) == ("x",)


def test_a_moment_is_the_start_of_an_hour_to_the_last_digit():
    claim = claim_of(Truncate("hour"), Type("timestamp"))
    for nanoseconds, wrong in ((3600 * 10**9, ()), (3600 * 10**9 + 1, ("x",))):
        column = pa.array([nanoseconds], pa.int64()).cast(pa.timestamp("ns"))
        assert untruncated(claim, pa.table({"x": column})) == wrong
    assert untruncated(claim, pa.table({"x": pa.array(["2026-01-01 00:30"])})) == ()
    assert untruncated(claim_of(Keep()), pa.table({"x": [1]})) == ()


def summed(clip, center=0, over=None, is_mean=False, **law):
    column = Column("pay", Type("decimal", 20, 2))
    drawn = [Quantity(column, clip, center, TABLE)]
    if over:
        drawn.append(Quantity(column, clip, None, TABLE))
    measure = Measure("pay", 1, over, is_mean)
    beside = {"quantities": tuple(drawn), "measures": (measure,)}
    return claim_of(Keep(), law=Noisy(TABLE, 5, **beside, **law))


@pytest.mark.parametrize(
    ("claim", "good", "bad"),
    [
        # Shown from 5 + 1 on; 9 are shown of 8 to 10, whose sum has noise of -1 to 1 steps.
        (summed(Clip(0, 2)), (0, 20, "-1", 21), (-4, 60, "x", None, "0.5")),
        (summed(Clip(-2, 0)), (-20, 1), (6, -60)),
        (summed(Clip(0, 40)), (0, 400, -4), (2, 420)),
        # With 20 for each of the 9: the sum of what they are above it is from -200 to 200.
        (summed(Clip(0, 40, absent=0), 20, 0), (0, 380), (600, -100)),
        # Of 0 to 11 with a value.
        (summed(Clip(0, 40), 20, 2), (0, 400), (700, -400)),
        (
            summed(Clip(0, 4, Decimal("0.01"), absent=0), 2, 0, is_mean=True),
            ("0.04", 0),
            ("0.05", "0.005", -1, None),
        ),
        (summed(Clip(0, 4, Decimal("0.01")), 2, 2, is_mean=True), ("0.04", None), ("0.05",)),
    ],
)
def test_what_a_sum_or_a_mean_can_be(claim, good, bad):
    for value in good:
        assert rows_of(claim).wrong_row([(1, 9, value)]) == ""
    for value in bad:
        assert (
            rows_of(claim)
            .wrong_row([(1, 9, value)])
            .startswith("what stands in pay is none of its")
        )
    assert rows_of(claim).wrong_row([(1, 5, 0)]) == "a group is shown with less than 6"
    assert (
        rows_of(claim).wrong_row([(1, "many", 0)]) == "the count column does not hold whole numbers"
    )


def test_of_a_place_people_are_counted_by_its_table():
    open_table = IntegerTable((1 << 58, 3 << 58), 2, is_open=True)
    claim = summed(Clip(0, 2))
    law = replace(claim.law, table=open_table, k=2, offset=2)
    placed = replace(claim, law=law)
    assert rows_of(placed).wrong_row([(1, 9, 20)]) == ""
    assert rows_of(placed).wrong_row([(1, 9, 60)]) != ""


def test_rows_of_several_groupings():
    sex, race = (Shown(name, Column(name, TEXT), Keep()) for name in ("sex", "race"))
    made = laplace(1, 14)
    own = IntegerTable(made.entries, made.least)
    law = Noisy(TABLE, 1, groupings=(CountedBy(("sex", "race")), CountedBy(("sex",), (own,))))
    claim = Claim(PEOPLE, Rows(), law, (sex, race))
    good = [(1, "f", "a", 2), (1, "f", None, 2), ("2", "f", None, 15)]
    assert rows_of(claim).wrong_row(good) == ""
    for row, wrong in (
        ((3, "f", None, 20), "a row is of no grouping that there is"),
        ((None, "f", None, 20), "a row is of no grouping that there is"),
        ((2, "f", "a", 20), "a row shows a column that its grouping does not count by"),
        ((2, "f", None, 2), "a group is shown with less than 15"),
    ):
        assert rows_of(claim).wrong_row([row]) == wrong


def test_other_laws_have_no_such_rows():
    for claim in (claim_of(Keep(), law=Keyed(1 << 59, 5)), claim_of(Keep())):
        assert rows_of(claim).wrong_row([(1, 1)]) == ""
