"""The rows of a release of public values, [LOCAL], [AB]: no others stand there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, product
from typing import TYPE_CHECKING

from policy_engine.attest.facts import Facts, law_of
from policy_engine.attest.results import Results
from policy_engine.kernel.mechanisms import Inserted, Listed, Pure, Randomised

if TYPE_CHECKING:
    import pyarrow as pa


def is_set(facts: Facts) -> bool:
    """Whether the release is a set of tuples, so that none of them stands there twice."""
    return isinstance(law_of(facts), Inserted)


def check_listed(facts: Facts, groups: pa.Table) -> Results:
    """That each certified key is a row of ``groups`` once, and no other; nothing of another law."""
    law = law_of(facts)
    if not isinstance(law, Listed):
        return Results()
    found = Counter(zip(*(column.to_pylist() for column in groups.columns), strict=True))
    wanted = Counter(tuple(chain.from_iterable(key)) for key in product(*law.keys))
    if found != wanted:
        return Results.refused("its groups are not the certified keys, each once")
    return Results.held("its groups are the certified keys, each once")


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
