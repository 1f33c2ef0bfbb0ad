"""Editions: what is due is drawn once, oldest first; what stands is not looked at again."""

from __future__ import annotations

import shutil
from datetime import datetime

import duckdb
import pyarrow.parquet as pq
import pytest
from visits_project import REFRESH, SIZES, Visits, at

from policy_engine.attest.attestation import unverified
from policy_engine.errors import EnvironmentFailed, LedgerError, NotReleasable, UsageError
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.ledger.store import Ledger
from policy_engine.releasing import publish
from policy_engine.releasing.job import Job
from policy_engine.releasing.opened import open_release
from policy_engine.releasing.placing import Spot
from policy_engine.releasing.preview import preview
from policy_engine.releasing.release import release, restore

MOST_NOISE = 30
ONE_FILE = "{file: out/part.parquet}"
ADDED = "{table: visits, append: true}"


@pytest.fixture
def lab(tmp_path):
    return Visits.at(tmp_path)


def predicate(done):
    return unverified(done.certificate.read_text()).predicate


# A period


def test_all_periods_that_are_due_are_drawn_oldest_first_each_of_its_own_rows(lab):
    found = lab.due()
    assert [each.edition for each in found.released] == ["2027-01", "2027-02", "2027-03"]
    for month, size in SIZES.items():
        assert abs(lab.people(f"2027-{month:02}") - size) <= 2 * MOST_NOISE
    assert (found.schedule.following.name, found.schedule.on) == ("2027-04", at(5, 11, 0))
    assert [entry.run.edition for entry in lab.entries] == ["2027-01", "2027-02", "2027-03"]


def test_a_certificate_says_the_edition_and_the_rows_that_it_reads(lab):
    done = lab.due().released[0]
    assert predicate(done)["edition"] == {
        "name": "2027-01", "zone": "UTC",
        "rows": {"column": "visited", "start": "2027-01-01T00:00:00Z",
                 "end": "2027-02-01T00:00:00Z"},
    }  # fmt: skip


def test_a_standing_edition_is_not_looked_at_and_costs_nothing(lab):
    lab.drawn()
    (lab.folder / "visits.parquet").unlink()
    found = lab.due()
    assert (found.released, found.schedule.last.run.edition) == ((), "2027-03")
    done = lab.release("2027-02")
    assert (done.outcome, done.edition, len(lab.entries)) == ("stands", "2027-02", 3)


def test_late_rows_stay_out_and_the_next_period_is_drawn_when_it_is_due(lab):
    lab.drawn()
    lab.write({**SIZES, 1: 900, 4: 700})
    lab.now = at(5, 10, 23)
    assert lab.drawn() == []
    lab.now = at(5, 11, 0)
    assert lab.drawn() == ["2027-04"]
    assert abs(lab.people("2027-04") - 700) <= 2 * MOST_NOISE
    assert abs(lab.people("2027-01") - 100) <= 2 * MOST_NOISE


@pytest.mark.parametrize(
    ("edition", "law"),
    [
        (
            "2027-04",
            r"2027-04 is not due yet: its last day is 2027-04-30, and 10 days must pass after it;"
            r" it is due from 2027-05-11 00:00 \(UTC\)",
        ),
        ("2026-12", r"the first edition is 2027-01, by period.from"),
    ],
)
def test_an_edition_that_cannot_be_drawn_is_refused_before_anything(lab, edition, law):
    with pytest.raises(NotReleasable, match=law):
        lab.release(edition)
    assert not lab.project.ledger.exists()


@pytest.mark.parametrize("edition", ["2027-W01", "January", "", "2027-13"])
def test_what_is_no_period_of_the_calendar_is_wrong_usage(lab, edition):
    with pytest.raises(UsageError, match="must be a month, as 2026-11"):
        lab.release(edition)


def test_of_a_schedule_an_edition_is_named(lab):
    with pytest.raises(UsageError, match="name the edition that is meant with --edition"):
        lab.release(None)


def test_the_zone_of_the_project_says_which_rows(tmp_path):
    lab = Visits.at(tmp_path, "zone: Pacific/Auckland\naccounts: {patients: {}}\n")
    [done, *_] = lab.due().released
    assert predicate(done)["edition"]["rows"]["start"] == "2026-12-31T11:00:00Z"
    assert predicate(done)["edition"]["zone"] == "Pacific/Auckland"


