"""A ledger that has forgotten charges: nothing is released beside them, and a person books them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LEDGER = Path(".policy-engine/ledger.sqlite")


@pytest.fixture
def restored(cli, policy):
    """A ledger of one release, put back where a second one of another policy was charged since."""
    for name in ("a", "b"):
        policy(name, epsilon="0.4")
    assert cli("release", "a.yaml").code == 0
    with closing(sqlite3.connect(LEDGER)) as connection:
        connection.execute("vacuum into 'backup.sqlite'")
    assert cli("release", "b.yaml").code == 0
    for beside in LEDGER.parent.glob("ledger.sqlite*"):
        if beside.suffix != ".head":
            beside.unlink()
    shutil.copy("backup.sqlite", LEDGER)
    return LEDGER


def entries(cli):
    return cli("ledger", "show", "--format", "json").document["entries"]


@pytest.mark.parametrize("seen", [True, False], ids=["the witness says it", "certificates say it"])
def test_nothing_is_released_on_it_until_a_person_books_what_is_proved(cli, policy, restored, seen):
    if not seen:  # on another machine
        Path(".policy-engine/ledger.sqlite.head").unlink()
    for words in (("release", "b.yaml", "--revise", "--replace"), ("release", str(policy("c")))):
        refused = cli(*words, "--quiet", "--format", "json")
        assert refused.code == 3
        assert refused.document["code"] == "ledger_forgot"
        assert "'policy-engine ledger reconcile --from-certificates'" in refused.document["error"]
    assert not Path("out/c.parquet").exists()
    # Nor is a price or what is left said as if it counted.
    planned = cli("plan", "c.yaml", "--format", "json")
    assert (planned.code, planned.document["code"]) == (3, "ledger_forgot")
    shown = cli("ledger", "show")
    assert shown.code == (3 if seen else 1)
    assert "ledger reconcile --from-certificates" in shown.err + shown.out
    done = cli("ledger", "reconcile", "--from-certificates", "--format", "json")
    assert done.code == 0
    [booked] = done.document["booked"]
    assert (booked["account"], booked["certificate"]) == (
        "people",
        "out/b.certificate.json",
    )
    assert cli("ledger", "verify").code == 0
    assert [each["state"] for each in entries(cli)] == ["committed", "committed"]
    # Once is enough, and what is charged beside it counts it.
    assert booked["source_unknown"] == ""
    again = cli("ledger", "reconcile", "--from-certificates")
    assert again.code == 0 and again.out.endswith("0 booked from certificates\n")
    released = 0
    for name in "cdefg":
        policy(name, epsilon="0.4")
        code = cli("release", f"{name}.yaml").code
        assert code in {0, 1}
        released += not code
    balance = cli("ledger", "show", "people", "--format", "json").document["accounts"][0]
    assert balance["entries"] == 2 + released
    assert 0 <= balance["epsilon_spent"] <= 1


def test_what_another_release_took_the_place_of_is_proved_by_its_kept_certificate(cli, restored):
    for _ in range(2):
        Path(".policy-engine/ledger.sqlite.head").unlink(missing_ok=True)
        assert cli("ledger", "reconcile", "--from-certificates").code == 0
        assert cli("release", "b.yaml", "--replace").code == 0
    spent = len(entries(cli))
    for beside in LEDGER.parent.glob("ledger.sqlite*"):
        beside.unlink()
    shutil.copy("backup.sqlite", LEDGER)
    told = cli("ledger", "verify")
    assert told.code == 1 and told.out.count(".certificate.json") >= spent - 1
    assert cli("ledger", "reconcile", "--from-certificates").code == 0
    assert len(entries(cli)) == spent


def test_an_account_that_nobody_knows_is_asked_for(cli, restored):
    project = Path("policy-engine.yaml")
    project.write_text(project.read_text().replace("accounts: {", "accounts: {others: {}, "))
    Path("b.yaml").unlink()
    refused = cli("ledger", "reconcile", "--from-certificates")
    assert refused.code == 2 and "name its account with --account" in refused.err
    assert cli("ledger", "reconcile", "--account", "people").code == 2
    for wrong in ("people", "b=pepole", "a="):
        assert cli("ledger", "reconcile", "--from-certificates", "--account", wrong).code == 2
    done = cli("ledger", "reconcile", "--from-certificates", "--account", "b=people")
    assert done.code == 0 and "1 booked from certificates" in done.out
    assert json.loads(cli("ledger", "show", "--format", "json").out)["entries"][1]["account"] == (
        "people"
    )


def test_each_policy_pays_from_its_own_account_in_a_ledger_that_begins_anew(cli, policy):
    """Booked to one account, what went from two would let one of the limits be spent twice."""
    projects = Path("policy-engine.yaml")
    two = "accounts: {others: {epsilon: 1, delta: 0.1}, "
    projects.write_text(projects.read_text().replace("accounts: {", two))
    shutil.copy("people.parquet", "others.parquet")
    policy("a")
    file = policy("b")
    other = file.read_text().replace("account: people", "account: others")
    file.write_text(other.replace("people.parquet", "others.parquet"))
    assert [cli("release", name).code for name in ("a.yaml", "b.yaml")] == [0, 0]
    for beside in LEDGER.parent.glob("ledger.sqlite*"):
        beside.unlink()
    assert cli("ledger", "begin", "--anew").code == 0
    done = cli("ledger", "reconcile", "--from-certificates", "--format", "json")
    assert done.code == 0, done.err
    assert {each["certificate"]: each["account"] for each in done.document["booked"]} == {
        "out/a.certificate.json": "people",
        "out/b.certificate.json": "others",
    }


def lost(cli):
    """The ledger is gone, and another one begins."""
    for beside in LEDGER.parent.glob("ledger.sqlite*"):
        beside.unlink()
    assert cli("ledger", "begin", "--anew").code == 0
    return cli("ledger", "reconcile", "--from-certificates", "--format", "json")


@pytest.mark.parametrize("file", [True, False])
def test_a_source_that_pays_for_itself_is_booked_to_the_account_that_was_charged(
    cli, policy, project, file
):
    """It was booked to the source as the policy writes it, which no other charge ever names."""
    folder = project / "pol"
    folder.mkdir()
    (project / "people.parquet").rename(folder / "people.parquet")
    account, source = "pol/people.parquet", "source: {file: people.parquet}"
    text = ""
    if not file:
        with duckdb.connect("people.duckdb") as connection:
            connection.execute("create table visits as from 'pol/people.parquet'")
        account, source = "w.main.visits", "source: {table: visits}"
        text = "warehouses: {w: {type: duckdb, database: people.duckdb}}\n"
    Path("policy-engine.yaml").write_text(
        f"{text}accounts: {{{account}: {{epsilon: 0.45, delta: 1.0e-6}}}}\n"
    )
    own = ("account: people\n", "")
    changes = (own, ("source: {file: people.parquet}", source))
    policy("a", *changes, epsilon="0.4").rename(folder / "a.yaml")
    assert cli("release", "pol/a.yaml").code == 0
    done = lost(cli)
    assert [each["account"] for each in done.document["booked"]] == [account]
    assert done.document["booked"][0]["source_unknown"] == ""
    again = cli("release", "pol/a.yaml")
    assert again.code == 0 and "nothing was charged" in again.out
    assert [each["account"] for each in entries(cli)] == [account]


def test_of_two_policies_with_one_text_each_pays_for_the_file_in_its_own_folder(
    cli, policy, project
):
    """What they write is from their folders: booked to the other's, one would be sold anew."""
    listed = []
    for folder in ("north", "south"):
        (project / folder).mkdir()
        shutil.copy("people.parquet", f"{folder}/people.parquet")
        policy("a", ("account: people\n", ""), epsilon="0.4").rename(project / folder / "a.yaml")
        listed.append(f"{folder}/people.parquet: {{epsilon: 0.45, delta: 1.0e-6}}")
    Path("people.parquet").unlink()
    Path("policy-engine.yaml").write_text(f"accounts: {{{', '.join(listed)}}}\n")
    for folder in ("south", "north"):
        assert cli("release", f"{folder}/a.yaml").code == 0
    assert {each["certificate"]: each["account"] for each in lost(cli).document["booked"]} == {
        f"{folder}/out/a.certificate.json": f"{folder}/people.parquet"
        for folder in ("north", "south")
    }


