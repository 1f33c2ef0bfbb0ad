"""Which account pays for a policy, and whether its name is a mistyped one."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from policy_engine.policy.places import refused
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show

_SIMILAR = 0.8


def account_of(policy: Policy, project: Project, table: str | None = None) -> str:
    """The account that pays. A source file pays under one name, wherever its policies are.

    ``table`` is what a source that is a view reads: whoever releases through views pays from the
    account of the table below them.

    Policies in different folders write the path of the same file differently; the account's
    name is then the path from the project's folder.
    """
    path, relation = policy.source_path, policy.source.relation
    if relation is not None and policy.budget == relation:
        full = _full_name(table or relation, project)
        named = (name for name in project.accounts if _full_name(name, project) == full)
        return next(named, full)
    if path is None or policy.budget != policy.source.path:
        return policy.budget
    return Path(os.path.relpath(path.resolve(), project.directory.resolve())).as_posix()


def _full_name(relation: str, project: Project) -> str:
    """A relation under one name, however much of its database and schema is written."""
    parts = relation.lower().split(".")
    missing = [project.default.lower(), "main"][: max(0, 3 - len(parts))]
    return ".".join([*missing, *parts])


def check_account(policy: Policy, project: Project) -> None:
    """Refuse a ``budget`` that is none of the project's accounts, but nearly one.

    A mistyped name would open an account without a limit. Any other name that the project file
    does not have is an account without a limit, which only adds up; so is the source's own
    account, of a policy without ``budget``.

    Raises:
        PolicyError: with the line and column of ``budget``.
    """
    written = policy.budget != policy.source.text
    if not written or policy.budget in project.accounts:
        return
    near = get_close_matches(policy.budget[:100], project.accounts, n=1, cutoff=_SIMILAR)
    if not near:
        return
    message = f"budget must be an account of {project.file}, found {show(policy.budget)}"
    remedy = f"did you mean {near[0]!r}? (add a new account to accounts there first)"
    raise refused(policy.file, "budget", message, remedy)
