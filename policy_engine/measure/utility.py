"""The cells that a workload is asked of: those of a release, and those of its source."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import UsageError
from policy_engine.kernel.mechanisms import Inserted, Randomised
from policy_engine.measure.subjects import (
    Subject,
    check_columns,
    counts_of,
    measuring,
    subject_of,
)
from policy_engine.measure.workload import Workload, workload
from policy_engine.policy.resolve import Policy
from policy_engine.policy.syntactic import Suppression
from policy_engine.releasing.planning import open_warehouse, project_of, vouched_for
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa

_SOURCE = "policy_engine_source"


def utility_of(path: Path, sensitive: Sequence[str], source_of: Policy | None = None) -> Workload:
    """What the release in a file is good for; beside its source where a policy says which.

    With a policy the answer is confidential. Raises UsageError for a file that is no release of
    counts or rows by one grouping, and PolicyError where the policy's source does not fit.
    """
    with measuring() as connection:
        subject = subject_of(path, connection, None)
        _check(subject, sensitive)
        columns = tuple(subject.columns)
        scale = Decimal(1)
        if subject.rate is not None:
            of_source = Decimal(1) if source_of is None else source_of.source.sampled_at
            scale = of_source / Decimal(str(subject.rate))
        released = counts_of(connection, subject.relation, columns, subject.count)
        estimates = {key: n * float(scale) for key, n in released.items()}
        source = None
        if source_of is not None:
            count = _free_name(source_of)
            connection.register(_SOURCE, _source(source_of, count))
            source = counts_of(connection, _SOURCE, columns, count)
        return workload(columns, estimates, sensitive, source, subject.orders)


def _check(subject: Subject, sensitive: Sequence[str]) -> None:
    if not subject.is_release:
        raise UsageError(f"{subject.name} is no release: --workload asks what one is good for")
    if subject.groupings:
        raise UsageError(f"{subject.name} has several groupings, and --workload is of one")
    if subject.mechanism in (Randomised.mechanism, Inserted.mechanism):
        raise UsageError(f"the rows of {subject.name} are partly nobody's: see 'estimate'")
    if not sensitive:
        raise UsageError("--workload needs --sensitive, the column that a tree is grown for")
    check_columns(tuple(sensitive), subject.columns, subject.name)


def _free_name(policy: Policy) -> str:
    """A name that no column of the policy or of its source has, as far as it says."""
    read = (*policy.columns, *policy.reads_beside, *(name for name, _ in policy.source.columns))
    taken = {name.casefold() for name in (*read, policy.source.key or "")}
    return next(name for n in range(len(taken) + 1) if (name := f"people_{n}") not in taken)


def _source(policy: Policy, count: str) -> pa.Table:
    """How many people of a policy's source have each combination of its released values."""
    exact = replace(
        policy,
        noise=Suppression(()),
        k=1,
        rate=Decimal(1),
        method="keyed",
        models=(),
        release=replace(policy.release, form="counts", count_as=count),
    )
    project = project_of(policy)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        text, table = vouched_for(exact, project, warehouse)
        with warehouse.sampled(exact, table, new_secret()) as unchanged:
            rows = warehouse.rows(text.query)
            unchanged()
    return rows
