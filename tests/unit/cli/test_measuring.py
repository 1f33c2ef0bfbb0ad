"""measure: a release is public and its worst class named; of raw data all is confidential."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.measured import BY_YOUR_WORD, CONFIDENTIAL, PUBLIC, ROWS
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.release import release

from .conftest import Cli, Policies

NOISY = ("sample: {rate: 0.1}\nk: 20", "mechanism: noisy_counts")


@pytest.fixture
def released(policy: Policies) -> str:
    loaded = load_policy(policy("a", NOISY))
    release(loaded)
    return "out/a.parquet"


def test_a_release_is_public_and_weighs_its_rows_by_their_counts(cli: Cli, released: str) -> None:
    shown = cli("assess", released, "--sensitive", "age")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == PUBLIC
    rows = pq.read_table(released).to_pylist()
    people = {sex: sum(r["n"] for r in rows if r["sex"] == sex) for sex in ("female", "male")}
    (found,) = cli("assess", released, "--sensitive", "age", "--format", "json").document["tables"]
    assert found["people"] == sum(people.values())
    assert found["k"] == min(people.values())
    assert found["worst"] == {"sex": min(people, key=lambda sex: people[sex])}
    (told,) = found["sensitive"]
    assert set(told["worst"]) == {"distinct", "entropy", "t_equal", "t_ordered", "delta", "alpha"}


def test_bins_of_a_release_are_in_their_order(cli: Cli, released: str) -> None:
    """As texts >=60 would stand before [30,60)."""
    rows = {(r["sex"], r["age"]): r["n"] for r in pq.read_table(released).to_pylist()}
    (found,) = cli("assess", released, "--sensitive", "age", "--format", "json").document["tables"]
    order, worst = ("<30", "[30,60)", ">=60"), 0.0
    assert {age for _, age in rows} == set(order)
    total = sum(rows.values())
    for sex in ("female", "male"):
        people, passed, cost = sum(rows[sex, age] for age in order), 0.0, 0.0
        for age in order:
            passed += rows[sex, age] / people
            passed -= (rows["female", age] + rows["male", age]) / total
            cost += abs(passed)
        worst = max(worst, cost / 2)
    assert found["sensitive"][0]["t_closeness"]["ordered"] == pytest.approx(worst)


def test_a_policy_is_its_release_with_its_precision(
    cli: Cli, released: str, policy: Policies
) -> None:
    document = cli("assess", "a.yaml", "--format", "json").document
    assert (document["file"].endswith("out/a.parquet"), document["confidential"]) == (True, False)
    assert (document["precision"], document["height"], document["height_most"]) == (0.75, 1, 4)
    policy("b")
    missing = cli("assess", "b.yaml")
    assert missing.code == 3 and "release it first" in missing.err


def test_a_release_beside_raw_data_is_confidential(cli: Cli, released: str) -> None:
    """The risk of the journalist is one over a class of the population: an exact count."""
    pq.write_table(pq.read_table(released).select(["sex", "age"]), "people.parquet")
    asked = ("assess", released, "--sensitive", "age", "--population", "people.parquet")
    assert cli(*asked).out.splitlines()[0] == CONFIDENTIAL
    assert cli(*asked, "--published").out.splitlines()[0] == BY_YOUR_WORD


def test_what_was_changed_or_has_no_certificate_is_no_release(cli: Cli, released: str) -> None:
    """The facts in a file's metadata stay with it whatever is done to its rows."""
    table = pq.read_table(released)
    pq.write_table(table, "out/b.parquet")
    assert cli("assess", "out/b.parquet").out.splitlines()[0] == CONFIDENTIAL
    pq.write_table(table.slice(1), released)
    assert cli("assess", released).out.splitlines()[0] == CONFIDENTIAL


@pytest.mark.parametrize("form", ["text", "json"])
def test_of_raw_data_confidential_comes_first_and_no_class_is_named(
    cli: Cli, project, form: str
) -> None:
    secret = {"g": ["Zebra", "Zebra", "Yak"], "s": ["Wombat", "Vole", "Vole"]}
    pq.write_table(pa.table(secret), "raw.parquet")
    shown = cli("assess", "raw.parquet", "--sensitive", "s", "--format", form)
    assert shown.code == 0
    if form == "text":
        assert shown.out.splitlines()[0] == CONFIDENTIAL
    else:
        assert list(shown.document.items())[:2] == [("confidential", True), ("note", CONFIDENTIAL)]
    assert not any(value in shown.out for column in secret.values() for value in column)


