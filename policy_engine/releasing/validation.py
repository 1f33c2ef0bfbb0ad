"""Everything wrong with policy files, without running them and without charging anything."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace as replace_field
from decimal import Decimal
from pathlib import Path

from policy_engine import errors
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.one import certified_rate, delta_of_one
from policy_engine.attest.parquet_file import certificate_path
from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import find_unknown
from policy_engine.dialects import dialect_named
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meaning import at_one_value
from policy_engine.kernel.mechanisms.whole_classes.meaning import NONE, still_works
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.accounts import check_account
from policy_engine.policy.choice_notes import CHANGED
from policy_engine.policy.following import chosen_rank, reading_once
from policy_engine.policy.loading import load_policy, salvage
from policy_engine.policy.project import Project, find_project
from policy_engine.policy.reading import located, refused
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Following, Policy
from policy_engine.policy.time_models import A_CALENDAR
from policy_engine.policy.timing import PeriodOf, WindowTerms
from policy_engine.policy.tree import path_text
from policy_engine.releasing.naming import in_some_edition
from policy_engine.releasing.planning import (
    dialect_of,
    node_of_dbt,
    not_chosen,
    open_warehouse,
    paid_for_nothing,
    paying_account,
    project_of,
    seldom_meant,
    vouched_for,
)
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse

_SAY_MARKS = (
    'write under csv which it is: decimal: "," and thousands: ".", or decimal: "." for a point'
)
_WEAK_EPSILON, _WEAK_DELTA = 20, Decimal("0.01")
#: The key of a policy that a law of the kernel speaks of.
_KEYS = {"V21": "source", "V22": "privacy_unit", "V23": "sample.rate", "V24": "k", "V25": "recode",
         "V26": "recode", "V27": "release"}  # fmt: skip


@frozen
class Checked:
    """What was found about one policy file.

    ``policy`` is None where the file cannot be loaded. ``unchecked`` says why the source could
    not be looked at; it is empty where it was. ``unread``: a file itself could not be read.
    ``warnings`` are of what is allowed and seldom meant.
    """

    file: Path
    policy: Policy | None
    problems: tuple[errors.Problem, ...] = ()
    unchecked: str = ""
    unread: bool = False
    warnings: tuple[errors.Problem, ...] = ()


def check_policies(paths: Sequence[Path]) -> tuple[Checked, ...]:
    """Each file's problems, every one of them, and those that the files have together.

    The sources' schemas are read, their values are not.
    """
    with reading_once():
        checked = tuple(map(check_policy, paths))
    clashes = clashes_of([each.policy for each in checked])
    return tuple(
        replace_field(each, problems=_ordered((*each.problems, *clashes.get(index, ())), each.file))
        for index, each in enumerate(checked)
    )


def clashes_of(policies: Sequence[Policy | None]) -> dict[int, tuple[errors.Problem, ...]]:
    """By a policy's index what an earlier one stands in the way of: its place, and its unit."""
    found = target_clashes(policies)
    for index, problem in _unit_clashes(policies):
        found[index] = (*found.get(index, ()), problem)
    return found


def _unit_clashes(policies: Sequence[Policy | None]) -> Iterator[tuple[int, errors.Problem]]:
    """That an earlier policy pays from the same account for the same source, of other people.

    By what policies say alone: where that is too little to tell, the ledger refuses it.
    """
    first: dict[tuple[Path | None, str, str], Policy] = {}
    for index, policy in enumerate(policies):
        if policy is None:
            continue
        source = policy.source_path or policy.source.relation or ""
        place = str(source.resolve()) if isinstance(source, Path) else source.lower()
        before = first.setdefault((find_project(policy.directory), policy.budget, place), policy)
        one, other = before.source, policy.source
        if {each.casefold() for each in one.keys} == {each.casefold() for each in other.keys}:
            continue
        if {one.unique or not one.keys, other.unique or not other.keys} == {True}:
            continue  # a row is a person in both
        message = (
            f"privacy_unit must be that of {before.file}, which pays from account"
            f" {policy.budget!r} for the same source: {one.key or 'each row'} is one person there,"
            f" and {other.key or 'each row'} here, and what they tell of somebody does not add up"
        )
        remedy = "write one privacy_unit in both, the one by which a person has all their rows"
        problem = errors.Problem(str(policy.file), 0, 0, "privacy_unit", message, remedy)
        yield index, located((problem,), policy.file)[0]


