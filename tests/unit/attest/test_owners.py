"""A signed keyring: nothing counts that a thief of one key, or a careless author, puts there."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policy_engine.attest.attestation import PAYLOAD_TYPE, pae
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import key_id
from policy_engine.attest.owners import (
    believed,
    check_follows,
    check_may_sign,
    check_signed,
    is_signed,
    newer_at,
    remember,
    signed,
)
from policy_engine.attest.ring_text import Owners, RingKey, payload_of, read_ring
from policy_engine.attest.signers import KeySigner
from policy_engine.attest.validity import Validity
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import default_project

ADA, BEN, CLEO, STOLEN, HONEST, THIEF = (
    KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([n] * 32))) for n in range(1, 7)
)
NOW = datetime.now(UTC).replace(microsecond=0)
YEAR = timedelta(days=365)


def raw(signer):
    return signer.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)


OWNERS = Owners((raw(ADA), raw(BEN)), 2)


def by(ring, *signers, **changed):
    for number, signer in enumerate(signers):
        ring = signed(ring, signer, NOW, **(changed if number == 0 else {}))
    return ring


class Lab:
    """A project whose keyring two owners sign; in its third the stolen key is revoked.

    ``first`` and ``second`` are its former keyrings, ``last`` the one in force.
    """

    def __init__(self, folder):
        self.project = default_project(folder)
        ring = Keyring().adding(STOLEN.public_key, NOW)
        self.first = by(ring, ADA, BEN, expires=NOW + YEAR, owners=OWNERS)
        self.second = by(self.first.adding(HONEST.public_key, NOW), ADA, BEN)
        self.last = by(self.second.revoking(STOLEN.key_id, NOW, "the laptop was stolen"), ADA, BEN)
        self.put(self.last)

    def put(self, ring):
        self.write(ring.to_json())

    def write(self, text):
        self.project.keyring.parent.mkdir(exist_ok=True)
        self.project.keyring.unlink(missing_ok=True)
        self.project.keyring.write_text(text)

    def edit(self, how):
        """Change the file as an editor would."""
        document = json.loads(self.last.to_json())
        how(document)
        self.write(json.dumps(document))

    def counts(self, signer):
        """Whether what a key signs now counts in the project."""
        try:
            return believed(self.project).trusted().refusal(signer.key_id, NOW) is None
        except FileError:
            return False


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def remembers(lab):
    remember(lab.project, lab.last)


def pins(lab):
    lab.project = replace(lab.project, owners=OWNERS.keys, owners_needed=2)


def both(lab):
    remembers(lab)
    pins(lab)


def test_owners_sign_and_the_ring_is_believed(lab):
    both(lab)
    assert [ring.seal.serial for ring in (lab.first, lab.second, lab.last)] == [1, 2, 3]
    assert believed(lab.project).seal == lab.last.seal
    assert lab.counts(HONEST)
    assert not lab.counts(STOLEN)
    check_may_sign(lab.project)


# What a thief of the stolen key puts in the place of the ring, and a careless author.


def _stripped(d):
    for name in ("serial", "issued", "expires", "owners", "threshold", "signatures"):
        del d[name]
    d["version"] = 1
    d["keys"][0]["revoked"] = d["keys"][1]["revoked"] = None


def _forgiven(d):
    for key in d["keys"]:
        key["revoked"] = None


def _b64(data):
    return base64.b64encode(data).decode()


def read(document):
    entries, seal = read_ring(json.dumps(document).encode(), "keys.json")
    return Keyring(entries, seal=seal)


def _signed_again(d, *signers, keyids=None):
    """Forgiven, and signed by whoever is at hand."""
    _forgiven(d)
    d["signatures"] = []
    ring = read(d)
    told = payload_of(ring.entries, ring.seal)
    for number, signer in enumerate(signers):
        name = keyids[number] if keyids else signer.key_id
        data = pae("application/vnd.policy-engine.keyring+json", told)
        d["signatures"].append({"keyid": name, "sig": _b64(signer.sign(data))})


def _set(**fields):
    return lambda d: d.update(fields)


def _also(*steps):
    def all_of(d):
        for step in steps:
            step(d)

    return all_of


def _resigned(*signers, keyids=None):
    return lambda d: _signed_again(d, *signers, keyids=keyids)


def _weak_owner(d):
    d["owners"] = [_b64(bytes(32)), _b64(bytes([1] + [0] * 31))]
    d["threshold"] = 1
    _forgiven(d)
    d["signatures"] = [{"keyid": "0" * 64, "sig": _b64(bytes(64))}]


def _as_statement(d):
    _signed_again(d, ADA, BEN)
    ring = read(d)
    told = pae(PAYLOAD_TYPE, payload_of(ring.entries, ring.seal))
    for each, signer in zip(d["signatures"], (ADA, BEN), strict=True):
        each["sig"] = _b64(signer.sign(told))


def _new_key(d):
    entry = Keyring().adding(THIEF.public_key, NOW)
    d["keys"].append(json.loads(entry.to_json())["keys"][0])


def _drop_revoked(d):
    d["keys"] = [key for key in d["keys"] if not key["revoked"]]


EDITS = {
    "the revocation removed": _forgiven,
    "and a serial more": _also(_forgiven, _set(serial=4)),
    "and a lower serial": _also(_forgiven, _set(serial=2)),
    "and no signatures": _also(_forgiven, _set(signatures=[])),
    "and unsigned as the next one": _also(_forgiven, _set(signatures=[], serial=4)),
    "and a longer life": _also(_forgiven, _set(expires="2999-01-01T00:00:00Z")),
    "the seal removed": _stripped,
    "signed by the stolen key": _resigned(STOLEN),
    "by the stolen key under the names of owners": _resigned(
        STOLEN, STOLEN, keyids=[ADA.key_id, BEN.key_id]
    ),
    "by one owner": _also(_set(serial=4), _resigned(ADA)),
    "by one owner, the same serial": _resigned(ADA),
    "by one owner twice": _also(
        _set(serial=4), _resigned(ADA, ADA, keyids=[ADA.key_id, BEN.key_id])
    ),
    "by one owner, who lowers the threshold": _also(_set(serial=4, threshold=1), _resigned(ADA)),
    "by one owner, who is the only one": _also(
        _set(serial=4, threshold=1, owners=[_b64(raw(ADA))]), _resigned(ADA)
    ),
    "by a thief who owns it": _also(
        _set(serial=4, threshold=1, owners=[_b64(raw(THIEF))]), _resigned(THIEF)
    ),
    "by a thief and one owner": _also(
        _set(serial=4, owners=[_b64(raw(THIEF)), _b64(raw(ADA))]), _resigned(THIEF, ADA)
    ),
    "the owners' signatures of the one before": _set(serial=4),
    "owners' signatures of another kind of statement": _also(_set(serial=4), _as_statement),
    "a key nobody signed": _new_key,
    "a key nobody signed, in the next one": _also(_new_key, _set(serial=4, signatures=[])),
    "the revoked key left out": _also(_drop_revoked, _set(serial=4)),
    "a threshold of none": _also(_set(serial=4, threshold=0), _forgiven),
    "a threshold below none": _also(_set(serial=4, threshold=-1), _forgiven),
    "a threshold that is true": _also(_set(serial=4, threshold=True), _forgiven),
    "a threshold of text": _also(_set(serial=4, threshold="2"), _forgiven),
    "nobody owns it": _also(_set(serial=4, owners=[], signatures=[]), _forgiven),
    "an owner twice": _also(_set(serial=4, owners=[_b64(raw(ADA))] * 2), _forgiven),
    "an owner under whose key anybody signs": _weak_owner,
    "an owner whose key signs releases": _also(
        _set(serial=4, owners=[_b64(raw(STOLEN))], threshold=1), _forgiven
    ),
    "a serial that is no whole number": _also(_set(serial=4.5), _forgiven),
    "a serial without end": _also(_set(serial=10**30), _forgiven),
    "a serial of text": _also(_set(serial="4"), _forgiven),
    "a version to come": _also(_set(version=3), _forgiven),
    "a field that nobody knows": _also(_set(delegates=[]), _forgiven),
    "a signature that is none": _also(_forgiven, _set(signatures=[{"keyid": "a", "sig": "b"}])),
    "a signature of a key twice": _also(
        _forgiven, lambda d: d.update(signatures=d["signatures"][:1] * 2)
    ),
    "issued another day": _also(_forgiven, _set(issued="2020-01-01T00:00:00Z")),
}


@pytest.mark.parametrize("guard", [remembers, pins, both])
@pytest.mark.parametrize("name", EDITS)
def test_no_edit_makes_a_key_count_that_the_owners_withdrew(lab, name, guard):
    guard(lab)
    lab.edit(EDITS[name])
    assert not lab.counts(STOLEN)
    assert not lab.counts(THIEF)
    with pytest.raises(FileError):
        check_may_sign(lab.project)
    if guard is not pins:
        assert Keyring.read(lab.project.ring_seen).seal == lab.last.seal


def first(lab):
    lab.put(lab.first)


def second(lab):
    lab.put(lab.second)


def a_link_to_an_old_one(lab):
    kept = lab.project.directory / "old.json"
    kept.write_text(lab.first.to_json())
    lab.project.keyring.unlink()
    lab.project.keyring.symlink_to(kept)


def none(lab):
    lab.project.keyring.unlink()


def an_empty_one(lab):
    lab.write('{"version": 1, "keys": []}')


def of_another_project(lab):
    ring = Keyring().adding(STOLEN.public_key, NOW)
    lab.put(by(ring, CLEO, expires=NOW + YEAR))


def an_old_one_and_a_new_change(lab):
    lab.put(lab.second)
    change(lab.project.keyring, lambda ring: ring.adding(THIEF.public_key, NOW))


def twice_the_same_name(lab):
    text = lab.last.to_json()
    lab.write(
        text.replace(
            '"keys": [', f'"keys": {json.dumps(json.loads(lab.first.to_json())["keys"])}, "keys": ['
        )
    )


def a_file_without_end(lab):
    lab.write(lab.first.to_json() + " " * 4_000_000)


PLACED = [
    first, second, a_link_to_an_old_one, none, an_empty_one, of_another_project,
    an_old_one_and_a_new_change, twice_the_same_name, a_file_without_end,
]  # fmt: skip


@pytest.mark.parametrize("guard", [remembers, both])
@pytest.mark.parametrize("place", PLACED)
def test_no_older_ring_is_put_back_where_a_newer_one_was_seen(lab, place, guard):
    guard(lab)
    place(lab)
    assert not lab.counts(STOLEN)
    assert not lab.counts(THIEF)
    with pytest.raises(FileError):
        check_may_sign(lab.project)


def test_a_withdrawal_counts_at_once_and_an_addition_when_it_is_signed(lab):
    remembers(lab)
    change(lab.project.keyring, lambda ring: ring.revoking(HONEST.key_id, NOW, "gone"))
    change(lab.project.keyring, lambda ring: ring.adding(CLEO.public_key, NOW))
    assert (lab.counts(HONEST), lab.counts(CLEO), lab.counts(STOLEN)) == (False, False, False)
    assert Keyring.read(lab.project.keyring).seal.serial == 4  # two changes, one serial
    change(lab.project.keyring, lambda ring: by(ring, ADA))
    assert not lab.counts(CLEO)
    change(lab.project.keyring, lambda ring: by(ring, BEN))
    assert (lab.counts(HONEST), lab.counts(CLEO)) == (False, True)
    check_may_sign(lab.project)
    assert Keyring.read(lab.project.ring_seen).seal.serial == 4


def test_a_retirement_counts_at_once_too_and_is_not_put_off(lab):
    remembers(lab)
    change(lab.project.keyring, lambda ring: ring.retiring(HONEST.key_id, NOW - YEAR))
    assert not lab.counts(HONEST)
    retired = lab.last.retiring(HONEST.key_id, NOW - YEAR)
    lab.put(by(retired, ADA, BEN))
    check_may_sign(lab.project)
    later = replace(retired.get(HONEST.key_id).validity, retired=NOW + YEAR)
    lab.put(replace(retired, entries=(replace(retired.get(HONEST.key_id), validity=later),)))
    assert not lab.counts(HONEST)


def test_other_owners_need_the_former_ones(lab):
    remembers(lab)
    new = Owners((raw(CLEO),), 1)
    alone = signed(lab.last, CLEO, NOW, owners=new)
    assert is_signed(alone)
    with pytest.raises(FileError, match="must be signed by 2 of the owners of the one before"):
        check_follows(lab.last, alone)
    handed = by(alone, CLEO)
    for former in (ADA, BEN):
        handed = signed(handed, former, NOW, former=OWNERS.keys)
    check_follows(lab.last, handed)
    lab.put(handed)
    check_may_sign(lab.project)
    # Who has missed it goes through it; whoever it was handed to alone does not take it back.
    after = by(handed.adding(THIEF.public_key, NOW), CLEO)
    check_follows(handed, after)
    with pytest.raises(FileError, match="take the rings between first"):
        check_follows(lab.last, after)
    lab.put(by(handed.adding(THIEF.public_key, NOW), ADA, BEN, owners=OWNERS))
    assert not lab.counts(THIEF)


def test_an_expired_ring_signs_nothing_and_still_says_whose_keys_are_whose(lab):
    seal = replace(lab.last.seal, expires=NOW - YEAR, signatures={})
    old = replace(lab.last, seal=replace(seal, issued=NOW - 2 * YEAR))
    for signer in (ADA, BEN):
        data = pae("application/vnd.policy-engine.keyring+json", payload_of(old.entries, old.seal))
        signatures = {**old.seal.signatures, signer.key_id: signer.sign(data)}
        old = replace(old, seal=replace(old.seal, signatures=signatures))
    lab.put(old)
    assert lab.counts(HONEST)
    with pytest.raises(FileError, match=r"the keyring expired on .* renews it with 'policy-engine"):
        check_may_sign(lab.project)
    lab.put(by(old, ADA, BEN, expires=NOW + YEAR))
    check_may_sign(lab.project)
    lab.put(old)
    with pytest.raises(FileError, match="an old copy may hold keys that were withdrawn since"):
        check_may_sign(lab.project)


def test_a_ring_that_nobody_signs_is_as_it_was(tmp_path):
    project = default_project(tmp_path)
    change(project.keyring, lambda ring: ring.adding(HONEST.public_key, NOW))
    before = project.keyring.read_bytes()
    assert json.loads(before).keys() == {"version", "keys"}
    check_may_sign(project)
    assert believed(project) == Keyring.read(project.keyring)
    assert not project.ring_seen.exists()
    change(project.keyring, lambda ring: ring.retiring(HONEST.key_id, NOW))
    assert json.loads(project.keyring.read_text())["version"] == 1
    check_signed(Keyring.read(project.keyring))
    assert newer_at(project.keyring, Keyring()) is None


def test_a_project_that_names_owners_takes_no_ring_without_them(lab):
    lab.project = replace(lab.project, owners=(raw(CLEO),))
    with pytest.raises(FileError, match="must be signed by 1 of the signing"):
        believed(lab.project)
    lab.write(Keyring().adding(HONEST.public_key, NOW).to_json())
    with pytest.raises(FileError, match="found 0; its owners sign it with"):
        check_may_sign(lab.project)


def test_two_rings_of_one_serial_are_told_apart_though_the_owners_signed_both(lab):
    remembers(lab)
    other = by(lab.second.adding(THIEF.public_key, NOW), ADA, BEN)
    assert other.seal.serial == lab.last.seal.serial
    lab.put(other)
    assert not lab.counts(THIEF)
    with pytest.raises(FileError, match="is another keyring 3 than the one that was seen here"):
        check_may_sign(lab.project)


def test_an_owner_under_whose_key_anybody_signs_has_signed_nothing(lab):
    weak = bytes([1] + [0] * 31)  # the neutral point: R neutral and S = 0 verify for every text
    name = key_id(Ed25519PublicKey.from_public_bytes(weak))
    signatures = {**lab.last.seal.signatures, name: weak + bytes(32)}
    Ed25519PublicKey.from_public_bytes(weak).verify(signatures[name], b"anything")
    lab.put(replace(lab.last, seal=replace(lab.last.seal, signatures=signatures)))
    lab.project = replace(lab.project, owners=(weak,))
    assert not lab.counts(HONEST)


def test_a_ring_that_nobody_knew_before_must_be_signed_as_it_says(lab):
    changed = lab.last.adding(THIEF.public_key, NOW)
    lab.put(changed)
    with pytest.raises(FileError, match="must be signed by 2 of its 2 owners, found 0"):
        believed(lab.project)
    lab.put(by(changed, ADA))
    with pytest.raises(FileError, match="must be signed by 2 of its 2 owners, found 1"):
        check_may_sign(lab.project)


def test_one_owner_who_is_named_twice_is_one(lab):
    own = by(Keyring().adding(THIEF.public_key, NOW), ADA, expires=NOW + YEAR)
    lab.put(own)
    lab.project = replace(lab.project, owners=(raw(ADA), raw(ADA), raw(BEN)), owners_needed=2)
    assert not lab.counts(THIEF)


def test_what_was_seen_is_asked_for_the_owners_of_the_project_file_too(lab):
    remembers(lab)
    lab.put(lab.last.adding(CLEO.public_key, NOW))
    assert lab.counts(HONEST)
    lab.project = replace(lab.project, owners=(raw(CLEO),))
    assert not lab.counts(HONEST)


def test_a_newer_ring_is_found_wherever_it_lies_and_no_other(lab, tmp_path):
    beside = tmp_path / "beside.json"
    for ring, found in (
        (lab.last, 3),
        (lab.second, None),  # the one that is kept
        (lab.first, None),
        (lab.last.adding(THIEF.public_key, NOW), None),
        (by(lab.last.adding(THIEF.public_key, NOW), ADA), None),
        (Keyring().adding(THIEF.public_key, NOW), None),
        (by(Keyring().adding(THIEF.public_key, NOW), CLEO, expires=NOW + YEAR), None),
    ):
        beside.write_text(ring.to_json())
        newer = newer_at(beside, lab.second)
        assert (newer.seal.serial if newer else None) == found
    for text in ("", "{", "[]"):
        beside.write_text(text)
        assert newer_at(beside, lab.second) is None
    os.mkfifo(tmp_path / "pipe")
    assert newer_at(tmp_path / "pipe", lab.second) is None
    assert newer_at(tmp_path / "absent", lab.second) is None


def test_what_is_noted_is_never_an_older_one(lab):
    remember(lab.project, lab.last)
    remember(lab.project, lab.first)
    assert Keyring.read(lab.project.ring_seen).seal.serial == 3


def test_who_may_sign_and_what(lab):
    ring = Keyring().adding(HONEST.public_key, NOW)
    with pytest.raises(UsageError, match="--expires DAY"):
        signed(ring, ADA, NOW)
    for wrong, message in (
        ({"expires": NOW - YEAR}, "name a later day"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(ADA),), 2)}, "--threshold must be at least"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(ADA),), 0)}, "--threshold must be at least"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(ADA),) * 2, 1)}, "each named once"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(BEN),), 1)}, "is none of its owners'"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(HONEST),), 1)}, "signs the ring alone"),
        ({"expires": NOW + YEAR, "owners": Owners((raw(ADA), bytes(32)), 1)}, "anybody signs"),
    ):
        with pytest.raises(UsageError, match=message):
            signed(ring, ADA, NOW, **wrong)
    with pytest.raises(UsageError, match="signs the ring alone"):
        signed(ring, HONEST, NOW, expires=NOW + YEAR)
    with pytest.raises(UsageError, match="owns the ring"):
        lab.last.adding(ADA.public_key, NOW)


def test_what_owners_sign_is_what_is_read(lab):
    entry = RingKey(raw(HONEST), Validity(NOW), "ä\u2028x".replace("\u2028", " "))
    ring = by(replace(lab.last, entries=(entry,)), ADA, BEN, expires=NOW + YEAR)
    lab.put(ring)
    assert Keyring.read(lab.project.keyring).seal == ring.seal
    check_signed(Keyring.read(lab.project.keyring))
    lab.write(json.dumps(json.loads(ring.to_json()), sort_keys=True))  # another layout
    check_signed(Keyring.read(lab.project.keyring))
    key = Ed25519PublicKey.from_public_bytes(ring.seal.owners.keys[0])
    assert key_id(key) in ring.seal.signatures
