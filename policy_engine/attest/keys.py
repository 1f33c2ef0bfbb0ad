"""Ed25519 keys: who may vouch for a certificate.

A key is named by its **key id**: the SHA-256, in lower-case hex, of the 32 raw bytes of the
public key (RFC 8032 encoding), not of its PEM or DER form. A private key lives in a PKCS#8 PEM
file that only its owner may read, or as PEM text in ``POLICY_ENGINE_SIGNING_KEY``; no message
quotes any of it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from policy_engine.attest.validity import Refusal, Validity
from policy_engine.errors import FileError, UsageError
from policy_engine.opening import bytes_in, opened
from policy_engine.policy.places import KEPT
from policy_engine.values import frozen

SIGNING_KEY_VARIABLE = "POLICY_ENGINE_SIGNING_KEY"
OWNER_ONLY = 0o600
EVERYONE_READS = 0o644
GROUP_AND_OTHERS = 0o077
_LARGEST = 64 * 1024
_IGNORED = """\
# Keys of this machine and the ledger belong into no repository; the keyring does, with the public
# keys of all machines in it. Schemas may go there.
*
!.gitignore
!keys.json
!*.schema.json
"""
WEAK = "must be the key of a person or a program; found one under which anybody signs anything"
_PRIME, _SIGN = 2**255 - 19, 1 << 255
# y of the eight points whose order divides 8, as it may be written: RFC 8032, 5.1.3 and 8.7.
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL_ORDER = {0, 1, _PRIME - 1, _PRIME, _PRIME + 1, _ORDER_8, _PRIME - _ORDER_8}


def key_id(key: Ed25519PublicKey | X25519PublicKey) -> str:
    """The name of a public key: SHA-256 hex of its 32 raw bytes.

    >>> key_id(Ed25519PublicKey.from_public_bytes(bytes(32)))[:16]
    '66687aadf862bd77'
    """
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


@frozen
class TrustedKeys:
    """The public keys that you trust. ``verify`` refuses the signature of any other key.

    ``TrustedKeys.load`` reads them from files, and ``Keyring.trusted`` takes them from a keyring.

    Fields:
        ``by_id``: a mapping from key ids to keys. A key id is the SHA-256 of the key, in hex.
        ``dates``: a mapping from key ids to the dates on which a key expires, is retired or was
            revoked. Without an entry, all signatures by the key count. If the key was revoked, none
            of its signatures count. Otherwise a signature counts only if the signed statement has a
            time, and if the key was valid at this time.
    """

    by_id: Mapping[str, Ed25519PublicKey]
    dates: Mapping[str, Validity] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, *keys: Ed25519PublicKey) -> TrustedKeys:
        """Trust exactly these keys, which you have as objects of the package ``cryptography``.

        >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()
        >>> [name[:8] for name in TrustedKeys.of(key).by_id]
        ['139e3940']
        """
        return cls(MappingProxyType({key_id(key): key for key in keys}))

    @classmethod
    def load(cls, paths: str | Path | Iterable[str | Path]) -> TrustedKeys:
        """Trust exactly the public keys in these files.

        Arguments:
            ``paths``: one PEM file, or several. ``.policy-engine/signing.pub`` is a project's own
                key.

        Raises:
            FileError: a file cannot be read, or contains no Ed25519 key.
            UsageError: a file contains a private key. Verification needs only the public key.
        """
        named, keys = [paths] if isinstance(paths, str | Path) else paths, []
        for path in map(Path, named):
            pem = read_key_file(path)
            if b"PRIVATE KEY-----" in pem:
                beside = path.with_suffix(".pub")
                raise UsageError(
                    f"{path}: this is the private key; name the public key beside it, {beside}"
                )
            keys.append(_public_key(pem, path))
        return cls.of(*keys)

    def refusal(self, name: str, at: datetime | None) -> Refusal | None:
        """The reason why a signature does not count. None if the signature counts.

        Arguments:
            ``name``: the key id of the key that signed.
            ``at``: the time in the signed statement. None if the statement has no time.

        >>> TrustedKeys.of().refusal("ab12", None).text
        'key ab12 is not among the trusted keys'
        """
        if name not in self.by_id:
            return Refusal("unknown", f"key {name} is not among the trusted keys")
        dates = self.dates.get(name)
        return None if dates is None else dates.refusal(name, at)

    def within(self, ring: TrustedKeys) -> TrustedKeys:
        """Trust the keys of this object and of ``ring``. If a key is in both, the dates of ``ring``
        apply.
        """
        return TrustedKeys(
            MappingProxyType({**self.by_id, **ring.by_id}),
            MappingProxyType({**self.dates, **ring.dates}),
        )


def generate_key(path: Path, key: Ed25519PrivateKey | None = None) -> str:
    """Write a new private key to ``path`` and its public key beside it; return the key id.

    ``key`` is written in the place of a new one, for a caller that must know it before.

    Both files are new or nothing is written: an existing file is never overwritten. The
    private key is PKCS#8 PEM and has mode 0600 from its first byte on; the public key is PEM
    at ``path.with_suffix('.pub')``.

    Raises FileError when either file exists or cannot be written, UsageError when ``path``
    itself ends in ``.pub``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = generate_key(Path(folder) / "signing.pem")
    ...     key_id(load_public_key(Path(folder) / "signing.pub")) == name
    True
    """
    public_path = path.with_suffix(".pub")
    if public_path == path:
        raise UsageError(
            f"{path}: a private key must not end in .pub, which is where its public key goes; "
            "choose a name such as signing.pem"
        )
    key = key or Ed25519PrivateKey.generate()
    private_pem, public_pem = pem_of(key)
    create_key_pair(path, private_pem, public_pem)
    return key_id(key.public_key())


def pem_of(key: Ed25519PrivateKey | X25519PrivateKey) -> tuple[bytes, bytes]:
    """The PEM text of a private key and of its public half."""
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private_pem, public_pem


def load_private_key(
    path: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Ed25519PrivateKey:
    """The signing key in the file ``path``; without a path, in the environment variable.

    The variable holds PEM text; a literal ``\\n`` in it counts as a line break, since many CI
    systems store it so.

    Raises FileError when the file cannot be read, is open to group or others, is encrypted or
    holds no Ed25519 private key; UsageError when there is neither path nor variable, or the
    variable holds no such key.

    >>> load_private_key(environ={})
    Traceback (most recent call last):
    policy_engine.base_errors.UsageError: no signing key: name a key file, or put its PEM text \
