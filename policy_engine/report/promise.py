"""The promise of a certificate, ε never without δ and unit; and what it does not rule out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from importlib.resources import files
from math import ceil, log10

from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.odds import guessed_right
from policy_engine.compile.column_names import promise_sentences
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.sentences import sentence_of
from policy_engine.values import frozen

Line = tuple[str | None, ...]
_LEAST, _MOST = Decimal("0.05"), Decimal(50)
"""The ends of the scale; what lies beyond them stands at its ends."""


@frozen
class Published:
    """A published deployment, as its own papers and pages say; ``at`` is its place on the scale."""

    what: str
    epsilon: str
    delta: str | None
    unit: str
    at: float


@frozen
class PromiseSaid:
    """What is promised to one person, and why these numbers, where somebody says so.

    ``sentence`` has the odds, rounded up; ``right`` of 100 guesses are right at most, a whole
    number for a picture. ``at`` is the place of ε on the scale of ``published``.
    """

    sentence: str
    right: int
    epsilon: str
    delta: str
    unit: str
    numbers: str
    neighbours: str
    justification: str | None
    at: float
    published: tuple[Published, ...]


def promise(certificate: Certificate, justification: str | None = None) -> PromiseSaid:
    """The promise of a certificate in words, and its numbers for pictures."""
    promised, unit = certificate.promise, certificate.unit
    epsilon, delta = promised.epsilon, promised.delta
    return PromiseSaid(
        sentence=" ".join(promise_sentences(epsilon, delta, promised.neighbours, unit)),
        right=ceil(guessed_right(epsilon, delta) * 100),
        epsilon=in_text(epsilon),
        delta=in_text(delta),
        unit=unit,
        numbers=f"ε = {in_text(epsilon)}, δ = {in_text(delta)}, unit: {unit}",
        neighbours=_NOTIONS[promised.neighbours],
        justification=justification,
        at=place(epsilon),
        published=published(),
    )


_NOTIONS = {
    ADD_REMOVE: (
        "the promise compares the source with one that has one person more or one person less"
        " (add_remove)"
    ),
    REPLACE_ONE: (
        "the promise compares the source with one in which another person replaces one person"
        " (replace_one)"
    ),
}


def place(epsilon: Decimal) -> float:
    """Where an ε stands on a logarithmic scale from 0.05 to 50, as a share of its length.

    >>> place(Decimal("0.05")), place(Decimal(5000)), round(place(Decimal(1)), 2)
    (0.0, 1.0, 0.43)
    """
    held = min(max(epsilon, _LEAST), _MOST)
    return log10(held / _LEAST) / log10(_MOST / _LEAST)


def published() -> tuple[Published, ...]:
    """Published deployments by their ε: units and δ differ, so that this is no ranking.

    >>> published()[0].what
    'Wikimedia, Russian editors'
    """
    text = files("policy_engine.report").joinpath("pages", "published.json").read_text("utf-8")
    return tuple(Published(**each, at=place(Decimal(each["epsilon"]))) for each in json.loads(text))


_MOST_COLUMNS = 30
SIDE_CHANNELS = (
    "people who watch the run see how long it takes, and whether it fails",
    "people who read the machine's memory, swap or spill files can find the sample or the noise",
    "the logs of the warehouse can keep the query and the data that it read",
)


@frozen
class Alike:
    """Of a column: of whom all the other values are known, one value of it alone is shown.

    ``known`` of ``combinations`` of the other columns show one value of it, with ``people`` of all
    that are shown. It is no more than a guess that others have it too: who has another may be in a
    group that is not shown.
    """

    column: str
    combinations: int
    known: int
    people: int
    of_people: int


@frozen
class AssumptionAsked:
    """An assumption, and as a question that somebody can answer with yes."""

    question: str
    assumption: str


@frozen
class Risks:
    """What remains: groups that are alike, side channels, and what is assumed, as questions.

    ``alike`` is None where the release was not read or its values are chances, for the reason in
    ``not_counted``; ``counted`` says of whom its numbers are.
    """

    alike: tuple[Alike, ...] | None
    counted: str
    not_counted: str | None
    left_out: int
    side_channels: tuple[str, ...]
    questions: tuple[AssumptionAsked, ...]


def risks(certificate: Certificate, lines: tuple[Line, ...] | None) -> Risks:
    """What remains of a release, by its certificate and the ``lines`` that it shows."""
    claim, columns = certificate.claim, certificate.columns
    why = _not_counted(claim, lines, columns)
    return Risks(
        alike=None if why or lines is None else tuple(_alike(claim, lines)),
        counted=meaning_of(claim).counted,
        not_counted=why,
        left_out=0 if why else max(0, len(columns) - _MOST_COLUMNS),
        side_channels=SIDE_CHANNELS,
        questions=tuple(
            AssumptionAsked(question(each), sentence_of(each)) for each in certificate.assumptions
        ),
    )


def _not_counted(
    claim: Claim, lines: tuple[Line, ...] | None, columns: tuple[str, ...]
) -> str | None:
    if lines is None:
        return "the release was not given"
    if why := meaning_of(claim).why_not_alike:
        return why
    return None if len(columns) > 1 else "the release has only one column"


def _alike(claim: Claim, lines: tuple[Line, ...]) -> Iterator[Alike]:
    columns, groups = claim.released, Counter[Line]()
    for line in lines:
        size = int(line[len(columns)] or 0) if claim.count else 1
        groups[line[: len(columns)]] += size
    for place, name in enumerate(columns[:_MOST_COLUMNS]):
        values: dict[Line, set[str | None]] = {}
        people = Counter[Line]()
        for group, size in groups.items():
            others = (*group[:place], *group[place + 1 :])
            values.setdefault(others, set()).add(group[place])
            people[others] += size
        one = [others for others, found in values.items() if len(found) == 1]
        in_one = sum(people[others] for others in one)
        yield Alike(name, len(values), len(one), in_one, people.total())


def question(assumption: Assumption) -> str:
    """An assumption as a question that somebody can answer with yes.

    >>> question(Assumption.of("source_stays", source="people"))
    'Did people stay unchanged while it was read?'
    """
    own = _QUESTIONS.get(assumption.code, "Is it true that {sentence}?")
    return own.format(sentence=sentence_of(assumption), **dict(assumption.parameters))


_QUESTIONS = {
    "source_stays": "Did {source} stay unchanged while it was read?",
    "sample_alone": "Did the sample stay secret, and everything else that was made from it?",
    "noise_alone": "Did the noise stay secret, and everything else that was made with it?",
    "recodes_blind": "Were the columns and recodes chosen without looking at the source?",
    "limits_blind": (
        "Were the columns, recodes, noise and limits chosen without looking at the source?"
    ),
    "secret_waits": (
        "While the secret was in the secrets relation, was this relation hidden from everybody who"
        " sees the release?"
    ),
}
