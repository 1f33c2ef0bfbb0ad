"""Policy → Claim and its text, where the policy fits the source.

Everything that can be wrong with a policy for a given source is found here, before anything
runs: unknown columns, types a recoding does not take, names that clash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from policy_engine.compile.catalog import TIMES, Field, Kind, Table
from policy_engine.compile.claims import claim_of
from policy_engine.compile.fitting import measure_problem, missing_problem, readable, type_problem
from policy_engine.compile.joining import join_problems, joined_names
from policy_engine.compile.reading import casts_of, columns_read, read_as, read_columns
from policy_engine.compile.rendering import headed
from policy_engine.dialects import Engine
from policy_engine.engines.base import Refused
from policy_engine.errors import PolicyError, Problem
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Secret
from policy_engine.kernel.mechanisms.common import groups_as_it_is
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sources import People
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.project_models import warehouses
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy
from policy_engine.policy.source_models import (
    ALL_KEPT,
    CONVERT_A_KEY,
    KEY_AS_IT_STANDS,
    KEY_KEPT,
    RECODE_THE_KEY,
)
from policy_engine.policy.tree import path_text

_KEYS = frozenset({Kind.INTEGER, Kind.WIDE_INTEGER, Kind.TEXT, Kind.UUID, Kind.LABEL})
_COLUMNS = frozenset({Kind.TEXT, Kind.LABEL, Kind.DOUBLE, Kind.BOOLEAN})
_NUMBERS = ("integer", "double")
_DAYS = frozenset({Kind.DATE})
_Found = tuple[str, str, str]
"""A place in the policy, what is wrong with it, and what mends it."""


def compiled(
    policy: Policy, table: Table, dialect: Engine, secret: Secret | None = None
) -> tuple[Claim, str]:
    """The claim of ``policy`` over ``table``, and its query: two comment lines say whose it is.

    The policy's name is a plain word and the digest is hex. ``secret`` is where the sample's secret
    waits, where no connection brings it.

    Raises:
        PolicyError: the policy does not fit the table, or the engine has no way to write it.
    """
    if problems := find_problems(policy, table, dialect):
        raise PolicyError(problems)
    # Where no release of ours runs, a text may cut off half of a secret of two.
    if policy.part is not None and dialect.name not in warehouses():
        law = f"part is of releases that policy-engine runs itself, and not of {dialect.title}'s"
        raise refused(policy.file, "part", law, "remove it: what draws the parts never leaves it")
    claim = claim_of(policy, table, dialect.name, secret)
    try:
        text = printed(claim, dialect.name)
    except Refused as error:
        message = f"{error.title} cannot do this: {error.reason}"
        problem = Problem(str(policy.file), 0, 0, _place_of(claim, dialect), message, error.remedy)
        raise PolicyError((problem,)) from None
    return claim, headed(policy.name, policy.digest, text)


def _place_of(claim: Claim, dialect: Engine) -> str:
    """The recoding that an engine refuses by itself, as the policy's path; else all of them."""
    unit = replace(claim.unit, order=None) if isinstance(claim.unit, People) else claim.unit
    for shown in claim.columns:
        try:
            printed(replace(claim, unit=unit, columns=(shown,), filter=()), dialect.name)
        except Refused:
            return path_text(("recode", shown.name))
        except ClaimError:
            continue
    return "recode"


def find_problems(policy: Policy, table: Table, dialect: Engine) -> tuple[Problem, ...]:
    """Everything in ``policy`` that does not fit ``table``."""
    read, missing = read_columns(policy, table), dict(policy.missing)
    found = [*_unknown(policy, table)]
    for name, recoding in policy.recodings:
        broken = None
        if name in read:
            casts = casts_of(read[name].source) not in dialect.lacks
            broken = type_problem(recoding, read[name].column, casts=casts)
            broken = broken or missing_problem(recoding, read[name].column, name in missing)
        if broken is not None:
            law = f"column {name!r}: {broken.law}"
            found.append((path_text(("recode", name)), law, broken.remedy))
    found += _dialect_problems(policy, table, dialect)
    found += _source_problems(policy, table)
    found += _measure_problems(policy, table, dialect)
    found += _filled_problems(policy, table)
    found += _period_problems(policy, table, dialect)
    found += join_problems(policy, table)
    if policy.grouping == "raw_first":
        law = "raw_first needs columns that group by what they are, found"
        raw = [each.source for each in read.values()]
        mixed = [e.name for e in raw if not groups_as_it_is(e.kind.of_a_claim, e.is_collated)]
        remedy = "use grouping: recoded, or leave it out"
        found += [("grouping", f"{law} {name!r}", remedy) for name in mixed]
    found += _sample_problems(policy, table, dialect)
    return _problems(policy, found)


