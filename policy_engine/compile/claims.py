"""Policy and catalog → Claim: what a release is, in the kernel's own values.

The policy fits the source already (``find_problems``); what is found here beside that is a value of
the policy that is no value of its column's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, time
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from policy_engine.calendars import Zone
from policy_engine.compile.catalog import Field, JoinedTable, Kind, Table
from policy_engine.compile.public_groups import NotPublic, all_groups
from policy_engine.compile.reading import is_raw_first, read_as
from policy_engine.engines import ENGINES
from policy_engine.errors import PolicyError, Problem
from policy_engine.kernel import mechanisms, recodes, sources
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.editions import Edition, ends_of
from policy_engine.kernel.filters import none_of, one_of, within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms.common import groups_as_it_is
from policy_engine.kernel.mechanisms.pure import Key
from policy_engine.kernel.recodes.meaning import UNNAMED
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.types import MOMENTS, MOST_INTEGER, Type, Value
from policy_engine.policy.laws import suggestion
from policy_engine.policy.mechanisms.common import LawParts
from policy_engine.policy.model_specs import ALL_VALUES, Keys
from policy_engine.policy.recode_models import FilterSpec
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Policy, Source
from policy_engine.policy.scalars import show
from policy_engine.policy.tree import path_text

_EXACT = Context(prec=200)
_DECIMAL = re.compile(r"DECIMAL\((\d+)(?:,\s*(\d+))?\)")


class _Misfit(Exception):
    """A value of the policy that no value of the column can be; law and remedy."""


class _Problems(list[Problem]):
    """What is wrong with the values of a policy."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self._file = str(policy.file)

    def add(self, path: str, law: str, remedy: str) -> None:
        self.append(Problem(self._file, 0, 0, path, law, remedy))

    @contextmanager
    def of(self, path: str, subject: str, misfit: str = "") -> Iterator[None]:
        """Go on behind what does not fit at a place of the policy, ``misfit`` if it is a value."""
        try:
            yield
        except ClaimError as error:
            # A law of claims that no law of the language covers.
            law = f"no claim is made of it: {error}"
            self.add(path, f"{subject}: {law}" if subject else law, "")
        except _Misfit as error:
            law, remedy = error.args
            self.add(misfit or path, f"{subject}: {law}", remedy)

    def check(self) -> None:
        """Raise PolicyError with every problem, if there is one."""
        if self:
            raise PolicyError(tuple(dict.fromkeys(self)))


