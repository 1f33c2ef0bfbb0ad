"""What the kernel reads out of a text is what DuckDB makes of it, whatever the names.

Queries are generated with names that hide each other on purpose: aliases called like columns,
columns called like tables, every spelling of a name. Each query that is proved is run with a
sample of (almost surely) everybody, and its rows are compared with those of the mechanism
that the proof names, written out anew from its shape.
"""

import os
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

#: The part of the examples that are tried; "make evidence" tries all.
PART = 1 if os.environ.get("EVIDENCE") else 5
K = 3
ALL = "99.99999997"
"""A sample of everybody but 3 in 10¹⁰: as near to 1 as the kernel takes for a native sample."""
TRIES = 4
NAMES = ["a", "b", "c", "n", "m", "t"]
TYPES = {"a": "INTEGER", "b": "VARCHAR", "c": "INTEGER", "n": "INTEGER"}


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    connection.execute(
        "create table t as select (i % 3)::integer as a, 'x' || (i % 4) as b,"
        " (i % 2)::integer as c, (i % 5)::integer as n from range(60) r(i)"
    )
    return connection


ODDS = 12
"""One choice in this many is an odd one, so that most queries mean something."""


@st.composite
def usually(draw, common, odd):
    return draw(odd if draw(st.integers(1, ODDS)) == 1 else common)


def spelled(name):
    return usually(st.just(name), st.sampled_from([name.upper(), f'"{name}"', f'"{name.upper()}"']))


def columns(scope, table):
    known = st.sampled_from(scope or NAMES).flatmap(spelled)
    other = st.sampled_from(NAMES).flatmap(spelled)
    tables = st.sampled_from([table, table.upper(), "t", "q"])
    return usually(usually(known, st.builds("{}.{}".format, tables, known)), other)


def rows(scope, table):
    """Expressions of one row, most of them plain columns."""
    column = columns(scope, table)
    built = st.one_of(
        st.sampled_from(["1", "'x'"]),
        column.map("({})".format),
        st.builds("{} + 1".format, column),
        st.builds("{} || 'x'".format, column),
        st.builds("case when {} = {} then {} end".format, column, column, column),
        st.builds("coalesce({}, {})".format, column, column),
    )
    return st.one_of(column, built)


SAMPLED = f"t tablesample bernoulli ({ALL} percent)"
TOTALS = ["count(*)", "count(1)", "sum(n)", "sum(m)", "cast(sum(n) as bigint)"]
ODD_COUNTS = ["count(a)", "count(*) + 1", "n * 2 as m", "max(a) as n", "sum(a) as n"]
THRESHOLDS = ["count(*) >= 3", "3 <= count(*)", "n >= 3", "n >= 3", "N > 2", "m >= 3"]
ODD_THRESHOLDS = ["t.n >= 3", "a >= 3", "count(*) >= 3 or a = 1", "sum(a) >= 3", "n >= 1"]


class Query:
    """A query in the making: its text, its output names, and whether it counted."""

    def __init__(self, source, scope, table, counted):
        self.source, self.scope, self.table, self.counted = source, scope, table, counted

    def projected(self, draw):
        items, names = [], []
        for _ in range(draw(st.integers(1, 3))):
            if draw(st.integers(0, 3)) == 0:
                items.append(draw(usually(st.just("*"), st.just(f"{self.table}.*"))))
                names += self.scope
            else:
                self._item(draw, items, names)
        return f"select {', '.join(items)} from {self.source}{self._where(draw)}", names

    def _item(self, draw, items, names):
        row = draw(rows(self.scope, self.table))
        alias = draw(st.sampled_from([None, *NAMES]))
        items.append(row if alias is None else f"{row} as {draw(spelled(alias))}")
        names.append(alias or row)

    def _where(self, draw):
        condition = st.builds("{} = {}".format, *[rows(self.scope, self.table)] * 2)
        odd = st.sampled_from([*THRESHOLDS, *ODD_THRESHOLDS])
        return draw(usually(st.just(""), st.one_of(condition, odd).map(" where {}".format)))

    def grouped(self, draw, passes):
        items, names = [], []
        for _ in range(draw(st.integers(1, 2))):
            self._item(draw, items, names)
        plain, shown = list(items), list(names)
        totals = ["sum(n)", "cast(sum(n) as bigint)", "sum(m)"] if self.counted else TOTALS[:2]
        for alias in draw(st.sampled_from([["n"], ["n"], ["n", "m"], ["m"], ["a"], []])):
            total = draw(usually(st.sampled_from(totals), st.sampled_from(TOTALS + ODD_COUNTS)))
            items.append(total if " as " in total else f"{total} as {alias}")
            names.append(alias)
        keys = ["all", ", ".join(str(i + 1) for i in range(len(plain)))]
        by_name = ", ".join(name or item for name, item in zip(shown, plain, strict=True))
        whole = ", ".join(item.split(" as ")[0] for item in plain)
        odd = rows(self.scope, self.table)
        key = draw(usually(st.sampled_from([*keys, by_name, by_name, whole]), odd))
        order = draw(st.permutations(range(len(items)))) if key == "all" else range(len(items))
        text = f"select {', '.join(items[i] for i in order)} from {self.source}"
        text += f"{self._where(draw)} group by {key}"
        if passes:
            first = ["sum(n) >= 3", "sum(m) >= 3"] if self.counted else THRESHOLDS
            bound = usually(st.sampled_from(first), st.sampled_from(THRESHOLDS + ODD_THRESHOLDS))
            text += f" having {draw(bound)}"
            more = st.builds(" and {} = {}".format, odd, odd)
            text += draw(usually(st.just(""), more))
        return text, [names[i] for i in order]


