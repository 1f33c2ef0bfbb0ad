"""[HISTORY], [PERIOD] What the windows of an account tell together.

*One window* has a filter of its own (``adaptive``), and so keeps its limit (ε, δ) given all that
was told before it, whatever is chosen: it is one (ε, δ)-private event for whoever stands in its
releases, and of nobody else does it say anything.

*Several.* Whoever stands in the releases of m windows is told of by m such events, so by Σε and Σδ
of their *limits*: not by what was really spent of them, for how much that is follows from what was
seen. Windows may overlap in time, as when December's release is drawn in January: interactive
mechanisms that are (ε, δ)-private add up like others, however their questions interleave (Lyu,
*Composition theorems for interactive differential privacy*, NeurIPS 2022). Rows that are never
deleted are in each window to come.

*Of (person, period)*, where a window is of the rows of one period: fix the rows of x in m periods.
A release that reads none of them has one law under both histories, given the transcript so far, and
counts as coins. A release that reads one of them is charged to its window. One that reads several
is charged to each of them, as one person replaced, which is what any of those rows does to it: it
counts in the first of them, and in the others as coins, for a filter without one of the releases
that it admitted still keeps its limit. So again the sums over m windows.

*One replaced.* A person who loses the rows of a period stays in such a release with others: under
add_remove it is one person replaced (``events.Replaced``). Under replace_one another person has
rows of the period instead, so two people's rows change, and both may leave one group and enter
another: a number moves twice as far, which no product of pairs of one step covers. So that is the
price of any two people of whom each is within (ε, δ): (2ε, (1 + e^ε)·δ).

*For ever.* A limit over all windows is one more filter: everything that is not planned enters it as
it is charged, and the plan of a window as one event, ``WindowPlan.event``, when its first slot is
drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal

from policy_engine.accounting import bounds
from policy_engine.accounting.certified import CertifiedEvent
from policy_engine.accounting.composition import Basic, Question
from policy_engine.accounting.domain import EXACT, REPLACE_ONE, count, neighbour_notion
from policy_engine.accounting.events import ApproximateDP, Event, PureDP, Replaced, Unbounded
from policy_engine.accounting.exact import epsilon_of_event, has_curve
from policy_engine.errors import DomainError
from policy_engine.values import frozen

_TIMES = (1, 2, 4, 1000)
"""So many times the δ of one person who comes or goes is that of one who is replaced."""


def spanning(event: Event, epsilon: Decimal, delta: Decimal, neighbours: str) -> CertifiedEvent:
    """The price, in each of the windows whose rows it reads, of a release that is of several.

    ``event`` has the numbers of replace_one, and ``epsilon`` and ``delta`` are what its
    certificate says under the account's notion. Guarantee: it covers whoever loses, or has
    replaced, the rows of one window. Errors: DomainError.

    >>> from policy_engine.accounting.events import SampledSuppression
    >>> event = SampledSuppression(20, "0.1")
    >>> each = spanning(event, Decimal("0.5"), Decimal("3e-11"), "add_remove")
    >>> str(each.epsilon), str(each.delta)
    ('0.502152', '3E-11')
    >>> spanning(PureDP(1), Decimal(1), Decimal(0), "replace_one").event
    PureDP(epsilon=Decimal('2'))
    """
    if isinstance(event, Unbounded):
        return CertifiedEvent(event, epsilon, delta)
    if neighbour_notion(neighbours) == REPLACE_ONE:
        two = bounds.group(epsilon, delta, 2)
        return CertifiedEvent(known_as(*two), *two)
    replaced = Replaced(event)
    if not has_curve(event):
        once, question = ((event, 1),), Question(REPLACE_ONE)
        alone = Basic().epsilon(once, Decimal("0.5"), question)
        assert alone is not None
        return CertifiedEvent(replaced, alone, Basic().delta(once, alone, question) or Decimal(0))
    for times in _TIMES:
        with suppress(DomainError):
            most = EXACT.multiply(delta, Decimal(times))
            return CertifiedEvent(replaced, epsilon_of_event(replaced, most, neighbours), most)
    raise DomainError("delta", "large enough for one unit that is replaced", delta)


def known_as(epsilon: Decimal, delta: Decimal) -> Event:
    """The event of which nothing but (ε, δ) is known.

    >>> known_as(Decimal(1), Decimal(0)), known_as(Decimal(1), Decimal(1))
    (PureDP(epsilon=Decimal('1')), Unbounded())
    """
    if delta >= 1:
        return Unbounded()
    return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)


@frozen
class ToldOf:
    """What is told in total of somebody who stood in the releases of so many windows."""

    windows: int
    epsilon: Decimal
    delta: Decimal


def told_of(limits: Sequence[tuple[Decimal, Decimal]], windows: int) -> ToldOf:
    """What m windows promise together, by their limits (ε, δ): the dearest of each number.

    Guarantee: never below what any m of the windows amount to, however releases were chosen; δ is
    at most 1. Where one limit is given it is that of every window. Errors: DomainError where there
    are fewer limits than windows, but for one; and where there is none.

    >>> year = [(Decimal(1), Decimal("1e-6"))]
    >>> [(told.epsilon, told.delta) for told in (told_of(year, m) for m in (1, 3))]
    [(Decimal('1'), Decimal('0.000001')), (Decimal('3'), Decimal('0.000003'))]
    >>> changed = [*year, (Decimal(2), Decimal("1e-7")), *year]
    >>> told_of(changed, 2)
    ToldOf(windows=2, epsilon=Decimal('3'), delta=Decimal('0.000002'))
    """
    count("windows", windows)
    if not limits or 1 < len(limits) < windows:
        raise DomainError("windows", f"at most as many as limits, {len(limits)}", windows)
    every = list(limits) * windows if len(limits) == 1 else list(limits)
    totals = [Decimal(0), Decimal(0)]
    for place in (0, 1):
        for number in sorted((limit[place] for limit in every), reverse=True)[:windows]:
            totals[place] = EXACT.add(totals[place], number)
    return ToldOf(windows, totals[0], min(Decimal(1), totals[1]))
