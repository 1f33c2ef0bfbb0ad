"""What decides who is in a sample, and what that rests on in an engine."""

from __future__ import annotations

import pytest

from policy_engine.engines import ENGINES
from policy_engine.kernel.assumptions import of_sample
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.sampled_suppression.meaning import randomness
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sentences import sentence_of
from policy_engine.kernel.sources import Column, Drawn, People, Relation
from policy_engine.kernel.types import Type


@pytest.mark.parametrize(
    ("method", "unit", "words"),
    [
        ("native", "row", "TABLESAMPLE BERNOULLI of the engine"),
        ("drawn", "row", "AES-128 of each unit"),
        ("drawn", "id", "SHA-256 of a secret of 128 bits and each unit"),
        ("keyed", "id", "SHA-256 of a secret of 128 bits and each unit"),
    ],
)
def test_what_decides_who_is_in(method, unit, words):
    assert randomness(method, unit).startswith(words)


def test_what_decides_which_row():
    source, law = Relation(("main", "people")), Keyed(1 << 59, 2)
    shown = (Shown("age", Column("age", Type("integer")), Keep()),)
    unit = People(Column("id", Type("integer")), Drawn())
    whole = meaning_of(Claim(source, unit, law, shown)).randomness("duckdb")
    assert whole.startswith(
        randomness("drawn", "id") + "; of each unit's different rows one is kept"
    )


def test_what_a_sample_assumes_is_the_engines_own():
    [duckdb] = of_sample("native", "row", "duckdb")
    [snowflake] = of_sample("native", "row", "snowflake")
    assert "DuckDB 2.0" in sentence_of(duckdb)
    assert "was not measured by us" in sentence_of(snowflake)
    assert len(of_sample("keyed", "id", "postgres")) == 2
    for engine in ENGINES.values():
        assert all(sentence_of(each) for each in of_sample("keyed", "id", engine.name))
