"""suggest: its utilities against plain Python, its law and price, its life, and what it refuses."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from private_choices import Capfd, answered, charged
from scipy import stats

from policy_engine.accounting.choice import coin_table
from policy_engine.accounting.choice_law import law_of_choice
from policy_engine.attest.keys import generate_key
from policy_engine.choose import suggesting
from policy_engine.choose.drawing import choose
from policy_engine.choose.suggesting import (
    Choosable,
    PersonRows,
    chosen_ends,
    doubling_of,
    ends_within,
    utilities_of,
)
from policy_engine.cli.main import run
from policy_engine.kernel.mechanisms import Clip
from policy_engine.policy.choice_notes import CHANGED
from policy_engine.policy.following import namesakes
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.policy.review_models import key_line

POLICY = """\
version: 1
name: a
source: {file: visits.parquet}
privacy_unit: {column: person, rows: all}
# as many as can be meant
contribution: {max_groups: 3, max_rows_per_group: 2}
recode: {ward: keep}
measures:
  cost: {sum: cost, per: row, bounds: [0, 100]}
  stay: {median: days, per: person, bounds: [0, 20]}
guarantee: {epsilon: 0.5, delta: 1.0e-6}
release: {file: "out/a.parquet"}
account: people
"""
VISITS = """
SELECT i % 3000 AS person, 'abc'[1 + i // 3000] AS ward, (7 + i % 11)::DOUBLE AS cost,
  (i % 5)::DECIMAL(6, 1) AS days FROM range(6000) t(i)
UNION ALL SELECT NULL, 'a', 'nan'::DOUBLE, NULL
UNION ALL SELECT 0, NULL, 'inf'::DOUBLE, 99999
"""
PERIODS = (
    'release: {file: "out/a',
    "period: {column: day, every: month, from: '2026-01'}\nrelease: {file: \"out/a-{edition}",
)


@pytest.fixture
def best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The candidate of the greatest utility is drawn, which is the likeliest."""
    first: Callable[..., int] = lambda utilities, *_, **__: utilities.index(max(utilities))  # noqa: E731
    monkeypatch.setattr(suggesting, "choose", first)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    write(VISITS)
    Path("a.yaml").write_text(POLICY)
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 4.0, delta: 1.0e-4}}\n")
    return tmp_path


