"""SQL Server's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine

from policy_engine.engines import ENGINES
from policy_engine.policy.recodings import Keep, Lookup, Prefix
from policy_engine.syntax.readings import READINGS

SECRET = "(SELECT [salt] FROM [policy_engine_salts] WHERE [release_id] = 'next')"
LAST = "CASE WHEN {0} IS NULL THEN 1 ELSE 0 END, {0} ASC"
BINARY = "COLLATE Latin1_General_100_BIN2"
ENGINE = Engine(
    "tsql",
    f"HASHBYTES('SHA2_256', CAST({SECRET} AS VARCHAR(32)) + ':u:' +"
    " LOWER(CAST({person} AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)",
    SECRET,
    value=f"CASE WHEN {{age}} < 18 THEN 'child' {BINARY} ELSE 'adult' {BINARY} END",
    quotes="[]",
    last=LAST,
    count="COUNT_BIG(*)",
)


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_who_can_read_the_secret_is_assumed():
    assert set(ENGINES["tsql"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


def test_the_place_of_null_and_its_column_are_one_term():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert [(t.name, t.descending, t.nulls_first) for t in shape.order] == [("x", False, False)]
    assert [(t.name, t.nulls_first) for t in shape.rank_order] == [("seen", False)]


@pytest.mark.parametrize(
    "terms",
    [
        "{0} ASC",
        "CASE WHEN {0} IS NULL THEN 1 ELSE 0 END DESC, {0} ASC",
        "CASE WHEN {0} IS NULL THEN 0 ELSE 1 END, {0} ASC",
        "CASE WHEN [n] IS NULL THEN 1 ELSE 0 END, {0} ASC",
    ],
)
def test_null_is_last_only_where_the_pair_says_so(terms):
    proof = ENGINE.proof(ENGINE.text().replace(LAST.format("[x]"), terms.format("[x]")))
    last = [("x", False, False)]
    assert (
        proof.findings or [(t.name, t.descending, t.nulls_first) for t in proof.shape.order] != last
    )


@pytest.mark.parametrize(
    "value",
    [
        "{age}",
        "{income}",
        f"CASE WHEN {{weight}} <> {{weight}} THEN NULL WHEN {{weight}} < 5 THEN 'a' {BINARY} END",
        f"CASE WHEN {{age}} < 18 THEN 'it''s' {BINARY} ELSE 'A' {BINARY} END",
        "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN"
        " CAST(CAST(DATEFROMPARTS(YEAR({born}), (MONTH({born}) - 1) / 3 * 3 + 1, 1) AS DATETIME2)"
        " AS DATE) END",
        "CAST({moved} AT TIME ZONE 'UTC' AS DATETIME2)",
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


TRIMMED = f"RTRIM(CAST({{zip}} AS NVARCHAR(MAX)) {BINARY})"
WHOLE = "COLLATE Latin1_General_100_CS_AS_SC"


@pytest.mark.parametrize(
    ("value", "recoding"),
    [
        (TRIMMED, Keep()),
        (f"RTRIM(LEFT({TRIMMED} {WHOLE}, 3) {BINARY})", Prefix(3)),
        (
            f"CASE WHEN {TRIMMED} IS NULL THEN NULL WHEN {TRIMMED} IN ('10115' {BINARY})"
            f" THEN 'a' {BINARY} ELSE 'b' {BINARY} END",
            Lookup((("10115", "a"),), "b"),
        ),
    ],
)
def test_a_text_is_shown_without_the_blanks_at_its_end(value, recoding):
    proof = ENGINE.proof(ENGINE.text(value))
    assert (proof.findings, proof.shape.columns[0].recoding) == ((), recoding)


def test_a_comparison_of_the_column_as_it_is_is_no_recoding():
    value = f"CASE WHEN {{zip}} = 'x' {BINARY} THEN 'a' {BINARY} END"
    (column,) = ENGINE.proof(ENGINE.text(value)).shape.columns
    assert (column.recoding, column.values) == (None, None)


@pytest.mark.parametrize(
    "value",
    [
        f"CAST({{zip}} AS NVARCHAR(MAX)) {BINARY}",
        "RTRIM(CAST({zip} AS NVARCHAR(MAX)))",
        "RTRIM(CAST({zip} AS NVARCHAR(MAX)) COLLATE Latin1_General_CI_AS)",
        f"RTRIM({{zip}} {BINARY})",
        f"RTRIM(CAST({{zip}} AS VARCHAR(MAX)) {BINARY})",
        f"RTRIM(CAST({{zip}} AS NVARCHAR(8)) {BINARY})",
        f"LTRIM(CAST({{zip}} AS NVARCHAR(MAX)) {BINARY})",
        f"LEFT({TRIMMED}, 3)",
        f"RTRIM(LEFT({TRIMMED}, 3))",
        f"RTRIM(LEFT({TRIMMED} {WHOLE}, 3))",
        f"LEFT({TRIMMED} {WHOLE}, 3) {BINARY}",
        f"RTRIM(LEFT({TRIMMED} {WHOLE}, -3) {BINARY})",
        f"RTRIM(LEFT({TRIMMED} {WHOLE}, {{age}}) {BINARY})",
        f"RTRIM(LEFT({{zip}} {WHOLE}, 3) {BINARY})",
        f"CASE WHEN {TRIMMED} IN ('a') THEN 'a' {BINARY} END",
        f"CASE WHEN {TRIMMED} IN ('a ' {BINARY}) THEN 'a' {BINARY} END",
    ],
)
def test_texts_that_could_be_equal_and_look_different_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"'child' {BINARY}", "'child'"),
        (f"'child' {BINARY}", "'child' COLLATE Latin1_General_CI_AS"),
        (f"'child' {BINARY}", f"'child ' {BINARY}"),
        (f"'child' {BINARY}", f"'ärger' {BINARY}"),
        (f"'child' {BINARY}", f"N'child' {BINARY}"),
        (f"'child' {BINARY}", f'"child" {BINARY}'),
        ("VARCHAR(40)", "VARCHAR(1)"),
        ("VARCHAR(40)", "NVARCHAR(40)"),
        ("VARCHAR(40)", "VARCHAR"),
        ("VARCHAR(32)", "NVARCHAR(32)"),
        ("'SHA2_256'", "'SHA1'"),
        ("'4000000000000000', 2)", "'4000000000000000', 0)"),
        ("'4000000000000000'", "'40000000000000'"),
        ("'4000000000000000', 2)", "'0x400000000000000', 1)"),
        ("CONVERT(VARBINARY(8)", "CONVERT(VARBINARY(4)"),
        ("[person] AS VARCHAR", "[code] AS VARCHAR"),
        ("[policy_engine_salts]", "[main].[people]"),
        (SECRET, "SESSION_CONTEXT('policy_engine_salt')"),
        (SECRET, "@salt"),
        ("FROM [main].[people]", "FROM [main].[people] WITH (NOLOCK)"),
        ("FROM [main].[people]", "FROM [main].[people] TABLESAMPLE SYSTEM (25 PERCENT)"),
        ("SELECT [x]", "SELECT TOP 5 [x]"),
        ("ORDER BY CASE WHEN [x]", "OPTION (RECOMPILE) ORDER BY CASE WHEN [x]"),
        ("GROUP BY [x]", "GROUP BY [x] WITH ROLLUP"),
    ],
)
def test_what_sql_server_reads_otherwise_is_refused(old, new):
    text = ENGINE.text()
    assert old in text
    assert ENGINE.proof(text.replace(old, new)).findings


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        f"CASE WHEN {{zip}} IN ('10115') THEN 'a' {BINARY} ELSE 'b' {BINARY} END",
        f"{{zip}} {BINARY}",
        "CAST({zip} AS VARBINARY(8000))",
        "{married}",
        "CAST({age} AS VARCHAR(40))",
        "CAST({weight} AS FLOAT)",
        "CAST({income} AS REAL)",
        "CAST({seen} AS DATETIME)",
        "CAST({seen} AS SMALLDATETIME)",
        "CAST({age} AS TINYINT)",
        "TRY_CAST({zip} AS BIGINT)",
        "DATETRUNC(MONTH, {seen})",
        "DATEFROMPARTS(YEAR({born}), MONTH({born}), {age})",
        "ISNULL({age}, 0)",
        "{age} / 2",
    ],
)
def test_values_without_a_known_meaning_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize(
    ("native", "kind"),
    [("int", "INTEGER"), ("datetime2(7)", "TIMESTAMP"), ("nvarchar(20)", "VARCHAR"),
     ("ntext", "OTHER NTEXT"),
     ("bit", "OTHER BIT"), ("uniqueidentifier", "UUID"), ("money", "OTHER MONEY")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["tsql"].type_of(native) == kind
