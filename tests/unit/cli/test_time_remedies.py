"""Windows, plans and editions: each remedy that the command line names works when followed."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import time_machine

from policy_engine.errors import BudgetExceeded
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.release import release

_LATER = datetime(2099, 1, 1, tzinfo=UTC)
POLICY = """\
version: 1
name: {name}
source: {{file: people.parquet}}
privacy_unit: row
recode: {{sex: keep}}
guarantee: {guarantee}
release: {{file: out/{name}.parquet}}
account: people
{more}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A policy of a project with one account, as it is written now."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": [*range(600)], "sex": ["m", "f"] * 300}), "people.parquet")

    def made(guarantee: str, account: str = "", name: str = "visits", more: str = "") -> str:
        path = Path(f"{name}.yaml")
        path.write_text(POLICY.format(name=name, guarantee=guarantee, more=more))
        if account:
            limited(account)
        return str(path)

    return made


def limited(account: str) -> None:
    """Write what the project file says of the account; what pins the ledger stays."""
    file = Path("policy-engine.yaml")
    kept = file.read_text().split("accounts")[0] if file.exists() else ""
    file.write_text(f"{kept}accounts: {{people: {{{account}}}}}\n")


def followed(cli, refusal: str) -> tuple[str, str]:
    """Run the command that a refusal names; the numbers of the limit that it sets."""
    [command] = re.findall(r"'policy-engine (ledger limit [^']*)'", refusal)
    done = cli(*shlex.split(command.replace("NAME", "me").replace("TEXT", "more")))
    assert done.code == 0, done.err
    words = shlex.split(command)
    return words[words.index("--epsilon") + 1], words[words.index("--delta") + 1]


def refused(cli, *words) -> str:
    done = cli("release", *words)
    assert done.code == 1, done.out + done.err
    return done.err


def again(cli, policy, *, edition="other"):
    return cli("release", policy, "--edition", edition, "--replace")


@pytest.mark.parametrize("window", ["", ", each: year"])
def test_a_limit_is_raised_for_what_has_numbers_of_its_own(cli, write, window):
    policy = write("{epsilon: 1.0, delta: 1.0e-6}", f"epsilon: 1.0, delta: 1.0e-6{window}")
    assert cli("release", policy).code == 0
    said = refused(cli, policy, "--edition", "other", "--replace")
    epsilon, delta = followed(cli, said)
    limited(f"epsilon: {epsilon}, delta: {delta}{window}")
    assert again(cli, policy).code == 0
    assert ("wait for the window after 20" in said) is bool(window)


@pytest.mark.parametrize("window", ["", ", each: year"])
def test_what_follows_from_a_limit_is_not_told_to_raise_it_alone(cli, write, window):
    """With the limit it would grow, and be refused again: numbers of its own do not."""
    limit = f"epsilon: 1.0, delta: 1.0e-6{window}"
    policy = write("{editions: 2}", limit)
    for edition in ("a", "b"):
        assert again(cli, policy, edition=edition).code == 0
    said = refused(cli, policy, "--edition", "c", "--replace")
    own = re.search(r"write guarantee: (\{.*?\}), which does not grow with the limit, and", said)
    epsilon, delta = followed(cli, said)
    limited(f"epsilon: {epsilon}, delta: {delta}{window}")
    assert "cannot pay" in refused(cli, policy, "--edition", "c", "--replace")
    write(own[1])
    assert again(cli, policy, edition="c").code == 0


def test_what_follows_can_be_written_with_what_is_left(cli, write):
    policy = write("{epsilon: 0.2, delta: 1.0e-8}", "epsilon: 1.0, delta: 1.0e-6, each: year")
    assert cli("release", policy).code == 0
    third = write("{editions: 1}", name="other")
    said = refused(cli, third)
    fits = re.search(r"it would fit with guarantee: (\{.*?\}); or", said)
    third = write(fits[1], name="other")
    assert cli("release", third).code == 0


def test_what_is_not_planned_fits_when_the_rest_is_written_larger(cli, write):
    """Nothing was drawn by the plan yet: it can still be another one."""
    plan = "epsilon: 1.0, delta: 1.0e-6, each: year, plan: {visits: {editions: 3}}"
    planned = write("planned", f"{plan}, rest: 0.1")
    other = write("{epsilon: 0.3, delta: 1.0e-7}", name="other")
    said = refused(cli, other)
    rest = re.search(r"write (rest: 0\.\d+) beside the plan in policy-engine.yaml:", said)[1]
    limited(f"{plan}, {rest}")
    assert cli("release", other).code == 0
    assert cli("release", planned).code == 0