# A refresh


def test_a_refresh_is_drawn_once_while_its_period_lasts(lab):
    policy = lab.policy(REFRESH)
    assert lab.drawn(policy) == ["2027-04"]
    assert lab.drawn(policy) == []
    lab.now = at(6, 1, 0)
    assert lab.drawn(policy) == ["2027-06"]
    with pytest.raises(NotReleasable, match="2027-05 cannot be drawn any more"):
        lab.release("2027-05", policy)
    with pytest.raises(NotReleasable, match=r"not due yet: it is from 2027-07-01 00:00 \(UTC\)"):
        lab.release("2027-07", policy)
    assert lab.release("2027-04", policy).outcome == "stands"


def test_where_the_place_is_one_the_next_edition_takes_it(lab):
    policy = lab.policy(REFRESH, release=ONE_FILE)
    lab.drawn(policy)
    lab.now = at(5, 1)
    assert lab.drawn(policy) == ["2027-05"]
    done = restore(policy, lab.project, edition="2027-04", replace=True)
    assert (done.edition, done.outcome) == ("2027-04", "put back")


def test_what_is_no_edition_of_it_is_not_replaced(lab):
    lab.now = at(5, 1)
    other = lab.policy(REFRESH, release=ONE_FILE, name="other")
    lab.drawn(other)
    with pytest.raises(EnvironmentFailed, match="exists"):
        lab.drawn(lab.policy(REFRESH, release=ONE_FILE))


# A policy that was changed


def test_of_a_changed_policy_what_was_drawn_stands_and_the_next_is_by_its_new_text(lab):
    lab.now = at(3, 15)
    assert lab.drawn() == ["2027-01", "2027-02"]
    changed, said = lab.policy(epsilon="4"), []
    lab.now = at(4, 15)
    assert [each.edition for each in lab.due(changed, said.append).released] == ["2027-03"]
    [told] = [text for text in said if "changed" in text]
    assert told == (
        "visits has changed since edition 2027-02 (entry 5): 2027-03 is by its new text, and the"
        " other editions stay as they are"
    )
    assert lab.release("2027-01", changed).outcome == "stands"
    assert len(lab.entries) == 3


@pytest.mark.parametrize(
    "release", ['{file: "out/{edition}/part.parquet"}', "{table: visits, append: true}"]
)
def test_an_edition_of_another_text_is_told_by_its_certificate(lab, release):
    duckdb.connect(str(lab.folder / "db.duckdb")).close()
    lab.now = at(2, 15)
    first = lab.due(lab.policy(release=release)).released[0]
    wider = lab.policy(release=release, recode="{region: keep, visited: {truncate: year}}")
    again = lab.release("2027-01", wider)
    assert (again.outcome, again.groups, again.people) == ("stands", first.groups, first.people)


def test_a_policy_whose_place_is_another_draws_nothing_anew(lab):
    lab.drawn()
    assert lab.drawn(lab.policy(release='{file: "new/{edition}.parquet"}')) == []


# What somebody asks for by hand


def test_a_revision_is_another_draw_at_a_price_and_says_so(lab):
    lab.drawn()
    done = lab.release("2027-02", revise=True, replace=True)
    assert (done.outcome, len(lab.entries)) == ("released", 4)
    assert predicate(done)["edition"]["asked"] is True
    assert {"code": "asked_blind"} in predicate(done)["assumptions"]
    assert lab.drawn() == []


def test_another_edition_of_a_policy_without_schedule_has_a_price(lab):
    policy = lab.policy("", release=ONE_FILE)
    first = lab.release(None, policy)
    assert "edition" not in predicate(first)
    second = lab.release("second", policy, replace=True)
    assert predicate(second)["edition"] == {"name": "second", "asked": True}
    assert [entry.run.edition for entry in lab.entries] == ["", "second"]
    again = lab.release(None, policy)
    assert (again.edition, again.outcome) == ("second", "stands")
    assert restore(policy, lab.project, edition="second").outcome == "stands"
    with pytest.raises(UsageError, match="no edition third of visits was released; there are: sec"):
        restore(policy, lab.project, edition="third")


@pytest.mark.parametrize("name", ["2027-01", "Second", "../x", "a b", "x" * 41])
def test_by_hand_an_edition_is_not_called_like_a_period(lab, name):
    with pytest.raises(UsageError, match="its editions are called a small letter"):
        lab.release(name, lab.policy("", release=ONE_FILE))


