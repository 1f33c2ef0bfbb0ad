"""How much a release tells at most, by the numbers of its law alone: for comparing two of them.

Two measures: δ at each ε, of which the promise states one point; and the least size of a group that
is shown half of the time. A release is not weaker than another where neither is worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from decimal import Decimal
from functools import partial

from policy_engine.accounting.one import delta_of_one
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meaning import Curve
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen

EPSILONS = tuple(map(Decimal, ("0", "0.1", "0.25", "0.5", "1", "2", "4", "8")))
"""At these ε curves are compared, beside those that are promised."""


@frozen
class Strength:
    """The measures of a release.

    ``curve`` gives for a notion of neighbours the curve; None where only the source's catalog
    tells it. ``visible`` is, by grouping, the least size of a group that is shown half of the time;
    empty where groups are shown by chance, whatever their size.
    """

    curve: Callable[[str], Curve] | None
    visible: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Strength:
        """Of a certificate, or a statement without (ε, δ): there nothing bounds δ."""
        meaning = meaning_of(certificate.claim)
        return cls(partial(meaning.curve, certificate), meaning.visible(certificate))

    @classmethod
    def of_policy(cls, policy: Policy) -> Strength:
        """Of a policy, every ``auto`` solved."""
        return cls(policy.protection.curve(policy), policy.protection.visible(policy))


def _sampled(k: int, rate: Decimal) -> Callable[[str], Curve]:
    return lambda notion: lambda epsilon: delta_of_one(k, rate, epsilon, notion).delta
