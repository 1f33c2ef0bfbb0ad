"""The texts of what a certificate assumes: what no text can show, and ``verify`` asks for.

A certificate states them word for word: a changed word here makes the certificates of before
incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from policy_engine.engines import ENGINES
from policy_engine.kernel import sentences as said
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Listed, Native, Noisy, NoisyPart, Pure, Randomised
from policy_engine.kernel.sources import Files, People, Relation


def unit_of(claim: Claim) -> str:
    """The name of who is protected: the column that tells people apart, or ``row``."""
    return claim.unit.key.name if isinstance(claim.unit, People) else said.ROW_UNIT


def method_of(claim: Claim, engine: str) -> said.Method:
    """How the sample is drawn: before the text runs, by the text under a secret, or by the engine.

    A secret that waits in a relation is read by the text on every engine.
    """
    if isinstance(claim.law, Native):
        return "native"
    if isinstance(claim.law, Noisy | Pure):
        return "keyed"
    return "drawn" if ENGINES[engine].draws and claim.law.secret is None else "keyed"


def assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal | str
) -> tuple[str, ...]:
    """What a claim rests on, in an engine; ``source`` is the source's name in these sentences."""
    return tuple(dict.fromkeys(_assumptions(claim, engine, source, sampled_at)))


def _assumptions(
    claim: Claim, engine: str, source: str, sampled_at: Decimal | str
) -> Iterator[str]:
    unit = unit_of(claim)
    yield from said.of_its_sample(method_of(claim, engine), unit, engine)
    if not isinstance(claim.law, Native) and claim.law.secret is not None:
        yield said.WAITS
    if isinstance(claim.unit, People) and claim.unit.order is None:
        yield said.is_unique(unit, source)
    if isinstance(claim.source, Relation) and claim.source.is_rowwise:
        yield f"each row of the view {source} comes from the rows of one unit, and fails for none"
    yield from said.of_its_source(unit, source, sampled_at)
    if isinstance(claim.law, Listed):
        yield said.LISTED
    if isinstance(claim.law, Randomised):
        yield f"how many people are in {source} is public"
    if isinstance(claim.law, NoisyPart):
        yield (
            f"part {claim.law.number} of {claim.law.parts} holds the units of {source} that"
            " SHA-256 of a second secret of 128 bits, the same for all of its parts, and their key"
            " put there"
        )
        if claim.law.key_stays:
            yield said.key_stays(unit, source)
    yield from said.ALWAYS_NOISY if isinstance(claim.law, Noisy | Pure) else said.ALWAYS
    if isinstance(claim.source, Files):
        yield said.is_readable(source, is_csv=claim.source.kind == "csv")
