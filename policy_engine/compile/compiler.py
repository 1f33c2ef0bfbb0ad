"""Policy → Claim and its text, where the policy fits the source.

Everything that can be wrong with a policy for a given source is found here, before anything
runs: unknown columns, types a recoding does not take, names that clash.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from policy_engine.compile.catalog import Kind, Table
from policy_engine.compile.claims import claim_of
from policy_engine.compile.fitting import readable, type_problem
from policy_engine.compile.reading import read_columns
from policy_engine.compile.rendering import headed
from policy_engine.compile.suppression import printed_classes
from policy_engine.dialects import Engine
from policy_engine.engines.base import Refused
from policy_engine.errors import PolicyError, Problem
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.fragments import threshold
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Secret
from policy_engine.kernel.printing import printed
from policy_engine.kernel.sources import People
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.noise import Chance
from policy_engine.policy.reading import refused
from policy_engine.policy.recodings import Constant
from policy_engine.policy.resolve import Policy
from policy_engine.policy.source_models import CONVERT_A_KEY, KEY_AS_IT_STANDS
from policy_engine.policy.tree import path_text

_KEYS = frozenset({Kind.INTEGER, Kind.WIDE_INTEGER, Kind.TEXT, Kind.UUID, Kind.LABEL})


_OF_A_LOOKUP = (
    "a column of a public lookup is joined in SQL of your own, which 'policy-engine check --policy'"
    " proves; compile writes no joins"
)


_PARTED = frozenset(
    {"duckdb", "postgres", "mariadb", "spark", "clickhouse", "datafusion", "sqlite"}
)
"""The engines that releases run on: a text elsewhere may cut off half of a secret of two."""


def compiled(
    policy: Policy, table: Table, dialect: Engine, secret: Secret | None = None
) -> tuple[Claim, str]:
    """The claim of ``policy`` over ``table``, and its query: two comment lines say whose it is.

    The policy's name is a plain word and the digest is hex. ``secret`` is where the sample's secret
    waits, where no connection brings it.

    Raises:
        PolicyError: the policy does not fit the table, or the engine has no way to write it.
    """
    check_fits(policy, table, dialect)
    if policy.part is not None and (dialect.name not in _PARTED or secret is not None):
        law = f"part is of releases that policy-engine runs itself, and not of {dialect.title}'s"
        raise refused(policy.file, "part", law, "remove it: what draws the parts never leaves it")
    claim = claim_of(policy, table, dialect.name, secret)
    try:
        text = (printed_classes if policy.is_syntactic else printed)(claim, dialect.name)
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


def check_fits(policy: Policy, table: Table, dialect: Engine) -> None:
    """Raise PolicyError, with every problem, unless ``policy`` fits ``table``."""
    problems = find_problems(policy, table, dialect)
    if problems:
        raise PolicyError(problems)


def find_problems(policy: Policy, table: Table, dialect: Engine) -> tuple[Problem, ...]:
    """Everything in ``policy`` that does not fit ``table``."""
    found = _unknown(policy, table)
    read = read_columns(policy, table)
    for name, recoding in policy.recodings:
        if name not in read:
            continue
        broken = type_problem(recoding, read[name].column)
        if broken is not None:
            message, _, remedy = broken.partition("; ")
            found.append((path_text(("recode", name)), f"column {name!r}: {message}", remedy))
    found.extend(_dialect_problems(policy, table, dialect))
    found.extend(_source_problems(policy, table))
    found.extend(_grouping_problems(policy, table))
    found.extend(_sample_problems(policy, table, dialect))
    return _problems(policy, found)


def find_unknown(policy: Policy, table: Table) -> tuple[Problem, ...]:
    """The columns that ``policy`` names and ``table`` has not: a part of ``find_problems``."""
    return _problems(policy, _unknown(policy, table))


def _problems(policy: Policy, found: list[tuple[str, str, str]]) -> tuple[Problem, ...]:
    return tuple(Problem(str(policy.file), 0, 0, *problem) for problem in found)


def _unknown(policy: Policy, table: Table) -> list[tuple[str, str, str]]:
    """Every name that is no column, where the policy has it."""
    source, found = policy.source, []
    read = read_columns(policy, table)
    for name, recoding in policy.recodings:
        if not isinstance(recoding, Constant) and name not in read:
            remedy = _near(name, table) if not policy.public else _OF_A_LOOKUP
            found.append((path_text(("recode", name)), name, remedy))
    named = [(_key_path(policy), source.key)] if source.key else []
    named += [("source.unit.keep.order_by", name) for name, _ in source.order_by]
    named += [(path_text(("source", "columns", name)), name) for name, _ in source.columns]
    named += [(path_text(("filter", name)), name) for name, _ in policy.filter]
    sums = () if policy.noise is None else policy.noise.sums
    named += [(path_text(("aggregate", each.name)), each.column) for each in sums]
    found += [(path, n, _near(n, table)) for path, n in named if table.find(n) is None]
    return [(path, f"{table.name} has no column {name!r}", told) for path, name, told in found]


def _key_path(policy: Policy) -> str:
    return "source.unit.row_key" if policy.source.unique else "source.unit.key"


def _dialect_problems(policy: Policy, table: Table, dialect: Engine) -> list[tuple[str, str, str]]:
    """What the policy asks for and the dialect does not define, with the dialect's reason."""
    keyed, is_chance = policy.method == "keyed", isinstance(policy.noise, Chance)
    numbers_rows = keyed and policy.source.key is None and policy.noise is None
    read = {found.source.name.lower() for found in read_columns(policy, table).values()}
    key = str(policy.source.key).lower()
    asked = {
        "file": ("source.path", table.path is not None and not table.parts),
        "row_number": ("source.unit", numbers_rows),
        "native_sample": ("sample.method", not keyed),
        "try_cast": ("source.columns", bool(policy.source.columns)),
        # Any of a person's rows would do, and none is the first by what is read.
        "place_of_a_row": ("source.unit", policy.source.draws_a_row and not read - {key}),
        "repeat": ("release.as", policy.release.form == "rows" and not is_chance),
        "create_table": ("release.relation", policy.release.relation is not None),
    }
    wanted = [(operation, path) for operation, (path, is_asked) in asked.items() if is_asked]
    found = []
    lacks = {**dialect.lacks}
    if "row_number" in lacks:
        lacks["place_of_a_row"] = "a person's rows have no order; name one in unit.keep.order_by"
    for operation, path in (*wanted, *_asked_of_columns(policy, table)):
        if operation in lacks:
            reason, _, remedy = lacks[operation].partition("; ")
            found.append((path, f"{dialect.title} cannot do this: {reason}", remedy))
    return found