MONTHLY = """\
version: 1
name: {name}
source: {{file: visits.parquet}}
privacy_unit: {{column: person}}
contribution: {{max_groups: 1}}
recode: {{ward: keep}}
period: {{column: day, every: month, from: {begins}}}
guarantee: {{epsilon: 0.3, delta: 1.0e-7}}
release: {{file: 'out/{name}-{{edition}}.parquet'}}
account: people
"""


def monthly(name, begins):
    Path(f"{name}.yaml").write_text(MONTHLY.format(name=name, begins=begins))


@pytest.fixture
def year(cli, project):
    """Two months of 2026 were released, under a limit of a year or without any."""
    days = [date(2025, 12, 1) + timedelta(days=i % 150) for i in range(6000)]
    table = {"person": range(6000), "ward": [["n", "s"][i % 2] for i in range(6000)], "day": days}
    pq.write_table(pa.table(table), "visits.parquet")
    monthly("a", "2026-01")
    monthly("b", "2025-12")

    def release(text):
        Path("policy-engine.yaml").write_text(text)
        for month in ("2026-01", "2026-02", "2026-03"):
            done = cli("release", "a.yaml", "--edition", month)
            assert done.code == 0, done.err

    return release


YEARLY = "accounts: {people: {epsilon: 0.91, delta: 1.0e-6, each: year}}\n"


