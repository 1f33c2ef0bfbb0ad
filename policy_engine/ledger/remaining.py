"""What an account would still pay for: the one answer that every command prints.

It is asked of the rule that decides, by trying: no difference of two sums is what can be spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as replaced
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.domain import EXACT
from policy_engine.accounting.events import ApproximateDP, PureDP
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import (
    MOST_ALIKE,
    SlotsLeft,
    most_of_another_kind,
    times_admitted,
)
from policy_engine.ledger.asked import Asked
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.ledger.window_states import Filter


@frozen
class Remaining:
    """What an account would still pay for.

    ``alike``: so many more of the kind that was asked about are admitted, one after the other, and
    one more is not, unless it is ``MOST_ALIKE``, of which more may be; None where no kind was asked
    about. ``epsilon`` at ``delta``: the most that one release may take of which the account knows
    nothing else, in three digits; both None where no such release was found that is admitted. Each
    is for itself: whoever takes one has less of the other. Of an account with ``windows`` it is of
    those; what a plan has is in ``slots``, and the numbers are of its rest.
    """

    alike: int | None
    epsilon: Decimal | None
    delta: Decimal | None
    windows: tuple[str, ...] = ()
    slots: tuple[SlotsLeft, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The numbers; amounts as texts."""
        epsilon = None if self.epsilon is None else str(self.epsilon)
        delta = None if self.delta is None else str(self.delta)
        told: dict[str, object] = {"alike": self.alike, "epsilon": epsilon, "delta": delta}
        if self.windows:
            slots = [[each.name, each.editions, each.drawn] for each in self.slots]
            told |= {"windows": list(self.windows), "slots": slots}
        return told

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Remaining:
        """What ``to_json`` wrote; a ValueError, TypeError, KeyError or InvalidOperation of another.

        >>> Remaining.from_json(Remaining(3, Decimal(1), Decimal(0)).to_json()).alike
        3
        """
        epsilon, delta, alike = (stated[name] for name in ("epsilon", "delta", "alike"))
        slots = ((str(name), int(of), int(drawn)) for name, of, drawn in stated.get("slots", ()))
        return cls(
            None if alike is None else int(alike),
            None if epsilon is None else Decimal(epsilon),
            None if delta is None else Decimal(delta),
            tuple(map(str, stated.get("windows", ()))),
            tuple(SlotsLeft(*each) for each in slots),
        )

    @property
    def or_more(self) -> bool:
        """Whether more than ``alike`` may be admitted: no more were tried."""
        return self.alike == MOST_ALIKE

    def words(self, like: str = "this") -> str:
        """The sentence without its full stop; ``like`` is what the kind is called.

        >>> print(Remaining(3, Decimal("0.105"), Decimal("1E-7")).words())
        3 more like this, or one release of another kind with at most ε 0.105 (at δ 1e-7)
        >>> print(Remaining(0, None, None).words("the last"))
        none like the last, and no release of another kind
        >>> print(Remaining(None, Decimal(1), Decimal(0)).words())
        at most ε 1 (at δ 0) in one release
        >>> print(Remaining(0, None, None, ("2026",), (SlotsLeft("visits", 12, 3),)).words())
        in 2026 9 of 12 visits as planned, and nothing else
        """
        text = self._rest(like)
        if self.slots:
            planned = ", ".join(each.words() for each in self.slots)
            has_more = bool(self.alike) or self.epsilon is not None
            other = f"; of the rest {text}" if has_more else ", and nothing else"
            text = f"{planned} as planned{other}"
        return f"in {shown_windows(self.windows)} {text}" if any(self.windows) else text

    def _rest(self, like: str) -> str:
        """What is left of what is not planned."""
        other = ""
        if self.epsilon is not None and self.delta is not None:
            other = f"at most ε {in_text(self.epsilon)} (at δ {in_text(self.delta)})"
        if self.alike is None:
            return f"{other} in one release" if other else "nothing"
        if self.or_more:
            many = f"{self.alike} or more like {like}"
        else:
            many = f"{self.alike} more like {like}" if self.alike else f"none like {like}"
        if not other:
            return f"{many}, and no release of another kind"
        return f"{many}, {'or' if self.alike else 'but'} one release of another kind with {other}"


def shown_windows(windows: tuple[str, ...]) -> str:
    """The windows of a release, as people read them.

    >>> shown_windows(("2026-10",)), shown_windows(("2026-10", "2026-11", "2026-12"))
    ('2026-10', 'each of 2026-10 to 2026-12')
    """
    return windows[0] if len(windows) == 1 else f"each of {windows[0]} to {windows[-1]}"


def remaining(filters: tuple[Filter, ...], like: Asked | None = None) -> Remaining | None:
    """What an account would still pay for, whose rules are these; None without a rule.

    Guarantee: what is said to be admitted is admitted by all of them if it is asked next.

    >>> from policy_engine.ledger.account import Limit
    >>> from policy_engine.ledger.pricing import Spent
    >>> from policy_engine.ledger.window_states import Filter
    >>> rule = Filter("", Spent.none("add_remove"), Limit(Decimal(1), Decimal(0)))
    >>> print(remaining((rule,), Asked(PureDP("0.3"), Decimal("0.3"), Decimal(0))).words())
    3 more like this, or one release of another kind with at most ε 1 (at δ 0)
    """
    if not filters:
        return None
    if any(each.spent.is_unbounded for each in filters):
        return Remaining(None if like is None else 0, None, None)
    return _remaining(filters, like)


@lru_cache(maxsize=64)  # a page asks for one account in several places
def _remaining(filters: tuple[Filter, ...], like: Asked | None) -> Remaining:
    alike = None
    if like is not None:
        told = [_Learning(each, like) for each in filters]
        alike = times_admitted(lambda times: all(each.admits(times) for each in told))
    epsilon, delta = _other_kind(filters) or (None, None)
    return Remaining(alike, epsilon, delta)


class _Learning:
    """A rule that is asked of more and more alike: what was learnt is not asked again."""

    def __init__(self, rule: Filter, like: Asked) -> None:
        self._like, self._limit = like, rule.limit
        self._state = rule.spent.plus(like, rule.limit)

    def admits(self, times: int) -> bool:
        found = self._state
        if times > 1:
            found = found.plus(self._like, self._limit, times - 1)
        self._state = replaced(self._state, reach=found.reach)
        return found.is_within(self._limit)


def _other_kind(filters: tuple[Filter, ...]) -> tuple[Decimal, Decimal] | None:
    epsilon = min(EXACT.subtract(each.limit.epsilon, each.spent.held) for each in filters)
    delta = min(each.limit.delta for each in filters)
    if epsilon <= 0:
        return None
    if all(each.spent.first is None for each in filters) and delta < 1:
        return epsilon, delta  # alone it may take all

    def is_admitted(epsilon: Decimal, delta: Decimal) -> bool:
        event = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
        return all(each.admits(Asked(event, epsilon, delta)) for each in filters)

    return most_of_another_kind(is_admitted, epsilon, delta)
