"""What a median or another quantile beside a count is, and how far it is off, in ranks."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import ceil
from typing import Protocol

from policy_engine.accounting.choice_law import within_best
from policy_engine.kernel.mechanisms.tables import Clip
from policy_engine.kernel.types import digits_of
from policy_engine.values import frozen

_HALF = Decimal("0.5")
_MOSTLY = 0.95


class ChosenBeside(Protocol):
    """A quantile, of a claim or of a policy."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def clip(self) -> Clip:
        """How its values are held."""

    @property
    def at(self) -> Decimal:
        """Which it is."""

    @property
    def candidates(self) -> int:
        """Of how many values one is chosen."""


def quantile_words(chosen: ChosenBeside, name: str, *, many: bool) -> str:
    """What a quantile of the column ``name`` is: over whom; of people with ``many`` rows.

    >>> from policy_engine.kernel.mechanisms import Clip
    >>> from policy_engine.policy.mechanisms.measures import AskedQuantile
    >>> asked = AskedQuantile("stay", "days", Clip(0, 60, rows=20), Decimal("0.5"), 1)
    >>> quantile_words(asked, "days", many=True)
    "the median of days over the rows with a value, at most 20 of each person's, drawn at random"
    """
    clip = chosen.clip
    kind = "median" if chosen.at == _HALF else f"{digits_of(chosen.at)} quantile"
    values = " with a value"
    if clip.absent is not None:
        values = f", a missing value as {digits_of(clip.absent * clip.unit)}"
    if clip.per != "row":
        return f"the {kind} over the people{values} of each one's mean of {name}"
    drawn = f", at most {clip.rows} of each person's, drawn at random" if many else ""
    return f"the {kind} of {name} over the {'rows' if many else 'people'}{values}{drawn}"


def quantile_in_full(chosen: ChosenBeside, name: str, *, many: bool) -> str:
    """The same, and of which values one is chosen."""
    low, high, unit = _ends(chosen)
    held = f"held between {low} and {high}, and one of the multiples of {unit} there"
    return f"{quantile_words(chosen, name, many=many)}, {held}"


def rank_error(chosen: ChosenBeside, epsilon: Decimal, *, many: bool) -> str:
    """How far it is off half of the time, and in 95 of 100 releases, in ranks: for any values.

    With distances of so many parts of a value as ``Quantile.step``, a value that is so far off has
    at most so many of them below it, or above it, beyond its share.
    """
    half, most = (_parts_off(chosen, epsilon, share) for share in (0.5, _MOSTLY))
    _, b = chosen.at.as_integer_ratio()
    ranks = ceil(half / b)
    who = "row" if many and chosen.clip.per == "row" else "person"
    if ranks != 1:
        who = "rows" if who == "row" else "people"
    place = "the middle"
    if chosen.at != _HALF:
        place = f"the place that {digits_of(chosen.at)} of them are below"
    return (
        f"half of the time, or more often, within {ranks:,} {who} of {place}, and in 95 of 100"
        f" releases within {ceil(most / b):,}"
    )


def _parts_off(chosen: ChosenBeside, epsilon: Decimal, share: float) -> int:
    """By so many parts of a value it misses its share of them, at most in a share of all draws."""
    a, b = chosen.at.as_integer_ratio()
    step = max(a, b - a) * (chosen.clip.rows if chosen.clip.per == "row" else 1)
    return within_best(share, epsilon, chosen.candidates) * step


@frozen
class Few:
    """Of fewer values than these a quantile can be at its ``low`` end, or at its ``high`` one.

    Wherever the values lie. These are numbers with noise, in 95 of 100 releases.
    """

    low: int
    high: int

    @classmethod
    def of(cls, chosen: ChosenBeside, epsilon: Decimal, off: int) -> Few:
        """Those of a quantile; ``off`` is how far the number of its values is off as often."""
        a, b = chosen.at.as_integer_ratio()
        parts = _parts_off(chosen, epsilon, _MOSTLY)
        return cls(parts // a + 1 + off, parts // (b - a) + 1 + off)

    @property
    def either(self) -> int:
        """Of fewer it can be at one of its ends, or at both."""
        return max(self.low, self.high)

    def words(self, chosen: ChosenBeside) -> str:
        """What it can be of fewer than ``either``."""
        low, high, _ = _ends(chosen)
        if self.low == self.high:
            return f"anything from {low} to {high}"
        return f"anything up to {high}" if self.low < self.high else f"anything down to {low}"


def beside_choice(chosen: ChosenBeside, few: Few, least: int, over: str) -> Iterator[str]:
    """What else a quantile differs by from the question, where it is missing or says nothing."""
    low, high, unit = _ends(chosen)
    yield (
        f"in {chosen.name} each value is rounded to a multiple of {unit}, and counts as {low} below"
        f" it and as {high} above it"
    )
    yield (
        f"{chosen.name} is empty where {over} is below {least:,}: there it is not certain that"
        " there is a value"
    )
    if few.either > least:
        yield f"{chosen.name} can be {few.words(chosen)} where {over} is below {few.either:,}"


def _ends(chosen: ChosenBeside) -> tuple[str, str, str]:
    clip = chosen.clip
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    return low, high, digits_of(clip.unit)
