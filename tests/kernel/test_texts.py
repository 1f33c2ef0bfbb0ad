"""What a text becomes, on every engine: one table, whatever its own casts would take."""

from __future__ import annotations

from datetime import date, datetime

import duckdb
import pytest
from claims import COLUMNS, SPELLED
from meaning import read
from running import NAMES

from policy_engine.engines import ENGINES
from policy_engine.kernel.printing import environment, read_of
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type

KINDS = ("integer", "double", "boolean", "date", "timestamp")
DAY, FIRST, LAST = date(2024, 3, 31), date(1000, 1, 1), date(9999, 12, 31)


def at(hour=0, minute=0, second=0, micros=0, day=DAY):
    return datetime(day.year, day.month, day.day, hour, minute, second, micros)


IN_UTC = datetime(2024, 3, 30, 22, 30)
#: A text, and what it is as an integer, a double, a boolean, a date and a timestamp.
TEXTS = {
    "17": (17, 17.0, None, None, None),
    "+17": (17, 17.0, None, None, None),
    "-017": (-17, -17.0, None, None, None),
    "1": (1, 1.0, True, None, None),
    "0": (0, 0.0, False, None, None),
    "999999999999999999": (10**18 - 1, 1e18, None, None, None),
    "-999999999999999999": (1 - 10**18, -1e18, None, None, None),
    "1000000000000000000": (None, 1e18, None, None, None),
    "20240331": (20240331, 20240331.0, None, None, None),
    "17.6": (None, 17.6, None, None, None),
    "17.0": (None, 17.0, None, None, None),
    "17.": (None, 17.0, None, None, None),
    ".5": (None, 0.5, None, None, None),
    "1e3": (None, 1000.0, None, None, None),
    "-2.5E-3": (None, -0.0025, None, None, None),
    "0.30000000000000004": (None, 0.30000000000000004, None, None, None),
    "1e99": (None, 1e99, None, None, None),
    "true": (None, None, True, None, None),
    "TRUE": (None, None, True, None, None),
    "f": (None, None, False, None, None),
    "2024-03-31": (None, None, None, DAY, at()),
    "1000-01-01": (None, None, None, FIRST, at(day=FIRST)),
    "9999-12-31": (None, None, None, LAST, at(day=LAST)),
    "2000-02-29": (None, None, None, date(2000, 2, 29), datetime(2000, 2, 29)),
    "2024-03-31 00:30": (None, None, None, DAY, at(0, 30)),
    "2024-03-31T00:30:59": (None, None, None, DAY, at(0, 30, 59)),
    "2024-03-31 00:30:00.5": (None, None, None, DAY, at(0, 30, 0, 500_000)),
    "2024-03-31 23:59:59.9999990": (None, None, None, DAY, at(23, 59, 59, 999_999)),
    "9999-12-31 23:59:59.999999": (None, None, None, LAST, at(23, 59, 59, 999_999, LAST)),
    "2024-03-31T00:30:00+02:00": (None, None, None, None, IN_UTC),
    "2024-03-30T22:30:00Z": (None, None, None, None, IN_UTC),
    "2024-03-30T22:30Z": (None, None, None, None, IN_UTC),
    "2024-03-31 00:30:00.000000+02": (None, None, None, None, IN_UTC),
    "2024-03-30 18:00:00-0430": (None, None, None, None, IN_UTC),
    "1001-01-01T00:00+14:00": (None, None, None, None, datetime(1000, 12, 31, 10)),
    "9998-12-31 23:59:59-00:01": (None, None, None, None, datetime(9999, 1, 1, 0, 0, 59)),
}
NOTHING = [
    "", " ", " 17", "17 ", "17\n", "\n17", "1_000", "1,000", "0x10", "--1", "+", "-", ".", "e3",
    "1e", "1.2.3", "1e100", "NaN", "inf", "Infinity", "１７", "١٧", "tRue", "yes", "on", "truee",
    " true", "true\n", "03/05/12", "31.03.2024", "24-03-31", "2024-3-31", "2024-03-31Z",
    "0999-12-31", "2023-02-29", "1900-02-29", "2024-04-31", "2024-00-01", "2024-13-01",
    "2024-01-32", " 2024-03-31", "2024-03-31 ", "2024-03-31\n", "2024-03-31 24:00:00",
    "2024-03-31 23:60", "2024-03-31 23:59:60", "2024-03-31 1:00", "2024-03-31t00:30:00",
    "2024-03-31 00:30:00.", "2024-03-31 00:30:00.0000001", "2024-03-31 00:30:00.0000000000",
    "2024-03-31 00:30:00 +02:00", "2024-03-31 00:30:00+15:00", "2024-03-31 00:30:00+2",
    "2024-03-31 00:30:00 Europe/Berlin", "2024-03-31 00:30:00 UTC", "2024-03-31 00:30:00z",
    "9999-12-31 23:59:59-01:00", "1000-01-01 00:00:00+01:00", "infinity", "-infinity", "epoch",
    "now", "today", "2024-03-31 BC", "２０２４-03-31", "x", "'", "\\",
]  # fmt: skip
WANTED = {**TEXTS, **dict.fromkeys(NOTHING, (None,) * len(KINDS))}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sqlite"])
def test_a_text_becomes_one_value_or_none_on_every_engine(place_of, name):
    place, texts = place_of(name), list(WANTED)
    empty = dict.fromkeys(COLUMNS)
    place.load([
        empty | {"row": number} | dict.fromkeys(map("csv_{}".format, KINDS), text)
        for number, text in enumerate(texts)
    ])  # fmt: skip
    recodes = environment(name).get_template("recodes.sql.j2")
    forms = recodes.environment.globals["e"]
    mark = ENGINES[name].identifier
    columns = [Column(f"csv_{kind}", place.types[f"csv_{kind}"], kind) for kind in KINDS]
    casts = {column.name: recodes.module.value(read_of(column)) for column in columns}
    # No release holds a double, and not every warehouse hands one out.
    casts["csv_double"] = forms.text(casts["csv_double"])
    printed = ", ".join(f"{cast} AS {mark(column)}" for column, cast in casts.items())
    source = ".".join(map(mark, place.source))
    query = f"SELECT {mark('row')}, {printed} FROM {source} ORDER BY {mark('row')}"
    with place.opened() as warehouse:
        found = place.table(warehouse, _NoClaim, query).to_pylist()
    told = {texts[row.pop("row")]: tuple(map(_plain, row.values(), KINDS)) for row in found}
    assert told == WANTED


