"""What a release is of, and how its run is recorded."""

from __future__ import annotations

from contextlib import closing
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import MappingProxyType

import pytest
from small_project import FILE, TABLE, SmallProject

from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.ledger.entry import Run
from policy_engine.releasing.planning import open_warehouse, prepare
from policy_engine.releasing.requests import (
    Ends,
    ends_of,
    new_run,
    request_of,
)


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path)


def asked(lab, target=FILE, **changes):
    """The request, and the certificate, of the policy with these changes."""
    policy = lab.policy(target, **changes)
    with closing(open_warehouse(policy, lab.project, writes=False)) as warehouse:
        certificate, _ = prepare(policy, lab.project, warehouse)
        ends = ends_of(policy, lab.project, warehouse)
    return request_of(policy.name, certificate, ends, {"place": "somewhere"}), certificate


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


def test_the_same_request_is_the_same(lab):
    assert asked(lab)[0] == asked(lab)[0]
    assert len(asked(lab)[0].place) == len(asked(lab)[0].of) == 64


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
def test_a_request_is_of_a_policy_and_a_place(lab, change, same_place, same_of):
    one, other = asked(lab)[0], asked(lab, **change)[0]
    assert (one.place == other.place, one.of == other.of) == (same_place, same_of)


# How it is run.


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_a_run_is_recorded_and_read_again(lab, target):
    request, certificate = asked(lab, target)
    run = new_run(request, certificate, {"key": "sealed"})
    assert Ends.of_run(run, lab.folder) == request.ends
    assert (run.of, run.is_file, run.sealed) == (request.of, target == FILE, {"key": "sealed"})
    assert run.query == certificate.query
    assert run.digest == predicate_digest(predicate_of(certificate))


def test_a_run_is_what_its_entry_was_charged_for(lab):
    lab.release()
    [entry] = lab.entries
    run = entry.run
    assert (run.target, run.digest) == ("out/people.parquet", entry.certificate_digest)
    assert Ends.of_run(run, lab.folder).path == lab.out


def test_each_new_run_writes_aside_under_a_name_of_its_own(lab):
    request, certificate = asked(lab)
    marks = {new_run(request, certificate, {}).mark for _ in range(9)}
    assert len(marks) == 9
    assert all(len(mark) == 16 for mark in marks)


def test_runs_and_requests_are_frozen(lab):
    request, certificate = asked(lab)
    for value in (request, request.ends, new_run(request, certificate, {})):
        with pytest.raises(FrozenInstanceError):
            value.of = ""


def test_the_facts_have_one_digest_however_they_are_held():
    plain = {"b": [1, {"c": "é"}], "a": None}
    held = MappingProxyType({"a": None, "b": (1, MappingProxyType({"c": "é"}))})
    assert predicate_digest(plain) == predicate_digest(held)
    assert predicate_digest(plain) != predicate_digest({**plain, "a": 0})
    run = Run(predicate=held)
    assert run.digest == predicate_digest(plain)
