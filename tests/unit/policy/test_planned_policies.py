"""`guarantee: {editions: n}` and `planned`: what an account gives a policy, and what it refuses."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.accounting.covering import covers
from policy_engine.accounting.noise_laws import deviation
from policy_engine.accounting.plans import certified, is_within
from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError
from policy_engine.kernel.certificate import certify
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.mechanisms.events import charged
from policy_engine.ledger.account import Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.pricing import Spent, fits
from policy_engine.policy import following
from policy_engine.policy.following import plan_of
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.policy.resolve import Policy, terms_of
from policy_engine.releasing.validation import check_policies, warnings_of

TABLE = Table(
    (Field("id", "BIGINT"), Field("sex", "VARCHAR"), Field("age", "INTEGER"),
     Field("pay", "INTEGER")),
    path="p.parquet",
)  # fmt: skip
ROW, ANY = "row", "{column: id, rows: any}"
ALL = "{column: id, rows: all}\ncontribution: {max_groups: 3}"
KEPT = "{sex: keep}"
MAPPED = "{sex: {map: {m: m, f: f}, other: none}, age: {bins: [18, 65], missing: unknown}}"
AGE = "{sex: keep, age: {bins: [18, 65]}}"
PAY = """measures:
  pay: {mean: pay, bounds: [0, 5000], round_to: 10}
  paid: {sum: pay, bounds: [0, 9]}"""
VISITS = """count: {rows: visits}
measures: {mean_pay: {mean: pay, per: row, bounds: [0, 5000], round_to: 10}}"""
MANY = "{column: id, rows: all}\ncontribution: {max_groups: 3, max_rows_per_group: 5}"
MECHANISMS = {
    "counts": (ROW, KEPT, ""),
    "of k": (ROW, KEPT, "k: 20\n"),
    "all rows": (ALL, KEPT, ""),
    "sums": (ANY, KEPT, PAY),
    "visits": (MANY, KEPT, VISITS),
    "roll-up": (ANY, AGE, f"rollup: {{to: [sex], share: 0.2}}\n{PAY}"),
    "marginals": (ANY, AGE, "marginals: [[age], [sex]]"),
    "public keys": (ROW, KEPT, "public_groups: {sex: [m, f]}"),
    "place": (ROW, KEPT, "noise: {distribution: negative_binomial}"),
    "place of k": (ROW, KEPT, "noise: {distribution: negative_binomial}\nk: 60"),
    "laplace": (ROW, KEPT, "noise: {distribution: truncated_laplace}"),
    "sample": (ROW, KEPT, "sample: {rate: auto}\nk: auto"),
    "native": (ROW, KEPT, "sample: {rate: auto, method: native}\nk: 30"),
    "at a rate": (ANY, KEPT, "sample: {rate: 0.05}\nk: auto"),
    "insertion": (ANY, MAPPED, "mechanism: ab_insertion"),
    "response": (ANY, "{age: {bins: [18]}}", "mechanism: randomised_response"),
    "responses": (ANY, MAPPED, "mechanism: randomised_response"),
}  # fmt: skip
PURE = {"insertion", "response", "responses"}


def write(folder: Path, stem: str, guarantee: str, kind: str, **more: str) -> Path:
    """A policy of one of the mechanisms."""
    unit, recode, keys = MECHANISMS[kind]
    shown = ", as: rows" if kind == "insertion" else ""
    lines = {
        "version": "1", "name": stem, "source": "{file: p.parquet}", "privacy_unit": unit,
        "recode": recode, "guarantee": guarantee, "account": "people",
        "release": f"{{file: out/{stem}.parquet{shown}}}", **more,
    }  # fmt: skip
    path = folder / f"{stem}.yaml"
    text = "\n".join(f"{key}: {value}" for key, value in lines.items() if value)
    path.write_text(f"{text}\n{keys}\n", "utf-8")
    return path


def project(folder: Path, account: str = "", **others: str) -> Path:
    """A project file with an account of (1, 10⁻⁶) for a year."""
    accounts = {"people": f"{{epsilon: 1.0, delta: 1.0e-6{account}}}", **others}
    lines = [f"  {name}: {said}" for name, said in accounts.items()]
    file = folder / "policy-engine.yaml"
    file.write_text("\n".join(["accounts:", *lines, ""]), "utf-8")
    return file


def certificate(policy: Policy):
    claim, query = compiled(policy, TABLE, dialect_named("duckdb"))
    return certify(query, claim, "duckdb", terms_of(policy, "rows", "1"))


def event(policy: Policy):
    """What an account is charged with for a release, and the ε and δ beside it."""
    found = certificate(policy)
    own, delta = charged(found.claim, found.promise)
    return own, found.promise.epsilon, delta


def problems(path: Path) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    text = [str(each).replace(f"{path.parent}/", "") for each in caught.value.problems]
    return [" ".join(each.split()) for each in text]


@pytest.mark.parametrize("notion", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", MECHANISMS)
def test_what_a_policy_is_charged_with_is_what_was_planned(tmp_path, kind, notion):
    """Of every mechanism: the kernel certifies it, and its claim's event is the slot's."""
    if kind in ("response", "responses") and notion == "add_remove":
        return
    project(tmp_path, f", plan: {{p: {{editions: 4}}}}, neighbours: {notion}")
    policy = load_policy(write(tmp_path, "p", "planned", kind))
    plan = plan_of(load_project(tmp_path / "policy-engine.yaml"), "people")
    [line] = plan.lines
    own, epsilon, delta = event(policy)
    assert covers(line.solved.event, own, notion)
    assert (own == line.solved.event) or kind in ("native", "at a rate")
    assert policy.guarantee.neighbours == notion and epsilon == policy.guarantee.epsilon
    assert is_within(((own, 4),), Decimal(1), Decimal("1e-6"), notion)
    assert delta <= Decimal("1e-6") and (kind in PURE) == (not delta)


@pytest.mark.parametrize("kind", ["counts", "sums", "sample", "insertion"])
@pytest.mark.parametrize("editions", [1, 5, 12])
def test_so_many_editions_fill_the_account(tmp_path, kind, editions):
    project(tmp_path)
    policy = load_policy(write(tmp_path, "p", f"{{editions: {editions}}}", kind))
    asked, limit = Asked(*event(policy)), Limit(Decimal(1), Decimal("1e-6"))
    state = Spent.none("add_remove")
    for _ in range(editions):
        assert fits(state, asked, limit)
        state = state.plus(asked, limit)
    assert not fits(state, asked, limit, 1 + editions // 10)


def test_the_law_is_that_of_so_many_editions(tmp_path):
    """For one the noise is truncated Laplace, for twelve Gaussian: `auto` is of all editions."""
    project(tmp_path)
    laws = [
        load_policy(write(tmp_path, "p", f"{{editions: {n}}}", "counts")).protection.law
        for n in (1, 12)
    ]
    assert laws == ["truncated_laplace", "discrete_gaussian"]


def test_a_changed_limit_is_another_policy(tmp_path):
    path = write(tmp_path, "p", "{editions: 12}", "counts")
    project(tmp_path)
    first = load_policy(path)
    assert load_policy(path).digest == first.digest
    project(tmp_path, ", rest: 0.5, plan: {other: {editions: 1}}")
    half = load_policy(path)
    (tmp_path / "policy-engine.yaml").write_text("accounts: {people: {epsilon: 2, delta: 1.0e-6}}")
    twice = load_policy(path)
    assert len({first.digest, half.digest, twice.digest}) == 3
    assert half.guarantee.epsilon < first.guarantee.epsilon < twice.guarantee.epsilon


def test_a_plan_gives_each_policy_its_part(tmp_path):
    """Of three policies, one of them in a folder of its own: one plan, whichever is asked for."""
    project(tmp_path, ", rest: 0.1, plan: {visits: {editions: 12, share: 3}, costs: {editions: 4,"
            " share: 2}, yearbook: {editions: 1}}")  # fmt: skip
    (tmp_path / "yearly").mkdir()
    (tmp_path / "broken.yaml").write_text("visits: [\n")
    (tmp_path / "other.yaml").write_text("name: visits\n")
    paths = [
        write(tmp_path, "visits", "planned", "counts"),
        write(tmp_path, "costs", "planned", "sums"),
        write(tmp_path / "yearly", "yearbook", "planned", "sample",
              source="{file: ../p.parquet}"),
    ]  # fmt: skip
    plan = plan_of(load_project(tmp_path / "policy-engine.yaml"), "people")
    assert plan.holds()
    for path, line in zip(paths, plan.lines, strict=True):
        policy = load_policy(path)
        assert event(policy)[0] == line.solved.event
        once = certified(line.solved.event, Decimal("1e-6"), "add_remove")
        assert (policy.guarantee.epsilon, policy.guarantee.delta) == (once.epsilon, once.delta)


def test_a_year_of_monthly_releases_and_a_yearbook(tmp_path):
    """The bar: of a year alone SD ≤ 16 and 83 people; with a yearbook and a rest in two seconds."""
    project(tmp_path, PLAN)
    path = write(tmp_path, "p", "planned", "counts")
    noise = load_policy(path).protection
    assert deviation(noise.table) <= 16 and noise.half(1) <= 83
    write(tmp_path, "yearbook", "planned", "counts")
    project(tmp_path, ", rest: 0.1, plan: {p: {editions: 12, share: 2}, yearbook: {editions: 1}}")
    start = time.process_time()
    policy = load_policy(path)
    assert time.process_time() - start < 2
    assert policy.follows.editions == 12 and policy.follows.planned


def test_what_does_not_change_the_noise_keeps_its_slot(tmp_path):
    """Another k, purpose or recode leaves each policy of a plan with the noise that it had."""
    project(tmp_path, ", plan: {p: {editions: 12, share: 3}, other: {editions: 3}}")
    path = write(tmp_path, "p", "planned", "counts")
    other = write(tmp_path, "other", "planned", "sums")
    found = load_policy(path), load_policy(other)
    changed = load_policy(write(tmp_path, "p", "planned", "of k", recode="{age: {bins: [18]}}"))
    again = load_policy(other)
    assert changed.follows == found[0].follows and again.follows == found[1].follows
    assert changed.digest != found[0].digest and again.digest == found[1].digest
    assert changed.protection == found[0].protection and changed.k == 20


@pytest.mark.parametrize(
    ("guarantee", "account", "told"),
    [
        ("{editions: 4}", "", "the later ones do not fit any more; write editions: 12 in"
         " guarantee"),
        ("planned", ", plan: {p: {editions: 4}}", "the later ones are not planned, and only the"
        " rest can pay for them; write editions:"
         " 12 in the plan of the account before a window's first draw, which records it"),
        ("{editions: 12}", "", None),
        ("planned", ", plan: {p: {editions: 12}}", None),
    ],
)  # fmt: skip
def test_fewer_editions_than_are_due_are_told(tmp_path, guarantee, account, told):
    project(tmp_path, f", each: year{account}")
    path = write(tmp_path, "p", guarantee, "counts", refresh="{every: month}",
                 release="{file: 'out/p-{edition}.parquet'}")  # fmt: skip
    found = [" ".join(str(each).split()) for each in warnings_of(load_policy(path))]
    expected = f"{path}:6:1: guarantee is of 4 editions, and the policy is due 12 times in a window"
    expected = f"{expected} of account 'people': {told}"
    assert found == ([] if told is None else [expected])


_RECORDED = "in the plan of the account before a window's first draw, which records it"


@pytest.mark.parametrize("window", ["", ", each: year"])
def test_editions_that_no_calendar_makes_due_are_told(tmp_path, window):
    """It was drawn once and stood for ever, with the noise of all that the plan has of it."""
    project(tmp_path, f"{window}, plan: {{p: {{editions: 3}}}}")
    path = write(tmp_path, "p", "planned", "counts")
    policy = load_policy(path)
    message = (
        f"{path}:6:1: guarantee is of 3 editions, and the policy has no calendar by which later"
        " ones are due: by itself it is drawn once, with the noise of 3; write refresh: {every:"
        " month} for the whole table anew, or period for a month's own rows; or editions: 1"
        f" {_RECORDED}"
    )
    command = f"policy-engine release {path} --edition NAME --replace"
    told = [" ".join(str(each).split()) for each in warnings_of(policy)]
    assert told == [f"{message}; or draw each by hand, as '{command}' does"]
    # Whoever names an edition knows it; a search, and dbt, draw none by that command.
    assert warnings_of(policy.in_edition(Edition("second", is_asked=True))) == ()
    of_dbt = replace(policy, source=replace(policy.source, path=None, relation="ref('people')"))
    for other in (of_dbt, replace(policy, is_searched=True)):
        assert [" ".join(str(each).split()) for each in warnings_of(other)] == [message]


@pytest.mark.parametrize(
    ("guarantee", "account", "more"),
    [
        ("planned", ", each: year, plan: {p: {editions: 1}}", {}),
        ("{editions: 12}", ", each: year", {}),  # any release of the account may be one of them
        ("planned", ", plan: {p: {editions: 3}}", {"refresh": "{every: year}"}),
        ("{editions: 12}", ", each: year", {"refresh": "{every: quarter}"}),
    ],
)
def test_editions_that_can_all_be_drawn_are_not_warned_of(tmp_path, guarantee, account, more):
    project(tmp_path, account)
    assert warnings_of(load_policy(write(tmp_path, "p", guarantee, "counts", **more))) == ()


@pytest.mark.parametrize(("every", "due"), [("quarter", "4 times"), ("year", "once")])
def test_more_editions_than_are_due_are_told(tmp_path, every, due):
    project(tmp_path, ", each: year, plan: {p: {editions: 12}}")
    path = write(tmp_path, "p", "planned", "counts", refresh=f"{{every: {every}}}")
    [told] = [" ".join(str(each).split()) for each in warnings_of(load_policy(path))]
    assert told == (
        f"{path}:6:1: guarantee is of 12 editions, and the policy is due {due} in a window of"
        " account 'people': each has the noise of 12; write editions:"
        f" {due[0].replace('o', '1')} {_RECORDED}"
    )


def test_a_plan_of_more_than_the_periods_has_room_for_what_is_drawn_anew(tmp_path):
    file = project(tmp_path, ", each: year, plan: {p: {editions: 20}}")
    anew = {
        "period": "{column: day, every: month, from: '2026-01'}",
        "revise": "{after: 90d}",
        "release": "{file: 'out/p-{edition}.parquet'}",
    }
    path = write(tmp_path, "p", "planned", "counts", **anew)
    [line] = plan_of(load_project(file), "people").lines
    assert (line.editions, line.revisions) == (20, 8)
    [told] = [" ".join(str(each).split()) for each in warnings_of(load_policy(path))]
    assert "guarantee is of 20 editions, and the policy is due 24 times in a window" in told


@pytest.mark.parametrize("of", ["", ", of: day"])
def test_a_year_of_rows_has_a_slot_for_each_month_too(tmp_path, of):
    """Where a year is of rows, one month alone had a slot for its first draw."""
    file = project(tmp_path, f", each: year{of}, plan: {{p: {{editions: 24}}}}")
    anew = {
        "period": "{column: day, every: month, from: '2026-01'}",
        "revise": "{after: 90d}",
        "release": "{file: 'out/p-{edition}.parquet'}",
    }
    path = write(tmp_path, "p", "planned", "counts", **anew)
    [line] = plan_of(load_project(file), "people").lines
    assert (line.editions, line.revisions) == (24, 12)
    assert warnings_of(load_policy(path)) == ()


def test_without_a_plan_there_is_none(tmp_path):
    found = load_project(project(tmp_path, open="{}"))
    assert [plan_of(found, name) for name in ("people", "open", "nobody")] == [None] * 3


PLAN = ", plan: {p: {editions: 12}}"
WITH = "policy-engine.yaml"


@pytest.mark.parametrize(
    ("account", "guarantee", "more", "expected"),
    [
        ("", "planned", {}, [
            f"p.yaml:6:12: guarantee is planned, and account 'people' has no plan, in {WITH}; add"
            " plan: {p: {editions: 12}} to the account there before a window's first draw, or"
            " write epsilon and delta"]),
        (", plan: {visits: {editions: 1}}", "planned", {"name": "visit"}, [
            "p.yaml:6:12: guarantee is planned, and the plan of account 'people' names visits, in"
            f" {WITH}, where no policy is called visits now; if that was this policy's name, write"
            " name: visits again: that costs nothing, and what it has released is its own again; or"
            f" add plan: {{visit: {{editions: 12}}}}"
            " to the account there before a window's first draw, or write epsilon and delta"]),
        (", plan: {p: {editions: 1}, visits: {editions: 1}}", "planned", {}, [
            f"{WITH}:2:66: accounts.people.plan.visits is the name of no policy of the project; add"
            " it, with guarantee: planned; or, if its policy was renamed, write its name again:"
            " that costs nothing, and what it has released is its own again; or take it out of the"
            " plan before a window's first draw"]),
        (PLAN, "{editions: 12}", {}, [
            "p.yaml:6:23: guarantee.editions fills what the plan of account 'people' leaves, and"
            f" that is nothing; write rest: 0.1 beside plan in {WITH}, or write epsilon and"
            " delta"]),
        (PLAN, "planned", {"account": "others"}, [
            f"p.yaml:6:12: guarantee follows from the limit of an account, and {WITH} has none for"
            " 'others'; write accounts: {others: {epsilon: 1.0, delta: 1.0e-6}} there, or write"
            " epsilon and delta"]),
        (PLAN, "planned", {"account": "", "source": "{table: people}"}, [
            "p.yaml:6:12: guarantee follows from the limit of an account, and the policy names"
            f" none: its source is a table; add account: NAME, one of {WITH}, or write epsilon and"
            " delta"]),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_told_where_it_is(tmp_path, account, guarantee, more, expected):
    project(tmp_path, account)
    assert problems(write(tmp_path, "p", guarantee, "counts", **more)) == expected


@pytest.mark.parametrize(
    ("guarantee", "more", "expected"),
    [
        ("{epsilon: 1, delta: 1.0e-6}", {}, [
            f"{WITH}:2:66: accounts.people.plan.other is planned, and its policy other.yaml has"
            " another guarantee; write guarantee: planned there, or take it out of the plan"
            " before a window's first draw"]),
        ("planned", {"account": "'elsewhere'"}, [
            f"{WITH}:2:66: accounts.people.plan.other is planned here, and its policy other.yaml"
            " pays from account 'elsewhere'; write account: people there, or take it out of the"
            " plan before a window's first draw"]),
        ("planned", {"account": "", "source": "{table: t}"}, [
            f"{WITH}:2:66: accounts.people.plan.other is planned here, and its policy other.yaml"
            " pays from its source; write account: people there, or take it out of the plan"
            " before a window's first draw"]),
        ("planned", {"recode": "{age: {bins: [18]}}", "mechanism": "randomised_response",
                     "privacy_unit": ANY}, [
            f"{WITH}:2:66: accounts.people.plan.other cannot be planned: neighbours must be"
            " replace_one for randomised response, found add_remove; change other.yaml, or take"
            " it out of the plan before a window's first draw"]),
        ("planned", {"sample": "{rate: 0.1}", "k": "20"}, [
            f"{WITH}:2:66: accounts.people.plan.other cannot be planned: rate must be open where k"
            " is given: one of them follows, found 0.1; change other.yaml, or take it out of the"
            " plan before a window's first draw"]),
        ("planned", {"name": "p"}, [
            f"{WITH}:2:48: accounts.people.plan.p is the name of two policies, p.yaml and"
            " other.yaml; give one of them another name, or move it out of the project"]),
        ("planned", {"recode": "{age: keep, age: keep}"}, [
            "other.yaml:5:21: the key 'age' is written twice, first in line 5; remove one of"
            " them",
            f"{WITH}:2:66: accounts.people.plan.other is the policy of other.yaml, which is"
            " refused; mend it, or take it out of the plan before a window's first draw"]),
    ],
)  # fmt: skip
def test_what_another_policy_of_a_plan_lacks_is_told(tmp_path, guarantee, more, expected):
    project(tmp_path, ", plan: {p: {editions: 1}, other: {editions: 1}}", elsewhere="{}")
    path = write(tmp_path, "p", "planned", "counts")
    write(tmp_path, "other", guarantee, "counts", **more)
    found = problems(path)
    assert found == expected, found


def test_a_starter_beside_the_policy_of_its_name_stops_no_policy_of_the_plan(tmp_path):
    """What nobody has filled in is no policy, and need not be understood."""
    project(tmp_path, ", plan: {p: {editions: 1}}")
    path = write(tmp_path, "p", "planned", "counts")
    starter = path.read_text("utf-8").replace("recode: {sex: keep}", "recode:")
    assert starter != path.read_text("utf-8")
    (tmp_path / "policy.yaml").write_text(starter, "utf-8")
    assert load_policy(path).name == "p"


def test_a_draft_beside_another_policy_of_the_plan_stops_none(tmp_path):
    project(tmp_path, ", plan: {p: {editions: 1}, other: {editions: 1}}")
    path, other = (write(tmp_path, name, "planned", "counts") for name in ("p", "other"))
    draft = other.read_text("utf-8").replace("recode:", "recodes:")
    (tmp_path / "a_draft.yaml").write_text(draft, "utf-8")
    assert load_policy(path).name == "p"
    assert load_policy(other).name == "other"


def test_what_nothing_is_weak_enough_for_is_told(tmp_path):
    file = project(tmp_path, PLAN)
    file.write_text(file.read_text().replace("1.0e-6", "1.0e-19"))
    [planned] = problems(write(tmp_path, "p", "planned", "counts"))
    assert planned.startswith(f"{WITH}:2:42: accounts.people.plan is met by nothing: epsilon must")
    assert planned.endswith("; plan fewer editions, or raise epsilon or delta of the account")
    file.write_text("accounts: {people: {epsilon: 1.0, delta: 1.0e-19}}")
    [editions] = problems(write(tmp_path, "p", "{editions: 12}", "counts"))
    assert editions.startswith(
        "p.yaml:6:23: guarantee.editions is met by nothing that account 'people' has room for:"
    )
    assert editions.endswith(f"write fewer, or raise epsilon or delta of the account in {WITH}")


def test_without_a_project_there_is_no_account(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert problems(write(tmp_path, "p", "planned", "counts")) == [
        "p.yaml:6:12: guarantee follows from the limit of an account, and there is no project file;"
        f" write {WITH} with accounts: {{people: {{epsilon: 1.0, delta: 1.0e-6}}}}, or write"
        " epsilon and delta"
    ]


def test_a_file_pays_for_itself(tmp_path):
    """Its account is its path, as it is for every other guarantee."""
    (tmp_path / WITH).write_text(
        textwrap.dedent("""\
        accounts:
          p.parquet: {epsilon: 1.0, delta: 1.0e-6}
        """)
    )
    policy = load_policy(write(tmp_path, "p", "{editions: 5}", "counts", account=""))
    assert policy.guarantee.delta == Decimal("1e-6") and policy.guarantee.epsilon < 1


def test_a_rate_that_leaves_no_room_for_the_engine_is_refused(tmp_path):
    file = project(tmp_path)
    file.write_text("accounts: {people: {epsilon: 1.0e-9, delta: 1.0e-17}}")
    path = write(tmp_path, "p", "{editions: 12}", "native")
    [found] = problems(path)
    assert "guarantee" in found or "k is auto" in found, found


@pytest.mark.parametrize("visits", ["counts", pytest.param("roll-up", marks=pytest.mark.evidence)])
def test_the_numbers_are_those_of_every_machine(tmp_path, monkeypatch, visits):
    """Machines differ in the last bit of e^x, ln x and what is made of them: it is in no number."""
    import math
    import random

    import numpy as np

    from policy_engine.accounting import plans

    project(tmp_path, ", rest: 0.1, plan: {visits: {editions: 12, share: 3},"
            " answers: {editions: 3}, sample: {editions: 2}, laplace: {editions: 2}}")  # fmt: skip
    for name, kind in (("visits", visits), ("answers", "insertion"), ("sample", "sample"),
                       ("laplace", "laplace")):  # fmt: skip
        write(tmp_path, name, "planned", kind)
    file = load_project(tmp_path / WITH)
    first = plan_of(file, "people")
    drawn = random.Random(1)

    def shaken(plain):
        return lambda *args: plain(*args) * (1 + drawn.choice((-1, 1)) * 2.0**-52)

    for name in ("exp", "log", "expm1", "tanh", "erfc"):
        monkeypatch.setattr(math, name, shaken(getattr(math, name)))
    for name in ("exp", "log", "expm1", "log1p"):
        monkeypatch.setattr(np, name, shaken(getattr(np, name)))
    plans._best.cache_clear()
    again = plan_of(file, "people")
    plans._best.cache_clear()
    assert replace(again, lines=()) == replace(first, lines=())
    assert [each.solved for each in again.lines] == [each.solved for each in first.lines]


def test_many_planned_policies_are_read_once_for_all_of_them(tmp_path, monkeypatch):
    """Each solves the plan of all: n of them would read n² files."""
    monkeypatch.chdir(tmp_path)
    names = [f"p{number}" for number in range(6)]
    plan = ", ".join(f"{name}: {{editions: 1}}" for name in names)
    project(tmp_path, f", plan: {{{plan}}}")
    paths = [write(tmp_path, name, "planned", "counts") for name in names]
    read, real = Counter(), following.read_text

    def counted(file, kind):
        read[file] += 1
        return real(file, kind)

    monkeypatch.setattr(following, "read_text", counted)
    found = check_policies(paths)
    assert [each.problems for each in found] == [()] * 6
    assert set(read.values()) == {1}
    load_policy(paths[0])
    assert read[paths[1]] == 2  # by itself it is read as it is by then


@pytest.mark.parametrize(
    "kinds",
    [
        ("marginals", "place", "native"),
        pytest.param(("counts", "visits", "sample"), marks=pytest.mark.evidence),
        pytest.param(("roll-up", "public keys", "visits"), marks=pytest.mark.evidence),
    ],
)
def test_a_plan_of_several_mechanisms_is_within_its_limit_and_each_takes_its_slot(tmp_path, kinds):
    names = [f"p{number}" for number in range(len(kinds))]
    plan = ", ".join(f"{name}: {{editions: {n}, share: {n}}}" for n, name in enumerate(names, 1))
    file = project(tmp_path, f", plan: {{{plan}}}, rest: 0.1")
    paths = [
        write(tmp_path, name, "planned", kind) for name, kind in zip(names, kinds, strict=True)
    ]
    recorded = Planned.of(plan_of(load_project(file), "people"), "")
    assert recorded.holds()
    for path, name in zip(paths, names, strict=True):
        own, epsilon, delta = event(load_policy(path))
        numbers = (epsilon, delta, "add_remove")
        charge = Charge("people", *numbers, name, "policy", "certificate", event=own)
        assert recorded.why_none(charge, ()) == ""
