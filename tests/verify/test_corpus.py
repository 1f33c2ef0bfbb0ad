"""What people write: the kernel accepts what is sound and says why the rest is not."""

import duckdb
import pytest
from corpus import HERE, SCHEMA, cases

from policy_engine.syntax.findings import LAWS
from policy_engine.verify.proof import prove

ACCEPTED, REFUSED = cases("accepted.sql"), cases("refused.sql")


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    connection = duckdb.connect()
    connection.execute(f"set file_search_path = '{directory}'")
    for statement in (HERE / "schema.sql").read_text().split(";"):
        if "looping" not in statement and statement.strip():
            connection.execute(statement)
    connection.execute("create table policy_engine_sample_199999999999999 (unit bigint)")
    connection.execute("create schema privacy_secrets")
    connection.execute("create table privacy_secrets.salts (release_id text, salt text)")
    connection.execute(f"copy people to '{directory}/people.parquet'")
    return connection


@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_accepted(case):
    for schema in case.schemas():
        proof = prove(case.sql, schema)
        assert [str(finding) for finding in proof.findings] == []
        assert proof.shape is not None
        assert proof.shape.k >= 2
        assert 0 < proof.shape.rate < 1


@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_accepted_runs_in_duckdb(con, case):
    (statement,) = con.extract_statements(case.sql)
    parameters = dict.fromkeys(statement.named_parameters, "secret")
    con.execute(statement, parameters or None).fetchall()


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    for schema in case.schemas():
        proof = prove(case.sql, schema)
        assert proof.shape is None
        assert proof.assumptions == ()
        assert tuple(sorted({finding.code for finding in proof.findings})) == case.codes


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_findings_stand_in_the_text(case):
    lines = case.sql.split("\n")
    for finding in prove(case.sql, case.schemas()[0]).findings:
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1


def test_every_law_about_sql_has_a_case():
    shown = {code for case in REFUSED for code in case.codes}
    of_policies = {f"V{number}" for number in range(21, 30)} - {"V28"}
    of_prints = {"V35"}
    assert shown == set(LAWS) - of_policies - of_prints


def test_the_schema_is_the_schema():
    assert SCHEMA.columns("main.people")["name"] == "TEXT COLLATE nocase"
