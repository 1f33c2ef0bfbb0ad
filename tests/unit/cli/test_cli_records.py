"""The ledger's commands: show, verify, limit, reconcile, export; and schema."""

from __future__ import annotations

import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from policy_engine.attest.attestation import LEDGER_TYPE, open_envelope
from policy_engine.attest.keys import TrustedKeys
from policy_engine.errors import VerificationFailed
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.records import open_records
from policy_engine.policy.project import load_project
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import open_ledger

LEDGER = Path(".policy-engine/ledger.sqlite")
PUBLIC_KEY = Path(".policy-engine/signing.pub")


def charge(account: str) -> Charge:
    return Charge(account, Decimal("0.25"), Decimal("1e-9"), "add_remove", "p", "sha256:a", "b")


@pytest.fixture
def ledger(project):
    """A ledger with an entry of two accounts, one of them left by a crash."""
    loaded = load_project(project / "policy-engine.yaml")
    with open_ledger(loaded, ledger_writer(loaded)) as opened:
        entry = opened.start(opened.reserve(charge("people")).id)
        opened.commit(entry.id, release_name="a.parquet", release_digest="d")
        opened.reserve(charge("others"))
    return project / LEDGER


@pytest.fixture
def vandal(cli, policy, project):
    """Runs SQL past the triggers on the file of a ledger with two releases, and leaves no trace."""
    for name in ("a", "b"):
        assert cli("release", policy(name)).code == 0

    def run(*statements: str) -> None:
        with sqlite3.connect(project / LEDGER, isolation_level=None) as connection:
            found = "select name, sql from sqlite_master where type = 'trigger'"
            triggers = connection.execute(found).fetchall()
            drops = [f"drop trigger {name}" for name, _ in triggers]
            for statement in (*drops, *statements, *(made for _, made in triggers)):
                connection.execute(statement)

    return run


# show


def test_without_a_ledger_the_limits_are_shown(cli, project):
    result = cli("ledger", "show")
    assert result.code == 0
    assert "no ledger at " in result.out
    only = "by the project file alone: no ledger says what is left; unit: none yet"
    assert f"people: ε 1, δ 0.000001, {only}" in result.out
    document = cli("ledger", "show", "--format", "json").document
    assert document["entries"] == []
    [account] = document["accounts"]
    assert (account["account"], account["epsilon_limit"]) == ("people", 1)
    assert {account[name] for name in ("left", "epsilon_spent", "epsilon_basic")} == {None}
    assert not (project / ".policy-engine").exists()


def test_without_a_project_file_there_may_be_nothing(cli, project):
    (project / "policy-engine.yaml").unlink()
    for words in (("ledger", "show"), ("ledger", "show", "x")):
        told = cli(*words)
        assert told.code != 0 and "no policy-engine.yaml here or above" in told.err


def test_all_accounts(cli, ledger):
    text = cli("ledger", "show").out
    assert "others: ε 0.25, δ 1e-9 spent; no limit; unit: not recorded; 1 charged without a" in text
    assert "committed  people  ε 0.25  δ 1e-9  unit not recorded  p" in text
    assert "reserved   others  ε 0.25  δ 1e-9  unit not recorded  p" in text
    document = cli("ledger", "show", "--format", "json").document
    assert document["ledger"] == str(LEDGER)
    no_limit = {"epsilon_limit": None, "delta_limit": None, "left": None}
    # The project file's limit counts though the ledger has recorded none.
    limit = {
        "epsilon_limit": 1,
        "delta_limit": 1e-6,
        "left": {"like_this": 3, "or_more": False, "other_epsilon": 0.75, "other_delta": 4.9e-8},
    }
    assert document["accounts"] == [
        {
            "account": name, "neighbours": "add_remove", "units": ["not recorded"],
            "entries": 1, "reserved": still_open,
            "epsilon_spent": spent, "delta_spent": 1e-9,
            "epsilon_basic": 0.25, "delta_basic": 1e-9, **most,
        }
        for name, still_open, spent, most in (
            ("others", 1, 0.25, no_limit), ("people", 0, 0.249999, limit),
        )
    ]  # fmt: skip
    assert document["limits"] == []
    first = document["entries"][0]
    assert datetime.fromisoformat(first.pop("reserved_at")).tzinfo is not None
    assert first == {
        "entry": 1, "account": "people", "policy": "p", "state": "committed",
        "epsilon": 0.25, "delta": 1e-9, "unit": "not recorded", "release": "a.parquet",
        "approvals": [],
    }  # fmt: skip


