"""compile for an engine that is not asked: the source as a schema describes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine.check.answer import answer
from policy_engine.check.schema import Schema
from policy_engine.errors import UsageError
from policy_engine.policy.loading import load_policy

POLICY = """\
version: 1
name: visits
source: {table: hospital.visits}
privacy_unit: {column: PERSON_ID, rows: {first_by: [VISITED desc]}}
recode: {AGE: {bins: [18, 65]}, VISITED: {truncate: month}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 2, delta: 0.001}
release: {table: public.visits_public}
"""
SCHEMA = "create table hospital.visits (PERSON_ID {}, AGE integer, VISITED date)"
KEYS = {"snowflake": "number(18,0)", "bigquery": "int64", "trino": "bigint", "postgres": "bigint"}


@pytest.fixture
def files(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("dialect", KEYS)
def test_what_is_compiled_from_a_schema_is_what_check_proves(cli, files, dialect):
    (files / "schema.sql").write_text(SCHEMA.format(KEYS[dialect]))
    options = ["--dialect", dialect, "--schema", "schema.sql"]
    made = cli("compile", "policy.yaml", *options)
    assert made.code == 0, made.err
    (files / "release.sql").write_text(made.out)
    checked = cli("certify-sql", "release.sql", *options, "--policy", "policy.yaml")
    assert checked.code == 0, checked.out
    assert checked.out.startswith("certified")


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("create table other (a integer)", "the schema must describe source.table, found"),
        ("create table hospital.visits (AGE integer)", "has no column 'VISITED'"),
        ("select 1", "the schema must be"),
    ],
)
def test_a_schema_that_does_not_describe_the_source(cli, files, schema, told):
    (files / "schema.sql").write_text(schema)
    found = cli("compile", "policy.yaml", "--dialect", "trino", "--schema", "schema.sql")
    assert found.code in (1, 2)
    assert told in found.err


def test_what_an_engine_cannot_do_is_told_before_anything_is_written(cli, files):
    (files / "schema.sql").write_text(SCHEMA.format("bigint"))
    found = cli("compile", "policy.yaml", "--dialect", "tsql", "--schema", "schema.sql")
    assert found.code == 1
    assert "SQL Server cannot do this: SELECT INTO is a part of the query, so the" in found.err
    assert found.out == ""


MONTHLY = """\
version: 1
name: monthly
source: {table: HOSPITAL.VISITS}
privacy_unit: {column: PERSON_ID, rows: any}
period: {column: VISITED, every: month, from: "2026-07"}
recode: {AGE: {bins: [18, 65]}}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {table: "PUBLIC.VISITS_{edition}"}
"""
MOMENTS = (
    '{"HOSPITAL.VISITS": {"PERSON_ID": "BIGINT", "AGE": "INTEGER", "VISITED": "TIMESTAMP_NTZ"}}'
)
OPTIONS = ("--dialect", "snowflake", "--schema", "schema.json")


@pytest.fixture
def monthly(cli, files):
    """Writes a policy, compiles an edition of it, and compares that with an edition again."""
    (files / "schema.json").write_text(MOMENTS)
    (files / "policy.yaml").write_text(MONTHLY)

    def compiled(*edition: str) -> str:
        made = cli("compile", "policy.yaml", *OPTIONS, *edition)
        assert made.code == 0, made.err
        return made.out

    def certified(text: str, *more: str):
        (files / "release.sql").write_text(text)
        return cli("certify-sql", "release.sql", *OPTIONS, "--policy", "policy.yaml", *more)

    return compiled, certified


def test_the_first_edition_is_compiled_and_certified_where_none_is_named(monthly):
    """It was compared with what has no period: V27 and V35."""
    compiled, certified = monthly
    text = compiled()
    assert text.startswith('CREATE TABLE "PUBLIC"."VISITS_2026-07" AS')
    assert text == compiled("--edition", "2026-07")
    for edition in ((), ("--edition", "2026-07")):
        found = certified(text, *edition)
        assert found.code == 0, found.out
        said = "2026-07: the rows with VISITED from 2026-07-01 to before 2026-08-01, days of UTC"
        assert f"  edition  {said}\n" in found.out
        assert "PERSON_ID, with the rows of 2026-07 by VISITED, and no others" in found.out


def test_a_named_edition_is_compiled_and_certified_and_no_other(monthly):
    compiled, certified = monthly
    text = compiled("--edition", "2026-09")
    found = certified(text, "--edition", "2026-09", "--format", "json")
    assert found.document["certified"]
    assert found.document["edition"]["rows"]["end"] == "2026-10-01T00:00:00Z"
    assert found.document["shape"]["target"] == "PUBLIC.VISITS_2026-09"
    other = certified(text)
    assert (other.code, other.out) == (
        1,
        "release.sql: V36 the SQL must read the rows of the edition that it is compared with, and"
        " of no other; found the SQL of 2026-09, compared with 2026-07; add --edition 2026-09\n",
    )


def test_an_edition_of_days_of_a_zone_is_told_by_the_instants_in_utc(monthly, files):
    (files / "policy-engine.yaml").write_text("version: 1\nzone: Asia/Tokyo\n")
    zoned = MOMENTS.replace("_NTZ", "_LTZ")
    (files / "schema.json").write_text(zoned)
    compiled, certified = monthly
    text = compiled("--edition", "2026-09")
    assert "2026-08-31 15:00:00" in text
    assert certified(text, "--edition", "2026-09").code == 0
    assert "found the SQL of 2026-09, compared with 2026-07;" in certified(text).out


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("VISITS_2026-09", "VISITS_2026-07", "V27"),
        ("2026-09-01", "2026-09-02", "V35"),
        ("2026-10-01", "2026-11-01", "V35"),
        ("2026-10-01", "9999-99-99", "V35"),
    ],
)
def test_what_is_the_sql_of_no_edition_is_certified_as_none(monthly, old, new, code):
    compiled, certified = monthly
    text = compiled("--edition", "2026-09")
    assert text.count(old) == 1
    found = certified(text.replace(old, new), "--edition", "2026-09", "--format", "json")
    assert not found.document["certified"]
    assert [each["code"] for each in found.document["findings"]] == [code]


def test_the_sql_of_all_rows_is_not_that_of_a_policy_with_a_period(monthly, files):
    """A period into a file was certified for a text that reads all rows."""
    compiled, certified = monthly
    into_a_file = MONTHLY.replace('table: "PUBLIC.VISITS_{edition}"', 'file: "{edition}.parquet"')
    of_all = [each for each in into_a_file.splitlines() if not each.startswith("period")]
    (files / "policy.yaml").write_text("\n".join(of_all).replace("{edition}", "all"))
    text = compiled()
    assert certified(text).code == 0
    (files / "policy.yaml").write_text(into_a_file)
    found = certified(text, "--format", "json")
    assert [each["code"] for each in found.document["findings"]] == ["V35"]
    with pytest.raises(UsageError, match="monthly has a period: compare the text with one edition"):
        answer(text, "snowflake", Schema(), load_policy(files / "policy.yaml"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("2026-06", "monthly: the first edition is 2026-07, by period.from; found 2026-06"),
        ("second", "monthly: --edition must be a month, as 2026-11, found second"),
    ],
)
def test_no_edition_of_a_policy_can_be_called_so(cli, monthly, name, told):
    compiled, certified = monthly
    found = cli("compile", "policy.yaml", *OPTIONS, "--edition", name)
    checked = certified(compiled(), "--edition", name)
    for each in (found, checked):
        assert (each.code, each.out, each.err) == (2, "", f"error: {told}\n")


def test_the_table_of_a_refresh_needs_the_name_of_its_edition(cli, monthly, files):
    """It was compiled into a table that is called {edition}."""
    period = 'period: {column: VISITED, every: month, from: "2026-07"}'
    (files / "policy.yaml").write_text(MONTHLY.replace(period, "refresh: {every: month}"))
    found = cli("compile", "policy.yaml", *OPTIONS)
    assert (found.code, found.out) == (2, "")
    assert "monthly has a schedule: name the edition that is meant with --edition" in found.err
    compiled, certified = monthly
    text = compiled("--edition", "2026-09")
    assert text.startswith('CREATE TABLE "PUBLIC"."VISITS_2026-09" AS')
    assert "  edition  2026-09\n" in certified(text, "--edition", "2026-09").out


def test_an_edition_without_a_policy_is_none(cli, monthly):
    compiled, _ = monthly
    Path("release.sql").write_text(compiled())
    found = cli("certify-sql", "release.sql", *OPTIONS, "--edition", "2026-07")
    assert (found.code, found.out) == (2, "")
    assert "--edition is an edition of a policy: name that with --policy" in found.err


NUMBERS = """\
version: 1
name: numbers
source:
  table: HOSPITAL.VISITS
  compute: {YEARS: {of: BORN, age_at: VISITED}}
