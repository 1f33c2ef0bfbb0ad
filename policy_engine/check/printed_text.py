"""A text that may be the kernel's print → the claims that it may be the print of.

No policy and no schema is needed: what a printer puts where says what it meant. Nobody trusts what
is found here; the kernel prints each claim again, and the tokens are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import groupby, islice, pairwise, product

from policy_engine.check.columns import (
    TypesOf,
    meant,
    ordered,
    sorted_by,
    types_beside,
    types_of_engine,
)
from policy_engine.check.printed_joins import (
    KnownOfStep,
    beside_in,
    is_joined,
    relation_of,
    source_in,
    units_of,
)
from policy_engine.check.words import (
    Words,
    closes,
    first_of,
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
from policy_engine.kernel.claim import KEPT, Claim, Shown
from policy_engine.kernel.fragments import unit_text
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import IntegerTable, Keyed, Law, Native, Noisy, Secret
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Files,
    Groups,
    KeyColumns,
    People,
    Relation,
    Rows,
)
from policy_engine.kernel.types import Type
from policy_engine.values import frozen

_LONGEST_OPENING = 4000
_FOUND, _LOOKUP = "policy_engine_found_", "policy_engine_lookup_"
_SAMPLE, _RANK = "policy_engine_sample_", "policy_engine_rank"
_DECIMAL = Type("decimal", 18, 3)
_MOST = 64  # claims that are printed; more types of columns than that print alike seldom
_Broken = (ClaimError, Refused, NotPrinted, ValueError, ArithmeticError, IndexError, KeyError)

Types = Callable[[tuple[str, ...]], TypesOf]
"""The types of a source's columns, by the parts of its name."""


@frozen
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
    if words[1:2] in (("sampled",), ("people",), ("keyed",), ("own",)):
        with suppress(*_Broken):
            for claim in islice(_Print(words, engine, types_of).claims(), _MOST):
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
    conditions = tuple(replace(s, column=s.column and typed(s.column)) for s in claim.filter)
    joins = tuple(
        replace(
            each,
            columns=tuple(map(typed, each.columns)),
            order=tuple((typed(column), down) for column, down in each.order),
        )
        for each in claim.joins
    )
    return replace(claim, unit=unit, columns=columns, filter=conditions, joins=joins)


