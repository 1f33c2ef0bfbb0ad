"""What an account gives a policy that has no (ε, δ) of its own: `{editions: n}`, or `planned`.

All of it follows from the project file and from policies, so that it is public and the same on
every machine; a policy of another limit or another plan has other numbers, and another digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.events import Event
from policy_engine.accounting.plans import (
    PlanLine,
    PlannedLine,
    WindowPlan,
    certified,
    for_editions,
    planned,
    split,
)
from policy_engine.accounting.shapes import Shape, Solved
from policy_engine.errors import DomainError, FileError, PolicyError
from policy_engine.policy.accounts import listed_as, nearest, path_from
from policy_engine.policy.auto import Guarantee
from policy_engine.policy.choice_notes import rank_of
from policy_engine.policy.documents import ReadPolicy, read_policy
from policy_engine.policy.fields import Neighbours
from policy_engine.policy.laws import At, mapping
from policy_engine.policy.mechanisms.common import Written
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.models import PolicyDocument, digest
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.project import Project, find_project, load_project
from policy_engine.policy.reading import read_root, read_text, refused
from policy_engine.policy.resolve import Following, Policy, recodings_of, resolve
from policy_engine.policy.scalars import show
from policy_engine.policy.time_models import PLANNED, EditionsSpec
from policy_engine.policy.timing import WindowTerms, is_revised, most_editions, schedule_of
from policy_engine.policy.tree import path_text
from policy_engine.policy.within import policy_paths
from policy_engine.values import frozen

_RENAME = "give one of them another name, or move it out of the project"
_BEFORE = "before a window's first draw"
"""A plan is recorded by that draw, and is refused in another form until its window ends."""
_OUT = f"take it out of the plan {_BEFORE}"
_MEND = f"mend it, or {_OUT}"
_OWN = "write epsilon and delta"
NO_COST = "that costs nothing, and what it has released is its own again"
_LIMIT = "{epsilon: 1.0, delta: 1.0e-6}"


@frozen
class _Payer:
    """The account of a policy, as the project file lists it, with its limit."""

    project: Project
    name: str
    limit: EpsilonDelta
    terms: WindowTerms

    @property
    def file(self) -> Path:
        """The project file."""
        assert self.project.file is not None
        return self.project.file

    @property
    def open_limit(self) -> tuple[Decimal, Decimal]:
        """(ε, δ) of what is not planned: all of it where nothing is."""
        if not self.terms.plan:
            return self.limit.epsilon, self.limit.delta
        return split(self.limit.epsilon, self.limit.delta, self.terms.rest)[2:]

    def refuse(self, policy: str, found: str, remedy: str) -> NoReturn:
        """Raise that a line of its plan is wrong, at its place in the project file."""
        at = path_text(("accounts", self.name, "plan", policy))
        raise refused(self.file, at, f"{at} {found}", remedy)

    def refuse_with(self, policy: str, file: Path, error: PolicyError) -> NoReturn:
        """Raise what is wrong with the file of a policy, and why it is read at all."""
        try:
            self.refuse(policy, f"is the policy of {file}, which is refused", _MEND)
        except PolicyError as why:
            raise PolicyError((*error.problems, *why.problems)) from None


def following(read: ReadPolicy) -> Following | None:
    """What an account gives a policy; None of one with an (ε, δ) of its own, or with none.

    Raises PolicyError: the account is not known or has no limit; its plan does not name the policy,
    or names what is no planned policy of that account; or nothing is weak enough.
    """
    given = read.document.guarantee
    if isinstance(given, EditionsSpec):
        return _by_editions(read, given)
    return _by_plan(read) if given == PLANNED else None


def namesakes(policy: Policy, project: Project) -> tuple[Path, ...]:
    """Other files of a project that have a policy's name, by which the ledger knows it.

    A policy that was chosen for another one has its name.
    """
    if policy.is_searched:
        return ()
    own = policy.file.resolve()
    paths = (path for path in policy_paths(project.directory) if path.resolve() != own)
    found = ((path, *_named(path, (policy.name,))) for path in paths)
    rank = chosen_rank(policy)
    return tuple(path for path, text, name in found if name and _rank_in(text, path) == rank)


def chosen_rank(policy: Policy) -> tuple[bool, int]:
    """Of two policies with one name the greater was chosen for the other one."""
    told = dict(policy.stated).get("justification", "")
    return rank_of(is_searched=policy.is_searched, justification=told)


def _rank_in(text: str, path: Path) -> tuple[bool, int]:
    """That of a policy that perhaps cannot be loaded."""
    data = mapping(read_root(text, path, "policy")[0].data())
    told = str(mapping(data.get("about")).get("justification", ""))
    return rank_of(is_searched=data.get("search") is not None, justification=told)


def of_one_name(policy: Policy, project: Project) -> str:
    """What is said where another file's policy may be meant; empty where no name is twice."""
    others = namesakes(policy, project)
    if not others:
        return ""
    *most, last = map(str, others)
    too = f"{', '.join(most)} and {last} are" if most else f"{last} is"
    return f"{too} called {policy.name} too, and the ledger knows a policy by its name: {_RENAME}"


