"""A unit of several columns has one text, the same on every engine, and no other unit has it."""

from __future__ import annotations

from contextlib import closing
from itertools import product

import pytest
from meaning import unit_of

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.fragments import unit_text
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Drawn, KeyColumns, People, Relation
from policy_engine.kernel.types import Type

TEXTS = ("", "~", ":", "~:", "~~", ":~", "~:~", "a", "a~", "~a", "ab", "b", " ", "é")
A, B = Column("a", Type("text")), Column("b", Type("text"))
UNIT = People(KeyColumns((A, B)), Drawn())
SEX = Shown("sex", Column("sex", Type("text")), Keep())
CLAIM = Claim(Relation(("main", "people")), UNIT, Keyed(1 << 59, 5), (SEX,))


def collisions(texts: dict[tuple[str, str], str]) -> int:
    """How many units share a text with another."""
    return len(texts) - len({*texts.values()})


def texts_on_duckdb(expression: str) -> dict[tuple[str, str], str]:
    import duckdb

    with closing(duckdb.connect()) as connection:
        connection.execute("CREATE TABLE people (a VARCHAR, b VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [*product(TEXTS, TEXTS)])
        rows = connection.execute(f"SELECT a, b, {expression} FROM people").fetchall()
    return {(one, other): text for one, other, text in rows}


def test_no_two_units_have_one_text():
    found = texts_on_duckdb(unit_text("duckdb", UNIT.keys))
    assert found == {(a, b): unit_of(UNIT, {"a": a, "b": b}) for a, b in product(TEXTS, TEXTS)}
    assert collisions(found) == 0


@pytest.mark.parametrize(("right", "wrong"), [(" || '~:' || ", " || "), ("'~~'", "'~'")])
def test_a_separator_that_a_text_can_hold_is_caught(right, wrong):
    text = unit_text("duckdb", UNIT.keys)
    assert right in text
    assert collisions(texts_on_duckdb(text.replace(right, wrong))) > 0


def test_who_lacks_a_part_of_the_key_is_nobody():
    assert unit_of(UNIT, {"a": None, "b": "x"}) is None
    for text in (printed(CLAIM, "postgres"), printed(CLAIM, "duckdb")):
        assert 'WHERE "a" IS NOT NULL AND "b" IS NOT NULL' in text
