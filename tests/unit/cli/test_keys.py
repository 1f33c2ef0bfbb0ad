"""keys, and what verify trusts."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import generate_key, key_id, load_public_key

COUNT = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "0.5")
RING = Path(".policy-engine/keys.json")
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def certificate(cli, project):
    """A certificate that the project's first key signed."""
    assert cli(*COUNT, "--output", "c.json").code == 0
    return "c.json"


def own() -> str:
    return key_id(load_public_key(Path(".policy-engine/signing.pub")))


def listed(cli):
    return {
        each["key_id"]: each for each in cli("keys", "list", "--format", "json").document["keys"]
    }


def test_without_a_key_the_list_says_so(cli, project):
    result = cli("keys", "list")
    assert result.code == 0
    assert result.out == (
        "no keyring at .policy-engine/keys.json\n"
        "no signing key yet: the first release makes one, or 'keys generate'\n"
    )
    document = cli("keys", "list", "--format", "json").document
    assert document == {"keyring": str(RING), "signs": None, "keys": []}
    assert not (project / ".policy-engine").exists()


def test_a_key_is_made_listed_and_signs(cli, project):
    result = cli("keys", "generate", "--expires", "2099-12-31", "--note", "laptop")
    assert result.code == 0
    assert re.fullmatch(
        "made .policy-engine/signing.pem and .policy-engine/signing.pub\n"
        f"{own()}  valid     from {MOMENT} until 2099-12-31T23:59:59Z  laptop\n", result.out,
    )  # fmt: skip
    line = cli("keys", "list").out
    assert re.fullmatch(
        f"{own()}  signs     from {MOMENT} until 2099-12-31T23:59:59Z  laptop\n", line
    )
    [entry] = cli("keys", "list", "--format", "json").document["keys"]
    assert (entry["key_id"], entry["state"], entry["expires"], entry["note"]) == (
        own(), "signs", "2099-12-31T23:59:59Z", "laptop",
    )  # fmt: skip
    assert cli(*COUNT, "--output", "c.json").code == 0
    assert cli("verify", "c.json").code == 0


def test_another_key_is_made_elsewhere(cli, certificate):
    result = cli("keys", "generate", "--output", "ci/ci.pem", "--format", "json")
    document = result.document
    assert document["private_key"] == "ci/ci.pem"
    assert document["key_id"] == key_id(load_public_key(Path("ci/ci.pub")))
    assert {each["state"] for each in listed(cli).values()} == {"signs", "valid"}


def test_a_key_that_exists_is_not_made_again(cli, certificate, project):
    result = cli("keys", "generate")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: .policy-engine/signing.pem exists; 'policy-engine keys rotate' puts a"
        " new key in its place, --output makes another one\n"
    )
    result = cli("keys", "generate", "--output", ".policy-engine/signing.pem")
    assert result.code == 3
    assert "exists, and a key is never overwritten" in result.err


@pytest.mark.parametrize("command", [("generate",), ("rotate",), ("add", "x.pub")])
@pytest.mark.parametrize(
    "day", ["soon", "2099-13-01", "2099-1-1", "2099-02-29", "20991231", "2099-12-31T00:00:00Z", ""]
)
def test_a_day_is_a_day(cli, certificate, command, day):
    generate_key(Path("x.pem"))
    result = cli(
        "keys", *command, "--expires", day, *(("--output", "o") if command[0][0] == "g" else ())
    )
    assert result.code == 2
    assert result.err == f"error: --expires must be a day as 2027-12-31, found {day!a}\n"


def test_a_day_that_is_over_expires_nothing(cli, project):
    result = cli("keys", "generate", "--expires", "2020-01-01")
    assert result.code == 2
    assert re.fullmatch(
        f"error: a key that expires on 2020-01-01T23:59:59Z, before it was added on {MOMENT}, signs"
        " nothing; name a later day with --expires\n", result.err,
    )  # fmt: skip
    assert not list(project.rglob("signing*"))
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert cli("keys", "generate", "--expires", today).code == 0
    # Of an old key that others used it may be.
    generate_key(Path("old.pem"))
    words = ("--since", "2020-01-01", "--expires", "2020-12-31")
    assert (
        "  expired   from 2020-01-01T00:00:00Z until 2020-12-31T23:59:59Z"
        in cli("keys", "add", "old.pub", *words).out
    )