def test_what_was_spent_of_a_limit_is_told_tightly_and_as_a_sum(cli, policy):
    cli("release", policy("a"), policy("b"))
    [account] = cli("ledger", "show", "people", "--format", "json").document["accounts"]
    assert (account["epsilon_limit"], account["delta_limit"]) == (1, 1e-6)
    assert (account["epsilon_basic"], account["delta_basic"]) == (1, 5.263566933e-11)
    assert 0 < account["epsilon_spent"] < account["epsilon_basic"]
    assert 0 < account["delta_spent"] < account["delta_basic"]
    assert account["left"]["like_this"] == 30
    text = cli("ledger", "show", "people").out
    assert text.startswith(f"people: of ε 1, δ 0.000001, ε {account['epsilon_spent']} is spent at")
    assert "(sum of the certificates: ε 1, δ 5.263566933e-11); left: 30 or more like the" in text
    assert re.search(
        r", or one release of another kind with at most ε \S+ \(at δ \S+\); unit: row\n", text
    )


def test_one_account(cli, ledger):
    document = cli("ledger", "show", "others", "--format", "json").document
    assert [each["account"] for each in document["accounts"]] == ["others"]
    assert [each["account"] for each in document["entries"]] == ["others"]


def test_an_account_that_is_none(cli, ledger):
    result = cli("ledger", "show", "peple")
    assert (result.code, result.out) == (2, "")
    assert "no account 'peple'" in result.err
    assert "did you mean 'people'?" in result.err


# verify


def test_a_whole_ledger(cli, ledger):
    document = cli("ledger", "verify", "--format", "json").document
    head = document.pop("head")
    assert document == {"ledger": str(LEDGER), "intact": True, "records": 4,
                        "by_revoked_keys": 0, "approved": 0, "not_compared": "",
                        "not_charged": [], "left_out": [], "witnesses": [],
                        "faults": []}  # fmt: skip
    text = cli("ledger", "verify")
    assert text.code == 0
    assert text.out == f"{LEDGER}: whole and signed, 4 records, head 4:{head}\n"
    assert cli("ledger", "verify", "--head", f"4:{head}").code == 0
    assert cli("ledger", "verify", "--head", f"0:{'0' * 64}").code == 0


def test_what_revoked_keys_have_signed_is_counted(cli, ledger):
    old = listed(cli)
    assert cli("keys", "rotate").code == 0
    assert cli("ledger", "limit", "people", "--epsilon", "1", "--delta", "1e-6", "--by", "Ada",
               "--why", "x").code == 0  # fmt: skip
    last = datetime.now(UTC).replace(microsecond=0)
    while datetime.now(UTC).replace(microsecond=0) == last:
        pass  # without a noted end, records of the second of the revocation count no more
    assert cli("keys", "revoke", old, "--why", "stolen").code == 0
    text = cli("ledger", "verify")
    assert text.code == 0
    told = f"\n4 of them are signed by keys that were revoked later ({old[:8]}): they "
    assert f"{told}stood here when the keyring noted where the ledger ended\n" in text.out
    assert cli("ledger", "verify", "--format", "json").document["by_revoked_keys"] == 4
    ring = ledger.with_name("keys.json")
    document = json.loads(ring.read_text())
    [revoked] = [key["revoked"] for key in document["keys"] if key["key_id"] == old]
    assert revoked.pop("ledgers")[0]["records"] == 5
    ring.write_text(json.dumps(document))  # as an older version wrote it
    assert (
        f"{told}state a time before that, which whoever has such a key can do too; compare the"
        " head with one from before\n"
    ) in cli("ledger", "verify").out
    assert cli("keys", "revoke", old, "--why", "its end").code == 0
    assert f"{told}stood here" in cli("ledger", "verify").out


def listed(cli) -> str:
    [key] = cli("keys", "list", "--format", "json").document["keys"]
    return key["key_id"]


def test_without_its_witness_the_chain_is_checked_all_the_same(cli, ledger, project):
    witness = project / ".policy-engine/ledger.sqlite.head"
    witness.write_text("junk")
    assert "or remove it once 'policy-engine ledger verify'" in cli("ledger", "show").err
    result = cli("ledger", "verify")
    assert result.code == 1
    assert f"{LEDGER}: whole and signed, 4 records, head 4:" in result.out
    name = witness.relative_to(project)
    assert f"whether its end is missing is not known: {name}: cannot read" in result.out
    document = cli("ledger", "verify", "--format", "json").document
    assert document["intact"] is True
    assert "cannot read what was last seen" in document["not_compared"]
    witness.unlink()
    assert cli("ledger", "verify").code == 0


