"""Sampled suppression [EXACT]: each unit is in with one probability; groups of k or more are shown.

With the recodes fixed in advance the release is (ε, δ)-DP: see ``accounting.exact``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.kernel.laws import require
from policy_engine.kernel.nodes import Identifier, Number, Text
from policy_engine.kernel.sources import Column, Rows
from policy_engine.kernel.types import EXACT

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim

MECHANISM = "sampled-suppression"
SAMPLE_BITS = 60
STEPS = frozenset({
    "keyed", "sampled", "people", "chosen", "kept", "counted", "looked", "recoded", "placed",
    "grouped", "fine", "spread", "drawn", "noised", "bounded", "released", "repeated",
    "numbered", "answered", "domain", "tuples",
})  # fmt: skip
"""The names that a text gives its own steps."""
DRAWN = "policy_engine_sample_{:015x}"


@dataclass(frozen=True)
class Secret:
    """Where the secret waits: one row of a relation. Without one the connection brings it."""

    relation: tuple[str, ...]
    release: str

    def __post_init__(self) -> None:
        named = bool(self.relation) and all(self.relation) and bool(self.release)
        require(named, "a secret waits in a relation, under the name of its release")
        is_step = len(self.relation) == 1 and self.relation[0].casefold() in STEPS
        require(not is_step, "a secret waits in a relation, and not in a step of the text")


def nodes_of(secret: Secret | None) -> dict[str, Any]:
    """What a template is given of where a secret waits."""
    if secret is None:
        return {"secret_relation": None, "secret_release": None}
    relation = [Identifier(part) for part in secret.relation]
    return {"secret_relation": relation, "secret_release": Text(secret.release)}


def bound_of(entry: int) -> tuple[Text, Text]:
    """60 bits that a hash is compared with, in hex digits and in digits of whole bytes."""
    digits = f"{entry:015x}"
    return Text(digits), Text(digits + "0")


class OfColumns:
    """A law that reads and shows the claim's columns, and nothing beside them and the count."""

    reads: ClassVar[tuple[Column, ...]] = ()
    before: ClassVar[tuple[str, ...]] = ()
    beside: ClassVar[tuple[str, ...]] = ()


class OfSample(OfColumns):
    """A law of a sample, whose groups are shown where they have ``k`` people or more."""

    k: int
    raw_first: bool
    template: ClassVar[str] = "sampled_suppression"
    mechanism: ClassVar[str] = MECHANISM
    source_tag: ClassVar[str] = "[EXACT]"

    def _check_groups(self, claim: Claim) -> None:
        require(self.k >= 2, "k must be at least 2")
        require(not claim.unit.counts_all, "a unit is in one group of a sample")
        check_raw_first(self.raw_first, claim)


@dataclass(frozen=True)
class Keyed(OfSample):
    """A unit is in iff its 60 bits, keyed by the secret, are below ``threshold``.

    ``raw_first``: raw values are counted before they are recoded, which is the same release.
    """

    threshold: int
    k: int
    raw_first: bool = False
    secret: Secret | None = None

    @property
    def rate(self) -> Decimal:
        """The probability that a unit is in, exactly: threshold / 2⁶⁰ has at most 60 places.

        >>> Keyed(1 << 59, 5).rate
        Decimal('0.5')
        """
        return Context(prec=80).divide(Decimal(self.threshold), Decimal(1 << SAMPLE_BITS))

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(0 < self.threshold < 1 << SAMPLE_BITS, "a rate lies between 2^-60 and 1")
        self._check_groups(claim)

    def nodes(self) -> dict[str, Any]:
        """What its template is given besides a claim's own values."""
        bound, bound_bytes = bound_of(self.threshold)
        return {
            "k": Number(self.k),
            "raw_first": self.raw_first,
            "percent": None,
            "bound": bound,
            "bound_bytes": bound_bytes,
            "drawn": Identifier(DRAWN.format(self.threshold)),
            **nodes_of(self.secret),
        }


@dataclass(frozen=True)
class Native(OfSample):
    """A row is in by the engine's own random numbers, with probability ``rate``."""

    rate: Decimal
    k: int
    raw_first: bool = False

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(0 < self.rate < 1, "a rate lies between 0 and 1")
        require(isinstance(claim.unit, Rows), "native sampling draws rows")
        self._check_groups(claim)

    def nodes(self) -> dict[str, Any]:
        """What its template is given besides a claim's own values."""
        return {
            "k": Number(self.k),
            "raw_first": self.raw_first,
            "percent": Number(self.rate.scaleb(2, context=EXACT)),
            **nodes_of(None),
        }


def check_raw_first(raw_first: bool, claim: Claim) -> None:
    """Raise ClaimError where raw values are grouped that may differ and group as one."""
    if raw_first:
        plain = all(groups_as_it_is(c.type.kind, c.type.collated) for c in claim.recoded)
        require(bool(claim.recoded) and plain, "raw values are grouped where equal ones look alike")


def groups_as_it_is(kind: str, collated: bool) -> bool:
    """Whether an engine groups raw values of a type by what they are, letter by letter."""
    return kind not in ("double", "other") and not collated