def write(query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO 'visits.parquet'")


def suggest(capfd: Capfd, *words: str, epsilon: str = "2", code: int = 0) -> dict[str, object]:
    return answered(capfd, "suggest", "a.yaml", "--epsilon", epsilon, *words, code=code)


def test_numbers_are_written_as_a_policy_charged_and_released(project, capfd, best):
    found = suggest(capfd)
    assert found["numbers"] == {
        "contribution.max_groups": 2,
        "contribution.max_rows_per_group": 1,
        "measures.cost.bounds": [5, 20],
        "measures.stay.bounds": [0, 5],
    }
    text = Path("a.suggested.yaml").read_text()
    assert "# as many as can be meant" in text and "private choice of ε 2" in text
    assert run(["release", "a.suggested.yaml"]) == 0
    assert charged(capfd) == [("suggestion for a", "committed"), ("a", "committed")]
    assert run(["ledger", "verify"]) == 0 and run(["ledger", "reconcile"]) == 0
    words = ["verify", "a.suggested.certificate.json", "--release", "a.suggested.yaml"]
    assert run(words) == 0
    assert '"people_a_doubling": 4,' in Path("a.suggested.certificate.json").read_text()
    Path("visits.parquet").unlink()
    assert suggest(capfd)["outcome"] == "stands"
    Path("a.suggested.yaml").unlink()
    assert suggest(capfd)["outcome"] == "put back"
    assert len(charged(capfd)) == 2


def test_what_was_suggested_stands_for_the_policy_that_it_was_suggested_for(project, capfd, best):
    """Both are of one place and one name, and neither is in the other's way."""
    suggest(capfd)
    assert run(["validate", "a.yaml", "a.suggested.yaml"]) == 0
    assert run(["validate", "a.suggested.yaml", "a.yaml"]) == 0
    here = load_project(Path("policy-engine.yaml"))
    assert namesakes(load_policy("a.suggested.yaml"), here) == ()
    shutil.copy("a.suggested.yaml", "b.yaml")
    assert run(["validate", "a.suggested.yaml", "b.yaml"]) == 1
    assert [path.name for path in namesakes(load_policy("b.yaml"), here)] == ["a.suggested.yaml"]
    capfd.readouterr()
    assert run(["plan", "a.yaml"]) == 0
    assert "'policy-engine suggest' chooses limits" in capfd.readouterr().out
    assert run(["plan", "a.suggested.yaml"]) == 0
    assert "'policy-engine suggest' chooses limits" not in capfd.readouterr().out


def test_of_a_plan_no_limits_are_suggested(project, capfd):
    """A suggestion for a planned policy was charged, and could then not be released."""
    guarantee = POLICY.partition("guarantee: ")[2].partition("\n")[0]
    Path("a.yaml").write_text(POLICY.replace(guarantee, "planned"))
    Path("policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 2.0, delta: 1.0e-4, plan: {a: {editions: 3}}, rest: 0.1}}\n"
    )
    told = str(suggest(capfd, code=2)["error"])
    assert "guarantee is planned" in told and "as with guarantee: {editions: 3}" in told
    assert not Path(".policy-engine").exists()


def test_measures_of_one_column_are_written_without_an_anchor(project, capfd, best):
    mean = "  mean_cost: {mean: cost, per: row, bounds: [0, 100]}\nguarantee"
    Path("a.yaml").write_text(POLICY.replace("guarantee", mean, 1))
    suggest(capfd)
    text = Path("a.suggested.yaml").read_text()
    assert text.count("bounds: [5, 20]") == 2 and "&" not in text


def test_another_price_is_another_choice_and_a_crash_charges(project, capfd, monkeypatch):
    drawn = suggesting.chosen_ends

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suggesting, "chosen_ends", crash)
    assert run(["suggest", "a.yaml", "--epsilon", "1"]) == 130
    assert not Path("a.suggested.yaml").exists() and len(charged(capfd)) == 1
    monkeypatch.setattr(suggesting, "chosen_ends", drawn)
    assert suggest(capfd, epsilon="1")["outcome"] == "chosen"
    assert len(charged(capfd)) == 1
    told = str(suggest(capfd, epsilon="0.5", code=3)["error"])
    assert "a.suggested.yaml has what another choice chose, which stands" in told
    assert "release" not in told and "--replace chooses by ε 0.5" in told
    assert suggest(capfd, "--edition", "b", epsilon="0.5")["outcome"] == "chosen"
    assert len(charged(capfd)) == 2
    assert suggest(capfd, "--replace", epsilon="0.5")["outcome"] == "chosen"
    assert len(charged(capfd)) == 3


def test_what_was_changed_after_it_was_chosen_is_told(project, capfd, best):
    suggest(capfd)
    path = Path("a.suggested.yaml")
    assert run(["validate", str(path)]) == 0 and "changed" not in capfd.readouterr().out
    # What was not chosen may be changed: the sentence holds, and is certified.
    text = path.read_text().replace("account: people", "account: people\npurpose: care")
    path.write_text(text)
    assert run(["validate", str(path)]) == 0 and CHANGED not in capfd.readouterr().out
    assert "private choice of ε 2" in dict(load_policy(path).stated)["justification"]
    path.write_text(text.replace("max_groups: 2", "max_groups: 3"))
    assert "is not what entry 2 chose; --replace" in str(suggest(capfd, code=3)["error"])
    for command in ("validate", "plan", "release"):
        capfd.readouterr()
        assert run([command, str(path)]) == 0
        out, err = capfd.readouterr()
        assert "what that chose was changed after it" in out + err
    certified = Path("out/a.certificate.json").read_text()
    assert CHANGED in certified and "private choice of ε" not in certified
    assert suggest(capfd, "--replace")["outcome"] == "put back"
    assert "max_groups: 2" in path.read_text()
    Path("a.suggested.certificate.json").unlink()
    path.write_text(path.read_text().replace("max_groups: 2", "max_groups: 3"))
    for words in ((), ("--replace",)):
        assert "was written by somebody" in str(suggest(capfd, *words, code=3)["error"])


