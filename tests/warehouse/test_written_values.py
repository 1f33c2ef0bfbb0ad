"""What engines write for a value, in a table that stands, is what ``verify`` takes for one."""

from __future__ import annotations

from contextlib import closing
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
from engines import TABLE, opened_engines

from policy_engine.attest.claimed_values import misfits
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import IntegerTable, Noisy
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

LAW = Noisy(IntegerTable((1 << 58, 3 << 58), -1), 1)
DAYS = [date(1, 1, 1), date(1900, 1, 1), date(2024, 2, 29), date(2299, 12, 31), date(9999, 12, 31)]
MOMENTS = [
    datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2020, 2, 29),
    datetime(2024, 7, 1, 12, 30), datetime(9999, 12, 31, 23, 59, 59, 999999),
]  # fmt: skip
VALUES = {
    "whole": (Type("integer"), pa.array([0, -1, 2**63 - 1, -(2**63), None])),
    "exact": (
        Type("decimal", 38, 3),
        pa.array([*map(Decimal, ("0.000", "-1.500", "9" * 35 + ".999", "0.001")), None],
                 pa.decimal128(38, 3)),
    ),
    "truth": (Type("boolean"), pa.array([True, False, None, True, True])),
    "day": (Type("date"), pa.array(DAYS, pa.date32())),
    "moment": (Type("timestamp"), pa.array(MOMENTS, pa.timestamp("us"))),
}  # fmt: skip


def test_what_an_engine_writes_for_a_value_stands_for_it():
    seen = set()
    names = ("duckdb", "postgres", "mariadb", "clickhouse", "datafusion", "sqlite")
    with opened_engines(names) as engines:
        for name, engine in engines.items():
            table = pa.table({column: values for column, (_, values) in VALUES.items()})
            held = table.select([c for c in VALUES if c not in engine.unfit(table)])
            engine.load(held)
            with closing(engine.warehouse()) as warehouse:
                lines = list(warehouse.release_lines(warehouse.target(TABLE)))
            assert len(lines) == 5
            for column, texts in zip(held.column_names, zip(*lines, strict=True), strict=True):
                shown = Shown("x", Column("x", VALUES[column][0]), Keep())
                claim = Claim(Relation(("main", "people")), Rows(), LAW, (shown,))
                assert misfits(claim, [texts]) == (), (name, column, texts)
                seen.add((name, column))
    assert len(seen) >= 5 * 5 + 1
