"""What a release of whole classes says first, and which attacks its models leave open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.mechanisms.meaning import Meaning
from policy_engine.kernel.mechanisms.whole_classes.law import WholeClasses
from policy_engine.kernel.models import LDiversity, Model, TCloseness

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate

NONE = "this release carries no (ε, δ)"
NO_GUARANTEE = (
    f"{NONE}: which groups it shows was decided by the people in them, and"
    " no account limits what it tells, alone or with other releases"
)


class ClassesMeaning(Meaning[WholeClasses]):
    """What is said of classes that are shown as they are: first that nothing is promised."""

    title: ClassVar[str] = "suppression of raw classes"

    def randomness(self, engine: str) -> str:
        """What is drawn for a release."""
        return "nothing is drawn"

    def said(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """What a shown number is: sentences, of no number by itself."""
        yield "", NO_GUARANTEE
        attacks = still_works(certificate.k, certificate.terms.models)
        yield from (("", f"{name} still works: {why}") for name, why in attacks)
        counted = self.count or "the number of a group's rows"
        yield "", f"{counted} is how many people of the source are in the group, as it is"

    def steps(self) -> Iterator[tuple[str, str]]:
        """The steps behind recoding, each with its name."""
        yield "count", "how many people are in each group"
        yield "suppress", f"classes of fewer than {self.law.k} people are left out"

    def visible(self, certificate: Certificate) -> dict[str, int]:
        """The least size of a class, which is always shown."""
        return {"": self.law.k}

    def described(self, method: str) -> Iterator[tuple[str, str]]:
        """Its numbers, each with its name."""
        yield "classes", "everybody, as it is"

    def unprotected(self) -> str:
        """Which quantities are shown without protection."""
        return "so is every count that is shown, and which classes are"

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        return "Nothing: no number is protected."


def still_works(k: int, models: Sequence[Model]) -> Iterator[tuple[str, str]]:
    """The attacks of the literature that such a release does not stop, by name, and why.

    >>> from decimal import Decimal
    >>> [name for name, _ in still_works(3, [LDiversity("pay", Decimal(2))])][:3]
    ['background knowledge', 'skewness', 'similarity']
    """
    diverse = {each.of for each in models if isinstance(each, LDiversity)}
    close = {each.of for each in models if isinstance(each, TCloseness)}
    ordered = {each.of for each in models if isinstance(each, TCloseness) and each.order}
    told = list(dict.fromkeys(each.of for each in models)) or ["any column, of which no model is"]
    homogeneous = "all people of a class can have one value of {}, which is then known of each"
    excluded = "who can exclude some values of {} for a person is left with fewer of them"
    skewed = "a value of {} can be far more frequent in a class than in the whole table"
    if k < 2 and not diverse:
        yield "linkage", "a class can be one person, whom another table names"
    for name, why, stopped in (
        ("homogeneity", homogeneous, diverse),
        ("background knowledge", excluded, set[str]()),
        ("skewness", skewed, close),
        ("similarity", "values of {} that differ can mean the same", ordered),
    ):
        if left := [column for column in told if column not in stopped]:
            yield name, why.format(", ".join(left))
    yield (
        "differencing",
        "of two releases, before and after one person or by other recodes, the difference can be"
        " that one person: no model is of two releases together",
    )
    yield (
        "membership",
        "who knows everybody else of a class at the limit sees by whether it is shown if a person"
        " is in the table: nothing bounds it",
    )


def first_lines(attacks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What stands before all else that is said of such a release."""
    yield NO_GUARANTEE
    yield "attacks that still work:"
    yield from (f"  - {name}: {why}" for name, why in attacks)
