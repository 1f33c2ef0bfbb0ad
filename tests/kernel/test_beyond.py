"""What Python cannot hold and an engine can: infinite days, years before 1, a day that is none.

No text fails on such a row, whether it is there or not (two neighbouring tables give the same error
or none); bins put it on its side of every cut, and a calendar unit of it is NULL.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import PLACES, Place

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Bins, Keep, Recode, Round, Truncate
from policy_engine.kernel.sources import Column, People, Relation
from policy_engine.kernel.types import MOMENTS, Type

PLAIN = {"date": "'2024-05-05'", "timestamp": "'2024-05-05 12:30:00'", "time": "'12:30:00'",
         "timestamp_zoned": "'2024-05-05 12:30:00'", "timestamp_other": "'2024-05-05 12:30:00'",
         "double": "1.5", "decimal": "1.5", "wide_integer": "7", "integer": "7"}  # fmt: skip
#: By engine and kind of column: its type there, what is below every cut, and what is above.
BEYOND = {
    "duckdb": {
        "date": ("DATE", ["'-infinity'", "'5877642-06-25 (BC)'", "'0001-12-31 (BC)'"],
                 ["'infinity'", "'5881580-07-10'", "'10000-01-01'"]),
        "timestamp": ("TIMESTAMP", ["'-infinity'", "'290309-12-22 (BC) 00:00:00'"],
                      ["'infinity'", "'294247-01-10 04:00:54.775806'", "'10000-01-01 00:00:00'"]),
        "timestamp_zoned": (
            "TIMESTAMPTZ", ["'-infinity'", "'290309-12-22 (BC) 00:00:00+00'"],
            ["'infinity'", "'294247-01-10 04:00:54.775806+00'"]),
        "timestamp_other": ("TIMESTAMP_NS", ["'1677-09-22 00:00:00'"], ["'2262-04-11 23:47:16'"]),
        "time": ("TIME", ["'00:00:00'"], ["'24:00:00'"]),
        "wide_integer": ("UHUGEINT", ["0"], ["340282366920938463463374607431768211455"]),
        "integer": ("UBIGINT", ["0"], ["18446744073709551615"]),
        "double": ("FLOAT", ["'-inf'", "-3.4e38"], ["'inf'", "3.4e38"]),
    },
    "postgres": {
        "date": ("DATE", ["'-infinity'", "'4713-01-01 BC'", "'0001-12-31 BC'"],
                 ["'infinity'", "'5874897-12-31'", "'10000-01-01'"]),
        "timestamp": ("TIMESTAMP", ["'-infinity'", "'4713-01-01 00:00:00 BC'"],
                      ["'infinity'", "'294276-12-31 23:59:59.999999'"]),
        "timestamp_zoned": ("TIMESTAMPTZ", ["'-infinity'", "'4713-01-01 00:00:00 BC'"],
                            ["'infinity'", "'294276-12-31 23:59:59.999999'"]),
        "time": ("TIME", ["'00:00:00'"], ["'24:00:00'"]),
        "double": ("REAL", ["'-Infinity'"], ["'Infinity'"]),
    },
    "mariadb": {
        "date": ("DATE", ["'0000-00-00'", "'0000-01-01'", "'1000-00-00'", "'1000-02-00'"],
                 ["'9999-12-31'"]),
        "timestamp": ("DATETIME(6)", ["'0000-00-00 00:00:00'", "'0000-01-01 00:00:00'"],
                      ["'9999-12-31 23:59:59.999999'"]),
        "timestamp_zoned": ("TIMESTAMP(6) NULL", ["'0000-00-00 00:00:00'"], []),
        "time": ("TIME(6)", ["'-838:59:59'"], ["'838:59:59'"]),
        "integer": ("BIGINT UNSIGNED", ["0"], ["18446744073709551615"]),
        "double": ("FLOAT", ["-3.4e38"], ["3.4e38"]),
        "decimal": ("DECIMAL(38, 3)", [f"-{'9' * 35}.999"], [f"{'9' * 35}.999"]),
    },
    "clickhouse": {
        "date": ("Date32", ["'1900-01-01'"], ["'2299-12-31'"]),
        "timestamp": ("DateTime64(6)", ["'1900-01-01 00:00:00'"], ["'2299-12-31 23:59:59.999999'"]),
        "timestamp_zoned": ("DateTime64(6, 'Asia/Tokyo')", ["'1900-01-02 00:00:00'"],
                            ["'2299-12-31 23:59:59.999999'"]),
        "wide_integer": ("UInt256", ["0"], [str(2**256 - 1)]),
        "integer": ("UInt64", ["0"], ["18446744073709551615"]),
        "double": ("Float32", ["-inf"], ["inf"]),
        "decimal": ("Decimal(38, 3)", [f"'-{'9' * 35}.999'"], [f"'{'9' * 35}.999'"]),
    },
    "spark": {
        "date": ("DATE", ["'-290308-01-01'", "'0000-12-31'"], ["'+290000-01-01'"]),
        "timestamp": ("TIMESTAMP_NTZ", ["'-290307-01-01 00:00:00'"], ["'+294246-01-01 00:00:00'"]),
        "timestamp_zoned": ("TIMESTAMP", ["'-290307-01-01 00:00:00'"],
                            ["'+294246-01-01 00:00:00'"]),
        "double": ("FLOAT", ["'-Infinity'"], ["'Infinity'"]),
        "decimal": ("DECIMAL(38, 3)", [f"-{'9' * 35}.999"], [f"{'9' * 35}.999"]),
    },
    "datafusion": {
        "date": (pa.date32(), [-(2**31), -719529], [2**31 - 1, 2932897]),
        "timestamp": (pa.timestamp("us"), [-(2**63)], [2**63 - 1, 253402300800 * 10**6]),
        "timestamp_zoned": (pa.timestamp("us", "UTC"), [-(2**63)], [2**63 - 1]),
        "integer": (pa.uint64(), [0], [2**64 - 1]),
        "double": (pa.float32(), [float("-inf")], [float("inf")]),
    },
}  # fmt: skip
ROWS_EACH = 3
INSIDE = {"mariadb": {"'9999-12-31'", "'9999-12-31 23:59:59.999999'", "'1000-00-00'",
                      "'1000-02-00'"}}  # fmt: skip
"""Of the calendar after all, or no day but with a year and month."""
GONE = {
    "mariadb": {"'0000-00-00 00:00:00'"},
    "datafusion": {-(2**31), 2**31 - 1, -(2**63), 2**63 - 1},
}
"""What the engine, or the product's reading of its files, takes for NULL."""


