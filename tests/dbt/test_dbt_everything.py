"""All that a policy can say, as releases of one dbt project: on real dbt.

One story an engine, made once; the tests ask what came of each release.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml
from release_room import outcome, room_of

pytestmark = pytest.mark.slow

ENGINES = ["duckdb", pytest.param("postgres", marks=pytest.mark.evidence)]
POLICY = """\
version: 1
name: NAME
source: {table: ref('stg_people')}
privacy_unit: {column: person_id, stays: true, rows: any}
recode:
  age: {bins: [30, 60]}
  town: {map: {A: north, B: south}, other: elsewhere}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {table: NAME}
account: people
mechanism: noisy_counts
"""
_PURE = POLICY.replace("delta: 1.0e-6", "delta: 0").replace("noisy_counts\n", "")
_AS_ROWS = ("{table: NAME}", "{table: NAME, as: rows}")
POLICIES = {
    "measured": POLICY
    + """\
measures:
  years: {sum: age, bounds: [0, 99], missing: {as: 0}}
  mean_age: {mean: age, bounds: [0, 99], round_to: 0.5}
  middle: {median: age, bounds: [0, 99]}
""",
    "cut": POLICY.replace("rows: any", "rows: all")
    + """\
contribution: {max_groups: 1, max_rows_per_group: 2, count_cut: true}
count: {people: patients, rows: visits}
measures: {years: {sum: age, per: row, bounds: [0, 80]}}
""",
    "filled": POLICY + "measures: {mean_age: {mean: age, bounds: [20, 99], not_null: true}}\n",
    "rolled": POLICY + "rollup: {to: [town]}\n",
    "margins": POLICY
    + "marginals: [[town], [age]]\nmeasures: {years: {sum: age, bounds: [0, 99]}}\n",
    "listed": POLICY
    + "public_groups: {age: ['<30', '[30,60)', '>=60'], town: [north, south, elsewhere]}\n",
    "from_file": POLICY + "public_groups: {file: keys.csv}\n",
    "every": POLICY + "public_groups: auto\n",
    "first_half": POLICY + "part: {number: 1, of: 2}\n",
    "second_half": POLICY + "part: {number: 2, of: 2}\n",
    "answers": _PURE.replace("delta: 0", "delta: 0, neighbours: replace_one")
    .replace("{column: person_id, stays: true, rows: any}", "row")
    .replace("stg_people", "visits")
    .replace("account: people", "account: answers")
    + "randomised_response\n",
    "tuples": _PURE.replace(*_AS_ROWS) + "ab_insertion\n",
    "repeated": POLICY.replace(*_AS_ROWS),
}

WITHIN = "measured"
"""The one that stands in a properties file."""


def _story(engine: str, folder: Path) -> dict[str, object]:
    with room_of(engine, folder) as room:
        room.write()
        (room.world.folder / "models/towns.privacy.yml").unlink()
        staged = room.world.read("models/stg_people.yml")
        filled = "data_type: integer, constraints: [{type: not_null}]"
        contract = "name: stg_people\n    config: {contract: {enforced: true}}"
        staged = staged.replace("name: stg_people", contract)
        room.world.write("models/stg_people.yml", staged.replace("data_type: integer", filled))
        room.world.write(
            "policy-engine.yaml",
            "accounts:\n  people: {epsilon: 20, delta: 1.0e-4}\n"
            "  answers: {epsilon: 1, delta: 1.0e-9}\n"
            "dbt: {release_targets: [prod]}\n",
        )
        room.world.write("models/keys.csv", 'age,town\n<30,north\n"[30,60)",north\n>=60,south\n')
        for name, text in POLICIES.items():
            if name != WITHIN:
                room.world.write(f"models/{name}.privacy.yml", text.replace("NAME", name))
        text = textwrap.indent(POLICIES[WITHIN].replace("NAME", WITHIN), " " * 12)
        meta = f"config:\n      meta:\n        privacy:\n          policy:\n{text}      contract:"
        said = room.world.read("models/stg_people.yml").replace("config: {contract:", meta)
        room.world.write("models/stg_people.yml", said.replace("true}}", "true}"))
        story: dict[str, object] = {"synced": room.begin()}
        story["dev"] = room.builds("--target", "dev")
        story["unreserved"] = room.builds()
        drawn = [f"{name}_v1_draw" for name in POLICIES]
        story["unreserved rows"] = [room.sql(f"select count(*) from {name}") for name in drawn]
        story["reserved"] = room.asks("reserve")
        story["built"] = room.builds()
        story["attested"] = room.asks("attest")
        story["status"] = room.asks("status")
        story["verified"] = room.engine_says("dbt", "verify", "--target", "prod")
        story["gate"] = room.engine_says("dbt", "gate", "--manifest", "target/manifest.json")
        story["rows"] = {
            name: [[*map(str, row)] for row in room.sql(f"select * from {name}_v1")]
            for name in POLICIES
        }
        story["entries"] = room.entries()
        story["words"] = {
            name: yaml.safe_load(room.world.read(f"models/{name}.yml")) for name in POLICIES
        }
        return story


@pytest.fixture(params=ENGINES, scope="module")
def story(request, made_once):
    engine = request.param
    return made_once(f"everything-{engine}", lambda folder: _story(engine, folder))


def _rows(story, name: str) -> list[dict[str, object]]:
    """The rows of a release, by the columns that its contract names."""
    [model, _] = story["words"][name]["models"]
    names = [column["name"] for column in model["versions"][0]["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in story["rows"][name]]
    assert rows, name
    return rows


def test_nothing_is_drawn_that_is_not_reserved(story):
    assert story["synced"]["code"] == 0, story["synced"]
    assert story["dev"]["code"] == 0, story["dev"]["out"]
    assert story["unreserved"]["code"] == 0, story["unreserved"]["out"]
    assert story["unreserved rows"] == [[[0]]] * len(POLICIES)


def test_each_is_reserved_built_signed_for_and_verified(story):
    assert outcome(story["reserved"]) == ["reserved"] * len(POLICIES), story["reserved"]
    assert story["built"]["code"] == 0, story["built"]["out"]
    assert outcome(story["attested"]) == ["attested"] * len(POLICIES), story["attested"]
    assert outcome(story["status"], "state") == ["certified"] * len(POLICIES), story["status"]
    assert story["verified"]["code"] == 0, story["verified"]
    assert story["verified"]["out"].count("holds the certified rows") == len(POLICIES)
    assert story["gate"]["code"] == 0, story["gate"]


def test_status_says_since_when_and_by_which_certificate(story):
    for each in story["status"]["releases"]:
        assert each["since"] and each["certificate"].endswith(".prod.certificate.json"), each
        assert (each["due"], each["next"], each["source_made_anew"]) == ([], None, None)


def test_parts_are_each_of_half_of_the_people(story):
    first, second = (
        sum(int(row["n"]) for row in _rows(story, name)) for name in ("first_half", "second_half")
    )
    assert 1300 <= first <= 1700 and abs(first + second - 3000) < 300


def test_public_groups_are_all_there_and_no_other(story):
    for name, many in (("listed", 9), ("from_file", 3), ("every", 16)):
        assert len(_rows(story, name)) == many, name


def test_values_that_nobody_has_are_shown_by_chance(story):
    assert sum(int(row["n"]) for row in _rows(story, "answers")) == 6000
    assert all(row.keys() == {"age", "town"} for row in _rows(story, "tuples"))


def test_numbers_beside_a_count_are_near_the_truth(story):
    for row in _rows(story, "measured"):
        low, high = {"<30": (0, 29), "[30,60)": (30, 59), ">=60": (60, 89)}[str(row["age"])]
        assert low - 5 <= float(row["mean_age"]) <= high + 5, row
        assert low <= int(row["middle"]) <= high, row
        assert abs(int(row["years"]) - float(row["mean_age"]) * int(row["n"])) < 5000, row
    for row in _rows(story, "cut"):
        assert int(row["visits"]) >= int(row["patients"]) - 200, row


def test_groupings_are_told_apart(story):
    assert {row["grouping"] for row in _rows(story, "rolled")} == {"1", "2"}
    assert {row["grouping"] for row in _rows(story, "margins")} == {"1", "2"}


def test_dbt_says_of_each_number_what_the_page_says(story):
    [model, _] = story["words"]["measured"]["models"]
    said = {each["name"]: each["description"] for each in model["versions"][0]["columns"]}
    assert (
        "the mean of age over the people with a value, with noise: give or take"
        in (said["mean_age"])
    )
    assert "half of the time, or more often, within" in said["middle"]
    assert "is how many people of the source have in the group" in said["n"]
    for name in POLICIES:
        [model, draw] = story["words"][name]["models"]
        for columns in (model["versions"][0]["columns"], draw["columns"]):
            assert all(each["description"] and each["data_type"] for each in columns), name
