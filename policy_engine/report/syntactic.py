"""The page of a release without (ε, δ): amber or red, and never green."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from policy_engine.attest.attestation import SYNTACTIC_TYPE, unverified
from policy_engine.attest.facts import models_of
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.syntactic import claim_stated, read_syntactic, verify_syntactic
from policy_engine.check.described import words
from policy_engine.errors import VerificationFailed
from policy_engine.policy.syntactic import NO_GUARANTEE
from policy_engine.report.page import rendered
from policy_engine.report.view import Colour

HOLDS = "No (ε, δ): the statement holds, and it promises nothing of any person"
FAILS = "No (ε, δ), and this statement does not hold: rely on nothing on this page"


@dataclass(frozen=True)
class SyntacticBand:
    """The verdict, and beside it what such a release never has."""

    colour: Colour
    verdict: str
    first: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class SyntacticView:
    """All that is said of such a release; ``columns`` are names with their recodes in words."""

    band: SyntacticBand
    name: str
    date: str
    release: str
    key_id: str
    statement_sha256: str
    purpose: str | None
    attacks: tuple[tuple[str, str], ...]
    models: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    unit: str
    policy_digest: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values; first that there is no (ε, δ)."""
        return {"guarantee": self.band.first, "epsilon": None, "delta": None, **asdict(self)}

    def page(self) -> str:
        """The HTML text of the page."""
        return rendered("syntactic.html.j2", self)


def syntactic_view(text: str, keys: TrustedKeys, release: Path | None) -> SyntacticView:
    """What is said of the statement in ``text``.

    Raises:
        VerificationFailed: it is no such statement, whoever signed it.
        FileError: the release cannot be read.
    """
    stated = unverified(text, SYNTACTIC_TYPE)
    facts = read_syntactic(stated)
    checked, unchecked, reasons = tuple[str, ...](), tuple[str, ...](), tuple[str, ...]()
    try:
        found = verify_syntactic(text, keys, release)
        checked, unchecked = found.checked, found.unchecked
    except VerificationFailed as error:
        reasons = error.reasons
    k, models = facts["k"], models_of(facts)
    return SyntacticView(
        band=SyntacticBand(
            "red" if reasons else "amber", FAILS if reasons else HOLDS, NO_GUARANTEE, reasons
        ),
        name=facts["policy"]["name"],
        date=facts["time"],
        release=stated.subject_name,
        key_id="" if reasons else checked[0].removeprefix("signed by "),
        statement_sha256=hashlib.sha256(text.encode()).hexdigest(),
        purpose=facts.get("purpose"),
        attacks=tuple((each["attack"], each["why"]) for each in facts["still_works"]),
        models=(*((f"{k}-anonymity",) if k > 1 else ()), *map(str, models)),
        columns=tuple((shown.name, words(shown)) for shown in claim_stated(facts).columns),
        unit=facts["unit"],
        policy_digest=facts["policy"]["digest"],
        checked=checked,
        unchecked=unchecked,
    )
