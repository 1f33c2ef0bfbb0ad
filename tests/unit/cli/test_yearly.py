"""plan: what to write so that so many releases fit, and that each way works when it is written."""

from __future__ import annotations

import re
import tempfile
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.accounting.exact import epsilon_of_event
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.preview import preview

POLICY = """\
version: 1
name: visits
source: {{file: people.parquet}}
privacy_unit: {unit}
recode: {recode}
{guarantee}
release: {{file: out/visits.parquet{form}}}
account: people
{more}
"""
KINDS = {
    "counts": ("row", "{sex: keep}", ""),
    "sample": ("row", "{sex: keep}", "sample: {rate: auto}\nk: auto"),
    "insertion": ("row", "{sex: {map: {m: m, f: f}, other: x}}", "mechanism: ab_insertion"),
}
GUARANTEE = "guarantee: {epsilon: 0.2, delta: 1.0e-7}"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A project of 600 people, and its one policy of a kind."""
    folder = tmp_path

    def made(
        kind: str, guarantee: str = GUARANTEE, account: str = "", *, anew: bool = False
    ) -> Path:
        nonlocal folder
        if anew or folder == tmp_path:
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            monkeypatch.chdir(folder)
            people = {"id": [*range(600)], "sex": ["m", "f"] * 300}
            pq.write_table(pa.table(people), folder / "people.parquet")
        unit, recode, more = KINDS[kind]
        if kind == "insertion":
            guarantee = guarantee.replace("delta: 1.0e-7", "delta: 0")
        path = folder / "visits.yaml"
        path.write_text(
            POLICY.format(
                unit=unit,
                recode=recode,
                guarantee=guarantee,
                more=more,
                form=", as: rows" if kind == "insertion" else "",
            )
        )
        limit = f"accounts: {{people: {{epsilon: 1.0, delta: 1.0e-6{account}}}}}\n"
        file = folder / "policy-engine.yaml"
        kept = file.read_text().split("accounts")[0] if file.exists() else ""
        file.write_text(kept + limit)
        return path

    return made


def ways(cli, *words):
    """Of each way what the policy says, and what the account."""
    found = cli("plan", "visits.yaml", *words, "--format", "json").document.get("editions")
    return [] if found is None else found["ways"]


def written(text):
    """What is printed as a policy's lines."""
    return text.replace(" and noise:", "\nnoise:")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed_works_when_it_is_written(cli, write, kind):
    """Each way is written, and so many are released, and not twice so many."""
    write(kind)
    many = 3
    for way in ways(cli, "--releases", many):
        said, _, _ = way["account"].partition(" beside")
        write(kind, written(way["policy"]), f", {said}" if said else "", anew=True)
        for number in range(many):
            done = cli("release", "visits.yaml", "--edition", f"e{number}", "--replace")
            assert done.code == 0, done.err
        left = cli("plan", "visits.yaml", "--format", "json").document["ledger"]["left"]
        assert left["like_this"] < many
        if said:
            assert left["planned"] == {"visits": 0} and not left["like_this"]
            assert cli("release", "visits.yaml", "--edition", "more", "--replace").code == 1


def test_a_group_is_shown_half_the_time_from_the_size_that_was_told(cli, write):
    write("counts")
    for way in ways(cli):
        if not way["account"]:
            write("counts", written(way["policy"]))
            outlook = cli("plan", "visits.yaml", "--format", "json").document["outlook"]
            assert outlook["visible_from"] == way["half"]


def test_people_read_what_programs_do(cli, write):
    write("counts")
    found = ways(cli)
    lines = [line.strip() for line in cli("plan", "visits.yaml").out.splitlines()]
    at = lines.index("repeated   12 releases like this from account people; write")
    for number, way in enumerate(found, at + 1):
        assert lines[number].removeprefix("or ").startswith(way["policy"])
        half = f": a group of {way['half']} is shown half the time"
        assert lines[number].endswith(f"{half}; {way['less']}" if way["less"] else half)
    assert lines[at + 5] == "assuming:"


def test_twelve_are_asked_about_or_as_many_as_are_said(cli, write):
    write("counts")
    assert [each["policy"] for each in ways(cli)] == [
        "guarantee: {epsilon: 0.2, delta: 2.0e-8} and noise: {distribution: discrete_gaussian}",
        "guarantee: {epsilon: 0.31, delta: 2.0e-8} and noise: {distribution: discrete_gaussian}",
        "guarantee: {editions: 12}", "guarantee: planned",
    ]  # fmt: skip
    assert ways(cli)[3]["account"] == "plan: {visits: {editions: 12}} beside the limit of people"
    assert ways(cli, "--releases", 5)[1]["policy"] == "guarantee: {editions: 5}"