def test_a_sentence_of_a_choice_is_certified_where_it_holds_alone(project, capfd, best):
    Path("a.yaml").write_text(f"{POLICY}about: {{justification: As last year.}}\n")
    suggest(capfd)
    path = Path("a.suggested.yaml")
    text = path.read_text()
    told = dict(load_policy(path).stated)["justification"]
    assert told.startswith("As last year. Numbers were chosen among") and CHANGED not in told
    [digest] = re.findall(r"\[[0-9a-f]{16}\]", text)
    for old, new in (
        ("max_groups: 2", "max_groups: 3"),
        ("bounds: [5, 20]", "bounds: [5, 50]"),
        ("ε 2,", "ε 0.02,"),
        (digest, ""),
        (f"{digest}.", "."),
        (digest, "[0123456789abcdef]"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        assert dict(load_policy(path).stated)["justification"] == f"As last year. {CHANGED}"


def test_a_suggestion_is_approved_as_a_release_is(project, capfd, best):
    suggest(capfd)
    key = Ed25519PrivateKey.generate()
    generate_key(project / "ada.pem", key)
    ada = {"role": "owner", "keys": [key_line(key.public_key().public_bytes_raw())]}
    needs = {stage: {"owner": 1} for stage in ("claim", "change")}
    review = {"version": 1, "account": "people", "serial": 1, "people": {"ada": ada}, **needs,
              "four_eyes": False, "days": 30, "expires": "2999-12-31"}  # fmt: skip
    Path("p.review.yaml").write_text(json.dumps(review))
    said = ("--alone", "--by", "Ada", "--why", "it is hers")
    assert run(["review", "require", "p.review.yaml", *said]) == 0
    words = ("--edition", "b")
    told = str(suggest(capfd, *words, epsilon="0.5", code=1)["error"])
    assert "'policy-engine review request POLICY --suggest 0.5 --key KEY' asks for them" in told
    signed = ("--key", "ada.pem")
    assert run(["review", "request", "a.yaml", "--suggest", "0.5", *words, *signed]) == 0
    request = "a.suggested.b.certificate.claim.review.json"
    assert run(["review", "approve", request, "--role", "owner", *signed, "--yes"]) == 0
    assert ": 1, 2, 3\n" in capfd.readouterr().out
    assert "are not met" in str(suggest(capfd, *words, epsilon="0.6", code=1)["error"])
    assert suggest(capfd, *words, epsilon="0.5")["outcome"] == "chosen"
    assert run(["ledger", "verify"]) == 0


def test_beside_releases_is_told_what_a_choice_costs_in_them(project, capfd, best):
    """Before the first release it costs its ε, and afterwards it is of another kind."""
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 2.0, delta: 1.0e-5}}\n")
    assert run(["suggest", "a.yaml", "--epsilon", "0.05"]) == 0
    assert "more releases" not in capfd.readouterr().err
    assert run(["release", "a.yaml"]) == 0
    capfd.readouterr()
    assert run(["suggest", "a.yaml", "--epsilon", "0.05", "--edition", "b"]) == 0
    assert re.search(
        r"account 'people': with this choice it pays for \d+ more releases like that of a, and"
        r" without it for \d+: beside releases a choice costs more than its ε",
        capfd.readouterr().err,
    )


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [
        ("{column: person, rows: any}", [5, 20]),
        ("row", [5, 20]),
        ("{column: person, rows: one}", [5, 20]),
    ],
)
def test_of_one_row_a_person_bounds_alone_are_chosen(project, capfd, best, unit, wanted):
    lines = [
        line for line in POLICY.splitlines() if not line.startswith(("contribution", "count:"))
    ]
    text = "\n".join(lines).replace("{column: person, rows: all}", unit)
    text = text.replace(", per: row", "").replace(", per: person", "")
    Path("a.yaml").write_text(text)
    write(VISITS.split("UNION")[0].replace("range(6000)", "range(3000)"))
    found = suggest(capfd)["numbers"]
    assert found == {"measures.cost.bounds": wanted, "measures.stay.bounds": [0, 5]}


