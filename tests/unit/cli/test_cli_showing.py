"""show: the first rows of what is a release, what its numbers mean, and nothing else."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_project import FILE, TABLE, SmallProject

from policy_engine.attest.attestation import unverified
from policy_engine.attest.certificates import certificate_in
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.releasing.showing import in_reading_order

RELEASE, CERTIFICATE = "out/people.parquet", "out/people.certificate.json"
COUNTED = [
    "n counts people of a sample, which each person of the source was in with probability 0.5",
    "n / 0.5 estimates the group in the source: 2 is about 4, give or take 2 (1 SD)",
    "a missing group had fewer than 2 people in the sample: it need not be empty",
    "shown counts near 2 tend to be too large, because a group with fewer is missing",
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "warehouses: {db: {type: duckdb, database: db.duckdb}}\naccounts: {people: {}}\n"
    (tmp_path / "policy-engine.yaml").write_text(text)
    return SmallProject.at(tmp_path)


def forged(text: str, **changes: object) -> str:
    """A certificate whose facts are changed; nobody signed them."""
    envelope = json.loads(text)
    statement = json.loads(base64.b64decode(envelope["payload"]))
    for name, value in changes.items():
        (statement["subject"][0] if name == "name" else statement["predicate"])[name] = value
    envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    return json.dumps(envelope)


@pytest.mark.parametrize("named", [RELEASE, CERTIFICATE])
def test_a_file_is_shown_by_its_name_and_by_its_certificates(cli, small, named):
    small.release()
    counts = [row["n"] for row in pq.read_table(RELEASE).to_pylist()]
    shown = cli("show", named)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "out/people.parquet: 2 rows",
        "age   n",
        f"<18   {counts[0]}",
        f">=18  {counts[1]}",
        "what they mean:",
        *[f"  - {text}" for text in COUNTED],
        f"nothing was checked: policy-engine verify {CERTIFICATE} --release {RELEASE} does",
    ]
    assert cli("show", named, "--format", "json").document == {
        "release": RELEASE,
        "certificate": CERTIFICATE,
        "columns": ["age", "n"],
        "rows": [["<18", counts[0]], [">=18", counts[1]]],
        "size": 2,
        "meaning": COUNTED,
        "remarks": [],
        "checked": False,
        "written": None,
    }


def test_as_many_rows_are_shown_as_are_asked_for(cli, small):
    small.release()
    assert "\n… and 1 more\n" in cli("show", RELEASE, "--rows", "1").out
    assert "age" not in cli("show", RELEASE, "--rows", "0").out
    refused = cli("show", RELEASE, "--rows", "-1")
    assert (refused.code, refused.err) == (2, "error: --rows must be at least 0, found -1\n")


def test_a_table_is_shown_by_its_certificate(cli, small):
    done = small.release(TABLE)
    shown = cli("show", done.certificate)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[:2] == ["db.main.out: 2 rows", "age   n"]
    assert lines[-1] == "nothing was checked: policy-engine verify people.certificate.json does"
    assert cli("show", done.certificate, "--format", "json").document["meaning"] == COUNTED


def test_rows_that_are_not_the_certificates_are_shown_without_a_remark(cli, small):
    done = small.release()
    metadata = pq.read_table(done.release).schema.metadata
    for odd in ({"age": [None]}, {"age": [None], "n": ["x"]}, {"n": [7], "age": [None]}):
        pq.write_table(pa.table(odd).replace_schema_metadata(metadata), done.release)
        assert cli("show", RELEASE, "--format", "json").document["remarks"] == []


def test_another_table_than_the_certificates_is_not_shown(cli, small):
    done = small.release(TABLE)
    with duckdb.connect("db.duckdb") as connection:
        connection.execute("CREATE TABLE patients AS SELECT 'Miriam' AS age, 4711 AS n")
    text = done.certificate.read_text()
    done.certificate.write_text(forged(text, name="db.main.patients"))
    shown = cli("show", done.certificate)
    assert shown.code == 1
    assert "the table db.main.patients is not the one that" in shown.err
    assert "Miriam" not in shown.out + shown.err
    done.certificate.write_text(forged(text, name="db.main.gone"))
    assert cli("show", done.certificate).code == 3


def test_what_is_no_release_is_not_shown(cli, small):
    pq.write_table(pa.table({"name": ["Miriam"]}), "raw.parquet")
    shown = cli("show", "raw.parquet")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith("error: raw.parquet is no release")
    assert cli("show", "nothing.parquet").code == 3
    assert cli("show", "nothing.json").code == 3
    (small.folder / "odd.json").write_text("{}")
    assert "odd.json is no certificate of a release: the envelope misses" in (
        cli("show", "odd.json").err
    )


def test_a_certificate_names_no_file_elsewhere(cli, small):
    certificate = small.release().certificate
    certificate.write_text(forged(certificate.read_text(), name="../source.parquet"))
    assert cli("show", certificate).code == 1


def test_without_a_certificate_the_rows_are_shown_and_that_it_is_missing(cli, small):
    certificate = small.release().certificate
    text = certificate.read_text()
    certificate.unlink()
    shown = cli("show", RELEASE)
    assert (shown.code, shown.err) == (0, "")
    assert "it was released by the policy people with the certificate people" in shown.out
    assert f"people.certificate.json, which is not at {CERTIFICATE}\n" in shown.out
    assert shown.out.endswith("nothing was checked, and without the certificate nothing can be\n")
    certificate.write_text("{")
    assert f"is not known: {CERTIFICATE} is no certificate" in cli("show", RELEASE).out
    certificate.write_text(forged(text, mechanism="another"))
    assert "lacks or misstates: mechanism" in cli("show", RELEASE).out


def test_what_the_numbers_of_other_releases_mean(small):
    done = small.release(FILE)
    certificate = certificate_in(unverified(done.certificate.read_text()))
    rows = replace(certificate, claim=replace(certificate.claim, count=None))
    told = list(meaning_of(rows.claim).told(rows))
    assert told[0].startswith("each row is one person of a sample, which")
    assert told[1].startswith("the rows of a group / 0.5 estimates the group in the source")
    promise = replace(certificate.promise, rate=Decimal("0.05"), sampled_at=Decimal("0.1"))
    sampled = replace(certificate, terms=replace(certificate.terms, promise=promise))
    told = list(meaning_of(sampled.claim).told(sampled))
    assert told[1].startswith("n / 0.5 estimates the group in the source")
    assert told[2].endswith("n / 0.05 estimates the group in its population")


def shown_texts(cli, small, *texts):
    """The lines of a release that was overwritten with these texts."""
    done = small.release()
    facts = pq.read_table(done.release).schema.metadata
    rows = pa.table({"age": texts, "n": [7] * len(texts)})
    pq.write_table(rows.replace_schema_metadata(facts), done.release)
    return cli("show", RELEASE).out.splitlines()


def test_texts_that_differ_look_different(cli, small):
    lines = shown_texts(cli, small, "A", "A ", " A", "Ä b", "A\u0308 b", "  ", "\u00a0")
    assert [line.rpartition("  ")[0].strip() for line in lines[2:9]] == [
        "A", "A\\x20", "\\x20A", "Ä b", "A\\u0308 b", "\\x20\\x20", "\\xa0"
    ]  # fmt: skip
    assert lines[9] == "\\x20 is a blank at an end: source.csv has trim, which takes it away"


def test_one_row_is_one(cli, small):
    lines = shown_texts(cli, small, "A b")
    assert lines[0] == "out/people.parquet: 1 row" and lines[3] == "what they mean:"


def test_long_texts_are_cut_and_null_is_told(cli, small):
    done = small.release()
    found = pq.read_table(done.release)
    rows = pa.table({"age": [None, "x" * 60], "n": [3, 4]}).replace_schema_metadata(
        found.schema.metadata
    )
    pq.write_table(rows, done.release)
    lines = cli("show", RELEASE).out.splitlines()
    assert lines[2].split() == ["NULL", "3"]
    assert lines[3] == f"{'x' * 39}…  4"


def test_a_file_that_holds_lists_is_no_release(cli, small):
    """Attack: it carries the facts of a certificate, and showing it ended as a bug."""
    small.release()
    table = pq.read_table(RELEASE)
    lists = pa.array([["a"], ["b"]])
    pq.write_table(table.set_column(0, "age", lists), RELEASE)
    shown = cli("show", RELEASE)
    assert (shown.code, shown.out) == (2, "")
    assert "is no release: a column of it holds lists or structures" in shown.err


def test_bins_are_shown_by_their_cuts_and_not_as_texts(cli, policy):
    assert cli("release", policy("a", ("[30, 60]", "[9, 30, 60]"))).code == 0
    in_the_file = [row["age"] for row in pq.read_table("out/a.parquet").to_pylist()]
    assert in_the_file == [">=60", ">=60", "[30,60)", "[30,60)", "[9,30)", "[9,30)"]
    rows = cli("show", "out/a.parquet", "--format", "json").document["rows"]
    assert [row[:2] for row in rows] == [
        [age, sex] for age in ("[9,30)", "[30,60)", ">=60") for sex in ("female", "male")
    ]
    one = cli("show", "out/a.parquet", "--rows", "1", "--format", "json").document
    assert one["rows"] == rows[:1]
    named = ("out/a.certificate.json", "--release", "out/a.parquet")
    page = cli("report", *named, "--format", "json").document
    assert page["details"]["rows"]["rows"] == [[*row[:2], str(row[2])] for row in rows]
    steps = {each["name"]: each["text"] for each in page["details"]["how"]["steps"]}
    assert steps["recode"] == (
        "2 columns: 1 made coarser by the policy, 1 shown as in the source; this is the same"
        " for any data"
    )


def test_rows_that_are_not_as_the_claim_says_stay_as_they_are(cli, policy):
    assert cli("release", policy("a")).code == 0
    claim = certificate_in(unverified(Path("out/a.certificate.json").read_text())).claim
    names, lines = ("age", "sex", "n"), [("[30,60)", "x", 1), ("<30", "y", 2), ("?", "z", 3)]
    assert in_reading_order(claim, names, lines) == [lines[1], lines[0], lines[2]]
    assert in_reading_order(claim, ("other", "sex", "n"), lines) == lines
    shorter = [line[:2] for line in lines]
    assert in_reading_order(claim, names, shorter) == shorter
    assert in_reading_order(claim, names, []) == []


@pytest.mark.parametrize("command", ["show", "estimate"])
def test_a_folder_is_told_as_one(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for named in (".", "out"):
        done = cli(command, named)
        assert (done.code, f"{named} is a directory; name a file" in done.err) == (3, True)


@pytest.mark.parametrize(("key", "is_told"), [("household_id", True), ("person_id", False)])
def test_every_reader_is_told_that_a_person_is_a_value_of_a_key(cli, project, policy, key, is_told):
    """A reviewer who reads of people would else sign what is true of households alone."""
    people = pq.read_table("people.parquet")
    keys = pa.array([place // 3 for place in range(people.num_rows)])
    pq.write_table(people.append_column(key, keys), "people.parquet")
    path = policy("a", ("privacy_unit: row", f"privacy_unit: {{column: {key}, rows: any}}"))
    release, certificate = "out/a.parquet", "out/a.certificate.json"
    said = [cli(command, path).out for command in ("plan", "release")]
    said += [cli("show", release).out, cli("verify", certificate, "--release", release).out]
    cli("report", certificate, "--release", release, "-o", "a.html")
    said += [Path("a.html").read_text()]
    told = f"person here is one value of {key}: people who share one count as one person"
    assert [told in text for text in said] == [is_told] * 5
    assert f"each person has one {key}, and people who share one count as one person" in said[3]