def load(place: Place, given: dict[str, tuple[object, list[object]]]) -> None:
    """The table people of these columns: their type, and the value of each three rows."""
    longest = max(len(values) for _, values in given.values())
    columns = {name: (kind, [*values, *[None] * (longest - len(values))])
               for name, (kind, values) in given.items()}  # fmt: skip
    lines = [[values[number] for _, values in columns.values()] for number in range(longest)]
    rows = [line for line in lines for _ in range(ROWS_EACH)]
    if place.name == "datafusion":
        made = {name: pa.array([row[at] for row in rows], _integers(kind)).cast(kind)
                for at, (name, (kind, _)) in enumerate(columns.items())}  # fmt: skip
        made["row"] = pa.array(range(len(rows)), pa.int64())
        pq.write_table(pa.table(made), place._engine._folder / "people.parquet")
        return
    run_all(place, statements(place, columns, rows))


def _integers(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(kind) else kind


def statements(place: Place, columns: dict, rows: list) -> list[str]:
    mark, nullable = place.quote, "Nullable({})" if place.name == "clickhouse" else "{}"
    number = {"clickhouse": "Int64"}.get(place.name, "BIGINT")
    named = [f"{mark}{name}{mark} {nullable.format(kind)}" for name, (kind, _) in columns.items()]
    values = (", ".join([*(_cast(place, value, kind) for value, (kind, _) in
                           zip(row, columns.values(), strict=True)), str(at)])
              for at, row in enumerate(rows))  # fmt: skip
    made = " USING parquet" if place.name == "spark" else place.made
    return [
        "DROP TABLE IF EXISTS people" + (" CASCADE" if place.name == "postgres" else ""),
        f"CREATE TABLE people ({', '.join(named)}, {mark}row{mark} {number}){made}",
        f"INSERT INTO people VALUES {', '.join(f'({line})' for line in values)}",
    ]


def _cast(place: Place, value: object, kind: str) -> str:
    if value is None:
        return "NULL"
    return f"CAST({value} AS {kind})" if place.name == "spark" else str(value)


def run_all(place: Place, texts: list[str]) -> None:
    if place.name == "duckdb":
        for text in texts:
            place._connection.execute(text)
    elif place.name == "clickhouse":
        with place.opened() as warehouse:
            for text in texts:
                warehouse._query(text)
    elif place.name == "mariadb":
        place._engine._server.sql("SET sql_mode = '', time_zone = '+00:00'", *texts)
    else:
        place._engine._server.sql(*texts)


def recodes(kind: str) -> list[Recode]:
    """Those of a kind that could fail, with a cut between what is below and above."""
    cuts = {"date": date(2024, 5, 1), "double": Decimal(1), "decimal": Decimal(1)}
    cuts |= dict.fromkeys(MOMENTS, datetime(2024, 5, 1))
    seen = type_of(kind)
    found: list[Recode] = [Bins((cuts[kind],), ("low", "high"))] if kind in cuts else []
    # An unsigned number of DuckDB failed beside a negative one.
    found += [Bins((-5, 5), ("low", "middle", "high"))] if "integer" in kind else []
    found += [Truncate(unit) for unit in ("year", "quarter", "month", "week", "day", "hour")]
    found += [Keep(), Round(Decimal(5)), Round(Decimal("0.5"))]
    return [recode for recode in found if recode.fits(seen)]


def type_of(kind: str) -> Type:
    return Type("decimal", 38, 3) if kind == "decimal" else Type(kind)


def claim_of(place: Place, kind: str, recode: Recode) -> Claim:
    law = Keyed((1 << 60) - 1, 2, secret=Secret(place.salts, "next"))
    column = Column(f"c_{kind}", type_of(kind))
    key = Column("row", Type("integer"))
    unit = People(key, ((column, True),))
    return Claim(Relation(place.source), unit, law, (Shown("shown", column, recode),))


NAMES = [
    pytest.param(name, marks=pytest.mark.evidence) if name == "spark" else name for name in BEYOND
]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_no_text_fails_on_a_row(place_of, name, is_there):
    place = place_of(name)
    assert name in PLACES
    place.load([])
    plain = {"double": 1.5, "integer": 7, "date": 19848, "timestamp": 1714912200 * 10**6,
             "timestamp_zoned": 1714912200 * 10**6} if name == "datafusion" else PLAIN  # fmt: skip
    extremes = {
        kind: [*low, *high] if is_there else [] for kind, (_, low, high) in BEYOND[name].items()
    }
    load(place, {f"c_{kind}": (made[0], [*extremes[kind], plain[kind]])
                 for kind, made in BEYOND[name].items()})  # fmt: skip
    with place.opened() as warehouse:
        for kind in BEYOND[name]:
            for recode in recodes(kind):
                claim = claim_of(place, kind, recode)
                text = printed(claim, name)
                table = place.table(warehouse, claim, text)
                shown = table["shown"].cast(pa.string()).to_pylist()
                counts = dict(zip(shown, table["n"].to_pylist(), strict=True))
                if is_there:
                    _check(name, kind, recode, counts)


def _check(name: str, kind: str, recode: Recode, counts: dict) -> None:
    """What is beyond is on its side of the cut, and has no calendar unit."""
    _, low, high = BEYOND[name][kind]
    gone = GONE.get(name, set()) if kind in MOMENTS or name == "datafusion" else set()
    if isinstance(recode, Bins) and kind in ("date", *MOMENTS):
        gone = gone if (name, kind) != ("mariadb", "timestamp") else set()
        assert counts["high"] == ROWS_EACH * (1 + len({*high} - gone)), (kind, recode, counts)
        assert counts.get("low", 0) == ROWS_EACH * len({*low} - gone), (kind, recode, counts)
    if isinstance(recode, Truncate) and name != "clickhouse" and kind != "timestamp_other":
        inside = {*low, *high} & INSIDE.get(name, set())
        outside = ROWS_EACH * (len({*low, *high}) - len(inside))
        assert counts.get(None, 0) >= outside, (kind, recode, counts)
        assert sum(counts.values()) - counts.get(None, 0) >= ROWS_EACH, (kind, recode, counts)
