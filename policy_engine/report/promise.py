"""The promise of a certificate: odds before definitions, and ε never without δ and unit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from math import ceil, log10

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.odds import guessed_right, odds_words
from policy_engine.attest.facts import Facts

_LEAST, _MOST = Decimal("0.05"), Decimal(50)
"""The ends of the scale; what lies beyond them stands at its ends."""


@dataclass(frozen=True)
class Deployment:
    """A published ε of others; ``at`` is its place on the scale, from 0 to 1."""

    epsilon: str
    delta: str | None
    what: str
    unit: str
    at: float


@dataclass(frozen=True)
class Promise:
    """What is promised to one person.

    ``sentence`` has the odds, rounded up; ``right`` of 100 guesses are right at most, a whole
    number for a picture. ``at`` is the place of ε on the scale of ``published``.
    """

    sentence: str
    right: int
    epsilon: str
    delta: str
    unit: str
    numbers: str
    neighbours: str
    justification: str | None
    at: float
    published: tuple[Deployment, ...]


def promise(facts: Facts, justification: str | None = None) -> Promise:
    """The promise of a certificate, and why these numbers, where somebody says so.

    >>> found = promise({"epsilon": "1", "delta": "0.000001", "unit": "row",
    ...                  "neighbours": "add_remove"})
    >>> found.sentence
    'Who must guess at 50:50 whether a person is in the source is right at most 73.2 times in 100.'
    >>> found.right, found.numbers
    (74, 'ε = 1, δ = 0.000001, unit: row')
    """
    epsilon, delta = Decimal(facts["epsilon"]), Decimal(facts["delta"])
    said = odds_words(epsilon, delta, facts["neighbours"])
    return Promise(
        sentence=f"{said[0].upper()}{said[1:]}.",
        right=ceil(guessed_right(epsilon, delta) * 100),
        epsilon=in_text(epsilon),
        delta=in_text(delta),
        unit=facts["unit"],
        numbers=f"ε = {in_text(epsilon)}, δ = {in_text(delta)}, unit: {facts['unit']}",
        neighbours=_NOTIONS[facts["neighbours"] == REPLACE_ONE],
        justification=justification,
        at=place(epsilon),
        published=published(),
    )


_NOTIONS = (
    "two sources are compared that differ by one person more or less (add_remove)",
    "two sources are compared in which one person is replaced by another (replace_one)",
)


def place(epsilon: Decimal) -> float:
    """Where an ε stands on a logarithmic scale from 0.05 to 50, as a share of its length.

    >>> place(Decimal("0.05")), place(Decimal(5000)), round(place(Decimal(1)), 2)
    (0.0, 1.0, 0.43)
    """
    held = min(max(epsilon, _LEAST), _MOST)
    return log10(held / _LEAST) / log10(_MOST / _LEAST)


def published() -> tuple[Deployment, ...]:
    """Published deployments by their ε: units and δ differ, so that this is no ranking.

    >>> published()[0].what
    'Wikimedia, Russian editors'
    """
    text = files("policy_engine.report").joinpath("pages", "published.json").read_text("utf-8")
    return tuple(
        Deployment(**each, at=place(Decimal(each["epsilon"]))) for each in json.loads(text)
    )
