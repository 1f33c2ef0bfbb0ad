"""How a release was made, from its certificate alone: the steps, and how likely a group is shown.

Every number here is public: k, rate or table stand in the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from policy_engine.accounting.comparison import SAMPLED, Candidate, per_cent
from policy_engine.accounting.frontier import Pair
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.facts import Facts, models_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.estimated import all_shown
from policy_engine.kernel.estimates import part
from policy_engine.kernel.filters import Filter
from policy_engine.kernel.mechanisms import (
    Aggregate,
    Inserted,
    IntegerTable,
    Listed,
    Noisy,
    Randomised,
)
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Drawn, Groups, People
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.words import source_of
from policy_engine.policy.scalars import counted
from policy_engine.releasing.meaning import Meaning


@dataclass(frozen=True)
class Step:
    """One step from the source to the release."""

    name: str
    text: str


@dataclass(frozen=True)
class Bar:
    """A chance: of what, as a number from 0 to 1, and in words."""

    label: str
    share: float
    words: str

    @classmethod
    def of(cls, label: str, chance: Decimal) -> Bar:
        """That of a chance."""
        return cls(label, float(chance), per_cent(chance))


@dataclass(frozen=True)
class Bars:
    """Chances of one kind, under a caption."""

    caption: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class How:
    """What was done: the steps, the chances, and what a shown number means."""

    mechanism: str
    steps: tuple[Step, ...]
    chances: tuple[Bars, ...]
    meaning: tuple[str, ...]


def how(facts: Facts, claim: Claim | None, found: tuple[str, ...] = ()) -> How:
    """What a certificate says; ``found`` is what the rows of a release estimate."""
    meaning = Meaning.of(facts)
    told = () if meaning is None else tuple(meaning.told())
    return How(
        facts["mechanism"], tuple(_steps(facts, claim)), tuple(_bars(facts, claim)), (*told, *found)
    )


def _steps(facts: Facts, claim: Claim | None) -> Iterator[Step]:
    yield Step("source", _source(facts, claim))
    if claim is not None and claim.filter:
        only = "; ".join(map(filter_words, claim.filter))
        yield Step("filter", f"only rows of one kind take part: {only}")
    law = None if claim is None else claim.law
    if law is None or not isinstance(law, Noisy | Randomised | Inserted):
        rate = in_text(Decimal(facts["rate"]) / Decimal(facts["sampled_at"]))
        yield Step("sample", f"each person is in with probability {rate}, drawn in secret")
    yield Step("recode", f"{_recoded(facts, claim)}, whatever the data")
    yield from _of_law(facts, law)
    if models := models_of(facts):
        told = " and ".join(map(str, models))
        yield Step("models", f"classes that do not have {told} are left out, by the numbers here")
    form = "one row a group, with its count" if facts["form"] == "counts" else "rows without counts"
    yield Step("release", form)


def _recoded(facts: Facts, claim: Claim | None) -> str:
    """How many columns are made coarser, and how many are shown as they are."""
    columns = counted(len(facts["columns"]), "column")
    if claim is None:
        return f"{columns}, each as the policy says"
    kept = sum(isinstance(column.recode, Keep) for column in claim.columns)
    if not kept:
        return f"{columns}, each made coarser as the policy says"
    coarser = len(facts["columns"]) - kept
    return f"{columns}: {coarser} made coarser as the policy says, {kept} shown as in the source"


def _of_law(facts: Facts, law: object) -> Iterator[Step]:
    match law:
        case Noisy():
            yield Step("count", "how many people are in each group" + _several(law))
            yield Step("noise", "; ".join(_noises(law)))
            if isinstance(law, Listed):
                yield Step("list", all_shown(law, str(facts["count"])))
                return
            least = f"a group is shown from {law.least_shown} on"
            some = "one person" if law.k == 1 else f"{law.k} people"
            yield Step("suppress", f"{least}, so that it has at least {some} for certain")
        case Randomised():
            yield Step(
                "randomise", "each value stays, or by chance one of a public list takes its place"
            )
        case Inserted():
            yield Step("look", f"which of {law.domain} public combinations somebody has")
            yield Step("randomise", "some are left out, and some that nobody has are put in")
        case _:
            yield Step("count", "how many people of the sample are in each group")
            yield Step("suppress", f"groups of fewer than {facts['k']} of the sample are left out")


def _source(facts: Facts, claim: Claim | None) -> str:
    name = "" if claim is None else f"{source_of(claim)}: "
    if facts["unit"] == "row":
        return f"{name}one row is one person"
    who = f"{name}a person is a value of {facts['unit']}"
    order = claim.unit.order if claim is not None and isinstance(claim.unit, People) else None
    if isinstance(order, Groups):
        return f"{who}, counted in {order.most} groups at most"
    if isinstance(order, Drawn):
        return f"{who}, of whose rows one is drawn"
    return who if order is None else f"{who}, of whose rows one is kept"


def filter_words(each: Filter) -> str:
    """Which rows take part, by one column."""
    if each.members:
        return f"{each.column.name} is {', '.join(map(str, each.members))}"
    low = "" if each.at_least is None else f" from {each.at_least} on"
    high = "" if each.below is None else f" below {each.below}"
    return f"{each.column.name}{low}{high}"


def _several(law: Noisy) -> str:
    own = (f"the {_kind(each)} of {each.column.name} ({each.name})" for each in law.aggregates)
    beside = f", with {', '.join(own)} beside it" if law.aggregates else ""
    ways = f", once by each of {len(law.groupings)} groupings" if law.groupings else ""
    return f"{beside}{ways}"


def _kind(each: Aggregate) -> str:
    return "mean" if each.clip.is_mean else "sum"


def _noises(law: Noisy) -> Iterator[str]:
    """The noise of the counts, of each grouping that has its own, and of each sum and mean."""
    sums = tuple(each.table for each in law.aggregates)
    own = ((f"by {', '.join(each.columns)} ", each.tables) for each in law.groupings if each.tables)
    for where, (counts, *others) in (("", (law.table, *sums)), *own):
        yield f"{where}{_noise(counts)} each count"
        for each, table in zip(law.aggregates, others, strict=True):
            drawn = _noise(table, digits_of(each.clip.grain * each.unit))
            of = f"of which the mean {each.name} is made" if each.clip.is_mean else each.name
            yield f"{where}{drawn} each sum {of}"


def _noise(table: IntegerTable, step: str = "1") -> str:
    """What is drawn, in multiples of ``step``; what it is added to or taken from is said next."""
    times = "" if step == "1" else f"{step} times "
    if table.is_open:
        return f"{times}a random whole number of {table.least} or more is taken from"
    return f"{times}a random whole number from {table.least} to {table.largest} is added to"


def _bars(facts: Facts, claim: Claim | None) -> Iterator[Bars]:
    law = None if claim is None else claim.law
    if isinstance(law, Randomised) and claim is not None:
        names = (shown.name for shown in claim.columns)
        own = zip(names, law.responses, strict=True)
        bars = tuple(Bar.of(name, each.truth + part(each.share)) for name, each in own)
        yield Bars("How often a value that is shown is the person's own", bars)
    elif isinstance(law, Inserted):
        there, nobody = part(law.shown), part(law.inserted)
        pair = (Bar.of("somebody has it", there), Bar.of("nobody has it", nobody))
        yield Bars("How likely a combination is shown", pair)
    elif not isinstance(law, Listed):
        yield from (_shown(name, each) for name, each in _candidates(facts, law))


def _candidates(facts: Facts, law: object) -> Iterator[tuple[str, Candidate]]:
    if not isinstance(law, Noisy):
        rate = Decimal(facts["rate"]) / Decimal(facts["sampled_at"])
        yield "", Candidate(SAMPLED, Pair(facts["k"], rate))
        return
    names = [f" by {', '.join(each.columns)}" for each in law.groupings] or [""]
    for name, tables in zip(names, law.tables, strict=True):
        yield name, Candidate("", tables[0], law.k)


def _shown(name: str, own: Candidate) -> Bars:
    bars = tuple(Bar.of(f"{size:,} people", chance) for size, chance in own.chances)
    return Bars(f"How likely a group of so many people is shown{name}", bars)
