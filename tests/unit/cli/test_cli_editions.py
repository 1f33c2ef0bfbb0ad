"""Policies with a schedule at the command line: what is due, what stands, what is asked of it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace as replace_field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.attest.attestation import unverified
from policy_engine.attest.certificates import certificate_in
from policy_engine.check.described import lines
from policy_engine.releasing.opened import open_release

YEARLY = """\
version: 1
name: yearly
source: {file: visits.parquet}
privacy_unit: {column: person, rows: any}
period: {column: visited, every: year, from: "2024"}
recode: {region: keep}
guarantee: {epsilon: 1.0, delta: 1.0e-6}
release: {file: "out/{edition}/part.parquet"}
account: patients
"""
THIS_YEAR = datetime.now(UTC).year
DUE = [str(year) for year in range(2024, THIS_YEAR)]


@pytest.fixture
def yearly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("policy-engine.yaml").write_text("accounts: {patients: {}}\n")
    rows = [(n, date(year, 1 + n % 12, 1)) for year in range(2024, 2031) for n in range(120)]
    table = pa.table({
        "person": [n for n, _ in rows], "visited": pa.array([d for _, d in rows], pa.date32()),
        "region": ["north" if n % 2 else "south" for n, _ in rows],
    })  # fmt: skip
    pq.write_table(table, "visits.parquet")
    Path("yearly.yaml").write_text(YEARLY)
    return "yearly.yaml"


def test_what_is_due_is_released_and_the_next_is_named(cli, yearly):
    done = cli("release", yearly)
    assert done.code == 0
    assert [f"released yearly, edition {year}" in done.out for year in DUE] == [True] * len(DUE)
    following = f"  next         {THIS_YEAR}, due from {THIS_YEAR + 1}-01-01 00:00 (UTC)\n"
    assert done.out.endswith(following)
    Path("visits.parquet").touch()
    again = cli("release", yearly)
    assert again.code == 0
    assert again.out.startswith(f"yearly: nothing is due; the last is {DUE[-1]} (entry ")
    assert again.out.endswith(following)
    # Whoever changed the source reads that nobody looked, and what draws an edition of it.
    assert "; its source was not looked at\n" in again.out
    remedy = f"policy-engine release yearly.yaml --edition {DUE[-1]} --revise --replace"
    assert f"  anew         '{remedy}' draws it again, at a new price\n" in again.out
    assert "another text" not in again.out
    Path(yearly).write_text(YEARLY.replace("name: yearly", "name: yearly\npurpose: a table"))
    changed = cli("release", yearly).out
    assert "  policy       another text than that of entry " in changed
    assert f"released yearly, edition {DUE[-1]}\n" in cli(*shlex.split(remedy)[1:]).out
    assert cli("--quiet", "release", yearly).out == ""


def test_another_file_of_the_same_name_is_named(cli, yearly):
    """The ledger knows a policy by its name: whose release stands may be another file's."""
    Path("old").mkdir()
    other = YEARLY.replace("region: keep", "region: {map: {north: all, south: all}, other: null}")
    Path("old/copy.yaml").write_text(
        other.replace("out/", "older/").replace("visits.", "../visits.")
    )
    assert cli("release", "old/copy.yaml").code == 0
    twice = "old/copy.yaml is called yearly too, and the ledger knows a policy by its name: give"
    done = cli("release", yearly)
    assert (done.code, f"\n  name         {twice} one" in done.out) == (0, True), done.out
    by_hand = YEARLY.replace('period: {column: visited, every: year, from: "2024"}\n', "")
    Path(yearly).write_text(by_hand.replace("{edition}/", ""))
    told = cli("plan", yearly)
    assert f", and the policy has changed ({twice} one of them another" in told.out + told.err
    Path("copied.yaml").write_text(by_hand)
    told = cli("plan", yearly)
    both = "copied.yaml and old/copy.yaml are called yearly too, and the ledger"
    assert f", and the policy has changed ({both}" in told.out + told.err
    Path("copied.yaml").unlink()
    Path("old/copy.yaml").unlink()
    again = cli("plan", yearly)
    assert "called yearly too" not in again.out + again.err


