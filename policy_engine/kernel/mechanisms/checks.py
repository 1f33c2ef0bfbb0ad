"""What verify asks of each mechanism: the index of what rows can be, and of the second routes."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol

from policy_engine.accounting.domain import REPLACE_ONE, nonnegative_epsilon, sampling_rate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.ab_insertion.route import route as route_of_tuples
from policy_engine.kernel.mechanisms.ab_insertion.rows import TuplesRows
from policy_engine.kernel.mechanisms.noisy_counts.route import route as route_of_noise
from policy_engine.kernel.mechanisms.noisy_counts.rows import NoisyRows
from policy_engine.kernel.mechanisms.randomised_response.route import route as route_of_answers
from policy_engine.kernel.mechanisms.randomised_response.rows import AnswersRows
from policy_engine.kernel.mechanisms.rows import ReleasedRows
from policy_engine.kernel.mechanisms.sampled_suppression.route import route as route_of_samples
from policy_engine.kernel.mechanisms.whole_classes.rows import ClassesRows
from policy_engine.kernel.promise import Bounded
from policy_engine.second_route.brute_force import Recomputed


class Route(Protocol):
    """δ by brute force, of numbers that are in the formula's domain; None beyond its reach."""

    def __call__(
        self, law: Any, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
    ) -> Recomputed | None:
        """By the numbers of the law, for a unit in so many groups at most."""


_ROWS: Mapping[str, type[ReleasedRows[Any]]] = {
    "ab_insertion": TuplesRows,
    "noisy_counts": NoisyRows,
    "randomised_response": AnswersRows,
    "sampled_suppression": ReleasedRows,
    "whole_classes": ClassesRows,
}
_ROUTES: Mapping[str, Route] = {
    "ab_insertion": route_of_tuples,
    "noisy_counts": route_of_noise,
    "randomised_response": route_of_answers,
    "sampled_suppression": route_of_samples,
}


def rows_of(claim: Claim) -> ReleasedRows[Any]:
    """What can be checked of the rows of a claim."""
    return _ROWS[claim.law.template](claim)


def recomputed(claim: Claim, promise: Bounded) -> Recomputed | None:
    """δ by brute force; None where it does not reach. Errors: DomainError."""
    rate = sampling_rate(promise.rate) if claim.law.is_sample else Decimal(1)
    epsilon, replaces = nonnegative_epsilon(promise.epsilon), promise.neighbours == REPLACE_ONE
    route = _ROUTES[claim.law.template]
    return route(claim.law, claim.unit.groups, rate, epsilon, replaces=replaces)
