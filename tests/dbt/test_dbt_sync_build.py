"""What sync writes, as real dbt takes it: odd names and labels, every recoding, its text."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from environments import LONG_ROOMS, VERSIONS, Runner, dbt_of
from package_project import md5_of
from postgres import running

sys.path[:0] = [str(Path(__file__).parents[1] / "unit" / "dbt")]

from dbt_sync_world import World  # noqa: E402

pytestmark = pytest.mark.slow

# Odd names, and values of every type that a recoding takes.
_STAGING = """\
{{ config(materialized='table') }}
select
  i as person_id,
  i as visit,
  (i * 7 % 90)::integer as "order",
  (150 + i % 50)::double as "Größe in cm",
  ['A', 'it''s', '日本', 'null'][1 + i % 4] as "it's",
  lpad((i % 1000)::varchar, 5, '0') as zip,
  date '1950-01-01' + (i % 20000)::integer as born,
  timestamp '2024-01-01 10:00:00' + interval (i % 5000) hour as seen,
  timestamptz '2024-01-01 10:00:00+00' + interval (i % 3) day as zoned,
  (['low', 'it''s high'][1 + i % 2])::enum('low', 'it''s high') as level,
  (i % 100 + 0.25)::decimal(10, 2) as paid,
  i % 2 = 0 as flag,
  uuid() as uid,
  (i % 3)::hugeint as big,
  (i % 7)::float as single,
  (i % 60)::varchar as note,
  (['08:00:00', '09:00:00'][1 + i % 2])::time as "at time"
from range(5000) as people(i)
"""
_TYPES = {
    "person_id": "bigint",
    "visit": "int8",
    "order": "int",
    "Größe in cm": "double",
    "it's": "varchar",
    "zip": "text",
    "born": "date",
    "seen": "timestamp",
    "zoned": "timestamptz",
    "level": "enum('low', 'it''s high')",
    "paid": "numeric(10, 2)",
    "flag": "boolean",
    "uid": "uuid",
    "big": "hugeint",
    "single": "float",
    "note": "varchar",
    "at time": "time",
}
_EVERY = r"""
  order: {bins: [18, 30, 45.0], labels: ["{# ref('x') }}", "} if %}", "{# it's #}", "\\ \" { {"]}
  Größe in cm: {round: 10}
  it's: {map: {A: "a 'b'", it's: '{# x }}', 日本: 日本}, other: "else: {#"}
  zip: {prefix: 3}
  born: {truncate: quarter}
  seen: {truncate: week}
  zoned: keep
  level: keep
  paid: {round: 0.5}
  flag: keep
  big: keep
  single: {bins: [0.7, 3]}
  note: {bins: [10, 20]}
  at time: keep
  nothing: {constant: "it's {# nothing }}"}
"""
_OTHER = """
  uid: keep
  visit: {map: {1: one, 2: two}, other: null}
  paid: keep
  flag: {map: {"true": yes it is}, other: no}
  seen: {bins: [2024-01-01 00:00:00, 2024-02-01 12:00:00]}
  zoned: {bins: [2024-01-01]}
  level: {prefix: 2}
  born: {bins: [1960-01-01, 1970-01-01]}
"""
_SECRET = "0f" * 16

# As the how-to says that somebody writes one.
_BY_HAND = """\
version: 2
unit_tests:
  - name: towns_recodes
    model: towns_v1_draw
    config: {enabled: "{{ not dbt_version.startswith('2') }}"}
    overrides:
      macros: {is_incremental: false, policy_engine.in_sample: "true"}
    given:
      - input: ref('stg_people')
        format: sql
        rows: select i as person_id, 29 as "order", date '2026-01-01' as born from ROWS as r(i)
    expect: {rows: [{order: "<30", n: 20}]}
"""
# What PostgreSQL has of these types, and what is released of them there.
_POSTGRES_STAGING = """\
{{ config(materialized='table') }}
select
  i::bigint as person_id,
  i as visit,
  (i * 7 % 90)::integer as "order",
  (150 + i % 50)::double precision as "Größe in cm",
  (array['A', 'it''s', '日本', 'null'])[1 + i % 4] as "it's",
  lpad((i % 1000)::text, 5, '0')::varchar(5) as zip,
  date '1950-01-01' + i % 20000 as born,
  timestamp '2024-01-01 10:00:00' + make_interval(hours => i % 5000) as seen,
  timestamptz '2024-01-01 10:00:00+00' + make_interval(days => i % 3) as zoned,
  (i % 100 + 0.25)::numeric(10, 2) as paid,
  i % 2 = 0 as flag,
  gen_random_uuid() as uid,
  (i % 7)::real as single,
  (array['08:00:00', '09:00:00'])[1 + i % 2]::time as "at time"
