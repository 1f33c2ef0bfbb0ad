"""Noisy counts of public keys [TABLE]: a list that the policy declares, every key of it shown.

*Why it is private.* The numbers of all groups that there can be, listed or not, empty or not, with
an independent Z each, are the mechanism that [TABLE] prices: a unit more or less moves at most
``unit.groups`` of them by one, each from Z to Z + 1, and a unit that is replaced does both. What is
shown is a part of these numbers, and which part is in the claim: so it costs no more. No threshold
is needed, for that a key is shown tells nothing.

*People outside the list.* In which groups a unit counts is decided before the list is looked at, by
its own rows and the secret. So it is in ``unit.groups`` of all groups at most, and in no more of
those listed. Its place in a group that is not listed is not given to another one.

*Independence.* The noise is drawn by a key's number in the order of the keys listed, which is the
same whatever the table holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import prod
from typing import TYPE_CHECKING

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy
from policy_engine.kernel.mechanisms.pure import MOST_TUPLES, Key, domain_of
from policy_engine.kernel.nodes import Nodes
from policy_engine.kernel.types import Type
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim, Shown

_LISTED = frozenset({"text", "integer", "date", "timestamp"})


@frozen
class Listed(Noisy):
    """n + Z of each of the public ``keys``, and of no other group, whatever n + Z is.

    The keys are the product of the lists in ``keys``: each has rows of values, for as many of the
    shown columns, in their order, as the rows are wide.
    """

    keys: tuple[tuple[Key, ...], ...] = ()

    @property
    def size(self) -> int:
        """How many keys there are."""
        return prod(map(len, self.keys))

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        super().check(claim)
        require(claim.count is not None, "public keys have counts, which can be below 0")
        require(self.k == 1 and not self.table.is_open, "public keys have no least size")
        require(not self.groupings, "public keys are of one grouping")
        once = all(rows and len({*rows}) == len(rows) for rows in self.keys)
        require(
            once and self.size <= MOST_TUPLES,
            "public keys stand once, at most 10^5 of them",
        )
        first = 0
        for rows in self.keys:
            columns = claim.columns[first : first + len(rows[0])]
            fit = all(len(row) == len(columns) and all(map(_fits, columns, row)) for row in rows)
            require(fit, "a public key is a text, a whole number, a date or a time, as shown")
            first += len(columns)
        require(first == len(claim.columns), "a public key has a value for each shown column")

    def assumes(self, unit: str, source: str) -> Iterator[Assumption]:
        """That the keys are no result of looking."""
        yield Assumption.of("keys_listed")

    def shown_from(self, table: IntegerTable) -> int:
        """No count is shown below it: one of nobody has the least Z."""
        return table.least

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        return {**super().nodes(), "domain": domain_of(self.keys)}


def _fits(shown: Shown, value: str | int | date | None) -> bool:
    is_listed = shown.kind in _LISTED
    return is_listed and (value is None or Type(shown.kind).holds(value))  # type: ignore[arg-type]