def _ordered(problems: Iterable[errors.Problem], path: Path) -> tuple[errors.Problem, ...]:
    """Each problem once, in the order of the file at ``path``; other files' after them."""
    own = str(path)
    return tuple(
        sorted(dict.fromkeys(problems), key=lambda p: (p.file != own, p.file, p.line, p.column))
    )


def check_policy(path: Path) -> Checked:
    """The problems of one file."""
    policy = None
    problems: list[errors.Problem] = []
    try:
        policy = load_policy(path, unpromised=True)
        problems += [*_guarantee(policy), *_target(policy)]
        project = project_of(policy)
    except errors.PolicyError as error:
        if policy is None:
            return _salvaged(path, error.problems)
        return Checked(path, policy, (*_placed(problems, path), *error.problems))
    except errors.FileError as error:
        unread = errors.Problem(str(path), 0, 0, "", str(error).removeprefix(f"{path}: "))
        return Checked(path, policy, (*_placed(problems, path), unread), unread=True)
    try:
        check_account(policy, project)
    except errors.PolicyError as error:
        problems += error.problems
    told = [*warnings_of(policy), *not_chosen(policy), *_past(policy, project)]

    def look(warehouse: Warehouse) -> None:
        certificate, table = vouched_for(policy, project, warehouse)
        if policy.is_unpromised:
            # Ledgers and keys are needed for such a policy.
            from policy_engine.releasing.books import limit_of

            account = paying_account(policy, project, table)
            limit_of(policy, project, account)
        if not policy.declared_budget and policy.source_path is None:
            # Its account is the warehouse's to name.
            account = paying_account(policy, project, table)
            check_account(policy, project, account)
        if any(terms != WindowTerms() for terms in project.windows.values()):
            # Nor for a policy of an account whose limit is for ever.
            from policy_engine.releasing.charging import ReleasePlan

            own = in_some_edition(policy, project)
            ReleasePlan(own, project, warehouse, certificate, table).check_account()
        _check_ledger(policy, project, warehouse, (certificate, table))
        told.extend((*seldom_meant(policy, certificate, table), *paid_for_nothing(policy, table)))

    checked = _against_source(policy, project, problems, look)
    return replace_field(checked, warnings=_ordered(told, path))


def _check_ledger(
    policy: Policy, project: Project, warehouse: Warehouse, found: tuple[Certificate, Table]
) -> None:
    """Refuse an account to which the ledger has the source's people as none of its own.

    That is asked where a ledger is here with the key that names its sources, and can be read.
    Raises PolicyError.
    """
    if not project.sealing_key.exists():
        return
    # Ledgers and keys are needed where there are any.
    from policy_engine.releasing.books import begun_ledger, naming_key
    from policy_engine.releasing.charging import ReleasePlan

    plan = ReleasePlan(in_some_edition(policy, project), project, warehouse, *found)
    with suppress(errors.LedgerError, errors.FileError), begun_ledger(project) as ledger:
        if ledger is None:
            return
        known, names = ledger.read(), plan.names(naming_key(project, ledger))
        try:
            known.sources.check(names.named(plan.charge(known)))
        except errors.BudgetExceeded as error:
            raise refused(policy.file, "account", str(error), "") from None


