"""What stands beside a row: which relation is joined, by which key, and what a claim rests on."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.filters import within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import IntegerTable, Native, Noisy
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sentences import sentence_of
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Files,
    JoinedRelation,
    People,
    Relation,
    Rows,
)
from policy_engine.kernel.types import Type

WHOLE, TEXT = Type("integer"), Type("text")
PERSON, WARD = Column("person_id", WHOLE), Column("ward_id", TEXT)
SEX, REGION = Column("sex", TEXT), Column("region", TEXT)
PERSONS = JoinedRelation(Relation(("hosp", "persons"), True), ((PERSON, PERSON),), (SEX,), False)
WARDS = JoinedRelation(Files("w.csv", kind="csv"), ((WARD, Column("id", TEXT)),), (REGION,), True)
CLAIM = Claim(
    Relation(("hosp", "visits")),
    People(PERSON, Drawn()),
    Noisy(IntegerTable((1 << 59,), -1), 1),
    (Shown("sex", SEX, Keep()), Shown("region", REGION, Keep())),
    joins=(PERSONS, WARDS),
)


def test_a_claim_is_read_as_it_was_written():
    assert claim_from(to_json(CLAIM)) == CLAIM
    assert CLAIM.own == ("person_id", "ward_id")
    assert [each.name for each in CLAIM.places] == ["hosp.visits", "hosp.persons", "w.csv"]


@pytest.mark.parametrize(
    ("joins", "law"),
    [
        ((replace(PERSONS, is_public=True),), "a unit's by its key, or public"),
        ((replace(WARDS, is_public=False),), "a unit's by its key, or public"),
        ((replace(WARDS, columns=(replace(SEX, type=WHOLE),)),), "the type that its relation"),
        ((PERSONS, replace(WARDS, columns=(SEX,))), "a name of its own"),
        ((PERSONS, replace(WARDS, columns=(replace(SEX, name="SEX"),))), "a name of its own"),
        ((PERSONS, replace(WARDS, columns=(Column("ward_id", TEXT),))), "a name of its own"),
        ((PERSONS, replace(WARDS, columns=(PERSON,))), "a name of its own"),
    ],
)
def test_what_no_claim_joins(joins, law):
    with pytest.raises(ClaimError, match=law):
        replace(CLAIM, joins=joins)


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"on": ()}, "joined by a key, for columns"),
        ({"columns": ()}, "joined by a key, for columns"),
        ({"on": ((PERSON, Column("x", Type("double"))),)}, "a key is"),
        ({"columns": (replace(SEX, read_as="integer"),)}, "as they stand"),
    ],
)
def test_what_is_no_joined_relation(change, law):
    with pytest.raises(ClaimError, match=law):
        replace(PERSONS, **change)


def test_rows_that_are_drawn_have_nothing_beside_them():
    with pytest.raises(ClaimError, match="nothing beside them"):
        replace(CLAIM, unit=Rows(), law=Native(Decimal("0.5"), 5), joins=(WARDS,),
                columns=CLAIM.columns[1:])  # fmt: skip


def test_names_of_two_relations_may_differ_by_case_alone():
    persons = replace(PERSONS, on=((PERSON, replace(PERSON, name="Person_ID")),))
    assert not replace(CLAIM, joins=(persons, WARDS)).differs_by_case
    twice = replace(WARDS, on=((WARD, replace(WARD, name="REGION")),))
    assert replace(CLAIM, joins=(PERSONS, twice)).differs_by_case


def test_the_period_stands_below_the_join_and_what_is_there_has_one_row_a_key():
    visited = Column("visited", Type("date"))
    period = within(visited, at_least=date(2026, 10, 1), below=date(2026, 11, 1))
    order = ((Column("changed", Type("date")), True),)
    persons = replace(PERSONS, order=order)
    text = printed(replace(CLAIM, period=period, joins=(persons,), columns=CLAIM.columns[:1]),
                   "duckdb")  # fmt: skip
    own, beside = text.index("WITH own"), text.index('"policy_engine_beside_1" AS')
    assert own < text.index("DATE) THEN 'kept'") < beside
    assert 'PARTITION BY "person_id" ORDER BY "changed" DESC NULLS LAST, "sex" NULLS LAST' in text
    assert text.index("policy_engine_rank = 1") < text.index('LEFT JOIN "policy_engine_beside_1"')


def test_a_persons_one_row_is_chosen_below_the_join_and_ties_by_the_sources_columns():
    """10 million rows were joined, to keep a million of them."""
    came, birth = Column("came", Type("date")), Column("birth", Type("date"))
    people = People(PERSON, ((came, True),))
    claim = replace(CLAIM, unit=people)
    text = printed(claim, "duckdb")
    assert text.index("policy_engine_rank = 1") < text.index('LEFT JOIN "policy_engine_beside_1"')
    assert 'PARTITION BY "person_id" ORDER BY "came" DESC NULLS LAST, "ward_id" NULLS' in text
    assert text.count("policy_engine_rank = 1") == 1 + len(claim.joins)
    persons = replace(PERSONS, columns=(SEX, birth))
    by_theirs = replace(claim, unit=People(PERSON, ((birth, True),)), joins=(persons, WARDS))
    text = printed(by_theirs, "duckdb")
    order = 'ORDER BY "birth" DESC NULLS LAST, "sex" NULLS LAST, "region" NULLS LAST'
    assert text.index('LEFT JOIN "policy_engine_beside_1"') < text.index(order)


def test_what_is_not_there_is_null_on_clickhouse_whatever_its_session_says():
    found = printed(replace(CLAIM, joins=(PERSONS,), columns=CLAIM.columns[:1]), "clickhouse")
    assert 'toNullable("sex") AS "sex"' in found


def test_what_a_claim_rests_on_says_whose_the_relations_are():
    found = [sentence_of(each) for each in assumptions(CLAIM, "duckdb", "visits", Decimal(1))]
    assert (
        "each row of hosp.persons is of one person, who has the same person_id in visits" in found
    )
    assert "w.csv is the same, whichever people are in visits" in found
    assert "w.csv is well-formed CSV, whichever people are in it" in found
    assert {"hosp.persons does not change while it is read",
            "w.csv does not change while it is read"} <= {*found}  # fmt: skip
    assert any("the view hosp.persons comes from the rows of one unit" in each for each in found)
    assert not any("belongs to no period" in each for each in found)
    visited = within(Column("visited", Type("date")), at_least=date(2026, 1, 1),
                     below=date(2026, 2, 1))  # fmt: skip
    of_a_month = assumptions(replace(CLAIM, period=visited), "duckdb", "visits", Decimal(1))
    told = [each for each in map(sentence_of, of_a_month) if "belongs to no period" in each]
    assert told == ["what hosp.persons says of a person belongs to no period: if the person has "
                    "rows in m periods, m releases tell it"]  # fmt: skip
