"""What a check of a certificate or release says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy_engine.kernel.promise import Bounded
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate


@frozen
class Verified:
    """The result of ``verify``, if no check failed.

    Fields:
        ``subject``: the name of the release in the certificate.
        ``checked``: the checks that succeeded, as sentences.
        ``unchecked``: the things that were not checked, as sentences.
        ``assumptions``: the assumptions of the certificate, as sentences. A person must decide
            whether they are true.
        ``certificate``: the certificate. None if the signed file is another document.
        ``numbers``: the numbers in a signed document that is not a certificate.
        ``is_recomputed``: True if a second computation confirmed δ or ``numbers``.
    """

    subject: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    assumptions: tuple[str, ...]
    certificate: Certificate | None = None
    numbers: tuple[tuple[str, str | int], ...] = ()
    is_recomputed: bool = True

    @property
    def is_certified(self) -> bool:
        """Whether anything is promised: of a release an (ε, δ)."""
        return self.certificate is None or isinstance(self.certificate.promise, Bounded)


@frozen
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