def test_a_scheduler_reads_json(cli, yearly):
    said = cli("release", yearly, "--format", "json").document
    assert (said["policy"], said["code"], said["last"], said["lost"]) == (
        "yearly", "released", None, []
    )  # fmt: skip
    assert [each["edition"] for each in said["editions"]] == DUE
    due = f"{THIS_YEAR + 1}-01-01T00:00:00Z"
    assert said["next"] == {"edition": str(THIS_YEAR), "due": due, "revision": False}
    again = cli("release", yearly, "--format", "json").document
    assert (again["code"], again["editions"], again["last"]) == ("nothing_due", [], DUE[-1])
    one = cli("release", yearly, "--edition", "2024", "--format", "json").document
    assert (one["edition"], one["outcome"]) == ("2024", "stands")


PAST = [str(year) for year in range(THIS_YEAR - 4, THIS_YEAR)]
"""Editions that are due, where an account pays for three."""


@pytest.fixture
def late(yearly):
    """A calendar that begins in the past, as an account pays for three of its editions."""
    Path("policy-engine.yaml").write_text("accounts: {patients: {epsilon: 3.0, delta: 0.00001}}\n")
    text = YEARLY.replace("guarantee: {epsilon: 1.0, delta: 1.0e-6}", "guarantee: {editions: 3}")
    Path(yearly).write_text(text.replace('from: "2024"', f'from: "{PAST[0]}"'))
    return yearly


def test_a_plan_tells_what_all_that_is_due_costs(cli, late):
    """The next release draws them all: what one costs is not what is left after it."""
    planned = cli("plan", late)
    assert planned.code == 1
    assert (
        "\n           this is the price of one edition; the next 'release' draws the 4 editions"
        " that are due now, and only 3 of them fit\n           left after these 3: none like this"
    ) in planned.out
    assert "\n           left after: " not in planned.out
    pays = "warning: account 'patients' pays for 3 of the 4 editions that are due now"
    assert f"{pays}: 'release' draws those, and stops at {PAST[3]}\n" in planned.err
    said = cli("plan", late, "--format", "json").document
    assert (said["due_affordable"], said["left_after_due"]["like_this"]) == (3, 0)
    done = cli("release", late)
    assert (done.code, done.out.count("released yearly, edition ")) == (1, 3)
    again = cli("plan", late)
    assert (again.code, "this is the price of one edition" in again.out) == (1, False)


def test_the_first_run_is_warned_of_what_is_past(cli, late):
    many = (
        f"4 editions are due already, {PAST[0]} to {PAST[3]}: 'policy-engine release' draws all of"
        f' them, and each is charged; --edition {PAST[3]} draws one alone, and from: "{PAST[3]}"'
        " leaves earlier ones out"
    )
    checked = cli("validate", late)
    assert (checked.code, f": warning: {many}\n" in checked.out) == (0, True), checked.out
    assert not Path(".policy-engine").exists()
    done = cli("release", late).err
    assert done.index(f"warning: yearly: {many.replace('; --', ': --')}\n") < done.index("begins")
    assert "are due already" not in cli("validate", late).out


def test_what_a_plan_names_draws_one_edition_alone(cli, late):
    planned = cli("plan", late).out
    [command] = re.findall(r"to draw one alone: 'policy-engine (.*)'\n", planned)
    [since] = re.findall(r"to leave earlier ones out, write into period: (from: .*)\n", planned)
    text = Path(late).read_text()
    Path(late).write_text(text.replace(f'from: "{PAST[0]}"', since))
    planned = cli("plan", late)
    assert f"           1 due now: {PAST[3]}\n" in planned.out
    assert ("price of one edition" in planned.out, "are due already" in planned.err) == (False,) * 2
    Path(late).write_text(text)
    done = cli(*shlex.split(command))
    assert done.out.count("released yearly, edition ") == 1
    assert f"released yearly, edition {PAST[3]}\n" in done.out
    # Two more fit, and the three others are still due.
    assert "draws the 3 editions that are due now, and only 2 of them fit" in cli("plan", late).out


def test_a_planned_calendar_has_so_many_slots(cli, yearly):
    account = "epsilon: 1.0, delta: 1.0e-6, each: year, plan: {yearly: {editions: 12}}, rest: 0.2"
    Path("policy-engine.yaml").write_text(f"accounts: {{patients: {{{account}}}}}\n")
    text = YEARLY.replace("{epsilon: 1.0, delta: 1.0e-6}", "planned")
    monthly = text.replace('every: year, from: "2024"', 'every: month, from: "2024-11"')
    Path(yearly).write_text(monthly)
    due = 2 + 12 * (THIS_YEAR - 2025)
    told = cli("plan", yearly).out
    assert re.search(rf"draws all ({due + datetime.now(UTC).month - 1}) editions that are", told)
    shown = f"           left after these [0-9]+: in {THIS_YEAR} "
    assert re.search(shown, told), told


