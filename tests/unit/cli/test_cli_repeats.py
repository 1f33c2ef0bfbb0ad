"""Releasing again: what stands stands, and a new release is said to be one."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

NATIVE = ("rate: 0.1", "rate: 0.1, method: native")


def digests() -> dict[str, str]:
    files = [path for path in Path("out").glob("*") if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def records(cli) -> int:
    return cli("ledger", "verify", "--format", "json").document["records"]


def account(cli) -> dict:
    [found] = cli("ledger", "show", "--format", "json").document["accounts"]
    return found


@pytest.mark.parametrize("change", [[], [NATIVE]], ids=["keyed", "native"])
def test_the_same_release_twice_costs_once(cli, policy, change):
    file = policy("a", *change)
    first = cli("release", file, "--format", "json").document
    before, charged, count = digests(), account(cli), records(cli)
    again = cli("release", file, "--format", "json")
    assert (again.code, again.err) == (0, "")
    assert again.document == {**first, "repeated": True, "outcome": "stands"}
    assert (first["repeated"], first["outcome"]) == (False, "released")
    text = cli("release", file, "--replace")
    assert text.out.startswith("a stands; its source was not looked at, nothing was charged\n")
    assert (digests(), account(cli), records(cli)) == (before, charged, count)
    entry = first["ledger"]["entry"]
    planned = cli("plan", file)
    assert planned.out.endswith(f"\nentry {entry} has paid for just this: it costs nothing again\n")
    document = cli("plan", file, "--format", "json").document
    assert document["ledger"]["paid_by_entry"] == entry


@pytest.mark.parametrize("lost", ["both", "out/a.parquet", "out/a.certificate.json"])
def test_a_release_that_was_deleted_comes_out_again_as_it_was(cli, policy, lost):
    file = policy()
    cli("release", file)
    before, charged = digests(), account(cli)
    names = ["out/a.parquet", "out/a.certificate.json"] if lost == "both" else [lost]
    for name in names:
        Path(name).unlink()
    Path("people.parquet").unlink()
    again = cli("release", file, "--format", "json")
    assert (again.code, again.err) == (0, "")
    assert again.document["outcome"] == "put back"
    assert digests() == before
    assert account(cli) == charged
    assert cli("verify", "out/a.certificate.json", "--release", "out/a.parquet").code == 0


def test_a_release_that_was_written_over_is_put_back_only_when_asked(cli, policy):
    file = policy()
    cli("release", file)
    before, charged = digests(), account(cli)
    other = policy("b", ("name: b", "name: a"), ("out/b.parquet", "out/a.parquet"), k="21")
    assert cli("release", other, "--replace").code == 0
    assert digests() != before
    assert account(cli)["entries"] == charged["entries"] + 1
    assert cli("release", file).code == 3
    again = cli("release", file, "--replace", "--format", "json")
    assert (again.err, again.document["repeated"]) == ("", True)
    assert digests() == before
    assert account(cli)["entries"] == charged["entries"] + 1


def test_a_changed_policy_is_said_before_it_is_charged(cli, policy):
    cli("release", policy())
    changed = policy("a", k="21")
    told = "a was released before (entry 2), and the policy has changed: this is a new release, at"
    refused = cli("release", changed)
    assert refused.code == 3
    assert "exists; use --replace to release anew, at a new price" in refused.err
    assert told not in refused.err  # no price is announced of what is not charged
    assert told.partition(":")[0] in refused.err
    assert account(cli)["entries"] == 1
    done = cli("release", changed, "--replace", "--format", "json")
    assert done.code == 0
    assert done.err.startswith(f"{told} the price of ε 0.5, δ ")
    assert (done.document["repeated"], done.document["ledger"]["entry"]) == (False, 6)
    assert account(cli)["entries"] == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(1),
        lambda table: table.append_column("x", table["age"]),
        lambda table: table.slice(0, 0),
    ],
)
def test_what_the_source_holds_changes_nothing_of_a_release_that_stands(cli, policy, change):
    """Attack: other bytes and a charge told with certainty that somebody had come."""
    file = policy()
    first = cli("release", file, "--format", "json").document
    before, count = digests(), records(cli)
    pq.write_table(change(pq.read_table("people.parquet")), "people.parquet")
    again = cli("release", file, "--replace", "--format", "json")
    assert (again.code, again.err) == (0, "")
    assert again.document == {**first, "repeated": True, "outcome": "stands"}
    assert (digests(), records(cli)) == (before, count)


def test_fresh_draws_anew_and_charges(cli, policy):
    file = policy()
    cli("release", file)
    before = digests()
    kept = cli("release", file, "--revise")
    assert kept.code == 3
    assert "exists; use --replace" in kept.err
    assert (digests(), account(cli)["entries"]) == (before, 1)
    done = cli("release", file, "--revise", "--replace", "--format", "json")
    assert done.err.startswith(
        "a was released before (entry 2), and a new sample is asked for: this is a new release"
    )
    assert done.document["repeated"] is False
    assert digests() != before
    assert account(cli)["entries"] == 2
    # From here on the last sample is the one that is repeated.
    after = digests()
    Path("out/a.parquet").unlink()
    assert cli("release", file, "--format", "json").document["ledger"]["entry"] == 6
    assert digests() == after


def test_a_lost_release_without_a_copy_has_a_price(cli, policy):
    file = policy("a", NATIVE)
    cli("release", file)
    shutil.rmtree("out")
    assert cli("plan", file, "--format", "json").document["ledger"]["paid_by_entry"] is None
    for command in ("release", "restore"):
        lost = cli(command, file)
        assert lost.code == 1
        assert lost.err.startswith(
            "error: a: entry 2 was drawn, and neither its release nor a copy of those bytes is"
            " here; it stays charged. Bring the release and its certificate from where it was"
            " drawn, if it was another machine; or 'policy-engine release --revise' draws anew, at"
            " the price of a new release: ε 0.5, δ "
        )
    assert cli("release", file, "--revise").code == 0
    assert account(cli)["entries"] == 2


def test_restore_says_what_stands_and_what_was_never_released(cli, policy):
    file = policy()
    assert (
        "nothing was released of this policy: 'policy-engine release' does"
        in cli("restore", file).err
    )
    cli("release", file)
    assert cli("restore", file).out.startswith("a stands; its source was not looked at")
    Path("out/a.parquet").write_bytes(b"other")
    assert "--replace puts it there at no cost" in cli("restore", file).err
    Path("out/a.parquet").unlink()
    done = cli("restore", file, "--format", "json")
    assert (done.code, done.document["outcome"]) == (0, "put back")


@pytest.mark.parametrize("method", ["keyed", "native"])
def test_a_table_is_repeated_too(cli, policy, project, method):
    def run(sql: str) -> list:
        with duckdb.connect(str(project / "w.duckdb")) as connection:
            return connection.execute(sql).fetchall()

    run("create table people as from 'people.parquet'")
    (project / "policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
        "accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n"
    )
    file = policy(
        "a",
        ("file: people.parquet", "table: people"),
        ("file: out/a.parquet", "table: released"),
        ("rate: 0.1", f"rate: 0.1, method: {method}"),
    )
    first = cli("release", file, "--format", "json").document
    rows, certificate = run("from released"), Path("a.certificate.json").read_bytes()
    again = cli("release", file, "--format", "json")
    assert (again.err, again.document) == ("", {**first, "repeated": True, "outcome": "stands"})
    run("drop table released")
    Path("a.certificate.json").unlink()
    restored = cli("release", file, "--format", "json")
    assert restored.code == 0
    assert run("from released") == rows
    assert Path("a.certificate.json").read_bytes() == certificate
    run("insert into people select * from people limit 1")
    changed = cli("release", file, "--replace")
    assert (changed.code, changed.err) == (0, "")
    assert run("from released") == rows
    assert account(cli)["entries"] == 1


def test_what_is_repeated_needs_no_budget_and_new_policies_beside_it_do(cli, policy, project):
    (project / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.5, delta: 5.0e-11}}\n"
    )
    assert cli("release", policy("a")).code == 0
    assert cli("release", policy("a")).code == 0
    both = cli("release", policy("a"), policy("b"))
    assert both.code == 1
    assert "cannot pay for policy 'b'" in both.err
    assert not Path("out/b.parquet").exists()


def test_a_refusal_names_the_greatest_release_and_announces_no_price(cli, policy, project):
    (project / "policy-engine.yaml").write_text("accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n")
    noisy = ("sample: {rate: 0.1}", "mechanism: noisy_counts"), ("1.0e-9", "1.0e-7")
    assert cli("release", policy("a", *noisy)).code == 0
    greedy = policy("a", *noisy, ("epsilon: 0.5", "epsilon: 0.9"))
    before = len(cli("ledger", "show", "--format", "json").document["entries"])
    refused = cli("release", greedy, "--replace")
    assert refused.code == 1
    assert "was released before" not in refused.err
    assert "what was released first would fit once more, unchanged (ε 0.5, δ " in refused.err
    assert len(cli("ledger", "show", "--format", "json").document["entries"]) == before


def test_a_policy_that_was_renamed_is_told_what_stands_there_and_its_old_name(cli, policy):
    """It was told that something exists, and with another place it was charged without a word."""
    file = policy()
    assert cli("release", file).code == 0
    text = file.read_text()
    file.write_text(text.replace("name: a", "name: lending"))
    law = ", and this one is called 'lending': by another name it is a new release. If it was"
    remedy = (
        r"renamed, write name: (\S+) again: that costs nothing, and what it has released is its"
    )
    refused = cli("release", file)
    assert refused.code == 3
    there = "the last release of out/a.parquet is of policy 'a' (entry 2)"
    assert f"{there}{law}" in refused.err, refused.err
    assert f"{there}{law}" in cli("plan", file).err
    file.write_text(file.read_text().replace("out/a", "out/lending"))
    planned = cli("plan", file)
    assert (
        f"policy 'a', which no file has now, has released just this (entry 2){law}" in planned.err
    )
    [name] = re.findall(remedy, planned.err)
    file.write_text(text.replace("name: a", f"name: {name}"))
    done = cli("release", file)
    assert (done.code, "nothing was charged" in done.out, account(cli)["entries"]) == (0, True, 1)
