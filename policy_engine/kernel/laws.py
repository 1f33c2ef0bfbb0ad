"""The laws of a claim: what no claim can be, said where it is made."""

from __future__ import annotations


class ClaimError(ValueError):
    """A value that no claim can have; the message is the law."""


def require(holds: bool, law: str) -> None:
    """Raise ClaimError with ``law`` unless it holds.

    >>> require(1 > 2, "k must be at least 2")
    Traceback (most recent call last):
    ...
    policy_engine.kernel.laws.ClaimError: k must be at least 2
    """
    if not holds:
        raise ClaimError(law)
