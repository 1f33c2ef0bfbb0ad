"""All of a person's tables pay from one account, and of which accounts a joined one is."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from visits_project import PERIOD, Visits

from policy_engine.errors import BudgetExceeded, PolicyError, UsageError
from policy_engine.ledger import deciding
from policy_engine.policy.loading import load_policy_text
from policy_engine.releasing.beginning import ledger_writer
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.release import release

JOINED = (
    "{file: visits.parquet, join: {persons: {file: persons.parquet, on: person, columns: [sex]}}}"
)
OF_ROWS = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {patients: {epsilon: 9, delta: 1.0e-4, each: month, of: visited%s}}
"""


def visits(folder, text=None):
    made = Visits.at(folder) if text is None else Visits.at(folder, text)
    people = {"person": pa.array(range(500), pa.int64()), "sex": ["f", "m"] * 250}
    pq.write_table(pa.table(people), folder / "persons.parquet")
    return made


def test_a_policy_on_what_was_joined_pays_from_the_same_account(tmp_path):
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}, others: {}}\n")
    joined = made.policy("", source=JOINED, recode="{sex: keep}", release="{file: out.parquet}")
    release(joined, made.project)
    text = """\
version: 1
name: people
source: {file: persons.parquet}
privacy_unit: {column: person, rows: any}
recode: {sex: keep}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: people.parquet}
account: %s
"""
    alone = load_policy_text(text % "others", tmp_path / "people.yaml", tmp_path)
    with pytest.raises(BudgetExceeded, match=r"its source is that of entry 1 .*'patients'"):
        release(alone, made.project)
    same = load_policy_text(text % "patients", tmp_path / "people.yaml", tmp_path)
    release(same, made.project)
    assert [each.account for each in made.entries] == ["patients", "patients"]


def test_a_persons_row_lies_in_no_period_unless_the_account_says_so(tmp_path):
    made = visits(tmp_path, OF_ROWS % "")
    policy = made.policy(PERIOD, source=JOINED, recode="{sex: keep}")
    with pytest.raises(PolicyError, match="joins persons, whose rows lie in no month"):
        made.due(policy)


def test_an_account_that_says_m_fold_pays_for_period_after_period(tmp_path):
    made = visits(tmp_path, OF_ROWS % ", joined: m-fold")
    policy = made.policy(PERIOD, source=JOINED, recode="{sex: keep}")
    assert made.drawn(policy) == ["2027-01", "2027-02", "2027-03"]


def test_nothing_is_public_that_has_peoples_rows(tmp_path):
    """Whatever account paid, by whatever name: as public each of its people would move any row."""
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}}\n")
    joined = made.policy("", source=JOINED, recode="{sex: keep}", release="{file: out.parquet}")
    release(joined, made.project)
    (tmp_path / "link.parquet").symlink_to("persons.parquet")
    for file in ("persons", "link"):
        public = f"{{file: {file}.parquet, on: {{region: sex}}, columns: [sex], public: true}}"
        source = f"{{file: visits.parquet, join: {{other: {public}}}}}"
        policy = made.policy("", source=source, recode="{sex: keep}", release="{file: b.parquet}")
        with pytest.raises(BudgetExceeded, match="joins as public what record 1 of the ledger has"):
            release(policy, made.project)
    assert len(made.entries) == 1


@pytest.mark.parametrize("people", ["persons.parquet", "all"])
def test_a_hard_link_to_what_the_policy_reads_is_not_public(tmp_path, people):
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}}\n")
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "1.parquet").hardlink_to(tmp_path / "persons.parquet")
    table = pa.table({"person": pa.array(range(500), pa.int64()), "sex": ["f"] * 500})
    pq.write_table(table.append_column("age", [[9] * 500]), tmp_path / "all" / "1.parquet")
    (tmp_path / "wards.parquet").hardlink_to(tmp_path / "all" / "1.parquet")
    public = "other: {file: wards.parquet, on: {region: sex}, columns: [age], public: true}"
    source = JOINED.replace("persons.parquet", people).replace("[sex]}", f"[sex]}}, {public}")
    policy = made.policy("", source=source, recode="{age: keep}", release="{file: b.parquet}")
    told = "wards.parquet is a file of people's rows, by another name"
    with pytest.raises(PolicyError, match=told):
        release(policy, made.project)
    assert not (tmp_path / ".policy-engine").exists()


