"""Levels that are proposed for a column, by its name, its type and what is public: never by values.

Ages go by five and ten years, money by thousands, dates by months, quarters and years, codes by
their first characters, countries by the regions of the UN. Other numbers are cut by convention, and
then at each second cut; of what no name tells nobody knows how large it is, and the cuts are 1, 2,
5, 10, …
"""

from __future__ import annotations

import json
import re

from policy_engine.compile.catalog import NUMBERS, TIMES, Field, Kind
from policy_engine.compile.column_names import by_name
from policy_engine.values import frozen

Level = dict[str, object]
_WORD = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+"


def _down(*steps: int) -> tuple[Level, ...]:
    return tuple({"round": step, "way": "down"} for step in steps)


def _bins(*cuts: int) -> Level:
    return {"bins": list(cuts)}


_BY_NAME: tuple[tuple[str, tuple[Level, ...]], ...] = (
    ("age alter", (*_down(5, 10), _bins(20, 40, 60))),
    ("year yob jahr birthyear", _down(5, 10, 20)),
    ("hours stunden", (*_down(5, 10), _bins(20, 40))),
    (
        "income salary wage wages earnings revenue turnover gehalt lohn einkommen",
        (*_down(1_000, 10_000), _bins(20_000, 50_000, 100_000)),
    ),
    (
        "price amount cost costs fee fare total spend balance payment charge rent preis",
        (*_down(10, 100), _bins(100, 500, 1_000)),
    ),
    ("gain gains loss losses", (*_down(1_000), _bins(1_000, 10_000, 100_000))),
)
_BY_MAGNITUDE = (
    _bins(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
    _bins(1, 10, 100, 1_000, 10_000),
    _bins(100, 10_000),
)
_CODES = (
    ("zip zipcode postcode postal postalcode plz", (3, 2, 1)),
    ("icd diagnosis diagnose code atc drg", (3, 1)),
)
_COUNTRY = frozenset({"country", "nationality", "land", "nation", "citizenship"})
COUNTRIES = "countries.csv"
"""The file that ``policy-engine hierarchy countries`` writes."""


@frozen
class Proposal:
    """What a column could be: its levels, the finest first; or the hierarchy that has them."""

    column: str
    levels: tuple[Level, ...] = ()
    hierarchy: str = ""

    @property
    def recoding(self) -> object:
        """The column's entry in a policy; the value itself where nothing is proposed."""
        if self.hierarchy:
            return {"hierarchy": self.hierarchy, "level": 1}
        return {"levels": list(self.levels), "level": 1} if self.levels else "keep"


def proposed(column: Field) -> Proposal:
    """The levels of a column by its name and type.

    >>> proposed(Field("visit_date", "DATE")).recoding
    {'levels': [{'truncate': 'month'}, {'truncate': 'quarter'}, {'truncate': 'year'}], 'level': 1}
    >>> proposed(Field("zip", "VARCHAR")).levels
    ({'prefix': 3}, {'prefix': 2}, {'prefix': 1})
    >>> proposed(Field("country", "VARCHAR")).hierarchy, proposed(Field("sex", "VARCHAR")).recoding
    ('countries.csv', 'keep')
    """
    words = {word.lower() for word in re.findall(_WORD, column.name)}
    if column.kind in NUMBERS:
        named = next((told for names, told in _BY_NAME if words & {*names.split()}), None)
        return Proposal(column.name, named or _by_convention(column.name) or _BY_MAGNITUDE)
    if column.kind is Kind.DATE or column.kind in TIMES:
        first = () if column.kind is Kind.DATE else ("day",)
        units = (*first, "month", "quarter", "year")
        return Proposal(column.name, tuple({"truncate": unit} for unit in units))
    if column.kind is Kind.TEXT and words & _COUNTRY:
        return Proposal(column.name, hierarchy=COUNTRIES)
    if column.kind is Kind.TEXT:
        lengths = next((told for names, told in _CODES if words & {*names.split()}), ())
        return Proposal(column.name, tuple({"prefix": length} for length in lengths))
    return Proposal(column.name)


def _by_convention(name: str) -> tuple[Level, ...]:
    """The cuts that numbers of a name have by convention, each second of them, and so on.

    >>> _by_convention("hour")
    ({'bins': [6, 12, 18]}, {'bins': [12]})
    """
    found = re.search(r"bins: (\[.*\])", by_name(name))
    if found is None:
        return ()
    cuts, levels = json.loads(found[1]), list[Level]()
    while cuts:
        levels.append({"bins": cuts})
        cuts = cuts[1::2]
    return tuple(levels)


def faults(rows: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Why a table of values and their levels is no ladder: a label in two labels above it.

    >>> faults((("a", "x", "p"), ("b", "x", "q"), ("c", "y", "q")))
    ("level 1: 'x' is in 'p' and in 'q' at level 2",)
    """
    found = []
    for level in range(1, len(rows[0]) - 1):
        above: dict[str, str] = {}
        for row in rows:
            first = above.setdefault(row[level], row[level + 1])
            if first != row[level + 1]:
                found.append(
                    f"level {level}: {row[level]!r} is in {first!r} and in {row[level + 1]!r} at"
                    f" level {level + 1}"
                )
    return tuple(dict.fromkeys(found))


def drawn(rows: tuple[tuple[str, ...], ...], most: int = 60) -> tuple[str, ...]:
    """The tree of a hierarchy, a line a label; what is beyond so many lines is counted.

    >>> for line in drawn((("nurse", "health"), ("surgeon", "health"), ("welder", "metal"))):
    ...     print(line)
    *
    ├─ health
    │  ├─ nurse
    │  └─ surgeon
    └─ metal
       └─ welder
    """
    lines = ["*", *_branches([row[::-1] for row in rows], "")]
    if len(lines) > most:
        lines[most:] = [f"and {len(lines) - most:,} lines more"]
    return tuple(lines)


def _branches(paths: list[tuple[str, ...]], indent: str) -> list[str]:
    """The labels below one, each with what is below it; a path goes from the top down."""
    below: dict[str, list[tuple[str, ...]]] = {}
    for label, *rest in paths:
        below.setdefault(label, []).extend([tuple(rest)] if rest else [])
    lines = []
    for at, (label, inner) in enumerate(below.items(), start=1):
        is_last = at == len(below)
        lines.append(f"{indent}{'└─' if is_last else '├─'} {label}")
        lines += _branches(inner, f"{indent}{'   ' if is_last else '│  '}")
    return lines
