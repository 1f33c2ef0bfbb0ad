"""Whole numbers are rounded without doubles on DuckDB: to the multiple that doubles have."""

from __future__ import annotations

import random
from decimal import Decimal

import duckdb
import meaning
import pytest

from policy_engine.kernel.claim import Shown
from policy_engine.kernel.printing import environment, shown_of
from policy_engine.kernel.recodes import Round
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type

ENDS = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "UINTEGER": (0, 2**32 - 1),
    "INTEGER": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
}
STEPS = (1, 2, 3, 5, 10, 25, 1000, 999_999_999_999_999, 10**15, 10**17)
MOST = 10**15
"""Up to here no double is made."""


def values(step: int, least: int, largest: int, chance: random.Random) -> list[int]:
    """At each end, half of a step, and beside them; and any."""
    halves = [step * half // 2 for half in range(-9, 10)]
    last = [sign * (MOST - step * half // 2) for sign in (1, -1) for half in range(4)]
    turns = [*halves, *last, MOST, -MOST, 10**18, -(10**18), least, largest]
    near = {turn + beside for turn in turns for beside in (-1, 0, 1)}
    near |= {chance.randint(least, largest) for _ in range(50)}
    near |= {chance.randint(-MOST, MOST) for _ in range(50)}
    return sorted(value for value in near if least <= value <= largest)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ENDS)
def test_a_whole_number_has_the_multiple_that_it_means(kind: str, step: int) -> None:
    shown = Shown("x", Column("x", Type("integer")), Round(Decimal(step)))
    forms = environment("duckdb").get_template("recodes.sql.j2").module
    rounded = str(forms.plain(shown_of(shown, typed=True)))  # type: ignore[attr-defined]
    given = values(step, *ENDS[kind], random.Random(step))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE numbers (place INTEGER, x {kind})")
        listed = ", ".join(f"({place}, {value})" for place, value in enumerate(given))
        connection.execute(f"INSERT INTO numbers VALUES {listed}, ({len(given)}, NULL)")
        query = f"SELECT {rounded}, typeof({rounded}) FROM numbers ORDER BY place"
        found = connection.execute(query).fetchall()
    assert [value for value, _ in found] == [*(meaning._round(shown, v) for v in given), None]
    assert {released for _, released in found} == {"BIGINT"}