def _salvaged(path: Path, problems: tuple[errors.Problem, ...]) -> Checked:
    """The problems of a file that cannot be loaded, and the columns that its source has not."""
    policy = salvage(path)
    if policy is None:
        return Checked(path, None, problems)

    def look(warehouse: Warehouse) -> None:
        if unknown := find_unknown(policy, warehouse.table(policy.source, policy.directory)):
            raise errors.PolicyError(unknown)

    # Told of a project once the policy can be loaded.
    with suppress(errors.PolicyError, errors.FileError):
        project, known = project_of(policy), [*problems]
        if policy.declared_budget and not any(each.account == policy.budget for each in problems):
            try:
                check_account(policy, project)
            except errors.PolicyError as error:
                known += error.problems
        found = _against_source(policy, project, known, look)
        return replace_field(found, policy=None)
    return Checked(path, None, problems)


_Look = Callable[[Warehouse], None]
"""Looks at a policy's source. Raises PolicyError and NotCertifiable."""


def _against_source(
    policy: Policy, project: Project, problems: list[errors.Problem], look: _Look
) -> Checked:
    """These problems, and those that show when the source's schema is looked at."""
    unchecked = ""
    try:
        with closing(open_warehouse(policy, project, writes=False)) as warehouse:
            problems += _of_source(policy, warehouse, look)
    except errors.PolicyError as error:
        problems += error.problems
    except errors.EnvironmentFailed as error:
        unchecked = str(error)
    return Checked(policy.file, policy, _placed(problems, policy.file), unchecked)


def _of_source(policy: Policy, warehouse: Warehouse, look: _Look) -> list[errors.Problem]:
    """The problems that show in a warehouse that answers.

    Raises EnvironmentFailed where it fails, or the source is a file that is not there.
    """
    path, source = str(policy.file), policy.source_path
    try:
        look(warehouse)
    except errors.NotCertifiable as error:
        return [
            errors.Problem(path, 0, 0, _KEYS.get(each.code, ""), f"{each.code} {each.message}")
            for each in error.findings
            if each.code != "V29"
        ]
    except errors.WarehouseFailed:
        raise
    except errors.PlaceRefused as error:
        return [errors.Problem(path, 0, 0, "release.table", str(error))]
    except errors.WarehouseError as error:
        return [errors.Problem(path, 0, 0, "source.table", str(error))]
    except errors.FileError as error:
        if source is None or not source.exists():
            raise
        # It is there and is no table: the policy names the wrong thing.
        return [errors.Problem(path, 0, 0, "source.file", str(error))]
    return []


def _placed(problems: Iterable[errors.Problem], path: Path) -> tuple[errors.Problem, ...]:
    """The problems of this file with their places, in its order; other files' after them."""
    own = [problem for problem in problems if problem.file == str(path)]
    others = [problem for problem in problems if problem.file != str(path)]
    return (*located(tuple(own), path), *others)


def _target(policy: Policy) -> Iterator[errors.Problem]:
    """What stands in the way of a release's file and its certificate, as far as can be seen."""
    release = policy.release_path
    if release is None:
        return
    with suppress(OSError):  # what cannot be looked at is told when it is written
        found = [path for path in (release, certificate_path(release)) if path.is_dir()]
        above = [path for path in release.parents if path.exists() and not path.is_dir()]
        if found or above:
            law = f"name a file, found the directory {found[0]}" if found else ""
            law = law or f"lie in a folder, found on its way the file {above[0]}"
            message = f"release.file must {law}"
            yield errors.Problem(
                str(policy.file), 0, 0, "release.file", message, "name another place"
            )


def warnings_of(policy: Policy) -> tuple[errors.Problem, ...]:
    """What is allowed and seldom meant, by the policy alone.

    A column that is made of the key of the unit, or of what chooses a person's row, numbers that
    are read as no program writes them beside such a delimiter, a guarantee that is none, one of
    other editions than are due, and what was chosen privately and then changed.
    """
    made = [each for each in policy.recodings if _is_key(each[0], policy)]
    found = (_of_the_key(policy, *each) for each in made if each[1].reads)
    numbers = (*_of_numbers(policy), *_of_dates(policy), *_of_guarantee(policy))
    others = (*_of_the_order(policy), *numbers, *_of_choice(policy))
    return _placed((*found, *others), policy.file)


