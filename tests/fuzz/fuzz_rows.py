"""Random rows of the corpus's tables, made so that groups have about as many rows as k.

Rows are copies of a few archetypes with a change here and there: whatever columns a text groups
by, some groups pass a small threshold, some miss it by one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

Row = tuple[str, ...]
"""One row, each value as SQL."""

PEOPLE = {
    "id": [],
    "household": ["1", "2", "3", "null"],
    "sex": ["'F'", "'M'", "null", "''"],
    "age": ["17", "30", "41", "70", "null", "-1"],
    "zip": ["'94117'", "'94110'", "'10001'", "'1x'", "null", "''"],
    "race": ["'white'", "'black'", "'wc'", "''", "null"],
    "income": ["'<=50K'", "'>50K'", "null"],
    "name": ["'ann'", "'bob'", "'eve'"],
    "hours": ["0", "35", "40", "null"],
    "weight": ["70.5", "80.25", "null"],
    "height": ["150.00", "150.55", "-3.20", "null"],
    "wealth": ["0", "-7", "123456789012345678901234567890", "null"],
    "born": ["date '1999-12-31'", "date '2000-02-29'", "null"],
    "seen": ["timestamp '2020-01-01 10:00:00'", "timestamp '1969-12-31 23:59:59'", "null"],
    "seen_there": ["timestamptz '2020-01-01 23:30:00+00'", "null"],
    "member": ["true", "false", "null"],
    "stay": ["interval 1 day", "interval 2 days", "null"],
    "token": ["0", "5", "7", "null"],
    "angle": ["1.5", "0", "null"],
    "marks": ["[1, 5]", "[]::integer[]", "null"],
    "person": ["{'id': 1, 'zip': '9'}", "null"],
    "select": ["'a'", "'b'", "null"],
    'odd "name': ["'x'", "'y'", "null"],
}
VISITS = {
    "person_id": [],
    "household": ["1", "2", "null"],
    "ward": ["'north'", "'south'", "'icu'", "null"],
    "day": [],
    "cost": ["'12'", "'none'", "null"],
    "fever": ["37.5", "39", "null"],
}
# What a schema lets the kernel see, and an open text has assumed away.
NASTY = {
    "name": ["'Ann'", "'ANN'", "'ann '"],
    "weight": ["'nan'::double", "-0.0::double", "0.0::double", "'inf'::double"],
    "stay": ["interval 1 month", "interval 30 days"],
    "fever": ["'nan'::double", "-0.0::double", "0.0::double"],
    "born": ["'infinity'::date", "'0044-03-15 (BC)'::date"],
}
ARCHETYPES = 4
PEOPLE_IDS = 44
VISITORS = 36


@dataclass(frozen=True)
class Unit:
    """One unit that a table gets: its rows, and its key ('' where it has none)."""

    table: str
    key: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Tables:
    """The units of a world, and those that a twin of it has more: one each."""

    units: tuple[Unit, ...]
    more: tuple[Unit, ...]


def _values(columns: dict[str, list[str]], name: str, nasty: bool) -> list[str]:
    return columns[name] + (NASTY.get(name, []) if nasty else [])


def _archetypes(
    rng: random.Random, columns: dict[str, list[str]], nasty: bool
) -> list[dict[str, str]]:
    return [
        {name: rng.choice(_values(columns, name, nasty)) for name in columns if columns[name]}
        for _ in range(ARCHETYPES)
    ]


def _like(
    rng: random.Random, base: dict[str, str], columns: dict[str, list[str]], nasty: bool
) -> dict[str, str]:
    row = dict(base)
    if rng.random() < 0.4:
        name = rng.choice([name for name in base if columns.get(name)])
        row[name] = rng.choice(_values(columns, name, nasty))
    return row


def _person(key: str, row: dict[str, str]) -> Unit:
    return Unit("people", key, (tuple({**row, "id": key or "null"}[n] for n in PEOPLE),))


def _visit(key: str, day: int, row: dict[str, str]) -> Row:
    full = {**row, "person_id": key or "null", "day": f"date '2024-01-01' + {day}"}
    return tuple(full[n] for n in VISITS)


def tables(seed: int, *, nasty: bool) -> Tables:
    """The rows of world ``seed``; ``nasty`` ones hold what only a schema would show.

    In a world of an odd number everybody has a key; in the upper half of every four, nobody has
    two visits.
    """
    rng = random.Random(f"{seed} {nasty}")
    people = _archetypes(rng, PEOPLE, nasty)
    visits = _archetypes(rng, VISITS, nasty)
    days = iter(rng.sample(range(4000), 1000))

    def visitor(key: str, kinds: list[dict[str, str]]) -> Unit:
        rows = (_visit(key, next(days), _like(rng, kind, VISITS, nasty)) for kind in kinds)
        return Unit("visits", key, tuple(rows))

    alone = seed % 4 >= 2
    most = [1] if alone else [1, 1, 2, 4]
    units = [
        _person(str(i + 1), _like(rng, rng.choice(people), PEOPLE, nasty))
        for i in range(PEOPLE_IDS)
    ]
    units += [_person("", people[0])] * (1 - seed % 2)
    units += [visitor(str(i + 1), rng.choices(visits, k=rng.choice(most))) for i in range(VISITORS)]
    units += [visitor("", visits[:2])] * (1 - seed % 2)
    nobody = dict.fromkeys((*PEOPLE, *VISITS), "null")
    more = [_person(str(i + 100), people[i]) for i in range(ARCHETYPES)]
    more += [_person("200", nobody), _person("", people[1])]
    more += [visitor(str(i + 100), [visits[i], visits[0]][: 2 - alone]) for i in range(ARCHETYPES)]
    more += [visitor("201", [nobody]), visitor("", visits[1:3])]
    # A row more of a person who is there already.
    more += [visitor(str(i + 1), [visits[i]]) for i in range(3)]
    return Tables(tuple(units), tuple(more))