def test_a_strangers_record_leads_to_the_keyring(cli, ledger, project):
    ring = project / ".policy-engine/keys.json"
    kept = ring.read_text()
    ring.unlink()
    for half in ("pem", "pub"):
        (project / f".policy-engine/signing.{half}").rename(project / f"old.{half}")
    result = cli("ledger", "show")
    assert result.code == 3
    assert (
        "a stranger's; on a new machine or in a new clone run 'policy-engine join', which says what"
        " it lacks. If you know whose key it is, enter it with 'policy-engine keys add PUBLIC_KEY'"
    ) in result.err
    assert cli("keys", "add", "old.pub").code == 0
    assert cli("ledger", "verify").code == 0
    assert kept


FORGED = (
    "insert into records select 10, kind, account, entry, request, payload,"
    " (select hash from records where seq = 9), hash, key_id, signature from records where seq = 5"
)


@pytest.mark.parametrize(
    ("statements", "record"),
    [
        (["update records set payload = replace(payload, '0.5', '0.1') where seq = 2"], 2),
        (["update records set signature = (select signature from records where seq = 3)"
          " where seq = 4"], 4),
        (["delete from records where seq = 5"], 5),
        (["delete from records where seq = 3", "update records set seq = seq - 1 where seq > 3"],
         3),
        (["update records set seq = 99 where seq = 3", "update records set seq = 3 where seq = 4",
          "update records set seq = 4 where seq = 99"], 3),
        ([FORGED], 10),
    ],
    ids=["edited", "signature", "removed", "closed up", "reordered", "inserted"],
)  # fmt: skip
def test_a_ledger_that_was_tampered_with_is_a_finding_that_names_the_record(
    cli, vandal, project, statements, record
):
    vandal(*statements)
    # What this machine has seen is not asked: the chain alone shows it.
    (project / ".policy-engine/ledger.sqlite.head").unlink()
    result = cli("ledger", "verify")
    assert result.code == 1
    assert f"record {record}" in result.out
    verified = cli("ledger", "verify", "--format", "json")
    assert verified.code == 1
    assert verified.document["intact"] is False
    assert f"record {record}" in verified.document["error"]
    assert cli("ledger", "export").code == 3
    assert cli("ledger", "reconcile").code == 3


def test_a_ledger_without_its_triggers_is_a_finding(cli, vandal, project):
    """Attack: they were left off for good, and verify found the ledger whole."""
    with sqlite3.connect(project / LEDGER) as connection:
        connection.execute("drop trigger records_are_never_changed")
    result = cli("ledger", "verify")
    assert result.code == 1
    assert "the trigger records_are_never_changed is missing; somebody has edited it" in result.out


def test_a_tail_that_was_cut_off_is_seen_by_the_witness_and_by_a_kept_head(cli, vandal, project):
    kept = cli("ledger", "verify", "--format", "json").document
    head = f"{kept['records']}:{kept['head']}"
    vandal("delete from records where seq > 4")
    seen = cli("ledger", "verify")
    assert seen.code == 1
    assert "this machine has seen record 9 of the ledger, and now it has no such record" in seen.out
    assert cli("ledger", "show").code == 3
    witness = project / ".policy-engine/ledger.sqlite.head"
    witness.unlink()
    # Alone, the shorter chain holds; the certificate that it was charged for tells of the rest.
    told = cli("ledger", "verify", "--format", "json")
    assert (told.code, told.document["intact"]) == (1, True)
    assert [Path(path).name for path in told.document["not_charged"]] == ["b.certificate.json"]
    compared = cli("ledger", "verify", "--head", head)
    assert compared.code == 1
    assert "the ledger had 9 records and has 4: its tail was cut off" in compared.out
    forked = cli("ledger", "verify", "--head", f"4:{'0' * 64}", "--format", "json")
    assert forked.code == 1
    assert "record 4 is another one than it was" in forked.document["error"]


ZEROS = "0" * 64


@pytest.mark.parametrize(
    "head",
    [
        "7",
        "x:y",
        "7:abc",
        ":",
        f"²:{ZEROS}",
        f"-1:{ZEROS}",
        f"{'9' * 5000}:{ZEROS}",
        f"7:{'x' * 64}",
    ],
)
def test_a_head_must_be_one(cli, ledger, head):
    result = cli("ledger", "verify", "--head", head)
    assert (result.code, result.out) == (2, "")
    assert "--head must be RECORDS:HASH" in result.err