def _past(policy: Policy, project: Project) -> tuple[errors.Problem, ...]:
    """That the first run of a calendar draws several editions."""
    if not isinstance(policy.schedule, PeriodOf):
        return ()
    # Ledgers are needed for such a policy.
    from policy_engine.releasing.editions import at_moment, backlog, known_books, schedule_at

    with suppress(errors.PolicyEngineError):  # a ledger that cannot be read is told elsewhere
        known = known_books(project)
        if many := backlog(schedule_at(policy, project, known, at_moment(known))):
            at = path_text(("period", "from"))
            return _placed([errors.Problem(str(policy.file), 0, 0, at, *many)], policy.file)
    return ()


def _of_choice(policy: Policy) -> Iterator[errors.Problem]:
    """A policy that a private choice wrote, of which something else stands in it by now."""
    if CHANGED in dict(policy.stated).get("justification", ""):
        path = "about.justification"
        message = (
            f"{path} tells of a private choice, and what that chose was changed after it, or the"
            f" sentence was: the certificate will say, {CHANGED}"
        )
        remedy = (
            "the command that chose it, with --replace, puts back what was chosen, at no cost;"
            " or give what is yours another file name, and take that sentence out"
        )
        yield errors.Problem(str(policy.file), 0, 0, path, message, remedy)


def _of_guarantee(policy: Policy) -> Iterator[errors.Problem]:
    """Numbers that promise next to nothing."""
    if policy.is_unpromised:
        names = ", ".join(name for name, _ in still_works(policy.k, policy.models))
        message = f"guarantee is none: {NONE}; attacks that it leaves open: {names}"
        remedy = "{epsilon: …, delta: …} bounds them all"
        yield errors.Problem(str(policy.file), 0, 0, "guarantee", message, remedy)
        return
    if policy.follows is not None:
        yield from _of_editions(policy, policy.follows)
    epsilon, delta = policy.guarantee.epsilon, policy.guarantee.delta
    remedy = "a δ is far below one over the number of people, and ε mostly at most 10"
    if epsilon > _WEAK_EPSILON:
        message = f"guarantee.epsilon of {in_text(epsilon)} hides next to nothing"
        yield errors.Problem(str(policy.file), 0, 0, "guarantee.epsilon", message, remedy)
    if delta >= _WEAK_DELTA:
        shown = "nearly everybody" if delta > Decimal("0.5") else f"one person in {1 / delta:.0f}"
        message = (
            f"guarantee.delta of {in_text(delta)} is met by a table that shows {shown} in full"
        )
        yield errors.Problem(str(policy.file), 0, 0, "guarantee.delta", message, remedy)


def _of_editions(policy: Policy, follows: Following) -> Iterator[errors.Problem]:
    """Fewer editions than are due, or more: what a plan has of a policy no other release takes."""
    plan = "in the plan of the account before a window's first draw, which records it"
    of = f"guarantee is of {follows.editions} editions, and the policy"
    window = f"in a window of account {follows.account!r}"
    if follows.due is not None and follows.due > follows.editions:
        later = "do not fit any more"
        if follows.planned:
            later = "are not planned, and only the rest can pay for them"
        message = f"{of} is due {follows.due} times {window}: the later ones {later}"
        remedy = f"write editions: {follows.due} {plan if follows.planned else 'in guarantee'}"
    elif not follows.planned or follows.editions == 1:
        return
    elif policy.schedule is None and not policy.edition.name:
        message = (
            f"{of} has no calendar by which later ones are due: by itself it is drawn once, with"
            f" the noise of {follows.editions}"
        )
        remedy = f"{A_CALENDAR}; or editions: 1 {plan}"
        if not (policy.is_searched or node_of_dbt(policy)):
            command = f"policy-engine release {shlex.quote(str(policy.file))}"
            remedy += f"; or draw each by hand, as '{command} --edition NAME --replace' does"
    elif follows.due is not None and follows.due < follows.editions:
        times = "once" if follows.due == 1 else f"{follows.due} times"
        message = f"{of} is due {times} {window}: each has the noise of {follows.editions}"
        remedy = f"write editions: {follows.due} {plan}"
    else:
        return
    yield errors.Problem(str(policy.file), 0, 0, "guarantee", message, remedy)


