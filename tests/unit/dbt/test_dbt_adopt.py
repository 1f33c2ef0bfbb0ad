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
    places = {name: {"name": name, "data_type": "varchar"} for name in ("town", "region")}
    project.model("regions", "select 1 as town", columns=places)
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
        ("select town, count(*) as n from {{ ref('stg_people') }} group by 1", "whose rows"),
        (f"select left(town, 3) as town, count(*) as n, count(*) * 10 as people"
         f" from {{{{ ref('stg_people') }}}} where {HASH} group by 1 having count(*) >= 20",
         "what it makes of released groups"),
        (TOWNS.replace("as town\n", "as place_of_town\n").replace("age, town", "age, place_of_town")
         .replace("select age, place_of_town, row", "select age, town, row"), "write 'as town'"),
        ("select left(town, 1) as town, count(*) as n from {{ ref('stg_people') }} tablesample"
         " bernoulli (10 percent) group by 1 having count(*) >= 20", "whose rows it counts"),
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


# What people write by hand: each becomes a policy, or is told what it lacks

PEOPLE = "count(distinct person_id)"
FROM, WHOM = "from {{ ref('stg_people') }}", f"having {PEOPLE} >= 20"
BY_HAND = {
    "distinct": f"select town, {PEOPLE} as n {FROM} group by 1 {WHOM}",
    "any size": f"select town, {PEOPLE} as n {FROM} group by town order by n desc",
    "months": f"select date_trunc('month', visited) as visited, {PEOPLE} as n {FROM} group by 1"
    f" {WHOM}",
    "bands": "select case when age < 30 then 'young' when age < 60 then 'mid' else 'old' end"
    f" as age, {PEOPLE} as patients {FROM} group by 1 {WHOM}",
    "union": f"select town, null as age, {PEOPLE} as n {FROM} group by 1 {WHOM} union all"
    f" select null, age, {PEOPLE} {FROM} group by 2 {WHOM}",
    "sets": f"select town, age, {PEOPLE} as n {FROM} group by grouping sets ((town), (age)) {WHOM}",
    "rollup": f"select town, age, {PEOPLE} as n {FROM} group by rollup (town, age) {WHOM}",
    "cube": f"select town, age, {PEOPLE} as n {FROM} group by cube (town, age) {WHOM}",
    "where": f"select town, {PEOPLE} as n {FROM} where age >= 18 and town <> 'X' group by 1 {WHOM}",
    "chain": f"with p as (select * {FROM}), q as (select town, person_id from p where age >= 18),"
    f" r as (select town, {PEOPLE} as n from q group by 1) select * from r where n >= 20",
    "latest": f"select town, count(*) as n from (select *, {ONE_ROW} {FROM}) t where place = 1"
    " group by 1 having count(*) >= 20",
}
SAYS = {
    "months": "visited: {truncate: month}",
    "bands": "age: {bins: [30, 60], labels: [young, mid, old], missing: old}\n",
    "union": "marginals:\n  - [town]\n  - [age]\n",
    "sets": "marginals:\n  - [town]\n  - [age]\n",
    "rollup": "marginals:\n  - [town, age]\n  - [town]\n",
    "cube": "marginals:\n  - [town, age]\n  - [town]\n  - [age]\n",
    "where": "filter:\n  age: {at_least: 18}\n  town: {not_in: [X]}\n",
    "chain": "filter:\n  age: {at_least: 18}\n",
    "latest": "privacy_unit: {column: person_id, rows: {first_by: [visited desc]}}",
}


@pytest.mark.parametrize("shape", BY_HAND)
def test_what_counts_everybody_becomes_a_policy_of_noise_that_syncs(tmp_path, shape):
    world = made(tmp_path, BY_HAND[shape])
    done = run(world, "towns")
    assert done.exit_code == 0, done.output
    text = world.read("models/towns.privacy.yml")
    assert "mechanism: noisy_counts" in text and "column: person_id" in text
    assert SAYS.get(shape, "contribution: {max_groups: 1}") in text
    assert "everybody, with noise" in done.output
    (world.folder / "models/towns.sql").unlink()
    [release] = world.sync().releases
    assert release.release == "towns_v1"


LACKS = {
    "rows": (f"select town, count(*) as n {FROM} group by 1 having count(*) >= 20",
             {"PERSON": "person_id"}),
    "sample": (f"select town, count(*) as n {FROM} tablesample bernoulli (10 percent) group by 1"
               " having count(*) >= 20", {"PERSON": "person_id"}),
    "drawn": (f"select town, count(*) as n from (select * {FROM} where random() < 0.1) t group by 1"
              " having count(*) >= 20", {"PERSON": "person_id"}),
    "sums": (f"select town, {PEOPLE} as n, sum(age) as years, round(avg(age), 1) as mean_age {FROM}"
             f" group by 1 {WHOM}", {"LEAST": "0", "MOST": "99", "ROWS": "2"}),
    "visits": (f"select town, {PEOPLE} as n, count(*) as visits {FROM} group by 1 {WHOM}",
               {"ROWS": "2"}),
    "sums of one": (f"select town, count(*) as n, sum(age) as years from (select *, {ONE_ROW}"
                    f" {FROM}) t where place = 1 group by 1", {"LEAST": "0", "MOST": "99"}),
}  # fmt: skip