def test_a_limit_is_raised_and_its_plan_stays(cli, write):
    plan = "each: year, plan: {visits: {editions: 3}}, rest: 0.1"
    planned = write("planned", f"epsilon: 1.0, delta: 1.0e-6, {plan}")
    assert again(cli, planned, edition="a").code == 0
    other = write("{epsilon: 0.3, delta: 1.0e-7}", name="other")
    said = refused(cli, other)
    assert "wait for" not in said  # the rest of the next window is 0.1 too
    epsilon, delta = followed(cli, said)
    limited(f"epsilon: {epsilon}, delta: {delta}, {plan}")
    assert cli("release", other).code == 0
    left = cli("ledger", "show", "--format", "json").document["accounts"][0]["left"]
    assert left["planned"] == {"visits": 2}
    # The policy has other numbers by the project file now, and those of the record are the ones
    # of the certificate: its page says that it is of this policy.
    [certificate] = Path().glob("**/visits*.certificate.json")
    page = cli("report", str(certificate), "--policy", planned, "--format", "json")
    assert page.document["band"]["colour"] != "red", page.out


def test_the_limit_of_all_windows_is_raised_where_it_is_written(cli, write):
    limit = "epsilon: {}, delta: {}, each: month, ever: {{epsilon: {}, delta: {}}}"
    window = "1.0", "1.0e-6"
    policy = write("{epsilon: 0.4, delta: 1.0e-7}", limit.format(*window, "1.0", "1.0e-6"))
    assert cli("release", policy).code == 0
    for edition in "abc":
        done = again(cli, policy, edition=edition)
        if done.code:
            break
    said = re.search(r"'ever' to ε (\S+), δ (\S+) in policy-engine.yaml:\d+, and run", done.err)
    [command] = re.findall(r"--epsilon (\S+) --delta (\S+)", done.err)
    limited(limit.format(*command, *said.groups()))
    followed(cli, done.err)
    assert again(cli, policy, edition=edition).code == 0


def test_a_plan_that_has_ended_is_planned_anew_with_the_rest_that_is_told(cli, write):
    """The limit was lowered below what was planned, and raised again: all of the plan counts."""
    plan = "each: year, plan: {visits: {editions: 3}}, rest: 0.1"
    planned = write("planned", f"epsilon: 1.0, delta: 1.0e-6, {plan}")
    assert again(cli, planned, edition="a").code == 0
    for epsilon in ("0.5", "3"):
        more = ("--epsilon", epsilon, "--delta", "4e-6", "--by", "me", "--why", "else")
        assert cli("ledger", "limit", "people", *more).code == 0
    limited(f"epsilon: 3, delta: 4.0e-6, {plan}")
    said = refused(cli, planned, "--edition", "b", "--replace")
    rest = re.search(r"write (rest: 0\.\d+) beside the plan, or more", said)[1]
    limited(f"epsilon: 3, delta: 4.0e-6, {plan.replace('rest: 0.1', rest)}")
    assert again(cli, planned, edition="b").code == 0


def test_an_ended_plan_can_be_left_out(cli, write):
    plan = "each: year, plan: {visits: {editions: 3}}, rest: 0.1"
    planned = write("planned", f"epsilon: 1.0, delta: 1.0e-6, {plan}")
    assert again(cli, planned, edition="a").code == 0
    for epsilon in ("0.5", "1.5"):
        more = ("--epsilon", epsilon, "--delta", "3e-6", "--by", "me", "--why", "else")
        assert cli("ledger", "limit", "people", *more).code == 0
    limited(f"epsilon: 1.5, delta: 3.0e-6, {plan}")
    said = refused(cli, planned, "--edition", "b", "--replace")
    assert "or take the plan out until a window in which nothing counts yet" in said
    limited("epsilon: 1.5, delta: 3.0e-6, each: year")
    planned = write("{epsilon: 0.2, delta: 1.0e-8}")
    assert again(cli, planned, edition="b").code == 0


@pytest.mark.parametrize(
    ("guarantee", "more", "law"),
    [
        ("{edition: 12}", "", "guarantee.edition is an unknown key; did you mean 'editions'?"),
        ("{edition: 12, epsilon: 1}", "", "write guarantee: {editions: 12}, without epsilon and"),
        ("{planned: 12}", "", "guarantee.planned is an unknown key; write guarantee: planned, and"),
        ("plan", "", "{editions: …}, planned or none, found 'plan'; write planned"),
        ("many", "", "or {editions: 12} of an account's limit"),
        ("{editions: 3}", "every: month", "every is an unknown key; write refresh: {every: month}"),
        ("{editions: 3}", "schedule: month", "write refresh: {every: month} for the whole table"),
    ],
)
def test_what_people_mean_is_told(cli, write, guarantee, more, law):
    policy = write(guarantee, "epsilon: 1.0, delta: 1.0e-6", more=more)
    done = cli("validate", policy)
    assert (done.code, law in done.out) == (1, True), done.out


