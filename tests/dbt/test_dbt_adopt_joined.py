"""A hand-written model that joins a lookup: compiled by dbt, adopted, and released."""

from __future__ import annotations

from pathlib import Path

import pytest
from release_room import Room, outcome, room_of

pytestmark = pytest.mark.slow

BY_HAND = """\
with visits as (
    select * from {{ ref('stg_people') }}
),

wards as (
    select * from {{ ref('wards') }}
)

select w.region, count(distinct v.person_id) as n
from visits as v
inner join wards as w on v.town = w.town
group by 1
having count(distinct v.person_id) >= 20
"""


def _write(room: Room) -> None:
    room.write()
    world = room.world
    (world.folder / "models/towns.privacy.yml").unlink()
    world.write("seeds/wards.csv", "town,region\nA,north\nB,south\n")
    text = "varchar" if room.engine == "duckdb" else "text"
    columns = ", ".join(f"{{name: {name}, data_type: {text}}}" for name in ("town", "region"))
    world.write("seeds/wards.yml", f"seeds:\n  - {{name: wards, columns: [{columns}]}}\n")
    world.write("models/regions.sql", BY_HAND)
    world.write(
        "policy-engine.yaml",
        "accounts: {people: {epsilon: 2, delta: 1.0e-6}}\ndbt: {release_targets: [prod]}\n",
    )


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.evidence)])
def room(request, tmp_path: Path):
    with room_of(request.param, tmp_path) as made:
        _write(made)
        yield made


def test_it_is_adopted_synced_and_released(room):
    compiled = room.command("compile", "--select", "regions", project=room.world.folder)
    assert compiled.returncode == 0, compiled.out
    adopted = room.engine_says("dbt", "adopt", "regions")
    assert adopted["code"] == 0, adopted
    assert "wards is the same, whichever people are in" in adopted["out"]
    assert "public, as you state" in adopted["out"]
    (room.world.folder / "models/regions.sql").unlink()
    built = room.builds("--target", "prod", "--select", "+stg_people", "wards")
    assert built["code"] == 0, built
    synced = room.begin()
    assert synced["code"] == 0, synced
    text = room.world.read("models/regions_v1_draw.sql")
    assert "LEFT JOIN" in text and "ref('wards')" in text
    assert outcome(room.asks("reserve")) == ["reserved"]
    assert room.builds()["code"] == 0
    assert outcome(room.asks("attest")) == ["attested"]
    # Of three towns one has no ward: as by hand, nobody there is counted.
    rows = dict(room.sql("select region, n from regions_v1"))
    assert rows.keys() == {"north", "south"}
    assert all(900 < int(str(n)) < 2500 for n in rows.values()), rows
