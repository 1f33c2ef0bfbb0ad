"""The law of the count: how many of the units are in, over many secrets.

Each unit is in independently with probability β, so the count of N units has mean Nβ and variance
Nβ(1−β). Over R secrets the mean and the variance of the counts must be within 4 standard errors.
"""

from __future__ import annotations

import secrets
from math import sqrt

import numpy as np

from policy_engine.policy.project import default_project
from policy_engine.release import prepare

DRAWS = 200


def z_scores(counts: list[int], units: int, rate: float) -> tuple[float, float]:
    """How far the mean and the variance of the counts are from the law's, in standard errors.

    >>> law = np.random.default_rng(1).binomial(1000, 0.3, 200)
    >>> all(abs(z) < 4 for z in z_scores([*law], 1000, 0.3))
    True
    >>> blocks = 100 * np.random.default_rng(1).binomial(10, 0.3, 200)
    >>> all(abs(z) < 4 for z in z_scores([*blocks], 1000, 0.3))
    False
    """
    mean, variance, draws = units * rate, units * rate * (1 - rate), len(counts)
    of_mean = (float(np.mean(counts)) - mean) / sqrt(variance / draws)
    # The fourth moment of a binomial: 3σ⁴ + σ²(1 − 6β(1−β)).
    fourth = 3 * variance**2 + variance * (1 - 6 * rate * (1 - rate))
    spread = sqrt((fourth - variance**2) / draws)
    of_variance = (float(np.mean((np.array(counts) - mean) ** 2)) - variance) / spread
    return of_mean, of_variance


def counts_of(warehouse, policy, draws: int = DRAWS) -> list[int]:
    """How many units each of ``draws`` releases holds, by the certified text itself."""
    certificate, table = prepare(policy, default_project(policy.directory), warehouse)
    found = []
    for _ in range(draws):
        with warehouse.sampled(policy, table, secrets.token_bytes(16)):
            found.append(sum(warehouse.rows(certificate.sql).column("n").to_pylist()))
    return found


def check_law(warehouse, policy, units: int = 1000) -> None:
    """200 draws of a policy that suppresses nobody, z within 4 for mean and variance."""
    scores = z_scores(counts_of(warehouse, policy), units, float(policy.rate))
    assert all(abs(z) < 4 for z in scores), scores
