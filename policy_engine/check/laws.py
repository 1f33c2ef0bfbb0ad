"""The laws by which ``check`` refuses a text, by code.

The mechanism's three clauses (docs/explanation/mechanism.md) are 1 the sample, 2 the recoding, 3
the suppression.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.in_words import in_text
from policy_engine.check.findings import Breach, Law

IS_SQL = Law(
    "V01",
    "the text must be one SQL statement that can be parsed in this dialect",
    "run it in the engine first: SQL that does not run cannot be certified",
)
IS_UNDERSTOOD = Law(
    "V02",
    "the SQL must be a release in a form that the program understands",
    "write a policy, and use the SQL that 'policy-engine compile' prints for it",
)
IS_SAMPLED = Law(
    "V03",
    "the source must be sampled before anything is grouped [mechanism 1]",
    "sample by a keyed hash below a bound, or by the engine's TABLESAMPLE BERNOULLI",
)
IS_BERNOULLI = Law(
    "V04",
    "the sample must keep every unit independently, with one stated probability below 1"
    " [mechanism 1]",
    "write a rate above 0 and below 1",
)
IS_GROUPED = Law(
    "V07",
    "every released column must be a function of the grouped columns [mechanism 3]",
    "group by it, or leave it out",
)
HAS_THRESHOLD = Law(
    "V09",
    "a group must be released only if its count in the sample is at least k, with k ≥ 2"
    " [mechanism 3]",
    "write HAVING COUNT(*) >= k, with AND before other conditions",
)
READS_ONE_RELATION = Law(
    "V13",
    "a release must read only one relation, each row once, and may look up columns of others by a"
    " key: it has no other join, no union and no lateral query",
    "write JOIN or LEFT JOIN of tables ON equal columns, or a policy with source.join",
)
HAS_A_FORM = Law(
    "V14",
    "a release may use only operations that its engine can do for every row [mechanism 2]",
    "write it with other operations, or write a policy",
)
STANDS_ALONE = Law(
    "V15",
    "the text must be one statement: what a second statement sets or changes is not known",
    "check each statement separately",
)
READS_A_TABLE = Law(
    "V16",
    "every relation must be a base table, or a Parquet file",
    "name the table",
)
KEEPS_THE_SECRET = Law(
    "V19",
    "the secret of the sample must not be in the text, and must not be used for anything else",
    "bind it as a parameter, or read it with (SELECT salt FROM secrets WHERE release_id = '...')",
)
SOURCE_IS_THE_POLICYS = Law(
    "V21",
    "the source must be the policy's source [certificate: every number is about it]",
    "read the file or table that the policy's source names",
)
UNIT_IS_THE_POLICYS = Law(
    "V22",
    "the sampled unit must be the policy's unit, because the unit that is sampled is protected"
    " [mechanism 1]",
    "sample by the policy's privacy_unit, and keep one row of each unit as its key rows says",
)
RATE_IS_THE_POLICYS = Law(
    "V23",
    "the sampling rate must be the policy's rate [mechanism 1]",
    "in a keyed sample write the bound ⌊rate·2⁶⁰⌋ of 2⁶⁰",
)
THRESHOLD_IS_THE_POLICYS = Law(
    "V24",
    "the threshold must be the policy's k [mechanism 3]",
    "write HAVING COUNT(*) >= k with the policy's k",
)
COLUMNS_ARE_THE_POLICYS = Law(
    "V25",
    "the released columns must be the policy's, in its order [mechanism 3]",
    "group by exactly the columns of recode, and show them and then the count",
)
RECODINGS_ARE_THE_POLICYS = Law(
    "V26",
    "every column must be recoded as the policy says, because recodings are fixed in advance"
    " [mechanism 2]",
    "write the SQL that 'policy-engine compile' prints",
)
TARGET_IS_THE_POLICYS = Law(
    "V27",
    "if the SQL makes a table, it must be that of the policy",
    "write into the table of the policy's key release.table",
)
GUARANTEE_IS_MET = Law(
    "V29",
    "the mechanism must meet the policy's guarantee [EXACT]",
    "find a k and a rate that meet it with 'policy-engine calculate'",
)
COUNTS_UNITS = Law(
    "V33",
    "each person must be one row of the rows that are counted: either the person is a key of the"
    " source, or the SQL keeps one row of each person"
    " [mechanism 1]",
    "keep one row with row_number() OVER (PARTITION BY person ORDER BY ...) = 1",
)
SPARES_ITS_SOURCE = Law(
    "V34",
    "a release must not replace its own source",
    "write into a table with another name",
)
IS_PRINTED = Law(
    "V35",
    "SQL is certified only if it equals the SQL that the program prints",
    "if certified SQL is printed, run that instead",
)
EDITION_IS_THE_POLICYS = Law(
    "V36",
    "the SQL must read the rows of the edition that it is compared with, and of no other",
    "name the edition of the SQL with --edition",
)

LAWS: dict[str, Law] = {
    each.code: each for each in list(globals().values()) if isinstance(each, Law)
}
"""Every law by its code: the reference page of the docs."""


def unmet(delta: Decimal, promised: Decimal, epsilon: Decimal) -> Breach:
    """The breach of a guarantee whose exact δ is above the promised one."""
    found = f"δ = {in_text(delta)}, promised {in_text(promised)} at ε = {in_text(epsilon)}"
    return GUARANTEE_IS_MET.broken_by(found)
