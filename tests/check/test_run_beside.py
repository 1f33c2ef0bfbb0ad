"""What is printed instead of a sound text means the same, or the answer says what differs."""

from __future__ import annotations

from functools import cache

import corpus
import pytest
import run_beside

from policy_engine.check.ddl import parse_schema
from policy_engine.check.schema import Schema

#: A view of itself is none to DuckDB.
OURS = corpus.TABLES.replace("CREATE VIEW looping AS SELECT * FROM looping;", "")
KNOWN = parse_schema(corpus.DDL, "duckdb")
STRANGERS = (corpus.HERE / "strangers_schema.sql").read_text("utf-8")
SOUND = [
    (case, case.ddl or STRANGERS, parse_schema(case.ddl, "duckdb") if case.ddl else Schema())
    for case in corpus.strangers("stranger_accepted.sql")
]
SOUND += [
    (case, OURS, KNOWN)
    for case in corpus.ours("accepted.sql")
    # Files, names that the tables do not have, and a person for each age.
    if not case.name.startswith("open:") and "sha256(? || ':u:' || cast(b" not in case.sql
]
PARTS = 8
#: How many of them are answered with a text of the same meaning, at least.
SAME = 265
#: What people write every day, of which nearly all is.
EVERYDAY = [(case, STRANGERS, Schema()) for case in corpus.strangers("everyday.sql")]


@cache
def outcomes_of(part: int) -> list[tuple[str, run_beside.Outcome]]:
    """What some of the texts are answered with, and whether that means the same."""
    return [(case.name, run_beside.outcome(case, *over)) for case, *over in SOUND[part::PARTS]]


@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_is_answered_with_another_meaning_in_silence(part):
    assert [(name, each.differs) for name, each in outcomes_of(part) if each.kind == "silent"] == []


def test_what_is_written_every_day_is_answered_with_a_text_of_the_same_meaning():
    outcomes = {case.name: run_beside.outcome(case, *over) for case, *over in EVERYDAY}
    assert [name for name, each in outcomes.items() if each.kind not in ("same", "certified")] == [
        "the week of a moment",  # it is told that a week is shown by its name
        "one value is none",
        "half decades of hours",
    ]


def test_so_many_texts_are_answered_with_one_of_the_same_meaning():
    answers = [each.answer for part in range(PARTS) for _, each in outcomes_of(part)]
    # What is told of none of them differs nowhere: the test above.
    assert sum(bool(each.canonical) and not run_beside.is_told(each) for each in answers) >= SAME
