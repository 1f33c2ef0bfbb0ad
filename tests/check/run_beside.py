"""Whether a text and the one that is printed instead of it mean the same: both are run, on DuckDB.

They are run over small tables with NULLs, boundaries of what the text compares with, and groups of
one below the threshold, at it and above. Of each the sample is the same: a hash keeps a person by
the last sign of its key, and where rows are drawn, all are in. So the rate is no part of what is
compared here; the laws of the claim are compared by themselves.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache

import corpus
import duckdb
import pyarrow as pa

from policy_engine.check.answer import Answer, answer
from policy_engine.check.schema import Schema

_RATE = re.compile(
    r"(tablesample|using\s+sample)(.{0,50}?)[\d.]+(?:e\d+)?(\s*)(%|percent)", re.IGNORECASE
)
_TABLE = re.compile(
    r"^\s*create\s+(?:or\s+replace\s+)?(?:temp\s+)?table\s+(?:if\s+not\s+exists\s+)?"
    r"(\S+)\s+as\b",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SAMPLE_TABLE = re.compile(r'"?(policy_engine_sample_\w+)"?')
_EVERY_ROW = "SELECT 0 AS policy_engine_block, repeat('1', 4096)::BIT AS policy_engine_bits"
_DAYS = [date(1899, 12, 31), date(1949, 12, 31), date(1975, 5, 17), date(1979, 12, 31),
         date(1980, 1, 1), date(1980, 2, 20), date(1986, 1, 1), date(2000, 1, 1),
         date(2008, 1, 1), date(2008, 1, 2), date(2023, 2, 14), date(2023, 11, 30),
         date(2024, 2, 29)]  # fmt: skip
_TEXTS = ["", " ", "12345", "12399", "94301", "b", "B", "JOHN", "New York"]
_NUMBERS = [-25, -15, -7, 0, 3, 5, 9, 14, 15, 25, 37, 45, 66]
MOST_SEEDS = 3
#: To make a table takes as long as to answer five texts: 'make evidence' makes them all.
SEEDS = MOST_SEEDS if os.environ.get("EVIDENCE") else 1


@dataclass(frozen=True)
class Outcome:
    """``kind`` is refused, same, told, silent or certified; ``differs`` how a silent one does."""

    kind: str
    answer: Answer
    differs: str = ""


def outcome(case: corpus.Case, ddl: str, schema: Schema) -> Outcome:
    """What a text's answer is worth, over the tables of ``ddl``."""
    found = answer(case.sql, "duckdb", schema)
    if not found.findings:
        return Outcome("certified", found)
    if not found.canonical or found.claim is None:
        return Outcome("refused", found)
    if is_told(found):
        return Outcome("told", found)
    differs = difference(case.sql, found.canonical, ddl, found.claim.law.k, found.afterwards)
    return Outcome("silent" if differs else "same", found, differs)


def is_told(found: Answer) -> bool:
    """Whether an answer says that its text is another in something than the one it is for."""
    return bool(found.missed) or any("and by the text as" in each for each in found.taken)


def difference(own: str, other: str, ddl: str, k: int, afterwards: str = "") -> str:
    """By which rows two texts differ over small tables of ``SEEDS`` kinds; empty if by none.

    Where nothing is released over one, another is made.

    Raises:
        ValueError: no table was found over which anything is released.
    """
    is_empty = True
    for seed in range(MOST_SEEDS):
        if seed >= SEEDS and not is_empty:
            break
        with tables(ddl, _COMMENT.sub(" ", own), k, seed) as connection:
            mine = rows(connection, own)
            others = rows(connection, other, afterwards)
        is_empty = is_empty and not mine
        mine, others = _named_alike(mine, others)
        if mine != others:
            return f"by {own[:60]!r}: {_few(mine - others)}; by the print: {_few(others - mine)}"
    if is_empty:
        raise ValueError(f"nothing is released: {own}")
    return ""


def _named_alike(mine: Counter[object], others: Counter[object]) -> tuple[Counter[object], ...]:
    """Both with the one name that the other has not: a column that the text gave no name."""
    names = [{name for row in rows for name, _ in row} for rows in (mine, others)]  # type: ignore[attr-defined]
    if names[0] and names[1] and len(names[0] - names[1]) == len(names[1] - names[0]) == 1:
        (own,), (other,) = names[0] - names[1], names[1] - names[0]
        if "(" in own or " " in own:
            named = Counter()
            for row, count in mine.items():
                named[frozenset((other if n == own else n, v) for n, v in row)] += count  # type: ignore[attr-defined]
            return named, others
    return mine, others