def test_what_a_policy_reads_as_peoples_is_not_public_in_it_too(tmp_path):
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}}\n")
    people = {"person": pa.array(range(500), pa.int64()), "sex": ["f"] * 500, "age": [9] * 500}
    pq.write_table(pa.table(people), tmp_path / "persons.parquet")
    (tmp_path / "link.parquet").symlink_to("persons.parquet")
    public = "other: {file: FILE, on: {region: sex}, columns: [age], public: true}"
    for file, message in (
        ("persons.parquet", "persons.parquet has people's rows, which this policy"),
        ("link.parquet", "is a file of people's rows, by another name"),
    ):
        source = JOINED.replace("[sex]}", "[sex]}, " + public.replace("FILE", file))
        policy = made.policy("", source=source, recode="{age: keep}", release="{file: b.parquet}")
        with pytest.raises(PolicyError, match=message):
            release(policy, made.project)
    assert not (tmp_path / ".policy-engine").exists()


def test_what_was_joined_as_public_is_nobodys_until_somebody_says_whose(tmp_path):
    """The reverse order: first every person's rows as public, and charged to no account."""
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}}\n")
    public = "{file: persons.parquet, on: {region: sex}, columns: [sex], public: true}"
    source = f"{{file: visits.parquet, join: {{wards: {public}}}}}"
    release(made.policy("", source=source, recode="{sex: keep}", release="{file: a.parquet}"),
            made.project)  # fmt: skip
    with open_ledger(made.project, ledger_writer(made.project)) as ledger:
        [record] = [each for each in ledger.read().chain.records if each.kind == "reserve"]
    assert [*json.loads(record.payload)["public"]] == ["wards"]

    (tmp_path / "link.parquet").symlink_to("persons.parquet")
    own = JOINED.replace("persons.parquet", "link.parquet")
    theirs = made.policy("", source=own, recode="{sex: keep}", release="{file: b.parquet}")
    told = r"as people's what entry 1 \(visits\) joined as public"
    with pytest.raises(BudgetExceeded, match=told) as no:
        release(theirs, made.project)
    assert "ledger move 1 patients --public wards --by NAME" in str(no.value)
    with open_ledger(made.project, ledger_writer(made.project)) as ledger:
        with pytest.raises(UsageError, match="joined nothing as public by 'ward': it joined wards"):
            deciding.move(ledger, 1, "patients", who="Ada", why="they are", public="ward")
        deciding.move(ledger, 1, "patients", who="Ada", why="they are people", public="wards")
        ledger.verify()
    release(theirs, made.project)
    again = made.policy("", source=source, recode="{sex: keep}", release="{file: c.parquet}")
    with pytest.raises(BudgetExceeded, match="joins as public what record"):
        release(again, made.project)


def test_a_folder_of_people_has_no_public_file_and_the_other_way_round(tmp_path):
    """A name beside a place is as good as the place: the folder holds what its file is."""
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}}\n")
    (tmp_path / "all").mkdir()
    (tmp_path / "persons.parquet").rename(tmp_path / "all" / "persons.parquet")
    public = "{file: all/persons.parquet, on: {region: sex}, columns: [sex], public: true}"
    source = f"{{file: visits.parquet, join: {{wards: {public}}}}}"
    joined = made.policy("", source=source, recode="{sex: keep}", release="{file: a.parquet}")
    release(joined, made.project)
    people = JOINED.replace("persons.parquet", "all")
    folder = made.policy("", source=people, recode="{sex: keep}", release="{file: b.parquet}")
    with pytest.raises(BudgetExceeded, match="joined as public, by the name 'wards'"):
        release(folder, made.project)