def test_a_table_of_others_is_public_by_the_word_of_who_asks(cli: Cli, project) -> None:
    pq.write_table(pa.table({"g": ["a", "a", "b"], "s": ["x", "y", None]}), "theirs.parquet")
    shown = cli("assess", "theirs.parquet", "--sensitive", "s", "--published")
    assert shown.out.splitlines()[0] == BY_YOUR_WORD
    assert "  k-anonymity                 k = 1" in shown.out and "g: b" in shown.out


def test_groupings_are_measured_each_by_itself(cli: Cli, policy: Policies) -> None:
    loaded = load_policy(policy("m", NOISY, ("release:", "marginals: [[age], [sex]]\nrelease:")))
    release(loaded)
    tables = cli("assess", "out/m.parquet", "--format", "json").document["tables"]
    assert [each["quasi_identifiers"] for each in tables] == [["age"], ["sex"]]
    rows = pq.read_table("out/m.parquet").to_pylist()
    assert tables[1]["people"] == sum(row["n"] for row in rows if row["sex"] is not None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--sensitive", "pay"], "has no column 'pay'"),
        (["--sensitive", "s", "--quasi", "g,s"], "s cannot be known and sensitive at once"),
        (["--sensitive", "s", "--order", "s"], "--order must be COLUMN=FILE"),
        (["--hierarchy", "s=h.csv"], "s has an order or a hierarchy, and is not --sensitive"),
        (["--sensitive", "s", "--hierarchy", "s=h.csv"], "hierarchy of s lacks 1 value"),
        (["--sampled", "1.5"], "--sampled must be above 0 and at most 1"),
        (["--count", "m"], "has no column 'm'"),
    ],
)
def test_wrong_usage_says_what_to_do(cli: Cli, project, words: list[str], told: str) -> None:
    pq.write_table(pa.table({"g": ["a", "b"], "s": ["x", "y"]}), "t.parquet")
    (project / "h.csv").write_text("x;l;*\n")
    shown = cli("assess", "t.parquet", *words)
    assert shown.code == 2 and told in shown.err


def test_what_is_no_table_is_a_file_error(cli: Cli, project) -> None:
    (project / "t.parquet").write_text("PAR1 and no more")
    assert cli("assess", "t.parquet").code == 3
    assert cli("assess", "missing.parquet").code == 3


def test_a_csv_file_of_another_encoding_is_told_which_is_read(cli: Cli, project) -> None:
    (project / "w.csv").write_bytes("stadt;n\nKöln;1\n".encode("windows-1252"))
    found = cli("assess", "w.csv")
    assert found.code == 3
    assert "CSV is read as UTF-8, and Excel writes windows-1252" in found.err


def test_the_precision_counts_the_levels_of_a_hierarchy(policy: Policies, project) -> None:
    """Level 1 of 2 below a root, and of 2 with a root above it; a constant; a column as it is."""
    (project / "h.csv").write_text("female;x;*\nmale;x;*\n")
    (project / "g.csv").write_text("20;young\n21;old\n")
    levels = "age: {hierarchy: g.csv, level: 1}\n  sex: {hierarchy: h.csv, level: 1}"
    recode = f"{levels}\n  all: {{constant: x}}"
    text = ("age: {bins: [30, 60]}\n  sex: keep", recode)
    found = load_policy(policy("p", text)).recoded
    assert (found.height, found.most) == (4, 6)
    assert found.precision == pytest.approx(1 / 3)


def test_odd_names_and_types_are_measured(cli: Cli, project) -> None:
    """Columns as the statement calls its own, a list, days before the year 1, and no number."""
    days = pa.array([-10_000_000, 5, 5], pa.int32()).cast(pa.date32())
    odd = {"q1": ["a", "a", None], "n": [1, 2, 3], "size": [[1], [2], None], "place": days}
    pq.write_table(pa.table({**odd, "s": [1.5, float("nan"), None]}), "odd.parquet")
    words = ("assess", "odd.parquet", "--published", "--sensitive", "s", "--format", "json")
    (found,) = cli(*words, "--count", "n").document["tables"]
    assert (found["people"], found["k"], found["sensitive"][0]["values"]) == (6, 1, 3)
    together = cli(*words, "--marginals", "size,place", "--marginals", "q1,place").document
    assert together["together"][0]["k_link"] == 1
    shown = cli("assess", "odd.parquet", "--count", "q1")
    assert shown.code == 2 and "does not hold whole numbers" in shown.err