def _few(rows: Counter[object]) -> list[object]:
    return [sorted(row, key=str) for row in list(rows)[:4]]  # type: ignore[call-overload]


def rows(connection: duckdb.DuckDBPyConnection, text: str, afterwards: str = "") -> Counter[object]:
    """What a text shows, each row as its names and values, whatever their order.

    If something is made of its rows afterwards, what that shows.
    """
    whole = _RATE.sub(r"\g<1>\g<2>100\3\4", text)
    for name in _SAMPLE_TABLE.findall(text):
        drawn = _EVERY_ROW if "policy_engine_bits" in text else "SELECT unit FROM everybody"
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {drawn}")
    (statement,) = connection.extract_statements(whole)
    named = statement.named_parameters
    places = ["s"] * len(named)
    given = places if all(name.isdigit() for name in named) else dict.fromkeys(named, "s")
    connection.execute("BEGIN")
    try:
        made = connection.execute(statement, given)
        if afterwards:
            connection.register("released", made.to_arrow_table())
            made, text = connection.execute(afterwards), afterwards
    except duckdb.ConversionException:  # of a value that a group shows: so does the other
        connection.execute("ROLLBACK")
        return Counter({frozenset({("it", "fails")}): 1})
    if target := _TABLE.match(_COMMENT.sub(" ", text)):
        made = connection.execute(f"SELECT * FROM {target[1]}")
    names = [column[0].lower() for column in made.description]
    found = made.fetchall()
    connection.execute("ROLLBACK")
    return Counter(frozenset(zip(names, map(_plain, row), strict=True)) for row in found)


def _plain(value: object) -> object:
    """A value as it reads: 30 is 30.0, a day is its first moment, and 'true' is true."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal):
        return f"{Decimal(str(value)).normalize() + 0:f}"  # and -0 is 0
    if isinstance(value, datetime) and value == datetime(value.year, value.month, value.day):
        return str(value.date())
    return None if value is None else str(value)


# Small tables


@contextmanager
def tables(ddl: str, text: str, k: int, seed: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of the tables of ``ddl``, of values that lie about those that a text names."""
    chosen = random.Random(seed)
    connection, named = _empty(ddl)
    # The constants of a view are those of the text that reads it.
    is_viewed = " view " in ddl.lower()
    named_in = text + ddl if is_viewed and len(ddl) < 2000 else text
    filled = [each for each in named if is_viewed or each[1].lower() in text.lower()]
    for parts in filled:
        _fill(connection, _name(parts), named_in, k, chosen)
    is_above = re.search(r"random\(\)\s*>[^=]", text) is not None
    connection.execute(f"CREATE OR REPLACE MACRO random() AS {'0.999' if is_above else '0.0'}")
    yield connection
    for parts in filled:
        connection.execute(f"TRUNCATE {_name(parts)}")


@cache  # to make them takes longer than to fill them
def _empty(ddl: str) -> tuple[duckdb.DuckDBPyConnection, list[tuple[str, str]]]:
    """A database with these tables, empty, and their names."""
    connection = duckdb.connect()
    # What is checked of a row has nothing to do with what a text means.
    connection.execute(re.sub(r"\bcheck\s*\([^()]*\)", "", ddl, flags=re.IGNORECASE))
    connection.execute("SET VARIABLE salt = 's'")
    connection.execute("CREATE SCHEMA privacy_secrets")
    connection.execute(
        "CREATE TABLE privacy_secrets.salts AS"
        " SELECT 's' AS salt, unnest(['adult_public_v1', 'adult_v1']) AS release_id"
    )
    connection.execute(
        "CREATE TABLE policy_engine_salts AS SELECT 's' AS salt, 'next' AS release_id"
    )
    named = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE table_name NOT IN"
        " ('salts', 'policy_engine_salts')"
    ).fetchall()
    connection.execute(
        "CREATE MACRO sha256(x) AS"
        " CASE WHEN ascii(right(x, 1)) % 3 = 0 THEN repeat('f', 64) ELSE repeat('0', 64) END"
    )
    return connection, named


def _name(parts: tuple[str, str]) -> str:
    return '"{}"."{}"'.format(*parts)