# A crash, two runners, a clock


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Ledger, "start"), (Job, "_draw_file"), (Ledger, "draw"), (Spot, "put"),
     (publish, "publish_file"), (Ledger, "commit")],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
@pytest.mark.parametrize("schedule", [None, REFRESH])
def test_what_a_crash_left_is_finished_by_the_next_run(lab, monkeypatch, owner, name, schedule):
    policy = lab.policy() if schedule is None else lab.policy(schedule)
    first = lab.killed(monkeypatch, owner, name, policy)
    lab.now = at(4, 16)
    drawn = lab.drawn(policy)
    assert drawn[0] == first.run.edition
    assert [entry.state for entry in lab.entries] == ["committed"] * len(drawn)
    assert len({entry.run.edition for entry in lab.entries}) == len(lab.entries)
    assert lab.drawn(policy) == []


def test_a_refresh_that_was_not_drawn_while_it_lasted_is_settled(lab, monkeypatch):
    policy = lab.policy(REFRESH)
    lab.killed(monkeypatch, Job, "_draw_file", policy)
    lab.now = at(5, 2)
    assert lab.drawn(policy) == ["2027-05"]
    assert [entry.state for entry in lab.entries] == ["kept", "committed"]
    assert lab.drawn(policy) == []


def test_a_refresh_that_was_drawn_is_put_in_its_place_later(lab, monkeypatch):
    policy = lab.policy(REFRESH)
    lab.killed(monkeypatch, Spot, "put", policy)
    lab.now = at(5, 2)
    assert lab.drawn(policy) == ["2027-04", "2027-05"]
    assert [entry.state for entry in lab.entries] == ["committed", "committed"]


def test_what_is_lost_is_told_and_does_not_keep_the_next_from_being_drawn(lab, monkeypatch):
    lab.now = at(2, 15)
    first = lab.killed(monkeypatch, Spot, "put")
    for path in (lab.folder / ".policy-engine" / "drawn").rglob("*.parquet"):
        path.unlink()
    with pytest.raises(NotReleasable, match="release --edition 2027-01 --revise' draws anew"):
        lab.drawn()
    lab.now = at(3, 15)
    found = lab.due()
    assert [each.edition for each in found.released] == ["2027-02"]
    assert [entry.id for entry in found.schedule.lost] == [first.id]


@pytest.mark.parametrize("place", [None, ADDED])
def test_what_another_machine_drew_is_put_in_its_place_there(table, monkeypatch, place):
    """Its bytes are on the machine that crashed; the other one says so, and draws the next one."""
    policy = table.policy() if place is None else table.policy(release=place)
    table.now = at(2, 15)
    table.killed(monkeypatch, Spot, "put" if place is None else "envelope", policy)
    drawn, away = table.folder / ".policy-engine" / "drawn", table.folder / "away"
    drawn.rename(away)
    with pytest.raises(NotReleasable, match="Bring the release"):
        table.drawn(policy)
    table.now = at(3, 15)
    found = table.due(policy)
    assert [each.edition for each in found.released] == ["2027-02"]
    assert [entry.run.edition for entry in found.schedule.lost] == ["2027-01"]
    for folder in away.iterdir():
        for path in folder.glob("*.parquet"):
            path.rename(drawn / folder.name / path.name)
    assert table.drawn(policy) == ["2027-01"]
    assert [entry.state for entry in table.entries] == ["committed"] * 2


def test_a_clock_that_went_back_is_refused(lab):
    lab.drawn()
    lab.now = at(1, 1, year=2020)
    with pytest.raises(EnvironmentFailed, match="the clock says 2020") as caught:
        lab.due()
    assert caught.value.code == "clock_went_back"


def test_an_edition_that_another_text_drew_meanwhile_is_not_charged_again(lab, monkeypatch):
    lab.now = at(2, 15)
    other = lab.policy(epsilon="4")
    verified = Job.charge

    def faster(job):
        monkeypatch.undo()
        lab.drawn(other)
        return verified(job)

    # As on another machine: nothing waits for a lock there.
    monkeypatch.setattr("policy_engine.releasing.copies.fcntl.flock", lambda *_: None)
    monkeypatch.setattr(Job, "charge", faster)
    with pytest.raises(LedgerError, match="2027-01 of visits was drawn meanwhile, by another text"):
        lab.drawn()
    assert len(lab.entries) == 1


