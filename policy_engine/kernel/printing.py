"""Claim → text: the templates with typed holes.

A template places nodes and what its own macros gave, and nothing else: any other value is refused,
so no text of a policy can reach SQL without having been an identifier, a text or a number.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Engine, Refused
from policy_engine.kernel.claim import KEPT, Claim, Shown
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.mechanisms.tables import value_nodes
from policy_engine.kernel.nodes import Identifier, Node, Nodes, Number, Text, label_of
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Files,
    Groups,
    JoinedRelation,
    KeyColumns,
    Relation,
    Rows,
    TimeBetween,
)
from policy_engine.kernel.types import AS_TEXT, MOST_DIGITS

if TYPE_CHECKING:
    import jinja2

_PACKAGED = Path(__file__).parent.parent / "sql_templates"
_CHECKOUT = Path(__file__).parent.parent.parent / "sql_templates"


def printed(claim: Claim, engine: str) -> str:
    """The one text of ``claim`` on an engine.

    Raises:
        Refused: the engine cannot do it, with the reason and a remedy.

    >>> from policy_engine.kernel.claim import Shown, Claim
    >>> from decimal import Decimal
    >>> from policy_engine.kernel.sources import Column, Relation, Rows
    >>> from policy_engine.kernel.recodes import Keep
    >>> from policy_engine.kernel.types import Type
    >>> sex = Shown("sex", Column("sex", Type("text")), Keep())
    >>> from policy_engine.kernel.mechanisms import Native
    >>> claim = Claim(Relation(("main", "people")), Rows(), Native(Decimal("0.1"), 5), (sex,))
    >>> print(printed(claim, "duckdb").splitlines()[2])
      FROM "main"."people" TABLESAMPLE BERNOULLI (10 PERCENT)
    """
    ENGINES[engine].check(*asked_of(claim))
    template = environment(engine).get_template(f"mechanisms/{claim.law.template}.sql.j2")
    return template.render(values_of(claim, ENGINES[engine]))


def templates() -> Path:
    """The folder of the templates: beside the package, or in a checkout above it."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@lru_cache
def templates_digest(engine: str) -> str:
    """SHA-256 over the names and texts of all templates of queries: which set printed a text.

    With the forms of an engine that a package brings, and the package's name.
    """
    digest = hashlib.sha256()
    for file in sorted(templates().rglob("*.sql.j2")):
        name = file.relative_to(templates()).as_posix()
        if not name.startswith("envelopes/"):
            digest.update(f"{name}\0{file.read_text(encoding='utf-8')}\0".encode())
    if (table := ENGINES[engine]).package:
        digest.update(f"{table.package}\0{engine}\0{table.forms}\0".encode())
    return "sha256:" + digest.hexdigest()


def asked_of(claim: Claim) -> list[str]:
    """What a claim asks of an engine, by the names of what engines lack."""
    unit, law, keys = claim.unit, claim.law, claim.unit.keys
    read = (*claim.read, *claim.dates)
    others = [column for column in read if column.type.kind != "text"]
    joined = [column for each in claim.joins for column in each.read]
    kinds = [column.type.kind for column in (*read, *keys, *unit.ordering, *joined)]
    asked = {
        "names_by_case": claim.differs_by_case,
        "text_key": any(key.type.kind in ("text", "label") for key in keys) or len(keys) > 1,
        "row_number": isinstance(unit, Rows) and law.numbers_rows,
        "decimal_column": any(each.clip.unit % 1 for each in law.held),
        "native_sample": law.method == "native",
        "file": any(isinstance(place, Files) for place in claim.places),
        "join": bool(claim.joins),
        "try_cast": any(c.read_as or c.type.kind == "timestamp_other" for c in others),
        "strict_cast": any(c.read_as and c.type.kind == "text" for c in read),
    }
    of_columns = [f"{kind}_column" for kind in dict.fromkeys(kinds)]
    of_recodes = [each for s in claim.columns for each in s.recode.asks(s.seen)]
    whole = [name for name, is_asked in asked.items() if is_asked]
    return [*of_columns, *of_recodes, *whole, *law.asks(claim)]


