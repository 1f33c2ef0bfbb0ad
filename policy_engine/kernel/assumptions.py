"""What a claim rests on, and no text can show: codes with what they are said of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from policy_engine.engines import ENGINES
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import (
    Listed,
    Native,
    Noisy,
    NoisyPart,
    Pure,
    Randomised,
    WholeClasses,
)
from policy_engine.kernel.sources import Files, People, Relation

ROW_UNIT = "row"
"""The privacy unit where one row is one person."""

Method = Literal["drawn", "keyed", "native"]

OF_ENGINE = "engine_"
"""What begins the code of an engine's own assumption, which its table words."""


@dataclass(frozen=True)
class Assumption:
    """Something that a guarantee rests on: a code, and what it is said of.

    Its words are in ``kernel.sentences``. What an engine assumes is ``engine_…``, by the name that
    its table gives it.
    """

    code: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, code: str, **parameters: str) -> Assumption:
        """A code with what it is said of.

        >>> Assumption.of("key_unique", unit="id", source="ids.csv").code
        'key_unique'
        """
        return cls(code, tuple(sorted(parameters.items())))


def unit_of(claim: Claim) -> str:
    """The name of who is protected: the column that tells people apart, or ``row``."""
    return claim.unit.key.name if isinstance(claim.unit, People) else ROW_UNIT


def method_of(claim: Claim, engine: str) -> Method:
    """How the sample is drawn: before the text runs, by the text under a secret, or by the engine.

    A secret that waits in a relation is read by the text on every engine.
    """
    if isinstance(claim.law, Native):
        return "native"
    if isinstance(claim.law, Noisy | Pure):
        return "keyed"
    return "drawn" if ENGINES[engine].draws and claim.law.secret is None else "keyed"


def assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal
) -> tuple[Assumption, ...]:
    """What a claim rests on, in an engine; ``source`` is the source's name in its sentences."""
    return tuple(dict.fromkeys(_assumptions(claim, engine, source, sampled_at)))


def _assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal
) -> Iterator[Assumption]:
    of, unit = Assumption.of, unit_of(claim)
    is_drawn = not isinstance(claim.law, WholeClasses)
    if is_drawn:
        yield from of_sample(method_of(claim, engine), unit, engine)
    if not isinstance(claim.law, Native) and claim.law.secret is not None:
        yield of("secret_waits")
    if isinstance(claim.unit, People) and claim.unit.order is None:
        yield of("key_unique", unit=unit, source=source)
    if isinstance(claim.source, Relation) and claim.source.is_rowwise:
        yield of("view_rowwise", source=source)
    if sampled_at != 1:
        yield of("source_sampled", source=source, rate=str(sampled_at))
    yield is_a_person(unit, source)
    yield of("source_stays", source=source)
    if isinstance(claim.law, Listed):
        yield of("keys_listed")
    if isinstance(claim.law, Randomised):
        yield of("size_public", source=source)
    if isinstance(claim.law, NoisyPart):
        yield of(
            "part_drawn",
            number=str(claim.law.number),
            parts=str(claim.law.parts),
            source=source,
        )
        if claim.law.key_stays:
            yield of("stays", unit=unit, source=source)
    if is_drawn:
        is_noise = isinstance(claim.law, Noisy | Pure)
        yield of("noise_alone" if is_noise else "sample_alone")
        yield of("limits_blind" if is_noise else "recodes_blind")
    if isinstance(claim.source, Files):
        yield of("csv_formed" if claim.source.kind == "csv" else "texts_utf8", source=source)


def is_a_person(unit: str, source: str) -> Assumption:
    """Who is one person."""
    if unit == ROW_UNIT:
        return Assumption.of("row_is_person", source=source)
    return Assumption.of("key_is_person", unit=unit)


def of_sample(method: Method, unit: str, engine: str) -> tuple[Assumption, ...]:
    """What a way of sampling assumes in an engine (sampling.md), the most important first.

    >>> [each.code for each in of_sample("keyed", "id", "postgres")]
    ['secret_fresh', 'engine_secret']
    """
    if method == "drawn":
        return (Assumption.of("sample_drawn", cipher="AES-128" if unit == ROW_UNIT else "SHA-256"),)
    own = [name for name in ENGINES[engine].assumes if (name == "native") == (method == "native")]
    of_engine = tuple(Assumption.of(f"{OF_ENGINE}{name}", engine=engine) for name in own)
    return of_engine if method == "native" else (Assumption.of("secret_fresh"), *of_engine)