def test_the_same_text_on_another_machine_is_charged_once(lab, monkeypatch):
    lab.now = at(2, 15)
    charge = Job.charge

    def faster(job):
        monkeypatch.undo()
        lab.drawn()
        return charge(job)

    monkeypatch.setattr("policy_engine.releasing.copies.fcntl.flock", lambda *_: None)
    monkeypatch.setattr(Job, "charge", faster)
    assert [each.outcome for each in lab.due().released] == ["stands"]
    assert len(lab.entries) == 1


# What is asked before


def test_a_dry_run_is_of_the_edition_that_is_due_next(lab):
    found = preview(lab.policy(), lab.project)
    assert found.edition.name == "2027-01"  # none is due yet by this machine's clock
    assert not lab.project.ledger.exists()


def test_a_table_has_a_certificate_for_each_edition(lab):
    import duckdb

    duckdb.connect(str(lab.folder / "db.duckdb")).close()
    lab.due(lab.policy(release='{table: "visits_{edition}"}'))
    names = sorted(path.name for path in lab.folder.glob("*.certificate.json"))
    assert names == [f"visits.2027-{month:02}.certificate.json" for month in SIZES]


# Rows that are added to a table


@pytest.fixture
def table(lab):
    import duckdb

    duckdb.connect(str(lab.folder / "db.duckdb")).close()
    return lab


def rows(lab):
    """The rows of the table, by their editions."""
    import duckdb

    found = {}
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        for edition, *row in connection.sql("SELECT * FROM visits").fetchall():
            found.setdefault(edition, []).append(tuple(row))
    return found


def test_the_rows_of_each_edition_are_added_to_one_table(table):
    policy = table.policy(release=ADDED)
    found = table.due(policy)
    assert [each.outcome for each in found.released] == ["released"] * 3
    assert {edition: len(own) for edition, own in rows(table).items()} == {
        "2027-01": 2, "2027-02": 2, "2027-03": 2
    }  # fmt: skip
    said = predicate(found.released[0])
    assert said["published_as"] == 'INSERT INTO "db"."main"."visits"'
    assert table.drawn(policy) == []
    assert table.release("2027-02", policy).outcome == "stands"


def test_one_edition_of_a_table_is_put_back_and_the_others_stay(table):
    import duckdb

    policy = table.policy(release=ADDED)
    table.due(policy)
    before = rows(table)
    with duckdb.connect(str(table.folder / "db.duckdb")) as connection:
        connection.execute("DELETE FROM visits WHERE edition = '2027-02'")
    assert restore(policy, table.project, edition="2027-02").outcome == "put back"
    assert rows(table) == before
    with duckdb.connect(str(table.folder / "db.duckdb")) as connection:
        connection.execute("DROP TABLE visits")
    for month in (1, 2, 3):
        restore(policy, table.project, edition=f"2027-{month:02}")
    assert rows(table) == before


def test_a_revision_takes_the_place_of_its_editions_rows_alone(table):
    policy = table.policy(release=ADDED)
    table.due(policy)
    before = rows(table)
    with pytest.raises(EnvironmentFailed, match=r"edition 2027-02 of db\.main\.visits exists"):
        table.release("2027-02", policy, revise=True)
    table.release("2027-02", policy, revise=True, replace=True)
    after = rows(table)
    assert after.keys() == before.keys()
    assert [after[each] == before[each] for each in ("2027-01", "2027-03")] == [True, True]
    assert [entry.state for entry in table.entries] == ["committed"] * 4


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Ledger, "start"), (Job, "_draw_table"), (Ledger, "draw"), (Spot, "envelope"),
     (Ledger, "commit")],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_what_a_crash_left_of_a_table_is_finished(table, monkeypatch, owner, name):
    policy = table.policy(release=ADDED)
    table.killed(monkeypatch, owner, name, policy)
    assert table.drawn(policy)[0] == "2027-01"
    assert sorted(rows(table)) == ["2027-01", "2027-02", "2027-03"]
    assert [entry.state for entry in table.entries] == ["committed"] * 3
    assert table.drawn(policy) == []