_PERIOD = 'period: {column: day, every: month, from: "2026-01"}'
_OF = "epsilon: 1.0, delta: 1.0e-6, each: month, of: {}"
_PLAN = "epsilon: 1.0, delta: 1.0e-6, each: year, rest: 0.5, plan: {{{}: {{editions: 2}}}}"


@pytest.mark.parametrize(
    ("account", "more", "law"),
    [
        (_OF.format("day"), "", "and it has no period: what it shows is of all periods at once"),
        (_OF.format("day"), "refresh: {every: month}", "and it has no period"),
        (_OF.format("other"), _PERIOD, "and its period is by day; add period: {column: other"),
        (_PLAN.format("q"), "", "plan.q is the name of no policy of the project"),
        (f"{_PLAN.format('q')}, neighbours: replace_one", "", "the plan of account 'people' is of"),
    ],
)
def test_what_plan_refuses_validate_refuses(cli, write, account, more, law):
    days = {"id": [*range(600)], "sex": ["m", "f"] * 300, "day": [date(2026, 1, 1)] * 600}
    pq.write_table(pa.table(days), "people.parquet")
    policy = write("{epsilon: 0.2, delta: 1.0e-7}", account, more=more)
    if "replace_one" in account:
        write("planned", name="q")
    if more:
        text = Path(policy).read_text().replace("out/visits.parquet", '"out/{edition}.parquet"')
        Path(policy).write_text(text)
    checked, planned = cli("validate", policy), cli("plan", policy)
    assert (checked.code, law in checked.out) == (1, True), checked.out
    assert (planned.code, law in planned.err) == (1, True), planned.err


def test_an_account_does_not_suggest_itself(cli, write):
    write("{editions: 3}", "epsilon: 1.0, delta: 1.0e-6")
    Path("visits.yaml").write_text(Path("visits.yaml").read_text().replace("people\n", "poeple\n"))
    assert "did you mean the account 'people'? or write" in cli("validate", "visits.yaml").out


def test_a_starter_of_a_table_with_dates_has_a_period_and_a_name_of_its_own(cli, write):
    """What is planned under the table's name is another policy; uncommented, it is due."""
    days = {"id": [*range(600)], "sex": ["m", "f"] * 300, "day": [date(2026, 1, 1)] * 600}
    pq.write_table(pa.table(days), "visits.parquet")
    write("planned", "epsilon: 1.0, delta: 1.0e-6, each: year, plan: {visits: {editions: 3}}, rest:"
          " 0.5")  # fmt: skip
    assert cli("init", "visits.parquet", "--output", "mine.yaml").code == 0
    text = Path("mine.yaml").read_text()
    assert "\nname: visits_2\n" in text
    [period] = re.findall(r"^# (period: \{column: day, every: month, from: .*?\})", text, re.M)
    [file] = re.findall(r'^# with it, write below: (file: ".*")$', text, re.M)
    assert f'from: "{date.today():%Y-%m}"' in period  # nothing is due but what is to come
    text = text.replace(f"# {period}", period).replace("file: out/visits_2.parquet", file)
    text = text.replace("# privacy_unit: row", "privacy_unit: row")
    Path("mine.yaml").write_text(text.replace("  # sex: ", "  sex: "))
    assert cli("validate", "mine.yaml", "visits.yaml").code == 0, cli("validate", "mine.yaml").out
    assert cli("plan", "mine.yaml", "--format", "json").document["edition"]


@pytest.mark.parametrize("window", ["", ", each: year", ", each: year, plan: {q: {editions: 2}}"])
def test_windows_are_no_remedy_of_what_fits_into_none(cli, write, window):
    """'each: year' was named, and after it the wait for a window, for more than one has at all."""
    write("planned" if "plan" in window else "{epsilon: 0.1, delta: 1.0e-7}", name="q")
    policy = write("{epsilon: 3.0, delta: 1.0e-6}", f"epsilon: 1.0, delta: 1.0e-6{window}")
    said = refused(cli, policy)
    assert ("each: year" in said, "wait for" in said) == (False, False), said
    if not window:
        epsilon, delta = followed(cli, said)
        limited(f"epsilon: {epsilon}, delta: {delta}")
        assert cli("release", policy).code == 0


