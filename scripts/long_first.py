"""A pytest plugin for ``make test``: the modules that take longest first, each on one worker.

So no worker stands idle at the end, and what a module starts for its tests is started once.
"""

from __future__ import annotations

import signal
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

#: Modules whose tests share nothing: each test is a unit of its own.
APART = frozenset({
    "tests/cli/test_processes.py",
    "tests/crash/test_full_disk.py",
    "tests/crash/test_kills.py",
    "tests/crash/test_races.py",
    "tests/docs/test_docs.py",
    "tests/privacy/test_audit_power.py",
    "tests/property/test_verify_meaning.py",
    "tests/property/test_verify_parsers.py",
    "tests/unit/accounting/test_composition.py",
    "tests/unit/audit/test_audit_policies.py",
    "tests/unit/compile/test_compiler.py",
    "tests/verify/test_mutants.py",
    "tests/warehouse/test_same_bytes.py",
})  # fmt: skip
#: About how long a unit takes; only the order matters. What is not here is soon done.
SECONDS = {
    "tests/warehouse/test_spark.py": 160,
    "tests/dbt/test_dbt_release.py": 150,
    "tests/warehouse/test_same_bytes.py": 120,
    "tests/privacy/test_side_channels.py": 100,
    "tests/dbt/test_dbt_package.py": 90,
    "tests/docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/howto/ledger.md]":
        60,
    "tests/docs/test_docs.py::test_the_commands_of_a_page_do_what_it_shows[docs/tutorial.md]": 50,
    "tests/contract/test_ledger_store.py": 60,
    "tests/crash/test_kills.py": 50,
    "tests/dbt/test_dbt_sync_build.py": 50,
    "tests/golden/test_golden.py": 50,
    "tests/dbt/test_gate_projects.py": 40,
    "tests/property/test_verify_parsers.py::test_no_text_is_too_odd": 40,
    "tests/unit/accounting/test_losses.py": 40,
    "tests/unit/compile/test_compiler.py::test_five_thousand_columns_are_compiled_proved_and_run":
        35,
    "tests/dbt/test_dbt_shown_types.py": 30,
    "tests/fuzz/test_fuzz.py": 30,
    "tests/mutation/test_mutation_tool.py": 30,
    "tests/privacy/test_count_law.py": 30,
    "tests/property/test_verify_parsers.py::test_generated_texts_are_read_alike": 30,
    "tests/unit/test_paper_figures.py": 30,
    "tests/warehouse/test_mariadb.py": 30,
    "tests/warehouse/test_postgres.py": 30,
    "tests/contract/test_second_machine.py": 20,
    "tests/crash/test_races.py": 20,
    "tests/packaging/test_wheel.py": 20,
    "tests/privacy/test_side_channel_errors.py": 20,
    "tests/property/test_value_map.py": 20,
    "tests/property/test_verify_meaning.py": 20,
    "tests/unit/accounting/test_calibration.py": 20,
    "tests/unit/accounting/test_groups.py": 20,
    "tests/unit/accounting/test_partial_knowledge.py": 20,
    "tests/unit/cli/test_cli_records.py": 20,
    "tests/unit/releasing/test_release.py": 20,
    "tests/verify/test_mutants.py": 20,
    "tests/crash/test_full_disk.py": 10,
    "tests/docs/test_docs.py": 5,
    "tests/privacy/test_audit_power.py": 5,
    "tests/cli/test_processes.py": 3,
}  # fmt: skip


def unit_of(nodeid: str) -> str:
    """What one worker runs as a whole."""
    module = nodeid.partition("::")[0]
    return nodeid if module in APART else module


def seconds_of(nodeid: str) -> int:
    """About how long the unit of a test takes."""
    return SECONDS.get(nodeid, SECONDS.get(nodeid.partition("::")[0], 0))


class LongFirst(LoadScopeScheduling):
    """Hands out units in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LongFirst:
    """One unit after the other, to whoever is free."""
    config.option.loadscopereorder = False
    return LongFirst(config, log)


def pytest_configure() -> None:
    """Let an example take its time: a machine may be busy. Let interrupts through to what is run.

    A shell that starts a command in the background makes it ignore them, and all that it starts.
    """
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first; the order is otherwise kept."""
    items.sort(key=lambda item: -seconds_of(item.nodeid))
