"""docs/howto/dbt.md in a fresh project, line by line, on real dbt."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import dbt_of

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "dbt.md"
_FENCE = re.compile(r"^```(sh|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The commands that the page names, and DuckDB's shell by its library.
_COMMANDS = {
    "policy-engine": '-m policy_engine "$@"',
    "duckdb": '-c "import sys, duckdb; duckdb.connect(sys.argv[1]).execute(sys.argv[2])" "$@"',
}
_FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n"
    "    dev: {type: duckdb, path: dev.duckdb}\n    prod: {type: duckdb, path: prod.duckdb}\n",
    "models/staging/stg_people.sql": "{{ config(materialized='table') }}\n"
    "select i as person_id, (i % 90)::int as age, 'ABC'[1 + i % 3] as town,\n"
    "  date '2024-01-01' + (i % 300)::int as visited from range(9000) as people(i)\n",
}


def test_the_page_works_line_by_line(tmp_path):
    fences = _FENCE.findall(PAGE.read_text("utf-8"))
    [policy] = [text for kind, text in fences if kind == "yaml" and "\nname: towns\n" in text]
    shop, commands = tmp_path / "shop", tmp_path / "bin"
    for name, text in {**_FILES, "models/marts/towns.privacy.yml": policy}.items():
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text)
    commands.mkdir()
    for name, words in _COMMANDS.items():
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}\n')
        (commands / name).chmod(0o755)
    dbt = dbt_of("1.11").executable
    path = os.pathsep.join([str(commands), str(dbt.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "POLICY_ENGINE_DBT": str(dbt)}
    lines = [line for kind, text in fences if kind == "sh" for line in text.splitlines()]
    assert len(lines) > 10
    for line in lines:
        if line.startswith("pip install"):
            continue
        done = subprocess.run(
            line, shell=True, cwd=shop, env=environment, capture_output=True, text=True, check=False
        )
        wanted = 1 if "--dry-run" in line else 0  # it says that something would change
        assert done.returncode == wanted, f"{line}\n{done.stdout}{done.stderr}"
    assert "verified: prod.main.towns_v1" in done.stdout
