"""The exposure that `report --format dbt` writes, read by real dbt."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from environments import VERSIONS, dbt_of

sys.path.append(str(Path(__file__).parents[1] / "unit"))

from export_world import HOSTILE, exported, make_world

pytestmark = pytest.mark.slow
_PROFILE = "p: {target: t, outputs: {t: {type: duckdb, path: ':memory:'}}}\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_dbt_reads_the_exposure_and_runs_no_template_of_a_hostile_text(
    tmp_path: Path, version: str
) -> None:
    world, project = tmp_path / "world", tmp_path / "project"
    world.mkdir()
    (project / "models").mkdir(parents=True)
    make_world(world)
    (project / "dbt_project.yml").write_text("name: p\nversion: '1.0'\nprofile: p\n")
    (project / "profiles.yml").write_text(_PROFILE)
    (project / "models" / "noisy.yml").write_text(exported(world, "noisy", "dbt"))
    done = dbt_of(version).run("--warn-error", "parse", project=project)
    assert done.returncode == 0, done.out
    manifest = json.loads((project / "target" / "manifest.json").read_text())
    [exposure] = manifest["exposures"].values()
    told = HOSTILE.replace("\u202e", "\\u202e").replace("\n", "\\n")
    assert exposure["description"] == told
    assert exposure["owner"] == {"name": told, "email": None}
    assert exposure["type"] == "analysis"
    assert exposure["config"]["meta"]["privacy_unit"] == "row"
    assert exposure["config"]["meta"]["epsilon"] == "1"
