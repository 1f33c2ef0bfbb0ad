"""Reserving and attesting, against whatever may happen between: a real DuckDB, dbt's part by hand.

What dbt does to the warehouse is played here statement by statement, so that it can stop anywhere;
tests/dbt plays the same with every dbt.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from dbt_sync_world import World
from ruamel.yaml import YAML

from policy_engine.attest.keys import generate_key
from policy_engine.cli.dbt_releases import _standing
from policy_engine.cli.main import run
from policy_engine.dbt.attesting import Looked, attest, left_behind, standing, verified
from policy_engine.dbt.booking import reserve
from policy_engine.dbt.desk import Desk, Place, Told
from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.releases import DbtRelease, outdated, read_policies
from policy_engine.dbt.texts import text_md5
from policy_engine.errors import (
    BudgetExceeded,
    FileError,
    LedgerError,
    NotCertifiable,
    NotReleasable,
    PolicyError,
    WarehouseError,
)
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import load_project
from policy_engine.releasing.books import has_ledger, open_ledger, rekey, trusted_keys
from policy_engine.warehouse.duckdb import DuckDBWarehouse

TABLE = '"prod"."main"."towns_v1_draw"'
READ = '"prod"."main"."towns_v1"'
GONE = (f"DROP TABLE {TABLE}", f"DELETE FROM {READ}")
SALTS = '"prod"."main"."policy_engine_salts"'
PEOPLE = """
CREATE OR REPLACE TABLE stg_people AS
SELECT i AS person_id, CAST(i * 7 % 90 AS INTEGER) AS age, chr(CAST(65 + i % 3 AS INTEGER)) AS town,
  DATE '2024-01-01' AS visited
