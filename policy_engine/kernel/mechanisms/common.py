"""What the laws share, and what one is unless it says otherwise.

The kernel asks a law itself for all that it must know of it: no other module asks which law it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.laws import ClaimError, require
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.mechanisms.tables import CountedBy, Cut, Measure, Quantity
from policy_engine.kernel.nodes import Identifier, Nodes, Text
from policy_engine.kernel.sources import Column
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim

STEPS = frozenset({
    "own", "keyed", "sampled", "people", "chosen", "kept", "counted", "looked", "recoded", "placed",
    "grouped", "fine", "spread", "drawn", "noised", "bounded", "released", "repeated",
    "numbered", "answered", "domain", "tuples", "found", "beyond", "within", "typed", "classed",
    "gathered", "crowded", "lined", "ranked", "trimmed", "cut", "told",
    "valued", "seated", "taken", "weighed", "tallied", "spaced", "offered", "summed", "ladder",
    "missed", "distant", "tossed", "fallen", "picked",
})  # fmt: skip
"""The names that a text gives its own steps."""
GROUPING = "grouping"
"""The column that says by which grouping a row is counted, where there are several: 1, 2, …"""


@frozen
class Secret:
    """Where the secret waits: one row of a relation. Without one the connection brings it."""

    relation: tuple[str, ...]
    release: str

    def __post_init__(self) -> None:
        named = bool(self.relation) and all(self.relation) and bool(self.release)
        require(named, "a secret waits in a relation, under the name of its release")
        is_step = len(self.relation) == 1 and self.relation[0].casefold() in STEPS
        require(not is_step, "a secret waits in a relation, and not in a step of the text")


class ReleaseLaw:
    """A law of a release: what a mechanism is to the kernel, unless it says otherwise.

    ``template`` is the name of its query and of its folder. ``method`` is by what it is drawn: a
    secret, or the engine's own numbers. ``rests_on`` are the codes of what must hold of its draw.
    ``measures`` stand beside a group's count, made of ``quantities``, and ``quantiles`` behind
    them; everybody is counted once by each of ``groupings`` where there are some; ``cuts`` are of
    the whole release. It is of the ``number``-th of ``parts`` of units.
    """

    template: ClassVar[str]
    mechanism: ClassVar[str]
    method: ClassVar[Literal["keyed", "native"]] = "keyed"
    rests_on: ClassVar[tuple[str, ...]] = ("noise_alone", "limits_blind")
    is_sample: ClassVar[bool] = False
    numbers_rows: ClassVar[bool] = False  # rows without a key are drawn by their numbers
    is_pure: ClassVar[bool] = False  # it costs an ε and no δ
    promises: ClassVar[bool] = True  # an (ε, δ)
    k: int
    secret: Secret | None = None
    quantities: tuple[Quantity, ...] = ()
    measures: tuple[Measure, ...] = ()
    quantiles: tuple[Quantile, ...] = ()
    cuts: tuple[Cut, ...] = ()
    groupings: tuple[CountedBy, ...] = ()
    parts: int = 1
    number: int = 1

    @property
    def held(self) -> tuple[Quantity | Quantile, ...]:
        """What is made of values of rows."""
        return (*self.quantities, *self.quantiles)

    @property
    def reads(self) -> tuple[Column, ...]:
        """The columns that it reads beside those that are shown."""
        read = (each.column for each in self.held)
        return tuple(column for column in read if column is not None)

    @property
    def beside(self) -> tuple[str, ...]:
        """The names that it shows beside a group and its count."""
        shown: tuple[Measure | Quantile | Cut, ...] = (*self.measures, *self.quantiles, *self.cuts)
        return tuple(each.name for each in shown)

    @property
    def before(self) -> tuple[str, ...]:
        """The names that it shows before a group."""
        return (GROUPING,) if self.groupings else ()

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""

    def asks(self, claim: Claim) -> Iterable[str]:
        """What it asks of an engine, by the names of what engines lack."""
        chooses = ("choice",) if self.quantiles else ()
        return (*(("repeat",) if claim.count is None else ()), *chooses)

    def assumes(self, unit: str, source: str) -> Iterator[Assumption]:
        """What it rests on beside what every release does."""
        return iter(())

    def rate_stated(self, rate: Decimal, sampled_at: Decimal) -> Decimal:
        """The rate that a certificate rests on, for one that is written; never below the true one.

        Everybody takes part.
        """
        require(sampled_at == 1, "noise is priced for all of the source")
        return Decimal(1)

    def delta(self, groups: int, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
        """The least δ for which one release is (ε, δ)-DP for one unit, never below the true one.

        A unit is in ``groups`` groups at most, and in the sample with at most the ``rate``.
        """
        raise ClaimError("no (ε, δ) holds of such a law")

    def least_of(self, quantile: Quantile) -> int:
        """The least number of values, with noise, of which there is one for certain."""
        raise NotImplementedError

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        if self.secret is None:
            return {"secret_relation": None, "secret_release": None}
        relation = [Identifier(part) for part in self.secret.relation]
        return {"secret_relation": relation, "secret_release": Text(self.secret.release)}


class OfEverybody(ReleaseLaw):
    """A law by which every unit takes part."""

    rate: ClassVar[Decimal] = Decimal(1)


def check_raw_first(raw_first: bool, claim: Claim) -> None:
    """Raise ClaimError where raw values are grouped that may differ and group as one."""
    if raw_first:
        plain = all(groups_as_it_is(c.type.kind, c.type.collated) for c in claim.recoded)
        require(bool(claim.recoded) and plain, "raw values are grouped where equal ones look alike")


def groups_as_it_is(kind: str, collated: bool) -> bool:
    """Whether an engine groups raw values of a type by what they are, letter by letter."""
    return kind not in ("double", "other") and not collated
