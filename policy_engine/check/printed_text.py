"""A text that may be the kernel's print → the claims that it may be the print of.

No policy and no schema is needed: what a printer puts where says what it meant. Nobody trusts what
is found here; the kernel prints each claim again, and the tokens are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby, islice, product

from policy_engine.check.columns import TypesOf, meant, types_of_engine
from policy_engine.check.pieces import ordered, sorted_by
from policy_engine.check.print_parts import (
    by,
    filter_of,
    pairs_of,
    steps_of,
    ways_of,
)
from policy_engine.check.words import (
    Words,
    begins,
    closes,
    name_in,
    names_in,
    names_in_turn,
    numbers_in,
    split,
    text_in,
    texts_in,
    until,
    words_of,
)
from policy_engine.engines.base import Refused
from policy_engine.kernel.certificate import NotPrinted, check_text
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import KEPT
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import IntegerTable, Keyed, Law, Native, Secret
from policy_engine.kernel.mechanisms import Noisy as NoisyLaw
from policy_engine.kernel.sources import Column, Drawn, Files, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type

_LONGEST_OPENING = 4000
_FOUND, _LOOKUP = "policy_engine_found_", "policy_engine_lookup_"
_DECIMAL = Type("decimal", 18, 3)
_MOST = 64  # claims that are printed; more types of columns than that print alike seldom
_Broken = (ClaimError, Refused, NotPrinted, ValueError, ArithmeticError, IndexError, KeyError)

Types = Callable[[tuple[str, ...]], TypesOf]
"""The types of a source's columns, by the parts of its name."""


@dataclass(frozen=True)
class Wrapped:
    """A text without the envelope that makes a table of it, and that table's name."""

    query: str
    target: tuple[str, ...] = ()


def unwrapped(text: str, engine: str) -> Wrapped:
    """The query that a text runs, in ``CREATE TABLE … AS`` or alone.

    >>> unwrapped('create table "main"."out" as select 1', "duckdb")
    Wrapped(query='select 1', target=('main', 'out'))
    """
    for found in re.finditer(r"\bAS\b", text[:_LONGEST_OPENING], re.IGNORECASE):
        opening = words_of(text[: found.end()], engine)
        named = opening[2:-1]
        parts = names_in_turn(named, engine)
        dotted = [word for word in named if word == "."]
        is_name = len(parts) > 0 and len(dotted) == len(parts) - 1 == len(named) - len(parts)
        if is_name and [word.upper() for word in opening[:2]] == ["CREATE", "TABLE"]:
            return Wrapped(text[found.end() :].lstrip(), parts)
    return Wrapped(text)


def claims_of(text: str, engine: str, types_of: Types) -> Iterator[Claim]:
    """Every claim of which ``text`` is the print, as far as types can tell; most have few."""
    words = words_of(text, engine)
    kinds = {each.first: each for each in (_Print, _Noisy)}
    kind = kinds.get("".join(words[1:2]))
    if kind is None:
        return
    with suppress(*_Broken):
        for claim in islice(kind(words, engine, types_of).claims(), _MOST):
            with suppress(*_Broken):
                check_text(text, claim, engine)
                yield claim


def types_alike(text: str, claim: Claim, engine: str) -> Mapping[str, tuple[Type, ...]]:
    """The types of each column, one in place of the other, of which ``text`` is the print too."""
    found: dict[str, tuple[Type, ...]] = {}
    for name in dict.fromkeys(column.name for column in claim.inputs):
        alike = []
        for kind in types_of_engine(engine):
            with suppress(*_Broken):
                check_text(text, _retyped(claim, name, kind), engine)
                alike.append(kind)
        own = next(column.type for column in claim.inputs if column.name == name)
        found[name] = tuple(dict.fromkeys((own, *alike)))
    return found


def _retyped(claim: Claim, name: str, kind: Type) -> Claim:
    """The claim with another type of one column, wherever it is read."""

    def typed(column: Column) -> Column:
        return replace(column, type=kind) if column.name == name else column

    unit = claim.unit
    if isinstance(unit, People) and isinstance(unit.order, tuple):
        order = tuple((typed(column), down) for column, down in unit.order)
        unit = replace(unit, order=order)
    columns = tuple(replace(s, column=s.column and typed(s.column)) for s in claim.columns)
    conditions = tuple(replace(each, column=typed(each.column)) for each in claim.filter)
    return replace(claim, unit=unit, columns=columns, filter=conditions)


