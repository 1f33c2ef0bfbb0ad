"""A policy of a model that somebody wrote: all of it is understood, or nothing is written."""

from __future__ import annotations

import json

import pytest
from dbt_manifests import ONCE, Project, once
from dbt_sync_world import World
from typer.testing import CliRunner

from policy_engine.cli.app import app

TYPES = {"person_id": "bigint", "age": "integer", "town": "varchar", "visited": "date"}
COLUMNS = {name: {"name": name, "data_type": kind} for name, kind in TYPES.items()}
HASH = (
    "sha256((select salt from policy_engine_salts where release_id = 'towns_v1') || ':u:' ||"
    " cast(person_id as varchar)) < '199999999999999'"
)
ONE_ROW = "row_number() over (partition by person_id order by visited desc) as place"
TOWNS = f"""
with people as (
  select age, town, {ONE_ROW} from {{{{ ref('stg_people') }}}} where {HASH}
), shown as (
  select case when age < 30 then 'young' when age >= 30 then 'old' end as age,
    case when town in ('A', 'B') then 'north' else 'elsewhere' end as town
  from people where place = 1
)
select age, town, count(*) as n from shown group by age, town having count(*) >= 20
"""


def made(tmp_path, sql: str = TOWNS, columns: object = COLUMNS) -> World:
    world = World.at(tmp_path)
    project = Project().model("stg_people", "select 1 as person_id", columns=columns)
    project.model("towns", once(sql), config=ONCE)
    world.write("models/towns.sql", once(sql))
    world.write("target/manifest.json", json.dumps(project.document))
    return world


def run(world: World, *words: str):
    return CliRunner().invoke(app, ["dbt", "adopt", *words, "--project-dir", str(world.folder)])


def test_a_model_that_is_understood_becomes_a_policy_that_gives_it_again(tmp_path):
    world = made(tmp_path)
    done = run(world, "towns")
    assert done.exit_code == 0, done.output
    assert "understood:" in done.output and "next: read it, remove models/towns.sql" in done.output
    text = world.read("models/towns.privacy.yml")
    assert "table: ref('stg_people')" in text or "table: \"ref('stg_people')\"" in text
    assert "sample: {rate: 0.1}" in text and "k: 20" in text
    (world.folder / "models/towns.sql").unlink()
    [release] = world.sync().releases
    assert release.release == "towns_v1"
    done = run(world, "towns")
    assert "models/towns.privacy.yml exists" in str(done.exception)


def test_a_text_that_chooses_no_row_of_a_person_has_a_row_for_each(tmp_path):
    sql = f"""select left(town, 3) as town, count(*) as n from {{{{ ref('stg_people') }}}}
where {HASH} group by 1 having count(*) >= 20"""
    world = made(tmp_path, sql)
    done = run(world, "towns")
    assert done.exit_code == 0, done.output
    assert "privacy_unit: {column: person_id, rows: one}" in world.read("models/towns.privacy.yml")
    (world.folder / "models/towns.sql").unlink()
    assert [release.release for release in world.sync().releases] == ["towns_v1"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select town, count(*) as n from {{ ref('stg_people') }} group by 1", "of any size"),
        (f"select left(town, 3) as town, count(*) as n, count(*) * 10 as people"
         f" from {{{{ ref('stg_people') }}}} where {HASH} group by 1 having count(*) >= 20",
         "what it makes of released groups"),
        (TOWNS.replace("as town\n", "as place_of_town\n").replace("age, town", "age, place_of_town")
         .replace("select age, place_of_town, row", "select age, town, row"), "rename it"),
        ("select left(town, 1) as town, count(*) as n from {{ ref('stg_people') }} tablesample"
         " bernoulli (10 percent) group by 1 having count(*) >= 20", "'policy-engine dbt init'"),
    ],
)  # fmt: skip
def test_what_is_not_understood_writes_nothing(tmp_path, sql, said):
    world = made(tmp_path, sql)
    done = run(world, "towns")
    assert done.exit_code == 1 and said in done.output
    assert not (world.folder / "models/towns.privacy.yml").exists()


def test_types_that_nobody_declares_are_asked_for(tmp_path):
    world = made(tmp_path, columns={})
    done = run(world, "towns")
    assert done.exit_code == 1
    assert "not understood: the types of the columns of the model stg_people" in done.output


def test_a_model_that_is_not_there_and_an_account_that_nobody_named(tmp_path):
    world = made(tmp_path)
    assert "there is no model nowhere" in str(run(world, "nowhere").exception)
    world.write("policy-engine.yaml", "accounts: {a: {}, b: {}}\n")
    assert "--account; policy-engine.yaml has a, b" in str(run(world, "towns").exception)
