"""What stands in a release's place: the digest of its rows, and how many people they are."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as replace_field
from typing import TYPE_CHECKING, Any

from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.policy.noise import Chance
from policy_engine.policy.recodings import Constant
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.publish import file_digest
from policy_engine.releasing.remarks import numbered, remarks
from policy_engine.releasing.requests import Ends, Run, predicate_digest
from policy_engine.releasing.reviewing import line_of
from policy_engine.warehouse.base import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa


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


def digest_of_lines(
    lines: Iterable[tuple[Any, ...]], policy: Policy | None = None
) -> tuple[str, Size]:
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
    """The size of a file's rows."""
    count = policy.release.count_as if policy.release.form == "counts" else None
    told = _remarks(numbered(rows.drop(list(policy.beside)), count), policy)
    if count is not None:
        return Size(rows.num_rows, rows.num_rows, _people(rows, count, policy), told)
    groups = rows.group_by(list(rows.column_names), use_threads=False).aggregate([])
    return Size(groups.num_rows, rows.num_rows, rows.num_rows, told)


def _people(rows: pa.Table, count: str, policy: Policy) -> int:
    """The people shown, by the grouping that shows most."""
    if not policy.groupings:
        return sum(rows.column(count).to_pylist())
    sums = rows.group_by(GROUPING).aggregate([(count, "sum")])
    return max(sums.column(f"{count}_sum").to_pylist(), default=0)


def _remarks(lines: Iterable[tuple[Any, ...]], policy: Policy) -> tuple[str, ...]:
    # What a grouping leaves out is NULL in its rows; by chance some values are missing.
    if policy.groupings or isinstance(policy.noise, Chance):
        return ()
    columns = [None if isinstance(how, Constant) else name for name, how in policy.recodings]
    return remarks(columns, lines, counted=policy.release.form == "counts")
