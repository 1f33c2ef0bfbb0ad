"""The events that are found, and the features of a run."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from policy_engine.audit.events import Event, best_event, features


def runs(feature, *values, times=40):
    return [{feature: value} for value in values for _ in range(times)]


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (runs("n", 5, 6, 7), runs("n", 1, 2, 3), 6),
        (runs("n", 1, 2, 3), runs("n", 5, 6, 7), 2),
        (runs("order", (1, 0)), runs("order", (0, 1)), (1, 0)),
        (runs("n", 1, 3, 5), runs("n", 2, 4, 6), 3),
    ],
)
def test_the_best_event_tells_the_two_apart(one, other, told):
    event = best_event(one, other, 0.0, 0.01)
    assert event.count(one).seen == len(one) and event.count(other).seen == 0
    assert event.of(told)


def test_one_value_among_noise_is_found():
    noise = [{"a": i % 7, "b": i % 3} for i in range(600)]
    leak = [{**run, "extra": 1} for run in noise[:300]] + noise[300:]
    event = best_event(leak, noise, 1e-9, 1e-6)
    assert event.feature == "extra"
    assert event.count(leak).seen == 300 and event.count(noise).seen == 0


def test_a_bound_on_one_side_asks_for_a_number():
    assert not Event("n", ">=", 1).of("many")
    assert Event("n", "<=", 3).of(3) and not Event("n", "<=", 3).of(4)
    assert Event("n", "!=", 3).of(4) and not Event("n", "!=", 3).of(3)
    assert Event("mean", ">=", Decimal("0.5")).of(1) and not Event("n", ">=", "many").of(1)
    assert not Event("mean", "<=", 3).of(float("nan"))


def test_a_mean_that_is_nearly_never_the_same_is_found_by_its_size():
    low = [{"mean": Decimal(n) / 7} for n in range(300)]
    high = [{"mean": each["mean"] + 50} for each in low]
    event = best_event(high, low, 1e-9, 1e-6)
    assert event.how == ">=" and event.count(high).seen > 2 * event.count(low).seen


def test_a_sum_is_a_feature_and_a_count_that_is_not_shown_is_nobody():
    part = pa.table({"sex": ["f", "m"], "n": [3, None], "pay": [Decimal("1.5"), Decimal("0.5")]})
    found = features([part], ["sex"], "n", file=False)
    assert found["pay of m"] == found["least pay"] == Decimal("0.5") and found["total"] == 3
    assert found["count of m"] == 0 and found["greatest pay − total"] == Decimal("-1.5")


def test_everything_that_leaves_is_a_feature():
    part = pa.table({"sex": ["m", "f"], "n": [4, 3], "left": [2, 2]})
    found = features([part], ["sex"], "n", file=True)
    assert found["count of m"] == 4 and found["count of f"] == 3 and found["total"] == 7
    assert found["order"] == (1, 0) and found["first row"] == "m" and found["last row"] == "f"
    assert found["greatest left"] == found["left of m"] == 2
    assert found["greatest left − total"] == -5
    assert found["rows"] == 2 and "left int64" in found["columns"]
    assert found["file size"] > 100


def test_a_dictionary_with_a_suppressed_value_is_seen_in_the_file():
    def release(values):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array(values))
        return features([pa.table({"sex": column})], ["sex"], None, file=True)

    clean, leaking = release(["m"]), release(["m", "suppressed"])
    assert clean["count of m"] == leaking["count of m"] == 2
    assert clean["file checksum"] != leaking["file checksum"]


def test_rows_are_counted_where_there_is_no_count():
    found = features([pa.table({"sex": ["f", "f", None]})], ["sex"], None, file=False)
    assert found["count of f"] == 2 and found["count of NULL"] == 1 and found["order"] == (0, 1)


def test_two_releases_are_compared():
    parts = [pa.table({"a": ["x"], "n": [7]}), pa.table({"b": ["y"], "n": [6]})]
    found = features(parts, ["a", "b"], "n", file=False)
    assert found["total of release 1 − that of release 2"] == 1
    assert found["release 2: count of y"] == 6


def test_a_date_beyond_pythons_calendar_is_a_number():
    days = pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())
    found = features([pa.table({"day": days, "n": [1, 2]})], ["day"], "n", file=False)
    assert found["count of 2147483647"] == 1 and found["count of 0"] == 2
