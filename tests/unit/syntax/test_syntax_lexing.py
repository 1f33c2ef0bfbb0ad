"""Texts that two readers could cut differently are refused where they stand."""

import pytest

from policy_engine.syntax.findings import Notes
from policy_engine.syntax.grammar import read_statement
from policy_engine.verify.proof import prove


def oddity(text):
    notes = Notes(text)
    assert read_statement(text, notes) is None
    (finding,) = notes.findings
    assert finding.code == "V02"
    return finding.message.split("; found ")[1].split("; ")[0], (finding.line, finding.column)


@pytest.mark.parametrize(
    ("text", "found", "place"),
    [
        ("select 1 as 'a' from t", "a string that stands for a name", (1, 13)),
        ("select\n a AS 'b'", "a string that stands for a name", (2, 7)),
        ("select as from t", "a name for nothing", (1, 8)),
        ("select a, as b from t", "a name for nothing", (1, 11)),
        ("select * from (as b)", "a name for nothing", (1, 16)),
        ("select * from .t", "a name without its first part", (1, 15)),
        ("select * from a join .t on true", "a name without its first part", (1, 22)),
        ("select a, .b from t", "a name without its first part", (1, 11)),
        ("select a, from t where b in (1,)", "a comma without anything behind it", (1, 32)),
        ("select a /* /* */ from t", "a nested comment", (1, 10)),
        ("select e'\\n' from t", "a string with a prefix", (1, 9)),
        ("select 'a' 'b' from t", "a string that stands for a name, or behind another", (1, 12)),
        ("select t.'b' from t", "a string that stands for a name, or behind another", (1, 10)),
        ("select a ->> b from t", "the operator ->>", (1, 10)),
        ("select date_trunc(day, x) from t", "date_trunc of a unit that is no text", (1, 19)),
        ("select 'a\x00' from t", "a NUL character", (1, 8)),
        ("select a{b} from t", "the character '{' outside quotes", (1, 9)),
    ],
)
def test_oddities(text, found, place):
    assert oddity(text) == (found, place)


def test_very_many_brackets():
    assert oddity(f"select {'[' * 201}1{']' * 201}") == ("more than 200 brackets", (1, 1))
    few = f"select x{'[1]' * 200} from t"
    notes = Notes(few)
    read_statement(few, notes)
    assert notes.findings == ()


def test_hints_are_comments():
    sql = "select /*+ fast */ sex, count(*) as n from t tablesample bernoulli (10%) group by 1"
    assert prove(f"{sql} having count(*) >= 20").shape.columns[0].name == "sex"
