"""A policy within a properties file of dbt: read, certified and refused as in a file of its own."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from dbt_manifests import Project
from dbt_sync_world import POLICY, RECODE, STAGING, World, changes

from policy_engine.dbt.gate import check_project
from policy_engine.errors import FileError, PolicyError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.within import policies_within

TEXT = POLICY.format(
    relation="ref('stg_people')",
    unit="{column: person_id, rows: {first_by: [visited desc]}}",
    recode=RECODE,
    delta="1.0e-6",
    model="towns",
    version=1,
    more="",
    chance="sample: {rate: 0.1}\nk: 20",
)
INSIDE = "    config:\n      meta:\n        privacy:\n          policy:\n"


def within(*texts: str, head: str = STAGING) -> str:
    """The staging's properties with policies: the first of it, each more of a node of its own."""
    said = head.rstrip("\n") + "\n"
    for number, text in enumerate(texts):
        said += f"  - name: node_{number}\n" if number else ""
        said += INSIDE + textwrap.indent(text, " " * 12)
    return said


def world(tmp_path: Path, *texts: str) -> World:
    made = World.at(tmp_path)
    made.write("models/stg_people.yml", within(*(texts or (TEXT,))))
    return made


def test_the_same_policy_in_either_place_makes_the_same_model_and_certificate(tmp_path):
    one, other = World.at(tmp_path / "own"), world(tmp_path / "within")
    one.policy()
    [first], [second] = one.sync().releases, other.sync().releases
    assert first.policy.digest == second.policy.digest
    assert first.certificate.query == second.certificate.query
    assert second.policy.file == other.folder / "models/stg_people.yml#towns"
    own = one.read("models/towns_v1_draw.sql").replace("towns.privacy.yml", "stg_people.yml#towns")
    assert own == other.read("models/towns_v1_draw.sql")
    assert "policy: stg_people.yml#towns" in other.read("models/towns.yml").replace('"', "")
    assert changes(other.sync()) == {}