def test_what_is_joined_tells_groups_apart(project, capfd, best):
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i AS id, 'mf'[1 + i % 2] AS sex FROM range(3000) t(i))"
            " TO 'persons.parquet'"
        )
    join = "{persons: {file: persons.parquet, on: {person: id}, columns: [sex]}}"
    text = POLICY.replace("visits.parquet}", f"visits.parquet, join: {join}}}")
    Path("a.yaml").write_text(text.replace("ward: keep", "sex: keep"))
    assert suggest(capfd)["numbers"]["contribution.max_groups"] == 1


ONE_MORE = {
    "nobody": f"SELECT * FROM ({VISITS}) WHERE ward = 'z'",
    "somebody without a key": f"SELECT NULL::BIGINT AS person, * EXCLUDE (person) FROM ({VISITS})",
    "all values missing": f"SELECT person, ward, NULL::DOUBLE AS cost, days FROM ({VISITS})",
    "far values": f"{VISITS} UNION ALL SELECT 9223372036854775807, 'a', -1e308, -99999.9",
}


@pytest.mark.parametrize("table", ONE_MORE)
def test_no_row_tells_itself_by_how_a_suggestion_ends(project, capfd, table):
    write(ONE_MORE[table])
    assert suggest(capfd)["outcome"] == "chosen"
    assert charged(capfd) == [("suggestion for a", "committed")]


