"""Random parts, [PART]: what a claim of one must be, who is in which, and what is assumed."""

from dataclasses import replace
from decimal import Decimal
from hashlib import sha256

import duckdb
import pytest

from policy_engine.accounting.noise_laws import laplace
from policy_engine.attest.certificates import predicate_of
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import IntegerTable, Noisy, NoisyPart
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sentences import sentence_of
from policy_engine.kernel.sources import Column, People, Relation, Rows
from policy_engine.kernel.types import Type

MADE = laplace(1, 14)
LAW = NoisyPart(IntegerTable(MADE.entries, MADE.least), 1, parts=3, number=2)
KEY, SEX = Column("id", Type("integer")), Column("sex", Type("text"))
CLAIM = Claim(
    Relation(("main", "people")), People(KEY, None), LAW, (Shown("sex", SEX, Keep()),)
)  # fmt: skip
TERMS = Terms("a", "", "people", Bounded(Decimal(1), Decimal("1e-6")))


def test_a_part_costs_what_everybody_costs():
    everybody = replace(CLAIM, law=Noisy(LAW.table, 1))
    for neighbours in ("add_remove", "replace_one"):
        price = CLAIM.delta(Decimal(1), Decimal(1), neighbours)
        assert price == everybody.delta(Decimal(1), Decimal(1), neighbours)


def test_a_certificate_says_whose_part_it_is():
    found = certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", TERMS)
    said = [sentence_of(each) for each in found.assumptions]
    assert sum(each.startswith("part 2 of 3 holds the units") for each in said) == 1
    assert "stays" not in [each.code for each in found.assumptions]
    stays = replace(CLAIM, law=replace(LAW, key_stays=True))
    told = certify(printed(stays, "duckdb"), stays, "duckdb", TERMS).assumptions
    word = "a person has the same id whenever people is looked at, and nobody else ever has it"
    assert [sentence_of(each) for each in told if each not in found.assumptions] == [word]
    assert claim_from(predicate_of(found)["claim"]) == CLAIM
    assert replace(CLAIM, law=replace(LAW, number=3)).digest != CLAIM.digest


@pytest.mark.parametrize(
    ("law", "unit", "words"),
    [
        (LAW, Rows(), "of units with a key"),
        (replace(LAW, number=4), CLAIM.unit, "one of at most"),
        (replace(LAW, number=0), CLAIM.unit, "one of at most"),
        (replace(LAW, parts=10**9 + 1), CLAIM.unit, "one of at most"),
    ],
)
def test_what_is_no_claim_of_a_part(law, unit, words):
    with pytest.raises(ClaimError, match=words):
        replace(CLAIM, law=law, unit=unit)


@pytest.mark.parametrize("parts", [2, 3, 10_000])
def test_everybody_is_in_one_part_which_the_first_half_of_the_secret_decides(parts):
    secret, ids = "ab" * 16, range(3000)
    drawn = {i: int(sha256(f"{secret}:p:{i}".encode()).hexdigest()[:15], 16) for i in ids}
    numbers = {i: bits * parts // 2**60 + 1 for i, bits in drawn.items()}
    assert len({*numbers.values()}) > min(parts, 1000) * 0.9
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS id, 'f' AS sex FROM range(3000)")
        for number in (1, 2, parts):
            text = printed(replace(CLAIM, law=replace(LAW, parts=parts, number=number)), "duckdb")
            inside = text[text.index("WITH people") : text.index("), recoded")]
            people = inside.replace('"sex"', '"id", "sex"', 1) + ") SELECT id FROM people"
            for fresh in ("00" * 16, "11" * 16):
                found = connection.execute(people, {"salt": secret + fresh}).fetchall()
                assert {i for (i,) in found} == {i for i in ids if numbers[i] == number}
