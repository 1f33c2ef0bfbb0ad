"""What is signed of a release: its certificate, or the statement of one without (ε, δ)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

from policy_engine.attest.attestation import SYNTACTIC_MECHANISM
from policy_engine.attest.facts import PREDICATE_VERSION
from policy_engine.attest.syntactic import VERSION, Uncertified
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import to_json
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.printing import templates
from policy_engine.kernel.words import randomness_of
from policy_engine.policy.syntactic import NO_GUARANTEE, still_works

Vouched = Certificate | Uncertified
"""What stands beside a release: a certificate, or the statement of one without (ε, δ)."""


def predicate_of(certificate: Vouched) -> dict[str, Any]:
    """It as the predicate of an in-toto Statement: a certificate's is of version 2."""
    claim, terms = certificate.claim, certificate.terms
    if isinstance(certificate, Uncertified):
        own = _without_numbers(certificate)
    else:
        own = _numbers(certificate)
    return {
        **dict(terms.stated),
        **own,
        "policy": {"name": terms.policy_name, "digest": terms.policy_digest},
        "k": certificate.k,
        "unit": certificate.unit,
        "assumptions": list(certificate.assumptions),
        "columns": list(certificate.columns),
        "count": certificate.count,
        "form": "rows" if certificate.count is None else "counts",
        "claim": None if claim is None else to_json(claim),
        "query": certificate.query,
        "query_digest": "sha256:" + sha256(certificate.query.encode()).hexdigest(),
        "published_as": terms.published_as,
        "dialect": certificate.dialect,
        "engine_version": terms.engine_version,
        "time": certificate.time,
    }


def _numbers(certificate: Certificate) -> dict[str, Any]:
    claim, terms = certificate.claim, certificate.terms
    drawn = randomness_of(claim, certificate.dialect) if claim else certificate.randomness
    return {
        "version": PREDICATE_VERSION,
        "mechanism": MECHANISM if claim is None else claim.law.mechanism,
        "rate": f"{certificate.rate:f}",
        "sampled_at": f"{terms.sampled_at:f}",
        "epsilon": f"{terms.epsilon:f}",
        "delta": str(certificate.delta),
        "bound": "exact",
        "source_tag": "[EXACT]" if claim is None else claim.law.source_tag,
        "neighbours": terms.neighbours,
        "randomness": drawn,
        "templates": None if claim is None else templates_digest(),
    }


def _without_numbers(certificate: Uncertified) -> dict[str, Any]:
    attacks = still_works(certificate.k, certificate.models)
    return {
        "guarantee": NO_GUARANTEE,
        "still_works": [{"attack": name, "why": why} for name, why in attacks],
        "version": VERSION,
        "mechanism": SYNTACTIC_MECHANISM,
    }


@lru_cache
def templates_digest() -> str:
    """SHA-256 over the names and texts of all templates of queries: which set printed a text."""
    found = sha256()
    for file in sorted(templates().rglob("*.sql.j2")):
        name = file.relative_to(templates()).as_posix()
        if not name.startswith("envelopes/"):
            found.update(f"{name}\0{file.read_text(encoding='utf-8')}\0".encode())
    return "sha256:" + found.hexdigest()