from generate_series(1, 5000) as people(i)
"""
_POSTGRES_TYPES = {
    **{name: kind for name, kind in _TYPES.items() if name not in {"level", "big", "note"}},
    "visit": "integer",
    "Größe in cm": "double precision",
    "zip": "character varying(5)",
    "single": "real",
    "at time": "time without time zone",
}
ROOMS = LONG_ROOMS[:3]  # not dbt 2
RELEASES = {"every_v1", "every_v2", "repeated_v1", "group__v1", "towns_v1", "noisy_v1",
            "several_v1"}  # fmt: skip


def properties(types: dict[str, str]) -> str:
    """The staging model's types, as its project declares them."""
    columns = "".join(
        f"      - {{name: {json.dumps(name, ensure_ascii=False)}, data_type: {json.dumps(kind)}}}\n"
        for name, kind in types.items()
    )
    return f"models:\n  - name: stg_people\n    columns:\n{columns}"


def odd_world(folder: Path, engine: str = "duckdb") -> World:
    """Odd names, every recoding, rows that are repeated, and an entry that somebody wrote."""
    made, is_duckdb = World.at(folder), engine == "duckdb"
    made.write("models/stg_people.sql", _STAGING if is_duckdb else _POSTGRES_STAGING)
    made.write("models/stg_people.yml", properties(_TYPES if is_duckdb else _POSTGRES_TYPES))
    made.write("models/groups.yml", "groups:\n  - name: privacy\n    owner: {email: a@b.org}\n")
    made.write(
        "policy-engine.yaml",
        "dbt: {release_targets: [prod], group: privacy, secrets: hidden.salts}\n"
        "accounts: {people: {}}\n",
    )
    recode = _EVERY if is_duckdb else without(_EVERY, "level", "big", "note").replace(r"\\ ", "")
    many = "{column: person_id, rows: {first_by: [visit desc, born]}}"
    every = made.policy("models/a/every", unit=many, recode=recode, k=10, model="every")
    text = every.read_text().replace("Towns for the site", '"{ x }} %} y %} {# z #}"')
    if is_duckdb:
        text = text.replace("privacy_unit:", "  columns: {note: integer}\nprivacy_unit:")
    every.write_text(text)
    recode = _OTHER if is_duckdb else without(_OTHER, "level")
    unit = "{column: person_id, rows: {first_by: [born]}}"
    made.policy("models/b/other", unit=unit, recode=recode, model="every", version=2, k=120)
    made.policy(
        "models/rows",
        recode="  order: {bins: [30]}\n  flag: keep",
        unit="{column: person_id, rows: one}",
        model="repeated",
        more=", as: rows, deprecated: 2030-01-31",
    )
    born = "{column: person_id, rows: {first_by: [born desc]}}"
    bins = "  order: {bins: [30]}"
    made.policy(
        "models/group", recode=bins, unit=born, model="group_", more="}\ncount: {people: people"
    )
    made.policy("models/towns", recode=bins, unit=born)
    noisy = "mechanism: noisy_counts"
    made.policy("models/noisy", recode=bins, unit="row", model="noisy", chance=noisy)
    made.policy(
        "models/several",
        recode=bins + "\n  flag: keep",
        unit="{column: person_id, rows: all}",
        model="several",
        more=", as: rows",
        chance="noise: {distribution: negative_binomial}\ncontribution: {max_groups: 2}",
    )
    rows = "range(20)" if is_duckdb else "generate_series(1, 20)"
    made.write("models/own.yml", _BY_HAND.replace("ROWS", rows))
    return made


def without(recode: str, *names: str) -> str:
    """Recodes without some columns."""
    lines = recode.split("\n")
    return "\n".join(line for line in lines if line.strip().split(":")[0] not in names)


def run(runner: Runner, world: World, *words: str) -> str:
    """What a command of dbt says that succeeds."""
    done = runner(*words, project=world.folder)
    assert done.returncode == 0, done.out[-6000:]
    return done.out


def story(version: str, engine: str, folder: Path) -> dict[str, Any]:
    """All that is looked at below, of one version of dbt in one engine."""
    if engine == "postgres":
        with running() as server:
            return _story(version, odd_world(folder, engine), str(server.folder))
    return _story(version, odd_world(folder), "")


def _story(version: str, world: World, server: str) -> dict[str, Any]:
    if server:
        one = (
            f"{{type: postgres, host: '{server}', user: postgres, password: none, port: 5432,"
            " dbname: postgres, schema: TARGET, threads: 2}"
        )
        outputs = ", ".join(f"{name}: {one.replace('TARGET', name)}" for name in ("dev", "prod"))
        world.write("profiles.yml", f"shop: {{target: dev, outputs: {{{outputs}}}}}\n")
    releases = world.sync().releases
    with dbt_of(version).served() as runner:
        run(runner, world, "deps")
        found: dict[str, Any] = {
            "built": run(runner, world, "build", "--target", "dev"),
            "nodes": nodes(world),
            "printed": {release.release: release.certificate.query for release in releases},
            "types": {release.release: release.types for release in releases},
            "compiled": compiled(runner, world),
        }
        if not server:
            found["dev"] = {name: described(world, name) for name in found["types"]}
            found["released"] = released(runner, world, found["compiled"])
    return found