def claim_of(
    policy: Policy, table: Table, engine: str, secret: mechanisms.Secret | None = None
) -> Claim:
    """The claim of ``policy`` over ``table`` on an engine.

    ``secret`` is where the sample's secret waits, where no connection brings it.

    Raises:
        PolicyError: a value of the policy is none of its column's type, with every problem.
    """
    declared = read_as(policy, table)
    problems = _Problems(policy)

    def column(name: str) -> sources.Column:
        return _column(table, name, declared, collates=ENGINES[engine].collates)

    shown, conditions, drawn, chosen = [], [], [], []
    missing = dict(policy.missing)
    for name, recoding in policy.recodings:
        with problems.of(path_text(("recode", name)), f"column {name!r}"):
            read = None if not recoding.reads else column(name)
            found = table.find(name)
            widest = 2**64 if read and found and found.type == "UBIGINT" else MOST_INTEGER + 1
            seen = read.seen if read else Type("text")
            made: Any = recode_of(recoding, seen, widest)
            if recode_meaning(made).by_clocks and seen.kind == "timestamp_zoned":
                made = replace(made, zone=policy.zone)
            if isinstance(recoding, recodes.Map) and found and read and read.read_as is None:
                _check_keys(recoding, found, seen)
            shown.append(Shown(name, read, made, missing.get(name)))
    for name, spec in policy.filter:
        with problems.of(path_text(("filter", name)), f"column {name!r}"):
            conditions.append(_condition(column(name), spec))
    of = {name: measured for measured, name in policy.measured}
    for each in policy.protection.quantities:
        at = path_text(("measures", of.get(each.column or "", "")))
        with problems.of(at, f"column {each.column!r}"):
            read = None if each.column is None else column(each.column)
            drawn.append(mechanisms.Quantity(read, each.clip, each.center, each.noise))
    for quantile in policy.protection.quantiles:
        at = path_text(("measures", quantile.name))
        with problems.of(at, f"column {quantile.column!r}"):
            own = (quantile.clip, quantile.at, quantile.over, quantile.spent)
            chosen.append(mechanisms.Quantile(quantile.name, column(quantile.column), *own))
    period = None
    if policy.edition.column:
        with problems.of("period.column", f"column {policy.edition.column!r}"):
            period = _period(column(policy.edition.column), policy.edition)
    unit: sources.Rows | sources.People = sources.Rows()
    with problems.of("privacy_unit", "first_by", "privacy_unit.rows.first_by"):
        unit = _unit(policy, table, engine)
    joins: tuple[sources.JoinedRelation, ...] = ()
    with problems.of("source.join", "join"):
        joins = tuple(_joined(policy, table, each, engine) for each in table.beside)
    computed = []
    for span in policy.source.computed:
        with problems.of(path_text(("source", "compute", span.name)), f"{span.name!r}"):
            dates = (column(span.since), column(span.until))
            computed.append(sources.TimeBetween(span.name, *dates, span.unit))
    problems.check()
    # An engine that may collate every text groups recoded values, whatever the policy asks for.
    types = [each.column.type for each in shown if each.column is not None]
    plain = bool(types) and all(groups_as_it_is(kind.kind, kind.collated) for kind in types)
    with problems.of("recode", ""):
        return Claim(
            source=_source(policy, policy.source, table),
            unit=unit,
            law=_law(
                policy,
                shown,
                (tuple(drawn), tuple(chosen)),
                secret,
                (period, tuple(conditions)),
                raw_first=plain and is_raw_first(policy, table),
            ),
            columns=tuple(shown),
            count=policy.release.count_as if policy.release.form == "counts" else None,
            filter=tuple(conditions),
            period=period,
            joins=joins,
            computed=tuple(computed),
        )
    raise PolicyError(tuple(problems))


def _period(column: sources.Column, edition: Edition) -> Shown:
    """The rows of an edition's period."""
    assert edition.period is not None
    ends = ends_of(edition.period, Zone(edition.zone), column.seen.kind)
    if ends is None:
        raise _Misfit("no period of a calendar ends in the year 10000", "name an earlier one")
    return within(column, *ends)


def _condition(column: sources.Column, spec: FilterSpec) -> Shown:
    seen = column.seen
    members = []
    for text in spec.members or spec.not_in:
        value = _key(text, seen)
        if value is None:
            raise _Misfit(f"{text!r} is no value of a column of {seen.kind}s", "take it out")
        members.append(value)
    least, end = (None if cut is None else _cut(cut, seen) for cut in (spec.at_least, spec.below))
    listed, or_missing = tuple(dict.fromkeys(members)), spec.missing is True
    try:
        if spec.members:
            return one_of(column, listed, or_missing=or_missing)
        if least is None and end is None:
            return none_of(column, listed, or_missing=or_missing)
        return within(column, least, end, or_missing=or_missing)
    except ClaimError:
        law = f"a column of {seen.kind}s has no such range"
        raise _Misfit(law, "a range is of numbers, dates or times; else use in") from None


def _column(
    table: Table, name: str, declared: Mapping[str, sources.ReadAs], *, collates: bool
) -> sources.Column:
    found = table.find(name)
    assert found is not None  # find_problems has looked
    read_as = declared.get(found.name)
    if found.kind is Kind.OTHER and read_as is None:
        law = f"no text compares its type, {found.noun}"
        raise _Misfit(law, "name a column of numbers, texts, truth values or times")
    try:
        return sources.Column(found.name, type_of(found, collates=collates), read_as)
    except ClaimError as error:
        raise _Misfit(str(error), "rename the column in its source") from None