def test_rows_of_other_columns_are_not_added(table):
    table.now = at(2, 15)
    table.due(table.policy(release=ADDED))
    table.now = at(3, 15)
    other = table.policy(release=ADDED, recode="{region: keep, person: {bins: [50]}}")
    with pytest.raises(
        EnvironmentFailed, match="has the columns region, n, and an edition has region, person, n"
    ):
        table.due(other)
    assert len(table.entries) == 1
    assert sorted(rows(table)) == ["2027-01"]
    assert table.drawn(table.policy(release=ADDED)) == ["2027-02"]


def test_nothing_is_added_to_a_release_by_itself(table):
    release(table.policy("", release="{table: visits}", name="once"), table.project)
    with pytest.raises(EnvironmentFailed, match="is a release by itself"):
        table.due(table.policy(release=ADDED))
    assert len(table.entries) == 1


def test_the_first_rows_of_one_edition_are_shown(table):
    from policy_engine.releasing.showing import show

    policy = table.policy(release=ADDED)
    [first, *_] = table.due(policy).released
    shown = show(first.certificate, table.project, 10)
    assert (shown.columns, shown.size) == (("region", "n"), 2)


@pytest.mark.parametrize(
    ("changes", "place"),
    [({"recode": "{Edition: {constant: a}, region: keep}"}, "recode.Edition"),
     ({"release": f"{ADDED}\ncount: {{people: edition}}"}, "count.people")],
)  # fmt: skip
def test_the_column_of_editions_is_nobody_elses(lab, changes, place):
    from policy_engine.errors import PolicyError

    with pytest.raises(PolicyError, match=f"{place} is the column that says of which edition"):
        lab.policy(**{"release": ADDED, **changes})


# What reconcile and certificates know of editions


@pytest.mark.parametrize("place", ['{file: "out/{edition}/part.parquet"}', ADDED])
def test_reconcile_commits_an_edition_that_stands(table, monkeypatch, place):
    from policy_engine.releasing.standing import reconcile

    policy = table.policy(release=place)
    table.killed(monkeypatch, Ledger, "commit", policy)
    [settled] = reconcile(table.project)
    assert (settled.outcome, settled.entry.run.edition) == ("committed", "2027-01")
    assert table.drawn(policy) == ["2027-02", "2027-03"]


@pytest.mark.parametrize("place", ['{file: "out/{edition}/part.parquet"}', ADDED])
def test_editions_that_a_ledger_forgot_are_booked_again_and_not_drawn(table, place):
    from policy_engine.errors import LedgerError
    from policy_engine.releasing.recalling import recall

    (table.folder / "policy.yaml").write_text("version: 1\n")
    policy = table.policy(release=place)
    table.now = at(2, 15)
    table.due(policy)
    ledger = table.project.ledger
    before = ledger.read_bytes()
    table.now = at(4, 15)
    table.due(policy)
    ledger.write_bytes(before)
    table.project.witness.unlink()
    # Nothing is drawn on it, though by it two months are due.
    with pytest.raises(EnvironmentFailed) as caught:
        table.due(policy)
    assert isinstance(caught.value, LedgerError) and caught.value.code == "ledger_forgot"
    booked = recall(table.project, "patients")
    assert sorted(each.entry.run.edition for each in booked) == ["2027-02", "2027-03"]
    assert table.drawn(policy) == []
    assert table.release("2027-03", policy).outcome == "stands"


def test_instants_are_told_apart_by_the_zone_of_the_project(tmp_path):
    """Half an hour before and after midnight in Berlin, which is another day in UTC."""
    import duckdb

    project = "zone: Europe/Berlin\nwarehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    lab = Visits.at(tmp_path, project + "accounts: {patients: {}}\n")
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("SET timezone = 'America/New_York'")
        connection.execute("CREATE TABLE seen (person BIGINT, visited TIMESTAMPTZ, region VARCHAR)")
        for first, instant, people in (
            (0, "2026-12-31 22:59:59.999999+00", 40),  # 2026 in Berlin
            (1000, "2026-12-31 23:00:00+00", 200),  # 2027 in Berlin
            (2000, "2027-01-31 22:59:59+00", 100),
            (3000, "2027-01-31 23:00:00+00", 500),
        ):
            connection.execute(
                f"INSERT INTO seen SELECT {first} + n, '{instant}', 'a' FROM range({people}) t(n)"
            )
    policy = lab.policy(source="{table: seen}")
    lab.now = at(3, 15)
    assert lab.drawn(policy) == ["2027-01", "2027-02"]
    assert abs(lab.people("2027-01") - 300) <= MOST_NOISE
    assert abs(lab.people("2027-02") - 500) <= MOST_NOISE


