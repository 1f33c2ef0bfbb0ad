"""What a claim rests on, and no text can show: codes with what they are said of."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from policy_engine.engines import ENGINES
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.sources import Files, JoinedRelation, People, Relation

ROW_UNIT = "row"
"""The privacy unit where one row is one person."""

Method = Literal["drawn", "keyed", "native"]

OF_ENGINE = "engine_"
"""What begins the code of an engine's own assumption, which its table words."""


def unit_of(claim: Claim) -> str:
    """The name of who is protected: the column that tells people apart, or ``row``."""
    return claim.unit.key.name if isinstance(claim.unit, People) else ROW_UNIT


def method_of(claim: Claim, engine: str) -> Method:
    """How the sample is drawn: before the text runs, by the text under a secret, or by the engine.

    A secret that waits in a relation is read by the text on every engine.
    """
    law = claim.law
    waits = law.secret is not None
    if law.is_sample and law.method == "keyed" and ENGINES[engine].draws and not waits:
        return "drawn"
    return law.method


def assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal, is_asked: bool = False
) -> tuple[Assumption, ...]:
    """What a claim rests on, in an engine; ``source`` is the source's name in its sentences.

    Where somebody asked for it by hand, ``is_asked``, it rests on what moved them, too.
    """
    return tuple(dict.fromkeys(_assumptions(claim, engine, source, sampled_at, is_asked)))


def _assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal, is_asked: bool
) -> Iterator[Assumption]:
    of, unit = Assumption.of, unit_of(claim)
    if claim.law.promises:
        yield from of_sample(method_of(claim, engine), unit, engine)
    if claim.law.secret is not None:
        yield of("secret_waits")
    if isinstance(claim.unit, People) and claim.unit.order is None:
        yield of("key_unique", unit=unit, source=source)
    if isinstance(claim.source, Relation) and claim.source.is_rowwise:
        yield of("view_rowwise", source=source)
    for each in claim.joins:
        yield from _of_joined(each, claim, unit, source)
    if sampled_at != 1:
        yield of("source_sampled", source=source, rate=str(sampled_at))
    yield _is_a_person(unit, source)
    if package := ENGINES[engine].package:
        yield of("forms_of_package", engine=ENGINES[engine].title, package=package)
    yield of("source_stays", source=source)
    if claim.period is not None and claim.period.column is not None and unit == ROW_UNIT:
        yield of("period_stays", source=source, column=claim.period.column.name)
    yield from claim.law.assumes(unit, source)
    yield from map(of, claim.law.rests_on)
    for where, name in ((claim.source, source), *((j.source, j.source.name) for j in claim.joins)):
        if isinstance(where, Files):
            yield of("csv_formed" if where.kind == "csv" else "texts_utf8", source=name)
    if is_asked:
        yield of("asked_blind")


def _of_joined(
    joined: JoinedRelation, claim: Claim, unit: str, source: str
) -> Iterator[Assumption]:
    """What rests on a relation whose columns stand beside each row."""
    name = joined.source.name
    if joined.is_public:
        yield Assumption.of("joined_public", relation=name, source=source)
    else:
        yield Assumption.of("joined_own", relation=name, source=source, unit=unit)
        if claim.period is not None:
            yield Assumption.of("joined_every_period", relation=name)
    if isinstance(joined.source, Relation) and joined.source.is_rowwise:
        yield Assumption.of("view_rowwise", source=name)
    yield Assumption.of("source_stays", source=name)


def _is_a_person(unit: str, source: str) -> Assumption:
    """Who is one person."""
    if unit == ROW_UNIT:
        return Assumption.of("row_is_person", source=source)
    return Assumption.of("key_is_person", unit=unit)


def of_sample(method: Method, unit: str, engine: str) -> tuple[Assumption, ...]:
    """What a way of sampling assumes in an engine, the most important first.

    docs/reference/warehouses.md lists it for each engine.

    >>> [each.code for each in of_sample("keyed", "id", "postgres")]
    ['secret_fresh', 'engine_secret']
    """
    if method == "drawn":
        return (Assumption.of("sample_drawn", cipher="AES-128" if unit == ROW_UNIT else "SHA-256"),)
    own = [name for name in ENGINES[engine].assumes if (name == "native") == (method == "native")]
    of_engine = tuple(Assumption.of(f"{OF_ENGINE}{name}", engine=engine) for name in own)
    return of_engine if method == "native" else (Assumption.of("secret_fresh"), *of_engine)
