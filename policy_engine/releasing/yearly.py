"""What to write so that so many releases like a policy fit into its account: no row is looked at.

Each way that is told was tried: the policy as it would be written was certified on its source, and
the account's own rule admits so many of it, one after the other, from where the account stands now.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event, has_curve
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.plans import (
    PlanLine,
    PlannedLine,
    WindowPlan,
    certified,
    for_editions,
    planned,
)
from policy_engine.errors import DomainError, PolicyError
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.pricing import Spent, fits
from policy_engine.policy.accounts import listed_as
from policy_engine.policy.auto import Guarantee, NoSolution
from policy_engine.policy.documents import ReadPolicy, read_policy
from policy_engine.policy.fields import Neighbours
from policy_engine.policy.following import shape_of
from policy_engine.policy.mechanisms.common import Language
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.models import GuaranteeSpec
from policy_engine.policy.project import Project
from policy_engine.policy.reading import read_text
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.timing import WindowTerms, most_editions
from policy_engine.releasing import charging
from policy_engine.releasing.charging import ReleasePlan
from policy_engine.releasing.preview import Preview
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.certified import CertifiedEvent
    from policy_engine.accounting.events import Event

MANY = 12
"""So many editions are asked about where nothing says how many a window has."""
_SHORT = Context(prec=2, rounding=ROUND_FLOOR)
_ONE = Context(prec=1, rounding=ROUND_FLOOR)
_TWO_UP = Context(prec=2, rounding=ROUND_CEILING)
_LESS = tuple(
    map(Decimal, ("1", "0.98", "0.95", "0.9", "0.8", "0.65", "0.5", "0.35", "0.2", "0.1"))
)
"""Parts of what a new account admits, for one that has spent something."""
_ENDS = (Decimal("1.5"), Decimal(3))
"""The δ of one edition, in parts of what the ends of its noise cost, that are tried."""
_SHARES = (Decimal("0.25"), Decimal(1))
"""The least of it, in parts of its share of the limit: at a tiny δ the same noise has a large ε."""
_LEFT = (Decimal("0.02"), Decimal("0.002"))
"""The same in parts of the limit, where something was charged before."""
_QUICK = 2
"""Of more numbers of a person it takes long to find noise for each of several (ε, δ)."""


@frozen
class Way:
    """One way to write it: in the ``policy``, and what the ``account`` must say, if anything.

    ``half`` is from how many people on a group is shown half of the time; None where all are.
    ``less`` says that each release promises less than one of the policy as it is; else empty.
    """

    policy: str
    account: str
    half: int | None
    less: str = ""
    epsilon: Decimal | None = None
    delta: Decimal | None = None

    def words(self) -> str:
        """The way in a line."""
        there = f", and in the project file {self.account}" if self.account else ""
        half = "" if self.half is None else f"a group of {self.half:,} is shown half the time"
        told = "; ".join(filter(None, (half, self.less)))
        return f"{self.policy}{there}{': ' if told else ''}{told}"


@frozen
class Yearly:
    """So many releases like a policy, from one account, and the ways to write them.

    ``fits``: so many of the policy as it is are admitted, one after the other.
    """

    editions: int
    account: str
    fits: bool
    ways: tuple[Way, ...]

    def words(self) -> str:
        """What stands before the ways."""
        many = "1 release" if self.editions == 1 else f"{self.editions} releases"
        like = f"{many} like this from account {self.account}"
        fits = " fits" if self.editions == 1 else " fit"
        return f"{like}{fits} as the policy is; at most write" if self.fits else f"{like}; write"


def yearly(policy: Policy, project: Project, found: Preview, editions: int = 0) -> Yearly | None:
    """What to write so that so many releases like it fit; as many as a window has without a word.

    None where the account has no limit or has a plan, where the policy's numbers follow from it
    already, and where nothing is left open that could. Guarantee: what is told is admitted if it is
    written and released so often, in the window that a release would count in now. Arguments: what
    a release would be, as ``preview`` says it. Errors as ``charging.planned``.
    """
    account, windows = found.account, found.charge.windows
    if account.limit is None or account.limit.plan or len(windows) > 1:
        return None
    if policy.follows is not None or policy.part is not None:
        return None
    read = read_policy(read_text(policy.file, "policy"), policy.file, policy.directory)
    listed = listed_as(account.name, project, policy.source.relation)
    terms = project.windows.get(listed or "", WindowTerms())
    editions = editions or most_editions(policy.schedule, terms) or MANY
    asked = _Question(policy, read, project, account, account.limit, windows, editions)
    ways, fits = tuple(asked.ways(listed)), asked.fits(found.charge.asked)
    return Yearly(editions, account.name, fits, ways) if ways else None


@frozen
class _Question:
    policy: Policy
    read: ReadPolicy
    project: Project
    account: Account
    limit: Limit
    windows: tuple[str, ...]
    editions: int

    @property
    def notion(self) -> Neighbours:
        return self.policy.guarantee.neighbours

    @property
    def language(self) -> Language:
        document = self.read.document
        found = language_of(document.mechanism, has_sample=document.sample is not None)
        assert found is not None  # by its field
        return found

    def ways(self, listed: str | None) -> Iterator[Way]:
        """Those that are admitted, the plainest first; ``listed`` is what the account is called."""
        numbers, notion = (self.limit.epsilon, self.limit.delta), self.notion
        try:
            shape = shape_of(self.read, notion)
            line = for_editions(shape, self.editions, *numbers, notion)
            whole = planned([PlanLine(self.policy.name, shape, self.editions)], *numbers, notion)
        except DomainError:
            return
        with charging.planned(self.policy, self.project) as plan:
            if shape.moved(notion) <= _QUICK:
                yield from self._written(plan, line)
            stated = None if listed is None else self.project.accounts[listed]
            is_stated = stated is not None and (stated.epsilon, stated.delta) == numbers
            # What follows does so from the project file, and by an account that a policy names.
            if not is_stated or not self.policy.declared_budget:
                return
            other = "" if notion == "add_remove" else f", neighbours: {notion}"
            editions, once = f"editions: {self.editions}", self._drawn(line)
            if self._admits(plan, once):
                less = self._less(line.solved.event)
                yield Way(f"guarantee: {{{editions}{other}}}", "", _seen(once), less)
            of_plan = self._drawn(whole.lines[0])
            if self._is_planned(whole) and _asked(plan, of_plan) is not None:
                named = f"plan: {{{self.policy.name}: {{{editions}}}}}{other}"
                there = f"{named} beside the limit of {self.account.name}"
                less = self._less(whole.lines[0].solved.event)
                yield Way("guarantee: planned", there, _seen(of_plan), less)

    def _written(self, plan: ReleasePlan, line: PlannedLine) -> Iterator[Way]:
        """With numbers of its own: the ε and the δ of those tried that show the smallest groups."""
        found: list[tuple[Policy, str]] = []
        for epsilon, delta in self._tried(line.solved.event):
            for part in _LESS:
                made = self._with(_SHORT.multiply(epsilon, part), delta, line.solved.law)
                if made is not None and self._admits(plan, made[0]):
                    found.append(made)
                    break
        if not found:
            return
        best, said = min(found, key=lambda made: _seen(made[0]) or 0)
        way = self._way(plan, best, said)
        if way.less and not self.fits(plan.asked):
            own, delta = self.policy.guarantee, best.guarantee.delta
            made = self._with(own.epsilon, min(own.delta, delta), line.solved.law)
            if made is not None and self._admits(plan, made[0]):
                yield self._way(plan, *made)
        yield way

    def _way(self, plan: ReleasePlan, drawn: Policy, said: str) -> Way:
        """A policy with numbers of its own, of which a claim is made."""
        asked = _asked(plan, drawn)
        assert asked is not None
        numbers = drawn.guarantee.epsilon, drawn.guarantee.delta
        return Way(said, "", _seen(drawn), self._less(asked.event), *numbers)

    def _tried(self, event: Event) -> Iterator[tuple[Decimal, Decimal]]:
        """(ε, δ) of one edition to begin with: at a δ a little above what the ends cost.

        What was charged before leaves less of δ than of ε.
        """
        if not has_curve(event):
            once = certified(event, Decimal(0), self.notion)
            yield _SHORT.plus(once.epsilon), once.delta
            return
        ends, each = Accountant.of([event], self.notion).certain, self.limit.delta / self.editions
        for part, share, left in zip(_ENDS, _SHARES, _LEFT, strict=True):
            few, more = (_ONE.plus(max(ends * part, least)) for least in (Decimal(0), each * share))
            with suppress(DomainError):
                at_few, epsilon = (
                    _SHORT.plus(epsilon_of_event(event, delta, self.notion))
                    for delta in (few, more)
                )
                delta = few if at_few == epsilon else more
                delta = delta if self._is_new else _ONE.multiply(self.limit.delta, left)
                yield min(epsilon, self.limit.epsilon), delta

    def _with(self, epsilon: Decimal, delta: Decimal, law: str) -> tuple[Policy, str] | None:
        """The policy with these numbers, and what is to be written; None where nothing is met."""
        document, notion, read = self.read.document, self.notion, self.read
        said = {"epsilon": epsilon, "delta": delta, "neighbours": notion}
        named = self.language.named(document, law)
        written = named.model_copy(update={"guarantee": GuaranteeSpec.model_validate(said)})
        text = f"guarantee: {{epsilon: {in_text(epsilon)}, delta: {_yaml(delta)}"
        text += "}" if notion == "add_remove" else f", neighbours: {notion}}}"
        if named != document:
            text += f" and noise: {{distribution: {law}}}"
        with suppress(NoSolution):
            return resolve(written, read.hierarchies, read.file, read.directory), text
        return None

    def _drawn(self, line: PlannedLine) -> Policy:
        """The policy as one edition of a line that was solved."""
        chosen = self.language.numbers(self.read.document, line.solved)
        once = certified(line.solved.event, self.limit.delta, self.notion)
        return replace(
            self.policy,
            guarantee=Guarantee(once.epsilon, once.delta, self.notion),
            k=chosen.k,
            rate=chosen.rate,
            protection=chosen.protection,
        )

    @property
    def _is_new(self) -> bool:
        rules = self.account.filters(self.windows, self.notion)
        return all(rule.spent.first is None for rule in rules)

    def _admits(self, plan: ReleasePlan, drawn: Policy) -> bool:
        """Whether a claim is made of it, and the account would pay for so many in turn."""
        asked = _asked(plan, drawn)
        return asked is not None and self.fits(asked)

    def fits(self, asked: Asked) -> bool:
        """Whether the account would pay for so many in turn."""
        rules = self.account.filters(self.windows, self.notion)
        return all(rule.admits(asked, self.editions) for rule in rules)

    def _less(self, event: Event) -> str:
        """That such an event promises less than the policy as it is, if it does.

        Both are told at the policy's δ, for at another one the same noise has another ε; at its ε
        where the other ε would be above all that the account allows.
        """
        own, less = self.policy.guarantee, "each is a weaker promise than the policy's now"
        with suppress(DomainError):  # of a δ that it has at no ε
            once = certified(event, own.delta, self.notion)
            if once.epsilon <= own.epsilon and once.delta <= own.delta:
                return ""
            if once.epsilon <= self.limit.epsilon or not has_curve(event):
                if once.delta == own.delta:
                    has, had = in_text(once.epsilon), in_text(own.epsilon)
                    return f"{less}: ε {has} instead of {had}, at δ {in_text(own.delta)}"
                return f"{less}: {_pair(once)} instead of {_pair(own)}"
        delta = _TWO_UP.plus(delta_of_event(event, own.epsilon, self.notion))
        has, had = in_text(delta), in_text(own.delta)
        return f"{less}: δ {has} instead of {had}, at ε {in_text(own.epsilon)}"

    def _is_planned(self, whole: WindowPlan) -> bool:
        """Whether its window can have such a plan: with nothing charged yet that it would hold."""
        [window] = self.windows
        if self.account.window(window, self.notion).charges:
            return False
        ever, spent = self.limit.for_ever, self.account.spent or Spent.none(self.notion)
        return ever is None or fits(spent, Planned.of(whole, "").asked, ever)


def _asked(plan: ReleasePlan, drawn: Policy) -> Asked | None:
    """What an account is asked for one; None where no claim is made of it with so small numbers.

    A median's share of ε can be too small for coins.
    """
    with suppress(PolicyError):
        return plan.with_numbers(drawn).asked
    return None


def _seen(policy: Policy) -> int | None:
    """From how many people on all its groupings do; None where groups are shown in any case."""
    listed = policy.protection.keys
    return None if listed else max(policy.protection.visible(policy).values(), default=None)


def _pair(promised: CertifiedEvent | Guarantee) -> str:
    return f"ε {in_text(promised.epsilon)} (at δ {in_text(promised.delta)})"


def _yaml(delta: Decimal) -> str:
    """A small number as a policy writes it."""
    return f"{delta:.1e}" if delta else "0"
