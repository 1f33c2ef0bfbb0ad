"""Everything wrong with a policy file, without running it and without charging anything."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from policy_engine.errors import EnvironmentFailed, NotCertifiable, PolicyError, Problem
from policy_engine.policy.loading import load_policy
from policy_engine.release import open_warehouse, prepare, project_of


def find_problems(path: Path, note: Callable[[str], None]) -> tuple[Problem, ...]:
    """The problems of one file; ``note`` is told when the source could not be looked at.

    The source's schema is read, its values are not.
    """
    try:
        policy = load_policy(path)
        project = project_of(policy)
    except PolicyError as error:
        return error.problems
    try:
        with closing(open_warehouse(policy, project, writes=False)) as warehouse:
            prepare(policy, project, warehouse)
    except PolicyError as error:
        return error.problems
    except NotCertifiable as error:
        return tuple(
            Problem(str(path), 0, 0, "guarantee", f"{finding.code} {finding.message}")
            for finding in error.findings
        )
    except EnvironmentFailed as error:
        note(f"{path}: not checked against its source: {error}")
    return ()
