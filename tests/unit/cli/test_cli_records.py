"""ledger show, ledger verify and schema."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from decimal import Decimal

import pytest

from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger


def charge(account: str) -> Charge:
    return Charge(account, Decimal("0.25"), Decimal("1e-9"), "add_remove", "p", "sha256:a", "b")


@pytest.fixture
def ledger(project):
    """A ledger with an entry of two accounts, one of them left by a crash."""
    path = project / ".policy-engine" / "ledger.sqlite"
    with Ledger.open(path) as opened:
        opened.reserve(charge("people")).commit(release_name="a.parquet", release_digest="d")
        opened.reserve(charge("others"))
    return path


def test_without_a_ledger_the_limits_are_shown(cli, project):
    result = cli("ledger", "show")
    assert result.code == 0
    assert "no ledger at " in result.out
    assert "people: ε 0, δ 0 spent; ε 1, δ 0.000001 left" in result.out
    document = cli("ledger", "show", "--format", "json").document
    assert document["entries"] == []
    assert [each["account"] for each in document["accounts"]] == ["people"]
    assert not (project / ".policy-engine").exists()


def test_without_a_project_file_there_may_be_nothing(cli, project):
    (project / "policy-engine.yaml").unlink()
    assert cli("ledger", "show", "--format", "json").document["accounts"] == []
    assert "there is no account yet" in cli("ledger", "show", "x").err


def test_all_accounts(cli, ledger):
    text = cli("ledger", "show").out
    assert "others: ε 0.25, δ 1e-9 spent; no limit; 1 charged without a release" in text
    assert "committed  people  ε 0.25  δ 1e-9  p" in text
    document = cli("ledger", "show", "--format", "json").document
    assert document["ledger"] == str(ledger)
    assert document["accounts"] == [
        {
            "account": "others", "neighbours": "add_remove", "entries": 1, "reserved": 1,
            "epsilon_spent": 0.25, "delta_spent": 1e-9, "epsilon_left": None, "delta_left": None,
        },
        {
            "account": "people", "neighbours": "add_remove", "entries": 1, "reserved": 0,
            "epsilon_spent": 0.25, "delta_spent": 1e-9, "epsilon_left": 0.75,
            "delta_left": 9.99e-07,
        },
    ]  # fmt: skip
    first = document["entries"][0]
    assert datetime.fromisoformat(first.pop("reserved_at")).tzinfo is not None
    assert first == {
        "entry": 1, "account": "people", "policy": "p", "state": "committed",
        "epsilon": 0.25, "delta": 1e-9, "release": "a.parquet",
    }  # fmt: skip


def test_one_account(cli, ledger):
    document = cli("ledger", "show", "others", "--format", "json").document
    assert [each["account"] for each in document["accounts"]] == ["others"]
    assert [each["account"] for each in document["entries"]] == ["others"]


def test_an_account_that_is_none(cli, ledger):
    result = cli("ledger", "show", "peple")
    assert (result.code, result.out) == (2, "")
    assert "no account 'peple'" in result.err
    assert "did you mean 'people'?" in result.err


def test_an_unbroken_chain(cli, ledger):
    with Ledger.open(ledger) as opened:
        head = opened.verify_chain()
    text = cli("ledger", "verify")
    assert text.code == 0
    assert f"unbroken, 3 records, head {head.hash}" in text.out
    document = cli("ledger", "verify", "--format", "json").document
    assert document == {
        "ledger": str(ledger), "intact": True, "records": 3, "head": head.hash
    }  # fmt: skip


def test_a_broken_chain_is_a_finding_with_its_record(cli, ledger):
    with sqlite3.connect(ledger) as connection:
        connection.execute("drop trigger records_are_never_changed")
        connection.execute("update records set payload = '{}' where seq = 2")
    result = cli("ledger", "verify")
    assert result.code == 1
    assert "broken at record 2: its content was changed" in result.out
    document = cli("ledger", "verify", "--format", "json").document
    assert document["intact"] is False
    assert "record 2" in document["error"]
    assert cli("ledger", "show").code == 3


def test_no_ledger_to_verify_is_a_failure(cli, project):
    result = cli("ledger", "verify", "--format", "json")
    assert result.code == 3
    assert "there is no ledger here" in result.document["error"]


@pytest.mark.parametrize("content", [b"", b"junk", b"\0" * 5000])
def test_what_is_no_ledger_is_left_as_it_is(cli, project, content):
    path = project / ".policy-engine" / "ledger.sqlite"
    path.parent.mkdir()
    path.write_bytes(content)
    for words in (("show",), ("verify",)):
        result = cli("ledger", *words)
        assert result.code == 3
        assert "not a ledger file" in result.err
    assert path.read_bytes() == content


def test_the_schema_is_json_in_both_formats(cli):
    text = cli("schema")
    assert text.out == cli("schema", "--format", "text").out
    assert text.document["title"] == "policy-engine policy, version 1"