def test_each_way_says_that_it_promises_less_than_the_policy(cli, write):
    """Twelve at ε 0.31 were proposed for a policy of ε 0.2, and none was said to be weaker."""
    path, found = write("counts"), dict[str, str]()
    for way in ways(cli):
        found[way["policy"]] = way["less"]
    for said, less in found.items():
        account = ", plan: {visits: {editions: 12}}" if said == "guarantee: planned" else ""
        write("counts", written(said), account)
        event = preview(load_policy(path)).charge.asked.event
        is_less = epsilon_of_event(event, Decimal("1.0e-7")) > Decimal("0.2")
        weaker = "each is a weaker promise than the policy's now: ε [0-9.]+ instead of 0.2"
        assert is_less == bool(re.fullmatch(f"{weaker}, at δ 1e-7", less)), said
    assert [bool(less) for less in found.values()] == [False, True, True, True]


def test_so_many_that_fit_as_the_policy_is_are_told_so(cli, write):
    write("counts")
    words = {"1": "1 release like this from account people fits",
             "3": "3 releases like this from account people fit"}  # fmt: skip
    for many, said in words.items():
        done = cli("plan", "visits.yaml", "--releases", many)
        assert f"repeated   {said} as the policy is; at most write\n" in done.out
    found = cli("plan", "visits.yaml", "--releases", "3", "--format", "json").document["editions"]
    assert found["fits"] and all(way["less"] for way in found["ways"])
    assert not cli("plan", "visits.yaml", "--format", "json").document["editions"]["fits"]


def test_no_numbers_are_above_the_limit(cli, write):
    """Of public groups the noise has hardly an end: at its tiny δ it had an ε above the account."""
    path = write("counts")
    Path("groups.csv").write_text("sex\nm\nf\n")
    path.write_text(path.read_text() + "public_groups: {file: groups.csv}\n")
    for many in (1, 2, 12):
        said = [way for way in ways(cli, "--releases", many) if "epsilon: " in way["policy"]]
        assert said and all(Decimal(str(way["epsilon"])) <= 1 for way in said), said


def test_a_policy_of_a_tiny_delta_is_told_no_epsilon_above_the_limit(cli, write):
    """At such a δ the noise of twelve that fill an account has an ε above all that it allows."""
    write("sample", "guarantee: {epsilon: 0.2, delta: 1.0e-12}")
    told = [way["less"] for way in ways(cli)]
    assert any(re.search(r"now: δ \S+ instead of 1e-12, at ε 0.2$", each) for each in told)
    found = [float(each) for less in told for each in re.findall(r"ε ([0-9.]+)", less)]
    assert found and max(found) <= 1, told


def test_of_the_other_notion_it_is_written_too(cli, write):
    write("counts", "guarantee: {epsilon: 0.2, delta: 1.0e-7, neighbours: replace_one}")
    first, second, third = ways(cli, "--releases", 3)
    assert re.search(r"neighbours: replace_one\}", first["policy"])
    assert second["policy"] == "guarantee: {editions: 3, neighbours: replace_one}"
    assert third["account"] == (
        "plan: {visits: {editions: 3}}, neighbours: replace_one beside the limit of people"
    )


def test_an_account_that_has_spent_is_asked_as_it_stands(cli, write):
    """What fills a whole account does not fit any more, and is not offered."""
    path = write("counts")
    assert cli("release", path).code == 0
    path.write_text(path.read_text().replace("0.2", "0.1"))
    own, way = ways(cli, "--releases", 3)
    assert way["less"] and not own["less"]
    write("counts", written(way["policy"]))
    for _ in range(3):
        assert cli("release", path, "--revise", "--replace").code == 0


def test_of_windows_the_one_that_begins_is_asked(cli, write):
    """Each year is asked about, and by the calendar of the policy: a quarter has three months."""
    write("counts", account=", each: year")
    assert len(ways(cli, "--releases", 2)) == 3
    assert cli("release", "visits.yaml").code == 0
    [way] = ways(cli, "--releases", 2)
    assert way["policy"].startswith("guarantee: {epsilon: ")
    path = write("counts", account=", each: quarter", anew=True)
    path.write_text(path.read_text() + "refresh: {every: month}\n")
    assert [each["policy"] for each in ways(cli)][1] == "guarantee: {editions: 3}"


