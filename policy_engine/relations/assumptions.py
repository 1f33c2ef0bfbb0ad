"""The texts of what a certificate assumes: what no proof of a text can show.

A certificate states them word for word, and ``verify`` asks for each of them: a changed word
here makes the certificates of before incomplete.
"""

from __future__ import annotations

from policy_engine.expressions.evaluation import BYTEWISE
from policy_engine.syntax.readings import READINGS

UNORDERED = "the order in which rows are stored or shown is not part of the release"
BUILT_INS = (
    "no macro or user-defined function replaces a built-in function that the text calls, and no"
    " default collation is set"
)
TIES = "a person's rows that tie in the order by which one is kept are alike in all that is read"
APART = (
    "no column by which a person's one row is chosen is a floating-point number, or a text under a"
    " collation"
)


def is_a_key(column: str, dialect: str) -> str:
    """Of what type a hashed key is, so that two that are equal have one text, and no others.

    >>> is_a_key("id", "duckdb"), is_a_key("id", "tsql")
    ('id is a whole number, a UUID, or text without a collation', 'id is a whole number or a UUID')
    """
    reading = READINGS.get(dialect)
    if reading is None or "VARCHAR" not in reading.excludes:
        return f"{column} is a whole number, a UUID, or text without a collation"
    others = {"UUID"} & set(reading.types.values())
    return f"{column} is a whole number" + (" or a UUID" if others else "")


def of_its_texts(dialect: str) -> str:
    """How the text that is grouped, joined or compared must be compared.

    >>> of_its_texts("duckdb") == BYTEWISE, of_its_texts("tsql")
    (True, 'no text of the source is grouped or compared')
    """
    reading = READINGS.get(dialect)
    never = reading is not None and "VARCHAR" in reading.excludes
    return "no text of the source is grouped or compared" if never else BYTEWISE
