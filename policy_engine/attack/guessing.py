"""Membership by runs: how often a guess is right, beside what the theorem says is the most.

The guess is about releases of invented people, with and without one of them, by the policy's own
certified text on the real engine. Nothing of the source but its schema is read.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor
from pathlib import Path
from random import Random

from policy_engine.accounting.events import ApproximateDP
from policy_engine.attack.attacks import Attempt, membership
from policy_engine.audit.bench import Tick
from policy_engine.audit.events import Event, clearest_event, halves
from policy_engine.audit.people import NeighbourPair
from policy_engine.audit.policies import observed, prepared
from policy_engine.audit.verdict import check_runs
from policy_engine.errors import UsageError
from policy_engine.measure.subjects import Promise
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import loaded
from policy_engine.releasing.planning import project_of
from policy_engine.values import frozen

CONFIDENCE = 0.95


@frozen
class Guesses:
    """How many of so many fair coins were guessed right, each with its own release.

    >>> Guesses(60, 100).at(CONFIDENCE)
    (0.497, 0.697)
    """

    right: int
    coins: int

    def at(self, confidence: float) -> tuple[float, float]:
        """Clopper and Pearson's interval, which has the true share with so much confidence or more.

        Rounded outwards. Assumption: the coins are independent.
        """
        from scipy.stats import binomtest

        found = binomtest(self.right, self.coins).proportion_ci(confidence)
        return floor(1000 * found.low) / 1000, ceil(1000 * found.high) / 1000

    def __str__(self) -> str:
        share, (low, high) = self.right / self.coins, self.at(CONFIDENCE)
        return (
            f"right {100 * share:.1f} % of the time ({CONFIDENCE:.0%}: {100 * low:.1f} to"
            f" {100 * high:.1f}), of {self.coins:,} coins"
        )


def membership_by_runs(
    path: Path, runs: int, seed: int = 0, tick: Tick = lambda done, total: None
) -> Attempt:
    """Guess by a coin whether a person is in the source, from ``runs`` releases of each table.

    On one half of the runs it is chosen what to look at, on the other half the guesses are
    counted. ``seed`` is of the tables and coins, never of a sample or noise.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        UsageError: too few runs, or a source that cannot be imitated on DuckDB.
    """
    check_runs(runs)
    policy = loaded(load_policy(path))
    made = prepared(policy, project_of(policy), seed)
    if not made.pairs:
        raise UsageError(f"of {policy.name} no tables can be made: {'; '.join(made.skipped)}")
    seen = observed(made, runs, tick)
    tried: list[tuple[float, NeighbourPair, Event]] = []
    for pair in made.pairs:
        one, other = halves(seen[pair.one])[0], halves(seen[pair.other])[0]
        event = clearest_event(one, other)
        tried.append((event.count(one).share - event.count(other).share, pair, event))
    _, pair, event = max(tried, key=lambda each: each[0])
    coins = Random(seed)
    right = 0
    for judged in zip(halves(seen[pair.other])[1], halves(seen[pair.one])[1], strict=True):
        is_in = coins.random() < 0.5
        right += event.holds(judged[is_in]) is is_in
    guesses = Guesses(right, len(seen[pair.one]) // 2)
    unit = policy.source.key or "row"
    numbers = made.claim.epsilon, made.claim.delta
    known = ApproximateDP(*numbers)  # of one release, which is not composed
    bound = membership(Promise(policy.name, *numbers, unit, policy.guarantee.neighbours, known))
    told = f"{guesses}; the clearest of {len(made.pairs)} pairs: {pair.name}, by {event}"
    return replace(bound, name="membership by runs", measured=told)
