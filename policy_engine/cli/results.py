"""What several commands answer alike, as values: ``output`` writes any of them as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from policy_engine.cli.output import number
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.models import Model
    from policy_engine.ledger.remaining import Remaining


@frozen
class Left:
    """What an account would still pay for, never too much."""

    like_this: int | None
    or_more: bool
    other_epsilon: float | None
    other_delta: float | None
    windows: tuple[str, ...] | None = None
    """Of which windows it is said; None of a limit for ever."""
    planned: Mapping[str, int] | None = None
    """How many editions of each policy are planned and not drawn yet; the rest is said beside."""

    @classmethod
    def of(cls, found: Remaining | None) -> Left | None:
        """That of an account; None without a limit."""
        if found is None:
            return None
        epsilon, delta = (number(each, down=True) for each in (found.epsilon, found.delta))
        if not found.windows:
            return cls(found.alike, found.or_more, epsilon, delta)
        planned = {each.name: each.left for each in found.slots}
        return cls(found.alike, found.or_more, epsilon, delta, found.windows, planned)


@frozen
class Attack:
    """An attack of the literature, and why it works."""

    attack: str
    why: str


def attacks_on(k: int, models: Sequence[Model]) -> tuple[Attack, ...]:
    """Those that a release without (ε, δ) does not stop."""
    return tuple(Attack(name, why) for name, why in still_works(k, models))


@frozen(kw_only=True)
class WithoutPromise:
    """What is said of a release without (ε, δ), whatever a command says of it beside."""

    guarantee: str = field(init=False, default=NO_GUARANTEE)
    epsilon: None = field(init=False, default=None)
    delta: None = field(init=False, default=None)
    certified: bool = field(init=False, default=False)
    still_works: tuple[Attack, ...]
