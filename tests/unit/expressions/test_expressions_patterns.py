"""What the kernel holds for a pattern that compiles, DuckDB takes."""

import random

import duckdb
import pytest

from policy_engine.expressions.conversions import compiles, rewrites

PIECES = [
    *"ab0-9^$.|()[]{}*+?\\,:dwbBsQzA12&~", "{2}", "{1,2}", "{,3}", "[a-z]", "[^", "\\d", "\\b",
    "(a)", "[0-9]", "(?:", "[[:alpha:]]",
]  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    ["", "^[0-9]{3}$", "a|b", "(a|b)+c?", r"\d\.\w*", "[^a-z]", "x{1,9}", "a*?"],
)
def test_patterns_that_compile(pattern):
    assert compiles(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(", "a)", "[a", "+", "a**", "a*+", "[z-a]", "a{2,1}", r"\1", r"\Q", "(?i)a", "(?=a)",
     "[[:x:]]", "a{1001}", "(a{99}){99}", r"[\b]", "ä", "a" * 101],
)  # fmt: skip
def test_patterns_of_which_that_is_not_known(pattern):
    assert not compiles(pattern)


def test_duckdb_takes_what_compiles():
    chance, taken = random.Random(7), 0
    with duckdb.connect() as connection:
        for _ in range(6000):
            pattern = "".join(chance.choices(PIECES, k=chance.randrange(8)))
            if not compiles(pattern):
                continue
            replacement = "".join(chance.choices(["a", "\\", "\\1", "\\0", "0", "²"], k=2))
            known = replacement if rewrites(replacement, pattern) else ""
            query = "select regexp_replace('aab0', $p, $r), regexp_extract('aab0', $p, 0)"
            connection.execute(query, {"p": pattern, "r": known}).fetchall()
            taken += 1
    assert taken > 1000


@pytest.mark.parametrize(("replacement", "holds"), [
    ("x", True), (r"\0", True), (r"\1\1", True), (r"\\", True), (r"\2", False), ("\\", False),
    (r"\x", False), ("\\٣", False),
])  # fmt: skip
def test_replacements(replacement, holds):
    assert rewrites(replacement, "(a)") is holds
