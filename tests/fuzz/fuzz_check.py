"""The fuzz target of ``check``: a text in, everything that went wrong out.

Four oracles: no exception but our own; a shape or findings, never both; CPU time in proportion
to the text; and what is accepted holds on real tables.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import fuzz_texts  # noqa: F401  # puts the corpus on the path
from corpus import SCHEMA
from fuzz_oracle import judge
from fuzz_world import world

from policy_engine.errors import PolicyEngineError
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import Proof, prove

WORLDS = 4
UNITS = 3
SCHEMAS: tuple[Schema | None, ...] = (None, SCHEMA)


@dataclass
class Outcome:
    """What came of one text: ``failures`` are (oracle, what was found)."""

    accepted: int = 0
    checked: int = 0
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)


def allowed(text: str) -> float:
    """Seconds that a text may take: one a kilobyte, and at least one."""
    return max(1.0, len(text.encode(errors="replace")) / 1024)


def attempt(text: str, schema: Schema | None, outcome: Outcome) -> Proof | None:
    """The proof of ``text``; None, and a failure, where there is none to be had."""
    start = time.process_time()
    try:
        proof = prove(text, schema)
    except PolicyEngineError:
        return None
    except Exception as error:
        outcome.failures.append(("crash", f"{type(error).__name__}: {error}"))
        return None
    finally:
        outcome.seconds = max(outcome.seconds, time.process_time() - start)
    if (proof.shape is None) != bool(proof.findings):
        outcome.failures.append(("crash", "neither a shape nor findings, or both"))
    return proof


def check(text: str, number: int, *, timed: bool = False) -> Outcome:
    """All oracles on ``text``; ``number`` chooses the world, the secret and the units."""
    outcome = Outcome()
    for schema in SCHEMAS:
        proof = attempt(text, schema, outcome)
        if proof is None or proof.shape is None:
            continue
        outcome.accepted += 1
        where = world(number % WORLDS, benign=schema is None)
        verdict = judge(text, proof, where, f"secret {number}", UNITS)
        outcome.checked += verdict.checked
        if verdict.skipped:
            outcome.skipped.append(verdict.skipped)
        if verdict.wrong:
            outcome.failures.append(("unsound", verdict.wrong))
    if timed and outcome.seconds > allowed(text):
        outcome.failures.append(("slow", f"{outcome.seconds:.1f} s for {len(text)} letters"))
    return outcome
