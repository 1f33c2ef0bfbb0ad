"""Noisy counts: what a claim of them must be, what it is given, and its price."""

from dataclasses import replace
from decimal import Decimal

import pytest

from policy_engine.accounting.domain import ADD_REMOVE
from policy_engine.accounting.noise import IntegerTable, Statistic, delta_of_release
from policy_engine.accounting.noise_laws import laplace, place
from policy_engine.attest.certificates import predicate_of
from policy_engine.kernel.assumptions import assumptions
from policy_engine.kernel.certificate import Terms, Unmet, certify
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Keyed, Noisy, Secret
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Bins, Keep
from policy_engine.kernel.sources import Column, Drawn, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type

AGE, ID = Column("age", Type("integer")), Column("id", Type("integer"))
SHOWN = Shown("age", AGE, Bins((18, 65), ("<18", "18-64", ">=65")))
PEOPLE = Relation(("main", "people"))
TABLE = laplace(1, 14)
LAW = Noisy(IntegerTable(TABLE.entries, TABLE.least), 1)
OPEN = IntegerTable((5,), 1, is_open=True)
CLAIM = Claim(PEOPLE, Rows(), LAW, (SHOWN,))
TERMS = Terms("ages", "sha256:" + "1" * 64, "people", Bounded(Decimal(1), Decimal("1e-6")))


def test_a_certificate_has_the_exact_price():
    found = certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", TERMS)
    exact = delta_of_release([Statistic(TABLE)], 1).delta
    assert exact <= found.promise.delta <= exact * (1 + Decimal("1e-9"))
    facts = predicate_of(found)
    stated = [facts[name] for name in ("mechanism", "source_tag", "rate", "k")]
    assert stated == ["noisy-counts", "[TABLE]", "1", 1]
    assert claim_from(facts["claim"]) == CLAIM
    with pytest.raises(Unmet):
        less = Bounded(Decimal(1), Decimal("3e-7"))
        certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", replace(TERMS, promise=less))


def test_noise_is_of_the_whole_source():
    sampled = replace(TERMS, promise=replace(TERMS.promise, sampled_at=Decimal("0.5")))
    with pytest.raises(ClaimError, match="priced for all of the source"):
        certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", sampled)


def test_a_place_is_priced_as_its_table():
    table = place(14, "0.253735")
    law = Noisy(IntegerTable(table.entries, table.least, is_open=True), table.least, offset=55)
    claim = replace(CLAIM, law=law)
    found = certify(printed(claim, "duckdb"), claim, "duckdb", TERMS)
    assert Decimal("9.99957e-7") < found.promise.delta < Decimal("1e-6")
    assert predicate_of(found)["source_tag"] == "[PLACE]"
    assert law.least_shown == 55
    assert "policy_engine_people - CASE" in found.query
    assert "ELSE NULL" in found.query


def test_a_person_in_several_groups_costs_their_composition():
    many = replace(CLAIM, unit=People(ID, Groups(3)))
    statistics = many.law.statistics(many.unit.groups, ADD_REMOVE)
    assert [each.groups for each in statistics] == [3]
    wanted = delta_of_release(
        [Statistic(IntegerTable(TABLE.entries, TABLE.least), groups=3)], 1
    ).delta
    assert many.delta(Decimal(1), Decimal(1), "add_remove") == wanted
    assert "policy_engine_rank <= 3" in printed(many, "duckdb")


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"k": 10**9 + 1}, "no number above"),
        ({"offset": 1}, "an offset is one of the places"),
        ({"table": replace(OPEN, least=2)}, "drawn from k on"),
        ({"table": OPEN, "offset": 10**19}, "one of the places"),
        ({"table": OPEN, "offset": -1}, "one of the places"),
    ],
)
def test_a_law_that_is_none(change, law):
    with pytest.raises(ClaimError, match=law):
        replace(CLAIM, law=replace(LAW, **change))


def test_raw_values_are_counted_of_one_row_a_person():
    assert replace(CLAIM, law=replace(LAW, raw_first=True)).law.raw_first
    with pytest.raises(ClaimError, match="one row a person"):
        Claim(PEOPLE, People(ID, Groups(2)), replace(LAW, raw_first=True), (SHOWN,))
    with pytest.raises(ClaimError, match="1 to 100 groups"):
        Groups(0)
    with pytest.raises(ClaimError, match="one group of a sample"):
        Claim(PEOPLE, People(ID, Groups(2)), Keyed(1 << 57, 20), (SHOWN,))
    real = Shown("x", Column("x", Type("double")), Bins((Decimal(1),), ("a", "b")))
    with pytest.raises(ClaimError, match="equal ones look alike"):
        Claim(PEOPLE, Rows(), replace(LAW, raw_first=True), (real,))


def test_two_claims_have_noise_of_their_own_and_a_source_none():
    assert CLAIM.stream != replace(CLAIM, count="people").stream
    assert CLAIM.stream != replace(CLAIM, columns=(Shown("age", AGE, Keep()),)).stream
    assert CLAIM.stream != replace(CLAIM, law=replace(LAW, k=2)).stream
    keyed = replace(CLAIM, unit=People(ID, None))
    assert CLAIM.stream != keyed.stream != replace(CLAIM, unit=People(ID, Groups(2))).stream
    assert keyed.stream != replace(CLAIM, unit=People(AGE, None)).stream
    assert keyed.stream == replace(CLAIM, unit=People(ID, Drawn())).stream
    waits = replace(LAW, secret=Secret(("main", "salts"), "next"))
    other = replace(CLAIM, source=Relation(("public", "persons")), law=waits)
    assert CLAIM.stream == other.stream
    assert CLAIM.digest != other.digest
    assert CLAIM.stream in printed(CLAIM, "postgres")


def test_what_it_rests_on_is_said():
    found = [each.code for each in assumptions(CLAIM, "duckdb", "people", Decimal(1))]
    assert found[0] == "secret_fresh"
    assert found[-2:] == ["noise_alone", "limits_blind"]
    waits = replace(CLAIM, law=replace(LAW, secret=Secret(("main", "salts"), "next")))
    waiting = assumptions(waits, "duckdb", "people", Decimal(1))
    assert "secret_waits" in [each.code for each in waiting]
    noise = "SHA-256 of a secret of 128 bits and the number of each group"
    assert meaning_of(CLAIM).randomness("duckdb") == noise
    drawn = replace(CLAIM, unit=People(ID, Drawn()))
    assert (
        meaning_of(drawn)
        .randomness("duckdb")
        .startswith(noise + "; of each unit's different rows one")
    )
    many = replace(CLAIM, unit=People(ID, Groups(2)))
    assert meaning_of(many).randomness("duckdb").startswith(noise + "; each unit counts in 2 of")


def test_a_long_table_is_looked_through_in_blocks():
    long = replace(CLAIM, law=Noisy(IntegerTable(tuple(range(1 << 50, 1 << 60, 1 << 53)), -60), 2))
    text = printed(long, "postgres")
    assert (text.count("THEN CASE"), text.count("IS NOT NULL THEN")) == (11, 12)
    assert text.count("ELSE CASE") == 1
    # Where an engine counts a list's entries, a block is one.
    text = printed(long, "duckdb")
    assert (text.count("THEN CASE"), text.count("LIST_FILTER")) == (0, 11)
    assert to_json(long.law)["table"]["entries"][0] == 1 << 50
