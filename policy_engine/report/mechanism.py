"""How a release was made, from its certificate alone: steps, chances, and its query in clauses.

Every number here is public: k, rate or table stand in the certificate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.accounting.comparison import per_cent
from policy_engine.kernel.assumptions import ROW_UNIT
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.filters import words_of
from policy_engine.kernel.mechanisms.meaning import Chances
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import Drawn, Groups, People
from policy_engine.kernel.words import source_of
from policy_engine.policy.escapes import sql_lines
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen


@frozen
class Step:
    """A step of how a release was made."""

    name: str
    text: str


@frozen
class Bar:
    """A chance: of what, as a number from 0 to 1, and in words."""

    label: str
    share: float
    words: str


@frozen
class Bars:
    """Chances of one kind, under a caption."""

    caption: str
    bars: tuple[Bar, ...]

    @classmethod
    def of(cls, chances: Chances) -> Bars:
        """Chances as they are drawn."""
        bars = (Bar(label, float(chance), per_cent(chance)) for label, chance in chances.each)
        return cls(chances.caption, tuple(bars))


@frozen
class How:
    """What was done: the steps, the chances, and what a shown number means."""

    mechanism: str
    steps: tuple[Step, ...]
    chances: tuple[Bars, ...]
    meaning: tuple[str, ...]


def how(certificate: Certificate, found: tuple[str, ...] = ()) -> How:
    """How a release was made; ``found`` is what its rows estimate."""
    meaning = meaning_of(certificate.claim)
    return How(
        mechanism=certificate.claim.law.mechanism,
        steps=tuple(Step(name, text) for name, text in _steps(certificate)),
        chances=tuple(map(Bars.of, meaning.chances(certificate))),
        meaning=(*meaning.told(certificate), *found),
    )


def _steps(certificate: Certificate) -> Iterator[tuple[str, str]]:
    claim, meaning = certificate.claim, meaning_of(certificate.claim)
    yield "source", _source(certificate)
    if claim.filter:
        only = "; ".join(map(words_of, claim.filter))
        yield "filter", f"only rows of one kind take part: {only}"
    yield from meaning.sampling(certificate)
    yield "recode", f"{_recoded(claim)}, whatever the data"
    yield from meaning.steps()
    if models := certificate.terms.models:
        told = " and ".join(map(str, models))
        yield "models", f"classes that do not have {told} are left out, by the numbers here"
    is_rows = claim.count is None
    yield "release", "rows without counts" if is_rows else "one row a group, with its count"


def _recoded(claim: Claim) -> str:
    """How many columns are made coarser, and how many are shown as they are."""
    # The number of a grouping is a column of the release, and recodes nothing.
    count = len(claim.columns)
    columns = counted(count, "column")
    kept = sum(recode_meaning(column.recode).keeps for column in claim.columns)
    if not kept:
        return f"{columns}, each made coarser as the policy says"
    return (
        f"{columns}: {count - kept} made coarser as the policy says, {kept} shown as in the source"
    )


def _source(certificate: Certificate) -> str:
    claim, unit = certificate.claim, certificate.unit
    source = " with columns of ".join(
        (source_of(claim), *filter(None, [" and ".join(j.source.name for j in claim.joins)]))
    )
    if unit == ROW_UNIT:
        return f"{source}: one row is one person"
    who = f"{source}: a person is a value of {unit}"
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(order, Groups):
        return f"{who}, counted in {order.most} groups at most"
    if isinstance(order, Drawn):
        return f"{who}, of whose different rows one is drawn"
    return who if order is None else f"{who}, of whose rows one is kept"


_STEP = re.compile(r"^(?:WITH |\)?, )([a-z_]+[0-9]*) AS (?:[A-Z]+ )*\($")
_STEPS = {
    "sampled": "The people of the sample, and of their columns only those that are needed.",
    "people": "Everybody in the source, and of their columns only those that are needed.",
    "chosen": "Of each person's rows or groups those that count, drawn under the secret.",
    "kept": "Only whoever meets the policy's filter.",
    "counted": "Equal rows, counted once: the release is the same, and made faster.",
    "looked": "Each value beside its label in the policy's map.",
    "recoded": "Each column as it may be shown: whatever has no label becomes empty.",
    "placed": "Each person's groups, or different rows, numbered in a fixed order.",
    "found": "Each person once in each of their groups.",
    "beyond": "Who is in more groups than count.",
    "typed": "Texts and other types, read as the policy says; what is no such value is empty.",
    "classed": "How many people are in each group.",
    "within": "Each person in the groups that count.",
    "grouped": "How many people are in each group, before any noise.",
    "fine": "How many people there are by all columns together.",
    "spread": "Everybody once more for each set of columns that is counted by.",
    "drawn": "Secret random digits: nobody can foresee them without the secret.",
    "noised": "The random digits choose the noise from a fixed table; it is added to the number.",
    "bounded": "Means, kept between the ends that the policy fixed.",
    "cut": "Who is cut, by the limits that the policy fixed.",
    "told": "How many they are in the whole release, and their random digits.",
    "gathered": "What each person gives to each of their groups.",
    "crowded": "Who has more rows in a group than count.",
    "lined": "Their rows, numbered in a fixed order.",
    "ranked": "The same in a secret order.",
    "trimmed": "The first of them in that order, so many as count.",
    "valued": "The rows that count, one by one.",
    "seated": "Each person's groups, numbered in a fixed order.",
    "taken": "The same in a secret order.",
    "weighed": "The rows that count, in the groups that count.",
    "tallied": "How often each value is in each group.",
    "spaced": "The groups, numbered.",
    "offered": "Each group with every value that could be chosen, and with its own.",
    "summed": "How many of a group's values each of them is.",
    "ladder": "How many are no greater.",
    "missed": "By how many people each value is off the asked one.",
    "distant": "How much further each value is off than the best one of its group.",
    "tossed": "The values whose secret coin fell: the nearer one is, the likelier it does.",
    "fallen": "These in a secret order.",
    "picked": "The first of them.",
    "released": "Only what is large enough to be shown.",
    "repeated": "Each group as often as its count says.",
    "numbered": "The rows in an order that tells nothing.",
    "answered": "Each value, or by chance one of the public list in its place.",
    "domain": "The public lists of values.",
    "tuples": "Every combination of public values, and whether, or how many, people have it.",
}
_LOOKUP = "A public list: a value, and what it is shown as."
_LAST = {
    "SELECT": "What leaves: these columns and no others.",
    "FROM": "Of which step it is made.",
    "WHERE": "Only what is large enough to be shown.",
    "GROUP BY": "One row for each combination of shown values.",
    "HAVING": "Groups that are too small are left out.",
    "ORDER BY": "Sorted by what is shown, so that the order tells nothing of the source.",
}
_HEAD = "Whose query it is: the policy's name and the digest of its text."
_WORDS = re.compile(rf"^({'|'.join(_LAST)})\b")


@frozen
class Clause:
    """Some lines of a query, and what they do; None where no clause of it is explained."""

    lines: tuple[str, ...]
    meaning: str | None


def clauses(certificate: Certificate) -> tuple[Clause, ...]:
    """The query of a certificate, clause by clause."""
    steps = _clauses(sql_lines(certificate.query, certificate.engine))
    return tuple(Clause(tuple(lines), meaning) for lines, meaning in steps)


def _clauses(lines: list[str]) -> Iterator[tuple[list[str], str | None]]:
    """Lines of a printed query, cut where another step begins."""
    meaning, own = _HEAD, list[str]()
    in_steps = False
    for line in lines:
        step, word = _STEP.match(line), _WORDS.match(line)
        if (step or word) and own:
            yield own, meaning
            own = []
        if step:
            meaning, in_steps = _STEPS.get(step[1], _LOOKUP), True
        elif word:
            meaning = _LAST[word[1]]
        own.append(line)
    if own:
        yield own, meaning if in_steps or len(lines) < 10 else None
