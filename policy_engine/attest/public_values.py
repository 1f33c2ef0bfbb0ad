"""The rows of a release of public values, [LOCAL], [AB]: no others stand there."""

from __future__ import annotations

from collections.abc import Iterable

from policy_engine.attest.facts import Facts, law_of
from policy_engine.attest.results import Results
from policy_engine.kernel.mechanisms import Inserted, Pure, Randomised


def is_set(facts: Facts) -> bool:
    """Whether the release is a set of tuples, so that none of them stands there twice."""
    return isinstance(law_of(facts), Inserted)


def check_public(facts: Facts, columns: Iterable[Iterable[object]]) -> Results:
    """That each column shows values of its public list alone; nothing of another mechanism."""
    law = law_of(facts)
    if not isinstance(law, Pure):
        return Results()
    lists = [each.values for each in law.responses] if isinstance(law, Randomised) else law.values
    pairs = zip(facts["columns"], columns, lists, strict=True)
    wrong = [name for name, shown, values in pairs if not set(shown) <= set(values)]
    if wrong:
        return Results.refused(f"values that are not public stand in: {', '.join(wrong)}")
    return Results.held("it shows values of the public lists alone")
