"""Sampled suppression in the language of policies: a sample is drawn, and small groups left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting.domain import EXACT
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.one import NATIVE_GRAIN, certified_rate, delta_of_one
from policy_engine.kernel.mechanisms import Keyed, Law, Native
from policy_engine.kernel.mechanisms.meaning import Curve
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.policy.auto import Guarantee, NoSolution, solve_auto
from policy_engine.policy.laws import Broken, Data, barred, refusal
from policy_engine.policy.mechanisms.common import (
    ROWS,
    ChosenNumbers,
    Language,
    LawParts,
    Protection,
    Written,
)
from policy_engine.policy.mechanisms.noisy_counts import KEYS
from policy_engine.policy.source_models import counts_all
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Shape, Solved
    from policy_engine.policy.models import PolicyDocument
    from policy_engine.policy.resolve import Policy


@frozen
class Sampled(Protection):
    """Each person is in with one probability, and small groups of the sample are left out."""

    words: ClassVar[str] = "sampled suppression"
    law_name: ClassVar[str] = Keyed.mechanism
    is_sample: ClassVar[bool] = True

    def estimates(self, policy: Policy, count: str, size: int, error: Decimal) -> Iterator[str]:
        """How a count estimates a group of the source; ``error`` is of one of so many people."""
        about = f"at {size:,} people give or take {error:.0f} (1 SD)"
        yield f"{count} / {in_text(policy.rate)} estimates a group of the source: {about}"

    def kernel_law(self, asked: LawParts) -> Law:
        """The kernel's law of a policy that draws a sample."""
        policy, raw_first = asked.policy, asked.raw_first
        if policy.method == "native":
            return Native(policy.rate, policy.k, raw_first)
        return Keyed(threshold(policy.rate), policy.k, raw_first, asked.secret)

    def curve(self, policy: Policy) -> Callable[[str], Curve]:
        """By neighbours δ at each ε, never below the true one."""
        rate = certified_rate(policy.rate, policy.method, policy.source.sampled_at)
        k = policy.k
        return lambda neighbours: lambda epsilon: delta_of_one(k, rate, epsilon, neighbours).delta

    def visible(self, policy: Policy) -> Mapping[str, int]:
        """The least size of a group that is shown half of the time."""
        from policy_engine.accounting.comparison import SAMPLED, Candidate
        from policy_engine.accounting.frontier import SamplePair

        return {"": Candidate(SAMPLED, SamplePair(policy.k, policy.rate)).half}


def sampled_laws(data: Data) -> Broken:
    """The laws of a policy that draws a sample, with nothing of noise."""
    for key in ("sample", "k"):
        if key not in data:
            yield refusal("is missing", at=(key,))
    wrong = "is of noisy_counts, and this policy draws a sample"
    yield from barred(data, KEYS, wrong, "remove it, or sample")
    if counts_all(data.get("privacy_unit")):
        wrong = "must be any, one or a mapping with first_by where a sample is drawn, found all"
        yield refusal(wrong, "one row of a person counts then", at=ROWS)


def solve_sample(document: PolicyDocument, guarantee: Guarantee) -> ChosenNumbers:
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
    return ChosenNumbers(k, Sampled(), rate, sample.method)


def sample_shape(written: Written) -> Shape:
    """k or the rate where it is written; of the source's own rate nothing is gained."""
    from policy_engine.accounting.shapes import SampledShape

    document = written.document
    assert document.sample is not None  # by the laws
    k, rate = document.k, document.sample.rate
    return SampledShape(
        k if isinstance(k, int) else None,
        None if rate == "auto" else certified_rate(rate, document.sample.method),
    )


def sample_numbers(document: PolicyDocument, solved: Solved) -> ChosenNumbers:
    """The rate as it is written: an engine's own sample is drawn at a little more."""
    from policy_engine.accounting.events import SampledSuppression

    event, sample = solved.event, document.sample
    assert isinstance(event, SampledSuppression)
    assert sample is not None  # by the laws
    grain = NATIVE_GRAIN if sample.method == "native" else Decimal(0)
    rate = EXACT.subtract(Decimal(str(event.rate)), grain)
    if rate <= 0:
        raise NoSolution("no rate is small enough")
    return ChosenNumbers(event.k, Sampled(), rate, sample.method)


LANGUAGE = Language(sampled_laws, solve_sample, sample_shape, sample_numbers)
