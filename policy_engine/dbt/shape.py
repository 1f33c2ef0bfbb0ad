"""What stands in the place of a release: a table of the released columns, or something else."""

from __future__ import annotations

from policy_engine.dbt.desk import Desk
from policy_engine.dbt.releases import DbtRelease
from policy_engine.policy.resolve import Policy


def released_columns(policy: Policy) -> tuple[str, ...]:
    """The columns that a release has, in their order."""
    counted = (policy.release.count_as,) if policy.release.form == "counts" else ()
    return (*policy.columns, *counted)


def other_shape(desk: Desk, release: DbtRelease) -> str:
    """Why what stands is not a table of the released columns; empty where it is."""
    found = desk.table(release.policy, release.parts)
    if found.view is not None:
        return _A_VIEW
    names = tuple(column.name for column in found.columns)
    released = released_columns(release.policy)
    if names == released:
        return ""
    return _OTHER_COLUMNS.format(found=", ".join(names), released=", ".join(released))


_A_VIEW = (
    "a view stands in its place, which is drawn or read anew whenever somebody asks, and no release"
)
_OTHER_COLUMNS = (
    "it has the columns {found}, and released are {released}: a materialization or a hook made"
    " others of them, or the table was altered"
)
