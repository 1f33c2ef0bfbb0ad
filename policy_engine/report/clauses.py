"""A certified query in its steps, each with what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.attest.facts import Facts
from policy_engine.engines import ENGINES
from policy_engine.policy.escapes import escaped, sql_lines


@dataclass(frozen=True)
class Clause:
    """Some lines of a query, and what they do; nothing where it is not known."""

    lines: tuple[str, ...]
    meaning: str | None


_STEP = re.compile(r"^(?:WITH |\)?, )([a-z_]+[0-9]*) AS (?:[A-Z]+ )*\($")
_STEPS = {
    "sampled": "The people of the sample, and of their columns only those that are needed.",
    "people": "Everybody in the source, and of their columns only those that are needed.",
    "chosen": "Of each person's rows or groups those that count, drawn under the secret.",
    "kept": "Only whoever meets the policy's filter.",
    "counted": "Equal rows, counted once: the release is the same, and made faster.",
    "looked": "Each value beside its label in the policy's map.",
    "recoded": "Each column as it may be shown: whatever has no label becomes empty.",
    "placed": "In which groups each person is.",
    "grouped": "How many people are in each group, before any noise.",
    "fine": "How many people there are by all columns together.",
    "spread": "Everybody once more for each set of columns that is counted by.",
    "drawn": "Secret random digits: nobody can foresee them without the secret.",
    "noised": "The random digits choose the noise from a fixed table; it is added to the number.",
    "bounded": "Means, kept between the ends that the policy fixed.",
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


def clauses(facts: Facts) -> tuple[Clause, ...]:
    """The query of a certificate; of one that was read and not printed, whole and unexplained."""
    engine = facts["dialect"]
    if engine not in ENGINES or facts.get("claim") is None:
        return (Clause(tuple(map(escaped, facts["query"].split("\n"))), None),)
    return tuple(_clauses(sql_lines(facts["query"], engine)))


def _clauses(lines: list[str]) -> Iterator[Clause]:
    """Lines of a printed query, cut where another step begins."""
    meaning, own = _HEAD, list[str]()
    in_steps = False
    for line in lines:
        step, word = _STEP.match(line), _WORDS.match(line)
        starts = step or (word and not line.startswith(" "))
        if starts and own:
            yield Clause(tuple(own), meaning)
            own = []
        if step:
            meaning, in_steps = _STEPS.get(step[1], _LOOKUP), True
        elif word and starts:
            meaning = _LAST[word[1]]
        own.append(line)
    if own:
        yield Clause(tuple(own), meaning if in_steps or len(lines) < 10 else None)
