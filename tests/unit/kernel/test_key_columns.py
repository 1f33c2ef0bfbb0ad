"""A key of several columns, as a claim and as a text."""

from __future__ import annotations

import pytest

from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.fragments import unit_text
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Drawn, KeyColumns, People, Relation, Rows
from policy_engine.kernel.types import Type

A, B = Column("a", Type("text")), Column("b", Type("text"))
UNIT = People(KeyColumns((A, B)), Drawn())
SEX = Shown("sex", Column("sex", Type("text")), Keep())
CLAIM = Claim(Relation(("main", "people")), UNIT, Keyed(1 << 59, 5), (SEX,))


def test_the_text_of_a_unit_is_the_one_that_is_printed():
    assert unit_text("duckdb", UNIT.keys) in printed(CLAIM, "duckdb")


def test_a_key_of_columns_is_a_claim_like_any_other():
    assert claim_from(to_json(CLAIM)) == CLAIM
    assert UNIT.key.name == "a and b"
    swapped = People(KeyColumns((B, A)), Drawn())
    streams = {Claim(CLAIM.source, unit, CLAIM.law, (SEX,)).stream for unit in (UNIT, swapped)}
    assert len(streams) == 2
    for columns in ((A,), (A, A)):
        with pytest.raises(ClaimError, match="names two, each once"):
            KeyColumns(columns)
    with pytest.raises(ClaimError, match="a key is a whole number"):
        People(KeyColumns((A, Column("x", Type("double")))), Drawn())
    with pytest.raises(ClaimError, match="rows that can differ"):
        Claim(CLAIM.source, UNIT, CLAIM.law, (Shown("a", A, Keep()),))
    numbers = People(KeyColumns((Column("a", Type("integer")), Column("b", Type("uuid")))), Drawn())
    for engine in ("tsql", "redshift"):  # a text of theirs may stand for another's
        with pytest.raises(Refused, match="two people could look like one"):
            printed(Claim(CLAIM.source, numbers, CLAIM.law, (SEX,)), engine)
    rows = Claim(CLAIM.source, Rows(), CLAIM.law, (SEX,))
    assert "policy_engine_key" not in printed(rows, "duckdb")
