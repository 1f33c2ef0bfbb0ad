"""A failure while a certified text runs over rows may be of a row, whatever its kind says."""

from __future__ import annotations

import pytest

from policy_engine.errors import WarehouseFailed
from policy_engine.warehouse.duckdb import DuckDBWarehouse


def test_what_fails_over_rows_is_an_attempt():
    """The trial before the charge has met what the setup lacks: a name of then is made of rows."""
    warehouse = DuckDBWarehouse("db", None)
    try:
        with pytest.raises(WarehouseFailed) as asked:
            warehouse.ask("SELECT 1 FROM nowhere")
        with pytest.raises(WarehouseFailed) as drawn:
            warehouse.rows("SELECT 1 FROM nowhere")
    finally:
        warehouse.close()
    assert (asked.value.of_setup, drawn.value.of_setup) == (True, False)
