"""The laws by which ``check`` refuses a text, by code.

The mechanism's three clauses (theory.md) are 1 the sample, 2 the recoding, 3 the suppression.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.in_words import in_text
from policy_engine.check.findings import Breach, Law

IS_SQL = Law(
    "V01",
    "the text must be one SQL statement that this dialect can parse",
    "run it in the engine first: only what runs can be certified",
)
IS_UNDERSTOOD = Law(
    "V02",
    "the text must be a release in a form that check understands",
    "write a policy, and take the SQL that 'policy-engine compile' prints of it",
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
    "groups must be released only where their count in the sample is at least k, k ≥ 2"
    " [mechanism 3]",
    "write HAVING COUNT(*) >= k, with AND before other conditions",
)
READS_ONE_RELATION = Law(
    "V13",
    "a release reads each row of one relation once, and looks up columns of others by a key: no"
    " other join, no union or lateral query",
    "write JOIN or LEFT JOIN of tables ON columns that are equal, or a policy with source.join",
)
HAS_A_FORM = Law(
    "V14",
    "a release is made of what its engine can do for every row [mechanism 2]",
    "write it in another form, or write a policy",
)
STANDS_ALONE = Law(
    "V15",
    "one statement only: what another one sets or changes is not known",
    "check each statement by itself",
)
READS_A_TABLE = Law(
    "V16",
    "every relation must be a base table, or a Parquet file",
    "name the table",
)
KEEPS_THE_SECRET = Law(
    "V19",
    "the sample's secret must not stand in the text, nor be used for anything else",
    "bind it as a parameter, or read it with (SELECT salt FROM secrets WHERE release_id = '...')",
)
SOURCE_IS_THE_POLICYS = Law(
    "V21",
    "the source must be the policy's source [certificate: every number speaks of it]",
    "read what source.file or source.table names",
)
UNIT_IS_THE_POLICYS = Law(
    "V22",
    "the sampled unit must be the policy's unit: who is sampled is who is protected [mechanism 1]",
    "sample by privacy_unit, and keep one row of it as its rows say",
)
RATE_IS_THE_POLICYS = Law(
    "V23",
    "the sampling rate must be the policy's rate [mechanism 1]",
    "a keyed sample keeps ⌊rate·2⁶⁰⌋ of 2⁶⁰",
)
THRESHOLD_IS_THE_POLICYS = Law(
    "V24",
    "the threshold must be the policy's k [mechanism 3]",
    "write HAVING COUNT(*) >= k with the policy's k",
)
COLUMNS_ARE_THE_POLICYS = Law(
    "V25",
    "the released columns must be the policy's, in its order [mechanism 3]",
    "group by and show exactly the columns of recode, then the count",
)
RECODINGS_ARE_THE_POLICYS = Law(
    "V26",
    "every column must be recoded as the policy says: g was fixed in advance [mechanism 2]",
    "write what 'policy-engine compile' writes",
)
TARGET_IS_THE_POLICYS = Law(
    "V27",
    "the target, where the text makes a table, must be the policy's",
    "write to release.table",
)
GUARANTEE_IS_MET = Law(
    "V29",
    "the mechanism must meet the policy's guarantee [EXACT]",
    "find a k and a rate that do with 'policy-engine calculate'",
)
COUNTS_UNITS = Law(
    "V33",
    "a person must be one row of what is counted: a key of the source, or one row kept of each"
    " [mechanism 1]",
    "keep one with row_number() OVER (PARTITION BY person ORDER BY ...) = 1",
)
SPARES_ITS_SOURCE = Law(
    "V34",
    "a release must not replace what it is made from",
    "write to a table of another name",
)
IS_PRINTED = Law(
    "V35",
    "a text is certified only if it is what the kernel prints",
    "run the text that is printed instead, if there is one",
)

LAWS: dict[str, Law] = {
    each.code: each for each in list(globals().values()) if isinstance(each, Law)
}
"""Every law by its code: the reference page of the docs."""


def unmet(delta: Decimal, promised: Decimal, epsilon: Decimal) -> Breach:
    """The breach of a guarantee whose exact δ is above the promised one."""
    found = f"δ = {in_text(delta)}, promised {in_text(promised)} at ε = {in_text(epsilon)}"
    return GUARANTEE_IS_MET.broken_by(found)