class _Forms:
    """An engine's own macros, then its family's, then the standard's."""

    def __init__(self, environment: jinja2.Environment, engine: Engine) -> None:
        self._engine = engine
        names = dict.fromkeys(name for name in (engine.name, engine.family, "standard") if name)
        self._places = [environment.get_template(f"engines/{name}.sql.j2") for name in names]

    def __getattr__(self, name: str) -> Any:
        self._engine.check(name)
        for place in self._places:
            if name in place.module.__dict__:
                return place.module.__dict__[name]
        raise Refused(self._engine.title, f"it has no form {name}")


@lru_cache
def environment(name: str) -> jinja2.Environment:
    """The templates of an engine, with typed holes."""
    import jinja2

    class Kept(jinja2.FileSystemBytecodeCache):
        """Compiled once and kept beside them, where that can be: as Python keeps modules."""

        def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
            with suppress(Exception):  # torn by a crash
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
            with suppress(OSError):
                if not sys.dont_write_bytecode:
                    Path(self.directory).mkdir(exist_ok=True)
                    super().dump_bytecode(bucket)

    engine = ENGINES[name]
    # Ours come first: a package brings its engine's forms, and changes no others.
    brought = jinja2.DictLoader({f"engines/{name}.sql.j2": engine.forms})
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader((jinja2.FileSystemLoader(templates()), brought)),
        bytecode_cache=Kept(str(templates() / "__pycache__")),
        undefined=jinja2.StrictUndefined,
        finalize=_finalizer(engine),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters, made.globals, made.tests = {}, {}, {"none": lambda value: value is None}
    made.globals["e"] = _Forms(made, engine)  # which hold these globals
    return made


def _finalizer(engine: Engine) -> Callable[[object], Markup]:
    def finalize(value: object) -> Markup:
        if type(value) is Markup:  # what a macro gave
            return value
        if not isinstance(value, Node):
            raise TypeError(f"a hole was given {type(value).__name__}, not a node")
        return Markup(value.sql(engine))

    return finalize


LONG = 200
"""A map with more keys is a relation that is joined: CASE asks a row for one key after another."""
_LISTED = (*AS_TEXT, "text", "integer")


def _lookup(shown: Shown, number: int, engine: Engine) -> dict[str, Identifier] | None:
    """The names of the relation of a long map."""
    if len(shown.recode.keys) <= LONG or not engine.lists or shown.seen.kind not in _LISTED:
        return None
    names = ("lookup", "key", "label", "found")
    return {each: Identifier(f"policy_engine_{each}_{number}") for each in names}


def values_of(claim: Claim, engine: Engine) -> Nodes:
    """What the templates get: nodes, and plain values that they can only ask about."""
    columns = [
        {
            **shown_of(shown, typed=True),
            "lookup": _lookup(shown, number, engine),
            "groupings": _groupings(claim, shown),
        }
        for number, shown in enumerate(claim.columns, 1)
    ]
    drawn = max(len(columns), len(claim.law.quantities))  # of a row, beside a group's count
    return {
        "inputs": [read_of(column) for column in claim.inputs],
        "recoded": [read_of(column) for column in claim.recoded],
        "streams": [_stream(claim, number) for number in range(drawn + 1)],
        "hashes": [Identifier(f"policy_engine_hash_{n}") for n in range(1, drawn + 1)],
        "columns": columns,
        "lookups": [column for column in columns if column["lookup"] is not None],
        "filter": [shown_of(each) for each in claim.filter],
        "kept": Text(KEPT, is_label=True),
        **_source_values(claim),
        "shares": engine.shares,
        "sets": _sets(claim) if engine.sets else [],
        "numbered": isinstance(claim.unit, Rows) and claim.law.numbers_rows,
        "order": [(read_of(column), down) for column, down in _order(claim)],
        "count": None if claim.count is None else Identifier(claim.count),
        **_noise_values(claim),
        **_unit_values(claim),
        **claim.law.nodes(),
    }


def _stream(claim: Claim, number: int) -> Text:
    """What tells the ``number``-th draw of a group from its others, and from another claim's."""
    return Text(f":g:{number}:{claim.stream}:")


