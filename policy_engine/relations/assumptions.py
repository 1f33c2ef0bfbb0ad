"""The texts of what a certificate assumes: what no proof of a text can show.

A certificate states them word for word, and ``verify`` asks for each of them: a changed word
here makes the certificates of before incomplete.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.policy.models import CSV_FILES, PARQUET_FILES
from policy_engine.relations.shape import ROW_UNIT

UNORDERED = "the order in which rows are stored or shown is not part of the release"
BUILT_INS = (
    "no macro or user-defined function replaces a built-in function that the text calls, and no"
    " default collation is set"
)
TIES = "a person's rows that tie in the order by which one is kept are alike in all that is read"
_ENGINE = "the engine is DuckDB 2.0 or later: its random numbers are independent and uniform"
METHODS = {
    "drawn": "the sample was drawn by AES-128 under a fresh 128-bit secret that stays unknown",
    "keyed": "the secret has at least 128 bits, is fresh for this release and stays unknown",
    "native": _ENGINE,
    "random": _ENGINE,
}
"""What each way of sampling assumes (sampling.md)."""

ALWAYS = (
    "nothing else that depends on this sample leaves: it was drawn for this release alone",
    "the policy's recodings were chosen without looking at the source",
)
STAYS = " does not change while it is read"


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


def of_its_file(source: str) -> tuple[str, ...]:
    """What must hold of a file whoever is in it, so that reading it fails for nobody.

    >>> of_its_file("people.csv")
    ('people.csv is well-formed CSV whoever is in it',)
    """
    if source.lower().endswith(CSV_FILES):
        return (f"{source} is well-formed CSV whoever is in it",)
    if source.lower().endswith(PARQUET_FILES):
        return (f"every text in {source} is UTF-8 whoever is in it",)
    return ()


def of_its_population(source: str, sampled_at: Decimal | str) -> str:
    """That the source is itself a sample, at the rate ``sampled_at``."""
    return (
        f"{source} is a Bernoulli sample of its population, drawn in secret at the rate"
        f" {sampled_at}"
    )
