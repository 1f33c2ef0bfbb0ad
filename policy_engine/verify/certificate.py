"""The certificate: made here, from text that was proved, and nowhere else.

``certify`` is the kernel's front door. It reads the SQL text, compares what it reads with
the policy, computes the (ε, δ) of what it read, and returns a ``Certificate`` or raises.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from policy_engine.accounting.domain import claimed, decimal
from policy_engine.accounting.exact import delta_exact
from policy_engine.errors import NotCertifiable
from policy_engine.policy.fields import Neighbours
from policy_engine.policy.resolve import Policy
from policy_engine.relations.assumptions import (
    ALWAYS,
    BUILT_INS,
    STAYS,
    is_a_person,
    of_its_file,
    of_its_population,
    randomness,
)
from policy_engine.relations.rates import population_rate
from policy_engine.relations.shape import ROW_UNIT, ReleaseShape
from policy_engine.syntax.findings import findings_of
from policy_engine.syntax.schema import Schema
from policy_engine.verify.checks import compare, guarantee_is_met
from policy_engine.verify.proof import prove

MECHANISM = "sampled-suppression"
PREDICATE_VERSION = 1

# A δ below this is stated as this: nobody can tell them apart, and a ledger keeps exact sums.
_LEAST_DELTA = Decimal("1e-300")


@dataclass(frozen=True)
class Certificate:
    """What was proved of one text, and its price. Made by ``certify`` only.

    ``rate`` is an upper bound on the probability that a unit is sampled; ``delta`` is an
    upper bound on δ at ``epsilon`` ([EXACT]). It holds nothing that was read from the source.
    """

    policy_name: str
    policy_digest: str
    sql: str
    dialect: str
    engine_version: str
    shape: ReleaseShape
    k: int
    rate: Decimal
    sampled_at: Decimal
    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours
    at_n: int | None
    assumptions: tuple[str, ...]
    time: str

    @property
    def sql_digest(self) -> str:
        """SHA-256 of the text that runs."""
        return "sha256:" + hashlib.sha256(self.sql.encode()).hexdigest()

    def predicate(self) -> dict[str, Any]:
        """The certificate as the predicate of an in-toto Statement, version 1."""
        return {
            "version": PREDICATE_VERSION,
            "mechanism": MECHANISM,
            "policy": {"name": self.policy_name, "digest": self.policy_digest},
            "k": self.k,
            "rate": f"{self.rate:f}",
            "sampled_at": f"{self.sampled_at:f}",
            "epsilon": f"{self.epsilon:f}",
            "delta": str(self.delta),
            "bound": "exact",
            "source_tag": "[EXACT]",
            "neighbours": self.neighbours,
            "unit": self.shape.unit,
            "randomness": randomness(self.shape.method, self.shape.unit),
            "assumptions": list(self.assumptions),
            "columns": [column.name for column in self.shape.columns],
            "count": self.shape.count,
            "form": self.shape.form,
            "sql": self.sql,
            "sql_digest": self.sql_digest,
            "dialect": self.dialect,
            "engine_version": self.engine_version,
            "time": self.time,
        }


def certify(
    policy: Policy,
    sql: str,
    dialect: str,
    *,
    schema: Schema | None = None,
    engine_version: str = "",
) -> Certificate:
    """A certificate that ``sql`` is the release ``policy`` asks for.

    Guarantee: running exactly ``sql``, under the certificate's assumptions, is (ε, δ)-DP for
    the certificate's unit and neighbouring notion, with ε the policy's and δ at most the
    policy's. ``engine_version`` is recorded as it is given.

    Raises:
        NotCertifiable: with every finding.
    """
    known = replace(schema or Schema(), source=policy.source.relation or "")
    proof = prove(sql, dialect, replace(known, public={**known.public, **dict(policy.public)}))
    if proof.shape is None:
        raise NotCertifiable(proof.findings)
    differences = compare(proof.shape, policy)
    if differences:
        raise NotCertifiable(differences)
    rate = certified_rate(policy)
    guarantee = policy.guarantee
    bound = delta_exact(policy.k, rate, guarantee.epsilon, guarantee.neighbours)
    unmet = guarantee_is_met(bound.delta, guarantee.delta, guarantee.epsilon)
    if unmet is not None:
        raise NotCertifiable(findings_of(unmet))
    return Certificate(
        policy_name=policy.name,
        policy_digest=policy.digest,
        sql=sql,
        dialect=dialect,
        engine_version=engine_version,
        shape=proof.shape,
        k=policy.k,
        rate=rate,
        sampled_at=policy.source.sampled_at,
        epsilon=guarantee.epsilon,
        delta=min(max(claimed(bound.delta), _LEAST_DELTA), guarantee.delta),
        neighbours=guarantee.neighbours,
        at_n=bound.at_n,
        assumptions=_all_assumptions(policy, proof.shape, proof.assumptions),
        time=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def certified_rate(policy: Policy) -> Decimal:
    """The rate that a certificate of ``policy`` rests on, never below the true one."""
    rate = population_rate(Fraction(policy.rate), policy.method, policy.source.sampled_at)
    return decimal("rate", "a number", rate)


def _all_assumptions(
    policy: Policy, shape: ReleaseShape, proved: tuple[str, ...]
) -> tuple[str, ...]:
    source, sampled_at = policy.source.text, policy.source.sampled_at
    known = (
        *([of_its_population(source, sampled_at)] if sampled_at != 1 else []),
        is_a_person(policy.source.key or ROW_UNIT, source),
        source + STAYS,
        *ALWAYS,
        *of_its_file(source, is_parquet=shape.is_of_a_file),
    )
    # A release runs on a connection of its own, where no macro is in reach.
    left = [text for text in proved if text not in known and text != BUILT_INS]
    return (*left, *known)
