"""Certificates that the project's own key signs again, with other content."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from policy_engine.attest.attestation import PREDICATE_TYPE, sign, statement
from policy_engine.attest.keys import load_private_key
from policy_engine.attest.signers import KeySigner


def forged(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The certificate at ``path``, its statement changed and signed again, in a file beside it."""
    payload = json.loads(base64.b64decode(json.loads(path.read_text())["payload"]))
    change(payload)
    [subject] = payload["subject"]
    made = statement(
        subject["name"], subject["digest"]["sha256"], payload["predicate"], PREDICATE_TYPE
    )
    signer = KeySigner(load_private_key(Path(".policy-engine/signing.pem")))
    written = path.with_name("forged.certificate.json")
    written.write_text(sign(made, signer).to_json())
    return written
