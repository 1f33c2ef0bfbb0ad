"""What the kernel says of a column's values is what DuckDB makes of each of them.

Expressions are generated over one column and evaluated by DuckDB on every value that could
matter: each constant, its neighbours, the ends of the type, both zeros, NaN, infinities and NULL.
A map must name one line for each value, and that line must show what DuckDB shows; two
conditions that are said to exclude each other must hold together on no value.
"""

import random

import duckdb
import pytest
import sqlglot

from policy_engine.expressions.value_map import can_both_hold, value_map

# Constants as a policy's author writes them, and the values that lie on and beside them.
CONSTANTS = {
    "INTEGER": ["0", "-1", "17", "17.5", "18", "2147483647"],
    "DOUBLE": ["0", "-1.5", "0.1", "0.7", "100000"],
    "FLOAT": ["0", "-1.5", "0.1", "0.7", "100000"],
    "DECIMAL(5,2)": ["0", "-1.5", "0.125", "0.12", "999.99"],
    "VARCHAR": ["''", "'a'", "'B'", "'ä'", "'10'", "'9'"],
    "DATE": ["'2020-01-01'", "cast('2020-01-01' as date)", "'0001-01-01'", "'2021-06-30'"],
    "TIMESTAMP": ["'2020-01-01'", "cast('2020-01-01' as date)", "'2020-01-01 10:00:00.5'"],
    "BOOLEAN": ["true", "false"],
}
VALUES = {
    "INTEGER": ["-2147483648", "-2", "-1", "0", "1", "16", "17", "18", "19", "2147483647"],
    "DOUBLE": [
        "'nan'", "'inf'", "'-inf'", "'-0.0'", "0", "-1.5", "-1.6", "0.1", "0.09999999999999999",
        "0.10000000000000002", "0.7", "0.6999999999999999", "1e300", "100000", "0.5",
    ],
    "FLOAT": [
        "'nan'", "'inf'", "'-inf'", "'-0.0'", "0", "-1.5", "-1.6", "0.1", "0.099999994",
        "0.10000001", "0.7", "0.69999994", "0.7000001", "1e30", "100000", "0.5",
    ],
    "DECIMAL(5,2)": ["-999.99", "-1.5", "-1.49", "0", "0.12", "0.13", "0.01", "999.99", "5"],
    "VARCHAR": ["''", "'a'", "'A'", "'B'", "'b'", "'ä'", "'aa'", "'9'", "'10'", "'99'", "'𝄞'"],
    "DATE": ["'2020-01-01'", "'2019-12-31'", "'0001-01-01'", "'0001-01-01 (BC)'", "'infinity'",
             "'2021-06-30'", "'2021-07-01'", "'5000-01-01'"],
    "TIMESTAMP": ["'2020-01-01'", "'2020-01-01 00:00:00.000001'", "'2020-01-01 10:00:00.5'",
                  "'2020-01-01 10:00:00.500001'", "'2019-12-31 23:59:59.999999'", "'infinity'",
                  "'-infinity'", "'0001-01-01 (BC)'"],
    "BOOLEAN": ["true", "false"],
}  # fmt: skip


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    for place, (kind, values) in enumerate(VALUES.items()):
        rows = ", ".join(f"(cast({value} as {kind}))" for value in [*values, "null"])
        connection.execute(f"create table t{place} as select * from (values {rows}) as t(x)")
    return connection


def table(kind):
    return f"t{list(VALUES).index(kind)}"


class Author:
    """Writes expressions over ``x`` at random, and the same ones for the same seed."""

    def __init__(self, kind, seed):
        self._kind, self._chance = kind, random.Random(f"{kind} {seed}")

    def constant(self):
        return self._chance.choice(CONSTANTS[self._kind])

    def condition(self, depth=2):
        if depth and self._chance.random() < 0.5:
            form = self._chance.choice(JOINED)
            return form.format(*(self.condition(depth - 1) for _ in range(3)))
        forms = OF_ONE_TYPE.get(self._kind)
        odd = forms is not None and self._chance.random() < 0.1
        form = self._chance.choice(forms if odd else COMPARED)
        return form.format(*(self.constant() for _ in range(3)))

    def recode(self, depth=2):
        if not depth or self._chance.random() < 0.2:
            return self._chance.choice(["'p'", "'q'", "'r'", "null"])
        shown = (self.recode(depth - 1) for _ in range(3))
        form = self._chance.choice(RECODED)
        if "case x" in form:
            return form.format(self.constant(), next(shown), self.constant(), next(shown))
        return form.format(self.condition(1), self.condition(1), *shown)