def test_what_is_booked_counts_in_its_own_year(cli, year):
    """It counted in the year of the next release: an old month's left this year's limit whole."""
    year(YEARLY)
    assert cli("release", "a.yaml", "--edition", "2026-04").code == 1
    assert lost(cli).code == 0
    shown = cli("ledger", "show", "people").out
    assert "2026: 3 charged" in shown
    cli("release", "b.yaml", "--edition", "2025-12")
    refused = cli("release", "a.yaml", "--edition", "2026-04")
    assert refused.code == 1 and "cannot pay" in refused.err


def test_charges_before_a_first_limit_count_in_the_year_of_today(cli, year):
    """They counted in the year of the release that came next, which may be an old month's."""
    year("accounts_open: true\naccounts: {others: {epsilon: 1, delta: 1.0e-6}}\n")
    pinned = Path("policy-engine.yaml")
    pinned.write_text(pinned.read_text().replace("others: {epsilon: 1,", "people: {epsilon: 0.91,")
                      .replace("delta: 1.0e-6}", "delta: 1.0e-6, each: year}"))  # fmt: skip
    refused = cli("release", "b.yaml", "--edition", "2025-12")
    assert refused.code == 1 and "first run 'policy-engine ledger limit people" in refused.err
    assert cli("plan", "b.yaml").code == 1
    [words] = re.findall(r"'policy-engine (ledger limit [^']*)'", refused.err)
    limited = cli(*shlex.split(words.replace("NAME", "Ada").replace("TEXT", "a_year")))
    assert limited.code == 0, limited.err
    cli("release", "b.yaml", "--edition", "2025-12")
    assert cli("release", "a.yaml", "--edition", "2026-04").code == 1


def test_what_a_key_signed_that_is_revoked_was_released_all_the_same(cli, policy, project):
    """Its certificate was passed over without a word, and the release was paid for once more."""
    policy("a")
    assert cli("release", "a.yaml").code == 0
    [old] = (each["key_id"] for each in cli("keys", "list", "--format", "json").document["keys"])
    assert cli("keys", "rotate").code == 0
    assert cli("keys", "revoke", old, "--why", "a laptop was stolen").code == 0
    assert len(lost(cli).document["booked"]) == 1
    assert len(entries(cli)) == 1


