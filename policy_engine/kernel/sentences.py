"""What certificates say of a sample, a source and who is one person: sentences, of no claim.

A certificate states them word for word: a changed word here makes the certificates of before
incomplete.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from policy_engine.engines import ENGINES

ROW_UNIT = "row"
"""The privacy unit where one row is one person."""

Method = Literal["drawn", "keyed", "native"]

_DRAWN = "the sample was drawn by {} under a fresh 128-bit secret that stays unknown"
_KEYED = "the secret has at least 128 bits, is fresh for this release and stays unknown"
WAITS = "nobody who may see the release can read the secrets relation while the secret is in it"
ALWAYS = (
    "nothing else that depends on this sample leaves: it was drawn for this release alone",
    "the policy's recodings were chosen without looking at the source",
)
ALWAYS_NOISY = (
    "nothing else that depends on this noise leaves: it was drawn for this release alone",
    "the policy's recodings, noise and limits were chosen without looking at the source",
)
LISTED = "the policy's keys are public: they were listed without looking at the source"
STAYS = " does not change while it is read"


def of_its_sample(method: str, unit: str, engine: str) -> tuple[str, ...]:
    """What a way of sampling assumes in an engine (sampling.md), the most important first.

    >>> of_its_sample("drawn", "id", "duckdb")
    ('the sample was drawn by SHA-256 under a fresh 128-bit secret that stays unknown',)
    """
    if method == "drawn":
        return (_DRAWN.format("AES-128" if unit == ROW_UNIT else "SHA-256"),)
    if method == "keyed":
        return (_KEYED, *ENGINES[engine].assumes)
    return (ENGINES[engine].native or ENGINES["duckdb"].native,)


def is_a_person(unit: str, source: str) -> str:
    """Who is one person.

    >>> is_a_person("row", "people"), is_a_person("id", "people")
    ('one row of people is one person', 'id identifies one person')
    """
    if unit == ROW_UNIT:
        return f"one row of {source} is one person"
    return f"{unit} identifies one person"


def is_unique(unit: str, source: str) -> str:
    """That no two rows are of one unit.

    >>> is_unique("id", "ids.csv")
    'id is unique in ids.csv'
    """
    return f"{unit} is unique in {source}"


def key_stays(unit: str, source: str) -> str:
    """What charges a maximum over people rests on; it begins with its code.

    >>> key_stays("id", "people")
    'stays: a person has the same id whenever people is looked at, and nobody else ever has it'
    """
    always = f"a person has the same {unit} whenever {source} is looked at"
    return f"stays: {always}, and nobody else ever has it"


def is_readable(source: str, *, is_csv: bool = False) -> str:
    """What must hold of a file whoever is in it, so that reading it fails for nobody.

    >>> is_readable("people.csv", is_csv=True)
    'people.csv is well-formed CSV whoever is in it'
    """
    if is_csv:
        return f"{source} is well-formed CSV whoever is in it"
    return f"every text in {source} is UTF-8 whoever is in it"


def of_its_source(unit: str, source: str, sampled_at: Decimal | str) -> tuple[str, ...]:
    """That the source may itself be a sample, who is one person in it, and that it stays.

    >>> of_its_source("id", "people", "1")
    ('id identifies one person', 'people does not change while it is read')
    """
    drawn = f"a Bernoulli sample of its population, drawn in secret at the rate {sampled_at}"
    sampled = () if str(sampled_at) == "1" else (f"{source} is {drawn}",)
    return (*sampled, is_a_person(unit, source), source + STAYS)