def plan_of(project: Project, account: str) -> WindowPlan | None:
    """The plan of an account as the project file lists it, solved; None where it has none.

    Raises PolicyError as ``following``.
    """
    limit, terms = project.accounts.get(account), project.windows.get(account)
    if limit is None or terms is None or not terms.plan:
        return None
    payer = _Payer(project, account, limit, terms)
    return _solved(payer, _policies(payer))


def _by_editions(read: ReadPolicy, given: EditionsSpec) -> Following:
    at = ("guarantee", "editions")
    payer = _payer(read, at)
    epsilon, delta = payer.open_limit
    if not epsilon:
        law = f"fills what the plan of account {show(payer.name)} leaves, and that is nothing"
        _refuse(read, at, law, f"write rest: 0.1 beside plan in {payer.file.name}, or {_OWN}")
    try:
        shape = shape_of(read, given.neighbours)
        line = for_editions(shape, given.editions, epsilon, delta, given.neighbours)
    except DomainError as error:
        law = f"is met by nothing that account {show(payer.name)} has room for: {error}"
        remedy = f"write fewer, or raise epsilon or delta of the account in {payer.file.name}"
        _refuse(read, at, law, remedy)
    return _given(read, line, payer, given.neighbours)


def _by_plan(read: ReadPolicy) -> Following:
    at, name = ("guarantee",), read.document.name
    payer = _payer(read, at)
    planned_here = [each.name for each in payer.terms.plan]
    if name not in planned_here:
        account, add = show(payer.name), f"plan: {{{name}: {{editions: 12}}}}"
        found = (
            f"account {account} has no plan"
            if not planned_here
            else (f"the plan of account {account} names {', '.join(planned_here)}")
        )
        law = f"is planned, and {found}, in {payer.file}"
        near = nearest(name, planned_here)
        meant = f"did you mean the policy {show(near)}? or " if near else ""
        if gone := without_policy(payer.project, planned_here):
            law = f"{law}, where no policy is called {gone[0]} now"
            meant = f"if that was this policy's name, write name: {gone[0]} again: {NO_COST}; or "
        _refuse(read, at, law, f"{meant}add {add} to the account there {_BEFORE}, or {_OWN}")
    plan = _solved(payer, _policies(payer, read))
    line = next(each for each in plan.lines if each.name == name)
    return replace(_given(read, line, payer, payer.terms.neighbours), planned=True)


def without_policy(project: Project, names: Sequence[str]) -> list[str]:
    """The names that no policy of the project has: perhaps one was renamed."""
    found = {_named(path, names)[1] for path in policy_paths(project.directory)}
    return [name for name in names if name not in found]


def _given(read: ReadPolicy, line: PlannedLine, payer: _Payer, neighbours: Neighbours) -> Following:
    """What a line gives, with the ε of one edition at the δ of the account."""
    limit = payer.open_limit
    once = certified(line.solved.event, payer.limit.delta, neighbours)
    guarantee = Guarantee(once.epsilon, once.delta, neighbours)
    due = most_editions(schedule_of(read.document), payer.terms)
    return Following(
        guarantee, line.solved, payer.name, limit, line.editions,
        due=due, shape=line.shape, read=read,
    )  # fmt: skip


