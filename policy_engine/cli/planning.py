"""plan: what a policy would publish, what a reader could see of it, and what it would cost."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from dataclasses import replace as replace_field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from policy_engine.calendars import Zone
from policy_engine.cli.options import PolicyArgument, ReplacePlotOption
from policy_engine.cli.output import emit, note, shown
from policy_engine.cli.progress import progress
from policy_engine.cli.results import Left, WithoutPromise, attacks_on
from policy_engine.compile.column_names import promise_sentences
from policy_engine.errors import DomainError, UsageError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.whole_classes.meaning import (
    first_lines,
    still_works,
)
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.sentences import sentences_of
from policy_engine.policy.escapes import sql_lines
from policy_engine.policy.loading import load_policy
from policy_engine.policy.noise import Noise
from policy_engine.policy.resolve import Following, Policy
from policy_engine.releasing.naming import told_due
from policy_engine.releasing.planning import project_of
from policy_engine.releasing.preview import Preview, about, preview
from policy_engine.releasing.validation import check_guarantee, warnings_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate, Comparison
    from policy_engine.accounting.tables import Aim
    from policy_engine.cli.comparing import Compared, ComparisonTable
    from policy_engine.cli.outlook import Estimates, Outlook, Seen
    from policy_engine.releasing.yearly import Yearly

_FEW_DUE = 6

UNLIMITED = "no account limits it: with this charge no (ε, δ) holds of what is released from it"
"""Of a release without (ε, δ)."""


def plan(
    policy: PolicyArgument,
    releases: Annotated[
        int | None,
        Option(
            min=1,
            help="Compare mechanisms for this many releases, and show what to write into the "
            "policy for them.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Draw the comparison: FILE.svg, .png or .pdf."),
    ] = None,
    replace: ReplacePlotOption = False,
    sql: Annotated[bool, Option("--sql", help="Also print the SQL, at the end.")] = False,
) -> None:
    """Show what a release would publish and cost. Nothing is released or charged.

    This is a dry run. The output shows how many groups the recodes can make, how large a group must
    be to be shown, and the error of a count. These numbers follow from the policy alone.

    The output compares the policy's mechanism with every other mechanism at the same (ε, δ). It
    also shows what to write into the policy so that the releases of a year fit into the account. If
    the account cannot pay for everything that is due, the exit code is 1.

    Example: policy-engine plan policies/adult/policy.yaml
    """
    if output is not None:
        from policy_engine.cli.comparing import check_place

        check_place(output, replace=replace)
    elif replace:
        raise UsageError("--replace replaces a plot; name it with --output")
    loaded = load_policy(policy, unpromised=True)
    if not loaded.is_unpromised:
        check_guarantee(loaded)
    with about(policy):
        found = preview(loaded)
    certificate = found.certificate
    # As it would be drawn, and of whichever edition.
    loaded = replace_field(found.policy, release=loaded.release, edition=loaded.edition)
    for each in (*warnings_of(loaded), *found.warnings):
        note(f"warning: {each}")
    for line in found.news:
        note(line)
    if not isinstance(certificate.promise, Bounded):
        document: PlanSaid | UnpromisedPlan = _uncertified(loaded, found, certificate)
        lines = list(_uncertified_lines(loaded, found))
    else:
        if found.soon_empty:
            note(f"warning: {found.soon_empty}")
        document, lines = _planned(loaded, found, releases, output)
    if sql:
        lines += sql_lines(certificate.query, certificate.engine)
    emit(document, lines)
    if not found.is_paid:
        raise Exit(1)


def _planned(
    policy: Policy, found: Preview, releases: int | None, output: Path | None
) -> tuple[PlanSaid, list[str]]:
    """The plan of a certified release, in JSON and as text; its comparison may be drawn."""
    # A release, which says some of the same, needs none of it.
    from policy_engine.cli.outlook import Outlook, chance_lines, estimates_of, noise_lines

    # Of public values there is nothing to compare: they are for those who trust no centre.
    ways = _yearly(policy, found, releases or 0)
    if policy.is_by_chance:
        seen = chance_lines(found.certificate)
        document = _planned_as(policy, found, estimates_of(found.certificate))
        return replace(document, editions=ways), [*_lines(policy, found, seen, (), ways)]
    outlook = Outlook.of(policy)
    document, table = _planned_as(policy, found, outlook.seen), None
    if policy.follows is None or not policy.follows.planned:
        table = _compared(policy, outlook, releases or 1, found.certificate)
        document = replace(document, comparison=table.compared, plot=table.drawn(output))
    elif output is not None:
        wrong = "the plan of an account shares it out, and no other mechanism stands beside it"
        raise UsageError(f"{wrong}; leave --output out")
    document = replace(document, editions=ways)
    compared = () if table is None else table.lines()
    seen = outlook.lines(policy, found.certificate.claim)
    lines = [*_lines(policy, found, seen, compared, ways, noise_lines(policy))]
    return document, lines if output is None else [*lines, f"plot  {output}"]


def _yearly(policy: Policy, found: Preview, releases: int) -> Yearly | None:
    from policy_engine.releasing.yearly import yearly

    with progress("asking what so many would need"):
        return yearly(policy, project_of(policy), found, releases)


def _ways(found: Yearly | None) -> Iterator[str]:
    """What to write for so many releases."""
    if found is None:
        return
    yield f"repeated   {found.words()}"
    for number, way in enumerate(found.ways):
        yield f"           {'or ' if number else ''}{way.words()}"


def _compared(
    policy: Policy, seen: Outlook, releases: int, certificate: Certificate
) -> ComparisonTable:
    """Every mechanism at the policy's guarantee, for one release or for several together.

    Where it follows from the account's limit, at that, for as many as it is of. k of a sample is
    the accountant's: noise is not asked for groups of so many people. Of several numbers a person
    each gets an equal part.
    """
    from policy_engine.accounting.comparison import compare
    from policy_engine.accounting.tables import Aim
    from policy_engine.cli.comparing import ComparisonTable
    from policy_engine.cli.outlook import could_list

    asked, noise = policy.guarantee, policy.noise
    assert noise is None or isinstance(noise, Noise)
    numbers, at_least = (1, 1) if noise is None else (noise.numbers, policy.k)
    together = asked.epsilon, asked.delta
    if policy.follows is not None:
        together, releases = policy.follows.limit, policy.follows.editions
    aim = Aim(*together, asked.neighbours, numbers, releases,
              at_least=at_least, listed=seen.own.listed)  # fmt: skip
    groups = meaning_of(certificate.claim).groups_listed or could_list(policy, certificate.claim)
    with progress("comparing mechanisms"):
        # Of several it is by its own numbers where so many follow from the account.
        has_own = releases == 1 or policy.follows is not None
        own = seen.own if has_own else seen.own.law
        other = _other_groups(replace(aim, listed=not aim.listed)) if groups else None
        shared = any(each.tables for each in policy.protection.groupings)
        return ComparisonTable(aim, _for_policy(policy, compare(aim)), own, groups, other, shared)


def _for_policy(policy: Policy, found: Comparison) -> Comparison:
    """A comparison of what the policy could have, and why it can have no other.

    Of a roll-up no law is that of ``auto``, which shares out the guarantee as the policy says.
    """
    own, refused = policy.protection, dict(found.refused)
    if own.keys and "negative_binomial" in refused:
        refused["negative_binomial"] = "it leaves small groups out, and each of these is shown"
    if own.is_sample or own.keys:
        return replace(found, refused=tuple(refused.items()))
    lacks = [
        what
        for what, is_asked in (
            ("counts a person once", own.groups > 1),
            ("counts everybody by one grouping", own.groupings),
            ("shows no number but that of people", own.measures or own.quantiles),
        )
        if is_asked
    ]
    if lacks and "sampled_suppression" in refused:
        refused["sampled_suppression"] = f"it {' and '.join(lacks)}"
    if own.groupings:
        refused["negative_binomial"] = "it counts everybody by one grouping"
    possible = tuple(each for each in found.candidates if each.law not in refused)
    is_shared = any(each.tables for each in own.groupings)
    return replace(
        found, candidates=possible, refused=tuple(refused.items()),
        auto=None if is_shared else found.auto,
    )  # fmt: skip


def _other_groups(aim: Aim) -> Candidate | None:
    """The noise of an aim; None where none meets it."""
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.accounting.tables import auto

    try:
        return Candidate(*auto(aim), aim.at_least, aim.listed)
    except DomainError:
        return None


@frozen
class Payment:
    """Whether the account can pay, and what it would pay for."""

    account: str
    affordable: bool
    paid_by_entry: int | None
    left: Left | None
    left_after: Left | None


@frozen
class FollowsSaid:
    """From which account a guarantee follows: by its plan, or so that so many editions fill it."""

    account: str
    editions: int
    planned: bool

    @classmethod
    def of(cls, found: Following | None) -> FollowsSaid | None:
        """That of a policy; None of one with numbers of its own."""
        return None if found is None else cls(found.account, found.editions, found.planned)


@frozen(kw_only=True)
class PlanSaid:
    """What a certified release would be; a ``refusal`` where the account cannot pay."""

    policy: str
    sql: str
    k: int
    rate: Decimal
    epsilon: Decimal
    delta: Decimal
    neighbours: str
    unit: str
    assumptions: tuple[str, ...]
    models: tuple[Mapping[str, object], ...]
    release: str
    outlook: Seen | Estimates
    ledger: Payment
    edition: str = ""
    due: tuple[str, ...] = ()
    due_anew: tuple[str, ...] = ()
    refusal: str | None = None
    comparison: Compared | None = None
    plot: Path | None = None
    editions: Yearly | None = None
    follows: FollowsSaid | None = None
    due_affordable: int | None = None
    left_after_due: Left | None = None


def _planned_as(policy: Policy, found: Preview, outlook: Seen | Estimates) -> PlanSaid:
    certificate, promise = found.certificate, found.certificate.promise
    after = Left.of(found.after) if found.affordable else None
    due = () if found.schedule is None else found.schedule.due
    return PlanSaid(
        policy=policy.name,
        sql=certificate.query,
        k=certificate.k,
        rate=promise.rate,
        epsilon=promise.epsilon,
        delta=promise.delta,
        neighbours=promise.neighbours,
        unit=certificate.unit,
        assumptions=sentences_of(certificate.assumptions),
        models=tuple(model.to_json() for model in policy.models),
        release=_place(policy),
        follows=FollowsSaid.of(policy.follows),
        outlook=outlook,
        ledger=Payment(
            found.account.name, found.affordable, found.repeats, Left.of(found.left), after
        ),
        edition=found.edition.name,
        due=() if found.schedule is None else found.schedule.first_draws,
        due_anew=tuple(each.name for each in due if each.is_revision),
        refusal=None if found.affordable else found.refusal,
        due_affordable=None if found.all_due is None else found.all_due.fit,
        left_after_due=None if found.all_due is None else Left.of(found.all_due.left),
    )


def _place(policy: Policy) -> str:
    """Where the release goes, as ``release`` says it of a file."""
    return str(policy.release_path or policy.release.text)


def _edition_lines(found: Preview) -> Iterator[str]:
    """Which edition is due, or comes next, and when."""
    if found.schedule is None:
        return
    due, following, on = found.schedule.due, found.schedule.following, found.schedule.on
    yield f"edition    {found.edition.words}"
    if due:
        names = [told_due(edition) for edition in due]
        some = ", ".join(names) if len(names) <= _FEW_DUE else f"{names[0]} to {names[-1]}"
        yield f"           {len(due)} due now: {some}"
    if following is not None and on is not None:
        yield f"           {told_due(following)} is due from {Zone(following.zone).told(on)}"


def _lines(
    policy: Policy,
    found: Preview,
    seen: Iterable[str],
    table: Iterable[str],
    ways: Yearly | None,
    advice: Iterable[str] = (),
) -> Iterator[str]:
    certificate = found.certificate
    numbers = certificate.promise.epsilon, certificate.promise.delta
    epsilon, delta = map(shown, numbers)
    yield f"release    {_place(policy)} ({policy.release.form})"
    yield from _edition_lines(found)
    yield (
        f"guarantee  ε = {epsilon}, δ = {delta} ({certificate.promise.neighbours},"
        f" {protected_unit(policy)})"
    )
    said = promise_sentences(*numbers, certificate.promise.neighbours, certificate.unit)
    yield from (f"           {text}" for text in said)
    if (follows := policy.follows) is not None:
        kind = "of the plan of" if follows.planned else "that fill"
        yield f"           one of {follows.editions} editions {kind} account {follows.account}"
    sampled = f"rate {shown(certificate.promise.rate)}, k = {certificate.k}"
    yield f"mechanism  {noise_words(policy) or sampled}"
    yield from (f"           {text}" for text in (*about_rate(policy), *_about_rows(policy)))
    yield from seen
    for model in policy.models:
        yield (
            f"model      {model}: classes that lack it are left out of what the query gives, at no"
            " price"
        )
    yield from table
    account = f"from account {found.account.name}; {_now(found)}"
    charge = found.charge
    price = f"ε {shown(charge.epsilon)}, δ {shown(charge.delta)}"
    yield f"price      {price} for one {certificate.unit}, {account}"
    if found.affordable:
        if found.repeats is not None:
            yield "           it is paid for already"
        elif found.after is not None and found.all_due is None:
            yield f"           left after: {found.after.words()}"
        yield from _all_due(policy, found)
    yield from _ways(ways)
    yield from advice
    yield "assuming:"
    yield from (f"  - {text}" for text in sentences_of(certificate.assumptions))
    if found.repeats is not None:
        yield f"entry {found.repeats} has paid for just this: it costs nothing again"
    elif not found.affordable:
        yield found.refusal


def _all_due(policy: Policy, found: Preview) -> Iterator[str]:
    """What the next release draws if several editions are due, what is left, and how to draw less.

    The price that stands before it is that of one.
    """
    every, schedule = found.all_due, found.schedule
    if every is None or schedule is None:
        return
    due, fit = schedule.due, every.fit
    all_of = f"all {len(due)} editions that are due now"
    if fit < len(due):
        all_of = f"the {len(due)} editions that are due now, and only {fit} of them fit"
    yield f"           this is the price of one edition; the next 'release' draws {all_of}"
    if every.left is not None:
        yield f"           left after these {fit}: {every.left.words()}"
    if names := schedule.first_draws:
        command = f"policy-engine release {shlex.quote(str(policy.file))} --edition {names[-1]}"
        yield f"           to draw one alone: '{command}'"
        if len(names) > 1:
            yield f'           to leave earlier ones out, write into period: from: "{names[-1]}"'


def _now(found: Preview) -> str:
    spent = found.account.spent
    if spent is not None and spent.is_unbounded:
        return "of the account no (ε, δ) holds, for releases without one are charged to it"
    if found.left is None:
        return "the account has no limit: it only adds up"
    return f"left now: {found.left.words()}"


def noise_words(policy: Policy) -> str:
    """The law of the noise, with the numbers that it was given; empty where a sample is drawn."""
    return "" if policy.noise is None else policy.noise.in_short(policy.k)


def _about_rows(policy: Policy) -> list[str]:
    """Which of a person's rows speaks for them."""
    source = policy.source
    if not source.has_many_rows:
        return []
    if source.counts_all:
        return [f"all of each {source.key}'s rows count, once in each group"]
    order = ", ".join(f"{name} {way}" for name, way in source.order_by)
    if order:
        return [f"of each {source.key}'s rows the first by {order}"]
    drawn = "one is drawn by a keyed hash, another in every new release"
    return [f"of each {source.key}'s different rows {drawn}"]


