"""What a release is of, and how its run is recorded."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from types import MappingProxyType

import pytest
from small_project import FILE, TABLE, SmallProject

from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.ledger.entry import Run
from policy_engine.releasing.charging import planned
from policy_engine.releasing.requests import (
    Ends,
    new_run,
)


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path)


def plan(lab, target=FILE, **changes):
    """The plan of the policy with these changes."""
    with planned(lab.policy(target, **changes), lab.project) as made:
        assert made.place and made.of
        return made


def run_of(made, sealed):
    return new_run(made.of, made.ends, made.certificate, sealed)


# Where it goes.


def test_a_file_is_named_from_the_folder_of_the_project(tmp_path):
    ends = Ends.of_file(tmp_path / "a" / "b.parquet", tmp_path / "project")
    assert (ends.name, ends.certificate) == ("../a/b.parquet", "../a/b.certificate.json")
    assert ends.path == tmp_path / "a" / "b.parquet"
    assert ends.certificate_path == tmp_path / "a" / "b.certificate.json"


def test_however_a_file_is_written_it_has_one_name(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    written = (
        tmp_path / "r.parquet",
        Path("r.parquet"),
        Path("x/../r.parquet"),
        Path("link/r.parquet"),
    )
    assert {Ends.of_file(path, tmp_path).name for path in written} == {"r.parquet"}
    assert {Ends.of_file(path, tmp_path / "link").name for path in written} == {"r.parquet"}


def test_a_table_has_its_own_name_and_no_path(tmp_path):
    ends = Ends.of_table("db.main.out", tmp_path / "p.certificate.json", tmp_path)
    assert (ends.name, ends.certificate, ends.path) == ("db.main.out", "p.certificate.json", None)


# What it is of.


def test_the_same_release_has_one_place_and_one_name(lab):
    one, other = plan(lab), plan(lab)
    assert (one.place, one.of) == (other.place, other.of)
    assert len(one.place) == len(one.of) == 64


@pytest.mark.parametrize(
    ("change", "same_place", "same_of"),
    [
        ({"k": 3}, True, False),
        ({"method": "native"}, True, False),
        ({"name": "others"}, False, False),
        ({"target": "{file: out/other.parquet}"}, False, False),
        ({"target": TABLE}, False, False),
    ],
    ids=str,
)
def test_a_release_is_of_a_policy_and_a_place(lab, change, same_place, same_of):
    one, other = plan(lab), plan(lab, **change)
    assert (one.place == other.place, one.of == other.of) == (same_place, same_of)


# How it is run.


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_a_run_is_recorded_and_read_again(lab, target):
    made = plan(lab, target)
    run, certificate = run_of(made, {"key": "sealed"}), made.certificate
    assert Ends.of_run(run, lab.folder) == made.ends
    assert (run.of, run.is_file, run.sealed) == (made.of, target == FILE, {"key": "sealed"})
    assert run.query == certificate.query
    assert run.digest == predicate_digest(predicate_of(certificate))


def test_a_run_is_what_its_entry_was_charged_for(lab):
    lab.release()
    [entry] = lab.entries
    run = entry.run
    assert (run.target, run.digest) == ("out/people.parquet", entry.certificate_digest)
    assert Ends.of_run(run, lab.folder).path == lab.out


def test_each_new_run_writes_aside_under_a_name_of_its_own(lab):
    made = plan(lab)
    marks = {run_of(made, {}).mark for _ in range(9)}
    assert len(marks) == 9
    assert all(len(mark) == 16 for mark in marks)


def test_runs_and_plans_are_frozen(lab):
    made = plan(lab)
    for value in (made, made.ends, run_of(made, {})):
        with pytest.raises(FrozenInstanceError):
            value.of = ""


def test_the_facts_have_one_digest_however_they_are_held():
    plain = {"b": [1, {"c": "é"}], "a": None}
    held = MappingProxyType({"a": None, "b": (1, MappingProxyType({"c": "é"}))})
    assert predicate_digest(plain) == predicate_digest(held)
    assert predicate_digest(plain) != predicate_digest({**plain, "a": 0})
    run = Run(predicate=held)
    assert run.digest == predicate_digest(plain)
