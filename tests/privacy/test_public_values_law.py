"""The law of answers and of tuples in the real SQL: many draws, each under a new secret."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import replace

import duckdb
import pytest
from scipy import stats

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Inserted, Law, Randomised
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Bins, Map
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

LEAST = 1e-9
DRAWS, PEOPLE = 40, 500
LABELS = (("F", "M", None), ("young", "adult", "old", None))
SHARES = ((1 << 60) // 7, (1 << 60) // 11)
SHOWN = (
    Shown("sex", Column("sex", Type("text")), Map(((("f",), "F"),), "M")),
    Shown("age", Column("age", Type("integer")), Bins((18, 65), ("young", "adult", "old"))),
)
OWN = ("F", "adult")


@pytest.fixture(scope="module")
def people():
    """500 people who are all alike: what one row shows of its own is known."""
    with duckdb.connect() as connection:
        made = f"SELECT 'f' AS sex, 40 AS age FROM range({PEOPLE})"
        connection.execute(f"CREATE TABLE people AS {made}")
        yield connection


def draws(connection, law: Law, count: str | None, times: int = DRAWS, change=("", "")):
    claim = Claim(Relation(("main", "people")), Rows(), law, SHOWN, count)
    text = printed(claim, "duckdb")
    assert change[0] in text
    text = text.replace(*change)
    return [
        connection.execute(text, {"salt": secrets.token_hex(16)}).fetchall() for _ in range(times)
    ]


def answers(connection, change=("", ""), shares=SHARES):
    """How often each pair was answered, of all people and draws."""
    law = Randomised(tuple(map(Response, LABELS, shares)))
    found: Counter[tuple[str | None, ...]] = Counter()
    for release in draws(connection, law, "n", change=change):
        assert sum(row[-1] for row in release) == PEOPLE
        found.update({row[:-1]: row[-1] for row in release})
    return found


def fit(found, shares=SHARES) -> float:
    """The p-value of the answers, if both columns were drawn by themselves as the law says."""
    odds = []
    for labels, share, own in zip(LABELS, shares, OWN, strict=True):
        part = share / (1 << 60)
        odds.append({v: part + (1 - part * len(labels)) * (v == own) for v in labels})
    wanted = {(s, a): odds[0][s] * odds[1][a] for s in LABELS[0] for a in LABELS[1]}
    total = found.total()
    seen = [found[pair] for pair in wanted]
    return stats.chisquare(seen, [total * each for each in wanted.values()]).pvalue


def test_answers_follow_their_law(people):
    assert fit(answers(people)) > LEAST


def test_every_person_answers_by_themselves(people):
    """The number of one answer has the variance of independent people, in every draw."""
    law = Randomised(tuple(map(Response, LABELS, SHARES)))
    counts = [sum(n for s, _, n in release if s == "F") for release in draws(people, law, "n", 200)]
    part = SHARES[0] / (1 << 60)
    odds = part + 1 - 3 * part
    mean, variance = PEOPLE * odds, PEOPLE * odds * (1 - odds)
    spread = sum((n - mean) ** 2 for n in counts) / variance
    assert stats.chi2.sf(spread, len(counts)) > LEAST
    assert stats.chi2.cdf(spread, len(counts)) > LEAST


CONTROLS = {
    "one draw for all columns": ("':g:2:", "':g:1:"),
    "a value is left out": ("THEN 'young'", "THEN 'adult'"),
    "the own value is told too often": (f"'{SHARES[0] * 3:015x}' THEN NULL", "'0' THEN NULL"),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_broken_text_is_noticed(people, name):
    old, new = CONTROLS[name]
    if name == "one draw for all columns":
        claim = Claim(Relation(("main", "people")), Rows(),
                      Randomised(tuple(map(Response, LABELS, SHARES))), SHOWN)  # fmt: skip
        old, new = f"':g:2:{claim.stream}", f"':g:1:{claim.stream}"
    assert fit(answers(people, (old, new))) < LEAST


def test_a_law_that_is_a_little_off_is_noticed(people):
    other = tuple(share * 11 // 10 for share in SHARES)
    assert fit(answers(people, shares=other)) < LEAST


def test_tuples_are_there_and_inserted_as_often_as_the_law_says(people):
    law = Inserted(3 << 58, 1 << 58, LABELS)
    times = 400
    found = Counter(row for release in draws(people, law, None, times) for row in release)
    for pair in ((s, a) for s in LABELS[0] for a in LABELS[1]):
        odds = 0.75 if pair == OWN else 0.25
        assert stats.binomtest(found[pair], times, odds).pvalue > LEAST
    always = draws(people, replace(law, shown=(1 << 60) - 1), None, 50)
    assert all(OWN in release for release in always)