def test_several_policies_of_a_file_are_told_apart_by_name_and_else_by_line(tmp_path):
    ages = TEXT.replace("name: towns", "name: ages").replace("table: towns", "table: ages")
    again, unnamed = TEXT, TEXT.replace("name: towns\n", "")
    made = world(tmp_path, TEXT, ages, again, unnamed)
    file = made.folder / "models/stg_people.yml"
    said = enumerate(file.read_text().splitlines(), 1)
    lines = [number for number, line in said if line.strip() == "version: 1"]
    found = [each.name.partition("#")[2] for each in policies_within(file)]
    assert found == ["towns", "ages", str(lines[2]), str(lines[3])]
    assert load_policy(f"{file}#ages").release.relation == "ages"
    with pytest.raises(PolicyError, match=f"stg_people.yml:{lines[3]}:13: name is missing"):
        load_policy(f"{file}#{lines[3]}")
    with pytest.raises(FileError, match=r"there is no policy homes .* it has towns, ages"):
        load_policy(f"{file}#homes")


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("k: 1", "k: 20", "k must be at least 2"),
        ("table: ref('stg_pople')", "table: ref('stg_people')", "must be a node of this"),
        ("account: peple", "account: people", "account must be one of"),
        ("  height: {bins: [30, 60]}", "  age: {bins: [30, 60]}", "the types of height"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_the_line_and_the_column_of_the_file(tmp_path, wrong, right, said):
    made = world(tmp_path, TEXT.replace(right, wrong))
    with pytest.raises(PolicyError) as refused:
        made.sync()
    [problem] = refused.value.problems
    key = wrong.strip().partition(":")[0]
    line = next(
        n for n, each in enumerate(made.read("models/stg_people.yml").splitlines(), 1)
        if wrong in each or ("height" in wrong and "table: ref" in each)
    )  # fmt: skip
    assert said in problem.message
    assert problem.file.endswith("models/stg_people.yml")
    assert problem.line == line, (problem, key)


def test_a_policy_in_braces_and_one_of_a_source_table_are_read(tmp_path):
    made = World.at(tmp_path)
    flow = (
        "{version: 1, name: towns, source: {table: \"source('raw', 'people')\"},\n"
        "            privacy_unit: {column: person_id, rows: any}, recode: {town: {prefix: 1}},\n"
        "            guarantee: {epsilon: 0.5, delta: 1.0e-6}, release: {table: towns},"
        "            account: people}"
    )
    made.write(
        "models/raw.yml",
        "sources:\n  - name: raw\n    schema: é\n    tables:\n      - name: people\n"
        f"        config: {{meta: {{privacy: {{policy: {flow}}}}}}}\n"
        "        columns:\n          - {name: person_id, data_type: bigint}\n"
        "          - {name: town, data_type: varchar}\n",
    )
    [release] = made.sync().releases
    assert release.policy.file.name == "raw.yml#towns"
    assert release.node.call == "source('raw', 'people')"


def test_a_properties_file_that_is_no_yaml_is_refused_where_it_may_have_a_policy(tmp_path):
    made = world(tmp_path)
    made.write("models/other.yml", "models: [\n    policy:\n  privacy")
    with pytest.raises(PolicyError, match=r"other\.yml:3:.*not YAML"):
        made.project.policies()


def test_a_policy_beside_a_seed_is_refused_for_dbt_reads_no_models_there(tmp_path):
    made = world(tmp_path)
    made.write("seeds/people.yml", made.read("models/stg_people.yml"))
    with pytest.raises(PolicyError, match=r"people\.yml#towns: a policy stands below a path"):
        made.sync()


def test_what_was_chosen_for_a_policy_stands_for_it(tmp_path):
    made = world(tmp_path, TEXT, TEXT.replace("towns", "ages"))
    made.policy("models/homes", model="homes")
    for name in ("ages.chosen", "homes.suggested.anew"):
        made.write(f"models/{name}.privacy.yml", made.read("models/homes.privacy.yml"))
    found = [file.name for file in made.project.policies()]
    assert found == [
        "ages.chosen.privacy.yml", "homes.suggested.anew.privacy.yml", "stg_people.yml#towns",
    ]  # fmt: skip


def gate(made: World, policy: object, **config: object):
    """What the gate finds where the manifest says that stg_people has this policy."""
    meta = {"meta": {"privacy": {"policy": policy}}}
    project = Project().model("stg_people", "select 1 as person_id", config={**meta, **config})
    project.model("board", "select * from {{ ref('stg_people') }}")
    project.exposure("report", "board")
    made.write("models/stg_people.sql", "select 1 as person_id")
    made.write("models/board.sql", "select * from {{ ref('stg_people') }}")
    made.write("target/manifest.json", json.dumps(project.document))
    return check_project(made.project)


def test_the_gate_counts_what_a_policy_reads_as_sensitive_wherever_the_policy_stands(tmp_path):
    found = gate(world(tmp_path), {"name": "towns"})
    assert [each.code for each in found.findings] == ["G01"]
    assert "models/stg_people.yml has no model yet" in " ".join(found.notes)


def test_the_gate_refuses_a_policy_that_sync_does_not_read(tmp_path):
    found = gate(World.at(tmp_path), {"name": "towns"})  # in dbt_project.yml, or in a config()
    assert [each.code for each in found.findings] == ["G01", "G31"]
    [own] = [each for each in found.findings if each.code == "G31"]
    assert "stg_people names a policy that is not its policy" in own.message


def test_the_gate_names_the_file_of_a_policy_that_is_wrong(tmp_path):
    made = world(tmp_path, TEXT.replace("k: 20", "k: 1"))
    [found] = [each for each in gate(made, {"name": "towns"}).findings if each.code == "G31"]
    assert found.file == "models/stg_people.yml"
    assert "k: 1" in made.read(found.file).splitlines()[found.line - 1]
