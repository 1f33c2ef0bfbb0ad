"""A release that stands stands: asked for again, its source is not looked at.

Seen from outside the product: every file that Python opens, by an audit hook, and in the place of
the source a pipe, at which whatever else opens it would wait for ever.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

POLICY = """\
version: 1
name: a
{source}
recode:
  age: {{bins: [30, 60]}}
  sex: keep
sample: {{rate: 0.1}}
k: 20
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release: {{file: out/a.parquet}}
account: people
"""
PROJECT = """\
accounts: {people: {epsilon: 2.0, delta: 1.0e-6}}
warehouses: {db: {type: duckdb, database: people.duckdb}}
"""
WATCHED = """\
import json, os, sys

seen = []


def watch(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "sqlite3.connect", "import"):
        seen.append([event, str(arguments[0])])


sys.addaudithook(watch)
from policy_engine.cli.main import run

code = run(sys.argv[2:])
sys.stdout.flush()
with open(sys.argv[1], "w") as told:
    json.dump(seen, told)
os._exit(code)
"""
SOURCES = {
    "people.parquet": "source: {file: people.parquet}\nprivacy_unit: row",
    "people.csv": "source: {file: people.csv, columns: {age: integer}}\nprivacy_unit: row",
    "people.duckdb": "source: {table: people}\nprivacy_unit: {column: id, rows: any}",
}
#: What opens a source, whatever it is.
ENGINES = {"duckdb", "_duckdb"}


@pytest.fixture(params=sorted(SOURCES))
def source(request, tmp_path):
    """The name of a source, of which there is a project."""
    import duckdb

    people = pa.table({
        "id": [*range(8000)],
        "age": [20 + i % 60 for i in range(8000)],
        "sex": ["female" if i % 7 < 4 else "male" for i in range(8000)],
    })  # fmt: skip
    pq.write_table(people, tmp_path / "people.parquet")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as made:
        made.register("given", people)
        made.execute("CREATE TABLE people AS FROM given")
        made.execute(f"COPY people TO '{tmp_path / 'people.csv'}'")
    (tmp_path / "policy-engine.yaml").write_text(PROJECT)
    (tmp_path / "a.yaml").write_text(POLICY.format(source=SOURCES[request.param]))
    return request.param


def watched(folder, *words):
    """Exit code and answer of a command, and what it opened and imported."""
    command = [sys.executable, "-c", WATCHED, str(folder / "seen.json"), *words]
    done = subprocess.run(
        [*command, "--format", "json"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    seen = json.loads((folder / "seen.json").read_text())
    opened = {os.path.basename(name) for event, name in seen if event != "import"}  # noqa: PTH119
    imported = {name.split(".")[0] for event, name in seen if event == "import"}
    return json.loads(done.stdout), opened, imported


def test_a_standing_release_opens_no_source(source, tmp_path):
    first, opened, imported = watched(tmp_path, "release", "a.yaml")
    assert (first["repeated"], bool(imported & ENGINES)) == (False, True)
    before = (tmp_path / "out").rglob("*")
    bytes_before = {path: path.read_bytes() for path in before if path.is_file()}
    (tmp_path / source).unlink()
    os.mkfifo(tmp_path / source)
    again, opened, imported = watched(tmp_path, "release", "a.yaml")
    assert again["repeated"] is True
    assert source not in opened
    assert "policy-engine.yaml" in opened  # the hook sees what is opened
    assert not imported & ENGINES
    now = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert now == bytes_before
    # And so does what is put back.
    release = tmp_path / "out/a.parquet"
    release.unlink()
    _, opened, imported = watched(tmp_path, "restore", "a.yaml")
    assert (source in opened, imported & ENGINES) == (False, set())
    assert release.read_bytes() == bytes_before[release]


def test_a_standing_edition_of_a_calendar_opens_no_source(source, tmp_path):
    text = POLICY.format(source=SOURCES[source]).replace(
        "out/a.parquet", "'out/{edition}/a.parquet'"
    )
    (tmp_path / "a.yaml").write_text(f"{text}refresh: {{every: year}}\n")
    first, *_ = watched(tmp_path, "release", "a.yaml")
    [drawn] = first["editions"]
    (tmp_path / source).unlink()
    os.mkfifo(tmp_path / source)
    for words, code in ((), "nothing_due"), (("--edition", drawn["edition"]), None):
        again, opened, imported = watched(tmp_path, "release", "a.yaml", *words)
        assert again.get("code") == code
        assert (source in opened, imported & ENGINES) == (False, set())
    assert again["outcome"] == "stands"
