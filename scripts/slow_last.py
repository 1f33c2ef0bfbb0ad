"""A pytest plugin for ``make test``: one run, the fast tests first, the slow ones after them."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests marked ``slow`` to the end; the order is otherwise kept."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