class _Print:
    """The parts of one text, as a printer puts them; a part that is not there is a KeyError."""

    def __init__(self, words: Words, engine: str, types_of: Types) -> None:
        self.engine = engine
        self.steps, self.last = _steps(words)
        self.is_noisy = "people" in self.steps
        first = self.steps["people" if self.is_noisy else "sampled"]
        self.selected, rest = until(first[1:], "FROM")
        self.source, self.where = until(rest[1:], "JOIN", "WHERE", "TABLESAMPLE")
        # The columns that name a unit together are in a step of their own.
        self.together: tuple[str, ...] = ()
        if "keyed" in self.steps:
            _, rest = until(self.steps["keyed"][1:], "FROM")
            self.source, filled = until(rest[1:], "WHERE")
            self.together = names_in(filled, engine)
        self.is_joined = is_joined(self.source, engine)
        self.beside = [*beside_in(self.steps, engine)] if self.is_joined else []
        if self.is_joined:
            selected, self.source = source_in(self.steps)
            self.selected = selected if "OVER" in selected else self.selected
        self.types = types_of
        self.types_of = self.types_of_source = self._types_in(self.source)
        if self.beside:
            others = ((each.columns, self._types_in(each.source)) for each in self.beside)
            self.types_of = types_beside(self.types_of_source, others)
        listed, _ = until(self.steps.get("typed", ("SELECT",))[1:], "FROM")
        self.typed = {
            name_in(item[-1], engine) or "": item[:-2] for item in split(listed, ",") if item[1:]
        }
        # Behind the secret stand the key and the bound.
        self.secret, before, behind = self._secret()
        self.keyed = (*before, *behind)

    def claims(self) -> Iterator[Claim]:
        """The claims, the most probable types first."""
        shown, conditions = self._sorted(self._items()), self._conditions()
        ways = _ways([*shown, *conditions])
        for chosen in product(*ways.values()):
            known = dict(zip(ways, chosen, strict=True))
            columns = tuple(_by(known, each) for each in shown)
            filters = tuple(_by(known, each) for each in conditions)
            law = self._noisy() if self.is_noisy else self._sampled()
            for unit in self._units(known):
                with suppress(ClaimError):
                    place, count = self._place(self.source), self._count()
                    claim = Claim(place, unit, law, columns, count, filters)
                    yield from self._with_joins(claim, known) if self.is_joined else (claim,)

    def _with_joins(self, claim: Claim, known: Mapping[str, Column]) -> Iterator[Claim]:
        """The claim with the columns that stand beside each row."""
        unit = claim.unit
        read = {**known, **{column.name: column for column in unit.ordering}}
        joins = []
        for each in self.beside:
            types = self.types_of_source, self._types_in(each.source)
            step = KnownOfStep(self.engine, unit.keys, *types, read)
            joins.append(relation_of(each, self._place(each.source), step))
        for own in units_of(unit) if isinstance(unit, People) else ():
            with suppress(ClaimError):
                yield replace(claim, unit=own, joins=tuple(joins))

    def _types_in(self, place: Words) -> TypesOf:
        return self.types(names_in_turn(place, self.engine))

    def _names(self, words: Words) -> tuple[str, ...]:
        return names_in(words, self.engine)

    def _place(self, source: Words) -> Relation | Files:
        if source[0] == "READ_PARQUET":
            path = text_in(source[2], self.engine) or ""
            return Files(path, "hive_partitioning" in map(str.lower, source))
        parts = names_in_turn(source, self.engine)
        if parts[:2] == ("temp", "main") and len(parts) == 3:
            return Files(parts[2], kind="csv")
        return Relation(parts)

    # The law

    def _secret(self) -> tuple[Secret | None, Words, Words]:
        """Where the secret waits, and what stands before and behind the words that say so."""
        where = self.steps["drawn"] if self.is_noisy else self.where
        for place in range(len(where) - 4):
            if where[place : place + 4] == ("(", "SELECT", "salt", "FROM"):
                end = closes(where, place)
                named, rest = until(where[place + 4 : end], "WHERE")
                parts, release = names_in_turn(named, self.engine), texts_in(rest, self.engine)
                found = Secret(parts, release[0]) if parts else None
                return found, where[:place], where[end + 1 :]
        return None, where, ()

    def _sampled(self) -> Law:
        having = self.last if "HAVING" in self.last else self.steps["released"]
        k, raw_first = int(having[having.index(">=") + 1]), "counted" in self.steps
        if self.where[:1] == ("TABLESAMPLE",):
            return Native(Decimal(numbers_in(self.where)[0]).scaleb(-2), k, raw_first)
        drawn = [name[-15:] for name in self._names(self.keyed) if name.startswith(_SAMPLE)]
        bounds = drawn + [each for each in texts_in(self.keyed, self.engine) if _is_bound(each)]
        return Keyed(int(bounds[-1][:15], 16), k, raw_first, self.secret)

    def _noisy(self) -> Law:
        drawn, shown = self.steps["noised"], self.steps.get("released", self.last)
        # The entries of a block may be in one text.
        listed = [each for text in texts_in(drawn, self.engine) for each in text.split(" ")]
        hexes = [text[:15] for text in listed if _is_bound(text)]
        entries = tuple(sorted(int(text, 16) for text in hexes))
        is_open = ("ELSE", "NULL") in pairwise(drawn)
        values = (numbers_in(drawn[at + 1 : at + 3]) for at, w in enumerate(drawn) if w == "THEN")
        least = min(int(value[0]) for value in values if value)
        shown_from = int(shown[shown.index(">=") + 1])
        offset = shown_from if is_open else 0
        k = least + offset if is_open else shown_from - least - len(entries)
        table = IntegerTable(entries, least + offset, is_open)
        return Noisy(table, k, offset, "counted" in self.steps, self.secret)

    # What is shown, and of whom

    def _items(self) -> list[list[Shown]]:
        """Each released column as all that it may be."""
        listed, _ = until(self.steps["recoded"][1:], "FROM")
        ours = ("policy_engine_count", "policy_engine_unit")
        items = [item for item in split(listed, ",") if item[-1] not in ours]
        return [
            self._shown(item[:-2], name_in(item[-1], self.engine) or "", is_typed=True)
            for item in items
        ]

    def _shown(self, expression: Words, name: str, *, is_typed: bool) -> list[Shown]:
        """What a column may be; ``is_typed``: behind the step that reads columns as other types."""
        missing = None
        if expression[:2] == ("COALESCE", "("):
            inner, behind = until(expression[2:-1], ",")
            missing = next(iter(texts_in(behind, self.engine)), None)
            expression = inner
        asked = self._asked(expression)
        in_step = is_typed
        is_typed = is_typed and any(each in self.typed for each in self._names(asked))
        asked = self._untyped(asked) if is_typed else asked
        found = list(meant(asked, name, self.engine, self.types_of, is_typed=is_typed))
        if in_step and not self.typed:  # what is read as another type is so in a step of its own
            found = [each for each in found if each.column is None or each.column.read_as is None]
        if missing is None:
            return found
        named: list[Shown] = []
        for each in found:
            with suppress(ClaimError):  # of what shows no text nothing is named
                named.append(replace(each, missing=missing))
        return named

    def _untyped(self, words: Words) -> Words:
        """What reads columns as other types, in the places of the names that it has there."""
        named = ((word, self.typed.get(name_in(word, self.engine) or "")) for word in words)
        return tuple(each for word, typed in named for each in typed or (word,))

    def _sorted(self, columns: list[list[Shown]]) -> list[list[Shown]]:
        """Of each column what is sorted by as it stands in ORDER BY."""
        rest, found = self.last[self.last.index("ORDER") + 2 :], []
        for options in columns:
            kinds = {each.kind: each for each in options}.items()
            terms = [(k, words_of(sorted_by(s, self.engine), self.engine)) for k, s in kinds]
            fitting, rest = first_of(rest, terms)
            found.append([each for each in options if each.kind in fitting])
        return found

    def _asked(self, words: Words) -> Words:
        """A map that is joined, as the CASE that a shorter one would be."""
        names = [name_in(word, self.engine) or "" for word in words]
        place = next((n for n, name in enumerate(names) if name.startswith(_FOUND)), 0)
        if not place:
            return words
        value, _ = until(words[2:], "IS")
        cases: list[str] = []
        pairs = _pairs(self.steps[words[place].replace(_FOUND, _LOOKUP)])
        for label, members in groupby(pairs, lambda pair: pair[1]):
            keys = [word for key, _ in members for word in (*key, ",")]
            cases += ["WHEN", *value, "IN", "(", *keys[:-1], ")", "THEN", *label]
        return (*words[: place - 1], *cases, *words[place + 5 :])

    def _count(self) -> str | None:
        if "released" in self.steps:
            return None
        listed, _ = until(self.last[1:], "FROM")
        return name_in(split(listed, ",")[-1][-1], self.engine)

    def _conditions(self) -> list[list[Shown]]:
        """The recodes as which the conditions of a filter are printed."""
        _, where = until(self.steps.get("kept", ()), "WHERE")
        conditions = [each for each in split(where[1:], "AND") if each[:1] != (_RANK,)]
        return [
            self._shown(until(each, "=")[0], KEPT, is_typed=False) for each in conditions if each
        ]

    def _units(self, known: Mapping[str, Column]) -> Iterator[Rows | People]:
        """Who is one unit: each row, or a key with the order of its rows."""
        keyed = self.where if self.is_noisy else self.keyed
        own = [name for name in self._names(keyed) if not name.startswith("policy_engine_")]
        names = self.together or tuple(own[:1])
        if not names or self.where[:1] == ("TABLESAMPLE",):
            yield Rows()
            return
        for kinds in product(*map(self._kinds_of_key, names)):
            keys = tuple(map(Column, names, kinds))
            with suppress(ClaimError):
                key = KeyColumns(keys) if self.together else keys[0]
                _, kept = until(self.steps.get("within", self.steps.get("grouped", ())), "WHERE")
                if "<=" in kept:
                    yield People(key, Groups(int(kept[kept.index("<=") + 1])))
                elif "placed" in self.steps:
                    yield People(key, Drawn())
                elif "OVER" not in self.selected:
                    yield People(key, None)
                else:
                    yield People(key, self._order(known, keys))

    def _kinds_of_key(self, name: str) -> tuple[Type, ...]:
        """The types that a key may have: one that is text has no collation."""
        kinds = self.types_of(name, is_key=True)
        if kinds is None:
            untold = (replace(each, collated=False) for each in types_of_engine(self.engine))
            kinds = tuple(dict.fromkeys(untold))
        if not self.together:
            return kinds
        # Of those that have the text that stands there the first: the others print alike.
        own = (k for k in kinds if self._is_keyed_by(Column(name, k)))
        return tuple(islice(own, 1))

    def _is_keyed_by(self, column: Column) -> bool:
        with suppress(Refused):
            step = self.steps["keyed"]
            text = words_of(unit_text(self.engine, (column,)), self.engine)
            # What puts several together stands around each alone, too.
            text = text[2 : closes(text, 1)] if text[:2] == ("CONCAT", "(") else text
            return any(step[at : at + len(text)] == text for at in range(len(step)))
        return False

    def _order(
        self, known: Mapping[str, Column], keys: tuple[Column, ...]
    ) -> tuple[tuple[Column, bool], ...]:
        """What a unit's rows are ordered by, term by term."""
        place = self.selected.index("OVER") + 1
        _, order = until(self.selected[place + 1 : closes(self.selected, place)], "ORDER")
        rest, found = order[2:], []
        while rest:
            name = self._names(rest)[0]
            told = self.types_of(name)
            types = (*types_of_engine(self.engine), _DECIMAL) if told is None else told
            given = [known[name]] if name in known else []
            columns = [*given, *(key for key in keys if key.name == name),
                       *(Column(name, kind) for kind in types)]  # fmt: skip
            terms = []
            for column, down in product(columns, (True, False)):
                with suppress(Refused):
                    words = words_of(ordered(column, self.engine, down=down), self.engine)
                    terms.append(((replace(column, read_as=None), down), words))
            fitting, rest = first_of(rest, terms)
            found.append(fitting[0])
        return tuple(found)


