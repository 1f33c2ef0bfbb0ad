"""What a certificate takes from a policy beside what it certifies."""

from __future__ import annotations

from policy_engine.kernel.certificate import Terms
from policy_engine.policy.resolve import Policy


def terms_of(policy: Policy, published_as: str, engine_version: str) -> Terms:
    """What a certificate of ``policy`` says beside what it certifies."""
    return Terms(
        policy_name=policy.name,
        policy_digest=policy.digest,
        source=policy.source.text,
        rate=policy.rate,
        epsilon=policy.guarantee.epsilon,
        delta=policy.guarantee.delta,
        neighbours=policy.guarantee.neighbours,
        sampled_at=policy.source.sampled_at,
        published_as=published_as,
        engine_version=engine_version,
        stated=policy.stated,
        models=tuple(model.to_json() for model in policy.models),
    )
