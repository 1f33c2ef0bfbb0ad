"""A long list of literals costs one value: nothing walks it, copies it or carries it along."""

from sqlglot import exp

from policy_engine.syntax.findings import Notes
from policy_engine.syntax.grammar import read_statement
from policy_engine.verify.proof import prove


def statement(listed):
    notes = Notes("")
    found = read_statement(f"select a from t where b in ({listed})", notes)
    assert notes.findings == ()
    return found


def size(listed):
    return sum(1 for _ in statement(listed).walk())


def test_a_list_of_literals_is_as_large_as_one_of_one():
    numbers = ", ".join(map(str, range(1000)))
    assert size(numbers) == size("1") == size("1, 2, 3")


def test_a_list_of_literals_keeps_every_one():
    assert "IN (1, 'a', 2.5)" in statement("1, 'a', 2.5").sql("duckdb")


def test_a_list_that_has_anything_else_is_walked():
    assert [node.name for node in statement("1, c, 2").find_all(exp.Column)][-1] == "c"
    assert size("1, -1, 2") > size("1, 2, 3")


def column(literals):
    listed = ", ".join(f"'{number}'" for number in range(literals))
    proof = prove(
        f"with r as (select case when zip in ({listed}) then 'a' else 'b' end as z"
        " from people tablesample bernoulli (10 percent))"
        " select upper(z) as z, count(*) as n from r group by 1 having count(*) >= 20 order by 1",
    )
    return proof.shape.columns[0]


def test_a_long_list_is_not_carried_from_query_to_query():
    assert "IN (" in column(3).sql
    assert column(300).sql == "a function of zip"
