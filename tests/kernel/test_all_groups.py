"""``public_groups: auto``: whoever is counted is in one of the groups, over extreme values."""

from dataclasses import replace
from datetime import date, datetime
from itertools import product
from random import Random

import pytest
from claims import COLUMNS, IN_TIME, claims, constants, rows
from meaning import group_of, is_in_period

from policy_engine.compile.public_groups import NotPublic, all_groups
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Bins, Constant, Map, Truncate
from policy_engine.kernel.sources import Column


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
        return replace(claim, columns=(*shown, when), period=period, filter=())
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
            lists = all_groups(claim.columns, claim.period)
        except NotPublic as error:
            assert "100,000" in error.args[0]
            continue
        found = {group_of(claim, row) for row in table if is_in_period(claim, row)}
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
