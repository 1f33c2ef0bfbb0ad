"""What a policy of a dbt project joins: named as its source is, and refused as its source is."""

from __future__ import annotations

import pytest
from dbt_manifests import shop
from dbt_sync_world import World
from test_dbt_desk import SALTS, Room, _node

from policy_engine.attest.keys import generate_key
from policy_engine.dbt.releases import DbtRelease
from policy_engine.errors import NotCertifiable, PolicyError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project

SOURCE = """\
ref('stg_visits')
  join:
    persons: {table: ref('stg_people'), on: person_id, columns: [age]}
    wards: {table: ref('wards'), on: {ward_id: id}, columns: [region], public: true}
  compute: {waited: {days_until: came, of: asked}}\
"""
TYPES = {
    "stg_visits": {
        "person_id": "bigint", "ward_id": "varchar", "asked": "date", "came": "date",
    },
    "stg_people": {"person_id": "bigint", "age": "integer"},
    "wards": {"id": "varchar", "region": "varchar"},
}  # fmt: skip
TABLES = (
    "CREATE TABLE stg_visits AS SELECT i % 800 AS person_id,"
    " chr(CAST(65 + i % 3 AS INT)) AS ward_id, DATE '2024-01-01' AS asked,"
    " DATE '2024-01-01' + CAST(i % 9 AS INT) AS came"
    " FROM range(3000) AS r(i)",
    "CREATE TABLE stg_people AS SELECT i AS person_id, CAST(i % 90 AS INT) AS age"
    " FROM range(900) AS r(i)",
    "CREATE TABLE wards AS FROM (VALUES ('A', 'north'), ('B', 'south')) AS w(id, region)",
)


class Joined(Room):
    """A synced project whose release reads three tables."""

    @property
    def release(self) -> DbtRelease:
        policy = load_policy(self.world.folder / "models/towns.privacy.yml")
        model = _node("towns_v1_draw", "towns_v1_draw", "incremental")
        shown = _node("towns", "towns_v1", "incremental", version=1)
        nodes = [
            _node(
                name,
                name,
                "table",
                columns={c: {"name": c, "data_type": kind} for c, kind in of.items()},
            )
            for name, of in TYPES.items()
        ]
        return DbtRelease(policy, model, shown, tuple(nodes), "prod")

    @property
    def text(self) -> str:
        [release] = self.world.sync().releases
        found = release.certificate.query.replace('"policy_engine_secrets"', SALTS)
        for number, name in reversed([*enumerate(TYPES)]):
            stand_in = f"policy_engine_source{f'_{number}' if number else ''}"
            found = found.replace(f'"policy_engine_source"."{stand_in}"', f'"prod"."main"."{name}"')
        return found


def world_of(folder, source: str = SOURCE) -> World:
    world = World.at(folder)
    for name, types in TYPES.items():
        columns = ", ".join(f"{{name: {c}, data_type: {kind}}}" for c, kind in types.items())
        world.write(f"models/{name}.sql", "select 1 as person_id\n")
        world.write(f"models/{name}.yml", f"models:\n  - {{name: {name}, columns: [{columns}]}}\n")
    policy_in(world, source)
    return world


def policy_in(world: World, source: str) -> None:
    world.policy(
        relation=source,
        unit="{column: person_id, rows: any}",
        recode="  age: {bins: [30, 60]}\n  region: keep\n  waited: {bins: [5]}",
        chance="mechanism: noisy_counts",
    )


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = world_of(tmp_path)
    (tmp_path / ".policy-engine").mkdir()
    generate_key(load_project(tmp_path / "policy-engine.yaml").signing_key)
    made = Joined(world)
    made.sql(*TABLES)
    return made


def test_it_is_reserved_drawn_and_signed_for(room):
    assert room.reserve().outcome == "reserved"
    room.build()
    assert room.attest().outcome == "attested"
    assert "south" in {region for _, region, _, _ in room.sql('FROM "prod"."main"."towns_v1"')}


def test_before_anything_is_built_the_declared_types_are_taken(room):
    room.sql(*(f"DROP TABLE {name}" for name in TYPES))
    assert room.reserve().outcome == "reserved"


@pytest.mark.parametrize(
    ("table", "error", "told"),
    [
        ("stg_people", NotCertifiable, "write view: rowwise beside its name"),
        ("wards", PolicyError, "wards is a view, and what it reads may be people's rows"),
    ],
)
def test_a_view_is_refused_before_anything_is_charged(room, table, error, told):
    room.sql(f"ALTER TABLE {table} RENAME TO below", f"CREATE VIEW {table} AS FROM below")
    with pytest.raises(error, match=told):
        room.reserve()
    assert room.entries() == []


def test_a_persons_view_is_followed_by_word(room):
    policy_in(room.world, SOURCE.replace("columns: [age]", "columns: [age], view: rowwise"))
    room.sql("ALTER TABLE stg_people RENAME TO below", "CREATE VIEW stg_people AS FROM below")
    assert room.reserve().outcome == "reserved"


def test_a_table_that_has_other_columns_by_now_is_refused(room):
    room.sql("ALTER TABLE wards DROP region")
    with pytest.raises(PolicyError, match="has no column 'region'"):
        room.reserve()
    assert room.entries() == []


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (("ref('wards')", "ref('ward')"), "source.join.wards.table must be a node of this dbt"),
        (("id}, columns", "code}, columns"), "the types of code of the model wards are not known"),
        (("[age]", "[age, region]"), "looks up 'region', as persons does"),
        (("columns: [age]", "columns: [age], first_by: [came]"), "of came of the model stg_people"),
    ],
)
def test_a_sync_says_what_is_wrong_with_what_is_joined(tmp_path, monkeypatch, written, told):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError) as refused:
        world_of(tmp_path, SOURCE.replace(*written)).sync()
    assert told in str(refused.value), str(refused.value)


def test_what_has_sensitive_rows_is_not_public(tmp_path, monkeypatch):
    """The gate sees what was made of people, whatever a policy says of it."""
    monkeypatch.chdir(tmp_path)
    world_of(tmp_path).sync()
    project = shop().model("stg_visits").model("stg_people")
    clean = project.model("wards", "select 1 as id").verdict(tmp_path)
    assert "G34" not in {each.code for each in clean.findings}
    made = project.model("wards", "select * from {{ ref('stg_people') }}").verdict(tmp_path)
    [said] = [each for each in made.findings if each.code == "G34"]
    assert "wards is joined as public, but holds sensitive data" in said.message
    assert said.file == "models/towns.privacy.yml"
