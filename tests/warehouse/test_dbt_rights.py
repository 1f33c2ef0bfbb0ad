"""A right that dbt's role lacks in PostgreSQL is met before the charge of ``dbt reserve``.

dbt is not run.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from dbt_sync_world import World

from policy_engine.attest.keys import generate_key
from policy_engine.dbt.booking import reserve
from policy_engine.dbt.desk import Desk
from policy_engine.dbt.manifest import Node
from policy_engine.dbt.releases import DbtRelease
from policy_engine.errors import WarehouseError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import load_project
from policy_engine.releasing.books import has_ledger, open_ledger
from policy_engine.warehouse.postgres import PostgresWarehouse

PLACE = '"postgres"."prod"'
NO_TABLES = (
    "the role may not make temporary tables in the database postgres, and dbt makes one for each"
    ' build of a release after the first: GRANT TEMPORARY ON DATABASE "postgres" to it'
)
NO_READING = (
    "the role may not read person_id, age, town, visited of postgres.prod.stg_people: GRANT SELECT"
    ' ("person_id", "age", "town", "visited") ON "postgres"."prod"."stg_people" to it, or release'
    " with a role that may"
)


def _node(name: str, **more: object) -> Node:
    data = {
        "resource_type": "model",
        "name": name,
        "package_name": "shop",
        "relation_name": f'{PLACE}."{name}"',
        "config": {"materialized": "incremental"},
        "original_file_path": f"models/{name}.sql",
        **more,
    }
    return Node(f"model.shop.{name}", data)


class Room:
    """A synced project whose target is the server's schema ``prod``, and a role without rights."""

    def __init__(self, folder: Path, server) -> None:
        self.folder, self.server = folder, server
        self.world = World.at(folder)
        self.world.policy()
        target = "{type: postgres, host: here, user: releaser, dbname: postgres, schema: prod}"
        self.world.write("profiles.yml", f"shop:\n  target: prod\n  outputs:\n    prod: {target}\n")
        (folder / ".policy-engine").mkdir()
        self.project = load_project(folder / "policy-engine.yaml")
        generate_key(self.project.signing_key)

    def reserve(self) -> str:
        """What it came to."""
        types = {"person_id": "bigint", "age": "int", "town": "text", "visited": "date"}
        columns = {name: {"name": name, "data_type": kind} for name, kind in types.items()}
        source = _node("stg_people", config={"materialized": "table"}, columns=columns)
        policy = load_policy(self.folder / "models/towns.privacy.yml")
        drawn, shown = _node("towns_v1_draw"), _node("towns_v1", version=1)
        release = DbtRelease(policy, drawn, shown, (source,), "prod")
        [synced] = self.world.sync().releases
        stand_in = '"policy_engine_source"."policy_engine_source"'
        text = synced.certificate.query.replace(stand_in, f'{PLACE}."stg_people"')
        text = text.replace('"policy_engine_secrets"', f'{PLACE}."policy_engine_salts"')
        url = self.server.url_of("releaser")
        with closing(PostgresWarehouse("prod", url)) as warehouse:
            desk = Desk(self.project, Named("prod", "postgres", url=url), warehouse)
            [found] = reserve(desk, ((release, text),))
        return found.outcome

    def is_charged(self) -> bool:
        """Whether anything was, or a secret waits."""
        if not has_ledger(self.project):
            return False
        with open_ledger(self.project) as ledger:
            entries = [*ledger.read().budget.entries()]
        return bool(entries or self.server.sql("SELECT * FROM prod.policy_engine_salts"))


@pytest.fixture
def room(tmp_path, monkeypatch, postgres):
    monkeypatch.chdir(tmp_path)
    postgres.sql(
        "CREATE SCHEMA prod",
        "CREATE TABLE prod.stg_people (person_id bigint, age integer, town text, visited date)",
        "CREATE ROLE releaser LOGIN",
        "GRANT USAGE, CREATE ON SCHEMA prod TO releaser",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
    )
    yield Room(tmp_path, postgres)
    postgres.sql(
        "GRANT TEMPORARY ON DATABASE postgres TO PUBLIC",
        "DROP SCHEMA prod CASCADE",
        "DROP OWNED BY releaser",
        "DROP ROLE releaser",
    )


def test_a_right_that_dbt_lacks_is_met_before_anything_is_charged(room):
    for told, remedy in (
        (NO_TABLES, 'GRANT TEMPORARY ON DATABASE "postgres" TO releaser'),
        (NO_READING, "GRANT SELECT ON prod.stg_people TO releaser"),
    ):
        with pytest.raises(WarehouseError) as refused:
            room.reserve()
        assert str(refused.value) == told
        assert not room.is_charged()
        room.server.sql(remedy)
    assert room.reserve() == "reserved"
    assert room.is_charged()
    assert room.reserve() == "waits"


def test_what_waits_is_not_told_to_be_ready_where_dbt_could_not_build_it(room):
    rights = 'TEMPORARY ON DATABASE "postgres"', "SELECT ON prod.stg_people"
    room.server.sql(*(f"GRANT {right} TO releaser" for right in rights))
    assert room.reserve() == "reserved"
    room.server.sql(f"REVOKE {rights[0]} FROM releaser")
    with pytest.raises(WarehouseError) as refused:
        room.reserve()
    assert str(refused.value) == NO_TABLES


def test_a_source_that_dbt_makes_first_needs_no_right_yet(room):
    room.server.sql('GRANT TEMPORARY ON DATABASE "postgres" TO releaser')
    room.server.sql("DROP TABLE prod.stg_people")
    assert room.reserve() == "reserved"