def test_what_is_not_due_yet_says_when_it_ends_and_is_due(cli, yearly):
    early = cli("release", yearly, "--edition", f"{THIS_YEAR}")
    ends = f"its last day is {THIS_YEAR}-12-31; it is due from {THIS_YEAR + 1}-01-01 00:00 (UTC)"
    assert (early.code, f"edition {THIS_YEAR} is not due yet: {ends}" in early.err) == (1, True)


def test_what_stands_before_a_failure_is_told(cli, yearly):
    Path("out/2025").mkdir(parents=True)
    Path("out/2025/part.parquet").write_text("mine")
    done = cli("release", yearly, "--format", "json")
    assert done.code == 3
    said = done.document
    assert [each["edition"] for each in said["releases"]] == ["2024"]
    assert said["not_released"] == [f"yearly.yaml ({year})" for year in DUE[1:]]


def test_an_edition_is_of_one_policy(cli, yearly):
    done = cli("release", yearly, yearly, "--edition", "2024")
    assert (done.code, "names an edition of one policy" in done.err) == (2, True)


def test_several_policies_are_released_in_their_order(cli, yearly):
    other = YEARLY.replace("name: yearly", "name: other").replace("out/", "new/")
    Path("other.yaml").write_text(other)
    said = cli("release", yearly, "other.yaml", "--format", "json").document["releases"]
    assert [each["policy"] for each in said] == ["yearly", "other"]
    again = cli("release", yearly, "other.yaml", "--format", "json").document["releases"]
    assert [each["code"] for each in again] == ["nothing_due"] * 2


def test_a_lost_edition_is_told_with_its_remedy(cli, yearly, monkeypatch):
    from policy_engine.releasing.placing import Spot

    def full(*_, **__):
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Spot, "put", full)
        cli("release", yearly)
    for path in Path(".policy-engine/drawn").rglob("*.parquet"):
        path.unlink()
    lost = cli("release", yearly)
    assert (lost.code, "release --edition 2024 --revise' draws anew" in lost.err) == (1, True)
    told = cli("release", yearly, "--format", "json")
    assert (told.code, told.document["lost"]) == (0, ["2024"])
    assert "warning: yearly: edition 2024 (entry " in told.err


def test_an_edition_that_stands_no_more_is_told_by_the_scheduled_command(cli, yearly):
    """Its file or its certificate was removed: nothing is due, and that is not all there is."""
    cli("release", yearly)
    Path("out/2024/part.parquet").unlink()
    told = cli("release", yearly, "--format", "json")
    assert (told.code, told.document["code"], told.document["missing"]) == (
        0, "nothing_due", ["2024"]
    )  # fmt: skip
    remedy = "policy-engine restore yearly.yaml --edition 2024"
    assert "edition 2024 (entry " in told.err and f"'{remedy}' puts it back" in told.err
    for year in DUE[1:]:
        Path(f"out/{year}/part.certificate.json").unlink()
    told = cli("release", yearly, "--format", "json")
    assert told.document["missing"] == DUE
    assert f"{len(DUE)} editions, 2024 (entry " in told.err
    # The remedy is followed, and works.
    for year in DUE:
        assert cli(*remedy.split()[1:-1], year).code == 0
    again = cli("release", yearly, "--format", "json")
    assert (again.document["missing"], again.err) == ([], "")


def test_an_edition_without_a_copy_is_told_too(cli, yearly):
    cli("release", yearly)
    for path in Path("out/2024").rglob("*"):
        if path.is_file():
            path.unlink()
    told = cli("release", yearly)
    assert "is not here, nor any copy: bring it with its certificate from where it" in told.err
    assert "--edition 2024 --revise --replace' draws it anew, at a new price" in told.err
    assert cli("release", yearly, "--edition", "2024", "--revise", "--replace").code == 0
    assert cli("release", yearly).err == ""


