"""The page of a private choice, and what the page of its release says of it."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from private_choices import Capfd

from policy_engine.cli.main import run

POLICY = """\
version: 1
name: a
source: {file: people.parquet}
privacy_unit: row
recode:
  age: {levels: [{round: 10, way: down}, {bins: [30, 60]}], level: 1}
  town: {hierarchy: towns.csv, level: 1}
  sex: keep
guarantee: {epsilon: 0.5, delta: 1.0e-6}
search: {epsilon: 1, at_most: {sex: 0}, at_least: {age: 1}}
release: {file: "out/a.parquet"}
account: people
"""
NUMBERS = """\
version: 1
name: b
source: {file: people.parquet}
privacy_unit: {column: person, rows: all}
contribution: {max_groups: 3, max_rows_per_group: 2}
recode: {town: keep}
measures:
  cost: {sum: cost, per: row, bounds: [0, 100]}
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {file: "out/b.parquet"}
account: persons
"""
PEOPLE = """
SELECT i AS person, (20 + i * 7 % 60)::INTEGER AS age, ['Bern', 'Biel', 'Chur', 'Zug'][1 + i % 4]
  AS town, ['f', 'm'][1 + i % 3 // 2] AS sex, (7 + i % 11)::DOUBLE AS cost FROM range(4000) t(i)
"""
TOWNS = "Bern;west\nBiel;west\nChur;east\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    duckdb.sql(f"COPY ({PEOPLE}) TO 'people.parquet'")
    Path("towns.csv").write_text(TOWNS)
    Path("a.yaml").write_text(POLICY)
    limit = "{epsilon: 20.0, delta: 1.0e-4}"
    Path("policy-engine.yaml").write_text(f"accounts: {{people: {limit}, persons: {limit}}}\n")
    return tmp_path


def report(capfd: Capfd, *words: str, code: int = 0) -> dict[str, object]:
    capfd.readouterr()
    found = run(["report", *words, "--format", "json"])
    out, err = capfd.readouterr()
    assert found == code, out + err
    document: dict[str, object] = json.loads(out)
    return document


def verified(capfd: Capfd, *words: str) -> str:
    capfd.readouterr()
    assert run(["verify", *words, "--format", "json"]) == 0
    return capfd.readouterr().out


def page_of(*words: str, code: int = 0) -> str:
    Path("page.html").unlink(missing_ok=True)
    assert run(["report", *words, "--output", "page.html"]) == code
    return Path("page.html").read_text("utf-8")


def test_the_page_of_a_choice_has_its_candidates_what_was_chosen_and_its_price(project, capfd):
    assert run(["search", "a.yaml"]) == 0
    capfd.readouterr()
    said = report(capfd, "a.chosen.certificate.json", "--release", "a.chosen.yaml")
    choice = said["choice"]
    assert isinstance(choice, dict) and said["band"]["colour"] == "green"
    ages = ["round: 10, way: down", "bins: [30, 60]", "one label for all: *"]
    towns = ["the value itself", "level 1 of towns.csv", "one label for all: *"]
    parts = {part["name"]: part for part in choice["parts"]}
    assert {name: part["candidates"] for name, part in parts.items()} == {
        "age": ages, "town": towns, "sex": ["the value itself"]
    }  # fmt: skip
    assert (choice["schemes"], choice["epsilon"], choice["delta"]) == (3 * 3 * 1, "1", "0")
    assert (choice["account"], choice["entry"], choice["unit"]) == ("people", 2, "row")
    assert "73.2 % of the time" in choice["promise"]  # e/(1 + e), rounded up

    # What was chosen is what the policy has.
    assert run(["search", "a.yaml", "--format", "json"]) == 0
    levels = json.loads(capfd.readouterr().out)["levels"]
    assert parts["age"]["chosen"] == ages[levels["age"] - 1]
    assert parts["town"]["chosen"] == towns[levels["town"]]
    assert parts["sex"]["chosen"] == "the value itself"

    page = page_of("a.chosen.certificate.json", "--release", "a.chosen.yaml")
    for text in ("9: combinations of one level for each column", "ε = 1, δ = 0, unit: row",
                 "account people, entry 2 of its ledger", "level 1 of towns.csv"):  # fmt: skip
        assert text in page, text
    assert f"✓ {parts['age']['chosen']} (chosen)" in page and page.count("(chosen)") == 3
    assert "least_shown" not in page
    assert "<script" not in page


def test_of_a_choice_that_was_not_looked_at_or_does_not_hold_less_is_said(project, capfd):
    assert run(["search", "a.yaml"]) == 0
    said = report(capfd, "a.chosen.certificate.json", code=4)
    assert said["band"]["colour"] == "amber"
    assert {part["chosen"] for part in said["choice"]["parts"]} == {None}
    assert "not looked at" in page_of("a.chosen.certificate.json", code=4)

    Path("a.chosen.yaml").write_text(Path("a.chosen.yaml").read_text() + "\n")
    words = ("a.chosen.certificate.json", "--release", "a.chosen.yaml")
    said = report(capfd, *words, code=1)
    assert (said["band"]["colour"], said["choice"]) == ("red", None)
    assert "is not the policy that was chosen" in said["band"]["reasons"][0]
    assert "do not rely on this page" in page_of(*words, code=1)


def test_a_choice_without_a_ledger_at_hand_has_no_entry(project, capfd, tmp_path, monkeypatch):
    assert run(["search", "a.yaml"]) == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("a.chosen.yaml", "a.chosen.certificate.json", ".policy-engine/signing.pub"):
        (elsewhere / Path(name).name).write_bytes(Path(name).read_bytes())
    Path("policy-engine.yaml").unlink()
    monkeypatch.chdir(elsewhere)
    words = ("a.chosen.certificate.json", "--release", "a.chosen.yaml", "--key", "signing.pub")
    assert report(capfd, *words)["choice"]["entry"] is None
    assert "no ledger with this charge was read" in page_of(*words)


@pytest.mark.parametrize("more", [("--policy", "a.yaml"), ("--format", "nist")])
def test_what_a_choice_has_no_form_of_is_refused(project, capfd, more):
    assert run(["search", "a.yaml"]) == 0
    capfd.readouterr()
    suffix = ".md" if "nist" in more else ".html"
    assert run(["report", "a.chosen.certificate.json", *more, "--output", f"a{suffix}"]) == 2
    assert "the certificate of a choice has no --policy" in capfd.readouterr().err


def test_the_page_of_a_release_says_how_its_policy_was_chosen(project, capfd):
    assert run(["search", "a.yaml"]) == 0 and run(["release", "a.chosen.yaml"]) == 0
    words = ("out/a.certificate.json", "--release", "out/a.parquet")
    named = (*words, "--policy", "a.chosen.yaml")
    found = report(capfd, *named)["details"]["choice"]
    assert (found["choice"]["schemes"], found["choice"]["entry"]) == (9, 2)
    delta = json.loads(verified(capfd, *words))["delta"]
    assert found["together"].startswith("ε = 1.5, δ = ")
    assert float(found["together"].split()[-1]) == float(delta)
    page = page_of(*named)
    assert "How the recoding was chosen" in page
    assert f"The promise for the choice and the release together is {found['together']}." in page

    # A certificate of another thing, or none: nothing is said.
    beside = Path("a.chosen.certificate.json")
    choice = beside.read_text()
    beside.write_text(Path("out/a.certificate.json").read_text())
    assert report(capfd, *named)["details"].get("choice") is None
    beside.unlink()
    assert report(capfd, *named)["details"].get("choice") is None

    # One that does not hold for the policy: that is said, and nothing that it states.
    signed = json.loads(choice)["signatures"][0]["sig"]
    forged = choice.replace(signed, f"AAAA{signed[4:]}")
    wrong = {choice.replace("payload", "load"): "payload", "x": "JSON", forged: "signature"}
    for text, why in wrong.items():
        beside.write_text(text)
        found = report(capfd, *named)["details"]["choice"]
        assert (found["choice"], found["together"]) == (None, "")
        assert why in " ".join(found["reasons"])
        assert "A choice that is not valid" in page_of(*named)
    beside.unlink()
    beside.mkdir()
    [reason] = report(capfd, *named)["details"]["choice"]["reasons"]
    assert reason == "a.chosen.certificate.json could not be read: Is a directory"
    Path("c.yaml").write_text(Path("a.chosen.yaml").read_text() + "\n")
    Path("c.certificate.json").write_text(choice)
    other = report(capfd, *words, "--policy", "c.yaml")
    assert other["band"]["colour"] == "green"
    [reason] = other["details"]["choice"]["reasons"]
    assert reason == "c.yaml is not the policy that was chosen: it was changed"
    page = page_of(*words, "--policy", "c.yaml")
    assert reason in page and "How the recoding was chosen" not in page


def test_the_choice_of_a_release_is_found_without_its_policy(project, capfd):
    assert run(["search", "a.yaml"]) == 0 and run(["release", "a.chosen.yaml"]) == 0
    words = ("out/a.certificate.json", "--release", "out/a.parquet")

    def said() -> object:
        return report(capfd, *words)["details"].get("choice")

    named = report(capfd, *words, "--policy", "a.chosen.yaml")["details"]["choice"]
    assert said() == named is not None
    assert "It belongs to exactly the policy file" in page_of(*words)

    # Not where it is there twice, was changed, cannot be read, or its certificate is not valid.
    policy, beside = Path("a.chosen.yaml"), Path("a.chosen.certificate.json")
    text, choice = policy.read_text(), beside.read_text()
    Path("copy.yaml").write_text(text)
    assert said() == named
    Path("copy.certificate.json").write_text(choice)
    assert said() is None
    Path("copy.yaml").unlink()
    policy.write_text(text + "\n")
    assert said() is None
    policy.write_bytes(b"\xff")
    assert said() is None
    policy.write_text(text)
    signed = json.loads(choice)["signatures"][0]["sig"]
    beside.write_text(choice.replace(signed, f"AAAA{signed[4:]}"))
    assert said() is None
    beside.write_text(choice)
    assert said() == named


def test_a_choice_that_wrote_another_policy_is_not_that_of_a_release(project, capfd):
    text = Path("a.yaml").read_text()
    Path("by_hand.yaml").write_text(text.replace("search:", "# search:"))
    assert run(["release", "by_hand.yaml"]) == 0 and run(["search", "a.yaml"]) == 0
    words = ("out/a.certificate.json", "--release", "out/a.parquet")
    assert report(capfd, *words)["details"].get("choice") is None


@pytest.mark.parametrize("measure", ["cost", "of 1.5, or more"])
def test_numbers_that_were_chosen_have_a_page_too(project, capfd, measure):
    Path("a.yaml").unlink()
    Path("b.yaml").write_text(NUMBERS.replace("  cost: {", f'  "{measure}": {{'))
    assert run(["suggest", "b.yaml", "--epsilon", "3"]) == 0
    words = ("b.suggested.certificate.json", "--release", "b.suggested.yaml")
    parts = report(capfd, *words)["choice"]["parts"]
    names = [part["name"] for part in parts]
    assert names == [
        "contribution.max_groups",
        "contribution.max_rows_per_group",
        f"measures.{measure}.bounds",
    ]
    assert all(part["chosen"] in part["candidates"] for part in parts)
    page = page_of(*words)
    assert page.count("(chosen)") == 3
    assert "one draw for each number" in page and "candidates, the narrowest first" in page
    assert "people_a_doubling" not in page
    assert run(["release", "b.suggested.yaml"]) == 0
    release = ("out/b.certificate.json", "--release", "out/b.parquet")
    assert "How the limits were chosen" in page_of(*release, "--policy", "b.suggested.yaml")