into POLICY_ENGINE_SIGNING_KEY
    """
    if path is not None:
        return _private_key(read_key_file(path, refuse=GROUP_AND_OTHERS), str(path), FileError)
    text = environ.get(SIGNING_KEY_VARIABLE, "")
    if not text.strip():
        raise UsageError(
            f"no signing key: name a key file, or put its PEM text into {SIGNING_KEY_VARIABLE}"
        )
    pem = text.replace("\\n", "\n").encode("utf-8", "surrogateescape")
    return _private_key(pem, f"environment variable {SIGNING_KEY_VARIABLE}", UsageError)


def load_public_key(path: Path) -> Ed25519PublicKey:
    """The Ed25519 key in a PEM file, of a private one its public half; FileError where none is."""
    pem = read_key_file(path)
    if b"PRIVATE KEY-----" in pem:
        return load_private_key(path).public_key()
    return _public_key(pem, path)


def _public_key(pem: bytes, path: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise FileError(f"{path}: must hold a public key in PEM form, found none") from None
    if not isinstance(key, Ed25519PublicKey):
        raise FileError(f"{path}: must hold an Ed25519 key, found another kind of key")
    if is_weak(key):
        raise FileError(f"{path}: {WEAK}")
    return key


def is_weak(key: Ed25519PublicKey) -> bool:
    """Whether a public key is a point of small order: under it anybody signs anything.

    >>> is_weak(Ed25519PublicKey.from_public_bytes(bytes(32)))
    True
    """
    number = int.from_bytes(key.public_bytes(Encoding.Raw, PublicFormat.Raw), "little")
    return number & ~_SIGN in _SMALL_ORDER


def _private_key(
    pem: bytes, where: str, error: type[FileError] | type[UsageError]
) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError:  # cryptography's answer to an encrypted key
        raise error(
            f"{where}: the key is encrypted and no password can be given; decrypt it with "
            "'openssl pkey -in KEY -out PLAIN' into a file only you can read"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        if b"PUBLIC KEY-----" in pem:
            private = Path(where).with_suffix(".pem")
            beside = f"; name its other half, which 'keys generate' writes as {private.name}"
            raise error(f"{where}: is a public key, and only a private one signs{beside}") from None
        raise error(f"{where}: must hold a private key in PEM form, found none") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise error(f"{where}: must hold an Ed25519 key, found another kind of key")
    return key


# Files: written whole and new, private ones readable to their owner alone


@contextmanager
def explained(failed: str) -> Iterator[None]:
    """FileError, with the reason that the system gives, where a file lets the body fail."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{failed}: {error.strerror}") from None