def visits() -> dict[str, list[object]]:
    """Ada is alone in x with three rows, Ben and Cleo are together in y."""
    return {"who": ["a", "a", "a", "b", "c"], "g": ["x", "x", "x", "y", "y"], "s": [*"uuvuv"]}


def test_without_a_key_rows_are_rows_and_it_is_said_first(cli: Cli, project) -> None:
    pq.write_table(pa.table(visits()), "visits.parquet")
    words = ("assess", "visits.parquet", "--quasi", "g", "--sensitive", "s")
    shown = cli(*words).out
    assert shown.splitlines()[1] == ROWS
    assert "people" not in shown.replace(ROWS, "") and ": 5 rows; classes by g: 2" in shown
    document = cli(*words, "--format", "json").document
    assert (document["counts"], document["counts_note"]) == ("rows", ROWS)
    assert document["tables"][0]["rows"] == 5 and "people" not in document["tables"][0]


def test_with_a_key_people_are_counted(cli: Cli, project) -> None:
    pq.write_table(pa.table(visits()), "visits.parquet")
    words = ("assess", "visits.parquet", "--quasi", "g", "--sensitive", "s", "--key", "who")
    shown = cli(*words).out
    assert ": 3 people; classes by g: 2" in shown and "k = 1" in shown
    assert "alone in their class: 33.3 % of the people" in shown
    document = cli(*words, "--format", "json").document
    assert (document["counts"], document["tables"][0]["people"]) == ("people", 3)
    sizes = document["tables"][0]["risks"]["sizes"]
    assert sizes[0]["people_by_class"] == 1 and "people" not in sizes[0]
    assert "of the people, each once in every class of theirs" in shown


def test_a_population_is_of_people_where_the_table_is(cli: Cli, project) -> None:
    """Of x there are two people in the population, in four rows, and not four people."""
    pq.write_table(pa.table(visits()), "visits.parquet")
    everybody = {"who": [*"aaadbcef"], "g": [*"xxxxyyyy"]}
    pq.write_table(pa.table(everybody), "everybody.parquet")
    words = ("assess", "visits.parquet", "--quasi", "g", "--key", "who", "--population")
    told = cli(*words, "everybody.parquet", "--format", "json").document["tables"][0]["risks"]
    assert told["journalist"] == {"highest": 0.5, "mean": pytest.approx((1 / 2 + 2 / 4) / 3)}
    pq.write_table(pa.table({"g": everybody["g"]}), "nobodys.parquet")
    refused = cli(*words, "nobodys.parquet")
    assert refused.code == 2 and "nobodys.parquet has no column 'who'" in refused.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--key", "g"], "1 row of t.parquet without a g"),
        (["--key", "s", "--count", "n"], "--count and --key"),
        (["--key", "nobody"], "has no column 'nobody'"),
        (["--key", "s", "--marginals", "g,n"], "--marginals are of tables with one row a person"),
    ],
)
def test_a_key_that_cannot_serve_is_refused(cli: Cli, project, words, told: str) -> None:
    pq.write_table(pa.table({"g": ["a", None], "s": ["x", "y"], "n": [1, 2]}), "t.parquet")
    shown = cli("assess", "t.parquet", *words)
    assert shown.code == 2 and told in shown.err


