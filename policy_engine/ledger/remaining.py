"""What an account would still pay for: the one answer that every command prints.

It is asked of the rule that decides, by trying: no difference of two sums is what can be spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.events import ApproximateDP, PureDP
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import MOST_ALIKE, most_of_another_kind, times_admitted
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Spent, fits

if TYPE_CHECKING:
    from policy_engine.ledger.account import Limit


@dataclass(frozen=True)
class Remaining:
    """What an account would still pay for.

    ``alike``: so many more of the kind that was asked about are admitted, one after the other, and
    one more is not, unless it is ``MOST_ALIKE``, of which more may be; None where no kind was asked
    about. ``epsilon`` at ``delta``: the most that one release may take of which the account knows
    nothing else, in three digits; both None where no such release was found that is admitted. Each
    is for itself: whoever takes one has less of the other.
    """

    alike: int | None
    epsilon: Decimal | None
    delta: Decimal | None

    def to_json(self) -> dict[str, object]:
        """The numbers; amounts as texts."""
        epsilon = None if self.epsilon is None else str(self.epsilon)
        delta = None if self.delta is None else str(self.delta)
        return {"alike": self.alike, "epsilon": epsilon, "delta": delta}

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Remaining:
        """What ``to_json`` wrote; a ValueError, TypeError, KeyError or InvalidOperation of another.

        >>> Remaining.from_json(Remaining(3, Decimal(1), Decimal(0)).to_json()).alike
        3
        """
        epsilon, delta, alike = (stated[name] for name in ("epsilon", "delta", "alike"))
        return cls(
            None if alike is None else int(alike),
            None if epsilon is None else Decimal(epsilon),
            None if delta is None else Decimal(delta),
        )

    @property
    def or_more(self) -> bool:
        """Whether more than ``alike`` may be admitted: no more were tried."""
        return self.alike == MOST_ALIKE

    def words(self, like: str = "this") -> str:
        """The sentence without its full stop; ``like`` is what the kind is called.

        >>> print(Remaining(3, Decimal("0.105"), Decimal("1E-7")).words())
        3 more like this; at most ε 0.105 (at δ 1e-7) of another kind
        >>> print(Remaining(0, None, None).words("the last"))
        none like the last; nothing of another kind
        >>> print(Remaining(None, Decimal(1), Decimal(0)).words())
        at most ε 1 (at δ 0) in one release
        """
        other = "nothing"
        if self.epsilon is not None and self.delta is not None:
            other = f"at most ε {in_text(self.epsilon)} (at δ {in_text(self.delta)})"
        if self.alike is None:
            return other if self.epsilon is None else f"{other} in one release"
        many = f"{self.alike or 'none'}{' more' if self.alike else ''}"
        if self.or_more:
            many = f"{self.alike} or more"
        return f"{many} like {like}; {other} of another kind"


def remaining(spent: Spent, limit: Limit | None, like: Asked | None = None) -> Remaining | None:
    """What an account that spent so much would still pay for; None without a limit.

    Guarantee: what is said to be admitted is admitted by ``pricing.fits`` if it is asked next.

    >>> from policy_engine.ledger.account import Limit
    >>> like = Asked(PureDP("0.3"), Decimal("0.3"), Decimal(0))
    >>> print(remaining(Spent.none("add_remove"), Limit(Decimal(1), Decimal(0)), like).words())
    3 more like this; at most ε 1 (at δ 0) of another kind
    """
    if limit is None:
        return None
    if spent.is_unbounded:
        return Remaining(None if like is None else 0, None, None)
    return _remaining(spent, limit, like)


@lru_cache(maxsize=64)  # a page asks for one account in several places
def _remaining(spent: Spent, limit: Limit, like: Asked | None) -> Remaining:
    alike = None if like is None else _more(spent, like, limit)
    epsilon, delta = _other_kind(spent, limit) or (None, None)
    return Remaining(alike, epsilon, delta)


def _more(spent: Spent, like: Asked, limit: Limit) -> int:
    """How many more, up to a most."""
    state = spent.plus(like, limit)

    def fit(times: int) -> bool:
        nonlocal state
        found = state.plus(like, limit, times - 1) if times > 1 else state
        state = replace(state, reach=found.reach)  # what was learnt is not asked again
        return found.is_within(limit)

    return times_admitted(fit)


def _other_kind(spent: Spent, limit: Limit) -> tuple[Decimal, Decimal] | None:
    if spent.first is None and limit.epsilon and limit.delta < 1:
        return limit.epsilon, limit.delta  # alone it may take all

    def is_admitted(epsilon: Decimal, delta: Decimal) -> bool:
        event = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
        return fits(spent, Asked(event, epsilon, delta), limit)

    return most_of_another_kind(is_admitted, limit.epsilon, limit.delta)
