"""Names, labels and keys that look like SQL: the same rows as the reference, or a refusal."""

from __future__ import annotations

import os
from random import Random

import pytest
from claims import rows
from running import NAMES, PLACES
from suite import EVERYBODY

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map
from policy_engine.kernel.sources import Column, People, Relation
from policy_engine.kernel.types import Type

HOSTILE = [
    "it's", 'a"b', "a`b", "a]b", "[a]", "a\\b", "\\", "\\'", "'--", "'; DROP TABLE people --",
    "${x}", "${env:HOME}", "{{ x }}", "{salt:String}", "$salt", ":salt", "@policy_engine_salt",
    "%s", "%", "-- a", "/* a */", "/*", "#", "a\nb", "a\r\nb", "a\tb", " a ", "a ", "\u202eabc",
    "e\u0301", "é", "SELECT", "NULL", "sampled", "unit", "*", "a.b", "N'a'", "E'a'", "0",
    "😀", "\ufeffx", "\u2028", "a\0b", "\ud800", "n",
]  # fmt: skip
#: Each text is tried on two engines, and as evidence on all.
PARTS = 1 if os.environ.get("EVIDENCE") else 3
LAW = Keyed((1 << 60) - 1, 2, secret=Secret(("main", "salts"), "next"))
UNIT = People(Column("row", Type("integer")), None)
PEOPLE = Relation(("main", "people"))
TEXT, WHOLE = Column("text", Type("text")), Column("whole", Type("integer"))


def claims_of(text: str, other: str) -> list[Claim]:
    """A text as a name, a count's name, a label of each recode, and a key."""
    bins = Shown("whole", WHOLE, Bins((18,), (text, other)))
    key = Shown("key", TEXT, Map((((text,), "found"),), other))
    value = Shown("value", TEXT, Map((((other,), text),), text))
    cases = [
        ((Shown(text, TEXT, Keep()),), "count of people"),
        ((Shown("shown", TEXT, Keep()),), text),
        ((bins, Shown("everybody", None, Constant(text)), key, value), "count"),
    ]
    return [Claim(PEOPLE, UNIT, LAW, columns, count) for columns, count in cases]


@pytest.fixture(scope="module")
def loaded(place_of):
    """A place whose texts are the hostile ones."""

    def load(name):
        place = place_of(name)
        given = rows(Random(0), [], 4 * len(HOSTILE))
        texts = [text for text in HOSTILE if text != "\ud800"] * 9
        place.load([{**row, "text": text} for row, text in zip(given, texts, strict=False)])
        return place

    return load


@pytest.mark.parametrize("name", NAMES)
def test_a_name_a_label_and_a_key_mean_themselves_or_are_refused(loaded, name):
    place, refused, ran = loaded(name), set(), 0
    part = list(PLACES).index(name) % PARTS
    some = HOSTILE[::11] if name == "spark" else HOSTILE[part::PARTS]
    with place.opened() as warehouse:
        for number, text in enumerate(some):
            for case in _possible(text, some[number - 1]):
                claim = place.claim(case)
                try:
                    sql = printed(claim, name)
                except Refused:
                    refused.add(text)
                    continue
                table = place.table(warehouse, claim, sql)
                shown = [column.name for column in claim.columns]
                assert table.column_names == [*shown, claim.count], sql
                assert place.run(warehouse, claim, sql) == place.meant(claim), sql
                ran += 1
    assert refused >= {"a\0b", "\ud800"} & set(some)
    assert ran > len(some)


def _possible(text: str, other: str) -> list[Claim]:
    try:
        return claims_of(text, other)
    except ValueError:  # a NUL is in no name
        return claims_of("name", other)[2:] if "\0" not in text else [_of_label(text)]


def _of_label(text: str) -> Claim:
    return Claim(PEOPLE, UNIT, LAW, (Shown("everybody", None, Constant(text)), *EVERYBODY[1:]))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_as_long_as_it_may_be_is_a_name_and_a_longer_one_refused(loaded, name):
    place, most = loaded(name), min(ENGINES[name].longest_name, 300)
    for text in ("a" * most, "é" * (most // 2)):
        claim = place.claim(Claim(PEOPLE, UNIT, LAW, (Shown(text, TEXT, Keep()),)))
        with place.opened() as warehouse:
            table = place.table(warehouse, claim, printed(claim, name))
        assert table.column_names == [text, "n"]
    for text in (
        "a" * (ENGINES[name].longest_name + 1),
        "é" * (ENGINES[name].longest_name // 2 + 1),
    ):
        with pytest.raises(Refused):
            printed(place.claim(Claim(PEOPLE, UNIT, LAW, (Shown(text, TEXT, Keep()),))), name)