def nodes(world: World) -> dict[str, Any]:
    """The manifest's nodes, each as far as it is looked at."""
    manifest = json.loads((world.folder / "target" / "manifest.json").read_text())
    keys = ("version", "latest_version", "access", "group", "deprecation_date", "columns", "config")
    return {
        name: {key: node.get(key) for key in (*keys, "description", "original_file_path")}
        for name, node in manifest["nodes"].items()
    }


def compiled(runner: Runner, world: World) -> dict[str, str]:
    """The texts of the releases as dbt compiles them for the target where they are released."""
    run(runner, world, "compile", "--target", "prod")
    folder = world.folder / "target" / "compiled" / "shop" / "models"
    found = (path for path in folder.rglob("*.sql") if is_release(path))
    return {path.stem.removesuffix("_draw"): path.read_text() for path in found}


def is_release(path: Path) -> bool:
    """Whether a compiled file is a release's, and no test's."""
    of_a_test = any(part.endswith(".yml") for part in path.parts)
    return not of_a_test and re.search(r"_v\d+_draw$", path.stem) is not None


def described(world: World, name: str) -> dict[str, Any]:
    """How many rows a table has, and which columns."""
    with duckdb.connect(str(world.folder / "dev.duckdb"), read_only=True) as connection:
        [(rows,)] = connection.execute(f"select count(*) from {name}").fetchall()
        columns = connection.execute(f"describe {name}").fetchall()
        return {"rows": rows, "columns": [column[0] for column in columns]}


