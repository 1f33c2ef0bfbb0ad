"""What a median or another quantile beside a count is, and how far it is off, in ranks."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import ceil
from typing import Protocol

from policy_engine.accounting.choice_law import half_within
from policy_engine.kernel.mechanisms.tables import Clip
from policy_engine.kernel.types import digits_of

_HALF = Decimal("0.5")


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
    """How far it is off half of the time, in ranks: whatever the values are.

    With distances of so many parts of a value as ``Quantile.step``, a value that is so far off has
    at most so many of them below it, or above it, beyond its share.
    """
    a, b = chosen.at.as_integer_ratio()
    clip = chosen.clip
    step = max(a, b - a) * (clip.rows if clip.per == "row" else 1)
    ranks = ceil(half_within(epsilon, chosen.candidates) * step / b)
    who = "row" if many and clip.per == "row" else "person"
    if ranks != 1:
        who = "rows" if who == "row" else "people"
    place = "the middle"
    if chosen.at != _HALF:
        place = f"the place that {digits_of(chosen.at)} of them are below"
    return f"half of the time, or more often, within {ranks:,} {who} of {place}"


def beside_choice(chosen: ChosenBeside, least: int, over: str) -> Iterator[str]:
    """What else a quantile differs by from the question, and where it is missing."""
    low, high, unit = _ends(chosen)
    yield (
        f"in {chosen.name} each value is rounded to a multiple of {unit}, and counts as {low} below"
        f" it and as {high} above it"
    )
    yield (
        f"{chosen.name} is empty where {over} is below {least:,}: there it is not certain that"
        " there is a value"
    )


def _ends(chosen: ChosenBeside) -> tuple[str, str, str]:
    clip = chosen.clip
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    return low, high, digits_of(clip.unit)
