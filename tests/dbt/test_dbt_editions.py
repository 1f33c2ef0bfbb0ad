"""A mart that is built every night, and a release of it that has editions: on real dbt.

One story an engine, made once; the tests ask what came of each night.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import date
from pathlib import Path

import duckdb
import pytest
from environments import NEWEST, dbt_of
from postgres import running
from shop_in_time import PLANNED, POLICY, REFRESH, Shop

pytestmark = pytest.mark.slow

ENGINES = ["duckdb", pytest.param("postgres", marks=pytest.mark.evidence)]


def _shop(stack: ExitStack, engine: str, folder: Path, policy: str = POLICY) -> Shop:
    dbt = dbt_of(NEWEST)
    place = folder if engine == "duckdb" else stack.enter_context(running()).folder
    made = Shop(folder / "project", dbt, stack.enter_context(dbt.served()), engine, str(place))
    made.folder.mkdir()
    made.write(policy)
    made.begin()
    return made


def _story(engine: str, folder: Path) -> dict[str, object]:
    with ExitStack() as stack:
        shop = _shop(stack, engine, folder)
        story: dict[str, object] = {"git": shop.committed()}
        shop.until(date(2026, 7, 20))
        reserved, built, attested = shop.night()
        story["early"] = [reserved, built.returncode, built.out, attested]
        story["early status"] = shop.engine_says("dbt", "status", "--target", "prod")

        # The night of the first edition fails: the source is not there.
        shop.until(date(2026, 8, 7))
        story["due status"] = shop.engine_says("dbt", "status", "--target", "prod")
        shop.sql("alter table orders rename to orders_away")
        reserved, built, attested = shop.night()
        story["failed"] = [reserved, built.returncode, attested, shop.rows()]
        shop.sql("alter table orders_away rename to orders")
        reserved, built, attested = shop.night()
        story["mended"] = [reserved, built.returncode, built.out, attested]
        story["first"] = shop.rows()
        story["verified"] = shop.engine_says("dbt", "verify", "--target", "prod")
        story["gate"] = shop.engine_says("dbt", "gate", "--manifest", "target/manifest.json")

        # An order of July comes late, and everything is built anew.
        shop.order(date(2026, 7, 3), size=500)
        story["full refresh"] = shop.builds("--full-refresh").returncode
        shop.night()
        story["after full refresh"] = shop.rows()
        story["entries of one"] = len(shop.entries())

        # Two runners, one after another at each step.
        shop.until(date(2026, 9, 7))
        story["two runners"] = [
            *(shop.engine_says("dbt", "reserve", "--target", "prod") for _ in range(2)),
            *(shop.builds().returncode for _ in range(2)),
            *(shop.engine_says("dbt", "attest", "--target", "prod") for _ in range(2)),
        ]
        story["second"] = shop.rows()

        # The limit is raised: what the ledger has of the year's plan stays.
        limit = ("customers", "--epsilon", "3", "--delta", "1e-6", "--by", "Ada", "--why", "more")
        story["raised"] = shop.engine_says("ledger", "limit", *limit)
        raised = PLANNED.replace("epsilon: 2.0", "epsilon: 3.0")
        (shop.folder / "policy-engine.yaml").write_text(raised)
        story["synced again"] = shop.engine_says("dbt", "sync", "--target", "prod")
        shop.builds("--select", "stg_orders")
        gate = ("dbt", "gate", "--manifest", "target/manifest.json")
        story["gate after"] = shop.engine_says(*gate)

        # A job is killed before it has attested; the next one does that first.
        shop.until(date(2026, 10, 7))
        shop.engine_says("dbt", "reserve", "--target", "prod")
        shop.builds()
        story["not attested"] = shop.rows()
        shop.until(date(2026, 10, 8))
        story["next night"] = [
            each if isinstance(each, dict) else each.returncode for each in shop.night()
        ]
        story["third"] = shop.rows()
        story["status"] = shop.engine_says("dbt", "status", "--target", "prod")

        # What is drawn is changed before it is looked at: it is refused, and nobody reads it.
        shop.until(date(2026, 11, 7))
        shop.engine_says("dbt", "reserve", "--target", "prod")
        shop.builds()
        shop.sql("update orders_public_v1_draw set n = n + 1")
        story["refused"] = shop.engine_says("dbt", "attest", "--target", "prod")
        story["after refused"] = shop.rows()
        story["refused status"] = shop.engine_says("dbt", "status", "--target", "prod")
        story["downstream"] = [shop.builds().returncode, shop.sql("select count(*) from stores")]
        story["entries"] = shop.entries()
        story["git after"] = shop.committed()
        story["certificates"] = sorted(
            path.relative_to(shop.folder).as_posix()
            for path in shop.folder.rglob("models/**/*.certificate.json")
        )
        story["certificate"] = (shop.folder / story["certificates"][0]).read_text()  # type: ignore[index]
        story["not shown"] = shop.engine_says("show", story["certificates"][1])  # type: ignore[index]
        with (shop.folder / "policy-engine.yaml").open("a") as file:
            file.write("warehouses: {wh: {type: dbt, profile: shop, target: prod}}\n")
        story["shown"] = shop.engine_says("show", story["certificates"][1])  # type: ignore[index]
        return story


@pytest.fixture(params=ENGINES, scope="module")
def story(request, made_once):
    engine = request.param
    return made_once(f"editions-{engine}", lambda folder: _story(engine, folder))


def test_nothing_is_drawn_before_a_period_has_ended(story):
    reserved, code, out, attested = story["early"]
    assert reserved["code"] == code == attested["code"] == 0, (reserved, out, attested)
    assert "nothing is due" in reserved["out"]
    assert "2026-07, due from 2026-08-06" in reserved["out"]
    assert story["early status"]["code"] == 0


def test_status_says_that_an_edition_is_due(story):
    told = story["due status"]
    assert told["code"] == 1
    assert told["out"].startswith("due ")
    assert "due now      2026-07" in told["out"]


def test_a_failed_night_costs_no_second_charge(story):
    reserved, code, attested, rows = story["failed"]
    assert reserved["code"] == 0, reserved
    assert code == 1
    assert "is reserved and not built yet" in attested["out"]
    assert rows == []
    again, code, out, attested = story["mended"]
    assert "nothing was charged" in again["out"]
    assert code == attested["code"] == 0, (out, attested)
    assert "attested orders_public_v1, edition 2026-07" in attested["out"]
    assert {row[0] for row in story["first"]} == {"2026-07"}
    assert len(story["first"]) == 3


def test_what_is_read_is_verified_by_edition(story):
    assert story["verified"]["code"] == 0, story["verified"]
    assert "edition 2026-07" in story["verified"]["out"]
    assert story["gate"]["code"] == 0, story["gate"]


def test_an_edition_stands_whatever_is_built_again(story):
    assert story["full refresh"] == 0
    assert story["after full refresh"] == story["first"]
    assert story["entries of one"] == 1


def test_two_runners_draw_one_edition(story):
    first, second, *codes, attested, again = story["two runners"]
    assert "reserved orders_public_v1, edition 2026-08" in first["out"]
    assert "nothing was charged" in second["out"]
    assert codes == [0, 0]
    assert (attested["code"], again["code"]) == (0, 0), again
    assert "stands as it was attested" in again["out"]
    assert [row for row in story["second"] if row[0] == "2026-07"] == story["first"]
    assert len(story["second"]) == 6


def test_what_an_earlier_run_has_built_is_attested_before_more_is(story):
    assert story["not attested"] == story["second"]
    reserved, built, attested = story["next night"]
    assert "attested orders_public_v1, edition 2026-09" in reserved["out"], reserved
    assert "nothing is due" in reserved["out"]
    assert (built, attested["code"]) == (0, 0), attested
    assert len(story["third"]) == 9


def test_status_says_which_edition_stands_and_when_the_next_is_due(story):
    told = story["status"]
    assert told["code"] == 0, told
    assert "edition      2026-09, since 2026-10-08" in told["out"]
    assert "source       made anew since, " in told["out"]  # by the build of that night
    assert "certificate  models/orders_public_v1.prod/2026-09.certificate.json" in told["out"]
    assert "next         2026-10, due from 2026-11-06" in told["out"]


def test_a_refused_edition_breaks_nothing(story):
    assert story["refused"]["code"] == 1
    assert "rows are not what the certified query gives" in story["refused"]["err"]
    assert story["after refused"] == story["third"]
    assert story["downstream"] == [0, [[3]]]
    assert "lost         2026-10" in story["refused status"]["out"]


def test_each_edition_is_charged_once_and_has_its_slot(story):
    entries = story["entries"]
    assert [each["edition"] for each in entries] == ["2026-07", "2026-08", "2026-09", "2026-10"]
    assert all(each["planned"] for each in entries)
    assert [each["state"] for each in entries] == ["committed"] * 3 + ["kept"]


def test_the_numbers_of_a_plan_are_those_that_the_ledger_has(story):
    assert story["raised"]["code"] == story["synced again"]["code"] == 0, story["raised"]
    assert story["gate after"]["code"] == 0, story["gate after"]
    assert len({(each["epsilon"], each["delta"]) for each in story["entries"]}) == 1


def test_git_has_new_certificates_and_nothing_else(story):
    changed = {name for name, text in story["git after"].items() if text != story["git"].get(name)}
    assert changed == {"policy-engine.yaml"}
    assert [name.rpartition("/")[2] for name in story["certificates"]] == [
        f"2026-0{month}.certificate.json" for month in (7, 8, 9)
    ]
    assert story["certificate"].startswith("{\n  ")


def test_an_edition_is_shown_without_the_others(story):
    assert "add a line such as 'warehouses: {wh: {type: dbt, profile:" in story["not shown"]["err"]
    assert story["shown"]["code"] == 0, story["shown"]
    said = str(story["shown"]["out"])
    assert "orders_public_v1: 3 rows" in said
    assert "this is edition 2026-08" in said
    shown = sorted(tuple(line.split()) for line in said.splitlines()[2:5])
    of_it = [row[1:] for row in story["second"] if row[0] == "2026-08"]
    assert shown == [(store, f"{n:,}") for store, n in of_it]


def _refreshed(folder: Path) -> dict[str, object]:
    with ExitStack() as stack:
        shop = _shop(stack, "duckdb", folder, REFRESH)
        rows, told = [], []
        for day in (date(2026, 7, 20), date(2026, 7, 21), date(2026, 8, 3)):
            shop.until(day)
            told.append([each if isinstance(each, dict) else each.out for each in shop.night()])
            rows.append(shop.rows())
        return {
            "rows": rows,
            "told": told,
            "verified": shop.engine_says("dbt", "verify", "--target", "prod"),
            "status": shop.engine_says("dbt", "status", "--target", "prod"),
        }


@pytest.mark.evidence  # a story of its own: of editions that stay, the one above is told
def test_a_refresh_takes_the_place_of_the_last(made_once):
    story = made_once("refreshed", _refreshed)
    first, same, second = story["rows"]
    assert len(first) == len(second) == 3, story["told"]
    assert same == first
    assert "nothing is due" in story["told"][1][0]["out"]
    assert sum(row[-1] for row in second) > sum(row[-1] for row in first)
    assert story["verified"]["code"] == 0, story["verified"]
    assert "edition      2026-08, since 2026-08-03" in story["status"]["out"]


BOTH = """\
accounts:
  customers: {epsilon: 2.0, delta: 1.0e-6, each: year, plan: {orders: {editions: 12}}, rest: 0.5}