@st.composite
def queries(draw):
    query, steps = Query(SAMPLED, list(TYPES), "t", False), []
    for step in draw(st.lists(st.sampled_from(["s", "q", "t"]), max_size=2, unique=True)):
        counts = not query.counted and draw(st.integers(0, 2)) == 0
        if counts:
            body, names = query.grouped(draw, draw(st.integers(0, 5)) == 0)
        else:
            body, names = query.projected(draw)
        steps.append(f"{step} as ({body})")
        query = Query(draw(spelled(step)), names, step, query.counted or counts)
    if query.counted and draw(st.booleans()):
        last = query.projected(draw)[0].split(" where ")[0]
        last += f" where {draw(st.sampled_from(['n >= 3', 'm > 2', 'n = 3', 'a >= 3']))}"
    else:
        last = query.grouped(draw, True)[0]
    last += draw(usually(st.just(""), rows(query.scope, query.table).map(" order by {}".format)))
    return (f"with {', '.join(steps)} " if steps else "") + last


def expected(shape):
    """The mechanism of ``shape``, without its sample, as DuckDB computes it."""
    shown = {column.name: column.sql for column in shape.columns}
    selected = ", ".join(shown.get(name, "count(*)") for name in shape.shown)
    return f"select {selected} from t group by all having count(*) >= {shape.k}"


def comparable(proof):
    """Whether the shape says all that decides the rows, and its assumptions hold of ``t``."""
    shape = proof.shape
    whole = all(not column.sql.startswith("a function of") for column in shape.columns)
    untrue = {f"t has no column of its own called {name}" for name in TYPES}
    plain = whole and not shape.filtered and not shape.hidden and shape.form == "counts"
    return plain and not untrue & set(proof.assumptions)


def fetched(con, query):
    """The rows of ``query``; None where it does not run, and so releases nothing."""
    try:
        return sorted(con.execute(query).fetchall(), key=repr)
    except duckdb.Error:
        return None


def compared(con, schema, query):
    """Whether a query was proved, ran, and gave what its proof says."""
    proof = prove(query, schema)
    if proof.shape is None:
        return False
    assert proof.shape.k >= 2
    assert proof.shape.rate == Fraction(ALL) / 100
    rows = fetched(con, query)
    if rows is None or not comparable(proof):
        return False
    wanted = fetched(con, expected(proof.shape))
    assert wanted is not None
    # Once in a hundred million times, a row is not in the sample.
    assert any(rows == wanted or fetched(con, query) == wanted for _ in range(TRIES))
    return True


@pytest.mark.parametrize("schema", [None, Schema({"t": TYPES}, known=True)], ids=["open", "known"])
def test_what_is_proved_is_what_runs(con, schema):
    done = []

    @settings(max_examples=600 // PART, deadline=None)
    @given(query=queries())
    def every(query):
        done.append(compared(con, schema, query))

    every()
    # Where hardly any query is proved and run, nothing is tested.
    assert sum(done) >= len(done) / 50
