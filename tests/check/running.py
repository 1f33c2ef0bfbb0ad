"""A text beside the one that is to be run instead, on DuckDB, over rows that its literals suggest.

Everybody is in the sample of both: what remains is what is shown of whom, and of groups from which
size on. Rows come in many copies, so that groups reach the threshold.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from policy_engine.check.levels import draws
from policy_engine.engines.names import fold
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.sources import People

PROFILES, COPIES = 60, 40
_DAYS = (
    date(1960, 2, 29),
    date(1985, 7, 1),
    date(2000, 1, 1),
    date(2021, 12, 31),
    date(2024, 5, 6),
)


def everybody(text: str) -> exp.Expr:
    """The query of a text, without its sample and the table that it makes."""
    [statement] = [each for each in sqlglot.parse(text, read="duckdb") if each is not None]
    query = statement.expression if isinstance(statement, exp.Create) else statement

    def whole(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.TableSample):
            return node.this if isinstance(node.this, exp.Expr) else exp.Placeholder()
        is_condition = isinstance(node, exp.Predicate | exp.Between | exp.In)
        if is_condition and draws(node):
            return exp.true()
        return node

    for node in list(query.find_all(exp.TableSample)):
        if node.this is None:
            node.pop()
    return query.transform(whole)


def tables_read(claim: Claim, text: str, known: dict[str, str]) -> dict[str, str]:
    """The columns of the source, with a type each: as known, as the claim has it, or a text."""
    types = dict(known)
    for column in claim.inputs:
        types.setdefault(column.name, _SQL.get(column.type.kind, "VARCHAR"))
    unit = claim.unit
    if isinstance(unit, People):
        for column in (*unit.keys, *unit.ordering):
            types.setdefault(column.name, _SQL.get(column.type.kind, "VARCHAR"))
    if not known:
        made = {fold(each.alias) for each in everybody(text).find_all(exp.Alias)}
        for column in everybody(text).find_all(exp.Column):
            name = column.name
            if fold(name) not in {*map(fold, types), *made} and not column.is_star:
                types[name] = "VARCHAR"
    return types


_SQL = {
    "integer": "BIGINT", "wide_integer": "HUGEINT", "decimal": "DECIMAL(18,3)", "double": "DOUBLE",
    "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP",
    "label": "VARCHAR", "uuid": "UUID", "time": "TIME", "timestamp_zoned": "TIMESTAMPTZ",
}  # fmt: skip


def _pool(kind: str, literals: list[exp.Literal]) -> list[Any]:
    """Values of a type, among them those that a text names and their neighbours."""
    numbers = [Decimal(each.name) for each in literals if not each.is_string]
    texts = [each.name for each in literals if each.is_string]
    kind = kind.upper()
    days = [*_DAYS]
    for text in texts:
        try:
            day = datetime.fromisoformat(text).date()
        except ValueError:
            continue
        days += [day - timedelta(1), day, day + timedelta(1)]
    if kind.startswith(("BIGINT", "INT", "SMALLINT", "TINYINT", "HUGEINT", "UHUGEINT", "UBIG")):
        small = [int(n) for n in numbers if abs(n) < 100]
        return sorted(
            {0, 7, 16, 25, 41, 70, *(n + d for n in small for d in (-1, 0, 1) if n + d >= 0)}
        )
    if kind.startswith("DECIMAL"):
        return [Decimal("0.5"), Decimal(7), *(n for n in numbers if abs(n) < 100)]
    if kind.startswith(("DOUBLE", "FLOAT")):
        return [0.5, 7.0, 33.25, *(float(n) for n in numbers if abs(n) < 10**6)]
    if kind.startswith("BOOL"):
        return [True, False]
    if kind.startswith("DATE"):
        return days
    if kind.startswith("TIMESTAMP"):
        return [datetime(d.year, d.month, d.day, 13, 5) for d in days]
    likely = [text.strip("%_^$") for text in texts if len(text) < 12]
    return ["F", "M", "10115", "80331", "94103", " x", "", *dict.fromkeys(likely)]


def _rows(claim: Claim, types: dict[str, str], text: str) -> Iterator[tuple[Any, ...]]:
    chance = random.Random(5)
    literals = list(everybody(text).find_all(exp.Literal))
    pools = {name: _pool(kind, literals) for name, kind in types.items()}
    unit = claim.unit
    keys = {fold(each.name) for each in unit.keys} if isinstance(unit, People) else set()
    ordered = isinstance(unit, People) and any(fold(n.name) not in keys for n in unit.ordering)
    terms = {fold(each.name) for each in unit.ordering} if isinstance(unit, People) else set()
    number = 0
    for _ in range(PROFILES):
        several = chance.randint(1, 3) if ordered else 1
        rows = [
            {n: None if chance.random() < 0.08 else chance.choice(pools[n]) for n in types}
            for _ in range(several)
        ]
        for place, row in enumerate(rows):  # no two rows of a person tie
            for name in types:
                if fold(name) in terms - keys and several > 1:
                    is_time = "DATE" in types[name] or "TIME" in types[name]
                    row[name] = _DAYS[place] if is_time else place
        for _ in range(COPIES):
            number += 1
            for row in rows:
                shown = {n: number if fold(n) in keys else v for n, v in row.items()}
                yield tuple(
                    f"{v}" if v is not None and "CHAR" in types[n] else v for n, v in shown.items()
                )


def released(
    claim: Claim, text: str, printed: str, known: dict[str, str], ddl: str = ""
) -> tuple[Counter[Any], Counter[Any]]:
    """What a text and the printed one show of all rows, as rows of texts by the printed names."""
    with duckdb.connect() as connection:
        types = tables_read(claim, text, known)
        names = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        parts = [*claim.source.parts]  # type: ignore[union-attr]
        quoted = ".".join(f'"{part}"' for part in parts[-2:])
        connection.execute(f'create schema if not exists "{parts[-2]}"')
        connection.execute(f"create table {quoted} ({names})")
        rows = [*_rows(claim, types, text)]
        marks = ", ".join("?" * len(types))
        columns = list(zip(*rows, strict=True))
        import pyarrow as pa

        made = pa.table({f"c{n}": pa.array([None if v is None else str(v) for v in c])
                         for n, c in enumerate(columns)})  # fmt: skip
        connection.register("made", made)
        casts = ", ".join(f"CAST(c{n} AS {kind})" for n, kind in enumerate(types.values()))
        connection.execute(f"insert into {quoted} select {casts} from made")
        del marks
        found = []
        for each in (text, printed):
            query = everybody(each).sql("duckdb")
            shown = connection.execute(query)
            labels = [fold(label[0]) for label in shown.description]
            found.append((labels, shown.fetchall()))
        wanted = found[1][0]
        own, rows_own = found[0]
        order = [own.index(label) if label in own else None for label in wanted]
        if None in order and len(own) == len(wanted):
            order = list(range(len(own)))
        picked = [tuple(_text(row[p]) if p is not None else "?" for p in order) for row in rows_own]
        return Counter(picked), Counter(tuple(map(_text, row)) for row in found[1][1])


def _text(value: Any) -> str:
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        value = value.date()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal):
        return f"{Decimal(str(value)).normalize():f}"
    return str(value)
