"""A year of two machines: twelve months and a yearbook, one plan, and what happens in between."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from set_clock import clock_at

DYING = Path(__file__).parent / "dying"
STATE = ".policy-engine"
MONTHLY = """\
version: 1
name: visits_monthly
source: {{table: visits}}
privacy_unit: {{column: person, rows: any}}
period: {{column: visited, every: month, from: "2026-01", after: 10d}}
recode: {{region: keep, age: {{bins: [{bins}]}}}}
mechanism: noisy_counts
guarantee: planned
release: {{table: visits_by_month, append: true}}
account: patients
"""
YEARBOOK = """\
version: 1
name: yearbook
source: {table: visits}
privacy_unit: {column: person, rows: any}
period: {column: visited, every: year, from: "2026", after: 20d}
recode: {region: keep}
mechanism: noisy_counts
guarantee: planned
release: {table: "yearbook_{edition}"}
account: patients
"""
PROJECT = """\
ledger: "{ledger}"
zone: Europe/Berlin
warehouses: {{db: {{type: postgres, url: "{data}"}}}}
accounts:
  patients:
    epsilon: 1.0
    delta: 1.0e-6
    each: year
    plan: {{visits_monthly: {{editions: 12, share: 2}}, yearbook: {{editions: 1, share: 1}}}}
"""
VISITS = """
    INSERT INTO visits SELECT (i * 7919) % 3000, (ARRAY['north', 'south', 'west'])[1 + i % 3],
    (i * 31) % 90, date '{month}-01' + i % 28 FROM generate_series(1, {rows}) AS i
"""


class Machine:
    """A clone of the project: its own folder, the ledger and the table that all share."""

    def __init__(self, folder: Path, ledger: str, data: str) -> None:
        folder.mkdir()
        self.folder, self.state = folder, folder / STATE
        (folder / "policy-engine.yaml").write_text(PROJECT.format(ledger=ledger, data=data))
        (folder / "visits_monthly.yaml").write_text(MONTHLY.format(bins="18, 65"))
        (folder / "yearbook.yaml").write_text(YEARBOOK)

    def run(self, day: str, *words: str, code: int | None = 0, dies: str = "") -> str:
        """What a command says on a day."""
        done = self._done(day, words, dies)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def asked(self, day: str, *words: str, code: int = 0) -> Any:
        """The same as JSON."""
        done = self._done(day, (*words, "--format", "json"))
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def _done(self, day: str, words: Sequence[str], dies: str = "") -> CompletedProcess[str]:
        environ = clock_at(f"{day} 03:00:00")
        if dies:
            environ |= {"PYTHONPATH": str(DYING), "DIES_BEFORE": dies}
        command = [sys.executable, "-m", "policy_engine", *words]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, env=environ
        )

    def drawn(self, day: str, policy: str = "visits_monthly.yaml") -> list[str]:
        """Which editions a scheduled release draws on a day."""
        said = self.asked(day, "release", policy)
        return [each["edition"] for each in said["editions"]]


@pytest.fixture
def shared(postgres):
    ledger = postgres.empty()
    postgres.sql(
        "DROP TABLE IF EXISTS visits", "DROP TABLE IF EXISTS visits_by_month",
        "DROP TABLE IF EXISTS yearbook_2026",
        "CREATE TABLE visits (person integer, region text, age integer, visited date)",
    )  # fmt: skip
    return ledger, postgres


@pytest.mark.evidence
def test_a_year_of_two_machines_is_as_it_was_planned(shared, tmp_path):
    ledger, postgres = shared

    def visits(month: str, rows: int = 4000) -> None:
        postgres.sql(VISITS.format(month=month, rows=rows))

    one = Machine(tmp_path / "one", ledger, postgres.url)
    for month in ("2026-01", "2026-02"):
        visits(month)
    assert one.drawn("2026-02-11") == ["2026-01"]
    assert one.drawn("2026-02-12") == []
    # March: the machine goes down while February is drawn. The next run finishes it.
    one.run("2026-03-11", "release", "visits_monthly.yaml", code=9, dies="_record")
    assert one.drawn("2026-03-12") == ["2026-02"]
    for month, after in (("2026-03", "2026-04"), ("2026-04", "2026-05"), ("2026-05", "2026-06")):
        visits(month)
        assert one.drawn(f"{after}-11") == [month]
    # A late file: rows of May, when May is out. They stay out, and cost nothing.
    before = postgres.sql("SELECT count(*), sum(n) FROM visits_by_month")
    visits("2026-05", 500)
    assert one.drawn("2026-06-20") == []
    assert postgres.sql("SELECT count(*), sum(n) FROM visits_by_month") == before
    visits("2026-06")
    assert one.drawn("2026-07-11") == ["2026-06"]
    # A new colleague in August, with a machine of her own.
    two = Machine(tmp_path / "two", ledger, postgres.url)
    asked = two.asked("2026-08-03", "join", code=1)
    (one.folder / "two.pub").write_text(asked["public_key"])
    one.run("2026-08-03", "keys", "add", "two.pub", "--note", "two")
    kept = ("--keyring", str(one.state / "keys.json"), "--sealing", str(one.state / "sealing.pem"))
    two.run("2026-08-04", "join", *kept)
    visits("2026-07")
    assert two.drawn("2026-08-11") == ["2026-07"]
    assert one.drawn("2026-08-11") == []
    for month, after in (("2026-08", "2026-09"), ("2026-09", "2026-10")):
        visits(month)
        assert two.drawn(f"{after}-11") == [month]
    # October: other bands of age. What a slot was priced for is the same.
    for machine in (one, two):
        (machine.folder / "visits_monthly.yaml").write_text(MONTHLY.format(bins="30, 50, 70"))
    for month, after, machine in (("2026-10", "2026-11", one), ("2026-11", "2026-12", two)):
        visits(month)
        assert machine.drawn(f"{after}-11") == [month]
    visits("2026-12")
    # December is drawn in January, and is the old year's; so is the yearbook.
    assert two.drawn("2027-01-11") == ["2026-12"]
    assert one.drawn("2027-01-21", "yearbook.yaml") == ["2026"]
    shown = one.run("2027-01-22", "ledger", "show")
    assert "2026" in shown and "none of 12 visits_monthly" in shown
    assert "none of 1 yearbook" in shown
    for machine in (one, two):
        machine.run("2027-01-22", "ledger", "verify")
    entries = one.asked("2027-01-22", "ledger", "show")["entries"]
    charged = [each for each in entries if each["state"] == "committed"]
    assert len(charged) == 13
    # A new year: its window begins, and that is said.
    visits("2027-01")
    said = two.run("2027-02-11", "release", "visits_monthly.yaml")
    assert "2027" in said and "begins" in said