COMPARED = [
    "x = {}", "x <> {}", "x < {}", "x <= {}", "x > {}", "x >= {}", "{} < x", "{} >= x",
    "x between {} and {}", "x not between {} and {}", "x in ({}, {}, null)", "x in ({}, {})",
    "x is null", "x is not null", "x is distinct from {}", "x is not distinct from {}",
    "nullif(x, {}) is null", "coalesce(x > {}, {} = {})", "x = null",
]  # fmt: skip
OF_ONE_TYPE = {
    "BOOLEAN": ["x"],
    "VARCHAR": ["x like '1%'", "starts_with(x, 'a')", "upper(x) = {}", "x collate nocase = {}"],
    "DOUBLE": ["isnan(x)", "x < 7e-1"],
    "FLOAT": ["isnan(x)", "x < 7e-1"],
    "INTEGER": ["x", "x is true", "x <> true", "x < 17.5e0", "x // 2 = {}"],
    "DATE": ["date_trunc('day', x) = '2020-01-01'", "year(x) = 2020"],
    "TIMESTAMP": ["date_trunc('day', x) = '2020-01-01 00:00:00'"],
}
"""Conditions that show more of a value than its place between the constants."""
JOINED = ["({} and {})", "({} or {})", "(not {})", "coalesce({}, {})", "if({}, {}, {})"]
RECODED = [
    "if({0}, {2}, {3})", "case when {0} then {2} when {1} then {3} else {4} end",
    "case when {0} then {2} when {1} then {3} end", "case x when {} then {} when {} then {} end",
    "coalesce({2}, if({0}, {3}, {4}))", "nullif(case when {0} then {2} else {3} end, 'p')",
]  # fmt: skip


def ranges_of(found):
    """The condition of each line of a map as SQL; the lines are apart, and name every value."""
    special = [SPECIAL[entry.when] for entry in found if entry.when in SPECIAL]
    named = [entry.when for entry in found if entry.when not in {*SPECIAL, ANOTHER, "any x"}]
    # SQL has no a <= x < b.
    plain = {when: " and ".join(_halves(when)) for when in named}
    rest = f"not ({' or '.join([*special, *plain.values()])})"
    known = {**SPECIAL, **{when: f"({test}) and not ({' or '.join(special)})"
             for when, test in plain.items()}}  # fmt: skip
    return [known.get(entry.when, rest) for entry in found]


TRIES = 300
ANOTHER = "x is another"
SPECIAL = {"x IS NULL": "x is null", "x IS NAN": "isnan(x)"}


def _halves(when):
    low, found, high = when.partition(" x ")
    return (f"{low} x", f"x {high}") if found else (when,)


@pytest.mark.parametrize("kind", VALUES)
def test_a_map_shows_what_duckdb_shows(con, kind):
    mapped = 0
    for seed in range(TRIES):
        sql = Author(kind, seed).recode()
        found = value_map(sqlglot.parse_one(sql, read="duckdb"), kind)
        if found is None or "x IS NULL" not in {entry.when for entry in found}:
            continue  # no map, or one of a part of the expression
        lines = zip(ranges_of(found), found, strict=True)
        asked = ", ".join(f"({test}), ({entry.shown})" for test, entry in lines)
        rows = con.execute(f"select {sql}, x, {asked} from {table(kind)}").fetchall()
        for made, value, *row in rows:
            shown = [outcome for held, outcome in zip(row[::2], row[1::2], strict=True) if held]
            assert shown == [made], (sql, value, found)
        mapped += 1
    assert mapped > TRIES / 6


@pytest.mark.parametrize("kind", VALUES)
def test_conditions_that_exclude_each_other_hold_together_on_no_value(con, kind):
    apart = []
    for seed in range(3 * TRIES):
        author = Author(kind, seed)
        pair = author.condition(), author.condition()
        nodes = (sqlglot.parse_one(text, read="duckdb") for text in pair)
        if not can_both_hold(*nodes, {"x": kind}, set()):
            apart.append(pair)
    together = ", ".join(f"count(*) filter (({a}) and ({b}))" for a, b in apart)
    counts = con.execute(f"select {together} from {table(kind)}").fetchone()
    assert [pair for pair, count in zip(apart, counts, strict=True) if count] == []
    assert len(apart) > TRIES / 3


def said_and_true(con, kind):
    """Of every pair of single conditions: what is said to be apart, and what is on the values."""
    plain = [f"x {sign} {c}" for sign in ("=", "<", "<=", ">", ">=", "<>") for c in CONSTANTS[kind]]
    odd = ["x is null", *OF_ONE_TYPE.get(kind, [])]
    plain += list({form.format(c) for form in odd for c in CONSTANTS[kind]})
    nodes = {text: sqlglot.parse_one(text, read="duckdb") for text in plain}
    pairs = [(a, b) for place, a in enumerate(plain) for b in plain[place:]]
    asked = ", ".join(f"coalesce(bool_or(({a}) and ({b})), false)" for a, b in pairs)
    truth = con.execute(f"select {asked} from {table(kind)}").fetchone()
    for (a, b), together in zip(pairs, truth, strict=True):
        yield a, b, can_both_hold(nodes[a], nodes[b], {"x": kind}, set()), together


@pytest.mark.parametrize("kind", VALUES)
def test_every_pair_of_single_conditions(con, kind):
    """Sound on every pair, and of use: most of the pairs that are apart are found to be."""
    apart = found = 0
    for a, b, said, together in said_and_true(con, kind):
        assert said or not together, (a, b)
        apart += not together
        found += not said
    assert found > apart / 3


def test_a_column_that_is_compared_with_itself_has_no_map():
    case = "case when age < 5 then 'a' when age <= age then 'b' end"
    assert value_map(sqlglot.parse_one(case, dialect="duckdb"), "INTEGER") is None
