"""hierarchy: what is proposed for columns, and hierarchies that are checked, drawn and written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.choose.proposing import COUNTRIES, proposed
from policy_engine.choose.regions import countries
from policy_engine.cli.main import run
from policy_engine.compile.catalog import Field
from policy_engine.policy.hierarchy import read_hierarchy
from policy_engine.policy.recode_models import LevelsSpec

NAMES = (
    "age", "year", "hours_per_week", "income", "price", "capital_gain", "things", "zip", "icd",
    "visited", "seen_at", "sex", "country", "is_member",
)  # fmt: skip
TYPES = ("INTEGER", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")


@pytest.mark.parametrize("kind", TYPES)
def test_what_is_proposed_is_a_ladder(kind: str) -> None:
    for name in NAMES:
        found = proposed(Field(name, kind))
        if found.levels:
            levels = LevelsSpec.model_validate({"levels": list(found.levels), "level": 1})
            assert len(levels.levels) >= 2
        else:
            assert found.hierarchy == (COUNTRIES if (name, kind) == ("country", "VARCHAR") else "")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"age": [1], "zip": ["3012"], "sex": ["f"]}), "people.parquet")
    Path("a.yaml").write_text(
        "version: 1\nname: a\nsource: {file: people.parquet}\nprivacy_unit: row\n"
        "recode: {age: {bins: [18, 65]}, zip: keep, sex: keep}\n"
        "guarantee: {epsilon: 1, delta: 1.0e-6}\nrelease: {file: out/a.parquet}\n"
    )
    return tmp_path


def answer(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run(["hierarchy", *words])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_each_column_has_its_levels_and_what_is_proposed(project, capfd):
    code, out, _ = answer(capfd, "a.yaml", "--format", "json")
    age, zips, sex = json.loads(out)["columns"]
    assert code == 0
    assert age["levels"] == ["keep", {"bins": [18, 65]}, {"constant": "*"}]
    assert age["proposed"]["levels"][0] == {"round": 5, "way": "down"}
    assert zips["proposed"]["levels"] == [{"prefix": 3}, {"prefix": 2}, {"prefix": 1}]
    assert sex["proposed"] == "keep"
    _, text, _ = answer(capfd, "a.yaml")
    assert text.count("proposed:") == 2
    # What is proposed can be put into the policy as it stands.
    Path("a.yaml").write_text(
        Path("a.yaml").read_text().replace("zip: keep", f"zip: {json.dumps(zips['proposed'])}")
    )
    assert answer(capfd, "a.yaml")[0] == 0


def test_a_hierarchy_is_checked_and_drawn(project, capfd):
    Path("jobs.csv").write_text("nurse;health;services\nwelder;metal;industry\n")
    code, out, _ = answer(capfd, "jobs.csv")
    assert code == 0 and "2 values; level 1: 2 labels, level 2: 2 labels" in out
    assert "│  └─ health" in out or "├─ services" in out
    Path("jobs.csv").write_text("nurse;health;services\nporter;health;industry\nclerk;x;x\n")
    code, out, _ = answer(capfd, "jobs.csv")
    assert code == 1
    assert "level 1: 'health' is in 'services' and in 'industry' at level 2" in out
    Path("jobs.csv").write_text("nurse\n")
    assert answer(capfd, "jobs.csv")[0] == 3


def test_a_long_tree_is_cut(project, capfd):
    Path("many.csv").write_text("".join(f"v{n};all\n" for n in range(100)))
    assert "and 42 lines more" in answer(capfd, "many.csv")[1]


def test_countries_are_written_once(project, capfd):
    assert answer(capfd, "countries")[0] == 0
    found = read_hierarchy(Path(COUNTRIES))
    assert found.height == 2 and len(found.rows) == 249
    assert ("CH", "Western Europe", "Europe") in found.rows
    code, _, err = answer(capfd, "countries")
    assert code == 3 and "exists" in err
    assert answer(capfd, "countries", "--output", "b.csv")[0] == 0
    assert len({code for code, _, _ in countries()}) == 249


def test_a_column_that_is_not_there_is_proposed_nothing(project, capfd):
    Path("a.yaml").write_text(Path("a.yaml").read_text().replace("sex: keep", "gone: keep"))
    code, out, _ = answer(capfd, "a.yaml", "--format", "json")
    assert code == 0 and json.loads(out)["columns"][-1]["proposed"] == "keep"


def test_a_starter_has_levels_to_search_among(project, capfd):
    """Uncommented as it stands it is a policy, and a search of it has those levels."""
    assert run(["init", "people.parquet", "--search", "--output", "b.yaml"]) == 0
    named = capfd.readouterr().out
    assert "policy-engine search b.yaml" in named and "policy-engine release" not in named
    text = Path("b.yaml").read_text()
    assert "search: {epsilon: 0.01}" in text
    for column in ("age", "zip", "sex"):
        text = text.replace(f"  # {column}: ", f"  {column}: ")
    Path("b.yaml").write_text(text.replace("# privacy_unit: row", "privacy_unit: row"))
    code, out, _ = answer(capfd, "b.yaml", "--format", "json")
    assert code == 0
    assert [len(each["levels"]) for each in json.loads(out)["columns"]] == [5, 5, 2]
    assert run(["search", "b.yaml", "--public"]) == 0
    assert run(["init", "people.parquet", "--output", "c.yaml"]) == 0
    assert "levels" not in Path("c.yaml").read_text()


def test_numbers_that_no_name_tells_are_cut_at_any_scale():
    """Of 1 to 90 days, and of shares, the levels 10, 100 and 1,000 told next to nothing."""
    assert proposed(Field("days_kept", "INTEGER")).levels[0] == {"bins": [7, 14, 28, 84, 364]}
    assert proposed(Field("share", "DOUBLE")).levels[0] == {"bins": [0.2, 0.4, 0.6, 0.8]}
    finest, *coarser = (each["bins"] for each in proposed(Field("x", "INTEGER")).levels)
    assert finest[:5] == [1, 2, 5, 10, 20] and all({*each} < {*finest} for each in coarser)


def test_comments_stay_where_they_are_in_what_is_chosen(project, capfd):
    """One was put into the mapping of the column above it, behind 130 blanks."""
    assert run(["init", "people.parquet", "--search", "--output", "b.yaml"]) == 0
    text = Path("b.yaml").read_text().replace("  # age: ", "  age: ")
    text = text.replace("# privacy_unit: row", "privacy_unit: row")
    Path("b.yaml").write_text(text)
    capfd.readouterr()
    assert run(["search", "b.yaml"]) == 0, capfd.readouterr().err
    told = capfd.readouterr().out
    chosen = Path("b.chosen.yaml").read_text()
    [age] = re.findall(r"\n  age: (.*)", chosen)
    assert re.fullmatch(r"(keep|\{.*\}) {1,4}# [A-Z]+", age), age
    lines = [line for line in text.splitlines() if line.startswith("  # ")]
    assert lines and all(line in chosen.splitlines() for line in lines)
    assert "levels are guessed" in text and "levels are guessed" not in chosen
    assert re.search(r"\n +age: (keep|round [0-9]+|bins \[.*\]|\*)\n", told), told
    assert re.search(r"age: .* \(level [0-9] of 4\) \[", " ".join(chosen.split()))


@pytest.mark.parametrize("level", [0, 1, 3])
def test_comments_within_levels_and_below_them_stay_in_what_is_chosen(project, capfd, level):
    """Those below belong to the next column, and were lost with the levels above them."""
    text = f"""\
version: 1
name: b
source: {{file: people.parquet}}
privacy_unit: row
recode:
  age:  # beside the key
    levels:
      - {{round: 5, way: down}}  # as the office does
      # for the yearbook
      - bins: [20, 65]
    level: 2  # by hand
  # of the next column
  zip: keep
search: {{epsilon: 0.01, at_least: {{age: {level}}}, at_most: {{age: {level}}}}}
mechanism: noisy_counts
guarantee: {{epsilon: 0.5, delta: 1.0e-6}}
release: {{file: out/b.parquet}}
account: people
"""
    Path("b.yaml").write_text(text)
    assert run(["search", "b.yaml"]) == 0, capfd.readouterr().err
    chosen = Path("b.chosen.yaml").read_text()
    assert re.findall("#.*", chosen) == re.findall("#.*", text)
    assert run(["validate", "b.chosen.yaml"]) == 0
