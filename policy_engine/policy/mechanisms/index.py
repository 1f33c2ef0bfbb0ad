"""The mechanisms that a policy can name, and the one that it is of: the index of their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from policy_engine.policy import fields
from policy_engine.policy.laws import Broken, Data, inside, refusal
from policy_engine.policy.mechanisms import (
    ab_insertion,
    noisy_counts,
    randomised_response,
    sampled_suppression,
)
from policy_engine.policy.mechanisms.common import Language
from policy_engine.policy.scalars import show

Mechanism = Literal["sampled_suppression", "noisy_counts", "randomised_response", "ab_insertion"]
LANGUAGES: Mapping[Mechanism, Language] = {
    "ab_insertion": ab_insertion.LANGUAGE,
    "noisy_counts": noisy_counts.LANGUAGE,
    "randomised_response": randomised_response.LANGUAGE,
    "sampled_suppression": sampled_suppression.LANGUAGE,
}


def language_of(mechanism: object, *, has_sample: bool) -> Language | None:
    """The mechanism that is named, or the one that is meant; None of another word."""
    default = "sampled_suppression" if has_sample else "noisy_counts"
    word = default if mechanism is None else mechanism
    return next((language for name, language in LANGUAGES.items() if name == word), None)


def one_mechanism(data: Data) -> Broken:
    """The law that a policy says what its mechanism needs, and nothing of another's."""
    mechanism = data.get("mechanism")
    language = language_of(mechanism, has_sample="sample" in data)
    if language is not None:
        yield from language.laws(data)
    has_delta = language is None or language.has_delta
    delta = inside(data, "guarantee", "delta")
    found = fields.as_number(delta)
    if found is not None and (found != 0) != has_delta:
        law = "must be above 0 and below 1" if has_delta else f"must be 0 for {mechanism}"
        remedy = "" if has_delta else "it costs no δ"
        yield refusal(f"{law}, found {show(delta)}", remedy, at=("guarantee", "delta"))


def keeps_groups(data: Data) -> bool:
    """Whether the rows of a policy's mechanism are groups of people, of which a model can hold."""
    language = language_of(data.get("mechanism"), has_sample="sample" in data)
    return language is None or language.keeps_groups
