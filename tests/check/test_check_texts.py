"""Texts of strangers and of ours: none is certified as it stands, and most are answered."""

from __future__ import annotations

import corpus
import pytest

from policy_engine.check.answer import answer
from policy_engine.check.ddl import parse_schema
from policy_engine.check.schema import Schema

NOTHING, OURS = Schema(), parse_schema(corpus.DDL, "duckdb")
SOUND = [(case, NOTHING) for case in corpus.strangers("stranger_accepted.sql")]
SOUND += [(case, OURS) for case in corpus.ours("accepted.sql")]
UNSOUND = [(case, NOTHING) for case in corpus.strangers("stranger_refused.sql")]
UNSOUND += [(case, schema) for case in corpus.ours("refused.sql") for schema in (NOTHING, OURS)]


def answered(case: corpus.Case, schema: Schema):
    return answer(case.sql, "duckdb", parse_schema(case.ddl, "duckdb") if case.ddl else schema)


@pytest.mark.parametrize("part", range(4))
def test_no_text_is_certified_as_it_stands(part):
    certified = [case.name for case, schema in (SOUND + UNSOUND)[part::4]
                 if answered(case, schema).findings == ()]  # fmt: skip
    assert certified == []


def test_what_is_to_be_run_instead_is_certified():
    for case, schema in SOUND[::3] + UNSOUND[::7]:
        found = answered(case, schema)
        if found.canonical:
            known = parse_schema(case.ddl, "duckdb") if case.ddl else schema
            again = answer(found.canonical, "duckdb", known)
            assert again.findings == (), case.name


@pytest.mark.parametrize(
    "text",
    ["1e999999", "1e999999999", "1e-999999999", "0" * 5000 + "20", "9" * 5000, "1e99 * 1e99"],
)
def test_a_number_that_no_engine_holds_is_no_threshold_and_takes_no_time(text):
    sql = f"select sex, count(*) as n from people group by sex having count(*) >= {text}"
    assert answer(sql, "duckdb", OURS).findings != ()
