"""[CHOICE] The law of quantiles as the real SQL draws them: many groups of the same values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from scipy import stats

from policy_engine.accounting.choice import coin_table
from policy_engine.accounting.choice_law import law_of_choice
from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Clip, Noisy, Quantile
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

GROUPS = 100_000
FLUKE = 1e-9
TINY = IntegerTable((1 << 59,), 0)
CLIP = Clip(0, 5, absent=0)
KEY, DAYS = Column("ward", Type("integer")), Column("days", Type("integer"))


def drawn(values: Sequence[int], at: str, epsilon: str) -> Counter[int]:
    """How often each value is chosen, of one release of so many groups of these values."""
    chosen = Quantile("chosen", DAYS, CLIP, Decimal(at), 0, Decimal(epsilon))
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


def law_of(values: Sequence[int], at: str, epsilon: str) -> tuple[Fraction, ...]:
    """By the definition of a quantile, and of a table of coins."""
    a, b = Decimal(at).as_integer_ratio()
    held = [min(max(value, CLIP.low), CLIP.high) for value in values]
    coins, table = [], coin_table(epsilon)
    for candidate in range(CLIP.low, CLIP.high + 1):
        below, above = (sum(way) for way in (
            [value < candidate for value in held], [value > candidate for value in held]
        ))  # fmt: skip
        others = len(held)
        missed = max((b - a) * below - a * (others - below), a * above - (b - a) * (others - above))
        coins.append(table.coin(-(-max(0, missed) // max(a, b - a))))
    return law_of_choice(coins)


def fits(seen: Counter[int], law: Sequence[Fraction]) -> float:
    wanted = np.array([float(chance) for chance in law]) * GROUPS
    counts = np.array([seen[CLIP.low + place] for place in range(len(law))])
    return float(stats.chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue)


@pytest.mark.parametrize(
    ("values", "at", "epsilon"),
    [([1, 2, 2, 4, 9], "0.5", "0.9"), ([0, 0, 0, 3, 5, 5, 5, 5, 1], "0.9", "2")],
)
def test_the_sql_chooses_by_the_exact_law(values, at, epsilon):
    law = law_of(values, at, epsilon)
    seen = drawn(values, at, epsilon)
    assert fits(seen, law) > FLUKE
    # One chance that is 3 % off is rejected: the greatest, of which there is enough.
    first = max(range(len(law)), key=lambda place: law[place])
    other = min(range(len(law)), key=lambda place: law[place])
    moved = law[first] * Fraction(3, 100)
    off = [*law]
    off[first], off[other] = off[first] - moved, off[other] + moved
    assert fits(seen, off) < FLUKE