def test_what_is_recoded_of_instants_has_no_other_zone(tmp_path):
    import duckdb

    from policy_engine.errors import PolicyError

    project = "zone: Europe/Berlin\nwarehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    lab = Visits.at(tmp_path, project + "accounts: {patients: {}}\n")
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE seen (person BIGINT, visited TIMESTAMPTZ, region VARCHAR)")
    policy = lab.policy(source="{table: seen}", recode="{visited: {bins: [2027-02-01]}}")
    with pytest.raises(PolicyError, match="is of instants, which are read in UTC, and the zone of"):
        lab.due(policy)


def test_days_and_hours_of_instants_are_those_of_the_projects_zone(tmp_path):
    """A visit of half past midnight of 1 January in Berlin is one of January, and of 2027."""
    import duckdb

    project = "zone: Europe/Berlin\nwarehouses: {db: {type: duckdb, database: db.duckdb}}\n"
    lab = Visits.at(tmp_path, project + "accounts: {patients: {}}\n")
    with duckdb.connect(str(lab.folder / "db.duckdb")) as connection:
        connection.execute("CREATE TABLE seen (person BIGINT, visited TIMESTAMPTZ, region VARCHAR)")
        connection.execute(
            "INSERT INTO seen SELECT n, '2026-12-31 23:30:00+00', 'north' FROM range(500) t(n)"
        )
    recode, place = "{visited: {truncate: hour}}", "{file: hours.parquet}"
    policy = lab.policy("", source="{table: seen}", recode=recode, release=place)
    lab.release(None, policy)
    [row] = pq.read_table(tmp_path / "hours.parquet").to_pylist()
    assert row["visited"] == datetime(2027, 1, 1)
    [shown] = open_release(tmp_path / "hours.parquet").certificate.claim.columns
    assert recode_meaning(shown.recode).released == "the start of its hour, in Europe/Berlin."


def test_an_edition_is_not_drawn_again_because_its_policy_names_another_place(lab):
    """Not by the calendar, and not by name: only who says so draws it anew, at a price."""
    lab.due()
    moved = lab.policy(release='{file: "new/{edition}/part.parquet"}')
    assert lab.drawn(moved) == []
    charges = len(lab.entries)
    law = "edition 2027-01 was drawn to out/2027-01/part.parquet .entry .*, and the policy names"
    for asked in (lambda: lab.release("2027-01", moved), lambda: restored(lab, moved)):
        with pytest.raises(NotReleasable, match=law):
            asked()
    assert len(lab.entries) == charges
    # What is moved stands, and what is drawn anew does.
    shutil.move(lab.folder / "out" / "2027-01", lab.folder / "new" / "2027-01")
    assert lab.release("2027-01", moved).outcome == "stands"
    told = []
    anew = release(moved, lab.project, edition="2027-02", revise=True, say=told.append,
                   clock=lab.clock)  # fmt: skip
    assert (anew.outcome, len(lab.entries)) == ("released", charges + 1)
    assert "edition 2027-02, was released before" in told[0] and "at the price of ε 5" in told[0]
    assert lab.release("2027-02", moved).outcome == "stands"


def restored(lab, policy):
    return restore(policy, lab.project, edition="2027-01", replace=True)


def test_what_is_drawn_anew_is_told_with_its_price_whichever_edition_it_is(lab):
    """The first of three: it is of the same text as the last, and is no next one of a calendar."""
    lab.due()
    told = []
    release(lab.policy(), lab.project, edition="2027-01", revise=True, replace=True,
            say=told.append, clock=lab.clock)  # fmt: skip
    assert told[0].startswith("visits, edition 2027-01, was released before (entry ")
    assert "and a new draw of the noise is asked for: this is a new release, at" in told[0]
    assert "at the price of ε 5, δ " in told[0]


def test_a_release_that_goes_to_another_folder_is_told_to_be_a_new_one(lab):
    """Of one without a calendar the text decides: another place is another text."""
    lab.release(None, lab.policy("", release="{file: out/a.parquet}"))
    told = []
    moved = lab.policy("", release="{file: new/a.parquet}")
    release(moved, lab.project, say=told.append, clock=lab.clock)
    assert "was released before (entry 1), and the policy has changed: this is a new" in told[0]