def test_the_head_of_an_empty_ledger_is_in_each(cli, ledger):
    assert cli("ledger", "verify", "--head", f"0:{ZEROS}").code == 0
    other = cli("ledger", "verify", "--head", f"0:{'a' * 64}")
    assert other.code == 1
    assert "record 0 is another one than it was" in other.out


def test_no_ledger_to_verify_is_a_failure(cli, project):
    result = cli("ledger", "verify", "--format", "json")
    assert result.code == 3
    assert "there is no ledger here" in result.document["error"]


@pytest.mark.parametrize("content", [b"", b"junk", b"\0" * 5000])
def test_what_is_no_ledger_is_left_as_it_is(cli, project, content):
    path = project / LEDGER
    path.parent.mkdir()
    path.write_bytes(content)
    result = cli("ledger", "show")
    assert result.code == 3
    assert "not a ledger file" in result.err
    assert cli("ledger", "verify").code == 3
    assert path.read_bytes() == content


# limit


LIMIT = ("ledger", "limit", "people", "--epsilon", "2", "--delta", "1e-6")


def test_a_limit_below_what_is_spent_says_what_follows(cli, policy, project):
    cli("release", policy("a"))
    (project / "policy-engine.yaml").write_text("accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n")
    lowered = cli("ledger", "limit", "people", "--epsilon", "0.01", "--delta", "1e-12", "--by", "A",
                  "--why", "b")  # fmt: skip
    assert lowered.code == 0
    assert "still says ε 1, δ 0.000001: lower it there too, or nothing is paid for" in lowered.err
    assert (
        "by this limit people pays for nothing more: none like the last, and no release "
        "of another kind" in lowered.err
    )


def test_of_a_lower_limit_that_pays_nothing_is_not_said_to_be_spent(cli, project):
    """The project file still said more, which stops payments: "has spent its limit already"."""
    (project / "policy-engine.yaml").write_text("accounts: {people: {epsilon: 3, delta: 1.0e-6}}\n")
    lowered = cli(*LIMIT, "--by", "A", "--why", "b")
    assert lowered.code == 0
    assert "still says ε 3, δ 0.000001: lower it there too, or nothing is paid for" in lowered.err
    assert "pays for nothing more" not in lowered.err


def test_of_a_limit_that_is_raised_the_lower_one_is_not_said_to_be_spent(cli, policy, project):
    """Whoever raises it does what the refusal said, and learns what else to do."""
    cli("release", policy("a"))
    (project / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.01, delta: 1.0e-12}}\n"
    )
    raised = cli(*LIMIT, "--by", "Ada", "--why", "a survey")
    assert raised.code == 0
    assert "and the lower limit counts: change it there too" in raised.err
    assert "has spent" not in raised.err


def test_a_repeated_release_says_what_is_left_of_the_lower_limit(cli, policy, project):
    first = cli("release", policy("a"), "--format", "json").document
    (project / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.6, delta: 1.0e-6}}\n"
    )
    again = cli("release", policy("a"), "--format", "json").document
    before, after = (each["ledger"]["left"]["other_epsilon"] for each in (first, again))
    assert after < before < 1


def test_a_limit_is_raised_by_an_entry_and_not_by_the_project_file(cli, policy, project):
    cli("release", policy("a"))
    (project / "policy-engine.yaml").write_text("accounts: {people: {epsilon: 2, delta: 1.0e-6}}\n")
    told = (
        "policy-engine.yaml:1 allows account 'people' ε 2, δ 0.000001, and the ledger ε 1,"
        " δ 0.000001: only an entry that says who and why raises a limit; run 'policy-engine ledger"
        " limit people --epsilon 2 --delta 0.000001 --by NAME --why TEXT'"
    )
    planned = cli("plan", policy("b"))
    assert planned.code == 1
    assert told in planned.out
    document = cli("plan", policy("b"), "--format", "json").document
    assert document["ledger"]["affordable"] is False
    assert told in document["refusal"]
    for words in ((policy("b"),), (policy("b"), policy("c"))):
        refused = cli("release", *words)
        assert refused.code == 1
        assert told in refused.err
    assert not Path("out/b.parquet").exists()
    raised = cli(*LIMIT, "--by", "Ada", "--why", "the 2026 wave", "--format", "json")
    assert 0.5 < raised.document["left"]["other_epsilon"] < 2
    assert raised.document | {"left": 0} == {
        "account": "people", "units": ["row"], "epsilon_limit": 2, "delta_limit": 1e-6,
        "by": "Ada", "why": "the 2026 wave", "left": 0,
    }  # fmt: skip
    assert cli("release", policy("b")).code == 0
    assert cli("ledger", "verify").code == 0