def test_a_window_that_begins_pays_for_what_it_is_said_to_pay(cli, write):
    """What fits into an empty window: 'each: year' is named, then the wait, and then it fits."""
    limit = "epsilon: 1.0, delta: 1.0e-6"
    policy = write("{epsilon: 0.9, delta: 9.0e-7}", limit)
    assert cli("release", policy).code == 0
    assert "or to write 'each: year' beside it" in refused(cli, policy, "--revise", "--replace")
    limited(f"{limit}, each: year")
    more = ("--epsilon", "1", "--delta", "1e-6", "--by", "me", "--why", "years")
    assert cli("ledger", "limit", "people", *more).code == 0
    assert "wait for the window after " in refused(cli, policy, "--revise", "--replace")
    later = release(load_policy(policy), revise=True, replace=True, clock=lambda: _LATER)
    assert later.outcome == "released"


def test_a_window_that_begins_has_a_slot_for_what_is_planned(cli, write):
    policy = write("planned", "epsilon: 1.0, delta: 1.0e-6, each: year, plan: {visits: {editions:"
                   " 1}}, rest: 0.1")  # fmt: skip
    assert cli("release", policy).code == 0
    assert "wait for the window after 20" in refused(cli, policy, "--revise", "--replace")
    later = release(load_policy(policy), revise=True, replace=True, clock=lambda: _LATER)
    assert later.outcome == "released"


def test_a_window_is_said_to_begin_once_something_is_charged_to_it(cli, write):
    """It was said before a refusal, and nothing had begun."""
    limit = "epsilon: 1.0, delta: 1.0e-6, each: year"
    policy = write("{epsilon: 0.9, delta: 9.0e-7}", limit)
    assert cli("release", policy).code == 0

    def told(guarantee: str) -> list[str]:
        lines: list[str] = []
        found = load_policy(write(guarantee))
        with suppress(BudgetExceeded):
            release(found, replace=True, say=lines.append, clock=lambda: _LATER)
        return [line for line in lines if "begins for account" in line]

    assert told("{epsilon: 3.0, delta: 1.0e-6}") == []
    assert len(told("{epsilon: 0.5, delta: 9.0e-7}")) == 1


def test_a_planned_policy_that_was_renamed_gets_its_name_back(cli, write):
    """It was told to be added to a plan that is recorded, and was refused for doing so."""
    plan = "epsilon: 1.0, delta: 1.0e-6, each: year, rest: 0.1, plan: {{{}}}"
    first = "visits: {editions: 3}"
    path = Path(write("planned", plan.format(first)))
    assert cli("release", path).code == 0
    text = path.read_text()
    path.write_text(text.replace("name: visits", "name: stays"))
    said = refused(cli, path)
    assert "add plan: {stays: {editions: 12}} to the account there before a window's first" in said
    [name] = re.findall(
        r"if that was this policy's name, write name: (\S+) again: that costs", said
    )
    limited(plan.format("stays: {editions: 3}"))
    said = cli("release", path, "--replace").err
    [recorded] = re.findall(r"Put it back as it was, plan: \{(.*)\}, rest: 0\.1, of ε 1, δ", said)
    assert recorded == first
    limited(plan.format(recorded))
    path.write_text(text.replace("name: visits", f"name: {name}"))
    done = cli("release", path)
    assert (done.code, "nothing was charged" in done.out) == (0, True), done.err


# In December the next edition is another year's.
@time_machine.travel(datetime(2026, 5, 10, tzinfo=UTC))
def test_a_plan_with_too_few_editions_is_mended_when_it_is_said(cli, write):
    """'write editions: 24' was said in a window whose plan was recorded, and refused there."""
    plan = "epsilon: 1.0, delta: 1.0e-6, each: year, rest: 0.1, plan: {{visits: {{editions: {}}}}}"
    limit, more = plan.format(2), "refresh: {every: month}"
    path = Path(write("planned", limit, more=more))
    path.write_text(path.read_text().replace("out/visits.parquet", '"out/{edition}.parquet"'))
    said = cli("plan", path).err
    told = r"write editions: (\d+) in the plan of the account before a window's first draw, which"
    assert re.search(told, said), said
    [number] = re.findall(told, said)
    limited(plan.format(number))
    assert cli("release", path).code == 0 and "write editions" not in cli("plan", path).err
    limited(limit)
    assert "Put it back as it was, plan: {visits: {editions: 12}}" in cli("plan", path).out
