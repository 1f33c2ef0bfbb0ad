"""Is the account that a policy names a mistyped one? It would open a new one, without a limit."""

from __future__ import annotations

from difflib import get_close_matches

from policy_engine.errors import PolicyError, Problem
from policy_engine.policy.places import located
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show

_SIMILAR = 0.8


def check_account(policy: Policy, project: Project) -> None:
    """Refuse a ``budget`` that is none of the project's accounts, but nearly one.

    Any other name that the project file does not have is an account without a limit, which only
    adds up; so is the source's own account, of a policy without ``budget``.

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
    problem = Problem(str(policy.file), 0, 0, "budget", message, remedy)
    raise PolicyError(located((problem,), policy.file))