def type_of(column: Field, *, collates: bool) -> Type:
    """The type of a column of the catalog; ``collates``: the engine collates every text."""
    kind = column.kind.of_a_claim
    if kind == "decimal":
        found = _DECIMAL.fullmatch(column.type.upper())
        digits, scale = (int(found[1]), int(found[2] or 0)) if found else (18, 3)
        return Type("decimal", digits, scale)
    return Type(kind, collated=column.is_collated or (collates and kind == "text"))  # type: ignore[arg-type]


def _joined(
    policy: Policy, table: Table, beside: JoinedTable, engine: str
) -> sources.JoinedRelation:
    """A relation that is joined, as its catalog spells it."""
    collates = ENGINES[engine].collates
    keys = {key.name: key for key in keys_of(policy, table.alone)}

    def other(name: str) -> sources.Column:
        return _column(beside.table, name, {}, collates=collates)

    on = []
    for own, key in beside.on:
        of_source = _column(table.alone, own, {}, collates=collates)
        on.append((keys.get(of_source.name, of_source), other(key)))
    written = next(each for each in policy.source.joins if each.name == beside.name)
    return sources.JoinedRelation(
        source=_source(policy, written.source, beside.table),
        on=tuple(on),
        columns=tuple(map(other, beside.columns)),
        is_public=beside.is_public,
        order=tuple((other(name), down) for name, down in beside.order),
    )


def _source(policy: Policy, source: Source, table: Table) -> sources.Relation | sources.Files:
    if table.path is None:
        if len(table.parts) < 2:
            law = f"a table's name must say its schema here, found {table.name}"
            problem = Problem(str(policy.file), 0, 0, "source.table", law, "write both")
            raise PolicyError((problem,))
        is_rowwise = source.is_rowwise and table.view is not None
        return sources.Relation(table.parts, is_rowwise)
    if not table.parts:
        return sources.Files(table.files, table.is_folder)
    if table.is_folder:
        return sources.Files(table.path, True, "delta")
    said = source.csv.model_dump(exclude_defaults=True) if source.csv else {}
    return sources.Files(table.path, kind="csv", options=tuple(sorted(said.items())))


def _unit(policy: Policy, table: Table, engine: str) -> sources.Rows | sources.People:
    source = policy.source
    if not source.keys:
        return sources.Rows()

    keys = keys_of(policy, table)
    key = keys[0] if len(keys) == 1 else sources.KeyColumns(keys)
    if source.unique and key.name in table.unique and len(keys) == 1:
        return sources.People(key, None)
    if source.counts_all:
        return sources.People(key, sources.Groups(policy.protection.groups))
    read = [name for name, recoding in policy.recodings if recoding.reads]
    read += policy.reads_beside
    inputs = dict.fromkeys(found.name for name in read if (found := table.find(name)))
    # Of rows that are all alike in what is read there is nothing to draw.
    if source.draws_a_row and set(inputs) - {each.name for each in keys}:
        return sources.People(key, sources.Drawn())
    # Where nothing enforces that a unit has one row, one is kept: the least in what is read.
    collates = ENGINES[engine].collates
    order = [
        (_column(table, name, {}, collates=collates), way == "desc")
        for name, way in source.order_by
    ]
    return sources.People(key, tuple(order) or ((keys[0], False),))


def keys_of(policy: Policy, table: Table) -> tuple[sources.Column, ...]:
    """The columns that tell people apart, as the source spells them."""
    return tuple(_column(table, name, {}, collates=False) for name in policy.source.keys)


def _law(
    policy: Policy,
    shown: list[Shown],
    beside: tuple[tuple[mechanisms.Quantity, ...], tuple[mechanisms.Quantile, ...]],
    secret: mechanisms.Secret | None,
    kept: tuple[Shown | None, tuple[Shown, ...]],
    *,
    raw_first: bool,
) -> mechanisms.Law:
    keys = _public_keys(policy, shown, *kept)
    asked = LawParts(policy, tuple(shown), *beside, secret, raw_first, keys)
    return policy.protection.kernel_law(asked)


