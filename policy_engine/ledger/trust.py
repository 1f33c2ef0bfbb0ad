"""Whose signature counts on a ledger's records, and who signs the next one."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import LedgerEnd
from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import Record, broken, hash_of, to_sign

_ENTER = (
    "if you know whose it is, enter it with 'policy-engine keys add PUBLIC_KEY', or copy the"
    " keyring, keys.json, from where it is known; if nobody knows it, see 'policy-engine ledger"
    " disown', or restore a backup that holds: nothing is charged before"
)


@dataclass(frozen=True)
class Trust:
    """The public keys, by key id, whose records count; ``sign_with`` signs new ones.

    A ledger that is only read needs nobody who signs. Of a key that is ``revoked``, records count
    up to the ``ends`` of the ledger that the keyring noted then; where it noted none, those that
    say they are from before. ``renewed`` is the trust as the keyring has it now.
    """

    by_id: Mapping[str, Ed25519PublicKey]
    sign_with: Signer | None = None
    revoked: Mapping[str, datetime] = field(default_factory=dict)
    ends: Mapping[str, tuple[LedgerEnd, ...]] = field(default_factory=dict)
    renewed: Callable[[], Trust] | None = None

    @classmethod
    def of(cls, signer: Signer, others: Mapping[str, Ed25519PublicKey] | None = None) -> Trust:
        """Sign with ``signer``, and trust it and ``others``."""
        keys = {**(others or {}), signer.key_id: signer.public_key}
        return cls(MappingProxyType(keys), signer)

    @property
    def signer(self) -> Signer:
        """Who signs; LedgerError for a ledger that was opened to be read."""
        if self.sign_with is None:
            raise LedgerError("the ledger was opened without a signing key: it can only be read")
        return self.sign_with


def check_signature(record: Record, trust: Trust, where: str) -> None:
    """Return if a record says what its hash covers, and a trusted key signed it.

    Raises LedgerError naming the record.
    """
    if record.hash != hash_of(record):
        raise broken(where, record.seq, "its content was changed")
    key = trust.by_id.get(record.key_id)
    if key is None:
        name = str(record.key_id)[:8]  # a damaged file can yield what is no text
        raise broken(where, record.seq, f"it is signed by the key {name}, a stranger's", _ENTER)
    since = trust.revoked.get(record.key_id)
    is_noted = record.key_id in trust.ends  # then see check_not_later
    if since is not None and not is_noted and not _said_before(record, since):
        raise broken(where, record.seq, f"the key {record.key_id[:8]} that signed it is revoked")
    try:
        key.verify(_bytes(record.signature), to_sign(record))
    except (InvalidSignature, TypeError, ValueError):
        raise broken(where, record.seq, "its signature is not that of its key") from None


def check_not_later(
    record: Record, trust: Trust, get: Callable[[int], Record | None], where: str
) -> None:
    """Return unless a revoked key has signed a record after its revocation.

    The keyring noted where the ledger ended then, so the time that a record says is not asked.
    ``get`` finds the ledger's records by number. Raises LedgerError naming the record.
    """
    since = trust.revoked.get(record.key_id)
    for end in trust.ends.get(record.key_id, ()):
        first, last = get(1), get(end.records)
        is_there = last is not None and last.hash == end.head
        if is_there or (first is not None and first.hash == end.first):
            if is_there and record.seq <= end.records:
                return
            fault = (
                f"the key {record.key_id[:8]} that signed it was revoked when the ledger ended at"
                f" record {end.records}"
            )
            raise broken(where, record.seq, fault)
    if since is not None and not _said_before(record, since):  # of another ledger than those noted
        raise broken(where, record.seq, f"the key {record.key_id[:8]} that signed it is revoked")


def _bytes(signature: str) -> bytes:
    """What a text is the one base64 of; ValueError for another text of the same bytes."""
    found = base64.b64decode(signature, validate=True)
    if base64.b64encode(found).decode() != signature:
        raise ValueError("not canonical")
    return found


def _said_before(record: Record, since: datetime) -> bool:
    """Whether the record's own time is before ``since``."""
    try:
        return datetime.fromisoformat(json.loads(record.payload)["at"]) < since
    except (KeyError, TypeError, ValueError):
        return False
