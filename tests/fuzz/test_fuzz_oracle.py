"""The oracles of the fuzz target can fail: each unsound shape is caught, one by one.

A kernel that is blind to one construct is played by proving the text with that construct taken
out. The text itself then runs, and must be caught; the text that was proved must not be.
"""
# ruff: noqa: E501  # tables and texts of SQL, one a line, are read better whole

import fuzz_check
import pytest
from fuzz_check import SCHEMAS, WORLDS, check
from fuzz_minimise import minimised
from fuzz_native import native_fault
from fuzz_oracle import judge
from fuzz_policy import check_policy_text, files
from fuzz_world import world

from policy_engine.verify.proof import prove

KEYED = "sha256(? || ':u:' || cast(id as varchar)) < 'c000'"
PERSON = "sha256(? || ':u:' || cast(person_id as varchar)) < 'c000'"
ONE = f"select * from (select *, row_number() over (partition by person_id order by day) as rn from visits where {PERSON}) where rn = 1"
CROWD = "(select *, count(*) over (partition by ward) % 2 as crowd from visits)"
TAIL = "group by all having count(*) >= 3"
PLAIN = f"select sex, count(*) as n from people where {KEYED} {TAIL}"
# Fine groups, of which some have fewer than three rows.
FINE = f"select sex, race, zip, age, hours, count(*) as n from people where {KEYED} {TAIL}"

# Name: the text, what the blind kernel reads instead of a part of it, and what is caught.
UNSOUND = {
    "distinct rows": (
        f"select sex, count(*) as n from (select distinct sex, race, age from people where {KEYED}) {TAIL}",
        ("distinct ", ""),
        "instead of",
    ),
    "a limit of the release": (f"{PLAIN} order by n desc limit 1", (" limit 1", ""), "instead of"),
    "a limit of the source": (
        f"select sex, count(*) as n from (select * from people limit 20) where {KEYED} {TAIL}",
        (" limit 20", ""),
        "instead of",
    ),
    "the suppressed beside the released": (
        f"with c as (select sex, race, count(*) as n from people where {KEYED} group by all)"
        " select *, (select sum(n) from c) as everybody from c where n >= 3",
        ("(select sum(n) from c)", "n * 1"),
        "changes without them",
    ),
    "a join that multiplies rows": (
        f"select sex, count(*) as n from people join visits on id = person_id where {KEYED} {TAIL}",
        (" join visits on id = person_id", ""),
        "units",
    ),
    "a join that doubles rows": (
        f"select sex, count(*) as n from people, (select unnest([1, 2])) where {KEYED} {TAIL}",
        (", (select unnest([1, 2]))", ""),
        "counts",
    ),
    "a union with itself": (
        f"select sex, count(*) as n from (select * from people union all select * from people) where {KEYED} {TAIL}",
        (" union all select * from people", ""),
        "counts",
    ),
    "a threshold with a way around it": (
        f"{FINE} or race = race",
        (" or race = race", ""),
        "a count below k",
    ),
    "a threshold one too low": (FINE.replace(">= 3", ">= 2"), (">= 2", ">= 3"), "a count below k"),
    "a count plus one": (
        PLAIN.replace("count(*) as n", "count(*) + 1 as n"),
        ("count(*) + 1", "count(*)"),
        "counts",
    ),
    "a column beside the groups": (
        f"select sex, max(zip) as z, count(*) as n from people where {KEYED} group by sex having count(*) >= 3",
        ("max(zip)", "'94117'"),
        "counts",
    ),
    "a sample with a way around it": (
        PLAIN.replace(KEYED, f"({KEYED} or 1 = 1)"),
        (f"({KEYED} or 1 = 1)", KEYED),
        "units",
    ),
    "a sample of households": (PLAIN.replace("(id", "(household"), ("(household", "(id"), "units"),
    "a higher rate": (PLAIN.replace("'c000'", "'e000'"), ("'e000'", "'c000'"), "units"),
    "a recode by a quantile": (
        f"select case when age > (select median(age) from people) then 'old' else 'young' end as a, count(*) as n from people where {KEYED} {TAIL}",
        ("(select median(age) from people)", "40"),
        "",
    ),
    "a recode by a rank": (
        f"select third, count(*) as n from (select *, ntile(3) over (order by zip) as third from people where {KEYED}) {TAIL}",
        ("ntile(3) over (order by zip)", "length(zip)"),
        "",
    ),
    "rows in the order of the source": (
        f"select sex, race, zip, count(*) as n from people where {KEYED} {TAIL} order by min(rowid)",
        ("min(rowid)", "all"),
        "is stored shows",
    ),
    "an error of one row": (
        f"select cast(zip as integer) as z, count(*) as n from people where {KEYED} {TAIL}",
        ("cast(zip", "try_cast(zip"),
        "an error that one row makes",
    ),
    "two rows a person": (
        f"select ward, count(*) as n from ({ONE.replace('rn = 1', 'rn <= 2')}) {TAIL}",
        ("rn <= 2", "rn = 1"),
        "units",
    ),
    "one row of several people": (
        f"select ward, count(*) as n from ({ONE.replace('by person_id', 'by ward, cost')}) {TAIL}",
        ("by ward, cost", "by person_id"),
        "",
    ),
    "a person's row chosen by what others have": (
        f"select ward, count(*) as n from ({ONE.replace('by day', 'by crowd, day').replace('from visits', f'from {CROWD}')}) {TAIL}",
        ("count(*) over (partition by ward) % 2", "1"),
        "a unit outside the sample changes the release",
    ),
    "copies of groups, one too many": (
        f"select sex from (select sex, unnest(range(n + 1)) as i from ({PLAIN}))",
        ("n + 1", "n"),
        "counts",
    ),
}  # fmt: skip


