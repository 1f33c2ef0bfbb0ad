"""MariaDB's and MySQL's SQL as the kernel reads it: what it accepts, and what it must not."""

from __future__ import annotations

import pytest

from policy_engine.syntax.readings import READINGS
from policy_engine.syntax.schema import Schema, parse_schema
from policy_engine.verify.proof import prove

BYTEWISE = {"mariadb": "utf8mb4_nopad_bin", "mysql": "utf8mb4_0900_bin"}
SCHEMA = Schema(
    {
        "work.people": {
            "id": "BIGINT",
            "code": "VARCHAR",
            "zip": "VARCHAR COLLATE utf8mb4_general_ci",
            "age": "INTEGER",
            "married": "BOOLEAN",
            "born": "DATE",
            "seen": "TIMESTAMP",
            "login": "TIMESTAMP WITH TIME ZONE",
            "weight": "DOUBLE",
        }
    },
    known=True,
)
TEXT = """\
-- policy: people
WITH `sampled` AS (
  SELECT `zip`, `age`,
    ROW_NUMBER() OVER (PARTITION BY `id` ORDER BY `seen` IS NULL, `seen` DESC) AS `rn`
  FROM `work`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`id` AS CHAR CHARACTER SET utf8mb4)), 256)
    COLLATE utf8mb4_nopad_bin < '199999999999999'
), `recoded` AS (
  SELECT
    LEFT(CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin, 3) AS `zip`,
    CASE WHEN `age` < 18 THEN 'it''s' COLLATE utf8mb4_nopad_bin
      ELSE 'a\\\\b' COLLATE utf8mb4_nopad_bin END AS `age`
  FROM `sampled` WHERE `rn` = 1
)
SELECT `zip`, `age`, COUNT(*) AS `n` FROM `recoded` GROUP BY `zip`, `age` HAVING COUNT(*) >= 20
ORDER BY CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL,
  CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin, `age` IS NULL, `age`
"""


def proved(text, dialect="mariadb", schema=SCHEMA):
    return prove(text.replace("utf8mb4_nopad_bin", BYTEWISE[dialect]), dialect, schema)


def refused(text):
    proof = proved(text)
    assert proof.shape is None
    return {finding.code: finding.message for finding in proof.findings}


@pytest.mark.parametrize("dialect", BYTEWISE)
def test_a_release_is_read_as_what_it_is(dialect):
    shape = proved(TEXT, dialect).shape
    assert (shape.unit, shape.k, shape.method, shape.one_row) == ("id", 20, "keyed", True)
    assert [(t.name, t.descending, t.nulls_first) for t in shape.rank_order] == [
        ("seen", True, False)
    ]
    assert [(t.name, t.nulls_first) for t in shape.order] == [("zip", False), ("age", False)]
    assert shape.columns[1].values is not None


def test_each_engine_has_its_own_collation_of_bytes():
    assert prove(TEXT, "mysql", SCHEMA).shape is None


def test_what_the_secret_and_the_session_rest_on_is_assumed():
    assumed = " ".join(proved(TEXT).assumptions)
    assert "binary logs" in assumed
    assert "sql_mode has none of ANSI_QUOTES" in assumed


_KEY = "CAST(`id` AS CHAR CHARACTER SET utf8mb4)"
_SHOWN = "LEFT(CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin, 3) AS `zip`"


@pytest.mark.parametrize(
    "expression",
    [
        "CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin AS `zip`",
        "CONVERT(`zip` USING utf8mb4) COLLATE utf8mb4_nopad_bin AS `zip`",
        "zip COLLATE utf8mb4_nopad_bin AS zip",
        "CASE zip COLLATE utf8mb4_nopad_bin WHEN 'a' THEN NULL ELSE '' COLLATE utf8mb4_nopad_bin"
        " END AS zip",
    ],
)
def test_forms_of_a_text(expression):
    assert proved(TEXT.replace(_SHOWN, expression)).findings == ()


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("CASE WHEN married THEN TRUE WHEN NOT married THEN FALSE END", "married"),
        ("CASE WHEN born BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN"
         " DATE_SUB(DATE(born), INTERVAL (DAYOFMONTH(born) - 1) DAY) END", "born"),
        ("CASE WHEN seen BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN"
         " DATE_ADD(CAST(DATE(seen) AS DATETIME(6)), INTERVAL (HOUR(seen)) HOUR) END", "seen"),
        ("DATE_ADD(CAST('1970-01-01 00:00:00' AS DATETIME(6)),"
         " INTERVAL (NULLIF(UNIX_TIMESTAMP(login), 0)) SECOND)", "login"),
        ("CASE WHEN weight <> weight THEN NULL WHEN weight < 5 THEN 'a' COLLATE utf8mb4_nopad_bin"
         " ELSE 'b' COLLATE utf8mb4_nopad_bin END", "weight"),
    ],
)  # fmt: skip
def test_forms_of_other_values(expression, columns):
    text = TEXT.replace(_SHOWN, f"{expression} AS `zip`")
    text = text.replace("SELECT `zip`", f"SELECT {columns}", 1)
    told = "CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin"
    text = text.replace(told, "`zip`")
    assert proved(text).findings == ()


