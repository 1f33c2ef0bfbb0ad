"""Keys: made once, kept private, never quoted."""

import hashlib
import os
import stat
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from policy_engine.attest.keyring import Keyring
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    TrustedKeys,
    generate_key,
    key_id,
    load_private_key,
    load_public_key,
)
from policy_engine.errors import FileError, UsageError


def raw(key):
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def pem(key, encryption=None):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "signing.pem"
    generate_key(path)
    return path


@pytest.fixture(scope="module")
def rsa_key():
    return rsa.generate_private_key(65537, 2048)


def write(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_the_key_id_is_the_sha256_of_the_raw_public_key(key_file):
    public = load_public_key(key_file.with_suffix(".pub"))
    assert key_id(public) == hashlib.sha256(raw(public)).hexdigest()


def test_a_generated_pair_belongs_together(tmp_path):
    name = generate_key(tmp_path / "a.pem")
    assert key_id(load_private_key(tmp_path / "a.pem").public_key()) == name
    assert key_id(load_public_key(tmp_path / "a.pub")) == name
    assert (tmp_path / "a.pem").read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n")
    assert (tmp_path / "a.pub").read_bytes().startswith(b"-----BEGIN PUBLIC KEY-----\n")
    assert name != generate_key(tmp_path / "b.pem")


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_private_key_is_closed_from_its_first_byte(tmp_path, monkeypatch, umask):
    written = []
    monkeypatch.setattr(os, "fsync", lambda fd: written.append(os.fstat(fd)))
    before = os.umask(umask)
    try:
        generate_key(tmp_path / "signing.pem")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(file.st_mode) & 0o077 for file in written] == [0, 0o044]
    assert all(file.st_size > 100 for file in written)  # whole when it is synced
    assert stat.S_IMODE((tmp_path / "signing.pem").stat().st_mode) == 0o600


@pytest.mark.parametrize("taken", ["signing.pem", "signing.pub"])
def test_a_file_is_never_overwritten_and_nothing_half_written_stays(tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    with pytest.raises(FileError) as caught:
        generate_key(tmp_path / "signing.pem")
    assert str(caught.value) == (
        f"{tmp_path / taken}: exists, and a key is never overwritten; choose another name"
    )
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


def test_a_dangling_symlink_is_not_followed(tmp_path):
    (tmp_path / "signing.pem").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="exists, and a key is never overwritten"):
        generate_key(tmp_path / "signing.pem")
    assert not (tmp_path / "elsewhere").exists()


def test_a_private_key_may_not_take_the_public_name(tmp_path):
    with pytest.raises(UsageError, match=r"must not end in \.pub"):
        generate_key(tmp_path / "signing.pub")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("which", [0, 1])
def test_a_write_that_fails_leaves_neither_file(tmp_path, monkeypatch, failure, which):
    calls = []

    def fsync(_):
        calls.append(None)
        if len(calls) > which:
            raise failure

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises((FileError, KeyboardInterrupt)) as caught:
        generate_key(tmp_path / "signing.pem")
    assert list(tmp_path.iterdir()) == []
    if isinstance(failure, OSError):
        assert "cannot write the key: No space left on device" in str(caught.value)


def test_a_missing_folder_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot write the key: No such file or directory"):
        generate_key(tmp_path / "none" / "signing.pem")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666])
@pytest.mark.parametrize("load", [load_private_key, load_public_key])
def test_a_private_key_open_to_others_is_refused_with_the_remedy(key_file, mode, load):
    key_file.chmod(mode)
    with pytest.raises(FileError) as caught:
        load(key_file)
    assert f"found mode {mode:04o}; run 'chmod 600 {key_file}'" in str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_private_key_for_its_owner_alone_is_read(key_file, mode):
    key_file.chmod(mode)
    assert load_private_key(key_file).sign(b"x")


def test_the_public_half_of_a_private_key_is_read(key_file):
    assert raw(load_public_key(key_file)) == raw(load_public_key(key_file.with_suffix(".pub")))


@pytest.mark.parametrize("load", [load_private_key, load_public_key])
def test_a_file_that_cannot_be_read(tmp_path, load):
    with pytest.raises(FileError) as caught:
        load(tmp_path / "none.pem")
    assert str(caught.value) == (
        f"{tmp_path / 'none.pem'}: cannot read the key: No such file or directory"
    )
    with pytest.raises(FileError, match="cannot read the key: Is a directory"):
        load(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hunter2", b"\xff\x00", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"],
)
def test_what_is_no_key_is_refused_and_not_quoted(tmp_path, content):
    path = write(tmp_path / "signing.pem", content)
    with pytest.raises(FileError) as caught:
        load_private_key(path)
    assert str(caught.value) == f"{path}: must hold a private key in PEM form, found none"
    with pytest.raises(FileError, match=r"must hold a (private|public) key in PEM form"):
        load_public_key(path)


