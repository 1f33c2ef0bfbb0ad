"""search --public: what it finds, what it says of it, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: a
source: {file: people.parquet}
privacy_unit: row
recode:
  age: {levels: [{round: 10, way: down}, {bins: [30, 60]}], level: 1}
  town: {hierarchy: towns.csv, level: 1}
  sex: {missing: unknown}
  job: {map: {nurse: care, welder: metal}, other: other}
  all: {constant: everybody}
mechanism: noisy_counts
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {file: out/a.parquet}
account: people
"""
TOWNS = "Bern;west;*\nBiel;west;*\nChur;east;*\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people = {
        "age": [20 + i * 7 % 60 for i in range(600)],
        "town": [("Bern", "Biel", "Chur", "Zug")[i % 4] for i in range(600)],
        "sex": [("f", "m", None)[i % 3] for i in range(600)],
        "job": [("nurse", "welder", "clerk")[i % 11 % 3] for i in range(600)],
    }
    pq.write_table(pa.table(people), "people.parquet")
    Path("towns.csv").write_text(TOWNS)
    Path("a.yaml").write_text(POLICY)
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n")
    return tmp_path


def searched(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run(["search", "a.yaml", *words])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_every_scheme_of_the_policys_levels_is_compared(project, capfd):
    code, out, _ = searched(capfd, "--public", "--k", "5", "--format", "json")
    found = json.loads(out)
    assert code == 0
    # Three levels and all of age, two of town, the value and all of sex, the map and all of job.
    assert found["candidates"] == 4 * 3 * 2 * 2 and found["people"] == 600
    assert set(found["best"]["levels"]) == {"age", "town", "sex", "job"}
    methods = {each["method"]: each for each in found["found"]}
    assert methods["k-minimal"]["schemes"] == methods["incognito"]["schemes"]
    most = max(each["precision"] for each in methods["k-minimal"]["schemes"])
    assert methods["optimal"]["schemes"][0]["precision"] == most
    assert all(each["suppressed"] == 0 for each in methods["samarati"]["schemes"])
    shown = [(each["precision"], each["shown"]) for each in found["frontier"]]
    assert shown == sorted(shown, reverse=True, key=lambda each: each[0])
    assert [people for _, people in shown] == sorted(people for _, people in shown)


def test_what_it_prints_is_a_policy_of_that_scheme(project, capfd):
    """The lines of the best scheme, put into the policy, are accepted and mean those levels."""
    code, out, _ = searched(capfd, "--public", "--format", "json")
    assert code == 0
    recode = json.loads(out)["recode"]
    head, _, rest = POLICY.partition("recode:\n")
    chosen = f"{head}recode: {json.dumps(recode)}\n{rest[rest.index('mechanism') :]}"
    Path("b.yaml").write_text(chosen)
    assert run(["validate", "b.yaml"]) == 0


def test_it_says_that_all_of_it_rests_on_a_word(project, capfd):
    code, out, _ = searched(capfd, "--public", "--k", "3", "--suppress", "0.1")
    assert code == 0 and out.startswith("public, as you state: nothing here has an ε; of raw data")
    assert "mondrian" in out and "no certificate is made of it" in out
    assert not list(Path().rglob("*.certificate.json")) and not Path(".policy-engine").exists()


def test_the_frontier_is_drawn(project, capfd):
    code, out, _ = searched(capfd, "--public", "--output", "a.svg")
    assert code == 0 and out.rstrip().endswith("a.svg")
    picture = Path("a.svg").read_text()
    assert "<svg" in picture and "of raw data: confidential" in picture
    assert searched(capfd, "--public", "--output", "a.svg")[0] == 3
    assert searched(capfd, "--public", "--output", "a.svg", "--replace")[0] == 0
    code, _, err = searched(capfd, "--k", "3")
    assert code == 2 and "--public says that it may" in err


def test_the_frontier_of_another_guarantee_stands_beside_it(project, capfd):
    words = ("--public", "--epsilon", "0.1", "--epsilon", "4")
    code, out, _ = searched(capfd, *words, "--format", "json")
    found = json.loads(out)
    assert code == 0
    little, much = found["frontiers"]
    assert (little["epsilon"], much["epsilon"], much["delta"]) == (0.1, 4, 1e-6)
    assert little["least_shown"] > found["least_shown"] > much["least_shown"]
    for each in (little, much):
        policy = POLICY.replace("epsilon: 0.5", f"epsilon: {each['epsilon']}")
        Path("a.yaml").write_text(policy)
        alone = json.loads(searched(capfd, "--public", "--format", "json")[1])
        assert alone["least_shown"] == each["least_shown"]
        assert alone["frontier"] == each["schemes"]
    Path("a.yaml").write_text(POLICY)
    _, out, _ = searched(capfd, *words, "--output", "a.svg")
    assert "frontier   at ε 4, δ 0.000001: one of" in out
    assert "the same at ε 4" in Path("a.svg").read_text()


def test_bounds_and_weights_are_the_policys(project, capfd):
    bounds = "{at_most: {age: 2}, at_least: {town: 1, job: 0}, weights: {sex: 3}}"
    Path("a.yaml").write_text(f"{POLICY}search: {bounds}\n")
    _, out, _ = searched(capfd, "--public", "--format", "json")
    found = json.loads(out)
    assert found["candidates"] == 3 * 2 * 2 * 3
    assert found["best"]["levels"]["sex"] == 0


def test_the_numbers_of_levels_are_named(project, capfd):
    code, out, _ = searched(capfd, "--public")
    assert code == 0
    assert "levels     what the numbers of each column mean\n" in out
    assert "\n  age: 0 keep, 1 round 10, 2 bins [30, 60], 3 *\n" in out
    assert "\n  town: 0 keep, 1 level 1 of towns.csv, 2 *\n" in out
    levels = json.loads(searched(capfd, "--public", "--format", "json")[1])["levels"]
    assert levels["town"]["1"] == "level 1 of towns.csv"


@pytest.mark.parametrize(
    ("words", "change", "told"),
    [
        ((), ("", ""), "has a price: write it"),
        (("--epsilon", "1"), ("", ""), "search.epsilon of the policy"),
        (("--public", "--epsilon", "0"), ("", ""), "above 0, and at most 100"),
        (("--public", "--epsilon", "1e-9"), ("", ""), "ε 1e-9 cannot be met"),
        (("--public", "--epsilon", "much"), ("", ""), "must be a number"),
        (("--public", "--suppress", "0.1"), ("", ""), "--suppress stands beside --k"),
        (("--public", "--suppress", "1", "--k", "2"), ("", ""), "at least 0 and below 1"),
        (("--public", "--k", "601"), ("", ""), "no scheme leaves at most 0% of the people"),
        (
            ("--public",),
            ("account", "search: {at_most: {age: 9}}\naccount"),
            "must be levels from 0 to 3",
        ),
        (
            ("--public",),
            ("account", "search: {weights: {ages: 1}}\naccount"),
            "search.weights.ages is no released column; did you mean 'age'?",
        ),
        (
            ("--public",),
            ("privacy_unit: row", "privacy_unit: {column: job}\ncontribution: {max_groups: 2}"),
            "search --public is of one row a person",
        ),
        (
            ("--public",),
            (POLICY[POLICY.index("  age") : POLICY.index("  all")], ""),
            "every column is a constant",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(project, capfd, words, change, told):
    assert change[0] in POLICY
    Path("a.yaml").write_text(POLICY.replace(*change, 1) if change[0] else POLICY)
    code, _, err = searched(capfd, *words)
    assert code in {1, 2} and told in err


def test_of_nobody_there_is_nothing_to_choose(project, capfd):
    empty = pq.read_table("people.parquet").slice(0, 0)
    pq.write_table(empty, "people.parquet")
    code, _, err = searched(capfd, "--public")
    assert code == 2 and "has nobody" in err


def test_persons_of_many_rows_are_counted_once(project, capfd):
    """As in a release: of each one row, by the policy's order."""
    rows = pq.read_table("people.parquet")
    keyed = rows.append_column("id", pa.array([i // 3 for i in range(600)]))
    pq.write_table(keyed, "people.parquet")
    unit = "privacy_unit: {column: id, rows: {first_by: [age]}}"
    Path("a.yaml").write_text(POLICY.replace("privacy_unit: row", unit))
    _, out, _ = searched(capfd, "--public", "--format", "json")
    assert json.loads(io.StringIO(out).read())["people"] == 200
