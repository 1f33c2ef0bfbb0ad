"""keys sign, keys update, and what verify says of a signed keyring."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import generate_key, key_id, load_private_key, load_public_key
from policy_engine.attest.owners import signed
from policy_engine.attest.signers import KeySigner

COUNT = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "0.5")
RING = Path(".policy-engine/keys.json")
SIGN = ("keys", "sign", "--key", "ada.pem")


@pytest.fixture
def owned(cli, project):
    """A project whose keyring Ada signs, the project file says so, and a certificate in pub/."""
    for name in ("ada", "ben"):
        generate_key(Path(f"{name}.pem"))
    assert cli("keys", "generate", "--note", "office").code == 0
    first = cli(*SIGN, "--expires", "2099-12-31")
    line = re.search(r"write '(signing: \{owners: \[\S+\]\})' into policy-engine\.yaml", first.out)
    with Path("policy-engine.yaml").open("a") as file:
        file.write(f"{line[1]}\n")
    Path("pub").mkdir()
    assert cli(*COUNT, "--output", "pub/c.json").code == 0
    return project


def own() -> str:
    return key_id(load_public_key(Path(".policy-engine/signing.pub")))


def test_the_first_signature_says_how_long_it_holds(cli, project):
    generate_key(Path("ada.pem"))
    cli("keys", "generate")
    refused = cli(*SIGN)
    assert (refused.code, "--expires DAY" in refused.err) == (2, True)
    done = cli(*SIGN, "--expires", "2099-12-31", "--format", "json").document
    name = key_id(load_public_key(Path("ada.pub")))
    assert (done["serial"], done["threshold"], done["owners"]) == (1, 1, [name])
    assert (done["signed"], done["signed_by"]) == (True, [name])
    again = cli("keys", "sign", "--key", ".policy-engine/signing.pem")
    assert (again.code, "signs the ring alone" in again.err) == (2, True)


def test_the_list_says_who_has_signed(cli, owned):
    assert re.search(r"keyring 1  signed, until 2099-12-31T23:59:59Z  signed by \w{8}; 1 of 1 must",
                     cli("keys", "list").out)  # fmt: skip
    cli("keys", "generate", "--output", "ci.pem")
    assert "keyring 2  not signed as it must be  signed by nobody yet" in cli("keys", "list").out
    assert cli(*SIGN, "--owner", "ada.pub", "--owner", "ben.pub", "--threshold", "2").code == 0
    document = cli("keys", "list", "--format", "json").document
    assert (document["serial"], document["signed"], len(document["owners"])) == (2, False, 2)
    assert cli("keys", "sign", "--key", "ben.pem", "--format", "json").document["signed"]


def test_an_owner_is_told_what_a_signature_is_for_and_who_else_must_sign(cli, owned):
    added = cli(
        "keys", "generate", "--output", "ci.pem", "--note", "CI", "--format", "json"
    ).document
    other = cli("keys", "sign", "--key", "ben.pem", "--owner", "ben.pub")
    assert other.code == 0
    assert re.search(rf"  now  {added['key_id']}  valid     from \S+  CI\n", other.out)
    assert own() not in other.out  # it stands as it stood
    assert "keyring 2 must be signed by 1 of the owners of the one before, found 0" in other.out
    assert cli(*COUNT, "--output", "pub/d.json").code == 3
    both = cli(*SIGN, "--format", "json").document
    assert (both["signed"], both["waits"], both["removed"]) == (True, "", [])
    assert cli(*COUNT, "--output", "pub/d.json").code == 0
    assert cli(*SIGN, "--threshold", "0").code == 2
    ring = Keyring.read(RING)
    kept = tuple(each for each in ring.entries if each.key_id != added["key_id"])
    RING.write_text(replace(ring, entries=kept).to_json())
    assert cli("keys", "sign", "--key", "ben.pem", "--expires", "2098-12-31", "--format", "json"
               ).document["removed"] == [added["key_id"]]  # fmt: skip


def test_nothing_is_signed_under_a_changed_ring_and_what_stood_verifies(cli, owned):
    kept = own()
    rotated = cli("keys", "rotate")
    assert rotated.code == 0
    refused = cli(*COUNT, "--output", "pub/d.json")
    assert (
        refused.code,
        "keyring 2 must be signed by 1 of its 1 owner, found 0" in refused.err,
    ) == (
        3,
        True,
    )
    assert not Path("pub/d.json").exists()
    assert cli("verify", "pub/c.json").code == 0
    revoked = cli("keys", "revoke", kept, "--why", "stolen")
    assert (revoked.code, revoked.err) == (0, "")
    assert "was revoked" in cli("verify", "pub/c.json").err  # at once
    assert cli(*SIGN).code == 0
    assert cli(*COUNT, "--output", "pub/d.json").code == 0
    assert cli("verify", "pub/d.json").code == 0


def test_a_reader_hears_how_old_the_ring_is_and_of_a_newer_one_beside(cli, owned, tmp_path):
    kept = tmp_path / "reader.json"
    shutil.copy(RING, kept)
    told = cli("verify", "pub/c.json", "--keyring", kept)
    assert told.code == 0
    assert re.search(
        r"    keyring 1, signed 0 days ago, expires on 2099-12-31T23:59:59Z\n", told.out
    )
    [trusted] = cli("verify", "pub/c.json", "--keyring", kept, "--format", "json").document[
        "trusted"
    ]
    assert (trusted["serial"], trusted["expired"]) == (1, False)
    cli("keys", "revoke", own(), "--why", "stolen")
    shutil.copy(RING, "pub/keys.json")
    assert cli("verify", "pub/c.json", "--keyring", kept).code == 0  # nobody has signed it
    cli(*SIGN)
    shutil.copy(RING, "pub/keys.json")
    refused = cli("verify", "pub/c.json", "--keyring", kept)
    assert (refused.code, "was revoked on" in refused.err) == (1, True)
    old = kept.read_bytes()
    shutil.copy(RING, "newer.json")
    Path("pub/keys.json").unlink()
    done = cli("keys", "update", kept, "newer.json")
    assert (done.code, "keyring 2  signed" in done.out) == (0, True)
    assert "was revoked on" in cli("verify", "pub/c.json", "--keyring", kept).err
    Path("older.json").write_bytes(old)
    back = cli("keys", "update", kept, "older.json")
    assert (back.code, "is keyring 1, and keyring 2 was seen here" in back.err) == (3, True)


def test_a_newer_ring_beside_is_named(cli, owned, tmp_path):
    kept = tmp_path / "reader.json"
    shutil.copy(RING, kept)
    cli("keys", "generate", "--output", "ci.pem")
    cli(*SIGN)
    shutil.copy(RING, "pub/keys.json")
    out = cli("verify", "pub/c.json", "--keyring", kept).out
    assert (
        "trusting pub/keys.json: it stands beside the certificate, and the owners of yours" in out
    )
    assert "keyring 2, signed 0 days ago" in out


def test_update_takes_no_ring_without_a_seal_and_none_of_others(cli, owned, tmp_path):
    kept = tmp_path / "reader.json"
    shutil.copy(RING, kept)
    before = kept.read_bytes()
    now = datetime.now(UTC).replace(microsecond=0)
    change(Path("plain.json"), lambda ring: ring)
    Path("plain.json").write_text(Keyring().to_json())
    other = signed(Keyring(), KeySigner(load_private_key(Path("ben.pem"))), now,
                   expires=now + timedelta(days=9))  # fmt: skip
    Path("other.json").write_text(other.to_json())
    for name, code in (("plain.json", 2), ("other.json", 3), ("absent.json", 3)):
        assert cli("keys", "update", kept, name).code == code
    assert cli("keys", "update", "absent.json", kept).code == 3
    assert kept.read_bytes() == before


def test_an_expired_ring_says_what_to_do(cli, owned, tmp_path):
    kept = tmp_path / "reader.json"
    ring, past = Keyring.read(RING), datetime.now(UTC).replace(microsecond=0) - timedelta(days=9)
    ada = KeySigner(load_private_key(Path("ada.pem")))
    old = signed(ring, ada, past, expires=past + timedelta(days=1))
    kept.write_text(old.to_json())
    told = cli("verify", "pub/c.json", "--keyring", kept)
    assert told.code == 0
    said = "keyring 2, signed 9 days ago, expired on"
    assert re.search(f"{said} \\S+: keys may have been revoked since; get a newer one", told.out)
    [place] = cli("verify", "pub/c.json", "--keyring", kept, "--format", "json").document["trusted"]
    assert place["expired"] is True
    shutil.copy(kept, RING)
    refused = cli(*COUNT, "--output", "pub/d.json")
    assert (refused.code, "an owner renews it with" in refused.err) == (3, True)
    assert cli(*SIGN, "--expires", "2099-12-31").code == 0
    assert cli(*COUNT, "--output", "pub/d.json").code == 0


def test_a_release_waits_for_a_signed_ring(cli, owned, policy):
    policy()
    begun = cli("ledger", "begin")
    assert begun.code == 0, begun.err
    cli("keys", "generate", "--output", "ci.pem")
    refused = cli("release", "a.yaml")
    assert (refused.code, "must be signed by" in refused.err) == (3, True)
    assert not Path("out/a.parquet").exists()
    cli(*SIGN)
    assert cli("release", "a.yaml").code == 0
    assert cli("ledger", "verify").code == 0


def test_a_name_that_the_owners_have_not_signed_is_nobodys(cli, owned, policy):
    assert cli("ledger", "begin").code == cli("release", policy("a")).code == 0
    words = ("report", "out/a.certificate.json", "--release", "out/a.parquet", "--format", "json")
    assert cli(*words).document["band"]["releaser_note"] == "office"
    RING.write_text(RING.read_text().replace('"note": "office"', '"note": "the ministry"'))
    band = cli(*words).document["band"]
    assert (band["colour"], band["releaser_note"]) == ("green", None)  # by the ring that was seen
