"""Problems that are found against the source get their place in the file."""

from __future__ import annotations

from pathlib import Path

from policy_engine.errors import Problem
from policy_engine.policy.reading import located
from policy_engine.policy.tree import path_text

TEXT = """\
version: 1
source: {file: p.csv}
privacy_unit: {column: id, rows: {first_by: [seen]}}
recode:
  age: keep
  "a.b": keep
  "it's": keep
"""


def problem(*path: str) -> Problem:
    return Problem("p.yaml", 0, 0, path_text(path), "message", "remedy")


def places(folder: Path, *problems: Problem, text: str = TEXT) -> list[tuple[str, int, int]]:
    file = folder / "policy.yaml"
    file.write_text(text)
    return [(p.path, p.line, p.column) for p in located(problems, file)]


def test_a_problem_stands_at_its_key(tmp_path):
    paths = [("recode", "it's"), ("recode", "a.b"), ("recode", "age")]
    paths += [("privacy_unit", "rows", "first_by"), ("source",)]
    found = places(tmp_path, *(problem(*path) for path in paths))
    assert [(line, column) for _, line, column in found] == [
        (2, 1),
        (3, 35),
        (5, 3),
        (6, 3),
        (7, 3),
    ]


def test_what_the_file_does_not_have_has_no_place(tmp_path):
    found = places(tmp_path, problem("recode", "age"), problem("recode", "gone"))
    assert found == [("recode.gone", 0, 0), ("recode.age", 5, 3)]


def test_a_file_that_is_gone_or_broken_leaves_problems_as_they_are(tmp_path):
    known = (problem("recode", "age"),)
    assert located(known, tmp_path / "gone.yaml") == known
    assert places(tmp_path, *known, text="{") == [("recode.age", 0, 0)]