class _Print:
    """The parts of one text, as a printer puts them; a part that is not there is a KeyError."""

    first = "sampled"

    def __init__(self, words: Words, engine: str, types_of: Types) -> None:
        self.engine = engine
        self.steps, self.last = steps_of(words)
        body = self.steps[self.first]
        self.selected, rest = until(body[1:], "FROM")
        self.source, self.where = until(rest[1:], "WHERE", "TABLESAMPLE")
        self.types_of = types_of(names_in_turn(self.source, engine))

    def claims(self) -> Iterator[Claim]:
        """The claims, the most probable types first."""
        shown = self._sorted([self._shown(item) for item in self._items()])
        conditions = self._conditions()
        ways = ways_of([*shown, *conditions])
        for chosen in product(*ways.values()):
            known = dict(zip(ways, chosen, strict=True))
            columns = tuple(by(known, each) for each in shown)
            filters = tuple(filter_of(by(known, each)) for each in conditions)
            for unit in self._units(known):
                with suppress(ClaimError):
                    yield Claim(self._source(), unit, self._law(), columns, self._count(), filters)

    def _sorted(self, columns: list[list[Shown]]) -> list[list[Shown]]:
        """Of each column what is sorted by as it stands in ORDER BY."""
        rest = self.last[self.last.index("ORDER") + 2 :]
        found = []
        for options in columns:
            terms = {each.kind: words_of(sorted_by(each, self.engine), self.engine)
                     for each in options}  # fmt: skip
            fitting = {kind: len(words) for kind, words in terms.items() if begins(rest, words)}
            most = max(fitting.values())
            found.append([each for each in options if fitting.get(each.kind) == most])
            rest = rest[most + 1 :]
        return found

    def _source(self) -> Relation | Files:
        if self.source[0] == "READ_PARQUET":
            path = text_in(self.source[2], self.engine) or ""
            return Files(path, "hive_partitioning" in map(str.lower, self.source))
        parts = names_in_turn(self.source, self.engine)
        if parts[:2] == ("temp", "main") and len(parts) == 3:
            return Files(parts[2], kind="csv")
        return Relation(parts)

    def _law(self) -> Law:
        having = self.last if "HAVING" in self.last else self.steps["released"]
        k = int(having[having.index(">=") + 1])
        raw_first = "counted" in self.steps
        if self.where[:1] == ("TABLESAMPLE",):
            return Native(Decimal(numbers_in(self.where)[0]).scaleb(-2), k, raw_first)
        secret, inside = self._secret()
        outside = [word for place, word in enumerate(self.where) if place not in inside]
        drawn = [name.rpartition("_")[2] for name in names_in(tuple(outside), self.engine)
                 if name.startswith("policy_engine_sample_")]  # fmt: skip
        bounds = [*drawn, *(each for each in texts_in(tuple(outside), self.engine)
                            if len(each) in (15, 16))]  # fmt: skip
        return Keyed(int(bounds[-1][:15], 16), k, raw_first, secret)

    def _salted(self) -> Words:
        """The words that name the secret."""
        return self.where

    def _secret(self) -> tuple[Secret | None, range]:
        """Where the secret waits, and the words that say so."""
        where = self._salted()
        for place in range(len(where) - 4):
            if where[place : place + 4] == ("(", "SELECT", "salt", "FROM"):
                end = closes(where, place)
                named, rest = until(where[place + 4 : end], "WHERE")
                parts = names_in_turn(named, self.engine)
                release = texts_in(rest, self.engine)
                found = Secret(parts, release[0]) if parts else None
                return found, range(place, end + 1)
        return None, range(0)

    def _items(self) -> list[tuple[Words, str]]:
        """Expression and name of each released column."""
        listed, _ = until(self.steps["recoded"][1:], "FROM")
        ours = ("policy_engine_count", "policy_engine_unit")
        items = [item for item in split(listed, ",") if item[-1] not in ours]
        return [(self._asked(item[:-2]), name_in(item[-1], self.engine) or "") for item in items]

    def _asked(self, words: Words) -> Words:
        """A map that is joined, as the CASE that a shorter one would be."""
        names = [name_in(word, self.engine) or "" for word in words]
        place = next((n for n, name in enumerate(names) if name.startswith(_FOUND)), 0)
        if not place:
            return words
        value, _ = until(words[2:], "IS")
        cases: list[str] = []
        pairs = pairs_of(self.steps[words[place].replace(_FOUND, _LOOKUP)])
        for label, members in groupby(pairs, lambda pair: pair[1]):
            keys = [word for key, _ in members for word in (*key, ",")]
            cases += ["WHEN", *value, "IN", "(", *keys[:-1], ")", "THEN", *label]
        return (*words[: place - 1], *cases, *words[place + 5 :])

    def _shown(self, item: tuple[Words, str]) -> list[Shown]:
        expression, name = item
        return list(meant(expression, name, self.engine, self.types_of))

    def _types(self, name: str) -> tuple[Type, ...]:
        """The types that a column may have of which no recode says more."""
        found = self.types_of(name)
        return (*types_of_engine(self.engine), _DECIMAL) if found is None else found

    def _count(self) -> str | None:
        if "released" in self.steps:
            return None
        listed, _ = until(self.last[1:], "FROM")
        return name_in(split(listed, ",")[-1][-1], self.engine)

    def _conditions(self) -> list[list[Shown]]:
        """The recodes as which the conditions of a filter are printed."""
        if "kept" not in self.steps:
            return []
        _, where = until(self.steps["kept"], "WHERE")
        conditions = [each for each in split(where[1:], "AND") if each[0] != "policy_engine_rank"]
        return [self._shown((until(condition, "=")[0], KEPT)) for condition in conditions]

    def _units(self, known: Mapping[str, Column]) -> Iterator[Rows | People]:
        """Who is one unit: each row, or a key with the order of its rows."""
        if self.where[:1] == ("TABLESAMPLE",):
            yield Rows()
            return
        keys = self._unit_names()
        if not keys:
            yield Rows()
            return
        for key in self._keys(keys[0]):
            if "placed" in self.steps:
                _, kept = until(self.steps["grouped"], "WHERE")
                yield People(key, Groups(int(kept[kept.index("<=") + 1])))
            elif "OVER" not in self.selected:
                yield People(key, None)
            elif "chosen" in self.steps:
                yield People(key, Drawn())
            else:
                yield from (People(key, order) for order in self._orders(known, key))

    def _unit_names(self) -> Sequence[str]:
        """The name of the key, where there is one."""
        _, inside = self._secret()
        outside = tuple(word for place, word in enumerate(self.where) if place not in inside)
        found = names_in(outside, self.engine)
        return [name for name in found if not name.startswith("policy_engine_")]

    def _keys(self, name: str) -> Iterator[Column]:
        """The columns that a key can be: one that is text has no collation."""
        told = self.types_of(name, is_key=True)
        untold = (replace(kind, collated=False) for kind in types_of_engine(self.engine))
        for kind in dict.fromkeys(untold if told is None else told):
            with suppress(ClaimError):
                yield People(Column(name, kind), None).key

    def _orders(
        self, known: Mapping[str, Column], key: Column
    ) -> Iterator[tuple[tuple[Column, bool], ...]]:
        """What a unit's rows are ordered by, term by term."""
        place = self.selected.index("OVER") + 1
        _, order = until(self.selected[place + 1 : closes(self.selected, place)], "ORDER")
        rest, found = order[2:], []
        while rest:
            term = self._term(rest, known, key)
            found.append(term[0])
            rest = rest[term[1] + 1 :]
        yield tuple(found)

    def _term(
        self, rest: Words, known: Mapping[str, Column], key: Column
    ) -> tuple[tuple[Column, bool], int]:
        """The longest term that can stand here, and how many words it has."""
        name = names_in(rest, self.engine)[0]
        given = [known[name]] if name in known else []
        types = self._types(name)
        columns = [*given, *([key] if key.name == name else []), *(Column(name, t) for t in types)]
        fitting = []
        for column, down in product(columns, (True, False)):
            with suppress(Refused):
                words = words_of(ordered(column, self.engine, down=down), self.engine)
                if begins(rest, words):
                    fitting.append(((replace(column, read_as=None), down), len(words)))
        return max(fitting, key=lambda each: each[1])


class _Noisy(_Print):
    """The parts of a text of noisy counts."""

    first = "people"

    def _law(self) -> Law:
        drawn, shown = self.steps["noised"], self.steps.get("released", self.last)
        hexes = [text[:15] for text in texts_in(drawn, self.engine) if len(text) in (15, 16)]
        entries = tuple(sorted(int(text, 16) for text in hexes))
        is_open, (secret, _) = "NULL" in drawn, self._secret()
        values = (numbers_in(drawn[at + 1 : at + 3]) for at, w in enumerate(drawn) if w == "THEN")
        least = min(int(value[0]) for value in values if value)
        shown_from = int(shown[shown.index(">=") + 1])
        offset = shown_from if is_open else 0
        k = least + offset if is_open else shown_from - least - len(entries)
        raw_first = "counted" in self.steps
        return NoisyLaw(
            IntegerTable(entries, least + offset, is_open), k, offset, raw_first, secret
        )

    def _salted(self) -> Words:
        return self.steps["drawn"]

    def _unit_names(self) -> Sequence[str]:
        return names_in(self.where, self.engine)
