"""A pytest plugin for ``make test``: one run, the fast tests first, no time limit in any."""

from __future__ import annotations

import hypothesis
import pytest


def pytest_configure() -> None:
    """Let an example take its time: a machine may be busy."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests marked ``slow`` to the end; the order is otherwise kept."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