def _is_bound(text: str) -> bool:
    return len(text) in (15, 16)


def _steps(words: Words) -> tuple[dict[str, Words], Words]:
    """The queries of a WITH by their names, and the last one."""
    found, place = {}, 1
    while place < len(words):
        name, opens = words[place], words.index("(", place)
        end = closes(words, opens)
        found[name] = words[opens + 1 : end]
        place = end + 2
        if words[end + 1 : place] != (",",):
            return found, words[end + 1 :]
    return found, ()


def _pairs(words: Words) -> Iterator[tuple[Words, Words]]:
    """The keys of a listed relation, each with its label."""
    place = words.index("VALUES") + 1
    while words[place] != ")":
        end = closes(words, place) if words[place] == "(" else place
        parts = split(words[place + 1 : end], ",")
        if len(parts) == 2 and "(" not in words[place + 1 : end]:
            yield parts[0], parts[1]
            place = end
        place += 1


def _ways(uses: list[list[Shown]]) -> dict[str, list[Column]]:
    """The ways in which each column of the source can be read, the same wherever it is."""
    found: dict[str, list[Column]] = {}
    for options in uses:
        columns = list(dict.fromkeys(each.column for each in options if each.column is not None))
        for name in {column.name for column in columns}:
            own = [column for column in columns if column.name == name]
            pairs = product(found.get(name, own), own)
            # What a cut is of has digits that a text does not tell; what is kept has its own.
            fewer = (min(p, key=lambda each: each.type.digits) for p in pairs if _alike(*p))
            found[name] = list(dict.fromkeys(fewer))
    return found


def _alike(one: Column, other: Column) -> bool:
    """Whether two columns are one as far as a text tells that compares them."""
    if one.type.kind != "decimal" or other.type.kind != "decimal":
        return one == other
    return replace(one, type=replace(one.type, digits=other.type.digits)) == other


def _by(known: Mapping[str, Column], options: list[Shown]) -> Shown:
    """What is shown where the source's columns are known."""
    for each in options:
        column = each.column and known.get(each.column.name)
        if each.column is None:
            return each
        if column is not None and _alike(column, each.column):
            return replace(each, column=column)
    raise ClaimError("no column of these types is shown")
