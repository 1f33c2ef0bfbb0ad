"""The texts of what a certificate assumes: what no proof of a text can show.

A certificate states them word for word, and ``verify`` asks for each of them: a changed word
here makes the certificates of before incomplete.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.expressions.evaluation import BYTEWISE
from policy_engine.policy.models import CSV_FILES, PARQUET_FILES
from policy_engine.relations.shape import ROW_UNIT
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
_ENGINE = "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform"
_DRAWN = "the sample was drawn by {} under a fresh 128-bit secret that stays unknown"
_KEYED = "the secret has at least 128 bits, is fresh for this release and stays unknown"
WAITS = "nobody who may see the release can read the secrets relation while the secret is in it"


def of_its_sample(method: str, unit: str, dialect: str) -> tuple[str, ...]:
    """What a way of sampling assumes in an engine (sampling.md), the most important first.

    >>> of_its_sample("drawn", "id", "duckdb")
    ('the sample was drawn by SHA-256 under a fresh 128-bit secret that stays unknown',)
    """
    reading = READINGS.get(dialect)
    if method == "drawn":
        return (_DRAWN.format("AES-128" if unit == ROW_UNIT else "SHA-256"),)
    if method == "keyed":
        return (_KEYED, *(reading.assumptions if reading else ()))
    return (_ENGINE,) if reading is None or reading.native is None else (reading.native,)


def randomness(method: str, unit: str) -> str:
    """What decides who is in a sample, in the words of a certificate."""
    if method == "native":
        return "TABLESAMPLE BERNOULLI of the engine"
    if method == "random":
        return "random() of the engine"
    if method == "drawn" and unit == ROW_UNIT:
        return "AES-128 of each unit under a secret of 128 bits from the operating system"
    return "SHA-256 of a secret of 128 bits and each unit"


ALWAYS = (
    "nothing else that depends on this sample leaves: it was drawn for this release alone",
    "the policy's recodings were chosen without looking at the source",
)
STAYS = " does not change while it is read"


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


def is_a_person(unit: str, source: str) -> str:
    """Who is one person.

    >>> is_a_person("row", "people"), is_a_person("id", "people")
    ('one row of people is one person', 'id identifies one person')
    """
    return (
        f"one row of {source} is one person"
        if unit == ROW_UNIT
        else f"{unit} identifies one person"
    )


def of_its_file(source: str, *, is_parquet: bool = False) -> tuple[str, ...]:
    """What must hold of a file whoever is in it, so that reading it fails for nobody.

    >>> of_its_file("people.csv")
    ('people.csv is well-formed CSV whoever is in it',)
    """
    if source.lower().endswith(CSV_FILES):
        return (f"{source} is well-formed CSV whoever is in it",)
    if is_parquet or source.lower().endswith(PARQUET_FILES):
        return (f"every text in {source} is UTF-8 whoever is in it",)
    return ()


def of_its_population(source: str, sampled_at: Decimal | str) -> str:
    """That the source is itself a sample, at the rate ``sampled_at``."""
    return (
        f"{source} is a Bernoulli sample of its population, drawn in secret at the rate"
        f" {sampled_at}"
    )
