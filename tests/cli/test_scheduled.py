"""release as a scheduler runs it: what is due is drawn once, whoever runs it when."""

from __future__ import annotations

import os
import re
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_project import Project
from set_clock import clock_at

POLICY = """\
version: 1
name: monthly
source: {file: visits.parquet}
privacy_unit: {column: person}
period: {column: visited, every: month, from: "2027-01", after: 10d}
recode: {region: keep}
contribution: {max_groups: 1}
guarantee: {epsilon: 1.0, delta: 1.0e-6}
release: {file: "out/edition={edition}/part.parquet"}
account: patients
"""
PROJECT = "zone: Europe/Berlin\naccounts: {patients: {epsilon: 14.0, delta: 1.0e-4}}\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "policy-engine.yaml").write_text(PROJECT)
    (tmp_path / "monthly.yaml").write_text(POLICY)
    rows = [(n, date(2027, month, 1 + n % 28)) for month in range(1, 13) for n in range(100)]
    table = pa.table({
        "person": [n for n, _ in rows],
        "visited": pa.array([day for _, day in rows], pa.date32()),
        "region": ["north" if n % 2 else "south" for n, _ in rows],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "visits.parquet")
    return Project(tmp_path)


def released(project, instant, *words):
    """What a run at an instant says."""
    command = ("release", "monthly.yaml", "--format", "json", *words)
    return project.run(*command, env=clock_at(instant))


#: 'make evidence' runs in each month, 'make test' when there is one, six and five to draw.
NIGHTS = [(2027, 1, 31), *((2027, month, 11) for month in range(2, 13)), (2028, 1, 11)]
FEW = [NIGHTS[0], NIGHTS[1], NIGHTS[7], NIGHTS[-1]]


@pytest.mark.parametrize("nights", [FEW, pytest.param(NIGHTS, marks=pytest.mark.evidence)])
def test_a_year_of_nights_is_twelve_editions(project, nights):
    drawn, lines = [], []
    for year, month, day in nights:
        done = released(project, f"{year}-{month:02}-{day} 00:30:00")
        assert done.code == 0, done.err
        said = done.document
        drawn += [each["edition"] for each in said["editions"]]
        lines.append((said["code"], said["next"]["edition"], said["next"]["due"]))
    assert drawn == [f"2027-{month:02}" for month in range(1, 13)]
    assert lines[0] == ("nothing_due", "2027-01", "2027-02-10T23:00:00Z")
    assert lines[nights.index(NIGHTS[7])] == (
        "released",
        "2027-08",
        "2027-09-10T22:00:00Z",
    )  # in summer
    assert lines[-1] == ("released", "2028-01", "2028-02-10T23:00:00Z")
    again = released(project, "2028-01-11 01:30:00").document
    assert (again["code"], again["editions"], again["last"]) == ("nothing_due", [], "2027-12")
    shown = project.run("ledger", "show", "--format", "json", env=clock_at("2028-01-12 00:00:00"))
    assert len(shown.document["entries"]) == 12


def test_what_is_not_due_yet_and_a_clock_that_went_back_are_refused(project):
    early = released(project, "2027-02-10 12:00:00", "--edition", "2027-01")
    assert (early.code, "it is due from 2027-02-11 00:00 (Europe/Berlin)" in early.err) == (1, True)
    assert released(project, "2027-02-11 12:00:00").document["code"] == "released"
    back = released(project, "2027-02-01 12:00:00")
    assert (back.code, back.document["code"]) == (3, "clock_went_back")


def test_a_clock_that_leapt_ahead_charges_no_month_that_has_not_happened(project):
    """Who says that it is right draws the oldest, and then the others."""
    assert released(project, "2027-02-11 12:00:00").document["code"] == "released"
    outage = released(project, "2027-05-11 12:00:00").document
    assert [each["edition"] for each in outage["editions"]] == ["2027-02", "2027-03", "2027-04"]
    leapt = released(project, "2030-03-01 12:00:00")
    assert (leapt.code, leapt.document["code"]) == (3, "clock_leapt")
    assert "33 editions would be due, 2027-05 to 2030-01" in leapt.document["error"]
    [oldest] = re.findall(r"--edition (\S+)' draws the oldest", leapt.document["error"])
    one = released(project, "2030-03-01 12:01:00", "--edition", oldest)
    assert one.document["edition"] == "2027-05"
    others = released(project, "2030-03-01 12:02:00").document
    assert "account 'patients' cannot pay" in others["error"]  # for all, and none is held back


def test_three_runners_at_midnight_draw_one_edition(project):
    """Side by side from the first byte on: one entry, one digest, all done."""
    released(project, "2027-02-11 12:00:00")  # the ledger and its key are there
    months = (3, 4, 5) if os.environ.get("EVIDENCE") else (3,)
    for month in months:
        command = ("release", "monthly.yaml", "--format", "json")
        environment = clock_at(f"2027-{month:02}-11 00:00:00")
        runners = [project.start(*command, env=environment) for _ in range(3)]
        ends = [(*each.communicate(timeout=120), each.returncode) for each in runners]
        assert [code for _, _, code in ends] == [0, 0, 0], [err for _, err, _ in ends]
    shown = project.run("ledger", "show", "--format", "json", env=clock_at("2027-06-01 00:00:00"))
    entries = shown.document["entries"]
    assert [entry["state"] for entry in entries] == ["committed"] * (1 + len(months))
    verified = project.run("ledger", "verify", env=clock_at("2027-06-01 00:00:00"))
    assert verified.code == 0
