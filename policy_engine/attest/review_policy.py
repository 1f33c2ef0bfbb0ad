"""Whose approval counts for an account: people with one role and keys of their own.

The keys stand in the policy itself, so that whoever has its digest has the keys too; a person with
two keys is one person. The ledger has the policy in force: see ``ledger.reviews``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.keys import WEAK, TrustedKeys, is_weak, key_id
from policy_engine.errors import PolicyError, Problem
from policy_engine.policy.review_models import STAGES, read_review_document

Stage = Literal["claim", "release", "change"]


@dataclass(frozen=True)
class Approver:
    """A person who may approve: their name, role and the ids of their keys."""

    name: str
    role: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class ReviewPolicy:
    """Who approves what of an account; ``document`` is what its digest is of.

    ``needs`` is how many people of which role a stage asks for: ``claim`` before a charge,
    ``release`` before it is put in its place, ``change`` of the limit or of this policy.
    """

    account: str
    serial: int
    people: tuple[Approver, ...]
    needs: Mapping[Stage, Mapping[str, int]]
    four_eyes: bool
    lasts: timedelta
    until: datetime
    keys: Mapping[str, Ed25519PublicKey]
    document: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of what it says."""
        return document_digest(self.document)

    @property
    def holds_back(self) -> bool:
        """Whether a release of the account waits for anybody."""
        return bool(self.needs["claim"] or self.needs["release"])

    def person(self, key: str) -> Approver:
        """Whose key this is; KeyError for a stranger's."""
        return next(each for each in self.people if key in each.keys)

    def trusted(self, revoked: frozenset[str]) -> TrustedKeys:
        """The keys that count."""
        found = {name: key for name, key in self.keys.items() if name not in revoked}
        return TrustedKeys(MappingProxyType(found))


def document_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON document, its keys sorted, with the name of the law in front.

    >>> document_digest({})
    'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def review_policy(text: str, where: Path) -> ReviewPolicy:
    """The review policy that a text writes; PolicyError with every problem."""
    found = read_review_document(text, where)
    keys: dict[str, Ed25519PublicKey] = {}
    people = []
    for name, person in found.people.items():
        own = [Ed25519PublicKey.from_public_bytes(raw) for raw in person.keys]
        if any(map(is_weak, own)):
            problem = Problem(str(where), 0, 0, "people", f"people.{name}: a key {WEAK}")
            raise PolicyError((problem,))
        keys |= {key_id(key): key for key in own}
        people.append(Approver(name, person.role, tuple(map(key_id, own))))
    needs: dict[Any, Mapping[str, int]] = {
        stage: MappingProxyType(dict(getattr(found, stage))) for stage in STAGES
    }
    return ReviewPolicy(
        account=found.account,
        serial=found.serial,
        people=tuple(people),
        needs=MappingProxyType(needs),
        four_eyes=found.four_eyes,
        lasts=timedelta(days=found.days),
        until=datetime.combine(found.expires, time.max, UTC),
        keys=MappingProxyType(keys),
        document=found.to_json(),
    )


def recorded_policy(document: Mapping[str, Any], where: str) -> ReviewPolicy:
    """The same of a document that was recorded."""
    return review_policy(json.dumps(document), Path(where))
