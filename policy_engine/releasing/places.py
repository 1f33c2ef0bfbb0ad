"""Where a release goes, and what may not stand there."""

from __future__ import annotations

from pathlib import Path

from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.publish import (
    CERTIFICATE_SUFFIX,
    check_certificate,
    check_target,
    exists,
    is_of_a_release,
    not_a_release,
)
from policy_engine.releasing.requests import Ends
from policy_engine.warehouse.base import Warehouse


def ends_of(policy: Policy, project: Project, warehouse: Warehouse) -> Ends:
    """Where the release of a policy goes."""
    if policy.release_path is not None:
        return Ends.of_file(policy.release_path, project.directory)
    name = ".".join(warehouse.target(policy.release.relation or ""))
    return Ends.of_table(name, table_certificate_path(policy), project.directory)


def table_certificate_path(policy: Policy) -> Path:
    """Where the certificate of a release into a table stands: beside the policy."""
    return policy.directory / f"{policy.name}{CERTIFICATE_SUFFIX}"


def check_place(
    policy: Policy, warehouse: Warehouse, *, replace: bool, paid: int | None = None
) -> None:
    """Refuse, before anything is charged, what cannot be written, or stands in the way.

    ``paid`` is the entry that has paid for the release already. Raises FileError.
    """
    if policy.release_path is not None:
        check_target(policy.release_path, replace=replace, paid=paid)
        return
    target = warehouse.target(policy.release.relation or "")
    name = ".".join(target)
    if warehouse.exists(target):
        if not replace:
            raise exists(name, paid)
        if not is_of_a_release(warehouse.comment(target)):
            raise not_a_release(name)
        warehouse.check_replaceable(target)
    check_certificate(table_certificate_path(policy), name, replace=replace, paid=paid)