TAMPERED = {
    "a literal secret": ("@policy_engine_salt", "'000102030405060708090a0b0c0d0e0f'"),
    "another variable": ("@policy_engine_salt", "@salt"),
    "a system variable": ("@policy_engine_salt", "@@policy_engine_salt"),
    "a variable that is set": ("@policy_engine_salt", "@policy_engine_salt:='a'"),
    "another separator": ("':u:'", "':v:'"),
    "no separator": ("':u:', ", ""),
    "raw bytes": ("256)\n", "256) AND UNHEX(SHA2(CONCAT(@policy_engine_salt, `id`), 256))\n"),
    "another hash": ("256)\n", "224)\n"),
    "or the bound itself": ("< '199999999999999'", "<= '199999999999999'"),
    "capital hex": ("'199999999999999'", "'19999999999999A'"),
    "a number as the bound": ("'199999999999999'", "199999999999999"),
    "a hash compared by the connection": ("256)\n    COLLATE utf8mb4_nopad_bin", "256)"),
    "a padded collation": ("utf8mb4_nopad_bin, 3", "utf8mb4_bin, 3"),
    "a collation without case": ("utf8mb4_nopad_bin, 3", "utf8mb4_general_ci, 3"),
    "a collation dropped": (_SHOWN, "LEFT(`zip`, 3) AS `zip`"),
    "a cast that keeps the collation": (_SHOWN, "CAST(`zip` AS CHAR) AS `zip`"),
    "a label without a collation": ("'it''s' COLLATE utf8mb4_nopad_bin", "'it''s'"),
    "a label in parentheses": ("'it''s' COLLATE utf8mb4_nopad_bin", "('it''s')"),
    "a double-quoted text": ("'it''s'", '"it"'),
    "a double-quoted name": ("`age` < 18", '"age" < 18'),
    "a backslash before a quote": ("'it''s'", "'it\\'s'"),
    "a backslash before a letter": ("'it''s'", "'it\\ns'"),
    "two texts behind each other": ("'it''s'", "'it' 's'"),
    "a text with a character set": ("'it''s'", "_latin1'it'"),
    "a text of hex": ("'it''s'", "x'41'"),
    "no threshold": (" HAVING COUNT(*) >= 20", ""),
    "a threshold of one": ("COUNT(*) >= 20", "COUNT(*) >= 1"),
    "a limit": ("`age` IS NULL, `age`\n", "`age` IS NULL, `age` LIMIT 1\n"),
    "a second statement": ("`age` IS NULL, `age`\n", "`age` IS NULL, `age`; SELECT 1\n"),
    "a rollup": ("GROUP BY `zip`, `age`", "GROUP BY `zip`, `age` WITH ROLLUP"),
    "a comment that runs": ("FROM `sampled`", "FROM /*!50000 `people` -- */ `sampled`"),
    "a comment that runs in MariaDB": ("`rn` = 1", "`rn` = 1 /*M! OR 1 */"),
    "a hint": ("SELECT `zip`, `age`, C", "SELECT /*+ NO_MERGE() */ `zip`, `age`, C"),
    "a comment of a hash": ("`rn` = 1", "`rn` = 1 # or"),
    "a minus that is no comment": ("`rn` = 1", "`rn` = 1--1"),
    "pipes": ("`rn` = 1", "`rn` = 1 || `rn` = 2"),
    "an and of signs": ("`rn` = 1", "`rn` = 1 && 1"),
    "a bang": ("`rn` = 1", "! (`rn` <> 1)"),
    "an equality of NULL": ("`rn` = 1", "`rn` <=> 1"),
    "a rank of two": ("`rn` = 1", "`rn` <= 2"),
    "a random number": ("`rn` = 1", "`rn` = 1 AND RAND() < 0.5"),
    "a division": ("`age` < 18", "18 / `age` < 2"),
    "a cast that wraps": ("`age` < 18", "CAST(`age` AS UNSIGNED) < 18"),
    "a cast to a whole number": ("`age` < 18", "CAST(`zip` AS SIGNED) < 18"),
    "a text beside a number": ("`age` < 18", "`zip` < 18"),
    "another function": (_SHOWN, "SOUNDEX(`zip`) AS `zip`"),
    "a query inside": ("`age` < 18", "`age` < (SELECT AVG(age) FROM work.people)"),
    "a lock": ("`age` IS NULL, `age`\n", "`age` IS NULL, `age` FOR UPDATE\n"),
    "a modifier": ("SELECT `zip`, `age`, C", "SELECT SQL_CALC_FOUND_ROWS `zip`, `age`, C"),
    "an index": ("FROM `work`.`people`", "FROM `work`.`people` USE INDEX (i)"),
    "a partition": ("FROM `work`.`people`", "FROM `work`.`people` PARTITION (p0)"),
    "a moment of the past": ("FROM `work`.`people`", "FROM `work`.`people` FOR SYSTEM_TIME ALL"),
    "the catalog": ("`work`.`people`", "information_schema.tables"),
    "a name spelled otherwise": ("FROM `recoded`", "FROM `Recoded`"),
    "an alias that hides a column": (_SHOWN, f"`age` AS `zip`, {_SHOWN[:-5]}`x`"),
    "raw people": ("FROM `sampled` WHERE `rn` = 1", "FROM `work`.`people`"),
    "a key of a person's own": (_KEY, "CAST(`age` + `id` AS CHAR CHARACTER SET utf8mb4)"),
    "a key with case folded": (_KEY, "CAST(LOWER(`code`) AS CHAR CHARACTER SET utf8mb4)"),
    "a chain of comparisons": ("`age` < 18", "0 = `age` < 18"),
    "a NOT that a setting binds closer": ("COUNT(*) >= 20", "NOT COUNT(*) < 20"),
    "a prefix from behind": ("COLLATE utf8mb4_nopad_bin, 3)", "COLLATE utf8mb4_nopad_bin, -1)"),
    "a form of rows": ("`rn` = 1", "`rn` = 1 UNION ALL SELECT 1, 2"),
    "an order of something random": ("`seen` IS NULL, `seen` DESC", "RAND()"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_text_is_refused(name):
    before, after = TAMPERED[name]
    assert TEXT.count(before) >= 1, name
    assert refused(TEXT.replace(before, after, 1))


def test_a_pair_of_terms_is_of_one_column():
    text = TEXT.replace("`seen` IS NULL, `seen` DESC", "`age` IS NULL, `seen` DESC")
    assert [t.name for t in proved(text).shape.rank_order] != ["seen"]


@pytest.mark.parametrize(
    ("native", "wanted"),
    [
        ("tinyint(1)", "BOOLEAN"),
        ("tinyint(4)", "TINYINT"),
        ("bigint(20) unsigned", "UBIGINT"),
        ("decimal(10,2)", "DECIMAL(10,2)"),
        ("datetime(6)", "TIMESTAMP"),
        ("timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("int(5) unsigned zerofill", "OTHER INT(5) UNSIGNED ZEROFILL"),
        ("year(4)", "OTHER YEAR(4)"),
        ("time", "OTHER TIME"),
        ("bit(1)", "OTHER BIT(1)"),
        ("varbinary(5)", "OTHER VARBINARY(5)"),
    ],
)
def test_types(native, wanted):
    assert READINGS["mariadb"].type_of(native) == wanted


@pytest.mark.parametrize("collation", ["", " COLLATE utf8mb4_bin", " COLLATE utf8mb4_nopad_bin"])
def test_a_text_of_a_schema_that_nobody_told_has_a_collation(collation):
    ddl = f"CREATE TABLE people (id BIGINT, zip VARCHAR(9){collation}, age INT)"
    json = f'{{"people": {{"id": "BIGINT", "zip": "VARCHAR{collation}", "age": "INT"}}}}'
    for text in (ddl, json):
        kind = parse_schema(text, "mariadb").tables["people"]["zip"]
        assert ("COLLATE" in kind) is ("nopad_bin" not in collation)


def test_a_text_of_another_engines_schema_has_none():
    text = "CREATE TABLE people (zip VARCHAR)"
    for dialect in ("duckdb", "postgres"):
        assert parse_schema(text, dialect).tables["people"]["zip"] in {"TEXT", "VARCHAR"}
