"""ledger disown: who decides that a stranger's row is left out, as people run it."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.keys import generate_key
from policy_engine.ledger.records import open_records
from policy_engine.policy.review_models import key_line

LEDGER = Path(".policy-engine/ledger.sqlite")
SAID = ("--by", "Ada", "--why", "ticket 7")


def stray() -> str:
    """A row that somebody without a key writes: its number."""
    with closing(open_records(LEDGER)) as records:
        last = records.read()[-1]
        with records.writing():
            records.append(replace(last, seq=last.seq + 1, previous_hash=last.hash))
    return str(last.seq + 1)


@pytest.fixture
def people(cli, policy, project):
    """Keys of three people; an account that has a release, and reviews where it is asked for."""
    assert cli("release", policy()).code == 0
    told = {}
    for name, role in (("ada", "owner"), ("ben", "privacy"), ("cleo", "author")):
        key = Ed25519PrivateKey.generate()
        generate_key(project / f"{name}.pem", key)
        told[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    return told


@pytest.fixture
def reviewed(cli, people, project):
    both = {"owner": 1, "privacy": 1}
    document = {"version": 1, "account": "people", "serial": 1, "people": people, "claim": both,
                "change": both, "days": 30, "expires": "2999-12-31"}  # fmt: skip
    (project / "p.review.yaml").write_text(json.dumps(document))
    assert cli("review", "require", "p.review.yaml", "--alone", *SAID).code == 0
    return cli


def left_out(cli, row):
    assert f"row {row} is left out, by Ada: ticket 7" in cli("ledger", "verify").out
    assert cli("ledger", "verify").code == 0
    assert cli("release", "a.yaml").code == 0


def test_the_people_of_a_change_decide_where_an_account_has_some(reviewed):
    cli, row = reviewed, stray()
    refused = cli("ledger", "disown", row, *SAID)
    assert refused.code == 1 and "approvals" in refused.err
    os.mkfifo("a.pipe")
    no_key = cli("ledger", "disown", row, *SAID, "--ask", "--key", "a.pipe")
    assert (no_key.code, "a pipe or a device" in no_key.err) == (3, True)
    asked = cli("ledger", "disown", row, *SAID, "--ask", "--key", "cleo.pem", "--format", "json")
    assert asked.code == 0, asked.err
    [request] = asked.document["requests"]
    assert not Path(request).is_absolute() and asked.document["rows"] == [int(row)]
    assert "rows left out" in cli("review", "show", request).out
    for name, role in (("ada", "owner"), ("ben", "privacy")):
        assert cli("ledger", "disown", row, *SAID).code == 1
        key = ("--role", role, "--key", f"{name}.pem")
        approved = cli("review", "approve", request, "--yes", *key)
        assert approved.code == 0, approved.err
    done = cli("ledger", "disown", row, *SAID)
    assert done.code == 0, done.err
    left_out(cli, row)


def test_what_was_approved_of_one_row_leaves_out_no_other(reviewed):
    cli, row = reviewed, stray()
    [request] = cli(
        "ledger", "disown", row, *SAID, "--ask", "--key", "cleo.pem", "--format", "json"
    ).document["requests"]
    for name, role in (("ada", "owner"), ("ben", "privacy")):
        key = ("--role", role, "--key", f"{name}.pem")
        assert cli("review", "approve", request, "--yes", *key).code == 0
    behind = stray()
    refused = cli("ledger", "disown", row, *SAID)
    assert refused.code == 1, refused.out
    assert behind != row and cli("ledger", "verify").code == 1


def test_the_owners_of_the_keyring_decide_where_it_has_some(cli, people):
    assert cli("keys", "sign", "--key", "ada.pem", "--owner", "ada.pub", "--owner", "ben.pub",
               "--threshold", "2", "--expires", "2999-12-31").code in {0, 1}  # fmt: skip
    assert cli("keys", "sign", "--key", "ben.pem").code == 0
    row = stray()
    for owners in ((), ("--owner", "ada.pem"), ("--owner", "ada.pem", "--owner", "cleo.pem")):
        refused = cli("ledger", "disown", row, *SAID, *owners)
        assert refused.code == 1, refused.out + refused.err
        assert "the keyring has owners, and 2 of them leave out rows" in refused.err
    both = ("--owner", "ada.pem", "--owner", "ben.pem")
    assert cli("ledger", "disown", row, *SAID, *both).code == 0
    left_out(cli, row)


def test_any_key_decides_where_there_are_neither_and_nobody_is_asked(cli, people):
    row = stray()
    asked = cli("ledger", "disown", row, *SAID, "--ask")
    assert asked.code == 2 and "leave out --ask" in asked.err
    assert cli("ledger", "disown", row, *SAID).code == 0
    left_out(cli, row)
