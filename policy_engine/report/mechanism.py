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
        meaning=(*found, *meaning.told(certificate)),
    )


def _steps(certificate: Certificate) -> Iterator[tuple[str, str]]:
    claim, meaning = certificate.claim, meaning_of(certificate.claim)
    yield "source", _source(certificate)
    edition = certificate.terms.edition
    if edition is not None and edition.column:
        yield "edition", f"{edition.words}; no other rows are read"
    if claim.filter:
        only = "; ".join(map(words_of, claim.filter))
        yield "filter", f"only these rows are used: {only}"
    yield from meaning.sampling(certificate)
    yield "recode", f"{_recoded(claim)}; this is the same for any data"
    yield from meaning.steps()
    if models := certificate.terms.models:
        told = " and ".join(map(str, models))
        yield "models", f"classes that do not have {told} are left out, judged by the shown numbers"
    is_rows = claim.count is None
    yield "release", "rows without counts" if is_rows else "one row for each group, with its count"


def _recoded(claim: Claim) -> str:
    """How many columns are made coarser, and how many are shown as they are."""
    # The number of a grouping is a column of the release, and recodes nothing.
    count = len(claim.columns)
    columns = counted(count, "column")
    kept = sum(recode_meaning(column.recode).keeps for column in claim.columns)
    if not kept:
        return f"{columns}, each is made coarser by the policy"
    return f"{columns}: {count - kept} made coarser by the policy, {kept} shown as in the source"


def _source(certificate: Certificate) -> str:
    claim, unit = certificate.claim, certificate.unit
    source = " with columns of ".join(
        (source_of(claim), *filter(None, [" and ".join(j.source.name for j in claim.joins)]))
    )
    if unit == ROW_UNIT:
        return f"{source}: each row is one person"
    who = f"{source}: each value of {unit} is one person"
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(order, Groups):
        return f"{who}, who counts in at most {order.most} groups"
    if isinstance(order, Drawn):
        return f"{who}; one of the person's different rows is drawn"
    return who if order is None else f"{who}; one row of the person is used"


_STEP = re.compile(r"^(?:WITH |\)?, )([a-z_]+[0-9]*) AS (?:[A-Z]+ )*\($")
_STEPS = {
    "sampled": "The people of the sample, with only the needed columns.",
    "people": "Everybody in the source, with only the needed columns.",
    "chosen": "The rows or groups of each person in a secret order: the first of them count.",
    "kept": "Only the rows that meet the policy's filter.",
    "counted": "Equal rows are put together with their number. This only saves time.",
    "looked": "Each value beside its label in the policy's map.",
    "recoded": "Each column as it can be shown. A value without a label becomes empty.",
    "placed": "Each person's groups, or different rows, numbered in a fixed order.",
    "found": "Each person once in each of their groups.",
    "beyond": "People who are in more groups than can count.",
    "typed": "Each value as the type that the policy gives. A value of no such type becomes empty.",
    "classed": "How many people are in each group.",
    "within": "Each person, only in the groups that count.",
    "grouped": "How many people are in each group, before any noise.",
    "fine": "How many people are in each combination of all columns.",
    "spread": "Everybody again for each set of columns that groups are counted by.",
    "drawn": "Secret random digits. Nobody can predict them without the secret.",
    "noised": "The random digits choose noise from a fixed table. It is added to the number.",
    "bounded": "Means, held between the two limits that the policy gives.",
    "cut": "For each person: whether a limit of the policy cuts values or groups of this person.",
    "told": "How many people are cut in the whole release, and the random digits for this number.",
    "gathered": "What each person adds to each of their groups.",
    "crowded": "People who have more rows in a group than can count.",
    "lined": "The rows of these people, numbered in a fixed order.",
    "ranked": "The same rows in a secret order.",
    "trimmed": "The first rows in this order, as many as can count.",
    "valued": "The rows that count, one by one.",
    "seated": "Each person's groups, numbered in a fixed order.",
    "taken": "The same groups in a secret order.",
    "weighed": "The rows that count, in the groups that count.",
    "tallied": "How often each value is in each group.",
    "spaced": "The groups, numbered.",
    "offered": "Each group with every value that could be chosen, and with its own.",
    "summed": "How often each value is in its group.",
    "ladder": "How many values of the group are not greater.",
    "missed": "By how many steps each value misses the asked quantile.",
    "distant": "How much more each value misses than the best value of its group.",
    "tossed": "A secret coin for each value lets it stay or not: a better value stays more often.",
    "fallen": "The values that stayed, in a secret order.",
    "picked": "The first value in this order.",
    "released": "Only groups that are large enough to be shown.",
    "repeated": "Each group, repeated as often as its count says.",
    "numbered": "The rows, numbered in sorted order.",
    "answered": "Each value. By chance, a value from the public list takes its place.",
    "domain": "The public lists of values.",
    "tuples": "Every combination of public values, and whether, or how many, people have it.",
}
_LOOKUP = "A public list: each value, and the label that is shown for it."
_LAST = {
    "SELECT": "The columns that are published. No other column is published.",
    "FROM": "The step that the published rows come from.",
    "WHERE": "Only groups that are large enough to be shown.",
    "GROUP BY": "One row for each combination of shown values.",
    "HAVING": "Groups that are too small are left out.",
    "ORDER BY": "Sorted by the shown values, so the order shows nothing else about the source.",
}
_HEAD = "The name of the policy, and the digest of its text."
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
