"""Public keys: what a claim of them must be, what it is given, its price, and what is verified."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise, product

import duckdb
import pytest

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.noise_laws import deviation, laplace
from policy_engine.accounting.tables import Aim, auto, calibrated
from policy_engine.attest.certificates import predicate_of
from policy_engine.errors import DomainError
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    IntegerTable,
    Listed,
    Measure,
    Noisy,
    Quantity,
)
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.mechanisms.noisy_counts.meaning import all_shown
from policy_engine.kernel.mechanisms.pure import domain_of
from policy_engine.kernel.mechanisms.rows import RowsChecked
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type

SEX, AGE = Column("sex", Type("text")), Column("age", Type("integer"))
BORN, PAID = Column("born", Type("date")), Column("paid", Type("decimal", 9, 2))
COLUMNS = (Shown("sex", SEX, Keep()), Shown("age", AGE, Keep()))
MADE = laplace(1, 14)
TABLE = IntegerTable(MADE.entries, MADE.least)
KEYS = ((("F",), ("M",), (None,)), ((18,), (None,)))
LAW = Listed(TABLE, 1, keys=KEYS)
CLAIM = Claim(Relation(("main", "people")), Rows(), LAW, COLUMNS)
TERMS = Terms("a", "", "people", Bounded(Decimal(1), Decimal("1e-6")))
LISTED = Assumption.of("keys_listed")
SUMS = {"quantities": (Quantity(AGE, Clip(0, 9), 0, TABLE),), "measures": (Measure("total", 1),)}


def test_it_costs_what_the_same_noise_costs_behind_a_threshold():
    behind = replace(CLAIM, law=Noisy(TABLE, 1))
    many = People(Column("id", Type("integer")), Groups(3))
    for one, other in ((CLAIM, behind), (replace(CLAIM, unit=many), replace(behind, unit=many))):
        assert one.law.statistics(one.unit.groups, REPLACE_ONE) == other.law.statistics(
            other.unit.groups, REPLACE_ONE
        )
        for neighbours in ("add_remove", REPLACE_ONE):
            price = one.delta(Decimal(1), Decimal(1), neighbours)
            assert price == other.delta(Decimal(1), Decimal(1), neighbours)


def test_a_certificate_states_the_keys_and_that_they_are_public():
    found = certify(printed(CLAIM, "duckdb"), CLAIM, "duckdb", TERMS)
    assert LISTED in found.assumptions and found.k == 1
    assert claim_from(predicate_of(found)["claim"]) == CLAIM
    assert to_json(CLAIM)["law"]["keys"][1] == [[18], [None]]
    assert (LAW.size, LAW.least_shown) == (6, -14)
    other = replace(CLAIM, law=replace(LAW, keys=(KEYS[0], ((18,),))))
    assert other.stream != CLAIM.stream
    assert certify(
        printed(replace(CLAIM, law=Noisy(TABLE, 1)), "duckdb"),
        replace(CLAIM, law=Noisy(TABLE, 1)), "duckdb", TERMS,
    ).assumptions.count(LISTED) == 0  # fmt: skip


@pytest.mark.parametrize(
    ("law", "claim", "words"),
    [
        (replace(LAW, k=2), CLAIM, "no least size"),
        (replace(LAW, table=replace(TABLE, least=1, is_open=True)), CLAIM, "no least size"),
        (replace(LAW, groupings=(CountedBy(("sex", "age")),)), CLAIM, "of one grouping"),
        (replace(LAW, keys=()), CLAIM, "a value for each shown column"),
        (replace(LAW, keys=((),)), CLAIM, "stand once"),
        (replace(LAW, keys=((("F",), ("F",)), KEYS[1])), CLAIM, "stand once"),
        (
            replace(LAW, keys=(tuple((str(n),) for n in range(100_001)), ((1,),))),
            CLAIM,
            "stand once",
        ),
        (replace(LAW, keys=KEYS[:1]), CLAIM, "a value for each shown column"),
        (replace(LAW, keys=(*KEYS, ((1,),))), CLAIM, "as shown"),
        (replace(LAW, keys=((("F", 1), ("M",)),)), CLAIM, "as shown"),
        (replace(LAW, keys=(KEYS[1], KEYS[0])), CLAIM, "as shown"),
        (replace(LAW, keys=(KEYS[0], ((True,),))), CLAIM, "as shown"),
        (replace(LAW, keys=(KEYS[0], ((2**63,),))), CLAIM, "as shown"),
    ],
)
def test_what_no_claim_of_public_keys_can_be(law, claim, words):
    with pytest.raises(ClaimError, match=words):
        replace(claim, law=law)


def test_what_is_shown_of_them_is_said():
    assert all_shown(LAW, "n") == (
        "all 6 keys of a public list are shown, those of nobody too, and no other group:"
        " n can be 0 or less"
    )


def test_the_kinds_of_keys():
    born = replace(CLAIM, columns=(Shown("born", BORN, Keep()),), law=Noisy(TABLE, 1))
    made = replace(born, law=replace(LAW, keys=(((date(2020, 2, 29),), (None,)),)))
    assert "CAST('2020-02-29' AS DATE)" in printed(made, "duckdb")
    for wrong in (datetime(2020, 1, 1), "2020-01-01"):
        with pytest.raises(ClaimError, match="as shown"):
            replace(made, law=replace(LAW, keys=(((wrong,),),)))
    with pytest.raises(ClaimError, match="as shown"):
        replace(CLAIM, columns=(Shown("paid", PAID, Keep()),), law=replace(LAW, keys=(((None,),),)))
    with pytest.raises(ClaimError, match="which can be below 0"):
        replace(CLAIM, count=None)


def test_long_lists_stand_in_parts():
    [(name, parts)] = domain_of([tuple((n,) for n in range(450))])
    assert name.name == "policy_engine_values_1"
    assert [len(part) for part in parts] == [200, 200, 50]
    assert domain_of([[("a", 1)], [(None,)]])[1][1][0][0] == [(2, None)]


def shown(claim: Claim, people: list[tuple[str | None, int | None]], secret: str) -> list[tuple]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (sex VARCHAR, age BIGINT)")
        if people:
            connection.executemany("INSERT INTO people VALUES (?, ?)", people)
        return connection.execute(printed(claim, "duckdb"), {"salt": secret}).fetchall()


def test_every_key_is_shown_of_an_empty_table_too():
    keys = set(product(("F", "M", None), (18, None)))
    for people in ([], [("F", 18)] * 40, [("X", 7)] * 40):
        found = shown(CLAIM, people, "0" * 32)
        assert {row[:2] for row in found} == keys and len(found) == 6


def test_one_person_moves_one_number_by_one_and_nothing_else():
    """Under one secret: the noise of a key does not depend on who is there, listed or not."""
    tables = [[("M", 18)] * n + [("X", 99)] * (40 - n) + [(None, 18)] for n in range(3)]
    for one, other in pairwise(shown(CLAIM, people, "1" * 32) for people in tables):
        moved = {key: after - n for (*key, n), (*_, after) in zip(one, other, strict=True)
                 for key in [tuple(key)]}  # fmt: skip
        assert moved == dict.fromkeys(moved, 0) | {("M", 18): 1}


def test_a_sum_stands_beside_an_empty_key():
    claim = replace(CLAIM, law=replace(LAW, **SUMS))
    assert len(claim.law.statistics(claim.unit.groups, REPLACE_ONE)) == 2
    found = shown(claim, [("F", 18)] * 1000, "2" * 32)
    assert {row[0] for row in found} == {"F", "M", None} and all(len(row) == 4 for row in found)
    [total] = [total for sex, age, _, total in found if (sex, age) == ("F", 18)]
    assert 8900 < total < 9100
    assert all(abs(n) < 15 and abs(total) < 100 for *key, n, total in found if key != ["F", 18])


def test_a_release_must_show_the_certified_keys_once_each():
    keys = [(sex, age) for sex in ("F", "M", None) for age in (18, None)]

    def told(rows: list[tuple]) -> str:
        return rows_of(CLAIM).check_keys(iter(rows)).wrong

    assert told(keys) == ""
    for wrong in (keys[1:], [*keys, keys[0]], [*keys[1:], ("X", 18)]):
        assert told(wrong) == "its groups are not the certified keys, each once"
    behind = rows_of(replace(CLAIM, law=Noisy(TABLE, 1)))
    assert behind.check_keys([("X", 1)]) == RowsChecked()


@pytest.mark.parametrize("groups", [1, 20])
def test_the_least_noise_is_taken_where_all_keys_are_shown(groups):
    shown = Aim(Decimal(1), Decimal("1e-6"), groups=groups)
    listed = replace(shown, listed=True)
    tables = {law: calibrated(law, listed) for law in ("truncated_laplace", "discrete_gaussian")}
    assert all(listed.met(table) for table in tables.values())
    law, table = auto(listed)
    assert tables[law] == table
    assert deviation(table) == min(map(deviation, tables.values()))
    assert deviation(table) <= min(deviation(calibrated(law, shown)) for law in tables)
    with pytest.raises(DomainError, match="without a threshold"):
        calibrated("negative_binomial", listed)
