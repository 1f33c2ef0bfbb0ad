"""A private choice in a dbt project: the source as dbt has it, charged, and released by dbt.

Its account has reviewers, who approve each choice and each release before it is charged.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from release_room import Room, outcome, room_of

from policy_engine.attest.keys import generate_key
from policy_engine.policy.review_models import key_line

pytestmark = pytest.mark.slow

SEARCHED = """\
version: 1
name: towns
source: {table: ref('stg_people')}
privacy_unit: {column: person_id, rows: any}
recode:
  age: {levels: [{bins: [10, 20, 30, 40, 50, 60, 70, 80]}, {bins: [30, 60]}], level: 1}
  town: keep
search: {epsilon: 0.1}
mechanism: noisy_counts
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {table: towns}
account: people
"""
SUGGESTED = """\
            version: 1
            name: visits
            source: {table: ref('stg_people')}
            privacy_unit: {column: person_id, rows: all}
            recode: {town: keep}
            mechanism: noisy_counts
            contribution: {max_groups: 10}
            guarantee: {epsilon: 0.5, delta: 1.0e-6}
            release: {table: visits_by_town}
            account: people
"""


ROLES = {"ada": "owner", "ben": "privacy"}


def _require(room: Room) -> None:
    """Two people approve what the account pays for."""
    people = {}
    for name, role in ROLES.items():
        key = Ed25519PrivateKey.generate()
        generate_key(room.world.folder / f"{name}.pem", key)
        people[name] = {"role": role, "keys": [key_line(key.public_key().public_bytes_raw())]}
    needs = {stage: dict.fromkeys(ROLES.values(), 1) for stage in ("claim", "change")}
    review = {"version": 1, "account": "people", "serial": 1, "people": people, **needs,
              "four_eyes": False, "days": 30, "expires": "2999-12-31"}  # fmt: skip
    room.world.write("p.review.yaml", json.dumps(review))
    said = ("--alone", "--by", "Ada", "--why", "it is hers")
    done = room.engine_says("review", "require", "p.review.yaml", *said)
    assert done["code"] == 0, done


def _approved(room: Room, *words: str) -> list[dict[str, object]]:
    """The answers of asking for approvals as words say, and of each approval."""
    asked = ("dbt", "request", *words, "--target", "prod", "--key", "ada.pem")
    told = [room.engine_says(*asked)]
    for line in str(told[0]["out"]).splitlines():
        request = line.partition(": asks for")[0]
        for name, role in ROLES.items():
            answer = ("review", "approve", request, "--role", role, "--key", f"{name}.pem", "--yes")
            told.append(room.engine_says(*answer))
    return told


def _story(folder: Path) -> dict[str, object]:
    with room_of("duckdb", folder) as room:
        room.write()
        world = room.world
        world.write(
            "policy-engine.yaml",
            "accounts: {people: {epsilon: 2, delta: 1.0e-5}}\ndbt: {release_targets: [prod]}\n",
        )
        world.write("models/towns.privacy.yml", SEARCHED)
        said = world.read("models/stg_people.yml")
        meta = "    config:\n      meta:\n        privacy:\n          policy:\n"
        world.write("models/stg_people.yml", said + meta + SUGGESTED)
        room.begin()
        _require(room)
        file, within = "models/towns.privacy.yml", "models/stg_people.yml#visits"
        search = ("dbt", "search", file, "--target", "prod", "--format", "json")
        suggest = ("dbt", "suggest", within, "--epsilon", "0.1", "--target", "prod")
        story: dict[str, object] = {
            "dev": room.engine_says("dbt", "search", file, "--target", "dev"),
            "not built": room.engine_says(*search),
        }
        room.builds("--target", "prod", "--select", "+stg_people")
        story["not searched"] = room.asks("reserve")
        story["waits"] = [room.engine_says(*each) for each in (search, suggest)]
        story["asked"] = _approved(room, file, "--search")
        story["searched"] = room.engine_says(*search)
        story["not asked"] = room.engine_says(*suggest)
        story["asked"] += _approved(room, within, "--suggest", "0.1")
        story["again"] = room.engine_says(*search)
        story["suggested"] = room.engine_says(*suggest)
        story["synced"] = room.engine_says("dbt", "sync", "--target", "prod", "--prune")
        story["releases wait"] = room.asks("reserve")
        story["asked"] += _approved(room)
        story["reserved"] = room.asks("reserve")
        story["built"] = room.builds()
        story["attested"] = room.asks("attest")
        story["gate"] = room.engine_says("dbt", "gate", "--manifest", "target/manifest.json")
        certificate = "models/towns.chosen.privacy.certificate.json"
        story["verified"] = room.engine_says("verify", certificate)
        story["entries"] = room.entries()
        with closing(sqlite3.connect(world.folder / ".policy-engine/ledger.sqlite")) as ledger:
            records = "".join(str(row) for row in ledger.execute("select * from records"))
        story["sources"] = re.findall(r'"place":"(\w{64})"', records)
        paths = sorted((world.folder / "models").iterdir())
        story["files"] = {
            f"models/{path.name}": path.read_text() for path in paths if path.is_file()
        }
        return story


@pytest.fixture(scope="module")
def story(made_once):
    return made_once("choosing", _story)


def test_a_choice_is_of_a_release_target_whose_source_is_built(story):
    assert story["dev"]["code"] == 2
    assert "nothing is chosen in the target dev" in story["dev"]["err"]
    assert story["not built"]["code"] != 0


def test_a_policy_to_search_is_not_released_before_it_was_searched(story):
    told = story["not searched"]
    assert told["code"] == 1 and "no search has chosen the levels in recode" in told["err"]


def test_a_choice_waits_for_its_reviewers_as_a_release_does(story):
    searched, suggested = story["waits"]
    assert searched["code"] == suggested["code"] == 1
    assert "'policy-engine dbt request POLICY --search' asks for them" in searched["err"]
    assert "'policy-engine dbt request POLICY --suggest 0.1' asks" in suggested["err"]
    # What was approved is one choice: another one waits still.
    assert "are not met" in story["not asked"]["err"]
    assert story["releases wait"]["code"] == 1
    assert "'policy-engine dbt request' asks for them" in story["releases wait"]["err"]
    failed = [each for each in story["asked"] if each["code"]]
    assert not failed and len(story["asked"]) == 11, failed


def test_a_choice_is_charged_once_and_written_where_policies_of_dbt_stand(story):
    for name in ("searched", "suggested"):
        assert story[name]["code"] == 0, story[name]
    first, second = (json.loads(story[name]["out"]) for name in ("searched", "again"))
    assert (first["outcome"], second["outcome"]) == ("chosen", "stands")
    assert first["entry"] == second["entry"]
    assert first["policy"].endswith("models/towns.chosen.privacy.yml")
    assert "policy-engine dbt sync" in story["suggested"]["out"]
    files = story["files"]
    towns = yaml.safe_load(files["models/towns.chosen.privacy.yml"])
    visits = yaml.safe_load(files["models/visits.suggested.privacy.yml"])
    assert "search" not in towns and towns["name"] == "towns"
    assert visits["contribution"]["max_groups"] in range(1, 11)
    assert story["verified"]["code"] in (0, 4), story["verified"]


def test_what_was_chosen_is_released_by_dbt_and_pays_for_the_same_source(story):
    assert story["synced"]["code"] == 0, story["synced"]
    assert outcome(story["reserved"], "outcome") == ["reserved", "reserved"], story["reserved"]
    assert story["built"]["code"] == 0, story["built"]
    assert outcome(story["attested"], "outcome") == ["attested", "attested"]
    assert story["gate"]["code"] == 0, story["gate"]
    entries = story["entries"]
    assert len(story["sources"]) == 4 and len(set(story["sources"])) == 1
    assert len(entries) == 4 and {entry["account"] for entry in entries} == {"people"}
