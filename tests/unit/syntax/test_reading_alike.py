"""What is refused in every other engine, and what its types assume."""

import pytest
from stranger_texts import SAMPLES, proof, text

from policy_engine.expressions.evaluation import BYTEWISE
from policy_engine.verify.proof import prove

OTHERS = [name for name in SAMPLES if name != "duckdb"]


@pytest.mark.parametrize("dialect", SAMPLES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GROUP BY zip", "GROUP BY (zip AS id)"),
        ("GROUP BY zip", "GROUP BY ((zip) AS id)"),
        ("COUNT(*) AS n", "(COUNT(*) AS id) AS n"),
        ("COUNT(*) AS n", "((COUNT(*)) AS id)"),
        ("SELECT zip", "SELECT (zip AS id)"),
        ("SELECT zip", "SELECT ((zip AS id)) AS zip"),
        ("HAVING COUNT(*)", "HAVING (COUNT(*) AS id)"),
        ("WHERE ", "WHERE (zip AS id) = zip AND "),
    ],
)
def test_a_name_inside_an_expression_is_refused(dialect, old, new):
    """In ClickHouse it is a name in the whole query: id would be zip where it is hashed."""
    whole = text(dialect)
    assert old in whole
    found = prove(whole.replace(old, new, 1), dialect)
    assert found.shape is None


@pytest.mark.parametrize("dialect", SAMPLES)
def test_a_name_inside_the_order_is_refused(dialect):
    found = prove(text(dialect) + ", (zip AS id)", dialect).findings
    assert any("found the name id inside an expression" in each.message for each in found)


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize(
    "condition",
    [
        "a = b IN (1, 2)",
        "a = b NOT IN (1, 2)",
        "a < b NOT BETWEEN 1 AND 2",
        "a BETWEEN 1 AND 2 = b",
        "a NOT BETWEEN 1 AND 2 NOT IN (0, 1)",
        "a = b = c",
        "NOT a = b",
    ],
)
def test_what_engines_bind_otherwise_needs_parentheses(dialect, condition):
    assert proof(dialect, where=f" AND ({condition})").shape is None


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize(
    "condition",
    ["a NOT IN (1, 2)", "NOT a BETWEEN 1 AND 2", "a = b IS NULL", "NOT (a = b)", "NOT a IS NULL"],
)
def test_what_all_bind_alike_does_not(dialect, condition):
    assert proof(dialect, where=f" AND ({condition})").findings == ()


@pytest.mark.parametrize(("dialect", "longest"), [("postgres", 63), ("redshift", 127)])
def test_a_name_that_is_cut_is_refused(dialect, longest):
    fits, cut = f'"{"x" * longest}"', f'"{"é" * (longest // 2)}yy"'
    assert proof(dialect, table=fits).findings == ()
    assert proof(dialect, table=cut).shape is None


@pytest.mark.parametrize(
    ("dialect", "key", "texts"),
    [
        ("tsql", "a whole number or a UUID", "no text of the source is grouped or compared"),
        ("redshift", "a whole number", "no text of the source is grouped or compared"),
        (
            "postgres",
            "a whole number, a UUID, or text without a collation",
            BYTEWISE,
        ),
    ],
)
def test_what_is_assumed_of_types_that_are_not_known(dialect, key, texts):
    assumed = proof(dialect).assumptions
    assert f"id is {key}" in assumed
    ways = {"no text of the source is grouped or compared", BYTEWISE}
    assert ways & set(assumed) == {texts}
