"""Parts of a printed text: its steps, its listed relations, and the columns that it may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from policy_engine.check.words import Words, closes, split
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.filters import KEPT, Filter
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Constant, Map
from policy_engine.kernel.sources import Column


def pairs_of(words: Words) -> Iterator[tuple[Words, Words]]:
    """The keys of a listed relation, each with its label."""
    place = words.index("VALUES") + 1
    while words[place] != ")":
        end = closes(words, place) if words[place] == "(" else place
        parts = split(words[place + 1 : end], ",")
        if len(parts) == 2 and "(" not in words[place + 1 : end]:
            yield parts[0], parts[1]
            place = end
        place += 1


def steps_of(words: Words) -> tuple[dict[str, Words], Words]:
    """The queries of a WITH by their names, and the last one."""
    found, place = {}, 1
    while place < len(words):
        name = words[place]
        opens = words.index("(", place)
        end = closes(words, opens)
        found[name] = words[opens + 1 : end]
        place = end + 2
        if words[end + 1 : place] != (",",):
            return found, words[end + 1 :]
    return found, ()


def ways_of(uses: list[list[Shown]]) -> dict[str, list[Column]]:
    """The ways in which each column of the source can be read, the same wherever it is."""
    found: dict[str, list[Column]] = {}
    for options in uses:
        columns = list(dict.fromkeys(each.column for each in options if each.column is not None))
        for name in {column.name for column in columns}:
            own = [column for column in columns if column.name == name]
            pairs = product(found.get(name, own), own)
            # What a cut is of has digits that a text does not tell; what is kept has its own.
            fewer = (min(pair, key=lambda each: each.type.digits) for pair in pairs if alike(*pair))
            found[name] = list(dict.fromkeys(fewer))
    return found


def alike(one: Column, other: Column) -> bool:
    """Whether two columns are one as far as a text tells that compares them."""
    if one.type.kind != "decimal" or other.type.kind != "decimal":
        return one == other
    return replace(one, type=replace(one.type, digits=other.type.digits)) == other


def by(known: Mapping[str, Column], options: list[Shown]) -> Shown:
    """What is shown where the source's columns are known."""
    for each in options:
        if each.column is None:
            return each
        column = known.get(each.column.name)
        if column is not None and alike(column, each.column):
            return replace(each, column=column)
    raise ClaimError("no column of these types is shown")


def filter_of(shown: Shown) -> Filter:
    """The condition that is printed as a recode to what is kept."""
    column, recode = shown.column, shown.recode
    if column is None or isinstance(recode, Constant):
        raise ClaimError("a condition reads a column")
    if isinstance(recode, Map):
        return Filter(column, recode.groups[0][0])
    cuts, labels = recode.cuts, recode.labels  # type: ignore[union-attr]
    first = cuts[0] if labels[0] != KEPT else None
    return Filter(column, (), first, cuts[-1] if labels[-1] != KEPT else None)