#: A type of DuckDB, how a value of it is written, as what it is read, and what it becomes.
OTHERS = [
    ("DOUBLE", "double", "17.6", "integer", None), ("DOUBLE", "double", "-17", "integer", -17),
    ("DOUBLE", "double", "'NaN'", "integer", None), ("DOUBLE", "double", "1e30", "integer", None),
    ("DECIMAL(9,2)", "decimal", "17.60", "integer", None),
    ("DECIMAL(9,2)", "decimal", "17.00", "integer", 17),
    ("BIGINT", "integer", "1", "boolean", True), ("BIGINT", "integer", "0", "boolean", False),
    ("BIGINT", "integer", "2", "boolean", None), ("DOUBLE", "double", "0.5", "boolean", None),
    ("BOOLEAN", "boolean", "true", "integer", 1), ("BIGINT", "integer", "7", "double", 7.0),
    ("ENUM('17', '17.6')", "label", "'17'", "integer", 17),
    ("ENUM('17', '17.6')", "label", "'17.6'", "integer", None),
    ("ENUM('t', 'yes')", "label", "'yes'", "boolean", None),
    ("ENUM('t', 'yes')", "label", "'yes'", "text", "yes"),
    ("TIMESTAMP", "timestamp", "'2024-03-31 23:00'", "date", DAY),
    ("TIMESTAMPTZ", "timestamp_zoned", "'2024-03-31 00:30:00+02:00'", "date", date(2024, 3, 30)),
    ("TIMESTAMPTZ", "timestamp_zoned", "'2024-03-31 00:30:00+02:00'", "timestamp", IN_UTC),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "own", "value", "read_as", "wanted"), OTHERS)
def test_what_is_no_text_becomes_what_it_is_exactly(kind, own, value, read_as, wanted):
    column = Column("x", Type(own, *((9, 2) if own == "decimal" else ())), read_as)
    cast = environment("duckdb").get_template("recodes.sql.j2").module.value(read_of(column))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        [(found,)] = connection.sql(f"SELECT {cast} FROM (SELECT {value}::{kind} AS x)").fetchall()
    assert found == wanted


@pytest.mark.parametrize("text", WANTED)
def test_the_reading_of_the_tests_is_that_of_the_table(text):
    columns = [Column("x", COLUMNS["text"], kind) for kind in KINDS]
    assert tuple(read(column, text) for column in columns) == WANTED[text]


def test_texts_of_random_claims_are_of_both_kinds():
    for kind in KINDS:
        column = Column("x", COLUMNS["text"], kind)
        values = {read(column, text) is None for text in SPELLED[kind]}
        assert values == {True, False}


class _NoClaim:
    law = None


def _plain(value, kind):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    plain = {"boolean": bool, "double": float}.get(kind)
    return plain(value) if plain is not None and value is not None else value