def wrong(text, proved, runs):
    """What is wrong with running ``text`` for ``proved``, in so many runs."""
    for schema in SCHEMAS:
        proof = prove(proved, schema)
        assert proof.shape is not None or schema is not None, proof.findings
        for number in range(runs) if proof.shape is not None else ():
            where = world(number % WORLDS, benign=schema is None)
            verdict = judge(text, proof, where, f"secret {number}", 6)
            assert text != proved or verdict.checked, verdict
            yield verdict.wrong


@pytest.mark.evidence
@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_shape_is_caught(name):
    text, (seen, read), caught = UNSOUND[name]
    assert seen in text
    proved = text.replace(seen, read)
    assert any(reason and caught in reason for reason in wrong(text, proved, 8 * WORLDS))
    assert not any(wrong(proved, proved, 2))


RATE = "50 percent"
NATIVE = f"select ward, count(*) as n from visits tablesample bernoulli ({RATE}) {TAIL}"
RANKED = "row_number() over (partition by person_id order by day) as rn from visits"
HALF = f"select ward, count(*) as n from (select * from (select *, {RANKED}) where rn = 1) where random() < 0.5 {TAIL}"
BELOW = f"select ward, count(*) as n from (select * from (select *, {RANKED} where random() < 0.5) where rn = 1) {TAIL}"


def groups(query):
    rows = world(0, benign=True).base.con.execute(f"{query} group by all").fetchall()
    return {repr((ward,)): count for ward, count in rows}


def test_a_native_sample_has_its_law():
    shape = prove(NATIVE).shape
    sizes = groups("select ward, count(*) from visits")
    assert native_fault(NATIVE, shape, world(0, benign=True), sizes) == ""


@pytest.mark.evidence
@pytest.mark.parametrize(
    "text",
    [
        NATIVE.replace("bernoulli", "system"),
        NATIVE.replace("bernoulli (50 percent)", "reservoir (54 rows)"),
        NATIVE.replace("50 percent", "65 percent"),
        NATIVE.replace("bernoulli (50 percent)", "bernoulli (50 percent) repeatable (1)"),
        NATIVE.replace(f"tablesample bernoulli ({RATE})", "where random() < 0.5 or ward = 'north'"),
        NATIVE.replace("count(*) as n", "count(distinct day) + 1 as n"),
    ],
    ids=["system", "reservoir", "another rate", "repeatable", "a way around", "plus one"],
)
def test_a_native_sample_of_another_law_is_caught(text):
    shape = prove(NATIVE).shape
    sizes = groups("select ward, count(*) from visits")
    assert native_fault(text, shape, world(0, benign=True), sizes) != ""


@pytest.mark.evidence
def test_random_below_a_window_is_caught():
    """A person with many rows is in more often: some row passes, and it is the first."""
    shape = prove(NATIVE).shape
    first = f"(select * from (select *, {RANKED}) where rn = 1)"
    sizes = groups(f"select ward, count(*) from {first}")
    assert native_fault(BELOW, shape, world(0, benign=True), sizes) != ""


def test_random_above_a_window_is_refused_whatever_the_engine_makes_of_it():
    assert prove(HALF).shape is None


def test_a_crash_is_caught(monkeypatch):
    def crash(text, schema):
        raise KeyError("zip")

    monkeypatch.setattr(fuzz_check, "prove", crash)
    assert {kind for kind, _ in check("select 1", 0).failures} == {"crash"}


def test_a_slow_text_is_caught(monkeypatch):
    monkeypatch.setattr(fuzz_check, "allowed", lambda text: 0.0)
    assert {kind for kind, _ in check(PLAIN, 0, timed=True).failures} == {"slow"}
    assert check(PLAIN, 0).failures == []


def test_a_policy_that_crashes_is_caught(monkeypatch):
    def crash(text, file, directory):
        raise RecursionError

    path, text = files()[0]
    assert check_policy_text(path, text).failures == []
    monkeypatch.setattr("fuzz_policy.load_policy_text", crash)
    assert {kind for kind, _ in check_policy_text(path, text).failures} == {"crash"}


def test_a_failure_is_minimised():
    text = f"{PLAIN} order by n desc limit 1"
    small = minimised(text, lambda other: "limit" in other and "people" in other)
    assert small == "people limit"
