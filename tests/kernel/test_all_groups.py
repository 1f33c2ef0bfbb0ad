"""``public_groups: auto``: whoever is counted is in one of the groups, over extreme values."""

from dataclasses import replace
from datetime import date, datetime
from itertools import product
from random import Random

import pytest
from claims import COLUMNS, IN_TIME, claims, constants, rows
from meaning import group_of, is_in_period, meets

from policy_engine.compile.public_groups import NotPublic, all_groups
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import none_of, one_of, within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Bins, Constant, Map, Truncate
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type


def _by_period(claim: Claim, chance: Random) -> Claim | None:
    """The columns of a claim with public values, and a unit of the calendar within a period."""
    name = chance.choice(IN_TIME)
    column = Column(name, COLUMNS[name], name[4:] if name.startswith("csv") else None)
    first, end = sorted(chance.sample(constants(column.seen, chance), 2))
    shown = [each for each in claim.columns if isinstance(each.recode, Bins | Map | Constant)]
    units = ("year", "quarter", "month", "week", "day", "hour")
    unit = Truncate(chance.choice(units))
    try:
        when = Shown(f"{name}_unit", column, unit)
        period = within(column, at_least=first, below=end)
        return replace(claim, columns=(*shown, when), period=period)
    except ClaimError:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_everybody_in_the_period_is_in_one_of_all_groups(seed):
    chance, checked, by_week = Random(seed), 0, 0
    drawn = [_by_period(claim, chance) for claim in claims(chance, 150)]
    made = [claim for claim in drawn if claim is not None]
    table = rows(chance, made, 200, 60)
    for claim in made:
        try:
            lists = all_groups(claim.columns, claim.period, claim.filter)
        except NotPublic as error:
            assert "100,000" in error.args[0]
            continue
        counted = [row for row in table if is_in_period(claim, row)]
        found = {
            group_of(claim, row)
            for row in counted
            if all(meets(condition, row) for condition in claim.filter)
        }
        listed = {tuple(value for part in key for value in part) for key in product(*lists)}
        assert found <= listed, (claim, found - listed)
        starts = [start for (start,) in lists[-1]]
        assert None not in starts and starts == sorted({*starts})
        checked += bool(found)
        by_week += bool(found) and isinstance(starts[0], str)
    assert checked > 10 and by_week


def test_of_a_column_without_public_values_there_is_no_list():
    shown = Shown("at", Column("at", COLUMNS["at"]), Truncate("month"))
    other = within(Column("day", COLUMNS["day"]), at_least=date(2026, 1, 1), below=date(2026, 2, 1))
    for period in (None, other):
        with pytest.raises(NotPublic, match="column 'at' does not say which values"):
            all_groups([shown], period)
    own = within(shown.column, at_least=datetime(2026, 1, 30), below=datetime(2026, 2, 2))
    assert all_groups([shown], own) == (((datetime(2026, 1, 1),), (datetime(2026, 2, 1),)),)


AGE, TOWN, IN = (Column(name, Type(kind)) for name, kind in (
    ("age", "integer"), ("town", "text"), ("in", "boolean"),
))  # fmt: skip
TOWNS = Map(((("A", "B"), "north"), (("C",), "south")), "other")
AGES = Bins((18, 65), ("young", "adult", "old"))


@pytest.mark.parametrize(
    ("column", "recode", "conditions", "wanted"),
    [
        (TOWN, TOWNS, (), ["north", "south", "other", None]),
        (TOWN, TOWNS, (one_of(TOWN, ("A", "C")),), ["north", "south"]),
        (TOWN, TOWNS, (one_of(TOWN, ("A", "D"), or_missing=True),), ["north", "other", None]),
        (TOWN, TOWNS, (none_of(TOWN, ()),), ["north", "south", "other"]),  # missing: false
        (TOWN, TOWNS, (none_of(TOWN, ("C",)),), ["north", "other"]),
        (TOWN, TOWNS, (none_of(TOWN, ("A",)),), ["north", "south", "other"]),
        (TOWN, TOWNS, (one_of(Column("city", Type("text")), ("A",)),),
         ["north", "south", "other", None]),
        (IN, Map((((True,), "yes"), ((False,), "no")), "other"), (), ["yes", "no", None]),
        (IN, Map((((True,), "yes"),), "other"), (), ["yes", "other", None]),
        (AGE, AGES, (within(AGE, 18, 60),), ["adult"]),
        (AGE, AGES, (within(AGE, 17, 66),), ["young", "adult", "old"]),
        (AGE, AGES, (within(AGE, None, 18, or_missing=True),), ["young", None]),
        (AGE, AGES, (within(AGE, 20), within(AGE, None, 70)), ["adult", "old"]),
        (AGE, AGES, (one_of(AGE, (3, 70)),), ["young", "old"]),
        (AGE, AGES, (none_of(AGE, (3,)),), ["young", "adult", "old"]),
        (AGE, AGES, (within(AGE, 70), within(AGE, None, 60)),
         ["young", "adult", "old", None]),  # nobody
    ],
)  # fmt: skip
def test_no_value_is_listed_that_nobody_who_is_counted_can_have(column, recode, conditions, wanted):
    """A map with other beside a filter listed the rest, of which noise alone was ever shown."""
    shown = Shown(column.name, column, recode)
    [listed] = all_groups([shown], None, conditions)
    assert [value for (value,) in listed] == wanted
    named = replace(shown, missing="unknown")
    [listed] = all_groups([named], None, conditions)
    assert [value for (value,) in listed] == [each or "unknown" for each in wanted]


def test_bins_of_a_periods_column_are_those_within_it():
    day = Column("day", Type("date"))
    shown = Shown("day", day, Bins((date(2026, 1, 1), date(2026, 7, 1)), ("a", "b", "c")))
    year = within(day, date(2026, 1, 1), date(2027, 1, 1))
    assert all_groups([shown], year) == ((("b",), ("c",)),)