def _source_values(claim: Claim) -> Nodes:
    """What is read: the source with its period, or a step that has other columns beside each row.

    Then the step that reads the source has the period, below all that is joined.
    """
    period = None if claim.period is None else shown_of(claim.period)
    source = {**_place_of(claim.source), "period": period}
    if not claim.beside:
        return {**source, "joins": None}
    joined, spans = Identifier("policy_engine_joined"), {each.name for each in claim.computed}
    read = (*claim.inputs, *claim.unit.keys, *claim.unit.ordering)
    names = dict.fromkeys(column.name for column in read if column.name not in spans)
    joins = {
        **source,
        "name": joined,
        "own": [Identifier(each) for each in claim.own],
        "order": [(read_of(column), down) for column, down in claim.first_rows],
        "read": [Identifier(each) for each in names],
        "beside": [_beside(each, number) for number, each in enumerate(claim.joins, 1)],
        "computed": Identifier("policy_engine_computed"),
        "spans": [_span(each, number) for number, each in enumerate(claim.computed, 1)],
    }
    name = joins["computed"] if spans else joined
    nowhere = {"relation": [name], "path": None, "loaded": None, "is_folder": None}
    return {**nowhere, "period": None, "joins": joins}


def _span(span: TimeBetween, number: int) -> Nodes:
    """What is computed of two days."""
    return {
        "name": Identifier(span.name),
        "unit": span.unit,
        "since": {**read_of(span.since), "day": Identifier(f"policy_engine_since_{number}")},
        "until": {**read_of(span.until), "day": Identifier(f"policy_engine_until_{number}")},
    }


def _beside(joined: JoinedRelation, number: int) -> Nodes:
    """A relation that is joined: its key, what it gives, and which of a key's rows is there."""
    on: list[Nodes] = [
        {
            "key": Identifier(f"policy_engine_key_{number}_{place}"),
            "own": read_of(own),
            "other": read_of(other),
            "is_whole": own.type.kind == other.type.kind == "integer",
        }
        for place, (own, other) in enumerate(joined.on, 1)
    ]
    named = {column.name for column, _ in joined.order}
    rest = ((column, False) for column in joined.columns if column.name not in named)
    return {
        **_place_of(joined.source),
        "name": Identifier(f"policy_engine_beside_{number}"),
        "on": on,
        "columns": [read_of(column) for column in joined.columns],
        "order": [(read_of(column), down) for column, down in (*joined.order, *rest)],
    }


def _place_of(source: Relation | Files) -> Nodes:
    """How a text names a relation or a file."""
    file = source if isinstance(source, Files) else None
    parts = source.parts if isinstance(source, Relation) else ()
    return {
        "relation": [Identifier(part) for part in parts],
        "path": Text(file.path) if file and file.kind == "parquet" else None,
        "loaded": Identifier(file.path) if file and file.kind != "parquet" else None,
        "is_folder": file is not None and file.is_folder,
    }


def _groupings(claim: Claim, shown: Shown) -> list[Number]:
    """By which groupings a column is counted, where there are several."""
    every = enumerate(claim.law.groupings, 1)
    return [Number(number) for number, each in every if shown.name in each.columns]


_MOST_BITS = 60
"""GROUPING is a whole number of 64 bits, one a column."""


def _sets(claim: Claim) -> list[tuple[Number, Number]]:
    """Of each grouping its number, and what GROUPING is of its rows: 1 of a column it is without.

    None where the columns are too many for that number's bits.
    """
    names = [shown.name for shown in reversed(claim.columns)]
    if len(names) > _MOST_BITS:
        return []
    bits = {name: 1 << place for place, name in enumerate(names)}
    every = enumerate(claim.law.groupings, 1)
    return [
        (Number(number), Number(sum(bits[name] for name in names if name not in each.columns)))
        for number, each in every
    ]


