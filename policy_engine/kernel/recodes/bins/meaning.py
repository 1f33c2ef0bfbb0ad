"""What ``bins`` says of itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from policy_engine.kernel.recodes.bins.recode import Bins
from policy_engine.kernel.recodes.meaning import (
    UNNAMED,
    Entry,
    Moved,
    RecodeMeaning,
    Unfit,
    some_entries,
    some_labels,
)
from policy_engine.kernel.types import (
    MOMENTS,
    MOST_DIGITS,
    Kind,
    Type,
    Value,
    ValueRecode,
    places_of,
    whole_digits_of,
)
from policy_engine.kernel.wording import plain_words, value_words

EARLIEST = "5877642-06-25 (BC)"
"""The first day of DuckDB's calendar."""


class BinsMeaning(RecodeMeaning[Bins]):
    """Labels of intervals."""

    @property
    def examples(self) -> tuple[str, ...]:
        """A value below the first cut, and each cut."""
        first: Any = self.recode.cuts[0]
        step = timedelta(days=1) if isinstance(first, date) else 1
        try:
            below = _text(first - step)
        except OverflowError:
            below = EARLIEST
        return (below, *map(_text, self.recode.cuts))

    def raw_values(self, kind: Kind) -> int | None:
        """Of whole numbers, about twice as many as lie between the ends."""
        low, high = self.recode.cuts[0], self.recode.cuts[-1]
        if kind != "integer":
            return None
        return 2 * int(high - low) + 2  # type: ignore[operator,arg-type]  # numbers

    @property
    def gives_null(self) -> bool:
        """Of an interval without a label."""
        return None in self.recode.labels

    @property
    def members(self) -> tuple[Value, ...]:
        """The cuts."""
        return self.recode.cuts

    def shows(self, value: Any) -> str | None:
        """The label of the interval."""
        place = 0 if value is UNNAMED else bisect_right(self.recode.cuts, value)
        return self.recode.labels[place]

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """What is of another kind than the cuts."""
        cuts = self.recode.cuts
        numbers = [cut for cut in cuts if isinstance(cut, Decimal)]
        if any(whole_digits_of(cut) + places_of(cut) > MOST_DIGITS for cut in numbers):
            return Unfit(f"bins take cuts of at most {MOST_DIGITS} digits", "use plainer ones")
        is_time = seen.kind in {"date", *MOMENTS}
        is_whole = seen.kind in {"integer", "wide_integer"}
        is_number = is_whole or seen.kind in {"decimal", "double"}
        if numbers and not is_number:
            remedy = "write the cut points as dates" if is_time else ""
            return Unfit(f"bins of numbers take a number, found {noun}", remedy, "double")
        if numbers:
            whole = all(cut == cut.to_integral_value() for cut in numbers)
            law = "bins of a whole number need whole cut points"
            return Unfit(law, "round them up") if is_whole and not whole else None
        has_times = isinstance(cuts[0], datetime)
        if seen.kind == "date" and has_times:
            return Unfit("bins of a date need dates, found timestamps", "leave out the time of day")
        if is_time:
            return None
        remedy = "write the cut points as numbers" if is_number else ""
        wants = "timestamp" if has_times else "date"
        return Unfit(f"bins of dates take a date or time, found {noun}", remedy, wants)

    @property
    def in_short(self) -> str:
        """In few words."""
        cuts, labels = map(plain_words, self.recode.cuts), map(str, self.recode.labels)
        return f"bins at {', '.join(cuts)}: {', '.join(labels)}"

    def lines(self) -> Iterator[str]:
        """What becomes of a value: each label on a line of its own."""
        yield "bins:"
        cuts = [value_words(cut) for cut in self.recode.cuts]
        ranges = [f"below {cuts[0]}"]
        ranges += [f"from {low} to below {high}" for low, high in pairwise(cuts)]
        ranges.append(f"from {cuts[-1]} on")
        for words, label in zip(ranges, self.recode.labels, strict=True):
            yield f"  {words}: {value_words(label)}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return some_entries(self.entries(name))

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"the interval it lies in, one of {some_labels(self.recode.labels)}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"bins": self.recode.cuts, "labels": self.recode.labels}

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Each range, and its label."""
        cuts = [plain_words(cut) for cut in self.recode.cuts]
        ranges = [f"{name} < {cuts[0]}"]
        ranges += [f"{low} <= {name} < {high}" for low, high in pairwise(cuts)]
        ranges.append(f"{cuts[-1]} <= {name}")
        labels = ("NULL" if label is None else label for label in self.recode.labels)
        return (*zip(ranges, labels, strict=True), (f"{name} IS NULL", "NULL"))

    def why_parted(self, coarse: ValueRecode) -> str:
        """Of bins with a cut that it does not have."""
        if not isinstance(coarse, Bins):
            return super().why_parted(coarse)
        own = self.recode.cuts
        others = [cut for cut in coarse.cuts if cut not in own]
        if others:
            return f"the cut {others[0]} is none of the level before, so that it parts an interval"
        return "" if len(coarse.cuts) < len(own) else "it has the same cuts"

    def beside(self, new: ValueRecode) -> tuple[Moved, ...]:
        """Every range of either's cuts; none where these are of two kinds."""
        every: set[Any] = {*self.recode.cuts, *getattr(new, "cuts", ())}
        kinds = {type(cut) if isinstance(cut, date) else int for cut in every}
        if not isinstance(new, Bins) or len(kinds) > 1:
            return ()
        cuts = sorted(every)
        words = [plain_words(cut) for cut in cuts]
        between = (f"from {low} to below {high}" for low, high in pairwise(words))
        ranges = [f"below {words[0]}", *between, f"from {words[-1]} on"]
        before, after = (map(each.shows, (UNNAMED, *cuts)) for each in (self, BinsMeaning(new)))
        return tuple(map(Moved, ranges, before, after))

    @property
    def order(self) -> tuple[str, ...]:
        """Its labels, of ascending values."""
        return tuple(label for label in self.recode.values if label is not None)

    def can_show(self, value: object) -> bool:
        """A label, or nothing."""
        return value in self.recode.values


def _text(cut: object) -> str:
    return f"{cut:f}" if isinstance(cut, Decimal) else str(cut)
