"""[CHOICE] The law of quantiles as the real SQL draws them: many groups of the same values."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Clip, Noisy, Quantile
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

sys.path.insert(0, str(Path(__file__).parents[1] / "warehouse"))
from law import quantile_law, quantile_p_value, three_percent_off

GROUPS = 100_000
FLUKE = 1e-9
TINY = IntegerTable((1 << 59,), 0)
CLIP = Clip(0, 5, absent=0)
KEY, DAYS = Column("ward", Type("integer")), Column("days", Type("integer"))


def drawn(values: Sequence[int], chosen: Quantile) -> Counter[int]:
    """How often each value is chosen, of one release of so many groups of these values."""
    law = Noisy(TINY, 1, quantiles=(chosen,))
    claim = Claim(Relation(("main", "stays")), Rows(), law, (Shown("ward", KEY, Keep()),))
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE stays AS SELECT ward::BIGINT AS ward, days::BIGINT AS days"
            f" FROM range({GROUPS}) AS t(ward), (SELECT unnest({list(values)}) AS days)"
        )
        found = connection.execute(printed(claim, "duckdb"), {"salt": "5" * 64}).fetchall()
    assert len(found) == GROUPS
    return Counter(row[-1] for row in found)


@pytest.mark.parametrize(
    ("values", "at", "epsilon"),
    [([1, 2, 2, 4, 9], "0.5", "0.9"), ([0, 0, 0, 3, 5, 5, 5, 5, 1], "0.9", "2")],
)
def test_the_sql_chooses_by_the_exact_law(values, at, epsilon):
    quantile = Quantile("chosen", DAYS, CLIP, Decimal(at), 0, Decimal(epsilon))
    law, seen = quantile_law(values, quantile), drawn(values, quantile)
    assert quantile_p_value(seen, quantile, law) > FLUKE
    assert quantile_p_value(seen, quantile, three_percent_off(law)) < FLUKE
