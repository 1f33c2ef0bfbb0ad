"""Assumptions in words.

A certificate states codes, and every sentence is made here, so that a sentence can be improved
without unmaking what was signed.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping

from policy_engine.engines import ENGINES
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.assumptions import OF_ENGINE
from policy_engine.kernel.mechanisms.meanings import MEANINGS

SENTENCES: Mapping[str, str] = {
    "sample_drawn": (
        "the sample was drawn by {cipher} under a fresh 128-bit secret that stays unknown"
    ),
    "secret_fresh": (
        "the secret has at least 128 bits, is fresh for this release and stays unknown"
    ),
    "secret_waits": (
        "no reader of the release has access to the secrets relation while the secret is in it"
    ),
    "key_unique": "{unit} is unique in {source}",
    "view_rowwise": (
        "each row of the view {source} comes from the rows of one unit, and fails for none"
    ),
    "joined_public": "{relation} is the same, whichever people are in {source}",
    "joined_own": "each row of {relation} is of one person, who has the same {unit} in {source}",
    "joined_every_period": (
        "what {relation} says of a person belongs to no period: if the person has rows in m"
        " periods, m releases tell it"
    ),
    "source_sampled": (
        "{source} is a Bernoulli sample of its population, drawn in secret at the rate {rate}"
    ),
    "row_is_person": "one row of {source} is one person",
    "key_is_person": "each person has one {unit}, and people who share one count as one person",
    "forms_of_package": (
        "the forms of {engine} are those of the package {package}, which policy-engine did not"
        " measure: each does what its name says, and fails for no row"
    ),
    "source_stays": "{source} does not change while it is read",
    "sample_alone": (
        "nothing else made with this sample is published: it was drawn for this release alone"
    ),
    "noise_alone": (
        "nothing else made with this noise is published: it was drawn for this release alone"
    ),
    "recodes_blind": "the policy's recodings were chosen without looking at the source",
    "limits_blind": (
        "the policy's recodings, noise and limits were chosen without looking at the source"
    ),
    "period_stays": (
        "a row of {source} stays in its period: a row is two units if its {column} moves to another"
    ),
    "asked_blind": "nothing in the source was a reason to ask for this draw by hand",
    "csv_formed": "{source} is well-formed CSV, whichever people are in it",
    "texts_utf8": "every text in {source} is UTF-8, whichever people are in it",
}
"""What each code says, with the names of its parameters.

An engine's own stand in its table, a mechanism's own in what it means.
"""
_OWN = ChainMap(*({**meaning.sentences} for meaning in MEANINGS.values()))


def sentences_of(assumptions: Iterable[Assumption]) -> tuple[str, ...]:
    """What assumptions say, in their order."""
    return tuple(map(sentence_of, assumptions))


def sentence_of(assumption: Assumption) -> str:
    """What an assumption says.

    Raises KeyError for a code, an engine or parameters that are unknown.

    >>> sentence_of(Assumption.of("key_unique", unit="id", source="ids.csv"))
    'id is unique in ids.csv'
    """
    named = dict(assumption.parameters)
    if assumption.code.startswith(OF_ENGINE):
        return ENGINES[named["engine"]].assumes[assumption.code.removeprefix(OF_ENGINE)]
    return (SENTENCES.get(assumption.code) or _OWN[assumption.code]).format_map(named)
