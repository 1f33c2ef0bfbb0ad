"""The part of a source that a release counts, by the name under which accounts know it, [PART]."""

from __future__ import annotations

import json
from dataclasses import astuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.predicates import Vouched
from policy_engine.attest.sealing import state_mac
from policy_engine.kernel.mechanisms import NoisyPart
from policy_engine.kernel.sources import People


def part_of(certificate: Vouched, place: str, naming: X25519PrivateKey) -> tuple[str, str] | None:
    """The name of the partition, and the number of the part; None where everybody is counted.

    Guarantee: all on which a unit's part depends is in the name, the ``naming`` key by which its
    secret is drawn (`attest.sealing.secret_of_parts`) as well. So who has the name of another
    release's partition has its parts, and releases of different parts have no unit in common.
    Whatever differs makes another partition, which adds up with it.
    """
    claim = certificate.claim
    if claim is None or not isinstance(claim.law, NoisyPart):
        return None
    assert isinstance(claim.unit, People)
    key = claim.unit.key
    drawn = ["parts", place, certificate.dialect, key.name, *astuple(key.type), claim.law.parts]
    return state_mac(json.dumps(drawn).encode(), naming), str(claim.law.number)