def test_a_cause_has_a_code(cli, policy, project):
    policy("a")
    found = {}
    Path("people.parquet").rename("away.parquet")
    found["source_missing"] = cli("release", "a.yaml", "--format", "json")
    Path("away.parquet").rename("people.parquet")
    assert cli("release", "a.yaml").code == 0
    policy("a", epsilon="0.4")
    found["place_taken"] = cli("release", "a.yaml", "--format", "json")
    Path(".policy-engine/sealing.pem").rename("sealing.pem")
    found["key_missing"] = cli("release", "a.yaml", "--format", "json")
    Path("sealing.pem").rename(".policy-engine/sealing.pem")
    LEDGER.rename("away.sqlite")
    found["ledger_missing"] = cli("release", "a.yaml", "--format", "json")
    Path("away.sqlite").rename(LEDGER)
    for code, result in found.items():
        assert (result.code, result.document.get("code")) == (3, code), result.out


def test_what_is_booked_again_is_known_as_it_was_charged(cli, policy, restored):
    """Its place, so that it is put back, and its source, so that it is its account's."""
    assert cli("ledger", "reconcile", "--from-certificates").code == 0
    stands = Path("out/b.parquet").read_bytes()
    assert cli("release", "b.yaml").code == 0
    assert len(entries(cli)) == 2
    Path("out/b.parquet").unlink()
    assert cli("restore", "b.yaml").code == 0
    assert Path("out/b.parquet").read_bytes() == stands
    assert len(entries(cli)) == 2
    project = Path("policy-engine.yaml")
    project.write_text(
        project.read_text().replace("accounts: {", "accounts: {others: {epsilon: 1, delta: 0.1}, ")
    )
    file = policy("b", epsilon="0.4")
    file.write_text(file.read_text().replace("account: people", "account: others"))
    refused = cli("release", "b.yaml", "--replace")
    assert refused.code == 1 and "is that of entry" in refused.err


def test_what_a_certificate_does_not_tell_is_said(cli, policy, restored):
    file = policy("b", epsilon="0.45")
    done = cli("ledger", "reconcile", "--from-certificates")
    assert done.code == 0
    assert "was not recorded, and any account may release it: no policy in " in done.out
    told = cli("restore", "b.yaml")
    assert told.code == 2 and "is of its text before it was changed" in told.err
    file.unlink()
    policy("never", epsilon="0.4")
    told = cli("restore", "never.yaml")
    assert told.code == 2 and "nothing was released of this policy: 'policy-engine" in told.err


def test_two_draws_of_one_second_are_two_charges(cli, policy, monkeypatch):
    monkeypatch.setattr("policy_engine.kernel.certificate.now", lambda: "2026-01-01T00:00:00Z")
    policy("a", epsilon="0.2", k="34")
    assert cli("release", "a.yaml").code == 0
    with closing(sqlite3.connect(LEDGER)) as connection:
        connection.execute("vacuum into 'backup.sqlite'")
    for _ in range(2):
        assert cli("release", "a.yaml", "--revise", "--replace").code == 0
    with closing(sqlite3.connect(LEDGER)) as connection:
        told = connection.execute("select payload from records where kind = 'reserve'").fetchall()
    # The first is no revision, which a certificate says.
    assert len({json.loads(payload)["certificate_digest"] for [payload] in told[1:]}) == 1
    for beside in LEDGER.parent.glob("ledger.sqlite*"):
        beside.unlink()
    shutil.copy("backup.sqlite", LEDGER)
    assert cli("release", "a.yaml", "--revise", "--replace").code == 3
    done = cli("ledger", "reconcile", "--from-certificates")
    assert "2 booked from certificates" in done.out
    assert cli("release", "a.yaml").code == 0  # what stands is the last one's
    assert len(entries(cli)) == 3