def test_a_limit_says_who_and_why(cli, ledger):
    text = cli(*LIMIT, "--by", "Ada", "--why", "a first one")
    told, charged_before = text.out.splitlines()
    assert (
        told == "people: the limit is now ε 2, δ 0.000001 (unit: not recorded), by Ada: a first one"
    )
    assert charged_before.endswith(
        "for any person. Some were charged before this limit began, so of all its limits the"
        " largest ε counts, and their δ are added up."
    )
    assert "say --by and --why" in cli(*LIMIT, "--by", " ", "--why", "x").err
    assert cli(*LIMIT, "--by", "Ada").code == 2
    wrong = cli("ledger", "limit", "people", "--epsilon", "two", "--delta", "0", "--by", "A",
                "--why", "w")  # fmt: skip
    assert (wrong.code, wrong.err) == (2, "error: --epsilon must be a number, found 'two'\n")
    [_, people] = cli("ledger", "show", "--format", "json").document["accounts"]
    # The project file says 1, which is lower and counts, and that is told.
    assert (people["account"], people["epsilon_limit"]) == ("people", 1)
    assert text.err.endswith(
        "policy-engine.yaml:1 still says ε 1, δ 0.000001, and the lower limit counts: change it"
        " there too\n"
    )
    shown = cli("ledger", "show", "people").out
    assert "(by " in shown
    assert "policy-engine.yaml:1, lower than the ledger's ε 2, δ 0.000001), ε 0.249999 is" in shown
    assert "  limit      people  no limit → ε 2, δ 0.000001, by Ada: a first one\n" in shown


def test_a_name_that_is_nearly_an_accounts_is_taken_for_a_mistyped_one(cli, ledger):
    words = ("--epsilon", "2", "--delta", "1e-6", "--by", "Ada", "--why", "x")
    for name, near in (("peple", "people"), ("other", "others")):
        result = cli("ledger", "limit", name, *words)
        assert result.code == 2
        told = f"there is no account '{name}'; did you mean '{near}'? --new opens a new one"
        assert result.err == f"error: {told}\n"
    assert cli("ledger", "verify", "--format", "json").document["records"] == 4
    assert cli("ledger", "limit", "peple", *words, "--new").code == 0
    assert cli("ledger", "limit", "peple", *words).code == 0
    assert cli("ledger", "limit", "quite another", *words).code == 0


def test_who_changed_a_limit_and_why_is_shown(cli, policy):
    cli("release", policy("a"))
    cli(*LIMIT, "--by", "Ada", "--why", "the 2026 wave")
    [first, second] = cli("ledger", "show", "--format", "json").document["limits"]
    assert datetime.fromisoformat(first.pop("at")).tzinfo is not None
    second.pop("at")
    low, high = ({"epsilon": epsilon, "delta": 1e-6} for epsilon in (1, 2))
    assert first == {"record": 1, "account": "people", "by": "the project file",
                     "why": "its first limit", "from": None, "to": low}  # fmt: skip
    assert second["by"] == "Ada"
    assert (second["why"], second["from"], second["to"]) == ("the 2026 wave", low, high)
    text = cli("ledger", "show").out
    assert "people  ε 1, δ 0.000001 → ε 2, δ 0.000001, by Ada: the 2026 wave\n" in text
    assert cli("ledger", "show", "people", "--format", "json").document["limits"][1]["by"] == "Ada"
    told = open_envelope(cli("ledger", "export").out, TrustedKeys.load(PUBLIC_KEY), LEDGER_TYPE)
    said = [(limit["by"], limit["why"]) for limit in told.predicate["limits"]]
    assert said == [("the project file", "its first limit"), ("Ada", "the 2026 wave")]
    Path("said.json").write_text(cli("ledger", "export").out)
    assert cli("verify", "said.json").code == 0


def test_an_account_is_priced_once(cli, ledger, monkeypatch):
    from policy_engine.ledger import account as accounts

    priced, real = [], accounts.price
    monkeypatch.setattr(accounts, "price", lambda *of: (priced.append(of), real(*of))[1])
    assert cli("ledger", "show").code == 0
    assert len(priced) == 2