def _measure_problems(policy: Policy, table: Table, dialect: Engine) -> Iterator[_Found]:
    """The measures of columns whose values are no numbers."""
    drawn, quantiles = policy.protection.quantities, policy.protection.quantiles
    asked = [(each.name, drawn[each.quantity - 1]) for each in policy.protection.measures]
    added = [(name, each.column, each.clip, each.center is None) for name, each in asked]
    added += [(each.name, each.column, each.clip, False) for each in quantiles]
    read = columns_read(policy, table, [column for _, column, *_ in added if column])
    for name, column, clip, is_count in added:
        if column is None or column not in read:
            continue
        # Read as a number, a text that is none would not be counted.
        casts = not is_count and casts_of(read[column].source) not in dialect.lacks
        broken = measure_problem(clip.unit, read[column].column, casts=casts)
        if broken is not None:
            law = f"column {column!r}: {broken.law}"
            yield path_text(("measures", name)), law, broken.remedy


def find_unknown(policy: Policy, table: Table) -> tuple[Problem, ...]:
    """The names that are not one column of ``table``: a part of ``find_problems``."""
    return _problems(policy, _unknown(policy, table))


def _problems(policy: Policy, found: Iterable[_Found]) -> tuple[Problem, ...]:
    return tuple(Problem(str(policy.file), 0, 0, *problem) for problem in found)


def _unknown(policy: Policy, table: Table) -> Iterator[_Found]:
    """Every name that is not one column, where the policy has it."""
    for path, name, relation, written in joined_names(table):
        whose = "the source" if relation == table.alone else relation.name
        yield from _not_one(path, name, relation, whose, written)
    named = [
        (path_text(("recode", name)), name) for name, recoding in policy.recodings if recoding.reads
    ]
    named += _of_the_unit(policy)
    named += [(path_text(("source", "columns", name)), name) for name, _ in policy.source.columns]
    named += [(path_text(("filter", name)), name) for name, _ in policy.filter]
    if policy.edition.column:
        named.append(("period.column", policy.edition.column))
    for each in policy.source.computed:  # of what is stored, and not of each other
        for name in (each.since, each.until):
            path = path_text(("source", "compute", each.name))
            yield from _not_one(path, name, replace(table, computed=()))
    named += [(path_text(("measures", name)), column) for name, column in policy.measured]
    for path, name in named:
        yield from _not_one(path, name, table)


def _not_one(
    path: str, name: str, table: Table, whose: str = "the source", written: str = ""
) -> Iterator[_Found]:
    """That a name is not one column of a table, or of those beside it.

    ``whose`` is how the table is called; ``written`` is how a key is written that it calls COLUMN.
    """
    columns = table.meant(name)
    if len(columns) > 1 and _is_told_of_a_join(name, table):
        return
    if len(columns) > 1:
        first = ", ".join(map(repr, columns[:-1]))
        law = f"{name!r} can be the columns {first} and {columns[-1]!r} of {table.name}"
        if table.case == "folded":
            law += ": its engine reads a and A in a name as the same letter"
            yield path, law, "rename one of them"
        else:
            yield path, law, "write one as it stands there"
    elif not columns:
        readable = " that the role may read" if table.hides else ""
        near = _near(name, table, whose, written)
        yield path, f"{table.name} has no column {name!r}{readable}", near


def _is_told_of_a_join(name: str, table: Table) -> bool:
    """Whether several columns of this name stand there because of what is looked up or computed.

    None of it may be called like a column that stands beside it: ``join_problems`` says which.
    """
    return all(len(each.meant(name)) < 2 for each in table.relations)


def _of_the_unit(policy: Policy) -> list[tuple[str, str]]:
    """The columns that tell people and their rows apart, each with its place in the policy."""
    named = [(_key_path(policy), name) for name in policy.source.keys]
    return named + [("privacy_unit.rows.first_by", name) for name, _ in policy.source.order_by]


def _key_path(policy: Policy) -> str:
    return "privacy_unit.column" if len(policy.source.keys) < 2 else "privacy_unit.columns"


