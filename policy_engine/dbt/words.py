"""What a release promises and what its columns hold, in the words that dbt's docs show a reader."""

from __future__ import annotations

from collections import defaultdict

from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.odds import odds_sentence
from policy_engine.dbt.release_model import ReleaseModel
from policy_engine.dbt.texts import spaced
from policy_engine.kernel.filters import words_of
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Policy
from policy_engine.policy.timing import PeriodOf, schedule_words

RELEASE = "**A certified release**"
"""How the words about a release begin."""
COLUMN = "Released as:"
"""How the words about a column begin."""
EDITION_WORDS = "The edition that the row is of: its rows alone are what its certificate is of."
_NEIGHBOURS = {
    "add_remove": "if any one person were missing from it, or one more were in it",
    "replace_one": "if the data of any one person in it were different",
}


def release_words(model: ReleaseModel) -> str:
    """What is promised of a release, for who has to approve it."""
    policy, certificate = model.policy, model.certificate
    epsilon, delta = policy.guarantee.epsilon, certificate.promise.delta
    said = odds_sentence(epsilon, delta, policy.guarantee.neighbours).removesuffix(".")
    about, said_of = " ".join(policy.description.split()), _said(model)
    counted = said_of[policy.release.count_as] if policy.release.form == "counts" else []
    kept = " and ".join(map(words_of, certificate.claim.filter)) if policy.filter else ""
    paragraphs = [
        f"{RELEASE} of the policy `{policy.file.name}`" + (f": {about}" if about else "."),
        f"Guarantee: whatever is published here would have been published with almost the same"
        f" chance {_NEIGHBOURS[policy.guarantee.neighbours]}. {said}"
        f" (ε = {in_text(epsilon)}, δ = {in_text(delta)}, source: {model.node.label}).",
        f"Who is protected: {_unit(model)}{f' A row counts only where {kept}.' if kept else ''}",
        f"What it says: {'; '.join([*counted, *said_of['']])}.",
        _drawn(policy),
    ]
    return spaced("\n\n".join(paragraphs))


def _drawn(policy: Policy) -> str:
    """How often it is drawn."""
    if policy.schedule is None:
        return (
            "It is drawn once, and a rebuild changes nothing. Another draw is another version of"
            " the model, and has a price of its own."
        )
    where = (
        "Each edition adds its rows" if policy.release.append else "Each takes the last one's place"
    )
    period = isinstance(policy.schedule, PeriodOf)
    only = " Each reads only the rows of its period." if period else ""
    return (
        f"It has editions ({schedule_words(policy.schedule)}), and the guarantee is of each.{only}"
        f" {where} when it is certified; a rebuild changes nothing."
    )


def _said(model: ReleaseModel) -> dict[str, list[str]]:
    """What the page says of each column of a number, and of all of them under no name."""
    certificate, found = model.certificate, defaultdict[str, list[str]](list)
    for name, sentence in meaning_of(certificate.claim).said(certificate):
        found[name].append(sentence)
    return found


def _unit(model: ReleaseModel) -> str:
    source = model.policy.source
    if source.key is None:
        return "every row is a person."
    if source.unique:
        return f"a row, known by its {source.key}, is a person."
    one = f"a person is one value of {source.key}"
    if source.counts_all:
        return f"{one}, in every group that one of its rows is in."
    if source.draws_a_row:
        return f"{one}, of whom one row counts, drawn at random."
    order = ", ".join(f"{name} {way}" for name, way in source.order_by)
    return f"{one}, of whom one row counts: the first by {order}."


def column_words(recoding: Recoding, missing: str | None = None) -> str:
    """What a released column holds; ``missing`` stands there for NULL."""
    named = "" if missing is None else f" What is missing is shown as {missing}."
    return spaced(f"{COLUMN} {recode_meaning(recoding).released}{named}")


def number_words(model: ReleaseModel) -> dict[str, str]:
    """What the column of each number holds, and how far it is off."""
    release, said = model.policy.release, _said(model)
    if release.form == "counts":
        said.setdefault(release.count_as, ["how often the row is shown"])
    return {name: spaced(f"{'; '.join(told)}.") for name, told in said.items() if name}
