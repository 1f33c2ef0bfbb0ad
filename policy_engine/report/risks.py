"""What a certificate does not rule out: groups that are alike, other releases, assumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.attest.facts import Facts
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Noisy, Pure
from policy_engine.kernel.sentences import ALWAYS, ALWAYS_NOISY, STAYS, WAITS

_MOST_COLUMNS = 30
Line = tuple[str | None, ...]


@dataclass(frozen=True)
class Alike:
    """Of a column: who has all the other shown values in common, has it in common too.

    ``known`` of ``combinations`` of the other columns show one value of it, with ``people`` of all
    that are shown.
    """

    column: str
    combinations: int
    known: int
    people: int
    of_people: int


@dataclass(frozen=True)
class Confirmation:
    """An assumption, asked of somebody; who confirms it, and when, is left to be filled in."""

    question: str
    assumption: str


@dataclass(frozen=True)
class Risks:
    """What remains. ``alike`` is None where no release was looked at, or its values are chances."""

    alike: tuple[Alike, ...] | None
    not_counted: str | None
    left_out: int
    side_channels: tuple[str, ...]
    questions: tuple[Confirmation, ...]


def risks(facts: Facts, claim: Claim | None, lines: tuple[Line, ...] | None) -> Risks:
    """What remains, by a certificate and the ``lines`` of its release; None: it was not read."""
    columns = tuple(facts["columns"])
    why = _not_counted(claim, lines, columns)
    counted = None if why or lines is None else tuple(_alike(facts, columns, lines))
    return Risks(
        alike=counted,
        not_counted=why,
        left_out=0 if why else max(0, len(columns) - _MOST_COLUMNS),
        side_channels=SIDE_CHANNELS,
        questions=tuple(Confirmation(_question(text), text) for text in facts["assumptions"]),
    )


SIDE_CHANNELS = (
    "how long a release took, and that it failed, are not hidden from whoever watches the run",
    "whoever reads the machine's memory, swap or spill files can know the sample or the noise",
    "the warehouse's own logs may keep the query and what it read",
)


def _not_counted(
    claim: Claim | None, lines: tuple[Line, ...] | None, columns: tuple[str, ...]
) -> str | None:
    if lines is None:
        return "the release was not looked at"
    if claim is not None and isinstance(claim.law, Pure):
        return "values are there by chance too, so that no row tells of a person for certain"
    if claim is not None and isinstance(claim.law, Noisy) and claim.law.groupings:
        return "everybody is counted by several sets of columns"
    return None if len(columns) > 1 else "there is one column, and nothing to tell it from"


def _alike(facts: Facts, columns: tuple[str, ...], lines: tuple[Line, ...]) -> Iterator[Alike]:
    groups = Counter[Line]()
    for line in lines:
        groups[line[: len(columns)]] += _size(facts, line, len(columns))
    for place, name in enumerate(columns[:_MOST_COLUMNS]):
        values: dict[Line, set[str | None]] = {}
        people: dict[Line, int] = {}
        for group, size in groups.items():
            others = (*group[:place], *group[place + 1 :])
            values.setdefault(others, set()).add(group[place])
            people[others] = people.get(others, 0) + size
        one = [others for others, found in values.items() if len(found) == 1]
        of_people, known = sum(people.values()), sum(people[others] for others in one)
        yield Alike(name, len(values), len(one), known, of_people)


def _size(facts: Facts, line: Line, place: int) -> int:
    return int(line[place] or 0) if facts["count"] else 1


def _question(text: str) -> str:
    """An assumption as a question that somebody can answer with yes.

    >>> _question("people does not change while it is read")
    'Did nobody write to people while it was read?'
    """
    if text in _QUESTIONS:
        return _QUESTIONS[text]
    if text.endswith(STAYS):
        return f"Did nobody write to {text.removesuffix(STAYS)} while it was read?"
    return f"Is it so that {text}?"


_QUESTIONS = {
    ALWAYS[0]: "Has nothing else left that was made from this sample, nor the sample itself?",
    ALWAYS_NOISY[0]: "Has nothing else left that was made with this noise, nor the noise itself?",
    ALWAYS[1]: "Did whoever chose columns and recodes choose them without looking at the source?",
    ALWAYS_NOISY[1]: (
        "Did whoever chose columns, recodes, noise and limits choose them without looking at the"
        " source?"
    ),
    WAITS: (
        "Could nobody who sees the release read the secrets relation while the secret was there?"
    ),
}