def test_a_rotation(cli, certificate, project):
    old = own()
    result = cli("keys", "rotate", "--note", "second")
    assert result.code == 0
    kept = project / f".policy-engine/signing.{old[:8]}.pem"
    assert re.fullmatch(
        f"{old}  retired   from {MOMENT} until {MOMENT}\n"
        f"{own()}  signs     from {MOMENT}  second\n"
        f"the old private key is kept as {re.escape(str(kept.relative_to(project)))}\n", result.out,
    )  # fmt: skip
    assert own() != old
    # What the old key signed verifies, by the ring; the public key of the project alone is new.
    assert cli("verify", certificate).code == 0
    assert cli("verify", certificate, "--key", ".policy-engine/signing.pub").code == 1
    assert cli(*COUNT, "--output", "d.json").code == 0
    assert f"signed by {own()}" in cli("verify", "d.json").out
    document = cli("keys", "rotate", "--format", "json").document
    assert document["signs"] == own()
    assert [each["state"] for each in document["keys"]] == ["retired", "signs"]
    assert Path(document["kept"]).exists()


def test_a_key_is_revoked_though_the_ledger_cannot_be_read(cli, certificate, project):
    (project / ".policy-engine/ledger.sqlite").write_text("junk")
    result = cli("keys", "revoke", own(), "--why", "stolen")
    assert result.code == 0
    assert result.err.startswith("where the ledger ends is not noted, so what the key has signed")
    assert listed(cli)[own()]["state"] == "revoked"


def test_a_revoked_key_counts_nowhere_but_by_name(cli, certificate, project):
    name = own()
    result = cli("keys", "revoke", name[:8], "--why", "the laptop was stolen")
    assert result.code == 0
    assert re.fullmatch(
        f"{name}  revoked   from {MOMENT}  revoked {MOMENT}: the laptop was stolen\n", result.out
    )
    for words in (
        (),
        ("--keyring", RING),
        ("--keyring", RING, "--key", ".policy-engine/signing.pub"),
    ):
        refused = cli("verify", certificate, *words)
        assert refused.code == 1
        assert re.fullmatch(
            f"error: key {name} was revoked on {MOMENT} \\(the laptop was stolen\\): nothing that"
            " it signed counts; ask for a new release under another key\n", refused.err,
        )  # fmt: skip
    assert cli("verify", certificate, "--key", ".policy-engine/signing.pub").code == 0
    signed = cli(*COUNT, "--output", "d.json")
    assert signed.code == 3
    assert signed.err.endswith("sign with another key: 'policy-engine keys rotate' makes one\n")
    assert not Path("d.json").exists()
    again = cli("keys", "revoke", name, "--why", "again")
    assert again.code == 2
    assert re.fullmatch(
        f"error: .*keys.json: key {name} was revoked on {MOMENT} already\n", again.err
    )
    assert cli("keys", "rotate").code == 0
    assert cli(*COUNT, "--output", "d.json").code == 0
    assert cli("verify", "d.json").code == 0
    assert listed(cli)[name]["state"] == "revoked"


def test_a_revocation_needs_a_reason_and_a_key(cli, certificate):
    assert cli("keys", "revoke", own()).code == 2
    assert "say it with --why" in cli("keys", "revoke", own(), "--why", "").err
    result = cli("keys", "revoke", "0123abcd", "--why", "x")
    assert result.code == 2
    assert "no key 0123abcd; 'policy-engine keys list' shows them" in result.err


def test_a_key_from_elsewhere_is_added_and_retired(cli, certificate):
    generate_key(Path("ci.pem"))
    name = key_id(load_public_key(Path("ci.pub")))
    result = cli("keys", "add", "ci.pub", "--since", "2026-01-01", "--note", "CI")
    assert result.code == 0
    assert result.out == f"{name}  valid     from 2026-01-01T00:00:00Z  CI\n"
    assert cli("keys", "add", "ci.pub").code == 2
    assert "this is the private key" in cli("keys", "add", "ci.pem").err
    assert cli("keys", "add", "none.pub").code == 3
    assert listed(cli)[name]["state"] == "valid"
    result = cli("keys", "retire", name[:12], "--format", "json")
    assert result.code == 0
    assert result.document["state"] == "retired"
    first = listed(cli)[name]["retired"]
    assert cli("keys", "retire", name).code == 0
    assert listed(cli)[name]["retired"] == first
    generate_key(Path("late.pem"))
    assert "valid" in cli("keys", "add", "late.pub", "--since", "2099-01-01").out


