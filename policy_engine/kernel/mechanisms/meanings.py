"""What each mechanism says of itself: the index of their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.ab_insertion.meaning import TuplesMeaning
from policy_engine.kernel.mechanisms.meaning import Meaning
from policy_engine.kernel.mechanisms.noisy_counts.meaning import NoisyMeaning
from policy_engine.kernel.mechanisms.randomised_response.meaning import AnswersMeaning
from policy_engine.kernel.mechanisms.sampled_suppression.meaning import SampleMeaning
from policy_engine.kernel.mechanisms.whole_classes.meaning import ClassesMeaning

MEANINGS: Mapping[str, type[Meaning[Any]]] = {
    "ab_insertion": TuplesMeaning,
    "noisy_counts": NoisyMeaning,
    "randomised_response": AnswersMeaning,
    "sampled_suppression": SampleMeaning,
    "whole_classes": ClassesMeaning,
}


def meaning_of(claim: Claim) -> Meaning[Any]:
    """What the mechanism of a claim says of it."""
    return MEANINGS[claim.law.template](claim)
