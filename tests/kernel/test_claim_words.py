"""A claim in words: claims that release anything else read otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random

from claims import claims, pure

from policy_engine.accounting.noise_laws import laplace
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed, Noisy
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes import Bins, Keep, Map
from policy_engine.kernel.sources import Column, Files, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.report.claim_words import (
    column_lines,
    filter_line,
    person_words,
    source_words,
)

AGE, SEX = Column("age", Type("integer")), Column("sex", Type("text"))
CLAIM = Claim(
    Files("people.parquet"),
    Rows(),
    Keyed(1 << 57, 20),
    (Shown("age", AGE, Bins((30,), ("<30", ">=30"))), Shown("sex", SEX, Keep())),
)


def read(claim: Claim) -> tuple[str, ...]:
    return tuple(_lines(claim))


def _lines(claim: Claim) -> Iterator[str]:
    yield source_words(claim)
    yield person_words(claim)
    for shown in claim.columns:
        yield from column_lines(shown)
    yield from map(filter_line, claim.filter)
    if claim.period is not None:
        yield filter_line(claim.period)
    yield from meaning_of(claim).lines()
    yield str(claim.count)


def released(claim: Claim) -> Claim:
    """The claim with one law for all: its numbers and tables are told beside these words."""
    law = replace(CLAIM.law, k=2) if not isinstance(claim.law, Noisy) else None
    return claim if law is None or claim.unit.counts_all else replace(claim, law=law)


def test_random_claims_that_differ_read_otherwise():
    chance, found = Random(37), {}
    for claim in map(released, claims(chance, 400)):
        if isinstance(claim.law, Noisy):
            continue
        assert found.setdefault(read(claim), claim) == claim
    assert len(found) > 100


def test_random_public_lists_that_differ_read_otherwise():
    found = {}
    for claim in pure(Random(5), 60):
        alike = found.setdefault(read(claim), claim)
        assert (alike.columns, alike.source, alike.unit) == (
            claim.columns,
            claim.source,
            claim.unit,
        )


def test_each_part_is_told():
    age, sex = CLAIM.columns
    key = Column("id", Type("integer"))
    noisy = Noisy(laplace(1, 14), 1)
    others = [
        replace(CLAIM, source=Files("other.parquet")),
        replace(CLAIM, source=Files("people.parquet", is_folder=True), unit=People(key, None)),
        replace(CLAIM, source=Relation(("main", "people"))),
        replace(CLAIM, source=Relation(("main", "people"), is_rowwise=True)),
        replace(CLAIM, unit=People(key, None)),
        replace(CLAIM, unit=People(key, ((AGE, True),))),
        replace(CLAIM, unit=People(key, ((AGE, False),))),
        replace(CLAIM, unit=People(key, Groups(3)), law=noisy),
        replace(CLAIM, unit=People(key, Groups(4)), law=noisy),
        replace(CLAIM, columns=(replace(age, recode=Keep()), sex)),
        replace(CLAIM, columns=(replace(age, recode=Bins((31,), ("<30", ">=30"))), sex)),
        replace(CLAIM, columns=(age, replace(sex, recode=Map(((("f",), "F"),), None)))),
        replace(CLAIM, columns=(age, replace(sex, recode=Map(((("f",), "F"),), "other")))),
        replace(CLAIM, columns=(age, replace(sex, name="gender"))),
        replace(CLAIM, count=None),
    ]
    for one, other in combinations([CLAIM, *others], 2):
        assert read(one) != read(other)


def test_a_label_forges_no_range():
    shown = Bins((30,), ('x"\nfrom 30 on: "y', "z"))
    lines = column_lines(Shown("age", AGE, shown))
    assert len(lines) == 4
    assert lines[2] == '    below 30: "x\\"\\nfrom 30 on: \\"y"'


def test_a_long_map_is_told_by_its_rarest_labels_first():
    groups = [((f"rare {n}",), f"r{n}") for n in range(3)]
    groups += [(tuple(f"{n}-{i}" for i in range(30)), f"c{n}") for n in range(100)]
    lines = column_lines(Shown("sex", SEX, Map(tuple(groups[::-1]), "else")))
    assert [line.strip()[:7] for line in lines[2:5]] == ['"rare 2', '"rare 1', '"rare 0']
    assert "and 43 labels more, of 30 to 30 values each" in lines[-2]
    assert "and 18 more" in lines[10]
