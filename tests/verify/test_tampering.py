"""Named tamperings of the engine's own texts: each is refused by the law it breaks.

Each line is what somebody between the compiler and the warehouse could change. The first test
shows that the text as it was compiled is certified, so that each refusal is the change's own.
"""

import pytest
from golden import CASES, golden

from policy_engine.errors import NotCertifiable
from policy_engine.kernel.certificate import Certificate

TAMPERINGS = [
    # who is sampled, and how often
    ("a larger sample", "adult", "sample_199999999999999", "sample_399999999999999", "V23"),
    ("a smaller sample", "adult", "sample_199999999999999", "sample_099999999999999", "V23"),
    ("one unit in 2⁶⁰ more", "adult", "sample_199999999999999", "sample_19999999999999a", "V23"),
    ("nobody is left out", "adult", '"file_row_number" IN', "1 = 1 OR 1 IN", "V03 V11"),
    ("the others", "adult", '"file_row_number" IN', '"file_row_number" NOT IN', "V03 V11"),
    ("another unit", "adult", '"file_row_number" IN', '"age" IN', "V22"),
    ("rows, not persons", "visits", '"person_id" IN', '"file_row_number" IN', "V04 V30"),
    ("the engine's sample", "adult", 'WHERE\n    "file', 'WHERE random() < 0.1 OR "file', "V06"),
    ("random()", "adult", '"file_row_number" IN (', "random() < 0.1 AND 1 IN (", "V04"),
    ("a sample by blocks", "adult native", "BERNOULLI", "SYSTEM", "V04"),
    ("a seed", "adult native", "(10 PERCENT)", "(10 PERCENT) REPEATABLE (1)", "V05"),
    ("twice the rate", "adult native", "10 PERCENT", "20 PERCENT", "V23"),
    ("everybody", "adult native", "TABLESAMPLE BERNOULLI (10 PERCENT)", "", "V03"),
    # of what
    ("another file", "adult", "data/adult.parquet", "data/other.parquet", "V16"),
    ("all files", "adult", "data/adult.parquet", "data/*.parquet", "V04 V16"),
    ("a table of the file's name", "adult native", "READ_PARQUET('data/adult.parquet')",
     '"data/adult.parquet"', "V21"),
    ("a join", "adult", 'FROM "sampled"', 'FROM "sampled" CROSS JOIN "sampled" AS more', "V13"),
    ("one person", "adult", 'FROM "sampled"', 'FROM "sampled" WHERE "age" = 42', "V22"),
    ("some groups", "adult", "COUNT(*) >= 20", "COUNT(*) >= 20 AND \"sex\" = 'Female'", "V22"),
    # how many rows a person
    ("another row of the person", "visits", '"visit_date" DESC', '"visit_date" ASC', "V22"),
    ("the largest visit", "visits", '"visit_date" DESC', '"age" DESC', "V22"),
    ("two rows a person", "visits", '"policy_engine_rank" = 1', '"policy_engine_rank" <= 2', "V10"),
    ("all rows a person", "visits", '"policy_engine_rank" = 1', "1 = 1", "V10"),
    ("one row a department", "visits", 'PARTITION BY "person_id"', 'PARTITION BY "department"',
     "V10"),
    ("ranks with ties", "visits", "ROW_NUMBER()", "RANK()", "V10"),
    # the threshold
    ("k is 19", "adult", "COUNT(*) >= 20", "COUNT(*) >= 19", "V24"),
    ("k is more", "adult", "COUNT(*) >= 20", "COUNT(*) > 20", "V24"),
    ("k is 1", "adult", "COUNT(*) >= 20", "COUNT(*) >= 1", "V09"),
    ("no k", "adult", "HAVING\n  COUNT(*) >= 20", "", "V09"),
    ("k or a large age", "adult", "COUNT(*) >= 20", "COUNT(*) >= 20 OR \"age\" = '>=60'", "V09"),
    ("k of another count", "adult", "COUNT(*) >= 20", 'COUNT("age") >= 20', "V08 V09"),
    ("k of the raw groups", "adult raw first", 'SUM("policy_engine_count") >= 20',
     "COUNT(*) >= 20", "V08 V09"),
    ("k among the raw groups too", "adult raw first", '"income"\n), "recoded"',
     '"income" HAVING COUNT(*) >= 2), "recoded"', "V22 V24 V25"),
    ("raw groups chosen by their count", "adult raw first", 'FROM "counted"',
     'FROM "counted" WHERE "policy_engine_count" = 1', "V09"),
    # what is released
    ("a column more", "prefix", 'COUNT(*) AS "n"', 'COUNT(*) AS "n", 1 AS "m"', "V25"),
    ("a second count", "prefix", 'COUNT(*) AS "n"', 'COUNT(*) AS "n", COUNT(*) AS "m"', "V25"),
    ("the count first", "prefix", '"sha1",\n  COUNT(*) AS "n"', 'COUNT(*) AS "n", "sha1"', "V25"),
    ("the count under another name", "prefix", 'AS "n"', 'AS "m"', "V25"),
    ("a maximum", "prefix", 'COUNT(*) AS "n"', 'MAX("sha1") AS "n"', "V08"),
    ("finer groups than are shown", "round", '"sex",\n  "hours_per_week"\nHAVING',
     '"sex", "hours_per_week", "more"\nHAVING', "V30"),
    ("the digest itself", "prefix", 'LEFT("sha1", 3)', '"sha1"', "V26"),
    ("a longer prefix", "prefix", 'LEFT("sha1", 3)', 'LEFT("sha1", 4)', "V26"),
    ("the other end", "prefix", 'LEFT("sha1", 3)', 'RIGHT("sha1", 3)', "V26"),
    ("another column's prefix", "round", '"sex" AS "sex"', '"race" AS "sex"', "V30"),
    ("a finer step", "round", "/ 10) AS BIGINT) * 10", "/ 5) AS BIGINT) * 5", "V26"),
    ("two steps", "round", "AS BIGINT) * 10", "AS BIGINT) * 5", "V17"),
    ("rounded down", "round", "ROUND(", "FLOOR(", "V17"),
    ("another cut", "adult", '"age" < 45', '"age" < 46', "V26"),
    ("a cut between", "adult", "WHEN \"age\" < 45", "WHEN \"age\" < 31 THEN '30' WHEN \"age\" < 45",
     "V26"),
    ("a label that lies", "adult", "'[30,45)'", "'[30,60)'", "V26"),
    ("a value not mapped", "adult", "'Doctorate', ", "", "V26"),
    ("values that pass raw", "adult", "ELSE 'unknown'", 'ELSE "education"', "V26"),
    ("another column's label", "adult", 'ELSE \'other\'', 'ELSE "income"', "V26"),
    ("months", "visits", "'QUARTER'", "'MONTH'", "V26"),
    ("no guard at the ends of the calendar", "visits", "'9999-12-31'", "'99999-12-31'", "V17"),
    ("a cut named like a column", "visits", "CAST('0001-01-01' AS DATE)",
     'CAST("0001-01-01" AS DATE)', "V17 V30"),
    ("a null that becomes somebody", "adult", 'WHEN "race" IS NULL\n      THEN NULL',
     "WHEN \"race\" IS NULL THEN 'other'", "V26"),
    ("a cast that fails", "round", "TRY_CAST(", "CAST(", "V17"),
    # how it is stored
    ("counts, not rows", "rows", 'FROM "repeated"', 'FROM "released"', "V27"),
    ("each row once more", "rows", 'RANGE(0, "policy_engine_n")', 'RANGE(-1, "policy_engine_n")',
     "V02"),
    ("another order", "adult", '"age" ASC,\n  "education" ASC', '"education" ASC, "age" ASC',
     "V28"),
    ("largest first", "prefix", '"sha1" ASC', '"n" DESC, "sha1" ASC', "V28"),
    ("no order", "prefix", 'ORDER BY\n  "sha1" ASC', "", "V28"),
    ("a limit", "prefix", '"sha1" ASC', '"sha1" ASC LIMIT 100', "V12"),
    ("a table", "prefix", "WITH", "CREATE TABLE x AS WITH", "V27"),
    ("a view", "prefix", "WITH", "CREATE VIEW x AS WITH", "V31"),
    ("a second statement", "prefix", "-- policy", "DROP TABLE x;\n-- policy", "V15"),
    ("a copy that leaves", "prefix", "WITH", "COPY (SELECT 1) TO 'x'; WITH", "V15"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_as_compiled_is_certified(case):
    assert isinstance(golden(case).certify(golden(case).sql), Certificate)


@pytest.mark.parametrize(
    ("case", "before", "after", "codes"),
    [tampering[1:] for tampering in TAMPERINGS],
    ids=[tampering[0] for tampering in TAMPERINGS],
)
def test_tampered_is_refused(case, before, after, codes):
    original = golden(case)
    tampered = original.sql.replace(before, after, 1)
    assert tampered != original.sql, original.sql
    with pytest.raises(NotCertifiable) as caught:
        original.certify(tampered)
    assert sorted({finding.code for finding in caught.value.findings}) == codes.split()


def test_every_law_about_policies_is_broken_once():
    broken = {code for *_, codes in TAMPERINGS for code in codes.split()}
    assert {f"V{number}" for number in range(21, 29)} <= broken
