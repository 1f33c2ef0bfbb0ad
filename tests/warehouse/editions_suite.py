"""Every engine at once: periods of people's rows, and editions that are added to one table."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES

from policy_engine.errors import PolicyError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project_text
from policy_engine.releasing import job, planning
from policy_engine.releasing.books import open_ledger
from policy_engine.releasing.due import release_due
from policy_engine.releasing.release import restore

IS_EVIDENCE = bool(os.environ.get("EVIDENCE"))
TRIED = ENGINES if IS_EVIDENCE else tuple(e for e in ENGINES if e != "spark")
APPENDING = ("duckdb", "postgres", "mariadb", "sqlite")
MONTHS = {1: 60, 2: 90, 3: 120}
SECRET = bytes(range(50, 66))
NOW = datetime(2027, 4, 15, tzinfo=UTC)
PLACES = {
    "duckdb": "database: db.duckdb", "sqlite": "database: db.sqlite", "datafusion": "database: df",
    "clickhouse": "database: ch", "postgres": "url: postgresql://u@localhost/d",
    "mariadb": "url: mariadb://u@localhost:3306/work", "spark": "url: local",
}  # fmt: skip
PERIOD = 'period: {{column: {column}, every: month, from: "2027-01"}}'


def table(*, without: tuple[int, int] | None = None) -> pa.Table:
    """Who came in a month came again in the next ones; ``without`` one person's rows of a month."""
    rows = [
        (person, datetime(2027, month, 1) + timedelta(hours=(person * 11) % (27 * 24)))
        for month, people in MONTHS.items()
        for person in range(people)
        if (person, month) != without
    ]
    rows += [(1000, datetime(2026, 12, 31, 23, 30)), (1001, datetime(2027, 4, 1))]
    return pa.table({
        "id": pa.array([person for person, _ in rows], pa.int64()),
        "visited": pa.array([at.date() for _, at in rows], pa.date32()),
        "seen": pa.array([at for _, at in rows], pa.timestamp("us")),
        "region": ["north" if (person + at.day) % 3 else "south" for person, at in rows],
    })  # fmt: skip


@pytest.fixture(params=TRIED)
def name(request):
    return request.param


@pytest.fixture
def lab(tmp_path, engines, name, monkeypatch):
    """Releases what is due of a policy on one engine, under a secret that everybody knows."""
    engine = engines[name]
    text = f"warehouses: {{wh: {{type: {name}, {PLACES[name]}}}}}\naccounts: {{patients: {{}}}}\n"
    project = load_project_text(text, tmp_path / "policy-engine.yaml", tmp_path)
    monkeypatch.setattr(planning, "connected", lambda *_, **__: engine.writer())
    monkeypatch.setattr(job, "new_secret", lambda: SECRET)

    class Lab:
        folder = tmp_path

        def load(self, rows: pa.Table) -> None:
            engine.load(rows.drop(engine.unfit(rows)))

        def policy(self, column="visited", *, name="monthly", release=None, neighbours="add_remove",
                   schedule=PERIOD):  # fmt: skip
            release = release or f'{{file: "out/{name}/{{edition}}.parquet"}}'
            text = f"""\
version: 1
name: {name}
source: {{table: people}}
privacy_unit: {{column: id, rows: any}}
{schedule.format(column=column)}
recode: {{region: keep}}
guarantee: {{epsilon: 5, delta: 1.0e-6, neighbours: {neighbours}}}
release: {release}
account: patients
"""
            return load_policy_text(text, tmp_path / f"{name}.yaml", tmp_path)

        def due(self, policy, now=NOW):
            found = release_due(policy, project, clock=lambda: now)
            return [each.edition for each in found.released]

        @property
        def entries(self):
            with open_ledger(project) as ledger:
                return ledger.read().budget.entries()

        def restore(self, policy, edition):
            return restore(policy, project, edition=edition).outcome

        def rows(self, name, edition):
            return pq.read_table(tmp_path / "out" / name / f"{edition}.parquet").to_pylist()

        def added(self, edition):
            with closing(engine.writer()) as warehouse:
                return list(warehouse.release_lines(warehouse.target("monthly_all"), edition))

    made = Lab()
    made.load(table())
    return made


@pytest.mark.parametrize(
    ("column", "neighbours"),
    [
        ("visited", "add_remove"),
        ("seen", "replace_one"),
        pytest.param("visited", "replace_one", marks=pytest.mark.evidence),
        pytest.param("seen", "add_remove", marks=pytest.mark.evidence),
    ],
)
def test_each_month_is_of_its_own_rows_alone(lab, name, column, neighbours):
    if name == "sqlite":
        with pytest.raises(
            PolicyError, match="SQLite has no dates, so that no row lies in a period"
        ):
            lab.due(lab.policy("region"))
        return
    if column == "visited" and name != "duckdb" and not IS_EVIDENCE:
        return  # what a period of dates means there is tried with the kernel's claims
    policy = lab.policy(column, neighbours=neighbours)
    assert lab.due(policy) == ["2027-01", "2027-02", "2027-03"]
    for month, people in MONTHS.items():
        shown = sum(row["n"] for row in lab.rows("monthly", f"2027-{month:02}"))
        assert abs(shown - people) <= 30
    # One person's rows of February go: January and March have the same bytes.
    lab.load(table(without=(7, 2)))
    assert len(lab.due(lab.policy(column, name="again", neighbours=neighbours))) == 3
    for month in ("2027-01", "2027-03"):
        assert lab.rows("again", month) == lab.rows("monthly", month)
    assert lab.rows("again", "2027-02") != lab.rows("monthly", "2027-02")


def test_editions_are_added_to_one_table_where_that_is_one_step(lab, name):
    every = "refresh: {{every: month}}"
    policy = lab.policy(release="{table: monthly_all, append: true}", schedule=every)
    if name not in APPENDING:
        with pytest.raises(PolicyError, match=r"release\.append is not of"):
            lab.due(policy)
        return
    assert lab.due(policy) == ["2027-04"]
    assert lab.due(policy, datetime(2027, 5, 2, tzinfo=UTC)) == ["2027-05"]
    first, second = lab.added("2027-04"), lab.added("2027-05")
    assert [len(row) for row in (*first, *second)] == [2] * 4
    assert lab.restore(policy, "2027-04") == "stands"
    assert lab.due(policy, datetime(2027, 5, 9, tzinfo=UTC)) == []


def test_rows_of_another_type_are_refused_before_they_are_charged(lab, name):
    """The columns are called the same, and one holds numbers now."""
    if name not in APPENDING:
        return  # they add no rows
    every, added = "refresh: {{every: month}}", "{table: typed, append: true}"
    assert lab.due(lab.policy(release=added, schedule=every)) == ["2027-04"]
    rows = table()
    regions = pa.array([n % 3 for n in range(rows.num_rows)], pa.int64())
    place = rows.schema.get_field_index("region")
    lab.load(rows.set_column(place, "region", regions))
    charges = len(lab.entries)
    with pytest.raises(WarehouseError, match=r"has the columns region .*, and an edition has reg"):
        lab.due(lab.policy(release=added, schedule=every), NOW + timedelta(days=30))
    assert len(lab.entries) == charges