def _fill(
    connection: duckdb.DuckDBPyConnection, table: str, text: str, k: int, chosen: random.Random
) -> None:
    columns = connection.execute(f"DESCRIBE {table}").fetchall()
    names = [name for name, *_ in columns]
    pools = [_pool(kind, text, has_null=is_null == "YES") for _, kind, is_null, *_ in columns]
    numbered = [at for at, (name, _, _, key, *_) in enumerate(columns)
                if key == "PRI" or re.search(r"(^|_)(id|pk)$|^site$|^visitor$", name)]  # fmt: skip
    people = [at for at, name in enumerate(names) if name in ("person_id", "household")]
    days = [at for at, name in enumerate(names) if name in ("day", "visit_date")]
    made: list[list[object]] = []
    for _ in range(30):
        distinct = [chosen.choice(pool) for pool in pools]
        # One below the threshold in the sample, at it, and above: of three two are in.
        for _ in range(chosen.choice([k - 1, k, k + 1, k * 3 // 2 - 1, k * 3 // 2 + 1, 2 * k])):
            row, number = list(distinct), len(made)
            for at in numbered:
                row[at] = number
            for at in people:
                row[at] = number // 2
            for at in days if number % 2 else ():
                # No two rows of a person are of one day.
                row[at] = (made[-1][at] or _DAYS[0]) + timedelta(1)  # type: ignore[operator]
            made.append(row)
    frame = pa.table({
        f"c{at}": pa.array([_written(row[at], kind) for row in made], pa.string())
        for at, (_, kind, *_) in enumerate(columns)
    })  # fmt: skip
    casts = ", ".join(f"CAST(c{at} AS {kind})" for at, (_, kind, *_) in enumerate(columns))
    connection.register("frame", frame)
    connection.execute(f"INSERT INTO {table} SELECT {casts} FROM frame")
    connection.unregister("frame")


def _written(value: object, kind: str) -> str | None:
    if kind == "UUID" and isinstance(value, int):
        return f"00000000-0000-0000-0000-{value:012}"
    return None if value is None else str(value)


def _pool(kind: str, text: str, *, has_null: bool) -> list[object]:
    quoted = [each.replace("''", "'") for each in re.findall(r"'((?:[^']|'')*)'", text)]
    numbers = [
        Decimal(each.replace("_", ""))
        for each in re.findall(r"(?<![\w'.])\d[\d_]*(?:\.\d+)?\b", text)
    ]
    numbers = [each for each in numbers if each < 100_000]
    found: list[object] = []
    match kind:
        case "INTEGER" | "BIGINT" | "SMALLINT" | "HUGEINT":
            found = [*_NUMBERS, *(int(n) + step for n in numbers for step in (-1, 0, 1))]
        case "UHUGEINT":
            found = [0, 1, 5, 6]
        case "BOOLEAN":
            found = [True, False]
        case "VARCHAR":
            bare = [part for each in quoted for part in (each, each.strip("%_"))]
            around = [
                form for each in bare for form in (each, f" {each} ", f"{each}x", each.upper())
            ]
            found = [*_TEXTS, *bare * 4, *around]
        case "DATE" | "TIMESTAMP" | "TIMESTAMP WITH TIME ZONE" | "TIMESTAMP_S" | "TIMESTAMP_NS":
            days = list(_DAYS)
            for each in quoted:
                with suppress(ValueError):
                    days += [date.fromisoformat(each) + timedelta(step) for step in (-1, 0, 1)]
            found = list(days)
            if kind != "DATE":
                found = [datetime(d.year, d.month, d.day, h) for d in days for h in (0, 13, 23)]
        case "DOUBLE":
            found = [
                *_NUMBERS,
                *(n + step for n in numbers for step in (Decimal("-0.5"), 0, Decimal("0.5"))),
                "nan",
            ]
        case _ if kind.startswith("DECIMAL"):
            digits, scale = map(int, re.findall(r"\d+", kind))
            near = [
                *map(Decimal, _NUMBERS),
                *(n + step for n in numbers for step in (-Decimal("0.01"), 0, Decimal("0.01"))),
            ]
            found = [n for n in near if abs(n) < 10 ** (digits - scale)]
        case _ if kind.startswith("ENUM"):
            found = list(re.findall(r"'([^']*)'", kind))
        case "INTERVAL":
            found = ["1 day"]
        case "TIME":
            found = ["12:00:00"]
    return [*found, *([None] * (len(found) // 6 + 1) if has_null or not found else [])]
