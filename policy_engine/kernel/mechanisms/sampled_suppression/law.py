"""Sampled suppression [EXACT]: each unit is in with one probability; groups of k or more are shown.

With the recodes fixed in advance the release is (ε, δ)-DP: see ``accounting.exact``.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.accounting.noise import WHOLE
from policy_engine.accounting.one import certified_rate, delta_of_one
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import ReleaseLaw, Secret, check_raw_first
from policy_engine.kernel.nodes import Identifier, Nodes, Number, bound_of
from policy_engine.kernel.sources import Rows
from policy_engine.kernel.types import EXACT
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim

DRAWN = "policy_engine_sample_{:015x}"


class OfSample(ReleaseLaw):
    """A law of a sample, whose groups are shown where they have ``k`` people or more.

    ``raw_first``: raw values are counted before they are recoded, which is the same release.
    """

    raw_first: bool
    template: ClassVar[str] = "sampled_suppression"
    mechanism: ClassVar[str] = "sampled-suppression"
    source_tag: ClassVar[str] = "[EXACT]"
    is_sample: ClassVar[bool] = True
    rests_on: ClassVar[tuple[str, ...]] = ("sample_alone", "recodes_blind")

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(self.k >= 2, "k must be at least 2")
        require(not claim.unit.counts_all, "a unit is in one group of a sample")
        check_raw_first(self.raw_first, claim)

    def rate_stated(self, rate: Decimal, sampled_at: Decimal) -> Decimal:
        """The rate that a certificate rests on; never below the true one."""
        return certified_rate(rate, self.method, sampled_at)

    def delta(self, groups: int, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
        """The least δ of one release; a unit is in one group [EXACT]."""
        return delta_of_one(self.k, rate, epsilon, neighbours).delta

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        k = Number(self.k)
        return {"k": k, "raw_first": self.raw_first, "percent": None, **super().nodes()}


@frozen
class Keyed(OfSample):
    """A unit is in iff its 60 bits, keyed by the secret, are below ``threshold``."""

    threshold: int
    k: int
    raw_first: bool = False
    secret: Secret | None = None
    numbers_rows: ClassVar[bool] = True

    @property
    def rate(self) -> Decimal:
        """The probability that a unit is in, exactly: threshold / 2⁶⁰ has at most 60 places.

        >>> Keyed(1 << 59, 5).rate
        Decimal('0.5')
        """
        return Context(prec=80).divide(Decimal(self.threshold), Decimal(WHOLE))

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(0 < self.threshold < WHOLE, "a rate lies between 2^-60 and 1")
        super().check(claim)

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        bound, bound_bytes = bound_of(self.threshold)
        drawn = Identifier(DRAWN.format(self.threshold))
        return {**super().nodes(), "bound": bound, "bound_bytes": bound_bytes, "drawn": drawn}


@frozen
class Native(OfSample):
    """A row is in by the engine's own random numbers, with probability ``rate``."""

    rate: Decimal
    k: int
    raw_first: bool = False
    method: ClassVar[Literal["keyed", "native"]] = "native"

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(0 < self.rate < 1, "a rate lies between 0 and 1")
        require(isinstance(claim.unit, Rows), "native sampling draws rows")
        super().check(claim)

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        return {**super().nodes(), "percent": Number(self.rate.scaleb(2, context=EXACT))}
