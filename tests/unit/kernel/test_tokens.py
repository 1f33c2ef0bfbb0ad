"""What is free between two texts, and what is not."""

import re
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest

from policy_engine.engines import ENGINES
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import within
from policy_engine.kernel.mechanisms import Keyed
from policy_engine.kernel.printing import printed, templates
from policy_engine.kernel.recodes import Bins, Keep, Map, Round
from policy_engine.kernel.sources import Column, Drawn, People, Relation
from policy_engine.kernel.tokens import Unreadable, _is_name, tokens
from policy_engine.kernel.types import Type

FREE = [
    " ",
    "\n",
    "\t",
    "\r\n",
    " -- a remark\n",
    "/* a remark */",
    "--\n",
    "-- \u202e\n",
    "/*\n*/",
]
NOT_FREE = ["\r", "\v", "\f", "\u00a0", "\u2028", "\ufeff", "\0", "#x\n", "--x\n", "/*! 1 */",
            "/*+ x */", "/*x*/", "/* /* */ */", "/* \0 */", "-- \0\n", ";", "{{ x }}", "/* ",
            "-- a\rb\n"]  # fmt: skip
PRINTED = list(ENGINES)
KNOWN = {"pg_catalog", "utf8mb4", "utf8mb4_nopad_bin", "utf8mb4_0900_bin", "hive_partitioning",
         "Latin1_General_100_BIN2", "Latin1_General_100_CS_AS_SC", "eE", "entry"}  # fmt: skip
"""Of any case the engine's own, a part of a text that is quoted, or what a LAMBDA names."""


def claim_for(name: str) -> Claim:
    """A claim that every engine prints, with every kind of token."""
    whole = Column("age", Type("integer"))
    columns = (
        Shown("age", whole, Bins((18, 65), ("<18", "it's", ">=65"))),
        Shown("group", whole, Map(((((1, 2)), "a"),), None)),
        Shown("near", Column("income", Type("integer")), Round(Decimal(5))),
        Shown("kept", Column("kept", Type("integer")), Keep()),
    )
    unit = People(Column("id", Type("integer")), ((Column("visit", Type("integer")), True),))
    return Claim(Relation(("main", "people")), unit, Keyed(1 << 59, 5), columns)


AGE = Column("age", Type("integer"))
SHORT = Claim(
    Relation(("main", "people")), People(Column("id", Type("integer")), ((AGE, True),)),
    Keyed(1 << 59, 5), (Shown("age", AGE, Bins((18,), ("<18", "it's"))),),
)  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_every_text_is_read_to_its_end(name):
    text = printed(claim_for(name), name)
    found = tokens(text, name)
    assert len(found) > 100
    assert tokens(f"-- sent by us\n{text}\n/* end */", name) == found
    drawn = replace(claim_for(name), unit=People(Column("id", Type("integer")), Drawn()))
    drawn = replace(drawn, filter=(within(AGE, at_least=3),))
    assert len(tokens(printed(drawn, name), name)) > len(found)


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("free", FREE)
def test_white_space_and_plain_comments_are_free(name, free):
    text = printed(claim_for(name), name)
    assert tokens(text.replace("\n", f"\n{free}"), name) == tokens(text, name)
    assert tokens(text + free, name) == tokens(text, name)


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("other", NOT_FREE)
def test_all_else_is_not(name, other):
    text = printed(claim_for(name), name)
    for changed in (text.replace("\n", f"\n{other} ", 1), text + other):
        assert read(changed, name) != tokens(text, name)


def read(text: str, name: str) -> object:
    """The tokens, or that there are none."""
    try:
        return tokens(text, name)
    except Unreadable:
        return None