def test_what_holds_for_ever_is_asked_too(cli, write):
    """Next year's plan would not fit what all years may take: neither it nor editions of it do."""
    path = write("counts", account=", each: month, ever: {epsilon: 1.0, delta: 1.0e-6}")
    assert len(ways(cli, "--releases", 2)) == 3
    path.write_text(path.read_text().replace("0.2", "0.9"))
    assert cli("release", path).code == 0
    path.write_text(path.read_text().replace("0.9", "0.1"))
    assert all("epsilon" in each["policy"] for each in ways(cli, "--releases", 2))


def test_a_lower_limit_of_the_ledger_is_what_counts(cli, write):
    write("counts")
    limit = ("ledger", "limit", "people", "--epsilon", "0.5", "--delta", "1e-6")
    assert cli("release", "visits.yaml").code == 0
    assert cli(*limit, "--by", "me", "--why", "less").code == 0
    assert all("editions" not in each["policy"] for each in ways(cli, "--releases", 2))


def test_without_room_nothing_is_offered(cli, write):
    path = write("counts", "guarantee: {epsilon: 1.0, delta: 1.0e-6}")
    assert cli("release", path).code == 0
    path.write_text(path.read_text().replace("1.0e-6", "1.0e-7"))
    done = cli("plan", path)
    assert done.code == 1 and "repeated" not in done.out


def test_of_numbers_too_small_for_a_choice_nothing_is_offered_and_the_rest_is_planned(cli, write):
    """The ε of a median was below what its coins can have, and ``plan`` ended with that."""
    path, project = write("counts"), Path("policy-engine.yaml")
    project.write_text(project.read_text().replace("epsilon: 1.0", "epsilon: 0.2"))
    text = path.read_text().replace("{sex: keep}", "{sex: keep}\ncontribution: {max_groups: 2}")
    text = text.replace("privacy_unit: row", "privacy_unit: {column: id}")
    text += "measures:\n  middle: {median: id, per: person, bounds: [0, 600], round_to: 1}\n"
    path.write_text(text)
    done = cli("plan", path, "--releases", "8")
    assert (done.code, "repeated" in done.out, "price" in done.out) == (0, False, True), done


@pytest.mark.parametrize(
    ("kind", "guarantee", "account"),
    [
        ("counts", "guarantee: {editions: 5}", ""),
        ("counts", GUARANTEE, ", rest: 0.5, plan: {other: {editions: 1}}"),
    ],
)
def test_where_it_follows_or_is_planned_nothing_is_offered(cli, write, kind, guarantee, account):
    write(kind, guarantee, account)
    assert ways(cli) == []


def test_of_a_sample_with_both_numbers_nothing_is_open(cli, write, monkeypatch):
    monkeypatch.setitem(KINDS, "fixed", ("row", "{sex: keep}", "sample: {rate: 0.1}\nk: 20"))
    write("fixed", "guarantee: {epsilon: 0.5, delta: 1.0e-9}")
    assert ways(cli) == []


def test_what_follows_from_an_account_says_of_what_it_is(cli, write):
    write("counts", "guarantee: {editions: 5}")
    done = cli("plan", "visits.yaml")
    assert "           one of 5 editions that fill account people\n" in done.out
    assert "together, by these numbers alone" in done.out
    said = cli("plan", "visits.yaml", "--format", "json").document
    [own] = [line for line in done.out.splitlines() if line.startswith("* ")]
    assert f" {said['outlook']['visible_from']} " in own and "as the policy has it" in own
    table = said["comparison"]
    assert (table["epsilon"], table["delta"], table["releases"]) == (1.0, 1e-6, 5)
    write("counts", "guarantee: planned", ", plan: {visits: {editions: 5}}")
    done = cli("plan", "visits.yaml")
    assert "           one of 5 editions of the plan of account people\n" in done.out
    assert "compared" not in done.out
    drawn = cli("plan", "visits.yaml", "-o", "a.svg")
    assert drawn.code == 2 and "no other mechanism stands beside it" in drawn.err
    assert "comparison" not in cli("plan", "visits.yaml", "--format", "json").document
