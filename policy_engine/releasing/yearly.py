"""What to write so that so many releases like a policy fit into its account: no row is looked at.

Each way that is told was tried: the policy as it would be written was certified on its source, and
the account's own rule admits so many of it, one after the other, from where the account stands now.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.exact import epsilon_of_event, has_curve
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.plans import PlanLine, PlannedLine, certified, for_editions, planned
from policy_engine.errors import DomainError
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.entry import Charge
from policy_engine.policy.auto import NoSolution
from policy_engine.policy.documents import ReadPolicy, read_policy
from policy_engine.policy.following import shape_of
from policy_engine.policy.mechanisms.index import language_of
from policy_engine.policy.models import GuaranteeSpec
from policy_engine.policy.project import Project
from policy_engine.policy.reading import read_text
from policy_engine.policy.resolve import Policy, resolve
from policy_engine.policy.timing import WindowTerms, most_editions
from policy_engine.releasing import charging

if TYPE_CHECKING:
    from policy_engine.accounting.events import Event

MANY = 12
"""So many editions are asked about where nothing says how many a window has."""
_SHORT = Context(prec=2, rounding=ROUND_FLOOR)
_ONE = Context(prec=1, rounding=ROUND_FLOOR)
_LESS = tuple(map(Decimal, ("1", "0.98", "0.95", "0.9", "0.8", "0.65", "0.5", "0.35")))
"""Parts of what a new account admits, for one that has spent something."""
_ENDS = (Decimal("1.5"), Decimal(3))
"""The δ of one edition, in parts of what the ends of its noise cost, that are tried."""
_QUICK = 2
"""Of more numbers of a person it takes long to find noise for each of several (ε, δ)."""


@dataclass(frozen=True)
class Way:
    """One way to write it: in the ``policy``, and what the ``account`` must say, if anything.

    ``half`` is from how many people on a group is shown half of the time; None where all are.
    """

    policy: str
    account: str
    half: int | None
    epsilon: Decimal | None = None
    delta: Decimal | None = None

    def words(self) -> str:
        """The way in a line."""
        there = f", and in the project file {self.account}" if self.account else ""
        half = "" if self.half is None else f": a group of {self.half:,} is shown half the time"
        return f"{self.policy}{there}{half}"


@dataclass(frozen=True)
class Yearly:
    """So many releases like a policy, from one account, and the ways to write them."""

    editions: int
    account: str
    ways: tuple[Way, ...]


def yearly(policy: Policy, project: Project, account: Account, editions: int = 0) -> Yearly | None:
    """What to write so that so many releases like it fit; as many as a window has without a word.

    None where the account has no limit or has a plan, where the policy's numbers follow from it
    already, and where nothing is left open that could. Guarantee: what is told is admitted if it is
    written and released so often, by what the ledger says now. Arguments: the account as it stands,
    under what the project file says of it. Errors as ``charging.planned``.
    """
    limit, terms = account.limit, project.windows.get(account.name, WindowTerms())
    if limit is None or terms.plan or policy.follows is not None or policy.part is not None:
        return None
    read = read_policy(read_text(policy.file, "policy"), policy.file, policy.directory)
    editions = editions or most_editions(policy.schedule, terms) or MANY
    asked = _Question(read, project, account, limit, editions)
    ways = tuple(asked.ways(policy))
    return Yearly(asked.editions, account.name, ways) if ways else None


@dataclass(frozen=True)
class _Question:
    read: ReadPolicy
    project: Project
    account: Account
    limit: Limit
    editions: int

    def ways(self, policy: Policy) -> Iterator[Way]:
        """Those that are admitted, the plainest first."""
        notion = policy.guarantee.neighbours
        numbers = self.limit.epsilon, self.limit.delta
        try:
            shape = shape_of(self.read, notion)
            line = for_editions(shape, self.editions, *numbers, notion)
            whole = planned([PlanLine(policy.name, shape, self.editions)], *numbers, notion)
        except DomainError:
            return
        if shape.moved(notion) <= _QUICK:
            yield from self._written(policy, line)
        is_new = self.account.spent is None or self.account.spent.first is None
        if is_new and self.project.file is not None and policy.declared_budget:
            editions = f"editions: {self.editions}"
            other = "" if notion == "add_remove" else f", neighbours: {notion}"
            yield Way(f"guarantee: {{{editions}{other}}}", "", self._half(policy, line))
            named = f"plan: {{{policy.name}: {{{editions}}}}}{other}"
            there = f"{named} beside the limit of {self.account.name}"
            yield Way("guarantee: planned", there, self._half(policy, whole.lines[0]))

    def _written(self, policy: Policy, line: PlannedLine) -> Iterator[Way]:
        """With numbers of its own: the ε and the δ of those tried that show the smallest groups."""
        notion = policy.guarantee.neighbours
        found: list[tuple[Policy, str]] = []
        with charging.planned(policy, self.project) as plan:
            for epsilon, delta in _tried(line.solved.event, notion):
                for part in _LESS:
                    less = _SHORT.multiply(epsilon, part)
                    made = self._with(less, delta, notion, line.solved.law)
                    if made is None:
                        continue
                    if self._admits(plan.with_numbers(made[0]).charge(None)):
                        found.append(made)
                        break
        if not found:
            return
        best, said = min(found, key=lambda made: _seen(made[0]) or 0)
        yield Way(said, "", _seen(best), best.guarantee.epsilon, best.guarantee.delta)

    def _with(
        self, epsilon: Decimal, delta: Decimal, notion: str, law: str
    ) -> tuple[Policy, str] | None:
        """The policy with these numbers, and what is to be written; None where nothing is met."""
        document = self.read.document
        language = language_of(document.mechanism, has_sample=document.sample is not None)
        assert language is not None  # by its field
        said = {"epsilon": epsilon, "delta": delta, "neighbours": notion}
        named = language.named(document, law)
        written = named.model_copy(update={"guarantee": GuaranteeSpec.model_validate(said)})
        text = f"guarantee: {{epsilon: {in_text(epsilon)}, delta: {_yaml(delta)}"
        text += "}" if notion == "add_remove" else f", neighbours: {notion}}}"
        if named != document:
            text += f" and noise: {{distribution: {law}}}"
        with suppress(NoSolution):
            read = self.read
            return resolve(written, read.hierarchies, read.file, read.directory), text
        return None

    def _half(self, policy: Policy, line: PlannedLine) -> int | None:
        """From how many people on such an edition shows a group half of the time."""
        document = self.read.document
        language = language_of(document.mechanism, has_sample=document.sample is not None)
        assert language is not None  # by its field
        chosen = language.numbers(document, line.solved)
        return _seen(replace(policy, k=chosen.k, rate=chosen.rate, protection=chosen.protection))

    def _admits(self, charge: Charge) -> bool:
        rules = self.account.filters(charge.windows, charge.neighbours)
        return all(rule.admits(charge.asked, self.editions) for rule in rules)


def _tried(event: Event, notion: str) -> Iterator[tuple[Decimal, Decimal]]:
    """(ε, δ) of one edition to begin with: at a δ a little above what the ends cost."""
    if not has_curve(event):
        once = certified(event, Decimal(0), notion)
        yield _SHORT.plus(once.epsilon), once.delta
        return
    ends = Accountant.of([event], notion).certain
    for part in _ENDS:
        delta = _ONE.multiply(ends, part)
        with suppress(DomainError):
            yield _SHORT.plus(epsilon_of_event(event, delta, notion)), delta


def _seen(policy: Policy) -> int | None:
    """From how many people on all its groupings do; None where groups are shown in any case."""
    listed = policy.protection.keys
    return None if listed else max(policy.protection.visible(policy).values(), default=None)


def _yaml(delta: Decimal) -> str:
    """A small number as a policy writes it."""
    return f"{delta:.1e}" if delta else "0"
