"""The texts of what a certificate assumes: what no text can show, and ``verify`` asks for.

A certificate states them word for word: a changed word here makes the certificates of before
incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from policy_engine.engines import ENGINES
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.estimates import estimates
from policy_engine.kernel.mechanisms import Native, Noisy, Pure, Randomised
from policy_engine.kernel.sources import Drawn, Files, Groups, People, Relation

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
STAYS = " does not change while it is read"
_NOISE = "SHA-256 of a secret of 128 bits and the number of each group"
_ANSWERS = "SHA-256 of a secret of 128 bits and the number of each column and row, or tuple"
_GROUPS = "; each unit counts in {} of its groups at most, drawn by SHA-256 of the secret and both"
_ANY_ROW = "; of each unit's rows one is kept, drawn by SHA-256 of the secret, the unit and the row"


def unit_of(claim: Claim) -> str:
    """The name of who is protected: the column that tells people apart, or ``row``."""
    return claim.unit.key.name if isinstance(claim.unit, People) else ROW_UNIT


def source_of(claim: Claim) -> str:
    """The source's path, or the parts of its name."""
    return claim.source.path if isinstance(claim.source, Files) else ".".join(claim.source.parts)


def method_of(claim: Claim, engine: str) -> Method:
    """How the sample is drawn: before the text runs, by the text under a secret, or by the engine.

    A secret that waits in a relation is read by the text on every engine.
    """
    if isinstance(claim.law, Native):
        return "native"
    if isinstance(claim.law, Noisy | Pure):
        return "keyed"
    return "drawn" if ENGINES[engine].draws and claim.law.secret is None else "keyed"


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


def randomness_of(claim: Claim, engine: str) -> str:
    """What is drawn for a release, and how, in the words of a certificate."""
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(claim.law, Pure):
        drawn = _ANSWERS + (_ANY_ROW if isinstance(order, Drawn) else "")
        return "; ".join((drawn, *estimates(claim)))
    if not isinstance(claim.law, Noisy):
        draws = isinstance(order, Drawn)
        return randomness(method_of(claim, engine), unit_of(claim), draws_a_row=draws)
    if isinstance(order, Groups):
        return _NOISE + _GROUPS.format(order.most)
    return _NOISE + (_ANY_ROW if isinstance(order, Drawn) else "")


def randomness(method: str, unit: str, *, draws_a_row: bool = False) -> str:
    """What decides who is in a sample, and with which row, in the words of a certificate."""
    return _randomness(method, unit) + (_ANY_ROW if draws_a_row else "")


def _randomness(method: str, unit: str) -> str:
    if method == "native":
        return "TABLESAMPLE BERNOULLI of the engine"
    if method == "random":
        return "random() of the engine"
    if method == "drawn" and unit == ROW_UNIT:
        return "AES-128 of each unit under a secret of 128 bits from the operating system"
    return "SHA-256 of a secret of 128 bits and each unit"


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


def is_rowwise(source: str) -> str:
    """What a view must be whose text was not proved.

    >>> is_rowwise("seen")
    'each row of the view seen comes from the rows of one unit, and fails for none'
    """
    return f"each row of the view {source} comes from the rows of one unit, and fails for none"


def is_readable(source: str, *, is_csv: bool = False) -> str:
    """What must hold of a file whoever is in it, so that reading it fails for nobody.

    >>> is_readable("people.csv", is_csv=True)
    'people.csv is well-formed CSV whoever is in it'
    """
    if is_csv:
        return f"{source} is well-formed CSV whoever is in it"
    return f"every text in {source} is UTF-8 whoever is in it"


def of_its_population(source: str, sampled_at: Decimal | str) -> str:
    """That the source is itself a sample, at the rate ``sampled_at``."""
    return (
        f"{source} is a Bernoulli sample of its population, drawn in secret at the rate"
        f" {sampled_at}"
    )


def assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal | str
) -> tuple[str, ...]:
    """What a claim rests on, in an engine; ``source`` is the source's name in these sentences."""
    return tuple(dict.fromkeys(_assumptions(claim, engine, source, sampled_at)))


def _assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal | str
) -> Iterator[str]:
    unit = unit_of(claim)
    yield from of_its_sample(method_of(claim, engine), unit, engine)
    if not isinstance(claim.law, Native) and claim.law.secret is not None:
        yield WAITS
    if isinstance(claim.unit, People) and claim.unit.order is None:
        yield is_unique(unit, source)
    if isinstance(claim.source, Relation) and claim.source.is_rowwise:
        yield is_rowwise(source)
    if str(sampled_at) != "1":
        yield of_its_population(source, sampled_at)
    yield is_a_person(unit, source)
    yield source + STAYS
    if isinstance(claim.law, Randomised):
        yield f"how many people are in {source} is public"
    yield from ALWAYS_NOISY if isinstance(claim.law, Noisy | Pure) else ALWAYS
    if isinstance(claim.source, Files):
        yield is_readable(source, is_csv=claim.source.kind == "csv")