@contextmanager
def opened_file(path: Path, what: str) -> Iterator[BufferedReader]:
    """A file to be read; FileError, which says why, where there is none that can be."""
    with explained(f"{path}: cannot read {what}"), opened(path) as file:
        yield file


def read_key_file(path: Path, refuse: int = 0) -> bytes:
    """The bytes of a file; FileError where it has a mode bit of ``refuse``, or is unreadable."""
    # The mode is asked of the open file, so that it is that of the bytes that are read.
    with opened_file(path, "the key") as file:
        content = file.read(_LARGEST)
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & refuse and b"PUBLIC KEY-----" not in content:
            raise FileError(
                f"{path}: a private key must be closed to group and others, found mode "
                f"{mode:04o}; run 'chmod 600 {path}', and make a new key if others had access"
            )
        return content


def create_key_pair(path: Path, private_pem: bytes, public_pem: bytes) -> None:
    """Write a private key and, beside it, its public half: both new, or nothing is written.

    The private key comes first: should a crash part the two, the other half can be made from it,
    by ``complete_key_pair``, while a public key alone would stand in the way of a new pair.

    Raises FileError when either file exists or cannot be written.
    """
    public = path.with_suffix(".pub")
    if os.path.lexists(public):
        raise _exists(public)
    create_key_file(path, private_pem, OWNER_ONLY)
    try:
        complete_key_pair(path, public_pem)
    except BaseException:
        path.unlink()
        raise


def complete_key_pair(path: Path, public_pem: bytes) -> None:
    """Write the public half beside a private key; FileError where another key's is there."""
    public = path.with_suffix(".pub")
    try:
        create_key_file(public, public_pem, EVERYONE_READS)
    except FileError:
        if not public.is_file() or bytes_in(public) != public_pem:
            raise


def create_key_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file that must be new, whole and on disk, or not at all; FileError where not."""
    with explained(f"{path}: cannot write the key"), _aside(path, content, mode) as made:
        # A link: whoever sees the file sees all of it, nothing is overwritten, and no symlink
        # that someone left there is followed.
        try:
            os.link(made, path)
        except FileExistsError:
            raise _exists(path) from None


@contextmanager
def _aside(path: Path, content: bytes, mode: int) -> Iterator[Path]:
    """A new file beside a path, whole and on disk, for the body to put in its place."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield made
    finally:
        made.unlink(missing_ok=True)


def put_file(path: Path, content: bytes, mode: int) -> None:
    """Put a file in the place of another one, whole and on disk, or leave that; OSError."""
    with _aside(path, content, mode) as made:
        made.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _exists(path: Path) -> FileError:
    return FileError(f"{path}: exists, and a key is never overwritten; choose another name")


def make_folder(folder: Path) -> None:
    """Make a folder that is closed to others, unless it is there.

    git keeps away from what is confidential in a new ``.policy-engine``.

    Raises OSError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as made:
    ...     make_folder(Path(made) / ".policy-engine")
    ...     [file.name for file in (Path(made) / ".policy-engine").iterdir()]
    ['.gitignore']
    """
    if folder.is_dir():
        return
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.name == KEPT:
        (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