def as_recorded(policy: Policy, solved: Solved, at: Decimal) -> Policy:
    """A planned policy with the numbers that were recorded of its window's plan.

    ``solved`` is of the policy's own shape, and ``at`` the δ at which its certificate says ε.
    """
    follows = policy.follows
    assert follows is not None
    assert follows.read is not None
    once = certified(solved.event, at, policy.guarantee.neighbours)
    guarantee = Guarantee(once.epsilon, once.delta, policy.guarantee.neighbours)
    read, found = follows.read, replace(follows, guarantee=guarantee, solved=solved)
    return resolve(read.document, read.hierarchies, read.file, read.directory, found)


def digest_with(policy: Policy, guarantee: Guarantee, event: Event) -> str:
    """The digest of a policy that follows from its account, had that given it these numbers."""
    follows = policy.follows
    assert follows is not None
    assert follows.read is not None
    read, solved = follows.read, replace(follows.solved, event=event)
    found = replace(follows, guarantee=guarantee, solved=solved)
    hierarchies = {column: each.digest for column, each in read.hierarchies.items()}
    return digest(read.document, hierarchies, found.numbers)


def _payer(read: ReadPolicy, at: At) -> _Payer:
    """The account that pays, which needs a limit."""
    file = find_project(read.directory) or find_project(Path.cwd())
    law = "follows from the limit of an account"
    if file is None:
        remedy = f"write {PROJECT_FILE} with accounts: {{people: {_LIMIT}}}, or {_OWN}"
        _refuse(read, at, f"{law}, and there is no project file", remedy)
    project = load_project(file)
    account = _account(read, project)
    if account is None:
        law = f"{law}, and the policy names none: its source is a table"
        _refuse(read, at, law, f"add account: NAME, one of {file}, or {_OWN}")
    name = listed_as(account, project)
    limit = None if name is None else project.accounts[name]
    if name is None or limit is None:
        near = nearest(account, project.accounts)
        meant = f"did you mean the account {show(near)}? or " if near else ""
        remedy = f"{meant}write accounts: {{{account}: {_LIMIT}}} there, or {_OWN}"
        law = f"{law}, and {file} has none for {show(account)}"
        _refuse(read, at, law, remedy, account=account)
    return _Payer(project, name, limit, project.windows[name])


def _rank(document: PolicyDocument) -> tuple[bool, int]:
    """Which policy of one name was chosen for which other one."""
    told = "" if document.about is None else document.about.justification
    return rank_of(is_searched=document.search is not None, justification=told)


def _account(read: ReadPolicy, project: Project) -> str | None:
    """The account that a policy names, or that of its file; of a table the catalog would tell."""
    document = read.document
    if document.account is not None or document.source.file is None:
        return document.account
    return path_from(project, read.directory / document.source.file)


def _policies(payer: _Payer, own: ReadPolicy | None = None) -> dict[str, ReadPolicy]:
    """The policies that a plan names, each planned and of its account; ``own`` is one of them."""
    names = [each.name for each in payer.terms.plan]
    found: dict[str, ReadPolicy] = {} if own is None else {own.document.name: own}
    refused_ones: dict[str, tuple[Path, PolicyError]] = {}
    for path in policy_paths(payer.project.directory):
        if own is not None and path.resolve() == own.file.resolve():
            continue
        try:
            name, read = _planned_in(path, tuple(names))
        except PolicyError as error:
            # It could not be released: a starter, or a draft, beside the policy of its name.
            refused_ones.setdefault(_named(path, names)[1], (path, error))
            continue
        if read is None:
            continue
        other = found.get(name)
        if other is None or _rank(read.document) > _rank(other.document):
            found[name] = read  # what was chosen for a policy has its name, and stands for it
        elif _rank(read.document) == _rank(other.document):
            wrong = f"is the name of two policies, {found[name].file} and {path}"
            payer.refuse(name, wrong, _RENAME)
    for name in names:
        if name not in found and name in refused_ones:
            payer.refuse_with(name, *refused_ones[name])
        if name not in found:
            renamed = f"or, if its policy was renamed, write its name again: {NO_COST}"
            remedy = f"add it, with guarantee: planned; {renamed}; or {_OUT}"
            payer.refuse(name, "is the name of no policy of the project", remedy)
        _check_line(payer, name, found[name])
    return {name: found[name] for name in names}


