"""What stands in a release's place: the digest of its rows, how many people, what else they show.

What they show that the author may not have meant is post-processing, and free.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_field
from typing import TYPE_CHECKING, Any

from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.policy.noise import Chance
from policy_engine.policy.recodings import Constant
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.publish import file_digest
from policy_engine.releasing.requests import Ends, Run, predicate_digest
from policy_engine.releasing.reviewing import line_of
from policy_engine.warehouse.base import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

Lines = Iterable[tuple[Any, ...]]
_SLICE = 1000
_MANY = 20
"""Per cent of the people shown: of so many without a value it is said, for nobody may mean it."""
_NOT_READ = (
    "if the source has values there, they were not read, or no group of them is large enough; see"
    " source.columns and source.csv"
)
_NULL = "{} is NULL in every row that is shown: {}"
_PARTLY = "{} % of the people shown have no value in {}: {}"
_ALIKE = "{} has the same value in every row that is shown, and tells no two groups apart"


@dataclass(frozen=True)
class Size:
    """How large a release is: groups, rows, and the people of the sample that they count.

    ``remarks`` say what else its rows show.
    """

    groups: int
    rows: int
    people: int
    remarks: tuple[str, ...] = ()


def digest_at(run: Run, ends: Ends, warehouse: Warehouse) -> str | None:
    """The digest of what stands in the place of a run; None where nothing stands, or another's."""
    if ends.path is None:
        return digest_of_table(warehouse, run.target, run.digest)
    return file_digest(ends.path) if ends.path.is_file() else None


def digest_of_table(warehouse: Warehouse, name: str, facts: str) -> str | None:
    """The digest of a table's rows, if it stands and its comment has facts of that digest."""
    target = warehouse.target(name)
    if not warehouse.exists(target):
        return None
    try:
        found = json.loads(warehouse.comment(target))
    except ValueError:
        return None
    if not isinstance(found, dict) or predicate_digest(found) != facts:
        return None
    return digest_of_lines(warehouse.release_lines(target))[0]


def digest_of_lines(lines: Lines, policy: Policy | None = None) -> tuple[str, Size]:
    """SHA-256 of a release's rows as JSON lines, and their size: of people, by its policy.

    The rows are sorted, so equal ones stand together.
    """
    before = 1 if policy is not None and policy.groupings else 0
    counted = policy is not None and policy.release.form == "counts"
    place = before + len(policy.columns) if policy is not None and counted else None
    digest, groups, rows, last = hashlib.sha256(), 0, 0, None
    people: Counter[Any] = Counter()
    for line in lines:
        text = line_of(line)
        digest.update(text.encode() + b"\n")
        groups, rows, last = groups + (text != last), rows + 1, text
        people[line[0] if before else None] += 1 if place is None else int(line[place])
    return digest.hexdigest(), Size(groups, rows, max(people.values(), default=0))


def size_of_table(
    warehouse: Warehouse, target: tuple[str, ...], policy: Policy
) -> tuple[str, Size]:
    """The digest and size of a table."""
    digest, size = digest_of_lines(warehouse.release_lines(target), policy)
    return digest, replace_field(size, remarks=_remarks(warehouse.release_lines(target), policy))


def size_of(rows: pa.Table, policy: Policy) -> Size:
    """The size of a file's rows; of several groupings the people of the one that shows most."""
    count = policy.release.count_as if policy.release.form == "counts" else None
    told = _remarks(numbered(rows.drop(list(policy.beside)), count), policy)
    if count is None:
        groups = rows.group_by(list(rows.column_names), use_threads=False).aggregate([])
        return Size(groups.num_rows, rows.num_rows, rows.num_rows, told)
    people = [sum(rows.column(count).to_pylist())]
    if policy.groupings:
        sums = rows.group_by(GROUPING).aggregate([(count, "sum")])
        people = sums.column(f"{count}_sum").to_pylist()
    return Size(rows.num_rows, rows.num_rows, max(people, default=0), told)


def _remarks(lines: Lines, policy: Policy) -> tuple[str, ...]:
    # What a grouping leaves out is NULL in its rows; by chance some values are missing.
    if policy.groupings or isinstance(policy.noise, Chance):
        return ()
    columns = [None if isinstance(how, Constant) else name for name, how in policy.recodings]
    return remarks(columns, lines, counted=policy.release.form == "counts")


def remarks(
    columns: Sequence[str | None], lines: Lines, *, counted: bool, of_alike: bool = True
) -> tuple[str, ...]:
    """A sentence for every column that lacks many values, or has one value in several groups.

    ``columns`` name the fields of ``lines``, from the first on; None for one that is constant by
    the policy. ``counted``: the field behind them counts people; else each line is one person.
    Without ``of_alike`` it is of values that lack alone, which needs nothing of the policy.

    >>> remarks(["age", "sex"], [(None, "f", 5), (None, "m", 7)], counted=True)[0].partition(":")[0]
    'age is NULL in every row that is shown'
    >>> remarks(["pay"], [("<30", 5), (None, 7)], counted=True)[0].partition(":")[0]
    '58 % of the people shown have no value in pay'
    >>> remarks(["age", "sex"], [("<30", "f"), ("<30", "m")], counted=False)[0].partition(",")[0]
    'age has the same value in every row that is shown'
    >>> remarks(["age"], [("<30", 5)], counted=True)
    ()
    """
    width = len(columns)
    people, without, alike, first = 0, [0] * width, set(range(width)), None
    for line in lines:
        first = line if first is None else first
        count = int(line[width]) if counted else 1
        people += count
        for place in range(width):
            if line[place] is None:
                without[place] += count
        alike = {place for place in alike if line[place] == first[place]}
    named = [(place, column) for place, column in enumerate(columns) if column is not None]
    some_differ = of_alike and any(place not in alike for place, _ in named)
    told = []
    for place, column in named:
        share = 100 * without[place] // people if people else 0
        if people and without[place] == people:
            told.append(_NULL.format(column, _NOT_READ))
        elif share >= _MANY:
            told.append(_PARTLY.format(share, column, _NOT_READ))
        elif place in alike and some_differ:
            told.append(_ALIKE.format(column))
    return tuple(told)


def numbered(rows: pa.Table, count: str | None) -> Iterator[tuple[int | None, ...]]:
    """The rows of a table, a number for each value: Python cannot hold every value of an engine.

    The column ``count`` is as it is.

    >>> import pyarrow as pa
    >>> list(numbered(pa.table({"a": ["x", None, "x"], "n": [7, 5, 4]}), "n"))
    [(0, 7), (None, 5), (0, 4)]
    """
    whole = [column.combine_chunks() for column in rows.columns]
    columns = [
        each if name == count else each.dictionary_encode().indices
        for name, each in zip(rows.column_names, whole, strict=True)
    ]
    for start in range(0, rows.num_rows, _SLICE):
        yield from zip(*(each.slice(start, _SLICE).to_pylist() for each in columns), strict=True)
