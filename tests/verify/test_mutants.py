"""A small change of the engine's own texts is refused, or changes nothing.

Here a part of the changes: all of the kinds that ``SAME`` lists, and of the others one in
MUTANTS_EVERY, which the text of each decides; ``make texts`` tries every one.

``SAME`` lists each kind of mutant that is certified all the same: a text where it survives, and
the reason for which it is the same release. A kind that nobody listed, or that no longer survives
there, fails; and each survivor is run beside the original on one sample: same rows.
"""

import os
import re
import zlib
from contextlib import suppress
from datetime import datetime

import duckdb
import pytest
from golden import CASES, golden
from mutation import mutants

from policy_engine.errors import NotCertifiable

SAME = {
    r"Identifier with(out quoted| quoted = True)": ("prefix", "names are folded, in quotes or not"),
    r"CTE with materialized = True": ("prefix", "a query that is read once is computed once"),
    r"Group expressions\[\d+\] (twice|first)": ("prefix", "the keys of a group are a set"),
    r"Select expressions\[\d+\] first": ("round", "an inner query's columns are read by name"),
    r"Select → its From": (
        "adult native",
        "FROM alone selects every column, of which the rest is not read",
    ),
    r"one column more": ("prefix", "an inner query's column that nobody reads"),
    r"a count more": ("rows", "an inner query's count that nobody reads"),
    r"inside a query": ("prefix", "SELECT * FROM (…) is what is inside"),
    r"Alias → its (Column|Explode)": ("round", "the name it has anyway, or that nobody reads"),
    r"policy_engine_copy → .*": ("rows", "the name of a column that nobody reads"),
    r"drop Star": ("prefix", "COUNT() is COUNT(*)"),
    r"Ordered → its Column": ("prefix", "ascending is the default"),
    r"(Case ifs|In expressions)\[\d+\] twice": (
        "round",
        "a branch or value that stands again decides nothing",
    ),
    r"(In|Is|LT) and true": ("round", "the same condition"),
    r"Order expressions\[\d+\] twice": (
        "prefix",
        "behind all keys a term of the order decides nothing",
    ),
    r"Is mirrored": ("round", "NULL IS x: not a text that DuckDB reads"),
    r"Case ifs\[\d+\] first": ("adult", "branches that no value shares, in another order"),
    r"In expressions\[\d+\] first": ("adult", "the values of IN are a set"),
    r"cast to text": (
        "prefix",
        "a text, or a number looked at only for being NULL, is the same as text",
    ),
    r"cast → try_cast": ("visits", "a conversion that cannot fail"),
    r"Cast → its (Sum|Column|TimestampTrunc)": ("round", "the same value, in a wider type"),
    r"ReadParquet expressions\[1\] first": (
        "prefix",
        "an option before the file: not a text DuckDB reads",
    ),
    r"GenerateSeries without start|0 → 00?(\.0)?": (
        "rows",
        "a range from nought, written otherwise",
    ),
    r"EQ → (LTE|NullSafeEQ)|EQ mirrored": ("visits", "ranks are whole numbers from 1"),
    r"Order expressions\[[2-9]\] first": (
        "visits",
        "how ties break: assumed",
    ),
    r"Ordered with (desc|nulls_first) = True": (
        "visits",
        "as above: which of the rows that tie comes first",
    ),
}
EVERY = int(os.environ.get("MUTANTS_EVERY", "120"))
SLOW = set(CASES) - {"prefix", "round", "adult"}


def kinds_of(what):
    return [kind for kind in SAME if re.fullmatch(kind, what)]


def tried(case):
    return [
        (what, mutant)
        for what, mutant in mutants(golden(case).sql)
        if kinds_of(what) or zlib.crc32(mutant.encode()) % EVERY == 0
    ]


def survivors(case):
    original = golden(case)
    found = []
    for what, mutant in tried(case):
        try:
            original.certify(mutant)
        except NotCertifiable:
            continue
        found.append((what, mutant))
    return found


def plain(rows):
    """Rows with a time at midnight as its date: DATE_TRUNC of a date gives a time."""
    return [tuple(v.date() if isinstance(v, datetime) else v for v in row) for row in rows]


def connection(case):
    con = duckdb.connect()
    original = golden(case)
    name = re.search(r"policy_engine_sample_\w+", original.sql)
    if name is None:
        return None
    units = "select (i * 7) % 50000 as unit from range(30000) r(i)"
    con.execute(f"create table {name[0]} as select distinct unit from ({units})")
    return con


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.evidence if case in SLOW else ()) for case in CASES],
)
def test_every_mutant_is_refused_or_the_same(case, monkeypatch):
    monkeypatch.chdir(golden(case).policy.directory)
    con = connection(case)
    wanted = plain(con.execute(golden(case).sql).fetchall()) if con is not None else []
    assert con is None or len(wanted) > 1
    seen = set()
    for what, mutant in survivors(case):
        reasons = kinds_of(what)
        assert reasons, f"{what}\n{mutant}"
        seen.update(reasons)
        if con is not None:
            with suppress(duckdb.Error):  # what does not run releases nothing
                assert plain(con.execute(mutant).fetchall()) == wanted, f"{what}\n{mutant}"
    assert seen >= {kind for kind, (where, _) in SAME.items() if where == case}
