"""Persons, visits and wards from one policy of a dbt project: the bytes of DuckDB alone."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from release_room import Room, outcome, room_of

sys.path.insert(0, str(Path(__file__).parents[1] / "warehouse"))
from engines import opened_engines
from test_joined_tables import POLICY, load, released, tables

pytestmark = pytest.mark.slow

COMPUTED = POLICY.replace(
    "privacy_unit:", "  compute: {age: {of: birth_date, age_at: came}}\nprivacy_unit:"
).replace("birth_date: {bins: [1950-01-01, 1980-01-01]}", "age: {bins: [18, 65]}")
IN_DBT = (
    COMPUTED.replace("table: visits", "table: ref('stg_visits')")
    .replace("{table: persons", "{table: ref('stg_persons')")
    .replace("{table: wards", "{table: \"source('raw', 'wards')\"")
    .replace("{file: out.parquet}", "{table: of_visits}")
)
TYPES = {
    "persons": {"person_id": "bigint", "birth_date": "date", "sex": "TEXT"},
    "visits": {"person_id": "bigint", "ward_id": "TEXT", "came": "date"},
    "wards": {"id": "TEXT", "region": "TEXT"},
}


def _listed(types: dict[str, str]) -> str:
    return ", ".join(f"{{name: {name}, data_type: {kind}}}" for name, kind in types.items())


def _write(room: Room) -> None:
    room.write()
    world, text = room.world, "varchar" if room.engine == "duckdb" else "text"
    (world.folder / "models/towns.privacy.yml").unlink()
    typed = {
        name: {column: kind.replace("TEXT", text) for column, kind in of.items()}
        for name, of in TYPES.items()
    }
    sources = "".join(
        f"      - {{name: {name}, columns: [{_listed(types)}]}}\n" for name, types in typed.items()
    )
    world.write(
        "models/raw.yml", f"sources:\n  - name: raw\n    schema: raw\n    tables:\n{sources}"
    )
    for name in ("visits", "persons"):
        read = f"select * from {{{{ source('raw', '{name}') }}}}"
        world.write(f"models/stg_{name}.sql", f"{{{{ config(materialized='table') }}}}\n{read}\n")
        world.write(
            f"models/stg_{name}.yml",
            f"models:\n  - {{name: stg_{name}, columns: [{_listed(typed[name])}]}}\n",
        )
    world.write(
        "policy-engine.yaml",
        "accounts: {patients: {epsilon: 9, delta: 1.0e-4}}\ndbt: {release_targets: [prod]}\n",
    )
    world.write("models/of_visits.privacy.yml", IN_DBT)
    for name, table in tables().items():
        _load(room, name, table, typed[name])


def _load(room: Room, name: str, table: pa.Table, types: dict[str, str]) -> None:
    declared = ", ".join(f"{column} {kind}" for column, kind in types.items())
    if room.engine == "duckdb":
        for target in ("prod", "dev"):
            with duckdb.connect(f"{room.place}/{target}.duckdb") as connection:
                connection.execute("CREATE SCHEMA IF NOT EXISTS raw")
                connection.execute(f"CREATE TABLE raw.{name} ({declared})")
                connection.register("loaded", table)
                connection.execute(f"INSERT INTO raw.{name} FROM loaded")
        return
    text = io.BytesIO()
    pc.write_csv(table, text)
    with psycopg.connect(f"host={room.place} user=postgres", autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS raw")
        connection.execute(f"CREATE TABLE raw.{name} ({declared})")
        with connection.cursor().copy(f"COPY raw.{name} FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(text.getvalue())


def _story(engine: str, folder: Path) -> dict[str, object]:
    with room_of(engine, folder) as room:
        _write(room)
        story: dict[str, object] = {"synced": room.begin()}
        story["text"] = room.world.read("models/of_visits_v1_draw.sql")
        story["reserved"] = room.asks("reserve")
        [[salt]] = room.sql("select salt from policy_engine_salts")
        story["salt"] = salt
        story["built"] = room.builds()
        story["attested"] = room.asks("attest")
        story["verified"] = room.engine_says("dbt", "verify", "--target", "prod")
        story["gate"] = room.engine_says("dbt", "gate", "--manifest", "target/manifest.json")
        order = "region NULLS LAST, sex NULLS LAST, age NULLS LAST"
        story["rows"] = room.sql(f"select region, sex, age, n from of_visits_v1 order by {order}")
        # A policy on persons alone pays from the same account, and from no other.
        alone = room.world.read("models/of_visits.privacy.yml").partition("source:")[0]
        room.world.write("models/of_persons.privacy.yml", alone.replace("visits", "of_persons") + (
            "source: {table: ref('stg_persons')}\nprivacy_unit: {column: person_id, rows: any}\n"
            "recode: {sex: keep}\nguarantee: {epsilon: 1, delta: 1.0e-6}\n"
            "release: {table: of_persons}\naccount: others\n"
        ))  # fmt: skip
        accounts = room.world.read("policy-engine.yaml").replace("4}}", "4}, others: {}}")
        room.world.write("policy-engine.yaml", accounts)
        room.engine_says("dbt", "sync", "--target", "prod")
        story["other account"] = room.engine_says("dbt", "reserve", "--target", "prod")
        return story


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.evidence)],
                scope="module")  # fmt: skip
def story(request, made_once):
    engine = request.param
    return made_once(f"joins-{engine}", lambda folder: _story(engine, folder))


def test_the_model_names_what_is_joined_as_dbt_does(story):
    assert story["synced"]["code"] == 0, story["synced"]
    for call in ("ref('stg_visits')", "ref('stg_persons')", "source('raw', 'wards')"):
        assert story["text"].count(f"{{{{ {call} }}}}") == 1, story["text"]


def test_it_is_reserved_built_signed_for_and_verified(story):
    assert outcome(story["reserved"]) == ["reserved"], story["reserved"]
    assert story["built"]["code"] == 0, story["built"]["out"]
    assert outcome(story["attested"]) == ["attested"], story["attested"]
    assert story["verified"]["code"] == 0, story["verified"]
    assert story["gate"]["code"] == 0, story["gate"]


def test_its_rows_are_those_of_duckdb_alone_under_one_secret(story, tmp_path, monkeypatch):
    import test_joined_tables

    monkeypatch.setattr(test_joined_tables, "SECRET", bytes.fromhex(story["salt"]))
    with opened_engines(["duckdb"]) as engines:
        load(engines["duckdb"], tables())
        alone = released(engines["duckdb"], tmp_path, COMPUTED)
    assert alone.num_rows > 5
    assert sorted(map(str, story["rows"])) == sorted(
        str([*row.values()]) for row in alone.to_pylist()
    )


def test_what_is_joined_is_of_the_same_account(story):
    told = story["other account"]
    assert told["code"] != 0 and "its source is that of entry" in told["err"], told
