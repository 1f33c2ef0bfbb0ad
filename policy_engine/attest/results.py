"""What a check of a certificate or release says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verified:
    """What was checked and held, what was not looked at, and what the certificate assumes.

    ``is_proved``: its SQL was, again; of other certificates than a release's, all that they state.
    ``is_recomputed``: so was its δ, by the second route; of others than a release's their numbers.
    """

    subject: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    assumptions: tuple[str, ...]
    facts: Mapping[str, Any]
    is_proved: bool = True
    is_recomputed: bool = True


@dataclass(frozen=True)
class Results:
    """What held, the reasons to refuse, and what could not be looked at.

    ``is_recomputed``: no δ in it is the accountant's word alone.

    >>> Results.held("a") + Results.refused("b")
    Results(checked=('a',), reasons=('b',), unchecked=(), is_recomputed=True)
    """

    checked: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    is_recomputed: bool = True

    def __add__(self, other: Results) -> Results:
        return Results(
            self.checked + other.checked,
            self.reasons + other.reasons,
            self.unchecked + other.unchecked,
            self.is_recomputed and other.is_recomputed,
        )

    @classmethod
    def held(cls, *checked: str) -> Results:
        """Checks that held."""
        return cls(checked)

    @classmethod
    def refused(cls, *reasons: str) -> Results:
        """Reasons to refuse."""
        return cls((), reasons)