privacy_unit: {column: PERSON_ID, rows: any}
recode: {YEARS: {bins: [18, 65]}, WARD: keep}
mechanism: noisy_counts
measures:
  nights: {mean: NIGHTS, bounds: [0, 30]}
  cost: {sum: COST, bounds: [0, 4000], round_to: 100}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {table: PUBLIC.VISITS}
"""
VISITS = (
    "create table HOSPITAL.VISITS (PERSON_ID number(18,0), BORN date, VISITED date, WARD varchar,"
    " NIGHTS integer, COST integer)"
)
SHOWN = (
    "count    n: the count of each group",
    "shows    nights: the mean of NIGHTS (integer) over the people with a value, rounded to a"
    " multiple of 1 and held between 0 and 30",
    "shows    cost: the sum of COST (integer) over the people with a value, rounded to a multiple"
    " of 100 and held between 0 and 4000",
)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", ()),
        (
            "rollup: {to: [WARD], share: 0.2}\n",
            ("shows    grouping 1: by YEARS, WARD", "shows    grouping 2: by WARD"),
        ),
        (
            "public_groups: {YEARS: ['<18', '[18,65)'], WARD: [A]}\n",
            ('shows    public keys, 2: ("<18"), ("[18,65)")', 'shows    public keys, 1: ("A")'),
        ),
    ],
)
def test_a_certified_text_is_told_with_every_number_that_it_shows(cli, files, more, told):
    """The columns alone were named: no mean, no grouping, and no list."""
    (files / "schema.sql").write_text(VISITS)
    (files / "policy.yaml").write_text(NUMBERS + more)
    options = ["--dialect", "snowflake", "--schema", "schema.sql"]
    (files / "release.sql").write_text(cli("compile", "policy.yaml", *options).out)
    found = cli("certify-sql", "release.sql", *options, "--policy", "policy.yaml")
    assert found.out.startswith("certified: noisy counts"), found.out
    lines = [line[2:] for line in found.out.splitlines()]
    start = lines.index(SHOWN[0])
    assert tuple(lines[start : start + 3 + len(told)]) == (*SHOWN, *told)
    assert any(line.startswith("computed YEARS of each row: the whole years") for line in lines)
    document = cli("certify-sql", "release.sql", *options, "--policy", "policy.yaml", "--format",
                   "json").document  # fmt: skip
    said = [line.removeprefix("shows    ") for line in (*SHOWN[1:], *told)]
    assert document["shape"]["shows"] == said