def test_the_project_file_lowers_a_limit(cli, policy, project):
    cli("release", policy("a"))
    (project / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.9, delta: 1.0e-6}}\n"
    )
    assert cli("release", policy("b")).code == 0
    [account] = cli("ledger", "show", "people", "--format", "json").document["accounts"]
    assert account["epsilon_limit"] == 0.9


# export


def test_an_export_is_signed_and_holds_nothing_confidential(cli, policy, project):
    cli("release", policy("a"))
    printed = cli("ledger", "export")
    assert printed.code == 0
    out = cli("ledger", "export", "--output", "statement.json")
    assert out.out == "statement.json: signed; entries: 1, accounts: 1\n"
    text = Path("statement.json").read_text()
    trusted = TrustedKeys.load(PUBLIC_KEY)
    statement = open_envelope(text, trusted, LEDGER_TYPE)
    found = statement.predicate
    head = cli("ledger", "verify", "--format", "json").document["head"]
    assert statement.subject_sha256 == found["head"] == head
    assert set(found) == {"version", "records", "head", "accounts", "entries", "limits", "time"}
    assert [dict(limit["to"]) for limit in found["limits"]] == [
        {"epsilon": "1.0", "delta": "0.0000010"}
    ]
    [entry] = found["entries"]
    assert set(entry) == {
        "entry", "account", "policy", "policy_digest", "certificate_digest", "epsilon", "delta",
        "neighbours", "charged", "published", "release_sha256", "date", "edition", "windows",
    }  # fmt: skip
    assert entry["date"] == datetime.fromisoformat(entry["date"]).date().isoformat()
    [account] = found["accounts"]
    assert account["limit"] == {"epsilon": "1.0", "delta": "0.0000010"}
    assert account["basic"] == {"epsilon": "0.5", "delta": "2.63178346650E-11"}
    shown = json.dumps(open_envelope(printed.out, trusted, LEDGER_TYPE).predicate["entries"],
                       default=dict)  # fmt: skip
    with open_ledger(load_project(project / "policy-engine.yaml")) as ledger:
        [charged] = ledger.read().budget.entries()
    run = charged.run
    for secret in (run.of, run.mark, charged.request, *run.sealed.values(), "people.par"):
        assert secret not in shown
    for other in (text.replace("A", "B", 1), text):
        with pytest.raises(VerificationFailed):
            open_envelope(other, TrustedKeys.of(), LEDGER_TYPE)
    with pytest.raises(VerificationFailed, match="predicateType"):
        open_envelope(text, trusted)


def test_an_export_verifies_by_the_projects_keyring(cli, policy):
    from policy_engine.attest.keyring import Keyring

    cli("release", policy("a"))
    trusted = Keyring.read(Path(".policy-engine/keys.json")).trusted()
    open_envelope(cli("ledger", "export").out, trusted, LEDGER_TYPE)


def test_an_export_replaces_no_file(cli, policy):
    cli("release", policy("a"))
    Path("statement.json").write_text("mine")
    result = cli("ledger", "export", "--output", "statement.json")
    assert result.code == 3
    assert result.err == (
        "error: statement.json exists, and a statement never replaces a file; name another one\n"
    )
    assert Path("statement.json").read_text() == "mine"


def test_a_statement_is_verified(cli, policy):
    cli("release", policy("a"))
    cli("ledger", "export", "--output", "statement.json")
    result = cli("verify", "statement.json", "--keyring", ".policy-engine/keys.json")
    assert result.code == 0
    assert result.out.startswith("verified: ledger\n  ✓ signed by ")
    assert "accounts: 1, entries: 1; each account's charges and sum are those of its" in result.out
    document = cli("verify", "statement.json", "--format", "json").document
    assert document["verified"] is True
    assert document["records"] == 5
    told = cli("verify", "statement.json", "--release", "out/a.parquet")
    assert told.code == 2
    assert "this is the statement of a ledger; leave --release out" in told.err
    Path("statement.json").write_text(Path("statement.json").read_text().replace("A", "B", 1))
    assert cli("verify", "statement.json").code == 1


# reconcile


def test_nothing_to_reconcile(cli, project):
    assert cli("ledger", "reconcile").out == "0 settled\n"
    assert not (project / ".policy-engine").exists()


