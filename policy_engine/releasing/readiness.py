"""Whether several policies can be released together: tried for each before the first is charged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from policy_engine.errors import BudgetExceeded, NotCertifiable, PolicyError, Problem
from policy_engine.ledger.account import Account, admit
from policy_engine.policy.accounts import check_account
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.books import has_ledger, open_ledger
from policy_engine.releasing.places import check_place, ends_of
from policy_engine.releasing.planning import open_warehouse, project_of
from policy_engine.releasing.preview import Preview, preview
from policy_engine.releasing.reviewing import check_brought
from policy_engine.releasing.validation import check_guarantee, target_clashes


def make_ready(paths: Sequence[Path], *, replace: bool, fresh: bool = False) -> tuple[Policy, ...]:
    """The policies of ``paths``, once all of them together could be released.

    Everything that can fail without touching the data is tried for every file: loading,
    certifying, targets, and whether the accounts can pay for all of them. Nothing is charged
    and nothing is drawn.

    Raises:
        PolicyError: with every problem of every file that can be read.
        NotCertifiable, BudgetExceeded, EnvironmentFailed: of the first file that has one.
    """
    policies = _loaded(paths)
    clashes = target_clashes(policies)
    if clashes:
        raise PolicyError(tuple(problem for found in clashes.values() for problem in found))
    if len(policies) > 1:
        _try_all(policies, replace=replace, fresh=fresh)
    return policies


def _loaded(paths: Sequence[Path]) -> tuple[Policy, ...]:
    policies: list[Policy] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            policy = load_policy(path, syntactic=True)
            check_account(policy, project_of(policy))
            check_guarantee(policy)
            policies.append(policy)
        except PolicyError as error:
            problems.extend(error.problems)
    if problems:
        raise PolicyError(tuple(dict.fromkeys(problems)))
    return tuple(policies)


def _try_all(policies: Sequence[Policy], *, replace: bool, fresh: bool) -> None:
    previews: list[tuple[Project, Preview]] = []
    problems: list[Problem] = []
    for policy in policies:
        try:
            project = project_of(policy)
            with about(policy.file):
                previews.append((project, preview(policy, project)))
        except PolicyError as error:
            problems.extend(error.problems)
    if problems:
        raise PolicyError(tuple(dict.fromkeys(problems)))
    pairs = zip(policies, previews, strict=True)
    new = [each for each in pairs if fresh or each[1][1].repeats is None]
    _check_accounts([each for _, each in new])
    for policy, (project, found) in new:
        _check_target(policy, project, found, replace=replace)


def _check_target(policy: Policy, project: Project, found: Preview, *, replace: bool) -> None:
    """FileError where the release could not be put in its place, NotApproved where it may not."""
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        check_place(policy, warehouse, replace=replace)
        ends = ends_of(policy, project, warehouse)
    if has_ledger(project):
        with open_ledger(project) as ledger:
            check_brought(ledger, found.charge, found.certificate, ends)


def _check_accounts(previews: Sequence[tuple[Project, Preview]]) -> None:
    """BudgetExceeded where an account could not pay for all that is asked of it."""
    accounts: dict[tuple[str, str], Account] = {}
    for project, found in previews:
        key = (str(project.ledger), found.account.name)
        account = accounts.get(key, found.account)
        try:
            if found.refusal:
                raise BudgetExceeded(found.refusal)
            admit(account, found.charge)
        except BudgetExceeded as error:
            together = "nothing was released, for an account must pay for all that is asked at once"
            raise BudgetExceeded(f"{error}; {together}") from None
        accounts[key] = account.plus(found.charge)


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Name the policy file in what the kernel finds while the body certifies it."""
    try:
        yield
    except NotCertifiable as error:
        raise NotCertifiable(error.findings, str(file)) from None