def test_a_workload_is_public_of_the_release_alone_and_confidential_beside_its_source(
    cli: Cli, policy: Policies
) -> None:
    path = policy()
    assert cli("release", path).code == 0
    words = ("assess", path, "--sensitive", "sex", "--workload")
    alone = cli(*words)
    assert alone.code == 0 and alone.out.startswith(PUBLIC)
    assert "workload, of the release alone" in alone.out and "of the source" not in alone.out
    document = cli(*words, "--format", "json").document
    assert document["confidential"] is document["workload"]["confidential"] is False
    assert document["workload"]["relative_errors"] is None
    beside = cli(*words, "--raw")
    assert beside.code == 0 and beside.out.startswith(CONFIDENTIAL)
    document = cli(*words, "--raw", "--format", "json").document
    assert next(iter(document)) == "confidential"
    assert document["confidential"] is document["workload"]["confidential"] is True
    errors = document["workload"]["relative_errors"]
    # A sample of a tenth has 800 of 8,000 people in six groups: counts are off by some per cent.
    assert 0 < errors["median"] < 0.3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["people.parquet", "--workload", "--sensitive", "sex"], "is no release"),
        (["out/a.parquet", "--workload"], "--workload needs --sensitive"),
        (["out/a.parquet", "--workload", "--raw", "--sensitive", "sex"], "which names its source"),
        (["a.yaml", "--raw"], "--raw stands beside --workload"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(cli: Cli, policy: Policies, words, told) -> None:
    assert cli("release", policy()).code == 0
    shown = cli("assess", *words)
    assert shown.code == 2 and told in shown.err


ARX = "age,gender,zip,illness\n" + "".join(
    f"{age},{gender},81***,{illness}\n"
    for age, gender in (("<50", "female"), ("<50", "male"), (">=50", "male"))
    for illness in ("flu", "cold")
)


@pytest.mark.parametrize("quasi", [(), ("--quasi", "age,gender,zip")])
def test_a_row_that_is_suppressed_is_no_class(cli: Cli, project: Path, quasi) -> None:
    """ARX writes what it suppresses as a row of stars: one was a class of one, and k was 1."""
    Path("t.csv").write_text(ARX + "*,*,*,ulcer\n")
    words = ("assess", "t.csv", "--sensitive", "illness", *quasi, "--format", "json")
    assert cli(*words).document["tables"][0]["k"] == 1
    found = cli(*words, "--suppressed", "*").document
    [table] = found["tables"]
    assert (found["suppressed"], table["k"], table["classes"], table["rows"]) == (1, 2, 3, 6)
    assert table["risks"]["prosecutor"]["highest"] == 0.5
    said = cli("assess", "t.csv", "--sensitive", "illness", "--suppressed", "*").out
    assert "rows that are suppressed, and in no class: 1\n" in said
    words = ("attack", "t.csv", "--sensitive", "illness", "--published", "--format", "json")
    alone = "age *, gender *, zip *: illness is ulcer"
    assert alone in cli(*words).document["attacks"][1]["learned"]
    assert cli(*words, "--suppressed", "*").document["attacks"][1]["learned"] == []


def test_what_is_suppressed_in_part_or_missing_stays_a_class(cli: Cli, project: Path) -> None:
    Path("t.csv").write_text(ARX + "*,male,*,ulcer\n,,,ulcer\n")
    words = ("assess", "t.csv", "--sensitive", "illness", "--suppressed", "*")
    found = cli(*words, "--format", "json").document
    assert (found["suppressed"], found["tables"][0]["classes"]) == (0, 5)


def test_suppressed_people_are_counted_by_the_column_of_counts(cli: Cli, project: Path) -> None:
    Path("t.csv").write_text("age,n\n<50,3\n*,4\n")
    words = ("assess", "t.csv", "--count", "n", "--suppressed", "*", "--format", "json")
    found = cli(*words).document
    assert (found["suppressed"], found["tables"][0]["k"]) == (4, 3)


def test_nothing_is_suppressed_in_a_release_or_without_columns(cli: Cli, policy: Policies) -> None:
    release(load_policy(policy("a")))
    refused = cli("assess", "out/a.parquet", "--suppressed", "*")
    assert refused.code == 2 and "is a release, in which no row is suppressed" in refused.err
    Path("t.csv").write_text("age\n*\n")
    refused = cli("assess", "t.csv", "--sensitive", "age", "--suppressed", "*")
    assert refused.code == 2 and "none is named" in refused.err


def test_how_to_measure_a_release_that_is_a_table_is_told(cli: Cli, policy: Policies) -> None:
    table = ("release: {file: out/a.parquet}", "release: {table: a}\ncount: {people: how many}")
    done = cli("assess", policy("a", table), "--sensitive", "age")
    assert done.code == 2
    assert "name that, with --published --count 'how many'" in done.err
