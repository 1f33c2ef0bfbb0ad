"""A source belongs to one account, however it is written and wherever it lies."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from small_project import SmallProject

from policy_engine.attest.sealing import generate_sealing_key, load_sealing_key
from policy_engine.errors import BudgetExceeded, FileError, LedgerError, PolicyError, UsageError
from policy_engine.ledger import deciding
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.states import moves_of, rekeys_of
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import ListedWarehouse, Project, load_project_text
from policy_engine.releasing.books import rekey
from policy_engine.releasing.preview import preview
from policy_engine.releasing.release import release
from policy_engine.releasing.requests import name_of_place, names_beside

_OPEN = (
    "warehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    "accounts: {people: {}, others: {}}\naccounts_open: true\n"
)
_POLICY = """\
version: 1
name: {name}
source: {{{source}}}
privacy_unit: {{column: person, rows: any}}
recode: {{age: {{bins: [18]}}}}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 1, delta: 0.99}}
release: {{file: out/{name}.parquet}}
{budget}
"""
_OTHERS = "account: others"


@pytest.fixture
def small(tmp_path) -> SmallProject:
    """A project of two accounts and any other, whose source was released for one."""
    made = SmallProject.at(tmp_path, _OPEN)
    with duckdb.connect(str(tmp_path / "db.duckdb")) as connection:
        path = tmp_path / "source.parquet"
        connection.execute(f"create table persons as from '{path}'")
        connection.execute("create schema other; create table other.copied as from persons")
    return made


def released(
    small: SmallProject, source: str, budget: str = "account: people", name: str = "first"
) -> int:
    policy = small.folder / f"{name}.yaml"
    text = _POLICY.format(name=name, source=source, budget=budget)
    return release(load_policy_text(text, policy, small.folder), small.project).entry


def refused(small: SmallProject, source: str, budget: str = _OTHERS) -> str:
    """What a second account is told, by the release and before by the plan; nothing is charged."""
    before = len(small.entries)
    text = _POLICY.format(name="second", source=source, budget=budget)
    policy = load_policy_text(text, small.folder / "second.yaml", small.folder)
    with pytest.raises(BudgetExceeded) as caught:
        release(policy, small.project)
    assert preview(policy, small.project).refusal == str(caught.value)
    assert len(small.entries) == before
    return str(caught.value)


def test_a_file_is_not_sold_again_by_another_account_and_both_entries_are_named(small):
    released(small, "file: source.parquet")
    assert refused(small, "file: source.parquet") == (
        "account 'others' cannot pay for policy 'second': its source is that of entry 1 (first),"
        " charged to account 'people', and people who pay from two accounts lose the sum of both"
        " limits. Write 'account: people' in the policy; if the source is to belong to 'others'"
        " from now on, run 'policy-engine ledger move 1 others --by NAME --why TEXT'"
    )
    assert "account 'source.parquet' cannot pay" in refused(small, "file: source.parquet", "")


def test_a_folder_is_not_sold_beside_a_file_of_it_nor_the_file_beside_the_folder(small):
    inside = small.folder / "all" / "deep"
    inside.mkdir(parents=True)
    shutil.copy(small.folder / "source.parquet", inside / "a.parquet")
    with duckdb.connect() as connection:
        made = f"select * replace (age + 1 as age) from '{inside / 'a.parquet'}'"
        connection.execute(f"copy ({made}) to '{inside / 'b.parquet'}'")
    released(small, "file: all/deep/a.parquet")
    assert "charged to account 'people'" in refused(small, "file: all")
    assert "charged to account 'people'" in refused(small, "file: all/deep")
    released(small, "file: all/deep/b.parquet", _OTHERS, "third")


def test_a_file_of_a_folder_is_of_the_folders_account(small):
    inside = small.folder / "all" / "deep"
    inside.mkdir(parents=True)
    shutil.copy(small.folder / "source.parquet", inside / "a.parquet")
    with duckdb.connect() as connection:
        made = f"select * replace (age + 1 as age) from '{inside / 'a.parquet'}'"
        connection.execute(f"copy ({made}) to '{inside / 'b.parquet'}'")
    released(small, "file: all")
    assert "its source is that of entry 1" in refused(small, "file: all/deep/b.parquet")
    assert "its source is that of entry 1" in refused(small, "file: all/deep")


def _copied(folder: Path) -> str:
    shutil.copy(folder / "source.parquet", folder / "copy.parquet")
    return "copy.parquet"


def _linked(folder: Path) -> str:
    (folder / "link.parquet").symlink_to("source.parquet")
    return "link.parquet"


def _roundabout(folder: Path) -> str:
    return f"../{folder.name}/source.parquet"


@pytest.mark.parametrize("other", [_linked, _roundabout])
def test_nor_is_a_link_or_another_spelling_of_it(small, other):
    released(small, "file: source.parquet")
    assert "entry 1 (first), charged to account 'people'" in refused(
        small, f"file: {other(small.folder)}"
    )


def test_nor_the_file_with_other_rows_or_a_link_to_it_then(small):
    released(small, "file: source.parquet")
    small.write(80)
    assert "its source is that of entry 1" in refused(small, "file: source.parquet")
    assert "its source is that of entry 1" in refused(small, f"file: {_linked(small.folder)}")


@pytest.mark.parametrize(
    "other",
    [
        "persons",
        "main.PERSONS",
        "db.main.persons",
        "DB.Main.Persons",
        '"persons"',
    ],
)
def test_nor_a_table_by_another_spelling(small, other):
    released(small, "table: persons")
    assert "entry 1 (first), charged to account 'people'" in refused(small, f"table: {other}")


def test_a_charge_that_was_given_back_holds_no_source(small, monkeypatch):
    killed = small.killed(monkeypatch, Ledger, "start")
    with small.writing() as ledger:
        ledger.cancel(killed.id, "never started")
    released(small, "file: source.parquet", _OTHERS)
    assert [entry.account for entry in small.entries] == ["people", "others"]


def test_the_same_account_releases_it_as_often_as_it_can_pay(small):
    released(small, "file: source.parquet")
    released(small, f"file: {_copied(small.folder)}", name="second")
    assert len(small.entries) == 2


def test_a_source_is_given_to_another_account_by_a_record_that_says_who_and_why(small):
    released(small, "file: source.parquet")
    with small.writing() as ledger:
        deciding.move(ledger, 1, "others", who="Ada", why="a new wave")
        [move] = moves_of(ledger.read().chain.records, "")
    assert (move.source_of, move.from_, move.to) == (1, "people", "others")
    assert (move.by, move.why) == ("Ada", "a new wave")
    said = refused(small, "file: source.parquet", "account: people")
    assert "entry 1, and record" in said and "gave it to account 'others'" in said
    released(small, "file: source.parquet", _OTHERS, name="second")
    with small.writing() as ledger:
        ledger.verify()


def test_a_move_says_who_and_why_and_is_of_an_entry_with_a_source(small, monkeypatch):
    released(small, "file: source.parquet")
    with small.writing() as ledger:
        with pytest.raises(UsageError, match="a source is given to another account by somebody"):
            deciding.move(ledger, 1, "others", who=" ", why="x")
        with pytest.raises(UsageError, match="no entry 2"):
            deciding.move(ledger, 2, "others", who="Ada", why="x")


def test_an_entry_of_an_older_version_names_no_source_and_holds_none(small, monkeypatch):
    store = "policy_engine.ledger.store.reserve_payload"
    from policy_engine.ledger.entry import reserve_payload

    def older(charge, review, **told):
        found = reserve_payload(charge, review, **told)
        return {name: said for name, said in found.items() if name != "source"}

    with monkeypatch.context() as patched:
        patched.setattr(store, older)
        released(small, "file: source.parquet")
    with small.writing() as ledger:
        ledger.verify()
        with pytest.raises(UsageError, match="entry 1 is of a version that recorded no source"):
            deciding.move(ledger, 1, "others", who="Ada", why="x")
    released(small, "file: source.parquet", _OTHERS, name="second")


def test_the_names_of_a_source_tell_no_path_and_no_content(small):
    released(small, "file: source.parquet")
    with small.writing() as ledger:
        [names] = [
            json.loads(r.payload)["source"]
            for r in ledger.read().chain.records
            if r.kind == "reserve"
        ]
    assert {len(name) for name in names.values()} == {64}
    assert set(names) == {"place", "named_by"}


# Accounts that the project file lists are the only ones.


def closed(small: SmallProject, text: str = "accounts: {people: {}, others: {}}") -> Project:
    file = small.folder / "policy-engine.yaml"
    file.write_text(text)
    return load_project_text(text, file, small.folder)


@pytest.mark.parametrize("line", ["", "account: somebody"])
def test_no_other_account_than_those_listed_pays(small, line):
    small.project = closed(small)
    path = small.folder / "p.yaml"
    path.write_text(_POLICY.format(name="p", source="file: source.parquet", budget=line))
    policy = load_policy_text(path.read_text(), path, small.folder)
    for act in (release, preview):
        with pytest.raises(PolicyError) as caught:
            act(policy, small.project)
        place = "10:1: account must be one of" if line else "3:1: account must be one of"
        assert f"p.yaml:{place}" in str(caught.value)
        assert "known: people, others; or list a new one under accounts there" in str(caught.value)


def test_an_open_project_and_one_that_lists_none_take_any_account(small):
    small.project = closed(small, "{version: 1}")
    assert small.project.accounts_open
    released(small, "file: source.parquet", "")
    assert [entry.account for entry in small.entries] == ["source.parquet"]


def test_a_source_that_is_listed_needs_no_budget(small):
    small.project = closed(small, "accounts: {./source.parquet: {}}")
    released(small, "file: source.parquet", "")


# Where a table of a server lies.


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:secret@h:5432/db",
        "postgresql://h/db?options=-c%20role%3Dada",
        "postgresql:///db?host=h&port=5432",
    ],
)
def test_a_servers_table_is_one_however_the_url_is_written(small, url):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    policy = small.policy()
    policy = replace(policy, source=replace(policy.source, path=None, relation="staff.people"))

    def name(url: str, *parts: str) -> str:
        named = ListedWarehouse("pg", "postgres", url=url)
        return name_of_place(policy, small.project, named, parts, X25519PrivateKey.generate())

    assert name(url, "staff", "People") == name("postgresql://h/db", "staff", "people")
    assert name(url, "staff", "people") != name("postgresql://h/db2", "staff", "people")
    assert name(url, "staff", "people") != name("postgresql://h2/db", "staff", "people")


@pytest.mark.parametrize(
    "url", ["postgresql://127.0.0.1/db", "postgresql:///db", "postgresql:///db?host=/tmp"]
)
def test_nor_is_a_table_of_this_machines_server_another_by_another_way_to_it(small, url):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key, parts = X25519PrivateKey.generate(), ("staff", "people")
    policy = small.policy()
    policy = replace(policy, source=replace(policy.source, path=None, relation="staff.people"))
    one, other = (
        ListedWarehouse("pg", "postgres", url=u) for u in ("postgresql://localhost/db", url)
    )
    assert name_of_place(policy, small.project, one, parts, key) in names_beside(
        policy, small.project, other, parts, key
    )
    away = ListedWarehouse("pg", "postgres", url="postgresql://h/db")
    assert names_beside(policy, small.project, away, parts, key) == ()
    in_a_file = ListedWarehouse("own", "duckdb", database=small.folder / "own.duckdb")
    assert names_beside(policy, small.project, in_a_file, parts, key) == ()


# A new sealing key, which would name each source anew.


def rekeyed(small: SmallProject) -> Path:
    """The old sealing key, once another one stands in its place."""
    path, old = small.project.sealing_key, small.folder / "old.pem"
    path.rename(old)
    path.with_suffix(".pub").unlink()
    generate_sealing_key(path)
    return old


def test_a_new_sealing_key_sells_no_source_again_while_the_old_one_has_not_handed_over(small):
    released(small, "file: source.parquet")
    old = rekeyed(small)
    for budget in ("account: people", _OTHERS):
        text = _POLICY.format(name="second", source="file: source.parquet", budget=budget)
        policy = load_policy_text(text, small.folder / "second.yaml", small.folder)
        for act in (release, preview):
            with pytest.raises(FileError) as caught:
                act(policy, small.project)
            assert "sealing.pem: this is not the sealing key that names the ledger's sources (" in (
                said := str(caught.value)
            )
            assert "run 'policy-engine ledger rekey OLD.pem --by NAME --why TEXT'" in said
            assert "if it is lost for good, 'policy-engine ledger rekey --lost --by NAME" in said
    assert len(small.entries) == 1
    old.replace(small.project.sealing_key)
    released(small, "file: source.parquet", name="second")


def test_one_that_took_over_names_sources_as_before_and_opens_what_was_paid(small):
    released(small, "file: source.parquet")
    before = (small.folder / "out/first.parquet").read_bytes()
    rekey(small.project, rekeyed(small), who="Ada", why="stolen")
    assert "entry 1 (first), charged to account 'people'" in refused(
        small, f"file: {_linked(small.folder)}"
    )
    (small.folder / "out/first.parquet").unlink()
    assert released(small, "file: source.parquet") == 1
    assert (small.folder / "out/first.parquet").read_bytes() == before
    released(small, "file: source.parquet", name="third")
    # And the one after it, for which the first key is handed on.
    rekey(small.project, rekeyed(small), who="Bob", why="stolen too")
    assert "charged to account 'people'" in refused(small, "file: source.parquet")
    assert released(small, "file: source.parquet", name="fourth")
    with small.writing() as ledger:
        ledger.verify()
        records = ledger.read().chain.records
        assert [(each.by, each.why) for each in rekeys_of(records, "")] == [
            ("Ada", "stolen"), ("Bob", "stolen too"),
        ]  # fmt: skip
        assert len({each.named_by for each in rekeys_of(records, "")}) == 1


def test_a_lost_key_is_forgotten_by_a_record_and_does_not_come_back(small):
    released(small, "file: source.parquet")
    old = rekeyed(small)
    rekey(small.project, None, who="Ada", why="the disk is gone")
    released(small, "file: source.parquet", _OTHERS, name="second")
    with small.writing() as ledger:
        deciding.move(
            ledger, 1, "others", who="Ada", why="merged"
        )  # which repeats the name by the old key
    released(small, "file: source.parquet", _OTHERS, name="third")
    old.replace(small.project.sealing_key)
    with pytest.raises(FileError, match="not the sealing key that names the ledger's sources"):
        released(small, "file: source.parquet", name="fourth")


def test_a_missing_key_is_made_when_one_takes_over(small):
    released(small, "file: source.parquet")
    key = small.project.sealing_key
    key.unlink()
    with pytest.raises(FileError, match="ledger rekey --lost"):
        released(small, "file: source.parquet", name="second")
    rekey(small.project, None, who="Ada", why="lost")
    assert load_sealing_key(key)
    assert released(small, "file: source.parquet", name="second")


def test_only_the_key_that_names_sources_hands_over_and_somebody_says_why(small):
    released(small, "file: source.parquet")
    rekeyed(small)
    generate_sealing_key(small.folder / "any.pem")
    with pytest.raises(UsageError, match=r"any\.pem: this key does not name the ledger's sources"):
        rekey(small.project, small.folder / "any.pem", who="Ada", why="x")
    with pytest.raises(UsageError, match="a sealing key is replaced by somebody"):
        rekey(small.project, None, who="Ada", why=" ")


def test_of_two_first_releases_with_keys_of_their_own_one_is_charged(small):
    released(small, "file: source.parquet")
    charge = Charge(
        "people", Decimal(1), Decimal(0), "add_remove", "first", "p", "c",
        source={"place": "a", "named_by": "another"},
    )  # fmt: skip
    with small.writing() as ledger, pytest.raises(LedgerError, match="another key names its"):
        ledger.reserve(charge)
