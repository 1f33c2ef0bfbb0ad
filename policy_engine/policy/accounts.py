"""Which account pays for a policy, what the project file calls it, and mistyped names.

An account has one name, whoever writes it: ``account`` as it stands in the policy, a table's name
in full, as warehouse.schema.table, or a file's path from the project's folder. The project file may
list a relation's account under a shorter name, and a file's under another path to it: that is where
the limit is looked for, and nothing else.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from policy_engine.policy.project import Project, find_project
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show
from policy_engine.policy.tree import path_text

_SIMILAR = 0.8
_DEFAULT_SCHEMA = {"duckdb": "main"}
_PARTS = 3


def account_of(policy: Policy, project: Project, table: tuple[str, ...]) -> str:
    """The account that pays, under its one name.

    ``table`` is the name of the table that is read, as the warehouse has it: whoever releases
    through a view pays from the account of the table below it.
    """
    if policy.declared_budget:
        return policy.budget
    if policy.source_path is not None:
        return path_from(project, policy.source_path)
    parts = [part.lower() for part in table]
    warehouse = project.default.lower()
    named = parts if len(parts) == _PARTS and parts[0] == warehouse else [warehouse, *parts]
    return ".".join(named)


def listed_as(account: str, project: Project, relation: str | None = None) -> str | None:
    """The name under which the project file lists an account; None where it does not.

    ``relation`` is the source as the policy writes it, where it pays from its own account.

    Raises:
        PolicyError: the project file lists the account twice, or perhaps does.
    """
    names = [name for name in project.accounts if _means(name, account, project, relation)]
    wrong, at, remedy = "", "", "keep one of them"
    if len(names) > 1:
        shown, at = " and ".join(map(show, names)), names[1]
        wrong = f"accounts must list an account once, found {shown}: both are {account}"
    parts, engine = _relation(account, project)
    if not names and parts and engine not in _DEFAULT_SCHEMA:
        # A table's name alone: which schema it is of is decided by the engine.
        at = next((name for name in project.accounts if name.lower() == parts[-1]), "")
        if at:
            wrong = f"accounts.{at} may be the account {account} or one of another schema"
            remedy = f"list {account} by this name"
    if wrong:
        assert project.file is not None
        raise refused(project.file, path_text(("accounts", at)), wrong, remedy)
    return names[0] if names else None


def _means(name: str, account: str, project: Project, relation: str | None) -> bool:
    """Whether the project file means an account by a name."""
    if account in {name, path_from(project, project.directory / name)}:
        return True
    parts, engine = _relation(account, project)
    written = name.lower().split(".")
    if not parts:
        return False
    if len(written) > 1 or written == (relation or "").lower().split("."):
        return parts[-len(written) :] == written
    return [_DEFAULT_SCHEMA.get(engine), *written] == parts[1:]


def _relation(account: str, project: Project) -> tuple[list[str], str]:
    """The parts of the account of a relation of one of the project's warehouses, and its engine."""
    parts = account.split(".")
    types = {name.lower(): warehouse.type for name, warehouse in project.warehouses.items()}
    engine = types.get(parts[0], "")
    return (parts, engine) if len(parts) >= _PARTS and engine else ([], "")


def path_from(project: Project, path: Path) -> str:
    """A path from the project's folder: policies in different folders write it differently."""
    return Path(os.path.relpath(path.resolve(), project.directory.resolve())).as_posix()


def twin_of(account: str, known: Iterable[str], project: Project) -> str | None:
    """Another account of a ledger that is this one under another name, as far as can be told.

    A table that another version, or a warehouse of another name, has charged to an account of its
    own; or a name that looks the same: its charges would not add up with this one's.
    """
    for name in known:
        if plain_name(name) == plain_name(account) or _same_table(name, account, project):
            return name
    return None


def _same_table(one: str, other: str, project: Project) -> bool:
    if _relation(one, project)[0] and _relation(other, project)[0]:
        return False  # two tables, or one that was found by its name
    if _means(one, other, project, None) or _means(other, one, project, None):
        return True
    first, second = one.split("."), other.split(".")
    return len(first) == len(second) == _PARTS and first[1:] == second[1:]


def plain_name(name: str) -> str:
    """A name without case, accents and blanks at its ends: names that are alike here look alike.

    >>> plain_name("Cafe\\u0301"), plain_name("HR ")
    ('cafe', 'hr')
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFKC", bare).casefold().strip()


def check_account(policy: Policy, project: Project, account: str | None = None) -> None:
    """Refuse an account that is none of the project's.

    ``account`` is the one that pays; without it, that of a relation without ``account`` is not
    looked at, for its name is the warehouse's. Where accounts are listed there are no others, or
    the same file could be sold again without limit; unless the project file says
    ``accounts_open: true``. Any name is then an account without a limit, but for one that is nearly
    a listed one, and taken for a mistyped one.

    Raises:
        PolicyError: with the line and column of ``account``, or of ``source`` where there is none.
    """
    declared = policy.declared_budget
    if account is None and (declared or policy.source_path is not None):
        account = account_of(policy, project, ())
    if account is None or account in project.accounts:
        return
    near = nearest(account, project.accounts) if declared else None
    if project.accounts_open and near is None:
        return
    if listed_as(account, project, None if declared else policy.source.relation) is not None:
        return
    message = f"account must be one of {project.file}, found {show(account)}"
    if not declared:
        message = (
            f"account must be one of {project.file}: without it the source pays for itself,"
            f" as {show(account)}, which is none of them"
        )
    known = ", ".join(project.accounts)
    remedy = (
        f"did you mean {near!r}? (add a new account to accounts there first)"
        if near
        else f"known: {known}; or list a new one under accounts there; 'accounts_open: true' there"
        " allows for accounts without a limit"
    )
    raise refused(policy.file, "account" if declared else "source", message, remedy)


def check_own_project(policy: Policy, found: Path | None, remedy: str = "") -> None:
    """Refuse a policy whose folder, or source's, has upwards another project file than ``found``.

    Each has a ledger of its own, which does not know what the other was charged for the same
    people. ``remedy`` says what to do; without it, to run the policy from its own project.

    Raises PolicyError.
    """
    own = find_project(policy.directory)
    if own is not None and own != found:
        file = (policy.directory.resolve() / policy.file.name).relative_to(own.parent)
        message = f"its project file is {own}, and the one in use is {found or 'none'}"
        default = f"run it from its own project, as with -C {own.parent}, where it is {file}"
        law = f"{message}: each has a ledger of its own, which does not know of the other's charges"
        raise refused(policy.file, "", law, remedy or default)
    for source in (policy.source, *(each.source for each in policy.source.joins)):
        if source.path is None:
            continue
        own = find_project((policy.directory / source.path).parent)
        if own is not None and own != found:
            message = f"source.file lies in another project, found {source.path} below {own}"
            remedy = "release it from there: each project has a ledger of its own"
            raise refused(policy.file, "source.file", message, remedy)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known account of which ``name`` is nearly the name; None for one of them, and for none.

    >>> nearest("peple", ["people", "census"]), nearest("people", ["people"])
    ('people', None)
    """
    names = set(known)
    if name in names:
        return None
    plain = {plain_name(each): each for each in names}
    near = get_close_matches(plain_name(name)[:100], plain, n=1, cutoff=_SIMILAR)
    return plain[near[0]] if near else None