def test_a_public_key_does_not_sign(key_file):
    public = key_file.with_suffix(".pub")  # which everybody may read
    told = rf"is a public key, and only a private one signs; name its other half.*{key_file.name}$"
    with pytest.raises(FileError, match=told):
        load_private_key(public)


def test_another_kind_of_key_is_refused(tmp_path, rsa_key):
    path = write(tmp_path / "rsa.pem", pem(rsa_key))
    for load in (load_private_key, load_public_key):
        with pytest.raises(FileError, match="must hold an Ed25519 key, found another kind of key"):
            load(path)
    public = rsa_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(FileError, match="must hold an Ed25519 key, found another kind of key"):
        load_public_key(write(tmp_path / "rsa.pub", public))


def test_an_encrypted_key_is_refused_with_the_remedy(tmp_path):
    encrypted = pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"secret"))
    path = write(tmp_path / "signing.pem", encrypted)
    for load in (load_private_key, load_public_key):
        with pytest.raises(FileError, match=r"the key is encrypted .* 'openssl pkey"):
            load(path)


@pytest.mark.parametrize("line_break", ["\n", "\\n", "\r\n"])
def test_the_environment_variable_holds_pem_text(line_break):
    key = Ed25519PrivateKey.generate()
    text = pem(key).decode().replace("\n", line_break)
    found = load_private_key(environ={SIGNING_KEY_VARIABLE: text})
    assert raw(found.public_key()) == raw(key.public_key())


def test_the_process_environment_is_the_default(monkeypatch):
    key = Ed25519PrivateKey.generate()
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", pem(key).decode())
    assert raw(load_private_key().public_key()) == raw(key.public_key())


def test_a_path_wins_over_the_variable(key_file):
    other = {SIGNING_KEY_VARIABLE: pem(Ed25519PrivateKey.generate()).decode()}
    found = load_private_key(key_file, other)
    assert raw(found.public_key()) == raw(load_public_key(key_file))


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_no_key_at_all_is_a_usage_error(text):
    with pytest.raises(UsageError) as caught:
        load_private_key(environ={} if text is None else {SIGNING_KEY_VARIABLE: text})
    assert str(caught.value) == (
        "no signing key: name a key file, or put its PEM text into POLICY_ENGINE_SIGNING_KEY"
    )


@pytest.mark.parametrize("text", ["hunter2", "\udcff"])
def test_a_variable_without_a_key_is_a_usage_error_that_does_not_quote_it(text):
    with pytest.raises(UsageError) as caught:
        load_private_key(environ={SIGNING_KEY_VARIABLE: text})
    assert str(caught.value) == (
        "environment variable POLICY_ENGINE_SIGNING_KEY: must hold a private key in PEM form, "
        "found none"
    )


def test_trusted_keys_are_found_by_id_and_cannot_be_added_to(key_file):
    mine = load_public_key(key_file)
    other = Ed25519PrivateKey.generate().public_key()
    public = key_file.with_suffix(".pub")
    trusted = TrustedKeys.load([public, str(public)])
    assert list(TrustedKeys.load(public).by_id) == list(TrustedKeys.load(str(public)).by_id)
    assert list(trusted.by_id) == [key_id(mine)]
    assert trusted.by_id.get(key_id(mine)) is not None
    assert trusted.by_id.get(key_id(other)) is None
    with pytest.raises(TypeError):
        trusted.by_id[key_id(other)] = other
    with pytest.raises(FrozenInstanceError):
        trusted.by_id = {}
    assert set(TrustedKeys.of(mine, other).by_id) == {key_id(mine), key_id(other)}


def test_the_private_key_is_none_to_trust(key_file):
    with pytest.raises(UsageError) as caught:
        TrustedKeys.load(key_file)
    remedy = f"name the public key beside it, {key_file.with_suffix('.pub')}"
    assert str(caught.value) == f"{key_file}: this is the private key; {remedy}"


@pytest.mark.parametrize(
    "read", [load_private_key, load_public_key, TrustedKeys.load, Keyring.read]
)
def test_a_pipe_is_no_key_file_and_nobody_waits_for_its_writer(tmp_path, read):
    path = tmp_path / "key.pem"
    os.mkfifo(path, 0o600)
    with pytest.raises(FileError, match="it is a pipe or a device, not a file"):
        read(path)
