"""A long list of literals is read whole, and not carried from query to query."""

from policy_engine.syntax.findings import Notes
from policy_engine.syntax.grammar import read_statement
from policy_engine.verify.proof import prove


def statement(listed):
    notes = Notes("")
    found = read_statement(f"select a from t where b in ({listed})", notes)
    assert notes.findings == ()
    return found


def test_a_list_of_literals_keeps_every_one():
    assert "IN (1, 'a', 2.5)" in statement("1, 'a', 2.5").sql("duckdb")


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