def test_an_entry_that_was_never_started_is_given_back(cli, policy, project):
    """As a run leaves it that is killed between its charge and its start."""
    cli("release", policy("a"))
    before = cli("ledger", "show", "people", "--format", "json").document["accounts"][0]
    loaded = load_project(project / "policy-engine.yaml")
    with open_ledger(loaded, ledger_writer(loaded)) as opened:
        [entry] = opened.read().budget.entries()
        event = charge("people")
        lost = Charge(
            "people", event.epsilon, event.delta, "add_remove", "lost", "sha256:a", "b",
            request="f" * 64, run=replace(entry.run, of="0" * 64),
        )  # fmt: skip
        opened.reserve(lost)
    shown = cli("ledger", "show", "people").out
    assert "; 1 charged without a release: running, failed or stopped" in shown
    settled = cli("ledger", "reconcile", "--format", "json")
    assert settled.code == 0
    assert settled.document == {
        "ledger": str(LEDGER),
        "settled": [
            {"entry": 6, "outcome": "cancelled", "why": "it was never started, so nothing ran"}
        ],
    }
    assert cli("ledger", "show", "people", "--format", "json").document["accounts"][0] == before
    assert cli("ledger", "reconcile").out == "0 settled\n"
    assert cli("ledger", "verify").code == 0


# schema


def test_the_schema_is_json_in_both_formats(cli):
    text = cli("schema")
    assert text.out == cli("schema", "--format", "text").out
    assert "accounts" in cli("schema", "--project").document["properties"]
    assert text.document["title"] == "policy-engine policy, version 1"


def test_the_limit_of_a_relations_account_is_not_set_under_a_name_of_its_table(cli, project):
    words = ("--epsilon", "1", "--delta", "1e-6", "--by", "Ada", "--why", "so")
    full = "duckdb.main.visits"
    assert cli("ledger", "limit", full, *words).code == 0
    result = cli("ledger", "limit", "visits", *words)
    assert result.code == 2
    assert f"did you mean '{full}'? --new opens a new one" in result.err
    assert cli("ledger", "limit", "visits", *words, "--new").code == 0


# A source of another account.


def test_a_source_is_moved_by_a_record_that_the_ledger_shows(cli, policy, project):
    listed = (
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}, others: {epsilon: 1, delta: 1.0e-6}}\n"
    )
    (project / "policy-engine.yaml").write_text(listed)
    assert cli("release", policy()).code == 0
    other = policy("b", ("account: people", "account: others"))
    refused = cli("release", other)
    assert refused.code == 1 and "entry 2 (a), charged to account 'people'" in refused.err
    moving = ("ledger", "move", "2")
    assert "did you mean 'others'?" in cli(*moving, "other", "--by", "Ada", "--why", "x").err
    unlisted = cli(*moving, "unlisted", "--by", "Ada", "--why", "x", "--new")
    assert unlisted.code == 2 and "no account 'unlisted' in" in unlisted.err
    done = cli(*moving, "others", "--by", "Ada", "--why", "new people", "--format", "json")
    assert done.document == {
        "source_of": 2, "from": "people", "to": "others", "by": "Ada", "why": "new people"
    }  # fmt: skip
    assert cli("release", other).code == 0
    shown = cli("ledger", "show").out
    assert "move       people → others  the source of entry 2, by Ada: new people" in shown
    [move] = cli("ledger", "show", "others", "--format", "json").document["moves"]
    assert (move["source_of"], move["to"], move["by"]) == (2, "others", "Ada")
    back = cli(*moving, "people", "--by", "Ada", "--why", "the same people").out
    assert "people who are in both accounts can lose the sum of both limits" in back
    assert cli("ledger", "verify").code == 0


def test_a_sealing_key_takes_over_by_a_record_that_the_ledger_shows(cli, policy, project):
    assert cli("release", policy()).code == 0
    key, old, said = project / ".policy-engine/sealing.pem", project / "old.pem", ("--by", "Ada")
    key.rename(old)
    for both in ((), (str(old), "--lost")):
        result = cli("ledger", "rekey", *both, *said, "--why", "x")
        assert result.code == 2 and "say OLD, the sealing key until now, or --lost" in result.err
    done = cli("ledger", "rekey", str(old), *said, "--why", "stolen")
    assert done.code == 0 and "seals now; sources keep their names, by Ada: stolen" in done.out
    lost = cli("ledger", "rekey", "--lost", *said, "--why", "burnt", "--format", "json").document
    kept, gone = cli("ledger", "show", "--format", "json").document["rekeys"]
    assert kept["sealing_key"] == gone["sealing_key"] == gone["named_by"] == lost["sealing_key"]
    assert kept["named_by"] != kept["sealing_key"]
    shown = cli("ledger", "show").out
    assert f"named by {kept['named_by'][:8]}, as before, by Ada: stolen" in shown
    assert "nobody knows to which account they belong, by Ada: burnt" in shown
    assert cli("ledger", "verify").code == 0


