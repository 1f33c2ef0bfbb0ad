"""A secret is sealed for its readers, and bound to what it was drawn for."""

import base64
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)

from policy_engine.attest.keys import key_id
from policy_engine.attest.sealing import (
    generate_sealing_key,
    keyed_name,
    load_sealing_key,
    seal,
    unseal,
)
from policy_engine.errors import FileError, LedgerError

SECRET = bytes(range(16))
ENGINE, ALICE, BOB = (X25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2, 3))


def sealed(*keys, request="request"):
    return seal(SECRET, request, [key.public_key() for key in keys])


def refusal(error, act, *arguments):
    with pytest.raises(error) as caught:
        act(*arguments)
    return str(caught.value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sealing.pem"


# Sealing.


@pytest.mark.parametrize("key", [ENGINE, ALICE])
def test_each_of_those_it_is_sealed_for_opens_it(key):
    assert unseal(sealed(ENGINE, ALICE), "request", key) == SECRET


def test_it_is_named_by_key_and_shows_no_secret():
    found = sealed(ENGINE, ALICE)
    assert set(found) == {key_id(key.public_key()) for key in (ENGINE, ALICE)}
    for text in found.values():
        assert SECRET not in base64.b64decode(text)


def test_it_is_sealed_anew_each_time():
    assert sealed(ENGINE) != sealed(ENGINE)


def test_it_is_hpke_that_others_can_open():
    """RFC 9180, base mode: the encapsulated key of 32 bytes, then the ciphertext and its tag."""
    [text] = sealed(ENGINE).values()
    box = base64.b64decode(text)
    assert len(box) == 32 + len(SECRET) + 16
    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
    assert suite.decrypt(box, ENGINE, info=b"policy-engine sealed secret v1\0request") == SECRET


def test_sealed_for_nobody_it_is_open_to_nobody():
    name = key_id(ENGINE.public_key())[:8]
    assert refusal(LedgerError, unseal, sealed(), "request", ENGINE) == (
        f"the secret is not sealed for the key {name}; it is for nobody: name one of these"
    )


def test_whoever_it_is_not_sealed_for_is_told_for_whom_it_is():
    found = sealed(ENGINE, ALICE)
    names = ", ".join(name[:8] for name in sorted(found))
    assert refusal(LedgerError, unseal, found, "request", BOB) == (
        f"the secret is not sealed for the key {key_id(BOB.public_key())[:8]}; it is for "
        f"{names}: name one of these"
    )


def damaged(text):
    box = bytearray(base64.b64decode(text))
    box[-1] ^= 1
    return base64.b64encode(box).decode()


@pytest.mark.parametrize(
    "damage",
    [
        damaged,
        lambda text: "",
        lambda text: "AAAA",
        lambda text: "no base64",
        lambda text: text[:8],
    ],
)
def test_what_was_changed_does_not_open(damage):
    found = {name: damage(text) for name, text in sealed(ENGINE).items()}
    name = key_id(ENGINE.public_key())[:8]
    assert refusal(LedgerError, unseal, found, "request", ENGINE) == (
        f"the sealed secret does not open with the key {name}: it was changed, or belongs to "
        "another release"
    )


@pytest.mark.parametrize("request_", ["", "reques", "request2"])
def test_it_does_not_open_for_another_request(request_):
    said = refusal(LedgerError, unseal, sealed(ENGINE), request_, ENGINE)
    assert "belongs to another release" in said


def test_what_was_sealed_for_one_does_not_open_under_the_name_of_another():
    [text] = sealed(ALICE).values()
    moved = {key_id(ENGINE.public_key()): text}
    assert "does not open" in refusal(LedgerError, unseal, moved, "request", ENGINE)


# Keys.


def test_a_new_key_is_its_owners_alone_and_its_public_half_everyones(path):
    name = generate_sealing_key(path)
    public = load_pem_public_key(path.with_suffix(".pub").read_bytes())
    assert key_id(load_sealing_key(path).public_key()) == key_id(public) == name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(file.name for file in path.parent.iterdir()) == ["sealing.pem", "sealing.pub"]


@pytest.mark.parametrize("taken", ["sealing.pem", "sealing.pub"])
def test_a_key_is_never_overwritten(path, taken):
    path.with_name(taken).write_text("mine")
    said = refusal(FileError, generate_sealing_key, path)
    assert said == (
        f"{path.with_name(taken)}: exists, and a key is never overwritten; choose another name"
    )
    assert [file.name for file in path.parent.iterdir()] == [taken]
    assert path.with_name(taken).read_text() == "mine"


def test_a_private_key_that_others_reach_is_refused(path):
    generate_sealing_key(path)
    path.chmod(0o640)
    assert "must be closed to group and others, found mode 0640" in refusal(
        FileError, load_sealing_key, path
    )


def test_a_key_that_is_not_there_is_told(path):
    said = refusal(FileError, load_sealing_key, path)
    assert said == f"{path}: cannot read the key: No such file or directory"


PEM = Encoding.PEM
SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = PublicFormat.SubjectPublicKeyInfo
NO_PRIVATE_KEYS = {
    "nothing": b"",
    "text": b"a key",
    "signing": SIGNING.private_bytes(PEM, PrivateFormat.PKCS8, NoEncryption()),
    "encrypted": ENGINE.private_bytes(PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")),
    "public": ENGINE.public_key().public_bytes(PEM, PUBLIC),
}


@pytest.mark.parametrize("content", NO_PRIVATE_KEYS.values(), ids=NO_PRIVATE_KEYS)
def test_what_is_no_private_sealing_key_is_refused(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    said = refusal(FileError, load_sealing_key, path)
    if b"PUBLIC" in content:
        assert said.startswith(f"{path}: this is the public half; name the private key")
    else:
        assert said == f"{path}: must hold a private X25519 key in PEM form, found none"


# Names.


def test_a_text_has_one_name_under_one_key():
    assert keyed_name(b"place", ENGINE) == keyed_name(b"place", ENGINE)
    names = [keyed_name(text, key) for text in (b"place", b"other") for key in (ENGINE, ALICE)]
    assert len(set(names)) == 4
    assert all(len(name) == 64 for name in names)
