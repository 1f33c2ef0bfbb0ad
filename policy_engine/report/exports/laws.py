"""What each law leaves unprotected, and what is computed from its output: in words of a registry.

Of a certificate without a claim, a sample's, there is no law to read: its facts say that it is one.
"""

from __future__ import annotations

from policy_engine.kernel.mechanisms import Inserted, Noisy, Randomised
from policy_engine.report.exports.fields import ExportSource

_PUBLIC = "Names of columns, recodes, filters, limits, chances and the query itself are public"
_SAMPLED = (
    "a shown count is that of the sample, without noise; who is in the sample stays unknown",
    "Nothing: a shown number is the count of the sample, or a row stands for a person of it.",
)


def unprotected(source: ExportSource) -> str:
    """Quantities that are shown without protection, or what protects those that are shown."""
    match source.claim and source.claim.law:
        case Noisy():
            own = "every shown count, sum and mean, and which groups are shown, is of noisy numbers"
        case Randomised():
            own = "so is how many people are in the source: everybody answers"
        case Inserted():
            own = "so is the list of combinations of which some are shown"
        case _:
            own = _SAMPLED[0]
    return f"{_PUBLIC}; {own}."


def afterwards(source: ExportSource) -> str:
    """What is computed from protected numbers alone."""
    match source.claim and source.claim.law:
        case Noisy() as law:
            means = [each.name for each in law.aggregates if each.clip.is_mean]
            texts = ["Groups below the limit are left out by their noisy count."]
            if law.offset:
                texts.append(f"{law.offset} is added to each noisy count, so that it estimates n.")
            if means:
                texts.append(f"Made of a noisy sum and a noisy count: {', '.join(means)}.")
            return " ".join(texts)
        case Randomised():
            counts = "Equal answers are counted." if source.facts["count"] else "Rows are sorted."
            return f"{counts} Estimates of how many people have a value are left to the reader."
        case Inserted():
            return "Nothing: the combinations are shown as they were drawn."
        case _:
            return _SAMPLED[1]


def by_chance(source: ExportSource) -> str | None:
    """Why sampling is private here; None where no sample is drawn."""
    if source.claim is not None and isinstance(source.claim.law, Noisy | Randomised | Inserted):
        return None
    return (
        f"groups of fewer than {source.facts['k']} people of the sample are left out, and ε and δ"
        " are of both steps together: of sampling alone they would not hold"
    )
