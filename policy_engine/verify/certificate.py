"""The certificate of a text that somebody wrote: read, proved, and compared with the policy.

What the engine releases is printed and certified in ``kernel.certificate``. Here a DuckDB text of
any form is proved to be the release that a policy asks for.
"""

from __future__ import annotations

from dataclasses import replace

from policy_engine.accounting.exact import delta_exact
from policy_engine.errors import NotCertifiable, UsageError
from policy_engine.kernel.certificate import ROWS, Certificate, certified_rate, now, stated
from policy_engine.kernel.sentences import (
    ALWAYS,
    ROW_UNIT,
    is_a_person,
    is_readable,
    is_unique,
    of_its_source,
)
from policy_engine.kernel.words import randomness
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.resolve import Policy, terms_of
from policy_engine.policy.source_models import PARQUET_FILES
from policy_engine.relations.assumptions import BUILT_INS
from policy_engine.relations.shape import ReleaseShape
from policy_engine.syntax.findings import findings_of
from policy_engine.syntax.schema import Schema
from policy_engine.verify.checks import compare, guarantee_is_met
from policy_engine.verify.proof import prove


def certify(
    policy: Policy,
    query: str,
    dialect: str,
    *,
    published_as: str = ROWS,
    schema: Schema | None = None,
    engine_version: str = "",
) -> Certificate:
    """A certificate that ``query`` is the release ``policy`` asks for.

    Guarantee: running exactly ``query``, under the certificate's assumptions, is (ε, δ)-DP for
    the certificate's unit and neighbouring notion, with ε the policy's and δ at most the
    policy's. ``engine_version`` and ``published_as``, the envelope in which the query runs, are
    recorded as they are given.

    Raises:
        NotCertifiable: with every finding.
        UsageError: the dialect is another than ``duckdb``, whose texts alone are proved.
    """
    if dialect != "duckdb":
        raise UsageError(f"no rules to certify the dialect {dialect[:60]!r}; known: duckdb")
    known = replace(schema or Schema(), source=policy.source.relation or "")
    proof = prove(query, replace(known, public={**known.public, **dict(policy.public)}))
    if proof.shape is None:
        raise NotCertifiable(proof.findings)
    differences = compare(proof.shape, policy)
    if differences:
        raise NotCertifiable(differences)
    rate = certified_rate(policy.rate, policy.method, policy.source.sampled_at)
    guarantee = policy.guarantee
    bound = delta_exact(policy.k, rate, guarantee.epsilon, guarantee.neighbours)
    unmet = guarantee_is_met(bound.delta, guarantee.delta, guarantee.epsilon)
    if unmet is not None:
        raise NotCertifiable(findings_of(unmet))
    shape = proof.shape
    return Certificate(
        terms=terms_of(policy, published_as, engine_version),
        query=query,
        dialect=dialect,
        unit=shape.unit,
        randomness=randomness(shape.method, shape.unit, draws_a_row=shape.draws_a_row),
        columns=tuple(column.name for column in shape.columns),
        count=shape.count,
        k=policy.k,
        rate=rate,
        delta=stated(bound.delta, guarantee.delta),
        assumptions=_all_assumptions(policy, shape, proof.assumptions),
        time=now(),
    )


def _all_assumptions(
    policy: Policy, shape: ReleaseShape, proved: tuple[str, ...]
) -> tuple[str, ...]:
    source, unit = policy.source.text, policy.source.key or ROW_UNIT
    known = (
        *of_its_source(unit, source, policy.source.sampled_at),
        *ALWAYS,
        *of_its_file(source, is_parquet=shape.is_of_a_file),
    )
    # A release runs on a connection of its own, where no macro is in reach. What is assumed of
    # persons is said by the policy's name for the source, and not by the text's once more.
    said = (*known, BUILT_INS, is_a_person(ROW_UNIT, shape.source))
    unique = is_unique(shape.unit, shape.source)
    left = [
        is_unique(shape.unit, source) if text == unique else text
        for text in proved
        if text not in said
    ]
    return (*left, *known)


def of_its_file(source: str, *, is_parquet: bool = False) -> tuple[str, ...]:
    """What must hold of a file; nothing of another source."""
    if is_csv(source):
        return (is_readable(source, is_csv=True),)
    if is_parquet or source.lower().endswith(PARQUET_FILES):
        return (is_readable(source),)
    return ()
