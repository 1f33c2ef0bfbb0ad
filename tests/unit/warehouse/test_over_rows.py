"""A failure while a certified text runs over rows may be of a row, whatever its kind says."""

from __future__ import annotations

import sqlite3

import pytest

from policy_engine.errors import WarehouseError, WarehouseFailed
from policy_engine.warehouse import failures
from policy_engine.warehouse.datafusion import DataFusionWarehouse
from policy_engine.warehouse.duckdb import DuckDBWarehouse
from policy_engine.warehouse.sqlite import SQLiteWarehouse


def _duckdb(folder):
    return DuckDBWarehouse("db", None)


def _sqlite(folder):
    sqlite3.connect(folder / "db.sqlite").close()
    return SQLiteWarehouse("db", folder / "db.sqlite")


def _datafusion(folder):
    return DataFusionWarehouse("db", folder)


@pytest.mark.parametrize("engine", [_duckdb, _sqlite, _datafusion])
def test_what_fails_over_rows_is_an_attempt_and_names_nothing(engine, tmp_path):
    """The trial before the charge has met what the setup lacks: a name of then is made of rows."""
    warehouse = engine(tmp_path)
    try:
        with pytest.raises(WarehouseFailed) as drawn:
            warehouse.rows("SELECT 1 FROM nowhere")
    finally:
        warehouse.close()
    assert (drawn.value.lines, drawn.value.of_setup) == ((failures.WITHHELD.message,), False)


def test_what_the_setup_lacks_is_named_where_no_row_is_read():
    warehouse = DuckDBWarehouse("db", None)
    try:
        with pytest.raises(WarehouseFailed) as asked:
            warehouse.ask("SELECT 1 FROM nowhere")
    finally:
        warehouse.close()
    assert (asked.value.lines, asked.value.of_setup) == ((failures.ABSENT.message,), True)


@pytest.mark.parametrize(
    ("cause", "is_named"),
    [
        (failures.ABSENT, False),
        (failures.REFUSED_ACCESS, False),
        (failures.READ_ONLY, False),
        (failures.NO_SPACE, True),
        (failures.TAKEN, True),
        (failures.locked("people", ["session 7"]), True),
        (failures.OUT_OF_MEMORY, True),
    ],
)
def test_over_rows_no_cause_that_a_value_can_be_the_name_of_is_told(cause, is_named):
    with pytest.raises(WarehouseError) as caught, failures.over_rows():
        raise failures.failure(cause)
    told = cause.message if is_named else failures.WITHHELD.message
    assert (caught.value.lines, caught.value.of_setup) == ((told,), False)
    assert caught.value.__cause__ is None


def test_over_rows_a_name_that_the_server_told_is_not_told():
    with pytest.raises(WarehouseError) as caught, failures.over_rows():
        raise WarehouseError("may not use hidden.illness", of_setup=True, code="no_right")
    assert "illness" not in f"{caught.value} {caught.value.__context__}"