def protected_unit(policy: Policy) -> str:
    """Whose (ε, δ) it is; that a row is a person is somebody's word, and no row was asked."""
    return f"unit: {policy.source.key or 'row, one person according to the policy'}"


def about_rate(policy: Policy) -> list[str]:
    """Why the certificate's rate is not the policy's, in at most one line."""
    grain, sampled_at = policy.method == "native", policy.source.sampled_at
    if not grain and sampled_at == 1:
        return []
    text = f"the policy's rate of {shown(policy.rate)}"
    if grain:
        text += ", and 2^-32 more because the engine draws with 32 random bits"
    if sampled_at != 1:
        text += f", times {shown(sampled_at)}, at which the source was sampled"
    return [text]


@frozen
class Charged:
    """Which account a release without (ε, δ) is charged to."""

    account: str
    affordable: bool
    paid_by_entry: int | None


@frozen(kw_only=True)
class UnpromisedPlan(WithoutPromise):
    """What a release without (ε, δ) would be; a ``refusal`` where it cannot be charged."""

    policy: str
    sql: str
    k: int
    models: tuple[Mapping[str, object], ...]
    unit: str
    assumptions: tuple[str, ...]
    release: str
    ledger: Charged
    refusal: str | None = None


def _uncertified(policy: Policy, found: Preview, statement: Certificate) -> UnpromisedPlan:
    return UnpromisedPlan(
        still_works=attacks_on(policy.k, policy.models),
        policy=policy.name,
        sql=statement.query,
        k=statement.k,
        models=tuple(model.to_json() for model in policy.models),
        unit=statement.unit,
        assumptions=sentences_of(statement.assumptions),
        release=str(policy.release_path),
        ledger=Charged(found.account.name, found.affordable, found.repeats),
        refusal=None if found.affordable else found.refusal,
    )


def _uncertified_lines(policy: Policy, found: Preview) -> Iterator[str]:
    yield from first_lines(still_works(policy.k, policy.models))
    yield f"release    {policy.release_path} ({policy.release.form})"
    yield from (f"model      {each}" for each in models_in_words(policy))
    yield f"account    {found.account.name}: {UNLIMITED}"
    yield "assuming:"
    yield from (f"  - {text}" for text in sentences_of(found.certificate.assumptions))
    if found.repeats is not None:
        yield f"entry {found.repeats} was charged for just this"
    elif not found.affordable:
        yield found.refusal


def models_in_words(policy: Policy) -> Iterator[str]:
    """The models of a release that has nothing else, k-anonymity first."""
    if policy.k > 1:
        yield f"{policy.k}-anonymity: a class is alike in every column that no other model is of"
    yield from map(str, policy.models)