_Kept = dict[tuple[Path, tuple[str, ...]], tuple[str, ReadPolicy | None]]
_kept: ContextVar[_Kept | None] = ContextVar("the policies of plans, while they are kept")


@contextmanager
def reading_once() -> Iterator[None]:
    """Read each policy of a plan once while the body runs, however many policies ask for it.

    What is written meanwhile is not seen by the body.
    """
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def _planned_in(path: Path, names: tuple[str, ...]) -> tuple[str, ReadPolicy | None]:
    """Which of the policies a file is, and that; None of another file."""
    kept = _kept.get(None)
    if kept is not None and (path, names) in kept:
        return kept[path, names]
    text, name = _named(path, names)
    found = name, read_policy(text, path, path.parent) if name else None
    if kept is not None:
        kept[path, names] = found
    return found


def _named(path: Path, names: Sequence[str]) -> tuple[str, str]:
    """The text of a file and which of the policies it is; none of these where it is another."""
    with suppress(FileError, PolicyError):
        text = read_text(path, "policy")
        if any(name in text for name in names):  # or a file need not be parsed
            name = _name_in(text, path)
            if name in names:
                return text, name
    return "", ""


@lru_cache(maxsize=256)  # each planned policy asks for all
def _name_in(text: str, path: Path) -> str:
    """The name that a policy's text says; empty of what is none. Errors: PolicyError."""
    data = mapping(read_root(text, path, "policy")[0].data())
    return str(data.get("name", "")) if "source" in data else ""


def _check_line(payer: _Payer, name: str, read: ReadPolicy) -> None:
    """Raise PolicyError unless a policy is planned and pays from the account of the plan."""
    if read.document.guarantee != PLANNED:
        wrong = f"is planned, and its policy {read.file} has another guarantee"
        payer.refuse(name, wrong, f"write guarantee: planned there, or {_OUT}")
    account = _account(read, payer.project)
    if account is None or listed_as(account, payer.project) != payer.name:
        paid = "from its source" if account is None else f"from account {show(account)}"
        wrong = f"is planned here, and its policy {read.file} pays {paid}"
        remedy = f"write account: {payer.name} there, or {_OUT}"
        payer.refuse(name, wrong, remedy)


def _solved(payer: _Payer, policies: Mapping[str, ReadPolicy]) -> WindowPlan:
    limit, terms = payer.limit, payer.terms
    lines = []
    for each in terms.plan:
        try:
            shape = shape_of(policies[each.name], terms.neighbours)
            shape.moved(terms.neighbours)
        except DomainError as error:
            remedy = f"change {policies[each.name].file}, or {_OUT}"
            payer.refuse(each.name, f"cannot be planned: {error}", remedy)
        lines.append(PlanLine(each.name, shape, each.editions, each.share))
    try:
        plan = planned(lines, limit.epsilon, limit.delta, terms.neighbours, terms.rest)
    except DomainError as error:
        at = path_text(("accounts", payer.name, "plan"))
        remedy = "plan fewer editions, or raise epsilon or delta of the account"
        raise refused(payer.file, at, f"{at} is met by nothing: {error}", remedy) from None
    counted = (
        replace(line, revisions=_revisions(policies[line.name], line.editions, terms))
        for line in plan.lines
    )
    return replace(plan, lines=tuple(counted))


def _revisions(read: ReadPolicy, editions: int, terms: WindowTerms) -> int:
    """How many of the planned draws are those that the calendar makes of an edition anew."""
    schedule = schedule_of(read.document)
    draws = most_editions(schedule, terms)
    return max(0, editions - draws // 2) if is_revised(schedule) and draws is not None else 0


def shape_of(read: ReadPolicy, neighbours: Neighbours) -> Shape:
    """What one edition of a policy is, but for its strength. Errors: DomainError."""
    document = read.document
    language = language_of(document.mechanism, has_sample=document.sample is not None)
    assert language is not None  # by its field
    recodings = recodings_of(document, read.hierarchies)
    return language.shape(Written(document, recodings, neighbours))


def _refuse(read: ReadPolicy, at: At, law: str, remedy: str, account: str = "") -> NoReturn:
    read.reading.refuse(at, law, remedy, account=account)
    raise PolicyError(tuple(read.reading.problems))