def _dialect_problems(policy: Policy, table: Table, dialect: Engine) -> Iterator[_Found]:
    """What the policy asks for and the dialect does not define, with the dialect's reason."""
    keyed, is_chance = (
        policy.method == "keyed",
        policy.is_by_chance,
    )
    numbers_rows = keyed and policy.source.key is None and policy.noise is None
    read = read_columns(policy, table)
    beside = {each.source for each in read.values()} - {*map(table.find, policy.source.keys)}
    others = read_as(policy, table)
    as_others = [column for column in table.all_columns if column.name in others]
    asked = {
        "file": ("source.file", table.path is not None and not table.parts),
        "row_number": ("privacy_unit", numbers_rows),
        "native_sample": ("sample.method", not keyed),
        "join": ("source.join", bool(table.beside)),
        **{casts_of(column): ("source.columns", True) for column in as_others},
        # Any of a person's rows would do, and none is the first by what is read.
        "place_of_a_row": ("privacy_unit", policy.source.draws_a_row and not beside),
        "repeat": ("release.as", policy.release.form == "rows" and not is_chance),
        "create_table": ("release.table", policy.release.relation is not None),
    }
    wanted = [(operation, path) for operation, (path, is_asked) in asked.items() if is_asked]
    places = [(path_text(("recode", name)), each.source) for name, each in read.items()]
    unit = [(path, table.find(name)) for path, name in _of_the_unit(policy)]
    places += [(path, column) for path, column in unit if column is not None]
    plain = [(path, column.kind) for path, column in places if not column.is_collated]
    wanted += [(f"{kind.of_a_claim}_column", path) for path, kind in plain if kind in _COLUMNS]
    texts = [path for path, kind in plain if kind in {Kind.TEXT, Kind.LABEL}]
    wanted += [("text_key", path) for path in texts if path == _key_path(policy)]
    wanted += [("bytewise", path) for path, column in places if column.is_collated]
    lacks = {**dialect.lacks}
    if "row_number" in lacks:
        remedy = "name one in unit.keep.order_by"
        lacks["place_of_a_row"] = ("a person's rows have no order", remedy)
    for operation, path in wanted:
        if operation in lacks:
            reason, remedy = lacks[operation]
            yield path, f"{dialect.title} cannot do this: {reason}", remedy


def _near(name: str, table: Table, whose: str, written: str) -> str:
    if name.lower() in map(str.lower, table.partitions):
        return f"{name}=… is a folder's name, which is not read: write it into the files"
    names = {column.name.lower(): column.name for column in table.all_columns}
    close = get_close_matches(name.lower(), names, 1, 0.6)
    if close and written:
        return f"did you mean {written.replace('COLUMN', names[close[0]])}?"
    if written:
        known = ", ".join(names.values())
        return f"write {written}, with what {whose} calls it for COLUMN: {known}"
    if close:
        return f"did you mean {names[close[0]]!r}?"
    if table.path is not None and is_csv(table.path) and len(names) == 1:
        return "its first line names one column alone: see csv.delimiter and csv.skip"
    return f"name a column of {whose}{', or GRANT SELECT on it' if table.hides else ''}"


def _key_problems(policy: Policy, table: Table) -> Iterator[_Found]:
    """What is wrong with the columns that tell people apart, and with showing all of them."""
    path = _key_path(policy)
    name = path
    keys = [key for key in map(table.find, policy.source.keys) if key is not None]
    for key in keys:
        if key.kind not in _KEYS and not key.is_whole:
            law = f"{name} must be a whole number, a text or a UUID, found {key.noun}"
            yield path, law, "add such a key to the source"
        if key.is_collated:
            law = f"{name} must be compared letter by letter, found a column with a collation"
            yield path, law, "add a key without one to the source"
    if len(set(keys)) < len(keys):
        yield path, f"{name} names the column {keys[0].name!r} twice", "name each column once"
    kept = {table.find(named): named for named in policy.kept}
    if keys and all(key in kept for key in keys):
        named = kept[keys[-1]]
        law = (
            KEY_KEPT if len(keys) == 1 else f"and all other columns of the key are kept: {ALL_KEPT}"
        )
        yield path_text(("recode", named)), f"recode.{named} {law}", RECODE_THE_KEY


def _source_problems(policy: Policy, table: Table) -> Iterator[_Found]:
    """What is wrong with the key, with what columns are read as, and with the order of rows.

    The key is read as it stands: what its type would make one value stays two people. Rows are
    ordered as they stand, too: a number that stands as text would sort as text.
    """
    yield from _key_problems(policy, table)
    keys = [table.find(name) for name in policy.source.keys]
    for named, declared in policy.source.columns:
        column, path = table.find(named), path_text(("source", "columns", named))
        if column is None:
            continue
        if column in keys and (declared, column.kind) != ("text", Kind.TEXT):
            law = f"{path} {KEY_AS_IT_STANDS}, found {declared} for {column.noun}"
            yield path, law, CONVERT_A_KEY
        elif not readable(column.kind, declared):
            # It would make every value NULL.
            law = f"{named!r} cannot be read as {declared} because it is {column.noun}"
            yield path, law, "leave it out of source.columns"
    yield from _twice(("source", "columns"), policy.source.columns, table)
    yield from _twice(("filter",), policy.filter, table)
    declared_as = read_as(policy, table)
    for named, _ in policy.source.order_by:
        column = table.find(named)
        if column is None or column.kind is not Kind.TEXT:
            continue
        if declared_as.get(column.name) in _NUMBERS:
            law = f"first_by compares {named!r} as the text it is in the source"
            remedy = "order by a column of another type, or convert the source to Parquet"
            yield "privacy_unit.rows.first_by", law, remedy