def _of_numbers(policy: Policy) -> Iterator[errors.Problem]:
    """Numbers of other marks than the policy says, which would be missing, and nobody told.

    By what the policy says alone. Programs that write semicolons mostly write a decimal comma, and
    those that write that mostly write a mark of thousands.
    """
    spec = policy.source.csv
    if spec is None or "thousands" in spec.model_fields_set:
        return
    is_marked = "decimal" in spec.model_fields_set
    for column, kind in policy.source.columns:
        path = path_text(("source", "columns", column))
        if kind not in ("integer", "double"):
            continue
        if spec.decimal == ",":
            part = ",50" if kind == "double" else ""
            message = (
                f"{path}: only numbers such as 1250{part} are read; 1.250{part} is read as no value"
            )
            remedy = 'write thousands: "." under csv to read both'
        elif spec.delimiter == ";" and not is_marked and kind == "double":
            message = (
                f"{path}: only numbers such as 1250.50 are read; 1.250 is read as 1.25, and"
                " 1.250,50 as no value; most files with ';' have a decimal comma"
            )
            remedy = _SAY_MARKS
        elif spec.delimiter == ";" and not is_marked:
            message = (
                f"{path}: only numbers such as 1250 are read; 1.250 is read as no value; many files"
                " with ';' write 1.250"
            )
            remedy = _SAY_MARKS
        else:
            continue
        yield errors.Problem(str(policy.file), 0, 0, path, message, remedy)


def _of_dates(policy: Policy) -> Iterator[errors.Problem]:
    """Dates of another form than 2026-03-31, beside semicolons or a decimal comma.

    By what the policy says alone: the programs that write these mostly write 31.03.2026.
    """
    spec = policy.source.csv
    if spec is None or "dates" in spec.model_fields_set:
        return
    if spec.delimiter != ";" and spec.decimal != ",":
        return
    for column, kind in policy.source.columns:
        if kind in ("date", "timestamp"):
            path = path_text(("source", "columns", column))
            message = (
                f"{path}: only dates such as 2026-03-31 are read; 31.03.2026 is read as no value"
            )
            remedy = 'write under csv which it is: dates: "%d.%m.%Y", or dates: "%Y-%m-%d"'
            yield errors.Problem(str(policy.file), 0, 0, path, message, remedy)


def _is_key(column: str, policy: Policy) -> bool:
    """Whether a column is the key of the unit, as the engine that would release it reads names."""
    [key, *others] = policy.source.keys or ("",)
    if others or column.casefold() != key.casefold():
        return False
    if column == key:
        return True
    with suppress(errors.PolicyEngineError):  # whose profile or driver is not here
        return dialect_named(dialect_of(policy)).case == "folded"
    return True


def _of_the_key(policy: Policy, column: str, recoding: Recoding) -> errors.Problem:
    path = path_text(("recode", column))
    message = f"{path} is made of the column of privacy_unit, and where it tells every person apart"
    # A key that is a number is a whole one.
    if recode_meaning(recoding).steps_by_one:
        message = (
            f"{path} is made of the column of privacy_unit and tells every person apart, so that"
        )
    many = "several" if policy.k in (None, 1) else f"{policy.k} people and more"
    remedy = f"leave it out, unless {many} have the same value"
    return errors.Problem(str(policy.file), 0, 0, path, f"{message} no group is released", remedy)


def _of_the_order(policy: Policy) -> Iterator[errors.Problem]:
    """That what chooses the one row of a person is released: no other row of theirs is there."""
    if not policy.source.order_by:
        return
    first, way = policy.source.order_by[0]
    for column, recoding in policy.recodings:
        if column.casefold() == first.casefold() and recoding.reads:
            path = path_text(("recode", column))
            told = at_one_value(column, descends=way == "desc")
            message = f"{path} is made of the column of privacy_unit.rows: {told}"
            keys = ", ".join(policy.source.keys)
            unit = f"columns: [{keys}]" if len(policy.source.keys) > 1 else f"column: {keys}"
            noise = "" if policy.noise is not None else ", and mechanism: noisy_counts"
            remedy = (
                f"privacy_unit: {{{unit}}} with contribution: {{max_groups: …}}{noise}, counts a"
                " person at each"
            )
            yield errors.Problem(str(policy.file), 0, 0, path, message, remedy)