_COLUMNS = frozenset({Kind.TEXT, Kind.LABEL, Kind.DOUBLE, Kind.BOOLEAN})


def _asked_of_columns(policy: Policy, table: Table) -> list[tuple[str, str]]:
    """What the columns that are read ask of an engine, each with its place in the policy."""
    read = read_columns(policy, table)
    places = [(path_text(("recode", name)), found.source) for name, found in read.items()]
    named = [(_key_path(policy), policy.source.key or "")]
    named += [("source.unit.keep.order_by", name) for name, _ in policy.source.order_by]
    places += [(path, column) for path, name in named if (column := table.find(name)) is not None]
    plain = [(path, column) for path, column in places if not column.is_collated]
    asked = [(f"{c.kind.of_a_claim}_column", path) for path, c in plain if c.kind in _COLUMNS]
    texts = [path for path, column in plain if column.kind in {Kind.TEXT, Kind.LABEL}]
    asked += [("text_key", path) for path in texts if path == _key_path(policy)]
    return asked + [("bytewise", path) for path, c in places if c.is_collated]


def _near(name: str, table: Table) -> str:
    if name.lower() in map(str.lower, table.partitions):
        return f"{name}=… is a folder's name, which is not read: write it into the files"
    names = {column.name.lower(): column.name for column in table.columns}
    close = get_close_matches(name.lower(), names, 1, 0.6)
    if close:
        return f"did you mean {names[close[0]]!r}?"
    if table.path is not None and is_csv(table.path) and len(names) == 1:
        return "its first line names one column alone: see csv.delimiter and csv.skip"
    return "name a column of the source"


