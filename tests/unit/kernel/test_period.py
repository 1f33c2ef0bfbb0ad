"""A release of one period: what a claim of it may be, and where its text keeps other rows out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from random import Random

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import expressions as exp

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.filters import one_of, within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import (
    Clip,
    Inserted,
    IntegerTable,
    Keyed,
    Measure,
    Native,
    Noisy,
    NoisyPart,
    Quantity,
    Randomised,
)
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep, Map
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Groups,
    KeyColumns,
    People,
    Relation,
    Rows,
)
from policy_engine.kernel.types import Type

PERSON, HOSPITAL = Column("person", Type("integer")), Column("hospital", Type("text"))
DAY = Column("visited", Type("date"))
REGION = Shown("region", Column("region", Type("text")), Keep())
YES = Shown("region", Column("region", Type("text")), Map(((("a",), "x"),), "y"))
COST = Column("cost", Type("integer"))
OCTOBER = within(DAY, at_least=date(2026, 10, 1), below=date(2026, 11, 1))
SECRET = Secret(("main", "salts"), "next")
TABLE = IntegerTable((1 << 59,), least=0)
RELATION = Relation(("main", "visits"))
NOISY = Noisy(TABLE, 1, 0, False, SECRET)

UNITS = {
    "rows": Rows(),
    "the first": People(PERSON, ((DAY, True),)),
    "a drawn one": People(PERSON, Drawn()),
    "all": People(PERSON, Groups(2)),
    "one": People(PERSON, None),
    "of a key of columns": People(KeyColumns((HOSPITAL, PERSON)), ((DAY, True),)),
}
LAWS = {
    "sample": Keyed(1 << 59, 2, False, SECRET),
    "raw values first": Keyed(1 << 59, 2, True, SECRET),
    "native": Native(Decimal("0.5"), 2),
    "noisy": NOISY,
    "a sum": replace(NOISY, quantities=(Quantity(COST, Clip(0, 9), 0, TABLE),),
                     measures=(Measure("total", 1),)),
    "a part": NoisyPart(**vars(NOISY), parts=2, number=1),
    "answers": Randomised((Response(("x", "y", None), 1 << 58),), SECRET),
    "tuples": Inserted(3 << 58, 1 << 58, (("x", "y", None),), SECRET),
}  # fmt: skip


def claims():
    """Every kind of unit and of law that go together."""
    for named, unit in UNITS.items():
        for law_name, law in LAWS.items():
            shown = YES if law_name in ("answers", "tuples") else REGION
            count = None if law_name == "tuples" else "n"
            for kept in ((), (within(COST, at_least=1),)):
                try:
                    claim = Claim(RELATION, unit, law, (shown,), count, kept, OCTOBER)
                except ClaimError:
                    continue
                yield pytest.param(claim, id=f"{named}, {law_name}, {len(kept)}")


CLAIMS = list(claims())


def test_there_is_a_claim_of_each_kind():
    assert len(CLAIMS) > 50


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_nothing_that_sees_two_rows_stands_before_the_period(engine):
    """The relation is read in one place, of its rows alone, which the period is asked of there."""
    checked = 0
    for claim in (each.values[0] for each in CLAIMS):
        try:
            text = printed(claim, engine)
        except Refused:
            continue  # with a period or without
        checked += 1
        # What is computed from here on is of what this step keeps: nobody else reads the relation.
        assert text.count("visits") == 1
        if claim.filter and engine != "duckdb":
            continue  # the step is the same as without
        check_first_step(text, engine)
    assert checked > 10 or engine == "sqlite"  # which has no dates


def check_first_step(text, engine):
    dialect = {"mariadb": "mysql", "datafusion": "duckdb", "sqlserver": "tsql"}.get(engine, engine)
    tables = sqlglot.parse_one(text, dialect=dialect).find_all(exp.Table)
    [read] = [table for table in tables if table.name == "visits"]
    step = read.parent_select
    assert read.find_ancestor(exp.From, exp.Subquery).parent is step  # and nothing in between
    where = step.args["where"].this
    conditions = list(where.flatten()) if isinstance(where, exp.And) else [where]
    [period] = [each for each in conditions if list(each.find_all(exp.Case))]
    assert isinstance(period, exp.EQ) and "kept" in period.expression.sql()
    assert {column.name.lower() for column in period.find_all(exp.Column)} == {"visited"}
    assert not list(where.find_all(exp.AggFunc, exp.Window))
    assert not any(step.args.get(key) for key in ("group", "having", "joins", "qualify"))


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_is_written_and_read_again_and_tells_claims_apart(claim):
    assert claim_from(to_json(claim)) == claim
    november = within(DAY, at_least=date(2026, 11, 1), below=date(2026, 12, 1))
    others = [replace(claim, period=None), replace(claim, period=november)]
    assert len({claim.digest, *(each.digest for each in others)}) == 3
    assert len({claim.stream, *(each.stream for each in others)}) == 3


def test_the_column_of_a_period_is_read_and_is_no_input():
    claim = Claim(RELATION, UNITS["the first"], NOISY, (REGION,))
    assert claim.read == claim.inputs == replace(claim, period=OCTOBER).inputs
    assert [column.name for column in replace(claim, period=OCTOBER).read] == ["region", "visited"]


@pytest.mark.parametrize(
    ("period", "law"),
    [
        (within(DAY, below=date(2026, 11, 1)), "a period has two ends"),
        (within(DAY, at_least=date(2026, 10, 1)), "a period has two ends"),
        (within(COST, at_least=1, below=5), "a period has two ends"),
        (one_of(DAY, (date(2026, 10, 1),)), "a period has two ends"),
        (within(Column("region", Type("date")), at_least=date(2026, 10, 1),
                below=date(2026, 11, 1)), "a column is read in one way"),
    ],
)  # fmt: skip
def test_what_is_no_period_is_refused(period, law):
    with pytest.raises(ClaimError, match=law):
        Claim(RELATION, UNITS["the first"], NOISY, (REGION,), period=period)


def test_no_shown_name_is_that_of_its_column():
    shown = replace(REGION, name="visited")
    with pytest.raises(ClaimError, match="no other column's"):
        Claim(RELATION, UNITS["one"], NOISY, (shown,), period=OCTOBER)


def test_a_column_that_an_engine_cannot_compare_is_refused_there():
    other = within(
        Column("visited", Type("text"), "timestamp"),
        at_least=datetime(2026, 10, 1), below=datetime(2026, 11, 1),
    )  # fmt: skip
    claim = Claim(RELATION, Rows(), NOISY, (REGION,), period=other)
    with pytest.raises(Refused):
        printed(claim, "mysql")


def visits(chance):
    """Some people's visits over three months, some without a date."""
    days = [None, *(date(2026, month, day) for month in (9, 10, 11) for day in (1, 15, 30))]
    return [
        (chance.randint(1, 12), chance.choice("ab"), chance.choice(days), chance.choice(["a", "b"]),
         chance.randint(0, 9))
        for _ in range(60)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        made.execute("CREATE TABLE salts (release_id VARCHAR, salt VARCHAR)")
        made.execute("INSERT INTO salts VALUES ('next', ?)", ["5" * 64])
        yield made


def released(connection, claim, rows):
    names = ("person", "hospital", "visited", "region", "cost")
    people = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    connection.execute("CREATE OR REPLACE TABLE visits AS FROM people")
    assert people.num_rows == len(rows)
    return connection.sql(printed(claim, "duckdb")).fetchall()


OF_PEOPLE = [
    each for each in CLAIMS
    if isinstance(each.values[0].unit, People) and each.values[0].unit.order is not None
]  # fmt: skip


@pytest.mark.parametrize("claim", OF_PEOPLE)
def test_rows_of_other_periods_change_nothing(connection, claim):
    """A person's rows of one period go, all others stay: what is drawn of October is the same."""
    for seed in range(3):
        rows = visits(Random(seed))
        own = [row for row in rows if row[0] == seed + 1]
        october = [row for row in rows if row[2] and row[2].month == 10]
        wanted = released(connection, claim, october)
        for month in (9, 11):
            gone = [row for row in own if row[2] and row[2].month == month]
            assert released(connection, claim, [row for row in rows if row not in gone]) == wanted
        assert released(connection, claim, rows) == wanted


def test_a_filter_of_the_row_that_is_kept_would_change_it(connection):
    """The same months as a filter: October loses whoever came again in November."""
    claim = Claim(RELATION, UNITS["the first"], NOISY, (REGION,), "n", (OCTOBER,))
    changed = 0
    for seed in range(6):
        rows = visits(Random(seed))
        october = [row for row in rows if row[2] and row[2].month == 10]
        changed += released(connection, claim, rows) != released(connection, claim, october)
    assert changed == 6
