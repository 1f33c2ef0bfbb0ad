"""Samples in their spellings, queries by their names, and keys that read aliases."""

from fractions import Fraction

import pytest

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

ENOUGH = "having count(*) >= 20"
KNOWN = Schema({"people": {"id": "BIGINT", "sex": "VARCHAR", "zip": "VARCHAR"}}, known=True)


def sampled(condition):
    return f"select sex, count(*) as n from people where {condition} group by sex {ENOUGH}"


def found(sql, schema=None):
    return [
        (finding.code, finding.message.split("; found ")[1].split("; ")[0])
        for finding in prove(sql, schema).findings
    ]


@pytest.mark.parametrize(
    ("condition", "rate"),
    [
        ("random() < 0.1", Fraction(1, 10)),
        ("0.1 > random()", Fraction(1, 10)),
        ("random() <= 1/10", Fraction(1, 10)),
        ("random() between 0 and 0.1", Fraction(1, 10)),
        ("not (random() >= 0.1)", Fraction(1, 10)),
        ("not not random() < 0.1", Fraction(1, 10)),
        ("random() >= 0.9", Fraction(1, 10)),
        ("0.9 < random()", Fraction(1, 10)),
        ("random() * 100 < 10", Fraction(1, 10)),
        ("100 * random() < 10", Fraction(1, 10)),
        ("10 > random() * 100", Fraction(1, 10)),
        ("(random() * 4) > 3", Fraction(1, 4)),
    ],
)
def test_random_numbers_below_a_rate(condition, rate):
    shape = prove(sampled(condition)).shape
    assert (shape.method, shape.rate, shape.unit) == ("random", rate, "row")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("random() = 0.1", "V06"),
        ("random() not between 0 and 0.1", "V06"),
        ("random() between 0.1 and 0.2", "V06"),
        ("random() < random()", "V04"),
        ("random() * 0 < 0.1", "V06"),
        ("random() * id < 0.1", "V06"),
        ("2 * 3 < random() * random()", "V06"),
        ("random() + 1 < 1.1", "V06"),
        ("random() < 0.1 or id = 1", "V06"),
        ("random() * 100 < 100", "V04"),
        ("random() < 1/0", "V04"),
        ("random() < id", "V04"),
        ("random() < 0", "V04"),
    ],
)
def test_other_uses_of_random_numbers(condition, code):
    assert [each for each, _ in found(sampled(condition))] == [code]


@pytest.mark.parametrize(
    ("hashed", "rate"),
    [
        ("sha256($s || ':u:' || id) < '19'", Fraction(0x19, 256)),
        ("'19' > sha256($s || ':u:' || id)", Fraction(0x19, 256)),
        ("left(sha256($s || ':u:' || id), 2) < '19'", Fraction(0x19, 256)),
        ("left(sha256($s || ':u:' || id), 2) <= '19'", Fraction(0x1A, 256)),
        ("substring(sha256($s || ':u:' || id), 1, 4) <= '19'", Fraction(0x19, 256)),
        ("not sha256($s || ':u:' || cast(id as varchar)) >= '8'", Fraction(1, 2)),
        ("sha256(concat($s, ':u:', id)) < '8'", Fraction(1, 2)),
    ],
)
def test_keyed_samples(hashed, rate):
    shape = prove(sampled(hashed)).shape
    assert (shape.method, shape.rate, shape.unit) == ("keyed", rate, "id")


@pytest.mark.parametrize(
    ("hashed", "what"),
    [
        ("sha256($s || ':u:' || id) < '1G'", "a bound that is not lower-case hex"),
        ("sha256($s || ':u:' || id) < '1A'", "a bound that is not lower-case hex"),
        ("left(sha256($s || ':u:' || id), 2) < '190'", "a bound that is not lower-case hex"),
        ("sha256($s || id) < '19'", "a hash of something else than secret || ':u:' || key"),
        ("sha256($s || '' || id) < '19'", "a hash of something else than secret || ':u:' || key"),
        ("sha256($s || ':u:' || left(zip, 1)) < '19'",
         '"LEFT(zip, 1), which is not one column of the source"'.strip('"')),
    ],
)  # fmt: skip
def test_other_hashes(hashed, what):
    assert found(sampled(hashed)) == [("V04", what)]


def test_queries_by_their_names():
    inner = "select * from people tablesample bernoulli (10%)"
    outer = f"select sex, count(*) as n from {{}} group by sex {ENOUGH}"
    good = f"with recursive a as ({inner}), b as (select * from a) {outer.format('b')}"
    assert prove(good).shape.source == "people"
    itself = (
        f"with recursive a as (select * from a) {outer.format('a tablesample bernoulli (10%)')}"
    )
    assert ("V02", "a recursive query") in found(itself)
    later = f"with recursive b as (select * from a), a as ({inner}) {outer.format('b')}"
    assert ("V02", "a recursive query") in found(later)
    twice = f"with a as ({inner}), A as ({inner}) {outer.format('a')}"
    assert ("V30", "two queries called a") in found(twice)
    named = f"with policy_engine_sample_1 as ({inner}) {outer.format('people')}"
    assert ("V02", "a query called policy_engine_sample_1, as a drawn sample is") in found(named)
    unread = f"with a as (select 1 as sex), b as ({inner}) {outer.format('b')}"
    assert found(unread) == [("V16", "a query without FROM")]


@pytest.mark.parametrize("schema", [None, KNOWN])
def test_keys_that_read_an_alias_twice(schema):
    sql = (
        "select left(zip, 3) as area, upper(area) as u, lower(area) as l, count(*) as n"
        f" from people tablesample bernoulli (10%) group by area, upper(area), lower(area) {ENOUGH}"
    )
    proof = prove(sql, schema)
    assert [column.inputs for column in proof.shape.columns] == [("zip",)] * 3
    assert proof.shape.columns[2].sql == 'LOWER(LEFT("zip", 3))'
    hidden = "people has no column of its own called area"
    assert (hidden in proof.assumptions) is (schema is None)


def test_a_key_that_reads_an_alias_of_itself():
    sql = (
        "select upper(sex) as sex, count(*) as n from people tablesample bernoulli (10%)"
        f" group by lower(sex) {ENOUGH}"
    )
    assert found(sql, KNOWN) == [("V07", "sex")]


def test_an_alias_of_aliases_behind_where():
    sql = (
        "select left(zip, 3) as a, upper(a) as b, count(*) as n from people"
        f" tablesample bernoulli (10%) where {{}} = '1' group by all {ENOUGH}"
    )
    assert ("V30", "b, an alias of aliases") in found(sql.format("b"), KNOWN)
    assert prove(sql.format("a"), KNOWN).shape.filtered


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("select sex, count(*) as n from people tablesample bernoulli (10%) group by sex",
         "groups of any size"),
        ("select sex from people tablesample bernoulli (10%)", "single rows"),
        ("select sex from people tablesample bernoulli (10%) having count(*) >= 20",
         "HAVING without groups"),
    ],
)  # fmt: skip
def test_what_is_shown_of_less_than_k(sql, what):
    assert ("V09", what) in found(sql)


def test_a_release_spares_its_source():
    released = (
        f"select sex, count(*) as n from {{}} tablesample bernoulli (10%) group by sex {ENOUGH}"
    )
    for name, source in (
        ("people", "main.people"),
        ("main.people", "people"),
        ("PEOPLE", "people"),
    ):
        text = f"create or replace table {name} as {released.format(source)}"
        assert [code for code, _ in found(text)] == ["V34"]
    other = f"create or replace table other.people as {released.format('main.people')}"
    assert prove(other).shape.target == "other.people"
