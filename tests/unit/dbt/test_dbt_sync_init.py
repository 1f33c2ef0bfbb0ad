"""dbt init and the commands: what a first run writes, what a second keeps, and what they print."""

from __future__ import annotations

import json
import re

import pytest
from dbt_sync_world import STAGING, World, changes
from typer.testing import CliRunner

from policy_engine.cli.app import app
from policy_engine.dbt.starter import start
from policy_engine.errors import PolicyError, UsageError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project

ONE_TARGET = "shop: {target: only, outputs: {only: {type: duckdb, path: x.duckdb}}}\n"


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    monkeypatch.chdir(tmp_path)
    for name in ("DBT_PROFILES_DIR", "DBT_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    made = World.at(tmp_path)
    (tmp_path / "policy-engine.yaml").unlink()
    return made


def targets(world: World) -> tuple[str, ...]:
    return load_project(world.folder / "policy-engine.yaml").dbt.release_targets


def test_a_first_run_writes_what_a_release_needs(world):
    found = start(world.project)
    assert changes(found) == {"policy-engine.yaml": "new", ".dbtignore": "new"}
    assert world.read("packages.yml") == "packages:\n  - local: packages/policy_engine\n"
    assert targets(world) == ("prod",)
    before = world.texts()
    assert start(world.project).changes == ()
    assert world.texts() == before


@pytest.mark.parametrize(
    ("profiles", "found", "told"),
    [
        (ONE_TARGET, ("only",), ""),
        ("shop: {target: a, outputs: {a: {type: duckdb}, b: {type: duckdb}}}\n", (), "has a, b"),
        ("other: {target: a, outputs: {a: {type: duckdb}}}\n", (), "has no profile shop"),
        (None, (), "there is no profiles.yml"),
        ('shop: {outputs: {"p\'rod 1": {type: duckdb}}}\n', ("p'rod 1",), ""),
    ],
)
def test_the_release_target_is_the_one_that_leaves_no_doubt(world, profiles, found, told):
    (world.folder / "profiles.yml").unlink()
    if profiles is not None:
        world.write("profiles.yml", profiles)
    notes = start(world.project).notes
    assert targets(world) == found
    assert any(told in note for note in notes)
    assert any("no release target was written" in note for note in notes) == (not found)


def test_a_project_file_is_added_to_and_keeps_what_it_says(world):
    text = "# mine\naccounts:\n  clinic: {epsilon: 1.0, delta: 1.0e-6}  # all of it"
    world.write("policy-engine.yaml", text)
    start(world.project)
    assert world.read("policy-engine.yaml").startswith(f"{text}\ndbt:\n  release_targets: [prod]")
    text = world.read("policy-engine.yaml").replace("[prod]", "[mine]")
    world.write("policy-engine.yaml", text)
    found = start(world.project)
    assert [path.name for path in found.kept] == ["policy-engine.yaml"]
    assert world.read("policy-engine.yaml") == text


def test_a_project_file_above_is_the_one_that_is_added_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text("accounts: {people: {}}\n")
    made = World.at(tmp_path / "analytics" / "dbt")
    (made.folder / "policy-engine.yaml").unlink()
    start(made.project)
    assert not (made.folder / "policy-engine.yaml").exists()
    assert "release_targets: [prod]" in (tmp_path / "policy-engine.yaml").read_text()


def test_a_project_file_without_accounts_is_told_and_the_starter_names_one(world):
    world.write("policy-engine.yaml", "keep_copies_mb: 3\n")
    found = start(world.project, "stg_people")
    [told] = [note for note in found.notes if "no account" in note]
    assert told == (
        "policy-engine.yaml lists no account, so that nothing limits releases: add a line such as"
        " 'accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}'"
    )
    assert "\naccount: people\n" in found.policy.read_text()
    world.write("policy-engine.yaml", "accounts: {clinic: {}}\n")
    assert not any("no account" in note for note in start(world.project).notes)


def test_a_starter_is_written_from_names_and_types_alone(world):
    found = start(world.project, "stg_people")
    assert found.policy == world.folder / "models" / "stg_people_public.privacy.yml"
    text = found.policy.read_text()
    assert (
        "table: ref('stg_people')" in text
        and "\nprivacy_unit: {column: person_id}   # this column says whose row it is; all" in text
    )
    assert "\ncontribution: {max_groups: 4}   # a person counts in at most so many groups\n" in text
    assert "count_cut: true tells how many people have more" in text
    assert "# privacy_unit: {column: person_id, rows: {first_by: [visited desc]}}" in text
    assert "# age: {bins: [18, 30, 45, 65]}    # INTEGER" in text
    assert "# visited: {truncate: year}    # DATE" in text
    assert "\nmechanism: noisy_counts " in text
    with pytest.raises(PolicyError, match="recode must be a mapping"):
        load_policy(found.policy)
    found.policy.write_text(text.replace("  # age:", "  age:"))
    assert changes(world.sync()) == {
        "models/stg_people_public.yml": "new",
        "models/stg_people_public_v1.sql": "new",
        "models/stg_people_public_v1_draw.sql": "new",
    }


def test_a_starter_that_is_there_is_kept(world):
    path = world.write("models/stg_people_public.privacy.yml", "mine")
    assert path in start(world.project, "stg_people").kept
    assert path.read_text() == "mine"


def test_a_starter_of_a_view_says_that_somebody_has_to_confirm_its_rows(world):
    schema = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    node = {"name": "stg_people", "config": {"materialized": "view"}}
    manifest = {"metadata": schema, "nodes": {"model.shop.stg_people": node}}
    world.write("target/manifest.json", json.dumps(manifest))
    text = start(world.project, "stg_people").policy.read_text()
    assert "  table: ref('stg_people')\n  view: rowwise " in text


def test_a_starter_of_a_model_of_unknown_columns_shows_an_example(world):
    (world.folder / "models/stg_people.yml").unlink()
    found = start(world.project, "ref('stg_people')")
    text = found.policy.read_text()
    assert "# age: {bins: [18, 30, 45, 60, 75]}" in text
    assert "\n# privacy_unit: row " in text and "\n# privacy_unit: {column: person_id} " in text
    [note] = [n for n in found.notes if "the columns of the model stg_people are not known" in n]
    assert (
        "build it there first: 'dbt build --target prod --select +stg_people'; then remove" in note
    )


def test_a_starter_of_a_source_stands_beside_what_describes_it(world):
    columns = STAGING[STAGING.index("    columns:") :].replace("person_id", "patient_id")
    tables = "    tables:\n      - name: visits\n" + re.sub("^", "    ", columns, flags=re.M)
    world.write("models/raw/sources.yml", f"sources:\n  - name: raw\n{tables}")
    found = start(world.project, "raw.visits")
    assert found.policy == world.folder / "models" / "raw" / "visits_public.privacy.yml"
    text = found.policy.read_text()
    assert "table: source('raw', 'visits')" in text
    assert "\nprivacy_unit: {column: patient_id} " in text


def test_a_model_that_dbt_does_not_know_is_refused(world):
    with pytest.raises(UsageError, match=r"there is no stg_peopl .* did you mean ref\('stg_peo"):
        start(world.project, "stg_peopl")


def run(*words: str) -> tuple[int, str]:
    """The exit code of a command, and what it prints."""
    done = CliRunner().invoke(app, ["dbt", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_the_commands_say_what_they_did(world):
    code, out = run("init", "stg_people")
    assert code == 0
    assert "wrote models/stg_people_public.privacy.yml\n" in out and "policy-engine dbt sync" in out
    (world.folder / "models/stg_people_public.privacy.yml").unlink()
    assert run("sync") == (0, "there are no policies: 'policy-engine dbt init MODEL' starts one\n")
    world.policy()
    assert run("sync") == (
        0, "wrote models/towns_v1.sql\nwrote models/towns_v1_draw.sql\nwrote models/towns.yml\n"
    )  # fmt: skip
    assert run("sync") == (0, "nothing to change: 1 release of shop as their policies say\n")
    (world.folder / "models/towns.privacy.yml").unlink()
    code, out = run("sync")
    assert code == 0 and "left over: models/towns_v1_draw.sql; --prune removes it\n" in out
    code, out = run("sync", "--prune")
    assert code == 0
    gone = ("models/towns.yml", "models/towns_v1.sql", "models/towns_v1_draw.sql")
    assert out == "".join(f"removed {name}\n" for name in gone)


def test_a_dry_run_exits_with_1_if_something_would_change(world):
    run("init")
    world.policy()
    code, out = run("sync", "--dry-run")
    assert code == 1 and "+++ b/models/towns_v1.sql\n" in out
    assert not (world.folder / "models/towns_v1.sql").exists()
    run("sync")
    code, out = run("sync", "--dry-run")
    first, price = out.splitlines()
    assert code == 0 and first == "nothing to change: 1 release of shop as their policies say"
    assert price.startswith("towns_v1: ")


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        ("epsilon: 1, delta: 1.0e-6", "30 or more like this, or one release of another kind with"),
        ("", "no limit"),
        ("epsilon: 1, delta: 1.0e-6, each: year", "in "),
    ],
)
def test_a_dry_run_shows_what_each_release_shows_and_costs(world, limit, left):
    """Before the charge: no command of dbt did."""
    world.policy()
    world.write("policy-engine.yaml", f"accounts: {{people: {{{limit}}}}}\n")
    done = CliRunner().invoke(app, ["dbt", "sync", "--dry-run"])
    *diff, told = done.stdout.splitlines()  # where a reader of the diff ends
    assert diff and told.startswith("towns_v1: ") and "towns_v1: " not in done.stderr
    assert "people shown half of the time; " in told and " (1 SD); price ε 0.5, δ " in told
    assert f", from account people; left now: {left}" in told
    begins = "sha256:" + "0" * 64
    world.write(
        "policy-engine.yaml", world.read("policy-engine.yaml") + f"ledger_begins: {begins}\n"
    )
    done = CliRunner().invoke(app, ["dbt", "sync", "--dry-run", "--format", "json"])
    assert "towns_v1: " not in done.stderr
    [told] = (note for note in json.loads(done.stdout)["notes"] if note.startswith("towns_v1: "))
    assert told.endswith("left now: not known, the ledger cannot be read here"
                         " ('policy-engine ledger show' says why)")  # fmt: skip
    assert not (world.folder / ".policy-engine").exists()


def test_json_is_one_document(world):
    world.policy()
    code, out = run("sync", "--dry-run", "--format", "json")
    found = json.loads(out)
    assert code == 1 and found["changed"] and found["diff"].startswith("--- /dev/null")
    assert not (world.folder / "packages.yml").exists()
    code, out = run("sync", "--format", "json")
    found = json.loads(out)
    assert code == 0 and {"path": "models/towns_v1.sql", "kind": "new"} in found["changes"]
    [release] = found["releases"]
    assert release | {"delta": "", "k": 0} == {
        "model": "towns",
        "version": 1,
        "policy": "models/towns.privacy.yml",
        "file": "models/towns_v1.sql",
        "source": "ref('stg_people')",
        "dialect": "duckdb",
        "k": 0,
        "rate": "0.1",
        "epsilon": "0.5",
        "delta": "",
    }
    code, out = run("init", "stg_people", "--format", "json")
    assert json.loads(out)["policy"] == "models/stg_people_public.privacy.yml"


def test_options_are_named_as_dbt_names_them(world, tmp_path, monkeypatch):
    world.policy()
    elsewhere = tmp_path / "profiles"
    elsewhere.mkdir()
    (world.folder / "profiles.yml").rename(elsewhere / "profiles.yml")
    monkeypatch.chdir(elsewhere)
    options = ["--project-dir", str(world.folder), "--profiles-dir", str(elsewhere)]
    assert run("sync", *options, "--target", "dev")[0] == 0
    with pytest.raises(UsageError, match="has no target nowhere; it has dev, prod"):
        run("sync", *options, "--target", "nowhere")
