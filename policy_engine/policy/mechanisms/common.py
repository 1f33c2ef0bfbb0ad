"""What mechanisms share in the language of policies, and what one is unless it says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel import mechanisms
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.mechanisms.meaning import Curve
from policy_engine.kernel.mechanisms.pure import Key
from policy_engine.policy.fields import Method, Neighbours
from policy_engine.policy.laws import Broken, Data, mapping, refusal
from policy_engine.policy.model_specs import PublicGroups
from policy_engine.policy.scalars import show
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.shapes import Shape, Solved
    from policy_engine.policy.auto import Guarantee
    from policy_engine.policy.mechanisms.measures import AskedQuantile, AskedQuantity
    from policy_engine.policy.models import PolicyDocument
    from policy_engine.policy.recodings import Recoding
    from policy_engine.policy.resolve import Policy

ROWS = ("privacy_unit", "rows")


@frozen
class LawParts:
    """A policy on a source, as its law is made of it: what is shown, and where the secret waits.

    ``keys`` are the public keys as the columns show them.
    """

    policy: Policy
    shown: tuple[Shown, ...]
    quantities: tuple[mechanisms.Quantity, ...]
    quantiles: tuple[mechanisms.Quantile, ...]
    secret: mechanisms.Secret | None
    raw_first: bool
    keys: tuple[tuple[Key, ...], ...]


class Protection:
    """What a policy draws so that its guarantee holds, with nothing left open.

    ``words`` is what people call it, ``law_name`` what a certificate does. ``by_chance``: values
    are there that nobody has. ``has_people``: its rows stand for people, so
    many as a count says. ``numbers_rows``: every answer is drawn by the number of its row.
    ``promises`` an (ε, δ).
    """

    words: ClassVar[str]
    law_name: ClassVar[str]
    is_sample: ClassVar[bool] = False
    by_chance: ClassVar[bool] = False
    has_people: ClassVar[bool] = True
    numbers_rows: ClassVar[bool] = False
    promises: ClassVar[bool] = True
    groups: int = 1
    quantities: tuple[AskedQuantity, ...] = ()
    measures: tuple[mechanisms.Measure, ...] = ()
    cuts: tuple[mechanisms.Cut, ...] = ()
    filled: tuple[str, ...] = ()
    quantiles: tuple[AskedQuantile, ...] = ()
    groupings: tuple[mechanisms.CountedBy, ...] = ()
    keys: PublicGroups = ()

    @property
    def noise_words(self) -> str:
        """What is added to a count, or that nothing is; empty where values are drawn."""
        return ""

    @property
    def chance_words(self) -> str:
        """What of a value is left to chance."""
        return ""

    def in_short(self, k: int) -> str:
        """What is drawn, with the numbers that it was given."""
        return self.words

    def least_shown(self, k: int) -> int:
        """The least number that a group is shown with, where every one has k people at least."""
        return k

    def half(self, k: int) -> int:
        """The least size of a group that is shown half of the time."""
        return 1

    def curve(self, policy: Policy) -> Callable[[str], Curve] | None:
        """By neighbours δ at each ε, never below the true one; None where a catalog tells it."""
        return None

    def visible(self, policy: Policy) -> Mapping[str, int]:
        """By grouping the least size of a group that is shown half of the time."""
        return {}

    def estimates(self, policy: Policy, count: str, size: int, error: Decimal) -> Iterator[str]:
        """How a count estimates a group of the source; ``error`` is of one of so many people."""
        return iter(())

    def kernel_law(self, asked: LawParts) -> mechanisms.Law:
        """The kernel's law. Errors: ClaimError where a column does not fit it."""
        raise NotImplementedError


@frozen
class ChosenNumbers:
    """What is drawn so that a guarantee holds."""

    k: int
    protection: Protection
    rate: Decimal = Decimal(1)
    method: Method = "keyed"


@frozen
class Written:
    """A policy as it is written, with its columns' recodings, under a notion of ``neighbours``."""

    document: PolicyDocument
    recodings: Mapping[str, Recoding]
    neighbours: Neighbours


@frozen
class Language:
    """A mechanism as policies write it: the ``laws`` of its keys, and what meets a guarantee.

    ``solve`` raises NoSolution. ``shape`` is what one edition is where its strength is not written
    but follows from an account; it raises DomainError where nothing is left open. ``numbers`` are
    what is drawn so that an edition is the event that was found for its shape. ``named`` is the
    policy with the law of its noise written in it, where it has one. ``has_delta``: it costs a δ
    above 0; ``keeps_groups``: its rows are groups of people, of which a model can hold.
    """

    laws: Callable[[Data], Broken]
    solve: Callable[[PolicyDocument, Guarantee], ChosenNumbers]
    shape: Callable[[Written], Shape]
    numbers: Callable[[PolicyDocument, Solved], ChosenNumbers]
    has_delta: bool = True
    keeps_groups: bool = True
    named: Callable[[PolicyDocument, str], PolicyDocument] = lambda document, law: document


def everybody(data: Data, counts: str) -> Broken:
    """The law that everybody takes part."""
    sampled_at = mapping(data.get("source")).get("sampled_at", 1)
    if sampled_at != 1:
        wrong = f"must be 1 where everybody {counts}, found {show(sampled_at)}"
        remedy = "leave it out: the price holds without it"
        yield refusal(wrong, remedy, at=("source", "sampled_at"))