def _public_keys(
    policy: Policy, shown: list[Shown], period: Shown | None, conditions: tuple[Shown, ...]
) -> tuple[tuple[Key, ...], ...]:
    """The public keys of a policy as its columns show them; none where it has none."""
    lists = policy.protection.keys
    if lists != ALL_VALUES:
        return _listed(policy, lists, shown) if lists else ()
    try:
        return all_groups(shown, period, conditions)
    except NotPublic as error:
        law, remedy = error.args
        problem = Problem(str(policy.file), 0, 0, "public_groups", f"public_groups {law}", remedy)
        raise PolicyError((problem,)) from None


def _listed(policy: Policy, lists: Keys, shown: list[Shown]) -> tuple[tuple[Key, ...], ...]:
    """The public keys in the order of the columns that are shown; a constant has its own value.

    Raises PolicyError where no row can show a value.
    """
    columns = {each.name: each for each in shown}
    known = {name: columns[name].values or None for name, _ in policy.recodings}
    problems = _Problems(policy)

    def value(name: str, text: str | None) -> Any:
        kind, labels = columns[name].kind, known[name]
        found = None
        if text is not None and kind in ("text", "integer", "date"):
            found = _key(text, Type(kind))  # type: ignore[arg-type]
        if (found is None and text is not None) or (labels is not None and text not in labels):
            law = f"column {name!r} shows a {kind}, and never {show(text)}"
            told = "a value is a text, a whole number or a date, as its column shows it"
            if labels is not None:
                told = suggestion(text, (each or "null" for each in labels))
            problems.add("public_groups", law, told)
        return found

    constants = {
        each.name: recode_meaning(each.recode).shows(UNNAMED)
        for each in shown
        if not each.recode.reads
    }
    rows_of = [
        [
            constants | {name: value(name, text) for name, text in zip(names, row, strict=True)}
            for row in rows
        ]
        for names, rows in lists
    ]
    if len(lists) == 1:  # rows of all columns
        found = [tuple(tuple(row[name] for name in columns) for row in rows_of[0])]
    else:
        place = {names[0]: rows for (names, _), rows in zip(lists, rows_of, strict=True)}
        every = ((name, place.get(name, [constants])) for name in columns)
        found = [tuple((row[name],) for row in rows) for name, rows in every]
    problems.check()
    return tuple(found)


def recode_of(recoding: Recoding, seen: Type, widest: int = MOST_INTEGER + 1) -> recodes.Recode:
    """A recoding of the policy as one of a column of the type ``seen``.

    No whole number of 64 bits in the column is as great as ``widest``.
    """
    match recoding:
        case recodes.Bins(cuts, labels):
            return _bins(tuple(_cut(cut, seen) for cut in cuts), labels, seen, widest)
        case recodes.Map():
            return _map(recoding, seen)
        case _:
            return recoding


def _bins(
    cuts: tuple[Value, ...], labels: tuple[str | None, ...], seen: Type, widest: int
) -> recodes.Recode:
    """The intervals that some value of the type lies in: what none is below says nothing."""
    if len(set(cuts)) != len(cuts):
        law = f"two cut points are one to a decimal number with {seen.scale} places"
        raise _Misfit(law, "take one out")
    below, end = 0, len(cuts)
    if seen.kind in ("integer", "decimal"):
        numbers = [Decimal(cut) for cut in cuts]  # type: ignore[arg-type]
        above = widest if seen.kind == "integer" else Decimal(10) ** (seen.digits - seen.scale)
        below, end = sum(n <= -above for n in numbers), sum(n < above for n in numbers)
    inner, names = cuts[below:end], labels[below : end + 1]
    if any(isinstance(cut, int) and abs(cut) > MOST_INTEGER for cut in inner):
        raise _Misfit("a cut point of a whole number has at most 63 bits", "write less")
    return recodes.Bins(inner, names) if inner else recodes.Map((), names[0])


