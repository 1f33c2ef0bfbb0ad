"""The built wheel, alone in an empty environment, does the main job from anywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
pytestmark = pytest.mark.slow


def uv(*words: object) -> str:
    done = subprocess.run(
        [UV, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--wheel", "--out-dir", folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel, tmp_path_factory) -> Path:
    """The console script of the wheel in an environment that has nothing else."""
    venv = tmp_path_factory.mktemp("empty") / "venv"
    uv("venv", "--python", sys.executable, venv)
    uv("pip", "install", "--python", venv / "bin" / "python", wheel)
    return venv / "bin" / "policy-engine"


def run(program: Path, cwd: Path, *words: str) -> dict[str, object]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [program, *words, "--format", "json"],
        cwd=cwd, env=plain, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


def test_everything_is_inside(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    templates = {
        f"policy_engine/sql_templates/{path.relative_to(ROOT / 'sql_templates').as_posix()}"
        for path in (ROOT / "sql_templates").rglob("*.j2")
    }
    assert templates
    wanted = {"policy_engine/policy/schemas/v1.json", "policy_engine/policy/schemas/project.json",
              "policy_engine/py.typed", "policy_engine/__main__.py"}  # fmt: skip
    assert templates | wanted <= names
    folders = {name.split("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith((".dist-info", ".data"))} == {
        "policy_engine"
    }
    [manual] = [name for name in names if ".data/" in name]
    assert manual.endswith("/data/share/man/man1/policy-engine.1")


def test_it_releases_from_any_directory(program, tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    ignored = shutil.ignore_patterns("out", ".policy-engine")
    shutil.copytree(ROOT / "policies" / "adult", project / "adult", ignore=ignored)
    shutil.copy(ROOT / "policy-engine.yaml", project)
    elsewhere.mkdir()
    policy = str(project / "adult" / "policy.yaml")
    assert run(program, elsewhere, "validate", policy)["valid"] is True
    done = run(program, elsewhere, "release", policy)
    assert done["k"] == 20
    certificate, release = str(done["certificate"]), str(done["release"])
    key = str(project / ".policy-engine" / "signing.pub")
    verified = run(program, elsewhere, "verify", certificate, "--release", release, "--key", key)
    assert verified["verified"] is True
    assert run(program, elsewhere, "schema")["title"] == "policy-engine policy, version 1"
    assert list(elsewhere.iterdir()) == []


def test_its_version_is_the_projects(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert f'version = "{done.stdout.split()[1]}"' in (ROOT / "pyproject.toml").read_text()