dbt: {release_targets: [prod, eu]}
"""


def _lagging(folder: Path) -> dict[str, object]:
    """Two targets: one has drawn the old year's last month, and in the other it is still due."""
    with ExitStack() as stack:
        dbt = dbt_of(NEWEST)
        shop = Shop(
            folder / "project", dbt, stack.enter_context(dbt.served()), "duckdb", str(folder)
        )
        shop.folder.mkdir()
        shop.write(POLICY.replace('from: "2026-07"', 'from: "2026-11"'), BOTH)
        shop.today = date(2026, 11, 1)
        shop.until(date(2026, 12, 7))
        shop.begin()

        def copied() -> None:
            """The other target has the same orders."""
            with duckdb.connect(f"{folder}/eu.duckdb") as other:
                other.execute(f"attach '{folder}/prod.duckdb' as prod (read_only)")
                other.execute("create or replace table orders as from prod.main.orders")

        def night(target: str) -> list[object]:
            return [each if isinstance(each, dict) else each.out for each in shop.night(target)]

        copied()
        story: dict[str, object] = {"first": [night(target) for target in ("prod", "eu")]}
        shop.until(date(2027, 1, 7))
        story["ahead"] = night("prod")
        # The new year has more to spend.
        (shop.folder / "policy-engine.yaml").write_text(BOTH.replace("epsilon: 2.0", "epsilon: 3"))
        limit = ("customers", "--epsilon", "3", "--delta", "1e-6", "--by", "Ada", "--why", "more")
        story["raised"] = shop.engine_says("ledger", "limit", *limit)
        sync = ("dbt", "sync", "--target", "prod")
        story["synced"] = shop.engine_says(*sync)
        copied()
        shop.until(date(2027, 2, 7))
        story["too early"] = shop.engine_says("dbt", "reserve", "--target", "prod")
        story["behind"] = night("eu")
        story["synced again"] = shop.engine_says(*sync)
        story["new"] = night("prod")
        story["entries"] = shop.entries()
        return story


@pytest.mark.evidence
def test_a_target_that_lags_the_window_is_drawn_by_the_numbers_of_its_window(made_once):
    story = made_once("editions-lagging", _lagging)
    for nights in (*story["first"], story["ahead"], story["behind"], story["new"]):
        assert [nights[0]["code"], nights[2]["code"]] == [0, 0], nights
    # What the lagging target lacks is of the old year, and so is the text of both till then.
    assert story["synced"]["out"].startswith("nothing to change"), story["synced"]
    told = story["too early"]
    assert told["code"] == 1 and "release first in the target whose edition is older" in told["err"]
    assert "changed models/orders_public_v1_draw.sql" in story["synced again"]["out"]
    drawn = [(each["edition"], each["windows"], each["planned"]) for each in story["entries"]]
    assert drawn == [
        ("2026-11", ["2026"], True), ("2026-11", ["2026"], False),
        ("2026-12", ["2026"], True), ("2026-12", ["2026"], False), ("2027-01", ["2027"], True),
    ]  # fmt: skip
    prices = [each["epsilon"] for each in story["entries"]]
    assert len({*prices[:4]}) == 1 and prices[4] > prices[0]
