"""Ladders of recodings: each level coarser than the one before, told from the recodings alone."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product

import pytest

from policy_engine.kernel.recodes import Bins, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.recodings import Recoding, mapped

AGES = "levels: [{bins: [10, 20, 30]}, {bins: [20]}], level: "


def test_the_level_is_what_is_released(load):
    policies = [load(recode=f"recode: {{age: {{{AGES}{level}}}}}") for level in (1, 2)]
    assert [dict(each.recodings)["age"] for each in policies] == [
        Bins((Decimal(10), Decimal(20), Decimal(30)), ("<10", "[10,20)", "[20,30)", ">=30")),
        Bins((Decimal(20),), ("<20", ">=20")),
    ]
    # Of three steps, one to a constant, one and two are taken.
    assert [each.recoded.height for each in policies] == [1, 2]
    assert {each.recoded.most for each in policies} == {3}
    assert len({each.digest for each in policies}) == 2


def test_what_is_missing_has_a_name_at_every_level(load):
    found = load(recode=f"recode: {{age: {{{AGES}2, missing: unknown}}}}")
    assert dict(found.missing) == {"age": "unknown"}


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ("[{bins: [10]}], level: 2", "recode.age.level must be at most 1"),
        ("[{bins: [10]}]", "recode.age.level is missing; write level: 1"),
        ("[], level: 1", "must be a list of recodings"),
        ("[keep], level: 1", "must be a mapping with one of bins, map, prefix"),
        ("[{constant: x}], level: 1", "must be a mapping with one of bins"),
        ("[{prefix: 3, missing: x}], level: 1", "missing is of the column; write it beside"),
        ("[{prefix: 1}, {prefix: 3}], level: 1", "levels[1] must be coarser than the level before"),
        ("[{bins: [10]}, {bins: [12]}], level: 1", "the cut 12 is none of the level before"),
        ("[{prefix: 0}, {prefix: 3}], level: 1", "levels[0].prefix must be at least 1"),
    ],
)
def test_a_ladder_that_is_none_is_refused(problems, levels, told):
    found = problems(recode=f"recode: {{age: {{levels: {levels}}}}}")
    assert any(told in each for each in found), found


def bins(*cuts: object) -> Bins:
    edges = tuple(Decimal(c) if isinstance(c, int) else c for c in cuts)
    return Bins(edges, tuple(map(str, range(len(edges) + 1))))


def of(recoding: Recoding, value: object) -> Hashable:
    """What a recoding makes of a value, in plain Python."""
    match recoding:
        case Prefix(length=length):
            return str(value)[:length]
        case Map(groups, other):
            return next((label for keys, label in groups if str(value) in keys), other)
        case Bins(cuts=cuts):
            return bisect_right(cuts, value)
        case Round(step=step, way=way):
            assert isinstance(value, Decimal)
            parts = value / step
            whole = math.floor(parts) if way == "down" else math.trunc(parts)
            return (whole if way != "nearest" else round(parts)) * step
        case Truncate(unit=unit):
            assert isinstance(value, datetime)
            day = value.date()
            starts = {
                "hour": value.replace(minute=0), "day": day, "month": day.replace(day=1),
                "week": day - timedelta(days=day.weekday()),
                "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
                "year": day.replace(month=1, day=1),
            }  # fmt: skip
            return starts[unit]
    raise AssertionError(recoding)


NUMBERS = [Decimal(n) / 2 for n in range(-90, 91)]
MOMENTS = [datetime(2023, 11, 20) + timedelta(hours=7 * n, minutes=30) for n in range(700)]
WORDS = ["Bern", "Basel", "Biel", "Zug", "Zürich", "Genf"]
KINDS: list[tuple[list[object], list[Recoding]]] = [
    (
        [*NUMBERS],
        [
            *(Round(Decimal(step), way) for step in (2, 5, 10, 15) for way in ("down", "zero")),
            Round(Decimal(5), "nearest"), bins(-10, 0, 10), bins(0), bins(0, 10), bins(3, 10),
        ],
    ),
    (
        [*MOMENTS],
        [
            *(Truncate(unit) for unit in ("hour", "day", "week", "month", "quarter", "year")),
            bins(datetime(2024, 1, 1)), bins(datetime(2024, 4, 1), datetime(2024, 5, 1)),
            bins(datetime(2024, 1, 1, 6)), bins(datetime(2024, 1, 8)),
            bins(datetime(2024, 1, 1, 6, 20)),
        ],
    ),
    (
        [*WORDS],
        [
            *map(Prefix, (1, 2, 3)),
            mapped((("Basel", "b"), ("Bern", "b"), ("Zug", "z")), "other"),
            mapped((("Basel", "x"), ("Bern", "x")), "y"),
            mapped((("Basel", "x"), ("Bern", "y")), "y"),
            mapped((("Basel", "b"), ("Bern", "b")), None),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("values", "recodings"), KINDS)
def test_what_is_called_coarser_parts_no_group(values, recodings):
    accepted = 0
    for fine, coarse in product(recodings, repeat=2):
        if recode_meaning(fine).why_parted(coarse):
            continue
        accepted += 1
        above: dict[Hashable, set[Hashable]] = {}
        for value in values:
            above.setdefault(of(fine, value), set()).add(of(coarse, value))
        assert max(map(len, above.values())) == 1, (fine, coarse)
        assert len({of(coarse, value) for value in values}) <= len(above)
    assert accepted >= 4


@pytest.mark.parametrize(
    ("fine", "coarse", "told"),
    [
        (Prefix(3), Truncate("day"), "another kind"),
        (Keep(), Prefix(1), "another kind"),
        (bins(1, 2), bins(1, 2), "the same cuts"),
        (Truncate("day"), Truncate("hour"), "a day is not within one hour"),
        (Truncate("month"), bins(3), "not where a month begins"),
        (Truncate("quarter"), bins(date(2024, 2, 1)), "not where a quarter begins"),
        (Truncate("year"), bins(date(2024, 4, 1)), "not where a year begins"),
        (Truncate("week"), bins(date(2024, 1, 2)), "not where a week begins"),
        (Round(Decimal("0.5"), "down"), Round(Decimal(1), "down"), "fractions"),
        (Round(Decimal("0.5"), "down"), bins(1), "fractions"),
        (Round(Decimal(5), "down"), Round(Decimal(12), "down"), "no multiple of 5"),
        (Round(Decimal(5), "nearest"), Round(Decimal(10), "nearest"), "way: down"),
        (Round(Decimal(5), "zero"), bins(10), "way: down lie in bins"),
        (Round(Decimal(5), "down"), bins(12), "a multiple of 5"),
        (Round(Decimal(5), "down"), bins(date(2024, 1, 1)), "a multiple of 5"),
        (mapped((("a", "x"),), None), mapped((("a", "x"), ("b", "y")), None), "what is NULL"),
        (mapped((("a", "x"),), "z"), mapped((("a", "v"),), "w"), "as many values apart"),
    ],
)
def test_why_it_is_not_coarser(fine, coarse, told):
    assert told in recode_meaning(fine).why_parted(coarse)


def test_a_truncation_to_years_lies_in_bins_of_years():
    years = recode_meaning(Truncate("year"))
    assert not years.why_parted(bins(date(2000, 1, 1), date(2010, 1, 1)))
