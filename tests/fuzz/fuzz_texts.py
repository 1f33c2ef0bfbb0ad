"""Texts to fuzz with: the corpora, softened, and their mutants by token, by tree and by byte."""
# ruff: noqa: E501  # tables and texts of SQL, one a line, are read better whole

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import sqlglot
from fuzz_grammar import ALL, Grammar

TESTS = Path(__file__).parents[1]
if str(TESTS / "verify") not in sys.path:
    sys.path.append(str(TESTS / "verify"))

from corpus import cases  # noqa: E402
from mutation import _changes, _put  # noqa: E402

SPECIAL = [
    "all", "only", "distinct", "limit 1", "~", "!", "#1", "''", "e", "$$", ";", "--", "/*", "*/",
    "\\", "`", "\u00a0", "::", ":=", "=>", "->", "..", "0x1F", "1_0", "1e3", "null", "'\n'", "\x00",
    "ignore nulls", "using sample 1%", "repeatable (1)", "escape '!'", "lateral", "filter (where true)",
    "over ()", "with ordinality", "as", "at", "qualify", "rollup", "grouping sets", "exclude",
    "replace", "union all by name", "asof", "pivot", "unpivot", "try", "collate nocase", "row",
    "sum", "n", "rn", "sex", "people", "0", "1", "-1", "99999999999999999999", "1e999", "é", "\ud800",
]  # fmt: skip


def soften(text: str) -> str:
    """A text of the corpora with a threshold and a rate that small tables can pass.

    >>> soften("from people tablesample bernoulli (10 percent) having count(*) >= 20")
    'from people tablesample bernoulli (99.99999997 percent) having count(*) >= 3'
    """
    text = re.sub(r"'(0ccc|1999|0?19999999999999a?)'", "'c000'", text)
    text = text.replace("199999999999999", "c00000000000000")
    text = re.sub(r"\b(10|0\.5)(\s*)(%|percent)", rf"{ALL}\2\3", text, flags=re.IGNORECASE)
    text = text.replace("random() > 0.9", "random() > 0.0000000003")
    text = text.replace("random() < 0.1", "random() < 0.9999999997")
    text = re.sub(r"\b1/10\b|\b0\.05\b", "0.9999999997", text)
    return re.sub(r"\b19\b", "2", re.sub(r"\b20\b", "3", text))


@cache
def seeds() -> tuple[str, ...]:
    """The corpora's texts, the accepted ones twice, and the golden texts."""
    accepted = [soften(case.sql) for case in cases("accepted.sql")]
    refused = [soften(case.sql) for case in cases("refused.sql")]
    golden = [path.read_text() for path in sorted((TESTS / "golden/duckdb").glob("*.sql"))]
    return (*accepted, *accepted, *refused, *golden)


def tokens(text: str) -> list[str]:
    """The tokens of a text; its words, where it has none."""
    try:
        found = sqlglot.tokenize(text, read="duckdb")
    except Exception:
        return text.split(" ")
    return [text[t.start : t.end + 1] for t in found]


@cache
def pool() -> tuple[str, ...]:
    """Every token of the corpora, and special ones."""
    return (*sorted({token for text in seeds() for token in tokens(text)}), *SPECIAL)


def by_token(text: str, rng: random.Random) -> str:
    """``text`` with one to three tokens taken out, put in, doubled, swapped or exchanged."""
    parts = tokens(text)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if not parts:
            break
        place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        deed = rng.randrange(6)
        if deed == 0:
            del parts[place]
        elif deed == 1:
            parts.insert(place, parts[other])
        elif deed == 2:
            parts[place], parts[other] = parts[other], parts[place]
        elif deed == 3:
            parts[place] = rng.choice(pool())
        elif deed == 4:
            parts.insert(place, rng.choice(pool()))
        else:
            parts[place:place] = parts[other : other + rng.randrange(1, 12)]
    return " ".join(parts)


def by_splice(text: str, rng: random.Random) -> str:
    """The head of ``text`` and the tail of another."""
    one, two = tokens(text), tokens(rng.choice(seeds()))
    return " ".join(one[: rng.randrange(len(one) + 1)] + two[rng.randrange(len(two) + 1) :])


def by_tree(text: str, rng: random.Random) -> str:
    """``text`` with one to three nodes of its syntax tree changed."""
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
        for _ in range(rng.choice([1, 1, 2, 3])):
            node = rng.choice(list(tree.walk()))
            changes = list(_changes(node))
            _, replacement = rng.choice(changes) if changes else ("", node)
            if replacement is not node:
                _put(node, replacement)
        return tree.sql("duckdb", comments=False)
    except Exception:  # what the parser cannot read or write is mutated as text
        return by_token(text, rng)


def by_byte(text: str, rng: random.Random) -> str:
    """``text`` with some letters exchanged for any."""
    letters = list(text)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(letters) + 1)
        letters[place : place + rng.randrange(3)] = chr(
            rng.choice([rng.randrange(128), rng.randrange(0x3000)])
        )
    return "".join(letters)


def noise(rng: random.Random) -> str:
    """Letters without any sense."""
    size = rng.randrange(80)
    if rng.random() < 0.5:
        return " ".join(rng.choice(pool()) for _ in range(size))
    return "".join(chr(rng.randrange(0x110000 if rng.random() < 0.1 else 256)) for _ in range(size))


MUTATORS: tuple[Callable[[str, random.Random], str], ...] = (by_token, by_tree, by_splice, by_byte)


def text_of(number: int, seed: int) -> str:
    """Text ``number`` of the run ``seed``."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.random()
    if kind < 0.03:
        return noise(rng)
    text = Grammar(rng).query() if kind < 0.75 else rng.choice(seeds())
    if kind < 0.45:
        return text
    return rng.choices(MUTATORS, (4, 4, 1, 1))[0](text, rng)