def _source_problems(policy: Policy, table: Table) -> list[tuple[str, str, str]]:
    found, path = [], _key_path(policy)
    name = path.removeprefix("source.")
    key = table.find(policy.source.key) if policy.source.key else None
    if key is not None and key.kind not in _KEYS:
        message = f"{name} must be a whole number, a text or a UUID, found {key.noun}"
        found.append((path, message, "add such a key to the source"))
    if key is not None and key.is_collated:
        message = f"{name} must be compared letter by letter, found a column with a collation"
        found.append((path, message, "add a key without one to the source"))
    return found + _reading_problems(policy, table) + _order_problems(policy, table)


def _reading_problems(policy: Policy, table: Table) -> list[tuple[str, str, str]]:
    """A declared type that no value of its column can have would make them all NULL.

    The key is read as it stands: what its type would make one value stays two people.
    """
    found = []
    key = table.find(policy.source.key) if policy.source.key else None
    for name, declared in policy.source.columns:
        column, path = table.find(name), path_text(("source", "columns", name))
        if column is None:
            continue
        if column == key and (declared, column.kind) != ("text", Kind.TEXT):
            message = f"{path} {KEY_AS_IT_STANDS}, found {declared} for {column.noun}"
            found.append((path, message, CONVERT_A_KEY))
        elif not readable(column.kind, declared):
            message = f"{name!r} cannot be read as {declared}, for it is {column.noun}"
            found.append((path, message, "leave it out of source.columns"))
    return found


def _order_problems(policy: Policy, table: Table) -> list[tuple[str, str, str]]:
    """Rows are ordered as they stand: a number that stands as text would sort as text."""
    declared = {name.lower(): kind for name, kind in policy.source.columns}
    found = []
    for name, _ in policy.source.order_by:
        column, kind = table.find(name), declared.get(name.lower())
        if column is not None and column.kind is Kind.TEXT and kind in {"integer", "double"}:
            message = f"order_by compares {name!r} as the text it is in the source"
            remedy = "order by a column of another type, or convert the source to Parquet"
            found.append(("source.unit.keep.order_by", message, remedy))
    return found


def _grouping_problems(policy: Policy, table: Table) -> list[tuple[str, str, str]]:
    if policy.grouping != "raw_first":
        return []
    raw = read_columns(policy, table).values()
    return [
        (
            "grouping",
            f"raw_first needs columns that group by what they are, found {read.source.name!r}",
            "use grouping: recoded, or leave it out",
        )
        for read in raw
        if not read.groups_as_it_is
    ]


def _sample_problems(policy: Policy, table: Table, dialect: Engine) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    answers = isinstance(policy.noise, Chance) and policy.noise.mechanism == "randomised_response"
    if answers and table.view is not None:
        message = f"{table.name} is a view, which can have more rows for one person than another"
        found.append(("source.relation", message, "name the table of the people, who all answer"))
    if policy.noise is not None:
        return found
    if policy.method == "native" and policy.source.key is not None:
        message = "method native samples rows, but the unit is a person with a key"
        found.append(("sample.method", message, "use method: keyed"))
    if policy.method == "keyed" and policy.source.key is None and table.view is not None:
        message = f"{table.name} is a view, whose rows have no numbers to draw from"
        found.append(("source.unit", message, "name unit.key, or use sample.method: native"))
    if policy.source.key is None and table.is_folder:
        message = f"{table.name} is a folder of files, whose rows have no numbers to draw from"
        found.append(("source.unit", message, "name unit.key"))
    if policy.method == "keyed" and threshold(policy.rate) < 1:
        message = f"a keyed sample needs a rate of at least 2^-60, found {policy.rate}"
        found.append(("sample.rate", message, "raise the rate"))
    if policy.method != "keyed" or policy.source.key is not None or "row_number" in dialect.lacks:
        return found
    number = "rowid" if table.path is None or table.parts else "file_row_number"
    if table.find(number) is not None:
        message = f"the source has a column {number!r}, which hides the engine's row number"
        found.append(("source", message, "rename that column"))
    return found
