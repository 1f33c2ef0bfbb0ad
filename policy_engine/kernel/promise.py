"""What a release promises of each person: an (ε, δ), or nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from policy_engine.values import frozen

Neighbours = Literal["add_remove", "replace_one"]


@frozen
class Bounded:
    """The promise that a release is (ε, δ)-DP for its unit, between ``neighbours``.

    ``rate`` is an upper bound on the probability that a unit takes part, and ``sampled_at`` the
    rate at which the source is a sample of its population, 1 where it is none.
    """

    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours = "add_remove"
    rate: Decimal = Decimal(1)
    sampled_at: Decimal = Decimal(1)


@frozen
class Unpromised:
    """No promise, of a release that is (0, 1)-DP as everything is."""

    epsilon = Decimal(0)
    delta = Decimal(1)
    neighbours: ClassVar[Neighbours] = "add_remove"
    rate = sampled_at = Decimal(1)


Promise = Bounded | Unpromised