@pytest.mark.parametrize("name", PRINTED)
def test_a_text_with_one_token_changed_is_another(name):
    """Each dropped, doubled, exchanged with the next, or of another case where that matters."""
    text = printed(SHORT, name)
    wanted, places = tokens(text, name), spans(text)
    assert len(places) >= len(wanted)
    for place, (first, last) in enumerate(places):
        token, rest = text[first:last], text[last:]
        changed = [text[:first] + rest, text[:first] + f"{token} {token}" + rest,
                   text[:first] + token + "x" + rest, text[:first] + " 77 " + rest]  # fmt: skip
        if place + 1 < len(places):
            after = text[places[place + 1][0] : places[place + 1][1]]
            if after != token:
                changed.append(
                    text[:first] + f"{after} {token}" + text[places[place + 1][1] :]
                )  # fmt: skip
        if not token[:1].isalpha():
            changed += [text[:first] + token.swapcase() + rest] * (token.swapcase() != token)
        for other in changed:
            assert read(other, name) != wanted, other


def spans(text: str) -> list[tuple[int, int]]:
    """Where a text's tokens stand, by a lexer of the test's own."""
    form = re.compile(
        r"""E?'(?:[^'\\]|''|\\.)*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|[$@:{][\w:}]+|\w+|[<>|]=?|\S"""
    )
    return [match.span() for match in form.finditer(text)]


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        ("SELECT a", "select a", "clickhouse"),  # its names and functions have a case
        ("FROM sampled", "FROM Sampled", "duckdb"),
        ("AS policy_engine_rank", "AS POLICY_ENGINE_RANK", "postgres"),
        ("SELECT 'a'", "SELECT 'A'", "duckdb"),
        ('SELECT "a"', 'SELECT "A"', "duckdb"),
        ("SELECT 1.0", "SELECT 1.00", "duckdb"),
        ("SELECT 1", "SELECT 01", "duckdb"),
        ("a<=b", "a< =b", "duckdb"),
        ("a||b", "a| |b", "duckdb"),
        ("COUNT(*)", "COUNT (*)", "mariadb"),
        ("x -1", "x - 1", "duckdb"),
        ("E'a'", "E 'a'", "postgres"),
        ("'a' 'b'", "'a''b'", "duckdb"),
    ],
)
def test_what_could_be_read_otherwise_is_told_apart(one, other, name):
    assert read(one, name) != read(other, name)


def test_a_secret_ends_where_it_ends():
    assert tokens("@policy_engine_salt", "mariadb") == (" @policy_engine_salt",)
    for text in ("@policy_engine_salt2", "@other", "$1", "'a", '"a', "1x", "1.2.3"):
        with pytest.raises(Unreadable, match="the character"):
            tokens(text, "mariadb")


def test_every_name_that_a_template_writes_without_quotes_keeps_its_case():
    """Its keywords and functions are in capitals; ClickHouse's functions have a case anyway."""
    for file in sorted(templates().rglob("*.sql.j2")):
        if file.name.startswith("clickhouse"):
            continue
        outside = r"\{[{#%].*?[}#%]\}|'[^']*'|\"[^\"]*\"|[$:@{]\w+(?::\w+})?"
        text = re.sub(outside, " ", file.read_text(), flags=re.DOTALL)
        lower = {word for word in re.findall(r"[A-Za-z_]\w*", text) if word != word.upper()}
        assert {word for word in lower if not _is_name(word)} <= KNOWN, file


@pytest.mark.parametrize(
    "comment",
    [
        "-- groups of at least 20 \\\n",  # Spark goes on in the next line
        # DuckDB begins a text in these.
        "/* ' */", '/* 5" */', "/* ` */", "/* $ */", "/* -- */", "/* a \\ */",
    ],
)  # fmt: skip
def test_a_comment_that_an_engine_may_read_as_more_is_refused(comment):
    with suppress(Unreadable):
        assert tokens(f"SELECT 1 {comment} + 1", "spark") != tokens("SELECT 1 + 1", "spark")


def test_an_apostrophe_in_the_comment_of_a_line_is_plain():
    assert tokens("SELECT 1 -- it's one\n", "duckdb") == tokens("SELECT 1", "duckdb")