@pytest.mark.parametrize("shape", LACKS)
def test_what_a_text_does_not_say_is_asked_for_in_the_policy_that_it_would_be(tmp_path, shape):
    sql, words = LACKS[shape]
    world = made(tmp_path, sql)
    done = run(world, "towns")
    assert done.exit_code == 1 and "write models/towns.privacy.yml" in done.output
    assert not (world.folder / "models/towns.privacy.yml").exists()
    text = done.output.partition("capitals:\n")[2].partition("account: people\n")
    policy = f"{text[0]}account: people\n"
    for word, given in words.items():
        assert word in policy and word in text[2], done.output
        policy = policy.replace(word, given)
    world.write("models/towns.privacy.yml", policy)
    (world.folder / "models/towns.sql").unlink()
    [release] = world.sync().releases
    assert release.release == "towns_v1"


REFUSED = {
    "renamed": (BY_HAND["months"].replace("as visited", "as month"), "write 'as visited'"),
    "join": (
        f"select r.region, count(distinct p.person_id) as n {FROM} p right join"
        " {{ ref('regions') }} r"
        f" on p.town = r.town group by 1 having count(distinct p.person_id) >= 20",
        "a RIGHT JOIN of dev.main.regions; write JOIN or LEFT JOIN of tables ON equal columns",
    ),
    "others": (BY_HAND["union"].replace("as age", "as age", 1).replace(
        "select null, age, count(distinct person_id) from {{ ref('stg_people') }}",
        "select null, age, count(distinct person_id) from {{ ref('stg_people') }} where age > 17",
    ), "groupings of other rows"),
    "two ways": (
        f"select town, age, {PEOPLE} as n {FROM} group by rollup (town), cube (age)",
        "several of ROLLUP, CUBE and GROUPING SETS",
    ),
    "shown twice": (f"select left(town, 2) as town, {PEOPLE} as n {FROM} group by 1 union all"
                    f" select left(town, 1), {PEOPLE} {FROM} group by 1", "give it two names"),
    "minus": (f"select town, {PEOPLE} as n {FROM} group by 1 except select town, 1 {FROM}",
              "EXCEPT"),
}  # fmt: skip


@pytest.mark.parametrize("shape", REFUSED)
def test_what_becomes_no_policy_says_what_to_write(tmp_path, shape):
    sql, said = REFUSED[shape]
    done = run(made(tmp_path, sql), "towns")
    assert done.exit_code == 1 and said in done.output, done.output


# What is looked up beside a person's rows

OF_PEOPLE = "count(distinct p.person_id)"
REGIONS = "{{ ref('regions') }} r on p.town = r.town"
LOOKED_UP = {
    "inner": (
        f"select r.region, {OF_PEOPLE} as n {FROM} p join {REGIONS} group by 1"
        f" having {OF_PEOPLE} >= 20",
        "filter:\n  region: {missing: false}\n",
    ),
    "left": (
        f"select r.region, date_trunc('month', p.visited) as visited, {OF_PEOPLE} as n {FROM} p"
        f" left join {REGIONS} group by 1, 2 having {OF_PEOPLE} >= 20",
        "visited: {truncate: month}",
    ),
    "sets": (
        f"select r.region, p.age, {OF_PEOPLE} as n {FROM} p left join {REGIONS}"
        f" group by grouping sets ((r.region), (p.age)) having {OF_PEOPLE} >= 20",
        "marginals:\n  - [region]\n  - [age]\n",
    ),
    "imported": (
        f"with people as (select * {FROM}), areas as (select * from {{{{ ref('regions') }}}}),"
        " both as (select people.*, areas.region from people left join areas"
        f" on people.town = areas.town) select region, {PEOPLE} as n from both group by 1 {WHOM}",
        "region: keep",
    ),
    "sampled": (
        f"select r.region, count(*) as n {FROM} p left join {REGIONS}"
        f" where {HASH.replace('person_id', 'p.person_id')} group by 1 having count(*) >= 20",
        "sample: {rate: 0.1}",
    ),
}


@pytest.mark.parametrize("shape", LOOKED_UP)
def test_a_table_that_is_looked_up_is_joined_by_the_policy(tmp_path, shape):
    sql, said = LOOKED_UP[shape]
    world = made(tmp_path, sql)
    done = run(world, "towns")
    assert done.exit_code == 0, done.output
    # That it is public is nobody's word but the user's, who is told so.
    told = done.output.partition("confirm these because nothing checks them:")[2]
    assert "dev.main.regions is the same, whichever people are in dev.main.stg_people" in told
    assert "public, as you state" in told and "has one row for each town" in told
    text = world.read("models/towns.privacy.yml")
    source = """source:
  table: "ref('stg_people')"
  join:
    regions: {table: "ref('regions')", "on": town, columns: [region], public: true}
"""
    assert source in text
    assert said in text
    (world.folder / "models/towns.sql").unlink()
    world.write("models/regions.sql", "select 'A' as town, 'north' as region")
    columns = "[{name: town, data_type: varchar}, {name: region, data_type: varchar}]"
    world.write("models/regions.yml", f"models:\n  - {{name: regions, columns: {columns}}}\n")
    [release] = world.sync().releases
    assert release.release == "towns_v1"
    assert "LEFT JOIN" in world.read("models/towns_v1_draw.sql")


def test_a_draft_says_what_to_confirm_too(tmp_path):
    sql = (
        f"select r.region, {OF_PEOPLE} as n, sum(p.age) as years {FROM} p join {REGIONS} group by 1"
    )
    done = run(made(tmp_path, sql), "towns")
    assert done.exit_code == 1 and "LEAST" in done.output
    assert "public: true}" in done.output
    assert "public, as you state" in done.output
