"""The texts of what a certificate assumes: what no proof of a text can show.

A certificate states them word for word, and ``verify`` asks for each of them: a changed word
here makes the certificates of before incomplete.
"""

from __future__ import annotations

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


def is_a_key(column: str) -> str:
    """Of what type a hashed key is, so that two that are equal have one text, and no others.

    >>> is_a_key("id")
    'id is a whole number, a UUID, or text without a collation'
    """
    return f"{column} is a whole number, a UUID, or text without a collation"
