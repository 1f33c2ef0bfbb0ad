"""A sample's secret, sealed: open to the engine's own key, to nobody else.

HPKE (RFC 9180) in base mode with X25519, HKDF-SHA-256 and ChaCha20-Poly1305, bound to the request
that the secret was drawn for. Sealing keys are X25519 keys of their own: who signs and who may
open a secret are different people, and a signing key in a KMS opens nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from policy_engine.attest.keys import (
    GROUP_AND_OTHERS,
    create_key_pair,
    key_id,
    pem_of,
    read_key_file,
)
from policy_engine.errors import FileError, LedgerError

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
_INFO = b"policy-engine sealed secret v1\0"
_NAMES = b"policy-engine names v1\0"
_PARTS = b"policy-engine parts v1\0"
_HANDED_OVER = "the key that names sources"


def generate_sealing_key(path: Path) -> str:
    """Write a new private key and its public half beside it, both new; its id. FileError."""
    key = X25519PrivateKey.generate()
    create_key_pair(path, *pem_of(key))
    return key_id(key.public_key())


def load_sealing_key(path: Path) -> X25519PrivateKey:
    """The private key in a PEM file; FileError where it is open to others or there is none."""
    if b"PUBLIC KEY-----" in read_key_file(path):
        raise FileError(
            f"{path}: this is the public half; name the private key that belongs to it, which only"
            " its owner has"
        )
    pem = read_key_file(path, GROUP_AND_OTHERS)
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        key = serialization.load_pem_private_key(pem, password=None)
        if isinstance(key, X25519PrivateKey):
            return key
    raise FileError(f"{path}: must hold a private X25519 key in PEM form, found none")


def seal(secret: bytes, request: str, keys: Iterable[X25519PublicKey]) -> dict[str, str]:
    """The secret sealed for each key, by the key's id, in base64.

    >>> key = X25519PrivateKey.generate()
    >>> sealed = seal(b"sixteen bytes ok", "request", [key.public_key()])
    >>> unseal(sealed, "request", key)
    b'sixteen bytes ok'
    """
    info = _INFO + request.encode()
    boxes = {key_id(key): _SUITE.encrypt(secret, key, info=info) for key in keys}
    return {name: base64.b64encode(box).decode() for name, box in boxes.items()}


def unseal(sealed: Mapping[str, str], request: str, key: X25519PrivateKey) -> bytes:
    """The secret; LedgerError where it was not sealed for this key, or for another request."""
    name = key_id(key.public_key())
    if name not in sealed:
        known = ", ".join(each[:8] for each in sorted(sealed)) or "nobody"
        raise LedgerError(
            f"the secret is not sealed for the key {name[:8]}; it is for {known}: name one of these"
        )
    try:
        box = base64.b64decode(sealed[name], validate=True)
        return _SUITE.decrypt(box, key, info=_INFO + request.encode())
    except (InvalidTag, ValueError, binascii.Error):
        raise LedgerError(
            f"the sealed secret does not open with the key {name[:8]}: it was changed, or belongs"
            " to another release"
        ) from None


def hand_on(key: X25519PrivateKey, to: X25519PublicKey) -> dict[str, str]:
    """A sealing key, sealed for the one that takes over from it.

    >>> old, new = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    >>> taken_over(hand_on(old, new.public_key()), new).public_key() == old.public_key()
    True
    """
    return seal(_raw(key), _HANDED_OVER, [to])


def taken_over(sealed: Mapping[str, str], key: X25519PrivateKey) -> X25519PrivateKey:
    """The sealing key that was handed over to ``key``; errors as ``unseal``."""
    return X25519PrivateKey.from_private_bytes(unseal(sealed, _HANDED_OVER, key))


def secret_of_parts(partition: str, key: X25519PrivateKey) -> bytes:
    """128 secret bits, the same for a partition and a key: they say which part each unit is in.

    >>> key = X25519PrivateKey.generate()
    >>> secret_of_parts("one", key) == secret_of_parts("other", key)
    False
    """
    return hmac.new(_raw(key), _PARTS + partition.encode(), hashlib.sha256).digest()[:16]


def keyed_name(text: bytes, key: X25519PrivateKey) -> str:
    """A name, SHA-256 in hex, that only the holder of the key can tell from another's.

    A plain digest of a place would confirm a guess at it; this is keyed, and stays in the ledger.

    >>> key = X25519PrivateKey.generate()
    >>> keyed_name(b"a", key) == keyed_name(b"b", key)
    False
    """
    named_by = hashlib.sha256(_NAMES + _raw(key)).digest()
    return hmac.new(named_by, text, hashlib.sha256).hexdigest()


def _raw(key: X25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
    )
