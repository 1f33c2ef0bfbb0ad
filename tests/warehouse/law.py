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


def counts_of(warehouse, policy, parts: int = 1) -> list[list[int]]:
    """How many units of each of ``parts`` groups some releases hold, by the certified text itself.

    With ``DRAWS / parts`` secrets, so that there are ``DRAWS`` counts.
    """
    certificate, table = prepare(policy, default_project(policy.directory), warehouse)
    found = []
    for _ in range(DRAWS // parts):
        with warehouse.sampled(policy, table, secrets.token_bytes(16)):
            counts = warehouse.rows(certificate.query).column("n").to_pylist()
        found.append(counts + [0] * (parts - len(counts)))
    return found


def check_law(warehouse, policy, units: int = 1000, parts: int = 1) -> None:
    """200 counts of a policy that suppresses nobody, z within 4 for mean and variance.

    A secret draws ``units`` in each of ``parts`` groups: the groups are independent, so the mean of
    their sums is as near, and hardly two secrets draw alike.
    """
    drawn, rate = counts_of(warehouse, policy, parts), float(policy.rate)
    scores = z_scores([count for counts in drawn for count in counts], units, rate)
    of_sums, _ = z_scores([sum(counts) for counts in drawn], units * parts, rate)
    assert all(abs(z) < 4 for z in (*scores, of_sums)), (scores, of_sums)
    assert len(set(map(tuple, drawn))) > len(drawn) / 20
