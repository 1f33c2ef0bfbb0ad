"""How long ``policy-engine dbt sync`` takes: a project of a thousand models and fifty policies.

    .venv/bin/python benchmarks/dbt_sync.py [--models 1000] [--policies 50]

Every run is a process of its own, start-up included; behind the time on the wall stands that of the
processor, which a busy machine slows less. ``one file`` has the properties of all models in one
file, ``a file each`` in as many as there are models.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PROJECT = """\
name: big
version: "1.0"
config-version: 2
profile: big
"""
_PROFILES = "big: {target: prod, outputs: {prod: {type: duckdb, path: prod.duckdb}}}\n"
_ENGINE = "accounts: {people: {}}\ndbt: {release_targets: [prod]}\n"
_COLUMNS = {"person_id": "bigint", "age": "integer", "town": "varchar", "visited": "date"}
_POLICY = """\
version: 1
name: release_{number}
source:
  table: ref('stg_{number}')
privacy_unit: {{column: person_id, rows: {{first_by: [visited desc]}}}}
recode:
  age: {{bins: [18, 30, 45, 60, 75]}}
  town: {{map: {{{towns}}}, other: elsewhere}}
  visited: {{truncate: month}}
sample: {{rate: 0.1}}
k: 20
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release: {{table: release_{number}}}
account: people
"""


def write(folder: Path, models: int, policies: int, *, one_file: bool) -> None:
    """The project."""
    files = {
        "dbt_project.yml": _PROJECT,
        "profiles.yml": _PROFILES,
        "policy-engine.yaml": _ENGINE,
    }
    towns = ", ".join(f"town {number}: region {number % 4}" for number in range(20))
    entries = []
    for number in range(models):
        place = f"models/part_{number % 20}"
        files[f"{place}/stg_{number}.sql"] = f"select * from {{{{ source('raw', 't{number}') }}}}\n"
        columns = "".join(
            f"      - name: {name}\n        data_type: {kind}\n" for name, kind in _COLUMNS.items()
        )
        entries.append(f"  - name: stg_{number}\n    description: Staged\n    columns:\n{columns}")
        if not one_file:
            files[f"{place}/stg_{number}.yml"] = f"version: 2\nmodels:\n{entries[-1]}"
        if number < policies:
            text = _POLICY.format(number=number, towns=towns)
            files[f"{place}/release_{number}.privacy.yml"] = text
    if one_file:
        files["models/schema.yml"] = "version: 2\nmodels:\n" + "".join(entries)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def seconds(folder: Path) -> tuple[float, float]:
    """The time of one sync, of the whole process: on the wall, and of the processor."""
    command = [Path(sys.executable).with_name("policy-engine"), "dbt", "sync"]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--project-dir", folder, "--profiles-dir", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=50)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{asked.models} models, {asked.policies} policies; {os.cpu_count()} cores, load {load}")
    columns = ("first sync", "nothing new", "one changed")
    print(f"{'properties':<14}{''.join(f'{column:>18}' for column in columns)}")
    for one_file in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, asked.models, asked.policies, one_file=one_file)
            first, second = seconds(folder), min(seconds(folder) for _ in range(3))
            policy = folder / "models" / "part_0" / "release_0.privacy.yml"
            policy.write_text(policy.read_text().replace("k: 20", "k: 25"))
            third = seconds(folder)
        shown = "one file" if one_file else "a file each"
        cells = (f"{wall:.2f} s ({spent:.2f} s)" for wall, spent in (first, second, third))
        print(f"{shown:<14}{''.join(f'{cell:>18}' for cell in cells)}")


if __name__ == "__main__":
    main()