def test_an_expired_key_is_told_apart(cli, certificate):
    name = own()
    end = datetime(2026, 1, 2, tzinfo=UTC)

    def expired(ring):
        entry = ring.find(name)
        begin = datetime(2026, 1, 1, tzinfo=UTC)
        return Keyring((), ring.where).adding(entry.public_key, begin, expires=end)

    change(RING, expired)
    assert listed(cli)[name]["state"] == "expired"
    refused = cli("verify", certificate)
    assert refused.code == 1
    assert f"key {name} expired on 2026-01-02T00:00:00Z, and this was signed as of " in refused.err


def test_the_key_of_the_environment_signs_and_is_listed(cli, project, monkeypatch):
    generate_key(Path("ci.pem"))
    name = key_id(load_public_key(Path("ci.pub")))
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", Path("ci.pem").read_text())
    result = cli("keys", "list")
    assert result.out.endswith(
        f"{name}  signs, and is not in the keyring: 'keys add' enters its public key\n"
    )
    assert cli("keys", "add", "ci.pub").code == 0
    assert listed(cli)[name]["state"] == "signs"
    result = cli("keys", "rotate")
    assert result.code == 2
    assert "POLICY_ENGINE_SIGNING_KEY is set and signs" in result.err


def test_a_command_signs(cli, project):
    generate_key(Path("kms.pem"))
    name = key_id(load_public_key(Path("kms.pub")))
    Path("sign").write_text(
        f"#!{sys.executable}\nimport base64, sys\nfrom pathlib import Path\n"
        "from policy_engine.attest.keys import load_private_key\n"
        "key = load_private_key(Path('kms.pem'))\n"
        "print(base64.b64encode(key.sign(sys.stdin.buffer.read())).decode())\n"
    )
    Path("sign").chmod(0o755)
    Path("policy-engine.yaml").write_text("signing: {command: [./sign], public_key: kms.pub}\n")
    assert cli(*COUNT, "--output", "c.json").code == 0
    assert f"signed by {name}" in cli("verify", "c.json").out
    assert not Path(".policy-engine").exists()
    assert cli("keys", "add", "kms.pub").code == 0
    assert listed(cli)[name]["state"] == "signs"
    assert json.loads(Path("keys.json").read_text())["keys"][0]["key_id"] == name
    for words in (("rotate",), ("generate",)):
        result = cli("keys", *words)
        assert result.code == 2
        assert "the project signs by a command" in result.err
    Path("sign").write_text("#!/bin/sh\necho 'quota is used up' >&2\nexit 4\n")
    result = cli(*COUNT, "--output", "d.json")
    assert result.code == 3
    assert result.err == (
        "error: signing.command: './sign' ended with code 4 and said 'quota is used up';"
        " nothing was signed\n"
    )
    assert not Path("d.json").exists()


def test_a_reader_needs_the_keyring_only(cli, certificate, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("reader")
    (folder / "c.json").write_bytes(Path(certificate).read_bytes())
    (folder / "theirs.json").write_bytes(RING.read_bytes())
    monkeypatch.chdir(folder)
    result = cli("verify", "c.json")
    assert result.code == 2
    assert result.err == (
        "error: no key to trust: name the public key of whoever signed the certificate,"
        " --key signing.pub, or their keyring, --keyring keys.json (the project of a release keeps"
        " both in .policy-engine/)\n"
    )
    assert cli("verify", "c.json", "--keyring", "theirs.json").code == 0
    assert cli("verify", "c.json", "--keyring", "none.json").code == 3
    Path("theirs.json").write_text("{}")
    broken = cli("verify", "c.json", "--keyring", "theirs.json")
    assert broken.code == 3
    assert "must be an object with exactly version, keys" in broken.err


def test_a_project_above_lends_its_ring(cli, certificate, monkeypatch):
    Path("policy-engine.yaml").unlink()
    Path(".policy-engine/signing.pub").unlink()
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    assert cli("verify", f"../../{certificate}").code == 0


def test_only_owners_read_private_keys(cli, project):
    before = os.umask(0)
    try:
        assert cli("keys", "generate").code == 0
        assert cli("keys", "rotate").code == 0
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in Path(".policy-engine").iterdir()}
    assert {modes[name] for name in modes if name.endswith(".pem")} == {0o600}
    assert (modes["signing.pub"], modes["keys.json"], modes["keys.json.lock"]) == (
        0o644, 0o644, 0o600,
    )  # fmt: skip