@pytest.mark.parametrize("place", ["{table: mart, append: true}", '{table: "mart_{edition}"}'])
def test_a_table_that_was_dropped_is_told_by_the_scheduled_command(cli, yearly, place):
    text = "warehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    Path("policy-engine.yaml").write_text(text + "accounts: {patients: {}}\n")
    own = YEARLY.replace('{file: "out/{edition}/part.parquet"}', place)
    Path("yearly.yaml").write_text(own.replace("file: visits.parquet", "table: visits"))
    run("CREATE TABLE visits AS FROM 'visits.parquet'")
    assert cli("release", yearly).code == 0
    assert cli("release", yearly).err == ""
    is_added = "append" in place
    run("DELETE FROM mart WHERE edition = '2024'" if is_added else "DROP TABLE mart_2024")
    told = cli("release", yearly, "--format", "json")
    assert (told.code, told.document["missing"]) == (0, ["2024"])
    if is_added:
        run("DROP TABLE mart")
        assert cli("release", yearly, "--format", "json").document["missing"] == DUE
        for year in DUE[1:]:
            assert cli("restore", yearly, "--edition", year).code == 0
    assert cli("restore", yearly, "--edition", "2024").code == 0
    assert cli("release", yearly).err == ""
    # Who cannot be asked is not taken for one who says that nothing is there.
    Path("db.duckdb").write_text("no database")
    told = cli("release", yearly, "--format", "json")
    assert (told.code, told.document["missing"]) == (0, [])
    assert "warning: yearly: whether its editions stand was not seen: " in told.err


@pytest.mark.parametrize("place", ["{table: mart, append: true}", '{table: "mart_{edition}"}'])
def test_a_page_of_a_table_names_a_command_that_verifies_an_export(cli, yearly, place):
    text = "warehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    Path("policy-engine.yaml").write_text(text + "accounts: {patients: {}}\n")
    own = YEARLY.replace('{file: "out/{edition}/part.parquet"}', place)
    Path("yearly.yaml").write_text(own.replace("file: visits.parquet", "table: visits"))
    run("CREATE TABLE visits AS FROM 'visits.parquet'")
    assert cli("release", yearly).code == 0
    check = cli("report", "yearly.2024.certificate.json", "--format", "json").document["check"]
    words = shlex.split(check["command"].replace("KEY.pub", ".policy-engine/signing.pub"))
    if "append" in place:
        assert check["export"] == (
            "EXPORT.parquet has the rows of the table db.main.mart of edition 2024, without their"
            " column edition, in the table's order"
        )
        rows = "SELECT * EXCLUDE edition FROM mart WHERE edition = '2024'"
    else:
        rows = "FROM mart_2024"
    run(f"COPY ({rows}) TO 'EXPORT.parquet'")
    done = cli(*words[1:])
    assert (done.code, done.out.startswith("verified: ")) == (0, True)


def test_what_can_be_put_back_is_told_by_its_names(cli, yearly):
    done = cli("restore", yearly, "--edition", "2024")
    assert "nothing was released of this policy: 'policy-engine release' does" in done.err
    cli("release", yearly)
    there = f"there are: {', '.join(DUE)}"
    for name, law in [
        ("2023", "no edition 2023 of yearly was released; " + there),
        ("second", "an edition of yearly is called a year, as 2026, found 'second'; " + there),
        ("", "an edition of yearly is called a year, as 2026, found ''; " + there),
    ]:
        done = cli("restore", yearly, "--edition", name)
        assert (done.code, law in done.err) == (2, True), done.err
    by_hand = YEARLY.replace('period: {column: visited, every: year, from: "2024"}\n', "")
    Path("yearly.yaml").write_text(by_hand.replace("{edition}/", "").replace("yearly", "once"))
    cli("release", yearly)
    done = cli("restore", yearly, "--edition", "other")
    assert "no edition other of once was released; there are: none of a name" in done.err


@pytest.mark.parametrize("lost", ["part.parquet", "part.certificate.json"])
def test_what_is_missing_is_put_back_and_not_said_to_stand_of_another(cli, yearly, lost):
    cli("release", yearly)
    for year in DUE[:2]:
        Path(f"out/{year}/{lost}").unlink()
    said = [cli("restore", yearly).out.partition(" the ")[0].partition(";")[0] for _ in range(3)]
    assert said == [
        f"yearly, edition {DUE[1]}, is put back from",
        f"yearly, edition {DUE[0]}, is put back from",
        f"yearly, edition {DUE[-1]}, stands",
    ]