FROM range({people}) AS r(i)
"""


@dataclass
class Room:
    """A synced project, its database, and what dbt knows of its one release."""

    world: World

    @property
    def database(self) -> Path:
        return self.world.folder / "prod.duckdb"

    def sql(self, *statements: str) -> list[tuple[object, ...]]:
        with duckdb.connect(str(self.database)) as connection:
            found = [connection.execute(statement) for statement in statements]
            return found[-1].fetchall()

    @property
    def release(self) -> DbtRelease:
        policy = load_policy(self.world.folder / "models/towns.privacy.yml")
        model = _node("towns_v1_draw", "towns_v1_draw", "incremental")
        shown = _node("towns", "towns_v1", "incremental", version=1)
        types = {"person_id": "bigint", "age": "int", "town": "text", "visited": "date"}
        columns = {name: {"name": name, "data_type": kind} for name, kind in types.items()}
        source = _node("stg_people", "stg_people", "table", columns=columns)
        return DbtRelease(policy, model, shown, (source,), "prod")

    @property
    def text(self) -> str:
        """What dbt compiles of the model; nothing where the policy may not be synced."""
        try:
            [release] = self.world.sync().releases
        except PolicyError:
            return ""
        stand_in = '"policy_engine_source"."policy_engine_source"'
        source = release.certificate.query.replace(stand_in, '"prod"."main"."stg_people"')
        return source.replace('"policy_engine_secrets"', SALTS)

    def at_desk(self, do, *arguments, release: DbtRelease | None = None, **options):
        project = load_project(self.world.folder / "policy-engine.yaml")
        named = Named("prod", "duckdb", database=self.database)
        with closing(DuckDBWarehouse("prod", self.database, writable=True)) as warehouse:
            desk = Desk(project, named, warehouse)
            return do(desk, ((release or self.release, *arguments),), **options)

    def reserve(self, release: DbtRelease | None = None, **options: bool) -> Told:
        [found] = self.at_desk(reserve, self.text, release=release, **options)
        return found

    def attest(self) -> Told:
        [found] = self.at_desk(attest, self.text)
        return found

    def verified(self) -> list[Looked]:
        trusted = trusted_keys(load_project(self.world.folder / "policy-engine.yaml"))
        return self.at_desk(lambda desk, pairs: [*verified(desk, (pairs[0][0],), trusted)])

    @property
    def standing(self) -> Told:
        [found] = self.at_desk(lambda desk, pairs: standing(desk, tuple(r for (r,) in pairs)))
        return found

    def state(self) -> str:
        return self.standing.outcome

    def build(self) -> None:
        """What dbt does where there are transactions."""
        self.sql(_DRAWS, f"CREATE OR REPLACE TABLE {TABLE} AS {self.text}", _TAKES)
        self.sql(f"CREATE TABLE IF NOT EXISTS {READ} AS FROM {TABLE} WHERE false")

    def entries(self) -> list[str]:
        project = load_project(self.world.folder / "policy-engine.yaml")
        if not has_ledger(project):
            return []
        with open_ledger(project) as ledger:
            return [entry.state for entry in ledger.read().budget.entries()]


_DRAWS = f"UPDATE {SALTS} SET is_drawn = true WHERE release_id = 'towns_v1'"
_TAKES = f"DELETE FROM {SALTS} WHERE release_id = 'towns_v1'"


def _node(name: str, table: str, materialized: str, **more: object) -> Node:
    data = {
        "resource_type": "model",
        "name": name,
        "package_name": "shop",
        "relation_name": f'"prod"."main"."{table}"',
        "config": {"materialized": materialized},
        "original_file_path": f"models/{table}.sql",
        **more,
    }
    return Node(f"model.shop.{table}", data)


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = World.at(tmp_path)
    world.policy()
    (tmp_path / ".policy-engine").mkdir()
    generate_key(load_project(tmp_path / "policy-engine.yaml").signing_key)
    made = Room(world)
    made.sql(PEOPLE.format(people=3000))
    return made


@pytest.fixture
def built(room):
    room.reserve()
    room.build()
    return room


def test_what_is_drawn_once_is_signed_for(built):
    assert built.state() == "built"
    found = built.attest()
    assert (found.outcome, found.rows > 2) == ("attested", True)
    payload = json.loads(found.release.certificate.read_text())["payload"]
    stated = json.loads(base64.b64decode(payload))["predicate"]
    assert stated["claim"]["source"]["parts"] == ["prod", "main", "stg_people"]
    assert stated["query"].strip() == built.text.strip()
    assert built.state() == "certified"
    assert built.reserve().outcome == built.attest().outcome == "stands"
    assert built.entries() == ["committed"]


def test_nothing_is_read_before_it_is_signed_for(built):
    assert built.sql(f"SELECT * FROM {READ}") == []
    built.attest()
    assert built.sql(f"SELECT * FROM {READ}") == built.sql(f"SELECT * FROM {TABLE}") != []


def test_what_is_read_is_put_back_as_it_was_signed_for(built):
    built.attest()
    built.sql(f"UPDATE {READ} SET n = n + 1")
    assert built.state() == "changed"
    assert built.attest().outcome == "stands"
    assert built.state() == "certified"
    built.sql(f"DROP TABLE {READ}")
    assert (built.state(), built.attest().outcome) == ("gone", "absent")
    built.sql(f"CREATE TABLE {READ} AS FROM {TABLE} WHERE false")  # as dbt makes it
    assert built.attest().outcome == "stands"
    assert built.entries() == ["committed"]


def test_what_was_never_reserved_or_never_built_is_not_good(room):
    assert (room.standing.outcome, room.standing.is_good) == ("not reserved", False)
    assert (room.attest().outcome, room.attest().is_good) == ("absent", False)
    empty = f"FROM ({room.text}) WHERE false"  # what dbt makes where no secret waits
    room.sql(f"CREATE TABLE {SALTS} (release_id TEXT, salt TEXT, text_md5 TEXT, is_drawn BOOLEAN)")
    room.sql(f"CREATE TABLE {TABLE} AS {empty}", f"CREATE TABLE {READ} AS {empty}")
    assert (room.standing.outcome, room.standing.is_good) == ("not reserved", False)
    assert (room.attest().outcome, room.attest().is_good) == ("absent", False)
    assert room.entries() == []


def test_what_is_paid_for_and_waits_or_is_gone_is_not_good(room):
    room.reserve()
    assert (room.standing.outcome, room.standing.is_good) == ("reserved", False)
    room.sql(f"CREATE TABLE {TABLE} AS FROM ({room.text}) WHERE false")
    assert (room.attest().outcome, room.attest().is_good) == ("waits", False)
    room.sql(f"DROP TABLE {TABLE}")
    room.build()
    assert room.attest().is_good and room.standing.is_good
    room.sql(f"DROP TABLE {READ}")
    assert (room.standing.outcome, room.standing.is_good) == ("gone", False)
    assert (room.attest().outcome, room.attest().is_good) == ("absent", False)


@pytest.mark.parametrize("what", ["DROP TABLE", "DELETE FROM"])
def test_what_is_read_stands_though_its_draw_was_taken_away(built, what):
    built.attest()
    built.sql(f"{what} {TABLE}")
    assert (built.state(), built.attest().outcome) == ("certified", "stands")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE towns_v1_draw ADD COLUMN person_id BIGINT DEFAULT 7",
        "ALTER TABLE towns_v1_draw RENAME COLUMN town TO age_of",
        "CREATE TABLE t AS FROM towns_v1_draw; DROP TABLE towns_v1_draw;"
        " CREATE VIEW towns_v1_draw AS FROM t",
    ],
)
@pytest.mark.parametrize("is_attested", [False, True])
def test_what_is_no_table_of_the_released_columns_is_not_signed_for(built, change, is_attested):
    before = built.attest().release.certificate.read_text() if is_attested else None
    built.sql(change)
    found = built.attest()
    assert found.outcome == "refused"
    assert "not reserved" in found.why or "columns" in found.why or "a view stands" in found.why
    after = found.release.certificate
    assert (after.read_text() if after.exists() else None) == before
    assert built.state() == ("certified" if is_attested else "refused")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (">= 20", ">= 19", r"G21 towns_v1 is not what is printed for .*: token \d+ must be"),
        ("-- policy", "-- mine\n-- policy", "it has other comments or blanks"),
        (SALTS, "(VALUES ('x'))", "it reads no secrets relation"),
    ],
)
def test_a_text_that_is_not_printed_is_refused_before_anything_is_charged(room, old, new, said):
    text = room.text
    assert old in text
    with pytest.raises(NotCertifiable, match=said):
        room.at_desk(reserve, text.replace(old, new))
    assert room.entries() == []


def test_a_view_is_a_source_where_its_author_confirms_its_rows(room):
    room.sql("ALTER TABLE stg_people RENAME TO people")
    room.sql("CREATE VIEW stg_people AS SELECT * FROM people")
    room.world.policy(relation="ref('stg_people')\n  view: rowwise")
    assert room.reserve().outcome == "reserved"
    room.build()
    assert room.attest().outcome == "attested"


def test_a_view_that_nobody_confirms_is_refused_before_anything_is_charged(room):
    room.sql("ALTER TABLE stg_people RENAME TO people")
    room.sql("CREATE VIEW stg_people AS SELECT p.* FROM people p JOIN people q USING (town)")
    with pytest.raises(NotCertifiable, match="write view: rowwise beside its name"):
        room.reserve()
    assert room.entries() == []


def test_a_secret_that_waits_elsewhere_is_not_put_there(room):
    with pytest.raises(WarehouseError, match="reads no secrets relation policy_engine_salts"):
        room.at_desk(reserve, room.text.replace(SALTS, '"prod"."main"."mine"'))
    assert room.entries() == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("ALTER TABLE stg_people ALTER age TYPE DOUBLE", NotCertifiable),
        ("ALTER TABLE stg_people ALTER age TYPE BOOLEAN", PolicyError),
        ("ALTER TABLE stg_people DROP town", PolicyError),
    ],
)
def test_a_source_of_other_types_than_the_model_was_printed_for(room, change, error):
    room.sql(change)
    with pytest.raises(error):
        room.reserve()
    assert room.entries() == []


def test_a_source_that_changed_its_columns_after_the_draw_is_not_signed_for(built):
    built.sql("ALTER TABLE stg_people DROP town")
    found = built.attest()
    assert (found.outcome, "has no column 'town'" in found.why) == ("refused", True)


def test_a_view_in_the_place_of_a_release_is_refused_before_anything_is_charged(room):
    room.sql("CREATE VIEW towns_v1 AS SELECT 1 AS n")
    with pytest.raises(NotReleasable, match="a view stands in its place"):
        room.reserve()
    assert room.entries() == []


def test_a_second_draw_is_charged_only_where_it_was_asked_for(built):
    built.attest()
    built.sql(*GONE)
    assert built.state() == "changed"
    with pytest.raises(NotReleasable, match=r"entry 2 paid for a table that is gone\. .*--fresh"):
        built.reserve()
    assert built.entries() == ["committed"]
    assert built.sql(f"SELECT * FROM {SALTS}") == []
    assert built.reserve(fresh=True).outcome == "reserved"
    assert built.entries() == ["committed", "started"]


def test_nothing_is_reserved_on_a_ledger_that_forgot_what_certificates_prove(built):
    """A backup that is older than a release: its certificate stands, and its charge is gone."""
    ledger = built.world.folder / ".policy-engine/ledger.sqlite"
    built.attest()
    with closing(sqlite3.connect(ledger)) as before:
        before.execute("VACUUM INTO 'backup.sqlite'")
    built.sql(*GONE)
    time.sleep(1.1)  # two draws of one second have certificates of the same facts
    built.reserve(fresh=True)
    built.build()
    built.attest()
    for beside in ledger.parent.glob("ledger.sqlite*"):
        beside.unlink()
    (built.world.folder / "backup.sqlite").rename(ledger)
    built.sql(*GONE)
    with pytest.raises(LedgerError, match=r"towns_v1.*has not charged") as told:
        built.reserve(fresh=True)
    assert (told.value.exit_code, told.value.code) == (3, "ledger_forgot")


def test_what_was_reserved_before_the_sealing_key_was_replaced_is_signed_for(built):
    project = load_project(built.world.folder / "policy-engine.yaml")
    path, old = project.sealing_key, project.sealing_key.with_name("old.pem")
    path.rename(old)
    path.with_suffix(".pub").unlink()
    rekey(project, old, who="Ada", why="her laptop was stolen")
    assert built.attest().outcome == "attested"
    assert built.entries() == ["committed"]


def test_no_secret_is_put_out_twice(room):
    room.reserve()
    [first] = room.sql(f"SELECT salt FROM {SALTS}")
    room.build()
    room.attest()
    room.sql(*GONE)
    room.reserve(fresh=True)
    [second] = room.sql(f"SELECT salt FROM {SALTS}")
    assert first != second


def test_where_a_table_was_seen_and_a_hook_failed_its_secret_serves_no_second_draw(room):
    room.reserve()
    room.sql(_DRAWS, f"CREATE TABLE {TABLE} AS {room.text}")  # and no transaction, and no post-hook
    room.sql(f"DROP TABLE {TABLE}", PEOPLE.format(people=2999))
    with pytest.raises(NotReleasable, match="may have been seen"):
        room.reserve()
    assert room.entries() == ["started"]


def test_a_failed_build_that_was_rolled_back_is_run_again_for_nothing(room):
    room.reserve()
    room.sql("BEGIN", _DRAWS, f"CREATE TABLE {TABLE} AS {room.text}", "ROLLBACK")
    assert room.reserve().outcome == "waits"
    room.build()
    assert room.attest().outcome == "attested"
    assert room.entries() == ["committed"]


def test_a_secret_that_attest_used_is_never_left(built, monkeypatch):
    def killed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("policy_engine.dbt.attesting._Attesting._write", killed)
    with pytest.raises((KeyboardInterrupt, TypeError)):
        built.attest()
    assert built.sql(f"SELECT * FROM {SALTS}") == []
    monkeypatch.undo()
    assert built.attest().outcome == "attested"


@pytest.mark.parametrize("step", ["start", "draw"])
def test_a_charge_of_a_guarantee_alone_is_finished_after_a_crash(room, monkeypatch, step):
    def killed(self, *_):
        raise KeyboardInterrupt

    room.sql(f"CREATE TABLE {TABLE} AS SELECT 'a' AS age, 'b' AS town, 50 AS n")
    monkeypatch.setattr(f"policy_engine.ledger.store.Ledger.{step}", killed)
    with pytest.raises(KeyboardInterrupt):
        room.at_desk(attest, "select 1")
    monkeypatch.undo()
    room.sql(f"CREATE TABLE kept AS FROM {TABLE}", f"DROP TABLE {TABLE}")
    with pytest.raises(NotReleasable, match="a draw that may have been seen"):
        room.reserve()
    room.sql(f"CREATE TABLE {TABLE} AS FROM kept")
    [found] = room.at_desk(attest, "select 1")
    assert (found.outcome, room.entries()) == ("refused", ["kept"])


def test_a_policy_that_was_changed_after_its_release_is_said(built):
    built.attest()
    built.world.policy(k=21)
    assert built.state() == "outdated"
    with pytest.raises(NotReleasable, match="its policy was changed since"):
        built.reserve()
    found = built.attest()
    assert (found.outcome, "its policy was changed since" in found.why) == ("refused", True)
    assert built.entries() == ["committed"]


def test_a_policy_that_was_changed_before_dbt_built_is_charged_only_where_asked(room):
    room.reserve()
    room.world.policy(k=21)
    with pytest.raises(NotReleasable, match="another text or policy"):
        room.reserve()
    assert room.reserve(fresh=True).outcome == "reserved"
    [(waiting,)] = room.sql(f"SELECT text_md5 FROM {SALTS}")
    assert waiting == text_md5(room.text)
    assert room.entries() == ["started", "started"]


@pytest.mark.parametrize("which", ["nodes", "model", "shown"])
def test_what_lies_in_an_attached_database_is_refused_before_anything_is_charged(room, which):
    [node] = room.release.nodes if which == "nodes" else [getattr(room.release, which)]
    other = Node(node.id, {**node.data, "relation_name": '"other"."main"."t"'})
    moved = replace(room.release, **{which: (other,) if which == "nodes" else other})
    with pytest.raises(WarehouseError, match=r"other\.main\.t is in a database that the profile"):
        room.reserve(moved)
    assert room.entries() == []


def test_a_view_that_does_not_stand_is_refused_before_anything_is_charged(room):
    room.sql("DROP TABLE stg_people")
    source = _node("stg_people", "stg_people", "view")
    with pytest.raises(PolicyError, match=r"does not exist yet.*dbt run --select \+stg_people"):
        room.reserve(replace(room.release, nodes=(source,)))
    assert room.entries() == []


def test_a_source_that_dbt_has_not_made_yet_is_reserved_by_its_declared_types(room):
    room.sql("DROP TABLE stg_people")
    assert room.reserve().outcome == "reserved"


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE towns_v1_draw ALTER n TYPE DOUBLE",
        "CREATE TABLE t (age VARCHAR, town VARCHAR COLLATE NOACCENT, n BIGINT);"
        " INSERT INTO t SELECT age, replace(town, 'north', 'nórth'), n FROM towns_v1_draw;"
        " DROP TABLE towns_v1_draw; ALTER TABLE t RENAME TO towns_v1_draw",
    ],
)
def test_values_that_only_compare_equal_are_not_signed_for(built, change):
    built.sql(change)
    found = built.attest()
    assert (found.outcome, "its rows are not what" in found.why) == ("refused", True)


def test_a_policy_under_another_name_is_the_same_release(built):
    built.attest()
    policy = built.world.folder / "models/towns.privacy.yml"
    policy.write_text(policy.read_text().replace("name: towns", "name: places", 1))
    assert built.state() == "outdated"
    assert built.attest().outcome == "refused"
    assert built.entries() == ["committed"]


def test_what_is_of_no_policy_any_more_is_not_forgotten(built):
    built.attest()
    assert built.at_desk(lambda desk, pairs: left_behind(desk, (pairs[0][0],), "prod")) == ()
    [entry] = built.at_desk(lambda desk, _: left_behind(desk, (), "prod"))
    assert (entry.id, entry.run.target) == (2, "prod.main.towns_v1")
    assert built.at_desk(lambda desk, _: left_behind(desk, (), "dev")) == ()


def test_a_model_with_constraints_is_refused_before_anything_is_charged(room):
    model = room.release.model
    columns = {"n": {"name": "n", "constraints": [{"type": "check", "expression": "n < 20"}]}}
    constrained = Node(model.id, {**model.data, "columns": columns})
    with pytest.raises(NotReleasable, match="has constraints"):
        room.reserve(replace(room.release, model=constrained))
    assert room.entries() == []


def test_a_table_that_is_no_place_for_secrets_is_said_before_anything_is_charged(room):
    room.sql(f"CREATE TABLE {SALTS} (release_id TEXT, salt TEXT)")
    with pytest.raises(WarehouseError, match="found one that is another table: drop it"):
        room.reserve()
    assert room.entries() == []


def test_a_source_that_was_made_anew_after_the_draw_is_not_signed_for(built):
    built.sql(PEOPLE.format(people=2000))
    found = built.attest()
    assert found.outcome == "refused"
    assert "its rows are not what the certified query gives" in found.why
    assert built.entries() == ["kept"]


@pytest.mark.parametrize(("target", "is_told"), [("prod", True), ("dev", False)])
def test_a_source_that_another_target_made_was_not_made_anew_here(built, target, is_told):
    built.attest()
    made = {
        "unique_id": "model.shop.stg_people", "status": "success",
        "relation_name": f'"{target}"."main"."stg_people"',
        "timing": [{"completed_at": "2999-01-01T00:00:00Z"}],
    }  # fmt: skip
    run = {"args": {"which": "build"}, "results": [made]}
    folder = built.world.folder / "target"
    folder.mkdir(exist_ok=True)
    (folder / "run_results.json").write_text(json.dumps(run))
    rebuilt = Place.rebuilt(SimpleNamespace(files=SimpleNamespace(target=folder)))
    [found] = built.at_desk(lambda desk, pairs: standing(desk, tuple(r for (r,) in pairs)))
    assert bool(_standing(found, rebuilt).source_made_anew) == is_told


def test_a_released_policy_that_was_changed_is_not_synced(built):
    built.attest()
    built.world.sync()
    built.world.policy(k=21)
    with pytest.raises(PolicyError) as caught:
        built.world.sync()
    told = str(caught.value)
    policy = built.world.folder / "models/towns.privacy.yml"
    assert outdated(load_policy(policy)) == (built.release.certificate,)
    nodes = {node.id: node for node in (built.release.model, *built.release.nodes)}
    manifest = Manifest(policy, "1.11.0", "duckdb", "shop", "", nodes)
    found = read_policies([policy], NodeReader(manifest), str).findings
    assert [each.code for each in found] == ["G32"]
    assert "must be as it was when version 1 was released (models/towns_v1.prod.cert" in told
    assert "with version: 2" in told
    built.world.policy()
    built.world.policy("models/more", k=21, version=2)
    assert len(built.world.sync().releases) == 2


def test_a_table_is_verified_against_its_certificate_as_it_stands(room):
    assert room.verified() == []
    room.reserve()
    room.build()
    assert room.verified() == []
    certificate = room.attest().release.certificate
    text = certificate.read_text()
    certificate.unlink()
    [found] = room.verified()
    assert not found.is_verified and "prod.main.towns_v1 stands without a cert" in found.why[0]
    certificate.write_text(text)
    [found] = room.verified()
    assert found.is_verified and found.found is not None
    assert "prod.main.towns_v1 holds the certified rows, in their order" in found.found.checked
    room.sql(f"UPDATE {READ} SET n = n + 1")
    [found] = room.verified()
    assert found.why == (
        "prod.main.towns_v1 does not hold the certified rows: their digest is another",
    )


def test_an_exposure_names_the_model_that_a_certificate_is_of(built, capsys):
    certificate = built.attest().release.certificate
    assert run(["report", str(certificate), "--format", "dbt"]) == 4  # nobody states a contact
    [exposure] = YAML(typ="safe").load(capsys.readouterr().out)["exposures"]
    assert exposure["depends_on"] == ["ref('towns', v=1)"]
    assert exposure["config"]["meta"]["epsilon"] == "0.5"


def test_a_certificate_that_cannot_be_read_is_said(built):
    built.release.certificate.mkdir()
    with pytest.raises(FileError, match="could not be read"):
        built.verified()


@pytest.mark.parametrize(
    ("limit", "account", "refused"),
    [
        ("0.6", "people", "nothing was charged, for an account must pay for"),
        ("2.0", "people", ""),
        ("2.0", "others", "Write 'account: people' in both; nothing was charged"),
    ],
)
def test_accounts_are_asked_for_all_before_the_first_is_charged(room, limit, account, refused):
    accounts = f"accounts: {{others: {{}}, people: {{epsilon: {limit}, delta: 2.5e-4}}}}"
    room.world.write("policy-engine.yaml", f"{accounts}\ndbt: {{release_targets: [prod]}}\n")
    room.world.policy(k=5, delta="2.0e-4")
    first, text = room.release, room.text
    path = room.world.policy(k=5, delta="2.0e-4", version=2)
    path.write_text(path.read_text().replace("account: people", f"account: {account}"))
    policy = load_policy(room.world.folder / "models/towns.privacy.yml")
    model = _node("towns_v2_draw", "towns_v2_draw", "incremental")
    shown = _node("towns", "towns_v2", "incremental", version=2)
    second = DbtRelease(policy, model, shown, first.nodes, "prod")
    other = room.text

    def both(desk, pairs):
        return reserve(desk, ((first, text), (second, other)))

    if not refused:
        assert [told.outcome for told in room.at_desk(both)] == ["reserved", "reserved"]
        assert room.entries() == ["started", "started"]
        return
    with pytest.raises(BudgetExceeded, match=refused):
        room.at_desk(both)
    assert room.entries() == []
