"""What everybody calls a claim's source, and who is counted in it."""

from __future__ import annotations

from policy_engine.kernel.claim import Claim


def people_word(groups: int) -> str:
    """Of whom a sum of counts is, where a person counts in so many groups at most.

    >>> people_word(1), people_word(6)
    ('people', 'people, group by group')
    """
    return "people" if groups == 1 else "people, group by group"


def source_of(claim: Claim) -> str:
    """The source's path, or the parts of its name."""
    return claim.source.name
