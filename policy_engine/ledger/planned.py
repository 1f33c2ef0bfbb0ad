"""The plan of a window, as it was recorded before the window's first draw, and its slots, [PLAN].

A *slot* is an edition of a policy that the plan names. It is taken by a release of the policy named
so, of an edition that has taken none, whose event is covered by the slot's (``covering``): some
processing of the slot's outcome gives the release's. Where the plan has more of a policy than its
calendar has periods, the others are for the second draw that this calendar makes of an edition. All
else that is charged to the window, a second draw by hand too, is the rest's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.covering import covers
from policy_engine.accounting.domain import EXACT
from policy_engine.accounting.events import Event, FixedList
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import SlotsLeft
from policy_engine.accounting.plans import PlannedLine, WindowPlan, charges_of, is_within
from policy_engine.kernel.wording import quoted
from policy_engine.ledger.asked import (
    NONSENSE,
    Asked,
    event_from_json,
    event_to_json,
    read_amount,
    read_count,
    read_text,
)
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.ledger.entry import Charge

_AMOUNTS = ("epsilon", "delta", "rest_epsilon", "rest_delta")


@frozen
class Line:
    """So many editions of a policy of this name, each of them such an event.

    So many of them are ``revisions``: the calendar's second draws of one that has taken a slot.
    ``law`` and ``each`` are what the event does not say of how it is drawn, ``shape`` is the digest
    of what the policy is but for its strength: a policy of this shape is drawn as it was recorded.
    """

    name: str
    editions: int
    event: Event
    law: str = ""
    each: Decimal | None = None
    shape: str = ""
    revisions: int = 0

    @classmethod
    def of(cls, line: PlannedLine) -> Line:
        """What is recorded of a line that was solved."""
        solved = line.solved
        drawn = (solved.event, solved.law, solved.each)
        return cls(line.name, line.editions, *drawn, line.shape, line.revisions)


@frozen
class Slot:
    """An edition that took a slot of its policy, with what its certificate says.

    ``mark`` is that of the run that was charged: who gives a charge back gives back its own slot.
    """

    policy: str
    edition: str
    epsilon: Decimal
    delta: Decimal
    mark: str = ""


@frozen
class Planned:
    """A plan: its lines are together within (``epsilon``, ``delta``), as a list.

    ``rest_epsilon`` and ``rest_delta`` are left for what is not planned. ``terms`` is what the
    project file said when it was recorded: another text is another plan. ``at`` is the δ of the
    limit then, at which the certificate of an edition says its ε.
    """

    lines: tuple[Line, ...]
    epsilon: Decimal
    delta: Decimal
    rest_epsilon: Decimal
    rest_delta: Decimal
    neighbours: str
    terms: str = ""
    at: Decimal = Decimal(0)

    @classmethod
    def of(cls, plan: WindowPlan, terms: str) -> Planned:
        """What is recorded of a plan that was solved."""
        own = (plan.epsilon, plan.delta, plan.rest_epsilon, plan.rest_delta)
        at = EXACT.add(plan.delta, plan.rest_delta)
        return cls(tuple(map(Line.of, plan.lines)), *own, plan.neighbours, terms, at)

    @property
    def total(self) -> tuple[Decimal, Decimal]:
        """(ε, δ) of the window: what is planned and the rest."""
        return (
            EXACT.add(self.epsilon, self.rest_epsilon),
            EXACT.add(self.delta, self.rest_delta),
        )

    def within(self, epsilon: Decimal, delta: Decimal) -> Planned | None:
        """The plan of a window with other numbers; None where it is not within them."""
        if self.epsilon > epsilon or self.delta > delta:
            return None
        rest = EXACT.subtract(epsilon, self.epsilon), EXACT.subtract(delta, self.delta)
        return replace(self, rest_epsilon=rest[0], rest_delta=rest[1])

    @property
    def asked(self) -> Asked:
        """All of it as one release: what an account is charged with for ever, at the first slot."""
        events = FixedList(charges_of([(line.event, line.editions) for line in self.lines]))
        return Asked(events, self.epsilon, self.delta)

    def holds(self) -> bool:
        """Whether the price of its list is within what is planned, computed anew."""
        charges = charges_of([(line.event, line.editions) for line in self.lines])
        return is_within(charges, self.epsilon, self.delta, self.neighbours)

    def slot_for(self, charge: Charge, taken: Iterable[Slot]) -> Slot | None:
        """The slot that a charge takes; None where it is of the rest."""
        if self.names(charge.policy_name) is None or self.why_none(charge, taken):
            return None
        run = charge.run
        return Slot(charge.policy_name, run.edition, charge.epsilon, charge.delta, run.mark)

    def names(self, policy: str) -> Line | None:
        """What is planned of a policy of this name; None of one that is not."""
        return next((each for each in self.lines if each.name == policy), None)

    def why_none(self, charge: Charge, taken: Iterable[Slot]) -> str:
        """Why a charge of a policy that is planned takes no slot; empty where it takes one."""
        line = self.names(charge.policy_name)
        assert line is not None
        used = [each.edition for each in taken if each.policy == charge.policy_name]
        edition = f"edition {charge.run.edition}" if charge.run.edition else "its edition"
        if len(charge.windows) > 1:
            return "it reads the rows of several windows"
        firsts = len({*used})
        if charge.run.edition in used:
            is_second = charge.run.is_revision and used.count(charge.run.edition) == 1
            if not is_second or len(used) - firsts >= line.revisions:
                return f"{edition} has taken its slot"
        elif firsts >= line.editions - line.revisions:
            planned = line.editions - line.revisions
            return f"all {planned} editions that were planned of it are drawn"
        if charge.neighbours != self.neighbours:
            return f"the plan is of {self.neighbours}, and it is of {charge.neighbours}"
        if not covers(line.event, charge.asked.event, self.neighbours):
            return "it tells more of somebody than what was planned of it before the first draw"
        return ""

    def left(self, taken: Iterable[Slot]) -> tuple[SlotsLeft, ...]:
        """How many slots of each policy there are, and how many were taken."""
        drawn = Counter(each.policy for each in taken)
        return tuple(SlotsLeft(each.name, each.editions, drawn[each.name]) for each in self.lines)

    def document(self, account: str) -> dict[str, object]:
        """What people approve of it: what the project file says, and of which limit."""
        return plan_document(account, *self.total, self.terms)

    def told(self) -> str:
        """What the project file said of it, to be written there again; the limit was another one.

        >>> terms = '{"plan":{"visits":[12,null],"ages":[4,"2"]},"rest":"0.1"}'
        >>> print(Planned((), *(Decimal(0),) * 4, "add_remove", terms).told())
        plan: {visits: {editions: 12}, ages: {editions: 4, share: 2}}, rest: 0.1, of ε 0, δ 0
        """
        said = json.loads(self.terms)
        lines = ", ".join(
            f"{name}: {{editions: {editions}{'' if share is None else f', share: {share}'}}}"
            for name, (editions, share) in said["plan"].items()
        )
        epsilon, delta = map(in_text, self.total)
        return f"plan: {{{lines}}}, rest: {said['rest']}, of ε {epsilon}, δ {delta}"

    def to_json(self) -> dict[str, object]:
        """Texts and whole numbers."""
        lines = [
            {
                "policy": line.name,
                "editions": line.editions,
                "event": event_to_json(line.event),
                "law": line.law,
                "each": None if line.each is None else str(line.each),
                "shape": line.shape,
                "revisions": line.revisions,
            }
            for line in self.lines
        ]
        amounts = {name: str(getattr(self, name)) for name in _AMOUNTS}
        told = {"neighbours": self.neighbours, "terms": self.terms, "at": str(self.at)}
        return {"lines": lines, **amounts, **told}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Planned:
        """The plan that ``to_json`` wrote; ValueError for anything else."""
        try:
            lines = tuple(
                Line(
                    read_text(each["policy"]),
                    read_count(each["editions"]),
                    event_from_json(each["event"]),
                    read_text(each["law"]),
                    None if each["each"] is None else read_amount(each["each"]),
                    read_text(each["shape"]),
                    read_count(each["revisions"]),
                )
                for each in state["lines"]
            )
            epsilon, delta, rest, rest_delta = (read_amount(state[name]) for name in _AMOUNTS)
            notion, terms = read_text(state["neighbours"]), read_text(state["terms"])
            at = read_amount(state["at"])
            return cls(lines, epsilon, delta, rest, rest_delta, notion, terms, at)
        except NONSENSE:
            raise ValueError("a plan as this version writes it") from None


def plan_document(account: str, epsilon: Decimal, delta: Decimal, terms: str) -> dict[str, object]:
    """What people approve of a plan: what the project file says, and of which limit.

    >>> plan_document("people", Decimal("1.0"), Decimal("1e-6"), '{"plan":{},"rest":"0"}')
    {'account': 'people', 'epsilon': '1', 'delta': '0.000001', 'plan': {}, 'rest': '0'}
    """
    return {
        "account": account,
        "epsilon": in_text(epsilon),
        "delta": in_text(delta),
        **json.loads(terms),
    }


def plan_words(document: Mapping[str, Any]) -> str:
    """A plan as people approve it, by its ``plan_document``.

    >>> terms = '{"plan":{"visits":[12,null]},"rest":"0.1"}'
    >>> plan_words(plan_document("people", Decimal(1), Decimal("1e-6"), terms))
    '"visits": 12 editions; rest 0.1; the limit is ε 1, δ 0.000001'
    """
    lines = (
        f"{quoted(name)}: {editions} edition{'s' * (editions != 1)}"
        + ("" if share is None else f", share {share}")
        for name, (editions, share) in document["plan"].items()
    )
    epsilon, delta = (in_text(Decimal(document[name])) for name in ("epsilon", "delta"))
    return f"{'; '.join(lines)}; rest {document['rest']}; the limit is ε {epsilon}, δ {delta}"