@pytest.mark.parametrize(
    ("change", "words", "told"),
    [
        (("", ""), ("--epsilon", "0"), "above 0"),
        (("", ""), ("--epsilon", "much"), "must be a number"),
        (("", ""), ("--edition", "2026-01"), "editions of a choice are called"),
        (("", ""), ("--output", "other/b.yaml"), "must be a file in the folder"),
        (
            PERIODS,
            (),
            "name the one whose rows are looked at",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused_before_a_charge(project, capfd, change, words, told):
    Path("a.yaml").write_text(POLICY.replace(*change) if change[0] else POLICY)
    assert told in str(suggest(capfd, *words, code=2)["error"])
    assert not Path(".policy-engine").exists()


def test_what_an_engine_cannot_read_is_refused_before_a_charge(project, capfd):
    """SQLite sums floating-point numbers of whole units, and has no decimals to compare them as."""
    with closing(sqlite3.connect("people.db")) as connection:
        connection.execute(
            "CREATE TABLE visits (person INT, ward TEXT, cost REAL, days INT) STRICT"
        )
    project_file = Path("policy-engine.yaml")
    here = "warehouses: {here: {type: sqlite, database: people.db}}\n"
    project_file.write_text(project_file.read_text() + here)
    Path("a.yaml").write_text(POLICY.replace("file: visits.parquet", "table: main.visits"))
    assert "cannot read what suggest compares" in str(suggest(capfd, code=2)["error"])
    assert not Path(".policy-engine").exists()


def test_a_policy_of_counts_has_nothing_to_choose(project, capfd):
    start, end = POLICY.index("# as many"), POLICY.index("guarantee")
    plain = POLICY[:start] + "recode: {ward: keep}\nmechanism: noisy_counts\n" + POLICY[end:]
    Path("a.yaml").write_text(plain.replace("rows: all", "rows: any"))
    assert "none of them that could be less" in str(suggest(capfd, code=2)["error"])


# What is compared, against plain Python

PER_ROW, TOTAL, MEAN = (Clip(-5, 20, rows=3), Clip(-5, 20, per="total"), Clip(-5, 20, per="mean"))
NUMBERS = (
    Choosable("max_groups", ((0, 1), (0, 2), (0, 4))),
    Choosable("max_rows_per_group", ((0, 1), (0, 2), (0, 3))),
    *(Choosable("bounds", ends_within(-5, 20), ("x",), "x", clip)
      for clip in (PER_ROW, TOTAL, MEAN)),
)  # fmt: skip
Person = list[tuple[int, float, int]]
"""The group, the value and how many of each kind of row."""


def person(rng: random.Random) -> Person:
    values = [float(rng.randint(-8, 25)) for _ in range(3)] + [float("nan")]
    rows = {(rng.randrange(3), rng.choice(values)): rng.randint(1, 2) for _ in range(3)}
    return [(group, value, times) for (group, value), times in rows.items()]


def rows_of(people: list[Person]) -> PersonRows:
    listed = [(who, *row) for who, rows in enumerate(people) for row in rows]
    whose, groups, values, times = zip(*listed, strict=True) if listed else ((), (), (), ())
    numbers = np.array(values, dtype=np.float64)
    return PersonRows(
        np.array(times, dtype=np.int64),
        {("x", clip): numbers for clip in (PER_ROW, TOTAL, MEAN)},
        np.array(whose, dtype=np.int64),
        np.array(groups, dtype=np.int64),
    )


def is_inside(number: Choosable, rows: Person, ends: tuple[int, int]) -> bool:
    """Whether nothing of a person is cut, by the definition."""
    by_group: dict[int, list[float]] = defaultdict(list)
    for group, value, times in rows:
        by_group[group] += [value] * times
    if number.key == "max_groups":
        return len(by_group) <= ends[1]
    if number.key == "max_rows_per_group":
        return all(len(values) <= ends[1] for values in by_group.values())
    held = []
    for values in by_group.values():
        there = [value for value in values if value == value]
        if number.clip.per == "row":
            held += there
        elif there:
            held.append(sum(there) / (len(there) if number.clip.per == "mean" else 1))
    return all(ends[0] <= value <= ends[1] for value in held)


@pytest.mark.parametrize("number", NUMBERS)
def test_people_of_whom_nothing_is_cut_are_counted(number):
    rng = random.Random(5)
    for many in (0, 1, 7, 40):
        people = [person(rng) for _ in range(many)]
        prices = number.prices(3)
        wanted = [
            sum(is_inside(number, rows, ends) for rows in people) - price
            for ends, price in zip(number.candidates, prices, strict=True)
        ]
        assert utilities_of(number, rows_of(people), 3) == wanted


@pytest.mark.parametrize("number", NUMBERS)
def test_one_person_more_adds_nothing_or_one_to_every_utility(number):
    rng = random.Random(8)
    for _ in range(60):
        people = [person(rng) for _ in range(rng.randint(0, 6))]
        before = utilities_of(number, rows_of(people), 3)
        after = utilities_of(number, rows_of([*people, person(rng)]), 3)
        assert {b - a for a, b in zip(before, after, strict=True)} <= {0, 1}


def law(utilities: list[int], epsilon: str, *, monotone: bool) -> tuple[Fraction, ...]:
    table = coin_table(epsilon, monotone=monotone)
    return law_of_choice([table.coin(max(utilities) - each) for each in utilities])


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_price_holds_for_every_pair_of_neighbours(neighbours):
    """By the exact law of each: brute force over small tables, a person more or another one."""
    number = replace(NUMBERS[2], candidates=((0, 5), (0, 20), (5, 20), (-5, 20)))
    rng, bound = random.Random(3), Fraction(Decimal("0.7").exp()) * (1 + Fraction(1, 10**9))
    doubling, monotone = doubling_of(Decimal("0.7"), neighbours), neighbours == "add_remove"
    worst = Fraction(0)
    for _ in range(80):
        people = [person(rng) for _ in range(rng.randint(0, 5))]
        first = [*people, person(rng)]
        second = people if monotone else [*people, person(rng)]
        laws = [
            law(utilities_of(number, rows_of(each), doubling), "0.7", monotone=monotone)
            for each in (first, second)
        ]
        for p, q in (*zip(*laws, strict=True), *zip(*laws[::-1], strict=True)):
            assert p <= bound * q + Fraction(1, 10**9)
            worst = max(worst, p / q)
    assert worst > Fraction(11, 10)  # it is told something


def test_a_number_is_drawn_with_its_exact_chance():
    number, rng = NUMBERS[3], random.Random(6)
    rows = rows_of([person(rng) for _ in range(30)])
    utilities = utilities_of(number, rows, doubling_of(Decimal("0.3"), "add_remove"))
    wanted = np.array([float(each) for each in law(utilities, "0.3", monotone=True)]) * 5_000
    seen = Counter(
        chosen_ends(number, rows, Decimal("0.3"), "add_remove", random.Random(seed).randrange)
        for seed in range(5_000)
    )
    counts = np.array([seen[ends] for ends in number.candidates])
    large = wanted > 5
    both = [np.append(each[large], each[~large].sum()) for each in (counts, wanted)]
    assert stats.chisquare(both[0], both[1] * both[0].sum() / both[1].sum()).pvalue > 1e-6


# Planted faults

ONE = Choosable("max_groups", ((0, 1), (0, 2)))
Chooser = Callable[[list[int], int, random.Random], int]
"""One of the candidates, of their people, of whom there are so many."""


def sound(inside: list[int], people: int, rng: random.Random) -> int:
    utilities = [each - price for each, price in zip(inside, ONE.prices(10), strict=True)]
    return choose(utilities, "0.2", monotone=True, below=rng.randrange)


def greatest(inside: list[int], people: int, rng: random.Random) -> int:
    return int(inside[1] - 10 > inside[0])


def better_of_many(inside: list[int], people: int, rng: random.Random) -> int:
    picks = [sound(inside, people, rng) for _ in range(20)]
    return max(picks, key=lambda at: inside[at] - ONE.prices(10)[at])


def price_of_all(inside: list[int], people: int, rng: random.Random) -> int:
    """A price that grows with how many people there are: one more moves it by twenty."""
    return choose([inside[0], inside[1] - 20 * people], "0.2", monotone=True, below=rng.randrange)


def candidates_by_the_data(inside: list[int], people: int, rng: random.Random) -> int:
    """The last candidate is there if somebody needs it."""
    return sound(inside, people, rng) if inside[1] > inside[0] else 0


NEIGHBOURS: dict[str, tuple[tuple[list[int], int], tuple[list[int], int]]] = {
    "price_of_all": (([0, 60], 3), ([0, 61], 4)),
    "candidates_by_the_data": (([1, 1], 1), ([1, 2], 2)),
}
TIPPED = (([30, 40], 40), ([30, 41], 41))


@pytest.mark.parametrize(
    ("chooser", "is_sound", "draws"),
    [(sound, True, 4_000), (greatest, False, 1_000), (better_of_many, False, 1_000),
     (price_of_all, False, 1_000), (candidates_by_the_data, False, 1_000)],
)  # fmt: skip
def test_an_audit_tells_a_sound_suggestion_from_planted_faults(chooser, is_sound, draws):
    rng = random.Random(4)
    tables = NEIGHBOURS.get(chooser.__name__, TIPPED)
    runs = [[chooser(*each, rng) for _ in range(draws)] for each in tables]
    most = 0.0
    for at in (0, 1):
        for one, other in (runs, runs[::-1]):
            low = stats.beta.ppf(1e-6, one.count(at), draws + 1 - one.count(at))
            high = stats.beta.ppf(1 - 1e-6, other.count(at) + 1, draws - other.count(at))
            most = max(most, float(np.log(low / high)) if low > 0 else 0.0)
    assert (most <= 0.2) is is_sound