def _noise_values(claim: Claim) -> Nodes:
    """What is drawn besides a count, and what tells one draw from another's."""
    law = claim.law
    values = dict.fromkeys((each.column, each.clip) for each in law.held)
    of = {value: number for number, value in enumerate(values, 1)}
    rows = {each.clip.rows for each in law.held if each.clip.per == "row"}
    tallied = dict.fromkeys((each.column, each.clip) for each in law.quantiles)
    nodes: dict[object, Nodes] = {
        value: {
            "of": read_of(column, typed=True),
            "is_cut": bool(law.cuts),
            **value_nodes(column, clip, of[value]),
        }
        for value in values
        for column, clip in [value]
        if column is not None
    }
    measured = [None, *(nodes.get((each.column, each.clip)) for each in law.quantities)]
    return {
        "values": list(nodes.values()),
        "cut_counts": [
            {
                **each.nodes(number, measured[each.quantity]),
                "stream": _stream(claim, len(law.quantities) + number),
            }
            for number, each in enumerate(law.cuts, 1)
        ],
        "quantiles": [
            each.nodes(number, of[each.column, each.clip], claim.stream, law.least_of(each))
            for number, each in enumerate(law.quantiles, 1)
        ],
        "tallies": [
            {
                "of": Number(of[value]),
                "value": Identifier(f"policy_engine_value_{of[value]}"),
                "per": value[1].per,
            }
            for value in tallied
        ],
        "quantities": [
            each.nodes(number, of[each.column, each.clip])
            for number, each in enumerate(law.quantities, 1)
        ],
        "measures": [
            each.nodes(number, law.quantities) for number, each in enumerate(law.measures, 1)
        ],
        "has_means": any(each.is_mean for each in law.measures),
        "most_rows": Number(max(rows)) if rows and claim.unit.counts_all else None,
        "first_group": Number(1),
        "grouping": Identifier(GROUPING),
        "groupings": [Number(number) for number in range(1, len(law.groupings) + 1)],
    }


def _unit_values(claim: Claim) -> Nodes:
    """Of whose rows one is kept, and how; None and false where each row is a unit."""
    key, order = claim.unit.key, claim.unit.order
    together = key.columns if isinstance(key, KeyColumns) else ()
    beneath = (*claim.inputs, *(column for column, _ in _order(claim))) if together else ()
    return {
        "key": None
        if key is None
        else {**read_of(Column("key", key.type)), "name": _key_name(key)},
        "together": [read_of(column) for column in together],
        "beneath": [Identifier(name) for name in dict.fromkeys(each.name for each in beneath)],
        "draws": isinstance(order, Drawn),
        "most_groups": Number(order.most) if isinstance(order, Groups) else None,
        "shows_key": isinstance(key, Column) and key.name in {each.name for each in claim.inputs},
        "recodes_key": isinstance(key, Column) and key.name in {e.name for e in claim.recoded},
    }


def _key_name(key: Column | KeyColumns) -> Identifier:
    """What the steps of a text call what tells units apart."""
    return Identifier(key.name if isinstance(key, Column) else "policy_engine_key")


def _order(claim: Claim) -> list[tuple[Column, bool]]:
    """How a unit's rows are ordered: rows that tie in all of it are alike to the release."""
    order, named = claim.unit.order, {column.name for column in claim.unit.ordering}
    if not isinstance(order, Drawn | tuple) or claim.first_rows:  # which are one a unit
        return []
    rest = [(column, False) for column in claim.inputs if column.name not in named]
    return rest if isinstance(order, Drawn) else [*order, *rest]


def read_of(column: Column, *, typed: bool = False) -> Nodes:
    """A column of the source, and as what a recode sees it.

    ``typed``: behind the step that reads it as the type that a recode sees.
    """
    seen = column.seen
    return {
        "name": Identifier(column.name),
        "type": seen if typed else column.type,
        "kind": seen.kind,
        "read_as": None if typed else column.read_as,
        "digits": Number(seen.digits),
        "scale": Number(seen.scale),
        "most_digits": Number(MOST_DIGITS),
    }


def shown_of(shown: Shown, *, typed: bool = False) -> Nodes:
    """A released column: its name, what is read, how, and the recode's own values as nodes."""
    return {
        "name": Identifier(shown.name),
        "of": read_of(shown.column, typed=typed) if shown.column is not None else None,
        "how": type(shown.recode).__name__.lower(),
        "kind": shown.kind,
        "missing": label_of(shown.missing),
        "lookup": None,
        "groupings": [],
        **shown.recode.nodes(shown.seen),
    }
