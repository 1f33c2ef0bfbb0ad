"""Policies that were changed after their release was signed for: what the project says is false."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from policy_engine.attest.attestation import Envelope
from policy_engine.dbt.releases import model_name
from policy_engine.errors import VerificationFailed
from policy_engine.policy.resolve import Policy


def outdated(policy: Policy) -> tuple[Path, ...]:
    """The certificates of this version of a policy's release that are of another policy.

    No signature is looked at: a certificate can only forbid something here.
    """
    return tuple(sorted(file for file in _certificates(policy) if _digest(file) != policy.digest))


def _certificates(policy: Policy) -> Iterator[Path]:
    """The certificates of a release, one a target."""
    return policy.directory.glob(
        f"{model_name(policy)}_v{policy.release.version}.*.certificate.json"
    )


def _digest(file: Path) -> str | None:
    """The digest of the policy that a certificate is of; None where it says none."""
    try:
        envelope = Envelope.from_json(file.read_text(encoding="utf-8"))
        return str(json.loads(envelope.payload)["predicate"]["policy"]["digest"])
    except (OSError, UnicodeDecodeError, VerificationFailed, ValueError, KeyError, TypeError):
        return None


OUTDATED = (
    "the policy must be as it was when version {version} was released ({file}), for a release never"
    " changes"
)
REMEDY = (
    "put it back, and write the change into a policy of its own with version: {version}; if the"
    " release was never shown to anybody and its table is dropped, remove {file}"
)