def test_a_row_that_nobody_here_wrote_is_disowned_and_shown(cli, ledger):
    with closing(open_records(ledger)) as records:
        last = records.read()[-1]
        with records.writing():
            records.append(replace(last, seq=last.seq + 1, previous_hash=last.hash))
    broken = cli("ledger", "verify")
    assert broken.code == 1
    assert f"broken at record {last.seq + 1}" in broken.out and "ledger disown" in broken.out
    said = cli("ledger", "disown", str(last.seq), "--by", "Ada", "--why", "ticket 7")
    assert said.code == 2 and "it is no stranger" in said.err
    done = cli("ledger", "disown", str(last.seq + 1), "--by", "Ada", "--why", "ticket 7")
    assert done.out == f"{LEDGER}: row {last.seq + 1} is left out, by Ada: ticket 7\n"
    text = cli("ledger", "verify")
    assert text.code == 0
    assert text.out.endswith(f"\nrow {last.seq + 1} is left out, by Ada: ticket 7\n")
    assert cli("ledger", "verify", "--format", "json").document["left_out"] == [last.seq + 1]
    assert cli("ledger", "show").code == 0


def test_a_signed_record_that_no_release_writes_is_told_and_settled(cli, ledger, project):
    whole = cli("ledger", "show", "--format", "json").document
    assert whole["faults"] == []
    entry = whole["entries"][0]["entry"]
    loaded = load_project(project / "policy-engine.yaml")
    with open_ledger(loaded, ledger_writer(loaded)) as opened, opened.writing() as page:
        seq = page.add("cancel", {}, entry=entry, why="x").seq
    for command in ("verify", "show"):
        found = cli("ledger", command)
        assert found.code == 1
        assert (
            f"record {seq} is a 'cancel' of entry {entry}, which was committed before" in found.out
        )
        assert f"'policy-engine ledger settle {seq} --by NAME --why TEXT'" in found.out
    [fault] = cli("ledger", "verify", "--format", "json").document["faults"]
    assert (fault["record"], fault["entry"], fault["settled"]) == (seq, entry, None)
    # All else goes on.
    assert cli("ledger", "reconcile").code == 0
    assert cli("ledger", "export").code == 0
    assert cli("ledger", "settle", "99", "--by", "Ada", "--why", "x").code == 2
    done = cli("ledger", "settle", str(seq), "--by", "Ada", "--why", "ticket 9")
    assert done.code == 0 and done.out.endswith("settled by Ada: ticket 9\n")
    for command in ("verify", "show"):
        told = cli("ledger", command)
        assert told.code == 0 and "settled by Ada: ticket 9" in told.out


@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_question_is_answered_where_nothing_can_be_written(cli, ledger, command):
    before = cli("ledger", command).out
    words = [sys.executable, "-m", "policy_engine", "ledger", command]
    full = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    found = subprocess.run(
        words, capture_output=True, text=True, check=False, preexec_fn=full,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (0, before), found.stderr


OUTSIDE = (
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "reconcile"),
    ("ledger", "reconcile", "--from-certificates"),
    ("ledger", "export"),
    ("ledger", "settle", "1", "--by", "Ada", "--why", "x"),
    ("keys", "list"),
    ("keys", "rotate"),
    ("keys", "revoke", "3fa2b1c4", "--why", "x"),
    ("join",),
    ("desk",),
)


@pytest.mark.parametrize("words", OUTSIDE, ids=" ".join)
def test_outside_of_a_project_nothing_is_looked_at(cli, tmp_path, monkeypatch, words):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def walked(*_, **__):
        raise AssertionError("the disk is walked")

    monkeypatch.setattr(os, "walk", walked)
    found = cli(*words)
    assert found.code == 2
    assert f"no policy-engine.yaml here or above ({folder})" in found.err
    assert [*folder.iterdir()] == []


def test_the_times_of_a_list_say_their_zone(cli, policy, project):
    """An account's windows follow the project's zone, and the list told UTC without a word."""
    (project / "policy-engine.yaml").write_text(
        "zone: Asia/Tokyo\naccounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
    )
    assert cli("release", policy("a")).code == 0
    shown = cli("ledger", "show").out
    assert len(re.findall(r"^ +\d+  \d{4}-\d\d-\d\d \d\d:\d\d UTC  \w", shown, re.MULTILINE)) == 2