def _cut(cut: Any, seen: Type) -> Value:
    if isinstance(cut, Decimal):
        if seen.kind in ("integer", "wide_integer"):
            # No whole number lies between a cut and the next.
            return int(cut.to_integral_value(ROUND_CEILING))
        if seen.kind == "decimal":
            # No value lies between a cut and the next number of the column's scale.
            scale = Decimal(1).scaleb(-seen.scale)
            return cut.quantize(scale, rounding=ROUND_CEILING, context=_EXACT)
        return cut
    is_day = not isinstance(cut, datetime)
    return datetime.combine(cut, time()) if is_day and seen.kind in MOMENTS else cut


def _map(recoding: recodes.Map, seen: Type) -> recodes.Map:
    values: dict[Value, Value] = {}
    for key in sorted(map(str, recoding.keys)):
        value = _key(key, seen)
        if value is None:
            raise _never(key, _NOUNS[seen.kind], recoding.other, _instead_of(key, seen))
        values[key] = value
    if len(set(values.values())) != len(values):
        raise _Misfit("two keys are one number", "take one out")
    groups = ((tuple(values[key] for key in keys), label) for keys, label in recoding.groups)
    return recodes.Map(tuple(groups), recoding.other)


_NOUNS = {kind.of_a_claim: kind.value for kind in Kind}


def _never(key: str, noun: str, other: str | None, remedy: str) -> _Misfit:
    law = f"no value of it, {noun}, is the key {show(key)}"
    return _Misfit(f"{law}, so that its rows would be {show(other)}", remedy)


def _check_keys(recoding: recodes.Map, column: Field, seen: Type) -> None:
    """That each key can stand in the column by all that its own type says: its width, its labels.

    Raises _Misfit of the first that cannot. The keys are values of the kind already.
    """
    for key in sorted(map(str, recoding.keys)):
        if not _can_hold(column, key, seen):
            raise _never(key, column.said, recoding.other, "take it out, or correct it")


def _can_hold(column: Field, key: str, seen: Type) -> bool:
    """Whether a value of the column's own type can be a key, that is a value of its kind."""
    match column.kind:
        case Kind.INTEGER:
            return int(key) in column.whole_numbers
        case Kind.DECIMAL:
            return abs(Decimal(key)) < Decimal(10) ** (seen.digits - seen.scale)
        case Kind.WIDE_INTEGER:
            return bool(_DIGITS.fullmatch(key)) and "." not in key
        case Kind.UUID:
            return bool(_UUID.fullmatch(key))
        case Kind.LABEL:
            return column.labels is None or key in column.labels
    return True


def _instead_of(key: str, seen: Type) -> str:
    """What to write for a key that no value of a column is."""
    plain = ""
    with suppress(ArithmeticError, ValueError):
        number = Decimal(key.strip())
        plain = f"{int(number)}" if number == int(number) else ""
    with suppress(ValueError):
        if seen.kind == "date":
            plain = str(date.fromisoformat(key.strip()))
    near = {"boolean": {"t": "true", "f": "false", "1": "true", "0": "false"}.get(key.lower()[:1])}
    plain = near.get(seen.kind) or (plain if seen.kind in ("integer", "decimal", "date") else "")
    take = "take it out; a column of codes such as 01067 is a text in its source"
    return f"write {show(plain)}, or {take}" if plain and _key(plain, seen) is not None else take


_DIGITS = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _key(key: str, seen: Type) -> Value | None:
    """The value of the column's type that is written as ``key``; None where there is none."""
    found: Value | None = None
    with suppress(ValueError):
        match seen.kind:
            case "integer":
                found = int(key) if str(int(key)) == key else None
            case "decimal":
                found = Decimal(key) if _DIGITS.fullmatch(key) else None
            case "date":
                found = date.fromisoformat(key) if str(date.fromisoformat(key)) == key else None
            case "boolean":
                found = {"true": True, "false": False}.get(key)
            case _:
                found = key
    return found if found is not None and seen.holds(found) else None
