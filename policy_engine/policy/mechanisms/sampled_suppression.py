"""Sampled suppression in the language of policies: a sample is drawn, and small groups left out."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.accounting.rates import NATIVE_GRAIN
from policy_engine.kernel.mechanisms import Keyed, Native
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.policy.auto import Guarantee, solve_auto
from policy_engine.policy.laws import Broken, Data, barred, refusal
from policy_engine.policy.mechanisms.common import ROWS, ChosenNumbers, Language, LawParts
from policy_engine.policy.mechanisms.noisy_counts import KEYS
from policy_engine.policy.source_models import counts_all

if TYPE_CHECKING:
    from policy_engine.policy.models import PolicyDocument


def kernel_law(asked: LawParts) -> Keyed | Native:
    """The kernel's law of a policy that draws a sample."""
    policy, raw_first = asked.policy, asked.raw_first
    if policy.method == "native":
        return Native(policy.rate, policy.k, raw_first)
    return Keyed(threshold(policy.rate), policy.k, raw_first, asked.secret)


def _laws(data: Data) -> Broken:
    for key in ("sample", "k"):
        if key not in data:
            yield refusal("is missing", at=(key,))
    wrong = "is of noisy_counts, and this policy draws a sample"
    yield from barred(data, KEYS, wrong, "remove it, or sample")
    if counts_all(data.get("privacy_unit")):
        wrong = "must be any, one or a mapping with first_by where a sample is drawn, found all"
        yield refusal(wrong, "one row of a person counts then", at=ROWS)


def _solve(document: PolicyDocument, guarantee: Guarantee) -> ChosenNumbers:
    """The least k and the greatest rate, as far as they are left open."""
    sample = document.sample
    assert sample is not None  # by the laws
    k, rate = solve_auto(
        guarantee,
        None if document.k == "auto" else document.k,
        None if sample.rate == "auto" else sample.rate,
        document.source.sampled_at,
        NATIVE_GRAIN if sample.method == "native" else Decimal(0),
        choice=document.auto,
    )
    return ChosenNumbers(k, rate, sample.method)


LANGUAGE = Language(_laws, _solve)