def released(runner: Runner, world: World, texts: dict[str, str]) -> list[dict[str, Any]]:
    """What is released, and what it is after a second run that has no secret."""
    database = world.folder / "prod.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("create schema hidden")
        columns = "release_id text, salt text, text_md5 text, edition text, is_drawn boolean"
        connection.execute(f"create table hidden.salts ({columns})")
        for name, text in texts.items():
            row = [name, _SECRET, md5_of(text)]
            connection.execute("insert into hidden.salts values (?, ?, ?, 'once', false)", row)
    words = ("build", "--target", "prod", "--exclude-resource-type", "unit_test")
    run(runner, world, *words)
    first = contents(database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("delete from hidden.salts")
    run(runner, world, *words, "--full-refresh")
    return [first, contents(database)]


def contents(database: Path) -> dict[str, Any]:
    """The rows of the releases, as texts."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return {
            name: [list(map(str, row)) for row in connection.table(f"{name}_draw").fetchall()]
            for name in sorted(RELEASES)
        }


@pytest.fixture(scope="module", params=ROOMS, ids="-".join)
def told(request, made_once) -> dict[str, Any]:
    version, engine = request.param
    if engine == "postgres" and os.environ.get("POLICY_ENGINE_TESTS_WITHOUT_POSTGRESQL"):
        pytest.skip("PostgreSQL is not wanted here")
    found = made_once(f"sync-{version}-{engine}", lambda folder: story(version, engine, folder))
    return {**found, "engine": engine}


def test_every_recoding_passes_its_tests_and_its_contract(told):
    assert re.findall(r"PASS (\w+::\w+)", told["built"]) == ["towns_v1_draw::towns_recodes"]
    assert re.search(r"Done\. PASS=\d+ WARN=0 ERROR=0 SKIP=0", told["built"])
    generic = re.findall(
        r"PASS (\w+_v\d)(?:_draw)?_(?:certificate_current|minimum_count|no_unc\w+) ", told["built"]
    )
    assert sorted(generic) == sorted([*RELEASES] * 3)


def test_elsewhere_the_releases_are_empty_with_the_columns_of_their_contracts(told):
    for name, found in told.get("dev", {}).items():
        assert found == {"rows": 0, "columns": list(told["types"][name])}
    assert told["engine"] != "duckdb" or set(told["dev"]) == RELEASES


def test_the_docs_show_the_guarantee_as_it_is_written(told):
    node = told["nodes"]["model.shop.every.v1"]
    assert "{ x }} %} y %} { # z #}" in node["description"]
    assert "ε = 0.5" in node["description"]
    words = node["columns"]["order"]["description"]
    assert words.startswith("Released as: the interval it lies in, one of { # ref('x') }}")
    assert node["version"] == 1 and node["latest_version"] == 2
    assert node["access"] == "public" and node["group"] == "privacy"
    drawn = told["nodes"]["model.shop.every_v1_draw"]
    assert drawn["config"]["meta"]["privacy"]["certificate"]["k"] == 10
    rows = told["nodes"]["model.shop.repeated.v1"]
    assert rows["deprecation_date"].startswith("2030-01-31")


def test_what_dbt_compiles_is_the_text_that_was_printed(told):
    place = '"prod"."{}"' if told["engine"] == "duckdb" else '"postgres"."{}"'
    schema = "main" if told["engine"] == "duckdb" else "prod"
    assert set(told["compiled"]) == RELEASES
    for name, found in told["compiled"].items():
        stand_in = '"policy_engine_source"."policy_engine_source"'
        printed = told["printed"][name].replace(stand_in, f'{place.format(schema)}."stg_people"')
        printed = printed.replace('"policy_engine_secrets"', f'{place.format("hidden")}."salts"')
        assert found.strip() == printed.strip()


def test_a_reserved_release_is_built_once_and_a_second_run_changes_nothing(told):
    assert (told["engine"] == "duckdb") == ("released" in told)
    first, second = told.get("released", ({}, {}))
    if not first:
        return
    counts = [int(row[-1]) for row in first["group__v1"]]
    assert len(counts) == 2 and all(20 <= count < 400 for count in counts)
    assert sum(counts) == len(first["repeated_v1"]) > 400
    assert second == first


def parsed(version: str, folder: Path) -> dict[str, Any]:
    """What a version of dbt says of the project when it parses it, and its nodes."""
    made = odd_world(folder)
    made.sync()
    dbt = dbt_of(version)
    run(dbt.run, made, "deps")
    said = run(dbt.run, made, "parse")
    texts = {str(p.relative_to(folder)): md5_of(p.read_text()) for p in folder.rglob("*_draw.sql")}
    return {"said": said, "nodes": nodes(made), "md5": texts}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_dbt_parses_what_is_written(version, made_once):
    """Version 2 takes no key that it does not know."""
    told = made_once(f"parsed-{version}", lambda folder: parsed(version, folder))
    said = told["said"].lower()
    assert "warn" not in said and "deprecat" not in said
    versions = [name for name in told["nodes"] if name.startswith("model.shop.every.v")]
    assert sorted(versions) == ["model.shop.every.v1", "model.shop.every.v2"]
    for name in ("model.shop.every_v1_draw", "model.shop.every_v2_draw"):
        node = told["nodes"][name]
        mark = node["config"]["meta"]["privacy"]
        assert mark["generated"] is True
        assert mark["text_md5"] == told["md5"][node["original_file_path"]]


def broken(folder: Path) -> dict[str, Any]:
    """What dbt says of a contract that was changed, and of one that was not."""
    made = World.at(folder)
    made.write("models/stg_people.sql", _FEW)
    for name in ("contract", "good"):
        made.policy(f"models/{name}", recode="  age: {bins: [30]}", model=name)
    made.sync()
    said = made.read("models/contract.yml")
    made.write("models/contract.yml", said.replace("data_type: bigint", "data_type: varchar"))
    dbt = dbt_of("1.11")
    run(dbt.run, made, "deps")
    done = dbt.run("build", "--target", "dev", project=made.folder)
    return {"code": done.returncode, "out": done.out}


_FEW = (
    "{{ config(materialized='table') }}\nselect 1::bigint as person_id, 1 as age, 'A' as town,"
    " date '2024-01-01' as visited\n"
)


def test_a_release_that_is_not_what_its_contract_says_fails(made_once):
    told = made_once("broken", broken)
    assert told["code"] == 1
    assert "ERROR creating sql incremental model main.contract_v1_draw " in told["out"]
    assert "OK created sql incremental model main.good_v1 " in told["out"]
    assert "This model has an enforced contract that failed" in told["out"]


EXAMPLE = Path(__file__).parents[2] / "examples" / "dbt_project"


def example(version: str, folder: Path) -> dict[str, Any]:
    """What dbt says of the example project, clean and with its tainted exposure."""
    made = folder / "project"
    ignored = shutil.ignore_patterns("target", "dbt_packages", "*.duckdb", ".policy-engine")
    shutil.copytree(EXAMPLE, made, ignore=ignored)
    dbt = dbt_of(version)
    clean = run(dbt.run, World(made), "deps") + run(dbt.run, World(made), "build")
    tainted = dbt.run("build", "--vars", "tainted: true", project=made)
    return {"clean": clean, "tainted": tainted.out, "code": tainted.returncode}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_example_is_built_and_its_tainted_exposure_stops_it(version, made_once):
    told = made_once(f"example-{version}", lambda folder: example(version, folder))
    assert "visitors_v2" in told["clean"]
    assert told["code"] != 0
    assert "stg_visits -> visits_by_day -> daily_page" in told["tainted"]