def test_windows_of_another_length_are_told_with_what_they_add_up_to(cli, yearly):
    """The limit of one of them is no promise of what all together were charged."""
    most = "{epsilon: 1.5, delta: 1.0e-5, each: year}"
    Path("policy-engine.yaml").write_text(f"accounts: {{patients: {most}}}\n")
    assert cli("release", yearly).code == 0
    own = Path("policy-engine.yaml")
    own.write_text(own.read_text().replace("each: year", "each: quarter"))
    words = ("--epsilon", "1.5", "--delta", "1e-5", "--by", "Ada", "--why", "quarters")
    done = cli("ledger", "limit", "patients", *words)
    total = f"({len(DUE) * 1.5:g}, {(len(DUE) + 1) * Decimal('0.00001')}) of anybody."
    said = f"  What the releases of one quarter add to what was known before them: {total}\n"
    assert said in done.out
    assert said in cli("ledger", "show").out
    assert cli("ledger", "verify").code == 0


def test_a_picture_and_a_csv_file_say_of_which_edition_they_are(cli, yearly):
    cli("release", yearly)
    place = f"out/{DUE[0]}/part.parquet"
    assert cli("show", place, "--output", "a.csv").code == 0
    head, *rows = Path("a.csv").read_text().splitlines()
    assert head == '"edition","region","n"'
    assert [row.partition(",")[0] for row in rows] == [f'"{DUE[0]}"'] * 2
    assert cli("show", place, "--output", "a.svg").code == 0
    picture = Path("a.svg").read_text()
    assert f">yearly {DUE[0]}: n by region</title>" in picture
    period = f"edition {DUE[0]}: the rows with visited from {DUE[0]}-01-01 to before {DUE[1]}-01-01"
    assert picture.count(period) == 2  # in its words, and for a screen reader
    done = open_release(place)
    assert f"</b>, {period}" in done._repr_html_()
    renamed = replace_field(done, rows=done.rows.rename_columns(["edition", "n"]))
    renamed.to_csv("b.csv")
    assert Path("b.csv").read_text().startswith('"release_edition","edition","n"')


def test_every_list_of_the_rows_that_are_used_has_the_dates_of_the_edition(cli, yearly):
    cli("release", yearly)
    path = Path("out/2024/part.certificate.json")
    rows = "2024: the rows with visited from 2024-01-01 to before 2025-01-01, days of UTC"
    steps = cli("report", path, "--format", "json").document["details"]["how"]["steps"]
    assert {"name": "edition", "text": f"{rows}; no other rows are read"} in steps
    # A registry's domain is "any rows of this table" and what narrows it.
    domain = cli("report", path, "--format", "registry").out.partition("data_domain: ")[2]
    assert rows in " ".join(domain.split())
    claim = certificate_in(unverified(path.read_text())).claim
    assert "  only     visited from 2024-01-01 to below 2025-01-01" in lines(claim, "duckdb")


def test_no_folder_is_made_for_what_is_shown_and_it_is_named(cli, yearly):
    cli("release", yearly)
    done = cli("show", f"out/{DUE[0]}/part.parquet", "--output", "new/a.csv")
    assert done.err.endswith(
        "new/a.csv could not be written: No such file or directory; make the folder new first, or"
        " name another\n"
    )
    assert (done.code, done.out, Path("new").exists()) == (3, "", False)


def run(sql):
    with duckdb.connect("db.duckdb") as connection:
        connection.execute(sql)


def test_each_period_has_a_place_of_its_own(cli, yearly):
    """Else several would be paid and the last one alone be there."""
    own = YEARLY.replace('"out/{edition}/part.parquet"', "out/last.parquet")
    Path("yearly.yaml").write_text(own)
    assert "so that each period would take the place of the last" in cli("release", yearly).err
    assert not Path(".policy-engine").exists()


def test_a_policy_is_measured_by_its_editions(cli, yearly):
    assert cli("assess", yearly).code == 2
    cli("release", yearly)
    each = cli("assess", yearly, "--all-editions", "--format", "json").document["editions"]
    assert [said["edition"] for said in each] == DUE
    one = cli("assess", yearly, "--edition", "2024", "--format", "json").document
    assert one["tables"] == each[0]["tables"]
    last = cli("assess", yearly, "--format", "json").document
    assert last["file"] == f"out/{DUE[-1]}/part.parquet"
    text = cli("assess", yearly, "--all-editions").out
    assert [f"edition {year}\n" in text for year in DUE] == [True] * len(DUE)
    with_raw = ("--workload", "--raw", "--sensitive", "region", "--edition", "2024")
    assert cli("assess", yearly, *with_raw).out.startswith("confidential")


