"""What ``dbt clone`` does to a release: it draws nothing, and what it replaces is told."""

from __future__ import annotations

import shutil

import pytest
from release_room import NAME, Room, outcome, room_of

pytestmark = pytest.mark.slow


def _clone(room: Room, target: str, *words: str) -> None:
    """Clone into a target what dbt knew last; nothing is compiled anew before."""
    folder = room.world.folder
    (folder / "state").mkdir(exist_ok=True)
    shutil.copy(folder / "target/manifest.json", folder / "state/manifest.json")
    done = room.command("clone", "--target", target, "--state", "state", *words, project=folder)
    assert done.returncode == 0, done.out


def test_a_clone_draws_and_charges_nothing_and_what_it_replaces_is_told(tmp_path) -> None:
    with room_of("duckdb", tmp_path) as room:
        room.write()
        profiles = room.world.folder / "profiles.yml"
        both = profiles.read_text().replace("dev.duckdb'", "prod.duckdb', schema: dev")
        profiles.write_text(both)
        room.begin()
        assert outcome(room.asks("reserve")) == ["reserved"]
        assert room.builds()["code"] == 0
        assert outcome(room.asks("attest")) == ["attested"]
        rows, entries = room.rows(), room.entries()

        _clone(room, "dev")
        assert room.sql(f"select age, town, n from dev.{NAME} order by age, town") == rows != []
        assert outcome(room.asks("status"), "state") == ["certified"]
        built = room.builds(
            "--target", "dev", "--select", "stg_people+"
        )  # a seed makes no view anew
        assert built["code"] == 0, built["out"]
        assert (room.sql(f"from dev.{NAME}"), room.rows()) == ([], rows)

        _clone(room, "prod")  # what stands is not touched
        assert room.rows() == rows
        room.command("parse", "--target", "dev", project=room.world.folder)
        _clone(room, "prod", "--full-refresh")
        assert room.rows() == []
        assert outcome(room.asks("status"), "state") == ["changed"]
        room.asks("reserve")
        room.builds("--target", "prod", "--select", "stg_people+")
        assert (room.rows(), room.entries()) == ([], entries)