def check_guarantee(policy: Policy) -> None:
    """Refuse a policy whose k and rate do not give the guarantee that it asks for.

    Raises PolicyError: with the place of ``delta``, and the k that would give it.
    """
    problems = _placed(_guarantee(policy), policy.file)
    if problems:
        raise errors.PolicyError(problems)


def _guarantee(policy: Policy) -> Iterator[errors.Problem]:
    """The law that the kernel calls V29, which needs no source ([EXACT]).

    A noise table was made for the guarantee, and none other was taken.
    """
    if policy.noise is not None:
        return
    rate = certified_rate(policy.rate, policy.method, policy.source.sampled_at)
    wanted = policy.guarantee
    bound = delta_of_one(policy.k, rate, wanted.epsilon, wanted.neighbours)
    if bound.delta <= wanted.delta:
        return
    from policy_engine.accounting.calibration import least_k

    try:
        k = least_k(wanted.epsilon, wanted.delta, rate, wanted.neighbours)
        remedy = f"k: {k} gives it at this rate"
    except errors.DomainError:
        remedy = "no k gives it at this rate; take a smaller one"
    law = (
        f"guarantee.delta must be at least {in_text(bound.delta)}, which k = {policy.k} and rate ="
    )
    message = f"{law} {policy.rate} reach at ε = {wanted.epsilon}, found {in_text(wanted.delta)}"
    yield errors.Problem(str(policy.file), 0, 0, "guarantee.delta", message, remedy)


def target_clashes(policies: Sequence[Policy | None]) -> dict[int, tuple[errors.Problem, ...]]:
    """By a policy's index: that an earlier policy releases to the same place."""
    taken: dict[str, Policy] = {}
    clashes = {}
    for index, policy in enumerate(policies):
        if policy is None:
            continue
        places = _places(policy)
        at, first = next(((n, taken[p]) for n, p in enumerate(places) if p in taken), (0, None))
        if (
            first is not None
            and first.name == policy.name
            and chosen_rank(first) != chosen_rank(policy)
        ):
            first = None  # the one was chosen for the other
        taken |= {place: policy for place in places if place not in taken}
        if first is not None:
            clashes[index] = located((_clash(policy, first, release=at == 0),), policy.file)
    return clashes


def _clash(policy: Policy, first: Policy, *, release: bool) -> errors.Problem:
    """That a release, or else its certificate, would stand in the place of the first one's."""
    key = "release.file" if policy.release.path is not None else "release.table"
    found, what, remedy = policy.release.text, "release would replace the other", "another place"
    if not release:
        what = f"certificate would replace the other: both write {_certificate(policy).name}"
        if policy.release.path is None:
            key, found, remedy = "name", policy.name, "one of the policies otherwise"
    message = f"{key} must differ from that of {first.file}, found {found}: one {what}"
    return errors.Problem(str(policy.file), 0, 0, key, message, f"name {remedy}")


def _certificate(policy: Policy) -> Path:
    path = policy.release_path
    if path is not None:
        return certificate_path(path)
    from policy_engine.releasing.requests import table_certificate_path

    return table_certificate_path(policy)


def _places(policy: Policy) -> tuple[str, ...]:
    """The files and the table that a release would write, told apart as a disk may."""
    path = policy.release_path
    if path is not None:
        return tuple(str(p.resolve()).casefold() for p in (path, _certificate(policy)))
    relation = ["main", *str(policy.release.relation).casefold().split(".")][-2:]
    return ("relation:" + ".".join(relation), str(_certificate(policy).resolve()).casefold())