@pytest.mark.parametrize(
    ("words", "law"),
    [
        (("out/x.parquet", "--edition", "2024"), "an edition is of a policy"),
        (("out/x.parquet", "--all-editions"), "an edition is of a policy"),
        (("yearly.yaml", "--edition", "2024", "--all-editions"), "keep one of them"),
    ],
)
def test_which_edition_is_measured_is_said_once(cli, yearly, words, law):
    done = cli("assess", *words)
    assert (done.code, law in done.err) == (2, True)


def test_a_certificate_is_verified_and_shown_with_its_edition(cli, yearly):
    cli("release", yearly)
    certificate, release = "out/2024/part.certificate.json", "out/2024/part.parquet"
    done = cli("verify", certificate, "--release", release)
    words = "edition 2024: the rows with visited from 2024-01-01 to before 2025-01-01, days of UTC"
    assert (done.code, f"\n{words}\n" in done.out) == (0, True)
    said = cli("verify", certificate, "--release", release, "--format", "json").document
    assert said["edition"]["rows"]["start"] == "2024-01-01T00:00:00Z"
    assert f"this is {words}" in cli("show", release).out
    planned = cli("plan", yearly).out
    assert f"edition    {THIS_YEAR}: the rows with visited" in planned
    shown = cli("plan", yearly, "--format", "json").document
    assert (shown["edition"], shown["due"]) == (str(THIS_YEAR), [])


def test_a_place_with_the_edition_stands_in_quotes(cli, yearly):
    text = YEARLY.replace('"out/{edition}/part.parquet"', "out/{edition}/part.parquet")
    Path("yearly.yaml").write_text(text)
    done = cli("validate", yearly)
    assert (done.code, "put a text that has {edition} in quotes" in done.out + done.err) == (
        1,
        True,
    )


def test_dates_of_another_type_are_refused_with_the_remedy(cli, yearly):
    Path("yearly.yaml").write_text(YEARLY.replace("column: visited", "column: region"))
    done = cli("validate", yearly)
    assert "read it as a date: source.columns: {region: date}" in done.out + done.err
    Path("yearly.yaml").write_text(YEARLY.replace("column: visited", "column: visitd"))
    done = cli("validate", yearly)
    assert "did you mean 'visited'?" in done.out + done.err


def test_where_the_account_gives_other_numbers_no_text_is_said_to_be_new(cli, yearly):
    """A limit was raised and the policy's file untouched: people looked for what had changed."""
    limit = "accounts: {patients: {epsilon: 1.0, delta: 1.0e-6}}\n"
    Path("policy-engine.yaml").write_text(limit)
    text = YEARLY.replace("{epsilon: 1.0, delta: 1.0e-6}", "{editions: 12}")
    Path(yearly).write_text(text)
    assert cli("release", yearly).code == 0
    more = ("--epsilon", "1.5", "--delta", "2e-6", "--by", "Ada", "--why", "more")
    assert cli("ledger", "limit", "patients", *more).code == 0
    file = Path("policy-engine.yaml")
    file.write_text(file.read_text().replace("1.0, delta: 1.0e-6", "1.5, delta: 2.0e-6"))
    done = cli("release", yearly)
    told = (
        r"  policy       the text of entry \d+; account 'patients' gives it ε .* now, where it was"
    )
    assert done.code == 0 and re.search(told, done.out), done.out
    planned = cli("plan", yearly)
    law = (
        rf"yearly is as it was at edition {DUE[-1]} \(entry \d+\), and account 'patients' gives it"
    )
    assert re.search(law, planned.err) and "new text" not in planned.err, planned.err
    assert f" δ 0.000001: {THIS_YEAR} is by these, and the other editions stay" in planned.err
    Path(yearly).write_text(text.replace("name: yearly", "name: yearly\npurpose: a table"))
    assert "  policy       another text than that of entry " in cli("release", yearly).out
    assert f"{THIS_YEAR} is by its new text" in cli("plan", yearly).err