def _filled_problems(policy: Policy, table: Table) -> Iterator[_Found]:
    """The measures that say NOT NULL of a column of which the catalog, as it is now, does not."""
    read_otherwise = read_as(policy, table)
    for name, named in policy.measured:
        column = table.find(named)
        if name not in policy.protection.filled or column is None:
            continue
        if column.name in read_otherwise:
            law = f"{named!r} is read as another type, and what is no such value is missing"
        elif table.path:
            # DuckDB writes REQUIRED where no row has a NULL: one person's row would decide.
            law = f"{named!r} is a file's, whose schema may follow from its rows: only a table's"
            law += " catalog says NOT NULL"
        elif column.name not in table.filled:
            law = f"the catalog of {table.name} does not say that {named!r} is NOT NULL"
        else:
            continue
        remedy = "remove it: a missing value is left out; or write missing: {as: 0}"
        yield path_text(("measures", name, "not_null")), law, remedy


def _twice(
    place: tuple[str, ...], named: Iterable[tuple[str, object]], table: Table
) -> Iterator[_Found]:
    """Columns that are named a second time, in another case."""
    seen: dict[Field, str] = {}
    for name, _ in named:
        column = table.find(name)
        first = name if column is None else seen.setdefault(column, name)
        if first != name:
            path = path_text((*place, name))
            yield path, f"{path} is the column {first!r} a second time", "name it once"


def _period_problems(policy: Policy, table: Table, dialect: Engine) -> Iterator[_Found]:
    """What is wrong with the column that says in which period a row lies."""
    column = table.find(policy.edition.column) if policy.edition.column else None
    if column is None:
        return
    declared = read_as(policy, table).get(column.name)
    if declared in ("date", "timestamp") or (declared is None and column.kind in TIMES | _DAYS):
        return
    if "date_column" in dialect.lacks:
        law = f"{dialect.title} has no dates, so that no row lies in a period"
        remedy = "write the table to a Parquet file with a date, and release from that; or refresh"
        yield "period.column", law, remedy
        return
    found = column.noun if declared is None else f"it is read as {declared}"
    law = f"period.column must be a date or a time, found {found}"
    casts = "try_cast" not in dialect.lacks and readable(column.kind, "date")
    remedy = "name a column of dates or times"
    if casts:
        remedy = f"read it as a date: source.columns: {{{column.name}: date}}"
    yield "period.column", law, remedy


def _sample_problems(policy: Policy, table: Table, dialect: Engine) -> Iterator[_Found]:
    answers = policy.noise is not None and policy.noise.numbers_rows
    if answers and table.view is not None:
        law = f"{table.name} is a view, which can have more rows for one person than another"
        yield "source.table", law, "name the table of the people, who all answer"
    if policy.noise is not None:
        return
    is_keyed, has_key = policy.method == "keyed", policy.source.key is not None
    if policy.method == "native" and has_key:
        law = "method native samples rows, but the unit is a person with a key"
        yield "sample.method", law, "use method: keyed"
    if is_keyed and not has_key and table.view is not None:
        law = f"{table.name} is a view, whose rows have no numbers to draw from"
        yield "privacy_unit", law, "name privacy_unit.column, or use sample.method: native"
    if not has_key and table.is_folder:
        law = f"{table.name} is a folder of files, whose rows have no numbers to draw from"
        yield "privacy_unit", law, "name privacy_unit.column"
    if is_keyed and threshold(policy.rate) < 1:
        law = f"a keyed sample needs a rate of at least 2^-60, found {policy.rate}"
        yield "sample.rate", law, "raise the rate"
    number = "rowid" if table.path is None or table.parts else "file_row_number"
    numbers_rows = is_keyed and not has_key and "row_number" not in dialect.lacks
    if numbers_rows and table.find(number) is not None:
        law = f"the source has a column {number!r}, which hides the engine's row number"
        yield "source", law, "rename that column"
