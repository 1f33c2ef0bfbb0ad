"""What one window of an account was charged: a filter state of its own, its plan, its slots.

A value: ``plus`` and ``minus`` give new ones. It stands in the last record that touched it, and
later records of the account say which that is, so that a charge is priced without the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.domain import EXACT
from policy_engine.ledger.asked import NONSENSE, Asked, read_amount, read_count, read_text
from policy_engine.ledger.planned import Planned, Slot
from policy_engine.ledger.pricing import Spent, fits
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.ledger.account import Limit
    from policy_engine.ledger.entry import Charge

Amounts = tuple[Decimal, Decimal]
NOTHING: Amounts = (Decimal(0), Decimal(0))
"""ε and δ."""


@frozen
class Filter:
    """One of the rules that must all admit a release: what was ``spent`` under a ``limit``.

    ``window`` is whose rule it is; empty for what holds for ever.
    """

    window: str
    spent: Spent
    limit: Limit

    def admits(self, asked: Asked, times: int = 1) -> bool:
        """Whether so many more alike keep the limit, one after the other."""
        return fits(self.spent, asked, self.limit, times)


@frozen
class Window:
    """The running state of one window.

    ``charges`` is how many releases count in it, ``sums`` what their certificates add up to.
    ``spent`` is what is not planned; of the plan, which the record ``plan`` has, the ``slots`` were
    taken, and it has ``entered`` what holds for ever with the first of them. ``limits`` are those
    that anything was charged under, each once; ``before`` is what was promised of all that counts
    in it since windows of another length became this one, by other rules than these. ``record`` is
    where this stands, 0 where it is to be written.
    """

    name: str
    spent: Spent
    charges: int = 0
    sums: Amounts = NOTHING
    planned: Planned | None = None
    slots: tuple[Slot, ...] = ()
    entered: bool = False
    limits: tuple[Amounts, ...] = ()
    before: Amounts = NOTHING
    record: int = field(default=0, compare=False)

    @classmethod
    def none(cls, name: str, neighbours: str) -> Window:
        """A window in which nothing counts yet."""
        return cls(name, Spent.none(neighbours))

    def slot_for(self, charge: Charge) -> Slot | None:
        """The slot of the plan that a charge takes; None where it is of the rest."""
        return None if self.planned is None else self.planned.slot_for(charge, self.slots)

    def plus(self, charge: Charge, limit: Limit) -> Window:
        """The window after a charge, of an account with this limit."""
        slot, sums = self.slot_for(charge), (charge.epsilon, charge.delta)
        found = replace(
            self,
            charges=self.charges + 1,
            sums=_each(EXACT.add, self.sums, sums),
            limits=self._limits_with(limit),
            record=0,
        )
        if slot is not None:
            return replace(found, slots=(*self.slots, slot), entered=True)
        return replace(found, spent=self.spent.plus(charge.asked, self.rest_of(limit)))

    def promised(self, limit: Limit | None = None) -> Amounts:
        """What its releases promise together; with those to come under a ``limit``.

        A limit that was changed divides δ anew, by what was seen: each of them adds its δ.
        """
        limits = self.limits if limit is None else self._limits_with(limit)
        return promise_of([self.before, *limits])

    def _limits_with(self, limit: Limit) -> tuple[Amounts, ...]:
        return tuple(dict.fromkeys([*self.limits, (limit.epsilon, limit.delta)]))

    def minus(self, charge: Charge, *, planned: bool) -> Window:
        """The window without a charge, which had taken a slot if ``planned``; nothing of it ran.

        The slot of a plan that has ended stays charged with all of that plan.
        """
        sums = _each(EXACT.subtract, self.sums, (charge.epsilon, charge.delta))
        found = replace(self, charges=self.charges - 1, sums=sums, record=0)
        if not planned:
            return replace(found, spent=self.spent.minus(charge.asked))
        own = (charge.policy_name, charge.run.edition, charge.run.mark)
        left = tuple(each for each in self.slots if (each.policy, each.edition, each.mark) != own)
        return replace(found, slots=left)

    def has_plan_of(self, limit: Limit) -> bool:
        """Whether the plan that is recorded of it is the one that an account's limit says."""
        planned, amounts = self.planned, (limit.epsilon, limit.delta)
        return planned is not None and (planned.terms, planned.total) == (limit.plan_text, amounts)

    def has_room_for_plan(self, limit: Limit) -> bool:
        """Whether what counts in it already, without a plan, fits what a plan would leave."""
        return not self.charges or self.spent.is_within(limit.rest_alone)

    def pays(self, limit: Limit) -> bool:
        """Whether anything can be charged to it, whatever that costs.

        Its plan must be the one that the limit says, or one for which there is room.
        """
        if self.planned is not None:
            return self.has_plan_of(limit)
        return not limit.plan or self.has_room_for_plan(limit)

    def rest_of(self, limit: Limit) -> Limit:
        """The limit of what is not planned, where the account has this one."""
        if self.planned is not None:
            return replace(limit.plain, epsilon=self.planned.rest_epsilon,
                           delta=self.planned.rest_delta)  # fmt: skip
        return limit.rest_alone

    def under_plan(self, planned: Planned) -> Window:
        """The window with a plan; all that was charged before is the rest's."""
        return replace(self, planned=planned, slots=(), entered=False, record=0)

    def limited(self, limit: Limit) -> Window:
        """The window under other numbers: what is planned stays while it is within them.

        What they have more, or less, is of the rest.
        """
        if self.planned is None or self.planned.total == (limit.epsilon, limit.delta):
            return self
        planned = self.planned.within(limit.epsilon, limit.delta)
        if planned is None:
            return self.without_plan(limit)
        return replace(self, planned=planned, record=0)

    def without_plan(self, limit: Limit) -> Window:
        """The window after its plan has ended: of it all counts, if anything of it was drawn."""
        spent = self.spent
        if self.planned is not None and self.slots:
            spent = spent.plus(self.planned.asked, limit.plain)
        return replace(self, spent=spent, planned=None, slots=(), entered=False, record=0)

    def filter(self, limit: Limit) -> Filter:
        """The rule for what is not planned."""
        return Filter(self.name, self.spent, self.rest_of(limit))

    def to_json(self, own: Asked | None = None) -> dict[str, object]:
        """Texts and whole numbers, in a record of its ``own`` charge; a plan as it was recorded."""
        return {
            "spent": self.spent.to_json(own),
            "charges": self.charges,
            "sums": list(map(str, self.sums)),
            "plan": None if self.planned is None else self.planned.to_json(),
            "slots": [
                [each.policy, each.edition, str(each.epsilon), str(each.delta), each.mark]
                for each in self.slots
            ],
            "entered": self.entered,
            "limits": [list(map(str, each)) for each in self.limits],
            "before": list(map(str, self.before)),
        }

    @classmethod
    def from_json(
        cls, name: str, state: Mapping[str, Any], record: int, own: Asked | None = None
    ) -> Window:
        """The window that ``to_json`` wrote in a record; ValueError for anything else."""
        try:
            slots = tuple(
                Slot(read_text(policy), read_text(edition), read_amount(e), read_amount(d), mark)
                for policy, edition, e, d, mark in state["slots"]
            )
            return cls(
                name,
                Spent.from_json(state["spent"], own),
                read_count(state["charges"]),
                amounts_of(state["sums"]),
                None if state["plan"] is None else Planned.from_json(state["plan"]),
                slots,
                state["entered"] is True,
                tuple(map(amounts_of, state["limits"])),
                amounts_of(state["before"]),
                record,
            )
        except NONSENSE:
            raise ValueError("a window as this version writes it") from None


def promise_of(limits: Sequence[Amounts]) -> Amounts:
    """What holds of all that was charged under limits, one after the other: (max ε, Σδ).

    >>> [str(each) for each in promise_of([(Decimal(1), Decimal("1e-6"))] * 2)]
    ['1', '0.000002']
    """
    epsilon = max((each for each, _ in limits), default=Decimal(0))
    delta = reduce(EXACT.add, (each for _, each in limits), Decimal(0))
    return epsilon, min(Decimal(1), delta)


def _each(combine: Any, one: Amounts, other: Amounts) -> Amounts:
    return combine(one[0], other[0]), combine(one[1], other[1])


def amounts_of(state: Any) -> Amounts:
    """An ε and a δ as a record has them; one of NONSENSE for anything else."""
    epsilon, delta = map(read_amount, state)
    return epsilon, delta
