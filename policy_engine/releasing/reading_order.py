"""The rows of a release as people read them: bins from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from policy_engine.attest.facts import claim_of
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Bins

_Line = tuple[Any, ...]
_Ranks = Mapping[int, Mapping[str, int]]


def in_reading_order(
    facts: Mapping[str, Any], names: Sequence[str], lines: Sequence[_Line]
) -> list[_Line]:
    """The rows of a file, which are sorted by what they show, with bins by their cuts.

    Labels are texts, so that ``<30`` stands behind ``100-199`` in the file. Every other column
    stays in its order there, and so does all of it where the certificate states no claim, or the
    rows have other columns than it says.

    >>> _ordered([("<9", 1), ("9-19", 2), (">=19", 3), (None, 4)], 0, {0: {"<9": 0, "9-19": 1}})
    [('<9', 1), ('9-19', 2), ('>=19', 3), (None, 4)]
    """
    try:
        columns = claim_of(facts).columns
    except ClaimError:
        columns = ()
    if any(len(line) != len(names) for line in lines):
        columns = ()
    ranks = {
        names.index(column.name): {label: n for n, label in enumerate(column.recode.labels)}
        for column in columns
        if isinstance(column.recode, Bins) and column.name in names
    }
    return _ordered(lines, 0, ranks)


def _ordered(lines: Sequence[_Line], place: int, ranks: _Ranks) -> list[_Line]:
    """Rows that are alike before ``place``, from there on in order."""
    if place > max(ranks, default=-1):
        return list(lines)
    alike = [(value, list(group)) for value, group in groupby(lines, itemgetter(place))]
    if (own := ranks.get(place)) is not None:
        alike.sort(key=lambda each: own.get(each[0], len(own)))
    return [line for _, group in alike for line in _ordered(group, place + 1, ranks)]
